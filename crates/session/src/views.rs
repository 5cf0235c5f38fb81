//! What a session has to do with views: who may make them, and with whose privileges they read their tables.

use crate::acl::{self, Account};
use crate::information_schema::InformationSchema;
use crate::privileges::PrivilegeSet;
use crate::session::{ClientSession, is_virtual};
use narwal_engine::Catalog;
use narwal_sql::ast::{CreateView, Definer, ViewCreation};
use narwal_sql::privilege::{Privilege, Through};
use narwal_sql::{Needs, view};
use narwal_types::errors::{self, codes};
use narwal_types::{Name, SqlError, SqlResult};
use std::sync::Arc;

impl ClientSession {
    /// Plans the SELECT of a CREATE VIEW; gives the statement with what came of it, and the privileges that it needs.
    pub(crate) fn settle_view(&mut self, v: &CreateView) -> SqlResult<(CreateView, Vec<Needs>)> {
        let mut v = v.clone();
        let catalog = self.instance.database().catalog();
        self.may_alter_view(&v, &catalog)?;
        v.definer = self.view_definer(v.definer.as_ref())?;
        let (settled, needs) = view::settle(
            &v,
            self.instance.database(),
            &catalog,
            &self.env,
            Some(&InformationSchema(self)),
        )?;
        let settle = |s: &mut Self| {
            let db = s.instance.database();
            let tables = InformationSchema(s);
            view::settle(&v, db, &catalog, &s.env, Some(&tables)).map(drop)
        };
        let allowed = match self.missing_on_tables(&needs) {
            Ok(true) => self.check_columns(settle),
            other => other.map(drop),
        };
        if let Err(e) = allowed {
            let denied = [
                codes::TABLEACCESS_DENIED_ERROR,
                codes::COLUMNACCESS_DENIED_ERROR,
            ];
            if !denied.contains(&e.code) {
                return Err(e);
            }
            self.check_any_right(&v, &needs, settle, e)?;
        }
        v.settled = Some(settled);
        Ok((v, needs))
    }

