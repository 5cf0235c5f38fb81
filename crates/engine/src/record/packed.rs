//! Compression at rest: commit records and chunks whose bytes are stored as zstd frames.
//!
//! ```text
//! PackedCommit  u8 kind (1 Commit, 6 AnnexCommit) | 3 zeros | u32 length of the body | u32 where the event group begins in it
//!               | u32 domain | u32 server | 4 zeros | u64 GTID sequence number | u64 start position | u64 xid
//!               | zstd frame: the body
//! Chunk         with bit 0 of its flags set, in place of the events: u32 length of the events | zstd frame
//! ```
//!
//! The length of a record must be known before its place is, and the place decides what its events say. So the events are
//! compressed as they are before stamping, outside every lock, and what the stamp needs stands beside the frame. A
//! reader of the record decompresses and stamps: the result is, byte for byte, the record that would stand there without
//! compression, and positions count its bytes.

use crate::record::chunk::CHUNK_HEAD_LEN;
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, HEADER_LEN as EVENT_HEADER_LEN, event_type, stamp_event};
use narwal_log::{HEADER_LEN, RecordKind};
use std::borrow::Cow;
use std::cell::RefCell;

/// Bytes in front of a packed commit's frame.
const HEAD_LEN: usize = 48;
/// The largest body of a record; a length beyond it is damage.
const MAX_RAW: usize = 1 << 28;
/// Where an event's size stands in it.
const SIZE_AT: usize = 9;
/// Flag of a chunk whose events are compressed.
pub(crate) const CHUNK_PACKED: u8 = 1;

/// How records are compressed at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression {
    /// zstd's level, 1 to 19.
    pub level: i32,
    /// A body of fewer bytes is stored as it is.
    pub min_len: usize,
}

