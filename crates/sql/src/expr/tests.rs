//! Answers compared with those of MariaDB 10.11.
