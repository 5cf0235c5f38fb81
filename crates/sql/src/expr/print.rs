//! Parsed expressions as MariaDB prints them again: the text that CHECK constraints, generated columns and DEFAULT
//! expressions are kept as, and that SHOW CREATE TABLE and information_schema show.
//!
//! It is SQL that means the same under any `sql_mode`: names in backticks, strings in single quotes with escapes, functions by
//! the one name that MariaDB prints, parentheses where the precedence of operators asks for them.

use super::functions;
use narwal_syntax::ast::{
    BinaryOp as B, Call, CastType, DynamicColumn, Expr as Ast, FormatKind, FrameBound, FrameUnit,
    FunctionSchema, IsTest, Literal, ORACLE_SCHEMA, OrderItem, Over, Qualified, Special,
    TemporalKind, TrimSide, UnaryOp as U, Unit, VarScope, WeightLevel, WindowSpec,
};
use narwal_types::Value;
use std::fmt::Write;

/// How tightly a printed expression holds together, from loose to tight.
mod level {
    pub(super) const OR: u8 = 2;
    pub(super) const XOR: u8 = 3;
    pub(super) const AND: u8 = 4;
    pub(super) const COMPARE: u8 = 6;
    pub(super) const BETWEEN: u8 = 7;
    pub(super) const IN: u8 = 8;
    pub(super) const BIT_OR: u8 = 9;
    pub(super) const BIT_AND: u8 = 10;
    pub(super) const SHIFT: u8 = 11;
    pub(super) const INTERVAL: u8 = 12;
    pub(super) const ADD: u8 = 13;
    pub(super) const MULTIPLY: u8 = 14;
    pub(super) const BIT_XOR: u8 = 15;
    pub(super) const NEGATE: u8 = 17;
    pub(super) const COLLATE: u8 = 19;
    pub(super) const WHOLE: u8 = 20;
}

/// An expression as text.
struct Printed {
    text: String,
    level: u8,
}

impl Printed {
    fn whole(text: impl Into<String>) -> Self {
        Printed {
            text: text.into(),
            level: level::WHOLE,
        }
    }

    fn at(level: u8, text: String) -> Self {
        Printed { text, level }
    }

    /// In parentheses if it is looser than `level`.
    fn left(self, level: u8) -> String {
        if self.level < level {
            format!("({})", self.text)
        } else {
            self.text
        }
    }

    /// In parentheses if it is not tighter than `level`.
    fn right(self, level: u8) -> String {
        self.left(level + 1)
    }
}

