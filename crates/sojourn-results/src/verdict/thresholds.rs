//! What is graded, with the thresholds of each grade and their sources: data alone.

use serde::Serialize;

use super::grades::Grade;
use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::{Bulk, Quality};

/// The bound of a metric that a grade requires.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Threshold {
    /// The metric: a column of `flows`, or one that [`super::Facts`] compute.
    pub metric: &'static str,
    /// Its greatest value, or its least if `at_least`.
    pub bound: f64,
    /// Is the bound the least value?
    pub at_least: bool,
    /// The requirement in words.
    pub text: &'static str,
    /// Who says so.
    pub source: &'static str,
}

impl Threshold {
    const fn at_most(
        metric: &'static str,
        bound: f64,
        text: &'static str,
        source: &'static str,
    ) -> Self {
        Self { metric, bound, at_least: false, text, source }
    }

    const fn at_least(
        metric: &'static str,
        bound: f64,
        text: &'static str,
        source: &'static str,
    ) -> Self {
        Self { metric, bound, at_least: true, text, source }
    }

    /// Does a value meet it?
    pub fn is_met(&self, value: f64) -> bool {
        if self.at_least { value >= self.bound } else { value <= self.bound }
    }
}

/// Steps inside grades: bounds of a metric, of which a setting may meet more than another with the same grade.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Steps {
    pub metric: &'static str,
    pub at_least: bool,
    /// They count from this grade on.
    pub from: Grade,
    pub bounds: &'static [f64],
}

const fn steps(metric: &'static str, bounds: &'static [f64]) -> Steps {
    Steps { metric, at_least: false, from: Grade::Good, bounds }
}

/// A value as sentences have it: its metric, what it is of, and what follows the number.
pub(super) type Told = (&'static str, &'static str, &'static str);

/// Something of the household that is graded.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Application {
    /// Its name in tables and sentences.
    pub name: &'static str,
    /// The quality of the flows that it is graded by, if it is of flows of one quality.
    #[serde(skip)]
    pub quality: Option<Quality>,
    /// The bulk traffic that it is of, if it is of some.
    #[serde(skip)]
    pub bulk: Option<(Bulk, Direction)>,
    /// What good requires: all of them.
    pub good: &'static [Threshold],
    /// What fair requires: all of them.
    pub fair: &'static [Threshold],
    /// What poor requires: what does not meet one of them fails.
    pub poor: &'static [Threshold],
    /// Steps inside grades.
    #[serde(skip)]
    pub(super) steps: &'static [Steps],
    /// What sentences say of it, the first first.
    #[serde(skip)]
    pub(super) told: &'static [Told],
    /// Metrics that the summary shows and no threshold needs: the less, the better.
    #[serde(skip)]
    pub shown: &'static [&'static str],
    /// The measured values in words; `{metric.2}` is a value with two digits.
    #[serde(skip)]
    pub summary: &'static str,
}

impl Application {
    /// The metrics of thresholds, summary and steps, each once, with whether more is better.
    pub fn metrics(&self) -> Vec<(&'static str, bool)> {
        let thresholds = self.fair.iter().chain(self.good).chain(self.poor);
        let mut metrics: Vec<(&'static str, bool)> = Vec::new();
        let all = thresholds.map(|t| (t.metric, t.at_least));
        let shown = self.shown.iter().map(|metric| (*metric, false));
        let steps = self.steps.iter().map(|steps| (steps.metric, steps.at_least));
        for (metric, at_least) in all.chain(shown).chain(steps) {
            if metrics.iter().all(|(known, _)| *known != metric) {
                metrics.push((metric, at_least));
            }
        }
        metrics
    }

    /// Is a value needed for a grade? Without others there is one.
    pub(super) fn needs(&self, metric: &str) -> bool {
        let all = self.good.iter().chain(self.fair);
        all.map(|threshold| threshold.metric).chain(self.shown.iter().copied()).any(|m| m == metric)
    }
}

/// Names of applications that sentences speak of.
pub(super) const GAME: &str = "game";
pub(super) const CALL: &str = "call";
pub(super) const VIDEO_CALL: &str = "video call";
pub(super) const PAGE: &str = "page";
pub(super) const VIDEO: &str = "video";
pub(super) const VIDEO_RATE: &str = "video rate";
pub(super) const UNDER_LOAD: &str = "under load";
pub(super) const UPSTREAM_QUEUE: &str = "upstream queue";
pub(super) const DOWNSTREAM_QUEUE: &str = "downstream queue";

/// Metrics that are no columns of `flows`.
pub(super) const SHARE: &str = "share_percent";
pub(super) const KEPT_RATE: &str = "kept_video_rate_percent";
pub(super) const ADDED_DELAY: &str = "added_delay_ms";
pub(super) const QUEUE_MEAN: &str = "queue_mean_ms";
pub(super) const QUEUE_LOST: &str = "queue_lost_percent";
pub(super) const QUEUE_P99: &str = "queue_p99_ms";
pub(super) const GAME_P90: &str = "rtt_p90_ms";
pub(super) const PAGE_LOAD: &str = "page_load_median_s";
/// Metrics that are columns.
pub(super) const VIDEO_START: &str = "video_start_wait_s";
pub(super) const VIDEO_STALLED: &str = "video_stalled_percent";

/// Later than that a film has begun too late.
pub(super) const SLOW_START_S: f64 = 10.0;

/// The queue of a direction as it is graded.
pub(super) const fn queue_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => UPSTREAM_QUEUE,
        Direction::Down => DOWNSTREAM_QUEUE,
    }
}

