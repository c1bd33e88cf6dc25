//! What a line carries: service, access line, channels, core and servers. A router's shaper is its owner's choice and
//! no part of the line.

use super::apps::AppSpec;
use super::schema::Scenario;
use super::traffic::Entry;
use sojourn_access::docsis::{
    Framing, ModemSpec, Outage, PartialService, UpstreamChannel, is_bonded,
};
use sojourn_access::{Group, Terms};
use sojourn_engine::hop::Bottleneck;
use sojourn_engine::packet::{Direction, Ecn, NQB};
use sojourn_engine::queue::{Parameters, SchedulerSpec};
use sojourn_transport::cc::CongestionSpec;

/// A rate that is less of the service's than this share is named where it limits a queue.
const LITTLE: f64 = 0.5;
/// So are fewer turns of 256 than a tenth.
const FEW_TURNS: u32 = 26;
/// What a round trip takes in the access network beyond what is idle, about as DOCSIS asks for bandwidth.
const ACCESS_MS: f64 = 10.0;
/// Ten segments of 1448 bytes.
const FIRST_WINDOW_MBIT: f64 = 0.11584;

/// What headers of TCP, IP and Ethernet leave of a rate.
const PAYLOAD: f64 = 1448.0 / 1518.0;

/// A time from one instant to another, in s.
pub type Span = std::ops::Range<f64>;

/// What a channel carries of homes that have equal rates, by how many they are and what it would carry of them alone, if
/// they are on it: a home takes the longer for the same bytes, the fewer bits its profile has. `None` without homes on it.
fn divided_mbit(sharing: impl Iterator<Item = (f64, Option<f64>)>) -> Option<f64> {
    let on_it = sharing.filter_map(|(homes, mbit)| Some((homes, homes / mbit?)));
    let (homes, spent) = on_it.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Some(homes / spent).filter(|_| homes > 0.0)
}

/// A channel of a table.
struct Carrier<'a> {
    name: &'a str,
    /// It stands for the channel in a set.
    bit: u64,
    mbps: f64,
    outages: [&'a [Outage]; 2],
}

impl Carrier<'_> {
    /// What it carries during a time, in Mbit.
    fn mbit(&self, time: &Span) -> f64 {
        let outages =
            self.outages.iter().copied().flatten().map(|one| one.within_s(time.start, time.end));
        self.mbps * (time.end - time.start - outages.sum::<f64>()).max(0.0)
    }
}

/// These sets, once each, and the unions of those that have members in common.
fn with_unions(of: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut sets: Vec<u64> = Vec::new();
    let add = |sets: &mut Vec<u64>, set| {
        if !sets.contains(&set) {
            sets.push(set);
        }
    };
    of.for_each(|set| add(&mut sets, set));
    let mut number = 1;
    while number < sets.len() {
        for other in 0..number {
            if sets[number] & sets[other] != 0 {
                let union = sets[number] | sets[other];
                add(&mut sets, union);
            }
        }
        number += 1;
    }
    sets
}

impl Scenario {
    /// What service, channels and core carry to and from each group of homes in the time that is counted, in Mbit, and
    /// the rates of servers: shares of lines that carry other amounts compare nothing.
    pub fn carried_mbit(&self) -> Vec<f64> {
        let time = self.metrics.from_s..self.duration_s;
        let of = |way: Direction| {
            let core = self.core_mbit(way, &time).fold(f64::INFINITY, f64::min);
            let of_flow = |(number, flow): (usize, u8)| {
                let service = self.service_mbit(number, (way, flow), time.start, &time);
                let channel = self.channel_mbit(&self.group(number), way, &time);
                service.min(core).min(channel.unwrap_or(f64::INFINITY))
            };
            self.all_service_flows(way).into_iter().map(of_flow).collect::<Vec<f64>>()
        };
        let servers = self.servers.values().map(|server| server.rate_mbps);
        Direction::BOTH.into_iter().flat_map(of).chain(servers).collect()
    }

