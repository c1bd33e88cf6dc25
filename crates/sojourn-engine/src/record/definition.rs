//! What names in results mean, each said once, beside the code that sets the values.

use serde::Serialize;

/// What the values under a name mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Definition {
    /// The name.
    pub name: &'static str,
    /// The unit of the values, empty where there is none.
    pub unit: &'static str,
    /// What they mean, in sentences.
    pub meaning: &'static str,
    /// The publication that defines them, empty where there is none.
    pub source: &'static str,
}

/// Definitions of series as constants, and the list of them as `SERIES`:
/// `/// Meaning.` `NAME = "name", in "unit", from "source";`
#[macro_export]
macro_rules! series {
    ($(
        $(#[doc = $meaning:literal])+
        $constant:ident = $name:literal, in $unit:literal $(, from $source:literal)?;
    )+) => {
        $(
            $(#[doc = $meaning])+
            pub(crate) const $constant: $crate::record::Definition = $crate::record::Definition {
                name: $name,
                unit: $unit,
                meaning: concat!($($meaning),+).trim_ascii(),
                source: concat!($($source)?),
            };
        )+
        /// The series that are defined here.
        pub(crate) const SERIES: &[$crate::record::Definition] = &[$($constant),+];
    };
}
