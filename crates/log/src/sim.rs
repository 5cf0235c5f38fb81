//! A simulated disk in memory.
