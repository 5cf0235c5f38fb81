//! What a system variable is: the form of one row of the table.

use super::parts::{ServerParts, SessionParts, SessionView};
use super::value::VarValue;
use crate::privileges::PrivilegeSet;
use crate::replica::filter::FilterList;
use crate::settings::Settings;
use narwal_engine::{BinlogFilter, Database, Options};
use narwal_types::errors::{ErrorKind, codes};
use narwal_types::{SqlError, SqlResult};

/// Where a variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// A global value that new sessions start with, and a session value.
    Both,
    /// Session only.
    Session,
}

/// A variable's type and range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// ON or OFF.
    Bool,
    /// An unsigned integer from the first to the second bound, rounded down to a multiple of the third.
    UInt(u64, u64, u64),
    /// A floating-point number within bounds.
    Double(f64, f64),
    /// One of these names.
    Enum(&'static [&'static str]),
    /// Any of these names.
    Set(&'static [&'static str]),
    /// Each of these names is on or off: `name=on`.
    Flags(&'static [&'static str]),
    /// Free text.
    Text,
    /// A set of SQL modes.
    SqlMode,
    /// A character set's name.
    Charset,
    /// A collation's name.
    Collation,
    /// A time zone: `SYSTEM` or an offset.
    TimeZone,
    /// A storage engine's name.
    Engine,
    /// A language of names of months and days.
    Locale,
}

/// What a variable does in Narwal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Has its effect, at run time.
    Live,
    /// Has its effect when given at start (or states a fact); can't be changed at run time (error 1238).
    Startup,
    /// Can't be set at all; its value is made when asked for.
    Computed,
    /// Session state that can be set (`timestamp`, `last_insert_id`).
    State,
    /// Accepted for compatibility; a change has no effect and gives a warning that says so.
    Inert,
    /// Only its default can be set: another value would ask for something that Narwal does not have (error 1235).
    Fixed,
}

/// What the command line does with a variable that is not simply given its value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AtStart {
    /// It gets its value.
    Value,
    /// Given on its own or ON it does nothing but leave this warning.
    Ignored(&'static str),
    /// Only its default can be given; the text says why.
    Refused(&'static str),
    /// What is given is put behind what was given before, with this character between.
    Appended(char),
    /// Given once for each name, since a name may have a comma in it.
    Names(fn(&mut BinlogFilter) -> &mut Vec<String>),
}

/// The variable that has to change with another one, and its new value.
pub(crate) type Twin = (&'static str, VarValue);

/// Reads and puts back a variable's own state, around a statement with settings of its own.
pub(crate) type Kept = (fn(&dyn SessionParts) -> u64, fn(&mut dyn SessionParts, u64));

/// Options of the store from the values of several variables.
pub(crate) type OptionsOf = fn(&mut Options, &dyn Fn(&str) -> VarValue);

/// The variable that changes with another, from the new value.
pub(crate) type TwinOf = fn(&VarValue) -> SqlResult<Twin>;

/// What happens before a session gets a value.
pub(crate) type Before = fn(&mut dyn SessionParts, &VarValue) -> SqlResult<()>;

/// Whether a variable may be set now.
pub(crate) type Allowed = fn(&dyn SessionParts, bool) -> SqlResult<()>;

/// Whether a variable may have a value.
pub(crate) type Check = fn(&dyn SessionParts, &VarValue) -> SqlResult<()>;

/// The form in which a value is kept.
pub(crate) type Normal = fn(&dyn SessionParts, &VarValue) -> SqlResult<VarValue>;

/// Sets state that is not a setting.
pub(crate) type Assign = fn(&mut dyn SessionParts, Option<&VarValue>) -> SqlResult<()>;

/// Whether the command line may give a value.
pub(crate) type CheckOption = fn(&VarValue) -> Result<(), String>;

/// The hooks of a row: all that is particular about a variable. Each has a builder below.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hooks {
    pub alias_of: Option<&'static str>,
    pub mysql_name: Option<&'static str>,
    pub mysql_default: Option<&'static str>,
    pub twin: Option<TwinOf>,
    pub session: Option<fn(&mut Settings, &VarValue)>,
    pub before: Option<Before>,
    pub global: Option<fn(&dyn ServerParts, &VarValue)>,
    pub from_start: bool,
    pub option: Option<fn(&mut Options, &VarValue)>,
    pub options: Option<OptionsOf>,
    pub read: Option<fn(&dyn ServerParts) -> VarValue>,
    pub read_session: Option<fn(&dyn SessionView) -> VarValue>,
    pub read_in_any_scope: bool,
    pub allowed: Option<Allowed>,
    pub check: Option<Check>,
    pub normal: Option<Normal>,
    pub assign: Option<Assign>,
    pub kept: Option<Kept>,
    pub no_default: bool,
    pub takes_null: bool,
    pub null_default: bool,
    pub global_is_1238: bool,
    pub plans_depend_on: bool,
    pub for_one_statement: bool,
    pub filter: Option<FilterList>,
    pub at_start: AtStart,
    pub check_option: Option<CheckOption>,
    pub works_if: Option<fn(&Database) -> bool>,
    /// Whether a part of such a value has no effect: a warning says so.
    pub idle: Option<fn(&VarValue) -> bool>,
    pub inert: Option<&'static str>,
    pub inside: Inside,
}

/// What SET of a session's variable does in functions and triggers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inside {
    /// It holds on in the session.
    Session,
    /// It ends with the program, which has a value of its own from its creation.
    Program,
    /// This error.
    Refused(ErrorKind<0>),
}

