//! The statements of a body that are no control flow.

use crate::code::{Argument, Calc, Kind, SignalCode, Step, Target, Wanted};
use crate::compile::{Compiler, is_planned, no_names};
use crate::definitions::no_variables;
use crate::rewrite;
use narwal_sql::VariableScope;
use narwal_syntax::ast::admin::{
    Admin, Backup, Maintenance, Operand, Prepared, Scope, Set, SetItem, SetValue, Using,
};
use narwal_syntax::ast::ddl::{Ddl, ProgramKind, ViewCreation};
use narwal_syntax::ast::program::{Call, ConditionValue, GetDiagnostics, Program, Signal};
use narwal_syntax::ast::query::{LockWait, Locking};
use narwal_syntax::ast::{
    Expr, Expression, Into, IntoVariable, Literal, SetStatement, Statement, TableName,
};
use narwal_types::errors::codes;
use narwal_types::{SqlResult, errors};

fn plain(expr: Expr) -> Expression {
    Expression {
        expr,
        subqueries: Vec::new(),
    }
}

/// The variable of a key cache, which has its name in front: `hot.key_buffer_size`.
fn is_structured(name: &str) -> bool {
    let variable = name.split_once('.').map_or("", |(_, v)| v).to_lowercase();
    variable == "key_buffer_size" || variable.starts_with("key_cache_")
}

/// Error 1314 for FOR UPDATE WAIT n and NOWAIT: a program waits as its caller does.
fn no_own_patience(locking: &[Locking]) -> SqlResult<()> {
    let patient = |l: &Locking| matches!(l.wait, LockWait::Default | LockWait::SkipLocked);
    match locking.iter().all(patient) {
        true => Ok(()),
        false => Err(errors::SP_BADSTATEMENT.with([&"[NO]WAIT"])),
    }
}

/// RETURNING answers as SELECT does.
fn returns_rows(s: &Statement) -> bool {
    match s {
        Statement::Insert(i) => !i.returning.is_empty(),
        Statement::Delete(d) => !d.returning.is_empty(),
        _ => false,
    }
}

