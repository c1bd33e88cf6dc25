//! Downstream channels that modems bond in groups, as one stage: queue managers at the CMTS, channels of different rates and
//! delays, and modems that restore the order of their packets (resequencer.rs; MULPI §8.2, from memory).
//!
//! Each group has a queue manager for each traffic priority. A packet goes on one channel of its group, and has a number in
//! its service flow. A channel that is free takes the next packet if the modem has it no later than all that waits would
//! have come over the other channels (spread.rs). So a lone packet goes on the channel that brings it first, and packets that
//! wait go on all.
//!
//! Where groups share a channel, it serves the one whose flow that is ahead of its others has had the least, on whatever
//! channels. So the flows of all groups that send the most are equal as far as their channels allow (max-min), up to a packet
//! (after Yap et al., Scheduling packets over multiple interfaces while respecting user preferences, CoNEXT 2013). Each channel
//! keeps its own account: there a group is at most `MOST_APART` ahead of what the one served last had, or behind it, and one
//! that had nothing to send begins with no less. So what a group has had where others had no part is soon forgotten, and what
//! groups elsewhere have had counts for nothing. Nor is a flow more than that behind the first of its group.
//!
//! Left out: MAPs and other management messages; early detection of loss.

use super::bonding::is_bonded;
use super::cmts::QueueMaker;
use super::downstream_channel::{self, Pipeline};
use super::impairments::NoiseSource;
use super::outages::Outages;
use super::resequencer::{Carried, Resequencer, Segment, lose};
use super::spread::ready_s;
use crate::Site;
use sojourn_engine::aqm::DrainRate;
use sojourn_engine::count::Count;
use sojourn_engine::packet::Packet;
use sojourn_engine::queue::Queue;
use sojourn_engine::record::{ChannelUse, Recorder, SegmentUse};
use sojourn_engine::rng::Rng;
use sojourn_engine::units::{BitRate, Pace, Time};

/// How far groups on a channel and flows of a group may be apart, in bytes of weight 1: 64 full frames.
const MOST_APART: f64 = 64.0 * 1522.0;

/// A channel.
struct Member {
    name: String,
    pace: Pace,
    byte: Time,
    bytes_per_s: f64,
    /// How packets pass it, if it is OFDM, and what they take in addition.
    pipeline: Option<Pipeline>,
    extra: Time,
    noise: Option<NoiseSource>,
    outages: Outages,
    busy_until: Time,
    /// How long it has sent, packets, and those that were lost.
    busy: Time,
    sent: u64,
    lost: u64,
}

impl Member {
    /// When it is free.
    fn free(&self, now: Time) -> Time {
        self.outages.after(self.busy_until.max(now))
    }

    /// What a packet takes beside its transmission.
    fn latency(&self) -> Time {
        self.pipeline.map_or(Time::ZERO, |pipeline| pipeline.delivery()) + self.extra
    }
}

/// The packets of a group and a priority.
struct Line {
    class: usize,
    queue: Queue,
    drain_rate: DrainRate,
    /// The channels of the group, and what framing adds to each packet.
    channels: Vec<u8>,
    framing_bytes: u64,
    /// Bytes by weight of its flow that has had the most, and the same in the account of each channel.
    first: f64,
    had: Vec<f64>,
}

/// The queue managers, the channels, and the packets on them.
pub(crate) struct BondedCmts {
    members: Vec<Member>,
    lines: Vec<Line>,
    /// The lines of each class, the highest priority first, and what the one that each channel served last had.
    classes: Vec<Vec<usize>>,
    served: Vec<Vec<f64>>,
    /// The line of each service flow, by home and number.
    line_of: Vec<Vec<u16>>,
    /// The number of each home's first service flow, and the weights of all.
    first_flow: Vec<u32>,
    weights: Vec<f64>,
    /// Bytes by weight that each has had, where there are several groups.
    had: Vec<f64>,
    keeps_reserved_rates: bool,
    /// When a channel is free that a packet waits for.
    next_free: Time,
    resequencer: Resequencer,
    candidates: Vec<(Time, f64)>,
}

