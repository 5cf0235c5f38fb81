//! Variables: the audit log.

use super::def::Effect::Live;
use super::def::Kind::{Bool, Enum, Text, UInt};
use super::def::Scope::Global;
use super::def::{Kind, VariableDef, row};

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "server_audit_events",
        Global,
        Kind::Set(EVENTS),
        "",
        Live,
        "What the audit log holds; empty for connections and statements.",
    )
    .global(|s, _| s.audit_changed()),
    row(
        "server_audit_excl_users",
        Global,
        Text,
        "",
        Live,
        "Users whose statements stay out of the audit log.",
    )
    .global(|s, _| s.audit_changed()),
    row(
        "server_audit_file_path",
        Global,
        Text,
        "server_audit.log",
        Live,
        "File of the audit log.",
    )
    .global(|s, _| s.audit_changed()),
    row(
        "server_audit_file_rotate_now",
        Global,
        Bool,
        "OFF",
        Live,
        "Begins a new file of the audit log.",
    )
    .global(|s, v| {
        if v.as_bool() {
            s.rotate_audit();
        }
    }),
    row(
        "server_audit_file_rotate_size",
        Global,
        UInt(100, 9_223_372_036_854_775_807, 1),
        "1000000",
        Live,
        "Bytes at which a new file of the audit log begins.",
    )
    .global(|s, _| s.audit_changed()),
    row(
        "server_audit_file_rotations",
        Global,
        UInt(0, 999, 1),
        "9",
        Live,
        "Old files of the audit log that are kept.",
    )
    .global(|s, _| s.audit_changed()),
    row(
        "server_audit_incl_users",
        Global,
        Text,
        "",
        Live,
        "Users whose statements alone are in the audit log; empty for all.",
    )
    .global(|s, _| s.audit_changed()),
    row(
        "server_audit_logging",
        Global,
        Bool,
        "OFF",
        Live,
        "Writes the audit log.",
    )
    .global(|s, _| s.audit_changed()),
    row(
        "server_audit_output_type",
        Global,
        Enum(&["file"]),
        "file",
        Live,
        "Where the audit log goes.",
    )
    .global(|s, _| s.audit_changed()),
    row(
        "server_audit_query_log_limit",
        Global,
        UInt(0, 2_147_483_647, 1),
        "1024",
        Live,
        "Bytes of a statement in the audit log.",
    )
    .global(|s, _| s.audit_changed()),
];

/// Members of `server_audit_events`.
const EVENTS: &[&str] = &[
    "CONNECT",
    "QUERY",
    "QUERY_DDL",
    "QUERY_DML",
    "QUERY_DCL",
    "QUERY_DML_NO_SELECT",
];
