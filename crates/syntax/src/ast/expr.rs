//! Expressions.

use super::name::{Qualified, TableName};

/// An expression. Its subqueries stand in the statement around it, which has them by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A column, or another name that the context knows.
    Column(String),
    /// `[db.]table.column`
    Qualified(Box<Qualified>),
    /// A constant.
    Literal(Literal),
    /// The `?` of this number, from 0 on.
    Param(usize),
    /// `cursor%ISOPEN` and its kind, of sql_mode=ORACLE: stored programs alone have it.
    CursorAttribute(String, CursorAttribute),
    /// `@name`
    UserVar(String),
    /// `@name := value`
    Assign {
        /// The variable.
        name: String,
        /// Its new value.
        value: Box<Expr>,
    },
    /// `@@[scope.][base.]name`
    SystemVar(Box<SystemVar>),
    /// `DEFAULT(column)`
    Default(Box<Expr>),
    /// `VALUES(column)` and `VALUE(column)`.
    Values(Box<Expr>),
    /// An expression in parentheses.
    Nested(Box<Expr>),
    /// An operator in front.
    Unary {
        /// Which.
        op: UnaryOp,
        /// Its operand.
        expr: Box<Expr>,
    },
    /// An operator between.
    Binary {
        /// Which.
        op: BinaryOp,
        /// What stands left of it.
        left: Box<Expr>,
        /// What stands right of it.
        right: Box<Expr>,
    },
    /// IS \[NOT\] NULL, TRUE, FALSE or UNKNOWN.
    Is {
        /// What is tested.
        expr: Box<Expr>,
        /// What for.
        what: IsTest,
        /// NOT.
        negated: bool,
    },
    /// \[NOT\] BETWEEN low AND high
    Between {
        /// What is compared.
        expr: Box<Expr>,
        /// The least.
        low: Box<Expr>,
        /// The greatest.
        high: Box<Expr>,
        /// NOT.
        negated: bool,
    },
    /// \[NOT\] IN (list)
    InList {
        /// What is looked for.
        expr: Box<Expr>,
        /// Where.
        list: Vec<Expr>,
        /// NOT.
        negated: bool,
    },
    /// \[NOT\] IN (SELECT ...)
    InQuery {
        /// What is looked for.
        expr: Box<Expr>,
        /// The subquery's number.
        query: usize,
        /// NOT.
        negated: bool,
    },
    /// \[NOT\] LIKE pattern \[ESCAPE c\]
    Like {
        /// The text.
        expr: Box<Expr>,
        /// What it should be like.
        pattern: Box<Expr>,
        /// ESCAPE.
        escape: Option<Box<Expr>>,
        /// NOT.
        negated: bool,
    },
    /// \[NOT\] REGEXP pattern
    Regexp {
        /// The text.
        expr: Box<Expr>,
        /// What is to be found in it.
        pattern: Box<Expr>,
        /// NOT.
        negated: bool,
    },
    /// A comparison with ANY, SOME or ALL rows of a subquery.
    Quantified {
        /// The comparison.
        op: BinaryOp,
        /// What is compared.
        left: Box<Expr>,
        /// ALL.
        all: bool,
        /// The subquery's number.
        query: usize,
    },
    /// CASE.
    Case {
        /// What is compared; `None` if WHEN has conditions.
        operand: Option<Box<Expr>>,
        /// WHEN and THEN.
        whens: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(e AS type)` and `CONVERT(e, type)`.
    Cast {
        /// The value.
        expr: Box<Expr>,
        /// Its new type.
        ty: CastType,
    },
    /// `CONVERT(e USING charset)`
    ConvertUsing {
        /// The value.
        expr: Box<Expr>,
        /// The character set.
        charset: String,
    },
    /// `e COLLATE collation`
    Collate {
        /// The value.
        expr: Box<Expr>,
        /// The collation.
        collation: String,
    },
    /// `_charset 'literal'`
    Introduced {
        /// The character set.
        charset: String,
        /// A string, hexadecimal or bit literal.
        value: Literal,
    },
    /// `DATE '...'`, `TIME '...'`, `TIMESTAMP '...'` and their ODBC forms.
    Temporal {
        /// Which.
        kind: TemporalKind,
        /// The text.
        text: String,
        /// Written in braces: what is no such value stays a text.
        odbc: bool,
    },
    /// `INTERVAL value unit`, beside `+` and `-` and as an argument.
    Interval {
        /// How many.
        value: Box<Expr>,
        /// Of what.
        unit: Unit,
    },
    /// `(a, b, ...)` and `ROW(a, b, ...)`
    Row(Vec<Expr>),
    /// `(SELECT ...)`: the number of the subquery.
    Subquery(usize),
    /// `EXISTS (SELECT ...)`: the number of the subquery.
    Exists(usize),
    /// A call whose arguments are a list.
    Call(Box<Call>),
    /// A call whose arguments have words between them.
    Special(Box<Special>),
}

/// What a cursor tells of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorAttribute {
    /// It is open.
    IsOpen,
    /// The last FETCH gave a row; NULL before the first one.
    Found,
    /// The last FETCH gave no row; NULL before the first one.
    NotFound,
    /// Rows that were fetched so far.
    RowCount,
}

/// A constant as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// NULL.
    Null,
    /// NULL of a text's type: the string '' under EMPTY_STRING_IS_NULL.
    NullText,
    /// TRUE or FALSE.
    Bool(bool),
    /// A number's digits.
    Number(String),
    /// A string's value.
    String(String),
    /// The value of `N'...'`.
    National(String),
    /// Hexadecimal digits of `0x...`: a number where one is wanted, else bytes.
    Hex(String),
    /// Hexadecimal digits of `x'...'`, an even number of them: bytes.
    HexText(String),
    /// Binary digits.
    Bit(String),
}

/// Scopes of system variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VarScope {
    Global,
    Session,
    /// LOCAL: as SESSION.
    Local,
}

/// A system variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemVar {
    /// The scope, if given.
    pub scope: Option<VarScope>,
    /// What stands before the name: a key cache or a replication channel.
    pub base: Option<String>,
    /// Name.
    pub name: String,
}

/// Operators in front of their operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Plus,
    Minus,
    /// `~`
    BitNot,
    /// NOT: looser than comparisons, but for HIGH_NOT_PRECEDENCE.
    Not,
    /// `!`
    Bang,
    /// BINARY.
    Binary,
}

/// Operators between their operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    /// OR, and `||` without PIPES_AS_CONCAT.
    Or,
    Xor,
    /// AND and `&&`.
    And,
    Eq,
    NullSafeEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    SoundsLike,
    BitOr,
    BitAnd,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    /// DIV.
    IntDiv,
    /// `%` and MOD.
    Mod,
    BitXor,
    /// `||` with PIPES_AS_CONCAT.
    Concat,
}

/// What IS tests for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IsTest {
    Null,
    True,
    False,
    Unknown,
}

/// Kinds of temporal literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TemporalKind {
    Date,
    Time,
    Timestamp,
}

/// Units of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

impl Unit {
    /// Its word in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Microsecond => "microsecond",
            Unit::Second => "second",
            Unit::Minute => "minute",
            Unit::Hour => "hour",
            Unit::Day => "day",
            Unit::Week => "week",
            Unit::Month => "month",
            Unit::Quarter => "quarter",
            Unit::Year => "year",
            Unit::SecondMicrosecond => "second_microsecond",
            Unit::MinuteMicrosecond => "minute_microsecond",
            Unit::MinuteSecond => "minute_second",
            Unit::HourMicrosecond => "hour_microsecond",
            Unit::HourSecond => "hour_second",
            Unit::HourMinute => "hour_minute",
            Unit::DayMicrosecond => "day_microsecond",
            Unit::DaySecond => "day_second",
            Unit::DayMinute => "day_minute",
            Unit::DayHour => "day_hour",
            Unit::YearMonth => "year_month",
        }
    }
}

/// The type of CAST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastType {
    /// BINARY \[(n)\]
    Binary(Option<u64>),
    /// CHAR, VARCHAR and their NATIONAL forms.
    Char {
        /// Characters at most.
        length: Option<u64>,
        /// CHARACTER SET, ASCII, UNICODE, BYTE.
        charset: Option<String>,
        /// COLLATE.
        collation: Option<String>,
        /// BINARY: the collation by code points.
        binary: bool,
        /// NCHAR and such.
        national: bool,
    },
    /// DATE.
    Date,
    /// TIME \[(digits)\]
    Time(Option<u64>),
    /// DATETIME \[(digits)\]
    DateTime(Option<u64>),
    /// DECIMAL \[(precision \[, scale\])\]
    Decimal(Option<(u64, Option<u64>)>),
    /// SIGNED \[INTEGER\], INT.
    Signed,
    /// UNSIGNED \[INTEGER\]
    Unsigned,
    /// DOUBLE \[(m, d)\]
    Double(Option<(u64, u64)>),
    /// FLOAT.
    Float,
    /// INTERVAL DAY_SECOND(digits)
    IntervalDaySecond(Option<u64>),
    /// A type that has a name of its own: INET6, UUID, ...
    Other(String),
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Database of a stored function.
    pub db: Option<String>,
    /// Name as written.
    pub name: String,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Names of the arguments: `f(a AS x)`, for UDFs.
    pub arg_names: Vec<Option<String>>,
    /// There are parentheses: CURRENT_TIMESTAMP has none.
    pub parens: bool,
    /// A space stands before the parenthesis, and none of IGNORE_SPACE: built-in functions that are keywords are not meant.
    pub spaced: bool,
    /// `(*)`
    pub star: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// What aggregate and window functions have besides.
    pub clauses: Option<Box<CallClauses>>,
}

/// Whose functions the names in front of a call mean: `oracle_schema.concat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionSchema {
    /// As sql_mode=ORACLE has them.
    Oracle,
    /// As all other modes have them.
    MariaDb,
}

/// The database of functions as sql_mode=ORACLE has them.
pub const ORACLE_SCHEMA: &str = "oracle_schema";

impl Call {
    /// The set of built-in functions that the call names.
    pub fn schema(&self) -> Option<FunctionSchema> {
        FunctionSchema::named(self.db.as_deref()?)
    }
}

impl FunctionSchema {
    /// The one of this name.
    pub fn named(db: &str) -> Option<Self> {
        match db {
            d if d.eq_ignore_ascii_case(ORACLE_SCHEMA) => Some(FunctionSchema::Oracle),
            d if d.eq_ignore_ascii_case("mariadb_schema") => Some(FunctionSchema::MariaDb),
            _ => None,
        }
    }
}

/// Clauses of aggregate and window functions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallClauses {
    /// ORDER BY of GROUP_CONCAT and JSON_ARRAYAGG.
    pub order_by: Vec<OrderItem>,
    /// SEPARATOR.
    pub separator: Option<String>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// WITHIN GROUP (ORDER BY ...)
    pub within_group: Option<Vec<OrderItem>>,
    /// OVER.
    pub over: Option<Over>,
}

