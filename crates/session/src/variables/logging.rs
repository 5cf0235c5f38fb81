//! Variables: logs for people: there is the audit log and the error log.

use super::def::Effect::{Inert, Startup};
use super::def::Kind::{Bool, Double, Set, Text, UInt};
use super::def::Scope::{Both, Global};
use super::def::{VariableDef, inert, row};
use crate::privileges::PrivilegeSet;
use narwal_types::errors;

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "general_log",
        Global,
        Bool,
        "OFF",
        Inert,
        "Log of all statements, which there is not: see the audit log.",
    )
    .inert("There is no general log: see the audit log"),
    inert(
        "general_log_file",
        Global,
        Text,
        "",
        "File of the general log.",
    ),
    row(
        "log_error",
        Global,
        Text,
        "",
        Startup,
        "File of the error log; Narwal writes to standard error.",
    ),
    inert(
        "log_output",
        Global,
        Set(&["NONE", "FILE", "TABLE"]),
        "FILE",
        "Where the general and the slow log go, which Narwal does not have.",
    )
    .check(|_, v| match v.as_str() {
        "" => Err(errors::WRONG_VALUE_FOR_VAR.with([&"log_output", &""])),
        _ => Ok(()),
    }),
    row(
        "log_queries_not_using_indexes",
        Both,
        Bool,
        "OFF",
        Inert,
        "Slow log of statements without an index.",
    ),
    inert(
        "log_warnings",
        Both,
        UInt(0, 4_294_967_295, 1),
        "2",
        "How much the error log says; see `--log-level`.",
    ),
    inert(
        "long_query_time",
        Both,
        Double(0.0, 31_536_000.0),
        "10",
        "Seconds from which a statement is in the slow log.",
    ),
    inert(
        "min_examined_row_limit",
        Both,
        UInt(0, 4_294_967_295, 1),
        "0",
        "Rows from which a statement is in the slow log.",
    ),
    row(
        "slow_query_log",
        Both,
        Bool,
        "OFF",
        Inert,
        "Log of slow statements, which there is not: see the audit log.",
    )
    .inert("There is no slow log: see the audit log"),
    inert(
        "slow_query_log_file",
        Global,
        Text,
        "",
        "File of the slow log.",
    ),
    inert(
        "sql_log_off",
        Both,
        Bool,
        "OFF",
        "Leaves the session out of the general log.",
    )
    .session_needs(PrivilegeSet::SUPER)
    .not_for_one_statement(),
];
