//! HAVING without groups is another WHERE.

use crate::planner::condition::all_of;
use crate::planner::logical::LogicalSelect;

/// Puts a HAVING without groups behind the WHERE.
pub fn having_is_where(l: &mut LogicalSelect) {
    if l.group.is_none()
        && let Some(mut h) = l.having.take()
    {
        h.take_marks_off();
        l.filter = all_of(l.filter.take().into_iter().chain([h]).collect());
    }
}
