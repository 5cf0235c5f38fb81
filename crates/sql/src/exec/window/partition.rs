//! The rows of one sort, partition by partition.

use super::call::{At, CallState, put_values, value_count};
use super::record::{Sorted, group_row, take_values};
use super::rows::{Cursor, PartitionRows, Record};
use super::stream::{Pace, StreamState, pace};
use crate::env::StatementEnv;
use crate::exec::byte_sorter::ByteSorter;
use crate::exec::context::RunCtx;
use crate::exec::row_list::RowList;
use crate::exec::value_bytes::{ValueBytes, put_bytes, take_bytes};
use crate::expr::window::WindowCall;
use crate::plan::query::{WindowPlan, WindowSort};
use narwal_types::{RowLayout, SqlResult, Value};

/// Receives a row: its values, with those of the sort's calls, and its image. False = enough.
pub(super) type OnRow<'f> = dyn FnMut(&mut ValueBytes, &[u8], &[u8]) -> SqlResult<bool> + 'f;

/// Goes through the partitions of a sort.
pub(super) struct Partitions<'p> {
    calls: &'p [WindowCall],
    sort: &'p WindowSort,
    layout: Option<&'p RowLayout>,
    /// The level of the partition's keys.
    partition: usize,
    pace: Pace,
    room: u64,
    /// The sort key of the row before.
    last: Option<Vec<u8>>,
    /// How long it was at each level.
    last_ends: Vec<u8>,
    /// The numbers of the groups of equals that the row before was in, one for each level.
    groups: Vec<u64>,
    values: Vec<Value>,
    record: Vec<u8>,
    /// Of calls that stream, and rows that wait for the last of their equals.
    streams: Vec<StreamState<'p>>,
    peers: RowList,
    first_of_peers: bool,
    /// Of others.
    rows: PartitionRows,
}

impl<'p> Partitions<'p> {
    /// No rows yet.
    pub(super) fn new(
        plan: &'p WindowPlan,
        sort: &'p WindowSort,
        layout: Option<&'p RowLayout>,
        env: &StatementEnv,
    ) -> Self {
        let calls = &plan.calls[sort.calls.clone()];
        let level = |keys: usize| sort.levels.iter().position(|l| *l == keys).unwrap_or(0);
        let slowest = calls.iter().map(pace).max().unwrap_or(Pace::Row);
        // Calls that stream together have equals of one kind.
        let one_level = sort.level_of.windows(2).all(|w| w[0] == w[1]);
        Partitions {
            calls,
            sort,
            layout,
            partition: level(sort.partition),
            pace: if one_level { slowest } else { Pace::Partition },
            room: env.table_room(),
            last: None,
            last_ends: Vec::new(),
            groups: vec![0; sort.levels.len()],
            values: Vec::new(),
            record: Vec::new(),
            streams: Vec::new(),
            peers: RowList::default(),
            first_of_peers: false,
            rows: PartitionRows::default(),
        }
    }

    /// Takes all rows of the sort, and hands them on with the calls' values.
    pub(super) fn run(
        &mut self,
        input: ByteSorter,
        codec: &mut ValueBytes,
        ctx: &RunCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        let mut more = true;
        input.drain(ctx.env, &mut |key, record| {
            let r = Sorted::new(record, self.sort.levels.len())?;
            let new_partition = self.enter(key, &r);
            more = match self.pace {
                Pace::Row | Pace::Peers => self.stream(&r, new_partition, codec, ctx, f)?,
                Pace::Partition => {
                    let more = !new_partition || self.finish_partition(codec, ctx, f)?;
                    self.keep(&r, codec, ctx)?;
                    more
                }
            };
            Ok(more)
        })?;
        if more {
            match self.pace {
                Pace::Row => {}
                Pace::Peers => {
                    self.finish_peers(codec, ctx, f)?;
                }
                Pace::Partition => {
                    self.finish_partition(codec, ctx, f)?;
                }
            }
        }
        Ok(())
    }

    /// Looks which groups of equals end in front of a row; true if the partition does, or if it is the first row.
    fn enter(&mut self, key: &[u8], r: &Sorted<'_>) -> bool {
        let Some(last) = &mut self.last else {
            self.last = Some(key.to_vec());
            self.last_ends.extend_from_slice(r.ends);
            self.first_of_peers = true;
            return true;
        };
        if last == key {
            self.first_of_peers = false;
            return false;
        }
        let mut new_partition = false;
        self.first_of_peers = false;
        let before = Sorted {
            ends: &self.last_ends,
            values: &[],
            row: &[],
        };
        for (level, group) in self.groups.iter_mut().enumerate() {
            if before.key(last, level) != r.key(key, level) {
                *group += 1;
                new_partition |= level == self.partition;
                self.first_of_peers |= self.sort.level_of.first() == Some(&level);
            }
        }
        last.clear();
        last.extend_from_slice(key);
        self.last_ends.clear();
        self.last_ends.extend_from_slice(r.ends);
        new_partition
    }

