//! Names of the schemas that are there without anybody making them. Their tables are `information_schema/`'s.

use narwal_engine::Catalog;
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;

/// The schema of accounts, grants and stored programs.
pub(crate) const MYSQL: &str = "mysql";

/// The schemas that are there without anybody making them, beside `information_schema`. Who sees what of them is a
/// question of privileges, as with any database.
const SYSTEM: [&str; 3] = [MYSQL, PERFORMANCE_SCHEMA, "sys"];

/// A system schema's name as it is shown, unless somebody has made a database of that name.
pub(crate) fn system_schema(catalog: &Catalog, db: &str) -> Option<&'static str> {
    let is = |name: &&str| match *name == PERFORMANCE_SCHEMA {
        true => name.eq_ignore_ascii_case(db),
        false => *name == db,
    };
    let name = SYSTEM.into_iter().find(is)?;
    catalog.database(name).is_none().then_some(name)
}

/// The system schemas that nobody has made a database of.
pub(crate) fn system_schemas(catalog: &Catalog) -> impl Iterator<Item = &str> {
    let all: [&str; 3] = SYSTEM;
    all.into_iter()
        .filter(|name| catalog.database(name).is_none())
}
