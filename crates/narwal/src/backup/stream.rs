//! A backup as one stream: a tar, compressed and sealed if asked for.
//!
//! Its members are the pieces in the order in which they came, `pieces/<number>-<file>-<offset>` (numbers in ten decimal
//! digits, offsets in 16 hexadecimal ones, `/` in names as `@`), and at last `backup.json`. Pieces that a later one
//! replaces are in it as well; the manifest has the checksum of all bytes before it.

use super::receive::Sink;
use crate::Failure;
use narwal_crypt::{KeyFile, SEAL_MAGIC, SealReader, SealWriter};
use narwal_engine::backup::{BackupEnd, FolderSink, MANIFEST, Manifest, Piece};
use narwal_log::{Disk, DiskFile};
use narwal_session::StreamBegin;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

const PIECES: &str = "pieces/";
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// Compression level: fast; a backup should not take the cores from the server.
const LEVEL: i32 = 1;

fn out(e: io::Error) -> Failure {
    Failure::run("writing the stream", e)
}

/// A disk that forgets what is written to it: for the checksums alone.
#[derive(Debug)]
struct Nowhere;

impl DiskFile for Nowhere {
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Ok(0)
    }
    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        Ok(())
    }
    fn write_vectored_at(&self, _: &[&[u8]], _: u64) -> io::Result<()> {
        Ok(())
    }
    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }
    fn set_len(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn len(&self) -> io::Result<u64> {
        Ok(0)
    }
    fn allocate(&self, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for Nowhere {
    fn create_dir_all(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn open(&self, _: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(Nowhere))
    }
    fn open_read(&self, _: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(Nowhere))
    }
    fn create(&self, _: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(Nowhere))
    }
    fn exists(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }
    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn remove(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn free_space(&self, _: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }
    fn lock(&self, _: &Path) -> io::Result<Box<dyn Send + Sync>> {
        Ok(Box::new(()))
    }
}

/// What a stream may be wrapped in.
enum Outer<W: Write> {
    Plain(W),
    Sealed(Box<SealWriter<W>>),
}

impl<W: Write> Write for Outer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Outer::Plain(w) => w.write(bytes),
            Outer::Sealed(w) => w.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Outer::Plain(w) => w.flush(),
            Outer::Sealed(w) => w.flush(),
        }
    }
}

enum Inner<W: Write> {
    Plain(Outer<W>),
    Zstd(Box<zstd::Encoder<'static, Outer<W>>>),
}

/// Counts the bytes that go by into a checksum.
struct Summed<W: Write> {
    inner: Inner<W>,
    sum: Xxh3,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = match &mut self.inner {
            Inner::Plain(w) => w.write(bytes),
            Inner::Zstd(w) => w.write(bytes),
        }?;
        self.sum.update(&bytes[..n]);
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.inner {
            Inner::Plain(w) => w.flush(),
            Inner::Zstd(w) => w.flush(),
        }
    }
}

/// Writes a backup as a stream.
pub struct StreamSink<W: Write> {
    tar: tar::Builder<Summed<W>>,
    sums: FolderSink,
    number: u64,
}

impl<W: Write> StreamSink<W> {
    /// Begins a stream.
    pub fn new(to: W, compress: bool, seal: Option<&Path>) -> Result<Self, Failure> {
        let outer = match seal {
            None => Outer::Plain(to),
            Some(path) => {
                let keys = KeyFile::read(path).map_err(|e| Failure::Run(e.to_string()))?;
                Outer::Sealed(Box::new(SealWriter::new(to, &keys).map_err(out)?))
            }
        };
        let inner = match compress {
            false => Inner::Plain(outer),
            true => {
                let mut z = zstd::Encoder::new(outer, LEVEL).map_err(out)?;
                z.include_checksum(true).map_err(out)?;
                Inner::Zstd(Box::new(z))
            }
        };
        Ok(StreamSink {
            tar: tar::Builder::new(Summed {
                inner,
                sum: Xxh3::new(),
            }),
            sums: FolderSink::into_folder(Arc::new(Nowhere), Path::new("/")),
            number: 0,
        })
    }

    fn member(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let header = header(name, bytes.len() as u64).map_err(out)?;
        self.tar.append(&header, bytes).map_err(out)
    }

    /// The manifest and the end.
    pub fn finish(mut self, end: BackupEnd) -> Result<Manifest, Failure> {
        let run = |e: narwal_engine::EngineError| Failure::Run(e.to_string());
        let sum = self.tar.get_ref().sum.digest();
        let mut manifest = self
            .sums
            .finish(narwal_session::NARWAL_VERSION, end)
            .map_err(run)?;
        manifest.stream_sum = Some(format!("{sum:016x}"));
        let bytes = manifest.encode().map_err(run)?;
        let header = header(MANIFEST, bytes.len() as u64).map_err(out)?;
        self.tar.append(&header, &bytes[..]).map_err(out)?;
        let summed = self.tar.into_inner().map_err(out)?;
        let outer = match summed.inner {
            Inner::Plain(w) => w,
            Inner::Zstd(z) => z.finish().map_err(out)?,
        };
        match outer {
            Outer::Plain(mut w) => w.flush().map_err(out)?,
            Outer::Sealed(w) => w.finish().and_then(|mut w| w.flush()).map_err(out)?,
        }
        Ok(manifest)
    }
}

