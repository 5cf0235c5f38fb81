//! SHOW.

use crate::ast::TableName;
use crate::ast::admin::{
    Admin, Connection, EventRange, Filter, RoutineKind, Show, ShowCreate, WarningKind,
};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;

/// The parts of SHOW PROFILE.
const PROFILES: &[(&[Kw], &str)] = &[
    (&[Kw::ALL], "ALL"),
    (&[Kw::BLOCK, Kw::IO], "BLOCK IO"),
    (&[Kw::CONTEXT, Kw::SWITCHES], "CONTEXT SWITCHES"),
    (&[Kw::CPU], "CPU"),
    (&[Kw::IPC], "IPC"),
    (&[Kw::MEMORY], "MEMORY"),
    (&[Kw::PAGE, Kw::FAULTS], "PAGE FAULTS"),
    (&[Kw::SOURCE], "SOURCE"),
    (&[Kw::SWAPS], "SWAPS"),
];
/// Tables of information_schema that SHOW names by themselves.
const TABLES: [&str; 5] = [
    "CLIENT_STATISTICS",
    "INDEX_STATISTICS",
    "TABLE_STATISTICS",
    "USER_STATISTICS",
    "USER_VARIABLES",
];

impl Parser<'_> {
    pub(super) fn show(&mut self) -> SqlResult<Admin> {
        self.bump();
        if self.at_explain_connection() {
            return self.show_explain();
        }
        let show = self.show_what()?;
        Ok(Admin::Show(Box::new(show)))
    }

    /// LIKE or WHERE.
    fn filter(&mut self) -> SqlResult<Filter> {
        if self.eat(Kw::LIKE) {
            return Ok(Filter::Like(self.text_literal()?));
        }
        self.where_filter()
    }

    fn where_filter(&mut self) -> SqlResult<Filter> {
        match self.eat(Kw::WHERE) {
            true => Ok(Filter::Where(self.operand()?)),
            false => Ok(Filter::None),
        }
    }

    /// `[{FROM|IN} db]`
    fn in_database(&mut self) -> SqlResult<Option<String>> {
        match self.eat_one(&[Kw::FROM, Kw::IN]) {
            Some(_) => Ok(Some(self.known_db()?)),
            None => Ok(None),
        }
    }

    /// `{FROM|IN} table [{FROM|IN} db]`
    fn of_table(&mut self) -> SqlResult<TableName> {
        if self.eat_one(&[Kw::FROM, Kw::IN]).is_none() {
            return Err(self.error());
        }
        let mut table = self.table_name()?;
        if let Some(db) = self.in_database()? {
            table.db = Some(db);
        }
        Ok(table)
    }

    fn show_grants(&mut self) -> SqlResult<Show> {
        if !self.eat(Kw::FOR) {
            return Ok(Show::Grants(None));
        }
        let of = self.user_or_role()?;
        self.refuse_in_mysql(Tok::Word(Kw::USING), "SHOW GRANTS ... USING")?;
        Ok(Show::Grants(Some(of)))
    }

    fn show_what(&mut self) -> SqlResult<Show> {
        let full = self.eat(Kw::FULL);
        let Tok::Word(word) = self.peek() else {
            return Err(self.error());
        };
        let may_be_full = matches!(
            word,
            Kw::TABLES | Kw::TRIGGERS | Kw::COLUMNS | Kw::FIELDS | Kw::PROCESSLIST
        );
        if full && !may_be_full {
            return Err(self.error());
        }
        let start = self.here();
        self.bump();
        Ok(match word {
            Kw::DATABASES | Kw::SCHEMAS => Show::Databases(self.filter()?),
            Kw::TABLES => {
                let db = self.in_database()?;
                let filter = self.filter()?;
                Show::Tables { full, db, filter }
            }
            Kw::TRIGGERS => {
                let db = self.in_database()?;
                let filter = self.filter()?;
                Show::Triggers { full, db, filter }
            }
            Kw::COLUMNS | Kw::FIELDS => {
                let table = self.of_table()?;
                let filter = self.filter()?;
                Show::Columns {
                    full,
                    table,
                    filter,
                }
            }
            Kw::EVENTS => {
                let db = self.in_database()?;
                let filter = self.filter()?;
                Show::Events { db, filter }
            }
            Kw::TABLE => {
                self.expect(Kw::STATUS)?;
                let db = self.in_database()?;
                let filter = self.filter()?;
                Show::TableStatus { db, filter }
            }
            Kw::OPEN => {
                self.expect(Kw::TABLES)?;
                let db = self.in_database()?;
                let filter = self.filter()?;
                Show::OpenTables { db, filter }
            }
            Kw::INDEX | Kw::INDEXES | Kw::KEYS => {
                let table = self.of_table()?;
                let filter = self.where_filter()?;
                Show::Index { table, filter }
            }
            Kw::CREATE => Show::Create(self.show_create()?),
            Kw::GLOBAL | Kw::SESSION | Kw::LOCAL => {
                let global = word == Kw::GLOBAL;
                match self.eat_one(&[Kw::VARIABLES, Kw::STATUS]) {
                    Some(what) => self.show_variables(what, global)?,
                    None => return Err(self.error()),
                }
            }
            Kw::VARIABLES | Kw::STATUS => self.show_variables(word, false)?,
            Kw::WARNINGS | Kw::ERRORS => Show::Warnings {
                kind: warning_kind(word),
                limit: self.simple_limit()?,
            },
            Kw::COUNT => self.show_count()?,
            Kw::PROCESSLIST => Show::ProcessList { full },
            Kw::GRANTS => self.show_grants()?,
            Kw::COLLATION => Show::Collation(self.filter()?),
            Kw::CHARSET => Show::CharacterSet(self.filter()?),
            Kw::CHARACTER | Kw::CHAR => {
                self.expect(Kw::SET)?;
                Show::CharacterSet(self.filter()?)
            }
            Kw::PRIVILEGES => Show::Privileges,
            Kw::PLUGINS => self.show_plugins()?,
            Kw::PROFILES => Show::Profiles,
            Kw::PROFILE => self.show_profile()?,
            Kw::AUTHORS => Show::Authors,
            Kw::CONTRIBUTORS => Show::Contributors,
            Kw::ENGINES => Show::Engines,
            Kw::STORAGE => {
                self.expect(Kw::ENGINES)?;
                Show::Engines
            }
            Kw::ENGINE => self.show_engine()?,
            Kw::PROCEDURE | Kw::FUNCTION | Kw::PACKAGE => self.show_routine(word)?,
            _ => return self.show_replication(word, start),
        })
    }

    /// What SHOW has of logs and replication, and tables of information_schema.
    fn show_replication(&mut self, word: Kw, start: usize) -> SqlResult<Show> {
        Ok(match word {
            Kw::MASTER => match self.eat_one(&[Kw::LOGS, Kw::STATUS]) {
                Some(Kw::LOGS) => Show::BinaryLogs,
                Some(_) => Show::MasterStatus(false),
                None => return Err(self.error()),
            },
            Kw::BINARY if self.eat_word("LOG") => {
                self.expect(Kw::STATUS)?;
                Show::MasterStatus(true)
            }
            Kw::BINARY => {
                self.expect(Kw::LOGS)?;
                Show::BinaryLogs
            }
            Kw::REPLICAS => Show::ReplicaHosts,
            Kw::BINLOG => match self.eat_one(&[Kw::EVENTS, Kw::STATUS]) {
                Some(Kw::EVENTS) => Show::BinlogEvents(self.event_range()?),
                Some(_) => Show::MasterStatus(false),
                None => return Err(self.error()),
            },
            Kw::RELAYLOG => {
                let name = self.connection_name()?;
                self.expect(Kw::EVENTS)?;
                let range = self.event_range()?;
                Show::RelaylogEvents(self.for_channel(name)?, range)
            }
            Kw::SLAVE | Kw::REPLICA => {
                if self.eat(Kw::HOSTS) {
                    return Ok(Show::ReplicaHosts);
                }
                let name = self.connection_name()?;
                self.expect(Kw::STATUS)?;
                Show::ReplicaStatus(self.for_channel(name)?)
            }
            Kw::ALL => {
                if self.eat_one(&[Kw::SLAVES, Kw::REPLICAS]).is_none() {
                    return Err(self.error());
                }
                self.expect(Kw::STATUS)?;
                Show::ReplicaStatus(Connection::All)
            }
            _ => {
                let name = self.slice(start, self.behind()).to_ascii_uppercase();
                if !TABLES.contains(&name.as_str()) {
                    return Err(self.error_at(start));
                }
                Show::Other(name, self.where_filter()?)
            }
        })
    }

    fn show_variables(&mut self, what: Kw, global: bool) -> SqlResult<Show> {
        let filter = self.filter()?;
        Ok(match what {
            Kw::VARIABLES => Show::Variables { global, filter },
            _ => Show::Status { global, filter },
        })
    }

    /// COUNT(*) WARNINGS
    fn show_count(&mut self) -> SqlResult<Show> {
        self.expect_tok(Tok::LParen)?;
        self.expect_tok(Tok::Star)?;
        self.expect_tok(Tok::RParen)?;
        match self.eat_one(&[Kw::WARNINGS, Kw::ERRORS]) {
            Some(word) => Ok(Show::CountWarnings(warning_kind(word))),
            None => Err(self.error()),
        }
    }

    fn show_plugins(&mut self) -> SqlResult<Show> {
        if !self.eat(Kw::SONAME) {
            return Ok(Show::Plugins);
        }
        let library = match self.peek() {
            Tok::String => {
                return Ok(Show::PluginsSoname(
                    Some(self.text_literal()?),
                    Filter::None,
                ));
            }
            _ => None,
        };
        Ok(Show::PluginsSoname(library, self.filter()?))
    }

    fn show_profile(&mut self) -> SqlResult<Show> {
        let kind = |p: &mut Self| {
            PROFILES
                .iter()
                .find(|(words, _)| p.eat_all(words))
                .map(|(_, n)| *n)
        };
        let mut types = Vec::new();
        if let Some(first) = kind(self) {
            types.push(first);
            while self.eat_tok(Tok::Comma) {
                match kind(self) {
                    Some(next) => types.push(next),
                    None => return Err(self.error()),
                }
            }
        }
        let query = if self.eat(Kw::FOR) {
            self.expect(Kw::QUERY)?;
            Some(self.number()?)
        } else {
            None
        };
        let limit = self.simple_limit()?;
        Ok(Show::Profile {
            types,
            query,
            limit,
        })
    }

    fn show_engine(&mut self) -> SqlResult<Show> {
        let engine = match self.eat(Kw::ALL) {
            true => None,
            false => Some(self.text_or_ident()?),
        };
        match self.eat_one(&[Kw::STATUS, Kw::MUTEX, Kw::LOGS]) {
            Some(word) => Ok(Show::Engine {
                engine,
                what: word.name(),
            }),
            None => Err(self.error()),
        }
    }

    /// PROCEDURE, FUNCTION, PACKAGE or PACKAGE BODY, whose first word has been taken.
    fn routine_kind(&mut self, word: Kw) -> RoutineKind {
        match word {
            Kw::PROCEDURE => RoutineKind::Procedure,
            Kw::FUNCTION => RoutineKind::Function,
            _ if self.eat(Kw::BODY) => RoutineKind::PackageBody,
            _ => RoutineKind::Package,
        }
    }

    fn show_routine(&mut self, word: Kw) -> SqlResult<Show> {
        let kind = self.routine_kind(word);
        if kind != RoutineKind::Package && self.eat(Kw::CODE) {
            return Ok(Show::RoutineCode(kind, self.routine_name()?));
        }
        self.expect(Kw::STATUS)?;
        Ok(Show::RoutineStatus(kind, self.filter()?))
    }

    fn show_create(&mut self) -> SqlResult<ShowCreate> {
        let Tok::Word(word) = self.peek() else {
            return Err(self.error());
        };
        let start = self.here();
        self.bump();
        Ok(match word {
            Kw::TABLE => ShowCreate::Table(self.table_name()?),
            Kw::VIEW => ShowCreate::View(self.table_name()?),
            Kw::SEQUENCE => ShowCreate::Sequence(self.table_name()?),
            Kw::DATABASE | Kw::SCHEMA => {
                let if_not_exists = self.eat(Kw::IF);
                if if_not_exists {
                    self.expect(Kw::NOT)?;
                    self.expect(Kw::EXISTS)?;
                }
                let name = self.db_ident()?;
                ShowCreate::Database {
                    if_not_exists,
                    name,
                }
            }
            Kw::USER => ShowCreate::User(match self.at_statement_end() {
                true => None,
                false => Some(self.user_name()?),
            }),
            Kw::TRIGGER => ShowCreate::Trigger(self.program_name()?),
            Kw::EVENT => ShowCreate::Event(self.program_name()?),
            Kw::PROCEDURE | Kw::FUNCTION | Kw::PACKAGE => {
                let kind = self.routine_kind(word);
                ShowCreate::Routine(kind, self.routine_name()?)
            }
            _ => return Err(self.error_at(start)),
        })
    }

    /// `[IN 'file'] [FROM position] [LIMIT [offset,] count]`
    fn event_range(&mut self) -> SqlResult<EventRange> {
        let file = match self.eat(Kw::IN) {
            true => Some(self.text_literal()?),
            false => None,
        };
        let from = match self.eat(Kw::FROM) {
            true => Some(self.number()?),
            false => None,
        };
        let limit = self.simple_limit()?;
        Ok(EventRange { file, from, limit })
    }
}

fn warning_kind(word: Kw) -> WarningKind {
    match word {
        Kw::ERRORS => WarningKind::Errors,
        _ => WarningKind::Warnings,
    }
}
