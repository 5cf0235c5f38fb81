//! The write-ahead log that is also the binary log: segments, records, group commit, recovery scan.
