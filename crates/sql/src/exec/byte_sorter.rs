//! Sorting records by byte keys, in memory and temporary files.

use super::order::{Spilled, prefix};
use super::partition::OnRecord;
use crate::env::StatementEnv;
use narwal_types::SqlResult;

/// A record in memory: its key and payload stand one behind the other.
#[derive(Clone, Copy)]
struct Slot {
    /// The first bytes of the key, which decide most comparisons.
    prefix: u64,
    start: usize,
    key: u32,
    payload: u32,
}

/// Records to be sorted by their keys; equal keys stay in the order in which they came.
pub(super) struct ByteSorter {
    arena: Vec<u8>,
    slots: Vec<Slot>,
    room: u64,
    spilled: Option<Spilled>,
}

impl ByteSorter {
    /// No records yet; so many bytes of them may be in memory.
    pub(super) fn new(room: u64) -> Self {
        ByteSorter {
            arena: Vec::new(),
            slots: Vec::new(),
            room,
            spilled: None,
        }
    }

    /// Adds a record.
    pub(super) fn push(&mut self, key: &[u8], payload: &[u8], env: &StatementEnv) -> SqlResult<()> {
        self.slots.push(Slot {
            prefix: prefix(key),
            start: self.arena.len(),
            key: key.len() as u32,
            payload: payload.len() as u32,
        });
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(payload);
        if (self.arena.len() + self.slots.len() * size_of::<Slot>()) as u64 > self.room {
            self.spill(env)?;
        }
        Ok(())
    }

    fn parts(&self, s: Slot) -> (&[u8], &[u8]) {
        let end = s.start + (s.key + s.payload) as usize;
        self.arena[s.start..end].split_at(s.key as usize)
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        let key = |s: &Slot| &arena[s.start..s.start + s.key as usize];
        self.slots.sort_unstable_by(|a, b| {
            (a.prefix.cmp(&b.prefix))
                .then_with(|| key(a).cmp(key(b)))
                .then_with(|| a.start.cmp(&b.start))
        });
    }

    fn spill(&mut self, env: &StatementEnv) -> SqlResult<()> {
        env.check_interrupt()?;
        self.sort();
        let mut to = match self.spilled.take() {
            Some(s) => s,
            None => Spilled::new(env)?,
        };
        to.run(env, |to| {
            for s in &self.slots {
                let (key, payload) = self.parts(*s);
                to.record(key, payload, &[])?;
            }
            Ok(())
        })?;
        self.spilled = Some(to);
        self.slots.clear();
        self.arena.clear();
        Ok(())
    }

    /// Calls `f` with key and payload of all records in order. False = enough.
    pub(super) fn drain(mut self, env: &StatementEnv, f: &mut OnRecord<'_>) -> SqlResult<()> {
        if self.spilled.is_some() {
            self.spill(env)?;
            self.arena = Vec::new();
            self.slots = Vec::new();
        }
        if let Some(s) = &self.spilled {
            return s.each(env, &mut |c| f(c.key(), c.parts().0));
        }
        self.sort();
        for (n, s) in self.slots.iter().enumerate() {
            if n & 0xff == 0xff {
                env.check_interrupt()?;
            }
            let (key, payload) = self.parts(*s);
            if !f(key, payload)? {
                break;
            }
        }
        Ok(())
    }
}
