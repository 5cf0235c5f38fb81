//! Small result sets that are made in memory and sent at once: SHOW and the like.

use narwal_types::{
    Collation, ColumnType, ResultColumn, ResultSink, SqlResult, TypeKind, Value, ValueRef,
};

/// A result set in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    pub columns: Vec<ResultColumn>,
    pub rows: Vec<Vec<Value>>,
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
        self.columns
            .iter()
            .position(|c| c.name.eq_ignore_ascii_case(name))
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
