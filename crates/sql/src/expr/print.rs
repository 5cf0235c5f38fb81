//! Parsed expressions as MariaDB prints them again: the text that CHECK constraints, generated columns and DEFAULT
//! expressions are kept as, and that SHOW CREATE TABLE and information_schema show.
//!
//! It is SQL that means the same under any `sql_mode`: names in backticks, strings in single quotes with escapes, functions by
//! the one name that MariaDB prints, parentheses where the precedence of operators asks for them.

use sqlparser::ast::{
    self, BinaryOperator as B, CaseWhen, CastKind, CeilFloorKind, CharacterLength, DataType,
    ExactNumberInfo, Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArguments, Ident, TrimWhereField, UnaryOperator as U, Value as AstValue,
};
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
pub struct Printed {
    /// The text.
    pub text: String,
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

fn name(i: &Ident) -> String {
    if i.value.starts_with('@') && i.quote_style.is_none() {
        if i.value.starts_with("@@") {
            return i.value.clone();
        }
        return format!("@`{}`", i.value[1..].trim_matches(['`', '\'', '"']));
    }
    crate::show::quote_ident(&i.value)
}

/// True if the value is a truth value already, so that AND and OR take it as it stands.
fn is_truth(e: &Ast) -> bool {
    match e {
        Ast::Nested(e) => is_truth(e),
        Ast::BinaryOp { op, .. } => matches!(
            op,
            B::Eq
                | B::NotEq
                | B::Lt
                | B::LtEq
                | B::Gt
                | B::GtEq
                | B::Spaceship
                | B::And
                | B::Or
                | B::Xor
                | B::PGOverlap
                | B::StringConcat
                | B::Regexp
        ),
        Ast::UnaryOp { op, .. } => matches!(op, U::Not | U::BangNot),
        Ast::Between { .. }
        | Ast::InList { .. }
        | Ast::Like { .. }
        | Ast::RLike { .. }
        | Ast::IsNull(_)
        | Ast::IsNotNull(_)
        | Ast::IsUnknown(_)
        | Ast::IsNotUnknown(_)
        | Ast::IsTrue(_)
        | Ast::IsNotTrue(_)
        | Ast::IsFalse(_)
        | Ast::IsNotFalse(_)
        | Ast::AnyOp { .. }
        | Ast::AllOp { .. } => true,
        Ast::Value(v) => matches!(&v.value, AstValue::Placeholder(p) if p.starts_with("exists")),
        Ast::Function(f) => is_truth_function(&function_name(f)),
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

/// The name of a called function in lower case.
pub fn function_name(f: &ast::Function) -> String {
    f.name
        .0
        .iter()
        .map(|p| {
            p.as_ident()
                .map_or_else(|| p.to_string(), |i| i.value.clone())
        })
        .collect::<Vec<_>>()
        .join(".")
        .to_ascii_lowercase()
}

/// The plain arguments of a call.
pub fn arguments(f: &ast::Function) -> Vec<&Ast> {
    match &f.args {
        FunctionArguments::List(l) => l
            .args
            .iter()
            .filter_map(|a| match a {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn list<'a>(items: impl IntoIterator<Item = &'a Ast>) -> String {
    items
        .into_iter()
        .map(|e| print(e).text)
        .collect::<Vec<_>>()
        .join(",")
}

/// A condition: what is no truth value is compared with 0.
fn condition(e: &Ast) -> Printed {
    if is_truth(e) {
        return print(e);
    }
    Printed::at(
        level::COMPARE,
        format!("{} <> 0", print(e).left(level::COMPARE)),
    )
}

/// NOT of an expression, as far inside as it goes.
fn negated(e: &Ast) -> Printed {
    let compare = |l: &Ast, op: &str, r: &Ast| infix(level::COMPARE, print(l), op, print(r));
    match e {
        Ast::Nested(e) => negated(e),
        Ast::UnaryOp {
            op: U::Not | U::BangNot,
            expr,
        } => condition(expr),
        Ast::BinaryOp { left, op, right } => match op {
            B::Eq => compare(left, "<>", right),
            B::NotEq => compare(left, "=", right),
            B::Lt => compare(left, ">=", right),
            B::LtEq => compare(left, ">", right),
            B::Gt => compare(left, "<=", right),
            B::GtEq => compare(left, "<", right),
            B::And | B::PGOverlap => chain(level::OR, negated(left), "or", negated(right)),
            B::Or | B::StringConcat => chain(level::AND, negated(left), "and", negated(right)),
            _ if is_truth(e) => {
                Printed::at(level::NEGATE, format!("!{}", print(e).left(level::NEGATE)))
            }
            _ => Printed::at(
                level::COMPARE,
                format!("{} = 0", print(e).left(level::COMPARE)),
            ),
        },
        Ast::Between {
            expr,
            negated,
            low,
            high,
        } => between(expr, !negated, low, high),
        Ast::InList {
            expr,
            list,
            negated,
        } => in_list(expr, list, !negated),
        Ast::Like {
            negated,
            expr,
            pattern,
            escape_char,
            ..
        } => like(expr, !negated, pattern, escape_char.as_deref()),
        Ast::IsNull(e) | Ast::IsUnknown(e) => is(e, "is not null"),
        Ast::IsNotNull(e) | Ast::IsNotUnknown(e) => is(e, "is null"),
        Ast::IsTrue(e) => is(e, "is not true"),
        Ast::IsNotTrue(e) => is(e, "is true"),
        Ast::IsFalse(e) => is(e, "is not false"),
        Ast::IsNotFalse(e) => is(e, "is false"),
        Ast::Function(f) if function_name(f) == "isnull" && arguments(f).len() == 1 => {
            is(arguments(f)[0], "is not null")
        }
        _ if is_truth(e) => {
            Printed::at(level::NEGATE, format!("!{}", print(e).left(level::NEGATE)))
        }
        _ => Printed::at(
            level::COMPARE,
            format!("{} = 0", print(e).left(level::COMPARE)),
        ),
    }
}

fn is(e: &Ast, what: &str) -> Printed {
    Printed::at(
        level::COMPARE,
        format!("{} {what}", print(e).left(level::COMPARE)),
    )
}

fn infix(level: u8, l: Printed, op: &str, r: Printed) -> Printed {
    Printed::at(level, format!("{} {op} {}", l.left(level), r.right(level)))
}

/// AND and OR are lists: equal operators need no parentheses on either side.
fn chain(level: u8, l: Printed, op: &str, r: Printed) -> Printed {
    Printed::at(level, format!("{} {op} {}", l.left(level), r.left(level)))
}

fn between(e: &Ast, negated: bool, low: &Ast, high: &Ast) -> Printed {
    let not = if negated { " not" } else { "" };
    Printed::at(
        level::BETWEEN,
        format!(
            "{}{not} between {} and {}",
            print(e).left(level::BETWEEN),
            print(low).right(level::BETWEEN),
            print(high).right(level::BETWEEN)
        ),
    )
}

fn in_list(e: &Ast, items: &[Ast], negated: bool) -> Printed {
    if let [one] = items
        && is_query(one)
    {
        let p = infix(level::IN, print(e), "in", print(one));
        if negated {
            return Printed::at(level::NEGATE, format!("!{}", p.left(level::NEGATE)));
        }
        return p;
    }
    if let [one] = items {
        let op = if negated { "<>" } else { "=" };
        return infix(level::COMPARE, print(e), op, print(one));
    }
    let not = if negated { " not" } else { "" };
    Printed::at(
        level::IN,
        format!("{}{not} in ({})", print(e).left(level::IN), list(items)),
    )
}

/// A subquery: a placeholder with its text.
fn is_query(e: &Ast) -> bool {
    match e {
        Ast::Nested(e) => is_query(e),
        Ast::Value(v) => matches!(&v.value, AstValue::Placeholder(p) if p.starts_with('(')),
        _ => false,
    }
}

fn like(e: &Ast, negated: bool, pattern: &Ast, escape: Option<&Ast>) -> Printed {
    // Two blanks, as MariaDB has them.
    let not = if negated { " not " } else { "" };
    let mut text = format!(
        "{} {not}like {}",
        print(e).left(level::IN),
        print(pattern).right(level::IN)
    );
    if let Some(c) = escape {
        let _ = write!(text, " escape {}", print(c).text);
    }
    Printed::at(level::IN, text)
}

fn add_interval(date: &Ast, i: &ast::Interval, minus: bool) -> Printed {
    let unit = i
        .leading_field
        .as_ref()
        .map_or_else(|| "second".to_string(), |u| u.to_string());
    interval(date, &print(&i.value).right(level::INTERVAL), &unit, minus)
}

fn interval(date: &Ast, amount: &str, unit: &str, minus: bool) -> Printed {
    Printed::at(
        level::ADD,
        format!(
            "{} {} interval {amount} {}",
            print(date).left(level::INTERVAL),
            if minus { '-' } else { '+' },
            unit.to_ascii_lowercase()
        ),
    )
}

fn value(v: &AstValue) -> Printed {
    Printed::whole(match v {
        AstValue::Number(n, _) => n.clone(),
        AstValue::SingleQuotedString(s)
        | AstValue::DoubleQuotedString(s)
        | AstValue::EscapedStringLiteral(s)
        | AstValue::NationalStringLiteral(s)
        | AstValue::UnicodeStringLiteral(s) => quote(s),
        AstValue::HexStringLiteral(s) => format!("0x{}", s.to_ascii_lowercase()),
        AstValue::SingleQuotedByteStringLiteral(s) => bits(s),
        AstValue::Boolean(b) => u8::from(*b).to_string(),
        AstValue::Null => "NULL".to_string(),
        other => other.to_string(),
    })
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

/// A type in CAST.
fn cast_type(t: &DataType) -> String {
    let chars = |l: &Option<CharacterLength>| match l {
        Some(CharacterLength::IntegerLength { length, .. }) => format!("({length})"),
        _ => String::new(),
    };
    match t {
        DataType::Char(l) | DataType::Character(l) | DataType::Varchar(l) => {
            format!("char{} charset utf8mb4", chars(l))
        }
        DataType::Text => "char charset utf8mb4".to_string(),
        DataType::Binary(l) => format!(
            "char{} charset binary",
            l.map_or(String::new(), |n| format!("({n})"))
        ),
        DataType::Signed
        | DataType::SignedInteger
        | DataType::Int(None)
        | DataType::Integer(None)
        | DataType::BigInt(None) => "signed".to_string(),
        DataType::Unsigned | DataType::UnsignedInteger => "unsigned".to_string(),
        DataType::Decimal(i) | DataType::Dec(i) | DataType::Numeric(i) => match i {
            ExactNumberInfo::None => "decimal(10,0)".to_string(),
            ExactNumberInfo::Precision(p) => format!("decimal({p},0)"),
            ExactNumberInfo::PrecisionAndScale(p, s) => format!("decimal({p},{s})"),
        },
        DataType::Double(_) | DataType::DoublePrecision | DataType::Real => "double".to_string(),
        other => other.to_string().to_ascii_lowercase(),
    }
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
        n => n,
    }
}

fn call(name: &str, args: &[&Ast]) -> Printed {
    Printed::whole(format!("{name}({})", list(args.iter().copied())))
}

/// A call of an aggregate function with its clauses.
fn aggregate(name: &str, f: &ast::Function, args: &[&Ast]) -> String {
    let name = match name {
        "stddev" | "stddev_pop" => "std",
        "var_pop" => "variance",
        n => n,
    };
    let FunctionArguments::List(l) = &f.args else {
        return format!("{name}()");
    };
    // What COUNT(*) counts is never NULL.
    let all = args.is_empty() && !l.args.is_empty();
    let mut s = format!("{name}(");
    if l.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct) {
        s.push_str("distinct ");
    }
    s.push_str(&match all {
        true => "0".to_string(),
        false => list(args.iter().copied()),
    });
    let mut separated = name != "group_concat";
    let mut limit = String::new();
    for c in &l.clauses {
        match c {
            FunctionArgumentClause::OrderBy(keys) => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|k| {
                        let way = match k.options.sort {
                            Some(ast::OrderBySort::Desc) => "DESC",
                            _ => "ASC",
                        };
                        format!("{} {way}", print(&k.expr).text)
                    })
                    .collect();
                let _ = write!(s, " order by {}", keys.join(","));
            }
            FunctionArgumentClause::Separator(v) => {
                separated = true;
                let _ = write!(s, " separator {}", value(&v.value).text);
            }
            FunctionArgumentClause::Limit(n) => {
                limit = format!(" limit {}", print(n).text);
            }
            _ => {}
        }
    }
    if !separated {
        s.push_str(" separator ','");
    }
    s.push_str(&limit);
    s.push(')');
    s
}

fn function(f: &ast::Function) -> Printed {
    let name = function_name(f);
    let args = arguments(f);
    if super::AggFunc::named(&name).is_some() {
        return Printed::whole(aggregate(&name, f, &args));
    }
    match (name.as_str(), args.as_slice()) {
        ("mod", [a, b]) => infix(level::MULTIPLY, print(a), "MOD", print(b)),
        ("isnull", [a]) => is(a, "is null"),
        ("date", [a]) => Printed::whole(format!("cast({} as date)", print(a).text)),
        ("time", [a]) => Printed::whole(format!("cast({} as time)", print(a).text)),
        ("round", [a]) => Printed::whole(format!("round({},0)", print(a).text)),
        ("instr", [a, b]) => call("locate", &[b, a]),
        ("datediff", [a, b]) => Printed::at(
            level::ADD,
            format!("to_days({}) - to_days({})", print(a).text, print(b).text),
        ),
        ("date_add" | "adddate", [d, Ast::Interval(i)]) => add_interval(d, i, false),
        ("date_sub" | "subdate", [d, Ast::Interval(i)]) => add_interval(d, i, true),
        ("adddate", [d, n]) => interval(d, &print(n).right(level::INTERVAL), "day", false),
        ("subdate", [d, n]) => interval(d, &print(n).right(level::INTERVAL), "day", true),
        ("timestampadd", [Ast::Identifier(u), n, d]) => {
            interval(d, &print(n).right(level::INTERVAL), &u.value, false)
        }
        ("timestampdiff", [Ast::Identifier(u), a, b]) => Printed::whole(format!(
            "timestampdiff({},{},{})",
            u.value.to_ascii_uppercase(),
            print(a).text,
            print(b).text
        )),
        ("nextval" | "lastval" | "setval", [db, sequence, numbers @ ..]) => {
            let mut text = format!(
                "{name}({}.{}",
                crate::show::quote_ident(literal_text(db)),
                crate::show::quote_ident(literal_text(sequence))
            );
            for n in numbers {
                text.push(',');
                text.push_str(&print(n).text);
            }
            text.push(')');
            Printed::whole(text)
        }
        _ => call(printed_name(&name), &args),
    }
}

/// The text of a string literal.
pub fn literal_text(e: &Ast) -> &str {
    match e {
        Ast::Value(v) => match &v.value {
            AstValue::SingleQuotedString(s) => s,
            _ => "",
        },
        _ => "",
    }
}

fn case(operand: Option<&Ast>, whens: &[CaseWhen], otherwise: Option<&Ast>) -> Printed {
    let mut s = String::from("case ");
    if let Some(o) = operand {
        let _ = write!(s, "{} ", print(o).text);
    }
    for w in whens {
        let _ = write!(
            s,
            "when {} then {} ",
            print(&w.condition).text,
            print(&w.result).text
        );
    }
    if let Some(e) = otherwise {
        let _ = write!(s, "else {} ", print(e).text);
    }
    s.push_str("end");
    Printed::whole(s)
}

/// An expression as MariaDB prints it.
pub fn print(e: &Ast) -> Printed {
    let unary = |sign: &str, e: &Ast| {
        Printed::at(
            level::NEGATE,
            format!("{sign}{}", print(e).left(level::NEGATE)),
        )
    };
    match e {
        Ast::Nested(e) => print(e),
        Ast::Value(v) => value(&v.value),
        Ast::Identifier(i) => match i.value.to_ascii_lowercase().as_str() {
            n @ ("current_timestamp" | "localtime" | "localtimestamp" | "current_date"
            | "current_time" | "utc_timestamp" | "utc_date" | "utc_time" | "current_user")
                if i.quote_style.is_none() =>
            {
                Printed::whole(format!("{}()", printed_name(n)))
            }
            _ => Printed::whole(name(i)),
        },
        Ast::CompoundIdentifier(parts)
            if parts.first().is_some_and(|p| p.value.starts_with('@')) =>
        {
            Printed::whole(e.to_string())
        }
        Ast::CompoundIdentifier(parts) => {
            Printed::whole(parts.iter().map(name).collect::<Vec<_>>().join("."))
        }
        Ast::AnyOp {
            left,
            compare_op: B::Eq,
            right,
            ..
        } => infix(level::IN, print(left), "in", print(right)),
        Ast::AnyOp {
            left,
            compare_op,
            right,
            ..
        } => infix(
            level::COMPARE,
            print(left),
            &format!("{compare_op} any"),
            print(right),
        ),
        Ast::AllOp {
            left,
            compare_op,
            right,
        } => infix(
            level::COMPARE,
            print(left),
            &format!("{compare_op} all"),
            print(right),
        ),
        Ast::UnaryOp { op, expr } => match op {
            U::Minus => unary("-", expr),
            U::Plus => print(expr),
            U::BitwiseNot => unary("~", expr),
            U::Not | U::BangNot => negated(expr),
            op => unary(&op.to_string(), expr),
        },
        Ast::BinaryOp { left, op, right } => {
            if let (B::Plus | B::Minus, Ast::Interval(i)) = (op, &**right) {
                return add_interval(left, i, *op == B::Minus);
            }
            if let (B::Plus, Ast::Interval(i)) = (op, &**left) {
                return add_interval(right, i, false);
            }
            let plain = |level, op: &str| infix(level, print(left), op, print(right));
            match op {
                B::And | B::PGOverlap => {
                    chain(level::AND, condition(left), "and", condition(right))
                }
                B::Or | B::StringConcat => {
                    chain(level::OR, condition(left), "or", condition(right))
                }
                B::Xor => plain(level::XOR, "xor"),
                B::Eq => plain(level::COMPARE, "="),
                B::NotEq => plain(level::COMPARE, "<>"),
                B::Lt => plain(level::COMPARE, "<"),
                B::LtEq => plain(level::COMPARE, "<="),
                B::Gt => plain(level::COMPARE, ">"),
                B::GtEq => plain(level::COMPARE, ">="),
                B::Spaceship => plain(level::COMPARE, "<=>"),
                B::Regexp => plain(level::IN, "regexp"),
                B::BitwiseOr => plain(level::BIT_OR, "|"),
                B::BitwiseAnd => plain(level::BIT_AND, "&"),
                B::PGBitwiseShiftLeft => plain(level::SHIFT, "<<"),
                B::PGBitwiseShiftRight => plain(level::SHIFT, ">>"),
                B::BitwiseXor => plain(level::BIT_XOR, "^"),
                B::Plus => plain(level::ADD, "+"),
                B::Minus => plain(level::ADD, "-"),
                B::Multiply => plain(level::MULTIPLY, "*"),
                B::Divide => plain(level::MULTIPLY, "/"),
                B::Modulo => plain(level::MULTIPLY, "MOD"),
                B::MyIntegerDivide => plain(level::MULTIPLY, "DIV"),
                op => plain(level::COMPARE, &op.to_string()),
            }
        }
        Ast::IsNull(e) | Ast::IsUnknown(e) => is(e, "is null"),
        Ast::IsNotNull(e) | Ast::IsNotUnknown(e) => is(e, "is not null"),
        Ast::IsTrue(e) => is(e, "is true"),
        Ast::IsNotTrue(e) => is(e, "is not true"),
        Ast::IsFalse(e) => is(e, "is false"),
        Ast::IsNotFalse(e) => is(e, "is not false"),
        Ast::Between {
            expr,
            negated,
            low,
            high,
        } => between(expr, *negated, low, high),
        Ast::InList {
            expr,
            list,
            negated,
        } => in_list(expr, list, *negated),
        Ast::Like {
            negated,
            expr,
            pattern,
            escape_char,
            ..
        } => like(expr, *negated, pattern, escape_char.as_deref()),
        Ast::RLike {
            negated,
            expr,
            pattern,
            ..
        } => {
            let p = infix(level::IN, print(expr), "regexp", print(pattern));
            if *negated {
                return Printed::at(level::NEGATE, format!("!{}", p.left(level::NEGATE)));
            }
            p
        }
        Ast::Case {
            operand,
            conditions,
            else_result,
            ..
        } => case(operand.as_deref(), conditions, else_result.as_deref()),
        Ast::Cast {
            kind: CastKind::Cast,
            expr,
            data_type,
            ..
        } => Printed::whole(format!(
            "cast({} as {})",
            print(expr).text,
            cast_type(data_type)
        )),
        Ast::Convert {
            expr,
            data_type,
            charset,
            ..
        } => Printed::whole(match (data_type, charset) {
            (None, Some(cs))
                if let Ast::Cast {
                    expr, data_type, ..
                } = &**expr =>
            {
                let to = cast_type(data_type);
                let to = to.split(" charset ").next().unwrap_or_default();
                format!(
                    "cast({} as {to} charset {})",
                    print(expr).text,
                    cs.to_string().to_ascii_lowercase()
                )
            }
            (None, Some(cs)) => {
                format!(
                    "convert({} using {})",
                    print(expr).text,
                    cs.to_string().to_ascii_lowercase()
                )
            }
            (Some(t), _) => format!("cast({} as {})", print(expr).text, cast_type(t)),
            _ => e.to_string(),
        }),
        Ast::Collate { expr, collation } => Printed::at(
            level::COLLATE,
            format!(
                "{} collate {}",
                print(expr).left(level::COLLATE),
                collation.to_string().to_ascii_lowercase()
            ),
        ),
        Ast::TypedString(t) => Printed::whole(format!(
            "{}{}",
            t.data_type.to_string().to_ascii_uppercase(),
            value(&t.value.value).text
        )),
        Ast::Prefixed { prefix, value } => Printed::whole(format!(
            "{}{}",
            prefix.value.to_ascii_lowercase(),
            print(value).text
        )),
        Ast::Function(f) => function(f),
        Ast::Ceil { expr, field } => Printed::whole(scaled("ceiling", expr, field)),
        Ast::Floor { expr, field } => Printed::whole(scaled("floor", expr, field)),
        Ast::Position { expr, r#in } => call("locate", &[expr, r#in]),
        Ast::Substring {
            expr,
            substring_from,
            substring_for,
            ..
        } => Printed::whole(format!(
            "substr({})",
            list(
                std::iter::once(&**expr)
                    .chain(substring_from.as_deref())
                    .chain(substring_for.as_deref())
            )
        )),
        Ast::Trim {
            trim_where,
            trim_what,
            expr,
            ..
        } => {
            let e = print(expr).text;
            let side = match trim_where {
                Some(TrimWhereField::Leading) => "leading ",
                Some(TrimWhereField::Trailing) => "trailing ",
                Some(TrimWhereField::Both) => "both ",
                None => "",
            };
            Printed::whole(match (trim_what, trim_where) {
                (Some(w), _) => format!("trim({side}{} from {e})", print(w).text),
                (None, Some(TrimWhereField::Leading)) => format!("ltrim({e})"),
                (None, Some(TrimWhereField::Trailing)) => format!("rtrim({e})"),
                (None, _) => format!("trim({e})"),
            })
        }
        Ast::Extract { field, expr, .. } => Printed::whole(format!(
            "extract({} from {})",
            field.to_string().to_ascii_lowercase(),
            print(expr).text
        )),
        Ast::Tuple(items) => Printed::whole(format!("({})", list(items))),
        other => Printed::whole(other.to_string()),
    }
}

fn scaled(name: &str, e: &Ast, field: &CeilFloorKind) -> String {
    match field {
        CeilFloorKind::Scale(s) => format!("{name}({},{})", print(e).text, s),
        CeilFloorKind::DateTimeField(_) => format!("{name}({})", print(e).text),
    }
}

/// The text of a DEFAULT: in parentheses unless it is a plain call or a name.
pub fn print_default(e: &Ast) -> String {
    let p = print(e);
    let bare = p.level == level::WHOLE
        && !p.text.starts_with("case ")
        && !is_truth(e)
        && (!p.text.starts_with("cast(")
            || [" as date)", " as time)"]
                .iter()
                .any(|t| p.text.ends_with(t))
            || p.text.contains(" as datetime"));
    if bare {
        p.text
    } else {
        format!("({})", p.text)
    }
}
