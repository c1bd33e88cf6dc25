//! What a scenario of a measured line takes from its log: rates, the round trip at rest, and the upstream buffer.

use serde::Serialize;
use sojourn_logs::Load;

use super::sentences::{is_of_few, is_upstream};
use super::under_load::UnderLoad;
use crate::letters::A_MS;

/// A line to try cures of its upstream on, or why the log does not give one.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Draft {
    /// What is known of it.
    Line {
        /// The mean rate of the upload.
        up_mbps: f64,
        /// That of a download, if one was measured.
        down_mbps: Option<f64>,
        /// The median round trip without a load.
        rtt_ms: f64,
        /// By how much the longest delays of the upload exceed that.
        buffer_ms: f64,
    },
    /// What the log lacks.
    Lacks(&'static str),
}

/// Behind a buffer that TCP fills, nine of ten delays are longer than this part of the longest ones; behind a
/// queue manager fewer are.
const STEADY: f64 = 0.4;

/// The line of these loads, of which one is an upload by itself.
pub(super) fn of(loads: &[UnderLoad]) -> Draft {
    line(loads).unwrap_or_else(Draft::Lacks)
}

fn line(loads: &[UnderLoad]) -> Result<Draft, &'static str> {
    let of = |load| loads.iter().find(|one| one.load == Some(load));
    let up = of(Load::Up).filter(|one| one.added_ms.is_some()).ok_or("an upload by itself")?;
    let idle = of(Load::Idle).ok_or("a time without a load")?;
    let quantiles = |one: &UnderLoad| one.rtt_p10_ms.zip(one.rtt_p99_ms);
    let (Some(rtt_ms), Some((low, high))) = (idle.rtt_p50_ms, quantiles(up)) else {
        return Err("ten round trips without a load and with one");
    };
    let (low, buffer_ms) = (low - rtt_ms, high - rtt_ms);
    if up.added_ms.is_none_or(|ms| ms < A_MS) || is_of_few(loads, up) {
        return Err("a long delay in the upload, which a cure would shorten");
    }
    if !is_upstream(up) {
        return Err("a delay upstream, where the cures that are simulated are");
    }
    if low < STEADY * buffer_ms {
        return Err("delays that stay long in the upload, as behind a buffer that TCP fills");
    }
    let up_mbps = up.up_mbps.filter(|mbps| *mbps > 0.0).ok_or("the rate of the upload")?;
    let down_mbps = of(Load::Down).and_then(|one| one.down_mbps).filter(|mbps| *mbps > 0.0);
    Ok(Draft::Line { up_mbps, down_mbps, rtt_ms, buffer_ms })
}
