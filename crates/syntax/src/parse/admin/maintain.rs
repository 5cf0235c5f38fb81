//! FLUSH, RESET, PURGE, BACKUP, and what keeps tables in order.

use crate::ast::admin::{
    Admin, AnalyzeColumns, Backup, BackupStage, CacheTable, CheckOption, Connection, Flush,
    FlushLock, Maintain, Maintenance, PartitionList, Reset, Set, SetItem, TableKind,
};
use crate::keyword::Kw;
use crate::parse::named_tables::each_once;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::face::is_mysql;
use narwal_types::{SqlError, SqlResult};

/// What MariaDB's own tables of statistics are flushed by.
const STATISTICS: [&str; 7] = [
    "CLIENT_STATISTICS",
    "INDEX_STATISTICS",
    "TABLE_STATISTICS",
    "USER_STATISTICS",
    "THREAD_POOL_STATS",
    "THREAD_POOL_WAITS",
    "USER_VARIABLES",
];
/// The largest MAX RATE.
const MAX_RATE: u64 = 1 << 24;

impl Parser<'_> {
    /// True if ANALYZE is about tables: what stands `n` tokens behind the next one says so.
    pub(super) fn is_maintenance(&self, n: usize) -> bool {
        matches!(
            self.peek_at(n),
            Tok::Word(Kw::TABLE | Kw::TABLES | Kw::LOCAL | Kw::NO_WRITE_TO_BINLOG)
        )
    }

    fn eat_local(&mut self) -> bool {
        self.eat_one(&[Kw::LOCAL, Kw::NO_WRITE_TO_BINLOG]).is_some()
    }

    pub(super) fn maintain(&mut self) -> SqlResult<Admin> {
        let op = match self.bump().tok {
            Tok::Word(Kw::CHECK) => Maintenance::Check,
            Tok::Word(Kw::ANALYZE) => Maintenance::Analyze,
            Tok::Word(Kw::OPTIMIZE) => Maintenance::Optimize,
            _ => Maintenance::Repair,
        };
        let local = op != Maintenance::Check && self.eat_local();
        let views = matches!(op, Maintenance::Check | Maintenance::Repair) && self.eat(Kw::VIEW);
        if !views && !self.eat_tables() {
            return Err(self.error());
        }
        let mut m = Maintain {
            op,
            kind: if views {
                TableKind::View
            } else {
                TableKind::Table
            },
            local,
            tables: Vec::new(),
            options: Vec::new(),
            persistent: None,
            wait: None,
        };
        loop {
            m.tables.push(self.table_name()?);
            if op == Maintenance::Analyze && self.eat(Kw::PERSISTENT) {
                m.persistent = Some(self.persistent()?);
            }
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        each_once(m.tables.iter().map(|t| (t, None)))?;
        match (op, views) {
            (Maintenance::Check | Maintenance::Repair, _) => {
                while let Some(option) = self.check_option(op, views)? {
                    m.options.push(option);
                    if views {
                        break;
                    }
                }
            }
            (Maintenance::Optimize, _) => m.wait = self.lock_wait_clause()?,
            _ => {}
        }
        Ok(Admin::Maintain(m))
    }

    /// A word behind the tables of CHECK and REPAIR.
    fn check_option(&mut self, op: Maintenance, views: bool) -> SqlResult<Option<CheckOption>> {
        let check = op == Maintenance::Check;
        if check && self.eat(Kw::FOR) {
            self.expect(Kw::UPGRADE)?;
            return Ok(Some(CheckOption::ForUpgrade));
        }
        if !check && views && self.eat(Kw::FROM) {
            self.expect(Kw::MYSQL)?;
            return Ok(Some(CheckOption::FromMysql));
        }
        if views {
            return Ok(None);
        }
        let words: &[(Kw, CheckOption)] = match check {
            true => &[
                (Kw::QUICK, CheckOption::Quick),
                (Kw::FAST, CheckOption::Fast),
                (Kw::MEDIUM, CheckOption::Medium),
                (Kw::EXTENDED, CheckOption::Extended),
                (Kw::CHANGED, CheckOption::Changed),
            ],
            false => &[
                (Kw::QUICK, CheckOption::Quick),
                (Kw::EXTENDED, CheckOption::Extended),
                (Kw::USE_FRM, CheckOption::UseFrm),
            ],
        };
        Ok(words.iter().find(|(w, _)| self.eat(*w)).map(|(_, o)| *o))
    }

    /// What stands behind PERSISTENT.
    fn persistent(&mut self) -> SqlResult<(AnalyzeColumns, AnalyzeColumns)> {
        self.expect(Kw::FOR)?;
        if self.eat(Kw::ALL) {
            return Ok((AnalyzeColumns::All, AnalyzeColumns::All));
        }
        self.expect(Kw::COLUMNS)?;
        let columns = self.analyze_list()?;
        self.expect(Kw::INDEXES)?;
        Ok((columns, self.analyze_list()?))
    }

    fn analyze_list(&mut self) -> SqlResult<AnalyzeColumns> {
        if self.eat(Kw::ALL) {
            return Ok(AnalyzeColumns::All);
        }
        Ok(AnalyzeColumns::Some(self.index_names()?))
    }

    /// `(name, ...)`, maybe empty. PRIMARY is a name here.
    fn index_names(&mut self) -> SqlResult<Vec<String>> {
        self.expect_tok(Tok::LParen)?;
        if self.eat_tok(Tok::RParen) {
            return Ok(Vec::new());
        }
        let names = self.comma_separated(|p| match p.eat(Kw::PRIMARY) {
            true => Ok("PRIMARY".to_string()),
            false => p.ident(),
        })?;
        self.expect_tok(Tok::RParen)?;
        Ok(names)
    }

    pub(super) fn checksum(&mut self) -> SqlResult<Admin> {
        self.bump();
        if !self.eat_tables() {
            return Err(self.error());
        }
        let tables = self.named_tables()?;
        let word = self.eat_one(&[Kw::QUICK, Kw::EXTENDED]);
        let extended = word.map(|w| w == Kw::EXTENDED);
        Ok(Admin::Checksum { tables, extended })
    }

    pub(super) fn cache_index(&mut self) -> SqlResult<Admin> {
        self.bump();
        self.expect(Kw::INDEX)?;
        let tables = self.cache_tables(false)?;
        self.expect(Kw::IN)?;
        let cache = match self.eat(Kw::DEFAULT) {
            true => None,
            false => Some(self.ident()?),
        };
        Ok(Admin::CacheIndex { tables, cache })
    }

    pub(super) fn load_index(&mut self) -> SqlResult<Admin> {
        self.bump();
        self.bump();
        self.expect(Kw::INTO)?;
        self.expect(Kw::CACHE)?;
        Ok(Admin::LoadIndex(self.cache_tables(true)?))
    }

    /// Tables with their parts. One with PARTITION stands alone.
    fn cache_tables(&mut self, leaves: bool) -> SqlResult<Vec<CacheTable>> {
        let mut tables = Vec::new();
        loop {
            let table = self.table_name()?;
            let partitions = match tables.is_empty() && self.eat(Kw::PARTITION) {
                true => Some(self.cache_partitions()?),
                false => None,
            };
            let indexes = match self.eat_one(&[Kw::INDEX, Kw::KEY]) {
                Some(_) => Some(self.index_names()?),
                None => None,
            };
            let ignore_leaves = leaves && self.eat(Kw::IGNORE);
            if ignore_leaves {
                self.expect(Kw::LEAVES)?;
            }
            let alone = partitions.is_some();
            tables.push(CacheTable {
                table,
                partitions,
                indexes,
                ignore_leaves,
            });
            if alone || !self.eat_tok(Tok::Comma) {
                each_once(tables.iter().map(|t| (&t.table, None)))?;
                return Ok(tables);
            }
        }
    }

    fn cache_partitions(&mut self) -> SqlResult<PartitionList> {
        self.expect_tok(Tok::LParen)?;
        let list = match self.eat(Kw::ALL) {
            true => PartitionList::All,
            false => PartitionList::Some(self.comma_separated(Self::ident)?),
        };
        self.expect_tok(Tok::RParen)?;
        Ok(list)
    }

    pub(super) fn flush(&mut self) -> SqlResult<Admin> {
        self.bump();
        self.eat_local();
        if self.eat_tables() {
            return Ok(Admin::Flush(vec![self.flush_tables()?]));
        }
        Ok(Admin::Flush(self.comma_separated(Self::flush_item)?))
    }

    fn flush_tables(&mut self) -> SqlResult<Flush> {
        let named = !self.at_statement_end() && !self.at(Kw::WITH) && !self.at(Kw::FOR);
        let tables = match named {
            true => self.named_tables()?,
            false => Vec::new(),
        };
        let mut lock = FlushLock::None;
        if self.at(Kw::FOR) {
            if tables.is_empty() {
                return Err(self.no_tables_used());
            }
            self.bump();
            self.expect(Kw::EXPORT)?;
            lock = FlushLock::Export;
        } else if self.eat(Kw::WITH) {
            self.expect(Kw::READ)?;
            self.expect(Kw::LOCK)?;
            lock = FlushLock::Read;
            if self.eat(Kw::AND) {
                self.expect(Kw::DISABLE)?;
                self.expect(Kw::CHECKPOINT)?;
                lock = FlushLock::ReadNoCheckpoint;
            }
        }
        Ok(Flush::Tables { tables, lock })
    }

    /// FOR EXPORT is for tables by name.
    fn no_tables_used(&self) -> SqlError {
        self.error_saying("No tables used")
    }

    fn flush_item(&mut self) -> SqlResult<Flush> {
        let start = self.here();
        let Tok::Word(word) = self.peek() else {
            return Err(self.error());
        };
        let logs = |p: &mut Self, flush: Flush| {
            p.bump();
            p.expect(Kw::LOGS)?;
            Ok::<_, SqlError>(flush)
        };
        Ok(match word {
            Kw::ERROR => logs(self, Flush::TextLogs("ERROR"))?,
            Kw::SLOW => logs(self, Flush::TextLogs("SLOW"))?,
            Kw::GENERAL => logs(self, Flush::TextLogs("GENERAL"))?,
            Kw::ENGINE => logs(self, Flush::EngineLogs)?,
            Kw::BINARY => {
                logs(self, Flush::Logs)?;
                Flush::BinaryLogs(self.deleted_domains()?)
            }
            Kw::RELAY => {
                logs(self, Flush::Logs)?;
                let name = self.connection_name()?;
                Flush::RelayLogs(self.for_channel(name)?)
            }
            Kw::QUERY => {
                self.bump();
                self.expect(Kw::CACHE)?;
                Flush::QueryCache
            }
            Kw::SLAVE | Kw::REPLICA => {
                self.bump();
                let name = self.connection_name()?;
                Flush::Slave(name.map_or(Connection::Default, Connection::Named))
            }
            Kw::PRIVILEGES => self.flushed(Flush::Privileges),
            Kw::LOGS => self.flushed(Flush::Logs),
            Kw::STATUS => self.flushed(Flush::Status),
            Kw::MASTER => self.flushed(Flush::Master),
            Kw::HOSTS => self.flushed(Flush::Hosts),
            Kw::DES_KEY_FILE | Kw::USER_RESOURCES | Kw::SSL | Kw::THREADS => {
                self.flushed(Flush::Other(word.name().to_string()))
            }
            _ => {
                let name = self.next_text().to_ascii_uppercase();
                if !STATISTICS.contains(&name.as_str()) {
                    return Err(self.error_at(start));
                }
                self.flushed(Flush::Other(name))
            }
        })
    }

    fn flushed(&mut self, flush: Flush) -> Flush {
        self.bump();
        flush
    }

    /// `[DELETE_DOMAIN_ID = (n, ...)]`
    fn deleted_domains(&mut self) -> SqlResult<Vec<u64>> {
        if !self.eat(Kw::DELETE_DOMAIN_ID) {
            return Ok(Vec::new());
        }
        self.expect_tok(Tok::Eq)?;
        self.number_list()
    }

    pub(super) fn reset(&mut self) -> SqlResult<Admin> {
        self.bump();
        if is_mysql() && self.eat_word("PERSIST") {
            return self.reset_persist();
        }
        let items = self.comma_separated(|p| {
            if p.eat(Kw::MASTER) {
                return Ok(Reset::Master(match p.eat(Kw::TO) {
                    true => Some(p.number()?),
                    false => None,
                }));
            }
            if p.eat_all(&[Kw::BINARY, Kw::LOGS, Kw::AND]) {
                if !p.eat_word("GTIDS") {
                    return Err(p.error());
                }
                return Ok(Reset::BinaryLogs(match p.eat(Kw::TO) {
                    true => Some(p.number()?),
                    false => None,
                }));
            }
            if p.eat(Kw::QUERY) {
                p.expect(Kw::CACHE)?;
                return Ok(Reset::QueryCache);
            }
            if p.eat_one(&[Kw::SLAVE, Kw::REPLICA]).is_none() {
                return Err(p.error());
            }
            let name = p.connection_name()?;
            let all = p.eat(Kw::ALL);
            let connection = p.for_channel(name)?;
            Ok(Reset::Slave { connection, all })
        })?;
        Ok(Admin::Reset(items))
    }

    /// `RESET PERSIST [[IF EXISTS] name]`
    fn reset_persist(&mut self) -> SqlResult<Admin> {
        let if_exists = self.eat_all(&[Kw::IF, Kw::EXISTS]);
        let name = match if_exists || self.at_ident() {
            true => Some(self.variable_name()?),
            false => None,
        };
        let items = vec![SetItem::Forget { name, if_exists }];
        Ok(Admin::Set(Set { items }))
    }

    pub(super) fn purge(&mut self) -> SqlResult<Admin> {
        self.bump();
        if self.eat_one(&[Kw::BINARY, Kw::MASTER]).is_none() {
            return Err(self.error());
        }
        self.expect(Kw::LOGS)?;
        if self.eat(Kw::TO) {
            return Ok(Admin::PurgeTo(self.text_literal()?));
        }
        self.expect(Kw::BEFORE)?;
        Ok(Admin::PurgeBefore(self.plain_operand("PURGE..BEFORE")?))
    }

    pub(super) fn backup(&mut self) -> SqlResult<Admin> {
        self.bump();
        let backup = if self.eat(Kw::STAGE) {
            Backup::Stage(self.backup_stage()?)
        } else if self.eat(Kw::LOCK) {
            Backup::Lock(self.table_name()?)
        } else if self.eat(Kw::UNLOCK) {
            Backup::Unlock
        } else if self.eat(Kw::TO) {
            let folder = self.text_literal()?;
            let parent = if self.eat_word("INCREMENTAL") {
                self.expect(Kw::FROM)?;
                Some(self.text_literal()?)
            } else {
                None
            };
            let (no_log, max_rate) = self.backup_words()?;
            Backup::To {
                folder,
                parent,
                no_log,
                max_rate,
            }
        } else if self.eat_word("STREAM") {
            let (no_log, max_rate) = self.backup_words()?;
            let resume = if self.eat(Kw::RESUME) {
                let token = self.text_literal()?;
                self.expect(Kw::AFTER)?;
                Some((token, self.number()?))
            } else {
                None
            };
            Backup::Stream {
                no_log,
                max_rate,
                resume,
            }
        } else {
            return Err(self.error());
        };
        Ok(Admin::Backup(backup))
    }

    /// `[NO LOG] [MAX RATE n]`
    fn backup_words(&mut self) -> SqlResult<(bool, Option<u64>)> {
        let no_log = self.eat(Kw::NO);
        if no_log && !self.eat_word("LOG") {
            return Err(self.error());
        }
        if !self.eat(Kw::MAX) {
            return Ok((no_log, None));
        }
        if !self.eat_word("RATE") {
            return Err(self.error());
        }
        Ok((no_log, Some(self.number()?.min(MAX_RATE))))
    }

    fn backup_stage(&mut self) -> SqlResult<BackupStage> {
        let name = self.ident()?;
        use BackupStage::{BlockCommit, BlockDdl, End, Flush, Start};
        let stages = [Start, Flush, BlockDdl, BlockCommit, End];
        let named = |stage: &BackupStage| name.eq_ignore_ascii_case(stage.name());
        if let Some(stage) = stages.into_iter().find(named) {
            return Ok(stage);
        }
        let message = format!(
            "Unknown backup stage: '{name}'. Stage should be one of START, FLUSH, BLOCK_DDL, BLOCK_COMMIT or END"
        );
        Err(errors::BACKUP_UNKNOWN_STAGE.text(message))
    }
}
