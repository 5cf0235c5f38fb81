//! Binary log events in the MariaDB dialect: encode, decode, GTIDs, virtual file positions.
