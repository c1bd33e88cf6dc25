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
