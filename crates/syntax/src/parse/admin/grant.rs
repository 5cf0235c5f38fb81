//! GRANT and REVOKE.

use crate::ast::TableName;
use crate::ast::admin::{
    AccountOptions, Admin, Grant, GrantLevel, GrantObject, Privilege, PrivilegeList, Revoke,
    RoleName,
};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::sql_mode::SqlMode;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::face::is_mysql;

/// Privileges by the words that they are written with. The longest come first.
const PRIVILEGES: &[(&[Kw], &str)] = &[
    (&[Kw::SELECT], "SELECT"),
    (&[Kw::INSERT], "INSERT"),
    (&[Kw::UPDATE], "UPDATE"),
    (&[Kw::REFERENCES], "REFERENCES"),
    (&[Kw::DELETE, Kw::HISTORY], "DELETE HISTORY"),
    (&[Kw::DELETE], "DELETE"),
    (&[Kw::USAGE], "USAGE"),
    (&[Kw::INDEX], "INDEX"),
    (&[Kw::ALTER, Kw::ROUTINE], "ALTER ROUTINE"),
    (&[Kw::ALTER], "ALTER"),
    (
        &[Kw::CREATE, Kw::TEMPORARY, Kw::TABLES],
        "CREATE TEMPORARY TABLES",
    ),
    (&[Kw::CREATE, Kw::VIEW], "CREATE VIEW"),
    (&[Kw::CREATE, Kw::ROUTINE], "CREATE ROUTINE"),
    (&[Kw::CREATE, Kw::USER], "CREATE USER"),
    (&[Kw::CREATE, Kw::TABLESPACE], "CREATE TABLESPACE"),
    (&[Kw::CREATE], "CREATE"),
    (&[Kw::DROP], "DROP"),
    (&[Kw::EXECUTE], "EXECUTE"),
    (&[Kw::RELOAD], "RELOAD"),
    (&[Kw::SHUTDOWN], "SHUTDOWN"),
    (&[Kw::PROCESS], "PROCESS"),
    (&[Kw::FILE], "FILE"),
    (&[Kw::GRANT, Kw::OPTION], "GRANT OPTION"),
    (&[Kw::SHOW, Kw::DATABASES], "SHOW DATABASES"),
    (&[Kw::SHOW, Kw::VIEW], "SHOW VIEW"),
    (&[Kw::SUPER], "SUPER"),
    (&[Kw::LOCK, Kw::TABLES], "LOCK TABLES"),
    (
        &[Kw::REPLICATION, Kw::MASTER, Kw::ADMIN],
        "REPLICATION MASTER ADMIN",
    ),
    (
        &[Kw::REPLICATION, Kw::SLAVE, Kw::ADMIN],
        "REPLICATION SLAVE ADMIN",
    ),
    (
        &[Kw::REPLICATION, Kw::REPLICA, Kw::ADMIN],
        "REPLICATION SLAVE ADMIN",
    ),
    (&[Kw::REPLICATION, Kw::SLAVE], "REPLICATION SLAVE"),
    (&[Kw::REPLICATION, Kw::REPLICA], "REPLICATION SLAVE"),
    (&[Kw::REPLICATION, Kw::CLIENT], "BINLOG MONITOR"),
    (&[Kw::EVENT], "EVENT"),
    (&[Kw::TRIGGER], "TRIGGER"),
    (&[Kw::SET, Kw::USER], "SET USER"),
    (&[Kw::FEDERATED, Kw::ADMIN], "FEDERATED ADMIN"),
    (&[Kw::CONNECTION, Kw::ADMIN], "CONNECTION ADMIN"),
    (&[Kw::READ_ONLY, Kw::ADMIN], "READ_ONLY ADMIN"),
    (&[Kw::READ, Kw::ONLY, Kw::ADMIN], "READ_ONLY ADMIN"),
    (&[Kw::BINLOG, Kw::MONITOR], "BINLOG MONITOR"),
    (&[Kw::BINLOG, Kw::ADMIN], "BINLOG ADMIN"),
    (&[Kw::BINLOG, Kw::REPLAY], "BINLOG REPLAY"),
    (&[Kw::SLAVE, Kw::MONITOR], "SLAVE MONITOR"),
    (&[Kw::REPLICA, Kw::MONITOR], "SLAVE MONITOR"),
];

