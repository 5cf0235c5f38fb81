//! Values of DISTINCT, GROUP_CONCAT and the like that do not fit into memory: they are sorted in temporary files.

use super::aggregate::{Acc, ListText, compares_all};
use super::byte_sorter::ByteSorter;
use super::order::push_order_key;
use super::value_bytes::{ValueBytes, put_bytes, take_bytes};
use crate::env::StatementEnv;
use crate::exec::context::RunCtx;
use crate::exec::groups::Groups;
use crate::exec::groups::{OnGroup, ValueStore};
use crate::expr::node::{AggFunc, Aggregate};
use crate::status_counts::StatusCount;
use narwal_types::{SqlResult, Value};

/// Bytes of a record's key that name the group and the aggregate, and those of its number at the end.
const PREFIX: usize = 6;
const NUMBER: usize = 8;

impl ValueStore {
    fn new(room: u64) -> Self {
        ValueStore {
            sorter: ByteSorter::new(room),
            codec: ValueBytes::default(),
            count: 0,
        }
    }

    /// Takes over what a group's aggregate holds. Records are sorted by group, aggregate, and the values that are compared,
    /// or else the order of the text.
    fn take(
        &mut self,
        group: usize,
        which: usize,
        a: &Aggregate,
        acc: &mut Acc,
        env: &StatementEnv,
    ) -> SqlResult<()> {
        let Some(all) = &mut acc.all else {
            return Ok(());
        };
        let mut key = (group as u32).to_be_bytes().to_vec();
        key.extend_from_slice(&(which as u16).to_be_bytes());
        let mut payload = Vec::new();
        let records = all
            .items
            .len()
            .max(all.seen.as_ref().map_or(0, |s| s.len()));
        for n in 0..records {
            key.truncate(PREFIX);
            payload.clear();
            if let Some(seen) = &all.seen {
                key.extend_from_slice(seen.key(n));
            }
            match (&a.list, all.items.get(n)) {
                (Some(list), Some(item)) => {
                    let by = &a.args[a.args.len() - list.order.len()..];
                    let mut order = Vec::new();
                    for ((v, desc), e) in item.key.iter().zip(&list.order).zip(by) {
                        let start = order.len();
                        push_order_key(v.as_ref(), e.ty.ty.collation, &mut order);
                        if *desc {
                            order[start..].iter_mut().for_each(|b| *b = !*b);
                        }
                    }
                    if all.seen.is_some() {
                        put_bytes(&order, &mut payload);
                    } else {
                        key.extend_from_slice(&order);
                    }
                    payload.extend_from_slice(&item.text);
                }
                // A value that counts already has none.
                _ => match all.values.get(n) {
                    Some(v) => self.codec.put(v.as_ref(), &mut payload),
                    None if all.deferred => payload.push(0),
                    None => {}
                },
            }
            let sorted = a.list.as_ref().is_some_and(|l| !l.order.is_empty());
            // Of equal ones the last comes first. Which values differ is seen by the first of them.
            let number = match sorted && all.seen.is_none() {
                true => !self.count,
                false => self.count,
            };
            key.extend_from_slice(&number.to_be_bytes());
            self.count += 1;
            self.sorter.push(&key, &payload, env)?;
        }
        all.items = Vec::new();
        all.values = Vec::new();
        if let Some(seen) = &mut all.seen {
            seen.clear();
        }
        all.deferred = true;
        all.held = 0;
        Ok(())
    }
}

/// What a sort of values may hold in memory, where groups have `room`: as much as other sorts. A part of a small `room`
/// would make thousands of runs.
fn sort_room(room: u64, env: &StatementEnv) -> u64 {
    (room / 4).max(env.sort_memory.min(env.max_memory))
}

/// The group and the aggregate of a record.
fn owner(key: &[u8]) -> (usize, usize) {
    let group = key.first_chunk().map_or(0, |b| u32::from_be_bytes(*b));
    let which = key[4..].first_chunk().map_or(0, |b| u16::from_be_bytes(*b));
    (group as usize, which.into())
}

