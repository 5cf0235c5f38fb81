//! Collations that only MySQL has, and those that stand for them here.
//!
//! MySQL's `utf8mb4_..._0900_...` weigh by version 9.0.0 of the Unicode Collation Algorithm, MariaDB's `uca1400_...` by 14.0.0,
//! both without padding: what differs are characters that are younger than Unicode 9. MariaDB 11.4 takes the names so, too.

use super::Collation;

/// MySQL's language in the name; ours; ids of `_ai_ci` and `_as_cs` (0: there is none).
const LANGUAGES: [(&str, &str, u16, u16); 29] = [
    ("", "", 255, 278),
    ("de_pb_", "german2_", 256, 279),
    ("is_", "icelandic_", 257, 280),
    ("lv_", "latvian_", 258, 281),
    ("ro_", "romanian_", 259, 282),
    ("sl_", "slovenian_", 260, 283),
    ("pl_", "polish_", 261, 284),
    ("et_", "estonian_", 262, 285),
    ("es_", "spanish_", 263, 286),
    ("sv_", "swedish_", 264, 287),
    ("tr_", "turkish_", 265, 288),
    ("cs_", "czech_", 266, 289),
    ("da_", "danish_", 267, 290),
    ("lt_", "lithuanian_", 268, 291),
    ("sk_", "slovak_", 269, 292),
    ("es_trad_", "spanish2_", 270, 293),
    ("la_", "roman_", 271, 294),
    ("eo_", "esperanto_", 273, 296),
    ("hu_", "hungarian_", 274, 297),
    ("hr_", "croatian_", 275, 298),
    ("vi_", "vietnamese_", 277, 300),
    // Those whose letters only stand in another order among scripts, or that share a language's rules.
    ("ru_", "", 306, 307),
    ("nb_", "danish_", 310, 311),
    ("nn_", "danish_", 312, 313),
    ("sr_latn_", "croatian_", 314, 315),
    ("bs_", "croatian_", 316, 317),
    ("bg_", "", 318, 319),
    ("gl_", "spanish_", 320, 321),
    ("mn_cyrl_", "", 322, 323),
];

/// Name and id of those without a language of their own.
const OTHERS: [(&str, u16, &str); 2] = [
    ("utf8mb4_0900_as_ci", 305, "utf8mb4_uca1400_nopad_as_ci"),
    ("utf8mb4_0900_bin", 309, "utf8mb4_nopad_bin"),
];

impl Collation {
    /// The collation that stands for one that only MySQL has, by its name in any case; `None` for all others.
    #[must_use]
    pub fn of_mysql_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        if let Some(other) = OTHERS.iter().find(|o| o.0 == lower) {
            return Self::from_name(other.2);
        }
        let rest = lower.strip_prefix("utf8mb4_")?;
        let (language, how) = match rest.strip_suffix("0900_ai_ci") {
            Some(language) => (language, "ai_ci"),
            None => (rest.strip_suffix("0900_as_cs")?, "as_cs"),
        };
        let known = LANGUAGES.iter().find(|l| l.0 == language)?;
        Self::from_name(&format!("utf8mb4_uca1400_{}nopad_{how}", known.1))
    }

    /// The name under which MySQL knows this collation, or the nearest one of its own; `None` for one that has the same name
    /// there or that nothing there stands for.
    ///
    /// MySQL has none of Unicode 9 that pads. One that does not pad tells more values apart, so unique keys hold there.
    #[must_use]
    pub fn mysql_name(self) -> Option<String> {
        let name = self.name();
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

    /// The collation that a MySQL means by an id: the same as here, or one that stands for it.
    #[must_use]
    pub fn of_mysql_id(id: u16) -> Option<Self> {
        if let Some(other) = OTHERS.iter().find(|o| o.1 == id) {
            return Self::from_name(other.2);
        }
        match LANGUAGES.iter().find(|l| l.2 == id || l.3 == id) {
            Some(&(_, ours, ai, _)) => {
                let how = if ai == id { "ai_ci" } else { "as_cs" };
                Self::from_name(&format!("utf8mb4_uca1400_{ours}nopad_{how}"))
            }
            None => Self::from_id(id),
        }
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
        assert_eq!(Collation::of_mysql_id(45), Collation::from_id(45));
        assert_eq!(Collation::of_mysql_name("utf8mb4_ja_0900_as_cs"), None);
        assert_eq!(Collation::of_mysql_name("utf8mb4_general_ci"), None);
    }
}
