//! Variables of a program in the definitions of columns, which no table can keep.

use crate::rewrite;
use narwal_sql::quote::quote_ident;
use narwal_syntax::ast::ddl::{
    AlterAction, Column, ColumnAttribute, ColumnDefault, Ddl, Generated, TableElement,
};
use narwal_syntax::ast::{Expr, Expression};
use narwal_types::{SqlResult, errors};

/// Error 1901 for a variable in DEFAULT, GENERATED ALWAYS AS or CHECK of a column.
pub(crate) fn no_variables(d: &mut Ddl, variable: &dyn Fn(&str) -> bool) -> SqlResult<()> {
    match d {
        Ddl::CreateTable(c) => elements(&mut c.elements, variable),
        Ddl::AlterTable(a) => a.actions.iter_mut().try_for_each(|a| match a {
            AlterAction::Add { elements: list, .. } => elements(list, variable),
            AlterAction::Change { to, .. } => column(to, variable),
            AlterAction::SetDefault {
                column,
                default: Some(ColumnDefault::Expr(e)),
                ..
            } => expression(e, "DEFAULT", column, variable),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

fn elements(list: &mut [TableElement], variable: &dyn Fn(&str) -> bool) -> SqlResult<()> {
    list.iter_mut().try_for_each(|e| match e {
        TableElement::Column(c) => column(c, variable),
        _ => Ok(()),
    })
}

fn column(c: &mut Column, variable: &dyn Fn(&str) -> bool) -> SqlResult<()> {
    for a in &mut c.attributes {
        if let ColumnAttribute::Default(ColumnDefault::Expr(e)) = a {
            expression(e, "DEFAULT", &c.name, variable)?;
        }
    }
    if let Some(Generated::Expr { expr, .. }) = &mut c.generated {
        expression(expr, "GENERATED ALWAYS AS", &c.name, variable)?;
    }
    match &mut c.check {
        Some(check) => expression(&mut check.expr, "CHECK", &c.name, variable),
        None => Ok(()),
    }
}

fn expression(
    e: &mut Expression,
    clause: &str,
    column: &str,
    variable: &dyn Fn(&str) -> bool,
) -> SqlResult<()> {
    let mut found = None;
    rewrite::expression(e, &mut |e| {
        let name = match e {
            Expr::Column(name) => name.clone(),
            Expr::Qualified(q) if q.db.is_none() => format!("{}.{}", q.table, q.column),
            _ => return,
        };
        if variable(&name) {
            found.get_or_insert(name);
        }
    });
    match found {
        Some(name) => Err(errors::GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED.with([
            &name,
            &clause,
            &quote_ident(column),
        ])),
        None => Ok(()),
    }
}
