//! FROM: tables, derived tables, unions and joins as sources of columns, and the plan of a join.
//!
//! The columns of all sources are numbered through, in the order of the text. A join's rows are images of one made-up
//! table with all these columns, so that all that comes behind (WHERE, grouping, sorting, output) knows one table only.

use crate::bind::scope::SubqueryPlanner;
use crate::bind::scope::{Clause, OuterScope, Scope, Source};
use crate::bind::{bind, bind_condition};
use crate::expr::node::{CmpOp, Expr, ExprKind, ExprType};
use crate::plan::access::Access;
use crate::plan::made::{column_type, derived, made_table};
use crate::plan::query::{Hash, JoinPlan, Kept, Leaf, Node, ROW_KEY};
use crate::plan::query::{LockSpec, Rows, TablePlan};
use crate::plan::query::{Out, SelectPlan};
use crate::plan::sarg::conjuncts;
use crate::planner::condition::{all_of, parametrised};
use crate::planner::logical::Merged;
use crate::planner::logical::Resolved;
use crate::planner::logical::{Around, Body, FromPlan, Joining, Leaves, Tree};
use crate::planner::resolve::Resolver;
use crate::planner::rules::join_order::{Inputs, uses_others};
use crate::planner::view::without_hints;
use crate::planner::zero_date::null_is_zero;
use crate::star::{At, joined};
use crate::twice::first_twice;
use narwal_syntax::ast::{Expr as AstExpr, From, IndexHint, JoinKind, JoinOn, Qualified, Select};
use narwal_types::errors;
use narwal_types::{BlobSize, Collation, ColumnType, Name, SqlError, SqlResult, TypeKind};
use std::cell::RefCell;

