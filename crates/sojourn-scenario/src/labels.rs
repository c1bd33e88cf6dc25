//! Names of variants that say what they are, whatever overrides them.
//!
//! What overrides a key that a variant sets goes into its name. Variants that are equal are one.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ruled::{Idle, without_idle_keys};
use super::schema::Scenario;
use super::variant::Variant;
use sojourn_input::problem::{Code, Warning};
use sojourn_input::words;

use super::overlay::COMPARE;

/// Keys that do not change a run, and for which no variant is named.
const ASIDE: [&str; 2] = ["title", "description"];

/// A key by its path with its value; without one where the file leaves it out.
type Leaf = (String, Option<Value>);

/// The keys that a variant is named for, and what has overridden them.
pub(super) struct Overridden {
    /// The keys of the variant itself.
    own: Vec<Leaf>,
    /// Those that others set: without them it is what it is called too.
    of_others: Vec<Leaf>,
    /// Those that were overridden, with the values that they have now.
    gone: Vec<Leaf>,
    /// What overrode some of them, each once, in its order.
    by: Vec<String>,
    /// Are all of its own overridden?
    entirely: bool,
    /// What changed the variant itself, in the `compare` table.
    within: Vec<String>,
}

impl Overridden {
    /// The keys that a variant of the `compare` table sets, and what `file` has where other `variants` differ from it:
    /// of a variant that sets none these are its own.
    pub(crate) fn of(own: &Value, variants: &Value, file: &Value) -> Self {
        let mut own = keys(own);
        let all = variants.as_object().into_iter().flatten().flat_map(|(_, one)| keys(one));
        let others: BTreeSet<String> = all.map(|(path, _)| path).collect();
        let is_other = |path: &String| own.iter().all(|(known, _)| known != path);
        let in_file = |path: String| (path.clone(), at(file, &path).cloned());
        let mut of_others: Vec<Leaf> = others.into_iter().filter(is_other).map(in_file).collect();
        if own.is_empty() {
            std::mem::swap(&mut own, &mut of_others);
        }
        let (gone, by, within) = (Vec::new(), Vec::new(), Vec::new());
        Self { own, of_others, gone, by, entirely: false, within }
    }

    /// Something may have overridden some of them, and `value` is the result: keys with another value, and
    /// those that it `overrides` with the same.
    pub(crate) fn by(&mut self, label: &str, value: &Value, overrides: impl Fn(&str) -> bool) {
        let is_other = |(path, now): &Leaf| at(value, path) != now.as_ref();
        let again = self.gone.iter().any(is_other);
        let before = self.gone.len();
        for leaves in [&mut self.own, &mut self.of_others] {
            let all = std::mem::take(leaves).into_iter();
            let (gone, kept): (Vec<_>, _) =
                all.partition(|leaf| is_other(leaf) || overrides(&leaf.0));
            *leaves = kept;
            self.gone.extend(gone);
        }
        if again || self.gone.len() > before {
            self.by.push(label.to_owned());
            self.entirely = self.own.is_empty();
        }
        self.gone.iter_mut().for_each(|(path, now)| *now = at(value, path).cloned());
    }

    /// The variant was changed in the `compare` table, so that it sets `now`.
    pub(crate) fn within(&mut self, label: &str, now: &Value) {
        let before = self.own.len();
        let is_kept = |(path, own): &Leaf| own.is_none() || at(now, path) == own.as_ref();
        if self.own.iter().filter(|leaf| is_kept(leaf)).count() < before {
            self.within.push(label.to_owned());
        }
        self.own = keys(now);
        self.of_others.retain(|(path, _)| at(now, path).is_none());
    }

    /// The name of the variant, and what is kept of that in the table.
    pub(crate) fn names(self, name: &str) -> (String, String) {
        let by = if self.entirely { self.by } else { [self.within, self.by].concat() };
        let by = by.join(", ");
        match (by.is_empty(), self.entirely) {
            (true, _) => (name.to_owned(), name.to_owned()),
            (false, true) => (by, String::new()),
            (false, false) => (format!("{name}, but {by}"), name.to_owned()),
        }
    }
}

/// The keys of a variant with their values, but for those that name none.
fn keys(variant: &Value) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    collect(variant, "", &mut leaves);
    leaves.retain(|(path, _)| !ASIDE.contains(&path.as_str()));
    leaves.into_iter().map(|(path, value)| (path, Some(value))).collect()
}

