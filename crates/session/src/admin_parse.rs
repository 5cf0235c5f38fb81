//! The parser of administrative statements.

use crate::acl::{Lifetime, TlsNeed};
use crate::admin::*;
use crate::backup::BackupWords;
use crate::lex::{Cursor, LexOptions, Tok, leading_words};
use crate::plugins::PluginWords;
use crate::privileges::PrivilegeSet;
use crate::replica::parse as replica;
use crate::show::filter;
use crate::sql_prepared;
use narwal_engine::Isolation;
use narwal_types::{SqlError, SqlResult};

/// True if the statement belongs to this parser (or is refused by it) and not to narwal-sql.
pub(crate) fn is_admin(text: &str) -> bool {
    let (a, n, b, m) = leading_words(text);
    match &a[..n] {
        b"SELECT" | b"LOAD" | b"INSERT" | b"UPDATE" | b"DELETE" | b"REPLACE" | b"DO"
        | b"CHECKSUM" | b"TRUNCATE" | b"WITH" | b"VALUES" => false,
        b"CREATE" => {
            matches!(&b[..m], b"USER" | b"ROLE")
                || (&b[..m] == b"OR" && create_or_replace_user(text))
        }
        b"ALTER" => matches!(&b[..m], b"USER" | b"ROLE"),
        b"DROP" => matches!(&b[..m], b"USER" | b"ROLE" | b"PREPARE"),
        b"RENAME" => &b[..m] == b"USER",
        b"DESCRIBE" | b"DESC" | b"EXPLAIN" => {
            m == 0 && !has_paren_after_first(text)
                || !matches!(
                    &b[..m],
                    b"" | b"SELECT"
                        | b"INSERT"
                        | b"UPDATE"
                        | b"DELETE"
                        | b"REPLACE"
                        | b"EXTENDED"
                        | b"PARTITIONS"
                        | b"FORMAT"
                        | b"FOR"
                        | b"WITH"
                        | b"ANALYZE"
                )
        }
        b"SET" | b"SHOW" | b"USE" | b"BEGIN" | b"START" | b"COMMIT" | b"ROLLBACK"
        | b"SAVEPOINT" | b"RELEASE" | b"GRANT" | b"REVOKE" | b"KILL" | b"FLUSH" | b"CHECK"
        | b"OPTIMIZE" | b"REPAIR" | b"ANALYZE" | b"LOCK" | b"UNLOCK" | b"PREPARE" | b"EXECUTE"
        | b"DEALLOCATE" | b"SHUTDOWN" | b"XA" | b"CALL" | b"HANDLER" | b"INSTALL"
        | b"UNINSTALL" | b"CHANGE" | b"STOP" | b"RESET" | b"PURGE" | b"HELP" | b"BINLOG"
        | b"FLASHBACK" | b"BACKUP" | b"CACHE" | b"SIGNAL" | b"RESIGNAL" | b"GET" => true,
        _ => false,
    }
}

fn create_or_replace_user(text: &str) -> bool {
    Cursor::new(text, LexOptions::default())
        .is_ok_and(|c| c.is_kw_at(2, "REPLACE") && (c.is_kw_at(3, "USER") || c.is_kw_at(3, "ROLE")))
}

fn has_paren_after_first(text: &str) -> bool {
    Cursor::new(text, LexOptions::default()).is_ok_and(|c| matches!(c.peek_at(1), Tok::Punct(b'(')))
}

/// Parses an administrative statement.
pub(crate) fn parse(text: &str, opts: LexOptions) -> SqlResult<Admin> {
    let mut c = Cursor::new(text, opts)?;
    let Tok::Word(first) = c.advance() else {
        return Err(crate::lex::syntax_near(text, 0));
    };
    let admin = match first.to_ascii_uppercase().as_str() {
        "BEGIN" => {
            if !c.at_end() {
                c.expect_kw("WORK")?;
            }
            Admin::Begin {
                read_only: None,
                snapshot: false,
            }
        }
        "START" => start(&mut c)?,
        "COMMIT" => {
            let (chain, release) = completion(&mut c)?;
            Admin::Commit { chain, release }
        }
        "ROLLBACK" => {
            c.eat_kw("WORK");
            if c.eat_kw("TO") {
                c.eat_kw("SAVEPOINT");
                Admin::RollbackTo(c.ident()?)
            } else {
                let (chain, release) = completion(&mut c)?;
                Admin::Rollback { chain, release }
            }
        }
        "SAVEPOINT" => Admin::Savepoint(c.ident()?),
        "RELEASE" => {
            c.expect_kw("SAVEPOINT")?;
            Admin::ReleaseSavepoint(c.ident()?)
        }
        "SET" => set(&mut c)?,
        "USE" => Admin::Use(c.ident()?),
        "SHOW" => Admin::Show(show(&mut c)?),
        "DESCRIBE" | "DESC" | "EXPLAIN" => {
            let table = table_ref(&mut c)?;
            let like = match c.peek() {
                Tok::Str(_) => Some(c.string()?),
                Tok::End => None,
                _ => Some(c.ident()?),
            };
            Admin::Describe { table, like }
        }
        "CREATE" => {
            let or_replace = c.eat_kws(&["OR", "REPLACE"]);
            if c.is_kw("ROLE") {
                return Err(SqlError::unsupported("roles"));
            }
            c.expect_kw("USER")?;
            let if_not_exists = c.eat_kws(&["IF", "NOT", "EXISTS"]);
            let users = user_specs(&mut c)?;
            let options = user_options(&mut c, true)?;
            Admin::CreateUser {
                or_replace,
                if_not_exists,
                users,
                options,
            }
        }
        "ALTER" => {
            if c.is_kw("ROLE") {
                return Err(SqlError::unsupported("roles"));
            }
            c.expect_kw("USER")?;
            let if_exists = c.eat_kws(&["IF", "EXISTS"]);
            let users = user_specs(&mut c)?;
            let options = user_options(&mut c, true)?;
            Admin::AlterUser {
                if_exists,
                users,
                options,
            }
        }
        "DROP" => {
            if c.is_kw("ROLE") {
                return Err(SqlError::unsupported("roles"));
            }
            if c.is_kw("PREPARE") {
                Admin::Prepared(sql_prepared::deallocate(&mut c)?)
            } else {
                c.expect_kw("USER")?;
                let if_exists = c.eat_kws(&["IF", "EXISTS"]);
                let users = list(&mut c, user_name)?;
                Admin::DropUser { if_exists, users }
            }
        }
        "RENAME" => {
            c.expect_kw("USER")?;
            Admin::RenameUser(list(&mut c, |c| {
                let a = user_name(c)?;
                c.expect_kw("TO")?;
                Ok((a, user_name(c)?))
            })?)
        }
        "GRANT" => grant(&mut c)?,
        "REVOKE" => revoke(&mut c)?,
        "KILL" => {
            let _ = c.eat_kw("HARD") || c.eat_kw("SOFT");
            let query = c.eat_kw("QUERY");
            if !query {
                c.eat_kw("CONNECTION");
            }
            if c.is_kw("ID") || c.is_kw("USER") {
                return Err(SqlError::unsupported("KILL by query id or user"));
            }
            Admin::Kill {
                query,
                id: c.expression_text()?.to_string(),
            }
        }
        "FLASHBACK" => {
            if !c.eat_kws(&["BINARY", "LOGS", "GTIDS"]) {
                return Err(c.error());
            }
            Admin::Flashback(c.string()?)
        }
        "FLUSH" => flush(&mut c)?,
        "XA" => Admin::Xa(crate::xa::parse(&mut c)?),
        "CHECK" | "ANALYZE" | "OPTIMIZE" | "REPAIR" => maintenance(&mut c, &first)?,
        "PURGE" => purge(&mut c)?,
        "BACKUP" => backup(&mut c)?,
        "RESET" => {
            if let Some(reset) = replica::reset(&mut c)? {
                reset
            } else if c.eat_kw("MASTER") {
                Admin::ResetMaster(if c.eat_kw("TO") {
                    Some(big_number(&mut c)?)
                } else {
                    None
                })
            } else {
                return Err(SqlError::unsupported(
                    "RESET other than RESET MASTER and RESET SLAVE",
                ));
            }
        }
        "CHANGE" => replica::change(&mut c)?,
        "STOP" => replica::stop(&mut c)?,
        "UNLOCK" => {
            if !(c.eat_kw("TABLES") || c.eat_kw("TABLE")) {
                return Err(c.error());
            }
            Admin::UnlockTables
        }
        "INSTALL" | "UNINSTALL" => Admin::Plugin(plugin(&mut c, &first)?),
        "SHUTDOWN" => Admin::Shutdown,
        "PREPARE" => Admin::Prepared(sql_prepared::prepare(&mut c)?),
        "EXECUTE" => Admin::Prepared(sql_prepared::execute(&mut c)?),
        "DEALLOCATE" => Admin::Prepared(sql_prepared::deallocate(&mut c)?),
        "LOCK" => {
            if !(c.eat_kw("TABLES") || c.eat_kw("TABLE")) {
                return Err(c.error());
            }
            let tables = list(&mut c, table_lock)?;
            if c.is_kw("WAIT") || c.is_kw("NOWAIT") {
                return Err(SqlError::unsupported("LOCK TABLES ... WAIT"));
            }
            Admin::LockTables(tables)
        }
        other => return Err(SqlError::unsupported(other)),
    };
    c.expect_end()?;
    Ok(admin)
}

