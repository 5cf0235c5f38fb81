//! Columns: attributes and defaults.

use super::refuse::unsupported;
use super::{option, types};
use crate::ast::{ColumnSpec, IndexSpec, TableElements};
use crate::charset_words::{CharsetWords, CollateWord};
use crate::literal::{negate_literal, number};
use narwal_engine::{ColumnDef, DefaultDef};
use narwal_syntax::SqlMode;
use narwal_syntax::ast::Expr as AstExpr;
use narwal_syntax::ast::ddl::{Column, ColumnAttribute, ColumnDefault, Generated, TypeName};
use narwal_syntax::ast::{Call, Literal, UnaryOp};
use narwal_types::errors;
use narwal_types::{Charset, Collation, ColumnType, SqlResult, TypeKind};

/// A default: a constant, or an expression that is none.
type Default = Result<DefaultDef, AstExpr>;

/// Adds a column, with the indexes and the foreign key that its attributes ask for.
pub(super) fn column(c: Column, sql_mode: SqlMode, t: &mut TableElements) -> SqlResult<()> {
    if c.name.is_empty() || c.name.ends_with(' ') {
        return Err(errors::WRONG_COLUMN_NAME.with([&c.name]));
    }
    let length = types::overlong(&c.ty).filter(|_| !sql_mode.strict());
    let mut said = c.ty;
    if length.is_some() {
        said.length = None;
    }
    let (kind, ty) = types::data_type(&said, &c.name, sql_mode)?;
    // How large TEXT(n) is, its character set says.
    let length = match said.name {
        TypeName::Text => said.length.filter(|n| *n > 0),
        _ => length,
    };
    let generated = c.generated.is_some();
    let mut spec = ColumnSpec {
        said_db: c.db,
        def: ColumnDef {
            name: c.name.clone(),
            ty: ColumnType {
                kind,
                unsigned: ty.unsigned,
                collation: Collation::Binary,
                form: ty.form,
            },
            nullable: !ty.serial,
            default: DefaultDef::None,
            auto_increment: ty.serial,
            on_update: None,
            comment: String::new(),
            display_width: ty.width,
            generated: None,
            check: None,
            invisible: false,
            compressed: ty.compressed,
            headed: ty.compressed,
        },
        collation: CharsetWords::default(),
        length,
        default: None,
        check: c.check.map(|c| c.expr.expr),
        generated: match c.generated {
            None => None,
            Some(Generated::Row(_)) => return unsupported("GENERATED ALWAYS AS ROW"),
            Some(Generated::Expr { expr, stored }) => Some((expr.expr, stored)),
        },
        json: ty.json,
        implicit: !generated,
        member_bytes: said.member_bytes,
    };
    let mut keys = Keys {
        primary: false,
        unique: ty.serial,
    };
    let mut words = type_words(&ty)?;
    let mut attributes = c.attributes.into_iter().peekable();
    if !ty.bin
        && let Some(ColumnAttribute::Collate(name)) = attributes.peek()
    {
        words.add_collate(collate_word(name.as_deref())?)?;
        words.settle()?;
        attributes.next();
    }
    for a in attributes {
        match a {
            ColumnAttribute::Engines(name, _) => t.in_vain.push(option::unknown(&name, sql_mode)?),
            a => attribute(a, &mut spec, &mut keys)?,
        }
    }
    spec.collation = CharsetWords::of_column(words, spec.collation)?;
    fit_on_update(&mut spec.def)?;
    // A compressed column of texts that can't be NULL has the empty one for a default.
    let def = &mut spec.def;
    let none = def.default == DefaultDef::None && spec.default.is_none() && !generated;
    if def.compressed && !def.nullable && none {
        def.default = DefaultDef::Text(String::new());
    }
    // A key of the table makes nothing of DEFAULT NULL, one that the column names is refused.
    if keys.primary && spec.def.default == DefaultDef::Null && !spec.def.auto_increment {
        return Err(errors::INVALID_DEFAULT.with([&c.name]));
    }
    // As MariaDB: a primary key is unique as it is. A MySQL makes both keys.
    keys.unique &= !keys.primary || narwal_types::face::is_mysql();
    keys.add(&c.name, t);
    t.columns.push(spec);
    t.checks
        .extend(c.table_checks.into_iter().map(option::check));
    if let Some(r) = c.references {
        let mut key = option::references(r)?;
        key.name = c.constraint;
        key.columns.push(c.name);
        t.foreign_keys.push(key);
    }
    Ok(())
}

/// Indexes that attributes ask for.
struct Keys {
    primary: bool,
    unique: bool,
}

impl Keys {
    fn add(&self, column: &str, t: &mut TableElements) {
        for (asked, primary) in [(self.primary, true), (self.unique, false)] {
            if asked {
                t.indexes.push(IndexSpec {
                    name: None,
                    if_not_exists: false,
                    primary,
                    unique: true,
                    columns: vec![(column.to_string(), None, false)],
                    functional: Vec::new(),
                    comment: String::new(),
                    ignored: false,
                    method: None,
                    key_block_size: 0,
                    without_overlaps: None,
                    in_vain: Vec::new(),
                });
            }
        }
    }
}

