//! The names of a SELECT: its clauses are bound one after the other, and make a logical plan.

use crate::bind::scope::{Clause, Listed, OuterScope, Scope, Source};
use crate::bind::window::{bind_windows, check_named, refuse_window};
use crate::bind::windows::{Windows, WindowsHere};
use crate::bind::{bind, bind_condition};
use crate::env::StatementEnv;
use crate::expr::node::{AggFunc, Aggregate, Expr, ExprKind, ExprType, NO_LENGTH};
use crate::param_type::ParamType;
use crate::plan::query::{GroupPlan, LimitPlan, LockSpec, SortKey};
use crate::planner::auto_is_null::what_null_finds;
use crate::planner::condition::all_of;
use crate::planner::full_group_by::Grouped;
use crate::planner::logical::{Body, FromPlan, LogicalSelect};
use crate::planner::of_groups;
use crate::planner::resolve::Resolver;
use crate::planner::subqueries::Subqueries;
use crate::star::At;
use narwal_engine::{DefaultDef, LockMode, LockWait};
use narwal_syntax::ast::{
    Expr as AstExpr, From, Limit, Literal, Locking, OrderItem, Select, SelectItem, TableName,
};
use narwal_syntax::ast::{LockWait as Wait, UnaryOp};
use narwal_types::errors;
use narwal_types::{Name, ResultColumn, SqlError, SqlResult, TypeKind, Value};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashMap;

/// A name that is given to a column: without leading spaces, with a warning.
fn without_spaces(name: &str, env: &StatementEnv) -> String {
    let rest = name.trim_start_matches(' ');
    if rest.len() < name.len() {
        let told = match rest.is_empty() {
            true => errors::NAME_BECOMES_EMPTY.with([&name]),
            false => errors::REMOVED_SPACES.with([&name]),
        };
        env.warn_error(&told);
    }
    rest.to_string()
}

fn number_literal(e: &AstExpr) -> Option<&str> {
    match e {
        AstExpr::Literal(Literal::Number(n)) => Some(n),
        _ => None,
    }
}

/// What a locking clause does about the locks of others.
fn lock_wait(wait: Wait) -> LockWait {
    match wait {
        Wait::Default => LockWait::Wait,
        Wait::Seconds(0) | Wait::NoWait => LockWait::NoWait,
        Wait::Seconds(n) => LockWait::UpTo(std::time::Duration::from_secs(n)),
        Wait::SkipLocked => LockWait::SkipLocked,
    }
}

/// An integer in GROUP BY or ORDER BY: the place of a selected expression, or of none.
fn position(e: &AstExpr) -> Option<i128> {
    match e {
        AstExpr::Unary {
            op: UnaryOp::Minus,
            expr,
        } => position(expr).map(|n| -n),
        AstExpr::Nested(inner) => position(inner),
        e => number_literal(e)?.parse().ok(),
    }
}

/// The type of an output column: members of an ENUM or a SET that no column has are texts.
fn kept_of(e: &Expr) -> ExprType {
    let t = e.ty();
    match &e.kind {
        ExprKind::Param(_) | ExprKind::Stored(_) | ExprKind::Subquery(_) if t.ty.is_member() => {
            ExprType::string(t.chars(), t.ty.collation, t.coercibility, t.nullable)
        }
        _ => t,
    }
}

/// Describes an output column.
/// `of`: the column that it is, by its place in its source.
pub(crate) fn result_column(name: &str, e: &Expr, of: Option<(&Source, usize)>) -> ResultColumn {
    let t: ExprType = kept_of(e);
    let mut c = ResultColumn {
        db: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_string(),
        org_name: String::new(),
        ty: t.ty,
        nullable: t.nullable,
        length: 0,
        decimals: match t.ty.is_string() && e.as_column().is_some() {
            true => 0,
            false => t.decimals,
        },
        primary_key: false,
        unique_key: false,
        multiple_key: false,
        auto_increment: false,
        no_default: false,
        set_by_time: false,
        on_update_now: false,
        null_type: t.null,
        json: t.json,
    };
    c.length = match t.ty.kind {
        TypeKind::VarChar(NO_LENGTH) | TypeKind::VarBinary(NO_LENGTH) => t.width,
        // What is computed is kept by its length, unlike a column's value.
        TypeKind::VarChar(n) | TypeKind::VarBinary(n) | TypeKind::Binary(n) if is_computed(e) => {
            t.width.max(n.into())
        }
        _ if t.ty.is_string() => 0,
        _ => t.width,
    };
    if let Some((s, col)) = of {
        let table = &s.table;
        let def = &table.columns()[col];
        c.db = table.def.db.clone();
        c.table = s.name.clone();
        c.org_table = table.def.name.clone();
        c.org_name = def.name.clone();
        // Drivers know a boolean by the 1 of TINYINT(1). A short BIGINT is one that was computed, which is kept as INT.
        if let Some(width) = def.display_width
            && def.ty.is_integer()
            && def.ty.kind != TypeKind::BigInt
        {
            c.length = u32::from(width);
        }
        flag(&mut c, s, col);
    }
    c
}