impl Compiler<'_> {
    /// Any other statement.
    pub(crate) fn statement(&mut self, s: Statement, text: &str) -> SqlResult<Step> {
        match s {
            Statement::Select(_) | Statement::Explain(..) => {
                if let Statement::Select(select) = &s {
                    no_own_patience(&select.locking)?;
                }
                self.may_answer()?;
                let mut step = self.sql(s)?;
                step.text = text.into();
                Ok(Step::Sql(Box::new(step)))
            }
            Statement::SelectInto(into) => {
                let Into::Variables(list) = &into.into else {
                    self.has_statements = true;
                    return Ok(Step::Other(
                        Box::new(Statement::SelectInto(into)),
                        text.into(),
                    ));
                };
                no_own_patience(&into.select.locking)?;
                let targets = self.select_targets(list)?;
                let select = self.sql(Statement::Select(into.select.clone()))?;
                Ok(Step::Into(Box::new(select), targets))
            }
            Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::WriteJoin(_)
            | Statement::Do(_) => {
                if returns_rows(&s) {
                    self.may_answer()?;
                }
                match &s {
                    Statement::Insert(i) => self.may_write(&i.table)?,
                    Statement::Delete(d) => self.may_write(&d.table.name)?,
                    Statement::Do(d) => {
                        if let Some(step) = self.do_with_calls(d)? {
                            return Ok(step);
                        }
                    }
                    _ => {}
                }
                let mut step = self.sql(s)?;
                step.text = text.into();
                debug_assert!(is_planned(&step.stmt));
                Ok(Step::Sql(Box::new(step)))
            }
            Statement::LoadData(_) => Err(errors::SP_BADSTATEMENT.with([&"LOAD DATA"])),
            Statement::Ddl(d) => self.ddl(*d, text),
            Statement::Program(p) => self.program(*p, text),
            Statement::SetStatement(s) => self.set_statement(s),
            Statement::Admin(a) => self.admin(*a, text),
        }
    }

    /// SET STATEMENT: its statement sees the program's variables.
    fn set_statement(&mut self, s: SetStatement) -> SqlResult<Step> {
        let mut settings = s.settings;
        for item in settings.iter_mut().flatten() {
            if let SetItem::System { name, value, .. } = item {
                self.settable(name)?;
                self.setting(value)?;
            }
        }
        self.has_statements = true;
        let step = self.statement(*s.statement, &s.text)?;
        Ok(Step::Under(settings, Box::new(step)))
    }

    fn within(&self) -> &'static str {
        match self.kind {
            Kind::Function => "function",
            _ => "trigger",
        }
    }

    /// 1415: functions and triggers give no result sets.
    fn may_answer(&self) -> SqlResult<()> {
        match self.kind.is_within_statement() {
            true => Err(errors::SP_NO_RETSET.with([&self.within()])),
            false => Ok(()),
        }
    }

    /// Error 1044 for a table that nobody writes: no program is made that would. UPDATE and joins are told when they run.
    fn may_write(&self, table: &TableName) -> SqlResult<()> {
        const NOBODYS: &str = "information_schema";
        let named = |db: &String| db.eq_ignore_ascii_case(NOBODYS);
        if !table.db.as_ref().is_some_and(named) {
            return Ok(());
        }
        let account = &self.env.current_user;
        let (user, host) = account.rsplit_once('@').unwrap_or((account, ""));
        Err(errors::DBACCESS_DENIED_ERROR.with([&user, &host, &NOBODYS]))
    }

    /// The same for the table that a definition is of.
    fn may_define(&self, d: &Ddl) -> SqlResult<()> {
        match d {
            Ddl::CreateTable(c) => self.may_write(&c.table),
            Ddl::AlterTable(a) => self.may_write(&a.table),
            Ddl::Truncate(t) => self.may_write(&t.table),
            Ddl::CreateIndex(c) => self.may_write(&c.table),
            Ddl::CreateView(v) => self.may_write(&v.view),
            Ddl::DropTable(t) | Ddl::DropView(t) => {
                t.names.iter().try_for_each(|n| self.may_write(n))
            }
            _ => Ok(()),
        }
    }

    fn no_commit(&self) -> SqlResult<()> {
        match self.kind.is_within_statement() {
            true => Err(errors::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.plain()),
            false => Ok(()),
        }
    }

    fn select_targets(&mut self, list: &[IntoVariable]) -> SqlResult<Vec<Target>> {
        if let [IntoVariable::Local(row, None)] = list
            && let Some(slots) = self.names.row_slots(row)
        {
            return Ok(slots.into_iter().map(Target::Slot).collect());
        }
        list.iter()
            .map(|v| match v {
                IntoVariable::User(name) => Ok(Target::User(name.clone())),
                IntoVariable::Local(name, None) => self.target_of_list(name),
                IntoVariable::Local(row, Some(field)) => self.target(&format!("{row}.{field}")),
            })
            .collect()
    }

    fn other(&mut self, s: Statement, text: &str) -> Step {
        self.has_statements = true;
        Step::Other(Box::new(s), text.into())
    }

    fn ddl(&mut self, mut d: Ddl, text: &str) -> SqlResult<Step> {
        self.may_define(&d)?;
        match &mut d {
            Ddl::DropProgram(ProgramKind::Trigger | ProgramKind::Event, _) => self.no_commit()?,
            Ddl::DropProgram(kind, _) => {
                let name = format!("{kind:?}").to_uppercase();
                return Err(errors::SP_NO_DROP_SP.with([&name]));
            }
            Ddl::AlterRoutine(a) => {
                let name = if a.function { "FUNCTION" } else { "PROCEDURE" };
                return Err(errors::SP_NO_DROP_SP.with([&name]));
            }
            Ddl::AlterDatabase(a) if a.upgrade => {
                return Err(errors::SP_NO_DROP_SP.with([&"DATABASE"]));
            }
            Ddl::CreateView(v) if v.creation == ViewCreation::Alter => {
                return Err(errors::SP_BADSTATEMENT.with([&"ALTER VIEW"]));
            }
            Ddl::CreateTable(c) if c.temporary => {}
            Ddl::DropTable(t) if t.temporary => {}
            _ => self.no_commit()?,
        }
        let names = &self.names;
        let of_row = |name: &str| {
            let row = name.split_once('.').map_or("", |(row, _)| row);
            names.trigger.is_some() && ["new", "old"].iter().any(|n| row.eq_ignore_ascii_case(n))
        };
        no_variables(&mut d, &|name| names.slot(name).is_some() || of_row(name))?;
        if let Ddl::CreateView(v) = &mut d {
            let (names, mut of_program) = (&mut self.names, false);
            rewrite::select(&mut v.select, &mut |e| {
                of_program |= matches!(e, Expr::Column(name) if names.slot(name).is_some());
            });
            if of_program {
                return Err(errors::VIEW_SELECT_VARIABLE.plain());
            }
        }
        if let Ddl::CreateTable(c) = &mut d
            && let Some(select) = &mut c.select
        {
            let names = &mut self.names;
            rewrite::select(select, &mut |e| names.replace(e));
            if let Some(e) = self.names.error.take() {
                return Err(e);
            }
        }
        Ok(self.other(Statement::Ddl(Box::new(d)), text))
    }

    fn program(&mut self, p: Program, text: &str) -> SqlResult<Step> {
        match p {
            Program::Compound(body) => self.body(body),
            Program::Call(c) => self.call(c),
            Program::Signal(s) => self.signal(s),
            Program::GetDiagnostics(g) => self.diagnostics(g),
            Program::AlterEvent(_) => {
                self.no_commit()?;
                Ok(self.other(Statement::Program(Box::new(p)), text))
            }
            other => {
                Err(errors::SP_NO_RECURSIVE_CREATE.with([&other.name().replace("CREATE ", "")]))
            }
        }
    }

    fn call(&mut self, c: Call) -> SqlResult<Step> {
        self.has_statements = true;
        Ok(Step::Call(c.name, self.call_arguments(c.arguments)?))
    }

    /// Arguments of a procedure, or of a function with OUT parameters.
    pub(crate) fn call_arguments(&mut self, given: Vec<Expression>) -> SqlResult<Vec<Argument>> {
        let mut list = Vec::new();
        for mut a in given {
            let own_row = match &a.expr {
                Expr::Column(name) => self.names.row_slots(name),
                _ => None,
            };
            if own_row.is_some() || matches!(a.expr, Expr::Row(_)) {
                list.push(Argument::Row(self.row_calc(a)?, own_row));
                continue;
            }
            let of_trigger = match &a.expr {
                Expr::Qualified(q) if q.db.is_none() && self.names.trigger.is_some() => {
                    ["new", "old"]
                        .iter()
                        .any(|n| q.table.eq_ignore_ascii_case(n))
                }
                _ => false,
            };
            let row = match &a.expr {
                Expr::Qualified(q) if q.db.is_none() => {
                    let before = self.names.trigger.as_ref().is_some_and(|t| t.before);
                    let new = q.table.eq_ignore_ascii_case("NEW");
                    (before && new).then(|| (q.table.clone(), q.column.clone()))
                }
                _ => None,
            };
            self.expression(&mut a)?;
            // A subquery may have columns.
            no_names(|note| rewrite::expr(&mut a.expr, note))?;
            let target = match (&a.expr, row) {
                // Whether it is OUT is known when it is called.
                (Expr::Param(_), Some((row, column))) => {
                    let slot = self.names.row_column(&row, &column, true).transpose()?;
                    slot.map(Target::Slot)
                }
                // A row of a trigger that can't be changed takes nothing.
                (Expr::Param(_), None) if of_trigger => None,
                (Expr::Param(slot), None) => Some(Target::Slot(*slot)),
                (Expr::UserVar(name), _) => Some(Target::User(name.clone())),
                _ => None,
            };
            let null = matches!(a.expr, Expr::Literal(Literal::Null));
            let calc = self.calc_of(a);
            list.push(match null {
                true => Argument::Null(calc),
                false => Argument::One(calc, target),
            });
        }
        Ok(list)
    }

    fn signal(&mut self, s: Signal) -> SqlResult<Step> {
        let raised = match &s.condition {
            None => None,
            Some(ConditionValue::State(s)) => Some(Wanted::State(*s)),
            Some(c) => match self.wanted(c)? {
                w @ (Wanted::State(_) | Wanted::Own(_)) => Some(w),
                w @ Wanted::Code(_) if self.names.oracle => Some(w),
                _ => return Err(errors::SIGNAL_BAD_CONDITION_TYPE.plain()),
            },
        };
        let mut set: Vec<(&'static str, Calc)> = Vec::new();
        for (item, value) in s.set {
            if set.iter().any(|(i, _)| *i == item) {
                return Err(errors::DUP_SIGNAL_SET.with([&item]));
            }
            set.push((item, self.calc(value)?));
        }
        Ok(Step::Signal(Box::new(SignalCode {
            again: s.again,
            raised,
            set,
        })))
    }

    fn diagnostics(&mut self, g: GetDiagnostics) -> SqlResult<Step> {
        let condition = g.condition.map(|c| self.calc(c)).transpose()?;
        let items = g.items.into_iter();
        let items = items.map(|(name, item)| Ok((self.target(&name)?, item)));
        Ok(Step::Diagnostics(
            condition,
            items.collect::<SqlResult<_>>()?,
        ))
    }

    fn admin(&mut self, mut a: Admin, text: &str) -> SqlResult<Step> {
        match &a {
            Admin::Use(_) => return Err(errors::SP_BADSTATEMENT.with([&"USE"])),
            Admin::LockTables { .. } => return Err(errors::SP_BADSTATEMENT.with([&"LOCK"])),
            Admin::UnlockTables => return Err(errors::SP_BADSTATEMENT.with([&"UNLOCK"])),
            Admin::Backup(Backup::Stage(_)) => {
                return Err(errors::SP_BADSTATEMENT.with([&"BACKUP STAGE"]));
            }
            Admin::Backup(Backup::Lock(_) | Backup::Unlock) => {
                return Err(errors::SP_BADSTATEMENT.with([&"BACKUP LOCK"]));
            }
            Admin::Set(_) => {}
            Admin::Help(_) => return Err(errors::SP_BADSTATEMENT.with([&"HELP"])),
            Admin::Handler(_) => return Err(errors::SP_BADSTATEMENT.with([&"HANDLER"])),
            Admin::Maintain(m) if matches!(m.op, Maintenance::Check) => {
                return Err(errors::SP_BADSTATEMENT.with([&"CHECK"]));
            }
            Admin::Show(_)
            | Admin::Describe { .. }
            | Admin::Maintain(_)
            | Admin::Checksum { .. } => {
                self.may_answer()?;
            }
            Admin::Prepared(_) if self.kind.is_within_statement() => {
                return Err(errors::STMT_NOT_ALLOWED_IN_SF_OR_TRG.with([&"Dynamic SQL"]));
            }
            Admin::Flush(_) if self.kind.is_within_statement() => {
                return Err(errors::STMT_NOT_ALLOWED_IN_SF_OR_TRG.with([&"FLUSH"]));
            }
            Admin::Reset(_) if self.kind.is_within_statement() => {
                return Err(errors::STMT_NOT_ALLOWED_IN_SF_OR_TRG.with([&"RESET"]));
            }
            Admin::SetPassword(_) if self.names.slot("password").is_some() => {
                return Err(errors::SP_BAD_VAR_SHADOW.with([&"password"]));
            }
            Admin::SetPassword(_) if self.kind.is_within_statement() => {
                return Err(errors::SP_CANT_SET_AUTOCOMMIT.plain());
            }
            // The next transaction's, or the session's.
            Admin::SetTransaction(_) => {}
            // The session's, if it is its account that runs the program.
            Admin::SetRole(_) => {}
            // They end with the function.
            Admin::Savepoint(_) | Admin::RollbackTo(_) | Admin::ReleaseSavepoint(_) => {}
            _ => self.no_commit()?,
        }
        match &mut a {
            Admin::Set(set) => {
                let items = std::mem::take(&mut set.items);
                return self.set(items);
            }
            Admin::Prepared(p) => match p {
                Prepared::Prepare { from, .. } => self.expression(&mut from.value)?,
                Prepared::Execute { using, .. } => self.using(using)?,
                Prepared::Immediate { from, using } => {
                    self.expression(&mut from.value)?;
                    no_names(|note| rewrite::expr(&mut from.value.expr, note))?;
                    self.using(using)?;
                }
                Prepared::Deallocate(_) => {}
            },
            _ => {}
        }
        Ok(self.other(Statement::Admin(Box::new(a)), text))
    }

    fn using(&mut self, list: &mut [Using]) -> SqlResult<()> {
        for u in list {
            if let Using::Value(v) = u {
                self.expression(&mut v.value)?;
                no_names(|note| rewrite::expr(&mut v.value.expr, note))?;
            }
        }
        Ok(())
    }

    fn set(&mut self, items: Vec<SetItem>) -> SqlResult<Step> {
        let mut steps = Vec::new();
        for item in items {
            steps.push(self.set_item(item)?);
        }
        Ok(match steps.len() {
            1 => steps.swap_remove(0),
            _ => Step::Several(steps),
        })
    }

    fn set_item(&mut self, item: SetItem) -> SqlResult<Step> {
        match item {
            // A name that is no variable's is missed when it runs (1054).
            SetItem::User { name, value } => {
                Ok(Step::SetUser(name, self.calc_unchecked(value.value)?))
            }
            SetItem::System { scope, name, value } => {
                let row = name.split_once('.');
                let local = scope == Scope::Default
                    && match row {
                        Some((row, _)) => {
                            self.names.row_slots(row).is_some()
                                || self.names.trigger.is_some()
                                    && ["new", "old"].iter().any(|n| row.eq_ignore_ascii_case(n))
                        }
                        None => {
                            self.names.slot(&name).is_some()
                                || self.names.row_slots(&name).is_some()
                        }
                    };
                if local {
                    return self.set_local(&name, value);
                }
                if let Some((row, _)) = row
                    && matches!(scope, Scope::Default | Scope::Marked)
                    && !is_structured(&name)
                {
                    return Err(errors::UNKNOWN_STRUCTURED_VARIABLE.with([&row]));
                }
                let mut value = value;
                let scope = match scope {
                    Scope::Marked => Scope::Default,
                    said => said,
                };
                self.settable(&name)?;
                self.setting(&mut value)?;
                if self.kind.is_within_statement() {
                    return self.set_within(scope, name, value);
                }
                let items = vec![SetItem::System { scope, name, value }];
                Ok(self.other(Statement::Admin(Box::new(Admin::Set(Set { items }))), "SET"))
            }
            SetItem::Password(_) if self.kind.is_within_statement() => {
                Err(errors::SP_CANT_SET_AUTOCOMMIT.plain())
            }
            item => {
                let items = vec![item];
                Ok(self.other(Statement::Admin(Box::new(Admin::Set(Set { items }))), "SET"))
            }
        }
    }

    /// SET of a system variable in a function or a trigger, whose host has no session to hand a statement to.
    fn set_within(&mut self, scope: Scope, name: String, value: SetValue) -> SqlResult<Step> {
        let value = match value {
            SetValue::Expr(o) => Some(self.calc(o.value)?),
            SetValue::Word(w) | SetValue::Str(w) => {
                Some(self.calc(plain(Expr::Literal(Literal::String(w))))?)
            }
            SetValue::Default => None,
        };
        self.has_statements = true;
        Ok(Step::Setting(scope, name, value))
    }

    /// Error 1193 for a system variable that there is not, 1445 for one that can't be set here.
    fn settable(&self, name: &str) -> SqlResult<()> {
        if name.eq_ignore_ascii_case("autocommit") && self.kind.is_within_statement() {
            return Err(errors::SP_CANT_SET_AUTOCOMMIT.plain());
        }
        let known = self.env.variables.system(VariableScope::Session, name);
        match known {
            Err(e) if e.code == codes::UNKNOWN_SYSTEM_VARIABLE && !name.contains('.') => Err(e),
            _ => Ok(()),
        }
    }

    /// The value of a system variable: the program's variables are seen in it.
    fn setting(&mut self, value: &mut SetValue) -> SqlResult<()> {
        match value {
            SetValue::Word(w) if self.names.slot(w).is_some() => {
                let mut e = plain(Expr::Column(w.clone()));
                self.expression(&mut e)?;
                let text = std::mem::take(w);
                *value = SetValue::Expr(Operand { text, value: e });
            }
            SetValue::Expr(o) => self.expression(&mut o.value)?,
            _ => {}
        }
        Ok(())
    }

    fn set_local(&mut self, name: &str, value: SetValue) -> SqlResult<Step> {
        let e = match value {
            SetValue::Expr(o) => o.value,
            SetValue::Word(w) => plain(Expr::Column(w)),
            SetValue::Str(s) => plain(Expr::Literal(Literal::String(s))),
            SetValue::Default => {
                let default = self.names.slot(name).and_then(|s| self.names.default_of(s));
                default.unwrap_or_else(|| plain(Expr::Literal(Literal::Null)))
            }
        };
        if let Some(slots) = self.names.row_slots(name) {
            let values = self.row_calc(e)?;
            return Ok(Step::SetRow(slots, values));
        }
        let Target::Slot(slot) = self.target(name)? else {
            return Err(errors::SP_UNDECLARED_VAR.with([&name]));
        };
        let ty = self.names.slots[slot].ty;
        let calc = match e.expr {
            // A name that is none of NEW's and OLD's is missed when it runs (1054).
            Expr::Column(_) if name.contains('.') => self.calc_unchecked(e)?,
            _ => self.single(e, Some((ty, name)))?,
        };
        Ok(Step::Set(slot, calc))
    }
}