/// What COLLATE says; `None` is DEFAULT.
fn collate_word(name: Option<&str>) -> SqlResult<CollateWord> {
    name.map_or(Ok(CollateWord::Default), CollateWord::of)
}

/// What a type says of its collation.
fn type_words(ty: &types::Type) -> SqlResult<CharsetWords> {
    let mut words = CharsetWords::default();
    match ty.collation {
        Some(c) if c == c.charset().default_collation() => words.add_charset(Some(c.charset()))?,
        Some(c) => words = CharsetWords::exactly(c),
        None => {}
    }
    if ty.bin {
        words.add_binary()?;
    }
    Ok(words)
}

fn attribute(a: ColumnAttribute, spec: &mut ColumnSpec, keys: &mut Keys) -> SqlResult<()> {
    let def = &mut spec.def;
    match a {
        ColumnAttribute::Null => {
            spec.implicit = false;
            // What stands last counts, also behind AUTO_INCREMENT: such a column numbers rows and keeps NULL.
            def.nullable = true;
        }
        ColumnAttribute::NotNull => {
            def.nullable = false;
            spec.implicit = spec.generated.is_none();
        }
        ColumnAttribute::Default(d) => match default(d, def.ty.kind)? {
            Ok(d) => (def.default, spec.default) = (d, None),
            Err(e) => (def.default, spec.default) = (DefaultDef::None, Some(e)),
        },
        ColumnAttribute::OnUpdate(digits) => def.on_update = Some(now_digits(digits)?),
        ColumnAttribute::AutoIncrement => {
            def.auto_increment = true;
            def.nullable = false;
        }
        ColumnAttribute::Serial => {
            def.auto_increment = true;
            def.nullable = false;
            keys.unique = true;
        }
        ColumnAttribute::PrimaryKey => keys.primary = true,
        ColumnAttribute::Unique => keys.unique = true,
        ColumnAttribute::Comment(c) => def.comment = c,
        ColumnAttribute::Collate(name) => {
            spec.collation.add_collate(collate_word(name.as_deref())?)?;
        }
        ColumnAttribute::Compressed(method) => {
            types::compression(method.as_deref())?;
            def.compressed = true;
            def.headed = true;
        }
        ColumnAttribute::Invisible => def.invisible = true,
        ColumnAttribute::Versioning(true) => return unsupported("column attribute WITH"),
        ColumnAttribute::Versioning(false) => return unsupported("column attribute WITHOUT"),
        // The caller has taken it.
        ColumnAttribute::Engines(..) => {}
    }
    Ok(())
}

/// ON UPDATE gives as many digits as its column has. It may not say fewer, but none at all.
fn fit_on_update(def: &mut ColumnDef) -> SqlResult<()> {
    let digits = match def.ty.kind {
        TypeKind::Timestamp(p) | TypeKind::DateTime(p) => Some(p),
        _ => None,
    };
    let Some(said) = def.on_update else {
        return Ok(());
    };
    let Some(p) = digits.filter(|p| said == 0 || said >= *p) else {
        return Err(errors::INVALID_ON_UPDATE.with([&def.name]));
    };
    def.on_update = Some(p);
    Ok(())
}

/// Digits of CURRENT_TIMESTAMP.
fn now_digits(n: u64) -> SqlResult<u8> {
    match n {
        0..=6 => Ok(n as u8),
        _ => Err(errors::TOO_BIG_PRECISION.text(format!(
            "Too big precision specified for 'current_timestamp'. Maximum is 6 ({n})"
        ))),
    }
}

/// The DEFAULT of a column of this type.
fn default(d: ColumnDefault, kind: TypeKind) -> SqlResult<Default> {
    match (&d, kind) {
        (ColumnDefault::Expr(_), TypeKind::Bit(_)) => bit_default(d),
        (ColumnDefault::Expr(_), TypeKind::Text(_) | TypeKind::Blob(_)) => long_default(d),
        // The number 0 is the year 0000, the text '0' the year 2000.
        (ColumnDefault::Expr(e), TypeKind::Year) if is_zero(&e.expr) => {
            Ok(Ok(DefaultDef::Text("0000".into())))
        }
        (ColumnDefault::Expr(e), TypeKind::Timestamp(_) | TypeKind::DateTime(_))
            if is_zero(&e.expr) =>
        {
            Ok(Ok(DefaultDef::Text("0000-00-00 00:00:00".into())))
        }
        _ => plain_default(d),
    }
}

