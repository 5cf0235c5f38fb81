//! Functions of internet addresses.

use super::typing::{bytes, int, int_not_null};
use crate::expr::node::{Call, ExprType, Function};
use crate::expr::value::Val;
use crate::expr::value::with_text;
use narwal_types::Value;
use narwal_types::fixed::{ipv4, ipv6, ipv6_text};
use narwal_types::{SqlResult, ValueRef};
use std::net::{Ipv4Addr, Ipv6Addr};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "inet_aton",
        "text",
        "An IPv4 address as a number.",
        |_| Ok(ExprType::bigint(true, true)),
        inet_aton,
    ),
    &Function::new(
        "inet_ntoa",
        "n",
        "The IPv4 address of a number.",
        |_| Ok(ExprType::text(31, true)),
        inet_ntoa,
    ),
    &Function::new(
        "inet6_aton",
        "text",
        "An IPv4 or IPv6 address as bytes.",
        |_| Ok(bytes(16, true)),
        inet6_aton,
    ),
    &Function::new(
        "inet6_ntoa",
        "bytes",
        "The IPv4 or IPv6 address of bytes.",
        |_| Ok(ExprType::text(39, true)),
        inet6_ntoa,
    ),
    &Function::new(
        "is_ipv4",
        "text",
        "Whether it is an IPv4 address.",
        int,
        |c| Ok(Val::int(ipv4(&text(c)).is_some().into())),
    )
    .takes_null()
    .predicate(),
    &Function::new(
        "is_ipv4_compat",
        "bytes",
        "Whether it is an IPv6 address that stands for an IPv4 address.",
        int,
        |c| {
            let compat = |b: &[u8]| b[..12].iter().all(|x| *x == 0) && b[12..] > [0, 0, 0, 1][..];
            Ok(Val::int(six_bytes(c, compat).into()))
        },
    )
    .takes_null()
    .predicate(),
    &Function::new(
        "is_ipv4_mapped",
        "bytes",
        "Whether it is an IPv4 address mapped into IPv6.",
        int,
        |c| {
            let mapped = |b: &[u8]| b[..10].iter().all(|x| *x == 0) && b[10..12] == [255, 255];
            Ok(Val::int(six_bytes(c, mapped).into()))
        },
    )
    .takes_null()
    .predicate(),
    &Function::new(
        "is_ipv6",
        "text",
        "Whether it is an IPv6 address.",
        int_not_null,
        |c| Ok(Val::int(ipv6(&text(c)).is_some().into())),
    )
    .takes_null()
    .predicate(),
];

fn text(c: &Call<'_, '_>) -> String {
    match c.v(0) {
        ValueRef::Null => String::new(),
        v => v.to_text(),
    }
}

fn six_bytes(c: &Call<'_, '_>, test: impl Fn(&[u8]) -> bool) -> bool {
    !c.v(0).is_null() && with_text(c.v(0), |b| c.is_bytes(0) && b.len() == 16 && test(b))
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
    } else if let Some(a) = ipv6(&t) {
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
