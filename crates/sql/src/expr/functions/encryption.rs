//! Checksums, encodings, encryption and compression.

use super::digits::hex_text;
use super::typing::{bytes, kind};
use crate::env::VariableScope;
use crate::expr::node::{Call, ExprType, Function, Typing};
use crate::expr::value::Val;
use crate::seeded::Seeded;
use aes::Aes128;
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use narwal_types::convert::to_integer;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::work::{self, Work};
use narwal_types::{ColumnType, TypeKind, Value};
use narwal_types::{SqlResult, ValueRef};
use sha1::{Digest, Sha1};
use std::io::{Read, Write};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "aes_decrypt",
        "bytes, key",
        "What AES_ENCRYPT made of a text.",
        |t| Ok(bytes(t.bytes(0), true)),
        aes_decrypt,
    )
    .takes_texts(),
    &Function::new(
        "aes_encrypt",
        "text, key",
        "The text encrypted by AES-128 in ECB mode.",
        |t| Ok(bytes((t.bytes(0) / 16 + 1) * 16, t.nullable())),
        aes_encrypt,
    )
    .takes_texts(),
    &Function::new(
        "compress",
        "text",
        "The text compressed by zlib.",
        |t| Ok(bytes(t.bytes(0) * 120 / 100 + 12, t.nullable())),
        compress,
    )
    .takes_texts(),
    &Function::new(
        "crc32",
        "[start, ]text",
        "The CRC-32 checksum, going on from another one.",
        checksum_type,
        |c| {
            checksum(c, |start, b| {
                let mut h = crc32fast::Hasher::new_with_initial(start);
                h.update(b);
                h.finalize()
            })
        },
    )
    .takes_texts(),
    &Function::new(
        "crc32c",
        "[start, ]text",
        "The CRC-32C checksum, going on from another one.",
        checksum_type,
        |c| checksum(c, crc32c::crc32c_append),
    )
    .takes_texts(),
    &Function::new(
        "decode",
        "bytes, password",
        "What ENCODE made of a text.",
        |t| Ok(bytes(t.bytes(0), t.nullable())),
        |c| Ok(coded(c, Table::decode)),
    )
    .takes_texts(),
    &Function::new(
        "encode",
        "text, password",
        "The text hidden by a password. This is no encryption that holds.",
        |t| Ok(bytes(t.bytes(0), t.nullable())),
        |c| Ok(coded(c, Table::encode)),
    )
    .takes_texts(),
    &Function::new(
        "from_base64",
        "text",
        "The bytes that a base-64 text stands for.",
        |t| Ok(bytes(t.bytes(0).div_ceil(4) * 3, true)),
        from_base64,
    )
    .takes_texts(),
    &Function::new(
        "md5",
        "text",
        "The MD5 digest in hexadecimal digits.",
        |t| Ok(ExprType::text(32, t.nullable())),
        |c| digest_text(c, crate::expr::md5::digest),
    )
    .takes_texts(),
    &Function::new(
        "old_password",
        "text",
        "The hash of passwords before 4.1.",
        |t| Ok(ExprType::text(16, t.nullable())),
        old_password,
    )
    .takes_texts(),
    &Function::new(
        "password",
        "text",
        "The hash that mysql_native_password keeps.",
        |t| Ok(ExprType::text(41, t.nullable())),
        password,
    )
    .takes_texts()
    .takes_null(),
    &Function::new(
        "random_bytes",
        "n",
        "n bytes that can't be guessed, at most 1024.",
        random_type,
        random_bytes,
    )
    .volatile(),
    &Function::new(
        "sha",
        "text",
        "The SHA-1 digest in hexadecimal digits.",
        |t| Ok(ExprType::text(40, t.nullable())),
        |c| digest_text(c, digest::<Sha1>),
    )
    .or(&["sha1"])
    .takes_texts(),
    &Function::new(
        "sha2",
        "text, bits",
        "The SHA-2 digest of so many bits in hexadecimal digits; 0 stands for 256.",
        sha2_type,
        sha2,
    )
    .takes_texts()
    .takes_null(),
    &Function::new(
        "to_base64",
        "text",
        "The text in base 64, in lines of 76 characters.",
        to_base64_type,
        to_base64,
    )
    .takes_texts(),
    &Function::new(
        "uncompress",
        "bytes",
        "What COMPRESS made of a text.",
        |_| Ok(bytes(1 << 24, true)),
        uncompress,
    ),
    &Function::new(
        "uncompressed_length",
        "bytes",
        "How long the text was before it was compressed.",
        |_| Ok(kind(TypeKind::Int)),
        uncompressed_length,
    ),
];

/// A digest; of part of the bytes if the statement is to end.
fn digest<D: Digest>(bytes: &[u8]) -> Vec<u8> {
    let mut d = D::new();
    work::in_pieces(bytes, |piece| d.update(piece));
    d.finalize().to_vec()
}