/// All values that are no tables, with their dotted paths.
fn collect(value: &Value, path: &str, leaves: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(table) => {
            table.iter().for_each(|(key, below)| collect(below, &words::join(path, key), leaves));
        }
        other => leaves.push((path.to_owned(), other.clone())),
    }
}

/// The value with a dotted path.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    match value {
        Value::Object(table) => table.iter().find_map(|(key, below)| {
            let key = words::join("", key);
            match path.strip_prefix(&key)? {
                "" => Some(below),
                rest => at(below, rest.strip_prefix('.')?),
            }
        }),
        _ => None,
    }
}

/// The variants without those that are equal to an earlier one, which says so in its notes.
pub fn distinct(variants: Vec<Variant>) -> Vec<Variant> {
    let mut kept: Vec<Kept> = Vec::new();
    for variant in variants {
        let (bare, idle) = bare(&variant.scenario);
        match kept.iter_mut().find(|known| known.bare == bare) {
            Some(known) => {
                known.idle.extend(idle);
                known.others.push(variant.name);
            }
            None => kept.push(Kept { variant, bare, others: Vec::new(), idle }),
        }
    }
    kept.into_iter().map(Kept::noted).collect()
}

/// A variant, and those that are equal to it.
struct Kept {
    variant: Variant,
    /// Its scenario without what does not change a run.
    bare: Scenario,
    others: Vec<String>,
    /// The keys without effect of all of them, as sentences.
    idle: BTreeSet<String>,
}

impl Kept {
    fn noted(self) -> Variant {
        let Self { mut variant, others, idle, .. } = self;
        if !others.is_empty() {
            let path = words::join(COMPARE, &variant.name);
            let reasons = idle.iter().map(|idle| format!("; {idle}"));
            let sentence = sentence(&variant.name, &others) + &reasons.collect::<String>();
            let note = Warning::of_code(Code::EqualVariants, path, sentence).with("others", others);
            variant.notes.push(note);
        }
        variant
    }
}

fn sentence(name: &str, others: &[String]) -> String {
    let mut named: Vec<&str> = others.iter().map(String::as_str).collect();
    named.retain(|other| *other != name);
    if named.is_empty() {
        let count = others.len() + 1;
        return format!(
            "{count} variants are equal, because {name} overrides the keys in which they differ: \
             one run stands for all"
        );
    }
    let quoted = named.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(" and ");
    if named.len() == others.len() {
        return format!("'{name}' and {quoted} are equal: one run stands for all");
    }
    let count = others.len() + 1;
    format!("{count} variants are equal, {quoted} among them: the run '{name}' stands for all")
}

