//! Transactions, XA, locks on tables and HANDLER.

use crate::ast::admin::{
    Admin, Completion, Handler, HandlerCursor, HandlerRead, LockKind, LockWait, TableLock, Xa,
    XaModifier, XaName,
};
use crate::keyword::Kw;
use crate::parse::named_tables::each_once;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;

/// The longest part of an XA name, bytes.
const MAX_XA_PART: usize = 64;

impl Parser<'_> {
    pub(super) fn begin(&mut self) -> SqlResult<Admin> {
        self.bump();
        self.eat(Kw::WORK);
        Ok(Admin::Begin {
            read_only: None,
            snapshot: false,
        })
    }

    /// START TRANSACTION and START SLAVE.
    pub(super) fn start(&mut self) -> SqlResult<Admin> {
        self.bump();
        if !self.eat(Kw::TRANSACTION) {
            return self.start_replica();
        }
        let (mut read_only, mut snapshot) = (None, false);
        if !self.at_statement_end() {
            self.comma_separated(|p| {
                if p.eat_all(&[Kw::WITH, Kw::CONSISTENT, Kw::SNAPSHOT]) {
                    snapshot = true;
                } else {
                    let access = p.access_mode()?;
                    if read_only
                        .replace(access)
                        .is_some_and(|before| before != access)
                    {
                        return Err(p.error());
                    }
                }
                Ok(())
            })?;
        }
        Ok(Admin::Begin {
            read_only,
            snapshot,
        })
    }

    /// READ ONLY (true) or READ WRITE.
    pub(super) fn access_mode(&mut self) -> SqlResult<bool> {
        self.expect(Kw::READ)?;
        if self.eat(Kw::ONLY) {
            return Ok(true);
        }
        self.expect(Kw::WRITE)?;
        Ok(false)
    }

    /// `[WORK] [AND [NO] CHAIN] [[NO] RELEASE]`
    fn completion(&mut self) -> SqlResult<Completion> {
        self.eat(Kw::WORK);
        let mut done = Completion::default();
        if self.eat(Kw::AND) {
            let no = self.eat(Kw::NO);
            self.expect(Kw::CHAIN)?;
            done.chain = Some(!no);
        }
        if self.at(Kw::NO) || (self.at(Kw::RELEASE) && done.chain != Some(true)) {
            let no = self.eat(Kw::NO);
            self.expect(Kw::RELEASE)?;
            done.release = Some(!no);
        }
        Ok(done)
    }

    pub(super) fn commit(&mut self) -> SqlResult<Admin> {
        self.bump();
        Ok(Admin::Commit(self.completion()?))
    }

    pub(super) fn rollback(&mut self) -> SqlResult<Admin> {
        self.bump();
        let to = usize::from(self.at(Kw::WORK));
        if !self.at_nth(to, Kw::TO) {
            return Ok(Admin::Rollback(self.completion()?));
        }
        self.eat(Kw::WORK);
        self.bump();
        // The name may be this word itself.
        if self.at(Kw::SAVEPOINT) && self.peek_at(1) != Tok::End {
            self.bump();
        }
        Ok(Admin::RollbackTo(self.passing_ident()?))
    }

    pub(super) fn savepoint(&mut self) -> SqlResult<Admin> {
        self.bump();
        Ok(Admin::Savepoint(self.passing_ident()?))
    }

    pub(super) fn release_savepoint(&mut self) -> SqlResult<Admin> {
        self.bump();
        self.expect(Kw::SAVEPOINT)?;
        Ok(Admin::ReleaseSavepoint(self.passing_ident()?))
    }

    pub(super) fn xa(&mut self) -> SqlResult<Admin> {
        self.bump();
        let Tok::Word(word) = self.peek() else {
            return Err(self.error());
        };
        let xa = match word {
            Kw::START | Kw::BEGIN => {
                self.bump();
                Xa::Start(self.xa_name()?, self.xa_start_modifier())
            }
            Kw::END => {
                self.bump();
                Xa::End(self.xa_name()?, self.xa_end_modifier()?)
            }
            Kw::PREPARE => {
                self.bump();
                Xa::Prepare(self.xa_name()?)
            }
            Kw::COMMIT => {
                self.bump();
                let name = self.xa_name()?;
                let mut modifier = XaModifier::None;
                if self.eat(Kw::ONE) {
                    self.expect(Kw::PHASE)?;
                    modifier = XaModifier::OnePhase;
                }
                Xa::Commit(name, modifier)
            }
            Kw::ROLLBACK => {
                self.bump();
                Xa::Rollback(self.xa_name()?)
            }
            Kw::RECOVER => {
                self.bump();
                Xa::Recover(self.xa_format()?)
            }
            _ => return Err(self.error()),
        };
        Ok(Admin::Xa(xa))
    }

    fn xa_start_modifier(&mut self) -> XaModifier {
        match self.eat_one(&[Kw::JOIN, Kw::RESUME]) {
            Some(Kw::JOIN) => XaModifier::Join,
            Some(_) => XaModifier::Resume,
            None => XaModifier::None,
        }
    }

    fn xa_end_modifier(&mut self) -> SqlResult<XaModifier> {
        if !self.eat(Kw::SUSPEND) {
            return Ok(XaModifier::None);
        }
        if !self.eat(Kw::FOR) {
            return Ok(XaModifier::Suspend);
        }
        self.expect(Kw::MIGRATE)?;
        Ok(XaModifier::Migrate)
    }

    fn xa_format(&mut self) -> SqlResult<Option<String>> {
        if !self.eat(Kw::FORMAT) {
            return Ok(None);
        }
        self.expect_tok(Tok::Eq)?;
        Ok(Some(self.text_or_ident()?))
    }

    /// A name: one or two strings and a format number.
    fn xa_name(&mut self) -> SqlResult<XaName> {
        let gtrid = self.xa_part()?;
        let (mut bqual, mut format) = (Vec::new(), 1);
        if self.eat_tok(Tok::Comma) {
            bqual = self.xa_part()?;
            if self.eat_tok(Tok::Comma) {
                let at = self.here();
                let number = self.number()?;
                format = u32::try_from(number)
                    .ok()
                    .filter(|n| i32::try_from(*n).is_ok())
                    .ok_or_else(|| self.error_at(at))?;
            }
        }
        Ok(XaName {
            gtrid,
            bqual,
            format,
        })
    }

    /// A string of at most 64 bytes: quoted, or in hexadecimal or binary.
    fn xa_part(&mut self) -> SqlResult<Vec<u8>> {
        let bytes = match self.peek() {
            Tok::String => self.text_literal()?.into_bytes(),
            Tok::Hex => coded(self.next_text(), 16),
            Tok::Bit => coded(self.next_text(), 2),
            _ => return Err(self.error()),
        };
        if self.peek_is_coded() {
            self.bump();
        }
        if bytes.len() > MAX_XA_PART {
            return Err(self.error_at(self.text.len()));
        }
        Ok(bytes)
    }

    fn peek_is_coded(&self) -> bool {
        matches!(self.peek(), Tok::Hex | Tok::Bit)
    }

    pub(super) fn lock_tables(&mut self) -> SqlResult<Admin> {
        self.bump();
        if !self.eat_tables() {
            return Err(self.error());
        }
        let tables = self.comma_separated(Self::table_lock)?;
        each_once(tables.iter().map(|t| (&t.table, t.alias.as_deref())))?;
        let wait = self.lock_wait_clause()?;
        Ok(Admin::LockTables { tables, wait })
    }

    /// `[WAIT n | NOWAIT]`
    pub(super) fn lock_wait_clause(&mut self) -> SqlResult<Option<LockWait>> {
        self.may_wait()?;
        if self.eat(Kw::NOWAIT) {
            return Ok(Some(LockWait::No));
        }
        if !self.eat(Kw::WAIT) {
            return Ok(None);
        }
        Ok(Some(LockWait::Seconds(self.number()?)))
    }

    /// `[db.]table [[AS] alias] lock`
    fn table_lock(&mut self) -> SqlResult<TableLock> {
        let table = self.table_name()?;
        let kind = [Kw::READ, Kw::WRITE, Kw::LOW_PRIORITY];
        let concurrent = self.at(Kw::CONCURRENT) && self.at_nth(1, Kw::WRITE);
        let alias = if self.eat(Kw::AS) || !(concurrent || kind.iter().any(|k| self.at(*k))) {
            Some(self.ident()?)
        } else {
            None
        };
        let kind = if self.eat(Kw::READ) {
            match self.eat(Kw::LOCAL) {
                true => LockKind::ReadLocal,
                false => LockKind::Read,
            }
        } else if self.eat(Kw::LOW_PRIORITY) {
            self.expect(Kw::WRITE)?;
            LockKind::LowPriorityWrite
        } else if self.eat(Kw::CONCURRENT) {
            self.expect(Kw::WRITE)?;
            LockKind::WriteConcurrent
        } else {
            self.expect(Kw::WRITE)?;
            match self.eat(Kw::CONCURRENT) {
                true => LockKind::WriteConcurrent,
                false => LockKind::Write,
            }
        };
        Ok(TableLock { table, alias, kind })
    }

    pub(super) fn unlock_tables(&mut self) -> SqlResult<Admin> {
        self.bump();
        match self.eat_tables() {
            true => Ok(Admin::UnlockTables),
            false => Err(self.error()),
        }
    }

    pub(super) fn handler_statement(&mut self) -> SqlResult<Admin> {
        self.bump();
        let table = self.table_name()?;
        let handler = if self.eat(Kw::OPEN) {
            let alias = if self.eat(Kw::AS) || !self.at_statement_end() {
                Some(self.ident()?)
            } else {
                None
            };
            Handler::Open { table, alias }
        } else if table.db.is_none() && self.eat(Kw::CLOSE) {
            Handler::Close(table)
        } else if table.db.is_none() && self.eat(Kw::READ) {
            Handler::Read(table, Box::new(self.handler_read()?))
        } else {
            return Err(self.error());
        };
        Ok(Admin::Handler(Box::new(handler)))
    }

    fn handler_read(&mut self) -> SqlResult<HandlerRead> {
        // FIRST and NEXT may be the name of an index.
        let scan =
            matches!(self.peek(), Tok::Word(Kw::FIRST | Kw::NEXT)) && !self.is_handler_step(1);
        let index = match scan {
            true => None,
            false => Some(self.ident()?),
        };
        let cursor = match self.peek() {
            Tok::Word(Kw::FIRST) => HandlerCursor::First,
            Tok::Word(Kw::NEXT) => HandlerCursor::Next,
            Tok::Word(Kw::PREV) if !scan => HandlerCursor::Prev,
            Tok::Word(Kw::LAST) if !scan => HandlerCursor::Last,
            t => match comparison(t).filter(|_| !scan) {
                Some(op) => HandlerCursor::Key(op, Vec::new()),
                None => return Err(self.error()),
            },
        };
        self.bump();
        let cursor = match cursor {
            HandlerCursor::Key(op, _) => {
                self.expect_tok(Tok::LParen)?;
                let values = self.comma_separated(|p| p.using_value("HANDLER..READ"))?;
                self.expect_tok(Tok::RParen)?;
                HandlerCursor::Key(op, values)
            }
            c => c,
        };
        let where_ = match self.eat(Kw::WHERE) {
            true => Some(self.plain_operand("HANDLER..READ")?),
            false => None,
        };
        let limit = self.simple_limit()?;
        Ok(HandlerRead {
            index,
            cursor,
            where_,
            limit,
            params: self.params,
        })
    }

    fn is_handler_step(&self, n: usize) -> bool {
        let t = self.peek_at(n);
        matches!(t, Tok::Word(Kw::FIRST | Kw::NEXT | Kw::PREV | Kw::LAST))
            || comparison(t).is_some()
    }
}

/// How HANDLER READ compares a key.
fn comparison(t: Tok) -> Option<&'static str> {
    Some(match t {
        Tok::Eq => "=",
        Tok::Ge => ">=",
        Tok::Le => "<=",
        Tok::Gt => ">",
        Tok::Lt => "<",
        _ => return None,
    })
}

/// The bytes of a hexadecimal (`radix` 16) or binary literal; zeros are put in front to make whole bytes.
fn coded(literal: &str, radix: u32) -> Vec<u8> {
    let digits = literal.trim_end_matches('\'');
    let digits = &digits[2.min(digits.len())..];
    let per_byte = match radix {
        16 => 2,
        _ => 8,
    };
    let zeros = "0".repeat(digits.len().next_multiple_of(per_byte) - digits.len());
    let all = zeros + digits;
    all.as_bytes()
        .chunks(per_byte)
        .filter_map(|c| u8::from_str_radix(std::str::from_utf8(c).ok()?, radix).ok())
        .collect()
}
