//! GTIDs as MySQL has them, `uuid:number`, and sets of them.
//!
//! A transaction has one GTID, MariaDB's. Its form for MySQL follows from it: each pair of domain and server has a UUID of its
//! own ([`gtid_uuid`]), and the number is the sequence number. So every server that has the transaction says the same to
//! MySQL's readers, and nothing is stored twice. One that comes from a MySQL keeps the name that it had there besides.

use crate::error::BinlogError;
use crate::gtid::{Gtid, GtidState};
use crate::lenenc::Reader;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// Largest number of a GTID, as in MySQL.
const MAX_NUMBER: u64 = i64::MAX as u64 - 1;
/// Most UUIDs, and most intervals, of a set that comes from outside.
const MAX_PARTS: usize = 1 << 20;

/// The UUID under which MySQL knows the transactions that `server` wrote in `domain`: the same on every server.
#[must_use]
pub fn gtid_uuid(domain: u32, server: u32) -> Uuid {
    let digest = Sha256::new()
        .chain_update(b"narwal gtid")
        .chain_update(domain.to_le_bytes())
        .chain_update(server.to_le_bytes())
        .finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    // Version 8 of RFC 9562: the bytes mean what their maker says.
    Uuid::new_v8(bytes)
}

/// Most characters of a tag.
const MAX_TAG: usize = 32;

/// The tag of a GTID (MySQL 8.3 and later): a name in lower case. Most GTIDs have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tag {
    // With zero bytes behind it, so the order is that of the names.
    text: [u8; MAX_TAG],
}

impl Tag {
    /// No tag.
    pub const NONE: Tag = Tag { text: [0; MAX_TAG] };

    /// A tag by its name, in any case; `None` if it is none: up to 32 letters, digits and underscores, no digit first.
    #[must_use]
    pub fn new(name: &[u8]) -> Option<Tag> {
        let first = *name.first()?;
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        if name.len() > MAX_TAG || first.is_ascii_digit() || !name.iter().all(word) {
            return None;
        }
        let mut tag = Tag::NONE;
        tag.text[..name.len()].copy_from_slice(name);
        tag.text.make_ascii_lowercase();
        Some(tag)
    }

    /// Its name; empty for none.
    #[must_use]
    pub fn name(&self) -> &str {
        let len = self.text.iter().position(|b| *b == 0).unwrap_or(MAX_TAG);
        std::str::from_utf8(&self.text[..len]).unwrap_or_default()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Tag::NONE
    }
}

/// A GTID as MySQL has it: `uuid:number`, or `uuid:tag:number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MysqlGtid {
    /// The server that gave it.
    pub uuid: Uuid,
    /// The tag.
    pub tag: Tag,
    /// The number, from 1.
    pub number: u64,
}

/// The name under which MySQL's readers know a transaction that was written here: the same on every server.
impl From<Gtid> for MysqlGtid {
    fn from(gtid: Gtid) -> Self {
        MysqlGtid {
            uuid: gtid_uuid(gtid.domain, gtid.server),
            tag: Tag::NONE,
            number: gtid.seq,
        }
    }
}

impl fmt::Display for MysqlGtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.uuid)?;
        if !self.tag.is_none() {
            write!(f, "{}:", self.tag.name())?;
        }
        write!(f, "{}", self.number)
    }
}

impl FromStr for MysqlGtid {
    type Err = BinlogError;

    fn from_str(text: &str) -> Result<Self, BinlogError> {
        let set: GtidSet = text.parse()?;
        let mut all = set.sets.iter();
        if let (Some((&(uuid, tag), ranges)), None) = (all.next(), all.next())
            && let &[(number, last)] = ranges.as_slice()
            && number == last
        {
            return Ok(MysqlGtid { uuid, tag, number });
        }
        Err(BinlogError::GtidSyntax(text.to_owned()))
    }
}

/// Inclusive ranges of numbers, in order, with a gap between each two.
type Ranges = Vec<(u64, u64)>;

