//! Calls of aggregates: their arguments, their clauses, and which query they belong to.

use crate::bind::binder::{Binder, as_operand, member_as_text};
use crate::bind::meet;
use crate::bind::scope::{HandedSubqueries, OuterScope, Scope};
use crate::bind::short_year;
use crate::bind::windows::WindowsHere;
use crate::env::VariableScope;
use crate::expr::fixed;
use crate::expr::node::{AggFunc, Aggregate, Expr, ExprKind, ExprType, ListOptions, make};
use narwal_syntax::SqlMode;
use narwal_syntax::ast::{self, Call, Expr as Ast};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult, Value};

/// What is said of the rows of a list: GROUP_CONCAT(x ORDER BY y SEPARATOR s LIMIT n).
struct Clauses {
    separator: Box<str>,
    /// DESC of each key. The keys themselves stand behind the arguments.
    order: Vec<bool>,
    /// How many are left out, and how many are taken.
    limit: Option<(u64, u64)>,
}

/// Error unless an aggregate takes so many arguments.
fn check_count(func: AggFunc, name: &str, f: &Call, args: usize) -> SqlResult<()> {
    let several = func == AggFunc::GroupConcat || func == AggFunc::Count && f.distinct;
    let pair = func == AggFunc::JsonObject;
    if func == AggFunc::Rows {
        return Ok(());
    }
    if args == 0 && !f.star || args > 1 && !several && !pair || pair && args != 2 {
        if func == AggFunc::JsonArray && args > 1 {
            let name = name.to_ascii_uppercase();
            return Err(errors::WRONG_PARAMCOUNT_TO_NATIVE_FCT.with([&name]));
        }
        return Err(SqlError::syntax(format!(
            "unexpected number of arguments of {name}()"
        )));
    }
    let spread = matches!(
        func,
        AggFunc::StdPop | AggFunc::StdSamp | AggFunc::VarPop | AggFunc::VarSamp
    );
    if spread && f.distinct {
        return Err(SqlError::syntax(format!("DISTINCT in {name}()")));
    }
    Ok(())
}

/// The place of an aggregate among those of a query, to which it is added unless it is one of them.
fn place_of(a: Aggregate, all: &mut Vec<Aggregate>) -> usize {
    if let Some(n) = all.iter().position(|x| *x == a) {
        return n;
    }
    all.push(a);
    all.len() - 1
}

