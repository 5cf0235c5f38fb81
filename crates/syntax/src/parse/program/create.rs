//! CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT, PACKAGE; ALTER EVENT.

use super::program;
use crate::ast::ddl::{Characteristic, Creation, DataAccess, Definer, TypeAttribute};
use crate::ast::program::{
    AlterEvent, Body, CreateEvent, CreateRoutine, CreateTrigger, CreateUdf, EventParts,
    EventStatus, Parameter, ParameterMode, Program, Schedule, TriggerEvent, TriggerHead,
    VariableType,
};
use crate::ast::{Statement, TableName};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;
use narwal_types::errors::codes;
use std::ops::Range;

impl Parser<'_> {
    /// CREATE of a stored program, at the word for its kind.
    pub(in crate::parse) fn create_program(
        &mut self,
        mut creation: Creation,
        definer: Option<Definer>,
    ) -> SqlResult<Statement> {
        let aggregate = self.eat(Kw::AGGREGATE);
        if self.eat(Kw::FUNCTION) {
            self.creation(&mut creation)?;
            return self.function(creation, definer, aggregate);
        }
        let Tok::Word(word) = self.peek() else {
            return Err(self.error());
        };
        if aggregate {
            return Err(self.error());
        }
        match word {
            Kw::PROCEDURE => {
                self.bump();
                self.not_within("PROCEDURE")?;
                self.creation(&mut creation)?;
                self.create_procedure(creation, definer)
            }
            Kw::TRIGGER => {
                let start = self.here();
                self.bump();
                self.not_within("TRIGGER")?;
                self.creation(&mut creation)?;
                self.trigger(creation, definer, start)
            }
            Kw::EVENT => {
                self.bump();
                self.creation(&mut creation)?;
                if self.in_program {
                    return Err(errors::EVENT_RECURSION_FORBIDDEN.plain());
                }
                let name = self.program_name()?;
                let parts = self.event_parts(false)?;
                Ok(program(Program::Event(CreateEvent {
                    creation,
                    definer,
                    name,
                    parts,
                })))
            }
            Kw::PACKAGE if self.oracle() => {
                self.bump();
                self.not_within("PACKAGE")?;
                self.package(creation, definer)
            }
            _ => Err(self.error()),
        }
    }

    /// 1303: no program defines another.
    fn not_within(&self, kind: &str) -> SqlResult<()> {
        match self.in_program {
            false => Ok(()),
            true => Err(errors::SP_NO_RECURSIVE_CREATE.with([&kind])),
        }
    }

    /// The name of a routine: 1458 for one that no routine has, 1059 for one that is too long.
    pub(in crate::parse) fn routine_name(&mut self) -> SqlResult<TableName> {
        let mark = self.mark();
        match self.table_name() {
            Err(e) if e.code == codes::WRONG_TABLE_NAME => {
                self.rewind(mark);
                let mut name = self.any_word()?;
                if self.eat_tok(Tok::Dot) {
                    name = self.any_word()?;
                }
                Err(errors::SP_WRONG_NAME.with([&name]))
            }
            r => r,
        }
    }

    fn create_procedure(
        &mut self,
        creation: Creation,
        definer: Option<Definer>,
    ) -> SqlResult<Statement> {
        let name = self.routine_name()?;
        let (parameters, parameters_at) = self.parameters_with_place()?;
        let characteristics = self.characteristics()?;
        let (body, body_at) = self.routine_body_with_place(&name)?;
        Ok(program(Program::Routine(CreateRoutine {
            creation,
            definer,
            aggregate: false,
            name,
            parameters,
            parameters_at,
            returns: None,
            returns_at: 0..0,
            characteristics,
            body,
            body_at,
        })))
    }

    /// Behind FUNCTION: a stored function, or one of a library.
    fn function(
        &mut self,
        creation: Creation,
        definer: Option<Definer>,
        aggregate: bool,
    ) -> SqlResult<Statement> {
        let name = self.routine_name()?;
        if name.db.is_none() && definer.is_none() && self.eat(Kw::RETURNS) {
            let Some(returns) = [Kw::STRING, Kw::INT, Kw::INTEGER, Kw::REAL, Kw::DECIMAL]
                .iter()
                .find(|k| self.at(**k))
            else {
                return Err(self.error());
            };
            self.bump();
            self.expect(Kw::SONAME)?;
            let library = self.text()?;
            return Ok(program(Program::Udf(CreateUdf {
                creation,
                aggregate,
                name: name.name,
                returns: returns.name(),
                library,
            })));
        }
        self.not_within("FUNCTION")?;
        let (parameters, parameters_at) = self.parameters_with_place()?;
        self.expect(match self.oracle() {
            true => Kw::RETURN,
            false => Kw::RETURNS,
        })?;
        let at = self.here();
        let returns = self.result_type()?;
        let returns_at = at..self.behind();
        let characteristics = self.characteristics()?;
        // A function's body is RETURN, or something that may hold one.
        let mark = self.mark();
        let (body, body_at) = self.routine_body_with_place(&name)?;
        if matches!(body, Body::Statement(..)) {
            self.rewind(mark);
            return Err(self.error());
        }
        Ok(program(Program::Routine(CreateRoutine {
            creation,
            definer,
            aggregate,
            name,
            parameters,
            parameters_at,
            returns: Some(returns),
            returns_at,
            characteristics,
            body,
            body_at,
        })))
    }

    /// A body, and where it stands in the text.
    fn body_with_place(&mut self) -> SqlResult<(Body, Range<usize>)> {
        let at = self.here();
        let body = self.body()?;
        Ok((body, at..self.behind()))
    }

    /// A routine's body, and where it stands in the text.
    fn routine_body_with_place(&mut self, name: &TableName) -> SqlResult<(Body, Range<usize>)> {
        if !self.oracle() {
            return self.body_with_place();
        }
        let at = self.here();
        let body = self.oracle_routine_body(name, true)?;
        Ok((body, at..self.behind()))
    }

    pub(super) fn as_or_is(&mut self) -> SqlResult<()> {
        match self.eat(Kw::AS) || self.eat(Kw::IS) {
            true => Ok(()),
            false => Err(self.error()),
        }
    }

    /// `AS declarations BEGIN ... END [name]`. `databases`: one may stand before the name.
    pub(super) fn oracle_routine_body(
        &mut self,
        name: &TableName,
        databases: bool,
    ) -> SqlResult<Body> {
        self.as_or_is()?;
        self.within_program(|p| {
            let declarations = p.oracle_declarations()?;
            let block = p.oracle_block_of(None, declarations)?;
            p.end_name(name, databases)?;
            Ok(Body::Block(block))
        })
    }

    /// Reads what is part of a program.
    pub(super) fn within_program<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let outer = std::mem::replace(&mut self.in_program, true);
        let r = self.nested(f);
        self.in_program = outer;
        r
    }

    /// The type of a parameter. In sql_mode=ORACLE texts need no length there: they take any.
    pub(super) fn routine_type(&mut self, of: bool) -> SqlResult<VariableType> {
        self.default_lengths = self.oracle();
        let ty = self.variable_type(of);
        self.default_lengths = false;
        ty
    }

    /// The type of a function's result. In sql_mode=ORACLE texts need no length there: they have the longest of their type.
    pub(super) fn result_type(&mut self) -> SqlResult<VariableType> {
        let mut ty = self.routine_type(false)?;
        if let VariableType::Data(data, _) = &mut ty {
            data.attributes.retain(|a| *a != TypeAttribute::AnyLength);
        }
        Ok(ty)
    }

    /// Parameters, and where they stand in the text. In sql_mode=ORACLE there need be none.
    pub(super) fn parameters_with_place(&mut self) -> SqlResult<(Vec<Parameter>, Range<usize>)> {
        let at = self.here();
        if self.oracle() && self.peek() != Tok::LParen {
            return Ok((Vec::new(), at..at));
        }
        let list = self.parameters()?;
        Ok((list, at + 1..(self.behind() - 1).max(at + 1)))
    }

    /// `([IN | OUT | INOUT] name type, ...)`
    fn parameters(&mut self) -> SqlResult<Vec<Parameter>> {
        self.expect_tok(Tok::LParen)?;
        if self.eat_tok(Tok::RParen) {
            return Ok(Vec::new());
        }
        let oracle = self.oracle();
        let list = self.comma_separated(|p| match oracle {
            true => {
                let name = p.ident()?;
                let mode = p.parameter_mode();
                let ty = p.routine_type(true)?;
                Ok(Parameter { mode, name, ty })
            }
            false => Ok(Parameter {
                mode: p.parameter_mode(),
                name: p.ident()?,
                ty: p.variable_type(true)?,
            }),
        })?;
        self.expect_tok(Tok::RParen)?;
        Ok(list)
    }

    /// IN, OUT, INOUT, and Oracle's IN OUT.
    fn parameter_mode(&mut self) -> ParameterMode {
        if self.eat(Kw::OUT) {
            return ParameterMode::Out;
        }
        if self.eat(Kw::INOUT) || (self.oracle() && self.eat_all(&[Kw::IN, Kw::OUT])) {
            return ParameterMode::InOut;
        }
        self.eat(Kw::IN);
        ParameterMode::In
    }

    pub(super) fn characteristics(&mut self) -> SqlResult<Vec<Characteristic>> {
        let mut list = Vec::new();
        while let Some(c) = self.characteristic(true)? {
            list.push(c);
        }
        Ok(list)
    }

    /// A characteristic, if one is next; DETERMINISTIC is one of CREATE alone.
    pub(in crate::parse) fn characteristic(
        &mut self,
        create: bool,
    ) -> SqlResult<Option<Characteristic>> {
        if self.eat(Kw::COMMENT) {
            return Ok(Some(Characteristic::Comment(self.comment()?)));
        }
        if self.eat(Kw::LANGUAGE) {
            self.expect(Kw::SQL)?;
            return Ok(Some(Characteristic::LanguageSql));
        }
        if create && self.eat(Kw::DETERMINISTIC) {
            return Ok(Some(Characteristic::Deterministic(true)));
        }
        if create && self.eat(Kw::NOT) {
            self.expect(Kw::DETERMINISTIC)?;
            return Ok(Some(Characteristic::Deterministic(false)));
        }
        if self.eat(Kw::SQL) {
            self.expect(Kw::SECURITY)?;
            return Ok(Some(Characteristic::Invoker(self.invoker()?)));
        }
        let access = if self.eat(Kw::CONTAINS) {
            self.expect(Kw::SQL)?;
            DataAccess::ContainsSql
        } else if self.eat(Kw::NO) {
            self.expect(Kw::SQL)?;
            DataAccess::NoSql
        } else if self.eat(Kw::READS) {
            self.expect(Kw::SQL)?;
            self.expect(Kw::DATA)?;
            DataAccess::ReadsSqlData
        } else if self.eat(Kw::MODIFIES) {
            self.expect(Kw::SQL)?;
            self.expect(Kw::DATA)?;
            DataAccess::ModifiesSqlData
        } else {
            return Ok(None);
        };
        Ok(Some(Characteristic::DataAccess(access)))
    }

    /// CREATE TRIGGER, whose word TRIGGER stands at `start`.
    fn trigger(
        &mut self,
        creation: Creation,
        definer: Option<Definer>,
        start: usize,
    ) -> SqlResult<Statement> {
        let name = self.program_name()?;
        let before = self.eat(Kw::BEFORE);
        if !before {
            self.expect(Kw::AFTER)?;
        }
        let event = if self.eat(Kw::INSERT) {
            TriggerEvent::Insert
        } else if self.eat(Kw::UPDATE) {
            TriggerEvent::Update
        } else {
            self.expect(Kw::DELETE)?;
            TriggerEvent::Delete
        };
        let on = self.here();
        self.expect(Kw::ON)?;
        let table = self.table_name()?;
        let behind_table = self.behind();
        self.expect(Kw::FOR)?;
        self.expect(Kw::EACH)?;
        self.expect(Kw::ROW)?;
        let head_at = TriggerHead {
            start,
            on,
            behind_table,
            end: self.behind(),
        };
        let mut order = None;
        if self.at(Kw::FOLLOWS) || self.at(Kw::PRECEDES) {
            let follows = self.bump().tok == Tok::Word(Kw::FOLLOWS);
            order = Some((follows, self.text_or_ident()?));
        }
        let (body, body_at) = self.body_with_place()?;
        Ok(program(Program::Trigger(CreateTrigger {
            creation,
            definer,
            name,
            before,
            event,
            table,
            order,
            body,
            body_at,
            head_at,
        })))
    }

    /// ALTER EVENT, behind EVENT.
    pub(in crate::parse) fn alter_event(
        &mut self,
        definer: Option<Definer>,
    ) -> SqlResult<Statement> {
        let name = self.program_name()?;
        let parts = self.event_parts(true)?;
        if parts == EventParts::default() {
            return Err(self.error());
        }
        Ok(program(Program::AlterEvent(AlterEvent {
            definer,
            name,
            parts,
        })))
    }

    /// ON SCHEDULE and so on, up to DO and its statement. CREATE needs the first and the last.
    fn event_parts(&mut self, alter: bool) -> SqlResult<EventParts> {
        let mut parts = EventParts::default();
        if !alter {
            self.expect(Kw::ON)?;
            self.expect(Kw::SCHEDULE)?;
            parts.schedule = Some(self.schedule()?);
        } else if self.eat_all(&[Kw::ON, Kw::SCHEDULE]) {
            parts.schedule = Some(self.schedule()?);
        }
        if self.eat(Kw::ON) {
            self.expect(Kw::COMPLETION)?;
            let not = self.eat(Kw::NOT);
            self.expect(Kw::PRESERVE)?;
            parts.preserve = Some(!not);
        }
        if alter && self.eat(Kw::RENAME) {
            self.expect(Kw::TO)?;
            parts.rename = Some(self.program_name()?);
        }
        if self.eat(Kw::ENABLE) {
            parts.status = Some(EventStatus::Enable);
        } else if self.eat(Kw::DISABLE) {
            parts.status = Some(EventStatus::Disable);
            if self.eat(Kw::ON) {
                if !self.eat(Kw::SLAVE) {
                    self.expect(Kw::REPLICA)?;
                }
                parts.status = Some(EventStatus::DisableOnSlave);
            }
        }
        if self.eat(Kw::COMMENT) {
            parts.comment = Some(self.comment()?);
        }
        if alter && !self.at(Kw::DO) {
            return Ok(parts);
        }
        self.expect(Kw::DO)?;
        if alter && self.in_program {
            return Err(errors::EVENT_RECURSION_FORBIDDEN.plain());
        }
        let (body, at) = self.body_with_place()?;
        (parts.body, parts.body_at) = (Some(Box::new(body)), at);
        Ok(parts)
    }

    fn schedule(&mut self) -> SqlResult<Schedule> {
        if self.eat(Kw::AT) {
            return Ok(Schedule::At(self.operand()?));
        }
        self.expect(Kw::EVERY)?;
        let amount = self.operand()?;
        let unit = self.unit()?.name().to_string();
        let mut s = (None, None);
        if self.eat(Kw::STARTS) {
            s.0 = Some(self.operand()?);
        }
        if self.eat(Kw::ENDS) {
            s.1 = Some(self.operand()?);
        }
        Ok(Schedule::Every {
            amount,
            unit,
            starts: s.0,
            ends: s.1,
        })
    }
}
