//! What only MySQL's logs have, read: groups' GTIDs, compressed transactions. Facts: MySQL's documentation of the replication
//! protocol, and logs that its servers wrote.

use crate::decode::RawEvent;
use crate::error::BinlogError;
use crate::event::{EventHeader, HEADER_LEN, MAX_EVENT_LEN};
use crate::gtid_set::{MysqlGtid, Tag, read_tag};
use crate::lenenc::Reader;
use crate::var_uint::var_uint;
use std::io::Read;
use uuid::Uuid;

/// Type codes of MySQL's events.
#[allow(missing_docs)]
pub mod mysql_event {
    pub const ROWS_QUERY: u8 = 29;
    pub const GTID: u8 = 33;
    pub const ANONYMOUS_GTID: u8 = 34;
    pub const PREVIOUS_GTIDS: u8 = 35;
    pub const TRANSACTION_CONTEXT: u8 = 36;
    pub const VIEW_CHANGE: u8 = 37;
    pub const PARTIAL_UPDATE_ROWS: u8 = 39;
    pub const TRANSACTION_PAYLOAD: u8 = 40;
    pub const HEARTBEAT_V2: u8 = 41;
    pub const GTID_TAGGED: u8 = 42;
}

impl RawEvent<'_> {
    /// The GTID that a group of MySQL begins with; `None` for an anonymous group.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`] and [`BinlogError::Invalid`] if the event is none of the three that name one.
    pub fn mysql_gtid(&self) -> Result<Option<MysqlGtid>, BinlogError> {
        match self.header.event_type {
            mysql_event::ANONYMOUS_GTID => Ok(None),
            mysql_event::GTID => {
                let mut reader = Reader::new(self.body, "a GTID event");
                reader.u8()?; // flags
                let uuid = reader.bytes(16)?;
                let number = reader.u64()?;
                gtid(uuid, Tag::NONE, number).map(Some)
            }
            mysql_event::GTID_TAGGED => tagged(self.body).map(Some),
            _ => Err(BinlogError::Invalid("event that is no GTID event")),
        }
    }
}

fn gtid(uuid: &[u8], tag: Tag, number: u64) -> Result<MysqlGtid, BinlogError> {
    let uuid = Uuid::from_slice(uuid).map_err(|_| BinlogError::Invalid("UUID of a GTID"))?;
    match number {
        1..=0x7fff_ffff_ffff_fffe => Ok(MysqlGtid { uuid, tag, number }),
        _ => Err(BinlogError::Invalid("number of a GTID")),
    }
}

/// The body of a GTID event with a tag: a version, the message's length, the last field that must be known; then numbered
/// fields. Those up to the tag always come, in this order.
fn tagged(body: &[u8]) -> Result<MysqlGtid, BinlogError> {
    const WRONG: BinlogError = BinlogError::Invalid("field of a GTID event with a tag");
    let mut reader = Reader::new(body, "a GTID event with a tag");
    for _ in 0..3 {
        var_uint(&mut reader)?;
    }
    let field = |reader: &mut Reader<'_>, n: u64| match var_uint(reader)? == n {
        true => Ok(()),
        false => Err(WRONG),
    };
    field(&mut reader, 0)?;
    var_uint(&mut reader)?; // flags
    field(&mut reader, 1)?;
    let mut uuid = [0; 16];
    for byte in &mut uuid {
        *byte = u8::try_from(var_uint(&mut reader)?).map_err(|_| WRONG)?;
    }
    field(&mut reader, 2)?;
    // Signed, with the sign in the lowest bit.
    let number = var_uint(&mut reader)?;
    if number & 1 != 0 {
        return Err(WRONG);
    }
    field(&mut reader, 3)?;
    let tag = read_tag(&mut reader)?;
    gtid(&uuid, tag, number >> 1)
}

/// The events of a compressed transaction (`binlog_transaction_compression`), one after the other, without checksums. Memory
/// follows what is read, not what the event claims.
pub struct PayloadEvents<'a> {
    from: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for PayloadEvents<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PayloadEvents")
    }
}

