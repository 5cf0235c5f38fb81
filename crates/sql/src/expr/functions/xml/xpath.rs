//! XPath as MariaDB's XML functions understand it: paths with predicates, operators, and some functions.

use super::document::is_name_byte;

/// Expressions within each other at most.
const MAX_DEPTH: usize = 100;

/// What an expression is not: error 1105 with this text.
pub(super) type Fault = String;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Own,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Descendant,
    DescendantOrSelf,
    Attribute,
    /// Known by name, but nothing is ever found there.
    Nothing,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    Any,
    Name(Vec<u8>),
    /// `text()`, `node()` and such: the node itself.
    Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<XPath>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Equal,
    Differ,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Func {
    Last,
    Position,
    Count,
    Sum,
    Not,
    Boolean,
    True,
    False,
    Number,
    Floor,
    Ceiling,
    Round,
    Concat,
    Contains,
    Substring,
    StringLength,
}

/// Name, function, fewest and most arguments.
const FUNCTIONS: &[(&[u8], Func, usize, usize)] = &[
    (b"last", Func::Last, 0, 0),
    (b"position", Func::Position, 0, 0),
    (b"count", Func::Count, 1, 1),
    (b"sum", Func::Sum, 1, 1),
    (b"not", Func::Not, 1, 1),
    (b"boolean", Func::Boolean, 1, 1),
    (b"true", Func::True, 0, 0),
    (b"false", Func::False, 0, 0),
    (b"number", Func::Number, 0, 1),
    (b"floor", Func::Floor, 1, 1),
    (b"ceiling", Func::Ceiling, 1, 1),
    (b"round", Func::Round, 1, 1),
    (b"concat", Func::Concat, 1, 255),
    (b"contains", Func::Contains, 2, 2),
    (b"substring", Func::Substring, 2, 3),
    (b"string-length", Func::StringLength, 0, 1),
];

const AXES: &[(&[u8], Axis)] = &[
    (b"child", Axis::Child),
    (b"self", Axis::Own),
    (b"parent", Axis::Parent),
    (b"ancestor", Axis::Ancestor),
    (b"ancestor-or-self", Axis::AncestorOrSelf),
    (b"descendant", Axis::Descendant),
    (b"descendant-or-self", Axis::DescendantOrSelf),
    (b"attribute", Axis::Attribute),
    (b"following", Axis::Nothing),
    (b"following-sibling", Axis::Nothing),
    (b"namespace", Axis::Nothing),
    (b"preceding", Axis::Nothing),
    (b"preceding-sibling", Axis::Nothing),
];

const NODE_KINDS: &[&[u8]] = &[b"text", b"node", b"comment", b"processing-instruction"];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum XPath {
    /// A number, and the digits behind its point.
    Number(f64, u8),
    Text(Vec<u8>),
    /// `$@name`.
    UserVariable(String),
    /// From the document, from the node at hand, or from the nodes of an expression.
    Path {
        root: bool,
        from: Option<Box<XPath>>,
        steps: Vec<Step>,
    },
    Union(Box<XPath>, Box<XPath>),
    Negative(Box<XPath>),
    Binary(Op, Box<XPath>, Box<XPath>),
    Call(Func, Vec<XPath>),
}

impl XPath {
    /// True for `.`.
    pub(super) fn is_self(&self) -> bool {
        let XPath::Path {
            root: false,
            from: None,
            steps,
        } = self
        else {
            return false;
        };
        match steps.as_slice() {
            [] => true,
            [s] => s.axis == Axis::Own && s.test == Test::Kind && s.predicates.is_empty(),
            _ => false,
        }
    }

    /// True for what gives nodes.
    pub(super) fn is_nodes(&self) -> bool {
        matches!(self, XPath::Path { .. } | XPath::Union(..))
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    /// Predicates around: there are a position and a last one.
    predicates: usize,
    depth: usize,
}

/// Reads an expression.
pub(super) fn parse(text: &[u8]) -> Result<XPath, Fault> {
    let mut p = Parser {
        text,
        at: 0,
        predicates: 0,
        depth: 0,
    };
    let e = p.or()?;
    p.spaces();
    match p.at == text.len() {
        true => Ok(e),
        false => Err(p.wrong()),
    }
}

impl Parser<'_> {
    fn spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    #[cold]
    fn fault(&self, what: &str) -> Fault {
        let rest: String = String::from_utf8_lossy(&self.text[self.at.min(self.text.len())..])
            .chars()
            .take(32)
            .collect();
        format!("{what}: '{rest}'")
    }

    #[cold]
    fn wrong(&self) -> Fault {
        self.fault("XPATH syntax error")
    }

    fn at_mark(&mut self, mark: &[u8]) -> bool {
        self.spaces();
        self.text[self.at..].starts_with(mark)
    }

    fn eat(&mut self, mark: &[u8]) -> bool {
        let is = self.at_mark(mark);
        if is {
            self.at += mark.len();
        }
        is
    }

    fn expect(&mut self, mark: &[u8]) -> Result<(), Fault> {
        match self.eat(mark) {
            true => Ok(()),
            false => Err(self.wrong()),
        }
    }

