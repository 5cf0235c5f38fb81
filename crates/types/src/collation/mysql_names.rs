//! MySQL's names and ids of collations that have other names here.

/// MySQL's language in the name; ours; ids of `_ai_ci` and `_as_cs` (0: there is none).
pub(super) const LANGUAGES: [(&str, &str, u16, u16); 29] = [
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
pub(super) const OTHERS: [(&str, u16, &str); 2] = [
    ("utf8mb4_0900_as_ci", 305, "utf8mb4_uca1400_nopad_as_ci"),
    ("utf8mb4_0900_bin", 309, "utf8mb4_nopad_bin"),
];

/// What MySQL calls a collation.
pub(super) struct MysqlName {
    pub(super) name: String,
    pub(super) id: u16,
}

/// All of them, each with our name of it. Several of MySQL's may have one of ours.
pub(super) fn all() -> impl Iterator<Item = (MysqlName, String)> {
    let of_languages = LANGUAGES.iter().flat_map(|(language, ours, ai, cs)| {
        [("ai_ci", *ai), ("as_cs", *cs)].map(|(how, id)| {
            let name = format!("utf8mb4_{language}0900_{how}");
            let ours = format!("utf8mb4_uca1400_{ours}nopad_{how}");
            (MysqlName { name, id }, ours)
        })
    });
    let others = OTHERS.iter().map(|(name, id, ours)| {
        let name = MysqlName {
            name: (*name).into(),
            id: *id,
        };
        (name, (*ours).into())
    });
    of_languages.chain(others)
}
