//! Formats, sets, and other forms of strings.

use super::soundex::soundex;
use super::typing::{bytes, int, kind};
use crate::expr::node::{Call, ExprKind, ExprType, Function, Operands, Typing};
use crate::expr::types::Class;
use crate::expr::value::Val;
use crate::expr::value::Warn;
use narwal_types::charset::Charset;
use narwal_types::collation::shown::Levels;
use narwal_types::convert::{NoWarnings, to_decimal, to_i64};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{Collation, SqlResult, ValueRef};
use narwal_types::{TypeKind, Value};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "export_set",
        "bits, on, off[, separator[, n]]",
        "A text for each bit, from the lowest one.",
        export_set_type,
        export_set,
    ).takes_texts(),
    &Function::new(
        "format",
        "n, digits[, locale]",
        "The number with separators of thousands, as a locale writes it.",
        format_type,
        format,
    )
    .takes_null(),
    &Function::new("lengthb", "text", "The length in bytes.", int, |c| {
        Ok(Val::int(c.byte_length(0)))
    }).takes_texts(),
    &Function::new(
        "load_file",
        "path",
        "What a file of the server's host holds; NULL if it can't be read, or the account may not use files.",
        |_| Ok(bytes(1 << 24, true)),
        load_file,
    )
    .volatile()
    .never_defined(),
    &Function::new(
        "make_set",
        "bits, text, ...",
        "The texts whose bits are 1, with commas between them.",
        make_set_type,
        make_set,
    ).takes_texts()
    .takes_null(),
    &Function::new(
        "natural_sort_key",
        "text",
        "A text that sorts numbers inside of texts by their values.",
        natural_type,
        natural_sort_key,
    ).takes_texts(),
    &Function::new(
        "sformat",
        "format[, value, ...]",
        "The format with {} replaced by values.",
        |t| t.string_of_all(1 << 24, t.nullable()),
        super::sformat::sformat,
    ),
    &Function::new(
        "soundex",
        "text",
        "How the text sounds in English: a letter and digits.",
        soundex_type,
        |c| c.string(soundex(&letters(c)).into_bytes()),
    ).takes_texts(),
    &Function::new(
        "substr_oracle",
        "text, from[, length]",
        "SUBSTR in Oracle's way: position 0 is 1.",
        |t| {
            let chars = match t.literal_int(2) {
                Some(n) => t.chars(0).min(n.max(0) as u64),
                None => t.chars(0),
            };
            t.string_of_first(chars, true)
        },
        substr_oracle,
    ).takes_texts(),
    &Function::new(
        "to_char",
        "moment[, format]",
        "The moment in a format of Oracle's.",
        to_char_type,
        super::to_char::to_char,
    ).no_fixed_first(),
    &Function::new(
        "weight_string",
        "text",
        "The bytes that a collation compares the text by.",
        weight_type,
        weight_string,
    ),
    &Function::new(
        " weight_string",
        "text, kind, n",
        "WEIGHT_STRING(text AS CHAR(n)), or AS BINARY(n).",
        weight_type,
        weight_string,
    ),
    &Function::new(
        " weight_padded",
        "text, length, weights, flags",
        "So many bytes of a WEIGHT_STRING() of so many characters. Flag 64: with spaces up to so many characters, 128: up to so many bytes.",
        padded_weight_type,
        weight_padded,
    ),
    &Function::of_operands(
        " weight_levels",
        "weights, flags",
        "Levels of a WEIGHT_STRING().",
        |t| Ok(t.arg(0)),
        weight_levels,
    ),
];

fn load_file<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let env = c.ctx.env;
    let who = (&*env.current_user, env.current_role.as_deref());
    let most = env.max_allowed_packet;
    let found = env.variables.load_file(&c.text(0), who, most)?;
    Ok(found.map_or(Val::NULL, |b| Val::Owned(Value::Bytes(b.into()))))
}

/// The text that has a sound; of bytes only those that are letters of ASCII.
fn letters(c: &Call<'_, '_>) -> String {
    match c.v(0) {
        ValueRef::Bytes(b) => b
            .iter()
            .filter(|b| b.is_ascii())
            .map(|b| char::from(*b))
            .collect(),
        _ => c.text(0),
    }
}

fn soundex_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    t.string_of(0..1, t.chars(0).max(4), t.nullable())
}

fn export_set_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let each = t.chars(1).max(t.chars(2));
    let sep = if t.args.len() > 3 { t.chars(3) } else { 1 };
    t.string_of(1..4, each * 64 + sep * 63, t.nullable())
}

