//! What names mean at a place in a body.

use crate::code::{Columns, RowSlot, Slot, Typed, Wanted};
use narwal_sql::ParamType;
use narwal_sql::twice::first_twice;
use narwal_syntax::ast::{CursorAttribute, Expr, Expression};
use narwal_types::errors::codes;
use narwal_types::{Collation, ColumnType, Name, SqlError, SqlResult, TypeKind, errors};
use std::cell::RefCell;
use std::collections::HashMap;

/// A variable.
#[derive(Debug, Clone)]
enum Variable {
    One(usize),
    /// A row: its fields. Open: others are found when they are asked for, for what they are is not known now.
    Row(Vec<(String, usize)>, bool),
}

/// What one block names, of one kind. A program can name as much as a packet has room for.
#[derive(Debug)]
struct Named<T>(HashMap<String, T>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(HashMap::new())
    }
}

impl<T> Named<T> {
    fn add(&mut self, name: &str, what: T) {
        self.0.insert(name.name_key(), what);
    }

    fn get(&self, name: &str) -> Option<&T> {
        self.0.get(&name.name_key())
    }
}

#[derive(Debug, Default)]
struct Scope {
    variables: Named<Variable>,
    conditions: Named<Wanted>,
    cursors: Named<usize>,
}

/// What stands for fields that are not known now: no program runs with it.
const FIELD: &str = "field";
const ANY: ColumnType = ColumnType::new(TypeKind::VarChar(255));

/// A label in sight; `None` stands for the border of a handler's body.
type Label = Option<(String, usize, bool)>;

/// Columns of a trigger's table, and which of its rows it has.
#[derive(Debug)]
pub(crate) struct RowNames {
    pub(crate) columns: Columns,
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
    /// The type of each slot.
    pub(crate) types: RefCell<Vec<ParamType>>,
    pub(crate) row: Vec<RowSlot>,
    pub(crate) trigger: Option<RowNames>,
    scopes: Vec<Scope>,
    labels: Vec<Label>,
    next_label: usize,
    /// Labels that GOTO may go to: those of each list of statements around.
    places: Vec<Named<usize>>,
    /// sql_mode=ORACLE.
    pub(crate) oracle: bool,
    /// What cursors tell of themselves, and the slot where each is kept.
    pub(crate) attributes: Vec<(usize, CursorAttribute, usize)>,
    /// Cursors that must be open for what is being read.
    pub(crate) open: Vec<usize>,
    /// The slots of SQLCODE and SQLERRM.
    pub(crate) caught: [Option<usize>; 2],
    /// What variables begin as, for SET ... = DEFAULT.
    defaults: HashMap<usize, Expression>,
    next_exception: usize,
    /// What came up while names were replaced.
    pub(crate) error: Option<SqlError>,
}

fn same<T>(list: &[(String, T)], name: &str) -> bool {
    list.iter().any(|(n, _)| n.same_name(name))
}

