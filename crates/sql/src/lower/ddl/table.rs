//! CREATE TABLE: elements and options.

use super::refuse::unsupported;
use super::{charset, column, index};
use crate::ast::{CreateTable, Duplicates, PeriodSpec, TableElements, TableOptions};
use crate::lower::ddl::option::{self, references};
use crate::quote::quote_ident;
use narwal_engine::{MergeInsert, PeriodDef};
use narwal_syntax::SqlMode;
use narwal_syntax::ast::ddl as syntax;
use narwal_syntax::ast::ddl::{OptionValue, TableElement, TableOption};
use narwal_types::coltype::quoted;
use narwal_types::{SqlResult, errors};

/// CREATE TABLE.
pub(super) fn create(t: syntax::CreateTable, sql_mode: SqlMode) -> SqlResult<CreateTable> {
    let elements = elements(t.elements, sql_mode)?;
    let options = options(t.options, sql_mode)?;
    if t.partitions.is_some() {
        return unsupported("PARTITION BY");
    }
    if t.like.is_none() && t.select.is_none() && elements == TableElements::default() {
        return Err(errors::TABLE_MUST_HAVE_COLUMNS.plain());
    }
    Ok(CreateTable {
        temporary: t.temporary,
        or_replace: t.creation.or_replace,
        if_not_exists: t.creation.if_not_exists,
        table: t.table,
        elements,
        options,
        like: t.like,
        duplicates: match t.duplicates {
            syntax::OnDuplicate::Refuse => Duplicates::Refuse,
            syntax::OnDuplicate::Ignore => Duplicates::Ignore,
            syntax::OnDuplicate::Replace => Duplicates::Replace,
        },
        select: t.select,
    })
}

/// Elements of a table's definition.
pub(super) fn elements(list: Vec<TableElement>, sql_mode: SqlMode) -> SqlResult<TableElements> {
    let mut t = TableElements::default();
    for e in list {
        match e {
            TableElement::Column(c) => column::column(c, sql_mode, &mut t)?,
            TableElement::Index(i) => t.indexes.push(index::index(i, sql_mode)?),
            TableElement::Check(c) => t.checks.push(option::check(c)),
            TableElement::ForeignKey(k) => {
                let mut key = references(k.references)?;
                key.name = k.name;
                key.index = k.index;
                key.if_not_exists = k.if_not_exists;
                key.columns = k.columns;
                t.foreign_keys.push(key.behind(&t.indexes));
            }
            TableElement::Period(p) if p.system => {
                return unsupported("PERIOD FOR SYSTEM_TIME");
            }
            TableElement::Period(p) => t.periods.push(PeriodSpec {
                def: PeriodDef {
                    name: p.name,
                    start: p.start,
                    end: p.end,
                },
                if_not_exists: p.if_not_exists,
            }),
        }
    }
    Ok(t)
}

/// Options of a table.
pub(super) fn options(list: Vec<TableOption>, sql_mode: SqlMode) -> SqlResult<TableOptions> {
    let mut t = TableOptions::default();
    for o in list {
        match o {
            TableOption::Engine(name) => t.engine = Some(name),
            TableOption::Charset(c) => {
                charset::add(&c, &mut t.collation)?;
                t.collation.check()?;
            }
            TableOption::Comment(c) => t.comment = Some(c),
            // What no counter holds is as good as the last that one holds.
            TableOption::AutoIncrement(n) => {
                t.auto_increment = Some(n.parse().unwrap_or(u64::MAX));
            }
            TableOption::Union(tables) => t.union = Some(tables),
            TableOption::SystemVersioning => return unsupported("WITH SYSTEM VERSIONING"),
            TableOption::Sequence(yes) => t.sequence = Some(yes),
            TableOption::Known(name, value) => known(name, &value, &mut t)?,
            TableOption::Engines(name, value) => {
                if !engine_option(&name, &value, &mut t)? {
                    t.in_vain.push(option::unknown(&name, sql_mode)?);
                }
            }
        }
    }
    Ok(t)
}

