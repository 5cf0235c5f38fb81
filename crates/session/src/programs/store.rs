//! What programs need of the server: its database and its accounts.

use crate::acl::Acl;
use narwal_engine::Database;
use narwal_sql::{ParamType, Prepared, StatementEnv, Stmt};
use narwal_types::SqlResult;
use parking_lot::Mutex;
use std::sync::Arc;

/// The database and the accounts as they are now.
pub(crate) struct Store {
    db: Database,
    acl: Mutex<Option<Arc<Acl>>>,
}

impl Store {
    pub(crate) fn new(db: Database) -> Self {
        Store {
            db,
            acl: Mutex::default(),
        }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.db
    }

    pub(crate) fn acl(&self) -> Arc<Acl> {
        let mut kept = self.acl.lock();
        if let Some(acl) = &*kept
            && acl.version == self.db.catalog_version()
        {
            return acl.clone();
        }
        let acl = Arc::new(Acl::load(&self.db.catalog()));
        *kept = Some(acl.clone());
        acl
    }

    /// Plans a program's statement.
    pub(crate) fn plan_program(
        &self,
        stmt: &Stmt,
        types: &[ParamType],
        env: &StatementEnv,
    ) -> SqlResult<Prepared> {
        let stmt = narwal_program::with_params(stmt, types.len());
        *env.param_types.borrow_mut() = types.to_vec();
        let plan = Prepared::new(&stmt, "", &self.db, &self.db.catalog(), env, None);
        env.param_types.borrow_mut().clear();
        plan
    }
}
