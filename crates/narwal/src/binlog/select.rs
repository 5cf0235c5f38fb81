//! Which groups and tables are wanted.

use super::source::config;
use super::{Groups, localtime};
use crate::Failure;
use clap::Args;
use narwal_binlog::{Gtid, GtidState, VirtualFiles};
use narwal_engine::{GroupHead, StateRecord};
use std::collections::BTreeMap;

/// Options that select.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Selection")]
pub struct SelectArgs {
    /// Begin behind this GTID position, as a replica that has it would
    #[arg(long, value_name = "GTID[,GTID...]")]
    start_gtid: Option<String>,
    /// End with this GTID position, its groups included; domains that it does not name are left out
    #[arg(long, value_name = "GTID[,GTID...]")]
    stop_gtid: Option<String>,
    /// Only these transactions: 0-1-5, or 0-1-5..9 for a range
    #[arg(long, value_name = "LIST")]
    gtids: Option<String>,
    /// Begin at this place: FILE, FILE:OFFSET, or an offset in the first file; a GTID position does as --start-gtid
    #[arg(long, short = 'j', value_name = "PLACE")]
    start_position: Option<String>,
    /// End before this place; a bare offset is one in the file of --start-position
    #[arg(long, value_name = "PLACE")]
    stop_position: Option<String>,
    /// Leave out transactions before this local time: 'YYYY-MM-DD HH:MM:SS', or seconds since 1970
    #[arg(long, value_name = "TIME")]
    start_datetime: Option<String>,
    /// Leave out transactions from this time on
    #[arg(long, value_name = "TIME")]
    stop_datetime: Option<String>,
    /// Only changes in this database (may be given several times)
    #[arg(long, short, value_name = "NAME")]
    database: Vec<String>,
    /// Only row changes of this table, NAME or DATABASE.NAME (may be given several times)
    #[arg(long, short, value_name = "NAME")]
    table: Vec<String>,
}

/// A place in the virtual files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct VirtualPosition {
    /// `None`: the first file there is.
    file: Option<u32>,
    offset: u64,
}

/// What to do with a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is wanted.
    Take,
    /// It is not.
    Skip,
    /// Neither is anything behind it.
    Stop,
}

/// What was selected.
#[derive(Debug, Default)]
pub struct Selection {
    start_gtid: BTreeMap<u32, u64>,
    stop_gtid: BTreeMap<u32, u64>,
    /// Domains of `stop_gtid` that were reached.
    reached: BTreeMap<u32, bool>,
    gtids: Option<Vec<(Gtid, u64)>>,
    start: Option<VirtualPosition>,
    stop: Option<VirtualPosition>,
    from: u32,
    to: Option<u32>,
    /// The first file there is.
    first: Option<u32>,
    databases: Vec<String>,
    tables: Vec<(Option<String>, String)>,
    base_name: String,
}

fn position(option: &str, text: Option<&str>) -> Result<BTreeMap<u32, u64>, Failure> {
    let mut out = BTreeMap::new();
    for part in text
        .unwrap_or_default()
        .split(',')
        .filter(|p| !p.trim().is_empty())
    {
        let gtid: Gtid = part
            .parse()
            .map_err(|e| Failure::Usage(format!("--{option}={part}: {e}")))?;
        if out.insert(gtid.domain, gtid.seq).is_some() {
            return Err(Failure::Usage(format!(
                "--{option}: domain {} is named twice",
                gtid.domain
            )));
        }
    }
    Ok(out)
}

fn ranges(text: &str) -> Result<Vec<(Gtid, u64)>, Failure> {
    let bad =
        |part: &str| Failure::Usage(format!("--gtids: {part:?} is no GTID or range (0-1-5..9)"));
    text.split(',')
        .map(|part| {
            let (first, last) = match part.split_once("..") {
                Some((first, last)) => (first, Some(last)),
                None => (part, None),
            };
            let gtid: Gtid = first.parse().map_err(|_| bad(part))?;
            let last = match last {
                Some(last) => last.trim().parse().map_err(|_| bad(part))?,
                None => gtid.seq,
            };
            Ok((gtid, last))
        })
        .collect()
}

fn place(option: &str, text: &str, base_name: &str) -> Result<VirtualPosition, Failure> {
    let bad = |what: &str| Failure::Usage(format!("--{option}={text}: {what}"));
    if let Ok(offset) = text.parse() {
        return Ok(VirtualPosition { file: None, offset });
    }
    let (name, offset) = match text.rsplit_once(':') {
        Some((name, offset)) => (
            name,
            offset.parse().map_err(|_| bad("the offset is no number"))?,
        ),
        None => (text, 0),
    };
    let number = VirtualFiles::new(config(base_name))
        .parse_file_name(name)
        .ok_or_else(|| bad(&format!("files are named {base_name}.000001 and so on")))?;
    Ok(VirtualPosition {
        file: Some(number),
        offset,
    })
}