    /// The name that is next.
    fn name(&mut self) -> Option<Vec<u8>> {
        self.spaces();
        let rest = &self.text[self.at..];
        let begins = rest
            .first()
            .is_some_and(|b| is_name_byte(*b) && !b.is_ascii_digit() && *b != b'-' && *b != b'.');
        if !begins {
            return None;
        }
        let mut len = 0;
        while let Some(b) = rest.get(len) {
            // A colon is of the name, two are behind an axis.
            let colon = *b == b':' && rest.get(len + 1) == Some(&b':');
            if !is_name_byte(*b) || colon {
                break;
            }
            len += 1;
        }
        let name = rest[..len].to_vec();
        self.at += len;
        Some(name)
    }

    /// An operator that is a word.
    fn eat_word(&mut self, word: &[u8]) -> bool {
        let before = self.at;
        if self.name().is_some_and(|n| n == word) {
            return true;
        }
        self.at = before;
        false
    }

    fn binary(
        &mut self,
        lower: fn(&mut Self) -> Result<XPath, Fault>,
        op: fn(&mut Self) -> Option<Op>,
    ) -> Result<XPath, Fault> {
        let mut left = lower(self)?;
        loop {
            self.spaces();
            let begin = self.at;
            let Some(op) = op(self) else { return Ok(left) };
            let right = lower(self)?;
            if op as u8 >= Op::Equal as u8
                && op as u8 <= Op::GreaterEqual as u8
                && left.is_nodes()
                && right.is_nodes()
            {
                self.at = begin;
                return Err(self.fault("XPATH error: comparison of two nodesets is not supported"));
            }
            left = XPath::Binary(op, Box::new(left), Box::new(right));
        }
    }

