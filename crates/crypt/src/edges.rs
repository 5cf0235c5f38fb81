//! Locks on single sectors of a file, for sectors that several callers use different bytes of.
//!
//! The plain file lets one caller append behind another's bytes in the same sector, and a third read the latter
//! meanwhile. Under encryption the sector is one unit: an append reads it, changes it and writes it back. Only such
//! edges are locked; what lies between them belongs to one caller.

use parking_lot::{Condvar, Mutex};

#[derive(Debug)]
struct Held {
    sector: u64,
    /// 0: one writer.
    readers: u32,
}

/// The locked sectors of one file.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    held: Mutex<Vec<Held>>,
    freed: Condvar,
}

/// Unlocks when dropped.
#[derive(Debug)]
pub(crate) struct EdgeGuard<'a> {
    edges: &'a Edges,
    sectors: [Option<u64>; 2],
}

impl Edges {
    /// Locks up to two different sectors at once, so that no two callers can hold one and wait for the other's.
    pub fn lock(&self, sectors: [Option<u64>; 2], exclusive: bool) -> EdgeGuard<'_> {
        let sectors = match sectors {
            [a, b] if a == b => [a, None],
            other => other,
        };
        if sectors != [None, None] {
            let mut held = self.held.lock();
            let wanted = |h: &Held| sectors.contains(&Some(h.sector));
            while held
                .iter()
                .any(|h| wanted(h) && (exclusive || h.readers == 0))
            {
                self.freed.wait(&mut held);
            }
            for sector in sectors.into_iter().flatten() {
                match held.iter_mut().find(|h| h.sector == sector) {
                    Some(h) => h.readers += 1,
                    None => held.push(Held {
                        sector,
                        readers: u32::from(!exclusive),
                    }),
                }
            }
        }
        EdgeGuard {
            edges: self,
            sectors,
        }
    }
}

impl Drop for EdgeGuard<'_> {
    fn drop(&mut self) {
        if self.sectors == [None, None] {
            return;
        }
        let mut held = self.edges.held.lock();
        for sector in self.sectors.into_iter().flatten() {
            if let Some(i) = held.iter().position(|h| h.sector == sector) {
                held[i].readers = held[i].readers.saturating_sub(1);
                if held[i].readers == 0 {
                    held.swap_remove(i);
                }
            }
        }
        drop(held);
        self.edges.freed.notify_all();
    }
}
