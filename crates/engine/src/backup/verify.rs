//! Reading a backup back, with the earlier ones that it is incremental to: every byte is checked.

use crate::backup::manifest::{FileEntry, Kept, MANIFEST, Manifest};
use crate::error::io_error;
use crate::{EngineError, Result};
use narwal_log::{Disk, DiskFile};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// A backup and what it is incremental to, newest first.
#[derive(Debug)]
pub struct Chain {
    disk: Arc<dyn Disk>,
    links: Vec<(Manifest, PathBuf)>,
}

/// Something wrong with a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// Where in it: the damage is in the bytes from here on that one checksum covers.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, offset) = (self.path.display(), self.offset);
        write!(f, "{path}, byte {offset}: {}", self.what)
    }
}

fn open(disk: &dyn Disk, path: &Path) -> Result<Arc<dyn DiskFile>> {
    disk.open_read(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => EngineError::Corrupt(format!(
            "{}: the file is missing; the backup is not whole",
            path.display()
        )),
        _ => io_error("opening", path, &e),
    })
}

/// A file of one backup of the chain: its entry, where its bytes are, and the slot there of each block it has (`None`: all, in order).
type Level<'a> = (&'a FileEntry, PathBuf, Option<HashMap<u64, u64>>);

/// The bytes of a block, and whether all of them are there.
fn read(file: &dyn DiskFile, path: &Path, at: u64, buf: &mut [u8]) -> Result<bool> {
    let n = file
        .read_at(buf, at)
        .map_err(|e| io_error("reading", path, &e))?;
    Ok(n == buf.len())
}