/// A GTID position and a place, one of which at most is given.
fn start_or_stop(
    (gtid_option, gtid): (&str, Option<&str>),
    (place_option, text): (&str, Option<&str>),
    base_name: &str,
) -> Result<(BTreeMap<u32, u64>, Option<VirtualPosition>), Failure> {
    let is_gtids = |text: &str| text.split(',').all(|part| part.parse::<Gtid>().is_ok());
    match text {
        Some(text) if is_gtids(text) && gtid.is_none() => {
            Ok((position(place_option, Some(text))?, None))
        }
        _ => Ok((
            position(gtid_option, gtid)?,
            text.map(|t| place(place_option, t, base_name))
                .transpose()?,
        )),
    }
}

/// Seconds since 1970.
pub fn datetime(option: &str, text: &str) -> Result<u32, Failure> {
    if let Ok(secs) = text.parse() {
        return Ok(secs);
    }
    let numbers: Option<Vec<u32>> = text
        .split(['-', ' ', 'T', ':'])
        .map(|n| n.parse().ok())
        .collect();
    let fields = match numbers.as_deref() {
        Some(&[y, m, d]) => Some((y as i32, m, d, 0, 0, 0)),
        Some(&[y, m, d, h, i]) => Some((y as i32, m, d, h, i, 0)),
        Some(&[y, m, d, h, i, s]) => Some((y as i32, m, d, h, i, s)),
        _ => None,
    };
    fields
        .filter(|f| (1..=12).contains(&f.1) && (1..=31).contains(&f.2) && f.3 < 24 && f.4 < 60)
        .and_then(localtime::seconds)
        .ok_or_else(|| {
            Failure::Usage(format!(
                "--{option}={text}: a time is 'YYYY-MM-DD HH:MM:SS', or seconds since 1970"
            ))
        })
}

impl Selection {
    /// Reads the options.
    pub fn new(o: &SelectArgs, base_name: &str) -> Result<Self, Failure> {
        let (start_gtid, start) = start_or_stop(
            ("start-gtid", o.start_gtid.as_deref()),
            ("start-position", o.start_position.as_deref()),
            base_name,
        )?;
        let (stop_gtid, mut stop) = start_or_stop(
            ("stop-gtid", o.stop_gtid.as_deref()),
            ("stop-position", o.stop_position.as_deref()),
            base_name,
        )?;
        if let (
            Some(VirtualPosition { file, .. }),
            Some(stop @ VirtualPosition { file: None, .. }),
        ) = (start, &mut stop)
        {
            stop.file = file;
        }
        let time =
            |option, text: &Option<String>| text.as_ref().map(|t| datetime(option, t)).transpose();
        Ok(Selection {
            start_gtid,
            reached: stop_gtid.keys().map(|&d| (d, false)).collect(),
            stop_gtid,
            gtids: o.gtids.as_deref().map(ranges).transpose()?,
            start,
            stop,
            first: None,
            from: time("start-datetime", &o.start_datetime)?.unwrap_or(0),
            to: time("stop-datetime", &o.stop_datetime)?,
            databases: o.database.clone(),
            tables: o
                .table
                .iter()
                .map(|t| match t.split_once('.') {
                    Some((db, name)) => (Some(db.to_owned()), name.to_owned()),
                    None => (None, t.clone()),
                })
                .collect(),
            base_name: base_name.to_owned(),
        })
    }

    /// Whether nothing that stands before this State record is wanted.
    pub fn is_behind(&self, state: &StateRecord) -> bool {
        let places = [self.start, self.stop];
        if places.iter().flatten().any(|p| p.file.is_none()) {
            // It takes the first group to know which file is the first.
            return false;
        }
        let here = (state.files.file_no(), state.files.offset());
        let gtids = state.files.gtids();
        let has = |domain: u32| gtids.next_seq(domain).saturating_sub(1);
        let before_start = self
            .start
            .is_some_and(|p| here <= (p.file.unwrap_or(0), p.offset));
        let before_gtids = !self.start_gtid.is_empty()
            && gtids.iter().all(|g| {
                let start = self.start_gtid.get(&g.domain);
                start.is_some_and(|&start| has(g.domain) <= start)
            });
        let before_list = self
            .gtids
            .as_ref()
            .is_some_and(|list| list.iter().all(|(from, _)| has(from.domain) < from.seq));
        let before_time = self.from > 0 && state.last_event_time < self.from;
        before_start || before_gtids || before_list || before_time
    }

