//! DES_ENCRYPT and DES_DECRYPT, for data that old applications have written: triple DES, in a chain from a block of zeros.

use super::typing::bytes;
use crate::expr::node::{Call, Function};
use crate::expr::value::Val;
use des::TdesEde3;
use des::cipher::{Block, BlockDecrypt, BlockEncrypt, KeyInit};
use narwal_types::errors;
use narwal_types::work;
use narwal_types::{SqlResult, Value, ValueRef};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "des_decrypt",
        "bytes[, key]",
        "What DES_ENCRYPT made of a text. Other bytes stay as they are.",
        |t| Ok(bytes(t.bytes(0).max(OVERHEAD) - OVERHEAD, true)),
        decrypt,
    )
    .null_of_first()
    .deprecated(),
    &Function::new(
        "des_encrypt",
        "text[, key]",
        "The text encrypted by triple DES. A number from 0 to 9 stands for a key of the key file: all are empty.",
        |t| Ok(bytes(t.bytes(0) + OVERHEAD, true)),
        encrypt,
    )
    .null_of_first()
    .deprecated(),
];

/// Bytes of a block.
const BLOCK: usize = 8;
/// How much longer than the text the encrypted one may be: a byte that names the key, and a block.
const OVERHEAD: u64 = 9;
/// Set in the first byte of all that is encrypted.
const MARK: u8 = 0x80;
/// The number of a key that is a text.
const OF_TEXT: u8 = 127;
/// How many blocks are done between two looks at whether the statement is to end.
const PIECE: usize = 1 << 17;

/// A key, and the number that stands in front of what it encrypts.
struct Key {
    number: u8,
    bytes: [u8; 24],
}

impl Key {
    /// A key of the key file. There is none, so they are empty.
    fn numbered(number: i64) -> Option<Key> {
        let number = u8::try_from(number).ok().filter(|n| *n < 10)?;
        let bytes = [0; 24];
        Some(Key { number, bytes })
    }

    /// A text's digest, and the digest of that and the text.
    fn of_text(text: &[u8]) -> Key {
        let first = crate::expr::md5::digest(text);
        let second = crate::expr::md5::digest(&[&first, text].concat());
        let mut bytes = [0; 24];
        bytes[..16].copy_from_slice(&first);
        bytes[16..].copy_from_slice(&second[..8]);
        let number = OF_TEXT;
        Key { number, bytes }
    }

    fn cipher(&self) -> TdesEde3 {
        TdesEde3::new(&self.bytes.into())
    }
}

/// The key of the second argument, which may be the number of one if there are `numbers`; without one, that of `number`.
fn key(c: &Call<'_, '_>, number: u8, numbers: bool) -> Option<Key> {
    if c.args.len() < 2 {
        return Key::numbered(i64::from(number));
    }
    match c.v(1) {
        ValueRef::Null => None,
        // To decrypt, a number is a text as well.
        _ if !numbers => Some(c.with_bytes(1, Key::of_text)),
        ValueRef::Int(n) => Key::numbered(n),
        ValueRef::UInt(n) => Key::numbered(i64::try_from(n).ok()?),
        _ => Some(c.with_bytes(1, Key::of_text)),
    }
}

fn wrong_key<'a>(c: &Call<'a, '_>, name: &str) -> Val<'a> {
    let e = errors::WRONG_PARAMETERS_TO_PROCEDURE.with([&name]);
    c.ctx.env.warn(e.code, e.message);
    Val::NULL
}

fn encrypt<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut data = c.with_bytes(0, <[u8]>::to_vec);
    if data.is_empty() {
        return Ok(Val::Owned(Value::bytes(data)));
    }
    let Some(key) = key(c, 0, true) else {
        return Ok(wrong_key(c, "des_encrypt"));
    };
    let pad = BLOCK - data.len() % BLOCK;
    data.resize(data.len() + pad - 1, b'*');
    data.push(pad as u8);
    let cipher = key.cipher();
    let mut before = [0; BLOCK];
    for piece in data.chunks_mut(BLOCK * PIECE) {
        for block in piece.chunks_exact_mut(BLOCK) {
            block.iter_mut().zip(before).for_each(|(b, x)| *b ^= x);
            cipher.encrypt_block(Block::<TdesEde3>::from_mut_slice(block));
            before.copy_from_slice(block);
        }
        if work::stopped() {
            break;
        }
    }
    data.insert(0, MARK | key.number);
    Ok(Val::Owned(Value::bytes(data)))
}

fn decrypt<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let mut data = c.with_bytes(0, <[u8]>::to_vec);
    let number = match data.first() {
        Some(first) if first & MARK != 0 && data.len() % BLOCK == 1 && data.len() > BLOCK => {
            first & !MARK
        }
        _ => return Ok(Val::Owned(Value::bytes(data))),
    };
    let Some(key) = key(c, number, false) else {
        return Ok(wrong_key(c, "des_decrypt"));
    };
    data.remove(0);
    let cipher = key.cipher();
    let mut before = [0; BLOCK];
    for piece in data.chunks_mut(BLOCK * PIECE) {
        for block in piece.chunks_exact_mut(BLOCK) {
            let mut encrypted = [0; BLOCK];
            encrypted.copy_from_slice(block);
            cipher.decrypt_block(Block::<TdesEde3>::from_mut_slice(block));
            block.iter_mut().zip(before).for_each(|(b, x)| *b ^= x);
            before = encrypted;
        }
        if work::stopped() {
            break;
        }
    }
    let pad = data.last().map_or(0, |b| usize::from(*b));
    if pad > BLOCK {
        // Another key made it.
        return Ok(Val::NULL);
    }
    data.truncate(data.len() - pad);
    Ok(Val::Owned(Value::bytes(data)))
}
