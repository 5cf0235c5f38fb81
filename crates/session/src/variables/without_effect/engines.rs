//! Variables: engines that Narwal does not have, and statistics of tables.

use super::super::def::Effect::{Inert, Startup};
use super::super::def::Kind::{Bool, Double, Enum, Set, Text, UInt};
use super::super::def::Scope::{Both, Global};
use super::super::def::{VariableDef, row, rows};
use super::super::parts::SessionParts;
use super::super::value::VarValue;
use narwal_types::{SqlResult, errors};

/// The fourteen characters of `ft_boolean_syntax`: operators that differ, none of them a letter or a digit; the first two
/// may be spaces, and the quotation marks may be the same.
fn boolean_syntax(_: &dyn SessionParts, v: &VarValue) -> SqlResult<()> {
    let given = v.as_str().as_bytes();
    let plain = |i: usize| !given[i].is_ascii_alphanumeric();
    let once = |i: usize| !(0..i).any(|j| given[i] == given[j] && (i != 11 || j != 10));
    let well = given.len() == 14
        && given.iter().all(u8::is_ascii)
        && (given[0] == b' ' || given[1] == b' ')
        && (0..14).all(|i| plain(i) && once(i));
    match well {
        true => Ok(()),
        false => Err(errors::WRONG_VALUE_FOR_VAR.with([&"ft_boolean_syntax", &v.as_str()])),
    }
}

/// A session has as many threads for delayed inserts as the server, or none.
fn all_or_none(s: &mut dyn SessionParts, v: &VarValue) -> SqlResult<()> {
    let all = s.server().value("max_delayed_threads").as_u64();
    match v.as_u64() {
        n if n == 0 || n == all => Ok(()),
        n => Err(errors::WRONG_VALUE_FOR_VAR.with([&"max_delayed_threads", &n])),
    }
}

