"""MariaDB's own test files on MariaDB and on Narwal (docs/corpus.md)."""
