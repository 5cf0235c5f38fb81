//! What `*` means behind a FROM: the columns that its names without a table find, in the standard's order.

use narwal_syntax::ast::JoinKind;
use narwal_types::Name;

/// A column: the position of its table in the FROM, and its own in there.
pub type At = (usize, usize);

/// The columns of a join with USING or NATURAL, of those of both sides: the shared ones once, then the others of the side
/// whose rows all stay (of the left one, if there is none), then those of the other side.
pub fn joined<'n>(
    left: Vec<At>,
    right: Vec<At>,
    kind: JoinKind,
    shared: &[String],
    name: impl Fn(At) -> &'n str,
) -> Vec<At> {
    let (first, second) = match kind {
        JoinKind::Right => (right, left),
        _ => (left, right),
    };
    let is_shared = |at: &At| shared.iter().any(|s| s.same_name(name(*at)));
    let (mut out, rest): (Vec<At>, Vec<At>) = first.into_iter().partition(is_shared);
    out.extend(rest);
    out.extend(second.into_iter().filter(|at| !is_shared(at)));
    out
}
