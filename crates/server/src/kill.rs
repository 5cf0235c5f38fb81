//! Ending a statement or a connection from another thread.

use crate::socket::Socket;
use parking_lot::Mutex;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

const NONE: u8 = 0;
const QUERY: u8 = 1;
const CONNECTION: u8 = 2;

/// Told whether the connection ends, or only its statement.
type Waker = Arc<dyn Fn(bool) + Send + Sync>;

/// The switch by which KILL, or the end of the server, reaches a connection. The session asks it at points where a
/// statement can stop, and may leave a waker to be called while it waits (for a row lock, say).
pub struct KillHandle {
    id: u32,
    state: AtomicU8,
    socket: Option<Arc<Socket>>,
    waker: Mutex<Option<Waker>>,
    /// Goes up when a command begins and when it ends: odd while one runs. Only the connection's thread writes it.
    commands: AtomicU32,
}

impl std::fmt::Debug for KillHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KillHandle")
            .field("id", &self.id)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl KillHandle {
    /// A handle for a connection over `socket`; without one (tests, embedded sessions) only the flags work.
    pub fn new(id: u32, socket: Option<Arc<Socket>>) -> Arc<Self> {
        Arc::new(KillHandle {
            id,
            state: AtomicU8::new(NONE),
            socket,
            waker: Mutex::new(None),
            commands: AtomicU32::new(0),
        })
    }

    /// The connection's id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// KILL QUERY: the running statement ends with 1317; without one, the next is not touched if the session calls
    /// [`KillHandle::begin_statement`].
    pub fn kill_query(&self) {
        let _ = self
            .state
            .compare_exchange(NONE, QUERY, Ordering::SeqCst, Ordering::SeqCst);
        self.wake();
    }

    /// KILL CONNECTION: the running statement ends, then the connection.
    pub fn kill_connection(&self) {
        self.state.store(CONNECTION, Ordering::SeqCst);
        // Only the reading side: the statement's error can still be sent. A write that a client holds up by not reading
        // sees by itself that the connection is to end.
        if let Some(socket) = &self.socket {
            socket.shutdown(Shutdown::Read);
        }
        self.wake();
    }

    /// The socket, for the thread that watches it.
    pub(crate) fn socket(&self) -> Option<&Arc<Socket>> {
        self.socket.as_ref()
    }

    /// Number of the command that runs now, if one does.
    pub(crate) fn running(&self) -> Option<u32> {
        let n = self.commands.load(Ordering::Relaxed);
        (n % 2 == 1).then_some(n)
    }

    /// A command begins or ends. Two plain stores for each command: nothing that a statement could feel.
    #[inline]
    pub(crate) fn step(&self) {
        let n = self.commands.load(Ordering::Relaxed);
        self.commands.store(n.wrapping_add(1), Ordering::Relaxed);
    }

    /// Like [`KillHandle::kill_connection`], without waiting for a client that does not read, or is not there.
    pub(crate) fn cut(&self) {
        self.state.store(CONNECTION, Ordering::SeqCst);
        if let Some(socket) = &self.socket {
            socket.shutdown(Shutdown::Both);
        }
        self.wake();
    }

    /// True if the running statement must stop.
    #[inline]
    pub fn statement_killed(&self) -> bool {
        self.state.load(Ordering::Relaxed) != NONE
    }

    /// True if the connection must end.
    #[inline]
    pub fn connection_killed(&self) -> bool {
        self.state.load(Ordering::Relaxed) == CONNECTION
    }

    /// Forgets a KILL QUERY that came before the statement that starts now.
    #[inline]
    pub fn begin_statement(&self) {
        if self.state.load(Ordering::Relaxed) == QUERY {
            let _ = self
                .state
                .compare_exchange(QUERY, NONE, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    /// Sets what wakes a waiting session; `None` takes it away. Called from the killing thread, without locks of this
    /// handle held. A kill that came first calls it at once.
    pub fn set_waker(&self, waker: Option<Waker>) {
        let now = waker.clone();
        *self.waker.lock() = waker;
        if let Some(wake) = now
            && self.statement_killed()
        {
            wake(self.connection_killed());
        }
    }

    fn wake(&self) {
        let waker = self.waker.lock().clone();
        if let Some(wake) = waker {
            wake(self.connection_killed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_query_kill_is_forgotten_by_the_next_statement_a_connection_kill_is_not() {
        let k = KillHandle::new(1, None);
        k.kill_query();
        assert!(k.statement_killed() && !k.connection_killed());
        k.begin_statement();
        assert!(!k.statement_killed());
        k.kill_connection();
        k.kill_query();
        k.begin_statement();
        assert!(k.statement_killed() && k.connection_killed());
    }

    #[test]
    fn a_waker_set_after_the_kill_still_wakes() {
        let k = KillHandle::new(1, None);
        let calls = Arc::new(AtomicUsize::new(0));
        let c = calls.clone();
        let waker: Waker = Arc::new(move |_| {
            c.fetch_add(1, Ordering::SeqCst);
        });
        k.set_waker(Some(waker.clone()));
        assert_eq!(calls.load(Ordering::SeqCst), 0);
        k.kill_query();
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        k.set_waker(None);
        k.set_waker(Some(waker));
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }
}
