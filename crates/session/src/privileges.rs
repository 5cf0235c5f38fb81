//! Privileges and sets of them, with MariaDB 10.11's names and levels.

use narwal_sql::Privilege as TablePrivilege;

/// A set of privileges; bit `i` is `NAMES[i]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct PrivilegeSet(pub u64);

/// Privilege names in the order that SHOW GRANTS prints them. The last is GRANT OPTION, printed apart.
pub const NAMES: [&str; 39] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "RELOAD",
    "SHUTDOWN",
    "PROCESS",
    "FILE",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "SHOW DATABASES",
    "SUPER",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
    "EXECUTE",
    "REPLICATION SLAVE",
    "BINLOG MONITOR",
    "CREATE VIEW",
    "SHOW VIEW",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "CREATE USER",
    "EVENT",
    "TRIGGER",
    "CREATE TABLESPACE",
    "DELETE HISTORY",
    "SET USER",
    "FEDERATED ADMIN",
    "CONNECTION ADMIN",
    "READ_ONLY ADMIN",
    "REPLICATION SLAVE ADMIN",
    "REPLICATION MASTER ADMIN",
    "BINLOG ADMIN",
    "BINLOG REPLAY",
    "SLAVE MONITOR",
    "GRANT OPTION",
];

/// Other spellings that GRANT takes, and what they mean.
const ALIASES: [(&str, &str); 6] = [
    ("REPLICATION CLIENT", "BINLOG MONITOR"),
    ("REPLICATION REPLICA", "REPLICATION SLAVE"),
    ("REPLICATION REPLICA ADMIN", "REPLICATION SLAVE ADMIN"),
    ("REPLICA MONITOR", "SLAVE MONITOR"),
    ("DELETE VERSIONING ROWS", "DELETE HISTORY"),
    ("CREATE TEMPORARY TABLE", "CREATE TEMPORARY TABLES"),
];

/// The privileges that stand in front of GRANT OPTION in MariaDB's number.
const LOW: u64 = (1 << 10) - 1;

#[allow(missing_docs)]
impl PrivilegeSet {
    pub const NONE: PrivilegeSet = PrivilegeSet(0);
    pub const SELECT: PrivilegeSet = PrivilegeSet(1);
    pub const INSERT: PrivilegeSet = PrivilegeSet(1 << 1);
    pub const UPDATE: PrivilegeSet = PrivilegeSet(1 << 2);
    pub const DELETE: PrivilegeSet = PrivilegeSet(1 << 3);
    pub const CREATE: PrivilegeSet = PrivilegeSet(1 << 4);
    pub const DROP: PrivilegeSet = PrivilegeSet(1 << 5);
    pub const RELOAD: PrivilegeSet = PrivilegeSet(1 << 6);
    pub const SHUTDOWN: PrivilegeSet = PrivilegeSet(1 << 7);
    pub const PROCESS: PrivilegeSet = PrivilegeSet(1 << 8);
    pub const FILE: PrivilegeSet = PrivilegeSet(1 << 9);
    pub const REFERENCES: PrivilegeSet = PrivilegeSet(1 << 10);
    pub const INDEX: PrivilegeSet = PrivilegeSet(1 << 11);
    pub const ALTER: PrivilegeSet = PrivilegeSet(1 << 12);
    pub const SHOW_DATABASES: PrivilegeSet = PrivilegeSet(1 << 13);
    pub const SUPER: PrivilegeSet = PrivilegeSet(1 << 14);
    pub const CREATE_TEMPORARY_TABLES: PrivilegeSet = PrivilegeSet(1 << 15);
    pub const LOCK_TABLES: PrivilegeSet = PrivilegeSet(1 << 16);
    pub const EXECUTE: PrivilegeSet = PrivilegeSet(1 << 17);
    pub const REPLICATION_SLAVE: PrivilegeSet = PrivilegeSet(1 << 18);
    pub const BINLOG_MONITOR: PrivilegeSet = PrivilegeSet(1 << 19);
    pub const CREATE_VIEW: PrivilegeSet = PrivilegeSet(1 << 20);
    pub const SHOW_VIEW: PrivilegeSet = PrivilegeSet(1 << 21);
    pub const CREATE_ROUTINE: PrivilegeSet = PrivilegeSet(1 << 22);
    pub const ALTER_ROUTINE: PrivilegeSet = PrivilegeSet(1 << 23);
    pub const EVENT: PrivilegeSet = PrivilegeSet(1 << 25);
    pub const TRIGGER: PrivilegeSet = PrivilegeSet(1 << 26);
    pub const SET_USER: PrivilegeSet = PrivilegeSet(1 << 29);
    pub const CREATE_USER: PrivilegeSet = PrivilegeSet(1 << 24);
    pub const FEDERATED_ADMIN: PrivilegeSet = PrivilegeSet(1 << 30);
    pub const CONNECTION_ADMIN: PrivilegeSet = PrivilegeSet(1 << 31);
    pub const READ_ONLY_ADMIN: PrivilegeSet = PrivilegeSet(1 << 32);
    pub const REPLICATION_SLAVE_ADMIN: PrivilegeSet = PrivilegeSet(1 << 33);
    pub const REPLICATION_MASTER_ADMIN: PrivilegeSet = PrivilegeSet(1 << 34);
    pub const BINLOG_ADMIN: PrivilegeSet = PrivilegeSet(1 << 35);
    pub const BINLOG_REPLAY: PrivilegeSet = PrivilegeSet(1 << 36);
    pub const SLAVE_MONITOR: PrivilegeSet = PrivilegeSet(1 << 37);
    pub const GRANT_OPTION: PrivilegeSet = PrivilegeSet(1 << 38);
    /// All that can be granted ON *.*, without GRANT OPTION.
    pub const ALL_GLOBAL: PrivilegeSet = PrivilegeSet((1 << 38) - 1);
    /// All that can be granted ON db.*, without GRANT OPTION.
    pub const ALL_DATABASE: PrivilegeSet = PrivilegeSet(
        0b111111
            | 1 << 10
            | 1 << 11
            | 1 << 12
            | 1 << 15
            | 1 << 16
            | 1 << 17
            | 1 << 20
            | 1 << 21
            | 1 << 22
            | 1 << 23
            | 1 << 25
            | 1 << 26
            | 1 << 28,
    );
    /// All that can be granted ON db.table, without GRANT OPTION.
    pub const ALL_TABLE: PrivilegeSet = PrivilegeSet(
        0b111111 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 20 | 1 << 21 | 1 << 26 | 1 << 28,
    );
}

