//! The index in the base: redb table `binlog_index`, written by checkpoints, read when the database is opened.
//!
//! ```text
//! "v"                     u8 version = 1
//! "f" u32 number          u64 first LSN | u64 needed LSN | u64 commit before | u64 head | u64 size | u32 time | GTIDs
//! "p" u64 LSN             u64 commit before | u32 file | u64 head | u64 offset | GTIDs
//! ```
//! Numbers in keys are big-endian (sorted), in values little-endian. GTIDs: `u32 domain | u32 server | u64 sequence`
//! each, up to the value's end. The file with the largest number is the current one.

use crate::binlog::index::{FileEntry, Index, IndexDelta, Point};
use crate::store::base::{Bytes, base_err};
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidState};
use redb::{ReadableTable, TableDefinition};
use std::collections::VecDeque;

const TABLE: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new("binlog_index");
const VERSION_KEY: &[u8] = b"v";
const VERSION: &[u8] = &[1];

fn file_key(number: u32) -> [u8; 5] {
    let mut key = [b'f'; 5];
    key[1..].copy_from_slice(&number.to_be_bytes());
    key
}

fn point_key(lsn: u64) -> [u8; 9] {
    let mut key = [b'p'; 9];
    key[1..].copy_from_slice(&lsn.to_be_bytes());
    key
}

fn put_gtids(buf: &mut Vec<u8>, gtids: impl Iterator<Item = Gtid>) {
    for gtid in gtids {
        buf.extend_from_slice(&gtid.domain.to_le_bytes());
        buf.extend_from_slice(&gtid.server.to_le_bytes());
        buf.extend_from_slice(&gtid.seq.to_le_bytes());
    }
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (n, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*n))
    }

    fn u64(&mut self) -> Option<u64> {
        let (n, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*n))
    }

    fn gtids(&mut self) -> Option<Vec<Gtid>> {
        let mut gtids = Vec::with_capacity(self.0.len() / 16);
        while !self.0.is_empty() {
            gtids.push(Gtid {
                domain: self.u32()?,
                server: self.u32()?,
                seq: self.u64()?,
            });
        }
        Some(gtids)
    }
}

fn encode_file(f: &FileEntry) -> Vec<u8> {
    let mut buf = Vec::with_capacity(44 + 16 * f.gtids.len());
    for n in [f.first_lsn, f.needed_lsn, f.seq_before, f.head, f.size] {
        buf.extend_from_slice(&n.to_le_bytes());
    }
    buf.extend_from_slice(&f.last_time.to_le_bytes());
    put_gtids(&mut buf, f.gtids.iter());
    buf
}

fn decode_file(key: &[u8], value: &[u8]) -> Option<FileEntry> {
    let mut v = Fields(value);
    Some(FileEntry {
        number: u32::from_be_bytes(key.get(1..)?.try_into().ok()?),
        first_lsn: v.u64()?,
        needed_lsn: v.u64()?,
        seq_before: v.u64()?,
        head: v.u64()?,
        size: v.u64()?,
        last_time: v.u32()?,
        gtids: v.gtids()?.into_iter().collect::<GtidState>(),
    })
}

fn encode_point(p: &Point) -> Vec<u8> {
    let mut buf = Vec::with_capacity(28 + 16 * p.gtids.len());
    buf.extend_from_slice(&p.seq.to_le_bytes());
    buf.extend_from_slice(&p.file_no.to_le_bytes());
    buf.extend_from_slice(&p.head.to_le_bytes());
    buf.extend_from_slice(&p.offset.to_le_bytes());
    put_gtids(&mut buf, p.gtids.iter().copied());
    buf
}

fn decode_point(key: &[u8], value: &[u8]) -> Option<Point> {
    let mut v = Fields(value);
    Some(Point {
        lsn: u64::from_be_bytes(key.get(1..)?.try_into().ok()?),
        seq: v.u64()?,
        file_no: v.u32()?,
        head: v.u64()?,
        offset: v.u64()?,
        gtids: v.gtids()?.into(),
    })
}

/// Brings the table up to date.
pub(crate) fn save(txn: &redb::WriteTransaction, delta: &IndexDelta) -> Result<()> {
    if delta.clear {
        txn.delete_table(TABLE).map_err(base_err)?;
    }
    let mut table = txn.open_table(TABLE).map_err(base_err)?;
    let (number, lsn) = delta.oldest;
    for (from, to) in [
        (file_key(0).to_vec(), file_key(number).to_vec()),
        (point_key(0).to_vec(), point_key(lsn).to_vec()),
    ] {
        table
            .retain_in(from.as_slice()..to.as_slice(), |_, _| false)
            .map_err(base_err)?;
    }
    table.insert(VERSION_KEY, VERSION).map_err(base_err)?;
    for f in &delta.files {
        table
            .insert(file_key(f.number).as_slice(), encode_file(f).as_slice())
            .map_err(base_err)?;
    }
    for p in &delta.points {
        table
            .insert(point_key(p.lsn).as_slice(), encode_point(p).as_slice())
            .map_err(base_err)?;
    }
    Ok(())
}

/// Reads the table: the index and the current file; `None` if there is none (made by an older version).
pub(crate) fn load(redb: &redb::Database) -> Result<Option<(Index, FileEntry)>> {
    use redb::ReadableDatabase;
    let txn = redb.begin_read().map_err(base_err)?;
    let table = match txn.open_table(TABLE) {
        Ok(t) => t,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(e) => return Err(base_err(e)),
    };
    let bad = || EngineError::Corrupt("the binary log's index in the base".into());
    let version = table.get(VERSION_KEY).map_err(base_err)?;
    if version.is_none_or(|v| v.value() != VERSION) {
        return Err(bad());
    }
    let (mut files, mut points) = (VecDeque::new(), VecDeque::new());
    for item in table.iter().map_err(base_err)? {
        let (key, value) = item.map_err(base_err)?;
        match key.value().first() {
            Some(b'f') => files.push_back(decode_file(key.value(), value.value()).ok_or_else(bad)?),
            Some(b'p') => {
                points.push_back(decode_point(key.value(), value.value()).ok_or_else(bad)?);
            }
            _ => {}
        }
    }
    let current = files.pop_back().ok_or_else(bad)?;
    Ok(Some((Index::from_stored(files, points), current)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back() {
        let gtids: GtidState = "0-1-5,0-2-3,7-1-9".parse().unwrap();
        let f = FileEntry {
            number: 300,
            first_lsn: 1 << 40,
            needed_lsn: 77,
            seq_before: 5,
            head: 299,
            size: 5 << 30,
            last_time: 9,
            gtids: gtids.clone(),
        };
        assert_eq!(decode_file(&file_key(300), &encode_file(&f)).unwrap(), f);
        let p = Point {
            lsn: 1 << 50,
            seq: 3,
            file_no: 8,
            head: 285,
            offset: 6 << 30,
            gtids: gtids.iter().collect(),
        };
        let bytes = encode_point(&p);
        assert_eq!(decode_point(&point_key(p.lsn), &bytes).unwrap(), p);
        assert!(decode_point(&point_key(p.lsn), &bytes[..bytes.len() - 1]).is_none());
        assert!(decode_point(&point_key(p.lsn)[..4], &bytes).is_none());
    }
}
