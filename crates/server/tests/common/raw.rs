//! A client that sends what it is told to, byte by byte.

use super::Running;
use narwal_server::auth;
use narwal_server::handshake::client_answer;
use narwal_server::protocol::{Capabilities as Cap, command};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

pub const CAPS: u32 = Cap::PROTOCOL_41.0
    | Cap::SECURE_CONNECTION.0
    | Cap::PLUGIN_AUTH.0
    | Cap::MULTI_STATEMENTS.0
    | Cap::MULTI_RESULTS.0
    | Cap::PS_MULTI_RESULTS.0;

pub struct Client {
    pub s: TcpStream,
    pub scramble: Vec<u8>,
}

pub fn packet(seq: u8, payload: &[u8]) -> Vec<u8> {
    let mut p = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    p.push(seq);
    p.extend_from_slice(payload);
    p
}

impl Client {
    pub fn connect(r: &Running) -> Client {
        let s = TcpStream::connect(r.addr()).unwrap();
        s.set_nodelay(true).unwrap();
        s.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut c = Client {
            s,
            scramble: Vec::new(),
        };
        let (_, greeting) = c.read().unwrap();
        assert_eq!(greeting[0], 10);
        let at = greeting.iter().position(|&b| b == 0).unwrap() + 5;
        c.scramble = greeting[at..at + 8].to_vec();
        c.scramble.extend_from_slice(&greeting[at + 27..at + 39]);
        c
    }

    pub fn login(r: &Running) -> Client {
        Client::login_with(r, 0)
    }

    /// With capabilities of MariaDB's dialect.
    pub fn login_with(r: &Running, mariadb_caps: u32) -> Client {
        let mut c = Client::connect(r);
        let mut answer = client_answer(Cap(CAPS), "root", b"", None, auth::NATIVE);
        answer[28..32].copy_from_slice(&mariadb_caps.to_le_bytes());
        c.send(1, &answer);
        let (seq, ok) = c.read().unwrap();
        assert_eq!((seq, ok[0]), (2, 0), "{ok:?}");
        c
    }

    pub fn send(&mut self, seq: u8, payload: &[u8]) {
        self.raw(&packet(seq, payload));
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        // The server may have closed the connection already.
        let _ = self.s.write_all(bytes);
    }

    pub fn command(&mut self, code: u8, body: &[u8]) {
        let mut p = vec![code];
        p.extend_from_slice(body);
        self.send(0, &p);
    }

    /// A packet; `None` once the server has closed the connection.
    pub fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 4];
        match self.s.read_exact(&mut head) {
            Ok(()) => {}
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset
                ) =>
            {
                return None;
            }
            Err(e) => panic!("neither answered nor closed: {e}"),
        }
        let len = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
        let mut body = vec![0; len];
        self.s.read_exact(&mut body).unwrap();
        Some((head[3], body))
    }

    pub fn expect_error(&mut self, code: u16) -> String {
        let (_, e) = self.read().expect("an ERR packet");
        assert_eq!(e[0], 0xFF, "{e:?}");
        assert_eq!(
            u16::from_le_bytes([e[1], e[2]]),
            code,
            "{}",
            String::from_utf8_lossy(&e)
        );
        String::from_utf8_lossy(&e[3..]).into_owned()
    }

    pub fn expect_ok(&mut self) {
        let (seq, ok) = self.read().expect("an OK packet");
        assert_eq!((seq, ok[0]), (1, 0), "{ok:?}");
    }

    pub fn expect_closed(&mut self) {
        while let Some((_, p)) = self.read() {
            assert_eq!(p[0], 0xFF, "closed, or an error before: {p:?}");
        }
    }

    pub fn ping(&mut self) {
        self.command(command::PING, b"");
        self.expect_ok();
    }

    /// A prepared statement's id.
    pub fn prepare(&mut self, sql: &str) -> u32 {
        self.command(command::STMT_PREPARE, sql.as_bytes());
        let (_, ok) = self.read().unwrap();
        assert_eq!(ok[0], 0);
        let columns = u16::from_le_bytes([ok[5], ok[6]]);
        let params = u16::from_le_bytes([ok[7], ok[8]]);
        for n in [params, columns] {
            if n > 0 {
                (0..=n).for_each(|_| drop(self.read().unwrap()));
            }
        }
        u32::from_le_bytes([ok[1], ok[2], ok[3], ok[4]])
    }

    /// Rows of a result set, without the definitions.
    pub fn rows(&mut self) -> Vec<Vec<u8>> {
        let (_, head) = self.read().unwrap();
        assert!(head[0] != 0xFF, "{}", String::from_utf8_lossy(&head));
        for _ in 0..=head[0] {
            self.read().unwrap();
        }
        let mut out = Vec::new();
        loop {
            let (_, row) = self.read().unwrap();
            if row[0] == 0xFE && row.len() < 9 {
                return out;
            }
            out.push(row);
        }
    }
}
