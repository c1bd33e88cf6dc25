//! The account of a run: every packet is entered when it is sent and struck off when it is delivered
//! or dropped, so that at the end what is missing must still be inside. What stages do to packets it
//! reads from their recorder. What packets spent their time on adds up to their time in the same way.

pub(super) mod account;
pub(super) mod connections;
mod ramp;

use account::{Account, Calls, Rates};
use connections::{ConnectionBook, Way};
use sojourn_engine::count::{Count, Tally};
use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::record::{PacketEvent, PacketEventKind};
use sojourn_engine::record::{PartSums, Recorder};
use sojourn_engine::units::Time;
use sojourn_logs::Load;
use sojourn_results::scores::frames::Frames;
use sojourn_results::scores::inputs::Inputs;
use sojourn_results::scores::nqb::Bound;

/// All accounts of a run.
///
/// Packets that are sent before the counting are entered as such and in no account, but for the series
/// and the state that those behind them find.
pub(super) struct Ledger {
    accounts: Vec<[Account; 2]>,
    connections: ConnectionBook,
    /// Where stages record what they do to packets.
    pub recorder: Recorder,
    /// Packets count that are sent from then on.
    from: Time,
    /// Packets sent before the counting that are under way.
    uncounted: Count,
}

impl Ledger {
    /// Empty accounts for a run whose stages have this recorder: the rates up and down of the homes of each
    /// traffic entry, from when on packets count, and of how many connections of each entry there is an account.
    pub(super) fn new(
        recorder: Recorder,
        rates: &[[Rates; 2]],
        from: Time,
        connections: u64,
    ) -> Self {
        Self {
            accounts: rates.iter().map(|rates| rates.map(Account::new)).collect(),
            connections: ConnectionBook::new(rates.len(), connections),
            recorder,
            from,
            uncounted: Count::default(),
        }
    }

    /// Counting begins. The connections in these slots, of these traffic entries, are open, and did so
    /// much twice.
    pub(super) fn begin(&mut self, open: impl Iterator<Item = (u32, u16, [Tally; 2])>) {
        for account in self.accounts.iter_mut().flatten() {
            account.tally_before = account.tally;
        }
        for (slot, traffic, tallies) in open {
            for (account, tally) in self.accounts[usize::from(traffic)].iter_mut().zip(tallies) {
                account.tally_before = account.tally_before.plus(tally);
            }
            self.connections.begin(slot, tallies);
        }
    }

    /// The service of traffic entries has other rates from now on, up and down.
    pub(super) fn aim(&mut self, rates: &[[Rates; 2]]) {
        for (accounts, rates) in self.accounts.iter_mut().zip(rates) {
            for (account, rates) in accounts.iter_mut().zip(rates) {
                account.to_sustained.aim(rates.sustained_mbps);
                account.to_peak.aim(rates.peak_mbps);
            }
        }
    }

    /// The calls of an entry, in `homes` homes from `first_home` on, are played by buffers that adapt.
    pub(super) fn play_calls(&mut self, traffic: usize, first_home: usize, homes: usize) {
        for account in &mut self.accounts[traffic] {
            account.calls = Calls::new(first_home, homes, self.from);
        }
    }

    /// The senders of an entry, in `homes` homes from `first_home` on, claim to build no queue.
    pub(super) fn bound_nqb(&mut self, traffic: usize, first_home: usize, homes: usize) {
        for account in &mut self.accounts[traffic] {
            account.nqb = Some(Box::new(Bound::new(first_home, homes)));
        }
    }

    /// The datagrams of an entry, in `homes` homes from `first_home` on, are parts of frames.
    pub(super) fn watch_frames(&mut self, traffic: usize, first_home: usize, homes: usize) {
        for account in &mut self.accounts[traffic] {
            account.frames = Some(Box::new(Frames::new(first_home, homes)));
        }
    }

    /// The datagrams of an entry upstream are inputs that its frames downstream show.
    pub(super) fn watch_inputs(&mut self, traffic: usize, first_home: usize, homes: usize) {
        let account = &mut self.accounts[traffic][Direction::Up as usize];
        account.inputs = Some(Box::new(Inputs::new(first_home, homes)));
    }

