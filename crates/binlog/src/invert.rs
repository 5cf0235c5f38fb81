//! Rows events turned round: what undoes them.

use crate::error::BinlogError;
use crate::rows::{RowsEvent, RowsKind};
use crate::table_map::TableMap;
use crate::value::{bit, value_len};

/// What undoes a rows event: inserts for deletes, deletes for inserts, updates with their images exchanged, the last row
/// first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inverted {
    kind: RowsKind,
    table_id: u64,
    flags: u16,
    column_count: usize,
    /// Of all columns: only complete images can be turned round.
    present: Vec<u8>,
    data: Vec<u8>,
}

impl Inverted {
    /// Turns `rows` round, whose table `map` is. An update's second image may lack columns that did not change
    /// (`binlog_row_image=FULL_NODUP`); they are taken from the first.
    ///
    /// # Errors
    /// [`BinlogError::Invalid`] if an image is not complete, and those of [`RowsEvent::rows`].
    pub fn of(rows: &RowsEvent<'_>, map: &TableMap<'_>) -> Result<Self, BinlogError> {
        let all = |bitmap: &[u8]| (0..rows.column_count).all(|i| bit(bitmap, i));
        if !all(rows.present) {
            return Err(BinlogError::Invalid(
                "row image that is not complete (binlog_row_image was not FULL)",
            ));
        }
        let mut images = Vec::new();
        for change in rows.rows(map)? {
            let change = change?;
            images.push(
                match (rows.kind, change.before, change.after, rows.present_after) {
                    (RowsKind::Update, Some(before), Some(after), Some(present)) => {
                        let mut pair = if all(present) {
                            after.to_vec()
                        } else {
                            merged(map, before, after, present)?
                        };
                        pair.extend_from_slice(before);
                        pair
                    }
                    (_, before, after, _) => before.or(after).unwrap_or_default().to_vec(),
                },
            );
        }
        let mut present = vec![0; rows.column_count.div_ceil(8)];
        (0..rows.column_count).for_each(|i| present[i / 8] |= 1 << (i % 8));
        Ok(Inverted {
            kind: match rows.kind {
                RowsKind::Write => RowsKind::Delete,
                RowsKind::Update => RowsKind::Update,
                RowsKind::Delete => RowsKind::Write,
            },
            table_id: rows.table_id,
            flags: rows.flags,
            column_count: rows.column_count,
            present,
            data: images.into_iter().rev().flatten().collect(),
        })
    }

    /// As an event.
    #[must_use]
    pub fn event(&self) -> RowsEvent<'_> {
        RowsEvent {
            kind: self.kind,
            table_id: self.table_id,
            flags: self.flags,
            column_count: self.column_count,
            present: &self.present,
            present_after: (self.kind == RowsKind::Update).then_some(&self.present[..]),
            data: &self.data,
        }
    }
}

/// A column's number and its value; `None` for NULL.
type Value<'a> = (usize, Option<&'a [u8]>);

/// The values of an image, column by column.
fn values<'a>(
    map: &TableMap<'_>,
    present: Option<&[u8]>,
    image: &'a [u8],
) -> Result<Vec<Value<'a>>, BinlogError> {
    let columns: Vec<usize> = (0..map.column_count())
        .filter(|&i| present.is_none_or(|p| bit(p, i)))
        .collect();
    let mut at = columns.len().div_ceil(8);
    let nulls = image
        .get(..at)
        .ok_or(BinlogError::Truncated("a row's null bitmap"))?;
    let mut out = Vec::with_capacity(columns.len());
    for (nth, i) in columns.into_iter().enumerate() {
        if bit(nulls, nth) {
            out.push((i, None));
            continue;
        }
        let (code, meta) = map.column_type(i);
        let len = value_len(code, meta, &image[at..])?;
        out.push((i, Some(&image[at..at + len])));
        at += len;
    }
    Ok(out)
}

