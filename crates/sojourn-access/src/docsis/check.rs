//! Checks between the keys of the cable plant and those of homes.

use super::downstream_channel::Channel;
use super::framing::Framing;
use super::impairments::Noise;
use super::parameters::{Cable, ModemSpec, PlantSpec};
use super::upstream_channel::{Phy, UpstreamChannel};
use crate::service::{Downstream, Upstream};
use sojourn_input::fault;
use sojourn_input::problem::{Fault, Faults};

impl Cable {
    /// Keys of noise need the one that makes it.
    pub fn check_noise(&self) -> Faults {
        let mut faults = Faults::default();
        for (path, noise) in
            [("upstream_noise", &self.upstream_noise), ("downstream_noise", &self.downstream_noise)]
        {
            faults.add_under(path, noise.check());
        }
        faults
    }
}

impl Noise {
    pub(super) fn check(&self) -> Faults {
        let mut faults = Faults::default();
        let alone = [
            (
                "codeword_bytes",
                self.codeword_bytes.map(f64::from),
                self.codeword_error_percent > 0.0,
                "codeword_error_percent",
            ),
            ("burst_ms", self.burst_ms, self.burst_interval_s.is_some(), "burst_interval_s"),
        ];
        for (key, value, has_other, other) in alone {
            if let (Some(value), false) = (value, has_other) {
                faults.add(fault!(NotAllowed, key =>
                    "found {value} without {other}; allowed: only with it", value, other));
            }
        }
        faults
    }
}

impl UpstreamChannel {
    /// Of the bonded channels one is left at least, and some are lost.
    pub(super) fn check_partial_service(&self) -> Faults {
        let mut faults = Faults::default();
        for (number, partial) in self.partial_service.iter().enumerate() {
            let left = partial.channels;
            let path = format!("partial_service.{number}");
            if left >= self.channels {
                let message =
                    format!("found {left}; allowed: fewer than the {} channels", self.channels);
                faults.add_under(&path, Fault::new("channels", message));
                continue;
            }
            let framing = Framing::of(self).with_channels(left);
            if framing.bytes_in(0, framing.minislots().saturating_sub(self.least_region())) == 0 {
                let allowed = "more, since the request region leaves no room for grants";
                faults.add_under(&path, Fault::found("channels", left, allowed));
            }
        }
        faults
    }
}

impl PlantSpec<'_> {
    /// Profiles of homes must be possible on their channels.
    pub fn check_profiles(&self, up: &Upstream, down: &Downstream) -> Faults {
        let mut faults = Faults::default();
        if let Some(bits) = up.profile_bits {
            let allowed = match (&up.modem, &self.upstream_channel.phy) {
                (ModemSpec::SharedChannel, Phy::Ofdma(_)) => None,
                (ModemSpec::SharedChannel, Phy::ScQam(_)) => (bits.fract() != 0.0
                    || !(2.0..=8.0).contains(&bits))
                .then_some("a whole number from 2 to 8 on a single carrier"),
                _ => Some("only with modem.kind = \"shared_channel\""),
            };
            faults.add_under("upstream", profile(bits, allowed));
        }
        if let Some(bits) = down.profile_bits {
            // With a table it is refused for another reason (bonded.rs).
            let is_ofdm = self.cmts.is_some_and(|cmts| {
                matches!(cmts.channel, Channel::Ofdm { .. }) || !cmts.bonded.is_empty()
            });
            let allowed = (!is_ofdm).then_some("only where cmts.channel is of kind ofdm");
            faults.add_under("downstream", profile(bits, allowed));
        }
        faults
    }
}

