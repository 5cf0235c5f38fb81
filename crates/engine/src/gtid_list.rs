//! Lists of GTIDs as text.

use crate::{EngineError, Result};
use narwal_binlog::Gtid;
use narwal_types::SqlError;

/// The GTIDs of a list, which may be empty.
pub(crate) fn parse_list(list: &str) -> Result<Vec<Gtid>> {
    let list = list.trim();
    if list.is_empty() {
        return Ok(Vec::new());
    }
    list.split(',')
        .map(|g| g.parse::<Gtid>())
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| EngineError::Sql(SqlError::new(1941, b"HY000", "Could not parse GTID list")))
}

/// Looks whether a list is one; `one_each`: a domain may be named once only.
pub(crate) fn check_list(list: &str, one_each: bool) -> Result<()> {
    let gtids = parse_list(list)?;
    for (i, g) in gtids.iter().enumerate() {
        if let Some(other) = gtids[..i].iter().find(|o| one_each && o.domain == g.domain) {
            return Err(EngineError::Sql(SqlError::new(
                1943,
                b"HY000",
                format!(
                    "GTID {g} and {other} conflict (duplicate domain id {})",
                    g.domain
                ),
            )));
        }
    }
    Ok(())
}
