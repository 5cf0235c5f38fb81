//! The functions: names and argument counts of the older ones; the others are in the registry ([`super::functions`]).

use super::functions::{self, Function};

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Func {
    // Strings.
    Ascii,
    Bin,
    BitLength,
    Char,
    CharLength,
    Concat,
    ConcatWs,
    Elt,
    Field,
    FindInSet,
    Hex,
    Insert,
    Instr,
    Lcase,
    Left,
    Length,
    Locate,
    Lpad,
    Ltrim,
    Md5,
    Oct,
    Ord,
    Quote,
    Repeat,
    Replace,
    Reverse,
    Right,
    Rpad,
    Rtrim,
    Sha1,
    Sha2,
    Space,
    Strcmp,
    Substring,
    SubstringIndex,
    /// TRIM(s [, what]); the sides are in the name.
    Trim,
    TrimLeading,
    TrimTrailing,
    Ucase,
    Unhex,
    Uuid,
    // Numbers.
    Abs,
    Acos,
    Asin,
    Atan,
    BitCount,
    Ceiling,
    Conv,
    Cos,
    Cot,
    Degrees,
    Exp,
    Floor,
    Greatest,
    Least,
    Ln,
    Log,
    Log10,
    Log2,
    Pi,
    Pow,
    Radians,
    Rand,
    Round,
    Sign,
    Sin,
    Sqrt,
    Tan,
    Truncate,
    // Control flow.
    Coalesce,
    If,
    Ifnull,
    Interval,
    Isnull,
    Nullif,
    // Dates.
    AddTime,
    Curdate,
    Curtime,
    Date,
    DateFormat,
    DateDiff,
    DayName,
    DayOfMonth,
    DayOfWeek,
    DayOfYear,
    FromDays,
    FromUnixtime,
    Hour,
    LastDay,
    MakeDate,
    MakeTime,
    Microsecond,
    Minute,
    Month,
    MonthName,
    Now,
    PeriodAdd,
    PeriodDiff,
    Quarter,
    SecToTime,
    Second,
    StrToDate,
    SubTime,
    Sysdate,
    Time,
    TimeDiff,
    TimeFormat,
    TimeToSec,
    Timestamp,
    ToDays,
    ToSeconds,
    UnixTimestamp,
    UtcDate,
    UtcTime,
    UtcTimestamp,
    Week,
    Weekday,
    WeekOfYear,
    Year,
    YearWeek,
    /// EXTRACT(unit FROM x): the unit is the first argument, as its number.
    Extract,
    /// TIMESTAMPDIFF(unit, a, b): the unit is the first argument, as its number.
    TimestampDiff,
    // Information.
    Benchmark,
    BinlogGtidPos,
    Charset,
    Coercibility,
    Collation,
    ConnectionId,
    CurrentUser,
    Database,
    FoundRows,
    LastInsertId,
    MasterGtidWait,
    MasterPosWait,
    GetLock,
    ReleaseLock,
    ReleaseAllLocks,
    IsFreeLock,
    IsUsedLock,
    RowCount,
    Sleep,
    User,
    Version,
    /// text REGEXP pattern.
    Regexp,
    /// A function of the registry.
    Listed(&'static Function),
}

/// No upper limit of arguments.
const ANY: usize = usize::MAX;

use Func::*;

/// Name, function, least and most arguments. Sorted by name.
static FUNCTIONS: &[(&str, Func, usize, usize)] = &[
    ("abs", Abs, 1, 1),
    ("acos", Acos, 1, 1),
    ("addtime", AddTime, 2, 2),
    ("ascii", Ascii, 1, 1),
    ("asin", Asin, 1, 1),
    ("atan", Atan, 1, 2),
    ("atan2", Atan, 1, 2),
    ("benchmark", Benchmark, 2, 2),
    ("bin", Bin, 1, 1),
    ("binlog_gtid_pos", BinlogGtidPos, 2, 2),
    ("bit_count", BitCount, 1, 1),
    ("bit_length", BitLength, 1, 1),
    ("ceil", Ceiling, 1, 1),
    ("ceiling", Ceiling, 1, 1),
    ("char", Char, 1, ANY),
    ("char_length", CharLength, 1, 1),
    ("character_length", CharLength, 1, 1),
    ("charset", Charset, 1, 1),
    ("coalesce", Coalesce, 1, ANY),
    ("coercibility", Coercibility, 1, 1),
    ("collation", Collation, 1, 1),
    ("concat", Concat, 1, ANY),
    ("concat_ws", ConcatWs, 2, ANY),
    ("connection_id", ConnectionId, 0, 0),
    ("conv", Conv, 3, 3),
    ("cos", Cos, 1, 1),
    ("cot", Cot, 1, 1),
    ("curdate", Curdate, 0, 0),
    ("current_date", Curdate, 0, 0),
    ("current_time", Curtime, 0, 1),
    ("current_timestamp", Now, 0, 1),
    ("current_user", CurrentUser, 0, 0),
    ("curtime", Curtime, 0, 1),
    ("database", Database, 0, 0),
    ("date", Date, 1, 1),
    ("date_format", DateFormat, 2, 2),
    ("datediff", DateDiff, 2, 2),
    ("day", DayOfMonth, 1, 1),
    ("dayname", DayName, 1, 1),
    ("dayofmonth", DayOfMonth, 1, 1),
    ("dayofweek", DayOfWeek, 1, 1),
    ("dayofyear", DayOfYear, 1, 1),
    ("degrees", Degrees, 1, 1),
    ("elt", Elt, 2, ANY),
    ("exp", Exp, 1, 1),
    ("field", Field, 2, ANY),
    ("find_in_set", FindInSet, 2, 2),
    ("floor", Floor, 1, 1),
    ("found_rows", FoundRows, 0, 0),
    ("from_days", FromDays, 1, 1),
    ("from_unixtime", FromUnixtime, 1, 2),
    ("get_lock", GetLock, 2, 2),
    ("greatest", Greatest, 2, ANY),
    ("hex", Hex, 1, 1),
    ("hour", Hour, 1, 1),
    ("if", If, 3, 3),
    ("ifnull", Ifnull, 2, 2),
    ("insert", Insert, 4, 4),
    ("instr", Instr, 2, 2),
    ("interval", Interval, 2, ANY),
    ("is_free_lock", IsFreeLock, 1, 1),
    ("is_used_lock", IsUsedLock, 1, 1),
    ("isnull", Isnull, 1, 1),
    ("last_day", LastDay, 1, 1),
    ("last_insert_id", LastInsertId, 0, 1),
    ("lcase", Lcase, 1, 1),
    ("least", Least, 2, ANY),
    ("left", Left, 2, 2),
    ("length", Length, 1, 1),
    ("ln", Ln, 1, 1),
    ("localtime", Now, 0, 1),
    ("localtimestamp", Now, 0, 1),
    ("locate", Locate, 2, 3),
    ("log", Log, 1, 2),
    ("log10", Log10, 1, 1),
    ("log2", Log2, 1, 1),
    ("lower", Lcase, 1, 1),
    ("lpad", Lpad, 2, 3),
    ("ltrim", Ltrim, 1, 1),
    ("makedate", MakeDate, 2, 2),
    ("maketime", MakeTime, 3, 3),
    ("master_gtid_wait", MasterGtidWait, 1, 2),
    ("master_pos_wait", MasterPosWait, 2, 4),
    ("md5", Md5, 1, 1),
    ("microsecond", Microsecond, 1, 1),
    ("mid", Substring, 2, 3),
    ("minute", Minute, 1, 1),
    ("month", Month, 1, 1),
    ("monthname", MonthName, 1, 1),
    ("now", Now, 0, 1),
    ("nullif", Nullif, 2, 2),
    ("nvl", Ifnull, 2, 2),
    ("oct", Oct, 1, 1),
    ("octet_length", Length, 1, 1),
    ("ord", Ord, 1, 1),
    ("period_add", PeriodAdd, 2, 2),
    ("period_diff", PeriodDiff, 2, 2),
    ("pi", Pi, 0, 0),
    ("position", Locate, 2, 3),
    ("pow", Pow, 2, 2),
    ("power", Pow, 2, 2),
    ("quarter", Quarter, 1, 1),
    ("quote", Quote, 1, 1),
    ("radians", Radians, 1, 1),
    ("rand", Rand, 0, 1),
    ("release_all_locks", ReleaseAllLocks, 0, 0),
    ("release_lock", ReleaseLock, 1, 1),
    ("repeat", Repeat, 2, 2),
    ("replace", Replace, 3, 3),
    ("reverse", Reverse, 1, 1),
    ("right", Right, 2, 2),
    ("round", Round, 1, 2),
    ("row_count", RowCount, 0, 0),
    ("rpad", Rpad, 2, 3),
    ("rtrim", Rtrim, 1, 1),
    ("schema", Database, 0, 0),
    ("sec_to_time", SecToTime, 1, 1),
    ("second", Second, 1, 1),
    ("session_user", User, 0, 0),
    ("sha", Sha1, 1, 1),
    ("sha1", Sha1, 1, 1),
    ("sha2", Sha2, 2, 2),
    ("sign", Sign, 1, 1),
    ("sin", Sin, 1, 1),
    ("sleep", Sleep, 1, 1),
    ("space", Space, 1, 1),
    ("sqrt", Sqrt, 1, 1),
    ("str_to_date", StrToDate, 2, 2),
    ("strcmp", Strcmp, 2, 2),
    ("substr", Substring, 2, 3),
    ("substring", Substring, 2, 3),
    ("substring_index", SubstringIndex, 3, 3),
    ("subtime", SubTime, 2, 2),
    ("sysdate", Sysdate, 0, 1),
    ("system_user", User, 0, 0),
    ("tan", Tan, 1, 1),
    ("time", Time, 1, 1),
    ("time_format", TimeFormat, 2, 2),
    ("time_to_sec", TimeToSec, 1, 1),
    ("timediff", TimeDiff, 2, 2),
    ("timestamp", Timestamp, 1, 2),
    ("to_days", ToDays, 1, 1),
    ("to_seconds", ToSeconds, 1, 1),
    ("trim", Trim, 1, 1),
    ("truncate", Truncate, 2, 2),
    ("ucase", Ucase, 1, 1),
    ("unhex", Unhex, 1, 1),
    ("unix_timestamp", UnixTimestamp, 0, 1),
    ("upper", Ucase, 1, 1),
    ("user", User, 0, 0),
    ("utc_date", UtcDate, 0, 0),
    ("utc_time", UtcTime, 0, 1),
    ("utc_timestamp", UtcTimestamp, 0, 1),
    ("uuid", Uuid, 0, 0),
    ("version", Version, 0, 0),
    ("week", Week, 1, 2),
    ("weekday", Weekday, 1, 1),
    ("weekofyear", WeekOfYear, 1, 1),
    ("year", Year, 1, 1),
    ("yearweek", YearWeek, 1, 2),
];

impl Func {
    /// Finds a function by its name in lower case: the function, least and most arguments.
    pub fn lookup(name: &str) -> Option<(Func, usize, usize)> {
        FUNCTIONS
            .binary_search_by(|f| f.0.cmp(name))
            .ok()
            .map(|i| (FUNCTIONS[i].1, FUNCTIONS[i].2, FUNCTIONS[i].3))
            .or_else(|| functions::lookup(name).map(|f| (Listed(f), f.min, f.max)))
    }

    /// It computes with numbers as they are; others take what is shown of a quotient.
    pub fn computes(self) -> bool {
        use Func::*;
        matches!(
            self,
            Abs | Acos
                | Asin
                | Atan
                | Ceiling
                | Cos
                | Cot
                | Degrees
                | Exp
                | Field
                | Floor
                | Greatest
                | Interval
                | Least
                | Ln
                | Log
                | Log10
                | Log2
                | Pow
                | Radians
                | Round
                | Sign
                | Sin
                | Sqrt
                | Tan
                | Truncate
        )
    }

    /// The name that it is first listed under.
    pub fn name(self) -> &'static str {
        match self {
            Extract => "extract",
            TimestampDiff => "timestampdiff",
            TrimLeading | TrimTrailing => "trim",
            Regexp => "regexp",
            Listed(f) => f.name.trim_start(),
            f => FUNCTIONS
                .iter()
                .find(|e| e.1 == f)
                .map_or("function", |e| e.0),
        }
    }

    /// Its arguments, or the first of them, are texts whatever their types.
    pub fn reads_text(self) -> bool {
        matches!(
            self,
            Concat
                | ConcatWs
                | Length
                | CharLength
                | BitLength
                | Quote
                | Md5
                | Sha1
                | Reverse
                | Ucase
                | Lcase
                | Replace
                | Ltrim
                | Rtrim
                | Trim
                | Left
                | Right
        )
    }

    /// The value differs from row to row, or evaluating it does something.
    pub fn is_volatile(self) -> bool {
        if let Listed(f) = self {
            return f.volatile;
        }
        matches!(
            self,
            Rand | Uuid
                | Sleep
                | Benchmark
                | Sysdate
                | LastInsertId
                | BinlogGtidPos
                | MasterGtidWait
                | MasterPosWait
                | GetLock
                | ReleaseLock
                | ReleaseAllLocks
                | IsFreeLock
                | IsUsedLock
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_sorted() {
        assert!(FUNCTIONS.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!(Func::lookup("concat"), Some((Concat, 1, ANY)));
        assert_eq!(Func::lookup("nosuch"), None);
    }
}
