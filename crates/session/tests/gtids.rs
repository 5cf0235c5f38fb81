//! GTIDs and other variables of the binary log, as a session sees them.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::Server;

#[test]
fn the_session_chooses_its_gtids() {
    let s = Server::start();
    let mut c = s.root();
    c.run("create database d");
    assert_eq!(c.one("select @@last_gtid"), "0-1-1");
    c.run("create table d.t (a int primary key)");
    c.run("set gtid_domain_id=7, session server_id=9, gtid_seq_no=100");
    assert_eq!(
        c.rows("select @@gtid_domain_id, @@server_id, @@gtid_seq_no, @@global.gtid_domain_id, @@global.server_id"),
        ["7|9|100|0|1"]
    );
    // Nothing written: the number stays.
    c.run("begin");
    c.run("commit");
    assert_eq!(c.one("select @@gtid_seq_no"), "100");
    c.run("insert into d.t values (1)");
    assert_eq!(
        c.rows("select @@last_gtid, @@gtid_seq_no, @@gtid_binlog_pos"),
        ["7-9-100|0|0-1-2,7-9-100"]
    );
    c.run("insert into d.t values (2)");
    c.run("set gtid_domain_id=default, server_id=default");
    c.run("insert into d.t values (3)");
    assert_eq!(
        c.rows("select @@last_gtid, @@gtid_binlog_state, @@gtid_current_pos, @@gtid_slave_pos"),
        ["0-1-3|0-1-3,7-9-101|0-1-3|"]
    );
    // DDL and accounts take the choice too.
    c.run("set gtid_seq_no=50");
    c.run("create table d.u (a int)");
    assert_eq!(c.one("select @@last_gtid"), "0-1-50");
    c.run("create user u");
    assert_eq!(c.one("select @@last_gtid"), "0-1-51");
    // The server's own id may change within a transaction: what counts is the end.
    c.run("begin");
    c.run("insert into d.t values (4)");
    c.run("set server_id=3");
    c.run("commit");
    assert_eq!(c.one("select @@last_gtid"), "0-3-52");
    c.0.reset().unwrap();
    assert_eq!(
        c.rows("select @@last_gtid, @@server_id, @@gtid_seq_no"),
        ["|1|0"]
    );
}

#[test]
fn global_ids_are_for_sessions_to_come() {
    let s = Server::start();
    let (mut a, mut b) = (s.root(), s.root());
    a.run("create database d");
    b.run("set global gtid_domain_id=4, global server_id=44");
    a.run("create table d.t (a int primary key)");
    assert_eq!(a.one("select @@last_gtid"), "0-1-2");
    let mut c = s.root();
    c.run("insert into d.t values (1)");
    assert_eq!(c.one("select @@last_gtid"), "4-44-1");
}

#[test]
fn strict_mode() {
    let s = Server::start();
    let mut c = s.root();
    c.run("create database d");
    c.run("create table d.t (a int primary key)");
    c.run("set global gtid_strict_mode=1");
    assert_eq!(c.code("set gtid_seq_no=2"), (1950, "HY000".into()));
    c.run("set gtid_seq_no=10");
    // Another session is faster.
    s.root().run("insert into d.t values (1)");
    let mut other = s.root();
    other.run("set gtid_seq_no=20");
    other.run("insert into d.t values (2)");
    assert_eq!(c.code("insert into d.t values (3)").0, 1950);
    assert_eq!(c.one("select count(*) from d.t"), "2");
    c.run("set global gtid_strict_mode=0");
    c.run("insert into d.t values (3)");
    assert_eq!(c.rows("select @@last_gtid"), ["0-1-10"]);
}

#[test]
fn what_a_transaction_does_not_let_change() {
    let s = Server::start();
    let mut c = s.root();
    for sql in ["begin", "set autocommit=0"] {
        c.run(sql);
        c.run("create database if not exists d");
        c.run("create table if not exists d.t (a int primary key)");
        c.run("begin");
        for (set, code) in [
            ("set sql_log_bin=0", 1694),
            ("set gtid_domain_id=1", 1953),
            ("set gtid_seq_no=1", 1953),
            ("set binlog_format='row'", 1679),
        ] {
            assert_eq!(c.code(set), (code, "HY000".into()), "{set}");
        }
        c.run("set binlog_row_image='minimal', server_id=5");
        c.run("rollback");
        c.run("set sql_log_bin=0, gtid_domain_id=1, binlog_format='row'");
        c.run("set sql_log_bin=1, gtid_domain_id=0");
    }
}