fn list<T>(
    c: &mut Cursor<'_>,
    mut item: impl FnMut(&mut Cursor<'_>) -> SqlResult<T>,
) -> SqlResult<Vec<T>> {
    let mut out = vec![item(c)?];
    while c.eat_punct(b',') {
        out.push(item(c)?);
    }
    Ok(out)
}

fn start(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    if !c.eat_kw("TRANSACTION") {
        return replica::start(c)?.ok_or_else(|| c.error());
    }
    let (mut read_only, mut snapshot) = (None, false);
    if !c.at_end() {
        loop {
            if c.eat_kws(&["READ", "ONLY"]) {
                if read_only.replace(true).is_some() {
                    return Err(c.error());
                }
            } else if c.eat_kws(&["READ", "WRITE"]) {
                if read_only.replace(false).is_some() {
                    return Err(c.error());
                }
            } else if c.eat_kws(&["WITH", "CONSISTENT", "SNAPSHOT"]) {
                snapshot = true;
            } else {
                return Err(c.error());
            }
            if !c.eat_punct(b',') {
                break;
            }
        }
    }
    Ok(Admin::Begin {
        read_only,
        snapshot,
    })
}

/// `[WORK] [AND [NO] CHAIN] [[NO] RELEASE]`
fn completion(c: &mut Cursor<'_>) -> SqlResult<(Option<bool>, Option<bool>)> {
    c.eat_kw("WORK");
    let (mut chain, mut release) = (None, None);
    if c.eat_kw("AND") {
        let no = c.eat_kw("NO");
        c.expect_kw("CHAIN")?;
        chain = Some(!no);
    }
    if c.is_kw("NO") || c.is_kw("RELEASE") {
        let no = c.eat_kw("NO");
        c.expect_kw("RELEASE")?;
        release = Some(!no);
    }
    Ok((chain, release))
}

fn isolation(c: &mut Cursor<'_>) -> SqlResult<(Isolation, &'static str)> {
    if c.eat_kws(&["READ", "UNCOMMITTED"]) {
        Ok((Isolation::ReadCommitted, "READ-UNCOMMITTED"))
    } else if c.eat_kws(&["READ", "COMMITTED"]) {
        Ok((Isolation::ReadCommitted, "READ-COMMITTED"))
    } else if c.eat_kws(&["REPEATABLE", "READ"]) {
        Ok((Isolation::RepeatableRead, "REPEATABLE-READ"))
    } else if c.eat_kw("SERIALIZABLE") {
        Ok((Isolation::Serializable, "SERIALIZABLE"))
    } else {
        Err(c.error())
    }
}

fn set(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    // SET [GLOBAL|SESSION] TRANSACTION ...
    let (skip, scope) = if c.is_kw("GLOBAL") {
        (1, SetScope::Global)
    } else if c.is_kw("SESSION") || c.is_kw("LOCAL") {
        (1, SetScope::Session)
    } else {
        (0, SetScope::Default)
    };
    if c.is_kw_at(skip, "TRANSACTION") {
        for _ in 0..=skip {
            c.advance();
        }
        let (mut iso, mut read_only) = (None, None);
        loop {
            if c.eat_kws(&["ISOLATION", "LEVEL"]) {
                if iso.replace(isolation(c)?).is_some() {
                    return Err(c.error());
                }
            } else if c.eat_kws(&["READ", "ONLY"]) {
                read_only = Some(true);
            } else if c.eat_kws(&["READ", "WRITE"]) {
                read_only = Some(false);
            } else {
                return Err(c.error());
            }
            if !c.eat_punct(b',') {
                break;
            }
        }
        return Ok(Admin::SetTransaction {
            scope,
            isolation: iso.map(|i| i.0),
            isolation_name: iso.map(|i| i.1),
            read_only,
        });
    }
    if c.is_kw("PASSWORD")
        && (c.is_kw_at(1, "FOR") || matches!(c.peek_at(1), Tok::Punct(b'=') | Tok::Assign))
    {
        c.advance();
        let user = if c.eat_kw("FOR") {
            user_name(c)?
        } else {
            UserName::Current
        };
        if !c.eat_punct(b'=') && !matches!(c.advance(), Tok::Assign) {
            return Err(c.error());
        }
        let password = if c.eat_kw("PASSWORD") {
            c.expect_punct(b'(')?;
            let p = c.string()?;
            c.expect_punct(b')')?;
            Err(p)
        } else {
            Ok(c.string()?)
        };
        return Ok(Admin::SetPassword { user, password });
    }
    if c.is_kw("ROLE") || (c.is_kw("DEFAULT") && c.is_kw_at(1, "ROLE")) {
        return Err(SqlError::unsupported("roles"));
    }
    if c.is_kw("STATEMENT") {
        return Err(SqlError::unsupported("SET STATEMENT"));
    }
    let mut sticky = SetScope::Default;
    let items = list(c, |c| set_item(c, &mut sticky))?;
    Ok(Admin::Set(items))
}

/// SET STATEMENT name = value, ... FOR statement: the assignments, and the statement's text. `None` if the text is
/// another statement. Read without the statement itself, which may be long.
pub(crate) fn set_statement(
    text: &str,
    opts: LexOptions,
) -> SqlResult<Option<(Vec<SetItem>, &str)>> {
    let (a, n, b, m) = leading_words(text);
    if &a[..n] != b"SET" || &b[..m] != b"STATEMENT" {
        return Ok(None);
    }
    let mut c = Cursor::before(text, opts, "FOR")?;
    c.advance();
    c.advance();
    if matches!(c.peek(), Tok::Punct(b'=') | Tok::Assign) {
        // A variable of that name, were there one.
        return Ok(None);
    }
    let items = list(&mut c, |c| {
        let words = scope_word(c).is_some() || c.is_kw("NAMES") || c.is_kw("CHARACTER");
        if words && !matches!(c.peek_at(1), Tok::Punct(b'=') | Tok::Assign) {
            c.advance();
            return Err(c.error());
        }
        if !matches!(c.peek(), Tok::Word(_) | Tok::Quoted(_)) {
            return Err(c.error());
        }
        set_item(c, &mut SetScope::Default)
    })?;
    let rest = &text[c.offset()..];
    if !c.at_end() || rest.is_empty() {
        return Err(c.error());
    }
    let rest = rest["FOR".len()..].trim_start();
    if rest.is_empty() {
        return Err(crate::lex::syntax_near(text, text.len()));
    }
    Ok(Some((items, rest)))
}

fn assign(c: &mut Cursor<'_>) -> SqlResult<()> {
    if c.eat_punct(b'=') {
        return Ok(());
    }
    if matches!(c.peek(), Tok::Assign) {
        c.advance();
        return Ok(());
    }
    Err(c.error())
}

fn set_item(c: &mut Cursor<'_>, sticky: &mut SetScope) -> SqlResult<SetItem> {
    if matches!(c.peek(), Tok::At) {
        c.advance();
        let name = c.ident_or_string()?;
        assign(c)?;
        return Ok(SetItem::User {
            name,
            expr: c.expression_text()?.to_string(),
        });
    }
    if c.is_kw("NAMES") && !matches!(c.peek_at(1), Tok::Punct(b'=') | Tok::Assign) {
        c.advance();
        if c.eat_kw("DEFAULT") {
            return Ok(SetItem::Names {
                charset: None,
                collation: None,
            });
        }
        let charset = Some(c.ident_or_string()?);
        let collation = if c.eat_kw("COLLATE") {
            if c.eat_kw("DEFAULT") {
                None
            } else {
                Some(c.ident_or_string()?)
            }
        } else {
            None
        };
        return Ok(SetItem::Names { charset, collation });
    }
    if c.is_kw("CHARSET") && !matches!(c.peek_at(1), Tok::Punct(b'=') | Tok::Assign)
        || c.is_kw("CHARACTER") && c.is_kw_at(1, "SET")
        || c.is_kw("CHAR") && c.is_kw_at(1, "SET")
    {
        if !c.eat_kw("CHARSET") {
            c.advance();
            c.advance();
        }
        if c.eat_kw("DEFAULT") {
            return Ok(SetItem::Charset(None));
        }
        return Ok(SetItem::Charset(Some(c.ident_or_string()?)));
    }
    let mut scope = *sticky;
    if matches!(c.peek(), Tok::AtAt) {
        c.advance();
        scope = SetScope::Default;
        if let Some(s) = scope_word(c)
            && matches!(c.peek_at(1), Tok::Punct(b'.'))
        {
            c.advance();
            c.advance();
            scope = s;
        }
    } else if let Some(s) = scope_word(c)
        && !matches!(c.peek_at(1), Tok::Punct(b'=' | b'.') | Tok::Assign)
    {
        c.advance();
        *sticky = s;
        scope = s;
    }
    let mut name = c.ident()?;
    while c.eat_punct(b'.') {
        name.push('.');
        name.push_str(&c.ident()?);
    }
    name.make_ascii_lowercase();
    assign(c)?;
    Ok(SetItem::System {
        scope,
        name,
        value: set_value(c)?,
    })
}

fn scope_word(c: &Cursor<'_>) -> Option<SetScope> {
    if c.is_kw("GLOBAL") {
        Some(SetScope::Global)
    } else if c.is_kw("SESSION") || c.is_kw("LOCAL") {
        Some(SetScope::Session)
    } else {
        None
    }
}

fn set_value(c: &mut Cursor<'_>) -> SqlResult<SetValue> {
    if matches!(c.peek_at(1), Tok::End | Tok::Punct(b',')) {
        match c.peek().clone() {
            Tok::Word(w) => {
                if w.eq_ignore_ascii_case("DEFAULT") {
                    c.advance();
                    return Ok(SetValue::Default);
                }
                if !["NULL", "TRUE", "FALSE"]
                    .iter()
                    .any(|k| w.eq_ignore_ascii_case(k))
                {
                    c.advance();
                    return Ok(SetValue::Word(w));
                }
            }
            Tok::Quoted(w) => {
                c.advance();
                return Ok(SetValue::Word(w));
            }
            Tok::Str(s) => {
                c.advance();
                return Ok(SetValue::Str(s));
            }
            _ => {}
        }
    }
    Ok(SetValue::Expr(c.expression_text()?.to_string()))
}

fn user_name(c: &mut Cursor<'_>) -> SqlResult<UserName> {
    if c.eat_kw("CURRENT_USER") {
        if c.eat_punct(b'(') {
            c.expect_punct(b')')?;
        }
        return Ok(UserName::Current);
    }
    let user = c.ident_or_string()?;
    let host = if matches!(c.peek(), Tok::At) {
        c.advance();
        c.host()?
    } else {
        "%".into()
    };
    if user.chars().count() > 128 {
        return Err(SqlError::new(
            1470,
            b"HY000",
            format!("String '{user}' is too long for user name (should be no longer than 128)"),
        ));
    }
    Ok(UserName::Named {
        user,
        host: host.to_ascii_lowercase(),
    })
}

fn user_specs(c: &mut Cursor<'_>) -> SqlResult<Vec<UserSpec>> {
    list(c, |c| {
        let name = user_name(c)?;
        let auth = if c.eat_kw("IDENTIFIED") {
            Some(auth_spec(c)?)
        } else {
            None
        };
        Ok(UserSpec { name, auth })
    })
}

fn auth_spec(c: &mut Cursor<'_>) -> SqlResult<AuthSpec> {
    if c.eat_kw("BY") {
        if c.eat_kw("PASSWORD") {
            return Ok(AuthSpec::Hash(c.string()?));
        }
        return Ok(AuthSpec::Password(c.string()?));
    }
    if !(c.eat_kw("VIA") || c.eat_kw("WITH")) {
        return Err(c.error());
    }
    let plugin = c.ident_or_string()?;
    let (mut hash, mut password) = (None, None);
    if c.eat_kw("USING") || c.eat_kw("AS") {
        if c.eat_kw("PASSWORD") {
            c.expect_punct(b'(')?;
            password = Some(c.string()?);
            c.expect_punct(b')')?;
        } else {
            hash = Some(c.string()?);
        }
    } else if c.eat_kw("BY") {
        password = Some(c.string()?);
    }
    if c.is_kw("OR") {
        return Err(SqlError::unsupported(
            "more than one authentication method for an account",
        ));
    }
    Ok(AuthSpec::Plugin {
        plugin,
        hash,
        password,
    })
}

/// `PLUGIN [IF ...] name [SONAME 'library'] | SONAME 'library'`
fn plugin(c: &mut Cursor<'_>, verb: &str) -> SqlResult<PluginWords> {
    let install = verb.eq_ignore_ascii_case("INSTALL");
    let name = if c.eat_kw("PLUGIN") {
        if c.is_kw("IF") {
            return Err(SqlError::unsupported("INSTALL and UNINSTALL PLUGIN IF"));
        }
        Some(c.ident()?)
    } else {
        None
    };
    if let (false, Some(name)) = (install, &name) {
        return Ok(PluginWords::UninstallPlugin(name.to_ascii_lowercase()));
    }
    c.expect_kw("SONAME")?;
    let library = c.string()?;
    Ok(if install {
        PluginWords::Install { name, library }
    } else {
        PluginWords::UninstallLibrary(library)
    })
}

/// REQUIRE, and, if `account`, ACCOUNT and PASSWORD EXPIRE: each once, the last two in any order.
fn user_options(c: &mut Cursor<'_>, account: bool) -> SqlResult<UserOptions> {
    let mut o = UserOptions::default();
    if c.eat_kw("REQUIRE") {
        o.tls = Some(tls_need(c)?);
    }
    if c.is_kw("WITH") && !c.is_kw_at(1, "GRANT") {
        return Err(SqlError::unsupported("resource limits of accounts"));
    }
    if account {
        lock_and_expiry(c, &mut o)?;
    }
    Ok(o)
}

/// ACCOUNT and PASSWORD EXPIRE, in any order.
fn lock_and_expiry(c: &mut Cursor<'_>, o: &mut UserOptions) -> SqlResult<()> {
    loop {
        if o.lock.is_none() && c.eat_kw("ACCOUNT") {
            o.lock = Some(c.eat_kw("LOCK"));
            if o.lock == Some(false) {
                c.expect_kw("UNLOCK")?;
            }
        } else if o.expire.is_none() && c.eat_kw("PASSWORD") {
            c.expect_kw("EXPIRE")?;
            o.expire = Some(expire(c)?);
        } else {
            return Ok(());
        }
    }
}

/// What follows REQUIRE.
fn tls_need(c: &mut Cursor<'_>) -> SqlResult<TlsNeed> {
    for (word, need) in [
        ("NONE", TlsNeed::None),
        ("SSL", TlsNeed::Any),
        ("X509", TlsNeed::X509),
    ] {
        if c.eat_kw(word) {
            return Ok(need);
        }
    }
    let words = ["ISSUER", "SUBJECT", "CIPHER"];
    let mut given: [Option<String>; 3] = Default::default();
    loop {
        let Some(i) = words.iter().position(|w| c.eat_kw(w)) else {
            return Err(c.error());
        };
        if given[i].replace(c.string()?).is_some() {
            return Err(SqlError::new(
                1225,
                b"HY000",
                format!("Option '{}' used twice in statement", words[i]),
            ));
        }
        if !(c.eat_kw("AND") || words.iter().any(|w| c.is_kw(w))) {
            break;
        }
    }
    let [issuer, subject, cipher] = given;
    Ok(TlsNeed::Specified {
        issuer: issuer.unwrap_or_default(),
        subject: subject.unwrap_or_default(),
        cipher,
    })
}

/// What follows PASSWORD EXPIRE.
fn expire(c: &mut Cursor<'_>) -> SqlResult<Expire> {
    Ok(if c.eat_kw("NEVER") {
        Expire::After(Lifetime::Never)
    } else if c.eat_kw("DEFAULT") {
        Expire::After(Lifetime::Default)
    } else if c.eat_kw("INTERVAL") {
        let days = big_number(c)?;
        c.expect_kw("DAY")?;
        match u32::try_from(days).ok().filter(|d| *d > 0) {
            Some(days) => Expire::After(Lifetime::Days(days)),
            None => {
                return Err(SqlError::new(
                    1525,
                    b"HY000",
                    format!("Incorrect DAY value: '{days}'"),
                ));
            }
        }
    } else {
        Expire::Now
    })
}

/// Privileges up to ON, FROM or TO; `None` is ALL. The second value is true if GRANT OPTION was among them.
fn privilege_list(c: &mut Cursor<'_>) -> SqlResult<Option<PrivilegeSet>> {
    if c.is_kw("ALL") {
        c.advance();
        c.eat_kw("PRIVILEGES");
        return Ok(None);
    }
    if c.is_kw("PROXY") {
        return Err(SqlError::unsupported("PROXY"));
    }
    let mut set = PrivilegeSet::NONE;
    loop {
        let at = c.offset();
        let mut name = String::new();
        while let Tok::Word(w) = c.peek() {
            if ["ON", "TO", "FROM"]
                .iter()
                .any(|k| w.eq_ignore_ascii_case(k))
            {
                break;
            }
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(w);
            c.advance();
        }
        if c.is_punct(b'(') {
            return Err(SqlError::unsupported("column privileges"));
        }
        if !name.eq_ignore_ascii_case("USAGE") {
            let Some(p) = PrivilegeSet::by_name(&name) else {
                if (c.is_kw("TO") || c.is_kw("FROM")) && set.is_empty() && !name.is_empty() {
                    return Err(SqlError::unsupported("roles"));
                }
                return Err(crate::lex::syntax_near(c.text, at));
            };
            set = set.with(p);
        }
        if !c.eat_punct(b',') {
            return Ok(Some(set));
        }
    }
}

fn level(c: &mut Cursor<'_>) -> SqlResult<Level> {
    if c.eat_kw("TABLE") {
    } else if c.is_kw("FUNCTION") || c.is_kw("PROCEDURE") || c.is_kw("PACKAGE") {
        return Err(SqlError::unsupported("privileges on routines"));
    }
    if c.eat_punct(b'*') {
        if c.eat_punct(b'.') {
            c.expect_punct(b'*')?;
            return Ok(Level::Global);
        }
        return Ok(Level::Database(None));
    }
    let a = c.ident()?;
    if c.eat_punct(b'.') {
        if c.eat_punct(b'*') {
            return Ok(Level::Database(Some(a)));
        }
        return Ok(Level::Table(Some(a), c.ident()?));
    }
    Ok(Level::Table(None, a))
}

fn grant(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    let privileges = privilege_list(c)?;
    c.expect_kw("ON")?;
    let level = level(c)?;
    c.expect_kw("TO")?;
    let users = user_specs(c)?;
    let options = user_options(c, false)?;
    let grant_option = c.eat_kws(&["WITH", "GRANT", "OPTION"]);
    Ok(Admin::Grant {
        privileges,
        level,
        users,
        options,
        grant_option,
    })
}

fn revoke(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    let privileges = privilege_list(c)?;
    if privileges.is_none() && c.eat_punct(b',') {
        if !c.eat_kws(&["GRANT", "OPTION"]) {
            return Err(c.error());
        }
        c.expect_kw("FROM")?;
        return Ok(Admin::RevokeEverything(list(c, user_name)?));
    }
    c.expect_kw("ON")?;
    let level = level(c)?;
    c.expect_kw("FROM")?;
    Ok(Admin::Revoke {
        privileges,
        level,
        users: list(c, user_name)?,
    })
}

fn flush(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    let _ = c.eat_kw("NO_WRITE_TO_BINLOG") || c.eat_kw("LOCAL");
    let items = list(c, |c| {
        Ok(if c.eat_kw("PRIVILEGES") {
            Flush::Privileges
        } else if c.eat_kw("TABLES") || c.eat_kw("TABLE") {
            if c.eat_kws(&["WITH", "READ", "LOCK"]) {
                Flush::ReadLock
            } else if c.at_end() || c.is_punct(b',') {
                Flush::Tables
            } else {
                let tables = list(c, table_ref)?;
                if c.is_kw("FOR") {
                    return Err(SqlError::unsupported("FLUSH TABLES ... FOR EXPORT"));
                }
                if c.eat_kws(&["WITH", "READ", "LOCK"]) {
                    Flush::TablesReadLock(tables)
                } else {
                    Flush::Tables
                }
            }
        } else if c.eat_kw("LOGS") {
            Flush::Logs
        } else if c.eat_kws(&["ENGINE", "LOGS"]) {
            Flush::EngineLogs
        } else if c.eat_kws(&["BINARY", "LOGS"]) {
            Flush::BinaryLogs(if c.eat_kw("DELETE_DOMAIN_ID") {
                c.expect_punct(b'=')?;
                c.expect_punct(b'(')?;
                let domains = if c.is_punct(b')') {
                    Vec::new()
                } else {
                    list(c, big_number)?
                };
                c.expect_punct(b')')?;
                domains
            } else {
                Vec::new()
            })
        } else if c.eat_kws(&["ERROR", "LOGS"])
            || c.eat_kws(&["GENERAL", "LOGS"])
            || c.eat_kws(&["SLOW", "LOGS"])
            || c.eat_kws(&["RELAY", "LOGS"])
            || c.eat_kw("HOSTS")
            || c.eat_kws(&["QUERY", "CACHE"])
        {
            Flush::Nothing
        } else if c.eat_kw("STATUS") {
            Flush::Status
        } else {
            return Err(c.error());
        })
    })?;
    Ok(Admin::Flush(items))
}

fn maintenance(c: &mut Cursor<'_>, first: &str) -> SqlResult<Admin> {
    let op = match first.to_ascii_uppercase().as_str() {
        "CHECK" => Maintenance::Check,
        "ANALYZE" => Maintenance::Analyze,
        "OPTIMIZE" => Maintenance::Optimize,
        _ => Maintenance::Repair,
    };
    let _ = c.eat_kw("NO_WRITE_TO_BINLOG") || c.eat_kw("LOCAL");
    if !(c.eat_kw("TABLE") || c.eat_kw("TABLES")) {
        return Err(SqlError::unsupported(format!("{first} other than TABLE")));
    }
    let tables = list(c, table_ref)?;
    if op == Maintenance::Check {
        while c.eat_kw("QUICK")
            || c.eat_kw("FAST")
            || c.eat_kw("MEDIUM")
            || c.eat_kw("EXTENDED")
            || c.eat_kw("CHANGED")
            || c.eat_kws(&["FOR", "UPGRADE"])
        {}
    }
    if op == Maintenance::Repair {
        while c.eat_kw("QUICK") || c.eat_kw("EXTENDED") || c.eat_kw("USE_FRM") {}
    }
    Ok(Admin::Maintain { op, tables })
}

/// `[db.]table [[AS] alias] {READ [LOCAL] | [LOW_PRIORITY | CONCURRENT] WRITE}`
fn table_lock(c: &mut Cursor<'_>) -> SqlResult<TableLock> {
    let table = table_ref(c)?;
    let kind = |c: &Cursor<'_>| {
        ["READ", "WRITE", "LOW_PRIORITY", "CONCURRENT"]
            .iter()
            .any(|k| c.is_kw(k))
    };
    if c.eat_kw("AS") || !kind(c) {
        c.ident()?;
    }
    let write = if c.eat_kw("READ") {
        c.eat_kw("LOCAL");
        false
    } else {
        let _ = c.eat_kw("LOW_PRIORITY") || c.eat_kw("CONCURRENT");
        c.expect_kw("WRITE")?;
        true
    };
    Ok(TableLock { table, write })
}

