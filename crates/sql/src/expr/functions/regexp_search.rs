//! Searches by PCRE2 that can be ended.
//!
//! One call of the library may take for ever: its match limit holds for each place where a match may begin, and a text has
//! millions of them. So a text is searched in windows of such places, with a low limit, and the statement's interrupt is
//! looked at between two of them. What reaches the low limit is searched with the library's own limit, at which MariaDB
//! gives up too, by a code that calls back at each of its items: too slow for all searches, but it can be ended at any
//! time.
//!
//! `unsafe` is here because the `pcre2` crate sets no limits. The invariants: codes, match data and limits live as long as
//! their [`Regex`], which stays on its thread; texts are passed with their true length; what is passed as checked UTF-8
//! was checked by `std`; the function that is called back takes nothing and cannot unwind.

use narwal_types::work;
use pcre2_sys as sys;
use std::alloc::Layout;
use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};

/// Places of a window.
const WINDOW: usize = 256;
/// Steps of a match from one place, at first.
const FEW: u32 = 10_000;
/// The library's own limit.
const MANY: u32 = 10_000_000;
/// Memory of one match, in KiB.
const HEAP: u32 = 256 << 10;

/// How an expression is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) caseless: bool,
    /// Texts are UTF-8.
    pub(super) utf: bool,
    /// But this one is not.
    pub(super) broken: bool,
    /// Options of the session.
    pub(super) options: u32,
}

/// The library's options that `default_regex_flags` names. PCRE2 has no EXTRA.
pub fn options_named(names: &str) -> u32 {
    let one = |name: &str| match name {
        "DOTALL" => sys::PCRE2_DOTALL,
        "DUPNAMES" => sys::PCRE2_DUPNAMES,
        "EXTENDED" => sys::PCRE2_EXTENDED,
        "EXTENDED_MORE" => sys::PCRE2_EXTENDED_MORE,
        "MULTILINE" => sys::PCRE2_MULTILINE,
        "UNGREEDY" => sys::PCRE2_UNGREEDY,
        _ => 0,
    };
    names.split(',').fold(0, |all, name| all | one(name))
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failed {
    /// The statement is to end.
    Stopped,
    /// The library gave up, in its words.
    GaveUp(String),
}

unsafe extern "C" {
    /// Not among the declarations of `pcre2-sys`, but in the library that it builds or finds.
    fn pcre2_set_callout_8(
        limits: *mut sys::pcre2_match_context_8,
        callout: Option<unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int>,
        data: *mut c_void,
    ) -> c_int;
}

/// In front of each piece that the library gets: its length.
const HEAD: usize = 16;

fn layout_of(n: usize) -> Option<Layout> {
    Layout::from_size_align(n.checked_add(HEAD)?, HEAD).ok()
}

/// Memory for a match, from the server's allocator, which counts it; none if the session may not have so much.
unsafe extern "C" fn give(n: usize, _data: *mut c_void) -> *mut c_void {
    let Some(layout) = layout_of(n).filter(|_| narwal_memory::reserve(n as u64).is_ok()) else {
        return null_mut();
    };
    // SAFETY: the layout is not empty, and has room for the length in front of what is given.
    unsafe {
        let piece = std::alloc::alloc(layout);
        if piece.is_null() {
            return null_mut();
        }
        piece.cast::<usize>().write(n);
        piece.add(HEAD).cast()
    }
}

/// Takes back what [`give`] gave.
unsafe extern "C" fn take_back(piece: *mut c_void, _data: *mut c_void) {
    if piece.is_null() {
        return;
    }
    // SAFETY: `give` has written the length in front of it, of a layout that was one.
    unsafe {
        let piece = piece.cast::<u8>().sub(HEAD);
        if let Some(layout) = layout_of(piece.cast::<usize>().read()) {
            std::alloc::dealloc(piece, layout);
        }
    }
}

/// Calls back between two looks at the interrupt.
const CALLS: u32 = 10_000;

/// What a careful code calls at each of its items: a result below zero ends the match.
unsafe extern "C" fn look(_block: *mut c_void, _data: *mut c_void) -> c_int {
    thread_local! {
        static LEFT: Cell<u32> = const { Cell::new(CALLS) };
    }
    match LEFT.get().checked_sub(1) {
        Some(left) => LEFT.set(left),
        None => {
            LEFT.set(CALLS);
            if work::stopped() {
                return sys::PCRE2_ERROR_CALLOUT;
            }
        }
    }
    0
}

/// The library's form of an expression.
#[derive(Debug)]
struct Code(NonNull<sys::pcre2_code_8>);

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the library made it, and it is freed once.
        unsafe { sys::pcre2_code_free_8(self.0.as_ptr()) };
    }
}

