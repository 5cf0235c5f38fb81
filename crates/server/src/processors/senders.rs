//! Threads that send late answers, one on each processor.

use narwal_types::SqlResult;
use parking_lot::Mutex;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, Thread};

/// An answer that the calling thread can send.
pub(crate) trait SendHere: Send + Sync + std::fmt::Debug {
    /// Sends it, or the error instead.
    fn send_now(&self, outcome: SqlResult<()>);
}

/// The threads. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Senders {
    /// By number of the processor.
    threads: Vec<Option<(Arc<Queue>, Thread)>>,
}

/// An answer, and what has come of its commit.
type Due = (Arc<dyn SendHere>, SqlResult<()>);

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Vec<Due>>,
    /// The thread will look again before it sleeps.
    awake: AtomicBool,
    over: AtomicBool,
}

impl Senders {
    /// One thread for each of these processors. Where a thread can't be started, [`Senders::send`] refuses.
    pub(super) fn new(processors: &[usize]) -> Senders {
        let many = processors.last().map_or(0, |n| n + 1);
        let mut threads: Vec<_> = (0..many).map(|_| None).collect();
        for n in processors {
            threads[*n] = start(*n);
        }
        Senders { threads }
    }

    /// Has the thread on a processor send an answer, if there is one.
    pub(super) fn send(
        &self,
        processor: usize,
        late: Arc<dyn SendHere>,
        outcome: SqlResult<()>,
    ) -> Result<(), SqlResult<()>> {
        let Some(Some((queue, thread))) = self.threads.get(processor) else {
            return Err(outcome);
        };
        queue.waiting.lock().push((late, outcome));
        if !queue.awake.swap(true, Ordering::SeqCst) {
            thread.unpark();
        }
        Ok(())
    }
}

impl Drop for Senders {
    fn drop(&mut self) {
        for (queue, thread) in self.threads.drain(..).flatten() {
            queue.over.store(true, Ordering::SeqCst);
            thread.unpark();
        }
    }
}

fn start(processor: usize) -> Option<(Arc<Queue>, Thread)> {
    let queue = Arc::new(Queue::default());
    let its = queue.clone();
    let spawned = Builder::new()
        .name(format!("narwal-send-{processor}"))
        .spawn(move || {
            let mut only = CpuSet::new();
            only.set(processor);
            if let Err(e) = sched_setaffinity(None, &only) {
                tracing::debug!("a thread for answers does not stay on processor {processor}: {e}");
            }
            its.run();
        });
    match spawned {
        Ok(thread) => Some((queue, thread.thread().clone())),
        Err(e) => {
            tracing::warn!("no thread for answers on processor {processor}: {e}");
            None
        }
    }
}

impl Queue {
    fn run(&self) {
        let mut batch = Vec::new();
        loop {
            std::mem::swap(&mut batch, &mut *self.waiting.lock());
            for (late, outcome) in batch.drain(..) {
                late.send_now(outcome);
            }
            // An answer that is added from here on wakes this thread; one added before is seen below.
            self.awake.store(false, Ordering::SeqCst);
            if !self.waiting.lock().is_empty() {
                self.awake.store(true, Ordering::SeqCst);
                continue;
            }
            if self.over.load(Ordering::SeqCst) {
                return;
            }
            std::thread::park();
            self.awake.store(true, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::late::Late;
    use crate::packet::PacketWriter;
    use crate::socket::Socket;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    /// Answers of many connections by many threads at once, with pauses in which the senders go to sleep.
    #[test]
    fn every_answer_is_sent_once() {
        const CONNECTIONS: usize = 16;
        const ROUNDS: u8 = 100;
        let all = super::super::allowed().unwrap();
        let senders = Arc::new(Senders::new(&all));
        let mut clients = Vec::new();
        for c in 0..CONNECTIONS {
            let (mut client, server) = UnixStream::pair().unwrap();
            let late = Late::new(Arc::new(Socket::Unix(server)), None);
            let (senders, processor) = (senders.clone(), all[c % all.len()]);
            clients.push(std::thread::spawn(move || {
                for round in 0..ROUNDS {
                    let mut writer = PacketWriter::new();
                    writer.begin().push(round);
                    writer.finish();
                    assert!(late.put(&mut writer, 1));
                    senders.send(processor, late.clone(), Ok(())).unwrap();
                    let mut got = [0; 5];
                    client.read_exact(&mut got).unwrap();
                    assert_eq!((got[0], got[4]), (1, round));
                    late.wait_sent();
                    if round % 10 == 0 {
                        std::thread::yield_now();
                    }
                }
                client.set_nonblocking(true).unwrap();
                client.read(&mut [0]).unwrap_err()
            }));
        }
        for c in clients {
            assert_eq!(c.join().unwrap().kind(), std::io::ErrorKind::WouldBlock);
        }
        assert!(
            senders
                .send(CpuSet::MAX_CPU, Late::for_test(), Ok(()))
                .is_err()
        );
    }

    #[test]
    fn the_threads_end_with_their_owner_and_send_what_was_given_to_them() {
        let all = super::super::allowed().unwrap();
        let senders = Senders::new(&all);
        let (mut client, server) = UnixStream::pair().unwrap();
        let late = Late::new(Arc::new(Socket::Unix(server)), None);
        let mut writer = PacketWriter::new();
        writer.begin().push(7);
        writer.finish();
        assert!(late.put(&mut writer, 1));
        let queue = Arc::downgrade(&senders.threads[all[0]].as_ref().unwrap().0);
        senders.send(all[0], late.clone(), Ok(())).unwrap();
        drop(senders);
        let mut got = [0; 5];
        client.read_exact(&mut got).unwrap();
        assert_eq!(got[4], 7);
        while queue.strong_count() > 0 {
            std::thread::yield_now();
        }
    }
}
