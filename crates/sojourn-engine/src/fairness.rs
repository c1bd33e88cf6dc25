//! How evenly capacity was shared: max-min fair division, and two indices of how far from it an
//! outcome is.

/// What a flow would take of a capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The rate it wants, or has been getting, in the unit of the capacity.
    pub rate: f64,
    /// Its weight, above zero.
    pub weight: f64,
    /// It got all it wants, as far as is known.
    pub is_satisfied: bool,
}

impl Demand {
    /// A flow that may want more than it gets.
    pub fn new(rate: f64, weight: f64) -> Self {
        Self { rate, weight, is_satisfied: false }
    }
}

/// The share of a flow of weight 1 in each round of a max-min fair division (Hong 2015 §5.1.2.3,
/// listing 5.4). Satisfies demands as it goes.
pub fn break_points(capacity: f64, demands: &mut [Demand], rounds: usize) -> Vec<f64> {
    (0..rounds).map(|_| break_point(capacity, demands)).collect()
}

fn break_point(capacity: f64, demands: &mut [Demand]) -> f64 {
    let taken: f64 = demands.iter().filter(|d| d.is_satisfied).map(|d| d.rate).sum();
    let weights: f64 = demands.iter().filter(|d| !d.is_satisfied).map(|d| d.weight).sum();
    // The listing divides by zero where all are satisfied; then whoever comes fits in here.
    let bound = if weights > 0.0 { (capacity - taken) / weights } else { capacity };
    for demand in demands {
        demand.is_satisfied |= demand.rate / demand.weight <= bound;
    }
    bound
}

/// What each flow gets of `capacity` in a weighted max-min fair division: its demand, or its weight
/// times a share that is the same for all who want more (Hong 2015 §3.1.1, §5.1.2.3). In the unit of
/// capacity and demands; a demand may be infinite.
pub fn max_min(capacity: f64, demands: &[Demand]) -> Vec<f64> {
    let mut demands = demands.to_vec();
    // Each round but the last satisfies at least one demand.
    let rounds = demands.len() + 1;
    let share = break_points(capacity, &mut demands, rounds)[rounds - 1];
    demands.iter().map(|d| if d.is_satisfied { d.rate } else { share * d.weight }).collect()
}

/// A link with the numbers of the flows that pass it.
#[derive(Clone, Debug)]
pub struct Link {
    /// What it carries, in the unit of demands.
    pub capacity: f64,
    /// The flows.
    pub flows: Vec<usize>,
}

/// What each flow gets where each passes one or more links: the shares of all grow alike, by weight, until a link is
/// full or a demand is met (Bertsekas & Gallager 1992, section 6.5.2). In the unit of capacities and demands; a demand
/// may be infinite.
pub fn max_min_of_links(links: &[Link], demands: &[Demand]) -> Vec<f64> {
    let mut parts: Vec<Option<f64>> = vec![None; demands.len()];
    while parts.contains(&None) {
        let level = |link: &Link| {
            let fixed: f64 = link.flows.iter().filter_map(|one| parts[*one]).sum();
            let open = link.flows.iter().filter(|one| parts[**one].is_none());
            let weights: f64 = open.map(|one| demands[*one].weight).sum();
            if weights > 0.0 { (link.capacity - fixed).max(0.0) / weights } else { f64::INFINITY }
        };
        let levels: Vec<f64> = links.iter().map(level).collect();
        let low = levels.iter().copied().fold(f64::INFINITY, f64::min);
        let is_met = |one: &usize| demands[*one].rate <= low * demands[*one].weight;
        let is_full = |one: &usize| {
            let mut own = links.iter().zip(&levels).filter(|(link, _)| link.flows.contains(one));
            own.any(|(_, level)| *level <= low)
        };
        let open: Vec<usize> = (0..parts.len()).filter(|one| parts[*one].is_none()).collect();
        let any_met = open.iter().any(is_met);
        let is_fixed = |one: &usize| if any_met { is_met(one) } else { is_full(one) };
        for one in open.into_iter().filter(is_fixed).collect::<Vec<_>>() {
            parts[one] = Some(demands[one].rate.min(low * demands[one].weight));
        }
    }
    parts.into_iter().flatten().collect()
}

