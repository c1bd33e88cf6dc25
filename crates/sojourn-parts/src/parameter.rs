//! What scenarios may set of a part.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::setting::{Setting, file, shown};

/// What scenarios may set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its key. Where it has a unit, the key ends with it.
    pub name: String,
    /// What it is, in a sentence.
    #[serde(default)]
    pub doc: String,
    /// Its unit; empty for none.
    #[serde(default)]
    pub unit: String,
    /// Its value where the scenario does not say, which also says what it takes: a number, true or false, a list of
    /// numbers, or a text.
    pub default: Value,
    /// The texts of a choice, of which it takes one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// A text is the path of a file, which belongs to what the part is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub file: bool,
    /// The least value; of a list, of each number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Which numbers it takes.
    #[serde(default)]
    pub number: Number,
}

/// Which numbers a parameter takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Number {
    /// All.
    #[default]
    Real,
    /// Whole ones.
    Whole,
}

impl Parameter {
    /// Does it take this value?
    fn takes(&self, value: f64) -> bool {
        value.is_finite()
            && self.min.is_none_or(|min| value >= min)
            && self.max.is_none_or(|max| value <= max)
            && (self.number == Number::Real || value.fract() == 0.0)
    }

    pub(crate) fn check(&self, folder: &str) -> Result<(), String> {
        let Self { name, default, min, max, choices, .. } = self;
        if matches!(default, Value::Null | Value::Object(_)) {
            return Err(format!(
                "{name}: found {default} as default; allowed: a number, true or false, a text, or a list of numbers"
            ));
        }
        if default.is_string() && self.file && folder.is_empty() {
            return Err(format!(
                "{name}: found a file; allowed: in a class of Python, which has a folder"
            ));
        }
        if default.is_string() && !self.file && choices.is_empty() {
            return Err(format!("{name}: found a text; allowed: one of its choices"));
        }
        let is_again = |(place, text): (usize, &String)| choices[..place].contains(text);
        if choices.iter().any(String::is_empty) || choices.iter().enumerate().any(is_again) {
            let allowed = "different texts that are not empty";
            return Err(format!(
                "{name}: found a choice that is empty or there twice; allowed: {allowed}"
            ));
        }
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            return Err(format!(
                "{name}: found the range {min} to {max}; allowed: (LEAST, GREATEST)"
            ));
        }
        if [*min, *max].into_iter().flatten().any(|end| !end.is_finite()) {
            return Err(format!(
                "{name}: found a range that is not finite; allowed: finite numbers"
            ));
        }
        // A file that a scenario does not choose need not be there.
        if self.file {
            return Ok(());
        }
        let faulty = |fault: String| fault.replacen("found ", "found the default ", 1);
        self.read(default, folder).map(|_| ()).map_err(faulty)
    }

    /// Reads a value.
    ///
    /// # Errors What was found, and what is allowed.
    pub(crate) fn read(&self, value: &Value, folder: &str) -> Result<Setting, String> {
        let refused = |allowed: String| {
            let name = &self.name;
            Err(format!("{name}: found {}; allowed: {allowed}", shown(value)))
        };
        match (&self.default, value) {
            (Value::Bool(_), Value::Bool(flag)) => Ok(Setting::Flag(*flag)),
            (Value::Bool(_), _) => refused("true, false".to_owned()),
            (Value::Array(_), Value::Array(list)) => {
                let numbers = list.iter().map(|one| one.as_f64().filter(|one| self.takes(*one)));
                match numbers.collect::<Option<Vec<_>>>() {
                    Some(numbers) if numbers.len() <= MOST_ITEMS => Ok(Setting::List(numbers)),
                    _ => refused(format!("a list of {MOST_ITEMS} at most, each {}", self.range())),
                }
            }
            (Value::Array(_), _) => refused("a list of numbers".to_owned()),
            (Value::String(_), Value::String(path)) if self.file => file(path, folder)
                .map_err(|fault| format!("{}: found {}, {fault}", self.name, shown(value))),
            (Value::String(_), Value::String(text)) => {
                match self.choices.iter().position(|one| one == text) {
                    Some(place) => Ok(Setting::Choice(place)),
                    None => refused(self.choices.join(", ")),
                }
            }
            (Value::String(_), _) => refused("a text".to_owned()),
            _ => match value.as_f64().filter(|number| self.takes(*number)) {
                Some(number) => Ok(Setting::Number(number)),
                None => refused(self.range()),
            },
        }
    }

    /// Its value as scenarios have it.
    pub(crate) fn written(&self, setting: &Setting) -> Value {
        match setting {
            // Whole numbers are written as others, for who reads it again may not know the part.
            Setting::Number(number) => (*number).into(),
            Setting::Flag(flag) => (*flag).into(),
            Setting::Choice(place) => self.choices.get(*place).cloned().into(),
            Setting::List(list) => list.clone().into(),
            Setting::File { path, .. } => path.clone().into(),
        }
    }

    /// The schema of its key.
    pub(crate) fn schema(&self) -> Value {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" In {}.", self.unit) };
        let mut schema = match &self.default {
            Value::Bool(_) => json!({ "type": "boolean" }),
            Value::Array(_) => {
                json!({ "type": "array", "items": self.of_number(), "maxItems": MOST_ITEMS })
            }
            Value::String(_) if self.file => json!({ "type": "string" }),
            Value::String(_) => json!({ "type": "string", "enum": self.choices }),
            _ => self.of_number(),
        };
        schema["description"] = format!("{}{unit}", self.doc).trim().into();
        schema["default"] = match (self.number, self.default.as_f64()) {
            (Number::Whole, Some(number)) => (number as i64).into(),
            (Number::Real, Some(number)) => number.into(),
            (_, None) => self.default.clone(),
        };
        schema
    }

    fn of_number(&self) -> Value {
        let written = |value: f64| -> Value {
            match self.number {
                Number::Real => value.into(),
                Number::Whole => (value as i64).into(),
            }
        };
        let mut schema = match self.number {
            Number::Real => json!({ "type": "number" }),
            Number::Whole => json!({ "type": "integer" }),
        };
        for (key, end) in [("minimum", self.min), ("maximum", self.max)] {
            if let Some(end) = end {
                schema[key] = written(end);
            }
        }
        schema
    }

    fn range(&self) -> String {
        let kind = if self.number == Number::Whole { "a whole number" } else { "a number" };
        match (self.min, self.max) {
            (Some(min), Some(max)) => format!("{kind} from {min} to {max}"),
            (Some(min), None) => format!("{kind} from {min} on"),
            (None, Some(max)) => format!("{kind} up to {max}"),
            (None, None) => kind.to_owned(),
        }
    }
}

/// Numbers of a list.
const MOST_ITEMS: usize = 1000;
