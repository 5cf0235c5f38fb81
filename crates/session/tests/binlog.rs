//! The binary log by SQL: its events, files, positions of snapshots, what a purge says, who may ask.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{Conn, Server};

fn filled(s: &Server) -> Conn {
    let mut c = s.root();
    c.run("create database d");
    c.run("create table d.t (a int primary key, b longtext)");
    c.run("insert into d.t values (1, 'x')");
    c
}

/// Columns of SHOW BINLOG EVENTS, some of them.
fn events(c: &mut Conn, rest: &str, columns: &[usize]) -> Vec<String> {
    let a = c.run(&format!("show binlog events {rest}"));
    assert_eq!(
        a.columns,
        [
            "Log_name",
            "Pos",
            "Event_type",
            "Server_id",
            "End_log_pos",
            "Info"
        ]
    );
    let pick = |r: &Vec<String>| {
        let cells: Vec<&str> = columns.iter().map(|i| r[*i].as_str()).collect();
        cells.join("|")
    };
    a.rows.iter().map(pick).collect()
}

#[test]
fn events_of_a_file() {
    let s = Server::start();
    let mut c = filled(&s);
    c.run("use d");
    c.run("create table `a``b` (x int)");
    c.run("set session server_id=9, gtid_domain_id=3");
    c.run("delete from t");
    c.run("flush binary logs");
    let kinds = events(&mut c, "", &[2, 3, 5]);
    let expected = [
        "Gtid_list|1|[]",
        "Gtid|1|GTID 0-1-1",
        "Query|1|create database d",
        "Gtid|1|GTID 0-1-2",
        "Query|1|create table d.t (a int primary key, b longtext)",
        "Gtid|1|BEGIN GTID 0-1-3",
        "Annotate_rows|1|insert into d.t values (1, 'x')",
        "Table_map|1|table_id: 1 (d.t)",
        "Write_rows_v1|1|table_id: 1 flags: STMT_END_F",
        "Xid|1|COMMIT /* xid=3 */",
        "Gtid|1|GTID 0-1-4",
        "Query|1|use `d`; create table `a``b` (x int)",
        "Gtid|9|BEGIN GTID 3-9-1",
        "Annotate_rows|9|delete from t",
        "Table_map|9|table_id: 1 (d.t)",
        "Delete_rows_v1|9|table_id: 1 flags: STMT_END_F",
        "Xid|9|COMMIT /* xid=5 */",
        "Rotate|1|narwal-bin.000002;pos=4",
    ];
    assert_eq!(kinds[1..], expected);
    assert!(kinds[0].starts_with("Format_desc|1|Server ver: 10.11."));
    assert_eq!(
        events(&mut c, "in 'narwal-bin.000002'", &[1, 2, 4, 5])[1],
        "256|Gtid_list|315|[0-1-4,3-9-1]"
    );
    assert_eq!(events(&mut c, "limit 0", &[0]).len(), 0);
    assert_eq!(events(&mut c, "from 285 limit 2, 1", &[5]), ["GTID 0-1-2"]);
    for (rest, text) in [
        ("in 'x'", "Could not find target log"),
        ("from 5", "Wrong offset"),
        ("from 290", "inside the event group that starts at 285"),
        ("from 90000", "greater than actual file size"),
    ] {
        let e = c.err(&format!("show binlog events {rest}"));
        assert_eq!((e.code, e.sqlstate_str()), (1220, "HY000"));
        assert!(e.message.contains(text), "{e}");
    }
}

#[test]
fn what_is_local_is_not_shown() {
    let s = Server::start();
    let mut c = filled(&s);
    let before = events(&mut c, "", &[1, 2, 4]);
    c.run("set sql_log_bin=0");
    c.run("insert into d.t values (2, 'local')");
    c.run("create table d.hidden (a int)");
    c.run("set sql_log_bin=1");
    assert_eq!(events(&mut c, "", &[1, 2, 4]), before);
    c.run("insert into d.t values (3, 'seen')");
    let after = events(&mut c, "", &[1, 2, 4]);
    assert_eq!(after.len(), before.len() + 5);
    assert_eq!(after[..before.len()], before);
}

