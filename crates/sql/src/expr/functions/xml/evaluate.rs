//! XPath expressions over a document.

use super::document::{Document, Kind};
use super::xpath::{Axis, Func, Op, Step, Test, XPath};
use crate::env::StatementEnv;
use narwal_types::convert::{fixed_text, parse_f64_prefix};
use narwal_types::errors::{abridged, codes};
use narwal_types::work::stopped;
use narwal_types::{Collation, SqlError, SqlResult, Value, ValueRef};
use std::cmp::Ordering;

/// What an expression gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    Nodes(Vec<usize>),
    /// A number; digits behind its point, if they are fixed.
    Number(f64, Option<u8>),
    Text(Vec<u8>),
    Truth(bool),
    Null,
}

/// The node at hand, and where it stands among those that a step has found.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) node: usize,
    pub(super) position: usize,
    pub(super) last: usize,
}

pub(super) struct Evaluation<'e> {
    pub(super) document: &'e Document<'e>,
    pub(super) env: &'e StatementEnv,
    pub(super) collation: Collation,
}

impl Evaluation<'_> {
    pub(super) fn of(&self, e: &XPath, at: At) -> SqlResult<Found> {
        Ok(match e {
            XPath::Number(n, scale) => Found::Number(*n, Some(*scale)),
            XPath::Text(t) => Found::Text(t.clone()),
            XPath::UserVariable(name) => self.user_variable(name),
            XPath::Path { root, from, steps } => {
                let mut nodes = match (root, from) {
                    (true, _) => vec![0],
                    (false, None) => vec![at.node],
                    (false, Some(from)) => match self.of(from, at)? {
                        Found::Nodes(n) => n,
                        _ => Vec::new(),
                    },
                };
                for s in steps {
                    nodes = self.step(s, &nodes)?;
                }
                Found::Nodes(nodes)
            }
            XPath::Union(a, b) => {
                let (Found::Nodes(mut a), Found::Nodes(b)) = (self.of(a, at)?, self.of(b, at)?)
                else {
                    return Ok(Found::Null);
                };
                a.extend(b);
                a.sort_unstable();
                a.dedup();
                Found::Nodes(a)
            }
            XPath::Negative(e) => {
                let found = self.of(e, at)?;
                let scale = self.scale(&found);
                Found::Number(-self.number(&found), scale)
            }
            XPath::Binary(op, a, b) => self.binary(*op, a, b, at)?,
            XPath::Call(f, args) => self.call(*f, args, at)?,
        })
    }

    fn user_variable(&self, name: &str) -> Found {
        let mut found = Found::Null;
        (self.env.variables).with_user(name, &mut |v, _| {
            found = match v {
                Value::Null => Found::Null,
                Value::Int(n) => Found::Number(*n as f64, Some(0)),
                Value::Double(f) => Found::Number(*f, None),
                v => Found::Text(v.as_ref().to_text().into_bytes()),
            };
        });
        found
    }

    /// One step from each of the nodes.
    fn step(&self, step: &Step, from: &[usize]) -> SqlResult<Vec<usize>> {
        let mut out = Vec::new();
        for (i, node) in from.iter().enumerate() {
            if i % 64 == 0 && stopped() {
                break;
            }
            let mut found = self.along(step.axis, *node);
            found.retain(|n| self.passes(step, *n));
            for p in &step.predicates {
                let last = found.len();
                let mut kept = Vec::new();
                for (i, node) in found.into_iter().enumerate() {
                    let position = i + 1;
                    let at = At {
                        node,
                        position,
                        last,
                    };
                    if self.holds(p, at)? {
                        kept.push(node);
                    }
                }
                found = kept;
            }
            out.append(&mut found);
            // Nodes within each other find the same ones again and again.
            if out.len() > 4 * self.document.nodes.len() {
                out.sort_unstable();
                out.dedup();
            }
        }
        out.sort_unstable();
        out.dedup();
        Ok(out)
    }

    fn passes(&self, step: &Step, node: usize) -> bool {
        let kind = match step.axis {
            Axis::Attribute => Kind::Attribute,
            _ => Kind::Element,
        };
        match &step.test {
            Test::Kind => true,
            Test::Any => self.document.nodes[node].kind == kind,
            Test::Name(name) => {
                self.document.nodes[node].kind == kind && self.document.name(node) == name
            }
        }
    }

    /// The nodes along an axis, the nearest first.
    fn along(&self, axis: Axis, node: usize) -> Vec<usize> {
        let nodes = &self.document.nodes;
        let above = || {
            let up = |n: &usize| (*n != 0).then(|| nodes[*n].parent);
            std::iter::successors(up(&node), up)
        };
        let below = || {
            let end = nodes[node].whole.end;
            (node + 1..nodes.len())
                .take_while(move |n| nodes[*n].whole.start < end)
                .filter(|n| nodes[*n].kind == Kind::Element)
        };
        match axis {
            Axis::Own => vec![node],
            Axis::Child => self
                .document
                .children(node)
                .filter(|n| nodes[*n].kind == Kind::Element)
                .collect(),
            Axis::Attribute => self
                .document
                .children(node)
                .filter(|n| nodes[*n].kind == Kind::Attribute)
                .collect(),
            Axis::Parent => above().take(1).collect(),
            Axis::Ancestor => above().filter(|n| *n != 0).collect(),
            Axis::AncestorOrSelf => std::iter::once(node)
                .chain(above())
                .filter(|n| *n != 0)
                .collect(),
            Axis::Descendant => below().collect(),
            Axis::DescendantOrSelf => std::iter::once(node).chain(below()).collect(),
            Axis::Nothing => Vec::new(),
        }
    }

    /// A predicate: a number is a position.
    fn holds(&self, p: &XPath, at: At) -> SqlResult<bool> {
        let found = self.of(p, at)?;
        Ok(match &found {
            Found::Number(n, _) => *n == at.position as f64,
            Found::Text(_) => self.number(&found) == at.position as f64,
            found => self.truth(found),
        })
    }

    pub(super) fn truth(&self, found: &Found) -> bool {
        match found {
            Found::Nodes(n) => !n.is_empty(),
            Found::Truth(t) => *t,
            Found::Null => false,
            found => self.number(found) != 0.0,
        }
    }

    /// The texts right within a node.
    fn texts(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let is_text = |n: &usize| self.document.nodes[*n].kind == Kind::Text;
        self.document.children(node).filter(is_text)
    }

    /// As text; nodes are their texts with spaces between them. `None`: NULL.
    pub(super) fn text(&self, found: &Found) -> Option<Vec<u8>> {
        Some(match found {
            Found::Text(t) => t.clone(),
            Found::Truth(t) => vec![if *t { b'1' } else { b'0' }],
            Found::Null => return None,
            Found::Number(n, Some(scale)) => fixed_text(*n, *scale).into_bytes(),
            Found::Number(n, None) => ValueRef::Double(*n).to_text().into_bytes(),
            Found::Nodes(nodes) => {
                let mut texts: Vec<usize> = nodes.iter().flat_map(|n| self.texts(*n)).collect();
                texts.sort_unstable();
                texts.dedup();
                let texts: Vec<&[u8]> = texts.iter().map(|n| self.document.name(*n)).collect();
                texts.join(&b' ')
            }
        })
    }

    fn number(&self, found: &Found) -> f64 {
        match found {
            Found::Number(n, _) => *n,
            Found::Truth(t) => f64::from(u8::from(*t)),
            found => {
                let text = self.text(found).unwrap_or_default();
                let (n, used) = parse_f64_prefix(&text);
                if used == 0 || used < text.trim_ascii_end().len() {
                    let text = String::from_utf8_lossy(&text);
                    self.env.warn(
                        codes::TRUNCATED_WRONG_VALUE,
                        format!(
                            "Truncated incorrect DOUBLE value: '{}'",
                            abridged(text, 128)
                        ),
                    );
                }
                n
            }
        }
    }

    fn scale(&self, found: &Found) -> Option<u8> {
        match found {
            Found::Number(_, scale) => *scale,
            Found::Truth(_) => Some(0),
            _ => None,
        }
    }

    fn binary(&self, op: Op, a: &XPath, b: &XPath, at: At) -> SqlResult<Found> {
        let left = self.of(a, at)?;
        // The right side counts only if the left one does not decide.
        match op {
            Op::Or if self.truth(&left) => return Ok(Found::Truth(true)),
            Op::And if !self.truth(&left) => return Ok(Found::Truth(false)),
            _ => {}
        }
        let right = self.of(b, at)?;
        let (x, y) = match op {
            Op::Or | Op::And => return Ok(Found::Truth(self.truth(&right))),
            Op::Equal | Op::Differ | Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
                return Ok(Found::Truth(self.compare(op, &left, &right)));
            }
            _ => (self.number(&left), self.number(&right)),
        };
        let (s, t) = (self.scale(&left), self.scale(&right));
        let both = |f: fn(u8, u8) -> u8| Some(f(s?, t?).min(30));
        Ok(match op {
            Op::Add => Found::Number(x + y, both(u8::max)),
            Op::Subtract => Found::Number(x - y, both(u8::max)),
            Op::Multiply => Found::Number(x * y, both(u8::saturating_add)),
            _ if y == 0.0 => {
                self.env.warn(codes::DIVISION_BY_ZERO, "Division by 0");
                Found::Null
            }
            Op::Divide => Found::Number((x / y).trunc(), Some(0)),
            _ => Found::Number(x % y, both(u8::max)),
        })
    }

    /// Nodes compare if one of their texts does.
    fn compare(&self, op: Op, left: &Found, right: &Found) -> bool {
        match (left, right) {
            (Found::Nodes(nodes), other) => nodes.iter().flat_map(|n| self.texts(*n)).any(|n| {
                let text = Found::Text(self.document.name(n).to_vec());
                self.compare(op, &text, other)
            }),
            (other, Found::Nodes(nodes)) => nodes.iter().flat_map(|n| self.texts(*n)).any(|n| {
                let text = Found::Text(self.document.name(n).to_vec());
                self.compare(op, other, &text)
            }),
            (Found::Null, _) | (_, Found::Null) => false,
            (Found::Text(a), Found::Text(b)) => holds(op, Some(self.collation.compare(a, b))),
            (a, b) => holds(op, self.number(a).partial_cmp(&self.number(b))),
        }
    }

    fn call(&self, f: Func, args: &[XPath], at: At) -> SqlResult<Found> {
        let arg = |i: usize| match args.get(i) {
            Some(e) => self.of(e, at),
            None => Ok(Found::Nodes(vec![at.node])),
        };
        let integer = |n: usize| Found::Number(n as f64, Some(0));
        let rounded = |round: fn(f64) -> f64| -> SqlResult<Found> {
            Ok(Found::Number(round(self.number(&arg(0)?)), Some(0)))
        };
        Ok(match f {
            Func::Last => integer(at.last),
            Func::Position => integer(at.position),
            Func::True => Found::Truth(true),
            Func::False => Found::Truth(false),
            Func::Not => Found::Truth(!self.truth(&arg(0)?)),
            Func::Boolean => Found::Truth(self.truth(&arg(0)?)),
            Func::Number => Found::Number(self.number(&arg(0)?), None),
            Func::Floor => rounded(f64::floor)?,
            Func::Ceiling => rounded(f64::ceil)?,
            Func::Round => rounded(f64::round_ties_even)?,
            // The node at hand is counted as all that its step found, as in MariaDB.
            Func::Count if args.first().is_some_and(XPath::is_self) => integer(at.last),
            Func::Count => match arg(0)? {
                Found::Nodes(n) => integer(n.len()),
                _ => Found::Null,
            },
            Func::Sum => match arg(0)? {
                Found::Nodes(nodes) => {
                    let text = |n: usize| Found::Text(self.document.name(n).to_vec());
                    let texts = nodes.iter().flat_map(|n| self.texts(*n));
                    Found::Number(texts.map(|n| self.number(&text(n))).sum(), None)
                }
                _ => Found::Null,
            },
            Func::StringLength => match self.text(&arg(0)?) {
                Some(t) => integer(narwal_types::collation::char_count(&t)),
                None => Found::Null,
            },
            Func::Concat | Func::Contains | Func::Substring => {
                let mut texts = Vec::with_capacity(args.len());
                for e in args {
                    match self.text(&self.of(e, at)?) {
                        Some(t) => texts.push(t),
                        None => return Ok(Found::Null),
                    }
                }
                self.of_texts(f, texts)
            }
        })
    }

    fn of_texts(&self, f: Func, texts: Vec<Vec<u8>>) -> Found {
        match f {
            Func::Concat => Found::Text(texts.concat()),
            Func::Contains => {
                let folded = |t: &[u8]| match self.collation.name().ends_with("_ci") {
                    true => String::from_utf8_lossy(t).to_lowercase().into_bytes(),
                    false => t.to_vec(),
                };
                let (text, part) = (folded(&texts[0]), folded(&texts[1]));
                Found::Truth(memchr::memmem::find(&text, &part).is_some())
            }
            _ => {
                let text = String::from_utf8_lossy(&texts[0]).into_owned();
                let number = |i: usize| {
                    texts
                        .get(i)
                        .map(|t| self.number(&Found::Text(t.clone())) as i64)
                };
                let from = number(1).unwrap_or(1);
                let skipped = match from {
                    1.. => from as usize - 1,
                    _ => return Found::Text(Vec::new()),
                };
                let most = number(2).map_or(usize::MAX, |n| n.max(0) as usize);
                Found::Text(
                    text.chars()
                        .skip(skipped)
                        .take(most)
                        .collect::<String>()
                        .into_bytes(),
                )
            }
        }
    }
}

fn holds(op: Op, order: Option<Ordering>) -> bool {
    let Some(o) = order else { return false };
    match op {
        Op::Equal => o.is_eq(),
        Op::Differ => o.is_ne(),
        Op::Less => o.is_lt(),
        Op::LessEqual => o.is_le(),
        Op::Greater => o.is_gt(),
        _ => o.is_ge(),
    }
}

/// Error 1105.
#[cold]
pub(super) fn fault(text: impl Into<Box<str>>) -> SqlError {
    SqlError::new(codes::UNKNOWN_ERROR, b"HY000", text)
}
