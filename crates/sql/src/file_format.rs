//! The text format of LOAD DATA and SELECT ... INTO OUTFILE: fields and lines.

use narwal_syntax::SqlMode;
use narwal_syntax::ast::FileClauses;
use narwal_types::coltype::MAX_CHAR_BYTES;
use narwal_types::{BlobSize, ColumnType, TypeKind, ValueRef};
use std::io::{self, BufRead};

/// FIELDS and LINES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFormat {
    /// FIELDS TERMINATED BY.
    pub separator: Vec<u8>,
    /// ENCLOSED BY.
    pub quote: Option<u8>,
    /// OPTIONALLY ENCLOSED BY: only strings are written enclosed.
    pub optionally: bool,
    /// ESCAPED BY.
    pub escape: Option<u8>,
    /// LINES STARTING BY.
    pub start: Vec<u8>,
    /// LINES TERMINATED BY.
    pub end: Vec<u8>,
}

impl Default for FileFormat {
    fn default() -> Self {
        FileFormat {
            separator: b"\t".to_vec(),
            quote: None,
            optionally: false,
            escape: Some(b'\\'),
            start: Vec::new(),
            end: b"\n".to_vec(),
        }
    }
}

impl FileFormat {
    /// The format that a statement's clauses ask for. Where strings have no escapes, files have none, unless ESCAPED BY says so.
    pub fn of(c: &FileClauses, mode: SqlMode) -> FileFormat {
        let mut f = FileFormat::default();
        if mode.has(SqlMode::NO_BACKSLASH_ESCAPES) {
            f.escape = None;
        }
        // The parser takes strings of at most one byte.
        let byte = |s: &String| s.as_bytes().first().copied();
        if let Some(s) = &c.separator {
            f.separator = s.clone().into_bytes();
        }
        if let Some(s) = &c.quote {
            f.quote = byte(s);
        }
        f.optionally = c.optionally;
        if let Some(s) = &c.escape {
            f.escape = byte(s);
        }
        if let Some(s) = &c.start {
            f.start = s.clone().into_bytes();
        }
        if let Some(s) = &c.end {
            f.end = s.clone().into_bytes();
        }
        f
    }

    /// A byte that means something else behind the escape: a separator that begins with it is not marked.
    fn means_more(&self, b: u8) -> bool {
        self.escape.is_some() && b"ntrb0ZN".contains(&b)
    }

    /// Nothing stands between fields: each has its width.
    pub fn is_fixed(&self) -> bool {
        self.separator.is_empty() && self.quote.is_none()
    }

