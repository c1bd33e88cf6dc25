//! The opinion model of games from afar: ITU-T G.1072 (01/2020) with its Corrigendum 1, for games that need fast reactions.
//!
//! The part of coding is fixed, that of 1920 x 1080 at 60 frames per second and 20 Mbit/s: the model grades what the network
//! does to a stream, and the picture that was chosen is the user's. Frames that do not come in time are frozen, so that
//! packets lost within a frame count by it and not by themselves.

/// Impairment by coding, of the video class of high complexity: bits per pixel are 20e6 / (1920 * 1080 * 60) = 0.1608, so
/// 47.75 exp(-12.07 * 0.1608) + 9.052 * 0.076 + 3.419 = 6.860 + 0.688 + 3.419.
const CODING: f64 = 10.97;
/// Weights of the impairments.
const OF_CODING: f64 = 0.788;
const OF_PICTURES: f64 = 0.227;
const OF_FRAMES: f64 = 0.625;
const OF_INPUT: f64 = 0.848;
/// R is at most that, and the range of the opinion score.
const MOST_R: f64 = 78.49;
const MOS: [f64; 2] = [1.3, 4.64];
/// The range of frames per second, and of impairments of pictures and of inputs.
const FRAMES_PER_S: [f64; 2] = [10.0, 60.0];
const MOST_OF_PICTURES: f64 = 61.29;
const MOST_OF_INPUT: f64 = 68.98;

/// R for a mean delay there and back in ms, frames per second, and the share of frames in percent that are not shown in time.
pub fn r_value(delay_ms: f64, frames_per_s: f64, missed_percent: f64) -> f64 {
    let fps = frames_per_s.clamp(FRAMES_PER_S[0], FRAMES_PER_S[1]);
    let missed = libm::log(missed_percent + 1.0);
    let discontinuity = 47.03 + 0.01747 * fps * fps - 1.823 * fps + 10.7 * missed;
    let interaction = 54.71 + 0.02589 * fps * fps - 2.485 * fps + 9.306 * missed;
    let delay = 90.0 / (1.0 + libm::exp(1.191 - 0.009775 * delay_ms)) - 18.73;
    let impairments = OF_CODING * CODING
        + OF_PICTURES * discontinuity.clamp(0.0, MOST_OF_PICTURES)
        + OF_FRAMES * interaction.clamp(0.0, MOST_OF_INPUT)
        + OF_INPUT * delay.clamp(0.0, MOST_OF_INPUT);
    (100.0 - impairments).clamp(0.0, MOST_R)
}

/// The mean opinion score of R.
pub fn mos(r: f64) -> f64 {
    let score = MOS[0] + (MOS[1] - MOS[0]) / 100.0 * r + r * (r - 60.0) * (100.0 - r) * 7e-6;
    score.clamp(MOS[0], MOS[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_and_missed_frames_lower_r() {
        // Without either at 60 frames per second: pictures 47.03 + 62.892 - 109.38 = 0.542, interaction -1.19, so none, input
        // 90 / (1 + e^1.191) - 18.73 = 2.247: 100 - 8.644 - 0.123 - 1.906 = 89.3, of which 78.49 are the most.
        assert_eq!(r_value(0.0, 60.0, 0.0), MOST_R);
        // 200 ms: 90 / (1 + e^-0.764) - 18.73 = 42.70: 100 - 8.644 - 0.123 - 36.21 = 55.02.
        let slow = r_value(200.0, 60.0, 0.0);
        assert!((slow - 55.03).abs() < 0.05, "{slow}");
        // 10 % missed: ln 11 = 2.398; pictures 26.20, interaction 21.13: 100 - 8.644 - 5.947 - 13.20 - 1.906 = 70.30.
        let missed = r_value(0.0, 60.0, 10.0);
        assert!((missed - 70.31).abs() < 0.05, "{missed}");
        assert_eq!(r_value(1e4, 60.0, 100.0), 0.0);
    }

    #[test]
    fn the_score_of_r_is_cubic() {
        // 1.3 + 3.34 * 0.7849 + 78.49 * 18.49 * 21.51 * 7e-6 = 1.3 + 2.6216 + 0.2185
        assert!((mos(MOST_R) - 4.140).abs() < 0.001, "{}", mos(MOST_R));
        assert_eq!(mos(0.0), 1.3);
        assert!((mos(50.0) - (1.3 + 1.67 - 0.175)).abs() < 1e-9);
    }
}