thread_local! {
    // Contexts are hundreds of KiB; making one costs more than a small record.
    static COMPRESSOR: RefCell<Option<(i32, zstd::bulk::Compressor<'static>)>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

fn corrupt(what: &str) -> EngineError {
    EngineError::Corrupt(format!("compressed record: {what}"))
}

/// Appends the frame of `raw` to `out`; false (and `out` as it was) if that saves nothing.
fn compress(raw: &[u8], level: i32, out: &mut Vec<u8>) -> bool {
    let at = out.len();
    out.resize(at + zstd::zstd_safe::compress_bound(raw.len()), 0);
    let n = COMPRESSOR.with(|c| {
        let mut c = c.borrow_mut();
        if c.as_ref().is_none_or(|c| c.0 != level) {
            *c = zstd::bulk::Compressor::new(level).ok().map(|z| (level, z));
        }
        c.as_mut()?.1.compress_to_buffer(raw, &mut out[at..]).ok()
    });
    let n = n.filter(|n| *n < raw.len());
    out.truncate(at + n.unwrap_or(0));
    n.is_some()
}

/// Decompresses a frame that says it has `len` bytes.
fn decompress(frame: &[u8], len: usize) -> Result<Vec<u8>> {
    if len > MAX_RAW {
        return Err(corrupt("a length beyond what a record can have"));
    }
    // What the frame itself says must agree before memory is taken for it.
    match zstd::zstd_safe::get_frame_content_size(frame) {
        Ok(Some(n)) if n == len as u64 => {}
        _ => return Err(corrupt("the frame has another length than the record says")),
    }
    let mut out = Vec::new();
    out.try_reserve_exact(len)
        .map_err(|_| EngineError::Full(format!("no memory for a record of {len} bytes")))?;
    let n = DECOMPRESSOR.with(|d| {
        let mut d = d.borrow_mut();
        if d.is_none() {
            *d = zstd::bulk::Decompressor::new().ok();
        }
        let d = d.as_mut().ok_or_else(|| corrupt("no decompressor"))?;
        d.decompress_to_buffer(frame, &mut out)
            .map_err(|e| corrupt(&e.to_string()))
    })?;
    if n != len {
        return Err(corrupt("the frame ends early"));
    }
    Ok(out)
}

/// A commit record's body, compressed, that does not yet know its place.
#[derive(Debug)]
pub(crate) struct PackedBody(Vec<u8>);

impl PackedBody {
    /// Compresses the body of a Commit (`prefix` empty) or AnnexCommit: `prefix` as it is, then the unstamped events of a
    /// whole group. `None` if it is too short for that or would not become shorter.
    pub(crate) fn pack(how: &Compression, prefix: &[u8], events: &[u8]) -> Option<PackedBody> {
        let len = prefix.len() + events.len();
        if len < how.min_len || len > MAX_RAW {
            return None;
        }
        let kind = if prefix.is_empty() {
            RecordKind::Commit
        } else {
            RecordKind::AnnexCommit
        };
        let mut out = vec![0; HEADER_LEN + HEAD_LEN];
        let head = &mut out[HEADER_LEN..];
        head[0] = kind as u8;
        head[4..8].copy_from_slice(&(len as u32).to_le_bytes());
        head[8..12].copy_from_slice(&(prefix.len() as u32).to_le_bytes());
        let smaller = if prefix.is_empty() {
            compress(events, how.level, &mut out)
        } else {
            compress(&[prefix, events].concat(), how.level, &mut out)
        };
        (smaller && out.len() - HEADER_LEN < len).then_some(PackedBody(out))
    }

    /// Bytes of the record's body.
    pub(crate) fn len(&self) -> usize {
        self.0.len() - HEADER_LEN
    }

    /// The record's buffer, now that its place is known.
    pub(crate) fn into_record(mut self, gtid: Gtid, start_pos: u64, xid: u64) -> Vec<u8> {
        let head = &mut self.0[HEADER_LEN..];
        head[12..16].copy_from_slice(&gtid.domain.to_le_bytes());
        head[16..20].copy_from_slice(&gtid.server.to_le_bytes());
        head[24..32].copy_from_slice(&gtid.seq.to_le_bytes());
        head[32..40].copy_from_slice(&start_pos.to_le_bytes());
        head[40..48].copy_from_slice(&xid.to_le_bytes());
        self.0
    }
}

/// The record as it would be without compression: a PackedCommit becomes the Commit or AnnexCommit that it stands for,
/// any other record is itself.
///
/// # Errors
/// [`EngineError::Corrupt`] if a packed record's parts do not fit together.
pub fn unpack(kind: RecordKind, body: &[u8]) -> Result<(RecordKind, Cow<'_, [u8]>)> {
    if kind != RecordKind::PackedCommit {
        return Ok((kind, Cow::Borrowed(body)));
    }
    let (head, frame) = body
        .split_first_chunk::<HEAD_LEN>()
        .ok_or_else(|| corrupt("it is shorter than its head"))?;
    let u32_at = |i: usize| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]);
    let u64_at = |i: usize| u64::from(u32_at(i)) | u64::from(u32_at(i + 4)) << 32;
    let kind = match head[0] {
        1 => RecordKind::Commit,
        6 => RecordKind::AnnexCommit,
        _ => return Err(corrupt("it stands for a kind that is not packed")),
    };
    let mut raw = decompress(frame, u32_at(4) as usize)?;
    let gtid = Gtid {
        domain: u32_at(12),
        server: u32_at(16),
        seq: u64_at(24),
    };
    let events = raw
        .get_mut(u32_at(8) as usize..)
        .ok_or_else(|| corrupt("its events begin behind its end"))?;
    stamp(events, gtid, u64_at(32), u64_at(40))?;
    Ok((kind, Cow::Owned(raw)))
}

