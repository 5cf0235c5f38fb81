//! All collations: one line for each, but for the families `uca1400_*`, which follow from their languages.

use super::czech::Czech;
use super::latin1::{GENERAL_CI, GENERAL_CS, GERMAN1, IDENTITY, SWEDISH};
use super::mysql_names::{self, MysqlName};
use super::uca::{Uca, with_shared};
use crate::charset::{Charset, CodeWeights, code_weights};
use crate::{SqlResult, errors};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::OnceLock;

/// A collation Narwal can compare and sort by: its place in the list of them. In the catalog it goes by its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Collation(u16);

/// How a collation weighs characters.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// By the bytes, or the code points, which is the same order in UTF-8.
    Bytes,
    /// As utf8mb4_general_ci.
    General,
    /// The same, but ß is a letter of its own.
    General500,
    /// Capitals of ASCII.
    Ascii,
    /// A weight for each byte of latin1.
    Latin1(&'static [u8; 256]),
    /// A weight for each code of a character set.
    Table(fn() -> &'static CodeWeights),
    /// The Unicode Collation Algorithm.
    Uca(Uca),
    /// Czech, by the table of one of two character sets.
    Czech(Czech),
    /// Vowels and marks of tis620 in the order in which they are spoken.
    Thai,
}

/// What there is to know about a collation.
#[derive(Clone, Copy)]
pub(super) struct Info {
    pub(super) id: u16,
    /// Empty: it follows from the id (see [`family_name`]).
    name: &'static str,
    /// Its name in the catalog.
    stored: &'static str,
    pub(super) charset: Charset,
    pub(super) rule: Rule,
    /// PAD SPACE.
    pub(super) pad: bool,
    sort_length: u8,
}

/// Languages of `uca1400_*`, by their number in the id; empty: there is none.
const FAMILIES: [&str; 25] = with_shared(1, &["", "", "vietnamese", "croatian"]);

/// Character sets of `uca1400_*` with the ids of the first.
const FAMILY_SETS: [(Charset, u16); 5] = [
    (Charset::Utf8mb3, 2048),
    (Charset::Ucs2, 2560),
    (Charset::Utf8mb4, 2304),
    (Charset::Utf16, 2816),
    (Charset::Utf32, 3072),
];

/// Languages of `uca1400_*` with eight collations each, in each set.
const FAMILY_SIZE: usize = 23 * 8;

/// A collation of the families: bits 0 to 2 of the id are cases, accents and NO PAD, above them stands the language.
const fn family(charset: Charset, id: u16) -> Info {
    let levels: &[u8] = match id & 3 {
        0 => &[0],
        1 => &[0, 2],
        2 => &[0, 1],
        _ => &[0, 1, 2],
    };
    Info {
        id,
        name: "",
        stored: "",
        charset,
        rule: Rule::Uca(Uca::new(2, FAMILIES[((id & 0xff) >> 3) as usize], levels)),
        pad: id & 4 == 0,
        sort_length: 8,
    }
}

const fn all() -> [Info; COUNT] {
    let mut out = [family(Charset::Utf8mb4, 2304); COUNT];
    let mut at = 0;
    while at < OWN.len() {
        out[at] = OWN[at];
        at += 1;
    }
    let mut set = 0;
    while set < FAMILY_SETS.len() {
        let (charset, first) = FAMILY_SETS[set];
        let mut language = 0;
        while language < FAMILIES.len() {
            if language == 0 || !FAMILIES[language].is_empty() {
                let mut n = 0;
                while n < 8 {
                    out[at] = family(charset, first + 8 * language as u16 + n);
                    at += 1;
                    n += 1;
                }
            }
            language += 1;
        }
        set += 1;
    }
    assert!(at == COUNT);
    out
}

const COUNT: usize = OWN.len() + FAMILY_SETS.len() * FAMILY_SIZE;

/// All collations, by their places.
static ALL: [Info; COUNT] = all();

/// The name of a collation of the families, without its character set.
fn family_name(id: u16) -> String {
    let mut name = "uca1400_".to_string();
    let language = FAMILIES[usize::from((id & 0xff) >> 3)];
    if !language.is_empty() {
        name.push_str(language);
        name.push('_');
    }
    if id & 4 != 0 {
        name.push_str("nopad_");
    }
    name.push_str(if id & 2 != 0 { "as_" } else { "ai_" });
    name.push_str(if id & 1 != 0 { "cs" } else { "ci" });
    name
}

/// Names of all collations: whole, and what those of the families share.
fn names() -> &'static [(String, Option<String>)] {
    static NAMES: OnceLock<Vec<(String, Option<String>)>> = OnceLock::new();
    NAMES.get_or_init(|| {
        ALL.iter()
            .map(|i| match i.name {
                "" => {
                    let shared = family_name(i.id);
                    (format!("{}_{shared}", i.charset.name()), Some(shared))
                }
                name => (name.to_string(), None),
            })
            .collect()
    })
}

/// The place of the collation with this id, which is none of the families.
const fn place_of(id: u16) -> u16 {
    let mut i = 0;
    while i < OWN.len() {
        if OWN[i].id == id {
            return i as u16;
        }
        i += 1;
    }
    panic!("no collation with this id");
}

/// Default collations, by character set.
static DEFAULTS: [Collation; Charset::ALL.len()] = {
    let mut out = [Collation(0); Charset::ALL.len()];
    let mut i = 0;
    while i < out.len() {
        out[i] = Collation(place_of(Charset::DEFAULT_IDS[i]));
        i += 1;
    }
    out
};

impl Charset {
    /// The collation of what names only the character set.
    #[inline]
    pub fn default_collation(self) -> Collation {
        match self {
            Charset::Utf8mb4 => Collation::of_utf8mb4(),
            _ => DEFAULTS[self as usize],
        }
    }

    /// The collation by code points.
    pub fn bin_collation(self) -> Collation {
        let is = |c: &Collation| c.charset() == self && c.is_bin() && c.pads();
        Collation::all().find(is).unwrap_or(Collation::Binary)
    }
}

impl Default for Collation {
    fn default() -> Self {
        Collation::Utf8mb4GeneralCi
    }
}

impl std::fmt::Debug for Collation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Collation {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.info().stored {
            "" => s.serialize_str(self.own_name()),
            stored => s.serialize_str(stored),
        }
    }
}

impl<'de> Deserialize<'de> for Collation {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let name = String::deserialize(d)?;
        let by_stored = || (0..COUNT).find(|i| ALL[*i].stored == name);
        // Versions before this one had these of the families, under such names.
        let by_family = || {
            let plain = |c: &Collation| camel(c.own_name()) == name;
            Collation::all().find(plain).map(|c| usize::from(c.0))
        };
        by_stored()
            .or_else(by_family)
            .map(|i| Collation(i as u16))
            .or_else(|| Collation::from_name(&name))
            .ok_or_else(|| serde::de::Error::custom(format!("unknown collation {name}")))
    }
}

