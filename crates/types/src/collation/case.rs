//! Upper and lower case of single characters, by the collation's version of Unicode.
//!
//! Rust knows the newest Unicode. Older collations have no case for characters that were younger than they are, so each version
//! lists where its cases end. All that a list's range covers has no other case there. Found by asking LOWER() and UPPER() of
//! MariaDB 10.11 for all characters.

use super::Collation;
use super::list::Rule;

type Ranges = &'static [(u32, u32)];

/// What has no lower and what has no upper case in one version.
struct Young {
    lower: Ranges,
    upper: Ranges,
}

/// Unicode 3.0: `general_ci`, `unicode_ci`, the languages with it, and `bin`.
static V300: Young = Young {
    lower: &[
        (0x220, 0x220),
        (0x23a, 0x37f),
        (0x3cf, 0x3d8),
        (0x3f4, 0x3ff),
        (0x48a, 0x48a),
        (0x4c0, 0x4c0),
        (0x4c5, 0x4c5),
        (0x4c9, 0x4c9),
        (0x4cd, 0x4cd),
        (0x4f6, 0x4f6),
        (0x4fa, 0x52e),
        (0x10a0, 0x1cbf),
        (0x1e9e, 0x1e9e),
        (0x1efa, 0x1efe),
        (0x2132, 0x2132),
        (0x2183, 0x2183),
        (0x2c00, 0xa7f5),
        (0x10400, 0x1e921),
    ],
    upper: &[
        (0x180, 0x180),
        (0x19a, 0x19e),
        (0x23c, 0x252),
        (0x25c, 0x25c),
        (0x261, 0x261),
        (0x264, 0x266),
        (0x26a, 0x26c),
        (0x271, 0x271),
        (0x27d, 0x27d),
        (0x282, 0x282),
        (0x287, 0x287),
        (0x289, 0x289),
        (0x28c, 0x28c),
        (0x29d, 0x29e),
        (0x371, 0x37d),
        (0x3d7, 0x3d9),
        (0x3f3, 0x3fb),
        (0x48b, 0x48b),
        (0x4c6, 0x4c6),
        (0x4ca, 0x4ca),
        (0x4ce, 0x4cf),
        (0x4f7, 0x4f7),
        (0x4fb, 0x52f),
        (0x10d0, 0x1d8e),
        (0x1efb, 0x1eff),
        (0x214e, 0x214e),
        (0x2184, 0x2184),
        (0x2c30, 0xabbf),
        (0x10428, 0x1e943),
    ],
};

/// Unicode 5.2.
static V520: Young = Young {
    lower: &[
        (0x37f, 0x37f),
        (0x526, 0x52e),
        (0x10c7, 0x1cbf),
        (0x2c2f, 0x2c2f),
        (0x2cf2, 0x2cf2),
        (0xa660, 0xa660),
        (0xa698, 0xa69a),
        (0xa78d, 0xa7f5),
        (0x104b0, 0x1e921),
    ],
    upper: &[
        (0x19b, 0x19b),
        (0x25c, 0x25c),
        (0x261, 0x261),
        (0x264, 0x266),
        (0x26a, 0x26a),
        (0x26c, 0x26c),
        (0x282, 0x282),
        (0x287, 0x287),
        (0x29d, 0x29e),
        (0x3f3, 0x3f3),
        (0x527, 0x52f),
        (0x10d0, 0x1c8a),
        (0x1d8e, 0x1d8e),
        (0x2c5f, 0x2c5f),
        (0x2cf3, 0x2cf3),
        (0x2d27, 0x2d2d),
        (0xa661, 0xa661),
        (0xa699, 0xa69b),
        (0xa791, 0xabbf),
        (0x104d8, 0x1e943),
    ],
};

/// Unicode 14.
static V1400: Young = Young {
    lower: &[
        (0x1c89, 0x1c89),
        (0xa7cb, 0xa7ce),
        (0xa7d2, 0xa7d4),
        (0xa7da, 0xa7dc),
        (0x10d50, 0x10d65),
        (0x16ea0, 0x16eb8),
    ],
    upper: &[
        (0x19b, 0x19b),
        (0x264, 0x264),
        (0x1c8a, 0x1c8a),
        (0xa7cd, 0xa7cf),
        (0xa7d3, 0xa7d5),
        (0xa7db, 0xa7db),
        (0x10d70, 0x10d85),
        (0x16ebb, 0x16ed3),
    ],
};

