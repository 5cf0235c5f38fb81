//! Accounts and privileges through sessions.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::Server;

fn server() -> Server {
    let s = Server::start();
    let mut r = s.root();
    for q in [
        "create database d",
        "create database d2",
        "create table d.t (id int primary key, k int)",
        "create table d2.z (i int)",
        "create user p1@localhost, p2@localhost identified by 'geheim', p3@localhost",
        "grant select on d.t to p1@localhost",
        "grant insert, update on d2.* to p2@localhost",
        "grant create user on *.* to p3@localhost",
    ] {
        r.run(q);
    }
    s
}

#[test]
fn what_a_user_without_privileges_is_told() {
    let s = server();
    let mut c = s.user("p1").unwrap();
    for (sql, code, text) in [
        (
            "use d2",
            1044,
            "Access denied for user 'p1'@'localhost' to database 'd2'",
        ),
        (
            "use nodb",
            1044,
            "Access denied for user 'p1'@'localhost' to database 'nodb'",
        ),
        (
            "select * from d2.z",
            1142,
            "SELECT command denied to user 'p1'@'localhost' for table `d2`.`z`",
        ),
        (
            "select * from d2.nope",
            1142,
            "SELECT command denied to user 'p1'@'localhost' for table `d2`.`nope`",
        ),
        (
            "insert into d.t values(1,1)",
            1142,
            "INSERT command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
        (
            "update d.t set k=1",
            1142,
            "UPDATE command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
        (
            "delete from d.t",
            1142,
            "DELETE command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
        (
            "replace into d.t values(1,1)",
            1142,
            "INSERT, DELETE command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
        (
            "drop table d.t",
            1142,
            "DROP command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
        (
            "truncate table d.t",
            1142,
            "DROP command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
        (
            "create table d.q (i int)",
            1142,
            "CREATE command denied to user 'p1'@'localhost' for table `d`.`q`",
        ),
        (
            "create index x on d.t(k)",
            1142,
            "INDEX command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
        (
            "create database zz",
            1044,
            "Access denied for user 'p1'@'localhost' to database 'zz'",
        ),
        (
            "drop database d",
            1044,
            "Access denied for user 'p1'@'localhost' to database 'd'",
        ),
        (
            "show tables from d2",
            1044,
            "Access denied for user 'p1'@'localhost' to database 'd2'",
        ),
        (
            "show columns from d2.z",
            1142,
            "SELECT command denied to user 'p1'@'localhost' for table `d2`.`z`",
        ),
        (
            "show create table d2.z",
            1142,
            "SHOW command denied to user 'p1'@'localhost' for table `d2`.`z`",
        ),
        (
            "create user x",
            1227,
            "Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation",
        ),
        (
            "grant select on d.t to p2@localhost",
            1142,
            "GRANT command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
        (
            "grant select on d.* to p2@localhost",
            1044,
            "Access denied for user 'p1'@'localhost' to database 'd'",
        ),
        (
            "grant select on *.* to p2@localhost",
            1045,
            "Access denied for user 'p1'@'localhost' (using password: NO)",
        ),
        (
            "set global max_connections=10",
            1227,
            "Access denied; you need (at least one of) the SUPER, CONNECTION ADMIN privilege(s) for this operation",
        ),
        (
            "set global innodb_flush_log_at_trx_commit=1",
            1227,
            "Access denied; you need (at least one of) the SUPER privilege(s) for this operation",
        ),
        (
            "set global binlog_commit_wait_count=1",
            1227,
            "Access denied; you need (at least one of) the SUPER, BINLOG ADMIN privilege(s) for this operation",
        ),
        (
            "set global read_only=1",
            1227,
            "Access denied; you need (at least one of) the READ_ONLY ADMIN privilege(s) for this operation",
        ),
        (
            "set sql_log_bin=0",
            1227,
            "Access denied; you need (at least one of) the SUPER, BINLOG ADMIN privilege(s) for this operation",
        ),
        (
            "show master status",
            1227,
            "Access denied; you need (at least one of) the SUPER, BINLOG MONITOR privilege(s) for this operation",
        ),
        (
            "show grants for root@localhost",
            1044,
            "Access denied for user 'p1'@'localhost' to database 'mysql'",
        ),
        (
            "set password for p2@localhost=password('')",
            1044,
            "Access denied for user 'p1'@'localhost' to database 'mysql'",
        ),
        (
            "flush tables",
            1227,
            "Access denied; you need (at least one of) the RELOAD privilege(s) for this operation",
        ),
        (
            "shutdown",
            1227,
            "Access denied; you need (at least one of) the SHUTDOWN privilege(s) for this operation",
        ),
        ("kill 1", 1094, "Unknown thread id: 1"),
        (
            "checksum table d2.z",
            1142,
            "SELECT command denied to user 'p1'@'localhost' for table `d2`.`z`",
        ),
        (
            "explain select * from d2.z",
            1142,
            "SELECT command denied to user 'p1'@'localhost' for table `d2`.`z`",
        ),
        (
            "analyze table d.t",
            1142,
            "INSERT command denied to user 'p1'@'localhost' for table `d`.`t`",
        ),
    ] {
        let e = c.err(sql);
        assert_eq!((e.code, &*e.message), (code, text), "{sql}");
    }
    assert_eq!(c.rows("show databases"), ["d", "information_schema"]);
    assert_eq!(c.rows("show tables from d"), ["t"]);
    c.run("select * from d.t");
    c.run("select * from d.t for update");
    c.run("check table d.t");
    assert_eq!(c.rows("show grants").len(), 2);
    let mut p2 = s.user("p2").unwrap();
    p2.run("insert into d2.z values (1)");
    p2.run("update d2.z set i = 1");
    assert_eq!(p2.code("delete from d2.z where i=1").0, 1142);
    let e = p2.err("update d2.z set i = i + 1");
    assert_eq!(
        (e.code, &*e.message),
        (
            1143,
            "SELECT command denied to user 'p2'@'localhost' for column 'i' in table 'z'"
        )
    );
    assert_eq!(p2.code("update d2.z set i = 1 where i = 2").0, 1143);
    p2.run("update d2.z set i = abs(-1), i = @x");
    assert_eq!(p2.code("insert into d2.z select k from d.t").0, 1142);
}

#[test]
fn user_statements_and_their_errors() {
    let s = server();
    let mut r = s.root();
    for (sql, code) in [
        ("create user p1@localhost", 1396),
        ("drop user nobody@x", 1396),
        ("alter user nobody@x identified by 'x'", 1396),
        ("grant select on *.* to nobody@x", 1133),
        ("grant select on d.nope to p1@localhost", 1146),
        ("grant file on d.* to p1@localhost", 1221),
        ("grant file on d.t to p1@localhost", 1144),
        ("revoke select on nodb.* from p1@localhost", 1141),
        ("revoke select on d.x from p1@localhost", 1147),
        ("show grants for nobody@x", 1141),
        ("show create user nobody@x", 1133),
        ("create user u identified by password 'abc'", 1372),
        ("create user u identified via nosuch using 'abc'", 1524),
        ("set password for nobody@x=password('a')", 1133),
        ("set password for p1@localhost='zz'", 1372),
        ("rename user nob to nob2", 1396),
    ] {
        assert_eq!(r.err(sql).code, code, "{sql}");
    }
    assert_eq!(
        &*r.err("drop user nobody@x").message,
        "Operation DROP USER failed for 'nobody'@'x'"
    );
    assert_eq!(r.run("create user if not exists p1@localhost").warnings, 1);
    assert_eq!(
        r.rows("show warnings"),
        ["Note|1973|Can't create user 'p1'@'localhost'; it already exists"]
    );
    r.run("drop user if exists nobody@x");
    assert_eq!(
        r.rows("show warnings"),
        ["Note|1974|Can't drop user 'nobody'@'x'; it doesn't exist"]
    );
    r.run("create user u1@localhost identified by 'x'");
    r.run("grant select, insert on d.t to u1@localhost");
    r.run("grant select on d.* to u1@localhost with grant option");
    r.run("grant all on d.t to u1@localhost");
    assert_eq!(
        r.rows("show grants for u1@localhost"),
        [
            "GRANT USAGE ON *.* TO `u1`@`localhost` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'",
            "GRANT SELECT ON `d`.* TO `u1`@`localhost` WITH GRANT OPTION",
            "GRANT ALL PRIVILEGES ON `d`.`t` TO `u1`@`localhost`",
        ]
    );
    // Who has GRANT OPTION may pass on what he has.
    let mut u1 = s.user("u1").unwrap();
    u1.run("grant select on d.* to p3@localhost");
    assert_eq!(u1.err("grant update on d.* to p3@localhost").code, 1044);
    r.run("revoke all privileges, grant option from u1@localhost");
    assert_eq!(r.rows("show grants for u1@localhost").len(), 1);
    assert_eq!(u1.err("select * from d.t").code, 1142);
    r.run("grant all on *.* to u1@localhost");
    u1.run("select * from d2.z");
    r.run("set password for u1@localhost = password('zz')");
    assert_eq!(
        r.rows("show create user u1@localhost"),
        [
            "CREATE USER `u1`@`localhost` IDENTIFIED BY PASSWORD '*D7D6F58029EDE62070BA204436DE23AC54D8BD8A'"
        ]
    );
    r.run(
        "create user sha@'%' identified via caching_sha2_password by 'x' require ssl account lock",
    );
    let shown = r.rows("show create user sha");
    assert!(
        shown[0].starts_with(
            "CREATE USER `sha`@`%` IDENTIFIED VIA caching_sha2_password USING '$A$005$"
        )
    );
    assert!(shown[0].ends_with("REQUIRE SSL ACCOUNT LOCK"));
    let a = s.instance.account("sha", "10.0.0.1", None).unwrap();
    assert!(a.locked && a.tls.is_some() && narwal_session::sha2_verify(b"x", &a.auth));
    r.run("rename user u1@localhost to u9@localhost");
    r.run("drop user u9@localhost, sha");
    // A dropped account's session keeps its global privileges, as in MariaDB.
    u1.run("select * from d2.z");
}

#[test]
fn accounts_survive_a_restart_and_root_can_be_dropped() {
    let s = server();
    s.root().run("drop user root@'::1'");
    s.root()
        .run("alter user root@localhost identified by 'new'");
    let s = s.restart();
    assert!(s.instance.account("root", "::1", Some("::1")).is_none());
    let root = s.instance.account("root", "localhost", None).unwrap();
    assert_eq!(root.auth, narwal_session::native_hash("new"));
    assert!(s.instance.account("p1", "localhost", None).is_some());
    assert_eq!(s.user("p1").unwrap().rows("show grants").len(), 2);
    assert!(
        s.instance
            .account("p1", "10.1.1.1", Some("10.1.1.1"))
            .is_none()
    );
}

#[test]
fn other_users_processes_are_hidden() {
    let s = server();
    let mut p1 = s.user("p1").unwrap();
    let mut r = s.root();
    assert_eq!(p1.rows("show processlist").len(), 1);
    assert_eq!(r.rows("show processlist").len(), 2);
    let id = r.one("select connection_id()");
    assert_eq!(p1.err(&format!("kill {id}")).code, 1094);
}
