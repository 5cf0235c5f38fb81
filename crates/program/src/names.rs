//! What names mean at a place in a body.

use crate::code::{RowSlot, Slot, Wanted};
use narwal_sql::ParamType;
use narwal_syntax::ast::Expr;
use narwal_types::{ColumnType, SqlError, SqlResult, TypeKind, errors};

/// A variable.
#[derive(Debug, Clone)]
enum Variable {
    One(usize),
    /// A row: its fields. Open: others are found when they are asked for, for what they are is not known now.
    Row(Vec<(String, usize)>, bool),
}

#[derive(Debug, Default)]
struct Scope {
    variables: Vec<(String, Variable)>,
    conditions: Vec<(String, Wanted)>,
    cursors: Vec<(String, usize)>,
}

/// A label in sight; `None` stands for the border of a handler's body.
type Label = Option<(String, usize, bool)>;

/// Columns of a trigger's table, and which of its rows it has.
#[derive(Debug)]
pub(crate) struct RowNames {
    pub(crate) columns: Vec<(String, ColumnType)>,
    pub(crate) old: bool,
    pub(crate) new: bool,
    pub(crate) before: bool,
    /// INSERT, UPDATE or DELETE.
    pub(crate) event: &'static str,
}

/// Names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) slots: Vec<Slot>,
    pub(crate) row: Vec<RowSlot>,
    pub(crate) trigger: Option<RowNames>,
    scopes: Vec<Scope>,
    labels: Vec<Label>,
    next_label: usize,
    /// What came up while names were replaced.
    pub(crate) error: Option<SqlError>,
}

fn same<T>(list: &[(String, T)], name: &str) -> bool {
    list.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
}

fn find<'a, T>(list: &'a [(String, T)], name: &str) -> Option<&'a T> {
    let found = list.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))?;
    Some(&found.1)
}

