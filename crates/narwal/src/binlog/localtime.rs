//! Local time, as `mariadb-binlog` prints and takes it.

/// Year, month, day, hour, minute, second.
pub type Fields = (i32, u32, u32, u32, u32, u32);

/// Seconds since 1970 in local time.
pub fn fields(secs: u32) -> Fields {
    let time = libc::time_t::from(secs);
    // SAFETY: both pointers are to live values of the right types; localtime_r keeps neither, and a zeroed tm is valid
    // (integers and a pointer that may be null).
    let tm = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&time, &mut tm);
        tm
    };
    (
        tm.tm_year + 1900,
        tm.tm_mon as u32 + 1,
        tm.tm_mday as u32,
        tm.tm_hour as u32,
        tm.tm_min as u32,
        tm.tm_sec as u32,
    )
}

/// The reverse; `None` for what is no time between 1970 and 2106.
pub fn seconds((year, month, day, hour, minute, second): Fields) -> Option<u32> {
    let n = |v: u32| i32::try_from(v).ok();
    // SAFETY: as above; mktime reads and normalises the struct it is given.
    let time = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        tm.tm_year = year - 1900;
        tm.tm_mon = n(month)? - 1;
        tm.tm_mday = n(day)?;
        tm.tm_hour = n(hour)?;
        tm.tm_min = n(minute)?;
        tm.tm_sec = n(second)?;
        tm.tm_isdst = -1;
        libc::mktime(&mut tm)
    };
    u32::try_from(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for secs in [86_400, 1_000_000_000, 1_795_270_883, 4_000_000_000] {
            assert_eq!(seconds(fields(secs)), Some(secs));
        }
        assert_eq!(seconds((1900, 1, 1, 0, 0, 0)), None);
    }
}