impl<W: Write> Sink for StreamSink<W> {
    fn begin(&mut self, begin: &StreamBegin) -> Result<(), Failure> {
        if let Some(keys) = &begin.keys {
            self.put(&Piece::Data {
                file: "keys".into(),
                offset: 0,
                bytes: keys.clone().into_bytes(),
            })?;
            self.put(&Piece::End {
                file: "keys".into(),
                size: keys.len() as u64,
            })?;
        }
        Ok(())
    }

    fn put(&mut self, piece: &Piece) -> Result<(), Failure> {
        self.sums
            .put(piece)
            .map_err(|e| Failure::Run(e.to_string()))?;
        if let Piece::Data {
            file,
            offset,
            bytes,
        } = piece
        {
            let file = file.replace('/', "@");
            let name = format!("{PIECES}{:010}-{file}-{offset:016x}", self.number);
            self.number += 1;
            self.member(&name, bytes)?;
        }
        Ok(())
    }
}

/// The header of a member.
fn header(name: &str, len: u64) -> io::Result<tar::Header> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name)?;
    header.set_size(len);
    header.set_mode(0o600);
    header.set_mtime(0);
    header.set_cksum();
    Ok(header)
}

/// Where a member of the stream belongs: file and offset.
fn place(name: &str) -> Option<(String, u64)> {
    let rest = name.strip_prefix(PIECES)?;
    let (number, rest) = rest.split_once('-')?;
    let (file, offset) = rest.rsplit_once('-')?;
    let good = number.len() == 10 && number.bytes().all(|b| b.is_ascii_digit());
    let offset = (offset.len() == 16).then(|| u64::from_str_radix(offset, 16).ok())??;
    let file = file.replace('@', "/");
    let known = file == "base.redb"
        || file == "keys"
        || file
            .strip_prefix("log/")
            .is_some_and(|n| narwal_log::parse_segment_name(n).is_some());
    (good && known).then_some((file, offset))
}

/// Reads a stream: gives each piece to `put`, then the manifest, whose checksum of the stream was compared.
pub fn read(
    from: impl Read,
    key_file: Option<&Path>,
    mut put: impl FnMut(&Piece) -> Result<(), Failure>,
) -> Result<Manifest, Failure> {
    let damaged = |e: io::Error| Failure::Damaged(format!("the stream is damaged: {e}"));
    let (magic, from) = peek(from).map_err(damaged)?;
    let opened: Box<dyn Read> = if magic.starts_with(SEAL_MAGIC) {
        let path = key_file.ok_or_else(|| {
            Failure::Usage("the stream is sealed: name its key file with --encrypt-key-file".into())
        })?;
        let keys = KeyFile::read(path).map_err(|e| Failure::Run(e.to_string()))?;
        Box::new(SealReader::new(from, &keys).map_err(damaged)?)
    } else {
        Box::new(from)
    };
    let (magic, opened) = peek(opened).map_err(damaged)?;
    let plain: Box<dyn Read> = if magic.starts_with(&ZSTD_MAGIC) {
        Box::new(zstd::Decoder::new(opened).map_err(damaged)?)
    } else {
        Box::new(opened)
    };
    let mut reader = Members {
        from: plain,
        at: 0,
        sum: Xxh3::new(),
    };
    loop {
        let begin = reader.at;
        // Of all before this member.
        let sum = reader.sum.digest();
        let Some((name, bytes)) = reader.next()? else {
            return Err(Failure::Damaged(
                "the stream ends without a manifest: it was cut off, and is no backup".into(),
            ));
        };
        let bad =
            |what: &str| Failure::Damaged(format!("the stream is damaged at byte {begin}: {what}"));
        if name == MANIFEST {
            let m = Manifest::decode(&bytes).map_err(|e| bad(&format!("the manifest: {e}")))?;
            if m.stream_sum.as_deref() != Some(&format!("{sum:016x}")) {
                return Err(Failure::Damaged(
                    "the stream is damaged: its checksum is not that of the manifest".into(),
                ));
            }
            reader.end()?;
            return Ok(m);
        }
        let Some((file, offset)) = place(&name) else {
            return Err(bad(&format!("{name:?} is no piece of a backup")));
        };
        put(&Piece::Data {
            file: file.into(),
            offset,
            bytes,
        })?;
    }
}

/// Bytes of a tar's block.
const TAR_BLOCK: usize = 512;
/// No member is longer: the manifest of a backup of 100 TiB.
const LONGEST: u64 = 32 << 30;

/// The members of a stream. No byte goes by unchecked.
struct Members<R: Read> {
    from: R,
    at: u64,
    sum: Xxh3,
}

impl<R: Read> Members<R> {
    fn bad(&self, at: u64, what: impl std::fmt::Display) -> Failure {
        Failure::Damaged(format!("the stream is damaged at byte {at}: {what}"))
    }

