//! From parsed expressions to bound ones: names to positions, operators to nodes, constants to values.

use crate::bind::bits;
use crate::bind::meet;
use crate::bind::operand::{as_subquery, in_name, not_a_row, row_items, wrong_columns};
use crate::bind::param::no_default_here;
use crate::bind::scope::{Clause, Scope, Source};
use crate::bind::short_year;
use crate::bind::user_variable;
use crate::env::{FunctionParameter, STORED_FUNCTIONS, StatementEnv, VariableScope};
use crate::expr::IntervalUnit;
use crate::expr::fixed;
use crate::expr::func::Func;
use crate::expr::functions;
use crate::expr::functions::json;
use crate::expr::functions::passed_on::into_column;
use crate::expr::functions::regexp::check_pattern;
use crate::expr::functions::typing::{is_sum, sum_digits};
use crate::expr::locale::Locale;
use crate::expr::node::make;
use crate::expr::node::{
    AggFunc, ArithOp, CmpOp, Coercibility, Expr, ExprKind, ExprType, SubqueryUse,
};
use crate::expr::node::{Function, Results, StoredCall, Takes, Typing};
use crate::expr::node::{NO_LENGTH, NOT_FIXED};
use crate::expr::types;
use crate::expr::types::bool_ty;
use crate::expr::value::rounds;
use crate::literal::{negate_literal, number};
use crate::lower::{charset, mismatched_collation};
use crate::privilege::{ColumnUses, Needs, Privilege};
use narwal_syntax::ast::{
    self, BinaryOp, Call, CastType, Expr as Ast, FormatKind, FunctionSchema, IsTest, Literal,
    Qualified, Special, SystemVar, TableName, TemporalKind, TrimSide, UnaryOp, VarScope,
};
use narwal_syntax::{Kw, SqlMode};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::temporal_parse::{DateRules, parse_datetime, parse_time};
use narwal_types::{
    Charset, Collation, ColumnType, Decimal, FixedKind, Name, SqlError, SqlResult, TypeKind, Value,
};
use std::borrow::Cow;

/// Binds a parsed expression in a scope.
pub fn bind(ast: &Ast, scope: &Scope<'_>) -> SqlResult<Expr> {
    Binder { scope }.expr(ast)
}

/// Binds a condition: what counts of its value is whether it is true.
pub fn bind_condition(ast: &Ast, scope: &Scope<'_>) -> SqlResult<Expr> {
    Binder { scope }.condition(ast)
}

pub(super) struct Binder<'a> {
    pub(super) scope: &'a Scope<'a>,
}

/// An operand of which counts whether it is true.
fn as_truth(e: Expr) -> Expr {
    variable_as_number(bits::as_number(json::as_truth(e)))
}

/// The text of a user variable, where a number is wanted.
fn variable_as_number(e: Expr) -> Expr {
    if !e.is_user_variable() || !e.ty.is_string() {
        return e;
    }
    let ty = e.ty;
    let func = &functions::control::NUMBER_OF;
    make(
        ExprKind::Func {
            func,
            args: vec![e],
        },
        ty,
    )
}

/// Note 1287.
fn note_deprecated(what: &str, env: &StatementEnv) {
    let note = errors::WARN_DEPRECATED_SYNTAX.with([&what]);
    env.note(note.code, note.message);
}

/// Notes that a column is read.
fn note_column(uses: &mut ColumnUses, source: &Source, column: &str) {
    let (db, table) = match &source.view {
        Some(v) => (&v.def.db, &v.def.name),
        None => (&source.table.def.db, &source.table.def.name),
    };
    if !db.is_empty() && !source.table.temporary {
        uses.note(db, table, column, Privilege::Select);
    }
}

/// A row as a function's argument: which error that is differs in MariaDB.
fn row_argument(name: &str) -> SqlError {
    const BY_NAME: [&str; 56] = [
        "ascii",
        "benchmark",
        "bit_count",
        "char_length",
        "coercibility",
        "convert_tz",
        "crc32",
        "date_format",
        "datediff",
        "day",
        "dayofmonth",
        "dayofyear",
        "find_in_set",
        "from_days",
        "from_unixtime",
        "get_lock",
        "hour",
        "inet_aton",
        "instr",
        "is_free_lock",
        "is_used_lock",
        "json_depth",
        "json_length",
        "last_day",
        "last_insert_id",
        "length",
        "locate",
        "makedate",
        "maketime",
        "microsecond",
        "minute",
        "octet_length",
        "ord",
        "period_add",
        "period_diff",
        "pow",
        "quarter",
        "rand",
        "regexp_instr",
        "release_lock",
        "sec_to_time",
        "second",
        "sign",
        "sleep",
        "sqrt",
        "strcmp",
        "time_format",
        "timediff",
        "timestampdiff",
        "to_days",
        "to_seconds",
        "uncompressed_length",
        "week",
        "weekofyear",
        "year",
        "yearweek",
    ];
    match BY_NAME.contains(&name) {
        true => {
            let shown = match name {
                "length" => "octet_length",
                "day" => "dayofmonth",
                "instr" => "locate",
                "datediff" => "to_days",
                "weekofyear" => "week",
                other => other,
            };
            no_row(shown)
        }
        false => wrong_columns(1),
    }
}

/// Error 4079 for a row.
fn no_row(op: &str) -> SqlError {
    errors::ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION.with([&"row", &op])
}

/// DOUBLE(M,D) of a CAST.
fn double_of((m, d): (u64, u64), e: &Expr) -> SqlResult<ExprType> {
    if m > 65 {
        return Err(errors::TOO_BIG_PRECISION.text(format!(
            "Too big precision specified for '{e}'. Maximum is 65"
        )));
    }
    if d > 38 {
        return Err(
            errors::TOO_BIG_SCALE.text(format!("Too big scale specified for '{e}'. Maximum is 38"))
        );
    }
    if d > m {
        return Err(errors::M_BIGGER_THAN_D
            .text("For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '')"));
    }
    let mut ty = ColumnType::double();
    if m > 0 {
        ty.form.digits = Some((m as u8, d as u8));
    }
    Ok(ExprType::of_column(ty, true))
}

impl Expr {
    /// A constant.
    pub fn literal(v: Value) -> Expr {
        let ty = ExprType::of_value(&v);
        make(ExprKind::Literal(v), ty)
    }

    /// On its way into a column: text goes into a binary one as the bytes of its character set, not as the UTF-8 that it is
    /// computed in. A literal of utf8mb3 that is no such text is bytes for a column of text, which refuses them.
    pub fn as_stored(self, to: &ColumnType) -> Expr {
        if let ExprKind::Literal(Value::Str(s)) = &self.kind
            && self.ty.ty.collation.charset() == Charset::Utf8mb3
            && matches!(
                to.kind,
                TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_)
            )
            && to.collation.charset().stores_utf8()
            && Charset::Utf8mb3.fitting(s.as_bytes()) < s.len()
        {
            return Expr::literal(Value::bytes(narwal_types::convert::ill_formed_utf8mb3(s)));
        }
        if !to.is_binary_string() || self.ty.ty.collation.charset().stores_utf8() {
            return self;
        }
        let ty = ExprType::of_column(
            ColumnType::new(TypeKind::VarBinary(NO_LENGTH)),
            self.ty.nullable,
        );
        make(ExprKind::Cast(boxed(self)), ty)
    }

    /// True for a literal `0x41` or `b'1'` and for a choice among such.
    pub(crate) fn are_bits(&self) -> bool {
        bits::are_bits(self)
    }

    /// A hexadecimal or bit literal as the number that it stands for.
    pub(crate) fn bits_as_number(self) -> Expr {
        as_operand(self)
    }

    /// The value of a parameter.
    fn bound(v: Value) -> Expr {
        let ty = match &v {
            Value::Int(_) => ExprType::bigint(false, false),
            v => ExprType::of_value(v),
        };
        make(ExprKind::Literal(v), ty)
    }

    /// Column `column` of source number `source`.
    pub fn column(scope: &Scope<'_>, source: usize, column: usize) -> Option<Expr> {
        let s = scope.sources.get(source)?;
        let c = s.table.columns().get(column)?;
        if let Some(uses) = &mut *scope.env.column_uses.borrow_mut() {
            note_column(uses, s, &c.name);
        }
        if let Some(of) = &s.view {
            let mut e = of.columns.get(column)?.clone();
            e.ty.nullable |= s.nullable;
            return Some(e);
        }
        if let Some(late) = Expr::late_column(scope, source, column) {
            return Some(late);
        }
        let db = &s.table.def.db;
        let name = if db.is_empty() {
            format!("`{}`.`{}`", s.name, c.name)
        } else {
            format!("`{}`.`{}`.`{}`", db, s.name, c.name)
        };
        Some(make(
            ExprKind::Column {
                source,
                column: s.base + column,
                timestamp: matches!(c.ty.kind, TypeKind::Timestamp(_))
                    || scope.env.pads(&c.ty)
                    || c.ty.is_character() && !c.ty.collation.charset().stores_utf8(),
                name: name.into(),
            },
            s.column_type(column),
        ))
    }

    /// One of several branches that have this type together. Exact numbers keep the digits they have until they are shown.
    fn branch(self, ty: &ExprType) -> Expr {
        let exact = self.ty.ty.is_integer() || matches!(self.ty.ty.kind, TypeKind::Decimal(..));
        if exact && matches!(ty.ty.kind, TypeKind::Decimal(..)) {
            return self;
        }
        self.coerce(ty)
    }

    /// Converted to a type, if it has another one already known. Parameters stay as they are, but a program's number whose
    /// text has a form.
    pub(super) fn coerce(self, ty: &ExprType) -> Expr {
        let formed = self.ty.has_form() && ty.ty.is_string();
        if self.ty.null || matches!(self.kind, ExprKind::Param(_)) && !formed || ty.null {
            return self;
        }
        let sets = [&self.ty.ty, &ty.ty].map(|t| t.collation);
        let texts = self.ty.is_string() && ty.ty.is_string() && !self.ty.ty.is_member();
        if texts && !sets.contains(&Collation::Binary) {
            return meet::seen_by(self, ty.ty.collation);
        }
        let same = match (self.ty.ty.kind, ty.ty.kind) {
            (a, b) if a == b => true,
            // Integers need no conversion among themselves, strings none either.
            _ if self.ty.ty.is_integer() && ty.ty.is_integer() => true,
            (TypeKind::Bit(_), TypeKind::Bit(_)) => true,
            _ if self.ty.ty.is_string() && ty.ty.is_string() && !self.ty.ty.is_member() => {
                (self.ty.ty.collation == Collation::Binary)
                    == (ty.ty.collation == Collation::Binary)
            }
            _ => false,
        };
        if same {
            return self;
        }
        let mut t = ty.with_nullable(self.ty.nullable);
        // No truncation here: the type was made wide enough.
        t.width = t.chars() as u32;
        t.ty.kind = match t.ty.kind {
            TypeKind::VarChar(_) | TypeKind::Char(_) => TypeKind::VarChar(NO_LENGTH),
            TypeKind::VarBinary(_) | TypeKind::Binary(_) => TypeKind::VarBinary(NO_LENGTH),
            k => k,
        };
        make(ExprKind::Cast(Box::new(self)), t)
    }
}

/// The constant -9223372036854775808, which has no opposite among the integers.
fn is_least_bigint(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Literal(v) => *v == Value::Int(i64::MIN),
        ExprKind::Neg(of) => matches!(of.kind, ExprKind::Literal(Value::UInt(n)) if n == 1 << 63),
        _ => false,
    }
}

/// The text of an ENUM or SET; other expressions as they are.
pub(super) fn member_as_text(e: Expr) -> Expr {
    if !e.ty.ty.is_member() {
        return e;
    }
    let t = &e.ty;
    let text = ExprType {
        decimals: 0,
        ..ExprType::string(t.chars(), t.ty.collation, t.coercibility, t.nullable)
    };
    e.coerce(&text)
}

/// The text of a number that has a form: digits behind the point, ZEROFILL; other expressions as they are.
pub(super) fn shown(e: Expr) -> Expr {
    if !e.ty.has_form() {
        return e;
    }
    let text = ExprType {
        coercibility: e.ty.coercibility,
        ..ExprType::text(e.ty.chars(), e.ty.nullable)
    };
    e.coerce(&text)
}