/// A string as MariaDB prints it in expressions.
pub fn quote(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('\'');
    for c in s.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{1a}' => out.push_str("\\Z"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// The name that MySQL prints a function by.
fn mysql_name(name: &str) -> &str {
    match name {
        "ucase" => "upper",
        "lcase" => "lower",
        "octet_length" => "length",
        "current_timestamp" | "localtime" | "localtimestamp" => "now",
        n => match printed_name(n) {
            "ucase" => "upper",
            "lcase" => "lower",
            "octet_length" => "length",
            "current_timestamp" => "now",
            n => n,
        },
    }
}

/// True if the value is a truth value.
fn is_truth(e: &Ast) -> bool {
    match e {
        Ast::Nested(e) => is_truth(e),
        Ast::Binary { op, .. } => matches!(
            op,
            B::Eq
                | B::Ne
                | B::Lt
                | B::Le
                | B::Gt
                | B::Ge
                | B::NullSafeEq
                | B::SoundsLike
                | B::And
                | B::Or
                | B::Xor
        ),
        Ast::Unary { op, .. } => matches!(op, U::Not | U::Bang),
        Ast::Between { .. }
        | Ast::InList { .. }
        | Ast::InQuery { .. }
        | Ast::Like { .. }
        | Ast::Regexp { .. }
        | Ast::Is { .. }
        | Ast::Quantified { .. }
        | Ast::Exists(_) => true,
        Ast::Call(c) => is_truth_function(&c.name.to_ascii_lowercase()),
        _ => false,
    }
}

fn is_truth_function(name: &str) -> bool {
    matches!(
        name,
        "isnull"
            | "json_valid"
            | "json_exists"
            | "json_contains"
            | "json_contains_path"
            | "json_overlaps"
            | "is_ipv4"
            | "is_ipv6"
            | "is_ipv4_compat"
            | "is_ipv4_mapped"
            | "json_equals"
    )
}

/// A function about addresses: its value is a truth value, and its text that of a plain call.
fn is_address_test(e: &Ast) -> bool {
    matches!(e, Ast::Call(c) if c.name.to_ascii_lowercase().starts_with("is_ipv"))
}

/// True for the name of a column.
fn is_column(e: &Ast) -> bool {
    match e {
        Ast::Nested(e) => is_column(e),
        _ => matches!(e, Ast::Column(_) | Ast::Qualified(_)),
    }
}

fn infix(level: u8, l: Printed, op: &str, r: Printed) -> Printed {
    Printed::at(level, format!("{} {op} {}", l.left(level), r.right(level)))
}

/// AND and OR are lists: equal operators need no parentheses on either side.
fn chain(level: u8, l: Printed, op: &str, r: Printed) -> Printed {
    Printed::at(level, format!("{} {op} {}", l.left(level), r.left(level)))
}

fn value(l: &Literal) -> String {
    match l {
        Literal::Number(n) => plain_number(n),
        Literal::String(s) | Literal::National(s) => quote(s),
        Literal::Hex(s) => format!("0x{}", s.to_ascii_lowercase()),
        Literal::HexText(s) => format!("X'{}'", s.to_ascii_lowercase()),
        Literal::Bit(s) => bits(s),
        Literal::Bool(b) => u8::from(*b).to_string(),
        Literal::Null | Literal::NullText => "NULL".to_string(),
    }
}

/// The digits of an exact number, without zeros in front. A number with an exponent stays as it was written.
fn plain_number(n: &str) -> String {
    match crate::literal::number(n) {
        Value::Double(_) => n.to_string(),
        v => v.to_text(),
    }
}

/// The bytes of a hexadecimal or bit literal.
pub(crate) fn literal_bytes(l: &Literal) -> Option<Vec<u8>> {
    let (digits, base, each) = match l {
        Literal::Hex(h) | Literal::HexText(h) => (h, 16, 2),
        Literal::Bit(b) => (b, 2, 8),
        _ => return None,
    };
    // Zeros in front are left out.
    let first = digits.len() % each;
    let (head, rest) = digits.split_at_checked(first)?;
    let rest = (0..rest.len()).step_by(each).map(|i| &rest[i..i + each]);
    let head = (first > 0).then_some(head);
    (head.into_iter().chain(rest))
        .map(|d| u8::from_str_radix(d, base).ok())
        .collect()
}

/// The text of a number, signs before it taken together.
fn number(e: &Ast) -> Option<String> {
    match e {
        Ast::Nested(e) => number(e),
        Ast::Literal(Literal::Number(n)) => Some(plain_number(n)),
        Ast::Unary { op: U::Minus, expr } => number(expr).map(|_| minus(expr)),
        _ => None,
    }
}

/// The text of a number with the other sign. An exact zero has none.
fn minus(e: &Ast) -> String {
    let n = number(e).unwrap_or_default();
    let exact_zero = n.bytes().all(|b| matches!(b, b'0' | b'.'));
    match n.strip_prefix('-') {
        Some(n) => n.to_string(),
        None if exact_zero => n,
        None => format!("-{n}"),
    }
}

/// `b'101'` as hexadecimal literal.
fn bits(s: &str) -> String {
    let mut out = String::from("0x");
    let padded = format!("{s:0>width$}", width = s.len().div_ceil(8) * 8);
    for byte in padded.as_bytes().chunks(8) {
        let n = byte.iter().fold(0u8, |n, b| n << 1 | u8::from(*b == b'1'));
        let _ = write!(out, "{n:02x}");
    }
    out
}

/// The type CHAR of a dynamic column, which always shows a collation.
fn char_of_column(t: &CastType, set: &str) -> String {
    let text = cast_type(t);
    match narwal_types::Charset::from_name(set) {
        Some(set) if !text.contains(" collate ") => {
            format!(" AS {text} collate {} ", set.default_collation().name())
        }
        _ => format!(" AS {text} "),
    }
}

/// A character set by the name that MariaDB gives it.
fn set_name(given: &str) -> String {
    match narwal_types::Charset::from_name(given) {
        Some(set) => set.name().to_string(),
        None => given.to_ascii_lowercase(),
    }
}

/// A type in CAST.
fn cast_type(t: &CastType) -> String {
    let length = |n: &Option<u64>| n.map_or(String::new(), |n| format!("({n})"));
    match t {
        CastType::Char {
            length: n,
            charset,
            collation,
            binary,
            national,
        } => {
            let usual = if *national { "utf8mb3" } else { "utf8mb4" };
            let set = set_name(charset.as_deref().unwrap_or(usual));
            let collate = match collation {
                Some(c) => format!(" collate {}", c.to_ascii_lowercase()),
                None if *binary => " binary".to_string(),
                None => String::new(),
            };
            format!("char{} charset {set}{collate}", length(n))
        }
        CastType::Binary(n) => format!("char{} charset binary", length(n)),
        CastType::Signed => "signed".to_string(),
        CastType::Unsigned => "unsigned".to_string(),
        CastType::Decimal(digits) => {
            let (p, s) = digits.map_or((10, 0), |(p, s)| (p, s.unwrap_or(0)));
            format!("decimal({p},{s})")
        }
        CastType::Double(_) => "double".to_string(),
        CastType::Float => "float".to_string(),
        CastType::Date => "date".to_string(),
        CastType::Time(n) => format!("time{}", length(n)),
        CastType::DateTime(n) => format!("datetime{}", length(n)),
        CastType::IntervalDaySecond(n) => format!("interval day_second{}", length(n)),
        CastType::Other(name) => name.to_ascii_lowercase(),
    }
}

/// The flag of WEIGHT_STRING that stands for padding up to its length.
const PADDED: u64 = 0x40;

/// LEVEL of WEIGHT_STRING as one number: a bit for each level, 8 bits further if it is descending and 16 if it is reversed.
fn weight_flags(levels: &[WeightLevel]) -> u64 {
    const LEVELS: u64 = 6;
    // Without a level it is the first one.
    let mut flags = u64::from(levels.is_empty());
    for l in levels {
        for n in l.from.clamp(1, LEVELS)..=l.to.clamp(1, LEVELS) {
            let bit = 1 << (n - 1);
            flags |= bit | (u64::from(l.desc) * (bit << 8)) | (u64::from(l.reverse) * (bit << 16));
        }
    }
    flags
}

/// The one name that a function is printed by.
fn printed_name(name: &str) -> &str {
    match name {
        "upper" => "ucase",
        "lower" => "lcase",
        "length" => "octet_length",
        "character_length" => "char_length",
        "substring" | "mid" => "substr",
        "ceil" => "ceiling",
        "day" => "dayofmonth",
        "sha1" => "sha",
        "power" => "pow",
        "now" | "localtime" | "localtimestamp" => "current_timestamp",
        "current_date" => "curdate",
        "current_time" => "curtime",
        "session_user" | "system_user" => "user",
        "schema" => "database",
        "nvl" => "ifnull",
        "lengthb" => "octet_length",
        "json_merge" => "json_merge_preserve",
        "json_pretty" => "json_detailed",
        "name_const" => "NAME_CONST",
        n => n,
    }
}

/// The name in Oracle's schema of a function that is called by its own name in MariaDB's.
fn oracle_name(name: &str) -> Option<&str> {
    let name = name.strip_suffix("_oracle")?;
    Some(name.strip_suffix("_operator").unwrap_or(name))
}

/// A TRIM as Oracle has it.
fn is_oracle(s: &Special) -> bool {
    matches!(s, Special::Trim { oracle: true, .. })
}

fn qualified(q: &Qualified) -> String {
    let names = [q.db.as_deref(), Some(&q.table), Some(&q.column)];
    let names: Vec<String> = names
        .into_iter()
        .flatten()
        .map(crate::quote::quote_ident)
        .collect();
    names.join(".")
}

/// Prints an expression and what is in it.
struct Printer<'a> {
    /// The text of a subquery by its number.
    query: &'a dyn Fn(usize) -> String,
    /// Of a view, which names the schema of Oracle's functions. Elsewhere these have names of their own.
    view: bool,
    /// As MySQL prints it.
    mysql: bool,
}

