//! The trees that the parser makes. They know nothing of how they were made.
//!
//! | file | holds |
//! |---|---|
//! | `name.rs` | names of tables and columns |
//! | `expr.rs` | [`Expr`]: expressions |
//! | `query.rs` | [`Select`]: queries |
//! | `dml.rs` | INSERT, UPDATE, DELETE, LOAD |
//! | `ddl/` | statements that define things |
//! | `program.rs` | stored programs |
//! | `admin/` | administrative statements |

pub mod admin;
pub mod ddl;
pub mod dml;
pub mod expr;
pub mod name;
pub mod program;
pub mod query;

pub use admin::ExplainForm;
pub use dml::*;
pub use expr::*;
pub use name::*;
pub use query::*;

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
    Ddl(Box<ddl::Ddl>),
    /// CREATE PROCEDURE and so on, and the language of stored programs.
    Program(Box<program::Program>),
    /// SET, SHOW, GRANT and so on.
    Admin(Box<admin::Admin>),
}