pub(super) fn boxed(e: Expr) -> Box<Expr> {
    Box::new(e)
}

fn wrong_count(name: &str) -> SqlError {
    errors::WRONG_PARAMCOUNT_TO_NATIVE_FCT.with([&name])
}

/// The comparison that an operator is.
pub(super) fn comparison(op: BinaryOp) -> Option<CmpOp> {
    use BinaryOp as B;
    Some(match op {
        B::Eq => CmpOp::Eq,
        B::NullSafeEq => CmpOp::NullSafeEq,
        B::Ne => CmpOp::Ne,
        B::Lt => CmpOp::Lt,
        B::Le => CmpOp::Le,
        B::Gt => CmpOp::Gt,
        B::Ge => CmpOp::Ge,
        _ => return None,
    })
}

/// The value of a number as written. Error 1367 beyond the largest double.
fn finite(n: &str) -> SqlResult<Value> {
    match number(n) {
        Value::Double(d) if d.is_infinite() => {
            Err(errors::ILLEGAL_VALUE_FOR_TYPE.with([&"double", &n]))
        }
        v => Ok(v),
    }
}

/// Error 1439: a text longer than any.
fn fits_any_column(e: &Expr, t: &CastType) -> SqlResult<()> {
    match t {
        CastType::Char {
            length: Some(n), ..
        }
        | CastType::Binary(Some(n))
            if *n > u64::from(u32::MAX) =>
        {
            Err(errors::TOO_BIG_DISPLAYWIDTH.with([e, &u32::MAX]))
        }
        _ => Ok(()),
    }
}

