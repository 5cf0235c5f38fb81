//! Between the protocol front and the sessions: the only place that knows both.

use crate::Failure;
use crate::options::Serve;
use narwal_server::Backend;
use std::sync::Arc;

/// What the option parser needs to know of a system variable.
pub struct Variable {
    /// ON/OFF: needs no value.
    pub boolean: bool,
}

/// The system variable of a name (with `_`).
pub fn variable(name: &str) -> Option<Variable> {
    VARIABLES
        .contains(&name)
        .then_some(Variable { boolean: false })
}

/// All system variables' names.
pub fn variable_names() -> impl Iterator<Item = &'static str> {
    VARIABLES.into_iter()
}

const VARIABLES: [&str; 3] = [
    "innodb_flush_log_at_trx_commit",
    "innodb_buffer_pool_size",
    "max_connections",
];

/// An open database with its sessions.
pub struct Instance {}

/// Opens the data folder.
pub fn open(_o: &Serve) -> Result<Instance, Failure> {
    Err(Failure::Run("not connected to the engine yet".into()))
}

impl Instance {
    /// What the protocol front talks to.
    pub fn backend(&self) -> Arc<dyn Backend> {
        unimplemented!()
    }

    /// Tells the sessions which port was really taken.
    pub fn listening(&self, _port: u16) {}

    /// Closes the database cleanly.
    pub fn close(self) {}
}
