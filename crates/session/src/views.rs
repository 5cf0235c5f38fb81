//! What a session has to do with views: who may make them, and with whose privileges they read their tables.

use crate::acl::Account;
use crate::information_schema::InformationSchema;
use crate::privileges::PrivilegeSet;
use crate::session::{ClientSession, is_virtual};
use narwal_sql::ast::{CreateView, Definer};
use narwal_sql::privilege::Through;
use narwal_sql::{Needs, view};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

impl ClientSession {
    /// Plans the SELECT of a CREATE VIEW; gives the statement with what came of it, and the privileges that it needs.
    pub(crate) fn settle_view(&mut self, v: &CreateView) -> SqlResult<(CreateView, Vec<Needs>)> {
        let account = self.account();
        if let Some(Definer::Account(user, host)) = &v.definer
            && (user, host) != (&account.user, &account.host)
        {
            self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::SET_USER))?;
            if self.acl.get(user, host).is_none() {
                let e = no_definer(user, host);
                self.env.note(e.code, e.message);
            }
        }
        let catalog = self.instance.database().catalog();
        let (settled, needs) = view::settle(
            v,
            self.instance.database(),
            &catalog,
            &self.env,
            Some(&InformationSchema(self)),
        )?;
        self.check_needs(&needs)?;
        let mut v = v.clone();
        v.settled = Some(settled);
        Ok((v, needs))
    }

    /// A privilege on a table under a view: that of the view's definer, or of the session's account.
    pub(crate) fn check_through(
        &self,
        account: &Account,
        n: &Needs,
        through: &Through,
    ) -> SqlResult<()> {
        let wanted = PrivilegeSet::from(n.privilege);
        let have = match &through.account {
            _ if is_virtual(&n.db) => return Ok(()),
            None => account.on_table(&n.db, &n.table),
            Some((user, host)) => match self.acl.get(user, host) {
                Some(a) => a.on_table(&n.db, &n.table),
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
        if have.has(wanted) {
            return Ok(());
        }
        Err(view::invalid(&through.db, &through.view))
    }
}

/// Error 1449.
fn no_definer(user: &str, host: &str) -> SqlError {
    errors::NO_SUCH_USER.with([&user, &host])
}
