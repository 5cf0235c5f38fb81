//! Made-up tables: rows that a query keeps are images of such.

use crate::bind::scope::Source;
use crate::expr::node::{Coercibility, ExprType, NO_LENGTH};
use narwal_engine::{ColumnDef, Table, TableDef};
use narwal_types::{
    BlobSize, Collation, ColumnType, NumberForm, ResultColumn, SqlResult, TypeKind, Value, ValueRef,
};
use std::sync::Arc;

/// The columns of a made-up table.
pub fn made_table(
    db: &str,
    name: &str,
    columns: impl IntoIterator<Item = (String, ColumnType, bool)>,
) -> SqlResult<Arc<Table>> {
    let columns = columns.into_iter();
    let columns = columns.map(|(name, ty, nullable)| made_column(name, ty, nullable));
    made_of(db, name, columns.collect())
}

/// A column of a made-up table.
pub fn made_column(name: String, ty: ColumnType, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, ty, nullable)
}

/// A made-up table of these columns.
pub fn made_of(db: &str, name: &str, columns: Vec<ColumnDef>) -> SqlResult<Arc<Table>> {
    Ok(Table::made(TableDef {
        id: 0,
        db: db.to_string(),
        name: name.to_string(),
        columns,
        indexes: Vec::new(),
        hidden_index_id: 0,
        collation: Collation::default(),
        comment: String::new(),
        auto_increment_start: 0,
        engine: String::new(),
        created: 0,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        sequence: false,
        merge: None,
        period: None,
        declared: None,
        options: Vec::new(),
    })?)
}

/// How values of a type are kept in made-up rows: wide enough for whatever an expression gives.
pub fn kept_type(t: &ExprType) -> ColumnType {
    let ty = &t.ty;
    match ty.kind {
        _ if t.null => ColumnType::text(TypeKind::Text(BlobSize::Long), Collation::default()),
        _ if ty.is_character() => ColumnType::text(TypeKind::Text(BlobSize::Long), ty.collation),
        _ if ty.is_binary_string() => ColumnType::new(TypeKind::Blob(BlobSize::Long)),
        _ if ty.is_integer() => ColumnType {
            kind: TypeKind::BigInt,
            ..ty.without_zeros()
        },
        // A value from a TIMESTAMP column is in the session's time zone already.
        TypeKind::Timestamp(f) => ColumnType::new(TypeKind::DateTime(f)),
        // Its values are not rounded once more.
        TypeKind::Float | TypeKind::Double | TypeKind::Decimal(..) => ColumnType {
            form: NumberForm::NONE,
            ..*ty
        },
        _ => *ty,
    }
}

/// The type that a result column was described with.
pub fn column_type(c: &ResultColumn) -> ExprType {
    let mut t = ExprType {
        json: c.json,
        ..ExprType::of_column(c.ty, c.nullable)
    };
    if !c.ty.is_string() {
        t.width = c.length;
    }
    // What has no length of its own has that of what it was made of.
    t.ty.kind = match (c.ty.kind, c.length) {
        (TypeKind::VarChar(NO_LENGTH), n @ 1..=16_383) => TypeKind::VarChar(n as u16),
        (TypeKind::VarBinary(NO_LENGTH), n @ 1..=65_532) => TypeKind::VarBinary(n as u16),
        (TypeKind::VarChar(NO_LENGTH), n @ 1..) => {
            let bytes = u64::from(n) * u64::from(c.ty.char_bytes());
            TypeKind::Text(BlobSize::holding(bytes))
        }
        (TypeKind::VarBinary(NO_LENGTH), n @ 1..) => TypeKind::Blob(BlobSize::holding(n.into())),
        (kind, _) => kind,
    };
    // A computed integer has as many digits as it has characters.
    if c.ty.is_integer() && c.org_name.is_empty() && c.length > 0 {
        let sign = u32::from(!c.ty.unsigned);
        t.digits = c.length.saturating_sub(sign).clamp(1, 20) as u8;
    }
    // A double may be one that is shown with a fixed number of digits.
    if c.ty.kind == TypeKind::Double {
        t.decimals = c.decimals;
    }
    // MIN and MAX of NULL are of bytes that give way to any text.
    if c.ty.kind == TypeKind::VarBinary(0) {
        t.coercibility = Coercibility::Ignorable;
    }
    if c.null_type { ExprType::null() } else { t }
}