/// Does what [`narwal_binlog::PendingGroup::into_stamped`] does, to a whole group.
fn stamp(mut events: &mut [u8], gtid: Gtid, start_pos: u64, xid: u64) -> Result<()> {
    let mut pos = start_pos;
    let mut first = true;
    while !events.is_empty() {
        let size = events
            .get(SIZE_AT..SIZE_AT + 4)
            .map(|s| u32::from_le_bytes([s[0], s[1], s[2], s[3]]) as usize)
            .unwrap_or(0);
        let (event, rest) = events
            .split_at_mut_checked(size)
            .filter(|_| size >= EVENT_HEADER_LEN)
            .ok_or_else(|| corrupt("an event has a wrong length"))?;
        let body = EVENT_HEADER_LEN;
        if first {
            if event[4] != event_type::GTID || event.len() < body + 12 {
                return Err(corrupt("its events do not begin with a GTID"));
            }
            event[body..body + 8].copy_from_slice(&gtid.seq.to_le_bytes());
            event[body + 8..body + 12].copy_from_slice(&gtid.domain.to_le_bytes());
            first = false;
        } else if event[4] == event_type::XID && rest.is_empty() && event.len() >= body + 8 {
            event[body..body + 8].copy_from_slice(&xid.to_le_bytes());
        }
        pos = pos
            .checked_add(size as u64)
            .ok_or_else(|| corrupt("a position beyond 2^64"))?;
        stamp_event(event, gtid.server, u32::try_from(pos).unwrap_or(0))
            .map_err(|e| corrupt(&e.to_string()))?;
        events = rest;
    }
    if first {
        return Err(corrupt("it has no events"));
    }
    Ok(())
}

/// The events of a chunk, compressed: length and frame. `None` if that would not be shorter.
pub(crate) fn pack_events(how: &Compression, events: &[u8]) -> Option<Vec<u8>> {
    if events.len() < how.min_len || events.len() > MAX_RAW {
        return None;
    }
    let mut out = (events.len() as u32).to_le_bytes().to_vec();
    compress(events, how.level, &mut out)
        .then_some(out)
        .filter(|o| o.len() < events.len())
}

/// Reverses `pack_events`.
///
/// # Errors
/// [`EngineError::Corrupt`].
pub fn unpack_events(packed: &[u8]) -> Result<Vec<u8>> {
    let (len, frame) = packed
        .split_first_chunk::<4>()
        .ok_or_else(|| corrupt("a chunk is shorter than its length"))?;
    decompress(frame, u32::from_le_bytes(*len) as usize)
}

/// Makes the body of a chunk as it would be without compression.
///
/// # Errors
/// [`EngineError::Corrupt`].
pub fn unpack_chunk(body: &mut Vec<u8>) -> Result<()> {
    if body.first().is_none_or(|f| f & CHUNK_PACKED == 0) {
        return Ok(());
    }
    let at =
        events_of_chunk(body).ok_or_else(|| corrupt("a chunk is shorter than its head says"))?;
    let events = unpack_events(&body[at..])?;
    body.truncate(at);
    body.extend_from_slice(&events);
    body[0] &= !CHUNK_PACKED;
    Ok(())
}