    /// What a service flow and the access line carry to or from one home of a group during a time, in Mbit, if they were
    /// idle before `since_s`.
    pub fn service_mbit(
        &self,
        group: usize,
        (way, flow): (Direction, u8),
        since_s: f64,
        time: &Span,
    ) -> f64 {
        let home = self.group(group);
        let Terms { sustained_mbps, peak_mbps, burst_bytes, .. } = home.terms_of(way, flow);
        let burst_mbit = burst_bytes as f64 * 8.0 / 1e6;
        let allowed = |time_s: f64| {
            let during_s = (time_s - since_s).max(0.0);
            (sustained_mbps * during_s + burst_mbit).min(peak_mbps * during_s)
        };
        let service_mbit = allowed(time.end) - allowed(time.start);
        let (up, down) = (home.upstream, home.downstream);
        let congestion = up.congestion.as_ref().map(|congestion| congestion.trace());
        let (capacity, other, fixed, outages) = match way {
            Direction::Up => {
                let outages = up.stalls.iter().chain(&up.ranging_outages);
                (up.capacity.as_ref(), congestion.as_ref(), None, outages)
            }
            Direction::Down => {
                let outages = down.stalls.iter().chain(&[]);
                (down.capacity.as_ref(), None, down.channel_mbps, outages)
            }
        };
        let length_s = time.end - time.start;
        let outage_s: f64 = outages.map(|one| one.within_s(time.start, time.end)).sum();
        let traces = [capacity, other].into_iter().flatten();
        traces
            .filter_map(|trace| trace.mbit(time.start, time.end, peak_mbps))
            .chain(fixed.map(|mbps| mbps * length_s))
            .fold(service_mbit, f64::min)
            * (1.0 - outage_s / length_s).max(0.0)
    }

    /// What service, channel and core carry to or from one home of a group with its primary flow, in Mbps: the mean over a
    /// minute.
    pub fn line_mbps(&self, group: usize, way: Direction) -> f64 {
        let time = 0.0..60.0;
        let core = self.core_mbit(way, &time).fold(f64::INFINITY, f64::min);
        let channel = self.channel_mbit(&self.group(group), way, &time);
        let service = self.service_mbit(group, (way, 0), time.start, &time);
        service.min(core).min(channel.unwrap_or(f64::INFINITY)) / (time.end - time.start)
    }

    /// What the channel that these homes share carries with their profile, in Mbps; `None` if they share none.
    pub fn channel_mbps(&self, group: &Group<'_>, way: Direction) -> Option<f64> {
        match way {
            Direction::Up if matches!(group.upstream.modem, ModemSpec::SharedChannel) => {
                let of = |channel: &UpstreamChannel| {
                    Framing::of(channel).greatest_mbps(channel.least_region())
                };
                if !self.upstream_channel.bonded.is_empty() {
                    return Some(self.bonded(group, way).iter().map(|one| one.mbps).sum());
                }
                Some(of(&self.upstream_channel_of(group)))
            }
            Direction::Up => None,
            Direction::Down => {
                let cmts = self.cmts.as_ref()?;
                if !cmts.bonded.is_empty() {
                    return Some(cmts.carries_mbps(&group.downstream.bonding_group));
                }
                let channel = &cmts.channel;
                let own = group.downstream.profile_bits.map(|bits| channel.with_bits(bits));
                let channel = own.as_ref().unwrap_or(channel);
                Some(channel.rate_mbps() * f64::from(channel.count()))
            }
        }
    }

    /// The shared upstream channel as these homes send on it.
    fn upstream_channel_of(&self, group: &Group<'_>) -> UpstreamChannel {
        let mut channel = self.upstream_channel.clone();
        if let Some(bits) = group.upstream.profile_bits {
            channel.phy = channel.phy.with_bits(bits);
        }
        channel
    }

