//! Binding and planning UPDATE and DELETE of joins: a SELECT gives for each joined row the clustered keys of the
//! tables to change, and the new values.

use super::dml::{DefaultValue, unknown_column};
use super::resolve::Resolver;
use super::select::{Out, SelectPlan};
use crate::ast::{From, Select, SelectItem, SetValue, WriteJoin, WriteTargets};
use crate::privilege::Privilege;
use narwal_engine::Table;
use narwal_types::convert::implicit_default;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

/// A planned UPDATE or DELETE of a join.
pub struct WriteJoinPlan {
    /// Gives the new values, then the clustered key of a row of each target (NULL if it has none).
    pub query: SelectPlan,
    /// Number of new values.
    pub values: usize,
    /// The tables to change, in the order of their keys in the rows of `query`.
    pub targets: Vec<Target>,
    /// DELETE.
    pub delete: bool,
    /// IGNORE.
    pub ignore: bool,
}

/// A table of the join that is changed.
pub struct Target {
    /// The table.
    pub table: Arc<Table>,
    /// SET: column, value.
    pub sets: Vec<(usize, NewValue)>,
    /// Columns with ON UPDATE CURRENT_TIMESTAMP that SET does not set.
    pub on_update: Vec<(usize, u8)>,
}

/// What a column is set to.
pub enum NewValue {
    /// A value of the query's row.
    Given(usize),
    /// The column's default.
    Default(DefaultValue),
}

/// A source of the join, as the targets' names see it.
struct Leaf {
    name: String,
    db: String,
    /// Its table, if its rows can be changed.
    table: Option<Arc<Table>>,
    columns: Vec<String>,
}

impl Resolver<'_> {
    /// Plans it.
    pub fn write_join(&mut self, w: &WriteJoin) -> SqlResult<WriteJoinPlan> {
        let mut leaves = Vec::new();
        if let Some(from) = &w.select.from {
            self.leaves(from, &mut leaves)?;
        }
        for (i, l) in leaves.iter().enumerate() {
            if leaves[..i].iter().any(|o| o.name == l.name && o.db == l.db) {
                return Err(not_unique(&l.name));
            }
        }
        let mut select: Select = w.select.clone();
        // Sources to change, with what is set there.
        let mut found: Vec<(usize, Vec<(usize, NewValue)>)> = Vec::new();
        let delete = match &w.targets {
            WriteTargets::Delete(names) => {
                for name in names {
                    let at = leaves
                        .iter()
                        .position(|l| {
                            l.name == name.name
                                && name
                                    .db
                                    .as_ref()
                                    .is_none_or(|d| d.eq_ignore_ascii_case(&l.db))
                        })
                        .ok_or_else(|| {
                            SqlError::new(
                                1109,
                                b"42S02",
                                format!("Unknown table '{}' in MULTI DELETE", name.name),
                            )
                        })?;
                    if found.iter().any(|(f, _)| *f == at) {
                        return Err(not_unique(&name.name));
                    }
                    found.push((at, Vec::new()));
                }
                true
            }
            WriteTargets::Update(list) => {
                for a in list {
                    let (at, column) = assigned(&leaves, a.table.as_deref(), &a.column)?;
                    let Some(table) = &leaves[at].table else {
                        return Err(not_updatable(&leaves[at].name, "UPDATE"));
                    };
                    let value = match &a.value {
                        SetValue::Default => {
                            NewValue::Default(match self.default_value(table, column)? {
                                DefaultValue::Generate => DefaultValue::Missing(implicit_default(
                                    &table.def.columns[column].ty,
                                )),
                                d => d,
                            })
                        }
                        SetValue::Expr(e) => {
                            select.items.push(SelectItem::Expr {
                                expr: e.clone(),
                                alias: None,
                                text: String::new(),
                            });
                            NewValue::Given(select.items.len() - 1)
                        }
                    };
                    let set = (column, value);
                    match found.iter_mut().find(|(f, _)| *f == at) {
                        Some((_, sets)) => sets.push(set),
                        None => found.push((at, vec![set])),
                    }
                }
                false
            }
        };
        found.sort_by_key(|(at, _)| *at);
        let mut targets = Vec::with_capacity(found.len());
        let mut row_keys = Vec::with_capacity(found.len());
        for (at, sets) in found {
            let leaf = &leaves[at];
            let Some(table) = leaf.table.clone() else {
                let verb = if delete { "DELETE" } else { "UPDATE" };
                return Err(not_updatable(&leaf.name, verb));
            };
            let (privilege, db) = if delete {
                (Privilege::Delete, &table.def.db)
            } else {
                (Privilege::Update, &table.def.db)
            };
            self.need(db, &table.def.name, privilege);
            let on_update = if delete {
                Vec::new()
            } else {
                touched(&table, &sets)
            };
            row_keys.push(at);
            targets.push(Target {
                table,
                sets,
                on_update,
            });
        }
        moved_twice(&targets, &row_keys, &leaves)?;
        let values = select.items.len();
        self.row_keys.replace(row_keys);
        let mut query = self.select(&select)?;
        self.row_keys.take();
        // The keys stand behind the columns of the join's sources.
        let columns: usize = leaves.iter().map(|l| l.columns.len()).sum();
        for k in 0..targets.len() {
            query.items.push(Out::Column {
                column: columns + k,
                timestamp: false,
            });
        }
        Ok(WriteJoinPlan {
            query,
            values,
            targets,
            delete,
            ignore: w.ignore,
        })
    }

    /// The sources of a join in the order of the text.
    fn leaves(&mut self, from: &From, out: &mut Vec<Leaf>) -> SqlResult<()> {
        match from {
            From::Join(j) => {
                self.leaves(&j.left, out)?;
                self.leaves(&j.right, out)?;
            }
            From::Table(t) => {
                let r = self.table(t)?;
                let table = r.source.table.clone();
                out.push(Leaf {
                    name: r.source.name.clone(),
                    db: table.def.db.clone(),
                    columns: table.columns().iter().map(|c| c.name.clone()).collect(),
                    table: matches!(r.rows, crate::exec::rows::Rows::Stored).then_some(table),
                });
            }
            From::Query { query, alias, .. } => {
                let plan = self.select(query)?;
                out.push(Leaf {
                    name: alias.clone(),
                    db: String::new(),
                    columns: plan.columns.iter().map(|c| c.name.clone()).collect(),
                    table: None,
                });
            }
            _ => {}
        }
        Ok(())
    }
}

