//! Values that are computed once for each row as it is read, and stand behind its columns from there on.

use crate::exec::context::RunCtx;
use crate::expr::node::ImageRow;
use crate::plan::made::encode_made;
use crate::plan::query::Computed;
use narwal_types::{RowLayout, SqlResult, Value, ValueRef};
use smallvec::SmallVec;

impl Computed {
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
