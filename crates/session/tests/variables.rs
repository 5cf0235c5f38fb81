//! Variables, SET and SHOW VARIABLES through a session.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::Server;

#[test]
fn what_drivers_ask_at_connect() {
    let s = Server::start();
    let mut c = s.root();
    assert!(c.one("SELECT @@version").contains("MariaDB"));
    assert_eq!(
        c.run("SELECT @@version_comment LIMIT 1").columns,
        ["@@version_comment"]
    );
    assert_eq!(c.one("select @@autocommit"), "1");
    assert_eq!(c.one("select @@tx_isolation"), "REPEATABLE-READ");
    assert_eq!(c.one("select @@transaction_isolation"), "REPEATABLE-READ");
    assert_eq!(
        c.one("SELECT @@session.sql_mode"),
        "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
    );
    for v in [
        "auto_increment_increment",
        "character_set_client",
        "character_set_connection",
        "character_set_results",
        "character_set_server",
        "collation_server",
        "collation_connection",
        "init_connect",
        "interactive_timeout",
        "license",
        "lower_case_table_names",
        "max_allowed_packet",
        "net_write_timeout",
        "performance_schema",
        "query_cache_size",
        "query_cache_type",
        "system_time_zone",
        "time_zone",
        "tx_read_only",
        "wait_timeout",
        "hostname",
        "port",
        "socket",
        "datadir",
        "have_ssl",
        "log_bin",
        "server_id",
        "gtid_domain_id",
        "gtid_binlog_pos",
        "gtid_current_pos",
        "binlog_format",
        "innodb_flush_log_at_trx_commit",
        "last_insert_id",
        "warning_count",
        "error_count",
        "in_transaction",
        "version_compile_os",
        "max_statement_time",
    ] {
        c.run(&format!("select @@{v}"));
    }
    assert_eq!(c.rows("select @@socket, @@port"), ["|3306"]);
}

#[test]
fn set_and_its_errors() {
    let s = Server::start();
    let mut c = s.root();
    for (sql, code, state) in [
        ("set @@nope=1", 1193, "HY000"),
        ("select @@nope", 1193, "HY000"),
        ("set autocommit='abc'", 1231, "42000"),
        ("set autocommit=2", 1231, "42000"),
        ("set autocommit=1.5", 1232, "42000"),
        ("set global max_allowed_packet='abc'", 1232, "42000"),
        ("set max_connections=5", 1229, "HY000"),
        ("set session max_allowed_packet=1000000", 1621, "HY000"),
        ("set global timestamp=1", 1228, "HY000"),
        ("set version='x'", 1238, "HY000"),
        ("set innodb_flush_log_at_trx_commit=1", 1229, "HY000"),
        ("set global binlog_format='foo'", 1231, "42000"),
        ("set sql_mode='foo'", 1231, "42000"),
        ("set tx_isolation='foo'", 1231, "42000"),
        ("set session transaction isolation level foo", 1064, "42000"),
        ("set time_zone='foo/bar'", 1298, "HY000"),
        ("set names foo", 1115, "42000"),
        ("set names utf8mb4 collate utf8mb3_bin", 1253, "42000"),
        ("set character_set_client=null", 1231, "42000"),
        ("set collation_connection='foo'", 1273, "HY000"),
        (
            "select @@session.innodb_flush_log_at_trx_commit",
            1238,
            "HY000",
        ),
        ("select @@global.timestamp", 1238, "HY000"),
        ("set warning_count=1", 1238, "HY000"),
        ("set global foo.bar=1", 4081, "HY000"),
        ("set default_storage_engine=foo", 1286, "42000"),
        ("set sql_log_bin=2", 1231, "42000"),
        ("set global log_bin_compress=1", 1235, "42000"),
        ("set foreign_key_checks=2", 1231, "42000"),
    ] {
        assert_eq!(c.code(sql), (code, state.to_string()), "{sql}");
    }
    c.run("set session tx_isolation='serializable', sql_select_limit=5, @x='a'");
    assert_eq!(
        c.rows("select @@tx_isolation, @@sql_select_limit, @x, @X, @y"),
        ["SERIALIZABLE|5|a|a|NULL"]
    );
    c.run("set tx_isolation=default, sql_select_limit=default");
    assert_eq!(c.one("select @@tx_isolation"), "REPEATABLE-READ");
    c.run("set timestamp=100");
    assert_eq!(c.one("select unix_timestamp()"), "100");
    c.run("set timestamp=default");
    assert!(c.one("select unix_timestamp()").parse::<u64>().unwrap() > 1_700_000_000);
    c.run("set last_insert_id=5");
    assert_eq!(
        c.rows("select last_insert_id(), @@last_insert_id, @@identity"),
        ["5|5|5"]
    );
    c.run("SET NAMES utf8mb4 COLLATE utf8mb4_bin");
    assert_eq!(
        c.rows("show variables like 'c%\\_connection'"),
        [
            "character_set_connection|utf8mb4",
            "collation_connection|utf8mb4_bin"
        ]
    );
    // Nothing is assigned if one part is wrong.
    assert_eq!(c.code("set @z=1, autocommit=7").0, 1231);
    assert_eq!(c.one("select @z"), "NULL");
    assert_eq!(
        c.rows("show session variables where variable_name in ('autocommit','log_bin')"),
        ["autocommit|ON", "log_bin|ON"]
    );
}

