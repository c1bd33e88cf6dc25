//! When a request is granted, and when the CMTS has received a burst: the request-grant loop.
//!
//! The documents' timing counts whole MAP intervals: a request made in one interval is granted two
//! intervals later, whatever the plant (White & Rice 2013 §4.1.1). By the specification the loop is
//! a sum of fixed times, after which the next MAP grants the request:
//!
//! 1. the modem builds the frame with the request, sends it, and the CMTS decodes it;
//! 2. the CMTS makes a MAP (processing), which travels down (symbols, interleaver, propagation);
//! 3. the modem needs its processing time before the interval that the MAP describes (DOCSIS 3.1
//!    MULPI Annex B, as docsis-ns3 cites it: 600 us and, with OFDMA, K + 1 symbols).
//!
//! Bursts are decided one frame before they are sent, when the modem begins to build them. All
//! times here are those of building; sending and decoding follow in [`Timing::received_at`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_engine::aqm::Loop;
use sojourn_engine::units::Time;

/// Propagation in coaxial cable and fibre: two thirds of the speed of light (docsis-ns3: 8 km and
/// back in 80 us).
const US_PER_KM: f64 = 5.0;
/// How a MAP reaches the modem where no OFDM channel is named: three symbols and the delay of an
/// interleaver of depth 3, at 22.5 us a symbol (docsis-ns3's defaults).
const MAP_DELIVERY_US: f64 = 5.0 * 22.5;

/// The propagation delay of a cable of this length.
pub(crate) fn propagation(distance_km: f64) -> Time {
    Time::from_secs_f64(distance_km * US_PER_KM * 1e-6)
}

/// Request-grant timing, chosen by `kind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TimingSpec {
    /// The timing of the published studies: a MAP grants what was requested two intervals before.
    /// Modems send requests at the start of an interval or in a grant. The loop does not include
    /// propagation.
    Documents,
    /// The timing of the DOCSIS specification: a request is processed in fixed times, and the next
    /// MAP grants it.
    Specification(Specification),
}

/// The fixed times of the request-grant loop. Defaults are those of CableLabs' docsis-ns3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "SpecificationTiming")]
pub struct Specification {
    /// Time in us that a modem needs from the arrival of a MAP to the start of its interval (DOCSIS
    /// 3.1 MULPI Annex B: 600). With OFDMA, add the time of K + 1 symbols, where a frame has K
    /// symbols.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub modem_map_us: f64,
    /// Time in us in which the CMTS makes a MAP (docsis-ns3: 200; MULPI allows 400).
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub cmts_map_us: f64,
    /// Time in us to send a MAP downstream, without propagation: symbols and interleaver. Default:
    /// the time on the OFDM channel in `cmts`; without one 112.5, as in docsis-ns3.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub map_delivery_us: Option<f64>,
    /// Lookahead: time in us from the making of a MAP to the start of its interval at the CMTS.
    /// Default: the shortest that the fixed times and the longest cable allow.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub map_advance_us: Option<f64>,
    /// Frames that a modem takes to build a burst before it sends it (docsis-ns3: 1).
    #[schemars(range(min = 0, max = 100))]
    pub build_frames: u32,
    /// Frames that the CMTS takes to decode a burst (docsis-ns3: 1).
    #[schemars(range(min = 0, max = 100))]
    pub decode_frames: u32,
    /// Symbols of a frame for modems with a channel of their own (docsis-ns3: 6); 0 for a single
    /// carrier, which has no frames. For the shared channel, set `upstream_channel.phy`.
    #[schemars(range(min = 0, max = 36))]
    pub frame_symbols: u32,
    /// Length of a symbol in us with its cyclic prefix, for modems with a channel of their own
    /// (docsis-ns3: 20 and 2.5).
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub symbol_us: f64,
}

impl Default for Specification {
    fn default() -> Self {
        Self {
            modem_map_us: 600.0,
            cmts_map_us: 200.0,
            map_delivery_us: None,
            map_advance_us: None,
            build_frames: 1,
            decode_frames: 1,
            frame_symbols: 6,
            symbol_us: 22.5,
        }
    }
}

/// The frames of an OFDMA channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Symbols in a frame.
    pub symbols: u64,
    /// Time of a frame.
    pub time: Time,
}