impl Printer<'_> {
    fn text(&self, e: &Ast) -> String {
        self.print(e).text
    }

    fn list<'e>(&self, items: impl IntoIterator<Item = &'e Ast>) -> String {
        items
            .into_iter()
            .map(|e| self.text(e))
            .collect::<Vec<_>>()
            .join(",")
    }

    fn subquery(&self, n: usize) -> Printed {
        Printed::whole(format!("({})", (self.query)(n)))
    }

    /// A condition: a column is compared with 0.
    fn condition(&self, e: &Ast) -> Printed {
        match is_column(e) {
            true if self.mysql => Printed::whole(format!("({})", self.not_zero(e).text)),
            true => self.not_zero(e),
            false => self.print(e),
        }
    }

    fn not_zero(&self, e: &Ast) -> Printed {
        if self.mysql {
            return Printed::at(level::COMPARE, format!("0 <> {}", self.text(e)));
        }
        Printed::at(
            level::COMPARE,
            format!("{} <> 0", self.print(e).left(level::COMPARE)),
        )
    }

    /// NOT of a value: of a column it is a comparison with 0.
    fn plain_not(&self, e: &Ast) -> Printed {
        match is_column(e) {
            false => self.bang(self.print(e)),
            true if self.mysql => Printed::at(level::COMPARE, format!("0 = {}", self.text(e))),
            true => Printed::at(
                level::COMPARE,
                format!("{} = 0", self.print(e).left(level::COMPARE)),
            ),
        }
    }

    fn bang(&self, p: Printed) -> Printed {
        Printed::at(level::NEGATE, format!("!{}", p.left(level::NEGATE)))
    }

    /// NOT of an expression, as far inside as it goes.
    fn negated(&self, e: &Ast) -> Printed {
        let compare =
            |l: &Ast, op: &str, r: &Ast| infix(level::COMPARE, self.print(l), op, self.print(r));
        match e {
            Ast::Nested(e) => self.negated(e),
            Ast::Unary {
                op: U::Not | U::Bang,
                expr,
            } => match is_truth(expr) {
                true => self.print(expr),
                false => self.not_zero(expr),
            },
            Ast::Binary { left, op, right } => match op {
                B::Eq => compare(left, "<>", right),
                B::Ne => compare(left, "=", right),
                B::Lt => compare(left, ">=", right),
                B::Le => compare(left, ">", right),
                B::Gt => compare(left, "<=", right),
                B::Ge => compare(left, "<", right),
                B::And => chain(level::OR, self.negated(left), "or", self.negated(right)),
                B::Or => chain(level::AND, self.negated(left), "and", self.negated(right)),
                _ => self.plain_not(e),
            },
            Ast::Between {
                expr,
                negated,
                low,
                high,
            } => self.between(expr, !negated, low, high),
            Ast::InList {
                expr,
                list,
                negated,
            } => self.in_list(expr, list, !negated),
            Ast::InQuery {
                expr,
                query,
                negated,
            } => self.in_query(expr, *query, !negated),
            Ast::Like {
                negated,
                expr,
                pattern,
                escape,
            } => self.like(expr, !negated, pattern, escape.as_deref()),
            Ast::Is {
                expr,
                what,
                negated,
            } if self.mysql || matches!(what, IsTest::Null | IsTest::Unknown) => {
                self.is(expr, *what, !negated)
            }
            Ast::Call(c) if c.name.eq_ignore_ascii_case("isnull") && c.args.len() == 1 => {
                self.is(&c.args[0], IsTest::Null, true)
            }
            _ => self.plain_not(e),
        }
    }

    fn is(&self, e: &Ast, what: IsTest, negated: bool) -> Printed {
        let what = match what {
            IsTest::Null | IsTest::Unknown => "null",
            IsTest::True => "true",
            IsTest::False => "false",
        };
        let not = if negated { "not " } else { "" };
        Printed::at(
            level::COMPARE,
            format!("{} is {not}{what}", self.print(e).left(level::COMPARE)),
        )
    }

    fn between(&self, e: &Ast, negated: bool, low: &Ast, high: &Ast) -> Printed {
        let not = if negated { " not" } else { "" };
        Printed::at(
            level::BETWEEN,
            format!(
                "{}{not} between {} and {}",
                self.print(e).right(level::BETWEEN),
                self.print(low).left(level::BETWEEN),
                self.print(high).left(level::BETWEEN)
            ),
        )
    }

    fn in_query(&self, e: &Ast, query: usize, negated: bool) -> Printed {
        let p = infix(level::IN, self.print(e), "in", self.subquery(query));
        match negated {
            true => self.bang(p),
            false => p,
        }
    }

    fn in_list(&self, e: &Ast, items: &[Ast], negated: bool) -> Printed {
        if let [one] = items {
            let op = if negated { "<>" } else { "=" };
            return infix(level::COMPARE, self.print(e), op, self.print(one));
        }
        let not = if negated { " not" } else { "" };
        Printed::at(
            level::IN,
            format!(
                "{}{not} in ({})",
                self.print(e).left(level::IN),
                self.list(items)
            ),
        )
    }

    fn like(&self, e: &Ast, negated: bool, pattern: &Ast, escape: Option<&Ast>) -> Printed {
        // Two blanks, as MariaDB has them.
        let not = match (negated, self.mysql) {
            (true, true) => "not ",
            (true, false) => " not ",
            (false, _) => "",
        };
        let mut text = format!(
            "{} {not}like {}",
            self.print(e).left(level::IN),
            self.print(pattern).right(level::IN)
        );
        if let Some(c) = escape {
            let _ = write!(text, " escape {}", self.print(c).right(level::IN));
        }
        Printed::at(level::IN, text)
    }

    fn add_interval(&self, date: &Ast, amount: &Ast, unit: Unit, minus: bool) -> Printed {
        Printed::at(
            level::ADD,
            format!(
                "{} {} interval {} {}",
                self.print(date).left(level::INTERVAL),
                if minus { '-' } else { '+' },
                self.print(amount).right(level::INTERVAL),
                unit.name()
            ),
        )
    }

    fn call(&self, name: &str, args: &[&Ast]) -> Printed {
        // A dynamic column is gone when it becomes NULL.
        if let ("column_delete", [columns, names @ ..]) = (name, args) {
            let mut s = format!("column_add({}", self.text(columns));
            for name in names {
                let _ = write!(s, ",{},NULL AS int", self.text(name));
            }
            s.push(')');
            return Printed::whole(s);
        }
        Printed::whole(format!("{name}({})", self.list(args.iter().copied())))
    }

    /// A call of an aggregate function with its clauses.
    fn aggregate(&self, name: &str, f: &Call) -> String {
        let name = match name {
            "stddev" | "stddev_pop" => "std",
            "var_pop" => "variance",
            n => n,
        };
        let mut s = format!("{name}(");
        if f.distinct {
            s.push_str("distinct ");
        }
        // What COUNT(*) counts is never NULL.
        s.push_str(&match f.star {
            true => "0".to_string(),
            false => self.list(&f.args),
        });
        let clauses = f.clauses.as_deref();
        if let Some(keys) = clauses.map(|c| &c.order_by).filter(|k| !k.is_empty()) {
            let way = |desc: bool| if desc { "DESC" } else { "ASC" };
            let keys: Vec<String> = keys
                .iter()
                .map(|k| format!("{} {}", self.text(&k.expr), way(k.desc)))
                .collect();
            let _ = write!(s, " order by {}", keys.join(","));
        }
        if name == "group_concat" {
            let separator = clauses.and_then(|c| c.separator.as_deref()).unwrap_or(",");
            let _ = write!(s, " separator {}", quote(separator));
        }
        if let Some(l) = clauses.and_then(|c| c.limit.as_ref()) {
            s.push_str(" limit ");
            if let Some(offset) = &l.offset {
                let _ = write!(s, "{},", self.text(offset));
            }
            s.push_str(&self.text(&l.count));
        }
        s.push(')');
        s
    }

    /// A call of a window function without its window.
    fn window_function(&self, name: &str, f: &Call) -> String {
        let within = f.clauses.as_deref().and_then(|c| c.within_group.as_deref());
        match (name, f.args.as_slice(), within) {
            (_, args, Some(order)) => format!(
                "{name}({}) within group ({})",
                self.list(args),
                self.keys("order", order)
            ),
            ("median", [n], _) => {
                let n = self.text(n);
                format!("percentile_cont(0.5) within group ( order by {n} desc)")
            }
            ("lag" | "lead", [value], _) => format!("{name}({},1)", self.text(value)),
            (_, args, _) => format!("{name}({})", self.list(args)),
        }
    }

    /// ` order by ...`
    fn keys(&self, word: &str, list: &[OrderItem]) -> String {
        let keys: Vec<String> = list
            .iter()
            .map(|k| self.text(&k.expr) + if k.desc { " desc" } else { "" })
            .collect();
        match keys.is_empty() {
            true => String::new(),
            false => format!(" {word} by {}", keys.join(",")),
        }
    }

    /// A window without its parentheses, with blanks as MariaDB has them.
    fn window(&self, w: &WindowSpec) -> String {
        let mut s = self.keys("partition", &w.partition_by) + &self.keys("order", &w.order_by);
        let Some(f) = &w.frame else { return s };
        let bound = |b: &FrameBound| match b {
            FrameBound::UnboundedPreceding => " unbounded  preceding ".to_string(),
            FrameBound::UnboundedFollowing => " unbounded  following ".to_string(),
            FrameBound::CurrentRow => " current row ".to_string(),
            FrameBound::Preceding(n) => format!("{} preceding ", self.text(n)),
            FrameBound::Following(n) => format!("{} following ", self.text(n)),
        };
        let unit = match f.unit {
            FrameUnit::Rows => "rows",
            FrameUnit::Range => "range",
        };
        let end = f.end.as_ref().unwrap_or(&FrameBound::CurrentRow);
        let _ = write!(s, " {unit} between {} and {}", bound(&f.start), bound(end));
        s
    }

    fn function(&self, f: &Call) -> Printed {
        let name = f.name.to_ascii_lowercase();
        if f.schema() == Some(FunctionSchema::Oracle)
            && let Some(own) = functions::oracle::name_of(&name, f.args.len())
        {
            let args: Vec<&Ast> = f.args.iter().collect();
            return match self.view && own != "char_length" {
                true => self.call(&format!("{ORACLE_SCHEMA}.{}", printed_name(&name)), &args),
                false => self.call(own, &args),
            };
        }
        if let (Some(db), None) = (&f.db, f.schema()) {
            // A function of a package has the package's name in front.
            let parts = std::iter::once(db.as_str()).chain(f.name.splitn(2, '.'));
            let name: Vec<String> = parts.map(crate::quote::quote_ident).collect();
            return Printed::whole(format!("{}({})", name.join("."), self.list(&f.args)));
        }
        let clauses = f.clauses.as_deref();
        if let Some(Over::Window(w)) = clauses.and_then(|c| c.over.as_ref()) {
            let call = match crate::expr::node::AggFunc::named(&name) {
                Some(_) => self.aggregate(&name, f),
                None => self.window_function(&name, f),
            };
            return Printed::whole(format!("{call} over ({})", self.window(w)));
        }
        if crate::expr::node::AggFunc::named(&name).is_some() {
            return Printed::whole(self.aggregate(&name, f));
        }
        let args: Vec<&Ast> = f.args.iter().collect();
        match (name.as_str(), args.as_slice()) {
            (n, args)
                if self.mysql
                    && functions::lookup(n).is_some()
                    && !matches!(n, "date" | "mod" | "isnull") =>
            {
                self.call(mysql_name(n), args)
            }
            ("mod", [a, b]) if self.mysql => {
                infix(level::MULTIPLY, self.print(a), "%", self.print(b))
            }
            ("mod", [a, b]) => infix(level::MULTIPLY, self.print(a), "MOD", self.print(b)),
            ("isnull", [a]) => self.is(a, IsTest::Null, false),
            ("timestamp", [a]) if !self.view => {
                Printed::whole(format!("cast({} as datetime)", self.text(a)))
            }
            ("from_unixtime", [a, format]) => Printed::whole(format!(
                "date_format(from_unixtime({}),{})",
                self.text(a),
                self.text(format)
            )),
            ("add_months", [date, n]) => self.add_interval(date, n, Unit::Month, false),
            ("to_char", [a]) => Printed::whole(format!(
                "to_char({},{})",
                self.text(a),
                quote(functions::USUAL_FORMAT)
            )),
            ("weight_string", [a]) => {
                Printed::whole(format!("weight_string({},0,0,1)", self.text(a)))
            }
            ("date", [a]) => Printed::whole(format!("cast({} as date)", self.text(a))),
            ("time", [a]) => Printed::whole(format!("cast({} as time)", self.text(a))),
            ("round", [a]) => Printed::whole(format!("round({},0)", self.text(a))),
            ("instr", [a, b]) => self.call("locate", &[b, a]),
            // A column without a value is one less.
            ("column_delete", [blob, names @ ..]) => {
                let gone = |n: &&Ast| format!("{},NULL AS int", self.text(n));
                let gone: Vec<String> = names.iter().map(gone).collect();
                Printed::whole(format!(
                    "column_add({},{})",
                    self.text(blob),
                    gone.join(",")
                ))
            }
            ("datediff", [a, b]) => Printed::at(
                level::ADD,
                format!("to_days({}) - to_days({})", self.text(a), self.text(b)),
            ),
            ("atan2", [_, _]) => self.call("atan", &args),
            ("oct", [a]) => Printed::whole(format!("conv({},10,8)", self.text(a))),
            ("bin", [a]) => Printed::whole(format!("conv({},10,2)", self.text(a))),
            ("weekofyear", [a]) => Printed::whole(format!("week({},3)", self.text(a))),
            ("yearweek", [a]) => Printed::whole(format!("yearweek({},0)", self.text(a))),
            ("adddate", [d, n]) => self.add_interval(d, n, Unit::Day, false),
            ("subdate", [d, n]) => self.add_interval(d, n, Unit::Day, true),
            (n, args) if self.view && oracle_name(n).is_some() => {
                let name = oracle_name(n).unwrap_or(n);
                self.call(&format!("{ORACLE_SCHEMA}.{name}"), args)
            }
            // A stored function's name is quoted.
            _ if crate::expr::functions::lookup(&name).is_none() => {
                self.call(&crate::quote::quote_ident(&f.name), &args)
            }
            _ => self.call(printed_name(&name), &args),
        }
    }

    /// A call of a sequence function; `numbers` stand behind its name.
    fn sequence(
        &self,
        function: &str,
        name: &narwal_syntax::ast::TableName,
        numbers: &[String],
    ) -> Printed {
        let quoted = crate::quote::quote_ident;
        let mut text = format!("{function}(");
        if let Some(db) = &name.db {
            text.push_str(&quoted(db));
            text.push('.');
        }
        text.push_str(&quoted(&name.name));
        for n in numbers {
            let _ = write!(text, ",{n}");
        }
        text.push(')');
        Printed::whole(text)
    }

    fn trim(
        &self,
        side: Option<TrimSide>,
        what: Option<&Ast>,
        text: &Ast,
        oracle: bool,
    ) -> Printed {
        let e = self.text(text);
        // A table's definition has names of their own for the forms without words.
        let schema = match (oracle, self.view) {
            (true, view) if view || what.is_some() => format!("{ORACLE_SCHEMA}."),
            (true, _) => {
                let name = match side {
                    Some(TrimSide::Leading) => "ltrim_oracle",
                    Some(TrimSide::Trailing) => "rtrim_oracle",
                    _ => "trim_oracle",
                };
                return Printed::whole(format!("{name}({e})"));
            }
            _ => String::new(),
        };
        let word = match side {
            Some(TrimSide::Leading) => "leading ",
            Some(TrimSide::Trailing) => "trailing ",
            Some(TrimSide::Both) => "both ",
            None => "",
        };
        Printed::whole(match (what, side) {
            (Some(w), _) => format!("{schema}trim({word}{} from {e})", self.text(w)),
            (None, Some(TrimSide::Leading)) => format!("{schema}ltrim({e})"),
            (None, Some(TrimSide::Trailing)) => format!("{schema}rtrim({e})"),
            (None, _) => format!("{schema}trim({e})"),
        })
    }

    fn special(&self, s: &Special) -> Printed {
        let whole = |text: String| Printed::whole(text);
        match s {
            Special::Trim {
                side, what, text, ..
            } => self.trim(*side, what.as_ref(), text, is_oracle(s)),
            Special::Extract(unit, e) => {
                whole(format!("extract({} from {})", unit.name(), self.text(e)))
            }
            Special::Position(what, text) => self.call("locate", &[what, text]),
            Special::Substring(text, from, length) => whole(format!(
                "substr({})",
                self.list([text, from].into_iter().chain(length))
            )),
            Special::Char(codes, charset) => whole(format!(
                "char({} using {})",
                self.list(codes),
                set_name(charset)
            )),
            Special::GetFormat(kind, place) => {
                let kind = match kind {
                    FormatKind::Date => "DATE",
                    FormatKind::Time => "TIME",
                    FormatKind::DateTime => "DATETIME",
                };
                whole(format!("get_format({kind}, {})", self.text(place)))
            }
            Special::PaddedWeights(text, [length, weights, flags]) => {
                // Without a level it is the first one.
                let flags = match flags & 0x3f {
                    0 => flags | 1,
                    _ => *flags,
                };
                let text = self.text(text);
                whole(format!("weight_string({text},{length},{weights},{flags})"))
            }
            Special::WeightString { text, cut, levels } => {
                let (length, padded) = cut.map_or((0, 0), |(n, _)| (n, PADDED));
                let text = match cut {
                    Some((_, true)) => {
                        let ty = cast_type(&CastType::Binary(Some(length)));
                        format!("cast({} as {ty})", self.text(text))
                    }
                    _ => self.text(text),
                };
                let flags = weight_flags(levels) | padded;
                whole(format!("weight_string({text},0,{length},{flags})"))
            }
            Special::TimestampAdd(unit, n, date) => self.add_interval(date, n, *unit, false),
            Special::TimestampDiff(unit, a, b) => whole(format!(
                "timestampdiff({},{},{})",
                unit.name().to_ascii_uppercase(),
                self.text(a),
                self.text(b)
            )),
            Special::DateArith {
                subtract,
                date,
                amount,
                unit,
                ..
            } => self.add_interval(date, amount, *unit, *subtract),
            Special::NextValue(name) => self.sequence("nextval", name, &[]),
            Special::LastValue(name) => self.sequence("lastval", name, &[]),
            Special::SetValue {
                name,
                value,
                used,
                round,
            } => {
                let number = |given: &Option<String>, usual: &str| {
                    given.as_deref().unwrap_or(usual).to_string()
                };
                let numbers = [value.clone(), number(used, "1"), number(round, "0")];
                self.sequence("setval", name, &numbers)
            }
            // Refused when they are bound.
            Special::Match {
                columns, against, ..
            } => whole(format!(
                "match {} against ({})",
                self.list(columns),
                self.text(against)
            )),
            Special::ColumnCreate(list) => {
                whole(format!("column_create({})", self.dynamic_columns(list)))
            }
            Special::ColumnAdd(blob, list) => whole(format!(
                "column_add({},{})",
                self.text(blob),
                self.dynamic_columns(list)
            )),
            Special::ColumnGet(blob, name, ty) => whole(format!(
                "column_get({},{} as {})",
                self.text(blob),
                self.text(name),
                cast_type(ty)
            )),
        }
    }

    /// Names, values and types of dynamic columns.
    fn dynamic_columns(&self, list: &[DynamicColumn]) -> String {
        let one = |c: &DynamicColumn| {
            let ty = c.ty.as_ref().map_or(String::new(), |t| match t {
                CastType::Signed => " AS int".into(),
                CastType::Unsigned => " AS unsigned int".into(),
                CastType::Decimal(_) => " AS decimal".into(),
                CastType::Time(_) => " AS time".into(),
                CastType::DateTime(_) => " AS datetime".into(),
                CastType::Char {
                    charset: Some(set), ..
                } => char_of_column(t, set),
                t => format!(" AS {}", cast_type(t)),
            });
            format!("{},{}{ty}", self.text(&c.name), self.text(&c.value))
        };
        list.iter().map(one).collect::<Vec<_>>().join(",")
    }

    fn case(
        &self,
        operand: Option<&Ast>,
        whens: &[(Ast, Ast)],
        otherwise: Option<&Ast>,
    ) -> Printed {
        let mut s = String::from("case ");
        if let Some(o) = operand {
            let _ = write!(s, "{} ", self.print(o).left(level::WHOLE));
        }
        for (when, then) in whens {
            let _ = write!(s, "when {} then {} ", self.text(when), self.text(then));
        }
        if let Some(e) = otherwise {
            let _ = write!(s, "else {} ", self.text(e));
        }
        s.push_str("end");
        Printed::whole(s)
    }

    /// The operands of an AND or OR as MySQL prints them, however they were put together.
    fn mysql_chain(&self, of: B, word: &str, e: &Ast, out: &mut String) {
        match e {
            Ast::Nested(e) => self.mysql_chain(of, word, e, out),
            Ast::Binary { left, op, right } if *op == of => {
                self.mysql_chain(of, word, left, out);
                self.mysql_chain(of, word, right, out);
            }
            e => {
                if !out.is_empty() {
                    let _ = write!(out, " {word} ");
                }
                out.push_str(&self.condition(e).text);
            }
        }
    }

    fn binary(&self, left: &Ast, op: B, right: &Ast) -> Printed {
        if let (true, B::And | B::Or) = (self.mysql, op) {
            let (level, word) = match op {
                B::And => (level::AND, "and"),
                _ => (level::OR, "or"),
            };
            let mut text = String::new();
            self.mysql_chain(op, word, left, &mut text);
            self.mysql_chain(op, word, right, &mut text);
            return Printed::at(level, text);
        }
        if let (B::Add | B::Sub, Ast::Interval { value, unit }) = (op, right) {
            return self.add_interval(left, value, *unit, op == B::Sub);
        }
        if let (B::Add, Ast::Interval { value, unit }) = (op, left) {
            return self.add_interval(right, value, *unit, false);
        }
        let (level, word) = match op {
            B::And => {
                return chain(
                    level::AND,
                    self.condition(left),
                    "and",
                    self.condition(right),
                );
            }
            B::Or => return chain(level::OR, self.condition(left), "or", self.condition(right)),
            B::Concat => return self.call("concat", &[left, right]),
            B::SoundsLike => {
                let sound = |e: &Ast| self.call("soundex", &[e]);
                return infix(level::COMPARE, sound(left), "=", sound(right));
            }
            op => infix_word(op),
        };
        infix(level, self.print(left), word, self.print(right))
    }

    fn quantified(&self, left: &Ast, op: B, all: bool, query: usize) -> Printed {
        if op == B::Eq && !all {
            return infix(level::IN, self.print(left), "in", self.subquery(query));
        }
        let word = format!("{} {}", infix_word(op).1, if all { "all" } else { "any" });
        infix(
            level::COMPARE,
            self.print(left),
            &word,
            self.subquery(query),
        )
    }

    fn system_variable(&self, v: &narwal_syntax::ast::SystemVar) -> String {
        let scope = match v.scope {
            Some(VarScope::Global) => "global.",
            Some(VarScope::Session | VarScope::Local) | None => "",
        };
        let base = v.base.as_ref().map_or(String::new(), |b| format!("{b}."));
        format!("@@{scope}{base}{}", v.name.to_ascii_lowercase())
    }

    fn unary(&self, op: U, e: &Ast) -> Printed {
        let signed = |sign: &str| {
            if self.mysql {
                return match e {
                    Ast::Literal(_) => Printed::whole(format!("{sign}{}", self.text(e))),
                    e => Printed::whole(format!("{sign}({})", self.text(e))),
                };
            }
            let text = format!("{sign}{}", self.print(e).left(level::NEGATE));
            Printed::at(level::NEGATE, text)
        };
        match op {
            U::Minus if !self.mysql && number(e).is_some() => Printed::whole(minus(e)),
            U::Minus => signed("-"),
            U::Plus => self.print(e),
            U::BitNot => signed("~"),
            U::Not | U::Bang => self.negated(e),
            U::Binary => {
                let ty = cast_type(&CastType::Binary(None));
                Printed::whole(format!("cast({} as {ty})", self.text(e)))
            }
        }
    }

    fn regexp(&self, e: &Ast, negated: bool, pattern: &Ast) -> Printed {
        let p = match self.mysql {
            true => self.call("regexp_like", &[e, pattern]),
            false => infix(level::IN, self.print(e), "regexp", self.print(pattern)),
        };
        match negated {
            true => self.bang(p),
            false => p,
        }
    }

    fn collate(&self, e: &Ast, collation: &str) -> Printed {
        let text = self.print(e).left(level::COLLATE);
        let collation = collation.to_ascii_lowercase();
        Printed::at(level::COLLATE, format!("{text} collate {collation}"))
    }

    /// An expression as the server prints it: in MySQL each operator has its own parentheses, and texts their character set.
    fn print(&self, e: &Ast) -> Printed {
        match e {
            _ if !self.mysql => self.print_plain(e),
            Ast::Nested(e) => self.print(e),
            Ast::Literal(l @ (Literal::String(_) | Literal::National(_))) => {
                Printed::whole(format!("_utf8mb4{}", value(l)))
            }
            Ast::Collate { .. } => self.print_plain(e),
            Ast::Case { .. } => Printed::whole(format!("({})", self.print_plain(e).text)),
            e => match self.print_plain(e) {
                p if p.level < level::WHOLE => Printed::whole(format!("({})", p.text)),
                p => p,
            },
        }
    }

    /// An expression as MariaDB prints it.
    fn print_plain(&self, e: &Ast) -> Printed {
        match e {
            Ast::Nested(e) => self.print(e),
            Ast::Literal(l) => Printed::whole(value(l)),
            Ast::Param(_) => Printed::whole("?"),
            Ast::Column(name) => Printed::whole(crate::quote::quote_ident(name)),
            Ast::Qualified(q) => Printed::whole(qualified(q)),
            Ast::CursorAttribute(name, _) => Printed::whole(crate::quote::quote_ident(name)),
            Ast::UserVar(name) => Printed::whole(format!("@`{name}`")),
            Ast::SystemVar(v) => Printed::whole(self.system_variable(v)),
            Ast::Assign { name, value } => {
                Printed::at(level::OR, format!("@`{name}`:={}", self.text(value)))
            }
            Ast::Default(c) => self.call("default", &[c]),
            Ast::Values(c) => self.call("value", &[c]),
            Ast::Quantified {
                left,
                op,
                all,
                query,
            } => self.quantified(left, *op, *all, *query),
            Ast::Unary { op, expr } => self.unary(*op, expr),
            Ast::Binary { left, op, right } => self.binary(left, *op, right),
            Ast::Is {
                expr,
                what,
                negated,
            } => self.is(expr, *what, *negated),
            Ast::Between {
                expr,
                negated,
                low,
                high,
            } => self.between(expr, *negated, low, high),
            Ast::InList {
                expr,
                list,
                negated,
            } => self.in_list(expr, list, *negated),
            Ast::InQuery {
                expr,
                query,
                negated,
            } => self.in_query(expr, *query, *negated),
            Ast::Like {
                negated,
                expr,
                pattern,
                escape,
            } => self.like(expr, *negated, pattern, escape.as_deref()),
            Ast::Regexp {
                negated,
                expr,
                pattern,
            } => self.regexp(expr, *negated, pattern),
            Ast::Case {
                operand,
                whens,
                otherwise,
            } => self.case(operand.as_deref(), whens, otherwise.as_deref()),
            Ast::Cast { expr, ty } => {
                Printed::whole(format!("cast({} as {})", self.text(expr), cast_type(ty)))
            }
            Ast::ConvertUsing { expr, charset } => Printed::whole(format!(
                "convert({} using {})",
                self.text(expr),
                set_name(charset)
            )),
            Ast::Collate { expr, collation } => self.collate(expr, collation),
            Ast::Temporal { kind, text, .. } => temporal(*kind, text),
            Ast::Introduced {
                value: Literal::NullText,
                ..
            } => Printed::whole(value(&Literal::NullText)),
            Ast::Introduced { charset, value: v } => {
                // Bytes are shown as the text that they are, where they are one.
                let text = literal_bytes(v).and_then(|b| String::from_utf8(b).ok());
                let v = text.map_or_else(|| value(v), |t| quote(&t));
                // Digits would be part of the name.
                let space = if v.starts_with(['\'', '"']) { "" } else { " " };
                Printed::whole(format!("_{}{space}{v}", set_name(charset)))
            }
            Ast::Interval { value, unit } => {
                Printed::whole(format!("interval {} {}", self.text(value), unit.name()))
            }
            Ast::Row(items) => Printed::whole(format!("({})", self.list(items))),
            Ast::Subquery(n) => self.subquery(*n),
            Ast::Exists(n) => Printed::whole(format!("exists({})", (self.query)(*n))),
            Ast::Call(c) if !c.parens => {
                Printed::whole(format!("{}()", printed_name(&c.name.to_ascii_lowercase())))
            }
            Ast::Call(c) => self.function(c),
            Ast::Special(s) => self.special(s),
        }
    }
}

