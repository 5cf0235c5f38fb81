//! How tightly operators hold, from loose to tight.

pub(super) const OR: u8 = 1;
pub(super) const XOR: u8 = 2;
pub(super) const AND: u8 = 3;
pub(super) const NOT: u8 = 4;
pub(super) const COMPARE: u8 = 6;
/// BETWEEN, and all that may stand beside LIKE.
pub(super) const BETWEEN: u8 = 7;
pub(super) const LIKE: u8 = 8;
/// An operand of LIKE.
pub(super) const OPERAND: u8 = 9;
pub(super) const BIT_OR: u8 = 10;
pub(super) const BIT_AND: u8 = 11;
pub(super) const SHIFT: u8 = 12;
pub(super) const ADD: u8 = 13;
pub(super) const MULTIPLY: u8 = 14;
pub(super) const BIT_XOR: u8 = 15;
pub(super) const CONCAT: u8 = 16;
/// An operand with the operators in front of it.
pub(super) const SIMPLE: u8 = 17;
