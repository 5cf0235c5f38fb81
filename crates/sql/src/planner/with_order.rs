//! Which tables of a WITH name which, and the order in which they can be planned.

use narwal_syntax::ast::{Cte, From, Select, With};
use narwal_types::Name;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Tables that name each other.
pub(super) type Group = Arc<[Arc<Cte>]>;

/// The tables of a WITH, each behind those that it names. Tables of WITH RECURSIVE that name each other, or one that names
/// itself, stand together as a group, in the order of the text.
pub(super) fn in_order(with: &With) -> Vec<(Arc<Cte>, Option<Group>)> {
    if !with.recursive {
        return with.ctes.iter().map(|c| (c.clone(), None)).collect();
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for (i, c) in with.ctes.iter().enumerate() {
        places.insert(c.name.name_key(), i);
    }
    let named: Vec<Vec<usize>> = (with.ctes.iter())
        .map(|c| {
            let mut n = Named::default();
            n.select(&c.query);
            let mut all: Vec<usize> = (n.tables.iter())
                .filter_map(|t| places.get(t).copied())
                .collect();
            all.sort_unstable();
            all
        })
        .collect();
    let mut out = Vec::with_capacity(with.ctes.len());
    for mut members in Circles::of(&named) {
        members.sort_unstable();
        let tables: Vec<Arc<Cte>> = members.iter().map(|i| with.ctes[*i].clone()).collect();
        let recursive = members.len() > 1 || named[members[0]].contains(&members[0]);
        let group: Option<Group> = recursive.then(|| tables.clone().into());
        out.extend(tables.into_iter().map(|t| (t, group.clone())));
    }
    out
}

/// The tables that others of the WITH name. Without RECURSIVE a name means a table before it, or one outside of this WITH.
pub(super) fn used_later(with: &With) -> HashSet<*const Cte> {
    let mut named = Named::default();
    if with.recursive {
        with.ctes.iter().for_each(|c| named.select(&c.query));
    }
    let mut used = HashSet::new();
    for c in with.ctes.iter().rev() {
        if named.has(&c.name) {
            used.insert(Arc::as_ptr(c));
        }
        named.select(&c.query);
    }
    used
}

/// Finds the circles of a graph by one walk (Tarjan's algorithm), without a call for each step: a WITH may be long.
struct Circles<'a> {
    arrows: &'a [Vec<usize>],
    /// When a node was met, from 1; 0: not yet.
    met: Vec<usize>,
    /// The earliest node that it leads back to.
    low: Vec<usize>,
    /// Nodes that were met and are in no circle yet.
    open: Vec<usize>,
    is_open: Vec<bool>,
    found: Vec<Vec<usize>>,
    clock: usize,
}

impl<'a> Circles<'a> {
    /// The circles, each behind those that it leads to. A node in no circle is one of its own.
    fn of(arrows: &'a [Vec<usize>]) -> Vec<Vec<usize>> {
        let n = arrows.len();
        let mut c = Circles {
            arrows,
            met: vec![0; n],
            low: vec![0; n],
            open: Vec::new(),
            is_open: vec![false; n],
            found: Vec::new(),
            clock: 0,
        };
        for start in 0..n {
            if c.met[start] == 0 {
                c.walk(start);
            }
        }
        c.found
    }

    fn enter(&mut self, node: usize) {
        self.clock += 1;
        (self.met[node], self.low[node]) = (self.clock, self.clock);
        self.open.push(node);
        self.is_open[node] = true;
    }

    fn walk(&mut self, start: usize) {
        // Nodes on the way, each with the next arrow to follow.
        let mut way = vec![(start, 0)];
        self.enter(start);
        while let Some((node, next)) = way.last_mut() {
            let node = *node;
            if let Some(&to) = self.arrows[node].get(*next) {
                *next += 1;
                if self.met[to] == 0 {
                    self.enter(to);
                    way.push((to, 0));
                } else if self.is_open[to] {
                    self.low[node] = self.low[node].min(self.met[to]);
                }
                continue;
            }
            way.pop();
            if let Some((before, _)) = way.last() {
                self.low[*before] = self.low[*before].min(self.low[node]);
            }
            if self.low[node] == self.met[node] {
                let at = self.open.iter().rposition(|n| *n == node).unwrap_or(0);
                let circle = self.open.split_off(at);
                circle.iter().for_each(|n| self.is_open[*n] = false);
                self.found.push(circle);
            }
        }
    }
}

/// The tables that SELECTs name, but for those of a WITH of their own. All by the keys of their names.
#[derive(Default)]
pub(super) struct Named {
    tables: HashSet<String>,
    /// Names that mean something else here, and how often.
    hidden: HashMap<String, usize>,
}

impl Named {
    pub(super) fn has(&self, name: &str) -> bool {
        self.tables.contains(&name.name_key())
    }

    pub(super) fn select(&mut self, s: &Select) {
        let ctes = s.with.iter().flat_map(|w| &w.ctes);
        ctes.clone().for_each(|c| self.select(&c.query));
        ctes.clone()
            .for_each(|c| *self.hidden.entry(c.name.name_key()).or_default() += 1);
        s.from.iter().for_each(|f| self.from(f));
        s.subqueries.iter().for_each(|(_, s)| self.select(s));
        for c in ctes {
            if let Some(n) = self.hidden.get_mut(&c.name.name_key()) {
                *n -= 1;
            }
        }
    }

    fn from(&mut self, f: &From) {
        match f {
            From::Table(t) => {
                let name = t.name.name.name_key();
                if t.name.db.is_none() && self.hidden.get(&name).is_none_or(|n| *n == 0) {
                    self.tables.insert(name);
                }
            }
            From::Query { query, .. } => self.select(query),
            // It names no table.
            From::JsonTable(_) => {}
            From::Set { first, rest } => {
                self.select(first);
                rest.iter().for_each(|(_, s)| self.select(s));
            }
            From::Join(j) => {
                self.from(&j.left);
                self.from(&j.right);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Circles;

    #[test]
    fn circles_stand_behind_what_they_lead_to() {
        // 0 -> 1 <-> 2 -> 3, 4 -> 4
        let arrows = [vec![1], vec![2], vec![1, 3], vec![], vec![4]];
        let mut found = Circles::of(&arrows);
        found.iter_mut().for_each(|c| c.sort_unstable());
        assert_eq!(found, [vec![3], vec![1, 2], vec![0], vec![4]]);
    }
}
