//! MariaDB's named key caches: `SET GLOBAL name.key_buffer_size = n` makes one. No table here uses them, so they are nothing but
//! their settings, which are shown back. The cache `default` is the plain global variables.

use crate::variables::{VARIABLES, VarValue};
use narwal_types::{SqlResult, errors};
use parking_lot::Mutex;

/// What is set of each, with what one begins with.
const SETTINGS: [(&str, u64); 6] = [
    (BUFFER, 0),
    ("key_cache_age_threshold", 300),
    (BLOCK, 1024),
    ("key_cache_division_limit", 100),
    ("key_cache_file_hash_size", 512),
    (SEGMENTS, 0),
];
const BUFFER: &str = "key_buffer_size";
const BLOCK: &str = "key_cache_block_size";
const SEGMENTS: &str = "key_cache_segments";

/// The cache that always is.
pub(crate) const DEFAULT: &str = "default";

/// One cache as `information_schema.KEY_CACHES` shows it.
pub(crate) struct Shown {
    pub(crate) name: String,
    pub(crate) segments: u64,
    /// Bytes of all segments, which are of one size.
    pub(crate) bytes: u64,
    pub(crate) block: u64,
}

impl Shown {
    pub(crate) fn new(name: String, buffer: u64, block: u64, segments: u64) -> Self {
        Shown {
            name,
            segments,
            bytes: buffer / segments.max(1) * segments.max(1),
            block,
        }
    }
}

/// All that were ever named, in the order in which they were.
#[derive(Default)]
pub(crate) struct KeyCaches(Mutex<Vec<(String, [u64; SETTINGS.len()])>>);

/// A variable of key caches, by the number of its row.
pub(crate) fn setting(variable: usize) -> Option<usize> {
    let name = VARIABLES[variable].name;
    SETTINGS.iter().position(|(n, _)| *n == name)
}

impl KeyCaches {
    /// A setting of a cache; 0 of one that there is not.
    pub(crate) fn get(&self, name: &str, setting: usize) -> u64 {
        let caches = self.0.lock();
        let found = caches.iter().find(|c| c.0 == name);
        found.map_or(0, |c| c.1[setting])
    }

    /// Changes a setting, and makes the cache if need be.
    pub(crate) fn set(&self, name: &str, setting: usize, value: &VarValue) {
        let mut caches = self.0.lock();
        let at = match caches.iter().position(|c| c.0 == name) {
            Some(at) => at,
            None => {
                caches.push((name.to_string(), SETTINGS.map(|s| s.1)));
                caches.len() - 1
            }
        };
        caches[at].1[setting] = value.as_u64();
    }

    /// Error 1284 for a cache that has no room.
    pub(crate) fn must_be(&self, name: &str) -> SqlResult<()> {
        let there = name.eq_ignore_ascii_case(DEFAULT) || self.get(name, 0) > 0;
        match there {
            true => Ok(()),
            false => Err(errors::UNKNOWN_KEY_CACHE.with([&name])),
        }
    }

    /// Those that have room.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let of = |name| SETTINGS.iter().position(|s| s.0 == name).unwrap_or(0);
        let (block, segments) = (of(BLOCK), of(SEGMENTS));
        let caches = self.0.lock();
        let used = caches.iter().filter(|c| c.1[0] > 0);
        used.map(|(name, s)| Shown::new(name.clone(), s[0], s[block], s[segments]))
            .collect()
    }
}
