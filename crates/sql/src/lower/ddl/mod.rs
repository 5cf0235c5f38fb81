//! DDL as parsed to DDL as run: types and collations of the engine, and what Narwal does not do refused by its name.

mod alter;
mod charset;
mod column;
mod index;
mod option;
mod refuse;
mod sequence;
mod table;
mod types;
mod view;

use crate::ast::DdlStmt;
use crate::charset_words::CharsetWords;
use narwal_syntax::ParseOptions;
use narwal_syntax::ast::ddl as syntax;
use narwal_types::SqlResult;
use refuse::{no_wait, unsupported};

pub(crate) use charset::{charset, collation_of, mismatched_collation};
pub use types::variable_type;
pub(crate) use types::{is_text, too_big};

/// A statement of DDL as this crate runs it.
pub(super) fn lower(d: syntax::Ddl, opts: &ParseOptions) -> SqlResult<DdlStmt> {
    use syntax::Ddl as D;
    let sql_mode = opts.sql_mode;
    let name = d.name();
    Ok(match d {
        D::CreateTable(t) => DdlStmt::CreateTable(table::create(t, sql_mode)?),
        D::AlterTable(t) => alter::alter_table(t, sql_mode)?,
        D::DropTable(t) => {
            if t.wait.is_some() {
                return unsupported("DROP TABLE ... WAIT");
            }
            DdlStmt::DropTable {
                if_exists: t.if_exists,
                temporary: t.temporary,
                tables: t.names,
            }
        }
        D::RenameTable(r) => {
            no_wait(r.wait)?;
            DdlStmt::RenameTable {
                if_exists: r.if_exists,
                pairs: r.pairs,
            }
        }
        D::Truncate(t) => {
            no_wait(t.wait)?;
            DdlStmt::Truncate(t.table)
        }
        D::CreateIndex(c) => index::create(c, sql_mode)?,
        D::DropIndex(d) => {
            no_wait(d.how.wait)?;
            DdlStmt::DropIndex {
                if_exists: d.if_exists,
                table: d.table,
                index: d.index,
            }
        }
        D::CreateDatabase(c) => {
            let (collation, comment) = database_options(c.options)?;
            DdlStmt::CreateDatabase {
                or_replace: c.creation.or_replace,
                if_not_exists: c.creation.if_not_exists,
                name: c.name,
                collation,
                comment,
            }
        }
        D::AlterDatabase(a) if a.upgrade => {
            return unsupported("ALTER DATABASE ... UPGRADE DATA DIRECTORY NAME");
        }
        D::AlterDatabase(a) => {
            let (collation, comment) = database_options(a.options)?;
            DdlStmt::AlterDatabase {
                name: a.name,
                collation,
                comment,
            }
        }
        D::DropDatabase(d) => DdlStmt::DropDatabase {
            if_exists: d.if_exists,
            name: d.name,
        },
        D::CreateView(v) => DdlStmt::CreateView(Box::new(view::create(v)?)),
        D::DropView(v) => DdlStmt::DropView {
            if_exists: v.if_exists,
            views: v.names,
        },
        D::CreateSequence(s) => sequence::create(s, sql_mode)?,
        D::AlterSequence(s) => sequence::alter(s),
        D::DropSequence(s) => DdlStmt::DropSequence {
            temporary: s.temporary,
            if_exists: s.if_exists,
            names: s.names,
        },
        D::CreateServer(_)
        | D::AlterServer(..)
        | D::DropServer(_)
        | D::AlterRoutine(_)
        | D::DropProgram(..) => return unsupported(name),
    })
}

/// The collation and the comment that options of a database come to.
fn database_options(
    options: Vec<syntax::TableOption>,
) -> SqlResult<(CharsetWords, Option<String>)> {
    let (mut collation, mut comment) = (CharsetWords::default(), None);
    for o in options {
        match o {
            syntax::TableOption::Charset(c) => {
                charset::add(&c, &mut collation)?;
                collation.check()?;
            }
            syntax::TableOption::Comment(c) => comment = Some(c),
            _ => {}
        }
    }
    Ok((collation, comment))
}
