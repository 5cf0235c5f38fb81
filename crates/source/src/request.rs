//! COM_REGISTER_SLAVE, COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID, taken apart. Their bytes come from anybody.

use narwal_binlog::GtidSet;

/// Bits of COM_BINLOG_DUMP's flags.
pub mod dump_flags {
    /// End at the end of the log.
    pub const NON_BLOCK: u16 = 0x0001;
    /// Send ANNOTATE_ROWS events.
    pub const ANNOTATE: u16 = 0x0002;
}

/// A packet that is shorter than its lengths say, or is no text where it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedPacket;

/// COM_REGISTER_SLAVE, without the command byte.
///
/// ```text
/// u32 server id | u8 n, host | u8 n, user | u8 n, password | u16 port | u32 rank | u32 id of the source
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegisterRequest {
    /// `server_id` of the replica.
    pub server_id: u32,
    /// `report_host`.
    pub host: String,
    /// `report_user`.
    pub user: String,
    /// `report_port`.
    pub port: u16,
}

impl RegisterRequest {
    /// Takes the packet's body apart.
    ///
    /// # Errors
    /// [`MalformedPacket`].
    pub fn parse(body: &[u8]) -> Result<Self, MalformedPacket> {
        let mut rest = body;
        let server_id = u32::from_le_bytes(take(&mut rest)?);
        let mut text = || -> Result<String, MalformedPacket> {
            let [len] = take::<1>(&mut rest)?;
            let (text, tail) = rest
                .split_at_checked(usize::from(len))
                .ok_or(MalformedPacket)?;
            rest = tail;
            Ok(String::from_utf8_lossy(text).into_owned())
        };
        let (host, user, _password) = (text()?, text()?, text()?);
        let port = u16::from_le_bytes(take(&mut rest)?);
        // Rank and source id: nobody fills them in. Some clients leave them out.
        Ok(RegisterRequest {
            server_id,
            host,
            user,
            port,
        })
    }
}

/// COM_BINLOG_DUMP, without the command byte.
///
/// ```text
/// u32 position | u16 flags | u32 server id | file name to the end
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DumpRequest {
    /// Offset in the file.
    pub position: u32,
    /// [`dump_flags`].
    pub flags: u16,
    /// `server_id` of the reader, 0 for one that has none.
    pub server_id: u32,
    /// File name; empty for the oldest file.
    pub file: String,
}

impl DumpRequest {
    /// Takes the packet's body apart. The name ends at its first NUL, if it has one.
    ///
    /// # Errors
    /// [`MalformedPacket`].
    pub fn parse(body: &[u8]) -> Result<Self, MalformedPacket> {
        let mut rest = body;
        let position = u32::from_le_bytes(take(&mut rest)?);
        let flags = u16::from_le_bytes(take(&mut rest)?);
        let server_id = u32::from_le_bytes(take(&mut rest)?);
        let name = rest.split(|&b| b == 0).next().unwrap_or_default();
        Ok(DumpRequest {
            position,
            flags,
            server_id,
            file: String::from_utf8_lossy(name).into_owned(),
        })
    }

    /// Takes the body of COM_BINLOG_DUMP_GTID apart, as MySQL's readers send it: what is asked for, and what the reader has.
    ///
    /// ```text
    /// u16 flags | u32 server id | u32 n, file name | u64 position | u32 n, set of GTIDs
    /// ```
    ///
    /// # Errors
    /// [`MalformedPacket`].
    pub fn parse_gtid(body: &[u8]) -> Result<(Self, GtidSet), MalformedPacket> {
        let mut rest = body;
        let flags = u16::from_le_bytes(take(&mut rest)?);
        let server_id = u32::from_le_bytes(take(&mut rest)?);
        let name = counted(&mut rest)?;
        let position = u64::from_le_bytes(take(&mut rest)?);
        let have = match rest {
            [] => GtidSet::new(),
            _ => GtidSet::from_bytes(counted(&mut rest)?).map_err(|_| MalformedPacket)?,
        };
        let request = DumpRequest {
            position: u32::try_from(position).map_err(|_| MalformedPacket)?,
            flags: flags & dump_flags::NON_BLOCK,
            server_id,
            file: String::from_utf8_lossy(name).into_owned(),
        };
        Ok((request, have))
    }

