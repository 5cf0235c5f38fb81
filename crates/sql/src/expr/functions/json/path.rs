//! JSON paths: `$.key[3].*[*]**[last-1][1 to 2]`.

use super::value::{Kind, Node, unescape};
use narwal_types::work::stopped;

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `.key`
    Key(String),
    /// `.*`
    AnyKey,
    /// `[n]`
    Index(usize),
    /// `[last-n]`, `[-n-1]`: from the end, 0 is the last element.
    FromEnd(usize),
    /// `[*]`
    AnyIndex,
    /// `[a to b]`
    Range(Box<Step>, Box<Step>),
    /// `**`: any number of steps.
    Deep,
}

/// A path.
#[derive(Debug, Clone, PartialEq)]
pub struct Path(pub Vec<Step>);

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// It ends too early.
    End,
    /// Character number n (from 1) can't stand there.
    Syntax(usize),
}

/// Where a value is in its document.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// Under this key.
    Key(String),
    /// Element number n of so many.
    Index(usize, usize),
}

impl Path {
    /// Reads a path.
    pub fn parse(text: &str) -> Result<Path, PathFault> {
        let b = text.as_bytes();
        let mut p = PathParser { text, b, at: 0 };
        p.space();
        for word in ["lax", "strict"] {
            if text[p.at..].starts_with(word) {
                p.at += word.len();
                p.space();
            }
        }
        match p.peek() {
            None => return Err(PathFault::End),
            Some(b'$') => p.at += 1,
            Some(_) => return Err(p.bad()),
        }
        let mut steps = Vec::new();
        loop {
            p.space();
            match p.peek() {
                None => break,
                Some(b'.') => {
                    p.at += 1;
                    p.space();
                    match p.peek() {
                        Some(b'*') => {
                            p.at += 1;
                            steps.push(Step::AnyKey);
                        }
                        _ => steps.push(Step::Key(p.key()?)),
                    }
                }
                Some(b'[') => {
                    p.at += 1;
                    steps.push(p.index()?);
                }
                Some(b'*') => {
                    p.at += 1;
                    if p.peek() != Some(b'*') {
                        return Err(p.bad());
                    }
                    p.at += 1;
                    if p.peek().is_none() {
                        // Something must follow.
                        return Err(PathFault::Syntax(p.at + 1));
                    }
                    steps.push(Step::Deep);
                }
                Some(_) => return Err(p.bad()),
            }
        }
        Ok(Path(steps))
    }

    /// It can match more than one value.
    pub fn is_wild(&self) -> bool {
        self.0.iter().any(|s| {
            matches!(
                s,
                Step::AnyKey | Step::AnyIndex | Step::Deep | Step::Range(..)
            )
        })
    }

    /// All matches in the document's order, each with its place.
    pub fn matches_in<'d, 't>(
        &self,
        doc: &'d Node<'t>,
        f: &mut dyn FnMut(&[Place], &'d Node<'t>) -> bool,
    ) {
        walk(doc, &mut Vec::new(), &mut |place, node| {
            !matches_place(&self.0, place, matches!(node.kind, Kind::Array(_))) || f(place, node)
        });
    }

    /// The first match.
    pub fn first<'d, 't>(&self, doc: &'d Node<'t>) -> Option<&'d Node<'t>> {
        if self.is_wild() {
            let mut found = None;
            self.matches_in(doc, &mut |_, n| {
                found = Some(n);
                false
            });
            return found;
        }
        along(doc, &self.0, &|_| true)
    }

