//! Table options that change nothing here: which are kept, and which InnoDB refuses.

use crate::env::StatementEnv;
use crate::show;
use narwal_types::errors::codes;
use narwal_types::{SqlResult, errors};

/// All of them but those of engines, in the order in which SHOW CREATE TABLE has them.
const ORDER: [&str; 14] = [
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "PAGE_CHECKSUM",
    "DELAY_KEY_WRITE",
    "ROW_FORMAT",
    "TRANSACTIONAL",
    "KEY_BLOCK_SIZE",
    "CONNECTION",
];

/// The options of a table that had `old` when a statement says `new`: the last word on each counts.
pub(super) fn kept(
    old: &[(String, String)],
    new: &[(String, Option<String>)],
) -> Vec<(String, String)> {
    let called = |n: &str, name: &str| n.eq_ignore_ascii_case(name);
    let value = |name: &str| match new.iter().rev().find(|(n, _)| called(n, name)) {
        Some((_, said)) => said.clone(),
        None => (old.iter().find(|(n, _)| called(n, name))).map(|(_, v)| v.clone()),
    };
    let mut order: Vec<&str> = ORDER.to_vec();
    let of_old = old.iter().map(|(n, _)| n.as_str());
    // One that is said again stands where it is said.
    let that_stay = of_old.filter(|name| !new.iter().any(|(n, _)| called(n, name)));
    let names = that_stay.chain(new.iter().map(|(n, _)| n.as_str()));
    for name in names.filter(|n| show::is_engines(n)) {
        if !order.iter().any(|n| called(n, name)) {
            order.push(name);
        }
    }
    (order.iter())
        .filter_map(|name| Some(((*name).to_owned(), value(name)?)))
        .collect()
}

/// What a table is whose options are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// A new one.
    New,
    /// One that ALTER TABLE changes.
    Altered,
    /// One that stands for a table of another engine.
    AnotherEngines,
}

/// What InnoDB does in place of refusing an option, with `innodb_strict_mode=OFF`.
fn instead(name: &str, format: Option<&str>, size: Option<&str>) -> Option<String> {
    let size = size.unwrap_or_default();
    match name {
        "ROW_FORMAT" => Some("InnoDB: assuming ROW_FORMAT=DYNAMIC.".to_owned()),
        "KEY_BLOCK_SIZE" if format.is_some_and(|f| f != "COMPRESSED") => Some(format!(
            "InnoDB: ignoring KEY_BLOCK_SIZE={size} unless ROW_FORMAT=COMPRESSED."
        )),
        "KEY_BLOCK_SIZE" => Some(format!("InnoDB: ignoring KEY_BLOCK_SIZE={size}.")),
        _ => None,
    }
}

/// Leaves out what only another engine has, where the table stands for one of that engine's; else refuses what InnoDB does.
///
/// # Errors
/// 1005, for ALTER TABLE 1478, and a warning that says why.
pub(super) fn fit(
    options: &mut Vec<(String, String)>,
    db: &str,
    table: &str,
    env: &StatementEnv,
    of: Fit,
) -> SqlResult<()> {
    let value = |name: &str| {
        (options.iter())
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, v)| v.as_str())
    };
    let format = value("ROW_FORMAT");
    let size = value("KEY_BLOCK_SIZE");
    let compressed = value("`page_compressed`").is_some();
    let (name, why) = match (format, size) {
        (Some("FIXED" | "PAGE"), _) => (
            "ROW_FORMAT",
            "InnoDB: invalid ROW_FORMAT specifier.".to_owned(),
        ),
        (Some(f), Some(_)) if f != "COMPRESSED" => (
            "KEY_BLOCK_SIZE",
            format!("InnoDB: cannot specify ROW_FORMAT = {f} with KEY_BLOCK_SIZE."),
        ),
        (_, Some(n)) if !matches!(n, "1" | "2" | "4" | "8" | "16") => (
            "KEY_BLOCK_SIZE",
            format!("InnoDB: invalid KEY_BLOCK_SIZE = {n}. Valid values are [1, 2, 4, 8, 16]"),
        ),
        _ if value("`page_compression_level`").is_some() && !compressed => (
            "PAGE_COMPRESSION_LEVEL",
            "InnoDB: PAGE_COMPRESSION_LEVEL requires PAGE_COMPRESSED".to_owned(),
        ),
        (Some(f @ ("COMPRESSED" | "REDUNDANT")), _) if compressed => (
            "PAGE_COMPRESSED",
            format!("InnoDB: PAGE_COMPRESSED table can't have ROW_TYPE={f}"),
        ),
        (_, Some(_)) if compressed => (
            "PAGE_COMPRESSED",
            "InnoDB: PAGE_COMPRESSED table can't have key_block_size".to_owned(),
        ),
        _ => return Ok(()),
    };
    if of == Fit::AnotherEngines {
        options.retain(|(n, _)| n != "ROW_FORMAT" && n != "KEY_BLOCK_SIZE");
        return Ok(());
    }
    if !env.innodb_strict
        && let Some(instead) = instead(name, format, size)
    {
        env.warn(codes::ILLEGAL_HA_CREATE_OPTION, instead);
        return Ok(());
    }
    env.warn(codes::ILLEGAL_HA_CREATE_OPTION, why);
    if of == Fit::Altered {
        return Err(errors::ILLEGAL_HA_CREATE_OPTION.with([&"InnoDB", &name]));
    }
    Err(errors::CANT_CREATE_TABLE.text(format!(
        "Can't create table `{db}`.`{table}` (errno: 140 \"Wrong create options\")"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_counts() {
        let old = kept(
            &[],
            &[
                ("ROW_FORMAT".into(), Some("DYNAMIC".into())),
                ("MAX_ROWS".into(), Some("7".into())),
            ],
        );
        let shown = |o: &[(String, String)]| -> Vec<String> {
            o.iter().map(|(n, v)| format!("{n}={v}")).collect()
        };
        assert_eq!(shown(&old), ["MAX_ROWS=7", "ROW_FORMAT=DYNAMIC"]);
        let new = kept(
            &old,
            &[
                ("MAX_ROWS".into(), Some("8".into())),
                ("MAX_ROWS".into(), None),
                ("`page_compressed`".into(), Some("'1'".into())),
                ("CHECKSUM".into(), Some("1".into())),
            ],
        );
        assert_eq!(
            shown(&new),
            ["CHECKSUM=1", "ROW_FORMAT=DYNAMIC", "`page_compressed`='1'"]
        );
        let off = ("`PAGE_COMPRESSED`".into(), Some("'0'".into()));
        assert_eq!(
            shown(&kept(&new, &[off])).last().unwrap(),
            "`PAGE_COMPRESSED`='0'"
        );
    }
}
