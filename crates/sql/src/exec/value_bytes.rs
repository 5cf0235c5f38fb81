//! Values as bytes of temporary files.

use narwal_types::errors;
use narwal_types::{
    Bits, Charset, Date, DateTime, Decimal, Fixed, FixedKind, Member, Members, SqlError, SqlResult,
    Time, ValueRef,
};

/// Makes bytes of values, and values of these bytes. What they are chosen from stands in memory.
#[derive(Default)]
pub(super) struct ValueBytes {
    members: Vec<Members>,
}

fn broken() -> SqlError {
    errors::WRITE.text("Error reading a temporary file: no such value")
}

fn take<'b, const N: usize>(bytes: &mut &'b [u8]) -> SqlResult<&'b [u8; N]> {
    let (now, rest) = bytes.split_first_chunk::<N>().ok_or_else(broken)?;
    *bytes = rest;
    Ok(now)
}

/// The next bytes, as [`put_bytes`] wrote them.
pub(super) fn take_bytes<'b>(bytes: &mut &'b [u8]) -> SqlResult<&'b [u8]> {
    let n = u32::from_le_bytes(*take(bytes)?) as usize;
    let (now, rest) = bytes.split_at_checked(n).ok_or_else(broken)?;
    *bytes = rest;
    Ok(now)
}

/// Appends bytes, their length before them.
pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// The next number of eight bytes.
pub(super) fn take_u64(bytes: &mut &[u8]) -> SqlResult<u64> {
    Ok(u64::from_be_bytes(*take(bytes)?))
}

fn put_date(d: Date, out: &mut Vec<u8>) {
    out.extend_from_slice(&d.year.to_le_bytes());
    out.extend_from_slice(&[d.month, d.day]);
}

fn take_date(bytes: &mut &[u8]) -> SqlResult<Date> {
    let [a, b, month, day] = *take(bytes)?;
    Ok(Date {
        year: u16::from_le_bytes([a, b]),
        month,
        day,
    })
}

impl ValueBytes {
    /// Appends a value.
    pub(super) fn put(&mut self, v: ValueRef<'_>, out: &mut Vec<u8>) {
        match v {
            ValueRef::Null => out.push(0),
            ValueRef::Int(i) => {
                out.push(1);
                out.extend_from_slice(&i.to_le_bytes());
            }
            ValueRef::UInt(u) => {
                out.push(2);
                out.extend_from_slice(&u.to_le_bytes());
            }
            ValueRef::Float(f) => {
                out.push(3);
                out.extend_from_slice(&f.to_le_bytes());
            }
            ValueRef::Double(f) => {
                out.push(4);
                out.extend_from_slice(&f.to_le_bytes());
            }
            ValueRef::Decimal(d) => {
                out.push(5);
                out.extend_from_slice(&d.to_raw());
            }
            ValueRef::Str(s) => {
                out.push(6);
                put_bytes(s, out);
            }
            ValueRef::Bytes(s) => {
                out.push(7);
                put_bytes(s, out);
            }
            ValueRef::Coded(set, s) => {
                out.push(8);
                out.push(set as u8);
                put_bytes(s, out);
            }
            ValueRef::Date(d) => {
                out.push(9);
                put_date(d, out);
            }
            ValueRef::Time(t) => {
                out.push(10);
                out.extend_from_slice(&t.micros.to_le_bytes());
                out.push(t.fsp);
            }
            ValueRef::DateTime(t) => {
                out.push(11);
                put_date(t.date, out);
                out.extend_from_slice(&t.micros.to_le_bytes());
                out.push(t.fsp);
            }
            ValueRef::Member(m) => {
                let at = match self.members.iter().position(|l| *l == m.of) {
                    Some(at) => at,
                    None => {
                        self.members.push(m.of);
                        self.members.len() - 1
                    }
                };
                out.push(12);
                out.extend_from_slice(&(at as u32).to_le_bytes());
                out.push(m.set.into());
                out.extend_from_slice(&m.number.to_le_bytes());
            }
            ValueRef::Bits(b) => {
                out.push(13);
                out.push(b.width);
                out.extend_from_slice(&b.value.to_le_bytes());
            }
            ValueRef::Fixed(f) => {
                out.push(match f.kind {
                    FixedKind::Uuid => 14,
                    FixedKind::Inet4 => 15,
                    FixedKind::Inet6 => 16,
                });
                put_bytes(f.bytes(), out);
            }
        }
    }

