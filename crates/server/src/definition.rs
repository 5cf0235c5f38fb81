//! Column definitions as a client wants them, and what it keeps of them.
//!
//! Source of the formats: MySQL client/server protocol documentation, "Column Definition"; MariaDB knowledge base, "Result
//! Set Packets", "Extended metadata".

use crate::codec::put_lenenc_bytes;
use crate::protocol::{column_flag, wire};
use narwal_types::coltype::MAX_CHAR_BYTES;
use narwal_types::face::is_mysql;
use narwal_types::{Charset, Collation, ColumnType, ResultColumn, TypeKind};
use std::borrow::Cow;
use std::sync::Arc;

/// Collation id of everything that is not text.
pub const BINARY_COLLATION: u16 = 63;

/// Kinds of extended metadata.
const EXTENDED_TYPE: u8 = 0;
const EXTENDED_FORMAT: u8 = 1;

/// The form in which a client gets its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// MARIADB_CLIENT_EXTENDED_METADATA: column definitions name what the type number does not say.
    pub extended: bool,
    /// What text is sent under (`character_set_results`); `None` leaves it as its columns have it.
    pub results: Option<Collation>,
}

impl Default for Form {
    fn default() -> Self {
        Form {
            extended: false,
            results: Some(Collation::Utf8mb4GeneralCi),
        }
    }
}

impl Form {
    /// Collation that a column's text is sent under.
    fn collation(self, ty: &ColumnType) -> Collation {
        self.results.unwrap_or(ty.collation)
    }

    /// The character set that a column's text is converted to, if it is to be.
    pub fn converts_to(self, c: &ResultColumn) -> Option<Charset> {
        let to = match self.results.map(Collation::charset) {
            // As it is stored.
            None | Some(Charset::Binary) => c.ty.collation.charset(),
            Some(to) => to,
        };
        // Some codes of these sets are private characters while they are UTF-8.
        let veiled = !c.ty.collation.charset().stores_utf8();
        let plain = match to {
            Charset::Utf8mb4 => !veiled,
            Charset::Binary => true,
            _ => false,
        };
        (is_text(&c.ty) && !plain).then_some(to)
    }

    /// A message as the client gets it: characters that its set does not have by their number.
    pub fn message(self, s: &str) -> Cow<'_, [u8]> {
        let Some(set) = self.results.map(Collation::charset) else {
            return Cow::Borrowed(s.as_bytes());
        };
        if set.fitting(s.as_bytes()) == s.len() {
            return set.to_client(s.as_bytes());
        }
        let mut out = Vec::with_capacity(s.len() + 8);
        let mut utf8 = [0; 4];
        for c in s.chars() {
            let c8: &[u8] = c.encode_utf8(&mut utf8).as_bytes();
            match c as u32 {
                _ if set.fitting(c8) == c8.len() => out.extend_from_slice(&set.to_client(c8)),
                n @ 0..0x1_0000 => out.extend_from_slice(format!("\\{n:04X}").as_bytes()),
                n => out.extend_from_slice(format!("\\+{n:06X}").as_bytes()),
            }
        }
        Cow::Owned(out)
    }

    /// Names as the client gets them.
    pub fn text(self, s: &str) -> Cow<'_, [u8]> {
        match self.results {
            Some(c) => c.charset().to_client(s.as_bytes()),
            None => Cow::Borrowed(s.as_bytes()),
        }
    }
}

fn is_text(ty: &ColumnType) -> bool {
    ty.has_charset() && ty.collation != Collation::Binary || ty.fixed().is_some()
}

/// Display length in bytes.
fn display_bytes(c: &ResultColumn, form: Form) -> u32 {
    let text = is_text(&c.ty);
    let char_bytes = || form.collation(&c.ty).charset().char_bytes();
    if c.length == 0 && text && matches!(c.ty.kind, TypeKind::Text(_)) && form.results.is_some() {
        // Its limit is in bytes, but a client that sizes a buffer by it may get as many characters.
        c.ty.display_length().saturating_mul(char_bytes())
    } else if c.length == 0 && text && !matches!(c.ty.kind, TypeKind::Text(_)) {
        // Counted with the longest characters.
        c.ty.display_length() / MAX_CHAR_BYTES * char_bytes()
    } else if c.length == 0 {
        c.ty.display_length()
    } else if text {
        c.length.saturating_mul(char_bytes())
    } else {
        c.length
    }
}

