//! The XML of LOAD XML: rows out of a stream of elements.
//!
//! A row is an element of a given name. Its values are its attributes, the texts of the elements in it, and those of elements
//! `<field name="column">`. What stands in an element around the rows counts for all of them. It is no check of the XML: what
//! is not well formed is read as far as it can be.

use std::io::{self, BufRead};

/// Reads rows.
pub struct XmlReader<'a> {
    /// The name of a row's element.
    row: &'a [u8],
    input: &'a mut dyn BufRead,
    /// Asked now and then whether to go on.
    check: &'a dyn Fn() -> io::Result<()>,
    /// Bytes read.
    read: u64,
    /// How many elements are open.
    level: usize,
    /// The level of the row that is being read.
    in_row: Option<usize>,
    values: Vec<Value>,
    /// What the text of the innermost element is a value of.
    name: Vec<u8>,
    text: Vec<u8>,
}

struct Value {
    level: usize,
    name: Vec<u8>,
    text: Vec<u8>,
}

/// What a tag does.
#[derive(PartialEq, Eq)]
enum Tag {
    Opens,
    Closes,
    /// `<name/>`
    Both,
    /// A comment and the like.
    Nothing,
}

impl<'a> XmlReader<'a> {
    /// Reads from the start of a text. `check`: its error ends the reading, wherever it is.
    pub fn new(
        row: &'a [u8],
        input: &'a mut dyn BufRead,
        check: &'a dyn Fn() -> io::Result<()>,
    ) -> Self {
        XmlReader {
            row,
            input,
            check,
            read: 0,
            level: 0,
            in_row: None,
            values: Vec::new(),
            name: Vec::new(),
            text: Vec::new(),
        }
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        self.read += 1;
        if self.read & 0xffff == 0 {
            (self.check)()?;
        }
        let found = self.input.fill_buf()?.first().copied();
        if found.is_some() {
            self.input.consume(1);
        }
        Ok(found)
    }

