//! Virtual files: rotation, recovery from positions alone, stored state.

#![allow(clippy::unwrap_used, missing_docs)]

use narwal_binlog::*;
use proptest::prelude::*;

fn group(len: usize) -> PendingGroup {
    let query = DdlQuery {
        server_id: 1,
        timestamp: 1,
        thread_id: 1,
        exec_time: 0,
        db: "d",
        sql: &vec![b'x'; len],
        context: QueryContext::default(),
        suppress_use: false,
        time_zone: "",
    };
    GroupBuilder::ddl(0, &query).unwrap()
}

fn config(max_binlog_size: u32) -> VirtualConfig {
    VirtualConfig {
        max_binlog_size,
        ..VirtualConfig::default()
    }
}

fn place(files: &mut VirtualFiles, len: u32) -> Placement {
    files.place(u64::from(len), &GtidChoice::default())
}

#[test]
fn first_file_and_rotation() {
    let mut files = VirtualFiles::new(config(4096));
    assert_eq!((files.file_no(), files.offset()), (1, 285));
    assert_eq!(files.current_file(), "narwal-bin.000001");
    files.rotate();
    assert_eq!(files.file_no(), 2, "a file without groups is left too");
    let first = place(&mut files, 5000);
    assert_eq!(
        (first.file_no, first.start_pos, first.new_file),
        (2, 285, true)
    );
    assert_eq!(first.gtid.to_string(), "0-1-1");
    let second = place(&mut files, 100);
    // Magic, format description, GTID list of one entry.
    assert_eq!(
        (second.file_no, second.start_pos, second.new_file),
        (3, 256 + 43, true)
    );
    let third = place(&mut files, 100);
    assert_eq!(
        (third.file_no, third.start_pos, third.new_file),
        (3, 256 + 43 + 100, false)
    );
    files.rotate();
    files.rotate();
    assert_eq!(files.file_no(), 5);
    assert_eq!(place(&mut files, 100).start_pos, 256 + 43);
    assert_eq!(files.gtids().position_text(), "0-1-4");
}

#[test]
fn a_file_never_passes_32_bits() {
    let mut files = VirtualFiles::new(config(u32::MAX));
    for _ in 0..20 {
        let placement = place(&mut files, MAX_GROUP_LEN as u32);
        assert!(placement.start_pos <= 1 << 30);
    }
    assert_eq!(files.gtids().next_seq(0), 21);
}

#[test]
fn a_group_beyond_4_gib_stands_alone() {
    let mut files = VirtualFiles::new(config(1 << 30));
    let mut seen = files.clone();
    place(&mut files, 100);
    let big = files.place(5 << 30, &GtidChoice::default());
    assert_eq!((big.file_no, big.new_file), (2, true));
    assert_eq!(files.offset(), big.start_pos + (5 << 30));
    let next = place(&mut files, 100);
    assert_eq!((next.file_no, next.new_file), (3, true));
    // In a file of its own from the start it stays there, and is read back the same.
    let mut alone = VirtualFiles::new(config(1 << 30));
    assert_eq!(alone.place(5 << 30, &GtidChoice::default()).file_no, 1);
    let head = |at: Placement| group(1).into_stamped(at.gtid, at.start_pos, 0);
    let first = Placement {
        file_no: 1,
        start_pos: 285,
        gtid: "0-1-1".parse().unwrap(),
        new_file: true,
    };
    assert_eq!(seen.observe_len(&head(first), 100).unwrap(), first);
    assert_eq!(seen.observe_len(&head(big), 5 << 30).unwrap(), big);
    assert_eq!(seen.observe_len(&head(next), 100).unwrap(), next);
    assert_eq!(seen, files);
}

#[test]
fn strict_mode_refuses_what_does_not_come_after_the_last() {
    let mut files = VirtualFiles::new(config(4096));
    let choice = |seq_no| GtidChoice {
        seq_no,
        strict: true,
        server_id: Some(9),
        ..GtidChoice::default()
    };
    assert_eq!(files.check(&choice(Some(5))), Ok(()));
    assert_eq!(files.place(100, &choice(Some(5))).gtid.to_string(), "0-9-5");
    for seq in [1, 4, 5] {
        let e = files.check(&choice(Some(seq))).unwrap_err();
        assert_eq!((e.gtid.seq, e.last.to_string().as_str()), (seq, "0-9-5"));
    }
    assert_eq!(files.check(&choice(None)), Ok(()));
    let other = GtidChoice {
        domain_id: Some(1),
        ..choice(Some(1))
    };
    assert_eq!(files.check(&other), Ok(()));
    // Without strict mode numbers may go back; the counter does not.
    let lax = GtidChoice {
        strict: false,
        ..choice(Some(2))
    };
    assert_eq!(files.check(&lax), Ok(()));
    files.place(100, &lax);
    assert_eq!(files.gtids().to_string(), "0-9-2");
    assert_eq!(files.gtids().next_seq(0), 6);
    let again = VirtualFiles::from_bytes(config(4096), &files.to_bytes()).unwrap();
    assert_eq!(again.gtids().next_seq(0), 6);
    assert_eq!(again, files);
}

