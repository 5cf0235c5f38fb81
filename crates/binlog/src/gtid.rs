//! MariaDB global transaction ids and the state made of them.

use std::fmt;
use std::str::FromStr;

use crate::error::BinlogError;
use crate::lenenc::Reader;

/// A global transaction id in MariaDB's form, `domain-server-sequence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Gtid {
    /// Replication domain: an independent, ordered stream.
    pub domain: u32,
    /// Server where the transaction was first committed.
    pub server: u32,
    /// Sequence number in the domain, from 1.
    pub seq: u64,
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain, self.server, self.seq)
    }
}

impl FromStr for Gtid {
    type Err = BinlogError;

    fn from_str(text: &str) -> Result<Self, BinlogError> {
        fn number<T: FromStr>(part: Option<&str>) -> Option<T> {
            let part = part?;
            // FromStr of integers takes a sign; a GTID does not.
            if !part.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            part.parse().ok()
        }
        let mut parts = text.trim().split('-');
        let gtid = (|| {
            Some(Self {
                domain: number(parts.next())?,
                server: number(parts.next())?,
                seq: number(parts.next())?,
            })
        })();
        match (gtid, parts.next()) {
            (Some(gtid), None) => Ok(gtid),
            _ => Err(BinlogError::GtidSyntax(text.to_owned())),
        }
    }
}

/// What a transaction asks of its GTID; what it leaves open comes from the server's settings and counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GtidChoice {
    /// `gtid_domain_id` of the session.
    pub domain_id: Option<u32>,
    /// `server_id` of the session.
    pub server_id: Option<u32>,
    /// `gtid_seq_no`: the sequence number itself, from 1.
    pub seq_no: Option<u64>,
    /// `gtid_strict_mode`: a sequence number must be greater than the last one in its domain.
    pub strict: bool,
}

/// A GTID that strict mode refuses. MariaDB's error 1950.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "GTID {gtid} does not come after {last}, the last one in its domain, and strict mode is on"
)]
pub struct GtidError {
    /// The GTID asked for.
    pub gtid: Gtid,
    /// The last one in its domain.
    pub last: Gtid,
}

/// The last sequence number of every (domain, server), and which server was last in each domain: what a
/// GTID_LIST event at the head of a binary log file says of everything before that file.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct GtidState {
    // Sorted by domain; few, so a scan is quickest.
    domains: Vec<DomainState>,
}

#[derive(Debug, PartialEq, Eq)]
struct DomainState {
    domain: u32,
    // Largest sequence number seen in the domain from any server.
    max_seq: u64,
    // (server, last sequence number); the server that wrote last stands last.
    servers: Vec<(u32, u64)>,
}

// By hand for `clone_from`: readers of the log copy the state at each group, and need no memory for it then.
impl Clone for GtidState {
    fn clone(&self) -> Self {
        GtidState {
            domains: self.domains.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        self.domains.clone_from(&from.domains);
    }
}

impl Clone for DomainState {
    fn clone(&self) -> Self {
        DomainState {
            domain: self.domain,
            max_seq: self.max_seq,
            servers: self.servers.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        (self.domain, self.max_seq) = (from.domain, from.max_seq);
        self.servers.clone_from(&from.servers);
    }
}

impl GtidState {
    /// A state before any transaction.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that `gtid` was written.
    pub fn observe(&mut self, gtid: Gtid) {
        let at = match self
            .domains
            .binary_search_by_key(&gtid.domain, |d| d.domain)
        {
            Ok(at) => at,
            Err(at) => {
                self.domains.insert(
                    at,
                    DomainState {
                        domain: gtid.domain,
                        max_seq: 0,
                        servers: Vec::new(),
                    },
                );
                at
            }
        };
        let state = &mut self.domains[at];
        state.max_seq = state.max_seq.max(gtid.seq);
        match state.servers.last_mut() {
            Some(last) if last.0 == gtid.server => last.1 = gtid.seq,
            _ => {
                state.servers.retain(|s| s.0 != gtid.server);
                state.servers.push((gtid.server, gtid.seq));
            }
        }
    }

    /// The sequence number that the next transaction in `domain` gets.
    #[must_use]
    pub fn next_seq(&self, domain: u32) -> u64 {
        self.domain(domain)
            .map_or(1, |d| d.max_seq.saturating_add(1))
    }

    /// The last GTID written in `domain`.
    #[must_use]
    pub fn last(&self, domain: u32) -> Option<Gtid> {
        let state = self.domain(domain)?;
        let &(server, seq) = state.servers.last()?;
        Some(Gtid {
            domain,
            server,
            seq,
        })
    }

    /// The last sequence number that `server` wrote in `domain`.
    #[must_use]
    pub fn last_of(&self, domain: u32, server: u32) -> Option<u64> {
        let servers = &self.domain(domain)?.servers;
        servers.iter().find(|s| s.0 == server).map(|s| s.1)
    }

    fn domain(&self, domain: u32) -> Option<&DomainState> {
        let at = self
            .domains
            .binary_search_by_key(&domain, |d| d.domain)
            .ok()?;
        Some(&self.domains[at])
    }

    /// Every (domain, server)'s last GTID, by domain; inside a domain the one written last stands last.
    pub fn iter(&self) -> impl Iterator<Item = Gtid> + '_ {
        self.domains.iter().flat_map(|d| {
            d.servers.iter().map(|&(server, seq)| Gtid {
                domain: d.domain,
                server,
                seq,
            })
        })
    }