#[test]
fn a_large_transaction_is_one_group() {
    let s = Server::start();
    let mut c = filled(&s);
    c.run("set global binlog_oob_threshold=16384");
    let at = s.instance.database().binlog_position().offset;
    c.run("begin");
    for i in 10..60 {
        c.run(&format!("insert into d.t values ({i}, repeat('y', 5000))"));
        s.root()
            .run(&format!("replace into d.t values ({}, 'z')", 100 + i % 3));
    }
    c.run("commit");
    let rows = events(&mut c, "", &[1, 2, 4]);
    let cut = |r: &String| -> (u64, u64) {
        let f: Vec<&str> = r.split('|').collect();
        (f[0].parse().unwrap(), f[2].parse().unwrap())
    };
    for w in rows.windows(2) {
        assert_eq!(cut(&w[0]).1, cut(&w[1]).0, "{w:?}");
    }
    assert!(rows.iter().any(|r| cut(r).0 == at));
    assert_eq!(
        rows.iter().filter(|r| r.contains("Write_rows")).count(),
        51 + 3
    );
    assert_eq!(
        c.rows("show status like 'Binlog_cache_disk_use'"),
        ["Binlog_cache_disk_use|1"]
    );
    // Its events are read one by one, so an interrupt ends it in the middle.
    let start = rows.iter().rev().find(|r| r.contains("|Gtid|")).unwrap();
    assert!(events(&mut c, &format!("from {}", cut(start).0), &[2]).len() > 100);
}

