//! Quality of experience: voice quality, budgets of games, and robust statistics of page load times.

/// Delay in ms that White & Padden 2012 §3.2.2 adds to the measured one for the rest of the way.
pub const VOICE_EXTRA_DELAY_MS: f64 = 20.0;
/// A voice packet this much later than the fastest one comes too late to be played
/// (White & Padden 2012 §3.2.2; what its jitter is measured against is not stated there).
pub const VOICE_LATE_MS: f64 = 60.0;

/// Time in ms that a packet of a game may spend in the access network: White & Rice 2013 §1.1 and, for
/// the upstream buffer, §4.1.3.
pub const GAME_ACCESS_MS: f64 = 20.0;
/// Round trip in ms between client and server that a game over the network may take: Choy et al. in
/// White & Rice 2013 §4.1.3.
pub const GAME_ROUND_TRIP_MS: f64 = 80.0;

/// Voice transmission quality R of G.711, 0 (unusable) to 94.2, from the one-way delay in ms and
/// the share of packets lost, 0 to 1. E-model after Cole & Rosenbluth 2001, as in White & Padden
/// 2012 §3.2.2 and Hong 2015 §3.2.2.2; the logarithm is natural.
pub fn r_value(delay_ms: f64, loss: f64) -> f64 {
    let beyond_knee_ms = (delay_ms - 177.3).max(0.0);
    94.2 - 0.024 * delay_ms - 0.11 * beyond_knee_ms - 30.0 * libm::log(1.0 + 15.0 * loss)
}

/// Mean opinion score, from 1 (bad) to 4.5, from R. ITU-T G.107 annex B. Its polynomial falls below 1
/// where R is under 6.5, which is no score of its scale: there the score is 1, as for a negative R.
pub fn mos(r: f64) -> f64 {
    if r < 0.0 {
        1.0
    } else if r > 100.0 {
        4.5
    } else {
        (1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r)).max(1.0)
    }
}

/// The mean of the values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of the values as a sample of others, of which there must be two.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|v| (v - centre) * (v - centre)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The middle of the values, the mean of the two middle ones where their number is even.
pub fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mid = sorted.len() / 2;
    Some(if sorted.len() % 2 == 1 { sorted[mid] } else { (sorted[mid - 1] + sorted[mid]) / 2.0 })
}

/// The least value that a share `quantile` of all values does not exceed.
pub fn quantile(values: &[f64], quantile: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// For each of the values the share of all that do not exceed it, in percent.
pub fn shares_up_to(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let up_to = |value: &f64| sorted.partition_point(|other| other <= value);
    values.iter().map(|value| 100.0 * up_to(value) as f64 / values.len() as f64).collect()
}

/// The median distance of the values from their median.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let mid = median(values)?;
    median(&values.iter().map(|v| (v - mid).abs()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_values_of_hong_2015_table_4_10() {
        // (45, 0): 94.2 - 0.024 * 45 = 93.12.
        // (541, 0): 94.2 - 12.984 - 0.11 * 363.7 = 94.2 - 12.984 - 40.007 = 41.209.
        // (65, 0.163 %): 94.2 - 1.56 - 30 ln(1.02445) = 92.64 - 0.7247 = 91.915.
        // (56, 0.092 %): 94.2 - 1.344 - 30 ln(1.0138) = 92.856 - 0.4112 = 92.445.
        for (delay, loss, want) in [
            (45.0, 0.0, 93.12),
            (541.0, 0.0, 41.209),
            (65.0, 0.00163, 91.915),
            (56.0, 0.00092, 92.445),
        ] {
            assert!((r_value(delay, loss) - want).abs() < 1e-3, "{delay} {loss}");
        }
    }

    #[test]
    fn mos_of_the_best_call_and_of_white_2012_case_c04() {
        // R = 94.2: 1 + 3.297 + 7e-6 * 94.2 * 34.2 * 5.8 = 1 + 3.297 + 0.1308 = 4.428.
        assert!((mos(94.2) - 4.428).abs() < 5e-4);
        // C04: 20 ms and 9.11 % lost give 3.50.
        assert!((mos(r_value(20.0, 0.0911)) - 3.50).abs() < 5e-3);
        assert_eq!((mos(-1.0), mos(101.0)), (1.0, 4.5));
    }

    /// 0.035 + 7e-6 * (r - 60) * (100 - r) is zero where r * r - 160 r + 1000 is: r = 80 - sqrt(5400) = 6.515.
    #[test]
    fn no_score_is_below_the_scale() {
        // R = 3: 1 + 0.105 - 7e-6 * 3 * 57 * 97 = 1.105 - 0.1161 = 0.989, below the scale.
        assert_eq!([0.0, 3.0, 6.5].map(mos), [1.0; 3]);
        // R = 7: 1 + 0.245 - 7e-6 * 7 * 53 * 93 = 1.245 - 0.24152 = 1.00348.
        assert!((mos(7.0) - 1.003_48).abs() < 1e-5);
        assert!((0..1000).all(|r| mos(f64::from(r) / 10.0) >= 1.0));
    }

    #[test]
    fn twenty_ms_cost_a_hundredth_below_the_knee() {
        // White & Rice 2013 §1.1 says 0.005; the formula gives 0.0098 near R = 93.
        let drop = mos(r_value(40.0, 0.0)) - mos(r_value(60.0, 0.0));
        assert!((drop - 0.0098).abs() < 2e-3, "{drop}");
    }

    #[test]
    fn shares_are_those_of_the_distribution() {
        // Of four values one is at most 1, three at most 2, all at most 5.
        assert_eq!(shares_up_to(&[2.0, 1.0, 5.0, 2.0]), [75.0, 25.0, 100.0, 75.0]);
        assert_eq!(shares_up_to(&[]), Vec::<f64>::new());
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.9), Some(4.0));
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), Some(2.0));
        assert_eq!((mean(&[4.0, 1.0, 1.0]), mean(&[])), (Some(2.0), None));
        // Distances from 2: 2, -1, -1; (4 + 1 + 1) / 2 = 3.
        assert_eq!(standard_deviation(&[4.0, 1.0, 1.0]), Some(3.0_f64.sqrt()));
        assert_eq!(standard_deviation(&[4.0]), None);
        // Distances from 3: 2, 1, 0, 1, 97.
        assert_eq!(median_absolute_deviation(&[1.0, 2.0, 3.0, 4.0, 100.0]), Some(1.0));
    }
}
