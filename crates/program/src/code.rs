//! A program as it is run: a tree of steps. Variables are numbered slots, labels are numbers, expressions are bound, and
//! statements keep their plans. Nothing in it is parsed or looked up by name when it runs.

use narwal_sql::expr::Expr;
use narwal_sql::{ParamType, Prepared, Stmt, StoredFunction, UserKinds};
use narwal_syntax::Statement;
use narwal_syntax::ast::CursorAttribute;
use narwal_syntax::ast::admin::{Scope, SetItem};
use narwal_syntax::ast::program::ParameterMode;
use narwal_types::errors::codes;
use narwal_types::{ColumnType, SqlError, TypeKind, Value};
use parking_lot::Mutex;
use std::sync::Arc;

/// What ends a program whatever handlers it has.
pub(crate) fn is_fatal(code: u16) -> bool {
    matches!(
        code,
        codes::QUERY_INTERRUPTED
            | codes::CONNECTION_KILLED
            | codes::STATEMENT_TIMEOUT
            | codes::OUT_OF_RESOURCES
            | codes::OPTION_PREVENTS_STATEMENT
    )
}

/// What a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// PROCEDURE.
    Procedure,
    /// FUNCTION.
    Function,
    /// TRIGGER.
    Trigger,
    /// What a package does at its first use.
    Package,
    /// A statement of the language outside of any program.
    Block,
}

impl Kind {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Procedure => "PROCEDURE",
            Kind::Function => "FUNCTION",
            Kind::Trigger => "TRIGGER",
            Kind::Package => "PACKAGE BODY",
            Kind::Block => "BLOCK",
        }
    }

    /// It runs inside of a statement, which goes on afterwards.
    pub fn is_within_statement(self) -> bool {
        matches!(self, Kind::Function | Kind::Trigger)
    }
}

/// The type of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typed {
    /// The type.
    pub ty: ColumnType,
    /// Of an integer that was declared with a width: the most characters that it is shown with. 0: as many as its type has.
    pub width: u32,
}

impl From<ColumnType> for Typed {
    fn from(ty: ColumnType) -> Typed {
        Typed { ty, width: 0 }
    }
}

impl Typed {
    /// A type with the width that it was declared with.
    pub fn with_width(ty: ColumnType, declared: Option<u8>) -> Typed {
        // The digits of the greatest value, and a sign; of MEDIUMINT MariaDB counts no sign.
        let least = match ty.kind {
            TypeKind::TinyInt => 4 - u32::from(ty.unsigned),
            TypeKind::SmallInt => 6 - u32::from(ty.unsigned),
            TypeKind::MediumInt => 8,
            TypeKind::Int => 11 - u32::from(ty.unsigned),
            TypeKind::BigInt => 20,
            _ => return ty.into(),
        };
        Typed {
            ty,
            width: declared.map_or(0, |w| u32::from(w).max(least)),
        }
    }
}

/// Names with their types.
pub type Columns = Vec<(String, Typed)>;

/// A variable.
#[derive(Debug, Clone)]
pub struct Slot {
    /// Name, for messages.
    pub name: String,
    /// Type.
    pub ty: ColumnType,
    /// Of an integer: the width that it was declared with, or 0.
    pub width: u32,
}

impl Slot {
    pub(crate) fn typed(&self) -> Typed {
        Typed {
            ty: self.ty,
            width: self.width,
        }
    }
}

/// A column of the row that a trigger is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSlot {
    /// NEW, not OLD.
    pub new: bool,
    /// The column's position.
    pub column: usize,
    /// The slot that it is in.
    pub slot: usize,
    /// The program looks at it.
    pub read: bool,
    /// The program assigns to it.
    pub written: bool,
}

/// A parameter. Its value is one slot; that of a row one for each field, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterCode {
    /// How it is passed.
    pub mode: ParameterMode,
    /// Its name.
    pub name: String,
    /// The number of its first slot among those of parameters.
    pub at: usize,
    /// Of a row: how many fields it has.
    pub fields: Option<usize>,
}

impl ParameterCode {
    /// How many slots it takes.
    pub fn width(&self) -> usize {
        self.fields.unwrap_or(1)
    }
}