impl Code {
    fn new(pattern: &str, options: u32) -> Result<Code, String> {
        let (mut error, mut at) = (0, 0);
        // SAFETY: the pattern's length is true, and the places for the error outlive the call.
        let code = unsafe {
            sys::pcre2_compile_8(
                pattern.as_ptr(),
                pattern.len(),
                options,
                &mut error,
                &mut at,
                null_mut(),
            )
        };
        let code = NonNull::new(code);
        code.map(Code)
            .ok_or_else(|| format!("{} at offset {at}", message(error)))
    }
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Regex {
    code: Code,
    /// The one that calls back, once it was needed.
    careful: OnceCell<Option<Code>>,
    pattern: String,
    options: u32,
    data: NonNull<sys::pcre2_match_data_8>,
    limits: NonNull<sys::pcre2_match_context_8>,
    mode: Mode,
    /// A search from the middle of the text finds what one from the beginning does.
    windows: bool,
}

impl Drop for Regex {
    fn drop(&mut self) {
        // SAFETY: both were made by the library, are freed once, and nothing refers to them any more.
        unsafe {
            sys::pcre2_match_context_free_8(self.limits.as_ptr());
            sys::pcre2_match_data_free_8(self.data.as_ptr());
        }
    }
}

/// What the library says of an error.
fn message(code: i32) -> String {
    let mut text = [0u8; 256];
    // SAFETY: the buffer is as long as said.
    let n = unsafe { sys::pcre2_get_error_message_8(code, text.as_mut_ptr(), text.len()) };
    String::from_utf8_lossy(&text[..usize::try_from(n).unwrap_or(0)]).into_owned()
}

impl Regex {
    /// Compiles an expression; the error is what is wrong with it.
    pub(super) fn new(pattern: &str, mode: Mode) -> Result<Regex, String> {
        let mut options = sys::PCRE2_USE_OFFSET_LIMIT | mode.options;
        if mode.caseless {
            options |= sys::PCRE2_CASELESS;
        }
        if mode.utf {
            options |= sys::PCRE2_UTF | sys::PCRE2_UCP;
        }
        if mode.broken {
            options |= sys::PCRE2_MATCH_INVALID_UTF;
        }
        let code = Code::new(pattern, options)?;
        // SAFETY: the code is one; match data take a copy of the general context's two functions, so it may go. Where there is no
        // context, null stands for the usual allocator.
        let made = unsafe {
            let counted =
                sys::pcre2_general_context_create_8(Some(give), Some(take_back), null_mut());
            let data = sys::pcre2_match_data_create_from_pattern_8(code.0.as_ptr(), counted);
            sys::pcre2_general_context_free_8(counted);
            (
                NonNull::new(data),
                NonNull::new(sys::pcre2_match_context_create_8(null_mut())),
            )
        };
        let (data, limits) = match made {
            (Some(data), Some(limits)) => (data, limits),
            (data, limits) => {
                // SAFETY: as in `drop`.
                unsafe {
                    sys::pcre2_match_data_free_8(data.map_or(null_mut(), NonNull::as_ptr));
                    sys::pcre2_match_context_free_8(limits.map_or(null_mut(), NonNull::as_ptr));
                }
                return Err("no memory".into());
            }
        };
        // SAFETY: the context was just made; only a code with callouts calls the function.
        unsafe {
            sys::pcre2_set_heap_limit_8(limits.as_ptr(), HEAP);
            pcre2_set_callout_8(limits.as_ptr(), Some(look), null_mut());
        }
        Ok(Regex {
            code,
            careful: OnceCell::new(),
            pattern: pattern.into(),
            options,
            data,
            limits,
            mode,
            // `\G` is where the search began; `(*COMMIT)` forbids to search on. A broken text is checked from the place
            // on at each call.
            windows: !mode.broken && !pattern.contains("\\G") && !pattern.contains("(*"),
        })
    }

    /// One call of the library: matches that begin at `from..=last`.
    fn call(&self, code: &Code, text: &[u8], from: usize, last: usize, steps: u32) -> i32 {
        let options = if self.mode.utf && !self.mode.broken {
            sys::PCRE2_NO_UTF_CHECK
        } else {
            0
        };
        // SAFETY: see the module; `from` is within the text, and at a character of it.
        unsafe {
            sys::pcre2_set_match_limit_8(self.limits.as_ptr(), steps);
            sys::pcre2_set_offset_limit_8(self.limits.as_ptr(), last);
            sys::pcre2_match_8(
                code.0.as_ptr(),
                text.as_ptr(),
                text.len(),
                from,
                options,
                self.data.as_ptr(),
                self.limits.as_ptr(),
            )
        }
    }

    /// Looks for the first match at or behind `from`, which is at a character; [`Regex::group`] has it then. A text that
    /// is not UTF-8 is for an expression that was compiled as `broken` if it is for one that was compiled as `utf`.
    pub(super) fn search(&self, text: &[u8], from: usize) -> Result<bool, Failed> {
        debug_assert!(!self.mode.utf || self.mode.broken || std::str::from_utf8(text).is_ok());
        if !self.windows {
            return self.search_carefully(text, from, usize::MAX);
        }
        let mut at = from;
        loop {
            let next = self.boundary(text, at + WINDOW);
            let last = if next > text.len() {
                usize::MAX
            } else {
                next - 1
            };
            let found = match self.call(&self.code, text, at, last, FEW) {
                sys::PCRE2_ERROR_MATCHLIMIT => self.search_carefully(text, at, last)?,
                rc => self.answer(rc)?,
            };
            if found || last == usize::MAX {
                return Ok(found);
            }
            if work::stopped() {
                return Err(Failed::Stopped);
            }
            at = next;
        }
    }

