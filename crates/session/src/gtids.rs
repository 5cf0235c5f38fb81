//! Lists of GTIDs as statements and variables have them.

use narwal_binlog::{Gtid, GtidSet, GtidState};
use narwal_engine::Database;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::collections::BTreeMap;

/// Reads a list of GTIDs; error 1941.
pub(crate) fn gtid_list(text: &str) -> SqlResult<GtidState> {
    text.parse()
        .map_err(|_| errors::INCORRECT_GTID_STATE.plain())
}

/// Reads a set of GTIDs in MySQL's form; error 1772.
pub(crate) fn gtid_set(text: &str) -> SqlResult<GtidSet> {
    text.parse()
        .map_err(|_| errors::MALFORMED_GTID_SET_SPECIFICATION.with([&text]))
}

/// Reads a list that names each domain once: errors 1941 and 1943.
pub(crate) fn gtid_position(text: &str) -> SqlResult<BTreeMap<u32, Gtid>> {
    gtid_list(text)?;
    let mut out = BTreeMap::<u32, Gtid>::new();
    let parts = text.split(',').map(str::trim).filter(|p| !p.is_empty());
    for gtid in parts.filter_map(|p| p.parse::<Gtid>().ok()) {
        if let Some(other) = out.get(&gtid.domain) {
            return Err(errors::DUPLICATE_GTID_DOMAIN.with([&gtid, &other, &gtid.domain]));
        }
        out.insert(gtid.domain, gtid);
    }
    Ok(out)
}

/// A list of GTIDs as text.
pub(crate) fn gtid_text<'a>(list: impl Iterator<Item = &'a Gtid>) -> String {
    list.map(Gtid::to_string).collect::<Vec<_>>().join(",")
}

/// `gtid_executed`: what stands or stood in the binary log, and what was applied of MySQLs. What is told is visible: not what
/// semi-synchronous replication still holds back.
pub(crate) fn gtid_executed(db: &Database) -> GtidSet {
    let own = db.visible_gtid_state();
    let visible = own.and_then(|own| Ok((own, db.visible_replica_state()?)));
    let (own, applied) = visible.unwrap_or_else(|e| {
        tracing::warn!("gtid_executed is told before it is visible: {e}");
        (db.gtid_state(), db.replica_state())
    });
    all(&own, &applied.mysql)
}

/// Whether `gtid_executed` has all of these. Most who ask wait for some that have no place yet, and are told so quickly.
pub(crate) fn has_executed(db: &Database, wanted: &GtidSet) -> bool {
    let placed = all(&db.gtid_state(), &db.replica_state().mysql);
    wanted.is_subset(&placed) && wanted.is_subset(&gtid_executed(db))
}

fn all(own: &GtidState, applied: &GtidSet) -> GtidSet {
    let mut set = GtidSet::of_state(own);
    set.merge(applied);
    set
}

/// Error 1953.
pub(crate) fn gtid_inside_transaction() -> SqlError {
    errors::INSIDE_TRANSACTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO.plain()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_name_each_domain_once() {
        let p = gtid_position("0-1-5, 1-2-3").unwrap();
        assert_eq!(gtid_text(p.values()), "0-1-5,1-2-3");
        assert!(gtid_position("").unwrap().is_empty());
        assert_eq!(gtid_position("0-1-5,0-2-6").unwrap_err().code, 1943);
        assert_eq!(gtid_position("x").unwrap_err().code, 1941);
    }
}