fn table_ref(c: &mut Cursor<'_>) -> SqlResult<TableRef> {
    let a = c.ident()?;
    if c.eat_punct(b'.') {
        Ok(TableRef {
            db: Some(a),
            name: c.ident()?,
        })
    } else {
        Ok(TableRef { db: None, name: a })
    }
}

fn show_filter(c: &mut Cursor<'_>) -> SqlResult<Filter> {
    if c.eat_kw("LIKE") {
        Ok(Filter::Like(c.string()?))
    } else if c.eat_kw("WHERE") {
        Ok(Filter::Where(filter::parse(c)?))
    } else {
        Ok(Filter::None)
    }
}

/// `{FROM|IN} db`
fn from_db(c: &mut Cursor<'_>) -> SqlResult<Option<String>> {
    if c.eat_kw("FROM") || c.eat_kw("IN") {
        Ok(Some(c.ident()?))
    } else {
        Ok(None)
    }
}

/// `{FROM|IN} table [{FROM|IN} db]`
fn from_table(c: &mut Cursor<'_>) -> SqlResult<TableRef> {
    if !(c.eat_kw("FROM") || c.eat_kw("IN")) {
        return Err(c.error());
    }
    let mut t = table_ref(c)?;
    if let Some(db) = from_db(c)? {
        t.db = Some(db);
    }
    Ok(t)
}

