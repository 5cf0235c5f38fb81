//! Variables: Galera clusters, of which Narwal is never a part.

use super::super::def::Effect::{Fixed, Inert, Startup};
use super::super::def::Kind::{Bool, Enum, Set, Text, UInt};
use super::super::def::Scope::{Both, Global, Session};
use super::super::def::{VariableDef, row, rows};

/// The rows.
pub(in super::super) static ROWS: &[VariableDef] = rows![
    "wsrep_allowlist" Global Text, "" Startup "Galera: allowlist.";
    "wsrep_auto_increment_control" Global Bool, "ON" Inert "Galera: auto increment control.";
    "wsrep_causal_reads" Both Bool, "OFF" Fixed "Galera: causal reads.";
    "wsrep_certification_rules" Global Enum(&["strict", "optimized"]), "strict" Inert "Galera: certification rules.";
    "wsrep_certify_nonpk" Global Bool, "ON" Inert "Galera: certify nonpk.";
    "wsrep_cluster_address" Global Text, "" Fixed "Galera: cluster address.";
    "wsrep_cluster_name" Global Text, "my_wsrep_cluster" Inert "Galera: cluster name.";
    "wsrep_convert_lock_to_trx" Global Bool, "OFF" Inert "Galera: convert lock to transaction.";
    "wsrep_data_home_dir" Global Text, "" Startup "Galera: data home folder.";
    "wsrep_dbug_option" Global Text, "" Inert "Galera: debug option.";
    "wsrep_debug" Global Enum(&["NONE", "SERVER", "TRANSACTION", "STREAMING", "CLIENT"]), "NONE" Inert
        "Galera: debug.";
    "wsrep_desync" Global Bool, "OFF" Fixed "Galera: desync.";
    "wsrep_dirty_reads" Both Bool, "OFF" Fixed "Galera: dirty reads.";
    "wsrep_drupal_282555_workaround" Global Bool, "OFF" Inert "Galera: drupal 282555 workaround.";
    "wsrep_forced_binlog_format" Global Enum(&["MIXED", "STATEMENT", "ROW", "NONE"]), "NONE" Inert
        "Galera: forced binlog format.";
    "wsrep_gtid_domain_id" Global UInt(0, 4_294_967_295, 1), "0" Inert "Galera: GTID domain id.";
    "wsrep_gtid_mode" Global Bool, "OFF" Fixed "Galera: GTID mode.";
    "wsrep_gtid_seq_no" Session UInt(0, MAX, 1), "0" Inert "Galera: GTID seq no.";
    "wsrep_ignore_apply_errors" Global UInt(0, 7, 1), "7" Inert "Galera: ignore apply errors.";
    "wsrep_load_data_splitting" Global Bool, "OFF" Inert "Galera: load data splitting.";
    "wsrep_log_conflicts" Global Bool, "OFF" Inert "Galera: log conflicts.";
    "wsrep_max_ws_rows" Global UInt(0, 1_048_576, 1), "0" Inert "Galera: maximal write set rows.";
    "wsrep_max_ws_size" Global UInt(1024, 2_147_483_647, 1), "2147483647" Inert "Galera: maximal write set size.";
    "wsrep_mode" Global Set(&["STRICT_REPLICATION", "BINLOG_ROW_FORMAT_ONLY", "REQUIRED_PRIMARY_KEY",
        "REPLICATE_MYISAM", "REPLICATE_ARIA", "DISALLOW_LOCAL_GTID", "BF_ABORT_MARIABACKUP"]), "" Fixed
        "Galera: mode.";
    "wsrep_mysql_replication_bundle" Global UInt(0, 1000, 1), "0" Inert "Galera: mysql replication bundle.";
    "wsrep_node_address" Global Text, "" Inert "Galera: node address.";
    "wsrep_node_incoming_address" Global Text, "AUTO" Inert "Galera: node incoming address.";
    "wsrep_node_name" Global Text, "" Inert "Galera: node name.";
    "wsrep_notify_cmd" Global Text, "" Startup "Galera: notify cmd.";
    "wsrep_on" Both Bool, "OFF" Fixed "Galera: on.";
    "wsrep_osu_method" Both Enum(&["TOI", "RSU"]), "TOI" Inert "Galera: schema change method.";
    "wsrep_patch_version" Global Text, "wsrep_26.22" Startup "Galera: patch version.";
    "wsrep_provider" Global Text, "none" Startup "Galera: provider.";
    "wsrep_provider_options" Global Text, "" Inert "Galera: provider options.";
    "wsrep_recover" Global Bool, "OFF" Startup "Galera: recover.";
    "wsrep_reject_queries" Global Enum(&["NONE", "ALL", "ALL_KILL"]), "NONE" Fixed "Galera: reject queries.";
    "wsrep_restart_slave" Global Bool, "OFF" Inert "Galera: restart slave.";
    "wsrep_retry_autocommit" Both UInt(0, 10_000, 1), "1" Inert "Galera: retry autocommit.";
    "wsrep_slave_fk_checks" Global Bool, "ON" Inert "Galera: slave foreign key checks.";
    "wsrep_slave_threads" Global UInt(1, 512, 1), "1" Inert "Galera: slave threads.";
    "wsrep_slave_uk_checks" Global Bool, "OFF" Inert "Galera: slave unique key checks.";
    "wsrep_sr_store" Global Enum(&["none", "table"]), "table" Startup "Galera: streaming store.";
    "wsrep_sst_auth" Global Text, "" Inert "Galera: state transfer auth.";
    "wsrep_sst_donor" Global Text, "" Inert "Galera: state transfer donor.";
    "wsrep_sst_donor_rejects_queries" Global Bool, "OFF" Inert "Galera: state transfer donor rejects queries.";
    "wsrep_sst_method" Global Text, "rsync" Inert "Galera: state transfer method.";
    "wsrep_sst_receive_address" Global Text, "AUTO" Inert "Galera: state transfer receive address.";
    "wsrep_start_position" Global Text, "00000000-0000-0000-0000-000000000000:-1" Inert "Galera: start position.";
    "wsrep_status_file" Global Text, "" Startup "Galera: status file.";
    "wsrep_sync_wait" Both UInt(0, 15, 1), "0" Fixed "Galera: sync wait.";
    "wsrep_trx_fragment_size" Both UInt(0, 2_147_483_647, 1), "0" Inert "Galera: transaction fragment size.";
    "wsrep_trx_fragment_unit" Both Enum(&["bytes", "rows", "statements"]), "bytes" Inert
        "Galera: transaction fragment unit.";
];

const MAX: u64 = u64::MAX;