/// A set of GTIDs in MySQL's form, such as `gtid_executed`: for each UUID and tag, ranges of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GtidSet {
    // Without empty ranges.
    sets: BTreeMap<(Uuid, Tag), Ranges>,
}

impl GtidSet {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a log in this state holds or has held: everything up to the last number of each domain and server. Numbers that
    /// another server of the domain took are counted in; nobody will ever give them away again.
    #[must_use]
    pub fn of_state(state: &GtidState) -> Self {
        let mut set = Self::new();
        for gtid in state.iter() {
            set.add(gtid_uuid(gtid.domain, gtid.server), 1, gtid.seq);
        }
        set
    }

    /// Adds the numbers from `first` to `last` without a tag, both included; nothing if there are none.
    pub fn add(&mut self, uuid: Uuid, first: u64, last: u64) {
        self.add_tagged((uuid, Tag::NONE), first, last);
    }

    /// Adds one transaction.
    pub fn insert(&mut self, gtid: &MysqlGtid) {
        self.add_tagged((gtid.uuid, gtid.tag), gtid.number, gtid.number);
    }

    /// Adds all of another set.
    pub fn merge(&mut self, other: &GtidSet) {
        for (key, ranges) in &other.sets {
            for &(first, last) in ranges {
                self.add_tagged(*key, first, last);
            }
        }
    }

    fn add_tagged(&mut self, key: (Uuid, Tag), first: u64, last: u64) {
        let (first, last) = (first.max(1), last.min(MAX_NUMBER));
        if first > last {
            return;
        }
        let ranges = self.sets.entry(key).or_default();
        // Those that touch the new one become part of it.
        let from = ranges.partition_point(|r| r.1 < first - 1);
        let to = ranges.partition_point(|r| r.0 <= last + 1);
        let mut whole = (first, last);
        if from < to {
            whole = (first.min(ranges[from].0), last.max(ranges[to - 1].1));
        }
        ranges.splice(from..to, [whole]);
    }

    /// The first number from that of `gtid` on that is not in the set, with its UUID and tag.
    #[must_use]
    pub fn first_free(&self, gtid: &MysqlGtid) -> u64 {
        let ranges = self.of(&(gtid.uuid, gtid.tag));
        let mut number = gtid.number;
        for &(first, last) in ranges {
            if (first..=last).contains(&number) {
                number = last + 1;
            }
        }
        number
    }

    /// True if it has this number, without a tag.
    #[must_use]
    pub fn contains(&self, uuid: &Uuid, number: u64) -> bool {
        self.holds(&(*uuid, Tag::NONE), number)
    }

    /// True if it has this transaction of a MySQL.
    #[must_use]
    pub fn has_mysql(&self, gtid: &MysqlGtid) -> bool {
        self.holds(&(gtid.uuid, gtid.tag), gtid.number)
    }

    fn holds(&self, key: &(Uuid, Tag), number: u64) -> bool {
        let ranges = self.of(key);
        let at = ranges.partition_point(|r| r.1 < number);
        ranges.get(at).is_some_and(|r| r.0 <= number)
    }

    /// True if it has this transaction.
    #[must_use]
    pub fn has(&self, gtid: Gtid) -> bool {
        self.contains(&gtid_uuid(gtid.domain, gtid.server), gtid.seq)
    }

    /// The inclusive ranges of a UUID without a tag, in order.
    #[must_use]
    pub fn ranges(&self, uuid: &Uuid) -> &[(u64, u64)] {
        self.of(&(*uuid, Tag::NONE))
    }

    fn of(&self, key: &(Uuid, Tag)) -> &[(u64, u64)] {
        self.sets.get(key).map_or(&[], Vec::as_slice)
    }