impl Specification {
    /// The frames of a modem with a channel of its own.
    pub fn own_frame(&self) -> Option<Frame> {
        let symbols = u64::from(self.frame_symbols);
        let time = Time::from_secs_f64(self.symbol_us * 1e-6).times(symbols);
        (symbols > 0).then_some(Frame { symbols, time })
    }

    /// The least time from the making of a MAP to the start of its interval at the CMTS.
    fn least_advance(&self, delivery: Time, frame: Option<Frame>, propagation: Time) -> Time {
        let us = |us: f64| Time::from_secs_f64(us * 1e-6);
        let symbols = frame.map_or(Time::ZERO, |Frame { symbols, time }| {
            Time::from_ps(time.ps() * (symbols + 1) / symbols)
        });
        us(self.cmts_map_us) + delivery + us(self.modem_map_us) + symbols + propagation.times(2)
    }
}

/// What the plant says of the loop's timing.
#[derive(Clone, Copy, Debug)]
pub struct PlantTiming<'a> {
    /// The specification's fixed times; `None` with the documents' timing.
    pub spec: Option<&'a Specification>,
    /// How long a MAP takes downstream, without propagation, if a channel says so.
    pub map_delivery: Option<Time>,
    /// Propagation to the farthest modem on the channel.
    pub propagation: Time,
}

impl PlantTiming<'_> {
    /// The documents' timing.
    pub const DOCUMENTS: Self = Self { spec: None, map_delivery: None, propagation: Time::ZERO };

    fn delivery(&self, spec: &Specification) -> Time {
        let set = spec.map_delivery_us.map(|us| Time::from_secs_f64(us * 1e-6));
        let default = Time::from_secs_f64(MAP_DELIVERY_US * 1e-6);
        set.or(self.map_delivery).unwrap_or(default)
    }

    /// The least lookahead of a channel with these frames.
    pub fn least_advance(&self, frame: Option<Frame>) -> Time {
        self.spec.map_or(Time::ZERO, |spec| {
            spec.least_advance(self.delivery(spec), frame, self.propagation)
        })
    }
}

/// The timing of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    map_interval: Time,
    /// When the first MAP interval begins.
    first_map: Time,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    Documents,
    Specification {
        /// From a request to the first interval whose MAP can grant it.
        request_to_map: Time,
        /// From a request to when the CMTS has decoded it, which is a part of that.
        heard: Time,
        /// From a request to the earliest burst that it can bring, in whole frames.
        least_loop: Time,
        frame: Option<Time>,
        /// Building and decoding of a burst.
        around_burst: Time,
    },
}

impl Timing {
    /// The timing of a channel with this MAP interval, rounded to whole frames, if it has any.
    pub(crate) fn new(plant: &PlantTiming, map_interval: Time, frame: Option<Frame>) -> Self {
        let first_map = Time::ZERO;
        let Some(spec) = plant.spec else {
            return Self { map_interval, first_map, rule: Rule::Documents };
        };
        let in_frames = |count: u32| frame.map_or(Time::ZERO, |f| f.time.times(count.into()));
        let set = spec.map_advance_us.map(|us| Time::from_secs_f64(us * 1e-6));
        let advance = set.unwrap_or_else(|| plant.least_advance(frame));
        let heard = in_frames(1 + spec.decode_frames);
        let request_to_map = heard + advance;
        let around_burst = in_frames(spec.build_frames + spec.decode_frames);
        let rounded = frame.map_or(map_interval, |f| whole(map_interval, f.time));
        let frame = frame.map(|frame| frame.time);
        let least_loop = request_to_map + in_frames(spec.build_frames);
        let least_loop =
            frame.map_or(least_loop, |frame| frame.times(least_loop.ps().div_ceil(frame.ps())));
        let rule = Rule::Specification { request_to_map, heard, least_loop, frame, around_burst };
        Self { map_interval: rounded, first_map, rule }
    }

    /// The same with a first MAP interval that begins so much later, in whole frames, and before a second one would.
    pub(crate) fn later_by(self, offset: Time) -> Self {
        let Rule::Specification { frame, .. } = self.rule else { return self };
        let offset = frame.map_or(offset, |f| f.times((offset.ps() + f.ps() / 2) / f.ps()));
        Self { first_map: Time::from_ps(offset.ps() % self.map_interval.ps()), ..self }
    }

