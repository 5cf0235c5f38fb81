//! SFORMAT: a text with `{}` replaced by values, in the language of the library {fmt}.

use crate::expr::node::Call;
use crate::expr::value::Val;
use narwal_types::errors::codes;
use narwal_types::{Collation, SqlResult, ValueRef};

/// What MariaDB says of a format that it can't follow.
type Wrong = &'static str;

const BAD_FORMAT: Wrong = "invalid format string";
const BAD_TYPE: Wrong = "invalid type specifier";
const NO_ARGUMENT: Wrong = "argument not found";
const NO_END: Wrong = "missing '}' in format string";

pub(super) fn sformat<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    // Bytes are characters until all is put together.
    let binary = c.expr.ty.ty.collation == Collation::Binary;
    let format = text_of(c.v(0), binary);
    let mut reader = Reader {
        rest: &format,
        args: (1..c.args.len()).map(|i| Arg::of(c.v(i), binary)).collect(),
        next: Next::Unsaid,
    };
    let mut out = String::new();
    loop {
        match reader.part(&mut out) {
            Ok(Some((arg, spec))) => {
                if !c.may_be(out.len() as u64 + spec.least())? {
                    return Ok(Val::NULL);
                }
                match spec.placed(&reader.args[arg]) {
                    Ok(text) => out.push_str(&text),
                    Err(what) => return wrong(c, what),
                }
            }
            Ok(None) if binary => return c.string(out.chars().map(|c| c as u8).collect()),
            Ok(None) => return c.string(out.into_bytes()),
            Err(what) => return wrong(c, what),
        }
        if !c.may_be(out.len() as u64)? {
            return Ok(Val::NULL);
        }
    }
}

fn wrong<'a>(c: &Call<'a, '_>, what: Wrong) -> SqlResult<Val<'a>> {
    let told = format!("SFORMAT error: {what}");
    c.ctx.env.warn(codes::WARN_SFORMAT_ERROR, told);
    Ok(Val::NULL)
}

/// A value's text; if `binary`, a character for each of its bytes.
fn text_of(v: ValueRef<'_>, binary: bool) -> String {
    if !binary {
        return v.to_text();
    }
    let mut bytes = Vec::new();
    v.write_text(&mut bytes);
    bytes.into_iter().map(char::from).collect()
}

/// A value as {fmt} sees it.
enum Arg {
    Int(i64),
    Real(f64),
    Text(String),
}

impl Arg {
    fn of(v: ValueRef<'_>, binary: bool) -> Arg {
        match v {
            ValueRef::Int(n) => Arg::Int(n),
            ValueRef::UInt(n) => Arg::Int(n as i64),
            ValueRef::Bits(b) => Arg::Int(b.value as i64),
            ValueRef::Decimal(d) => Arg::Real(d.to_f64()),
            ValueRef::Double(f) => Arg::Real(f),
            // The double of the shortest digits.
            ValueRef::Float(f) => Arg::Real(f.to_string().parse().unwrap_or(f64::from(f))),
            v => Arg::Text(text_of(v, binary)),
        }
    }
}

/// How arguments without a number are counted.
enum Next {
    Unsaid,
    Automatic(usize),
    Manual,
}

struct Reader<'t> {
    rest: &'t str,
    args: Vec<Arg>,
    next: Next,
}