    /// True if there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// True if all of it is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &GtidSet) -> bool {
        self.sets.iter().all(|(key, ranges)| {
            let theirs = other.of(key);
            ranges.iter().all(|r| {
                let at = theirs.partition_point(|t| t.1 < r.0);
                theirs.get(at).is_some_and(|t| t.0 <= r.0 && r.1 <= t.1)
            })
        })
    }

    /// What is in it and not in `other`.
    #[must_use]
    pub fn without(&self, other: &GtidSet) -> GtidSet {
        let mut left = GtidSet::new();
        for (key, ranges) in &self.sets {
            for &(mut first, last) in ranges {
                for &(from, to) in other.of(key) {
                    if to < first {
                        continue;
                    }
                    if from > last {
                        break;
                    }
                    left.add_tagged(*key, first, from.saturating_sub(1).min(last));
                    first = to + 1;
                }
                left.add_tagged(*key, first, last);
            }
        }
        left
    }

    /// As PREVIOUS_GTIDS events and COM_BINLOG_DUMP_GTID have it:
    ///
    /// ```text
    /// u64 UUIDs | for each: 16 bytes, u64 ranges | for each: u64 first, u64 the one behind the last
    /// ```
    ///
    /// With tags (which servers before MySQL 8.3 can't read) the first number is `1 | UUIDs << 8 | 1 << 56`, and behind each
    /// UUID comes its tag: the length, doubled, in a byte, and the name. A UUID comes once for each of its tags.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = self.sets.len() as u64;
        let tagged = self.sets.keys().any(|key| !key.1.is_none());
        let head = match tagged {
            true => 1 | count << 8 | 1 << 56,
            false => count,
        };
        let mut out = head.to_le_bytes().to_vec();
        for ((uuid, tag), ranges) in &self.sets {
            out.extend_from_slice(uuid.as_bytes());
            if tagged {
                out.push((tag.name().len() as u8) << 1);
                out.extend_from_slice(tag.name().as_bytes());
            }
            out.extend_from_slice(&(ranges.len() as u64).to_le_bytes());
            for (first, last) in ranges {
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&(last + 1).to_le_bytes());
            }
        }
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) writes.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`]; [`BinlogError::Invalid`] for ranges and tags that are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BinlogError> {
        let mut reader = Reader::new(bytes, "a set of GTIDs");
        let mut set = Self::new();
        let head = reader.u64()?;
        let (tagged, uuids) = match head >> 56 {
            0 => (false, head),
            1 if head & 0xff == 1 => (true, head << 8 >> 16),
            _ => return Err(BinlogError::Invalid("format of a set of GTIDs")),
        };
        if uuids > MAX_PARTS as u64 {
            return Err(BinlogError::Invalid("number of UUIDs in a set of GTIDs"));
        }
        for _ in 0..uuids {
            let uuid = Uuid::from_slice(reader.bytes(16)?)
                .map_err(|_| BinlogError::Invalid("UUID in a set of GTIDs"))?;
            let tag = match tagged {
                true => read_tag(&mut reader)?,
                false => Tag::NONE,
            };
            let ranges = reader.u64()?;
            if ranges > MAX_PARTS as u64 {
                return Err(BinlogError::Invalid("number of ranges in a set of GTIDs"));
            }
            for _ in 0..ranges {
                let (first, behind) = (reader.u64()?, reader.u64()?);
                if first == 0 || behind <= first || behind > MAX_NUMBER + 1 {
                    return Err(BinlogError::Invalid("range in a set of GTIDs"));
                }
                set.add_tagged((uuid, tag), first, behind - 1);
            }
        }
        Ok(set)
    }
}

/// A tag behind its length, which is doubled.
pub(crate) fn read_tag(reader: &mut Reader<'_>) -> Result<Tag, BinlogError> {
    const WRONG: BinlogError = BinlogError::Invalid("tag of a GTID");
    let len = reader.u8()?;
    if len & 1 != 0 {
        return Err(WRONG);
    }
    match reader.bytes(usize::from(len >> 1))? {
        [] => Ok(Tag::NONE),
        name => Tag::new(name).ok_or(WRONG),
    }
}

/// As MySQL writes it: `uuid:1-5:7:tag:1-3,` and the next UUID on a line of its own.
impl fmt::Display for GtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = None;
        for ((uuid, tag), ranges) in &self.sets {
            if before != Some(uuid) {
                let comma = if before.is_some() { ",\n" } else { "" };
                write!(f, "{comma}{uuid}")?;
                before = Some(uuid);
            }
            if !tag.is_none() {
                write!(f, ":{}", tag.name())?;
            }
            for (first, last) in ranges {
                if first == last {
                    write!(f, ":{first}")?;
                } else {
                    write!(f, ":{first}-{last}")?;
                }
            }
        }
        Ok(())
    }
}

impl FromStr for GtidSet {
    type Err = BinlogError;

    fn from_str(text: &str) -> Result<Self, BinlogError> {
        let wrong = || BinlogError::GtidSyntax(text.to_owned());
        let number = |digits: &str| -> Option<u64> {
            let digits = digits.trim();
            // FromStr of integers takes a sign; a GTID does not.
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            let n = plain.then(|| digits.parse().ok()).flatten()?;
            (1..=MAX_NUMBER).contains(&n).then_some(n)
        };
        let mut set = Self::new();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let mut pieces = part.split(':');
            let uuid = pieces.next().map(str::trim).unwrap_or_default();
            let uuid = Uuid::parse_str(uuid).map_err(|_| wrong())?;
            let mut tag = Tag::NONE;
            // Behind a UUID, or a tag, there is a range at least.
            let mut complete = false;
            for piece in pieces.map(str::trim) {
                if !piece.starts_with(|c: char| c.is_ascii_digit()) {
                    let named = Tag::new(piece.as_bytes()).filter(|_| complete || tag.is_none());
                    tag = named.ok_or_else(wrong)?;
                    complete = false;
                    continue;
                }
                let (first, last) = match piece.split_once('-') {
                    Some((first, last)) => (number(first), number(last)),
                    None => (number(piece), number(piece)),
                };
                let (first, last) = first.zip(last).ok_or_else(wrong)?;
                set.add_tagged((uuid, tag), first, last);
                complete = true;
            }
            if !complete {
                return Err(wrong());
            }
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const A: &str = "36de7872-e84b-11f1-a942-02fc00000001";
    const B: &str = "403aba26-e84b-11f1-a59a-02fc00000001";

    fn set(text: &str) -> GtidSet {
        text.parse().unwrap()
    }

    #[test]
    fn text_and_back() {
        assert_eq!(
            set(&format!(" {B}:3 ,{A}:7:1-4:5-5 ")).to_string(),
            format!("{A}:1-5:7,\n{B}:3")
        );
        assert!(set("").is_empty() && set(" \n,").is_empty());
        // A range that is none is empty, as in MySQL.
        assert!(set(&format!("{A}:5-4")).is_empty());
        assert_eq!(
            set(&A.to_uppercase().replace('-', "").to_string().add_number()).to_string(),
            format!("{A}:1")
        );
        for wrong in [
            A.to_owned(),
            format!("{A}:"),
            format!("{A}:0"),
            format!("{A}:-1"),
            format!("{A}:1-"),
            format!("{A}:9223372036854775807"),
            format!("{A}:tag"),
            format!("{A}:tag:other:1"),
            format!("{A}:1tag:1"),
            format!("{A}:t-g:1"),
            format!("{A}:{}:1", "t".repeat(33)),
            format!("x{A}:1"),
            "0-1-5".to_owned(),
        ] {
            assert!(wrong.parse::<GtidSet>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn tags() {
        let one = set(&format!("{A}:1-5:Blue:2:_x:7-9,{B}:blue:1"));
        assert_eq!(
            one.to_string(),
            format!("{A}:1-5:_x:7-9:blue:2,\n{B}:blue:1")
        );
        assert_eq!(GtidSet::from_bytes(&one.to_bytes()).unwrap(), one);
        let gtid: MysqlGtid = format!("{A}:BLUE:2").parse().unwrap();
        assert_eq!(gtid.to_string(), format!("{A}:blue:2"));
        assert!(one.has_mysql(&gtid) && !one.contains(&gtid.uuid, 6));
        assert!(!one.is_subset(&set(&format!("{A}:1-9,{B}:1-9"))));
        let mut other = set(&format!("{A}:6"));
        other.merge(&one);
        assert_eq!(other.without(&one).to_string(), format!("{A}:6"));
        assert!(one.is_subset(&other));
        for wrong in [format!("{A}:1-2"), format!("{A}:1,{B}:1"), A.to_owned()] {
            assert!(wrong.parse::<MysqlGtid>().is_err(), "{wrong}");
        }
        let bytes = one.to_bytes();
        for n in 0..bytes.len() {
            assert!(GtidSet::from_bytes(&bytes[..n]).is_err(), "{n}");
        }
    }

    trait AddNumber {
        fn add_number(&self) -> String;
    }
    impl AddNumber for String {
        fn add_number(&self) -> String {
            format!("{self}:1")
        }
    }

    #[test]
    fn bytes_of_mysql() {
        let mut bytes = 1u64.to_le_bytes().to_vec();
        bytes.extend_from_slice(Uuid::parse_str(A).unwrap().as_bytes());
        for n in [2u64, 1, 6, 7, 8] {
            bytes.extend_from_slice(&n.to_le_bytes());
        }
        let read = GtidSet::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_string(), format!("{A}:1-5:7"));
        assert_eq!(read.to_bytes(), bytes);
        for n in 0..bytes.len() {
            assert!(GtidSet::from_bytes(&bytes[..n]).is_err(), "{n}");
        }
        let mut unknown = bytes.clone();
        unknown[7] = 2;
        assert!(GtidSet::from_bytes(&unknown).is_err());
        let mut backwards = bytes;
        backwards[40] = 0;
        assert!(GtidSet::from_bytes(&backwards).is_err());
    }

    #[test]
    fn uuids_are_the_same_everywhere() {
        // Part of what replicas remember: it may never change.
        assert_eq!(gtid_uuid(0, 1), gtid_uuid(0, 1));
        assert_ne!(gtid_uuid(0, 1), gtid_uuid(1, 0));
        assert_eq!(gtid_uuid(0, 1).get_version_num(), 8);
        let state: GtidState = "0-2-2,0-1-3,5-1-100".parse().unwrap();
        let set = GtidSet::of_state(&state);
        assert!(set.has("0-1-3".parse().unwrap()) && set.has("0-2-1".parse().unwrap()));
        assert!(!set.has("0-1-4".parse().unwrap()) && !set.has("5-2-1".parse().unwrap()));
    }

    fn some() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((1u64..40, 0u64..6), 0..12)
    }

    proptest! {
        #[test]
        fn as_a_set_of_numbers(ours in some(), theirs in some()) {
            let uuid = Uuid::parse_str(A).unwrap();
            let both = |parts: &[(u64, u64)]| {
                let (mut set, mut model) = (GtidSet::new(), BTreeSet::new());
                for &(first, more) in parts {
                    set.add(uuid, first, first + more);
                    model.extend(first..=first + more);
                }
                (set, model)
            };
            let ((a, in_a), (b, in_b)) = (both(&ours), both(&theirs));
            for n in 1..50 {
                prop_assert_eq!(a.contains(&uuid, n), in_a.contains(&n));
                prop_assert_eq!(a.without(&b).contains(&uuid, n), in_a.contains(&n) && !in_b.contains(&n));
            }
            prop_assert_eq!(a.is_subset(&b), in_a.is_subset(&in_b));
            for r in a.ranges(&uuid).windows(2) {
                prop_assert!(r[0].1 + 1 < r[1].0);
            }
            prop_assert_eq!(&a.to_string().parse::<GtidSet>().unwrap(), &a);
            prop_assert_eq!(&GtidSet::from_bytes(&a.to_bytes()).unwrap(), &a);
        }
    }
}
