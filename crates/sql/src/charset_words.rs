//! What a definition says of its character set and collation, until it is known where it stands: CHARACTER SET DEFAULT, COLLATE
//! DEFAULT and `COLLATE uca1400_ai_ci` depend on that.

use narwal_types::errors;
use narwal_types::{Charset, Collation, SqlError, SqlResult};

/// What COLLATE says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollateWord {
    /// DEFAULT
    Default,
    /// A collation of one character set.
    Named(Collation),
    /// A collation that several character sets have, by its name without them.
    Shared(String),
}

impl std::fmt::Display for CollateWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CollateWord::Default => f.write_str("DEFAULT"),
            CollateWord::Named(c) => f.write_str(c.name()),
            CollateWord::Shared(name) => f.write_str(name),
        }
    }
}

impl CollateWord {
    /// What a name means, or why nothing.
    pub fn of(name: &str) -> SqlResult<Self> {
        let shared = name
            .get(..8)
            .is_some_and(|s| s.eq_ignore_ascii_case("uca1400_"));
        let c = of_charset(name, Charset::Utf8mb4)?;
        Ok(match shared {
            true => CollateWord::Shared(name.to_ascii_lowercase()),
            false => CollateWord::Named(c),
        })
    }

    /// What two of them come to.
    fn with(self, next: CollateWord) -> SqlResult<Self> {
        use CollateWord::{Default, Named, Shared};
        let fits = match (&self, &next) {
            (Default, Named(c)) | (Named(c), Default) => c.charset().default_collation() == *c,
            (Shared(name), Named(c)) | (Named(c), Shared(name)) => {
                Collation::of_charset(name, c.charset()) == Some(*c)
            }
            (a, b) => a == b,
        };
        match fits {
            true if matches!(self, Named(_)) => Ok(self),
            true => Ok(next),
            false => Err(conflict("COLLATE ", &self, "COLLATE ", &next)),
        }
    }
}

/// Error 1302.
fn conflict(
    a: &str,
    first: &dyn std::fmt::Display,
    b: &str,
    second: &dyn std::fmt::Display,
) -> SqlError {
    errors::CONFLICTING_DECLARATIONS.with([&a, first, &b, second])
}

/// A collation by name, or why not; `uca1400_*` is one of this character set.
pub(crate) fn of_charset(name: &str, set: Charset) -> SqlResult<Collation> {
    Collation::find(name, set)
}

/// Error 1253: the collation is one of another character set.
fn mismatch(collation: &dyn std::fmt::Display, set: Charset) -> SqlError {
    errors::COLLATION_CHARSET_MISMATCH.with([collation, &set.name()])
}

/// CHARACTER SET, COLLATE and BINARY of a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CharsetWords {
    set: Option<Charset>,
    /// CHARACTER SET DEFAULT, and whether it was said before the name of a set.
    default_set: Option<bool>,
    collate: Option<CollateWord>,
    binary: bool,
}

impl CharsetWords {
    /// Those that say this collation.
    pub fn exactly(c: Collation) -> Self {
        CharsetWords {
            collate: Some(CollateWord::Named(c)),
            ..CharsetWords::default()
        }
    }