/// A system variable.
#[derive(Debug, Clone, Copy)]
pub struct VariableDef {
    /// Name in lower case.
    pub name: &'static str,
    /// Scope.
    pub scope: Scope,
    /// Type.
    pub kind: Kind,
    /// Default as text.
    pub default: &'static str,
    /// What it does.
    pub effect: Effect,
    /// What it is for, in one sentence.
    pub doc: &'static str,
    /// One of these privileges (or SUPER) is needed to set the global value.
    pub needs: PrivilegeSet,
    /// One of these privileges is needed to set the session value; none if empty.
    pub session_needs: PrivilegeSet,
    pub(crate) hooks: Hooks,
}

/// A row of the table; its builders add what is particular about it.
pub(super) const fn row(
    name: &'static str,
    scope: Scope,
    kind: Kind,
    default: &'static str,
    effect: Effect,
    doc: &'static str,
) -> VariableDef {
    VariableDef {
        name,
        scope,
        kind,
        default,
        effect,
        doc,
        needs: PrivilegeSet::SUPER,
        session_needs: PrivilegeSet::NONE,
        hooks: Hooks {
            alias_of: None,
            mysql_name: None,
            mysql_default: None,
            twin: None,
            session: None,
            before: None,
            global: None,
            from_start: false,
            option: None,
            options: None,
            read: None,
            read_session: None,
            read_in_any_scope: false,
            allowed: None,
            check: None,
            normal: None,
            assign: None,
            kept: None,
            no_default: false,
            takes_null: false,
            null_default: false,
            global_is_1238: false,
            plans_depend_on: true,
            for_one_statement: true,
            filter: None,
            at_start: AtStart::Value,
            check_option: None,
            works_if: None,
            idle: None,
            inert: None,
            inside: Inside::Session,
        },
    }
}

/// Rows that stand in a line each: name, scope, type, default, effect, sentence; then what is particular about it.
macro_rules! rows {
    ($($name:literal $scope:ident $kind:expr, $default:literal $effect:ident $doc:literal
        $(.$builder:ident($($arg:expr),*))*;)*) => {
        &[$(row($name, $scope, $kind, $default, $effect, $doc)$(.$builder($($arg),*))*),*]
    };
}
pub(super) use rows;

