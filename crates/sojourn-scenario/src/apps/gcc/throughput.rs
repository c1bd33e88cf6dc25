//! The rate that arrives: samples of 150 ms, weighted by how far each is from the estimate (libwebrtc:
//! `bitrate_estimator.cc`).

/// Length of a sample in ms, the first one and the others.
const FIRST_MS: f64 = 500.0;
const WINDOW_MS: f64 = 150.0;
/// How uncertain a sample is that is off by the estimate itself, in kbit/s.
const UNCERTAINTY: f64 = 10.0;
/// Variance of the estimate at first, and what each sample adds to it, in kbit^2/s^2.
const FIRST_VARIANCE: f64 = 50.0;
const ADDED_VARIANCE: f64 = 5.0;

/// The measured rate.
pub(super) struct Throughput {
    bytes: f64,
    window_ms: f64,
    before_ms: Option<f64>,
    kbps: Option<f64>,
    variance: f64,
}

impl Default for Throughput {
    fn default() -> Self {
        Self { bytes: 0.0, window_ms: 0.0, before_ms: None, kbps: None, variance: FIRST_VARIANCE }
    }
}

impl Throughput {
    /// The estimate in bit/s; none before the first sample.
    pub(super) fn bps(&self) -> Option<f64> {
        self.kbps.map(|kbps| kbps * 1e3)
    }

    /// A packet has arrived.
    pub(super) fn add(&mut self, now_ms: f64, bytes: f64) {
        let length_ms = if self.kbps.is_none() { FIRST_MS } else { WINDOW_MS };
        let sample = self.sample(now_ms, bytes, length_ms);
        if let Some(sample) = sample {
            self.take(sample);
        }
    }

    fn sample(&mut self, now_ms: f64, bytes: f64, length_ms: f64) -> Option<f64> {
        if let Some(before_ms) = self.before_ms.filter(|before_ms| *before_ms <= now_ms) {
            self.window_ms += now_ms - before_ms;
            if now_ms - before_ms > length_ms {
                (self.bytes, self.window_ms) = (0.0, self.window_ms % length_ms);
            }
        } else {
            (self.bytes, self.window_ms) = (0.0, 0.0);
        }
        self.before_ms = Some(now_ms);
        let is_over = self.window_ms >= length_ms;
        let sample = is_over.then(|| 8.0 * self.bytes / length_ms);
        if is_over {
            (self.bytes, self.window_ms) = (0.0, self.window_ms - length_ms);
        }
        self.bytes += bytes;
        sample
    }

    fn take(&mut self, sample: f64) {
        let Some(kbps) = self.kbps else {
            self.kbps = Some(sample);
            return;
        };
        let uncertainty = UNCERTAINTY * (kbps - sample).abs() / kbps.max(f64::MIN_POSITIVE);
        let (of_sample, of_estimate) = (uncertainty * uncertainty, self.variance + ADDED_VARIANCE);
        self.kbps = Some((of_sample * kbps + of_estimate * sample) / (of_sample + of_estimate));
        self.variance = of_sample * of_estimate / (of_sample + of_estimate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_far_from_the_estimate_count_less() {
        let mut rate = Throughput::default();
        // 1250 B each 10 ms are 1 Mbit/s. The packet at 500 ms ends the first sample, with 50 packets.
        let send = |rate: &mut Throughput, from: u32, to: u32, bytes: f64| {
            (from..to).for_each(|number| rate.add(10.0 * f64::from(number), bytes));
        };
        send(&mut rate, 0, 50, 1250.0);
        assert_eq!(rate.bps(), None);
        send(&mut rate, 50, 51, 1250.0);
        assert_eq!(rate.bps(), Some(1e6));
        // A sample of 500 kbit/s: the uncertainty is 10 * 500 / 1000 = 5, its square 25, and that of the estimate
        // 50 + 5: (25 * 1000 + 55 * s) / 80, where s has one packet of 1250 B: 8 * (1250 + 14 * 625) / 150 = 533.3.
        send(&mut rate, 51, 66, 625.0);
        let sample = 8.0 * (1250.0 + 14.0 * 625.0) / 150.0;
        let uncertainty: f64 = 10.0 * (1000.0 - sample) / 1000.0;
        let weight = uncertainty * uncertainty;
        let kbps = (weight * 1000.0 + 55.0 * sample) / (weight + 55.0);
        assert!((rate.bps().unwrap() - 1e3 * kbps).abs() < 1e-6, "{:?} {kbps}", rate.bps());
        // After a pause longer than a sample nothing of it counts.
        rate.add(2000.0, 625.0);
        assert_eq!(rate.bytes, 625.0);
    }
}
