//! Parameters of COM_STMT_EXECUTE: from their binary form to values that borrow from the packet.
//!
//! Source of the format: MySQL client/server protocol documentation, "COM_STMT_EXECUTE", "Binary Protocol Value";
//! MariaDB knowledge base, "COM_STMT_EXECUTE".

use crate::codec::Cursor;
use crate::definition::Definitions;
use crate::held::HeldRows;
use crate::protocol::wire;
use narwal_types::errors;
use narwal_types::{BulkValue, Date, DateTime, Decimal, SqlError, SqlResult, Time, ValueRef};

const UNSIGNED: u8 = 0x80;
const DAY_MICROS: u64 = 86_400_000_000;
/// 838:59:59.999999
const MAX_TIME_MICROS: u64 = (838 * 3600 + 59 * 60 + 59) * 1_000_000 + 999_999;

/// The front's memory of one prepared statement.
#[derive(Debug, Default)]
pub struct Statement {
    /// The session's handle.
    pub handle: u32,
    /// Number of parameters.
    pub params: u16,
    /// Types bound by the last execution that sent any: (type, flags) a parameter.
    types: Vec<(u8, u8)>,
    /// Parameters sent by COM_STMT_SEND_LONG_DATA since the last execution or reset.
    long_data: Vec<(u16, Vec<u8>)>,
    long_bytes: usize,
    /// The column definitions that the client has, if it keeps them.
    pub definitions: Option<Definitions>,
    /// It may be executed with a cursor.
    pub may_hold: bool,
    /// It may be executed for many sets of parameters.
    pub bulk: bool,
    /// The rows of its open cursor.
    pub rows: Option<HeldRows>,
    /// An error of COM_STMT_SEND_LONG_DATA, which has no answer; the next execution reports it.
    deferred: Option<SqlError>,
}

/// 1210 for an execution packet that makes no sense.
pub fn wrong_arguments() -> SqlError {
    errors::WRONG_ARGUMENTS.with([&"mysqld_stmt_execute"])
}

impl Statement {
    /// The memory of a new statement.
    pub fn new(handle: u32, params: u16) -> Self {
        Statement {
            handle,
            params,
            ..Statement::default()
        }
    }

    /// COM_STMT_RESET: forgets long data and the open cursor.
    pub fn reset_all(&mut self) {
        self.reset();
        self.rows = None;
    }

    /// Forgets long data.
    pub fn reset(&mut self) {
        self.long_data.clear();
        self.long_bytes = 0;
        self.deferred = None;
    }

    /// MYSQL_TYPE_* and flags of each parameter, as they were bound.
    pub fn types(&self) -> &[(u8, u8)] {
        &self.types
    }

    /// True if there is anything that [`Statement::reset`] would forget.
    #[inline]
    pub fn has_long_data(&self) -> bool {
        !self.long_data.is_empty() || self.deferred.is_some()
    }

    /// COM_STMT_SEND_LONG_DATA: appends to a parameter. All parameters of the statement together may hold `max` bytes.
    pub fn append(&mut self, param: u16, data: &[u8], max: usize) {
        if self.deferred.is_some() {
            return;
        }
        if param >= self.params {
            self.deferred = Some(errors::WRONG_ARGUMENTS.with([&"mysqld_stmt_send_long_data"]));
            return;
        }
        if self.long_bytes + data.len() > max {
            self.reset();
            self.deferred = Some(errors::UNKNOWN_ERROR.text("Parameter of prepared statement which is set through mysql_send_long_data() is longer than \
                 'max_long_data_size' bytes"));
            return;
        }
        self.long_bytes += data.len();
        match self.long_data.iter_mut().find(|(p, _)| *p == param) {
            Some((_, held)) => held.extend_from_slice(data),
            None => self.long_data.push((param, data.to_vec())),
        }
    }