/// What drivers are told of a column besides its type.
fn flag(c: &mut ResultColumn, s: &Source, col: usize) {
    if let Some(from) = s.made_of.as_ref().and_then(|m| m.get(col)) {
        c.no_default = from.no_default;
        if s.merged {
            // A view has its own.
            if s.table.def.db.is_empty() {
                c.db.clone_from(&from.db);
            }
            c.primary_key = from.primary_key;
            c.unique_key = from.unique_key;
            c.multiple_key = from.multiple_key;
            c.auto_increment = from.auto_increment;
            c.set_by_time = from.set_by_time;
            c.on_update_now = from.on_update_now;
        }
        return;
    }
    // SELECTs put together.
    if s.types.is_some() {
        return;
    }
    let table = &s.table;
    let def = &table.columns()[col];
    let now = matches!(def.default, DefaultDef::CurrentTimestamp(_)) || def.on_update.is_some();
    c.auto_increment = def.auto_increment;
    c.no_default = !def.nullable
        && !def.auto_increment
        && def.generated.is_none()
        && matches!(def.default, DefaultDef::None);
    c.on_update_now = def.on_update.is_some();
    c.set_by_time = now && matches!(def.ty.kind, TypeKind::Timestamp(_));
    for i in table.indexes.iter() {
        let Some(at) = i.parts.iter().position(|p| p.column == col) else {
            continue;
        };
        if i.name == "PRIMARY" {
            c.primary_key = true;
        } else if at == 0 {
            if i.unique && i.parts.len() == 1 {
                c.unique_key = true;
            } else {
                c.multiple_key = true;
            }
        }
    }
}

/// A value that is neither a column's, nor an aggregate of one, nor a literal.
fn is_computed(e: &Expr) -> bool {
    use ExprKind as K;
    matches!(
        e.kind,
        K::Func { .. } | K::Case { .. } | K::Cast(_) | K::Subquery(_)
    )
}

fn without_parens(expr: &AstExpr) -> &AstExpr {
    match expr {
        AstExpr::Nested(inner) => without_parens(inner),
        expr => expr,
    }
}

/// A value that is the same for all rows and may be none: of several rows it is an error.
pub(super) fn has_subquery(e: &Expr) -> bool {
    e.any(&|e| matches!(e.kind, ExprKind::Subquery(_)))
}

/// The name that an expression's text makes: what cannot be seen goes where it leads, and a zero is written out.
fn name_of_text(text: &str) -> String {
    let hidden = |c: char| c == ' ' || c.is_ascii_control();
    text.trim_start_matches(hidden).replace('\0', "\\x00")
}