impl Names {
    pub(crate) fn enter(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(crate) fn leave(&mut self) {
        self.scopes.pop();
    }

    fn top(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.enter();
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// A slot without a name.
    pub(crate) fn hidden(&mut self, name: &str, ty: ColumnType) -> usize {
        self.slots.push(Slot {
            name: name.to_string(),
            ty,
        });
        self.slots.len() - 1
    }

    pub(crate) fn types(&self) -> Vec<ParamType> {
        let typed = |s: &Slot| ParamType::Typed(s.ty);
        self.slots.iter().map(typed).collect()
    }

    fn free(&mut self, name: &str, parameter: bool) -> SqlResult<()> {
        if same(&self.top().variables, name) {
            return Err(match parameter {
                true => errors::SP_DUP_PARAM.with([&name]),
                false => errors::SP_DUP_VAR.with([&name]),
            });
        }
        Ok(())
    }

    pub(crate) fn declare(
        &mut self,
        name: &str,
        ty: ColumnType,
        parameter: bool,
    ) -> SqlResult<usize> {
        self.free(name, parameter)?;
        let slot = self.hidden(name, ty);
        let variable = (name.to_string(), Variable::One(slot));
        self.top().variables.push(variable);
        Ok(slot)
    }

    /// A row; `None` if its fields are not known now.
    pub(crate) fn declare_row(
        &mut self,
        name: &str,
        fields: Option<&[(String, ColumnType)]>,
    ) -> SqlResult<Vec<usize>> {
        self.free(name, false)?;
        let known = fields.unwrap_or_default();
        let list: Vec<(String, usize)> = known
            .iter()
            .map(|(n, ty)| (n.clone(), self.hidden(n, *ty)))
            .collect();
        let slots = list.iter().map(|(_, s)| *s).collect();
        let variable = (name.to_string(), Variable::Row(list, fields.is_none()));
        self.top().variables.push(variable);
        Ok(slots)
    }

    fn variable(&self, name: &str) -> Option<&Variable> {
        let scopes = self.scopes.iter().rev();
        scopes.into_iter().find_map(|s| find(&s.variables, name))
    }

    /// The slot of a variable that is no row.
    pub(crate) fn slot(&self, name: &str) -> Option<usize> {
        match self.variable(name)? {
            Variable::One(s) => Some(*s),
            Variable::Row(..) => None,
        }
    }

    /// The slots of a row's fields.
    pub(crate) fn row_slots(&self, name: &str) -> Option<Vec<usize>> {
        match self.variable(name)? {
            Variable::Row(fields, _) => Some(fields.iter().map(|(_, s)| *s).collect()),
            Variable::One(_) => None,
        }
    }

    /// A field of a row.
    pub(crate) fn field(&mut self, row: &str, field: &str) -> Option<usize> {
        match self.variable(row)? {
            Variable::Row(fields, _) if same(fields, field) => find(fields, field).copied(),
            Variable::Row(_, true) => {
                Some(self.hidden(field, ColumnType::new(TypeKind::VarChar(255))))
            }
            _ => None,
        }
    }

    /// `NEW.column` and `OLD.column`; `None` outside of triggers and for other names.
    pub(crate) fn row_column(
        &mut self,
        row: &str,
        column: &str,
        write: bool,
    ) -> Option<SqlResult<usize>> {
        let t = self.trigger.as_ref()?;
        let new = row.eq_ignore_ascii_case("NEW");
        if !new && !row.eq_ignore_ascii_case("OLD") {
            return None;
        }
        let name = if new { "NEW" } else { "OLD" };
        if (new && !t.new) || (!new && !t.old) {
            let on = format!("on {}", t.event);
            return Some(Err(errors::TRG_NO_SUCH_ROW_IN_TRG.with([&name, &on])));
        }
        if write && (!new || !t.before) {
            let when = if new { "after " } else { "" };
            return Some(Err(errors::TRG_CANT_CHANGE_ROW.with([&name, &when])));
        }
        let position = t
            .columns
            .iter()
            .position(|(n, _)| n.eq_ignore_ascii_case(column));
        let Some(at) = position else {
            return Some(Err(errors::BAD_FIELD_ERROR.with([&column, &name])));
        };
        let ty = t.columns[at].1;
        let known = self.row.iter_mut().find(|r| r.new == new && r.column == at);
        if let Some(r) = known {
            r.written |= write;
            return Some(Ok(r.slot));
        }
        let slot = self.hidden(column, ty);
        self.row.push(RowSlot {
            new,
            column: at,
            slot,
            written: write,
        });
        Some(Ok(slot))
    }

    /// Puts a parameter in the place of a name that is a variable's.
    pub(crate) fn replace(&mut self, e: &mut Expr) {
        let slot = match e {
            Expr::Column(name) => self.slot(name),
            Expr::Qualified(q) if q.db.is_none() => {
                match self.row_column(&q.table, &q.column, false) {
                    Some(Ok(slot)) => Some(slot),
                    Some(Err(e)) => {
                        self.error.get_or_insert(e);
                        None
                    }
                    None => {
                        let (row, field) = (q.table.clone(), q.column.clone());
                        self.field(&row, &field)
                    }
                }
            }
            _ => None,
        };
        if let Some(slot) = slot {
            *e = Expr::Param(slot);
        }
    }

    pub(crate) fn condition(&mut self, name: &str, wanted: Wanted) -> SqlResult<()> {
        if same(&self.top().conditions, name) {
            return Err(errors::SP_DUP_COND.with([&name]));
        }
        self.top().conditions.push((name.to_string(), wanted));
        Ok(())
    }

    pub(crate) fn wanted(&self, name: &str) -> SqlResult<Wanted> {
        let scopes = self.scopes.iter().rev();
        let found = scopes.into_iter().find_map(|s| find(&s.conditions, name));
        found
            .copied()
            .ok_or_else(|| errors::SP_COND_MISMATCH.with([&name]))
    }

    pub(crate) fn declare_cursor(&mut self, name: &str, number: usize) -> SqlResult<()> {
        if same(&self.top().cursors, name) {
            return Err(errors::SP_DUP_CURS.with([&name]));
        }
        self.top().cursors.push((name.to_string(), number));
        Ok(())
    }

    pub(crate) fn find_cursor(&self, name: &str) -> Option<usize> {
        let scopes = self.scopes.iter().rev();
        scopes
            .into_iter()
            .find_map(|s| find(&s.cursors, name))
            .copied()
    }

    pub(crate) fn cursor(&self, name: &str) -> SqlResult<usize> {
        self.find_cursor(name)
            .ok_or_else(|| errors::SP_CURSOR_MISMATCH.with([&name]))
    }

    /// A number for a block or a loop, in sight by its label if it has one.
    pub(crate) fn push_label(&mut self, label: Option<&str>, is_loop: bool) -> SqlResult<usize> {
        let id = self.next_label;
        self.next_label += 1;
        let name = label.unwrap_or_default();
        let in_sight = self.labels.iter().rev().take_while(|l| l.is_some());
        if !name.is_empty()
            && in_sight
                .flatten()
                .any(|(n, ..)| n.eq_ignore_ascii_case(name))
        {
            return Err(errors::SP_LABEL_REDEFINE.with([&name]));
        }
        self.labels.push(Some((name.to_string(), id, is_loop)));
        Ok(id)
    }

    pub(crate) fn pop_label(&mut self) {
        self.labels.pop();
    }

    /// A handler's body sees no labels from outside.
    pub(crate) fn push_border(&mut self) {
        self.labels.push(None);
    }

    pub(crate) fn label(&self, name: &str, iterate: bool) -> SqlResult<usize> {
        let in_sight = self.labels.iter().rev().take_while(|l| l.is_some());
        in_sight
            .flatten()
            .find(|(n, _, is_loop)| n.eq_ignore_ascii_case(name) && (*is_loop || !iterate))
            .map(|(_, id, _)| *id)
            .ok_or_else(|| {
                let verb = if iterate { "ITERATE" } else { "LEAVE" };
                errors::SP_LILABEL_MISMATCH.with([&verb, &name])
            })
    }
}
