//! Columns of result tables, each defined once: name, type, unit, meaning and source.
//!
//! `rows!` makes a struct of them, `columns!` reads them out of rows that are kept otherwise. What
//! hands out tables or writes the documentation goes through the columns and names none.

use std::borrow::Cow;

pub use sojourn_engine::record::Definition;

/// The values of a column, one for each row; `None` is null.
pub enum Cells<'a> {
    /// Yes or no.
    Flag(Values<'a, bool>),
    /// Small counts.
    U16(Values<'a, u16>),
    /// Counts.
    U32(Values<'a, u32>),
    /// Large counts.
    U64(Values<'a, u64>),
    /// Measured numbers of series.
    F32(Values<'a, f32>),
    /// Measured numbers.
    F64(Values<'a, f64>),
    /// Texts.
    Text(Values<'a, Cow<'a, str>>),
}

/// Values of one type.
pub type Values<'a, T> = Box<dyn Iterator<Item = Option<T>> + 'a>;

/// A type that cells can have.
pub trait Scalar: Sized {
    /// Cells of this type.
    fn cells<'a>(values: impl Iterator<Item = Option<Self>> + 'a) -> Cells<'a>
    where
        Self: 'a;
}

macro_rules! scalars {
    ($($type:ty => $cells:ident),+) => {
        $(impl Scalar for $type {
            fn cells<'a>(values: impl Iterator<Item = Option<Self>> + 'a) -> Cells<'a> {
                Cells::$cells(Box::new(values))
            }
        })+
    };
}

scalars!(bool => Flag, u16 => U16, u32 => U32, u64 => U64, f32 => F32, f64 => F64);

impl Scalar for String {
    fn cells<'a>(values: impl Iterator<Item = Option<Self>> + 'a) -> Cells<'a> {
        Cells::Text(Box::new(values.map(|text| text.map(Cow::Owned))))
    }
}

impl Scalar for &str {
    fn cells<'a>(values: impl Iterator<Item = Option<Self>> + 'a) -> Cells<'a>
    where
        Self: 'a,
    {
        Cells::Text(Box::new(values.map(|text| text.map(Cow::Borrowed))))
    }
}

/// A type that a column can have: a scalar, or an `Option` of one where there may be nothing.
pub trait Value: Sized {
    /// Can there be nothing?
    const NULLABLE: bool;
    /// Cells of these values.
    fn cells<'a>(values: impl Iterator<Item = Self> + 'a) -> Cells<'a>
    where
        Self: 'a;
}

impl<T: Scalar> Value for T {
    const NULLABLE: bool = false;

    fn cells<'a>(values: impl Iterator<Item = Self> + 'a) -> Cells<'a>
    where
        Self: 'a,
    {
        T::cells(values.map(Some))
    }
}

impl<T: Scalar> Value for Option<T> {
    const NULLABLE: bool = true;

    fn cells<'a>(values: impl Iterator<Item = Self> + 'a) -> Cells<'a>
    where
        Self: 'a,
    {
        T::cells(values)
    }
}

/// A column of a table with such rows.
pub struct Column<Row> {
    /// Its name, unit and meaning.
    pub definition: Definition,
    /// Can there be nothing in a row?
    pub nullable: bool,
    /// Its values.
    pub cells: for<'a> fn(&'a [Row]) -> Cells<'a>,
}

/// How the texts of a table are best kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Texts {
    /// As they are: there are few rows.
    Plain,
    /// Each text once, as the rows are many and repeat it.
    Repeated,
}

/// Rows of a table.
pub trait Table: Sized {
    /// The name of the table.
    const NAME: &'static str;
    /// What a row is.
    const ABOUT: &'static str;
    /// How its texts are kept.
    const TEXTS: Texts;

    /// Its columns in their order.
    fn columns() -> Vec<Column<Self>>;
}

/// Columns that are read out of rows of some type:
/// `/// Meaning.` `name: type, in "unit", from "source" = |row| value;`
macro_rules! columns {
    (
        $(#[doc = $about:literal])+
        $table:literal of $row:ty, $texts:ident {
            $(
                $(#[doc = $meaning:literal])+
                $name:ident: $type:ty $(, in $unit:literal)? $(, from $source:expr)? => $read:expr;
            )+
        }
    ) => {
        impl $crate::metrics::column::Table for $row {
            const NAME: &'static str = $table;
            const ABOUT: &'static str = concat!($($about),+).trim_ascii();
            const TEXTS: $crate::metrics::column::Texts = $crate::metrics::column::Texts::$texts;

            fn columns() -> Vec<$crate::metrics::column::Column<Self>> {
                vec![$($crate::metrics::column::Column {
                    definition: $crate::metrics::column::Definition {
                        name: stringify!($name),
                        unit: concat!($($unit)?),
                        meaning: concat!($($meaning),+).trim_ascii(),
                        source: [$($source,)? ""][0],
                    },
                    nullable: <$type as $crate::metrics::column::Value>::NULLABLE,
                    cells: |rows| {
                        <$type as $crate::metrics::column::Value>::cells(rows.iter().map($read))
                    },
                }),+]
            }
        }
    };
}

/// A struct whose fields are the columns of a table:
/// `/// Meaning.` `name: type, in "unit", from "source";`
macro_rules! rows {
    (
        $(#[doc = $about:literal])+
        $table:literal of $row:ident, $texts:ident {
            $(
                $(#[doc = $meaning:literal])+
                $name:ident: $type:ty $(, in $unit:literal)? $(, from $source:expr)?;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub struct $row {
            $($(#[doc = $meaning])+ pub $name: $type,)+
        }

        $crate::metrics::column::columns! {
            $(#[doc = $about])+
            $table of $row, $texts {
                $(
                    $(#[doc = $meaning])+
                    $name: $type $(, in $unit)? $(, from $source)? => |row| row.$name.clone();
                )+
            }
        }
    };
}

pub(crate) use {columns, rows};
