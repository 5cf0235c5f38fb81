//! Views, and what stands between CREATE or ALTER and VIEW, TRIGGER, PROCEDURE, FUNCTION, EVENT.

use super::ddl;
use crate::ast::Statement;
use crate::ast::ddl::{
    CheckOption, CreateView, Creation, Ddl, Definer, ViewAlgorithm, ViewCreation,
};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::sql_mode::SqlMode;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;

/// ALGORITHM, DEFINER and SQL SECURITY, which may stand before the kind of object.
#[derive(Default)]
pub(in crate::parse) struct Suid {
    pub(in crate::parse) algorithm: Option<ViewAlgorithm>,
    pub(in crate::parse) definer: Option<Definer>,
    pub(in crate::parse) invoker: Option<bool>,
}

impl Parser<'_> {
    fn suid(&mut self) -> SqlResult<Suid> {
        let mut s = Suid::default();
        if self.eat(Kw::ALGORITHM) {
            self.expect_tok(Tok::Eq)?;
            s.algorithm = Some(if self.eat(Kw::UNDEFINED) {
                ViewAlgorithm::Undefined
            } else if self.eat(Kw::MERGE) {
                ViewAlgorithm::Merge
            } else {
                self.expect(Kw::TEMPTABLE)?;
                ViewAlgorithm::TempTable
            });
        }
        if self.eat(Kw::DEFINER) {
            self.expect_tok(Tok::Eq)?;
            s.definer = Some(self.definer()?);
        }
        if self.eat(Kw::SQL) {
            self.expect(Kw::SECURITY)?;
            s.invoker = Some(self.invoker()?);
        }
        Ok(s)
    }

    /// INVOKER (true) or DEFINER.
    pub(in crate::parse) fn invoker(&mut self) -> SqlResult<bool> {
        let invoker = self.eat(Kw::INVOKER);
        if !invoker {
            self.expect(Kw::DEFINER)?;
        }
        Ok(invoker)
    }

    /// CURRENT_USER, CURRENT_ROLE, or an account.
    fn definer(&mut self) -> SqlResult<Definer> {
        let current = match self.peek() {
            Tok::Word(Kw::CURRENT_USER) => Definer::CurrentUser,
            Tok::Word(Kw::CURRENT_ROLE) => Definer::CurrentRole,
            _ => {
                let user = self.account_word()?;
                let host = match self.peek() {
                    Tok::UserVar => Some(self.at_name()?),
                    _ => None,
                };
                return Ok(Definer::Account(user, host));
            }
        };
        self.bump();
        if self.eat_tok(Tok::LParen) {
            self.expect_tok(Tok::RParen)?;
        }
        Ok(current)
    }

    /// CREATE of a view or a stored program, behind CREATE [OR REPLACE].
    pub(super) fn create_with_suid(&mut self, creation: Creation) -> SqlResult<Statement> {
        let suid = self.suid()?;
        if self.eat(Kw::VIEW) {
            let replace = creation.or_replace;
            let exists = self.if_not_exists()?;
            let creation = match (replace, exists) {
                (true, true) => {
                    return Err(errors::WRONG_USAGE.with([&"OR REPLACE", &"IF NOT EXISTS"]));
                }
                (true, false) => ViewCreation::OrReplace,
                (false, true) => ViewCreation::IfNotExists,
                (false, false) => ViewCreation::New,
            };
            return self.view(creation, suid);
        }
        if suid.algorithm.is_some() || suid.invoker.is_some() {
            return Err(self.error());
        }
        self.create_program(creation, suid.definer)
    }

    /// ALTER of a view or an event, behind ALTER.
    pub(super) fn alter_with_suid(&mut self) -> SqlResult<Statement> {
        let suid = self.suid()?;
        if self.eat(Kw::VIEW) {
            return self.view(ViewCreation::Alter, suid);
        }
        if suid.algorithm.is_some() || suid.invoker.is_some() {
            return Err(self.error());
        }
        self.expect(Kw::EVENT)?;
        self.alter_event(suid.definer)
    }

    /// Behind VIEW and IF NOT EXISTS.
    fn view(&mut self, creation: ViewCreation, suid: Suid) -> SqlResult<Statement> {
        let view = self.table_name()?;
        let mut columns = Vec::new();
        if self.peek() == Tok::LParen {
            columns = self.name_list()?;
        }
        self.expect(Kw::AS)?;
        let start = self.here();
        let select = Box::new(self.query()?);
        let mut check = CheckOption::None;
        if self.eat(Kw::WITH) {
            check = if self.eat(Kw::LOCAL) {
                CheckOption::Local
            } else {
                self.eat(Kw::CASCADED);
                CheckOption::Cascaded
            };
            self.expect(Kw::CHECK)?;
            self.expect(Kw::OPTION)?;
        }
        let source = self.slice(start, self.behind()).to_string();
        Ok(ddl(Ddl::CreateView(CreateView {
            creation,
            algorithm: suid.algorithm,
            definer: suid.definer,
            invoker: suid.invoker,
            view,
            columns,
            select,
            source,
            check,
        })))
    }

    /// True in sql_mode=ORACLE, which has a grammar of its own for stored programs.
    pub(crate) fn oracle(&self) -> bool {
        self.mode.has(SqlMode::ORACLE)
    }
}
