//! The commit path.

pub(crate) mod land;
pub(crate) mod place;
pub(crate) mod reserved;
