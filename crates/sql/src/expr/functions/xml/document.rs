//! XML texts as the XML functions read them: elements, attributes and texts one behind the other, as they stand in the text.
//!
//! References (`&lt;`) stay as they are, and texts keep their spaces, as in MariaDB.

use std::ops::Range;

/// Elements within each other at most.
const MAX_DEPTH: usize = 1000;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Around everything.
    Root,
    Element,
    Attribute,
    Text,
}

/// A node of a document.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The node that it stands in; the root's is itself.
    pub(super) parent: usize,
    /// The bytes of the name, or of a text.
    pub(super) name: Range<usize>,
    /// All of its bytes.
    pub(super) whole: Range<usize>,
}

/// A document. Nodes stand in the order of the text, so that those within a node follow it.
#[derive(Debug)]
pub(super) struct Document<'t> {
    pub(super) text: &'t [u8],
    pub(super) nodes: Vec<Node>,
}

/// A token: what it is, and where its text stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    End,
    Ident(Range<usize>),
    String(Range<usize>),
    CData(Range<usize>),
    Comment,
    Mark(u8),
    Unknown,
}

impl Token {
    /// As errors name it.
    fn shown(&self) -> String {
        match self {
            Token::End => "END-OF-INPUT".into(),
            Token::Ident(_) => "ident".into(),
            Token::String(_) => "string".into(),
            Token::CData(_) => "CDATA".into(),
            Token::Comment => "COMMENT".into(),
            Token::Mark(b) => format!("'{}'", char::from(*b)),
            Token::Unknown => "unknown token".into(),
        }
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    nodes: Vec<Node>,
    /// Elements that are open, the root first.
    open: Vec<usize>,
}

fn begins_name(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b':' || b == b'_' || b >= 0x80
}

/// True for a byte that may stand in a name.
pub(super) fn is_name_byte(b: u8) -> bool {
    begins_name(b) || b.is_ascii_digit() || b == b'-' || b == b'.'
}

impl<'t> Document<'t> {
    /// Reads a document; or says where it ends to be one, and why.
    pub(super) fn read(text: &'t [u8]) -> Result<Document<'t>, String> {
        let mut r = Reader {
            text,
            at: 0,
            nodes: vec![Node {
                kind: Kind::Root,
                parent: 0,
                name: 0..0,
                whole: 0..text.len(),
            }],
            open: vec![0],
        };
        match r.document() {
            Ok(()) => Ok(Document {
                text,
                nodes: r.nodes,
            }),
            Err(why) => {
                let before = &text[..r.at];
                let line = before.iter().filter(|b| **b == b'\n').count() + 1;
                let begin = before
                    .iter()
                    .rposition(|b| *b == b'\n')
                    .map_or(0, |n| n + 1);
                Err(format!(
                    "parse error at line {line} pos {}: {why}",
                    r.at - begin + 1
                ))
            }
        }
    }

    /// The name of an element or attribute, or a text.
    pub(super) fn name(&self, node: usize) -> &'t [u8] {
        &self.text[self.nodes[node].name.clone()]
    }

    /// The nodes in a node, attributes and texts too.
    pub(super) fn children(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        let inside = &self.nodes[of].whole;
        (of + 1..self.nodes.len())
            .take_while(move |n| of == 0 || self.nodes[*n].whole.start < inside.end)
            .filter(move |n| self.nodes[*n].parent == of)
    }
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at += self
            .rest()
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .count();
    }

    fn find(&self, what: &[u8], from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        memchr::memmem::find(rest, what).map(|n| from + n)
    }

    fn token(&mut self) -> Token {
        self.skip_spaces();
        let begin = self.at;
        let Some(&first) = self.rest().first() else {
            return Token::End;
        };
        if self.rest().starts_with(b"<!--") {
            self.at = self
                .find(b"-->", begin + 4)
                .map_or(self.text.len(), |n| n + 3);
            return Token::Comment;
        }
        if self.rest().starts_with(b"<![CDATA[") {
            let inside = begin + 9;
            let end = self.find(b"]]>", inside).unwrap_or(self.text.len());
            self.at = (end + 3).min(self.text.len());
            return Token::CData(inside..end);
        }
        match first {
            b'?' | b'=' | b'/' | b'<' | b'>' | b'!' => {
                self.at += 1;
                Token::Mark(first)
            }
            b'"' | b'\'' => {
                let inside = begin + 1;
                let end = memchr::memchr(first, &self.text[inside..]).map(|n| inside + n);
                self.at = end.map_or(self.text.len(), |n| n + 1);
                Token::String(inside..end.unwrap_or(self.text.len()))
            }
            b if begins_name(b) => {
                self.at += self.rest().iter().take_while(|b| is_name_byte(**b)).count();
                Token::Ident(begin..self.at)
            }
            _ => Token::Unknown,
        }
    }

    fn push(
        &mut self,
        kind: Kind,
        parent: usize,
        name: Range<usize>,
        whole: Range<usize>,
    ) -> usize {
        self.nodes.push(Node {
            kind,
            parent,
            name,
            whole,
        });
        self.nodes.len() - 1
    }

    fn inside(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }

