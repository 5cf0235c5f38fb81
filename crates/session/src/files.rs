//! LOAD DATA and SELECT ... INTO: files on the server's host, files of the client's, and user variables.

use crate::privileges::PrivilegeSet;
use crate::server_files::allowed_file;
use crate::session::{ClientSession, access_denied};
use crate::session_vars::SessionVars;
use crate::statement::Source;
use narwal_sql::ast::{Into, IntoVariable, LoadData, SelectInto};
use narwal_sql::file_format::{FileFormat, fixed_width};
use narwal_sql::{Stmt, VariableSource};
use narwal_types::convert::fixed_text;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{
    Charset, Collation, NumberForm, OkInfo, ResultColumn, ResultSink, SqlError, SqlResult,
    TypeKind, Value, ValueRef,
};
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

fn io_error(code: u16, text: String, e: &std::io::Error) -> SqlError {
    let number = e.raw_os_error().unwrap_or(0);
    let reason = e.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default();
    SqlError::new(
        code,
        b"HY000",
        format!("{text} (Errcode: {number} \"{reason}\")"),
    )
}

impl ClientSession {
    /// A file of the server's host that a statement names: the account may use files, and `secure_file_priv` allows it.
    fn server_file(&mut self, name: &str, new: bool) -> SqlResult<PathBuf> {
        match new {
            true => self.need_any(PrivilegeSet::FILE)?,
            false if self.account().global.has(PrivilegeSet::FILE) => {}
            false => return Err(access_denied(&self.client, true)),
        }
        let db = self.env.db.as_deref().unwrap_or_default();
        allowed_file(&self.instance, db, name, new)
    }

    /// Opens what LOAD DATA reads; `None` for what the client sends while it is read.
    pub(crate) fn load_input(
        &mut self,
        l: &LoadData,
        out: &mut dyn ResultSink,
    ) -> SqlResult<Option<Box<dyn BufRead + Send>>> {
        if l.local {
            if !self.instance.global_value("local_infile").as_bool() {
                return Err(narwal_types::no_local_files());
            }
            out.open_local_file(&l.file)?;
            return Ok(None);
        }
        let path = self.server_file(&l.file, false)?;
        let shown = path.display().to_string();
        let text = || format!("Can't get stat of '{shown}'");
        let meta = std::fs::metadata(&path).map_err(|e| io_error(13, text(), &e))?;
        if !meta.is_file() {
            return Err(errors::TEXTFILE_NOT_READABLE.with([&shown]));
        }
        let file =
            File::open(&path).map_err(|e| io_error(29, format!("File '{shown}' not found"), &e))?;
        Ok(Some(Box::new(BufReader::with_capacity(1 << 17, file))))
    }

    /// Runs SELECT ... INTO.
    pub(crate) fn select_into(
        &mut self,
        s: &SelectInto,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let select = Stmt::Select(s.select.clone());
        let plan = match self.plan(&select, text) {
            Ok(p) => p,
            Err(e) => return self.fail(e),
        };
        let target = match &s.into {
            Into::Variables(names) => {
                if names.len() != plan.columns().len() {
                    return self.fail(errors::WRONG_NUMBER_OF_COLUMNS_IN_SELECT.plain());
                }
                let names = names.iter().map(|v| match v {
                    // A variable of a program: narwal-sql refuses it.
                    IntoVariable::User(name) | IntoVariable::Local(name, _) => name.clone(),
                });
                Ok(Target::Variables(names.collect(), Vec::new()))
            }
            Into::Outfile {
                charset, format, ..
            } => file_charset(charset.as_deref()).and_then(|to| {
                let file = self.new_file(&s.into)?;
                Ok(Target::Rows(
                    file,
                    FileFormat::of(format, self.env.sql_mode),
                    to,
                    Vec::new(),
                ))
            }),
            Into::Dumpfile(_) => self.new_file(&s.into).map(Target::Values),
        };
        let target = match target {
            Ok(t) => t,
            Err(e) => return self.fail(e),
        };
        let mut sink = IntoSink {
            target,
            rows: 0,
            line: Vec::new(),
        };
        let from = Source::Text(&select);
        // Those that a prepared one is executed with.
        let params = match plan.params() {
            0 => Vec::new(),
            _ => self.env.bound_params.borrow().clone(),
        };
        let done = self.run_plan(&plan, from, false, text, &params, &mut sink, false);
        if let Err(e) = done {
            // Variables have the first of several rows.
            if matches!(s.into, Into::Variables(_)) && sink.rows > 1 {
                sink.finish(&self.vars)?;
            }
            return Err(e);
        }
        let rows = sink.rows;
        if let Err(e) = sink.finish(&self.vars) {
            return self.fail(e);
        }
        if s.late {
            self.env.warn(
                codes::WARN_DEPRECATED_SYNTAX,
                "'<select expression> INTO <destination>;' is deprecated and will be removed in a future release. Please use 'SELECT <select list> INTO <destination> FROM...' instead",
            );
        }
        if rows == 0 && matches!(s.into, Into::Variables(_)) {
            self.env.warn(
                codes::SP_FETCH_NO_DATA,
                "No data - zero rows fetched, selected, or processed",
            );
        }
        self.finish_ok(rows, 0, String::new(), out, more)
    }

