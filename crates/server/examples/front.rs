//! The bare front: answers every SELECT with one fixed row, everything else with OK. What it reaches under
//! `sysbench oltp_point_select` or `oltp_write_only` is the ceiling for a server behind it.
//!
//! `cargo run --release -p narwal-server --example front -- [PORT]`, then
//! `sysbench oltp_point_select --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port=PORT --mysql-user=root
//! --tables=1 --table-size=1000 --threads=8 --time=5 run`.
#![allow(missing_docs)]

use narwal_server::{
    Account, AuthMethod, Backend, ConnectInfo, KillHandle, Limits, Peer, PreparedInfo, Server,
    ServerConfig, Session, TlsRule,
};
use narwal_types::face::Face;
use narwal_types::{
    Collation, ColumnType, OkInfo, ResultColumn, ResultSink, SqlResult, TypeKind, ValueRef,
};
use std::sync::Arc;
use std::time::Duration;

struct Front;

impl Backend for Front {
    fn greeting_version(&self) -> String {
        "5.5.5-10.11.0-MariaDB-narwal-front".into()
    }
    fn limits(&self) -> Limits {
        Limits {
            max_connections: 10_000,
            ..Limits::default()
        }
    }
    fn account(&self, user: &str, _peer: &Peer) -> Option<Account> {
        Some(Account {
            user: user.into(),
            host: "%".into(),
            auth: AuthMethod::Native(None),
            locked: false,
            blocked: false,
            tls: TlsRule::None,
        })
    }
    fn verify_password(&self, _stored: &[u8], _password: &[u8]) -> bool {
        false
    }
    fn connect(&self, _info: ConnectInfo, _kill: Arc<KillHandle>) -> SqlResult<Box<dyn Session>> {
        Ok(Box::new(Fixed {
            columns: vec![ResultColumn {
                db: "sbtest".into(),
                table: "sbtest1".into(),
                org_table: "sbtest1".into(),
                name: "c".into(),
                org_name: "c".into(),
                ty: ColumnType {
                    kind: TypeKind::Char(120),
                    unsigned: false,
                    collation: Collation::default(),
                    form: narwal_types::NumberForm::NONE,
                },
                nullable: false,
                length: 0,
                decimals: 0,
                primary_key: false,
                unique_key: false,
                multiple_key: false,
                auto_increment: false,
                no_default: false,
                set_by_time: false,
                on_update_now: false,
                null_type: false,
                json: false,
            }],
            selects: Vec::new(),
        }))
    }
}

struct Fixed {
    columns: Vec<ResultColumn>,
    /// Of each prepared statement, by handle: is it a SELECT?
    selects: Vec<bool>,
}

impl Fixed {
    fn row(&self, out: &mut dyn ResultSink) -> SqlResult<()> {
        out.begin_rows(&self.columns)?;
        out.row(&[ValueRef::Str(ROW)])?;
        out.end_rows(0, 2, false)
    }
}

fn is_select(sql: &[u8]) -> bool {
    sql.get(..6)
        .is_some_and(|s| s.eq_ignore_ascii_case(b"select"))
}

const ROW: &[u8] = b"68487932199-96439406143-93774651418-41631865787-96406072701-20604855487-25459966574-28203206787-41238978918-19503783441";

impl Session for Fixed {
    fn query(&mut self, sql: &[u8], out: &mut dyn ResultSink) -> SqlResult<()> {
        if is_select(sql) {
            self.row(out)
        } else {
            out.ok(&OkInfo::default(), 2, false)
        }
    }
    fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        let select = is_select(sql);
        self.selects.push(select);
        Ok(PreparedInfo {
            handle: self.selects.len() as u32 - 1,
            params: sql.iter().filter(|&&b| b == b'?').count() as u16,
            columns: if select {
                self.columns.clone()
            } else {
                Vec::new()
            },
            ..PreparedInfo::default()
        })
    }
    fn execute(
        &mut self,
        handle: u32,
        _params: &[ValueRef<'_>],
        _types: &[(u8, u8)],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        match self.selects.get(handle as usize) {
            Some(false) => out.ok(&OkInfo::default(), 2, false),
            _ => self.row(out),
        }
    }
    fn close_statement(&mut self, _handle: u32) {}
    fn init_db(&mut self, _db: &str) -> SqlResult<()> {
        Ok(())
    }
    fn reset(&mut self) -> SqlResult<()> {
        Ok(())
    }
    fn change_user(&mut self, _info: ConnectInfo) -> SqlResult<()> {
        Ok(())
    }
    fn set_multi_statements(&mut self, _on: bool) {}
    fn status_flags(&self) -> u16 {
        2
    }
    fn statistics(&mut self) -> String {
        String::new()
    }
    fn kill(&mut self, _id: u32) -> SqlResult<()> {
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let port: u16 = std::env::args()
        .nth(1)
        .and_then(|p| p.parse().ok())
        .unwrap_or(3399);
    let mut config = ServerConfig::new(std::env::temp_dir());
    config.addresses = vec![(([127, 0, 0, 1], port).into(), Face::MariaDb)];
    config.tls = false;
    let server = Server::start(&config, Arc::new(Front))?;
    println!("listening on {:?}", server.addresses());
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}
