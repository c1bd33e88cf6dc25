//! Ends that send datagrams to each other and measure round-trip times with them, as RTCP does
//! (RFC 3550 §6.4.1): a datagram echoes when the last one received was sent, less the time since it came.

use sojourn_engine::packet::{Direction, Packet};
use sojourn_engine::units::Time;
use sojourn_scenario::Scenario;
use sojourn_scenario::apps::Answer;

/// The last datagram that an end has received.
#[derive(Clone, Copy, Default)]
struct Heard {
    sent_at: Time,
    at: Time,
}

impl Heard {
    /// What a datagram echoes that leaves now; zero if nothing has been heard.
    fn echo(self, now: Time) -> Time {
        if self.at == Time::ZERO { Time::ZERO } else { self.sent_at + now.since(self.at) }
    }
}

/// The ends of an entry whose ends send to each other.
struct Conversation {
    /// None where they are only heard of.
    answer: Option<Answer>,
    /// Does the app hear of datagrams that arrive?
    is_heard: bool,
    /// Number of its first app, and of the home in which that runs.
    first_app: u32,
    first_home: u16,
    /// What was heard last of the datagrams in each direction, for each home.
    heard: Vec<[Heard; 2]>,
}

/// What a datagram that has arrived leads to.
pub(super) struct Reaction {
    /// The round-trip time that it completes.
    pub round_trip: Option<Time>,
    /// How long the other end held what it echoes.
    pub held: Time,
    /// The app that answers it at once.
    pub answered_by: Option<u32>,
    /// The app that hears of it.
    pub heard_by: Option<u32>,
}

/// All of a run, by traffic entry.
pub(super) struct Conversations(Vec<Option<Box<Conversation>>>);

impl Conversations {
    /// Nothing has been said. `first_apps` are the first instances of each entry.
    pub(super) fn new(scenario: &Scenario, first_apps: &[u32]) -> Self {
        let conversation = |(entry, &first_app): (&sojourn_scenario::traffic::Entry, &u32)| {
            let app = entry.app.parameters();
            let (answer, is_heard) = (app.answer(), app.hears_datagrams());
            if answer.is_none() && !is_heard {
                return None;
            }
            let homes = scenario.group(scenario.group_of(entry)).count;
            let heard = vec![[Heard::default(); 2]; homes.into()];
            let first_home = scenario.first_home_of(entry) as u16;
            Some(Box::new(Conversation { answer, is_heard, first_app, first_home, heard }))
        };
        Self(scenario.traffic.values().zip(first_apps).map(conversation).collect())
    }

    /// What a datagram echoes that leaves now.
    #[inline]
    pub(super) fn echo(&self, now: Time, traffic: u16, home: u16, direction: Direction) -> Time {
        self.0[usize::from(traffic)].as_ref().map_or(Time::ZERO, |conversation| {
            match conversation.answer {
                None => return Time::ZERO,
                // The next ping answers nothing.
                Some(Answer::EachPacket) if direction == Direction::Up => return Time::ZERO,
                Some(_) => {}
            }
            let home = usize::from(home - conversation.first_home);
            conversation.heard[home][direction.reversed() as usize].echo(now)
        })
    }

    /// A datagram has arrived.
    #[inline]
    pub(super) fn hear(&mut self, now: Time, packet: &Packet) -> Option<Reaction> {
        let conversation = self.0[usize::from(packet.traffic)].as_mut()?;
        let home = packet.home - conversation.first_home;
        let heard = &mut conversation.heard[usize::from(home)];
        heard[packet.direction as usize] = Heard { sent_at: packet.sent_at, at: now };
        let echoed_at = heard[packet.direction.reversed() as usize].at;
        let echo = packet.segment.echo;
        let answers =
            conversation.answer == Some(Answer::EachPacket) && packet.direction == Direction::Up;
        let app = conversation.first_app + u32::from(home);
        Some(Reaction {
            round_trip: (echo > Time::ZERO).then(|| now.since(echo)),
            held: packet.sent_at.since(echoed_at),
            answered_by: answers.then_some(app),
            heard_by: conversation.is_heard.then_some(app),
        })
    }
}