    /// Reads the bound types from the part of the packet after the iteration count, and remembers them. Returns the NULL
    /// bitmap and the values' bytes.
    pub fn bind<'p>(&mut self, body: &'p [u8]) -> SqlResult<(&'p [u8], &'p [u8])> {
        if let Some(e) = self.deferred.take() {
            return Err(e);
        }
        let n = usize::from(self.params);
        if n == 0 {
            return Ok((&[], &[]));
        }
        let mut c = Cursor::new(body);
        let nulls = c.bytes(n.div_ceil(8))?;
        if c.u8()? != 0 {
            self.bind_types(&mut c)?;
        } else if self.types.len() != n {
            return Err(wrong_arguments());
        }
        Ok((nulls, c.rest()))
    }

    /// Reads the types of all parameters, and remembers them.
    pub fn bind_types(&mut self, c: &mut Cursor<'_>) -> SqlResult<()> {
        let raw = c.bytes(usize::from(self.params) * 2)?;
        self.types.clear();
        self.types.extend(raw.chunks_exact(2).map(|t| (t[0], t[1])));
        Ok(())
    }

    /// Reads one parameter of COM_STMT_BULK_EXECUTE: what it is, and its value if it has one.
    pub fn bulk_value<'v>(&self, param: usize, c: &mut Cursor<'v>) -> SqlResult<BulkValue<'v>> {
        let (ty, flags) = self.types[param];
        Ok(match c.u8()? {
            0 => BulkValue::Value(read_value(c, ty, flags & UNSIGNED != 0)?),
            1 => BulkValue::Value(ValueRef::Null),
            2 => BulkValue::Default,
            3 => BulkValue::Ignore,
            _ => return Err(wrong_arguments()),
        })
    }

    /// Reads the values bound by [`Statement::bind`] into `out`.
    pub fn values<'v>(
        &'v self,
        nulls: &[u8],
        values: &'v [u8],
        out: &mut impl Extend<ValueRef<'v>>,
    ) -> SqlResult<()> {
        let mut c = Cursor::new(values);
        for (i, &(ty, flags)) in self.types.iter().enumerate().take(usize::from(self.params)) {
            let long = if self.long_data.is_empty() {
                None
            } else {
                self.long_data.iter().find(|(p, _)| usize::from(*p) == i)
            };
            let value = if let Some((_, data)) = long {
                bytes_value(ty, data)?
            } else if nulls.get(i / 8).is_some_and(|b| b & (1 << (i % 8)) != 0) {
                ValueRef::Null
            } else {
                read_value(&mut c, ty, flags & UNSIGNED != 0)?
            };
            out.extend([value]);
        }
        Ok(())
    }
}

fn decimal(data: &[u8]) -> Option<Decimal> {
    Decimal::parse(std::str::from_utf8(data).ok()?.trim())
}

/// A value that arrives as bytes.
fn bytes_value(ty: u8, data: &[u8]) -> SqlResult<ValueRef<'_>> {
    Ok(match ty {
        wire::TINY_BLOB
        | wire::MEDIUM_BLOB
        | wire::LONG_BLOB
        | wire::BLOB
        | wire::BIT
        | wire::GEOMETRY => ValueRef::Bytes(data),
        wire::DECIMAL | wire::NEWDECIMAL => ValueRef::Decimal(decimal(data).ok_or_else(|| {
            errors::TRUNCATED_WRONG_VALUE_FOR_FIELD.text(format!(
                "Incorrect decimal value: '{}'",
                String::from_utf8_lossy(data)
            ))
        })?),
        // Several clients bind binary data as a string; what is not UTF-8 can only be that.
        _ if std::str::from_utf8(data).is_err() => ValueRef::Bytes(data),
        _ => ValueRef::Str(data),
    })
}

fn read_value<'v>(c: &mut Cursor<'v>, ty: u8, unsigned: bool) -> SqlResult<ValueRef<'v>> {
    let int = |signed: i64, bits: u64| {
        if unsigned {
            ValueRef::UInt(bits)
        } else {
            ValueRef::Int(signed)
        }
    };
    Ok(match ty {
        wire::LONGLONG => {
            let n = c.u64()?;
            int(n as i64, n)
        }
        wire::LONG | wire::INT24 => {
            let n = c.u32()?;
            int(i64::from(n as i32), u64::from(n))
        }
        wire::SHORT | wire::YEAR => {
            let n = c.u16()?;
            int(i64::from(n as i16), u64::from(n))
        }
        wire::TINY => {
            let n = c.u8()?;
            int(i64::from(n as i8), u64::from(n))
        }
        wire::DOUBLE => finite(f64::from_bits(c.u64()?))?,
        wire::FLOAT => finite(f64::from(f32::from_bits(c.u32()?)))?,
        wire::NULL => ValueRef::Null,
        wire::DATE => ValueRef::Date(read_datetime(c)?.date),
        wire::DATETIME | wire::TIMESTAMP => ValueRef::DateTime(read_datetime(c)?),
        wire::TIME => ValueRef::Time(read_time(c)?),
        wire::DECIMAL | wire::VARCHAR | wire::BIT | wire::JSON.. => {
            bytes_value(ty, c.lenenc_bytes()?)?
        }
        _ => return Err(wrong_arguments()),
    })
}