impl Binder<'_> {
    pub(super) fn expr(&self, ast: &Ast) -> SqlResult<Expr> {
        self.scope.env.check_interrupt()?;
        Ok(match ast {
            Ast::Nested(e) => self.expr(e)?,
            Ast::Literal(l) => self.value(l)?,
            Ast::Param(n) => self.param(*n)?,
            Ast::Column(name) => match self.identifier(name)? {
                e if self.is_hidden_in_having(&e) => {
                    (self.outer(|b| b.identifier(name))).ok_or_else(|| self.unknown_column(name))?
                }
                e => e,
            },
            Ast::Qualified(q) => match self.compound(q)? {
                e if self.is_hidden_in_having(&e) => (self.outer(|b| b.compound(q)))
                    .ok_or_else(|| self.unknown_column(&q.written()))?,
                e => e,
            },
            // Only a stored program's, which has put a parameter in its place.
            Ast::CursorAttribute(name, _) => {
                return Err(errors::SP_CURSOR_MISMATCH.with([name]));
            }
            Ast::UserVar(name) => self.user_variable(name),
            Ast::SystemVar(v) => self.system_variable(v)?,
            Ast::Assign { name, value } => self.assignment(name, value)?,
            Ast::Subquery(n) => self.text_in_connection(self.lone_subquery(*n, false)?),
            Ast::Exists(n) => self.text_in_connection(self.lone_subquery(*n, true)?),
            Ast::Binary { left, op, right } => self.binary(ast, left, *op, right)?,
            Ast::Unary { op, expr } => self.unary(*op, expr)?,
            Ast::Is {
                expr,
                what,
                negated,
            } => match what {
                IsTest::Null | IsTest::Unknown => self.is_null(expr, *negated)?,
                IsTest::True => self.is_bool(expr, true, *negated)?,
                IsTest::False => self.is_bool(expr, false, *negated)?,
            },
            Ast::InQuery {
                expr,
                query,
                negated,
            } => self.in_subquery(expr, *query, *negated)?,
            Ast::Between {
                expr,
                negated,
                low,
                high,
            } => self.between(expr, (low, high), *negated)?,
            Ast::InList {
                expr,
                list,
                negated,
            } => self.in_list(expr, list, *negated)?,
            Ast::Like {
                negated,
                expr,
                pattern,
                escape,
            } => self.like((expr, pattern), escape.as_deref(), *negated)?,
            Ast::Regexp {
                negated,
                expr,
                pattern,
            } => self.regexp((expr, pattern), *negated)?,
            Ast::Case {
                operand,
                whens,
                otherwise,
            } => self.case(operand.as_deref(), whens, otherwise.as_deref())?,
            Ast::Cast { expr, ty } => {
                let e = self.expr(expr)?;
                self.cast_to(e, ty)?
            }
            Ast::ConvertUsing { expr, charset } => {
                let e = self.expr(expr)?;
                self.convert_charset(e, charset)?
            }
            Ast::Collate { expr, collation } => self.explicit_collation(expr, collation)?,
            Ast::Temporal { kind, text, odbc } => {
                match temporal_literal(*kind, text, self.scope.env) {
                    Err(_) if *odbc => self.value(&Literal::String(text.clone()))?,
                    made => made?,
                }
            }
            Ast::Introduced { charset, value } => self.with_introducer(charset, value)?,
            Ast::Call(c) => self.function(c)?,
            Ast::Special(s) => self.special(s)?,
            Ast::Interval { .. } => return Err(SqlError::syntax("INTERVAL is not allowed here")),
            Ast::Quantified {
                op,
                left,
                all,
                query,
            } => self.quantified(left, *op, *all, *query)?,
            Ast::Row(_) => return Err(wrong_columns(1)),
            Ast::Values(column) => self.insert_value(column)?,
            Ast::Default(column) => self.default_of(column)?,
        })
    }

    /// `@a := value`.
    fn assignment(&self, name: &str, value: &Ast) -> SqlResult<Expr> {
        let e = self.expr(value)?;
        let ty = user_variable::type_of_assignment(&e.ty);
        user_variable::note_text(name, &ty, self.scope.env);
        let assigned = &self.scope.env.user_assigned;
        assigned.borrow_mut().push(name.into());
        let kind = ExprKind::SetUserVariable(name.into(), boxed(e));
        Ok(make(kind, ty))
    }

    /// `_latin1'a'`.
    fn with_introducer(&self, set: &str, value: &Literal) -> SqlResult<Expr> {
        let mut e = self.value(value)?;
        Ok(match charset(set)? {
            // The bytes that the client sent, whatever set it wants texts to be in.
            Charset::Binary if e.ty.ty.is_string() => {
                e.ty.ty.collation = Collation::default();
                self.collate(e, Collation::Binary, Coercibility::Coercible)
            }
            Charset::Binary => self.collate(e, Collation::Binary, Coercibility::Coercible),
            set => introduced(e, set)?,
        })
    }

    /// TRIM with words between its arguments.
    fn trim(&self, s: &Special) -> SqlResult<Expr> {
        let Special::Trim {
            side,
            what,
            text,
            oracle,
        } = s
        else {
            return Err(SqlError::unknown("TRIM"));
        };
        let mut args = vec![self.expr(text)?];
        if let Some(w) = what {
            args.push(self.expr(w)?);
        }
        let f = match side {
            Some(TrimSide::Leading) => Func::TrimLeading,
            Some(TrimSide::Trailing) => Func::TrimTrailing,
            _ => Func::Trim,
        };
        let trimmed = self.call(f, args)?;
        match oracle {
            true => self.named_call(functions::oracle::NULL_IF_EMPTY, vec![trimmed]),
            false => Ok(trimmed),
        }
    }

    /// Calls whose arguments have words between them.
    fn special(&self, s: &Special) -> SqlResult<Expr> {
        let number = |n: i64| Expr::literal(Value::Int(n));
        Ok(match s {
            Special::Position(what, text) => {
                let args = vec![self.expr(what)?, self.expr(text)?];
                self.call(Func::Locate, args)?
            }
            Special::Substring(text, from, length) => {
                let mut args = vec![self.expr(text)?, self.expr(from)?];
                if let Some(n) = length {
                    args.push(self.expr(n)?);
                }
                self.call(Func::Substring, args)?
            }
            Special::Trim { .. } => self.trim(s)?,
            Special::Extract(u, e) => {
                let e = self.expr(e)?;
                let unit = unit(*u)?;
                let func = match unit {
                    IntervalUnit::Week => Func::ExtractWeek,
                    _ => Func::Extract,
                };
                self.call(func, vec![number(unit.number()), e])?
            }
            Special::Char(codes, charset) => {
                let mut args = vec![self.value(&Literal::String(charset.to_ascii_lowercase()))?];
                for c in codes {
                    args.push(self.expr(c)?);
                }
                self.named_call(" char_using", args)?
            }
            Special::GetFormat(kind, place) => {
                let kind = match kind {
                    FormatKind::Date => "date",
                    FormatKind::Time => "time",
                    FormatKind::DateTime => "datetime",
                };
                let kind = self.value(&Literal::String(kind.into()))?;
                self.named_call(" get_format", vec![kind, self.expr(place)?])?
            }
            Special::PaddedWeights(text, numbers) => {
                let numbers = numbers.map(|n| number(i64::try_from(n).unwrap_or(i64::MAX)));
                let args = std::iter::once(self.expr(text)?).chain(numbers);
                self.named_call(" weight_padded", args.collect())?
            }
            Special::WeightString { text, cut, levels } => {
                self.weight_string(text, *cut, levels)?
            }
            Special::TimestampAdd(u, n, date) => {
                let (n, date) = (self.expr(n)?, self.expr(date)?);
                self.date_add_unit(date, n, unit(*u)?, false)?
            }
            Special::TimestampDiff(u, a, b) => {
                if row_items(a).or(row_items(b)).is_some() {
                    return Err(row_argument("timestampdiff"));
                }
                let args = vec![number(unit(*u)?.number()), self.expr(a)?, self.expr(b)?];
                self.call(Func::TimestampDiff, args)?
            }
            Special::DateArith {
                subtract,
                date,
                amount,
                unit,
                ..
            } => {
                let date = self.expr(date)?;
                self.date_add(date, amount, *unit, *subtract)?
            }
            Special::NextValue(name) => self.sequence_call("nextval", name, Vec::new())?,
            Special::LastValue(name) => self.sequence_call("lastval", name, Vec::new())?,
            Special::SetValue {
                name,
                value,
                used,
                round,
            } => {
                let numbers = [Some(value), used.as_ref(), round.as_ref()];
                let numbers = numbers
                    .into_iter()
                    .flatten()
                    .map(|n| Expr::literal(crate::literal::number(n)));
                self.sequence_call("setval", name, numbers.collect())?
            }
            Special::Match { .. } => return Err(SqlError::unsupported("full-text search")),
            Special::ColumnCreate(columns) => self.dynamic_columns(None, columns)?,
            Special::ColumnAdd(to, columns) => self.dynamic_columns(Some(to), columns)?,
            Special::ColumnGet(of, name, ty) => self.dynamic_column(of, name, ty)?,
        })
    }

    /// WEIGHT_STRING(text AS ... LEVEL ...)
    fn weight_string(
        &self,
        text: &Ast,
        cut: Option<(u64, bool)>,
        levels: &[ast::WeightLevel],
    ) -> SqlResult<Expr> {
        let number = |n: i64| Expr::literal(Value::Int(n));
        let mut args = vec![self.expr(text)?];
        let text = match cut {
            None => self.named_call("weight_string", args)?,
            Some((n, binary)) => {
                args.push(number(i64::from(binary)));
                args.push(self.value(&Literal::Number(n.to_string()))?);
                self.named_call(" weight_string", args)?
            }
        };
        match levels.is_empty() {
            true => Ok(text),
            false => self.named_call(" weight_levels", vec![text, number(flags(levels))]),
        }
    }

    /// The type of text that comes from no column, in the connection's collation. `of`: what it was made of.
    pub(super) fn localized(&self, ty: ExprType, of: &[Expr]) -> ExprType {
        const USUAL: Collation = Collation::Utf8mb4GeneralCi;
        let c = self.scope.env.collation;
        let usual = |t: &ExprType| t.ty.is_character() && t.ty.collation == USUAL;
        if c == USUAL
            || !usual(&ty)
            || ty.coercibility == Coercibility::SysConst
            || of.iter().any(|e| usual(&e.ty))
        {
            return ty;
        }
        ExprType {
            decimals: ty.decimals,
            json: ty.json,
            ..ExprType::string(ty.chars(), c, ty.coercibility, ty.nullable)
        }
    }

    /// The collation of CAST(... AS CHAR).
    fn cast_collation(&self) -> Collation {
        match self.scope.env.collation {
            // Bytes are not what was asked for.
            Collation::Binary => Collation::default(),
            c => c,
        }
    }

    pub(super) fn text_in_connection(&self, mut e: Expr) -> Expr {
        let uncut = e.ty.ty.kind == TypeKind::VarChar(NO_LENGTH);
        e.ty = self.localized(e.ty, &[]);
        if uncut {
            e.ty.width = e.ty.chars() as u32;
            e.ty.ty.kind = TypeKind::VarChar(NO_LENGTH);
        }
        if let ExprKind::Literal(Value::Str(s)) = &mut e.kind
            && let Some(t) = self.text_of_client(s)
        {
            *s = t.into();
        }
        e
    }

    /// A literal's text where it is another one in the connection's character set than as the client has sent it.
    fn text_of_client(&self, s: &str) -> Option<String> {
        let set = self.scope.env.collation.charset();
        // Codes that are the client's own stand for other characters there. Few texts can have some.
        let client = match s.as_bytes().contains(&0xf4) {
            true => self.client_set().filter(|c| c.has_private() && *c != set),
            false => None,
        };
        let seen = client.map_or(Cow::Borrowed(s), |c| c.passed_on(s));
        match set.replaced(&seen) {
            // A literal comes as the client sent it: not even a character of four bytes, which is none of utf8mb3, becomes a
            // question mark before it goes into a column ([`Expr::as_stored`]).
            Cow::Owned(_) if set == Charset::Utf8mb3 && self.client_set() == Some(set) => None,
            Cow::Owned(t) => Some(t),
            Cow::Borrowed(_) => match seen {
                Cow::Owned(t) => Some(t),
                Cow::Borrowed(_) => None,
            },
        }
    }

    /// The default database's.
    fn collation_of_database(&self) -> Collation {
        let said = (self.scope.env).system_variable(VariableScope::Session, "collation_database");
        match said {
            Ok(Value::Str(name)) => Collation::from_name(&name).unwrap_or_default(),
            _ => Collation::default(),
        }
    }

    /// The character set that the client speaks.
    fn client_set(&self) -> Option<Charset> {
        let said = (self.scope.env).system_variable(VariableScope::Session, "character_set_client");
        match said {
            Ok(Value::Str(name)) => Charset::from_name(&name),
            _ => None,
        }
    }

    fn value(&self, v: &Literal) -> SqlResult<Expr> {
        let e = Expr::literal(match v {
            Literal::Number(n) => finite(n)?,
            Literal::String(s) | Literal::National(s) => Value::str(s.as_str()),
            Literal::Hex(s) | Literal::HexText(s) => Value::bytes(hex(s)?),
            Literal::Bit(s) => Value::bytes(bits(s)?),
            Literal::Bool(b) => Value::Int(*b as i64),
            Literal::Null | Literal::NullText => Value::Null,
        });
        let e = match (v, &e.kind) {
            (Literal::National(s), _) => {
                return introduced(Expr::literal(Value::str(&**s)), Charset::Utf8mb3);
            }
            (Literal::NullText, _) => {
                let set = self.scope.env.collation.charset();
                return Ok(null_text(set));
            }
            (Literal::Number(n), ExprKind::Literal(Value::Double(_))) => {
                let ty = e.ty.with_width(n.len() as u32);
                make(e.kind, ty)
            }
            (Literal::Number(n), ExprKind::Literal(_)) => {
                let ty = types::as_written(e.ty, n);
                make(e.kind, ty)
            }
            // As long as FALSE.
            (Literal::Bool(_), _) => {
                let ty = ExprType {
                    digits: 5,
                    boolean: true,
                    ..e.ty.with_width(5)
                };
                make(e.kind, ty)
            }
            _ => e,
        };
        let mut e = self.text_in_connection(e);
        e.ty.bits = matches!(v, Literal::Hex(_) | Literal::Bit(_));
        Ok(e)
    }

    /// The `?` of this number.
    fn param(&self, n: usize) -> SqlResult<Expr> {
        let env = self.scope.env;
        if let Some(v) = env.slots.borrow().get(n) {
            let ty = ExprType::of_value(v).of_any_length();
            return Ok(self.text_in_connection(make(ExprKind::Slot(n), ty)));
        }
        self.differs_elsewhere("parameters");
        if matches!(env.param_defaults.borrow().get(n), Some(Some(_))) {
            return Err(no_default_here());
        }
        if let Some(v) = env.bound_params.borrow().get(n) {
            return Ok(self.text_in_connection(Expr::bound(v.clone())));
        }
        env.params_bound.set(env.params_bound.get() + 1);
        let ty = match env.param_types.borrow().get(n) {
            Some(t @ crate::ParamType::Typed(..)) => {
                return Ok(make(ExprKind::Param(n), t.expr_type()));
            }
            Some(t) => t.expr_type(),
            None => types::param(),
        };
        Ok(self.text_in_connection(make(ExprKind::Param(n), ty)))
    }

    pub(super) fn unknown_column(&self, name: &str) -> SqlError {
        errors::BAD_FIELD_ERROR.with([&name, &self.scope.clause.name()])
    }

    /// A select item by its alias. Error 1052: several columns have it.
    fn alias(&self, name: &str) -> SqlResult<Option<Expr>> {
        let mut named = (self.scope.aliases.iter())
            .filter(|(a, _)| a.same_name(name))
            .map(|(_, e)| e);
        let Some(first) = named.next() else {
            return Ok(None);
        };
        if let Some(column) = first.as_column()
            && named.any(|e| e.as_column().is_some_and(|c| c != column))
        {
            return Err(self.ambiguous(name));
        }
        Ok(Some(first.clone()))
    }

    /// A column of the select list by its name: behind the list, it says which of several tables' columns is meant.
    fn item(&self, name: &str) -> SqlResult<Option<Expr>> {
        let mut named = (self.scope.items.iter())
            .filter(|(n, _)| n.same_name(name))
            .map(|(_, e)| e);
        let Some(first) = named.next() else {
            return Ok(None);
        };
        match named.any(|e| e.as_column() != first.as_column()) {
            true => Err(self.ambiguous(name)),
            false => Ok(Some(first.clone())),
        }
    }

    fn ambiguous(&self, name: &str) -> SqlError {
        let clause = self.scope.clause.name();
        errors::NON_UNIQ_ERROR.with([&name, &clause])
    }

    fn identifier(&self, name: &str) -> SqlResult<Expr> {
        if self.aliases_first(name)
            && let Some(e) = self.alias(name)?
        {
            let other =
                |(n, i): &(String, Expr)| n.same_name(name) && i.as_column() != e.as_column();
            let having = self.scope.clause == Clause::Having && e.as_column().is_some();
            if having && self.scope.items.iter().any(other) {
                return Err(self.ambiguous(name));
            }
            return Ok(e);
        }
        let alias = match self.scope.clause {
            Clause::GroupBy | Clause::Having | Clause::OrderBy => self.alias(name),
            _ => Ok(None),
        };
        let column = match self.table_column(name) {
            Err(ambiguous) => match self.item(name)? {
                // It sees none of them.
                None if self.scope.clause == Clause::Having && !self.scope.in_aggregate => None,
                item => Some(item.ok_or(ambiguous)?),
            },
            found => found?,
        };
        let found = match column {
            Some(column) => Some(column),
            None => alias?,
        };
        if let Some(found) = found {
            return Ok(found);
        }
        // Of the query around, tables come first, then what stands in its select list before this subquery.
        let listed = match self.scope.outer {
            Some(o) if o.scope.clause == Clause::FieldList => o.scope.listed,
            _ => None,
        };
        let tables = self.outer(|b| match listed {
            Some(_) => b.table_column(name)?.ok_or_else(|| b.unknown_column(name)),
            None => b.identifier(name),
        });
        match (tables, listed) {
            (Some(e), _) => Some(e),
            (None, Some(listed)) => match listed.item(name)? {
                Some(e) => self.outer(|_| Ok(e)),
                None => self.outer(|b| b.identifier(name)),
            },
            (None, None) => None,
        }
        .or_else(|| self.scope.selected?.find(Ast::Column(name.to_string())))
        .ok_or_else(|| self.unknown_column(name))
    }

    /// Whether a name means an item of the select list before it means a column of a table. HAVING takes a column that the
    /// groups are made by before an item, and aggregates look at rows, which have columns only.
    fn aliases_first(&self, name: &str) -> bool {
        match self.scope.clause {
            _ if self.scope.in_aggregate => false,
            Clause::OrderBy => self.scope.lone,
            Clause::Having => {
                let column = self.table_column(name).ok().flatten();
                let at = column.as_ref().and_then(Expr::as_column);
                !at.is_some_and(|c| self.scope.grouped.contains(&c))
            }
            _ => false,
        }
    }

    /// HAVING sees columns of its tables that the groups are made by or that the select list has; others in aggregates only,
    /// and in its subqueries.
    fn is_hidden_in_having(&self, e: &Expr) -> bool {
        let Scope {
            clause,
            in_aggregate,
            grouped,
            shown,
            ..
        } = self.scope;
        *clause == Clause::Having
            && !in_aggregate
            && (e.as_column()).is_some_and(|c| !grouped.contains(&c) && !shown.contains(&c))
    }

    /// A column of the tables by its name alone. Error 1052: several tables have it.
    fn table_column(&self, name: &str) -> SqlResult<Option<Expr>> {
        let mut found = None;
        for (s, source) in self.scope.visible() {
            if let Some(c) = source.column(name)
                && !source.hidden.contains(&c)
            {
                if found.is_some() {
                    return Err(self.ambiguous(name));
                }
                found = Some((s, c));
            }
        }
        if found.is_some() {
            self.not_of_both(None, name)?;
        }
        Ok(found.and_then(|(s, c)| Expr::column(self.scope, s, c)))
    }

    /// Error 1052: ON DUPLICATE KEY UPDATE names a column that the table and the SELECT have.
    fn not_of_both(&self, table: Option<&str>, column: &str) -> SqlResult<()> {
        match self.scope.selected {
            Some(of) if of.has(table, column) => {
                let shown = table.map_or_else(|| column.to_string(), |t| format!("{t}.{column}"));
                Err(errors::NON_UNIQ_ERROR.with([&shown, &"UPDATE"]))
            }
            _ => Ok(()),
        }
    }

    fn compound(&self, name: &Qualified) -> SqlResult<Expr> {
        let Qualified { db, table, column } = name;
        for (s, source) in self.scope.visible() {
            let db_matches = match db {
                // An alias hides the database.
                Some(d) => source.has_its_own_name() && source.is_in(d),
                None => true,
            };
            if db_matches
                && source.is_named(table)
                && let Some(c) = source.column(column)
                && let Some(e) = Expr::column(self.scope, s, c)
            {
                self.not_of_both(Some(table), column)?;
                return Ok(e);
            }
        }
        let selected = || {
            let of = self.scope.selected?;
            of.find(Ast::Qualified(Box::new(name.clone())))
        };
        let found = self.outer(|b| b.compound(name)).or_else(selected);
        found.ok_or_else(|| match db {
            // There are no tables at all.
            _ if self.scope.sources.is_empty()
                && self.scope.outer.is_none()
                && self.scope.clause == Clause::FieldList =>
            {
                errors::UNKNOWN_TABLE.with([&table.as_str(), &self.scope.clause.name()])
            }
            // SELECTs put together show columns, and no tables.
            _ if self.scope.clause == Clause::OrderBy
                && matches!(self.scope.sources, [set] if set.name.is_empty()) =>
            {
                errors::TABLENAME_NOT_ALLOWED_HERE.with([&table.as_str(), &"ORDER BY"])
            }
            _ => self.unknown_column(&name.written()),
        })
    }

    /// A name as the query around this subquery knows it.
    fn outer(&self, find: impl FnOnce(&Binder<'_>) -> SqlResult<Expr>) -> Option<Expr> {
        let outer = self.scope.outer?;
        let e = find(&Binder { scope: outer.scope }).ok()?;
        Some(outer.add(e))
    }

    fn system_variable(&self, v: &SystemVar) -> SqlResult<Expr> {
        self.differs_elsewhere("system variables");
        let scope = match v.scope {
            Some(VarScope::Global) => VariableScope::Global,
            Some(VarScope::Session | VarScope::Local) => VariableScope::Session,
            None => VariableScope::Any,
        };
        let full;
        let name = match &v.base {
            None => v.name.as_str(),
            Some(base) => {
                full = format!("{base}.{}", v.name);
                &full
            }
        };
        let v = self.scope.env.variables.system(scope, name)?;
        let ty = match &v {
            Value::Int(_) | Value::UInt(_) => {
                ExprType::bigint(matches!(v, Value::UInt(_)), true).with_width(types::BIGINT_CHARS)
            }
            // The value may be longer when it is executed.
            Value::Str(s) => {
                let chars = (s.chars().count() as u64).max(64);
                let collation = Collation::Utf8mb3GeneralCi;
                ExprType::string(chars, collation, Coercibility::SysConst, true)
            }
            // Shown with six decimals, as MariaDB does.
            Value::Double(_) => ExprType {
                decimals: 6,
                width: types::BIGINT_CHARS,
                ..ExprType::of_value(&v).with_nullable(true)
            },
            v => ExprType::of_value(v).with_nullable(true),
        };
        Ok(make(
            ExprKind::SystemVariable {
                scope,
                name: name.into(),
            },
            ExprType {
                coercibility: Coercibility::SysConst,
                ..ty
            },
        ))
    }

    /// Notes that another server, which runs the statement's text, may get other rows.
    fn differs_elsewhere(&self, what: &'static str) {
        let noted = &self.scope.env.unrepeatable;
        // What may write is the most to be known of a statement.
        if noted.get() != Some(STORED_FUNCTIONS) {
            noted.set(Some(what));
        }
    }

    fn user_variable(&self, name: &str) -> Expr {
        self.differs_elsewhere("user variables");
        let ty = user_variable::type_now(name, self.scope.env);
        let stays = !self.scope.env.variables_change.get();
        make(ExprKind::UserVariable(name.into(), stays), ty)
    }

    /// An operand beside another: a constant string next to a temporal column is read as a temporal value once.
    pub(super) fn beside(&self, ast: &Ast, other: &Expr) -> SqlResult<Expr> {
        constant_beside(self.expr(ast)?, other, self.scope.env)
    }

    /// A comparison of two operands, each a value, a row or a subquery.
    fn comparison(&self, op: CmpOp, left: &Ast, right: &Ast) -> SqlResult<Expr> {
        if row_items(left).is_some() || row_items(right).is_some() {
            if let Some(n) = as_subquery(right) {
                return self.compared_subquery(left, n, SubqueryUse::Row(op));
            }
            if let Some(n) = as_subquery(left) {
                return self.compared_subquery(right, n, SubqueryUse::Row(op.flip()));
            }
            return self.row_compare(op, left, right);
        }
        let l = match as_subquery(left) {
            None => self.expr(left)?,
            Some(n) => {
                let mut row = self.row_of_subquery(n)?;
                match (row.len(), as_subquery(right)) {
                    (1, _) => row.remove(0),
                    (_, Some(n)) => {
                        return self.row_beside_subquery(row, n, SubqueryUse::Row(op));
                    }
                    _ => {
                        let r = self.expr(right)?;
                        return Err(not_a_row(None, Some(&r), op.symbol()));
                    }
                }
            }
        };
        let r = self.expr(right).map_err(|e| match as_subquery(right) {
            Some(_) if e.code == codes::OPERAND_COLUMNS => not_a_row(Some(&l), None, op.symbol()),
            _ => e,
        })?;
        self.compare(op, l, r)
    }

    /// What is said of two operands one of which is a row.
    fn row_operand(&self, left: &Ast, right: &Ast, op: &str) -> SqlResult<SqlError> {
        let side = |e: &Ast| match row_items(e) {
            Some(_) => Ok(None),
            None => self.expr(e).map(Some),
        };
        let (l, r) = (side(left)?, side(right)?);
        Ok(not_a_row(l.as_ref(), r.as_ref(), op))
    }

    fn binary(&self, whole: &Ast, left: &Ast, op: BinaryOp, right: &Ast) -> SqlResult<Expr> {
        use BinaryOp as B;
        let cmp = comparison(op);
        if let Some(op) = cmp {
            return self.comparison(op, left, right);
        }
        match op {
            B::And => {
                let mut list = Vec::new();
                self.flatten(whole, true, &mut list)?;
                let nullable = list.iter().any(|e| e.ty.nullable);
                return Ok(make(ExprKind::And(list), bool_ty(nullable)));
            }
            B::Or => {
                let mut list = Vec::new();
                self.flatten(whole, false, &mut list)?;
                let nullable = list.iter().any(|e| e.ty.nullable);
                return Ok(make(ExprKind::Or(list), bool_ty(nullable)));
            }
            B::Concat => {
                let args = vec![self.expr(left)?, self.expr(right)?];
                return self.named_call("concat", args);
            }
            B::SoundsLike => {
                let sound = |e: &Ast| self.named_call("soundex", vec![self.expr(e)?]);
                return self.compare(CmpOp::Eq, sound(left)?, sound(right)?);
            }
            B::Xor => {
                let (l, r) = (self.condition(left)?, self.condition(right)?);
                let nullable = l.ty.nullable || r.ty.nullable;
                return Ok(make(ExprKind::Xor(boxed(l), boxed(r)), bool_ty(nullable)));
            }
            _ => {}
        }
        let arith = match op {
            B::Add => ArithOp::Add,
            B::Sub => ArithOp::Sub,
            B::Mul => ArithOp::Mul,
            B::Div => ArithOp::Div,
            B::Mod => ArithOp::Mod,
            B::IntDiv => ArithOp::IntDiv,
            B::BitAnd => ArithOp::BitAnd,
            B::BitOr => ArithOp::BitOr,
            B::BitXor => ArithOp::BitXor,
            B::Shl => ArithOp::ShiftLeft,
            B::Shr => ArithOp::ShiftRight,
            _ => return Err(SqlError::unsupported("this operator")),
        };
        if row_items(left).is_some() || row_items(right).is_some() {
            return Err(match arith {
                ArithOp::BitAnd | ArithOp::BitOr | ArithOp::ShiftLeft | ArithOp::ShiftRight => {
                    no_row(arith.symbol())
                }
                _ => self.row_operand(left, right, arith.symbol())?,
            });
        }
        // date + INTERVAL 1 DAY, INTERVAL 1 DAY + date
        if let Ast::Interval { value, unit } = right
            && matches!(arith, ArithOp::Add | ArithOp::Sub)
        {
            let d = self.expr(left)?;
            return self.date_add(d, value, *unit, arith == ArithOp::Sub);
        }
        if let Ast::Interval { value, unit } = left
            && arith == ArithOp::Add
        {
            let d = self.expr(right)?;
            return self.date_add(d, value, *unit, false);
        }
        let l = self.expr(left)?;
        let r = self.expr(right)?;
        self.arith(arith, l, r)
    }

    /// A year that becomes a date is one without month and day.
    fn year_as_date(&self, e: Expr, to: &ExprType) -> SqlResult<Expr> {
        let date = matches!(to.ty.kind, TypeKind::Date | TypeKind::DateTime(_));
        if e.ty.ty.kind != TypeKind::Year || !date {
            return Ok(e);
        }
        // The whole year, of YEAR(2) too.
        self.arith(
            ArithOp::Mul,
            whole_year(e),
            Expr::literal(Value::Int(10_000)),
        )
    }

    pub(super) fn arith(&self, op: ArithOp, l: Expr, r: Expr) -> SqlResult<Expr> {
        let (l, r) = (year_operand(as_operand(l)), year_operand(as_operand(r)));
        fixed::check_arith(op, &l.ty, &r.ty)?;
        let ty = types::arith(op, &l.ty, &r.ty, self.scope.env.div_precision);
        Ok(make(
            ExprKind::Arith {
                op,
                left: boxed(l),
                right: boxed(r),
            },
            ty,
        ))
    }

    /// Collects the operands of a chain of AND or OR without recursion along the chain's left side.
    fn flatten(&self, ast: &Ast, and: bool, out: &mut Vec<Expr>) -> SqlResult<()> {
        let same = if and { BinaryOp::And } else { BinaryOp::Or };
        let mut pending = vec![ast];
        while let Some(e) = pending.pop() {
            match e {
                Ast::Binary { left, op, right } if *op == same => {
                    pending.push(right);
                    pending.push(left);
                }
                Ast::Nested(inner) if matches!(&**inner, Ast::Binary { op, .. } if *op == same) => {
                    pending.push(inner);
                }
                e => {
                    let e = self.condition(e)?;
                    fixed::check_truth(&e.ty, "<>")?;
                    out.push(e);
                }
            }
        }
        Ok(())
    }

    /// An operand of which counts whether it is true.
    fn condition(&self, ast: &Ast) -> SqlResult<Expr> {
        Ok(as_truth(self.expr(ast)?))
    }

    /// Whether a JSON_EXTRACT is a value of CASE or of a list: beside a number it is one, but beside a text it is its JSON text,
    /// other than in a comparison.
    pub(super) fn equals_extract(&self, extract: &Expr, value: Expr) -> SqlResult<Expr> {
        let l = match value.ty.ty.is_numeric() && !value.ty.null {
            true => as_operand(extract.clone()),
            false => extract.clone(),
        };
        self.compare_values(CmpOp::Eq, l, value)
    }

    pub(super) fn compare(&self, op: CmpOp, l: Expr, r: Expr) -> SqlResult<Expr> {
        let [l, r] = short_year::compared([l, r]);
        let r = constant_beside(r, &l, self.scope.env)?;
        let l = constant_beside(l, &r, self.scope.env)?;
        let (l, r) = json::compared(l, r);
        self.compare_values(op, l, r)
    }

    /// Compares what the sides are.
    fn compare_values(&self, op: CmpOp, l: Expr, r: Expr) -> SqlResult<Expr> {
        let (l, r) = self.near(l, r);
        let collation = types::compare_collation([&l, &r], op.symbol())?;
        let [l, r] = meet::compared([l, r], collation, op.symbol(), self.scope.env)?;
        let nullable = op != CmpOp::NullSafeEq && (l.ty.nullable || r.ty.nullable);
        Ok(make(
            ExprKind::Compare {
                op,
                left: boxed(l),
                right: boxed(r),
                collation,
            },
            bool_ty(nullable),
        ))
    }

    /// Two numbers to be compared. Doubles that are shown with a fixed number of digits are equal if these digits are; but a stored
    /// column is compared as it is.
    fn near(&self, l: Expr, r: Expr) -> (Expr, Expr) {
        let digits = |e: &Expr| match e.ty.ty.kind {
            _ if e.ty.null => None,
            TypeKind::Decimal(_, scale) => Some(scale),
            TypeKind::Float | TypeKind::Double => e.ty.is_fixed_double().then_some(e.ty.decimals),
            _ => e.ty.ty.is_integer().then_some(0),
        };
        let stored = |source: usize| {
            let source = self.scope.sources.get(source);
            source.is_none_or(|s| s.types.is_none())
        };
        let fixed = |e: &Expr| {
            e.ty.is_fixed_double() && e.as_column().is_none_or(|(source, _)| !stored(source))
        };
        let (Some(a), Some(b)) = (digits(&l), digits(&r)) else {
            return (l, r);
        };
        // A FLOAT is no double with these digits, though it shows them.
        let float = |e: &Expr, beside: &Expr| {
            e.ty.is_fixed_double()
                && e.ty.ty.kind == TypeKind::Float
                && beside.as_column().is_none()
        };
        let near = fixed(&l) || fixed(&r) || float(&l, &r) || float(&r, &l);
        if narwal_types::face::is_mysql()
            || !near
            || r.any(&|e| matches!(e.kind, ExprKind::Subquery(_)))
        {
            return (l, r);
        }
        let ty = ExprType::double(l.ty.nullable || r.ty.nullable);
        let args = vec![l, r.clone(), Expr::literal(Value::Int(a.max(b).into()))];
        let func = &functions::number::NEAR;
        (make(ExprKind::Func { func, args }, ty), r)
    }

    /// (a, b) = (c, d): all pairs equal.
    fn row_compare(&self, op: CmpOp, left: &Ast, right: &Ast) -> SqlResult<Expr> {
        let (l, r) = match (row_items(left), row_items(right)) {
            (Some(l), Some(r)) => (l, r),
            (Some(_), None) => return Err(not_a_row(None, Some(&self.expr(right)?), op.symbol())),
            (None, _) => return Err(not_a_row(Some(&self.expr(left)?), None, op.symbol())),
        };
        if l.len() != r.len() {
            return Err(errors::OPERAND_COLUMNS.with([&l.len()]));
        }
        let inner = match op {
            CmpOp::Eq | CmpOp::NullSafeEq => op,
            CmpOp::Ne => CmpOp::Eq,
            _ => return self.row_order(op, &l, &r),
        };
        let list = l
            .iter()
            .zip(&r)
            .map(|(a, b)| self.compare_items(inner, a, b))
            .collect::<SqlResult<Vec<_>>>()?;
        let nullable = list.iter().any(|e| e.ty.nullable);
        let all = make(ExprKind::And(list), bool_ty(nullable));
        Ok(if op == CmpOp::Ne {
            make(ExprKind::Not(boxed(all)), bool_ty(nullable))
        } else {
            all
        })
    }

    /// (a, b) < (c, d): the first pair that is not equal decides.
    /// Two items of rows, which may be rows themselves.
    fn compare_items(&self, op: CmpOp, a: &Ast, b: &Ast) -> SqlResult<Expr> {
        match (row_items(a), row_items(b)) {
            (Some(_), Some(_)) => self.row_compare(op, a, b),
            (None, None) => self.compare(op, self.expr(a)?, self.expr(b)?),
            (row, _) => Err(wrong_columns(row.map_or(1, |items| items.len()))),
        }
    }

    fn row_order(&self, op: CmpOp, l: &[&Ast], r: &[&Ast]) -> SqlResult<Expr> {
        let strict = match op {
            CmpOp::Le => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Gt,
            op => op,
        };
        let mut all: Option<Expr> = None;
        for (i, (a, b)) in l.iter().zip(r).enumerate().rev() {
            let pair = |op| self.compare_items(op, a, b);
            let this = pair(if i + 1 == l.len() { op } else { strict })?;
            all = Some(match all {
                None => this,
                Some(rest) => {
                    let equal = pair(CmpOp::Eq)?;
                    let nullable = this.ty.nullable || rest.ty.nullable;
                    let rest = make(ExprKind::And(vec![equal, rest]), bool_ty(nullable));
                    make(ExprKind::Or(vec![this, rest]), bool_ty(nullable))
                }
            });
        }
        all.ok_or_else(|| SqlError::syntax("an empty row"))
    }

    /// (a, b) IN ((c, d), ...).
    pub(super) fn row_in(&self, left: &Ast, list: &[Ast], negated: bool) -> SqlResult<Expr> {
        let any = list
            .iter()
            .map(|r| match row_items(r) {
                Some(_) => self.row_compare(CmpOp::Eq, left, r),
                None => {
                    let op = in_name(list, negated);
                    Err(not_a_row(None, Some(&self.expr(r)?), op))
                }
            })
            .collect::<SqlResult<Vec<_>>>()?;
        let ty = bool_ty(any.iter().any(|e| e.ty.nullable));
        let any = make(ExprKind::Or(any), ty);
        Ok(if negated {
            make(ExprKind::Not(boxed(any)), ty)
        } else {
            any
        })
    }

    fn unary(&self, op: UnaryOp, e: &Ast) -> SqlResult<Expr> {
        let inner = || self.expr(e);
        Ok(match op {
            UnaryOp::Plus => inner()?,
            UnaryOp::Minus => {
                // Literals are negated here, so that -9223372036854775808 is an integer.
                if let Ast::Literal(Literal::Number(n)) = e {
                    let e = Expr::literal(negate_literal(finite(n)?));
                    let ty = types::as_written(e.ty, &format!("-{n}"));
                    return Ok(make(e.kind, ty));
                }
                let e = match as_operand(inner()?) {
                    e if short_year::is_short(&e) => short_year::two_digits(e),
                    e => e,
                };
                fixed::check_unary(&e.ty, "-")?;
                if is_least_bigint(&e) {
                    let n = Decimal::from_i128(1 << 63, 0);
                    return Ok(Expr::literal(Value::Decimal(n)));
                }
                let ty = types::negated(&e.ty);
                make(ExprKind::Neg(boxed(e)), ty)
            }
            UnaryOp::Not | UnaryOp::Bang => {
                let e = self.condition(e)?;
                fixed::check_truth(&e.ty, "=")?;
                let ty = bool_ty(e.ty.nullable);
                make(ExprKind::Not(boxed(e)), ty)
            }
            UnaryOp::BitNot if row_items(e).is_some() => return Err(no_row("~")),
            UnaryOp::BitNot => {
                let e = as_operand(inner()?);
                fixed::check_unary(&e.ty, "~")?;
                let ty =
                    ExprType::bigint(true, e.ty.nullable).with_chars(types::BIGINT_CHARS, false);
                make(ExprKind::BitNot(boxed(e)), ty)
            }
            UnaryOp::Binary => self.cast(inner()?, &CastType::Binary(None))?,
        })
    }

    fn is_null(&self, e: &Ast, negated: bool) -> SqlResult<Expr> {
        Ok(make(
            ExprKind::IsNull {
                expr: boxed(self.expr(e)?),
                negated,
            },
            bool_ty(false),
        ))
    }

    fn is_bool(&self, e: &Ast, value: bool, negated: bool) -> SqlResult<Expr> {
        Ok(make(
            ExprKind::IsBool {
                expr: boxed(self.condition(e)?),
                value,
                negated,
            },
            bool_ty(false),
        ))
    }

    fn case(
        &self,
        operand: Option<&Ast>,
        conditions: &[(Ast, Ast)],
        otherwise: Option<&Ast>,
    ) -> SqlResult<Expr> {
        let mut operand = operand.map(|o| self.expr(o)).transpose()?;
        let mut whens = Vec::with_capacity(conditions.len());
        for (condition, result) in conditions {
            let w = match &operand {
                // Not as the year that it would be stored as.
                Some(o) if o.ty.ty.kind == TypeKind::Year => as_operand(self.expr(condition)?),
                Some(o) if json::is_extract(o) => {
                    self.equals_extract(o, self.beside(condition, o)?)?
                }
                Some(o) => self.beside(condition, o)?,
                None => self.condition(condition)?,
            };
            whens.push((w, self.expr(result)?));
        }
        let number = |w: &(Expr, Expr)| w.0.ty.ty.is_numeric() && !w.0.ty.null;
        if whens.iter().any(number) {
            operand = operand.map(|o| variable_as_number(bits::as_number(o)));
        }
        // A CASE may be NULL where what it looks at may be, whatever its results are.
        let asks = whens.iter().map(|(w, _)| w).chain(&operand);
        let unsure = asks.fold(false, |any, e| any | e.ty.nullable);
        // It stands in the conditions.
        operand = operand.filter(|o| !json::is_extract(o));
        let otherwise = otherwise.map(|o| self.expr(o)).transpose()?;
        let collation = match &operand {
            Some(o) => types::compare_collation(
                std::iter::once(o).chain(whens.iter().map(|(w, _)| w)),
                "case..when",
            )?,
            None => Collation::Utf8mb4GeneralCi,
        };
        let results = whens
            .iter()
            .map(|(_, t)| &t.ty)
            .chain(otherwise.iter().map(|o| &o.ty));
        let mut ty = types::unify(results, "case")?;
        if ty.is_string() && ty.ty.collation.charset() == Charset::Swe7 {
            let results = whens.iter().map(|(_, t)| t).chain(&otherwise);
            meet::no_numbers(&results.cloned().collect::<Vec<_>>(), "case")?;
        }
        ty.nullable |= unsure || otherwise.is_none();
        let whens = whens.into_iter().map(|(w, t)| (w, t.branch(&ty))).collect();
        Ok(make(
            ExprKind::Case {
                operand: operand.map(Box::new),
                whens,
                otherwise: otherwise.map(|o| boxed(o.branch(&ty))),
                collation,
            },
            ty,
        ))
    }

    pub(super) fn collate(&self, e: Expr, c: Collation, coercibility: Coercibility) -> Expr {
        let chars = e.ty.chars();
        let strict = self.scope.env.sql_mode.strict();
        let mut ty = ExprType::string(chars, c, coercibility, e.ty.nullable || strict);
        // A column keeps its own kind.
        if e.ty.ty.is_character() && c != Collation::Binary {
            ty.ty = ColumnType {
                collation: c,
                ..e.ty.ty
            };
        }
        make(ExprKind::Collate(boxed(e)), ty)
    }

    fn convert_charset(&self, e: Expr, name: &str) -> SqlResult<Expr> {
        let set = charset(name)?;
        if set == Charset::Binary {
            return Ok(self.collate(e, Collation::Binary, Coercibility::Implicit));
        }
        let strict = self.scope.env.sql_mode.strict();
        let mut ty = ExprType::string(
            e.ty.chars(),
            set.default_collation(),
            Coercibility::Implicit,
            e.ty.nullable || strict,
        );
        ty.width = u32::try_from(e.ty.chars()).unwrap_or(u32::MAX);
        if let TypeKind::VarChar(_) = ty.ty.kind {
            ty.ty.kind = TypeKind::VarChar(NO_LENGTH);
        }
        // JSON stays JSON.
        ty.json = e.ty.json;
        Ok(make(ExprKind::Cast(boxed(e)), ty))
    }

    /// CAST with the character set that it names.
    pub(super) fn cast_to(&self, e: Expr, t: &CastType) -> SqlResult<Expr> {
        let CastType::Char {
            length,
            charset,
            collation,
            binary,
            national,
        } = t
        else {
            // A year is a date here: its time is the day's first.
            let e = match (t, e.ty.ty.kind) {
                (CastType::Time(_), TypeKind::Year) => self.cast(e, &CastType::Date)?,
                _ => e,
            };
            return self.cast(e, t);
        };
        let national = national.then_some("utf8mb3");
        let charset = charset.as_deref().or(national);
        if collation.is_some() || *binary {
            return self.cast_collated(e, *length, charset, collation.as_deref());
        }
        match charset.map(str::to_ascii_lowercase).as_deref() {
            None if self.scope.env.collation == Collation::Binary => {
                self.cast(e, &CastType::Binary(*length))
            }
            None | Some("utf8mb4") => self.cast(e, t),
            // Bytes need not be text on the way.
            Some("binary" | "byte") => self.cast(e, &CastType::Binary(*length)),
            Some(name) => {
                // Bytes are text of that set, before the length is looked at.
                let e = match e.ty.is_string() && e.ty.ty.collation == Collation::Binary {
                    true => self.convert_charset(e, name)?,
                    false => e,
                };
                let e = self.cast(e, t)?;
                self.convert_charset(e, name)
            }
        }
    }

    /// CAST with COLLATE, or with BINARY: the character set's own order of code points.
    fn cast_collated(
        &self,
        e: Expr,
        length: Option<u64>,
        set: Option<&str>,
        collation: Option<&str>,
    ) -> SqlResult<Expr> {
        let set = match (set, collation.and_then(Collation::from_name)) {
            (Some(name), _) => charset(name)?,
            (None, Some(c)) => c.charset(),
            (None, None) => self.cast_collation().charset(),
        };
        let name = match collation {
            Some(name) => name.to_string(),
            None => format!("{}_bin", set.name()),
        };
        let c = crate::lower::collation_of(&name, set)?;
        if set != c.charset() {
            return Err(mismatched_collation(c, set));
        }
        let plain = CastType::Char {
            length,
            charset: Some(set.name().to_string()),
            collation: None,
            binary: false,
            national: false,
        };
        let e = self.cast_to(e, &plain)?;
        Ok(self.collate(e, c, Coercibility::Implicit))
    }

    fn cast(&self, e: Expr, t: &CastType) -> SqlResult<Expr> {
        fits_any_column(&e, t)?;
        let nullable = e.ty.nullable;
        let fsp = |n: &Option<u64>| -> SqlResult<u8> {
            match n.unwrap_or(0) {
                f @ 0..=6 => Ok(f as u8),
                f => Err(errors::TOO_BIG_PRECISION.text(format!(
                    "Too big precision {f} specified for 'CAST'. Maximum is 6"
                ))),
            }
        };
        let length =
            |n: Option<u64>| -> u16 { n.map_or(NO_LENGTH, |n| n.min(NO_LENGTH.into()) as u16) };
        let nullable_text = nullable || self.scope.env.sql_mode.strict();
        let text = |n: Option<u64>| ExprType {
            nullable: nullable_text,
            coercibility: Coercibility::Implicit,
            decimals: NOT_FIXED,
            ..ExprType::of_column(
                ColumnType::text(TypeKind::VarChar(length(n)), self.cast_collation()),
                nullable,
            )
        };
        let plain = |kind| ExprType::of_column(ColumnType::new(kind), nullable);
        let ty = match t {
            CastType::Signed => {
                let ty = ExprType::bigint(false, nullable);
                ty.with_chars(integer_chars(&e, false), false)
            }
            CastType::Unsigned => {
                let chars = integer_chars(&e, true);
                let ty = match chars {
                    // As long as the largest INT.
                    ..=10 => ExprType::of_column(ColumnType::unsigned(TypeKind::Int), nullable),
                    _ => ExprType::bigint(true, nullable),
                };
                ty.with_chars(chars, false)
            }
            CastType::Decimal(digits) => {
                let (p, s) = digits.map_or((10, 0), |(p, s)| (p, s.unwrap_or(0)));
                let p = if p == 0 { 10 } else { p };
                if p > 65 {
                    return Err(errors::TOO_BIG_PRECISION.text(format!(
                        "Too big precision {p} specified for '{e}'. Maximum is 65"
                    )));
                }
                if s > 38 {
                    return Err(errors::TOO_BIG_SCALE.text(format!(
                        "Too big scale {s} specified for '{e}'. Maximum is 38"
                    )));
                }
                if s > p {
                    return Err(errors::M_BIGGER_THAN_D.text(
                        "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '').",
                    ));
                }
                plain(TypeKind::Decimal(p as u8, s as u8))
            }
            CastType::Double(None) => ExprType::double(true),
            CastType::Double(Some(digits)) => double_of(*digits, &e)?,
            CastType::Float => plain(TypeKind::Float).with_nullable(true),
            CastType::Char {
                length: None,
                national: false,
                ..
            } if e.ty.ty.fixed().is_some() => text(Some(e.ty.chars())),
            CastType::Char { length: None, .. } => {
                text(None).with_width(u32::try_from(e.ty.chars()).unwrap_or(u32::MAX))
            }
            CastType::Char { length, .. } => {
                let width = length.unwrap_or(0).min(u64::from(u32::MAX)) as u32;
                text(*length).with_width(width)
            }
            CastType::Binary(n) => bytes_of_cast(&e.ty, *n, nullable_text),
            CastType::Date => plain(TypeKind::Date).with_nullable(true),
            CastType::Time(n) => plain(TypeKind::Time(fsp(n)?)).with_nullable(true),
            CastType::DateTime(n) => plain(TypeKind::DateTime(fsp(n)?)).with_nullable(true),
            CastType::IntervalDaySecond(_) => {
                return Err(SqlError::unsupported("CAST AS INTERVAL"));
            }
            CastType::Other(name) => match name.to_ascii_lowercase().as_str() {
                "uuid" => self.fixed_cast(&e, FixedKind::Uuid),
                "inet4" => self.fixed_cast(&e, FixedKind::Inet4),
                "inet6" => self.fixed_cast(&e, FixedKind::Inet6),
                "geometry" | "geometrycollection" | "point" | "linestring" | "polygon"
                | "multipoint" | "multilinestring" | "multipolygon" => {
                    let what = format!("CAST(expr AS {})", name.to_ascii_lowercase());
                    return Err(errors::UNKNOWN_OPERATOR.with([&what]));
                }
                _ => {
                    return Err(errors::UNKNOWN_DATA_TYPE.with([&name]));
                }
            },
        };
        fixed::check_cast(&e.ty, &ty.ty)?;
        let e = self.year_as_date(e, &ty)?;
        Ok(make(ExprKind::Cast(boxed(hex_for_cast(e, &ty))), ty))
    }

    /// Type of CAST to UUID, INET4 or INET6: only of a good literal it is never NULL.
    fn fixed_cast(&self, e: &Expr, kind: FixedKind) -> ExprType {
        ExprType::fixed(kind, !fixed::is_good_literal(e, kind))
    }

    fn date_add(&self, d: Expr, amount: &Ast, u: ast::Unit, negated: bool) -> SqlResult<Expr> {
        let amount = variable_as_number(bits::as_number(self.expr(amount)?));
        self.date_add_unit(d, amount, unit(u)?, negated)
    }

    fn date_add_unit(
        &self,
        mut d: Expr,
        amount: Expr,
        unit: IntervalUnit,
        negated: bool,
    ) -> SqlResult<Expr> {
        fixed::check_date_add(&d.ty)?;
        let fraction = unit.fraction(&amount.ty.ty);
        let plain = |kind| ExprType::of_column(ColumnType::new(kind), true);
        let ty = match d.ty.ty.kind {
            TypeKind::Date if !unit.has_time() => plain(TypeKind::Date),
            TypeKind::Date => plain(TypeKind::DateTime(fraction)),
            TypeKind::DateTime(f) | TypeKind::Timestamp(f) => {
                plain(TypeKind::DateTime(f.max(fraction)))
            }
            TypeKind::Time(f) => plain(TypeKind::Time(f.max(fraction))),
            _ => {
                let moment = [d];
                let own = Typing {
                    name: "",
                    args: &moment,
                    div_precision: self.scope.env.div_precision,
                }
                .fraction(0);
                [d] = moment;
                let chars = match own.max(fraction) {
                    0 => 19,
                    digits => 20 + u64::from(digits),
                };
                self.localized(ExprType::text(chars, true), &[])
            }
        };
        Ok(make(
            ExprKind::DateAdd {
                date: boxed(d),
                amount: boxed(amount),
                unit,
                negated,
            },
            ty,
        ))
    }

    /// What CURRENT_USER() and CURRENT_ROLE() are in a view that reads with its definer's rights; `None` for others.
    fn definer_for(&self, func: &Function) -> Option<Value> {
        let account = self.scope.env.reads_as.borrow();
        let (user, host) = account.as_ref()?;
        let is_role = host.is_empty();
        match func.name() {
            "current_user" if is_role => Some(Value::str("@")),
            "current_user" => Some(Value::str(format!("{user}@{host}").as_str())),
            "current_role" if is_role => Some(Value::str(user.as_str())),
            "current_role" => Some(Value::Null),
            _ => None,
        }
    }

    pub(super) fn call(&self, func: &'static Function, args: Vec<Expr>) -> SqlResult<Expr> {
        let args: Vec<Expr> = match func.takes {
            Takes::Anything => args,
            Takes::Numbers => args.into_iter().map(as_operand).collect(),
            Takes::Texts => {
                let text = |e| match shown(bits::as_bytes(e)) {
                    e if matches!(&e.kind, ExprKind::Cast(of) if of.ty.has_form()) => {
                        self.text_in_connection(e)
                    }
                    e => e,
                };
                args.into_iter().map(text).collect()
            }
        };
        if !func.is_repeatable(args.len()) {
            self.differs_elsewhere(func.name());
        }
        if func.deprecated {
            note_deprecated(func.name(), self.scope.env);
        }
        if let Some(who) = self.definer_for(func) {
            return Ok(make(ExprKind::Literal(who), func.ty(&args)?));
        }
        let args = bits_beside_numbers(func, args);
        fixed::check_call(func, &args)?;
        check_pattern(func, &args, self.scope.env)?;
        let args = match <[Expr; 2]>::try_from(args) {
            Ok([a, b]) if func == Func::Nullif && json::is_extract(&a) => {
                return self.nullif_extract(a, b);
            }
            // Its first value is given on as it is.
            Ok([a, b]) if func == Func::Nullif && a.ty.is_string() => {
                vec![a, json::as_scalar(b, false)]
            }
            Ok(args) => args.into(),
            Err(mut args) => {
                if func == Func::If {
                    let condition = args.remove(0);
                    args.insert(0, as_truth(condition));
                }
                args
            }
        };
        let mut ty = self.localized(func.ty(&args)?, &args);
        if matches!(func.name(), "dayname" | "monthname") {
            // Other languages have longer names.
            let longest = Locale::of(self.scope.env).longest().max(ty.chars());
            ty = ExprType::string(longest, ty.ty.collation, ty.coercibility, ty.nullable);
        }
        if func.name() == "chr" {
            // Of four bytes.
            let c = self.collation_of_database();
            let chars = 4 / c.charset().max_width() as u64;
            ty = ExprType::string(chars, c, ty.coercibility, ty.nullable);
        }
        // A text that is cut is NULL in strict mode, so any text may be.
        let strict = self.scope.env.sql_mode.strict();
        let is_text = ty.ty.is_string() || ty.ty.fixed().is_some();
        if strict && func.results.is_none() && is_text && func.name() != "version" {
            ty.nullable = true;
        }
        let args = meet::in_call(func, args, &ty, self.scope.env)?;
        let args = match func.results {
            Some(r) if !(r.but_texts && is_compared(&ty)) => results(args, r, &ty),
            _ => args,
        };
        Ok(make(ExprKind::Func { func, args }, ty))
    }

    /// NULLIF of a JSON_EXTRACT gives the JSON text, but compares its value.
    fn nullif_extract(&self, a: Expr, b: Expr) -> SqlResult<Expr> {
        let ty = a.ty.with_nullable(true);
        let equal = self.compare(CmpOp::Eq, a.clone(), b)?;
        Ok(make(
            ExprKind::Case {
                operand: None,
                whens: vec![(equal, Expr::literal(Value::Null))],
                otherwise: Some(boxed(a)),
                collation: Collation::default(),
            },
            ty,
        ))
    }

    pub(super) fn named_call(&self, name: &str, args: Vec<Expr>) -> SqlResult<Expr> {
        match functions::lookup(name) {
            Some(f) if f.accepts(args.len()) => self.call(f, args),
            Some(_) => Err(wrong_count(name)),
            None => Err(self.no_function(None, name)),
        }
    }

    /// A call about a sequence.
    fn sequence_call(
        &self,
        function: &str,
        sequence: &TableName,
        numbers: Vec<Expr>,
    ) -> SqlResult<Expr> {
        let env = self.scope.env;
        let name = sequence.name.as_str();
        let db = match &sequence.db {
            Some(db) => db.as_str(),
            None => env.require_db()?,
        };
        let needs = |privilege| Needs {
            db: db.to_string(),
            table: name.to_string(),
            through: None,
            alias: None,
            privilege,
        };
        let privileges: &[Privilege] = match function {
            "lastval" => &[Privilege::Select],
            "nextval" => &[Privilege::Select, Privilege::Insert],
            _ => &[Privilege::Insert],
        };
        // It is among them also when it is not found: the error says what looks for it.
        let before = env.sequences_used.borrow().len();
        (env.sequences_used.borrow_mut()).extend(privileges.iter().map(|p| needs(*p)));
        if crate::numbers::find(env, db, name)? {
            env.sequences_used.borrow_mut().truncate(before);
            if env.unrepeatable.get().is_none() {
                env.unrepeatable.set(Some("temporary tables"));
            }
        }
        let mut args = vec![
            Expr::literal(Value::str(db)),
            Expr::literal(Value::str(name)),
        ];
        args.extend(numbers);
        self.named_call(function, args)
    }

    fn no_function(&self, db: Option<&str>, name: &str) -> SqlError {
        let db = db.or(self.scope.env.db.as_deref());
        match db {
            // A name that the grammar knows.
            Some(db) if Kw::of(name) != Kw::Plain => {
                errors::FUNC_INEXISTENT_NAME_COLLISION.with([&format!("{db}.{name}")])
            }
            Some(db) => {
                errors::SP_DOES_NOT_EXIST.text(format!("FUNCTION {db}.{name} does not exist"))
            }
            None => errors::NO_DB_ERROR.plain(),
        }
    }

    fn function(&self, f: &Call) -> SqlResult<Expr> {
        let written = f.name.as_str();
        if let Some(c) = &f.clauses {
            if let Some(over) = &c.over {
                return self.window_call(f, over);
            }
            if c.within_group.is_some() {
                return Err(SqlError::unsupported("WITHIN GROUP"));
            }
        }
        if f.spaced {
            return Err(misplaced(written));
        }
        let schema = f.schema();
        if let (Some(db), None) = (&f.db, schema) {
            return self.stored(f, Some(db));
        }
        let mut name = written.to_ascii_lowercase();
        let known = functions::oracle::in_schema(&name) && functions::lookup(&name).is_some();
        if schema.is_some() && !known {
            return Err(errors::FUNCTION_NOT_DEFINED.with([&written]));
        }
        if schema == Some(FunctionSchema::Oracle)
            && let Some(other) = functions::oracle::name_of(&name, f.args.len())
        {
            name = other.to_string();
        }
        if name == "rownum" {
            self.scope.env.numbers_rows.set(true);
            // A condition asks for the number that the row will have.
            if matches!(
                self.scope.clause,
                Clause::Where | Clause::On | Clause::Having
            ) {
                name = functions::info::NEXT_ROW.to_string();
            }
        }
        if !f.parens {
            return self.named_call(&name, Vec::new());
        }
        if let Some(func) = AggFunc::named(&name) {
            return self.aggregate(func, &name, f);
        }
        if f.distinct || f.clauses.is_some() {
            return Err(SqlError::syntax(format!("unexpected clause in {name}()")));
        }
        if !f.arg_names.is_empty() {
            return Err(match functions::lookup(&name) {
                Some(_) => errors::WRONG_PARAMETERS_TO_NATIVE_FCT.text(format!(
                    "Incorrect parameters in the call to native function '{written}'"
                )),
                None => self.no_function(None, written),
            });
        }
        let list = f.args.as_slice();
        match (name.as_str(), list) {
            ("adddate" | "subdate", [date, days]) => {
                let (date, days) = (self.expr(date)?, self.expr(days)?);
                return self.date_add_unit(date, days, IntervalUnit::Day, name == "subdate");
            }
            ("add_months", [date, months]) => {
                let (date, months) = (self.expr(date)?, self.expr(months)?);
                return self.date_add_unit(date, months, IntervalUnit::Month, false);
            }
            ("mod", [l, r]) => {
                let (l, r) = (self.expr(l)?, self.expr(r)?);
                return self.arith(ArithOp::Mod, l, r);
            }
            _ => {}
        }
        if functions::lookup(&name).is_none() {
            return self.stored(f, None);
        }
        let args = self.arguments(&name, list)?;
        match functions::lookup(&name) {
            Some(f) if f.accepts(args.len()) => self.call(f, args),
            Some(_) => Err(wrong_count(written)),
            None => self.stored(f, None),
        }
    }

    /// The arguments of a function of the registry.
    fn arguments(&self, name: &str, list: &[Ast]) -> SqlResult<Vec<Expr>> {
        let mut args = Vec::with_capacity(list.len());
        for ast in list {
            if matches!(ast, Ast::Row(_)) {
                return Err(match (name, list) {
                    ("least" | "greatest", [a, b, ..]) => self.row_operand(a, b, name)?,
                    ("benchmark", [_, Ast::Row(_)]) => wrong_columns(1),
                    _ => row_argument(name),
                });
            }
            let e = self.expr(ast)?;
            // TRUE is an integer everywhere but in JSON.
            let is_bool = matches!(ast, Ast::Literal(Literal::Bool(_)));
            args.push(if is_bool && name.starts_with("json_") {
                let ty = e.ty;
                make(
                    ExprKind::IsBool {
                        expr: boxed(e),
                        value: true,
                        negated: false,
                    },
                    ty,
                )
            } else {
                e
            });
        }
        Ok(args)
    }

    /// A call of a stored function.
    fn stored(&self, f: &Call, db: Option<&str>) -> SqlResult<Expr> {
        let env = self.scope.env;
        let found = match &env.programs {
            Some(p) => p.function(db, &f.name, env)?,
            None => None,
        };
        let Some(function) = found else {
            return Err(self.no_function(db, &f.name));
        };
        if f.distinct || f.clauses.is_some() {
            return Err(SqlError::syntax(format!(
                "unexpected clause in {}()",
                f.name
            )));
        }
        if !f.arg_names.is_empty() {
            let name = format!("{}.{}", function.db, function.name);
            return Err(errors::WRONG_PARAMETERS_TO_STORED_FCT.with([&name]));
        }
        if function.parameters.len() != f.args.len() {
            let name = format!("{}.{}", function.db, function.name);
            let (wanted, given) = (function.parameters.len(), f.args.len());
            return Err(errors::SP_WRONG_NO_OF_ARGS.with([&"FUNCTION", &name, &wanted, &given]));
        }
        self.differs_elsewhere(STORED_FUNCTIONS);
        if let Some(n) = function.out {
            return Err(errors::SF_OUT_INOUT_ARG_NOT_ALLOWED.with([&n, &function.name]));
        }
        let mut args = Vec::with_capacity(f.args.len());
        if function.aggregate {
            args.push(self.aggregate(AggFunc::Rows, &f.name, f)?);
        } else {
            for (parameter, arg) in function.parameters.iter().zip(&f.args) {
                self.stored_argument(parameter, arg, &mut args)?;
            }
        }
        let ty = ExprType {
            coercibility: Coercibility::Coercible,
            // A number is text in the database's character set.
            as_text: (!function.returns.is_string()).then(|| self.collation_of_database()),
            ..ExprType::of_column(function.returns, true)
        };
        Ok(make(
            ExprKind::Stored(Box::new(StoredCall { function, args })),
            ty,
        ))
    }

    /// An argument of a stored function: of a row each field.
    fn stored_argument(
        &self,
        parameter: &FunctionParameter,
        arg: &Ast,
        out: &mut Vec<Expr>,
    ) -> SqlResult<()> {
        let items = row_items(arg);
        let Some(fields) = parameter.fields else {
            if items.is_some() {
                let to = parameter.ty.map_or_else(String::new, |t| t.family_name());
                return Err(SqlError::no_row(&to, &parameter.name));
            }
            let e = self.expr(arg)?;
            out.push(match &parameter.ty {
                Some(ty) => into_column(e, ty),
                None => e,
            });
            return Ok(());
        };
        match (items, arg) {
            (Some(items), _) if items.len() == fields => {
                for item in items {
                    out.push(self.expr(item)?);
                }
                Ok(())
            }
            (None, Ast::Literal(Literal::Null | Literal::NullText)) => {
                for _ in 0..fields {
                    out.push(self.expr(arg)?);
                }
                Ok(())
            }
            (None, Ast::Param(_)) => {
                let what = "EXECUTE ... USING ?";
                Err(errors::ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION.with([&"row", &what]))
            }
            (None, Ast::Subquery(_)) => Err(SqlError::unsupported("a query as a ROW parameter")),
            _ => Err(wrong_columns(fields)),
        }
    }

    fn insert_value(&self, ast: &Ast) -> SqlResult<Expr> {
        let (table, name) = match ast {
            Ast::Column(name) => (None, name),
            Ast::Qualified(q) => (Some(&q.table), &q.column),
            _ => return Err(SqlError::syntax("VALUES() needs a column")),
        };
        let Some((_, source)) = self.scope.visible().next() else {
            return Err(self.unknown_column(name));
        };
        if let Some(t) = table
            && self.scope.insert_values
            && !source.is_named(t)
        {
            return Err(self.unknown_column(&format!("{t}.{name}")));
        }
        let Some(mut c) = source.table.column(name) else {
            return Err(self.unknown_column(name));
        };
        let mut source = source;
        if let Some(v) = &source.view {
            // The view's table stands first.
            let of = v.columns.get(c).and_then(Expr::as_column);
            c = of.ok_or_else(|| self.unknown_column(name))?.1;
            source = &self.scope.sources[0];
        }
        if !self.scope.insert_values {
            // Outside of ON DUPLICATE KEY UPDATE it is NULL.
            return Ok(Expr::literal(Value::Null));
        }
        let ty = ExprType::of_column(source.table.columns()[c].ty, true);
        Ok(make(ExprKind::InsertValue(c), ty))
    }
}

