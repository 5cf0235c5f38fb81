//! TO_CHAR: Oracle's date formats.

use crate::expr::date::{self, month_name};
use crate::expr::node::Call;
use crate::expr::value::Val;
use narwal_types::temporal::SECOND;
use narwal_types::{DateTime, SqlResult};

/// Format elements, longer ones before their prefixes.
const ELEMENTS: &[&str] = &[
    "SYYYY", "YYYY", "MONTH", "HH24", "HH12", "A.D.", "B.C.", "A.M.", "P.M.", "RRRR", "YYY", "DDD",
    "DAY", "MON", "AD", "BC", "AM", "PM", "DD", "DY", "HH", "MI", "MM", "RR", "SS", "YY", "Y",
];

/// TO_CHAR(date [, format]).
pub(super) fn to_char<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Some(t) = c.datetime(0) else {
        return Ok(Val::NULL);
    };
    let format = if c.args.len() > 1 {
        c.text(1)
    } else {
        "YYYY-MM-DD HH24:MI:SS".to_string()
    };
    match write(t, &format) {
        Ok(s) => Ok(Val::text(s)),
        Err(rest) => {
            let shown: String = rest.chars().take(64).collect();
            Err(narwal_types::errors::STD_INVALID_ARGUMENT.text(format!(
                "Invalid argument error: date format not recognized at {shown} in function to_char."
            )))
        }
    }
}

/// The text, or what of the format is not understood.
fn write(t: DateTime, format: &str) -> Result<String, &str> {
    let d = t.date;
    let secs = t.micros / SECOND as u64;
    let (h, mi, s) = (secs / 3600, secs / 60 % 60, secs % 60);
    let mut out = String::new();
    let mut rest = format;
    while let Some(c) = rest.chars().next() {
        if let Some(e) = ELEMENTS.iter().find(|e| {
            rest.get(..e.len())
                .is_some_and(|p| p.eq_ignore_ascii_case(e))
        }) {
            rest = &rest[e.len()..];
            match *e {
                "YYYY" | "RRRR" | "SYYYY" => out += &format!("{:04}", d.year),
                "YYY" => out += &format!("{:03}", d.year % 1000),
                "YY" | "RR" => out += &format!("{:02}", d.year % 100),
                "Y" => out += &format!("{}", d.year % 10),
                "MONTH" => out += &format!("{:<9}", month_name(d.month).unwrap_or("")),
                "MON" => out += month_name(d.month).and_then(|m| m.get(..3)).unwrap_or("00"),
                "MM" => out += &format!("{:02}", d.month),
                "DDD" => out += &format!("{:03}", d.day_of_year()),
                "DD" => out += &format!("{:02}", d.day),
                "DAY" => out += &format!("{:<9}", date::day_name(&d)),
                "DY" => out += date::day_name(&d).get(..3).unwrap_or(""),
                "HH24" => out += &format!("{h:02}"),
                "HH" | "HH12" => out += &format!("{:02}", (h + 11) % 12 + 1),
                "MI" => out += &format!("{mi:02}"),
                "SS" => out += &format!("{s:02}"),
                "AD" | "BC" => out += "AD",
                "A.D." | "B.C." => out += "A.D.",
                "AM" | "PM" => out += if h < 12 { "AM" } else { "PM" },
                _ => out += if h < 12 { "A.M." } else { "P.M." },
            }
            continue;
        }
        if c == '"' {
            let Some(end) = rest[1..].find('"') else {
                return Err(rest);
            };
            out += &rest[1..=end];
            rest = &rest[end + 2..];
            continue;
        }
        if c.is_ascii_alphabetic() || !c.is_ascii() {
            return Err(rest);
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    Ok(out)
}