fn finite(x: f64) -> SqlResult<ValueRef<'static>> {
    if x.is_finite() {
        Ok(ValueRef::Double(x))
    } else {
        Err(errors::ILLEGAL_VALUE_FOR_TYPE.with([&"double", &x]))
    }
}

fn fsp(fraction: u32) -> u8 {
    if fraction == 0 { 0 } else { 6 }
}

fn read_datetime(c: &mut Cursor<'_>) -> SqlResult<DateTime> {
    let len = c.u8()?;
    let body = c.bytes(usize::from(len))?;
    let mut c = Cursor::new(body);
    if !matches!(len, 0 | 4 | 7 | 11) {
        return Err(wrong_arguments());
    }
    let mut t = DateTime::default();
    if len >= 4 {
        t.date = Date {
            year: c.u16()?,
            month: c.u8()?,
            day: c.u8()?,
        };
    }
    let (mut hour, mut minute, mut second, mut fraction) = (0, 0, 0, 0);
    if len >= 7 {
        (hour, minute, second) = (c.u8()?, c.u8()?, c.u8()?);
    }
    if len >= 11 {
        fraction = c.u32()?;
    }
    let d = t.date;
    if d.year > 9999
        || d.month > 12
        || d.day > 31
        || hour > 23
        || minute > 59
        || second > 59
        || fraction > 999_999
    {
        return Err(errors::TRUNCATED_WRONG_VALUE.text(format!(
                "Incorrect datetime value: '{:04}-{:02}-{:02} {hour:02}:{minute:02}:{second:02}.{fraction:06}'",
                d.year, d.month, d.day
            )));
    }
    t.micros = (u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second)) * 1_000_000
        + u64::from(fraction);
    t.fsp = fsp(fraction);
    Ok(t)
}