fn export_set<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let bits = c.bits(0);
    let mut n = if c.args.len() > 4 { c.int(4) } else { 64 };
    if !(0..=64).contains(&n) {
        n = 64;
    }
    let mut out = Vec::new();
    for i in 0..n {
        if i > 0 {
            match c.args.get(3) {
                Some(s) => s.as_ref().write_text(&mut out),
                None => out.push(b','),
            }
        }
        c.v(if bits >> i & 1 == 1 { 1 } else { 2 })
            .write_text(&mut out);
        // So each step makes one argument more, at most.
        if !c.may_be(out.len() as u64)? {
            return Ok(Val::NULL);
        }
    }
    c.string(out)
}

fn make_set_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let n = t.args.len();
    let chars = (1..n).map(|i| t.chars(i)).sum::<u64>() + n as u64 - 2;
    t.string_of(1..n, chars, t.nullable())
}

fn make_set<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::NULL);
    }
    let bits = c.bits(0);
    let mut out = Vec::new();
    let mut first = true;
    for i in (1..c.args.len().min(65)).filter(|i| bits >> (i - 1) & 1 == 1) {
        if c.v(i).is_null() {
            continue;
        }
        if !first {
            out.push(b',');
        }
        first = false;
        c.v(i).write_text(&mut out);
        if !c.may_be(out.len() as u64)? {
            return Ok(Val::NULL);
        }
    }
    c.string(out)
}

fn format_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    // The sign, a separator for each three digits, the point and the digits behind it.
    let places = t.literal_int(1).unwrap_or(38).clamp(0, 38) as u64;
    let n = shown_digits(&t.arg(0), places).max(1);
    Ok(ExprType::text(
        n + n / 3 + places + (places > 0) as u64 + 1,
        t.nullable(),
    ))
}

/// Most digits before the point that a number has when it is rounded to so many places.
fn shown_digits(ty: &ExprType, places: u64) -> u64 {
    // As many as the largest double has.
    const OF_DOUBLE: u64 = 309;
    const OF_FLOAT: u64 = 39;
    let digits = match ty.ty.kind {
        TypeKind::Bit(bits) => (u64::MAX >> (64 - u32::from(bits.clamp(1, 64)))).ilog10() + 1,
        _ => ExprType::of_column(ty.ty, true).int_digits(),
    };
    let digits = u64::from(digits);
    match ty.class() {
        _ if ty.null => OF_DOUBLE,
        Class::Double if ty.ty.kind == TypeKind::Float => OF_FLOAT + 1,
        Class::Double => OF_DOUBLE + 1,
        // Rounding may carry into one more.
        Class::Decimal => digits + u64::from(places < u64::from(ty.ty.scale().unwrap_or(0))),
        Class::Int => digits,
    }
}

/// Separator of thousands (if any), decimal point, and whether groups behind the first have two digits, in a locale; `None`
/// if it is unknown.
fn number_style(locale: &str) -> Option<(Option<char>, char, bool)> {
    const COMMA: &str = "ar_ae ar_bh ar_dz ar_eg ar_in ar_iq ar_jo ar_kw ar_lb ar_ly ar_ma ar_om ar_qa ar_sd ar_sy ar_tn \
        ar_ye en_au en_ca en_gb en_nz en_ph en_us en_za en_zw es_do es_gt es_hn es_mx es_ni es_pa es_pe es_pr es_sv es_us \
        gu_in he_il hi_in ja_jp ko_kr ms_my th_th ur_pk zh_cn zh_hk zh_tw";
    const POINT: &str = "be_by da_dk de_be de_de de_lu es_ar es_bo es_cl es_co es_ec es_es es_py es_uy es_ve fo_fo hu_hu \
        id_id is_is lt_lt mn_mn nb_no no_no ro_ro ru_ua sq_al tr_tr uk_ua vi_vn";
    const NONE_COMMA: &str = "ca_es de_at el_gr eu_es fr_be fr_ca fr_ch fr_fr fr_lu gl_es hr_hr it_it nl_be nl_nl pl_pl \
        pt_br pt_pt sl_si";
    const SPACE: &str = "cs_cz es_cr et_ee fi_fi ka_ge lv_lv mk_mk ru_ru sk_sk sv_fi sv_se";
    let name = locale.to_ascii_lowercase();
    let styles = [
        (COMMA, (Some(','), '.', false)),
        (POINT, (Some('.'), ',', false)),
        (NONE_COMMA, (None, ',', false)),
        (SPACE, (Some(' '), ',', false)),
        ("ar_sa sr_rs", (None, '.', false)),
        ("bg_bg", (Some('\0'), ',', false)),
        ("de_ch", (Some('\''), '.', false)),
        ("it_ch rm_ch", (Some('\''), ',', false)),
        ("en_in ta_in te_in", (Some(','), '.', true)),
    ];
    styles
        .into_iter()
        .find(|(names, _)| names.split_whitespace().any(|n| n == name))
        .map(|(_, style)| style)
}

