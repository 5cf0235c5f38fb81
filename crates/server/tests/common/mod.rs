//! A backend that answers without a database, for tests of the protocol.
#![allow(dead_code, clippy::unwrap_used, missing_docs)]

pub mod raw;

use narwal_server::backend::status;
use narwal_server::*;
use narwal_types::face::Face;
use narwal_types::*;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub struct Fake {
    pub limits: Mutex<Limits>,
    pub idle: Mutex<Duration>,
    pub handles: Mutex<HashMap<u32, Arc<KillHandle>>>,
    pub sessions: AtomicUsize,
}

impl Fake {
    pub fn new() -> Arc<Self> {
        Arc::new(Fake {
            limits: Mutex::new(Limits {
                max_connections: 64,
                max_allowed_packet: 1 << 20,
                connect_timeout: Duration::from_millis(1500),
                require_secure_transport: false,
            }),
            idle: Mutex::new(Duration::from_secs(60)),
            handles: Mutex::default(),
            sessions: AtomicUsize::new(0),
        })
    }
}

/// Users: root (no password, native), nat (native, `secret`), sha (caching_sha2, `secret`), tls (native, REQUIRE SSL),
/// locked.
impl Backend for Fake {
    fn greeting_version(&self) -> String {
        "5.5.5-10.11.0-MariaDB-narwal-test".into()
    }
    fn limits(&self) -> Limits {
        *self.limits.lock().unwrap()
    }
    fn account(&self, user: &str, _peer: &Peer) -> Option<Account> {
        let native = auth::native::stored(b"secret");
        let auth = match user {
            "root" | "tls" | "locked" => AuthMethod::Native(None),
            "nat" => AuthMethod::Native(Some(native)),
            "sha" => AuthMethod::CachingSha2(b"secret".to_vec()),
            "shaempty" => AuthMethod::CachingSha2(Vec::new()),
            _ => return None,
        };
        Some(Account {
            user: user.into(),
            host: "%".into(),
            auth,
            locked: user == "locked",
            blocked: false,
            tls: if user == "tls" {
                TlsRule::Any
            } else {
                TlsRule::None
            },
        })
    }
    fn verify_password(&self, stored: &[u8], password: &[u8]) -> bool {
        stored == password
    }
    fn connect(&self, info: ConnectInfo, kill: Arc<KillHandle>) -> SqlResult<Box<dyn Session>> {
        if info.db.as_deref() == Some("nodb") {
            return Err(SqlError::new(1049, b"42000", "Unknown database 'nodb'"));
        }
        self.handles.lock().unwrap().insert(info.id, kill.clone());
        self.sessions.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(FakeSession {
            idle: *self.idle.lock().unwrap(),
            kill,
            db: info.db.clone().unwrap_or_default(),
            info,
            prepared: HashMap::new(),
            next: 100,
        }))
    }
    fn disconnected(&self, id: u32) {
        if self.handles.lock().unwrap().remove(&id).is_some() {
            self.sessions.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

pub struct FakeSession {
    idle: Duration,
    kill: Arc<KillHandle>,
    db: String,
    info: ConnectInfo,
    prepared: HashMap<u32, String>,
    next: u32,
}

pub fn column(name: &str, ty: ColumnType) -> ResultColumn {
    ResultColumn {
        db: "d".into(),
        table: "t".into(),
        org_table: "t".into(),
        name: name.into(),
        org_name: name.into(),
        ty,
        nullable: true,
        length: 0,
        decimals: if matches!(ty.kind, TypeKind::Double | TypeKind::Float) {
            39
        } else {
            0
        },
        primary_key: false,
        unique_key: false,
        multiple_key: false,
        auto_increment: false,
        no_default: false,
        set_by_time: false,
        on_update_now: false,
        null_type: false,
        json: false,
    }
}

pub fn ty(kind: TypeKind) -> ColumnType {
    let text = matches!(
        kind,
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_)
    );
    ColumnType {
        kind,
        unsigned: false,
        collation: if text {
            Collation::default()
        } else {
            Collation::Binary
        },
        form: narwal_types::NumberForm::NONE,
    }
}

pub const DATE: Date = Date {
    year: 2026,
    month: 2,
    day: 3,
};

/// One row of every kind, and one of NULLs.
pub fn kinds() -> (Vec<ResultColumn>, Vec<Value>) {
    let datetime = DateTime {
        date: DATE,
        micros: 3_723_000_000,
        fsp: 0,
    };
    let all = [
        (TypeKind::TinyInt, Value::Int(-5)),
        (TypeKind::SmallInt, Value::Int(-300)),
        (TypeKind::Int, Value::Int(-70_000)),
        (TypeKind::BigInt, Value::Int(i64::MIN)),
        (TypeKind::Double, Value::Double(1.5)),
        (TypeKind::Float, Value::Float(0.1)),
        (
            TypeKind::Decimal(10, 2),
            Value::Decimal(Decimal::parse("-12.50").unwrap()),
        ),
        (TypeKind::VarChar(20), Value::str("h\u{e9}llo")),
        (
            TypeKind::Blob(BlobSize::Normal),
            Value::bytes(&b"\x01\x02"[..]),
        ),
        (TypeKind::Date, Value::Date(DATE)),
        (TypeKind::DateTime(0), Value::DateTime(datetime)),
        (
            TypeKind::Time(0),
            Value::Time(Time {
                micros: -3_723_000_000,
                fsp: 0,
            }),
        ),
    ];
    all.into_iter()
        .enumerate()
        .map(|(i, (k, v))| (column(&format!("c{i}"), ty(k)), v))
        .unzip()
}

impl FakeSession {
    fn one(&mut self, sql: &str, more: bool, out: &mut dyn ResultSink) -> SqlResult<()> {
        let status = self.status_flags();
        let text = |out: &mut dyn ResultSink, name: &str, v: &str| {
            out.begin_rows(&[column(name, ty(TypeKind::VarChar(200)))])?;
            out.row(&[ValueRef::Str(v.as_bytes())])?;
            out.end_rows(0, status, more)
        };
        let lower = sql.trim().to_ascii_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        match &words[..] {
            ["select", "kinds"] => {
                let (columns, values) = kinds();
                out.begin_rows(&columns)?;
                let refs: Vec<_> = values.iter().map(Value::as_ref).collect();
                out.row(&refs)?;
                out.row(&vec![ValueRef::Null; refs.len()])?;
                out.end_rows(0, status, more)
            }
            ["select", "cipher"] => {
                let cipher = self.info.tls.clone().map(|(v, c)| format!("{v} {c}"));
                text(out, "cipher", &cipher.unwrap_or_default())
            }
            ["select", "user"] => text(
                out,
                "user",
                &format!("{}@{}", self.info.user, self.info.peer.host),
            ),
            ["select", "db"] => {
                let db = self.db.clone();
                text(out, "db", &db)
            }
            ["select", "rows", n] => {
                out.begin_rows(&[column("n", ty(TypeKind::BigInt))])?;
                for i in 0..n.parse().unwrap_or(0).min(5_000_000) {
                    out.row(&[ValueRef::Int(i)])?;
                }
                out.end_rows(0, status, more)
            }
            ["select", "long", n] => text(
                out,
                "long",
                &"x".repeat(n.parse().unwrap_or(0).min(1 << 25)),
            ),
            ["sleep"] => {
                let until = Instant::now() + Duration::from_secs(20);
                while Instant::now() < until {
                    if self.kill.statement_killed() {
                        return Err(SqlError::new(
                            1317,
                            b"70100",
                            "Query execution was interrupted",
                        ));
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Ok(())
            }
            ["panic"] => panic!("asked to"),
            ["fail"] => Err(SqlError::new(1146, b"42S02", "Table 'd.t' doesn't exist")),
            ["failmid"] => {
                out.begin_rows(&[column("n", ty(TypeKind::BigInt))])?;
                out.row(&[ValueRef::Int(1)])?;
                Err(SqlError::new(
                    1317,
                    b"70100",
                    "Query execution was interrupted",
                ))
            }
            ["update"] => out.ok(
                &OkInfo {
                    affected_rows: 300,
                    last_insert_id: 70_000,
                    warnings: 1,
                    info: "Rows matched: 300  Changed: 300  Warnings: 1".into(),
                },
                status,
                more,
            ),
            // What clients send by themselves.
            _ => out.ok(&OkInfo::default(), status, more),
        }
    }
}

impl Session for FakeSession {
    fn query(&mut self, sql: &[u8], out: &mut dyn ResultSink) -> SqlResult<()> {
        let sql = String::from_utf8_lossy(sql).into_owned();
        let parts: Vec<&str> = if self.info.multi_statements {
            sql.split(';').filter(|s| !s.trim().is_empty()).collect()
        } else {
            vec![&sql]
        };
        for (i, part) in parts.iter().enumerate() {
            self.one(part, i + 1 < parts.len(), out)?;
        }
        Ok(())
    }
    fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        let sql = String::from_utf8_lossy(sql).into_owned();
        if sql.contains("fail") {
            return Err(SqlError::syntax("near fail"));
        }
        self.next += 1;
        let params = sql.bytes().filter(|&b| b == b'?').count() as u16;
        let columns = if sql.contains("kinds") {
            kinds().0
        } else {
            (0..params)
                .map(|i| column(&format!("p{i}"), ty(TypeKind::VarChar(100))))
                .collect()
        };
        self.prepared.insert(self.next, sql);
        Ok(PreparedInfo {
            handle: self.next,
            params,
            columns,
            ..PreparedInfo::default()
        })
    }
    fn execute(
        &mut self,
        handle: u32,
        params: &[ValueRef<'_>],
        _types: &[(u8, u8)],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let sql = self
            .prepared
            .get(&handle)
            .cloned()
            .expect("the front knows its statements");
        let status = self.status_flags();
        if params.is_empty() {
            return self.one(&sql, false, out);
        }
        let columns: Vec<_> = (0..params.len())
            .map(|i| column(&format!("p{i}"), ty(TypeKind::VarChar(100))))
            .collect();
        out.begin_rows(&columns)?;
        let texts: Vec<String> = params.iter().map(|p| format!("{p:?}")).collect();
        let row: Vec<_> = texts.iter().map(|t| ValueRef::Str(t.as_bytes())).collect();
        out.row(&row)?;
        out.end_rows(0, status, false)
    }
    fn close_statement(&mut self, handle: u32) {
        self.prepared.remove(&handle).expect("closed once");
    }
    fn init_db(&mut self, db: &str) -> SqlResult<()> {
        self.db = db.into();
        Ok(())
    }
    fn reset(&mut self) -> SqlResult<()> {
        self.prepared.clear();
        Ok(())
    }
    fn change_user(&mut self, info: ConnectInfo) -> SqlResult<()> {
        self.prepared.clear();
        self.db = info.db.clone().unwrap_or_default();
        self.info = info;
        Ok(())
    }
    fn set_multi_statements(&mut self, on: bool) {
        self.info.multi_statements = on;
    }
    fn status_flags(&self) -> u16 {
        status::AUTOCOMMIT
    }
    fn timeouts(&self) -> Timeouts {
        Timeouts {
            idle: self.idle,
            ..Timeouts::default()
        }
    }
    fn statistics(&mut self) -> String {
        "Uptime: 1".into()
    }
    fn kill(&mut self, _id: u32) -> SqlResult<()> {
        self.kill.kill_connection();
        Ok(())
    }
}

pub struct Running {
    pub server: Server,
    pub fake: Arc<Fake>,
    pub dir: tempfile::TempDir,
}

pub fn start() -> Running {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut config = ServerConfig::new(dir.path());
    config.addresses = vec![("127.0.0.1:0".parse().unwrap(), Face::MariaDb)];
    config.sockets = vec![(dir.path().join("s.sock"), Face::MariaDb)];
    let server = Server::start(&config, fake.clone()).unwrap();
    Running { server, fake, dir }
}

impl Running {
    pub fn addr(&self) -> SocketAddr {
        self.server.addresses()[0]
    }
    pub fn socket(&self) -> std::path::PathBuf {
        self.dir.path().join("s.sock")
    }
}
