//! Statements, and stored programs: a program's body is made of statements, and a statement may define a program. So the two
//! stand in one file. What they are made of stands in files below.

use super::admin::{Admin, ExplainForm, SetItem};
use super::ddl::{Characteristic, Creation, Ddl, Definer};
use super::dml::{Delete, Insert, LoadData, Update, WriteJoin};
use super::name::TableName;
use super::program::{
    Call, ConditionValue, CreateUdf, CursorSource, EventStatus, GetDiagnostics, HandlerAction,
    Parameter, Schedule, Signal, TriggerEvent, TriggerHead, VariableType,
};
use super::query::{Expression, Select, SelectInto};

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// SELECT, TABLE and VALUES.
    Select(Box<Select>),
    /// SELECT ... INTO: its rows go elsewhere.
    SelectInto(Box<SelectInto>),
    /// INSERT and REPLACE.
    Insert(Box<Insert>),
    /// UPDATE of one table.
    Update(Box<Update>),
    /// DELETE from one table.
    Delete(Box<Delete>),
    /// UPDATE and DELETE of joins.
    WriteJoin(Box<WriteJoin>),
    /// LOAD DATA and LOAD XML.
    LoadData(Box<LoadData>),
    /// DO expr, ...: a SELECT without FROM whose row nobody gets.
    Do(Box<Select>),
    /// EXPLAIN and ANALYZE of one of the above.
    Explain(Box<Statement>, ExplainForm),
    /// CREATE, ALTER, DROP and so on.
    Ddl(Box<Ddl>),
    /// CREATE PROCEDURE and so on, and the language of stored programs.
    Program(Box<Program>),
    /// SET STATEMENT ... FOR: one of these under settings of its own.
    SetStatement(SetStatement),
    /// SET, SHOW, GRANT and so on.
    Admin(Box<Admin>),
}

/// SET STATEMENT.
#[derive(Debug, Clone, PartialEq)]
pub struct SetStatement {
    /// The settings, and those within them: the outermost first. They may be many within each other.
    pub settings: Vec<Vec<SetItem>>,
    /// The statement.
    pub statement: Box<Statement>,
    /// Its text.
    pub text: String,
}

/// A stored program's definition, or a compound statement that is run at once.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // It is boxed where it is kept.
pub enum Program {
    /// CREATE PROCEDURE and CREATE FUNCTION.
    Routine(CreateRoutine),
    /// CREATE FUNCTION ... SONAME.
    Udf(CreateUdf),
    /// CREATE TRIGGER.
    Trigger(CreateTrigger),
    /// CREATE EVENT.
    Event(CreateEvent),
    /// ALTER EVENT.
    AlterEvent(AlterEvent),
    /// CREATE PACKAGE and CREATE PACKAGE BODY of sql_mode=ORACLE.
    Package(CreatePackage),
    /// A statement of the language outside of any program: BEGIN NOT ATOMIC, IF, LOOP, ...
    Compound(Body),
    /// CALL.
    Call(Call),
    /// SIGNAL and RESIGNAL.
    Signal(Signal),
    /// GET DIAGNOSTICS.
    GetDiagnostics(GetDiagnostics),
}

impl Program {
    /// The words that say what kind of statement it is, e.g. `CREATE PROCEDURE`.
    pub fn name(&self) -> &'static str {
        match self {
            Program::Routine(r) if r.returns.is_some() => "CREATE FUNCTION",
            Program::Routine(_) => "CREATE PROCEDURE",
            Program::Udf(_) => "CREATE FUNCTION",
            Program::Trigger(_) => "CREATE TRIGGER",
            Program::Event(_) => "CREATE EVENT",
            Program::AlterEvent(_) => "ALTER EVENT",
            Program::Package(p) if p.body => "CREATE PACKAGE BODY",
            Program::Package(_) => "CREATE PACKAGE",
            Program::Compound(body) => body.name(),
            Program::Call(_) => "CALL",
            Program::Signal(s) if s.again => "RESIGNAL",
            Program::Signal(_) => "SIGNAL",
            Program::GetDiagnostics(_) => "GET DIAGNOSTICS",
        }
    }
}