fn temporal(kind: TemporalKind, text: &str) -> Printed {
    let kind = match kind {
        TemporalKind::Date => "DATE",
        TemporalKind::Time => "TIME",
        TemporalKind::Timestamp => "TIMESTAMP",
    };
    Printed::whole(format!("{kind}{}", quote(text)))
}

/// How tightly an operator's text holds together, and its word. Not for AND, OR and those that are printed as calls.
fn infix_word(op: B) -> (u8, &'static str) {
    match op {
        B::Xor => (level::XOR, "xor"),
        B::Eq => (level::COMPARE, "="),
        B::Ne => (level::COMPARE, "<>"),
        B::Lt => (level::COMPARE, "<"),
        B::Le => (level::COMPARE, "<="),
        B::Gt => (level::COMPARE, ">"),
        B::Ge => (level::COMPARE, ">="),
        B::NullSafeEq => (level::COMPARE, "<=>"),
        B::BitOr => (level::BIT_OR, "|"),
        B::BitAnd => (level::BIT_AND, "&"),
        B::Shl => (level::SHIFT, "<<"),
        B::Shr => (level::SHIFT, ">>"),
        B::BitXor => (level::BIT_XOR, "^"),
        B::Add => (level::ADD, "+"),
        B::Sub => (level::ADD, "-"),
        B::Mul => (level::MULTIPLY, "*"),
        B::Div => (level::MULTIPLY, "/"),
        B::Mod => (level::MULTIPLY, "MOD"),
        B::IntDiv => (level::MULTIPLY, "DIV"),
        B::And => (level::AND, "and"),
        B::Or => (level::OR, "or"),
        B::SoundsLike => (level::COMPARE, "sounds like"),
        B::Concat => (level::WHOLE, "||"),
    }
}