    /// The channels of a table; none without one.
    fn table(&self, way: Direction) -> Vec<Carrier<'_>> {
        let up = &self.upstream_channel;
        match (way, &self.cmts) {
            (Direction::Up, _) => (0..)
                .zip(&up.bonded)
                .map(|(place, (name, own))| {
                    let channel = up.bonded_channel(name);
                    let mbps = Framing::of(&channel).greatest_mbps(channel.least_region());
                    Carrier {
                        name,
                        bit: 1 << place,
                        mbps,
                        outages: [&own.outages, &own.signal_losses],
                    }
                })
                .collect(),
            (Direction::Down, Some(cmts)) => (0..)
                .zip(&cmts.bonded)
                .map(|(place, (name, own))| {
                    let mbps = cmts.carries_mbps(std::slice::from_ref(name));
                    Carrier { name, bit: 1 << place, mbps, outages: [&own.outages, &[]] }
                })
                .collect(),
            (Direction::Down, None) => Vec::new(),
        }
    }

    /// Those that these homes bond.
    fn bonded(&self, group: &Group<'_>, way: Direction) -> Vec<Carrier<'_>> {
        let named = way.pick(&group.upstream.bonding_group, &group.downstream.bonding_group);
        let shares =
            way == Direction::Down || matches!(group.upstream.modem, ModemSpec::SharedChannel);
        let mut bonded = self.table(way);
        bonded.retain(|one| shares && is_bonded(named, one.name));
        bonded
    }

    /// What the channel that these homes share carries during a time, in Mbit, or all channels that they bond: less while
    /// channels are lost.
    pub fn channel_mbit(&self, group: &Group<'_>, way: Direction, time: &Span) -> Option<f64> {
        let (mbps, channel) = (self.channel_mbps(group, way)?, self.upstream_channel_of(group));
        let bonded = self.bonded(group, way);
        if !bonded.is_empty() {
            return Some(bonded.iter().map(|one| one.mbit(time)).sum());
        }
        let lost_mbit = |of: &PartialService| {
            let left = Framing::of(&channel).with_channels(of.channels);
            let end_s = time.end.min(of.start_s + of.length_s);
            let lost_s = (end_s - time.start.max(of.start_s)).max(0.0);
            lost_s * (mbps - left.greatest_mbps(channel.least_region()))
        };
        let partial = channel.partial_service.iter().filter(|_| way == Direction::Up);
        Some(mbps * (time.end - time.start) - partial.map(lost_mbit).sum::<f64>())
    }

    /// What channels carry during a time, in Mbit, to or from groups of homes of which so many have something to send. Each
    /// item is a set of channels and the groups that have no others: these have no more than the set carries. A set is what
    /// one group bonds, or what several do that have channels in common.
    pub fn shared_mbit(
        &self,
        way: Direction,
        time: &Span,
        sending: &[(usize, f64)],
    ) -> Vec<(Vec<usize>, f64)> {
        let groups: Vec<Group<'_>> = self.groups().collect();
        let bits = |of: &Group<'_>| self.bonded(of, way).iter().map(|one| one.bit).sum();
        let bonded: Vec<u64> = groups.iter().map(bits).collect();
        let table = self.table(way);
        let of_set = |set: u64| {
            let is_in = |group: usize| match set {
                0 => bonded[group] == 0,
                _ => bonded[group] != 0 && bonded[group] & !set == 0,
            };
            let channels = table.iter().filter(|one| one.bit & set != 0);
            let mbit: f64 = channels.map(|one| one.mbit(time)).sum();
            let alone = |group: usize| match set {
                0 => self.channel_mbit(&groups[group], way, time),
                _ => Some(mbit),
            };
            let sharing = sending.iter().filter(|(group, _)| is_in(*group));
            let mbit = divided_mbit(sharing.map(|(group, homes)| (*homes, alone(*group))))?;
            Some(((0..groups.len()).filter(|group| is_in(*group)).collect(), mbit))
        };
        let sets = with_unions(sending.iter().map(|(group, _)| bonded[*group]));
        sets.into_iter().filter_map(of_set).collect()
    }

    /// What the files of an entry have of a rate of all of them, in Mbps: on an idle line each takes a handshake, round
    /// trips in which the window doubles from ten segments (RFC 5681, RFC 6928), and the last acknowledgement more. Other
    /// traffic has all of it.
    pub fn with_start_up_mbps(&self, entry: &Entry, mbps: f64) -> f64 {
        let AppSpec::Transfer(app) = &entry.app else { return mbps };
        let Some(file_bytes) = app.file_bytes else { return mbps };
        let files = f64::from(app.connections) * f64::from(self.group(self.group_of(entry)).count);
        let (mbit, each_mbps) = (file_bytes as f64 * 8e-6, mbps / files);
        let start_up_s = self.start_up_s(&app.server, 2.0, mbit, each_mbps);
        files * mbit / (mbit / each_mbps + start_up_s)
    }

    /// What so many round trips and those in which the window doubles take before so much has a rate of its own.
    fn start_up_s(&self, server: &str, round_trips: f64, mbit: f64, mbps: f64) -> f64 {
        let links = self.core.values().flat_map(|both| Direction::BOTH.map(|way| both.of(way)));
        let core_ms: f64 = links.flatten().map(|link| link.delay_ms).sum();
        let server_ms = self.servers.get(server).map_or(0.0, |server| server.delay_ms);
        let rtt_s = (2.0 * server_ms + core_ms + ACCESS_MS) / 1e3;
        let doublings = (1.0 + mbit.min(mbps * rtt_s) / FIRST_WINDOW_MBIT).log2();
        (round_trips + doublings) * rtt_s
    }

    /// How many there are of an entry whose rate follows the line in a direction, in all its homes, and the most of the line
    /// that each makes use of, in Mbps: a film comes the faster, the more there is. `None` for other traffic.
    pub fn adapting(&self, entry: &Entry, way: Direction) -> Option<(f64, f64)> {
        let (each, most_mbps) = match &entry.app {
            AppSpec::Video(app) if way == Direction::Down => (app.viewers, f64::INFINITY),
            AppSpec::VideoCall(app) if app.adapts() && app.direction.includes(way) => {
                (1, app.max_mbps())
            }
            _ => return None,
        };
        Some((f64::from(each) * f64::from(self.group(self.group_of(entry)).count), most_mbps))
    }

    /// What one of them makes of a line that carries so many Mbps for it: a film stays at a level of its ladder.
    pub fn adapted_mbps(&self, entry: &Entry, mbps: f64) -> f64 {
        let AppSpec::Video(app) = &entry.app else { return mbps };
        let mbps = PAYLOAD * mbps;
        app.settled_mbps(|mbit| mbit / mbps + self.start_up_s(&app.server, 1.0, mbit, mbps))
    }

    /// When the first bulk traffic begins, in s; never without any.
    pub fn bulk_from_s(&self) -> f64 {
        let starts_s = self.traffic.values().map(|entry| entry.app.bulk_from_s());
        starts_s.fold(f64::INFINITY, f64::min)
    }

    /// Does the congestion control of an entry leave the line to others, as LEDBAT does?
    pub fn yields(&self, entry: &Entry) -> bool {
        matches!(self.congestion_control(entry), Some(CongestionSpec::Ledbat(_)))
    }

    /// Is an entry measured while others may rest: files with pauses, or homes that begin or end at times of their own?
    pub fn takes_turns(&self, entry: &Entry) -> bool {
        let is_of_several = self.group(self.group_of(entry)).count > 1;
        let are_apart = entry.app.ends_by_itself() || entry.app.bulk_spread_s() > 0.0;
        entry.app.pauses() || (is_of_several && are_apart)
    }

    /// The low-latency mark of an entry that sets its own, or is L4S.
    pub fn low_latency_mark(&self, name: &str, entry: &Entry) -> Option<&'static str> {
        match (entry.labels.dscp, entry.datagram_ecn()) {
            (NQB, _) => Some("NQB"),
            (_, Ecn::Ect1) => Some("ECT(1)"),
            _ => self.is_l4s(name, entry).then_some("ECT(1)"),
        }
    }

    /// It with the queues of its low-latency aggregates on their own; `None` where none are coupled.
    pub fn uncoupled(&self) -> Option<Self> {
        let mut found = self.clone();
        let homes = found.homes.values_mut().filter_map(|homes| homes.upstream.as_mut());
        let mut are_coupled = false;
        for service in homes.chain([&mut found.upstream]) {
            if let SchedulerSpec::LowLatency(keys) = &mut service.queue.scheduler {
                are_coupled |= keys.coupled && keys.classic_aqm;
                keys.coupled = false;
            }
        }
        are_coupled.then_some(found)
    }

    /// The code points that a low-latency aggregate takes. `None` without one.
    pub fn low_latency_dscp(&self) -> Option<&[u8]> {
        self.low_latency().map(|keys| &*keys.dscp)
    }

    /// Keys that leave less than half of a service to one queue of a low-latency aggregate, or next to no turns beside the other
    /// one, in clauses.
    pub fn member_limits(&self) -> Vec<String> {
        self.of_low_latency(|group, keys, path| {
            let service_mbps = group.terms(Direction::Up).sustained_mbps;
            let members = ["classic", "low_latency"];
            let rates = members.into_iter().zip([keys.classic_mbps, keys.low_latency_mbps]);
            let limits = rates.filter_map(|(member, mbps)| {
                let mbps = mbps.filter(|mbps| *mbps < LITTLE * service_mbps)?;
                let (key, member) = (path(&format!("{member}_mbps")), member.replace('_', "-"));
                Some(format!("the {member} queue is left {mbps} of {service_mbps} Mbps by {key}."))
            });
            // Coupling slows the low-latency queue where the classic one has few.
            let turns = u32::from(keys.weight);
            let members = [
                ("classic", "low-latency", 256 - turns, !keys.coupled),
                ("low-latency", "classic", turns, true),
            ];
            let few = members.into_iter().filter(|(.., turns, is_so)| *is_so && *turns < FEW_TURNS);
            let weights = few.map(|(member, other, turns, _)| {
                let key = path("weight");
                format!("the {member} queue is left {turns} of 256 turns beside a full {other} one, by {key}.")
            });
            limits.chain(weights).collect()
        })
    }

    /// Queues of low-latency aggregates whose AQM is switched off, in clauses.
    pub fn queues_without_aqm(&self) -> Vec<String> {
        self.of_low_latency(|_, keys, path| {
            let both = [("classic", keys.classic_aqm), ("low_latency", keys.low_latency_aqm)];
            let off = both.into_iter().filter(|(_, is_on)| !is_on).map(|(member, _)| {
                let (key, member) = (path(&format!("{member}_aqm")), member.replace('_', "-"));
                format!("the {member} queue has no AQM, by {key}.")
            });
            off.collect()
        })
    }

    /// What is to be said of the low-latency aggregate of each judged group, with the paths of its keys.
    fn of_low_latency(
        &self,
        said: impl Fn(&Group<'_>, &Parameters, &dyn Fn(&str) -> String) -> Vec<String>,
    ) -> Vec<String> {
        let judged = self.metrics.homes.as_deref();
        let groups = self.groups().filter(|group| judged.is_none_or(|homes| homes == group.name));
        let of_group = |group: Group<'_>| match &group.upstream.queue.scheduler {
            SchedulerSpec::LowLatency(keys) => {
                let path = |key: &str| group.path_of(&format!("upstream.queue.scheduler.{key}"));
                said(&group, keys, &path)
            }
            _ => Vec::new(),
        };
        groups.flat_map(of_group).collect()
    }

    /// The first low-latency aggregate of a home.
    fn low_latency(&self) -> Option<&Parameters> {
        self.groups().find_map(|group| match &group.upstream.queue.scheduler {
            SchedulerSpec::LowLatency(keys) => Some(keys),
            _ => None,
        })
    }

    fn congestion_control(&self, entry: &Entry) -> Option<CongestionSpec> {
        entry.app.parameters().tcp()?;
        Some(entry.app.tcp_config(&self.tcp, self.dialect).congestion_control)
    }

    /// What each link of the core carries during a time, in Mbit.
    pub fn core_mbit(&self, way: Direction, time: &Span) -> impl Iterator<Item = f64> {
        let carried = |link: &Bottleneck| {
            let trace = link.capacity.as_ref();
            let of_trace = trace.and_then(|trace| trace.mbit(time.start, time.end, f64::INFINITY));
            let rate_mbps = link.mean_rate().bps() as f64 / 1e6;
            of_trace.unwrap_or(rate_mbps * (time.end - time.start))
        };
        self.core.values().filter_map(move |both| both.of(way)).map(carried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two homes that would have 800 and 400 of a channel alone take 1/800 and 1/400 of its time for each Mbit: both have
    /// 1/(1/800 + 1/400) = 267.
    #[test]
    fn homes_on_a_channel_divide_its_time() {
        let of = |homes: &[(f64, Option<f64>)]| divided_mbit(homes.iter().copied());
        assert_eq!(of(&[(1.0, Some(800.0)), (2.0, Some(800.0))]), Some(800.0));
        let mixed = of(&[(1.0, Some(800.0)), (1.0, Some(400.0)), (9.0, None)]).unwrap();
        assert!((mixed - 2.0 / (1.0 / 800.0 + 1.0 / 400.0)).abs() < 1e-9);
        assert_eq!((of(&[]), of(&[(1.0, None)])), (None, None));
    }

    /// Groups with {a, b}, {b, c} and {d} of channels: the first two together have no more than a, b and c carry.
    #[test]
    fn sets_with_a_channel_in_common_are_joined() {
        let of = |sets: &[u64]| with_unions(sets.iter().copied());
        assert_eq!(of(&[0b11, 0b110, 0b1000, 0b11]), [0b11, 0b110, 0b1000, 0b111]);
        assert_eq!(of(&[0b1, 0b11]), [0b1, 0b11]);
        assert_eq!(of(&[0b11, 0b110, 0b1100]), [0b11, 0b110, 0b1100, 0b111, 0b1110, 0b1111]);
        assert_eq!(of(&[]), [0_u64; 0]);
    }
}