impl Reader<'_> {
    /// Copies text up to the next place of a value; which one, and how it is shown. `None` at the end.
    fn part(&mut self, out: &mut String) -> Result<Option<(usize, Spec)>, Wrong> {
        loop {
            let Some(at) = self.rest.find(['{', '}']) else {
                out.push_str(self.rest);
                self.rest = "";
                return Ok(None);
            };
            out.push_str(&self.rest[..at]);
            let brace = self.rest[at..].chars().next().unwrap_or('{');
            self.rest = &self.rest[at + 1..];
            if self.rest.starts_with(brace) {
                out.push(brace);
                self.rest = &self.rest[1..];
            } else if brace == '}' {
                return Err("unmatched '}' in format string");
            } else {
                return self.field().map(Some);
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let there = self.rest.starts_with(c);
        if there {
            self.rest = &self.rest[c.len_utf8()..];
        }
        there
    }

    /// Behind a brace: `[argument][:specification]}`.
    fn field(&mut self) -> Result<(usize, Spec), Wrong> {
        let arg = self.argument()?;
        if arg >= self.args.len() {
            return Err(NO_ARGUMENT);
        }
        if self.eat('}') {
            return Ok((arg, Spec::default()));
        }
        if !self.eat(':') {
            return Err(BAD_FORMAT);
        }
        let spec = self.spec(arg)?;
        match self.eat('}') {
            true => Ok((arg, spec)),
            false => Err(NO_END),
        }
    }

    /// The number of an argument, or the next one.
    fn argument(&mut self) -> Result<usize, Wrong> {
        match self.peek() {
            Some('}' | ':') => {
                let n = match self.next {
                    Next::Unsaid => 0,
                    Next::Automatic(n) => n,
                    Next::Manual => {
                        return Err("cannot switch from manual to automatic argument indexing");
                    }
                };
                self.next = Next::Automatic(n + 1);
                Ok(n)
            }
            Some(c) if c.is_ascii_digit() => {
                // No number but 0 begins with it.
                let n = match self.eat('0') {
                    true => 0,
                    false => self.number().map_err(|_| NO_ARGUMENT)?,
                };
                if !matches!(self.peek(), Some('}' | ':')) {
                    return Err(BAD_FORMAT);
                }
                if matches!(self.next, Next::Automatic(_)) {
                    return Err("cannot switch from automatic to manual argument indexing");
                }
                self.next = Next::Manual;
                Ok(n)
            }
            // A name, which no argument has.
            Some(c) if c.is_ascii_alphabetic() || c == '_' => Err(NO_ARGUMENT),
            _ => Err(BAD_FORMAT),
        }
    }

    fn number(&mut self) -> Result<usize, Wrong> {
        let n = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(n);
        self.rest = rest;
        let number = digits.parse::<u32>().ok();
        let number = number.filter(|n| i32::try_from(*n).is_ok());
        number.map(|n| n as usize).ok_or("number is too big")
    }

    /// `[[fill]align][sign][#][0][width][.precision][L][type]` of a value.
    fn spec(&mut self, arg: usize) -> Result<Spec, Wrong> {
        if self.rest.is_empty() {
            return Err(NO_END);
        }
        let mut spec = Spec::default();
        let is_align = |c: &char| matches!(c, '<' | '>' | '^');
        let mut chars = self.rest.chars();
        let (first, second) = (chars.next(), chars.next());
        if let (Some(fill), Some(align)) = (first, second.filter(is_align)) {
            if fill == '{' {
                return Err("invalid fill character '{'");
            }
            (spec.fill, spec.align) = (fill, Some(align));
            self.rest = &self.rest[fill.len_utf8() + 1..];
        } else if let Some(align) = first.filter(is_align) {
            spec.align = Some(align);
            self.rest = &self.rest[1..];
        }
        self.flags(arg, &mut spec)?;
        spec.width = self.size(["negative width", "width is not integer"])?;
        if self.eat('.') {
            if !matches!(self.peek(), Some('0'..='9' | '{')) {
                return Err("missing precision specifier");
            }
            spec.precision = self.size(["negative precision", "precision is not integer"])?;
            if matches!(self.args[arg], Arg::Int(_)) {
                return Err("precision not allowed for this argument type");
            }
        }
        spec.grouped = self.numeric_flag(arg, 'L')?;
        if let Some(kind) = self.peek().filter(|c| *c != '}') {
            if !spec.takes(kind, &self.args[arg]) {
                return Err(BAD_TYPE);
            }
            spec.kind = Some(kind);
            self.eat(kind);
        }
        Ok(spec)
    }

    /// Sign, `#` and `0`, which only numbers have.
    fn flags(&mut self, arg: usize, spec: &mut Spec) -> Result<(), Wrong> {
        for sign in ['+', '-', ' '] {
            if self.numeric_flag(arg, sign)? {
                spec.sign = Some(sign);
                break;
            }
        }
        spec.alternative = self.numeric_flag(arg, '#')?;
        if self.numeric_flag(arg, '0')? {
            spec.fill = '0';
            spec.align.get_or_insert('=');
        }
        Ok(())
    }

    fn numeric_flag(&mut self, arg: usize, flag: char) -> Result<bool, Wrong> {
        match self.eat(flag) {
            true if matches!(self.args[arg], Arg::Text(_)) => {
                Err("format specifier requires numeric argument")
            }
            there => Ok(there),
        }
    }

    /// A width or a precision: a number, or that of an argument.
    fn size(&mut self, [negative, no_number]: [Wrong; 2]) -> Result<Option<usize>, Wrong> {
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return self.number().map(Some);
        }
        if !self.eat('{') {
            return Ok(None);
        }
        let arg = self.argument()?;
        if !self.eat('}') {
            return Err(BAD_FORMAT);
        }
        match self.args.get(arg) {
            None => Err(NO_ARGUMENT),
            Some(Arg::Int(n)) if *n < 0 => Err(negative),
            Some(Arg::Int(n)) => match i32::try_from(*n) {
                Ok(n) => Ok(Some(n as usize)),
                Err(_) => Err("number is too big"),
            },
            Some(_) => Err(no_number),
        }
    }
}

