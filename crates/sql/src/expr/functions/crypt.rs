//! ENCRYPT, for passwords of mail servers and other programs that go by the system's `crypt(3)`.
//!
//! The system's own library is asked, as MariaDB does: what it answers is what those programs compare with. It is loaded
//! while the server runs, since not every system has it. How much work a method is stands in the salt, and the call can't be
//! ended, so salts that ask for more than about a second are refused as ones that nobody knows; so are methods that ask for
//! much memory (yescrypt, scrypt).
//!
//! `unsafe` is here because `crypt_r` is C. The invariants: the pointer is what the library that stays loaded calls `crypt_r`;
//! both texts end in a zero byte; the room for its work is larger than any library's, zeroed at first, and used by one call
//! at a time; what it returns is a text inside of that room, or null.

use super::typing::bytes;
use crate::expr::node::{Call, Function};
use crate::expr::value::Val;
use narwal_types::{SqlResult, Value};
use rand::Rng;
use std::alloc::Layout;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::OnceLock;

pub(super) static FUNCTIONS: &[&Function] = &[&Function::new(
    "encrypt",
    "text[, salt]",
    "The text's hash by the system's crypt(3), whose method the salt says; NULL for a salt of less than two bytes.",
    |_| Ok(bytes(DES_BYTES, true)),
    encrypt,
)
.volatile()
.constant_with(2)];

/// What the oldest method makes. Others make more, which a column of this type has no room for.
const DES_BYTES: u64 = 13;
/// Larger than `struct crypt_data`: 131,232 bytes in the GNU C library, 32,768 in libxcrypt.
const ROOM: usize = 256 << 10;
/// Its name in the libraries that have it.
const LIBRARIES: [&CStr; 3] = [c"libcrypt.so.1", c"libcrypt.so.2", c"libcrypt.so"];
/// Digits of salts.
const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// About a second of SHA-512, of bcrypt (two to the power of it) and of DES.
const MOST_SHA: u64 = 1_000_000;
const MOST_BCRYPT: u64 = 14;
const MOST_DES: usize = 1 << 20;

type CryptR = unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void) -> *mut c_char;

fn encrypt<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let null = c.v(0).is_null() || c.args.len() > 1 && c.v(1).is_null();
    let Some(library) = library().filter(|_| !null) else {
        return Ok(Val::NULL);
    };
    let text = c.with_bytes(0, until_zero);
    if text.is_empty() {
        return Ok(Val::Owned(Value::bytes(Vec::new())));
    }
    let salt = match c.args.len() {
        1 => random_salt(),
        _ => c.with_bytes(1, until_zero),
    };
    if salt.as_bytes().len() < 2 {
        return Ok(Val::NULL);
    }
    let hash = match is_bearable(salt.as_bytes()) {
        true => hash(library, &text, &salt),
        false => None,
    };
    Ok(Val::Owned(Value::bytes(
        hash.unwrap_or_else(|| b"*0".to_vec()),
    )))
}

/// C ends a text at its first zero byte.
fn until_zero(b: &[u8]) -> CString {
    let b = b.split(|b| *b == 0).next().unwrap_or_default();
    CString::new(b).unwrap_or_default()
}

fn random_salt() -> CString {
    let mut rng = rand::rng();
    let salt = [(); 2].map(|()| DIGITS[rng.random_range(0..DIGITS.len())]);
    CString::new(salt).unwrap_or_default()
}

/// True for the methods whose work is known, and is not too much.
fn is_bearable(salt: &[u8]) -> bool {
    let digits = |s: &[u8]| -> Option<u64> {
        let end = s.iter().position(|b| !b.is_ascii_digit())?;
        std::str::from_utf8(&s[..end]).ok()?.parse().ok()
    };
    match salt {
        [b'$', b'1', b'$', ..] => true,
        [b'$', b'5' | b'6', b'$', rest @ ..] => match rest.strip_prefix(b"rounds=") {
            Some(n) => digits(n).is_some_and(|n| n <= MOST_SHA),
            None => true,
        },
        [b'$', b'2', _, b'$', rest @ ..] => digits(rest).is_some_and(|n| n <= MOST_BCRYPT),
        [b'$', ..] => false,
        [b'_', count @ ..] => {
            let digit = |b: &u8| DIGITS.iter().position(|d| d == b);
            let count = count.get(..4).and_then(|count| {
                let mut digits = count.iter().rev();
                digits.try_fold(0, |n, b| Some(n << 6 | digit(b)?))
            });
            count.is_some_and(|n| n <= MOST_DES)
        }
        _ => true,
    }
}

/// True if the system has a library for it.
pub fn is_there() -> bool {
    library().is_some()
}

/// The system's `crypt_r`, if there is one.
fn library() -> Option<CryptR> {
    static FOUND: OnceLock<Option<CryptR>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        LIBRARIES.iter().find_map(|name| {
            // SAFETY: names are C's texts; the library is never closed, so what is found in it stays; `crypt_r` has this type
            // in all libraries that have it.
            unsafe {
                let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
                if library.is_null() {
                    return None;
                }
                let found = libc::dlsym(library, c"crypt_r".as_ptr());
                (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, CryptR>(found))
            }
        })
    })
}

/// None for what the library takes for no salt.
fn hash(library: CryptR, text: &CStr, salt: &CStr) -> Option<Vec<u8>> {
    let layout = Layout::from_size_align(ROOM, 64).ok()?;
    // SAFETY: the layout is not empty; see the invariants above. What is returned is copied before the room is given back.
    unsafe {
        let room = std::alloc::alloc_zeroed(layout);
        if room.is_null() {
            return None;
        }
        let made = library(text.as_ptr(), salt.as_ptr(), room.cast());
        let hash = (!made.is_null()).then(|| CStr::from_ptr(made).to_bytes().to_vec());
        std::alloc::dealloc(room, layout);
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, salt: &str) -> Option<String> {
        let (text, salt) = (until_zero(text.as_bytes()), until_zero(salt.as_bytes()));
        let made = hash(library()?, &text, &salt)?;
        String::from_utf8(made).ok()
    }

    #[test]
    fn hashes_are_the_systems() {
        if library().is_none() {
            return;
        }
        assert_eq!(of("foo", "ff").as_deref(), Some("ffTU0fyIP09Z."));
        let md5 = of("pw", "$1$abcdefgh$");
        assert_eq!(md5.as_deref(), Some("$1$abcdefgh$IQtUouv7y7Q9dRWkQEPCc."));
        assert_eq!(of("foo", "ff\0x"), of("foo", "ff"));
    }

    #[test]
    fn salts_that_would_never_end_are_none() {
        for salt in [
            "ab",
            "$1$x",
            "$5$x",
            "$6$rounds=1000000$x",
            "$2y$14$x",
            "_J9..rasm",
        ] {
            assert!(is_bearable(salt.as_bytes()), "{salt}");
        }
        for salt in [
            "$6$rounds=1000001$x",
            "$5$rounds=99999999999999999999$x",
            "$6$rounds=$x",
            "$6$rounds=5",
            "$2b$15$x",
            "$2b$",
            "$7$x",
            "$y$j9T$x",
            "$",
            "_",
            "_zzzzsalt",
            "_!...",
        ] {
            assert!(!is_bearable(salt.as_bytes()), "{salt}");
        }
    }
}
