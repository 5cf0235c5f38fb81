//! DDL of temporary tables.

use crate::Result;
use crate::catalog::change::CatalogChange;
use crate::db::database::Database;
use crate::ddl::temporary::Fill;
use crate::txn::options::TxnOptions;
use crate::txn::temporary_rows::TemporaryTables;

impl TemporaryTables {
    /// Runs the changes of a DDL statement on temporary tables. `fill` gives rows to the table that it makes. They do not
    /// belong to a transaction: what was made or dropped stays so. An open transaction of the session must have lent the
    /// rows ([`crate::Transaction::lend_temporary`]).
    ///
    /// # Errors
    /// Those of `fill`: nothing has changed then.
    pub fn ddl(
        &self,
        db: &Database,
        changes: Vec<CatalogChange>,
        options: &TxnOptions,
        fill: Option<Fill<'_>>,
    ) -> Result<()> {
        self.run(&db.parts, changes, options, fill)
    }
}
