//! Variables: the audit log.

use super::def::Effect::Live;
use super::def::Kind::{Bool, Enum, Text, UInt};
use super::def::Scope::Global;
use super::def::{Kind, VariableDef, row};

/// A row whose change the audit log is told of.
const fn setting(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> VariableDef {
    row(name, Global, kind, default, Live, doc).global(|s, _| s.audit_changed())
}

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    setting(
        "server_audit_events",
        Kind::Set(EVENTS),
        "",
        "What the audit log holds; empty for connections and statements.",
    ),
    setting(
        "server_audit_excl_users",
        Text,
        "",
        "Users whose statements stay out of the audit log.",
    ),
    setting(
        "server_audit_file_path",
        Text,
        "server_audit.log",
        "File of the audit log.",
    ),
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
    setting(
        "server_audit_file_rotate_size",
        UInt(100, 9_223_372_036_854_775_807, 1),
        "1000000",
        "Bytes at which a new file of the audit log begins.",
    ),
    setting(
        "server_audit_file_rotations",
        UInt(0, 999, 1),
        "9",
        "Old files of the audit log that are kept.",
    ),
    setting(
        "server_audit_incl_users",
        Text,
        "",
        "Users whose statements alone are in the audit log; empty for all.",
    ),
    setting("server_audit_logging", Bool, "OFF", "Writes the audit log."),
    setting(
        "server_audit_output_type",
        Enum(&["file"]),
        "file",
        "Where the audit log goes.",
    ),
    setting(
        "server_audit_query_log_limit",
        UInt(0, 2_147_483_647, 1),
        "1024",
        "Bytes of a statement in the audit log.",
    ),
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
