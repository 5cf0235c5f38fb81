//! The files of this crate import one way: no file needs, by whatever detour, a file that needs it.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Module names (`show::filter`) and their sources without tests and comments.
fn modules(folder: &Path, prefix: &str, out: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        if path.is_dir() {
            modules(&path, &format!("{prefix}{name}::"), out);
        } else if path.extension().is_some_and(|e| e == "rs") && name != "lib" {
            let module = match name.as_str() {
                "mod" => prefix.trim_end_matches("::").to_string(),
                _ => format!("{prefix}{name}"),
            };
            let text = std::fs::read_to_string(path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let code: Vec<&str> = code
                .lines()
                .map(|l| l.split("//").next().unwrap_or_default())
                .collect();
            out.insert(module, code.join("\n"));
        }
    }
}

/// The paths of a `use`, with braces spelt out.
fn spell_out(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((front, rest)) = tree.split_once('{') else {
        return vec![tree.to_string()];
    };
    let inner = rest.rsplit_once('}').map_or(rest, |r| r.0);
    let (mut depth, mut part, mut parts) = (0, String::new(), Vec::new());
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    let parts = parts.iter().map(|p| p.trim()).filter(|p| !p.is_empty());
    parts
        .flat_map(|p| spell_out(&format!("{front}{}", if p == "self" { "" } else { p })))
        .collect()
}

/// The module that a path from the crate's root is in.
fn module_of(path: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let mut path = path.trim_end_matches("::");
    loop {
        if modules.contains_key(path) {
            return Some(path.to_string());
        }
        path = path.rsplit_once("::")?.0;
    }
}

/// What a module names of other modules of the crate.
fn needs(module: &str, code: &str, modules: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let parent = module.rsplit_once("::").map_or("", |p| p.0);
    for (begin, base) in [("crate::", ""), ("super::", parent)] {
        for (at, _) in code.match_indices(begin) {
            let rest = &code[at + begin.len()..];
            let end = match code[..at].trim_end().ends_with("use") {
                true => rest.find(';').unwrap_or(rest.len()),
                false => rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
                    .unwrap_or(rest.len()),
            };
            for path in spell_out(&rest[..end]) {
                let path = match base {
                    "" => path,
                    base => format!("{base}::{path}"),
                };
                found.extend(module_of(&path, modules));
            }
        }
    }
    found.remove(module);
    found
}

#[test]
fn no_file_is_in_a_circle() {
    let mut all = BTreeMap::new();
    modules(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        "",
        &mut all,
    );
    let mut left: BTreeMap<&str, BTreeSet<String>> = all
        .iter()
        .map(|(m, code)| (m.as_str(), needs(m, code, &all)))
        .collect();
    // Takes away, again and again, what needs nothing that is left, and what nothing needs that is left.
    loop {
        let names: BTreeSet<String> = left.keys().map(|m| (*m).to_string()).collect();
        let needed: BTreeSet<String> = left.values().flatten().cloned().collect();
        let before = left.len();
        left.retain(|m, needs| !needs.is_disjoint(&names) && needed.contains(*m));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "these import each other: {left:#?}");
}