    /// Appends one row whose fields have these widths, in bytes: spaces fill them, and stand for NULL.
    pub fn write_fixed(&self, values: &[ValueRef<'_>], widths: &[usize], out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start);
        let mut text = Vec::new();
        for (v, width) in values.iter().zip(widths) {
            text.clear();
            if !v.is_null() {
                v.write_text(&mut text);
            }
            text.truncate(*width);
            for b in &text {
                self.put(*b, None, out);
            }
            out.resize(out.len() + width - text.len(), b' ');
        }
        out.extend_from_slice(&self.end);
    }

    /// Appends a byte, marked if it would mean something else. `special`: another byte that does.
    fn put(&self, b: u8, special: Option<u8>, out: &mut Vec<u8>) {
        match self.escape {
            Some(e) if b == e || Some(b) == special || self.end.first() == Some(&b) || b == 0 => {
                out.extend([e, if b == 0 { b'0' } else { b }]);
            }
            _ => out.push(b),
        }
    }

    /// Appends one row. `is_text` says which values OPTIONALLY ENCLOSED BY encloses.
    pub fn write(&self, values: &[ValueRef<'_>], is_text: &[bool], out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start);
        let mut text = Vec::new();
        for (i, v) in values.iter().enumerate() {
            if i > 0 {
                out.extend_from_slice(&self.separator);
            }
            if v.is_null() {
                match self.escape {
                    Some(e) => out.extend_from_slice(&[e, b'N']),
                    None => out.extend_from_slice(b"NULL"),
                }
                continue;
            }
            text.clear();
            v.write_text(&mut text);
            let quote = self
                .quote
                .filter(|_| !self.optionally || is_text.get(i) == Some(&true));
            out.extend(quote);
            // Enclosed, a separator is harmless, but not the enclosing byte.
            let special = match quote {
                Some(q) => Some(q),
                None => (self.separator.first().copied()).filter(|b| !self.means_more(*b)),
            };
            for b in &text {
                self.put(*b, special, out);
            }
            out.extend(quote);
        }
        out.extend_from_slice(&self.end);
    }
}

/// The bytes of a field of fixed width. `length`: the characters that the column shows, 0 for its type's. `None`: too long
/// for such a file.
pub fn fixed_width(ty: &ColumnType, length: u32) -> Option<usize> {
    let bytes = match length {
        _ if matches!(
            ty.kind,
            TypeKind::Text(BlobSize::Long) | TypeKind::Blob(BlobSize::Long)
        ) =>
        {
            return None;
        }
        0 if ty.has_charset() && !matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_)) => {
            ty.display_length() / MAX_CHAR_BYTES * ty.collation.charset().char_bytes()
        }
        0 => ty.display_length(),
        n if ty.has_charset() => n.saturating_mul(ty.collation.charset().char_bytes()),
        n => n,
    };
    usize::try_from(bytes).ok()
}

/// Cuts a text into rows.
pub struct RowReader<'a> {
    format: &'a FileFormat,
    /// Of fields of fixed width, in bytes.
    widths: &'a [usize],
    input: &'a mut dyn BufRead,
    /// Bytes that were looked at and not used.
    ahead: Vec<u8>,
    unterminated: bool,
}

/// What ends a field.
#[derive(PartialEq, Eq)]
enum Stop {
    Field,
    Line,
    End,
}

impl<'a> RowReader<'a> {
    /// Reads from the start of a text. `widths`: those of the fields, in bytes, if the format is fixed.
    pub fn new(format: &'a FileFormat, widths: &'a [usize], input: &'a mut dyn BufRead) -> Self {
        RowReader {
            format,
            widths,
            input,
            ahead: Vec::new(),
            unterminated: false,
        }
    }

    /// The text ended before the last row's line did.
    pub fn unterminated(&self) -> bool {
        self.unterminated
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        if let Some(b) = self.ahead.pop() {
            return Ok(Some(b));
        }
        let buf = self.input.fill_buf()?;
        let Some(b) = buf.first().copied() else {
            return Ok(None);
        };
        self.input.consume(1);
        Ok(Some(b))
    }

