//! Running joins: nested loops from left to right. An inner source is looked up by an index for each outer row if one
//! fits; else it is read once, kept in memory, and searched by a hash of the columns that must be equal.

use super::order::push_key;
use crate::exec::context::RunCtx;
use crate::exec::join_run::{Build, Overflow};
use crate::exec::join_run::{Cache, Current, NONE, Next, Rows, Run, row_key_of};
use crate::exec::rows::Flow;
use crate::expr::node::{Expr, RowAccess};
use crate::plan::query::LockSpec;
use crate::plan::query::{Hash, JoinPlan, Kept, Leaf, Node, ROW_KEY};
use narwal_engine::Transaction;
use narwal_types::{RowLayout, SqlResult, ValueRef};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// Rows of a scan that are handed on together, and their bytes: no scan is open meanwhile.
const PORTION: (usize, usize) = (256, 256 << 10);

impl Leaf {
    /// Appends a row as it is kept.
    fn hold(&self, row: &[u8], pk: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(row);
        if self.keyed {
            out.extend_from_slice(pk);
            out.extend_from_slice(&(pk.len() as u32).to_le_bytes());
        }
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

/// The current rows as one.
struct Joined<'r> {
    plan: &'r JoinPlan,
    rows: &'r [Current],
}

impl Joined<'_> {
    /// Appends a column to a row of the join.
    fn copy(&self, layout: &RowLayout, c: usize, out: &mut Vec<u8>) -> SqlResult<()> {
        let (leaf, column) = self.plan.owner[c];
        let row = &self.rows[leaf];
        if !row.is_row {
            return Ok(());
        }
        let from = &self.plan.leaves[leaf].plan.table.layout;
        layout.put_bytes(c, (from, &row.bytes, column), out)
    }
}

impl RowAccess for Joined<'_> {
    fn column(&self, _source: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        let (leaf, column) = self.plan.owner[column];
        let row = &self.rows[leaf];
        if !row.is_row {
            return Ok(ValueRef::Null);
        }
        if column == ROW_KEY {
            return Ok(ValueRef::Bytes(row_key(&row.bytes)));
        }
        let layout = &self.plan.leaves[leaf].plan.table.layout;
        layout.column(&row.bytes, column)
    }

    fn int(&self, _source: usize, column: usize) -> Option<i64> {
        let (leaf, column) = self.plan.owner[column];
        let row = &self.rows[leaf];
        let layout = &self.plan.leaves[leaf].plan.table.layout;
        if row.is_row {
            layout.int(&row.bytes, column)
        } else {
            None
        }
    }
}

impl JoinPlan {
    /// Calls `f` with each joined row, as an image in `layout`.
    pub fn run(
        &self,
        layout: &RowLayout,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: &mut dyn FnMut(&mut Transaction, &[u8]) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let mut run = Run {
            plan: self,
            ctx,
            rows: self.leaves.iter().map(|_| Current::default()).collect(),
            caches: self.leaves.iter().map(|_| None).collect(),
            graces: Vec::new(),
            waits: false,
            params: self.leaves.iter().map(|_| Vec::new()).collect(),
            steps: 0,
        };
        // Derived tables are read before the loops begin: within them, each would stand on the stack of all around it.
        for (i, leaf) in self.leaves.iter().enumerate() {
            if let Some(kept) = &leaf.kept
                && leaf.plan.is_derived()
                && leaf.lateral().is_none()
            {
                run.caches[i] = Some(Rc::new(run.fill(txn, ctx, i, kept)?));
            }
        }
        // The wanted columns, and whether their bytes are in the sources' rows as they are in those of the join.
        let columns: SmallVec<[(usize, bool); 16]> = (self.wanted.iter().enumerate())
            .filter(|(_, wanted)| **wanted)
            .map(|(c, _)| {
                let (leaf, column) = self.owner[c];
                let from = &self.leaves[leaf].plan.table.layout;
                (c, layout.takes_bytes(c, from, column))
            })
            .collect();
        let mut image = Vec::new();
        run.node(txn, &self.root, &mut |run, txn| {
            layout.begin(&mut image);
            let row = run.joined();
            for (c, copied) in &columns {
                match copied {
                    true => row.copy(layout, *c, &mut image)?,
                    false => layout.put(*c, row.column(0, *c)?, &mut image)?,
                }
            }
            f(txn, &image)
        })?;
        Ok(())
    }
}