#[test]
fn snapshots_know_their_position() {
    let s = Server::start();
    let (mut a, mut b) = (filled(&s), s.root());
    let status = |c: &mut Conn| {
        c.rows("show status like 'Binlog_snapshot%'")
            .iter()
            .map(|r| r.split_once('|').unwrap().1.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let now = |c: &mut Conn| {
        let at = c.run("show master status").rows.remove(0);
        let gtids = c.one("select @@gtid_binlog_pos");
        format!("{} {gtids} {}", at[0], at[1])
    };
    // Without a snapshot: where the log stands.
    assert_eq!(status(&mut a), now(&mut a));
    a.run("start transaction with consistent snapshot");
    let mine = status(&mut a);
    assert_eq!(mine, now(&mut a));
    b.run("insert into d.t values (2, 'later')");
    b.run("set sql_log_bin=0");
    b.run("insert into d.t values (3, 'local')");
    b.run("set sql_log_bin=1, gtid_domain_id=4");
    b.run("insert into d.t values (4, 'later')");
    b.run("flush binary logs");
    b.run("insert into d.t values (5, 'later')");
    assert_eq!(status(&mut a), mine);
    assert_eq!(status(&mut b), now(&mut b));
    assert_ne!(status(&mut b), mine);
    assert_eq!(a.one("select count(*) from d.t"), "1");
    // It names the place of the first group that is not in the snapshot.
    let pos = mine.rsplit(' ').next().unwrap();
    assert_eq!(
        events(&mut a, &format!("from {pos} limit 1"), &[5]),
        ["BEGIN GTID 0-1-4"]
    );
    a.run("commit");
    assert_eq!(status(&mut a), now(&mut a));
    // A snapshot that a plain read made counts too.
    a.run("begin");
    a.run("select count(*) from d.t");
    let mine = status(&mut a);
    b.run("insert into d.t values (6, 'later')");
    assert_eq!(status(&mut a), mine);
    assert_ne!(status(&mut b), mine);
}

#[test]
fn a_purge_says_what_it_left() {
    let s = Server::start();
    let mut c = filled(&s);
    let db = s.instance.database();
    c.run("flush binary logs");
    c.run("insert into d.t values (2, 'x')");
    c.run("flush binary logs");
    // Nothing is kept, so there is nothing to say.
    assert_eq!(c.run("purge binary logs before '2000-01-01'").warnings, 0);
    let hold = db.register_reader("replica 7", 0);
    assert_eq!(
        c.run("purge binary logs to 'narwal-bin.000003'").warnings,
        1
    );
    let said = c.rows("show warnings").remove(0);
    assert!(
        said.starts_with("Note|1867|") && said.contains("replica 7") && said.contains("000001"),
        "{said}"
    );
    assert_eq!(c.run("show binary logs").rows.len(), 3);
    drop(hold);
    assert_eq!(
        c.run("purge binary logs to 'narwal-bin.000003'").warnings,
        0
    );
    assert_eq!(c.run("show binary logs").rows.len(), 1);
    assert_eq!(
        c.code("purge binary logs to 'narwal-bin.000001'"),
        (1373, "HY000".into())
    );
    // Reading the log holds it, but is no replica's connection.
    db.set_slave_connections_needed_for_purge(1);
    db.set_max_binlog_total_size(1);
    let hold = db.hold_log("a dump", u64::MAX);
    c.run("flush binary logs");
    db.purge_expired_binary_logs().unwrap();
    assert_eq!(c.run("show binary logs").rows.len(), 2);
    // The background looks too when a reader comes, and may be the one that purges.
    let replica = db.register_reader("replica 8", u64::MAX);
    db.purge_expired_binary_logs().unwrap();
    assert_eq!(c.run("show binary logs").rows.len(), 1);
    drop((hold, replica));
}

#[test]
fn reset_while_somebody_reads() {
    let s = Server::start();
    let mut c = filled(&s);
    c.run("reset master");
    assert_eq!(
        c.rows("select @@gtid_binlog_state, @@gtid_binlog_pos, @@gtid_current_pos"),
        ["||"]
    );
    assert_eq!(events(&mut c, "", &[2]), ["Format_desc", "Gtid_list"]);
    c.run("start transaction with consistent snapshot");
    s.root().run("insert into d.t values (2, 'x')");
    s.root().run("reset master to 5");
    s.root().run("insert into d.t values (3, 'x')");
    // The log that the snapshot stands in is gone: its oldest place is the nearest.
    assert_eq!(
        c.rows("show status like 'Binlog_snapshot_file'"),
        ["Binlog_snapshot_file|narwal-bin.000005"]
    );
    assert_eq!(
        events(&mut c, "", &[5])[2..4],
        ["BEGIN GTID 0-1-1", "insert into d.t values (3, 'x')"]
    );
    c.run("commit");
    drop(c);
    let s = s.restart();
    let mut c = s.root();
    assert_eq!(c.one("select @@gtid_binlog_state"), "0-1-1");
    assert_eq!(c.one("select count(*) from d.t"), "3");
}

#[test]
fn who_may_ask() {
    let s = Server::start();
    let mut c = filled(&s);
    c.run("create user plain@localhost, monitor@localhost, keeper@localhost");
    c.run("grant binlog monitor on *.* to monitor@localhost");
    c.run("grant binlog admin, reload on *.* to keeper@localhost");
    let (mut plain, mut monitor, mut keeper) = (
        s.user("plain").unwrap(),
        s.user("monitor").unwrap(),
        s.user("keeper").unwrap(),
    );
    for sql in [
        "show binlog events",
        "show master status",
        "show binary logs",
    ] {
        monitor.run(sql);
        assert_eq!(plain.code(sql), (1227, "42000".into()), "{sql}");
    }
    for sql in [
        "purge binary logs to 'narwal-bin.000001'",
        "flush binary logs",
        "reset master",
        "set global max_binlog_size=4096",
        "set global binlog_state_interval=4096",
        "set global binlog_expire_logs_seconds=1",
    ] {
        assert_eq!(plain.code(sql).0, 1227, "{sql}");
        keeper.run(sql);
    }
    assert_eq!(keeper.code("set global gtid_binlog_state=''").0, 1227);
    // As in MariaDB, SUPER sees positions and files, not events.
    c.run("create user boss@localhost");
    c.run("grant super on *.* to boss@localhost");
    let mut boss = s.user("boss").unwrap();
    boss.run("show master status; show binary logs; purge binary logs to 'narwal-bin.000001'");
    assert_eq!(boss.code("show binlog events").0, 1227);
}

#[test]
fn rows_of_many_megabytes() {
    let s = Server::start();
    let mut c = filled(&s);
    c.run("set global max_allowed_packet=1073741824");
    drop(c);
    let mut c = s.root();
    // Together they are more than a record of the log holds.
    c.run("insert into d.t values (2, repeat('x', 135000000)), (3, repeat('y', 135000000))");
    assert_eq!(c.one("select sum(length(b)) from d.t"), "270000001");
    // One is as well: refused, and nothing is left of it.
    let e = c.err("insert into d.t values (4, 'a'), (5, repeat('x', 268500000))");
    assert_eq!((e.code, e.sqlstate_str()), (1197, "HY000"));
    assert!(e.message.contains("268435455"), "{e}");
    c.run("insert into d.t values (6, 'x')");
    assert_eq!(c.one("select count(*) from d.t"), "4");
    let kinds = events(&mut c, "", &[2]);
    assert_eq!(kinds.iter().filter(|k| *k == "Write_rows_v1").count(), 4);
}

#[test]
fn the_documentation_lists_every_status() {
    let s = Server::start();
    let mut c = s.root();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/status.md");
    let doc = std::fs::read_to_string(path).unwrap();
    let shown = c.rows("show global status");
    let names: Vec<&str> = shown.iter().map(|r| r.split('|').next().unwrap()).collect();
    for name in names.iter().filter(|n| !n.starts_with("Com_")) {
        assert!(doc.contains(&format!("`{name}`")), "{name} is not in it");
    }
    // And nothing that there is not.
    for name in doc.split('`').skip(1).step_by(2) {
        let of_ours = ["Binlog_", "Narwal_", "Innodb_", "Handler_", "Threads_"]
            .iter()
            .any(|p| name.starts_with(p) && !name.contains(' '));
        assert!(
            !of_ours || names.contains(&name) || name == "Binlog_snapshot",
            "{name} is not shown"
        );
    }
}
