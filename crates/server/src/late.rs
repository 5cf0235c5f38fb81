//! An answer that is sent by the thread that made its commit durable, not by the connection's own.
//!
//! Under load a commit waits for a group that another thread writes. Waking the connection's thread only so that it sends
//! an OK and sleeps again for the next command costs two thread switches. Instead it leaves the answer here and waits for
//! the next command at once; the thread that finishes the group sends the answers of all of it, or has them sent from the
//! processors that the connections' threads run on (`processors/`).

use crate::answer::put_err;
use crate::backend::Timeouts;
use crate::definition::Form;
use crate::packet::PacketWriter;
use crate::processors::{self, Pair, SendHere};
use crate::socket::Socket;
use narwal_types::{LateAnswer, SqlResult};
use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::net::Shutdown;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Nothing is left here, or it has been sent.
const IDLE: u8 = 0;
/// An answer is here.
const WAITING: u8 = 1;
/// The commit is done, the answer is being sent.
const SENDING: u8 = 2;

/// Longer answers (bytes) are sent by the connection's own thread.
const LONGEST: usize = 1024;

#[derive(Debug, Default)]
struct Answer {
    packets: Vec<u8>,
    /// Sequence number of the answer's first packet.
    seq: u8,
}

/// Where a connection leaves the answer to a commit.
#[derive(Debug)]
pub(crate) struct Late {
    socket: Arc<Socket>,
    state: Arc<AtomicU8>,
    answer: Mutex<Answer>,
    /// Where to send from, if the client is on this machine.
    pair: Option<Pair>,
    /// The processor that the connection's thread ran on when it left the answer.
    home: AtomicUsize,
    me: Weak<Late>,
}

impl Late {
    pub(crate) fn new(socket: Arc<Socket>, pair: Option<Pair>) -> Arc<Late> {
        Arc::new_cyclic(|me| Late {
            socket,
            state: Arc::default(),
            answer: Mutex::default(),
            pair,
            home: AtomicUsize::new(0),
            me: me.clone(),
        })
    }

    #[cfg(test)]
    pub(crate) fn for_test() -> Arc<Late> {
        let (s, _) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
        Late::new(Arc::new(Socket::Unix(s)), None)
    }

    /// Takes what `writer` has not sent, packets from `seq` on; false if that is too much.
    pub(crate) fn put(&self, writer: &mut PacketWriter, seq: u8) -> bool {
        if writer.pending() > LONGEST {
            return false;
        }
        let mut answer = self.answer.lock();
        writer.take_unsent(&mut answer.packets);
        answer.seq = seq;
        if self.pair.is_some() {
            self.home.store(processors::here(), Ordering::Relaxed);
        }
        self.state.store(WAITING, Ordering::SeqCst);
        true
    }

    /// Gives it back: nobody else will send it.
    pub(crate) fn take_back(&self, writer: &mut PacketWriter) {
        writer.put_back(&mut self.answer.lock().packets);
        self.state.store(IDLE, Ordering::SeqCst);
    }

    /// A client that does not wait for answers has sent the next command: until the commit before it is done.
    pub(crate) fn wait_committed(&self) {
        self.wait(|state| state != WAITING);
    }

    /// Until the answer is sent: others come behind it.
    pub(crate) fn wait_sent(&self) {
        self.wait(|state| state == IDLE);
    }

    #[inline]
    fn wait(&self, over: impl Fn(u8) -> bool) {
        let mut rounds = 0;
        while !over(self.state.load(Ordering::SeqCst)) {
            rounds += 1;
            match rounds {
                // A client that answered faster than its answer's sender came back from the system call.
                0..64 => std::thread::yield_now(),
                _ => std::thread::sleep(Duration::from_micros(50)),
            }
        }
    }

    /// Sends what did not fit into the socket's buffer, on a thread of its own: a client that let it fill may be slow.
    fn send_rest(&self, rest: Vec<u8>) {
        let (socket, state) = (self.socket.clone(), self.state.clone());
        let patience = Timeouts::default().net_write;
        let spawned = std::thread::Builder::new()
            .name("narwal-answer".into())
            .spawn(move || {
                if socket.write_all(&rest, patience).is_err() {
                    socket.shutdown(Shutdown::Both);
                }
                state.store(IDLE, Ordering::SeqCst);
            });
        if spawned.is_err() {
            self.socket.shutdown(Shutdown::Both);
            self.state.store(IDLE, Ordering::SeqCst);
        }
    }
}

impl LateAnswer for Late {
    fn send(&self, outcome: SqlResult<()>) {
        self.state.store(SENDING, Ordering::SeqCst);
        let outcome = match (&self.pair, self.me.upgrade()) {
            (Some(pair), Some(me)) => pair.send(self.home.load(Ordering::Relaxed), me, outcome),
            _ => Err(outcome),
        };
        if let Err(outcome) = outcome {
            self.send_now(outcome);
        }
    }
}

impl SendHere for Late {
    /// The caller has set the state to [`SENDING`] before.
    fn send_now(&self, outcome: SqlResult<()>) {
        let rest = {
            let mut answer = self.answer.lock();
            if let Err(e) = outcome {
                let mut writer = PacketWriter::new();
                writer.set_seq(answer.seq);
                put_err(writer.begin(), &e, Form::default());
                writer.finish();
                writer.take_unsent(&mut answer.packets);
            }
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let sent = loop {
                match rustix::net::send(self.socket.fd(), &answer.packets, flags) {
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => break 0,
                    Ok(n) => break n,
                    // The connection is lost; its thread finds out.
                    Err(_) => break answer.packets.len(),
                }
            };
            (sent < answer.packets.len()).then(|| answer.packets[sent..].to_vec())
        };
        match rest {
            None => self.state.store(IDLE, Ordering::SeqCst),
            Some(rest) => self.send_rest(rest),
        }
    }
}