/// 1630: a built-in function with a space in front of its parenthesis, where another of that name is meant.
fn misplaced(name: &str) -> SqlError {
    errors::FUNC_INEXISTENT_NAME_COLLISION.with([&name])
}

/// Error 1300: bytes that are no text of a character set.
fn invalid(set: Charset, bytes: &[u8]) -> SqlError {
    let bad = bytes.get(set.well_formed(bytes)..).unwrap_or(bytes);
    let shown: String = bad.iter().take(3).map(|b| format!("{b:02X}")).collect();
    errors::INVALID_CHARACTER_STRING.with([&set.name(), &shown])
}

/// NULL as a text of no characters.
fn null_text(set: Charset) -> Expr {
    let collation = set.default_collation();
    let ty = ExprType::string(0, collation, Coercibility::Coercible, true);
    make(ExprKind::Literal(Value::Null), ty)
}

/// A string literal behind an introducer such as `_latin1`: its bytes are text in that character set.
fn introduced(e: Expr, set: Charset) -> SqlResult<Expr> {
    let bytes = match &e.kind {
        ExprKind::Literal(Value::Str(s)) => s.as_bytes(),
        ExprKind::Literal(Value::Bytes(b)) => b,
        ExprKind::Literal(Value::Null) => return Ok(null_text(set)),
        _ => return Ok(e),
    };
    let text = match set {
        _ if !set.stores_utf8() => match set.text_of(bytes) {
            Ok(t) => t.into_owned(),
            Err(_) => return Err(invalid(set, bytes)),
        },
        _ => match std::str::from_utf8(bytes) {
            Ok(t) if set.fitting(t.as_bytes()) == t.len() => t.to_string(),
            // As in any literal of utf8mb3.
            Ok(t)
                if set == Charset::Utf8mb3
                    && matches!(e.kind, ExprKind::Literal(Value::Str(_))) =>
            {
                t.to_string()
            }
            _ => return Err(invalid(set, bytes)),
        },
    };
    let ty = ExprType::string(
        text.chars().count() as u64,
        set.default_collation(),
        Coercibility::Coercible,
        false,
    );
    Ok(make(ExprKind::Literal(Value::str(text)), ty))
}

