//! Stored programs: procedures, functions, triggers, events, packages, and the language of their bodies.
//!
//! A body is made of statements and a statement may define a program, so those trees stand with [`Statement`] in
//! `ast/statement.rs`.
//!
//! [`Statement`]: super::Statement

mod parts;

pub use super::statement::{
    AlterEvent, Block, Body, CreateEvent, CreatePackage, CreateRoutine, CreateTrigger, Declaration,
    EventParts, Loop, LoopKind, PackageRoutine, Program,
};
pub use parts::*;
