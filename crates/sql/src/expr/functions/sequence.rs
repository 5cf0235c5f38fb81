//! NEXTVAL, LASTVAL and SETVAL. Their first two arguments are the sequence's database and name.

use super::{Call, Function, Typing, Val};
use crate::expr::ExprType;
use narwal_types::SqlResult;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("lastval", (2, 2), number, |c| {
        let sequences = &c.ctx.env.variables;
        let last = sequences.last_value(&c.text(0), &c.text(1))?;
        Ok(last.map_or(Val::NULL, Val::int))
    })
    .volatile(),
    Function::new("nextval", (2, 2), number, |c| {
        let sequences = &c.ctx.env.variables;
        sequences.next_value(&c.text(0), &c.text(1)).map(Val::int)
    })
    .volatile(),
    Function::new("setval", (3, 5), number, setval)
        .takes_null()
        .volatile(),
];

fn number(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::bigint(false, true))
}

fn setval<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let used = c.args.len() < 4 || c.int(3) != 0;
    let round = if c.args.len() < 5 { 0 } else { c.int(4) };
    let number = c.int(2);
    let sequences = &c.ctx.env.variables;
    let set = sequences.set_value(&c.text(0), &c.text(1), (number, used, round))?;
    Ok(if set { Val::int(number) } else { Val::NULL })
}
