//! Many streams on one connection: HTTP/2 over TCP (RFC 9113), HTTP/3 over QUIC (RFC 9114).
//!
//! Each end writes messages, one to a stream. What it sends is cut into frames, and which message has the next frame is
//! decided when the connection has little left to send (RFC 9218 §10): the lowest urgency first; of equal urgency those
//! that are not incremental one after the other, then the incremental ones in turn.
//!
//! A frame has come when all of its bytes have. TCP gives bytes in order, so a lost packet holds up all that was sent
//! behind it. QUIC gives them as they come, so it holds up the messages alone whose bytes it had.
//!
//! Left out: flow control of streams (a browser's windows have megabytes), the compression of headers, and changes of
//! priority.

use std::collections::VecDeque;

use super::config::{Config, Transport};
use sojourn_engine::packet::Segment;
use sojourn_engine::units::Time;

/// RFC 9113 §6.5.2: the payload of a frame unless the receiver allows more.
const LARGEST_FRAME: u64 = 16_384;
/// RFC 9113 §4.1: the header of a frame; RFC 8446 §5.2, §5.4: a TLS record's header, content type and tag (AES-GCM).
const HTTP2_FRAMING: u64 = 9 + 5 + 1 + 16;
/// RFC 9114 §7.1: type and length of a frame. The packet's own overhead, with the STREAM frame, is QUIC's.
const HTTP3_FRAMING: u64 = 1 + 2;

/// A message of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The stream, which has one message in each direction.
    pub stream: u32,
    /// Its bytes.
    pub bytes: u64,
    /// RFC 9218 §4.1: from 0, the most urgent, to 7.
    pub urgency: u8,
    /// RFC 9218 §4.2: is a part of it of use?
    pub incremental: bool,
}

/// A frame that was written: where it lies in what the connection carries in its direction.
#[derive(Clone, Copy, Debug)]
struct Frame {
    start: u64,
    end: u64,
    stream: u32,
    payload: u64,
    has_come: bool,
}

/// What one end sends the other.
#[derive(Default)]
struct Way {
    /// Messages with bytes to be written, in the order in which they came or were last served.
    waiting: Vec<Message>,
    written: u64,
    /// Frames that have not come, and those behind them.
    frames: VecDeque<Frame>,
    /// Bytes of each message that have not come.
    missing: Vec<(u32, u64)>,
    /// Messages that have come, for the application.
    come: VecDeque<u32>,
}

impl Way {
    fn write(&mut self, message: Message) {
        let message = Message { bytes: message.bytes.max(1), ..message };
        self.missing.push((message.stream, message.bytes));
        self.waiting.push(message);
    }

    /// The message that has the next frame.
    fn most_urgent(&self) -> Option<usize> {
        let rank = |of: &Message| (of.urgency, of.incremental);
        (0..self.waiting.len()).min_by_key(|number| rank(&self.waiting[*number]))
    }

    /// Writes the next frame, of `most` bytes of payload: gives its bytes.
    fn next_frame(&mut self, most: u64, framing: u64) -> Option<u64> {
        let number = self.most_urgent()?;
        let message = &mut self.waiting[number];
        let payload = message.bytes.min(most);
        message.bytes -= payload;
        let (stream, start, end) = (message.stream, self.written, self.written + payload + framing);
        if message.bytes == 0 {
            self.waiting.remove(number);
        } else if message.incremental {
            self.waiting[number..].rotate_left(1); // behind the others
        }
        self.frames.push_back(Frame { start, end, stream, payload, has_come: false });
        self.written = end;
        Some(end - start)
    }

    /// Bytes have come from `start` to `end`; `has` says of any range whether all of it was received.
    fn arrive(&mut self, (start, end): (u64, u64), has: impl Fn(u64, u64) -> bool) -> bool {
        let before = self.come.len();
        let Self { frames, missing, come, .. } = self;
        let mut settle = |frame: &mut Frame| {
            if !frame.has_come && has(frame.start, frame.end) {
                frame.has_come = true;
                let place = missing.iter().position(|(stream, _)| *stream == frame.stream);
                let place = place.expect("a frame is of a message");
                missing[place].1 -= frame.payload;
                if missing[place].1 == 0 {
                    missing.remove(place);
                    come.push_back(frame.stream);
                }
            }
            frame.has_come
        };
        // What fills a hole lets go all that TCP held behind it.
        while frames.front_mut().is_some_and(&mut settle) {
            frames.pop_front();
        }
        let first = frames.partition_point(|frame| frame.end <= start);
        for frame in frames.iter_mut().skip(first).take_while(|frame| frame.start < end) {
            settle(frame);
        }
        come.len() > before
    }
}