#[test]
fn a_setting_without_effect_says_so() {
    let s = Server::start();
    let mut c = s.root();
    assert_eq!(c.run("set global sync_binlog=0").warnings, 1);
    assert!(c.rows("show warnings")[0].starts_with("Warning|1105|sync_binlog has no effect"));
    assert_eq!(c.one("show count(*) warnings"), "1");
    assert_eq!(c.one("select @@warning_count"), "1");
    assert_eq!(c.one("select @@sync_binlog"), "0");
    assert_eq!(c.run("set global sync_binlog=0").warnings, 0);
    c.run("set global innodb_flush_log_at_trx_commit=7");
    assert_eq!(
        c.rows("show warnings"),
        ["Warning|1292|Truncated incorrect innodb_flush_log_at_trx_commit value: '7'"]
    );
    assert_eq!(c.one("select @@innodb_flush_log_at_trx_commit"), "3");
}

#[test]
fn global_values_reach_new_sessions_only() {
    let s = Server::start();
    let (mut a, mut b) = (s.root(), s.root());
    a.run("set global wait_timeout=77");
    assert_eq!(b.one("select @@wait_timeout"), "28800");
    assert_eq!(b.one("select @@global.wait_timeout"), "77");
    assert_eq!(s.root().one("select @@wait_timeout"), "77");
    b.0.reset().unwrap();
    assert_eq!(b.one("select @@wait_timeout"), "77");
}

#[test]
fn user_variables_and_reset() {
    let s = Server::start();
    let mut c = s.root();
    c.run("set @a := 5, @`b` = concat('x', 1+1)");
    assert_eq!(c.rows("select @a, @b, @a+1"), ["5|x2|6"]);
    c.0.reset().unwrap();
    assert_eq!(c.one("select @a"), "NULL");
}

#[test]
fn a_statement_ends_at_its_time_limit() {
    let s = Server::start();
    let mut c = s.root();
    c.run("set max_statement_time=0.05");
    let e = c.err("select sleep(20)");
    assert_eq!((e.code, e.sqlstate_str()), (1969, "70100"));
    c.run("set max_statement_time=0");
    assert_eq!(c.one("select sleep(0.06)"), "0");
}

#[test]
fn set_statement_holds_for_one_statement() {
    let s = Server::start();
    let mut c = s.root();
    c.run("create database d");
    c.run("use d");
    c.run("create table t (i int)");
    for (sql, answer) in [
        (
            "set statement max_statement_time=60 for select @@max_statement_time",
            "60",
        ),
        (
            "set statement max_statement_time=60, sql_mode='' for select @@sql_mode",
            "",
        ),
        (
            "set statement max_statement_time=(1+1) for select @@max_statement_time",
            "2",
        ),
        (
            "/* a */ Set Statement sql_select_limit=1, sql_select_limit=2 FOR select @@sql_select_limit -- for",
            "2",
        ),
        // Only the innermost settings hold.
        (
            "set statement max_statement_time=1 for set statement sql_mode='' for select @@max_statement_time",
            "0",
        ),
        (
            "set statement timestamp=1000 for select unix_timestamp()",
            "1000",
        ),
    ] {
        assert_eq!(c.one(sql), answer, "{sql}");
    }
    assert_eq!(
        c.rows("select @@max_statement_time, @@sql_select_limit, @@sql_mode = @@global.sql_mode, now() > '2000-01-01'"),
        ["0|18446744073709551615|1|1"]
    );
    // Transactions and SET work under it; what the inner SET sets of the same variable ends too.
    c.run("set statement max_statement_time=60 for start transaction with consistent snapshot");
    assert_eq!(c.one("select @@in_transaction"), "1");
    c.run("set statement max_statement_time=60 for rollback");
    assert_eq!(c.one("select @@in_transaction"), "0");
    c.run("set statement max_statement_time=60 for set max_statement_time=5, sql_select_limit=7");
    assert_eq!(
        c.rows("select @@max_statement_time, @@sql_select_limit"),
        ["0|7"]
    );
    c.run("set statement sql_mode='' for insert into t values ('x')");
    for (sql, code, state) in [
        ("insert into t values ('x')", 1366, "22007"),
        (
            "set statement max_statement_time=60 for select nope",
            1054,
            "42S22",
        ),
        ("set statement nope=1 for select 1", 1193, "HY000"),
        ("set statement autocommit=0 for select 1", 1971, "42000"),
        (
            "set statement max_connections=10 for select 1",
            1229,
            "HY000",
        ),
        ("set statement @a=1 for select @a", 1064, "42000"),
        (
            "set statement global max_statement_time=1 for select 1",
            1064,
            "42000",
        ),
        ("set statement names utf8 for select 1", 1064, "42000"),
        (
            "set statement max_statement_time=1, for select 1",
            1064,
            "42000",
        ),
        ("set statement max_statement_time=1 select 1", 1064, "42000"),
        ("set statement max_statement_time=1 for", 1064, "42000"),
        ("set statement for select 1", 1064, "42000"),
        ("set statement", 1064, "42000"),
        (
            "set statement max_statement_time=0.05 for select sleep(3)",
            1969,
            "70100",
        ),
    ] {
        assert_eq!(c.code(sql), (code, state.to_string()), "{sql}");
    }
    assert_eq!(c.rows("select @@max_statement_time, @@autocommit"), ["0|1"]);
    // Nesting costs no stack.
    let deep = "set statement sql_mode='' for ".repeat(20_000) + "select 1";
    assert_eq!(c.one(&deep), "1");
}
