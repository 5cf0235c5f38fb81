//! Order-preserving index keys.
