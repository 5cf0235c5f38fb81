//! What a backup is made of. The file `backup.json` is written last: without it there is no backup.
//!
//! It is JSON with a checksum over itself: `checksum` is XXH3 (64 bits, hexadecimal) of the file's bytes with that checksum's
//! digits all zero.

use crate::backup::piece::BackupEnd;
use crate::store::dirty::BLOCK;
use crate::{EngineError, Result};
use narwal_log::Disk;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The manifest's name in the folder of a backup.
pub const MANIFEST: &str = "backup.json";
/// Bytes per checksum in files other than the base.
pub const LARGE_BLOCK: u64 = 1 << 20;
/// Version of the manifest that this program writes.
const FORMAT: u32 = 1;
const NO_SUM: &str = "xxh3:0000000000000000";
/// More than a backup of 16 TiB has.
const MAX_LEN: u64 = 8 << 30;

/// A backup's description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// 1.
    pub format: u32,
    /// A name by chance, by which an incremental backup knows its parent.
    pub id: String,
    /// Narwal's version.
    pub version: String,
    /// When it ended: seconds since 1970.
    pub created: u64,
    /// Whether the files are encrypted, under the keys that the file `keys` has wrapped.
    pub encrypted: bool,
    /// What was copied.
    pub end: BackupEnd,
    /// An incremental backup's parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The files.
    pub files: Vec<FileEntry>,
    /// Of a backup that is a stream: XXH3 of all its bytes in front of the manifest, 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_sum: Option<String>,
    /// Of the manifest itself.
    checksum: String,
}

/// What an incremental backup is incremental to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Its id.
    pub id: String,
    /// Where it was then.
    pub path: PathBuf,
}

/// A file of the data folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its name, relative to the data folder.
    pub name: String,
    /// Its length, bytes.
    pub size: u64,
    /// How it is kept.
    pub kept: Kept,
    /// Bytes that one checksum covers.
    pub block: u64,
    /// XXH3 (64 bits) of each block, 16 hexadecimal digits each.
    pub sums: String,
}

/// How a file is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// As it is.
    Whole,
    /// It is the parent's.
    Parent,
    /// In a file with `.blocks` behind its name: these blocks, one behind the other, the last one of the file filled up
    /// with zeros. All others are the parent's.
    Blocks(Vec<u64>),
}

impl FileEntry {
    /// Name of the file in the backup that holds what the backup has of it.
    #[must_use]
    pub fn stored_name(&self) -> Option<String> {
        match &self.kept {
            Kept::Whole => Some(self.name.clone()),
            Kept::Parent => None,
            Kept::Blocks(_) => Some(format!("{}.blocks", self.name)),
        }
    }

    /// Checksum of block `i`.
    #[must_use]
    pub fn sum(&self, i: u64) -> Option<u64> {
        let at = usize::try_from(i).ok()?.checked_mul(16)?;
        let digits = self.sums.get(at..at + 16)?;
        let lower = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if !digits.bytes().all(lower) {
            return None;
        }
        u64::from_str_radix(digits, 16).ok()
    }

    /// Bytes of block `i`.
    #[must_use]
    pub fn block_len(&self, i: u64) -> u64 {
        self.size.saturating_sub(i * self.block).min(self.block)
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.size.div_ceil(self.block)
    }
}

/// Bytes that one checksum covers in a file of this name.
pub(crate) fn block_of(name: &str) -> u64 {
    if name == crate::backup::piece::BASE {
        BLOCK
    } else {
        LARGE_BLOCK
    }
}

pub(crate) fn sums_text(sums: impl Iterator<Item = u64>) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for s in sums {
        let _ = write!(out, "{s:016x}");
    }
    out
}

/// Whether a name may stand in a manifest: nothing else than what a data folder has.
fn is_good_name(name: &str) -> bool {
    name == crate::backup::piece::BASE
        || name == "keys"
        || name
            .strip_prefix("log/")
            .is_some_and(|n| narwal_log::parse_segment_name(n).is_some())
}