/// The DEFAULT of a text or bytes without an end: a string, NULL, or what is said, as MariaDB keeps it.
fn long_default(d: ColumnDefault) -> SqlResult<Default> {
    let inner = |e: AstExpr| {
        let mut e = e;
        while let AstExpr::Nested(within) = e {
            e = *within;
        }
        e
    };
    match d {
        ColumnDefault::Now(_) => plain_default(d),
        ColumnDefault::Expr(e) => Ok(match inner(e.expr) {
            e @ AstExpr::Literal(Literal::String(_) | Literal::Null | Literal::NullText) => {
                constant(e)
            }
            e => Err(e),
        }),
    }
}

/// The number 0.
fn is_zero(e: &AstExpr) -> bool {
    match e {
        AstExpr::Nested(e) => is_zero(e),
        AstExpr::Literal(Literal::Number(n)) => n.parse() == Ok(0.0),
        AstExpr::Literal(Literal::Bool(b)) => !b,
        _ => false,
    }
}

/// The DEFAULT of a column whose type does not matter, or is not known.
pub(super) fn plain_default(d: ColumnDefault) -> SqlResult<Default> {
    match d {
        ColumnDefault::Now(n) => Ok(Ok(DefaultDef::CurrentTimestamp(now_digits(n)?))),
        ColumnDefault::Expr(e) => Ok(constant(e.expr)),
    }
}

/// The DEFAULT of a BIT column, kept as SHOW prints it: `b'101'`. A string stands for its bytes there.
fn bit_default(d: ColumnDefault) -> SqlResult<Default> {
    let string = match &d {
        ColumnDefault::Expr(e) => match &e.expr {
            AstExpr::Literal(Literal::String(s)) => Some(s.clone().into_bytes()),
            _ => None,
        },
        ColumnDefault::Now(_) => None,
    };
    let d = match plain_default(d)? {
        Err(AstExpr::Literal(Literal::Bit(bits))) => Ok(DefaultDef::Text(
            u64::from_str_radix(&bits, 2).map_or(bits, |n| n.to_string()),
        )),
        Err(AstExpr::Literal(Literal::Hex(digits) | Literal::HexText(digits))) => Ok(
            DefaultDef::Text(u64::from_str_radix(&digits, 16).map_or(digits, |n| n.to_string())),
        ),
        d => d,
    };
    let Ok(DefaultDef::Text(t)) = d else {
        return Ok(d);
    };
    Ok(Ok(DefaultDef::Text(match (string, t.parse::<u64>()) {
        (Some(s), _) if s.len() <= 8 => {
            let v = s.iter().fold(0u64, |a, b| a << 8 | u64::from(*b));
            format!("b'{v:b}'")
        }
        (None, Ok(v)) => format!("b'{v:b}'"),
        // No value of any BIT column.
        _ => t,
    })))
}

/// Takes a constant for one, whatever parentheses are round it; else gives the expression back.
#[allow(clippy::result_large_err)] // No error: the other of two results, taken apart at once.
fn constant(e: AstExpr) -> Default {
    let value = |e: &AstExpr| match e {
        AstExpr::Literal(Literal::Number(n)) => Some(number(n)),
        _ => None,
    };
    match e {
        AstExpr::Nested(e) => constant(*e),
        AstExpr::Unary {
            op: op @ (UnaryOp::Minus | UnaryOp::Plus),
            expr,
        } => match value(&expr) {
            Some(n) if op == UnaryOp::Minus => Ok(DefaultDef::Text(negate_literal(n).to_text())),
            Some(n) => Ok(DefaultDef::Text(n.to_text())),
            None => Err(AstExpr::Unary { op, expr }),
        },
        AstExpr::Literal(Literal::Null | Literal::NullText) => Ok(DefaultDef::Null),
        AstExpr::Literal(Literal::Bool(b)) => Ok(DefaultDef::Text(u8::from(b).to_string())),
        AstExpr::Literal(Literal::Number(n)) => Ok(DefaultDef::Text(number(&n).to_text())),
        AstExpr::Literal(Literal::String(s)) => Ok(DefaultDef::Text(s)),
        AstExpr::Temporal { text, .. } => Ok(DefaultDef::Text(text)),
        // Of ASCII it is the same text in every character set that keeps it.
        AstExpr::Introduced {
            charset,
            value: Literal::String(s),
        } if s.is_ascii() && is_ascii_based(&charset) => Ok(DefaultDef::Text(s)),
        AstExpr::Call(c) if is_pi(&c) => Ok(DefaultDef::Text(std::f64::consts::PI.to_string())),
        e => Err(e),
    }
}

/// True for a character set that has ASCII's characters as ASCII's bytes.
fn is_ascii_based(charset: &str) -> bool {
    Charset::from_name(charset).is_some_and(Charset::keeps_ascii)
}

/// PI() is a constant that has its value before anything is computed.
fn is_pi(c: &Call) -> bool {
    c.db.is_none() && c.args.is_empty() && c.parens && c.name.eq_ignore_ascii_case("pi")
}
