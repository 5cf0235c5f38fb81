//! Compressed events (`log_bin_compress=1`): a statement's text or a rows event's images as a zlib stream.
//!
//! The events keep their headers; what is compressed is replaced by
//!
//! ```text
//! u8 0x80 | algorithm << 4 | n   (algorithm 0: zlib)
//! n bytes, big-endian            length of the original
//! zlib stream
//! ```

use std::io::Read;

use crate::decode::RawEvent;
use crate::error::BinlogError;
use crate::event::{MAX_EVENT_LEN, event_type};
use crate::lenenc::Reader;
use crate::rows::skip_extra;

/// Type codes of compressed events.
mod code {
    pub(super) const QUERY: u8 = 165;
    pub(super) const WRITE_ROWS_V1: u8 = 166;
    pub(super) const UPDATE_ROWS_V1: u8 = 167;
    pub(super) const DELETE_ROWS_V1: u8 = 168;
    pub(super) const WRITE_ROWS_V2: u8 = 169;
    pub(super) const UPDATE_ROWS_V2: u8 = 170;
    pub(super) const DELETE_ROWS_V2: u8 = 171;
}

/// The type that an event of a compressed type stands for; `None` if the type is no compressed one.
#[must_use]
pub fn uncompressed_type(event_type: u8) -> Option<u8> {
    Some(match event_type {
        code::QUERY => event_type::QUERY,
        code::WRITE_ROWS_V1 => event_type::WRITE_ROWS_V1,
        code::UPDATE_ROWS_V1 => event_type::UPDATE_ROWS_V1,
        code::DELETE_ROWS_V1 => event_type::DELETE_ROWS_V1,
        code::WRITE_ROWS_V2 => event_type::WRITE_ROWS_V2,
        code::UPDATE_ROWS_V2 => event_type::UPDATE_ROWS_V2,
        code::DELETE_ROWS_V2 => event_type::DELETE_ROWS_V2,
        _ => return None,
    })
}

/// The body that a compressed event stands for, to be read as of [`uncompressed_type`]; `None` if the event is not
/// compressed.
///
/// # Errors
/// [`BinlogError::Truncated`] and [`BinlogError::Invalid`] for a body that is not what its type says,
/// [`BinlogError::TooLarge`] if it would be longer than an event may be.
pub fn decompressed_body(event: &RawEvent<'_>) -> Result<Option<Vec<u8>>, BinlogError> {
    let Some(plain) = uncompressed_type(event.header.event_type) else {
        return Ok(None);
    };
    let mut reader = Reader::new(event.body, "a compressed event");
    if plain == event_type::QUERY {
        reader.bytes(8)?;
        let db = usize::from(reader.u8()?);
        reader.bytes(2)?;
        let vars = usize::from(reader.u16()?);
        reader.bytes(vars + db + 1)?;
    } else {
        reader.bytes(8)?;
        if plain >= event_type::WRITE_ROWS_V2 {
            skip_extra(&mut reader)?;
        }
        let columns = reader.lenenc()?;
        let bitmap = usize::try_from(columns.div_ceil(8))
            .map_err(|_| BinlogError::Truncated("a compressed event"))?;
        reader.bytes(bitmap)?;
        if matches!(
            plain,
            event_type::UPDATE_ROWS_V1 | event_type::UPDATE_ROWS_V2
        ) {
            reader.bytes(bitmap)?;
        }
    }
    let head = event.body.len() - reader.rest().len();
    let tag = reader.u8()?;
    let n = usize::from(tag & 0x07);
    if tag & 0x80 == 0 || n == 0 || n > 4 {
        return Err(BinlogError::Invalid("head of compressed data"));
    }
    if tag & 0x70 != 0 {
        return Err(BinlogError::Invalid("compression other than zlib"));
    }
    let len = reader
        .bytes(n)?
        .iter()
        .fold(0usize, |len, b| len << 8 | usize::from(*b));
    if len > MAX_EVENT_LEN {
        return Err(BinlogError::TooLarge {
            what: "decompressed event",
            size: len as u64,
            limit: MAX_EVENT_LEN as u64,
        });
    }
    let mut body = event.body[..head].to_vec();
    // One byte more than it should be shows a stream that is too long. What is allocated grows with what comes.
    let got = flate2::read::ZlibDecoder::new(reader.rest())
        .take(len as u64 + 1)
        .read_to_end(&mut body)
        .map_err(|_| BinlogError::Invalid("compressed data"))?;
    if got != len {
        return Err(BinlogError::Invalid("length of compressed data"));
    }
    Ok(Some(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventHeader;
    use std::io::Write;

    fn event(event_type: u8, body: &[u8]) -> RawEvent<'_> {
        RawEvent {
            header: EventHeader {
                timestamp: 0,
                event_type,
                server_id: 1,
                event_size: 0,
                end_log_pos: 0,
                flags: 0,
            },
            bytes: &[],
            body,
        }
    }

    fn packed(plain: &[u8]) -> Vec<u8> {
        let mut z = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        z.write_all(plain).unwrap();
        let mut out = vec![0x82, (plain.len() >> 8) as u8, plain.len() as u8];
        out.extend(z.finish().unwrap());
        out
    }

    #[test]
    fn bodies_come_back() {
        let text = b"create table t (a int)".repeat(20);
        let mut head = vec![0; 13];
        head[8] = 1; // length of the database's name
        head.extend(b"d\0");
        let body = [head.as_slice(), &packed(&text)].concat();
        let plain = decompressed_body(&event(165, &body)).unwrap().unwrap();
        assert_eq!(plain, [head.as_slice(), &text].concat());

        // table id, flags, two columns, two bitmaps.
        let head = [1, 0, 0, 0, 0, 0, 1, 0, 2, 0xff, 0xff];
        let body = [&head[..], &packed(&[7; 300])].concat();
        let plain = decompressed_body(&event(167, &body)).unwrap().unwrap();
        assert_eq!(plain, [&head[..], &[7; 300]].concat());
        assert_eq!(decompressed_body(&event(2, &body)).unwrap(), None);
    }

    #[test]
    fn damage_is_an_error() {
        let head = [1, 0, 0, 0, 0, 0, 1, 0, 2, 0xff];
        let body = [&head[..], &packed(&[7; 300])].concat();
        for n in 0..body.len() {
            assert!(decompressed_body(&event(166, &body[..n])).is_err(), "{n}");
        }
        let mut longer = body.clone();
        longer[12] += 1;
        assert!(decompressed_body(&event(166, &longer)).is_err());
        longer[12] -= 2;
        assert!(decompressed_body(&event(166, &longer)).is_err());
    }
}
