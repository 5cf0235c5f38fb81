//! The accountant of memory: what each thread holds, what the server holds, and how much more a session may take.
//!
//! The binary's allocator tells [`taken`] and [`freed`] of each piece. A connection is one thread, so what a thread took since
//! its statement began is what the statement holds: for parser, functions, JSON, rows and results alike. Nothing has to be
//! estimated, and no new code can forget to ask. Without that allocator (in tests of single crates) all is zero and nothing is
//! refused.
//!
//! A thread keeps its own count without atomic instructions and tells the server's count in steps of [`STEP`] bytes. The same step
//! works out how much one session may hold at most ([`most`]): a multiple of what is still free. So the less
//! is free, the smaller are the sessions that may not grow any more, and the largest one stops first. One session alone can take four fifths;
//! sixteen that want all get nearly a sixteenth each. This is the dynamic threshold that switches share their buffers by.

mod count;
mod session;
mod stack;

pub use count::{
    Gauge, STEP, freed, held, is_exhausted, limit, most, peak, set_exhausted, set_limit, set_size,
    settle, taken, total,
};
pub use session::{
    Refused, ask_system_by, base, begin, check, check_or_unwind, keep, reserve, set_session_limit,
    unwinding, used,
};
pub use stack::{InProgram, STATEMENT_STACK};
