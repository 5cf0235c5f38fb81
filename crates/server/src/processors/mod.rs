//! Where threads run, when a client and the server share a machine and all of its processors are busy.
//!
//! A client and the thread of its connection take turns: while one works the other one waits. On one processor that is a
//! switch of threads. On two, each message interrupts another processor in the middle of something else, which on a virtual
//! machine costs more than most statements do (docs/performance.md, "One processor for both sides of a connection"). The
//! kernel leaves threads where they are, so a pair that has once come apart (a commit's answer sent by another connection's
//! thread, a wait for a lock) stays apart. So:
//!
//! - a connection's thread that finds its client on another processor goes there ([`Follower`]);
//! - an answer that another thread sends is sent from the connection's own processor (`senders.rs`), or the client would
//!   be drawn to the sender's.
//!
//! Neither is done while processors stand idle (`busy.rs`): there the kernel spreads threads better than this could. Nor for
//! clients elsewhere, whose packets come in where the network card says.

mod busy;
mod senders;

use crate::socket::Socket;
use busy::Busy;
use narwal_types::SqlResult;
use rustix::net::sockopt::socket_incoming_cpu;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
pub(crate) use senders::SendHere;
use senders::Senders;
use std::sync::Arc;

/// With more processors than this, a group's answers would be one or two for each of them: waking a thread there first
/// saves nothing.
const MOST_SENDERS: usize = 16;

/// What the connections of a server share.
#[derive(Debug)]
pub(crate) struct Processors {
    busy: Busy,
    /// One for each processor by its number, if they are few.
    senders: Option<Senders>,
}

impl Processors {
    /// `None` where it would be of no use: one processor, or it can't be told how many.
    pub(crate) fn new() -> Option<Arc<Processors>> {
        let allowed = allowed()?;
        if allowed.len() < 2 {
            return None;
        }
        let senders = (allowed.len() <= MOST_SENDERS).then(|| Senders::new(&allowed));
        Some(Arc::new(Processors {
            busy: Busy::new(allowed),
            senders,
        }))
    }
}

/// Numbers of the processors that this thread may run on.
fn allowed() -> Option<Vec<usize>> {
    let set = sched_getaffinity(None).ok()?;
    Some((0..CpuSet::MAX_CPU).filter(|n| set.is_set(*n)).collect())
}

/// Number of the processor that this runs on.
pub(crate) fn here() -> usize {
    sched_getcpu()
}

/// A connection from a client on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    shared: Arc<Processors>,
    socket: Arc<Socket>,
}

impl Pair {
    /// `None` for a client on another machine, and over a Unix socket, of which the kernel does not say where packets come in.
    pub(crate) fn new(shared: Option<&Arc<Processors>>, socket: &Arc<Socket>) -> Option<Pair> {
        let shared = shared?.clone();
        let Socket::Tcp(tcp) = &**socket else {
            return None;
        };
        let (peer, local) = (tcp.peer_addr().ok()?.ip(), tcp.local_addr().ok()?.ip());
        (peer == local || peer.is_loopback()).then(|| Pair {
            shared,
            socket: socket.clone(),
        })
    }

    /// The processor where packets come in, if it is not this one.
    #[inline]
    fn elsewhere(&self) -> Option<usize> {
        let there = socket_incoming_cpu(self.socket.fd()).ok()?;
        let there = usize::try_from(there).ok()?;
        (there != here()).then_some(there)
    }

    /// Sends from processor `home`, or says that the caller may as well.
    pub(crate) fn send(
        &self,
        home: usize,
        late: Arc<dyn SendHere>,
        outcome: SqlResult<()>,
    ) -> Result<(), SqlResult<()>> {
        match &self.shared.senders {
            Some(s) if home != here() && self.shared.busy.now() => s.send(home, late, outcome),
            _ => Err(outcome),
        }
    }
}

/// How often a client was found elsewhere is counted over so many commands.
const WINDOW: u32 = 64;
/// If it was elsewhere more often than this in them, following it does not bring the two together.
const MOST_MOVES: u32 = WINDOW / 4;
/// So many commands are served where the thread is, before following is tried again.
const REST: u32 = 4096;