/// Where a chunk's events begin in its body.
fn events_of_chunk(body: &[u8]) -> Option<usize> {
    let n = body.get(CHUNK_HEAD_LEN - 4..CHUNK_HEAD_LEN)?;
    let n = u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize;
    n.checked_mul(8)?
        .checked_add(CHUNK_HEAD_LEN)
        .filter(|at| *at <= body.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_binlog::{DdlQuery, GroupBuilder, PendingGroup, QueryContext};

    const HOW: Compression = Compression {
        level: 1,
        min_len: 100,
    };

    fn group(text: &str) -> PendingGroup {
        let query = DdlQuery {
            server_id: 3,
            timestamp: 77,
            thread_id: 5,
            exec_time: 0,
            db: "d",
            sql: text.as_bytes(),
            context: QueryContext::default(),
            suppress_use: false,
            time_zone: "",
        };
        GroupBuilder::ddl(HEADER_LEN, &query).unwrap()
    }

    #[test]
    fn unpacking_gives_the_very_bytes_of_an_uncompressed_record() {
        let gtid = Gtid {
            domain: 4,
            server: 9,
            seq: 1 << 40,
        };
        for (prefix, start, xid) in [
            (&b""[..], 4u64, 1u64),
            (
                &[&500u32.to_le_bytes()[..], &[b' '; 500]].concat(),
                u64::from(u32::MAX) - 10,
                1 << 50,
            ),
        ] {
            // With an XID event at its end, and with a DDL statement.
            for make in [
                &(|| group(&"SELECT 1 ".repeat(99))) as &dyn Fn() -> PendingGroup,
                &|| {
                    // Nothing but GTID and XID: too short to gain, unless there is much in front of it.
                    GroupBuilder::new(HEADER_LEN, 3).finish().unwrap()
                },
            ] {
                let plain = [prefix, &make().into_stamped(gtid, start, xid)[HEADER_LEN..]].concat();
                let how = Compression { min_len: 1, ..HOW };
                let Some(packed) = PackedBody::pack(&how, prefix, make().unstamped()) else {
                    assert!(plain.len() < 200);
                    continue;
                };
                let len = packed.len();
                assert!(len < plain.len() / 2);
                let record = packed.into_record(gtid, start, xid);
                assert_eq!(record.len(), HEADER_LEN + len);
                let (kind, body) = unpack(RecordKind::PackedCommit, &record[HEADER_LEN..]).unwrap();
                assert_eq!(kind == RecordKind::Commit, prefix.is_empty());
                assert_eq!(&*body, &plain[..]);
            }
        }
    }

    #[test]
    fn short_or_random_bytes_stay_as_they_are() {
        assert!(PackedBody::pack(&HOW, &[], &[7; 99]).is_none());
        let mut x = 1u64;
        let noise: Vec<u8> = (0..5000)
            .map(|_| {
                x = x
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (x >> 33) as u8
            })
            .collect();
        assert!(PackedBody::pack(&HOW, &[], &noise).is_none());
        assert!(pack_events(&HOW, &noise).is_none());
        let p = pack_events(&HOW, &[7; 5000]).unwrap();
        assert!(p.len() < 100);
        assert_eq!(unpack_events(&p).unwrap(), [7; 5000]);
        // A chunk with two row ids.
        let mut plain = vec![0; CHUNK_HEAD_LEN];
        plain[16] = 2;
        plain.extend_from_slice(&[5; 16]);
        let mut body = plain.clone();
        plain.extend_from_slice(&[7; 5000]);
        body.extend_from_slice(&p);
        body[0] = CHUNK_PACKED;
        unpack_chunk(&mut body).unwrap();
        assert_eq!(body, plain);
        assert!(unpack_chunk(&mut vec![1; 30]).is_err());
        let body = [1u8, 2, 3];
        let (kind, same) = unpack(RecordKind::Note, &body).unwrap();
        assert!(kind == RecordKind::Note && matches!(same, Cow::Borrowed(b) if b == body));
    }

    #[test]
    fn hostile_records_are_refused_without_panic_or_much_memory() {
        let gtid = Gtid {
            domain: 0,
            server: 1,
            seq: 1,
        };
        let g = group(&"SELECT 1 ".repeat(99));
        let record = PackedBody::pack(&HOW, b"\x02\0\0\0{}", g.unstamped())
            .unwrap()
            .into_record(gtid, 4, 1);
        let body = &record[HEADER_LEN..];
        for n in 0..body.len() {
            assert!(unpack(RecordKind::PackedCommit, &body[..n]).is_err());
        }
        for i in 0..body.len() {
            for v in [0, 1, 0x7f, 0xff] {
                let mut b = body.to_vec();
                b[i] = v;
                let _ = unpack(RecordKind::PackedCommit, &b);
            }
        }
        let mut b = body.to_vec();
        b[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(unpack(RecordKind::PackedCommit, &b).is_err());
        b[4..8].copy_from_slice(&(1u32 << 27).to_le_bytes());
        assert!(unpack(RecordKind::PackedCommit, &b).is_err());
        assert!(unpack_events(&[]).is_err() && unpack_events(&[9, 0, 0, 0, 1, 2]).is_err());
    }
}
