//! What names may mean where an expression stands: its tables, the select items, the query around; and who plans subqueries.

use super::windows::WindowsHere;
use crate::env::StatementEnv;
use crate::expr::node::{Aggregate, Expr, ExprKind, ExprType, SubqueryUse, make};
use crate::quote::quote_ident;
use narwal_engine::{ColumnDef, IndexDef, Table, ViewDef};
use narwal_syntax::ast::{Expr as Ast, Select};
use narwal_types::face::is_mysql;
use narwal_types::{Collation, Name, ResultColumn, SqlError, SqlResult, errors};
use std::cell::RefCell;
use std::sync::Arc;

/// A view whose tables are sources of the statement that names it.
#[derive(Debug, Clone)]
pub struct MergedView {
    /// Its definition.
    pub def: Arc<ViewDef>,
    /// Its columns as expressions over other sources.
    pub columns: Vec<Expr>,
    /// WITH CHECK OPTION: what holds of each row that is written through it.
    pub check: Vec<Expr>,
}

impl MergedView {
    /// A column's position.
    pub fn column(&self, name: &str) -> Option<usize> {
        let mut all = self.def.columns.iter();
        all.position(|c| c.same_name(name))
    }
}

/// A table that column names are looked up in.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its alias, or its name.
    pub name: String,
    /// The table.
    pub table: Arc<Table>,
    /// All its columns may be NULL (the inner side of an outer join).
    pub nullable: bool,
    /// Position of its first column among those of all sources: columns are numbered through.
    pub base: usize,
    /// Types of the columns as expressions see them, if the rows are stored otherwise (derived tables).
    pub types: Option<Arc<[ExprType]>>,
    /// The columns of the query that it is made of.
    pub made_of: Option<Arc<[ResultColumn]>>,
    /// A query that MariaDB does not make a table of, though it is one here.
    pub merged: bool,
    /// Columns that only a qualified name finds: USING shows the other side's.
    pub hidden: Vec<usize>,
    /// For a view that was merged into the statement. It has no rows.
    pub view: Option<Arc<MergedView>>,
    /// A table under a merged view: names mean the view's columns, not its.
    pub inner: bool,
}

impl Source {
    /// A lone table.
    pub fn new(name: impl Into<String>, table: Arc<Table>) -> Self {
        Source {
            name: name.into(),
            table,
            nullable: false,
            base: 0,
            types: None,
            made_of: None,
            merged: false,
            hidden: Vec::new(),
            view: None,
            inner: false,
        }
    }

    /// A column by its name. `_rowid` is another name of the integer that alone is the first key of columns that are not NULL.
    pub fn column(&self, name: &str) -> Option<usize> {
        let found = self.table.column(name);
        match found.is_none() && name.eq_ignore_ascii_case("_rowid") && !is_mysql() {
            true => self.row_id(),
            false => found,
        }
    }

    fn row_id(&self) -> Option<usize> {
        if self.types.is_some() || self.view.is_some() {
            return None;
        }
        let columns = self.table.columns();
        let whole = |i: &&IndexDef| {
            let mut parts = i.columns.iter();
            i.unique && parts.all(|p| p.prefix.is_none() && !columns[p.column].nullable)
        };
        let key = self.table.def.indexes.iter().find(whole)?;
        match key.columns.as_slice() {
            [p] if columns[p.column].ty.is_integer() => Some(p.column),
            _ => None,
        }
    }

    /// Number of columns that it has in the rows of a join.
    pub fn width(&self) -> usize {
        match self.view {
            Some(_) => 0,
            None => self.table.columns().len(),
        }
    }