fn show(c: &mut Cursor<'_>) -> SqlResult<Show> {
    let full = c.eat_kw("FULL");
    let extended = !full && c.eat_kw("EXTENDED");
    if extended {
        return Err(SqlError::unsupported("SHOW EXTENDED"));
    }
    let global = c.is_kw("GLOBAL");
    if global || c.is_kw("SESSION") || c.is_kw("LOCAL") {
        c.advance();
        if c.eat_kw("VARIABLES") {
            return Ok(Show::Variables {
                global,
                filter: show_filter(c)?,
            });
        }
        c.expect_kw("STATUS")?;
        return Ok(Show::Status {
            global,
            filter: show_filter(c)?,
        });
    }
    let Tok::Word(word) = c.peek().clone() else {
        return Err(c.error());
    };
    let word = word.to_ascii_uppercase();
    if full
        && !matches!(
            word.as_str(),
            "TABLES" | "COLUMNS" | "FIELDS" | "PROCESSLIST"
        )
    {
        return Err(c.error());
    }
    c.advance();
    Ok(match word.as_str() {
        "DATABASES" | "SCHEMAS" => Show::Databases(show_filter(c)?),
        "TABLES" => Show::Tables {
            full,
            db: from_db(c)?,
            filter: show_filter(c)?,
        },
        "TABLE" => {
            c.expect_kw("STATUS")?;
            Show::TableStatus {
                db: from_db(c)?,
                filter: show_filter(c)?,
            }
        }
        "COLUMNS" | "FIELDS" => Show::Columns {
            full,
            table: from_table(c)?,
            filter: show_filter(c)?,
        },
        "INDEX" | "INDEXES" | "KEYS" => Show::Index {
            table: from_table(c)?,
            filter: show_filter(c)?,
        },
        "CREATE" => {
            if c.eat_kw("TABLE") {
                Show::CreateTable(table_ref(c)?)
            } else if c.eat_kw("VIEW") {
                Show::CreateView(table_ref(c)?)
            } else if c.eat_kw("SEQUENCE") {
                Show::CreateSequence(table_ref(c)?)
            } else if c.eat_kw("DATABASE") || c.eat_kw("SCHEMA") {
                let if_not_exists = c.eat_kws(&["IF", "NOT", "EXISTS"]);
                Show::CreateDatabase {
                    if_not_exists,
                    name: c.ident()?,
                }
            } else if c.eat_kw("USER") {
                Show::CreateUser(if c.at_end() {
                    UserName::Current
                } else {
                    user_name(c)?
                })
            } else {
                return Err(SqlError::unsupported(
                    "SHOW CREATE of views, triggers and routines",
                ));
            }
        }
        "VARIABLES" => Show::Variables {
            global: false,
            filter: show_filter(c)?,
        },
        "STATUS" => Show::Status {
            global: false,
            filter: show_filter(c)?,
        },
        "WARNINGS" | "ERRORS" => {
            let (mut offset, mut limit) = (0, usize::MAX);
            if c.eat_kw("LIMIT") {
                limit = number(c)?;
                if c.eat_punct(b',') {
                    offset = limit;
                    limit = number(c)?;
                } else if c.eat_kw("OFFSET") {
                    offset = number(c)?;
                }
            }
            Show::Warnings {
                errors: word == "ERRORS",
                offset,
                limit,
            }
        }
        "COUNT" => {
            c.expect_punct(b'(')?;
            c.expect_punct(b'*')?;
            c.expect_punct(b')')?;
            let errors = c.eat_kw("ERRORS");
            if !errors {
                c.expect_kw("WARNINGS")?;
            }
            Show::CountWarnings { errors }
        }
        "PROCESSLIST" => Show::ProcessList { full },
        "GRANTS" => Show::Grants(if c.eat_kw("FOR") {
            user_name(c)?
        } else {
            UserName::Current
        }),
        "ENGINES" => Show::Engines,
        "STORAGE" => {
            c.expect_kw("ENGINES")?;
            Show::Engines
        }
        "COLLATION" => Show::Collation(show_filter(c)?),
        "CHARSET" => Show::CharacterSet(show_filter(c)?),
        "CHARACTER" | "CHAR" => {
            c.expect_kw("SET")?;
            Show::CharacterSet(show_filter(c)?)
        }
        "MASTER" => {
            if c.eat_kw("LOGS") {
                Show::BinaryLogs
            } else {
                c.expect_kw("STATUS")?;
                Show::MasterStatus
            }
        }
        "BINLOG" => {
            if c.eat_kw("EVENTS") {
                Show::BinlogEvents(event_range(c)?)
            } else {
                c.expect_kw("STATUS")?;
                Show::MasterStatus
            }
        }
        "BINARY" => {
            c.expect_kw("LOGS")?;
            Show::BinaryLogs
        }
        "SLAVE" | "REPLICA" => {
            if c.eat_kw("HOSTS") {
                Show::ReplicaHosts
            } else {
                replica::show_slave(c)?
            }
        }
        "ALL" => {
            if !(c.eat_kw("SLAVES") || c.eat_kw("REPLICAS")) {
                return Err(c.error());
            }
            c.expect_kw("STATUS")?;
            Show::ReplicaStatus(Target::All)
        }
        "PRIVILEGES" => Show::Privileges,
        "PLUGINS" => Show::Plugins,
        "TRIGGERS" => {
            from_db(c)?;
            show_filter(c)?;
            Show::Empty(&[
                "Trigger",
                "Event",
                "Table",
                "Statement",
                "Timing",
                "Created",
                "sql_mode",
                "Definer",
                "character_set_client",
                "collation_connection",
                "Database Collation",
            ])
        }
        "EVENTS" => {
            from_db(c)?;
            show_filter(c)?;
            Show::Empty(&[
                "Db",
                "Name",
                "Definer",
                "Time zone",
                "Type",
                "Execute at",
                "Interval value",
                "Interval field",
                "Starts",
                "Ends",
                "Status",
                "Originator",
                "character_set_client",
                "collation_connection",
                "Database Collation",
            ])
        }
        "PROCEDURE" | "FUNCTION" | "PACKAGE" => {
            if c.is_kw("CODE") {
                return Err(SqlError::unsupported("SHOW PROCEDURE CODE"));
            }
            c.eat_kw("BODY");
            c.expect_kw("STATUS")?;
            show_filter(c)?;
            Show::Empty(&[
                "Db",
                "Name",
                "Type",
                "Definer",
                "Modified",
                "Created",
                "Security_type",
                "Comment",
                "character_set_client",
                "collation_connection",
                "Database Collation",
            ])
        }
        "OPEN" => {
            c.expect_kw("TABLES")?;
            from_db(c)?;
            show_filter(c)?;
            Show::Empty(&["Database", "Table", "In_use", "Name_locked"])
        }
        "ENGINE" | "PROFILES" | "PROFILE" | "EXPLAIN" | "ANALYZE" | "RELAYLOG" | "AUTHORS"
        | "CONTRIBUTORS" | "INDEX_STATISTICS" | "TABLE_STATISTICS" | "USER_STATISTICS"
        | "CLIENT_STATISTICS" | "LOCALES" => {
            return Err(SqlError::unsupported(format!("SHOW {word}")));
        }
        _ => return Err(crate::lex::syntax_near(c.text, c.text.len().min(5))),
    })
}

