//! Views: named SELECTs. The engine keeps their definitions among the tables' names; what they mean is the SQL layer's
//! business.

use crate::catalog::Catalog;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// ALGORITHM of a view, as it was given: what is done is decided for each statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ViewAlgorithm {
    /// UNDEFINED.
    #[default]
    Undefined,
    /// MERGE.
    Merge,
    /// TEMPTABLE.
    TempTable,
}

impl ViewAlgorithm {
    /// As DDL spells it.
    pub fn name(self) -> &'static str {
        match self {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        }
    }
}

/// WITH CHECK OPTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum CheckOption {
    /// Rows may be written that the view does not show.
    #[default]
    None,
    /// Written rows must meet the view's own condition.
    Local,
    /// They must meet the conditions of the views under it, too.
    Cascaded,
}

impl CheckOption {
    /// As information_schema spells it.
    pub fn name(self) -> &'static str {
        match self {
            CheckOption::None => "NONE",
            CheckOption::Local => "LOCAL",
            CheckOption::Cascaded => "CASCADED",
        }
    }
}

/// A view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewDef {
    /// Database.
    pub db: String,
    /// Name, unique among the database's tables and views.
    pub name: String,
    /// The SELECT as SQL text that means the same in any session: with all names in full and `*` spelt out.
    pub select: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// The definer's account: name and host.
    pub definer: (String, String),
    /// SQL SECURITY INVOKER: the tables under it are read with the privileges of who reads the view.
    pub invoker: bool,
    /// ALGORITHM.
    pub algorithm: ViewAlgorithm,
    /// WITH CHECK OPTION.
    pub check: CheckOption,
    /// Its rows are rows of tables, which can be written through it.
    pub updatable: bool,
    /// `character_set_client` and `collation_connection` of the session that made it.
    pub charset: (String, String),
}

impl Catalog {
    /// A view by database and name.
    pub fn view(&self, db: &str, name: &str) -> Option<&Arc<ViewDef>> {
        self.views.get(db)?.get(name)
    }

    /// The views of a database by name.
    pub fn views(&self, db: &str) -> impl Iterator<Item = &Arc<ViewDef>> {
        self.views.get(db).into_iter().flat_map(|m| m.values())
    }

    /// True if there is a table or a view of that name.
    pub fn has(&self, db: &str, name: &str) -> bool {
        self.table(db, name).is_some() || self.view(db, name).is_some()
    }

    pub(crate) fn put_view(&mut self, v: ViewDef) {
        self.views
            .entry(v.db.clone())
            .or_default()
            .insert(v.name.clone(), Arc::new(v));
    }

    pub(crate) fn remove_view(&mut self, db: &str, name: &str) {
        if let Some(m) = self.views.get_mut(db) {
            m.remove(name);
            if m.is_empty() {
                self.views.remove(db);
            }
        }
    }
}
