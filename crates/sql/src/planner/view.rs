//! Views in FROM: merged into the statement where their rows are rows of their tables, else read as derived tables.

use crate::bind::scope::{Clause, HandedSubqueries, MergedView, Scope, Source, placeholder};
use crate::bind::{bind, bind_condition};
use crate::expr::node::{Expr, ExprKind, ExprType};
use crate::plan::made::{made_column, made_of};
use crate::plan::sarg::conjuncts;
use crate::planner::bind_select::result_column;
use crate::planner::logical::Merged;
use crate::planner::logical::Resolved;
use crate::planner::logical::{Around, Leaves, Tree};
use crate::planner::resolve::Resolver;
use crate::planner::resolve::{Open, through};
use crate::privilege::Privilege;
use crate::view_def::{MAX_DEPTH, numbers_rows_in_order};
use narwal_engine::{CheckOption, ColumnDef, ViewAlgorithm, ViewDef};
use narwal_syntax::MAX_NESTING;
use narwal_syntax::ast::{Select, SelectItem, TableRef};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{ResultColumn, SqlError, SqlResult};
use std::cell::RefCell;
use std::sync::Arc;

/// The display width that a column of a view has from its table.
fn declared_width(e: &Expr, sources: &[Source]) -> Option<u8> {
    let (source, column) = e.as_column()?;
    let source = sources.get(source)?;
    let column = column.checked_sub(source.base)?;
    source.table.columns().get(column)?.display_width
}

/// Error 1176: a view has no indexes that a hint could name.
pub fn without_hints(t: &TableRef, view: &str) -> SqlResult<()> {
    match t.hints.first() {
        None => Ok(()),
        Some(hint) => {
            let named = hint.indexes.first().map_or("(null)", String::as_str);
            Err(errors::KEY_DOES_NOT_EXISTS.with([&named, &view]))
        }
    }
}

/// A view's SELECT, bound among the sources of the statement.
struct Bound {
    tree: Tree,
    /// Its WHERE and its order.
    merged: Merged,
    columns: Vec<Expr>,
    /// What CHECK OPTION asks of a changed row.
    check: Vec<Expr>,
    /// Its columns have aggregates.
    grouped: bool,
}

/// The conditions of a view's inner joins: its rows fulfil them as they fulfil WHERE.
fn inner_conditions(tree: &Tree, out: &mut Vec<Expr>) {
    if let Tree::Join {
        left,
        right,
        outer: false,
        on,
    } = tree
    {
        inner_conditions(left, out);
        inner_conditions(right, out);
        out.extend_from_slice(on);
    }
}

