//! ORDER BY behind WITH ROLLUP, which MySQL allows: rows of groups are kept with all their values until they are sorted.

use super::order::SortBuffer;
use super::select::Output;
use super::value_bytes::ValueBytes;
use crate::exec::context::RunCtx;
use crate::exec::groups::{GroupRow, add_computed};
use crate::plan::query::{GroupPlan, SelectPlan};
use narwal_types::{RowLayout, SqlResult, Value};

/// Groups that wait to be put out.
pub(super) struct RollupSort<'p> {
    buf: SortBuffer<'p>,
    codec: ValueBytes,
    payload: Vec<u8>,
}

impl<'p> RollupSort<'p> {
    /// `None` if the groups come in the order in which they are made.
    pub(super) fn new(plan: &'p SelectPlan, ctx: &RunCtx<'_>) -> Option<Self> {
        (!plan.sort.is_empty()).then(|| RollupSort {
            buf: SortBuffer::new(&plan.sort, usize::MAX, ctx.env),
            codec: ValueBytes::default(),
            payload: Vec::new(),
        })
    }

    /// Takes a group, if HAVING lets it. Always true: more may come.
    pub(super) fn push(
        &mut self,
        g: &GroupPlan,
        layout: Option<&RowLayout>,
        row: &[u8],
        mut values: Vec<Value>,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<bool> {
        add_computed(g, layout, row, &mut values, ctx)?;
        let access = GroupRow {
            layout,
            row,
            aggregates: &values,
        };
        if let Some(h) = &g.having
            && !h.matches(ctx, &access)?
        {
            return Ok(true);
        }
        self.payload.clear();
        self.payload
            .extend_from_slice(&(row.len() as u64).to_le_bytes());
        self.payload.extend_from_slice(row);
        for v in &values {
            self.codec.put(v.as_ref(), &mut self.payload);
        }
        self.buf.push(&self.payload, &[], &access, ctx)?;
        Ok(true)
    }

    /// Puts all out in their order.
    pub(super) fn emit(
        self,
        layout: Option<&RowLayout>,
        ctx: &RunCtx<'_>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let codec = self.codec;
        self.buf.drain(ctx, &mut |payload, _, _| {
            let (len, rest) = payload.split_first_chunk().unwrap_or((&[0; 8], &[]));
            let len = u64::from_le_bytes(*len) as usize;
            let (row, mut rest) = rest.split_at(len.min(rest.len()));
            let mut values: Vec<Value> = Vec::new();
            while !rest.is_empty() {
                values.push(codec.take(&mut rest)?.to_value());
            }
            let access = GroupRow {
                layout,
                row,
                aggregates: &values,
            };
            out.push(ctx, row, &access)
        })
    }
}
