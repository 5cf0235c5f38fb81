//! `sql_mode` as a set of bits, with MariaDB's numbers (they go into QUERY events).

/// A set of SQL modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SqlMode(pub u64);

/// Mode names by bit, as MariaDB prints and numbers them.
pub const SQL_MODE_NAMES: [&str; 35] = [
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "IGNORE_BAD_TABLE_OPTIONS",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "POSTGRESQL",
    "ORACLE",
    "MSSQL",
    "DB2",
    "MAXDB",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS",
    "MYSQL323",
    "MYSQL40",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "NO_AUTO_CREATE_USER",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "EMPTY_STRING_IS_NULL",
    "SIMULTANEOUS_ASSIGNMENT",
    "TIME_ROUND_FRACTIONAL",
];

#[allow(missing_docs)]
impl SqlMode {
    pub const REAL_AS_FLOAT: SqlMode = SqlMode(1);
    pub const PIPES_AS_CONCAT: SqlMode = SqlMode(1 << 1);
    pub const ANSI_QUOTES: SqlMode = SqlMode(1 << 2);
    pub const IGNORE_SPACE: SqlMode = SqlMode(1 << 3);
    pub const IGNORE_BAD_TABLE_OPTIONS: SqlMode = SqlMode(1 << 4);
    pub const ONLY_FULL_GROUP_BY: SqlMode = SqlMode(1 << 5);
    pub const NO_UNSIGNED_SUBTRACTION: SqlMode = SqlMode(1 << 6);
    pub const ORACLE: SqlMode = SqlMode(1 << 9);
    pub const MAXDB: SqlMode = SqlMode(1 << 12);
    pub const NO_KEY_OPTIONS: SqlMode = SqlMode(1 << 13);
    pub const NO_TABLE_OPTIONS: SqlMode = SqlMode(1 << 14);
    pub const NO_FIELD_OPTIONS: SqlMode = SqlMode(1 << 15);
    pub const NO_AUTO_VALUE_ON_ZERO: SqlMode = SqlMode(1 << 19);
    pub const NO_BACKSLASH_ESCAPES: SqlMode = SqlMode(1 << 20);
    pub const ANSI: SqlMode = SqlMode(1 << 18);
    pub const STRICT_TRANS_TABLES: SqlMode = SqlMode(1 << 21);
    pub const STRICT_ALL_TABLES: SqlMode = SqlMode(1 << 22);
    pub const NO_ZERO_IN_DATE: SqlMode = SqlMode(1 << 23);
    pub const NO_ZERO_DATE: SqlMode = SqlMode(1 << 24);
    pub const ALLOW_INVALID_DATES: SqlMode = SqlMode(1 << 25);
    pub const ERROR_FOR_DIVISION_BY_ZERO: SqlMode = SqlMode(1 << 26);
    pub const NO_AUTO_CREATE_USER: SqlMode = SqlMode(1 << 28);
    pub const HIGH_NOT_PRECEDENCE: SqlMode = SqlMode(1 << 29);
    pub const NO_ENGINE_SUBSTITUTION: SqlMode = SqlMode(1 << 30);
    pub const PAD_CHAR_TO_FULL_LENGTH: SqlMode = SqlMode(1 << 31);
    pub const EMPTY_STRING_IS_NULL: SqlMode = SqlMode(1 << 32);
    pub const SIMULTANEOUS_ASSIGNMENT: SqlMode = SqlMode(1 << 33);
    pub const TIME_ROUND_FRACTIONAL: SqlMode = SqlMode(1 << 34);
    /// MariaDB 10.11's default.
    pub const DEFAULT: SqlMode = SqlMode(
        Self::STRICT_TRANS_TABLES.0
            | Self::ERROR_FOR_DIVISION_BY_ZERO.0
            | Self::NO_AUTO_CREATE_USER.0
            | Self::NO_ENGINE_SUBSTITUTION.0,
    );
}

impl SqlMode {
    /// True if all bits of `mode` are set.
    pub fn has(self, mode: SqlMode) -> bool {
        self.0 & mode.0 == mode.0
    }

    /// True if values that don't fit are errors.
    pub fn strict(self) -> bool {
        self.0 & (Self::STRICT_TRANS_TABLES.0 | Self::STRICT_ALL_TABLES.0) != 0
    }

    /// The names, separated by commas, as `@@sql_mode` shows them.
    pub fn names(self) -> String {
        let mut s = String::new();
        for (i, n) in SQL_MODE_NAMES.iter().enumerate() {
            if self.0 >> i & 1 == 1 {
                if !s.is_empty() {
                    s.push(',');
                }
                s.push_str(n);
            }
        }
        s
    }

    /// Parses a list of names; `Err` holds the unknown one. Combined modes (ANSI, TRADITIONAL) set their members too.
    pub fn parse(text: &str) -> Result<SqlMode, String> {
        let mut m = 0u64;
        // Blanks behind a name say nothing.
        let parts = text.split(',').map(|p| p.trim_end_matches(' '));
        for part in parts.filter(|p| !p.is_empty()) {
            let i = SQL_MODE_NAMES
                .iter()
                .position(|n| n.eq_ignore_ascii_case(part))
                .ok_or_else(|| part.to_string())?;
            m |= 1 << i;
            match SQL_MODE_NAMES[i] {
                "ANSI" => m |= 1 | 2 | 4 | 8,
                "ORACLE" => {
                    m |= (1 << 1)
                        | (1 << 2)
                        | (1 << 3)
                        | (1 << 13)
                        | (1 << 14)
                        | (1 << 15)
                        | (1 << 28)
                        | (1 << 33)
                }
                "TRADITIONAL" => {
                    m |= (1 << 21)
                        | (1 << 22)
                        | (1 << 23)
                        | (1 << 24)
                        | (1 << 26)
                        | (1 << 28)
                        | (1 << 30)
                }
                _ => {}
            }
        }
        Ok(SqlMode(m))
    }
}