fn unit(u: ast::Unit) -> SqlResult<IntervalUnit> {
    let name = u.name();
    IntervalUnit::from_name(name).ok_or_else(|| SqlError::syntax(format!("unknown unit '{name}'")))
}

fn hex(s: &str) -> SqlResult<Vec<u8>> {
    let padded;
    let s = if s.len() % 2 == 1 {
        padded = format!("0{s}");
        padded.as_str()
    } else {
        s
    };
    s.as_bytes()
        .chunks(2)
        .map(|c| {
            std::str::from_utf8(c)
                .ok()
                .and_then(|c| u8::from_str_radix(c, 16).ok())
                .ok_or_else(|| SqlError::syntax("bad hexadecimal literal"))
        })
        .collect()
}

/// b'0101'
fn bits(s: &str) -> SqlResult<Vec<u8>> {
    let bad = || SqlError::syntax("bad bit literal");
    let n = s.len().div_ceil(8);
    let mut out = vec![0u8; n];
    for (i, c) in s.bytes().rev().enumerate() {
        match c {
            b'0' => {}
            b'1' => out[n - 1 - i / 8] |= 1 << (i % 8),
            _ => return Err(bad()),
        }
    }
    Ok(out)
}

/// Arguments that can be the result as values of its type.
fn results(args: Vec<Expr>, r: Results, ty: &ExprType) -> Vec<Expr> {
    let n = args.len();
    let one = |(i, a): (usize, Expr)| match (r.is_one)(i, n) {
        false => a,
        true if r.converted => a.coerce(ty),
        true => a.branch(ty),
    };
    args.into_iter().enumerate().map(one).collect()
}

