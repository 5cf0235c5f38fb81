//! ALTER TABLE: what the new definition is, and whether the rows must be written anew for it.

use super::alter_text::without_ways;
use super::alter_way::{Change, MIXED, not_this_way};
use super::column::{
    check_auto_increment, check_row_size, column_def, is_open, own_collation, some_are_visible,
};
use super::create_table::warn_in_vain;
use super::database::reserved_schema;
use super::foreign::{after_alter, check_cascades, copy_renames_keys};
use super::foreign_refused::Making;
use crate::ast::{
    AlterAction, CheckSpec, ColumnPlace, ColumnSpec, DropKind, ForeignKeySpec, IndexSpec,
    TableElements,
};
use crate::charset_words::CharsetWords;
use crate::ddl::comment::{Commented, comment};
use crate::ddl::constraint;
use crate::ddl::engine_limits;
use crate::ddl::file_name::{self, cant_rename};
use crate::ddl::functional;
use crate::ddl::index::{
    HOPELESS, Limit, MAX_KEYS, cant_drop, fits_whole, index_def, kept_method, note_twice,
    number_of_keys, prefix_of, settle_hashes,
};
use crate::ddl::merge;
use crate::ddl::pages;
use crate::ddl::period;
use crate::ddl::rebuild::Looks;
use crate::ddl::run::engine_name;
use crate::ddl::run::{Run, db_of, may_be_called};
use crate::ddl::sequence::check_structure;
use crate::ddl::table_options::{self, Fit};
use crate::ddl::timestamp;
use crate::ddl::whole;
use crate::engine_name as names;
use crate::env::VariableScope;
use crate::exec::storer::duplicate_entry;
use crate::merge_table::may_alter;
use crate::plan::query::SortKey;
use crate::quote::quote_ident;
use crate::show::sort_indexes;
use crate::twice::first_twice;
use crate::virtual_tables::INFORMATION_SCHEMA;
use narwal_engine::{
    CatalogChange, CheckDef, ColumnDef, DefaultDef, EngineError, IndexColumn, IndexDef,
    IndexMethod, Table, TableDef, same_rows,
};
use narwal_syntax::ast::TableName;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::face::is_mysql;
use narwal_types::{BlobSize, Charset, Collation, ColumnType, Name, SqlError, SqlResult, TypeKind};
use std::borrow::Cow;
use std::sync::Arc;

/// A column of the new definition.
pub(super) struct NewColumn {
    pub(super) def: ColumnDef,
    /// The old column that its values come from; `None`: it is new.
    pub(super) from: Option<usize>,
    /// Its default is what TIMESTAMP columns have if nothing is said (`timestamp.rs`).
    pub(super) open: bool,
}

/// A new definition in the making.
struct Draft<'a> {
    old: &'a TableDef,
    columns: Vec<NewColumn>,
    /// Names of old indexes that go.
    dropped: Vec<String>,
    renamed: Vec<(String, String)>,
    /// Names of old indexes, and whether they are IGNORED from now on.
    ignored: Vec<(String, bool)>,
    added: Vec<IndexSpec>,
    foreign: Vec<ForeignKeySpec>,
    collation: Collation,
    /// A period is added.
    new_period: bool,
    def: TableDef,
    /// Changes of other tables, whose foreign keys follow new names.
    followers: Vec<CatalogChange>,
}

fn same(a: &str, b: &str) -> bool {
    a.same_name(b)
}

fn unknown_column(column: &str, table: &str) -> SqlError {
    errors::BAD_FIELD_ERROR.with([&column, &table])
}

fn duplicate_column(column: &str) -> SqlError {
    errors::DUP_FIELDNAME.with([&column])
}

fn cant_drop_what(what: &str, name: &str) -> SqlError {
    errors::CANT_DROP_FIELD_OR_KEY.with([&what, &quote_ident(name)])
}

/// The keys that wait for a table of the new name want another one.
pub(super) fn not_waited_for(from: (&str, &str), to: (&str, &str)) -> SqlError {
    errors::ERROR_ON_RENAME.text(format!(
        "Error on rename of './{}/{}' to './{}/{}' (errno: 150 \"Foreign key constraint is incorrectly formed\")",
        from.0, from.1, to.0, to.1
    ))
}

/// Error 1050.
pub(super) fn table_exists(name: &str) -> SqlError {
    errors::TABLE_EXISTS_ERROR.with([&name])
}

/// What an ALTER TABLE says of how it is done.
#[derive(Default)]
struct Asked {
    /// AUTO_INCREMENT.
    auto_increment: Option<u64>,
    /// ALGORITHM: no copy of the rows.
    no_copy: bool,
    /// LOCK=NONE.
    lock_none: bool,
}

/// How a table is made anew.
#[derive(Clone, Copy)]
struct Way<'a> {
    /// IGNORE.
    ignore: bool,
    /// MariaDB copies the rows as well.
    copied: bool,
    /// Or it does so because they are not InnoDB's.
    elsewhere: bool,
    /// By what the rows are sorted.
    order: &'a [SortKey],
}

impl Asked {
    /// Errors 1845 and 1846 for a way that a change of tables of other engines, and of temporary ones, does not have.
    /// `copied`: it copies the rows; `waits`: and nobody writes meanwhile.
    fn allow(&self, copied: bool, waits: bool, actions: &[AlterAction]) -> SqlResult<()> {
        let way = algorithm(actions);
        if copied && self.no_copy {
            let way = format!("ALGORITHM={way}");
            return Err(errors::ALTER_OPERATION_NOT_SUPPORTED.with([&way, &"ALGORITHM=COPY"]));
        }
        if waits && self.lock_none {
            let (none, shared) = ("LOCK=NONE", "LOCK=SHARED");
            return Err(match way {
                "COPY" => errors::ALTER_OPERATION_NOT_SUPPORTED_REASON.with([
                    &none,
                    &"COPY algorithm requires a lock",
                    &shared,
                ]),
                _ => errors::ALTER_OPERATION_NOT_SUPPORTED.with([&none, &shared]),
            });
        }
        Ok(())
    }
}

/// The last engine that is named.
fn named_engine(actions: &[AlterAction]) -> Option<&str> {
    actions.iter().rev().find_map(|a| match a {
        AlterAction::Options(o) => o.engine.as_deref(),
        _ => None,
    })
}

/// The last ALGORITHM that is named.
fn algorithm(actions: &[AlterAction]) -> &str {
    let mut last_first = actions.iter().rev();
    let named = last_first.find_map(|a| match a {
        AlterAction::Algorithm(a) => Some(a.as_str()),
        _ => None,
    });
    named.unwrap_or("INPLACE")
}

fn has_primary_key(d: &TableDef) -> bool {
    d.indexes.iter().any(|i| i.name == "PRIMARY")
}

/// A key that InnoDB's rows stand by: the primary one, or a unique one of whole columns that are not NULL.
fn has_row_key(d: &TableDef) -> bool {
    let stands_for = |i: &IndexDef| {
        i.unique
            && i.columns
                .iter()
                .all(|c| c.prefix.is_none() && !d.columns[c.column].nullable)
    };
    has_primary_key(d) || d.indexes.iter().any(stands_for)
}

fn column_at(old: &TableDef, name: &str) -> Option<usize> {
    old.columns.iter().position(|c| same(&c.name, name))
}

/// Error 4078 for a column that can't become what it shall be.
fn check_retyped(old: &TableDef, columns: &[NewColumn]) -> SqlResult<()> {
    for c in columns {
        if let Some(was) = c.from.map(|f| &old.columns[f])
            && !was.ty.may_become(&c.def.ty)
        {
            let (from, to) = (was.ty.family_name(), c.def.ty.family_name());
            let column = &c.def.name;
            return Err(SqlError::cannot_cast(
                &from, &to, &old.db, &old.name, column,
            ));
        }
    }
    Ok(())
}

/// Error 1907: a column becomes VIRTUAL, or is VIRTUAL no more.
fn check_virtual(old: &TableDef, columns: &[NewColumn]) -> SqlResult<()> {
    let is_virtual = |c: &ColumnDef| c.generated.as_ref().is_some_and(|g| !g.stored);
    let turned =
        |c: &NewColumn| (c.from).is_some_and(|f| is_virtual(&old.columns[f]) != is_virtual(&c.def));
    match !is_mysql() && columns.iter().any(turned) {
        true => Err(errors::UNSUPPORTED_ACTION_ON_GENERATED_COLUMN.plain()),
        false => Ok(()),
    }
}

/// MODIFY and CHANGE of a column that is STORED, or was: MariaDB computes it in a copy.
fn stored_again(old: &TableDef, c: &NewColumn, actions: &[AlterAction]) -> bool {
    let is_stored = |c: &ColumnDef| c.generated.as_ref().is_some_and(|g| g.stored);
    let Some(was) = c.from.map(|f| &old.columns[f]) else {
        return false;
    };
    let named = |a: &AlterAction| matches!(a, AlterAction::Change { column, .. } if same(column, &was.name));
    (is_stored(was) || is_stored(&c.def)) && actions.iter().any(named)
}

/// A new column whose values MariaDB computes row by row, in a copy. A column that comes without one brings a CHECK that no
/// row is asked for.
fn computed_anew(c: &NewColumn) -> bool {
    c.from.is_none()
        && (matches!(c.def.default, DefaultDef::Expr(_))
            || c.def.generated.as_ref().is_some_and(|g| g.stored))
}