fn column_flags(c: &ResultColumn, ty: u8) -> u16 {
    let mut flags = 0;
    let mut set = |on: bool, flag: u16| {
        if on {
            flags |= flag;
        }
    };
    set(!c.nullable, column_flag::NOT_NULL);
    set(c.primary_key, column_flag::PRI_KEY);
    set(c.unique_key, column_flag::UNIQUE_KEY);
    set(c.multiple_key, column_flag::MULTIPLE_KEY);
    set(
        c.primary_key || c.unique_key || c.multiple_key,
        column_flag::PART_KEY,
    );
    set(c.auto_increment, column_flag::AUTO_INCREMENT);
    set(c.no_default, column_flag::NO_DEFAULT_VALUE);
    set(c.on_update_now, column_flag::ON_UPDATE_NOW);
    let year = matches!(c.ty.kind, TypeKind::Year);
    set(c.ty.form.zeros > 0 || year, column_flag::ZEROFILL);
    // UUID, INET4 and INET6 are unsigned, but for what UUID() makes, and columns of them binary.
    let fixed = c.ty.fixed().is_some();
    set(
        c.ty.unsigned || year || fixed && c.decimals == 0,
        column_flag::UNSIGNED,
    );
    set(matches!(ty, wire::BLOB | wire::JSON), column_flag::BLOB);
    let temporal = matches!(
        c.ty.kind,
        TypeKind::Date | TypeKind::Time(_) | TypeKind::DateTime(_) | TypeKind::Timestamp(_)
    );
    let bytes = matches!(
        c.ty.kind,
        TypeKind::Char(_)
            | TypeKind::VarChar(_)
            | TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Text(_)
            | TypeKind::Blob(_)
            | TypeKind::Enum(_)
            | TypeKind::Set(_)
    ) && c.ty.collation.is_bin();
    let fixed = fixed && !c.org_name.is_empty();
    // A number that is no column's has bytes, too.
    let computed = c.org_name.is_empty() && c.ty.is_numeric();
    set(
        temporal || bytes || fixed || computed || c.null_type || ty == wire::JSON,
        column_flag::BINARY,
    );
    set(matches!(c.ty.kind, TypeKind::Enum(_)), column_flag::ENUM);
    set(matches!(c.ty.kind, TypeKind::Set(_)), column_flag::SET);
    set(matches!(c.ty.kind, TypeKind::Bit(_)), column_flag::UNSIGNED);
    let timestamp = matches!(c.ty.kind, TypeKind::Timestamp(_));
    set(timestamp && !is_mysql(), column_flag::UNSIGNED);
    set(c.set_by_time, column_flag::TIMESTAMP);
    flags
}

/// The type number that a column's values are sent as.
pub fn column_wire_type(c: &ResultColumn) -> u8 {
    if c.null_type {
        wire::NULL
    } else if c.json && matches!(c.ty.kind, TypeKind::Text(_)) && is_mysql() {
        wire::JSON
    } else {
        c.ty.mysql_type()
    }
}

/// Appends what MARIADB_CLIENT_EXTENDED_METADATA says more of a column.
fn put_extended(out: &mut Vec<u8>, c: &ResultColumn) {
    let mut block = Vec::new();
    if let Some(kind) = c.ty.fixed() {
        block.push(EXTENDED_TYPE);
        put_lenenc_bytes(&mut block, kind.name().as_bytes());
    }
    if c.json {
        block.push(EXTENDED_FORMAT);
        put_lenenc_bytes(&mut block, b"json");
    }
    put_lenenc_bytes(out, &block);
}

/// Appends a column definition's payload (protocol 4.1).
pub fn put_column(out: &mut Vec<u8>, c: &ResultColumn, form: Form) {
    let ty = column_wire_type(c);
    put_lenenc_bytes(out, b"def");
    for name in [&c.db, &c.table, &c.org_table, &c.name, &c.org_name] {
        put_lenenc_bytes(out, &form.text(name));
    }
    if form.extended {
        put_extended(out, c);
    }
    out.push(0x0C);
    let collation = if is_text(&c.ty) && !c.null_type && ty != wire::JSON {
        form.collation(&c.ty).id()
    } else {
        BINARY_COLLATION
    };
    out.extend_from_slice(&collation.to_le_bytes());
    let length = if c.null_type {
        c.length
    } else {
        display_bytes(c, form)
    };
    out.extend_from_slice(&length.to_le_bytes());
    out.push(ty);
    out.extend_from_slice(&column_flags(c, ty).to_le_bytes());
    // "Not fixed" is 31 for floating point and 39 elsewhere.
    let float = matches!(ty, wire::FLOAT | wire::DOUBLE);
    out.push(if float {
        c.decimals.min(31)
    } else {
        c.decimals
    });
    out.extend_from_slice(&[0, 0]);
}

/// Appends the definition of a parameter marker, which says nothing about it.
pub fn put_parameter(out: &mut Vec<u8>, form: Form) {
    put_lenenc_bytes(out, b"def");
    for name in [&b""[..], b"", b"", b"?", b""] {
        put_lenenc_bytes(out, name);
    }
    if form.extended {
        out.push(0);
    }
    out.push(0x0C);
    out.extend_from_slice(&BINARY_COLLATION.to_le_bytes());
    out.extend_from_slice(&0u32.to_le_bytes());
    out.push(wire::VAR_STRING);
    out.extend_from_slice(&column_flag::BINARY.to_le_bytes());
    out.extend_from_slice(&[0, 0, 0]);
}

/// The column definitions that a client has of a prepared statement: it is sent only others
/// (MARIADB_CLIENT_CACHE_METADATA).
#[derive(Debug, Default)]
pub struct Definitions {
    /// Their payloads, one behind the other.
    sent: Vec<u8>,
    /// The columns that they are known to be those of, without a look at each.
    pub of: Option<(Arc<[ResultColumn]>, Form)>,
}

impl Definitions {
    /// What COM_STMT_PREPARE has told.
    pub fn new(columns: &[ResultColumn], form: Form) -> Self {
        let mut this = Definitions::default();
        this.replace(columns, form);
        this
    }

    /// Takes over a result's columns. True if their definitions are not those that the client has.
    pub fn replace(&mut self, columns: &[ResultColumn], form: Form) -> bool {
        self.of = None;
        let mut now = Vec::new();
        for c in columns {
            put_column(&mut now, c, form);
        }
        let other = now != self.sent;
        self.sent = now;
        other
    }
}
