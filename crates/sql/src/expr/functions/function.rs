//! What an entry of the registry is.

use crate::expr::node::{Expr, ExprType, Typing};
use crate::expr::node::{
    Function, Nulls, OfOperands, OfValues, Refuses, Results, Run, Steadiness, Takes, TypeOf,
};
use narwal_types::SqlResult;
use narwal_types::decimal::DIV_PRECISION_INCREMENT;

/// No upper limit of arguments.
pub(super) const ANY: usize = usize::MAX;

/// Fewest and most arguments of what a usage shows.
const fn argument_counts(usage: &str) -> (usize, usize) {
    let b = usage.as_bytes();
    let (mut needed, mut optional, mut any) = (0, 0, false);
    let (mut depth, mut inside, mut i) = (0, false, 0);
    while i < b.len() {
        match b[i] {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b',' => inside = false,
            b' ' => {}
            b'.' if !inside => {
                inside = true;
                any = true;
            }
            _ if !inside => {
                inside = true;
                if depth > 0 {
                    optional += 1;
                } else {
                    needed += 1;
                }
            }
            _ => {}
        }
        i += 1;
    }
    (needed, if any { ANY } else { needed + optional })
}

const fn starts_with(text: &str, start: &str) -> bool {
    let (t, s) = (text.as_bytes(), start.as_bytes());
    let mut i = 0;
    while i < s.len() {
        if i == t.len() || t[i] != s[i] {
            return false;
        }
        i += 1;
    }
    true
}

impl Function {
    const fn with(
        (name, usage, doc): (&'static str, &'static str, &'static str),
        ty: TypeOf,
        run: Run,
    ) -> Self {
        let (min, max) = argument_counts(usage);
        Function {
            name,
            aliases: &[],
            usage,
            doc,
            min,
            max,
            pairs: None,
            deprecated: false,
            takes: Takes::Anything,
            computes: false,
            json: false,
            predicate: false,
            results: None,
            never_defined: false,
            refuses_fixed: Refuses::Nothing,
            nulls: Nulls::Result,
            run,
            unwinds: starts_with(name, "json_"),
            steadiness: Steadiness::Constant,
            constant_from: ANY,
            ty,
        }
    }

    /// A function of its arguments' values: name, arguments, documentation, result type, evaluation.
    pub(super) const fn new(
        name: &'static str,
        usage: &'static str,
        doc: &'static str,
        ty: TypeOf,
        run: OfValues,
    ) -> Self {
        Function::with((name, usage, doc), ty, Run::Values(run))
    }

    /// A function that evaluates its arguments itself.
    pub(super) const fn of_operands(
        name: &'static str,
        usage: &'static str,
        doc: &'static str,
        ty: TypeOf,
        run: OfOperands,
    ) -> Self {
        Function::with((name, usage, doc), ty, Run::Operands(run))
    }

    /// Other names.
    pub(super) const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Each use gets a note: it will go.
    pub(super) const fn deprecated(mut self) -> Self {
        self.deprecated = true;
        self
    }

    /// The value for NULL arguments need not be NULL.
    pub(super) const fn takes_null(mut self) -> Self {
        self.nulls = Nulls::Seen;
        self
    }

    /// Only a NULL in the first argument makes the result NULL.
    pub(super) const fn null_of_first(mut self) -> Self {
        self.nulls = Nulls::OfFirst;
        self
    }

    /// It differs from row to row, or evaluating it does something.
    pub(super) const fn volatile(mut self) -> Self {
        self.steadiness = Steadiness::Row;
        self
    }

    /// It differs by session or time.
    pub(super) const fn of_session(mut self) -> Self {
        self.steadiness = Steadiness::Statement;
        self
    }

    /// It is constant once it is given so many arguments.
    pub(super) const fn constant_with(mut self, args: usize) -> Self {
        self.constant_from = args;
        self
    }

    /// No definition of a table may hold it.
    pub(super) const fn never_defined(mut self) -> Self {
        self.never_defined = true;
        self
    }

    /// Its result is JSON.
    pub(super) const fn json(mut self) -> Self {
        self.json = true;
        self
    }

    /// Its result is a truth value.
    pub(super) const fn predicate(mut self) -> Self {
        self.predicate = true;
        self
    }

    /// A function of numbers: it computes with all digits that they have, and refuses what is no number.
    pub(super) const fn computes(mut self) -> Self {
        self.computes = true;
        self
    }

    /// Its arguments are numbers.
    pub(super) const fn takes_numbers(mut self) -> Self {
        self.takes = Takes::Numbers;
        self
    }

    /// Its arguments are texts.
    pub(super) const fn takes_texts(mut self) -> Self {
        self.takes = Takes::Texts;
        self
    }

    /// It takes no UUID, INET4 or INET6; errors call it by its name.
    pub(super) const fn no_fixed(mut self) -> Self {
        self.refuses_fixed = Refuses::Each(self.name);
        self
    }

    /// It takes no UUID, INET4 or INET6; errors call it by another name.
    pub(super) const fn no_fixed_as(mut self, name: &'static str) -> Self {
        self.refuses_fixed = Refuses::Each(name);
        self
    }

    /// The same of a function of two values: errors name the types of both.
    pub(super) const fn no_fixed_pair(mut self) -> Self {
        self.refuses_fixed = Refuses::Pair;
        self
    }

    /// The same, and only its first argument is asked.
    pub(super) const fn no_fixed_first(mut self) -> Self {
        self.refuses_fixed = Refuses::First;
        self
    }

    /// Which arguments can be the result: they are converted to its type.
    pub(super) const fn results(mut self, is_one: fn(usize, usize) -> bool) -> Self {
        self.results = Some(Results {
            is_one,
            converted: true,
            but_texts: false,
        });
        self
    }

    /// Which arguments can be the result: they are branches of its type.
    pub(super) const fn branches(mut self, is_one: fn(usize, usize) -> bool) -> Self {
        self.results = Some(Results {
            is_one,
            converted: false,
            but_texts: false,
        });
        self
    }

    /// All arguments can be the result, which are branches of its type unless that is a text.
    pub(super) const fn branches_but_texts(mut self) -> Self {
        self.results = Some(Results {
            is_one: |_, _| true,
            converted: false,
            but_texts: true,
        });
        self
    }

    /// Behind so many arguments they come in pairs.
    pub(super) const fn pairs_behind(mut self, n: usize) -> Self {
        self.pairs = Some(n);
        self
    }

    /// The name that it is printed by.
    pub fn name(&self) -> &'static str {
        self.name.trim_start()
    }

