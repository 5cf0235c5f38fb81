//! TO_CHAR: Oracle's date formats, as MariaDB has them.

use crate::expr::locale::Locale;
use crate::expr::node::{Call, ExprKind};
use crate::expr::value::Val;
use narwal_types::errors::STD_INVALID_ARGUMENT;
use narwal_types::temporal::SECOND;
use narwal_types::{Date, SqlError, SqlResult, Value, ValueRef};

/// Format elements, longer ones before their prefixes.
const ELEMENTS: &[&str] = &[
    "MONTH", "YYYY", "HH24", "HH12", "A.D.", "B.C.", "A.M.", "P.M.", "RRRR", "YYY", "DAY", "MON",
    "AD", "BC", "AM", "PM", "DD", "DY", "HH", "MI", "MM", "RR", "SS", "YY", "Y",
];

/// The format of a call without one.
pub(crate) const USUAL_FORMAT: &str = "YYYY-MM-DD HH24:MI:SS";

/// What the name of a month or a day counts, whatever the language: nine characters of three bytes.
const LONGEST_NAME: usize = 27;

/// A format has no more characters.
const LONGEST: usize = 144;

/// TO_CHAR(date [, format]).
///
/// # Errors
/// 3047 for a constant format that is not understood. Another one makes NULL, with a warning.
pub(super) fn to_char<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let format = match c.args.len() > 1 {
        true if c.v(1).is_null() => return Ok(Val::NULL),
        true => c.text(1),
        false => USUAL_FORMAT.to_string(),
    };
    let Some(m) = moment(c) else {
        return Ok(Val::NULL);
    };
    let literal = matches!(
        c.exprs().get(1).map(|e| &e.kind),
        Some(ExprKind::Literal(Value::Str(_)))
    );
    if format.is_empty() && !literal {
        return Ok(Val::NULL);
    }
    let written = match is_too_long(&format) {
        Some(e) => Err(e),
        None => m.write(&format).map_err(not_recognized),
    };
    match written {
        Ok(s) => Ok(Val::text(s)),
        Err(e) => {
            if literal {
                return Err(e);
            }
            c.ctx.env.warn(e.code, e.message);
            Ok(Val::NULL)
        }
    }
}

fn is_too_long(format: &str) -> Option<SqlError> {
    (format.chars().count() > LONGEST).then(|| invalid("datetime format string is too long"))
}

fn not_recognized(rest: &str) -> SqlError {
    let shown: String = rest.chars().take(64).collect();
    invalid(&format!("date format not recognized at {shown}"))
}

fn invalid(why: &str) -> SqlError {
    STD_INVALID_ARGUMENT.text(format!(
        "Invalid argument error: {why} in function to_char."
    ))
}

/// A day and the time of that day; the day of a TIME is zero.
struct Moment {
    date: Date,
    seconds: u64,
    names: &'static Locale,
}

fn moment(c: &Call<'_, '_>) -> Option<Moment> {
    let (date, micros) = match c.v(0) {
        ValueRef::Time(t) => (Date::default(), t.micros.unsigned_abs()),
        _ => c.datetime(0).map(|t| (t.date, t.micros))?,
    };
    Some(Moment {
        date,
        seconds: micros / SECOND as u64,
        names: Locale::of(c.ctx.env),
    })
}

/// What may stand between elements.
fn separates(c: char) -> bool {
    c == ' ' || c.is_ascii_punctuation()
}

/// The element that a format begins with.
fn first_element(format: &str) -> Option<&'static str> {
    let begins = |e: &&&str| (format.get(..e.len())).is_some_and(|p| p.eq_ignore_ascii_case(e));
    ELEMENTS.iter().find(begins).copied()
}

/// The most characters of what a format makes.
///
/// # Errors
/// 3047 for a format that is not understood, or is too long.
pub(super) fn width(format: &str) -> SqlResult<u64> {
    if let Some(e) = is_too_long(format) {
        return Err(e);
    }
    let (mut chars, mut rest) = (0, format);
    while let Some(c) = rest.chars().next() {
        let behind = if let Some(e) = first_element(rest) {
            chars += match e {
                "MONTH" | "DAY" => LONGEST_NAME,
                "HH24" | "HH12" => 2,
                e => e.len(),
            };
            &rest[e.len()..]
        } else {
            let behind = match c {
                '"' => rest[1..].split_once('"').map_or("", |(_, behind)| behind),
                c if separates(c) => {
                    separators(rest, &mut String::new()).map_err(not_recognized)?
                }
                _ => return Err(not_recognized(rest)),
            };
            chars += rest.chars().count() - behind.chars().count();
            behind
        };
        rest = behind;
    }
    Ok(chars as u64)
}