/// The streams of a connection.
#[derive(Default)]
pub(crate) struct Streams {
    /// By the end that sends.
    ways: [Way; 2],
    /// At most what an end sends in this time waits unsent; none where a frame may.
    replenish: Option<Time>,
}

impl Streams {
    /// Those of a connection whose ends hold no more unsent than they send in this time.
    pub(crate) fn new(replenish: Option<Time>) -> Self {
        Self { replenish, ..Self::default() }
    }

    /// What an end may hold unsent that sends so many bytes in a second, if that is limited.
    pub(crate) fn most_unsent(&self, bytes_per_s: impl FnOnce() -> f64) -> Option<u64> {
        self.replenish.map(|time| (bytes_per_s() * time.secs_f64()) as u64)
    }

    /// An end has a message to send.
    pub(crate) fn write(&mut self, end: usize, message: Message) {
        self.ways[end].write(message);
    }

    /// The stream of the next message that has come to an end.
    pub(crate) fn next_message(&mut self, end: usize) -> Option<u32> {
        self.ways[1 - end].come.pop_front()
    }

    /// Has an end nothing to write?
    pub(crate) fn has_written_all(&self, end: usize) -> bool {
        self.ways[end].waiting.is_empty()
    }

    /// Writes the next frame of an end if the connection has less to send than one, or than `most_unsent` beside it: gives
    /// its bytes. Within that there is room for two frames, but with its framing none is smaller than a packet.
    pub(crate) fn next_frame(
        &mut self,
        end: usize,
        (unsent, most_unsent): (u64, Option<u64>),
        config: &Config,
    ) -> Option<u64> {
        let (largest, framing) = match config.transport {
            Transport::Tcp => (LARGEST_FRAME, HTTP2_FRAMING),
            Transport::Quic => (config.mss, HTTP3_FRAMING),
        };
        let least = config.mss.saturating_sub(framing).clamp(1, largest);
        let most = most_unsent.map_or(largest, |limit| (limit / 2).clamp(least, largest));
        let room = most_unsent.map_or(largest, |limit| limit.saturating_sub(most).max(1));
        if unsent < room { self.ways[end].next_frame(most, framing) } else { None }
    }

    /// Bytes have come to an end, which `has` all of those in a range or not: says whether a message has come.
    pub(crate) fn arrive(
        &mut self,
        end: usize,
        segment: &Segment,
        has: impl Fn(u64, u64) -> bool,
        config: &Config,
    ) -> bool {
        // A byte has the number 0 in QUIC and 1 in TCP, after the SYN.
        let start = segment.seq - u64::from(config.transport == Transport::Tcp);
        self.ways[1 - end].arrive((start, start + u64::from(segment.len)), has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(stream: u32, bytes: u64, urgency: u8, incremental: bool) -> Message {
        Message { stream, bytes, urgency, incremental }
    }

    /// The streams of the frames of 100 bytes, in order.
    fn served(messages: &[Message]) -> Vec<u32> {
        let mut way = Way::default();
        messages.iter().for_each(|message| way.write(*message));
        while way.next_frame(100, 0).is_some() {}
        way.frames.iter().map(|frame| frame.stream).collect()
    }

    #[test]
    fn the_most_urgent_goes_first_and_the_incremental_take_turns() {
        let [image, other] = [1, 2].map(|stream| message(stream, 200, 3, true));
        let whole = message(3, 200, 3, false);
        let style = message(4, 100, 0, false);
        // The style; of urgency 3 the one that is of no use in part; then one frame of each image in turn.
        assert_eq!(served(&[image, other, whole, style]), [4, 3, 3, 1, 2, 1, 2]);
    }

    /// Three frames of 103 bytes, the second lost. In order, the third waits for it; else it does not.
    #[test]
    fn a_hole_holds_up_what_is_behind_it_only_in_order() {
        for in_order in [true, false] {
            let mut way = Way::default();
            (0..3).for_each(|stream| way.write(message(stream, 100, 3, false)));
            while way.next_frame(100, 3).is_some() {}
            let received = |from: u64, to: u64| to <= 103 || !in_order && from >= 206;
            assert!(way.arrive((0, 103), received));
            assert_eq!(way.arrive((206, 309), received), !in_order);
            assert!(way.arrive((103, 206), |_, _| true));
            let come: Vec<u32> = way.come.into();
            assert_eq!(come, if in_order { [0, 1, 2] } else { [0, 2, 1] });
            assert!(way.frames.is_empty() && way.missing.is_empty());
        }
    }
}