    /// The same for matches that begin at `from..=last`, with the library's own limit.
    fn search_carefully(&self, text: &[u8], from: usize, last: usize) -> Result<bool, Failed> {
        let options = self.options | sys::PCRE2_AUTO_CALLOUT;
        let careful = self
            .careful
            .get_or_init(|| Code::new(&self.pattern, options).ok());
        // An expression that is too long with its callouts goes without.
        let code = careful.as_ref().unwrap_or(&self.code);
        self.answer(self.call(code, text, from, last, MANY))
    }

    /// The first place at or behind `at` where a character begins, or the text is over.
    fn boundary(&self, text: &[u8], mut at: usize) -> usize {
        while self.mode.utf && text.get(at).is_some_and(|b| b & 0xc0 == 0x80) {
            at += 1;
        }
        at
    }

    fn answer(&self, rc: i32) -> Result<bool, Failed> {
        match rc {
            0.. => Ok(true),
            sys::PCRE2_ERROR_NOMATCH => Ok(false),
            sys::PCRE2_ERROR_CALLOUT => Err(Failed::Stopped),
            rc => Err(Failed::GaveUp(message(rc))),
        }
    }

    /// Where a group of the match that was found last is; group 0 is all of it.
    pub(super) fn group(&self, i: usize) -> Option<(usize, usize)> {
        // SAFETY: the match data has as many pairs as the library says, and lives as long as `self`.
        let place = unsafe {
            let pairs = sys::pcre2_get_ovector_count_8(self.data.as_ptr()) as usize;
            let found = sys::pcre2_get_ovector_pointer_8(self.data.as_ptr());
            (i < pairs).then(|| (*found.add(2 * i), *found.add(2 * i + 1)))
        };
        // An unset group is at the largest number; `\K` may put a begin behind its end.
        place.filter(|(from, to)| *from != usize::MAX && from <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    const UTF: Mode = Mode {
        caseless: false,
        utf: true,
        broken: false,
        options: 0,
    };

    fn first(pattern: &str, text: &str) -> Option<(usize, usize)> {
        let r = Regex::new(pattern, UTF).unwrap();
        r.search(text.as_bytes(), 0)
            .unwrap()
            .then(|| r.group(0).unwrap())
    }

    #[test]
    fn windows_find_what_one_search_finds() {
        for n in [
            0,
            1,
            WINDOW - 2,
            WINDOW - 1,
            WINDOW,
            WINDOW + 1,
            3 * WINDOW,
            5 * WINDOW + 7,
        ] {
            let ascii = "-".repeat(n) + "needle";
            assert_eq!(first("needle", &ascii), Some((n, n + 6)));
            assert_eq!(first("$", &"-".repeat(n)), Some((n, n)));
            assert_eq!(
                first("(?<=x)y", &("x".repeat(n) + "xyz")),
                Some((n + 1, n + 2))
            );
            assert_eq!(first("^needle", &ascii).is_some(), n == 0);
            let wide = "é".repeat(n) + "zß";
            assert_eq!(first("zß", &wide), Some((2 * n, 2 * n + 3)));
            // More steps than the first limit has, from each place.
            assert_eq!(
                first("(a|b|ab)*+c", &("ab".repeat(n) + "c")),
                Some((0, 2 * n + 1))
            );
        }
        assert_eq!(first("x(*COMMIT)y|z", &("-".repeat(3000) + "xz")), None);
        assert_eq!(first("\\Gb", &("a".repeat(WINDOW) + "b")), None);
    }

    #[test]
    fn it_gives_up_as_the_library_does_and_stops_when_told() {
        let r = Regex::new("^(a|aa)+$", UTF).unwrap();
        let text = "a".repeat(40) + "bc";
        assert!(
            matches!(r.search(text.as_bytes(), 0), Err(Failed::GaveUp(m)) if m == "match limit exceeded")
        );
        let r = Regex::new("(a+)(a+)x|yz", UTF).unwrap();
        let text = "a".repeat(200_000) + "x-y";
        let flag = Arc::new(AtomicBool::new(true));
        work::watch(&flag);
        assert!(matches!(
            r.search(&text.as_bytes()[..150_000], 0),
            Err(Failed::Stopped)
        ));
        flag.store(false, Ordering::Relaxed);
    }

    #[test]
    fn broken_texts_and_patterns() {
        let broken = Mode {
            broken: true,
            ..UTF
        };
        let r = Regex::new("b", broken).unwrap();
        assert!(r.search(b"\xff\xfeab", 0).unwrap());
        assert_eq!(r.group(0), Some((3, 4)));
        assert_eq!(r.group(1), None);
        assert!(Regex::new("(", UTF).unwrap_err().contains("at offset 1"));
    }
}