    fn new_file(&mut self, into: &Into) -> SqlResult<BufWriter<File>> {
        let name = match into {
            Into::Outfile { file, .. } | Into::Dumpfile(file) => file,
            Into::Variables(_) => return Err(SqlError::unknown("no file")),
        };
        let path = self.server_file(name, true)?;
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(f) => Ok(BufWriter::new(f)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(errors::FILE_EXISTS_ERROR.with([&name]))
            }
            Err(e) => Err(io_error(
                1,
                format!("Can't create/write to file '{}'", path.display()),
                &e,
            )),
        }
    }
}

/// Where rows go instead of to the client.
enum Target {
    Variables(Vec<String>, Vec<(Value, Collation)>),
    /// The file, its format, the character set that texts are written in (`None`: each column's own), and the columns.
    Rows(
        BufWriter<File>,
        FileFormat,
        Option<Charset>,
        Vec<FileColumn>,
    ),
    Values(BufWriter<File>),
}

/// A column of a file.
struct FileColumn {
    is_text: bool,
    /// Its own character set.
    set: Charset,
    /// Bytes in a file of fixed width; `None`: too many.
    width: Option<usize>,
    form: NumberForm,
    decimals: u8,
    /// It is a number with a form of its own: ZEROFILL, FLOAT(M,D).
    has_form: bool,
}

/// Floating point numbers whose columns have fewer decimals show all of these.
const NOT_FIXED: u8 = 31;

struct IntoSink {
    target: Target,
    rows: u64,
    line: Vec<u8>,
}

impl IntoSink {
    /// The rows have come and the statement stands: now they count.
    fn finish(self, vars: &Arc<SessionVars>) -> SqlResult<()> {
        match self.target {
            // Without a row they stay as they are.
            Target::Variables(..) if self.rows == 0 => Ok(()),
            Target::Variables(names, values) => {
                for (name, (value, collation)) in names.iter().zip(values) {
                    vars.set_user_text(name, value, collation);
                }
                Ok(())
            }
            Target::Rows(mut f, ..) | Target::Values(mut f) => {
                f.flush().map_err(|e| write_error(&e))
            }
        }
    }
}

/// The character set of a file's texts: `None` is that of each column.
fn file_charset(name: Option<&str>) -> SqlResult<Option<Charset>> {
    let Some(set) = name.map(crate::charset::charset).transpose()? else {
        return Ok(None);
    };
    match set {
        Charset::Binary => Ok(None),
        set if !set.keeps_ascii() => Err(SqlError::unsupported(format!(
            "INTO OUTFILE ... CHARACTER SET {}",
            set.name()
        ))),
        set => Ok(Some(set)),
    }
}

/// A text as a file has it, in the set that was said for the file (`to`) or in its column's own; of numbers those that a column
/// shows in another way than others; nothing for other values.
fn in_file<'v>(v: &ValueRef<'v>, to: Option<Charset>, column: &FileColumn) -> Cow<'v, [u8]> {
    if column.has_form && !v.is_null() {
        let mut text = match v {
            ValueRef::Double(x) if column.decimals < NOT_FIXED => fixed_text(*x, column.decimals),
            ValueRef::Float(x) if column.decimals < NOT_FIXED => {
                fixed_text(f64::from(*x), column.decimals)
            }
            v => v.to_text(),
        }
        .into_bytes();
        column.form.filled(&mut text);
        return Cow::Owned(text);
    }
    let set = to.unwrap_or(column.set);
    let encoded = |text: &str| Cow::Owned(set.to_client(text.as_bytes()).into_owned());
    match v {
        ValueRef::Str(s) => set.to_client(s),
        ValueRef::Coded(of, bytes) if *of == set => Cow::Borrowed(*bytes),
        ValueRef::Coded(of, bytes) => encoded(&of.decode(bytes)),
        ValueRef::Member(m) => encoded(&m.text()),
        // Bytes that are none of the file's set.
        ValueRef::Bytes(bytes) if to.is_some_and(Charset::stores_utf8) => {
            let mut out = Vec::with_capacity(bytes.len());
            for chunk in bytes.utf8_chunks() {
                out.extend_from_slice(chunk.valid().as_bytes());
                out.resize(out.len() + chunk.invalid().len(), b'?');
            }
            Cow::Owned(out)
        }
        ValueRef::Bytes(bytes) => Cow::Borrowed(*bytes),
        _ => Cow::Borrowed(&[]),
    }
}

