//! What bonded channels of both directions have: the keys of a table, its groups, and how long a missing packet is waited for.

/// How long a modem may wait for a missing packet downstream (MULPI Annex B, from memory).
pub(super) const RESEQUENCING_MS: f64 = 18.0;

/// Declares a channel of a table, with what those of both directions have.
macro_rules! bonded_channel {
    ($(#[$doc:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($own)*
            /// What packets take in addition on this channel, and upstream requests, in ms: a farther node, or a deeper
            /// interleaver.
            #[schemars(range(min = 0.0, max = 1000.0))]
            pub extra_delay_ms: f64,
            /// Errors on this channel. Upstream an error takes what comes behind it in its segment, which says where packets
            /// begin, and all of it in its first codeword. Default: none.
            pub noise: Noise,
            /// Times in which the channel is lost. Modems use the others (partial service). Default: none.
            #[schemars(extend("maxItems" = 100))]
            pub outages: Vec<Outage>,
        }

        impl $name {
            /// Checks what channels of both directions have.
            pub(super) fn check_common(&self) -> sojourn_input::problem::Faults {
                let mut faults = self.noise.check().under("noise");
                faults.add($crate::docsis::outages::check("outages", &self.outages));
                faults
            }
        }
    };
}
pub(super) use bonded_channel;

/// Is a channel one of a bonding group? One that names none has all channels of the table.
pub fn is_bonded(group: &[String], name: &str) -> bool {
    group.is_empty() || group.iter().any(|one| one == name)
}
