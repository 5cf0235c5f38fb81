//! What an entry is whose function looks at several rows: an aggregate or a window function.

use crate::expr::node::Typing;
use crate::expr::{Expr, ExprType};
use narwal_types::SqlResult;

/// A function over several rows. `F` says which it is, `K` what it does with the rows.
#[derive(Debug)]
pub struct Gathered<F: 'static, K: 'static> {
    /// The name that it is printed by, in lower case.
    pub name: &'static str,
    /// Other names that call it.
    pub aliases: &'static [&'static str],
    /// Its arguments and clauses, as documentation shows them.
    pub usage: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Which it is.
    pub func: F,
    /// What it does with the rows, or wants of them.
    pub kind: K,
    ty: fn(&Typing<'_>) -> SqlResult<ExprType>,
}

/// An entry: which function, its name, arguments and documentation, what it does with the rows, its result type.
pub(super) const fn entry<F: Copy, K: Copy>(
    func: F,
    (name, usage, doc): (&'static str, &'static str, &'static str),
    kind: K,
    ty: fn(&Typing<'_>) -> SqlResult<ExprType>,
) -> Gathered<F, K> {
    Gathered {
        name,
        aliases: &[],
        usage,
        doc,
        func,
        kind,
        ty,
    }
}

impl<F: Copy, K: Copy> Gathered<F, K> {
    /// Other names.
    pub(super) const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// One of its names, in lower case.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The type of its result. `div_precision`: digits that an average adds.
    pub fn ty(&self, args: &[Expr], div_precision: u8) -> SqlResult<ExprType> {
        let ty = (self.ty)(&Typing {
            name: self.name,
            args,
            div_precision,
        })?;
        Ok(ty.without_zeros())
    }
}
