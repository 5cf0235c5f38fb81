//! Operators with words: BETWEEN, IN, LIKE, REGEXP, ANY and ALL, COLLATE.

use crate::bind::binder::{Binder, as_operand, boxed, comparison, constant_beside, shown};
use crate::bind::meet;
use crate::bind::operand::{in_name, not_a_row, row_items};
use crate::bind::short_year;
use crate::env::StatementEnv;
use crate::expr::call::wrong_arguments;
use crate::expr::func::Func;
use crate::expr::functions::json;
use crate::expr::functions::string::LIKE_ESCAPED;
use crate::expr::node::{
    CmpOp, Coercibility, EvalCtx, Expr, ExprKind, ExprType, NoRow, Steadiness, SubqueryUse, make,
};
use crate::expr::types;
use crate::expr::types::bool_ty;
use crate::like;
use crate::lower::mismatched_collation;
use narwal_syntax::ast::{BinaryOp, Expr as Ast};
use narwal_syntax::sql_mode::SqlMode;
use narwal_types::errors;
use narwal_types::{Charset, Collation, ColumnType, SqlError, SqlResult, TypeKind, Value};

/// A date, with a time of day or without.
fn is_date(e: &Expr) -> bool {
    e.ty.ty.is_temporal() && !matches!(e.ty.ty.kind, TypeKind::Time(_))
}

/// `NOT e` or `e`.
fn negated_if(negated: bool, e: Expr) -> Expr {
    let ty = e.ty;
    match negated {
        true => make(ExprKind::Not(boxed(e)), ty),
        false => e,
    }
}

impl Binder<'_> {
    /// `e BETWEEN low AND high`
    pub(super) fn between(
        &self,
        e: &Ast,
        (low, high): (&Ast, &Ast),
        negated: bool,
    ) -> SqlResult<Expr> {
        let e = self.expr(e)?;
        let lo = self.beside(low, &e)?;
        let hi = self.beside(high, &e)?;
        let [mut e, mut lo, mut hi] = short_year::compared([e, lo, hi]);
        // A date among others makes dates of all.
        if !e.ty.ty.is_temporal() && is_date(&lo) != is_date(&hi) {
            let ty = ExprType::of_column(ColumnType::new(TypeKind::DateTime(6)), true);
            let date = if is_date(&lo) { &lo } else { &hi };
            e = match constant_beside(e.clone(), date, self.scope.env)? {
                moment if is_date(&moment) => moment,
                _ => e.coerce(&ty),
            };
        }
        // A number among texts makes all three numbers.
        let number = |e: &Expr| e.ty.ty.is_numeric() && !e.ty.null;
        if number(&lo) && number(&hi) {
            e = as_operand(e);
        }
        if e.ty.is_string() && number(&lo) != number(&hi) {
            let double = ExprType::double(true);
            let as_number = |e: Expr| match e.ty.is_string() {
                true => as_operand(e).coerce(&double),
                false => e,
            };
            (e, lo, hi) = (as_number(e), as_number(lo), as_number(hi));
        }
        let collation = types::compare_collation([&e, &lo, &hi], "between")?;
        let [e, lo, hi] = meet::compared([e, lo, hi], collation, "between", self.scope.env)?;
        let nullable = e.ty.nullable || lo.ty.nullable || hi.ty.nullable;
        Ok(make(
            ExprKind::Between {
                expr: boxed(e),
                low: boxed(lo),
                high: boxed(hi),
                negated,
                collation,
            },
            bool_ty(nullable),
        ))
    }

    /// `e IN (list)`
    pub(super) fn in_list(&self, e: &Ast, list: &[Ast], negated: bool) -> SqlResult<Expr> {
        if row_items(e).is_some() {
            return self.row_in(e, list, negated);
        }
        let e = self.expr(e)?;
        if list.iter().any(|x| row_items(x).is_some()) {
            return Err(not_a_row(Some(&e), None, in_name(list, negated)));
        }
        let list = list
            .iter()
            .map(|x| self.beside(x, &e))
            .collect::<SqlResult<Vec<_>>>()?;
        let (mut e, list) = short_year::compared_list(e, list);
        let number = |x: &Expr| x.ty.ty.is_numeric() && !x.ty.null;
        if list.iter().all(number) {
            e = as_operand(e);
        } else if json::is_extract(&e) && list.iter().any(number) {
            let equals = list.into_iter().map(|x| self.equals_extract(&e, x));
            let equals = equals.collect::<SqlResult<Vec<_>>>()?;
            let nullable = equals.iter().any(|e| e.ty.nullable);
            let any = make(ExprKind::Or(equals), bool_ty(nullable));
            return Ok(negated_if(negated, any));
        }
        // IN with one value is a comparison.
        if let [one] = list.as_slice()
            && (json::is_extract(&e) || json::is_extract(one))
        {
            let equal = self.compare(CmpOp::Eq, e, one.clone())?;
            return Ok(negated_if(negated, equal));
        }
        let collation = types::compare_collation(std::iter::once(&e).chain(&list), "in")?;
        let mut texts = vec![e];
        texts.extend(list);
        let mut list = meet::together(texts, collation, "in", true, self.scope.env)?;
        let e = list.remove(0);
        let nullable = e.ty.nullable || list.iter().any(|x| x.ty.nullable);
        Ok(make(
            ExprKind::InList {
                expr: boxed(e),
                list,
                negated,
                collation,
            },
            bool_ty(nullable),
        ))
    }

    /// `text LIKE pattern ESCAPE escape`
    pub(super) fn like(
        &self,
        (text, pattern): (&Ast, &Ast),
        escape: Option<&Ast>,
        negated: bool,
    ) -> SqlResult<Expr> {
        let e = self.expr(text)?;
        let p = self.expr(pattern)?;
        // Of no clause the pattern's collation alone decides.
        let mut set = Charset::Binary;
        let escape = match escape {
            Some(x) => {
                let x = self.expr(x)?;
                if !is_known(&x) && is_constant_at_run(&x) {
                    let like = self.call(&LIKE_ESCAPED, vec![shown(e), shown(p), x])?;
                    return Ok(negated_if(negated, like));
                }
                if x.ty.ty.is_character() {
                    set = x.ty.ty.collation.charset();
                }
                like_escape(&x, self.scope.env)?
            }
            None if self.scope.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) => {
                Some(String::new())
            }
            None => None,
        };
        let collation = types::compare_collation([&e, &p], "like")?;
        let [e, p] = meet::compared([e, p], collation, "like", self.scope.env)?;
        let (e, p) = (shown(e), shown(p));
        let escape = like::escape_char(escape.as_deref(), set, collation);
        let nullable = e.ty.nullable || p.ty.nullable;
        Ok(make(
            ExprKind::Like {
                expr: boxed(e),
                pattern: boxed(p),
                escape,
                negated,
                collation,
            },
            bool_ty(nullable),
        ))
    }

    /// `text REGEXP pattern`
    pub(super) fn regexp(&self, (text, pattern): (&Ast, &Ast), negated: bool) -> SqlResult<Expr> {
        let args = vec![shown(self.expr(text)?), self.expr(pattern)?];
        types::compare_collation(&args, "regexp")?;
        Ok(negated_if(negated, self.call(Func::Regexp, args)?))
    }

    /// `left op ANY (query)`, `left op ALL (query)`
    pub(super) fn quantified(
        &self,
        left: &Ast,
        op: BinaryOp,
        all: bool,
        query: usize,
    ) -> SqlResult<Expr> {
        let op = comparison(op).ok_or_else(|| SqlError::syntax("ANY and ALL need a comparison"))?;
        let used = match all {
            true => SubqueryUse::All(op),
            false => SubqueryUse::Any(op),
        };
        self.compared_subquery(left, query, used)
    }

    /// `e COLLATE name`
    pub(super) fn explicit_collation(&self, e: &Ast, name: &str) -> SqlResult<Expr> {
        let e = self.expr(e)?;
        // NULL has no characters.
        let is_null = e.ty.null || e.ty.coercibility == Coercibility::Ignorable;
        // What a parameter is, its value says.
        let is_parameter = matches!(e.kind, ExprKind::Param(_));
        let set = match e.ty.is_string() {
            _ if is_parameter => Charset::Utf8mb4,
            true => e.ty.ty.collation.charset(),
            // Numbers and moments are written in the connection's characters.
            false => self.scope.env.collation.charset(),
        };
        // CONVERT(NULL USING set) has a character set.
        let converted = matches!(e.kind, ExprKind::Cast(_) | ExprKind::Collate(_));
        if is_null && !is_parameter && !converted && is_of_many_sets(name) {
            return Err(errors::NOT_ALLOWED_IN_THIS_CONTEXT.with([&"NULL"]));
        }
        let c = crate::lower::collation_of(name, set)?;
        let is_null = is_null || is_parameter;
        if set != c.charset() && !is_null {
            return Err(mismatched_collation(c, set));
        }
        Ok(self.collate(e, c, Coercibility::Explicit))
    }
}

