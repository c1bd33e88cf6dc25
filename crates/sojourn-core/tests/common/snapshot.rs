//! What a test found, kept as a text file.

use std::path::Path;

/// Asserts that `now` is what `tests/snapshots/FILE` says, and prints the lines that are not. With
/// `UPDATE_SNAPSHOTS=1` the file is rewritten first.
#[track_caller]
pub fn assert_snapshot(file: &str, now: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(file);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, now).unwrap();
    }
    let then = std::fs::read_to_string(&file).expect("run with UPDATE_SNAPSHOTS=1 once");
    let differing = then.lines().zip(now.lines()).filter(|(then, now)| then != now);
    let mut changed = 0;
    for (then, now) in differing {
        println!("- {then}\n+ {now}");
        changed += 1;
    }
    let file = file.display();
    assert_eq!(changed, 0, "lines of {file} have changed; the head of this test says what to do");
    assert_eq!(now.lines().count(), then.lines().count(), "lines of {file}");
}