fn read_time(c: &mut Cursor<'_>) -> SqlResult<Time> {
    let len = c.u8()?;
    let body = c.bytes(usize::from(len))?;
    let mut c = Cursor::new(body);
    if !matches!(len, 0 | 8 | 12) {
        return Err(wrong_arguments());
    }
    if len == 0 {
        return Ok(Time::default());
    }
    let negative = c.u8()? != 0;
    let days = u64::from(c.u32()?);
    let (hour, minute, second) = (c.u8()?, c.u8()?, c.u8()?);
    let fraction = if len == 12 { c.u32()? } else { 0 };
    // The client chooses the days: 32 bits of them in microseconds are more than 64 bits hold.
    let total = days.saturating_mul(DAY_MICROS).saturating_add(
        (u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second)) * 1_000_000
            + u64::from(fraction),
    );
    if hour > 23 || minute > 59 || second > 59 || fraction > 999_999 || total > MAX_TIME_MICROS {
        return Err(errors::TRUNCATED_WRONG_VALUE.text(format!(
            "Incorrect time value: '{}{:02}:{minute:02}:{second:02}'",
            if negative { "-" } else { "" },
            days * 24 + u64::from(hour)
        )));
    }
    let micros = total as i64;
    Ok(Time {
        micros: if negative { -micros } else { micros },
        fsp: fsp(fraction),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one<'a>(s: &'a mut Statement, body: &'a [u8]) -> SqlResult<Vec<ValueRef<'a>>> {
        let (nulls, values) = s.bind(body)?;
        let mut out = Vec::new();
        s.values(nulls, values, &mut out)?;
        Ok(out)
    }

    fn body(nulls: u8, types: &[(u8, u8)], values: &[u8]) -> Vec<u8> {
        let mut b = vec![nulls, 1];
        for &(t, f) in types {
            b.extend_from_slice(&[t, f]);
        }
        b.extend_from_slice(values);
        b
    }

    #[test]
    fn integers_by_width_and_sign() {
        let b = body(
            0b1_0000,
            &[(1, 0), (1, 0x80), (2, 0), (3, 0x80), (8, 0), (8, 0)],
            &[
                255, 255, 254, 255, 255, 255, 255, 255, 7, 0, 0, 0, 0, 0, 0, 128,
            ],
        );
        let mut s = Statement::new(1, 6);
        assert_eq!(
            one(&mut s, &b).unwrap(),
            [
                ValueRef::Int(-1),
                ValueRef::UInt(255),
                ValueRef::Int(-2),
                ValueRef::UInt(u64::from(u32::MAX)),
                ValueRef::Null,
                ValueRef::Int(i64::MIN + 7),
            ]
        );
    }

    #[test]
    fn types_stay_bound() {
        let mut s = Statement::new(1, 1);
        assert_eq!(one(&mut s, &[0, 0, 1]).unwrap_err().code, 1210);
        let b = body(0, &[(3, 0)], &[5, 0, 0, 0]);
        assert_eq!(one(&mut s, &b).unwrap(), [ValueRef::Int(5)]);
        assert_eq!(
            one(&mut s, &[0, 0, 6, 0, 0, 0]).unwrap(),
            [ValueRef::Int(6)]
        );
        assert_eq!(one(&mut s, &[1, 0]).unwrap(), [ValueRef::Null]);
    }

    #[test]
    fn dates_times_strings() {
        let mut values = vec![4, 0xEA, 7, 2, 28];
        values.extend_from_slice(&[11, 0xEA, 7, 12, 31, 23, 59, 58, 63, 66, 15, 0]);
        values.extend_from_slice(&[8, 1, 1, 0, 0, 0, 2, 3, 4]);
        values.extend_from_slice(b"\x03abc\x02\xff\xfe\x02xy");
        let b = body(
            0,
            &[(10, 0), (12, 0), (11, 0), (253, 0), (254, 0), (252, 0)],
            &values,
        );
        let mut s = Statement::new(1, 6);
        let got = one(&mut s, &b).unwrap();
        let date = Date {
            year: 2026,
            month: 2,
            day: 28,
        };
        assert_eq!(got[0], ValueRef::Date(date));
        assert_eq!(
            got[1],
            ValueRef::DateTime(DateTime {
                date: Date {
                    year: 2026,
                    month: 12,
                    day: 31
                },
                micros: 86_398_000_000 + 999_999,
                fsp: 6
            })
        );
        assert_eq!(
            got[2],
            ValueRef::Time(Time {
                micros: -((26 * 3600 + 3 * 60 + 4) * 1_000_000),
                fsp: 0
            })
        );
        assert_eq!(
            got[3..],
            [
                ValueRef::Str(b"abc"),
                ValueRef::Bytes(b"\xff\xfe"),
                ValueRef::Bytes(b"xy")
            ]
        );
    }

    #[test]
    fn days_that_no_time_has_are_refused() {
        let mut s = Statement::new(1, 1);
        // 34 days and 22 hours are the largest time; the third overflows 64 bits of microseconds.
        for (days, hour, ok) in [
            (34u32, 22, true),
            (35, 0, false),
            (213_503_983, 0, false),
            (u32::MAX, 23, false),
        ] {
            let mut value = vec![8, 0];
            value.extend_from_slice(&days.to_le_bytes());
            value.extend_from_slice(&[hour, 59, 59]);
            let got = one(&mut s, &body(0, &[(11, 0)], &value)).map(|_| ());
            assert_eq!(
                got.map_err(|e| e.code),
                if ok { Ok(()) } else { Err(1292) },
                "{days} days"
            );
        }
    }

    #[test]
    fn long_data_replaces_the_value_and_is_bounded() {
        let mut s = Statement::new(1, 2);
        s.append(1, b"he", 10);
        s.append(1, b"llo", 10);
        let b = body(0, &[(3, 0), (253, 0)], &[5, 0, 0, 0]);
        assert_eq!(
            one(&mut s, &b).unwrap(),
            [ValueRef::Int(5), ValueRef::Str(b"hello")]
        );
        s.reset();
        s.append(0, &[1; 11], 10);
        assert_eq!(one(&mut s, &b).unwrap_err().code, 1105);
        s.append(2, b"x", 10);
        assert_eq!(one(&mut s, &b).unwrap_err().code, 1210);
    }

    proptest! {
        #[test]
        fn hostile_parameters_never_panic(params in 0u16..40, b in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut s = Statement::new(1, params);
            let _ = one(&mut s, &b);
        }

        #[test]
        fn hostile_values_never_panic(ty in any::<u8>(), flags in any::<u8>(), v in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut s = Statement::new(1, 1);
            let b = body(0, &[(ty, flags)], &v);
            let _ = one(&mut s, &b);
        }
    }
}
