//! What a part says of itself.

use serde::{Deserialize, Serialize};

use sojourn_input::words;

use super::hook::{Hook, Role};
use super::parameter::Parameter;
use super::setting::{Setting, digest_key, in_short};
use sojourn_transport::EcnMode;

/// What a part says of itself. It can be read from JSON and written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// What it is.
    pub role: Role,
    /// The `kind` by which scenarios choose it: small letters, digits and `_`.
    pub name: String,
    /// What it does, in a sentence.
    #[serde(default)]
    pub doc: String,
    /// Its keys in scenarios.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// State worth watching over time.
    #[serde(default)]
    pub gauges: Vec<Gauge>,
    /// The hooks that it has.
    pub hooks: Vec<Hook>,
    /// The time between its updates, if it has `on_update`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<Update>,
    /// A control: does it set the pacing rate?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paced: bool,
    /// A control: does it need timestamps, for one-way delays?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timestamps: bool,
    /// A control: how its connections use explicit congestion notification where the scenario does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnMode>,
    /// Traffic: how it is scored; by its throughput where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// Traffic: the only direction in which it sends, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Way>,
    /// Traffic: do its ends send datagrams to each other, and measure round trips with them?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub two_way: bool,
    /// Where its files are, if it may have any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The version of the interface that it has.
    #[serde(default = "first_interface")]
    pub interface: u32,
    /// A digest of its source, which results are stored with; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// How traffic is scored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// As a voice call, by delay and loss of its datagrams.
    Call,
    /// As a game, by delay and loss of its datagrams.
    Game,
    /// As a video call, by delay and loss of its frames.
    Frames,
    /// As web pages, by the time that they take.
    Pages,
    /// By a gauge at the end of the run, on a scale of its own.
    Own(Scale),
}

/// The bounds of a score's grades. Where good is less than fair, the less is the better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The name of the gauge.
    pub gauge: String,
    /// What is good, at worst.
    pub good: f64,
    /// What is fair, at worst.
    pub fair: f64,
    /// What is poor, at worst: the rest fails.
    pub poor: f64,
}

impl Scale {
    /// Where a score is: 1 is the bound of good, 2 of fair and 3 of poor, with straight lines between and beyond them.
    pub fn level(&self, score: f64) -> f64 {
        let (from, low, high) = match (score - self.fair) * (self.poor - self.good) <= 0.0 {
            true => (1.0, self.good, self.fair),
            false => (2.0, self.fair, self.poor),
        };
        (from + (score - low) / (high - low)).clamp(0.0, MOST_LEVEL)
    }

    fn check(&self, gauges: &[Gauge]) -> Result<(), String> {
        let Self { gauge, good, fair, poor } = self;
        if !gauges.iter().any(|of| of.name == *gauge) {
            return Err(format!(
                "score: found the gauge {}; allowed: one of its gauges",
                words::quoted(gauge)
            ));
        }
        let falls = good > fair && fair > poor;
        if !(falls || good < fair && fair < poor) || !(good + poor).is_finite() {
            let found = format!("good {good}, fair {fair}, poor {poor}");
            return Err(format!("score: found {found}; allowed: numbers that rise or that fall"));
        }
        Ok(())
    }
}

/// What fails is not told apart beyond this.
const MOST_LEVEL: f64 = 10.0;

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From the home.
    Up,
    /// To the home.
    Down,
}

fn first_interface() -> u32 {
    1
}

/// State worth watching over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gauge {
    /// Its name. In series that of the part comes before it.
    pub name: String,
    /// Its unit; empty for none.
    #[serde(default)]
    pub unit: String,
}

/// The time between updates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Update {
    /// In us.
    Us(f64),
    /// The value of the parameter of this name, which ends with `_us`, `_ms` or `_s`.
    Parameter(String),
}

/// The shortest time between updates in us.
const LEAST_UPDATE_US: f64 = 1.0;
/// The longest one.
const MOST_UPDATE_US: f64 = 1e12;

impl Declaration {
    /// Has it this hook?
    pub fn has(&self, hook: Hook) -> bool {
        self.hooks.contains(&hook)
    }

    /// Does it set the pacing rate? A control that takes samples does.
    pub(crate) fn paces(&self) -> bool {
        self.paced || self.has(Hook::OnSample)
    }

    /// The time between updates in us, with these values of its parameters; none where it has no updates.
    pub fn update_us(&self, values: &[Setting]) -> Option<f64> {
        match self.update.as_ref()? {
            Update::Us(us) => Some(*us),
            Update::Parameter(name) => {
                let place = self.parameters.iter().position(|of| of.name == *name)?;
                match values.get(place)? {
                    Setting::Number(number) => Some(us_of(name)? * number),
                    _ => None,
                }
            }
        }
    }

