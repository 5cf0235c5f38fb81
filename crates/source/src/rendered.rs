//! What becomes of an event on its way to a reader.

/// How an event goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rendered {
    /// As it is.
    AsIs,
    /// As what is in the buffer: one event or several.
    Replaced,
    /// Not at all.
    LeftOut,
}
