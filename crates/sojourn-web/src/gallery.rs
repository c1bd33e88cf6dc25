//! The prepared cases of the page: the scenarios of `scenarios/gallery`.

use serde_json::{Value, json};
use sojourn::shipped::GALLERY;

/// The cases for a page. A name is that of the file, without the number that orders it.
pub(crate) fn cases() -> Value {
    let case = |(name, text): &(&str, &str)| {
        let name = name.split_once('-').map_or(*name, |(_, name)| name);
        json!({ "name": name, "text": text })
    };
    GALLERY.iter().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn::scenario::load;

    #[test]
    fn every_case_has_a_title_and_two_sentences_on_what_to_see() {
        for (name, text) in GALLERY {
            let scenario = &load(text, name, &[]).unwrap()[0].scenario;
            let sentences = scenario.description.matches(". ").count()
                + scenario.description.matches(".\n").count();
            assert!(!scenario.title.is_empty(), "{name}");
            assert!((2..=3).contains(&sentences), "{name}: {sentences}");
        }
    }
}
