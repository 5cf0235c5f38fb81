//! What programs need of the server: its database and its accounts.

use crate::acl::Acl;
use narwal_engine::Database;
use narwal_sql::{ParamType, Prepared, StatementEnv, Stmt, VirtualTables};
use narwal_types::SqlResult;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// Finds the virtual tables that a program sees, with what its account may see.
pub(crate) type TablesOf = Box<dyn Fn(&StatementEnv) -> Box<dyn VirtualTables> + Send + Sync>;

/// The database and the accounts as they are now.
pub(crate) struct Store {
    db: Database,
    acl: Mutex<Option<Arc<Acl>>>,
    tables: OnceLock<TablesOf>,
}

impl Store {
    pub(crate) fn new(db: Database) -> Self {
        Store {
            db,
            acl: Mutex::default(),
            tables: OnceLock::new(),
        }
    }

    /// Says how programs find virtual tables. The first call counts.
    pub(crate) fn see_tables(&self, tables: impl FnOnce() -> TablesOf) {
        self.tables.get_or_init(tables);
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
        let tables = self.tables.get().map(|of| of(env));
        let catalog = self.db.catalog();
        let plan = Prepared::new(&stmt, "", &self.db, &catalog, env, tables.as_deref());
        env.param_types.borrow_mut().clear();
        plan
    }
}
