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
    };
    GroupBuilder::ddl(0, &query).unwrap()
}

fn config(max_binlog_size: u32) -> VirtualConfig {
    VirtualConfig {
        max_binlog_size,
        ..VirtualConfig::default()
    }
}

#[test]
fn first_file_and_rotation() {
    let mut files = VirtualFiles::new(config(4096));
    assert_eq!((files.file_no(), files.offset()), (1, 285));
    assert_eq!(files.current_file(), "narwal-bin.000001");
    files.rotate();
    assert_eq!(files.file_no(), 1, "a file without groups is not left");
    let first = files.place(5000);
    assert_eq!(
        (first.file_no, first.start_pos, first.new_file),
        (1, 285, true)
    );
    assert_eq!(first.gtid.to_string(), "0-1-1");
    let second = files.place(100);
    // Magic, format description, GTID list of one entry.
    assert_eq!(
        (second.file_no, second.start_pos, second.new_file),
        (2, 256 + 43, true)
    );
    let third = files.place(100);
    assert_eq!(
        (third.file_no, third.start_pos, third.new_file),
        (2, 256 + 43 + 100, false)
    );
    files.rotate();
    files.rotate();
    assert_eq!(files.file_no(), 3);
    assert_eq!(files.place(100).start_pos, 256 + 43);
    assert_eq!(files.gtids().position_text(), "0-1-4");
}

#[test]
fn a_file_never_passes_32_bits() {
    let mut files = VirtualFiles::new(config(u32::MAX));
    for _ in 0..20 {
        let placement = files.place(MAX_GROUP_LEN as u32);
        assert!(placement.start_pos <= 1 << 30);
    }
    assert_eq!(files.gtids().next_seq(0), 21);
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
    files.place(100);
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
    other[0] = 2;
    assert!(VirtualFiles::from_bytes(config(4096), &other).is_err());
}

#[test]
fn a_gap_in_the_log_is_noticed() {
    let mut files = VirtualFiles::new(config(4096));
    let mut recovered = files.clone();
    let mut stamped = Vec::new();
    for _ in 0..3 {
        let group = group(10);
        let at = files.place(group.len());
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
        let at = files.place(group.len());
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

    /// Whatever limit and forced rotations there were, the groups alone tell it all.
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
            }
            let group = group(len);
            let at = files.place(group.len());
            log.push((at, group.into_stamped(at.gtid, at.start_pos, 0)));
        }
        let mut recovered = VirtualFiles::from_bytes(config(4096), &stored).unwrap();
        for (at, bytes) in &log {
            prop_assert_eq!(recovered.observe(bytes).unwrap(), *at);
        }
        prop_assert_eq!(recovered.to_bytes(), files.to_bytes());
    }
}