fn profile(bits: f64, allowed: Option<&str>) -> Option<Fault> {
    let message = format!("found {bits}; allowed: {}", allowed?);
    Some(Fault::new("profile_bits", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::downstream_channel::Cmts;
    use super::super::for_tests::{plain_channel, upstream};
    use super::super::upstream_channel::{Ofdma, PartialService};

    fn paths(faults: Faults) -> Vec<String> {
        faults.into_iter().map(|fault| fault.path).collect()
    }

    #[test]
    fn keys_of_noise_need_the_one_that_makes_it() {
        let noise = |error, bytes, interval_s, burst_ms| Noise {
            codeword_error_percent: error,
            codeword_bytes: bytes,
            burst_interval_s: interval_s,
            burst_ms,
        };
        for (noise, want) in [
            (noise(0.0, None, None, None), vec![]),
            (noise(0.1, Some(200), None, None), vec![]),
            (noise(0.0, Some(200), Some(1.0), Some(5.0)), vec!["codeword_bytes"]),
            (noise(0.1, Some(200), None, Some(5.0)), vec!["burst_ms"]),
        ] {
            for way in ["upstream_noise", "downstream_noise"] {
                let mut cable = Cable::default();
                match way {
                    "upstream_noise" => cable.upstream_noise = noise.clone(),
                    _ => cable.downstream_noise = noise.clone(),
                }
                let want: Vec<_> = want.iter().map(|key| format!("{way}.{key}")).collect();
                assert_eq!(paths(cable.check_noise()), want);
            }
        }
    }

    /// Of four channels with 1000 minislots each three may be left, or one, if requests do not need all of it.
    #[test]
    fn some_channels_are_lost_and_some_are_left() {
        for (channels, opportunities, fits) in
            [(3, 8, true), (4, 8, false), (1, 8, true), (1, 499, true), (1, 500, false)]
        {
            let partial = PartialService { start_s: 1.0, length_s: 1.0, channels };
            let spec = UpstreamChannel {
                channels: 4,
                request_opportunities: Some(opportunities),
                partial_service: vec![PartialService { channels: 2, ..partial }, partial],
                ..plain_channel()
            };
            let want = if fits { vec![] } else { vec!["partial_service.1.channels".to_owned()] };
            assert_eq!(paths(spec.check_partial_service()), want, "{channels} {opportunities}");
            assert_eq!(paths(spec.check()), want);
        }
        // One MAP interval has 1000 minislots.
        let spec = UpstreamChannel { request_opportunities: Some(500), ..plain_channel() };
        let faults: Vec<_> = spec.check().into_iter().collect();
        assert_eq!(faults[0].path, "request_opportunities");
        assert!(
            faults[0].message.starts_with("found 500: the request region takes 1000 of the 1000")
        );
    }

    /// Whole numbers of bits from 2 to 8 on a single carrier, any with OFDMA, and none without a shared channel.
    #[test]
    fn profiles_are_of_channels_that_have_them() {
        let (carrier, ofdma) = (
            plain_channel(),
            UpstreamChannel { phy: Phy::Ofdma(Ofdma::default()), ..plain_channel() },
        );
        let (ofdm, single) =
            (Cmts::default(), toml::from_str("channel = { kind = 'sc_qam' }").unwrap());
        let shared = "modem.kind = 'shared_channel'\n";
        for (keys, channel, cmts, bits, want) in [
            (format!("{shared}profile_bits = 4"), &carrier, None, None, vec![]),
            (format!("{shared}profile_bits = 2"), &carrier, None, None, vec![]),
            (format!("{shared}profile_bits = 8"), &carrier, None, None, vec![]),
            (
                format!("{shared}profile_bits = 9"),
                &carrier,
                None,
                None,
                vec!["upstream.profile_bits"],
            ),
            (
                format!("{shared}profile_bits = 1"),
                &carrier,
                None,
                None,
                vec!["upstream.profile_bits"],
            ),
            (
                format!("{shared}profile_bits = 4.5"),
                &carrier,
                None,
                None,
                vec!["upstream.profile_bits"],
            ),
            (format!("{shared}profile_bits = 4.5"), &ofdma, None, None, vec![]),
            ("profile_bits = 4".to_owned(), &ofdma, None, None, vec!["upstream.profile_bits"]),
            (String::new(), &ofdma, Some(&ofdm), Some(10.0), vec![]),
            (String::new(), &ofdma, Some(&single), Some(10.0), vec!["downstream.profile_bits"]),
            (String::new(), &ofdma, None, Some(10.0), vec!["downstream.profile_bits"]),
        ] {
            let plant = PlantSpec { cable: &Cable::default(), upstream_channel: channel, cmts };
            let mut down: Downstream = toml::from_str("sustained_mbps = 10").unwrap();
            down.profile_bits = bits;
            assert_eq!(paths(plant.check_profiles(&upstream(&keys), &down)), want, "{keys}");
        }
    }
}