    /// Exactly so many bytes; fewer at the stream's end.
    fn take(&mut self, len: u64) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::with_capacity(len.min(2 << 20) as usize);
        let at = self.at;
        let got = self.from.by_ref().take(len).read_to_end(&mut bytes);
        got.map_err(|e| self.bad(at, e))?;
        self.at += bytes.len() as u64;
        self.sum.update(&bytes);
        Ok(bytes)
    }

    fn next(&mut self) -> Result<Option<(String, Vec<u8>)>, Failure> {
        let at = self.at;
        let block = self.take(TAR_BLOCK as u64)?;
        if block.is_empty() || block.iter().all(|b| *b == 0) {
            return Ok(None);
        }
        let mut same = tar::Header::new_ustar();
        if block.len() != TAR_BLOCK {
            return Err(self.bad(at, "it ends here"));
        }
        same.as_mut_bytes().copy_from_slice(&block);
        let name = String::from_utf8_lossy(&same.path_bytes()).into_owned();
        let len = same.size().map_err(|e| self.bad(at, e))?;
        // Made again, it must be the same, byte for byte.
        let again = header(&name, len).map_err(|e| self.bad(at, e))?;
        if again.as_bytes() != same.as_bytes() || len > LONGEST {
            return Err(self.bad(at, "not the head of a part of a backup"));
        }
        let bytes = self.take(len)?;
        let padding = self.take(len.next_multiple_of(TAR_BLOCK as u64) - len)?;
        if bytes.len() as u64 != len || padding.iter().any(|b| *b != 0) {
            return Err(self.bad(at, "it ends in the middle, or was changed"));
        }
        Ok(Some((name, bytes)))
    }

    /// Nothing stands behind the last member but the zeros of a tar's end.
    fn end(&mut self) -> Result<(), Failure> {
        let mut zeros = 0;
        loop {
            let at = self.at;
            let block = self.take(1 << 16)?;
            if block.is_empty() {
                break;
            }
            zeros += block.len();
            if block.iter().any(|b| *b != 0) {
                return Err(self.bad(at, "something stands behind the manifest"));
            }
        }
        match zeros {
            n if n == 2 * TAR_BLOCK => Ok(()),
            _ => Err(self.bad(
                self.at,
                "its end is cut off, or something was put behind it",
            )),
        }
    }
}

/// The first bytes, and everything from the start.
fn peek<R: Read>(mut from: R) -> io::Result<(Vec<u8>, impl Read)> {
    let mut first = Vec::new();
    from.by_ref().take(8).read_to_end(&mut first)?;
    Ok((first.clone(), io::Cursor::new(first).chain(from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end() -> BackupEnd {
        BackupEnd {
            base_seq: 1,
            base_lsn: 4096,
            log_start: 4096,
            log_end: 4796,
            seq: 7,
            binlog_file: "narwal-bin.000001".into(),
            binlog_pos: 345,
            gtid_binlog_pos: "0-1-7".into(),
            gtid_binlog_state: "0-1-7".into(),
            base_gtid_state: "0-1-1".into(),
            log_id: 5,
            server_id: 1,
            gtid_domain_id: 0,
            with_log: true,
        }
    }

    fn stream(compress: bool, seal: Option<&Path>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut sink = StreamSink::new(&mut bytes, compress, seal).unwrap();
        for (file, len) in [("base.redb", 200), ("log/wal.0000000000001000", 700)] {
            let data = (0..len).map(|i| (i * 7 + len) as u8).collect();
            sink.put(&Piece::Data {
                file: file.into(),
                offset: 0,
                bytes: data,
            })
            .unwrap();
            sink.put(&Piece::End {
                file: file.into(),
                size: len as u64,
            })
            .unwrap();
        }
        sink.finish(end()).unwrap();
        bytes
    }

    /// Pieces and manifest, as text.
    fn taken(bytes: &[u8], key: Option<&Path>) -> Result<String, Failure> {
        let mut all = String::new();
        let m = read(bytes, key, |p| {
            all.push_str(&format!("{p:?}"));
            Ok(())
        })?;
        Ok(format!("{all}{m:?}"))
    }

    #[test]
    fn every_flipped_byte_and_every_cut_of_a_stream_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("key");
        std::fs::write(&key, format!("1;{}\n", "5a".repeat(32))).unwrap();
        for (compress, seal) in [(false, None), (true, None), (false, Some(&*key))] {
            let mut bytes = stream(compress, seal);
            let whole = taken(&bytes, seal).unwrap();
            for i in 0..bytes.len() {
                for bit in 0..8 {
                    bytes[i] ^= 1 << bit;
                    let got = taken(&bytes, seal);
                    // A frame of zstd has bits that mean nothing: then all is as it was.
                    let harmless = compress && got.as_ref().is_ok_and(|g| *g == whole);
                    assert!(got.is_err() || harmless, "byte {i} bit {bit}");
                    bytes[i] ^= 1 << bit;
                }
                assert!(taken(&bytes[..i], seal).is_err(), "cut at {i}");
            }
            bytes.push(0);
            assert!(taken(&bytes, seal).is_err(), "longer");
        }
    }
}
