//! What an entry of the registry is.

use super::super::{EvalCtx, RowAccess};
use super::{Call, Expr, ExprType, SqlResult, Typing, Val};

/// Computes the type of a call's result.
type TypeOf = fn(&Typing<'_>) -> SqlResult<ExprType>;
/// Computes a call with its evaluated arguments.
type OfValues = for<'a, 'c> fn(&Call<'a, 'c>) -> SqlResult<Val<'a>>;
/// Computes a call that evaluates its arguments itself.
type OfOperands = for<'a, 'c> fn(&Operands<'a, 'c>) -> SqlResult<Val<'a>>;

/// A call whose arguments are not evaluated yet.
pub(in crate::expr) struct Operands<'a, 'c> {
    /// The call.
    pub expr: &'a Expr,
    /// Its arguments.
    pub args: &'a [Expr],
    /// The session, and the statement's values.
    pub ctx: &'c EvalCtx<'a>,
    /// The row.
    pub row: &'a dyn RowAccess,
    /// A quotient that it gives on keeps all its digits.
    pub raw: bool,
}

/// How a call is computed.
#[derive(Debug)]
pub(in crate::expr) enum Run {
    /// Of its arguments' values.
    Values(OfValues),
    /// It evaluates some arguments only, or evaluates them more than once.
    Operands(OfOperands),
}

/// What NULL among the arguments means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::expr) enum Nulls {
    /// The result is NULL.
    Result,
    /// The result is NULL if the first argument is.
    OfFirst,
    /// The function looks at NULLs itself.
    Seen,
}

/// How arguments are bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// As they are.
    Anything,
    /// As numbers: a hexadecimal literal is one, JSON_EXTRACT gives the value and not its JSON text.
    Numbers,
    /// As texts, whatever their types.
    Texts,
}

/// How steady a function's value is while its arguments stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steadiness {
    /// Always the same. Generated columns that are stored, indexes and CHECK may hold it, and replicas that execute it get the
    /// same value.
    Constant,
    /// The same for all rows of a statement. It differs by session or time, so that nothing that is stored may depend on it.
    Statement,
    /// It may differ from row to row, or evaluating it does something: it is evaluated as often as it is written to be.
    Row,
}

/// Arguments that can be the result.
#[derive(Clone, Copy)]
pub struct Results {
    /// Whether the i-th of n arguments can be the result.
    pub is_one: fn(usize, usize) -> bool,
    /// They become values of the result's type; otherwise they are only shown as such.
    pub converted: bool,
    /// Texts stay as they are.
    pub but_texts: bool,
}

impl std::fmt::Debug for Results {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Results").finish_non_exhaustive()
    }
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// The name that it is printed by, in lower case. Names that start with a space are made by the parser and can't be called.
    name: &'static str,
    /// Other names that call it.
    pub aliases: &'static [&'static str],
    /// Its arguments, as documentation shows them: `text, from[, length]`; `...` stands for any number more.
    pub usage: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Fewest arguments.
    pub min: usize,
    /// Most arguments.
    pub max: usize,
    /// Behind so many arguments they come in pairs.
    pub pairs: Option<usize>,
    /// How its arguments are bound.
    pub takes: Takes,
    /// It computes with numbers as they are; others take what is shown of a quotient.
    pub computes: bool,
    /// The result is a JSON text, which JSON functions take in without quoting it.
    pub json: bool,
    /// The result is a truth value.
    pub predicate: bool,
    /// Which arguments can be the result.
    pub results: Option<Results>,
    /// No definition of a table may hold it.
    pub never_defined: bool,
    /// The name that errors give when it refuses UUID, INET4 and INET6 values; `None` if it takes them.
    pub refuses_fixed: Option<&'static str>,
    pub(in crate::expr) nulls: Nulls,
    pub(in crate::expr) run: Run,
    /// Its readers and writers of texts can't return the accountant's refusal: they unwind.
    pub(in crate::expr) unwinds: bool,
    steadiness: Steadiness,
    /// With so many arguments and more it is constant whatever else is said.
    constant_from: usize,
    ty: TypeOf,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Function {}