/// Finds the source and the column of an assignment.
fn assigned(leaves: &[Leaf], table: Option<&str>, column: &str) -> SqlResult<(usize, usize)> {
    let mut found = None;
    for (at, leaf) in leaves.iter().enumerate() {
        if table.is_some_and(|t| t != leaf.name) {
            continue;
        }
        let Some(c) = leaf
            .columns
            .iter()
            .position(|c| c.eq_ignore_ascii_case(column))
        else {
            continue;
        };
        if found.replace((at, c)).is_some() {
            return Err(SqlError::new(
                1052,
                b"23000",
                format!("Column '{column}' in SET is ambiguous"),
            ));
        }
    }
    found.ok_or_else(|| match table {
        Some(t) => unknown_column(&format!("{t}.{column}"), "SET"),
        None => unknown_column(column, "SET"),
    })
}

fn touched(table: &Table, sets: &[(usize, NewValue)]) -> Vec<(usize, u8)> {
    table
        .columns()
        .iter()
        .enumerate()
        .filter(|(i, _)| !sets.iter().any(|s| s.0 == *i))
        .filter_map(|(i, c)| c.on_update.map(|f| (i, f)))
        .collect()
}

/// Error 1706: a table is changed under two names, and one changes its primary key.
fn moved_twice(targets: &[Target], at: &[usize], leaves: &[Leaf]) -> SqlResult<()> {
    for (i, a) in targets.iter().enumerate() {
        for (j, b) in targets.iter().enumerate().skip(i + 1) {
            if a.table.def.id != b.table.def.id {
                continue;
            }
            let key = |t: &Target| {
                t.table.indexes[0]
                    .parts
                    .iter()
                    .any(|p| t.sets.iter().any(|s| s.0 == p.column))
            };
            if key(a) || key(b) {
                return Err(SqlError::new(
                    1706,
                    b"HY000",
                    format!(
                        "Primary key/partition key update is not allowed since the table is updated both as '{}' and '{}'",
                        leaves[at[i]].name, leaves[at[j]].name
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn not_unique(name: &str) -> SqlError {
    SqlError::new(1066, b"42000", format!("Not unique table/alias: '{name}'"))
}

fn not_updatable(name: &str, verb: &str) -> SqlError {
    SqlError::new(
        1288,
        b"HY000",
        format!("The target table {name} of the {verb} is not updatable"),
    )
}
