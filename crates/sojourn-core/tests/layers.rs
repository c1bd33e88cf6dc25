//! The arrows between rooms run one way: imports are read from the sources and held against the list in
//! ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The head of the list, and the fence that ends it.
const LIST: &str = "<!-- layers of the core, lowest first; a test reads this -->\n```text\n";
const FENCE: &str = "```";

/// Files that hold nothing but tests.
const TESTS: [&str; 3] = ["pair_tests", "ecn_tests", "capture_tests"];

/// A source file: its path below `src` without `.rs`, and its text without tests and comments.
struct Source {
    module: Vec<String>,
    is_list: bool,
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let sources = files.iter().map(|file| source(file, &root));
    let is_only_tests =
        |source: &Source| source.module.last().is_none_or(|name| TESTS.contains(&&**name));
    sources.filter(|source| !is_only_tests(source)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

fn source(file: &Path, root: &Path) -> Source {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap();
    let code = |line: &&str| !line.trim_start().starts_with("//");
    let text = text.lines().filter(code).collect::<Vec<_>>().join("\n");
    let path = file.strip_prefix(root).unwrap().with_extension("");
    let mut module: Vec<String> =
        path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    let is_list = module.last().is_some_and(|last| last == "mod");
    module.retain(|part| part != "mod" && part != "lib");
    Source { module, is_list, text }
}

impl Source {
    /// Every path that begins with `crate` or `super`, in full from the crate's root.
    fn paths(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        for start in ["crate::", "super::"] {
            for (at, _) in self.text.match_indices(start) {
                let is_whole = !self.text[..at]
                    .ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
                if is_whole {
                    expand(&self.text[at..], Vec::new(), &mut paths);
                }
            }
        }
        paths.into_iter().map(|path| self.absolute(&path)).collect()
    }

    /// From the path as it is written; a file `a/b.rs` and a list `a/b/mod.rs` are both in `a::b`.
    fn absolute(&self, path: &[String]) -> Vec<String> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        if ups == 0 {
            return path[1..].to_vec();
        }
        let kept = self.module.len() - ups;
        self.module[..kept].iter().chain(&path[ups..]).cloned().collect()
    }
}

/// Takes a path apart, with what stands in braces.
fn expand(text: &str, before: Vec<String>, paths: &mut Vec<Vec<String>>) -> usize {
    let mut path = before;
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with('{') {
            at += 1;
            loop {
                at += text[at..].len() - text[at..].trim_start_matches([' ', '\n', ',']).len();
                if text[at..].starts_with('}') || text[at..].is_empty() {
                    return at + 1;
                }
                at += expand(&text[at..], path.clone(), paths).max(1);
            }
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if end == 0 {
            paths.push(path);
            return at;
        }
        path.push(rest[..end].to_owned());
        at += end;
        if !text[at..].starts_with("::") {
            paths.push(path);
            return at;
        }
        at += 2;
    }
}

/// The list of layers: the rooms of each line, lowest first.
fn layers() -> Vec<Vec<String>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(file).unwrap();
    let (_, list) = text.split_once(LIST).expect("ARCHITECTURE.md has the list of layers");
    let list = list.split(FENCE).next().unwrap();
    let rooms = |line: &str| -> Vec<String> {
        let names = line.split("  ").next().unwrap();
        names.split_whitespace().map(str::to_owned).collect()
    };
    list.lines().map(rooms).filter(|rooms| !rooms.is_empty()).collect()
}

#[test]
fn rooms_import_those_below_them_alone() {
    let layers = layers();
    let rank_of = |room: &str| layers.iter().position(|rooms| rooms.iter().any(|r| r == room));
    let mut wrong = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for source in sources() {
        let room = &source.module[0];
        let rank = rank_of(room).unwrap_or_else(|| panic!("{room} is not in the list of layers"));
        seen.insert(room.clone());
        for path in source.paths() {
            let Some(used) = path.first().filter(|used| *used != room) else { continue };
            match rank_of(used) {
                Some(below) if below < rank => {}
                Some(_) => {
                    wrong.insert(format!("{} uses {}", source.module.join("::"), path.join("::")));
                }
                None => assert_eq!(used, "VERSION", "{used} is not in the list of layers"),
            }
        }
    }
    assert!(wrong.is_empty(), "against the list of layers:\n{wrong:#?}");
    let listed: BTreeSet<String> = layers.into_iter().flatten().collect();
    assert_eq!(listed, seen, "the list of layers names rooms that there are");
}

/// Stages and the ledger count; what they counted becomes rows in the report and nowhere else.
#[test]
fn the_report_alone_makes_rows() {
    let is_rows = |path: Vec<String>| path.starts_with(&["metrics", "rows"].map(str::to_owned));
    let makers = sources().into_iter().filter(|source| source.paths().into_iter().any(is_rows));
    let makers = makers.map(|source| source.module.join("::"));
    let elsewhere: Vec<String> = makers
        .filter(|maker| !maker.starts_with("metrics::") && !maker.starts_with("network::report"))
        .collect();
    assert!(elsewhere.is_empty(), "make rows too: {elsewhere:?}");
}

/// Within a room, too, files import each other one way, but for its `mod.rs`: that lists the members, and
/// these know it.
#[test]
fn files_do_not_import_each_other_in_a_circle() {
    let sources = sources();
    let names: BTreeMap<String, usize> =
        sources.iter().enumerate().map(|(i, s)| (s.module.join("::"), i)).collect();
    let file_of = |path: &[String]| {
        (1..=path.len()).rev().find_map(|end| names.get(&path[..end].join("::")).copied())
    };
    let mut imports = vec![BTreeSet::new(); sources.len()];
    for (index, source) in sources.iter().enumerate().filter(|(_, source)| !source.is_list) {
        let used = source.paths().into_iter().filter_map(|path| file_of(&path));
        imports[index].extend(used.filter(|used| *used != index && !sources[*used].is_list));
    }
    // What can be taken away again and again, as it imports nothing that is left, is in no circle.
    loop {
        let free: Vec<usize> = (0..imports.len())
            .filter(|i| !sources[*i].module.is_empty() && imports[*i].is_empty())
            .collect();
        let before: usize = imports.iter().map(BTreeSet::len).sum();
        imports.iter_mut().for_each(|used| used.retain(|i| !free.contains(i)));
        if imports.iter().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let circle: Vec<_> = (0..imports.len())
        .filter(|i| !imports[*i].is_empty())
        .map(|i| {
            let used = imports[i].iter().map(|used| sources[*used].module.join("::"));
            format!("{} -> {}", sources[i].module.join("::"), used.collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert!(circle.is_empty(), "in a circle, or behind one:\n{circle:#?}");
}