impl Manifest {
    /// A manifest of now.
    #[must_use]
    pub fn new(version: &str, encrypted: bool, end: BackupEnd, parent: Option<Parent>) -> Manifest {
        let created = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| d.as_secs());
        let chance = std::hash::BuildHasher::hash_one(
            &std::hash::RandomState::new(),
            (created, end.log_end, end.log_id),
        );
        Manifest {
            format: FORMAT,
            id: format!("{created:x}-{chance:016x}"),
            version: version.into(),
            created,
            encrypted,
            end,
            parent,
            files: Vec::new(),
            stream_sum: None,
            checksum: NO_SUM.into(),
        }
    }

    /// The entry of a file.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&FileEntry> {
        self.files.iter().find(|f| f.name == name)
    }

    /// Bytes of all files together, as in the data folder.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|f| f.size).sum()
    }

    /// The bytes of `backup.json`.
    ///
    /// # Errors
    /// None that could happen.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut m = self.clone();
        m.checksum = NO_SUM.into();
        let mut text = serde_json::to_string_pretty(&m)
            .map_err(|e| EngineError::Io(format!("manifest: {e}")))?;
        text.push('\n');
        let sum = format!("xxh3:{:016x}", xxh3_64(text.as_bytes()));
        let at = sum_at(&text).ok_or_else(|| EngineError::Io("manifest".into()))?;
        text.replace_range(at..at + NO_SUM.len(), &sum);
        Ok(text.into_bytes())
    }

    /// Reads `backup.json`.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Manifest, String> {
        let damaged = || "it is damaged: its checksum is not that of its content".to_owned();
        let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
        let at = sum_at(text).ok_or_else(damaged)?;
        let mut zeroed = text.to_owned();
        zeroed.replace_range(at..at + NO_SUM.len(), NO_SUM);
        let sum = format!("xxh3:{:016x}", xxh3_64(zeroed.as_bytes()));
        if text[at..at + NO_SUM.len()] != sum {
            return Err(damaged());
        }
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let format: Format = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if format.format != FORMAT {
            return Err(format!(
                "it has format {}, this version of Narwal reads format {FORMAT}; use the version that wrote it",
                format.format
            ));
        }
        let m: Manifest = serde_json::from_str(text).map_err(|e| e.to_string())?;
        for f in &m.files {
            let whole = f.block > 0
                && f.sums.len() as u64 == f.blocks() * 16
                && (0..f.blocks()).all(|i| f.sum(i).is_some());
            let blocks = match &f.kept {
                Kept::Blocks(b) => b.iter().all(|b| *b < f.blocks()),
                _ => true,
            };
            if !is_good_name(&f.name) || !whole || !blocks {
                return Err(format!("its entry of the file {:?} makes no sense", f.name));
            }
            if f.kept != Kept::Whole && m.parent.is_none() {
                return Err(format!(
                    "its file {:?} is a parent's, but it has none",
                    f.name
                ));
            }
        }
        Ok(m)
    }

    /// Reads the manifest of the backup in `dir`.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] if there is none or it is damaged.
    pub fn read(disk: &dyn Disk, dir: &Path) -> Result<Manifest> {
        let path = dir.join(MANIFEST);
        let bad = |why: String| EngineError::Corrupt(format!("{}: {why}", path.display()));
        let file = match disk.open_read(&path) {
            Ok(f) => f,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(bad(
                    "there is no such file: no backup, or one that was not finished".into(),
                ));
            }
            Err(e) => return Err(EngineError::Io(format!("{}: {e}", path.display()))),
        };
        let io = |e: std::io::Error| EngineError::Io(format!("{}: {e}", path.display()));
        let len = file.len().map_err(io)?;
        if len > MAX_LEN {
            return Err(bad("it is far too long".into()));
        }
        let mut bytes = vec![0; len as usize];
        let n = file.read_at(&mut bytes, 0).map_err(io)?;
        Manifest::decode(&bytes[..n]).map_err(bad)
    }

    /// Writes it into `dir`, durably and in one step: from then on the backup is one.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn write(&self, disk: &Arc<dyn Disk>, dir: &Path) -> Result<()> {
        let bytes = self.encode()?;
        let (tmp, path) = (dir.join("backup.json.tmp"), dir.join(MANIFEST));
        let done = disk.create(&tmp).and_then(|f| {
            f.write_at(&bytes, 0)?;
            f.sync_data()?;
            disk.rename(&tmp, &path)?;
            disk.sync_dir(dir)
        });
        done.map_err(|e| crate::error::io_error("writing", &path, &e))
    }
}

/// Where the checksum's text begins.
fn sum_at(text: &str) -> Option<usize> {
    let key = "\"checksum\": \"";
    let at = text.rfind(key)? + key.len();
    text.get(at..at + NO_SUM.len()).map(|_| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let end = BackupEnd {
            base_seq: 1,
            base_lsn: 4096,
            log_start: 4096,
            log_end: 9999,
            seq: 7,
            binlog_file: "narwal-bin.000001".into(),
            binlog_pos: 345,
            gtid_binlog_pos: "0-1-7".into(),
            gtid_binlog_state: "0-1-7".into(),
            base_gtid_state: "0-1-1".into(),
            log_id: u64::MAX,
            server_id: 1,
            gtid_domain_id: 0,
            with_log: true,
        };
        let mut m = Manifest::new("0.1.0", false, end, None);
        m.files.push(FileEntry {
            name: "base.redb".into(),
            size: BLOCK + 1,
            kept: Kept::Whole,
            block: BLOCK,
            sums: sums_text([1, u64::MAX].into_iter()),
        });
        m
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_manifest_is_seen() {
        let m = manifest();
        let bytes = m.encode().unwrap();
        let back = Manifest::decode(&bytes).unwrap();
        assert_eq!(
            (&back.files, &back.end, &back.id),
            (&m.files, &m.end, &m.id)
        );
        for i in 0..bytes.len() {
            for bit in 0..8 {
                let mut b = bytes.clone();
                b[i] ^= 1 << bit;
                assert!(Manifest::decode(&b).is_err(), "byte {i} bit {bit}");
            }
            assert!(Manifest::decode(&bytes[..i]).is_err(), "cut at {i}");
        }
        let mut longer = bytes.clone();
        longer.push(b' ');
        assert!(Manifest::decode(&longer).is_err());
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["../base.redb", "/etc/passwd", "log/../x", "log/wal.0", ""] {
            let mut m = manifest();
            m.files[0].name = name.into();
            assert!(Manifest::decode(&m.encode().unwrap()).is_err(), "{name}");
        }
    }
}
