//! What a run shows of itself while it goes on.

use super::Simulation;
use sojourn_engine::count::Count;
use sojourn_engine::packet::{Direction, DropReason};
use sojourn_engine::record::{Gauges, Latency, PacketEventKind, QueueCounts};
use sojourn_engine::units::Time;
use sojourn_results::scores::qoe;
use sojourn_results::scores::voice_model::r_value;
use sojourn_scenario::apps::{Done, End, OwnScore, Quality};

/// What happened since the last observation, or since the start. Packets count that were sent from `metrics.from_s` on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// Now.
    pub at: Time,
    /// The time since the last observation.
    pub span: Time,
    /// The measured queues, in the order of results.
    pub queues: Vec<QueueObservation>,
    /// Hops from outside that stand in the place of a queue.
    pub hops: Vec<HopObservation>,
    /// Each traffic entry, up and down.
    pub traffic: Vec<TrafficObservation>,
    /// The open connections among those that `metrics.connections` records, each in the direction of its payload.
    pub connections: Vec<ConnectionObservation>,
}

/// What a queue did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueueObservation {
    /// Its name in results.
    pub name: String,
    /// Where its packets go.
    pub direction: Direction,
    /// What waits in it now.
    pub backlog: Count,
    /// Packets that left it.
    pub departed_packets: u64,
    /// The mean of their sojourn times.
    pub sojourn: Option<Time>,
    /// Packets that it dropped and marked.
    pub counts: QueueCounts,
    /// The state of its scheduler and law now.
    pub gauges: Vec<GaugeObservation>,
}

/// A hop from outside now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HopObservation {
    /// Its name in results.
    pub name: String,
    /// Where its packets go.
    pub direction: Direction,
    /// What waits in it.
    pub backlog: Count,
    /// Its state.
    pub gauges: Vec<GaugeObservation>,
}

/// A value that a part shows, as a series of results has it over time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GaugeObservation {
    /// The name of the series.
    pub metric: &'static str,
    /// Its unit; empty for none.
    pub unit: &'static str,
    /// The value now, if there is one.
    pub value: Option<f64>,
}

/// All that `show` shows.
fn gauges(show: impl FnOnce(&mut Gauges)) -> Vec<GaugeObservation> {
    let mut shown = Gauges::default();
    show(&mut shown);
    let observed = shown.iter().map(|(metric, unit, value)| GaugeObservation {
        metric,
        unit,
        value: Some(value).filter(|value| !value.is_nan()),
    });
    observed.collect()
}

/// What happened to the packets of a traffic entry in a direction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TrafficObservation {
    /// Its name in the scenario.
    pub traffic: String,
    /// Where its packets went.
    pub direction: Direction,
    /// Sent by its endpoints.
    pub sent: Count,
    /// Delivered to them.
    pub delivered: Count,
    /// Packets that were lost.
    pub lost_packets: u64,
    /// The mean of the one-way delays of what was delivered.
    pub delay: Option<Time>,
    /// The mean of the round-trip times that its senders measured.
    pub round_trip: Option<Time>,
    /// Of a voice call: the mean opinion score of this delay and loss, as `network_mos` of results.
    pub network_mos: Option<f64>,
    /// The score by a scale of its own, if its model has one, as `own_score` of results.
    pub own_score: Option<OwnScore>,
    /// What its model in the first home shows now.
    pub gauges: Vec<GaugeObservation>,
}

/// The sender of a connection now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConnectionObservation {
    /// The name of its traffic entry.
    pub traffic: String,
    /// Its number in that entry, from 1, as in the table `connections`.
    pub number: u64,
    /// Where its payload goes.
    pub direction: Direction,
    /// Congestion window in bytes.
    pub window_bytes: f64,
    /// Pacing rate in bytes per second, if its congestion control sets one.
    pub pacing_bytes_per_s: Option<u64>,
    /// Smoothed round-trip time, once one has been measured.
    pub smoothed_rtt: Option<Time>,
    /// What its congestion control shows.
    pub gauges: Vec<GaugeObservation>,
}