#[test]
fn a_state_of_version_1_is_read() {
    let bytes = |offset: u32| {
        let mut b = vec![1];
        for n in [7, offset, 1, 0, 1] {
            b.extend_from_slice(&u32::to_le_bytes(n));
        }
        b.extend_from_slice(&42u64.to_le_bytes());
        b
    };
    let files = VirtualFiles::from_bytes(config(4096), &bytes(1000)).unwrap();
    assert_eq!((files.file_no(), files.offset()), (7, 1000));
    assert!(!files.is_file_empty());
    assert_eq!(files.gtids().to_string(), "0-1-42");
    assert!(
        VirtualFiles::from_bytes(config(4096), &bytes(256 + 43))
            .unwrap()
            .is_file_empty()
    );
    assert!(VirtualFiles::from_bytes(config(4096), &bytes(3)).is_err());
}

#[test]
fn reset_set_and_deleted_domains() {
    let mut files = VirtualFiles::new(config(4096));
    files.set_gtids("0-1-5,3-1-2".parse().unwrap());
    assert_eq!((files.file_no(), files.offset()), (1, 256 + 59));
    assert_eq!(place(&mut files, 100).gtid.to_string(), "0-1-6");
    let mut gtids = files.gtids().clone();
    assert!(gtids.remove_domain(3));
    assert!(!gtids.remove_domain(3));
    files.set_gtids(gtids);
    assert_eq!((files.file_no(), files.offset()), (2, 256 + 43));
    files.reset(9);
    assert_eq!((files.file_no(), files.offset()), (9, 285));
    assert_eq!(place(&mut files, 100).gtid.to_string(), "0-1-1");
}

#[test]
fn file_names() {
    let files = VirtualFiles::new(config(4096));
    for n in [1, 42, 999_999, 1_000_000, u32::MAX] {
        assert_eq!(files.parse_file_name(&files.file_name(n)), Some(n));
    }
    for bad in [
        "narwal-bin.1",
        "narwal-bin.+00001",
        "narwal-bin",
        "other.000001",
        "narwal-bin.0000001",
    ] {
        assert_eq!(files.parse_file_name(bad), None, "{bad}");
    }
}

#[test]
fn stored_state_must_be_whole() {
    let mut files = VirtualFiles::new(config(4096));
    place(&mut files, 100);
    files.place_gtid(100, "7-9-1000".parse().unwrap());
    let bytes = files.to_bytes();
    assert_eq!(
        VirtualFiles::from_bytes(config(4096), &bytes).unwrap(),
        files
    );
    for cut in 0..bytes.len() {
        assert!(VirtualFiles::from_bytes(config(4096), &bytes[..cut]).is_err());
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(VirtualFiles::from_bytes(config(4096), &longer).is_err());
    let mut other = bytes;
    other[0] = 3;
    assert!(VirtualFiles::from_bytes(config(4096), &other).is_err());
}

#[test]
fn a_gap_in_the_log_is_noticed() {
    let mut files = VirtualFiles::new(config(4096));
    let mut recovered = files.clone();
    let mut stamped = Vec::new();
    for _ in 0..3 {
        let group = group(10);
        let at = place(&mut files, group.len());
        stamped.push(group.into_stamped(at.gtid, at.start_pos, 0));
    }
    recovered.observe(&stamped[0]).unwrap();
    assert!(matches!(
        recovered.observe(&stamped[2]),
        Err(BinlogError::Position { .. })
    ));
    recovered.observe(&stamped[1]).unwrap();
}

#[test]
fn a_log_may_begin_in_the_middle() {
    let mut files = VirtualFiles::new(config(4096));
    let mut stamped = Vec::new();
    for _ in 0..30 {
        let group = group(500);
        let at = place(&mut files, group.len());
        stamped.push(group.into_stamped(at.gtid, at.start_pos, 0));
    }
    for from in 0..stamped.len() {
        let mut seen = VirtualFiles::before_group(config(4096), &stamped[from]).unwrap();
        for group in &stamped[from..] {
            seen.observe(group).unwrap();
        }
        assert_eq!(seen.offset(), files.offset());
        assert_eq!(seen.gtids(), files.gtids());
    }
    assert!(VirtualFiles::before_group(config(4096), b"").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever limits there were, the groups alone tell it all; of forced rotations State records tell.
    #[test]
    fn recovery_sees_what_was_placed(
        steps in proptest::collection::vec((1usize..3000, any::<bool>(), 0u32..4, 4096u32..9000), 1..40),
        checkpoint in 0usize..40,
    ) {
        let mut files = VirtualFiles::new(config(4096));
        let mut stored = files.to_bytes();
        let mut log = Vec::new();
        for (i, &(len, rotate, server, max)) in steps.iter().enumerate() {
            if i == checkpoint {
                stored = files.to_bytes();
                log.clear();
            }
            files.set_max_binlog_size(max);
            files.set_server_id(server);
            if rotate {
                files.rotate();
                // Positions do not tell this; a State record does.
                log.push((None, files.to_bytes()));
            }
            let group = group(len);
            let at = place(&mut files, group.len());
            log.push((Some(at), group.into_stamped(at.gtid, at.start_pos, 0)));
        }
        let mut recovered = VirtualFiles::from_bytes(config(4096), &stored).unwrap();
        for (at, bytes) in &log {
            match at {
                Some(at) => prop_assert_eq!(recovered.observe(bytes).unwrap(), *at),
                None => recovered = VirtualFiles::from_bytes(config(4096), bytes).unwrap(),
            }
        }
        prop_assert_eq!(recovered.to_bytes(), files.to_bytes());
    }
}