impl<'a> PayloadEvents<'a> {
    /// Of a TRANSACTION_PAYLOAD event's body.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`] and [`BinlogError::Invalid`] if it is not what its type says.
    pub fn new(body: &'a [u8]) -> Result<Self, BinlogError> {
        mod field {
            pub(super) const END: u64 = 0;
            pub(super) const COMPRESSION: u64 = 2;
        }
        const ZSTD: u64 = 0;
        const NONE: u64 = 255;
        let mut reader = Reader::new(body, "a compressed transaction");
        let mut compression = NONE;
        loop {
            let kind = reader.lenenc()?;
            if kind == field::END {
                break;
            }
            let value = reader.lenenc_str()?;
            if kind == field::COMPRESSION {
                compression = Reader::new(value, "a compressed transaction").lenenc()?;
            }
        }
        let from: Box<dyn Read + 'a> = match compression {
            ZSTD => Box::new(
                zstd::stream::read::Decoder::with_buffer(reader.rest())
                    .map_err(|_| BinlogError::Invalid("compressed transaction"))?,
            ),
            NONE => Box::new(reader.rest()),
            _ => {
                return Err(BinlogError::Invalid(
                    "compression of a transaction other than zstd",
                ));
            }
        };
        Ok(PayloadEvents {
            from,
            buffer: Vec::new(),
        })
    }

    /// The next event; `None` behind the last.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`] and [`BinlogError::Invalid`] for data that can't be read.
    pub fn next_event(&mut self) -> Result<Option<RawEvent<'_>>, BinlogError> {
        self.buffer.clear();
        if self.fill(HEADER_LEN)? == 0 {
            return Ok(None);
        }
        let header = EventHeader::parse(&self.buffer)?;
        let size = header.event_size as usize;
        if !(HEADER_LEN..=MAX_EVENT_LEN).contains(&size) {
            return Err(BinlogError::Invalid(
                "size of an event of a compressed transaction",
            ));
        }
        self.fill(size)?;
        if self.buffer.len() != size {
            return Err(BinlogError::Truncated("a compressed transaction"));
        }
        Ok(Some(RawEvent {
            header,
            bytes: &self.buffer,
            body: &self.buffer[HEADER_LEN..],
        }))
    }

    /// Reads until the buffer has `len` bytes or there are no more; how many came.
    fn fill(&mut self, len: usize) -> Result<usize, BinlogError> {
        let missing = (len - self.buffer.len()) as u64;
        (&mut self.from)
            .take(missing)
            .read_to_end(&mut self.buffer)
            .map_err(|_| BinlogError::Invalid("compressed transaction"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(event_type: u8, body: &[u8]) -> RawEvent<'_> {
        RawEvent {
            header: EventHeader {
                timestamp: 1,
                event_type,
                server_id: 7,
                event_size: 0,
                end_log_pos: 0,
                flags: 0,
            },
            bytes: &[],
            body,
        }
    }

    #[test]
    fn gtids_of_groups() {
        let mut body = vec![0];
        body.extend_from_slice(&[0xab; 16]);
        body.extend_from_slice(&5u64.to_le_bytes());
        let got = raw(mysql_event::GTID, &body).mysql_gtid().unwrap().unwrap();
        assert_eq!(got.to_string(), "abababab-abab-abab-abab-abababababab:5");
        for n in 0..body.len() {
            assert!(raw(mysql_event::GTID, &body[..n]).mysql_gtid().is_err());
        }
        // As MySQL 9.7 wrote it.
        let tagged = b"\x02\x6e\0\0\0\x02\x36\x8c\xca\x55\x02\xa5\x03\x72\x22\xc5\x03\xbd\x02\x0c\x04\xf1\x03\0\0\0\x02\x04\x04\x06\x08blue\
            \x08\x08\x0a\x10\x0c\x7f\x5a\x64\xf5\xe9\x23\x61\x06\x10\xc1\x04\x12\x83\x12\x0b";
        let got = raw(mysql_event::GTID_TAGGED, tagged).mysql_gtid();
        assert_eq!(
            got.unwrap().unwrap().to_string(),
            "1b466595-e939-11f1-af06-02fc00000001:blue:1"
        );
        for n in 0..33 {
            assert!(
                raw(mysql_event::GTID_TAGGED, &tagged[..n])
                    .mysql_gtid()
                    .is_err(),
                "{n}"
            );
        }
        let anonymous = raw(mysql_event::ANONYMOUS_GTID, &body).mysql_gtid();
        assert_eq!(anonymous.unwrap(), None);
        assert!(raw(2, &body).mysql_gtid().is_err());
    }

    fn event(event_type: u8, body: &[u8]) -> Vec<u8> {
        let header = EventHeader {
            event_size: (HEADER_LEN + body.len()) as u32,
            ..raw(event_type, &[]).header
        };
        let mut event = header.to_bytes().to_vec();
        event.extend_from_slice(body);
        event
    }

    #[test]
    fn events_of_a_payload() {
        let mut events = event(2, b"begin");
        events.extend(event(16, &[7; 8]));
        let packed = zstd::encode_all(&events[..], 3).unwrap();
        for (kind, data) in [(0, &packed), (0xfc, &events)] {
            let mut body = vec![2];
            body.extend_from_slice(match kind {
                0 => &[1, 0],
                _ => &[3, 0xfc, 0xff, 0],
            });
            body.extend_from_slice(&[3, 1, 9, 0]);
            body.extend_from_slice(data);
            let mut read = PayloadEvents::new(&body).unwrap();
            let kinds: Vec<u8> = std::iter::from_fn(|| {
                let event = read.next_event().unwrap()?;
                Some(event.header.event_type)
            })
            .collect();
            assert_eq!(kinds, [2, 16]);
            for n in 0..body.len() {
                if let Ok(mut read) = PayloadEvents::new(&body[..n]) {
                    while let Ok(Some(_)) = read.next_event() {}
                }
            }
        }
        assert!(PayloadEvents::new(&[2, 1, 1, 0]).is_err());
    }
}
