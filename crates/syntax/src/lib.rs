//! SQL text to trees: one lexer, one parser and one AST for the grammar of MariaDB 10.11.
//!
//! This crate knows text and nothing else: no tables, no types of columns, no session but its `sql_mode`. It takes what
//! MariaDB takes and gives 1064 for what MariaDB gives it for; what Narwal does not do is refused by name by those who get
//! the tree. It recurses no deeper than `Parser::nested` allows, whatever the text, and asks the accountant of memory
//! while it reads.
//!
//! | file | holds |
//! |---|---|
//! | `sql_mode.rs` | [`SqlMode`] |
//! | `token.rs`, `keyword.rs`, `lexer.rs` | text to tokens |
//! | `builtin.rs` | built-in functions whose names are keywords |
//! | `parser.rs` | the cursor that all of the grammar reads with |
//! | `ast/` | the trees |
//! | `row_alias.rs` | what an INSERT of MySQL's calls its row |
//! | `parse/` | the grammar, a file for each kind of statement |
//! | `literal_rows.rs` | rows of a long INSERT, kept as text |
//! | `text.rs` | a text of several statements |
//! | `glance.rs` | what can be told of a text without parsing it |
//! | `secrets.rs` | texts for others' eyes, without their secrets |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod ast;
mod builtin;
pub mod glance;
mod keyword;
mod lexer;
pub mod literal_rows;
mod parse;
mod parser;
mod row_alias;
pub mod scan;
pub mod secrets;
pub mod sql_mode;
mod text;
mod token;

pub use ast::{Expr, Statement};
pub use keyword::Kw;
pub use literal_rows::LiteralRows;
pub use parse::{parse_expression, parse_statement, parse_text};
pub use parser::{MAX_NESTING, ParseOptions, is_word_byte, syntax_error};
pub use sql_mode::SqlMode;
pub use text::split_statements;
pub use token::{Tok, Token};
