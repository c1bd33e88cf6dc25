//! The kinds of problems and warnings.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($code:ident $name:literal $meaning:literal)*) => {
        /// The kind of a problem or a warning, by which programs decide: wordings change, codes stay.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $name)] $code,)*
        }

        impl Code {
            /// All codes, each with its name and its meaning.
            pub const ALL: &[(Self, &str, &str)] = &[$((Self::$code, $name, $meaning)),*];
        }
    };
}

codes! {
    Missing "missing" "A key that must be set is missing."
    UnknownKey "unknown-key" "A table has a key that does not exist."
    UnknownChoice "unknown-choice" "A value is none of the names that its key allows."
    UnknownName "unknown-name" "There is no home, server, traffic entry or scenario of this name."
    WrongType "wrong-type" "A value has another type than its key."
    OutOfRange "out-of-range" "A number lies outside the range of its key."
    WrongCount "wrong-count" "A list or table has too few or too many items."
    HiddenCharacter "hidden-character" "A name has an invisible character."
    NotToml "not-toml" "A file is not valid TOML."
    NotASetting "not-a-setting" "A setting has no key or no value."
    NotAScenario "not-a-scenario" "A file is of another kind than the command reads."
    NotAllowed "not-allowed" "A value is not allowed here or beside the values of other keys."
    TooLarge "too-large" "A scenario or sweep has too many values or variants."
    TooManyPackets "too-many-packets" "A run would handle more packets than it can in weeks."
    TooMuchMemory "too-much-memory" "A run may need more memory than is allowed."
    UnusableFile "unusable-file" "A file cannot be used: it is too long, damaged, or of another kind."
    ModemFile "modem-file" "A modem's configuration file breaks a rule of its format."

    AqmNeverActed "aqm-never-acted" "An AQM algorithm dropped and marked nothing, though packets waited or the load took another service flow."
    AqmRested "aqm-rested" "An AQM algorithm rested until a third of the buffer was full, and what gathered made the tail."
    BehindTheClock "behind-the-clock" "An emulation could not keep up with the wall clock for a part of its time."
    BeyondChannel "beyond-channel" "A service has a higher rate than the channel that it shares."
    BurstBelowMap "burst-below-map" "A burst is smaller than what a MAP interval brings at the sustained rate."
    BurstBelowPoll "burst-below-poll" "A burst or peak rate is too small for a flow that requests only when it is polled."
    BurstCarried "burst-carried" "A burst carries much of what a run counts, so that its rates are those of its beginning."
    BurstOnSharedChannel "burst-on-shared-channel" "A burst is too small for the rate on the shared channel."
    CaptureHome "capture-home" "Which end of a capture's packets is the home was inferred."
    CapturePacketsLeftOut "capture-packets-left-out" "Packets of a capture are not between the home and others."
    CaptureFramesSplit "capture-frames-split" "Frames of segmentation offload were split."
    CaptureLargePackets "capture-large-packets" "Packets of a capture are larger than an Ethernet frame."
    CaptureOneWay "capture-one-way" "No packet of a capture has an answer, and all are sent up."
    ChangedDefault "changed-default" "A default that a scenario relies on is another than in the last release."
    ChangedInRun "changed-in-run" "Keys were changed while the run went on."
    ContentionCollisions "contention-collisions" "Many contention requests collided."
    EcnLost "ecn-lost" "A path, a peer or a control keeps ECN from what traffic uses it for."
    EarlyTail "early-tail" "The first seconds of a run make the tail of its latency."
    EqualVariants "equal-variants" "Variants are equal, so that one run stands for them."
    FormerSpelling "former-spelling" "A kind is written as it was before it became a kind of its own."
    HalfOfLinux "half-of-linux" "Only one of a scheduler and its law is the variant of Linux."
    LimitedSteps "limited-steps" "The limit of a controller's steps holds the delay above its target."
    HomesWithoutTraffic "homes-without-traffic" "A group of homes has no traffic."
    IdleChannel "idle-channel" "The upstream channel is described, and no modem shares it."
    IdleController "idle-controller" "The controller of a router has no shaper that it could set."
    IdleKey "idle-key" "A key has no effect beside the other keys."
    IdleRouter "idle-router" "A router is no slower than the service, so that packets do not wait in it."
    LateOutage "late-outage" "An outage begins when the run is over."
    LateTraffic "late-traffic" "A traffic entry starts when the run is over."
    UnderWay "under-way" "Many packets had not arrived at the end, and are neither late nor lost in tables."
    LostOnNoise "lost-on-noise" "Noise on the cable loses all packets."
    ModemSetting "modem-setting" "A setting of a modem's file is simulated otherwise, or not at all."
    NeedlessDrops "needless-drops" "BLUE keeps dropping packets that needed no signal."
    NeverPolled "never-polled" "A flow is polled less often than once in the run."
    NotInRealTime "not-in-real-time" "The system did not permit an emulation priority or locked memory."
    NoPageLoaded "no-page-loaded" "A traffic entry did not finish loading a single page."
    NothingCounts "nothing-counts" "A run ended before the time from which it counts."
    NqbTooFast "nqb-too-fast" "Traffic of the NQB code point is faster or burstier than RFC 9956 asks."
    OpenLoop "open-loop" "Real packets are replayed under other settings than those to which their programs reacted."
    OutageOfTheRun "outage-of-the-run" "An outage lasts for the whole run."
    OtherLine "other-line" "A record of real packets is of another line, or of that of other variants alone."
    Overbooked "overbooked" "More is reserved than the channel carries."
    ProgramLoad "program-load" "Round trips were measured while a real program loaded the line, and count neither as idle nor as under load."
    SilentTraffic "silent-traffic" "A traffic entry sent nothing."
    SlowAverage "slow-average" "The weight of an average queue length is so small that it stays at 0."
    SlowServer "slow-server" "The link of a server is no faster than the service."
    TargetBeyondBuffer "target-beyond-buffer" "A target per flow that few flows reach before the buffer is full."
    TargetBelowPackets "target-below-packets" "A target is shorter than the fewest packets take that a queue manager lets wait."
    TargetBelowGrant "target-below-grant" "A target is below what request and grant take."
    TooLate "too-late" "Packets of real programs were delivered too late to trust what was measured."
    TraceFull "trace-full" "A trace of packets or events became full."
    IdlePart "idle-part" "A part of the user's own was called and changed nothing that it may set."
    UncountedTraffic "uncounted-traffic" "A traffic entry sent nothing that is counted."
    UnansweredProbes "unanswered-probes" "No probe of a router's controller was answered."
    UnknownAddress "unknown-address" "A classifier has an address of nobody."
    UnreadPackets "unread-packets" "Real programs sent faster than an emulation could read."
    UnusedFlow "unused-flow" "No packet met the classifiers of a service flow."
    UnusedLowLatency "unused-low-latency" "No packet took a low-latency flow."
    Unwatched "unwatched" "No game or call measures a direction while it is loaded."
}
