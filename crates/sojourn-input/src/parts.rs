//! Parts from outside: kinds that a program adds to the built-in ones.
//!
//! The kinds of a part are an enum, whose last arm holds the parameters of a part from outside. A field of such
//! an enum is read by [`kind`] and written by [`write_kind`]: a kind that the program has registered as the program
//! says, all others as the enum says. Serde hands readers no arguments, so the registry is in scope while a file is read.

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use dyn_clone::DynClone;
use schemars::{Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::problem::Fault;
use super::shape::{self, TAG};
use super::words;

/// What parameters of parts can do beside their trait: be cloned, shown and written. All that serde can write
/// do.
pub trait Keys: DynClone + fmt::Debug + Send + Sync {
    /// The table of their keys, with all values.
    ///
    /// # Errors If serde cannot write it.
    fn keys(&self) -> serde_json::Result<Value>;
}

impl<T: Serialize + Clone + fmt::Debug + Send + Sync> Keys for T {
    fn keys(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

/// The kinds of a part, among them those from outside.
pub trait Kinds: DeserializeOwned + Serialize {
    /// The trait of its parameters.
    type Parameters: Keys + ?Sized + 'static;
    /// Its definition in the JSON Schema.
    const DEFINITION: &'static str;
    /// The kind for a part from outside.
    fn outside(part: Outside<Self::Parameters>) -> Self;
    /// The part from outside, if it is one.
    fn as_outside(&self) -> Option<&Outside<Self::Parameters>>;
}

/// The parameters of a part from outside, and the kind by which scenarios choose it.
pub struct Outside<P: ?Sized> {
    kind: String,
    parameters: Box<P>,
}

impl<P: ?Sized> Outside<P> {
    /// Parameters of this kind.
    pub fn new(kind: impl Into<String>, parameters: Box<P>) -> Self {
        Self { kind: kind.into(), parameters }
    }

    /// Its name in scenarios.
    pub fn kind(&self) -> &str {
        &self.kind
    }
}

impl<P: ?Sized> Deref for Outside<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.parameters
    }
}

impl<P: ?Sized> DerefMut for Outside<P> {
    fn deref_mut(&mut self) -> &mut P {
        &mut self.parameters
    }
}

impl<P: Keys + ?Sized> Clone for Outside<P> {
    fn clone(&self) -> Self {
        Self::new(self.kind.clone(), dyn_clone::clone_box(&*self.parameters))
    }
}

impl<P: Keys + ?Sized> fmt::Debug for Outside<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(&self.kind).field(&&*self.parameters as &dyn fmt::Debug).finish()
    }
}

/// Equal parts are of one kind and write the same keys.
impl<P: Keys + ?Sized> PartialEq for Outside<P> {
    fn eq(&self, other: &Self) -> bool {
        let keys = |part: &Self| part.parameters.keys().ok();
        self.kind == other.kind && keys(self).is_some_and(|own| keys(other) == Some(own))
    }
}

/// As the built-in kinds: a table with its kind first.
impl<P: Keys + ?Sized> Serialize for Outside<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let keys = self.parameters.keys().map_err(S::Error::custom)?;
        let Value::Object(keys) = keys else {
            return Err(S::Error::custom(format!("the parameters of {} are no table", self.kind)));
        };
        let kind = (TAG.to_owned(), Value::from(&*self.kind));
        serializer.collect_map([kind].into_iter().chain(keys))
    }
}

type SchemaOf = dyn Fn(&mut SchemaGenerator) -> Schema + Send + Sync;
type Read<P> = dyn Fn(Value) -> serde_json::Result<Box<P>> + Send + Sync;

/// A kind that a program has registered.
#[derive(Clone)]
struct Registered {
    definition: &'static str,
    kind: String,
    schema: Arc<SchemaOf>,
    /// An `Arc<Read<P>>` for the trait of its parameters.
    read: Arc<dyn Any + Send + Sync>,
}

/// The kinds that a program has registered.
#[derive(Clone, Default)]
pub struct Registry(Vec<Registered>);

scoped_tls::scoped_thread_local!(static IN_SCOPE: Registry);

impl Registry {
    /// Adds a kind: the schema of its table without `kind`, and how the table is read.
    pub fn add<K: Kinds>(
        &mut self,
        kind: &str,
        schema: impl Fn(&mut SchemaGenerator) -> Schema + Send + Sync + 'static,
        read: impl Fn(Value) -> serde_json::Result<Box<K::Parameters>> + Send + Sync + 'static,
    ) {
        let read: Arc<Read<K::Parameters>> = Arc::new(read);
        self.0.push(Registered {
            definition: K::DEFINITION,
            kind: kind.to_owned(),
            schema: Arc::new(schema),
            read: Arc::new(read),
        });
    }