    /// Refuses what was purged: the first group there is stands behind what is wanted.
    fn check_start(
        &self,
        head: &GroupHead,
        oldest: u32,
        before: &GtidState,
    ) -> Result<(), Failure> {
        let gone = |what: String| {
            Err(Failure::Run(format!(
                "{what}: that is not in the log any more; it begins with {}.{:06} and {}",
                self.base_name, head.file_no, head.gtid
            )))
        };
        if let Some(VirtualPosition {
            file: Some(file), ..
        }) = self.start
            && file < oldest
        {
            return gone(format!("{}.{file:06}", self.base_name));
        }
        for (&domain, &seq) in &self.start_gtid {
            let purged = before.next_seq(domain).saturating_sub(1);
            if seq < purged {
                return gone(format!("what follows {seq} in domain {domain}"));
            }
        }
        Ok(())
    }

    /// The log is read to its end, which is at `files`. An error if the selection's start lies behind it.
    pub fn at_end(&self, files: Option<&VirtualFiles>) -> Result<(), Failure> {
        let (Some(files), Some(start)) = (files, self.start) else {
            return Ok(());
        };
        let end = (files.file_no(), files.offset());
        let file = start.file.or(self.first).unwrap_or(end.0);
        if (file, start.offset) <= end {
            return Ok(());
        }
        Err(Failure::Run(format!(
            "{}.{file:06}:{} is behind the end of the log, {}:{}",
            self.base_name,
            start.offset,
            files.current_file(),
            end.1
        )))
    }

    /// What to do with this group, which `groups` stands at.
    pub fn verdict(&mut self, head: &GroupHead, groups: &Groups) -> Result<Verdict, Failure> {
        if self.first.is_none() {
            let state = groups.last_state().map(|s| s.oldest_file);
            let oldest = state.map_or(head.file_no, |n| n.min(head.file_no));
            self.check_start(head, oldest, groups.gtids_before())?;
        }
        self.judge(head)
    }

    fn judge(&mut self, head: &GroupHead) -> Result<Verdict, Failure> {
        let first = *self.first.get_or_insert(head.file_no);
        let here = (head.file_no, head.start_pos);
        let whole = |p: VirtualPosition| (p.file.unwrap_or(first), p.offset);
        let gtid = head.gtid;
        // A domain is at its end even if its last group is not wanted for another reason.
        if let (Some(&stop), Some(reached)) = (
            self.stop_gtid.get(&gtid.domain),
            self.reached.get_mut(&gtid.domain),
        ) {
            *reached |= gtid.seq >= stop;
            if gtid.seq > stop {
                return Ok(match self.all_reached() {
                    true => Verdict::Stop,
                    false => Verdict::Skip,
                });
            }
        } else if !self.stop_gtid.is_empty() {
            return Ok(Verdict::Skip);
        }
        for p in [self.start, self.stop].into_iter().flatten().map(whole) {
            if p.0 == here.0 && p.1 > here.1 && p.1 < here.1 + head.len {
                return Err(Failure::Run(format!(
                    "{}.{:06}: position {} is inside the event group {gtid}, which begins at {} and ends at {}",
                    self.base_name,
                    p.0,
                    p.1,
                    here.1,
                    here.1 + head.len
                )));
            }
        }
        if self.stop.is_some_and(|p| here >= whole(p)) {
            return Ok(Verdict::Stop);
        }
        let wanted = self.start.is_none_or(|p| here >= whole(p))
            && self
                .start_gtid
                .get(&gtid.domain)
                .is_none_or(|&s| gtid.seq > s)
            && self.gtids.as_ref().is_none_or(|list| {
                list.iter().any(|(from, last)| {
                    (from.domain, from.server) == (gtid.domain, gtid.server)
                        && (from.seq..=*last).contains(&gtid.seq)
                })
            })
            && head.timestamp >= self.from
            && self.to.is_none_or(|to| head.timestamp < to);
        Ok(if wanted { Verdict::Take } else { Verdict::Skip })
    }

    fn all_reached(&self) -> bool {
        !self.reached.is_empty() && self.reached.values().all(|&r| r)
    }

    /// Nothing behind this group is wanted.
    pub fn is_done(&self, head: &GroupHead) -> bool {
        let end = (head.file_no, head.start_pos.saturating_add(head.len));
        let first = self.first.unwrap_or(head.file_no);
        self.all_reached()
            || self
                .stop
                .is_some_and(|p| end >= (p.file.unwrap_or(first), p.offset))
    }

