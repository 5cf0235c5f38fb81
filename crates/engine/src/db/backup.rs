//! Beginning a backup.

use crate::Result;
use crate::backup::copy::Backup;
use crate::backup::piece::BackupOptions;
use crate::db::database::Database;

impl Database {
    /// Begins a backup. From here on the log that it needs is kept.
    ///
    /// # Errors
    /// The database is closed, or its files can't be opened.
    pub fn begin_backup(&self, options: BackupOptions) -> Result<Backup> {
        self.parts.binlog.one_log("BACKUP")?;
        Backup::begin(&self.parts, &self.engine.checkpoints, options)
    }
}
