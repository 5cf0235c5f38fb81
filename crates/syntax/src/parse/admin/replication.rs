//! CHANGE MASTER, START SLAVE and STOP SLAVE.

use crate::ast::admin::{
    Admin, ChangeMaster, Connection, MasterOption, StartReplica, Threads, Until, UntilOption,
    UseGtid,
};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;

impl Parser<'_> {
    /// A connection's name in quotes, if there is one.
    pub(super) fn connection_name(&mut self) -> SqlResult<Option<String>> {
        match self.peek() {
            Tok::String => self.text_literal().map(Some),
            _ => Ok(None),
        }
    }

    /// `FOR CHANNEL 'name'`, after a name that may have stood before.
    pub(super) fn for_channel(&mut self, name: Option<String>) -> SqlResult<Connection> {
        if !self.eat(Kw::FOR) {
            return Ok(name.map_or(Connection::Default, Connection::Named));
        }
        self.expect(Kw::CHANNEL)?;
        let channel = self.text_literal()?;
        Ok(match name {
            Some(name) => Connection::Twice(name, channel),
            None => Connection::Named(channel),
        })
    }

    /// `[IO_THREAD|RELAY_THREAD|SQL_THREAD, ...]`; none is both.
    fn threads(&mut self) -> SqlResult<Threads> {
        let mut t = Threads {
            io: false,
            sql: false,
        };
        loop {
            match self.eat_one(&[Kw::IO_THREAD, Kw::RELAY_THREAD, Kw::SQL_THREAD]) {
                Some(Kw::SQL_THREAD) => t.sql = true,
                Some(_) => t.io = true,
                // MariaDB takes a comma with nothing behind it, which can only be an oversight.
                None if t.io || t.sql => return Err(self.error()),
                None => break,
            }
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        if !(t.io || t.sql) {
            t = Threads {
                io: true,
                sql: true,
            };
        }
        Ok(t)
    }

    fn eat_slave(&mut self) -> bool {
        self.eat_one(&[Kw::SLAVE, Kw::REPLICA]).is_some()
    }

    fn eat_all_slaves(&mut self) -> bool {
        self.eat_all(&[Kw::ALL, Kw::SLAVES]) || self.eat_all(&[Kw::ALL, Kw::REPLICAS])
    }

    /// Behind START.
    pub(super) fn start_replica(&mut self) -> SqlResult<Admin> {
        if self.eat_all_slaves() {
            return Ok(Admin::StartReplica(StartReplica {
                connection: Connection::All,
                threads: self.threads()?,
                until: None,
            }));
        }
        if !self.eat_slave() {
            return Err(self.error());
        }
        let name = self.connection_name()?;
        let threads = self.threads()?;
        let connection = self.for_channel(name)?;
        let until = match self.eat(Kw::UNTIL) {
            true => Some(self.until()?),
            false => None,
        };
        Ok(Admin::StartReplica(StartReplica {
            connection,
            threads,
            until,
        }))
    }

    fn until(&mut self) -> SqlResult<Until> {
        if self.eat(Kw::MASTER_GTID_POS) {
            self.expect_tok(Tok::Eq)?;
            return Ok(Until::Gtid(self.text_literal()?));
        }
        if self.eat_word("SQL_BEFORE_GTIDS") {
            self.expect_tok(Tok::Eq)?;
            return Ok(Until::BeforeGtids(self.text_literal()?));
        }
        if self.eat_word("SQL_AFTER_GTIDS") {
            self.expect_tok(Tok::Eq)?;
            return Ok(Until::AfterGtids(self.text_literal()?));
        }
        let words = [
            Kw::MASTER_LOG_FILE,
            Kw::MASTER_LOG_POS,
            Kw::RELAY_LOG_FILE,
            Kw::RELAY_LOG_POS,
        ];
        let parts = self.comma_separated(|p| {
            let word = if p.eat_word("SOURCE_LOG_FILE") {
                Kw::MASTER_LOG_FILE
            } else if p.eat_word("SOURCE_LOG_POS") {
                Kw::MASTER_LOG_POS
            } else {
                p.eat_one(&words).ok_or_else(|| p.error())?
            };
            p.expect_tok(Tok::Eq)?;
            Ok(match word {
                Kw::MASTER_LOG_FILE => UntilOption::MasterLogFile(p.text_literal()?),
                Kw::MASTER_LOG_POS => UntilOption::MasterLogPos(p.number()?),
                Kw::RELAY_LOG_FILE => UntilOption::RelayLogFile(p.text_literal()?),
                _ => UntilOption::RelayLogPos(p.number()?),
            })
        })?;
        Ok(Until::Position(parts))
    }

    pub(super) fn stop_replica(&mut self) -> SqlResult<Admin> {
        self.bump();
        if self.eat_all_slaves() {
            return Ok(Admin::StopReplica {
                connection: Connection::All,
                threads: self.threads()?,
            });
        }
        if !self.eat_slave() {
            return Err(self.error());
        }
        let name = self.connection_name()?;
        let threads = self.threads()?;
        let connection = self.for_channel(name)?;
        Ok(Admin::StopReplica {
            connection,
            threads,
        })
    }

    pub(super) fn change_master(&mut self) -> SqlResult<Admin> {
        self.bump();
        let name = match self.eat_all(&[Kw::REPLICATION, Kw::SOURCE]) {
            true => None,
            false => {
                self.expect(Kw::MASTER)?;
                self.connection_name()?
            }
        };
        self.expect(Kw::TO)?;
        let options = self.comma_separated(Self::master_option)?;
        let connection = self.for_channel(name)?;
        Ok(Admin::ChangeMaster(Box::new(ChangeMaster {
            connection,
            options,
        })))
    }

    fn master_option(&mut self) -> SqlResult<MasterOption> {
        let Tok::Word(mut word) = self.peek() else {
            return Err(self.error());
        };
        let given = self.next_text();
        if let Some(known) = SOURCE_OPTIONS
            .iter()
            .find(|o| o.0.eq_ignore_ascii_case(given))
        {
            match known.1 {
                Meaning::As(master) => word = master,
                Meaning::Own(kind) => return self.source_option(known.0, kind),
            }
        }
        let kind = option_kind(word).ok_or_else(|| self.error())?;
        self.bump();
        self.expect_tok(Tok::Eq)?;
        let name = word.name();
        Ok(match kind {
            OptionKind::Text => MasterOption::Text(name, self.text_literal()?),
            OptionKind::Number => MasterOption::Number(name, self.number()?),
            OptionKind::Ids => MasterOption::Ids(name, self.number_list()?),
            OptionKind::Heartbeat => {
                let text = self.next_text().to_string();
                self.number()?;
                MasterOption::Heartbeat(text)
            }
            OptionKind::UseGtid => MasterOption::UseGtid(self.use_gtid()?),
        })
    }

    /// An option that only MySQL has.
    fn source_option(&mut self, name: &'static str, kind: OwnKind) -> SqlResult<MasterOption> {
        self.bump();
        self.expect_tok(Tok::Eq)?;
        Ok(match kind {
            OwnKind::Number => MasterOption::Number(name, self.number()?),
            OwnKind::TextOrNull if self.eat(Kw::NULL) => MasterOption::Text(name, String::new()),
            OwnKind::TextOrNull => MasterOption::Text(name, self.text_literal()?),
            OwnKind::Word => match self.peek() {
                Tok::Word(_) => {
                    let word = self.next_text().to_ascii_uppercase();
                    self.bump();
                    MasterOption::Text(name, word)
                }
                _ => MasterOption::Text(name, self.text_literal()?),
            },
        })
    }

    fn use_gtid(&mut self) -> SqlResult<UseGtid> {
        let words = [Kw::NO, Kw::CURRENT_POS, Kw::SLAVE_POS, Kw::REPLICA_POS];
        match self.eat_one(&words) {
            Some(Kw::NO) => Ok(UseGtid::No),
            Some(Kw::CURRENT_POS) => Ok(UseGtid::CurrentPos),
            Some(_) => Ok(UseGtid::SlavePos),
            None => Err(self.error()),
        }
    }

    /// `(1, 2, ...)`, maybe empty.
    pub(super) fn number_list(&mut self) -> SqlResult<Vec<u64>> {
        self.expect_tok(Tok::LParen)?;
        if self.eat_tok(Tok::RParen) {
            return Ok(Vec::new());
        }
        let list = self.comma_separated(Self::number)?;
        self.expect_tok(Tok::RParen)?;
        Ok(list)
    }
}