    /// The dump ends at the end of the log.
    #[must_use]
    pub fn non_block(&self) -> bool {
        self.flags & dump_flags::NON_BLOCK != 0 || self.server_id == 0
    }

    /// ANNOTATE_ROWS events are wanted.
    #[must_use]
    pub fn annotate(&self) -> bool {
        self.flags & dump_flags::ANNOTATE != 0
    }
}

/// Bytes behind their number, a u32.
fn counted<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], MalformedPacket> {
    let len = u32::from_le_bytes(take(rest)?) as usize;
    let (head, tail) = rest.split_at_checked(len).ok_or(MalformedPacket)?;
    *rest = tail;
    Ok(head)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], MalformedPacket> {
    let (head, tail) = rest.split_first_chunk::<N>().ok_or(MalformedPacket)?;
    *rest = tail;
    Ok(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration() {
        let body = b"\x02\0\0\0\x04host\x01u\x02pw\x26\x81\0\0\0\0\0\0\0\0";
        let got = RegisterRequest::parse(body).unwrap();
        assert_eq!(
            got,
            RegisterRequest {
                server_id: 2,
                host: "host".into(),
                user: "u".into(),
                port: 33062
            }
        );
        // Every cut before the port's end is refused, and nothing panics.
        for n in 0..body.len() {
            assert_eq!(RegisterRequest::parse(&body[..n]).is_ok(), n >= 16, "{n}");
        }
        let lying = b"\x02\0\0\0\xffhost";
        assert_eq!(RegisterRequest::parse(lying), Err(MalformedPacket));
        let binary = b"\x02\0\0\0\x02\xff\xfe\0\0\x26\x81";
        assert!(RegisterRequest::parse(binary).is_ok());
    }

    #[test]
    fn a_dump() {
        let body = b"\x83\x05\0\0\x02\0\x02\0\0\0bin.000001";
        let got = DumpRequest::parse(body).unwrap();
        assert_eq!(
            (got.position, got.flags, got.server_id, &*got.file),
            (1411, 2, 2, "bin.000001")
        );
        assert!(got.annotate() && !got.non_block());
        for n in 0..body.len() {
            assert_eq!(DumpRequest::parse(&body[..n]).is_ok(), n >= 10, "{n}");
        }
        // mysql-replication sends two NUL bytes for "no name".
        let got = DumpRequest::parse(b"\x04\0\0\0\0\0\0\0\0\0\0\0").unwrap();
        assert_eq!((&*got.file, got.non_block()), ("", true));
    }

    #[test]
    fn a_dump_by_mysqls_gtids() {
        let mut have = GtidSet::new();
        have.add(narwal_binlog::gtid_uuid(0, 1), 1, 5);
        let set = have.to_bytes();
        let mut body = b"\x06\0\x02\0\0\0\x04\0\0\0f.01\x04\0\0\0\0\0\0\0".to_vec();
        let without = body.len();
        body.extend_from_slice(&(set.len() as u32).to_le_bytes());
        body.extend_from_slice(&set);
        let (request, got) = DumpRequest::parse_gtid(&body).unwrap();
        assert_eq!(
            (request.server_id, &*request.file, request.position),
            (2, "f.01", 4)
        );
        assert!(!request.non_block() && !request.annotate());
        assert_eq!(got, have);
        for n in 0..body.len() {
            assert_eq!(
                DumpRequest::parse_gtid(&body[..n]).is_ok(),
                n == without,
                "{n}"
            );
        }
    }
}
