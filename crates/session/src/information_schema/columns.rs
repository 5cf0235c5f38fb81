//! The columns of `information_schema`'s tables: MariaDB 10.11's, by name, order and type.

use narwal_engine::ColumnDef;
use narwal_types::TypeKind::{BigInt, Int, TinyInt};
use narwal_types::{BlobSize, Collation, ColumnType, TypeKind};

/// A column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    name: &'static str,
    ty: ColumnType,
    width: Option<u8>,
    nullable: bool,
}

impl Column {
    const fn new(name: &'static str, ty: ColumnType, width: Option<u8>) -> Self {
        Column {
            name,
            ty,
            width,
            nullable: false,
        }
    }

    pub(super) const fn or_null(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// As a table's column.
    pub(super) fn def(&self) -> ColumnDef {
        ColumnDef {
            display_width: self.width,
            generated: None,
            check: None,
            ..def(self.name, self.ty, self.nullable)
        }
    }
}

/// A table's column.
pub(super) fn def(name: &str, ty: ColumnType, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, ty, nullable)
}

/// Of all texts, as in MariaDB and MySQL. A union or a comparison with a column of utf8mb4 depends on it: that one's collation
/// wins.
pub(super) const COLLATION: Collation = Collation::Utf8mb3GeneralCi;

pub(super) const fn text(name: &'static str, chars: u16) -> Column {
    Column::new(
        name,
        ColumnType::text(TypeKind::VarChar(chars), COLLATION),
        None,
    )
}

pub(super) const fn long_text(name: &'static str) -> Column {
    let ty = ColumnType::text(TypeKind::Text(BlobSize::Long), COLLATION);
    Column::new(name, ty, None)
}

const fn blob(name: &'static str) -> Column {
    Column::new(
        name,
        ColumnType::new(TypeKind::Blob(BlobSize::Normal)),
        None,
    )
}

pub(super) const fn datetime(name: &'static str, digits: u8) -> Column {
    Column::new(name, ColumnType::datetime(digits), None)
}

pub(super) const fn decimal(name: &'static str, precision: u8, scale: u8) -> Column {
    Column::new(name, ColumnType::decimal(precision, scale), None)
}

pub(super) const fn float(name: &'static str) -> Column {
    Column::new(name, ColumnType::new(TypeKind::Float), None)
}

pub(super) const fn double(name: &'static str) -> Column {
    Column::new(name, ColumnType::new(TypeKind::Double), None)
}

pub(super) const fn int(name: &'static str, kind: TypeKind, width: u8) -> Column {
    Column::new(name, ColumnType::new(kind), Some(width))
}

pub(super) const fn unsigned(name: &'static str, kind: TypeKind, width: u8) -> Column {
    Column::new(name, ColumnType::unsigned(kind), Some(width))
}

