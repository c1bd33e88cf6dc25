//! Checks between the keys of the cable plant and those of homes.

use super::downstream_channel::Channel;
use super::framing::Framing;
use super::impairments::Noise;
use super::parameters::{Cable, ModemSpec, PlantSpec};
use super::upstream_channel::{Phy, UpstreamChannel};
use crate::service::{Downstream, Upstream};
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
    fn check(&self) -> Faults {
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
                let message = format!("found {value} without {other}; allowed: only with it");
                faults.add(Fault::new(key, message));
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
                let message = format!(
                    "found {left}; allowed: more, since the request region leaves no room for grants"
                );
                faults.add_under(&path, Fault::new("channels", message));
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
            let is_ofdm = self.cmts.is_some_and(|c| matches!(c.channel, Channel::Ofdm { .. }));
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