/// What counters read at the last observation.
#[derive(Default)]
pub(super) struct Observed {
    at: Time,
    queues: Vec<(Sum, QueueCounts)>,
    traffic: Vec<TrafficSums>,
}

#[derive(Clone, Copy, Default)]
struct TrafficSums {
    sent: Count,
    delivered: Count,
    lost_packets: u64,
    delay: Sum,
    round_trip: Sum,
}

/// How many times, and their sum.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    ps: u128,
}

impl Sum {
    fn of(latency: &Latency) -> Self {
        Self { count: latency.count(), ps: latency.sum_ps() }
    }

    /// How many there were since, and their mean. Counting may have begun since, from nothing.
    fn since(self, earlier: Self) -> (u64, Option<Time>) {
        let count = self.count.saturating_sub(earlier.count);
        let ps = self.ps.saturating_sub(earlier.ps);
        (count, (count > 0).then(|| Time::from_ps((ps / u128::from(count)) as u64)))
    }
}

impl Simulation {
    /// What happened since the last observation, and what waits now. To look changes nothing else.
    pub fn observe(&mut self) -> Observation {
        let mut observed = std::mem::take(&mut self.observed);
        let span = self.now.since(observed.at);
        observed.at = self.now;
        let queues = self.observe_queues(&mut observed.queues);
        let traffic = self.observe_traffic(&mut observed.traffic);
        self.observed = observed;
        let connections = self.observe_connections();
        Observation { at: self.now, span, queues, hops: self.observe_hops(), traffic, connections }
    }

    fn observe_hops(&self) -> Vec<HopObservation> {
        let ways = Direction::BOTH.into_iter().zip(&self.hops);
        let all = ways.flat_map(|(way, hops)| hops.all().map(move |placed| (way, placed)));
        let observed = all.filter_map(|(direction, placed)| {
            let own = placed.hop.own()?;
            let (name, backlog) = (own.name().to_owned(), own.inside());
            Some(HopObservation { name, direction, backlog, gauges: gauges(|out| own.gauges(out)) })
        });
        observed.collect()
    }

    fn observe_queues(&self, before: &mut Vec<(Sum, QueueCounts)>) -> Vec<QueueObservation> {
        let queues = self.queues();
        before.resize_with(queues.len(), Default::default);
        let measured = queues.into_iter().zip(before).filter_map(|(placed, before)| {
            let (queue, meter) = (placed.queue, placed.queue.meter()?);
            let now = (Sum::of(meter.sojourn()), queue.counts().counted);
            let (earlier, counts) = std::mem::replace(before, now);
            let (departed_packets, sojourn) = now.0.since(earlier);
            Some(QueueObservation {
                name: meter.name().to_owned(),
                direction: placed.direction,
                backlog: queue.backlog(),
                departed_packets,
                sojourn,
                counts: now.1.since(counts),
                gauges: gauges(|out| queue.gauges(out)),
            })
        });
        measured.collect()
    }

    fn observe_traffic(&self, before: &mut Vec<TrafficSums>) -> Vec<TrafficObservation> {
        let lost = self.lost_since_posting();
        before.resize_with(2 * self.scenario.traffic.len(), Default::default);
        let entries = (0..).zip(self.scenario.traffic.keys());
        let models = entries.map(|(number, name)| ((number, name), self.observe_model(number)));
        let ways = models.flat_map(|(entry, model)| {
            Direction::BOTH.map(|direction| ((entry, model.clone()), direction))
        });
        let all = ways.zip(before).zip(lost).map(
            |(((((number, name), (own_score, gauges)), direction), before), lost)| {
                let now = self.sums_of(number, direction, lost);
                let earlier = std::mem::replace(before, now);
                let (_, delay) = now.delay.since(earlier.delay);
                let (_, round_trip) = now.round_trip.since(earlier.round_trip);
                let delivered = now.delivered.minus(earlier.delivered);
                let lost_packets = now.lost_packets - earlier.lost_packets;
                TrafficObservation {
                    traffic: name.clone(),
                    direction,
                    sent: now.sent.minus(earlier.sent),
                    delivered,
                    lost_packets,
                    delay,
                    round_trip,
                    network_mos: self.network_mos(number, delay, lost_packets, delivered.packets),
                    own_score,
                    gauges,
                }
            },
        );
        all.collect()
    }