/// The first argument's digest in hexadecimal digits.
fn digest_text<'a, B: AsRef<[u8]>>(
    c: &Call<'a, '_>,
    digest: impl FnOnce(&[u8]) -> B,
) -> SqlResult<Val<'a>> {
    let bytes = c.with_bytes(0, digest);
    Ok(Val::text(hex_text(bytes.as_ref(), false)))
}

fn sha2<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if c.v(0).is_null() {
        return Ok(Val::NULL);
    }
    // NULL bits are none.
    match c.int(1) {
        224 => digest_text(c, digest::<sha2::Sha224>),
        0 | 256 => digest_text(c, digest::<sha2::Sha256>),
        384 => digest_text(c, digest::<sha2::Sha384>),
        512 => digest_text(c, digest::<sha2::Sha512>),
        _ => {
            let told = "Incorrect parameters in the call to native function 'sha2'";
            c.ctx.env.warn(codes::WRONG_PARAMETERS_TO_NATIVE_FCT, told);
            Ok(Val::NULL)
        }
    }
}

fn sha2_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::text(
        match t.literal_int(1) {
            Some(224) => 56,
            Some(0 | 256) => 64,
            Some(384) => 96,
            _ => 128,
        },
        true,
    ))
}

fn checksum_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::of_column(
        ColumnType::unsigned(TypeKind::Int),
        t.nullable(),
    ))
}

/// A checksum of the last argument; two arguments go on from a checksum.
fn checksum<'a>(c: &Call<'a, '_>, f: fn(u32, &[u8]) -> u32) -> SqlResult<Val<'a>> {
    let last = c.args.len() - 1;
    let start = if last > 0 { c.bits(0) as u32 } else { 0 };
    let sum = c.with_bytes(last, |b| f(start, b));
    Ok(Val::Ref(ValueRef::UInt(sum as u64)))
}

/// Bytes between two looks at whether the statement is to end: whole blocks of AES, whole groups of base64.
const PIECE: usize = 1 << 20;

/// A key of any length folded into sixteen bytes.
fn aes_key(c: &Call<'_, '_>) -> [u8; 16] {
    let mut key = [0u8; 16];
    c.with_bytes(1, |k| {
        for (i, b) in k.iter().enumerate() {
            key[i % 16] ^= b;
        }
    });
    key
}

/// All whole blocks, or some if the statement is to end.
fn each_block(data: &mut [u8], mut f: impl FnMut(&mut [u8])) {
    for piece in data.chunks_mut(PIECE) {
        piece.chunks_exact_mut(16).for_each(&mut f);
        if work::stopped() {
            break;
        }
    }
}

/// AES-128 in ECB mode, padded as PKCS 7 says.
fn aes_encrypt<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let aes = Aes128::new(&aes_key(c).into());
    let mut data = c.with_bytes(0, <[u8]>::to_vec);
    let pad = 16 - data.len() % 16;
    data.resize(data.len() + pad, pad as u8);
    each_block(&mut data, |block| aes.encrypt_block(block.into()));
    Ok(Val::Owned(Value::bytes(data)))
}

fn aes_decrypt<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let aes = Aes128::new(&aes_key(c).into());
    let mut data = c.with_bytes(0, <[u8]>::to_vec);
    if data.is_empty() || !data.len().is_multiple_of(16) {
        return Ok(Val::NULL);
    }
    each_block(&mut data, |block| aes.decrypt_block(block.into()));
    let pad = data.last().copied().unwrap_or(0) as usize;
    let body = data.len().saturating_sub(pad);
    if !(1..=16).contains(&pad) || data[body..].iter().any(|b| *b as usize != pad) {
        return Ok(Val::NULL);
    }
    data.truncate(body);
    Ok(Val::Owned(Value::bytes(data)))
}

/// Four bytes of the length, then a zlib stream; a point behind a trailing space, which a CHAR column would lose.
fn compress<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let data = c.with_bytes(0, <[u8]>::to_vec);
    if data.is_empty() {
        return Ok(Val::Owned(Value::bytes(data)));
    }
    let head = (data.len() as u32 & 0x3fff_ffff).to_le_bytes().to_vec();
    let mut z = flate2::write::ZlibEncoder::new(head, flate2::Compression::default());
    let mut failed = Ok(());
    work::in_pieces(&data, |piece| {
        if failed.is_ok() {
            failed = z.write_all(piece);
        }
    });
    let done = failed.and_then(|()| z.finish());
    let mut out = done.map_err(|e| errors::ZLIB_Z_DATA_ERROR.with([&e]))?;
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(Val::Owned(Value::bytes(out)))
}

