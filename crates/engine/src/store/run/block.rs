//! Data blocks, index pages and the top of a run, as they are in memory.
//!
//! Their checksums have been verified when these are made; what is checked here keeps a faulty writer from causing a
//! panic.

use crate::store::entry::RunEntry;
use crate::store::run::format::{FRAME_HEADER, Parser, Place, le32};
use std::cmp::Ordering;

type Span = (u32, u32);

fn at(body: &[u8], s: Span) -> &[u8] {
    body.get(s.0 as usize..s.1 as usize).unwrap_or_default()
}

/// A data block.
#[derive(Debug)]
pub(crate) struct Block {
    frame: Box<[u8]>,
    prefix: Span,
    offsets: usize,
    entries: usize,
}

impl Block {
    pub(super) fn parse(frame: Box<[u8]>) -> Option<Block> {
        let body = frame.get(FRAME_HEADER..)?;
        let n = le32(body, body.len().checked_sub(4)?)? as usize;
        let offsets = body.len().checked_sub(4 + n.checked_mul(4)?)?;
        let mut p = Parser { body, at: 1 };
        let prefix = p.span()?;
        (n > 0 && p.at <= offsets).then_some(())?;
        Some(Block {
            prefix,
            offsets,
            entries: n,
            frame,
        })
    }

    pub(super) fn memory(&self) -> usize {
        self.frame.len() + 96
    }

    pub(super) fn len(&self) -> usize {
        self.entries
    }

    fn body(&self) -> &[u8] {
        self.frame.get(FRAME_HEADER..).unwrap_or_default()
    }

    pub(super) fn prefix(&self) -> &[u8] {
        at(self.body(), self.prefix)
    }

    /// The rest of the key behind the prefix, and what the block says about it.
    #[inline]
    pub(super) fn entry(&self, i: usize) -> Option<(&[u8], RunEntry<'_>)> {
        if i >= self.entries {
            return None;
        }
        let body = self.body();
        let start = le32(body, self.offsets + 4 * i)? as usize;
        let mut p = Parser { body, at: start };
        let key = p.span()?;
        let entry = match p.varint()? {
            0 => RunEntry::Tombstone,
            1 => RunEntry::Present,
            n => RunEntry::Row(at(body, p.take(usize::try_from(n - 2).ok()?)?)),
        };
        (p.at <= self.offsets).then_some((at(body, key), entry))
    }

    /// The number of entries whose key is less than `key` (or equal to it, if `or_equal`).
    pub(super) fn rank(&self, key: &[u8], or_equal: bool) -> Option<usize> {
        let prefix = self.prefix();
        let common = prefix.len().min(key.len());
        match prefix[..common].cmp(&key[..common]) {
            Ordering::Less => return Some(self.entries),
            Ordering::Greater => return Some(0),
            Ordering::Equal if key.len() < prefix.len() => return Some(0),
            Ordering::Equal => {}
        }
        let rest = &key[prefix.len()..];
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = low + (high - low) / 2;
            let (k, _) = self.entry(middle)?;
            let before = match k.cmp(rest) {
                Ordering::Less => true,
                Ordering::Equal => or_equal,
                Ordering::Greater => false,
            };
            if before {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    /// What the block says about a key.
    pub(super) fn find(&self, key: &[u8]) -> Option<Option<RunEntry<'_>>> {
        let i = self.rank(key, false)?;
        if i == self.entries {
            return Some(None);
        }
        let (rest, entry) = self.entry(i)?;
        let same = key
            .strip_prefix(self.prefix())
            .is_some_and(|wanted| wanted == rest);
        Some(same.then_some(entry))
    }
}

/// An index page: the blocks of a stretch of the file and their filters.
#[derive(Debug)]
pub(crate) struct Page {
    frame: Box<[u8]>,
    blocks: Vec<PageItem>,
}

#[derive(Debug)]
struct PageItem {
    first: Span,
    filter: Span,
    place: Place,
}

impl Page {
    pub(super) fn parse(frame: Box<[u8]>) -> Option<Page> {
        let body = frame.get(FRAME_HEADER..)?;
        let mut p = Parser { body, at: 1 };
        let n = p.u32()? as usize;
        let mut blocks = Vec::with_capacity(n.min(body.len()));
        for _ in 0..n {
            blocks.push(PageItem {
                first: p.span()?,
                place: Place {
                    offset: p.varint()?,
                    len: u32::try_from(p.varint()?).ok()?,
                },
                filter: p.span()?,
            });
        }
        (p.at == body.len() && n > 0).then_some(Page { blocks, frame })
    }

    pub(super) fn memory(&self) -> usize {
        self.frame.len() + self.blocks.len() * size_of::<PageItem>() + 64
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    fn part(&self, s: Span) -> &[u8] {
        at(self.frame.get(FRAME_HEADER..).unwrap_or_default(), s)
    }

    pub(super) fn place(&self, i: usize) -> Option<Place> {
        self.blocks.get(i).map(|b| b.place)
    }

    pub(super) fn filter(&self, i: usize) -> &[u8] {
        self.blocks.get(i).map_or(&[], |b| self.part(b.filter))
    }

    /// The last block whose first key is not greater than `key`.
    pub(super) fn find(&self, key: &[u8]) -> Option<usize> {
        self.blocks
            .partition_point(|b| self.part(b.first) <= key)
            .checked_sub(1)
    }
}

/// The keys of one index in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexSpan {
    /// Index id.
    pub(crate) index: u32,
    /// Number of entries, tombstones included.
    pub(crate) entries: u64,
    /// First full key.
    pub(crate) first: Box<[u8]>,
    /// Last full key.
    pub(crate) last: Box<[u8]>,
}

/// What a run keeps in memory.
#[derive(Debug, Default)]
pub(crate) struct Top {
    pub(super) entries: u64,
    pub(super) tombstones: u64,
    pub(super) pages: Vec<(Box<[u8]>, Place)>,
    pub(super) indexes: Vec<IndexSpan>,
}

impl Top {
    pub(super) fn parse(frame: &[u8]) -> Option<Top> {
        let body = frame.get(FRAME_HEADER..)?;
        let mut p = Parser { body, at: 1 };
        let mut top = Top {
            entries: p.u64()?,
            tombstones: p.u64()?,
            ..Top::default()
        };
        for _ in 0..p.u32()? {
            top.pages.push((
                p.bytes()?.into(),
                Place {
                    offset: p.varint()?,
                    len: u32::try_from(p.varint()?).ok()?,
                },
            ));
        }
        for _ in 0..p.u32()? {
            let (from, to) = p.take(4)?;
            let id = body.get(from as usize..to as usize)?;
            top.indexes.push(IndexSpan {
                index: u32::from_be_bytes(id.try_into().ok()?),
                entries: p.varint()?,
                first: p.bytes()?.into(),
                last: p.bytes()?.into(),
            });
        }
        (p.at == body.len()).then_some(top)
    }

    /// The last page whose first key is not greater than `key`.
    pub(super) fn find(&self, key: &[u8]) -> Option<usize> {
        self.pages
            .partition_point(|(first, _)| **first <= *key)
            .checked_sub(1)
    }
}