/// True for the name of a collation that is one of the character set that it is used with.
fn is_of_many_sets(name: &str) -> bool {
    let of = |set| Collation::of_charset(name, set).map(|c| c.charset());
    of(Charset::Utf8mb4) == Some(Charset::Utf8mb4) && of(Charset::Utf8mb3) == Some(Charset::Utf8mb3)
}

/// What ESCAPE of LIKE gives: at most one character, `None` for NULL. Error 1210 for more, or for what is no constant.
fn like_escape(e: &Expr, env: &StatementEnv) -> SqlResult<Option<String>> {
    let text = match &e.kind {
        ExprKind::Literal(Value::Null) => return Ok(None),
        ExprKind::Literal(v) => v.as_ref().to_text(),
        _ if !is_known(e) => return Err(wrong_arguments("ESCAPE")),
        _ => match e.eval(&EvalCtx::new(env, &[]), &NoRow)? {
            Value::Null => return Ok(None),
            v => v.as_ref().to_text(),
        },
    };
    let least = usize::from(env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES));
    match (least..=1).contains(&text.chars().count()) {
        true => Ok(Some(text)),
        false => Err(wrong_arguments("ESCAPE")),
    }
}

/// True if a run of the statement has one value of it, whatever that is.
fn is_constant_at_run(e: &Expr) -> bool {
    !e.any(&|e| match &e.kind {
        ExprKind::Column { .. }
        | ExprKind::Outer(_)
        | ExprKind::Aggregate(..)
        | ExprKind::Window(_)
        | ExprKind::Item(..)
        | ExprKind::InsertValue(_)
        | ExprKind::Stored(_) => true,
        ExprKind::Subquery(s) => !s.outer.is_empty(),
        ExprKind::Func { func, args } => func.steadiness(args.len()) == Steadiness::Row,
        _ => false,
    })
}

/// True if the value is the same whenever the statement runs: made of literals alone.
pub(crate) fn is_known(e: &Expr) -> bool {
    e.is_const()
        && !e.any(&|e| match &e.kind {
            ExprKind::Param(_)
            | ExprKind::Slot(_)
            | ExprKind::Subquery(_)
            | ExprKind::SystemVariable { .. }
            | ExprKind::Outer(_) => true,
            ExprKind::Func { func, args } => func.steadiness(args.len()) != Steadiness::Constant,
            _ => false,
        })
}
