//! Packages of sql_mode=ORACLE: a specification, which says what others may call, and a body, which has the routines and the
//! variables that they share. A routine is compiled when it is called first; its name is `package.routine`.

use super::compiled::{Inside, Now, SessionPrograms, Unit, env_of};
use super::definition::{self, Definition, Stored};
use narwal_program::{Head, Kind, PackageValues, compile};
use narwal_sql::{ParseOptions, StatementEnv};
use narwal_syntax::Statement;
use narwal_syntax::ast::program::{self as ast, CreatePackage, PackageRoutine};
use narwal_types::errors;
use narwal_types::{Collation, Name, SqlError, SqlResult, Value};
use std::sync::Arc;

/// A package's definition as a tree.
pub(super) fn parsed(def: &Definition) -> SqlResult<(CreatePackage, String)> {
    let text = def.create("CREATE");
    let options = ParseOptions {
        sql_mode: def.mode(),
        ..ParseOptions::default()
    };
    if let Statement::Program(p) = narwal_syntax::parse_statement(&text, &options)?
        && let ast::Program::Package(p) = *p
    {
        return Ok((p, text));
    }
    Err(SqlError::unknown("a package's definition"))
}

fn same(r: &PackageRoutine, kind: Stored, name: &str) -> bool {
    r.name.same_name(name) && r.returns.is_some() == (kind == Stored::Function)
}

/// What CREATE PACKAGE BODY must have: errors 4095, 4096.
pub(super) fn check_body(db: &str, spec: &CreatePackage, body: &CreatePackage) -> SqlResult<()> {
    let full = |r: &PackageRoutine| format!("{db}.{}.{}", body.name.name, r.name);
    // Names, types and modes of parameters, and results, are not compared, as in MariaDB.
    let alike = |a: &PackageRoutine, b: &PackageRoutine| {
        a.name.same_name(&b.name)
            && a.returns.is_some() == b.returns.is_some()
            && a.parameters.len() == b.parameters.len()
    };
    let written = || body.routines.iter().filter(|r| r.body.is_some());
    for r in &spec.routines {
        if !written().any(|b| alike(r, b)) {
            return Err(errors::PACKAGE_ROUTINE_IN_SPEC_NOT_DEFINED_IN_BODY.with([&full(r)]));
        }
    }
    for r in body.routines.iter().filter(|r| r.body.is_none()) {
        if !written().any(|b| alike(r, b)) {
            return Err(errors::PACKAGE_ROUTINE_FORWARD_DECLARATION_NOT_DEFINED.with([&full(r)]));
        }
    }
    Ok(())
}

/// Compiles all routines of a body, to tell what is wrong with them.
pub(super) fn compile_all(def: &Definition, env: &StatementEnv, now: &Now<'_>) -> SqlResult<()> {
    let (package, text) = parsed(def)?;
    for r in &package.routines {
        if r.body.is_some() {
            routine(def, &package, r, &text, env, now)?;
        }
    }
    begin(def, &package, &text, env, now).map(drop)
}

fn routine(
    def: &Definition,
    package: &CreatePackage,
    r: &PackageRoutine,
    text: &str,
    env: &StatementEnv,
    now: &Now<'_>,
) -> SqlResult<narwal_program::Program> {
    let name = format!("{}.{}", def.name, r.name);
    let head = Head {
        kind: match r.returns {
            Some(_) => Kind::Function,
            None => Kind::Procedure,
        },
        db: &def.db,
        name: &name,
        parameters: &r.parameters,
        returns: r.returns.as_ref(),
        trigger: None,
        package: &package.declarations,
        aggregate: false,
        line: 1,
        collation: Collation::from_name(&def.charset.2),
    };
    let body = r.body.clone().unwrap_or(ast::Body::Nothing);
    compile(&head, body, text, env, now)
}

fn begin(
    def: &Definition,
    package: &CreatePackage,
    text: &str,
    env: &StatementEnv,
    now: &Now<'_>,
) -> SqlResult<narwal_program::Program> {
    let head = Head {
        kind: Kind::Package,
        db: &def.db,
        name: &def.name,
        parameters: &[],
        returns: None,
        trigger: None,
        package: &package.declarations,
        aggregate: false,
        line: 1,
        collation: Collation::from_name(&def.charset.2),
    };
    let body = match &package.begin {
        Some(b) => ast::Body::Block(b.clone()),
        None => ast::Body::Nothing,
    };
    compile(&head, body, text, env, now)
}

