//! The last step of a restore: the folder is opened once, so that it is known to open, becomes a server of its own and
//! starts quickly.

use super::args::{RestoreArgs, engine};
use crate::Failure;
use crate::folder::open_disk;
use narwal_binlog::GtidState;
use narwal_crypt::Access;
use narwal_engine::backup::Manifest;
use narwal_engine::{CatalogChange, Database, Ddl, Options, TxnOptions};

/// What the folder is now.
pub struct Settled {
    /// `gtid_slave_pos`.
    pub gtid_pos: String,
    /// Virtual binary log file.
    pub file: String,
    /// Offset in it.
    pub offset: u64,
    /// Connections to sources that were not kept.
    pub dropped: Vec<String>,
}

/// Where connections to sources are kept.
const CONNECTIONS: &str = "replica/connection/";

/// Opens the folder and sets what a copy of a server needs to be another one.
pub fn run(args: &RestoreArgs, manifest: &Manifest) -> Result<Settled, Failure> {
    let keys = args.encryption_key_file.as_deref();
    let options = Options {
        server_id: manifest.end.server_id,
        gtid_domain_id: manifest.end.gtid_domain_id,
        memory_budget: 256 << 20,
        disk: open_disk(&args.datadir, keys, Access::Serve)?.disk,
        ..Options::default()
    };
    let db = Database::open_with(&args.datadir, options).map_err(engine)?;
    let position = db.binlog_position();
    // All that the log has is applied here, wherever it was written first. Other domains keep what was replicated.
    let mut applied = db.replica_state().slave_pos;
    let logged: GtidState = db.gtid_state();
    for gtid in logged.iter() {
        if let Some(last) = logged.last(gtid.domain) {
            applied.insert(gtid.domain, last);
        }
    }
    let list: Vec<String> = applied.values().map(ToString::to_string).collect();
    let gtid_pos = list.join(",");
    let catalog = db.catalog();
    let connections: Vec<(String, Option<u64>)> = catalog
        .objects(CONNECTIONS)
        .map(|(key, json)| {
            let json: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
            (key.to_owned(), json["id"].as_u64())
        })
        .collect();
    let mut changes = vec![CatalogChange::SetReplicaState {
        slave_pos: Some(gtid_pos.clone()),
        channel: None,
        mysql: None,
    }];
    for (key, id) in &connections {
        changes.push(CatalogChange::DeleteObject { key: key.clone() });
        // With its position.
        if let Some(id) = id.and_then(|id| u32::try_from(id).ok()) {
            changes.push(CatalogChange::SetReplicaState {
                slave_pos: None,
                channel: Some((id, None)),
                mysql: None,
            });
        }
    }
    let ddl = Ddl {
        changes,
        ..Ddl::default()
    };
    let local = TxnOptions {
        log_bin: false,
        ..TxnOptions::default()
    };
    db.ddl(ddl, &local).map_err(engine)?;
    db.close().map_err(engine)?;
    Ok(Settled {
        gtid_pos,
        file: position.file,
        offset: position.offset,
        dropped: connections
            .iter()
            .map(|(key, _)| key.trim_start_matches(CONNECTIONS).to_owned())
            .collect(),
    })
}