/// What a name of MySQL's means.
#[derive(Clone, Copy)]
enum Meaning {
    /// The same as this option of MariaDB's.
    As(Kw),
    /// It has none in MariaDB.
    Own(OwnKind),
}

/// What stands behind the `=` of an option that only MySQL has.
#[derive(Clone, Copy)]
enum OwnKind {
    Number,
    TextOrNull,
    Word,
}

/// The options of CHANGE REPLICATION SOURCE.
const SOURCE_OPTIONS: &[(&str, Meaning)] = &[
    ("SOURCE_HOST", Meaning::As(Kw::MASTER_HOST)),
    ("SOURCE_USER", Meaning::As(Kw::MASTER_USER)),
    ("SOURCE_PASSWORD", Meaning::As(Kw::MASTER_PASSWORD)),
    ("SOURCE_PORT", Meaning::As(Kw::MASTER_PORT)),
    ("SOURCE_LOG_FILE", Meaning::As(Kw::MASTER_LOG_FILE)),
    ("SOURCE_LOG_POS", Meaning::As(Kw::MASTER_LOG_POS)),
    (
        "SOURCE_HEARTBEAT_PERIOD",
        Meaning::As(Kw::MASTER_HEARTBEAT_PERIOD),
    ),
    (
        "SOURCE_CONNECT_RETRY",
        Meaning::As(Kw::MASTER_CONNECT_RETRY),
    ),
    ("SOURCE_DELAY", Meaning::As(Kw::MASTER_DELAY)),
    ("SOURCE_SSL", Meaning::As(Kw::MASTER_SSL)),
    ("SOURCE_SSL_CA", Meaning::As(Kw::MASTER_SSL_CA)),
    ("SOURCE_SSL_CAPATH", Meaning::As(Kw::MASTER_SSL_CAPATH)),
    ("SOURCE_SSL_CERT", Meaning::As(Kw::MASTER_SSL_CERT)),
    ("SOURCE_SSL_KEY", Meaning::As(Kw::MASTER_SSL_KEY)),
    ("SOURCE_SSL_CIPHER", Meaning::As(Kw::MASTER_SSL_CIPHER)),
    ("SOURCE_SSL_CRL", Meaning::As(Kw::MASTER_SSL_CRL)),
    ("SOURCE_SSL_CRLPATH", Meaning::As(Kw::MASTER_SSL_CRLPATH)),
    (
        "SOURCE_SSL_VERIFY_SERVER_CERT",
        Meaning::As(Kw::MASTER_SSL_VERIFY_SERVER_CERT),
    ),
    ("SOURCE_AUTO_POSITION", Meaning::Own(OwnKind::Number)),
    ("SOURCE_RETRY_COUNT", Meaning::Own(OwnKind::Number)),
    ("GET_SOURCE_PUBLIC_KEY", Meaning::Own(OwnKind::Number)),
    ("REQUIRE_ROW_FORMAT", Meaning::Own(OwnKind::Number)),
    ("GTID_ONLY", Meaning::Own(OwnKind::Number)),
    (
        "SOURCE_CONNECTION_AUTO_FAILOVER",
        Meaning::Own(OwnKind::Number),
    ),
    (
        "SOURCE_ZSTD_COMPRESSION_LEVEL",
        Meaning::Own(OwnKind::Number),
    ),
    ("SOURCE_PUBLIC_KEY_PATH", Meaning::Own(OwnKind::TextOrNull)),
    ("SOURCE_BIND", Meaning::Own(OwnKind::TextOrNull)),
    ("NETWORK_NAMESPACE", Meaning::Own(OwnKind::TextOrNull)),
    (
        "SOURCE_COMPRESSION_ALGORITHMS",
        Meaning::Own(OwnKind::TextOrNull),
    ),
    ("SOURCE_TLS_VERSION", Meaning::Own(OwnKind::TextOrNull)),
    ("SOURCE_TLS_CIPHERSUITES", Meaning::Own(OwnKind::TextOrNull)),
    ("PRIVILEGE_CHECKS_USER", Meaning::Own(OwnKind::TextOrNull)),
    (
        "REQUIRE_TABLE_PRIMARY_KEY_CHECK",
        Meaning::Own(OwnKind::Word),
    ),
    (
        "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS",
        Meaning::Own(OwnKind::Word),
    ),
];