fn format<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() || c.v(1).is_null() {
        return Ok(Val::NULL);
    }
    let env = c.ctx.env;
    let style = if c.args.len() > 2 {
        let locale = c.text(2);
        number_style(&locale).or_else(|| {
            if c.v(2).is_null() {
                env.warn(codes::UNKNOWN_LOCALE, "Unknown locale: 'NULL'");
            } else {
                env.warn(codes::UNKNOWN_LOCALE, format!("Unknown locale: '{locale}'"));
            }
            None
        })
    } else {
        None
    };
    let (group, point, indian) = style.unwrap_or((Some(','), '.', false));
    let digits = c.int(1).clamp(0, 38);
    let real = matches!(
        c.v(0),
        ValueRef::Double(_) | ValueRef::Float(_) | ValueRef::Str(_) | ValueRef::Bytes(_)
    );
    let s = if real {
        let f = super::number::round_real(c.f64(0), digits, false);
        let shortest = f.to_string();
        match shortest.split_once('.') {
            Some((_, frac)) if frac.len() > digits as usize => {
                format!("{f:.*}", digits as usize)
            }
            // Of a double only the digits are shown that it takes to tell it from others.
            _ => shortest,
        }
    } else {
        let d = to_decimal(c.number(0), &mut Warn(env)).round(digits as u8);
        d.to_string()
    };
    let (sign, s) = match s.strip_prefix('-') {
        Some(r) => ("-", r),
        None => ("", s.as_str()),
    };
    let (whole, frac) = match s.split_once('.') {
        Some((i, f)) => (i, f),
        None => (s, ""),
    };
    let mut out = String::from(sign);
    for (i, ch) in whole.chars().enumerate() {
        let left = whole.len() - i;
        let at_group = if indian {
            left == 3 || left > 3 && (left - 3).is_multiple_of(2)
        } else {
            left.is_multiple_of(3)
        };
        if let Some(g) = group
            && i > 0
            && at_group
        {
            out.push(g);
        }
        out.push(ch);
    }
    if digits > 0 {
        out.push(point);
        out.push_str(frac);
        for _ in frac.len()..digits as usize {
            out.push('0');
        }
    }
    Ok(Val::text(out))
}

fn natural_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    t.string_of(0..1, (t.chars(0) * 3).div_ceil(2), t.nullable())
}

/// A key that sorts digits inside of text by their value: each number is preceded by its length.
fn natural_sort_key<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.bytes(0);
    let mut out = Vec::with_capacity(text.len() + 8);
    for run in text.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        if !run[0].is_ascii_digit() {
            out.extend_from_slice(run);
            continue;
        }
        let zeros = run.iter().take_while(|b| **b == b'0').count();
        // Of a number that is 0 one digit stays.
        let digits = &run[zeros.min(run.len() - 1)..];
        push_length(&mut out, digits.len() - 1);
        out.extend_from_slice(digits);
    }
    c.string(out)
}

/// A length as digits that sort right: one digit, one behind one 9, one behind two; behind three the number with its own
/// length in front.
fn push_length(out: &mut Vec<u8>, n: usize) {
    let (nines, rest) = match n {
        ..27 => (n / 9, (n % 9).to_string()),
        _ => (3, format!("{:02}{n}", n.ilog10())),
    };
    out.extend_from_slice(&b"999"[..nines]);
    out.extend_from_slice(rest.as_bytes());
}

/// SUBSTR in Oracle's way: position 0 is 1.
fn substr_oracle<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let n = c.length(0) as i64;
    let start = match c.int(1) {
        0 => 0,
        p if p > 0 => p - 1,
        p if p < -n => return Ok(Val::NULL),
        p => n + p,
    };
    let len = if c.args.len() > 2 { c.int(2) } else { n };
    if len < 1 || start >= n {
        return Ok(Val::NULL);
    }
    c.slice(0, start as usize, start.saturating_add(len) as usize)
}

