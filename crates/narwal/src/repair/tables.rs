//! Damaged tables from a replica.

use super::args::RepairArgs;
use super::folder::Folder;
use crate::Failure;
use crate::replica;

/// Fills the damaged tables with the rows of a server that has the same transactions.
pub(super) fn refetch(
    folder: &Folder<'_>,
    args: &RepairArgs,
    from: &str,
    tables: &[String],
) -> Result<(), Failure> {
    if tables.is_empty() {
        return Err(Failure::Damaged(
            "the damage is in what all tables share: build the table store again from the log or a backup (--from), or make the \
             folder anew with narwal replica --from"
                .into(),
        ));
    }
    println!("{}: their rows come from {from}", tables.join(", "));
    if args.dry_run {
        return Ok(());
    }
    let mut words = vec![
        format!("--from={from}"),
        format!("--datadir={}", folder.dir.display()),
        format!("--user={}", args.user),
    ];
    for (name, path) in [
        ("password-file", &args.password_file),
        ("encryption-key-file", &args.encryption_key_file),
    ] {
        words.extend(path.iter().map(|p| format!("--{name}={}", p.display())));
    }
    replica::refetch(&words, folder.dir, tables)
}
