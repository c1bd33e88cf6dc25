//! Requests, as a page writes them in JSON.

use serde::Deserialize;

/// The text of a scenario, and the modem file that overrides its service, if any.
#[derive(Debug, Deserialize)]
pub struct Source {
    /// TOML.
    pub text: String,
    /// Name of the text in messages.
    #[serde(default = "scenario")]
    pub name: String,
    /// A modem file that [`Request::Keep`] has brought, whose service overrides that of the text.
    #[serde(default)]
    pub modem: Option<String>,
}

fn scenario() -> String {
    "scenario.toml".to_owned()
}

/// What a page asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case")]
pub enum Request {
    /// The version, the schema of scenario files and the definitions of all tables.
    About,
    /// A TOML text as JSON.
    Document {
        /// TOML.
        text: String,
    },
    /// All faults of a scenario, or its variants with all their defaults.
    Check(Source),
    /// Keeps the blob as a file: a capture that scenarios replay, or a modem file.
    Keep {
        /// The file's name.
        name: String,
    },
    /// Builds the simulation of a variant.
    Start {
        /// The scenario.
        #[serde(flatten)]
        source: Source,
        /// Its number, from 0.
        variant: usize,
        /// Record the events at the modem up to `until_s`, for [`Request::Picture`].
        #[serde(default)]
        picture_until_s: Option<f64>,
    },
    /// Handles so many events of the run.
    Advance {
        /// Their number.
        events: u64,
    },
    /// The results of the run, which has come to its end.
    Finish,
    /// A second of the queue, packet by packet.
    Picture {
        /// Its start.
        from_s: f64,
    },
    /// The service of a modem file that was kept: upstream and downstream of a scenario.
    ReadModem {
        /// The file's name.
        name: String,
        /// A scenario that has what the file leaves open.
        text: String,
    },
    /// The modem file of a variant, as the blob.
    WriteModem {
        /// The scenario.
        #[serde(flatten)]
        source: Source,
        /// Its number, from 0.
        variant: usize,
    },
}
