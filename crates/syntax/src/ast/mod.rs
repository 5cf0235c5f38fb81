//! The trees that the parser makes. They know nothing of how they were made.
//!
//! | file | holds |
//! |---|---|
//! | `name.rs` | names of tables and columns |
//! | `expr.rs` | [`Expr`]: expressions |
//! | `query.rs` | [`Select`]: queries |
//! | `dml.rs` | INSERT, UPDATE, DELETE, LOAD |

pub mod expr;
pub mod name;
pub mod dml;
pub mod query;

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
}