    /// ALTER VIEW keeps another account's definer only for who may name it (1227).
    fn may_alter_view(&mut self, v: &CreateView, catalog: &Catalog) -> SqlResult<()> {
        if v.creation != ViewCreation::Alter || v.definer.is_some() {
            return Ok(());
        }
        let db = v.view.db.as_deref().or(self.env.db.as_deref());
        let Some(old) = db.and_then(|db| catalog.view(db, &v.view.name)) else {
            return Ok(());
        };
        let account = self.account();
        let own = (&old.definer.0, &old.definer.1) == (&account.user, &account.host);
        match own || self.is_own_role(&old.definer) {
            true => Ok(()),
            false => self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::SET_USER)),
        }
    }

    /// Who makes a view need not read the columns that it only shows: any privilege on them will do, since the view reads
    /// with its definer's rights in any case. What stands in an expression needs SELECT.
    fn check_any_right(
        &mut self,
        v: &CreateView,
        needs: &[Needs],
        settle: impl FnOnce(&mut Self) -> SqlResult<()>,
        denied: SqlError,
    ) -> SqlResult<()> {
        let account = self.account();
        let any = PrivilegeSet::ON_ROWS;
        let own = |n: &&Needs| n.through.is_none() && !is_virtual(&n.db);
        let about = |n: &Needs| account.about_table(&n.db, &n.table);
        let host = self.client.host.clone();
        if let Some(n) = (needs.iter().filter(own)).find(|n| !about(n).has_any(any)) {
            return Err(match n.privilege {
                Privilege::Select => denied_any(&account, &host, &n.db, &n.table),
                _ => denied,
            });
        }
        *self.env.column_uses.borrow_mut() = Some(Box::default());
        let planned = settle(self);
        let uses = self.env.column_uses.borrow_mut().take();
        planned?;
        let in_expressions = view::names_in_expressions(&v.select);
        // What may be done with each column. Who has rights on the view itself would get them on all of its columns, so
        // there has to be something that may be done with all of them.
        let mut shared = any;
        let db = v.view.db.as_deref().or(self.env.db.as_deref());
        let gains = db.is_some_and(|db| account.on_table(db, &v.view.name).has_any(any));
        for u in uses.map(|u| u.list).unwrap_or_default() {
            if is_virtual(&u.db) || u.through.is_some() {
                continue;
            }
            let have = (account.on_table(&u.db, &u.table))
                .with(account.on_column(&u.db, &u.table, &u.column));
            let shown = !in_expressions.contains(&u.column.name_key());
            shared = shared.without(shared.without(have));
            let enough = have.has(PrivilegeSet::SELECT) || shown && have.has_any(any);
            if !enough || gains && shared.is_empty() {
                if u.of_all {
                    return Err(denied_any(&account, &host, &u.db, &u.table));
                }
                let command = match shown && !have.has_any(any) {
                    true => "ANY",
                    false => "SELECT",
                };
                return Err(errors::COLUMNACCESS_DENIED_ERROR.with([
                    &command,
                    &account.user,
                    &host,
                    &u.column,
                    &u.table,
                ]));
            }
        }
        Ok(())
    }

    /// The definer as it is kept. Another than the session's account needs a privilege.
    fn view_definer(&mut self, given: Option<&Definer>) -> SqlResult<Option<Definer>> {
        let account = self.account();
        let (user, host) = match given {
            None => return Ok(None),
            Some(Definer::CurrentUser) => return Ok(Some(Definer::CurrentUser)),
            Some(Definer::CurrentRole) => (self.current_role()?, String::new()),
            Some(Definer::Account(user, host)) => {
                let named = self
                    .rights
                    .acl
                    .definer_named(user, Some(&**host).filter(|h| !h.is_empty()))?;
                let own = (&named.0, &named.1) == (&account.user, &account.host);
                if !own && !self.is_own_role(&named) {
                    self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::SET_USER))?;
                    if self.rights.acl.get(&named.0, &named.1).is_none() {
                        let e = no_definer(&named.0, &named.1);
                        self.env.note(e.code, e.message);
                    }
                }
                named
            }
        };
        Ok(Some(Definer::Account(user, host)))
    }

    /// The privileges on a table under a view, and whose they are: the view's definer's, or the session's account's.
    pub(crate) fn behind_view(
        &self,
        account: &Arc<Account>,
        n: &Needs,
        through: &Through,
    ) -> SqlResult<(PrivilegeSet, Arc<Account>)> {
        let who = match &through.account {
            None => account.clone(),
            Some((user, host)) => match self.rights.acl.definer(user, host) {
                Some(a) => a,
                None if account.global.has(PrivilegeSet::SUPER) => {
                    return Err(no_definer(user, host));
                }
                // Others are not told who is missing.
                None => {
                    return Err(errors::ACCESS_DENIED_ERROR.with([
                        &account.user,
                        &account.host,
                        &"NO",
                    ]));
                }
            },
        };
        Ok((who.on_table(&n.db, &n.table), who))
    }

    /// What EXPLAIN and ANALYZE need beyond the statement itself. They tell what a view is made of: so the account needs
    /// SHOW VIEW on each view, and SELECT on what it is made of.
    ///
    /// # Errors
    /// What the statement itself lacks comes first; then 1345.
    pub(crate) fn check_explainable(&mut self, needs: &[Needs]) -> SqlResult<()> {
        let (inside, own): (Vec<&Needs>, _) = needs.iter().partition(|n| n.through.is_some());
        if inside.is_empty() {
            return Ok(());
        }
        let own: Vec<Needs> = own.into_iter().cloned().collect();
        self.missing_on_tables(&own)?;
        let account = self.account();
        for n in inside {
            let Some(view) = &n.through else { continue };
            let on_view = account.on_table(&view.db, &view.view);
            let on_table = account
                .on_table(&n.db, &n.table)
                .with(account.on_some_column(&n.db, &n.table));
            let sees = is_virtual(&n.db) || on_table.has(PrivilegeSet::SELECT);
            if !sees || !on_view.has(PrivilegeSet::SHOW_VIEW) {
                return Err(errors::VIEW_NO_EXPLAIN.plain());
            }
        }
        Ok(())
    }
}

/// Error 1142 for a table of which a view is to show all columns.
fn denied_any(account: &Account, host: &str, db: &str, table: &str) -> SqlError {
    acl::table_denied("ANY", account, host, db, table)
}

/// Error 1449.
fn no_definer(user: &str, host: &str) -> SqlError {
    errors::NO_SUCH_USER.with([&user, &host])
}
