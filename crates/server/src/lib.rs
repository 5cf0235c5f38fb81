//! MySQL wire protocol server: packets, authentication, TLS, connections.
