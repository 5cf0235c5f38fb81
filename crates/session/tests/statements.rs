//! Statements, transactions, prepared statements and SHOW through a session, on a real database.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::{Memory, Server};
use narwal_session::flags;
use narwal_types::ValueRef;

fn with_table() -> (Server, common::Conn) {
    let s = Server::start();
    let mut c = s.root();
    c.run("create database d");
    c.run("use d");
    c.run("create table t (id int not null auto_increment primary key, k int default 0, c varchar(20) not null default 'x' comment 'hi', unique key uc (c(5)), key kk (k))");
    (s, c)
}

#[test]
fn autocommit_and_explicit_transactions() {
    let (s, mut a) = with_table();
    let mut b = s.root();
    b.run("use d");
    assert_eq!(
        a.run("insert into t (k, c) values (1, 'a')").status,
        flags::AUTOCOMMIT
    );
    assert_eq!(b.one("select count(*) from t"), "1");
    assert_eq!(a.run("begin").status, flags::AUTOCOMMIT | flags::IN_TRANS);
    a.run("insert into t (k, c) values (2, 'b')");
    assert_eq!(a.one("select @@in_transaction"), "1");
    assert_eq!(b.one("select count(*) from t"), "1");
    a.run("commit");
    assert_eq!(b.one("select count(*) from t"), "2");
    a.run("start transaction");
    a.run("delete from t");
    a.run("rollback");
    assert_eq!(a.one("select count(*) from t"), "2");
    // autocommit=0: the first statement begins.
    assert_eq!(a.run("set autocommit=0").status, 0);
    assert_eq!(a.run("select 1").status, 0);
    assert_eq!(
        a.run("insert into t (k, c) values (3, 'c')").status,
        flags::IN_TRANS
    );
    assert_eq!(b.one("select count(*) from t"), "2");
    a.run("set autocommit=1");
    assert_eq!(b.one("select count(*) from t"), "3");
    // DDL commits.
    a.run("begin");
    a.run("insert into t (k, c) values (4, 'd')");
    a.run("create table u (a int)");
    a.run("rollback");
    assert_eq!(b.one("select count(*) from t"), "4");
}

#[test]
fn a_failed_statement_leaves_the_transaction_and_no_trace() {
    let (_s, mut c) = with_table();
    c.run("begin");
    c.run("insert into t (c) values ('a')");
    assert_eq!(
        c.code("insert into t (c) values ('b'), ('a')"),
        (1062, "23000".into())
    );
    assert_eq!(c.one("select row_count()"), "-1");
    assert_eq!(c.rows("select c from t"), ["a"]);
    c.run("commit");
    assert_eq!(c.one("select count(*) from t"), "1");
    let e = c.err("select * from nope");
    assert_eq!(e.code, 1146);
    assert_eq!(c.rows("show errors"), [format!("Error|1146|{}", e.message)]);
    assert_eq!(c.one("show count(*) errors"), "1");
    // A SELECT without a table leaves the diagnostics alone, unless it has its own.
    assert_eq!(c.rows("select @@error_count, @@warning_count"), ["1|1"]);
    assert_eq!(c.run("select 1").warnings, 0);
    assert_eq!(c.one("show count(*) errors"), "1");
    assert_eq!(c.run("select 1/0").warnings, 1);
    assert_eq!(c.run("select @nosuch").warnings, 0);
    assert_eq!(c.run("show warnings").warnings, 0);
    assert_eq!(c.rows("show warnings"), ["Warning|1365|Division by 0"]);
    // A failed one's error takes their place.
    let e = c.err("select nope");
    assert_eq!(
        c.rows("show warnings"),
        [format!("Error|1054|{}", e.message)]
    );
    // A statement with a table starts a list of its own.
    c.run("select 1/0");
    assert_eq!(c.run("select count(*) from t").warnings, 0);
    assert_eq!(c.rows("show warnings").len(), 0);
}

#[test]
fn savepoints() {
    let (_s, mut c) = with_table();
    assert_eq!(c.code("rollback to a"), (1305, "42000".into()));
    assert_eq!(
        &*c.err("release savepoint a").message,
        "SAVEPOINT a does not exist"
    );
    c.run("begin");
    c.run("insert into t (c) values ('1')");
    c.run("savepoint a");
    c.run("insert into t (c) values ('2')");
    c.run("savepoint b");
    c.run("insert into t (c) values ('3')");
    c.run("rollback to a");
    assert_eq!(c.code("rollback to b").0, 1305);
    c.run("insert into t (c) values ('4')");
    c.run("release savepoint A");
    assert_eq!(c.code("rollback to a").0, 1305);
    c.run("commit");
    assert_eq!(c.rows("select c from t order by id"), ["1", "4"]);
}

