//! The prepared cases of the page: the scenarios of `scenarios/gallery`.

use serde_json::{Value, json};

macro_rules! cases {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../scenarios/gallery/", $name, ".toml")))),+]
    };
}

/// Names and texts, in the order of the gallery.
const CASES: &[(&str, &str)] = cases![
    "01-bufferbloat",
    "02-codel",
    "03-docsis-pie",
    "04-sfq-codel",
    "05-bittorrent",
    "06-tiers",
    "07-shared-channel",
    "08-fibre",
    "09-cmts",
    "10-abb",
    "11-low-latency",
    "12-l4s",
    "13-router",
    "14-cake-router",
];

/// The cases for a page. A name is that of the file, without the number that orders it.
pub(crate) fn cases() -> Value {
    let case = |(name, text): &(&str, &str)| {
        let name = name.split_once('-').map_or(*name, |(_, name)| name);
        json!({ "name": name, "text": text })
    };
    CASES.iter().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn::scenario::load;

    #[test]
    fn every_file_of_the_gallery_is_a_case() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/gallery");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> =
            files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(names, CASES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    #[test]
    fn every_case_has_a_title_and_two_sentences_on_what_to_see() {
        for (name, text) in CASES {
            let scenario = &load(text, name, &[]).unwrap()[0].scenario;
            let sentences = scenario.description.matches(". ").count()
                + scenario.description.matches(".\n").count();
            assert!(!scenario.title.is_empty(), "{name}");
            assert!((2..=3).contains(&sentences), "{name}: {sentences}");
        }
    }
}