fn find<'a, T>(list: &'a [(String, T)], name: &str) -> Option<&'a T> {
    let found = list.iter().find(|(n, _)| n.same_name(name))?;
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
    pub(crate) fn hidden(&mut self, name: &str, ty: impl Into<Typed>) -> usize {
        let Typed { ty, width } = ty.into();
        self.types.get_mut().push(ParamType::Typed(ty, width));
        self.slots.push(Slot {
            name: name.to_string(),
            ty,
            width,
        });
        self.slots.len() - 1
    }

    pub(crate) fn types(&self) -> Vec<ParamType> {
        self.types.borrow().clone()
    }

    fn free(&mut self, name: &str, parameter: bool) -> SqlResult<()> {
        if self.top().variables.get(name).is_some() {
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
        ty: impl Into<Typed>,
        parameter: bool,
    ) -> SqlResult<usize> {
        self.free(name, parameter)?;
        let slot = self.hidden(name, ty);
        self.top().variables.add(name, Variable::One(slot));
        Ok(slot)
    }

    /// A row; `None` if its fields are not known now.
    pub(crate) fn declare_row(
        &mut self,
        name: &str,
        fields: Option<&[(String, Typed)]>,
        parameter: bool,
    ) -> SqlResult<Vec<usize>> {
        self.free(name, parameter)?;
        let known = fields.unwrap_or_default();
        if let Some(field) = first_twice(known.iter().map(|(field, _)| field.as_str())) {
            return Err(errors::DUP_FIELDNAME.with([&field]));
        }
        let list: Vec<(String, usize)> = known
            .iter()
            .map(|(n, ty)| (n.clone(), self.hidden(n, *ty)))
            .collect();
        let slots = list.iter().map(|(_, s)| *s).collect();
        let variable = Variable::Row(list, fields.is_none());
        self.top().variables.add(name, variable);
        Ok(slots)
    }

    fn variable(&self, name: &str) -> Option<&Variable> {
        let scopes = self.scopes.iter().rev();
        scopes.into_iter().find_map(|s| s.variables.get(name))
    }

    /// The slot of a variable that is no row.
    pub(crate) fn slot(&self, name: &str) -> Option<usize> {
        match self.variable(name)? {
            Variable::One(s) => Some(*s),
            Variable::Row(..) => None,
        }
    }

    /// The columns of a row variable; `Some(None)` if they are not known now, `None` if it is no row.
    pub(crate) fn row_columns(&self, name: &str) -> Option<Option<Columns>> {
        match self.variable(name)? {
            Variable::Row(_, true) => Some(None),
            Variable::Row(fields, false) => {
                let ty = |(n, s): &(String, usize)| (n.clone(), self.slots[*s].typed());
                Some(Some(fields.iter().map(ty).collect()))
            }
            Variable::One(_) => None,
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
            Variable::Row(_, true) => Some(self.hidden(field, ANY)),
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
        if write && !new {
            return Some(Err(errors::TRG_CANT_CHANGE_ROW.with([&name, &""])));
        }
        if (new && !t.new) || (!new && !t.old) {
            let on = format!("on {}", t.event);
            return Some(Err(errors::TRG_NO_SUCH_ROW_IN_TRG.with([&name, &on])));
        }
        if write && !t.before {
            return Some(Err(errors::TRG_CANT_CHANGE_ROW.with([&name, &"after "])));
        }
        let position = t.columns.iter().position(|(n, _)| n.same_name(column));
        let Some(at) = position else {
            return Some(Err(errors::BAD_FIELD_ERROR.with([&column, &name])));
        };
        let ty = t.columns[at].1;
        let known = self.row.iter_mut().find(|r| r.new == new && r.column == at);
        if let Some(r) = known {
            r.written |= write;
            r.read |= !write;
            return Some(Ok(r.slot));
        }
        let slot = self.hidden(column, ty);
        self.row.push(RowSlot {
            new,
            column: at,
            slot,
            read: !write,
            written: write,
        });
        Some(Ok(slot))
    }

    /// What a variable begins as: SET ... = DEFAULT gives it that again.
    pub(crate) fn keep_default(&mut self, slot: usize, default: Expression) {
        self.defaults.insert(slot, default);
    }

    pub(crate) fn default_of(&self, slot: usize) -> Option<Expression> {
        self.defaults.get(&slot).cloned()
    }

    /// The slot of what a cursor tells of itself.
    fn attribute(&mut self, cursor: &str, attribute: CursorAttribute) -> SqlResult<usize> {
        let cursor = self.cursor(cursor)?;
        if attribute != CursorAttribute::IsOpen && !self.open.contains(&cursor) {
            self.open.push(cursor);
        }
        let mut known = self.attributes.iter();
        if let Some((.., slot)) = known.find(|(c, a, _)| (*c, *a) == (cursor, attribute)) {
            return Ok(*slot);
        }
        let slot = self.hidden("attribute", ColumnType::bigint());
        self.attributes.push((cursor, attribute, slot));
        Ok(slot)
    }

    /// The slot of SQLCODE or SQLERRM, which sql_mode=ORACLE has.
    fn caught_slot(&mut self, name: &str) -> Option<usize> {
        let at = ["SQLCODE", "SQLERRM"]
            .iter()
            .position(|n| self.oracle && name.eq_ignore_ascii_case(n))?;
        if self.caught[at].is_none() {
            let ty = match at {
                0 => ColumnType::bigint(),
                _ => ColumnType {
                    collation: Collation::default(),
                    ..ColumnType::new(TypeKind::VarChar(512))
                },
            };
            self.caught[at] = Some(self.hidden(name, ty));
        }
        self.caught[at]
    }

    /// Puts a parameter in the place of a name that is a variable's.
    pub(crate) fn replace(&mut self, e: &mut Expr) {
        let slot = match e {
            Expr::CursorAttribute(cursor, attribute) => {
                let (cursor, attribute) = (cursor.clone(), *attribute);
                match self.attribute(&cursor, attribute) {
                    Ok(slot) => Some(slot),
                    Err(e) => {
                        self.error.get_or_insert(e);
                        None
                    }
                }
            }
            // DEFAULT of a variable: only columns have one.
            Expr::Default(column) => {
                if let Expr::Column(name) = &**column
                    && self.slot(name).is_some()
                {
                    let e = errors::WRONG_COLUMN_NAME.with([name]);
                    self.error.get_or_insert(e);
                }
                None
            }
            Expr::Column(name) => match self.variable(name) {
                Some(Variable::One(slot)) => Some(*slot),
                Some(Variable::Row(fields, _)) => {
                    let mut items: Vec<Expr> =
                        fields.iter().map(|(_, s)| Expr::Param(*s)).collect();
                    if items.is_empty() {
                        // What its fields are is not known now.
                        items.push(Expr::Param(self.hidden(FIELD, ANY)));
                    }
                    *e = Expr::Row(items);
                    return;
                }
                None => {
                    let name = name.clone();
                    self.caught_slot(&name)
                }
            },
            Expr::Qualified(q) if q.db.is_none() => {
                match self.row_column(&q.table, &q.column, false) {
                    Some(Ok(slot)) => Some(slot),
                    Some(Err(e)) => {
                        self.error.get_or_insert(e);
                        None
                    }
                    None => {
                        let (row, field) = (q.table.clone(), q.column.clone());
                        let slot = self.field(&row, &field);
                        if slot.is_none() && self.row_slots(&row).is_some() {
                            let e = errors::ROW_VARIABLE_DOES_NOT_HAVE_FIELD.with([&row, &field]);
                            self.error.get_or_insert(e);
                        }
                        slot
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
        if self.top().conditions.get(name).is_some() {
            return Err(errors::SP_DUP_COND.with([&name]));
        }
        self.top().conditions.add(name, wanted);
        Ok(())
    }

    /// Declares an exception of the program's own.
    pub(crate) fn exception(&mut self, name: &str) -> SqlResult<()> {
        self.next_exception += 1;
        self.condition(name, Wanted::Own(self.next_exception))
    }

    pub(crate) fn wanted(&self, name: &str) -> SqlResult<Wanted> {
        let scopes = self.scopes.iter().rev();
        let found = scopes.into_iter().find_map(|s| s.conditions.get(name));
        found
            .copied()
            .or_else(|| predefined(name).filter(|_| self.oracle))
            .ok_or_else(|| errors::SP_COND_MISMATCH.with([&name]))
    }

    pub(crate) fn declare_cursor(&mut self, name: &str, number: usize) -> SqlResult<()> {
        if self.top().cursors.get(name).is_some() {
            return Err(errors::SP_DUP_CURS.with([&name]));
        }
        self.top().cursors.add(name, number);
        Ok(())
    }

    pub(crate) fn find_cursor(&self, name: &str) -> Option<usize> {
        let scopes = self.scopes.iter().rev();
        scopes
            .into_iter()
            .find_map(|s| s.cursors.get(name))
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
        if !name.is_empty() && in_sight.flatten().any(|(n, ..)| n.same_name(name)) {
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
        let named = |n: &str| n.same_name(name);
        in_sight
            .flatten()
            .find(|(n, _, is_loop)| match name.is_empty() {
                true => *is_loop,
                false => named(n) && (*is_loop || !iterate),
            })
            .map(|(_, id, _)| *id)
            .ok_or_else(|| {
                let verb = match (iterate, self.oracle) {
                    (true, false) => "ITERATE",
                    (true, true) => "CONTINUE",
                    (false, false) => "LEAVE",
                    (false, true) => "EXIT",
                };
                errors::SP_LILABEL_MISMATCH.with([&verb, &name])
            })
    }

    /// Goes into a list of statements with labels that GOTO may go to. Error 1309 for one that is there twice.
    pub(crate) fn push_places(&mut self, names: &[&str]) -> SqlResult<()> {
        if let Some(name) = first_twice(names.iter().copied()) {
            return Err(errors::SP_LABEL_REDEFINE.with([&name]));
        }
        let mut places = Named::default();
        for name in names {
            places.add(name, self.next_label);
            self.next_label += 1;
        }
        self.places.push(places);
        Ok(())
    }

    pub(crate) fn pop_places(&mut self) {
        self.places.pop();
    }

    /// Where a GOTO goes to: a label of a list of statements around it.
    pub(crate) fn place(&self, name: &str) -> SqlResult<usize> {
        let found = self.places.iter().rev().find_map(|p| p.get(name));
        found
            .copied()
            .ok_or_else(|| errors::SP_LILABEL_MISMATCH.with([&"GOTO", &name]))
    }
}

/// The exceptions that sql_mode=ORACLE has names for.
fn predefined(name: &str) -> Option<Wanted> {
    let known: [(&str, u16); 4] = [
        ("NO_DATA_FOUND", codes::SP_FETCH_NO_DATA),
        ("TOO_MANY_ROWS", codes::TOO_MANY_ROWS),
        ("INVALID_CURSOR", codes::SP_CURSOR_NOT_OPEN),
        ("DUP_VAL_ON_INDEX", codes::DUP_ENTRY),
    ];
    let found = known.iter().find(|(n, _)| n.same_name(name))?;
    Some(Wanted::Code(found.1))
}
