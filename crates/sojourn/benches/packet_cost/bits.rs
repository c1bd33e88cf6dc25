//! The release build gives the fingerprints that the tests record of theirs.

use sojourn::Simulation;

use crate::cases::Case;

const RECORDED: &str = include_str!("../../tests/snapshots/fingerprints.txt");

/// The recorded home runs for so long, and sends games and calls upstream alone, as the case does.
const RECORDED_S: f64 = 10.0;

/// The runs of the home whose fingerprints differ from the recorded ones, of those that are recorded.
pub(crate) fn differing(cases: &[Case]) -> Vec<String> {
    let recorded = cases.iter().filter(|case| case.name == "home").filter_map(|case| {
        let mut lines = RECORDED.lines().skip_while(|line| *line != case.scheme).skip(1);
        Some((case, lines.next()?.split_whitespace().nth(1)?))
    });
    let compared: Vec<_> = recorded
        .map(|(case, expected)| {
            let mut scenario = case.scenario.clone();
            scenario.duration_s = RECORDED_S;
            let fingerprint = format!("{:016x}", Simulation::run(&scenario).fingerprint);
            (fingerprint != expected).then(|| {
                format!("{}: fingerprint {fingerprint}, but {expected} recorded", case.scheme)
            })
        })
        .collect();
    assert!(!compared.is_empty(), "no case of the home is recorded");
    println!("{} fingerprints compared with those of the tests", compared.len());
    compared.into_iter().flatten().collect()
}