    /// The first match that is wanted.
    pub fn first_of<'d, 't>(
        &self,
        doc: &'d Node<'t>,
        wanted: &dyn Fn(&Node<'t>) -> bool,
    ) -> Option<&'d Node<'t>> {
        if !self.is_wild() {
            return along(doc, &self.0, wanted);
        }
        let mut found = None;
        self.matches_in(doc, &mut |_, n| {
            if wanted(n) {
                found = Some(n);
            }
            found.is_none()
        });
        found
    }

    /// True if a place is what the path means, or inside of it.
    pub fn covers(&self, place: &[Place]) -> bool {
        (0..=place.len()).any(|n| matches_place(&self.0, &place[..n], n < place.len()))
    }
}

/// Follows steps without wildcards. Of keys of one name the first counts that leads to a wanted value.
fn along<'d, 't>(
    at: &'d Node<'t>,
    steps: &[Step],
    wanted: &dyn Fn(&Node<'t>) -> bool,
) -> Option<&'d Node<'t>> {
    let Some((step, rest)) = steps.split_first() else {
        return wanted(at).then_some(at);
    };
    match (step, &at.kind) {
        (Step::Key(k), Kind::Object(o)) => o
            .iter()
            .filter(|(name, _)| unescape(name) == *k)
            .find_map(|(_, value)| along(value, rest, wanted)),
        (s, Kind::Array(a)) => along(a.get(element(s, a.len())?)?, rest, wanted),
        // What is no array counts as an array of itself.
        (Step::Index(0), _) => along(at, rest, wanted),
        _ => None,
    }
}

/// Number of the element that a step means in an array of `len`.
pub fn element(s: &Step, len: usize) -> Option<usize> {
    match s {
        Step::Index(i) => Some(*i),
        Step::FromEnd(n) => len.checked_sub(n + 1),
        _ => None,
    }
}

/// Calls `f` for each value, containers before what they hold, until it says false.
pub fn walk<'d, 't>(
    node: &'d Node<'t>,
    place: &mut Vec<Place>,
    f: &mut dyn FnMut(&[Place], &'d Node<'t>) -> bool,
) -> bool {
    if stopped() || !f(place, node) {
        return false;
    }
    match &node.kind {
        Kind::Scalar(_) => {}
        Kind::Array(a) => {
            for (i, v) in a.iter().enumerate() {
                place.push(Place::Index(i, a.len()));
                let go_on = walk(v, place, f);
                place.pop();
                if !go_on {
                    return false;
                }
            }
        }
        Kind::Object(o) => {
            for (k, v) in o {
                place.push(Place::Key(unescape(k).into_owned()));
                let go_on = walk(v, place, f);
                place.pop();
                if !go_on {
                    return false;
                }
            }
        }
    }
    true
}

/// True if the steps lead to a place; `array`: an array is there.
pub fn matches_place(steps: &[Step], place: &[Place], array: bool) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return place.is_empty();
    };
    let here = match (step, place.first()) {
        (Step::Deep, _) => {
            // Several of these multiply.
            return !stopped()
                && (0..=place.len()).any(|n| matches_place(rest, &place[n..], array));
        }
        (_, None) => false,
        (Step::AnyKey, Some(Place::Key(_))) | (Step::AnyIndex, Some(Place::Index(..))) => true,
        (Step::Key(k), Some(Place::Key(x))) => k == x,
        (Step::Range(a, b), Some(Place::Index(i, len))) => {
            matches!((element(a, *len), element(b, *len)), (Some(a), Some(b)) if (a..=b).contains(i))
        }
        (s, Some(Place::Index(i, len))) => element(s, *len) == Some(*i),
        _ => false,
    };
    if here && matches_place(rest, &place[1..], array) {
        return true;
    }
    // What is no array counts as an array of itself.
    let is_array = match place.first() {
        Some(Place::Index(..)) => true,
        Some(Place::Key(_)) => false,
        None => array,
    };
    *step == Step::Index(0) && !is_array && matches_place(rest, place, array)
}

struct PathParser<'t> {
    text: &'t str,
    b: &'t [u8],
    at: usize,
}

