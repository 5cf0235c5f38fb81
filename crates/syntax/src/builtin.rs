//! Built-in functions whose names are keywords.

use crate::keyword::Kw;

/// Which window functions a word is: those that have OVER alone.
pub(crate) fn is_window_function(k: Kw) -> bool {
    matches!(
        k,
        Kw::ROW_NUMBER
            | Kw::RANK
            | Kw::DENSE_RANK
            | Kw::PERCENT_RANK
            | Kw::CUME_DIST
            | Kw::NTILE
            | Kw::FIRST_VALUE
            | Kw::NTH_VALUE
            | Kw::LEAD
            | Kw::LAG
            | Kw::MEDIAN
    )
}

/// Functions that aggregate, without GROUP_CONCAT and those of JSON.
pub(crate) fn is_aggregate(k: Kw) -> bool {
    matches!(
        k,
        Kw::AVG
            | Kw::BIT_AND
            | Kw::BIT_OR
            | Kw::BIT_XOR
            | Kw::COUNT
            | Kw::MAX
            | Kw::MIN
            | Kw::STD
            | Kw::STDDEV
            | Kw::STDDEV_POP
            | Kw::STDDEV_SAMP
            | Kw::SUM
            | Kw::VARIANCE
            | Kw::VAR_POP
            | Kw::VAR_SAMP
    )
}

/// Functions that can't be a name with the parenthesis right behind them.
pub(crate) fn is_no_name(k: Kw) -> bool {
    needs_adjacent(k)
        && !matches!(
            k,
            Kw::ADDDATE | Kw::SESSION_USER | Kw::SUBDATE | Kw::SYSTEM_USER
        )
}

/// Built-in functions that are keywords only with the parenthesis right behind them.
pub(crate) fn needs_adjacent(k: Kw) -> bool {
    (is_aggregate(k) && k != Kw::AVG)
        || (is_window_function(k) && k != Kw::ROW_NUMBER)
        || matches!(
            k,
            Kw::ADDDATE
                | Kw::CAST
                | Kw::CURDATE
                | Kw::CURTIME
                | Kw::DATE_ADD
                | Kw::DATE_SUB
                | Kw::EXTRACT
                | Kw::GROUP_CONCAT
                | Kw::JSON_ARRAYAGG
                | Kw::JSON_OBJECTAGG
                | Kw::MID
                | Kw::NOW
                | Kw::PERCENTILE_CONT
                | Kw::PERCENTILE_DISC
                | Kw::POSITION
                | Kw::SESSION_USER
                | Kw::SUBDATE
                | Kw::SUBSTR
                | Kw::SUBSTRING
                | Kw::SYSTEM_USER
                | Kw::TRIM
        )
}

/// Functions that tell the time, with digits of a fraction as their argument.
pub(crate) fn is_clock(k: Kw) -> bool {
    matches!(
        k,
        Kw::CURRENT_TIME
            | Kw::CURRENT_TIMESTAMP
            | Kw::CURTIME
            | Kw::LOCALTIME
            | Kw::LOCALTIMESTAMP
            | Kw::NOW
            | Kw::SYSDATE
            | Kw::UTC_TIME
            | Kw::UTC_TIMESTAMP
    )
}

/// How many arguments, at least and at most, the grammar has for a function that is a word of its own: with others its call
/// is no statement at all, where a function by name has a wrong number of parameters.
pub(crate) fn argument_bounds(k: Kw) -> Option<(usize, usize)> {
    Some(match k {
        Kw::CURDATE | Kw::CURRENT_DATE | Kw::UTC_DATE => (0, 0),
        Kw::CURRENT_ROLE | Kw::CURRENT_USER | Kw::SESSION_USER | Kw::SYSTEM_USER | Kw::USER => {
            (0, 0)
        }
        _ if is_clock(k) => (0, 1),
        Kw::ASCII | Kw::CHARSET | Kw::DATE | Kw::DAY | Kw::HOUR | Kw::MINUTE | Kw::MONTH => (1, 1),
        Kw::PASSWORD | Kw::SECOND | Kw::TIME | Kw::YEAR => (1, 1),
        Kw::TIMESTAMP => (1, 2),
        Kw::LEFT | Kw::MOD | Kw::REPEAT | Kw::RIGHT | Kw::TRUNCATE => (2, 2),
        Kw::IF | Kw::REPLACE => (3, 3),
        Kw::INSERT => (4, 4),
        _ => return None,
    })
}
