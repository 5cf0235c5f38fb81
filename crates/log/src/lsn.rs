//! The two counts of the log: places of bytes, and commits.

/// Log sequence number: the place of a record's first header byte in the endless log. Strictly increasing; 0 is "none".
///
/// Within a segment it runs with the file offset (`offset = 4096 + lsn - start`); between the EndOfSegment record of
/// one segment and the start of the next lies a gap that no record uses.
pub type Lsn = u64;

/// Commit sequence number: 1, 2, 3, ... without a gap; 0 is "before the first commit".
pub type Seq = u64;