    /// When the CMTS has heard a request, which takes `extra` beyond building, sending and decoding, instead of the MAP that
    /// grants it, and how long before its interval a MAP is made.
    pub(crate) fn hearing(self, extra: Time) -> (Self, Time) {
        let Rule::Specification { request_to_map, heard, least_loop, frame, around_burst } =
            self.rule
        else {
            return (self, Time::ZERO);
        };
        let advance = request_to_map - heard;
        let request_to_map = heard + extra;
        let rule = Rule::Specification { request_to_map, heard, least_loop, frame, around_burst };
        let hears = Self { map_interval: Time::from_ps(1), first_map: Time::ZERO, rule };
        (hears, advance)
    }

    /// Time between MAPs.
    pub(crate) fn map_interval(&self) -> Time {
        self.map_interval
    }

    /// Is it the studies' timing, with requests at the start of a MAP interval?
    pub(crate) fn is_documents(&self) -> bool {
        matches!(self.rule, Rule::Documents)
    }

    /// The start of the MAP interval at `now`.
    pub(crate) fn map_before(&self, now: Time) -> Time {
        let since_first = now.since(self.first_map);
        self.first_map + self.map_interval.times(since_first.ps() / self.map_interval.ps())
    }

    /// When the first MAP interval begins.
    pub(crate) fn first_map(&self) -> Time {
        self.first_map
    }

    /// The start of the MAP interval after the one at `now`.
    pub(crate) fn map_after(&self, now: Time) -> Time {
        if now < self.first_map { self.first_map } else { self.map_before(now) + self.map_interval }
    }

    /// How many MAPs later the one at `until` is than the one at `now`.
    pub(crate) fn maps_until(&self, now: Time, until: Time) -> u64 {
        let number = |at: Time| at.since(self.first_map).ps() / self.map_interval.ps();
        number(until) - number(now)
    }

    /// The first MAP that can grant what is requested at `now`.
    #[inline]
    pub(crate) fn granted_from(&self, now: Time) -> Time {
        match self.rule {
            Rule::Documents => self.map_before(now) + self.map_interval.times(2),
            Rule::Specification { request_to_map, frame, .. } => {
                let built = frame.map_or(now, |frame| frame.times(now.ps() / frame.ps()));
                let ready = (built + request_to_map).since(self.first_map);
                self.first_map
                    + self.map_interval.times(ready.ps().div_ceil(self.map_interval.ps()))
            }
        }
    }

    /// From a request at `now` to the end of the first interval that can grant it.
    pub(crate) fn sent_within(&self, now: Time) -> Time {
        match self.rule {
            Rule::Documents => self.map_interval.times(3),
            Rule::Specification { .. } => self.granted_from(now) + self.map_interval - now,
        }
    }

    /// The loop delay of MULPI annex O, as docsis-ns3 takes it from a MAP: from its Ack Time, the
    /// last moment of a request that it can answer, to the end of its interval.
    pub(crate) fn request_loop(&self) -> Loop {
        let least = match self.rule {
            Rule::Documents => self.map_interval.times(2),
            Rule::Specification { least_loop, .. } => least_loop,
        };
        Loop { delay: least + self.map_interval, proactive: None }
    }

    /// Where the requests of the interval that begins at `map` are made without a grant:
    /// docsis-ns3 draws one frame of each interval, all alike. A request is sent in the frame that is
    /// drawn, so it is built before; docsis-ns3 builds it in that frame and sends it in the next one,
    /// which may be beyond the interval that the MAP describes.
    pub(crate) fn request_place(&self, map: Time, draw: f64) -> Time {
        match self.rule {
            Rule::Documents => map,
            Rule::Specification { frame: None, .. } => map + self.map_interval.scaled(draw),
            Rule::Specification { frame: Some(frame), .. } => {
                let frames = self.map_interval.ps() / frame.ps();
                map + frame.times((frames as f64 * draw) as u64)
            }
        }
    }

    /// When the CMTS has decoded what the modem has sent by `now`, without propagation.
    #[inline]
    pub(crate) fn received_at(&self, now: Time) -> Time {
        match self.rule {
            Rule::Documents => now,
            Rule::Specification { frame, around_burst, .. } => {
                let sent = frame.map_or(now, |f| f.times(now.ps().div_ceil(f.ps())));
                sent + around_burst
            }
        }
    }
}

