//! The arrows between the files of a crate run one way: imports are read from the sources. Those between crates
//! are held by the compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files that hold nothing but tests.
const TESTS: [&str; 3] = ["pair_tests", "ecn_tests", "capture_tests"];

/// A source file: its crate and its path below `src` without `.rs`, and its text without tests and comments.
struct Source {
    module: Vec<String>,
    is_list: bool,
    text: String,
}

fn sources() -> Vec<Source> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for package in fs::read_dir(crates).unwrap() {
        collect(&package.unwrap().path().join("src"), &mut files);
    }
    let sources = files.iter().map(|file| source(file, crates));
    let is_only_tests =
        |source: &Source| source.module.last().is_none_or(|name| TESTS.contains(&&**name));
    sources.filter(|source| !is_only_tests(source)).collect()
}

pub fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

fn source(file: &Path, crates: &Path) -> Source {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap();
    let code = |line: &&str| !line.trim_start().starts_with("//");
    let text = text.lines().filter(code).collect::<Vec<_>>().join("\n");
    let path = file.strip_prefix(crates).unwrap().with_extension("");
    let mut module: Vec<String> =
        path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    let is_list = module.last().is_some_and(|last| ["mod", "lib"].contains(&&**last));
    module.retain(|part| !["mod", "lib", "src"].contains(&&**part));
    Source { module, is_list, text }
}

impl Source {
    /// Modules that it lists.
    fn members(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter_map(|line| Some(line.strip_suffix(';')?.rsplit_once("mod ")?.1))
    }

    /// Every path after this word that begins with `crate`, `super` or a member, in full with the name of the crate.
    fn paths(&self, word: &str) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        for start in ["crate", "super"].into_iter().chain(self.members()) {
            for (at, _) in self.text.match_indices(&format!("{word}{start}::")) {
                let is_whole = !self.text[..at]
                    .ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
                if is_whole {
                    expand(&self.text[at + word.len()..], Vec::new(), &mut paths);
                }
            }
        }
        paths.into_iter().map(|path| self.absolute(&path)).collect()
    }

    /// From the path as it is written; a file `a/b.rs` and a list `a/b/mod.rs` are both in `a::b`.
    fn absolute(&self, path: &[String]) -> Vec<String> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match path[0].as_str() {
            "crate" => (1, 1),
            // In a module within the file there may be more.
            _ => (self.module.len().saturating_sub(ups).max(1), ups),
        };
        self.module[..base].iter().chain(&path[rest..]).cloned().collect()
    }

    /// Names that a list has from elsewhere: each as a path of its own, and the path that it stands for.
    fn exports(&self) -> impl Iterator<Item = (Vec<String>, Vec<String>)> {
        let named = self.paths("use ").into_iter().map(|path| {
            let name = path.last().cloned();
            (self.module.iter().cloned().chain(name).collect(), path)
        });
        named.filter(|(name, path)| name != path)
    }

    /// Is it the list of a room that this file is in?
    fn lists(&self, file: &Source) -> bool {
        self.is_list && file.module.starts_with(&self.module)
    }
}

/// All sources by their modules, and what lists export.
struct Index {
    files: BTreeMap<Vec<String>, usize>,
    exports: BTreeMap<Vec<String>, Vec<String>>,
}

impl Index {
    fn of(sources: &[Source]) -> Self {
        let lists = sources.iter().filter(|source| source.is_list);
        Self {
            files: sources.iter().enumerate().map(|(i, s)| (s.module.clone(), i)).collect(),
            exports: lists.flat_map(Source::exports).collect(),
        }
    }

    /// The file that has what a path names.
    fn file_of(&self, path: &[String]) -> Option<usize> {
        (1..=path.len()).rev().find_map(|end| {
            let (module, rest) = path.split_at(end);
            let exported = || self.file_of(&[self.exports.get(module)?, rest].concat());
            self.files.get(module).copied().or_else(exported)
        })
    }
}

/// Splits a path, with what stands in braces.
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

/// Stages and the ledger count; what they counted becomes rows in the report and nowhere else.
#[test]
fn the_report_alone_makes_rows() {
    let uses_rows = |source: &Source| source.text.contains("metrics::rows");
    let makers =
        sources().into_iter().filter(|source| uses_rows(source) && source.module[0] == "sojourn");
    let elsewhere: Vec<String> = makers
        .map(|source| source.module.join("::"))
        .filter(|maker| !maker.starts_with("sojourn::network::report"))
        .collect();
    assert!(elsewhere.is_empty(), "make rows too: {elsewhere:?}");
}

/// Files import each other one way. What a `mod.rs` exports counts as its member's. A file may use what the `mod.rs`
/// of its own rooms have, which list it.
#[test]
fn files_do_not_import_each_other_in_a_circle() {
    let sources = sources();
    let index = Index::of(&sources);
    let imports_of = |source: &Source| -> BTreeSet<usize> {
        let used = source.paths("").into_iter().filter_map(|path| index.file_of(&path));
        used.filter(|used| sources[*used].module != source.module && !sources[*used].lists(source))
            .collect()
    };
    let mut imports: Vec<_> = sources.iter().map(imports_of).collect();
    // What can be taken away again and again, as it imports nothing that is left, is in no circle.
    loop {
        let free: Vec<usize> = (0..imports.len()).filter(|i| imports[*i].is_empty()).collect();
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
