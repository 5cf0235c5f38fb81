//! Ordered reads of one run.

use crate::Result;
use crate::key::FullRange;
use crate::store::entry::{Payload, RunEntry};
use crate::store::run::block::{Block, Page};
use crate::store::run::reader::Run;
use std::ops::Bound;
use std::sync::Arc;

/// A cursor on an entry of a run, or at the end of its range.
pub(crate) struct RunCursor {
    run: Arc<Run>,
    range: FullRange,
    reverse: bool,
    /// Blocks go through the cache until the cursor has passed one: what goes on is a scan.
    keep: bool,
    page_no: usize,
    page: Option<Arc<Page>>,
    block_no: usize,
    block: Option<Arc<Block>>,
    at: usize,
    /// The key under the cursor; meaningless at the end.
    key: Vec<u8>,
}

impl RunCursor {
    pub(super) fn new(run: Arc<Run>, range: FullRange, reverse: bool) -> Result<RunCursor> {
        let overlaps = !range.is_empty() && run.overlaps(&range);
        let mut c = RunCursor {
            run,
            range,
            reverse,
            keep: true,
            page_no: 0,
            page: None,
            block_no: 0,
            block: None,
            at: 0,
            key: Vec::new(),
        };
        if overlaps {
            c.seek()?;
        }
        Ok(c)
    }

    pub(super) fn all(run: Arc<Run>) -> Result<RunCursor> {
        let everything = FullRange {
            start: Bound::Unbounded,
            end: Bound::Unbounded,
        };
        let mut c = RunCursor::new(run, everything, false)?;
        c.keep = false;
        Ok(c)
    }

    /// Goes to the first entry of the range in its direction.
    fn seek(&mut self) -> Result<()> {
        let bound = if self.reverse {
            &self.range.end
        } else {
            &self.range.start
        };
        let (key, or_equal) = match bound {
            // Forward: entries that are less (and, if excluded, equal) are passed. Backward: the last of those that are
            // less (and, if included, equal).
            Bound::Included(k) => (k.clone(), self.reverse),
            Bound::Excluded(k) => (k.clone(), !self.reverse),
            Bound::Unbounded => {
                let pages = self.run.top.pages.len();
                let Some(last) = pages.checked_sub(1) else {
                    return Ok(());
                };
                self.open_page(if self.reverse { last } else { 0 })?;
                return self.enter();
            }
        };
        // Every key before the first page is greater than the bound.
        let Some(n) = self.run.top.find(&key) else {
            if !self.reverse && !self.run.top.pages.is_empty() {
                self.open_page(0)?;
                return self.enter();
            }
            return Ok(());
        };
        let page = self.run.page(n, self.keep)?;
        // The page's first key is that of its first block, so there is one.
        self.block_no = page.find(&key).unwrap_or(0);
        self.page_no = n;
        self.page = Some(page);
        let rank = self.load_block()?.rank(&key, or_equal);
        let Some(rank) = rank else {
            return Err(self.damaged());
        };
        if self.reverse {
            match rank.checked_sub(1) {
                Some(i) => self.at = i,
                None => return self.next_block(),
            }
        } else {
            self.at = rank;
            if self.block.as_ref().is_some_and(|b| rank >= b.len()) {
                return self.next_block();
            }
        }
        self.settle()
    }

    fn open_page(&mut self, n: usize) -> Result<()> {
        let page = self.run.page(n, self.keep)?;
        self.page_no = n;
        self.block_no = if self.reverse {
            page.len().saturating_sub(1)
        } else {
            0
        };
        self.page = Some(page);
        Ok(())
    }

    /// Reads the current block and goes to its first entry in the cursor's direction.
    fn enter(&mut self) -> Result<()> {
        let reverse = self.reverse;
        let block = self.load_block()?;
        self.at = if reverse {
            block.len().saturating_sub(1)
        } else {
            0
        };
        self.settle()
    }

