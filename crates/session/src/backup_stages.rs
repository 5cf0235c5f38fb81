//! BACKUP STAGE, BACKUP LOCK and LOCK INSTANCE FOR BACKUP of a session.

use crate::backup_locks::{Changing, Name};
use crate::instance::Instance;
use crate::privileges::PrivilegeSet;
use crate::process::Stage;
use crate::read_lock::Permit;
use crate::session::ClientSession;
use crate::words::BackupLock;
use narwal_syntax::ast::admin::BackupStage;
use narwal_types::face::is_mysql;
use narwal_types::{SqlResult, errors};

/// A statement that changes definitions is under way.
pub(crate) struct Defining<'a> {
    _all: Option<Permit<'a>>,
    _tables: Changing<'a>,
}

impl ClientSession {
    /// One of these statements.
    pub(crate) fn backup_lock(&mut self, words: &BackupLock) -> SqlResult<()> {
        self.need_any(PrivilegeSet::RELOAD)?;
        match words {
            BackupLock::Stage(stage) => self.backup_stage(*stage),
            BackupLock::Table(table) => {
                let db = match &table.db {
                    Some(db) => db.clone(),
                    None => self.env.require_db()?.to_string(),
                };
                self.lock_for_backup((db, table.name.clone()))
            }
            BackupLock::Unlock => {
                self.release_backup_table();
                Ok(())
            }
            BackupLock::Instance(true) => self.lock_instance(),
            BackupLock::Instance(false) => {
                self.release_instance();
                Ok(())
            }
        }
    }

    fn backup_stage(&mut self, stage: BackupStage) -> SqlResult<()> {
        match (self.locks.backup.stage, stage) {
            (None, BackupStage::Start) => return self.start_stages(),
            (None, _) => return Err(errors::BACKUP_NOT_RUNNING.plain()),
            (Some(now), to) if to as u8 <= now as u8 => {
                return Err(errors::BACKUP_WRONG_STAGE.with([&to.name(), &now.name()]));
            }
            (Some(_), BackupStage::End) => {
                self.release_stages();
                return Ok(());
            }
            (Some(_), _) => {}
        }
        self.process.stage(Stage::WaitingForReadLock);
        let instance = self.instance.clone();
        let backup = &mut self.locks.backup;
        if stage as u8 >= BackupStage::BlockDdl as u8 && !backup.definitions {
            instance.backup_locks.definitions.close(&self.patience())?;
            self.locks.backup.definitions = true;
        }
        if stage == BackupStage::BlockCommit {
            instance.read_lock.close(&self.patience())?;
            self.locks.backup.commits = true;
            // An applier's commits have their places before they are visible.
            let db = instance.database();
            db.wait_visible(db.reserved_seq())?;
        }
        self.locks.backup.stage = Some(stage);
        Ok(())
    }

    fn start_stages(&mut self) -> SqlResult<()> {
        if self.locks.tables.is_some() {
            return Err(errors::LOCK_OR_ACTIVE_TRANSACTION.plain());
        }
        if self.locks.global_read || self.locks.backup.table.is_some() {
            return Err(errors::CANT_UPDATE_WITH_READLOCK.plain());
        }
        self.process.stage(Stage::WaitingForReadLock);
        self.instance.backup_locks.begin_stages(&self.patience())?;
        self.locks.backup.stage = Some(BackupStage::Start);
        Ok(())
    }

    fn release_stages(&mut self) {
        let backup = &mut self.locks.backup;
        if backup.stage.take().is_none() {
            return;
        }
        let (definitions, commits) = (backup.definitions, backup.commits);
        (backup.definitions, backup.commits) = (false, false);
        if commits {
            self.instance.read_lock.open();
        }
        if definitions {
            self.instance.backup_locks.definitions.open();
        }
        self.instance.backup_locks.end_stages();
    }