/// A compiled program.
pub struct Program {
    /// What it is.
    pub kind: Kind,
    /// Its database.
    pub db: String,
    /// Its name.
    pub name: String,
    /// The line of its definition that its body begins in.
    pub line: usize,
    /// Variables: those of its package, then its parameters, then its own.
    pub slots: Vec<Slot>,
    /// How many of them are its package's.
    pub of_package: usize,
    /// Their types as statements see them.
    pub types: Vec<ParamType>,
    /// Parameters.
    pub parameters: Vec<ParameterCode>,
    /// Type of a function's result.
    pub returns: Option<ColumnType>,
    /// Of a trigger: which columns it uses.
    pub row: Vec<RowSlot>,
    /// Cursors.
    pub cursors: Vec<CursorCode>,
    /// What it does.
    pub body: Step,
    /// It runs statements, not expressions alone.
    pub has_statements: bool,
    /// It is a function over the rows of a group.
    pub aggregate: bool,
    /// Some handler waits for warnings.
    pub minds_warnings: bool,
    /// It has handlers.
    pub has_handlers: bool,
    /// A note says where its errors come up: it is more than one statement of a client's.
    pub traced: bool,
    /// It was made under sql_mode=ORACLE: a FETCH behind the last row is no condition.
    pub oracle: bool,
    /// Where SQLCODE and SQLERRM are kept, if they are used.
    pub caught: [Option<usize>; 2],
}

impl Program {
    /// It is a package's routine, which has the package in front of its name, or what the package does at its first use.
    pub fn is_of_package(&self) -> bool {
        self.kind == Kind::Package || self.name.contains('.')
    }

    /// The values of parameters with their slots.
    pub fn arguments(&self, values: Vec<Value>) -> Vec<(usize, Value)> {
        let values = values.into_iter().enumerate();
        values.map(|(i, v)| (self.of_package + i, v)).collect()
    }
}

/// A cursor.
pub struct CursorCode {
    /// The slots of its parameters.
    pub parameters: Vec<usize>,
    /// Its SELECT.
    pub select: SqlStep,
    /// Where what it tells of itself is kept: `%ISOPEN` and so on, as far as they are used.
    pub attributes: Vec<(CursorAttribute, usize)>,
}

/// A statement that narwal-sql plans. Its parameters are all slots of the program.
pub struct SqlStep {
    /// The statement.
    pub stmt: Stmt,
    /// As written.
    pub text: Box<str>,
    /// Cursors that must be open for it: it asks what they tell of themselves.
    pub open: Vec<usize>,
    /// Its plan, and the host's generation when it was made.
    pub plan: Mutex<Option<(Arc<Prepared>, u64)>>,
}

/// A value that is computed.
pub enum Calc {
    /// An expression without subqueries.
    Plain(Box<Expr>),
    /// One that names user variables: bound by what they are.
    Kinds(Box<KindCalc>),
    /// One that reads tables: a SELECT of one value.
    Query(Box<SqlStep>),
    /// One that asks what cursors tell of themselves: they must be open.
    Open(Vec<usize>, Box<Calc>),
    /// One that calls functions with OUT parameters: they are called first, and their results are in slots.
    Calls(Vec<FunctionCall>, Box<Calc>),
    /// One that can't be computed: the error comes when it is to be.
    Broken(SqlError),
}

/// An expression that names user variables, which may become of other types while the program runs.
pub struct KindCalc {
    /// As written, with slots for names.
    pub ast: narwal_syntax::ast::Expr,
    /// Its type at first.
    pub ty: ColumnType,
    /// As it was bound last.
    pub kept: Mutex<(Arc<Expr>, UserKinds)>,
}

/// A call of a function with OUT parameters.
pub struct FunctionCall {
    /// Which.
    pub function: Arc<StoredFunction>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The slot of its result.
    pub result: usize,
}

/// The values of a row's fields.
pub enum RowCalc {
    /// One by one.
    Fields(Vec<Calc>),
    /// NULL: each field is.
    Null,
    /// The one row of a query; NULLs if there is none.
    Query(Box<SqlStep>),
    /// One value, which no row takes: error 1241 when it is computed.
    Single,
}

/// What a variable begins as.
pub enum Begin {
    /// NULL.
    Null(usize),
    /// DEFAULT.
    One(usize, Calc),
    /// DEFAULT of a row.
    Row(Vec<usize>, RowCalc),
}

/// An argument of CALL, and where what comes back could go.
pub enum Argument {
    /// A value.
    One(Calc, Option<Target>),
    /// NULL, which may be a row's, too.
    Null(Calc),
    /// A row.
    Row(RowCalc, Option<Vec<usize>>),
}

/// Where a value goes.
#[derive(Debug, Clone)]
pub enum Target {
    /// A variable.
    Slot(usize),
    /// `@name`
    User(String),
    /// A row of so many fields, which takes no single value: error 1241 when one comes.
    Row(usize),
}