    /// The score of the traffic model of an entry, and what it shows.
    fn observe_model(&self, traffic: usize) -> (Option<OwnScore>, Vec<GaugeObservation>) {
        let first = self.app_series[traffic].0 as usize;
        let shown = gauges(|out| self.instances[first].gauges(out));
        let has_own = self.scenario.traffic[traffic].app.parameters().quality() == Quality::Own;
        let mut homes = self.instances[first..].iter();
        let of_entry = homes.by_ref().take_while(|of| usize::from(of.owner.traffic) == traffic);
        let done = of_entry.filter(|_| has_own).map(|of| of.done(self.now));
        (done.reduce(Done::and).and_then(|done| done.own), shown)
    }

    fn sums_of(&self, traffic: usize, direction: Direction, lost: u64) -> TrafficSums {
        let account = self.ledger.account(traffic, direction);
        TrafficSums {
            sent: account.sent,
            delivered: account.delivered,
            lost_packets: account.lost_packets() + lost,
            delay: Sum::of(&account.latency),
            round_trip: Sum::of(account.round_trips.latency()),
        }
    }

    /// Losses that the accounts do not have yet, by traffic entry, up and down.
    fn lost_since_posting(&self) -> Vec<u64> {
        let mut lost = vec![0; 2 * self.scenario.traffic.len()];
        let from = Time::from_secs_f64(self.scenario.metrics.from_s);
        for event in self.ledger.recorder.events.iter().filter(|event| event.sent_at >= from) {
            let is_lost = matches!(event.kind,
                PacketEventKind::Dropped(reason) if reason != DropReason::Superseded);
            lost[2 * usize::from(event.traffic) + event.direction as usize] += u64::from(is_lost);
        }
        lost
    }

    fn network_mos(
        &self,
        traffic: usize,
        delay: Option<Time>,
        lost: u64,
        heard: u64,
    ) -> Option<f64> {
        let quality = self.scenario.traffic[traffic].app.parameters().quality();
        let delay_ms = delay.filter(|_| quality == Quality::Voice)?.ms_f64();
        let loss = lost as f64 / (lost + heard) as f64;
        Some(qoe::mos(r_value(self.scenario.metrics.voice_model, delay_ms, loss)))
    }

    fn observe_connections(&self) -> Vec<ConnectionObservation> {
        let open = self.connections.open_ones().flat_map(|(slot, connection)| {
            let account = self.ledger.connections().account_of(slot);
            account.into_iter().flat_map(move |account| {
                let senders = [End::Home, End::Server].into_iter().zip(&account.ways);
                let senders = senders.filter(|(_, way)| way.carried_payload());
                senders.map(move |(end, _)| (account, connection, end))
            })
        });
        let observed = open.map(|(account, connection, end)| {
            let traffic = usize::from(account.traffic);
            let config = &self.configs[usize::from(connection.config)];
            let sender = connection.ends.sender(end as usize, config);
            ConnectionObservation {
                traffic: self
                    .scenario
                    .traffic
                    .get_index(traffic)
                    .map_or_else(String::new, |of| of.0.clone()),
                number: account.number,
                direction: end.outward(),
                window_bytes: sender.window_bytes,
                pacing_bytes_per_s: sender.pacing_bytes_per_s,
                smoothed_rtt: sender.smoothed_rtt,
                gauges: gauges(|out| connection.ends.show(end as usize, false, config, out)),
            }
        });
        observed.collect()
    }
}
