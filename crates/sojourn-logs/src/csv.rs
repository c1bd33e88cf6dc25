//! Columns with names: probes by their times, rates of both directions, and what load ran.

use std::collections::HashMap;

use sojourn_input::problem::Fault;

use crate::log::{Format, Log, Probe, Rate, Way};
use crate::{LARGEST, rates, unusable};

const ALLOWED: &str = "columns sent_UNIT and received_UNIT (at the server), returned_UNIT, rtt_UNIT, with ns, us, ms \
                       or s as UNIT; stream, down_mbps, up_mbps, and load (idle, down, up or both)";
const UNITS: [(&str, f64); 4] = [("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
const LOADS: [(&str, [bool; 2]); 4] = [
    ("idle", [false, false]),
    ("down", [true, false]),
    ("up", [false, true]),
    ("both", [true, true]),
];
const LONGEST_CELL: usize = 1 << 17;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Sent,
    Received,
    Returned,
    Rtt,
    Stream,
    Down,
    Up,
    Load,
}

impl Column {
    /// A column by its name, with its unit in ms.
    fn of(name: &str) -> Option<(Self, f64)> {
        let plain = match name {
            "stream" => Some(Self::Stream),
            "down_mbps" => Some(Self::Down),
            "up_mbps" => Some(Self::Up),
            "load" => Some(Self::Load),
            _ => None,
        };
        if let Some(column) = plain {
            return Some((column, 1.0));
        }
        let (what, unit) = name.rsplit_once('_')?;
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let column = match what {
            "sent" => Self::Sent,
            "received" => Self::Received,
            "returned" => Self::Returned,
            "rtt" => Self::Rtt,
            _ => return None,
        };
        Some((column, *unit))
    }
}

fn separator(header: &str) -> char {
    if header.contains(';') { ';' } else { ',' }
}

fn cells(line: &str, separator: char) -> impl Iterator<Item = &str> {
    line.split(separator).map(|cell| cell.trim().trim_matches('"'))
}

/// Does the first line name a column?
pub(crate) fn has_columns(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    cells(header, separator(header)).any(|name| Column::of(name).is_some())
}

/// A column of the file.
struct Place<'a> {
    column: Column,
    at: usize,
    name: &'a str,
    /// Its unit in ms.
    unit: f64,
    /// How many digits its values have behind the point.
    digits: usize,
}

/// The probes and rates of the rows.
pub(crate) fn read(text: &str) -> Result<Log, Fault> {
    let header = text.lines().next().unwrap_or_default();
    let separator = separator(header);
    let place = |(at, name)| {
        Column::of(name).map(|(column, unit)| Place { column, at, name, unit, digits: 0 })
    };
    let mut places: Vec<_> = cells(header, separator).enumerate().filter_map(place).collect();
    let has = |column| places.iter().any(|place| place.column == column);
    if !has(Column::Sent) {
        return Err(unusable("sent_ms", "no column of send times", ALLOWED));
    }
    if ![Column::Received, Column::Returned, Column::Rtt].into_iter().any(has) {
        return Err(unusable("received_ms", "send times alone", ALLOWED));
    }
    let (has_load, has_rates) = (has(Column::Load), has(Column::Down) && has(Column::Up));
    let mut table = Table::default();
    for (number, line) in text.lines().enumerate().skip(1) {
        if !line.trim().is_empty() {
            table.add(number + 1, line, separator, &mut places)?;
        }
    }
    let step_of = |column| {
        let place = places.iter().find(|place| place.column == column)?;
        Some(place.unit * 10f64.powi(-(place.digits as i32)))
    };
    let resolution_ms = step_of(Column::Received).or_else(|| step_of(Column::Sent));
    let mut log = Log::new(Format::Csv, table.probes());
    log.resolution_ms = resolution_ms.unwrap_or_default();
    log.has_loads = has_load || has_rates;
    let [down, up] = table.rates;
    let loaded = match (has_load, has_rates) {
        (true, _) => table.loaded.map(rates::joined),
        (false, true) => [rates::loaded(&down, &up), rates::loaded(&up, &down)],
        _ => Default::default(),
    };
    let [of_down, of_up] = loaded;
    log.ways = [Way { rates: down, loaded_ms: of_down }, Way { rates: up, loaded_ms: of_up }];
    Ok(log)
}

