//! `narwal restore`: a data folder out of a backup, as of its end or of another moment.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command, its options |
//! | `archive.rs` | more log from an archive |
//! | `log.rs` | the log of a restored folder: where it is to end |
//! | `settle.rs` | the last step: the folder is opened once |

mod archive;
mod args;
mod log;
mod settle;

pub use archive::url_of;

use crate::Failure;
use crate::backup::bar::{Bar, size};
use crate::backup::{check, stream};
use args::{RestoreArgs, engine};
use narwal_engine::backup::{
    BASE, Chain, FolderSink, Manifest, Piece, begin_folder, end_folder, restore_files,
};
use narwal_log::{Disk, RealDisk};
use std::sync::Arc;

/// Runs the command with the arguments behind `restore`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<RestoreArgs>("narwal restore", args)? else {
        return Ok(());
    };
    let point = args.to.point()?;
    let dir = &args.datadir;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut bar = Bar::new("restore", 0);
    let manifest = if args.from.as_os_str() == "-" {
        from_stream(std::io::stdin().lock(), &args, &disk, &mut bar)?
    } else if args.from.is_file() {
        let file =
            std::fs::File::open(&args.from).map_err(|e| Failure::run(args.from.display(), e))?;
        bar.total = file.metadata().map_or(0, |m| m.len());
        let file = std::io::BufReader::with_capacity(1 << 20, file);
        from_stream(file, &args, &disk, &mut bar)?
    } else {
        from_folder(&args, &disk, &mut bar)?
    };
    bar.clear();
    let ends = log::complete(&args, &manifest, point.as_ref())?;
    end_folder(&*disk, dir).map_err(engine)?;
    let settled = settle::run(&args, &manifest)?;
    let shown = |text: &str| match text {
        "" => "(none)".to_owned(),
        text => text.to_owned(),
    };
    println!(
        "{}: {} restored in {:.1} s",
        dir.display(),
        size(manifest.bytes()),
        bar.seconds()
    );
    println!(
        "GTID position {}, {} position {}{}",
        shown(&settled.gtid_pos),
        settled.file,
        settled.offset,
        match ends.time {
            0 => String::new(),
            t => format!(", last transaction of {}", log::time_text(t)),
        }
    );
    for name in &settled.dropped {
        println!("its connection '{name}' to a source was the old server's, and is not kept");
    }
    let key = args
        .encryption_key_file
        .as_ref()
        .map_or(String::new(), |k| {
            format!(" --encryption-key-file={}", k.display())
        });
    println!(
        "start it:     narwal serve --datadir={}{key} --server-id=N   (not {}, if that server still runs)",
        dir.display(),
        manifest.end.server_id
    );
    println!(
        "as a replica: CHANGE MASTER TO MASTER_HOST='...', MASTER_USER='...', MASTER_PASSWORD='...', MASTER_USE_GTID=slave_pos; START SLAVE;"
    );
    Ok(())
}

/// Whether the key file and the backup go together, before anything is written.
fn check_keys(args: &RestoreArgs, m: &Manifest) -> Result<(), Failure> {
    match (&args.encryption_key_file, m.encrypted) {
        (None, true) => Err(Failure::Usage(
            "the backup is encrypted: name the server's key file with --encryption-key-file".into(),
        )),
        (Some(_), false) => Err(Failure::Usage(
            "the backup is not encrypted: leave --encryption-key-file away, and run narwal encrypt on what was restored".into(),
        )),
        _ => Ok(()),
    }
}

fn from_folder(
    args: &RestoreArgs,
    disk: &Arc<dyn Disk>,
    bar: &mut Bar,
) -> Result<Manifest, Failure> {
    let chain = Chain::open(disk.clone(), &args.from, &args.parent).map_err(engine)?;
    let manifest = chain.manifest().clone();
    check_keys(args, &manifest)?;
    check(&chain, "verify")?;
    begin_folder(&**disk, &args.datadir).map_err(engine)?;
    bar.total = manifest.bytes();
    restore_files(&chain, disk, &args.datadir, |n| {
        bar.add(n);
        Ok(())
    })
    .map_err(engine)?;
    Ok(manifest)
}

fn from_stream(
    from: impl std::io::Read,
    args: &RestoreArgs,
    disk: &Arc<dyn Disk>,
    bar: &mut Bar,
) -> Result<Manifest, Failure> {
    let dir = &args.datadir;
    begin_folder(&**disk, dir).map_err(engine)?;
    let mut sink = FolderSink::into_folder(disk.clone(), dir);
    let manifest = stream::read(from, args.encrypt_key_file.as_deref(), |piece| {
        if let Piece::Data { bytes, .. } = piece {
            bar.add(bytes.len() as u64);
        }
        sink.put(piece).map_err(engine)
    })?;
    for f in &manifest.files {
        let end = Piece::End {
            file: f.name.as_str().into(),
            size: f.size,
        };
        sink.put(&end).map_err(engine)?;
    }
    let files = sink.finish_files().map_err(engine)?;
    for f in &manifest.files {
        let same = files.iter().any(|g| g == f);
        if !same {
            return Err(Failure::Damaged(format!(
                "the stream is damaged: {} is not what was backed up",
                f.name
            )));
        }
    }
    if files.len() != manifest.files.len() || manifest.file(BASE).is_none() {
        return Err(Failure::Damaged(
            "the stream is damaged: its files are not those of its manifest".into(),
        ));
    }
    check_keys(args, &manifest)?;
    Ok(manifest)
}
