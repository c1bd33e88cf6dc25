//! Where the keys of a JSON Schema are, for messages about keys that are in the wrong table.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::shape::{self, TAG};
use super::{text, words};

/// Stands in a path for a name that the user chooses.
pub(crate) const NAME: &str = "NAME";
/// The most places that a message names.
const MOST: usize = 3;

type Path = Vec<String>;

/// A path, and whether it is in a table of one kind of several.
type Place = (Path, bool);

/// The paths of all keys by their last step, and those of all kinds. Items of lists are left out.
#[derive(Default)]
pub(crate) struct Places {
    keys: BTreeMap<String, Vec<Place>>,
    kinds: BTreeMap<String, Vec<Place>>,
}

impl Places {
    pub(crate) fn of(root: &Value) -> Self {
        let mut places = Self::default();
        places.walk(root, root, &Path::new(), false);
        places
    }

    fn walk(&mut self, root: &Value, schema: &Value, path: &Path, of_kind: bool) {
        let schema = shape::core(root, schema);
        for (kind, table) in shape::kinds(schema).unwrap_or_default() {
            self.kinds.entry(kind.to_owned()).or_default().push((with(path, TAG), false));
            self.walk(root, table, path, true);
        }
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            let inner_path = with(path, key);
            self.walk(root, inner, &inner_path, of_kind);
            let places = self.keys.entry(key.clone()).or_default();
            if places.iter().all(|(there, _)| *there != inner_path) {
                places.push((inner_path, of_kind));
            }
        }
        if schema["additionalProperties"].is_object() {
            self.walk(root, &schema["additionalProperties"], &with(path, NAME), of_kind);
        }
    }

    /// Where a key is that the table at `path` lacks, the nearest places first. None if it is a key of another kind of
    /// this table; those of kinds far away are left out, as their names may mean something else.
    pub(crate) fn of_key(&self, key: &str, path: &str) -> Vec<String> {
        nearest(self.keys.get(key), &text::key_path(path).unwrap_or_default(), key)
    }

    /// Which tables have a kind that the one at `path` lacks.
    pub(crate) fn of_kind(&self, kind: &str, path: &str) -> Vec<String> {
        nearest(self.kinds.get(kind), &text::key_path(path).unwrap_or_default(), TAG)
    }

    /// Is it a key of each table of those by name at `path`?
    pub(crate) fn is_of_each(&self, key: &str, path: &str) -> bool {
        let mut whole = text::key_path(path).unwrap_or_default();
        whole.extend([NAME.to_owned(), key.to_owned()]);
        let is_whole = |(one, _): &Place| common(one, &whole) == whole.len();
        self.keys.get(key).is_some_and(|places| places.iter().any(is_whole))
    }
}

fn with(path: &Path, step: &str) -> Path {
    path.iter().cloned().chain([step.to_owned()]).collect()
}

fn nearest(places: Option<&Vec<Place>>, path: &Path, last: &str) -> Vec<String> {
    let own = with(path, last);
    let all = places.into_iter().flatten();
    if all.clone().any(|(one, _)| one.len() == own.len() && common(one, &own) == own.len()) {
        return Vec::new();
    }
    let counted = all.map(|(one, of_kind)| (common(one, path), one, *of_kind));
    let mut near: Vec<_> = counted.filter(|(common, _, of_kind)| !of_kind || *common > 0).collect();
    near.sort_by_key(|(common, one, _)| (Reverse(*common), one.len()));
    let named = |(common, one, _): (usize, &Path, bool)| {
        let steps = path.iter().take(common).chain(one.iter().skip(common));
        steps.fold(String::new(), |path, step| words::join(&path, step))
    };
    near.into_iter().take(MOST).map(named).collect()
}

/// How many steps from the root on two paths have in common.
fn common(place: &Path, path: &Path) -> usize {
    place.iter().zip(path).take_while(|(one, other)| one == other || *one == NAME).count()
}
