//! The encrypting disk against a plain file, under crashes, and the life of a folder's keys.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_crypt::*;
use narwal_log::Disk;
use narwal_log::sim::SimDisk;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/d";

fn keys(ids: &[u32]) -> KeyFile {
    let text: String = ids
        .iter()
        .map(|i| format!("{i};{}\n", format!("{i:02x}").repeat(32)))
        .collect();
    KeyFile::parse(Path::new("test.keys"), text.as_bytes()).unwrap()
}

fn open(
    sim: &SimDisk,
    file: Option<&KeyFile>,
    access: Access,
) -> Result<Arc<dyn Disk>, CryptError> {
    open_folder(Arc::new(sim.clone()), Path::new(DIR), file, access).map(|f| f.disk)
}

fn content(disk: &dyn Disk, path: &Path) -> Vec<u8> {
    let f = disk.open_read(path).unwrap();
    let mut b = vec![0; f.len().unwrap() as usize + 100];
    let n = f.read_at(&mut b, 0).unwrap();
    b.truncate(n);
    b
}

#[derive(Debug, Clone)]
enum Op {
    Write(u64, Vec<u8>),
    Vectored(u64, Vec<Vec<u8>>),
    Zeros(u64, usize),
    SetLen(u64),
    Allocate(u64, u64),
    Read(u64, usize),
    Reopen,
}

