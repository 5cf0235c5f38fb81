//! The base's file with a checksum for each block, compared whenever a block comes from the disk.
//!
//! ```text
//! block 0, 1       the head, twice: what redb keeps in its first block, see [`Head`]
//! block 2          checksums of the 1024 blocks behind it: u32 each, little-endian; 0: never written
//! block 3..1026    content blocks 1 to 1024
//! block 1027       checksums of the next 1024, and so on
//! ```
//! A block is 4096 bytes. A checksum is the CRC32C of the block's bytes, begun with the block's number, so that a block in
//! another's place does not pass. What is below (encryption, the simulated disk) sees one ordinary file.
//!
//! Why a crash in the middle of writing harms nothing: redb never writes over a block that the last durable commit needs, so
//! such a block's checksum does not change either, and a checksum block torn between old and new has the same bytes there.
//! Checksums are written before each sync, so what a commit makes durable has its checksums. The one block that is
//! written in place is redb's first, and that one has two places. Blocks in no use may have wrong checksums after a crash: who reads
//! the whole file asks redb which blocks are in use (`damage.rs`).

use crate::error::Damage;
use crate::store::room::Room;
use narwal_log::{DiskFile, is_no_space};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes of a block.
pub(crate) const BLOCK: u64 = 4096;
const LEN: usize = BLOCK as usize;
/// Blocks that a block of checksums covers.
const GROUP: u64 = BLOCK / 4;
/// Blocks in front of the groups.
const HEADS: u64 = 2;
/// How long the base's writer sleeps before it tries a full disk again.
const RETRY: Duration = Duration::from_millis(100);
const MAGIC: &[u8; 8] = b"NARWALBA";
const VERSION: u32 = 1;
/// Bytes of a head in front of redb's: magic, version, checksum, number.
const HEAD: usize = 24;
/// What a file of redb's own begins with.
const REDB: &[u8; 9] = b"redb\x1a\x0a\xa9\x0d\x0a";

/// Where a content block is stored.
fn place(block: u64) -> u64 {
    let n = block - 1;
    (HEADS + n + n / GROUP + 1) * BLOCK
}

/// Where the checksums of a group are stored.
fn sums_place(group: u64) -> u64 {
    (HEADS + group * (GROUP + 1)) * BLOCK
}

/// The length of a file with so much content.
fn stored_len(content: u64) -> u64 {
    match content.div_ceil(BLOCK) {
        0 => 0,
        1 => HEADS * BLOCK,
        blocks => place(blocks - 1) + BLOCK,
    }
}

/// The length of the content of a file.
fn content_len(stored: u64) -> u64 {
    let blocks = stored / BLOCK;
    if blocks < HEADS {
        return 0;
    }
    let n = blocks - HEADS;
    (1 + n / (GROUP + 1) * GROUP + (n % (GROUP + 1)).saturating_sub(1)) * BLOCK
}

/// The content block at a place of the file; `None`: a head, or checksums.
fn content_block(stored_block: u64) -> Option<u64> {
    let n = stored_block.checked_sub(HEADS)?;
    let (group, at) = (n / (GROUP + 1), n % (GROUP + 1));
    Some(group * GROUP + at.checked_sub(1)? + 1)
}

fn checksum(block: u64, bytes: &[u8]) -> u32 {
    // 0 says that there is none.
    crc32c::crc32c_append(block as u32 ^ (block >> 32) as u32, bytes).max(1)
}

/// Whether a block is as it was written.
fn passes(block: u64, bytes: &[u8], sum: u32) -> bool {
    match sum {
        0 => bytes.iter().all(|b| *b == 0),
        sum => checksum(block, bytes) == sum,
    }
}

/// redb's first block. It is written in place, so it has two places: the one that was durable last is left alone until the
/// other one is durable too. Each has a checksum and a number that grows; the higher one counts.
#[derive(Debug)]
struct Head {
    content: Box<[u8; LEN]>,
    number: u64,
    /// The place with the durable one.
    durable: u64,
    /// The other place was written since.
    pending: bool,
    /// What was there when the file was opened is durable, too.
    settled: bool,
}

