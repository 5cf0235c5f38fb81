//! What of the groups that were applied is known to be visible.

use crate::record::replica::ReplicaState;
use parking_lot::Mutex;

/// The newest state of what was applied that is known to be visible, and a newer one that will be.
///
/// The state is kept for the end of the log only. While the gate holds commits back, the end is never visible; so
/// whoever asks leaves the state as it is then, for the next one to find when its commit has passed.
#[derive(Debug, Default)]
pub(crate) struct AppliedSeen(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    told: ReplicaState,
    next: Option<ReplicaState>,
}

impl AppliedSeen {
    /// What is known to be visible of `now`, the state at the end, when readers see commits up to `visible`.
    pub(super) fn tell(&self, now: ReplicaState, visible: u64) -> ReplicaState {
        let mut seen = self.0.lock();
        if now.seq <= visible {
            seen.next = None;
            seen.told = now;
        } else if seen.next.as_ref().is_none_or(|next| next.seq <= visible)
            && let Some(next) = seen.next.replace(now)
        {
            seen.told = next;
        }
        seen.told.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(seq: u64) -> ReplicaState {
        ReplicaState {
            seq,
            ..ReplicaState::default()
        }
    }

    #[test]
    fn what_is_told_is_visible_and_goes_on() {
        let seen = AppliedSeen::default();
        assert_eq!(seen.tell(state(5), 5).seq, 5);
        assert_eq!(seen.tell(state(8), 6).seq, 5, "8 is not visible yet");
        assert_eq!(seen.tell(state(9), 7).seq, 5);
        assert_eq!(seen.tell(state(12), 8).seq, 8, "what was left then");
        assert_eq!(seen.tell(state(15), 11).seq, 8);
        assert_eq!(seen.tell(state(15), 12).seq, 12);
        assert_eq!(seen.tell(state(15), 15).seq, 15);
    }
}