/// `after` with what it lacks from `before`, which is complete.
fn merged(
    map: &TableMap<'_>,
    before: &[u8],
    after: &[u8],
    present: &[u8],
) -> Result<Vec<u8>, BinlogError> {
    let mut row = values(map, None, before)?;
    for (i, value) in values(map, Some(present), after)? {
        row[i].1 = value;
    }
    let mut out = vec![0; row.len().div_ceil(8)];
    for (i, value) in row {
        match value {
            None => out[i / 8] |= 1 << (i % 8),
            Some(value) => out.extend_from_slice(value),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{ColumnMeta, column_type};
    use crate::decode::{Event, EventReader};
    use crate::group::GroupBuilder;
    use crate::template::TableMapTemplate;
    use proptest::prelude::*;

    fn template() -> TableMapTemplate {
        let columns = [
            ColumnMeta::new("a", column_type::LONG, &[]),
            ColumnMeta::new("b", column_type::VARCHAR, &[20, 0]),
        ];
        TableMapTemplate::new(7, "d", "t", &columns, &[]).unwrap()
    }

    fn row(a: Option<i32>, b: Option<&str>) -> Vec<u8> {
        let mut out = vec![u8::from(a.is_none()) | u8::from(b.is_none()) << 1];
        out.extend(
            a.map(i32::to_le_bytes)
                .unwrap_or_default()
                .iter()
                .take(if a.is_some() { 4 } else { 0 }),
        );
        if let Some(b) = b {
            out.push(b.len() as u8);
            out.extend_from_slice(b.as_bytes());
        }
        out
    }

    /// The group's first map and all its rows events, each as its rows' images.
    fn each(events: &[u8], f: &mut dyn FnMut(&TableMap<'_>, &RowsEvent<'_>)) {
        let all: Vec<_> = EventReader::new(events).map(|e| e.unwrap()).collect();
        let decoded: Vec<_> = all.iter().map(|e| e.decode().unwrap()).collect();
        let map = decoded.iter().find_map(|e| match e {
            Event::TableMap(m) => Some(m),
            _ => None,
        });
        for e in &decoded {
            if let Event::Rows(rows) = e {
                f(map.unwrap(), rows);
            }
        }
    }

    proptest! {
        #[test]
        fn twice_is_once(rows in prop::collection::vec(
            (0..3u8, prop::option::of(any::<i32>()), prop::option::of("[a-z]{0,9}"), prop::option::of("[a-z]{0,9}")), 1..9)) {
            let t = template();
            let mut group = GroupBuilder::new(0, 1);
            group.map_tables(&[&t]).unwrap();
            for (kind, a, b, c) in &rows {
                let (x, y) = (row(*a, b.as_deref()), row(*a, c.as_deref()));
                match kind {
                    0 => group.write_row(&t, &x).unwrap(),
                    1 => group.delete_row(&t, &x).unwrap(),
                    _ => group.update_row(&t, &x, &y).unwrap(),
                };
            }
            group.end_statement();
            let bytes = group.finish().unwrap().into_stamped("0-1-1".parse().unwrap(), 4, 1);
            let mut seen = 0;
            each(&bytes, &mut |map, rows| {
                seen += 1;
                let once = Inverted::of(rows, map).unwrap();
                let images = |e: &RowsEvent<'_>| e.rows(map).unwrap()
                    .map(|c| c.unwrap()).map(|c| (c.before.map(<[u8]>::to_vec), c.after.map(<[u8]>::to_vec)))
                    .collect::<Vec<_>>();
                let mut turned: Vec<_> = images(&once.event()).into_iter().map(|(b, a)| (a, b)).collect();
                turned.reverse();
                assert_eq!(turned, images(rows));
                let twice = Inverted::of(&once.event(), map).unwrap();
                assert_eq!(images(&twice.event()), images(rows));
            });
            assert!(seen > 0);
        }
    }

    #[test]
    fn what_a_second_image_lacks_comes_from_the_first() {
        let t = template();
        let mut group = GroupBuilder::new(0, 1);
        group.map_tables(&[&t]).unwrap();
        group.write_row(&t, &row(Some(1), Some("x"))).unwrap();
        group.end_statement();
        let bytes = group
            .finish()
            .unwrap()
            .into_stamped("0-1-1".parse().unwrap(), 4, 1);
        each(&bytes, &mut |map, rows| {
            // Before (1, 'x'), after only b, as NULL or 'yy'.
            for (after, expected) in [
                (vec![1], row(Some(1), None)),
                (vec![0, 2, b'y', b'y'], row(Some(1), Some("yy"))),
            ] {
                let mut data = row(Some(1), Some("x"));
                data.extend_from_slice(&after);
                let update = RowsEvent {
                    kind: RowsKind::Update,
                    present: &[3],
                    present_after: Some(&[2]),
                    data: &data,
                    ..*rows
                };
                let inverted = Inverted::of(&update, map).unwrap();
                let event = inverted.event();
                let change = event.rows(map).unwrap().next().unwrap().unwrap();
                assert_eq!(change.before, Some(&expected[..]));
                assert_eq!(change.after, Some(&row(Some(1), Some("x"))[..]));
                // And what the first one lacks comes from nowhere.
                let minimal = RowsEvent {
                    present: &[1],
                    ..update
                };
                assert!(Inverted::of(&minimal, map).is_err());
            }
        });
    }
}