/// `utf8mb4_general_ci` as `Utf8mb4GeneralCi`.
fn camel(name: &str) -> String {
    name.split('_')
        .flat_map(|word| {
            let mut chars = word.chars();
            chars
                .next()
                .map(|c| c.to_ascii_uppercase())
                .into_iter()
                .chain(chars)
        })
        .collect()
}

impl Collation {
    #[inline]
    pub(super) fn info(self) -> &'static Info {
        &ALL[usize::from(self.0)]
    }

    /// All collations.
    pub fn all() -> impl Iterator<Item = Collation> {
        (0..COUNT as u16).map(Collation)
    }

    /// Id in the client protocol and in row metadata.
    pub fn id(self) -> u16 {
        match self.shown_as() {
            Some(mysqls) => mysqls.id,
            None => self.info().id,
        }
    }

    /// Name, lower case.
    pub fn name(self) -> &'static str {
        match self.shown_as() {
            Some(mysqls) => &mysqls.name,
            None => self.own_name(),
        }
    }

    /// The default collation of utf8mb4 under the process's face.
    fn of_utf8mb4() -> Self {
        match crate::face::is_mysql() {
            true => Self::mysqls_default(),
            false => DEFAULTS[Charset::Utf8mb4 as usize],
        }
    }

    /// What MySQL calls it, if the process has MySQL's face.
    fn shown_as(self) -> Option<&'static MysqlName> {
        match crate::face::is_mysql() {
            true => self.mysqls(),
            false => None,
        }
    }

    /// What MySQL calls it; `None` if its name is the same in both. Of several languages that share one of ours it is the
    /// first.
    pub(super) fn mysqls(self) -> Option<&'static MysqlName> {
        static NAMES: OnceLock<Vec<Option<MysqlName>>> = OnceLock::new();
        let names = NAMES.get_or_init(|| {
            let mut names: Vec<Option<MysqlName>> = Vec::new();
            names.resize_with(COUNT, || None);
            for (name, ours) in mysql_names::all() {
                let place = Self::of_own_name(&ours).map(|c| usize::from(c.0));
                if let Some(free) = place.map(|p| &mut names[p]).filter(|n| n.is_none()) {
                    *free = Some(name);
                }
            }
            names
        });
        names.get(usize::from(self.0))?.as_ref()
    }

    /// The name under MariaDB's face.
    pub(super) fn own_name(self) -> &'static str {
        match self.info().name {
            "" => &names()[usize::from(self.0)].0,
            name => name,
        }
    }

    /// The name that collations of several character sets share, as lists of collations show it.
    pub fn shared_name(self) -> Option<&'static str> {
        names()[usize::from(self.0)].1.as_deref()
    }

    /// Its character set.
    #[inline]
    pub fn charset(self) -> Charset {
        self.info().charset
    }

    /// PAD SPACE: trailing spaces don't count.
    pub fn pads(self) -> bool {
        self.info().pad
    }

    /// How much longer sort keys may be than strings, as lists of collations show it.
    pub fn sort_length(self) -> u8 {
        self.info().sort_length
    }

    /// By code points or bytes: what differs is never equal, trailing spaces aside.
    pub fn is_bin(self) -> bool {
        let name = self.info().name;
        name.ends_with("_bin") || self == Collation::Binary
    }

    /// The place of a collation by name, whether Narwal has it or not.
    fn place_by_name(given: &str, default: Charset) -> Option<Collation> {
        let lower = given.to_ascii_lowercase();
        let name = match lower.strip_prefix("utf8_") {
            Some(rest) => format!("utf8mb3_{rest}"),
            None if lower.starts_with("uca1400_") => format!("{}_{lower}", default.name()),
            None => lower,
        };
        let at = names().iter().position(|n| n.0 == name)?;
        Some(Collation(at as u16))
    }

    /// A collation by name, in any case (`utf8_` counts as `utf8mb3_`, `uca1400_` as `utf8mb4_uca1400_`); `None` for one that
    /// Narwal doesn't have.
    pub fn from_name(given: &str) -> Option<Self> {
        Self::of_charset(given, Charset::Utf8mb4)
    }

    /// The same, where `uca1400_` is one of this character set.
    pub fn of_charset(given: &str, charset: Charset) -> Option<Self> {
        match Self::place_by_name(given, charset) {
            Some(c) => Some(c),
            None => Self::of_mysql_name(given),
        }
    }

    /// The same, or why there is none: error 1253 for one of a family that other character sets have, 1273 for a name that nobody has.
    pub fn find(given: &str, charset: Charset) -> SqlResult<Self> {
        if let Some(c) = Self::of_charset(given, charset) {
            return Ok(c);
        }
        Err(match Self::from_name(given) {
            Some(_) => errors::COLLATION_CHARSET_MISMATCH.with([&given, &charset.name()]),
            None => errors::UNKNOWN_COLLATION.with([&given]),
        })
    }

    /// A collation by the name that it has under MariaDB's face.
    pub(super) fn of_own_name(name: &str) -> Option<Self> {
        Self::place_by_name(name, Charset::Utf8mb4)
    }

    /// A collation by id; that of one that only MySQL has leads to the one that stands for it.
    pub fn from_id(id: u16) -> Option<Self> {
        let own = Self::all().find(|c| c.info().id == id);
        own.or_else(|| Self::of_mysql_id(id))
    }
}

const fn plain(version: u8) -> Rule {
    Rule::Uca(Uca::new(version, "", &[0]))
}

/// Thai, with accents.
const THAI_520: Rule = Rule::Uca(Uca::new(3, "thai", &[0, 1]));

const fn language(name: &'static str) -> Rule {
    let version = match name.as_bytes() {
        b"myanmar" => 1,
        _ => 0,
    };
    Rule::Uca(Uca::new(version, name, &[0]))
}

macro_rules! table {
    ($name:literal) => {{
        // Built at the first use.
        fn weights() -> &'static CodeWeights {
            static WEIGHTS: OnceLock<CodeWeights> = OnceLock::new();
            WEIGHTS.get_or_init(|| code_weights($name))
        }
        Rule::Table(weights)
    }};
}