/// A row of a variable that is kept without effect: clients and scripts that set it go on.
pub(super) const fn inert(
    name: &'static str,
    scope: Scope,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> VariableDef {
    row(name, scope, kind, default, Effect::Inert, doc)
}

/// Builders of what a row is and who may set it.
impl VariableDef {
    /// One of these privileges, or SUPER, is needed for the global value.
    pub(super) const fn needs(mut self, p: PrivilegeSet) -> Self {
        self.needs = PrivilegeSet::SUPER.with(p);
        self
    }

    /// As [`VariableDef::needs`], but SUPER does not do.
    pub(super) const fn needs_exactly(mut self, p: PrivilegeSet) -> Self {
        self.needs = p;
        self
    }

    /// One of these privileges, or SUPER, is needed for the session value.
    pub(super) const fn session_needs(mut self, p: PrivilegeSet) -> Self {
        self.session_needs = PrivilegeSet::SUPER.with(p);
        self
    }

    /// Another name of a variable, which holds the value.
    pub(super) const fn is(mut self, name: &'static str) -> Self {
        self.hooks.alias_of = Some(name);
        self
    }

    /// MySQL's name of it.
    pub(super) const fn mysql(mut self, name: &'static str) -> Self {
        self.hooks.mysql_name = Some(name);
        self
    }

    /// The default under MySQL's face.
    pub(super) const fn mysql_default(mut self, default: &'static str) -> Self {
        self.hooks.mysql_default = Some(default);
        self
    }

    /// DEFAULT can't be set.
    pub(super) const fn no_default(mut self) -> Self {
        self.hooks.no_default = true;
        self
    }

    /// It may be NULL.
    pub(super) const fn takes_null(mut self) -> Self {
        self.hooks.takes_null = true;
        self
    }

    /// It is NULL until it is set.
    pub(super) const fn null(mut self) -> Self {
        self.hooks.null_default = true;
        self.takes_null()
    }

    /// SET GLOBAL of it is error 1238, not 1228.
    pub(super) const fn global_is_1238(mut self) -> Self {
        self.hooks.global_is_1238 = true;
        self
    }

    /// It is often set between statements, and no plan looks at it.
    pub(super) const fn no_plan(mut self) -> Self {
        self.hooks.plans_depend_on = false;
        self
    }

    /// SET STATEMENT can't have it (error 1971): it decides about a transaction or the connection.
    pub(super) const fn not_for_one_statement(mut self) -> Self {
        self.hooks.for_one_statement = false;
        self
    }

    /// A stored program has its own value, from its creation. Set in functions and triggers, it ends with them.
    pub(super) const fn of_programs(mut self) -> Self {
        self.hooks.inside = Inside::Program;
        self
    }

    /// The error of SET in functions and triggers.
    pub(super) const fn not_inside(mut self, e: ErrorKind<0>) -> Self {
        self.hooks.inside = Inside::Refused(e);
        self
    }

    /// Whether it may be set now; true is for SET GLOBAL. Asked after scope and privileges.
    pub(super) const fn allowed(mut self, f: fn(&dyn SessionParts, bool) -> SqlResult<()>) -> Self {
        self.hooks.allowed = Some(f);
        self
    }

    /// Whether it may have this value. Asked before anything is set.
    pub(super) const fn check(
        mut self,
        f: fn(&dyn SessionParts, &VarValue) -> SqlResult<()>,
    ) -> Self {
        self.hooks.check = Some(f);
        self
    }

    /// The form in which a value is kept.
    pub(super) const fn normal(
        mut self,
        f: fn(&dyn SessionParts, &VarValue) -> SqlResult<VarValue>,
    ) -> Self {
        self.hooks.normal = Some(f);
        self
    }
}

/// Builders of what setting a variable does.
impl VariableDef {
    /// What a session's value means for its statements.
    pub(super) const fn session(mut self, f: fn(&mut Settings, &VarValue)) -> Self {
        self.hooks.session = Some(f);
        self
    }

    /// What happens right before a session gets a new value.
    pub(super) const fn before(
        mut self,
        f: fn(&mut dyn SessionParts, &VarValue) -> SqlResult<()>,
    ) -> Self {
        self.hooks.before = Some(f);
        self
    }

    /// What a new global value does at once.
    pub(super) const fn global(mut self, f: fn(&dyn ServerParts, &VarValue)) -> Self {
        self.hooks.global = Some(f);
        self
    }

    /// As [`VariableDef::global`], and the start of the server does it too.
    pub(super) const fn global_from_start(mut self, f: fn(&dyn ServerParts, &VarValue)) -> Self {
        self.hooks.from_start = true;
        self.global(f)
    }

    /// The variable that changes with it.
    pub(super) const fn twin(mut self, f: fn(&VarValue) -> SqlResult<Twin>) -> Self {
        self.hooks.twin = Some(f);
        self
    }

    /// The option of the store that it is, at start.
    pub(super) const fn option(mut self, f: fn(&mut Options, &VarValue)) -> Self {
        self.hooks.option = Some(f);
        self
    }

    /// Options of the store that it gives together with other variables, at start.
    pub(super) const fn options(mut self, f: OptionsOf) -> Self {
        self.hooks.options = Some(f);
        self
    }

    /// What the command line does with it.
    pub(super) const fn at_start(mut self, at_start: AtStart) -> Self {
        self.hooks.at_start = at_start;
        self
    }

    /// Whether the command line may give this value; the error is a sentence for the person at the terminal.
    pub(super) const fn check_option(mut self, f: fn(&VarValue) -> Result<(), String>) -> Self {
        self.hooks.check_option = Some(f);
        self
    }

    /// It is one of a connection's filters.
    pub(super) const fn filter(mut self, list: FilterList) -> Self {
        self.hooks.filter = Some(list);
        self
    }

    /// State that is not a setting: sets it, `None` is DEFAULT.
    pub(super) const fn assign(
        mut self,
        f: fn(&mut dyn SessionParts, Option<&VarValue>) -> SqlResult<()>,
    ) -> Self {
        self.hooks.assign = Some(f);
        self
    }

    /// How SET STATEMENT keeps such state and puts it back.
    pub(super) const fn kept(
        mut self,
        keep: fn(&dyn SessionParts) -> u64,
        put_back: fn(&mut dyn SessionParts, u64),
    ) -> Self {
        self.hooks.kept = Some((keep, put_back));
        self
    }

    /// It has an effect after all in such a database.
    pub(super) const fn works_if(mut self, f: fn(&Database) -> bool) -> Self {
        self.hooks.works_if = Some(f);
        self
    }

    /// A part of such a value has no effect.
    pub(super) const fn idle_if(mut self, f: fn(&VarValue) -> bool) -> Self {
        self.hooks.idle = Some(f);
        self
    }

    /// What is said instead of the usual sentence when it is set without effect.
    pub(super) const fn inert(mut self, text: &'static str) -> Self {
        self.hooks.inert = Some(text);
        self
    }
}

/// Builders of how a variable is read, if its value is not stored.
impl VariableDef {
    /// The global value.
    pub(super) const fn read(mut self, f: fn(&dyn ServerParts) -> VarValue) -> Self {
        self.hooks.read = Some(f);
        self
    }

    /// The session's value.
    pub(super) const fn read_session(mut self, f: fn(&dyn SessionView) -> VarValue) -> Self {
        self.hooks.read_session = Some(f);
        self
    }

    /// The value in both scopes, as a session sees it.
    pub(super) const fn read_in_any_scope(mut self, f: fn(&dyn SessionView) -> VarValue) -> Self {
        self.hooks.read_in_any_scope = true;
        self.read_session(f)
    }
}

impl VariableDef {
    /// Whether there is such a value that can be set at all.
    pub(crate) fn check_scope(&self, global: bool) -> SqlResult<()> {
        let name = self.name;
        let (code, text) = if matches!(self.effect, Effect::Computed | Effect::Startup) {
            (
                codes::INCORRECT_GLOBAL_LOCAL_VAR,
                format!("Variable '{name}' is a read only variable"),
            )
        } else if global && self.hooks.global_is_1238 {
            (
                codes::INCORRECT_GLOBAL_LOCAL_VAR,
                format!("Variable '{name}' is a SESSION variable"),
            )
        } else if global && !self.has_global() {
            (
                codes::LOCAL_VARIABLE,
                format!(
                    "Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL"
                ),
            )
        } else if !global && !self.has_session() {
            (
                codes::GLOBAL_VARIABLE,
                format!("Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL"),
            )
        } else {
            return Ok(());
        };
        Err(SqlError::new(code, b"HY000", text))
    }

    /// True if there is a global value.
    pub fn has_global(&self) -> bool {
        self.scope != Scope::Session
    }

    /// True if there is a session value.
    pub fn has_session(&self) -> bool {
        self.scope != Scope::Global
    }

    /// True if its global value has an effect beyond the sessions that begin with it: there is one for all faces.
    pub(crate) fn steers_the_server(&self) -> bool {
        self.hooks.global.is_some() || self.hooks.option.is_some() || self.hooks.options.is_some()
    }

    /// The names under which lists of variables show it. Under MySQL's face that is MySQL's too; of semi-synchronous
    /// replication MySQL's alone, since a tool that finds either form works with it.
    pub(crate) fn shown_names(&self) -> impl Iterator<Item = &'static str> {
        let mysqls = self.hooks.mysql_name;
        let shown = mysqls.filter(|_| narwal_types::face::is_mysql());
        let own = shown.is_none() || !self.name.starts_with("rpl_semi_sync");
        own.then_some(self.name).into_iter().chain(shown)
    }

    /// Its name as an option of the command line, without the dashes before it.
    pub(crate) fn option_name(&self) -> String {
        self.name.replace('_', "-")
    }

    /// What is said when it is changed without effect.
    pub(crate) fn inert_text(&self) -> String {
        match self.hooks.inert {
            Some(text) => text.into(),
            None => format!("{} has no effect in Narwal", self.name),
        }
    }
}