impl Resolver<'_> {
    /// Finds the tables of a FROM and binds the conditions of its joins.
    pub fn from(
        &self,
        from: Option<&From>,
        planner: &dyn SubqueryPlanner,
        outer: Option<&OuterScope<'_>>,
    ) -> SqlResult<FromPlan> {
        let mut sources = Vec::new();
        let mut merged = Merged::default();
        let mut shown = Vec::new();
        let body = match from {
            None => Body::Nothing,
            Some(_) => {
                let mut leaves = Vec::new();
                let around = Around {
                    planner,
                    outer,
                    nullable: false,
                };
                let (tree, of, columns) = self.tree(from, &mut sources, &mut leaves, &around)?;
                merged = of;
                shown = columns;
                match (tree, leaves.pop()) {
                    (Tree::Leaf(_), Some((r, hints))) => Body::One(r, hints),
                    (tree, last) => {
                        leaves.extend(last);
                        Body::Join(leaves, tree)
                    }
                }
            }
        };
        Ok(FromPlan {
            sources,
            body,
            merged,
            shown,
        })
    }

    /// A source that is no join.
    fn one(
        &self,
        from: &From,
        outer: Option<&OuterScope<'_>>,
    ) -> SqlResult<(Resolved, Vec<IndexHint>)> {
        Ok(match from {
            From::Table(t) => match self.cte(t)? {
                Some(r) => (r, Vec::new()),
                None => (self.table(t)?, t.hints.clone()),
            },
            // A LATERAL one with nothing before it is one like others.
            From::Query {
                query,
                alias,
                columns,
                ..
            } => (
                self.derived(self.select_derived(query)?, "", alias, columns)?
                    .of_query(query),
                Vec::new(),
            ),
            From::Set { first, rest } => (self.set(first, rest, outer)?, Vec::new()),
            From::Join(_) => return Err(SqlError::unsupported("this join")),
            From::JsonTable(_) => return Err(SqlError::unsupported("JSON_TABLE")),
        })
    }

    /// A LATERAL derived table behind these sources.
    fn lateral(
        &self,
        (query, alias, columns): (&Select, &str, &[String]),
        sources: &[Source],
        around: &Around<'_>,
    ) -> SqlResult<Resolved> {
        let scope = Scope {
            sources,
            clause: Clause::Where,
            planner: Some(around.planner),
            outer: around.outer,
            ..Scope::empty(self.env)
        };
        let outer = OuterScope {
            scope: &scope,
            frame: RefCell::default(),
        };
        let mut plan = self.select_within(query, Some(&outer))?;
        plan.lateral = Some(outer.frame.into_inner());
        self.derived(plan, "", alias, columns)
    }

    /// A SELECT as a table. `db`: of the view that it is; `names`: of its columns, or none.
    pub fn derived(
        &self,
        plan: SelectPlan,
        db: &str,
        alias: &str,
        names: &[String],
    ) -> SqlResult<Resolved> {
        let mut columns = plan.columns.to_vec();
        for (c, name) in columns.iter_mut().zip(names) {
            c.name.clone_from(name);
        }
        if let Some(twice) = first_twice(columns.iter().map(|c| c.name.as_str())) {
            return Err(errors::DUP_FIELDNAME.with([&twice]));
        }
        let mut types: Vec<ExprType> = columns.iter().map(column_type).collect();
        for (t, item) in types.iter_mut().zip(&plan.items) {
            // A literal's text gives way to a column's, also from a derived table.
            if let Out::Expr(e) = item {
                t.coercibility = e.ty.coercibility;
                t.boolean = e.ty.boolean;
            }
        }
        // So does that of SELECTs put together, which are columns here.
        for (t, k) in types.iter_mut().zip(&plan.coercibility) {
            if t.ty.is_string() {
                t.coercibility = *k;
            }
        }
        Ok(Resolved {
            source: Source {
                made_of: Some(plan.columns.clone()),
                ..derived(db, alias, &columns, types)?
            },
            rows: Rows::Query(Box::new(plan)),
        })
    }

    /// The sources of a FROM and how they are joined, what merged views add, and the columns that `*` means.
    pub fn tree(
        &self,
        from: Option<&From>,
        sources: &mut Vec<Source>,
        leaves: &mut Leaves,
        around: &Around<'_>,
    ) -> SqlResult<(Tree, Merged, Vec<At>)> {
        let join = match from {
            Some(From::Join(j)) => j,
            Some(one) => {
                let (tree, merged) = self.leaf_or_view(one, sources, leaves, around)?;
                // A merged view stands behind its tables.
                let at = sources.len() - 1;
                let columns = sources[at].visible_columns();
                return Ok((tree, merged, columns.map(|c| (at, c)).collect()));
            }
            None => return Err(SqlError::unsupported("a join of nothing")),
        };
        if join.kind == JoinKind::Right && (join.left.has_lateral() || join.right.has_lateral()) {
            return Err(SqlError::unsupported("LATERAL in a RIGHT JOIN"));
        }
        let side = |nullable| Around {
            nullable: around.nullable || join.kind == nullable,
            ..*around
        };
        let first = sources.len();
        let (left, of_left, left_shown) =
            self.tree(Some(&join.left), sources, leaves, &side(JoinKind::Right))?;
        let middle = sources.len();
        let (right, of_right, right_shown) =
            self.tree(Some(&join.right), sources, leaves, &side(JoinKind::Left))?;
        unique(&sources[first..middle], &sources[middle..])?;
        let mut shared = Vec::new();
        let mut on = match &join.on {
            JoinOn::Nothing => Vec::new(),
            JoinOn::On(e) => {
                let scope = Scope {
                    sources,
                    // Those of this join only.
                    first,
                    clause: Clause::On,
                    planner: Some(around.planner),
                    outer: around.outer,
                    ..Scope::empty(self.env)
                };
                let mut e = bind_condition(e, &scope)?;
                if join.kind == JoinKind::Inner {
                    e = null_is_zero(e, sources);
                }
                conjuncts(&e).to_vec()
            }
            JoinOn::Using(names) => {
                shared.clone_from(names);
                let sides = [
                    with_invisible(names, sources, first..middle, &left_shown),
                    with_invisible(names, sources, middle..sources.len(), &right_shown),
                ];
                self.using(names, sources, [&sides[0], &sides[1]], join.kind)?
            }
            JoinOn::Natural => {
                shared = common_columns(sources, &left_shown, &right_shown);
                self.using(&shared, sources, [&left_shown, &right_shown], join.kind)?
            }
        };
        let shown = match join.on {
            JoinOn::Using(_) | JoinOn::Natural => {
                let name = |(s, c): At| sources[s].table.columns()[c].name.as_str();
                joined(left_shown, right_shown, join.kind, &shared, name)
            }
            _ => [left_shown, right_shown].concat(),
        };
        let nullable = match join.kind {
            JoinKind::Inner => 0..0,
            JoinKind::Left => middle..sources.len(),
            JoinKind::Right => first..middle,
        };
        for s in &mut sources[nullable] {
            s.nullable = true;
        }
        on.retain(|e| !is_true(e));
        let ((left, of_left), (right, of_right)) = match join.kind {
            JoinKind::Right => ((right, of_right), (left, of_left)),
            _ => ((left, of_left), (right, of_right)),
        };
        // Rows that a view under an outer join does not show are no partners.
        let mut filter = of_left.filter;
        match join.kind {
            JoinKind::Inner => filter.extend(of_right.filter),
            _ => on.extend(of_right.filter),
        }
        let tree = Tree::Join {
            left: Box::new(left),
            right: Box::new(right),
            outer: join.kind != JoinKind::Inner,
            on,
        };
        // The order of a view says nothing of a join's.
        let order = Vec::new();
        Ok((tree, Merged { filter, order }, shown))
    }

    /// A FROM that is no join.
    fn leaf_or_view(
        &self,
        from: &From,
        sources: &mut Vec<Source>,
        leaves: &mut Leaves,
        around: &Around<'_>,
    ) -> SqlResult<(Tree, Merged)> {
        let view = match from {
            From::Table(t) if !self.is_cte(t) => self.view_named(t).map(|v| (t, v)),
            _ => None,
        };
        let (mut r, hints) = match view {
            Some((t, def)) => {
                without_hints(t, &def.name)?;
                self.view_is_read(&def);
                let select = crate::view_def::parsed(&def)?;
                if let Some(done) = self.merge_view(&def, &select, t, sources, leaves, around)? {
                    return Ok(done);
                }
                (self.view_rows(&def, &select, t)?, Vec::new())
            }
            None => match from {
                From::Query {
                    query,
                    alias,
                    columns,
                    lateral: true,
                } if !sources.is_empty() => {
                    let of = (&**query, alias.as_str(), columns.as_slice());
                    (self.lateral(of, sources, around)?, Vec::new())
                }
                _ => self.one(from, around.outer)?,
            },
        };
        r.source.base = sources.last().map_or(0, |s| s.base + s.width());
        sources.push(r.source.clone());
        leaves.push((r, hints));
        Ok((Tree::Leaf(leaves.len() - 1), Merged::default()))
    }

    /// USING: equal columns, of which names without a table show one. `sides`: the columns that such names find.
    fn using(
        &self,
        names: &[String],
        sources: &mut [Source],
        sides: [&[At]; 2],
        kind: JoinKind,
    ) -> SqlResult<Vec<Expr>> {
        let mut on = Vec::new();
        for name in names {
            let find =
                |side: &[At]| {
                    let mut found = side
                        .iter()
                        .copied()
                        .filter(|(s, c)| sources[*s].table.columns()[*c].name.same_name(name));
                    match (found.next(), found.next()) {
                        (Some(at), None) => Ok(at),
                        (None, _) => Err(errors::BAD_FIELD_ERROR
                            .text(format!("Unknown column '{name}' in 'FROM'"))),
                        (Some(_), Some(_)) => Err(errors::NON_UNIQ_ERROR
                            .text(format!("Column '{name}' in FROM is ambiguous"))),
                    }
                };
            let (l, r) = (find(sides[0])?, find(sides[1])?);
            let scope = Scope {
                sources,
                ..Scope::empty(self.env)
            };
            let column = |(s, c): (usize, usize)| {
                let s = &scope.sources[s];
                AstExpr::Qualified(Box::new(Qualified {
                    db: None,
                    table: s.name.clone(),
                    column: s.table.columns()[c].name.clone(),
                }))
            };
            on.push(bind(
                &AstExpr::Binary {
                    left: Box::new(column(l)),
                    op: narwal_syntax::ast::BinaryOp::Eq,
                    right: Box::new(column(r)),
                },
                &scope,
            )?);
            let (s, c) = if kind == JoinKind::Right { l } else { r };
            sources[s].hidden.push(c);
        }
        Ok(on)
    }

    /// The rows of a join, with the WHERE conjuncts that a source can check itself; the others are left in `filter`.
    pub fn join(
        &self,
        leaves: Vec<(Resolved, Vec<IndexHint>)>,
        tree: Tree,
        sources: &[Source],
        of: Joining<'_>,
    ) -> SqlResult<TablePlan> {
        let Joining {
            filter,
            late,
            params,
            lock,
            lock_each,
            row_keys,
            straight,
        } = of;
        let mut owner = Vec::new();
        for (i, s) in sources.iter().enumerate() {
            owner.extend((0..s.table.columns().len()).map(|c| (i, c)));
        }
        let where_: Vec<Expr> = filter.iter().flat_map(conjuncts).cloned().collect();
        // What a LATERAL table sees is read before it.
        let lateral = |r: &Resolved| matches!(&r.rows, Rows::Query(p) if p.lateral.is_some());
        let tree = if straight || leaves.iter().any(|(r, _)| lateral(r)) {
            tree
        } else {
            let inputs = Inputs {
                sources,
                leaves: &leaves,
                owner: &owner,
                params,
            };
            self.join_order(tree, &inputs, &where_)?
        };
        let mut order = Vec::new();
        tree.order(&mut order);
        let mut planner = Planner {
            sources,
            order: &order,
            owner: &owner,
            placed: sources.iter().map(|_| Vec::new()).collect(),
        };
        let mut rest = Vec::new();
        for e in &where_ {
            if !planner.place(&tree, e) {
                rest.push(e.clone());
            }
        }
        let node = planner.node(tree);
        let placed = planner.placed;
        let mut planned: Vec<Option<Leaf>> = sources.iter().map(|_| None).collect();
        for (i, ((r, hints), conds)) in leaves.into_iter().zip(placed).enumerate() {
            let first = order.first() == Some(&i);
            let mut leaf = self.leaf(r, &hints, conds, &sources[i], first, params)?;
            if leaf.plan.is_lockable() {
                leaf.lock = match lock_each.is_empty() {
                    true => lock,
                    false => lock_each.get(i).copied().flatten(),
                };
                if row_keys.contains(&i) {
                    leaf.lock = Some(LockSpec::FOR_WRITE);
                    leaf.keyed = true;
                }
            }
            planned[i] = Some(leaf);
        }
        owner.extend(row_keys.iter().map(|s| (*s, ROW_KEY)));
        let columns = sources.iter().flat_map(|s| {
            let columns = s.table.columns().iter();
            columns.map(|c| (c.name.clone(), c.ty, c.nullable || s.nullable))
        });
        let key = ColumnType::new(TypeKind::Blob(BlobSize::Medium));
        let keys = row_keys.iter().map(|_| (String::new(), key, true));
        let table = made_table("", "", columns.chain(keys))?;
        Ok(TablePlan {
            table,
            access: Access::full(0),
            filter: all_of(rest),
            late,
            rows: Rows::Join(Box::new(JoinPlan {
                leaves: planned.into_iter().flatten().collect(),
                wanted: vec![true; owner.len()],
                owner,
                row_wise: node.runs_each_row(),
                root: node,
            })),
            cover: None,
        })
    }

    fn leaf(
        &self,
        mut r: Resolved,
        hints: &[IndexHint],
        conds: Vec<Expr>,
        source: &Source,
        first: bool,
        params: usize,
    ) -> SqlResult<Leaf> {
        let own = source.base..source.base + source.table.columns().len();
        let is_own = |e: &Expr| {
            let mut yes = true;
            e.for_each_column(&mut |c| yes &= own.contains(&c));
            yes
        };
        let stored = matches!(r.rows, Rows::Stored);
        // As an index lookup for each outer row: outer columns become parameters.
        let mut outer: Vec<Expr> = Vec::new();
        let looked_up: Vec<Expr> = conds
            .iter()
            .map(|e| parametrised(e, &own, params, &mut outer))
            .collect();
        let filter = all_of(looked_up);
        let access = if stored {
            Access::choose(
                &source.table,
                filter.as_ref(),
                &[],
                None,
                hints,
                &self.estimates,
            )?
        } else {
            Access::full(0)
        };
        let lateral = matches!(&r.rows, Rows::Query(p) if p.lateral.is_some());
        let plan = |access, filter, rows| TablePlan {
            table: source.table.clone(),
            access,
            filter,
            late: None,
            rows,
            cover: None,
        };
        // A lookup that is the same for all rows of the others is made once.
        let by_others = first || uses_others(&access.lookup, params);
        if stored && by_others {
            return Ok(Leaf {
                plan: plan(access, filter, r.rows),
                outer,
                params,
                kept: None,
                lock: None,
                keyed: false,
            });
        }
        // Read once and kept. What a LATERAL table gives is looked at by the query around, which sees other outer values.
        let (mine, joined): (Vec<Expr>, Vec<Expr>) =
            conds.into_iter().partition(|e| !lateral && is_own(e));
        let mut hash = Hash::default();
        let mut on = Vec::new();
        for e in joined {
            match hash_key(&e, &own, &is_own) {
                Some((column, other, collation)) if !lateral => {
                    hash.columns.push((column - own.start, collation));
                    hash.others.push(other);
                }
                _ => on.push(e),
            }
        }
        let mine = mine
            .iter()
            .map(|e| parametrised(e, &own, params, &mut Vec::new()))
            .collect();
        let mine = all_of(mine);
        self.reach_behind(&mut r.rows, mine.as_ref())?;
        let access = if stored {
            Access::choose(
                &source.table,
                mine.as_ref(),
                &[],
                None,
                hints,
                &self.estimates,
            )?
        } else {
            access
        };
        Ok(Leaf {
            plan: plan(access, mine, r.rows),
            outer: Vec::new(),
            params,
            kept: Some(Kept {
                hash: (!hash.columns.is_empty()).then_some(hash),
                on,
            }),
            lock: None,
            keyed: false,
        })
    }
}