/// The name that NAME_CONST() gives its value.
fn named_const(expr: &AstExpr) -> Option<&str> {
    match expr {
        AstExpr::Call(call) if call.name.eq_ignore_ascii_case("name_const") => match &*call.args {
            [AstExpr::Literal(Literal::String(name)), _] => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// A column's name as a statement has it, without its table's.
fn written_name(ast: &AstExpr) -> Option<&str> {
    match ast {
        AstExpr::Column(name) => Some(name),
        AstExpr::Qualified(q) => Some(&q.column),
        AstExpr::Nested(inner) => written_name(inner),
        AstExpr::Unary {
            op: UnaryOp::Plus,
            expr,
        } => written_name(expr),
        _ => None,
    }
}

/// The source and the column that a select item names.
fn source_of<'s>(ast: &AstExpr, e: &Expr, sources: &'s [Source]) -> Option<(&'s Source, usize)> {
    let found = e.as_column().and_then(|(at, c)| {
        let s = sources.get(at)?;
        Some((s, c - s.base))
    });
    match found {
        Some((s, c)) if !s.inner => Some((s, c)),
        _ if !matches!(ast, AstExpr::Column(_) | AstExpr::Qualified(_)) => None,
        // A column of a merged view.
        _ => sources.iter().filter(|s| !s.inner).find_map(|s| {
            let of = s.view.as_ref()?;
            Some((s, of.columns.iter().position(|x| x.kind == e.kind)?))
        }),
    }
}

/// The names that a select list gives its items.
fn aliases_of(s: &Select) -> Vec<String> {
    let alias = |item: &SelectItem| match item {
        SelectItem::Expr { alias, .. } => alias.clone(),
        _ => None,
    };
    s.items.iter().filter_map(alias).collect()
}

/// The name that a key of GROUP BY or ORDER BY is, if it is nothing else.
fn key_name(key: &OrderItem) -> Option<&str> {
    match &key.expr {
        AstExpr::Column(name) => Some(name),
        _ => None,
    }
}

/// The select list while a SELECT is bound.
struct SelectList {
    items: Vec<Expr>,
    columns: Vec<ResultColumn>,
    /// Names by which other clauses know items: see [`Scope::aliases`].
    aliases: Vec<(String, Expr)>,
    /// See [`Scope::items`].
    plain: Vec<(String, Expr)>,
    /// Items that have a name of their own, by their places.
    own_names: SmallVec<[usize; 8]>,
    /// Other clauses may name items.
    named: bool,
    /// Some items have other names.
    renames: bool,
}

/// Names times items that are compared one by one.
const FEW: usize = 4096;

/// Finds items of a list by their names. Of many names in a long list each one is looked up.
struct ByName<'a> {
    list: &'a SelectList,
    places: Option<HashMap<String, Vec<usize>>>,
}

impl<'a> ByName<'a> {
    fn of(&self, name: &str) -> SmallVec<[&'a Expr; 4]> {
        let list = self.list;
        match &self.places {
            Some(places) => {
                let places = places.get(&name.name_key());
                let places = places.into_iter().flatten();
                places.filter_map(|i| list.items.get(*i)).collect()
            }
            None => {
                let all = list.columns.iter().zip(&list.items);
                all.filter(|(c, _)| c.name.same_name(name))
                    .map(|(_, e)| e)
                    .collect()
            }
        }
    }
}

impl SelectList {
    fn of(s: &Select, shown: &[At], scope: &Scope<'_>) -> SqlResult<SelectList> {
        let bytes = size_of::<Expr>() + size_of::<ResultColumn>();
        narwal_memory::reserve((s.items.len() * bytes) as u64)?;
        let mut list = SelectList {
            items: Vec::with_capacity(s.items.len()),
            columns: Vec::with_capacity(s.items.len()),
            aliases: Vec::new(),
            plain: Vec::new(),
            own_names: SmallVec::new(),
            named: !s.order_by.is_empty() || !s.group_by.is_empty() || s.having.is_some(),
            renames: s.having.is_some() && !aliases_of(s).is_empty(),
        };
        // Subqueries of the list may name its items.
        let listed = (!s.subqueries.is_empty()).then(|| Listed::of(aliases_of(s)));
        let scope = &Scope {
            listed: listed.as_ref(),
            ..*scope
        };
        for item in &s.items {
            match item {
                SelectItem::Wildcard => list.star(shown, scope)?,
                SelectItem::TableWildcard(name) => list.table_star(name, scope)?,
                SelectItem::Expr { expr, alias, text } => {
                    list.expr((expr, text), alias.as_ref(), scope)?;
                    if let AstExpr::Temporal {
                        odbc: true, text, ..
                    } = expr
                    {
                        list.name_of_text(text, alias.is_some());
                    }
                    if let (Some(listed), Some(alias), Some(e)) =
                        (&listed, alias, list.items.last())
                    {
                        listed.bound(alias, e);
                    }
                }
            }
        }
        Ok(list)
    }

    /// What stands in braces as a moment and is none is a text, whose column is named by it.
    fn name_of_text(&mut self, text: &str, named: bool) {
        if let (false, Some(column), Some(item)) =
            (named, self.columns.last_mut(), self.items.last())
            && item.ty.is_string()
        {
            column.name = text.into();
        }
    }

    /// True if a later clause may need to know which of several tables' columns the list has, or HAVING which of two items
    /// of a name.
    fn needs_plain(&self, scope: &Scope<'_>) -> bool {
        self.named && scope.sources.len() > 1 || self.renames
    }

    /// `*`, or the columns that it stands for.
    fn star(&mut self, wanted: &[At], scope: &Scope<'_>) -> SqlResult<()> {
        if scope.sources.is_empty() {
            return Err(errors::NO_TABLES_USED.plain());
        }
        for &(at, i) in wanted {
            let Some(e) = scope.env.of_all(|| Expr::column(scope, at, i)) else {
                continue;
            };
            let source = &scope.sources[at];
            let name = &source.table.columns()[i].name;
            self.columns
                .push(result_column(name, &e, Some((source, i))));
            if self.needs_plain(scope) {
                self.plain.push((name.clone(), e.clone()));
            }
            self.items.push(e);
        }
        Ok(())
    }

    /// `t.*`
    fn table_star(&mut self, name: &TableName, scope: &Scope<'_>) -> SqlResult<()> {
        let found = scope.sources.iter().position(|s| {
            !s.inner && s.is_named(&name.name) && name.db.as_ref().is_none_or(|d| s.is_in(d))
        });
        let at = found.ok_or_else(|| {
            let db = name.db.as_deref().or(scope.env.db.as_deref());
            let full = db.map_or(name.name.clone(), |db| format!("{db}.{}", name.name));
            errors::BAD_TABLE_ERROR.with([&full])
        })?;
        let columns = scope.sources[at].visible_columns();
        let wanted: Vec<At> = columns.map(|c| (at, c)).collect();
        self.star(&wanted, scope)
    }

    fn expr(
        &mut self,
        (expr, text): (&AstExpr, &String),
        alias: Option<&String>,
        scope: &Scope<'_>,
    ) -> SqlResult<()> {
        let e = bind(expr, scope)?;
        let of = source_of(expr, &e, scope.sources);
        let name = match (alias, of) {
            (Some(a), _) => without_spaces(a, scope.env),
            // A table's column is named as it was written, one of a view or a query as that one has it.
            (None, Some((s, c))) if s.names_its_columns() => s.table.columns()[c].name.clone(),
            (None, Some(_)) => written_name(expr).unwrap_or(text).to_string(),
            _ => match without_parens(expr) {
                _ if let Some(name) = named_const(expr) => name.to_string(),
                AstExpr::Literal(Literal::Null) => "NULL".to_string(),
                AstExpr::Literal(Literal::Bool(b)) => b.to_string().to_ascii_uppercase(),
                _ => name_of_text(text),
            },
        };
        self.columns.push(result_column(&name, &e, of));
        if alias.is_some() || e.as_column().is_none() {
            self.own_names.push(self.items.len());
        } else if self.needs_plain(scope) {
            self.plain.push((name, e.clone()));
        }
        self.items.push(e);
        Ok(())
    }

    /// Finds items by their names, for so many names.
    fn by_name(&self, names: usize) -> ByName<'_> {
        let places = || {
            let mut places: HashMap<String, Vec<usize>> = HashMap::new();
            for (i, c) in self.columns.iter().enumerate() {
                let of_name = places.entry(c.name.name_key()).or_default();
                of_name.push(i);
            }
            places
        };
        ByName {
            list: self,
            places: (names * self.columns.len() > FEW).then(places),
        }
    }

    /// Error 1052: a key of GROUP BY or ORDER BY is a name that several columns of the list have.
    fn check_keys(&self, keys: &[OrderItem], clause: Clause) -> SqlResult<()> {
        let items = self.by_name(keys.len());
        for name in keys.iter().filter_map(key_name) {
            let items = items.of(name);
            let mut columns = items.iter().filter_map(|e| e.as_column());
            let first = columns.next();
            if columns.any(|c| Some(c) != first) {
                return Err(errors::NON_UNIQ_ERROR.with([&name, &clause.name()]));
            }
        }
        Ok(())
    }

    /// Warning 1052: GROUP BY names a column of the tables, and an item is called the same.
    fn warn_of_hidden(&self, written: &[OrderItem], keys: &[SortKey], env: &StatementEnv) {
        let items = self.by_name(keys.len());
        for (name, key) in written.iter().map(key_name).zip(keys) {
            let (Some(name), Some(column)) = (name, key.expr.as_column()) else {
                continue;
            };
            if (items.of(name).iter()).any(|e| e.as_column() != Some(column)) {
                let clause = Clause::GroupBy.name();
                env.warn_error(&errors::NON_UNIQ_ERROR.with([&name, &clause]));
            }
        }
    }

    /// Makes the names known to other clauses, once it is known which clauses there are: windows of the list's own calls
    /// may name items, too.
    fn settle_names(&mut self, windows: &Windows<'_>, subqueries: &Subqueries<'_>) {
        self.named |= !windows.is_empty();
        if !self.named {
            return;
        }
        for &n in &self.own_names {
            let e = &self.items[n];
            let e = match subqueries.changes(e) {
                true => e.as_item(n),
                false => e.clone(),
            };
            self.aliases.push((self.columns[n].name.clone(), e));
        }
    }

    /// The items as other clauses name them, if that is not as they are.
    fn marked(&self, subqueries: &Subqueries<'_>) -> Option<Vec<Expr>> {
        let changes = |e: &Expr| subqueries.changes(e);
        (self.named && self.items.iter().any(changes)).then(|| {
            let mark = |(n, e): (usize, &Expr)| match changes(e) {
                true => e.as_item(n),
                false => e.clone(),
            };
            self.items.iter().enumerate().map(mark).collect()
        })
    }
}

