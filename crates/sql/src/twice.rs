//! Names that are there twice.

use narwal_types::Name;
use std::collections::HashSet;

/// The first of these names that was there before, ASCII letters of either case alike. A list can be as long as a packet, so each name
/// is looked up, not compared with all before it.
#[must_use]
pub fn first_twice<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let mut seen = HashSet::new();
    (names.into_iter()).find(|n| !seen.insert(n.name_key()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_is_named_as_it_was_written() {
        assert_eq!(first_twice(["a", "b", "A", "B"]), Some("A"));
        assert_eq!(first_twice(["a", "ä", "b"]), None);
        assert_eq!(first_twice(["a", "ä", "Ä"]), Some("Ä"));
    }
}
