//! NEXTVAL, LASTVAL and SETVAL. Their first two arguments are the sequence's database and name.

use super::typing::bigint_or_null;
use crate::expr::node::{Call, Function};
use crate::expr::value::Val;
use crate::numbers;
use narwal_types::SqlResult;

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "lastval",
        "database, sequence",
        "The last number that a sequence gave in this session.",
        bigint_or_null,
        |c| {
            let last = numbers::last(c.ctx.env, &c.text(0), &c.text(1))?;
            Ok(last.map_or(Val::NULL, Val::int))
        },
    )
    .volatile(),
    &Function::new(
        "nextval",
        "database, sequence",
        "The next number of a sequence.",
        bigint_or_null,
        |c| numbers::next(c.ctx.env, &c.text(0), &c.text(1)).map(Val::int),
    )
    .volatile(),
    &Function::new(
        "setval",
        "database, sequence, number[, used[, round]]",
        "Sets the number that a sequence goes on from.",
        bigint_or_null,
        setval,
    )
    .takes_null()
    .volatile(),
];

fn setval<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let used = c.args.len() < 4 || c.int(3) != 0;
    let round = if c.args.len() < 5 { 0 } else { c.int(4) };
    let number = c.int(2);
    let set = numbers::set(c.ctx.env, &c.text(0), &c.text(1), (number, used, round))?;
    Ok(if set { Val::int(number) } else { Val::NULL })
}
