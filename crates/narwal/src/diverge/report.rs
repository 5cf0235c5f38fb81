//! What was found, as text and as JSON.

use super::find::Found;
use super::save::Saved;
use super::show::{Show, Summary};
use super::side::Side;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Everything that a report says.
pub struct Report<'a> {
    pub here: &'a Side,
    pub there: &'a Side,
    pub found: &'a Found,
    pub show: &'a Show,
    pub saved: Option<&'a Saved>,
}

fn transactions(n: u64) -> String {
    match n {
        1 => "1 transaction".to_owned(),
        n => format!("{n} transactions"),
    }
}

fn span(first: impl std::fmt::Display, last: impl std::fmt::Display) -> String {
    let (first, last) = (first.to_string(), last.to_string());
    if first == last {
        first
    } else {
        format!("{first} to {last}")
    }
}

impl Report<'_> {
    /// Why what only this side has can't all be undone from the log.
    pub fn not_undoable(&self) -> Vec<(&Summary, &str)> {
        let all = self.show.summaries.iter();
        all.filter_map(|s| Some((s, s.not_undoable.as_deref()?)))
            .collect()
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let found = self.found;
        let position = |state: &narwal_binlog::GtidState| state.position_text();
        let _ = writeln!(
            out,
            "here:  {} at '{}'",
            self.here.name(),
            position(&found.here)
        );
        let _ = writeln!(
            out,
            "there: {} at '{}'",
            self.there.name(),
            position(&found.there)
        );
        for (domain, d) in &found.domains {
            let common = found.common(*domain);
            let at = common.map_or("the beginning".to_owned(), |g| g.to_string());
            let behind = d.only_there.count;
            let said = match (d.only_here.len() as u64, behind) {
                (0, 0) => format!("the same up to {at}"),
                (0, n) => format!("the same up to {at}, which is {} behind", transactions(n)),
                (n, 0) => format!("here {} more than there, behind {at}", transactions(n)),
                _ => format!("THE HISTORIES PART behind {at}"),
            };
            let _ = writeln!(
                out,
                "\ndomain {domain}: {said} ({} compared)",
                transactions(d.compared)
            );
            if let (Some(first), Some(last)) = (d.only_here.first(), d.only_here.last()) {
                let n = transactions(d.only_here.len() as u64);
                let _ = writeln!(
                    out,
                    "  only here:  {n}, {}",
                    span(first.seen.gtid, last.seen.gtid)
                );
            }
            if let (Some(first), Some(last)) = (d.only_there.first, d.only_there.last) {
                let _ = writeln!(
                    out,
                    "  only there: {}, {}",
                    transactions(behind),
                    span(first, last)
                );
            }
            if d.common_behind > 0 {
                let n = transactions(d.common_behind);
                let _ = writeln!(
                    out,
                    "  behind the first difference both have {n}: replication went on after it"
                );
            }
            for o in d
                .only_here
                .iter()
                .filter_map(|o| Some((o.seen, o.there?)))
                .take(5)
            {
                let (seen, there) = o;
                let _ = writeln!(
                    out,
                    "  {} is there too, with other content ({} here, {} there)",
                    seen.gtid,
                    seen.hash.short(),
                    there.short()
                );
            }
        }
        if self.show.summaries.is_empty() {
            let _ = writeln!(out, "\nNothing is only here.");
            return out;
        }
        let _ = writeln!(out, "\nonly here:");
        out.push_str(&String::from_utf8_lossy(&self.show.lines));
        if self.show.more > 0 {
            let _ = writeln!(
                out,
                "    ... and {} changes more (see rogue.sql, or --changes)",
                self.show.more
            );
        }
        for (s, why) in self.not_undoable() {
            let _ = writeln!(out, "  can't be undone: {}: {why}", s.gtid);
        }
        if let Some(saved) = self.saved {
            let _ = writeln!(out, "\nsaved in {}:", saved.dir.display());
            for (name, what) in &saved.files {
                let _ = writeln!(out, "  {name:<15} {what}");
            }
            for why in &saved.failures {
                let _ = writeln!(out, "  {why}");
            }
        }
        out
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let found = self.found;
        let domains: Vec<Value> = found
            .domains
            .iter()
            .map(|(domain, d)| {
                let only_here: Vec<Value> = d
                    .only_here
                    .iter()
                    .map(|o| {
                        let gtid = o.seen.gtid;
                        let mut value = json!({
                            "gtid": gtid.to_string(),
                            "timestamp": o.seen.time,
                            "content": o.seen.hash.to_string(),
                            "other_content_there": o.there.map(|h| h.to_string()),
                        });
                        if let Some(s) = self.show.summaries.iter().find(|s| s.gtid == gtid) {
                            let tables: serde_json::Map<String, Value> = s
                                .tables
                                .iter()
                                .map(|(name, [i, u, d])| {
                                    (
                                        name.clone(),
                                        json!({"inserted": i, "updated": u, "deleted": d}),
                                    )
                                })
                                .collect();
                            value["tables"] = tables.into();
                            value["statements"] = json!(s.statements);
                            value["not_undoable"] = json!(s.not_undoable);
                        }
                        value
                    })
                    .collect();
                json!({
                    "domain": domain,
                    "common": found.common(*domain).map(|g| g.to_string()),
                    "compared": d.compared,
                    "only_here": only_here,
                    "only_there": {
                        "count": d.only_there.count,
                        "first": d.only_there.first.map(|g| g.to_string()),
                        "last": d.only_there.last.map(|g| g.to_string()),
                    },
                    "common_behind": d.common_behind,
                })
            })
            .collect();
        let side = |side: &Side, state: &narwal_binlog::GtidState| json!({"server": side.name(), "gtid_binlog_pos": state.position_text()});
        json!({
            "here": side(self.here, &found.here),
            "there": side(self.there, &found.there),
            "parted": !self.show.summaries.is_empty(),
            "undoable": self.not_undoable().is_empty(),
            "domains": domains,
            "saved": self.saved.map(|s| json!({
                "folder": s.dir.display().to_string(),
                "files": s.files.iter().map(|f| f.0).collect::<Vec<_>>(),
                "failures": s.failures,
            })),
        })
    }
}
