//! A session's plans of statements that come as text, by their shape: which are kept, and which make room.

use ahash::AHashMap;
use narwal_sql::shape::Shape;
use narwal_sql::{Prepared, Stmt};
use narwal_types::Value;
use std::sync::Arc;

/// Statements whose fixed literals differ nearly every time are not worth a place: after so many plans that were not
/// there, more than were, their shape is given up.
const PATIENCE: u32 = 16;

/// A session's plans by the shape of their statements.
#[derive(Default)]
pub(crate) struct TextPlans {
    pub(crate) entries: AHashMap<Box<[u8]>, Entry>,
    /// Entries that were ever made.
    pub(crate) made: u64,
    /// Of the statement at hand; kept for its memory.
    pub(crate) shape: Shape,
    pub(crate) key: Vec<u8>,
    pub(crate) values: Vec<Value>,
}

pub(crate) struct Entry {
    pub(crate) kind: Kind,
    /// Used since the last time that room was made.
    pub(crate) used: bool,
    /// Its number among all that were ever made.
    pub(crate) number: u64,
}

pub(crate) enum Kind {
    /// Not to be kept, as far as this version goes.
    Never(Version),
    /// Some literals are part of the plan: their words are part of the key that the plan is found by.
    Some {
        slots: Arc<[bool]>,
        hits: u32,
        misses: u32,
    },
    /// A plan.
    Plan(Arc<TextPlan>),
}

pub(crate) struct TextPlan {
    pub(crate) stmt: Stmt,
    pub(crate) plan: Prepared,
    pub(crate) slots: Arc<[bool]>,
    pub(crate) counter: usize,
    /// The default database and the versions when it was planned.
    pub(crate) db: Option<Arc<str>>,
    pub(crate) version: Version,
    /// Texts beside columns whose character sets do not have all characters: others than of ASCII go the long way.
    pub(crate) ascii: bool,
}

impl TextPlan {
    /// The plan fits these values.
    pub(crate) fn takes(&self, values: &[Value]) -> bool {
        !self.ascii
            || values
                .iter()
                .all(|v| !matches!(v, Value::Str(s) if !s.is_ascii()))
    }
}

/// Of the catalog, and the session's `plan_generation`.
pub(crate) type Version = (u64, u64);

impl TextPlans {
    /// Forgets all plans.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn put_shape(&mut self, kind: Kind, room: usize) {
        let key = self.shape.key().to_vec();
        self.put(&key, kind, room);
    }

    pub(crate) fn put(&mut self, key: &[u8], kind: Kind, room: usize) {
        if let Some(e) = self.entries.get_mut(key) {
            e.kind = kind;
            return;
        }
        if self.entries.len() >= room {
            self.make_room(room);
        }
        self.made += 1;
        let number = self.made;
        let entry = Entry {
            kind,
            used: true,
            number,
        };
        self.entries.insert(key.into(), entry);
    }

    /// Forgets an eighth of the entries, first of all those that were not used lately. Which ones of these is left to
    /// chance: where more shapes come in turn than there is room for, the oldest would be the next to be wanted.
    pub(crate) fn make_room(&mut self, room: usize) {
        let leave = room - room.div_ceil(8);
        let made = self.made;
        let rank = |e: &Entry| {
            let chance = (e.number ^ made).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (e.used, chance)
        };
        let mut ranks: Vec<_> = self.entries.values().map(rank).collect();
        let gone = ranks.len().saturating_sub(leave).max(1);
        let last = *ranks.select_nth_unstable(gone - 1).1;
        self.entries.retain(|_, e| {
            let stays = rank(e) > last;
            e.used = false;
            stays
        });
    }

    /// The plan for the statement that was read last, and its key; or what is known of its shape.
    pub(crate) fn find(&mut self, text: &str, version: Version) -> Found {
        let Some(e) = self.entries.get_mut(self.shape.key()) else {
            return Found::Nothing;
        };
        e.used = true;
        let slots = match &mut e.kind {
            Kind::Never(v) if *v == version => return Found::Never,
            Kind::Never(_) => return Found::Nothing,
            Kind::Plan(p) => return Found::Plan(p.clone()),
            Kind::Some {
                slots,
                hits,
                misses,
            } => {
                if *misses > PATIENCE && *misses > *hits {
                    e.kind = Kind::Never(version);
                    return Found::Never;
                }
                slots.clone()
            }
        };
        self.shape.key_with_fixed(text, &slots, &mut self.key);
        let plan = match self.entries.get_mut(self.key.as_slice()) {
            Some(Entry {
                kind: Kind::Plan(p),
                used,
                ..
            }) => {
                *used = true;
                Some(p.clone())
            }
            _ => None,
        };
        if let Some(Entry {
            kind: Kind::Some { hits, misses, .. },
            ..
        }) = self.entries.get_mut(self.shape.key())
        {
            *(if plan.is_some() { hits } else { misses }) += 1;
        }
        plan.map_or(Found::Slots(slots), Found::Plan)
    }
}

pub(crate) enum Found {
    Nothing,
    Never,
    Slots(Arc<[bool]>),
    Plan(Arc<TextPlan>),
}
