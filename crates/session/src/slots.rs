//! Prepared statements as a session keeps them.

use crate::admin::Admin;
use ahash::AHashMap;
use narwal_sql::ast::DdlStmt;
use narwal_sql::{ParamType, Prepared, Stmt};
use narwal_types::{Name, ResultSink, ValueRef};
use std::sync::Arc;

/// The generation of a plan that was made for other types of parameters: never the session's.
pub(crate) const RETYPED: u64 = u64::MAX;

/// A prepared statement.
pub(crate) struct Slot {
    pub(crate) text: Arc<str>,
    /// Default database when it was prepared.
    pub(crate) db: Option<Arc<str>>,
    pub(crate) kind: SlotKind,
    /// What it takes, in bytes.
    pub(crate) bytes: i64,
}

pub(crate) enum SlotKind {
    Sql {
        stmt: Arc<Stmt>,
        plan: Arc<Prepared>,
        counter: usize,
        writes: bool,
        keeps_diagnostics: bool,
        /// `plan_generation` of the session when it was planned.
        generation: u64,
        /// Types of the parameters that it was planned for, if columns of its result depend on them.
        types: Vec<ParamType>,
    },
    Ddl(Arc<DdlStmt>, usize),
    /// CALL and the like, and how many parameters it has.
    Program(Arc<narwal_syntax::ast::program::Program>, usize),
    Admin(Arc<Admin>),
    /// Any other statement, which runs as if it had just come; of these only SELECT ... INTO has parameters, so many.
    Other(Arc<narwal_syntax::Statement>, usize),
}

/// One run of a prepared statement.
pub(crate) struct Execution<'a> {
    /// The session's name for the statement.
    pub handle: u32,
    pub text: &'a str,
    /// Values of its `?`.
    pub params: &'a [ValueRef<'a>],
    /// Where its result goes.
    pub out: &'a mut dyn ResultSink,
    /// Another result follows it.
    pub more: bool,
}

impl Slot {
    /// Takes over the types of parameters, if the statement's result depends on them.
    #[inline]
    pub(crate) fn retype(&mut self, params: &[ValueRef<'_>], wire_types: &[(u8, u8)]) {
        let SlotKind::Sql {
            types, generation, ..
        } = &mut self.kind
        else {
            return;
        };
        for (i, (now, v)) in types.iter_mut().zip(params).enumerate() {
            let given = ParamType::of(wire_types.get(i).map_or(0, |t| t.0), v);
            if given != *now {
                *now = given;
                *generation = RETYPED;
            }
        }
    }
}

/// The prepared statements of a session: by the handle that each client's command names, and by the names that PREPARE
/// gave.
#[derive(Default)]
pub(crate) struct PreparedStatements {
    slots: AHashMap<u32, Slot>,
    named: AHashMap<String, u32>,
    last: u32,
    bytes: i64,
}

impl PreparedStatements {
    /// Keeps a statement, and gives its handle: never 0.
    pub(crate) fn keep(&mut self, slot: Slot) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.bytes += slot.bytes;
        self.slots.insert(self.last, slot);
        self.last
    }

    pub(crate) fn get(&self, handle: u32) -> Option<&Slot> {
        self.slots.get(&handle)
    }

    pub(crate) fn get_mut(&mut self, handle: u32) -> Option<&mut Slot> {
        self.slots.get_mut(&handle)
    }

    /// Forgets a statement; false if there is none of this handle.
    pub(crate) fn remove(&mut self, handle: u32) -> bool {
        match self.slots.remove(&handle) {
            Some(slot) => {
                self.bytes -= slot.bytes;
                true
            }
            None => false,
        }
    }

    /// PREPARE gives a name, in any case of its letters.
    pub(crate) fn set_name(&mut self, name: &str, handle: u32) {
        self.named.insert(name.name_key(), handle);
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<u32> {
        self.named.get(&name.name_key()).copied()
    }

    /// Forgets a name, and says which statement had it.
    pub(crate) fn take_name(&mut self, name: &str) -> Option<u32> {
        self.named.remove(&name.name_key())
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// What they take, in bytes.
    pub(crate) fn bytes(&self) -> i64 {
        self.bytes
    }

    /// Forgets all of them. Handles go on where they were.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.named.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(bytes: i64) -> Slot {
        Slot {
            text: "UNLOCK TABLES".into(),
            db: None,
            kind: SlotKind::Admin(Arc::new(Admin::UnlockTables)),
            bytes,
        }
    }

    #[test]
    fn handles_are_not_used_twice() {
        let mut p = PreparedStatements::default();
        let (a, b) = (p.keep(slot(10)), p.keep(slot(5)));
        assert_eq!((a, b, p.len(), p.bytes()), (1, 2, 2, 15));
        assert!(p.remove(a) && !p.remove(a));
        assert_eq!((p.len(), p.bytes()), (1, 5));
        p.clear();
        assert_eq!((p.len(), p.bytes()), (0, 0));
        assert_eq!(p.keep(slot(1)), 3);
        p.last = u32::MAX;
        assert_eq!(p.keep(slot(1)), 1);
    }

    #[test]
    fn names_are_those_of_prepare() {
        let mut p = PreparedStatements::default();
        let a = p.keep(slot(1));
        p.set_name("Stmt", a);
        assert_eq!(p.by_name("sTMT"), Some(a));
        assert_eq!(p.take_name("STMT"), Some(a));
        assert_eq!(p.by_name("stmt"), None);
    }
}