    fn lock_for_backup(&mut self, name: Name) -> SqlResult<()> {
        if self.locks.tables.is_some() {
            return Err(errors::LOCK_OR_ACTIVE_TRANSACTION.plain());
        }
        self.release_backup_table();
        self.process.stage(Stage::WaitingForTableLock);
        self.instance.backup_locks.lock(&name, &self.patience())?;
        self.locks.backup.table = Some(name);
        Ok(())
    }

    fn release_backup_table(&mut self) {
        if let Some(name) = self.locks.backup.table.take() {
            self.instance.backup_locks.unlock(&name);
        }
    }

    fn lock_instance(&mut self) -> SqlResult<()> {
        if self.locks.backup.instance {
            return Ok(());
        }
        self.process.stage(Stage::WaitingForReadLock);
        let locks = &self.instance.backup_locks;
        locks.definitions.close(&self.patience())?;
        if let Err(e) = locks.accounts.close(&self.patience()) {
            locks.definitions.open();
            return Err(e);
        }
        self.locks.backup.instance = true;
        Ok(())
    }

    fn release_instance(&mut self) {
        if std::mem::take(&mut self.locks.backup.instance) {
            self.instance.backup_locks.accounts.open();
            self.instance.backup_locks.definitions.open();
        }
    }

    /// Gives back all of these locks.
    pub(crate) fn release_backup_locks(&mut self) {
        self.release_stages();
        self.release_backup_table();
        self.release_instance();
    }

    /// Error 4145: the session is between BACKUP STAGE START and END.
    pub(crate) fn refuse_in_stages(&self) -> SqlResult<()> {
        match self.locks.backup.stage {
            Some(_) => Err(errors::BACKUP_LOCK_IS_ACTIVE.plain()),
            None => Ok(()),
        }
    }

    /// Error 4145, and 1223 where the session has a table locked for a backup.
    pub(crate) fn refuse_in_backup(&self) -> SqlResult<()> {
        self.refuse_in_stages()?;
        match self.locks.backup.table {
            Some(_) => Err(errors::CANT_UPDATE_WITH_READLOCK.plain()),
            None => Ok(()),
        }
    }

    /// Before a statement that changes definitions: waits for backups of other sessions. `names`: its tables; a name
    /// without a table is a database.
    pub(crate) fn enter_definition<'i>(
        &self,
        instance: &'i Instance,
        names: Vec<Name>,
    ) -> SqlResult<Defining<'i>> {
        let tables = self.enter_change(instance, names)?;
        let locks = &instance.backup_locks;
        // Who has locked the instance may change it.
        let all = match self.locks.backup.instance {
            true => None,
            false => Some(locks.definitions.enter(true, &self.patience())?),
        };
        Ok(Defining {
            _all: all,
            _tables: tables,
        })
    }

    /// Before a change of these tables' definitions: waits for those who hold BACKUP LOCK.
    pub(crate) fn enter_change<'i>(
        &self,
        instance: &'i Instance,
        names: Vec<Name>,
    ) -> SqlResult<Changing<'i>> {
        self.refuse_in_backup()?;
        instance.backup_locks.change(names, &self.patience())
    }

    /// Before a statement that changes accounts.
    pub(crate) fn enter_accounts<'i>(
        &self,
        instance: &'i Instance,
    ) -> SqlResult<Option<Permit<'i>>> {
        match self.locks.backup.instance {
            true => Ok(None),
            false => {
                let accounts = &instance.backup_locks.accounts;
                accounts.enter(true, &self.patience()).map(Some)
            }
        }
    }

    /// LOCK TABLES ... WRITE waits while definitions are to stay, but in MySQL.
    pub(crate) fn wait_for_backup(&self) -> SqlResult<()> {
        let definitions = &self.instance.backup_locks.definitions;
        match definitions.is_open() || is_mysql() {
            true => Ok(()),
            false => definitions.enter(false, &self.patience()).map(drop),
        }
    }
}