/// A good queue adds no more to the mean round trip.
pub(super) const GOOD_QUEUE_MS: f64 = 30.0;

/// Longer than that a page is poor, so one that has taken longer and is not loaded counts.
pub(super) const POOR_PAGE_S: f64 = 6.9;

const GAMES: &str =
    "White & Rice 2013, section 4.1.3; the 90 % quantile as in White 2014, section 5.1";
const JARSCHEL: &str = "Jarschel, cited in White & Rice 2013, section 4.1.3";
const CHOY: &str = "Choy, cited in White & Rice 2013, section 4.1.3; the 90 % quantile as in White \
                    2014, section 5.1";
const BREDEL: &str = "Bredel, cited in White & Rice 2013, section 4.1.3";
const SCALE: &str = "ITU-T P.800, as in White 2014, section 5.1";
const PAGES: &str = "White & Padden 2012, tables 7 and 8";
const STALLS: &str =
    "Krishnan & Sitaraman 2012: stalls of 1 % of a video cut the viewing time by 5 %";
const STARTS: &str = "Krishnan & Sitaraman 2012: viewers leave from 2 s of waiting on, 5.8 % more of them with each second";
const OURS: &str =
    "chosen by Sojourn; uploads kept 97 % or more with CoDel in White & Padden 2012, tables 7, 8";
const OURS_FOR_STARVED: &str = "chosen by Sojourn: less is next to nothing";
const OURS_FOR_TAILS: &str = "chosen by Sojourn: what one packet in a hundred waits spoils a call or a game as the mean does";
const SCALE_BAD: &str = "ITU-T P.800: below 2 is bad";
const NIELSEN: &str =
    "Nielsen 1993, Usability Engineering, section 5.5: 10 s keep a user's attention";
const NIELSEN_THOUGHT: &str =
    "Nielsen 1993, section 5.5: from 1 s on a user's flow of thought is interrupted";
const BLOAT_F: &str = "DSLReports, Bufferbloat Grades: F is an increase by 400 ms or more";
const CONVERSATION: &str = "ITU-T G.114 (2003), section 4: one way, 150 ms are felt by few and more than \
                            400 ms are too much; without the time for coding and playout, and for 90 % of frames";
const OURS_FOR_FRAMES: &str = "chosen by Sojourn: a decoder stops at a frame that lacks a packet";
const OURS_FOR_VIDEO: &str =
    "chosen by Sojourn, as for uploads: a video that adapts does not stall";
const BLOAT_A: &str = "DSLReports, Bufferbloat Grades (dslreports.com/faq/17930): A is an increase \
                       of the round trip by less than 30 ms under load";
const BLOAT_B: &str = "DSLReports, Bufferbloat Grades: B is less than 60 ms; bufferbloat.net, Tests \
                       for Bufferbloat, asks to act on a grade below B";

