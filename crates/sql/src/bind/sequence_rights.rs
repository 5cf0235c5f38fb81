//! The rights on sequences that DEFAULT expressions draw from.

use crate::env::StatementEnv;
use crate::expr::node::{Expr, ExprKind};
use crate::numbers::is_temporary;
use crate::privilege::{Needs, Privilege};
use narwal_types::Value;

/// Notes the sequences that a DEFAULT draws from among those of the statement: who stores the default needs the rights on them.
pub(crate) fn note_used(env: &StatementEnv, default: &Expr) {
    let note = |e: &Expr| {
        if let Some((db, name, privileges)) = used(e)
            && !is_temporary(env, &db, &name)
        {
            let needs = privileges.iter().map(|privilege| Needs {
                db: db.clone(),
                table: name.clone(),
                through: None,
                alias: None,
                privilege: *privilege,
            });
            env.sequences_used.borrow_mut().extend(needs);
        }
        false
    };
    default.any(&note);
}

/// The sequence of a call in a DEFAULT, its database first, and the rights that it needs.
fn used(e: &Expr) -> Option<(String, String, &'static [Privilege])> {
    let ExprKind::Func { func, args } = &e.kind else {
        return None;
    };
    let privileges: &[Privilege] = match func.name() {
        "nextval" => &[Privilege::Select, Privilege::Insert],
        "lastval" => &[Privilege::Select],
        _ => return None,
    };
    let text = |i: usize| match args.get(i).map(|a| &a.kind) {
        Some(ExprKind::Literal(Value::Str(s))) => Some(s.to_string()),
        _ => None,
    };
    Some((text(0)?, text(1)?, privileges))
}