    /// True if only the parser makes calls of it.
    pub fn is_hidden(&self) -> bool {
        self.name.starts_with(' ')
    }

    /// All names that it is found by.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// True if a call with so many arguments is possible.
    pub fn accepts(&self, args: usize) -> bool {
        (self.min..=self.max).contains(&args)
            && self.pairs.is_none_or(|n| (args + n).is_multiple_of(2))
    }

    /// How steady the value of a call with so many arguments is.
    pub fn steadiness(&self, args: usize) -> Steadiness {
        match args >= self.constant_from {
            true => Steadiness::Constant,
            false => self.steadiness,
        }
    }

    /// A server that runs the statement's text with what its event says of the session (time, time zone, default database) gets
    /// the same value.
    pub fn is_repeatable(&self, args: usize) -> bool {
        const OF_THE_EVENT: [&str; 13] = [
            "curdate",
            "current_timestamp",
            "curtime",
            "database",
            "date_format",
            "dayname",
            "from_unixtime",
            "monthname",
            "unix_timestamp",
            "utc_date",
            "utc_time",
            "utc_timestamp",
            "week",
        ];
        self.steadiness(args) == Steadiness::Constant || OF_THE_EVENT.contains(&self.name())
    }

    /// The value differs from row to row, or evaluating it does something.
    pub fn is_volatile(&self) -> bool {
        self.steadiness == Steadiness::Row
    }

    /// The result's type.
    pub fn ty(&self, args: &[Expr]) -> SqlResult<ExprType> {
        let ty = (self.ty)(&Typing {
            name: self.name(),
            args,
            div_precision: DIV_PRECISION_INCREMENT,
        })?;
        let ty = match ty.ty.is_integer().then(|| integer_width(self.name())) {
            Some(Some(width)) => ty.with_chars(width, is_natural(self.name())),
            _ => ty,
        };
        Ok(ExprType {
            json: self.json || ty.json,
            boolean: self.predicate || ty.boolean,
            ..ty.without_zeros()
        })
    }
}

/// Characters of the integers that a function gives, where they are fewer or more than its type's.
fn integer_width(function: &str) -> Option<u32> {
    Some(match function {
        "isnull" | "is_ipv4" | "is_ipv6" | "is_ipv4_compat" | "is_ipv4_mapped"
        | "column_exists" | "column_check" | "dayofweek" | "weekday" | "benchmark" | "sleep"
        | "get_lock" | "release_lock" | "is_free_lock" | "json_valid" | "json_exists"
        | "json_contains" | "json_contains_path" | "json_overlaps" | "json_equals" | "regexp" => 1,
        "quarter" | "strcmp" | "sign" | "bit_count" | "interval" => 2,
        "month" | "dayofmonth" | "hour" | "minute" | "second" | "week" | "weekofyear" | "field"
        | "ascii" | "find_in_set" => 3,
        "dayofyear" => 4,
        "year" => 5,
        "yearweek" | "period_add" | "period_diff" => 6,
        "to_days" | "microsecond" | "ord" => 7,
        "datediff" => 8,
        "length"
        | "lengthb"
        | "octet_length"
        | "char_length"
        | "uncompressed_length"
        | "coercibility"
        | "connection_id"
        | "is_used_lock"
        | "json_length"
        | "json_depth"
        | "crc32" => 10,
        "bit_length" | "locate" | "instr" | "position" => 11,
        "to_seconds" => 12,
        "time_to_sec" | "unix_timestamp" => 17,
        "row_count" | "found_rows" | "timestampdiff" | "inet_aton" | "master_pos_wait"
        | "uuid_short" => 21,
        "release_all_locks" => 11,
        _ => return None,
    })
}

/// Parts of dates and times have no sign, though their type has one.
fn is_natural(function: &str) -> bool {
    matches!(
        function,
        "quarter"
            | "month"
            | "dayofmonth"
            | "dayofyear"
            | "hour"
            | "minute"
            | "second"
            | "week"
            | "weekofyear"
            | "year"
            | "to_days"
            | "microsecond"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usages_say_how_many_arguments() {
        for (usage, want) in [
            ("", (0, 0)),
            ("text", (1, 1)),
            ("[seed]", (0, 1)),
            ("text, from[, length]", (2, 3)),
            ("x[, y[, z]]", (1, 3)),
            ("text, ...", (1, ANY)),
            ("[x, ...]", (0, ANY)),
        ] {
            assert_eq!(argument_counts(usage), want, "{usage}");
        }
    }
}