impl std::hash::Hash for Function {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

/// No upper limit of arguments.
pub(super) const ANY: usize = usize::MAX;

/// Fewest and most arguments of what a usage shows.
const fn argument_counts(usage: &str) -> (usize, usize) {
    let b = usage.as_bytes();
    let (mut needed, mut optional, mut any) = (0, 0, false);
    let (mut depth, mut inside, mut i) = (0, false, 0);
    while i < b.len() {
        match b[i] {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b',' => inside = false,
            b' ' => {}
            b'.' if !inside => {
                inside = true;
                any = true;
            }
            _ if !inside => {
                inside = true;
                if depth > 0 {
                    optional += 1;
                } else {
                    needed += 1;
                }
            }
            _ => {}
        }
        i += 1;
    }
    (needed, if any { ANY } else { needed + optional })
}

const fn starts_with(text: &str, start: &str) -> bool {
    let (t, s) = (text.as_bytes(), start.as_bytes());
    let mut i = 0;
    while i < s.len() {
        if i == t.len() || t[i] != s[i] {
            return false;
        }
        i += 1;
    }
    true
}

impl Function {
    const fn with(
        (name, usage, doc): (&'static str, &'static str, &'static str),
        ty: TypeOf,
        run: Run,
    ) -> Self {
        let (min, max) = argument_counts(usage);
        Function {
            name,
            aliases: &[],
            usage,
            doc,
            min,
            max,
            pairs: None,
            takes: Takes::Anything,
            computes: false,
            json: false,
            predicate: false,
            results: None,
            never_defined: false,
            refuses_fixed: None,
            nulls: Nulls::Result,
            run,
            unwinds: starts_with(name, "json_"),
            steadiness: Steadiness::Constant,
            constant_from: ANY,
            ty,
        }
    }

    /// A function of its arguments' values: name, arguments, documentation, result type, evaluation.
    pub(super) const fn new(
        name: &'static str,
        usage: &'static str,
        doc: &'static str,
        ty: TypeOf,
        run: OfValues,
    ) -> Self {
        Function::with((name, usage, doc), ty, Run::Values(run))
    }

    /// A function that evaluates its arguments itself.
    pub(super) const fn of_operands(
        name: &'static str,
        usage: &'static str,
        doc: &'static str,
        ty: TypeOf,
        run: OfOperands,
    ) -> Self {
        Function::with((name, usage, doc), ty, Run::Operands(run))
    }

    /// Other names.
    pub(super) const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The value for NULL arguments need not be NULL.
    pub(super) const fn takes_null(mut self) -> Self {
        self.nulls = Nulls::Seen;
        self
    }

    /// Only a NULL in the first argument makes the result NULL.
    pub(super) const fn null_of_first(mut self) -> Self {
        self.nulls = Nulls::OfFirst;
        self
    }

    /// It differs from row to row, or evaluating it does something.
    pub(super) const fn volatile(mut self) -> Self {
        self.steadiness = Steadiness::Row;
        self
    }

    /// It differs by session or time.
    pub(super) const fn of_session(mut self) -> Self {
        self.steadiness = Steadiness::Statement;
        self
    }

    /// It is constant once it is given so many arguments.
    pub(super) const fn constant_with(mut self, args: usize) -> Self {
        self.constant_from = args;
        self
    }

    /// No definition of a table may hold it.
    pub(super) const fn never_defined(mut self) -> Self {
        self.never_defined = true;
        self
    }

    /// Its result is JSON.
    pub(super) const fn json(mut self) -> Self {
        self.json = true;
        self
    }

    /// Its result is a truth value.
    pub(super) const fn predicate(mut self) -> Self {
        self.predicate = true;
        self
    }

    /// A function of numbers: it computes with all digits that they have, and refuses what is no number.
    pub(super) const fn computes(mut self) -> Self {
        self.computes = true;
        self
    }

    /// Its arguments are numbers.
    pub(super) const fn takes_numbers(mut self) -> Self {
        self.takes = Takes::Numbers;
        self
    }

    /// Its arguments are texts.
    pub(super) const fn takes_texts(mut self) -> Self {
        self.takes = Takes::Texts;
        self
    }

    /// It takes no UUID, INET4 or INET6; errors call it by its name.
    pub(super) const fn no_fixed(mut self) -> Self {
        self.refuses_fixed = Some(self.name);
        self
    }

    /// It takes no UUID, INET4 or INET6; errors call it by another name.
    pub(super) const fn no_fixed_as(mut self, name: &'static str) -> Self {
        self.refuses_fixed = Some(name);
        self
    }

    /// Which arguments can be the result: they are converted to its type.
    pub(super) const fn results(mut self, is_one: fn(usize, usize) -> bool) -> Self {
        self.results = Some(Results {
            is_one,
            converted: true,
            but_texts: false,
        });
        self
    }

    /// Which arguments can be the result: they are branches of its type.
    pub(super) const fn branches(mut self, is_one: fn(usize, usize) -> bool) -> Self {
        self.results = Some(Results {
            is_one,
            converted: false,
            but_texts: false,
        });
        self
    }

    /// All arguments can be the result, which are branches of its type unless that is a text.
    pub(super) const fn branches_but_texts(mut self) -> Self {
        self.results = Some(Results {
            is_one: |_, _| true,
            converted: false,
            but_texts: true,
        });
        self
    }

    /// Behind so many arguments they come in pairs.
    pub(super) const fn pairs_behind(mut self, n: usize) -> Self {
        self.pairs = Some(n);
        self
    }

    /// The name that it is printed by.
    pub fn name(&self) -> &'static str {
        self.name.trim_start()
    }

    /// True if only the parser makes calls of it.
    pub fn is_hidden(&self) -> bool {
        self.name.starts_with(' ')
    }

    /// All names that it is found by.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// True if a call with so many arguments is possible.
    pub fn accepts(&self, args: usize) -> bool {
        (self.min..=self.max).contains(&args)
            && self.pairs.is_none_or(|n| (args + n).is_multiple_of(2))
    }

    /// How steady the value of a call with so many arguments is.
    pub fn steadiness(&self, args: usize) -> Steadiness {
        match args >= self.constant_from {
            true => Steadiness::Constant,
            false => self.steadiness,
        }
    }

    /// The value differs from row to row, or evaluating it does something.
    pub fn is_volatile(&self) -> bool {
        self.steadiness == Steadiness::Row
    }

    /// The result's type.
    pub fn ty(&self, args: &[Expr]) -> SqlResult<ExprType> {
        let ty = (self.ty)(&Typing {
            name: self.name(),
            args,
        })?;
        Ok(ExprType {
            json: self.json || ty.json,
            ..ty
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usages_say_how_many_arguments() {
        for (usage, want) in [
            ("", (0, 0)),
            ("text", (1, 1)),
            ("[seed]", (0, 1)),
            ("text, from[, length]", (2, 3)),
            ("x[, y[, z]]", (1, 3)),
            ("text, ...", (1, ANY)),
            ("[x, ...]", (0, ANY)),
        ] {
            assert_eq!(argument_counts(usage), want, "{usage}");
        }
    }
}
