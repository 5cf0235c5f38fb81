//! The functions by topic, and the registry that finds them.
//!
//! A topic file has a table of [`Function`]s: name, argument counts, result type, evaluation. To add a function, write those
//! two and a row of the table. The older functions are named in [`super::func`] and computed in the `*_core.rs` files.
//!
//! | file | holds |
//! |---|---|
//! | `string.rs` | strings: SOUNDEX, MAKE_SET, SFORMAT, TO_CHAR, ... |
//! | `binary.rs` | checksums, encodings, encryption, compression |
//! | `network.rs` | INET_ATON and its kin |
//! | `regexp.rs`, `regexp_search.rs` | REGEXP and REGEXP_*(); searches that can be ended |
//! | `json/` | JSON_*() |
//! | `misc.rs` | control flow, information, dates not in `date_core.rs` |
//! | `sequence.rs` | NEXTVAL, LASTVAL, SETVAL |
//! | `*_core.rs` | the older ones |

mod binary;
mod date_core;
pub(super) mod json;
mod misc;
mod network;
pub(crate) mod number_core;
mod regexp;
mod regexp_search;
mod sequence;
mod soundex;
mod string;
mod string_core;
mod to_char;

use super::call::Call;
use super::eval::Val;
use super::types::collation_of;
use super::{Coercibility, Expr, ExprKind, ExprType};
use narwal_types::{Collation, ColumnType, SqlResult, TypeKind, Value};
use std::collections::HashMap;
use std::sync::LazyLock;

pub(super) use misc::year_of;
pub(super) use regexp::matches as regexp_matches;

/// No upper limit of arguments.
pub(super) const ANY: usize = usize::MAX;

/// Computes the result type of a call.
type TypeOf = fn(&Typing<'_>) -> SqlResult<ExprType>;
/// Computes a call with its evaluated arguments.
type Evaluate = for<'a, 'c> fn(&Call<'a, 'c>) -> SqlResult<Val<'a>>;

/// A function in the registry.
#[derive(Debug)]
pub struct Function {
    /// Its name in lower case. Names that start with a space are made by the parser and can't be called.
    pub name: &'static str,
    /// Fewest arguments.
    pub min: usize,
    /// Most arguments.
    pub max: usize,
    /// Behind so many arguments they come in pairs.
    pub pairs: Option<usize>,
    /// It looks at NULLs itself; else the value for a NULL argument is NULL.
    pub takes_null: bool,
    /// The value differs from row to row, or evaluating it does something.
    pub volatile: bool,
    /// The result is a JSON text, which JSON functions take in without quoting it.
    pub json: bool,
    /// Which of so many arguments can be the result: they are converted to its type.
    pub results: Option<fn(usize, usize) -> bool>,
    ty: TypeOf,
    run: Evaluate,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Function {}

impl std::hash::Hash for Function {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Function {
    const fn new(
        name: &'static str,
        (min, max): (usize, usize),
        ty: TypeOf,
        run: Evaluate,
    ) -> Self {
        Function {
            name,
            min,
            max,
            pairs: None,
            takes_null: false,
            volatile: false,
            json: false,
            results: None,
            ty,
            run,
        }
    }

    const fn takes_null(mut self) -> Self {
        self.takes_null = true;
        self
    }

    const fn volatile(mut self) -> Self {
        self.volatile = true;
        self
    }

    const fn json(mut self) -> Self {
        self.json = true;
        self
    }

    const fn results(mut self, f: fn(usize, usize) -> bool) -> Self {
        self.results = Some(f);
        self
    }

    const fn pairs_behind(mut self, n: usize) -> Self {
        self.pairs = Some(n);
        self
    }

    /// The result's type.
    pub fn ty(&self, args: &[Expr]) -> SqlResult<ExprType> {
        (self.ty)(&Typing {
            name: self.name.trim_start(),
            args,
        })
    }

    /// The value.
    pub(super) fn run<'a>(&self, call: &Call<'a, '_>) -> SqlResult<Val<'a>> {
        // Readers and writers of JSON can't return the accountant's refusal.
        match self.topic_unwinds() {
            true => narwal_memory::unwinding(|| (self.run)(call))?,
            false => (self.run)(call),
        }
    }

    fn topic_unwinds(&self) -> bool {
        self.name.starts_with("json_")
    }
}

/// The functions of each topic's file.
static TOPICS: [&[Function]; 7] = [
    string::FUNCTIONS,
    binary::FUNCTIONS,
    network::FUNCTIONS,
    regexp::FUNCTIONS,
    json::FUNCTIONS,
    misc::FUNCTIONS,
    sequence::FUNCTIONS,
];

/// Finds a function by its name in lower case.
pub fn lookup(name: &str) -> Option<&'static Function> {
    static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> =
        LazyLock::new(|| TOPICS.into_iter().flatten().map(|f| (f.name, f)).collect());
    BY_NAME.get(name).copied()
}

/// The arguments of a call as the result type sees them.
struct Typing<'e> {
    name: &'static str,
    args: &'e [Expr],
}

impl Typing<'_> {
    fn nullable(&self) -> bool {
        self.args.iter().any(|a| a.ty.nullable)
    }

    fn arg(&self, i: usize) -> ExprType {
        self.args.get(i).map_or_else(ExprType::null, |a| a.ty)
    }

    /// Most characters of an argument's text.
    fn chars(&self, i: usize) -> u64 {
        self.arg(i).chars()
    }

    /// Most bytes of an argument's text.
    fn bytes(&self, i: usize) -> u64 {
        let t = self.arg(i);
        match t.ty.max_bytes() {
            Some(n) if t.ty.is_string() => n,
            _ => t.chars(),
        }
    }

    fn literal_int(&self, i: usize) -> Option<i64> {
        match self.args.get(i).map(|a| &a.kind) {
            Some(ExprKind::Literal(Value::Int(v))) => Some(*v),
            _ => None,
        }
    }

    /// A string of at most `chars` characters in the collation that the arguments from..to share.
    fn string_of(
        &self,
        args: std::ops::Range<usize>,
        chars: u64,
        nullable: bool,
    ) -> SqlResult<ExprType> {
        let end = args.end.min(self.args.len());
        let list = &self.args[args.start.min(end)..end];
        let (c, k) = collation_of(list.iter().map(|a| &a.ty), self.name)?;
        Ok(ExprType::string(chars, c, k, nullable))
    }
}

// Result types that many share.

fn int(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::int(t.nullable()))
}

/// TINYINT(1), as predicates have it.
fn bool(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::int(t.nullable()))
}

fn bytes(n: u64, nullable: bool) -> ExprType {
    ExprType::string(n, Collation::Binary, Coercibility::Coercible, nullable)
}

fn kind(kind: TypeKind) -> ExprType {
    ExprType::of_column(ColumnType::new(kind), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_twice() {
        let all: Vec<&Function> = TOPICS.into_iter().flatten().collect();
        for f in &all {
            assert_eq!(
                all.iter().filter(|g| g.name == f.name).count(),
                1,
                "{}",
                f.name
            );
            assert_eq!(f.name, f.name.to_ascii_lowercase());
            assert!(f.min <= f.max);
        }
        assert_eq!(lookup("json_valid").map(|f| (f.min, f.max)), Some((1, 1)));
        assert_eq!(lookup("nosuch"), None);
    }
}