    /// A packet has come of an entry with frames: it may complete one, or be an input.
    #[cold]
    fn show(&mut self, now: Time, packet: &Packet, is_counted: bool) {
        let accounts = &mut self.accounts[usize::from(packet.traffic)];
        let frames = accounts[packet.direction as usize].frames.as_mut();
        let whole = frames.and_then(|frames| frames.arrive(now, packet));
        let Some(inputs) = &mut accounts[Direction::Up as usize].inputs else { return };
        match (packet.direction, whole) {
            (Direction::Down, Some(made_at)) => inputs.show(now, packet.home, made_at),
            (Direction::Up, _) if is_counted => inputs.arrive(now, packet),
            _ => {}
        }
    }

    #[inline]
    fn account_of(&mut self, packet: &Packet) -> &mut Account {
        &mut self.accounts[usize::from(packet.traffic)][packet.direction as usize]
    }

    /// A packet sets out.
    #[inline]
    pub(super) fn sent(&mut self, packet: &mut Packet) {
        if !self.recorder.events.is_empty() {
            self.post(); // here, so that there are never more of them than of packets
        }
        if let Some(trace) = self.recorder.trace() {
            trace.sent(packet);
        }
        if packet.sent_at < self.from {
            return self.sent_before(packet);
        }
        let account = self.account_of(packet);
        account.sent.add(packet);
        account.lived_ps = account.lived_ps.wrapping_sub(packet.sent_at.ps().into());
        account.first_sent.get_or_insert(packet.sent_at);
        if let Some(buffer) = account.calls.buffer(packet.home) {
            buffer.send(packet.sent_at);
        }
        if let Some(frames) = &mut account.frames {
            frames.send(packet);
        }
        if let Some(bound) = &mut account.nqb {
            bound.sent(packet);
        }
    }

    #[cold]
    fn sent_before(&mut self, packet: &Packet) {
        self.uncounted.add(packet);
        let account = self.account_of(packet);
        account.first_sent.get_or_insert(packet.sent_at);
        if let Some(frames) = &mut account.frames {
            frames.leave_out(packet);
        }
        if let Some(bound) = &mut account.nqb {
            bound.sent(packet);
        }
    }

    /// A packet has come to its endpoint.
    #[inline]
    pub(super) fn delivered(&mut self, now: Time, packet: &Packet) {
        let is_counted = packet.sent_at >= self.from;
        let account = self.account_of(packet);
        account.data_packets += u64::from(packet.carries_data());
        account.interval_bytes += u64::from(packet.size);
        if !is_counted {
            return self.delivered_before(now, packet);
        }
        let latency = now.since(packet.sent_at);
        if account.delivered.packets == 0 {
            account.first_latency = latency;
        }
        account.delivered.add(packet);
        account.lived_ps = account.lived_ps.wrapping_add(now.ps().into());
        account.latency.record(latency);
        account.calls.arrive(now, packet);
        if account.frames.is_some() {
            self.show(now, packet, true);
        }
        if let Some(way) = self.connections.way_of(packet) {
            way.delivered(packet);
        }
        self.recorder.delivered(now, packet);
    }

    #[cold]
    fn delivered_before(&mut self, now: Time, packet: &Packet) {
        self.uncounted = self.uncounted.without(packet.size.into());
        let account = self.account_of(packet);
        account.calls.arrive(now, packet);
        if account.frames.is_some() {
            self.show(now, packet, false);
        }
        if let Some(way) = self.connections.way_of(packet) {
            way.show(packet);
        }
        self.recorder.delivered(now, packet);
    }

    /// Reads what stages have recorded into the accounts.
    #[inline(never)]
    pub(super) fn post(&mut self) {
        for event in self.recorder.events.drain(..) {
            if event.sent_at < self.from {
                if let PacketEventKind::Dropped(_) = event.kind {
                    self.uncounted = self.uncounted.without(event.size.into());
                }
                continue;
            }
            let PacketEvent { traffic, flow, generation, direction, .. } = event;
            self.accounts[usize::from(traffic)][direction as usize].post(&event);
            if let Some(way) = self.connections.way(flow, generation, direction) {
                way.post(event.kind);
            }
        }
    }