    /// The next value.
    pub(super) fn take<'b>(&self, bytes: &mut &'b [u8]) -> SqlResult<ValueRef<'b>> {
        let [kind] = *take(bytes)?;
        Ok(match kind {
            0 => ValueRef::Null,
            1 => ValueRef::Int(i64::from_le_bytes(*take(bytes)?)),
            2 => ValueRef::UInt(u64::from_le_bytes(*take(bytes)?)),
            3 => ValueRef::Float(f32::from_le_bytes(*take(bytes)?)),
            4 => ValueRef::Double(f64::from_le_bytes(*take(bytes)?)),
            5 => ValueRef::Decimal(Decimal::from_raw(take(bytes)?)),
            6 => ValueRef::Str(take_bytes(bytes)?),
            7 => ValueRef::Bytes(take_bytes(bytes)?),
            8 => {
                let [set] = *take(bytes)?;
                let set = Charset::ALL.get(usize::from(set)).copied();
                ValueRef::Coded(set.unwrap_or_default(), take_bytes(bytes)?)
            }
            9 => ValueRef::Date(take_date(bytes)?),
            10 => ValueRef::Time(Time {
                micros: i64::from_le_bytes(*take(bytes)?),
                fsp: take::<1>(bytes)?[0],
            }),
            11 => ValueRef::DateTime(DateTime {
                date: take_date(bytes)?,
                micros: u64::from_le_bytes(*take(bytes)?),
                fsp: take::<1>(bytes)?[0],
            }),
            12 => {
                let at = u32::from_le_bytes(*take(bytes)?) as usize;
                ValueRef::Member(Member {
                    of: *self.members.get(at).ok_or_else(broken)?,
                    set: take::<1>(bytes)?[0] != 0,
                    number: u64::from_le_bytes(*take(bytes)?),
                })
            }
            13 => ValueRef::Bits(Bits {
                width: take::<1>(bytes)?[0],
                value: u64::from_le_bytes(*take(bytes)?),
            }),
            14..=16 => {
                let kind = match kind {
                    14 => FixedKind::Uuid,
                    15 => FixedKind::Inet4,
                    _ => FixedKind::Inet6,
                };
                ValueRef::Fixed(Fixed::padded(kind, take_bytes(bytes)?).ok_or_else(broken)?)
            }
            _ => return Err(broken()),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        let list = |l: &[&str]| Members::new(l.iter().map(|s| (*s).to_owned()).collect());
        let date = Date {
            year: 2024,
            month: 2,
            day: 29,
        };
        let member = |number, of| {
            ValueRef::Member(Member {
                number,
                set: false,
                of,
            })
        };
        let values = [
            ValueRef::Null,
            ValueRef::Int(-5),
            ValueRef::UInt(u64::MAX),
            ValueRef::Float(-1.5),
            ValueRef::Double(1e300),
            ValueRef::Decimal(Decimal::parse("-12345678901234567890.500").unwrap()),
            ValueRef::Str("ä".as_bytes()),
            ValueRef::Bytes(&[0, 255]),
            ValueRef::Coded(Charset::Latin1, &[0xe4]),
            ValueRef::Date(date),
            ValueRef::Time(Time { micros: -7, fsp: 6 }),
            ValueRef::DateTime(DateTime {
                date,
                micros: 86_399_999_999,
                fsp: 3,
            }),
            member(2, list(&["a", "b"])),
            member(1, list(&["c"])),
            member(1, list(&["a", "b"])),
            ValueRef::Bits(Bits { value: 5, width: 9 }),
            ValueRef::Fixed(Fixed::parse(FixedKind::Inet4, b"10.1.2.3").unwrap()),
        ];
        let mut bytes = Vec::new();
        let mut codec = ValueBytes::default();
        for v in values {
            codec.put(v, &mut bytes);
        }
        let mut rest = bytes.as_slice();
        for v in values {
            let back = codec.take(&mut rest).unwrap();
            assert_eq!(back, v);
            if let (ValueRef::Decimal(a), ValueRef::Decimal(b)) = (back, v) {
                assert_eq!(a.scale(), b.scale());
            }
        }
        assert!(codec.take(&mut rest).is_err());
    }
}
