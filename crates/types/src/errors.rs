//! The registry of errors: every number that Narwal gives, with its SQLSTATE, its name in MariaDB, and its text.
//!
//! [`errors::DUP_ENTRY.with([&value, &key])`](ErrorKind::with) makes an error with the registry's text,
//! [`ErrorKind::text`] one with a text of its own, [`ErrorKind::plain`] one whose text has no arguments. The numbers alone
//! are in [`codes`], for warnings and comparisons. A new number is a new row here; no other file has numbers.

use crate::SqlError;
use std::fmt::{Display, Write};

/// A kind of error. Its text has `N` arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorKind<const N: usize> {
    /// MariaDB's number.
    pub code: u16,
    /// Five characters.
    pub sqlstate: &'static [u8; 5],
    /// The name that MariaDB has for the number.
    pub symbol: &'static str,
    /// The text, with a place for each argument: `{}`, or with its most bytes: `{64}` is cut, `{64...}` is cut and says so.
    pub template: &'static str,
}

/// How the texts begin that speak of the server.
const SERVER: &str = "The MariaDB server";

/// Where an argument stands in a text, and how long it may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// Bytes at most.
    limit: usize,
    /// A cut is told by `...`, which counts.
    dots: bool,
}

impl Place {
    fn write(&self, out: &mut String, arg: &dyn Display) {
        let start = out.len();
        // Writing to a String does not fail.
        let _ = write!(out, "{arg}");
        if out.len() - start > self.limit {
            let dots = if self.dots { "..." } else { "" };
            out.truncate(out.floor_char_boundary(start + self.limit - dots.len()));
            out.push_str(dots);
        }
    }
}

/// What stands before the next argument, its place, and what stands behind.
fn next_place(template: &str) -> Option<(&str, Place, &str)> {
    let (before, rest) = template.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let (digits, dots) = match inside.strip_suffix("...") {
        Some(digits) => (digits, true),
        None => (inside, false),
    };
    let limit = digits.parse().unwrap_or(usize::MAX);
    Some((before, Place { limit, dots }, after))
}

/// The text as errors show it: at most `limit` bytes; what is longer is cut and ends with `...`, as MariaDB has it.
pub fn abridged(text: impl Display, limit: usize) -> String {
    let mut out = String::new();
    Place { limit, dots: true }.write(&mut out, &text);
    out
}

impl<const N: usize> ErrorKind<N> {
    /// The error with these arguments in its text.
    #[cold]
    pub fn with(&self, args: [&dyn Display; N]) -> SqlError {
        if crate::face::is_mysql()
            && let Some(e) = said_by_mysql(self.code, &args)
        {
            return e;
        }
        let mut text = String::new();
        let mut rest = self.template;
        for arg in args {
            let Some((before, place, after)) = next_place(rest) else {
                break;
            };
            text.push_str(before);
            place.write(&mut text, arg);
            rest = after;
        }
        text.push_str(rest);
        // The server that the text speaks of is the one that is shown.
        if crate::face::is_mysql() && self.template.starts_with(SERVER) {
            text = text.replacen("MariaDB", "MySQL", 1);
        }
        self.text(text)
    }

    /// The error with a text of its own.
    #[cold]
    pub fn text(&self, text: impl Into<Box<str>>) -> SqlError {
        SqlError::new(self.code, self.sqlstate, text)
    }

    /// True if an error is of this kind.
    pub fn is(&self, e: &SqlError) -> bool {
        e.code == self.code
    }
}

impl ErrorKind<0> {
    /// The error.
    #[cold]
    pub fn plain(&self) -> SqlError {
        self.with([])
    }
}

/// What MySQL says where MariaDB has this number, with the arguments of the registry's text; `None` if both say the same.
fn said_by_mysql(code: u16, args: &[&dyn Display]) -> Option<SqlError> {
    match (code, args) {
        (codes::CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, []) => Some(SqlError::new(
            code,
            b"25006",
            "Cannot execute statement in a READ ONLY transaction.",
        )),
        (codes::CANT_DROP_FIELD_OR_KEY, [_, name]) => {
            let name = name.to_string();
            let name = name.trim_matches('`');
            Some(SqlError::new(
                code,
                b"42000",
                format!("Can't DROP '{name}'; check that column/key exists"),
            ))
        }
        (codes::CONSTRAINT_FAILED, [name, ..]) => Some(CHECK_CONSTRAINT_VIOLATED.with([name])),
        (codes::WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, [column, table]) => {
            Some(SqlError::new(
                3105,
                b"HY000",
                format!(
                    "The value specified for generated column '{column}' in table '{table}' is not allowed."
                ),
            ))
        }
        _ => None,
    }
}

/// A row of the registry, whatever the number of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// MariaDB's number.
    pub code: u16,
    /// Five characters.
    pub sqlstate: &'static [u8; 5],
    /// The name that MariaDB has for the number.
    pub symbol: &'static str,
    /// The text, with a place for each argument: `{}`, or with its most bytes: `{64}` is cut, `{64...}` is cut and says so.
    pub template: &'static str,
    /// Number of the arguments.
    pub args: usize,
}

macro_rules! errors {
    ($($name:ident: $args:literal = $code:literal, $state:literal, $symbol:literal, $template:literal;)*) => {
        $(
            #[doc = concat!($code, ":\n\n```text\n", $template, "\n```")]
            pub const $name: ErrorKind<$args> = ErrorKind {
                code: $code,
                sqlstate: $state,
                symbol: $symbol,
                template: $template,
            };
        )*

        /// The numbers by name.
        pub mod codes {
            $(
                #[doc = concat!("The number of ", $symbol, ".")]
                pub const $name: u16 = $code;
            )*
        }

        /// All rows, by number.
        pub static ALL: &[Row] = &[
            $(Row {
                code: $code,
                sqlstate: $state,
                symbol: $symbol,
                template: $template,
                args: $args,
            },)*
        ];
    };
}

