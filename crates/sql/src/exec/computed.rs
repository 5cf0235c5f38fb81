//! Values that are computed once for each row as it is read, and stand behind its columns from there on.

use super::join::encode_made;
use crate::exec::context::RunCtx;
use crate::expr::node::{Expr, ImageRow};
use crate::plan::from::{kept_type, made_table};
use narwal_engine::Table;
use narwal_types::{RowLayout, SqlResult, Value, ValueRef};
use smallvec::SmallVec;
use std::sync::Arc;

/// What is computed of each row.
pub struct Computed {
    /// The values.
    pub exprs: Vec<Expr>,
    /// The columns of the rows, and these values behind them.
    pub table: Arc<Table>,
    /// The columns of the rows that are looked at later.
    pub columns: Vec<usize>,
}

impl Computed {
    /// Of a table's rows.
    pub fn new(table: &Table, exprs: Vec<Expr>) -> SqlResult<Computed> {
        let own = (table.columns().iter()).map(|c| (c.name.clone(), c.ty, true));
        let added = exprs
            .iter()
            .map(|e| (String::new(), kept_type(&e.ty()), true));
        let columns: Vec<_> = own.chain(added).collect();
        Ok(Computed {
            table: made_table(&table.def.db, &table.def.name, columns)?,
            exprs,
            columns: Vec::new(),
        })
    }

    /// Parts what is looked at behind the FROM into these values, which it forgets, and columns of the rows; adds the
    /// columns that the values are computed of.
    pub fn looks_at(&mut self, columns: &mut Vec<usize>) {
        let width = self.table.columns().len() - self.exprs.len();
        columns.retain(|c| *c < width);
        columns.sort_unstable();
        columns.dedup();
        self.columns.clone_from(columns);
        for e in &self.exprs {
            e.for_each_column(&mut |c| columns.push(c));
        }
    }

    /// Makes the row with the values from a row.
    pub fn row(
        &self,
        ctx: &RunCtx<'_>,
        layout: &RowLayout,
        row: &[u8],
        image: &mut Vec<u8>,
    ) -> SqlResult<()> {
        let access = ImageRow { layout, row };
        let computed = (self.exprs.iter())
            .map(|e| e.eval(ctx, &access))
            .collect::<SqlResult<SmallVec<[Value; 4]>>>()?;
        let width = layout.columns().len();
        let mut values: SmallVec<[ValueRef<'_>; 16]> = SmallVec::new();
        values.resize(width, ValueRef::Null);
        for c in &self.columns {
            values[*c] = layout.column(row, *c)?;
        }
        values.extend(computed.iter().map(Value::as_ref));
        encode_made(&self.table, &values, image)
    }
}