/// An expression without subqueries as MariaDB prints it.
pub fn print(e: &Ast) -> String {
    Printer {
        query: &|_| String::new(),
        view: false,
        mysql: false,
    }
    .text(e)
}

/// The same in a view's SELECT; `query` gives the text of a subquery by its number.
pub fn print_with(e: &Ast, query: &dyn Fn(usize) -> String) -> String {
    Printer {
        query,
        view: true,
        mysql: false,
    }
    .text(e)
}

/// As [`print_with`], of a condition.
pub fn print_condition(e: &Ast, query: &dyn Fn(usize) -> String) -> String {
    Printer {
        query,
        view: true,
        mysql: false,
    }
    .condition(e)
    .text
}

/// The same as MySQL prints it.
pub fn print_mysql(e: &Ast) -> String {
    Printer {
        query: &|_| String::new(),
        view: false,
        mysql: true,
    }
    .text(e)
}

/// The text of a DEFAULT: in parentheses unless it is a plain call or a name.
pub fn print_default(e: &Ast) -> String {
    let p = Printer {
        query: &|_| String::new(),
        view: false,
        mysql: false,
    }
    .print(e);
    let bare = p.level == level::WHOLE
        && !p.text.starts_with("case ")
        && (!is_truth(e) || is_address_test(e))
        && (!["cast(", "column_get("]
            .iter()
            .any(|t| p.text.starts_with(t))
            || [" as date)", " as time)"]
                .iter()
                .any(|t| p.text.ends_with(t))
            || p.text.contains(" as datetime"));
    if bare || number(e).is_some() {
        p.text
    } else {
        format!("({})", p.text)
    }
}