/// How a value is shown.
struct Spec {
    fill: char,
    /// `<`, `>` and `^`; `=` fills between the sign and the digits.
    align: Option<char>,
    sign: Option<char>,
    alternative: bool,
    width: Option<usize>,
    precision: Option<usize>,
    grouped: bool,
    kind: Option<char>,
}

impl Default for Spec {
    fn default() -> Self {
        Spec {
            fill: ' ',
            align: None,
            sign: None,
            alternative: false,
            width: None,
            precision: None,
            grouped: false,
            kind: None,
        }
    }
}

impl Spec {
    fn takes(&self, kind: char, arg: &Arg) -> bool {
        match arg {
            Arg::Int(_) => matches!(kind, 'd' | 'x' | 'X' | 'b' | 'B' | 'o' | 'c'),
            Arg::Real(_) => matches!(kind, 'a' | 'A' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G'),
            Arg::Text(_) => matches!(kind, 's' | '?'),
        }
    }

    /// Bytes that it takes whatever the value is.
    fn least(&self) -> u64 {
        self.width.unwrap_or(0).max(self.precision.unwrap_or(0)) as u64
    }

    fn placed(&self, arg: &Arg) -> Result<String, Wrong> {
        let (negative, body) = match arg {
            Arg::Int(n) if self.kind == Some('c') => {
                let c = u32::try_from(*n).ok().and_then(char::from_u32);
                return Ok(self.padded("", c.ok_or(BAD_TYPE)?.to_string(), '<'));
            }
            Arg::Int(n) => (*n < 0, self.integer(n.unsigned_abs())),
            Arg::Real(f) => (f.is_sign_negative(), self.real(f.abs())),
            Arg::Text(t) => {
                let cut = |n: usize| t.chars().take(n).collect();
                let t = self.precision.map_or_else(|| t.clone(), cut);
                let t = match self.kind {
                    Some('?') => format!("{t:?}"),
                    _ => t,
                };
                return Ok(self.padded("", t, '<'));
            }
        };
        let sign = match (negative, self.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        };
        let prefix = match (self.alternative, self.kind, arg) {
            (true, Some('x'), _) => "0x",
            (true, Some('X'), _) => "0X",
            (true, Some('b'), _) => "0b",
            (true, Some('B'), _) => "0B",
            (true, Some('o'), Arg::Int(n)) if *n != 0 => "0",
            _ => "",
        };
        Ok(self.padded(&format!("{sign}{prefix}"), body, '>'))
    }

    /// A text behind its sign, with what fills it up to the width.
    fn padded(&self, head: &str, body: String, usual: char) -> String {
        let chars = head.chars().count() + body.chars().count();
        let missing = self.width.unwrap_or(0).saturating_sub(chars);
        let pad = |n: usize| std::iter::repeat_n(self.fill, n).collect::<String>();
        match self.align.unwrap_or(usual) {
            '<' => format!("{head}{body}{}", pad(missing)),
            '^' => format!(
                "{}{head}{body}{}",
                pad(missing / 2),
                pad(missing - missing / 2)
            ),
            '=' => format!("{head}{}{body}", pad(missing)),
            _ => format!("{}{head}{body}", pad(missing)),
        }
    }

    fn integer(&self, n: u64) -> String {
        match self.kind {
            Some('x') => format!("{n:x}"),
            Some('X') => format!("{n:X}"),
            Some('b' | 'B') => format!("{n:b}"),
            Some('o') => format!("{n:o}"),
            _ => self.with_groups(n.to_string()),
        }
    }

    fn real(&self, f: f64) -> String {
        let digits = self.precision.unwrap_or(6);
        let text = match self.kind {
            Some('f' | 'F') => format!("{f:.digits$}"),
            Some('e' | 'E') => exponent(&format!("{f:.digits$e}")),
            Some('g' | 'G') => significant(f, digits, self.alternative),
            Some('a' | 'A') => hexadecimal(f, self.precision),
            _ => match self.precision {
                Some(p) => significant(f, p, self.alternative),
                None => shortest(f),
            },
        };
        let text = match self.alternative && !text.contains('.') {
            true => with_point(&text, self.kind.is_none()),
            false => text,
        };
        match self.kind {
            Some(k) if k.is_ascii_uppercase() => text.to_ascii_uppercase(),
            _ => self.with_groups(text),
        }
    }

    /// With commas between thousands, if they were asked for.
    fn with_groups(&self, text: String) -> String {
        let whole = text.bytes().take_while(u8::is_ascii_digit).count();
        if !self.grouped || whole == 0 {
            return text;
        }
        let mut out = String::with_capacity(text.len() + whole / 3);
        for (i, c) in text.chars().enumerate() {
            if i > 0 && i < whole && (whole - i).is_multiple_of(3) {
                out.push(',');
            }
            out.push(c);
        }
        out
    }
}

/// A number with a point behind its digits, and with a zero behind that.
fn with_point(text: &str, zero: bool) -> String {
    let (digits, exponent) = text.split_at(text.find(['e', 'p']).unwrap_or(text.len()));
    format!("{digits}.{}{exponent}", if zero { "0" } else { "" })
}

/// The fewest digits that mean the number.
fn shortest(f: f64) -> String {
    let e = format!("{f:e}");
    let exp = e.split_once('e').and_then(|(_, x)| x.parse().ok());
    match exp.unwrap_or(0i32) {
        -4..16 => f.to_string(),
        _ => exponent(&e),
    }
}

/// An exponent of at least two digits with its sign, as C writes it.
fn exponent(s: &str) -> String {
    match s.split_once('e') {
        Some((m, e)) => {
            let n: i32 = e.parse().unwrap_or(0);
            format!("{m}e{}{:02}", if n < 0 { '-' } else { '+' }, n.abs())
        }
        None => s.to_string(),
    }
}

/// `p` significant digits, without trailing zeros but with `zeros`.
fn significant(f: f64, p: usize, zeros: bool) -> String {
    let p = p.max(1);
    let e = format!("{f:.*e}", p - 1);
    let (mantissa, exp) = e.split_once('e').unwrap_or((&e, "0"));
    let exp: i32 = exp.parse().unwrap_or(0);
    let trim = |s: String| match s.contains('.') && !zeros {
        true => s.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => s,
    };
    if exp < -4 || i64::from(exp) >= p as i64 {
        return exponent(&format!("{}e{exp}", trim(mantissa.to_string())));
    }
    let digits = (p as i64 - 1 - i64::from(exp)).max(0) as usize;
    trim(format!("{f:.digits$}"))
}

/// As C writes it: `0x1.8p+0`.
fn hexadecimal(f: f64, precision: Option<usize>) -> String {
    const MANTISSA: u32 = 52;
    let bits = f.to_bits();
    let mut mantissa = bits & ((1 << MANTISSA) - 1);
    let biased = (bits >> MANTISSA & 0x7ff) as i32;
    let (mut whole, exp) = match (biased, mantissa) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    let digits = precision.unwrap_or(13);
    if digits < 13 {
        // Half of the last digit that stays, to the even one.
        let cut = (13 - digits as u32) * 4;
        let all = whole << MANTISSA | mantissa;
        let (kept, rest, half) = (all >> cut, all & ((1 << cut) - 1), 1 << (cut - 1));
        let up = rest > half || rest == half && kept & 1 == 1;
        let all = (kept + u64::from(up)) << cut;
        (whole, mantissa) = (all >> MANTISSA, all & ((1 << MANTISSA) - 1));
    }
    let mut text = format!("{mantissa:013x}");
    match precision {
        None => text.truncate(text.trim_end_matches('0').len()),
        Some(n) if n < 13 => text.truncate(n),
        Some(n) => text.extend(std::iter::repeat_n('0', n - 13)),
    }
    let point = if text.is_empty() { "" } else { "." };
    format!("0x{whole}{point}{text}p{exp:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(format: &str, args: Vec<Arg>) -> Result<String, Wrong> {
        let mut reader = Reader {
            rest: format,
            args,
            next: Next::Unsaid,
        };
        let mut out = String::new();
        while let Some((arg, spec)) = reader.part(&mut out)? {
            out.push_str(&spec.placed(&reader.args[arg])?);
        }
        Ok(out)
    }

    #[test]
    fn numbers() {
        let int = |f: &str, n| shown(f, vec![Arg::Int(n)]);
        for (format, n, want) in [
            ("{:<05}", 42, "42000"),
            ("{:+05}", 42, "+0042"),
            ("{:#06x}", 42, "0x002a"),
            ("{:#o}", 0, "0"),
            ("{:#o}", 8, "010"),
            ("{:L}", 13_800_000_000, "13,800,000,000"),
            ("{:5c}|", 65, "A    |"),
            ("{{{0}}}{0: }", 7, "{7} 7"),
        ] {
            assert_eq!(int(format, n).as_deref(), Ok(want), "{format}");
        }
        let real = |f: &str, n| shown(f, vec![Arg::Real(n)]);
        for (format, n, want) in [
            ("{}", 1e16, "1e+16"),
            ("{}", 42.0, "42"),
            ("{:#}", 42.0, "42.0"),
            ("{:#.0f}", 42.0, "42."),
            ("{:#g}", 42.0, "42.0000"),
            ("{:.20}", 0.1, "0.10000000000000000555"),
            ("{:a}", 1.5, "0x1.8p+0"),
            ("{:.3a}", 1.5, "0x1.800p+0"),
            ("{:A}", 10.25, "0X1.48P+3"),
            ("{:a}", 0.0, "0x0p+0"),
            ("{:.2Lf}", 12345.678, "12,345.68"),
            ("{:010}", -4.5, "-0000004.5"),
            ("{: f}", 3.25, " 3.250000"),
        ] {
            assert_eq!(real(format, n).as_deref(), Ok(want), "{format}");
        }
    }

    #[test]
    fn wrong_formats() {
        let two = |f: &str| shown(f, vec![Arg::Int(4), Arg::Int(5)]);
        assert_eq!(two("{:*^{}}").as_deref(), Ok("**4**"));
        for (format, want) in [
            (
                "{0} {}",
                "cannot switch from manual to automatic argument indexing",
            ),
            (
                "{} {0}",
                "cannot switch from automatic to manual argument indexing",
            ),
            ("{:{<}", "invalid fill character '{'"),
            ("{:.2}", "precision not allowed for this argument type"),
            ("{:99999999999}", "number is too big"),
            ("{99999999999}", NO_ARGUMENT),
            ("{:,}", BAD_TYPE),
            ("{ }", BAD_FORMAT),
            ("{0", BAD_FORMAT),
            ("{:5", NO_END),
            ("}", "unmatched '}' in format string"),
        ] {
            assert_eq!(two(format), Err(want), "{format}");
        }
    }
}
