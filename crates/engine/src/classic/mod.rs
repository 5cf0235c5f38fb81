//! The classic design, for comparison with the one log (`binlog_storage_engine=FILE`): beside the engine's log stands a
//! binary log of flat files, `narwal-bin.000001` and so on with `narwal-bin.index`, as a MariaDB or MySQL server has it.
//!
//! Everything up to the log is the same. A transaction's record in the engine's log is its *prepare*: it has the redo. The
//! log's second stage ([`narwal_log::SecondLog`]) then appends the event groups of all prepared transactions to the flat
//! file, in order, and syncs it as `sync_binlog` says; only then the transactions are visible and acknowledged. The groups
//! stand in the files at the very positions that the one log gives them (`narwal-binlog`'s arithmetic), so positions, SHOW
//! and GTIDs need no second code. `tail.rs` reads the end of the files at a start, `recover.rs` brings both logs to the same
//! transactions. See `docs/classic-log.md`.

pub(crate) mod files;
pub(crate) mod flat;
pub(crate) mod recover;
pub(crate) mod tail;
