//! Events: programs that the server runs by the clock.
//!
//! | file | holds |
//! |---|---|
//! | `bell.rs` | between sessions and the scheduler: what has changed, what runs |
//! | `define.rs` | CREATE, ALTER and DROP EVENT |
//! | `scheduler.rs` | the thread that runs what is due |
//! | `show.rs` | SHOW and the virtual tables |

pub(crate) mod bell;
mod define;
mod scheduler;
pub(crate) mod show;
