//! Running joins: nested loops from left to right. An inner source is looked up by an index for each outer row if one
//! fits; else it is read once, kept in memory, and searched by a hash of the columns that must be equal.

use super::order::push_key;
use super::rows::{Flow, LockSpec, TablePlan};
use crate::expr::{EvalCtx, Expr, RowAccess};
use ahash::AHashMap;
use narwal_engine::{LockMode, LockWait, Transaction};
use narwal_types::{Collation, RowLayout, SqlError, SqlResult, Value, ValueRef};
use std::cell::RefCell;
use std::rc::Rc;

/// Rows of a scan that are handed on together, and their bytes: no scan is open meanwhile.
const PORTION: (usize, usize) = (256, 256 << 10);

/// A planned join.
pub struct JoinPlan {
    /// Sources in the order of the text.
    pub leaves: Vec<Leaf>,
    /// For each column: its source, and its position there.
    pub owner: Vec<(usize, usize)>,
    /// How the sources are joined.
    pub root: Node,
    /// Some conditions of its nodes run subqueries.
    pub row_wise: bool,
}

/// A source.
pub struct Leaf {
    /// Its table. Conditions count its own columns from 0.
    pub plan: TablePlan,
    /// Columns of earlier sources whose values the conditions want as parameters behind the statement's.
    pub outer: Vec<Expr>,
    /// Number of the statement's parameters.
    pub params: usize,
    /// It is read once.
    pub kept: Option<Kept>,
    /// Locks on its rows.
    pub lock: Option<LockSpec>,
    /// Behind each row stands its clustered key, see [`ROW_KEY`]. Only with `lock`.
    pub keyed: bool,
}

/// In place of a column's position: the row's clustered key.
pub const ROW_KEY: usize = usize::MAX;

impl Leaf {
    /// A row as it is kept while it is the current one.
    fn held(&self, row: &[u8], pk: &[u8]) -> Vec<u8> {
        if !self.keyed {
            return row.to_vec();
        }
        let mut held = Vec::with_capacity(row.len() + pk.len() + 4);
        held.extend_from_slice(row);
        held.extend_from_slice(pk);
        held.extend_from_slice(&(pk.len() as u32).to_le_bytes());
        held
    }
}

/// The clustered key behind a row.
fn row_key(held: &[u8]) -> &[u8] {
    let Some((rest, len)) = held.split_last_chunk::<4>() else {
        return &[];
    };
    let len = u32::from_le_bytes(*len) as usize;
    &rest[rest.len().saturating_sub(len)..]
}

/// How the rows of a kept source are found.
pub struct Kept {
    /// By a hash.
    pub hash: Option<Hash>,
    /// Conditions with other sources.
    pub on: Vec<Expr>,
}

/// Columns of the source that must be equal to expressions of earlier ones.
#[derive(Default)]
pub struct Hash {
    /// Its columns, with the collation of the comparison.
    pub columns: Vec<(usize, Collation)>,
    /// What they are equal to.
    pub others: Vec<Expr>,
}

/// A part of a join.
pub enum Node {
    /// A source.
    Leaf(usize),
    /// Rows of both sides that fit.
    Inner {
        /// Read first.
        left: Box<Node>,
        /// Read for each row of the left side.
        right: Box<Node>,
        /// Conditions that no source could check.
        on: Vec<Expr>,
    },
    /// The same, and rows of the left side without a partner.
    Outer {
        /// Read first.
        left: Box<Node>,
        /// Read for each row of the left side.
        right: Box<Node>,
        /// Conditions on the left side alone.
        before: Vec<Expr>,
        /// Conditions that no source could check.
        after: Vec<Expr>,
        /// Sources of the right side.
        leaves: Vec<usize>,
    },
}

/// Rows of a kept source.
struct Cache {
    rows: Vec<Box<[u8]>>,
    /// Positions by key.
    found: AHashMap<Vec<u8>, Vec<u32>>,
}

/// What happens with each joined row. False = enough.
type Next<'n, 'p> = dyn FnMut(&mut Run<'p>, &mut Transaction) -> SqlResult<bool> + 'n;

/// One execution.
struct Run<'p> {
    plan: &'p JoinPlan,
    ctx: &'p EvalCtx<'p>,
    /// The current row of each source; `None` if NULLs stand for it.
    rows: Vec<Option<Vec<u8>>>,
    caches: Vec<Option<Rc<Cache>>>,
    steps: u32,
}

/// The current rows as one.
struct Joined<'r> {
    plan: &'r JoinPlan,
    rows: &'r [Option<Vec<u8>>],
}

impl RowAccess for Joined<'_> {
    fn column(&self, _source: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        let (leaf, column) = self.plan.owner[column];
        match &self.rows[leaf] {
            Some(row) if column == ROW_KEY => Ok(ValueRef::Bytes(row_key(row))),
            Some(row) => self.plan.leaves[leaf].plan.table.layout.column(row, column),
            None => Ok(ValueRef::Null),
        }
    }
}