impl Parser<'_> {
    pub(super) fn grant(&mut self) -> SqlResult<Admin> {
        self.bump();
        let grant = if self.at(Kw::PROXY) && self.at_nth(1, Kw::ON) {
            self.bump();
            self.bump();
            let of = self.user_name()?;
            self.expect(Kw::TO)?;
            let users = self.user_specs()?;
            let grant_option = self.eat_all(&[Kw::WITH, Kw::GRANT, Kw::OPTION]);
            Grant::Proxy {
                of,
                users,
                grant_option,
            }
        } else if self.grants_role(Kw::TO) {
            let roles = self.granted_roles()?;
            self.expect(Kw::TO)?;
            let users = self.user_specs()?;
            let admin_option = self.eat(Kw::WITH);
            if admin_option {
                self.expect(Kw::ADMIN)?;
                self.expect(Kw::OPTION)?;
            }
            Grant::Role {
                roles,
                users,
                admin_option,
            }
        } else {
            self.grant_privileges()?
        };
        Ok(Admin::Grant(Box::new(grant)))
    }

    /// The roles of GRANT and REVOKE: one, in MySQL several.
    fn granted_roles(&mut self) -> SqlResult<Vec<RoleName>> {
        match is_mysql() {
            true => self.comma_separated(Self::role_name),
            false => Ok(vec![self.role_name()?]),
        }
    }

    /// True if a role is granted: a lone name that is no privilege, or that stands where a role must.
    fn grants_role(&self, behind: Kw) -> bool {
        let name = match self.peek() {
            Tok::Word(k) => !k.is_reserved() || k == Kw::CURRENT_ROLE,
            t => matches!(t, Tok::QuotedIdent | Tok::String),
        };
        name && (self.at_nth(1, behind) || self.privilege_here().is_none())
    }

    fn privilege_here(&self) -> Option<&'static (&'static [Kw], &'static str)> {
        PRIVILEGES
            .iter()
            .find(|(words, _)| words.iter().enumerate().all(|(n, w)| self.at_nth(n, *w)))
    }

    fn grant_privileges(&mut self) -> SqlResult<Grant> {
        let privileges = self.privileges()?;
        self.expect(Kw::ON)?;
        let object = self.grant_object();
        let level = self.grant_level()?;
        self.expect(Kw::TO)?;
        let users = self.user_specs()?;
        let mut options = AccountOptions {
            require: self.require_clause()?,
            ..AccountOptions::default()
        };
        let mut grant_option = false;
        if self.eat(Kw::WITH) {
            loop {
                if self.eat(Kw::GRANT) {
                    self.expect(Kw::OPTION)?;
                    grant_option = true;
                    continue;
                }
                match self.resource_limit()? {
                    Some(limit) => options.limits.push(limit),
                    None if grant_option || !options.limits.is_empty() => break,
                    None => return Err(self.error()),
                }
            }
        }
        Ok(Grant::Privileges {
            privileges,
            object,
            level,
            users,
            options,
            grant_option,
        })
    }

    fn privileges(&mut self) -> SqlResult<PrivilegeList> {
        if self.eat(Kw::ALL) {
            self.eat(Kw::PRIVILEGES);
            return Ok(PrivilegeList::All);
        }
        let list = self.comma_separated(|p| {
            let Some((words, name)) = p.privilege_here() else {
                return Err(p.privilege_error());
            };
            for _ in *words {
                p.bump();
            }
            let by_column = matches!(*name, "SELECT" | "INSERT" | "UPDATE" | "REFERENCES");
            let columns = match by_column && p.peek() == Tok::LParen {
                true => p.parenthesised(Self::ident)?,
                false => Vec::new(),
            };
            Ok(Privilege { name, columns })
        })?;
        Ok(PrivilegeList::Some(list))
    }

    /// 1064 at the first word that no privilege goes on with.
    fn privilege_error(&mut self) -> narwal_types::SqlError {
        let known = |p: &Self| {
            PRIVILEGES
                .iter()
                .any(|(words, _)| words.len() > 1 && p.at(words[0]))
        };
        if known(self) {
            self.bump();
        }
        self.error()
    }

    fn grant_object(&mut self) -> GrantObject {
        let names_it = !matches!(self.peek_at(1), Tok::Dot | Tok::Word(Kw::TO | Kw::FROM));
        if self.eat(Kw::TABLE) {
            return GrantObject::Table;
        }
        if self.eat(Kw::PROCEDURE) {
            return GrantObject::Procedure;
        }
        if names_it && self.eat(Kw::FUNCTION) {
            return GrantObject::Function;
        }
        // Packages are of Oracle's mode; elsewhere MariaDB does not know the word here.
        if names_it && self.mode.has(SqlMode::ORACLE) && self.eat(Kw::PACKAGE) {
            return match self.at(Kw::BODY) && !matches!(self.peek_at(1), Tok::Dot) {
                true => {
                    self.bump();
                    GrantObject::PackageBody
                }
                false => GrantObject::Package,
            };
        }
        GrantObject::Table
    }

    fn grant_level(&mut self) -> SqlResult<GrantLevel> {
        if self.eat_tok(Tok::Star) {
            if self.eat_tok(Tok::Dot) {
                self.expect_tok(Tok::Star)?;
                return Ok(GrantLevel::Global);
            }
            return Ok(GrantLevel::Database(None));
        }
        let first = match self.peek_at(1) {
            Tok::Dot => self.db_ident()?,
            _ => self.ident()?,
        };
        if !self.eat_tok(Tok::Dot) {
            let (db, name) = (None, first);
            return Ok(GrantLevel::Object(TableName { db, name }));
        }
        if self.eat_tok(Tok::Star) {
            return Ok(GrantLevel::Database(Some(first)));
        }
        let (db, name) = (Some(first), self.ident()?);
        Ok(GrantLevel::Object(TableName { db, name }))
    }

    pub(super) fn revoke(&mut self) -> SqlResult<Admin> {
        self.bump();
        let revoke = if self.at(Kw::PROXY) && self.at_nth(1, Kw::ON) {
            self.bump();
            self.bump();
            let of = self.user_name()?;
            self.expect(Kw::FROM)?;
            let users = self.comma_separated(Self::user_or_role)?;
            Revoke::Proxy { of, users }
        } else if self.eat_all(&[Kw::ADMIN, Kw::OPTION, Kw::FOR]) {
            self.revoke_role(true)?
        } else if self.grants_role(Kw::FROM) {
            self.revoke_role(false)?
        } else {
            self.revoke_privileges()?
        };
        Ok(Admin::Revoke(Box::new(revoke)))
    }

    fn revoke_role(&mut self, admin_option: bool) -> SqlResult<Revoke> {
        let roles = self.granted_roles()?;
        self.expect(Kw::FROM)?;
        let users = self.comma_separated(Self::user_or_role)?;
        Ok(Revoke::Role {
            roles,
            users,
            admin_option,
        })
    }

    fn revoke_privileges(&mut self) -> SqlResult<Revoke> {
        let privileges = self.privileges()?;
        if privileges == PrivilegeList::All && self.eat_tok(Tok::Comma) {
            self.expect(Kw::GRANT)?;
            self.expect(Kw::OPTION)?;
            self.expect(Kw::FROM)?;
            return Ok(Revoke::Everything(
                self.comma_separated(Self::user_or_role)?,
            ));
        }
        self.expect(Kw::ON)?;
        let object = self.grant_object();
        let level = self.grant_level()?;
        self.expect(Kw::FROM)?;
        let users = self.comma_separated(Self::user_or_role)?;
        Ok(Revoke::Privileges {
            privileges,
            object,
            level,
            users,
        })
    }
}