    /// The columns that `*` means.
    pub fn visible_columns(&self) -> impl Iterator<Item = usize> + '_ {
        let columns = self.table.columns().iter().enumerate();
        columns.filter(|(_, c)| !c.invisible).map(|(i, _)| i)
    }

    /// Type of a column.
    pub fn column_type(&self, column: usize) -> ExprType {
        let c = &self.table.columns()[column];
        let t = match &self.types {
            Some(t) => t[column],
            None => ExprType {
                json: holds_json(c),
                ..ExprType::of_column(c.ty, c.nullable)
            }
            .with_display_width(c.display_width),
        };
        t.with_nullable(t.nullable || self.nullable)
    }

    /// True if `name` means this source.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name
    }

    /// True if it has no alias.
    pub fn has_its_own_name(&self) -> bool {
        let own = &self.table.def.name;
        self.name == *own || (self.is_virtual() && self.name.eq_ignore_ascii_case(own))
    }

    /// True if `db` is where its table is.
    pub fn is_in(&self, db: &str) -> bool {
        self.table.def.db == db || (self.is_virtual() && self.table.def.db.eq_ignore_ascii_case(db))
    }

    /// True if its columns are named as they are defined, however a statement writes them: a view or a query whose tables
    /// MariaDB reads as if they stood in its place, and `mysql.user`, which is such a view there.
    pub fn names_its_columns(&self) -> bool {
        let def = &self.table.def;
        self.merged || (def.name == "user" && def.db == "mysql")
    }

    /// True for a table of `information_schema`.
    pub fn is_virtual(&self) -> bool {
        self.table.def.db == crate::virtual_tables::INFORMATION_SCHEMA
    }
}

/// True for a column of type JSON: one whose CHECK wants JSON, alone or beside other things.
pub(crate) fn holds_json(c: &ColumnDef) -> bool {
    let Some(check) = &c.check else { return false };
    let valid = format!("json_valid({})", quote_ident(&c.name));
    check.split(" and ").any(|part| part == valid)
}

/// Which clause an expression stands in: named in errors, and decides how aliases are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Clause {
    #[default]
    FieldList,
    Where,
    On,
    /// Columns hide aliases.
    GroupBy,
    /// Aliases hide columns, and are hidden by those that groups are made by.
    Having,
    /// Aliases hide columns.
    OrderBy,
}

impl Clause {
    /// As in error 1054.
    pub fn name(self) -> &'static str {
        if narwal_types::face::is_mysql() {
            return self.mysql_name();
        }
        match self {
            Clause::FieldList => "SELECT",
            Clause::Where => "WHERE",
            Clause::On => "ON",
            Clause::GroupBy => "GROUP BY",
            Clause::Having => "HAVING",
            Clause::OrderBy => "ORDER BY",
        }
    }

    /// As MySQL's errors name it.
    fn mysql_name(self) -> &'static str {
        match self {
            Clause::FieldList => "field list",
            Clause::Where => "where clause",
            Clause::On => "on clause",
            Clause::GroupBy => "group statement",
            Clause::Having => "having clause",
            Clause::OrderBy => "order clause",
        }
    }
}

/// Columns that ON DUPLICATE KEY UPDATE names and the table does not have. They are of the tables that INSERT ... SELECT reads:
/// each becomes a further column of that SELECT, which comes behind the table's columns in the row that was wanted
/// ([`ExprKind::InsertValue`]).
///
/// The expressions are bound twice: first to learn the names, then with the types that the planned SELECT gives them.
#[derive(Debug)]
pub struct SelectedColumns {
    /// How many columns the table has.
    first: usize,
    names: RefCell<Vec<Ast>>,
    types: Option<Vec<ExprType>>,
    /// What the SELECT reads, where ON DUPLICATE KEY UPDATE sees it.
    sources: Vec<Source>,
}

impl SelectedColumns {
    /// None so far: names are collected.
    pub fn collecting(first: usize, sources: Vec<Source>) -> Self {
        SelectedColumns {
            first,
            names: RefCell::default(),
            types: None,
            sources,
        }
    }

    /// True if a table that the SELECT reads has this column too: the name is ambiguous then.
    pub fn has(&self, table: Option<&str>, column: &str) -> bool {
        self.sources.iter().any(|s| {
            let shown = |c| table.is_some() || !s.hidden.contains(&c);
            !s.inner
                && table.is_none_or(|t| s.is_named(t))
                && s.table.column(column).is_some_and(shown)
        })
    }

    /// The names that were collected.
    pub fn names(&self) -> Vec<Ast> {
        self.names.borrow().clone()
    }

    /// The same with the types of the columns, one for each name; from here on no name is added.
    pub fn with_types(self, types: Vec<ExprType>) -> Self {
        SelectedColumns {
            types: Some(types),
            ..self
        }
    }