impl JoinPlan {
    /// Calls `f` with each joined row, as an image in `layout`.
    pub fn run(
        &self,
        layout: &RowLayout,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        f: &mut dyn FnMut(&mut Transaction, &[u8]) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let mut run = Run {
            plan: self,
            ctx,
            rows: self.leaves.iter().map(|_| None).collect(),
            caches: self.leaves.iter().map(|_| None).collect(),
            steps: 0,
        };
        // Derived tables are read before the loops begin: within them, each would stand on the stack of all around it.
        for (i, leaf) in self.leaves.iter().enumerate() {
            if let Some(kept) = &leaf.kept
                && leaf.plan.is_derived()
            {
                run.caches[i] = Some(Rc::new(run.fill(txn, i, kept)?));
            }
        }
        let mut image = Vec::new();
        run.node(txn, &self.root, &mut |run, txn| {
            image.clear();
            let row = run.joined();
            let values = (0..self.owner.len())
                .map(|c| row.column(0, c))
                .collect::<SqlResult<Vec<_>>>()?;
            layout.encode(&values, &mut image)?;
            f(txn, &image)
        })?;
        Ok(())
    }

    /// Positions of the sources, in the order in which they are read.
    pub fn order(&self) -> Vec<usize> {
        fn of(node: &Node, out: &mut Vec<usize>) {
            match node {
                Node::Leaf(i) => out.push(*i),
                Node::Inner { left, right, .. } | Node::Outer { left, right, .. } => {
                    of(left, out);
                    of(right, out);
                }
            }
        }
        let mut out = Vec::with_capacity(self.leaves.len());
        of(&self.root, &mut out);
        out
    }

    /// True if a source is a stored table, or reads some.
    pub fn reads_stored(&self) -> bool {
        self.leaves.iter().any(|l| l.plan.reads_stored())
    }
}

impl Node {
    /// True if a condition's subqueries run for each row.
    pub fn runs_each_row(&self) -> bool {
        let any = |l: &[Expr]| l.iter().any(Expr::runs_each_row);
        match self {
            Node::Leaf(_) => false,
            Node::Inner { left, right, on } => {
                any(on) || left.runs_each_row() || right.runs_each_row()
            }
            Node::Outer {
                left,
                right,
                before,
                after,
                ..
            } => any(before) || any(after) || left.runs_each_row() || right.runs_each_row(),
        }
    }
}

