//! The declaration of a module, whose hooks are those that it exports.

use serde_json::Value;
use sojourn_parts::{Declaration, Hook, Setting};

use super::abi::{self, DECLARATION, MOST_NUMBERS, VERSIONS};

/// Every hook of every role.
pub(crate) fn hooks() -> impl Iterator<Item = Hook> {
    Hook::ALL.into_iter()
}

/// The declaration from its JSON, the functions that the module exports and the version of the interface that it has.
///
/// # Errors What was found, and what is allowed.
pub fn declaration_of(
    json: &[u8],
    digest: &str,
    functions: &[&str],
    interface: u32,
) -> Result<Declaration, String> {
    if !VERSIONS.contains(&interface) {
        let allowed = VERSIONS.map(|version| version.to_string()).join(", ");
        return Err(format!("{}: found {interface}; allowed: {allowed}", abi::ABI));
    }
    let hooks = hooks_of(functions, interface)?;
    let declaration = declaration(json, digest, hooks, interface)
        .and_then(|of| of.check().map(|()| of))
        .map_err(|fault| format!("{DECLARATION}: {fault}"))?;
    if declaration.parameters.len() > MOST_NUMBERS {
        let found = declaration.parameters.len();
        return Err(format!(
            "{DECLARATION}: found {found} parameters; allowed: {MOST_NUMBERS} at most"
        ));
    }
    if !declaration.gauges.is_empty() && !functions.contains(&abi::GAUGES) {
        return Err(format!("found gauges in {DECLARATION} and no function {}", abi::GAUGES));
    }
    Ok(declaration)
}

/// The functions that are called: a name that begins as theirs and is none is a mistake.
fn hooks_of(functions: &[&str], interface: u32) -> Result<Vec<&'static str>, String> {
    let known: Vec<_> =
        hooks().filter(|hook| hook.interface() <= interface).map(Hook::name).collect();
    match functions.iter().find(|name| name.starts_with("on_") && !known.contains(name)) {
        None => Ok(known.into_iter().filter(|name| functions.contains(name)).collect()),
        Some(other) => Err(format!(
            "found the function {other}; allowed with {} {interface}: {}",
            abi::ABI,
            known.join(", ")
        )),
    }
}

fn declaration(
    json: &[u8],
    digest: &str,
    hooks: Vec<&str>,
    interface: u32,
) -> Result<Declaration, String> {
    let mut keys: Value = serde_json::from_slice(json).map_err(|error| {
        format!(
            "found no JSON at line {}, column {}; allowed: a table in JSON",
            error.line(),
            error.column()
        )
    })?;
    let table = keys.as_object_mut().ok_or("found no table; allowed: a table in JSON")?;
    for (key, whose) in [
        ("hooks", "those that the module exports"),
        ("digest", "that of the file"),
        ("interface", "that of sojourn_abi"),
        ("folder", "a module reads no files"),
    ] {
        if table.contains_key(key) {
            return Err(format!("found {key}; allowed: none, they are {whose}"));
        }
    }
    table.insert("hooks".to_owned(), hooks.into());
    table.insert("digest".to_owned(), digest.into());
    table.insert("interface".to_owned(), interface.into());
    Declaration::read(keys)
}

/// The values of parameters as numbers.
///
/// # Errors If they have no room.
pub fn numbers_of(settings: &[Setting]) -> Result<Vec<f64>, String> {
    let numbers = Setting::numbers(settings);
    match numbers.len() <= MOST_NUMBERS {
        true => Ok(numbers),
        false => Err(format!(
            "found {} numbers in parameters and their lists; allowed: {MOST_NUMBERS} at most",
            numbers.len()
        )),
    }
}