impl Chain {
    /// Opens the backup in `dir`. A parent is looked for where it was when the backup was made, in `also`, and beside the
    /// backup under its old name.
    ///
    /// # Errors
    /// A manifest that is missing or damaged; a parent that is not there or is another backup.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path, also: &[PathBuf]) -> Result<Chain> {
        let mut links: Vec<(Manifest, PathBuf)> =
            vec![(Manifest::read(&*disk, dir)?, dir.to_owned())];
        while let Some((parent, from)) = links
            .last()
            .and_then(|(m, d)| Some((m.parent.clone()?, d.clone())))
        {
            let mut places = also.to_vec();
            if let (Some(up), Some(name)) = (from.parent(), parent.path.file_name()) {
                places.push(up.join(name));
            }
            places.push(parent.path.clone());
            let mut found = None;
            let mut seen = Vec::new();
            for place in places {
                match Manifest::read(&*disk, &place) {
                    Ok(m) if m.id == parent.id => {
                        found = Some((m, place));
                        break;
                    }
                    Ok(m) => seen.push(format!("{} is the backup {}", place.display(), m.id)),
                    Err(e) => seen.push(e.to_string()),
                }
            }
            let Some(link) = found else {
                return Err(EngineError::Corrupt(format!(
                    "{} is incremental to the backup {}, which is not found ({}); name its folder",
                    from.display(),
                    parent.id,
                    seen.join("; ")
                )));
            };
            if links.iter().any(|(m, _)| m.id == link.0.id) {
                return Err(EngineError::Corrupt(format!(
                    "{} is its own parent",
                    link.1.display()
                )));
            }
            links.push(link);
        }
        Ok(Chain { disk, links })
    }

    /// The backup's manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.links[0].0
    }

    /// The folders, newest first.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.links.iter().map(|(_, d)| d.as_path())
    }

    /// Bytes of all its files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let kept = |f: &FileEntry| match &f.kept {
            Kept::Whole => f.size,
            Kept::Parent => 0,
            Kept::Blocks(b) => b.len() as u64 * f.block,
        };
        let files = self.links.iter().flat_map(|(m, _)| &m.files);
        files.map(kept).sum()
    }

    /// Reads everything. `told` hears of bytes read and says whether to go on. An empty list: every byte is as it was.
    ///
    /// # Errors
    /// Errors of reading other than what is wrong with the backup.
    pub fn verify(&self, mut told: impl FnMut(u64) -> Result<()>) -> Result<Vec<Damage>> {
        let mut all = Vec::new();
        for (manifest, dir) in &self.links {
            let mut names = BTreeSet::from([MANIFEST.to_owned()]);
            for f in &manifest.files {
                if let Some(name) = f.stored_name() {
                    self.verify_file(f, &dir.join(&name), &mut all, &mut told)?;
                    names.insert(name);
                }
            }
            for (prefix, sub) in [("", dir.clone()), ("log/", dir.join("log"))] {
                for name in self.disk.list(&sub).unwrap_or_default() {
                    let name = format!("{prefix}{name}");
                    if name != "log" && !names.contains(&name) {
                        all.push(Damage {
                            path: dir.join(&name),
                            offset: 0,
                            what: "the backup knows of no such file".into(),
                        });
                    }
                }
            }
        }
        Ok(all)
    }

    fn verify_file(
        &self,
        f: &FileEntry,
        path: &Path,
        all: &mut Vec<Damage>,
        told: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let mut damage = |offset: u64, what: String| {
            all.push(Damage {
                path: path.to_owned(),
                offset,
                what,
            });
        };
        let file = match self.disk.open_read(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                damage(0, "the file is missing".into());
                return Ok(());
            }
            Err(e) => return Err(io_error("opening", path, &e)),
        };
        let len = file.len().map_err(|e| io_error("reading", path, &e))?;
        let blocks: Vec<u64> = match &f.kept {
            Kept::Blocks(b) => b.clone(),
            _ => (0..f.blocks()).collect(),
        };
        let packed = matches!(f.kept, Kept::Blocks(_));
        let want = if packed {
            blocks.len() as u64 * f.block
        } else {
            f.size
        };
        if len != want {
            damage(
                len.min(want),
                format!("the file is {len} bytes long and should be {want}"),
            );
        }
        let mut buf = vec![0; f.block as usize];
        for (slot, &i) in blocks.iter().enumerate() {
            let at = slot as u64 * f.block;
            let n = f.block_len(i) as usize;
            let held = if packed { f.block as usize } else { n };
            let whole = read(&*file, path, at, &mut buf[..held])?;
            let good = Some(xxh3_64(&buf[..n])) == f.sum(i) && buf[n..held].iter().all(|b| *b == 0);
            if !whole || !good {
                damage(
                    at,
                    format!("the {held} bytes from here on are not what was backed up"),
                );
            }
            told(held as u64)?;
        }
        Ok(())
    }

    /// Calls `give` with the blocks of a file in order, each checked.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] names the file and place of what is not as it was; errors of `give`.
    pub(crate) fn read_file(
        &self,
        name: &str,
        mut give: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        // Where each block may be had, oldest last.
        let mut levels: Vec<Level<'_>> = Vec::new();
        for (m, dir) in &self.links {
            let f = m.file(name).ok_or_else(|| {
                EngineError::Corrupt(format!(
                    "{}: has no {name}, which a later backup takes from it",
                    dir.join(MANIFEST).display()
                ))
            })?;
            match &f.kept {
                Kept::Parent => {}
                Kept::Whole => {
                    levels.push((f, dir.join(name), None));
                    break;
                }
                Kept::Blocks(b) => {
                    let slots = b.iter().zip(0..).map(|(b, s)| (*b, s)).collect();
                    let path = dir.join(f.stored_name().unwrap_or_default());
                    levels.push((f, path, Some(slots)));
                }
            }
        }
        let files: Vec<Arc<dyn DiskFile>> = levels
            .iter()
            .map(|(_, path, _)| open(&*self.disk, path))
            .collect::<Result<_>>()?;
        let f = self.links[0]
            .0
            .file(name)
            .ok_or_else(|| EngineError::Corrupt(format!("no {name} in the backup")))?;
        let mut buf = vec![0; f.block as usize];
        for i in 0..f.blocks() {
            let n = f.block_len(i) as usize;
            let found = levels
                .iter()
                .zip(&files)
                .find_map(|((_, path, slots), file)| {
                    let slot = match slots {
                        None => i,
                        Some(s) => *s.get(&i)?,
                    };
                    Some((slot * f.block, path, file))
                });
            let Some((at, path, file)) = found else {
                return Err(EngineError::Corrupt(format!(
                    "block {i} of {name} is in none of the backups"
                )));
            };
            let whole = read(&**file, path, at, &mut buf[..n])?;
            if !whole || Some(xxh3_64(&buf[..n])) != f.sum(i) {
                return Err(EngineError::Corrupt(format!(
                    "{}, byte {at}: the {n} bytes from here on are not what was backed up",
                    path.display()
                )));
            }
            give(i * f.block, &buf[..n])?;
        }
        Ok(())
    }
}