    /// Takes a row of calls that stream.
    fn stream(
        &mut self,
        r: &Sorted<'_>,
        new_partition: bool,
        codec: &mut ValueBytes,
        ctx: &RunCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<bool> {
        if self.pace == Pace::Peers && self.first_of_peers && !self.finish_peers(codec, ctx, f)? {
            return Ok(false);
        }
        if new_partition {
            self.streams = self.calls.iter().map(StreamState::new).collect();
        }
        take_values(codec, r.values, &mut self.values)?;
        if self.pace == Pace::Row {
            let starts = self.first_of_peers;
            return self.put_out(r.values, r.row, starts, codec, ctx, f);
        }
        let access = group_row(self.layout, r.row, &self.values);
        for s in &mut self.streams {
            s.arrive(&access, ctx)?;
        }
        self.record.clear();
        put_bytes(r.values, &mut self.record);
        self.record.extend_from_slice(r.row);
        self.peers.push(&self.record, self.room, ctx.env)?;
        Ok(true)
    }

    /// Hands on a row of calls that stream. Its values are in `self.values` too.
    fn put_out(
        &mut self,
        values: &[u8],
        row: &[u8],
        starts: bool,
        codec: &mut ValueBytes,
        ctx: &RunCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<bool> {
        self.record.clear();
        self.record.extend_from_slice(values);
        let access = group_row(self.layout, row, &self.values);
        for s in &mut self.streams {
            let v = s.value(starts, &access, ctx)?;
            codec.put(v.as_ref(), &mut self.record);
        }
        f(codec, &self.record, row)
    }

    /// All equals of the rows that wait came.
    fn finish_peers(
        &mut self,
        codec: &mut ValueBytes,
        ctx: &RunCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<bool> {
        if self.peers.is_empty() {
            return Ok(true);
        }
        let mut peers = std::mem::take(&mut self.peers);
        peers.finish()?;
        let (mut starts, mut more) = (true, true);
        peers.each(ctx.env, &mut |mut record| {
            let values = take_bytes(&mut record)?;
            take_values(codec, values, &mut self.values)?;
            more = self.put_out(values, record, starts, codec, ctx, f)?;
            starts = false;
            Ok(more)
        })?;
        peers.clear();
        self.peers = peers;
        Ok(more)
    }

    /// Keeps a row until its partition ends.
    fn keep(&mut self, r: &Sorted<'_>, codec: &mut ValueBytes, ctx: &RunCtx<'_>) -> SqlResult<()> {
        take_values(codec, r.values, &mut self.values)?;
        let access = group_row(self.layout, r.row, &self.values);
        self.record.clear();
        for g in &self.groups {
            self.record.extend_from_slice(&g.to_be_bytes());
        }
        for c in self.calls {
            put_values(c, &access, ctx, codec, &mut self.record)?;
        }
        put_bytes(r.values, &mut self.record);
        self.record.extend_from_slice(r.row);
        self.rows.push(&self.record, self.room, ctx.env)
    }

    /// Computes the calls for the rows of a partition, all of which came.
    fn finish_partition(
        &mut self,
        codec: &mut ValueBytes,
        ctx: &RunCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<bool> {
        let (mut rows, levels) = (std::mem::take(&mut self.rows), self.sort.levels.len());
        rows.finish()?;
        let mut taken = 0;
        let mut states: Vec<CallState<'_>> = Vec::with_capacity(self.calls.len());
        for (c, level) in self.calls.iter().zip(&self.sort.level_of) {
            states.push(CallState::new(c, *level, taken, &rows));
            taken += value_count(c);
        }
        let mut current = Cursor::new(&rows);
        let mut made: Vec<Value> = Vec::with_capacity(states.len());
        for n in 0..rows.len() {
            if n & 0xff == 0xff {
                ctx.env.check_interrupt()?;
            }
            let Some(bytes) = current.get(&rows, n)? else {
                break;
            };
            made.clear();
            for s in &mut states {
                made.push(s.value(&At {
                    rows: &rows,
                    codec,
                    ctx,
                    levels,
                    n,
                    row: Record::new(bytes, levels),
                })?);
            }
            let mut rest = Record::new(bytes, levels).rest(taken, codec)?;
            self.record.clear();
            self.record.extend_from_slice(take_bytes(&mut rest)?);
            for v in &made {
                codec.put(v.as_ref(), &mut self.record);
            }
            if !f(codec, &self.record, rest)? {
                return Ok(false);
            }
        }
        rows.clear();
        self.rows = rows;
        Ok(true)
    }
}