/// True if rows are wanted that the LIMIT leaves out.
fn wants_all(s: &Select) -> bool {
    s.distinct || s.with_ties || s.calc_found_rows
}

impl Resolver<'_> {
    /// Binds LIMIT's operands. `whole`: rows go to a client, who may have said how many it wants.
    pub fn limit(&self, limit: Option<&Limit>, whole: bool) -> SqlResult<Option<LimitPlan>> {
        let env = self.env;
        let Some(l) = limit else {
            if env.select_limit == u64::MAX || !whole {
                return Ok(None);
            }
            return Ok(Some(LimitPlan {
                offset: None,
                count: None,
            }));
        };
        Ok(Some(LimitPlan {
            offset: l.offset.as_ref().map(|e| self.limit_value(e)).transpose()?,
            count: Some(self.limit_value(&l.count)?),
        }))
    }

    /// One operand.
    pub fn limit_value(&self, e: &AstExpr) -> SqlResult<Expr> {
        let mut x = bind(e, &Scope::empty(self.env))?;
        // Numbers beyond BIGINT mean no limit.
        if let (ExprKind::Literal(v), Some(n)) = (&x.kind, number_literal(e))
            && !matches!(v, Value::Int(_) | Value::UInt(_))
        {
            x.kind = ExprKind::Literal(Value::UInt(n.parse().unwrap_or(u64::MAX)));
        }
        // A program's variable is taken for an unsigned number, as in MariaDB.
        if let ExprKind::Param(n) = &x.kind
            && let Some(ParamType::Typed(..)) = self.env.param_types.borrow().get(*n)
        {
            x.ty = ExprType::bigint(true, x.ty.nullable);
        }
        Ok(x)
    }

    /// Binds a SELECT: what it says, before any rule.
    pub fn logical_select(
        &self,
        s: &Select,
        subqueries: &Subqueries<'_>,
        outer: Option<&OuterScope<'_>>,
    ) -> SqlResult<LogicalSelect> {
        let env = self.env;
        let whole = self.whole.take();
        let FromPlan {
            sources,
            body,
            merged,
            shown,
        } = self.from(s.from.as_ref(), subqueries, outer)?;
        let aggregates = RefCell::new(Vec::<Aggregate>::new());
        check_named(&s.windows)?;
        let windows = Windows::new(&s.windows);
        let base = Scope {
            sources: &sources,
            aggregates: Some(&aggregates),
            planner: Some(subqueries),
            outer,
            ..Scope::empty(env)
        };
        let mut list = self.select_list(s, &shown, &base, &windows, subqueries)?;
        let marked = list.marked(subqueries);
        let items = marked.as_deref().unwrap_or(&list.items);
        let where_ = where_clause(s, &base)?;
        let behind = Scope {
            aliases: &list.aliases,
            items: &list.plain,
            ..base
        };
        let keys = self.group_keys(s, items, &list, &behind)?;
        let having = having(s, &keys, &list.items, &behind)?;
        let mut order = self.order_keys(s, items, &windows, &behind)?;
        let calls = Scope {
            aliases: &list.aliases,
            ..base
        };
        let calls = bind_windows(windows.calls.take(), &calls)?;
        let aggregates = aggregates.into_inner();
        order.retain(|k| !k.expr.is_const() || has_subquery(&k.expr));
        let filter = all_of(merged.filter.into_iter().chain(where_).collect());
        let grouped = !keys.is_empty() || !aggregates.is_empty();
        let alone = !matches!(s.from, Some(From::Join(_)));
        if s.order_by.is_empty() && !grouped && !s.distinct && alone {
            order = merged.order;
        }
        if env.sql_mode.has(narwal_syntax::SqlMode::ONLY_FULL_GROUP_BY) {
            let groups = Grouped::new(&keys, &sources, &body, filter.as_ref());
            groups.check(grouped, s.distinct, &list.items, &order)?;
        }
        of_groups::settle(&mut list.items, &mut list.columns, &aggregates, &keys);
        let limit = self.limit(s.limit.as_ref(), whole)?;
        let all_rows = grouped || !calls.is_empty() || having.is_some() || wants_all(s);
        let enough = match (&limit, &s.limit) {
            (Some(l), Some(_)) if !all_rows => rows_of(l),
            _ => None,
        };
        let group = grouped.then(|| GroupPlan {
            counts_only: aggregates.iter().all(|a| counts_rows(a, &sources)),
            aggregates,
            rollup: s.rollup,
            ..GroupPlan::of(keys)
        });
        Ok(LogicalSelect {
            lock: lock_spec(&s.locking, &body),
            lock_each: lock_each(&s.locking, &sources)?,
            sources,
            body,
            filter,
            late: None,
            items: list.items,
            columns: list.columns,
            group,
            having,
            windows: calls,
            order,
            order_written: !s.order_by.is_empty(),
            distinct: s.distinct,
            limit,
            with_ties: s.with_ties,
            enough,
            calc_found_rows: s.calc_found_rows,
            // In a program all its variables are parameters of each SELECT.
            params: s.params.max(self.env.param_types.borrow().len()),
            straight: s.straight || s.from.as_ref().is_some_and(From::is_straight),
        })
    }

    /// Binds the select list, where window functions may stand.
    fn select_list(
        &self,
        s: &Select,
        shown: &[At],
        base: &Scope<'_>,
        windows: &Windows<'_>,
        subqueries: &Subqueries<'_>,
    ) -> SqlResult<SelectList> {
        let env = self.env;
        let params_before = env.params_bound.get();
        let scope = Scope {
            windows: WindowsHere::Allowed(windows),
            ..*base
        };
        let mut list = SelectList::of(s, shown, &scope)?;
        list.settle_names(windows, subqueries);
        if env.params_bound.get() != params_before {
            env.params_typed.set(true);
        }
        Ok(list)
    }

    fn group_keys(
        &self,
        s: &Select,
        items: &[Expr],
        list: &SelectList,
        scope: &Scope<'_>,
    ) -> SqlResult<Vec<SortKey>> {
        list.check_keys(&s.group_by, Clause::GroupBy)?;
        list.check_keys(&s.order_by, Clause::OrderBy)?;
        let scope = Scope {
            clause: Clause::GroupBy,
            aggregates: None,
            ..*scope
        };
        let key = |g: &OrderItem| {
            let key = self.order_item(&g.expr, g.desc, items, &scope)?;
            refuse_window(&key.expr)?;
            match key.expr.has_aggregate() {
                true => Err(errors::WRONG_GROUP_FIELD.plain()),
                false => Ok(key),
            }
        };
        let keys = s.group_by.iter().map(key);
        let keys = keys.collect::<SqlResult<Vec<SortKey>>>()?;
        list.warn_of_hidden(&s.group_by, &keys, scope.env);
        Ok(keys)
    }

    fn order_keys(
        &self,
        s: &Select,
        items: &[Expr],
        windows: &Windows<'_>,
        scope: &Scope<'_>,
    ) -> SqlResult<Vec<SortKey>> {
        let scope = Scope {
            clause: Clause::OrderBy,
            windows: WindowsHere::Allowed(windows),
            ..*scope
        };
        let key = |o: &OrderItem| self.order_item(&o.expr, o.desc, items, &scope);
        let order: Vec<SortKey> = s.order_by.iter().map(key).collect::<SqlResult<_>>()?;
        if matches!(s.from, Some(From::Set { .. }))
            && let Some(n) = order
                .iter()
                .position(|k| k.expr.has_window() || k.expr.has_aggregate())
        {
            return Err(errors::AGGREGATE_ORDER_FOR_UNION.with([&(n + 1)]));
        }
        Ok(order)
    }

    pub(crate) fn order_item(
        &self,
        e: &AstExpr,
        desc: bool,
        items: &[Expr],
        scope: &Scope<'_>,
    ) -> SqlResult<SortKey> {
        if let Some(n) = position(e) {
            let at = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
            let item = at
                .and_then(|i| items.get(i))
                .ok_or_else(|| errors::BAD_FIELD_ERROR.with([&n, &scope.clause.name()]))?;
            return Ok(SortKey {
                expr: item.clone(),
                desc,
            });
        }
        let scope = Scope {
            lone: matches!(without_parens(e), AstExpr::Column(_)),
            ..*scope
        };
        Ok(SortKey {
            expr: bind(e, &scope)?,
            desc,
        })
    }
}

