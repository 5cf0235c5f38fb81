//! Long scans of the base by two threads.
//!
//! The rest of the key range is cut into many chunks. The scan's own thread takes the first that is left and hands its rows on at
//! once; a helper takes the last that is left and keeps the rows that the consumer may want, few of many. When there are no
//! chunks left, the helper's rows are handed on: the consumer meets all rows in their order, in its own thread. What the helper
//! did not manage (too many rows to keep, an error) the scan's own thread reads again.

use crate::store::base::{BaseGen, split_value};
use crate::store::base_trait::ReadBase;
use crate::{EngineError, Result};
use parking_lot::Mutex;
use std::ops::Bound;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// Takes a key and a row; false ends the scan.
type Each<'f, E> = &'f mut dyn FnMut(&[u8], &[u8]) -> std::result::Result<bool, E>;

/// Says false for row images that a scan's consumer does nothing with.
pub type Keep<'k> = dyn Fn(&[u8]) -> bool + Sync + 'k;

/// Entries that one thread reads before another is asked for help: about a millisecond's work.
const ALONE: usize = 8192;
/// Entries of a chunk, about: the threads wait for each other's last one.
const CHUNK: u64 = 8192;
const MAX_CHUNKS: u64 = 4096;
/// Bytes that a helper keeps.
const KEPT_BYTES: usize = 8 << 20;
/// A helper that keeps more than one row of so many gives up: to copy them is no help.
const ONE_OF: usize = 4;
/// Entries after which that is asked, and whether there is an end.
const STEP: usize = 1024;
/// Helpers at work in the process: at most one less than there are cores.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// A helper's place among them.
struct Place;

impl Place {
    fn get() -> Option<Place> {
        static MAX: OnceLock<usize> = OnceLock::new();
        let max = *MAX.get_or_init(|| thread::available_parallelism().map_or(1, usize::from) - 1);
        HELPERS
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| {
                (n < max).then_some(n + 1)
            })
            .is_ok()
            .then_some(Place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A forward scan of a clustered index.
pub(crate) struct Parallel<'p> {
    pub(crate) base: &'p BaseGen,
    pub(crate) index: u32,
    pub(crate) end: Bound<&'p [u8]>,
    pub(crate) keep: &'p Keep<'p>,
    /// Entries that a helper read and that were not handed on, since `keep` said no.
    pub(crate) left_out: AtomicU64,
}

/// Which chunks are taken: those before the first number and from the second on.
struct Claims(Mutex<(usize, usize)>);

impl Claims {
    fn first(&self) -> Option<usize> {
        let mut c = self.0.lock();
        let at = c.0;
        (at < c.1).then(|| {
            c.0 += 1;
            at
        })
    }

    fn last(&self) -> Option<usize> {
        let mut c = self.0.lock();
        (c.0 < c.1).then(|| {
            c.1 -= 1;
            c.1
        })
    }
}

/// Entries of one chunk that a helper kept: keys and values back to back, and where each ends.
#[derive(Default)]
struct Kept {
    /// Entries of the chunk that are not among these.
    left_out: u64,
    bytes: Vec<u8>,
    ends: Vec<(usize, usize)>,
}

impl Kept {
    fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((end, self.bytes.len()));
    }

    fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(key, value)| {
            let item = (&self.bytes[start..*key], &self.bytes[*key..*value]);
            start = *value;
            item
        })
    }
}

