//! SQL over the engine: parse, bind, plan, execute.
//!
//! | file | holds |
//! |---|---|
//! | `ast.rs` | [`Stmt`]: parsed statements |
//! | `text.rs` | splitting multi-statements, executable comments |
//! | `lower/` | from the trees of `narwal_syntax` to statements that are run |
//! | `expr/` | bound expressions and their evaluation |
//! | `plan/` | access paths: which index, which key ranges |
//! | `param_type.rs` | [`ParamType`]: how a parameter was bound |
//! | `exec/` | running SELECT, INSERT, UPDATE, DELETE |
//! | `prepared.rs` | [`Prepared`]: a statement bound and planned once |
//! | `ddl/` | CREATE, DROP, TRUNCATE and so on as catalog changes |
//! | `engine_name.rs` | names of storage engines |
//! | `show.rs` | SHOW CREATE TABLE and the like |
//! | `shape.rs` | what statements have in common that differ in their literals |
//! | `like.rs` | LIKE: the one matcher of patterns |
//! | `zone.rs` | TIMESTAMP values in the session's time zone |
//! | `env.rs` | [`StatementEnv`]: the session as a statement sees it |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod ast;
pub mod ddl;
pub mod engine_name;
pub mod env;
mod exec;
pub mod expr;
pub mod file_format;
pub mod like;
pub mod literal_rows;
mod load;
pub mod lower;
mod param_type;
mod plan;
pub mod prepared;
pub mod privilege;
mod returning;
mod seeded;
pub mod shape;
pub mod show;
mod star;
pub mod text;
pub mod view;
pub mod virtual_tables;
mod year_text;
mod zone;

pub use ast::Stmt;
pub use ddl::{ddl_needs, execute_ddl, execute_ddl_with, is_temporary_ddl};
pub use env::{
    Condition, MadeRows, NoVariables, StatementEnv, VariableScope, VariableSource, WarningLevel,
};
pub use exec::spill::limit_spill;
pub use lower::{ParseOptions, lower, parse_expression, parse_statement};
pub use narwal_syntax::{SqlMode, sql_mode};
pub use param_type::{ParamDefault, ParamType};
pub use plan::statistics::analyze;
pub use prepared::{Outcome, Prepared, evaluate, execute};
pub use privilege::{Needs, Privilege};
pub use returning::Returned;
pub use text::{split_statements, unwrap_comments};
pub use virtual_tables::{VirtualRows, VirtualTables};