/// Keeps a connection's thread with its client.
///
/// Following pays where both then stay together. A lone client that has a processor to itself at each turn is woken on
/// whichever is idle, so that its server would come behind at each command, for nothing: after a few such moves it is left
/// alone for a while.
#[derive(Debug)]
pub(crate) struct Follower {
    pair: Pair,
    /// Commands of this window, and after how many of them the thread went.
    commands: u32,
    moves: u32,
    /// Commands until the next window.
    rest: u32,
}

impl Follower {
    pub(crate) fn new(pair: Pair) -> Follower {
        Follower {
            pair,
            commands: 0,
            moves: 0,
            rest: 0,
        }
    }

    /// A command has come: goes where it came from, if that is another processor, all are busy, and it helps.
    #[inline]
    pub(crate) fn received(&mut self) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        let went = match self.pair.elsewhere() {
            Some(there) if self.pair.shared.busy.now() => go(there),
            _ => false,
        };
        self.count(went);
    }

    fn count(&mut self, went: bool) {
        self.commands += 1;
        self.moves += u32::from(went);
        if self.commands == WINDOW {
            if self.moves > MOST_MOVES {
                self.rest = REST;
            }
            (self.commands, self.moves) = (0, 0);
        }
    }
}

/// Moves the calling thread to a processor. It may run on all those that it was allowed before, and the kernel may move it
/// again. False if it may not run there.
fn go(there: usize) -> bool {
    let Ok(all) = sched_getaffinity(None) else {
        return false;
    };
    if there >= CpuSet::MAX_CPU || !all.is_set(there) {
        return false;
    }
    let mut only = CpuSet::new();
    only.set(there);
    // The allowed processors are read right before, so a change from outside (taskset) is hardly ever overruled.
    sched_setaffinity(None, &only).is_ok() && sched_setaffinity(None, &all).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn only(n: usize) -> CpuSet {
        let mut set = CpuSet::new();
        set.set(n);
        set
    }

    #[test]
    fn a_thread_that_goes_may_run_where_it_might_before() {
        let went = std::thread::spawn(|| {
            let before = sched_getaffinity(None).unwrap();
            let all = allowed().unwrap();
            assert!(all.iter().all(|n| go(*n)));
            (before == sched_getaffinity(None).unwrap()) && !go(CpuSet::MAX_CPU)
        });
        assert!(went.join().unwrap());
    }

    #[test]
    fn a_thread_does_not_go_where_it_may_not() {
        let all = allowed().unwrap();
        let [here, there, ..] = all[..] else { return };
        let stays = std::thread::spawn(move || {
            sched_setaffinity(None, &only(here)).unwrap();
            !go(there) && sched_getaffinity(None).unwrap() == only(here)
        });
        assert!(stays.join().unwrap());
    }

    #[test]
    fn a_client_that_is_always_elsewhere_is_left_alone_for_a_while() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let tcp = Arc::new(Socket::Tcp(listener.accept().unwrap().0));
        let Some(shared) = Processors::new() else {
            return;
        };
        let mut follower = Follower::new(Pair::new(Some(&shared), &tcp).unwrap());
        for n in 0..WINDOW {
            follower.count(n < MOST_MOVES);
        }
        assert_eq!(follower.rest, 0);
        for n in 0..WINDOW {
            follower.count(n <= MOST_MOVES);
        }
        assert_eq!(follower.rest, REST);
        for _ in 0..REST {
            follower.received();
        }
        assert_eq!((follower.rest, follower.commands), (0, 0));
        follower.received();
        assert_eq!(follower.commands, 1);
    }

    #[test]
    fn only_clients_of_this_machine_are_followed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let tcp = Arc::new(Socket::Tcp(listener.accept().unwrap().0));
        let (unix, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let Some(shared) = Processors::new() else {
            return;
        };
        assert!(Pair::new(Some(&shared), &tcp).is_some());
        assert!(Pair::new(Some(&shared), &Arc::new(Socket::Unix(unix))).is_none());
        assert!(Pair::new(None, &tcp).is_none());
    }
}