/// An operand in a numeric place: a hexadecimal literal is a big-endian number, JSON_EXTRACT gives a value.
pub(super) fn as_operand(e: Expr) -> Expr {
    let e = variable_as_number(bits::as_number(e));
    match &e.kind {
        ExprKind::DateAdd { .. } if e.ty.is_string() => {
            let digits = (e.ty.chars().saturating_sub(20)).min(6) as u32;
            let ty = ExprType::decimal(14, digits, true);
            moment_number(e, ty)
        }
        ExprKind::Func { func, .. } if e.ty.is_string() && is_sum(func) => {
            let mut ty = ExprType::double(true);
            if let Some(digits) = sum_digits(&e) {
                ty.decimals = digits;
            }
            moment_number(e, ExprType::decimal(14, 6, true)).coerce(&ty)
        }
        // Where a number is wanted GREATEST and LEAST compare texts as numbers.
        ExprKind::Func { func, .. }
            if e.ty.is_string() && [Func::Greatest, Func::Least].contains(func) =>
        {
            let ty = ExprType::double(e.ty.nullable);
            match e.kind {
                ExprKind::Func { func, args } => {
                    let args = args.into_iter().map(|a| a.coerce(&ty)).collect();
                    make(ExprKind::Func { func, args }, ty)
                }
                kind => Expr { kind, ..e },
            }
        }
        _ => json::as_scalar(e, true),
    }
}

