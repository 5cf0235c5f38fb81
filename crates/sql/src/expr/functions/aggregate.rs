//! The aggregates: one entry each. `exec/aggregate.rs` computes them.

use super::gathered::{Gathered, entry};
use crate::expr::node::AggFunc;
use crate::expr::node::NOT_FIXED;
use crate::expr::node::Typing;
use crate::expr::node::{Coercibility, Expr, ExprType};
use crate::expr::types::{BIGINT_CHARS, Class, collation_of};
use narwal_types::face::is_mysql;
use narwal_types::{BlobSize, Collation, SqlResult, TypeKind};

/// What an aggregate does with its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It counts them.
    Count,
    /// It takes one of them.
    One,
    /// It computes with numbers.
    Numbers,
    /// It makes one text of all of them.
    List,
}

/// An aggregate function.
pub type AggregateFunction = Gathered<AggFunc, Kind>;

/// All aggregates, in the order of [`AggFunc`].
pub static AGGREGATES: &[AggregateFunction] = &[
    entry(
        AggFunc::Count,
        (
            "count",
            "[DISTINCT] value",
            "How many values are not NULL; `COUNT(*)` counts rows.",
        ),
        Kind::Count,
        |_| Ok(ExprType::bigint(false, false).with_chars(BIGINT_CHARS, false)),
    ),
    entry(
        AggFunc::Sum,
        ("sum", "[DISTINCT] n", "The sum."),
        Kind::Numbers,
        sum_type,
    ),
    entry(
        AggFunc::Min,
        ("min", "value", "The least value."),
        Kind::One,
        one_of_all,
    ),
    entry(
        AggFunc::Max,
        ("max", "value", "The greatest value."),
        Kind::One,
        one_of_all,
    ),
    entry(
        AggFunc::Avg,
        ("avg", "[DISTINCT] n", "The average."),
        Kind::Numbers,
        average_type,
    ),
    entry(
        AggFunc::GroupConcat,
        (
            "group_concat",
            "[DISTINCT] text, ... [ORDER BY ...] [SEPARATOR text] [LIMIT n]",
            "The texts of all rows one behind the other.",
        ),
        Kind::List,
        |t| {
            let (c, k) = collation_of(t.types(), "group_concat")?;
            Ok(ExprType::string(1 << 20, c, k, true))
        },
    ),
    entry(
        AggFunc::BitAnd,
        ("bit_and", "n", "The bits that all numbers have."),
        Kind::Numbers,
        bits_type,
    ),
    entry(
        AggFunc::BitOr,
        ("bit_or", "n", "The bits that a number has."),
        Kind::Numbers,
        bits_type,
    ),
    entry(
        AggFunc::BitXor,
        ("bit_xor", "n", "The bits that an odd count of numbers has."),
        Kind::Numbers,
        bits_type,
    ),
    entry(
        AggFunc::StdPop,
        ("std", "n", "The standard deviation of a whole population."),
        Kind::Numbers,
        spread_type,
    )
    .or(&["stddev", "stddev_pop"]),
    entry(
        AggFunc::StdSamp,
        ("stddev_samp", "n", "The standard deviation of a sample."),
        Kind::Numbers,
        spread_type,
    ),
    entry(
        AggFunc::VarPop,
        ("variance", "n", "The variance of a whole population."),
        Kind::Numbers,
        spread_type,
    )
    .or(&["var_pop"]),
    entry(
        AggFunc::VarSamp,
        ("var_samp", "n", "The variance of a sample."),
        Kind::Numbers,
        spread_type,
    ),
    entry(
        AggFunc::JsonArray,
        (
            "json_arrayagg",
            "[DISTINCT] value [ORDER BY ...] [LIMIT n]",
            "A JSON array of all values.",
        ),
        Kind::List,
        json_type,
    ),
    entry(
        AggFunc::JsonObject,
        (
            "json_objectagg",
            "key, value",
            "A JSON object of all keys and values.",
        ),
        Kind::List,
        json_type,
    ),
];

/// What stored aggregate functions get. Nobody calls it by a name.
static ROWS: AggregateFunction = entry(AggFunc::Rows, ("rows", "", ""), Kind::List, |_| {
    Ok(ExprType::string(
        1 << 32,
        Collation::Binary,
        Coercibility::Implicit,
        true,
    ))
});

/// Finds an aggregate by one of its names, in lower case.
pub fn lookup(name: &str) -> Option<&'static AggregateFunction> {
    AGGREGATES.iter().find(|a| a.is_called(name))
}

