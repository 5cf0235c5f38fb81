//! How fast writers may go.

pub(crate) mod pace;