/// `[IN 'file'] [FROM position] [LIMIT [offset,] count]`
fn event_range(c: &mut Cursor<'_>) -> SqlResult<EventRange> {
    let mut range = EventRange {
        file: None,
        from: 0,
        offset: 0,
        limit: u64::MAX,
    };
    if c.eat_kw("IN") {
        range.file = Some(c.string()?);
    }
    if c.eat_kw("FROM") {
        range.from = big_number(c)?;
    }
    if c.eat_kw("LIMIT") {
        range.limit = big_number(c)?;
        if c.eat_punct(b',') {
            range.offset = range.limit;
            range.limit = big_number(c)?;
        } else if c.eat_kw("OFFSET") {
            range.offset = big_number(c)?;
        }
    }
    Ok(range)
}

/// `TO 'folder' [INCREMENTAL FROM 'folder'] [NO LOG] [MAX RATE n] | STREAM [NO LOG] [MAX RATE n] [RESUME 'token' AFTER n]`
fn backup(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    let mut words = BackupWords::default();
    let stream = c.eat_kw("STREAM");
    if !stream {
        if !c.eat_kw("TO") {
            return Err(SqlError::unsupported(
                "BACKUP other than BACKUP TO and BACKUP STREAM",
            ));
        }
        words.to = Some(c.string()?);
        if c.eat_kw("INCREMENTAL") {
            c.expect_kw("FROM")?;
            words.parent = Some(c.string()?);
        }
    }
    if c.eat_kws(&["NO", "LOG"]) {
        words.no_log = true;
    }
    if c.eat_kws(&["MAX", "RATE"]) {
        words.max_rate = Some(big_number(c)?.min(1 << 24));
    }
    if stream && c.eat_kw("RESUME") {
        let token = c.string()?;
        c.expect_kw("AFTER")?;
        words.resume = Some((token, big_number(c)?));
    }
    Ok(Admin::Backup(words))
}

