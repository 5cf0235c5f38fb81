//! Names of storage engines. There is one store; a definition may name it, or an engine of MariaDB that it stands for.

/// The store by its own names, as SHOW CREATE TABLE writes them.
pub fn own(name: &str) -> Option<&'static str> {
    ["InnoDB", "Narwal"]
        .into_iter()
        .find(|own| own.eq_ignore_ascii_case(name))
}

/// What MariaDB calls the engine of MERGE tables.
pub const MERGE: &str = "MRG_MyISAM";

/// True for a name of the engine of MERGE tables: they are what they are in MariaDB.
pub fn is_merge(name: &str) -> bool {
    stood_in_for(name) == Some(MERGE)
}

/// MariaDB's name of an engine that counts AUTO_INCREMENT values in groups of rows.
pub fn numbers_groups(name: &str) -> Option<&'static str> {
    stood_in_for(name).filter(|name| ["MyISAM", "Aria", MERGE].contains(name))
}

/// An engine of MariaDB whose tables are made in Narwal's store, by MariaDB's name of it.
pub fn stood_in_for(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 10] = [
        ("MyISAM", "MyISAM"),
        ("Aria", "Aria"),
        ("Maria", "Aria"),
        ("MEMORY", "MEMORY"),
        ("HEAP", "MEMORY"),
        ("MERGE", "MRG_MyISAM"),
        ("MRG_MyISAM", "MRG_MyISAM"),
        ("CSV", "CSV"),
        ("ARCHIVE", "ARCHIVE"),
        ("BLACKHOLE", "BLACKHOLE"),
    ];
    let found = NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
    found.map(|(_, shown)| *shown)
}

/// The engine that a table of this store stands in for, as its definition keeps it. MERGE tables are what they are.
pub fn declared(name: &str) -> Option<String> {
    let found = stood_in_for(name).filter(|name| *name != MERGE);
    found.map(str::to_string)
}
