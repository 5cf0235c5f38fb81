//! What SHOW SLAVE STATUS shows of a connection.

use super::{ConnectionConfig, ReplicaFilter};
use narwal_binlog::{Gtid, GtidSet};
use std::sync::Arc;

/// `Slave_IO_Running`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IoRunning {
    /// Not running.
    #[default]
    No,
    /// Started, and between links.
    Connecting,
    /// Linked, not yet receiving.
    Preparing,
    /// Receiving.
    Yes,
}

impl IoRunning {
    /// As SHOW SLAVE STATUS writes it.
    pub fn name(self) -> &'static str {
        match self {
            IoRunning::No => "No",
            IoRunning::Connecting => "Connecting",
            IoRunning::Preparing => "Preparing",
            IoRunning::Yes => "Yes",
        }
    }
}

/// Why a thread stopped, or what its last attempt met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplicaError {
    /// MariaDB's error number; 0 is none.
    pub code: u16,
    /// The sentence.
    pub text: String,
}

/// How far a connection is behind its source. `None` is unknown: the link is down, or nothing was heard yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lag {
    /// Bytes of the source's log that are not applied.
    pub bytes: Option<u64>,
    /// Groups that were received and are not applied; of a Narwal source all that are not applied.
    pub transactions: Option<u64>,
    /// By the source's clock: the time from the commit of the oldest group that is not applied to now, milliseconds.
    pub millis: Option<u64>,
    /// The same without the delay that `MASTER_DELAY` asks for.
    pub beyond_delay_millis: Option<u64>,
}

/// What the threads of a connection say of themselves.
#[derive(Debug, Clone, Default)]
pub struct ChannelStatus {
    /// `Slave_IO_Running`.
    pub io_running: IoRunning,
    /// `Slave_IO_State`; empty while it does not run.
    pub io_state: &'static str,
    /// `Slave_SQL_Running`.
    pub sql_running: bool,
    /// `Slave_SQL_State`, `Slave_SQL_Running_State`; empty while it does not run.
    pub sql_state: &'static str,
    /// `Master_Server_Id`; 0 if never linked.
    pub master_server_id: u32,
    /// `Master_Log_File`: received up to here.
    pub read_file: String,
    /// `Read_Master_Log_Pos`.
    pub read_pos: u64,
    /// `Relay_Master_Log_File`: applied up to here.
    pub exec_file: String,
    /// `Exec_Master_Log_Pos`.
    pub exec_pos: u64,
    /// `Gtid_IO_Pos`: received up to here.
    pub gtid_io_pos: String,
    /// `Last_IO_Errno`, `Last_IO_Error`.
    pub last_io_error: ReplicaError,
    /// `Last_SQL_Errno`, `Last_SQL_Error`; also `Last_Errno`, `Last_Error`.
    pub last_sql_error: ReplicaError,
    /// `Seconds_Behind_Master`.
    pub seconds_behind: Option<u64>,
    /// `SQL_Remaining_Delay`, seconds.
    pub remaining_delay: Option<u64>,
    /// Where the applier is to stop.
    pub until: Option<Until>,
    /// `Relay_Log_Space`: bytes received and not applied, in memory.
    pub queued_bytes: u64,
    /// Groups received and not applied, in memory.
    pub queued_groups: u64,
    /// `Slave_DDL_Groups`.
    pub ddl_groups: u64,
    /// `Slave_Non_Transactional_Groups`.
    pub non_transactional_groups: u64,
    /// `Slave_Transactional_Groups`.
    pub transactional_groups: u64,
    /// `Retried_transactions`.
    pub retried: u64,
    /// `Executed_log_entries`: events applied.
    pub executed_events: u64,
    /// `Slave_received_heartbeats`.
    pub received_heartbeats: u64,
    /// Groups whose errors `slave_exec_mode=IDEMPOTENT` passed over (`Slave_skipped_errors`).
    pub skipped_errors: u64,
    /// Connections to the source that came about.
    pub links: u64,
    /// Semi-synchronous replication is in use with the source (`Rpl_semi_sync_slave_status`).
    pub semi_sync: bool,
    /// Acknowledgements sent (`Rpl_semi_sync_slave_send_ack`).
    pub acks_sent: u64,
    /// How far behind.
    pub lag: Lag,
}

/// All of a connection: each column of SHOW ALL SLAVES STATUS comes from here.
#[derive(Debug, Clone)]
pub struct ConnectionStatus {
    /// Its settings.
    pub config: Arc<ConnectionConfig>,
    /// Its filters.
    pub filter: Arc<ReplicaFilter>,
    /// Its threads.
    pub channel: ChannelStatus,
    /// `Skip_Counter`.
    pub skip_counter: u64,
    /// `Parallel_Mode`, `slave_parallel_mode`.
    pub parallel_mode: String,
    /// `Gtid_Slave_Pos`: of the whole server.
    pub gtid_slave_pos: String,
}

/// Where START SLAVE UNTIL lets the applier stop by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// `MASTER_LOG_FILE`, `MASTER_LOG_POS`: behind the first group that ends at or behind this position.
    MasterPos {
        /// File of the source's log.
        file: String,
        /// Position in it, bytes.
        pos: u64,
    },
    /// `MASTER_GTID_POS`: domain by domain behind this GTID; nothing is applied of domains that are not in the list.
    Gtid(Vec<Gtid>),
    /// `SQL_BEFORE_GTIDS`: in front of the first group that is in the set.
    BeforeGtids(GtidSet),
    /// `SQL_AFTER_GTIDS`: when everything in the set has been applied.
    AfterGtids(GtidSet),
}
