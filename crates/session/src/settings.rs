//! A session's settings in the form that statements need: fields, made from the session variables whenever those change.
//! Each variable's row in the table writes its field.

use narwal_engine::{Isolation, RowImage, Steps};
use narwal_sql::{SqlMode, StatementEnv};
use narwal_types::decimal::DIV_PRECISION_INCREMENT;
use narwal_types::{Charset, Collation, Zone};
use std::time::Duration;

/// One list of rows may take so much of `max_session_mem_used` before it goes to temporary files: a statement may have several.
const ROWS_SHARE: u64 = 4;

/// Bytes that rows of a statement may always have in memory.
const LEAST_MEMORY: u64 = 16 << 10;

/// How long a session with an open transaction may be idle; zero: no longer or shorter than without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IdleTransaction {
    /// `idle_transaction_timeout`.
    pub any: Duration,
    /// `idle_readonly_transaction_timeout`: it has written nothing yet.
    pub reading: Duration,
    /// `idle_write_transaction_timeout`: it has written.
    pub writing: Duration,
}

impl IdleTransaction {
    /// The limit for a transaction that has written or not; `otherwise` if there is none of its own.
    pub(crate) fn of(self, has_written: bool, otherwise: Duration) -> Duration {
        let own = if has_written {
            self.writing
        } else {
            self.reading
        };
        [own, self.any]
            .into_iter()
            .find(|t| !t.is_zero())
            .unwrap_or(otherwise)
    }
}

/// A session's network timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionTimeouts {
    /// `wait_timeout`, or `interactive_timeout` for an interactive client; with an open transaction what holds for that.
    pub idle: Duration,
    /// What holds for an open transaction.
    pub in_transaction: IdleTransaction,
    /// `net_read_timeout`.
    pub net_read: Duration,
    /// `net_write_timeout`.
    pub net_write: Duration,
}

/// `completion_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    NoChain,
    Chain,
    Release,
}

/// `session_track_system_variables`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Watched {
    #[default]
    None,
    All,
    /// Names of variables.
    These(Vec<String>),
}

impl Watched {
    /// From the form that the variable keeps.
    pub(crate) fn of(list: &str) -> Watched {
        match list {
            "" => Watched::None,
            "*" => Watched::All,
            list => Watched::These(list.split(',').map(String::from).collect()),
        }
    }
}

/// `session_track_transaction_info`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TransactionInfo {
    #[default]
    Off,
    State,
    Characteristics,
}

impl TransactionInfo {
    /// By name.
    pub(crate) fn of(name: &str) -> TransactionInfo {
        match name {
            "STATE" => TransactionInfo::State,
            "CHARACTERISTICS" => TransactionInfo::Characteristics,
            _ => TransactionInfo::Off,
        }
    }
}

/// What a client wants to be told of its session: the `session_track_*` variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tracking {
    pub schema: bool,
    pub state: bool,
    pub variables: Watched,
    pub transaction: TransactionInfo,
}

/// The settings.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub autocommit: bool,
    pub isolation: Isolation,
    /// `innodb_snapshot_isolation=OFF`.
    pub newest_rows: bool,
    pub read_only: bool,
    pub lock_wait_timeout: Duration,
    /// `lock_wait_timeout`: for locks on whole tables, as LOCK TABLES takes them.
    pub table_lock_timeout: Duration,
    pub annotate: bool,
    /// `binlog_format=STATEMENT`.
    pub statements: bool,
    pub log_bin: bool,
    pub row_image: RowImage,
    pub gtid_domain_id: u32,
    pub server_id: u32,
    pub statement_time_micros: u64,
    /// `narwal_text_plan_cache_size`.
    pub text_plans: usize,
    /// `max_session_mem_used`.
    pub memory: u64,
    /// `max_tmp_session_space_usage`.
    pub spill: u64,
    /// `sort_buffer_size`.
    pub sort_memory: u64,
    /// `max_heap_table_size`.
    pub heap_table_memory: u64,
    /// `tmp_table_size`.
    pub table_memory: u64,
    /// `join_buffer_size`.
    pub join_memory: u64,
    pub completion: Completion,
    pub sql_mode: SqlMode,
    pub time_zone: Zone,
    /// `collation_connection`.
    pub collation: Collation,
    /// `collation_server`.
    pub server_collation: Collation,
    /// `character_set_client`.
    pub client_charset: Charset,
    /// `character_set_results`.
    pub results: Option<Charset>,
    pub max_allowed_packet: u64,
    pub max_error_count: usize,
    /// `sql_select_limit`.
    pub select_limit: u64,
    /// `sql_safe_updates`.
    pub safe_updates: bool,
    /// `sql_auto_is_null`.
    pub auto_is_null: bool,
    /// `sql_quote_show_create`.
    pub quote_show_create: bool,
    /// `sql_notes`.
    pub notes: bool,
    /// `auto_increment_increment` and `auto_increment_offset`.
    pub auto_increment: Steps,
    /// `div_precision_increment`.
    pub div_precision: u8,
    /// `default_regex_flags`.
    pub regex_options: u32,
    /// `old_mode` has ZERO_DATE_TIME_CAST.
    pub zero_dates: bool,
    /// `check_constraint_checks`.
    pub check_constraints: bool,
    /// `sql_if_exists`.
    pub if_exists: bool,
    /// `explicit_defaults_for_timestamp`.
    pub explicit_timestamps: bool,
    /// `default_storage_engine`, if it is not the store itself.
    pub default_engine: Option<&'static str>,
    pub foreign_key_checks: bool,
    /// `innodb_strict_mode`.
    pub innodb_strict: bool,
    pub track: Tracking,
    pub timeouts: SessionTimeouts,
}

