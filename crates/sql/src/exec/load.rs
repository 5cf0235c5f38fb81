//! LOAD DATA and LOAD XML: an INSERT whose rows come from a text.

use crate::env::StatementEnv;
use crate::exec::context::RunCtx;
use crate::exec::dml::LoadedRows;
use crate::exec::outcome::Outcome;
use crate::expr::node::RowAccess;
use crate::file_format::RowReader;
use crate::plan::dml::{Field, LoadPlan};
use crate::plan::dml::{RowSource, StoreValue};
use crate::xml_file::XmlReader;
use narwal_engine::Transaction;
use narwal_types::convert;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{ResultSink, SqlError, SqlResult, Value, ValueRef};
use std::io::{self, BufRead, Read};

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
    errors::ERROR_ON_READ.with([&e])
}

/// An error if the statement is to end, or holds too much.
fn may_go_on(env: &StatementEnv) -> io::Result<()> {
    env.check_interrupt().map_err(io::Error::other)?;
    narwal_memory::check().map_err(|e| io::Error::other(SqlError::from(e)))
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

/// What reads the rows of a file.
enum Reader<'a> {
    Text(RowReader<'a>),
    Xml(XmlReader<'a>),
}

impl Reader<'_> {
    /// The next row's fields in the order of the statement's, `None` for NULL. `None` at the end.
    #[allow(clippy::type_complexity)]
    fn next_row(&mut self, fields: &[Field]) -> io::Result<Option<Vec<Option<Vec<u8>>>>> {
        let x = match self {
            Reader::Text(r) => return r.next_row(),
            Reader::Xml(x) => x,
        };
        if !x.next_row()? {
            return Ok(None);
        }
        let values = fields.iter().map(|f| {
            let (Field::Value { name, .. } | Field::Variable(name)) = f;
            x.value(name).map(<[u8]>::to_vec)
        });
        Ok(Some(values.collect()))
    }

    /// The text ended before the last row's line did.
    fn unterminated(&self) -> bool {
        match self {
            Reader::Text(r) => r.unterminated(),
            Reader::Xml(_) => false,
        }
    }

    /// Passes over a row; false at the end.
    fn skip(&mut self) -> io::Result<bool> {
        match self {
            Reader::Text(r) => r.skip(),
            Reader::Xml(x) => x.next_row(),
        }
    }
}

impl LoadPlan {
    /// A field's value, for a column if it goes into one. Columns of bytes get those of the file.
    fn value(&self, bytes: Vec<u8>, column: Option<usize>) -> Value {
        let ty = column.map(|c| self.insert.table.def.columns[c].ty);
        if let Some(ty) = ty.filter(|ty| self.binary && ty.is_member()) {
            return Value::str(&*ty.collation.charset().decode(&bytes));
        }
        if self.binary || ty.is_some_and(|ty| ty.is_binary_string()) {
            return Value::Bytes(bytes.into());
        }
        if let Some(set) = self.set {
            let text = set.decode(&bytes);
            let Some(to) = ty.map(|ty| ty.collation.charset()) else {
                // For a variable.
                return Value::str(&*set.passed_on(&text));
            };
            return convert::passed_on(&text, set, to).unwrap_or_else(|| Value::str(&*text));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Value::str(text.as_str()),
            Err(e) => Value::Bytes(e.into_bytes().into()),
        }
    }

    /// What is wrong with the number of a row's fields: the warning, and how often it is told.
    fn amiss(&self, row: u64, fields: usize) -> Option<(u16, String, usize)> {
        match self.fields.get(fields..) {
            Some(missing) => {
                // Variables are NULL without a word.
                let is_column = |f: &&Field| matches!(f, Field::Value { .. });
                let times = missing.iter().filter(is_column).count();
                let text = format!("Row {row} doesn't contain data for all columns");
                (times > 0).then_some((codes::WARN_TOO_FEW_RECORDS, text, times))
            }
            None => {
                let text = format!(
                    "Row {row} was truncated; it contained more data than there were input columns"
                );
                Some((codes::WARN_TOO_MANY_RECORDS, text, 1))
            }
        }
    }

    /// The values of the columns that a row's fields are for. Sets the variables.
    fn given(
        &self,
        fields: Vec<Option<Vec<u8>>>,
        loaded: &LoadedRows<'_>,
        env: &StatementEnv,
    ) -> SqlResult<Vec<Value>> {
        let mut values = Vec::with_capacity(self.insert.given.len());
        let mut fields = fields.into_iter();
        for f in &self.fields {
            let given = fields.next();
            match f {
                Field::Value { column, .. } => values.push(match given {
                    Some(Some(bytes)) => {
                        loaded.stored(*column, self.value(bytes, Some(*column)))?
                    }
                    Some(None) => loaded.stored_null(*column)?,
                    // Of fixed width it is a column without characters.
                    None => loaded.missing(*column, !self.widths.is_empty())?,
                }),
                Field::Variable(name) => {
                    let v = given.flatten().map_or(Value::Null, |b| self.value(b, None));
                    env.variables.set_user(name, v);
                }
            }
        }
        Ok(values)
    }

    /// Runs it over the session's input, or over the file that the sink's client sends.
    pub(crate) fn run(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
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
        let check = || may_go_on(env);
        let mut reader = match &self.xml {
            Some(row) => Reader::Xml(XmlReader::new(row, input, &check)),
            None => Reader::Text(RowReader::new(&self.format, &self.widths, input)),
        };
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
                Field::Value { column, .. } => Some(Some(*column)),
                Field::Variable(_) => None,
            })
            .collect();
        let mut loaded = LoadedRows::new(&self.insert, ctx, columns.len());
        let strict = env.sql_mode.strict() && !self.ignore;
        let mut row_no = 0u64;
        while let Some(fields) = reader.next_row(&self.fields).map_err(|e| read_error(&e))? {
            row_no += 1;
            // MariaDB does not see what the last line has too much, if nothing ends it.
            let told = match reader.unterminated() {
                true => fields.len().min(self.fields.len()),
                false => fields.len(),
            };
            let amiss = self.amiss(row_no, told);
            let mut values = self.given(fields, &loaded, env)?;
            if let Some((code, text, times)) = amiss {
                if strict {
                    return Err(match code {
                        codes::WARN_TOO_MANY_RECORDS => errors::WARN_TOO_MANY_RECORDS.text(text),
                        _ => errors::WARN_TOO_FEW_RECORDS.text(text),
                    });
                }
                for _ in 0..times {
                    env.warn(code, text.clone());
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