/// All tables by name.
pub(super) const TABLES: &[(&str, &[Column])] = &[
    ("KEYWORDS", &[text("WORD", 64).or_null()]),
    ("SQL_FUNCTIONS", &[text("FUNCTION", 64).or_null()]),
    (
        "USER_VARIABLES",
        &[
            text("VARIABLE_NAME", 64),
            text("VARIABLE_VALUE", 2048).or_null(),
            text("VARIABLE_TYPE", 64),
            text("CHARACTER_SET_NAME", 32).or_null(),
        ],
    ),
    (
        "APPLICABLE_ROLES",
        &[
            text("GRANTEE", 385),
            text("ROLE_NAME", 128),
            text("IS_GRANTABLE", 3),
            text("IS_DEFAULT", 3).or_null(),
        ],
    ),
    (
        "CHARACTER_SETS",
        &[
            text("CHARACTER_SET_NAME", 32),
            text("DEFAULT_COLLATE_NAME", 64),
            text("DESCRIPTION", 60),
            int("MAXLEN", BigInt, 3),
        ],
    ),
    (
        "CHECK_CONSTRAINTS",
        &[
            text("CONSTRAINT_CATALOG", 512),
            text("CONSTRAINT_SCHEMA", 64),
            text("TABLE_NAME", 64),
            text("CONSTRAINT_NAME", 64),
            text("LEVEL", 6),
            long_text("CHECK_CLAUSE"),
        ],
    ),
    (
        "COLLATIONS",
        &[
            text("COLLATION_NAME", 64),
            text("CHARACTER_SET_NAME", 32).or_null(),
            int("ID", BigInt, 11).or_null(),
            text("IS_DEFAULT", 3).or_null(),
            text("IS_COMPILED", 3),
            int("SORTLEN", BigInt, 3),
        ],
    ),
    (
        "COLLATION_CHARACTER_SET_APPLICABILITY",
        &[
            text("COLLATION_NAME", 64),
            text("CHARACTER_SET_NAME", 32),
            text("FULL_COLLATION_NAME", 64),
            int("ID", BigInt, 11),
            text("IS_DEFAULT", 3),
        ],
    ),
    (
        "COLUMNS",
        &[
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            text("COLUMN_NAME", 64),
            unsigned("ORDINAL_POSITION", BigInt, 21),
            long_text("COLUMN_DEFAULT").or_null(),
            text("IS_NULLABLE", 3),
            text("DATA_TYPE", 64),
            unsigned("CHARACTER_MAXIMUM_LENGTH", BigInt, 21).or_null(),
            unsigned("CHARACTER_OCTET_LENGTH", BigInt, 21).or_null(),
            unsigned("NUMERIC_PRECISION", BigInt, 21).or_null(),
            unsigned("NUMERIC_SCALE", BigInt, 21).or_null(),
            unsigned("DATETIME_PRECISION", BigInt, 21).or_null(),
            text("CHARACTER_SET_NAME", 32).or_null(),
            text("COLLATION_NAME", 64).or_null(),
            long_text("COLUMN_TYPE"),
            text("COLUMN_KEY", 3),
            text("EXTRA", 80),
            text("PRIVILEGES", 80),
            text("COLUMN_COMMENT", 1024),
            text("IS_GENERATED", 6),
            long_text("GENERATION_EXPRESSION").or_null(),
        ],
    ),
    (
        "COLUMN_PRIVILEGES",
        &[
            text("GRANTEE", 385),
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            text("COLUMN_NAME", 64),
            text("PRIVILEGE_TYPE", 64),
            text("IS_GRANTABLE", 3),
        ],
    ),
    ("ENABLED_ROLES", &[text("ROLE_NAME", 128).or_null()]),
    (
        "ENGINES",
        &[
            text("ENGINE", 64),
            text("SUPPORT", 8),
            text("COMMENT", 160),
            text("TRANSACTIONS", 3).or_null(),
            text("XA", 3).or_null(),
            text("SAVEPOINTS", 3).or_null(),
        ],
    ),
    (
        "EVENTS",
        &[
            text("EVENT_CATALOG", 64),
            text("EVENT_SCHEMA", 64),
            text("EVENT_NAME", 64),
            text("DEFINER", 384),
            text("TIME_ZONE", 64),
            text("EVENT_BODY", 8),
            long_text("EVENT_DEFINITION"),
            text("EVENT_TYPE", 9),
            datetime("EXECUTE_AT", 0).or_null(),
            text("INTERVAL_VALUE", 256).or_null(),
            text("INTERVAL_FIELD", 18).or_null(),
            text("SQL_MODE", 8192),
            datetime("STARTS", 0).or_null(),
            datetime("ENDS", 0).or_null(),
            text("STATUS", 18),
            text("ON_COMPLETION", 12),
            datetime("CREATED", 0),
            datetime("LAST_ALTERED", 0),
            datetime("LAST_EXECUTED", 0).or_null(),
            text("EVENT_COMMENT", 64),
            int("ORIGINATOR", BigInt, 10),
            text("CHARACTER_SET_CLIENT", 32),
            text("COLLATION_CONNECTION", 64),
            text("DATABASE_COLLATION", 64),
        ],
    ),
    (
        "FILES",
        &[
            int("FILE_ID", BigInt, 4),
            text("FILE_NAME", 512).or_null(),
            text("FILE_TYPE", 20),
            text("TABLESPACE_NAME", 64).or_null(),
            text("TABLE_CATALOG", 64),
            text("TABLE_SCHEMA", 64).or_null(),
            text("TABLE_NAME", 64).or_null(),
            text("LOGFILE_GROUP_NAME", 64).or_null(),
            int("LOGFILE_GROUP_NUMBER", BigInt, 4).or_null(),
            text("ENGINE", 64),
            text("FULLTEXT_KEYS", 64).or_null(),
            int("DELETED_ROWS", BigInt, 4).or_null(),
            int("UPDATE_COUNT", BigInt, 4).or_null(),
            int("FREE_EXTENTS", BigInt, 4).or_null(),
            int("TOTAL_EXTENTS", BigInt, 4).or_null(),
            int("EXTENT_SIZE", BigInt, 4),
            unsigned("INITIAL_SIZE", BigInt, 21).or_null(),
            unsigned("MAXIMUM_SIZE", BigInt, 21).or_null(),
            unsigned("AUTOEXTEND_SIZE", BigInt, 21).or_null(),
            datetime("CREATION_TIME", 0).or_null(),
            datetime("LAST_UPDATE_TIME", 0).or_null(),
            datetime("LAST_ACCESS_TIME", 0).or_null(),
            int("RECOVER_TIME", BigInt, 4).or_null(),
            int("TRANSACTION_COUNTER", BigInt, 4).or_null(),
            unsigned("VERSION", BigInt, 21).or_null(),
            text("ROW_FORMAT", 10).or_null(),
            unsigned("TABLE_ROWS", BigInt, 21).or_null(),
            unsigned("AVG_ROW_LENGTH", BigInt, 21).or_null(),
            unsigned("DATA_LENGTH", BigInt, 21).or_null(),
            unsigned("MAX_DATA_LENGTH", BigInt, 21).or_null(),
            unsigned("INDEX_LENGTH", BigInt, 21).or_null(),
            unsigned("DATA_FREE", BigInt, 21).or_null(),
            datetime("CREATE_TIME", 0).or_null(),
            datetime("UPDATE_TIME", 0).or_null(),
            datetime("CHECK_TIME", 0).or_null(),
            unsigned("CHECKSUM", BigInt, 21).or_null(),
            text("STATUS", 20),
            text("EXTRA", 255).or_null(),
        ],
    ),
    (
        "GLOBAL_STATUS",
        &[text("VARIABLE_NAME", 64), text("VARIABLE_VALUE", 4096)],
    ),
    (
        "GLOBAL_VARIABLES",
        &[text("VARIABLE_NAME", 64), text("VARIABLE_VALUE", 4096)],
    ),
    (
        "KEY_COLUMN_USAGE",
        &[
            text("CONSTRAINT_CATALOG", 512),
            text("CONSTRAINT_SCHEMA", 64),
            text("CONSTRAINT_NAME", 64),
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            text("COLUMN_NAME", 64),
            int("ORDINAL_POSITION", BigInt, 10),
            int("POSITION_IN_UNIQUE_CONSTRAINT", BigInt, 10).or_null(),
            text("REFERENCED_TABLE_SCHEMA", 64).or_null(),
            text("REFERENCED_TABLE_NAME", 64).or_null(),
            text("REFERENCED_COLUMN_NAME", 64).or_null(),
        ],
    ),
    (
        "NARWAL_BINLOG_READERS",
        &[
            unsigned("CONNECTION_ID", BigInt, 21),
            text("USER", 128),
            text("HOST", 255),
            unsigned("SERVER_ID", BigInt, 10),
            datetime("SINCE", 0),
            text("BY_GTID", 3),
            text("SEMI_SYNC", 3),
            text("FILE", 512),
            unsigned("POSITION", BigInt, 21),
            text("GTID", 64),
            unsigned("GROUPS_SENT", BigInt, 21),
            unsigned("EVENTS_SENT", BigInt, 21),
            unsigned("BYTES_SENT", BigInt, 21),
            unsigned("LAG_BYTES", BigInt, 21),
            unsigned("LAG_TRANSACTIONS", BigInt, 21),
            unsigned("LAG_SECONDS", BigInt, 21),
        ],
    ),
    (
        "PARAMETERS",
        &[
            text("SPECIFIC_CATALOG", 512),
            text("SPECIFIC_SCHEMA", 64),
            text("SPECIFIC_NAME", 64),
            int("ORDINAL_POSITION", Int, 21),
            text("PARAMETER_MODE", 5).or_null(),
            text("PARAMETER_NAME", 64).or_null(),
            text("DATA_TYPE", 64),
            int("CHARACTER_MAXIMUM_LENGTH", Int, 21).or_null(),
            int("CHARACTER_OCTET_LENGTH", Int, 21).or_null(),
            int("NUMERIC_PRECISION", Int, 21).or_null(),
            int("NUMERIC_SCALE", Int, 21).or_null(),
            unsigned("DATETIME_PRECISION", BigInt, 21).or_null(),
            text("CHARACTER_SET_NAME", 64).or_null(),
            text("COLLATION_NAME", 64).or_null(),
            long_text("DTD_IDENTIFIER"),
            text("ROUTINE_TYPE", 9),
        ],
    ),
    (
        "PARTITIONS",
        &[
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            text("PARTITION_NAME", 64).or_null(),
            text("SUBPARTITION_NAME", 64).or_null(),
            unsigned("PARTITION_ORDINAL_POSITION", BigInt, 21).or_null(),
            unsigned("SUBPARTITION_ORDINAL_POSITION", BigInt, 21).or_null(),
            text("PARTITION_METHOD", 18).or_null(),
            text("SUBPARTITION_METHOD", 12).or_null(),
            long_text("PARTITION_EXPRESSION").or_null(),
            long_text("SUBPARTITION_EXPRESSION").or_null(),
            long_text("PARTITION_DESCRIPTION").or_null(),
            unsigned("TABLE_ROWS", BigInt, 21),
            unsigned("AVG_ROW_LENGTH", BigInt, 21),
            unsigned("DATA_LENGTH", BigInt, 21),
            unsigned("MAX_DATA_LENGTH", BigInt, 21).or_null(),
            unsigned("INDEX_LENGTH", BigInt, 21),
            unsigned("DATA_FREE", BigInt, 21),
            datetime("CREATE_TIME", 0).or_null(),
            datetime("UPDATE_TIME", 0).or_null(),
            datetime("CHECK_TIME", 0).or_null(),
            unsigned("CHECKSUM", BigInt, 21).or_null(),
            text("PARTITION_COMMENT", 80),
            text("NODEGROUP", 12),
            text("TABLESPACE_NAME", 64).or_null(),
        ],
    ),
    (
        "PLUGINS",
        &[
            text("PLUGIN_NAME", 64),
            text("PLUGIN_VERSION", 20),
            text("PLUGIN_STATUS", 16),
            text("PLUGIN_TYPE", 80),
            text("PLUGIN_TYPE_VERSION", 20),
            text("PLUGIN_LIBRARY", 64).or_null(),
            text("PLUGIN_LIBRARY_VERSION", 20).or_null(),
            text("PLUGIN_AUTHOR", 64).or_null(),
            long_text("PLUGIN_DESCRIPTION").or_null(),
            text("PLUGIN_LICENSE", 80),
            text("LOAD_OPTION", 64),
            text("PLUGIN_MATURITY", 12),
            text("PLUGIN_AUTH_VERSION", 80).or_null(),
        ],
    ),
    (
        "PROCESSLIST",
        &[
            int("ID", BigInt, 4),
            text("USER", 128),
            text("HOST", 64),
            text("DB", 64).or_null(),
            text("COMMAND", 16),
            int("TIME", Int, 7),
            text("STATE", 64).or_null(),
            long_text("INFO").or_null(),
            decimal("TIME_MS", 22, 3),
            int("STAGE", TinyInt, 2),
            int("MAX_STAGE", TinyInt, 2),
            decimal("PROGRESS", 7, 3),
            int("MEMORY_USED", BigInt, 7),
            int("MAX_MEMORY_USED", BigInt, 7),
            int("EXAMINED_ROWS", Int, 7),
            int("QUERY_ID", BigInt, 4),
            blob("INFO_BINARY").or_null(),
            int("TID", BigInt, 4),
        ],
    ),
    (
        "REFERENTIAL_CONSTRAINTS",
        &[
            text("CONSTRAINT_CATALOG", 512),
            text("CONSTRAINT_SCHEMA", 64),
            text("CONSTRAINT_NAME", 64),
            text("UNIQUE_CONSTRAINT_CATALOG", 512),
            text("UNIQUE_CONSTRAINT_SCHEMA", 64),
            text("UNIQUE_CONSTRAINT_NAME", 64).or_null(),
            text("MATCH_OPTION", 64),
            text("UPDATE_RULE", 64),
            text("DELETE_RULE", 64),
            text("TABLE_NAME", 64),
            text("REFERENCED_TABLE_NAME", 64).or_null(),
        ],
    ),
    (
        "ROUTINES",
        &[
            text("SPECIFIC_NAME", 64),
            text("ROUTINE_CATALOG", 512),
            text("ROUTINE_SCHEMA", 64),
            text("ROUTINE_NAME", 64),
            text("ROUTINE_TYPE", 13),
            text("DATA_TYPE", 64),
            int("CHARACTER_MAXIMUM_LENGTH", Int, 21).or_null(),
            int("CHARACTER_OCTET_LENGTH", Int, 21).or_null(),
            int("NUMERIC_PRECISION", Int, 21).or_null(),
            int("NUMERIC_SCALE", Int, 21).or_null(),
            unsigned("DATETIME_PRECISION", BigInt, 21).or_null(),
            text("CHARACTER_SET_NAME", 64).or_null(),
            text("COLLATION_NAME", 64).or_null(),
            long_text("DTD_IDENTIFIER").or_null(),
            text("ROUTINE_BODY", 8),
            long_text("ROUTINE_DEFINITION").or_null(),
            text("EXTERNAL_NAME", 64).or_null(),
            text("EXTERNAL_LANGUAGE", 64).or_null(),
            text("PARAMETER_STYLE", 8),
            text("IS_DETERMINISTIC", 3),
            text("SQL_DATA_ACCESS", 64),
            text("SQL_PATH", 64).or_null(),
            text("SECURITY_TYPE", 7),
            datetime("CREATED", 0),
            datetime("LAST_ALTERED", 0),
            text("SQL_MODE", 8192),
            long_text("ROUTINE_COMMENT"),
            text("DEFINER", 384),
            text("CHARACTER_SET_CLIENT", 32),
            text("COLLATION_CONNECTION", 64),
            text("DATABASE_COLLATION", 64),
        ],
    ),
    (
        "SCHEMATA",
        &[
            text("CATALOG_NAME", 512),
            text("SCHEMA_NAME", 64),
            text("DEFAULT_CHARACTER_SET_NAME", 32),
            text("DEFAULT_COLLATION_NAME", 64),
            text("SQL_PATH", 512).or_null(),
            text("SCHEMA_COMMENT", 1024),
        ],
    ),
    (
        "SCHEMA_PRIVILEGES",
        &[
            text("GRANTEE", 385),
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("PRIVILEGE_TYPE", 64),
            text("IS_GRANTABLE", 3),
        ],
    ),
    (
        "SESSION_STATUS",
        &[text("VARIABLE_NAME", 64), text("VARIABLE_VALUE", 4096)],
    ),
    (
        "SESSION_VARIABLES",
        &[text("VARIABLE_NAME", 64), text("VARIABLE_VALUE", 4096)],
    ),
    (
        "STATISTICS",
        &[
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            int("NON_UNIQUE", BigInt, 1),
            text("INDEX_SCHEMA", 64),
            text("INDEX_NAME", 64),
            unsigned("SEQ_IN_INDEX", Int, 2),
            text("COLUMN_NAME", 64),
            text("COLLATION", 1).or_null(),
            int("CARDINALITY", BigInt, 21).or_null(),
            int("SUB_PART", BigInt, 3).or_null(),
            text("PACKED", 10).or_null(),
            text("NULLABLE", 3),
            text("INDEX_TYPE", 16),
            text("COMMENT", 16).or_null(),
            text("INDEX_COMMENT", 1024),
            text("IGNORED", 3),
        ],
    ),
    (
        "SYSTEM_VARIABLES",
        &[
            text("VARIABLE_NAME", 64),
            text("SESSION_VALUE", 2048).or_null(),
            text("GLOBAL_VALUE", 2048).or_null(),
            text("GLOBAL_VALUE_ORIGIN", 64),
            text("DEFAULT_VALUE", 2048).or_null(),
            text("VARIABLE_SCOPE", 64),
            text("VARIABLE_TYPE", 64),
            text("VARIABLE_COMMENT", 2048),
            text("NUMERIC_MIN_VALUE", 21).or_null(),
            text("NUMERIC_MAX_VALUE", 21).or_null(),
            text("NUMERIC_BLOCK_SIZE", 21).or_null(),
            long_text("ENUM_VALUE_LIST").or_null(),
            text("READ_ONLY", 3),
            text("COMMAND_LINE_ARGUMENT", 64).or_null(),
            text("GLOBAL_VALUE_PATH", 2048).or_null(),
        ],
    ),
    (
        "TABLES",
        &[
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            text("TABLE_TYPE", 64),
            text("ENGINE", 64).or_null(),
            unsigned("VERSION", BigInt, 21).or_null(),
            text("ROW_FORMAT", 10).or_null(),
            unsigned("TABLE_ROWS", BigInt, 21).or_null(),
            unsigned("AVG_ROW_LENGTH", BigInt, 21).or_null(),
            unsigned("DATA_LENGTH", BigInt, 21).or_null(),
            unsigned("MAX_DATA_LENGTH", BigInt, 21).or_null(),
            unsigned("INDEX_LENGTH", BigInt, 21).or_null(),
            unsigned("DATA_FREE", BigInt, 21).or_null(),
            unsigned("AUTO_INCREMENT", BigInt, 21).or_null(),
            datetime("CREATE_TIME", 0).or_null(),
            datetime("UPDATE_TIME", 0).or_null(),
            datetime("CHECK_TIME", 0).or_null(),
            text("TABLE_COLLATION", 64).or_null(),
            unsigned("CHECKSUM", BigInt, 21).or_null(),
            text("CREATE_OPTIONS", 2048).or_null(),
            text("TABLE_COMMENT", 2048),
            unsigned("MAX_INDEX_LENGTH", BigInt, 21).or_null(),
            text("TEMPORARY", 1).or_null(),
        ],
    ),
    (
        "TABLE_CONSTRAINTS",
        &[
            text("CONSTRAINT_CATALOG", 512),
            text("CONSTRAINT_SCHEMA", 64),
            text("CONSTRAINT_NAME", 64),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            text("CONSTRAINT_TYPE", 64),
        ],
    ),
    (
        "TABLE_PRIVILEGES",
        &[
            text("GRANTEE", 385),
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            text("PRIVILEGE_TYPE", 64),
            text("IS_GRANTABLE", 3),
        ],
    ),
    (
        "TRIGGERS",
        &[
            text("TRIGGER_CATALOG", 512),
            text("TRIGGER_SCHEMA", 64),
            text("TRIGGER_NAME", 64),
            text("EVENT_MANIPULATION", 6),
            text("EVENT_OBJECT_CATALOG", 512),
            text("EVENT_OBJECT_SCHEMA", 64),
            text("EVENT_OBJECT_TABLE", 64),
            int("ACTION_ORDER", BigInt, 4),
            long_text("ACTION_CONDITION").or_null(),
            long_text("ACTION_STATEMENT").or_null(),
            text("ACTION_ORIENTATION", 9),
            text("ACTION_TIMING", 6),
            text("ACTION_REFERENCE_OLD_TABLE", 64).or_null(),
            text("ACTION_REFERENCE_NEW_TABLE", 64).or_null(),
            text("ACTION_REFERENCE_OLD_ROW", 3),
            text("ACTION_REFERENCE_NEW_ROW", 3),
            datetime("CREATED", 2).or_null(),
            text("SQL_MODE", 8192),
            text("DEFINER", 384).or_null(),
            text("CHARACTER_SET_CLIENT", 32),
            text("COLLATION_CONNECTION", 64),
            text("DATABASE_COLLATION", 64),
        ],
    ),
    (
        "USER_PRIVILEGES",
        &[
            text("GRANTEE", 385),
            text("TABLE_CATALOG", 512),
            text("PRIVILEGE_TYPE", 64),
            text("IS_GRANTABLE", 3),
        ],
    ),
    (
        "VIEWS",
        &[
            text("TABLE_CATALOG", 512),
            text("TABLE_SCHEMA", 64),
            text("TABLE_NAME", 64),
            long_text("VIEW_DEFINITION"),
            text("CHECK_OPTION", 8),
            text("IS_UPDATABLE", 3),
            text("DEFINER", 384),
            text("SECURITY_TYPE", 7),
            text("CHARACTER_SET_CLIENT", 32),
            text("COLLATION_CONNECTION", 64),
            text("ALGORITHM", 10),
        ],
    ),
];