    /// With this packet so many bytes of payload reach the application in order.
    #[inline]
    pub(super) fn received(&mut self, packet: &Packet, bytes: u64) {
        if packet.sent_at < self.from {
            return self.received_before(packet, bytes);
        }
        self.account_of(packet).goodput_bytes += bytes;
        if let Some(way) = self.connections.way_of(packet) {
            way.payload_bytes += bytes;
        }
    }

    #[cold]
    fn received_before(&mut self, packet: &Packet, bytes: u64) {
        if let Some(way) = self.connections.way_of(packet) {
            way.receive_before(bytes);
        }
    }

    /// A sender measured a round-trip time with this acknowledgement, or answer, of its data.
    #[inline]
    pub(super) fn round_trip(&mut self, now: Time, acknowledgement: &Packet, rtt: Time) {
        let is_counted = now >= self.from + rtt;
        let (account, way) = self.answered(acknowledgement);
        if !is_counted {
            return account.round_trips.leave_out(rtt);
        }
        account.round_trips.record(rtt);
        if let Some(way) = way {
            way.round_trip(rtt);
        }
    }

    /// An end of an entry that sends datagrams both ways measured a round-trip time. This went in bulk when it began.
    pub(super) fn probed(&mut self, now: Time, answer: &Packet, rtt: Time, load: Option<Load>) {
        self.round_trip(now, answer, rtt);
        if let Some(load) = load.filter(|_| now >= self.from + rtt) {
            self.answered(answer).0.by_load[load as usize].record(rtt);
        }
    }

    /// A sender got this acknowledgement of new data, which echoes a segment sent so long ago.
    #[inline]
    pub(super) fn echo(&mut self, now: Time, acknowledgement: &Packet, age: Time) {
        if now < self.from + age {
            return;
        }
        let (account, way) = self.answered(acknowledgement);
        account.echoes.add(age);
        if let Some(way) = way {
            way.echo(age);
        }
    }

    /// The accounts of the data that an acknowledgement answers: its entry's, and its connection's if
    /// that is kept.
    #[inline]
    fn answered(&mut self, acknowledgement: &Packet) -> (&mut Account, Option<&mut Way>) {
        let Packet { traffic, flow, generation, direction, .. } = *acknowledgement;
        let data = direction.reversed();
        let account = &mut self.accounts[usize::from(traffic)][data as usize];
        (account, self.connections.way(flow, generation, data))
    }

    /// A connection is opened in a slot of the connection table, by a home of this number within its
    /// group.
    pub(super) fn opened(
        &mut self,
        now: Time,
        slot: u32,
        generation: u16,
        traffic: u16,
        home: u16,
    ) {
        self.connections.opened(now, slot, generation, traffic, home);
        if let Some(trace) = self.recorder.trace() {
            trace.opened(slot, self.connections.opened_by(traffic.into()));
        }
    }

    /// What the connection in a slot did twice, up and down; once for each connection, when it is
    /// closed or, without an `end`, when the run is over.
    pub(super) fn settle(
        &mut self,
        slot: u32,
        traffic: u16,
        tallies: [Tally; 2],
        end: Option<Time>,
    ) {
        for (account, tally) in self.accounts[usize::from(traffic)].iter_mut().zip(tallies) {
            account.tally = account.tally.plus(tally);
        }
        self.connections.settle(slot, tallies, end);
    }

    /// Ends a sampling interval of this length.
    pub(super) fn sample(&mut self, now: Time, interval: Time) {
        self.accounts.iter_mut().flatten().for_each(|account| account.sample(now, interval));
        self.connections.sample(interval);
    }

    /// The accounts of single connections.
    pub(super) fn connections(&self) -> &ConnectionBook {
        &self.connections
    }

    /// As [`Self::connections`], to be changed.
    pub(super) fn connections_mut(&mut self) -> &mut ConnectionBook {
        &mut self.connections
    }