/// The number that a moment's text counts as.
fn moment_number(e: Expr, ty: ExprType) -> Expr {
    let func = &functions::date::MOMENT_NUMBER;
    let args = vec![e];
    make(ExprKind::Func { func, args }, ty)
}

/// A YEAR computes as an integer without a sign.
fn year_operand(e: Expr) -> Expr {
    if e.ty.ty.kind != TypeKind::Year {
        return e;
    }
    if short_year::is_short(&e) {
        return short_year::two_digits(e);
    }
    whole_year(e)
}

/// A year as the number of its four digits.
fn whole_year(e: Expr) -> Expr {
    let ty = ExprType::bigint(true, e.ty.nullable).with_chars(4, false);
    make(ExprKind::Cast(boxed(e)), ty)
}

/// Type of CAST AS BINARY, with a length or as long as the value.
fn bytes_of_cast(of: &ExprType, length: Option<u64>, nullable: bool) -> ExprType {
    // All values of such a type have one length.
    let fixed = of.ty.fixed().map(|kind| kind.bytes() as u64);
    let length = length.or(fixed);
    let bytes = match (length, of.ty.max_bytes()) {
        (Some(n), _) => n,
        (None, Some(n)) if of.ty.is_string() => n,
        (None, _) => of.chars(),
    };
    let kind = match length {
        Some(n) => TypeKind::Binary(n.min(u64::from(NO_LENGTH) - 1) as u16),
        None => TypeKind::VarBinary(NO_LENGTH),
    };
    ExprType {
        coercibility: Coercibility::Implicit,
        // As a number it is a whole one.
        decimals: 0,
        width: bytes.min(u64::from(u32::MAX)) as u32,
        ..ExprType::of_column(ColumnType::new(kind), nullable)
    }
}

