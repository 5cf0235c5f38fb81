//! Histograms of a column's values: buckets of about as many rows each.
//!
//! Of two kinds only the bounds between the buckets are kept, as a part of the way from the smallest value to the largest, in
//! one byte or in two. The third is JSON with the first value of each bucket, its part of the rows, and how many values it has.

use super::rows::hex;
use std::fmt::Write as _;

/// Where a value stands between others.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    Number(f64),
    /// Bytes that compare as the values do.
    Key(Vec<u8>),
}

impl Place {
    pub(super) fn new(shown: &[u8], numeric: bool) -> Place {
        match numeric {
            true => {
                let text = std::str::from_utf8(shown).unwrap_or_default();
                Place::Number(text.parse().unwrap_or(0.0))
            }
            false => Place::Key(shown.to_vec()),
        }
    }

    /// The part of the way from `first` to `last`.
    fn between(&self, first: &Place, last: &Place) -> f64 {
        let (low, high, at) = match (first, last, self) {
            (Place::Number(a), Place::Number(b), Place::Number(x)) => (*a, *b, *x),
            (Place::Key(a), Place::Key(b), Place::Key(x)) => {
                let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                let number = |s: &[u8]| {
                    let mut head = [0; 8];
                    let behind = s.get(same..).unwrap_or_default();
                    for (to, from) in head.iter_mut().zip(behind) {
                        *to = *from;
                    }
                    u64::from_be_bytes(head) as f64
                };
                (number(a), number(b), number(x))
            }
            _ => return 1.0,
        };
        match high > low {
            true => ((at - low) / (high - low)).clamp(0.0, 1.0),
            false => 1.0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Single,
    Double,
    Json,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Single => "SINGLE_PREC_HB",
            Kind::Double => "DOUBLE_PREC_HB",
            Kind::Json => "JSON_HB",
        }
    }
}

struct Bucket {
    start: Vec<u8>,
    rows: u64,
    values: u64,
}

/// A histogram in the making: values come in order.
pub(super) struct Histogram {
    kind: Kind,
    size: u64,
    /// Bounds of buckets, or buckets.
    wanted: u64,
    rows: u64,
    seen: u64,
    first: Option<Place>,
    last: Option<Place>,
    last_value: Vec<u8>,
    bounds: Vec<Place>,
    buckets: Vec<Bucket>,
    /// The bucket that was begun last takes no more.
    full: bool,
}

impl Histogram {
    pub(super) fn new(kind: &str, size: u64, rows: u64) -> Self {
        let kind = match kind {
            "SINGLE_PREC_HB" => Kind::Single,
            "JSON_HB" => Kind::Json,
            _ => Kind::Double,
        };
        Histogram {
            kind,
            size,
            wanted: if kind == Kind::Double { size / 2 } else { size },
            rows,
            seen: 0,
            first: None,
            last: None,
            last_value: Vec::new(),
            bounds: Vec::new(),
            buckets: Vec::new(),
            full: true,
        }
    }

    /// The next value, which so many rows have.
    pub(super) fn add(&mut self, value: &[u8], place: Place, count: u64) {
        self.seen += count;
        match self.kind {
            Kind::Json => self.add_to_bucket(value, count),
            _ => {
                let capacity = self.rows as f64 / (self.wanted + 1) as f64;
                while (self.bounds.len() as u64) < self.wanted
                    && self.seen as f64 > capacity * (self.bounds.len() + 1) as f64
                {
                    self.bounds.push(place.clone());
                }
            }
        }
        self.first.get_or_insert_with(|| place.clone());
        self.last = Some(place);
    }

    fn add_to_bucket(&mut self, value: &[u8], count: u64) {
        if self.full {
            self.buckets.push(Bucket {
                start: value.to_vec(),
                rows: 0,
                values: 0,
            });
        }
        let capacity = self.rows as f64 / self.wanted as f64;
        if let Some(b) = self.buckets.last_mut() {
            b.rows += count;
            b.values += 1;
            self.full = b.rows as f64 >= capacity;
        }
        self.last_value = value.to_vec();
    }

    /// Size, type and histogram as SQL.
    pub(super) fn finish(self, now: &str) -> String {
        let (Some(first), Some(last)) = (&self.first, &self.last) else {
            return format!("{}, NULL, ''", self.size);
        };
        let name = self.kind.name();
        if self.kind == Kind::Json {
            let text = self.json(now);
            return format!("{}, '{name}', {}", self.buckets.len(), hex(text.as_bytes()));
        }
        let mut bytes = Vec::new();
        for b in &self.bounds {
            let part = b.between(first, last);
            match self.kind {
                Kind::Single => bytes.push((part * 255.0) as u8),
                _ => bytes.extend_from_slice(&((part * 65535.0) as u16).to_le_bytes()),
            }
        }
        format!("{}, '{name}', {}", self.size, hex(&bytes))
    }

    fn json(&self, now: &str) -> String {
        let mut out = format!(
            "{{\n  \"target_histogram_size\": {},\n  \"collected_at\": \"{now}\",\n  \"collected_by\": \"{}\",\n  \"histogram_hb\": [",
            self.size,
            crate::instance::server_version()
        );
        for (i, b) in self.buckets.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            // Writing to a String does not fail.
            let _ = write!(
                out,
                "{comma}\n    {{\n      {},\n",
                named("start", &b.start)
            );
            if i + 1 == self.buckets.len() {
                let _ = writeln!(out, "      {},", named("end", &self.last_value));
            }
            let part = b.rows as f64 / self.rows as f64;
            let _ = write!(
                out,
                "      \"size\": {},\n      \"ndv\": {}\n    }}",
                rounded(part),
                b.values
            );
        }
        out.push_str("\n  ]\n}");
        out
    }
}

/// At most nine digits.
fn rounded(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

/// A value by its name; one that is no text in hexadecimal.
fn named(name: &str, value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => {
            let quoted = serde_json::Value::from(text);
            format!("\"{name}\": {quoted}")
        }
        Err(_) => {
            let digits: String = value.iter().map(|b| format!("{b:02X}")).collect();
            format!("\"{name}_hex\": \"{digits}\"")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(kind: &str, size: u64) -> Histogram {
        let mut h = Histogram::new(kind, size, 10);
        for (value, count) in [
            (1, 2),
            (2, 1),
            (3, 1),
            (4, 1),
            (5, 1),
            (6, 1),
            (7, 1),
            (8, 1),
            (9, 1),
        ] {
            let text = f64::from(value).to_string();
            h.add(text.as_bytes(), Place::new(text.as_bytes(), true), count);
        }
        h
    }

    /// MariaDB 10.11.19, of (1, 1, 2, 3, 4, 5, 6, 7, 8, 9).
    #[test]
    fn bounds_are_those_of_mariadb() {
        assert_eq!(
            histogram("SINGLE_PREC_HB", 5).finish(""),
            "5, 'SINGLE_PREC_HB', X'003f7f9fdf'"
        );
        assert_eq!(
            histogram("DOUBLE_PREC_HB", 6).finish(""),
            "6, 'DOUBLE_PREC_HB', X'ff1fff7fffbf'"
        );
        let json = histogram("JSON_HB", 3);
        let sizes: Vec<_> = json.buckets.iter().map(|b| (b.rows, b.values)).collect();
        assert_eq!(sizes, [(4, 3), (4, 4), (2, 2)]);
    }
}