    /// Consumes `what` if it comes next.
    fn eat(&mut self, what: &[u8]) -> io::Result<bool> {
        if what.is_empty() {
            return Ok(false);
        }
        let mut seen = Vec::with_capacity(what.len());
        for w in what {
            let b = self.byte()?;
            seen.extend(b);
            if b != Some(*w) {
                self.ahead.extend(seen.into_iter().rev());
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn at_end(&mut self) -> io::Result<bool> {
        match self.byte()? {
            None => Ok(true),
            Some(b) => {
                self.ahead.push(b);
                Ok(false)
            }
        }
    }

    fn stop(&mut self) -> io::Result<Option<Stop>> {
        let format = self.format;
        if self.eat(&format.separator)? {
            return Ok(Some(Stop::Field));
        }
        if self.eat(&format.end)? {
            return Ok(Some(Stop::Line));
        }
        Ok(if self.at_end()? {
            Some(Stop::End)
        } else {
            None
        })
    }

    /// The next row: its fields, `None` for NULL. `None` at the end.
    ///
    /// # Errors
    /// The input can't be read.
    #[allow(clippy::type_complexity)]
    pub fn next_row(&mut self) -> io::Result<Option<Vec<Option<Vec<u8>>>>> {
        let format = self.format;
        if !format.start.is_empty() {
            while !self.eat(&format.start)? {
                if self.byte()?.is_none() {
                    return Ok(None);
                }
            }
        }
        if self.at_end()? {
            return Ok(None);
        }
        if format.is_fixed() {
            return self.fixed_fields().map(Some);
        }
        let mut fields = Vec::new();
        loop {
            let (field, stop) = self.field()?;
            fields.push(field);
            if stop != Stop::Field {
                self.unterminated = stop == Stop::End && !format.end.is_empty();
                return Ok(Some(fields));
            }
        }
    }

    /// Passes over a line, whatever is in it; false at the end.
    ///
    /// # Errors
    /// The input can't be read.
    pub fn skip(&mut self) -> io::Result<bool> {
        Ok(self.next_row()?.is_some())
    }

    /// The fields of a line of fixed width: fewer if it is too short, one more if it is too long.
    fn fixed_fields(&mut self) -> io::Result<Vec<Option<Vec<u8>>>> {
        let total = self.widths.iter().sum();
        let mut line = Vec::new();
        let mut ended = false;
        while line.len() < total && !ended {
            ended = self.eat(&self.format.end)?;
            if ended {
                break;
            }
            match self.byte()? {
                None => ended = true,
                Some(b) if Some(b) == self.format.escape => {
                    if self.escaped(&mut line)? {
                        line.push(b'N');
                    }
                }
                Some(b) => line.push(b),
            }
        }
        let mut fields = Vec::with_capacity(self.widths.len());
        let mut rest = line.as_slice();
        for width in self.widths {
            if rest.is_empty() {
                break;
            }
            let (field, behind) = rest.split_at(rest.len().min(*width));
            fields.push(Some(field.to_vec()));
            rest = behind;
        }
        // What else the line has.
        let mut more = false;
        while !ended && !self.format.end.is_empty() {
            self.unterminated = self.at_end()?;
            ended = self.unterminated || self.eat(&self.format.end)?;
            if !ended {
                more |= self.byte()?.is_some();
            }
        }
        if more {
            fields.push(None);
        }
        Ok(fields)
    }

    fn field(&mut self) -> io::Result<(Option<Vec<u8>>, Stop)> {
        let format = self.format;
        let mut out = Vec::new();
        if let Some(q) = format.quote
            && self.eat(&[q])?
        {
            loop {
                let Some(b) = self.byte()? else {
                    // Never closed: the quote belongs to the value.
                    out.insert(0, q);
                    return Ok((Some(out), Stop::End));
                };
                if b == q {
                    if self.eat(&[q])? {
                        out.push(q);
                    } else if let Some(stop) = self.stop()? {
                        return Ok((Some(out), stop));
                    } else {
                        out.push(q);
                    }
                } else if Some(b) == format.escape {
                    self.escaped(&mut out)?;
                } else {
                    out.push(b);
                }
            }
        }
        let mut null = false;
        let mut plain = true;
        let stop = loop {
            if let Some(stop) = self.stop()? {
                break stop;
            }
            let Some(b) = self.byte()? else {
                break Stop::End;
            };
            if Some(b) == format.escape {
                plain = false;
                null = self.escaped(&mut out)? && out.is_empty();
                if null {
                    continue;
                }
            } else {
                out.push(b);
            }
        };
        if null && out.is_empty() {
            return Ok((None, stop));
        }
        if null {
            // `\Nx` is not NULL.
            out.insert(0, b'N');
        }
        if plain && format.quote.is_some() && out == b"NULL" {
            return Ok((None, stop));
        }
        Ok((Some(out), stop))
    }

    /// What stands behind the escape byte; true for N, which is not added.
    fn escaped(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        let Some(b) = self.byte()? else {
            out.extend(self.format.escape);
            return Ok(false);
        };
        match b {
            // The enclosing byte stands for itself, also where it is one of these letters.
            b if Some(b) == self.format.quote => out.push(b),
            b'0' => out.push(0),
            b'b' => out.push(8),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'Z' => out.push(26),
            b'N' if out.is_empty() => return Ok(true),
            b => out.push(b),
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(format: &FileFormat, text: &[u8]) -> Vec<Vec<Option<String>>> {
        let mut input = text;
        let mut reader = RowReader::new(format, &[], &mut input);
        let mut all = Vec::new();
        while let Some(row) = reader.next_row().unwrap() {
            all.push(
                row.into_iter()
                    .map(|f| f.map(|f| String::from_utf8(f).unwrap()))
                    .collect(),
            );
        }
        all
    }

    fn row(fields: &[Option<&str>]) -> Vec<Option<String>> {
        fields.iter().map(|f| f.map(String::from)).collect()
    }

    #[test]
    fn a_letter_that_encloses_is_not_a_control_character_behind_the_escape() {
        let format = FileFormat {
            quote: Some(b'r'),
            ..FileFormat::default()
        };
        let read = rows(&format, b"r1r\tr\\r.\\n\\rr\n");
        assert_eq!(read, [[Some("1".to_string()), Some("r.\nr".to_string())]]);
    }

    #[test]
    fn a_separator_of_a_letter_behind_the_escape_is_not_marked() {
        let written = |separator: &[u8]| {
            let format = FileFormat {
                separator: separator.to_vec(),
                ..FileFormat::default()
            };
            let mut out = Vec::new();
            let text = |t: &'static str| ValueRef::Bytes(t.as_bytes());
            format.write(&[text("-r-"), text("ab")], &[true, true], &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(b"raker"), "-r-rakerab\n");
        assert_eq!(written(b"ab"), "-r-ab\\ab\n");
    }

    #[test]
    fn plain_and_enclosed_fields() {
        let tabs = FileFormat::default();
        assert_eq!(
            rows(&tabs, b"1\ta\\\tb\t\\N\n2\t\tNULL\n\nlast"),
            [
                row(&[Some("1"), Some("a\tb"), None]),
                row(&[Some("2"), Some(""), Some("NULL")]),
                row(&[Some("")]),
                row(&[Some("last")]),
            ]
        );
        let csv = FileFormat {
            separator: b",".to_vec(),
            quote: Some(b'"'),
            end: b"\r\n".to_vec(),
            ..FileFormat::default()
        };
        assert_eq!(
            rows(
                &csv,
                b"\"a,\"\"b\"\"\",2,NULL\r\n\"x\r\ny\",\\N,\"NULL\"\r\n"
            ),
            [
                row(&[Some("a,\"b\""), Some("2"), None]),
                row(&[Some("x\r\ny"), None, Some("NULL")]),
            ]
        );
        let starting = FileFormat {
            start: b"xx".to_vec(),
            ..FileFormat::default()
        };
        assert_eq!(
            rows(&starting, b"xx1\nno\nabcxx2\n"),
            [row(&[Some("1")]), row(&[Some("2")])]
        );
    }

    #[test]
    fn what_is_written_is_read() {
        let values = [
            ValueRef::Str(b"a\t\"\\\n,\0b"),
            ValueRef::Null,
            ValueRef::Int(5),
        ];
        for quote in [None, Some(b'"')] {
            for separator in ["\t", ",", "||"] {
                let format = FileFormat {
                    quote,
                    separator: separator.as_bytes().to_vec(),
                    optionally: true,
                    ..FileFormat::default()
                };
                let mut out = Vec::new();
                format.write(&values, &[true, true, false], &mut out);
                assert_eq!(
                    rows(&format, &out),
                    [row(&[Some("a\t\"\\\n,\0b"), None, Some("5")])]
                );
            }
        }
    }
}
