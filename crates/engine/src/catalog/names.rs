//! The catalog: one immutable version of all that has a name.

use crate::catalog::def::DatabaseDef;
use crate::catalog::table::Table;
use crate::catalog::view::ViewDef;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One immutable version of the catalog. A new one is published by each DDL commit.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Rises with each DDL commit; plans made for another version must be made anew.
    pub version: u64,
    pub(crate) databases: BTreeMap<String, Arc<DatabaseDef>>,
    pub(crate) tables: BTreeMap<String, BTreeMap<String, Arc<Table>>>,
    pub(crate) by_id: ahash::HashMap<u64, Arc<Table>>,
    pub(crate) objects: BTreeMap<String, Arc<str>>,
    pub(crate) views: BTreeMap<String, BTreeMap<String, Arc<ViewDef>>>,
    pub(crate) next_table_id: u64,
    pub(crate) next_index_id: u32,
    pub(crate) references: crate::catalog::names::References,
}

impl Catalog {
    /// A database by name.
    pub fn database(&self, name: &str) -> Option<&Arc<DatabaseDef>> {
        self.databases.get(name)
    }

    /// All databases by name.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<DatabaseDef>> {
        self.databases.values()
    }

    /// A table by database and name.
    pub fn table(&self, db: &str, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(db)?.get(name)
    }

    /// A table by its id.
    pub fn table_by_id(&self, id: u64) -> Option<&Arc<Table>> {
        self.by_id.get(&id)
    }

    /// The tables of a database by name.
    pub fn tables(&self, db: &str) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.get(db).into_iter().flat_map(|m| m.values())
    }

    /// An object stored by [`crate::CatalogChange::PutObject`].
    pub fn object(&self, key: &str) -> Option<&Arc<str>> {
        self.objects.get(key)
    }

    /// Objects whose key starts with `prefix`, in key order.
    pub fn objects<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Arc<str>)> {
        self.objects
            .range::<str, _>((
                std::ops::Bound::Included(prefix),
                std::ops::Bound::Unbounded,
            ))
            .take_while(move |(k, _)| k.starts_with(prefix))
            .map(|(k, v)| (k.as_str(), v))
    }
}

/// Foreign keys by the table that they refer to: for each parent (database, table) its children, as table id and number of
/// the foreign key.
pub(crate) type References = BTreeMap<(String, String), Vec<(u64, usize)>>;

pub(crate) fn references<'t>(tables: impl Iterator<Item = &'t Arc<Table>>) -> References {
    let mut map = References::new();
    for t in tables {
        for (i, k) in t.def.foreign_keys.iter().enumerate() {
            map.entry((k.parent_db.clone(), k.parent.clone()))
                .or_default()
                .push((t.def.id, i));
        }
    }
    map
}

impl Catalog {
    /// Foreign keys that refer to a table: the child, and the key's number there.
    pub fn references_to(&self, db: &str, name: &str) -> Vec<(Arc<Table>, usize)> {
        let mut found: Vec<(Arc<Table>, usize)> = self
            .references
            .get(&(db.to_string(), name.to_string()))
            .into_iter()
            .flatten()
            .filter_map(|(id, k)| Some((self.table_by_id(*id)?.clone(), *k)))
            .collect();
        if found.len() > 1 {
            found.sort_by(|a, b| order_of(a).cmp(&order_of(b)));
        }
        found
    }
}

/// By what foreign keys that refer to one table follow each other, as in InnoDB: which one cascades first can decide whether a
/// statement is refused.
fn order_of((table, key): &(Arc<Table>, usize)) -> (&str, &str) {
    (&table.def.db, &table.def.foreign_keys[*key].name)
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
