//! Finds out that a client has gone while its statement runs.
//!
//! The thread of a connection reads its socket only between two commands, so it does not see that a client closes while a
//! statement runs. One thread for the whole server asks the sockets of statements that have run for a while. Asking costs
//! the statements nothing: each command counts two steps in its [`KillHandle`]. A connection that is found twice at the same
//! odd number has been running a command for [`EVERY`] at least.
//!
//! Over TCP a peer that has shut down its sending side counts as gone: that is all that can be seen of a close, since only
//! an answer would tell whether somebody still reads. A Unix socket tells the two apart. Bytes that wait to be read, the
//! next commands of a client that does not wait for answers, say nothing either way.

use crate::kill::KillHandle;
use crate::shared::Shared;
use crate::socket::Socket;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How often the sockets are asked.
const EVERY: Duration = Duration::from_millis(100);

/// So many sockets in one system call.
const AT_ONCE: usize = 1024;

/// Starts the thread; it ends soon after the server begins to stop, or its thread is unparked then.
pub(crate) fn start(shared: Arc<Shared>) -> std::io::Result<JoinHandle<()>> {
    Builder::new()
        .name("client-watch".to_owned())
        .stack_size(256 << 10)
        .spawn(move || {
            let mut seen = HashMap::new();
            while !shared.is_stopping() {
                std::thread::park_timeout(EVERY);
                end_abandoned(&shared.handles(|k| k.running().is_some()), &mut seen);
            }
        })
}

/// Ends the statements whose client has gone. `seen` has the commands that ran the last time.
fn end_abandoned(all: &[Arc<KillHandle>], seen: &mut HashMap<u32, u32>) {
    let running: HashMap<u32, u32> = (all.iter())
        .filter_map(|k| Some((k.id(), k.running()?)))
        .collect();
    // A connection that was killed reads no more, which looks as if its client had gone; it ends anyway.
    let long: Vec<(&Arc<KillHandle>, &Arc<Socket>)> = (all.iter())
        .filter(|k| !k.connection_killed())
        .filter(|k| (running.get(&k.id())).is_some_and(|n| seen.get(&k.id()) == Some(n)))
        .filter_map(|k| Some((k, k.socket()?)))
        .collect();
    for part in long.chunks(AT_ONCE) {
        let mut fds: Vec<PollFd<'_>> = (part.iter())
            .map(|(_, socket)| {
                let asked = match &***socket {
                    Socket::Tcp(_) => PollFlags::RDHUP,
                    Socket::Unix(_) => PollFlags::empty(),
                };
                PollFd::from_borrowed_fd(socket.fd(), asked)
            })
            .collect();
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // Hang-up and error are always reported. A failed call is made again the next time.
        if poll(&mut fds, Some(&at_once)).is_err() {
            continue;
        }
        for (fd, (kill, _)) in fds.iter().zip(part) {
            if !fd.revents().is_empty() && !kill.connection_killed() {
                tracing::info!(
                    connection = kill.id(),
                    "the client has gone, its statement ends"
                );
                kill.cut();
            }
        }
    }
    *seen = running;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    fn connection(id: u32) -> (Arc<KillHandle>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        (
            KillHandle::new(id, Some(Arc::new(Socket::Unix(ours)))),
            theirs,
        )
    }

    #[test]
    fn only_statements_that_run_on_without_their_client_are_ended() {
        let (idle, idle_client) = connection(1);
        let (short, short_client) = connection(2);
        let (long, long_client) = connection(3);
        let (listened, mut pipelines) = connection(4);
        let (half, half_client) = connection(5);
        for k in [&short, &long, &listened, &half] {
            k.step();
        }
        drop((idle_client, short_client, long_client));
        half_client.shutdown(Shutdown::Write).expect("half-closed");
        std::io::Write::write_all(&mut pipelines, b"more").expect("bytes");
        let all = [&idle, &short, &long, &listened, &half].map(Clone::clone);
        let mut seen = HashMap::new();
        end_abandoned(&all, &mut seen);
        assert!(all.iter().all(|k| !k.connection_killed()));
        // Another command than before: it has only begun.
        short.step();
        short.step();
        end_abandoned(&all, &mut seen);
        let ended = all.each_ref().map(|k| k.connection_killed());
        assert_eq!(ended, [false, false, true, false, false]);
        end_abandoned(&all, &mut seen);
        assert!(short.connection_killed());
    }
}
