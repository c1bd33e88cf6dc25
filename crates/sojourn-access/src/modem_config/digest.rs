//! The two digests of a file (CM-SP-MULPI Annex D.1.3 and D.2).

use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};

use super::leaf::hex;
use super::table::{CM_MIC, CMTS_MIC};
use super::tree::{Content, Length, Tlv};
use super::view::FILE;
use super::{Fault, Weight};

/// The secret that the CMTS shares with the maker of a file.
#[derive(Clone, Copy)]
pub struct Secret<'a>(pub &'a [u8]);

/// The types that the CMTS MIC covers, in this order (CM-SP-MULPI D.2.1).
const OF_CMTS: &[u8] =
    &[1, 2, 3, 4, 17, 43, CM_MIC, 18, 19, 20, 22, 23, 24, 25, 28, 29, 26, 35, 36, 37, 40];

/// MD5 over all TLVs but the digests, in the file's order.
pub(super) fn of_modem(tlvs: &[Tlv]) -> [u8; 16] {
    let settings = tlvs.iter().filter(|tlv| ![CM_MIC, CMTS_MIC].contains(&tlv.number));
    Md5::digest(bytes(settings)).into()
}

/// HMAC-MD5 over certain types in their own order; several of one type in the file's order.
fn of_cmts(tlvs: &[Tlv], secret: Secret) -> [u8; 16] {
    let ordered = OF_CMTS.iter().flat_map(|n| tlvs.iter().filter(move |tlv| tlv.number == *n));
    let mut mac = Hmac::<Md5>::new_from_slice(secret.0).expect("a key has any length");
    mac.update(&bytes(ordered));
    mac.finalize().into_bytes().into()
}

fn bytes<'a>(tlvs: impl Iterator<Item = &'a Tlv>) -> Vec<u8> {
    let mut bytes = Vec::new();
    tlvs.for_each(|tlv| tlv.append(&mut bytes));
    bytes
}

/// Appends the digests that can be computed, in the place of faulty ones.
pub(super) fn append(tlvs: &mut Vec<Tlv>, secret: Option<Secret>) {
    tlvs.retain(|tlv| ![CM_MIC, CMTS_MIC].contains(&tlv.number));
    push(tlvs, CM_MIC, of_modem(tlvs).to_vec());
    if let Some(secret) = secret {
        push(tlvs, CMTS_MIC, of_cmts(tlvs, secret).to_vec());
    }
}

/// Appends a digest.
pub(super) fn push(tlvs: &mut Vec<Tlv>, number: u8, digest: Vec<u8>) {
    let content = Content::Bytes(digest);
    tlvs.push(Tlv { number, offset: 0, row: FILE.numbered(number), length: Length::Fits, content });
}

/// What a modem would say of a file whose own digest is not that of its settings, where one is stated.
pub(super) fn fault(tlvs: &[Tlv]) -> Option<Fault> {
    tlvs.iter().find(|tlv| tlv.number == CM_MIC)?;
    let fault = verify_one(
        tlvs,
        CM_MIC,
        of_modem(tlvs),
        "the digest of the TLVs; a modem refuses the file",
    );
    fault.err().map(|fault| Fault { weight: Weight::Noted, ..fault })
}

/// The first digest that is missing or differs.
pub(super) fn verify(tlvs: &[Tlv], secret: Secret) -> Result<(), Fault> {
    verify_one(tlvs, CM_MIC, of_modem(tlvs), "the digest of the TLVs")?;
    verify_one(tlvs, CMTS_MIC, of_cmts(tlvs, secret), "the digest of the TLVs and the secret")
}

fn verify_one(tlvs: &[Tlv], number: u8, digest: [u8; 16], why: &str) -> Result<(), Fault> {
    let key = FILE.numbered(number).map_or("", |row| row.key);
    let allowed = format!("allowed: {}, {why}", hex(&digest));
    let Some(tlv) = tlvs.iter().find(|tlv| tlv.number == number) else {
        return Err(Fault::here(format!("missing; {allowed}")).under(key));
    };
    if tlv.content == Content::Bytes(digest.to_vec()) {
        return Ok(());
    }
    let found = tlv.value();
    let found = found.as_str().unwrap_or_default();
    Err(Fault::at(tlv.offset, format!("found {found}; {allowed}")).under(key))
}
