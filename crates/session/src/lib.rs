//! Client sessions: variables, users and privileges, SHOW, statement dispatch.
//!
//! Files import one way only, from what a client does down to what all sessions share; `tests/one_way.rs` checks it.
//!
//! | file | holds |
//! |---|---|
//! | `commands.rs` | what the protocol front calls: queries, commands |
//! | `statement.rs`, `prepared.rs`, `bulk.rs`, `text_plans.rs` | statement text in, results out; prepared statements; plans kept for texts |
//! | `control.rs` | statements that the session runs itself: the table from their kinds to the parts that run them |
//! | `transaction.rs`, `transaction_statements.rs`, `xa.rs`, `access.rs` | the transaction; BEGIN, COMMIT, savepoints; XA branches; whether a statement is allowed |
//! | `server_statements.rs`, `maintenance.rs`, `evaluate.rs` | KILL, FLUSH; CHECK TABLE and its like; values of expressions in statements |
//! | `set.rs`, `set_statement.rs` | SET; SET STATEMENT ... FOR |
//! | `users.rs`, `plugin_statements.rs`, `password_rules.rs`, `grant_tables.rs` | CREATE USER, GRANT and the like; INSTALL; which passwords may be had; DML of grant tables |
//! | `show_explain.rs` | SHOW EXPLAIN: plans of what other connections run |
//! | `show/`, `information_schema/`, `view.rs` | SHOW and DESCRIBE; the virtual tables; what they see of a session |
//! | `table_locks.rs`, `backup.rs`, `flashback.rs`, `binlog_admin.rs`, `dump.rs`, `files.rs`, `server_files.rs` | LOCK TABLES; BACKUP; FLASHBACK; PURGE, RESET MASTER; COM_BINLOG_DUMP; LOAD DATA |
//! | `apply.rs` | event groups of other servers: import, replicas |
//! | `replica/` | the server as a replica: connections, their statements, filters |
//! | `admin.rs`, `words.rs`, `lower/` | administrative statements, made from the parser's trees |
//! | `programs/` | stored programs: their definitions, CALL, functions and triggers |
//! | `session.rs` | [`ClientSession`]: the parts of a session and how it begins |
//! | `session_vars.rs`, `settings.rs` | a session's variables; the settings that they make |
//! | `session_transaction.rs`, `open_transaction.rs`, `xa_branch.rs`, `session_rights.rs`, `slots.rs`, `plan_cache.rs`, `tracker.rs`, `locks.rs`, `late_answers.rs`, `applying.rs` | the state of a session's parts |
//! | `instance.rs`, `connect.rs`, `login_answers.rs`, `audit_events.rs`, `system_thread.rs` | [`Instance`]: what all sessions of a server share; sessions, logins, the audit log's lines, threads in the process list |
//! | `startup.rs` | [`Startup`]: options of the command line |
//! | `variables/` | the table of system variables |
//! | `acl.rs`, `privileges.rs`, `password.rs`, `logins.rs`, `plugins.rs` | accounts, privileges, password hashes; failed logins; what is switched on |
//! | `process.rs`, `status.rs`, `read_lock.rs`, `named_locks.rs`, `audit.rs`, `parked_backups.rs` | the process list, counters, locks, the audit log's file, broken backups |
//! | `raw_literals.rs`, `client_text.rs`, `charset.rs`, `gtids.rs`, `rows.rs` | raw bytes in literals, character sets, lists of GTIDs, rows of answers |
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod acl;
mod admin;
pub mod apply;
mod apply_error;
mod apply_made;
mod apply_mysql;
mod applying;
mod archive;
mod audit;
mod audit_events;
mod backup;
mod backup_locks;
mod backup_stages;
mod binlog_admin;
mod binlog_replay;
mod bulk;
mod charset;
mod client;
mod client_text;
mod clock;
mod commands;
mod connect;
mod control;
mod drafts;
mod dump;
mod evaluate;
mod files;
mod flashback;
mod grant_tables;
mod grant_texts;
mod granting;
mod gtid_names;
mod gtid_next;
mod gtids;
mod handlers;
mod information_schema;
mod instance;
mod key_caches;
mod kill;
mod late_answers;
mod limits;
mod locks;
mod login_answers;
mod logins;
mod lower;
mod maintenance;
mod measured_tables;
mod named_locks;
mod open_transaction;
mod parked_backups;
mod password;
mod password_rules;
mod persisted;
mod plan_cache;
mod plugin_statements;
mod plugins;
mod prepared;
mod privileges;
mod process;
mod programs;
mod raw_literals;
mod read_lock;
mod reads;
mod replay_format;
pub mod replica;
mod roles;
mod rows;
mod sequences;
mod server_files;
mod server_statements;
mod servers;
mod session;
mod session_rights;
mod session_transaction;
mod session_vars;
mod set;
mod set_statement;
mod settings;
mod show;
mod show_explain;
mod slots;
mod sql_prepared;
mod startup;
mod statement;
mod statement_format;
mod status;
mod system_schemas;
mod system_tables;
mod system_thread;
mod table_locks;
mod table_statistics;
mod text_plans;
mod time_zones;
mod track;
mod tracker;
mod transaction;
mod transaction_statements;
mod users;
pub mod variables;
mod view;
mod views;
mod words;
mod written_rows;
mod xa;
mod xa_branch;

pub use acl::{Account, Acl, Lifetime, TlsNeed};
pub use archive::ArchiveControl;
pub use backup::StreamBegin;
pub use client::ConnectOptions;
pub use commands::flags;
pub use instance::{Instance, NARWAL_VERSION, server_version};
pub use logins::FailedLogin;
pub use narwal_syntax::secrets::mask as without_secrets;
pub use password::{native_hash, sha2_hash, sha2_verify};
pub use persisted::Persisted;
pub use plugins::unknown_plugin;
pub use prepared::PreparedInfo;
pub use privileges::PrivilegeSet;
pub use process::Killer;
pub use session::ClientSession;
pub use settings::{IdleTransaction, SessionTimeouts};
pub use show::filter::like;
pub use startup::Startup;
pub use system_thread::{SystemTask, SystemThread};