    fn or(&mut self) -> Result<XPath, Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(self.wrong());
        }
        self.depth += 1;
        let e = self.binary(Self::and, |p| p.eat_word(b"or").then_some(Op::Or));
        self.depth -= 1;
        e
    }

    fn and(&mut self) -> Result<XPath, Fault> {
        self.binary(Self::equality, |p| p.eat_word(b"and").then_some(Op::And))
    }

    fn equality(&mut self) -> Result<XPath, Fault> {
        self.binary(Self::relation, |p| {
            if p.eat(b"!=") {
                return Some(Op::Differ);
            }
            p.eat(b"=").then_some(Op::Equal)
        })
    }

    fn relation(&mut self) -> Result<XPath, Fault> {
        self.binary(Self::sum, |p| {
            let marks = [
                (&b"<="[..], Op::LessEqual),
                (b"<", Op::Less),
                (b">=", Op::GreaterEqual),
                (b">", Op::Greater),
            ];
            marks.into_iter().find(|(m, _)| p.eat(m)).map(|(_, op)| op)
        })
    }

    fn sum(&mut self) -> Result<XPath, Fault> {
        self.binary(Self::product, |p| {
            if p.eat(b"+") {
                return Some(Op::Add);
            }
            p.eat(b"-").then_some(Op::Subtract)
        })
    }

    fn product(&mut self) -> Result<XPath, Fault> {
        self.binary(Self::unary, |p| {
            if p.eat(b"*") {
                return Some(Op::Multiply);
            }
            if p.eat_word(b"div") {
                return Some(Op::Divide);
            }
            p.eat_word(b"mod").then_some(Op::Modulo)
        })
    }

    fn unary(&mut self) -> Result<XPath, Fault> {
        let mut negative = false;
        let mut any = false;
        while self.eat(b"-") {
            (negative, any) = (!negative, true);
        }
        let mut e = self.path()?;
        while self.eat(b"|") {
            let other = self.path()?;
            if !e.is_nodes() || !other.is_nodes() {
                return Err(self.wrong());
            }
            e = XPath::Union(Box::new(e), Box::new(other));
        }
        Ok(match (any, negative) {
            (false, _) => e,
            (true, true) => XPath::Negative(Box::new(e)),
            (true, false) => XPath::Negative(Box::new(XPath::Negative(Box::new(e)))),
        })
    }

    fn path(&mut self) -> Result<XPath, Fault> {
        let begin = self.at;
        if let Some(primary) = self.primary()? {
            if !self.at_mark(b"/") {
                return Ok(primary);
            }
            if !primary.is_nodes() {
                self.at = begin;
                return Err(self.wrong());
            }
            let mut steps = Vec::new();
            self.steps_behind(&mut steps)?;
            return Ok(XPath::Path {
                root: false,
                from: Some(Box::new(primary)),
                steps,
            });
        }
        let mut steps = Vec::new();
        let root = self.at_mark(b"/");
        if root {
            if self.eat(b"//") {
                steps.push(anywhere());
                self.step(&mut steps)?;
            } else {
                self.expect(b"/")?;
                self.spaces();
                let begins = (self.text.get(self.at))
                    .is_some_and(|b| is_name_byte(*b) || matches!(b, b'*' | b'@' | b'.'));
                if begins {
                    self.step(&mut steps)?;
                }
            }
        } else {
            self.step(&mut steps)?;
        }
        self.steps_behind(&mut steps)?;
        Ok(XPath::Path {
            root,
            from: None,
            steps,
        })
    }

    fn steps_behind(&mut self, steps: &mut Vec<Step>) -> Result<(), Fault> {
        loop {
            if self.eat(b"//") {
                steps.push(anywhere());
            } else if !self.eat(b"/") {
                return Ok(());
            }
            self.step(steps)?;
        }
    }

    fn step(&mut self, steps: &mut Vec<Step>) -> Result<(), Fault> {
        let plain = |axis, test| Step {
            axis,
            test,
            predicates: Vec::new(),
        };
        if self.eat(b"..") {
            steps.push(plain(Axis::Parent, Test::Kind));
            return Ok(());
        }
        if self.eat(b".") {
            steps.push(plain(Axis::Own, Test::Kind));
            return Ok(());
        }
        let mut axis = Axis::Child;
        if self.eat(b"@") {
            axis = Axis::Attribute;
        } else {
            let before = self.at;
            let name = self.name();
            match name.and_then(|n| AXES.iter().find(|(a, _)| *a == n)) {
                Some((_, found)) if self.eat(b"::") => axis = *found,
                _ => self.at = before,
            }
        }
        let test = if self.eat(b"*") {
            Test::Any
        } else {
            let name = self.name().ok_or_else(|| self.wrong())?;
            let before = self.at;
            if NODE_KINDS.contains(&name.as_slice()) && self.eat(b"(") && self.eat(b")") {
                axis = Axis::Own;
                Test::Kind
            } else {
                self.at = before;
                Test::Name(name)
            }
        };
        let mut step = plain(axis, test);
        while self.eat(b"[") {
            self.predicates += 1;
            step.predicates.push(self.or()?);
            self.predicates -= 1;
            self.expect(b"]")?;
        }
        steps.push(step);
        Ok(())
    }

    /// What is no location: a variable, parentheses, a literal, a call.
    fn primary(&mut self) -> Result<Option<XPath>, Fault> {
        self.spaces();
        let begin = self.at;
        let Some(&first) = self.text.get(self.at) else {
            return Ok(None);
        };
        match first {
            b'$' => {
                self.at += 1;
                let user = self.eat(b"@");
                match self.name() {
                    Some(name) if user => Ok(Some(XPath::UserVariable(
                        String::from_utf8_lossy(&name).into_owned(),
                    ))),
                    _ => {
                        self.at = begin;
                        Err(self.fault("Unknown XPATH variable at"))
                    }
                }
            }
            b'(' => {
                self.at += 1;
                let e = self.or()?;
                self.expect(b")")?;
                Ok(Some(e))
            }
            b'"' | b'\'' => {
                let inside = begin + 1;
                let end =
                    memchr::memchr(first, &self.text[inside..]).ok_or_else(|| self.wrong())?;
                self.at = inside + end + 1;
                Ok(Some(XPath::Text(self.text[inside..inside + end].to_vec())))
            }
            b'0'..=b'9' => self.number().map(Some),
            _ => self.call(),
        }
    }

    fn number(&mut self) -> Result<XPath, Fault> {
        let rest = &self.text[self.at..];
        let digits = |b: &[u8]| b.iter().take_while(|b| b.is_ascii_digit()).count();
        let mut len = digits(rest);
        let mut scale = 0;
        if rest.get(len) == Some(&b'.') {
            scale = digits(&rest[len + 1..]);
            len += 1 + scale;
        }
        let text = String::from_utf8_lossy(&rest[..len]).into_owned();
        self.at += len;
        let scale = u8::try_from(scale).unwrap_or(30).min(30);
        text.trim_end_matches('.')
            .parse()
            .map(|n| XPath::Number(n, scale))
            .map_err(|_| self.wrong())
    }

    fn call(&mut self) -> Result<Option<XPath>, Fault> {
        let begin = self.at;
        let Some(name) = self.name() else {
            return Ok(None);
        };
        if !self.at_mark(b"(") || NODE_KINDS.contains(&name.as_slice()) {
            self.at = begin;
            return Ok(None);
        }
        let Some((_, func, least, most)) = FUNCTIONS.iter().find(|f| f.0 == name) else {
            return Err(self.wrong());
        };
        self.expect(b"(")?;
        let mut args = Vec::new();
        while !self.eat(b")") {
            if !args.is_empty() {
                self.expect(b",")?;
            }
            args.push(self.or()?);
        }
        let of_nodes = matches!(func, Func::Count | Func::Sum);
        let of_context = matches!(func, Func::Last | Func::Position)
            || args.is_empty() && matches!(func, Func::StringLength | Func::Number);
        if args.len() < *least
            || args.len() > *most
            || of_nodes && !args.iter().all(XPath::is_nodes)
            || of_context && self.predicates == 0
        {
            return Err(self.wrong());
        }
        Ok(Some(XPath::Call(*func, args)))
    }
}

/// What `//` stands for.
fn anywhere() -> Step {
    Step {
        axis: Axis::DescendantOrSelf,
        test: Test::Kind,
        predicates: Vec::new(),
    }
}