fn write_error(e: &std::io::Error) -> SqlError {
    io_error(3, "Error writing file".to_string(), e)
}

fn too_many_rows() -> SqlError {
    errors::TOO_MANY_ROWS.plain()
}

impl ResultSink for IntoSink {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        match &mut self.target {
            Target::Rows(_, _, _, of_columns) => {
                let set = |c: &ResultColumn| match c.ty.has_charset() {
                    true => c.ty.collation.charset(),
                    false => Charset::Utf8mb4,
                };
                *of_columns = columns
                    .iter()
                    .map(|c| FileColumn {
                        is_text: !c.ty.is_numeric() || c.null_type,
                        set: set(c),
                        width: fixed_width(&c.ty, c.length),
                        form: c.ty.form,
                        decimals: c.decimals,
                        has_form: c.ty.form.zeros > 0
                            || c.decimals < NOT_FIXED
                                && matches!(c.ty.kind, TypeKind::Float | TypeKind::Double),
                    })
                    .collect();
            }
            Target::Variables(_, kept) => {
                let collation = |c: &ResultColumn| narwal_sql::kept_collation(&c.ty);
                *kept = columns
                    .iter()
                    .map(|c| (Value::Null, collation(c)))
                    .collect();
            }
            Target::Values(_) => {}
        }
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.rows += 1;
        match &mut self.target {
            Target::Variables(_, kept) => {
                if self.rows > 1 {
                    return Err(too_many_rows());
                }
                for ((kept, _), v) in kept.iter_mut().zip(values) {
                    *kept = narwal_sql::as_kept(v.to_value());
                }
                Ok(())
            }
            Target::Rows(f, format, to, of_columns) => {
                self.line.clear();
                let texts: Vec<Cow<'_, [u8]>> = values
                    .iter()
                    .zip(of_columns.iter())
                    .map(|(v, c)| in_file(v, *to, c))
                    .collect();
                let written: Vec<ValueRef<'_>> = values
                    .iter()
                    .zip(&texts)
                    .map(|(v, text)| match v {
                        v if !v.is_null() && !text.is_empty() => ValueRef::Bytes(text),
                        ValueRef::Str(_)
                        | ValueRef::Coded(..)
                        | ValueRef::Member(_)
                        | ValueRef::Bytes(_) => ValueRef::Bytes(text),
                        v => *v,
                    })
                    .collect();
                let widths: Option<Vec<usize>> = match format.is_fixed() {
                    true => of_columns.iter().map(|c| c.width).collect(),
                    false => None,
                };
                match widths {
                    Some(widths) => format.write_fixed(&written, &widths, &mut self.line),
                    None => {
                        let is_text: Vec<bool> = of_columns.iter().map(|c| c.is_text).collect();
                        format.write(&written, &is_text, &mut self.line);
                    }
                }
                f.write_all(&self.line).map_err(|e| write_error(&e))
            }
            Target::Values(f) => {
                // As MariaDB, which notices the third.
                if self.rows > 2 {
                    return Err(too_many_rows());
                }
                self.line.clear();
                for v in values {
                    match v {
                        ValueRef::Null => {}
                        ValueRef::Coded(_, bytes) => self.line.extend_from_slice(bytes),
                        v => v.write_text(&mut self.line),
                    }
                }
                f.write_all(&self.line).map_err(|e| write_error(&e))
            }
        }
    }

    fn end_rows(&mut self, _warnings: u16, _status: u16, _more: bool) -> SqlResult<()> {
        Ok(())
    }

    fn ok(&mut self, _info: &OkInfo, _status: u16, _more: bool) -> SqlResult<()> {
        Ok(())
    }
}