errors! {
    CANTCREATEFILE: 3 = 1, b"HY000", "EE_CANTCREATEFILE",
        "Can't create/write to file '{}' (Errcode: {} \"{}\")";
    WRITE: 2 = 3, b"HY000", "EE_WRITE",
        "Error {} a temporary file: {}";
    FOUND_DUPP_KEY: 1 = 121, b"HY000", "HA_ERR_FOUND_DUPP_KEY",
        "{}";
    TO_BIG_ROW: 1 = 139, b"HY000", "HA_ERR_TO_BIG_ROW",
        "{}";
    CANNOT_ADD_FOREIGN: 1 = 150, b"HY000", "HA_ERR_CANNOT_ADD_FOREIGN",
        "{}";
    FK_DEPTH_EXCEEDED: 0 = 152, b"HY000", "HA_ERR_FK_DEPTH_EXCEEDED",
        "InnoDB: Cannot delete/update rows with cascading foreign key constraints that exceed max depth of 15. Please drop extra constraints and try again";
    AUTOINC_ERANGE: 2 = 167, b"22003", "HA_ERR_AUTOINC_ERANGE",
        "Out of range value for column '{}' at row {}";
    LOCAL_TMP_SPACE_FULL: 0 = 201, b"HY000", "EE_LOCAL_TMP_SPACE_FULL",
        "Local temporary space limit reached";
    YES: 1 = 1003, b"HY000", "ER_YES",
        "{}";
    CANT_CREATE_TABLE: 3 = 1005, b"HY000", "ER_CANT_CREATE_TABLE",
        "Can't create table `{}`.`{}` (errno: {})";
    DB_CREATE_EXISTS: 1 = 1007, b"HY000", "ER_DB_CREATE_EXISTS",
        "Can't create database '{}'; database exists";
    DB_DROP_EXISTS: 1 = 1008, b"HY000", "ER_DB_DROP_EXISTS",
        "Can't drop database '{}'; database doesn't exist";
    CHECKREAD: 0 = 1020, b"HY000", "ER_CHECKREAD",
        "Record has changed since last read; the transaction was rolled back, try again";
    DISK_FULL: 2 = 1021, b"HY000", "ER_DISK_FULL",
        "Disk full ({}); {}";
    DUP_KEY: 1 = 1022, b"23000", "ER_DUP_KEY",
        "Can't write; duplicate key in table '{}'";
    ERROR_ON_READ: 1 = 1024, b"HY000", "ER_ERROR_ON_READ",
        "Error reading file for LOAD DATA ({})";
    ERROR_ON_RENAME: 3 = 1025, b"HY000", "ER_ERROR_ON_RENAME",
        "Error on rename of '{210}' to '{210}' (errno: {})";
    ERROR_ON_WRITE: 1 = 1026, b"HY000", "ER_ERROR_ON_WRITE", "{}";
    FILSORT_ABORT: 1 = 1028, b"HY000", "ER_FILSORT_ABORT",
        "Sort aborted: {}";
    GET_ERRNO: 1 = 1030, b"HY000", "ER_GET_ERRNO",
        "{}";
    ILLEGAL_HA: 3 = 1031, b"HY000", "ER_ILLEGAL_HA",
        "Storage engine {} of the table `{}`.`{}` doesn't have this option";
    KEY_NOT_FOUND: 1 = 1032, b"HY000", "ER_KEY_NOT_FOUND",
        "Can't find record in '{}'";
    NOT_KEYFILE: 0 = 1034, b"HY000", "ER_NOT_KEYFILE",
        "An index has an entry without a row";
    OPEN_AS_READONLY: 1 = 1036, b"HY000", "ER_OPEN_AS_READONLY",
        "Table '{}' is read only";
    CON_COUNT_ERROR: 0 = 1040, b"08004", "ER_CON_COUNT_ERROR",
        "Too many connections";
    OUT_OF_RESOURCES: 0 = 1041, b"HY000", "ER_OUT_OF_RESOURCES",
        "Out of memory.";
    HANDSHAKE_ERROR: 0 = 1043, b"08S01", "ER_HANDSHAKE_ERROR",
        "Bad handshake";
    DBACCESS_DENIED_ERROR: 3 = 1044, b"42000", "ER_DBACCESS_DENIED_ERROR",
        "Access denied for user '{}'@'{}' to database '{}'";
    ACCESS_DENIED_ERROR: 3 = 1045, b"28000", "ER_ACCESS_DENIED_ERROR",
        "Access denied for user '{}'@'{}' (using password: {})";
    NO_DB_ERROR: 0 = 1046, b"3D000", "ER_NO_DB_ERROR",
        "No database selected";
    UNKNOWN_COM_ERROR: 0 = 1047, b"08S01", "ER_UNKNOWN_COM_ERROR",
        "Unknown command";
    BAD_NULL_ERROR: 1 = 1048, b"23000", "ER_BAD_NULL_ERROR",
        "Column '{}' cannot be null";
    BAD_DB_ERROR: 1 = 1049, b"42000", "ER_BAD_DB_ERROR",
        "Unknown database '{}'";
    TABLE_EXISTS_ERROR: 1 = 1050, b"42S01", "ER_TABLE_EXISTS_ERROR",
        "Table '{}' already exists";
    BAD_TABLE_ERROR: 1 = 1051, b"42S02", "ER_BAD_TABLE_ERROR",
        "Unknown table '{100...}'";
    NON_UNIQ_ERROR: 2 = 1052, b"23000", "ER_NON_UNIQ_ERROR",
        "Column '{}' in {} is ambiguous";
    SERVER_SHUTDOWN: 0 = 1053, b"08S01", "ER_SERVER_SHUTDOWN",
        "Server shutdown in progress";
    BAD_FIELD_ERROR: 2 = 1054, b"42S22", "ER_BAD_FIELD_ERROR",
        "Unknown column '{}' in '{}'";
    WRONG_FIELD_WITH_GROUP: 1 = 1055, b"42000", "ER_WRONG_FIELD_WITH_GROUP",
        "'{}' isn't in GROUP BY";
    WRONG_GROUP_FIELD: 0 = 1056, b"42000", "ER_WRONG_GROUP_FIELD",
        "Can't group on an aggregate function";
    TOO_LONG_IDENT: 1 = 1059, b"42000", "ER_TOO_LONG_IDENT",
        "Identifier name '{100...}' is too long";
    DUP_FIELDNAME: 1 = 1060, b"42S21", "ER_DUP_FIELDNAME",
        "Duplicate column name '{}'";
    DUP_KEYNAME: 1 = 1061, b"42000", "ER_DUP_KEYNAME",
        "Duplicate key name '{}'";
    DUP_ENTRY: 2 = 1062, b"23000", "ER_DUP_ENTRY",
        "Duplicate entry '{64...}' for key '{}'";
    WRONG_FIELD_SPEC: 1 = 1063, b"42000", "ER_WRONG_FIELD_SPEC",
        "Incorrect column specifier for column '{}'";
    PARSE_ERROR: 1 = 1064, b"42000", "ER_PARSE_ERROR",
        "You have an error in your SQL syntax; {}";
    EMPTY_QUERY: 0 = 1065, b"42000", "ER_EMPTY_QUERY",
        "Query was empty";
    NONUNIQ_TABLE: 1 = 1066, b"42000", "ER_NONUNIQ_TABLE",
        "Not unique table/alias: '{}'";
    INVALID_DEFAULT: 1 = 1067, b"42000", "ER_INVALID_DEFAULT",
        "Invalid default value for '{}'";
    MULTIPLE_PRI_KEY: 0 = 1068, b"42000", "ER_MULTIPLE_PRI_KEY",
        "Multiple primary key defined";
    TOO_MANY_KEYS: 1 = 1069, b"42000", "ER_TOO_MANY_KEYS",
        "Too many keys specified; max {} keys allowed";
    TOO_MANY_KEY_PARTS: 1 = 1070, b"42000", "ER_TOO_MANY_KEY_PARTS",
        "Too many key parts specified; max {} parts allowed";
    TOO_LONG_KEY: 1 = 1071, b"42000", "ER_TOO_LONG_KEY",
        "Specified key was too long; max key length is {} bytes";
    KEY_COLUMN_DOES_NOT_EXIST: 1 = 1072, b"42000", "ER_KEY_COLUMN_DOES_NOT_EXIST",
        "Key column '{}' doesn't exist in table";
    TOO_BIG_FIELDLENGTH: 2 = 1074, b"42000", "ER_TOO_BIG_FIELDLENGTH",
        "Column length too big for column '{}' (max = {}); use BLOB or TEXT instead";
    WRONG_AUTO_KEY: 0 = 1075, b"42000", "ER_WRONG_AUTO_KEY",
        "Incorrect table definition; there can be only one auto column and it must be defined \
         as a key";
    BINLOG_CANT_DELETE_GTID_DOMAIN: 1 = 1076, b"HY000", "ER_BINLOG_CANT_DELETE_GTID_DOMAIN",
        "The gtid domain '{}' does not fit into 32 bits";
    WRONG_FIELD_TERMINATORS: 0 = 1083, b"42000", "ER_WRONG_FIELD_TERMINATORS",
        "Field separator argument is not what is expected; check the manual";
    BLOBS_AND_NO_TERMINATED: 0 = 1084, b"42000", "ER_BLOBS_AND_NO_TERMINATED",
        "You can't use fixed rowlength with BLOBs; please use 'fields terminated by'";
    TEXTFILE_NOT_READABLE: 1 = 1085, b"HY000", "ER_TEXTFILE_NOT_READABLE",
        "The file '{128}' must be in the database directory or be readable by all";
    FILE_EXISTS_ERROR: 1 = 1086, b"HY000", "ER_FILE_EXISTS_ERROR",
        "File '{200}' already exists";
    WRONG_SUB_KEY: 0 = 1089, b"HY000", "ER_WRONG_SUB_KEY",
        "Incorrect prefix key; the used key part isn't a string, the used length is longer \
         than the key part, or the storage engine doesn't support unique prefix keys";
    CANT_REMOVE_ALL_FIELDS: 0 = 1090, b"42000", "ER_CANT_REMOVE_ALL_FIELDS",
        "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";
    CANT_DROP_FIELD_OR_KEY: 2 = 1091, b"42000", "ER_CANT_DROP_FIELD_OR_KEY",
        "Can't DROP {} {}; check that it exists";
    UPDATE_TABLE_USED: 2 = 1093, b"HY000", "ER_UPDATE_TABLE_USED",
        "Table '{}' is specified twice, both as a target for '{}' and as a separate source for data";
    NO_SUCH_THREAD: 1 = 1094, b"HY000", "ER_NO_SUCH_THREAD",
        "Unknown thread id: {}";
    KILL_DENIED_ERROR: 1 = 1095, b"HY000", "ER_KILL_DENIED_ERROR",
        "You are not owner of thread {}";
    NO_TABLES_USED: 0 = 1096, b"HY000", "ER_NO_TABLES_USED",
        "No tables used";
    TOO_BIG_SET: 1 = 1097, b"HY000", "ER_TOO_BIG_SET",
        "Too many strings for column {} and SET";
    NO_UNIQUE_LOGFILE: 1 = 1098, b"HY000", "ER_NO_UNIQUE_LOGFILE",
        "No binary log file can have the number {}";
    TABLE_NOT_LOCKED_FOR_WRITE: 1 = 1099, b"HY000", "ER_TABLE_NOT_LOCKED_FOR_WRITE",
        "Table '{}' was locked with a READ lock and can't be updated";
    TABLE_NOT_LOCKED: 1 = 1100, b"HY000", "ER_TABLE_NOT_LOCKED",
        "Table '{}' was not locked with LOCK TABLES";
    WRONG_DB_NAME: 1 = 1102, b"42000", "ER_WRONG_DB_NAME",
        "Incorrect database name '{100...}'";
    WRONG_TABLE_NAME: 1 = 1103, b"42000", "ER_WRONG_TABLE_NAME",
        "Incorrect table name '{100}'";
    UNKNOWN_ERROR: 1 = 1105, b"HY000", "ER_UNKNOWN_ERROR",
        "{}";
    UNKNOWN_PROCEDURE: 1 = 1106, b"42000", "ER_UNKNOWN_PROCEDURE",
        "Unknown procedure '{}'";
    WRONG_PARAMETERS_TO_PROCEDURE: 1 = 1108, b"HY000", "ER_WRONG_PARAMETERS_TO_PROCEDURE",
        "Incorrect parameters to procedure '{}'";
    UNKNOWN_TABLE: 2 = 1109, b"42S02", "ER_UNKNOWN_TABLE",
        "Unknown table '{}' in {32}";
    FIELD_SPECIFIED_TWICE: 1 = 1110, b"42000", "ER_FIELD_SPECIFIED_TWICE",
        "Column '{}' specified twice";
    INVALID_GROUP_FUNC_USE: 0 = 1111, b"HY000", "ER_INVALID_GROUP_FUNC_USE",
        "Invalid use of group function";
    TABLE_MUST_HAVE_COLUMNS: 0 = 1113, b"42000", "ER_TABLE_MUST_HAVE_COLUMNS",
        "A table must have at least 1 column";
    RECORD_FILE_FULL: 1 = 1114, b"HY000", "ER_RECORD_FILE_FULL",
        "The table is full ({})";
    UNKNOWN_CHARACTER_SET: 1 = 1115, b"42000", "ER_UNKNOWN_CHARACTER_SET",
        "Unknown character set: '{64}'";
    TOO_MANY_TABLES: 1 = 1116, b"HY000", "ER_TOO_MANY_TABLES",
        "Too many tables; MariaDB can only use {} tables in a join";
    TOO_MANY_FIELDS: 0 = 1117, b"HY000", "ER_TOO_MANY_FIELDS",
        "Too many columns";
    TOO_BIG_ROWSIZE: 1 = 1118, b"42000", "ER_TOO_BIG_ROWSIZE",
        "Row size too large. The maximum row size for the used table type, not counting \
         BLOBs, is {}. This includes storage overhead, check the manual. You have to change \
         some columns to TEXT or BLOBs";
    CANT_OPEN_LIBRARY: 3 = 1126, b"HY000", "ER_CANT_OPEN_LIBRARY",
        "Can't open shared library '{}' (errno: {}, {128})";
    CANT_FIND_DL_ENTRY: 1 = 1127, b"HY000", "ER_CANT_FIND_DL_ENTRY",
        "Can't find symbol '{128}' in library";
    FUNCTION_NOT_DEFINED: 1 = 1128, b"HY000", "ER_FUNCTION_NOT_DEFINED",
        "Function '{}' is not defined";
    PASSWORD_NO_MATCH: 0 = 1133, b"28000", "ER_PASSWORD_NO_MATCH",
        "Can't find any matching row in the user table";
    CANT_CREATE_THREAD: 1 = 1135, b"HY000", "ER_CANT_CREATE_THREAD",
        "Can't create a new thread ({})";
    WRONG_VALUE_COUNT_ON_ROW: 1 = 1136, b"21S01", "ER_WRONG_VALUE_COUNT_ON_ROW",
        "Column count doesn't match value count at row {}";
    CANT_REOPEN_TABLE: 1 = 1137, b"HY000", "ER_CANT_REOPEN_TABLE",
        "Can't reopen table: '{}'";
    REGEXP_ERROR: 1 = 1139, b"42000", "ER_REGEXP_ERROR",
        "Regex error '{}'";
    MIX_OF_GROUP_FUNC_AND_FIELDS: 0 = 1140, b"42000", "ER_MIX_OF_GROUP_FUNC_AND_FIELDS",
        "Mixing of GROUP columns (MIN(),MAX(),COUNT(),...) with no GROUP columns is illegal if there is no GROUP BY clause";
    NONEXISTING_GRANT: 2 = 1141, b"42000", "ER_NONEXISTING_GRANT",
        "There is no such grant defined for user '{48}' on host '{64}'";
    TABLEACCESS_DENIED_ERROR: 5 = 1142, b"42000", "ER_TABLEACCESS_DENIED_ERROR",
        "{100...} command denied to user '{}'@'{}' for table {}.{}";
    COLUMNACCESS_DENIED_ERROR: 5 = 1143, b"42000", "ER_COLUMNACCESS_DENIED_ERROR",
        "{32} command denied to user '{}'@'{}' for column '{}' in table '{}'";
    ILLEGAL_GRANT_FOR_TABLE: 0 = 1144, b"42000", "ER_ILLEGAL_GRANT_FOR_TABLE",
        "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can \
         be used";
    NO_SUCH_TABLE: 2 = 1146, b"42S02", "ER_NO_SUCH_TABLE",
        "Table '{}.{}' doesn't exist";
    NONEXISTING_TABLE_GRANT: 3 = 1147, b"42000", "ER_NONEXISTING_TABLE_GRANT",
        "There is no such grant defined for user '{48}' on host '{64}' on table '{}'";
    SYNTAX_ERROR: 0 = 1149, b"42000", "ER_SYNTAX_ERROR",
        "You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the right syntax to use";
    ABORTING_CONNECTION: 1 = 1152, b"08S01", "ER_ABORTING_CONNECTION",
        "{}";
    NET_PACKET_TOO_LARGE: 0 = 1153, b"08S01", "ER_NET_PACKET_TOO_LARGE",
        "Got a packet bigger than 'max_allowed_packet' bytes";
    NET_PACKETS_OUT_OF_ORDER: 0 = 1156, b"08S01", "ER_NET_PACKETS_OUT_OF_ORDER",
        "Got packets out of order";
    NET_READ_ERROR: 0 = 1158, b"08S01", "ER_NET_READ_ERROR",
        "Got an error reading communication packets";
    NET_ERROR_ON_WRITE: 0 = 1160, b"08S01", "ER_NET_ERROR_ON_WRITE",
        "Got an error writing communication packets";
    TABLE_CANT_HANDLE_BLOB: 1 = 1163, b"42000", "ER_TABLE_CANT_HANDLE_BLOB",
        "Storage engine {} doesn't support BLOB/TEXT columns";
    TABLE_CANT_HANDLE_AUTO_INCREMENT: 1 = 1164, b"42000", "ER_TABLE_CANT_HANDLE_AUTO_INCREMENT",
        "Storage engine {} doesn't support AUTO_INCREMENT columns";
    WRONG_COLUMN_NAME: 1 = 1166, b"42000", "ER_WRONG_COLUMN_NAME",
        "Incorrect column name '{100}'";
    WRONG_KEY_COLUMN: 2 = 1167, b"42000", "ER_WRONG_KEY_COLUMN",
        "The storage engine {} can't index column `{}`";
    WRONG_MRG_TABLE: 0 = 1168, b"HY000", "ER_WRONG_MRG_TABLE",
        "Unable to open underlying table which is differently defined or of non-MyISAM type or doesn't exist";
    BLOB_KEY_WITHOUT_LENGTH: 1 = 1170, b"42000", "ER_BLOB_KEY_WITHOUT_LENGTH",
        "BLOB/TEXT column '{}' used in key specification without a key length";
    PRIMARY_CANT_HAVE_NULL: 0 = 1171, b"42000", "ER_PRIMARY_CANT_HAVE_NULL",
        "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE \
         instead";
    TOO_MANY_ROWS: 0 = 1172, b"42000", "ER_TOO_MANY_ROWS",
        "Result consisted of more than one row";
    REQUIRES_PRIMARY_KEY: 0 = 1173, b"42000", "ER_REQUIRES_PRIMARY_KEY",
        "This table type requires a primary key";
    UPDATE_WITHOUT_KEY_IN_SAFE_MODE: 0 = 1175, b"HY000", "ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE",
        "You are using safe update mode and you tried to update a table without a WHERE that \
         uses a KEY column";
    KEY_DOES_NOT_EXISTS: 2 = 1176, b"42000", "ER_KEY_DOES_NOT_EXISTS",
        "Key '{}' doesn't exist in table '{}'";
    CHECK_NOT_IMPLEMENTED: 1 = 1178, b"42000", "ER_CHECK_NOT_IMPLEMENTED",
        "The storage engine for the table doesn't support {}";
    CANT_DO_THIS_DURING_AN_TRANSACTION: 0 = 1179, b"25000", "ER_CANT_DO_THIS_DURING_AN_TRANSACTION",
        "You are not allowed to execute this command in a transaction";
    NEW_ABORTING_CONNECTION: 1 = 1184, b"08S01", "ER_NEW_ABORTING_CONNECTION",
        "{}";
    LOCK_OR_ACTIVE_TRANSACTION: 0 = 1192, b"HY000", "ER_LOCK_OR_ACTIVE_TRANSACTION",
        "Can't execute the given command because you have active locked tables or an active \
         transaction";
    UNKNOWN_SYSTEM_VARIABLE: 1 = 1193, b"HY000", "ER_UNKNOWN_SYSTEM_VARIABLE",
        "Unknown system variable '{}'";
    CRASHED_ON_USAGE: 1 = 1194, b"HY000", "ER_CRASHED_ON_USAGE",
        "{}";
    TRANS_CACHE_FULL: 1 = 1197, b"HY000", "ER_TRANS_CACHE_FULL",
        "{}";
    SLAVE_MUST_STOP: 2 = 1198, b"HY000", "ER_SLAVE_MUST_STOP",
        "This operation cannot be performed as you have a running slave '{}'; run STOP SLAVE \
         '{}' first";
    BAD_SLAVE: 0 = 1200, b"HY000", "ER_BAD_SLAVE",
        "The server is not configured as slave; fix in config file or with CHANGE MASTER TO";
    MASTER_INFO: 2 = 1201, b"HY000", "ER_MASTER_INFO",
        "Could not initialize master info structure for '{}': {}";
    TOO_MANY_USER_CONNECTIONS: 1 = 1203, b"42000", "ER_TOO_MANY_USER_CONNECTIONS",
        "User {64} already has more than 'max_user_connections' active connections";
    SET_CONSTANTS_ONLY: 0 = 1204, b"HY000", "ER_SET_CONSTANTS_ONLY",
        "You may only use constant expressions in this statement";
    LOCK_WAIT_TIMEOUT: 0 = 1205, b"HY000", "ER_LOCK_WAIT_TIMEOUT",
        "Lock wait timeout exceeded; try restarting transaction";
    WRONG_ARGUMENTS: 1 = 1210, b"HY000", "ER_WRONG_ARGUMENTS",
        "Incorrect arguments to {}";
    LOCK_DEADLOCK: 0 = 1213, b"40001", "ER_LOCK_DEADLOCK",
        "Deadlock found when trying to get lock; try restarting transaction";
    CANNOT_ADD_FOREIGN_KEY: 1 = 1215, b"HY000", "ER_CANNOT_ADD_FOREIGN",
        "Cannot add foreign key constraint for `{}`";
    NO_REFERENCED_ROW: 1 = 1216, b"23000", "ER_NO_REFERENCED_ROW",
        "{}";
    ROW_IS_REFERENCED: 1 = 1217, b"23000", "ER_ROW_IS_REFERENCED",
        "{}";
    ERROR_WHEN_EXECUTING_COMMAND: 2 = 1220, b"HY000", "ER_ERROR_WHEN_EXECUTING_COMMAND",
        "Error when executing command {}: {128}";
    WRONG_USAGE: 2 = 1221, b"HY000", "ER_WRONG_USAGE",
        "Incorrect usage of {} and {}";
    WRONG_NUMBER_OF_COLUMNS_IN_SELECT: 0 = 1222, b"21000", "ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT",
        "The used SELECT statements have a different number of columns";
    CANT_UPDATE_WITH_READLOCK: 0 = 1223, b"HY000", "ER_CANT_UPDATE_WITH_READLOCK",
        "Can't execute the query because you have a conflicting read lock";
    DUP_ARGUMENT: 1 = 1225, b"HY000", "ER_DUP_ARGUMENT",
        "Option '{}' used twice in statement";
    USER_LIMIT_REACHED: 3 = 1226, b"42000", "ER_USER_LIMIT_REACHED",
        "User '{64}' has exceeded the '{}' resource (current value: {})";
    SPECIFIC_ACCESS_DENIED_ERROR: 1 = 1227, b"42000", "ER_SPECIFIC_ACCESS_DENIED_ERROR",
        "Access denied; you need (at least one of) the {128} privilege(s) for this operation";
    LOCAL_VARIABLE: 1 = 1228, b"HY000", "ER_LOCAL_VARIABLE",
        "Variable '{64}' is a SESSION variable and can't be used with SET GLOBAL";
    GLOBAL_VARIABLE: 1 = 1229, b"HY000", "ER_GLOBAL_VARIABLE",
        "Variable '{64}' is a GLOBAL variable and should be set with SET GLOBAL";
    NO_DEFAULT: 1 = 1230, b"42000", "ER_NO_DEFAULT",
        "Variable '{64}' doesn't have a default value";
    WRONG_VALUE_FOR_VAR: 2 = 1231, b"42000", "ER_WRONG_VALUE_FOR_VAR",
        "Variable '{64}' can't be set to the value of '{200...}'";
    WRONG_TYPE_FOR_VAR: 1 = 1232, b"42000", "ER_WRONG_TYPE_FOR_VAR",
        "Incorrect argument type to variable '{64}'";
    CANT_USE_OPTION_HERE: 1 = 1234, b"42000", "ER_CANT_USE_OPTION_HERE",
        "Incorrect usage/placement of '{}'";
    NOT_SUPPORTED_YET: 1 = 1235, b"42000", "ER_NOT_SUPPORTED_YET",
        "This version of Narwal doesn't yet support '{}'";
    MASTER_FATAL_ERROR_READING_BINLOG: 1 = 1236, b"HY000", "ER_MASTER_FATAL_ERROR_READING_BINLOG",
        "{}";
    INCORRECT_GLOBAL_LOCAL_VAR: 2 = 1238, b"HY000", "ER_INCORRECT_GLOBAL_LOCAL_VAR",
        "Variable '{}' is a {} variable";
    WRONG_FK_DEF: 2 = 1239, b"42000", "ER_WRONG_FK_DEF",
        "Incorrect foreign key definition for '{}': {}";
    OPERAND_COLUMNS: 1 = 1241, b"21000", "ER_OPERAND_COLUMNS",
        "Operand should contain {} column(s)";
    SUBQUERY_NO_1_ROW: 0 = 1242, b"21000", "ER_SUBQUERY_NO_1_ROW",
        "Subquery returns more than 1 row";
    UNKNOWN_STMT_HANDLER: 2 = 1243, b"HY000", "ER_UNKNOWN_STMT_HANDLER",
        "Unknown prepared statement handler ({}) given to {}";
    AUTO_CONVERT: 3 = 1246, b"HY000", "ER_AUTO_CONVERT",
        "Converting column '{}' from {} to {}";
    ILLEGAL_REFERENCE: 2 = 1247, b"42S22", "ER_ILLEGAL_REFERENCE",
        "Reference '{}' not supported ({})";
    DERIVED_MUST_HAVE_ALIAS: 0 = 1248, b"42000", "ER_DERIVED_MUST_HAVE_ALIAS",
        "Every derived table must have its own alias";
    TABLENAME_NOT_ALLOWED_HERE: 2 = 1250, b"42000", "ER_TABLENAME_NOT_ALLOWED_HERE",
        "Table '{}' from one of the SELECTs cannot be used in {}";
    COLLATION_CHARSET_MISMATCH: 2 = 1253, b"42000", "ER_COLLATION_CHARSET_MISMATCH",
        "COLLATION '{}' is not valid for CHARACTER SET '{}'";
    SLAVE_WAS_RUNNING: 0 = 1254, b"HY000", "ER_SLAVE_WAS_RUNNING",
        "Slave is already running";
    SLAVE_WAS_NOT_RUNNING: 1 = 1255, b"HY000", "ER_SLAVE_WAS_NOT_RUNNING",
        "{}";
    TOO_BIG_FOR_UNCOMPRESS: 1 = 1256, b"HY000", "ER_TOO_BIG_FOR_UNCOMPRESS",
        "{}";
    ZLIB_Z_BUF_ERROR: 1 = 1258, b"HY000", "ER_ZLIB_Z_BUF_ERROR",
        "{}";
    ZLIB_Z_DATA_ERROR: 1 = 1259, b"HY000", "ER_ZLIB_Z_DATA_ERROR",
        "ZLIB: {}";
    CUT_VALUE_GROUP_CONCAT: 1 = 1260, b"HY000", "ER_CUT_VALUE_GROUP_CONCAT",
        "{}";
    WARN_TOO_FEW_RECORDS: 1 = 1261, b"01000", "ER_WARN_TOO_FEW_RECORDS",
        "Row {} doesn't contain data for all columns";
    WARN_TOO_MANY_RECORDS: 1 = 1262, b"01000", "ER_WARN_TOO_MANY_RECORDS",
        "Row {} was truncated; it contained more data than there were input columns";
    WARN_NULL_TO_NOTNULL: 2 = 1263, b"22004", "ER_WARN_NULL_TO_NOTNULL",
        "Column set to default value; NULL supplied to NOT NULL column '{}' at row {}";
    WARN_DATA_OUT_OF_RANGE: 2 = 1264, b"22003", "ER_WARN_DATA_OUT_OF_RANGE",
        "Out of range value for column '{}' at row {}";
    WARN_DATA_TRUNCATED: 2 = 1265, b"01000", "WARN_DATA_TRUNCATED",
        "Data truncated for column '{}' at row {}";
    WARN_USING_OTHER_HANDLER: 1 = 1266, b"HY000", "ER_WARN_USING_OTHER_HANDLER",
        "{}";
    CANT_AGGREGATE_2COLLATIONS: 3 = 1267, b"HY000", "ER_CANT_AGGREGATE_2COLLATIONS",
        "Illegal mix of collations ({}) and ({}) for operation '{}'";
    REVOKE_GRANTS: 0 = 1269, b"HY000", "ER_REVOKE_GRANTS",
        "Can't revoke all privileges for one or more of the requested users";
    CANT_AGGREGATE_3COLLATIONS: 1 = 1270, b"HY000", "ER_CANT_AGGREGATE_3COLLATIONS",
        "{}";
    CANT_AGGREGATE_NCOLLATIONS: 1 = 1271, b"HY000", "ER_CANT_AGGREGATE_NCOLLATIONS",
        "Illegal mix of collations for operation '{}'";
    VARIABLE_IS_NOT_STRUCT: 1 = 1272, b"HY000", "ER_VARIABLE_IS_NOT_STRUCT",
        "Variable '{64}' is not a variable component (can't be used as XXXX.variable_name)";
    UNKNOWN_COLLATION: 1 = 1273, b"HY000", "ER_UNKNOWN_COLLATION",
        "Unknown collation: '{64}'";
    SERVER_IS_IN_SECURE_AUTH_MODE: 2 = 1275, b"HY000", "ER_SERVER_IS_IN_SECURE_AUTH_MODE",
        "Server is running in --secure-auth mode, but '{}'@'{}' has a password in the old format; please change the password to the new format";
    BAD_SLAVE_UNTIL_COND: 0 = 1277, b"HY000", "ER_BAD_SLAVE_UNTIL_COND",
        "Incorrect parameter or combination of parameters for START SLAVE UNTIL";
    MISSING_SKIP_SLAVE: 1 = 1278, b"HY000", "ER_MISSING_SKIP_SLAVE",
        "{}";
    WRONG_NAME_FOR_INDEX: 1 = 1280, b"42000", "ER_WRONG_NAME_FOR_INDEX",
        "Incorrect index name '{100}'";
    UNKNOWN_KEY_CACHE: 1 = 1284, b"HY000", "ER_UNKNOWN_KEY_CACHE",
        "Unknown key cache '{100}'";
    UNKNOWN_STORAGE_ENGINE: 1 = 1286, b"42000", "ER_UNKNOWN_STORAGE_ENGINE",
        "Unknown storage engine '{}'";
    WARN_DEPRECATED_SYNTAX: 1 = 1287, b"HY000", "ER_WARN_DEPRECATED_SYNTAX",
        "'{}' is deprecated and will be removed in a future release";
    NON_UPDATABLE_TABLE: 2 = 1288, b"HY000", "ER_NON_UPDATABLE_TABLE",
        "The target table {100} of the {} is not updatable";
    OPTION_PREVENTS_STATEMENT: 1 = 1290, b"HY000", "ER_OPTION_PREVENTS_STATEMENT",
        "The MariaDB server is running with the {} option so it cannot execute this statement";
    DUPLICATED_VALUE_IN_TYPE: 1 = 1291, b"HY000", "ER_DUPLICATED_VALUE_IN_TYPE",
        "{}";
    TRUNCATED_WRONG_VALUE: 2 = 1292, b"22007", "ER_TRUNCATED_WRONG_VALUE",
        "Truncated incorrect {32...} value: '{128...}'";
    INVALID_ON_UPDATE: 1 = 1294, b"HY000", "ER_INVALID_ON_UPDATE",
        "Invalid ON UPDATE clause for '{}' column";
    UNSUPPORTED_PS: 0 = 1295, b"HY000", "ER_UNSUPPORTED_PS",
        "This command is not supported in the prepared statement protocol yet";
    GET_ERRMSG: 3 = 1296, b"HY000", "ER_GET_ERRMSG",
        "Got error {} '{}' from {}";
    UNKNOWN_TIME_ZONE: 1 = 1298, b"HY000", "ER_UNKNOWN_TIME_ZONE",
        "Unknown or incorrect time zone: '{64}'";
    WARN_INVALID_TIMESTAMP: 1 = 1299, b"HY000", "ER_WARN_INVALID_TIMESTAMP",
        "{}";
    INVALID_CHARACTER_STRING: 2 = 1300, b"HY000", "ER_INVALID_CHARACTER_STRING",
        "Invalid {} character string: '{64...}'";
    WARN_ALLOWED_PACKET_OVERFLOWED: 2 = 1301, b"HY000", "ER_WARN_ALLOWED_PACKET_OVERFLOWED",
        "Result of {}() was larger than max_allowed_packet ({}) - truncated";
    CONFLICTING_DECLARATIONS: 4 = 1302, b"HY000", "ER_CONFLICTING_DECLARATIONS",
        "Conflicting declarations: '{}{}' and '{}{}'";
    SP_NO_RECURSIVE_CREATE: 1 = 1303, b"2F003", "ER_SP_NO_RECURSIVE_CREATE",
        "Can't create a {} from within another stored routine";
    SP_ALREADY_EXISTS: 2 = 1304, b"42000", "ER_SP_ALREADY_EXISTS",
        "{} {} already exists";
    SP_DOES_NOT_EXIST: 2 = 1305, b"42000", "ER_SP_DOES_NOT_EXIST",
        "{} {} does not exist";
    SP_LILABEL_MISMATCH: 2 = 1308, b"42000", "ER_SP_LILABEL_MISMATCH",
        "{} with no matching label: {}";
    SP_LABEL_REDEFINE: 1 = 1309, b"42000", "ER_SP_LABEL_REDEFINE",
        "Redefining label {}";
    SP_LABEL_MISMATCH: 1 = 1310, b"42000", "ER_SP_LABEL_MISMATCH",
        "End-label {} without match";
    SP_BADSELECT: 1 = 1312, b"0A000", "ER_SP_BADSELECT",
        "PROCEDURE {} can't return a result set in the given context";
    SP_BADRETURN: 0 = 1313, b"42000", "ER_SP_BADRETURN",
        "RETURN is only allowed in a FUNCTION";
    SP_BADSTATEMENT: 1 = 1314, b"0A000", "ER_SP_BADSTATEMENT",
        "{} is not allowed in stored procedures";
    QUERY_INTERRUPTED: 0 = 1317, b"70100", "ER_QUERY_INTERRUPTED",
        "Query execution was interrupted";
    SP_WRONG_NO_OF_ARGS: 4 = 1318, b"42000", "ER_SP_WRONG_NO_OF_ARGS",
        "Incorrect number of arguments for {} {}; expected {}, got {}";
    SP_COND_MISMATCH: 1 = 1319, b"42000", "ER_SP_COND_MISMATCH",
        "Undefined CONDITION: {}";
    SP_NORETURN: 1 = 1320, b"42000", "ER_SP_NORETURN",
        "No RETURN found in FUNCTION {}";
    SP_NORETURNEND: 1 = 1321, b"2F005", "ER_SP_NORETURNEND",
        "FUNCTION {} ended without RETURN";
    SP_BAD_CURSOR_SELECT: 0 = 1323, b"42000", "ER_SP_BAD_CURSOR_SELECT",
        "Cursor SELECT must not have INTO";
    SP_CURSOR_MISMATCH: 1 = 1324, b"42000", "ER_SP_CURSOR_MISMATCH",
        "Undefined CURSOR: {}";
    SP_CURSOR_ALREADY_OPEN: 0 = 1325, b"24000", "ER_SP_CURSOR_ALREADY_OPEN",
        "Cursor is already open";
    SP_CURSOR_NOT_OPEN: 0 = 1326, b"24000", "ER_SP_CURSOR_NOT_OPEN",
        "Cursor is not open";
    SP_UNDECLARED_VAR: 1 = 1327, b"42000", "ER_SP_UNDECLARED_VAR",
        "Undeclared variable: {}";
    SP_WRONG_NO_OF_FETCH_ARGS: 0 = 1328, b"HY000", "ER_SP_WRONG_NO_OF_FETCH_ARGS",
        "Incorrect number of FETCH variables";
    SP_FETCH_NO_DATA: 1 = 1329, b"02000", "ER_SP_FETCH_NO_DATA",
        "{}";
    SP_DUP_PARAM: 1 = 1330, b"42000", "ER_SP_DUP_PARAM",
        "Duplicate parameter: {}";
    SP_DUP_VAR: 1 = 1331, b"42000", "ER_SP_DUP_VAR",
        "Duplicate variable: {}";
    SP_DUP_COND: 1 = 1332, b"42000", "ER_SP_DUP_COND",
        "Duplicate condition: {}";
    SP_DUP_CURS: 1 = 1333, b"42000", "ER_SP_DUP_CURS",
        "Duplicate cursor: {}";
    STMT_NOT_ALLOWED_IN_SF_OR_TRG: 1 = 1336, b"0A000", "ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG",
        "{} is not allowed in stored function or trigger";
    SP_VARCOND_AFTER_CURSHNDLR: 0 = 1337, b"42000", "ER_SP_VARCOND_AFTER_CURSHNDLR",
        "Variable or condition declaration after cursor or handler declaration";
    SP_CURSOR_AFTER_HANDLER: 0 = 1338, b"42000", "ER_SP_CURSOR_AFTER_HANDLER",
        "Cursor declaration after handler declaration";
    SP_CASE_NOT_FOUND: 0 = 1339, b"20000", "ER_SP_CASE_NOT_FOUND",
        "Case not found for CASE statement";
    VIEW_NO_EXPLAIN: 0 = 1345, b"HY000", "ER_VIEW_NO_EXPLAIN",
        "ANALYZE/EXPLAIN/SHOW can not be issued; lacking privileges for underlying table";
    WRONG_OBJECT: 3 = 1347, b"HY000", "ER_WRONG_OBJECT",
        "'{}.{}' is not of type '{}'";
    NONUPDATEABLE_COLUMN: 1 = 1348, b"HY000", "ER_NONUPDATEABLE_COLUMN",
        "Column '{}' is not updatable";
    VIEW_SELECT_CLAUSE: 1 = 1350, b"HY000", "ER_VIEW_SELECT_CLAUSE",
        "View's SELECT contains a '{}' clause";
    VIEW_SELECT_VARIABLE: 0 = 1351, b"HY000", "ER_VIEW_SELECT_VARIABLE",
        "View's SELECT contains a variable or parameter";
    VIEW_SELECT_TMPTABLE: 1 = 1352, b"HY000", "ER_VIEW_SELECT_TMPTABLE",
        "View's SELECT refers to a temporary table '{}'";
    VIEW_WRONG_LIST: 0 = 1353, b"HY000", "ER_VIEW_WRONG_LIST",
        "View's SELECT and view's field list have different column counts";
    WARN_VIEW_MERGE: 1 = 1354, b"HY000", "ER_WARN_VIEW_MERGE",
        "{}";
    WARN_VIEW_WITHOUT_KEY: 0 = 1355, b"HY000", "ER_WARN_VIEW_WITHOUT_KEY",
        "View being updated does not have complete key of underlying table in it";
    VIEW_INVALID: 2 = 1356, b"HY000", "ER_VIEW_INVALID",
        "View '{}.{}' references invalid table(s) or column(s) or function(s) or \
         definer/invoker of view lack rights to use them";
    SP_NO_DROP_SP: 1 = 1357, b"HY000", "ER_SP_NO_DROP_SP",
        "Can't drop or alter a {} from within another stored routine";
    TRG_ALREADY_EXISTS: 1 = 1359, b"HY000", "ER_TRG_ALREADY_EXISTS",
        "Trigger '{}' already exists";
    TRG_DOES_NOT_EXIST: 0 = 1360, b"HY000", "ER_TRG_DOES_NOT_EXIST",
        "Trigger does not exist";
    TRG_ON_VIEW_OR_TEMP_TABLE: 1 = 1361, b"HY000", "ER_TRG_ON_VIEW_OR_TEMP_TABLE",
        "Trigger's '{}' is a view, temporary table or sequence";
    TRG_CANT_CHANGE_ROW: 2 = 1362, b"HY000", "ER_TRG_CANT_CHANGE_ROW",
        "Updating of {} row is not allowed in {}trigger";
    TRG_NO_SUCH_ROW_IN_TRG: 2 = 1363, b"HY000", "ER_TRG_NO_SUCH_ROW_IN_TRG",
        "There is no {} row in {} trigger";
    NO_DEFAULT_FOR_FIELD: 1 = 1364, b"HY000", "ER_NO_DEFAULT_FOR_FIELD",
        "Field '{}' doesn't have a default value";
    DIVISION_BY_ZERO: 0 = 1365, b"22012", "ER_DIVISION_BY_ZERO",
        "Division by 0";
    TRUNCATED_WRONG_VALUE_FOR_FIELD: 6 = 1366, b"22007", "ER_TRUNCATED_WRONG_VALUE_FOR_FIELD",
        "Incorrect {32} value: '{128...}' for column `{}`.`{}`.`{}` at row {}";
    ILLEGAL_VALUE_FOR_TYPE: 2 = 1367, b"22007", "ER_ILLEGAL_VALUE_FOR_TYPE",
        "Illegal {} '{192...}' value found during parsing";
    VIEW_NONUPD_CHECK: 1 = 1368, b"HY000", "ER_VIEW_NONUPD_CHECK",
        "CHECK OPTION on non-updatable view {}";
    VIEW_CHECK_FAILED: 2 = 1369, b"44000", "ER_VIEW_CHECK_FAILED",
        "CHECK OPTION failed `{}`.`{}`";
    PROCACCESS_DENIED_ERROR: 4 = 1370, b"42000", "ER_PROCACCESS_DENIED_ERROR",
        "{32} command denied to user '{}'@'{}' for routine '{}'";
    PASSWD_LENGTH: 1 = 1372, b"HY000", "ER_PASSWD_LENGTH",
        "Password hash should be a {}-digit hexadecimal number";
    UNKNOWN_TARGET_BINLOG: 0 = 1373, b"HY000", "ER_UNKNOWN_TARGET_BINLOG",
        "Target log not found in binlog index";
    PS_MANY_PARAM: 0 = 1390, b"HY000", "ER_PS_MANY_PARAM",
        "Prepared statement contains too many placeholders";
    KEY_PART_0: 1 = 1391, b"HY000", "ER_KEY_PART_0",
        "Key part '{}' length cannot be 0";
    VIEW_MULTIUPDATE: 2 = 1393, b"HY000", "ER_VIEW_MULTIUPDATE",
        "Can not modify more than one base table through a join view '{}.{}'";
    VIEW_NO_INSERT_FIELD_LIST: 2 = 1394, b"HY000", "ER_VIEW_NO_INSERT_FIELD_LIST",
        "Can not insert into join view '{}.{}' without fields list";
    VIEW_DELETE_MERGE_VIEW: 2 = 1395, b"HY000", "ER_VIEW_DELETE_MERGE_VIEW",
        "Can not delete from join view '{}.{}'";
    CANNOT_USER: 2 = 1396, b"HY000", "ER_CANNOT_USER",
        "Operation {} failed for {256}";
    XAER_NOTA: 1 = 1397, b"XAE04", "ER_XAER_NOTA",
        "XAER_NOTA: {}";
    XAER_INVAL: 0 = 1398, b"XAE05", "ER_XAER_INVAL",
        "XAER_INVAL: Invalid arguments (or unsupported command)";
    XAER_RMFAIL: 1 = 1399, b"XAE07", "ER_XAER_RMFAIL",
        "XAER_RMFAIL: The command cannot be executed when global transaction is in the  {} \
         state";
    XAER_OUTSIDE: 0 = 1400, b"XAE09", "ER_XAER_OUTSIDE",
        "XAER_OUTSIDE: Some work is done outside global transaction";
    XAER_RMERR: 0 = 1401, b"XAE03", "ER_XAER_RMERR",
        "XAER_RMERR: Fatal error occurred in the transaction branch - check your data for \
         consistency";
    XA_RBROLLBACK: 0 = 1402, b"XA100", "ER_XA_RBROLLBACK",
        "XA_RBROLLBACK: Transaction branch was rolled back";
    NONEXISTING_PROC_GRANT: 3 = 1403, b"42000", "ER_NONEXISTING_PROC_GRANT",
        "There is no such grant defined for user '{48}' on host '{64}' on routine '{}'";
    DATA_TOO_LONG: 2 = 1406, b"22001", "ER_DATA_TOO_LONG",
        "Data too long for column '{}' at row {}";
    SP_BAD_SQLSTATE: 1 = 1407, b"42000", "ER_SP_BAD_SQLSTATE",
        "Bad SQLSTATE: '{}'";
    LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR: 0 = 1409, b"HY000", "ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR",
        "Can't load value from file with fixed size rows to variable";
    CANT_CREATE_USER_WITH_GRANT: 0 = 1410, b"42000", "ER_CANT_CREATE_USER_WITH_GRANT",
        "You are not allowed to create a user with GRANT";
    WRONG_VALUE_FOR_TYPE: 3 = 1411, b"HY000", "ER_WRONG_VALUE_FOR_TYPE",
        "Incorrect {32} value: '{127}' for function {32}";
    TABLE_DEF_CHANGED: 0 = 1412, b"HY000", "ER_TABLE_DEF_CHANGED",
        "Table definition has changed, please retry transaction";
    SP_DUP_HANDLER: 0 = 1413, b"42000", "ER_SP_DUP_HANDLER",
        "Duplicate handler declared in the same block";
    SP_NOT_VAR_ARG: 2 = 1414, b"42000", "ER_SP_NOT_VAR_ARG",
        "OUT or INOUT argument {} for routine {} is not a variable or NEW pseudo-variable in BEFORE trigger";
    SP_NO_RETSET: 1 = 1415, b"0A000", "ER_SP_NO_RETSET",
        "Not allowed to return a result set from a {}";
    STMT_HAS_NO_OPEN_CURSOR: 1 = 1421, b"HY000", "ER_STMT_HAS_NO_OPEN_CURSOR",
        "The statement ({}) has no open cursor";
    COMMIT_NOT_ALLOWED_IN_SF_OR_TRG: 0 = 1422, b"HY000", "ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG",
        "Explicit or implicit commit is not allowed in stored function or trigger";
    NO_DEFAULT_FOR_VIEW_FIELD: 2 = 1423, b"HY000", "ER_NO_DEFAULT_FOR_VIEW_FIELD",
        "Field of view '{}.{}' underlying table doesn't have a default value";
    SP_NO_RECURSION: 0 = 1424, b"HY000", "ER_SP_NO_RECURSION",
        "Recursive stored functions and triggers are not allowed";
    TOO_BIG_SCALE: 2 = 1425, b"42000", "ER_TOO_BIG_SCALE",
        "Too big scale specified for '{}'. Maximum is {}";
    TOO_BIG_PRECISION: 2 = 1426, b"42000", "ER_TOO_BIG_PRECISION",
        "Too big precision specified for '{}'. Maximum is {}";
    M_BIGGER_THAN_D: 1 = 1427, b"42000", "ER_M_BIGGER_THAN_D",
        "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{}')";
    WRONG_LOCK_OF_SYSTEM_TABLE: 0 = 1428, b"HY000", "ER_WRONG_LOCK_OF_SYSTEM_TABLE",
        "You can't combine write-locking of system tables with other tables or lock types";
    CANT_CREATE_FEDERATED_TABLE: 1 = 1434, b"HY000", "ER_CANT_CREATE_FEDERATED_TABLE",
        "Can't create federated table. Foreign data src error:  {}";
    TRG_IN_WRONG_SCHEMA: 0 = 1435, b"HY000", "ER_TRG_IN_WRONG_SCHEMA",
        "Trigger in wrong schema";
    STACK_OVERRUN_NEED_MORE: 1 = 1436, b"HY000", "ER_STACK_OVERRUN_NEED_MORE",
        "Thread stack overrun: {}";
    CANT_DROP_DEFAULT_KEYCACHE: 0 = 1438, b"HY000", "ER_WARN_CANT_DROP_DEFAULT_KEYCACHE",
        "Cannot drop default keycache";
    TOO_BIG_DISPLAYWIDTH: 2 = 1439, b"42000", "ER_TOO_BIG_DISPLAYWIDTH",
        "Display width out of range for '{}' (max = {})";
    XAER_DUPID: 0 = 1440, b"XAE08", "ER_XAER_DUPID",
        "XAER_DUPID: The XID already exists";
    DATETIME_FUNCTION_OVERFLOW: 1 = 1441, b"22008", "ER_DATETIME_FUNCTION_OVERFLOW",
        "Datetime function: {32} field overflow";
    CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG: 1 = 1442, b"HY000", "ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG",
        "Can't update table '{}' in stored function/trigger because it is already used by statement which invoked this stored function/trigger";
    VIEW_PREVENT_UPDATE: 3 = 1443, b"HY000", "ER_VIEW_PREVENT_UPDATE",
        "The definition of table '{}' prevents operation {} on table '{}'";
    PS_NO_RECURSION: 0 = 1444, b"HY000", "ER_PS_NO_RECURSION",
        "The prepared statement contains a stored routine call that refers to that same statement. It's not allowed to execute a prepared statement in such a recursive manner";
    SP_CANT_SET_AUTOCOMMIT: 0 = 1445, b"HY000", "ER_SP_CANT_SET_AUTOCOMMIT",
        "Not allowed to set autocommit from a stored function or trigger";
    MALFORMED_DEFINER: 0 = 1446, b"0L000", "ER_MALFORMED_DEFINER",
        "Invalid definer";
    NO_SUCH_USER: 2 = 1449, b"HY000", "ER_NO_SUCH_USER",
        "The user specified as a definer ('{64}'@'{64}') does not exist";
    FORBID_SCHEMA_CHANGE: 2 = 1450, b"HY000", "ER_FORBID_SCHEMA_CHANGE",
        "Changing schema from '{}' to '{}' is not allowed";
    ROW_IS_REFERENCED_2: 1 = 1451, b"23000", "ER_ROW_IS_REFERENCED_2",
        "Cannot delete or update a parent row: a foreign key constraint fails ({})";
    NO_REFERENCED_ROW_2: 1 = 1452, b"23000", "ER_NO_REFERENCED_ROW_2",
        "Cannot add or update a child row: a foreign key constraint fails ({})";
    SP_BAD_VAR_SHADOW: 1 = 1453, b"42000", "ER_SP_BAD_VAR_SHADOW",
        "Variable '{}' must be quoted with `...`, or renamed";
    SP_RECURSION_LIMIT: 2 = 1456, b"HY000", "ER_SP_RECURSION_LIMIT",
        "Recursive limit {} (as set by the max_sp_recursion_depth variable) was exceeded for routine {}";
    SP_PROC_TABLE_CORRUPT: 2 = 1457, b"HY000", "ER_SP_PROC_TABLE_CORRUPT",
        "Failed to load routine {} (internal code {}). For more details, run SHOW WARNINGS";
    SP_WRONG_NAME: 1 = 1458, b"42000", "ER_SP_WRONG_NAME",
        "Incorrect routine name '{}'";
    MAX_PREPARED_STMT_COUNT_REACHED: 1 = 1461, b"42000", "ER_MAX_PREPARED_STMT_COUNT_REACHED",
        "Can't create more than max_prepared_stmt_count statements (current value: {})";
    VIEW_RECURSIVE: 2 = 1462, b"HY000", "ER_VIEW_RECURSIVE",
        "`{}`.`{}` contains view recursion";
    NO_TRIGGERS_ON_SYSTEM_SCHEMA: 0 = 1465, b"HY000", "ER_NO_TRIGGERS_ON_SYSTEM_SCHEMA",
        "Triggers can not be created on system tables";
    REMOVED_SPACES: 1 = 1466, b"HY000", "ER_REMOVED_SPACES",
        "Leading spaces are removed from name '{}'";
    AUTOINC_READ_FAILED: 0 = 1467, b"HY000", "ER_AUTOINC_READ_FAILED",
        "Failed to read auto-increment value from storage engine";
    WRONG_STRING_LENGTH: 3 = 1470, b"HY000", "ER_WRONG_STRING_LENGTH",
        "String '{70...}' is too long for {} (should be no longer than {})";
    NON_INSERTABLE_TABLE: 2 = 1471, b"HY000", "ER_NON_INSERTABLE_TABLE",
        "The target table {100} of the {} is not insertable-into";
    ADMIN_WRONG_MRG_TABLE: 1 = 1472, b"HY000", "ER_ADMIN_WRONG_MRG_TABLE",
        "Table '{}' is differently defined or of non-MyISAM type or doesn't exist";
    TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT: 1 = 1473, b"HY000", "ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT",
        "Too high level of nesting for select; at most {} are possible";
    NAME_BECOMES_EMPTY: 1 = 1474, b"HY000", "ER_NAME_BECOMES_EMPTY",
        "Name '{}' has become ''";
    FOREIGN_SERVER_EXISTS: 1 = 1476, b"HY000", "ER_FOREIGN_SERVER_EXISTS",
        "Cannot create foreign server '{}' as it already exists";
    FOREIGN_SERVER_DOESNT_EXIST: 1 = 1477, b"HY000", "ER_FOREIGN_SERVER_DOESNT_EXIST",
        "The foreign server name you are trying to reference does not exist. Data source error:  {}";
    ILLEGAL_HA_CREATE_OPTION: 2 = 1478, b"HY000", "ER_ILLEGAL_HA_CREATE_OPTION",
        "Table storage engine '{64}' does not support the create option '{64}'";
    NOT_CONSTANT_EXPRESSION: 1 = 1487, b"HY000", "ER_NOT_CONSTANT_EXPRESSION",
        "Expression in {} must be constant";
    PLUGIN_IS_NOT_LOADED: 1 = 1524, b"HY000", "ER_PLUGIN_IS_NOT_LOADED",
        "Plugin '{}' is not loaded";
    WRONG_VALUE: 2 = 1525, b"HY000", "ER_WRONG_VALUE",
        "Incorrect {32} value: '{128...}'";
    NO_PARTITION_FOR_GIVEN_VALUE: 1 = 1526, b"HY000", "ER_NO_PARTITION_FOR_GIVEN_VALUE",
        "{}";
    BINLOG_ROW_WRONG_TABLE_DEF: 1 = 1535, b"HY000", "ER_BINLOG_ROW_WRONG_TABLE_DEF",
        "{}";
    EVENT_ALREADY_EXISTS: 1 = 1537, b"HY000", "ER_EVENT_ALREADY_EXISTS",
        "Event '{}' already exists";
    EVENT_DOES_NOT_EXIST: 1 = 1539, b"HY000", "ER_EVENT_DOES_NOT_EXIST",
        "Unknown event '{}'";
    EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG: 0 = 1542, b"HY000", "ER_EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG",
        "INTERVAL is either not positive or too big";
    EVENT_ENDS_BEFORE_STARTS: 0 = 1543, b"HY000", "ER_EVENT_ENDS_BEFORE_STARTS",
        "ENDS is either invalid or before STARTS";
    EVENT_EXEC_TIME_IN_THE_PAST: 0 = 1544, b"HY000", "ER_EVENT_EXEC_TIME_IN_THE_PAST",
        "Event execution time is in the past. Event has been disabled";
    EVENT_OPEN_TABLE_FAILED: 0 = 1545, b"HY000", "ER_EVENT_OPEN_TABLE_FAILED",
        "Failed to open mysql.event";
    EVENT_SAME_NAME: 0 = 1551, b"HY000", "ER_EVENT_SAME_NAME",
        "Same old and new event name";
    DROP_INDEX_FK: 1 = 1553, b"HY000", "ER_DROP_INDEX_FK",
        "Cannot drop index '{}': needed in a foreign key constraint";
    STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_FORMAT: 0 = 1560, b"HY000", "ER_STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_FORMAT",
        "Cannot change the binary logging format inside a stored function or trigger";
    CANT_CHANGE_TX_CHARACTERISTICS: 0 = 1568, b"25001", "ER_CANT_CHANGE_TX_CHARACTERISTICS",
        "Transaction characteristics can't be changed while a transaction is in progress";
    BASE64_DECODE_ERROR: 0 = 1575, b"HY000", "ER_BASE64_DECODE_ERROR",
        "Decoding of base64 string failed";
    EVENT_RECURSION_FORBIDDEN: 0 = 1576, b"HY000", "ER_EVENT_RECURSION_FORBIDDEN",
        "Recursion of EVENT DDL statements is forbidden when body is present";
    WRONG_PARAMCOUNT_TO_NATIVE_FCT: 1 = 1582, b"42000", "ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT",
        "Incorrect parameter count in the call to native function '{}'";
    WRONG_PARAMETERS_TO_NATIVE_FCT: 1 = 1583, b"42000", "ER_WRONG_PARAMETERS_TO_NATIVE_FCT",
        "{}";
    WRONG_PARAMETERS_TO_STORED_FCT: 1 = 1584, b"42000", "ER_WRONG_PARAMETERS_TO_STORED_FCT",
        "Incorrect parameters in the call to stored function '{}'";
    EVENT_CANNOT_CREATE_IN_THE_PAST: 0 = 1588, b"HY000", "ER_EVENT_CANNOT_CREATE_IN_THE_PAST",
        "Event execution time is in the past and ON COMPLETION NOT PRESERVE is set. The event was dropped immediately after creation";
    EVENT_CANNOT_ALTER_IN_THE_PAST: 0 = 1589, b"HY000", "ER_EVENT_CANNOT_ALTER_IN_THE_PAST",
        "Event execution time is in the past and ON COMPLETION NOT PRESERVE is set. The event was not changed. Specify a time in the future";
    SLAVE_INCIDENT: 1 = 1590, b"HY000", "ER_SLAVE_INCIDENT",
        "{}";
    SLAVE_FATAL_ERROR: 1 = 1593, b"HY000", "ER_SLAVE_FATAL_ERROR",
        "{}";
    SLAVE_RELAY_LOG_WRITE_FAILURE: 1 = 1595, b"HY000", "ER_SLAVE_RELAY_LOG_WRITE_FAILURE",
        "{}";
    SLAVE_MASTER_COM_FAILURE: 1 = 1597, b"HY000", "ER_SLAVE_MASTER_COM_FAILURE",
        "{}";
    BINLOG_LOGGING_IMPOSSIBLE: 1 = 1598, b"HY000", "ER_BINLOG_LOGGING_IMPOSSIBLE",
        "Writing to the log is impossible since it failed: {}. Restart the server";
    NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT: 1 = 1609, b"HY000", "ER_NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT",
        "The BINLOG statement of type {} was not preceded by a format description BINLOG statement";
    SLAVE_CORRUPT_EVENT: 1 = 1610, b"HY000", "ER_SLAVE_CORRUPT_EVENT",
        "{}";
    XA_RBDEADLOCK: 0 = 1614, b"XA102", "ER_XA_RBDEADLOCK",
        "XA_RBDEADLOCK: Transaction branch was rolled back: deadlock was detected";
    DELAYED_NOT_SUPPORTED: 1 = 1616, b"HY000", "ER_DELAYED_NOT_SUPPORTED",
        "DELAYED option not supported for table '{}'";
    WARN_NO_MASTER_INFO: 1 = 1617, b"HY000", "WARN_NO_MASTER_INFO",
        "There is no master connection '{}'";
    WARN_OPTION_IGNORED: 1 = 1618, b"HY000", "WARN_OPTION_IGNORED",
        "<{64}> option ignored";
    VARIABLE_IS_READONLY: 3 = 1621, b"HY000", "ER_VARIABLE_IS_READONLY",
        "{} variable '{}' is read-only. Use SET {} to assign the value";
    SLAVE_HEARTBEAT_FAILURE: 1 = 1623, b"HY000", "ER_SLAVE_HEARTBEAT_FAILURE",
        "{}";
    SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE: 1 = 1624, b"HY000", "ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE",
        "The requested value for the heartbeat period is either negative or exceeds the \
         maximum allowed ({} seconds)";
    TOO_LONG_TABLE_COMMENT: 2 = 1628, b"HY000", "ER_TOO_LONG_TABLE_COMMENT",
        "Comment for table '{}' is too long (max = {})";
    TOO_LONG_FIELD_COMMENT: 2 = 1629, b"HY000", "ER_TOO_LONG_FIELD_COMMENT",
        "Comment for field '{}' is too long (max = {})";
    FUNC_INEXISTENT_NAME_COLLISION: 1 = 1630, b"42000", "ER_FUNC_INEXISTENT_NAME_COLLISION",
        "FUNCTION {} does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference Manual";
    DUP_SIGNAL_SET: 1 = 1641, b"42000", "ER_DUP_SIGNAL_SET",
        "Duplicate condition information item '{}'";
    SIGNAL_WARN: 0 = 1642, b"01000", "ER_SIGNAL_WARN",
        "Unhandled user-defined warning condition";
    SIGNAL_NOT_FOUND: 0 = 1643, b"02000", "ER_SIGNAL_NOT_FOUND",
        "Unhandled user-defined not found condition";
    SIGNAL_EXCEPTION: 0 = 1644, b"45000", "ER_SIGNAL_EXCEPTION",
        "Unhandled user-defined exception condition";
    RESIGNAL_WITHOUT_ACTIVE_HANDLER: 0 = 1645, b"0K000", "ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER",
        "RESIGNAL when handler not active";
    SIGNAL_BAD_CONDITION_TYPE: 0 = 1646, b"HY000", "ER_SIGNAL_BAD_CONDITION_TYPE",
        "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE";
    WARN_COND_ITEM_TRUNCATED: 1 = 1647, b"HY000", "WARN_COND_ITEM_TRUNCATED",
        "Data truncated for condition item '{}'";
    COND_ITEM_TOO_LONG: 1 = 1648, b"HY000", "ER_COND_ITEM_TOO_LONG",
        "Data too long for condition item '{}'";
    UNKNOWN_LOCALE: 1 = 1649, b"HY000", "ER_UNKNOWN_LOCALE",
        "{}";
    SLAVE_CONVERSION_FAILED: 8 = 1677, b"HY000", "ER_SLAVE_CONVERSION_FAILED",
        "Column {} ('{}') of table '{}.{}' cannot be converted from type '{}'{} to type '{}'{}";
    INSIDE_TRANSACTION_PREVENTS_SWITCH_BINLOG_FORMAT: 0 = 1679, b"HY000", "ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_BINLOG_FORMAT",
        "Cannot modify @@session.binlog_format inside a transaction";
    WRONG_PERFSCHEMA_USAGE: 0 = 1683, b"HY000", "ER_WRONG_PERFSCHEMA_USAGE",
        "Invalid performance_schema usage";
    STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_DIRECT: 0 = 1686, b"HY000", "ER_STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_DIRECT",
        "Cannot change the binlog direct flag inside a stored function or trigger";
    TOO_LONG_INDEX_COMMENT: 2 = 1688, b"HY000", "ER_TOO_LONG_INDEX_COMMENT",
        "Comment for index '{}' is too long (max = {})";
    DATA_OUT_OF_RANGE: 2 = 1690, b"22003", "ER_DATA_OUT_OF_RANGE",
        "{} value is out of range in '{}'";
    WRONG_SPVAR_TYPE_IN_LIMIT: 0 = 1691, b"HY000", "ER_WRONG_SPVAR_TYPE_IN_LIMIT",
        "A variable of a non-integer based type in LIMIT clause";
    INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN: 0 = 1694, b"HY000", "ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN",
        "Cannot modify @@session.sql_log_bin inside a transaction";
    STORED_FUNCTION_PREVENTS_SWITCH_SQL_LOG_BIN: 0 = 1695, b"HY000", "ER_STORED_FUNCTION_PREVENTS_SWITCH_SQL_LOG_BIN",
        "Cannot change the sql_log_bin inside a stored function or trigger";
    ACCESS_DENIED_NO_PASSWORD_ERROR: 2 = 1698, b"28000", "ER_ACCESS_DENIED_NO_PASSWORD_ERROR",
        "Access denied for user '{}'@'{}'";
    TRUNCATE_ILLEGAL_FK: 1 = 1701, b"42000", "ER_TRUNCATE_ILLEGAL_FK",
        "Cannot truncate a table referenced in a foreign key constraint ({})";
    SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MIN: 1 = 1703, b"HY000", "ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MIN",
        "{}";
    SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MAX: 1 = 1704, b"HY000", "ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MAX",
        "{}";
    MULTI_UPDATE_KEY_CONFLICT: 2 = 1706, b"HY000", "ER_MULTI_UPDATE_KEY_CONFLICT",
        "Primary key/partition key update is not allowed since the table is updated both as \
         '{}' and '{}'";
    INDEX_COLUMN_TOO_LONG: 1 = 1709, b"HY000", "ER_INDEX_COLUMN_TOO_LONG",
        "Index column size too large. The maximum column size is {} bytes";
    INDEX_CORRUPT: 1 = 1712, b"HY000", "ER_INDEX_CORRUPT",
        "{}";
    PLUGIN_DELETE_BUILTIN: 0 = 1721, b"HY000", "ER_PLUGIN_DELETE_BUILTIN",
        "Built-in plugins cannot be deleted";
    CANNOT_LOAD_FROM_TABLE: 2 = 1728, b"HY000", "ER_CANNOT_LOAD_FROM_TABLE_V2",
        "Cannot load from {}.{}. The table is probably corrupted";
    MASTER_DELAY_VALUE_OUT_OF_RANGE: 2 = 1729, b"HY000", "ER_MASTER_DELAY_VALUE_OUT_OF_RANGE",
        "The requested value {} for the master delay exceeds the maximum {}";
    ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT: 1 = 1730, b"HY000", "ER_ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT",
        "Only Format_description_log_event and row events are allowed in BINLOG statements (but {} was provided)";
    NETWORK_READ_EVENT_CHECKSUM_FAILURE: 1 = 1743, b"HY000", "ER_NETWORK_READ_EVENT_CHECKSUM_FAILURE",
        "{}";
    DA_INVALID_CONDITION_NUMBER: 0 = 1758, b"35000", "ER_DA_INVALID_CONDITION_NUMBER",
        "Invalid condition number";
    FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO: 2 = 1761, b"23000", "ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO",
        "Foreign key constraint for table '{}', record would lead to a duplicate entry in \
         table '{}'";
    VARIABLE_NOT_SETTABLE_IN_TRANSACTION: 1 = 1766, b"HY000", "ER_VARIABLE_NOT_SETTABLE_IN_TRANSACTION",
        "The system variable {} cannot be set when there is an ongoing transaction.";
    MALFORMED_GTID_SET_SPECIFICATION: 1 = 1772, b"HY000", "ER_MALFORMED_GTID_SET_SPECIFICATION",
        "Malformed GTID set specification '{}'.";
    MALFORMED_GTID_SPECIFICATION: 1 = 1774, b"HY000", "ER_MALFORMED_GTID_SPECIFICATION",
        "Malformed GTID specification '{}'.";
    CANT_DO_IMPLICIT_COMMIT_IN_TRX_WHEN_GTID_NEXT_IS_SET: 0 = 1778, b"HY000", "ER_CANT_DO_IMPLICIT_COMMIT_IN_TRX_WHEN_GTID_NEXT_IS_SET",
        "Cannot execute statements with implicit commit inside a transaction when @@SESSION.GTID_NEXT == 'UUID:NUMBER'.";
    CANT_SET_GTID_NEXT_TO_ANONYMOUS_WHEN_GTID_MODE_IS_ON: 0 = 1782, b"HY000", "ER_CANT_SET_GTID_NEXT_TO_ANONYMOUS_WHEN_GTID_MODE_IS_ON",
        "@@SESSION.GTID_NEXT cannot be set to ANONYMOUS when @@GLOBAL.GTID_MODE = ON.";
    CANT_SET_GTID_NEXT_WHEN_OWNING_GTID: 1 = 1790, b"HY000", "ER_CANT_SET_GTID_NEXT_WHEN_OWNING_GTID",
        "@@SESSION.GTID_NEXT cannot be changed by a client that owns a GTID. The client owns {}. Ownership is released on COMMIT or ROLLBACK.";
    UNKNOWN_EXPLAIN_FORMAT: 2 = 1791, b"HY000", "ER_UNKNOWN_EXPLAIN_FORMAT",
        "Unknown {} format name: '{}'";
    CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: 0 = 1792, b"25006", "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
        "Cannot execute statement in a READ ONLY transaction";
    UNKNOWN_ALTER_ALGORITHM: 1 = 1800, b"HY000", "ER_UNKNOWN_ALTER_ALGORITHM",
        "Unknown ALGORITHM '{}'";
    UNKNOWN_ALTER_LOCK: 1 = 1801, b"HY000", "ER_UNKNOWN_ALTER_LOCK",
        "Unknown LOCK type '{}'";
    COL_COUNT_DOESNT_MATCH_CORRUPTED: 4 = 1805, b"HY000", "ER_COL_COUNT_DOESNT_MATCH_CORRUPTED_V2",
        "Column count of {}.{} is wrong. Expected {}, found {}. The table is probably corrupted";
    INTERNAL_ERROR: 1 = 1815, b"HY000", "ER_INTERNAL_ERROR",
        "Internal error: {}";
    NOT_VALID_PASSWORD: 1 = 1819, b"HY000", "ER_NOT_VALID_PASSWORD",
        "Your password does not satisfy the current policy requirements ({})";
    MUST_CHANGE_PASSWORD: 0 = 1820, b"HY000", "ER_MUST_CHANGE_PASSWORD",
        "You must SET PASSWORD before executing this statement";
    FK_NO_INDEX_CHILD: 2 = 1821, b"HY000", "ER_FK_NO_INDEX_CHILD",
        "Failed to add the foreign key constraint. Missing index for constraint '{}' in the foreign table '{}'";
    FK_NO_INDEX_PARENT: 2 = 1822, b"HY000", "ER_FK_NO_INDEX_PARENT",
        "Failed to add the foreign key constraint. Missing index for constraint '{}' in the referenced table '{}'";
    FK_FAIL_ADD_SYSTEM: 1 = 1823, b"HY000", "ER_FK_FAIL_ADD_SYSTEM",
        "Failed to add the foreign key constraint '{}' to system tables";
    FK_INCORRECT_OPTION: 2 = 1825, b"HY000", "ER_FK_INCORRECT_OPTION",
        "Failed to add the foreign key constraint on table '{}'. Incorrect options in FOREIGN KEY constraint '{}'";
    DUP_CONSTRAINT_NAME: 2 = 1826, b"HY000", "ER_DUP_CONSTRAINT_NAME",
        "Duplicate {} constraint name '{}'";
    PASSWORD_FORMAT: 0 = 1827, b"HY000", "ER_PASSWORD_FORMAT",
        "The password hash doesn't have the expected format";
    FK_COLUMN_CANNOT_DROP: 2 = 1828, b"HY000", "ER_FK_COLUMN_CANNOT_DROP",
        "Cannot drop column '{}': needed in a foreign key constraint '{}'";
    FK_COLUMN_CANNOT_DROP_CHILD: 3 = 1829, b"HY000", "ER_FK_COLUMN_CANNOT_DROP_CHILD",
        "Cannot drop column '{}': needed in a foreign key constraint '{}' of table {}";
    FK_COLUMN_NOT_NULL: 2 = 1830, b"HY000", "ER_FK_COLUMN_NOT_NULL",
        "Column '{}' cannot be NOT NULL: needed in a foreign key constraint '{}' SET NULL";
    DUP_INDEX: 1 = 1831, b"HY000", "ER_DUP_INDEX",
        "Duplicate index {}. This is deprecated and will be disallowed in a future release";
    FK_COLUMN_CANNOT_CHANGE: 2 = 1832, b"HY000", "ER_FK_COLUMN_CANNOT_CHANGE",
        "Cannot change column '{}': used in a foreign key constraint '{}'";
    FK_COLUMN_CANNOT_CHANGE_CHILD: 3 = 1833, b"HY000", "ER_FK_COLUMN_CANNOT_CHANGE_CHILD",
        "Cannot change column '{}': used in a foreign key constraint '{}' of table '{}'";
    MALFORMED_PACKET: 0 = 1835, b"HY000", "ER_MALFORMED_PACKET",
        "Malformed communication packet";
    GTID_NEXT_TYPE_UNDEFINED_GTID: 1 = 1837, b"HY000", "ER_GTID_NEXT_TYPE_UNDEFINED_GROUP",
        "When @@SESSION.GTID_NEXT is set to a GTID, you must explicitly set it to a different value after a COMMIT or ROLLBACK. Please check GTID_NEXT variable manual page for detailed explanation. Current @@SESSION.GTID_NEXT is '{}'.";
    ALTER_OPERATION_NOT_SUPPORTED: 2 = 1845, b"0A000", "ER_ALTER_OPERATION_NOT_SUPPORTED",
        "{} is not supported for this operation. Try {}";
    ALTER_OPERATION_NOT_SUPPORTED_REASON: 3 = 1846, b"0A000", "ER_ALTER_OPERATION_NOT_SUPPORTED_REASON",
        "{} is not supported. Reason: {}. Try {}";
    MUST_CHANGE_PASSWORD_LOGIN: 0 = 1862, b"HY000", "ER_MUST_CHANGE_PASSWORD_LOGIN",
        "Your password has expired. To log in you must change it using a client that supports \
         expired passwords";
    WARN_PURGE_LOG_IN_USE: 1 = 1867, b"HY000", "ER_WARN_PURGE_LOG_IN_USE",
        "{}";
    GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED: 3 = 1901, b"HY000", "ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED",
        "Function or expression '{}' cannot be used in the {} clause of {}";
    PRIMARY_KEY_BASED_ON_GENERATED_COLUMN: 0 = 1903, b"HY000", "ER_PRIMARY_KEY_BASED_ON_GENERATED_COLUMN",
        "Primary key cannot be defined upon a generated column";
    KEY_BASED_ON_GENERATED_VIRTUAL_COLUMN: 0 = 1904, b"HY000", "ER_KEY_BASED_ON_GENERATED_VIRTUAL_COLUMN",
        "Key/Index cannot be defined on a virtual generated column";
    WRONG_FK_OPTION_FOR_GENERATED_COLUMN: 1 = 1905, b"HY000", "ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN",
        "Cannot define foreign key with {} clause on a generated column";
    WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN: 2 = 1906, b"HY000", "ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN",
        "The value specified for generated column '{}' in table '{}' has been ignored";
    UNSUPPORTED_ACTION_ON_GENERATED_COLUMN: 0 = 1907, b"HY000", "ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN",
        "This is not yet supported for generated columns";
    UNSUPPORTED_ENGINE_FOR_GENERATED_COLUMNS: 1 = 1910, b"HY000", "ER_UNSUPPORTED_ENGINE_FOR_GENERATED_COLUMNS",
        "{} storage engine does not support generated columns";
    UNKNOWN_OPTION: 1 = 1911, b"HY000", "ER_UNKNOWN_OPTION",
        "Unknown option '{64}'";
    BAD_OPTION_VALUE: 2 = 1912, b"HY000", "ER_BAD_OPTION_VALUE",
        "Incorrect value '{64}' for option '{64}'";
    DATA_OVERFLOW: 1 = 1916, b"22003", "ER_DATA_OVERFLOW",
        "{}";
    BAD_DATA: 1 = 1918, b"22007", "ER_BAD_DATA",
        "{}";
    DYN_COL_WRONG_FORMAT: 0 = 1919, b"HY000", "ER_DYN_COL_WRONG_FORMAT",
        "Encountered illegal format of dynamic column string";
    DYN_COL_IMPLEMENTATION_LIMIT: 0 = 1920, b"HY000", "ER_DYN_COL_IMPLEMENTATION_LIMIT",
        "Dynamic column implementation limit reached";
    DYN_COL_DATA: 0 = 1921, b"22007", "ER_DYN_COL_DATA",
        "Illegal value used as argument of dynamic column function";
    ILLEGAL_SUBQUERY_OPTIMIZER_SWITCHES: 0 = 1923, b"HY000", "ER_ILLEGAL_SUBQUERY_OPTIMIZER_SWITCHES",
        "At least one of the 'in_to_exists' or 'materialization' optimizer_switch flags must be 'on'";
    QUERY_CACHE_IS_GLOBALY_DISABLED: 0 = 1925, b"HY000", "ER_QUERY_CACHE_IS_GLOBALY_DISABLED",
        "Query cache is globally disabled and you can't enable it only for this session";
    CONNECTION_KILLED: 0 = 1927, b"70100", "ER_CONNECTION_KILLED",
        "Connection was killed";
    STORED_FUNCTION_PREVENTS_SWITCH_SKIP_REPLICATION: 0 = 1930, b"HY000", "ER_STORED_FUNCTION_PREVENTS_SWITCH_SKIP_REPLICATION",
        "Cannot modify @@session.skip_replication inside a stored function or trigger";
    QUERY_RESULT_INCOMPLETE: 1 = 1931, b"HY000", "ER_QUERY_RESULT_INCOMPLETE",
        "{}";
    TARGET_NOT_EXPLAINABLE: 0 = 1933, b"HY000", "ER_TARGET_NOT_EXPLAINABLE",
        "Target is not executing an operation with a query plan";
    CONNECTION_ALREADY_EXISTS: 2 = 1934, b"HY000", "ER_CONNECTION_ALREADY_EXISTS",
        "Connection '{}' conflicts with existing connection '{}'";
    SLAVE_STARTED: 1 = 1937, b"HY000", "ER_SLAVE_STARTED",
        "SLAVE '{}' started";
    SLAVE_STOPPED: 1 = 1938, b"HY000", "ER_SLAVE_STOPPED",
        "SLAVE '{}' stopped";
    INCORRECT_GTID_STATE: 0 = 1941, b"HY000", "ER_INCORRECT_GTID_STATE",
        "Could not parse GTID list";
    DUPLICATE_GTID_DOMAIN: 3 = 1943, b"HY000", "ER_DUPLICATE_GTID_DOMAIN",
        "GTID {} and {} conflict (duplicate domain id {})";
    MASTER_GTID_POS_CONFLICTS_WITH_BINLOG: 1 = 1947, b"HY000", "ER_MASTER_GTID_POS_CONFLICTS_WITH_BINLOG",
        "{}";
    MASTER_GTID_POS_MISSING_DOMAIN: 1 = 1948, b"HY000", "ER_MASTER_GTID_POS_MISSING_DOMAIN",
        "{}";
    UNTIL_REQUIRES_USING_GTID: 0 = 1949, b"HY000", "ER_UNTIL_REQUIRES_USING_GTID",
        "START SLAVE UNTIL master_gtid_pos requires that slave is using GTID";
    GTID_STRICT_OUT_OF_ORDER: 1 = 1950, b"HY000", "ER_GTID_STRICT_OUT_OF_ORDER",
        "{}";
    INSIDE_TRANSACTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO: 0 = 1953, b"HY000", "ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO",
        "Cannot modify @@session.gtid_domain_id or @@session.gtid_seq_no inside a transaction";
    STORED_FUNCTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO: 0 = 1954, b"HY000", "ER_STORED_FUNCTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO",
        "Cannot modify @@session.gtid_domain_id or @@session.gtid_seq_no inside a stored function or trigger";
    BINLOG_MUST_BE_EMPTY: 1 = 1956, b"HY000", "ER_BINLOG_MUST_BE_EMPTY",
        "{}";
    NO_SUCH_QUERY: 1 = 1957, b"HY000", "ER_NO_SUCH_QUERY",
        "Unknown query id: {}";
    BAD_BASE64_DATA: 1 = 1958, b"HY000", "ER_BAD_BASE64_DATA",
        "{}";
    INVALID_ROLE: 1 = 1959, b"OP000", "ER_INVALID_ROLE",
        "{}";
    CANNOT_GRANT_ROLE: 2 = 1961, b"HY000", "ER_CANNOT_GRANT_ROLE",
        "Cannot grant role '{}' to: {}";
    CANNOT_REVOKE_ROLE: 2 = 1962, b"HY000", "ER_CANNOT_REVOKE_ROLE",
        "Cannot revoke role '{}' from: {}";
    IT_IS_A_VIEW: 1 = 1965, b"42S02", "ER_IT_IS_A_VIEW",
        "'{}' is a view";
    SLAVE_SKIP_NOT_IN_GTID: 1 = 1966, b"HY000", "ER_SLAVE_SKIP_NOT_IN_GTID",
        "{}";
    PLUGIN_INSTALLED: 1 = 1968, b"HY000", "ER_PLUGIN_INSTALLED",
        "Plugin '{}' already installed";
    STATEMENT_TIMEOUT: 0 = 1969, b"70100", "ER_STATEMENT_TIMEOUT",
        "Query execution was interrupted (max_statement_time exceeded)";
    SUBQUERIES_NOT_SUPPORTED: 1 = 1970, b"42000", "ER_SUBQUERIES_NOT_SUPPORTED",
        "{} does not support subqueries or stored functions";
    SET_STATEMENT_NOT_SUPPORTED: 1 = 1971, b"42000", "ER_SET_STATEMENT_NOT_SUPPORTED",
        "The system variable {200} cannot be set in SET STATEMENT.";
    USER_CREATE_EXISTS: 2 = 1973, b"HY000", "ER_USER_CREATE_EXISTS",
        "Can't create user '{64}'@'{64}'; it already exists";
    USER_DROP_EXISTS: 2 = 1974, b"HY000", "ER_USER_DROP_EXISTS",
        "Can't drop user '{64}'@'{64}'; it doesn't exist";
    ROLE_CREATE_EXISTS: 1 = 1975, b"HY000", "ER_ROLE_CREATE_EXISTS",
        "Can't create role '{64}'; it already exists";
    ROLE_DROP_EXISTS: 1 = 1976, b"HY000", "ER_ROLE_DROP_EXISTS",
        "Can't drop role '{64}'; it doesn't exist";
    INVALID_DEFAULT_VALUE_FOR_FIELD: 2 = 1978, b"22007", "ER_INVALID_DEFAULT_VALUE_FOR_FIELD",
        "Incorrect default value '{}' for column '{}'";
    KILL_QUERY_DENIED_ERROR: 1 = 1979, b"HY000", "ER_KILL_QUERY_DENIED_ERROR",
        "You are not owner of query {}";
    CONN_HOST_ERROR: 1 = 2003, b"HY000", "CR_CONN_HOST_ERROR",
        "{}";
    SERVER_LOST: 1 = 2013, b"HY000", "CR_SERVER_LOST",
        "{}";
    SSL_CONNECTION_ERROR: 1 = 2026, b"HY000", "CR_SSL_CONNECTION_ERROR",
        "{}";
    CLIENT_MALFORMED_PACKET: 1 = 2027, b"HY000", "CR_MALFORMED_PACKET",
        "{}";
    AUTH_PLUGIN_CANNOT_LOAD: 1 = 2059, b"HY000", "CR_AUTH_PLUGIN_CANNOT_LOAD",
        "{}";
    AGGREGATE_ORDER_FOR_UNION: 1 = 3028, b"HY000", "ER_AGGREGATE_ORDER_FOR_UNION",
        "Expression #{} of ORDER BY contains aggregate function and applies to a UNION";
    STD_INVALID_ARGUMENT: 2 = 3047, b"HY000", "ER_STD_INVALID_ARGUMENT",
        "Invalid argument error: {256} in function {}.";
    FIELD_IN_ORDER_NOT_SELECT: 2 = 3065, b"HY000", "ER_FIELD_IN_ORDER_NOT_SELECT",
        "Expression #{} of ORDER BY clause is not in SELECT list, references column '{}' which is not in SELECT list; this is incompatible with DISTINCT";
    INVALID_JSON_TEXT: 1 = 3140, b"22032", "ER_INVALID_JSON_TEXT",
        "Invalid JSON text: \"Invalid value.\" at position 0 in value for column '{}'.";
    INVALID_JSON_TEXT_IN_PARAM: 2 = 3141, b"22032", "ER_INVALID_JSON_TEXT_IN_PARAM",
        "Invalid JSON text in argument {} to function {}: \"Invalid value.\" at position 0.";
    TOO_LONG_SET_ENUM_VALUE: 1 = 3505, b"HY000", "ER_TOO_LONG_SET_ENUM_VALUE",
        "Too long enumeration/set value for column {}.";
    UNRESOLVED_TABLE_LOCK: 1 = 3568, b"HY000", "ER_UNRESOLVED_TABLE_LOCK",
        "Unresolved table name `{}` in locking clause.";
    DUPLICATE_TABLE_LOCK: 1 = 3569, b"HY000", "ER_DUPLICATE_TABLE_LOCK",
        "Table `{}` appears in multiple locking clauses.";
    LOCK_NOWAIT: 0 = 3572, b"HY000", "ER_LOCK_NOWAIT",
        "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
    VAR_DOES_NOT_EXIST: 1 = 3615, b"HY000", "ER_VAR_DOES_NOT_EXIST",
        "Variable {} does not exist in persisted config file";
    REGEXP_INDEX_OUTOFBOUNDS_ERROR: 0 = 3686, b"HY000", "ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR",
        "Index out of bounds in regular expression search.";
    FUNCTIONAL_INDEX_ON_JSON_OR_GEOMETRY_FUNCTION: 0 = 3753, b"42000", "ER_FUNCTIONAL_INDEX_ON_JSON_OR_GEOMETRY_FUNCTION",
        "Cannot create a functional index on a function that returns a JSON or GEOMETRY value.";
    FUNCTIONAL_INDEX_REF_AUTO_INCREMENT: 1 = 3754, b"HY000", "ER_FUNCTIONAL_INDEX_REF_AUTO_INCREMENT",
        "Functional index '{}' cannot refer to an auto-increment column.";
    FUNCTIONAL_INDEX_PRIMARY_KEY: 0 = 3756, b"HY000", "ER_FUNCTIONAL_INDEX_PRIMARY_KEY",
        "The primary key cannot be a functional index";
    FUNCTIONAL_INDEX_ON_LOB: 0 = 3757, b"HY000", "ER_FUNCTIONAL_INDEX_ON_LOB",
        "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST.";
    FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED: 1 = 3758, b"HY000", "ER_FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED",
        "Expression of functional index '{}' contains a disallowed function.";
    FUNCTIONAL_INDEX_ON_FIELD: 0 = 3762, b"HY000", "ER_FUNCTIONAL_INDEX_ON_FIELD",
        "Functional index on a column is not supported. Consider using a regular index instead.";
    DEFAULT_VAL_GENERATED_VARIABLES: 1 = 3772, b"HY000", "ER_DEFAULT_VAL_GENERATED_VARIABLES",
        "Default value expression of column '{}' cannot refer user or system variables.";
    FUNCTIONAL_INDEX_ROW_IS_NOT_ALLOWED: 1 = 3800, b"HY000", "ER_FUNCTIONAL_INDEX_ROW_IS_NOT_ALLOWED",
        "Expression of functional index '{}' cannot refer to a row value.";
    CHECK_CONSTRAINT_VIOLATED: 1 = 3819, b"HY000", "ER_CHECK_CONSTRAINT_VIOLATED",
        "Check constraint '{}' is violated.";
    CHECK_CONSTRAINT_NOT_FOUND: 1 = 3821, b"HY000", "ER_CHECK_CONSTRAINT_NOT_FOUND",
        "Check constraint '{}' is not found in the table.";
    CHECK_CONSTRAINT_DUP_NAME: 1 = 3822, b"HY000", "ER_CHECK_CONSTRAINT_DUP_NAME",
        "Duplicate check constraint name '{}'.";
    DEPENDENT_BY_FUNCTIONAL_INDEX: 1 = 3837, b"HY000", "ER_DEPENDENT_BY_FUNCTIONAL_INDEX",
        "Column '{}' has a functional index dependency and cannot be dropped or renamed.";
    CONSTRAINT_NOT_FOUND: 1 = 3940, b"HY000", "ER_CONSTRAINT_NOT_FOUND",
        "Constraint '{}' does not exist.";
    DEPENDENT_BY_CHECK_CONSTRAINT: 2 = 3959, b"HY000", "ER_DEPENDENT_BY_CHECK_CONSTRAINT",
        "Check constraint '{}' uses column '{}', hence column cannot be dropped or renamed.";
    WITH_COL_WRONG_LIST: 0 = 4002, b"HY000", "ER_WITH_COL_WRONG_LIST",
        "WITH column list and SELECT field list have different column counts";
    DUP_QUERY_NAME: 1 = 4004, b"HY000", "ER_DUP_QUERY_NAME",
        "Duplicate query name `{}` in WITH clause";
    RECURSIVE_WITHOUT_ANCHORS: 1 = 4005, b"HY000", "ER_RECURSIVE_WITHOUT_ANCHORS",
        "No anchors for recursive WITH element '{}'";
    UNACCEPTABLE_MUTUAL_RECURSION: 1 = 4006, b"HY000", "ER_UNACCEPTABLE_MUTUAL_RECURSION",
        "Unacceptable mutual recursion with anchored table '{}'";
    NOT_STANDARD_COMPLIANT_RECURSIVE: 1 = 4008, b"HY000", "ER_NOT_STANDARD_COMPLIANT_RECURSIVE",
        "Restrictions imposed on recursive definitions are violated for table '{}'";
    WRONG_WINDOW_SPEC_NAME: 1 = 4009, b"HY000", "ER_WRONG_WINDOW_SPEC_NAME",
        "Window specification with name '{}' is not defined";
    DUP_WINDOW_NAME: 1 = 4010, b"HY000", "ER_DUP_WINDOW_NAME",
        "Multiple window specifications with the same name '{}'";
    PARTITION_LIST_IN_REFERENCING_WINDOW_SPEC: 1 = 4011, b"HY000", "ER_PARTITION_LIST_IN_REFERENCING_WINDOW_SPEC",
        "Window specification referencing another one '{}' cannot contain partition list";
    ORDER_LIST_IN_REFERENCING_WINDOW_SPEC: 1 = 4012, b"HY000", "ER_ORDER_LIST_IN_REFERENCING_WINDOW_SPEC",
        "Referenced window specification '{}' already contains order list";
    WINDOW_FRAME_IN_REFERENCED_WINDOW_SPEC: 1 = 4013, b"HY000", "ER_WINDOW_FRAME_IN_REFERENCED_WINDOW_SPEC",
        "Referenced window specification '{}' cannot contain window frame";
    BAD_COMBINATION_OF_WINDOW_FRAME_BOUND_SPECS: 0 = 4014, b"HY000", "ER_BAD_COMBINATION_OF_WINDOW_FRAME_BOUND_SPECS",
        "Unacceptable combination of window frame bound specifications";
    WRONG_PLACEMENT_OF_WINDOW_FUNCTION: 0 = 4015, b"HY000", "ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION",
        "Window function is allowed only in SELECT list and ORDER BY clause";
    WINDOW_FUNCTION_IN_WINDOW_SPEC: 0 = 4016, b"HY000", "ER_WINDOW_FUNCTION_IN_WINDOW_SPEC",
        "Window function is not allowed in window specification";
    NOT_ALLOWED_WINDOW_FRAME: 1 = 4017, b"HY000", "ER_NOT_ALLOWED_WINDOW_FRAME",
        "Window frame is not allowed with '{}'";
    NO_ORDER_LIST_IN_WINDOW_SPEC: 1 = 4018, b"HY000", "ER_NO_ORDER_LIST_IN_WINDOW_SPEC",
        "No order list in window specification for '{}'";
    RANGE_FRAME_NEEDS_SIMPLE_ORDERBY: 0 = 4019, b"HY000", "ER_RANGE_FRAME_NEEDS_SIMPLE_ORDERBY",
        "RANGE-type frame requires ORDER BY clause with single sort key";
    WRONG_TYPE_FOR_ROWS_FRAME: 0 = 4020, b"HY000", "ER_WRONG_TYPE_FOR_ROWS_FRAME",
        "Integer is required for ROWS-type frame";
    WRONG_TYPE_FOR_RANGE_FRAME: 0 = 4021, b"HY000", "ER_WRONG_TYPE_FOR_RANGE_FRAME",
        "Numeric datatype is required for RANGE-type frame";
    FRAME_EXCLUSION_NOT_SUPPORTED: 0 = 4022, b"HY000", "ER_FRAME_EXCLUSION_NOT_SUPPORTED",
        "Frame exclusion is not supported yet";
    INVALID_NTILE_ARGUMENT: 0 = 4024, b"HY000", "ER_INVALID_NTILE_ARGUMENT",
        "Argument of NTILE must be greater than 0";
    CONSTRAINT_FAILED: 3 = 4025, b"23000", "ER_CONSTRAINT_FAILED",
        "CONSTRAINT `{}` failed for `{}`.`{}`";
    EXPRESSION_REFERS_TO_UNINIT_FIELD: 2 = 4029, b"01000", "ER_EXPRESSION_REFERS_TO_UNINIT_FIELD",
        "Expression for field {64} is referring to uninitialized field {}";
    REFERENCED_TRG_DOES_NOT_EXIST: 1 = 4031, b"HY000", "ER_REFERENCED_TRG_DOES_NOT_EXIST",
        "Referenced trigger '{}' for the given action time and event type does not exist";
    INVALID_DEFAULT_PARAM: 0 = 4032, b"HY000", "ER_INVALID_DEFAULT_PARAM",
        "Default/ignore value is not supported for such parameter usage";
    JSON_BAD_CHR: 1 = 4035, b"HY000", "ER_JSON_BAD_CHR",
        "{}";
    JSON_NOT_JSON_CHR: 1 = 4036, b"HY000", "ER_JSON_NOT_JSON_CHR",
        "{}";
    JSON_EOS: 1 = 4037, b"HY000", "ER_JSON_EOS",
        "{}";
    JSON_SYNTAX: 1 = 4038, b"HY000", "ER_JSON_SYNTAX",
        "{}";
    JSON_ESCAPING: 1 = 4039, b"HY000", "ER_JSON_ESCAPING",
        "{}";
    JSON_DEPTH: 1 = 4040, b"HY000", "ER_JSON_DEPTH",
        "{}";
    JSON_PATH_EOS: 1 = 4041, b"HY000", "ER_JSON_PATH_EOS",
        "{}";
    JSON_PATH_SYNTAX: 1 = 4042, b"HY000", "ER_JSON_PATH_SYNTAX",
        "{}";
    JSON_PATH_NO_WILDCARD: 1 = 4044, b"HY000", "ER_JSON_PATH_NO_WILDCARD",
        "{}";
    JSON_ONE_OR_ALL: 1 = 4046, b"HY000", "ER_JSON_ONE_OR_ALL",
        "{}";
    JSON_PATH_EMPTY: 1 = 4051, b"HY000", "ER_JSON_PATH_EMPTY",
        "{}";
    SLAVE_SAME_ID: 0 = 4052, b"HY000", "ER_SLAVE_SAME_ID",
        "A slave with the same server_uuid/server_id is already connected";
    SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG: 0 = 4074, b"HY000", "ER_SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG",
        "Window functions can not be used as arguments to group functions.";
    ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION: 3 = 4078, b"HY000", "ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION",
        "Illegal parameter data types {} and {} for operation '{}'";
    ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION: 2 = 4079, b"HY000", "ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION",
        "Illegal parameter data type {} for operation '{}'";
    WRONG_PARAMCOUNT_TO_CURSOR: 1 = 4080, b"42000", "ER_WRONG_PARAMCOUNT_TO_CURSOR",
        "Incorrect parameter count to cursor '{}'";
    UNKNOWN_STRUCTURED_VARIABLE: 1 = 4081, b"HY000", "ER_UNKNOWN_STRUCTURED_VARIABLE",
        "Unknown structured system variable or ROW routine variable '{}'";
    ROW_VARIABLE_DOES_NOT_HAVE_FIELD: 2 = 4082, b"HY000", "ER_ROW_VARIABLE_DOES_NOT_HAVE_FIELD",
        "Row variable '{}' does not have a field '{}'";
    END_IDENTIFIER_DOES_NOT_MATCH: 2 = 4083, b"HY000", "ER_END_IDENTIFIER_DOES_NOT_MATCH",
        "END identifier '{}' does not match '{}'";
    SEQUENCE_RUN_OUT: 2 = 4084, b"HY000", "ER_SEQUENCE_RUN_OUT",
        "Sequence '{64}.{64}' has run out";
    SEQUENCE_INVALID_DATA: 2 = 4085, b"HY000", "ER_SEQUENCE_INVALID_DATA",
        "Sequence '{64}.{64}' has out of range value for options";
    SEQUENCE_INVALID_TABLE_STRUCTURE: 3 = 4086, b"HY000", "ER_SEQUENCE_INVALID_TABLE_STRUCTURE",
        "Sequence '{64}.{64}' table structure is invalid ({})";
    NOT_SEQUENCE: 2 = 4089, b"42S02", "ER_NOT_SEQUENCE",
        "'{64}.{64}' is not a SEQUENCE";
    NOT_SEQUENCE2: 2 = 4090, b"42S02", "ER_NOT_SEQUENCE2",
        "'{64}.{64}' is not a SEQUENCE";
    UNKNOWN_SEQUENCES: 1 = 4091, b"42S02", "ER_UNKNOWN_SEQUENCES",
        "Unknown SEQUENCE: '{300}'";
    UNKNOWN_VIEW: 1 = 4092, b"42S02", "ER_UNKNOWN_VIEW",
        "Unknown VIEW: '{300}'";
    SP_STACK_TRACE: 2 = 4094, b"HY000", "ER_SP_STACK_TRACE",
        "At line {} in {}";
    PACKAGE_ROUTINE_IN_SPEC_NOT_DEFINED_IN_BODY: 1 = 4095, b"HY000", "ER_PACKAGE_ROUTINE_IN_SPEC_NOT_DEFINED_IN_BODY",
        "Subroutine '{}' is declared in the package specification but is not defined in the package body";
    PACKAGE_ROUTINE_FORWARD_DECLARATION_NOT_DEFINED: 1 = 4096, b"HY000", "ER_PACKAGE_ROUTINE_FORWARD_DECLARATION_NOT_DEFINED",
        "Subroutine '{}' has a forward declaration but is not defined";
    COMPRESSED_COLUMN_USED_AS_KEY: 1 = 4097, b"HY000", "ER_COMPRESSED_COLUMN_USED_AS_KEY",
        "Compressed column '{}' can't be used in key specification";
    UNKNOWN_COMPRESSION_METHOD: 1 = 4098, b"HY000", "ER_UNKNOWN_COMPRESSION_METHOD",
        "Unknown compression method: {}";
    WRONG_NUMBER_OF_VALUES_IN_TVC: 0 = 4099, b"HY000", "ER_WRONG_NUMBER_OF_VALUES_IN_TVC",
        "The used table value constructor has a different number of values";
    FIELD_REFERENCE_IN_TVC: 1 = 4100, b"HY000", "ER_FIELD_REFERENCE_IN_TVC",
        "Field reference '{}' can't be used in table value constructor";
    WRONG_TYPE_FOR_PERCENTILE_FUNC: 1 = 4101, b"HY000", "ER_WRONG_TYPE_FOR_PERCENTILE_FUNC",
        "Numeric datatype is required for {} function";
    ARGUMENT_NOT_CONSTANT: 1 = 4102, b"HY000", "ER_ARGUMENT_NOT_CONSTANT",
        "Argument to the {} function is not a constant for a partition";
    ARGUMENT_OUT_OF_RANGE: 1 = 4103, b"HY000", "ER_ARGUMENT_OUT_OF_RANGE",
        "Argument to the {} function does not belong to the range [0,1]";
    WRONG_TYPE_OF_ARGUMENT: 1 = 4104, b"HY000", "ER_WRONG_TYPE_OF_ARGUMENT",
        "{} function only accepts arguments that can be converted to numerical types";
    NOT_AGGREGATE_FUNCTION: 0 = 4105, b"HY000", "ER_NOT_AGGREGATE_FUNCTION",
        "Aggregate specific instruction (FETCH GROUP NEXT ROW) used in a wrong context";
    INVALID_AGGREGATE_FUNCTION: 0 = 4106, b"HY000", "ER_INVALID_AGGREGATE_FUNCTION",
        "Aggregate specific instruction(FETCH GROUP NEXT ROW) missing from the aggregate function";
    INVISIBLE_NOT_NULL_WITHOUT_DEFAULT: 1 = 4108, b"HY000", "ER_INVISIBLE_NOT_NULL_WITHOUT_DEFAULT",
        "Invisible column {} must have a default value";
    UPDATED_COLUMN_ONLY_ONCE: 2 = 4140, b"HY000", "ER_UPDATED_COLUMN_ONLY_ONCE",
        "The column `{}`.`{}` cannot be changed more than once in a single UPDATE statement";
    EMPTY_ROW_IN_TVC: 0 = 4141, b"HY000", "ER_EMPTY_ROW_IN_TVC",
        "Row with no elements is not allowed in table value constructor in this context";
    BACKUP_LOCK_IS_ACTIVE: 0 = 4145, b"HY000", "ER_BACKUP_LOCK_IS_ACTIVE",
        "Can't execute the command as you have a BACKUP STAGE active";
    BACKUP_NOT_RUNNING: 0 = 4146, b"HY000", "ER_BACKUP_NOT_RUNNING",
        "You must start backup with \"BACKUP STAGE START\"";
    BACKUP_WRONG_STAGE: 2 = 4147, b"HY000", "ER_BACKUP_WRONG_STAGE",
        "Backup stage '{}' is same or before current backup stage '{}'";
    BACKUP_UNKNOWN_STAGE: 1 = 4149, b"HY000", "ER_BACKUP_UNKNOWN_STAGE",
        "{}";
    USER_IS_BLOCKED: 0 = 4150, b"HY000", "ER_USER_IS_BLOCKED",
        "User is blocked because of too many credential errors; unblock with 'ALTER USER / \
         FLUSH PRIVILEGES'";
    ACCOUNT_HAS_BEEN_LOCKED: 0 = 4151, b"HY000", "ER_ACCOUNT_HAS_BEEN_LOCKED",
        "Access denied, this account is locked";
    PERIOD_TEMPORARY_NOT_ALLOWED: 0 = 4152, b"HY000", "ER_PERIOD_TEMPORARY_NOT_ALLOWED",
        "Application-time period table cannot be temporary";
    PERIOD_TYPES_MISMATCH: 1 = 4153, b"HY000", "ER_PERIOD_TYPES_MISMATCH",
        "Fields of PERIOD FOR {} have different types";
    MORE_THAN_ONE_PERIOD: 0 = 4154, b"HY000", "ER_MORE_THAN_ONE_PERIOD",
        "Cannot specify more than one application-time period";
    PERIOD_FIELD_WRONG_ATTRIBUTES: 2 = 4155, b"HY000", "ER_PERIOD_FIELD_WRONG_ATTRIBUTES",
        "Period field {} cannot be {}";
    PERIOD_NOT_FOUND: 1 = 4156, b"HY000", "ER_PERIOD_NOT_FOUND",
        "Period {} is not found in table";
    PERIOD_COLUMNS_UPDATED: 2 = 4157, b"HY000", "ER_PERIOD_COLUMNS_UPDATED",
        "Column {} used in period {} specified in update SET list";
    PERIOD_CONSTRAINT_DROP: 2 = 4158, b"HY000", "ER_PERIOD_CONSTRAINT_DROP",
        "Can't DROP CONSTRAINT `{}`. Use DROP PERIOD `{}` for this";
    TOO_LONG_KEYPART: 1 = 4159, b"42000", "ER_TOO_LONG_KEYPART",
        "Specified key part was too long; max key part length is {} bytes";
    TOO_LONG_DATABASE_COMMENT: 2 = 4160, b"HY000", "ER_TOO_LONG_DATABASE_COMMENT",
        "Comment for database '{}' is too long (max = {})";
    UNKNOWN_DATA_TYPE: 1 = 4161, b"HY000", "ER_UNKNOWN_DATA_TYPE",
        "Unknown data type: '{64}'";
    UNKNOWN_OPERATOR: 1 = 4162, b"HY000", "ER_UNKNOWN_OPERATOR",
        "Operator does not exist: '{}'";
    LOAD_INFILE_CAPABILITY_DISABLED: 0 = 4166, b"HY000", "ER_LOAD_INFILE_CAPABILITY_DISABLED",
        "The used command is not allowed because the MariaDB server or client has disabled \
         the local infile capability";
    NO_AUTOINCREMENT_WITH_UNIQUE: 2 = 4169, b"HY000", "ER_NO_AUTOINCREMENT_WITH_UNIQUE",
        "AUTO_INCREMENT column {} cannot be used in the UNIQUE index {}";
    KEY_CONTAINS_PERIOD_FIELDS: 2 = 4170, b"HY000", "ER_KEY_CONTAINS_PERIOD_FIELDS",
        "Key {} cannot explicitly include column {}";
    KEY_CANT_HAVE_WITHOUT_OVERLAPS: 1 = 4171, b"HY000", "ER_KEY_CANT_HAVE_WITHOUT_OVERLAPS",
        "Key {} cannot have WITHOUT OVERLAPS";
    NOT_ALLOWED_IN_THIS_CONTEXT: 1 = 4172, b"HY000", "ER_NOT_ALLOWED_IN_THIS_CONTEXT",
        "'{128}' is not allowed in this context";
    PK_INDEX_CANT_BE_IGNORED: 0 = 4174, b"HY000", "ER_PK_INDEX_CANT_BE_IGNORED",
        "A primary key cannot be marked as IGNORE";
    WITH_TIES_NEEDS_ORDER: 0 = 4180, b"HY000", "ER_WITH_TIES_NEEDS_ORDER",
        "FETCH ... WITH TIES requires ORDER BY clause to be present";
    WARN_SFORMAT_ERROR: 1 = 4183, b"HY000", "WARN_SFORMAT_ERROR",
        "{}";
    SF_OUT_INOUT_ARG_NOT_ALLOWED: 2 = 4187, b"HY000", "ER_SF_OUT_INOUT_ARG_NOT_ALLOWED",
        "OUT or INOUT argument {} for function {} is not allowed here";
    WARN_OPTION_CHANGING: 1 = 4190, b"HY000", "WARN_OPTION_CHANGING",
        "{}";
    CM_OPTION_MISSING_REQUIREMENT: 3 = 4191, b"HY000", "ER_CM_OPTION_MISSING_REQUIREMENT",
        "CHANGE MASTER TO option '{}={}' is missing requirement {}";
}

