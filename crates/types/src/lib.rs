//! SQL values, column types, row images, key encoding, collations, errors.
//!
//! | file | holds |
//! |---|---|
//! | `value.rs` | [`Value`] and [`ValueRef`]: one SQL value, owned or borrowed |
//! | `coltype.rs` | [`ColumnType`]: what a column may hold |
//! | `decimal.rs` | [`Decimal`]: exact numbers to 65 digits |
//! | `temporal.rs` | dates, times: text, packed forms, arithmetic |
//! | `temporal_parse.rs` | reading them from text and numbers |
//! | `text.rs` | values as the text protocol shows them |
//! | `collation.rs` | [`Collation`]: comparison, padding, sort weights |
//! | `charset.rs` | [`Charset`]: names, widths, latin1's bytes |
//! | `row.rs` | [`RowLayout`]: the row image of row events, which is also the stored row |
//! | `key.rs` | order-preserving index keys |
//! | `name.rs` | [`Name`]: which names are the same |
//! | `member.rs` | [`Members`], [`Member`], [`Bits`]: values of ENUM, SET and BIT |
//! | `fixed.rs` | [`Fixed`]: values of UUID, INET4 and INET6 |
//! | `convert.rs` | storing a value into a column: coercion, range, strict mode |
//! | `face.rs` | which server a process shows itself as, MariaDB or MySQL |
//! | `zone.rs` | [`Zone`]: time zones |
//! | `error.rs` | [`SqlError`]: error code, SQLSTATE, message |
//! | `result.rs` | [`ResultSink`]: where result sets go |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod charset;
pub mod collation;
pub mod coltype;
mod common_errors;
pub mod convert;
pub mod decimal;
pub mod error;
pub mod errors;
pub mod face;
pub mod fixed;
pub mod key;
pub mod key_decode;
pub mod member;
pub mod mysql_errors;
pub mod mysql_json;
pub mod name;
mod narrow_double;
pub mod result;
pub mod row;
pub mod table_zone;
pub mod temporal;
pub mod temporal_parse;
pub mod text;
pub mod value;
pub mod work;
pub mod zone;

pub use charset::Charset;
pub use collation::Collation;
pub use coltype::{BlobSize, ColumnType, NumberForm, TypeKind};
pub use convert::{SqlWarning, StoreMode, StoreTarget};
pub use decimal::Decimal;
pub use error::{SqlError, SqlResult};
pub use fixed::{Fixed, FixedKind};
pub use member::{Bits, Member, Members};
pub use name::Name;
pub use result::{
    Discard, LateAnswer, OkInfo, ResultColumn, ResultSink, SessionChange, no_local_files,
};
pub use row::RowLayout;
pub use temporal::{Date, DateTime, Time};
pub use value::{BulkValue, Value, ValueRef};
pub use zone::Zone;