/// The rows.
pub(in super::super) static ROWS: &[VariableDef] = rows![
    "analyze_max_length" Both UInt(32, 4_294_967_295, 1), "4294967295" Inert "MariaDB's analyze maximal length.";
    "analyze_sample_percentage" Both Double(0.0, 100.0), "100" Inert "MariaDB's analyze sample percentage.";
    "aria_block_size" Global UInt(4096, 32_768, 1024), "8192" Startup "Aria: block size.";
    "aria_checkpoint_interval" Global UInt(0, 4_294_967_295, 1), "30" Inert "Aria: checkpoint interval.";
    "aria_checkpoint_log_activity" Global UInt(0, 4_294_967_295, 1), "1048576" Inert "Aria: checkpoint log activity.";
    "aria_encrypt_tables" Global Bool, "OFF" Inert "Aria: encrypt tables.";
    "aria_force_start_after_recovery_failures" Global UInt(0, 255, 1), "0" Startup
        "Aria: force start after recovery failures.";
    "aria_group_commit" Global Enum(&["none", "hard", "soft"]), "none" Inert "Aria: group commit.";
    "aria_group_commit_interval" Global UInt(0, 4_294_967_295, 1), "0" Inert "Aria: group commit interval.";
    "aria_log_dir_path" Global Text, "" Startup "Aria: log folder path.";
    "aria_log_file_size" Global UInt(8_388_608, 4_294_967_295, 8192), "1073741824" Inert "Aria: log file size.";
    "aria_log_purge_type" Global Enum(&["immediate", "external", "at_flush"]), "immediate" Inert
        "Aria: log purge type.";
    "aria_max_sort_file_size" Global UInt(0, 9_223_372_036_854_775_807, 1048576), "9223372036853727232" Inert
        "Aria: maximal sort file size.";
    "aria_pagecache_age_threshold" Global UInt(100, MAX, 100), "300" Inert "Aria: pagecache age threshold.";
    "aria_pagecache_buffer_size" Global UInt(131_072, MAX, 1), "134217728" Startup "Aria: pagecache buffer size.";
    "aria_pagecache_division_limit" Global UInt(1, 100, 1), "100" Inert "Aria: pagecache division limit.";
    "aria_pagecache_file_hash_size" Global UInt(128, 16_384, 1), "512" Startup "Aria: pagecache file hash size.";
    "aria_page_checksum" Global Bool, "ON" Inert "Aria: page checksum.";
    "aria_recover_options" Global Set(&["NORMAL", "BACKUP", "FORCE", "QUICK", "OFF"]), "BACKUP,QUICK" Inert
        "Aria: recover options.";
    "aria_repair_threads" Both UInt(1, 128, 1), "1" Inert "Aria: repair threads.";
    "aria_sort_buffer_size" Both UInt(16_352, 1_152_921_504_606_846_975, 1), "268434432" Inert
        "Aria: sort buffer size.";
    "aria_stats_method" Both Enum(&["nulls_unequal", "nulls_equal", "nulls_ignored"]), "nulls_unequal" Inert
        "Aria: stats method.";
    "aria_sync_log_dir" Global Enum(&["NEVER", "NEWFILE", "ALWAYS"]), "NEWFILE" Inert "Aria: sync log folder.";
    "aria_used_for_temp_tables" Global Bool, "ON" Startup "Aria: used for temp tables.";
    "column_compression_threshold" Both UInt(0, 4_294_967_295, 1), "100" Inert
        "MariaDB's column compression threshold.";
    "column_compression_zlib_level" Both UInt(0, 9, 1), "6" Inert "MariaDB's column compression zlib level.";
    "column_compression_zlib_strategy" Both Enum(&["DEFAULT_STRATEGY", "FILTERED", "HUFFMAN_ONLY", "RLE", "FIXED"]),
        "DEFAULT_STRATEGY" Inert
        "MariaDB's column compression zlib strategy.";
    "column_compression_zlib_wrap" Both Bool, "OFF" Inert "MariaDB's column compression zlib wrap.";
    "deadlock_search_depth_long" Both UInt(0, 33, 1), "15" Inert "MariaDB's deadlock search depth long.";
    "deadlock_search_depth_short" Both UInt(0, 32, 1), "4" Inert "MariaDB's deadlock search depth short.";
    "deadlock_timeout_short" Both UInt(0, 4_294_967_295, 1), "10000" Inert "MariaDB's deadlock timeout short.";
    "delayed_insert_limit" Global UInt(1, 4_294_967_295, 1), "100" Inert "MariaDB's delayed insert limit.";
    "delayed_insert_timeout" Global UInt(1, 31_536_000, 1), "300" Inert "MariaDB's delayed insert timeout.";
    "delayed_queue_size" Global UInt(1, 4_294_967_295, 1), "1000" Inert "MariaDB's delayed queue size.";
    "delay_key_write" Global Enum(&["OFF", "ON", "ALL"]), "ON" Inert "MariaDB's delay key write.";
    "flush_time" Global UInt(0, 31_536_000, 1), "0" Inert "MariaDB's flush time.";
    "ft_boolean_syntax" Global Text, "+ -><()~*:\"\"&|" Inert "MariaDB's full text boolean syntax." .check(boolean_syntax);
    "ft_max_word_len" Global UInt(10, 84, 1), "84" Startup "MariaDB's full text maximal word len.";
    "ft_query_expansion_limit" Global UInt(0, 1000, 1), "20" Startup "MariaDB's full text query expansion limit.";
    "ft_stopword_file" Global Text, "(built-in)" Startup "MariaDB's full text stopword file.";
    "keep_files_on_create" Both Bool, "OFF" Inert "MariaDB's keep files on create.";
    "key_cache_age_threshold" Global UInt(100, 4_294_967_295, 100), "300" Inert "MariaDB's key cache age threshold.";
    "key_cache_block_size" Global UInt(512, 16_384, 512), "1024" Inert "MariaDB's key cache block size.";
    "key_cache_division_limit" Global UInt(1, 100, 1), "100" Inert "MariaDB's key cache division limit.";
    "key_cache_file_hash_size" Global UInt(128, 16_384, 1), "512" Inert "MariaDB's key cache file hash size.";
    "key_cache_segments" Global UInt(0, 64, 1), "0" Inert "MariaDB's key cache segments.";
    "max_delayed_threads" Both UInt(0, 16_384, 1), "20" Inert "MariaDB's maximal delayed threads." .before(all_or_none);
    "max_insert_delayed_threads" Both UInt(0, 16_384, 1), "20" Inert "Other name of `max_delayed_threads`." .is("max_delayed_threads");
    "myisam_block_size" Global UInt(1024, 16_384, 1024), "1024" Startup "MyISAM: block size.";
    "myisam_data_pointer_size" Global UInt(2, 7, 1), "6" Inert "MyISAM: data pointer size.";
    "myisam_max_sort_file_size" Global UInt(0, 9_223_372_036_854_775_807, 1048576), "9223372036853727232" Inert
        "MyISAM: maximal sort file size.";
    "myisam_mmap_size" Global UInt(7, MAX, 1), "18446744073709551615" Startup "MyISAM: mmap size.";
    "myisam_recover_options" Global Set(&["DEFAULT", "BACKUP", "FORCE", "QUICK", "BACKUP_ALL", "OFF"]),
        "BACKUP,QUICK" Startup
        "MyISAM: recover options.";
    "myisam_repair_threads" Both UInt(1, MAX, 1), "1" Inert "MyISAM: repair threads.";
    "myisam_stats_method" Both Enum(&["NULLS_UNEQUAL", "NULLS_EQUAL", "NULLS_IGNORED"]), "NULLS_UNEQUAL" Inert
        "MyISAM: stats method.";
    "myisam_use_mmap" Global Bool, "OFF" Inert "MyISAM: use mmap.";
    "sync_frm" Global Bool, "ON" Inert "MariaDB's sync definition.";
];

const MAX: u64 = u64::MAX;
