//! SQL values, column types, row images, key encoding, collations, errors.
