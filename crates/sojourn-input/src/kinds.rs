//! Enums that are declared as a table: a line for each value, with its name in scenarios and results.

/// Declares an enum whose values have names, and lists them.
#[macro_export]
macro_rules! named {
    (
        $(#[$about:meta])*
        pub enum $Enum:ident { $($(#[$doc:meta])* $Value:ident = $name:literal,)+ }
    ) => {
        $(#[$about])*
        pub enum $Enum { $($(#[$doc])* $Value,)+ }

        impl $Enum {
            /// All of them, in their order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Value),+];

            /// Its name in scenarios and results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Value => $name,)+
                }
            }
        }
    };
}

/// Declares the kinds of a part: the enum of their parameters, which scenarios choose by `kind`, and behind them the
/// kind of parts from outside. It implements [`Kinds`](crate::parts::Kinds) with this definition in the JSON Schema.
#[macro_export]
macro_rules! kinds {
    (
        $(#[$about:meta])*
        pub enum $Spec:ident: $Parameters:ident in $definition:literal {
            $($(#[$doc:meta])* $Kind:ident($Keys:ty) = $name:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(tag = "kind")]
        #[non_exhaustive]
        pub enum $Spec {
            $($(#[$doc])* #[serde(rename = $name)] $Kind($Keys),)+
            /// One from outside.
            #[serde(skip)]
            Outside($crate::parts::Outside<dyn $Parameters>),
        }

        impl $crate::parts::Kinds for $Spec {
            type Parameters = dyn $Parameters;
            const DEFINITION: &'static str = $definition;

            fn outside(part: $crate::parts::Outside<dyn $Parameters>) -> Self {
                Self::Outside(part)
            }

            fn as_outside(&self) -> Option<&$crate::parts::Outside<dyn $Parameters>> {
                if let Self::Outside(part) = self { Some(part) } else { None }
            }
        }

        impl $Spec {
            /// The names of those that are built in.
            pub const BUILT_IN: &[&str] = &[$($name),+];

            /// The parameters of its kind.
            pub fn parameters(&self) -> &dyn $Parameters {
                match self {
                    $(Self::$Kind(keys) => keys,)+
                    Self::Outside(keys) => &**keys,
                }
            }

            /// The same, to be changed.
            pub fn parameters_mut(&mut self) -> &mut dyn $Parameters {
                match self {
                    $(Self::$Kind(keys) => keys,)+
                    Self::Outside(keys) => &mut **keys,
                }
            }

            /// Its name in scenarios.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$Kind(_) => $name,)+
                    Self::Outside(keys) => keys.kind(),
                }
            }
        }
    };
}