fn uncompress<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let env = c.ctx.env;
    let data = c.with_bytes(0, <[u8]>::to_vec);
    if data.is_empty() {
        return Ok(Val::Owned(Value::bytes(data)));
    }
    let Some((head, body)) = data.split_first_chunk::<4>().filter(|(_, b)| !b.is_empty()) else {
        env.warn(codes::ZLIB_Z_DATA_ERROR, "ZLIB: Input data corrupted");
        return Ok(Val::NULL);
    };
    let size = u32::from_le_bytes(*head) & 0x3fff_ffff;
    if size as u64 > env.max_allowed_packet {
        env.warn(
            codes::TOO_BIG_FOR_UNCOMPRESS,
            format!(
                "Uncompressed data size too large; the maximum size is {} (probably, length of uncompressed data was corrupted)",
                env.max_allowed_packet
            ),
        );
        return Ok(Val::NULL);
    }
    narwal_memory::reserve(2 * u64::from(size))?;
    let mut out = Vec::new();
    // One byte more than there should be tells a stream that is too long.
    let mut z = flate2::read::ZlibDecoder::new(body).take(size as u64 + 1);
    let read = loop {
        match z.by_ref().take(PIECE as u64).read_to_end(&mut out) {
            Ok(n) if n > 0 && !work::stopped() => {}
            other => break other,
        }
    };
    if read.is_err() {
        env.warn(codes::ZLIB_Z_DATA_ERROR, "ZLIB: Input data corrupted");
        return Ok(Val::NULL);
    }
    if out.len() > size as usize {
        env.warn(
            codes::ZLIB_Z_BUF_ERROR,
            "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)",
        );
        return Ok(Val::NULL);
    }
    Ok(Val::Owned(Value::bytes(out)))
}

fn uncompressed_length<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    Ok(c.with_bytes(0, |b| {
        if b.is_empty() {
            return Val::int(0);
        }
        match b.split_first_chunk::<4>().filter(|(_, b)| !b.is_empty()) {
            Some((head, _)) => Val::int((u32::from_le_bytes(*head) & 0x3fff_ffff) as i64),
            None => {
                c.ctx
                    .env
                    .warn(codes::ZLIB_Z_DATA_ERROR, "ZLIB: Input data corrupted");
                Val::NULL
            }
        }
    }))
}

fn to_base64_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    let n = t.bytes(0).div_ceil(3) * 4;
    Ok(ExprType::text(n + n.saturating_sub(1) / 76, t.nullable()))
}

/// In lines of 76 characters.
fn to_base64<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let bytes = c.with_bytes(0, <[u8]>::len) as u64;
    if !c.may_be(bytes.div_ceil(3) * 4)? {
        return Ok(Val::NULL);
    }
    let out = c.with_bytes(0, |b| {
        let mut out = String::with_capacity(b.len().div_ceil(3) * 4 + b.len() / 57);
        let mut work = Work::default();
        for line in b.chunks(57) {
            if !out.is_empty() {
                out.push('\n');
            }
            base64::engine::general_purpose::STANDARD.encode_string(line, &mut out);
            if work.stops(line.len()) {
                break;
            }
        }
        out
    });
    c.string(out.into_bytes())
}

fn from_base64<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true);
    let text = c.text(0);
    let mut work = Work::default();
    let plain: String = (text.chars().take_while(|_| !work.stops(1)))
        .filter(|c| !c.is_ascii_whitespace())
        .collect();
    match decode(&GeneralPurpose::new(&STANDARD, config), plain.as_bytes()) {
        Some(b) => Ok(Val::Owned(Value::bytes(b))),
        None => {
            let at = plain
                .bytes()
                .position(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'+' | b'/' | b'='))
                .unwrap_or(plain.len());
            c.ctx.env.warn(
                codes::BAD_BASE64_DATA,
                format!("Bad base64 data as position {at}"),
            );
            Ok(Val::NULL)
        }
    }
}

/// Piece by piece, and not all if the statement is to end.
fn decode(engine: &GeneralPurpose, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let pieces = text.len().div_ceil(PIECE);
    for (n, piece) in text.chunks(PIECE).enumerate() {
        // Only the last one may be filled up.
        if n + 1 < pieces && piece.contains(&b'=') {
            return None;
        }
        engine.decode_vec(piece, &mut out).ok()?;
        if work::stopped() {
            break;
        }
    }
    Some(out)
}

fn password<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    if old_passwords(c) {
        return match c.v(0).is_null() {
            true => Ok(Val::NULL),
            false => old_password(c),
        };
    }
    let twice = c.with_bytes(0, |b| {
        (!b.is_empty()).then(|| Sha1::digest(Sha1::digest(b)))
    });
    let Some(hash) = twice else {
        return Ok(Val::text(String::new()));
    };
    Ok(Val::text(format!("*{}", hex_text(&hash, true))))
}