#[test]
fn values_and_errors_of_the_binlogs_variables() {
    let s = Server::start();
    let mut c = s.root();
    for (sql, code, state) in [
        ("set gtid_domain_id='x'", 1232, "42000"),
        ("set global gtid_seq_no=1", 1228, "HY000"),
        ("select @@global.gtid_seq_no", 1238, "HY000"),
        ("set gtid_strict_mode=1", 1229, "HY000"),
        ("set global gtid_binlog_pos=''", 1238, "HY000"),
        ("set global gtid_current_pos=''", 1238, "HY000"),
        ("set global gtid_slave_pos='0-1'", 1941, "HY000"),
        ("set gtid_binlog_state=''", 1229, "HY000"),
        ("set global gtid_binlog_state=default", 1230, "42000"),
        ("set global gtid_binlog_state=5", 1232, "42000"),
        ("set last_gtid='x'", 1238, "HY000"),
        ("set global log_bin=0", 1238, "HY000"),
        ("set global sql_log_bin=0", 1238, "HY000"),
        ("set global binlog_checksum='none'", 1235, "42000"),
        ("set global binlog_checksum=5", 1231, "42000"),
        ("set max_binlog_size=4096", 1229, "HY000"),
        ("set global max_binlog_size='x'", 1232, "42000"),
        ("set binlog_row_metadata=full", 1229, "HY000"),
        ("set binlog_row_image='half'", 1231, "42000"),
        ("set global binlog_do_db='x'", 1238, "HY000"),
    ] {
        assert_eq!(c.code(sql), (code, state.to_string()), "{sql}");
    }
    for (sql, name, value) in [
        ("set gtid_domain_id=-1", "gtid_domain_id", "0"),
        (
            "set gtid_domain_id=4294967296",
            "gtid_domain_id",
            "4294967295",
        ),
        ("set server_id=0", "server_id", "1"),
        ("set gtid_seq_no=-1", "gtid_seq_no", "0"),
        ("set global max_binlog_size=5000", "max_binlog_size", "4096"),
        (
            "set global max_binlog_size=2000000000",
            "max_binlog_size",
            "1073741824",
        ),
        (
            "set global expire_logs_days=200",
            "binlog_expire_logs_seconds",
            "8553600",
        ),
    ] {
        assert_eq!(c.run(sql).warnings, 1, "{sql}");
        assert!(c.rows("show warnings")[0].starts_with("Warning|1292|"));
        assert_eq!(c.one(&format!("select @@{name}")), value, "{sql}");
    }
    c.run("set global binlog_expire_logs_seconds=100");
    assert_eq!(
        c.rows("show global variables like 'expire_logs_days'"),
        ["expire_logs_days|0.001157"]
    );
    c.run("set global expire_logs_days=2.5");
    assert_eq!(c.one("select @@binlog_expire_logs_seconds"), "216000");
    c.run("set global binlog_space_limit=1000");
    assert_eq!(c.one("select @@max_binlog_total_size"), "1000");
    c.run("set binlog_row_image=1, global binlog_row_image='full_nodup', global binlog_row_metadata='minimal'");
    assert_eq!(
        c.rows("select @@binlog_row_image, @@global.binlog_row_image, @@binlog_row_metadata"),
        ["NOBLOB|FULL_NODUP|MINIMAL"]
    );
}

#[test]
fn functions_that_wait_for_a_primary() {
    let s = Server::start();
    let mut c = s.root();
    assert_eq!(
        c.rows("select master_pos_wait('x',4), master_pos_wait('x',4,1), master_gtid_wait(''), master_gtid_wait(null,1), master_gtid_wait('0-1-1',0)"),
        ["NULL|NULL|0|NULL|-1"]
    );
    assert_eq!(c.one("select master_pos_wait('x',4,1,'c')"), "NULL");
    assert!(c.rows("show warnings")[0].starts_with("Warning|1617|"));
    assert_eq!(c.code("select master_gtid_wait('abc',1)").0, 1941);
    assert_eq!(c.code("select master_gtid_wait()").0, 1582);
    assert_eq!(c.code("select binlog_gtid_pos('x')").0, 1582);
    assert_eq!(
        c.rows("select binlog_gtid_pos('',4), binlog_gtid_pos(null,4), binlog_gtid_pos('x',null), binlog_gtid_pos('x',-5)"),
        ["|NULL|NULL|NULL"]
    );
    // KILL QUERY ends the wait.
    let stop = c.0.interrupt_handle();
    let t = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        stop(false);
    });
    assert_eq!(c.code("select master_gtid_wait('0-1-1')").0, 1317);
    t.join().unwrap();
}

#[test]
fn limits_of_transactions() {
    let s = Server::start();
    let mut c = s.root();
    c.run("create database d");
    c.run("create table d.t (a int primary key, b text)");
    assert_eq!(
        c.rows("select @@max_binlog_cache_size, @@binlog_oob_threshold"),
        ["18446744073709547520|1048576"]
    );
    c.run("set global max_binlog_cache_size=4096");
    c.run("begin");
    c.run("insert into d.t values (1, repeat('x', 5000))");
    assert_eq!(
        c.code("insert into d.t values (2, 'y')"),
        (1197, "HY000".into())
    );
    c.run("rollback");
    c.run("set global max_binlog_cache_size=default");
    c.run("insert into d.t values (1, repeat('x', 5000)), (2, 'y')");
}