impl<'p> Run<'p> {
    fn joined(&self) -> Joined<'_> {
        Joined {
            plan: self.plan,
            rows: &self.rows,
        }
    }

    pub(super) fn all(&self, txn: &mut Transaction, conditions: &[Expr]) -> SqlResult<bool> {
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
        let locks = self.ctx.env.locking_reads;
        leaf.lock.or(locks.then_some(LockSpec::SERIALIZABLE))
    }

    pub(super) fn step(&mut self) -> SqlResult<()> {
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
            Node::Inner { left, right, .. } | Node::Outer { left, right, .. } => {
                if !self.node(txn, left, &mut |run, txn| run.right(txn, node, next))? {
                    return Ok(false);
                }
                match &**right {
                    Node::Leaf(i) if !self.graces.is_empty() => {
                        self.join_parts(txn, *i, node, next)
                    }
                    _ => Ok(true),
                }
            }
        }
    }

    /// Joins the right side of a node to the current rows of its left side. False if `next` had enough.
    pub(super) fn right(
        &mut self,
        txn: &mut Transaction,
        node: &'p Node,
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        match node {
            Node::Leaf(i) => self.leaf(txn, *i, next),
            Node::Inner { right, on, .. } => {
                let more = self.node(txn, right, &mut |run, txn| {
                    if !run.all(txn, on)? {
                        return Ok(true);
                    }
                    next(run, txn)
                })?;
                self.waits = false;
                Ok(more)
            }
            Node::Outer {
                right,
                before,
                after,
                leaves,
                ..
            } => {
                let mut matched = false;
                if self.all(txn, before)?
                    && !self.node(txn, right, &mut |run, txn| {
                        if !run.all(txn, after)? {
                            return Ok(true);
                        }
                        matched = true;
                        next(run, txn)
                    })?
                {
                    return Ok(false);
                }
                if std::mem::take(&mut self.waits) || matched {
                    return Ok(true);
                }
                for l in leaves {
                    self.rows[*l].is_row = false;
                }
                next(self, txn)
            }
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
            let build = match leaf.lateral() {
                Some(seen) => self.lateral(txn, i, kept, seen)?,
                None => self.read_once(txn, i, kept)?,
            };
            return self.kept(txn, i, kept, &build, next);
        }
        let mut params = std::mem::take(&mut self.params[i]);
        let mut ctx = *self.ctx;
        if !leaf.outer.is_empty() {
            if params.is_empty() {
                params.extend_from_slice(ctx.params);
            }
            params.truncate(ctx.params.len());
            for e in &leaf.outer {
                params.push(e.eval(self.ctx, &self.joined())?);
            }
            ctx.eval.params = &params;
        }
        let more = self.looked_up(txn, i, &ctx, next);
        self.params[i] = params;
        more
    }

    /// Reads a source by its access path.
    fn looked_up(
        &mut self,
        txn: &mut Transaction,
        i: usize,
        ctx: &RunCtx<'_>,
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        let leaf = &self.plan.leaves[i];
        if let Some(spec) = self.lock_of(leaf) {
            let mut more = true;
            leaf.plan.lock(txn, ctx, spec, false, &mut |txn, pk, row| {
                let current = &mut self.rows[i];
                current.is_row = true;
                current.bytes.clear();
                leaf.hold(row, pk, &mut current.bytes);
                self.step()?;
                more = next(self, txn)?;
                Ok(more)
            })?;
            return Ok(more);
        }
        if let Some(row) = leaf.plan.read_point(txn, ctx)? {
            let Some(row) = row else { return Ok(true) };
            self.rows[i].set(&row);
            drop(row);
            self.step()?;
            return next(self, txn);
        }
        let portion: RefCell<Rows> = RefCell::default();
        let more = RefCell::new(true);
        let mut hand_on = |txn: &mut Transaction| {
            let mut rows = portion.take();
            for n in 0..rows.len() {
                self.rows[i].set(rows.get(n));
                self.step()?;
                if !next(self, txn)? {
                    more.replace(false);
                    break;
                }
            }
            rows.bytes.clear();
            rows.ends.clear();
            portion.replace(rows);
            Ok(())
        };
        leaf.plan.read_pausing(
            txn,
            ctx,
            &mut |row| {
                if !*more.borrow() {
                    return Ok(Flow::Enough);
                }
                let mut p = portion.borrow_mut();
                p.bytes.extend_from_slice(row);
                let end = p.bytes.len();
                p.ends.push(end);
                Ok(if p.len() >= PORTION.0 || end >= PORTION.1 {
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

    /// The rows of a source that is read once.
    fn read_once(&mut self, txn: &mut Transaction, i: usize, kept: &Kept) -> SqlResult<Rc<Build>> {
        if let Some(c) = &self.caches[i] {
            return Ok(c.clone());
        }
        let c = Rc::new(self.fill(txn, self.ctx, i, kept)?);
        self.caches[i] = Some(c.clone());
        Ok(c)
    }

    /// The rows of a LATERAL derived table for the current rows before it, of which it has these values.
    fn lateral(
        &mut self,
        txn: &mut Transaction,
        i: usize,
        kept: &Kept,
        seen: &[Expr],
    ) -> SqlResult<Rc<Build>> {
        self.step()?;
        let row = self.joined();
        let values = seen.iter().map(|e| e.eval(self.ctx, &row));
        let values = values.collect::<SqlResult<Vec<_>>>()?;
        let mut ctx = *self.ctx;
        ctx.eval.outer = &values;
        Ok(Rc::new(self.fill(txn, &ctx, i, kept)?))
    }

    /// Joins the rows of a source that fit the current ones. False if `next` had enough.
    fn kept(
        &mut self,
        txn: &mut Transaction,
        i: usize,
        kept: &'p Kept,
        build: &Rc<Build>,
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        let mut key = Vec::with_capacity(if kept.hash.is_some() { 32 } else { 0 });
        if let Some(hash) = &kept.hash
            && !self.hash_key(hash, &mut key)?
        {
            return Ok(true);
        }
        let Build::Memory(cache) = &**build else {
            return self.spilled(txn, i, kept, build, &key, next);
        };
        let mut at = match (&kept.hash, cache.rows.len()) {
            (_, 0) => NONE,
            (None, _) => 0,
            (Some(_), _) => cache.keys.get(&key).map_or(NONE, |k| cache.of_key[k].0),
        };
        while at != NONE {
            self.step()?;
            self.rows[i].set(cache.rows.get(at as usize));
            if self.all(txn, &kept.on)? && !next(self, txn)? {
                return Ok(false);
            }
            at = match &kept.hash {
                Some(_) => cache.next[at as usize],
                None if (at as usize) + 1 < cache.rows.len() => at + 1,
                None => NONE,
            };
        }
        Ok(true)
    }

    /// The key by which the current rows look for partners; false if it has a NULL.
    fn hash_key(&self, hash: &Hash, key: &mut Vec<u8>) -> SqlResult<bool> {
        for (e, (_, collation)) in hash.others.iter().zip(&hash.columns) {
            let row = self.joined();
            let v = e.eval_ref(self.ctx, &row)?;
            if v.is_null() {
                return Ok(false);
            }
            push_key(v.as_ref(), *collation, key);
        }
        Ok(true)
    }

    /// Reads the rows of a kept source.
    fn fill(
        &mut self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        i: usize,
        kept: &Kept,
    ) -> SqlResult<Build> {
        let leaf = &self.plan.leaves[i];
        let plan = &leaf.plan;
        let mut cache = Cache::default();
        let mut overflow: Option<Overflow> = None;
        let mut key = Vec::new();
        let mut held = Vec::new();
        let env = self.ctx.env;
        let room = env.join_room();
        let mut take = |row: &[u8], pk: &[u8]| {
            if let Some(hash) = &kept.hash
                && !row_key_of(hash, &plan.table.layout, row, &mut key)?
            {
                return Ok(true);
            }
            if let Some(o) = &mut overflow {
                held.clear();
                leaf.hold(row, pk, &mut held);
                o.push(&key, &held, env)?;
                return Ok(true);
            }
            cache.push(kept.hash.as_ref().map(|_| key.as_slice()), |to| {
                leaf.hold(row, pk, to);
            });
            if cache.memory() > room {
                let all = std::mem::take(&mut cache);
                overflow = Some(Overflow::of(&all, kept, &plan.table.layout, env)?);
            }
            Ok(true)
        };
        match self.lock_of(leaf) {
            Some(spec) if plan.is_lockable() => {
                plan.lock(txn, ctx, spec, true, &mut |_, pk, row| take(row, pk))?;
            }
            _ => plan.read(txn, ctx, false, &mut |_, row| take(row, &[]))?,
        }
        match overflow {
            None => Ok(Build::Memory(cache)),
            Some(o) => self.overflowed(i, o),
        }
    }
}