    /// The account of a traffic entry in a direction.
    pub(super) fn account(&self, traffic: usize, direction: Direction) -> &Account {
        &self.accounts[traffic][direction as usize]
    }

    /// Packets delivered that carried payload, of all accounts.
    pub(super) fn data_packets(&self) -> u64 {
        self.accounts.iter().flatten().map(|account| account.data_packets).sum()
    }

    /// Brings the accounts up to date and checks conservation: what is entered as still under way must be
    /// what the stages hold, and what packets spent their time on until now must be all their time.
    ///
    /// # Panics
    /// If a packet or a moment was lost or doubled: the run's results would be worth nothing.
    pub(super) fn close(&mut self, now: Time, inside: Count) {
        self.post();
        self.recorder.delays.close(now);
        let outstanding = self
            .accounts
            .iter()
            .flatten()
            .fold(Count::default(), |sum, account| sum.plus(account.outstanding()));
        let outstanding = outstanding.plus(self.uncounted);
        let inside = inside.plus(self.recorder.lost_after_end());
        assert_eq!(outstanding, inside, "packets sent = delivered + dropped + inside is violated");
        for (traffic, accounts) in self.accounts.iter().enumerate() {
            for (direction, account) in Direction::BOTH.into_iter().zip(accounts) {
                let sums = self.recorder.delays.sums(traffic, direction);
                let under_way = account.outstanding().packets - sums.lost_after_end;
                let ages_ps = u128::from(under_way) * u128::from(now.ps()) + sums.lost_after_end_ps;
                let lived_ps = account.lived_ps.wrapping_add(ages_ps);
                assert_eq!(
                    sums.total_ps(),
                    lived_ps,
                    "parts of the time of packets = all their time is violated: entry {traffic} {}, {sums:?}",
                    direction.name()
                );
            }
        }
    }