impl Moment {
    /// The text, or what of the format is not understood.
    fn write<'f>(&self, format: &'f str) -> Result<String, &'f str> {
        let mut out = String::new();
        let mut rest = format;
        while let Some(c) = rest.chars().next() {
            if let Some(e) = first_element(rest) {
                rest = &rest[e.len()..];
                self.element(e, &mut out);
            } else if c == '"' {
                let (text, behind) = rest[1..].split_once('"').unwrap_or((&rest[1..], ""));
                out += text;
                rest = behind;
            } else if separates(c) {
                rest = separators(rest, &mut out)?;
            } else {
                return Err(rest);
            }
        }
        Ok(out)
    }

    fn element(&self, element: &str, out: &mut String) {
        let d = &self.date;
        let (h, mi, s) = (
            self.seconds / 3600,
            self.seconds / 60 % 60,
            self.seconds % 60,
        );
        let christian = |after, before| if d.year > 0 { after } else { before };
        let half = |first, second| if h < 12 { first } else { second };
        let month = |short| self.names.month(d.month, short);
        let day = |short| {
            let weekday = (d.month > 0 && d.day > 0).then(|| d.weekday() as usize)?;
            self.names.day(weekday, short)
        };
        *out += &match element {
            "YYYY" | "RRRR" => format!("{:04}", d.year),
            "YYY" => format!("{:03}", d.year % 1000),
            "YY" | "RR" => format!("{:02}", d.year % 100),
            "Y" => format!("{}", d.year % 10),
            "MONTH" => padded(month(false), self.names.month_width()),
            "MON" => month(true).unwrap_or("00").to_owned(),
            "MM" => format!("{:02}", d.month),
            "DD" => format!("{:02}", d.day),
            "DAY" => padded(day(false), self.names.day_width()),
            "DY" => day(true).unwrap_or("00").to_owned(),
            "HH24" => format!("{h:02}"),
            "HH" | "HH12" => format!("{:02}", (h + 11) % 12 + 1),
            "MI" => format!("{mi:02}"),
            "SS" => format!("{s:02}"),
            "AD" | "BC" => christian("AD", "BC").to_owned(),
            "A.D." | "B.C." => christian("A.D.", "B.C.").to_owned(),
            "AM" | "PM" => half("AM", "PM").to_owned(),
            _ => half("A.M.", "P.M.").to_owned(),
        };
    }
}

/// A name with blanks behind it, so that all of its kind have the same width; `00` for none.
fn padded(name: Option<&str>, width: usize) -> String {
    name.map_or("00".to_owned(), |n| format!("{n:<width$}"))
}

/// Takes what stands between elements. A bar in front of it only parts it from the element before; an ampersand there must not
/// stand before a letter, as a variable does in Oracle's tools.
fn separators<'f>(format: &'f str, out: &mut String) -> Result<&'f str, &'f str> {
    let end = format.find(|c| c == '"' || !separates(c));
    let (run, rest) = format.split_at(end.unwrap_or(format.len()));
    if run == "&" && rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(format);
    }
    *out += run.strip_prefix('|').unwrap_or(run);
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &str) -> Result<String, &str> {
        let m = Moment {
            date: Date::new(2000, 11, 1),
            seconds: (14 * 60 + 5) * 60 + 6,
            names: Locale::english(),
        };
        m.write(format)
    }

    #[test]
    fn between_elements() {
        assert_eq!(written("MM| |DD").unwrap(), "11 |01");
        assert_eq!(written("|MM-|DD&&YY").unwrap(), "11-|01&&00");
        assert_eq!(written("MM\"a\"|\"b\"||DD").unwrap(), "11ab|01");
        assert_eq!(written("\"a|b").unwrap(), "a|b");
        assert_eq!(written("YYYY&MM"), Err("&MM"));
        assert_eq!(written("YYYY-D"), Err("D"));
        assert_eq!(written("MM\tDD"), Err("\tDD"));
        assert_eq!(written("MMé"), Err("é"));
    }

    #[test]
    fn names_have_one_width() {
        assert_eq!(
            written("[DAY][MONTH][dy][mon]").unwrap(),
            "[Wednesday][November ][Wed][Nov]"
        );
        assert_eq!(
            written("HH:MI:SS PM BC RRRR").unwrap(),
            "02:05:06 PM AD 2000"
        );
    }
}