    /// The value of a column; `None` if it is none of them.
    pub fn find(&self, column: Ast) -> Option<Expr> {
        let mut names = self.names.borrow_mut();
        let known = names.iter().position(|n| *n == column);
        let (at, ty) = match &self.types {
            Some(types) => {
                let at = known?;
                (at, *types.get(at)?)
            }
            None => {
                let at = known.unwrap_or(names.len());
                if known.is_none() {
                    names.push(column);
                }
                (at, ExprType::bigint(false, true))
            }
        };
        Some(make(ExprKind::InsertValue(self.first + at), ty))
    }
}

/// A select list that is being bound, by the names that it gives its items.
#[derive(Default)]
pub struct Listed {
    names: Vec<String>,
    bound: RefCell<Vec<(String, Expr)>>,
}

impl Listed {
    /// A list with these names, nothing of which is bound yet.
    pub fn of(names: Vec<String>) -> Self {
        Listed {
            names,
            bound: RefCell::default(),
        }
    }

    /// The next named item.
    pub fn bound(&self, name: &str, e: &Expr) {
        self.bound.borrow_mut().push((name.to_string(), e.clone()));
    }

    /// The item of a name; error 1247 for one that stands behind, or that is no value of a row.
    pub fn item(&self, name: &str) -> SqlResult<Option<Expr>> {
        let bound = self.bound.borrow();
        let refused = |why: &str| Err(errors::ILLEGAL_REFERENCE.with([&name, &why]));
        match bound.iter().find(|(n, _)| n.same_name(name)) {
            Some((_, e)) if e.has_aggregate() => refused("reference to group function"),
            Some((_, e)) => Ok(Some(e.clone())),
            None if self.names.iter().any(|n| n.same_name(name)) => {
                refused("forward reference in item list")
            }
            None => Ok(None),
        }
    }
}

/// What an expression may refer to.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// Tables; a column reference is (position here, position in the table).
    pub sources: &'a [Source],
    /// Sources before this one are not seen.
    pub first: usize,
    /// Names of select items, with their bound expressions: seen in GROUP BY, HAVING and ORDER BY.
    pub aliases: &'a [(String, Expr)],
    /// Columns of the select list by their names, where several tables are: they settle which one a later clause means.
    pub items: &'a [(String, Expr)],
    /// The select list as far as it is bound: its subqueries may name what stands before them.
    pub listed: Option<&'a Listed>,
    /// Columns that are keys of GROUP BY: in HAVING they hide aliases.
    pub grouped: &'a [(usize, usize)],
    /// Columns that the select list has: HAVING sees these and those of `grouped`.
    pub shown: &'a [(usize, usize)],
    /// What is bound is a name alone, which in ORDER BY means an item before it means a column; within an expression it is
    /// the other way round.
    pub lone: bool,
    /// Where the expression stands.
    pub clause: Clause,
    /// Collects aggregate calls; without it they are error 1111.
    pub aggregates: Option<&'a RefCell<Vec<Aggregate>>>,
    /// It is the argument of an aggregate.
    pub in_aggregate: bool,
    /// Whether window functions can stand here.
    pub windows: WindowsHere<'a>,
    /// VALUES(col) is allowed (ON DUPLICATE KEY UPDATE).
    pub insert_values: bool,
    /// In ON DUPLICATE KEY UPDATE: columns of what INSERT ... SELECT reads.
    pub selected: Option<&'a SelectedColumns>,
    /// Plans the subqueries that stand in it.
    pub planner: Option<&'a dyn SubqueryPlanner>,
    /// The query around, if this is a subquery's scope.
    pub outer: Option<&'a OuterScope<'a>>,
    /// The session: modes, default database, variables.
    pub env: &'a StatementEnv,
}