/// Finds the place of each condition: as early as all its columns are known.
struct Planner<'a> {
    sources: &'a [Source],
    order: &'a [usize],
    owner: &'a [(usize, usize)],
    /// For each source the conditions that it checks.
    placed: Vec<Vec<Expr>>,
}

impl Planner<'_> {
    /// The source that is read last of those that a condition names.
    fn last_source(&self, e: &Expr) -> Option<usize> {
        let mut last: Option<usize> = None;
        e.for_each_column(&mut |c| {
            let (source, _) = self.owner[c];
            let at = self.order.iter().position(|s| *s == source);
            last = last.max(at);
        });
        last.map(|at| self.order[at])
    }

    /// Gives a condition on the rows of a node to one of its sources; false if none can check it.
    fn place(&mut self, node: &Tree, e: &Expr) -> bool {
        // Sources check their conditions while they are read: no subquery can run then.
        if e.runs_each_row() {
            return false;
        }
        match self.last_source(e) {
            Some(leaf) if node.passes(leaf) => {
                self.placed[leaf].push(e.clone());
                true
            }
            _ => false,
        }
    }

    fn node(&mut self, tree: Tree) -> Node {
        match tree {
            Tree::Leaf(i) => Node::Leaf(i),
            Tree::Join {
                left,
                right,
                outer: false,
                on,
            } => {
                let both = Tree::Join {
                    left,
                    right,
                    outer: false,
                    on: Vec::new(),
                };
                let rest = on.into_iter().filter(|e| !self.place(&both, e)).collect();
                let Tree::Join { left, right, .. } = both else {
                    return Node::Leaf(0);
                };
                Node::Inner {
                    left: Box::new(self.node(*left)),
                    right: Box::new(self.node(*right)),
                    on: rest,
                }
            }
            Tree::Join {
                left, right, on, ..
            } => {
                let mut leaves = Vec::new();
                right.order(&mut leaves);
                let (mut before, mut after) = (Vec::new(), Vec::new());
                for e in on {
                    if self.place(&right, &e) {
                        continue;
                    }
                    let mut inside = false;
                    e.for_each_column(&mut |c| inside |= leaves.contains(&self.owner[c].0));
                    if inside { &mut after } else { &mut before }.push(e);
                }
                debug_assert!(self.sources.len() >= leaves.len());
                Node::Outer {
                    left: Box::new(self.node(*left)),
                    right: Box::new(self.node(*right)),
                    before,
                    after,
                    leaves,
                }
            }
        }
    }
}