/// GREATEST and LEAST of such a type compare their arguments as they are: texts, and what is no moment beside one.
fn is_compared(ty: &ExprType) -> bool {
    ty.ty.is_string() || matches!(ty.ty.kind, TypeKind::Date | TypeKind::DateTime(_))
}

/// Most characters of a value that is made an integer.
fn integer_chars(e: &Expr, unsigned: bool) -> u32 {
    const ANY: u32 = 20;
    let ty = &e.ty;
    // A text may have a sign more.
    let chars = ty.chars().min(u64::from(ANY) + 1) as u32;
    match &e.kind {
        ExprKind::Literal(Value::Null) => 1 + u32::from(!unsigned),
        ExprKind::Literal(Value::Bytes(b)) if ty.bits => bits::bits_digits(b.len()),
        _ if matches!(ty.ty.kind, TypeKind::Float | TypeKind::Double) => ANY,
        ExprKind::Literal(Value::Str(s)) if unsigned && s.trim_start().starts_with('-') => ANY,
        ExprKind::Literal(Value::Str(_) | Value::Bytes(_)) => chars.max(1 + u32::from(!unsigned)),
        ExprKind::Literal(Value::Int(n)) if unsigned && *n < 0 => ANY,
        ExprKind::Literal(_) if ty.ty.is_integer() => chars.max(1 + u32::from(!unsigned)),
        _ if matches!(ty.ty.kind, TypeKind::Decimal(..)) => chars,
        _ if ty.counts_unsigned() || ty.natural => ty.int_digits().min(ANY),
        _ if unsigned => ANY,
        // Eight bytes may be any number.
        _ if ty.ty.is_binary_string() && e.as_column().is_none() => ANY,
        _ if ty.ty.is_integer() => ty.int_digits() + 1,
        _ => chars,
    }
}

/// Literals of bits among numbers that GREATEST, LEAST and NULLIF compare are numbers. NULLIF gives its first value on as it
/// is.
fn bits_beside_numbers(func: &Function, args: Vec<Expr>) -> Vec<Expr> {
    let kept = match func {
        f if [Func::Greatest, Func::Least].contains(&f) => 0,
        f if f == Func::Nullif => 1,
        _ => return args,
    };
    let number = |e: &Expr| e.ty.ty.is_numeric() && !e.ty.null;
    if !args.iter().any(number) {
        return args;
    }
    let one = |(i, e): (usize, Expr)| match i < kept {
        true => e,
        false => variable_as_number(bits::as_number(e)),
    };
    args.into_iter().enumerate().map(one).collect()
}

fn hex_for_cast(e: Expr, ty: &ExprType) -> Expr {
    let is_literal = matches!(e.kind, ExprKind::Literal(_)) || bits::are_bits(&e);
    match ty.ty.kind {
        _ if ty.ty.is_integer() && is_literal => as_operand(e),
        TypeKind::Decimal(..) | TypeKind::Double => as_operand(e),
        _ => e,
    }
}

/// A constant next to another operand, in the form that is cheapest to compare: strings beside temporal columns become
/// temporal values (beside UUID, INET4 and INET6 values of those), hexadecimal literals beside numbers become numbers. Fails
/// for a slot whose value would matter.
pub(super) fn constant_beside(e: Expr, other: &Expr, env: &StatementEnv) -> SqlResult<Expr> {
    slot_fits(&e, other)?;
    let e = bytes_beside(e, other);
    if let Some(kind) = other.ty.ty.fixed() {
        return Ok(fixed::literal_beside(e, kind, env));
    }
    if other.ty.ty.kind == TypeKind::Year && other.as_column().is_some() {
        return Ok(short_year::year_beside(as_operand(e)));
    }
    if other.ty.ty.is_numeric() && !other.ty.null {
        return Ok(as_operand(e));
    }
    let ExprKind::Literal(Value::Str(s)) = &e.kind else {
        return Ok(e);
    };
    let v = match other.ty.ty.kind {
        TypeKind::Date | TypeKind::DateTime(_) | TypeKind::Timestamp(_) => {
            let rules = DateRules {
                rounds: rounds(env),
                ..DateRules::COMPARED
            };
            match parse_datetime(s.as_bytes(), rules) {
                Some(p) if !p.garbage => Value::DateTime(p.value),
                _ => return Ok(e),
            }
        }
        TypeKind::Time(_) => match parse_time(s.as_bytes(), rounds(env)) {
            Some(p) if !p.garbage => Value::Time(p.value),
            _ => return Ok(e),
        },
        _ => return Ok(e),
    };
    Ok(Expr::literal(v))
}

/// Bytes as they are written, 0xA1A1, are text in the character set of a column beside them.
fn bytes_beside(e: Expr, other: &Expr) -> Expr {
    let set = other.ty.ty.collation.charset();
    let is_text = other.ty.ty.is_character() && !set.stores_utf8() && set != Charset::Binary;
    if !is_text || e.ty.coercibility <= other.ty.coercibility {
        return e;
    }
    match &e.kind {
        ExprKind::Literal(Value::Bytes(b)) => match set.text_of(b) {
            Ok(text) => {
                let mut literal = Expr::literal(Value::str(text));
                literal.ty.ty.collation = other.ty.ty.collation;
                literal
            }
            Err(_) => e,
        },
        _ => e,
    }
}

/// A slot may stand beside a column of its own kind only: a number beside numbers, text beside text. Elsewhere the way
/// they are compared may depend on its value; the statement is planned with its literals then.
fn slot_fits(e: &Expr, other: &Expr) -> SqlResult<()> {
    let inner = match &e.kind {
        ExprKind::Neg(e) => e,
        _ => e,
    };
    if !matches!(inner.kind, ExprKind::Slot(_)) {
        return Ok(());
    }
    let ty = &other.ty.ty;
    let number = ty.is_integer()
        || matches!(
            ty.kind,
            TypeKind::Decimal(..) | TypeKind::Float | TypeKind::Double
        );
    let fits = if e.ty.ty.is_numeric() {
        number
    } else {
        ty.is_character() && ty.collation != Collation::Binary
    };
    if fits && other.as_column().is_some() {
        return Ok(());
    }
    Err(SqlError::unsupported("a slot in this comparison"))
}

fn temporal_literal(kind: TemporalKind, text: &str, env: &StatementEnv) -> SqlResult<Expr> {
    let bad = |kind: &str| errors::WRONG_VALUE.with([&kind, &text]);
    let rules = DateRules {
        rounds: rounds(env),
        ..DateRules::default()
    };
    // A minus that is no sign stands between the parts of a date.
    let has_date = text
        .trim_start()
        .get(1..)
        .is_some_and(|rest| rest.contains('-'));
    // A literal's date is looked at as the modes want it, whatever the statement does with it.
    let allowed = |d: &narwal_types::Date, micros: u64| {
        let of = |mode, bad: bool| env.sql_mode.has(mode) && bad;
        let no_day = d.year == 0 && d.month == 0 && d.day == 0;
        let in_date = !no_day && (d.month == 0 || d.day == 0);
        !of(SqlMode::NO_ZERO_DATE, no_day && micros == 0) && !of(SqlMode::NO_ZERO_IN_DATE, in_date)
    };
    // A mode of now refuses what was there when the statement was prepared.
    let lost = |kind| {
        let told = format!("Incorrect datetime value: '{text}'");
        env.warn(codes::TRUNCATED_WRONG_VALUE, told);
        let ty = ExprType::of_column(ColumnType::new(kind), true);
        make(ExprKind::Literal(Value::Null), ty)
    };
    let v = match kind {
        TemporalKind::Date => match parse_datetime(text.as_bytes(), rules) {
            Some(p) if !p.garbage && !p.has_time && allowed(&p.value.date, 0) => {
                Value::Date(p.value.date)
            }
            Some(p) if !p.garbage && !p.has_time && env.was_prepared.get() => {
                return Ok(lost(TypeKind::Date));
            }
            _ => return Err(bad("DATE")),
        },
        TemporalKind::Time => match parse_time(text.as_bytes(), rules.rounds) {
            Some(p) if !p.garbage && p.value.in_range() && !has_date => Value::Time(p.value),
            _ => return Err(bad("TIME")),
        },
        TemporalKind::Timestamp => match parse_datetime(text.as_bytes(), rules) {
            Some(p) if !p.garbage && p.has_time && allowed(&p.value.date, p.value.micros) => {
                Value::DateTime(p.value)
            }
            Some(p) if !p.garbage && p.has_time && env.was_prepared.get() => {
                return Ok(lost(TypeKind::DateTime(p.value.fsp)));
            }
            _ => return Err(bad("DATETIME")),
        },
    };
    let digits = text.trim_end().rsplit_once('.').map_or(0, |(_, d)| d.len());
    if digits > 6 {
        let kind = match kind {
            TemporalKind::Time => "TIME",
            _ => "DATETIME",
        };
        let told = errors::TRUNCATED_WRONG_VALUE.with([&kind, &text]);
        env.note(told.code, told.message);
    }
    let whole = |d: &narwal_types::Date| d.month != 0 && d.day != 0;
    let may_be_null = match &v {
        Value::Date(d) => !whole(d),
        Value::DateTime(d) => !whole(&d.date),
        _ => false,
    };
    let mut e = Expr::literal(v);
    // A later mode may have no such date.
    e.ty.nullable |= may_be_null;
    Ok(e)
}

/// What LEVEL of WEIGHT_STRING asks for: a bit a level from bit 0, DESC from bit 8, REVERSE from bit 16.
fn flags(levels: &[ast::WeightLevel]) -> i64 {
    let mut flags = 0;
    for l in levels {
        let at = |n: u64| n.clamp(1, 6) - 1;
        for n in at(l.from)..=at(l.to).max(at(l.from)) {
            flags |= 1 << n | i64::from(l.desc) << (8 + n) | i64::from(l.reverse) << (16 + n);
        }
    }
    flags
}
