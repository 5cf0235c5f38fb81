//! The rows of an open cursor: they wait on the server until COM_STMT_FETCH asks for them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

/// Bytes that stay in memory; more go to a temporary file that has no name.
const IN_MEMORY: usize = 1 << 20;

/// Rows as the client gets them, in their order.
#[derive(Debug, Default)]
pub struct HeldRows {
    /// Lengths and payloads that are not in the file.
    memory: Vec<u8>,
    /// Bytes of `memory` that were read.
    read: usize,
    file: Option<File>,
    reader: Option<BufReader<File>>,
    /// Rows in the file that were not read.
    in_file: u64,
    /// Rows that are written to the file.
    written: u64,
    rows: u64,
}

impl HeldRows {
    /// Appends a row, whose payload `encode` writes.
    ///
    /// # Errors
    /// The temporary file can't be written.
    pub fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let at = self.memory.len();
        self.memory.extend_from_slice(&[0; 4]);
        encode(&mut self.memory);
        let len = (self.memory.len() - at - 4) as u32;
        self.memory[at..at + 4].copy_from_slice(&len.to_le_bytes());
        self.rows += 1;
        if self.memory.len() > IN_MEMORY {
            let file = match &mut self.file {
                Some(f) => f,
                none => none.insert(tempfile::tempfile()?),
            };
            file.write_all(&self.memory)?;
            self.memory.clear();
            self.written += self.rows;
            self.rows = 0;
        }
        Ok(())
    }

    /// All rows are there: from here on they are read.
    ///
    /// # Errors
    /// The temporary file can't be read.
    pub fn finish(&mut self) -> io::Result<()> {
        if let Some(mut file) = self.file.take() {
            file.seek(SeekFrom::Start(0))?;
            self.reader = Some(BufReader::with_capacity(1 << 16, file));
            self.in_file = self.written;
        }
        Ok(())
    }

    /// Takes the next row's payload into `into`; false if there is none.
    ///
    /// # Errors
    /// The temporary file can't be read.
    pub fn next(&mut self, into: &mut Vec<u8>) -> io::Result<bool> {
        if self.in_file > 0
            && let Some(reader) = &mut self.reader
        {
            let mut len = [0; 4];
            reader.read_exact(&mut len)?;
            let at = into.len();
            into.resize(at + u32::from_le_bytes(len) as usize, 0);
            reader.read_exact(&mut into[at..])?;
            self.in_file -= 1;
            return Ok(true);
        }
        self.reader = None;
        let Some((len, rest)) = self.memory[self.read..].split_first_chunk::<4>() else {
            return Ok(false);
        };
        let len = u32::from_le_bytes(*len) as usize;
        into.extend_from_slice(&rest[..len]);
        self.read += 4 + len;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_order_from_file_and_memory() {
        let mut held = HeldRows::default();
        let row = |i: u32| vec![i as u8; (i % 700) as usize];
        for i in 0..6000 {
            held.push(|out| out.extend_from_slice(&row(i))).unwrap();
        }
        assert!(held.file.is_some() && held.memory.len() <= IN_MEMORY);
        held.finish().unwrap();
        for i in 0..6000 {
            let mut got = Vec::new();
            assert!(held.next(&mut got).unwrap());
            assert_eq!(got, row(i));
        }
        assert!(!held.next(&mut Vec::new()).unwrap());
    }
}
