//! Small result sets that are made in memory and sent at once: SHOW and the like.

use narwal_syntax::ast::admin::Operand;
use narwal_types::{
    Collation, ColumnType, Name, ResultColumn, ResultSink, SqlResult, TypeKind, Value, ValueRef,
};

/// A result set in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    pub columns: Vec<ResultColumn>,
    pub rows: Vec<Vec<Value>>,
    /// A WHERE that is still to be asked of the rows.
    pub condition: Option<Box<Operand>>,
}

/// A column without a table behind it.
pub(crate) fn column(
    name: &str,
    kind: TypeKind,
    unsigned: bool,
    length: u32,
    nullable: bool,
) -> ResultColumn {
    let character = matches!(
        kind,
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_)
    );
    ResultColumn {
        db: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_string(),
        org_name: String::new(),
        ty: ColumnType {
            kind,
            unsigned,
            collation: if character {
                Collation::Utf8mb4GeneralCi
            } else {
                Collation::Binary
            },
            form: narwal_types::NumberForm::NONE,
        },
        nullable,
        length,
        decimals: if character || matches!(kind, TypeKind::Double | TypeKind::Float) {
            39
        } else {
            0
        },
        primary_key: false,
        unique_key: false,
        multiple_key: false,
        auto_increment: false,
        no_default: false,
        set_by_time: false,
        on_update_now: false,
        null_type: false,
        json: false,
    }
}

impl Grid {
    pub(crate) fn new() -> Self {
        Grid::default()
    }

    /// Adds a NOT NULL text column of up to `length` characters.
    pub(crate) fn text(&mut self, name: &str, length: u16) -> &mut Self {
        self.columns.push(column(
            name,
            TypeKind::VarChar(length),
            false,
            u32::from(length),
            false,
        ));
        self
    }

    /// Adds a nullable text column.
    pub(crate) fn text_null(&mut self, name: &str, length: u16) -> &mut Self {
        self.columns.push(column(
            name,
            TypeKind::VarChar(length),
            false,
            u32::from(length),
            true,
        ));
        self
    }

    /// Adds a BIGINT column.
    pub(crate) fn int(&mut self, name: &str, nullable: bool) -> &mut Self {
        self.columns
            .push(column(name, TypeKind::BigInt, false, 21, nullable));
        self
    }

    /// Adds a BIGINT UNSIGNED column.
    pub(crate) fn uint(&mut self, name: &str, nullable: bool) -> &mut Self {
        self.columns
            .push(column(name, TypeKind::BigInt, true, 21, nullable));
        self
    }

    /// Adds a column of any kind.
    pub(crate) fn any(&mut self, name: &str, kind: TypeKind, nullable: bool) -> &mut Self {
        self.columns.push(column(name, kind, false, 0, nullable));
        self
    }

    /// Position of a column by name, without case.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name.same_name(name))
    }

    pub(crate) fn row(&mut self, values: Vec<Value>) {
        debug_assert_eq!(values.len(), self.columns.len());
        self.rows.push(values);
    }

    /// Sends columns and rows; `end_rows` is the caller's.
    pub(crate) fn send(&self, out: &mut dyn ResultSink) -> SqlResult<()> {
        out.begin_rows(&self.columns)?;
        let mut refs: Vec<ValueRef<'_>> = Vec::with_capacity(self.columns.len());
        for r in &self.rows {
            refs.clear();
            refs.extend(r.iter().map(Value::as_ref));
            out.row(&refs)?;
        }
        Ok(())
    }
}

/// A text, or NULL.
pub(crate) fn opt(s: Option<impl Into<Box<str>>>) -> Value {
    s.map_or(Value::Null, Value::str)
}

/// What the schema `information_schema` says of a type beside its name: the most characters and bytes, digits, digits behind
/// the point, digits of a second, character set and collation.
pub(crate) fn type_facts(ty: &ColumnType) -> [Value; 7] {
    let uint = |v: Option<u64>| v.map_or(Value::Null, Value::UInt);
    let width = u64::from(ty.char_bytes());
    let (chars, bytes) = match ty.kind {
        TypeKind::Char(n) | TypeKind::VarChar(n) => (Some(u64::from(n)), ty.max_bytes()),
        TypeKind::Binary(n) | TypeKind::VarBinary(n) => (Some(u64::from(n)), Some(u64::from(n))),
        TypeKind::Text(s) | TypeKind::Blob(s) => {
            let least = ty.collation.charset().min_width() as u64;
            (Some(s.max_bytes() / least), Some(s.max_bytes()))
        }
        TypeKind::Enum(m) => (
            Some(m.enum_chars() as u64),
            Some(m.enum_chars() as u64 * width),
        ),
        TypeKind::Set(m) => (
            Some(m.set_chars() as u64),
            Some(m.set_chars() as u64 * width),
        ),
        _ => (None, None),
    };
    let (precision, scale) = match ty.kind {
        TypeKind::TinyInt => (Some(3), Some(0)),
        TypeKind::SmallInt => (Some(5), Some(0)),
        TypeKind::MediumInt => (Some(if ty.unsigned { 8 } else { 7 }), Some(0)),
        TypeKind::Int => (Some(10), Some(0)),
        TypeKind::BigInt => (Some(if ty.unsigned { 20 } else { 19 }), Some(0)),
        TypeKind::Decimal(p, s) => (Some(u64::from(p)), Some(u64::from(s))),
        TypeKind::Float | TypeKind::Double if ty.form.digits.is_some() => {
            let digits = ty.form.digits;
            (
                digits.map(|(m, _)| u64::from(m)),
                digits.map(|(_, d)| u64::from(d)),
            )
        }
        TypeKind::Float => (Some(12), None),
        TypeKind::Double => (Some(22), None),
        TypeKind::Bit(n) => (Some(u64::from(n)), None),
        _ => (None, None),
    };
    let fsp = match ty.kind {
        TypeKind::Time(f) | TypeKind::DateTime(f) | TypeKind::Timestamp(f) => Some(u64::from(f)),
        _ => None,
    };
    let (set, collation) = match ty.has_charset() {
        true => {
            let c = ty.collation;
            (Value::str(c.charset().name()), Value::str(c.name()))
        }
        false => (Value::Null, Value::Null),
    };
    [
        uint(chars),
        uint(bytes),
        uint(precision),
        uint(scale),
        uint(fsp),
        set,
        collation,
    ]
}