#[test]
fn read_only_transactions_and_servers() {
    let (s, mut c) = with_table();
    let a = c.run("start transaction read only");
    assert_eq!(
        a.status,
        flags::AUTOCOMMIT | flags::IN_TRANS | flags::IN_TRANS_READONLY
    );
    assert_eq!(
        c.code("insert into t (c) values ('1')"),
        (1792, "25006".into())
    );
    // DDL ends the transaction and is none of it.
    c.run("create table u (a int)");
    assert_eq!(c.0.status_flags(), flags::AUTOCOMMIT);
    c.run("set session transaction read only");
    assert_eq!(c.code("create table u2 (a int)").0, 1792);
    assert_eq!(c.code("create user u2").0, 1792);
    assert_eq!(c.code("insert into t (c) values ('1')").0, 1792);
    c.run("set session transaction read write");
    c.run("set transaction read only");
    assert_eq!(c.code("delete from t").0, 1792);
    assert_eq!(
        c.code("begin; set transaction isolation level serializable"),
        (1568, "25001".into())
    );
    c.run("rollback");
    c.run("create user u@localhost");
    c.run("grant all on d.* to u@localhost");
    c.run("set global read_only=1");
    c.run("insert into t (c) values ('root may')");
    let mut u = s.user("u").unwrap();
    assert_eq!(
        u.code("insert into d.t (c) values ('u may not')"),
        (1290, "HY000".into())
    );
    c.run("set global read_only=0");
    u.run("insert into d.t (c) values ('now u may')");
}

#[test]
fn conflicts_roll_back_the_transaction_but_timeouts_only_the_statement() {
    let (s, mut a) = with_table();
    a.run("insert into t (id, c) values (1, 'x'), (2, 'y')");
    let mut b = s.root();
    b.run("use d");
    // First updater wins.
    a.run("begin");
    a.run("select * from t");
    b.run("update t set k = 5 where id = 1");
    a.run("update t set k = 7 where id = 2");
    assert_eq!(a.code("update t set k = 6 where id = 1").0, 1020);
    assert_eq!(a.run("select 1").status, flags::AUTOCOMMIT);
    assert_eq!(a.rows("select k from t order by id"), ["5", "0"]);
    // Lock wait.
    b.run("set innodb_lock_wait_timeout=1");
    a.run("begin");
    a.run("update t set k = 8 where id = 1");
    b.run("begin");
    b.run("update t set k = 9 where id = 2");
    assert_eq!(
        b.code("update t set k = 9 where id = 1"),
        (1205, "HY000".into())
    );
    b.run("commit");
    a.run("commit");
    assert_eq!(a.rows("select k from t order by id"), ["8", "9"]);
}

#[test]
fn several_statements_in_one_query() {
    let (_s, mut c) = with_table();
    let r = c
        .all("insert into t (c) values (';'); select c from t; /* x ; y */ set @a = 1;")
        .unwrap();
    assert_eq!(
        r.iter().map(|a| a.more).collect::<Vec<_>>(),
        [true, true, false]
    );
    assert_eq!(r[1].rows, [[";"]]);
    // An error ends the query; what came before stays.
    assert_eq!(
        c.code("insert into t (c) values ('q'); select * from nope; delete from t")
            .0,
        1146
    );
    assert_eq!(c.one("select count(*) from t"), "2");
    c.0.set_multi_statements(false);
    assert_eq!(c.code("select 1; select 2").0, 1064);
    c.run("select 1;");
    assert_eq!(c.code(""), (1065, "42000".into()));
    assert_eq!(c.code(" ; ;").0, 1065);
    // As MariaDB: comments alone are nothing to do.
    c.run("/* nothing */");
    c.run("-- nothing");
    c.run("/*!80000 SET @y = 1 */;");
    assert_eq!(c.one("select @y is null"), "1");
    c.run("/*!40101 SET @x = 1 */;");
    assert_eq!(c.one("select @x"), "1");
    let mut m = Memory::default();
    c.0.query(b"select '\xff'", &mut m).unwrap();
}