    /// What the packets of a traffic entry spent their time on in a direction.
    pub(super) fn delays(&self, traffic: usize, direction: Direction) -> &PartSums {
        self.recorder.delays.sums(traffic, direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_engine::packet::DropReason;
    use sojourn_engine::record::{DelayBook, Part, ServiceFlowBook};

    const RATES: [Rates; 2] = [Rates { sustained_mbps: 1.0, peak_mbps: 1.0 }; 2];

    fn packet(flow: u32, generation: u16) -> Packet {
        Packet { flow, generation, ..Packet::datagram(1000) }
    }

    #[test]
    fn marks_are_on_the_account_of_the_entry_and_of_its_connection() {
        let mut ledger = Ledger::new(Recorder::default(), &[RATES], Time::ZERO, 1);
        ledger.opened(Time::ZERO, 0, 0, 0, 1);
        // The second connection is beyond the one that has an account; slot 0 with generation 1 is
        // one that has closed.
        ledger.opened(Time::ZERO, 1, 0, 0, 1);
        for (flow, generation) in
            [(0, 0), (0, 0), (1, 0), (0, 1), (sojourn_engine::packet::DATAGRAM, 0)]
        {
            ledger.recorder.marked(Time::ZERO, &packet(flow, generation));
        }
        ledger.post();
        assert_eq!(ledger.account(0, Direction::Up).marked_packets, 5);
        assert_eq!(ledger.account(0, Direction::Down).marked_packets, 0);
        let [account] = ledger.connections().accounts() else { panic!("one account is kept") };
        assert_eq!(account.ways[Direction::Up as usize].marked_packets, 2);
        assert_eq!(ledger.connections().opened_by(0), 2);
    }

    #[test]
    fn packets_sent_before_the_counting_are_conserved_and_in_no_account() {
        let at = |ms| Packet {
            sent_at: Time::from_ms(ms),
            ..packet(sojourn_engine::packet::DATAGRAM, 0)
        };
        let sent = || {
            let delays = DelayBook::new(Time::from_ms(10), 1, false);
            let recorder = Recorder::new(ServiceFlowBook::lone(), delays, None, Time::NEVER);
            let mut ledger = Ledger::new(recorder, &[RATES], Time::from_ms(10), 0);
            let mut packets = [8, 9, 9, 10, 11, 12].map(at);
            for packet in &mut packets {
                ledger.sent(packet);
                ledger.recorder.delays.enters(packet.sent_at, packet, Part::ModemQueue);
            }
            (ledger, packets)
        };
        let (mut ledger, packets) = sent();
        ledger.close(Time::from_ms(12), packets.iter().map(Count::of).sum());
        assert_eq!(ledger.delays(0, Direction::Up).total_ps(), 3_000_000_000);
        let (mut ledger, packets) = sent();
        let [early, lost_early, _, counted, lost, _] = packets;
        for packet in [&early, &counted] {
            ledger.recorder.marked(Time::from_ms(12), packet);
            ledger.recorder.delays.leaves(Time::from_ms(20), packet, Part::ModemQueue);
            ledger.delivered(Time::from_ms(20), packet);
            ledger.received(packet, 500);
            // Of the acknowledgements that come up now, those of data that went down at 10 ms or later.
            ledger.round_trip(Time::from_ms(20), packet, Time::from_ms(20).since(packet.sent_at));
            ledger.echo(Time::from_ms(20), packet, Time::from_ms(20).since(packet.sent_at));
        }
        ledger.recorder.dropped(Time::from_ms(20), lost_early, DropReason::Aqm);
        ledger.recorder.dropped(Time::from_ms(20), lost, DropReason::Aqm);
        // Two of 1000 bytes are under way.
        ledger.close(Time::from_ms(20), Count { packets: 2, bytes: 2000 });
        // 10 of the one that was delivered, 9 of the one that was dropped, and 8 of the one under way.
        assert_eq!(ledger.delays(0, Direction::Up).total_ps(), 27_000_000_000);
        let (up, down) = (ledger.account(0, Direction::Up), ledger.account(0, Direction::Down));
        assert_eq!((up.sent.packets, up.delivered.packets, up.lost_packets()), (3, 1, 1));
        assert_eq!((up.marked_packets, up.goodput_bytes, up.latency.count()), (1, 500, 1));
        assert_eq!((up.first_sent, down.echoes.ms()), (Some(Time::from_ms(8)), Some(10.0)));
        assert_eq!(down.round_trips.latency().count(), 1);
    }

    #[test]
    fn what_was_done_twice_before_the_counting_is_left_out() {
        let mut ledger = Ledger::new(Recorder::default(), &[RATES], Time::ZERO, 2);
        let twice = |retransmissions| [Tally { retransmissions, timeouts: 0 }, Tally::default()];
        ledger.opened(Time::ZERO, 0, 0, 0, 1);
        ledger.settle(0, 0, twice(5), Some(Time::from_ms(1)));
        ledger.opened(Time::ZERO, 0, 1, 0, 1);
        // The open one did two things twice before and one after.
        ledger.begin([(0, 0, twice(2))].into_iter());
        ledger.settle(0, 0, twice(3), None);
        assert_eq!(ledger.account(0, Direction::Up).tally().retransmissions, 1);
        let [_, open] = ledger.connections().accounts() else { panic!("two accounts are kept") };
        assert_eq!(open.ways[0].tally().retransmissions, 1);
    }

    #[test]
    fn late_packets_are_on_the_account_of_a_connection_that_has_left_its_slot() {
        let mut ledger = Ledger::new(Recorder::default(), &[RATES], Time::ZERO, 2);
        for generation in [0, 1, 2] {
            ledger.opened(Time::ZERO, 0, generation, 0, 1);
        }
        for (generation, packets) in [(0, 3), (1, 2), (2, 1)] {
            (0..packets).for_each(|_| ledger.delivered(Time::ZERO, &packet(0, generation)));
        }
        let accounts = ledger.connections().accounts().iter();
        let delivered = accounts.map(|of| of.ways[Direction::Up as usize].delivered.packets);
        assert_eq!(delivered.collect::<Vec<_>>(), [3, 2]);
        assert_eq!(ledger.account(0, Direction::Up).delivered.packets, 6);
    }
}
