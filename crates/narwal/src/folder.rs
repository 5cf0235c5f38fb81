//! A data folder's files, plain or encrypted, for the server and every command; and the commands that change its keys.

use crate::Failure;
use crate::options::Keys;
use narwal_crypt::{Access, Folder, KeyFile, open_folder};
use narwal_log::{Disk, RealDisk};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

/// The disk of a data folder. Every command that opens one gets it here.
pub fn open_disk(
    datadir: &Path,
    key_file: Option<&Path>,
    access: Access,
) -> Result<Folder, Failure> {
    let index = datadir.join(format!("{}.index", narwal_binlog::DEFAULT_BASE_NAME));
    if access == Access::Read && index.exists() {
        return Err(Failure::Run(format!(
            "{}: this folder was made with --binlog-storage-engine=FILE, for comparisons. No command but narwal serve reads it; its binary log files are for mariadb-binlog",
            datadir.display()
        )));
    }
    let keys = key_file.map(KeyFile::read).transpose().map_err(failure)?;
    open_folder(Arc::new(RealDisk), datadir, keys.as_ref(), access).map_err(failure)
}

fn failure(e: narwal_crypt::CryptError) -> Failure {
    Failure::Run(e.to_string())
}

/// What to do to a folder's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCommand {
    /// `narwal rotate-key`
    Rotate,
    /// `narwal encrypt`
    Encrypt,
    /// `narwal decrypt`
    Decrypt,
}

/// Runs one of them.
pub fn run(command: KeyCommand, o: &Keys) -> Result<(), Failure> {
    let dir = &o.datadir;
    if !dir.is_dir() {
        return Err(Failure::Run(format!(
            "{}: no such data folder",
            dir.display()
        )));
    }
    let path = o
        .key_file
        .as_deref()
        .ok_or_else(|| Failure::Usage("--encryption-key-file is needed".into()))?;
    let keys = KeyFile::read(path).map_err(failure)?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let terminal = std::io::stderr().is_terminal();
    let mut last = u64::MAX;
    let mut progress = |done: u64, all: u64| {
        let percent = done * 100 / all.max(1);
        if terminal && percent != last {
            last = percent;
            let end = if done == all { "\n" } else { "" };
            let _ = write!(std::io::stderr(), "\r{percent}% of {} MiB{end}", all >> 20);
        }
    };
    match command {
        KeyCommand::Rotate => {
            let r = narwal_crypt::rotate_key(&disk, dir, &keys, o.new_data_key, &mut progress)
                .map_err(failure)?;
            println!(
                "wrapped with master key {} (before: {})",
                r.new_master, r.old_master
            );
            if let Some(id) = r.new_data_key {
                println!("every file is encrypted anew, with data key {id}");
            }
        }
        KeyCommand::Encrypt => {
            narwal_crypt::encrypt_folder(&disk, dir, &keys, &mut progress).map_err(failure)?;
            println!(
                "{} is encrypted, with master key {}",
                dir.display(),
                keys.newest()
            );
        }
        KeyCommand::Decrypt => {
            narwal_crypt::decrypt_folder(&disk, dir, &keys, &mut progress).map_err(failure)?;
            println!("{} is not encrypted any more", dir.display());
        }
    }
    Ok(())
}