impl Head {
    fn encode(&self) -> Vec<u8> {
        let mut page = vec![0; LEN];
        page[..8].copy_from_slice(MAGIC);
        page[8..12].copy_from_slice(&VERSION.to_le_bytes());
        page[16..24].copy_from_slice(&self.number.to_le_bytes());
        page[HEAD..].copy_from_slice(&self.content[..LEN - HEAD]);
        let crc = crc32c::crc32c(&page);
        page[12..16].copy_from_slice(&crc.to_le_bytes());
        page
    }

    /// Number and content, if the page is whole.
    fn decode(page: &[u8]) -> Option<(u64, Box<[u8; LEN]>)> {
        let crc = u32::from_le_bytes(page.get(12..16)?.try_into().ok()?);
        let mut zeroed = page.to_vec();
        zeroed[12..16].fill(0);
        if page.len() != LEN || crc != crc32c::crc32c(&zeroed) || !page.starts_with(MAGIC) {
            return None;
        }
        if page[8..12] != VERSION.to_le_bytes() {
            return None;
        }
        let mut content = Box::new([0; LEN]);
        content[..LEN - HEAD].copy_from_slice(&page[HEAD..]);
        Some((u64::from_le_bytes(page[16..24].try_into().ok()?), content))
    }
}

/// Checksums of a group's blocks.
#[derive(Debug)]
struct Sums {
    of: Box<[AtomicU32]>,
    dirty: AtomicBool,
    /// Since eviction came by.
    used: AtomicBool,
}

impl Sums {
    fn decode(page: &[u8]) -> Sums {
        let sum = |c: &[u8]| AtomicU32::new(u32::from_le_bytes([c[0], c[1], c[2], c[3]]));
        Sums {
            of: page.chunks_exact(4).map(sum).collect(),
            dirty: AtomicBool::new(false),
            used: AtomicBool::new(true),
        }
    }

    fn encode(&self) -> Vec<u8> {
        (self.of.iter())
            .flat_map(|s| s.load(Ordering::Relaxed).to_le_bytes())
            .collect()
    }
}

/// The file.
#[derive(Debug)]
pub(crate) struct BaseFile {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    room: Arc<Room>,
    head: Mutex<Head>,
    groups: RwLock<ahash::HashMap<u64, Arc<Sums>>>,
    /// Groups that memory holds; while more than half of them are dirty they are written.
    limit: usize,
    dirty: AtomicUsize,
    /// A block and its checksum change together under it.
    writing: Mutex<()>,
    /// Damage that was logged, by offset.
    noted: Mutex<BTreeSet<u64>>,
    errors: AtomicU64,
}

impl BaseFile {
    /// Opens a base or makes one of an empty file. `memory`: for checksums, bytes.
    pub(crate) fn open(
        file: Arc<dyn DiskFile>,
        path: &Path,
        room: Arc<Room>,
        memory: u64,
    ) -> io::Result<BaseFile> {
        let len = file.len()?;
        let damaged = |offset, what| Damage {
            file: path.to_owned(),
            offset,
            what,
        };
        let mut pages = vec![0; 2 * LEN];
        let n = file.read_at(&mut pages, 0)?;
        if pages.starts_with(REDB) {
            return Err(io::Error::other(format!(
                "{} was made by an older version of Narwal, without checksums of its blocks: start a new folder, and move the data with mariadb-dump or as a replica",
                path.display()
            )));
        }
        let places = [Head::decode(&pages[..LEN]), Head::decode(&pages[LEN..])];
        let mut noted = BTreeSet::new();
        let head = match places {
            [None, None] if len == 0 => Head {
                content: Box::new([0; LEN]),
                number: 0,
                durable: 1,
                pending: false,
                settled: true,
            },
            [None, None] if n < LEN => {
                return Err(damaged(0, "the file is too short for a base").into());
            }
            [None, None] => {
                return Err(damaged(
                    0,
                    "both heads of the base are damaged; narwal repair makes the base anew",
                )
                .into());
            }
            places => {
                let numbers = places.each_ref().map(|p| p.as_ref().map(|p| p.0));
                let durable = u64::from(numbers[1] > numbers[0]);
                for (i, page) in places.iter().enumerate() {
                    // A crash leaves one that way, too: it is of no more interest then.
                    if page.is_none() {
                        noted.insert(i as u64 * BLOCK);
                        tracing::warn!(
                            "{}: one of two heads, at offset {}, is not whole; the other one is used",
                            path.display(),
                            i as u64 * BLOCK
                        );
                    }
                }
                let [a, b] = places;
                let Some((number, content)) = (if durable == 0 { a } else { b }) else {
                    return Err(damaged(0, "no head").into());
                };
                Head {
                    content,
                    number,
                    durable,
                    pending: false,
                    settled: false,
                }
            }
        };
        Ok(BaseFile {
            file,
            path: path.to_owned(),
            room,
            head: Mutex::new(head),
            groups: RwLock::default(),
            limit: (memory / BLOCK).max(16) as usize,
            dirty: AtomicUsize::new(0),
            writing: Mutex::new(()),
            noted: Mutex::new(noted),
            errors: AtomicU64::new(0),
        })
    }

