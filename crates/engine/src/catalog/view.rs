//! Views: named SELECTs. The engine keeps their definitions among the tables' names; what they mean is the SQL layer's
//! business.

use serde::{Deserialize, Serialize};

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