    /// Checks what it says.
    ///
    /// # Errors The first thing that cannot be: what was found, and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        self.check_names()?;
        self.check_hooks()?;
        self.check_units()?;
        self.parameters.iter().try_for_each(|of| of.check(&self.folder))?;
        if let Some(Score::Own(scale)) = &self.score {
            scale.check(&self.gauges)?;
        }
        self.check_update()
    }

    fn check_names(&self) -> Result<(), String> {
        let parameters = self.parameters.iter().map(|of| &*of.name);
        let gauges = self.gauges.iter().map(|of| &*of.name);
        let all: Vec<&str> = [&*self.name].into_iter().chain(parameters).chain(gauges).collect();
        if let Some(name) = all.into_iter().find(|name| !is_name(name)) {
            let allowed = "small letters, digits and _, beginning with a letter, 64 at most";
            return Err(format!("found the name {}; allowed: {allowed}", words::quoted(name)));
        }
        let taken = self.role.reserved();
        for (place, Parameter { name, .. }) in self.parameters.iter().enumerate() {
            let is_there =
                |of: &Parameter| of.name == *name || of.file && digest_key(&of.name) == *name;
            let others = self.parameters.iter().enumerate().filter(|(at, _)| *at != place);
            if taken.contains(&&**name) || others.map(|(_, of)| of).any(is_there) {
                return Err(format!(
                    "found the parameter {name}, a name that is taken; allowed: another"
                ));
            }
        }
        Ok(())
    }

    /// A name that ends with another unit than it has would mislead whoever sets or reads it.
    fn check_units(&self) -> Result<(), String> {
        let parameters = self.parameters.iter().map(|of| (&of.name, &of.unit));
        let gauges = self.gauges.iter().map(|of| (&of.name, &of.unit));
        let differ = |(name, unit): &(&String, &String)| {
            let end = UNITS.iter().find(|end| has_end(name, end));
            end.is_some_and(|end| UNITS.contains(&&***unit) && end != unit)
        };
        if let Some((name, unit)) = parameters.clone().chain(gauges).find(differ) {
            return Err(format!(
                "{name}: found the unit {unit}; allowed: the unit with which the name ends"
            ));
        }
        let is_without =
            |(name, unit): &(&String, &String)| UNITS.contains(&&***unit) && !has_end(name, unit);
        match { parameters }.find(is_without) {
            Some((name, unit)) => Err(format!(
                "{name}: found the unit {unit}; allowed: a name that ends with it, as {name}_{unit}"
            )),
            None => Ok(()),
        }
    }

    fn check_hooks(&self) -> Result<(), String> {
        let names =
            |hooks: &[Hook]| hooks.iter().map(|hook| hook.name()).collect::<Vec<_>>().join(", ");
        let (role, of_role) = (self.role.name(), self.role.hooks());
        if let Some(hook) = self.hooks.iter().find(|hook| !of_role.contains(hook)) {
            return Err(format!("found {} in a {role}; allowed: {}", hook.name(), names(of_role)));
        }
        if self.role.interface() > self.interface {
            let (found, since) = (self.interface, self.role.interface());
            return Err(format!("found a {role} in interface {found}; allowed: from {since} on"));
        }
        if let Some(hook) = self.hooks.iter().find(|hook| hook.interface() > self.interface) {
            let (name, found, since) = (hook.name(), self.interface, hook.interface());
            return Err(format!("found {name} in interface {found}; allowed: from {since} on"));
        }
        if self.hooks.is_empty() {
            return Err(format!("found no hook; allowed in a {role}: {}", names(of_role)));
        }
        let (needed, one_of) = (self.role.required(), self.role.one_of());
        if let Some(hook) = needed.iter().find(|hook| !self.has(**hook)) {
            let one_of = if one_of.is_empty() {
                String::new()
            } else {
                format!(", and one of {}", names(one_of))
            };
            return Err(format!(
                "found no {}; a {role} needs {}{one_of}",
                hook.name(),
                names(needed)
            ));
        }
        if !one_of.is_empty() && !one_of.iter().any(|hook| self.has(*hook)) {
            return Err(format!("found none of {}; a {role} needs one", names(one_of)));
        }
        if self.has(Hook::OnEcn) && self.has(Hook::OnMark) {
            return Err(
                "found on_ecn and on_mark, which is its other name; allowed: one".to_owned()
            );
        }
        Ok(())
    }

    fn check_update(&self) -> Result<(), String> {
        match (&self.update, self.has(Hook::OnUpdate)) {
            (None, false) => return Ok(()),
            (None, true) => {
                return Err("found on_update without the time between updates; \
                            allowed: update, in us or as the name of a parameter"
                    .to_owned());
            }
            (Some(_), false) => {
                return Err("found a time between updates without on_update".to_owned());
            }
            (Some(Update::Us(_)), true) => {}
            (Some(Update::Parameter(name)), true) => {
                let of = self.parameters.iter().find(|of| of.name == *name);
                let is_time = us_of(name).is_some();
                let Some(Parameter { min: Some(_), max: Some(_), .. }) = of.filter(|_| is_time)
                else {
                    let allowed = "a parameter with a range whose name ends with _us, _ms or _s";
                    return Err(format!(
                        "found {name} as time between updates; allowed: {allowed}"
                    ));
                };
            }
        }
        let bounds = |bound: fn(&Parameter) -> Option<f64>| {
            let end = |of: &Parameter| {
                Setting::Number(bound(of).or(of.default.as_f64()).unwrap_or_default())
            };
            self.parameters.iter().map(end).collect::<Vec<_>>()
        };
        let ends = [bounds(|of| of.min), bounds(|of| of.max)];
        let spans = ends.iter().filter_map(|values| self.update_us(values));
        match spans.into_iter().find(|us| !(LEAST_UPDATE_US..=MOST_UPDATE_US).contains(us)) {
            Some(us) => {
                let allowed = format!("{LEAST_UPDATE_US} to {MOST_UPDATE_US}");
                Err(format!("found {} us between updates; allowed: {allowed}", in_short(us)))
            }
            None => Ok(()),
        }
    }
}

/// The us in the unit that the name of a time ends with.
fn us_of(name: &str) -> Option<f64> {
    let units = [("_us", 1.0), ("_ms", 1e3), ("_s", 1e6)];
    units.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, us)| us)
}

/// Units that names end with.
const UNITS: [&str; 5] = ["us", "ms", "s", "bytes", "bps"];

fn has_end(name: &str, unit: &str) -> bool {
    name.strip_suffix(unit).is_some_and(|start| start.ends_with('_') && !start.ends_with("_per_"))
}

fn is_name(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|next| next.is_ascii_lowercase() || next.is_ascii_digit() || next == b'_')
        && name.len() <= 64
}
