//! WHERE of SHOW with functions and subqueries: the result is a virtual table for a while, and a SELECT over it says which
//! rows stay.

use crate::admin::Operand;
use crate::information_schema::InformationSchema;
use crate::rows::Grid;
use crate::session::ClientSession;
use narwal_engine::{ColumnDef, Table, TableDef};
use narwal_sql::Prepared;
use narwal_sql::ast::{Select, SelectItem};
use narwal_sql::virtual_tables::{INFORMATION_SCHEMA, VirtualRows, VirtualTables};
use narwal_syntax::ast::{From, TableName, TableRef};
use narwal_syntax::{Expr, Statement};
use narwal_types::{
    BlobSize, Collation, ColumnType, OkInfo, ResultColumn, ResultSink, SqlResult, TypeKind, Value,
    ValueRef,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The table's name, which no text can have: names do not end with a space.
const SHOWN: &str = "SHOW ";
/// The column that numbers its rows.
const NUMBER: &str = "NUMBER ";

/// The virtual tables, and the result of a SHOW among them.
struct WithShown<'s> {
    others: InformationSchema<'s>,
    table: Arc<Table>,
    rows: Arc<Vec<Vec<Value>>>,
}

impl VirtualTables for WithShown<'_> {
    fn table(
        &self,
        db: &str,
        name: &str,
        _reader: Option<&(String, String)>,
    ) -> Option<(Arc<Table>, VirtualRows)> {
        if name != SHOWN {
            // As on MariaDB, a view in the condition of a SHOW sees no more for its definer's sake.
            return self.others.table(db, name, None);
        }
        let rows = self.rows.clone();
        Some((self.table.clone(), Arc::new(move |_, _| Ok(rows.to_vec()))))
    }
}

impl ClientSession {
    /// Keeps the rows of a SHOW that WHERE is true for.
    pub(super) fn keep_where(&mut self, grid: &mut Grid, condition: &Operand) -> SqlResult<()> {
        let (table, rows) = as_table(grid)?;
        let mut select = Select::of(
            vec![SelectItem::Expr {
                expr: Expr::Column(NUMBER.into()),
                alias: None,
                text: String::new(),
            }],
            From::Table(TableRef {
                name: TableName {
                    db: Some(INFORMATION_SCHEMA.into()),
                    name: SHOWN.into(),
                },
                alias: None,
                hints: Vec::new(),
                partitions: Vec::new(),
                system_time: None,
            }),
        );
        select.where_ = Some(condition.value.expr.clone());
        select.subqueries = condition.value.subqueries.clone();
        let statement = Statement::Select(Box::new(select));
        let stmt = narwal_sql::lower(statement, &self.parse_options())?;
        let catalog = self.instance.database().catalog();
        let plan = {
            let tables = WithShown {
                others: InformationSchema(self),
                table,
                rows,
            };
            let db = self.instance.database();
            Prepared::new(&stmt, "", db, &catalog, &self.env, Some(&tables))?
        };
        self.check_needs(plan.needs())?;
        let mut kept = Numbers::default();
        self.run_query(&plan, &mut kept)?;
        let rows = std::mem::take(&mut grid.rows);
        grid.rows = (rows.into_iter().enumerate())
            .filter(|(n, _)| kept.0.contains(n))
            .map(|(_, row)| row)
            .collect();
        Ok(())
    }
}

/// Values of a table that is made for one statement.
type Rows = Arc<Vec<Vec<Value>>>;

/// The rows of a SHOW as a table: numbers where all of a column are, else texts, and a column that numbers the rows.
fn as_table(grid: &Grid) -> SqlResult<(Arc<Table>, Rows)> {
    let whole = |v: &Value| matches!(v, Value::Int(_) | Value::Null);
    let mut columns = Vec::with_capacity(grid.columns.len() + 1);
    let mut numeric = Vec::with_capacity(grid.columns.len());
    for (i, c) in grid.columns.iter().enumerate() {
        let values = || grid.rows.iter().filter_map(|r| r.get(i));
        let plain =
            values().all(|v| whole(v) || matches!(v, Value::UInt(n) if *n <= i64::MAX as u64));
        let number = plain && c.ty.is_integer();
        numeric.push(number);
        columns.push(column(&c.name, number));
    }
    columns.push(column(NUMBER, true));
    let row = |(n, r): (usize, &Vec<Value>)| {
        let values = r.iter().zip(&numeric).map(|(v, number)| match (v, number) {
            (Value::UInt(n), true) => Value::Int(*n as i64),
            (Value::Null | Value::Int(_), true) | (Value::Null | Value::Str(_), false) => v.clone(),
            (v, _) => {
                let mut text = Vec::new();
                v.as_ref().write_text(&mut text);
                Value::str(String::from_utf8_lossy(&text).into_owned())
            }
        });
        values.chain([Value::Int(n as i64)]).collect()
    };
    let rows = grid.rows.iter().enumerate().map(row).collect();
    let table = Table::made(TableDef {
        id: 0,
        db: INFORMATION_SCHEMA.into(),
        name: SHOWN.into(),
        columns,
        indexes: Vec::new(),
        hidden_index_id: 0,
        collation: Collation::Utf8mb3GeneralCi,
        comment: String::new(),
        auto_increment_start: 0,
        engine: String::new(),
        created: 0,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        sequence: false,
        merge: None,
        period: None,
        declared: None,
        options: Vec::new(),
    })?;
    Ok((table, Arc::new(rows)))
}

fn column(name: &str, number: bool) -> ColumnDef {
    let text = TypeKind::Text(BlobSize::Long);
    let ty = match number {
        true => ColumnType::new(TypeKind::BigInt),
        false => ColumnType::text(text, Collation::Utf8mb3GeneralCi),
    };
    ColumnDef::new(name, ty, true)
}

/// The numbers that a SELECT gives.
#[derive(Default)]
struct Numbers(BTreeSet<usize>);

impl ResultSink for Numbers {
    fn begin_rows(&mut self, _: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        if let Some(ValueRef::Int(n)) = values.first() {
            self.0.extend(usize::try_from(*n));
        }
        Ok(())
    }
    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}
