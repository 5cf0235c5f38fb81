//! CREATE TABLE ... SELECT: the columns that a SELECT's result becomes, and the rows.

use super::column::own_collation;
use super::rebuild::Copy;
use crate::ast::{ColumnSpec, CreateTable, Duplicates};
use crate::ddl::run::Run;
use crate::plan::made::stored_type;
use narwal_engine::{
    CatalogChange, ColumnDef, DefaultDef, EngineError, FillRows, Isolation, TableFill, TxnOptions,
};
use narwal_types::{Collation, Name, ResultColumn, SqlError, SqlResult, TypeKind, ValueRef};

impl Run<'_> {
    pub(super) fn create_select(
        &self,
        c: &CreateTable,
        db: &str,
        default: Collation,
        mut changes: Vec<CatalogChange>,
    ) -> SqlResult<u64> {
        let Some(select) = self.select else {
            return Err(SqlError::unsupported("CREATE TABLE ... SELECT here"));
        };
        // Columns of the statement that the SELECT has too stand where they stand there.
        let mut c = c.clone();
        let mut given = std::mem::take(&mut c.elements.columns);
        let mut sources = Vec::new();
        let mut made = Vec::new();
        for (i, result) in select.columns().iter().enumerate() {
            let at = given
                .iter()
                .position(|g| g.def.name.same_name(&result.name));
            made.push(match at {
                Some(at) => {
                    let mut both = given.remove(at);
                    both.def.name.clone_from(&result.name);
                    both
                }
                None => self.column_of(result, select.keeps_rows())?,
            });
            sources.push(Some(i));
        }
        let first = given.len();
        c.elements.columns = given;
        c.elements.columns.append(&mut made);
        sources.splice(0..0, std::iter::repeat_n(None, first));
        let def = self.table_def(&c, db, default)?;

        let sql = self.written_out(&c.table, c.or_replace, &def)?;
        changes.push(CatalogChange::CreateTable(def));
        let ddl = self.ddl_of(self.default_db(), sql, changes, false);
        let (mut rows, mut duplicates) = (0, 0);
        let mut fill = |fill: &mut TableFill<'_>| -> Result<(), EngineError> {
            let new = fill.new_table(db, &c.table.name)?;
            let mut copy = Copy::of_select(self, new, &sources, c.duplicates)?;
            let mut row =
                |row: &[ValueRef<'_>]| copy.row(fill, &|i| Ok(row[i])).map_err(|e| e.to_sql());
            match self.open {
                Some(open) => open(&mut |txn| {
                    // In a function it is part of the statement around.
                    let part = txn.in_statement();
                    match part {
                        true => txn.claim_temporary(),
                        false => txn.begin_statement(self.env.timestamp(), None),
                    }
                    let done = select.each_row(txn, self.env, &mut row);
                    if !part {
                        txn.end_statement();
                    }
                    txn.lend_temporary();
                    done
                })?,
                None => {
                    // It must see what is committed, and nothing of this statement. Where it has to be serializable it locks
                    // what it reads.
                    let isolation = match self.env.locking_reads {
                        true => Isolation::Serializable,
                        false => Isolation::ReadCommitted,
                    };
                    let mut txn = self.db.begin(TxnOptions {
                        isolation,
                        ..self.options.clone()
                    });
                    select.each_row(&mut txn, self.env, &mut row)?;
                }
            }
            (rows, duplicates) = (copy.rows - copy.skipped, copy.duplicates);
            Ok(())
        };
        let how = FillRows::Logged { annotate: None };
        self.submit_filled(ddl, how, &mut fill)?;
        self.copied.set((rows, duplicates));
        let found = if select.finds_rows() { rows } else { 0 };
        self.env.selected_rows.set(Some(found));
        // A replaced row counts twice.
        Ok(match c.duplicates {
            Duplicates::Replace => rows + duplicates,
            _ => rows - duplicates,
        })
    }

    /// The column that a result column becomes. `kept`: of a table that the query makes.
    fn column_of(&self, r: &ResultColumn, kept: bool) -> SqlResult<ColumnSpec> {
        let stored = (!r.org_name.is_empty())
            .then(|| self.source(&r.db, &r.org_table))
            .flatten()
            .and_then(|t| t.column(&r.org_name).map(|c| t.def.columns[c].clone()));
        if r.name.is_empty() || r.name.ends_with(' ') || r.name.chars().count() > 64 {
            return Err(narwal_types::errors::WRONG_COLUMN_NAME.with([&r.name]));
        }
        let def = match stored {
            Some(mut def) => {
                def.name.clone_from(&r.name);
                def.nullable = r.nullable;
                def.generated = None;
                def.check = None;
                def.invisible = false;
                if def.default == DefaultDef::Null {
                    // As if nothing was said: a primary key may make it NOT NULL.
                    def.default = DefaultDef::None;
                }
                if std::mem::take(&mut def.auto_increment) && !def.nullable {
                    def.default = DefaultDef::Text("0".into());
                }
                def
            }
            None => {
                let (ty, display_width) = stored_type(r);
                ColumnDef {
                    name: r.name.clone(),
                    ty,
                    nullable: r.nullable,
                    default: match kept && !r.nullable {
                        true => default_of_made(ty.kind),
                        false => DefaultDef::None,
                    },
                    auto_increment: false,
                    on_update: None,
                    comment: String::new(),
                    display_width,
                    generated: None,
                    check: None,
                    invisible: false,
                    compressed: false,
                    headed: false,
                }
            }
        };
        Ok(ColumnSpec {
            collation: own_collation(&def),
            length: None,
            def,
            default: None,
            check: None,
            generated: None,
            json: false,
            implicit: false,
            member_bytes: Vec::new(),
            said_db: None,
        })
    }
}

/// The default that MariaDB gives a column that comes from a union or a derived table: nothing, of its type.
fn default_of_made(kind: TypeKind) -> DefaultDef {
    let zero = match kind {
        TypeKind::Decimal(_, scale @ 1..) => format!("0.{}", "0".repeat(scale.into())),
        TypeKind::Date => "0000-00-00".to_string(),
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Binary(_) | TypeKind::VarBinary(_) => {
            String::new()
        }
        TypeKind::Decimal(..) | TypeKind::Float | TypeKind::Double => "0".to_string(),
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt => "0".to_string(),
        _ => return DefaultDef::None,
    };
    DefaultDef::Text(zero)
}
