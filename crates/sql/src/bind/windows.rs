//! The calls of window functions of a SELECT, as they are met.

use crate::expr::functions::window::Wants;
use crate::expr::node::ExprType;
use crate::expr::window::Computes;
use narwal_syntax::ast::{OrderItem, WindowSpec};
use std::cell::RefCell;

/// A call whose window is not bound yet.
#[derive(PartialEq)]
pub struct Pending {
    pub(super) computes: Computes,
    pub(super) ty: ExprType,
    /// Its name, and what it wants of the window.
    pub(super) name: &'static str,
    pub(super) wants: Wants,
    pub(super) spec: WindowSpec,
    /// ORDER BY of WITHIN GROUP.
    pub(super) within: Vec<OrderItem>,
}

/// The calls of a SELECT.
pub struct Windows<'a> {
    /// WINDOW.
    pub named: &'a [(String, WindowSpec)],
    /// The calls; equal ones once.
    pub calls: RefCell<Vec<Pending>>,
}

impl<'a> Windows<'a> {
    /// No calls yet.
    pub fn new(named: &'a [(String, WindowSpec)]) -> Self {
        Windows {
            named,
            calls: RefCell::default(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.calls.borrow().is_empty()
    }
}

/// Whether window functions may stand in a place.
#[derive(Clone, Copy)]
pub enum WindowsHere<'a> {
    /// They are collected.
    Allowed(&'a Windows<'a>),
    /// It is the argument of an aggregate or of a window function.
    InArgument,
    /// They may not.
    Refused,
}
