//! Why a foreign key can't be: the error, and the warnings around it. Each way in which MariaDB makes a key has its own.

use crate::ast::ForeignKeySpec;
use crate::ddl::run::Run;
use crate::env::StatementEnv;
use narwal_engine::{ForeignKeyDef, IndexDef, IndexMethod, TableDef};
use narwal_types::SqlError;
use narwal_types::errors;
use narwal_types::errors::codes;

/// How MariaDB makes a foreign key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Making {
    /// With its table.
    Create,
    /// By ALTER TABLE with a copy of the rows.
    Copy,
    /// By ALTER TABLE in the table that is there, with `foreign_key_checks=0`.
    InPlace,
}

/// What a foreign key lacks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// The table that it refers to.
    Parent,
    /// A column of that table.
    Column(String),
    /// An index on its own columns; `true`: there is one of their first characters.
    OwnIndex(bool),
    /// An index on the columns that it refers to.
    ParentIndex(NoIndex),
    /// A column that may be NULL, for SET NULL.
    Null(String),
    /// The same, for a value that comes by ON UPDATE CASCADE.
    NullOfCascade,
    /// A name of its own within the statement.
    OwnName,
}

/// Why no index of a table begins with certain columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoIndex {
    /// None does.
    Missing,
    /// One has the first characters only.
    Prefix,
    /// The referring column at this place is of another type.
    Type(usize),
}

/// Looks for an index that begins with these columns, whole and in this order; `fits`: the type of the column at a place.
/// What the last index that came near was short of is what is told.
pub(super) fn index_beginning(
    def: &TableDef,
    columns: &[usize],
    fits: impl Fn(usize) -> bool,
) -> Result<(), NoIndex> {
    let mut told = NoIndex::Missing;
    // One of hashes finds whole keys only.
    let hashed = |i: &IndexDef| i.unique && i.method == Some(IndexMethod::Hash);
    let usable = |i: &&IndexDef| i.columns.len() >= columns.len() && !hashed(i);
    for index in def.indexes.iter().filter(usable) {
        let mut parts = index.columns.iter().zip(columns).enumerate();
        let short_of = parts.find_map(|(at, (part, column))| {
            if part.prefix.is_some() {
                Some(Some(NoIndex::Prefix))
            } else if part.column != *column {
                Some(None)
            } else if !fits(at) {
                Some(Some(NoIndex::Type(at)))
            } else {
                None
            }
        });
        match short_of {
            None => return Ok(()),
            Some(Some(why)) => told = why,
            Some(None) => {}
        }
    }
    Err(told)
}

/// The error of CREATE TABLE and of a copy; `number`: InnoDB's of it. Behind it stands what the server made of that.
pub(super) fn cant_create(def: &TableDef, number: u16, env: &StatementEnv) -> SqlError {
    let (what, behind) = match number {
        121 => (
            "Duplicate key on write or update",
            errors::DUP_KEY.with([&def.name]),
        ),
        _ => (
            "Foreign key constraint is incorrectly formed",
            errors::CANNOT_ADD_FOREIGN_KEY.with([&def.name]),
        ),
    };
    env.warn_behind(behind);
    errors::CANT_CREATE_TABLE.text(format!(
        "Can't create table `{}`.`{}` (errno: {number} \"{what}\")",
        def.db, def.name
    ))
}

impl Run<'_> {
    /// The error of a foreign key that lacks something.
    pub(super) fn lacks(
        &self,
        (def, s): (&TableDef, &ForeignKeySpec),
        key: &ForeignKeyDef,
        making: Making,
        lack: &Lack,
    ) -> SqlError {
        if making == Making::InPlace {
            return refused_in_place(def, s, key, lack);
        }
        if let Some(why) = why(key, lack) {
            let verb = match making {
                Making::Create => "Create",
                _ => "Alter",
            };
            let with = if matches!(lack, Lack::Column(_)) {
                ""
            } else {
                "with "
            };
            self.env.warn(
                codes::CANNOT_ADD_FOREIGN,
                format!(
                    "{verb}  table `{}`.`{}` {with}foreign key {} constraint failed. {why}",
                    def.db,
                    def.name,
                    called(s)
                ),
            );
        }
        cant_create(def, 150, self.env)
    }

    /// The error of a foreign key whose name another one has.
    pub(super) fn name_taken(
        &self,
        def: &TableDef,
        key: &ForeignKeyDef,
        making: Making,
    ) -> SqlError {
        let clause = key.clause(&def.db);
        self.env.warn(
            codes::FOUND_DUPP_KEY,
            format!(
                "CREATE or ALTER TABLE `{}`.`{}` failed: duplicate name, {clause}",
                def.db, def.name
            ),
        );
        match making {
            Making::InPlace => errors::FK_FAIL_ADD_SYSTEM.with([&full_name(def, &key.name)]),
            _ => cant_create(def, 121, self.env),
        }
    }
}

/// A key as InnoDB has its name.
pub(super) fn full_name(def: &TableDef, key: &str) -> String {
    format!("{}/{key}", def.db)
}

/// A key as warnings call it: by the name that the statement gives it, or by its columns.
fn called(s: &ForeignKeySpec) -> String {
    match s.index.as_ref().or(s.name.as_ref()) {
        Some(name) => format!("`{name}`"),
        None => format!("({})", s.columns.join(", ")),
    }
}

/// What a warning in front of the error says; a lack that the server found itself has none.
fn why(key: &ForeignKeyDef, lack: &Lack) -> Option<String> {
    let only_prefix = "There is only prefix index in the referenced table where the referenced columns appear as the first columns.";
    let missing = "There is no index in the referenced table where the referenced columns appear as the first columns.";
    Some(match lack {
        Lack::Parent => format!(
            "Referenced table `{}`.`{}` not found in the data dictionary.",
            key.parent_db, key.parent
        ),
        Lack::Column(name) => format!("Column {name} was not found."),
        Lack::OwnIndex(true) | Lack::ParentIndex(NoIndex::Prefix) => only_prefix.to_string(),
        Lack::OwnIndex(false) | Lack::ParentIndex(NoIndex::Missing) => missing.to_string(),
        Lack::ParentIndex(NoIndex::Type(at)) => format!(
            "Field type or character set for column '{}' does not match referenced column '{}'.",
            key.columns[*at], key.parent_columns[*at]
        ),
        Lack::Null(column) => format!(
            "You have defined a SET NULL condition but column '{column}' is defined as NOT NULL."
        ),
        Lack::NullOfCascade | Lack::OwnName => return None,
    })
}

/// The errors of a key that comes to a table in its place.
fn refused_in_place(
    def: &TableDef,
    s: &ForeignKeySpec,
    key: &ForeignKeyDef,
    lack: &Lack,
) -> SqlError {
    let said = s.name.as_ref().or(s.index.as_ref());
    let said = said.map_or("", String::as_str);
    match lack {
        Lack::Null(_) | Lack::NullOfCascade => {
            errors::FK_INCORRECT_OPTION.with([&def.name, &full_name(def, &key.name)])
        }
        Lack::OwnIndex(_) => errors::FK_NO_INDEX_CHILD.with([&said, &def.name]),
        Lack::OwnName => errors::FK_FAIL_ADD_SYSTEM.with([&full_name(def, &key.name)]),
        Lack::Parent | Lack::Column(_) | Lack::ParentIndex(_) => {
            errors::FK_NO_INDEX_PARENT.with([&said, &key.parent])
        }
    }
}
