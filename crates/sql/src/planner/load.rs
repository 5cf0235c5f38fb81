//! Planning LOAD DATA.

use crate::env::VariableScope;
use crate::file_format::FileFormat;
use crate::lower::null;
use crate::plan::dml::{Field, LoadPlan};
use crate::planner::resolve::Resolver;
use narwal_syntax::ast::{Assignment, Insert, InsertSource, LoadData, LoadField, SetValue};
use narwal_types::errors::codes;
use narwal_types::{Charset, SqlError, SqlResult, Value};

/// The name of a row's element: ROWS IDENTIFIED BY '<name>'.
fn row_element(tag: Option<&str>) -> Vec<u8> {
    let tag = tag.unwrap_or("<row>");
    tag.trim_start_matches('<').trim_end_matches('>').into()
}

impl Resolver<'_> {
    /// Plans LOAD DATA.
    pub fn load_data(&self, l: &LoadData) -> SqlResult<LoadPlan> {
        let format = FileFormat::of(&l.format);
        if format.separator.is_empty() && format.quote.is_none() {
            return Err(SqlError::unsupported(
                "LOAD DATA with fields of fixed width",
            ));
        }
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
