//! What a program needs of its surroundings.

use crate::code::{Columns, Program, SqlStep};
use narwal_sql::{ParamType, StatementEnv, Stmt, StoredFunction};
use narwal_syntax::Statement;
use narwal_syntax::ast::TableName;
use narwal_syntax::ast::admin::{Scope, SetItem};
use narwal_types::{SqlError, SqlResult, Value, ValueRef};
use parking_lot::Mutex;
use std::sync::Arc;

/// Where a statement's rows go.
pub enum Rows<'a> {
    /// To the client.
    Client,
    /// To this.
    Take(&'a mut dyn TakeRows),
    /// To this, for the value of an expression: the statement that the expression belongs to has begun, and its conditions stay.
    Value(&'a mut dyn TakeRows),
}

/// What takes a statement's rows.
pub trait TakeRows {
    /// How many columns they have, before the first one, also where there is none.
    ///
    /// # Errors
    /// Another number is wanted.
    fn columns(&mut self, _: usize) -> SqlResult<()> {
        Ok(())
    }

    /// The next one.
    ///
    /// # Errors
    /// It is not wanted.
    fn row(&mut self, row: &[ValueRef<'_>]) -> SqlResult<()>;
}

impl<F: FnMut(&[ValueRef<'_>]) -> SqlResult<()>> TakeRows for F {
    fn row(&mut self, row: &[ValueRef<'_>]) -> SqlResult<()> {
        self(row)
    }
}

/// Values of a package's variables, which live as long as the session.
pub type PackageValues = Arc<Mutex<Vec<Value>>>;

/// What a body's compilation asks for.
pub trait Lookup {
    /// The program is being defined: what its tables are does not matter yet, and is not known.
    fn is_definition(&self) -> bool;
    /// Columns of a table; `None` if they can't be known now.
    fn table(&self, name: &TableName) -> SqlResult<Option<Columns>>;
    /// Error 1142 or 1143 unless the program may read the columns of a table; `None`: all of them.
    fn may_read(&self, _table: &TableName, _column: Option<&str>) -> SqlResult<()> {
        Ok(())
    }
    /// Columns of a query whose parameters have these types; `None` if they can't be known now.
    fn query(&self, stmt: &Stmt, types: &[ParamType]) -> SqlResult<Option<Columns>>;
}

/// Who runs a program.
pub trait Host {
    /// The session as expressions see it.
    fn env(&self) -> &StatementEnv;
    /// Runs a planned statement; `values` are those of all slots.
    fn sql(
        &mut self,
        program: &Program,
        step: &SqlStep,
        values: &[Value],
        rows: Rows<'_>,
    ) -> SqlResult<()>;
    /// Runs a statement of the host's own; its text as written. `values` are those of all slots, for a SELECT in it.
    fn other(
        &mut self,
        program: &Program,
        statement: Statement,
        text: &str,
        values: &[Value],
    ) -> SqlResult<()>;
    /// Begins settings that hold for one statement; [`Host::end_settings`] takes them back.
    fn begin_settings(&mut self, settings: &[Vec<SetItem>]) -> SqlResult<()>;
    /// Ends what [`Host::begin_settings`] has begun last.
    fn end_settings(&mut self);
    /// SET of a system variable in a function or a trigger; `None` is DEFAULT.
    fn set_variable(&mut self, _scope: Scope, _name: &str, _value: Option<Value>) -> SqlResult<()> {
        Err(SqlError::unsupported(
            "SET of system variables in functions and triggers",
        ))
    }
    /// What EXECUTE of a CALL has given to its parameters: a value for each that is OUT or INOUT.
    fn take_out_values(&mut self) -> Vec<Option<Value>> {
        Vec::new()
    }
    /// The variables of the package that a program is of, as they are between calls.
    fn package(&mut self, _program: &Program) -> SqlResult<Option<PackageValues>> {
        Ok(None)
    }
    /// SELECT ... INTO has found its row: it counts as one that was changed.
    fn found_row(&mut self) {}
    /// Calls a procedure by its name: `arguments` are asked for its parameters' values, and get those of OUT and INOUT.
    fn procedure(&mut self, name: &[String]) -> SqlResult<Arc<Program>>;
    /// Calls a function: its result, and what its parameters are then.
    fn function(
        &mut self,
        function: &StoredFunction,
        arguments: Vec<Value>,
    ) -> SqlResult<(Value, Vec<Value>)>;
    /// Runs a procedure that [`Host::procedure`] has found.
    fn call(&mut self, program: &Arc<Program>, arguments: Vec<Value>) -> SqlResult<Vec<Value>>;
}