impl Groups<'_> {
    /// Puts the values that aggregates hold into temporary files.
    pub(super) fn set_values_aside(&mut self, env: &StatementEnv) -> SqlResult<()> {
        let store = match &mut self.values {
            Some(s) => s,
            none => {
                env.status_counts.add(StatusCount::CreatedTmpDiskTables, 1);
                none.insert(ValueStore::new(sort_room(self.room, env)))
            }
        };
        let each = self.plan.aggregates.len();
        for (n, acc) in self.accs.iter_mut().enumerate() {
            store.take(
                n / each,
                n % each,
                &self.plan.aggregates[n % each],
                acc,
                env,
            )?;
        }
        self.held = 0;
        Ok(())
    }

    /// Calls `f` with the results of each group in memory, in their order; false if `f` wanted no more.
    pub(super) fn each_finished(
        &mut self,
        ctx: &RunCtx<'_>,
        f: &mut OnGroup<'_>,
    ) -> SqlResult<bool> {
        if self.values.is_some() {
            self.set_values_aside(ctx.env)?;
        }
        let Some(mut store) = self.values.take() else {
            for n in 0..self.len() {
                let values = self.finish(n, ctx)?;
                if !f(self.row(n), self.level(n), &values)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        };
        let aggregates = &self.plan.aggregates;
        let each = aggregates.len();
        let mut accs = std::mem::take(&mut self.accs);
        if aggregates.iter().any(compares_all) {
            store.sorter = first_of_equal(store.sorter, aggregates, &mut accs, self.room, ctx.env)?;
        }
        let mut texts: Vec<Option<ListText<'_>>> = aggregates.iter().map(|_| None).collect();
        let mut put_out = |n: usize, accs: &[Acc], texts: &mut [Option<ListText<'_>>]| {
            let of_group = &accs[n * each..(n + 1) * each];
            let values = (of_group.iter().zip(aggregates).zip(texts))
                .map(|((acc, a), text)| match a.list {
                    Some(_) => Ok(text.take().map_or(Value::Null, ListText::finish)),
                    None => acc.finish(a, ctx.env),
                })
                .collect::<SqlResult<Vec<_>>>()?;
            f(self.row(n), self.level(n), &values)
        };
        let (mut at, mut more) = (0, true);
        store.sorter.drain(ctx.env, &mut |key, payload| {
            let (group, which) = owner(key);
            while at < group && more {
                more = put_out(at, &accs, &mut texts)?;
                at += 1;
            }
            if !more {
                return Ok(false);
            }
            let a = &aggregates[which];
            match a.list {
                Some(_) => {
                    let text = texts[which].get_or_insert_with(|| ListText::new(a));
                    text.push(payload, ctx.env);
                }
                None => {
                    let v = store.codec.take(&mut &*payload)?;
                    accs[group * each + which].value(a, v, ctx.env)?;
                }
            }
            Ok(true)
        })?;
        while at < self.count && more {
            more = put_out(at, &accs, &mut texts)?;
            at += 1;
        }
        Ok(more)
    }
}

/// Of equal values of an aggregate only the first remains; they are sorted in the order in which aggregates take them.
/// COUNT has them counted.
fn first_of_equal(
    sorter: ByteSorter,
    aggregates: &[Aggregate],
    accs: &mut [Acc],
    room: u64,
    env: &StatementEnv,
) -> SqlResult<ByteSorter> {
    let mut to = ByteSorter::new(sort_room(room, env));
    let mut last: Vec<u8> = Vec::new();
    let mut key = Vec::new();
    sorter.drain(env, &mut |record, mut payload| {
        let (group, which) = owner(record);
        let a = &aggregates[which];
        if !compares_all(a) {
            to.push(record, payload, env)?;
            return Ok(true);
        }
        let (compared, number) = record.split_at(record.len() - NUMBER);
        if compared == last {
            return Ok(true);
        }
        last.clear();
        last.extend_from_slice(compared);
        key.clear();
        key.extend_from_slice(&record[..PREFIX]);
        let mut number = number.to_vec();
        if let Some(list) = &a.list {
            key.extend_from_slice(take_bytes(&mut payload)?);
            if !list.order.is_empty() {
                number.iter_mut().for_each(|b| *b = !*b);
            }
        } else if payload.is_empty() {
            return Ok(true);
        } else if a.func == AggFunc::Count {
            accs[group * aggregates.len() + which].count += 1;
            return Ok(true);
        }
        key.extend_from_slice(&number);
        to.push(&key, payload, env)?;
        Ok(true)
    })?;
    Ok(to)
}