/// `BINARY|MASTER LOGS TO 'file' | BEFORE expression`
fn purge(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    if !(c.eat_kw("BINARY") || c.eat_kw("MASTER")) {
        return Err(c.error());
    }
    c.expect_kw("LOGS")?;
    if c.eat_kw("TO") {
        return Ok(Admin::PurgeTo(c.string()?));
    }
    c.expect_kw("BEFORE")?;
    if c.is_punct(b'(') && (c.is_kw_at(1, "SELECT") || c.is_kw_at(1, "WITH")) {
        return Err(SqlError::new(
            1970,
            b"42000",
            "PURGE..BEFORE does not support subqueries or stored functions",
        ));
    }
    Ok(Admin::PurgeBefore(c.expression_text()?.to_string()))
}

fn big_number(c: &mut Cursor<'_>) -> SqlResult<u64> {
    match c.peek().clone() {
        Tok::Num(n) => {
            // Too large is as large as it gets.
            let digits = n.bytes().all(|b| b.is_ascii_digit());
            let v = match n.parse() {
                Ok(v) => v,
                Err(_) if digits => u64::MAX,
                Err(_) => return Err(c.error()),
            };
            c.advance();
            Ok(v)
        }
        _ => Err(c.error()),
    }
}

fn number(c: &mut Cursor<'_>) -> SqlResult<usize> {
    Ok(usize::try_from(big_number(c)?).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(text: &str) -> Admin {
        assert!(is_admin(text), "{text}");
        match parse(text, LexOptions::default()) {
            Ok(a) => a,
            Err(e) => panic!("{text}: {e}"),
        }
    }

    fn code(text: &str) -> u16 {
        parse(text, LexOptions::default()).unwrap_err().code
    }

    fn named(user: &str, host: &str) -> UserName {
        UserName::Named {
            user: user.into(),
            host: host.into(),
        }
    }

    #[test]
    fn who_parses_what() {
        for t in [
            "select 1",
            "(select 1)",
            "INSERT into t values (1)",
            "create table t (a int)",
            "create or replace table t (a int)",
            "drop table t",
            "explain select 1",
            "explain (select 1)",
            "desc select 1",
            "truncate t",
            "alter table t add index (a)",
            "checksum table t",
            "do 1",
            "nonsense",
        ] {
            assert!(!is_admin(t), "{t}");
        }
        for t in [
            "create user u",
            "CREATE OR REPLACE USER u",
            "drop user u",
            "set a=1",
            "explain t",
            "desc t c",
            "/* c */ show tables",
            "analyze table t",
        ] {
            assert!(is_admin(t), "{t}");
        }
    }

    #[test]
    fn transactions() {
        assert_eq!(
            p("start transaction read only, with consistent snapshot"),
            Admin::Begin {
                read_only: Some(true),
                snapshot: true
            }
        );
        assert_eq!(
            p("BEGIN WORK"),
            Admin::Begin {
                read_only: None,
                snapshot: false
            }
        );
        assert_eq!(
            p("commit and chain no release"),
            Admin::Commit {
                chain: Some(true),
                release: Some(false)
            }
        );
        assert_eq!(
            p("rollback work to savepoint `a b`"),
            Admin::RollbackTo("a b".into())
        );
        assert_eq!(code("begin foo"), 1064);
        assert_eq!(code("start transaction read only, read write"), 1064);
    }

    #[test]
    fn set_forms() {
        let Admin::Set(items) = p(
            "SET @a := 1+(2,3), GLOBAL max_connections=5, wait_timeout = 7, @@session.sql_mode = '', \
             @@autocommit=ON, NAMES utf8mb4 COLLATE utf8mb4_bin, character set default, sql_mode=concat(@@sql_mode,',x')",
        ) else {
            panic!()
        };
        let sys = |scope, name: &str, value| SetItem::System {
            scope,
            name: name.into(),
            value,
        };
        assert_eq!(
            items,
            vec![
                SetItem::User {
                    name: "a".into(),
                    expr: "1+(2,3)".into()
                },
                sys(
                    SetScope::Global,
                    "max_connections",
                    SetValue::Expr("5".into())
                ),
                // GLOBAL holds on until another scope is named.
                sys(SetScope::Global, "wait_timeout", SetValue::Expr("7".into())),
                sys(SetScope::Session, "sql_mode", SetValue::Str(String::new())),
                sys(SetScope::Default, "autocommit", SetValue::Word("ON".into())),
                SetItem::Names {
                    charset: Some("utf8mb4".into()),
                    collation: Some("utf8mb4_bin".into())
                },
                SetItem::Charset(None),
                sys(
                    SetScope::Global,
                    "sql_mode",
                    SetValue::Expr("concat(@@sql_mode,',x')".into())
                ),
            ]
        );
        assert_eq!(
            p("set session transaction isolation level read committed, read only"),
            Admin::SetTransaction {
                scope: SetScope::Session,
                isolation: Some(Isolation::ReadCommitted),
                isolation_name: Some("READ-COMMITTED"),
                read_only: Some(true)
            }
        );
        assert_eq!(code("set transaction isolation level foo"), 1064);
        assert_eq!(code("set a"), 1064);
        assert_eq!(code("set role none"), 1235);
        assert_eq!(
            p("set password for u@localhost = password('x')"),
            Admin::SetPassword {
                user: named("u", "localhost"),
                password: Err("x".into())
            }
        );
    }

    #[test]
    fn users_and_grants() {
        assert_eq!(
            p(
                "create user if not exists 'a b'@'%.example.com' identified by 'x', c identified via caching_sha2_password using password('y') require ssl account lock"
            ),
            Admin::CreateUser {
                or_replace: false,
                if_not_exists: true,
                users: vec![
                    UserSpec {
                        name: named("a b", "%.example.com"),
                        auth: Some(AuthSpec::Password("x".into()))
                    },
                    UserSpec {
                        name: named("c", "%"),
                        auth: Some(AuthSpec::Plugin {
                            plugin: "caching_sha2_password".into(),
                            hash: None,
                            password: Some("y".into())
                        })
                    },
                ],
                options: UserOptions {
                    tls: Some(TlsNeed::Any),
                    expire: None,
                    lock: Some(true)
                }
            }
        );
        assert_eq!(
            p("grant select, insert, replication client on *.* to u@127.0.0.1 with grant option"),
            Admin::Grant {
                privileges: Some(
                    PrivilegeSet::SELECT
                        .with(PrivilegeSet::INSERT)
                        .with(PrivilegeSet::BINLOG_MONITOR)
                ),
                level: Level::Global,
                users: vec![UserSpec {
                    name: named("u", "127.0.0.1"),
                    auth: None
                }],
                options: UserOptions::default(),
                grant_option: true
            }
        );
        assert_eq!(
            p("revoke all privileges on `d\\_%`.* from current_user()"),
            Admin::Revoke {
                privileges: None,
                level: Level::Database(Some("d\\_%".into())),
                users: vec![UserName::Current]
            }
        );
        assert_eq!(
            p("revoke all privileges, grant option from a, b@c"),
            Admin::RevokeEverything(vec![named("a", "%"), named("b", "c")])
        );
        let options = |text: &str| match p(text) {
            Admin::AlterUser { options, .. } => options,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            options(
                "alter user u require issuer 'i' and subject 's' cipher 'c' password expire interval 5 day account unlock"
            ),
            UserOptions {
                tls: Some(TlsNeed::Specified {
                    issuer: "i".into(),
                    subject: "s".into(),
                    cipher: Some("c".into())
                }),
                expire: Some(Expire::After(Lifetime::Days(5))),
                lock: Some(false)
            }
        );
        assert_eq!(
            options("alter user u account lock password expire").expire,
            Some(Expire::Now)
        );
        assert_eq!(code("alter user u require subject 'a' subject 'b'"), 1225);
        assert_eq!(code("alter user u require ssl and x509"), 1064);
        assert_eq!(code("alter user u account lock account lock"), 1064);
        assert_eq!(code("alter user u password expire interval 0 day"), 1525);
        assert_eq!(code("grant select on t to u account lock"), 1064);
        assert_eq!(code("grant select(a) on t to u"), 1235);
        assert_eq!(code("grant r to u"), 1235);
        assert_eq!(code("grant fly on *.* to u"), 1064);
    }

    #[test]
    fn shows() {
        assert_eq!(
            p("show full tables from d like 't%'"),
            Admin::Show(Show::Tables {
                full: true,
                db: Some("d".into()),
                filter: Filter::Like("t%".into())
            })
        );
        assert_eq!(
            p("show columns in t from d"),
            Admin::Show(Show::Columns {
                full: false,
                table: TableRef {
                    db: Some("d".into()),
                    name: "t".into()
                },
                filter: Filter::None
            })
        );
        assert_eq!(
            p("show count(*) errors"),
            Admin::Show(Show::CountWarnings { errors: true })
        );
        for t in [
            "show warnings limit 2, 3",
            "show global status where variable_name like 'com%'",
            "show session variables",
            "show index from `t`",
            "show create database if not exists d",
            "show grants for u@h",
            "show keys from t from d",
            "show master status",
            "show storage engines",
            "show character set",
            "show table status like 'x'",
            "show full processlist",
            "show triggers from d",
        ] {
            p(t);
        }
        assert_eq!(code("show nonsense"), 1064);
        assert_eq!(code("show tables from d x"), 1064);
        assert_eq!(code("show engine innodb status"), 1235);
    }

    #[test]
    fn the_rest() {
        assert_eq!(
            p("kill query 5"),
            Admin::Kill {
                query: true,
                id: "5".into()
            }
        );
        assert_eq!(
            p("flush local privileges, logs"),
            Admin::Flush(vec![Flush::Privileges, Flush::Logs])
        );
        assert_eq!(code("flush foo"), 1064);
        let t = |db: Option<&str>, name: &str| TableRef {
            db: db.map(String::from),
            name: name.into(),
        };
        assert_eq!(
            p("flush tables with read lock"),
            Admin::Flush(vec![Flush::ReadLock])
        );
        assert_eq!(
            p("flush tables t, d.u with read lock"),
            Admin::Flush(vec![Flush::TablesReadLock(vec![
                t(None, "t"),
                t(Some("d"), "u")
            ])])
        );
        assert_eq!(code("flush tables t for export"), 1235);
        let lock = |table, write| TableLock { table, write };
        assert_eq!(
            p("lock tables t write, d.u as x read local, v y low_priority write"),
            Admin::LockTables(vec![
                lock(t(None, "t"), true),
                lock(t(Some("d"), "u"), false),
                lock(t(None, "v"), true)
            ])
        );
        assert_eq!(code("lock tables t"), 1064);
        assert!(matches!(p("prepare s from 'select 1'"), Admin::Prepared(_)));
        p("check table a, d.b extended");
        p("unlock tables");
        p("use `x y`");
    }
}