    fn document(&mut self) -> Result<(), String> {
        while self.at < self.text.len() {
            if self.text[self.at] == b'<' {
                self.markup()?;
            } else {
                let begin = self.at;
                let len = memchr::memchr(b'<', self.rest()).unwrap_or(self.rest().len());
                self.at += len;
                let parent = self.inside();
                self.push(Kind::Text, parent, begin..self.at, begin..self.at);
            }
        }
        match self.open.len() {
            1 => Ok(()),
            _ => Err("unexpected END-OF-INPUT".into()),
        }
    }

    fn markup(&mut self) -> Result<(), String> {
        let begin = self.at;
        match self.token() {
            Token::Comment => return Ok(()),
            Token::CData(inside) => {
                let parent = self.inside();
                self.push(Kind::Text, parent, inside, begin..self.at);
                return Ok(());
            }
            _ => {}
        }
        let mut token = self.token();
        let (mut exclamation, mut question) = (false, false);
        match token {
            Token::Mark(b'/') => return self.close(),
            Token::Mark(b'!') => {
                if !self.rest().starts_with(b"DOCTYPE") {
                    self.at -= 1;
                    return Err("unknown token unexpected (ident or '/' wanted)".into());
                }
                exclamation = true;
                token = self.token();
            }
            Token::Mark(b'?') => {
                question = true;
                token = self.token();
            }
            _ => {}
        }
        let Token::Ident(name) = token else {
            return Err(format!(
                "{} unexpected (ident or '/' wanted)",
                token.shown()
            ));
        };
        if self.open.len() > MAX_DEPTH {
            return Err("too deep".into());
        }
        let parent = self.inside();
        let behind_name = name.end;
        let tight = self.text.get(name.start.wrapping_sub(1)) == Some(&b'?');
        let element = self.push(Kind::Element, parent, name, begin..begin);
        self.open.push(element);
        let mut token = self.attributes(element, exclamation)?;
        let mut closed = exclamation;
        if token == Token::Mark(b'/') {
            closed = true;
            token = self.token();
            if question && self.at == behind_name + 2 {
                self.at -= 1;
                return Err("unknown token unexpected (ident wanted)".into());
            }
        }
        if exclamation && self.text.get(self.at) == Some(&b'[') {
            token = self.behind_declarations();
        }
        if question {
            let other = token != Token::Mark(b'?') && token != Token::End;
            if other && tight && self.skip_instruction() {
                token = Token::Mark(b'?');
            }
            if token != Token::Mark(b'?') {
                return Err(format!("{} unexpected ('?' wanted)", token.shown()));
            }
            closed = true;
            token = self.token();
        }
        if token != Token::Mark(b'>') {
            return Err(format!("{} unexpected ('>' wanted)", token.shown()));
        }
        if closed {
            self.open.pop();
        }
        self.nodes[element].whole.end = self.at;
        Ok(())
    }

    /// `[ ... ]` of a DOCTYPE, which may have declarations in it; the token behind.
    fn behind_declarations(&mut self) -> Token {
        if let Some(end) = self.find(b"]", self.at) {
            self.at = end + 1;
        }
        self.token()
    }

    /// What stands in a processing instruction is any text up to `?>`: false if there is no end.
    fn skip_instruction(&mut self) -> bool {
        let Some(end) = self.find(b"?>", self.at) else {
            return false;
        };
        self.at = end + 1;
        true
    }

    /// The attributes of an element, and the token behind them.
    fn attributes(&mut self, element: usize, exclamation: bool) -> Result<Token, String> {
        loop {
            let name = match self.token() {
                Token::Ident(name) => name,
                Token::String(_) if exclamation => continue,
                other => return Ok(other),
            };
            let before = self.at;
            let attribute = self.push(Kind::Attribute, element, name.clone(), name.clone());
            if self.token() != Token::Mark(b'=') {
                self.at = before;
                continue;
            }
            let value = match self.token() {
                Token::Ident(v) | Token::String(v) => v,
                other => {
                    return Err(format!(
                        "{} unexpected (ident or string wanted)",
                        other.shown()
                    ));
                }
            };
            self.nodes[attribute].whole = name.start..self.at;
            self.push(Kind::Text, attribute, value.clone(), value);
        }
    }

    /// `</name>`
    fn close(&mut self) -> Result<(), String> {
        let name = match self.token() {
            Token::Ident(name) => name,
            other => return Err(format!("{} unexpected (ident wanted)", other.shown())),
        };
        let shown = |r: &Range<usize>| String::from_utf8_lossy(&self.text[r.clone()]).into_owned();
        let element = match self.open.len() {
            1 => {
                let found = shown(&name);
                return Err(format!("'</{found}>' unexpected (END-OF-INPUT wanted)"));
            }
            _ => self.inside(),
        };
        let wanted = self.nodes[element].name.clone();
        if self.text[wanted.clone()] != self.text[name.clone()] {
            let (found, wanted) = (shown(&name), shown(&wanted));
            return Err(format!("'</{found}>' unexpected ('</{wanted}>' wanted)"));
        }
        self.open.pop();
        let token = self.token();
        if token != Token::Mark(b'>') {
            return Err(format!("{} unexpected ('>' wanted)", token.shown()));
        }
        self.nodes[element].whole.end = self.at;
        Ok(())
    }
}
