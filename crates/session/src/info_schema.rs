//! `information_schema`: a few tables whose rows are made when asked for.

use crate::instance::Instance;
use narwal_engine::Table;
use narwal_sql::{VirtualRows, VirtualTables};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Serves the tables of `information_schema`.
pub(crate) struct InfoSchema {
    instance: Mutex<Weak<Instance>>,
}

impl InfoSchema {
    pub(crate) fn new() -> Self {
        InfoSchema {
            instance: Mutex::new(Weak::new()),
        }
    }

    pub(crate) fn attach(&self, instance: &Arc<Instance>) {
        *self.instance.lock() = Arc::downgrade(instance);
    }
}

impl VirtualTables for InfoSchema {
    fn table(&self, _db: &str, _name: &str) -> Option<(Arc<Table>, VirtualRows)> {
        let _instance = self.instance.lock().upgrade()?;
        None
    }
}

/// The definition of a table of `information_schema`, by name in any case.
pub(crate) fn definition(name: &str) -> Option<Arc<Table>> {
    definitions()
        .into_iter()
        .find(|t| t.def.name.eq_ignore_ascii_case(name))
}

/// All of them.
pub(crate) fn definitions() -> Vec<Arc<Table>> {
    Vec::new()
}
