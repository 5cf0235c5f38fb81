//! A database that follows a source without a server around it, and says each second how far it is.
//!
//! `cargo run -p narwal-replica --example follow -- DIR HOST PORT USER PASSWORD [VARIABLE=VALUE ...]`
#![allow(clippy::unwrap_used)]

use narwal_engine::Database;
use narwal_replica::Channel;
use narwal_session::replica::{ConnectionConfig, ReplicaFilter, StartWhat, UseGtid};
use narwal_session::{Instance, Startup};
use std::sync::Arc;
use std::time::Duration;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dir, host, port, user, password, settings @ ..] = args.as_slice() else {
        panic!("DIR HOST PORT USER PASSWORD [VARIABLE=VALUE ...]");
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let mut startup = Startup::new();
    startup.set("server_id", Some("99")).unwrap();
    for s in settings {
        let (name, value) = s.split_once('=').unwrap();
        startup.set(name, Some(value)).unwrap();
    }
    let db = Database::open_with(dir, startup.engine_options()).unwrap();
    let instance = Instance::new(db, startup);
    let config = ConnectionConfig {
        id: 1,
        host: host.clone(),
        port: port.parse().unwrap(),
        user: user.clone(),
        password: password.clone(),
        connect_retry: 1,
        heartbeat_millis: 1000,
        use_gtid: UseGtid::SlavePos,
        ..ConnectionConfig::default()
    };
    let channel = Channel::new(
        instance,
        Arc::new(config),
        Arc::new(ReplicaFilter::default()),
    )
    .unwrap();
    channel.start(&StartWhat::both()).unwrap();
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let s = channel.status();
        println!(
            "io {:?} ({}) sql {} ({}) read {}:{} exec {}:{} gtid {} behind {:?} lag {:?} queue {} io error {:?} sql error {:?}",
            s.io_running,
            s.io_state,
            s.sql_running,
            s.sql_state,
            s.read_file,
            s.read_pos,
            s.exec_file,
            s.exec_pos,
            s.gtid_io_pos,
            s.seconds_behind,
            s.lag,
            s.queued_groups,
            s.last_io_error,
            s.last_sql_error,
        );
    }
}