fn to_char_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let of = t.arg(0);
    let is_date = of.ty.is_temporal();
    let is_large = matches!(of.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    if !is_date && (!of.ty.is_string() || of.null || is_large) {
        return Err(errors::STD_INVALID_ARGUMENT.text("Invalid argument error: data type of first argument must be type date/datetime/time or string in function to_char."));
    }
    let n = match t.args.get(1).map(|a| &a.kind) {
        Some(ExprKind::Literal(Value::Str(f))) => super::to_char::width(f)?,
        // An element's name may be longer than the element.
        Some(_) => t.bytes(1) * 10,
        None => super::to_char::width(super::to_char::USUAL_FORMAT)?,
    };
    Ok(ExprType::text(n, true))
}

fn weight_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let most = match t.literal_int(1) {
        Some(1) => t.literal_int(2).unwrap_or(0).max(0) as u64,
        _ => weight_bytes(t, t.literal_int(2)),
    };
    // They are meant as strongly as the text.
    Ok(ExprType {
        coercibility: t.arg(0).coercibility,
        ..bytes(most, true)
    })
}

/// The most bytes of the weights of a text, or of `n` of its characters.
fn weight_bytes(t: &Typing<'_>, n: Option<i64>) -> u64 {
    let collation = t.arg(0).ty.collation;
    let set = collation.charset();
    let chars = match n {
        Some(n) => n.max(0) as u64,
        None => t.chars(0),
    };
    // By the Unicode algorithm a character has up to eight weights of two bytes, on each level.
    let name = collation.name();
    let levels = match name.rsplit_once("uca1400_") {
        Some((_, rest)) if rest.ends_with("as_cs") => 3,
        Some((_, rest)) if rest.ends_with("ai_ci") => 1,
        Some(_) => 2,
        None => 1,
    };
    let each = match name {
        "latin2_czech_cs" => return (t.chars(0) + 1).saturating_mul(4),
        "cp1250_czech_cs" => return t.chars(0).saturating_mul(2),
        "latin1_german2_ci" => 2,
        name if name.starts_with("tis620_thai") => 4,
        // Those of the BMP have codes of two bytes, others of three.
        name if set.is_unicode() && name.ends_with("bin") => match set {
            Charset::Ucs2 | Charset::Utf8mb3 => 2,
            _ => 3,
        },
        name if set.is_unicode() && name.contains("_general") => 2,
        _ if set.is_unicode() => 16 * levels * if n.is_some() { levels } else { 1 },
        _ => set.max_width() as u64,
    };
    chars.saturating_mul(each)
}

fn padded_weight_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let n = match t.literal_int(1) {
        Some(n) if n > 0 => n as u64,
        _ => weight_bytes(t, t.literal_int(2).filter(|n| *n > 0)),
    };
    Ok(bytes(n, true))
}

/// WEIGHT_STRING(s), and with hidden arguments WEIGHT_STRING(s AS CHAR(n)) (0, n) and AS BINARY(n) (1, n).
fn weight_string<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let ty = match &c.expr.kind {
        ExprKind::Func { args, .. } => args[0].ty,
        _ => kind(TypeKind::Int),
    };
    if c.args.len() == 1 && !ty.ty.is_string() {
        return Ok(Val::NULL);
    }
    let mut text = Vec::new();
    c.v(0).write_text(&mut text);
    let n = if c.args.len() > 1 {
        c.int(2).max(0) as u64
    } else {
        0
    };
    if !c.may_be(n)? {
        return Ok(Val::NULL);
    }
    let cut = (c.args.len() > 1).then(|| (n as usize, c.int(1) == 1));
    let weights = weighed(text, ty.ty.collation, cut, Levels::ALL)?;
    if !c.may_be(weights.len() as u64)? {
        return Ok(Val::NULL);
    }
    Ok(Val::Owned(Value::bytes(weights)))
}