/// A scenario without what does not change a run, and why keys have no effect.
fn bare(scenario: &Scenario) -> (Scenario, BTreeSet<String>) {
    let aside =
        |scenario| Scenario { title: String::new(), description: String::new(), ..scenario };
    match without_idle_keys(scenario) {
        None => (aside(scenario.clone()), BTreeSet::new()),
        Some((bare, idle)) => (aside(bare), idle.iter().map(Idle::why).collect()),
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use crate::load;

    const HOME: &str = "
        duration_s = 1
        upstream = { sustained_mbps = 5, peak_mbps = 5, burst_bytes = 3044 }
        downstream = { sustained_mbps = 20, peak_mbps = 20, burst_bytes = 3044 }
        servers.near.delay_ms = 9
        traffic.upload = { kind = 'transfer', server = 'near' }
        compare.small.upstream.queue.limit_bytes = 10_000
        compare.large.upstream.queue.limit_bytes = 90_000
        compare.CoDel.upstream.queue = { limit_bytes = 80_000, law = { kind = 'codel' } }
        compare.'as it is' = {}
    ";

    fn names(sets: &[&str]) -> Vec<(String, String)> {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let variants = load(HOME, "home.toml", &sets).unwrap();
        let named = |variant: super::Variant| {
            let notes: Vec<_> = variant.notes.into_iter().map(|note| note.message).collect();
            (variant.name, notes.join("; "))
        };
        variants.into_iter().map(named).collect()
    }

    fn pairs(names: &[(&str, &str)]) -> Vec<(String, String)> {
        names.iter().map(|(name, note)| ((*name).to_owned(), (*note).to_owned())).collect()
    }

    #[test]
    fn what_overrides_a_variant_is_in_its_name() {
        let all = [("small", ""), ("large", ""), ("CoDel", ""), ("as it is", "")];
        assert_eq!(names(&[]), pairs(&all));
        assert_eq!(names(&["seed=7"]), pairs(&all), "no variant is named for its seed");
        // The limit of two is all that they are named for; the fourth is named for its limit and law.
        let reported = names(&["upstream.queue.limit_bytes=50000"]);
        assert_eq!(reported.len(), 2);
        assert_eq!(reported[0].0, "limit 50 kB");
        let equal = "3 variants are equal, 'as it is, but limit 50 kB' among them: the run 'limit 50 kB' \
                     stands for all";
        assert_eq!(reported[0].1, equal);
        assert_eq!(reported[1].0, "CoDel, but limit 50 kB");
    }

    /// A law that is switched off is none.
    #[test]
    fn variants_that_differ_in_keys_without_effect_are_one() {
        let reported = names(&["upstream.aqm=false"]);
        assert_eq!(reported.len(), 4, "{reported:?}");
        let reported = names(&["upstream.aqm=false", "upstream.queue.limit_bytes=80000"]);
        assert_eq!(reported.len(), 1, "{reported:?}");
        let why = "; upstream.queue.law has no effect where upstream.aqm = false";
        assert!(reported[0].1.ends_with(why), "{}", reported[0].1);
    }

    #[test]
    fn a_variant_without_keys_is_named_for_what_the_others_change() {
        let own_rate = names(&["upstream.sustained_mbps=4"]);
        assert_eq!(own_rate[3].0, "as it is", "no other variant has another rate");
        let reported = names(&["upstream.queue.law.kind=pie"]);
        assert_eq!(reported[3].0, "as it is, but law pie");
        let both = ["upstream.queue.law.kind=pie", "upstream.queue.limit_bytes=50000"];
        let reported = names(&both);
        assert_eq!(reported.len(), 1, "nothing is left in which they differ");
        assert_eq!(reported[0].0, "law pie, limit 50 kB");
    }

    #[test]
    fn a_value_that_is_the_same_overrides_nothing() {
        let reported = names(&["upstream.queue.limit_bytes=90000"]);
        assert_eq!(reported[0].0, "limit 90 kB");
        assert_eq!(reported[1].0, "CoDel, but limit 90 kB");
        assert_eq!(names(&["upstream.queue.limit_bytes=80000"])[1].0, "CoDel");
    }

    #[test]
    fn what_no_variant_sets_is_in_no_name() {
        let limit = "upstream.queue.limit_bytes=50000";
        let reported = names(&[limit, "servers.near.delay_ms=5", "upstream.queue.law.kind=pie"]);
        assert_eq!(reported[0].0, "limit 50 kB, law pie");
        assert_eq!(names(&[limit, "duration_s=2", "servers.near.delay_ms=5"])[0].0, "limit 50 kB");
        let again = names(&[limit, "upstream.queue.limit_bytes=60000"]);
        assert_eq!(again[0].0, "limit 50 kB, limit 60 kB");
    }

    /// A law that a variant leaves out and another sets is what it is called for too: with it the name is wrong. What
    /// is overridden again is named again.
    #[test]
    fn what_others_set_is_in_a_name_where_it_is_overridden() {
        let law = "upstream.queue.law.kind=pie";
        let named: Vec<String> = names(&[law]).into_iter().map(|one| one.0).collect();
        let want = [
            "small, but law pie",
            "large, but law pie",
            "CoDel, but law pie",
            "as it is, but law pie",
        ];
        assert_eq!(named, want);
        let twice = names(&[law, "upstream.queue.law.kind=codel"]);
        assert_eq!(twice[0].0, "small, but law pie, law codel");
        let both =
            names(&["compare.small.traffic.upload.start_s=1", "traffic.upload.start_s=0.5", law]);
        let want = ["small, but start 0.5 s, law pie", "as it is, but law pie"];
        assert_eq!([both[0].0.as_str(), both[3].0.as_str()], want);
    }

    #[test]
    fn a_kind_is_told_as_its_part() {
        let reported = names(&["upstream.queue.law.kind=docsis_pie"]);
        assert_eq!(reported[2].0, "CoDel, but law docsis_pie");
        let reported = names(&["upstream.queue.law={kind=\"pie\"}"]);
        assert_eq!(reported[2].0, "CoDel, but law pie");
    }

    #[test]
    fn a_set_of_one_variant_is_part_of_it() {
        let reported = names(&["compare.small.upstream.queue.limit_bytes=20000"]);
        assert_eq!(reported[0].0, "small, but limit 20 kB");
    }
}
