//! Which ways of ALTER TABLE MariaDB has for a change of a table of InnoDB's: at once (INSTANT), without a copy of the rows
//! (NOCOPY), with one that is made in the table's place (INPLACE), or by a copy. Here all changes are made in one way or two;
//! what a statement asks for is refused as there, and the number of rows is told as there.

use crate::ast::AlterAction;
use crate::ddl::constraint::is_indexed;
use crate::env::{StatementEnv, VariableScope};
use narwal_engine::{ColumnDef, IndexDef, TableDef};
use narwal_types::errors;
use narwal_types::{Name, SqlError, SqlResult};

/// A change of a table: its definitions before and after, and the old column that each new one comes from.
pub(super) struct Change<'a> {
    pub(super) old: &'a TableDef,
    pub(super) new: &'a TableDef,
    pub(super) sources: &'a [Option<usize>],
    pub(super) actions: &'a [AlterAction],
}

/// What MariaDB says of virtual columns that come or go beside other things.
pub(super) const MIXED: &str =
    "INPLACE ADD or DROP of virtual columns cannot be combined with other ALTER TABLE actions";

/// Error 1845: this way can't be, that one can.
pub(super) fn not_this_way(way: &str, other: &str) -> SqlError {
    let (way, other) = (format!("ALGORITHM={way}"), format!("ALGORITHM={other}"));
    errors::ALTER_OPERATION_NOT_SUPPORTED.with([&way, &other])
}

/// Error 1846: the same with a reason.
fn because(way: &str, reason: &str, other: &str) -> SqlError {
    let (way, other) = (format!("ALGORITHM={way}"), format!("ALGORITHM={other}"));
    errors::ALTER_OPERATION_NOT_SUPPORTED_REASON.with([&way, &reason, &other])
}

fn is_virtual(c: &ColumnDef) -> bool {
    c.generated.as_ref().is_some_and(|g| !g.stored)
}

/// The key that InnoDB's rows stand by: the primary one, or the first unique one of columns that are not NULL.
fn row_key(def: &TableDef) -> Option<&IndexDef> {
    let primary = def.indexes.iter().find(|i| i.name == "PRIMARY");
    let whole = |i: &IndexDef| {
        let mut parts = i.columns.iter();
        parts.all(|p| p.prefix.is_none() && !def.columns[p.column].nullable)
    };
    primary.or_else(|| def.indexes.iter().find(|i| i.unique && whole(i)))
}

