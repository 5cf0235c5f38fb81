//! DESCRIBE, EXPLAIN and ANALYZE of statements, and of what other connections run.

use crate::ast::admin::Admin;
use crate::ast::{ExplainForm, Statement};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;

impl Parser<'_> {
    /// DESCRIBE table, EXPLAIN statement, EXPLAIN FOR CONNECTION.
    pub(super) fn describe(&mut self) -> SqlResult<Statement> {
        self.bump();
        if self.at_explainable() {
            return self.explained(ExplainForm::Table);
        }
        if self.at(Kw::FORMAT) && self.peek_at(1) == Tok::Eq {
            let form = self.explain_format()?;
            if self.eat_all(&[Kw::FOR, Kw::CONNECTION]) {
                return self.explain_connection(false, form == ExplainForm::Json);
            }
            return self.explained(form);
        }
        if self.eat(Kw::FOR) {
            self.expect(Kw::CONNECTION)?;
            return self.explain_connection(false, false);
        }
        if self.at_explainable_nth(1) && self.eat(Kw::PARTITIONS) {
            return self.explained(ExplainForm::Partitions);
        }
        let extended = self.at(Kw::EXTENDED)
            && (self.at_explainable_nth(1)
                || self.at_nth(1, Kw::ALL) && self.at_explainable_nth(2));
        if extended {
            self.bump();
            self.eat(Kw::ALL);
            return self.explained(ExplainForm::Extended);
        }
        let table = self.table_name()?;
        let like = match self.peek() {
            Tok::End | Tok::Semicolon => None,
            Tok::String => Some(self.text_literal()?),
            _ => Some(self.ident()?),
        };
        Ok(Statement::Admin(Box::new(Admin::Describe { table, like })))
    }

    /// ANALYZE [FORMAT=JSON] statement: runs it, too.
    pub(super) fn analyze_statement(&mut self) -> SqlResult<Statement> {
        self.bump();
        let json = self.at(Kw::FORMAT) && self.explain_format()? == ExplainForm::Json;
        self.explained(match json {
            true => ExplainForm::AnalyzeJson,
            false => ExplainForm::Analyze,
        })
    }

    fn at_explainable(&self) -> bool {
        self.at_explainable_nth(0)
    }

    fn at_explainable_nth(&self, n: usize) -> bool {
        match self.peek_at(n) {
            Tok::LParen => true,
            Tok::Word(k) => matches!(
                k,
                Kw::SELECT
                    | Kw::WITH
                    | Kw::VALUES
                    | Kw::INSERT
                    | Kw::REPLACE
                    | Kw::UPDATE
                    | Kw::DELETE
            ),
            _ => false,
        }
    }

    fn explained(&mut self, form: ExplainForm) -> SqlResult<Statement> {
        if !self.at_explainable() {
            return Err(self.error());
        }
        let statement = self.nested(Self::statement)?;
        Ok(Statement::Explain(Box::new(statement), form))
    }

    /// `FORMAT = name`
    fn explain_format(&mut self) -> SqlResult<ExplainForm> {
        self.bump();
        self.expect_tok(Tok::Eq)?;
        let name = self.text_or_ident()?;
        if name.eq_ignore_ascii_case("JSON") {
            return Ok(ExplainForm::Json);
        }
        if name.eq_ignore_ascii_case("TRADITIONAL") {
            return Ok(ExplainForm::Table);
        }
        let message = format!("Unknown EXPLAIN/ANALYZE format name: '{name}'");
        Err(errors::UNKNOWN_EXPLAIN_FORMAT.text(message))
    }

    fn explain_connection(&mut self, analyze: bool, json: bool) -> SqlResult<Statement> {
        let connection = self.operand()?;
        Ok(Statement::Admin(Box::new(Admin::ExplainConnection {
            analyze,
            json,
            connection,
        })))
    }

    /// True before `{EXPLAIN|ANALYZE} [FORMAT=JSON] FOR`, behind SHOW.
    pub(super) fn at_explain_connection(&self) -> bool {
        matches!(
            self.peek(),
            Tok::Word(Kw::EXPLAIN | Kw::DESCRIBE | Kw::DESC | Kw::ANALYZE)
        )
    }

    /// SHOW EXPLAIN FOR id, SHOW ANALYZE FOR id.
    pub(super) fn show_explain(&mut self) -> SqlResult<Admin> {
        let analyze = self.bump().tok == Tok::Word(Kw::ANALYZE);
        let json = self.at(Kw::FORMAT) && self.explain_format()? == ExplainForm::Json;
        self.expect(Kw::FOR)?;
        Ok(Admin::ExplainConnection {
            analyze,
            json,
            connection: self.operand()?,
        })
    }
}
