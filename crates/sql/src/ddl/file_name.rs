//! How long a name is as that of a file. A MariaDB has a file for each table, view and database, so neither it nor a replica
//! of ours can have one whose file's name is too long; here none has a file.

use crate::env::StatementEnv;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// Bytes of a file's name at most.
const LONGEST: usize = 255;

/// Bytes of a name as that of a file: a letter of these alphabets takes three, what is neither that nor plain takes five.
fn bytes(name: &str) -> usize {
    let one = |c: char| match c {
        '_' => 1,
        c if c.is_ascii_alphanumeric() => 1,
        '\u{c0}'..='\u{2af}'
        | '\u{370}'..='\u{58f}'
        | '\u{1e00}'..='\u{1fff}'
        | '\u{2160}'..='\u{217f}'
        | '\u{24b6}'..='\u{24e9}'
        | '\u{ff21}'..='\u{ff5a}'
            if c.is_alphanumeric() =>
        {
            3
        }
        _ => 5,
    };
    name.chars().map(one).sum()
}

/// `ending`: what the name of the longest of its files ends in.
fn is_too_long(name: &str, ending: &str, env: &StatementEnv) -> bool {
    let others = env.of_mysql || narwal_types::face::is_mysql();
    !others && bytes(name) + ending.len() > LONGEST
}

/// A new table. Error 1005.
pub(super) fn table(db: &str, name: &str, env: &StatementEnv) -> SqlResult<()> {
    match is_too_long(name, ".frm", env) {
        true => Err(errors::CANT_CREATE_TABLE.text(format!(
            "Can't create table `{db}`.`{name}` (errno: 36 \"File name too long\")"
        ))),
        false => Ok(()),
    }
}

/// The database that a table is to move to is not there, or the name that it is to have is too long.
pub(super) fn cant_rename(from: (&str, &str), to: (&str, &str)) -> SqlError {
    errors::ERROR_ON_RENAME.text(format!(
            "Error on rename of './{}/{}' to './{}/{}' (errno: 168 \"Unknown (generic) error from engine\")",
            from.0, from.1, to.0, to.1
        ))
}

/// A table's new name. Error 1025.
pub(super) fn renamed(from: (&str, &str), to: (&str, &str), env: &StatementEnv) -> SqlResult<()> {
    match is_too_long(to.1, ".frm", env) {
        true => Err(cant_rename(from, to)),
        false => Ok(()),
    }
}

/// A view, whose file is written beside the one that it replaces. Error 1.
pub(super) fn view(name: &str, env: &StatementEnv) -> SqlResult<()> {
    match is_too_long(name, ".frm~", env) {
        true => Err(SqlError::new(
            1,
            b"HY000",
            format!(
                "Can't create/write to file '{name}.frm~' (Errcode: 36 \"File name too long\")"
            ),
        )),
        false => Ok(()),
    }
}

/// A database. Error 13.
pub(super) fn database(name: &str, env: &StatementEnv) -> SqlResult<()> {
    match is_too_long(name, "", env) {
        true => Err(SqlError::new(
            13,
            b"HY000",
            format!("Can't get stat of './{name}' (Errcode: 36 \"File name too long\")"),
        )),
        false => Ok(()),
    }
}