impl PathParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.b.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn bad(&self) -> PathFault {
        if self.at >= self.b.len() {
            PathFault::End
        } else {
            PathFault::Syntax(self.at + 1)
        }
    }

    fn key(&mut self) -> Result<String, PathFault> {
        let start = self.at;
        if self.peek() == Some(b'"') {
            self.at += 1;
            loop {
                match self.peek().ok_or(PathFault::End)? {
                    b'"' => break,
                    b'\\' => self.at += 2,
                    _ => self.at += 1,
                }
            }
            self.at += 1;
            let inner = self
                .text
                .get(start + 1..self.at - 1)
                .ok_or(PathFault::End)?;
            return Ok(unescape(inner).into_owned());
        }
        while let Some(b) = self.peek() {
            if matches!(b, b'.' | b'[' | b'*' | b' ' | b'\t' | b'\n' | b']') {
                break;
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(self.bad());
        }
        Ok(unescape(&self.text[start..self.at]).into_owned())
    }

    fn one(&mut self) -> Result<Step, PathFault> {
        self.space();
        let number = |p: &mut Self| -> Result<usize, PathFault> {
            let start = p.at;
            while matches!(p.peek(), Some(b'0'..=b'9')) {
                p.at += 1;
            }
            p.text[start..p.at].parse().map_err(|_| p.bad())
        };
        if self.text[self.at..].starts_with("last") {
            self.at += 4;
            self.space();
            if self.peek() == Some(b'-') {
                self.at += 1;
                self.space();
                return Ok(Step::FromEnd(number(self)?));
            }
            return Ok(Step::FromEnd(0));
        }
        if self.peek() == Some(b'-') {
            self.at += 1;
            // There is no element before the first one: -0 is 0.
            return Ok(match number(self)? {
                0 => Step::Index(0),
                n => Step::FromEnd(n - 1),
            });
        }
        Ok(Step::Index(number(self)?))
    }

    /// Behind the bracket.
    fn index(&mut self) -> Result<Step, PathFault> {
        self.space();
        if self.peek() == Some(b'*') {
            self.at += 1;
            self.space();
            return self.close(Step::AnyIndex);
        }
        let a = self.one()?;
        self.space();
        if self.text[self.at..].starts_with("to") {
            self.at += 2;
            let b = self.one()?;
            self.space();
            return self.close(Step::Range(Box::new(a), Box::new(b)));
        }
        self.close(a)
    }

    fn close(&mut self, s: Step) -> Result<Step, PathFault> {
        if self.peek() != Some(b']') {
            return Err(self.bad());
        }
        self.at += 1;
        Ok(s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert_eq!(
            Path::parse("$.a[0].*[*]**.b[last-1][1 to last]").unwrap().0,
            [
                Step::Key("a".into()),
                Step::Index(0),
                Step::AnyKey,
                Step::AnyIndex,
                Step::Deep,
                Step::Key("b".into()),
                Step::FromEnd(1),
                Step::Range(Box::new(Step::Index(1)), Box::new(Step::FromEnd(0))),
            ]
        );
        assert_eq!(Path::parse(""), Err(PathFault::End));
        assert_eq!(Path::parse("a"), Err(PathFault::Syntax(1)));
        assert_eq!(Path::parse("$["), Err(PathFault::End));
        assert_eq!(Path::parse("$[a]"), Err(PathFault::Syntax(3)));
        assert_eq!(Path::parse("$**"), Err(PathFault::Syntax(4)));
        assert_eq!(Path::parse("$.\"a\\"), Err(PathFault::End));
    }

    #[test]
    fn matching() {
        let doc = Node::parse(r#"{"a":{"b":1},"c":[{"b":2},3]}"#).unwrap();
        let all = |p: &str| {
            let mut out = Vec::new();
            Path::parse(p).unwrap().matches_in(&doc, &mut |_, n| {
                let mut s = String::new();
                n.write(false, &mut s);
                out.push(s);
                true
            });
            out
        };
        assert_eq!(all("$**.b"), ["1", "2"]);
        assert_eq!(all("$.c[*]"), [r#"{"b":2}"#, "3"]);
        assert_eq!(all("$.a[0].b"), ["1"]);
        assert_eq!(all("$.c[1 to last]"), ["3"]);
        assert!(Path::parse("$[0].a.b").unwrap().first(&doc).is_some());
    }
}
