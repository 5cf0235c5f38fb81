//! Statements that a part of the session runs, as it gets them: their words.

use narwal_engine::xa::Xid;
use narwal_sql::ParamDefault;
use narwal_syntax::ast::ExplainForm;
use narwal_syntax::ast::TableName;
use narwal_syntax::ast::admin::{BackupStage, Operand};
use narwal_syntax::ast::ddl::{CreateServer, DropObject, ServerOption};
use narwal_types::ResultColumn;

/// INSTALL and UNINSTALL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PluginWords {
    Install {
        /// INSTALL PLUGIN's name; `None` is INSTALL SONAME.
        name: Option<String>,
        library: String,
    },
    UninstallPlugin(String),
    UninstallLibrary(String),
}

/// `NO LOG`, `MAX RATE n` and the like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BackupWords {
    /// BACKUP TO: the folder.
    pub to: Option<String>,
    /// INCREMENTAL FROM: an earlier backup's folder.
    pub parent: Option<String>,
    /// NO LOG.
    pub no_log: bool,
    /// MAX RATE, in MiB per second.
    pub max_rate: Option<u64>,
    /// RESUME 'token' AFTER n.
    pub resume: Option<(String, u64)>,
}

/// The statements that keep others from changing what a backup copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BackupLock {
    /// BACKUP STAGE.
    Stage(BackupStage),
    /// BACKUP LOCK.
    Table(TableName),
    /// BACKUP UNLOCK.
    Unlock,
    /// MySQL's LOCK INSTANCE FOR BACKUP, UNLOCK INSTANCE.
    Instance(bool),
}

/// What stands behind USING.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Using {
    /// An expression.
    Value(Operand),
    /// DEFAULT or IGNORE.
    LeftOut(ParamDefault),
}

/// One of these statements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SqlPrepared {
    /// PREPARE name FROM expression.
    Prepare { name: String, from: Operand },
    /// EXECUTE name USING ...
    Execute { name: String, using: Vec<Using> },
    /// EXECUTE IMMEDIATE expression USING ...
    Immediate { from: Operand, using: Vec<Using> },
    /// DEALLOCATE PREPARE, DROP PREPARE.
    Deallocate(String),
}

impl SqlPrepared {
    /// Its status counter.
    pub(crate) fn counter(&self) -> &'static str {
        match self {
            SqlPrepared::Prepare { .. } => "Com_prepare_sql",
            SqlPrepared::Execute { .. } => "Com_execute_sql",
            SqlPrepared::Immediate { .. } => "Com_execute_immediate",
            SqlPrepared::Deallocate(_) => "Com_dealloc_sql",
        }
    }
}

/// What may stand behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum XaModifier {
    None,
    /// XA COMMIT ... ONE PHASE.
    OnePhase,
    /// XA START ... RESUME.
    Resume,
    /// XA START ... JOIN, XA END ... SUSPEND [FOR MIGRATE]: never possible.
    Other,
}

/// An XA statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum XaStatement {
    Start(Option<Xid>, XaModifier),
    End(Option<Xid>, XaModifier),
    Prepare(Option<Xid>),
    Commit(Option<Xid>, XaModifier),
    Rollback(Option<Xid>),
    /// Names as SQL writes them (true) or as bytes.
    Recover(bool),
}

impl XaStatement {
    pub(crate) fn counter(&self) -> &'static str {
        match self {
            XaStatement::Start(..) => "Com_xa_start",
            XaStatement::End(..) => "Com_xa_end",
            XaStatement::Prepare(_) => "Com_xa_prepare",
            XaStatement::Commit(..) => "Com_xa_commit",
            XaStatement::Rollback(_) => "Com_xa_rollback",
            XaStatement::Recover(_) => "Com_xa_recover",
        }
    }
}

/// Which connection's plan is to be shown, and how.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExplainConnection {
    /// SHOW ANALYZE.
    pub analyze: bool,
    /// FORMAT=JSON.
    pub json: bool,
    /// The connection's number.
    pub connection: Operand,
}

impl ExplainConnection {
    /// How the plan is shown.
    pub(crate) fn form(&self) -> ExplainForm {
        match (self.analyze, self.json) {
            (false, false) => ExplainForm::Table,
            (false, true) => ExplainForm::Json,
            (true, false) => ExplainForm::Analyze,
            (true, true) => ExplainForm::AnalyzeJson,
        }
    }

    /// The columns of the answer.
    pub(crate) fn columns(&self) -> Vec<ResultColumn> {
        let mut columns = narwal_sql::explain_columns(self.form());
        if let (true, [only]) = (self.json, columns.as_mut_slice()) {
            only.name = format!("SHOW {}", only.name);
        }
        columns
    }
}

/// A statement about servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerStatement {
    Create(CreateServer),
    Alter(String, Vec<ServerOption>),
    Drop(DropObject<String>),
}

impl ServerStatement {
    /// Its status counter.
    pub(crate) fn counter(&self) -> &'static str {
        match self {
            ServerStatement::Create(_) => "Com_create_server",
            ServerStatement::Alter(..) => "Com_alter_server",
            ServerStatement::Drop(_) => "Com_drop_server",
        }
    }
}
