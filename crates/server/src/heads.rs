//! What results begin with, as it was sent before. A statement that runs again has the same columns, so the packets that tell
//! them are copied, not made anew.

use crate::definition::Form;
use crate::packet::PacketWriter;
use narwal_types::{Charset, NumberForm, ResultColumn};
use std::sync::Arc;

/// A connection keeps so many of them at most: a power of two.
const MOST: usize = 64;
/// Longer ones (bytes) are made anew each time.
const LONGEST: usize = 1024;

/// What the rows of a result are encoded by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowColumn {
    pub(crate) ty: u8,
    pub(crate) decimals: u8,
    /// What ZEROFILL adds to a number's text.
    pub(crate) form: NumberForm,
    /// What its text is converted from, and to.
    pub(crate) charset: Option<(Charset, Charset)>,
}

/// What the packets at the head of a result depend on.
pub(crate) struct Told<'a> {
    /// The columns of the plan. As long as a head is kept they are, so no other columns have their address.
    pub(crate) columns: &'a Arc<[ResultColumn]>,
    pub(crate) form: Form,
    /// The client gets the columns' definitions.
    pub(crate) with_definitions: bool,
    /// The sequence number of the first packet.
    pub(crate) seq: u8,
}

#[derive(Debug)]
struct Head {
    columns: Arc<[ResultColumn]>,
    form: Form,
    with_definitions: bool,
    seq: u8,
    packets: Vec<u8>,
    /// So many packets, modulo 256.
    count: u8,
    rows: Vec<RowColumn>,
}

impl Head {
    #[inline]
    fn is(&self, told: &Told<'_>) -> bool {
        Arc::ptr_eq(&self.columns, told.columns)
            && self.seq == told.seq
            && self.with_definitions == told.with_definitions
            && self.form == told.form
    }
}

/// The heads of a connection's results, each at the place that its columns' address gives.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    kept: Vec<Option<Box<Head>>>,
}

/// Where the head for these columns stands.
#[inline]
fn place(columns: &Arc<[ResultColumn]>) -> usize {
    let address = columns.as_ptr() as u64;
    let mixed = address.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (u64::BITS - MOST.trailing_zeros())) as usize
}

impl Heads {
    /// Writes a head that was written before, and gives what it says of the rows. `None`: there is none.
    #[inline]
    pub(crate) fn repeat(
        &self,
        told: &Told<'_>,
        writer: &mut PacketWriter,
    ) -> Option<&[RowColumn]> {
        let head = self.kept.get(place(told.columns))?.as_ref()?;
        if !head.is(told) {
            return None;
        }
        writer.repeat(&head.packets, head.count);
        Some(&head.rows)
    }

    /// Keeps the head that a writer holds from `pending` on.
    pub(crate) fn keep(
        &mut self,
        told: &Told<'_>,
        writer: &PacketWriter,
        pending: usize,
        rows: &[RowColumn],
    ) {
        let packets = writer.written_since(pending);
        if packets.len() > LONGEST {
            return;
        }
        if self.kept.is_empty() {
            self.kept.resize_with(MOST, || None);
        }
        let Some(place) = self.kept.get_mut(place(told.columns)) else {
            return;
        };
        let (mut kept_packets, mut kept_rows) = match place.take() {
            Some(old) => (old.packets, old.rows),
            None => Default::default(),
        };
        kept_packets.clear();
        kept_packets.extend_from_slice(packets);
        kept_rows.clear();
        kept_rows.extend_from_slice(rows);
        *place = Some(Box::new(Head {
            columns: told.columns.clone(),
            form: told.form,
            with_definitions: told.with_definitions,
            seq: told.seq,
            packets: kept_packets,
            count: writer.seq().wrapping_sub(told.seq),
            rows: kept_rows,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Arc<[ResultColumn]> {
        [].into()
    }

    fn told(columns: &Arc<[ResultColumn]>, seq: u8) -> Told<'_> {
        Told {
            columns,
            form: Form::default(),
            with_definitions: true,
            seq,
        }
    }

    #[test]
    fn a_head_is_repeated_for_the_same_columns_at_the_same_number() {
        let mut heads = Heads::default();
        let (one, other) = (columns(), columns());
        let mut first = PacketWriter::new();
        first.set_seq(1);
        first.packet(b"before");
        let pending = first.pending();
        first.packet(b"count");
        first.packet(b"definition");
        heads.keep(&told(&one, 2), &first, pending, &[]);

        let mut again = PacketWriter::new();
        again.set_seq(2);
        assert!(heads.repeat(&told(&one, 2), &mut again).is_some());
        assert_eq!(again.written_since(0), first.written_since(pending));
        assert_eq!(again.seq(), 4);
        for wrong in [
            told(&one, 3),
            told(&other, 2),
            Told {
                with_definitions: false,
                ..told(&one, 2)
            },
            Told {
                form: Form {
                    extended: true,
                    ..Form::default()
                },
                ..told(&one, 2)
            },
        ] {
            assert!(heads.repeat(&wrong, &mut again).is_none());
        }
    }

    #[test]
    fn a_long_head_is_not_kept() {
        let mut heads = Heads::default();
        let one = columns();
        let mut w = PacketWriter::new();
        w.packet(&[0; LONGEST]);
        heads.keep(&told(&one, 0), &w, 0, &[]);
        assert!(heads.repeat(&told(&one, 0), &mut w).is_none());
    }
}
