//! The language of stored programs as sql_mode=ORACLE has it: blocks with EXCEPTION, `:=`, `<<label>>`, EXIT WHEN, GOTO.

use super::program;
use crate::ast::TableName;
use crate::ast::admin::{Admin, Set, SetItem};
use crate::ast::program::{
    Block, Body, Call, ConditionValue, CursorSource, Declaration, HandlerAction, Loop, LoopKind,
    Program, Signal,
};
use crate::ast::{CursorAttribute, Expr, Statement};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::sql_mode::SqlMode;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::{Name, SqlResult};

/// Words that are variables' names, but no beginning of an assignment: they begin statements, or end blocks.
const NEVER_ASSIGNED: &[Kw] = &[
    Kw::BEGIN,
    Kw::CHARSET,
    Kw::CLOSE,
    Kw::COMMENT,
    Kw::COMMIT,
    Kw::CONTAINS,
    Kw::DO,
    Kw::END,
    Kw::EXCEPTION,
    Kw::FOLLOWS,
    Kw::HANDLER,
    Kw::LANGUAGE,
    Kw::NO,
    Kw::OPEN,
    Kw::PRECEDES,
    Kw::REPAIR,
    Kw::ROLLBACK,
    Kw::SAVEPOINT,
    Kw::SHUTDOWN,
    Kw::TRUNCATE,
];