/// What stands behind the `=` of an option.
#[derive(Clone, Copy)]
enum OptionKind {
    Text,
    Number,
    Ids,
    Heartbeat,
    UseGtid,
}

fn option_kind(word: Kw) -> Option<OptionKind> {
    Some(match word {
        Kw::MASTER_HOST
        | Kw::MASTER_USER
        | Kw::MASTER_PASSWORD
        | Kw::MASTER_LOG_FILE
        | Kw::RELAY_LOG_FILE
        | Kw::MASTER_SSL_CA
        | Kw::MASTER_SSL_CAPATH
        | Kw::MASTER_SSL_CERT
        | Kw::MASTER_SSL_KEY
        | Kw::MASTER_SSL_CIPHER
        | Kw::MASTER_SSL_CRL
        | Kw::MASTER_SSL_CRLPATH => OptionKind::Text,
        Kw::MASTER_PORT
        | Kw::MASTER_CONNECT_RETRY
        | Kw::MASTER_DELAY
        | Kw::MASTER_LOG_POS
        | Kw::RELAY_LOG_POS
        | Kw::MASTER_SSL
        | Kw::MASTER_SSL_VERIFY_SERVER_CERT
        | Kw::MASTER_DEMOTE_TO_SLAVE
        | Kw::MASTER_DEMOTE_TO_REPLICA => OptionKind::Number,
        Kw::IGNORE_SERVER_IDS | Kw::DO_DOMAIN_IDS | Kw::IGNORE_DOMAIN_IDS => OptionKind::Ids,
        Kw::MASTER_HEARTBEAT_PERIOD => OptionKind::Heartbeat,
        Kw::MASTER_USE_GTID => OptionKind::UseGtid,
        _ => return None,
    })
}