impl Resolver<'_> {
    /// The view that a table's name means, if it means one.
    pub fn view_named(&self, t: &TableRef) -> Option<Arc<ViewDef>> {
        let db = t.name.db.as_deref().or(self.env.db.as_deref())?;
        let view = self.catalog.view(db, &t.name.name)?;
        // A temporary table hides it, but not from other views.
        let hidden = self.open_views.borrow().is_empty()
            && self.env.temporary_table(db, &t.name.name).is_some();
        (!hidden).then(|| view.clone())
    }

    /// Plans something inside of a view. An error in it is error 1356 for the statement that uses the view.
    pub fn inside<T>(&self, def: &ViewDef, plan: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        {
            let mut open = self.open_views.borrow_mut();
            if open.iter().any(|o| o.db == def.db && o.name == def.name) {
                return Err(errors::VIEW_RECURSIVE.with([&def.db, &def.name]));
            }
            if open.len() >= MAX_DEPTH {
                return Err(errors::TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT.with([&MAX_DEPTH]));
            }
            let around = open.last().and_then(|o| o.account.clone());
            open.push(Open {
                db: def.db.clone(),
                name: def.name.clone(),
                account: match def.invoker {
                    true => around,
                    false => Some(def.definer.clone()),
                },
            });
        }
        self.note_open_view();
        let before = self.env.sequences_used.borrow().len();
        let r = plan();
        // Sequences are used with the rights that the view's tables are read with.
        for used in self.env.sequences_used.borrow_mut().iter_mut().skip(before) {
            if used.through.is_none() {
                used.through = through(&self.open_views.borrow());
            }
        }
        self.open_views.borrow_mut().pop();
        self.note_open_view();
        r.map_err(|e| match e.code {
            codes::DBACCESS_DENIED_ERROR
            | codes::BAD_DB_ERROR
            | codes::BAD_TABLE_ERROR
            | codes::NON_UNIQ_ERROR
            | codes::BAD_FIELD_ERROR
            | codes::UNKNOWN_TABLE
            | codes::TABLEACCESS_DENIED_ERROR
            | codes::COLUMNACCESS_DENIED_ERROR
            | codes::PROCACCESS_DENIED_ERROR
            | codes::NO_SUCH_TABLE
            | codes::KEY_DOES_NOT_EXISTS
            | codes::SP_DOES_NOT_EXIST
            // The statement names the outermost view.
            | codes::VIEW_INVALID => crate::view_def::invalid(&def.db, &def.name),
            _ => e,
        })
    }

    /// Columns are used through the view that is open now.
    fn note_open_view(&self) {
        let account = self
            .open_views
            .borrow()
            .last()
            .and_then(|o| o.account.clone());
        *self.env.reads_as.borrow_mut() = account;
        if let Some(uses) = &mut *self.env.column_uses.borrow_mut() {
            uses.through = through(&self.open_views.borrow());
        }
    }

    /// A view as a derived table.
    pub fn view_rows(&self, def: &ViewDef, select: &Select, t: &TableRef) -> SqlResult<Resolved> {
        let alias = t.alias.as_deref().unwrap_or(&t.name.name);
        let plan = self.inside(def, || self.select(select))?;
        if let Some(uses) = &mut *self.env.column_uses.borrow_mut() {
            let names = (def.db.clone(), alias.to_string(), def.name.clone());
            uses.derived.push(names);
        }
        let made = self.derived(plan, &def.db, alias, &def.columns)?;
        Ok(match def.algorithm {
            ViewAlgorithm::TempTable => made,
            _ => made.of_query(select),
        })
    }

    /// Notes that a view is read.
    pub fn view_is_read(&self, def: &ViewDef) {
        self.need(&def.db, &def.name, Privilege::Select);
    }

    /// Puts the tables of a view among the sources of the statement, and the view behind them. `None` if its rows are not
    /// rows of its tables.
    pub fn merge_view(
        &self,
        def: &Arc<ViewDef>,
        select: &Select,
        t: &TableRef,
        sources: &mut Vec<Source>,
        leaves: &mut Leaves,
        around: &Around<'_>,
    ) -> SqlResult<Option<(Tree, Merged)>> {
        if def.algorithm == ViewAlgorithm::TempTable
            || !crate::view_def::is_mergeable(select)
            || select.straight
        {
            return Ok(None);
        }
        let (first, first_leaf) = (sources.len(), leaves.len());
        let bind = || self.bind_view(def, select, sources, leaves, around);
        let Bound {
            tree,
            merged,
            columns,
            check,
            grouped,
        } = self.inside(def, bind)?;
        // A value that is not a column's does not become NULL with its row.
        let kept = around.nullable && columns.iter().any(|e| e.as_column().is_none());
        let queries = columns
            .iter()
            .any(|e| e.any(&|e| matches!(e.kind, ExprKind::Subquery(_))) || e.numbers_rows());
        // A view of views would come to an expression that has no end: what a statement may have is enough for each.
        let deep = columns.iter().any(|e| e.is_deeper_than(MAX_NESTING));
        if grouped || kept || queries || deep {
            sources.truncate(first);
            leaves.truncate(first_leaf);
            return Ok(None);
        }
        for s in &mut sources[first..] {
            s.inner = true;
        }
        let types: Vec<ExprType> = columns.iter().map(Expr::ty).collect();
        let made = def.columns.iter().zip(&types).zip(&columns);
        let made = made.map(|((name, t), e)| ColumnDef {
            display_width: declared_width(e, sources),
            ..made_column(name.clone(), t.ty, t.nullable)
        });
        let table = made_of(&def.db, &def.name, made.collect())?;
        let under = columns.iter().map(|e| {
            let at = e
                .as_column()
                .and_then(|(at, c)| Some((sources.get(at)?, c)));
            result_column("", e, at.map(|(s, c)| (s, c - s.base)))
        });
        let under: Arc<[ResultColumn]> = under.collect();
        sources.push(Source {
            made_of: Some(under),
            merged: true,
            base: sources.last().map_or(0, |s| s.base + s.width()),
            types: Some(types.into()),
            view: Some(Arc::new(MergedView {
                def: def.clone(),
                columns,
                check,
            })),
            ..Source::new(t.alias.as_deref().unwrap_or(&t.name.name), table)
        });
        Ok(Some((tree, merged)))
    }

    /// Binds a view's SELECT among the sources of the statement.
    fn bind_view(
        &self,
        def: &ViewDef,
        select: &Select,
        sources: &mut Vec<Source>,
        leaves: &mut Leaves,
        around: &Around<'_>,
    ) -> SqlResult<Bound> {
        let first = sources.len();
        let find = |n| placeholder(&select.subqueries, n);
        let planner = HandedSubqueries {
            find: &find,
            around: around.planner,
        };
        let inner = Around {
            planner: &planner,
            outer: None,
            nullable: false,
        };
        let outside = self.numbered.replace(numbers_rows_in_order(select));
        let tree = self.tree(select.from.as_ref(), sources, leaves, &inner);
        self.numbered.set(outside);
        let (tree, mut merged, _) = tree?;
        let grouped = RefCell::default();
        let scope = Scope {
            sources,
            first,
            aggregates: Some(&grouped),
            planner: Some(&planner),
            ..Scope::empty(self.env)
        };
        let columns = select
            .items
            .iter()
            .map(|i| match i {
                SelectItem::Expr { expr, .. } => bind(expr, &scope),
                _ => Err(SqlError::unsupported("`*` in a stored view")),
            })
            .collect::<SqlResult<Vec<Expr>>>()?;
        let mut own = Vec::new();
        if let Some(w) = &select.where_ {
            let scope = Scope {
                clause: Clause::Where,
                aggregates: None,
                ..scope
            };
            own = conjuncts(&bind_condition(w, &scope)?).to_vec();
        }
        let mut joined = Vec::new();
        inner_conditions(&tree, &mut joined);
        let check = match def.check {
            CheckOption::None => Vec::new(),
            CheckOption::Local => own.iter().chain(&joined).cloned().collect(),
            CheckOption::Cascaded => (merged.filter.iter().chain(&own).chain(&joined))
                .cloned()
                .collect(),
        };
        merged.filter.extend(own);
        let scope = Scope {
            clause: Clause::OrderBy,
            ..scope
        };
        merged.order = select
            .order_by
            .iter()
            .map(|o| self.order_item(&o.expr, o.desc, &columns, &scope))
            .collect::<SqlResult<_>>()?;
        merged.order.retain(|k| !k.expr.is_const());
        let grouped = !grouped.into_inner().is_empty();
        Ok(Bound {
            tree,
            merged,
            columns,
            check,
            grouped,
        })
    }
}
