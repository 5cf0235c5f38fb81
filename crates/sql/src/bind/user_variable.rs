//! User variables in expressions: their types are those of their values.

use crate::env::StatementEnv;
use crate::expr::node::{Coercibility, ExprType, NOT_FIXED};
use crate::user_kind::UserKind;
use narwal_types::{Collation, ColumnType, Name, TypeKind};

/// Most characters of a text: it is a LONGTEXT.
const CHARS: u64 = u32::MAX as u64;

/// Characters of a DECIMAL, whatever digits it has.
const DECIMAL_CHARS: u32 = 83;

/// The type of `@x` now. A plan notes it, for it fits only as long as the variable's kind stays.
pub(super) fn type_now(name: &str, env: &StatementEnv) -> ExprType {
    let mut kind = env.variables.user_kind(name);
    env.user_kinds.borrow_mut().push((name.into(), kind));
    if let UserKind::Null | UserKind::Text(_) = kind
        && let Some(c) = collation_of_assigned(name, env)
    {
        kind = UserKind::Text(c);
    }
    let text = |c| ExprType::string(CHARS, c, Coercibility::Implicit, true);
    match kind {
        UserKind::Null => text(Collation::Binary),
        UserKind::Int => ExprType::bigint(false, true),
        UserKind::UInt => ExprType::bigint(true, true),
        UserKind::Decimal => {
            ExprType::of_column(ColumnType::decimal(65, 38), true).with_width(DECIMAL_CHARS)
        }
        UserKind::Double => ExprType::double_with(NOT_FIXED, true),
        UserKind::Text(c) => text(c),
    }
}

/// Notes the collation that a value gives to a variable: names of it behind the assignment have that collation, though their
/// kind is still the one that the variable had before the statement.
pub(super) fn note_text(name: &str, ty: &ExprType, env: &StatementEnv) {
    if ty.null {
        return;
    }
    let collation = match ty.ty.is_string() {
        true => ty.ty.collation,
        false => env.collation,
    };
    let mut texts = env.user_texts.borrow_mut();
    texts.push((name.name_key().into(), collation));
}

fn collation_of_assigned(name: &str, env: &StatementEnv) -> Option<Collation> {
    let texts = env.user_texts.borrow();
    let mut latest = texts.iter().rev();
    latest.find(|(n, _)| n.same_name(name)).map(|(_, c)| *c)
}

/// The type of `@x := value`. A date is kept as a text, with the collation that MariaDB gives to digits.
pub(super) fn type_of_assignment(ty: &ExprType) -> ExprType {
    if ty.ty.is_temporal() || ty.ty.fixed().is_some() {
        let chars = ty.chars();
        let collation = Collation::Latin1SwedishCi;
        return ExprType::string(chars, collation, Coercibility::Implicit, ty.nullable);
    }
    let mut ty = match ty.ty.kind {
        TypeKind::Float => ExprType::double(ty.nullable),
        TypeKind::Year | TypeKind::Bit(_) => {
            ExprType::bigint(true, ty.nullable).with_width(ty.chars() as u32)
        }
        _ => ty.without_zeros(),
    };
    if ty.ty.is_integer() {
        ty.width = ty.chars() as u32;
        ty.ty.kind = TypeKind::BigInt;
    }
    if ty.ty.is_string() && !ty.null {
        ty.coercibility = Coercibility::Implicit;
    }
    ty.kept_text()
}
