//! The tables of `docs/variables.md`, made from the rows.

use super::{Effect, Kind, SUBJECTS, Scope, VariableDef};

fn scope(d: &VariableDef) -> &'static str {
    match d.scope {
        Scope::Global => "global",
        Scope::Both => "both",
        Scope::Session => "session",
    }
}

fn values(d: &VariableDef) -> String {
    match d.kind {
        Kind::Bool => "ON, OFF".to_string(),
        Kind::UInt(min, u64::MAX, _) => format!("{min} and up"),
        Kind::UInt(min, max, _) => format!("{min} to {max}"),
        Kind::Double(min, max) => format!("{min} to {max}, with fractions"),
        Kind::Enum(names) => names.join(", "),
        Kind::Flags(names) => format!("on, off or default of {}", names.join(", ")),
        Kind::Set(names) => format!("any of {}", names.join(", ")),
        Kind::Text => "text".into(),
        Kind::SqlMode => "SQL modes".into(),
        Kind::Charset => "character set".into(),
        Kind::Collation => "collation".into(),
        Kind::TimeZone => {
            "`SYSTEM` (UTC), `-12:59` to `+13:00`, names such as `Europe/Berlin`".into()
        }
        Kind::Locale => "a language: `de_DE`".into(),
        Kind::Engine => "InnoDB, Narwal, and engines of MariaDB that it stands for".into(),
    }
}

fn effect(d: &VariableDef) -> &'static str {
    match d.effect {
        Effect::Live | Effect::State => "takes effect",
        Effect::Startup => "at start only",
        Effect::Computed => "read only",
        Effect::Inert => "no effect, with a warning",
        Effect::Fixed => "default only",
    }
}

fn markdown() -> String {
    let mut s = String::new();
    for (heading, rows) in SUBJECTS {
        s.push_str(&format!(
            "\n### {heading}\n\n| Variable | Scope | Values | Default | Setting it | What it is for |\n|---|---|---|---|---|---|\n"
        ));
        for d in *rows {
            let quoted = |text| match text {
                "" => String::new(),
                text => format!("`{text}`"),
            };
            let mut default = quoted(d.default);
            if let Some(mysqls) = d.hooks.mysql_default {
                default = format!("{default} (MySQL's face: {})", quoted(mysqls));
            }
            s.push_str(&format!(
                "| `{}` | {} | {} | {default} | {} | {} |\n",
                d.name,
                scope(d),
                values(d),
                effect(d),
                d.doc
            ));
        }
    }
    s
}

/// The heading under which the tables are.
const HEADING: &str = "## All variables\n";

/// With NARWAL_BLESS=1 in the environment it writes the tables instead.
#[test]
fn the_documentation_lists_every_variable() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/variables.md");
    let doc = std::fs::read_to_string(path).unwrap();
    let start = doc.find(HEADING).unwrap() + HEADING.len();
    if std::env::var_os("NARWAL_BLESS").is_some() {
        std::fs::write(path, format!("{}{}", &doc[..start], markdown())).unwrap();
        return;
    }
    assert_eq!(
        &doc[start..],
        markdown(),
        "docs/variables.md is stale: run this test with NARWAL_BLESS=1"
    );
}