impl Young {
    fn of(collation: Collation) -> &'static Young {
        match collation.info().rule {
            Rule::Uca(u) => match u.version() {
                0 => &V300,
                1 => &V520,
                _ => &V1400,
            },
            _ => &V300,
        }
    }
}

fn within(ranges: Ranges, c: u32) -> bool {
    let next = ranges.partition_point(|(_, last)| *last < c);
    ranges.get(next).is_some_and(|(first, _)| *first <= c)
}

/// The other case of a character, if that is a single character.
fn lone(c: char, mut other: impl Iterator<Item = char>) -> char {
    match (other.next(), other.next()) {
        (Some(other), None) => other,
        _ => c,
    }
}

/// The capital of a Greek letter with an iota below, which stands beside it: for Rust these are two characters.
fn with_iota(c: u32) -> u32 {
    match c {
        0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7 => c + 8,
        0x1fb3 | 0x1fc3 | 0x1ff3 => c + 9,
        _ => c,
    }
}

impl Collation {
    /// The I with a dot and the one without are two letters, each with two cases.
    pub fn is_turkish(self) -> bool {
        self.name().contains("turkish")
    }

    /// A character in upper or lower case. It is always one character again.
    pub fn in_case(self, c: char, upper: bool) -> char {
        if matches!(c, 'I' | 'i' | 'ı' | 'İ') && self.is_turkish() {
            return match (c, upper) {
                ('i' | 'İ', true) => 'İ',
                ('I' | 'ı', false) => 'ı',
                (_, true) => 'I',
                (_, false) => 'i',
            };
        }
        if c.is_ascii() {
            return match upper {
                true => c.to_ascii_uppercase(),
                false => c.to_ascii_lowercase(),
            };
        }
        let young = Young::of(self);
        let code = c as u32;
        match upper {
            // The lunate sigma has a capital of its own since Unicode 4.
            true if code == 0x3f2 && std::ptr::eq(young, &V300) => '\u{3a3}',
            true if within(young.upper, code) => c,
            true => match with_iota(code) {
                same if same == code => lone(c, c.to_uppercase()),
                capital => char::from_u32(capital).unwrap_or(c),
            },
            false if code == 0x130 => 'i',
            false if within(young.lower, code) => c,
            false => lone(c, c.to_lowercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOWER() and UPPER() of MariaDB 10.11.19: how many characters from U+0080 to U+1FFFF have another one.
    #[test]
    fn each_version_has_as_many_cases_as_mariadb() {
        for (collation, want) in [
            (Collation::Utf8mb4GeneralCi, 1346),
            (Collation::Utf8mb4Bin, 1346),
            (Collation::Utf8mb4Unicode520Ci, 2010),
            (
                Collation::from_name("utf8mb4_uca1400_ai_ci").expect("it is there"),
                2827,
            ),
        ] {
            let cased = |c: &char| {
                [true, false]
                    .iter()
                    .any(|up| collation.in_case(*c, *up) != *c)
            };
            let found = (0x80..0x2_0000)
                .filter_map(char::from_u32)
                .filter(cased)
                .count();
            assert_eq!(found, want, "{collation:?}");
        }
    }

    #[test]
    fn letters_younger_than_the_collation_stay() {
        let old = Collation::Utf8mb4GeneralCi;
        let new = Collation::Utf8mb4Unicode520Ci;
        assert_eq!(old.in_case('Ⱥ', false), 'Ⱥ');
        assert_eq!(new.in_case('Ⱥ', false), 'ⱥ');
        assert_eq!(old.in_case('İ', false), 'i');
        assert_eq!(old.in_case('ᾳ', true), 'ᾼ');
        assert_eq!(old.in_case('ϲ', true), 'Σ');
        assert_eq!(new.in_case('ϲ', true), 'Ϲ');
    }
}