    /// Finds the next row; false at the end. Its values are those of [`XmlReader::value`] then.
    ///
    /// # Errors
    /// The input can't be read.
    pub fn next_row(&mut self) -> io::Result<bool> {
        while let Some(b) = self.byte()? {
            if b != b'<' {
                self.text.push(b);
                continue;
            }
            let mut name = Vec::new();
            let row = match self.tag(&mut name)? {
                Tag::Nothing | Tag::Opens => false,
                Tag::Both => self.close(&name, true),
                Tag::Closes => self.close(&name, false),
            };
            if row {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The row's value of a column, if it has one. An empty text is none.
    pub fn value(&self, column: &str) -> Option<&[u8]> {
        let is_it = |v: &&Value| v.name == column.as_bytes();
        let found = self.values.iter().rev().find(is_it);
        found.map(|v| &v.text[..]).filter(|t| !t.is_empty())
    }

    /// An element begins. Values of elements that have ended are forgotten, but for those of a row that goes on.
    fn open(&mut self, name: &[u8]) {
        self.level += 1;
        let level = self.level;
        if self.in_row.is_none() {
            self.values.retain(|v| v.level < level);
            if name == self.row {
                self.in_row = Some(level);
            }
        }
        self.name = name.to_vec();
        self.text.clear();
    }

    /// An element ends; true if it was a row. `at_once`: it had no text.
    fn close(&mut self, name: &[u8], at_once: bool) -> bool {
        let text = std::mem::take(&mut self.text);
        let of = std::mem::take(&mut self.name);
        if !of.is_empty() && !at_once && name != self.row {
            self.values.push(Value {
                level: self.level,
                name: of,
                text: plain(&text),
            });
        }
        let row = self.in_row == Some(self.level) && name == self.row;
        if row {
            self.in_row = None;
        }
        self.level = self.level.saturating_sub(1);
        row
    }

    /// Reads a tag behind its `<`. `name` gets its element's name.
    fn tag(&mut self, name: &mut Vec<u8>) -> io::Result<Tag> {
        let mut b = self.byte()?;
        match b {
            Some(b'!') => return self.remark(),
            Some(b'?') => {
                while !matches!(self.byte()?, None | Some(b'>')) {}
                return Ok(Tag::Nothing);
            }
            _ => {}
        }
        let closes = b == Some(b'/');
        if closes {
            b = self.byte()?;
        }
        while let Some(c) = b
            && !c.is_ascii_whitespace()
            && !matches!(c, b'>' | b'/')
        {
            name.push(c);
            b = self.byte()?;
        }
        if !closes {
            self.open(name);
        }
        let mut at_once = false;
        while let Some(c) = b
            && c != b'>'
        {
            at_once = c == b'/';
            b = match c.is_ascii_whitespace() || at_once {
                true => self.byte()?,
                false => self.attribute(c)?,
            };
        }
        Ok(match (closes, at_once) {
            (true, _) => Tag::Closes,
            (_, true) => Tag::Both,
            _ => Tag::Opens,
        })
    }

    /// Reads an attribute that begins with this byte; gives the byte behind it.
    fn attribute(&mut self, first: u8) -> io::Result<Option<u8>> {
        let mut name = vec![first];
        let mut b = self.byte()?;
        while let Some(c) = b
            && !c.is_ascii_whitespace()
            && !matches!(c, b'=' | b'>' | b'/')
        {
            name.push(c);
            b = self.byte()?;
        }
        while b.is_some_and(|c| c.is_ascii_whitespace()) {
            b = self.byte()?;
        }
        if b != Some(b'=') {
            return Ok(b);
        }
        b = self.byte()?;
        while b.is_some_and(|c| c.is_ascii_whitespace()) {
            b = self.byte()?;
        }
        let quote = b.filter(|c| matches!(c, b'"' | b'\''));
        if quote.is_some() {
            b = self.byte()?;
        }
        let mut text = Vec::new();
        while let Some(c) = b {
            let ends = match quote {
                Some(q) => c == q,
                None => c.is_ascii_whitespace() || c == b'>',
            };
            if ends {
                break;
            }
            text.push(c);
            b = self.byte()?;
        }
        let text = plain(&text);
        if quote.is_some() {
            b = self.byte()?;
        }
        match name == b"name" && self.name == b"field" {
            true => self.name = text,
            false => self.values.push(Value {
                level: self.level,
                name,
                text,
            }),
        }
        Ok(b)
    }

    /// Reads a comment, a declaration or CDATA, whose text counts, behind its `<!`.
    fn remark(&mut self) -> io::Result<Tag> {
        let mut all: Vec<u8> = Vec::new();
        while let Some(b) = self.byte()? {
            all.push(b);
            let end: &[u8] = match () {
                _ if all.starts_with(b"--") => b"-->",
                _ if all.starts_with(b"[CDATA[") => b"]]>",
                _ => b">",
            };
            if all.ends_with(end) && all.len() >= 2 * end.len() - 1 {
                break;
            }
        }
        if let Some(text) = all.strip_prefix(b"[CDATA[") {
            // As if it had been written with entities.
            for b in text.strip_suffix(b"]]>").unwrap_or(text) {
                match b {
                    b'&' => self.text.extend_from_slice(b"&amp;"),
                    b => self.text.push(*b),
                }
            }
        }
        Ok(Tag::Nothing)
    }
}

/// A text without its entities. Those that nobody knows stay, with spaces for line feeds.
fn plain(text: &[u8]) -> Vec<u8> {
    const ENTITIES: [(&[u8], u8); 5] = [
        (b"&amp;", b'&'),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
    ];
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    // Behind an ampersand that begins none of them.
    let mut entity = false;
    while let Some((first, behind)) = rest.split_first() {
        match ENTITIES.iter().find(|(e, _)| rest.starts_with(e)) {
            Some((entity, byte)) => {
                out.push(*byte);
                rest = &rest[entity.len()..];
            }
            None => {
                entity = (entity || *first == b'&') && *first != b';';
                let is_space = entity && first.is_ascii_whitespace();
                out.push(if is_space { b' ' } else { *first });
                rest = behind;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(tag: &str, text: &str, columns: &[&str]) -> Vec<Vec<String>> {
        let mut input = text.as_bytes();
        let mut r = XmlReader::new(tag.as_bytes(), &mut input, &|| Ok(()));
        let mut all = Vec::new();
        while r.next_row().unwrap() {
            let value = |c: &&str| {
                let v = r.value(c).unwrap_or(b"NULL");
                String::from_utf8(v.to_vec()).unwrap()
            };
            all.push(columns.iter().map(value).collect());
        }
        all
    }

    #[test]
    fn values_are_elements_fields_and_attributes() {
        let text = "<?xml version='1.0'?><list><!-- <row a=0/> --><row><a>1</a><b> x&lt;&nope;</b></row>\n\
            <row a=2\n b=\"y\nz &q\nr;\"></row><row a='3' B='4' b=''/><row><field name=\"a\">4</field><b/></row></list>";
        let want = [
            ["1", " x<&nope;"],
            ["2", "y\nz &q r;"],
            ["3", "NULL"],
            ["4", "NULL"],
        ];
        assert_eq!(rows("row", text, &["a", "b"]), want);
    }

    #[test]
    fn what_stands_around_rows_counts_for_them() {
        let text = "<all><group id='7'><p><n>a</n></p><p><n>b</n></p></group><group><p><n><![CDATA[<c>&]]></n></p></group></all>";
        let want = [["7", "a"], ["7", "b"], ["NULL", "<c>&"]];
        assert_eq!(rows("p", text, &["id", "n"]), want);
    }

    #[test]
    fn an_end_in_the_middle_is_an_end() {
        for cut in [
            "<row><a>1",
            "<row a",
            "<row a='",
            "<",
            "<!--",
            "<?",
            "</row",
            "",
        ] {
            assert!(rows("row", cut, &["a"]).is_empty(), "{cut}");
        }
    }
}
