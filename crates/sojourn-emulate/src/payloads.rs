//! Packets that are on the line, by their numbers.

use std::collections::VecDeque;

use sojourn::outside::Time;

/// Bytes of packets whose numbers count up; memory is that of the packets on the line, and is used again.
#[derive(Default)]
pub(crate) struct Payloads {
    /// The number of the first place.
    first: u64,
    places: VecDeque<Option<Payload>>,
    free: Vec<Vec<u8>>,
}

/// A packet on the line.
#[derive(Debug, PartialEq)]
pub(crate) struct Payload {
    pub bytes: Vec<u8>,
    /// How long it had waited at most when it was read.
    pub waited: Time,
    /// The number of the end that it goes to.
    pub to: usize,
}

impl Payloads {
    /// The number that the next packet will have.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.places.len() as u64
    }

    pub(crate) fn keep(&mut self, packet: &[u8], waited: Time, to: usize) {
        let mut bytes = self.free.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(packet);
        self.places.push_back(Some(Payload { bytes, waited, to }));
    }

    /// Hands out the packet of this number, once.
    pub(crate) fn take(&mut self, number: u64) -> Option<Payload> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let payload = self.places.get_mut(place)?.take();
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.first += 1;
        }
        payload
    }

    pub(crate) fn give_back(&mut self, bytes: Vec<u8>) {
        self.free.push(bytes);
    }

    /// Packets that are on the line.
    pub(crate) fn len(&self) -> usize {
        self.places.iter().filter(|place| place.is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_handed_out_once_in_any_order() {
        let mut payloads = Payloads::default();
        for byte in 0..4 {
            assert_eq!(payloads.next(), u64::from(byte));
            payloads.keep(&[byte], Time::from_ms(byte.into()), byte.into());
        }
        let of = |byte: u8| {
            let waited = Time::from_ms(byte.into());
            Some(Payload { bytes: vec![byte], waited, to: byte.into() })
        };
        assert_eq!(payloads.take(2), of(2));
        assert_eq!(payloads.take(2), None);
        assert_eq!(payloads.take(0), of(0));
        assert_eq!((payloads.len(), payloads.take(7)), (2, None));
        assert_eq!((payloads.take(1), payloads.take(3)), (of(1), of(3)));
        assert_eq!((payloads.len(), payloads.next(), payloads.places.len()), (0, 4, 0));
    }

    #[test]
    fn memory_is_used_again() {
        let mut payloads = Payloads::default();
        for number in 0..1_000 {
            payloads.keep(&[1; 1500], Time::ZERO, 0);
            let payload = payloads.take(number).unwrap();
            payloads.give_back(payload.bytes);
        }
        assert_eq!((payloads.free.len(), payloads.places.len()), (1, 0));
    }
}