/// ORDER BY / GROUP BY element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderItem {
    /// Expression, alias or position.
    pub expr: Expr,
    /// DESC.
    pub desc: bool,
}

/// LIMIT \[offset,\] count: integers, `?` or variables of a stored program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Rows to skip.
    pub offset: Option<Expr>,
    /// Rows to return.
    pub count: Expr,
}

/// OVER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// OVER name
    Name(String),
    /// OVER (...)
    Window(WindowSpec),
}

/// A window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WindowSpec {
    /// The window that it adds to.
    pub base: Option<String>,
    /// PARTITION BY.
    pub partition_by: Vec<OrderItem>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// Its frame.
    pub frame: Option<Frame>,
}

/// The frame of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// ROWS or RANGE.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends, if given.
    pub end: Option<FrameBound>,
    /// EXCLUDE.
    pub exclude: Option<FrameExclude>,
}

/// What a frame counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FrameUnit {
    Rows,
    Range,
}

/// Where a frame begins or ends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    UnboundedFollowing,
    CurrentRow,
    Preceding(Box<Expr>),
    Following(Box<Expr>),
}

/// What a frame leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FrameExclude {
    CurrentRow,
    Group,
    Ties,
    NoOthers,
}

/// Calls whose arguments have words between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Special {
    /// TRIM(\[BOTH | LEADING | TRAILING\] \[what FROM\] text)
    Trim {
        /// Where.
        side: Option<TrimSide>,
        /// What is taken away.
        what: Option<Expr>,
        /// From what.
        text: Expr,
        /// As Oracle has it: an empty result is NULL.
        oracle: bool,
    },
    /// EXTRACT(unit FROM e)
    Extract(Unit, Expr),
    /// POSITION(what IN text)
    Position(Expr, Expr),
    /// SUBSTRING(text FROM start \[FOR length\])
    Substring(Expr, Expr, Option<Expr>),
    /// CHAR(n, ... USING charset)
    Char(Vec<Expr>, String),
    /// GET_FORMAT(kind, place)
    GetFormat(FormatKind, Expr),
    /// WEIGHT_STRING(e, length, weights, flags)
    PaddedWeights(Expr, [u64; 3]),
    /// WEIGHT_STRING(e \[AS CHAR(n) | AS BINARY(n)\] \[LEVEL ...\])
    WeightString {
        /// The text.
        text: Expr,
        /// Its length, and whether it is in bytes.
        cut: Option<(u64, bool)>,
        /// LEVEL: first, last, and what ASC, DESC and REVERSE say of each.
        levels: Vec<WeightLevel>,
    },
    /// TIMESTAMPADD(unit, n, date)
    TimestampAdd(Unit, Expr, Expr),
    /// TIMESTAMPDIFF(unit, a, b)
    TimestampDiff(Unit, Expr, Expr),
    /// DATE_ADD, ADDDATE, DATE_SUB and SUBDATE with an INTERVAL.
    DateArith {
        /// SUB.
        subtract: bool,
        /// The date.
        date: Expr,
        /// How many.
        amount: Expr,
        /// Of what.
        unit: Unit,
        /// The name as written.
        name: String,
    },
    /// MATCH (columns) AGAINST (text mode)
    Match {
        /// The columns.
        columns: Vec<Expr>,
        /// What is looked for.
        against: Expr,
        /// How.
        mode: MatchMode,
    },
    /// NEXTVAL(s), NEXT VALUE FOR s
    NextValue(TableName),
    /// LASTVAL(s), PREVIOUS VALUE FOR s
    LastValue(TableName),
    /// SETVAL(s, n \[, used \[, round\]\])
    SetValue {
        /// The sequence.
        name: TableName,
        /// Digits, perhaps with a sign.
        value: String,
        /// Whether the value counts as used.
        used: Option<String>,
        /// The round.
        round: Option<String>,
    },
    /// COLUMN_CREATE(name, value \[AS type\], ...)
    ColumnCreate(Vec<DynamicColumn>),
    /// COLUMN_ADD(blob, name, value \[AS type\], ...)
    ColumnAdd(Expr, Vec<DynamicColumn>),
    /// COLUMN_GET(blob, name AS type)
    ColumnGet(Expr, Expr, CastType),
}

/// A column of COLUMN_CREATE and COLUMN_ADD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicColumn {
    /// Name or number.
    pub name: Expr,
    /// Value.
    pub value: Expr,
    /// AS.
    pub ty: Option<CastType>,
}

/// Where TRIM takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

/// What GET_FORMAT is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FormatKind {
    Date,
    Time,
    DateTime,
}

/// A level, or a range of them, of WEIGHT_STRING.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightLevel {
    /// The first.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// DESC.
    pub desc: bool,
    /// REVERSE.
    pub reverse: bool,
}

/// How MATCH looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchMode {
    /// By words; true WITH QUERY EXPANSION.
    Natural(bool),
    /// IN BOOLEAN MODE.
    Boolean,
}

/// One value of INSERT or SET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetValue {
    /// DEFAULT.
    Default,
    /// IGNORE: the value that there is, or the default.
    Ignore,
    /// An expression.
    Expr(Expr),
}
