//! What is graded, with the thresholds of each grade and their sources: data alone.

use serde::Serialize;

use sojourn_engine::packet::Direction;
use sojourn_scenario::apps::Quality;

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

/// Something of the household that is graded.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Application {
    /// Its name in tables and sentences.
    pub name: &'static str,
    /// The quality of the flows that it is graded by, if it is of flows of one quality.
    #[serde(skip)]
    pub quality: Option<Quality>,
    /// What good requires: all of them.
    pub good: &'static [Threshold],
    /// What fair requires: all of them.
    pub fair: &'static [Threshold],
    /// Metrics that the summary shows and no threshold needs: the less, the better.
    pub shown: &'static [&'static str],
    /// The measured values in words; `{metric.2}` is a value with two digits.
    pub summary: &'static str,
}

impl Application {
    /// The metrics of thresholds and summary, each once, with whether more is better.
    pub fn metrics(&self) -> Vec<(&'static str, bool)> {
        let thresholds = self.fair.iter().chain(self.good);
        let mut metrics: Vec<(&'static str, bool)> = Vec::new();
        let all = thresholds.map(|t| (t.metric, t.at_least));
        for (metric, at_least) in all.chain(self.shown.iter().map(|metric| (*metric, false))) {
            if metrics.iter().all(|(known, _)| *known != metric) {
                metrics.push((metric, at_least));
            }
        }
        metrics
    }
}

/// Names of applications that sentences speak of.
pub(super) const GAME: &str = "game";
pub(super) const CALL: &str = "call";
pub(super) const VIDEO_CALL: &str = "video call";
pub(super) const PAGE: &str = "page";
pub(super) const VIDEO: &str = "video";
pub(super) const VIDEO_RATE: &str = "video rate";
pub(super) const UPLOAD: &str = "upload";
pub(super) const DOWNLOAD: &str = "download";
pub(super) const UNDER_LOAD: &str = "under load";
pub(super) const UPSTREAM_QUEUE: &str = "upstream queue";
pub(super) const DOWNSTREAM_QUEUE: &str = "downstream queue";

/// Metrics that are no columns of `flows`.
pub(super) const UPLOAD_SHARE: &str = "upload_share_percent";
pub(super) const DOWNLOAD_SHARE: &str = "download_share_percent";
pub(super) const KEPT_RATE: &str = "kept_video_rate_percent";
pub(super) const ADDED_DELAY: &str = "added_delay_ms";
pub(super) const UPSTREAM_QUEUE_MEAN: &str = "upstream_queue_mean_ms";
pub(super) const DOWNSTREAM_QUEUE_MEAN: &str = "downstream_queue_mean_ms";
pub(super) const PAGE_LOAD: &str = "page_load_median_s";
/// Metrics that are columns.
pub(super) const VIDEO_START: &str = "video_start_wait_s";
pub(super) const VIDEO_STALLED: &str = "video_stalled_percent";

/// Later than that a film has begun too late.
pub(super) const SLOW_START_S: f64 = 10.0;

/// The queue of a direction as it is graded, and the metric of its grade.
pub(super) const fn queue_of(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Up => (UPSTREAM_QUEUE, UPSTREAM_QUEUE_MEAN),
        Direction::Down => (DOWNSTREAM_QUEUE, DOWNSTREAM_QUEUE_MEAN),
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

/// What is graded, in the order of reports.
pub const APPLICATIONS: [Application; 11] = [
    Application {
        name: GAME,
        quality: Some(Quality::Game),
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
        shown: &[],
        summary: "{over_20_ms_access_percent.0} % of packets spend more than 20 ms in the access \
                  network and in queues, {over_80_ms_round_trip_percent.0} % have a round-trip time above 80 ms, \
                  {loss_percent.2} % are lost",
    },
    Application {
        name: CALL,
        quality: Some(Quality::Voice),
        good: &[Threshold::at_least("mos", 4.0, "a mean opinion score of 4 (good) or more", SCALE)],
        fair: &[Threshold::at_least("mos", 3.0, "a mean opinion score of 3 (fair) or more", SCALE)],
        shown: &["late_percent", "loss_percent"],
        summary: "the mean opinion score is {mos.2} on a scale from 1 (bad) to 5 (excellent); \
                  {late_percent.1} % of packets come too late, {loss_percent.1} % are lost",
    },
    Application {
        name: VIDEO_CALL,
        quality: Some(Quality::VideoCall),
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
        shown: &[],
        summary: "90 % of frames arrive within {frame_latency_p90_ms.0} ms, {frames_incomplete_percent.1} % \
                  lack a packet",
    },
    Application {
        name: PAGE,
        quality: Some(Quality::Pages),
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
        shown: &[],
        summary: "half of the pages load within {page_load_median_s.1} s",
    },
    Application {
        name: VIDEO,
        quality: Some(Quality::Video),
        good: &[
            Threshold::at_most(VIDEO_STALLED, 0.0, "no stall", STALLS),
            Threshold::at_most(VIDEO_START, 2.0, "playback begins within 2 s", STARTS),
        ],
        fair: &[
            Threshold::at_most(VIDEO_STALLED, 1.0, "stalled for at most 1 % of the time", STALLS),
            Threshold::at_most(VIDEO_START, SLOW_START_S, "playback begins within 10 s", STARTS),
        ],
        shown: &[],
        summary: "playback begins after {video_start_wait_s.1} s and is stalled for \
                  {video_stalled_percent.1} % of the time",
    },
    Application {
        name: VIDEO_RATE,
        quality: None,
        good: &[Threshold::at_least(
            KEPT_RATE,
            90.0,
            "the video has 90 % or more of the mean rate that it has on an idle line",
            OURS_FOR_VIDEO,
        )],
        fair: &[Threshold::at_least(KEPT_RATE, 50.0, "it has 50 % or more", OURS_FOR_VIDEO)],
        shown: &[],
        summary: "the video has {kept_video_rate_percent.0} % of the mean rate that it has without \
                  uploads and downloads",
    },
    Application {
        name: UNDER_LOAD,
        quality: None,
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
        shown: &[],
        summary: "load adds {added_delay_ms.1} ms to the mean round trip",
    },
    Application {
        name: UPSTREAM_QUEUE,
        quality: None,
        good: &[Threshold::at_most(
            UPSTREAM_QUEUE_MEAN,
            GOOD_QUEUE_MS,
            "packets wait at most 30 ms in the longest upstream queue on average",
            BLOAT_A,
        )],
        fair: &[Threshold::at_most(
            UPSTREAM_QUEUE_MEAN,
            60.0,
            "packets wait at most 60 ms there on average",
            BLOAT_B,
        )],
        shown: &[],
        summary: "packets wait {upstream_queue_mean_ms.1} ms in it on average",
    },
    Application {
        name: DOWNSTREAM_QUEUE,
        quality: None,
        good: &[Threshold::at_most(
            DOWNSTREAM_QUEUE_MEAN,
            GOOD_QUEUE_MS,
            "packets wait at most 30 ms in the longest downstream queue on average",
            BLOAT_A,
        )],
        fair: &[Threshold::at_most(
            DOWNSTREAM_QUEUE_MEAN,
            60.0,
            "packets wait at most 60 ms there on average",
            BLOAT_B,
        )],
        shown: &[],
        summary: "packets wait {downstream_queue_mean_ms.1} ms in it on average",
    },
    Application {
        name: UPLOAD,
        quality: None,
        good: &[Threshold::at_least(
            UPLOAD_SHARE,
            90.0,
            "unlimited uploads and the light traffic beside them together send 90 % or more of what \
             sustained rate, burst and the links to the server allow",
            OURS,
        )],
        fair: &[Threshold::at_least(UPLOAD_SHARE, 50.0, "they send 50 % or more of that", OURS)],
        shown: &[],
        summary: "the upload and the light traffic beside it send {upload_share_percent.0} % of what \
                  sustained rate, burst and the links to the server allow",
    },
    Application {
        name: DOWNLOAD,
        quality: None,
        good: &[Threshold::at_least(
            DOWNLOAD_SHARE,
            90.0,
            "unlimited downloads and the light traffic beside them together get 90 % or more of what \
             sustained rate, burst and the links to the server allow",
            OURS,
        )],
        fair: &[Threshold::at_least(DOWNLOAD_SHARE, 50.0, "they get 50 % or more of that", OURS)],
        shown: &[],
        summary: "the download and the light traffic beside it get {download_share_percent.0} % of \
                  what sustained rate, burst and the links to the server allow",
    },
];
