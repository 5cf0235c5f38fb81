//! What texts come to.

use super::{Work, admin_statement};
use crate::acl::Lifetime;
use crate::acl::TlsNeed;
use crate::admin::*;
use crate::privileges::PrivilegeSet;
use crate::replica::{ChangeMaster, StartWhat, Threads, Until, UseGtid};
use narwal_engine::Isolation;
use narwal_sql::ParseOptions;
use narwal_syntax::Statement;
use narwal_types::{SqlError, SqlResult};
use std::collections::BTreeSet;

/// An administrative statement's text as the session runs it.
pub(crate) fn lowered(text: &str) -> SqlResult<Admin> {
    match narwal_syntax::parse_statement(text, &ParseOptions::default())? {
        Statement::Admin(a) => admin_statement(*a),
        other => Err(SqlError::unknown(format!("{other:?}"))),
    }
}

fn p(text: &str) -> Admin {
    lowered(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn code(text: &str) -> u16 {
    lowered(text).unwrap_err().code
}

fn named(user: &str, host: &str) -> UserName {
    UserName::Named {
        user: user.into(),
        host: host.into(),
        bare: host == "%",
    }
}

fn source(n: &str) -> Target {
    Target::Named(n.into())
}

/// A part of SET: what it is, its name and its value.
fn words_of(item: &SetItem) -> (String, String, String) {
    let text = |t: &Option<String>| t.clone().unwrap_or_default();
    match item {
        SetItem::System { scope, name, value } => {
            let value = match value {
                SetValue::Expr(e) => e.text.clone(),
                other => format!("{other:?}"),
            };
            (format!("{scope:?}"), name.clone(), value)
        }
        SetItem::User { name, value } => ("user".into(), name.clone(), value.text.clone()),
        SetItem::Names { charset, collation } => ("names".into(), text(charset), text(collation)),
        SetItem::Charset(c) => ("charset".into(), text(c), String::new()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn whose_statements_they_are() {
    let work = |text: &str| {
        let options = ParseOptions::default();
        let statement = narwal_syntax::parse_statement(text, &options);
        statement.and_then(|s| super::work(s, &options))
    };
    for t in [
        "select 1",
        "(select 1)",
        "INSERT into t values (1)",
        "create table t (a int)",
        "create or replace table t (a int)",
        "drop table t",
        "explain select 1",
        "explain (select 1)",
        "desc select 1",
        "truncate t",
        "alter table t add index (a)",
        "checksum table t",
        "do 1",
    ] {
        assert!(matches!(work(t), Ok(Work::Sql(_))), "{t}");
    }
    for t in [
        "create user u",
        "CREATE OR REPLACE USER u",
        "drop user u",
        "set a=1",
        "explain t",
        "desc t c",
        "/* c */ show tables",
        "analyze table t",
        "handler t open",
        "grant r to u",
        "set role none",
        "help 'x'",
        "show explain for 5",
        "binlog 'x'",
    ] {
        assert!(matches!(work(t), Ok(Work::Admin(_))), "{t}");
    }
    for t in ["call p()", "begin not atomic select 1; end"] {
        assert!(matches!(work(t), Ok(Work::Program(_))), "{t}");
    }
    assert!(matches!(work("handler t read first"), Ok(Work::Sql(_))));
    let e = work("reset master, slave").map(|_| ()).unwrap_err();
    assert_eq!((e.code, e.message.contains("RESET")), (1235, true), "{e}");
    assert_eq!(work("nonsense").map(|_| ()).unwrap_err().code, 1064);
}

#[test]
fn transactions() {
    assert_eq!(
        p("start transaction read only, with consistent snapshot"),
        Admin::Transaction(TransactionStatement::Begin {
            read_only: Some(true),
            snapshot: true
        })
    );
    assert_eq!(
        p("BEGIN WORK"),
        Admin::Transaction(TransactionStatement::Begin {
            read_only: None,
            snapshot: false
        })
    );
    assert_eq!(
        p("commit and chain no release"),
        Admin::Transaction(TransactionStatement::Commit {
            chain: Some(true),
            release: Some(false)
        })
    );
    assert_eq!(
        p("rollback work to savepoint `a b`"),
        Admin::Transaction(TransactionStatement::RollbackTo("a b".into()))
    );
    assert_eq!(code("begin foo"), 1064);
    assert_eq!(code("start transaction read only, read write"), 1064);
}

#[test]
fn set_forms() {
    let Admin::Set(items) = p(
        "SET @a := 1+(2,3), GLOBAL max_connections=5, wait_timeout = 7, @@session.sql_mode = '', \
         @@autocommit=ON, NAMES utf8mb4 COLLATE utf8mb4_bin, character set default, sql_mode=concat(@@sql_mode,',x')",
    ) else {
        panic!()
    };
    let sys = |scope, name: &str, value: &str| {
        (format!("{scope:?}"), name.to_string(), value.to_string())
    };
    let words: Vec<_> = items.iter().map(words_of).collect();
    assert_eq!(
        words,
        vec![
            ("user".to_string(), "a".to_string(), "1+(2,3)".to_string()),
            sys(SetScope::Global, "max_connections", "5"),
            // GLOBAL holds on until another scope is named.
            sys(SetScope::Global, "wait_timeout", "7"),
            sys(SetScope::Session, "sql_mode", "Str(\"\")"),
            sys(SetScope::Marked, "autocommit", "Word(\"ON\")"),
            ("names".into(), "utf8mb4".into(), "utf8mb4_bin".into()),
            ("charset".into(), String::new(), String::new()),
            sys(SetScope::Global, "sql_mode", "concat(@@sql_mode,',x')"),
        ]
    );
    assert_eq!(
        p("set session transaction isolation level read committed, read only"),
        Admin::Transaction(TransactionStatement::Set {
            scope: SetScope::Session,
            isolation: Some(Isolation::ReadCommitted),
            isolation_name: Some("READ-COMMITTED"),
            read_only: Some(true)
        })
    );
    assert_eq!(code("set transaction isolation level foo"), 1064);
    assert_eq!(code("set a"), 1064);
    assert_eq!(
        p("set password for u@localhost = password('x')"),
        Admin::Account(AccountStatement::SetPassword {
            user: named("u", "localhost"),
            password: GivenPassword::Plain("x".into())
        })
    );
}

#[test]
fn users_and_grants() {
    assert_eq!(
        p(
            "create user if not exists 'a b'@'%.example.com' identified by 'x', c identified via caching_sha2_password using password('y') require ssl account lock"
        ),
        Admin::Account(AccountStatement::CreateUser {
            or_replace: false,
            if_not_exists: true,
            users: vec![
                UserSpec {
                    name: named("a b", "%.example.com"),
                    auth: Some(AuthSpec::Password("x".into()))
                },
                UserSpec {
                    name: named("c", "%"),
                    auth: Some(AuthSpec::Plugin {
                        plugin: "caching_sha2_password".into(),
                        hash: None,
                        password: Some("y".into())
                    })
                },
            ],
            options: UserOptions {
                tls: Some(TlsNeed::Any),
                expire: None,
                lock: Some(true),
                limits: Vec::new(),
            }
        })
    );
    assert_eq!(
        p("grant select, insert, replication client on *.* to u@127.0.0.1 with grant option"),
        Admin::Account(AccountStatement::Grant {
            privileges: Privileges {
                whole: Some(
                    PrivilegeSet::SELECT
                        .with(PrivilegeSet::INSERT)
                        .with(PrivilegeSet::BINLOG_MONITOR)
                ),
                columns: Vec::new(),
            },
            level: Level::Global,
            users: vec![UserSpec {
                name: named("u", "127.0.0.1"),
                auth: None
            }],
            options: UserOptions::default(),
            grant_option: true
        })
    );
    assert_eq!(
        p("revoke all privileges on `d\\_%`.* from current_user()"),
        Admin::Account(AccountStatement::Revoke {
            privileges: Privileges::default(),
            level: Level::Database(Some("d\\_%".into())),
            users: vec![UserName::Current]
        })
    );
    assert_eq!(
        p("revoke all privileges, grant option from a, b@c"),
        Admin::Account(AccountStatement::RevokeEverything(vec![
            named("a", "%"),
            named("b", "c")
        ]))
    );
    let options = |text: &str| match p(text) {
        Admin::Account(AccountStatement::AlterUser { options, .. }) => options,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        options(
            "alter user u require issuer 'i' and subject 's' cipher 'c' password expire interval 5 day account unlock"
        ),
        UserOptions {
            tls: Some(TlsNeed::Specified {
                issuer: "i".into(),
                subject: "s".into(),
                cipher: Some("c".into())
            }),
            expire: Some(Expire::After(Lifetime::Days(5))),
            lock: Some(false),
            limits: Vec::new(),
        }
    );
    assert_eq!(
        options("alter user u account lock password expire").expire,
        Some(Expire::Now)
    );
    assert_eq!(code("alter user u require subject 'a' subject 'b'"), 1225);
    assert_eq!(code("alter user u require ssl and x509"), 1064);
    assert_eq!(code("alter user u account lock account lock"), 1064);
    assert_eq!(code("alter user u password expire interval 0 day"), 1525);
    assert_eq!(code("grant select on t to u account lock"), 1064);
    assert_eq!(
        p("grant select(a, b), update on t to r with max_queries_per_hour 3"),
        Admin::Account(AccountStatement::Grant {
            privileges: Privileges {
                whole: Some(PrivilegeSet::UPDATE),
                columns: vec![(PrivilegeSet::SELECT, vec!["a".into(), "b".into()])],
            },
            level: Level::Table(None, "t".into()),
            users: vec![UserSpec {
                name: named("r", "%"),
                auth: None
            }],
            options: UserOptions {
                limits: vec![ResourceLimit::QueriesPerHour(3)],
                ..UserOptions::default()
            },
            grant_option: false
        })
    );
    assert_eq!(
        p("grant r to u with admin option"),
        Admin::Account(AccountStatement::Role(RoleStatement::Grant {
            roles: vec![RoleName::Named("r".into())],
            users: vec![UserSpec {
                name: named("u", "%"),
                auth: None
            }],
            admin_option: true
        }))
    );
    assert_eq!(
        p("set role none"),
        Admin::Account(AccountStatement::Role(RoleStatement::Set(None)))
    );
    assert_eq!(code("grant fly on *.* to u"), 1064);
}

#[test]
fn shows() {
    assert_eq!(
        p("show full tables from d like 't%'"),
        Admin::Show(Show::Tables {
            full: true,
            db: Some("d".into()),
            filter: Filter::Like("t%".into())
        })
    );
    assert_eq!(
        p("show columns in t from d"),
        Admin::Show(Show::Columns {
            full: false,
            table: TableRef {
                db: Some("d".into()),
                name: "t".into()
            },
            filter: Filter::None
        })
    );
    assert_eq!(
        p("show count(*) errors"),
        Admin::Show(Show::CountWarnings { errors: true })
    );
    for t in [
        "show warnings limit 2, 3",
        "show global status where variable_name like 'com%'",
        "show session variables",
        "show index from `t`",
        "show create database if not exists d",
        "show grants for u@h",
        "show keys from t from d",
        "show master status",
        "show storage engines",
        "show character set",
        "show table status like 'x'",
        "show full processlist",
        "show triggers from d",
    ] {
        p(t);
    }
    assert_eq!(code("show nonsense"), 1064);
    assert_eq!(code("show tables from d x"), 1064);
    assert!(matches!(
        p("show engine innodb status"),
        Admin::Show(Show::Engine { status: true, .. })
    ));
}

#[test]
fn the_rest() {
    assert!(
        matches!(p("kill query 5"), Admin::Kill { query: true, target: KillTarget::Connection(id) } if id.text == "5")
    );
    assert_eq!(
        p("flush local privileges, logs"),
        Admin::Flush(vec![Flush::Privileges, Flush::Logs])
    );
    assert_eq!(code("flush foo"), 1064);
    let t = |db: Option<&str>, name: &str| TableRef {
        db: db.map(String::from),
        name: name.into(),
    };
    assert_eq!(
        p("flush tables with read lock"),
        Admin::Flush(vec![Flush::ReadLock])
    );
    assert_eq!(
        p("flush tables t, d.u with read lock"),
        Admin::Flush(vec![Flush::TablesReadLock(vec![
            t(None, "t"),
            t(Some("d"), "u")
        ])])
    );
    assert!(matches!(
        p("flush tables t for export"),
        Admin::Flush(f) if matches!(f[..], [Flush::TablesReadLock(_)])
    ));
    let lock = |table, alias: Option<&str>, write| TableLock {
        table,
        write,
        shared: false,
        alias: alias.map(str::to_string),
    };
    assert_eq!(
        p("lock tables t write, d.u as x read local, v y low_priority write"),
        Admin::LockTables(vec![
            lock(t(None, "t"), None, true),
            lock(t(Some("d"), "u"), Some("x"), false),
            lock(t(None, "v"), Some("y"), true)
        ])
    );
    assert_eq!(code("lock tables t"), 1064);
    assert!(matches!(p("prepare s from 'select 1'"), Admin::Prepared(_)));
    p("check table a, d.b extended");
    p("unlock tables");
    p("use `x y`");
}

#[test]
fn change_master() {
    let Admin::Replica(ReplicaStatement::ChangeMaster { target, change }) = p(
        "change master 'a b' to master_host='h', master_port=3307, master_user='u', master_password='p', \
         master_connect_retry=7, master_use_gtid=current_pos, master_heartbeat_period=1.5, master_delay=3, \
         ignore_server_ids=(3,1,3), do_domain_ids=(), master_ssl=1, master_demote_to_slave=0, \
         master_log_file='f', master_log_pos=1",
    ) else {
        panic!()
    };
    assert_eq!(target, source("a b"));
    assert_eq!(
        *change,
        ChangeMaster {
            host: Some("h".into()),
            port: Some(3307),
            user: Some("u".into()),
            password: Some("p".into()),
            connect_retry: Some(7),
            heartbeat_millis: Some(1500),
            delay: Some(3),
            log_file: Some("f".into()),
            log_pos: Some(4),
            use_gtid: Some(UseGtid::CurrentPos),
            ssl: Some(true),
            ignore_server_ids: Some([1, 3].into()),
            do_domain_ids: Some(BTreeSet::new()),
            ..ChangeMaster::default()
        }
    );
    let Admin::Replica(ReplicaStatement::ChangeMaster { target, .. }) =
        p("change master to master_port=1 for channel 'c'")
    else {
        panic!()
    };
    assert_eq!(target, source("c"));
    assert_eq!(
        code("change master 'q' to master_port=3 for channel 'q'"),
        1210
    );
    assert_eq!(code("change master to"), 1064);
    assert_eq!(code("change master c to master_port=3"), 1064);
    assert_eq!(code("change master to master_retry_count=3"), 1064);
    assert_eq!(code("change master to master_port='3'"), 1064);
    assert_eq!(code("change master to master_port=70000"), 1210);
    assert_eq!(code("change master to master_host=''"), 1210);
    assert_eq!(
        code("change master to master_heartbeat_period=4294968"),
        1624
    );
    assert_eq!(code("change master to master_delay=2147483648"), 1729);
    assert_eq!(code("change master to relay_log_pos=5"), 1235);
    assert_eq!(code("change master to master_ssl_crl='x'"), 1235);
    assert_eq!(code("change master to master_use_gtid=x"), 1064);
    assert_eq!(
        code(&format!(
            "change master to master_user='{}'",
            "x".repeat(129)
        )),
        1470
    );
    let Admin::Replica(ReplicaStatement::ChangeMaster { change, .. }) =
        p("change replication source to source_host='x'")
    else {
        panic!();
    };
    assert_eq!(change.host.as_deref(), Some("x"));
}

#[test]
fn start_and_stop() {
    let start = |threads, until| StartWhat {
        threads,
        until,
        ..StartWhat::both()
    };
    let sql = Threads {
        io: false,
        sql: true,
    };
    assert_eq!(
        p("start replica"),
        Admin::Replica(ReplicaStatement::Start {
            target: Target::Default,
            what: StartWhat::both()
        })
    );
    assert_eq!(
        p("start slave 'a' sql_thread until master_log_file='f', master_log_pos=9"),
        Admin::Replica(ReplicaStatement::Start {
            target: source("a"),
            what: start(
                sql,
                Some(Until::MasterPos {
                    file: "f".into(),
                    pos: 9
                })
            )
        })
    );
    let Admin::Replica(ReplicaStatement::Start { what, .. }) =
        p("start slave until master_gtid_pos='0-1-5,2-2-2'")
    else {
        panic!()
    };
    let Some(Until::Gtid(list)) = what.until else {
        panic!()
    };
    assert_eq!(list.len(), 2);
    assert_eq!(
        p("stop all slaves io_thread"),
        Admin::Replica(ReplicaStatement::Stop {
            target: Target::All,
            threads: Threads {
                io: true,
                sql: false
            }
        })
    );
    assert_eq!(
        p("stop slave io_thread, sql_thread for channel 'c'"),
        Admin::Replica(ReplicaStatement::Stop {
            target: source("c"),
            threads: Threads::BOTH
        })
    );
    assert_eq!(
        p("reset replica 'a' all"),
        Admin::Replica(ReplicaStatement::Reset {
            target: source("a"),
            all: true
        })
    );
    assert_eq!(
        p("show slave 'x' status"),
        Admin::Show(Show::ReplicaStatus(source("x")))
    );
    assert_eq!(
        p("show all replicas status"),
        Admin::Show(Show::ReplicaStatus(Target::All))
    );
    for (text, want) in [
        ("start slave until master_log_file='x'", 1277),
        (
            "start slave until relay_log_file='x', master_log_pos=9",
            1277,
        ),
        (
            "start slave until relay_log_file='x', relay_log_pos=9",
            1235,
        ),
        ("start slave until master_gtid_pos='x'", 1941),
        ("start slave until sql_before_gtids='0-1-1'", 1772),
        ("start slave user='x'", 1064),
        ("start slave sql_thread,", 1064),
        ("stop everything", 1064),
        ("reset slave 'q' all for channel 'q'", 1210),
        ("show all slaves status for channel ''", 1064),
    ] {
        assert_eq!(code(text), want, "{text}");
    }
}
