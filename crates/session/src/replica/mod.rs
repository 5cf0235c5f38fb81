//! The server as a replica, as its users see it: connections and their settings, the statements about them, what they
//! show. What receives and applies is behind [`ReplicaControl`], which the server's start gives to its
//! [`Instance`](crate::Instance).
//!
//! | file | holds |
//! |---|---|
//! | `config.rs` | [`ConnectionConfig`]: what is kept of a connection; [`ChangeMaster`]: what a statement changes of it |
//! | `control.rs` | [`ReplicaControl`]: what the statements ask of what receives and applies |
//! | `status.rs` | [`ConnectionStatus`]: what SHOW SLAVE STATUS shows |
//! | `filter.rs` | [`ReplicaFilter`]: which changes are applied |
//! | `settings.rs` | variables: positions, filters, what is refused while a connection runs |
//! | `statements.rs`, `show.rs` | the statements |
//! | `errors.rs` | errors and notes that they give |

pub(crate) mod config;
mod control;
pub(crate) mod errors;
pub(crate) mod filter;
mod settings;
pub(crate) mod show;
mod statements;
mod status;

pub use config::{
    ChangeMaster, ConnectionConfig, DEFAULT_HEARTBEAT_MILLIS, HEARTBEAT_TOO_SHORT, Ssl, UseGtid,
};
pub use control::{ReplicaControl, StartWhat, Threads, Which};
pub use errors::{must_stop, no_connection, not_configured, note, warning};
pub(crate) use filter::Filters;
pub use filter::ReplicaFilter;
pub use narwal_sql::{Condition, WarningLevel};
pub(crate) use show::replica_status;
pub use status::{ChannelStatus, ConnectionStatus, IoRunning, Lag, ReplicaError, Until};
