//! A connection whose session speaks its own protocol: a replica's dump.

use crate::backend::{Backend, RawPackets, Timeouts};
use crate::channel::Channel;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Bytes that gather before they are sent, for a session that speaks its own protocol: those send much.
const RAW_FLUSH_AT: usize = 256 * 1024;

/// What a session that speaks its own protocol writes to and reads from.
pub(crate) struct RawChannel<'a> {
    chan: &'a mut Channel,
    timeouts: Timeouts,
    /// Bytes sent, for the traffic count.
    backend: &'a dyn Backend,
    /// What has arrived of the client's next packet. Never waited for: a client that sends half a packet (PyPI's
    /// mysql-replication leaves a byte too many behind COM_BINLOG_DUMP) must not hold up what is sent to it.
    incoming: Vec<u8>,
    /// The connection's reader has handed over what it had read ahead. What is left of it in the end is dropped.
    took_rest: bool,
    /// `wait` has found that there is something to read.
    readable: bool,
}

/// Most bytes of a packet that a client may send meanwhile; acknowledgements have less than 300.
const MAX_INCOMING: usize = 64 * 1024;

impl<'a> RawChannel<'a> {
    pub(crate) fn new(chan: &'a mut Channel, timeouts: Timeouts, backend: &'a dyn Backend) -> Self {
        chan.writer.keep_buffer(2 * RAW_FLUSH_AT);
        RawChannel {
            chan,
            timeouts,
            backend,
            incoming: Vec::new(),
            took_rest: false,
            readable: false,
        }
    }

    /// The length, with its header, of the packet that `incoming` begins with, if it is complete.
    fn complete(&mut self) -> Option<usize> {
        if !self.took_rest {
            self.took_rest = true;
            self.incoming = self.chan.reader.take_rest();
        }
        let header = self.incoming.first_chunk::<4>()?;
        let n = 4 + (u32::from_le_bytes(*header) & 0x00ff_ffff) as usize;
        (self.incoming.len() >= n).then_some(n)
    }
}

impl Drop for RawChannel<'_> {
    fn drop(&mut self) {
        self.chan.writer.keep_buffer(0);
    }
}

impl RawPackets for RawChannel<'_> {
    fn write_packet(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let Channel { stream, writer, .. } = &mut *self.chan;
        writer.packet_of(parts, stream, RAW_FLUSH_AT)
    }

    fn flush(&mut self) -> io::Result<()> {
        let Channel { stream, writer, .. } = &mut *self.chan;
        writer.flush(stream)?;
        self.backend.traffic(0, self.chan.writer.take_sent());
        Ok(())
    }

    fn reset_sequence(&mut self) {
        self.chan.writer.set_seq(1);
    }

    fn wait(
        &mut self,
        wake: BorrowedFd<'_>,
        timeout: Option<Duration>,
    ) -> io::Result<(bool, bool)> {
        if self.complete().is_some() {
            return Ok((true, false));
        }
        let (readable, woken) = self.chan.stream.wait(wake, timeout)?;
        self.readable |= readable;
        Ok((readable, woken))
    }

    fn read_packet(&mut self, buf: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            if let Some(n) = self.complete() {
                buf.clear();
                buf.extend_from_slice(&self.incoming[4..n]);
                self.incoming.drain(..n);
                return Ok(true);
            }
            if self.incoming.len() > MAX_INCOMING {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the client sends long packets while it is sent to",
                ));
            }
            if !std::mem::take(&mut self.readable) {
                return Ok(false);
            }
            // Something has arrived, but with TLS it need not be the client's data; and zero would mean "for ever".
            let once = Duration::from_millis(1);
            self.chan
                .stream
                .set_timeouts(once, self.timeouts.net_write)?;
            let mut piece = [0; 4096];
            match self.chan.stream.read(&mut piece) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.incoming.extend_from_slice(&piece[..n]),
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::WouldBlock
                            | io::ErrorKind::TimedOut
                            | io::ErrorKind::Interrupted
                    ) =>
                {
                    return Ok(false);
                }
                Err(e) => return Err(e),
            }
        }
    }
}