    /// Has no kind been registered?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Does something, such as reading a scenario, with these kinds in scope.
    pub fn within<T>(&self, read: impl FnOnce() -> T) -> T {
        IN_SCOPE.set(self, read)
    }

    /// The definitions that have kinds from outside, with the schema of each kind's table.
    pub fn schemas(&self, generator: &mut SchemaGenerator) -> Vec<(&'static str, Value)> {
        let of = |part: &Registered| {
            (part.definition, of_kind(&part.kind, (part.schema)(generator).to_value()))
        };
        self.0.iter().map(of).collect()
    }

    /// Reads a table, if its kind is registered.
    fn read<K: Kinds>(&self, table: &mut Value) -> Option<serde_json::Result<K>> {
        let is_it = |part: &&Registered| {
            part.definition == K::DEFINITION && table[TAG].as_str() == Some(&part.kind)
        };
        let part = self.0.iter().find(is_it)?;
        let read: &Arc<Read<K::Parameters>> = part.read.downcast_ref()?;
        let mut keys = table.take();
        keys.as_object_mut()?.shift_remove(TAG);
        Some(read(keys).map(|parameters| K::outside(Outside::new(&*part.kind, parameters))))
    }
}

/// Adds a kind's table to those that a definition has.
///
/// # Errors If the definition has that kind.
pub fn add_kind(definition: &mut Value, table: Value) -> Result<(), Fault> {
    let kind = table["properties"][TAG]["const"].as_str().unwrap_or_default();
    let kinds = shape::kinds(definition).unwrap_or_default();
    let names: Vec<&str> = kinds.into_iter().map(|(name, _)| name).collect();
    if names.contains(&kind) {
        let found = format!("a part from outside called {}", words::quoted(kind));
        let allowed = format!("a name other than {}", names.join(", "));
        return Err(Fault::found("", found, allowed));
    }
    if let Some(tables) = definition["oneOf"].as_array_mut() {
        tables.push(table);
    }
    Ok(())
}

/// The schema of a kind's table from that of its other keys. Keys that it does not know are refused.
fn of_kind(kind: &str, mut schema: Value) -> Value {
    let Some(table) = schema.as_object_mut() else { return json!({}) };
    table.shift_remove("title");
    table.insert("type".to_owned(), "object".into());
    table.entry("additionalProperties").or_insert(false.into());
    schema["properties"][TAG] = json!({ "type": "string", "const": kind });
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    schema["required"] = required.into_iter().chain([TAG.into()]).collect();
    schema
}

/// Reads a value of a kind, built in or in scope.
///
/// # Errors As its kind is read.
pub fn read<K: Kinds>(mut table: Value) -> serde_json::Result<K> {
    let outside =
        if IN_SCOPE.is_set() { IN_SCOPE.with(|registry| registry.read(&mut table)) } else { None };
    outside.unwrap_or_else(|| serde_json::from_value(table))
}

/// As [`read`], for `#[serde(deserialize_with)]`.
///
/// # Errors As [`read`].
pub fn kind<'de, K: Kinds, D: Deserializer<'de>>(from: D) -> Result<K, D::Error> {
    read(Value::deserialize(from)?).map_err(D::Error::custom)
}

/// As [`kind`], where there may be none.
///
/// # Errors As [`read`].
pub fn optional_kind<'de, K: Kinds, D: Deserializer<'de>>(from: D) -> Result<Option<K>, D::Error> {
    let table = Option::<Value>::deserialize(from)?;
    table.map(read).transpose().map_err(D::Error::custom)
}

/// Writes a value of a kind, built in or from outside.
///
/// # Errors As its kind is written.
pub fn write<K: Kinds>(kind: &K) -> serde_json::Result<Value> {
    write_kind(kind, serde_json::value::Serializer)
}

/// As [`write()`], for `#[serde(serialize_with)]`.
///
/// # Errors As [`write()`].
pub fn write_kind<K: Kinds, S: Serializer>(kind: &K, to: S) -> Result<S::Ok, S::Error> {
    match kind.as_outside() {
        Some(part) => part.serialize(to),
        None => kind.serialize(to),
    }
}

/// As [`write_kind`], where there may be none.
///
/// # Errors As [`write()`].
pub fn write_optional_kind<K: Kinds, S: Serializer>(
    kind: &Option<K>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match kind {
        Some(kind) => write_kind(kind, to),
        None => to.serialize_none(),
    }
}