/// The session's `old_passwords`: PASSWORD() is OLD_PASSWORD().
fn old_passwords(c: &Call<'_, '_>) -> bool {
    let variables = &c.ctx.env.variables;
    matches!(
        variables.system(VariableScope::Session, "old_passwords"),
        Ok(Value::Int(n)) if n != 0
    )
}

/// The 64-bit hash of passwords before 4.1.
fn old_password<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let text = c.with_bytes(0, <[u8]>::to_vec);
    Ok(Val::text(old_password_hash(&text)))
}

/// What `mysql_old_password` keeps of a password: 16 hexadecimal digits, nothing for an empty one.
pub fn old_password_hash(password: &[u8]) -> String {
    if password.is_empty() {
        return String::new();
    }
    let (a, b) = old_hash(password);
    format!("{a:08x}{b:08x}")
}

/// The two halves of that hash.
fn old_hash(password: &[u8]) -> (u32, u32) {
    let (mut nr, mut nr2, mut add) = (1_345_345_333u64, 0x1234_5671u64, 7u64);
    for b in password.iter().filter(|b| !matches!(b, b' ' | b'\t')) {
        let b = u64::from(*b);
        nr ^= ((nr & 63).wrapping_add(add).wrapping_mul(b)).wrapping_add(nr << 8);
        nr2 = nr2.wrapping_add((nr2 << 8) ^ nr);
        add = add.wrapping_add(b);
    }
    let mask = (1u64 << 31) - 1;
    ((nr & mask) as u32, (nr2 & mask) as u32)
}

/// The bytes of ENCODE and DECODE: a permutation of all bytes that the password makes, and numbers that change it from byte
/// to byte.
struct Table {
    series: Seeded,
    /// What a byte is decoded to.
    plain: [u8; 256],
    /// What it is encoded to.
    coded: [u8; 256],
    shift: u8,
}

impl Table {
    fn new(password: &[u8]) -> Self {
        let (a, b) = old_hash(password);
        let mut series = Seeded::of(a, b);
        let mut plain: [u8; 256] = std::array::from_fn(|i| i as u8);
        for i in 0..256 {
            plain.swap(i, (series.next() * 255.0) as usize);
        }
        let mut coded = [0; 256];
        for (i, p) in plain.iter().enumerate() {
            coded[usize::from(*p)] = i as u8;
        }
        Table {
            series,
            plain,
            coded,
            shift: 0,
        }
    }

    fn encode(&mut self, b: u8) -> u8 {
        self.shift ^= (self.series.next() * 255.0) as u8;
        let out = self.coded[usize::from(b)] ^ self.shift;
        self.shift ^= b;
        out
    }

    fn decode(&mut self, b: u8) -> u8 {
        self.shift ^= (self.series.next() * 255.0) as u8;
        let out = self.plain[usize::from(b ^ self.shift)];
        self.shift ^= out;
        out
    }
}

fn coded<'a>(c: &Call<'a, '_>, one: fn(&mut Table, u8) -> u8) -> Val<'a> {
    let mut table = c.with_bytes(1, Table::new);
    let out: Vec<u8> = c.with_bytes(0, |b| b.iter().map(|b| one(&mut table, *b)).collect());
    Val::Owned(Value::bytes(out))
}

fn random_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(bytes(
        t.literal_int(0).unwrap_or(1024).clamp(0, 1024) as u64,
        true,
    ))
}

/// Bytes that can't be guessed: the system's.
fn random_bytes<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let n = to_integer(c.number(0), &mut c.told(0));
    if n == 0 {
        return Ok(Val::Owned(Value::bytes(Vec::new())));
    }
    if !(0..=1024).contains(&n) {
        return Ok(Val::NULL);
    }
    let mut out = vec![0u8; n as usize];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut f| f.read_exact(&mut out))
        .map_err(|e| errors::UNKNOWN_ERROR.text(format!("no random bytes: {e}")))?;
    Ok(Val::Owned(Value::bytes(out)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_decoded_in_pieces_as_they_would_be_at_once() {
        let config = GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
            .with_decode_allow_trailing_bits(true);
        let engine = GeneralPurpose::new(&STANDARD, config);
        for n in [0, 1, 2, 3, 2 * PIECE, 2 * PIECE + 1, 3 * PIECE / 4 * 3] {
            let bytes: Vec<u8> = (0..n).map(|i| (i * 7 % 251) as u8).collect();
            let text = engine.encode(&bytes);
            assert_eq!(decode(&engine, text.as_bytes()), Some(bytes), "{n} bytes");
        }
        // Filled up in the middle, at the end of a piece and elsewhere.
        let mut text = "A".repeat(PIECE - 1) + "=AAAA";
        assert_eq!(decode(&engine, text.as_bytes()), None);
        text.replace_range(100..101, "=");
        assert_eq!(decode(&engine, text.as_bytes()), None);
        assert_eq!(decode(&engine, b"AAA"), None, "not filled up");
    }
}