/// CREATE PROCEDURE and CREATE FUNCTION.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateRoutine {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// DEFINER.
    pub definer: Option<Definer>,
    /// AGGREGATE function.
    pub aggregate: bool,
    /// Name.
    pub name: TableName,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Where they stand in the text, without the parentheses.
    pub parameters_at: std::ops::Range<usize>,
    /// RETURNS, of functions.
    pub returns: Option<VariableType>,
    /// Where that stands in the text.
    pub returns_at: std::ops::Range<usize>,
    /// Characteristics in order.
    pub characteristics: Vec<Characteristic>,
    /// What it does.
    pub body: Body,
    /// Where that stands in the text.
    pub body_at: std::ops::Range<usize>,
}

/// CREATE PACKAGE and CREATE PACKAGE BODY.
#[derive(Debug, Clone, PartialEq)]
pub struct CreatePackage {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// DEFINER.
    pub definer: Option<Definer>,
    /// BODY.
    pub body: bool,
    /// Name.
    pub name: TableName,
    /// Characteristics in order.
    pub characteristics: Vec<Characteristic>,
    /// Variables of a body, which live as long as the session.
    pub declarations: Vec<Declaration>,
    /// Its routines; a specification's have no bodies.
    pub routines: Vec<PackageRoutine>,
    /// What a body does at its first use.
    pub begin: Option<Block>,
    /// Where all of it stands in the text, from AS on.
    pub at: std::ops::Range<usize>,
}

/// A routine of a package.
#[derive(Debug, Clone, PartialEq)]
pub struct PackageRoutine {
    /// Name.
    pub name: String,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Where they stand in the text, without the parentheses.
    pub parameters_at: std::ops::Range<usize>,
    /// RETURN, of functions.
    pub returns: Option<VariableType>,
    /// Characteristics in order.
    pub characteristics: Vec<Characteristic>,
    /// What it does; `None` for one that is only announced.
    pub body: Option<Body>,
}

/// CREATE TRIGGER.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTrigger {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// DEFINER.
    pub definer: Option<Definer>,
    /// Name.
    pub name: TableName,
    /// BEFORE (true) or AFTER.
    pub before: bool,
    /// When.
    pub event: TriggerEvent,
    /// Table.
    pub table: TableName,
    /// FOLLOWS (true) or PRECEDES another trigger.
    pub order: Option<(bool, String)>,
    /// What it does.
    pub body: Body,
    /// Where that stands in the text.
    pub body_at: std::ops::Range<usize>,
    /// Where the rest stands in the text, but for CREATE, DEFINER and the other trigger.
    pub head_at: TriggerHead,
}

/// What is said about an event besides its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventParts {
    /// ON SCHEDULE.
    pub schedule: Option<Schedule>,
    /// ON COMPLETION PRESERVE (true) or NOT PRESERVE.
    pub preserve: Option<bool>,
    /// RENAME TO, of ALTER EVENT.
    pub rename: Option<TableName>,
    /// ENABLE, DISABLE.
    pub status: Option<EventStatus>,
    /// COMMENT.
    pub comment: Option<String>,
    /// DO.
    pub body: Option<Box<Body>>,
    /// Where that stands in the text.
    pub body_at: std::ops::Range<usize>,
}

/// CREATE EVENT.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateEvent {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// DEFINER.
    pub definer: Option<Definer>,
    /// Name.
    pub name: TableName,
    /// The rest.
    pub parts: EventParts,
}

/// ALTER EVENT.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterEvent {
    /// DEFINER.
    pub definer: Option<Definer>,
    /// Name.
    pub name: TableName,
    /// What changes.
    pub parts: EventParts,
}