/// Letters of DSLReports for the delay that load adds to a round trip: below so many ms.
pub(super) const LETTERS: [(f64, &str); 5] =
    [(5.0, "A+"), (30.0, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D")];
/// The letter from the last bound on.
pub(super) const WORST_LETTER: &str = "F";

const GOOD_SHARE: [Threshold; 1] = [Threshold::at_least(
    SHARE,
    90.0,
    "each has 90 % or more of its max-min fair part of what service, access line, core and servers carry beside \
     light traffic, or of what it has to send",
    OURS,
)];
const FAIR_SHARE: [Threshold; 1] =
    [Threshold::at_least(SHARE, 50.0, "each has 50 % or more of its part", OURS)];
const POOR_SHARE: [Threshold; 1] =
    [Threshold::at_least(SHARE, 10.0, "each has 10 % or more of its part", OURS_FOR_STARVED)];
const SHARE_STEPS: [Steps; 1] = [Steps {
    metric: SHARE,
    at_least: true,
    from: Grade::Good,
    bounds: &[95.0, 90.0, 70.0, 50.0, 25.0],
}];

/// One bulk sort in a direction.
const fn bulk(name: &'static str, sort: Bulk, direction: Direction) -> Application {
    Application {
        name,
        quality: None,
        bulk: Some((sort, direction)),
        good: &GOOD_SHARE,
        fair: &FAIR_SHARE,
        poor: &POOR_SHARE,
        steps: &SHARE_STEPS,
        told: &[(SHARE, "", " % of its part of the line")],
        shown: &[],
        summary: "{share_percent.1} % of its part of what the line carries",
    }
}

const GOOD_QUEUE: [Threshold; 2] = [
    Threshold::at_most(
        QUEUE_MEAN,
        GOOD_QUEUE_MS,
        "packets wait at most 30 ms in the longest queue of the direction on average",
        BLOAT_A,
    ),
    Threshold::at_most(QUEUE_P99, 100.0, "99 % wait at most 100 ms", OURS_FOR_TAILS),
];
const FAIR_QUEUE: [Threshold; 2] = [
    Threshold::at_most(QUEUE_MEAN, 60.0, "they wait at most 60 ms on average", BLOAT_B),
    Threshold::at_most(QUEUE_P99, 200.0, "99 % wait at most 200 ms", OURS_FOR_TAILS),
];
const POOR_QUEUE: [Threshold; 1] =
    [Threshold::at_most(QUEUE_MEAN, 400.0, "they wait at most 400 ms on average", BLOAT_F)];
const QUEUE_STEPS: [Steps; 2] =
    [steps(QUEUE_MEAN, &[15.0, 30.0, 60.0, 200.0]), steps(QUEUE_P99, &[100.0, 200.0])];

/// The queue of a direction.
const fn queue(name: &'static str) -> Application {
    Application {
        name,
        quality: None,
        bulk: None,
        good: &GOOD_QUEUE,
        fair: &FAIR_QUEUE,
        poor: &POOR_QUEUE,
        steps: &QUEUE_STEPS,
        told: &[
            (QUEUE_MEAN, "the mean wait in the", " ms"),
            (QUEUE_P99, "the wait of 99 % of packets in the", " ms"),
        ],
        shown: &[QUEUE_LOST],
        summary: "packets wait {queue_mean_ms.1} ms in it on average and 99 % of them at most \
                  {queue_p99_ms.0} ms; {queue_lost_percent.1} % are dropped before",
    }
}

/// What is graded, in the order of reports.
pub const APPLICATIONS: [Application; 15] = [
    Application {
        name: GAME,
        quality: Some(Quality::Game),
        bulk: None,
        good: &[
            Threshold::at_most(
                "over_20_ms_access_percent",
                10.0,
                "at most 10 % of packets spend more than 20 ms in the access network and in queues",
                GAMES,
            ),
            Threshold::at_most("loss_percent", 1.0, "at most 1 % of packets are lost", JARSCHEL),
        ],
        fair: &[
            Threshold::at_most(
                "over_80_ms_round_trip_percent",
                10.0,
                "at most 10 % of packets have a round-trip time above 80 ms",
                CHOY,
            ),
            Threshold::at_most("loss_percent", 20.0, "at most 20 % of packets are lost", BREDEL),
        ],
        poor: &[
            Threshold::at_most(GAME_P90, 400.0, "90 % of round trips take at most 400 ms", BLOAT_F),
            Threshold::at_most(
                "loss_percent",
                50.0,
                "at most half of the packets are lost",
                OURS_FOR_STARVED,
            ),
        ],
        steps: &[
            steps("over_20_ms_access_percent", &[1.0]),
            Steps {
                metric: GAME_P90,
                at_least: false,
                from: Grade::Fair,
                bounds: &[50.0, 80.0, 160.0],
            },
            Steps { metric: "loss_percent", at_least: false, from: Grade::Fair, bounds: &[5.0] },
        ],
        told: &[
            (GAME_P90, "game RTT p90", " ms"),
            ("loss_percent", "the game's loss", " %"),
            ("over_20_ms_access_percent", "the share of game packets over 20 ms", " %"),
        ],
        shown: &[],
        summary: "{over_20_ms_access_percent.0} % of packets spend more than 20 ms in the access \
                  network and in queues, {over_80_ms_round_trip_percent.0} % have a round-trip time above 80 ms, \
                  {loss_percent.2} % are lost",
    },
    Application {
        name: CALL,
        quality: Some(Quality::Voice),
        bulk: None,
        good: &[Threshold::at_least("mos", 4.0, "a mean opinion score of 4 (good) or more", SCALE)],
        fair: &[Threshold::at_least("mos", 3.0, "a mean opinion score of 3 (fair) or more", SCALE)],
        poor: &[
            Threshold::at_least("mos", 2.0, "a mean opinion score of 2 (poor) or more", SCALE_BAD),
            Threshold::at_most(
                "loss_percent",
                50.0,
                "at most half of the packets are lost",
                OURS_FOR_STARVED,
            ),
        ],
        steps: &[Steps {
            metric: "mos",
            at_least: true,
            from: Grade::Good,
            bounds: &[3.6, 3.0, 2.6],
        }],
        told: &[("mos", "the call's MOS", "")],
        shown: &["late_percent", "loss_percent"],
        summary: "the mean opinion score is {mos.2} on a scale from 1 (bad) to 5 (excellent); \
                  {late_percent.1} % of packets come too late, {loss_percent.1} % are lost",
    },
    Application {
        name: VIDEO_CALL,
        quality: Some(Quality::VideoCall),
        bulk: None,
        good: &[
            Threshold::at_most(
                "frame_latency_p90_ms",
                150.0,
                "90 % of frames arrive within 150 ms",
                CONVERSATION,
            ),
            Threshold::at_most(
                "frames_incomplete_percent",
                1.0,
                "at most 1 % of frames lack a packet",
                OURS_FOR_FRAMES,
            ),
        ],
        fair: &[
            Threshold::at_most(
                "frame_latency_p90_ms",
                400.0,
                "90 % of frames arrive within 400 ms",
                CONVERSATION,
            ),
            Threshold::at_most(
                "frames_incomplete_percent",
                5.0,
                "at most 5 % of frames lack a packet",
                OURS_FOR_FRAMES,
            ),
        ],
        poor: &[
            Threshold::at_most(
                "frame_latency_p90_ms",
                1000.0,
                "90 % of frames arrive within 1 s",
                NIELSEN_THOUGHT,
            ),
            Threshold::at_most(
                "frames_incomplete_percent",
                50.0,
                "at most half of the frames lack a packet",
                OURS_FOR_STARVED,
            ),
        ],
        steps: &[
            steps("frame_latency_p90_ms", &[75.0, 150.0, 250.0, 400.0]),
            steps("frames_incomplete_percent", &[0.2, 1.0, 5.0, 20.0]),
        ],
        told: &[
            ("frame_latency_p90_ms", "video call p90", " ms"),
            ("frames_incomplete_percent", "the share of incomplete frames of the video call", " %"),
        ],
        shown: &[],
        summary: "90 % of frames arrive within {frame_latency_p90_ms.0} ms, {frames_incomplete_percent.1} % \
                  lack a packet",
    },
    Application {
        name: PAGE,
        quality: Some(Quality::Pages),
        bulk: None,
        good: &[Threshold::at_most(
            PAGE_LOAD,
            3.3,
            "half of the pages load within 3.3 s, as with CoDel during uploads",
            PAGES,
        )],
        fair: &[Threshold::at_most(
            PAGE_LOAD,
            POOR_PAGE_S,
            "half of the pages load within 6.9 s, the best with a full buffer during uploads",
            PAGES,
        )],
        poor: &[Threshold::at_most(PAGE_LOAD, 10.0, "half of the pages load within 10 s", NIELSEN)],
        steps: &[steps(PAGE_LOAD, &[5.0, POOR_PAGE_S])],
        told: &[(PAGE_LOAD, "the median page load", " s")],
        shown: &[],
        summary: "half of the pages load within {page_load_median_s.1} s",
    },
    Application {
        name: VIDEO,
        quality: Some(Quality::Video),
        bulk: None,
        good: &[
            Threshold::at_most(VIDEO_STALLED, 0.0, "no stall", STALLS),
            Threshold::at_most(VIDEO_START, 2.0, "playback begins within 2 s", STARTS),
        ],
        fair: &[
            Threshold::at_most(VIDEO_STALLED, 1.0, "stalled for at most 1 % of the time", STALLS),
            Threshold::at_most(VIDEO_START, SLOW_START_S, "playback begins within 10 s", STARTS),
        ],
        poor: &[Threshold::at_most(
            VIDEO_STALLED,
            50.0,
            "stalled for at most half of the time",
            OURS_FOR_STARVED,
        )],
        steps: &[
            steps(VIDEO_STALLED, &[0.0, 0.5, 1.0, 5.0]),
            steps(VIDEO_START, &[1.0, 2.0, 5.0, 10.0]),
        ],
        told: &[
            (VIDEO_STALLED, "the share of time that video stalls", " %"),
            (VIDEO_START, "the wait until the video begins", " s"),
        ],
        shown: &[],
        summary: "playback begins after {video_start_wait_s.1} s and is stalled for \
                  {video_stalled_percent.1} % of the time",
    },
    Application {
        name: VIDEO_RATE,
        quality: None,
        bulk: None,
        good: &[Threshold::at_least(
            KEPT_RATE,
            90.0,
            "the video has 90 % or more of the mean rate that it has on an idle line",
            OURS_FOR_VIDEO,
        )],
        fair: &[Threshold::at_least(KEPT_RATE, 50.0, "it has 50 % or more", OURS_FOR_VIDEO)],
        poor: &[Threshold::at_least(KEPT_RATE, 10.0, "it has 10 % or more", OURS_FOR_STARVED)],
        steps: &[Steps {
            metric: KEPT_RATE,
            at_least: true,
            from: Grade::Good,
            bounds: &[95.0, 90.0, 70.0, 50.0],
        }],
        told: &[(KEPT_RATE, "the video's rate", " % of that without uploads and downloads")],
        shown: &[],
        summary: "the video has {kept_video_rate_percent.0} % of the mean rate that it has without \
                  uploads and downloads",
    },
    Application {
        name: UNDER_LOAD,
        quality: None,
        bulk: None,
        good: &[Threshold::at_most(
            ADDED_DELAY,
            30.0,
            "the round trip of the game or call takes at most 30 ms more than on an idle line",
            BLOAT_A,
        )],
        fair: &[Threshold::at_most(
            ADDED_DELAY,
            60.0,
            "the round trip takes at most 60 ms more than on an idle line",
            BLOAT_B,
        )],
        poor: &[Threshold::at_most(
            ADDED_DELAY,
            400.0,
            "the round trip takes at most 400 ms more",
            BLOAT_F,
        )],
        steps: &[],
        told: &[(ADDED_DELAY, "what load adds to the round trip", " ms")],
        shown: &[],
        summary: "load adds {added_delay_ms.1} ms to the mean round trip",
    },
    queue(UPSTREAM_QUEUE),
    queue(DOWNSTREAM_QUEUE),
    bulk("upload", Bulk::Transfer, Direction::Up),
    bulk("download", Bulk::Transfer, Direction::Down),
    bulk("torrent", Bulk::Torrent, Direction::Up),
    bulk("torrent down", Bulk::Torrent, Direction::Down),
    bulk("data up", Bulk::Data, Direction::Up),
    bulk("data down", Bulk::Data, Direction::Down),
];