/// The weights of a text. `cut`: as of so many characters, or (with true) bytes.
fn weighed(
    mut text: Vec<u8>,
    collation: Collation,
    cut: Option<(usize, bool)>,
    levels: Levels,
) -> SqlResult<Vec<u8>> {
    let as_binary = cut.is_some_and(|c| c.1);
    let collation = if as_binary {
        Collation::Binary
    } else {
        collation
    };
    let mut weights = None;
    // Czech weights are always those of the whole text.
    if let Some((n, _)) = cut
        && !collation.name().ends_with("_czech_cs")
    {
        if collation == Collation::Binary {
            text.resize(n, 0);
        } else {
            weights = Some(n);
        }
    }
    // Most have two bytes of weight for a character, the Unicode ones more.
    let filled = weights.unwrap_or(0).max(text.len());
    narwal_memory::reserve(8 * filled as u64)?;
    Ok(match collation.weight_string(&text, weights, levels) {
        Some(weights) => weights,
        None => levels.of(vec![text]),
    })
}

/// WEIGHT_STRING(s, length, weights, flags), which MariaDB has for its own tests.
fn weight_padded<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    const SPACES: i64 = 64;
    const WHOLE: i64 = 128;
    let ty = match &c.expr.kind {
        ExprKind::Func { args, .. } => args[0].ty,
        _ => kind(TypeKind::Int),
    };
    if !ty.ty.is_string() {
        return Ok(Val::NULL);
    }
    let collation = ty.ty.collation;
    let mut text = Vec::new();
    c.v(0).write_text(&mut text);
    let (length, wanted, flags) = (c.int(1).max(0) as u64, c.int(2).max(0) as u64, c.int(3));
    if !c.may_be(length)? || !c.may_be(wanted)? {
        return Ok(Val::NULL);
    }
    let (length, wanted) = (length as usize, wanted as usize);
    let mut limit = None;
    if wanted > 0 && !collation.name().ends_with("_czech_cs") {
        // Without the flag nothing is filled up.
        limit = (flags & SPACES != 0).then_some(wanted);
        let end = match collation {
            Collation::Binary => wanted.min(text.len()),
            _ if limit.is_some() => text.len(),
            _ => narwal_types::collation::char_prefix(&text, wanted).len(),
        };
        text.truncate(end);
    }
    narwal_memory::reserve(8 * text.len() as u64)?;
    let levels = levels_of(flags);
    // The first level alone is what a call without levels has: that means all weights.
    let plain = levels.wanted <= 1 && levels.turned | levels.backwards == 0;
    let levels = if plain { Levels::ALL } else { levels };
    let weights = collation.weight_string(&text, limit, levels);
    let mut weights = weights.unwrap_or(text);
    if length > 0 {
        if flags & WHOLE != 0 {
            let filling = collation.weight_filling();
            let missing = length.saturating_sub(weights.len());
            weights.extend(filling.iter().cycle().take(missing));
        }
        weights.truncate(length);
    }
    Ok(Val::Owned(Value::bytes(weights)))
}

/// What a number says of levels: a bit for each, and further ones for those that are descending and reversed.
fn levels_of(flags: i64) -> Levels {
    const LEVELS: u32 = 0x3f;
    Levels {
        wanted: flags as u32 & LEVELS,
        turned: (flags >> 8) as u32 & LEVELS,
        backwards: (flags >> 16) as u32 & LEVELS,
    }
}

/// WEIGHT_STRING(... LEVEL ...): some levels of the weights. `flags`: see the binder.
fn weight_levels<'a>(o: &Operands<'a, '_>) -> SqlResult<Val<'a>> {
    let flags = to_i64(o.args[1].eval_ref(o.ctx, o.row)?.as_ref(), &mut NoWarnings);
    let levels = levels_of(flags);
    let ExprKind::Func { args, .. } = &o.args[0].kind else {
        return Ok(Val::NULL);
    };
    let ty = args[0].ty.ty;
    let value = args[0].eval(o.ctx, o.row)?;
    if matches!(value, Value::Null) || args.len() == 1 && !ty.is_string() {
        return Ok(Val::NULL);
    }
    let mut text = Vec::new();
    value.as_ref().write_text(&mut text);
    let number = |i: usize| -> SqlResult<i64> {
        let v = args[i].eval_ref(o.ctx, o.row)?;
        Ok(to_i64(v.as_ref(), &mut NoWarnings))
    };
    let cut = match args.len() {
        3.. => Some((number(2)?.max(0) as usize, number(1)? == 1)),
        _ => None,
    };
    if cut.is_some_and(|(n, _)| n as u64 > o.ctx.env.max_allowed_packet) {
        // NULL, with its warning.
        return o.args[0].eval(o.ctx, o.row).map(Val::Owned);
    }
    Ok(Val::Owned(Value::bytes(weighed(
        text,
        ty.collation,
        cut,
        levels,
    )?)))
}