    /// Damaged blocks that were met.
    pub(crate) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(content_len(self.file.len()?))
    }

    // ---- reading ----

    /// Reads content and compares it with its checksums.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if offset < BLOCK {
            let head = self.head.lock();
            return match head.content[offset as usize..].get(..out.len()) {
                Some(bytes) => {
                    out.copy_from_slice(bytes);
                    Ok(())
                }
                None => Err(io::Error::other("a read across the base's first block")),
            };
        }
        if !offset.is_multiple_of(BLOCK) || !out.len().is_multiple_of(LEN) {
            return Err(io::Error::other("a read of a part of a block"));
        }
        let (mut block, mut rest) = (offset / BLOCK, out);
        while !rest.is_empty() {
            // What lies together: up to the next checksums.
            let (group, at) = ((block - 1) / GROUP, (block - 1) % GROUP);
            let n = (rest.len() / LEN).min((GROUP - at) as usize);
            let (part, behind) = rest.split_at_mut(n * LEN);
            self.read_exact(part, place(block))?;
            let sums = self.sums(group)?;
            for (i, bytes) in part.chunks_exact_mut(LEN).enumerate() {
                let sum = sums.of[at as usize + i].load(Ordering::Acquire);
                if !passes(block + i as u64, bytes, sum) {
                    self.read_again(block + i as u64, bytes)?;
                }
            }
            block += n as u64;
            rest = behind;
        }
        Ok(())
    }

    fn read_exact(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        match self.file.read_at(out, at)? {
            n if n == out.len() => Ok(()),
            n => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!(
                    "{}: {n} bytes instead of {} at offset {at}",
                    self.path.display(),
                    out.len()
                ),
            )),
        }
    }

    /// A block that did not pass: was it being written? Nobody writes now.
    #[cold]
    fn read_again(&self, block: u64, bytes: &mut [u8]) -> io::Result<()> {
        let _writing = self.writing.lock();
        self.read_exact(bytes, place(block))?;
        let sums = self.sums((block - 1) / GROUP)?;
        let sum = sums.of[((block - 1) % GROUP) as usize].load(Ordering::Acquire);
        if passes(block, bytes, sum) {
            return Ok(());
        }
        let damage = self.damage(block);
        self.note(&damage);
        Err(damage.into())
    }

    fn damage(&self, block: u64) -> Damage {
        Damage {
            file: self.path.clone(),
            offset: place(block),
            what: "the block does not have its checksum",
        }
    }

    /// Logs damage, but each only once.
    fn note(&self, damage: &Damage) {
        self.errors.fetch_add(1, Ordering::Relaxed);
        if self.noted.lock().insert(damage.offset) {
            tracing::error!("damaged: {damage}");
        }
    }

    /// The checksums of a group.
    fn sums(&self, group: u64) -> io::Result<Arc<Sums>> {
        if let Some(sums) = self.groups.read().get(&group) {
            if !sums.used.load(Ordering::Relaxed) {
                sums.used.store(true, Ordering::Relaxed);
            }
            return Ok(sums.clone());
        }
        let sums = Arc::new(Sums::decode(&self.read_sums(group)?));
        let mut groups = self.groups.write();
        if groups.len() >= self.limit {
            // Those that nobody used since this was done last; dirty ones stay until they are written.
            let keep = |s: &Arc<Sums>| {
                s.dirty.load(Ordering::Relaxed) || s.used.swap(false, Ordering::Relaxed)
            };
            groups.retain(|_, s| keep(s));
        }
        Ok(groups.entry(group).or_insert(sums).clone())
    }

    fn read_sums(&self, group: u64) -> io::Result<Vec<u8>> {
        let mut page = vec![0; LEN];
        // Behind the file's end nothing was written.
        self.file.read_at(&mut page, sums_place(group))?;
        Ok(page)
    }

    // ---- writing ----

    /// Runs a call that takes space until there is some.
    fn with_room(&self, call: impl Fn() -> io::Result<()>) -> io::Result<()> {
        let mut waited = false;
        loop {
            match call() {
                Err(e) if is_no_space(&e) && self.room.waits() => {
                    if !waited {
                        tracing::error!("{e}: the checkpoint waits until there is room");
                        self.room
                            .set_full(Some(format!("the base file can't grow: {e}")));
                        waited = true;
                    }
                    std::thread::sleep(RETRY);
                }
                r => {
                    if waited {
                        self.room.set_full(None);
                        if r.is_ok() {
                            tracing::info!("there is room again, the checkpoint goes on");
                        }
                    }
                    return r;
                }
            }
        }
    }

    fn put(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let done = self.file.write_at(bytes, at);
        // Behind the write: a copy that is being made meanwhile is made again.
        self.room.note(at, bytes.len() as u64);
        done
    }

    /// Writes content, and notes its checksums.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if offset < BLOCK {
            return self.write_head(offset as usize, data);
        }
        if !offset.is_multiple_of(BLOCK) || !data.len().is_multiple_of(LEN) {
            return Err(io::Error::other("a write of a part of a block"));
        }
        let (mut block, mut rest) = (offset / BLOCK, data);
        while !rest.is_empty() {
            let (group, at) = ((block - 1) / GROUP, (block - 1) % GROUP);
            let n = (rest.len() / LEN).min((GROUP - at) as usize);
            let (part, behind) = rest.split_at(n * LEN);
            self.with_room(|| {
                let _writing = self.writing.lock();
                self.put(place(block), part)?;
                self.set_sums(group, at as usize, block, part)
            })?;
            block += n as u64;
            rest = behind;
        }
        if self.dirty.load(Ordering::Relaxed) > self.limit / 2 {
            self.write_sums()?;
        }
        Ok(())
    }

    fn set_sums(&self, group: u64, at: usize, block: u64, part: &[u8]) -> io::Result<()> {
        loop {
            let groups = self.groups.read();
            // Under the lock: sums that leave memory would forget it.
            if let Some(sums) = groups.get(&group) {
                for (i, bytes) in part.chunks_exact(LEN).enumerate() {
                    let sum = checksum(block + i as u64, bytes);
                    sums.of[at + i].store(sum, Ordering::Release);
                }
                if !sums.dirty.swap(true, Ordering::AcqRel) {
                    self.dirty.fetch_add(1, Ordering::Relaxed);
                }
                return Ok(());
            }
            drop(groups);
            self.sums(group)?;
        }
    }

    /// Writes the checksums that have changed.
    pub(crate) fn write_sums(&self) -> io::Result<()> {
        let dirty: Vec<_> = (self.groups.read().iter())
            .filter(|(_, s)| s.dirty.load(Ordering::Relaxed))
            .map(|(g, s)| (*g, s.clone()))
            .collect();
        for (group, sums) in dirty {
            self.with_room(|| {
                let _writing = self.writing.lock();
                if !sums.dirty.load(Ordering::Acquire) {
                    return Ok(());
                }
                self.put(sums_place(group), &sums.encode())?;
                sums.dirty.store(false, Ordering::Release);
                self.dirty.fetch_sub(1, Ordering::Relaxed);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn write_head(&self, offset: usize, data: &[u8]) -> io::Result<()> {
        if !self.head.lock().settled {
            // The process before may have been killed before it had synced either.
            self.file.sync_data()?;
            self.head.lock().settled = true;
        }
        let mut head = self.head.lock();
        match head.content[..LEN - HEAD].get_mut(offset..offset + data.len()) {
            Some(bytes) => bytes.copy_from_slice(data),
            None => return Err(io::Error::other("the base's first block is too long")),
        }
        head.number += 1;
        let (page, at) = (head.encode(), (1 - head.durable) * BLOCK);
        head.pending = true;
        self.with_room(|| self.put(at, &page))
    }

    /// Makes durable what was written so far, in which no commit may trust yet.
    pub(crate) fn sync_written(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Makes everything durable, checksums included.
    pub(crate) fn sync_data(&self) -> io::Result<()> {
        self.write_sums()?;
        let number = {
            let head = self.head.lock();
            head.pending.then_some(head.number)
        };
        self.sync_written()?;
        let mut head = self.head.lock();
        if head.pending && number == Some(head.number) {
            head.durable = 1 - head.durable;
            head.pending = false;
            // The other one gets the same, so that damage of either leaves one.
            let (page, at) = (head.encode(), (1 - head.durable) * BLOCK);
            self.with_room(|| self.put(at, &page))?;
        }
        Ok(())
    }

    pub(crate) fn set_len(&self, content: u64) -> io::Result<()> {
        let (old, new) = (self.file.len()?, stored_len(content));
        if new < old {
            self.forget_behind(content)?;
        }
        let done = self.with_room(|| self.file.set_len(new));
        self.room.note(old.min(new), old.abs_diff(new));
        done
    }

    /// Blocks behind a new end were never written.
    fn forget_behind(&self, content: u64) -> io::Result<()> {
        let first = content.div_ceil(BLOCK).max(1);
        let (group, at) = ((first - 1) / GROUP, ((first - 1) % GROUP) as usize);
        let _writing = self.writing.lock();
        if at > 0 {
            let sums = self.sums(group)?;
            let groups = self.groups.read();
            let sums = groups.get(&group).unwrap_or(&sums);
            for s in &sums.of[at..] {
                s.store(0, Ordering::Release);
            }
            if !sums.dirty.swap(true, Ordering::AcqRel) {
                self.dirty.fetch_add(1, Ordering::Relaxed);
            }
        }
        let keep = group + u64::from(at > 0);
        self.groups.write().retain(|g, s| {
            let stays = *g < keep;
            if !stays && s.dirty.swap(false, Ordering::AcqRel) {
                self.dirty.fetch_sub(1, Ordering::Relaxed);
            }
            stays
        });
        Ok(())
    }

    // ---- the whole file ----

    /// Bytes of the file, without what encryption adds.
    pub(crate) fn file_len(&self) -> io::Result<u64> {
        self.file.len()
    }

    /// The content's offset of a place in the file; `None`: none of redb's pages.
    pub(crate) fn content_offset(stored: u64) -> Option<u64> {
        content_block(stored / BLOCK).map(|b| b * BLOCK)
    }

    /// Compares what the file holds from `from` up to `to` with the checksums that it holds itself, past what memory knows.
    /// Gives the damaged places; whether anybody needs what was there is another question.
    pub(crate) fn verify(&self, from: u64, to: u64) -> io::Result<Vec<Damage>> {
        let mut found = Vec::new();
        let to = to.min(self.file.len()?) / BLOCK;
        let mut at = from / BLOCK;
        let mut buf = vec![0; 256 * LEN];
        let mut sums: Option<(u64, Sums)> = None;
        while at < to {
            let part = &mut buf[..(to - at).min(256) as usize * LEN];
            let blocks = self.file.read_at(part, at * BLOCK)? / LEN;
            for (i, bytes) in part.chunks_exact(LEN).take(blocks).enumerate() {
                let stored = at + i as u64;
                if stored < HEADS {
                    self.verify_head(stored, bytes)?;
                }
                let Some(block) = content_block(stored) else {
                    continue;
                };
                let group = (block - 1) / GROUP;
                let sums = match &mut sums {
                    Some((g, s)) if *g == group => s,
                    s => &mut s.insert((group, Sums::decode(&self.read_sums(group)?))).1,
                };
                let sum = sums.of[((block - 1) % GROUP) as usize].load(Ordering::Relaxed);
                if !passes(block, bytes, sum) && !self.verify_again(block)? {
                    found.push(self.damage(block));
                }
            }
            if blocks == 0 {
                break;
            }
            at += blocks as u64;
        }
        Ok(found)
    }

    /// As [`Self::verify`], of whole blocks of the content behind the first.
    pub(crate) fn verify_content(&self, range: std::ops::Range<u64>) -> io::Result<Vec<Damage>> {
        if range.start < BLOCK || range.is_empty() {
            return Ok(Vec::new());
        }
        let last = place((range.end - 1) / BLOCK);
        self.verify(place(range.start / BLOCK), last + BLOCK)
    }

    /// A head that is damaged is written again: the other one is whole, and memory has it.
    fn verify_head(&self, stored: u64, bytes: &[u8]) -> io::Result<()> {
        if Head::decode(bytes).is_some() {
            return Ok(());
        }
        let head = self.head.lock();
        let mut page = vec![0; LEN];
        self.read_exact(&mut page, stored * BLOCK)?;
        if Head::decode(&page).is_some() || head.number == 0 {
            return Ok(());
        }
        self.errors.fetch_add(1, Ordering::Relaxed);
        tracing::error!(
            "{}: one of the base's two heads, at offset {}, was damaged, and is written again",
            self.path.display(),
            stored * BLOCK
        );
        self.put(stored * BLOCK, &head.encode())
    }

    /// A block that did not pass, while nobody writes.
    fn verify_again(&self, block: u64) -> io::Result<bool> {
        let (group, at) = ((block - 1) / GROUP, ((block - 1) % GROUP) as usize);
        let _writing = self.writing.lock();
        if place(block) + BLOCK > self.file.len()? {
            // The file was made shorter meanwhile.
            return Ok(true);
        }
        let mut bytes = vec![0; LEN];
        self.read_exact(&mut bytes, place(block))?;
        let known = self.groups.read().get(&group).cloned();
        let sum = match known {
            Some(s) if s.dirty.load(Ordering::Acquire) => s.of[at].load(Ordering::Acquire),
            _ => Sums::decode(&self.read_sums(group)?).of[at].load(Ordering::Relaxed),
        };
        Ok(passes(block, &bytes, sum))
    }

    /// Notes damage of a page in use.
    pub(crate) fn note_whose(&self, damage: &Damage, error: &dyn std::fmt::Display) {
        self.errors.fetch_add(1, Ordering::Relaxed);
        if self.noted.lock().insert(damage.offset | 1) {
            tracing::error!("{error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_and_lengths_go_together(block in 1u64..5_000_000) {
            let at = place(block);
            prop_assert_eq!(content_block(at / BLOCK), Some(block));
            prop_assert!(sums_place((block - 1) / GROUP) < at);
            prop_assert!(at < sums_place((block - 1) / GROUP + 1));
            let content = (block + 1) * BLOCK;
            prop_assert_eq!(content_len(stored_len(content)), content);
            prop_assert_eq!(stored_len(content), at + BLOCK);
        }
    }

    #[test]
    fn no_content_has_no_length() {
        assert_eq!((stored_len(0), content_len(0)), (0, 0));
        assert_eq!(content_len(stored_len(BLOCK)), BLOCK);
        assert_eq!(content_block(HEADS), None);
    }

    #[test]
    fn a_block_in_another_place_does_not_pass() {
        let bytes = vec![7; LEN];
        assert!(passes(3, &bytes, checksum(3, &bytes)));
        assert!(!passes(4, &bytes, checksum(3, &bytes)));
        assert!(passes(3, &vec![0; LEN], 0) && !passes(3, &bytes, 0));
    }
}
