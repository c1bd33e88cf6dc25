//! Columns with names: probes by their times, rates of both directions, and what load ran.

use std::collections::HashMap;

use sojourn_input::problem::Fault;

use crate::log::{Format, Log, Probe, Rate, Way, joined};
use crate::stamp::{self, Timeline};
use crate::{LARGEST, rates, unusable};

const ALLOWED: &str = "columns sent_UNIT and received_UNIT (at the server), returned_UNIT, rtt_UNIT, with ns, us, ms \
                       or s as UNIT; stream, down_mbps, up_mbps, and load (idle, down, up or both)";
const UNITS: [(&str, f64); 4] = [("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
const LOADS: [(&str, [bool; 2]); 7] = [
    ("idle", [false, false]),
    ("none", [false, false]),
    ("down", [true, false]),
    ("download", [true, false]),
    ("up", [false, true]),
    ("upload", [false, true]),
    ("both", [true, true]),
];
const RATES: [(&str, f64); 4] = [("bps", 1e-6), ("kbps", 1e-3), ("mbps", 1.0), ("gbps", 1e3)];
/// Other names of columns.
const ALIASES: [&str; 4] = ["time", "latency", "download", "upload"];
const DATES: &str = "a date and time such as 2026-11-29 15:00:01.5, or a column sent_ms";
/// What cells without a value have.
const EMPTY: [&str; 5] = ["", "nan", "na", "null", "-"];
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
    /// A column by its name, with its unit in ms, if it has one: `rtt_ms`, `RTT (ms)` or `"rtt [\u{b5}s]"`.
    fn of(name: &str) -> Option<(Self, Option<f64>)> {
        let name = name.trim().to_lowercase().replace(['\u{b5}', '\u{3bc}'], "u");
        let words: Vec<&str> =
            name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let column = match *words.first()? {
            "sent" | "time" | "timestamp" => Self::Sent,
            "received" => Self::Received,
            "returned" => Self::Returned,
            "rtt" | "latency" => Self::Rtt,
            "stream" => Self::Stream,
            "down" | "download" => Self::Down,
            "up" | "upload" => Self::Up,
            "load" => Self::Load,
            _ => return None,
        };
        let unit = |name: &str| UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, ms)| *ms);
        let is_plain = matches!(column, Self::Stream | Self::Load);
        let is_rate = matches!(column, Self::Down | Self::Up);
        match words[1..] {
            [] if is_plain => Some((column, Some(1.0))),
            [] if !is_rate => Some((column, None)),
            [name] if is_rate => {
                let (_, mbps) = RATES.iter().find(|(unit, _)| *unit == name)?;
                Some((column, Some(*mbps)))
            }
            ["mbit" | "mbits", "s"] if is_rate => Some((column, Some(1.0))),
            [name] if !is_plain => Some((column, Some(unit(name)?))),
            _ => None,
        }
    }

    /// Is it a delay, or gives it one with the send time?
    fn is_delay(self) -> bool {
        matches!(self, Self::Received | Self::Returned | Self::Rtt)
    }
}

fn separator(header: &str) -> char {
    ['\t', ';'].into_iter().find(|one| header.contains(*one)).unwrap_or(',')
}

/// The cells of a row; in quotes, separators are none.
fn cells(line: &str, separator: char) -> Vec<&str> {
    let mut is_quoted = false;
    let ends = move |c: char| {
        is_quoted ^= c == '"';
        c == separator && !is_quoted
    };
    line.split(ends).map(|cell| cell.trim().trim_matches('"').trim()).collect()
}

/// The number of the line with the names of columns, and the line: the first that is no comment, or a comment before it.
fn header(text: &str) -> Option<(usize, &str)> {
    for (number, line) in text.lines().enumerate() {
        let names = line.trim_start().trim_start_matches('#');
        let is_comment = names.len() < line.trim_start().len();
        let known: Vec<_> = cells(names, separator(names)).into_iter().map(Column::of).collect();
        let sent = known.iter().flatten().any(|(column, _)| *column == Column::Sent);
        let delay = known.iter().flatten().any(|(column, _)| column.is_delay());
        let is_row = known.len() > 1 || matches!(known[..], [Some((_, Some(_)))]);
        if (sent && delay) || (!is_comment && is_row && known.iter().any(Option::is_some)) {
            return Some((number, names));
        }
        if !is_comment && !line.trim().is_empty() {
            return None;
        }
    }
    None
}

/// Does the first line name columns?
pub(crate) fn has_columns(text: &str) -> bool {
    header(text).is_some()
}

/// A column of the file.
struct Place<'a> {
    column: Column,
    at: usize,
    name: &'a str,
    /// Its unit in ms; `None` for dates.
    unit: Option<f64>,
    /// How many digits its values have behind the point.
    digits: usize,
}