    /// Nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == CharsetWords::default()
    }

    /// Adds CHARACTER SET; `None` is DEFAULT.
    pub fn add_charset(&mut self, set: Option<Charset>) -> SqlResult<()> {
        match (self.set, set) {
            (_, None) => {
                self.default_set.get_or_insert(self.set.is_none());
            }
            (Some(a), Some(b)) if a != b => {
                let (a, b) = (a.name(), b.name());
                return Err(conflict("CHARACTER SET ", &a, "CHARACTER SET ", &b));
            }
            (_, set) => self.set = set,
        }
        self.name_default();
        Ok(())
    }

    /// Adds COLLATE.
    pub fn add_collate(&mut self, word: CollateWord) -> SqlResult<()> {
        self.collate = Some(match self.collate.take() {
            Some(before) => before.with(word)?,
            None => word,
        });
        self.name_default();
        Ok(())
    }

    /// COLLATE DEFAULT beside a set's name means that set's collation, which is then what a later COLLATE contradicts.
    fn name_default(&mut self) {
        if let (Some(set), Some(CollateWord::Default)) = (self.set, &self.collate) {
            self.collate = Some(CollateWord::Named(set.default_collation()));
        }
    }

    /// Adds what another says.
    pub fn add(&mut self, other: &CharsetWords) -> SqlResult<()> {
        // In the order in which they were said.
        let named = other.set.map(Some);
        let default = other.default_set.map(|_| None);
        let sets = match other.default_set {
            Some(true) => [default, named],
            _ => [named, default],
        };
        for set in sets.into_iter().flatten() {
            self.add_charset(set)?;
        }
        match &other.collate {
            Some(word) => self.add_collate(word.clone()),
            None => Ok(()),
        }
    }

    /// Adds BINARY, the collation by code points. With a character set beside it that is a collation like others.
    pub fn add_binary(&mut self) -> SqlResult<()> {
        match self.set {
            Some(set) => {
                self.set = None;
                self.add_collate(CollateWord::Named(set.bin_collation()))
            }
            None => {
                self.binary = true;
                Ok(())
            }
        }
    }

    /// A column's, out of those of its type and those of its attributes.
    pub fn of_column(of_type: Self, of_attributes: Self) -> SqlResult<Self> {
        let mut all = of_type;
        if let Some(word) = of_attributes.collate {
            all.add_collate(word)?;
        }
        Ok(all)
    }

    /// The collation that a CHARACTER SET and a COLLATE right behind it come to, as one.
    pub fn settle(&mut self) -> SqlResult<()> {
        if let (Some(set), Some(_)) = (self.set, &self.collate)
            && let Some(c) = self.collation(set.default_collation(), set.default_collation())?
        {
            *self = CharsetWords::exactly(c);
        }
        Ok(())
    }

    /// What contradicts wherever the definition stands.
    pub fn check(&self) -> SqlResult<()> {
        match self.set {
            Some(set) => {
                let own = set.default_collation();
                self.collation(own, own).map(drop)
            }
            None => Ok(()),
        }
    }

    /// What they come to, `None` if nothing is said. `above`: the collation of what the definition stands in, `own`: the one that
    /// it has, or would have.
    pub fn collation(&self, above: Collation, own: Collation) -> SqlResult<Option<Collation>> {
        let set = match (self.set, self.default_set) {
            (Some(set), Some(before)) if set != above.charset() => {
                let default = format!("DEFAULT ({})", above.charset().name());
                let (a, b): (&dyn std::fmt::Display, &dyn std::fmt::Display) = match before {
                    true => (&default, &set.name()),
                    false => (&set.name(), &default),
                };
                return Err(conflict("CHARACTER SET ", a, "CHARACTER SET ", b));
            }
            (None, Some(_)) => Some(above.charset()),
            (set, _) => set,
        };
        if let Some(word @ CollateWord::Shared(_)) = self.collate.as_ref().filter(|_| self.binary) {
            return Err(conflict("BINARY", &"", "COLLATE ", word));
        }
        let c = match (&self.collate, set) {
            (None, None) if self.binary => return Ok(Some(own.charset().bin_collation())),
            (None, None) => return Ok(None),
            (None | Some(CollateWord::Default), set) => {
                set.unwrap_or(own.charset()).default_collation()
            }
            (Some(CollateWord::Named(c)), Some(set)) if c.charset() != set => {
                return Err(mismatch(&c.name(), set));
            }
            (Some(CollateWord::Named(c)), _) => *c,
            (Some(CollateWord::Shared(name)), set) => {
                let set = set.unwrap_or(own.charset());
                Collation::of_charset(name, set).ok_or_else(|| mismatch(name, set))?
            }
        };
        if let Some(word) = self.collate.as_ref().filter(|_| self.binary)
            && c != c.charset().bin_collation()
        {
            return Err(conflict("BINARY", &"", "COLLATE ", word));
        }
        Ok(Some(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(said: &[&str]) -> SqlResult<CharsetWords> {
        let mut w = CharsetWords::default();
        for s in said {
            match s.split_once(' ') {
                Some(("set", "default")) => w.add_charset(None)?,
                Some(("set", name)) => w.add_charset(Charset::from_name(name))?,
                Some((_, "default")) => w.add_collate(CollateWord::Default)?,
                Some((_, name)) => w.add_collate(CollateWord::of(name)?)?,
                None => w.add_binary()?,
            }
        }
        Ok(w)
    }

    fn come_to(said: &[&str]) -> Result<String, u16> {
        let in_latin1 = Collation::Latin1Bin;
        let c = words(said).and_then(|w| w.collation(in_latin1, in_latin1));
        match c {
            Ok(c) => Ok(c.map_or(String::new(), |c| c.name().to_string())),
            Err(e) => Err(e.code),
        }
    }

    #[test]
    fn what_words_come_to() {
        for (said, want) in [
            (&[][..], Ok("")),
            (&["set default"], Ok("latin1_swedish_ci")),
            (&["collate default"], Ok("latin1_swedish_ci")),
            (
                &["set utf8mb4", "collate uca1400_ai_ci"],
                Ok("utf8mb4_uca1400_ai_ci"),
            ),
            (
                &["collate uca1400_ai_ci", "set utf8mb3"],
                Ok("utf8mb3_uca1400_ai_ci"),
            ),
            (&["collate uca1400_ai_ci"], Err(1253)),
            (&["set default", "set latin1"], Ok("latin1_swedish_ci")),
            (&["set default", "set utf8mb4"], Err(1302)),
            (&["set latin1", "set latin2"], Err(1302)),
            (
                &["collate latin1_bin", "collate latin1_bin"],
                Ok("latin1_bin"),
            ),
            (&["collate latin1_bin", "collate default"], Err(1302)),
            (
                &["collate default", "collate utf8mb3_general_ci"],
                Ok("utf8mb3_general_ci"),
            ),
            (&["set latin1", "collate utf8mb4_bin"], Err(1253)),
            (
                &["collate default", "set utf8mb4", "collate latin1_bin"],
                Err(1302),
            ),
            (&["binary", "collate utf8mb4_bin"], Ok("utf8mb4_bin")),
            (&["binary", "collate utf8mb4_general_ci"], Err(1302)),
            (&["set latin2", "binary", "collate utf8mb4_bin"], Err(1302)),
            (&["binary"], Ok("latin1_bin")),
        ] {
            assert_eq!(come_to(said), want.map(str::to_string), "{said:?}");
        }
    }
}