/// One of these of which MariaDB tells how many rows it has copied: a default that is the same for all rows takes no copy.
fn computed_by_row(c: &NewColumn, def: &TableDef) -> bool {
    let differs = |text: &str| {
        let names = def.columns.iter().map(|c| (c.name.as_str(), String::new()));
        let names: Vec<_> = names.collect();
        // Those of sequences write, too.
        let calls = ["uuid(", "nextval(", "lastval(", "setval("];
        let lower = text.to_ascii_lowercase();
        constraint::with_new_names(text, &names) != text || calls.iter().any(|c| lower.contains(c))
    };
    computed_anew(c)
        && match &c.def.default {
            DefaultDef::Expr(text) => differs(text),
            _ => true,
        }
}

/// A CHECK asks the rows that has not asked them before.
fn asks_more(old: &TableDef, def: &TableDef) -> bool {
    let asked = |c: &&CheckDef| !c.not_enforced;
    (def.checks.iter().filter(asked)).any(|c| !old.checks.contains(c))
}

/// MariaDB copies the rows for this, whatever the types of columns are.
fn copies_rows(old: &TableDef, def: &TableDef, actions: &[AlterAction]) -> bool {
    (has_row_key(old) && !has_row_key(def))
        || asks_more(old, def)
        || actions.iter().any(|a| {
            matches!(a, AlterAction::OrderBy(_))
                || matches!(a, AlterAction::Algorithm(a) if a == "COPY")
        })
}

/// Values are computed for each row.
fn computes_anew(d: &Draft<'_>, actions: &[AlterAction]) -> bool {
    let mut columns = d.columns.iter();
    columns.any(|c| computed_by_row(c, &d.def) || stored_again(d.old, c, actions))
        || d.def.columns.iter().any(|c| {
            let stored = c.generated.as_ref().filter(|g| g.stored);
            stored.is_some_and(|g| has_new_default(d, &g.expr))
        })
}

/// An expression with DEFAULT(column) of a column whose default changes: its values are others then.
fn has_new_default(d: &Draft<'_>, expr: &str) -> bool {
    d.columns.iter().any(|c| {
        let changed = c
            .from
            .is_some_and(|f| d.old.columns[f].default != c.def.default);
        changed
            && expr.contains(&format!(
                "default({})",
                crate::quote::quote_ident(&c.def.name)
            ))
    })
}

/// A key comes, which is filled from the rows.
fn gets_key(def: &TableDef) -> bool {
    def.indexes.iter().any(|i| i.id == 0)
}

/// A CHECK of the table comes: ALTER IGNORE leaves rows out of the copy that it does not allow.
fn gets_check(old: &TableDef, new: &TableDef) -> bool {
    let known = |name: &str| old.checks.iter().any(|c| same(&c.name, name));
    new.checks.iter().any(|c| !known(&c.name))
}

/// A unique key comes: ALTER IGNORE leaves rows out of the copy that it has no place for.
fn gets_unique_key(def: &TableDef) -> bool {
    def.indexes.iter().any(|i| i.unique && i.id == 0)
}

/// A column of a unique key compares otherwise now, by which some of its values may be equal.
fn recollates_unique(d: &Draft<'_>) -> bool {
    let changed = |column: usize| {
        let from = d.columns[column].from;
        let before = from.map(|f| d.old.columns[f].ty.collation);
        before.is_some_and(|c| c != d.def.columns[column].ty.collation)
    };
    let unique = d.def.indexes.iter().filter(|i| i.unique);
    unique.flat_map(|i| &i.columns).any(|p| changed(p.column))
}

/// A key WITHOUT OVERLAPS comes.
fn gets_overlaps(def: &TableDef) -> bool {
    def.indexes.iter().any(|i| i.without_overlaps && i.id == 0)
}

/// A key WITHOUT OVERLAPS goes.
fn loses_overlaps(d: &Draft<'_>) -> bool {
    let mut old = d.old.indexes.iter().filter(|i| i.without_overlaps);
    old.any(|i| d.dropped.contains(&i.name))
}

/// MariaDB copies the rows when a period is named, and for each change of a table with a key WITHOUT OVERLAPS.
fn copies_for_period(d: &Draft<'_>, actions: &[AlterAction]) -> bool {
    let named = |a: &AlterAction| matches!(a, AlterAction::Add { elements, .. } if !elements.periods.is_empty());
    let nothing = |a: &AlterAction| matches!(a, AlterAction::RenameTo(_) | AlterAction::KeysNoOp);
    actions.iter().any(named)
        || loses_overlaps(d)
        || d.def.indexes.iter().any(|i| i.without_overlaps) && !actions.iter().all(nothing)
}

/// MariaDB copies the rows for each change of a table that has an index of hashes, whose column no statement names.
fn copies_for_hashes(d: &Draft<'_>, actions: &[AlterAction]) -> bool {
    let nothing = |a: &AlterAction| {
        matches!(
            a,
            AlterAction::RenameTo(_) | AlterAction::KeysNoOp | AlterAction::Algorithm(_)
        )
    };
    let hashed = |i: &IndexDef| i.unique && i.method == Some(IndexMethod::Hash);
    d.def.indexes.iter().any(hashed) && !actions.iter().all(nothing)
}

/// 1845, 1846: rows are copied for periods and for keys WITHOUT OVERLAPS.
fn period_needs_copy(d: &Draft<'_>, actions: &[AlterAction]) -> SqlResult<()> {
    let refused = || {
        let said = format!("ALGORITHM={}", algorithm(actions));
        errors::ALTER_OPERATION_NOT_SUPPORTED.with([&said, &"ALGORITHM=COPY"])
    };
    let reason = match d {
        d if d.new_period => return Err(refused()),
        d if gets_overlaps(&d.def) => "ADD INDEX",
        d if loses_overlaps(d) => "DROP INDEX",
        d if d.def.indexes.iter().any(|i| i.without_overlaps) => return Err(refused()),
        _ => return Ok(()),
    };
    Err(needs_copy(reason, actions))
}

/// Error 1846: what is asked for is done by a copy of the rows only.
fn needs_copy(reason: &str, actions: &[AlterAction]) -> SqlError {
    errors::ALTER_OPERATION_NOT_SUPPORTED_REASON.text(format!(
        "ALGORITHM={} is not supported. Reason: {reason}. Try ALGORITHM=COPY",
        algorithm(actions)
    ))
}

/// Error 1846 for keys that come or go otherwise than ALGORITHM says.
fn keys_allow(old: &TableDef, def: &TableDef, actions: &[AlterAction]) -> SqlResult<()> {
    if has_row_key(old) && !has_row_key(def) {
        let reason = "Dropping a primary key is not allowed without also adding a new primary key";
        return Err(needs_copy(reason, actions));
    }
    Ok(())
}

/// MariaDB's other engines have all rows copied, and tell how many, but for a change of names, defaults and comments.
fn copies_elsewhere(d: &Draft<'_>, actions: &[AlterAction]) -> bool {
    let (old, def) = (d.old, &d.def);
    if old.declared != def.declared {
        return true;
    }
    let Some(engine) = &def.declared else {
        return false;
    };
    let kept = |name: &str| match name {
        "AVG_ROW_LENGTH" => true,
        "DELAY_KEY_WRITE" => engine != "Aria",
        "KEY_BLOCK_SIZE" => engine != "MEMORY",
        _ => false,
    };
    let option = |o: &crate::ast::TableOptions| {
        o.engine.is_some()
            || o.auto_increment.is_some()
            || o.collation != CharsetWords::default()
            || o.kept.iter().any(|(name, _)| !kept(name))
    };
    let moved = |(i, c): (usize, &NewColumn)| {
        let Some(was) = c
            .from
            .map(|f| &old.columns[f])
            .filter(|_| c.from == Some(i))
        else {
            return true;
        };
        let listed = matches!(c.def.ty.kind, TypeKind::Enum(_) | TypeKind::Set(_));
        (was.ty != c.def.ty && (!listed || copies_in_mariadb(was, &c.def)))
            || (was.nullable, was.auto_increment) != (c.def.nullable, c.def.auto_increment)
            || was.generated != c.def.generated
    };
    let keys = |def: &TableDef| def.indexes.iter().map(|i| i.id).collect::<Vec<_>>();
    let asks = |a: &AlterAction| match a {
        AlterAction::Options(o) => option(o),
        a => matches!(a, AlterAction::Force),
    };
    actions.iter().any(asks)
        || d.columns.len() != old.columns.len()
        || d.columns.iter().enumerate().any(moved)
        || keys(old) != keys(def)
}

/// An action that drops or adds indexes and nothing else.
fn is_of_indexes(action: &AlterAction) -> bool {
    match action {
        AlterAction::Add { elements: e, .. } => {
            let others = [
                e.columns.len(),
                e.checks.len(),
                e.foreign_keys.len(),
                e.periods.len(),
            ];
            others == [0; 4]
        }
        AlterAction::Drop { kind, .. } => *kind == DropKind::Index,
        AlterAction::Algorithm(_) | AlterAction::Lock(_) => true,
        _ => false,
    }
}