impl Parser<'_> {
    /// A statement that sql_mode=ORACLE alone has, outside of any program.
    pub(in crate::parse) fn oracle_statement(&mut self) -> SqlResult<Option<Statement>> {
        if self.in_program {
            return Ok(None);
        }
        let compound = match self.peek() {
            Tok::Word(Kw::DECLARE | Kw::BEGIN) => true,
            Tok::Word(Kw::RAISE) => {
                self.bump();
                return self.raise(false).map(Some);
            }
            _ => false,
        };
        if compound {
            let body = self.body()?;
            return Ok(Some(program(Program::Compound(body))));
        }
        match self.at_assignment() {
            true => self.assignment().map(Some),
            false => Ok(None),
        }
    }

    /// A statement of a body.
    pub(super) fn oracle_body(&mut self) -> SqlResult<Body> {
        let at = self.here();
        if self.at_assignment() {
            let s = Box::new(self.assignment()?);
            return Ok(Body::Statement(s, at..self.behind()));
        }
        let word = match self.peek() {
            Tok::Shl => return self.oracle_label(),
            Tok::Word(word) => word,
            Tok::QuotedIdent => Kw::Plain,
            _ => {
                let s = Box::new(self.statement()?);
                return Ok(Body::Statement(s, at..self.behind()));
            }
        };
        match word {
            Kw::BEGIN | Kw::DECLARE => Ok(Body::Block(self.oracle_block(None, None)?)),
            Kw::LOOP | Kw::WHILE | Kw::FOR => Ok(Body::Loop(self.oracle_loop(None)?)),
            Kw::REPEAT => Ok(Body::Loop(self.loop_of(None)?)),
            Kw::IF => self.if_statement(),
            Kw::CASE => self.case_statement(),
            Kw::EXIT | Kw::CONTINUE => self.exit_or_continue(),
            Kw::GOTO => {
                self.bump();
                Ok(Body::Goto(self.label_ident()?))
            }
            Kw::NULL => {
                self.bump();
                Ok(Body::Nothing)
            }
            Kw::RETURN if matches!(self.peek_at(1), Tok::Semicolon | Tok::End) => {
                self.bump();
                Ok(Body::Finish)
            }
            Kw::RAISE => {
                self.bump();
                let s = Box::new(self.raise(true)?);
                Ok(Body::Statement(s, at..self.behind()))
            }
            Kw::Plain => self.direct_call(),
            word => match self.common_body(word)? {
                Some(b) => Ok(b),
                None => self.plain_body(at),
            },
        }
    }

    /// RAISE, behind the word: SIGNAL of an exception, or RESIGNAL.
    fn raise(&mut self, within: bool) -> SqlResult<Statement> {
        let condition = match self.at_ident() {
            true => Some(self.ident()?),
            false => None,
        };
        if let Some(name) = condition.as_ref().filter(|_| !within) {
            return Err(errors::SP_COND_MISMATCH.with([name]));
        }
        Ok(program(Program::Signal(Signal {
            again: condition.is_none(),
            condition: condition.map(ConditionValue::Named),
            set: Vec::new(),
        })))
    }

    /// True if `name [.name] :=` is next, perhaps behind the colon of `:NEW`.
    fn at_assignment(&self) -> bool {
        let mut n = usize::from(self.at_row_of_trigger());
        match self.peek_at(n) {
            Tok::Word(k) if k.is_reserved() || NEVER_ASSIGNED.contains(&k) => return false,
            Tok::Word(_) | Tok::QuotedIdent => n += 1,
            _ => return false,
        }
        while self.peek_at(n) == Tok::Dot && n < 6 {
            n += 2;
        }
        self.peek_at(n) == Tok::ColonEq
    }

    /// True if the colon of `:NEW` or `:OLD` is next.
    pub(in crate::parse) fn at_row_of_trigger(&self) -> bool {
        self.peek() == Tok::Colon
            && self.in_program
            && (self.at_word_nth(1, "NEW") || self.at_word_nth(1, "OLD"))
            && self.peek_at(2) == Tok::Dot
    }

    /// `name := value`
    fn assignment(&mut self) -> SqlResult<Statement> {
        self.eat_tok(Tok::Colon);
        let item = self.set_system(crate::ast::admin::Scope::Default)?;
        debug_assert!(matches!(item, SetItem::System { .. }));
        Ok(Statement::Admin(Box::new(Admin::Set(Set {
            items: vec![item],
        }))))
    }

    /// `name [(arguments)]`: a call without CALL.
    fn direct_call(&mut self) -> SqlResult<Body> {
        let at = self.here();
        let mut name = vec![self.ident()?];
        while name.len() < 3 && self.eat_tok(Tok::Dot) {
            name.push(self.ident()?);
        }
        let mut arguments = Vec::new();
        if self.peek() == Tok::LParen {
            arguments = self.arguments()?;
        }
        let call = program(Program::Call(Call { name, arguments }));
        Ok(Body::Statement(Box::new(call), at..self.behind()))
    }

    /// `EXIT [label] [WHEN condition]`, and CONTINUE.
    fn exit_or_continue(&mut self) -> SqlResult<Body> {
        let exit = self.bump().tok == Tok::Word(Kw::EXIT);
        let label = match self.at_ident() {
            true => self.label_ident()?,
            // That of the innermost loop.
            false => String::new(),
        };
        let go = match exit {
            true => Body::Leave(label),
            false => Body::Iterate(label),
        };
        if !self.eat(Kw::WHEN) {
            return Ok(go);
        }
        Ok(Body::If {
            branches: vec![(self.expression()?, vec![go])],
            otherwise: None,
        })
    }

    /// `<<label>>` and the statement behind it.
    fn oracle_label(&mut self) -> SqlResult<Body> {
        self.expect_tok(Tok::Shl)?;
        let label = self.label_ident()?;
        self.expect_tok(Tok::Shr)?;
        let own = Some(label.clone());
        let inner = match self.peek() {
            Tok::Word(Kw::BEGIN | Kw::DECLARE) => Body::Block(self.oracle_block(own, None)?),
            Tok::Word(Kw::LOOP | Kw::WHILE | Kw::FOR) => Body::Loop(self.oracle_loop(own)?),
            Tok::Word(Kw::REPEAT) => Body::Loop(self.loop_of(own)?),
            _ => self.body()?,
        };
        Ok(Body::Labelled(label, Box::new(inner)))
    }

    /// `[DECLARE ...] BEGIN ... [EXCEPTION ...] END [label]`. `routine`: the name that may stand behind END.
    pub(super) fn oracle_block(
        &mut self,
        label: Option<String>,
        routine: Option<&TableName>,
    ) -> SqlResult<Block> {
        let declarations = match self.eat(Kw::DECLARE) {
            true => self.oracle_declarations()?,
            false => Vec::new(),
        };
        let block = self.oracle_block_of(label, declarations)?;
        match routine {
            Some(name) => self.end_name(name, true)?,
            None => self.end_label(block.label.as_deref())?,
        }
        Ok(block)
    }

    /// `BEGIN ... END` behind these declarations; what stands behind END is not read.
    pub(super) fn oracle_block_of(
        &mut self,
        label: Option<String>,
        mut declarations: Vec<Declaration>,
    ) -> SqlResult<Block> {
        self.expect(Kw::BEGIN)?;
        let not_atomic = self.eat(Kw::NOT);
        if not_atomic {
            self.expect(Kw::ATOMIC)?;
        }
        let mut statements = Vec::new();
        while !self.at(Kw::END) {
            if self.at(Kw::EXCEPTION) && self.at_nth(1, Kw::WHEN) {
                self.bump();
                self.exceptions(&mut declarations)?;
                break;
            }
            statements.push(self.body()?);
            self.expect_tok(Tok::Semicolon)?;
        }
        self.expect(Kw::END)?;
        Ok(Block {
            label,
            not_atomic,
            declarations,
            statements,
        })
    }

    /// `WHEN condition [, condition] THEN ...`, up to END: each ends the block.
    fn exceptions(&mut self, into: &mut Vec<Declaration>) -> SqlResult<()> {
        while self.eat(Kw::WHEN) {
            let mut conditions = vec![self.exception()?];
            while self.eat_tok(Tok::Comma) {
                conditions.push(self.exception()?);
            }
            self.expect(Kw::THEN)?;
            let statements = self.statements_until(&[Kw::WHEN, Kw::END])?;
            into.push(Declaration::Handler {
                action: HandlerAction::Exit,
                conditions,
                body: Box::new(Body::Block(Block {
                    label: None,
                    not_atomic: false,
                    declarations: Vec::new(),
                    statements,
                })),
            });
        }
        Ok(())
    }

    fn exception(&mut self) -> SqlResult<ConditionValue> {
        match self.eat(Kw::OTHERS) {
            true => Ok(ConditionValue::Others),
            false => self.handler_condition(),
        }
    }

    /// The name behind a routine's END, which must be its own: 4083. `databases`: one may stand before it, and is that of the head
    /// if that has one.
    pub(super) fn end_name(&mut self, name: &TableName, databases: bool) -> SqlResult<()> {
        if !self.at_ident() {
            return Ok(());
        }
        let end = match databases {
            true => self.table_name()?,
            false => TableName {
                db: None,
                name: self.ident()?,
            },
        };
        let same = |a: &str, b: &str| a.same_name(b);
        let of_both = end.db.as_ref().zip(name.db.as_ref());
        if same(&end.name, &name.name) && of_both.is_none_or(|(e, n)| same(e, n)) {
            return Ok(());
        }
        let (end, name) = match of_both {
            Some((e, n)) => (format!("{e}.{}", end.name), format!("{n}.{}", name.name)),
            None => (end.name, name.name.clone()),
        };
        Err(errors::END_IDENTIFIER_DOES_NOT_MATCH.with([&end, &name]))
    }

    /// Declarations, each with its semicolon, up to what is none. Handlers are the last ones.
    pub(super) fn oracle_declarations(&mut self) -> SqlResult<Vec<Declaration>> {
        let mut list = Vec::new();
        loop {
            let handler =
                (self.at(Kw::CONTINUE) || self.at(Kw::EXIT)) && self.at_nth(1, Kw::HANDLER);
            match self.peek() {
                Tok::Word(Kw::BEGIN | Kw::END | Kw::FUNCTION | Kw::PROCEDURE) => return Ok(list),
                _ if !handler && matches!(list.last(), Some(Declaration::Handler { .. })) => {
                    return Err(self.error());
                }
                _ => list.push(self.oracle_declaration()?),
            }
            self.expect_tok(Tok::Semicolon)?;
        }
    }

    fn oracle_declaration(&mut self) -> SqlResult<Declaration> {
        if (self.at(Kw::CONTINUE) || self.at(Kw::EXIT)) && self.at_nth(1, Kw::HANDLER) {
            return self.declare_handler();
        }
        if self.eat(Kw::CURSOR) {
            let name = self.ident()?;
            return self.cursor(name);
        }
        if self.at_nth(1, Kw::EXCEPTION) {
            let name = self.ident()?;
            self.bump();
            return Ok(Declaration::Exception(name));
        }
        self.named_declaration()
    }

    /// LOOP, WHILE or FOR, which is next.
    fn oracle_loop(&mut self, label: Option<String>) -> SqlResult<Loop> {
        let kind = if self.eat(Kw::WHILE) {
            LoopKind::While(self.expression()?)
        } else if self.eat(Kw::FOR) {
            self.oracle_for_bounds()?
        } else {
            LoopKind::Endless
        };
        self.expect(Kw::LOOP)?;
        let statements = self.statements_until(&[Kw::END])?;
        self.expect(Kw::END)?;
        self.expect(Kw::LOOP)?;
        self.end_label(label.as_deref())?;
        Ok(Loop {
            label,
            kind,
            statements,
        })
    }

    /// Behind FOR, up to LOOP.
    fn oracle_for_bounds(&mut self) -> SqlResult<LoopKind> {
        let variable = self.ident()?;
        self.expect(Kw::IN)?;
        let reverse = self.eat(Kw::REVERSE);
        if !reverse && self.peek() == Tok::LParen && self.query_behind_parenthesis() {
            self.bump();
            let query = self.query()?;
            self.expect_tok(Tok::RParen)?;
            return Ok(LoopKind::Cursor {
                variable,
                rows: CursorSource::Query(Box::new(query)),
            });
        }
        if !reverse
            && self.at_ident()
            && matches!(self.peek_at(1), Tok::LParen | Tok::Word(Kw::LOOP))
        {
            let mark = self.mark();
            let name = self.ident()?;
            let arguments = match self.peek() {
                Tok::LParen => self.arguments()?,
                _ => Vec::new(),
            };
            if self.at(Kw::LOOP) {
                let rows = CursorSource::Named(name, arguments);
                return Ok(LoopKind::Cursor { variable, rows });
            }
            self.rewind(mark);
        }
        let from = self.expression()?;
        self.expect_tok(Tok::DotDot)?;
        let to = self.expression()?;
        Ok(LoopKind::Range {
            variable,
            reverse,
            from,
            to,
        })
    }

    /// `cursor%ISOPEN` and its kind, if one is next; `SQL%ROWCOUNT` is the number of rows of the last statement.
    pub(in crate::parse) fn cursor_attribute(&mut self) -> SqlResult<Option<Expr>> {
        if !self.mode.has(SqlMode::ORACLE) || self.peek_at(1) != Tok::Percent {
            return Ok(None);
        }
        let attribute = match self.peek_at(2) {
            Tok::Word(Kw::ISOPEN) => CursorAttribute::IsOpen,
            Tok::Word(Kw::FOUND) => CursorAttribute::Found,
            Tok::Word(Kw::NOTFOUND) => CursorAttribute::NotFound,
            Tok::Word(Kw::ROWCOUNT) => CursorAttribute::RowCount,
            _ => return Ok(None),
        };
        let sql = self.at(Kw::SQL);
        if sql && attribute != CursorAttribute::RowCount {
            return Ok(None);
        }
        let name = match sql {
            true => self.any_word()?,
            false => self.ident()?,
        };
        self.bump();
        self.bump();
        if sql {
            return Ok(Some(super::super::call::rows_of_last_statement()));
        }
        if !self.in_program {
            return Err(errors::SP_CURSOR_MISMATCH.with([&name]));
        }
        Ok(Some(Expr::CursorAttribute(name, attribute)))
    }
}