#[test]
fn prepared_statements() {
    let (_s, mut c) = with_table();
    let p = c.0.prepare(b"insert into t (k, c) values (?, ?)").unwrap();
    assert_eq!((p.params, p.columns.len()), (2, 0));
    for i in 0..3 {
        let mut m = Memory::default();
        let name = format!("n{i}");
        c.0.execute(
            p.handle,
            &[ValueRef::Int(i), ValueRef::Str(name.as_bytes())],
            &[],
            &mut m,
        )
        .unwrap();
        let ok = m.0[0].ok.clone().unwrap();
        assert_eq!((ok.affected_rows, ok.last_insert_id), (1, i as u64 + 1));
    }
    let q = c.0.prepare(b"select k, c from t where id = ?").unwrap();
    assert_eq!(
        q.columns
            .iter()
            .map(|c| c.name.as_str())
            .collect::<Vec<_>>(),
        ["k", "c"]
    );
    let get = |c: &mut common::Conn, id: i64| {
        let mut m = Memory::default();
        c.0.execute(q.handle, &[ValueRef::Int(id)], &[], &mut m)
            .map(|()| m.0[0].rows.clone())
    };
    assert_eq!(get(&mut c, 2).unwrap(), [["1", "n1"]]);
    // A change of the catalog makes a new plan.
    c.run("drop index uc on t");
    assert_eq!(get(&mut c, 3).unwrap(), [["2", "n2"]]);
    c.run("drop table t");
    assert_eq!(get(&mut c, 3).unwrap_err().code, 1146);
    let mut m = Memory::default();
    assert_eq!(
        c.0.execute(q.handle, &[], &[], &mut m).unwrap_err().code,
        1146
    );
    c.0.close_statement(q.handle);
    assert_eq!(get(&mut c, 3).unwrap_err().code, 1243);
    // Control statements can be prepared too.
    let b = c.0.prepare(b"begin").unwrap();
    c.0.execute(b.handle, &[], &[], &mut m).unwrap();
    assert_eq!(c.0.status_flags(), flags::AUTOCOMMIT | flags::IN_TRANS);
    assert_eq!(c.0.prepare(b"set @a = ?").unwrap().params, 1);
    assert_eq!(
        c.0.prepare(b"show databases").unwrap().columns[0].name,
        "Database"
    );
    assert_eq!(c.0.prepare(b"").unwrap_err().code, 1065);
    assert_eq!(c.0.prepare(b"select 1; select 2").unwrap_err().code, 1064);
    c.run("set global max_prepared_stmt_count=0");
    assert_eq!(c.0.prepare(b"select 1").unwrap_err().code, 1461);
    assert_eq!(c.code("prepare s from 'select 1'").0, 1461);
}

#[test]
fn show_about_tables_as_mariadb_prints_it() {
    let (_s, mut c) = with_table();
    c.run("create table `u``v` (a int)");
    assert_eq!(
        c.rows("show databases"),
        ["d", "information_schema", "performance_schema", "sys"]
    );
    assert_eq!(c.run("show databases like 'd%'").columns, ["Database (d%)"]);
    let a = c.run("show tables");
    assert_eq!((a.columns[0].as_str(), a.rows.len()), ("Tables_in_d", 2));
    assert_eq!(c.run("show tables like 't%'").columns, ["Tables_in_d (t%)"]);
    assert_eq!(
        c.rows("show full tables where table_type = 'BASE TABLE' and tables_in_d = 't'"),
        ["t|BASE TABLE"]
    );
    assert_eq!(
        c.rows("describe t"),
        [
            "id|int(11)|NO|PRI|NULL|auto_increment",
            "k|int(11)|YES|MUL|0|",
            "c|varchar(20)|NO|UNI|x|"
        ]
    );
    assert_eq!(
        c.rows("show columns from t like 'k'"),
        ["k|int(11)|YES|MUL|0|"]
    );
    assert_eq!(
        c.rows("show full columns from t where Field = 'c'"),
        ["c|varchar(20)|utf8mb4_general_ci|NO|UNI|x||select,insert,update,references|hi"]
    );
    assert_eq!(
        c.rows("show index from t")
            .iter()
            .map(|r| r.split('|').take(5).collect::<Vec<_>>().join("|"))
            .collect::<Vec<_>>(),
        ["t|0|PRIMARY|1|id", "t|0|uc|1|c", "t|1|kk|1|k"]
    );
    let create = c.rows("show create table t");
    assert!(
        create[0].starts_with("t|CREATE TABLE `t` (\n  `id` int(11) NOT NULL AUTO_INCREMENT,"),
        "{create:?}"
    );
    assert_eq!(
        c.rows("show create database d"),
        [
            "d|CREATE DATABASE `d` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci */"
        ]
    );
    assert_eq!(c.run("show table status like 't'").rows[0][1], "InnoDB");
    assert_eq!(c.code("show tables from nodb"), (1049, "42000".into()));
    assert_eq!(c.code("show columns from nope"), (1146, "42S02".into()));
    assert_eq!(c.code("use nodb"), (1049, "42000".into()));
    assert_eq!(s_db(&mut c), "d");
    c.run("drop database d");
    assert_eq!(s_db(&mut c), "NULL");
    assert_eq!(c.code("show tables"), (1046, "3D000".into()));
}

