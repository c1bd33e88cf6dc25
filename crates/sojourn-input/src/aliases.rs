//! What other programs and texts call things, and what to write for them here.

/// Kinds of schedulers and of AQM algorithms.
const MANAGERS: &[&str] = &["fifo", "codel"];
const FRAMINGS: &[&str] = &["noatm"];

/// Names in lower case with `_` for `-`; a name that is allowed in their place; what to write.
type Alias = (&'static [&'static str], &'static [&'static str], &'static str);

const ALIASES: &[Alias] = &[
    (&["fq_codel", "fqcodel"], MANAGERS, "scheduler.kind = \"fq\" and law.kind = \"codel\""),
    (&["sfq_codel", "sfqcodel"], MANAGERS, "scheduler.kind = \"sfq\" and law.kind = \"codel\""),
    (
        &["sfq_pie"],
        MANAGERS,
        "scheduler = { kind = \"sfq\", one_law = true } and law.kind = \"pie\"",
    ),
    (&["ared", "adaptive_red"], MANAGERS, "law = { kind = \"red\", adaptive = true }"),
    (&["dual_pi2", "dualpi2", "l4s"], MANAGERS, "scheduler.kind = \"dualq\""),
    (&["lld", "low_latency_docsis"], MANAGERS, "scheduler.kind = \"low_latency\""),
    (&["cobalt"], MANAGERS, "scheduler.kind = \"cake\", whose law it is"),
    (
        &["bfifo", "drop_tail", "droptail", "pfifo", "pfifo_fast", "tail_drop", "taildrop"],
        MANAGERS,
        "scheduler.kind = \"fifo\" and law.kind = \"none\"",
    ),
    (
        &["docsis"],
        FRAMINGS,
        "overhead_bytes = 18 and mpu_bytes = 64 where cable.byte_count is \"ip\", and neither otherwise: sizes are \
         those of Ethernet frames then",
    ),
];

/// What to write for a name that others use where one of `allowed` is expected, if it is known.
pub(crate) fn meaning(name: &str, allowed: &[&str]) -> Option<&'static str> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let is_meant = |(names, among, _): &&Alias| {
        names.contains(&&*name) && among.iter().any(|one| allowed.contains(one))
    };
    ALIASES.iter().find(is_meant).map(|(.., meaning)| *meaning)
}