    /// The last GTID of each domain: the value of `gtid_binlog_pos`.
    pub fn position(&self) -> impl Iterator<Item = Gtid> + '_ {
        self.domains.iter().filter_map(|d| self.last(d.domain))
    }

    /// [`position`](Self::position) as text, `0-1-5,1-2-7`.
    #[must_use]
    pub fn position_text(&self) -> String {
        join(self.position())
    }

    /// Takes a domain out (FLUSH BINARY LOGS DELETE_DOMAIN_ID). False if it is not there.
    pub fn remove_domain(&mut self, domain: u32) -> bool {
        match self.domains.binary_search_by_key(&domain, |d| d.domain) {
            Ok(at) => {
                self.domains.remove(at);
                true
            }
            Err(_) => false,
        }
    }

    /// Number of (domain, server) pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.domains.iter().map(|d| d.servers.len()).sum()
    }

    /// True before the first transaction.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    /// Domains whose largest sequence number no entry says (a later transaction had a smaller one), with it.
    pub(crate) fn hidden_counters(&self) -> impl Iterator<Item = (u32, u64)> + Clone + '_ {
        self.domains
            .iter()
            .filter(|d| d.servers.iter().all(|s| s.1 < d.max_seq))
            .map(|d| (d.domain, d.max_seq))
    }

    /// Sets a domain's largest sequence number if `seq` is greater. False if there is no such domain.
    pub(crate) fn raise_counter(&mut self, domain: u32, seq: u64) -> bool {
        match self.domains.binary_search_by_key(&domain, |d| d.domain) {
            Ok(at) => {
                let max = &mut self.domains[at].max_seq;
                *max = (*max).max(seq);
                true
            }
            Err(_) => false,
        }
    }

    /// Appends the entries as a GTID_LIST event has them: `u32 domain | u32 server | u64 seq`.
    pub(crate) fn encode_entries(&self, buf: &mut Vec<u8>) {
        for gtid in self.iter() {
            buf.extend_from_slice(&gtid.domain.to_le_bytes());
            buf.extend_from_slice(&gtid.server.to_le_bytes());
            buf.extend_from_slice(&gtid.seq.to_le_bytes());
        }
    }

    /// Reads `count` entries.
    pub(crate) fn decode_entries(
        reader: &mut Reader<'_>,
        count: usize,
    ) -> Result<Self, BinlogError> {
        let mut state = Self::new();
        for _ in 0..count {
            state.observe(Gtid {
                domain: reader.u32()?,
                server: reader.u32()?,
                seq: reader.u64()?,
            });
        }
        Ok(state)
    }
}

/// Notes the GTIDs in order.
impl FromIterator<Gtid> for GtidState {
    fn from_iter<I: IntoIterator<Item = Gtid>>(gtids: I) -> Self {
        let mut state = Self::new();
        for gtid in gtids {
            state.observe(gtid);
        }
        state
    }
}

fn join(gtids: impl Iterator<Item = Gtid>) -> String {
    let mut text = String::new();
    for gtid in gtids {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&gtid.to_string());
    }
    text
}

impl fmt::Display for GtidState {
    /// Every entry, as in `gtid_binlog_state`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join(self.iter()))
    }
}

impl FromStr for GtidState {
    type Err = BinlogError;

    /// Reads `0-1-5,1-2-7`; an empty text is the empty state. A (domain, server) named twice is an error.
    fn from_str(text: &str) -> Result<Self, BinlogError> {
        let mut state = Self::new();
        if text.trim().is_empty() {
            return Ok(state);
        }
        for part in text.split(',') {
            let gtid: Gtid = part.parse()?;
            if state.last_of(gtid.domain, gtid.server).is_some() {
                return Err(BinlogError::GtidSyntax(text.to_owned()));
            }
            state.observe(gtid);
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gtid_text() {
        let gtid: Gtid = "0-1-5".parse().unwrap();
        assert_eq!((gtid.domain, gtid.server, gtid.seq), (0, 1, 5));
        assert_eq!(gtid.to_string(), "0-1-5");
        assert_eq!(
            "4294967295-1-18446744073709551615"
                .parse::<Gtid>()
                .unwrap()
                .seq,
            u64::MAX
        );
        for bad in [
            "",
            "0",
            "0-1",
            "0-1-",
            "0-1-2-3",
            "0-1-+2",
            "a-1-2",
            "4294967296-1-1",
            "0--1",
        ] {
            assert!(bad.parse::<Gtid>().is_err(), "{bad}");
        }
    }

    #[test]
    fn state_keeps_the_last_writer_last_and_counts_per_domain() {
        let mut state = GtidState::new();
        assert_eq!(state.next_seq(0), 1);
        for text in ["5-1-100", "0-1-1", "0-2-2", "0-1-3"] {
            state.observe(text.parse().unwrap());
        }
        assert_eq!(state.to_string(), "0-2-2,0-1-3,5-1-100");
        assert_eq!(state.position_text(), "0-1-3,5-1-100");
        assert_eq!(
            (state.next_seq(0), state.next_seq(5), state.next_seq(9)),
            (4, 101, 1)
        );
        assert_eq!(state.last_of(0, 2), Some(2));
        assert_eq!(state.len(), 3);
        assert_eq!(state.to_string().parse::<GtidState>().unwrap(), state);
        assert!("0-1-1,0-1-2".parse::<GtidState>().is_err());
        assert!("0-1-1,".parse::<GtidState>().is_err());
        assert!("".parse::<GtidState>().unwrap().is_empty());
    }
}