/// The columns that USING may name: those that are shown, and where a name is not among them, invisible ones.
fn with_invisible(
    names: &[String],
    sources: &[Source],
    side: std::ops::Range<usize>,
    shown: &[At],
) -> Vec<At> {
    let called = |(s, c): &At, name: &str| {
        let columns = sources[*s].table.columns();
        columns[*c].name.same_name(name)
    };
    let mut all = shown.to_vec();
    for name in names {
        if !shown.iter().any(|at| called(at, name)) {
            let columns = side.clone().flat_map(|s| {
                let columns = sources[s].table.columns().iter().enumerate();
                columns
                    .filter(|(_, c)| c.invisible)
                    .map(move |(c, _)| (s, c))
            });
            all.extend(columns.filter(|at| called(at, name)));
        }
    }
    all
}

/// Names of the columns that both sides have, in the order of the left one.
fn common_columns(sources: &[Source], left: &[At], right: &[At]) -> Vec<String> {
    let name = |(s, c): &At| sources[*s].table.columns()[*c].name.as_str();
    let in_right = |n: &&str| right.iter().any(|o| name(o).same_name(n));
    let found = left.iter().map(name).filter(in_right);
    found.map(str::to_string).collect()
}

/// Error 1066 for a name on both sides of a join.
fn unique(left: &[Source], right: &[Source]) -> SqlResult<()> {
    for r in right.iter().filter(|r| !r.inner) {
        let same = |l: &Source| l.name == r.name && l.table.def.db == r.table.def.db;
        if left.iter().any(|l| !l.inner && same(l)) {
            return Err(errors::NONUNIQ_TABLE.with([&r.name]));
        }
    }
    Ok(())
}

fn is_true(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Literal(narwal_types::Value::Int(n)) if *n != 0)
}

/// `own column = expression of other sources`, if equal values have equal bytes.
fn hash_key(
    e: &Expr,
    own: &std::ops::Range<usize>,
    is_own: &dyn Fn(&Expr) -> bool,
) -> Option<(usize, Expr, Collation)> {
    let ExprKind::Compare {
        op: CmpOp::Eq,
        left,
        right,
        collation,
    } = &e.kind
    else {
        return None;
    };
    let no_own = |e: &Expr| {
        let mut none = true;
        e.for_each_column(&mut |c| none &= !own.contains(&c));
        none
    };
    let (mine, other) = match (left.as_column(), right.as_column()) {
        (Some(_), _) if is_own(left) && no_own(right) => (left, right),
        (_, Some(_)) if is_own(right) && no_own(left) => (right, left),
        _ => return None,
    };
    let (a, b) = (&mine.ty.ty, &other.ty.ty);
    let same = (a.is_character() && b.is_character()) || (a.is_integer() && b.is_integer());
    if !same || other.ty.null || matches!(other.kind, ExprKind::Param(_)) {
        return None;
    }
    Some((mine.as_column()?.1, (**other).clone(), *collation))
}
