//! Variables: connections: addresses, TLS, limits, time-outs.

use super::def::Effect::{Computed, Fixed, Inert, Live, Startup, State};
use super::def::Kind::{Bool, Enum, Text, UInt};
use super::def::Scope::{Both, Global, Session};
use super::def::{AtStart, VariableDef, inert, row};
use super::rules::global_only;
use super::value::VarValue;
use crate::privileges::PrivilegeSet;
use std::sync::atomic::Ordering;

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "back_log",
        Global,
        UInt(0, 65535, 1),
        "80",
        Startup,
        "Connections that may wait to be accepted by the operating system.",
    ),
    row(
        "bind_address",
        Global,
        Text,
        "127.0.0.1",
        Startup,
        "Addresses that the server listens on; several with commas between, `*` is all.",
    ),
    row(
        "connect_timeout",
        Global,
        UInt(2, YEAR, 1),
        "10",
        Live,
        "Seconds that a client may take to log in.",
    )
    .needs(PrivilegeSet::CONNECTION_ADMIN),
    row(
        "extra_port",
        Global,
        UInt(0, 65535, 1),
        "0",
        Startup,
        "MariaDB's second port for administrators.",
    ),
    inert(
        "host_cache_size",
        Global,
        UInt(0, 65536, 1),
        "0",
        "MariaDB's cache of host names, which Narwal does not look up.",
    ),
    row(
        "init_connect",
        Global,
        Text,
        "",
        Fixed,
        "Statements that each new connection runs; only none.",
    )
    .needs(PrivilegeSet::CONNECTION_ADMIN),
    row(
        "interactive_timeout",
        Both,
        UInt(1, YEAR, 1),
        "28800",
        Live,
        "`wait_timeout` of clients that call themselves interactive.",
    )
    .not_for_one_statement(),
    row(
        "local_infile",
        Global,
        Bool,
        "ON",
        Live,
        "Allows LOAD DATA LOCAL INFILE.",
    ),
    row(
        "max_allowed_packet",
        Both,
        UInt(1024, 1_073_741_824, 1024),
        "16777216",
        Live,
        "Longest packet and longest string, bytes.",
    )
    .session(|s, v| s.max_allowed_packet = v.as_u64())
    .allowed(|_, global| global_only(global, "max_allowed_packet")),
    inert(
        "max_connect_errors",
        Global,
        UInt(1, 4_294_967_295, 1),
        "100",
        "MariaDB's blocking of hosts.",
    )
    .needs(PrivilegeSet::CONNECTION_ADMIN),
    row(
        "max_connections",
        Global,
        UInt(10, 100_000, 1),
        "151",
        Live,
        "Clients at the same time.",
    )
    .needs(PrivilegeSet::CONNECTION_ADMIN),
    row(
        "automatic_sp_privileges",
        Global,
        Bool,
        "ON",
        Live,
        "Who makes a routine gets EXECUTE and ALTER ROUTINE on it.",
    )
    .needs(PrivilegeSet::SUPER),
    row(
        "max_user_connections",
        Both,
        UInt(0, 2_147_483_647, 1),
        "0",
        Live,
        "Connections of one account at a time; 0 for no limit. Of a session: its account's limit.",
    )
    .allowed(|_, global| global_only(global, "max_user_connections"))
    .needs(PrivilegeSet::CONNECTION_ADMIN),
    row(
        "narwal_client_affinity",
        Global,
        Bool,
        "ON",
        Startup,
        "Runs a connection's thread on its client's processor, if the client is on this \
         machine.",
    ),
    row(
        "narwal_time_slice",
        Global,
        UInt(0, 100_000, 1),
        "100",
        Startup,
        "Microseconds of processor time that a thread asks for in one turn; 0 for the \
         kernel's own.",
    ),
    inert(
        "net_buffer_length",
        Both,
        UInt(1024, 1_048_576, 1024),
        "16384",
        "MariaDB's first size of a connection's buffer.",
    )
    .allowed(|_, global| global_only(global, "net_buffer_length")),
    row(
        "net_read_timeout",
        Both,
        UInt(1, YEAR, 1),
        "30",
        Live,
        "Seconds that a read from a client may take inside a statement.",
    )
    .session(|s, v| s.timeouts.net_read = v.seconds()),
    inert(
        "net_retry_count",
        Both,
        UInt(1, 4_294_967_295, 1),
        "10",
        "MariaDB's attempts to read again.",
    ),
    row(
        "net_write_timeout",
        Both,
        UInt(1, YEAR, 1),
        "60",
        Live,
        "Seconds that a write to a client may take.",
    )
    .session(|s, v| s.timeouts.net_write = v.seconds()),
    row(
        "port",
        Global,
        UInt(0, 65535, 1),
        "3306",
        Startup,
        "TCP port.",
    ),
    row(
        "protocol_version",
        Global,
        UInt(0, 255, 1),
        "10",
        Computed,
        "Version of the client protocol.",
    ),
    row(
        "pseudo_thread_id",
        Session,
        UInt(0, 4_294_967_295, 1),
        "0",
        State,
        "The connection's id, or one that a statement of MariaDB's log had.",
    )
    .session_needs(PrivilegeSet::BINLOG_REPLAY)
    .no_plan()
    .not_for_one_statement()
    .read_session(
        |s| match s.facts().pseudo_thread_id.load(Ordering::Relaxed) {
            0 => VarValue::UInt(u64::from(s.facts().connection_id)),
            said => VarValue::UInt(said),
        },
    )
    .assign(|s, v| {
        let id = v.map_or(0, VarValue::as_u64);
        s.facts().pseudo_thread_id.store(id, Ordering::Relaxed);
        Ok(())
    }),
    row(
        "require_secure_transport",
        Global,
        Bool,
        "OFF",
        Live,
        "Refuses clients without TLS, but for those of the Unix socket.",
    ),
    row(
        "secure_file_priv",
        Global,
        Text,
        "",
        Startup,
        "Folder that LOAD DATA INFILE may read from; empty for any.",
    ),
    row(
        "skip_name_resolve",
        Global,
        Bool,
        "ON",
        Startup,
        "Addresses are not looked up: accounts name addresses.",
    ),
    row(
        "skip_networking",
        Global,
        Bool,
        "OFF",
        Startup,
        "No TCP, the Unix socket only.",
    ),
    inert(
        "slow_launch_time",
        Global,
        UInt(0, YEAR, 1),
        "2",
        "Seconds from which the start of a thread counts as slow.",
    ),
    row("socket", Global, Text, "", Startup, "Unix socket."),
    row(
        "ssl_ca",
        Global,
        Text,
        "",
        Startup,
        "File of certificates that clients' own are judged by.",
    )
    .null(),
    row(
        "ssl_capath",
        Global,
        Text,
        "",
        Startup,
        "Folder of such certificates; only none.",
    )
    .null()
    .at_start(AtStart::Refused("certificates come from a file")),
    row(
        "ssl_cert",
        Global,
        Text,
        "",
        Startup,
        "File of the server's certificate.",
    )
    .null(),
    row(
        "ssl_cipher",
        Global,
        Text,
        "",
        Startup,
        "Ciphers that are offered; only the default.",
    )
    .null()
    .at_start(AtStart::Refused("the offered ciphers are fixed")),
    row(
        "ssl_crl",
        Global,
        Text,
        "",
        Startup,
        "File of revoked certificates.",
    )
    .null(),
    row(
        "ssl_crlpath",
        Global,
        Text,
        "",
        Startup,
        "Folder of revoked certificates; only none.",
    )
    .null()
    .at_start(AtStart::Refused("revoked certificates come from a file")),
    row(
        "ssl_key",
        Global,
        Text,
        "",
        Startup,
        "File of the server's private key.",
    )
    .null(),
    row(
        "tcp_nodelay",
        Both,
        Bool,
        "ON",
        Inert,
        "Sends packets without delay, which is always so.",
    )
    .global_is_1238(),
    inert(
        "thread_cache_size",
        Global,
        UInt(0, 16384, 1),
        "0",
        "MariaDB's idle threads that are kept.",
    ),
    row(
        "thread_handling",
        Global,
        Enum(&["one-thread-per-connection", "no-threads", "pool-of-threads"]),
        "one-thread-per-connection",
        Startup,
        "How connections get threads: one each.",
    ),
    row(
        "thread_stack",
        Global,
        UInt(131_072, MAX, 1024),
        "8388608",
        Startup,
        "MariaDB's stack of a thread.",
    ),
    row(
        "tls_version",
        Global,
        Text,
        "TLSv1.2,TLSv1.3",
        Startup,
        "Versions of TLS that are offered.",
    ),
    row(
        "wait_timeout",
        Both,
        UInt(1, YEAR, 1),
        "28800",
        Live,
        "Seconds after which an idle connection is closed.",
    )
    .session(|s, v| s.timeouts.idle = v.seconds())
    .not_for_one_statement(),
];

const MAX: u64 = u64::MAX;
/// Seconds.
const YEAR: u64 = 31_536_000;
