//! A physical plan as text: the steps from the inside to the outside, one a line.

use super::access::Lookup;
use super::query::{Node, Out, Rows, SelectPlan, SortKey, TablePlan};
use crate::expr::Expr;
use std::fmt::{self, Display, Formatter};

/// Things one behind the other behind a word.
fn list<T: Display>(
    f: &mut Formatter<'_>,
    word: &str,
    items: impl Iterator<Item = T>,
) -> fmt::Result {
    for (i, item) in items.enumerate() {
        match i {
            0 => write!(f, "{word} {item}")?,
            _ => write!(f, ", {item}")?,
        }
    }
    writeln!(f)
}

/// A condition, if there is one.
fn condition(f: &mut Formatter<'_>, word: &str, e: Option<&Expr>) -> fmt::Result {
    match e {
        Some(e) => writeln!(f, "{word} {e}"),
        None => Ok(()),
    }
}

/// Another plan, further in.
fn inner(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    for line in text.lines() {
        writeln!(f, "  {line}")?;
    }
    Ok(())
}

impl Display for TablePlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = &self.table.def.name;
        match &self.rows {
            Rows::Stored => {
                let index = &self.table.indexes[self.access.index].name;
                match &self.access.lookup {
                    Lookup::Full => write!(f, "all of {name}.{index}")?,
                    Lookup::Point(_) => write!(f, "point of {name}.{index}")?,
                    Lookup::Ranges(parts) => {
                        write!(f, "ranges of {name}.{index}, {} parts", parts.len())?;
                    }
                }
                if self.access.reverse {
                    write!(f, ", backwards")?;
                }
                writeln!(
                    f,
                    "{}",
                    if self.cover.is_some() {
                        ", index only"
                    } else {
                        ""
                    }
                )?;
            }
            Rows::Merge(behind) => {
                writeln!(f, "merge {name}")?;
                for b in behind {
                    inner(f, &b.table.def.name)?;
                }
            }
            Rows::Virtual(_) => writeln!(f, "made {name}")?,
            Rows::Query(p) => {
                writeln!(f, "query {name}")?;
                inner(f, &p.to_string())?;
            }
            Rows::Set(s) => {
                writeln!(f, "set {name}")?;
                s.parts().try_for_each(|p| inner(f, &p.to_string()))?;
            }
            Rows::Recursive(r) => {
                writeln!(f, "recursive {name}")?;
                r.parts().try_for_each(|p| inner(f, &p.to_string()))?;
            }
            Rows::Working(_) => writeln!(f, "step before of {name}")?,
            Rows::Join(j) => {
                writeln!(f, "join {}", Shown(&j.root))?;
                for (i, leaf) in j.leaves.iter().enumerate() {
                    let kept = match &leaf.kept {
                        Some(k) if k.hash.is_some() => ", kept by a hash",
                        Some(_) => ", kept",
                        None => "",
                    };
                    inner(f, &format!("{i}{kept}:\n{}", leaf.plan))?;
                }
            }
        }
        if !self.access.covers_filter {
            condition(f, "where", self.filter.as_ref())?;
        }
        condition(f, "for each row", self.late.as_ref())
    }
}

/// A join's sources by their numbers.
struct Shown<'a>(&'a Node);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Node::Leaf(i) => write!(f, "{i}"),
            Node::Inner { left, right, .. } => write!(f, "({}, {})", Shown(left), Shown(right)),
            Node::Outer { left, right, .. } => write!(f, "({} left {})", Shown(left), Shown(right)),
        }
    }
}

impl Display for SortKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.expr, if self.desc { " desc" } else { "" })
    }
}

impl Display for Out {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Out::Column { column, .. } => write!(f, "#{column}"),
            Out::Expr(e) => write!(f, "{e}"),
        }
    }
}

impl Display for SelectPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(t) = &self.table {
            write!(f, "{t}")?;
        }
        condition(f, "where", self.filter.as_ref())?;
        if let Some(c) = &self.computed {
            list(f, "compute", c.exprs.iter())?;
        }
        if let Some(g) = &self.group {
            let how = match (&g.by_index, g.ends.is_empty()) {
                (Some(_), _) => "group along the index",
                (None, false) => "ends of indexes",
                (None, true) => "group",
            };
            match g.keys.is_empty() {
                true => writeln!(f, "{how}")?,
                false => list(f, how, g.keys.iter())?,
            }
            if !g.aggregates.is_empty() {
                list(f, "aggregates", g.aggregates.iter())?;
            }
            condition(f, "having", g.having.as_ref())?;
        }
        if !self.sort.is_empty() {
            list(f, "sort", self.sort.iter())?;
        }
        if let Some(w) = &self.windows {
            for s in &w.sorts {
                list(f, "windows", w.calls[s.calls.clone()].iter())?;
            }
            if !w.order.is_empty() {
                list(f, "sort", w.order.iter())?;
            }
        }
        list(f, "put out", self.items.iter())?;
        if self.distinct {
            writeln!(f, "distinct")?;
        }
        Ok(())
    }
}