macro_rules! collations {
    ($($ident:ident $id:literal $name:literal $charset:ident $rule:expr, $pad:literal $sort:literal;)*) => {
        #[allow(non_upper_case_globals, missing_docs)]
        impl Collation {
            $(pub const $ident: Collation = Collation(place_of($id));)*
        }

        const OWN: &[Info] = &[$(Info {
            id: $id,
            name: $name,
            stored: stringify!($ident),
            charset: Charset::$charset,
            rule: $rule,
            pad: $pad,
            sort_length: $sort,
        },)*];
    };
}

#[rustfmt::skip]
collations! {
    // Its name here and in the catalog, id, name in SQL, character set, how it weighs, PAD SPACE, sort length.
    Big5ChineseCi 1 "big5_chinese_ci" Big5 table!("big5_chinese_ci"), true 1;
    Big5Bin 84 "big5_bin" Big5 table!("big5_bin"), true 1;
    Big5ChineseNopadCi 1025 "big5_chinese_nopad_ci" Big5 table!("big5_chinese_ci"), false 1;
    Big5NopadBin 1108 "big5_nopad_bin" Big5 table!("big5_bin"), false 1;
    Dec8SwedishCi 3 "dec8_swedish_ci" Dec8 table!("dec8_swedish_ci"), true 1;
    Dec8Bin 69 "dec8_bin" Dec8 table!("dec8_bin"), true 1;
    Dec8SwedishNopadCi 1027 "dec8_swedish_nopad_ci" Dec8 table!("dec8_swedish_ci"), false 1;
    Dec8NopadBin 1093 "dec8_nopad_bin" Dec8 table!("dec8_bin"), false 1;
    Cp850GeneralCi 4 "cp850_general_ci" Cp850 table!("cp850_general_ci"), true 1;
    Cp850Bin 80 "cp850_bin" Cp850 table!("cp850_bin"), true 1;
    Cp850GeneralNopadCi 1028 "cp850_general_nopad_ci" Cp850 table!("cp850_general_ci"), false 1;
    Cp850NopadBin 1104 "cp850_nopad_bin" Cp850 table!("cp850_bin"), false 1;
    Hp8EnglishCi 6 "hp8_english_ci" Hp8 table!("hp8_english_ci"), true 1;
    Hp8Bin 72 "hp8_bin" Hp8 table!("hp8_bin"), true 1;
    Hp8EnglishNopadCi 1030 "hp8_english_nopad_ci" Hp8 table!("hp8_english_ci"), false 1;
    Hp8NopadBin 1096 "hp8_nopad_bin" Hp8 table!("hp8_bin"), false 1;
    Koi8rGeneralCi 7 "koi8r_general_ci" Koi8r table!("koi8r_general_ci"), true 1;
    Koi8rBin 74 "koi8r_bin" Koi8r table!("koi8r_bin"), true 1;
    Koi8rGeneralNopadCi 1031 "koi8r_general_nopad_ci" Koi8r table!("koi8r_general_ci"), false 1;
    Koi8rNopadBin 1098 "koi8r_nopad_bin" Koi8r table!("koi8r_bin"), false 1;
    Latin1German1Ci 5 "latin1_german1_ci" Latin1 Rule::Latin1(&GERMAN1), true 1;
    Latin1SwedishCi 8 "latin1_swedish_ci" Latin1 Rule::Latin1(&SWEDISH), true 1;
    Latin1DanishCi 15 "latin1_danish_ci" Latin1 table!("latin1_danish_ci"), true 1;
    Latin1German2Ci 31 "latin1_german2_ci" Latin1 table!("latin1_german2_ci"), true 2;
    Latin1Bin 47 "latin1_bin" Latin1 Rule::Latin1(&IDENTITY), true 1;
    Latin1GeneralCi 48 "latin1_general_ci" Latin1 Rule::Latin1(&GENERAL_CI), true 1;
    Latin1GeneralCs 49 "latin1_general_cs" Latin1 Rule::Latin1(&GENERAL_CS), true 1;
    Latin1SpanishCi 94 "latin1_spanish_ci" Latin1 table!("latin1_spanish_ci"), true 1;
    Latin1SwedishNopadCi 1032 "latin1_swedish_nopad_ci" Latin1 Rule::Latin1(&SWEDISH), false 1;
    Latin1NopadBin 1071 "latin1_nopad_bin" Latin1 Rule::Latin1(&IDENTITY), false 1;
    Latin2CzechCs 2 "latin2_czech_cs" Latin2 Rule::Czech(Czech::Latin2), true 4;
    Latin2GeneralCi 9 "latin2_general_ci" Latin2 table!("latin2_general_ci"), true 1;
    Latin2HungarianCi 21 "latin2_hungarian_ci" Latin2 table!("latin2_hungarian_ci"), true 1;
    Latin2CroatianCi 27 "latin2_croatian_ci" Latin2 table!("latin2_croatian_ci"), true 1;
    Latin2Bin 77 "latin2_bin" Latin2 table!("latin2_bin"), true 1;
    Latin2GeneralNopadCi 1033 "latin2_general_nopad_ci" Latin2 table!("latin2_general_ci"), false 1;
    Latin2NopadBin 1101 "latin2_nopad_bin" Latin2 table!("latin2_bin"), false 1;
    Swe7SwedishCi 10 "swe7_swedish_ci" Swe7 table!("swe7_swedish_ci"), true 1;
    Swe7Bin 82 "swe7_bin" Swe7 table!("swe7_bin"), true 1;
    Swe7SwedishNopadCi 1034 "swe7_swedish_nopad_ci" Swe7 table!("swe7_swedish_ci"), false 1;
    Swe7NopadBin 1106 "swe7_nopad_bin" Swe7 table!("swe7_bin"), false 1;
    AsciiGeneralCi 11 "ascii_general_ci" Ascii Rule::Ascii, true 1;
    AsciiBin 65 "ascii_bin" Ascii Rule::Bytes, true 1;
    AsciiGeneralNopadCi 1035 "ascii_general_nopad_ci" Ascii Rule::Ascii, false 1;
    AsciiNopadBin 1089 "ascii_nopad_bin" Ascii Rule::Bytes, false 1;
    UjisJapaneseCi 12 "ujis_japanese_ci" Ujis table!("ujis_japanese_ci"), true 1;
    UjisBin 91 "ujis_bin" Ujis table!("ujis_bin"), true 1;
    UjisJapaneseNopadCi 1036 "ujis_japanese_nopad_ci" Ujis table!("ujis_japanese_ci"), false 1;
    UjisNopadBin 1115 "ujis_nopad_bin" Ujis table!("ujis_bin"), false 1;
    SjisJapaneseCi 13 "sjis_japanese_ci" Sjis table!("sjis_japanese_ci"), true 1;
    SjisBin 88 "sjis_bin" Sjis table!("sjis_bin"), true 1;
    SjisJapaneseNopadCi 1037 "sjis_japanese_nopad_ci" Sjis table!("sjis_japanese_ci"), false 1;
    SjisNopadBin 1112 "sjis_nopad_bin" Sjis table!("sjis_bin"), false 1;
    HebrewGeneralCi 16 "hebrew_general_ci" Hebrew table!("hebrew_general_ci"), true 1;
    HebrewBin 71 "hebrew_bin" Hebrew table!("hebrew_bin"), true 1;
    HebrewGeneralNopadCi 1040 "hebrew_general_nopad_ci" Hebrew table!("hebrew_general_ci"), false 1;
    HebrewNopadBin 1095 "hebrew_nopad_bin" Hebrew table!("hebrew_bin"), false 1;
    Tis620ThaiCi 18 "tis620_thai_ci" Tis620 Rule::Thai, true 4;
    Tis620Bin 89 "tis620_bin" Tis620 table!("tis620_bin"), true 1;
    Tis620ThaiNopadCi 1042 "tis620_thai_nopad_ci" Tis620 Rule::Thai, false 4;
    Tis620NopadBin 1113 "tis620_nopad_bin" Tis620 table!("tis620_bin"), false 1;
    EuckrKoreanCi 19 "euckr_korean_ci" Euckr table!("euckr_korean_ci"), true 1;
    EuckrBin 85 "euckr_bin" Euckr table!("euckr_bin"), true 1;
    EuckrKoreanNopadCi 1043 "euckr_korean_nopad_ci" Euckr table!("euckr_korean_ci"), false 1;
    EuckrNopadBin 1109 "euckr_nopad_bin" Euckr table!("euckr_bin"), false 1;
    Koi8uGeneralCi 22 "koi8u_general_ci" Koi8u table!("koi8u_general_ci"), true 1;
    Koi8uBin 75 "koi8u_bin" Koi8u table!("koi8u_bin"), true 1;
    Koi8uGeneralNopadCi 1046 "koi8u_general_nopad_ci" Koi8u table!("koi8u_general_ci"), false 1;
    Koi8uNopadBin 1099 "koi8u_nopad_bin" Koi8u table!("koi8u_bin"), false 1;
    Gb2312ChineseCi 24 "gb2312_chinese_ci" Gb2312 table!("gb2312_chinese_ci"), true 1;
    Gb2312Bin 86 "gb2312_bin" Gb2312 table!("gb2312_bin"), true 1;
    Gb2312ChineseNopadCi 1048 "gb2312_chinese_nopad_ci" Gb2312 table!("gb2312_chinese_ci"), false 1;
    Gb2312NopadBin 1110 "gb2312_nopad_bin" Gb2312 table!("gb2312_bin"), false 1;
    GreekGeneralCi 25 "greek_general_ci" Greek table!("greek_general_ci"), true 1;
    GreekBin 70 "greek_bin" Greek table!("greek_bin"), true 1;
    GreekGeneralNopadCi 1049 "greek_general_nopad_ci" Greek table!("greek_general_ci"), false 1;
    GreekNopadBin 1094 "greek_nopad_bin" Greek table!("greek_bin"), false 1;
    Cp1250GeneralCi 26 "cp1250_general_ci" Cp1250 table!("cp1250_general_ci"), true 1;
    Cp1250CzechCs 34 "cp1250_czech_cs" Cp1250 Rule::Czech(Czech::Cp1250), true 2;
    Cp1250CroatianCi 44 "cp1250_croatian_ci" Cp1250 table!("cp1250_croatian_ci"), true 1;
    Cp1250Bin 66 "cp1250_bin" Cp1250 table!("cp1250_bin"), true 1;
    Cp1250PolishCi 99 "cp1250_polish_ci" Cp1250 table!("cp1250_polish_ci"), true 1;
    Cp1250GeneralNopadCi 1050 "cp1250_general_nopad_ci" Cp1250 table!("cp1250_general_ci"), false 1;
    Cp1250NopadBin 1090 "cp1250_nopad_bin" Cp1250 table!("cp1250_bin"), false 1;
    GbkChineseCi 28 "gbk_chinese_ci" Gbk table!("gbk_chinese_ci"), true 1;
    GbkBin 87 "gbk_bin" Gbk table!("gbk_bin"), true 1;
    GbkChineseNopadCi 1052 "gbk_chinese_nopad_ci" Gbk table!("gbk_chinese_ci"), false 1;
    GbkNopadBin 1111 "gbk_nopad_bin" Gbk table!("gbk_bin"), false 1;
    Latin5TurkishCi 30 "latin5_turkish_ci" Latin5 table!("latin5_turkish_ci"), true 1;
    Latin5Bin 78 "latin5_bin" Latin5 table!("latin5_bin"), true 1;
    Latin5TurkishNopadCi 1054 "latin5_turkish_nopad_ci" Latin5 table!("latin5_turkish_ci"), false 1;
    Latin5NopadBin 1102 "latin5_nopad_bin" Latin5 table!("latin5_bin"), false 1;
    Armscii8GeneralCi 32 "armscii8_general_ci" Armscii8 table!("armscii8_general_ci"), true 1;
    Armscii8Bin 64 "armscii8_bin" Armscii8 table!("armscii8_bin"), true 1;
    Armscii8GeneralNopadCi 1056 "armscii8_general_nopad_ci" Armscii8 table!("armscii8_general_ci"), false 1;
    Armscii8NopadBin 1088 "armscii8_nopad_bin" Armscii8 table!("armscii8_bin"), false 1;
    Utf8mb3GeneralCi 33 "utf8mb3_general_ci" Utf8mb3 Rule::General, true 1;
    Utf8mb3Bin 83 "utf8mb3_bin" Utf8mb3 Rule::Bytes, true 1;
    Utf8mb3UnicodeCi 192 "utf8mb3_unicode_ci" Utf8mb3 plain(0), true 8;
    Utf8mb3IcelandicCi 193 "utf8mb3_icelandic_ci" Utf8mb3 language("icelandic"), true 8;
    Utf8mb3LatvianCi 194 "utf8mb3_latvian_ci" Utf8mb3 language("latvian"), true 8;
    Utf8mb3RomanianCi 195 "utf8mb3_romanian_ci" Utf8mb3 language("romanian"), true 8;
    Utf8mb3SlovenianCi 196 "utf8mb3_slovenian_ci" Utf8mb3 language("slovenian"), true 8;
    Utf8mb3PolishCi 197 "utf8mb3_polish_ci" Utf8mb3 language("polish"), true 8;
    Utf8mb3EstonianCi 198 "utf8mb3_estonian_ci" Utf8mb3 language("estonian"), true 8;
    Utf8mb3SpanishCi 199 "utf8mb3_spanish_ci" Utf8mb3 language("spanish"), true 8;
    Utf8mb3SwedishCi 200 "utf8mb3_swedish_ci" Utf8mb3 language("swedish"), true 8;
    Utf8mb3TurkishCi 201 "utf8mb3_turkish_ci" Utf8mb3 language("turkish"), true 8;
    Utf8mb3CzechCi 202 "utf8mb3_czech_ci" Utf8mb3 language("czech"), true 8;
    Utf8mb3DanishCi 203 "utf8mb3_danish_ci" Utf8mb3 language("danish"), true 8;
    Utf8mb3LithuanianCi 204 "utf8mb3_lithuanian_ci" Utf8mb3 language("lithuanian"), true 8;
    Utf8mb3SlovakCi 205 "utf8mb3_slovak_ci" Utf8mb3 language("slovak"), true 8;
    Utf8mb3Spanish2Ci 206 "utf8mb3_spanish2_ci" Utf8mb3 language("spanish2"), true 8;
    Utf8mb3RomanCi 207 "utf8mb3_roman_ci" Utf8mb3 language("roman"), true 8;
    Utf8mb3PersianCi 208 "utf8mb3_persian_ci" Utf8mb3 language("persian"), true 8;
    Utf8mb3EsperantoCi 209 "utf8mb3_esperanto_ci" Utf8mb3 language("esperanto"), true 8;
    Utf8mb3HungarianCi 210 "utf8mb3_hungarian_ci" Utf8mb3 language("hungarian"), true 8;
    Utf8mb3SinhalaCi 211 "utf8mb3_sinhala_ci" Utf8mb3 language("sinhala"), true 8;
    Utf8mb3German2Ci 212 "utf8mb3_german2_ci" Utf8mb3 language("german2"), true 8;
    Utf8mb3CroatianMysql561Ci 213 "utf8mb3_croatian_mysql561_ci" Utf8mb3 language("croatian_mysql561"), true 8;
    Utf8mb3Unicode520Ci 214 "utf8mb3_unicode_520_ci" Utf8mb3 plain(1), true 8;
    Utf8mb3VietnameseCi 215 "utf8mb3_vietnamese_ci" Utf8mb3 language("vietnamese"), true 8;
    Utf8mb3GeneralMysql500Ci 223 "utf8mb3_general_mysql500_ci" Utf8mb3 Rule::General500, true 1;
    Utf8mb3CroatianCi 576 "utf8mb3_croatian_ci" Utf8mb3 language("croatian"), true 8;
    Utf8mb3MyanmarCi 577 "utf8mb3_myanmar_ci" Utf8mb3 language("myanmar"), true 8;
    Utf8mb3Thai520W2 578 "utf8mb3_thai_520_w2" Utf8mb3 THAI_520, true 4;
    Utf8mb3GeneralNopadCi 1057 "utf8mb3_general_nopad_ci" Utf8mb3 Rule::General, false 1;
    Utf8mb3NopadBin 1107 "utf8mb3_nopad_bin" Utf8mb3 Rule::Bytes, false 1;
    Utf8mb3UnicodeNopadCi 1216 "utf8mb3_unicode_nopad_ci" Utf8mb3 plain(0), false 8;
    Utf8mb3Unicode520NopadCi 1238 "utf8mb3_unicode_520_nopad_ci" Utf8mb3 plain(1), false 8;
    Ucs2GeneralCi 35 "ucs2_general_ci" Ucs2 Rule::General, true 1;
    Ucs2Bin 90 "ucs2_bin" Ucs2 Rule::Bytes, true 1;
    Ucs2UnicodeCi 128 "ucs2_unicode_ci" Ucs2 plain(0), true 8;
    Ucs2IcelandicCi 129 "ucs2_icelandic_ci" Ucs2 language("icelandic"), true 8;
    Ucs2LatvianCi 130 "ucs2_latvian_ci" Ucs2 language("latvian"), true 8;
    Ucs2RomanianCi 131 "ucs2_romanian_ci" Ucs2 language("romanian"), true 8;
    Ucs2SlovenianCi 132 "ucs2_slovenian_ci" Ucs2 language("slovenian"), true 8;
    Ucs2PolishCi 133 "ucs2_polish_ci" Ucs2 language("polish"), true 8;
    Ucs2EstonianCi 134 "ucs2_estonian_ci" Ucs2 language("estonian"), true 8;
    Ucs2SpanishCi 135 "ucs2_spanish_ci" Ucs2 language("spanish"), true 8;
    Ucs2SwedishCi 136 "ucs2_swedish_ci" Ucs2 language("swedish"), true 8;
    Ucs2TurkishCi 137 "ucs2_turkish_ci" Ucs2 language("turkish"), true 8;
    Ucs2CzechCi 138 "ucs2_czech_ci" Ucs2 language("czech"), true 8;
    Ucs2DanishCi 139 "ucs2_danish_ci" Ucs2 language("danish"), true 8;
    Ucs2LithuanianCi 140 "ucs2_lithuanian_ci" Ucs2 language("lithuanian"), true 8;
    Ucs2SlovakCi 141 "ucs2_slovak_ci" Ucs2 language("slovak"), true 8;
    Ucs2Spanish2Ci 142 "ucs2_spanish2_ci" Ucs2 language("spanish2"), true 8;
    Ucs2RomanCi 143 "ucs2_roman_ci" Ucs2 language("roman"), true 8;
    Ucs2PersianCi 144 "ucs2_persian_ci" Ucs2 language("persian"), true 8;
    Ucs2EsperantoCi 145 "ucs2_esperanto_ci" Ucs2 language("esperanto"), true 8;
    Ucs2HungarianCi 146 "ucs2_hungarian_ci" Ucs2 language("hungarian"), true 8;
    Ucs2SinhalaCi 147 "ucs2_sinhala_ci" Ucs2 language("sinhala"), true 8;
    Ucs2German2Ci 148 "ucs2_german2_ci" Ucs2 language("german2"), true 8;
    Ucs2CroatianMysql561Ci 149 "ucs2_croatian_mysql561_ci" Ucs2 language("croatian_mysql561"), true 8;
    Ucs2Unicode520Ci 150 "ucs2_unicode_520_ci" Ucs2 plain(1), true 8;
    Ucs2VietnameseCi 151 "ucs2_vietnamese_ci" Ucs2 language("vietnamese"), true 8;
    Ucs2GeneralMysql500Ci 159 "ucs2_general_mysql500_ci" Ucs2 Rule::General500, true 1;
    Ucs2CroatianCi 640 "ucs2_croatian_ci" Ucs2 language("croatian"), true 8;
    Ucs2MyanmarCi 641 "ucs2_myanmar_ci" Ucs2 language("myanmar"), true 8;
    Ucs2Thai520W2 642 "ucs2_thai_520_w2" Ucs2 THAI_520, true 4;
    Ucs2GeneralNopadCi 1059 "ucs2_general_nopad_ci" Ucs2 Rule::General, false 1;
    Ucs2NopadBin 1114 "ucs2_nopad_bin" Ucs2 Rule::Bytes, false 1;
    Ucs2UnicodeNopadCi 1152 "ucs2_unicode_nopad_ci" Ucs2 plain(0), false 8;
    Ucs2Unicode520NopadCi 1174 "ucs2_unicode_520_nopad_ci" Ucs2 plain(1), false 8;
    Cp866GeneralCi 36 "cp866_general_ci" Cp866 table!("cp866_general_ci"), true 1;
    Cp866Bin 68 "cp866_bin" Cp866 table!("cp866_bin"), true 1;
    Cp866GeneralNopadCi 1060 "cp866_general_nopad_ci" Cp866 table!("cp866_general_ci"), false 1;
    Cp866NopadBin 1092 "cp866_nopad_bin" Cp866 table!("cp866_bin"), false 1;
    Keybcs2GeneralCi 37 "keybcs2_general_ci" Keybcs2 table!("keybcs2_general_ci"), true 1;
    Keybcs2Bin 73 "keybcs2_bin" Keybcs2 table!("keybcs2_bin"), true 1;
    Keybcs2GeneralNopadCi 1061 "keybcs2_general_nopad_ci" Keybcs2 table!("keybcs2_general_ci"), false 1;
    Keybcs2NopadBin 1097 "keybcs2_nopad_bin" Keybcs2 table!("keybcs2_bin"), false 1;
    MacceGeneralCi 38 "macce_general_ci" Macce table!("macce_general_ci"), true 1;
    MacceBin 43 "macce_bin" Macce table!("macce_bin"), true 1;
    MacceGeneralNopadCi 1062 "macce_general_nopad_ci" Macce table!("macce_general_ci"), false 1;
    MacceNopadBin 1067 "macce_nopad_bin" Macce table!("macce_bin"), false 1;
    MacromanGeneralCi 39 "macroman_general_ci" Macroman table!("macroman_general_ci"), true 1;
    MacromanBin 53 "macroman_bin" Macroman table!("macroman_bin"), true 1;
    MacromanGeneralNopadCi 1063 "macroman_general_nopad_ci" Macroman table!("macroman_general_ci"), false 1;
    MacromanNopadBin 1077 "macroman_nopad_bin" Macroman table!("macroman_bin"), false 1;
    Cp852GeneralCi 40 "cp852_general_ci" Cp852 table!("cp852_general_ci"), true 1;
    Cp852Bin 81 "cp852_bin" Cp852 table!("cp852_bin"), true 1;
    Cp852GeneralNopadCi 1064 "cp852_general_nopad_ci" Cp852 table!("cp852_general_ci"), false 1;
    Cp852NopadBin 1105 "cp852_nopad_bin" Cp852 table!("cp852_bin"), false 1;
    Latin7EstonianCs 20 "latin7_estonian_cs" Latin7 table!("latin7_estonian_cs"), true 1;
    Latin7GeneralCi 41 "latin7_general_ci" Latin7 table!("latin7_general_ci"), true 1;
    Latin7GeneralCs 42 "latin7_general_cs" Latin7 table!("latin7_general_cs"), true 1;
    Latin7Bin 79 "latin7_bin" Latin7 table!("latin7_bin"), true 1;
    Latin7GeneralNopadCi 1065 "latin7_general_nopad_ci" Latin7 table!("latin7_general_ci"), false 1;
    Latin7NopadBin 1103 "latin7_nopad_bin" Latin7 table!("latin7_bin"), false 1;
    Utf8mb4GeneralCi 45 "utf8mb4_general_ci" Utf8mb4 Rule::General, true 1;
    Utf8mb4Bin 46 "utf8mb4_bin" Utf8mb4 Rule::Bytes, true 1;
    Utf8mb4UnicodeCi 224 "utf8mb4_unicode_ci" Utf8mb4 plain(0), true 8;
    Utf8mb4IcelandicCi 225 "utf8mb4_icelandic_ci" Utf8mb4 language("icelandic"), true 8;
    Utf8mb4LatvianCi 226 "utf8mb4_latvian_ci" Utf8mb4 language("latvian"), true 8;
    Utf8mb4RomanianCi 227 "utf8mb4_romanian_ci" Utf8mb4 language("romanian"), true 8;
    Utf8mb4SlovenianCi 228 "utf8mb4_slovenian_ci" Utf8mb4 language("slovenian"), true 8;
    Utf8mb4PolishCi 229 "utf8mb4_polish_ci" Utf8mb4 language("polish"), true 8;
    Utf8mb4EstonianCi 230 "utf8mb4_estonian_ci" Utf8mb4 language("estonian"), true 8;
    Utf8mb4SpanishCi 231 "utf8mb4_spanish_ci" Utf8mb4 language("spanish"), true 8;
    Utf8mb4SwedishCi 232 "utf8mb4_swedish_ci" Utf8mb4 language("swedish"), true 8;
    Utf8mb4TurkishCi 233 "utf8mb4_turkish_ci" Utf8mb4 language("turkish"), true 8;
    Utf8mb4CzechCi 234 "utf8mb4_czech_ci" Utf8mb4 language("czech"), true 8;
    Utf8mb4DanishCi 235 "utf8mb4_danish_ci" Utf8mb4 language("danish"), true 8;
    Utf8mb4LithuanianCi 236 "utf8mb4_lithuanian_ci" Utf8mb4 language("lithuanian"), true 8;
    Utf8mb4SlovakCi 237 "utf8mb4_slovak_ci" Utf8mb4 language("slovak"), true 8;
    Utf8mb4Spanish2Ci 238 "utf8mb4_spanish2_ci" Utf8mb4 language("spanish2"), true 8;
    Utf8mb4RomanCi 239 "utf8mb4_roman_ci" Utf8mb4 language("roman"), true 8;
    Utf8mb4PersianCi 240 "utf8mb4_persian_ci" Utf8mb4 language("persian"), true 8;
    Utf8mb4EsperantoCi 241 "utf8mb4_esperanto_ci" Utf8mb4 language("esperanto"), true 8;
    Utf8mb4HungarianCi 242 "utf8mb4_hungarian_ci" Utf8mb4 language("hungarian"), true 8;
    Utf8mb4SinhalaCi 243 "utf8mb4_sinhala_ci" Utf8mb4 language("sinhala"), true 8;
    Utf8mb4German2Ci 244 "utf8mb4_german2_ci" Utf8mb4 language("german2"), true 8;
    Utf8mb4CroatianMysql561Ci 245 "utf8mb4_croatian_mysql561_ci" Utf8mb4 language("croatian_mysql561"), true 8;
    Utf8mb4Unicode520Ci 246 "utf8mb4_unicode_520_ci" Utf8mb4 plain(1), true 8;
    Utf8mb4VietnameseCi 247 "utf8mb4_vietnamese_ci" Utf8mb4 language("vietnamese"), true 8;
    Utf8mb4CroatianCi 608 "utf8mb4_croatian_ci" Utf8mb4 language("croatian"), true 8;
    Utf8mb4MyanmarCi 609 "utf8mb4_myanmar_ci" Utf8mb4 language("myanmar"), true 8;
    Utf8mb4Thai520W2 610 "utf8mb4_thai_520_w2" Utf8mb4 THAI_520, true 4;
    Utf8mb4GeneralNopadCi 1069 "utf8mb4_general_nopad_ci" Utf8mb4 Rule::General, false 1;
    Utf8mb4NopadBin 1070 "utf8mb4_nopad_bin" Utf8mb4 Rule::Bytes, false 1;
    Utf8mb4UnicodeNopadCi 1248 "utf8mb4_unicode_nopad_ci" Utf8mb4 plain(0), false 8;
    Utf8mb4Unicode520NopadCi 1270 "utf8mb4_unicode_520_nopad_ci" Utf8mb4 plain(1), false 8;
    Cp1251BulgarianCi 14 "cp1251_bulgarian_ci" Cp1251 table!("cp1251_bulgarian_ci"), true 1;
    Cp1251UkrainianCi 23 "cp1251_ukrainian_ci" Cp1251 table!("cp1251_ukrainian_ci"), true 1;
    Cp1251Bin 50 "cp1251_bin" Cp1251 table!("cp1251_bin"), true 1;
    Cp1251GeneralCi 51 "cp1251_general_ci" Cp1251 table!("cp1251_general_ci"), true 1;
    Cp1251GeneralCs 52 "cp1251_general_cs" Cp1251 table!("cp1251_general_cs"), true 1;
    Cp1251NopadBin 1074 "cp1251_nopad_bin" Cp1251 table!("cp1251_bin"), false 1;
    Cp1251GeneralNopadCi 1075 "cp1251_general_nopad_ci" Cp1251 table!("cp1251_general_ci"), false 1;
    Utf16GeneralCi 54 "utf16_general_ci" Utf16 Rule::General, true 1;
    Utf16Bin 55 "utf16_bin" Utf16 Rule::Bytes, true 1;
    Utf16UnicodeCi 101 "utf16_unicode_ci" Utf16 plain(0), true 8;
    Utf16IcelandicCi 102 "utf16_icelandic_ci" Utf16 language("icelandic"), true 8;
    Utf16LatvianCi 103 "utf16_latvian_ci" Utf16 language("latvian"), true 8;
    Utf16RomanianCi 104 "utf16_romanian_ci" Utf16 language("romanian"), true 8;
    Utf16SlovenianCi 105 "utf16_slovenian_ci" Utf16 language("slovenian"), true 8;
    Utf16PolishCi 106 "utf16_polish_ci" Utf16 language("polish"), true 8;
    Utf16EstonianCi 107 "utf16_estonian_ci" Utf16 language("estonian"), true 8;
    Utf16SpanishCi 108 "utf16_spanish_ci" Utf16 language("spanish"), true 8;
    Utf16SwedishCi 109 "utf16_swedish_ci" Utf16 language("swedish"), true 8;
    Utf16TurkishCi 110 "utf16_turkish_ci" Utf16 language("turkish"), true 8;
    Utf16CzechCi 111 "utf16_czech_ci" Utf16 language("czech"), true 8;
    Utf16DanishCi 112 "utf16_danish_ci" Utf16 language("danish"), true 8;
    Utf16LithuanianCi 113 "utf16_lithuanian_ci" Utf16 language("lithuanian"), true 8;
    Utf16SlovakCi 114 "utf16_slovak_ci" Utf16 language("slovak"), true 8;
    Utf16Spanish2Ci 115 "utf16_spanish2_ci" Utf16 language("spanish2"), true 8;
    Utf16RomanCi 116 "utf16_roman_ci" Utf16 language("roman"), true 8;
    Utf16PersianCi 117 "utf16_persian_ci" Utf16 language("persian"), true 8;
    Utf16EsperantoCi 118 "utf16_esperanto_ci" Utf16 language("esperanto"), true 8;
    Utf16HungarianCi 119 "utf16_hungarian_ci" Utf16 language("hungarian"), true 8;
    Utf16SinhalaCi 120 "utf16_sinhala_ci" Utf16 language("sinhala"), true 8;
    Utf16German2Ci 121 "utf16_german2_ci" Utf16 language("german2"), true 8;
    Utf16CroatianMysql561Ci 122 "utf16_croatian_mysql561_ci" Utf16 language("croatian_mysql561"), true 8;
    Utf16Unicode520Ci 123 "utf16_unicode_520_ci" Utf16 plain(1), true 8;
    Utf16VietnameseCi 124 "utf16_vietnamese_ci" Utf16 language("vietnamese"), true 8;
    Utf16CroatianCi 672 "utf16_croatian_ci" Utf16 language("croatian"), true 8;
    Utf16MyanmarCi 673 "utf16_myanmar_ci" Utf16 language("myanmar"), true 8;
    Utf16Thai520W2 674 "utf16_thai_520_w2" Utf16 THAI_520, true 4;
    Utf16GeneralNopadCi 1078 "utf16_general_nopad_ci" Utf16 Rule::General, false 1;
    Utf16NopadBin 1079 "utf16_nopad_bin" Utf16 Rule::Bytes, false 1;
    Utf16UnicodeNopadCi 1125 "utf16_unicode_nopad_ci" Utf16 plain(0), false 8;
    Utf16Unicode520NopadCi 1147 "utf16_unicode_520_nopad_ci" Utf16 plain(1), false 8;
    Utf16leGeneralCi 56 "utf16le_general_ci" Utf16le Rule::General, true 1;
    Utf16leBin 62 "utf16le_bin" Utf16le Rule::Bytes, true 1;
    Utf16leGeneralNopadCi 1080 "utf16le_general_nopad_ci" Utf16le Rule::General, false 1;
    Utf16leNopadBin 1086 "utf16le_nopad_bin" Utf16le Rule::Bytes, false 1;
    Cp1256GeneralCi 57 "cp1256_general_ci" Cp1256 table!("cp1256_general_ci"), true 1;
    Cp1256Bin 67 "cp1256_bin" Cp1256 table!("cp1256_bin"), true 1;
    Cp1256GeneralNopadCi 1081 "cp1256_general_nopad_ci" Cp1256 table!("cp1256_general_ci"), false 1;
    Cp1256NopadBin 1091 "cp1256_nopad_bin" Cp1256 table!("cp1256_bin"), false 1;
    Cp1257LithuanianCi 29 "cp1257_lithuanian_ci" Cp1257 table!("cp1257_lithuanian_ci"), true 1;
    Cp1257Bin 58 "cp1257_bin" Cp1257 table!("cp1257_bin"), true 1;
    Cp1257GeneralCi 59 "cp1257_general_ci" Cp1257 table!("cp1257_general_ci"), true 1;
    Cp1257NopadBin 1082 "cp1257_nopad_bin" Cp1257 table!("cp1257_bin"), false 1;
    Cp1257GeneralNopadCi 1083 "cp1257_general_nopad_ci" Cp1257 table!("cp1257_general_ci"), false 1;
    Utf32GeneralCi 60 "utf32_general_ci" Utf32 Rule::General, true 1;
    Utf32Bin 61 "utf32_bin" Utf32 Rule::Bytes, true 1;
    Utf32UnicodeCi 160 "utf32_unicode_ci" Utf32 plain(0), true 8;
    Utf32IcelandicCi 161 "utf32_icelandic_ci" Utf32 language("icelandic"), true 8;
    Utf32LatvianCi 162 "utf32_latvian_ci" Utf32 language("latvian"), true 8;
    Utf32RomanianCi 163 "utf32_romanian_ci" Utf32 language("romanian"), true 8;
    Utf32SlovenianCi 164 "utf32_slovenian_ci" Utf32 language("slovenian"), true 8;
    Utf32PolishCi 165 "utf32_polish_ci" Utf32 language("polish"), true 8;
    Utf32EstonianCi 166 "utf32_estonian_ci" Utf32 language("estonian"), true 8;
    Utf32SpanishCi 167 "utf32_spanish_ci" Utf32 language("spanish"), true 8;
    Utf32SwedishCi 168 "utf32_swedish_ci" Utf32 language("swedish"), true 8;
    Utf32TurkishCi 169 "utf32_turkish_ci" Utf32 language("turkish"), true 8;
    Utf32CzechCi 170 "utf32_czech_ci" Utf32 language("czech"), true 8;
    Utf32DanishCi 171 "utf32_danish_ci" Utf32 language("danish"), true 8;
    Utf32LithuanianCi 172 "utf32_lithuanian_ci" Utf32 language("lithuanian"), true 8;
    Utf32SlovakCi 173 "utf32_slovak_ci" Utf32 language("slovak"), true 8;
    Utf32Spanish2Ci 174 "utf32_spanish2_ci" Utf32 language("spanish2"), true 8;
    Utf32RomanCi 175 "utf32_roman_ci" Utf32 language("roman"), true 8;
    Utf32PersianCi 176 "utf32_persian_ci" Utf32 language("persian"), true 8;
    Utf32EsperantoCi 177 "utf32_esperanto_ci" Utf32 language("esperanto"), true 8;
    Utf32HungarianCi 178 "utf32_hungarian_ci" Utf32 language("hungarian"), true 8;
    Utf32SinhalaCi 179 "utf32_sinhala_ci" Utf32 language("sinhala"), true 8;
    Utf32German2Ci 180 "utf32_german2_ci" Utf32 language("german2"), true 8;
    Utf32CroatianMysql561Ci 181 "utf32_croatian_mysql561_ci" Utf32 language("croatian_mysql561"), true 8;
    Utf32Unicode520Ci 182 "utf32_unicode_520_ci" Utf32 plain(1), true 8;
    Utf32VietnameseCi 183 "utf32_vietnamese_ci" Utf32 language("vietnamese"), true 8;
    Utf32CroatianCi 736 "utf32_croatian_ci" Utf32 language("croatian"), true 8;
    Utf32MyanmarCi 737 "utf32_myanmar_ci" Utf32 language("myanmar"), true 8;
    Utf32Thai520W2 738 "utf32_thai_520_w2" Utf32 THAI_520, true 4;
    Utf32GeneralNopadCi 1084 "utf32_general_nopad_ci" Utf32 Rule::General, false 1;
    Utf32NopadBin 1085 "utf32_nopad_bin" Utf32 Rule::Bytes, false 1;
    Utf32UnicodeNopadCi 1184 "utf32_unicode_nopad_ci" Utf32 plain(0), false 8;
    Utf32Unicode520NopadCi 1206 "utf32_unicode_520_nopad_ci" Utf32 plain(1), false 8;
    Binary 63 "binary" Binary Rule::Bytes, false 1;
    Geostd8GeneralCi 92 "geostd8_general_ci" Geostd8 table!("geostd8_general_ci"), true 1;
    Geostd8Bin 93 "geostd8_bin" Geostd8 table!("geostd8_bin"), true 1;
    Geostd8GeneralNopadCi 1116 "geostd8_general_nopad_ci" Geostd8 table!("geostd8_general_ci"), false 1;
    Geostd8NopadBin 1117 "geostd8_nopad_bin" Geostd8 table!("geostd8_bin"), false 1;
    Cp932JapaneseCi 95 "cp932_japanese_ci" Cp932 table!("cp932_japanese_ci"), true 1;
    Cp932Bin 96 "cp932_bin" Cp932 table!("cp932_bin"), true 1;
    Cp932JapaneseNopadCi 1119 "cp932_japanese_nopad_ci" Cp932 table!("cp932_japanese_ci"), false 1;
    Cp932NopadBin 1120 "cp932_nopad_bin" Cp932 table!("cp932_bin"), false 1;
    EucjpmsJapaneseCi 97 "eucjpms_japanese_ci" Eucjpms table!("eucjpms_japanese_ci"), true 1;
    EucjpmsBin 98 "eucjpms_bin" Eucjpms table!("eucjpms_bin"), true 1;
    EucjpmsJapaneseNopadCi 1121 "eucjpms_japanese_nopad_ci" Eucjpms table!("eucjpms_japanese_ci"), false 1;
    EucjpmsNopadBin 1122 "eucjpms_nopad_bin" Eucjpms table!("eucjpms_bin"), false 1;
}
