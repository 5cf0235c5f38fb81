//! Functions of internet addresses.

use super::{Call, ExprType, Function, Typing, Val, bool, bytes};
use crate::expr::eval::with_text;
use narwal_types::{SqlResult, Value, ValueRef};
use std::net::{Ipv4Addr, Ipv6Addr};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "inet_aton",
        (1, 1),
        |_| Ok(ExprType::bigint(true, true)),
        inet_aton,
    ),
    Function::new(
        "inet_ntoa",
        (1, 1),
        |_| Ok(ExprType::text(31, true)),
        inet_ntoa,
    ),
    Function::new("inet6_aton", (1, 1), |_| Ok(bytes(16, true)), inet6_aton),
    Function::new(
        "inet6_ntoa",
        (1, 1),
        |_| Ok(ExprType::text(39, true)),
        inet6_ntoa,
    ),
    Function::new("is_ipv4", (1, 1), predicate, |c| {
        Ok(Val::int(ipv4(&text(c)).is_some() as i64))
    })
    .takes_null(),
    Function::new("is_ipv6", (1, 1), predicate, |c| {
        Ok(Val::int(is_ipv6(&text(c)).is_some() as i64))
    })
    .takes_null(),
    Function::new("is_ipv4_compat", (1, 1), bool, |c| {
        let compat = |b: &[u8]| b[..12].iter().all(|x| *x == 0) && b[12..] > [0, 0, 0, 1][..];
        Ok(Val::int(six_bytes(c, compat) as i64))
    })
    .takes_null(),
    Function::new("is_ipv4_mapped", (1, 1), bool, |c| {
        let mapped = |b: &[u8]| b[..10].iter().all(|x| *x == 0) && b[10..12] == [255, 255];
        Ok(Val::int(six_bytes(c, mapped) as i64))
    })
    .takes_null(),
];

fn predicate(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::int(false))
}

fn text(c: &Call<'_, '_>) -> String {
    match c.v(0) {
        ValueRef::Null => String::new(),
        v => v.to_text(),
    }
}

/// Rust's parser is MariaDB's, but for zones, which neither takes, and groups of IPv4 at the end, which both take.
fn is_ipv6(s: &str) -> Option<Ipv6Addr> {
    s.parse().ok()
}

fn six_bytes(c: &Call<'_, '_>, test: impl Fn(&[u8]) -> bool) -> bool {
    !c.v(0).is_null() && with_text(c.v(0), |b| c.is_bytes(0) && b.len() == 16 && test(b))
}

/// Four numbers of up to three digits; leading zeros are decimal too.
fn ipv4(s: &str) -> Option<Ipv4Addr> {
    let mut out = [0; 4];
    let mut parts = s.split('.');
    for b in &mut out {
        let p = parts.next()?;
        if !(1..=3).contains(&p.len()) || !p.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        *b = p.parse().ok()?;
    }
    parts.next().is_none().then_some(Ipv4Addr::from(out))
}

/// Numbers with points between: of fewer than four the last one is the lowest byte, an empty one is 0.
fn inet_aton<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let t = c.text(0);
    let mut value = 0u64;
    let count = t.split('.').count();
    for (i, p) in t.split('.').enumerate() {
        let n = if p.is_empty() && i + 1 < count {
            0
        } else {
            match p.parse::<u64>() {
                Ok(n) if n <= 255 && p.bytes().all(|b| b.is_ascii_digit()) => n,
                _ => return Ok(Val::NULL),
            }
        };
        if i + 1 == count && (2..=3).contains(&count) {
            value <<= 8 * (4 - count as u32);
        }
        value = value << 8 | n;
    }
    Ok(Val::Ref(ValueRef::UInt(value)))
}

fn inet_ntoa<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    Ok(match u32::try_from(c.bits(0)) {
        Ok(n) => Val::text(Ipv4Addr::from(n).to_string()),
        Err(_) => Val::NULL,
    })
}

fn inet6_aton<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let t = c.text(0);
    Ok(if let Some(a) = ipv4(&t) {
        Val::Owned(Value::bytes(a.octets().to_vec()))
    } else if let Some(a) = is_ipv6(&t) {
        Val::Owned(Value::bytes(a.octets().to_vec()))
    } else {
        Val::NULL
    })
}

fn inet6_ntoa<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if !c.is_bytes(0) {
        return Ok(Val::NULL);
    }
    Ok(with_text(c.v(0), |b| match b.len() {
        4 => Val::text(Ipv4Addr::new(b[0], b[1], b[2], b[3]).to_string()),
        16 => {
            let mut a = [0u8; 16];
            a.copy_from_slice(b);
            Val::text(ipv6_text(Ipv6Addr::from(a)))
        }
        _ => Val::NULL,
    }))
}

/// The longest run of zeros is `::`, be it a single one; an address that holds an IPv4 one shows it.
fn ipv6_text(a: Ipv6Addr) -> String {
    let s = a.segments();
    let v4 = || Ipv4Addr::new((s[6] >> 8) as u8, s[6] as u8, (s[7] >> 8) as u8, s[7] as u8);
    if s[..6].iter().all(|x| *x == 0) && s[6] != 0 {
        return format!("::{}", v4());
    }
    if s[..5] == [0; 5] && s[5] == 0xffff {
        return format!("::ffff:{}", v4());
    }
    let run = |i: usize| s[i..].iter().take_while(|x| **x == 0).count();
    let longest = (0..8).rev().max_by_key(|i| run(*i)).filter(|i| run(*i) > 0);
    let hex = |part: &[u16]| {
        let words: Vec<String> = part.iter().map(|x| format!("{x:x}")).collect();
        words.join(":")
    };
    match longest {
        Some(i) => format!("{}::{}", hex(&s[..i]), hex(&s[i + run(i)..])),
        None => hex(&s),
    }
}