impl Draft<'_> {
    /// Where a column of the old table stands in keys now: one that is dropped is followed by a new one of its name.
    fn place_in_keys(&self, column: usize) -> Option<usize> {
        let name = &self.old.columns[column].name;
        let mut columns = self.columns.iter();
        let stays = columns.position(|c| c.from == Some(column));
        stays.or_else(|| {
            (self.columns.iter()).position(|c| c.from.is_none() && same(&c.def.name, name))
        })
    }

    /// A statement that drops indexes and adds them as they were, and does nothing else, changes nothing: they stay where they
    /// stood.
    fn put_back(&self, indexes: &mut [IndexDef], actions: &[AlterAction]) {
        if !actions.iter().all(is_of_indexes) || indexes.len() != self.old.indexes.len() {
            return;
        }
        let place = |i: &IndexDef| {
            let mut old = self.old.indexes.iter();
            old.position(|o| {
                IndexDef {
                    id: o.id,
                    ..i.clone()
                } == *o
            })
        };
        if indexes.iter().all(|i| place(i).is_some()) {
            indexes.sort_by_key(place);
        }
    }
}

impl Run<'_> {
    /// ALTER TABLE. Gives the number of rows that MariaDB would say it copied.
    pub(super) fn alter_table(
        &self,
        ignore: bool,
        if_exists: bool,
        table: &TableName,
        actions: &[AlterAction],
    ) -> SqlResult<u64> {
        if db_of(table, self.env)?.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
            reserved_schema(INFORMATION_SCHEMA, self.env)?;
        }
        match self.table(table) {
            Ok(t) => self.alter(t, actions, ignore),
            Err(e) if if_exists && e.code == codes::NO_SUCH_TABLE => {
                self.env
                    .push_condition(crate::WarningLevel::Error, e.code, e.message);
                Ok(0)
            }
            Err(e) => Err(e),
        }
    }

    /// Tells of options that change nothing.
    fn warn_of_options(&self, actions: &[AlterAction]) {
        for a in actions {
            match a {
                AlterAction::Add { elements, .. } | AlterAction::Change { elements, .. } => {
                    warn_in_vain(elements.warnings(), self.env);
                }
                AlterAction::Options(o) => warn_in_vain(o.in_vain.iter(), self.env),
                _ => {}
            }
        }
    }

    /// The actions, with the ALGORITHM of `alter_algorithm` where they name none.
    fn with_algorithm<'s>(&self, actions: &'s [AlterAction]) -> SqlResult<Cow<'s, [AlterAction]>> {
        if actions
            .iter()
            .any(|a| matches!(a, AlterAction::Algorithm(_)))
        {
            return Ok(Cow::Borrowed(actions));
        }
        let variable = (self.env).system_variable(VariableScope::Session, "alter_algorithm")?;
        let asked = variable.to_text();
        if asked == "DEFAULT" {
            return Ok(Cow::Borrowed(actions));
        }
        let mut all = actions.to_vec();
        all.push(AlterAction::Algorithm(asked));
        Ok(Cow::Owned(all))
    }

    pub(super) fn alter(
        &self,
        table: &Arc<Table>,
        actions: &[AlterAction],
        ignore: bool,
    ) -> SqlResult<u64> {
        let old = &table.def;
        self.warn_of_options(actions);
        if let [AlterAction::RenameTo(to)] = actions
            && !table.temporary
            && !self.catalog.references_to(&old.db, &old.name).is_empty()
        {
            // Keys of other tables follow.
            let from = TableName {
                db: Some(old.db.to_string()),
                name: old.name.to_string(),
            };
            return self.rename_tables(false, &[(from, to.clone())]);
        }
        if table.own_numbers().is_some() {
            return Err(SqlError::unsupported("ALTER TABLE of a temporary sequence"));
        }
        self.may_be_altered(table, actions)?;
        let actions = &*self.with_algorithm(actions)?;
        let draft = self.draft(old, actions)?;
        let asked = self.asked(old, actions)?;
        check_retyped(old, &draft.columns)?;
        check_virtual(old, &draft.columns)?;
        let retyped = is_retyped(&draft);
        // A temporary table is copied for anything but a new name.
        let temporary = table.temporary
            && !(actions.iter()).all(|a| !about_rows(a) && !matches!(a, AlterAction::Options(_)));
        let said_sequence =
            (actions.iter()).any(|a| matches!(a, AlterAction::Options(o) if o.sequence.is_some()));
        if said_sequence && asked.no_copy {
            return Err(needs_copy("SEQUENCE", actions));
        }
        let elsewhere = copies_elsewhere(&draft, actions);
        asked.allow(
            elsewhere || temporary,
            elsewhere && old.declared.is_some(),
            actions,
        )?;
        if retyped && asked.no_copy {
            return Err(needs_copy("Cannot change column type", actions));
        }
        let of_innodb = !elsewhere && !temporary && old.declared.is_none();
        let virtually = self.ways_allow(&draft, of_innodb, (&asked, ignore), actions)?;
        let another =
            old.merge.is_some() != draft.def.merge.is_some() || old.sequence != draft.def.sequence;
        if draft.def.sequence && !old.sequence {
            self.has_one_row(table)?;
        }
        let leaves_out = gets_unique_key(&draft.def) || gets_check(old, &draft.def);
        let copied = retyped
            || computes_anew(&draft, actions)
            || ignore && (leaves_out || recollates_unique(&draft))
            || virtually
            || temporary
            || another
            || copies_for_period(&draft, actions)
            || copies_rows(old, &draft.def, actions);
        let verifies = self.env.foreign_key_checks && !draft.foreign.is_empty();
        if (copied || verifies) && self.renames_keys(&draft) {
            return Err(copy_renames_keys());
        }
        let forced = actions.iter().any(|a| matches!(a, AlterAction::Force));
        let in_place = !(temporary || ignore && leaves_out || indexes_virtual(&draft.def, forced))
            && self.is_in_place(&draft, copied);
        if asked.lock_none && (!in_place || gets_key(&draft.def)) {
            self.needs_no_rows(table)?;
        }
        let order = self.row_order(table, actions)?;
        if in_place && order.is_empty() {
            let told = copied || elsewhere;
            return self.alter_in_place(table, draft, asked.auto_increment, told);
        }
        let way = Way {
            ignore,
            copied,
            elsewhere,
            order: &order,
        };
        let told = self.alter_by_copy(table, draft, asked.auto_increment, way)?;
        Ok(if elsewhere { told.0 } else { told.1 })
    }

    /// Errors 1845 and 1846 for a way that MariaDB does not have for a change. True if it copies the rows for the sake of virtual
    /// columns, or of the hidden ones of hashes.
    fn ways_allow(
        &self,
        draft: &Draft<'_>,
        of_innodb: bool,
        (asked, ignore): (&Asked, bool),
        actions: &[AlterAction],
    ) -> SqlResult<bool> {
        let sources: Vec<Option<usize>> = draft.columns.iter().map(|c| c.from).collect();
        let change = Change {
            old: draft.old,
            new: &draft.def,
            sources: &sources,
            actions,
        };
        let hashes = copies_for_hashes(draft, actions);
        let mixed = of_innodb && change.mixes_virtual();
        let moved = of_innodb && change.moves_virtual();
        // What a MySQL made in its own way is made here in ours.
        if !asked.no_copy || self.env.of_mysql {
            let tightened = of_innodb && change.tightens_beside_computed();
            return Ok(hashes || mixed || moved || tightened);
        }
        keys_allow(draft.old, &draft.def, actions)?;
        if ignore && gets_unique_key(&draft.def) {
            let reason = "Creating unique indexes with IGNORE requires COPY algorithm to remove duplicate rows";
            return Err(needs_copy(reason, actions));
        }
        // A MySQL has other ways than a MariaDB.
        if of_innodb && !draft.def.sequence && !narwal_types::face::is_mysql() {
            change.allows(algorithm(actions), self.env)?;
        }
        period_needs_copy(draft, actions)?;
        if hashes || mixed {
            return Err(needs_copy(MIXED, actions));
        }
        match moved {
            true => Err(not_this_way(algorithm(actions), "COPY")),
            false => Ok(false),
        }
    }

    /// Error 1846 for LOCK=NONE of a change that reads the rows, if there are any.
    fn needs_no_rows(&self, table: &Table) -> SqlResult<()> {
        if self.db.table_rows(table) == 0 {
            return Ok(());
        }
        Err(errors::ALTER_OPERATION_NOT_SUPPORTED_REASON.text(
            "LOCK=NONE is not supported. Reason: Writers of the table wait while its rows are read for this change. \
             Try LOCK=SHARED"
                .to_string(),
        ))
    }

    /// Makes the table anew. Gives the number of its rows, and of those that MariaDB tells of for its own store. `next`: the
    /// AUTO_INCREMENT that is asked for.
    fn alter_by_copy(
        &self,
        table: &Arc<Table>,
        draft: Draft<'_>,
        next: Option<u64>,
        way: Way<'_>,
    ) -> SqlResult<(u64, u64)> {
        let mut def = draft.def;
        if draft.columns.iter().any(|c| c.def.auto_increment) {
            let now = self.db.auto_increment(table).max(1);
            let numbered = |from: usize| table.def.columns[from].auto_increment;
            let kept = (draft.columns.iter())
                .any(|c| c.def.auto_increment && c.from.is_some_and(numbered));
            // MariaDB numbers a new column by steps from behind its beginning.
            let steps = self.env.auto_increment.step > 1;
            let fresh = draft
                .columns
                .iter()
                .any(|c| c.def.auto_increment && c.from.is_none());
            let first = next.unwrap_or(if kept { now } else { 1 });
            def.auto_increment_start = first + u64::from(steps && fresh);
        }
        let sources: Vec<Option<usize>> = draft.columns.iter().map(|c| c.from).collect();
        let verify = self.env.foreign_key_checks && !draft.foreign.is_empty();
        let looks = Looks {
            parents: verify,
            checks: way.copied || verify || draft.columns.iter().any(computed_anew),
            computes: way.copied || way.elsewhere,
            order: way.order,
        };
        let changes = (def, draft.followers);
        let rows = self.rebuild(table, changes, &sources, way.ignore, looks)?;
        Ok((rows, if way.copied || verify { rows } else { 0 }))
    }

    /// The statement as the log has it.
    pub(super) fn logged_alter(&self) -> String {
        without_ways(self.text, self.env.sql_mode)
    }

    /// Reads what is said of how it is done, and notes what is not.
    fn asked(&self, old: &TableDef, actions: &[AlterAction]) -> SqlResult<Asked> {
        let mut asked = Asked::default();
        for a in actions {
            match a {
                AlterAction::Options(o) => {
                    asked.auto_increment = o.auto_increment.or(asked.auto_increment);
                }
                AlterAction::Algorithm(a) => match a.as_str() {
                    "DEFAULT" | "COPY" => asked.no_copy = false,
                    "INPLACE" | "NOCOPY" | "INSTANT" => asked.no_copy = true,
                    a => return Err(errors::UNKNOWN_ALTER_ALGORITHM.with([&a])),
                },
                AlterAction::Lock(l) => match l.as_str() {
                    "DEFAULT" | "SHARED" | "EXCLUSIVE" => asked.lock_none = false,
                    "NONE" => asked.lock_none = true,
                    l => return Err(errors::UNKNOWN_ALTER_LOCK.with([&l])),
                },
                AlterAction::KeysNoOp => self.env.note(
                    codes::ILLEGAL_HA,
                    format!(
                        "Storage engine {} of the table `{}`.`{}` doesn't have this option",
                        old.engine, old.db, old.name
                    ),
                ),
                _ => {}
            }
        }
        Ok(asked)
    }

    /// What a sequence or a MERGE table is does not allow everything.
    fn may_be_altered(&self, table: &Arc<Table>, actions: &[AlterAction]) -> SqlResult<()> {
        if table.def.sequence && actions.iter().any(about_rows) {
            return Err(super::sequence::wrong_structure(&table.def));
        }
        match table.def.merge {
            // It is opened, whatever becomes of it.
            Some(_) => may_alter(table, self.base, self.env),
            None => Ok(()),
        }
    }

    /// The rows can stay as they are.
    fn is_in_place(&self, draft: &Draft<'_>, copied: bool) -> bool {
        let (old, def) = (draft.old, &draft.def);
        same_rows(old, def)
            && old.merge.is_some() == def.merge.is_some()
            && old.sequence == def.sequence
            && draft.columns.iter().enumerate().all(|(i, c)| {
                c.from == Some(i)
                    && (c.def.nullable || !old.columns[i].nullable)
                    && (!c.def.auto_increment || old.columns[i].auto_increment)
                    && c.def.generated == old.columns[i].generated
                    && (c.def.generated.as_ref()).is_none_or(|g| !has_new_default(draft, &g.expr))
                    && (!copied || c.def.check.is_none() || c.def.check == old.columns[i].check)
            })
            && !asks_more(old, def)
            && !draft.new_period
            && !gets_overlaps(def)
            && (draft.foreign.is_empty() || !self.env.foreign_key_checks)
    }

    /// Changes the definition alone, and what follows from it. `copied`: MariaDB would have copied the rows, and tells how
    /// many.
    /// A column of a foreign key, of this table or to it, has a new name.
    fn renames_keys(&self, draft: &Draft<'_>) -> bool {
        let old = draft.old;
        let children = self.catalog.references_to(&old.db, &old.name);
        let named = |name: &String| {
            let own = old.foreign_keys.iter().flat_map(|k| &k.columns);
            let theirs =
                (children.iter()).flat_map(|(c, n)| &c.def.foreign_keys[*n].parent_columns);
            own.chain(theirs).any(|n| same(n, name))
        };
        (draft.columns.iter()).any(|c| {
            let before = c.from.map(|f| &old.columns[f].name);
            before.is_some_and(|b| !same(b, &c.def.name) && named(b))
        })
    }

    fn alter_in_place(
        &self,
        table: &Arc<Table>,
        draft: Draft<'_>,
        next: Option<u64>,
        copied: bool,
    ) -> SqlResult<u64> {
        let old = &table.def;
        let (def, mut changes) = (draft.def, draft.followers);
        if def != *old {
            changes.push(CatalogChange::AlterTable {
                db: old.db.clone(),
                name: old.name.clone(),
                was: Box::new(old.clone()),
                def: def.clone(),
            });
        }
        if let (Some(n), Some(column)) = (next, table.auto_increment) {
            let seen = self.db.auto_increment(table);
            let used = self.largest(table, column)?;
            changes.push(CatalogChange::SetAutoIncrement {
                db: def.db.clone(),
                name: def.name.clone(),
                next: n.max(used.saturating_add(1)).max(1),
                seen,
            });
        }
        match self.submit(self.default_db(), self.logged_alter(), changes, false) {
            Err(EngineError::Duplicate { index, existing_pk }) => {
                Err(self.duplicate_in_new_index(table, &def, index, &existing_pk)?)
            }
            r => {
                r?;
                Ok(if copied { self.db.table_rows(table) } else { 0 })
            }
        }
    }

    /// The error of a new unique index over rows that are not.
    fn duplicate_in_new_index(
        &self,
        table: &Arc<Table>,
        def: &TableDef,
        index: usize,
        pk: &[u8],
    ) -> SqlResult<SqlError> {
        let plain = || errors::DUP_ENTRY.text("Duplicate entry");
        let others = def.indexes.iter().filter(|i| i.name != "PRIMARY");
        let Some(ix) = index.checked_sub(1).and_then(|n| others.into_iter().nth(n)) else {
            return Ok(plain());
        };
        let mut txn = self.db.begin(self.options.clone());
        let Some(row) = txn.get(table, pk)? else {
            return Ok(plain());
        };
        let parts = ix.columns.iter().map(|c| (c.column, c.prefix));
        Ok(duplicate_entry(table, &ix.name, parts, &row, self.env))
    }

    /// Works out the new definition.
    fn draft<'t>(&self, old: &'t TableDef, actions: &[AlterAction]) -> SqlResult<Draft<'t>> {
        let mut d = Draft {
            old,
            columns: Vec::with_capacity(old.columns.len()),
            dropped: Vec::new(),
            renamed: Vec::new(),
            ignored: Vec::new(),
            added: Vec::new(),
            foreign: Vec::new(),
            collation: old.collation,
            new_period: false,
            def: old.clone(),
            followers: Vec::new(),
        };
        let (mut convert, mut words) = (None, CharsetWords::default());
        let above = self.catalog.database(&old.db);
        let above = above.map_or(old.collation, |database| database.collation);
        for a in actions {
            match a {
                AlterAction::Options(o) => {
                    words.add(&o.collation)?;
                    self.option(&mut d, o)?;
                }
                AlterAction::ConvertTo(words) => {
                    convert = words.collation(above, old.collation)?;
                }
                AlterAction::RenameTo(to) => {
                    may_be_called(&to.name)?;
                    let db = db_of(to, self.env)?;
                    if self.catalog.database(db).is_none() {
                        let from = (old.db.as_str(), old.name.as_str());
                        return Err(cant_rename(from, (db, &to.name)));
                    }
                    let from = (old.db.as_str(), old.name.as_str());
                    file_name::renamed(from, (db, &to.name), self.env)?;
                    if (db, to.name.as_str()) != (old.db.as_str(), old.name.as_str())
                        && self.catalog.has(db, &to.name)
                    {
                        return Err(table_exists(&to.name));
                    }
                    self.may_move(&old.db, &old.name, db)?;
                    d.def.db = db.to_string();
                    d.def.name = to.name.clone();
                }
                _ => {}
            }
        }
        let named = words.collation(above, old.collation)?;
        d.collation = named.or(convert).unwrap_or(old.collation);
        d.def.collation = d.collation;
        self.columns(&mut d, actions, convert)?;
        self.period(&mut d, actions)?;
        self.indexes(&mut d, actions)?;
        let sources: Vec<Option<usize>> = d.columns.iter().map(|c| c.from).collect();
        let copies = |a: &AlterAction| matches!(a, AlterAction::Algorithm(a) if a == "COPY");
        let how = (self.env, actions.iter().any(copies));
        d.followers = after_alter(self.catalog, old, &mut d.def, &sources, how)?;
        if !is_mysql() {
            constraint::check_cascades(&d.def, &d.foreign)?;
        }
        let making = self.making_keys(&d, actions)?;
        self.add_foreign_keys(&mut d.def, &d.foreign, &d.added, (making, Some(old)))?;
        let declared = d.def.declared.as_deref().unwrap_or(&old.engine);
        let said = named_engine(actions).unwrap_or(declared).to_string();
        check_auto_increment(
            &d.def.columns,
            &d.def.indexes,
            &[],
            Some(&said),
            &mut d.def.engine,
        )?;
        check_row_size(&d.def.columns)?;
        let merge = d.def.merge.as_ref().map(|_| names::MERGE);
        let stands_for = d.def.declared.clone();
        engine_limits::check(merge.or(stands_for.as_deref()), &mut d.def, self.env)?;
        if d.def.sequence && !old.sequence {
            check_structure(&d.def)?;
        }
        if d.def != *d.old {
            constraint::check_expressions(&mut d.def, self.env)?;
            check_cascades(&d.def)?;
            settle_hashes(&mut d.def);
        }
        self.check_draft(&d, actions)?;
        Ok(d)
    }

    /// What must hold of a definition that is complete.
    fn check_draft(&self, d: &Draft<'_>, actions: &[AlterAction]) -> SqlResult<()> {
        let (from, to) = ((&*d.old.db, &*d.old.name), (&*d.def.db, &*d.def.name));
        if from != to && !self.waited_for(&d.def) {
            return Err(not_waited_for(from, to));
        }
        // ENGINE and FORCE make the table anew, though they change nothing in its definition.
        let looks = |a: &AlterAction| {
            !matches!(
                a,
                AlterAction::RenameTo(_)
                    | AlterAction::KeysNoOp
                    | AlterAction::Algorithm(_)
                    | AlterAction::Lock(_)
            )
        };
        if actions.iter().any(looks) {
            self.check_kept_sequences(&d.def)?;
            whole::check(&d.def, self.env)?;
            if is_made_anew(d.old, &d.def, actions) {
                pages::check(&d.def, self.env)?;
            }
        }
        Ok(())
    }

    /// How MariaDB adds foreign keys. Error 1846 for one that has to look at the rows, where no copy of them is asked for.
    fn making_keys(&self, d: &Draft<'_>, actions: &[AlterAction]) -> SqlResult<Making> {
        let named = |a: &AlterAction| matches!(a, AlterAction::Algorithm(_));
        let way = match actions.iter().any(named) {
            true => algorithm(actions),
            false => "DEFAULT",
        };
        let no_copy = !matches!(way, "COPY" | "DEFAULT");
        if no_copy && self.env.foreign_key_checks && !d.foreign.is_empty() {
            return Err(needs_copy(
                "Adding foreign keys needs foreign_key_checks=OFF",
                actions,
            ));
        }
        let copies = self.env.foreign_key_checks || way == "COPY" || is_retyped(d);
        Ok(if copies {
            Making::Copy
        } else {
            Making::InPlace
        })
    }

    fn option(&self, d: &mut Draft<'_>, o: &crate::ast::TableOptions) -> SqlResult<()> {
        if let Some(e) = &o.engine {
            d.def.engine = engine_name(Some(e), &d.old.name, self.env)?;
            d.def.declared = names::declared(e);
            let old = d.old;
            let has_keys = || {
                !old.foreign_keys.is_empty()
                    || !self.catalog.references_to(&old.db, &old.name).is_empty()
            };
            if d.def.declared.is_some() && has_keys() {
                return Err(errors::ROW_IS_REFERENCED
                    .text("Cannot delete or update a parent row: a foreign key constraint fails"));
            }
        }
        d.def.sequence = o.sequence.unwrap_or(d.def.sequence);
        d.def.merge = merge::of_options(d.def.merge.take(), &d.def.engine, o, self.env)?;
        if let Some(c) = &o.comment {
            d.def.comment = comment(c, Commented::Table, &d.old.name, self.env)?;
        }
        if !o.kept.is_empty() {
            d.def.options = table_options::kept(&d.def.options, &o.kept);
            let of = match &o.engine {
                Some(e) if !same(e, "InnoDB") => Fit::AnotherEngines,
                _ => Fit::Altered,
            };
            let stands_for = o.engine.as_deref().or(d.def.declared.as_deref());
            engine_limits::check_transactional(stands_for, &o.kept, self.env)?;
            let (db, name) = (d.old.db.clone(), d.old.name.clone());
            table_options::fit(&mut d.def.options, &db, &name, self.env, of)?;
        }
        Ok(())
    }

    /// The period that the table has from now on; its columns are NOT NULL.
    fn period(&self, d: &mut Draft<'_>, actions: &[AlterAction]) -> SqlResult<()> {
        if let Some(p) = &d.def.period {
            let called = |at| {
                let mut columns = d.columns.iter();
                Some(columns.find(|c| c.from == Some(at))?.def.name.clone())
            };
            d.def.period = Some(period::that_stays(d.old, p, called, actions)?);
        }
        let temporary = (self.env.temporary_table(&d.old.db, &d.old.name)).is_some();
        if let Some(p) = period::added(actions, d.def.period.as_ref(), temporary, self.env)? {
            d.def.period = Some(p);
            d.new_period = true;
        }
        match &mut d.def.period {
            Some(p) => period::settle(p, d.columns.iter_mut().map(|c| &mut c.def)),
            None => Ok(()),
        }
    }

    /// The new columns in order.
    fn columns(
        &self,
        d: &mut Draft<'_>,
        actions: &[AlterAction],
        convert: Option<Collation>,
    ) -> SqlResult<()> {
        let (gone, changed) = self.fates(d, actions)?;
        self.old_columns(d, &gone, &changed, convert)?;
        self.new_columns(d, actions, &gone)?;
        timestamp::fill(
            d.columns.iter_mut().map(|c| (&mut c.def, c.open)),
            (&d.old.db, &d.old.name),
            self.env,
        )?;
        if is_mysql() {
            dependents(d)?;
        }
        follow_names(d);
        let goes = |n: &str| {
            let mut old = d.old.columns.iter().zip(&gone);
            old.any(|(c, gone)| *gone && same(&c.name, n))
        };
        if !is_mysql() {
            d.def.checks = constraint::without_columns(&d.def.checks, &d.old.checks, goes)?;
        }
        if d.columns.is_empty() {
            return Err(errors::CANT_REMOVE_ALL_FIELDS.plain());
        }
        match first_twice(d.columns.iter().map(|c| c.def.name.as_str())) {
            Some(twice) => Err(duplicate_column(twice)),
            None => Ok(()),
        }
    }

    /// Error 1054, or a note with IF EXISTS.
    fn missing_column(&self, old: &TableDef, name: &str, if_exists: bool) -> SqlResult<()> {
        let e = unknown_column(name, &old.name);
        if !if_exists {
            return Err(e);
        }
        self.env.note(e.code, e.message);
        Ok(())
    }

    /// Which old columns go, and which action changes each. Notes the new names of indexes, too.
    fn fates<'a>(
        &self,
        d: &mut Draft<'_>,
        actions: &'a [AlterAction],
    ) -> SqlResult<(Vec<bool>, Vec<Option<&'a AlterAction>>)> {
        let old = d.old;
        let mut gone = vec![false; old.columns.len()];
        let mut changed = vec![None; old.columns.len()];
        for a in actions {
            match a {
                AlterAction::Drop {
                    kind,
                    name,
                    if_exists,
                } => {
                    let of_period =
                        *kind == DropKind::Constraint && period::drops_check(old, name, actions)?;
                    if !of_period {
                        self.drop_something(d, *kind, name, *if_exists, &mut gone)?;
                    }
                }
                AlterAction::Change {
                    column, if_exists, ..
                }
                | AlterAction::RenameColumn {
                    from: column,
                    if_exists,
                    ..
                } => match column_at(old, column).filter(|i| !gone[*i] && changed[*i].is_none()) {
                    Some(i) => changed[i] = Some(a),
                    None => self.missing_column(old, column, *if_exists)?,
                },
                AlterAction::RenameIndex {
                    from,
                    to,
                    if_exists,
                } => {
                    let goes = |n: &str| {
                        let mut all = actions.iter();
                        all.any(|a| matches!(a, AlterAction::Drop { kind: DropKind::Index, name, .. } if same(name, n)))
                    };
                    // Names may be changed with each other.
                    let moves = |n: &str| {
                        let mut all = actions.iter();
                        all.any(
                            |a| matches!(a, AlterAction::RenameIndex { from, .. } if same(from, n)),
                        )
                    };
                    self.rename_index(d, (from, to), *if_exists, goes, moves)?;
                }
                AlterAction::IgnoreIndex {
                    name,
                    ignored,
                    if_exists,
                } => self.ignore_index(d, name, *ignored, *if_exists)?,
                AlterAction::EnforceCheck {
                    name,
                    enforced,
                    check,
                } => enforce_check(d, name, *enforced, *check)?,
                _ => {}
            }
        }
        Ok((gone, changed))
    }

    fn rename_index(
        &self,
        d: &mut Draft<'_>,
        (from, to): (&String, &String),
        if_exists: bool,
        goes: impl Fn(&str) -> bool,
        moves: impl Fn(&str) -> bool,
    ) -> SqlResult<()> {
        let known = |n: &str| d.old.indexes.iter().any(|i| same(&i.name, n)) && !goes(n);
        let again = d.renamed.iter().any(|(other, _)| same(other, from));
        if same(from, "PRIMARY") {
            return Err(errors::WRONG_NAME_FOR_INDEX.with([&from]));
        }
        if !known(from) || again {
            let text = format!("Key '{from}' doesn't exist in table '{}'", d.old.name);
            if !if_exists || again {
                return Err(errors::KEY_DOES_NOT_EXISTS.text(text));
            }
            self.env.note(codes::KEY_DOES_NOT_EXISTS, text);
            return Ok(());
        }
        if same(to, "PRIMARY") {
            return Err(errors::WRONG_NAME_FOR_INDEX.with([&to]));
        }
        let taken = d.renamed.iter().any(|(_, other)| same(other, to));
        if taken || known(to) && !same(from, to) && !moves(to) {
            return Err(errors::DUP_KEYNAME.with([&to]));
        }
        d.renamed.push((from.clone(), to.clone()));
        Ok(())
    }

    fn ignore_index(
        &self,
        d: &mut Draft<'_>,
        name: &str,
        ignored: bool,
        if_exists: bool,
    ) -> SqlResult<()> {
        if ignored && same(name, "PRIMARY") {
            return Err(errors::PK_INDEX_CANT_BE_IGNORED.plain());
        }
        let renamed = d.renamed.iter().any(|(from, _)| same(from, name));
        if renamed || !d.old.indexes.iter().any(|i| same(&i.name, name)) {
            let missing = errors::KEY_DOES_NOT_EXISTS.with([&name, &d.old.name]);
            if !if_exists {
                return Err(missing);
            }
            self.env.note(missing.code, missing.message.to_string());
            return Ok(());
        }
        d.ignored.push((name.to_string(), ignored));
        Ok(())
    }

    /// The old columns that stay where they are.
    fn old_columns(
        &self,
        d: &mut Draft<'_>,
        gone: &[bool],
        changed: &[Option<&AlterAction>],
        convert: Option<Collation>,
    ) -> SqlResult<()> {
        for (i, c) in d.old.columns.iter().enumerate() {
            if gone[i] {
                continue;
            }
            let mut column = NewColumn {
                def: c.clone(),
                from: Some(i),
                open: false,
            };
            match changed[i] {
                Some(AlterAction::Change { place: Some(_), .. }) => continue,
                Some(AlterAction::Change { elements, .. }) => {
                    column = self.changed(d, elements, i)?;
                }
                Some(AlterAction::RenameColumn { to, .. }) => column.def.name.clone_from(to),
                _ => {
                    if let Some(c) = convert.filter(|_| column.def.ty.has_charset()) {
                        widen(&mut column.def.ty, c);
                        let spec = ColumnSpec {
                            collation: CharsetWords::exactly(c),
                            ..plain_spec(column.def.clone(), None)
                        };
                        column.def = self.checked(&spec, d)?;
                    }
                }
            }
            d.columns.push(column);
        }
        Ok(())
    }

    /// Columns that are added or get another place, and new defaults.
    fn new_columns(
        &self,
        d: &mut Draft<'_>,
        actions: &[AlterAction],
        gone: &[bool],
    ) -> SqlResult<()> {
        let old = d.old;
        let mut settled: Vec<&str> = Vec::new();
        for a in actions {
            self.env.check_interrupt()?;
            match a {
                AlterAction::Add {
                    elements,
                    place,
                    if_not_exists,
                } => self.add(d, elements, place.as_ref(), *if_not_exists, gone)?,
                AlterAction::Change {
                    column,
                    elements,
                    place: Some(place),
                    ..
                } => {
                    if let Some(i) = column_at(old, column).filter(|i| !gone[*i]) {
                        let c = self.changed(d, elements, i)?;
                        insert_at(&mut d.columns, c, Some(place), &old.name)?;
                    }
                }
                AlterAction::SetDefault {
                    column,
                    default,
                    if_exists,
                } => {
                    let again = settled.iter().any(|s| same(s, column));
                    settled.push(column);
                    let found = column_to_set(d, actions, column).filter(|_| !again);
                    let Some(n) = found else {
                        self.missing_column(old, column, *if_exists)?;
                        continue;
                    };
                    let mut def = d.columns[n].def.clone();
                    let (constant, expr) = match default.clone() {
                        None => (DefaultDef::None, None),
                        Some(Ok(d)) => (d, None),
                        Some(Err(e)) => (DefaultDef::None, Some(e)),
                    };
                    def.default = constant;
                    let spec = plain_spec(def, expr);
                    d.columns[n].def = self.checked(&spec, d)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn checked(&self, spec: &ColumnSpec, d: &Draft<'_>) -> SqlResult<ColumnDef> {
        column_def(spec, d.collation, &d.old.db, &d.old.name, self.env)
    }

    /// The new form of an old column; notes what indexes it asks for.
    fn changed(
        &self,
        d: &mut Draft<'_>,
        elements: &TableElements,
        from: usize,
    ) -> SqlResult<NewColumn> {
        d.added.extend(elements.indexes.iter().cloned());
        self.add_checks(d, &elements.checks)?;
        let Some(spec) = elements.columns.first() else {
            return Err(SqlError::unsupported("this ALTER TABLE"));
        };
        self.check_default_sequences(&elements.columns)?;
        Ok(NewColumn {
            def: self.checked(spec, d)?,
            from: Some(from),
            open: is_open(spec, self.env),
        })
    }

    fn add(
        &self,
        d: &mut Draft<'_>,
        elements: &TableElements,
        place: Option<&ColumnPlace>,
        if_not_exists: bool,
        gone: &[bool],
    ) -> SqlResult<()> {
        self.add_checks(d, &elements.checks)?;
        for spec in &elements.foreign_keys {
            let name = spec.name.as_ref().or(spec.index.as_ref());
            let known = |n: &&String| d.def.foreign_keys.iter().any(|k| same(&k.name, n));
            match name.filter(|n| spec.if_not_exists && known(n)) {
                Some(n) => self
                    .env
                    .note(codes::DUP_KEYNAME, format!("Duplicate key name '{n}'")),
                None => d.foreign.push(spec.clone().behind(&d.added)),
            }
        }
        self.check_default_sequences(&elements.columns)?;
        for spec in &elements.columns {
            self.env.check_interrupt()?;
            let name = &spec.def.name;
            let known = d
                .old
                .columns
                .iter()
                .zip(gone)
                .any(|(c, gone)| !gone && same(&c.name, name))
                || d.columns.iter().any(|c| same(&c.def.name, name));
            if if_not_exists && known {
                let e = duplicate_column(name);
                self.env.note(e.code, e.message);
                return Ok(());
            }
            let c = NewColumn {
                def: self.checked(spec, d)?,
                from: None,
                open: is_open(spec, self.env),
            };
            insert_at(&mut d.columns, c, place, &d.old.name)?;
        }
        d.added.extend(elements.indexes.iter().cloned());
        Ok(())
    }

    fn add_checks(&self, d: &mut Draft<'_>, checks: &[CheckSpec]) -> SqlResult<()> {
        for spec in checks {
            self.env.check_interrupt()?;
            let known = |n: &String| d.def.checks.iter().any(|c| same(&c.name, n));
            if let Some(n) = spec
                .name
                .as_ref()
                .filter(|n| spec.if_not_exists && known(n))
            {
                self.env.note(
                    codes::DUP_CONSTRAINT_NAME,
                    format!("Duplicate CHECK constraint name '{n}'"),
                );
                continue;
            }
            constraint::texts_fit(&spec.expr, d.collation, self.env)?;
            let one = std::slice::from_ref(spec);
            let columns = d.def.columns.iter().filter(|c| c.check.is_some());
            let columns = columns.map(|c| c.name.as_str());
            let made = constraint::checks(
                one,
                &d.def.checks,
                columns,
                (&d.old.db, &d.old.name),
                self.env.collation.charset(),
            )?;
            d.def.checks.extend(made);
        }
        Ok(())
    }

    fn drop_something(
        &self,
        d: &mut Draft<'_>,
        kind: DropKind,
        name: &str,
        if_exists: bool,
        gone: &mut [bool],
    ) -> SqlResult<()> {
        let index = d.old.indexes.iter().find(|i| same(&i.name, name));
        let e = match kind {
            DropKind::Column => {
                let at = d.old.columns.iter().position(|c| same(&c.name, name));
                if let Some(i) = at.filter(|i| !gone[*i]) {
                    gone[i] = true;
                    return Ok(());
                }
                cant_drop_what("COLUMN", name)
            }
            DropKind::Index => {
                if let Some(i) = index.filter(|i| !d.dropped.contains(&i.name)) {
                    d.dropped.push(i.name.clone());
                    return Ok(());
                }
                errors::CANT_DROP_FIELD_OR_KEY.text(cant_drop(name))
            }
            DropKind::Period => {
                if d.def.period.as_ref().is_some_and(|p| same(&p.name, name)) {
                    d.def.period = None;
                    return Ok(());
                }
                cant_drop_what("PERIOD", name)
            }
            DropKind::Constraint => {
                let before = d.def.checks.len() + d.def.foreign_keys.len();
                d.def.checks.retain(|c| !same(&c.name, name));
                d.def.foreign_keys.retain(|c| !same(&c.name, name));
                if d.def.checks.len() + d.def.foreign_keys.len() < before {
                    return Ok(());
                }
                if let Some(i) = index.filter(|i| i.unique) {
                    d.dropped.push(i.name.clone());
                    return Ok(());
                }
                match is_mysql() {
                    true => errors::CONSTRAINT_NOT_FOUND.with([&name]),
                    false => cant_drop_what("CONSTRAINT", name),
                }
            }
            DropKind::Check => {
                let before = d.def.checks.len();
                d.def.checks.retain(|c| !same(&c.name, name));
                if d.def.checks.len() < before {
                    return Ok(());
                }
                errors::CHECK_CONSTRAINT_NOT_FOUND.with([&name])
            }
            DropKind::ForeignKey => {
                let before = d.def.foreign_keys.len();
                d.def.foreign_keys.retain(|c| !same(&c.name, name));
                if d.def.foreign_keys.len() < before {
                    return Ok(());
                }
                cant_drop_what("FOREIGN KEY", name)
            }
        };
        if !if_exists {
            return Err(e);
        }
        self.env.note(e.code, e.message);
        Ok(())
    }

    /// The new indexes; moves the columns into the definition.
    fn indexes(&self, d: &mut Draft<'_>, actions: &[AlterAction]) -> SqlResult<()> {
        self.hidden(d)?;
        let mut kept = self.kept_indexes(d)?;
        let nullable: Vec<bool> = d.columns.iter().map(|c| c.def.nullable).collect();
        let columns = key_columns(d, &kept)?;
        let before = kept.len();
        self.added_indexes(d, &columns, &mut kept)?;
        number_of_keys(kept.len(), MAX_KEYS)?;
        d.put_back(&mut kept, actions);
        // Those that stay keep their order, until there are new ones.
        if kept.len() > before {
            sort_indexes(&mut kept, &columns, |c| nullable[c]);
        }
        d.def.columns = columns;
        d.def.indexes = kept;
        Ok(())
    }

    /// Hidden columns go and come with their indexes, and have the types that their expressions have now.
    fn hidden(&self, d: &mut Draft<'_>) -> SqlResult<()> {
        let old = d.old;
        let stays = |i: &IndexDef| !d.dropped.contains(&i.name);
        let used = |c: usize| {
            let mut parts = (old.indexes.iter().filter(|i| stays(i))).flat_map(|i| &i.columns);
            parts.any(|p| p.column == c)
        };
        d.columns
            .retain(|c| !c.def.is_hidden() || c.from.is_some_and(used));
        let columns = d.columns.iter().map(|c| c.def.clone()).collect();
        let mut so_far = TableDef {
            columns,
            ..functional::columns_of(&d.def)
        };
        if so_far.columns.iter().any(ColumnDef::is_hidden) {
            let types = functional::retype(&so_far)?;
            for ((c, def), ty) in (d.columns.iter_mut().zip(&mut so_far.columns)).zip(types) {
                def.ty = ty.unwrap_or(def.ty);
                c.def.ty = def.ty;
            }
        }
        for spec in &mut d.added {
            for def in self.hidden_columns(spec, &so_far)? {
                so_far.columns.push(def.clone());
                d.columns.push(NewColumn {
                    def,
                    from: None,
                    open: false,
                });
            }
        }
        Ok(())
    }

    /// The old indexes that stay, with the columns where they are now.
    fn kept_indexes(&self, d: &Draft<'_>) -> SqlResult<Vec<IndexDef>> {
        let mut kept: Vec<IndexDef> = Vec::new();
        for ix in &d.old.indexes {
            if d.dropped.contains(&ix.name) {
                continue;
            }
            let mut ix = ix.clone();
            if ix.without_overlaps {
                let of = d.old.period.as_ref().map_or("", |p| p.name.as_str());
                period::must_stay(of, d.def.period.as_ref())?;
            }
            let mut parts: Vec<IndexColumn> = Vec::with_capacity(ix.columns.len());
            for p in &ix.columns {
                let Some(at) = d.place_in_keys(p.column) else {
                    if ix.unique && ix.columns.len() > 1 && !is_only_key(&ix) {
                        let name = &d.old.columns[p.column].name;
                        return Err(errors::KEY_COLUMN_DOES_NOT_EXIST.with([&name]));
                    }
                    continue;
                };
                let (was, now) = (&d.old.columns[p.column], &d.columns[at].def);
                let mut prefix = p.prefix;
                if was.ty != now.ty {
                    let full = now.ty.max_length().unwrap_or(0);
                    let given = prefix
                        .filter(|n| now.ty.is_string() && u64::from(*n) < full)
                        .map(u32::from);
                    let long = matches!(now.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
                    if given.is_none() && long && ix.name == "PRIMARY" {
                        return Err(errors::BLOB_KEY_WITHOUT_LENGTH.with([&now.name]));
                    }
                    let limit = Limit::of(ix.name == "PRIMARY", ix.unique);
                    prefix = prefix_of(&now.name, &now.ty, given, limit, self.env)?;
                }
                parts.push(IndexColumn {
                    column: at,
                    prefix,
                    desc: p.desc,
                });
            }
            // A period alone is no key.
            if parts.is_empty() || (ix.without_overlaps && parts.len() == 2) {
                continue;
            }
            ix.columns = parts;
            let defs: Vec<ColumnDef> = d.columns.iter().map(|c| c.def.clone()).collect();
            ix.method = kept_method(&ix, &defs, d.old.declared.as_deref())?;
            fits_whole(&ix, &defs)?;
            if let Some((_, to)) = d.renamed.iter().find(|(from, _)| same(from, &ix.name)) {
                ix.name.clone_from(to);
            }
            for (_, ignored) in d.ignored.iter().filter(|(name, _)| same(name, &ix.name)) {
                ix.ignored = *ignored;
            }
            kept.push(ix);
        }
        // One that goes, or has another name from now on, can't be named.
        let kept_its_name = |name: &str| kept.iter().any(|i| same(&i.name, name));
        if let Some((name, _)) = d.ignored.iter().find(|(name, _)| !kept_its_name(name)) {
            return Err(errors::KEY_DOES_NOT_EXISTS.with([name, &d.old.name]));
        }
        Ok(kept)
    }

    /// The indexes that are added, behind those that stay.
    fn added_indexes(
        &self,
        d: &Draft<'_>,
        columns: &[ColumnDef],
        kept: &mut Vec<IndexDef>,
    ) -> SqlResult<()> {
        let old = |n: &str| {
            let mut old = d.old.indexes.iter();
            old.any(|i| same(&i.name, n) && !d.dropped.contains(&i.name))
        };
        number_of_keys(d.added.len(), HOPELESS)?;
        for spec in &d.added {
            if let Some(n) = spec.name.as_ref().filter(|n| same(n, "PRIMARY")) {
                return Err(errors::WRONG_NAME_FOR_INDEX.with([n]));
            }
            let known = match &spec.name {
                _ if spec.primary => kept.iter().any(|i| i.name == "PRIMARY"),
                Some(n) => old(n),
                None => false,
            };
            if spec.primary && known {
                let text = "Multiple primary key defined";
                if !spec.if_not_exists {
                    return Err(errors::MULTIPLE_PRI_KEY.text(text));
                }
                self.env.note(codes::MULTIPLE_PRI_KEY, text);
                continue;
            }
            if let (true, true, Some(n)) = (known, spec.if_not_exists, &spec.name) {
                self.env
                    .note(codes::DUP_KEYNAME, format!("Duplicate key name '{n}'"));
                continue;
            }
            let ix = index_def(spec, columns, kept, d.def.period.as_ref(), self.env)?;
            note_twice(&ix, kept, self.env);
            kept.push(ix);
        }
        Ok(())
    }
}

/// A key WITHOUT OVERLAPS with one column before its period, without which there is none.
fn is_only_key(ix: &IndexDef) -> bool {
    ix.without_overlaps && ix.columns.len() == 3
}

/// A primary key makes its columns NOT NULL, before indexes look at them. Gives the columns after that.
fn key_columns(d: &mut Draft<'_>, kept: &[IndexDef]) -> SqlResult<Vec<ColumnDef>> {
    let mut columns: Vec<ColumnDef> = d.columns.iter().map(|c| c.def.clone()).collect();
    some_are_visible(&columns)?;
    let old = (kept.iter().filter(|i| i.name == "PRIMARY"))
        .flat_map(|i| i.columns.iter().map(|c| c.column));
    let names = columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let new = (d.added.iter().filter(|i| i.primary))
        .flat_map(|i| i.columns.iter())
        .filter_map(|(n, ..)| names.iter().position(|c| same(c, n)))
        .collect::<Vec<_>>();
    for at in old.chain(new) {
        columns[at].nullable = false;
        if columns[at].default == DefaultDef::Null {
            columns[at].default = DefaultDef::None;
        }
        d.columns[at].def = columns[at].clone();
    }
    Ok(columns)
}

/// Expressions that stay name the columns by their new names.
fn follow_names(d: &mut Draft<'_>) {
    let old = d.old;
    let renamed: Vec<(&str, String)> = (d.columns.iter())
        .filter_map(|c| {
            let from = &old.columns[c.from?].name;
            (*from != c.def.name).then(|| (from.as_str(), c.def.name.clone()))
        })
        .collect();
    if renamed.is_empty() {
        return;
    }
    let follow = |text: &mut String| *text = constraint::with_new_names(text, &renamed);
    for c in &mut d.columns {
        let Some(before) = c.from.map(|i| &old.columns[i]) else {
            continue;
        };
        // What the statement itself says has the names that it means.
        if c.def.generated == before.generated
            && let Some(g) = &mut c.def.generated
        {
            follow(&mut g.expr);
        }
        if c.def.check == before.check
            && let Some(check) = &mut c.def.check
        {
            follow(check);
        }
        if c.def.default == before.default
            && let DefaultDef::Expr(e) = &mut c.def.default
        {
            follow(e);
        }
    }
    for check in &mut d.def.checks {
        if old.checks.contains(check) {
            follow(&mut check.expr);
        }
    }
}

/// The column whose default ALTER changes: an old one that the statement leaves as it is otherwise, or one that it adds.
fn column_to_set(d: &Draft<'_>, actions: &[AlterAction], name: &str) -> Option<usize> {
    let changes = |a: &AlterAction| match a {
        AlterAction::Change { column, .. } | AlterAction::RenameColumn { from: column, .. } => {
            same(column, name)
        }
        _ => false,
    };
    let old = column_at(d.old, name).filter(|_| !actions.iter().any(changes));
    let is = |c: &NewColumn| match c.from {
        Some(i) => Some(i) == old,
        None => same(&c.def.name, name),
    };
    d.columns.iter().position(is)
}

/// ALTER CHECK and ALTER CONSTRAINT ... [NOT] ENFORCED.
fn enforce_check(d: &mut Draft<'_>, name: &str, enforced: bool, check: bool) -> SqlResult<()> {
    match d.def.checks.iter_mut().find(|c| same(&c.name, name)) {
        Some(c) => {
            c.not_enforced = !enforced;
            Ok(())
        }
        None if check => Err(errors::CHECK_CONSTRAINT_NOT_FOUND.with([&name])),
        None => Err(errors::CONSTRAINT_NOT_FOUND.with([&name])),
    }
}

/// What MySQL makes of a column that goes, or gets another name, while something is defined by it: a functional index and a
/// CHECK of several columns keep it, a CHECK of its own goes with it.
fn dependents(d: &mut Draft<'_>) -> SqlResult<()> {
    let old = d.old;
    let lost = |i: usize| {
        let now = d.columns.iter().find(|c| c.from == Some(i));
        now.is_none_or(|c| !same(&c.def.name, &old.columns[i].name))
    };
    if !(0..old.columns.len()).any(lost) {
        return Ok(());
    }
    let table = Table::made(functional::columns_of(old))?;
    for (i, c) in old
        .columns
        .iter()
        .enumerate()
        .filter(|(_, c)| c.is_hidden())
    {
        let of = |x: &&IndexDef| x.columns.iter().any(|p| p.column == i);
        let stays = (old.indexes.iter().filter(of)).any(|x| !d.dropped.contains(&x.name));
        let Some(g) = c.generated.as_ref().filter(|_| stays) else {
            continue;
        };
        if let Some(at) =
            (functional::columns_read(&g.expr, &table)?.into_iter()).find(|c| lost(*c))
        {
            return Err(errors::DEPENDENT_BY_FUNCTIONAL_INDEX.with([&old.columns[at].name]));
        }
    }
    let mut gone = Vec::new();
    for check in d.def.checks.iter().filter(|c| old.checks.contains(c)) {
        let mut read = functional::columns_read(&check.expr, &table)?;
        read.sort_unstable();
        read.dedup();
        let Some(at) = read.iter().copied().find(|c| lost(*c)) else {
            continue;
        };
        let dropped = d.columns.iter().all(|c| c.from != Some(at));
        if !dropped || read.len() > 1 {
            let column = &old.columns[at].name;
            return Err(errors::DEPENDENT_BY_CHECK_CONSTRAINT.with([&check.name, column]));
        }
        gone.push(check.name.clone());
    }
    d.def.checks.retain(|c| !gone.contains(&c.name));
    Ok(())
}

/// A TEXT has room for as many characters in a set whose characters take more bytes: it becomes the next larger one.
fn widen(ty: &mut ColumnType, to: Collation) {
    let TypeKind::Text(size) = ty.kind else {
        return;
    };
    let (before, after) = (ty.collation.charset().max_width(), to.charset().max_width());
    let needed = size.max_bytes() / before.max(1) as u64 * after as u64;
    if after > before {
        let sizes = [BlobSize::Tiny, BlobSize::Normal, BlobSize::Medium];
        let fits = sizes.into_iter().find(|s| s.max_bytes() >= needed);
        ty.kind = TypeKind::Text(fits.unwrap_or(BlobSize::Long));
    }
}

fn insert_at(
    columns: &mut Vec<NewColumn>,
    c: NewColumn,
    place: Option<&ColumnPlace>,
    table: &str,
) -> SqlResult<()> {
    let at = match place {
        // Those of functional indexes stay behind all others.
        None => columns.iter().take_while(|c| !c.def.is_hidden()).count(),
        Some(ColumnPlace::First) => 0,
        Some(ColumnPlace::After(name)) => {
            1 + columns
                .iter()
                .position(|o| same(&o.def.name, name))
                .ok_or_else(|| unknown_column(name, table))?
        }
    };
    columns.insert(at, c);
    Ok(())
}

/// A column as it is, to be checked again.
fn plain_spec(def: ColumnDef, default: Option<narwal_syntax::ast::Expr>) -> ColumnSpec {
    ColumnSpec {
        collation: own_collation(&def),
        length: None,
        def,
        default,
        check: None,
        json: false,
        implicit: false,
        member_bytes: Vec::new(),
        said_db: None,
        generated: None,
    }
}

/// Whether rows become others, or are written anew in what may be another format. Older tables may have larger ones than a new
/// one may.
fn is_made_anew(old: &TableDef, new: &TableDef, actions: &[AlterAction]) -> bool {
    let kept = |c: &ColumnDef, o: &ColumnDef| c.ty == o.ty && c.nullable == o.nullable;
    let said = |a: &AlterAction| {
        matches!(a, AlterAction::Force)
            || matches!(a, AlterAction::Options(o) if o.engine.is_some())
    };
    old.columns.len() != new.columns.len()
        || old.options != new.options
        || !old
            .columns
            .iter()
            .zip(&new.columns)
            .all(|(o, c)| kept(c, o))
        || actions.iter().any(said)
}

/// An action that is about more than options and names.
fn about_rows(a: &AlterAction) -> bool {
    !matches!(
        a,
        AlterAction::Options(_)
            | AlterAction::RenameTo(_)
            | AlterAction::KeysNoOp
            | AlterAction::Algorithm(_)
            | AlterAction::Lock(_)
    )
}

/// A new index has a virtual column, or any index where all are made anew: its values are computed as the session's modes want
/// them.
fn indexes_virtual(def: &TableDef, all: bool) -> bool {
    let computed = |c: usize| def.columns[c].generated.as_ref().is_some_and(|g| !g.stored);
    let new = def.indexes.iter().filter(|i| all || i.id == 0);
    new.flat_map(|i| &i.columns).any(|p| computed(p.column))
}

/// Whether a column changes in a way for which MariaDB copies the table.
fn is_retyped(d: &Draft<'_>) -> bool {
    let copies = |from: usize, to| copies_in_mariadb(&d.old.columns[from], to);
    let mut columns = d.columns.iter();
    columns.any(|c| c.from.is_some_and(|from| copies(from, &c.def)))
}

/// Whether MariaDB copies the table for this change of a column: then it reports the number of rows.
fn copies_in_mariadb(old: &ColumnDef, new: &ColumnDef) -> bool {
    use TypeKind::{VarBinary, VarChar};
    if new.auto_increment && !old.auto_increment || new.compressed != old.compressed {
        return true;
    }
    let (from, to) = (old.ty.collation, new.ty.collation);
    let sets = (from.charset(), to.charset());
    // From 128 bytes on what stands in a row has to know whether a value may have more than 255.
    let longer = |a: u16, b: u16, from: u32, to: u32| {
        a > b || (128..=255).contains(&(u32::from(a) * from)) && u32::from(b) * to > 255
    };
    match (old.ty.kind, new.ty.kind) {
        // UTF-8 of three bytes is UTF-8 of four bytes.
        _ if sets.0 != sets.1 && sets != (Charset::Utf8mb3, Charset::Utf8mb4) => true,
        (VarChar(a), VarChar(b)) => longer(a, b, sets.0.char_bytes(), sets.1.char_bytes()),
        (VarBinary(a), VarBinary(b)) => longer(a, b, 1, 1),
        (TypeKind::Enum(_), TypeKind::Enum(_)) | (TypeKind::Set(_), TypeKind::Set(_))
            if from != to =>
        {
            true
        }
        // More members behind those that there are: the stored numbers mean the same.
        (TypeKind::Enum(a), TypeKind::Enum(b)) => {
            !b.list().starts_with(a.list()) || a.enum_bytes() != b.enum_bytes()
        }
        (TypeKind::Set(a), TypeKind::Set(b)) => {
            !b.list().starts_with(a.list()) || a.set_bytes() != b.set_bytes()
        }
        (a, b) => a != b || old.ty.unsigned != new.ty.unsigned,
    }
}