impl Place<'_> {
    fn has_name(&self, name: &str) -> bool {
        self.name.to_lowercase().starts_with(name)
    }
}

/// The probes and rates of the rows.
pub(crate) fn read(text: &str) -> Result<Log, Fault> {
    let (line_of_header, header) = header(text).unwrap_or_default();
    let separator = separator(header);
    let place = |(at, name)| {
        Column::of(name).map(|(column, unit)| Place { column, at, name, unit, digits: 0 })
    };
    let mut places: Vec<_> =
        cells(header, separator).into_iter().enumerate().filter_map(place).collect();
    // Of two columns for one thing the one with its own name counts.
    places.sort_by_key(|place| ALIASES.iter().any(|name| place.has_name(name)));
    let mut seen = Vec::new();
    places.retain(|place| {
        let is_first = !seen.contains(&place.column);
        seen.push(place.column);
        is_first
    });
    let has = |column| places.iter().any(|place| place.column == column);
    if !has(Column::Sent) {
        return Err(unusable("sent_ms", "no column of send times", ALLOWED));
    }
    if ![Column::Received, Column::Returned, Column::Rtt].into_iter().any(has) {
        return Err(unusable("received_ms", "send times alone", ALLOWED));
    }
    if let Some(place) = places.iter().find(|one| one.unit.is_none() && one.column != Column::Sent)
    {
        let name = place.name.to_lowercase();
        let allowed = format!("{name}_ms, or {name} with another unit: ns, us, s");
        return Err(unusable(
            &format!("line {}", line_of_header + 1),
            &format!("'{name}' without a unit"),
            &allowed,
        ));
    }
    let (has_load, has_rates) = (has(Column::Load), has(Column::Down) && has(Column::Up));
    let mut table = Table::default();
    for (number, line) in text.lines().enumerate().skip(line_of_header + 1) {
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            table.add(number + 1, line, separator, &mut places)?;
        }
    }
    let step_of = |column| {
        let place = places.iter().find(|place| place.column == column)?;
        Some(place.unit? * 10f64.powi(-(place.digits as i32)))
    };
    let resolution_ms = step_of(Column::Received).or_else(|| step_of(Column::Sent));
    let mut log = Log::new(Format::Csv, table.probes());
    log.resolution_ms = resolution_ms.unwrap_or_default();
    log.has_loads = has_load || has_rates;
    let [down, up] = table.rates;
    let loaded = match (has_load, has_rates) {
        (true, _) => table.loaded.map(joined),
        (false, true) => [rates::loaded(&down, &up), rates::loaded(&up, &down)],
        _ => Default::default(),
    };
    let [of_down, of_up] = loaded;
    let way = |rates, loaded_ms| Way { rates, loaded_ms, is_inferred: !has_load, light_mbps: None };
    log.ways = [way(down, of_down), way(up, of_up)];
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
    timeline: Timeline,
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
        let cells = cells(line, separator);
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
                    let (value, digits) = match place.unit {
                        Some(unit) => number(cell, separator)
                            .ok_or_else(|| refused("a number"))?
                            .map_or((None, 0), |(value, digits)| (Some(value * unit), digits)),
                        None if cell.is_empty() => (None, 0),
                        None => {
                            let came = stamp::whole(cell).ok_or_else(|| refused(DATES))?;
                            (Some(self.timeline.ms(came)), 0)
                        }
                    };
                    numbers[column as usize] = value;
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

/// A cell's number and how many digits it has behind the point, or `Some(None)` where it has none. Decimal commas and
/// groups of thousands (`"12,000.5"`, `12.000,5`, `12 000`) are such by their shape.
fn number(cell: &str, separator: char) -> Option<Option<(f64, usize)>> {
    if EMPTY.iter().any(|word| cell.eq_ignore_ascii_case(word)) {
        return Some(None);
    }
    let spaces = [' ', '\u{a0}', '\u{202f}', '\''];
    let mut text = cell.replace(spaces, "");
    let groups = |text: &str, mark: char| {
        let mut parts = text.split(mark);
        parts.next().is_some_and(|first| !first.is_empty()) && parts.all(|part| part.len() == 3)
    };
    text = match (text.rfind(','), text.rfind('.')) {
        (Some(comma), Some(point)) if comma < point => text.replace(',', ""),
        (Some(_), Some(_)) => text.replace('.', "").replace(',', "."),
        (Some(_), None) if separator == ',' && groups(&text, ',') => text.replace(',', ""),
        (Some(_), None) => text.replacen(',', ".", 1),
        (None, _) => text,
    };
    let value: f64 = text.parse().ok()?;
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    (value.abs() < LARGEST).then_some(Some((value, digits)))
}

fn refused(line: usize, column: &str, cell: &str, allowed: &str) -> Fault {
    let shown: String = cell.chars().take(40).collect();
    unusable(&format!("line {line}: {column}"), &format!("'{shown}'"), allowed)
}
