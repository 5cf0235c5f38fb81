//! Expressions that programs keep bound, and the user variables that they name.

use crate::bind::bind;
use crate::bind::scope::Scope;
use crate::env::StatementEnv;
use crate::expr::node::Expr;
use crate::user_kind::UserKind;
use narwal_syntax::ast::Expr as Ast;
use narwal_types::SqlResult;

/// User variables, and what they were when an expression was bound.
pub type UserKinds = Box<[(Box<str>, UserKind)]>;

/// Binds an expression that is kept: with the user variables that it names. It fits as long as they are what they were.
///
/// # Errors
/// Those of binding.
pub fn bind_kept(ast: &Ast, scope: &Scope<'_>) -> SqlResult<(Expr, UserKinds)> {
    let env = scope.env;
    let others = env.user_kinds.take();
    let bound = bind(ast, scope);
    let own = env.user_kinds.replace(others);
    bound.map(|e| (e, own.into()))
}

/// Whether the variables still are what they were.
pub fn kinds_hold(kinds: &UserKinds, env: &StatementEnv) -> bool {
    let mut all = kinds.iter();
    all.all(|(name, was)| env.variables.user_kind(name) == *was)
}
