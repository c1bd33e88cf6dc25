//! The E-model in full: transmission rating R of a call, ITU-T G.107 (narrowband), with the default
//! values of its table 2 but delay, loss and how well the codec stands loss.
//!
//! Left out: bursty loss (BurstR is 1) and the advantage factor A.

/// Default values of ITU-T G.107, table 2: loudness ratings of sender and receiver, sidetone masking,
/// D factor, listener sidetone, talker echo loudness, weighted echo path loss, quantising distortion
/// units, circuit noise (dBm0p), noise floor (dBmp), room noise at both sides (dB(A)).
const SLR: f64 = 8.0;
const RLR: f64 = 2.0;
const STMR: f64 = 15.0;
const D_SENDER: f64 = 3.0;
const LSTR: f64 = 18.0;
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
const QDU: f64 = 1.0;
const CIRCUIT_NOISE: f64 = -70.0;
const NOISE_FLOOR: f64 = -64.0;
const ROOM_NOISE: f64 = 35.0;

fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// 10^(x/10), from dB.
fn power(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

/// (1 + x^n)^(1/n).
fn bend(x: f64, n: f64) -> f64 {
    libm::pow(1.0 + libm::pow(x, n), 1.0 / n)
}

/// R from the one-way delay in ms and the share of packets lost, 0 to 1. `robustness` is Bpl, the
/// codec's packet-loss robustness factor; its impairment without loss is that of G.711, 0.
///
/// The echo paths are as long as the way there (T) and back (Tr = 2 T), with Ta = T (§7.4).
pub fn r_value(delay_ms: f64, loss: f64, robustness: f64) -> f64 {
    let noise = noise();
    let ratio = 15.0 - 1.5 * (SLR + noise); // §7.2, equation 7-2
    let with_voice = simultaneous(noise, ratio, delay_ms);
    ratio - with_voice - delayed(noise, ratio, delay_ms) - lost(loss, robustness)
}

/// No, the sum of all noise, §7.2.
fn noise() -> f64 {
    let overall = SLR + RLR;
    let beyond = ROOM_NOISE - overall - D_SENDER - 14.0;
    let sent = ROOM_NOISE - SLR - D_SENDER - 100.0 + 0.004 * beyond * beyond;
    let room = ROOM_NOISE + 10.0 * log10(1.0 + power(10.0 - LSTR));
    let received = RLR - 121.0 + room + 0.008 * (room - 35.0) * (room - 35.0);
    let floor = NOISE_FLOOR + RLR;
    10.0 * log10(power(CIRCUIT_NOISE) + power(sent) + power(received) + power(floor))
}

/// Is, what is impaired with the voice itself, §7.3: too loud, sidetone, quantising.
fn simultaneous(noise: f64, ratio: f64, t: f64) -> f64 {
    let x = (SLR + RLR + 0.2 * (64.0 + noise - RLR)) / 8.0;
    let loudness = 20.0 * (bend(x, 8.0) - x);
    let masking = -10.0 * log10(power(-STMR) + libm::exp(-t / 4.0) * power(-TELR));
    let sidetone = 12.0 * bend((masking - 13.0) / 6.0, 8.0)
        - 28.0 * bend((masking + 1.0) / 19.4, 35.0)
        - 13.0 * bend((masking - 3.0) / 33.0, 13.0)
        + 29.0;
    let q = 37.0 - 15.0 * log10(QDU);
    let g = 1.07 + 0.258 * q + 0.0602 * q * q;
    let y = (ratio - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
    let z = 46.0 / 30.0 - g / 40.0;
    let quantising = 15.0 * log10(1.0 + libm::pow(10.0, y) + libm::pow(10.0, z));
    loudness + sidetone + quantising
}

/// Id, what delay impairs, §7.4: the talker's echo, the listener's echo, and the delay alone.
fn delayed(noise: f64, ratio: f64, t: f64) -> f64 {
    let without_echo = -1.5 * (noise - RLR);
    let echo_loudness =
        TELR - 40.0 * log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * libm::exp(-0.3 * t * t);
    let half = (without_echo - (80.0 + 2.5 * (echo_loudness - 14.0))) / 2.0;
    let talker = (half + libm::sqrt(half * half + 100.0) - 1.0) * (1.0 - libm::exp(-t));
    let half = (ratio - 10.5 * (WEPL + 7.0) * libm::pow(2.0 * t + 1.0, -0.25)) / 2.0;
    let listener = half + libm::sqrt(half * half + 169.0);
    talker + listener + too_late(t)
}

/// Idd: beyond 100 ms people notice the delay itself.
fn too_late(t: f64) -> f64 {
    if t <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(t / 100.0);
    25.0 * (bend(x, 6.0) - 3.0 * bend(x / 3.0, 6.0) + 2.0)
}

/// Ie-eff, what the codec and lost packets impair, §7.5.
fn lost(loss: f64, robustness: f64) -> f64 {
    let percent = 100.0 * loss;
    95.0 * percent / (percent + robustness)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G.107: with the default values R is 93.2. The parts, each by hand to four digits: No = -61.179
    /// and Ro = 15 - 1.5 (8 - 61.179) = 94.769, Is = 0.440 - 0.001 + 0.974 = 1.413, listener echo
    /// without delay 0.149.
    #[test]
    fn the_default_values_give_93_2() {
        assert!((noise() + 61.179).abs() < 1e-3);
        assert!((simultaneous(noise(), 94.769, 0.0) - 1.413).abs() < 2e-3);
        assert!((r_value(0.0, 0.0, 4.3) - 93.2).abs() < 0.05);
    }

    /// At 200 ms x = log2(2) = 1: 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2) = 25 (1.12246 - 3.00069 + 2) =
    /// 3.044. At 400 ms x = 2: 25 (65^(1/6) - 3 (1 + (2/3)^6)^(1/6) + 2) = 25 (2.00518 - 3.04240 + 2) =
    /// 24.07.
    #[test]
    fn delay_alone_impairs_beyond_100_ms() {
        for (delay, expected) in [(100.0, 0.0), (200.0, 3.044), (400.0, 24.07)] {
            assert!((too_late(delay) - expected).abs() < 2e-3 * expected.max(1.0), "{delay}");
        }
    }

    /// 1 % of loss: 95 / (1 + 4.3) = 17.92 without concealment, 95 / (1 + 25.1) = 3.64 with that of
    /// G.711 appendix I.
    #[test]
    fn loss_impairs_as_the_codec_stands_it() {
        assert!((lost(0.01, 4.3) - 17.9245).abs() < 1e-3);
        assert!((lost(0.01, 25.1) - 3.6398).abs() < 1e-3);
    }

    /// Cole and Rosenbluth's line is 94.2 without delay and a knee at 177.3 ms. The full model is about
    /// 1 lower up to 300 ms.
    #[test]
    fn it_is_about_one_lower_than_the_documents_up_to_300_ms() {
        for delay in [0.0, 20.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0] {
            let lower = crate::scores::qoe::r_value(delay, 0.0) - r_value(delay, 0.0, 4.3);
            assert!((0.8..1.3).contains(&lower), "{delay}: {lower}");
        }
    }
}