/// A derived table as a source of columns.
pub fn derived(
    db: &str,
    name: &str,
    columns: &[ResultColumn],
    types: Vec<ExprType>,
) -> SqlResult<Source> {
    let table = made_table(
        db,
        name,
        columns
            .iter()
            .zip(&types)
            .map(|(c, t)| (c.name.clone(), kept_type(t), t.nullable)),
    )?;
    Ok(Source {
        types: Some(types.into()),
        ..Source::new(name, table)
    })
}

/// Values as an image of a made-up table's row, converted where their type differs.
pub fn encode_made(
    table: &narwal_engine::Table,
    values: &[ValueRef<'_>],
    image: &mut Vec<u8>,
) -> SqlResult<()> {
    use narwal_types::convert::{NoWarnings, StoreMode, StoreTarget, fits, store};
    image.clear();
    let columns = table.columns();
    if values
        .iter()
        .zip(columns)
        .all(|(v, c)| fits(*v, &c.ty, true))
    {
        return table.layout.encode(values, image);
    }
    let converted = values
        .iter()
        .zip(columns)
        .map(|(v, c)| {
            let target = StoreTarget {
                ty: &c.ty,
                nullable: true,
                db: &table.def.db,
                table: &table.def.name,
                column: &c.name,
            };
            store(*v, &target, 1, &StoreMode::default(), &mut NoWarnings)
        })
        .collect::<SqlResult<Vec<Value>>>()?;
    let refs: Vec<ValueRef<'_>> = converted.iter().map(Value::as_ref).collect();
    table.layout.encode(&refs, image)
}

/// The column type for values of an expression, with its display width.
pub(crate) fn stored_type(r: &ResultColumn) -> (ColumnType, Option<u8>) {
    let mut ty = r.ty;
    if r.null_type {
        ty.kind = TypeKind::Binary(0);
        ty.collation = Collation::Binary;
        return (ty, None);
    }
    let width = u8::try_from(r.length).ok().filter(|n| *n > 0);
    match ty.kind {
        // Its width is that of its zeros.
        _ if ty.form.zeros > 0 => (ty, None),
        _ if ty.is_integer() => {
            if ty.kind == TypeKind::BigInt && (1..10).contains(&r.length) {
                ty.kind = TypeKind::Int;
            }
            (ty, width)
        }
        TypeKind::VarChar(_) | TypeKind::Text(_) | TypeKind::Char(_) => {
            ty.kind = match r.length {
                0 if matches!(
                    ty.kind,
                    TypeKind::VarChar(0 | NO_LENGTH) | TypeKind::Char(0)
                ) =>
                {
                    TypeKind::Char(0)
                }
                0 => ty.kind,
                n @ 1..=MOST_IN_ROW => TypeKind::VarChar(n as u16),
                n => TypeKind::Text(BlobSize::holding(u64::from(n) * u64::from(ty.char_bytes()))),
            };
            (ty, None)
        }
        TypeKind::VarBinary(_) | TypeKind::Blob(_) | TypeKind::Binary(_) => {
            ty.kind = match r.length {
                0 if matches!(ty.kind, TypeKind::VarBinary(0 | NO_LENGTH)) => TypeKind::Binary(0),
                0 => ty.kind,
                n @ 1..=MOST_IN_ROW => TypeKind::VarBinary(n as u16),
                n => TypeKind::Blob(BlobSize::holding(n.into())),
            };
            (ty, None)
        }
        TypeKind::Float | TypeKind::Double
            if r.decimals <= MOST_DECIMALS && ty.form.digits.is_none() =>
        {
            let digits = match u8::try_from(r.length) {
                Ok(n) if n > r.decimals => n,
                _ => DOUBLE_DIGITS + r.decimals,
            };
            ty.form.digits = Some((digits, r.decimals));
            (ty, None)
        }
        _ => (ty, None),
    }
}

/// Most digits that a column can have behind the point.
const MOST_DECIMALS: u8 = 30;

/// Computed texts of more characters are kept beside their rows: as TEXT or BLOB.
const MOST_IN_ROW: u32 = 512;

/// What a column for doubles with a fixed number of digits behind the point has more: those of a double, sign and point.
const DOUBLE_DIGITS: u8 = 17;