/// What the rows give.
#[derive(Default)]
struct Table<'a> {
    places: HashMap<&'a str, usize>,
    /// Probes, and whether their rows have rates too.
    streams: Vec<Vec<(Probe, bool)>>,
    rates: [Vec<Rate>; 2],
    loaded: [Vec<(f64, f64)>; 2],
    /// What ran at the last row, and since when.
    load: Option<([bool; 2], f64)>,
}

impl<'a> Table<'a> {
    fn add(
        &mut self,
        line_number: usize,
        line: &'a str,
        separator: char,
        places: &mut [Place<'_>],
    ) -> Result<(), Fault> {
        let cells: Vec<&str> = cells(line, separator).collect();
        if cells.iter().any(|cell| cell.len() > LONGEST_CELL) {
            let line = format!("line {line_number}");
            return Err(unusable(&line, "not CSV: a cell is too long", "numbers with commas"));
        }
        let mut numbers = [None; Column::Load as usize + 1];
        let (mut stream, mut load) = ("", None);
        for place in places {
            let cell = cells.get(place.at).copied().unwrap_or_default();
            let refused = |allowed| refused(line_number, place.name, cell, allowed);
            match place.column {
                Column::Stream => stream = cell,
                Column::Load if cell.is_empty() => {}
                Column::Load => {
                    let known = LOADS.iter().find(|(name, _)| cell.eq_ignore_ascii_case(name));
                    let (_, found) = known.ok_or_else(|| refused("idle, down, up or both"))?;
                    load = Some(*found);
                }
                column => {
                    numbers[column as usize] = number(cell)
                        .map_err(|()| refused("a number"))?
                        .map(|value| value * place.unit);
                    let digits = cell.split_once('.').map_or(0, |(_, digits)| digits.len());
                    place.digits = place.digits.max(digits);
                }
            }
        }
        let of = |column: Column| numbers[column as usize];
        let Some(sent_ms) = of(Column::Sent) else { return Ok(()) };
        self.add_load(load, sent_ms);
        let rates = [of(Column::Down), of(Column::Up)];
        for (rates, mbps) in self.rates.iter_mut().zip(rates) {
            rates.extend(mbps.map(|mbps| Rate { at_ms: sent_ms, mbps }));
        }
        let up_ms = of(Column::Received).map(|at| at - sent_ms);
        let rtt_ms = of(Column::Rtt).or_else(|| of(Column::Returned).map(|at| at - sent_ms));
        let down_ms = rtt_ms.zip(up_ms).map(|(rtt, up)| rtt - up);
        let probe = Probe { sent_ms, up_ms, down_ms, rtt_ms };
        let place = *self.places.entry(stream).or_insert(self.streams.len());
        if place == self.streams.len() {
            self.streams.push(Vec::new());
        }
        self.streams[place].push((probe, rates.iter().any(Option::is_some)));
        Ok(())
    }

    /// The probes of each stream. Where no row has both a delay and a rate, rows of rates have no probe; else a row
    /// without a delay is of a lost one.
    fn probes(&self) -> Vec<Vec<Probe>> {
        let has_both = |(probe, has_rate): &(Probe, bool)| *has_rate && !probe.is_lost();
        let are_rows_of_both = self.streams.iter().flatten().any(has_both);
        let kept = |stream: &Vec<(Probe, bool)>| {
            let probes = stream.iter().filter(|(_, has_rate)| are_rows_of_both || !has_rate);
            probes.map(|(probe, _)| *probe).collect()
        };
        self.streams.iter().map(kept).collect()
    }

    /// What ran at the last row ran until this one.
    fn add_load(&mut self, load: Option<[bool; 2]>, at_ms: f64) {
        let Some(load) = load else { return };
        if let Some((before, from_ms)) = self.load {
            for (spans, was) in self.loaded.iter_mut().zip(before) {
                spans.extend(was.then_some((from_ms, at_ms)));
            }
        }
        self.load = Some((load, at_ms));
    }
}

/// A cell's number; `None` if it has none.
fn number(cell: &str) -> Result<Option<f64>, ()> {
    if cell.is_empty() || cell.eq_ignore_ascii_case("nan") {
        return Ok(None);
    }
    let value: f64 = cell.parse().map_err(|_| ())?;
    if value.abs() < LARGEST { Ok(Some(value)) } else { Err(()) }
}

fn refused(line: usize, column: &str, cell: &str, allowed: &str) -> Fault {
    let shown: String = cell.chars().take(40).collect();
    unusable(&format!("line {line}: {column}"), &format!("'{shown}'"), allowed)
}
