//! Variables: what statements mean.

use super::def::Effect::{Computed, Inert, Live, Startup, State};
use super::def::Kind::{Bool, Double, Enum, Set, Text, UInt};
use super::def::Scope::{Both, Global, Session};
use super::def::{AtStart, Kind, VariableDef, inert, row};
use super::parts::SessionParts;
use super::rules::count;
use super::value::VarValue;
use narwal_sql::{SqlMode, seed_of, with_seed};
use narwal_types::{SqlResult, Zone, errors};
use std::sync::atomic::Ordering;

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "alter_algorithm",
        Both,
        Enum(&["DEFAULT", "COPY", "INPLACE", "NOCOPY", "INSTANT"]),
        "DEFAULT",
        Live,
        "ALGORITHM of an ALTER TABLE that names none.",
    )
    .no_plan(),
    row(
        "auto_increment_increment",
        Both,
        UInt(1, 65535, 1),
        "1",
        Live,
        "Step between the values of AUTO_INCREMENT columns.",
    )
    .no_plan()
    .session(|s, v| s.auto_increment.step = v.as_u64()),
    row(
        "auto_increment_offset",
        Both,
        UInt(1, 65535, 1),
        "1",
        Live,
        "First value of AUTO_INCREMENT columns, which the others follow in steps of `auto_increment_increment`.",
    )
    .no_plan()
    .session(|s, v| s.auto_increment.offset = v.as_u64()),
    row(
        "date_format",
        Global,
        Text,
        "%Y-%m-%d",
        Startup,
        "Form of dates, for tools that ask.",
    ),
    row(
        "datetime_format",
        Global,
        Text,
        "%Y-%m-%d %H:%i:%s",
        Startup,
        "Form of dates with time, for tools that ask.",
    ),
    row(
        "default_storage_engine",
        Both,
        Kind::Engine,
        "InnoDB",
        Live,
        "Engine that SHOW CREATE TABLE names; both names mean the same store.",
    )
    .session(|s, v| s.default_engine = narwal_sql::engine_name::stood_in_for(v.as_str())),
    inert(
        "default_tmp_storage_engine",
        Both,
        Kind::Engine,
        "",
        "Engine of temporary tables, of which there is one.",
    )
    .null(),
    row(
        "default_regex_flags",
        Both,
        Kind::Set(&[
            "DOTALL",
            "DUPNAMES",
            "EXTENDED",
            "EXTENDED_MORE",
            "EXTRA",
            "MULTILINE",
            "UNGREEDY",
        ]),
        "",
        Live,
        "How regular expressions are meant that do not say it; EXTRA means nothing.",
    )
    .session(|s, v| s.regex_options = narwal_sql::regex_options(&v.show())),
    row(
        "default_week_format",
        Both,
        UInt(0, 7, 1),
        "0",
        Live,
        "Mode of WEEK() without one.",
    ),
    row(
        "div_precision_increment",
        Both,
        UInt(0, 38, 1),
        "4",
        Live,
        "Digits that a division adds.",
    )
    .session(|s, v| s.div_precision = v.as_u64() as u8),
    inert(
        "enforce_storage_engine",
        Both,
        Kind::Engine,
        "",
        "The one engine of new tables; there is one store.",
    )
    .null(),
    row(
        "error_count",
        Session,
        UInt(0, MAX, 1),
        "0",
        Computed,
        "Errors of the last statement that could have any.",
    )
    .read_session(|s| count(&s.facts().error_count)),
    row(
        "event_scheduler",
        Global,
        Enum(&["OFF", "ON", "DISABLED"]),
        "OFF",
        Live,
        "Runs events by the clock. DISABLED can be set at the start only.",
    )
    .allowed(
        |s, _| match s.server().value("event_scheduler").show() == "DISABLED" {
            true => Err(errors::OPTION_PREVENTS_STATEMENT
                .with([&"--event-scheduler=DISABLED or --skip-grant-tables"])),
            false => Ok(()),
        },
    )
    .check(|_, v| match v.show() == "DISABLED" {
        true => Err(errors::WRONG_VALUE_FOR_VAR.with([&"event_scheduler", &"DISABLED"])),
        false => Ok(()),
    })
    .global(|s, _| s.events_changed()),
    row(
        "explicit_defaults_for_timestamp",
        Both,
        Bool,
        "ON",
        Live,
        "TIMESTAMP columns have no defaults of their own. OFF: they are NOT NULL unless NULL is said, and the first one of a \
         table gets the time of each change.",
    )
    .session(|s, v| s.explicit_timestamps = v.as_bool()),
    row(
        "ft_min_word_len",
        Global,
        UInt(1, 84, 1),
        "4",
        Startup,
        "MyISAM's full-text search.",
    ),
    row(
        "group_concat_max_len",
        Both,
        UInt(4, 1_073_741_824, 1),
        "1048576",
        Live,
        "Longest result of GROUP_CONCAT, bytes.",
    ),
    row(
        "identity",
        Session,
        UInt(0, MAX, 1),
        "0",
        State,
        "Other name of `last_insert_id`.",
    )
    .read_session(|s| count(&s.facts().last_insert_id))
    .assign(set_last_insert_id)
    .kept(|s| s.last_insert_id(), |s, v| s.set_last_insert_id(v)),
    row(
        "insert_id",
        Session,
        UInt(0, MAX, 1),
        "0",
        State,
        "AUTO_INCREMENT value of the next insert; 0 for the table's own.",
    )
    .no_plan()
    .read_session(|s| count(&s.facts().insert_id))
    .assign(|s, v| {
        let id = v.map_or(0, VarValue::as_u64);
        s.facts().insert_id.store(id, Ordering::Relaxed);
        Ok(())
    })
    .kept(
        |s| s.facts().insert_id.load(Ordering::Relaxed),
        |s, v| s.facts().insert_id.store(v, Ordering::Relaxed),
    ),
    row(
        "last_insert_id",
        Session,
        UInt(0, MAX, 1),
        "0",
        State,
        "What LAST_INSERT_ID() gives.",
    )
    .no_plan()
    .read_session(|s| count(&s.facts().last_insert_id))
    .assign(set_last_insert_id)
    .kept(|s| s.last_insert_id(), |s, v| s.set_last_insert_id(v)),
    row(
        "lc_messages",
        Both,
        Kind::Locale,
        "en_US",
        Inert,
        "Language of error messages.",
    )
    .inert("Error messages are in English"),
    row(
        "lc_time_names",
        Both,
        Kind::Locale,
        "en_US",
        Live,
        "Language of names of days and months.",
    ),
    inert(
        "log_bin_trust_function_creators",
        Global,
        Bool,
        "ON",
        "Who may make stored functions while there is a binary log; rows are logged, so anyone with the right may.",
    ),
    row(
        "lower_case_table_names",
        Global,
        UInt(0, 2, 1),
        "0",
        Startup,
        "Whether names of tables ignore case; only 0.",
    )
    .at_start(AtStart::Refused("names of tables are compared with their case")),
    row(
        "max_error_count",
        Both,
        UInt(0, 65535, 1),
        "64",
        Live,
        "Conditions that SHOW WARNINGS keeps.",
    )
    .session(|s, v| s.max_error_count = v.as_u64() as usize),
    row(
        "max_sp_recursion_depth",
        Both,
        UInt(0, 255, 1),
        "0",
        Live,
        "How often a stored procedure may be called within itself.",
    ),
    row(
        "old_mode",
        Both,
        Set(&[
            "NO_DUP_KEY_WARNINGS_WITH_IGNORE",
            "NO_PROGRESS_INFO",
            "ZERO_DATE_TIME_CAST",
            "UTF8_IS_UTF8MB3",
            "IGNORE_INDEX_ONLY_FOR_JOIN",
            "COMPAT_5_1_CHECKSUM",
            "NO_NULL_COLLATION_IDS",
        ]),
        "UTF8_IS_UTF8MB3",
        Live,
        "MariaDB's older behaviours; ZERO_DATE_TIME_CAST and NO_NULL_COLLATION_IDS have an effect.",
    )
    .session(|s, v| s.zero_dates = v.show().contains("ZERO_DATE_TIME_CAST"))
    .idle_if(|v| {
        let works = [
            "ZERO_DATE_TIME_CAST",
            "UTF8_IS_UTF8MB3",
            "NO_NULL_COLLATION_IDS",
        ];
        let shown = v.show();
        !shown.contains(works[1]) || shown.split(',').any(|flag| !works.contains(&flag))
    })
    .inert(
        "of old_mode, ZERO_DATE_TIME_CAST and NO_NULL_COLLATION_IDS alone have an effect in Narwal; utf8 is utf8mb3",
    ),
    row(
        "profiling",
        Both,
        Bool,
        "OFF",
        Inert,
        "Times the parts of statements.",
    )
    .not_for_one_statement(),
    row(
        "rand_seed1",
        Session,
        UInt(0, MAX, 1),
        "0",
        State,
        "First number of the series that RAND() goes on with.",
    )
    .no_default()
    .no_plan()
    .read_session(|s| VarValue::UInt(seed_of(s.facts().rand_seeds.load(Ordering::Relaxed), false)))
    .assign(|s, v| set_seed(s, v, false))
    .kept(
        |s| s.facts().rand_seeds.load(Ordering::Relaxed),
        |s, v| s.facts().rand_seeds.store(v, Ordering::Relaxed),
    ),
    row(
        "rand_seed2",
        Session,
        UInt(0, MAX, 1),
        "0",
        State,
        "Second number of the series that RAND() goes on with.",
    )
    .no_default()
    .no_plan()
    .read_session(|s| VarValue::UInt(seed_of(s.facts().rand_seeds.load(Ordering::Relaxed), true)))
    .assign(|s, v| set_seed(s, v, true))
    .kept(
        |s| s.facts().rand_seeds.load(Ordering::Relaxed),
        |s, v| s.facts().rand_seeds.store(v, Ordering::Relaxed),
    ),
    row(
        "sql_auto_is_null",
        Both,
        Bool,
        "OFF",
        Live,
        "`id IS NULL` finds the row that was inserted last, once.",
    )
    .session(|s, v| s.auto_is_null = v.as_bool()),
    row(
        "sql_mode",
        Both,
        Kind::SqlMode,
        "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
        Live,
        "What statements mean and how strict they are.",
    )
    .mysql_default(
        "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
         ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    )
    .session(|s, v| s.sql_mode = SqlMode::parse(v.as_str()).unwrap_or(SqlMode::DEFAULT))
    .of_programs(),
    row(
        "sql_notes",
        Both,
        Bool,
        "ON",
        Live,
        "Whether notes are among the warnings.",
    )
    .session(|s, v| s.notes = v.as_bool()),
    row(
        "sql_quote_show_create",
        Both,
        Bool,
        "ON",
        Live,
        "Quotes names in SHOW CREATE; OFF: only those that need it.",
    )
    .session(|s, v| s.quote_show_create = v.as_bool()),
    row(
        "sql_safe_updates",
        Both,
        Bool,
        "OFF",
        Live,
        "Refuses UPDATE and DELETE without a key or LIMIT.",
    )
    .session(|s, v| s.safe_updates = v.as_bool()),
    row(
        "sql_select_limit",
        Both,
        UInt(0, MAX, 1),
        "18446744073709551615",
        Live,
        "Rows that a SELECT without LIMIT gives.",
    )
    .session(|s, v| s.select_limit = v.as_u64()),
    inert(
        "sql_warnings",
        Both,
        Bool,
        "OFF",
        "MariaDB's text with the result of an INSERT of one row.",
    ),
    row(
        "storage_engine",
        Both,
        Kind::Engine,
        "InnoDB",
        Live,
        "Other name of `default_storage_engine`.",
    )
    .is("default_storage_engine"),
    row(
        "system_time_zone",
        Global,
        Text,
        "UTC",
        Computed,
        "Time zone of the server: UTC.",
    ),
    row(
        "time_format",
        Global,
        Text,
        "%H:%i:%s",
        Startup,
        "Form of times, for tools that ask.",
    ),
    row(
        "time_zone",
        Both,
        Kind::TimeZone,
        "SYSTEM",
        Live,
        "Time zone of TIMESTAMP columns, NOW() and the like.",
    )
    .session(|s, v| s.time_zone = Zone::parse(v.as_str()).map_or(Zone::UTC, |z| z.0)),
    row(
        "timestamp",
        Session,
        Double(0.0, 4_294_967_295.0),
        "0",
        State,
        "Time of the session's statements, seconds since 1970; 0 or DEFAULT lets the clock \
         count.",
    )
    .no_plan()
    .read_session(|s| VarValue::Double(s.facts().clock() as f64 / 1e6))
    .assign(|s, v| {
        // 0 and DEFAULT let the clock count again.
        let seconds = v.map_or(0.0, VarValue::as_f64);
        s.facts()
            .fixed_micros
            .store((seconds * 1e6) as i64, Ordering::Relaxed);
        Ok(())
    })
    .kept(
        |s| s.facts().fixed_micros.load(Ordering::Relaxed) as u64,
        |s, v| s.facts().fixed_micros.store(v as i64, Ordering::Relaxed),
    ),
    row(
        "updatable_views_with_limit",
        Both,
        Enum(&["NO", "YES"]),
        "YES",
        Live,
        "Whether views without a key may be changed with LIMIT.",
    )
    .no_plan(),
    row(
        "warning_count",
        Session,
        UInt(0, MAX, 1),
        "0",
        Computed,
        "Conditions of the last statement that could have any.",
    )
    .read_session(|s| count(&s.facts().warning_count)),
];

const MAX: u64 = u64::MAX;

fn set_seed(s: &mut dyn SessionParts, v: Option<&VarValue>, second: bool) -> SqlResult<()> {
    let seeds = &s.facts().rand_seeds;
    let seed = v.map_or(0, VarValue::as_u64);
    let word = with_seed(seeds.load(Ordering::Relaxed), second, seed);
    seeds.store(word, Ordering::Relaxed);
    Ok(())
}

fn set_last_insert_id(s: &mut dyn SessionParts, v: Option<&VarValue>) -> SqlResult<()> {
    s.set_last_insert_id(v.map_or(0, VarValue::as_u64));
    Ok(())
}