    /// Row changes of this table are wanted.
    pub fn wants_table(&self, db: &str, table: &str) -> bool {
        (self.databases.is_empty() || self.databases.iter().any(|d| d == db))
            && (self.tables.is_empty()
                || self
                    .tables
                    .iter()
                    .any(|(d, t)| t == table && d.as_deref().is_none_or(|d| d == db)))
    }

    /// A statement with this default database is wanted.
    pub fn wants_statement(&self, db: &[u8]) -> bool {
        self.tables.is_empty()
            && (self.databases.is_empty() || self.databases.iter().any(|d| d.as_bytes() == db))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_engine::GroupKind;

    fn head(file_no: u32, start_pos: u64, seq: u64, timestamp: u32) -> GroupHead {
        GroupHead {
            lsn: 0,
            end_lsn: 0,
            seq,
            kind: GroupKind::Group,
            file_no,
            start_pos,
            new_file: false,
            gtid: Gtid {
                domain: 0,
                server: 1,
                seq,
            },
            mysql: None,
            flags2: 0,
            len: 100,
            timestamp,
            first_lsn: 0,
            chunks: 0,
        }
    }

    fn verdicts(o: SelectArgs) -> Vec<(u64, Verdict)> {
        let mut s = Selection::new(&o, "b").unwrap();
        let heads = [
            head(1, 300, 1, 10),
            head(1, 400, 2, 20),
            head(2, 300, 3, 30),
            head(2, 400, 4, 40),
        ];
        heads.iter().map(|h| (h.seq, s.judge(h).unwrap())).collect()
    }

    fn taken(o: SelectArgs) -> Vec<u64> {
        let wanted = |v: &(u64, Verdict)| v.1 == Verdict::Take;
        verdicts(o)
            .into_iter()
            .filter(wanted)
            .map(|v| v.0)
            .collect()
    }

    #[test]
    fn ranges_select() {
        let s = |t: &str| Some(t.to_owned());
        let all = SelectArgs::default;
        assert_eq!(taken(all()), [1, 2, 3, 4]);
        assert_eq!(
            taken(SelectArgs {
                start_gtid: s("0-1-2,5-1-1"),
                ..all()
            }),
            [3, 4]
        );
        assert_eq!(
            taken(SelectArgs {
                stop_gtid: s("0-1-2"),
                ..all()
            }),
            [1, 2]
        );
        assert_eq!(
            taken(SelectArgs {
                gtids: s("0-1-1,0-1-3..9"),
                ..all()
            }),
            [1, 3, 4]
        );
        assert_eq!(
            taken(SelectArgs {
                gtids: s("0-2-1"),
                ..all()
            }),
            [0u64; 0]
        );
        assert_eq!(
            taken(SelectArgs {
                start_position: s("b.000001:400"),
                ..all()
            }),
            [2, 3, 4]
        );
        assert_eq!(
            taken(SelectArgs {
                start_position: s("400"),
                ..all()
            }),
            [2, 3, 4]
        );
        assert_eq!(
            taken(SelectArgs {
                start_position: s("b.000002"),
                ..all()
            }),
            [3, 4]
        );
        assert_eq!(
            taken(SelectArgs {
                stop_position: s("b.000002:400"),
                ..all()
            }),
            [1, 2, 3]
        );
        assert_eq!(
            taken(SelectArgs {
                start_datetime: s("20"),
                stop_datetime: s("40"),
                ..all()
            }),
            [2, 3]
        );
        let v = verdicts(SelectArgs {
            stop_position: s("b.000002"),
            ..all()
        });
        assert_eq!(v[2].1, Verdict::Stop);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let s = |t: &str| Some(t.to_owned());
        let all = SelectArgs::default;
        for o in [
            SelectArgs {
                start_gtid: s("0-1"),
                ..all()
            },
            SelectArgs {
                start_gtid: s("0-1-1,0-1-2"),
                ..all()
            },
            SelectArgs {
                gtids: s("0-1-5..x"),
                ..all()
            },
            SelectArgs {
                start_position: s("c.000001"),
                ..all()
            },
            SelectArgs {
                start_position: s("b.000001:x"),
                ..all()
            },
            SelectArgs {
                start_datetime: s("yesterday"),
                ..all()
            },
            SelectArgs {
                start_datetime: s("2024-13-01"),
                ..all()
            },
        ] {
            assert!(Selection::new(&o, "b").is_err(), "{o:?}");
        }
        let o = SelectArgs {
            start_position: s("b.000001:301"),
            ..all()
        };
        let mut selection = Selection::new(&o, "b").unwrap();
        assert!(selection.judge(&head(1, 300, 1, 0)).is_err());
    }
}