impl<'a> Scope<'a> {
    /// The sources that names may mean, with their positions.
    pub fn visible(&self) -> impl Iterator<Item = (usize, &'a Source)> + use<'a> {
        self.sources
            .iter()
            .enumerate()
            .skip(self.first)
            .filter(|(_, s)| !s.inner)
    }

    /// True if aggregates can stand here.
    pub(crate) fn takes_aggregates(&self) -> bool {
        self.aggregates.is_some()
    }

    /// The scopes around, from the inside, and how many expressions are seen of each so far.
    pub(crate) fn frames(&self) -> Vec<(&'a OuterScope<'a>, usize)> {
        let around = std::iter::successors(self.outer, |o| o.scope.outer);
        around.map(|o| (o, o.frame.borrow().len())).collect()
    }

    /// A scope without tables.
    pub fn empty(env: &'a StatementEnv) -> Self {
        Scope {
            sources: &[],
            first: 0,
            aliases: &[],
            lone: true,
            items: &[],
            listed: None,
            grouped: &[],
            shown: &[],
            clause: Clause::FieldList,
            aggregates: None,
            in_aggregate: false,
            windows: WindowsHere::Refused,
            insert_values: false,
            selected: None,
            planner: None,
            outer: None,
            env,
        }
    }
}

/// What planning says of a subquery.
pub struct Planned {
    /// Its position.
    pub index: usize,
    /// Types of its columns.
    pub columns: Vec<ExprType>,
    /// See [`SubqueryExpr::outer`].
    pub outer: Vec<Expr>,
    /// See [`SubqueryExpr::each_row`].
    pub each_row: bool,
    /// It has one row, whatever is in any table: a lone SELECT of no table.
    pub one_row: bool,
}

/// Plans the subqueries of a statement's or a SELECT's expressions.
pub trait SubqueryPlanner {
    /// What the parser made of number `n` of the placeholders.
    fn query(&self, n: usize) -> Option<&Select>;
    /// Plans number `n` of the placeholders, seen from a scope.
    fn plan(&self, n: usize, used: SubqueryUse, scope: &Scope<'_>) -> SqlResult<Planned>;
    /// Plans a query that is not among the placeholders. `number` must not be one of theirs.
    fn plan_query(
        &self,
        query: &Select,
        number: usize,
        used: SubqueryUse,
        scope: &Scope<'_>,
    ) -> SqlResult<Planned>;
    /// Says how its columns are compared.
    fn compared(&self, index: usize, collations: Vec<Collation>, by_key: bool);
}

/// The subquery behind the placeholder with this number.
pub(crate) fn placeholder(subqueries: &[(usize, Select)], n: usize) -> Option<&Select> {
    subqueries.iter().find(|(k, _)| *k == n).map(|(_, q)| q)
}

/// Subqueries that become those of the query around: of a merged view, or of an aggregate that belongs there.
pub(crate) struct HandedSubqueries<'a> {
    /// What the parser made of the placeholder with this number.
    pub find: &'a dyn Fn(usize) -> Option<&'a Select>,
    /// Plans them.
    pub around: &'a dyn SubqueryPlanner,
}

impl SubqueryPlanner for HandedSubqueries<'_> {
    fn query(&self, n: usize) -> Option<&Select> {
        (self.find)(n)
    }

    fn plan(&self, n: usize, used: SubqueryUse, scope: &Scope<'_>) -> SqlResult<Planned> {
        match self.query(n) {
            // The number would mean one of that query's own.
            Some(query) => self.plan_query(query, usize::MAX, used, scope),
            None => Err(SqlError::unsupported("subqueries in this place")),
        }
    }

    fn plan_query(
        &self,
        query: &Select,
        number: usize,
        used: SubqueryUse,
        scope: &Scope<'_>,
    ) -> SqlResult<Planned> {
        self.around.plan_query(query, number, used, scope)
    }

    fn compared(&self, index: usize, collations: Vec<Collation>, by_key: bool) {
        self.around.compared(index, collations, by_key);
    }
}

/// The query around a subquery, as its names see it.
pub struct OuterScope<'a> {
    /// What names mean there.
    pub scope: &'a Scope<'a>,
    /// What the subquery sees of it so far.
    pub frame: RefCell<Vec<Expr>>,
}

impl OuterScope<'_> {
    /// An expression of the outer query as the subquery sees it.
    pub(crate) fn add(&self, e: Expr) -> Expr {
        let ty = e.ty;
        let mut frame = self.frame.borrow_mut();
        let at = match frame.iter().position(|x| *x == e) {
            Some(at) => at,
            None => {
                frame.push(e);
                frame.len() - 1
            }
        };
        make(ExprKind::Outer(at), ty)
    }
}