impl Binder<'_> {
    /// Binds a call, and has the query collect it.
    pub(super) fn aggregate(&self, func: AggFunc, name: &str, f: &Call) -> SqlResult<Expr> {
        let frames = self.scope.frames();
        if !self.scope.takes_aggregates() && !frames.iter().any(|f| f.0.scope.takes_aggregates()) {
            return Err(invalid_aggregate());
        }
        // No aggregate inside of another.
        let inner_scope = Scope {
            aggregates: None,
            in_aggregate: true,
            windows: WindowsHere::InArgument,
            ..*self.scope
        };
        let inner = Binder {
            scope: &inner_scope,
        };
        let mut args = Vec::new();
        let mut unlike = Vec::new();
        for e in &f.args {
            let e = inner.expr(e)?;
            if f.distinct && matches!(func, AggFunc::GroupConcat | AggFunc::JsonArray) {
                unlike.push(e.clone());
            }
            args.push(match e {
                e if func.is_numeric() => as_operand(e),
                e if func == AggFunc::GroupConcat && e.ty.has_form() => {
                    // Room for the text of any number.
                    let text = ExprType {
                        coercibility: e.ty.coercibility,
                        ..ExprType::text(512, e.ty.nullable)
                    };
                    e.coerce(&self.localized(text, &[]))
                }
                e if func == AggFunc::Rows => member_as_text(e),
                e => e,
            });
        }
        if func == AggFunc::Rows && args.is_empty() {
            // A row counts, whatever is in it.
            args.push(Expr::literal(Value::Int(0)));
        }
        let values = args.len();
        check_count(func, name, f, values)?;
        let Clauses {
            separator,
            mut order,
            limit,
        } = inner.clauses(func, name, f, &mut args)?;
        if order.is_empty() {
            // Values that differ come in their order.
            order = vec![false; unlike.len()];
            args.append(&mut unlike);
        }
        let sees_outer = |e: &Expr| e.any(&|e| matches!(e.kind, ExprKind::Outer(_)));
        let is_subquery = |e: &Expr| e.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
        // One of no columns belongs to the innermost query that can have it.
        let of_no_query = || !self.scope.takes_aggregates() && !args.iter().any(is_subquery);
        if (args.iter().any(sees_outer) || of_no_query())
            && !args.iter().any(Expr::has_column)
            && let Some(e) = self.outer_aggregate((func, name, f), &frames)?
        {
            return Ok(e);
        }
        let Some(collected) = self.scope.aggregates else {
            return Err(invalid_aggregate());
        };
        let ends = matches!(func, AggFunc::Min | AggFunc::Max);
        if ends {
            // Members compare by their texts here.
            args = args.into_iter().map(member_as_text).collect();
        }
        args = self.short_years(func, args);
        fixed::check_aggregate(func, f.distinct, &args[..values])?;
        let ty = func.ty(&args[..values], self.scope.env.div_precision)?;
        let mut ty = self.localized(ty, &args[..values]);
        if func == AggFunc::GroupConcat {
            ty = self.type_of_list(&ty);
            for a in args.iter_mut().take(values) {
                let e = std::mem::replace(a, Expr::literal(Value::Null));
                *a = meet::seen_by(e, ty.ty.collation);
            }
        }
        let list = (func.is_list()).then(|| {
            Box::new(ListOptions {
                order,
                limit,
                max_len: self.list_length(),
            })
        });
        let call = Aggregate {
            func,
            distinct: f.distinct && !ends,
            args,
            separator,
            list,
            ty,
        };
        let text = call.to_string().into();
        let n = place_of(call, &mut collected.borrow_mut());
        Ok(make(ExprKind::Aggregate(n, text), ty))
    }

    /// YEAR(2) among arguments: sums are those of two digits, and ends those of 1970 to 2069, unless an index has them.
    fn short_years(&self, func: AggFunc, args: Vec<Expr>) -> Vec<Expr> {
        let of = |e: Expr| match func {
            _ if !short_year::is_short(&e) => e,
            AggFunc::Sum | AggFunc::Avg => short_year::two_digits(e),
            AggFunc::Min | AggFunc::Max if !self.begins_index(&e) => short_year::widened(e),
            _ => e,
        };
        args.into_iter().map(of).collect()
    }

    /// An index of its table begins with this column.
    fn begins_index(&self, e: &Expr) -> bool {
        let Some((source, column)) = e.as_column() else {
            return false;
        };
        let of = self.scope.sources.get(source);
        of.is_some_and(|s| {
            let mut indexes = s.table.indexes.iter();
            indexes.any(|i| i.parts.first().is_some_and(|p| s.base + p.column == column))
        })
    }

    /// Binds the clauses in a call. The keys of its ORDER BY go behind the arguments.
    fn clauses(
        &self,
        func: AggFunc,
        name: &str,
        f: &Call,
        args: &mut Vec<Expr>,
    ) -> SqlResult<Clauses> {
        let mut said = Clauses {
            separator: ",".into(),
            order: Vec::new(),
            limit: None,
        };
        let Some(c) = &f.clauses else {
            return Ok(said);
        };
        if let Some(s) = &c.separator {
            said.separator = s.as_str().into();
        }
        let has_order = !c.order_by.is_empty() || c.limit.is_some();
        if has_order && (!func.is_list() || func == AggFunc::JsonObject) {
            return Err(SqlError::syntax(format!("unexpected clause in {name}()")));
        }
        let values = args.len();
        for k in &c.order_by {
            // A number means an argument.
            let key = match self.expr(&k.expr)? {
                Expr {
                    kind: ExprKind::Literal(Value::Int(n)),
                    ..
                } => {
                    let i = usize::try_from(n).unwrap_or(0).wrapping_sub(1);
                    match args.get(i).filter(|_| i < values) {
                        Some(a) => a.clone(),
                        None => return Err(self.unknown_column(&n.to_string())),
                    }
                }
                e => e,
            };
            args.push(key);
            said.order.push(k.desc);
        }
        said.limit = c.limit.as_ref().map(|l| self.list_limit(l)).transpose()?;
        Ok(said)
    }

    /// The type of GROUP_CONCAT. As a number it has no digits behind the point but those of what it is beside.
    fn type_of_list(&self, ty: &ExprType) -> ExprType {
        let chars = self.list_length() / ty.ty.collation.charset().min_width();
        ExprType {
            decimals: 0,
            ..ExprType::string(chars as u64, ty.ty.collation, ty.coercibility, true)
        }
    }

    /// `group_concat_max_len`
    fn list_length(&self) -> usize {
        let variables = &self.scope.env.variables;
        match variables.system(VariableScope::Session, "group_concat_max_len") {
            Ok(Value::Int(n)) => n.max(4) as usize,
            Ok(Value::UInt(n)) => n.max(4) as usize,
            _ => 1 << 20,
        }
    }

    /// LIMIT of an aggregate that makes a list: how many are left out, and how many are taken.
    fn list_limit(&self, l: &ast::Limit) -> SqlResult<(u64, u64)> {
        let n = |e: &Ast| match self.expr(e)?.kind {
            ExprKind::Literal(Value::Int(n)) => Ok(n as u64),
            _ => Err(SqlError::unsupported("this LIMIT in an aggregate")),
        };
        Ok((l.offset.as_ref().map_or(Ok(0), n)?, n(&l.count)?))
    }

    /// An aggregate whose columns are all of queries around belongs to the innermost of these; `None` if it can't stand in
    /// that query's clause: then it is one of this query. `frames`: what the scopes around had before its arguments were bound.
    fn outer_aggregate(
        &self,
        (func, name, call): (AggFunc, &str, &Call),
        frames: &[(&OuterScope<'_>, usize)],
    ) -> SqlResult<Option<Expr>> {
        let Some(around) = self.scope.outer else {
            return Ok(None);
        };
        // Columns that only the aggregate looks at are not wanted here.
        let seen: Vec<Vec<Expr>> = frames
            .iter()
            .map(|(f, n)| f.frame.borrow_mut().split_off(*n))
            .collect();
        // Its subqueries go with it.
        let planners = self.scope.planner.zip(around.scope.planner);
        let find = |n| planners.and_then(|(own, _)| own.query(n));
        let handed = planners.map(|(_, around)| HandedSubqueries {
            find: &find,
            around,
        });
        let scope = Scope {
            planner: match &handed {
                Some(p) => Some(p),
                None => around.scope.planner,
            },
            ..*around.scope
        };
        match (Binder { scope: &scope }).aggregate(func, name, call) {
            Ok(e) => Ok(Some(around.add(e))),
            // What it names there is an item of the list, and no column of its tables: it counts rows of this query.
            Err(e)
                if e.code == codes::BAD_FIELD_ERROR && self.scope.takes_aggregates()
                    || e.code == codes::INVALID_GROUP_FUNC_USE
                        && !around.scope.in_aggregate
                        && !self.scope.env.sql_mode.has(SqlMode::ANSI) =>
            {
                for ((f, n), seen) in frames.iter().zip(seen) {
                    let mut frame = f.frame.borrow_mut();
                    frame.truncate(*n);
                    frame.extend(seen);
                }
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }
}

/// Error 1111: an aggregate where there can be none.
fn invalid_aggregate() -> SqlError {
    errors::INVALID_GROUP_FUNC_USE.plain()
}
