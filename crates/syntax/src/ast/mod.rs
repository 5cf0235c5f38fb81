//! The trees that the parser makes. They know nothing of how they were made.
//!
//! | file | holds |
//! |---|---|
//! | `name.rs` | names of tables and columns |
//! | `expr.rs` | [`Expr`]: expressions |
//! | `query.rs` | [`Select`]: queries |
//! | `dml.rs` | INSERT, UPDATE, DELETE, LOAD |
//! | `ddl/` | statements that define things |
//! | `program/` | stored programs |
//! | `statement.rs` | [`Statement`], and programs with the bodies of stored programs, which are made of statements |
//! | `file.rs` | the form of files of rows |
//! | `admin/` | administrative statements |

pub mod admin;
pub mod ddl;
pub mod dml;
pub mod expr;
mod file;
pub mod name;
pub mod program;
pub mod query;
mod statement;

pub use admin::ExplainForm;
pub use dml::*;
pub use expr::*;
pub use file::*;
pub use name::*;
pub use query::*;
pub use statement::{SetStatement, Statement};