/// Jain's fairness index of `x`, what each flow got over what it should have got: 1 where all are
/// equal, down to 1/n where one has all (Hong 2015 eq. 3.1). `None` without flows, or if none got
/// anything.
pub fn jfi(x: &[f64]) -> Option<f64> {
    let sum: f64 = x.iter().sum();
    let squares: f64 = x.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (x.len() as f64 * squares))
}

/// Min-max ratio of `x`, what each flow got over what it should have got: 1 where all are equal, 0
/// where one has nothing (Hong 2015 eq. 3.2). `None` without flows, or if none got anything.
pub fn mmr(x: &[f64]) -> Option<f64> {
    let least = x.iter().copied().fold(f64::INFINITY, f64::min);
    let most = x.iter().copied().fold(0.0, f64::max);
    (most > 0.0).then(|| least / most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn division(capacity: f64, demands: &[(f64, f64)]) -> Vec<f64> {
        let demands: Vec<_> =
            demands.iter().map(|(rate, weight)| Demand::new(*rate, *weight)).collect();
        max_min(capacity, &demands)
    }

    fn even(capacity: f64, demands: &[f64]) -> Vec<f64> {
        division(capacity, &demands.iter().map(|rate| (*rate, 1.0)).collect::<Vec<_>>())
    }

    #[track_caller]
    fn assert_near(got: &[f64], want: &[f64], tolerance: f64) {
        assert_eq!(got.len(), want.len(), "{got:?}");
        let near = |(got, want): (&f64, &f64)| (got - want).abs() <= tolerance;
        assert!(got.iter().zip(want).all(near), "{got:?} {want:?}");
    }

    #[test]
    fn capped_and_weighted_divisions() {
        // 35 / 3 = 11.667 satisfies 8; (35 - 8) / 2 = 13.5 satisfies no one.
        assert_near(&even(35.0, &[8.0, 16.0, 32.0]), &[8.0, 13.5, 13.5], 1e-12);
        // 35 / (1 + 2 + 4) = 5.
        let endless = [1.0, 2.0, 4.0].map(|weight| (f64::INFINITY, weight));
        assert_near(&division(35.0, &endless), &[5.0, 10.0, 20.0], 1e-12);
        // Hong 2015 §5.1.2.3: 40 / 6 satisfies 4 and 6, 30 / 4 satisfies 7, 23 / 3 no one.
        let got = even(40.0, &[4.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_near(&got, &[4.0, 6.0, 7.0, 23.0 / 3.0, 23.0 / 3.0, 23.0 / 3.0], 1e-12);
    }

    #[test]
    fn flows_of_several_links_have_what_the_fullest_leaves() {
        let links = [(10.0, vec![0, 1]), (4.0, vec![1, 2])];
        let links = links.map(|(capacity, flows)| Link { capacity, flows });
        let of = |rates: [f64; 3], weights: [f64; 3]| {
            let demands = [0, 1, 2].map(|one| Demand::new(rates[one], weights[one]));
            max_min_of_links(&links, &demands)
        };
        // The second link is full with 2 for each, and the first has 8 left.
        assert_near(&of([f64::INFINITY; 3], [1.0; 3]), &[8.0, 2.0, 2.0], 1e-12);
        // One wants 1 alone, so its neighbour has 3. One that wants nothing has nothing.
        assert_near(&of([f64::INFINITY, f64::INFINITY, 1.0], [1.0; 3]), &[7.0, 3.0, 1.0], 1e-12);
        assert_near(&of([f64::INFINITY, 0.0, f64::INFINITY], [1.0; 3]), &[10.0, 0.0, 4.0], 1e-12);
        // Of 4 a weight of 3 has 3.
        assert_near(&of([f64::INFINITY; 3], [1.0, 3.0, 1.0]), &[7.0, 3.0, 1.0], 1e-12);
    }

    #[test]
    fn constant_rates_in_38_mbps() {
        // Hong 2015 §5.1.3: 38 / 6 = 6.33 satisfies 4 and 6; (38 - 10) / 4 = 7 satisfies 7; the
        // others get (38 - 17) / 3 = 7.
        let got = even(38.0, &[4.0, 6.0, 7.0, 9.0, 11.0, 13.0]);
        assert_near(&got, &[4.0, 6.0, 7.0, 7.0, 7.0, 7.0], 1e-12);
        // §5.1.2.3, all rates below the capacity: everyone gets what it wants.
        let rates = [4.0, 6.0, 6.4, 7.4, 6.4, 6.9];
        assert_near(&even(38.0, &rates), &rates, 1e-12);
    }

    #[test]
    fn many_small_flows_leave_the_rest_to_the_large() {
        // Hong 2015 §5.3.2, ME1: 36 flows of 0.5 Mbps take 18; four transfers get (38 - 18) / 4 = 5.
        let demands = [vec![0.5; 36], vec![f64::INFINITY; 4]].concat();
        assert_near(&even(38.0, &demands)[36..], &[5.0; 4], 1e-12);
    }

    #[test]
    fn tiers_of_hong_2015_table_4_15() {
        // n flows of at most 6 Mbps and one of at most 12 in 38. Unweighted: 5 * 6 = 30 leaves 8;
        // then 38 / 8, 38 / 10, 38 / 12.
        let plain = [(5, 6.0, 8.0), (7, 4.75, 4.75), (9, 3.8, 3.8), (11, 3.17, 3.17)];
        // Weighted 1:2, 38 / (n + 2) and twice that: 38 / 7, 38 / 9, 38 / 11, 38 / 13.
        let weighted = [(5, 5.43, 10.86), (7, 4.22, 8.44), (9, 3.45, 6.91), (11, 2.92, 5.85)];
        for (weight, rows) in [(1.0, plain), (2.0, weighted)] {
            for (flows, tier_1, tier_2) in rows {
                let mut demands = vec![(6.0, 1.0); flows];
                demands.push((12.0, weight));
                let got = division(38.0, &demands);
                assert_near(&[got[0], got[flows]], &[tier_1, tier_2], 5e-3);
            }
        }
    }

    #[test]
    fn bandwidth_used_by_video_and_files_of_hong_2015_section_4_2_2() {
        // 5 videos of at most 5 Mbps and one file in 33.5: 33.5 / 6 = 5.58 satisfies the videos and
        // leaves 8.5 (printed 8.55, from 88.3 % of 38 = 33.554).
        let got = even(33.554, &[5.0, 5.0, 5.0, 5.0, 5.0, f64::INFINITY]);
        assert_near(&[got[0], got[5]], &[5.0, 8.554], 1e-9);
    }

    #[test]
    fn divisions_at_the_edges() {
        assert_eq!(max_min(10.0, &[]), Vec::<f64>::new());
        assert_eq!(even(0.0, &[0.0, 5.0]), [0.0, 0.0]);
        assert_eq!(even(10.0, &[1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn indices_of_hong_2015_section_5_1_3() {
        // ABB-1: x is 0.725, 0.717, 0.714, 0.929, 1.129, 1.343: sum 5.556, squares 5.489;
        // 5.556^2 / (6 * 5.489) = 0.937, and 0.714 / 1.343 = 0.532.
        // ABB-2: x is 0.975, 0.983, 0.843, 0.929, 0.914, 1.071: sum 5.716, squares 5.475;
        // 5.716^2 / (6 * 5.475) = 0.995, and 0.843 / 1.071 = 0.787.
        let fair = [4.0, 6.0, 7.0, 7.0, 7.0, 7.0];
        for (got, index, ratio) in [
            ([2.9, 4.3, 5.0, 6.5, 7.9, 9.4], 0.937, 0.532),
            ([3.9, 5.9, 5.9, 6.5, 6.4, 7.5], 0.995, 0.787),
        ] {
            let x: Vec<f64> = got.iter().zip(fair).map(|(got, fair)| got / fair).collect();
            assert!((jfi(&x).unwrap() - index).abs() < 5e-4);
            assert!((mmr(&x).unwrap() - ratio).abs() < 5e-4);
        }
    }

    #[test]
    fn indices_at_the_edges() {
        // One of four has all: 1 / (4 * 1).
        assert_eq!((jfi(&[3.0, 0.0, 0.0, 0.0]), mmr(&[3.0, 0.0])), (Some(0.25), Some(0.0)));
        assert_eq!((jfi(&[2.0, 2.0, 2.0]), mmr(&[2.0, 2.0])), (Some(1.0), Some(1.0)));
        assert_eq!((jfi(&[]), mmr(&[]), jfi(&[0.0]), mmr(&[0.0])), (None, None, None, None));
    }
}