/// What WHERE asks for.
fn where_clause(s: &Select, scope: &Scope<'_>) -> SqlResult<Option<Expr>> {
    let Some(w) = &s.where_ else { return Ok(None) };
    let scope = Scope {
        clause: Clause::Where,
        aggregates: None,
        ..*scope
    };
    let w = bind_condition(w, &scope)?;
    Ok(Some(what_null_finds(w, scope.sources, scope.env)))
}

/// Binds HAVING: columns that groups are made by hide the names of items there.
fn having(
    s: &Select,
    keys: &[SortKey],
    items: &[Expr],
    scope: &Scope<'_>,
) -> SqlResult<Option<Expr>> {
    let Some(h) = &s.having else { return Ok(None) };
    let grouped: Vec<(usize, usize)> = keys.iter().filter_map(|k| k.expr.as_column()).collect();
    let shown: Vec<(usize, usize)> = items.iter().filter_map(Expr::as_column).collect();
    let scope = Scope {
        clause: Clause::Having,
        grouped: &grouped,
        shown: &shown,
        ..*scope
    };
    let h = bind_condition(h, &scope)?;
    refuse_window(&h)?;
    Ok(Some(what_null_finds(h, scope.sources, scope.env)))
}

/// The locks that a locking clause asks for; a SELECT without rows of tables takes none.
fn lock_spec(clauses: &[Locking], body: &Body) -> Option<LockSpec> {
    let strongest = clauses.iter().max_by_key(|l| l.exclusive)?;
    (!matches!(body, Body::Nothing)).then(|| spec_of(strongest))
}

