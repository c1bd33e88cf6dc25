//! Parts from outside: what a program adds to the kinds that scenarios may choose from.

use std::sync::{Arc, LazyLock};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::apps::{AppParameters, AppSpec};
use super::controllers::{ControllerParameters, ControllerSpec};
use super::overlay::with_variants;
use super::schema::Scenario;
use super::traffic::add_labels;
use sojourn_engine::aqm::{AqmParameters, AqmSpec};
use sojourn_engine::hop::{HopParameters, HopSpec};
use sojourn_engine::queue::{SchedulerParameters, SchedulerSpec};
use sojourn_input::parts::{Kinds, Registry, add_kind};
use sojourn_input::problem::{Faults, Problems};
use sojourn_input::schema_check::Checker;
use sojourn_transport::cc::{CongestionParameters, CongestionSpec};

/// Parameters that scenarios can hold: what serde reads and schemars describes. Doc comments, ranges
/// (`#[schemars(range(..))]`) and defaults (`#[serde(default)]`) of their keys are checked and shown like those
/// of built-in kinds.
pub trait Readable: DeserializeOwned + JsonSchema + 'static {}

impl<T: DeserializeOwned + JsonSchema + 'static> Readable for T {}

/// Kinds of a program's own, by the names that scenarios have for them. A scenario that is read with them may
/// choose them as it chooses built-in ones, as in `law = { kind = "mine" }`.
///
/// ```
/// # use sojourn_scenario::{Parts, Source};
/// # use sojourn_engine::aqm::codel;
/// let parts = Parts::default().aqm::<codel::Parameters>("mine");
/// let text = "
///     upstream = { sustained_mbps = 10, queue.law = { kind = 'mine', target_ms = 20 } }
///     downstream = { sustained_mbps = 100 }
///     servers.near.delay_ms = 10
///     traffic.upload = { kind = 'transfer', direction = 'up' }
/// ";
/// let variants = Source::new(text, "mine.toml").parts(&parts).load()?;
/// assert_eq!(variants[0].scenario.upstream.queue.law.name(), "mine");
/// # Ok::<(), sojourn_input::problem::Problems>(())
/// ```
#[derive(Clone, Default)]
pub struct Parts(Registry);

impl Parts {
    /// With an AQM algorithm: a `kind` of `law`.
    pub fn aqm<T: AqmParameters + Readable>(self, kind: &str) -> Self {
        self.with::<T, AqmSpec>(kind, |law| Box::new(law))
    }

    /// With a scheduler: a `kind` of `scheduler`.
    pub fn scheduler<T: SchedulerParameters + Readable>(self, kind: &str) -> Self {
        self.with::<T, SchedulerSpec>(kind, |scheduler| Box::new(scheduler))
    }

    /// With a congestion control: a `kind` of `congestion_control`.
    pub fn congestion_control<T: CongestionParameters + Readable>(self, kind: &str) -> Self {
        self.with::<T, CongestionSpec>(kind, |control| Box::new(control))
    }

    /// With a traffic model: a `kind` of the entries of `traffic`.
    pub fn traffic<T: AppParameters + Readable>(self, kind: &str) -> Self {
        self.with::<T, AppSpec>(kind, |app| Box::new(app))
    }

    /// With a rate controller: a `kind` of `router.controller`.
    pub fn controller<T: ControllerParameters + Readable>(self, kind: &str) -> Self {
        self.with::<T, ControllerSpec>(kind, |controller| Box::new(controller))
    }

    /// With a hop: a `kind` of `hop`, in the place of a bottleneck's `queue`.
    pub fn hop<T: HopParameters + Readable>(self, kind: &str) -> Self {
        self.with::<T, HopSpec>(kind, |hop| Box::new(hop))
    }

    fn with<T: Readable, K: Kinds>(
        self,
        kind: &str,
        boxed: impl Fn(T) -> Box<K::Parameters> + Send + Sync + 'static,
    ) -> Self {
        let read = move |keys| serde_json::from_value(keys).map(&boxed);
        self.add::<K>(kind, T::json_schema, read)
    }

    /// With a kind whose parameters are no type of this program: the schema of its table without `kind`, and how the
    /// table is read.
    pub fn add<K: Kinds>(
        mut self,
        kind: &str,
        schema: impl Fn(&mut SchemaGenerator) -> Schema + Send + Sync + 'static,
        read: impl Fn(Value) -> serde_json::Result<Box<K::Parameters>> + Send + Sync + 'static,
    ) -> Self {
        self.0.add::<K>(kind, schema, read);
        self
    }

    /// The JSON Schema (draft 2020-12) of a scenario with these kinds.
    ///
    /// # Errors If a kind has the name of another one.
    pub fn json_schema(&self) -> Result<Value, Problems> {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let tables = self.0.schemas(&mut generator);
        let mut schema = generator.into_root_schema_for::<Scenario>().to_value();
        let mut faults = Faults::default();
        for (definition, mut table) in tables {
            match definition {
                AppSpec::DEFINITION => add_labels(&mut table),
                HopSpec::DEFINITION => HopSpec::allow(&mut schema["$defs"]),
                _ => {}
            }
            faults.add(add_kind(&mut schema["$defs"][definition], table));
        }
        let problems = faults.into_iter().map(|fault| fault.of("parts of this program"));
        Problems::of(problems).map_or(Ok(schema), Err)
    }

    /// The JSON Schema of a scenario file: [`Self::json_schema`] with the table of variants.
    ///
    /// # Errors As [`Self::json_schema`].
    pub fn file_schema(&self) -> Result<Value, Problems> {
        self.json_schema().map(with_variants)
    }

    /// Checks scenarios with these kinds, and with the table of variants if they may have one.
    pub(crate) fn checker(&self, has_variants: bool) -> Result<Arc<Checker>, Problems> {
        static BUILT_IN: [LazyLock<Arc<Checker>>; 2] = [
            LazyLock::new(|| Arc::new(Checker::new(json_schema()))),
            LazyLock::new(|| Arc::new(Checker::new(file_schema()))),
        ];
        if self.0.is_empty() {
            return Ok(BUILT_IN[usize::from(has_variants)].clone());
        }
        let schema = if has_variants { self.file_schema()? } else { self.json_schema()? };
        Ok(Arc::new(Checker::new(schema)))
    }

    /// Reads something with these kinds in scope.
    pub fn within<T>(&self, read: impl FnOnce() -> T) -> T {
        self.0.within(read)
    }
}

/// The JSON Schema (draft 2020-12) of a scenario with the built-in kinds.
pub fn json_schema() -> Value {
    Parts::default().json_schema().expect("no built-in kind comes twice")
}

/// The JSON Schema of a scenario file: [`json_schema`] with the table of variants.
pub fn file_schema() -> Value {
    with_variants(json_schema())
}