/// The SQLSTATE of a number; `HY000` for one that is not here.
pub fn sqlstate(code: u16) -> &'static [u8; 5] {
    match ALL.binary_search_by_key(&code, |r| r.code) {
        Ok(i) => ALL[i].sqlstate,
        Err(_) => b"HY000",
    }
}

/// The text of a number without its arguments; empty for one that is not here.
pub fn bare_text(code: u16) -> String {
    let Ok(i) = ALL.binary_search_by_key(&code, |r| r.code) else {
        return String::new();
    };
    let mut text = String::new();
    let mut rest = ALL[i].template;
    while let Some((before, _, after)) = next_place(rest) {
        text.push_str(before);
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_count_their_arguments() {
        for w in ALL.windows(2) {
            assert!(w[0].code < w[1].code, "{}", w[1].code);
        }
        for r in ALL {
            assert_eq!(r.template.matches('{').count(), r.args, "{}", r.symbol);
            let mut rest = r.template;
            while let Some((_, place, after)) = next_place(rest) {
                assert!(place.limit > 3, "{}", r.symbol);
                rest = after;
            }
            assert!(!rest.contains(['{', '}']), "{}", r.symbol);
            let state = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit();
            assert!(r.sqlstate.iter().all(state), "{}", r.symbol);
        }
    }

    #[test]
    fn arguments_go_into_the_text_in_order() {
        let e = DUP_ENTRY.with([&"1-{}", &"PRIMARY"]);
        assert_eq!(&*e.message, "Duplicate entry '1-{}' for key 'PRIMARY'");
        assert_eq!((e.code, &e.sqlstate), (1062, b"23000"));
        assert_eq!(&*NO_DB_ERROR.plain().message, "No database selected");
        assert_eq!(sqlstate(1146), b"42S02");
        assert_eq!(sqlstate(9999), b"HY000");
    }

    #[test]
    fn long_arguments_are_cut_by_bytes_where_a_character_ends() {
        let shown = |n: usize| {
            let e = DUP_ENTRY.with([&"é".repeat(n), &"k"]);
            e.message
                .replace("Duplicate entry '", "")
                .replace("' for key 'k'", "")
        };
        assert_eq!(shown(32), "é".repeat(32));
        assert_eq!(shown(33), "é".repeat(30) + "...");
        let e = UNKNOWN_COLLATION.with([&"x".repeat(70)]);
        assert_eq!(
            *e.message,
            format!("Unknown collation: '{}'", "x".repeat(64))
        );
        assert_eq!(bare_text(1062), "Duplicate entry '' for key ''");
        assert_eq!(super::abridged("abcdefgh", 7), "abcd...");
    }
}
