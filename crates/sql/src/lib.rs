//! SQL over the engine: parse, bind, plan, execute.
//!
//! | file | holds |
//! |---|---|
//! | `ast.rs` | [`Stmt`]: parsed statements |
//! | `lower/` | from the trees of `narwal_syntax` to statements that are run |
//! | `expr/` | bound expressions and their evaluation |
//! | `bind/` | names to positions: bound expressions |
//! | `plan/` | physical plans as data |
//! | `planner/` | from statements to plans, by rules |
//! | `param_type.rs` | [`ParamType`]: how a parameter was bound |
//! | `exec/` | running SELECT, INSERT, UPDATE, DELETE |
//! | `prepared.rs` | [`Prepared`]: a statement bound and planned once |
//! | `charset_words.rs` | what definitions say of character sets and collations |
//! | `ddl/` | CREATE, DROP, TRUNCATE and so on as catalog changes |
//! | `engine_name.rs` | names of storage engines |
//! | `merge_table.rs` | MERGE tables: which tables stand behind one |
//! | `numbers.rs` | NEXTVAL and its kin, of temporary sequences and others |
//! | `show.rs` | SHOW CREATE TABLE and the like |
//! | `shape.rs` | what statements have in common that differ in their literals |
//! | `user_kind.rs` | what kind of value a user variable has |
//! | `like.rs` | LIKE: the one matcher of patterns |
//! | `zone.rs` | TIMESTAMP values in the session's time zone |
//! | `handlers.rs` | what HANDLER has opened, and where it stands |
//! | `programs.rs` | what triggers see of a row |
//! | `env.rs` | [`StatementEnv`]: the session as a statement sees it |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod ast;
mod bind;
pub mod charset_words;
pub mod ddl;
pub mod engine_name;
pub mod env;
mod exec;
pub mod expr;
pub mod file_format;
pub mod handlers;
mod kept_expression;
pub mod like;
mod literal;
pub mod literal_rows;
pub mod lower;
pub mod merge_table;
mod numbers;
mod param_type;
mod plan;
mod planner;
pub mod prepared;
pub mod privilege;
mod programs;
mod query_walk;
pub mod quote;
mod seeded;
pub use seeded::{seed_of, with_seed};
pub mod shape;
pub mod show;
mod star;
mod status_counts;
pub mod twice;
mod user_kind;
pub mod view;
mod view_def;
pub mod virtual_tables;
mod xml_file;
mod year_text;
mod zone;

pub use crate::exec::outcome::Outcome;
pub use crate::exec::returning::Returned;
pub use crate::expr::functions::{old_password_hash, regex_options};
pub use crate::lower::{lower, parse_expression, parse_statement};
pub use crate::planner::statistics::analyze;
pub use crate::prepared::{
    Prepared, evaluate, evaluate_typed, execute, explain, kept_collation, kept_value,
};
pub use crate::zone::seen;
pub use ast::Stmt;
pub use bind::{bind, scope::Scope};
pub use ddl::{ddl_needs, execute_ddl, execute_ddl_with, is_temporary_ddl};
pub use env::{
    Condition, FreshInsertId, FunctionParameter, MadeRows, NoVariables, ProgramEnv, Programs,
    Raised, RowEvent, SessionEnv, StatementEnv, StoredFunction, TriggerRow, VariableScope,
    VariableSource, WarningLevel,
};
pub use exec::group_rows::GroupRows;
pub use exec::late_value::trigger_value;
pub use exec::regenerated::{with_generated_columns, with_hidden_columns};
pub use exec::spill::limit_spill;
pub use kept_expression::{UserKinds, bind_kept, kinds_hold};
pub use narwal_syntax::ParseOptions;
pub use narwal_syntax::{SqlMode, sql_mode};
pub use numbers::steps as sequence_steps;
pub use param_type::{ParamDefault, ParamType};
pub use plan::dml::store_mode;
pub use plan::explain::columns as explain_columns;
pub use privilege::{ColumnUse, ColumnUses, Needs, Privilege};
pub use status_counts::{StatusCount, StatusCounts};
pub use user_kind::{UserKind, as_kept};
pub use virtual_tables::{VirtualRows, VirtualTables};