    fn load_block(&mut self) -> Result<Arc<Block>> {
        let place = self.page.as_ref().and_then(|p| p.place(self.block_no));
        let Some(place) = place else {
            return Err(self.damaged());
        };
        let block = self.run.block(place, self.keep)?;
        self.block = Some(block.clone());
        Ok(block)
    }

    fn next_block(&mut self) -> Result<()> {
        self.keep = false;
        let blocks = self.page.as_ref().map_or(0, |p| p.len());
        let next = if self.reverse {
            self.block_no.checked_sub(1)
        } else {
            Some(self.block_no + 1).filter(|n| *n < blocks)
        };
        match next {
            Some(n) => self.block_no = n,
            None => {
                let next = if self.reverse {
                    self.page_no.checked_sub(1)
                } else {
                    Some(self.page_no + 1).filter(|n| *n < self.run.top.pages.len())
                };
                let Some(n) = next else {
                    self.end();
                    return Ok(());
                };
                self.open_page(n)?;
            }
        }
        self.enter()
    }

    fn end(&mut self) {
        self.block = None;
        self.page = None;
    }

    /// Makes the key under the cursor; ends if it is outside the range.
    #[inline]
    fn settle(&mut self) -> Result<()> {
        let Some(block) = &self.block else {
            return Ok(());
        };
        let Some((rest, _)) = block.entry(self.at) else {
            return Err(self.damaged());
        };
        self.key.clear();
        self.key.extend_from_slice(block.prefix());
        self.key.extend_from_slice(rest);
        let inside = if self.reverse {
            match &self.range.start {
                Bound::Included(k) => *self.key >= **k,
                Bound::Excluded(k) => *self.key > **k,
                Bound::Unbounded => true,
            }
        } else {
            match &self.range.end {
                Bound::Included(k) => *self.key <= **k,
                Bound::Excluded(k) => *self.key < **k,
                Bound::Unbounded => true,
            }
        };
        if !inside {
            self.end();
        }
        Ok(())
    }

    fn damaged(&self) -> crate::EngineError {
        self.run.damaged(self.offset())
    }

    /// Offset of the block under the cursor in the file.
    pub(super) fn offset(&self) -> u64 {
        self.page
            .as_ref()
            .and_then(|p| p.place(self.block_no))
            .map_or(0, |p| p.offset)
    }

    /// The full key under the cursor; `None` at the end.
    #[inline]
    pub(crate) fn peek_key(&self) -> Option<&[u8]> {
        self.block.is_some().then_some(self.key.as_slice())
    }

    /// What the run says about the key under the cursor; `None` at the end.
    #[inline]
    pub(crate) fn entry(&self) -> Option<RunEntry<'_>> {
        self.block.as_ref()?.entry(self.at).map(|(_, e)| e)
    }

    /// A copy of what the run says about the key under the cursor; `None` at the end.
    pub(crate) fn payload(&self) -> Option<Payload> {
        self.entry().map(|e| e.to_payload())
    }

    /// Goes to the next entry in the cursor's direction; stays at the end.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<()> {
        let Some(block) = &self.block else {
            return Ok(());
        };
        let next = if self.reverse {
            self.at.checked_sub(1)
        } else {
            Some(self.at + 1).filter(|n| *n < block.len())
        };
        match next {
            Some(n) => {
                self.at = n;
                self.settle()
            }
            None => self.next_block(),
        }
    }
}

impl Run {
    /// A cursor over the keys of a range, ascending or, with `reverse`, descending.
    pub(crate) fn cursor(self: &Arc<Run>, range: &FullRange, reverse: bool) -> Result<RunCursor> {
        RunCursor::new(self.clone(), range.clone(), reverse)
    }

    /// A cursor over everything, in key order. It reads past the cache.
    pub(crate) fn iter_all(self: &Arc<Run>) -> Result<RunCursor> {
        RunCursor::all(self.clone())
    }
}