impl AggFunc {
    /// The one that a name in lower case calls.
    pub fn named(name: &str) -> Option<AggFunc> {
        lookup(name).map(|a| a.func)
    }

    fn entry(self) -> &'static AggregateFunction {
        AGGREGATES.get(self as usize).unwrap_or(&ROWS)
    }

    /// The name that it is printed by.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Its values are numbers.
    pub fn is_numeric(self) -> bool {
        self.entry().kind == Kind::Numbers
    }

    /// It makes one text of all values.
    pub fn is_list(self) -> bool {
        self.entry().kind == Kind::List
    }

    /// The type of its result. `div_precision`: digits that an average adds.
    pub fn ty(self, args: &[Expr], div_precision: u8) -> SqlResult<ExprType> {
        self.entry().ty(args, div_precision)
    }
}

/// MIN and MAX: of NULL they have no type either, but one that counts.
fn one_of_all(t: &Typing<'_>) -> SqlResult<ExprType> {
    let ty = t.arg(0).with_nullable(true);
    // A short TEXT that is no column's is kept as what is just long enough.
    let computed = t.args.first().is_some_and(|e| e.as_column().is_none());
    let tiny = TypeKind::Text(BlobSize::Tiny) == ty.ty.kind
        || TypeKind::Blob(BlobSize::Tiny) == ty.ty.kind;
    Ok(match computed && tiny {
        true => ExprType::string(ty.chars(), ty.ty.collation, ty.coercibility, true),
        false => ExprType {
            null: t.args.is_empty(),
            ..ty
        },
    })
}

fn sum_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    if t.args.is_empty() {
        return Ok(ExprType::null());
    }
    let arg = t.arg(0);
    Ok(match arg.class() {
        Class::Double => ExprType::double_with(arg.decimals, true),
        // 22 digits more than the argument: room for as many rows.
        _ => ExprType::decimal(arg.int_digits() + 22, arg.scale(), true),
    })
}

fn average_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    if t.args.is_empty() {
        return Ok(ExprType::null());
    }
    let arg = t.arg(0);
    Ok(match arg.class() {
        Class::Double => {
            let decimals = arg.decimals.saturating_add(t.div_precision);
            let ty = ExprType::double_with(decimals, true);
            match arg.ty.form.digits {
                Some((digits, _)) if ty.is_fixed_double() => {
                    ty.with_width(u32::from(digits) + u32::from(t.div_precision))
                }
                _ => ty,
            }
        }
        _ => {
            let scale = arg.scale() + u32::from(t.div_precision);
            ExprType::decimal(arg.int_digits(), scale, true)
        }
    })
}

fn bits_type(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::bigint(true, false).with_chars(BIGINT_CHARS, false))
}

fn spread_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    if t.args.is_empty() {
        return Ok(ExprType::null());
    }
    let arg = t.arg(0);
    /// Characters of a double.
    const OF_DOUBLE: u32 = 17;
    // Room for the square, the sign and the point.
    let digits = 2 * (arg.int_digits() + arg.scale()) + u32::from(t.div_precision) + 2;
    Ok(ExprType {
        width: match arg.class() {
            _ if is_mysql() => 0,
            Class::Double if arg.is_fixed_double() => OF_DOUBLE + u32::from(arg.decimals),
            Class::Double => 0,
            _ if arg.ty.is_member() => OF_DOUBLE,
            _ => digits,
        },
        decimals: match arg.class() {
            Class::Double if arg.is_fixed_double() && !is_mysql() => {
                (arg.decimals + t.div_precision).min(30)
            }
            Class::Double => NOT_FIXED,
            // MySQL shows all digits.
            _ if is_mysql() => NOT_FIXED,
            _ => (arg.scale() as u8 + t.div_precision).min(30),
        },
        ..ExprType::double(true)
    })
}

fn json_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let (c, k) = collation_of(t.types(), "json_arrayagg")?;
    Ok(ExprType {
        json: true,
        ..ExprType::string(1 << 20, c, k.min(Coercibility::Coercible), true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stand_where_they_are_looked_for() {
        for (i, a) in AGGREGATES.iter().enumerate() {
            assert_eq!(a.func as usize, i, "{}", a.name);
            assert_eq!(AggFunc::named(a.name), Some(a.func));
            for alias in a.aliases {
                assert_eq!(AggFunc::named(alias), Some(a.func));
            }
        }
        assert_eq!(AggFunc::named("nosuch"), None);
    }
}
