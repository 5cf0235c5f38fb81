//! Named windows: the definition of a view has what they mean in the place of their names.

use crate::bind::window::resolve;
use crate::expr::for_each_operand;
use crate::query_walk::{for_each_expr, for_each_select};
use narwal_syntax::ast::{Expr, Over, Select, WindowSpec};
use narwal_types::SqlResult;

/// Puts windows in the place of their names, and takes the clause WINDOW away.
pub(super) fn without_names(s: &Select) -> SqlResult<Select> {
    super::copy::reserve_copy(s)?;
    let mut s = s.clone();
    let mut done = Ok(());
    for_each_select(&mut s, &mut |s| {
        let named = std::mem::take(&mut s.windows);
        for_each_expr(s, &mut |e| {
            if done.is_ok() {
                done = inline(e, &named);
            }
        });
    });
    done.map(|()| s)
}

fn inline(e: &mut Expr, named: &[(String, WindowSpec)]) -> SqlResult<()> {
    if let Expr::Call(c) = e
        && let Some(over) = c.clauses.as_mut().and_then(|c| c.over.as_mut())
    {
        *over = Over::Window(resolve(over, named)?);
    }
    let mut done = Ok(());
    for_each_operand(e, &mut |e| {
        if done.is_ok() {
            done = inline(e, named);
        }
    });
    done
}
