//! Names of XA transactions, and how GTID and XA_PREPARE events say them.

use crate::decode::RawEvent;
use crate::error::BinlogError;
use crate::event::{event_type, gtid_flags};
use std::cmp::Ordering;
use std::fmt;

/// Largest length of either part of a name, in bytes.
pub const MAX_XID_PART: usize = 64;

/// The name of an XA transaction: a format number, a global transaction id and a branch qualifier.
///
/// As text it is what MariaDB writes into its log: `X'<hex>',X'<hex>',<format>`. Names that differ in nothing but the format
/// are one name, as in MariaDB.
#[derive(Debug, Clone)]
pub struct Xid {
    format: u32,
    gtrid: Vec<u8>,
    bqual: Vec<u8>,
}

impl PartialEq for Xid {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Xid {}

impl PartialOrd for Xid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Xid {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.gtrid, &self.bqual).cmp(&(&other.gtrid, &other.bqual))
    }
}

impl Xid {
    /// A name. `None`: the global transaction id is empty, or a part is longer than [`MAX_XID_PART`], or the format is
    /// larger than 2147483647.
    #[must_use]
    pub fn new(format: u32, gtrid: &[u8], bqual: &[u8]) -> Option<Self> {
        let fits = !gtrid.is_empty()
            && gtrid.len() <= MAX_XID_PART
            && bqual.len() <= MAX_XID_PART
            && i32::try_from(format).is_ok();
        fits.then(|| Xid {
            format,
            gtrid: gtrid.to_vec(),
            bqual: bqual.to_vec(),
        })
    }

    /// The format number.
    #[must_use]
    pub fn format(&self) -> u32 {
        self.format
    }

    /// The global transaction id.
    #[must_use]
    pub fn gtrid(&self) -> &[u8] {
        &self.gtrid
    }

    /// The branch qualifier, which may be empty.
    #[must_use]
    pub fn bqual(&self) -> &[u8] {
        &self.bqual
    }

    /// Reads the text that [`fmt::Display`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(',').map(str::trim);
        let mut hex = || {
            let part = parts.next()?;
            let digits = part
                .strip_prefix(['X', 'x'])?
                .strip_prefix('\'')?
                .strip_suffix('\'')?;
            if !digits.is_ascii() || !digits.len().is_multiple_of(2) {
                return None;
            }
            (0..digits.len())
                .step_by(2)
                .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).ok())
                .collect::<Option<Vec<u8>>>()
        };
        let (gtrid, bqual) = (hex()?, hex()?);
        let format = parts.next()?.parse().ok()?;
        match parts.next() {
            None => Xid::new(format, &gtrid, &bqual),
            Some(_) => None,
        }
    }

    /// What a GTID event has behind its flags: format, both lengths as a byte each, both parts.
    pub(crate) fn in_gtid(&self) -> Vec<u8> {
        let mut out = self.format.to_le_bytes().to_vec();
        out.extend([self.gtrid.len() as u8, self.bqual.len() as u8]);
        out.extend_from_slice(&self.gtrid);
        out.extend_from_slice(&self.bqual);
        out
    }

    /// The body of an XA_PREPARE event: whether it is a commit in one phase (no), format, both lengths as u32, both parts.
    pub(crate) fn prepare_body(&self) -> Vec<u8> {
        let mut out = vec![0];
        for n in [
            self.format,
            self.gtrid.len() as u32,
            self.bqual.len() as u32,
        ] {
            out.extend_from_slice(&n.to_le_bytes());
        }
        out.extend_from_slice(&self.gtrid);
        out.extend_from_slice(&self.bqual);
        out
    }
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.gtrid, &self.bqual] {
            f.write_str("X'")?;
            for b in part {
                write!(f, "{b:02x}")?;
            }
            f.write_str("',")?;
        }
        write!(f, "{}", self.format)
    }
}

/// What an XA_PREPARE event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XaPrepare {
    /// The transaction is committed by this (XA COMMIT ... ONE PHASE).
    pub one_phase: bool,
    /// Its name.
    pub xid: Xid,
}

fn cut(mut rest: &[u8], lens: [usize; 2], format: u32) -> Result<Xid, BinlogError> {
    const WHAT: &str = "the name of an XA transaction";
    let mut take = |n: usize| {
        let (head, tail) = rest.split_at_checked(n)?;
        rest = tail;
        Some(head)
    };
    let (gtrid, bqual) = take(lens[0])
        .zip(take(lens[1]))
        .ok_or(BinlogError::Truncated(WHAT))?;
    Xid::new(format, gtrid, bqual).ok_or(BinlogError::Invalid(WHAT))
}

impl RawEvent<'_> {
    /// The XA transaction that a GTID event's group prepares or ends; `None` for all other groups and events.
    ///
    /// # Errors
    /// [`BinlogError`] for a name that is cut short or none.
    pub fn xid(&self) -> Result<Option<Xid>, BinlogError> {
        const FLAGS_AT: usize = 12;
        let flags = self.body.get(FLAGS_AT).copied().unwrap_or(0);
        if self.header.event_type != event_type::GTID
            || flags & (gtid_flags::PREPARED_XA | gtid_flags::COMPLETED_XA) == 0
        {
            return Ok(None);
        }
        let commit_id = match flags & gtid_flags::GROUP_COMMIT_ID {
            0 => 0,
            _ => 8,
        };
        let rest = self
            .body
            .get(FLAGS_AT + 1 + commit_id..)
            .unwrap_or_default();
        let Some(([a, b, c, d, g, q], rest)) = rest.split_first_chunk() else {
            return Err(BinlogError::Truncated("the name of an XA transaction"));
        };
        let format = u32::from_le_bytes([*a, *b, *c, *d]);
        cut(rest, [usize::from(*g), usize::from(*q)], format).map(Some)
    }

    /// Takes an XA_PREPARE event apart; `None` for other events.
    ///
    /// # Errors
    /// As [`xid`](Self::xid).
    pub fn xa_prepare(&self) -> Result<Option<XaPrepare>, BinlogError> {
        if self.header.event_type != event_type::XA_PREPARE {
            return Ok(None);
        }
        let Some(([one_phase, numbers @ ..], rest)) = self.body.split_first_chunk::<13>() else {
            return Err(BinlogError::Truncated("an XA_PREPARE event"));
        };
        let n = |at: usize| {
            let b = numbers[at..at + 4].try_into();
            b.map_or(0, u32::from_le_bytes)
        };
        let xid = cut(rest, [n(4) as usize, n(8) as usize], n(0))?;
        Ok(Some(XaPrepare {
            one_phase: *one_phase != 0,
            xid,
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn text_and_back() {
        let xid = Xid::new(5, b"\x01\x02\xff", b"a'b").unwrap();
        assert_eq!(xid.to_string(), "X'0102ff',X'612762',5");
        assert_eq!(Xid::parse(&xid.to_string()), Some(xid));
        let bare = Xid::new(1, b"one", b"").unwrap();
        assert_eq!(bare.to_string(), "X'6f6e65',X'',1");
        assert_eq!(Xid::parse("X'6f6e65',X'',1"), Some(bare));
        for wrong in [
            "",
            "X'6f6e65',X''",
            "X'6f6e65',X'',1,2",
            "X'6f6',X'',1",
            "X'',X'',1",
            "6f6e65,X'',1",
            "X'é',X'',1",
            "X'6f',X'',2147483648",
        ] {
            assert_eq!(Xid::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Xid::new(1, &[1; 65], b""), None);
        assert_eq!(Xid::new(1, b"a", &[1; 65]), None);
    }
}