impl Change<'_> {
    /// The pairs of old and new columns.
    fn kept(&self) -> impl Iterator<Item = (&ColumnDef, &ColumnDef)> {
        let pairs = self.sources.iter().zip(&self.new.columns);
        pairs.filter_map(|(from, c)| from.map(|f| (&self.old.columns[f], c)))
    }

    fn added(&self) -> impl Iterator<Item = &ColumnDef> {
        let pairs = self.sources.iter().zip(&self.new.columns);
        pairs.filter(|(from, _)| from.is_none()).map(|(_, c)| c)
    }

    fn dropped(&self) -> impl Iterator<Item = &ColumnDef> {
        let columns = self.old.columns.iter().enumerate();
        let gone = columns.filter(|(i, _)| !self.sources.contains(&Some(*i)));
        gone.map(|(_, c)| c)
    }

    fn names_option(&self, wanted: &str) -> bool {
        let named = |a: &AlterAction| match a {
            AlterAction::Options(o) => o.kept.iter().any(|(name, _)| name == wanted),
            _ => false,
        };
        self.actions.iter().any(named)
    }

    fn has_row_format(&self, wanted: &str) -> bool {
        let has = |(name, value): &(String, String)| {
            name == "ROW_FORMAT" && value.eq_ignore_ascii_case(wanted)
        };
        self.new.options.iter().any(has)
    }

    /// The rows are made anew: FORCE, the table's own engine.
    fn is_forced(&self) -> bool {
        self.actions.iter().any(|a| match a {
            AlterAction::Options(o) => o.engine.is_some(),
            a => matches!(a, AlterAction::Force),
        })
    }

    fn changes_row_key(&self) -> bool {
        match (row_key(self.old), row_key(self.new)) {
            (Some(old), Some(new)) => old.id != new.id,
            (old, new) => old.is_some() != new.is_some(),
        }
    }

    fn index_comes(&self) -> bool {
        self.new.indexes.iter().any(|i| i.id == 0)
    }

    fn index_goes(&self) -> bool {
        let stays = |i: &&IndexDef| self.new.indexes.iter().any(|n| n.id == i.id);
        !self.old.indexes.iter().all(|i| stays(&i))
    }

    /// What InnoDB's rows get of new columns. Virtual ones are in no row.
    fn layout(&self) -> Layout {
        let stored = |i: &&(Option<usize>, bool)| !i.1;
        let all: Vec<(Option<usize>, bool)> = (self.sources.iter().zip(&self.new.columns))
            .map(|(from, c)| (*from, is_virtual(c)))
            .collect();
        let now: Vec<Option<usize>> = all.iter().filter(stored).map(|i| i.0).collect();
        let before = (self.old.columns.iter().enumerate()).filter(|(_, c)| !is_virtual(c));
        let before: Vec<Option<usize>> = before.map(|(i, _)| Some(i)).collect();
        match now.strip_prefix(&before[..]) {
            Some([]) => Layout::Same,
            Some(more) if more.iter().all(Option::is_none) => Layout::Longer,
            _ => Layout::Other,
        }
    }

    /// The reason why a change of columns is not made at once, if `innodb_instant_alter_column_allowed` says so.
    fn not_allowed(&self, layout: Layout, env: &StatementEnv) -> Option<String> {
        let name = "innodb_instant_alter_column_allowed";
        let value = env.system_variable(VariableScope::Global, name);
        let value = value.map_or_else(|_| "add_drop_reorder".into(), |v| v.to_text());
        let refused = match layout {
            Layout::Same => false,
            Layout::Longer => value == "never",
            Layout::Other => value != "add_drop_reorder",
        };
        refused.then(|| format!("{name}={value}"))
    }

    /// Errors 1845 and 1846 for a way that MariaDB does not have for this.
    pub(super) fn allows(&self, way: &str, env: &StatementEnv) -> SqlResult<()> {
        let stored = |c: &ColumnDef| c.generated.as_ref().is_some_and(|g| g.stored);
        let known = |name: &str| self.old.checks.iter().any(|c| c.name.same_name(name));
        if self.added().any(stored)
            || self.tightens_beside_computed()
            || !self.new.checks.iter().all(|c| known(&c.name))
        {
            return Err(not_this_way(way, "COPY"));
        }
        if way == "INPLACE" {
            return Ok(());
        }
        if self.names_option("ROW_FORMAT") {
            let reason = "Changing table options requires the table to be rebuilt";
            return Err(because(way, reason, "INPLACE"));
        }
        let layout = self.layout();
        let tightened = self.kept().any(|(o, n)| o.nullable && !n.nullable);
        // Rows of this format alone have a place for every column's NULL.
        let loosened = self.kept().any(|(o, n)| !o.nullable && n.nullable)
            && !self.has_row_format("REDUNDANT");
        let alone = !self.index_comes() && !self.index_goes();
        let moves = layout != Layout::Same && (!alone || self.has_row_format("COMPRESSED"));
        if self.is_forced()
            || self.names_option("KEY_BLOCK_SIZE")
            || self.changes_row_key()
            || tightened
            || self.added().any(|c| c.auto_increment)
            || moves
        {
            return Err(not_this_way(way, "INPLACE"));
        }
        if let Some(reason) = self.not_allowed(layout, env) {
            return Err(because(way, &reason, "INPLACE"));
        }
        if loosened {
            return Err(not_this_way(way, "INPLACE"));
        }
        match way {
            "INSTANT" if self.index_comes() => Err(because(way, "ADD INDEX", "NOCOPY")),
            "INSTANT" if self.index_goes() => Err(because(way, "DROP INDEX", "NOCOPY")),
            _ => Ok(()),
        }
    }

    /// A column becomes NOT NULL in a table that keeps computed values: MariaDB copies the rows.
    pub(super) fn tightens_beside_computed(&self) -> bool {
        let columns = self.new.columns.iter().enumerate();
        let mut computed = columns.filter(|(_, c)| c.generated.is_some());
        let kept = |(i, c): (usize, &ColumnDef)| !is_virtual(c) || is_indexed(self.new, i);
        self.kept().any(|(o, n)| o.nullable && !n.nullable) && computed.any(kept)
    }

    /// Virtual columns come or go beside what MariaDB makes a copy for then.
    pub(super) fn mixes_virtual(&self) -> bool {
        let comes = self.added().any(is_virtual);
        let goes = self.dropped().any(is_virtual);
        if !comes && !goes {
            return false;
        }
        let option = |a: &AlterAction| matches!(a, AlterAction::Options(_));
        self.added().any(|c| !is_virtual(c))
            || self.kept().any(|(o, n)| o != n)
            || self.actions.iter().any(option)
    }

    /// A virtual column stands elsewhere now: MariaDB copies the rows.
    pub(super) fn moves_virtual(&self) -> bool {
        let mut left: Vec<usize> = self.sources.iter().flatten().copied().collect();
        left.sort_unstable();
        let columns = self.sources.iter().zip(&self.new.columns).enumerate();
        let mut columns = columns.filter(|(_, (_, c))| is_virtual(c));
        columns.any(|(at, (from, _))| from.is_some_and(|from| left.get(at) != Some(&from)))
    }
}

/// How the columns of InnoDB's rows change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Same,
    /// New ones come behind the others.
    Longer,
    Other,
}