/// A time rounded to a whole number of frames, at least one.
fn whole(time: Time, frame: Time) -> Time {
    frame.times(((time.ps() + frame.ps() / 2) / frame.ps()).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { symbols: 6, time: Time::from_us(135) };

    fn timing(spec: &Specification, map_us: u64, frame: Option<Frame>) -> Timing {
        let propagation = propagation(8.0);
        let plant = PlantTiming { spec: Some(spec), map_delivery: None, propagation };
        Timing::new(&plant, Time::from_us(map_us), frame)
    }

    fn us(time: Time) -> f64 {
        time.secs_f64() * 1e6
    }

    #[test]
    fn the_lookahead_is_the_sum_of_the_fixed_times() {
        // 200 + 112.5 + 600 + 135 * 7/6 = 157.5, and 8 km twice, 80: 1150 us. docsis-ns3 makes a
        // MAP 1110 us before the interval begins at the modem, 40 us before it does at the CMTS.
        let spec = Specification::default();
        let plant =
            PlantTiming { spec: Some(&spec), map_delivery: None, propagation: propagation(8.0) };
        assert!((us(plant.least_advance(Some(FRAME))) - 1150.0).abs() < 1e-6);
        // Without frames 157.5 us less.
        assert!((us(plant.least_advance(None)) - 992.5).abs() < 1e-6);
        // 80 km are 400 us each way: 1150 - 80 + 800.
        let far = PlantTiming { propagation: propagation(80.0), ..plant };
        assert!((us(far.least_advance(Some(FRAME))) - 1870.0).abs() < 1e-6);
    }

    #[test]
    fn a_request_is_granted_by_the_first_map_after_the_loop() {
        // A MAP of 945 us. The frame is sent and decoded, 270 us, and the MAP made 1150 us ahead:
        // 1420 us. Requests up to 470 us are granted by the MAP at 1890 us, later ones by the next;
        // they are made where frames begin, so up to 405 us, and from 540 us on.
        let timing = timing(&Specification::default(), 945, Some(FRAME));
        for (request, map) in [(0, 1890), (405, 1890), (539, 1890), (540, 2835), (945, 2835)] {
            assert_eq!(
                timing.granted_from(Time::from_us(request)),
                Time::from_us(map),
                "{request}"
            );
        }
    }

    #[test]
    fn the_loop_delay_is_that_of_docsis_ns3() {
        // Built, sent and decoded, 405 us, and the lookahead of 1150 us: 1555 us, 12 frames of 135 us
        // (docsis-ns3: MinReqGntDelay), and a MAP interval of 7 or 15 frames.
        let loop_of =
            |map_us| timing(&Specification::default(), map_us, Some(FRAME)).request_loop();
        assert_eq!(loop_of(945).delay, Time::from_us(19 * 135));
        assert_eq!(loop_of(2000).delay, Time::from_us(27 * 135));
        // The documents: two intervals and one.
        let documents = Timing::new(&PlantTiming::DOCUMENTS, Time::from_ms(2), None);
        assert_eq!(documents.request_loop().delay, Time::from_ms(6));
    }

    #[test]
    fn a_set_lookahead_replaces_the_least() {
        let spec = Specification { map_advance_us: Some(2000.0), ..Specification::default() };
        // 270 + 2000 = 2270 us.
        let timing = timing(&spec, 945, Some(FRAME));
        assert_eq!(timing.granted_from(Time::ZERO), Time::from_us(2835));
    }

    #[test]
    fn a_burst_is_received_a_frame_after_the_frame_that_it_is_sent_in() {
        // Built in one frame, sent in the next, decoded in the third: of a burst decided at 10 us
        // and 3 us long the CMTS has the bytes at 3 * 135 us.
        let timing = timing(&Specification::default(), 945, Some(FRAME));
        assert_eq!(timing.received_at(Time::from_us(13)), Time::from_us(405));
        assert_eq!(timing.received_at(Time::from_us(135)), Time::from_us(405));
    }

    #[test]
    fn a_single_carrier_has_no_frames() {
        let timing = timing(&Specification::default(), 2000, None);
        // 992.5 us: a request at 1 ms is just granted at 2 ms, one at 1.1 ms is not.
        assert_eq!(timing.granted_from(Time::from_us(1000)), Time::from_us(2000));
        assert_eq!(timing.granted_from(Time::from_us(1100)), Time::from_us(4000));
        assert_eq!(timing.received_at(Time::from_us(13)), Time::from_us(13));
    }

    #[test]
    fn the_documents_wait_two_intervals() {
        let timing = Timing::new(&PlantTiming::DOCUMENTS, Time::from_ms(2), None);
        for (request_us, map_ms) in [(0, 4), (1, 4), (1999, 4), (2000, 6)] {
            let granted = timing.granted_from(Time::from_us(request_us));
            assert_eq!(granted, Time::from_ms(map_ms), "{request_us}");
        }
    }

    #[test]
    fn map_intervals_are_whole_frames() {
        // 2 ms are 14.8 frames of 135 us: 15, 2025 us.
        let timing = timing(&Specification::default(), 2000, Some(FRAME));
        assert_eq!(timing.map_interval(), Time::from_us(2025));
    }

    #[test]
    fn a_modem_of_its_own_has_frames_of_symbols() {
        assert_eq!(Specification::default().own_frame(), Some(FRAME));
        let of = |frame_symbols| Specification {
            frame_symbols,
            symbol_us: 10.0,
            ..Specification::default()
        };
        assert_eq!(of(1).own_frame(), Some(Frame { symbols: 1, time: Time::from_us(10) }));
        assert_eq!(of(0).own_frame(), None);
    }

    /// Seven frames of 135 us, any place in an interval, or its start.
    #[test]
    fn requests_are_made_where_the_draw_says() {
        let (map, framed) =
            (Time::from_us(1890), timing(&Specification::default(), 945, Some(FRAME)));
        for (draw, frames) in [(0.0, 0), (0.5, 3), (0.999, 6)] {
            assert_eq!(framed.request_place(map, draw), map + FRAME.time.times(frames));
        }
        let plain = timing(&Specification::default(), 2000, None);
        assert_eq!(plain.request_place(map, 0.25), map + Time::from_us(500));
        let documents = Timing::new(&PlantTiming::DOCUMENTS, Time::from_ms(2), None);
        assert_eq!(documents.request_place(map, 0.25), map);
        assert!(documents.is_documents() && !plain.is_documents());
        // Three intervals, or up to the end of the one that grants: 992.5 us after 1.1 ms there is the MAP at 4 ms.
        assert_eq!(documents.sent_within(Time::from_us(1100)), Time::from_ms(6));
        assert_eq!(plain.sent_within(Time::from_us(1100)), Time::from_us(6000 - 1100));
        assert_eq!(plain.map_before(Time::from_us(3999)), Time::from_ms(2));
        // Without frames the loop is 992.5 us and an interval.
        assert_eq!(plain.request_loop().delay, Time::from_ps(2_992_500_000));
    }

    /// What a channel or the scenario says of the way of a MAP replaces 112.5 us; builds and decodings are frames.
    #[test]
    fn each_fixed_time_counts() {
        for (map_delivery_us, of_channel_us, want_us) in
            [(None, None, 992.5), (None, Some(200), 1080.0), (Some(50.0), Some(200), 930.0)]
        {
            let spec = Specification { map_delivery_us, ..Specification::default() };
            let map_delivery = of_channel_us.map(Time::from_us);
            let plant =
                PlantTiming { spec: Some(&spec), map_delivery, propagation: propagation(8.0) };
            assert!((us(plant.least_advance(None)) - want_us).abs() < 1e-6);
        }
        assert_eq!(PlantTiming::DOCUMENTS.least_advance(Some(FRAME)), Time::ZERO);
        // 1 + 3 frames and 1150 us: 1690 us. The burst is built in two frames more: 1960 us are 15 frames. It takes five.
        let spec = Specification { build_frames: 2, decode_frames: 3, ..Specification::default() };
        let timing = timing(&spec, 945, Some(FRAME));
        assert_eq!(timing.granted_from(Time::from_us(200)), Time::from_us(1890));
        assert_eq!(timing.granted_from(Time::from_us(270)), Time::from_us(2835));
        assert_eq!(timing.request_loop().delay, FRAME.time.times(15 + 7));
        assert_eq!(timing.received_at(Time::from_us(1)), FRAME.time.times(1 + 5));
    }

    #[test]
    fn a_map_interval_is_a_frame_at_least() {
        for (map_us, frames) in [(50, 1), (202, 1), (203, 2)] {
            let timing = timing(&Specification::default(), map_us, Some(FRAME));
            assert_eq!(timing.map_interval(), FRAME.time.times(frames));
        }
    }
}
