//! Buffers of finished records, kept for the next records.
//!
//! The committing thread makes a record's buffer, and the thread that finishes its group frees it. Most buffers are larger
//! than what an allocator keeps for a thread. So without this, threads would contend in the allocator at each commit.

use parking_lot::Mutex;

/// No more are kept.
const MOST: usize = 64;
/// None is kept with more bytes than this, or with less than a small transaction takes.
const KEPT: std::ops::RangeInclusive<usize> = 512..=4096;

static SPARE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// An empty buffer; one that has room already, if it can be had without waiting.
pub fn spare_buffer() -> Vec<u8> {
    SPARE
        .try_lock()
        .and_then(|mut s| s.pop())
        .unwrap_or_default()
}

/// Keeps a buffer for the next [`spare_buffer`], unless there are enough, it has no useful size, or somebody else is at it.
pub(crate) fn keep(mut buf: Vec<u8>) {
    if KEPT.contains(&buf.capacity())
        && let Some(mut spare) = SPARE.try_lock()
        && spare.len() < MOST
    {
        buf.clear();
        spare.push(buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_a_useful_size_come_back_empty() {
        // Other tests use the same ones, so none of these may be the one that comes.
        for size in [0, 100, 511, 4097, 1 << 20] {
            keep(Vec::with_capacity(size));
        }
        keep(vec![7; 2000]);
        for _ in 0..=MOST {
            let buf = spare_buffer();
            assert!(buf.is_empty());
            assert!(buf.capacity() == 0 || KEPT.contains(&buf.capacity()));
        }
        for _ in 0..2 * MOST {
            keep(vec![7; 1000]);
        }
        assert!(SPARE.lock().len() <= MOST);
    }
}