/// Hints about another engine's files change nothing that a client can see, and are shown back; what would is refused.
fn known(name: &'static str, value: &OptionValue, t: &mut TableOptions) -> SqlResult<()> {
    let digits = value.text().trim_start_matches('0');
    let on = !digits.is_empty();
    let kept = match name {
        "INSERT_METHOD" => {
            t.insert_method = Some(match value.text() {
                "FIRST" => MergeInsert::First,
                "LAST" => MergeInsert::Last,
                _ => MergeInsert::No,
            });
            return Ok(());
        }
        // As SHOW CREATE TABLE has it.
        "CONNECTION" => (!value.text().is_empty()).then(|| quoted(value.text())),
        // Tables lie in the folder of the data.
        "DATA DIRECTORY" | "INDEX DIRECTORY" | "STORAGE" | "TABLESPACE" => {
            let folder = Some(value.text().to_owned());
            match name {
                "DATA DIRECTORY" => t.data_folder = folder,
                "INDEX DIRECTORY" => t.index_folder = folder,
                _ => {}
            }
            t.in_vain.push(errors::WARN_OPTION_IGNORED.with([&name]));
            return Ok(());
        }
        "MIN_ROWS" | "MAX_ROWS" | "AVG_ROW_LENGTH" => {
            // As in MariaDB, which has 32 bits for each.
            let n = digits.parse::<u32>().unwrap_or(u32::MAX);
            on.then(|| n.to_string())
        }
        "CHECKSUM" | "TABLE_CHECKSUM" | "DELAY_KEY_WRITE" => on.then(|| "1".to_owned()),
        "PAGE_CHECKSUM" => Some(String::from(if on { "1" } else { "0" })),
        "KEY_BLOCK_SIZE" => on.then(|| digits.to_owned()),
        "PACK_KEYS" | "STATS_AUTO_RECALC" | "STATS_PERSISTENT" | "TRANSACTIONAL"
        | "STATS_SAMPLE_PAGES" | "ROW_FORMAT" => match value {
            OptionValue::Default => None,
            v if v.text() == "DEFAULT" => None,
            v => Some(v.text().to_owned()),
        },
        _ => return Ok(()),
    };
    let name = if name == "TABLE_CHECKSUM" {
        "CHECKSUM"
    } else {
        name
    };
    t.kept.push((name.to_owned(), kept));
    Ok(())
}

/// Options that InnoDB gives its tables: they say how its files are kept, and are shown back. False for a name that is none of
/// them.
///
/// # Errors
/// 1912 for a value that the option does not have; 1235 for encryption, which a table has with all others or not at all.
fn engine_option(name: &str, value: &OptionValue, t: &mut TableOptions) -> SqlResult<bool> {
    let upper = name.to_ascii_uppercase();
    let said = value.text();
    let one_of = |words: &[&str]| words.iter().any(|w| w.eq_ignore_ascii_case(said));
    let fits = match upper.as_str() {
        "PAGE_COMPRESSED" => one_of(&["YES", "NO", "ON", "OFF", "0", "1"]),
        "PAGE_COMPRESSION_LEVEL" => matches!(said.parse(), Ok(1..=9)),
        "ENCRYPTED" if one_of(&["YES"]) => {
            return unsupported(
                "table option ENCRYPTED (narwal encrypt encrypts the whole folder)",
            );
        }
        "ENCRYPTED" => one_of(&["NO", "DEFAULT"]),
        "ENCRYPTION_KEY_ID" if said != "1" => {
            return unsupported(format!("table option {upper}"));
        }
        "ENCRYPTION_KEY_ID" => true,
        _ => return Ok(false),
    };
    if !fits && *value != OptionValue::Default {
        return Err(errors::BAD_OPTION_VALUE.with([&said, &upper]));
    }
    let kept = (*value != OptionValue::Default).then(|| quoted(said));
    t.kept.push((quote_ident(name), kept));
    Ok(true)
}