/// A statement of a stored program.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Programs are few and short.
pub enum Body {
    /// BEGIN ... END.
    Block(Block),
    /// IF: conditions with what follows them, and ELSE.
    If {
        /// Conditions, each with its statements.
        branches: Vec<(Expression, Vec<Body>)>,
        /// ELSE.
        otherwise: Option<Vec<Body>>,
    },
    /// CASE.
    Case {
        /// What is compared; `None` if WHEN has conditions.
        operand: Option<Expression>,
        /// WHEN, each with its statements.
        branches: Vec<(Expression, Vec<Body>)>,
        /// ELSE.
        otherwise: Option<Vec<Body>>,
    },
    /// LOOP, WHILE, REPEAT, FOR.
    Loop(Loop),
    /// LEAVE a label; an empty one is that of the innermost loop.
    Leave(String),
    /// ITERATE a label; an empty one is that of the innermost loop.
    Iterate(String),
    /// RETURN.
    Return(Expression),
    /// OPEN a cursor, with its arguments.
    Open(String, Vec<Expression>),
    /// CLOSE a cursor.
    Close(String),
    /// FETCH a cursor into variables.
    Fetch(String, Vec<String>),
    /// FETCH GROUP NEXT ROW of an aggregate function.
    FetchGroupNextRow,
    /// NULL of sql_mode=ORACLE.
    Nothing,
    /// RETURN without a value.
    Finish,
    /// GOTO a label.
    Goto(String),
    /// `<<label>>` and its statement: GOTO may go to it.
    Labelled(String, Box<Body>),
    /// Any other statement, and where it stands in the text.
    Statement(Box<Statement>, std::ops::Range<usize>),
}

impl Body {
    /// The word that it begins with.
    pub fn name(&self) -> &'static str {
        match self {
            Body::Block(_) => "BEGIN NOT ATOMIC",
            Body::If { .. } => "IF",
            Body::Case { .. } => "CASE",
            Body::Loop(l) => match l.kind {
                LoopKind::Endless => "LOOP",
                LoopKind::While(_) => "WHILE",
                LoopKind::Repeat(_) => "REPEAT",
                LoopKind::Range { .. } | LoopKind::Cursor { .. } => "FOR",
            },
            Body::Leave(_) => "LEAVE",
            Body::Iterate(_) => "ITERATE",
            Body::Return(_) => "RETURN",
            Body::Open(..) => "OPEN",
            Body::Close(_) => "CLOSE",
            Body::Fetch(..) | Body::FetchGroupNextRow => "FETCH",
            Body::Nothing => "NULL",
            Body::Finish => "RETURN",
            Body::Goto(_) => "GOTO",
            Body::Labelled(_, inner) => inner.name(),
            Body::Statement(..) => "statement",
        }
    }
}

/// BEGIN ... END.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its label.
    pub label: Option<String>,
    /// NOT ATOMIC.
    pub not_atomic: bool,
    /// Declarations in order.
    pub declarations: Vec<Declaration>,
    /// Statements.
    pub statements: Vec<Body>,
}

/// What is repeated how.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// Its label.
    pub label: Option<String>,
    /// Kind.
    pub kind: LoopKind,
    /// Statements.
    pub statements: Vec<Body>,
}

/// Kinds of loops.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Programs are few and short.
pub enum LoopKind {
    /// LOOP.
    Endless,
    /// WHILE a condition holds.
    While(Expression),
    /// REPEAT ... UNTIL a condition holds.
    Repeat(Expression),
    /// FOR i IN \[REVERSE\] from .. to
    Range {
        /// The variable.
        variable: String,
        /// REVERSE.
        reverse: bool,
        /// From.
        from: Expression,
        /// To.
        to: Expression,
    },
    /// FOR row IN cursor(arguments), or IN (SELECT ...)
    Cursor {
        /// The variable.
        variable: String,
        /// The rows.
        rows: CursorSource,
    },
}

/// DECLARE.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Programs are few and short.
pub enum Declaration {
    /// Variables.
    Variables {
        /// Names.
        names: Vec<String>,
        /// Their type.
        ty: VariableType,
        /// DEFAULT.
        default: Option<Expression>,
    },
    /// EXCEPTION of sql_mode=ORACLE: a condition of one's own.
    Exception(String),
    /// CONDITION FOR.
    Condition(String, ConditionValue),
    /// CURSOR \[(parameters)\] FOR.
    Cursor(String, Vec<(String, VariableType)>, Box<Select>),
    /// HANDLER FOR.
    Handler {
        /// CONTINUE or EXIT.
        action: HandlerAction,
        /// For these.
        conditions: Vec<ConditionValue>,
        /// What it does.
        body: Box<Body>,
    },
}