fn spec_of(l: &Locking) -> LockSpec {
    LockSpec {
        mode: match l.exclusive {
            true => LockMode::Exclusive,
            false => LockMode::Shared,
        },
        wait: lock_wait(l.wait),
        changes: false,
    }
}

/// The locks of each source's rows, where clauses say OF which tables they are; empty if one clause is for all.
fn lock_each(clauses: &[Locking], sources: &[Source]) -> SqlResult<Vec<Option<LockSpec>>> {
    if clauses.iter().all(|l| l.of.is_empty()) {
        return Ok(Vec::new());
    }
    if sources.iter().any(|s| s.view.is_some()) {
        return Err(SqlError::unsupported(
            "a locking clause OF tables beside views",
        ));
    }
    let of = |s: &Source| {
        let named = |l: &&Locking| l.of.iter().any(|n| n.eq_ignore_ascii_case(&s.name));
        clauses.iter().find(named).map(spec_of)
    };
    Ok(sources.iter().map(of).collect())
}

/// How many rows a LIMIT looks at, if its operands say so.
fn rows_of(l: &LimitPlan) -> Option<u64> {
    let offset = l.offset.as_ref().map_or(0, |o| known(Some(o)).unwrap_or(0));
    known(l.count.as_ref()).map(|c| c.saturating_add(offset))
}

fn known(e: Option<&Expr>) -> Option<u64> {
    match &e?.kind {
        ExprKind::Literal(Value::Int(i)) => u64::try_from(*i).ok(),
        ExprKind::Literal(Value::UInt(u)) => Some(*u),
        _ => None,
    }
}

/// COUNT(*), or COUNT of what is never NULL.
fn counts_rows(a: &Aggregate, sources: &[Source]) -> bool {
    a.func == AggFunc::Count
        && !a.distinct
        && match a.args.as_slice() {
            [] => true,
            [e] => match e.as_column() {
                Some((at, c)) => !sources[at].column_type(c - sources[at].base).nullable,
                None => matches!(&e.kind, ExprKind::Literal(v) if !v.is_null()),
            },
            _ => false,
        }
}
