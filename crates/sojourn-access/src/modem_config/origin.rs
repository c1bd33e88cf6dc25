//! What settings do not say of the file that they were read from: digests and what follows the last TLV. With them,
//! settings that nobody has changed give the same bytes again, without the secret of the CMTS.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::leaf::{Leaf, hex, unhex};
use super::table::{CM_MIC, CMTS_MIC};
use super::tree::{self, DIGEST, Tlv};
use super::{Fault, Weight, digest};

/// Its key among the settings.
pub(super) const FILE: &str = "file";

/// The most zeros after the end marker that are written; a file is far smaller.
const MOST_PADDING: usize = 65_535;
const TAIL: Leaf = Leaf::Hex { min: 0, max: MOST_PADDING };

/// What was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Origin {
    /// MD5 of the settings, as hexadecimal digits: other settings have another one.
    settings_md5: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cm_mic: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cmts_mic: Option<String>,
    padding_bytes: usize,
    /// What follows the last TLV if it is not an end marker and zeros, as hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tail: Option<String>,
}

impl Origin {
    /// Of a file with these TLVs and what follows them.
    pub(super) fn of(tlvs: &[Tlv], tail: &[u8]) -> Self {
        let padding_bytes = tail.len().saturating_sub(1);
        let is_plain = tail == tree::tail(padding_bytes);
        let found = |number| {
            let tlv = tlvs.iter().find(|tlv| tlv.number == number && tlv.is_exact())?;
            tlv.value().as_str().map(str::to_owned)
        };
        Self {
            settings_md5: hex(&digest::of_modem(tlvs)),
            cm_mic: found(CM_MIC),
            cmts_mic: found(CMTS_MIC),
            padding_bytes: if is_plain { padding_bytes } else { 0 },
            tail: (!is_plain).then(|| hex(tail)),
        }
    }

    /// From the table of a text.
    pub(super) fn read(table: &Value) -> Result<Self, Fault> {
        let refused = |message: String| Fault::here(message).under(FILE);
        let origin: Self = serde_json::from_value(table.clone()).map_err(|error| {
            refused(format!("{error}; allowed: the table of config show --toml, or none"))
        })?;
        for (key, mic) in [("cm_mic", &origin.cm_mic), ("cmts_mic", &origin.cmts_mic)] {
            if let Some(mic) = mic {
                DIGEST
                    .write(&mic.as_str().into())
                    .map_err(|message| Fault::here(message).under(&format!("{FILE}.{key}")))?;
            }
        }
        if let Some(tail) = &origin.tail {
            TAIL.write(&tail.as_str().into())
                .map_err(|message| Fault::here(message).under(&format!("{FILE}.tail")))?;
        }
        if origin.padding_bytes > MOST_PADDING {
            let message = format!("found {}; allowed: 0 to {MOST_PADDING}", origin.padding_bytes);
            return Err(Fault::here(message).under(&format!("{FILE}.padding_bytes")));
        }
        Ok(origin)
    }

    /// Are these TLVs, without digests, as they were read?
    pub(super) fn is_of(&self, tlvs: &[Tlv]) -> bool {
        self.settings_md5 == hex(&digest::of_modem(tlvs))
    }

    /// What follows the last TLV.
    pub(super) fn tail(&self) -> Vec<u8> {
        let odd = self.tail.as_deref().and_then(unhex);
        odd.unwrap_or_else(|| tree::tail(self.padding_bytes))
    }

    /// What a file of other settings does not keep of this one.
    pub(super) fn lost(&self) -> Option<Fault> {
        let tail = self.tail.as_ref()?;
        let message = format!(
            "found {tail:?}; not written, since other settings have changed; end marker and zeros are"
        );
        Some(Fault { weight: Weight::Noted, ..Fault::here(message).under(&format!("{FILE}.tail")) })
    }

    /// Appends the digests that were read.
    pub(super) fn append(&self, tlvs: &mut Vec<Tlv>) {
        for (number, mic) in [(CM_MIC, &self.cm_mic), (CMTS_MIC, &self.cmts_mic)] {
            let bytes = mic.as_ref().and_then(|mic| DIGEST.write(&mic.as_str().into()).ok());
            if let Some(bytes) = bytes {
                digest::push(tlvs, number, bytes);
            }
        }
    }
}