fn s_db(c: &mut common::Conn) -> String {
    c.one("select database()")
}

#[test]
fn check_table_reads_every_index() {
    let (_s, mut c) = with_table();
    for i in 0..50 {
        c.run(&format!("insert into t (k, c) values ({i}, 'v{i}')"));
    }
    c.run("update t set k = k + 1000, c = concat('w', id) where id % 3 = 0");
    c.run("delete from t where id % 7 = 0");
    assert_eq!(c.rows("check table t"), ["d.t|check|status|OK"]);
    assert_eq!(
        c.rows("check table nope")[0],
        "d.nope|check|Error|Table 'd.nope' doesn't exist"
    );
    c.run("analyze table t");
    c.run("optimize table t");
}

#[test]
fn server_lists() {
    let (s, mut c) = with_table();
    let mut b = s.root();
    let list = c.rows("show processlist");
    assert_eq!(list.len(), 2);
    assert!(
        list[0].contains("|root|localhost|d|Query|0|") && list[0].contains("show processlist"),
        "{list:?}"
    );
    assert!(list[1].contains("|root|localhost|NULL|Sleep|"), "{list:?}");
    c.run("insert into t (c) values ('s')");
    assert_eq!(c.rows("show status like 'Com_insert'"), ["Com_insert|1"]);
    assert_eq!(b.rows("show status like 'Com_insert'"), ["Com_insert|0"]);
    assert_eq!(
        b.rows("show global status like 'Com_insert'"),
        ["Com_insert|1"]
    );
    c.run("insert into t (c) values ('r')");
    drop(c);
    assert_eq!(
        b.rows("show global status like 'Com_insert'"),
        ["Com_insert|2"]
    );
    assert_eq!(
        b.rows("show global status like 'Threads_connected'"),
        ["Threads_connected|1"]
    );
    assert_eq!(
        b.run("show master status").columns,
        ["File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB"]
    );
    assert!(b.rows("show engines")[0].starts_with("InnoDB|DEFAULT|"));
    assert_eq!(
        b.rows("show collation like 'utf8mb4_general_ci'"),
        ["utf8mb4_general_ci|utf8mb4|45|Yes|Yes|1"]
    );
    assert_eq!(b.rows("show character set where Charset='binary'").len(), 1);
    b.run("show engines; show plugins; show privileges; show triggers from mysql; show events from mysql; show procedure status; show replica status; show open tables");
    b.run("flush privileges, engine logs; flush tables; flush status; unlock tables");
    assert!(b.0.statistics().starts_with("Uptime: "));
}

#[test]
fn kill_stops_a_statement_of_another() {
    let (s, mut c) = with_table();
    let mut b = s.root();
    let id = b.one("select connection_id()");
    assert_eq!(c.code("kill 999999"), (1094, "HY000".into()));
    let t = std::thread::spawn(move || {
        let e = b.err("select sleep(30)");
        (e.code, b)
    });
    // Until the statement runs, a KILL QUERY would be void.
    while !c
        .rows("show full processlist")
        .iter()
        .any(|r| r.contains("sleep(30)"))
    {
        std::thread::yield_now();
    }
    std::thread::sleep(std::time::Duration::from_millis(20));
    c.run(&format!("kill query {id}"));
    let (code, mut b) = t.join().unwrap();
    assert_eq!(code, 1317);
    assert_eq!(b.one("select 1"), "1");
    c.run(&format!("kill {id}"));
    assert!(b.0.wants_to_end());
    assert_eq!(c.code("kill query connection_id()").0, 1317);
}

#[test]
fn chains_and_release() {
    let (_s, mut c) = with_table();
    c.run("start transaction read only");
    assert_eq!(
        c.run("commit and chain").status & flags::IN_TRANS_READONLY,
        flags::IN_TRANS_READONLY
    );
    assert_eq!(c.run("rollback").status, flags::AUTOCOMMIT);
    c.run("set completion_type=chain");
    assert_eq!(c.run("commit").status, flags::AUTOCOMMIT | flags::IN_TRANS);
    c.run("commit and no chain");
    c.run("commit release");
    assert!(c.0.wants_to_end());
}
