//! What stored programs and the language of their bodies are made of, but for the bodies (`statement.rs`).

use crate::ast::admin::Operand;
use crate::ast::ddl::{Creation, DataType};
use crate::ast::{Expression, Select, TableName};

/// CREATE FUNCTION ... SONAME.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateUdf {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// AGGREGATE.
    pub aggregate: bool,
    /// Name.
    pub name: String,
    /// RETURNS: STRING, INT, REAL or DECIMAL.
    pub returns: &'static str,
    /// The library.
    pub library: String,
}

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ParameterMode {
    #[default]
    In,
    Out,
    InOut,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// IN, OUT, INOUT.
    pub mode: ParameterMode,
    /// Name.
    pub name: String,
    /// Type.
    pub ty: VariableType,
}

/// The type of a variable, a parameter or a result.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableType {
    /// A data type, and its COLLATE; DEFAULT is none.
    Data(DataType, Option<String>),
    /// TYPE OF a column, or of another variable.
    TypeOf(Vec<String>),
    /// ROW TYPE OF a table or a cursor.
    RowTypeOf(TableName),
    /// ROW with fields.
    Row(Vec<(String, DataType, Option<String>)>),
}

/// What a trigger waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
}

/// When an event runs.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // One an event.
pub enum Schedule {
    /// AT.
    At(Operand),
    /// EVERY.
    Every {
        /// How many.
        amount: Operand,
        /// Of what.
        unit: String,
        /// STARTS.
        starts: Option<Operand>,
        /// ENDS.
        ends: Option<Operand>,
    },
}

/// Whether an event runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum EventStatus {
    Enable,
    Disable,
    DisableOnSlave,
}

/// CALL.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The names before and of the procedure: `[database.][package.]procedure`.
    pub name: Vec<String>,
    /// Arguments.
    pub arguments: Vec<Expression>,
}

/// Where the rows of a FOR come from.
#[derive(Debug, Clone, PartialEq)]
pub enum CursorSource {
    /// A cursor, with its arguments.
    Named(String, Vec<Expression>),
    /// A query.
    Query(Box<Select>),
}

/// What a handler does in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HandlerAction {
    Continue,
    Exit,
}

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionValue {
    /// An error number.
    Error(u64),
    /// SQLSTATE.
    State([u8; 5]),
    /// A declared condition.
    Named(String),
    /// SQLWARNING.
    Warning,
    /// NOT FOUND.
    NotFound,
    /// SQLEXCEPTION.
    Exception,
    /// OTHERS of sql_mode=ORACLE: whatever there is, warnings too.
    Others,
}

/// SIGNAL and RESIGNAL.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// RESIGNAL.
    pub again: bool,
    /// What is signalled.
    pub condition: Option<ConditionValue>,
    /// SET: items and their values.
    pub set: Vec<(&'static str, Expression)>,
}

/// GET DIAGNOSTICS.
#[derive(Debug, Clone, PartialEq)]
pub struct GetDiagnostics {
    /// CONDITION: its number.
    pub condition: Option<Expression>,
    /// What goes where: a variable (a user variable has its `@`) and the item's name.
    pub items: Vec<(String, &'static str)>,
}

/// Where parts of CREATE TRIGGER stand in its text, as offsets in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TriggerHead {
    /// The word TRIGGER.
    pub start: usize,
    /// The word ON.
    pub on: usize,
    /// Behind the table's name.
    pub behind_table: usize,
    /// Behind FOR EACH ROW.
    pub end: usize,
}