/// What a handler waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// An error number.
    Code(u16),
    /// An SQLSTATE.
    State([u8; 5]),
    /// SQLWARNING.
    Warning,
    /// NOT FOUND.
    NotFound,
    /// SQLEXCEPTION.
    Exception,
    /// OTHERS: whatever there is.
    Others,
    /// An exception of the program's own, by its number.
    Own(usize),
}

/// A handler.
pub struct Handler {
    /// What for.
    pub wanted: Vec<Wanted>,
    /// EXIT, not CONTINUE.
    pub exit: bool,
    /// What it does.
    pub body: Step,
}

/// BEGIN ... END.
pub struct Block {
    /// Its number, as of a label.
    pub id: usize,
    /// Variables with what they begin as.
    pub variables: Vec<Begin>,
    /// Cursors that are closed at its end.
    pub cursors: Vec<usize>,
    /// Handlers.
    pub handlers: Vec<Handler>,
    /// Statements.
    pub steps: Vec<Step>,
}

/// What is repeated how.
pub enum Repeat {
    /// LOOP.
    Endless,
    /// WHILE.
    While(Calc),
    /// REPEAT ... UNTIL.
    Until(Calc),
    /// FOR over integers: the variable, the slot of the last value.
    Range {
        /// The variable.
        slot: usize,
        /// Where the end is kept.
        last: usize,
        /// REVERSE.
        reverse: bool,
        /// From.
        from: Calc,
        /// To.
        to: Calc,
    },
    /// FOR over a cursor's rows.
    Rows {
        /// The cursor.
        cursor: usize,
        /// Its arguments.
        arguments: Vec<Calc>,
        /// The slots of the record's fields.
        fields: Vec<usize>,
    },
}

/// SIGNAL and RESIGNAL.
pub struct SignalCode {
    /// RESIGNAL.
    pub again: bool,
    /// What is signalled, if it is said.
    pub raised: Option<Wanted>,
    /// SET.
    pub set: Vec<(&'static str, Calc)>,
}

/// A step.
pub enum Step {
    /// BEGIN ... END.
    Block(Box<Block>),
    /// IF.
    If(Vec<(Calc, Vec<Step>)>, Option<Vec<Step>>),
    /// CASE: the operand's slot and value, if there is one.
    Case {
        /// The operand.
        operand: Option<(usize, Calc)>,
        /// Conditions with what follows them.
        branches: Vec<(Calc, Vec<Step>)>,
        /// ELSE.
        otherwise: Option<Vec<Step>>,
    },
    /// A loop: its number, how, and what.
    Loop(usize, Box<Repeat>, Vec<Step>),
    /// LEAVE.
    Leave(usize),
    /// ITERATE.
    Iterate(usize),
    /// RETURN.
    Return(Calc),
    /// SET of a variable.
    Set(usize, Calc),
    /// SET of a row: field by field, as MariaDB does.
    SetRow(Vec<usize>, RowCalc),
    /// SET of a user variable.
    SetUser(String, Calc),
    /// SET of a system variable, in functions and triggers; `None` is DEFAULT.
    Setting(Scope, String, Option<Calc>),
    /// A statement; its rows go to the client.
    Sql(Box<SqlStep>),
    /// SELECT ... INTO.
    Into(Box<SqlStep>, Vec<Target>),
    /// A statement of the host's own, and its text.
    Other(Box<Statement>, Box<str>),
    /// OPEN.
    Open(usize, Vec<Calc>),
    /// FETCH.
    Fetch(usize, Vec<Target>),
    /// CLOSE.
    Close(usize),
    /// FETCH GROUP NEXT ROW.
    FetchGroup,
    /// CALL: the name and the arguments.
    Call(Vec<String>, Vec<Argument>),
    /// SIGNAL, RESIGNAL.
    Signal(Box<SignalCode>),
    /// GET DIAGNOSTICS: the condition's number; where items go.
    Diagnostics(Option<Calc>, Vec<(Target, &'static str)>),
    /// Several steps that were one statement.
    Several(Vec<Step>),
    /// SET STATEMENT: a step under settings of its own.
    Under(Vec<Vec<SetItem>>, Box<Step>),
    /// RETURN without a value.
    Finish,
    /// GOTO this label.
    Goto(usize),
    /// Here GOTO goes to.
    Label(usize),
    /// A statement, and the line of the definition that it is in.
    At(usize, Box<Step>),
    /// A statement that does not fit what its tables are now: the error comes when it is reached.
    Broken(SqlError),
}
