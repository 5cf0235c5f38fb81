//! Collations that only MySQL has, and those that stand for them here.
//!
//! MySQL's `utf8mb4_..._0900_...` weigh by version 9.0.0 of the Unicode Collation Algorithm, MariaDB's `uca1400_...` by 14.0.0,
//! both without padding: what differs are characters that are younger than Unicode 9. MariaDB 11.4 takes the names so, too.

use super::Collation;
use super::mysql_names::{LANGUAGES, OTHERS};
use std::sync::OnceLock;

impl Collation {
    /// `utf8mb4_0900_ai_ci`: the default of utf8mb4 in MySQL.
    pub(super) fn mysqls_default() -> Self {
        static DEFAULT: OnceLock<Collation> = OnceLock::new();
        *DEFAULT.get_or_init(|| Self::of_mysql_name("utf8mb4_0900_ai_ci").unwrap_or_default())
    }

    /// The collation that stands for one that only MySQL has, by its name in any case; `None` for all others.
    #[must_use]
    pub fn of_mysql_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        if let Some(other) = OTHERS.iter().find(|o| o.0 == lower) {
            return Self::of_own_name(other.2);
        }
        let rest = lower.strip_prefix("utf8mb4_")?;
        let (language, how) = match rest.strip_suffix("0900_ai_ci") {
            Some(language) => (language, "ai_ci"),
            None => (rest.strip_suffix("0900_as_cs")?, "as_cs"),
        };
        let known = LANGUAGES.iter().find(|l| l.0 == language)?;
        Self::of_own_name(&format!("utf8mb4_uca1400_{}nopad_{how}", known.1))
    }

    /// The name under which MySQL knows this collation, or the nearest one of its own; `None` for one that has the same name
    /// there or that nothing there stands for.
    ///
    /// MySQL has none of Unicode 9 that pads. One that does not pad tells more values apart, so unique keys hold there.
    #[must_use]
    pub fn mysql_name(self) -> Option<String> {
        let name = self.own_name();
        let exact = OTHERS.iter().find(|o| o.2 == name);
        if let Some(other) = exact.or((name == "utf8mb4_uca1400_as_ci").then_some(&OTHERS[0])) {
            return Some(other.0.to_owned());
        }
        let rest = name.strip_prefix("utf8mb4_uca1400_")?;
        let (rest, how) = match rest.strip_suffix("ai_ci") {
            Some(rest) => (rest, "ai_ci"),
            None => (rest.strip_suffix("as_cs")?, "as_cs"),
        };
        let language = rest.strip_suffix("nopad_").unwrap_or(rest);
        let known = LANGUAGES.iter().find(|l| l.1 == language)?;
        Some(format!("utf8mb4_{}0900_{how}", known.0))
    }

    /// The collation that stands for one that only MySQL has, by its id; `None` for all others.
    #[must_use]
    pub(super) fn of_mysql_id(id: u16) -> Option<Self> {
        if let Some(other) = OTHERS.iter().find(|o| o.1 == id) {
            return Self::of_own_name(other.2);
        }
        let &(_, ours, ai, _) = LANGUAGES.iter().find(|l| l.2 == id || l.3 == id)?;
        let how = if ai == id { "ai_ci" } else { "as_cs" };
        Self::of_own_name(&format!("utf8mb4_uca1400_{ours}nopad_{how}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mysql_has_names_for_ours() {
        for (ours, theirs) in [
            ("utf8mb4_uca1400_nopad_ai_ci", Some("utf8mb4_0900_ai_ci")),
            ("utf8mb4_uca1400_ai_ci", Some("utf8mb4_0900_ai_ci")),
            (
                "utf8mb4_uca1400_danish_as_cs",
                Some("utf8mb4_da_0900_as_cs"),
            ),
            ("utf8mb4_uca1400_nopad_as_ci", Some("utf8mb4_0900_as_ci")),
            ("utf8mb4_uca1400_as_ci", Some("utf8mb4_0900_as_ci")),
            ("utf8mb4_uca1400_ai_cs", None),
            ("utf8mb4_nopad_bin", Some("utf8mb4_0900_bin")),
            ("utf8mb4_general_ci", None),
        ] {
            let ours = Collation::from_name(ours).unwrap();
            assert_eq!(ours.mysql_name().as_deref(), theirs, "{}", ours.name());
        }
    }

    #[test]
    fn each_has_one_that_stands_for_it() {
        for (language, _, ai, cs) in LANGUAGES {
            for (how, id) in [("ai_ci", ai), ("as_cs", cs)] {
                let name = format!("utf8mb4_{language}0900_{how}");
                let ours = Collation::of_mysql_name(&name);
                assert!(ours.is_some(), "{name}");
                assert_eq!(ours, Collation::of_mysql_id(id), "{name}");
                assert!(ours.is_some_and(|c| !c.pads()));
            }
        }
        for (name, id, ours) in OTHERS {
            assert_eq!(
                Collation::of_mysql_name(name).map(Collation::name),
                Some(ours)
            );
            assert_eq!(Collation::of_mysql_id(id).map(Collation::name), Some(ours));
        }
        assert_eq!(Collation::of_mysql_id(45), None);
        assert!(Collation::from_id(255).is_some());
        let shown = |n: &str| {
            let mysqls = Collation::from_name(n).and_then(Collation::mysqls);
            mysqls.map(|n| (n.name.as_str(), n.id))
        };
        assert_eq!(
            shown("utf8mb4_uca1400_nopad_ai_ci"),
            Some(("utf8mb4_0900_ai_ci", 255))
        );
        assert_eq!(shown("utf8mb4_nopad_bin"), Some(("utf8mb4_0900_bin", 309)));
        assert_eq!(shown("utf8mb4_general_ci"), None);
        assert_eq!(Collation::of_mysql_name("utf8mb4_ja_0900_as_cs"), None);
        assert_eq!(Collation::of_mysql_name("utf8mb4_general_ci"), None);
    }
}
