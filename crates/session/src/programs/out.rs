//! OUT and INOUT parameters of a CALL that was prepared: each `?` stands for a variable while it runs.

use super::compiled::find_procedure;
use crate::session::ClientSession;
use narwal_sql::expr::{for_each_operand, functions};
use narwal_sql::{Programs, StatementEnv, VariableSource};
use narwal_syntax::Statement;
use narwal_syntax::ast::admin::{Admin, SetItem};
use narwal_syntax::ast::program::{Call, ParameterMode};
use narwal_syntax::ast::{Expr, SelectItem};
use narwal_types::{ColumnType, ResultColumn, ResultSink, SqlResult, Value, ValueRef};

/// The status flag of a result that is the OUT parameters: SERVER_PS_OUT_PARAMS.
const OUT_PARAMS: u16 = 0x1000;

/// The variable that stands for a `?`: no client can name it.
fn variable(n: usize) -> String {
    format!("\u{1}{n}")
}

/// A call of a function with OUT parameters is in an expression.
fn calls_out(e: &mut Expr, programs: &dyn Programs, env: &StatementEnv) -> bool {
    let mut found = false;
    for_each_operand(e, &mut |inner| found |= calls_out(inner, programs, env));
    if let Expr::Call(c) = e
        && !found
        && functions::lookup(&c.name.to_ascii_lowercase()).is_none()
    {
        let function = programs.function(c.db.as_deref(), &c.name, env);
        return function.is_ok_and(|f| f.is_some_and(|f| f.out.is_some()));
    }
    found
}

impl ClientSession {
    /// A SET of user variables, or a DO, by functions with OUT parameters. It runs as a program, which has places for what
    /// comes back.
    pub(crate) fn calls_out_functions(&self, s: &Statement) -> bool {
        let programs = &*self.programs;
        if !programs.any() {
            return false;
        }
        let calls = |e: &Expr| calls_out(&mut e.clone(), programs, &self.env);
        match s {
            Statement::Do(s) => s.items.iter().any(|item| match item {
                SelectItem::Expr { expr, .. } => calls(expr),
                _ => false,
            }),
            Statement::Admin(a) => match &**a {
                Admin::Set(set) => set.items.iter().any(|item| match item {
                    SetItem::User { value, .. } => calls(&value.value.expr),
                    _ => false,
                }),
                _ => false,
            },
            _ => false,
        }
    }

    /// Puts values in the place of the `?` of a CALL. One that is an argument of its own may get something back.
    pub(crate) fn bind_arguments(&mut self, call: &mut Call, values: &[Value]) {
        let mut params = Vec::with_capacity(call.arguments.len());
        for a in &mut call.arguments {
            let Expr::Param(n) = a.expr else {
                params.push(None);
                continue;
            };
            let value = values.get(n).cloned().unwrap_or_default();
            self.vars.set_user(&variable(n), value);
            a.expr = Expr::UserVar(variable(n));
            params.push(Some(n));
        }
        narwal_program::fill_params(&mut call.arguments, values);
        self.call_params = Some(params);
    }

    /// Keeps what a procedure has given back, and tells a client that has prepared the CALL by the protocol.
    pub(super) fn give_back(
        &mut self,
        params: &[Option<usize>],
        name: &[String],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let unit = find_procedure(&self.programs.clone(), name, &self.env)?;
        let program = &unit.program;
        let count = params.iter().flatten().map(|n| n + 1).max().unwrap_or(0);
        self.out_values = vec![None; count];
        let mut columns = Vec::new();
        let mut values = Vec::new();
        for (parameter, param) in program.parameters.iter().zip(params) {
            let Some(n) = param else { continue };
            let v = self.vars.user(&variable(*n));
            self.vars.set_user(&variable(*n), Value::Null);
            if parameter.mode == ParameterMode::In {
                continue;
            }
            self.out_values[*n] = Some(v.clone());
            let slot = &program.slots[program.of_package + parameter.at];
            columns.push(column(&slot.name, slot.ty));
            values.push(v);
        }
        if columns.is_empty() || !self.by_protocol || self.in_program > 0 {
            return Ok(());
        }
        out.begin_rows(&columns)?;
        let row: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
        out.row(&row)?;
        out.end_rows(0, self.status_flags() | OUT_PARAMS, true)
    }
}

fn column(name: &str, ty: ColumnType) -> ResultColumn {
    ResultColumn {
        db: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_string(),
        org_name: String::new(),
        ty,
        nullable: true,
        length: 0,
        decimals: 0,
        primary_key: false,
        unique_key: false,
        multiple_key: false,
        auto_increment: false,
        no_default: false,
        set_by_time: false,
        on_update_now: false,
        null_type: false,
        json: false,
    }
}
