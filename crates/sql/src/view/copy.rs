//! Memory for copies of a view's SELECT.

use crate::ast::{AstExpr, Select, SelectItem};
use narwal_types::SqlResult;

/// Memory for a copy of a SELECT, about: its list can be as long as a packet.
pub(super) fn reserve_copy(s: &Select) -> SqlResult<()> {
    let item = size_of::<SelectItem>() + size_of::<AstExpr>();
    Ok(narwal_memory::reserve((s.items.len() * item) as u64)?)
}