impl<'p> Run<'p> {
    fn joined(&self) -> Joined<'_> {
        Joined {
            plan: self.plan,
            rows: &self.rows,
        }
    }

    fn all(&self, txn: &mut Transaction, conditions: &[Expr]) -> SqlResult<bool> {
        for c in conditions {
            let yes = if self.plan.row_wise {
                self.ctx
                    .with_txn(txn, |ctx| c.matches(ctx, &self.joined()))?
            } else {
                c.matches(self.ctx, &self.joined())?
            };
            if !yes {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The locks that a source's rows get.
    fn lock_of(&self, leaf: &Leaf) -> Option<LockSpec> {
        leaf.lock.or_else(|| {
            self.ctx.env.locking_reads.then_some(LockSpec {
                mode: LockMode::Shared,
                wait: LockWait::Wait,
            })
        })
    }

    fn step(&mut self) -> SqlResult<()> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps & 0xff == 0 {
            self.ctx.env.check_interrupt()?;
        }
        Ok(())
    }

    /// False if `next` had enough.
    fn node(
        &mut self,
        txn: &mut Transaction,
        node: &'p Node,
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        match node {
            Node::Leaf(i) => self.leaf(txn, *i, next),
            Node::Inner { left, right, on } => self.node(txn, left, &mut |run, txn| {
                run.node(txn, right, &mut |run, txn| {
                    if !run.all(txn, on)? {
                        return Ok(true);
                    }
                    next(run, txn)
                })
            }),
            Node::Outer {
                left,
                right,
                before,
                after,
                leaves,
            } => self.node(txn, left, &mut |run, txn| {
                let mut matched = false;
                if run.all(txn, before)?
                    && !run.node(txn, right, &mut |run, txn| {
                        if !run.all(txn, after)? {
                            return Ok(true);
                        }
                        matched = true;
                        next(run, txn)
                    })?
                {
                    return Ok(false);
                }
                if matched {
                    return Ok(true);
                }
                for l in leaves {
                    run.rows[*l] = None;
                }
                next(run, txn)
            }),
        }
    }

    fn leaf(
        &mut self,
        txn: &mut Transaction,
        i: usize,
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        let leaf = &self.plan.leaves[i];
        if let Some(kept) = &leaf.kept {
            return self.kept(txn, i, kept, next);
        }
        let mut params = Vec::new();
        let mut ctx = *self.ctx;
        if !leaf.outer.is_empty() {
            params.reserve(ctx.params.len() + leaf.outer.len());
            params.extend_from_slice(ctx.params);
            for e in &leaf.outer {
                params.push(e.eval(self.ctx, &self.joined())?);
            }
            ctx.params = &params;
        }
        if let Some(spec) = self.lock_of(leaf) {
            let mut more = true;
            leaf.plan
                .lock(txn, &ctx, spec, false, &mut |txn, pk, row| {
                    self.rows[i] = Some(leaf.held(row, pk));
                    self.step()?;
                    more = next(self, txn)?;
                    Ok(more)
                })?;
            return Ok(more);
        }
        let portion: RefCell<(Vec<Vec<u8>>, usize)> = RefCell::default();
        let more = RefCell::new(true);
        let mut hand_on = |txn: &mut Transaction| {
            let (rows, _) = portion.take();
            for row in rows {
                self.rows[i] = Some(row);
                self.step()?;
                if !next(self, txn)? {
                    more.replace(false);
                    break;
                }
            }
            Ok(())
        };
        leaf.plan.read_pausing(
            txn,
            &ctx,
            &mut |row| {
                if !*more.borrow() {
                    return Ok(Flow::Enough);
                }
                let mut p = portion.borrow_mut();
                p.1 += row.len();
                p.0.push(row.to_vec());
                Ok(if p.0.len() >= PORTION.0 || p.1 >= PORTION.1 {
                    Flow::Pause
                } else {
                    Flow::More
                })
            },
            &mut hand_on,
        )?;
        if *more.borrow() {
            hand_on(txn)?;
        }
        let more = *more.borrow();
        Ok(more)
    }

    fn kept(
        &mut self,
        txn: &mut Transaction,
        i: usize,
        kept: &'p Kept,
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        let cache = match &self.caches[i] {
            Some(c) => c.clone(),
            None => {
                let c = Rc::new(self.fill(txn, i, kept)?);
                self.caches[i] = Some(c.clone());
                c
            }
        };
        let mut all = 0..cache.rows.len();
        let mut some = [].iter();
        if let Some(hash) = &kept.hash {
            all = 0..0;
            let mut key = Vec::new();
            for (e, (_, collation)) in hash.others.iter().zip(&hash.columns) {
                let v = e.eval(self.ctx, &self.joined())?;
                if v.is_null() {
                    return Ok(true);
                }
                push_key(v.as_ref(), *collation, &mut key);
            }
            if let Some(found) = cache.found.get(&key) {
                some = found.iter();
            }
        }
        for at in all.chain(some.map(|n| *n as usize)) {
            self.step()?;
            let row = self.rows[i].get_or_insert_with(Vec::new);
            row.clear();
            row.extend_from_slice(&cache.rows[at]);
            if self.all(txn, &kept.on)? && !next(self, txn)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the rows of a kept source.
    fn fill(&mut self, txn: &mut Transaction, i: usize, kept: &Kept) -> SqlResult<Cache> {
        let leaf = &self.plan.leaves[i];
        let plan = &leaf.plan;
        let mut cache = Cache {
            rows: Vec::new(),
            found: AHashMap::new(),
        };
        let mut used = 0u64;
        let max = self.ctx.env.max_memory;
        let mut take = |row: &[u8], pk: &[u8]| {
            used += (row.len() + pk.len()) as u64 + 64;
            if used > max {
                return Err(SqlError::new(
                    1038,
                    b"HY001",
                    "Out of memory for the rows of a join; an index on the joined columns saves them",
                ));
            }
            if let Some(hash) = &kept.hash {
                let mut key = Vec::new();
                for (c, collation) in &hash.columns {
                    let v = plan.table.layout.column(row, *c)?;
                    if v.is_null() {
                        return Ok(true);
                    }
                    push_key(v, *collation, &mut key);
                }
                let at = u32::try_from(cache.rows.len()).unwrap_or(u32::MAX);
                cache.found.entry(key).or_default().push(at);
            }
            cache.rows.push(leaf.held(row, pk).into());
            Ok(true)
        };
        match self.lock_of(leaf) {
            Some(spec) if plan.is_stored() => {
                plan.lock(txn, self.ctx, spec, true, &mut |_, pk, row| take(row, pk))?;
            }
            _ => plan.read(txn, self.ctx, false, &mut |_, row| take(row, &[]))?,
        }
        Ok(cache)
    }
}

/// Values as an image of a made-up table's row, converted where their type differs.
pub fn encode_made(
    table: &narwal_engine::Table,
    values: &[ValueRef<'_>],
    image: &mut Vec<u8>,
) -> SqlResult<()> {
    use narwal_types::convert::{NoWarnings, StoreMode, StoreTarget, fits, store};
    image.clear();
    let columns = table.columns();
    if values
        .iter()
        .zip(columns)
        .all(|(v, c)| fits(*v, &c.ty, true))
    {
        return table.layout.encode(values, image);
    }
    let converted = values
        .iter()
        .zip(columns)
        .map(|(v, c)| {
            let target = StoreTarget {
                ty: &c.ty,
                nullable: true,
                db: &table.def.db,
                table: &table.def.name,
                column: &c.name,
            };
            store(*v, &target, 1, &StoreMode::default(), &mut NoWarnings)
        })
        .collect::<SqlResult<Vec<Value>>>()?;
    let refs: Vec<ValueRef<'_>> = converted.iter().map(Value::as_ref).collect();
    table.layout.encode(&refs, image)
}