fn op() -> impl Strategy<Value = Op> {
    let bytes = || prop::collection::vec(1u8..=255, 0..1500);
    prop_oneof![
        4 => (0u64..5000, bytes()).prop_map(|(a, b)| Op::Write(a, b)),
        2 => (0u64..5000, prop::collection::vec(bytes(), 0..4)).prop_map(|(a, b)| Op::Vectored(a, b)),
        1 => (0u64..5000, 0usize..2000).prop_map(|(a, n)| Op::Zeros(a, n)),
        2 => (0u64..6000).prop_map(Op::SetLen),
        1 => (0u64..5000, 1u64..2000).prop_map(|(a, n)| Op::Allocate(a, n)),
        3 => (0u64..6500, 0usize..3000).prop_map(|(a, n)| Op::Read(a, n)),
        1 => Just(Op::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_call_does_what_it_does_to_a_plain_file(ops in prop::collection::vec(op(), 1..40)) {
        let sim = SimDisk::new();
        let disk = open(&sim, Some(&keys(&[1])), Access::Serve).unwrap();
        let path = Path::new(DIR).join("f");
        let mut f = disk.create(&path).unwrap();
        let mut model: Vec<u8> = Vec::new();
        let put = |m: &mut Vec<u8>, at: u64, b: &[u8]| {
            let at = at as usize;
            if !b.is_empty() {
                m.resize(m.len().max(at + b.len()), 0);
                m[at..at + b.len()].copy_from_slice(b);
            }
        };
        for op in ops {
            match op {
                Op::Write(at, b) => { f.write_at(&b, at).unwrap(); put(&mut model, at, &b); }
                Op::Vectored(at, b) => {
                    let parts: Vec<&[u8]> = b.iter().map(Vec::as_slice).collect();
                    f.write_vectored_at(&parts, at).unwrap();
                    put(&mut model, at, &b.concat());
                }
                Op::Zeros(at, n) => { f.write_at(&vec![0; n], at).unwrap(); put(&mut model, at, &vec![0; n]); }
                Op::SetLen(n) => { f.set_len(n).unwrap(); model.resize(n as usize, 0); }
                Op::Allocate(at, n) => {
                    f.allocate(at, n).unwrap();
                    model.resize(model.len().max((at + n) as usize), 0);
                }
                Op::Read(at, n) => {
                    let mut b = vec![9; n];
                    let got = f.read_at(&mut b, at).unwrap();
                    let want = model.get(at as usize..).unwrap_or(&[]);
                    prop_assert_eq!(&b[..got], &want[..n.min(want.len())]);
                }
                Op::Reopen => f = disk.open(&path).unwrap(),
            }
            prop_assert_eq!(f.len().unwrap(), model.len() as u64);
            prop_assert_eq!(content(&*disk, &path), model.clone());
        }
    }

    /// What was synced survives any crash while bytes behind it, in the same sector too, are written; and what the crash
    /// left behind the end never comes back when the file grows.
    #[test]
    fn synced_bytes_survive_torn_appends(first in 1usize..1500, more in 1usize..3000, cut in 0usize..1500, seed in any::<u64>()) {
        let sim = SimDisk::new();
        let k = keys(&[1]);
        let disk = open(&sim, Some(&k), Access::Serve).unwrap();
        let path = Path::new(DIR).join("f");
        let f = disk.create(&path).unwrap();
        f.write_at(&vec![1; first], 0).unwrap();
        f.sync_data().unwrap();
        disk.sync_dir(Path::new(DIR)).unwrap();
        f.write_at(&vec![2; more], first as u64).unwrap();
        let sim = sim.crash(seed);
        let disk = open(&sim, Some(&k), Access::Serve).unwrap();
        let now = content(&*disk, &path);
        prop_assert!(now.len() >= first && now[..first].iter().all(|b| *b == 1));
        prop_assert!(now[first..].iter().all(|b| *b == 2 || *b == 0));
        let f = disk.open(&path).unwrap();
        let cut = cut.min(now.len()) as u64;
        f.set_len(cut).unwrap();
        f.set_len(9000).unwrap();
        prop_assert!(content(&*disk, &path)[cut as usize..].iter().all(|b| *b == 0));
    }
}

#[test]
fn neighbours_in_a_sector_do_not_lose_each_others_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let disk = open_folder(
        Arc::new(narwal_log::RealDisk),
        dir.path(),
        Some(&keys(&[1])),
        Access::Serve,
    )
    .unwrap()
    .disk;
    let path = dir.path().join("f");
    disk.create(&path).unwrap().set_len(64 * 100).unwrap();
    // All open it at once, with no handle left over from its making.
    let together = std::sync::Barrier::new(8);
    std::thread::scope(|s| {
        for t in 0..8u8 {
            let (disk, path, together) = (&disk, &path, &together);
            s.spawn(move || {
                together.wait();
                let f = disk.open(path).unwrap();
                for i in (u64::from(t)..100).step_by(8) {
                    f.write_at(&[t + 1; 64], i * 64).unwrap();
                    let mut b = [0; 64];
                    f.read_at(&mut b, i * 64).unwrap();
                    assert_eq!(b, [t + 1; 64]);
                }
            });
        }
    });
    for (i, b) in content(&*disk, &path).iter().enumerate() {
        assert_eq!(usize::from(*b), i / 64 % 8 + 1);
    }
}

#[test]
fn folder_and_key_must_fit() {
    let sim = SimDisk::new();
    let d = open(&sim, Some(&keys(&[1])), Access::Serve).unwrap();
    let base = Path::new(DIR).join("base.redb");
    d.create(&base)
        .unwrap()
        .write_at(b"secret secret secret", 0)
        .unwrap();
    assert!(
        !sim.content(&base)
            .unwrap()
            .windows(6)
            .any(|w| w == b"secret")
    );
    assert!(matches!(
        open(&sim, None, Access::Read),
        Err(CryptError::KeyNeeded(_))
    ));
    assert!(matches!(
        open(&sim, Some(&keys(&[2])), Access::Read),
        Err(CryptError::KeyFile { .. })
    ));
    let other =
        KeyFile::parse(Path::new("k"), format!("1;{}", "ee".repeat(32)).as_bytes()).unwrap();
    assert!(matches!(
        open(&sim, Some(&other), Access::Read),
        Err(CryptError::WrongKey { id: 1, .. })
    ));
    // A newer master key wraps anew when a server starts, and the old one is not needed any more.
    open(&sim, Some(&keys(&[1, 2])), Access::Serve).unwrap();
    let d = open(&sim, Some(&keys(&[2])), Access::Read).unwrap();
    assert_eq!(content(&*d, &base), b"secret secret secret");
    // Damage in the page in front is no empty file.
    sim.damage(&base, 0, |b| b[..512].fill(0));
    assert!(d.open(&base).is_err());
    sim.remove(&Path::new(DIR).join(KEYS_NAME)).unwrap();
    sim.damage(&base, 0, |b| b[..8].copy_from_slice(MAGIC));
    sim.damage(&base, 0, |b| {
        b[8] = 1;
        b[12] = 1;
        b[20..24].copy_from_slice(&4096u32.to_le_bytes());
    });
    assert!(matches!(
        open(&sim, None, Access::Read),
        Err(CryptError::KeysMissing(_))
    ));
    // A plain folder.
    let sim = SimDisk::new();
    sim.create(&base).unwrap().write_at(&[1; 5000], 0).unwrap();
    assert!(matches!(
        open(&sim, Some(&keys(&[1])), Access::Serve),
        Err(CryptError::NotEncrypted(_))
    ));
    assert!(open(&sim, None, Access::Serve).is_ok());
}

/// Encrypt, rotate, decrypt, with the power going at every single call.
#[test]
fn rewriting_a_folder_survives_a_crash_at_any_call() {
    let dir = Path::new(DIR);
    let files = [
        dir.join("base.redb"),
        dir.join("log").join(narwal_log::segment_name(4096)),
        dir.join("spill").join("x.run"),
    ];
    let want = |i: usize| vec![i as u8 + 65; 3000 + 777 * i];
    type Step = fn(&Arc<dyn Disk>) -> Result<(), CryptError>;
    let encrypt: Step = |d| encrypt_folder(d, Path::new(DIR), &keys(&[1]), &mut |_, _| {});
    let rotate: Step =
        |d| rotate_key(d, Path::new(DIR), &keys(&[1, 2]), true, &mut |_, _| {}).map(|_| ());
    let decrypt: Step = |d| decrypt_folder(d, Path::new(DIR), &keys(&[1, 2]), &mut |_, _| {});
    let mut start = SimDisk::new();
    for (i, f) in files.iter().enumerate() {
        let h = start.create(f).unwrap();
        h.write_at(&want(i), 0).unwrap();
        h.sync_data().unwrap();
        start.sync_dir(f.parent().unwrap()).unwrap();
    }
    for (step, (run, encrypted)) in [(encrypt, true), (rotate, true), (decrypt, false)]
        .into_iter()
        .enumerate()
    {
        let mut calls = 0;
        loop {
            calls += 1;
            let sim = start.fork();
            sim.power_off_in(calls);
            let r = run(&(Arc::new(sim.clone()) as Arc<dyn Disk>));
            let off = sim.is_off();
            assert!(off || r.is_ok(), "{r:?}");
            let sim = sim.crash(calls * 31 + step as u64);
            // A crash while the keys file went is the one place where decrypting is complete already.
            let again = run(&(Arc::new(sim.clone()) as Arc<dyn Disk>));
            assert!(
                again.is_ok() || matches!(again, Err(CryptError::NotEncrypted(_))),
                "step {step} call {calls}: {again:?}"
            );
            let k = keys(&[2, 1]);
            let d = open(&sim, encrypted.then_some(&k), Access::Read).unwrap();
            for (i, f) in files.iter().enumerate() {
                assert_eq!(
                    content(&*d, f),
                    want(i),
                    "step {step} call {calls} {}",
                    f.display()
                );
                let raw = sim.content(f).unwrap();
                assert_eq!(raw.starts_with(MAGIC), encrypted);
            }
            if !off {
                start = sim;
                break;
            }
        }
        assert!(calls > 10);
    }
}
