//! Planning LOAD DATA.

use crate::env::VariableScope;
use crate::file_format::{FileFormat, fixed_width};
use crate::lower::null;
use crate::plan::dml::{Field, LoadPlan};
use crate::planner::resolve::Resolver;
use narwal_engine::Table;
use narwal_syntax::ast::{Assignment, Insert, InsertSource, LoadData, LoadField, SetValue};
use narwal_types::errors::codes;
use narwal_types::{Charset, SqlError, SqlResult, TypeKind, Value, errors};

/// The name of a row's element: ROWS IDENTIFIED BY '<name>'.
fn row_element(tag: Option<&str>) -> Vec<u8> {
    let tag = tag.unwrap_or("<row>");
    tag.trim_start_matches('<').trim_end_matches('>').into()
}

/// The bytes of each field of a file of fixed width.
fn widths(names: &[LoadField], table: &Table, format: &FileFormat) -> SqlResult<Vec<usize>> {
    let width = |f: &LoadField| {
        let LoadField::Column(name) = f else {
            return Err(errors::LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR.plain());
        };
        let c = &table.columns()[table.column(name).unwrap_or(0)];
        let endless =
            format.end.is_empty() && matches!(c.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
        let length = c.display_width.map_or(0, u32::from);
        fixed_width(&c.ty, length)
            .filter(|_| !endless)
            .ok_or_else(|| errors::BLOBS_AND_NO_TERMINATED.plain())
    };
    names.iter().map(width).collect()
}

impl Resolver<'_> {
    /// Plans LOAD DATA.
    pub fn load_data(&self, l: &LoadData) -> SqlResult<LoadPlan> {
        let format = FileFormat::of(&l.format, self.env.sql_mode);
        // Without a word of the statement it is that of the default database.
        let charset = l.charset.as_deref().map(str::to_ascii_lowercase);
        let charset = charset.or_else(|| self.charset_of_database());
        match charset.as_deref() {
            None | Some("binary") => {}
            Some(other) => {
                let set = crate::lower::charset(other)?;
                if !set.for_clients() {
                    return Err(SqlError::unsupported(format!("LOAD DATA in {other}")));
                }
            }
        }
        let mut columns: Vec<String> = Vec::new();
        let mut values = Vec::new();
        let names: Vec<LoadField> = match &l.fields {
            Some(f) => f.clone(),
            None => {
                let db = self.db_of(&l.table)?.to_string();
                let table = self.stored(&db, &l.table.name, crate::Privilege::Insert)?;
                table
                    .columns()
                    .iter()
                    .filter(|c| c.generated.is_none())
                    .map(|c| LoadField::Column(c.name.clone()))
                    .collect()
            }
        };
        for f in &names {
            if let LoadField::Column(c) = f {
                columns.push(c.clone());
                values.push(SetValue::Expr(null()));
            }
        }
        for Assignment { column, value, .. } in &l.set {
            columns.push(column.clone());
            values.push(value.clone());
        }
        let ignore = l.ignore || (l.local && !l.replace);
        let insert = self.insert(&Insert {
            replace: l.replace,
            ignore,
            priority: None,
            table: l.table.clone(),
            partitions: Vec::new(),
            columns: Some(columns),
            source: InsertSource::Values(vec![values]),
            on_duplicate: Vec::new(),
            returning: Vec::new(),
            subqueries: l.subqueries.clone(),
            params: 0,
        });
        let insert = insert.map_err(|mut e| {
            if e.code == codes::BAD_FIELD_ERROR
                && let Some((head, _)) = e.message.rsplit_once(" in '")
            {
                e.message = format!("{head} in 'SELECT'").into();
            }
            e
        })?;
        let widths = match format.is_fixed() && l.xml.is_none() {
            true => widths(&names, &insert.table, &format)?,
            false => Vec::new(),
        };
        let fields = names
            .iter()
            .map(|f| match f {
                LoadField::Column(c) => Field::Value {
                    column: insert.table.column(c).unwrap_or(0),
                    name: c.clone(),
                },
                LoadField::Variable(v) => Field::Variable(v.clone()),
            })
            .collect();
        Ok(LoadPlan {
            insert,
            format,
            widths,
            xml: l.xml.as_ref().map(|tag| row_element(tag.as_deref())),
            skip: l.skip,
            fields,
            set: charset
                .as_deref()
                .and_then(Charset::from_name)
                .filter(|s| !s.stores_utf8()),
            binary: charset.as_deref() == Some("binary"),
            ignore,
        })
    }

    fn charset_of_database(&self) -> Option<String> {
        let name = "character_set_database";
        match self.env.system_variable(VariableScope::Session, name) {
            // One that no client speaks is none of files either.
            Ok(Value::Str(set)) => Charset::from_name(&set)
                .filter(|set| set.for_clients())
                .map(|set| set.name().to_string()),
            _ => None,
        }
    }
}