impl BondedCmts {
    /// Empty queues and channels.
    pub(crate) fn new(spec: &downstream_channel::Cmts, uncounted: u32, site: &Site) -> Self {
        let maker = QueueMaker::new(spec, site);
        let classes = maker.classes();
        let flows: usize = maker.weights.iter().map(Vec::len).sum();
        let mut members = Vec::new();
        for (name, own) in &spec.bonded {
            let channel = spec.bonded_channel(name);
            for number in 1..=channel.count() {
                let name = match channel.count() {
                    1 => name.clone(),
                    _ => format!("{name} {number}"),
                };
                let rate = BitRate::from_mbps(channel.rate_mbps());
                let purpose = format!("downstream channel {name} noise");
                let seed = Rng::named(site.seed, &purpose).below(u64::MAX);
                members.push(Member {
                    name,
                    pace: Pace::new(rate),
                    byte: rate.time_for(1),
                    bytes_per_s: rate.bps() as f64 / 8.0,
                    pipeline: channel.pipeline(),
                    extra: Time::from_secs_f64(own.extra_delay_ms / 1e3),
                    noise: NoiseSource::of_channel(&own.noise, seed),
                    outages: Outages::new(&own.outages),
                    busy_until: Time::ZERO,
                    busy: Time::ZERO,
                    sent: 0,
                    lost: 0,
                });
            }
        }
        let channels_of = |group: &[String]| -> Vec<u8> {
            let entries = spec.bonded.keys().flat_map(|name| {
                let count = spec.bonded_channel(name).count() as usize;
                std::iter::repeat_n(is_bonded(group, name), count)
            });
            (0..).zip(entries).filter(|(_, is_in)| *is_in).map(|(number, _)| number).collect()
        };
        let groups: Vec<Vec<u8>> =
            site.groups.iter().map(|group| channels_of(&group.downstream.bonding_group)).collect();
        let is_mixed = groups.iter().any(|group| *group != groups[0]);
        let mut all = Self {
            lines: Vec::new(),
            classes: vec![Vec::new(); classes],
            served: vec![vec![0.0; members.len()]; classes],
            line_of: Vec::new(),
            first_flow: Vec::new(),
            weights: maker.weights.iter().flatten().copied().collect(),
            had: vec![0.0; if is_mixed { flows } else { 0 }],
            keeps_reserved_rates: maker.keeps_reserved_rates(),
            next_free: Time::NEVER,
            resequencer: Resequencer::new(
                Time::from_secs_f64(spec.resequencing_ms() / 1e3),
                members.len(),
            ),
            candidates: Vec::new(),
            members,
        };
        all.resequencer.grow(flows);
        let of_homes = site
            .groups
            .iter()
            .zip(&groups)
            .flat_map(|(group, of)| std::iter::repeat_n(of, usize::from(group.count)));
        let mut first = 0;
        for (classes, channels) in maker.class_of.iter().zip(of_homes) {
            all.first_flow.push(first);
            first += classes.len() as u32;
            let lines = classes
                .iter()
                .map(|class| all.line(usize::from(*class), channels, is_mixed, &maker, uncounted));
            let lines = lines.collect();
            all.line_of.push(lines);
        }
        all
    }

    /// The number of the line of a class and a group, which there is from now on.
    fn line(
        &mut self,
        class: usize,
        channels: &[u8],
        is_mixed: bool,
        maker: &QueueMaker,
        uncounted: u32,
    ) -> u16 {
        let lines = &self.lines;
        let there = self.classes[class].iter().find(|line| lines[**line].channels == channels);
        if let Some(line) = there {
            return *line as u16;
        }
        let of = |number: &u8| &self.members[usize::from(*number)];
        let names: Vec<_> = channels.iter().map(|number| of(number).name.as_str()).collect();
        let group = if is_mixed { format!(" {}", names.join("+")) } else { String::new() };
        let bps: u64 = channels.iter().map(|number| of(number).pace.rate().bps()).sum();
        let rate = BitRate::from_bps(bps);
        let queue = maker.queue(class, &group, rate);
        let drain_rate = DrainRate::steady(rate, queue.buffer_bytes());
        let framing_bytes = maker.spec.framing_of(channels.len() as u32, uncounted);
        let channels = channels.to_vec();
        let had = vec![0.0; self.members.len()];
        self.lines.push(Line {
            class,
            queue,
            drain_rate,
            channels,
            framing_bytes,
            first: 0.0,
            had,
        });
        self.classes[class].push(self.lines.len() - 1);
        self.lines.len() as u16 - 1
    }

