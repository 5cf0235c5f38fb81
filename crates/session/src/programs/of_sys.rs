//! Routines of the schema `sys`: they are there without anybody making them, and run as others do. `sys.sql` has their text.

use super::definition::{self, Definition, Stored, take_written};
use crate::acl::RoutineKind;
use crate::system_schemas::SYS;
use narwal_engine::Catalog;
use narwal_syntax::ast::Statement;
use narwal_syntax::ast::program::Program;
use narwal_syntax::{ParseOptions, parse_statement};
use narwal_types::{Collation, Name, SqlResult};
use std::collections::HashMap;
use std::sync::OnceLock;

/// What stands between two statements of the text.
const END: &str = "\n$$\n";

/// By kind, and name in small letters.
fn routines() -> &'static HashMap<(Stored, String), Definition> {
    static READ: OnceLock<HashMap<(Stored, String), Definition>> = OnceLock::new();
    READ.get_or_init(|| {
        let all = include_str!("sys.sql").split(END).filter_map(read);
        all.map(|d| ((d.kind, d.name.name_key()), d)).collect()
    })
}

/// A routine from its CREATE statement. The text is a constant; a test reads all of them.
fn read(text: &str) -> Option<Definition> {
    let text = &text[text.find("CREATE ")?..];
    let Ok(Statement::Program(p)) = parse_statement(text, &ParseOptions::default()) else {
        return None;
    };
    let Program::Routine(r) = *p else {
        return None;
    };
    let collation = Collation::Utf8mb3GeneralCi.name().to_string();
    let mut def = Definition {
        kind: match r.returns {
            Some(_) => Stored::Function,
            None => Stored::Procedure,
        },
        db: SYS.into(),
        name: r.name.name.clone(),
        parameters: String::new(),
        returns: String::new(),
        aggregate: false,
        body: String::new(),
        definer: ("mariadb.sys".into(), "localhost".into()),
        invoker: true,
        deterministic: false,
        access: "CONTAINS SQL".into(),
        comment: String::new(),
        sql_mode: 0,
        charset: ("utf8mb3".into(), collation.clone(), collation),
        created: 0,
        modified: 0,
        trigger: None,
        event: None,
    };
    take_written(&mut def, &r, text);
    Some(def)
}

/// True if the schema is the server's own: nobody has made a database of that name.
pub(super) fn are_there(catalog: &Catalog) -> bool {
    catalog.database(SYS).is_none()
}

/// A program that a statement may run or show: one of these, or one that somebody has made.
///
/// # Errors
/// Those of [`definition::find`].
pub(crate) fn find(
    catalog: &Catalog,
    kind: Stored,
    db: &str,
    name: &str,
) -> SqlResult<Option<Definition>> {
    if db == SYS && are_there(catalog) {
        return Ok(routines().get(&(kind, name.name_key())).cloned());
    }
    definition::find(catalog, kind, db, name)
}

/// True if there is such a routine.
pub(crate) fn routine_exists(
    catalog: &Catalog,
    kind: RoutineKind,
    db: &str,
    name: &str,
) -> SqlResult<bool> {
    Ok(find(catalog, Stored::of(kind), db, name)?.is_some())
}

/// All of a kind, these behind those that somebody has made.
pub(super) fn all(catalog: &Catalog, kind: Stored) -> Vec<Definition> {
    let mut all = definition::all(catalog, kind);
    if are_there(catalog) {
        let mut own: Vec<&Definition> = routines().values().filter(|d| d.kind == kind).collect();
        own.sort_by(|a, b| a.name.cmp(&b.name));
        all.extend(own.into_iter().cloned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_a_routine() {
        let text = include_str!("sys.sql");
        let ends = text.lines().filter(|l| *l == "$$").count();
        assert_eq!(routines().len(), ends);
    }
}
