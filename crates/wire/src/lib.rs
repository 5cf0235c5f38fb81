//! What both ends of the MySQL protocol share. No sockets, no sessions: bytes in, bytes out.
//!
//! | file | holds |
//! |---|---|
//! | `packet.rs` | framing |
//! | `codec.rs` | integers and strings |
//! | `protocol.rs` | the protocol's numbers |
//! | `auth/` | proofs of a password |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod auth;
pub mod codec;
pub mod packet;
pub mod protocol;