impl Parallel<'_> {
    /// Calls `f` with the entries behind `last` until it says false, but perhaps not with some that `keep` says false for;
    /// returns what it said last.
    pub(crate) fn walk<E: From<EngineError>>(
        &self,
        last: &[u8],
        f: Each<'_, E>,
    ) -> std::result::Result<bool, E> {
        let mut n = 0;
        let mut more = true;
        let mut at = Vec::new();
        self.part(Bound::Excluded(last), self.end, &mut |k, v| {
            n += 1;
            more = f(k, v)?;
            if n == ALONE {
                at.extend_from_slice(k);
            }
            Ok::<_, E>(more && n < ALONE)
        })?;
        if !more || n < ALONE {
            return Ok(more);
        }
        let Some(place) = Place::get() else {
            return self.part(Bound::Excluded(&at), self.end, f);
        };
        let cuts = self.cuts(&at)?;
        self.by_two(place, &at, &cuts, f)
    }

    fn part<E: From<EngineError>>(
        &self,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        f: Each<'_, E>,
    ) -> std::result::Result<bool, E> {
        self.base.walk(self.index, start, end, false, f)
    }

    /// Keys that cut the rest of the range into chunks, ascending.
    fn cuts(&self, at: &[u8]) -> Result<Vec<Vec<u8>>> {
        let Some(last) = self.base.last_key(self.index, self.end)? else {
            return Ok(Vec::new());
        };
        let n = (self.base.len(self.index)? / CHUNK).clamp(2, MAX_CHUNKS);
        Ok(cuts(at, &last, n))
    }

    fn by_two<E: From<EngineError>>(
        &self,
        _place: Place,
        at: &[u8],
        cuts: &[Vec<u8>],
        f: Each<'_, E>,
    ) -> std::result::Result<bool, E> {
        let chunks = cuts.len() + 1;
        let bounds = |i: usize| {
            let start = match i {
                0 => Bound::Excluded(at),
                i => Bound::Included(cuts[i - 1].as_slice()),
            };
            let end = cuts
                .get(i)
                .map_or(self.end, |c| Bound::Excluded(c.as_slice()));
            (start, end)
        };
        let claims = Claims(Mutex::new((0, chunks)));
        let stop = AtomicBool::new(false);
        thread::scope(|s| {
            let help = || self.help(&claims, &stop, &bounds);
            let helper = thread::Builder::new()
                .name("scan".into())
                .spawn_scoped(s, help);
            let mut own = || -> std::result::Result<bool, E> {
                while let Some(i) = claims.first() {
                    let (start, end) = bounds(i);
                    if !self.part(start, end, f)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
            let done = own();
            if !matches!(done, Ok(true)) {
                stop.store(true, Ordering::Relaxed);
            }
            let mut kept = match helper {
                Ok(h) => h.join().unwrap_or_default(),
                Err(_) => Vec::new(),
            };
            if !done? {
                return Ok(false);
            }
            // The helper went from the last chunk to the first.
            for i in claims.0.lock().1..chunks {
                match kept.pop_if(|(of, _)| *of == i) {
                    Some((_, rows)) => {
                        self.left_out.fetch_add(rows.left_out, Ordering::Relaxed);
                        for (k, v) in rows.iter() {
                            if !f(k, v)? {
                                return Ok(false);
                            }
                        }
                    }
                    None => {
                        let (start, end) = bounds(i);
                        if !self.part(start, end, f)? {
                            return Ok(false);
                        }
                    }
                }
            }
            Ok(true)
        })
    }

    /// The helper's work: the chunks it has read as a whole, the last first.
    fn help<'b>(
        &self,
        claims: &Claims,
        stop: &AtomicBool,
        bounds: &dyn Fn(usize) -> (Bound<&'b [u8]>, Bound<&'b [u8]>),
    ) -> Vec<(usize, Kept)> {
        let mut all = Vec::new();
        let (mut read, mut rows, mut bytes) = (0, 0, 0);
        while let Some(i) = claims.last() {
            let mut kept = Kept::default();
            let (start, end) = bounds(i);
            let whole = self.part(start, end, &mut |k, v| -> Result<bool> {
                read += 1;
                if (self.keep)(split_value(v)?.1) {
                    kept.push(k, v);
                    rows += 1;
                    bytes += k.len() + v.len() + 16;
                } else {
                    kept.left_out += 1;
                }
                let much = || bytes > KEPT_BYTES || rows * ONE_OF > read;
                Ok(read % STEP != 0 || !stop.load(Ordering::Relaxed) && !much())
            });
            if !matches!(whole, Ok(true)) {
                break;
            }
            all.push((i, kept));
        }
        all
    }
}

/// At most `n - 1` keys between `from` and `to`, ascending, which lie even among all byte strings.
fn cuts(from: &[u8], to: &[u8], n: u64) -> Vec<Vec<u8>> {
    let same = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let number = |k: &[u8]| {
        let mut b = [0; 8];
        let rest = &k[same..];
        let len = rest.len().min(8);
        b[..len].copy_from_slice(&rest[..len]);
        u64::from_be_bytes(b)
    };
    let (a, b) = (number(from), number(to));
    let mut out: Vec<Vec<u8>> = Vec::new();
    for i in 1..n {
        let step = u128::from(b.saturating_sub(a)) * u128::from(i) / u128::from(n);
        let mut key = from[..same].to_vec();
        key.extend_from_slice(&(a + step as u64).to_be_bytes());
        if key.as_slice() > from && key.as_slice() <= to && out.last().is_none_or(|l| *l < key) {
            out.push(key);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cuts_lie_between(a: Vec<u8>, b: Vec<u8>, n in 2u64..100) {
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            let cuts = cuts(&a, &b, n);
            prop_assert!((cuts.len() as u64) < n);
            prop_assert!(cuts.iter().all(|c| *c > a && *c <= b));
            prop_assert!(cuts.windows(2).all(|w| w[0] < w[1]));
        }
    }

    #[test]
    fn integers_are_cut_into_equal_parts() {
        let key = |i: u32| (i ^ 0x8000_0000).to_be_bytes().to_vec();
        let cuts = cuts(&key(1000), &key(5000), 4);
        let cuts: Vec<_> = cuts.iter().map(|c| c[..4].to_vec()).collect();
        assert_eq!(cuts, [key(2000), key(3000), key(4000)]);
    }
}
