//! CREATE PACKAGE and CREATE PACKAGE BODY of sql_mode=ORACLE.

use super::program;
use crate::ast::ddl::{Creation, Definer};
use crate::ast::program::{CreatePackage, PackageRoutine, Program};
use crate::ast::{Statement, TableName};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::{Name, SqlResult};

impl Parser<'_> {
    /// Behind PACKAGE.
    pub(super) fn package(
        &mut self,
        mut creation: Creation,
        definer: Option<Definer>,
    ) -> SqlResult<Statement> {
        let body = self.eat(Kw::BODY);
        self.creation(&mut creation)?;
        let name = self.table_name()?;
        let mut characteristics = Vec::new();
        while let Some(c) = self.characteristic(false)? {
            characteristics.push(c);
        }
        let at = self.here();
        self.as_or_is()?;
        let mut package = CreatePackage {
            creation,
            definer,
            body,
            name,
            characteristics,
            declarations: Vec::new(),
            routines: Vec::new(),
            begin: None,
            at: at..at,
        };
        self.within_program(|p| p.package_parts(&mut package))?;
        self.end_of_package(&package.name)?;
        package.at = at..self.behind();
        Ok(program(Program::Package(package)))
    }

    /// What a package has, up to and with its END.
    fn package_parts(&mut self, package: &mut CreatePackage) -> SqlResult<()> {
        if package.body {
            package.declarations = self.oracle_declarations()?;
        }
        while let Some(word) = self.eat_one(&[Kw::FUNCTION, Kw::PROCEDURE]) {
            let function = word == Kw::FUNCTION;
            let routine = self.package_routine(function, package.body)?;
            let same = |r: &PackageRoutine| {
                r.name.same_name(&routine.name)
                    && r.returns.is_some() == function
                    && r.body.is_some() == routine.body.is_some()
            };
            if package.routines.iter().any(same) {
                let full = format!("{}.{}", package.name.name, routine.name);
                return Err(errors::SP_ALREADY_EXISTS.with([&word.name(), &full]));
            }
            package.routines.push(routine);
            self.expect_tok(Tok::Semicolon)?;
        }
        match package.body && self.at(Kw::BEGIN) {
            true => package.begin = Some(self.oracle_block_of(None, Vec::new())?),
            false => self.expect(Kw::END)?,
        }
        Ok(())
    }

    /// The name behind a package's END: 4083 if it is another one. One with a database must be that of the head.
    fn end_of_package(&mut self, name: &TableName) -> SqlResult<()> {
        if !self.at_ident() {
            return Ok(());
        }
        let end = self.table_name()?;
        let full = |n: &TableName, db: Option<&str>| match db {
            Some(db) => format!("{db}.{}", n.name),
            None => n.name.clone(),
        };
        let same = |a: &str, b: &str| a.same_name(b);
        let (db, head_db) = (end.db.as_deref(), name.db.as_deref());
        let alike = db.is_none_or(|d| head_db.is_some_and(|h| same(h, d)));
        match alike && same(&end.name, &name.name) {
            true => Ok(()),
            false => {
                Err(errors::END_IDENTIFIER_DOES_NOT_MATCH
                    .with([&full(&end, db), &full(name, head_db)]))
            }
        }
    }

    /// A routine, behind FUNCTION or PROCEDURE. `bodies`: it may have one.
    fn package_routine(&mut self, function: bool, bodies: bool) -> SqlResult<PackageRoutine> {
        let name = self.ident()?;
        if name.is_empty() || name.ends_with(' ') || name.contains('.') {
            return Err(errors::SP_WRONG_NAME.with([&name]));
        }
        let (parameters, parameters_at) = self.parameters_with_place()?;
        let mut returns = None;
        if function {
            self.expect(Kw::RETURN)?;
            returns = Some(self.result_type()?);
        }
        let characteristics = self.characteristics()?;
        let body = match bodies && (self.at(Kw::AS) || self.at(Kw::IS)) {
            true => {
                let own = TableName {
                    db: None,
                    name: name.clone(),
                };
                Some(self.oracle_routine_body(&own, false)?)
            }
            false => None,
        };
        Ok(PackageRoutine {
            name,
            parameters,
            parameters_at,
            returns,
            characteristics,
            body,
        })
    }
}
