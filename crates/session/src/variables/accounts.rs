//! Variables: accounts, passwords and plugins.

use super::def::Effect::{Computed, Live, Startup};
use super::def::Kind::{Bool, Text, UInt};
use super::def::Scope::{Both, Global, Session};
use super::def::{AtStart, VariableDef, row};
use super::value::VarValue;
use crate::plugins::unknown_plugin;

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "connection_control_failed_connections_threshold",
        Global,
        UInt(0, 2147483647, 1),
        "3",
        Live,
        "Failed logins of an account in a row before answers are delayed; 0 for never.",
    ),
    row(
        "connection_control_max_connection_delay",
        Global,
        UInt(1000, 2147483647, 1),
        "10000",
        Live,
        "Longest delay after a failed login, milliseconds.",
    ),
    row(
        "connection_control_min_connection_delay",
        Global,
        UInt(1000, 2147483647, 1),
        "1000",
        Live,
        "Shortest delay after a failed login, milliseconds.",
    ),
    row(
        "default_password_lifetime",
        Global,
        UInt(0, 4294967295, 1),
        "0",
        Live,
        "Days after which a password expires, if its account says nothing else; 0 for \
         never.",
    ),
    row(
        "disconnect_on_expired_password",
        Global,
        Bool,
        "OFF",
        Live,
        "Refuses clients that can't change an expired password, instead of letting them in \
         to do so.",
    ),
    row(
        "external_user",
        Session,
        Text,
        "",
        Computed,
        "User as an authentication plugin names it; always NULL.",
    )
    .read_session(|_| VarValue::Null),
    row(
        "max_password_errors",
        Global,
        UInt(1, 4294967295, 1),
        "4294967295",
        Live,
        "Wrong passwords in a row after which an account is blocked.",
    ),
    row(
        "old_passwords",
        Both,
        Bool,
        "OFF",
        Live,
        "PASSWORD() and IDENTIFIED BY make hashes as MySQL 4.0 had them; nobody can log in with one.",
    ),
    row(
        "plugin_dir",
        Global,
        Text,
        "",
        Startup,
        "Folder of shared libraries, of which there are none.",
    ),
    row(
        "plugin_load",
        Global,
        Text,
        "",
        Startup,
        "Parts of the server that are switched on, with `;` between.",
    )
    .check_option(known_plugins),
    row(
        "plugin_load_add",
        Global,
        Text,
        "",
        Startup,
        "As `plugin_load`, in addition to it; may be given several times.",
    )
    .check_option(known_plugins)
    .at_start(AtStart::Appended(';')),
    row(
        "proxy_user",
        Session,
        Text,
        "",
        Computed,
        "User that a proxy stands for; always NULL.",
    )
    .read_session(|_| VarValue::Null),
    row(
        "secure_auth",
        Global,
        Bool,
        "ON",
        Live,
        "Refuses accounts of `mysql_old_password`; OFF lets those in that have no password at all.",
    ),
    row(
        "simple_password_check_digits",
        Global,
        UInt(0, 1000, 1),
        "1",
        Live,
        "Digits that a password must have.",
    )
    .global(|s, _| s.password_rules_changed()),
    row(
        "simple_password_check_letters_same_case",
        Global,
        UInt(0, 1000, 1),
        "1",
        Live,
        "Upper-case letters, and lower-case letters, that a password must have.",
    )
    .global(|s, _| s.password_rules_changed()),
    row(
        "simple_password_check_minimal_length",
        Global,
        UInt(0, 1000, 1),
        "8",
        Live,
        "Bytes that a password must have.",
    )
    .global(|s, _| s.password_rules_changed()),
    row(
        "simple_password_check_other_characters",
        Global,
        UInt(0, 1000, 1),
        "1",
        Live,
        "Characters that are no letters or digits that a password must have.",
    )
    .global(|s, _| s.password_rules_changed()),
    row(
        "skip_show_database",
        Global,
        Bool,
        "OFF",
        Startup,
        "SHOW DATABASES only with its privilege.",
    ),
    row(
        "strict_password_validation",
        Global,
        Bool,
        "ON",
        Live,
        "Refuses password hashes where the password itself would be judged.",
    ),
];

/// Only plugins that there are can be loaded.
fn known_plugins(v: &VarValue) -> Result<(), String> {
    match unknown_plugin(v.as_str()) {
        Some(bad) => Err(format!(
            "Narwal has no plugin {bad} (it has simple_password_check and server_audit)"
        )),
        None => Ok(()),
    }
}
