//! What MySQL's `information_schema` has and MariaDB's does not: columns behind MariaDB's, and tables of its own. They are
//! there under MySQL's face.

use super::columns::{Column, int, text, unsigned};
use narwal_types::TypeKind::{BigInt, Int};

/// Columns behind those of MariaDB's table, by its name.
pub(super) const COLUMNS: &[(&str, &[Column])] = &[
    ("COLLATIONS", &[text("PAD_ATTRIBUTE", 9)]),
    ("COLUMNS", &[unsigned("SRS_ID", Int, 10).or_null()]),
    ("KEYWORDS", &[int("RESERVED", Int, 11).or_null()]),
    ("SCHEMATA", &[text("DEFAULT_ENCRYPTION", 3)]),
    (
        "STATISTICS",
        &[text("IS_VISIBLE", 3), text("EXPRESSION", 1024).or_null()],
    ),
    ("TABLE_CONSTRAINTS", &[text("ENFORCED", 3)]),
];

/// Tables that MariaDB does not have.
pub(super) const TABLES: &[(&str, &[Column])] = &[
    (
        "COLUMN_STATISTICS",
        &[
            text("SCHEMA_NAME", 64),
            text("TABLE_NAME", 64),
            text("COLUMN_NAME", 64),
            text("HISTOGRAM", 1024),
        ],
    ),
    (
        "INNODB_TABLES",
        &[
            unsigned("TABLE_ID", BigInt, 20),
            text("NAME", 655),
            int("FLAG", Int, 11),
            int("N_COLS", Int, 11),
            int("SPACE", BigInt, 20),
            text("ROW_FORMAT", 12).or_null(),
            unsigned("ZIP_PAGE_SIZE", Int, 10),
            text("SPACE_TYPE", 10).or_null(),
            int("INSTANT_COLS", Int, 11),
            int("TOTAL_ROW_VERSIONS", Int, 11),
        ],
    ),
    (
        "INNODB_TABLESPACES",
        &[
            unsigned("SPACE", Int, 10),
            text("NAME", 655),
            unsigned("FLAG", Int, 10),
            text("ROW_FORMAT", 22).or_null(),
            unsigned("PAGE_SIZE", Int, 10),
            unsigned("ZIP_PAGE_SIZE", Int, 10),
            text("SPACE_TYPE", 10).or_null(),
            unsigned("FS_BLOCK_SIZE", Int, 10),
            unsigned("FILE_SIZE", BigInt, 20),
            unsigned("ALLOCATED_SIZE", BigInt, 20),
            unsigned("AUTOEXTEND_SIZE", BigInt, 20),
            text("SERVER_VERSION", 10).or_null(),
            unsigned("SPACE_VERSION", Int, 10),
            text("ENCRYPTION", 1).or_null(),
            text("STATE", 10).or_null(),
        ],
    ),
];