    /// Takes a packet, and sends what channels are free for.
    pub(crate) fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        let line = self.line_of[usize::from(packet.home)][usize::from(packet.service_flow)];
        let line = usize::from(line);
        if !self.had.is_empty() && self.lines[line].queue.backlog().packets == 0 {
            self.join(line);
        }
        let Line { queue, channels, drain_rate, .. } = &mut self.lines[line];
        let free = channels.iter().map(|number| self.members[usize::from(*number)].busy_until);
        queue.settle(free.min().unwrap_or(Time::NEVER), now, recorder);
        queue.enqueue(now, packet, drain_rate, recorder);
        self.serve(now, recorder);
    }

    /// When something is due.
    pub(crate) fn next_wake(&self) -> Time {
        let updates = self.lines.iter().map(|line| line.queue.next_update());
        let next = self.next_free.min(self.resequencer.next_wake());
        updates.fold(next, Time::min)
    }

    /// Does what is due. Returns a packet that its modem has in order, without the way over the cable.
    pub(crate) fn wake(&mut self, now: Time, recorder: &mut Recorder) -> Option<Packet> {
        for line in self.lines.iter_mut().filter(|line| line.queue.next_update() <= now) {
            line.queue.update(now, &line.drain_rate);
        }
        if self.next_free <= now {
            self.serve(now, recorder);
        }
        if self.resequencer.next_wake() <= now {
            return self.resequencer.wake(now, recorder);
        }
        None
    }

    /// Sends on all channels that are free.
    fn serve(&mut self, now: Time, recorder: &mut Recorder) {
        let mut place = 0;
        while place < self.members.len() {
            if self.members[place].free(now) > now {
                place += 1;
            } else if let Some((line, packet)) = self.take_next(now, place, recorder) {
                self.send(now, place, (line, packet), recorder);
                place = 0; // less waits now, and what one has refused may be for it
            } else {
                place += 1;
            }
        }
        let waiting = self.lines.iter().filter(|line| line.queue.backlog().packets > 0);
        let members = &self.members;
        let free = waiting.flat_map(|line| {
            line.channels.iter().map(|number| members[usize::from(*number)].free(now))
        });
        self.next_free = free.filter(|at| *at > now).min().unwrap_or(Time::NEVER);
    }

    /// Takes a packet for a free channel: first what is due under a reserved rate, then of the highest priority.
    fn take_next(
        &mut self,
        now: Time,
        place: usize,
        recorder: &mut Recorder,
    ) -> Option<(usize, Packet)> {
        if self.keeps_reserved_rates {
            for line in 0..self.lines.len() {
                let one = &mut self.lines[line];
                if one.channels.contains(&(place as u8))
                    && let Some(packet) = one.queue.dequeue_reserved(now, recorder)
                {
                    return Some((line, packet));
                }
            }
        }
        for class in 0..self.classes.len() {
            while let Some(line) = self.next_line(now, place, class) {
                let queue = &mut self.lines[line].queue;
                if let Some(packet) = queue.dequeue(now, recorder) {
                    return Some((line, packet));
                }
                if queue.backlog().packets > 0 {
                    break; // nothing of it may leave now
                }
            }
        }
        None
    }

    /// The line of a class that sends next on a free channel: of those that may the one that has had the least.
    fn next_line(&mut self, now: Time, place: usize, class: usize) -> Option<usize> {
        let mut next: Option<usize> = None;
        for index in 0..self.classes[class].len() {
            let line = self.classes[class][index];
            let had = |line: usize| self.lines[line].had[place];
            if next.is_none_or(|next| had(line) < had(next)) && self.takes(now, place, line) {
                next = Some(line);
            }
        }
        if let Some(line) = next {
            let served = &mut self.served[class][place];
            *served = served.max(self.lines[line].had[place]);
        }
        next
    }

    /// A line that had nothing to send begins no further behind than those that its channels serve.
    fn join(&mut self, line: usize) {
        let Line { class, had, .. } = &mut self.lines[line];
        let served = &self.served[*class];
        had.iter_mut().zip(served).for_each(|(had, served)| *had = had.max(*served));
    }

    /// A flow has sent so many bytes by its weight. If it is the first of its line, this counts on all channels.
    fn advance(&mut self, line: usize, flow: u32, bytes: f64) {
        let Some(own) = self.had.get_mut(flow as usize) else { return };
        let Line { class, first, had, .. } = &mut self.lines[line];
        *own = own.max(*first - MOST_APART) + bytes;
        let more = (*own - *first).max(0.0);
        *first += more;
        for (had, served) in had.iter_mut().zip(&self.served[*class]) {
            *had = (*had + more).clamp(served - MOST_APART, served + MOST_APART);
        }
    }

    /// Does a free channel take the next packet of a line? It does if the packet is there no later than all that waits would
    /// be over the other channels.
    fn takes(&mut self, now: Time, place: usize, line: usize) -> bool {
        let Self { lines, members, candidates, .. } = self;
        let Line { queue, channels, framing_bytes, .. } = &lines[line];
        let Count { packets, bytes } = queue.backlog();
        if packets == 0 || !channels.contains(&(place as u8)) {
            return false;
        }
        let each = bytes / packets + framing_bytes;
        let own = &members[place];
        let comes = own.latency() + own.byte.times(each);
        candidates.clear();
        let mut is_first = true;
        for number in channels.iter().filter(|number| usize::from(**number) != place) {
            let other = &members[usize::from(*number)];
            let free = other.free(now);
            let from = free + other.latency();
            is_first &= now + comes <= from + other.byte.times(each);
            candidates.push((from, other.bytes_per_s));
        }
        let all = bytes + packets * framing_bytes;
        is_first || (packets > 1 && comes.secs_f64() <= ready_s(all, now, candidates))
    }

    /// Sends a packet on a channel.
    fn send(
        &mut self,
        now: Time,
        place: usize,
        (line, packet): (usize, Packet),
        recorder: &mut Recorder,
    ) {
        let member = &mut self.members[place];
        let header = self.lines[line].framing_bytes;
        let takes = member.pace.time_for(u64::from(packet.size) + header);
        let sent_at = now + takes;
        (member.busy_until, member.busy) = (sent_at, member.busy + takes);
        let received = member.pipeline.map_or(sent_at, |pipeline| pipeline.received_at(sent_at));
        let arrives = received + member.extra;
        let is_out = !member.outages.is_empty() && member.outages.next(now) < sent_at;
        let is_hit = member.noise.as_mut().is_some_and(|of| of.hits(received, &packet, header));
        let is_lost = is_out || is_hit;
        member.sent += 1;
        member.lost += u64::from(is_lost);
        let flow = self.first_flow[usize::from(packet.home)] + u32::from(packet.service_flow);
        self.advance(line, flow, f64::from(packet.size) / self.weights[flow as usize]);
        if is_lost && self.lines[line].channels.len() == 1 {
            // Packets on one channel have no numbers, and the modem misses none.
            let carried = Carried { packet, began: 0, ended: 0, since: now, received, arrives };
            return lose(&carried, recorder);
        }
        let number = self.resequencer.next_number(flow);
        let (began, ended, channel) = (number, number, place as u8);
        let carried = Carried { packet, began, ended, since: now, received, arrives };
        if is_lost {
            lose(&carried, recorder);
        } else {
            self.resequencer.carry(flow, carried);
        }
        let arrives = if is_lost { Time::NEVER } else { arrives };
        self.resequencer.send(flow, Segment { arrives, is_damaged: false, channel });
    }

    /// Packets and bytes that wait, are on channels, or are with modems that wait for others before them.
    pub(crate) fn inside(&self) -> Count {
        let waiting = self.lines.iter().map(|line| line.queue.backlog());
        waiting.chain([self.resequencer.inside()]).sum()
    }

    /// The run ends: packets on the channels have spent their time until now.
    pub(crate) fn close(&self, now: Time, recorder: &mut Recorder) {
        self.resequencer.close(now, recorder);
    }

    pub(crate) fn queues(&self) -> Vec<&Queue> {
        self.lines.iter().map(|line| &line.queue).collect()
    }

    pub(crate) fn sample(&mut self) {
        self.lines.iter_mut().for_each(|line| line.queue.sample(|_| ()));
    }

    /// Counters of each channel up to `now`.
    pub(crate) fn used(&self, now: Time) -> Vec<ChannelUse> {
        let of = |(member, given_up): (&Member, &u64)| ChannelUse {
            name: format!("downstream {}", member.name),
            segments: Some(SegmentUse {
                sent: member.sent,
                lost: member.lost,
                given_up: *given_up,
            }),
            ranging: None,
            used: (member.busy.secs_f64(), now.secs_f64()),
            requests: None,
        };
        self.members.iter().zip(&self.resequencer.given_up).map(of).collect()
    }
}