impl PrivilegeSet {
    /// All that can be granted on a routine, without GRANT OPTION.
    pub const ALL_ROUTINE: PrivilegeSet = Self::EXECUTE.with(Self::ALTER_ROUTINE);
    /// Rights to a table's rows.
    pub const ON_ROWS: PrivilegeSet = Self::SELECT
        .with(Self::INSERT)
        .with(Self::UPDATE)
        .with(Self::DELETE);
    /// All that can be granted on single columns.
    pub const ALL_COLUMN: PrivilegeSet = Self::SELECT
        .with(Self::INSERT)
        .with(Self::UPDATE)
        .with(Self::REFERENCES);

    /// True if all of `other` are in the set.
    pub fn has(self, other: PrivilegeSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if at least one of `other` is in the set.
    pub fn has_any(self, other: PrivilegeSet) -> bool {
        self.0 & other.0 != 0
    }

    /// True if there is no privilege in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Both sets together.
    pub const fn with(self, other: PrivilegeSet) -> PrivilegeSet {
        PrivilegeSet(self.0 | other.0)
    }

    /// This set without `other`.
    pub fn without(self, other: PrivilegeSet) -> PrivilegeSet {
        PrivilegeSet(self.0 & !other.0)
    }

    /// The privilege of that name (or alias), in any case.
    pub fn by_name(name: &str) -> Option<PrivilegeSet> {
        let name = ALIASES
            .iter()
            .find(|(a, _)| a.eq_ignore_ascii_case(name))
            .map_or(name, |(_, n)| n);
        NAMES
            .iter()
            .position(|n| n.eq_ignore_ascii_case(name))
            .map(|i| PrivilegeSet(1 << i))
    }

    /// Names in SHOW GRANTS order, GRANT OPTION included.
    pub fn names(self) -> Vec<&'static str> {
        NAMES
            .iter()
            .enumerate()
            .filter(|(i, _)| self.0 >> i & 1 == 1)
            .map(|(_, n)| *n)
            .collect()
    }

    /// The set of these names; unknown ones (from a newer version's file) are left out.
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> PrivilegeSet {
        names
            .iter()
            .filter_map(|n| Self::by_name(n.as_ref()))
            .fold(PrivilegeSet::NONE, PrivilegeSet::with)
    }

    /// The number that MariaDB has for the set, as `mysql.global_priv` shows it: there GRANT OPTION stands behind FILE.
    pub(crate) fn access(self) -> u64 {
        let grant = self.0 & Self::GRANT_OPTION.0;
        let low = self.0 & LOW;
        let high = self.0 & !LOW & !Self::GRANT_OPTION.0;
        low | high << 1 | u64::from(grant != 0) << 10
    }

    /// The set of such a number.
    pub(crate) fn from_access(access: u64) -> PrivilegeSet {
        let grant = match access >> 10 & 1 {
            1 => Self::GRANT_OPTION,
            _ => Self::NONE,
        };
        let high = access >> 1 & Self::ALL_GLOBAL.0 & !LOW;
        PrivilegeSet(access & LOW | high).with(grant)
    }

