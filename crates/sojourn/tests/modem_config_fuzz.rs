//! Modem files with random bytes, and real ones with random changes: none of them breaks the reader,
//! what is read is written as it was, and a modem with such a file is simulated or refused.

use serde_json::Value;
use sojourn::Simulation;
use sojourn::access::modem_config::{File, Tlv};
use sojourn::engine::rng::Rng;
use sojourn::scenario::Source;
use sojourn::scenario::provision::Provision;

const HOME: &[u8] = include_bytes!("../../../tests/data/modem-configs/home-5x20.cm");
const GIGABIT: &[u8] = include_bytes!("../../../tests/data/modem-configs/gigabit-voice.cm");
/// What the modems of these files are simulated in.
const SCENARIO: &str = "
    duration_s = 5
    upstream = { sustained_mbps = 1, peak_mbps = 2, burst_bytes = 20_000 }
    downstream = { sustained_mbps = 3, peak_mbps = 4, burst_bytes = 20_000 }
    servers.near = { delay_ms = 5 }
    traffic.call = { kind = 'stream', purpose = 'voice', direction = 'up', server = 'near' }
    traffic.save = { kind = 'transfer', server = 'near' }
    ";
/// Files of each sequence.
const FILES: u64 = 16;
/// Bytes that mean something.
const TELLING: [u8; 16] = [0, 1, 2, 3, 4, 6, 7, 8, 22, 24, 25, 35, 40, 42, 254, 255];

fn byte(rng: &mut Rng) -> u8 {
    match rng.below(3) {
        0 => rng.bits() as u8,
        _ => TELLING[rng.below(TELLING.len() as u64) as usize],
    }
}

/// One of the real files with a few changes.
fn mutated(rng: &mut Rng) -> Vec<u8> {
    let mut file = [HOME, GIGABIT][rng.below(2) as usize].to_vec();
    for _ in 0..=rng.below(3) {
        match rng.below(2) {
            0 => change_bytes(&mut file, rng),
            _ => change_tlvs(&mut file, rng),
        }
    }
    file
}

/// Sets a byte, takes one out, puts one in or cuts the rest off.
fn change_bytes(file: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.below(file.len() as u64) as usize;
    match rng.below(8) {
        0 => file.truncate(at + 1),
        1 => file.insert(at, byte(rng)),
        2 if file.len() > 1 => drop(file.remove(at)),
        _ => file[at] = byte(rng),
    }
}

/// Takes out one of the TLVs at the top, or puts one in again somewhere, if it is a file.
fn change_tlvs(file: &mut Vec<u8>, rng: &mut Rng) {
    let Ok(tree) = File::decode(file, "") else {
        return;
    };
    let mut starts: Vec<_> = tree.tlvs().iter().map(Tlv::offset).collect();
    let length_at = |at: usize| file.get(at).copied().unwrap_or_default();
    let end = starts.last().map_or(0, |last| last + 2 + usize::from(length_at(last + 1)));
    starts.push(end.min(file.len()));
    let mut any = || rng.below(starts.len() as u64) as usize;
    let (from, to) = (any(), any());
    let range = starts[from]..*starts.get(from + 1).unwrap_or(&starts[from]);
    if from < to {
        file.drain(range);
    } else {
        let piece = file[range].to_vec();
        file.splice(starts[to]..starts[to], piece);
    }
}

fn garbage(rng: &mut Rng) -> Vec<u8> {
    let length = rng.below(300);
    let mut file: Vec<_> = (0..length).map(|_| byte(rng)).collect();
    if rng.below(2) == 0 {
        file.push(255);
    }
    file
}

/// Says whether it was a file.
pub fn check(bytes: &[u8]) -> bool {
    show(bytes);
    let file = match File::decode(bytes, "modem.cfg") {
        Ok(file) => file,
        Err(problem) => {
            let text = problem.to_string();
            let is_placed = ["modem.cfg: byte ", "modem.cfg: found a text file"];
            let is_placed = is_placed.iter().any(|start| text.starts_with(start));
            assert!(is_placed && text.contains("; allowed: "), "{text}");
            return false;
        }
    };
    // What was read can be written: the same settings, and no key is refused.
    let again = File::from_view(&file.view(), None).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(again.view(), file.view());
    let again = File::from_toml(&file.to_toml(), "", None).unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(again.view(), file.view());
    assert_eq!(file.problems("").len(), file.notes().len());
    provision(&file);
    true
}

/// Any bytes but text are shown as a tree that has all of them, with each problem at its place.
fn show(bytes: &[u8]) {
    let Ok(file) = File::open(bytes, "modem.cfg") else { return };
    assert_eq!(file.encode(), bytes);
    let shown = count_problems(&file.to_json());
    assert_eq!(shown, file.problems("modem.cfg").len());
    // By way of TOML every byte comes back, and what is wrong is said again.
    let text = file.to_toml();
    let again = File::from_toml(&text, "", None).unwrap_or_else(|p| panic!("{p}\n{text}"));
    assert_eq!(again.encode(), bytes, "{text}");
    assert_eq!(again.problems("modem.cfg"), file.problems("modem.cfg"), "{text}");
    for problem in file.problems("modem.cfg") {
        assert!(problem.to_string().contains("; allowed: "), "{problem}");
    }
}

fn count_problems(nodes: &Value) -> usize {
    let of_node = |node: &Value| {
        node["problems"].as_array().map_or(0, Vec::len) + count_problems(&node["children"])
    };
    nodes.as_array().into_iter().flatten().map(of_node).sum()
}

/// A modem with this file is refused in a message, or made; what nothing here can do is listed.
fn provision(file: &File) {
    let modem = Provision { config: &file.view(), problems: &file.notes(), source: "modem.cfg" };
    match Source::new(SCENARIO, "home.toml").overlay(Some(&modem)).load() {
        Err(problem) => assert!(problem.to_string().contains("; allowed: "), "{problem}"),
        Ok(variants) => {
            assert!(variants[0].notes.iter().all(|note| note.message.starts_with("modem.cfg: ")));
            let mut simulation = Simulation::new(&variants[0].scenario);
            assert!(simulation.advance(100));
        }
    }
}

/// Says how many files were read.
fn run(seed: u64) -> u64 {
    let mut rng = Rng::named(seed, "modem files");
    let mut file = || if rng.below(4) == 0 { garbage(&mut rng) } else { mutated(&mut rng) };
    (0..FILES).filter(|_| check(&file())).count() as u64
}

mod at_random {
    #[test]
    fn no_file_breaks_the_reader() {
        sojourn_testing::rounds(80, |seed| {
            super::run(seed);
        });
    }
}

/// A fair share of the changed files is read, else the checks above would see nothing.
#[test]
fn changes_do_not_break_every_file() {
    let read: u64 = (0..100).map(run).sum();
    // 100 sequences of 16 files; one in twenty would do.
    assert!(read >= 80, "{read}");
}
