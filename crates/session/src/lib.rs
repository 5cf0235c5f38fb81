//! Client sessions: variables, users and privileges, SHOW, statement dispatch.
//!
//! | file | holds |
//! |---|---|
//! | `instance.rs` | [`Instance`]: what all sessions of a server share; [`Startup`]: options of the command line |
//! | `session.rs` | [`ClientSession`]: what the protocol front calls |
//! | `statement.rs`, `prepared.rs` | statement text in, results out; prepared statements |
//! | `transaction.rs`, `access.rs` | the transaction; whether a statement is allowed |
//! | `control.rs` | control statements: BEGIN, COMMIT, savepoints, KILL, FLUSH, table maintenance |
//! | `binlog_admin.rs` | PURGE BINARY LOGS, FLUSH BINARY LOGS, RESET MASTER; GTIDs of the session |
//! | `raw_literals.rs` | statements with raw bytes in their literals |
//! | `flashback.rs` | FLASHBACK BINARY LOGS: taking transactions back |
//! | `read_lock.rs`, `table_locks.rs` | FLUSH TABLES WITH READ LOCK; LOCK TABLES |
//! | `set.rs`, `set_statement.rs` | SET; SET STATEMENT ... FOR |
//! | `users.rs` | CREATE USER, GRANT and the like |
//! | `show/` | SHOW and DESCRIBE |
//! | `information_schema/` | the virtual tables |
//! | `variables/`, `session_vars.rs`, `settings.rs` | system variables: the table of them, a session's values, the settings that they make |
//! | `acl.rs`, `privileges.rs`, `password.rs` | accounts, privileges, password hashes |
//! | `password_rules.rs`, `logins.rs`, `plugins.rs` | which passwords may be had; failed logins; what INSTALL SONAME switches on |
//! | `audit.rs`, `secrets.rs` | the audit log; statement texts without their passwords |
//! | `admin.rs`, `admin_parse.rs`, `lex.rs` | administrative statements and their parser |
//! | `dump.rs` | COM_REGISTER_SLAVE, COM_BINLOG_DUMP: what a session has to do with replicas |
//! | `archive.rs` | the archive of the log, as sessions see it |
//! | `apply.rs` | event groups of other servers: import, replicas |
//! | `replica/` | the server as a replica: connections, their statements, filters |
//! | `process.rs`, `status.rs` | process list, counters |
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod acl;
mod admin;
mod admin_parse;
pub mod apply;
mod apply_made;
mod archive;
mod audit;
mod backup;
mod binlog_admin;
mod bulk;
mod charset;
mod client_text;
mod control;
mod dump;
mod files;
mod flashback;
mod gtids;
mod information_schema;
mod instance;
mod lex;
mod logins;
mod named_locks;
mod password;
mod password_rules;
mod plugins;
mod prepared;
mod privileges;
mod process;
mod raw_literals;
mod read_lock;
mod reads;
pub mod replica;
mod rows;
mod secrets;
mod sequences;
mod session;
mod session_vars;
mod set;
mod set_statement;
mod settings;
mod show;
mod sql_prepared;
mod statement;
mod status;
mod table_locks;
mod text_plans;
mod track;
mod transaction;
mod users;
pub mod variables;
mod views;
mod xa;

pub use acl::{Account, Acl, Lifetime, TlsNeed};
pub use archive::ArchiveControl;
pub use backup::StreamBegin;
pub use instance::{ConnectOptions, Instance, NARWAL_VERSION, Startup, server_version};
pub use logins::FailedLogin;
pub use password::{native_hash, sha2_hash, sha2_verify};
pub use plugins::unknown_plugin;
pub use prepared::PreparedInfo;
pub use privileges::PrivilegeSet;
pub use process::{Killer, SystemTask, SystemThread};
pub use secrets::mask as without_secrets;
pub use session::{ClientSession, flags};
pub use settings::SessionTimeouts;
pub use show::filter::like;
