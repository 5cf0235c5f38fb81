//! Tables of numbers that exist by their names: `seq_1_to_10`, `seq_1_to_10_step_3`.

use crate::bind::scope::Source;
use crate::plan::made::made_table;
use crate::plan::query::Rows;
use crate::planner::logical::Resolved;
use narwal_types::{ColumnType, SqlResult, TypeKind, Value};
use std::sync::Arc;

/// Rows between two looks at the memory that is left.
const ROWS_A_CHECK: u64 = 4096;

/// What the name of a sequence table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers {
    from: u64,
    to: u64,
    step: u64,
}

impl Numbers {
    fn named(name: &str) -> Option<Self> {
        let (from, rest) = name.strip_prefix("seq_")?.split_once("_to_")?;
        let (to, step) = rest.split_once("_step_").unwrap_or((rest, "1"));
        let number = |t: &str| match t.bytes().all(|b| b.is_ascii_digit()) {
            true => t.parse::<u64>().ok(),
            false => None,
        };
        let numbers = Numbers {
            from: number(from)?,
            to: number(to)?,
            step: number(step)?,
        };
        (numbers.step > 0).then_some(numbers)
    }

    /// They go down if the first is the largest.
    fn rows(self) -> SqlResult<Vec<Vec<Value>>> {
        let last = self.from.abs_diff(self.to) / self.step;
        let mut out = Vec::new();
        for n in 0..=last {
            if n % ROWS_A_CHECK == 0 {
                narwal_memory::check()?;
            }
            let way = n * self.step;
            let value = match self.from <= self.to {
                true => self.from + way,
                false => self.from - way,
            };
            out.push(vec![Value::UInt(value)]);
        }
        Ok(out)
    }
}

/// True for the name of such a table, which has one column: `seq`.
pub(crate) fn is_sequence_table(name: &str) -> bool {
    Numbers::named(name).is_some()
}

/// The table of that name, if it is a name of this kind.
pub(super) fn sequence_table(db: &str, name: &str, alias: &str) -> SqlResult<Option<Resolved>> {
    let Some(numbers) = Numbers::named(name) else {
        return Ok(None);
    };
    let column = ColumnType::unsigned(TypeKind::BigInt);
    let table = made_table(db, name, [("seq".to_string(), column, false)])?;
    Ok(Some(Resolved {
        source: Source::new(alias, table),
        rows: Rows::Virtual(Arc::new(move |_, _| numbers.rows())),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_numbers() {
        let values = |name: &str| -> Option<Vec<u64>> {
            let rows = Numbers::named(name)?.rows().unwrap();
            let number = |r: Vec<Value>| match r[0] {
                Value::UInt(n) => n,
                _ => panic!(),
            };
            Some(rows.into_iter().map(number).collect())
        };
        assert_eq!(values("seq_1_to_3"), Some(vec![1, 2, 3]));
        assert_eq!(values("seq_3_to_1"), Some(vec![3, 2, 1]));
        assert_eq!(values("seq_1_to_10_step_4"), Some(vec![1, 5, 9]));
        assert_eq!(values("seq_10_to_1_step_20"), Some(vec![10]));
        for none in [
            "seq_1_to_",
            "seq_to_1",
            "seq_1_to_3_step_0",
            "seq_-1_to_3",
            "seq1",
            "SEQ_1_to_3",
            "seq_1_to_3_x",
        ] {
            assert_eq!(values(none), None, "{none}");
        }
        let end = "seq_18446744073709551614_to_18446744073709551615";
        assert_eq!(values(end), Some(vec![u64::MAX - 1, u64::MAX]));
    }
}
