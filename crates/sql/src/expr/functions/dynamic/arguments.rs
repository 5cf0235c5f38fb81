//! The arguments of calls about dynamic columns: values with columns, and names.

use super::packed::{Name, Packed};
use crate::expr::node::Call;
use crate::expr::value::Val;
use narwal_types::{SqlError, SqlResult, Value, ValueRef, errors};

#[cold]
pub(super) fn wrong_format() -> SqlError {
    errors::DYN_COL_WRONG_FORMAT.plain()
}

/// True if names of this argument's type are numbers.
fn is_numbered(c: &Call<'_, '_>, i: usize) -> bool {
    c.exprs().get(i).is_some_and(|e| e.ty.ty.is_integer())
}

/// An argument as a name; `None` if it is NULL, or a number that no column has.
pub(super) fn name(c: &Call<'_, '_>, i: usize) -> Option<Name> {
    match c.v(i) {
        ValueRef::Null => None,
        _ if is_numbered(c, i) => u16::try_from(c.int(i)).ok().map(Name::Number),
        _ => Some(Name::Text(c.text(i).into_bytes())),
    }
}

/// The columns of a call's first argument.
pub(super) fn columns_of(b: &[u8]) -> SqlResult<Packed<'_>> {
    narwal_memory::reserve(4 * b.len() as u64)?;
    Packed::read(b).ok_or_else(wrong_format)
}

/// An owned value.
pub(super) fn owned<'a>(v: Value) -> Val<'a> {
    Val::Owned(v)
}
