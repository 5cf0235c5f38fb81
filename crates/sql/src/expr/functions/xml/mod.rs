//! The XML functions.
//!
//! | file | holds |
//! |---|---|
//! | `document.rs` | texts as nodes |
//! | `xpath.rs` | expressions |
//! | `evaluate.rs` | expressions over documents |

mod document;
mod evaluate;
mod xpath;

use crate::expr::node::{Call, ExprType, Function, Typing};
use crate::expr::value::Val;
use document::Document;
use evaluate::{At, Evaluation, Found, fault};
use narwal_types::errors::codes;
use narwal_types::{SqlResult, ValueRef};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "extractvalue",
        "xml, path",
        "The texts at an XPath.",
        |t| long_text(t, 0..1),
        |c| {
            let found = found(c, |e, found| Ok(e.text(&found)))?;
            found.map_or(Ok(Val::NULL), |text| c.string(text))
        },
    ),
    &Function::new(
        "updatexml",
        "xml, path, new",
        "The text with other XML in place of what is at an XPath, if that is one node.",
        |t| long_text(t, 0..3),
        update,
    ),
];

fn long_text(t: &Typing<'_>, of: std::ops::Range<usize>) -> SqlResult<ExprType> {
    t.string_of(of, u32::MAX.into(), true)
}

/// Calls `f` with what the path finds in the document; `None` if the document is no XML, with a warning.
fn found<T>(
    c: &Call<'_, '_>,
    f: impl FnOnce(&Evaluation<'_>, Found) -> SqlResult<Option<T>>,
) -> SqlResult<Option<T>> {
    if c.exprs().get(1).is_some_and(|e| !e.is_const()) {
        return Err(fault("Only constant XPATH queries are supported"));
    }
    let path = xpath::parse(&c.bytes(1)).map_err(fault)?;
    let text = c.bytes(0);
    // A node takes 80 bytes, and `<a>` can be one.
    narwal_memory::reserve(30 * text.len() as u64)?;
    let document = match Document::read(&text) {
        Ok(d) => d,
        Err(why) => {
            c.ctx
                .env
                .warn(codes::WRONG_VALUE, format!("Incorrect XML value: '{why}'"));
            return Ok(None);
        }
    };
    let evaluation = Evaluation {
        document: &document,
        env: c.ctx.env,
        collation: c.shared_collation_of(0, 1),
    };
    let at = At {
        node: 0,
        position: 1,
        last: 1,
    };
    let found = evaluation.of(&path, at)?;
    f(&evaluation, found)
}

fn update<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let range = found(c, |e, found| {
        Ok(match found {
            Found::Nodes(nodes) => Some(match nodes.as_slice() {
                [one] => Some(e.document.nodes[*one].whole.clone()),
                _ => None,
            }),
            _ => None,
        })
    })?;
    let Some(range) = range else {
        return Ok(Val::NULL);
    };
    let mut text = c.bytes(0).into_owned();
    if let Some(range) = range {
        let new = match c.v(2) {
            ValueRef::Null => return Ok(Val::NULL),
            _ => c.bytes(2),
        };
        text.splice(range, new.iter().copied());
    }
    c.string(text)
}