    /// The list in a GRANT statement at a level whose ALL is `all`: `ALL PRIVILEGES`, `USAGE`, or names; without
    /// GRANT OPTION.
    pub fn grant_list(self, all: PrivilegeSet) -> String {
        let p = self.without(PrivilegeSet::GRANT_OPTION);
        if p.is_empty() {
            "USAGE".into()
        } else if p == all {
            "ALL PRIVILEGES".into()
        } else {
            p.names().join(", ")
        }
    }
}

impl From<TablePrivilege> for PrivilegeSet {
    fn from(p: TablePrivilege) -> Self {
        match p {
            TablePrivilege::Select => PrivilegeSet::SELECT,
            TablePrivilege::Insert => PrivilegeSet::INSERT,
            TablePrivilege::Update => PrivilegeSet::UPDATE,
            TablePrivilege::Delete => PrivilegeSet::DELETE,
            TablePrivilege::Create => PrivilegeSet::CREATE,
            TablePrivilege::Drop => PrivilegeSet::DROP,
            TablePrivilege::Index => PrivilegeSet::INDEX,
            TablePrivilege::Alter => PrivilegeSet::ALTER,
            TablePrivilege::CreateTemporary => PrivilegeSet::CREATE_TEMPORARY_TABLES,
            TablePrivilege::CreateView => PrivilegeSet::CREATE_VIEW,
            TablePrivilege::References => PrivilegeSet::REFERENCES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_match_names() {
        for (p, n) in [
            (PrivilegeSet::SELECT, "SELECT"),
            (PrivilegeSet::DROP, "DROP"),
            (PrivilegeSet::PROCESS, "PROCESS"),
            (PrivilegeSet::CREATE_VIEW, "CREATE VIEW"),
            (PrivilegeSet::SHOW_VIEW, "SHOW VIEW"),
            (PrivilegeSet::SET_USER, "SET USER"),
            (PrivilegeSet::ALTER, "ALTER"),
            (PrivilegeSet::SHOW_DATABASES, "SHOW DATABASES"),
            (PrivilegeSet::SUPER, "SUPER"),
            (PrivilegeSet::LOCK_TABLES, "LOCK TABLES"),
            (PrivilegeSet::REPLICATION_SLAVE, "REPLICATION SLAVE"),
            (PrivilegeSet::BINLOG_MONITOR, "REPLICATION CLIENT"),
            (PrivilegeSet::CREATE_USER, "CREATE USER"),
            (PrivilegeSet::CONNECTION_ADMIN, "CONNECTION ADMIN"),
            (PrivilegeSet::READ_ONLY_ADMIN, "READ_ONLY ADMIN"),
            (
                PrivilegeSet::REPLICATION_SLAVE_ADMIN,
                "REPLICATION SLAVE ADMIN",
            ),
            (
                PrivilegeSet::REPLICATION_MASTER_ADMIN,
                "REPLICATION MASTER ADMIN",
            ),
            (PrivilegeSet::BINLOG_ADMIN, "BINLOG ADMIN"),
            (PrivilegeSet::BINLOG_REPLAY, "BINLOG REPLAY"),
            (PrivilegeSet::SLAVE_MONITOR, "SLAVE MONITOR"),
            (PrivilegeSet::GRANT_OPTION, "GRANT OPTION"),
        ] {
            assert_eq!(PrivilegeSet::by_name(n), Some(p), "{n}");
        }
        assert_eq!(PrivilegeSet::by_name("FLY"), None);
    }

    #[test]
    fn levels_hold_what_mariadb_lets_be_granted_there() {
        let db = PrivilegeSet::ALL_DATABASE.names();
        assert_eq!(
            db,
            [
                "SELECT",
                "INSERT",
                "UPDATE",
                "DELETE",
                "CREATE",
                "DROP",
                "REFERENCES",
                "INDEX",
                "ALTER",
                "CREATE TEMPORARY TABLES",
                "LOCK TABLES",
                "EXECUTE",
                "CREATE VIEW",
                "SHOW VIEW",
                "CREATE ROUTINE",
                "ALTER ROUTINE",
                "EVENT",
                "TRIGGER",
                "DELETE HISTORY"
            ]
        );
        assert!(PrivilegeSet::ALL_DATABASE.has(PrivilegeSet::ALL_TABLE));
        assert_eq!(PrivilegeSet::ALL_TABLE.names().len(), 13);
    }

    #[test]
    fn grant_lists() {
        let all = PrivilegeSet::ALL_TABLE;
        assert_eq!(PrivilegeSet::NONE.grant_list(all), "USAGE");
        assert_eq!(
            all.with(PrivilegeSet::GRANT_OPTION).grant_list(all),
            "ALL PRIVILEGES"
        );
        assert_eq!(
            PrivilegeSet::UPDATE
                .with(PrivilegeSet::SELECT)
                .grant_list(all),
            "SELECT, UPDATE"
        );
    }
}
