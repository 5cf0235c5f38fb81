//! The packets that end a command: OK, ERR and EOF.
//!
//! Source of the formats: MySQL client/server protocol documentation, "Generic Response Packets".

use crate::backend::status;
use crate::codec::{put_lenenc, put_lenenc_bytes};
use crate::definition::Form;
use narwal_types::{OkInfo, SessionChange, SqlError};

/// Appends an OK packet's payload. `header` is 0x00, or 0xFE where it ends a result set.
/// `changes` are those of the session, as [`put_changes`] writes them.
pub fn put_ok(out: &mut Vec<u8>, header: u8, info: &OkInfo, status: u16, changes: &[u8]) {
    let status = if changes.is_empty() {
        status
    } else {
        status | status::SESSION_STATE_CHANGED
    };
    out.push(header);
    put_lenenc(out, info.affected_rows);
    put_lenenc(out, info.last_insert_id);
    out.extend_from_slice(&status.to_le_bytes());
    out.extend_from_slice(&info.warnings.to_le_bytes());
    if !info.info.is_empty() || !changes.is_empty() {
        // The documentation says "to the end of the packet"; servers and clients have always used a length.
        put_lenenc_bytes(out, info.info.as_bytes());
    }
    if !changes.is_empty() {
        put_lenenc_bytes(out, changes);
    }
}

/// Appends what has changed in a session, as an OK packet carries it.
pub fn put_changes(out: &mut Vec<u8>, changes: &[SessionChange]) {
    const VARIABLES: u8 = 0;
    const SCHEMA: u8 = 1;
    const STATE: u8 = 2;
    const CHARACTERISTICS: u8 = 4;
    const TRANSACTION: u8 = 5;
    let mut block = Vec::new();
    for change in changes {
        block.clear();
        let kind = match change {
            SessionChange::Variable(name, value) => {
                put_lenenc_bytes(&mut block, name.as_bytes());
                put_lenenc_bytes(&mut block, value.as_bytes());
                VARIABLES
            }
            SessionChange::Schema(db) => {
                put_lenenc_bytes(&mut block, db.as_bytes());
                SCHEMA
            }
            SessionChange::State => {
                block.push(b'1');
                STATE
            }
            SessionChange::Characteristics(text) => {
                put_lenenc_bytes(&mut block, text.as_bytes());
                CHARACTERISTICS
            }
            SessionChange::Transaction(state) => {
                put_lenenc_bytes(&mut block, state);
                TRANSACTION
            }
        };
        out.push(kind);
        put_lenenc_bytes(out, &block);
    }
}

/// Appends an ERR packet's payload. The message is cut at 512 bytes, as clients' buffers expect.
pub fn put_err(out: &mut Vec<u8>, e: &SqlError, form: Form) {
    out.push(0xFF);
    out.extend_from_slice(&e.code.to_le_bytes());
    out.push(b'#');
    out.extend_from_slice(&e.sqlstate);
    let end = e.message.floor_char_boundary(511);
    out.extend_from_slice(&form.message(&e.message[..end]));
}

/// Appends the classic EOF packet's payload.
pub fn put_eof(out: &mut Vec<u8>, warnings: u16, status: u16) {
    out.push(0xFE);
    out.extend_from_slice(&warnings.to_le_bytes());
    out.extend_from_slice(&status.to_le_bytes());
}