/// What holds until the variables are read for the first time.
impl Default for Settings {
    fn default() -> Self {
        Settings {
            autocommit: true,
            isolation: Isolation::RepeatableRead,
            newest_rows: false,
            read_only: false,
            lock_wait_timeout: Duration::from_secs(50),
            table_lock_timeout: Duration::from_secs(86_400),
            annotate: true,
            statements: false,
            log_bin: true,
            row_image: RowImage::default(),
            gtid_domain_id: 0,
            server_id: 1,
            statement_time_micros: 0,
            text_plans: 0,
            memory: u64::MAX,
            spill: u64::MAX,
            sort_memory: 0,
            heap_table_memory: 0,
            table_memory: 0,
            join_memory: 0,
            completion: Completion::NoChain,
            sql_mode: SqlMode::DEFAULT,
            time_zone: Zone::UTC,
            collation: Collation::default(),
            server_collation: Collation::default(),
            client_charset: Charset::Utf8mb4,
            results: Some(Charset::Utf8mb4),
            max_allowed_packet: 0,
            max_error_count: 0,
            select_limit: u64::MAX,
            safe_updates: false,
            auto_is_null: false,
            quote_show_create: true,
            notes: true,
            auto_increment: Steps::default(),
            div_precision: DIV_PRECISION_INCREMENT,
            regex_options: 0,
            zero_dates: false,
            check_constraints: true,
            if_exists: false,
            explicit_timestamps: true,
            default_engine: None,
            foreign_key_checks: true,
            innodb_strict: true,
            track: Tracking::default(),
            timeouts: SessionTimeouts {
                idle: Duration::from_secs(28_800),
                in_transaction: IdleTransaction::default(),
                net_read: Duration::from_secs(30),
                net_write: Duration::from_secs(60),
            },
        }
    }
}

impl Settings {
    /// Bounds and checks of a statement, into its environment.
    pub(crate) fn bounds_of(&self, env: &mut StatementEnv) {
        env.max_allowed_packet = self.max_allowed_packet;
        env.max_error_count = self.max_error_count;
        env.select_limit = self.select_limit;
        env.safe_updates = self.safe_updates;
        env.auto_is_null = self.auto_is_null;
        env.notes = self.notes;
        env.auto_increment = self.auto_increment;
        env.div_precision = self.div_precision;
        env.regex_options = self.regex_options;
        env.zero_dates = self.zero_dates;
        env.check_constraints = self.check_constraints;
        env.if_exists = self.if_exists;
        env.explicit_timestamps = self.explicit_timestamps;
        env.default_engine = self.default_engine;
        env.foreign_key_checks = self.foreign_key_checks;
        env.innodb_strict = self.innodb_strict;
        env.max_memory = (self.memory / ROWS_SHARE).max(LEAST_MEMORY);
        env.sort_memory = self.sort_memory;
        env.table_memory = self
            .table_memory
            .min(self.heap_table_memory)
            .max(LEAST_MEMORY);
        env.join_memory = self.join_memory;
    }
}