impl SessionPrograms {
    /// The package whose routine runs.
    pub(super) fn inside(&self) -> Option<(String, String)> {
        self.state.lock().inside.last().cloned().flatten()
    }

    /// A routine by `package.routine`, if there is such a package. From outside only what the specification has is seen.
    pub(super) fn routine_of_package(
        &self,
        kind: Stored,
        db: &str,
        full: &str,
    ) -> SqlResult<Option<(Definition, PackageRoutine, CreatePackage, String)>> {
        let Some((package, name)) = full.split_once('.') else {
            return Ok(None);
        };
        let catalog = self.store.database().catalog();
        let Some(def) = definition::find(&catalog, Stored::PackageBody, db, package)? else {
            return Ok(None);
        };
        let own = self
            .inside()
            .is_some_and(|(d, p)| d == db && p.same_name(package));
        if !own {
            let Some(spec) = definition::find(&catalog, Stored::Package, db, package)? else {
                return Ok(None);
            };
            let (spec, _) = parsed(&spec)?;
            if !spec.routines.iter().any(|r| same(r, kind, name)) {
                return Ok(None);
            }
        }
        let (tree, text) = parsed(&def)?;
        let written = |r: &&PackageRoutine| same(r, kind, name) && r.body.is_some();
        let Some(r) = tree.routines.iter().find(written).cloned() else {
            return Ok(None);
        };
        Ok(Some((def, r, tree, text)))
    }

    /// Compiles a routine of a package.
    pub(super) fn package_unit(
        &self,
        kind: Stored,
        db: &str,
        full: &str,
        outer: &StatementEnv,
    ) -> SqlResult<Option<Arc<Unit>>> {
        let Some((mut def, r, tree, text)) = self.routine_of_package(kind, db, full)? else {
            return Ok(None);
        };
        let name = format!("{}.{}", def.name, r.name);
        let of = env_of(&def);
        let env = outer.within(&of);
        let now = Now::new(&self.store, &env, false);
        let _inside = Inside::new(self, db, &name);
        // A routine that names itself would be compiled for ever.
        let mark: Arc<str> = format!("compile {db}.{name} {}", kind.word()).into();
        self.begin(&mark)?;
        let program = routine(&def, &tree, &r, &text, &env, &now);
        self.end(&mark);
        let program = program?;
        def.kind = kind;
        def.name = name;
        Ok(Some(Arc::new(Unit::new(def, of, program))))
    }

    /// The variables of the package of a program, and what the package does at its first use, if this is it.
    pub(super) fn package_values(
        &self,
        db: &str,
        name: &str,
        outer: &StatementEnv,
    ) -> SqlResult<(PackageValues, Option<Arc<Unit>>)> {
        let package = name.split('.').next().unwrap_or_default();
        let catalog = self.store.database().catalog();
        let found = definition::find(&catalog, Stored::PackageBody, db, package)?;
        let def = found.ok_or_else(|| {
            let full = format!("{db}.{package}");
            errors::SP_DOES_NOT_EXIST.with([&"PACKAGE BODY", &full])
        })?;
        let key = def.key();
        if let Some((made, values)) = self.state.lock().packages.get(&key)
            && *made == def.modified
        {
            return Ok((values.clone(), None));
        }
        let (tree, text) = parsed(&def)?;
        let of = env_of(&def);
        let env = outer.within(&of);
        let now = Now::new(&self.store, &env, false);
        let _inside = Inside::new(self, db, &format!("{package}."));
        let program = begin(&def, &tree, &text, &env, &now)?;
        let values = PackageValues::default();
        values.lock().resize(program.of_package, Value::Null);
        let kept = (def.modified, values.clone());
        self.state.lock().packages.insert(key, kept);
        Ok((values, Some(Arc::new(Unit::new(def, of, program)))))
    }

    /// Forgets a package's variables: its first use has failed.
    pub(super) fn forget_package(&self, def: &Definition) {
        self.state.lock().packages.remove(&def.key());
    }
}
