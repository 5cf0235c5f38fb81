//! The statements of a body.

use crate::ast::program::{Block, Body, CursorSource, Loop, LoopKind, Program};
use crate::ast::{Expression, Statement};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::{Name, SqlResult};

impl Parser<'_> {
    /// A statement of a body, without its semicolon.
    pub(super) fn body(&mut self) -> SqlResult<Body> {
        narwal_memory::check()?;
        let outer = std::mem::replace(&mut self.in_program, true);
        let body = self.nested(Self::body_within);
        self.in_program = outer;
        body
    }

    fn body_within(&mut self) -> SqlResult<Body> {
        if self.oracle() {
            return self.oracle_body();
        }
        if self.peek_at(1) == Tok::Colon && matches!(self.peek(), Tok::Word(_) | Tok::QuotedIdent) {
            let label = self.label_ident()?;
            self.bump();
            return self.labelled(label);
        }
        let at = self.here();
        let Tok::Word(word) = self.peek() else {
            let s = Box::new(self.statement()?);
            return Ok(Body::Statement(s, at..self.behind()));
        };
        match word {
            Kw::BEGIN => Ok(Body::Block(self.block(None)?)),
            Kw::LOOP | Kw::WHILE | Kw::REPEAT | Kw::FOR => Ok(Body::Loop(self.loop_of(None)?)),
            Kw::IF => self.if_statement(),
            Kw::CASE => self.case_statement(),
            // A label would have a colon.
            Kw::Plain | Kw::GOTO => {
                self.bump();
                Err(self.error())
            }
            word => match self.common_body(word)? {
                Some(b) => Ok(b),
                None => self.plain_body(at),
            },
        }
    }

    /// A statement that begins with this word and is the same in all modes.
    pub(super) fn common_body(&mut self, word: Kw) -> SqlResult<Option<Body>> {
        Ok(Some(match word {
            Kw::LEAVE => {
                self.bump();
                Body::Leave(self.label_ident()?)
            }
            Kw::ITERATE => {
                self.bump();
                Body::Iterate(self.label_ident()?)
            }
            Kw::RETURN => {
                self.bump();
                Body::Return(self.expression()?)
            }
            Kw::OPEN => {
                self.bump();
                let name = self.ident()?;
                let arguments = match self.peek() {
                    Tok::LParen => self.arguments()?,
                    _ => Vec::new(),
                };
                Body::Open(name, arguments)
            }
            Kw::CLOSE => {
                self.bump();
                Body::Close(self.ident()?)
            }
            Kw::FETCH => self.fetch()?,
            _ => return Ok(None),
        }))
    }

    /// A statement that begins at this place. What the language has of its own may stand in any statement's place.
    pub(super) fn plain_body(&mut self, at: usize) -> SqlResult<Body> {
        let s = self.statement()?;
        let at = at..self.behind();
        Ok(match s {
            Statement::Program(p) => match *p {
                Program::Compound(body) => body,
                p => Body::Statement(Box::new(Statement::Program(Box::new(p))), at),
            },
            s => Body::Statement(Box::new(s), at),
        })
    }

    /// `(expression, ...)`, perhaps none.
    pub(super) fn arguments(&mut self) -> SqlResult<Vec<Expression>> {
        self.expect_tok(Tok::LParen)?;
        if self.eat_tok(Tok::RParen) {
            return Ok(Vec::new());
        }
        let list = self.comma_separated(Self::expression)?;
        self.expect_tok(Tok::RParen)?;
        Ok(list)
    }

    fn labelled(&mut self, label: String) -> SqlResult<Body> {
        match self.peek() {
            Tok::Word(Kw::BEGIN) => Ok(Body::Block(self.block(Some(label))?)),
            Tok::Word(Kw::LOOP | Kw::WHILE | Kw::REPEAT | Kw::FOR) => {
                Ok(Body::Loop(self.loop_of(Some(label))?))
            }
            _ => Err(self.error()),
        }
    }

    /// The label behind END, which must be that of the beginning: 1310.
    pub(super) fn end_label(&mut self, label: Option<&str>) -> SqlResult<()> {
        let at_label = match self.peek() {
            Tok::Word(k) => k.is_label() && !k.is_reserved(),
            t => t == Tok::QuotedIdent,
        };
        if label.is_none() || !at_label {
            return Ok(());
        }
        let end = self.label_ident()?;
        if label.is_some_and(|l| !l.same_name(&end)) {
            return Err(errors::SP_LABEL_MISMATCH.with([&end]));
        }
        Ok(())
    }

    /// BEGIN ... END, at BEGIN.
    fn block(&mut self, label: Option<String>) -> SqlResult<Block> {
        self.expect(Kw::BEGIN)?;
        let not_atomic = self.eat(Kw::NOT);
        if not_atomic {
            self.expect(Kw::ATOMIC)?;
        }
        let mut declarations = Vec::new();
        while self.eat(Kw::DECLARE) {
            declarations.push(self.declaration()?);
            self.expect_tok(Tok::Semicolon)?;
        }
        let mut statements = Vec::new();
        while !self.at(Kw::END) {
            statements.push(self.body()?);
            self.expect_tok(Tok::Semicolon)?;
        }
        self.bump();
        self.end_label(label.as_deref())?;
        Ok(Block {
            label,
            not_atomic,
            declarations,
            statements,
        })
    }

    /// One statement or more, each with its semicolon, up to one of these words.
    pub(super) fn statements_until(&mut self, ends: &[Kw]) -> SqlResult<Vec<Body>> {
        let mut list = Vec::new();
        loop {
            list.push(self.body()?);
            self.expect_tok(Tok::Semicolon)?;
            if ends.iter().any(|k| self.at(*k)) {
                return Ok(list);
            }
        }
    }

    pub(super) fn if_statement(&mut self) -> SqlResult<Body> {
        self.expect(Kw::IF)?;
        let mut branches = Vec::new();
        let elseif = match self.oracle() {
            true => Kw::ELSIF,
            false => Kw::ELSEIF,
        };
        loop {
            let condition = self.expression()?;
            self.expect(Kw::THEN)?;
            let list = self.statements_until(&[elseif, Kw::ELSE, Kw::END])?;
            branches.push((condition, list));
            if !self.eat(elseif) {
                break;
            }
        }
        let otherwise = match self.eat(Kw::ELSE) {
            true => Some(self.statements_until(&[Kw::END])?),
            false => None,
        };
        self.expect(Kw::END)?;
        self.expect(Kw::IF)?;
        Ok(Body::If {
            branches,
            otherwise,
        })
    }

    pub(super) fn case_statement(&mut self) -> SqlResult<Body> {
        self.expect(Kw::CASE)?;
        let operand = match self.at(Kw::WHEN) {
            true => None,
            false => Some(self.expression()?),
        };
        let mut branches = Vec::new();
        self.expect(Kw::WHEN)?;
        loop {
            let when = self.expression()?;
            self.expect(Kw::THEN)?;
            let list = self.statements_until(&[Kw::WHEN, Kw::ELSE, Kw::END])?;
            branches.push((when, list));
            if !self.eat(Kw::WHEN) {
                break;
            }
        }
        let otherwise = match self.eat(Kw::ELSE) {
            true => Some(self.statements_until(&[Kw::END])?),
            false => None,
        };
        self.expect(Kw::END)?;
        self.expect(Kw::CASE)?;
        Ok(Body::Case {
            operand,
            branches,
            otherwise,
        })
    }

    /// LOOP, WHILE, REPEAT or FOR, which is next.
    pub(super) fn loop_of(&mut self, label: Option<String>) -> SqlResult<Loop> {
        let (kind, statements) = if self.eat(Kw::LOOP) {
            let list = self.statements_until(&[Kw::END])?;
            self.bump();
            self.expect(Kw::LOOP)?;
            (LoopKind::Endless, list)
        } else if self.eat(Kw::WHILE) {
            let condition = self.expression()?;
            self.expect(Kw::DO)?;
            let list = self.statements_until(&[Kw::END])?;
            self.bump();
            self.expect(Kw::WHILE)?;
            (LoopKind::While(condition), list)
        } else if self.eat(Kw::REPEAT) {
            let list = self.statements_until(&[Kw::UNTIL])?;
            self.bump();
            let condition = self.expression()?;
            self.expect(Kw::END)?;
            self.expect(Kw::REPEAT)?;
            (LoopKind::Repeat(condition), list)
        } else {
            self.expect(Kw::FOR)?;
            let kind = self.for_bounds()?;
            self.expect(Kw::DO)?;
            let list = self.statements_until(&[Kw::END])?;
            self.bump();
            self.expect(Kw::FOR)?;
            (kind, list)
        };
        self.end_label(label.as_deref())?;
        Ok(Loop {
            label,
            kind,
            statements,
        })
    }

    /// Behind FOR, up to DO.
    fn for_bounds(&mut self) -> SqlResult<LoopKind> {
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
        if !reverse && self.at_ident() && matches!(self.peek_at(1), Tok::LParen | Tok::Word(Kw::DO))
        {
            let mark = self.mark();
            let name = self.ident()?;
            let arguments = match self.peek() {
                Tok::LParen => self.arguments()?,
                _ => Vec::new(),
            };
            if self.at(Kw::DO) {
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

    fn fetch(&mut self) -> SqlResult<Body> {
        self.expect(Kw::FETCH)?;
        if self.eat_all(&[Kw::GROUP, Kw::NEXT, Kw::ROW]) {
            return Ok(Body::FetchGroupNextRow);
        }
        if self.at(Kw::NEXT) && self.at_nth(1, Kw::FROM) {
            self.bump();
        }
        self.eat(Kw::FROM);
        let name = self.ident()?;
        self.expect(Kw::INTO)?;
        let into = self.comma_separated(|p| match p.peek() {
            Tok::UserVar => Ok(format!("@{}", p.named_at()?)),
            _ => {
                let mut name = p.ident()?;
                if p.eat_tok(Tok::Dot) {
                    name = format!("{name}.{}", p.ident()?);
                }
                Ok(name)
            }
        })?;
        Ok(Body::Fetch(name, into))
    }
}
