//! LOAD DATA: an INSERT whose rows come from a text.

use crate::ast::{Assignment, Insert, InsertSource, LoadData, LoadField, SetValue};
use crate::exec::dml::LoadedRows;
use crate::expr::{EvalCtx, RowAccess};
use crate::file_format::{FileFormat, RowReader};
use crate::lower::null;
use crate::plan::dml::{InsertPlan, RowSource, StoreValue};
use crate::plan::resolve::Resolver;
use crate::prepared::Outcome;
use narwal_engine::Transaction;
use narwal_types::{ResultSink, SqlError, SqlResult, Value, ValueRef};
use std::io::{self, BufRead, Read};

/// A planned LOAD DATA.
pub struct LoadPlan {
    insert: InsertPlan,
    format: FileFormat,
    skip: u64,
    fields: Vec<Field>,
    latin1: bool,
    binary: bool,
    /// IGNORE, or LOCAL without REPLACE: nobody could repeat that, so errors in values are warnings.
    pub ignore: bool,
}

/// Where a field of the text goes.
enum Field {
    /// The n-th value of a row, and that column of the table.
    Value {
        column: usize,
    },
    Variable(String),
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
        let charset = l.charset.as_deref().map(str::to_ascii_lowercase);
        match charset.as_deref() {
            None | Some("utf8" | "utf8mb3" | "utf8mb4" | "ascii" | "latin1" | "binary") => {}
            Some(other) => {
                return Err(SqlError::new(
                    1115,
                    b"42000",
                    format!("Unknown character set: '{other}'"),
                ));
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
            if e.code == 1054
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
                },
                LoadField::Variable(v) => Field::Variable(v.clone()),
            })
            .collect();
        Ok(LoadPlan {
            insert,
            format,
            skip: l.skip,
            fields,
            latin1: charset.as_deref() == Some("latin1"),
            binary: charset.as_deref() == Some("binary"),
            ignore,
        })
    }
}

/// The fields of a row by their columns, for SET.
struct Fields<'a> {
    columns: &'a [Option<usize>],
    values: &'a [Value],
}

impl RowAccess for Fields<'_> {
    fn column(&self, _source: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        let at = self.columns.iter().position(|c| *c == Some(column));
        Ok(at.map_or(ValueRef::Null, |i| self.values[i].as_ref()))
    }
}

fn read_error(e: &io::Error) -> SqlError {
    if let Some(known) = e.get_ref().and_then(|e| e.downcast_ref::<SqlError>()) {
        return known.clone();
    }
    SqlError::new(
        1024,
        b"HY000",
        format!("Error reading file for LOAD DATA ({e})"),
    )
}

/// A client's file, piece by piece.
struct SentFile<'a> {
    sink: &'a mut dyn ResultSink,
    piece: Vec<u8>,
    /// Bytes of `piece` that were read.
    read: usize,
}

impl BufRead for SentFile<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read == self.piece.len() {
            self.piece.clear();
            self.read = 0;
            // A line without an end is kept until it ends.
            narwal_memory::check().map_err(|e| io::Error::other(SqlError::from(e)))?;
            self.sink
                .read_local_file(&mut self.piece)
                .map_err(io::Error::other)?;
        }
        Ok(&self.piece[self.read..])
    }

    fn consume(&mut self, bytes: usize) {
        self.read += bytes;
    }
}

impl Read for SentFile<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buf)?;
        self.consume(n);
        Ok(n)
    }
}

impl LoadPlan {
    fn value(&self, bytes: Vec<u8>) -> Value {
        if self.binary {
            return Value::Bytes(bytes.into());
        }
        if self.latin1 {
            let text: String = bytes.iter().map(|b| char::from(*b)).collect();
            return Value::str(text.as_str());
        }
        match String::from_utf8(bytes) {
            Ok(text) => Value::str(text.as_str()),
            Err(e) => Value::Bytes(e.into_bytes().into()),
        }
    }

    /// Runs it over the session's input, or over the file that the sink's client sends.
    pub(crate) fn run(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        let env = ctx.env;
        let mut input = env.input.borrow_mut().take();
        let mut sent = SentFile {
            sink,
            piece: Vec::new(),
            read: 0,
        };
        let input: &mut dyn BufRead = match &mut input {
            Some(file) => &mut **file,
            None => &mut sent,
        };
        let mut reader = RowReader::new(&self.format, input);
        for _ in 0..self.skip {
            if !reader.skip().map_err(|e| read_error(&e))? {
                break;
            }
        }
        let RowSource::Values(rows) = &self.insert.source else {
            return Err(SqlError::unknown("LOAD DATA without a row"));
        };
        let exprs = &rows[0];
        let columns: Vec<Option<usize>> = self
            .fields
            .iter()
            .filter_map(|f| match f {
                Field::Value { column } => Some(Some(*column)),
                Field::Variable(_) => None,
            })
            .collect();
        let mut loaded = LoadedRows::new(&self.insert, ctx);
        let strict = env.sql_mode.strict() && !self.ignore;
        let mut row_no = 0u64;
        while let Some(fields) = reader.next_row().map_err(|e| read_error(&e))? {
            row_no += 1;
            if fields.len() > self.fields.len() {
                let text = format!(
                    "Row {row_no} was truncated; it contained more data than there were input columns"
                );
                if strict {
                    return Err(SqlError::new(1262, b"01000", text));
                }
                env.warn(1262, text);
            }
            let missing = self.fields.len().saturating_sub(fields.len());
            if missing > 0 {
                let text = format!("Row {row_no} doesn't contain data for all columns");
                if strict {
                    return Err(SqlError::new(1261, b"01000", text));
                }
                for _ in 0..missing {
                    env.warn(1261, text.clone());
                }
            }
            let mut values: Vec<Value> = Vec::with_capacity(exprs.len());
            let mut fields = fields.into_iter();
            for f in &self.fields {
                let given = fields.next();
                match f {
                    Field::Value { column } => values.push(match given {
                        Some(Some(bytes)) => self.value(bytes),
                        Some(None) => Value::Null,
                        None => loaded.missing(*column),
                    }),
                    Field::Variable(name) => {
                        let v = given.flatten().map_or(Value::Null, |b| self.value(b));
                        env.variables.set_user(name, v);
                    }
                }
            }
            for e in &exprs[columns.len()..] {
                let v = match e {
                    StoreValue::Expr(e) => e.eval(
                        ctx,
                        &Fields {
                            columns: &columns,
                            values: &values,
                        },
                    )?,
                    StoreValue::Default(d) => loaded.default(d),
                    _ => Value::Null,
                };
                env.check_refused()?;
                values.push(v);
            }
            loaded.add(txn, &values)?;
        }
        Ok(loaded.finish(self.insert.replace))
    }
}
