//! Variables: character sets and collations.

use super::def::Effect::{Inert, Live, Startup};
use super::def::Scope::{Both, Global};
use super::def::{Kind, VariableDef, row};
use super::parts::SessionParts;
use super::value::VarValue;
use crate::charset::{charset, collation};
use narwal_types::{Charset, Collation, SqlResult, errors};

/// Clients can't speak a set where a character of ASCII is not one byte.
fn for_clients(_: &dyn SessionParts, v: &VarValue) -> SqlResult<()> {
    match Charset::from_name(v.as_str()) {
        Some(set) if !set.for_clients() => {
            Err(errors::WRONG_VALUE_FOR_VAR.with([&"character_set_client", &set.name()]))
        }
        _ => Ok(()),
    }
}

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "character_set_client",
        Both,
        Kind::Charset,
        "utf8mb4",
        Live,
        "Character set that statements come in.",
    )
    .session(|s, v| s.client_charset = Charset::from_name(v.as_str()).unwrap_or(Charset::Utf8mb4))
    .of_programs()
    .check(for_clients)
    .not_for_one_statement(),
    row(
        "character_set_connection",
        Both,
        Kind::Charset,
        "utf8mb4",
        Live,
        "Character set of literals; sets `collation_connection` to its default.",
    )
    .of_programs()
    .not_for_one_statement()
    .twin(|v| {
        let collation = charset(v.as_str())?.default_collation();
        Ok(("collation_connection", VarValue::text(collation.name())))
    }),
    row(
        "character_set_database",
        Both,
        Kind::Charset,
        "utf8mb4",
        Live,
        "Character set of the default database; what is set holds until the next USE.",
    )
    .not_for_one_statement()
    .read_session(|s| VarValue::text(s.database_collation().charset().name()))
    .before(|s, v| {
        s.set_database_collation(charset(v.as_str())?.default_collation());
        Ok(())
    })
    .twin(|v| {
        let collation = charset(v.as_str())?.default_collation();
        Ok(("collation_database", VarValue::text(collation.name())))
    }),
    row(
        "character_set_filesystem",
        Both,
        Kind::Charset,
        "binary",
        Inert,
        "Character set of file names.",
    )
    .not_for_one_statement(),
    row(
        "character_set_results",
        Both,
        Kind::Charset,
        "utf8mb4",
        Live,
        "Character set that results are sent in; NULL sends them as they are stored.",
    )
    .session(|s, v| s.results = Charset::from_name(v.as_str()))
    .takes_null(),
    row(
        "character_set_server",
        Both,
        Kind::Charset,
        "utf8mb4",
        Live,
        "Character set of new databases; sets `collation_server` to its default.",
    )
    .not_for_one_statement()
    .twin(|v| {
        let collation = charset(v.as_str())?.default_collation();
        Ok(("collation_server", VarValue::text(collation.name())))
    }),
    row(
        "character_set_system",
        Global,
        Kind::Charset,
        "utf8mb3",
        Startup,
        "Character set of names.",
    ),
    row(
        "collation_connection",
        Both,
        Kind::Collation,
        "utf8mb4_general_ci",
        Live,
        "Collation of literals; sets `character_set_connection` with it.",
    )
    .of_programs()
    .mysql_default("utf8mb4_0900_ai_ci")
    .session(|s, v| s.collation = Collation::from_name(v.as_str()).unwrap_or_default())
    .not_for_one_statement()
    .twin(|v| {
        let charset = collation(v.as_str())?.charset();
        Ok(("character_set_connection", VarValue::text(charset.name())))
    }),
    row(
        "collation_database",
        Both,
        Kind::Collation,
        "utf8mb4_general_ci",
        Live,
        "Collation of the default database; what is set holds until the next USE.",
    )
    .mysql_default("utf8mb4_0900_ai_ci")
    .not_for_one_statement()
    .read_session(|s| VarValue::text(s.database_collation().name()))
    .before(|s, v| {
        s.set_database_collation(collation(v.as_str())?);
        Ok(())
    })
    .twin(|v| {
        let charset = collation(v.as_str())?.charset();
        Ok(("character_set_database", VarValue::text(charset.name())))
    }),
    row(
        "collation_server",
        Both,
        Kind::Collation,
        "utf8mb4_general_ci",
        Live,
        "Collation of new databases; sets `character_set_server` with it.",
    )
    .mysql_default("utf8mb4_0900_ai_ci")
    .session(|s, v| s.server_collation = Collation::from_name(v.as_str()).unwrap_or_default())
    .not_for_one_statement()
    .twin(|v| {
        let charset = collation(v.as_str())?.charset();
        Ok(("character_set_server", VarValue::text(charset.name())))
    }),
];
