//! What a source says of a statement in events before it: the value that AUTO_INCREMENT begins with, LAST_INSERT_ID(), the seeds
//! of RAND(), and user variables. `binlog_format=MIXED`, MariaDB's default, has them with most INSERT statements.

use crate::session::ClientSession;
use narwal_sql::quote::quote_ident;
use narwal_sql::with_seed;
use narwal_types::{Collation, Decimal, Discard, SqlResult};
use std::fmt::Write;
use std::sync::atomic::Ordering;

/// Values for the next statement.
#[derive(Debug, Default)]
pub(super) struct Said {
    last_insert_id: Option<u64>,
    insert_id: Option<u64>,
    seeds: Option<(u64, u64)>,
    /// Assignments for SET.
    variables: Vec<String>,
}

impl Said {
    /// An INTVAR event. `None`: it is cut short.
    pub(super) fn number(&mut self, body: &[u8]) -> Option<()> {
        let n = u64::from_le_bytes(body.get(1..9)?.try_into().ok()?);
        match body[0] {
            1 => self.last_insert_id = Some(n),
            2 => self.insert_id = Some(n),
            _ => return None,
        }
        Some(())
    }

    /// A RAND event. `None`: it is cut short.
    pub(super) fn seeds(&mut self, body: &[u8]) -> Option<()> {
        let number = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
        self.seeds = Some((number(0)?, number(8)?));
        Some(())
    }

    /// A USER_VAR event. `None`: it is cut short, or of a kind that is not known.
    pub(super) fn variable(&mut self, body: &[u8]) -> Option<()> {
        let mut rest = body;
        let length = u32::from_le_bytes(take(&mut rest, 4)?.try_into().ok()?);
        let name = std::str::from_utf8(take(&mut rest, length as usize)?).ok()?;
        let value = match take(&mut rest, 1)?[0] {
            0 => value(rest)?,
            _ => "NULL".to_owned(),
        };
        self.variables
            .push(format!("@{} = {value}", quote_ident(name)));
        Some(())
    }

    /// Tells the session that runs the statement.
    pub(super) fn tell(&self, session: &mut ClientSession) -> SqlResult<()> {
        let first = self.insert_id.unwrap_or(0);
        session.env.insert_id.store(first, Ordering::Relaxed);
        let (one, two) = self.seeds.unwrap_or_default();
        let seeds = match self.seeds {
            Some(_) => with_seed(with_seed(0, false, one), true, two),
            None => 0,
        };
        session.env.rand_seeds.store(seeds, Ordering::Relaxed);
        if let Some(id) = self.last_insert_id {
            session.env.last_insert_id = id;
        }
        if self.variables.is_empty() {
            return Ok(());
        }
        let set = format!("SET {}", self.variables.join(", "));
        session.run_text(&set, &mut Discard, false)
    }
}

/// The value of a user variable as SQL.
fn value(mut rest: &[u8]) -> Option<String> {
    let head = take(&mut rest, 9)?;
    let collation = u32::from_le_bytes(head[1..5].try_into().ok()?);
    let length = u32::from_le_bytes(head[5..9].try_into().ok()?);
    let value = take(&mut rest, length as usize)?;
    // Behind it stands whether a number has no sign.
    let unsigned = rest.first().is_some_and(|flags| flags & 1 != 0);
    let number = || Some(u64::from_le_bytes(value.try_into().ok()?));
    Some(match head[0] {
        0 => text(value, collation)?,
        1 => format!("{:e}", f64::from_bits(number()?)),
        2 if unsigned => number()?.to_string(),
        2 => number()?.cast_signed().to_string(),
        4 => {
            let (precision, scale) = (*value.first()?, *value.get(1)?);
            Decimal::decode_binary(&value[2..], precision, scale)?.to_string()
        }
        _ => return None,
    })
}

fn text(value: &[u8], collation: u32) -> Option<String> {
    let collation = Collation::from_id(u16::try_from(collation).ok()?)?;
    let mut out = format!("_{} x'", collation.charset().name());
    for byte in value {
        let _ = write!(out, "{byte:02x}");
    }
    let _ = write!(out, "' COLLATE {}", collation.name());
    Some(out)
}

fn take<'a>(rest: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(n)?;
    *rest = tail;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_before_statements_are_read_or_refused() {
        let mut said = Said::default();
        assert_eq!(said.number(&[2, 7, 0, 0, 0, 0, 0, 0, 0]), Some(()));
        assert_eq!(said.insert_id, Some(7));
        assert_eq!(said.number(&[2, 7]), None);
        let mut seeds = [0; 16];
        (seeds[0], seeds[8]) = (7, 9);
        assert_eq!(said.seeds(&seeds), Some(()));
        assert_eq!(said.seeds, Some((7, 9)));
        assert_eq!(said.seeds(&seeds[..15]), None);
        let text = b"\x01\0\0\0a\0\0\x21\0\0\0\x02\0\0\0hi";
        assert_eq!(said.variable(text), Some(()));
        assert_eq!(
            said.variables,
            ["@`a` = _utf8mb3 x'6869' COLLATE utf8mb3_general_ci"]
        );
        assert_eq!(said.variable(b"\x01\0\0\0b\x01"), Some(()));
        assert_eq!(said.variables[1], "@`b` = NULL");
        for n in 0..text.len() {
            assert_eq!(said.variable(&text[..n]), None, "{n}");
        }
    }
}
