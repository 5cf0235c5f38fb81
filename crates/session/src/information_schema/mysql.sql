-- The tables of MariaDB 10.11's schema `mysql`. `user` is a view there.
CREATE TABLE column_stats (`db_name` varchar(64) NOT NULL, `table_name` varchar(64) NOT NULL, `column_name`
  varchar(64) NOT NULL, `min_value` varbinary(255), `max_value` varbinary(255), `nulls_ratio` decimal(12,4),
  `avg_length` decimal(12,4), `avg_frequency` decimal(12,4), `hist_size` tinyint(3) unsigned, `hist_type`
  enum('SINGLE_PREC_HB','DOUBLE_PREC_HB','JSON_HB'), `histogram` longblob, PRIMARY KEY
  (`db_name`,`table_name`,`column_name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=0 COLLATE=utf8mb3_bin COMMENT='Statistics on Columns';
CREATE TABLE columns_priv (`Host` char(255) NOT NULL DEFAULT '', `Db` char(64) NOT NULL DEFAULT '', `User` char(128)
  NOT NULL DEFAULT '', `Table_name` char(64) NOT NULL DEFAULT '', `Column_name` char(64) NOT NULL DEFAULT '',
  `Timestamp` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(), `Column_priv`
  set('Select','Insert','Update','References') COLLATE utf8mb3_general_ci NOT NULL DEFAULT '', PRIMARY KEY
  (`Host`,`Db`,`User`,`Table_name`,`Column_name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_bin COMMENT='Column privileges';
CREATE TABLE db (`Host` char(255) NOT NULL DEFAULT '', `Db` char(64) NOT NULL DEFAULT '', `User` char(128) NOT NULL
  DEFAULT '', `Select_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Insert_priv` enum('N','Y')
  COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Update_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL
  DEFAULT 'N', `Delete_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Create_priv` enum('N','Y')
  COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Drop_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT
  'N', `Grant_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `References_priv` enum('N','Y')
  COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Index_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL
  DEFAULT 'N', `Alter_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Create_tmp_table_priv`
  enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Lock_tables_priv` enum('N','Y') COLLATE
  utf8mb3_general_ci NOT NULL DEFAULT 'N', `Create_view_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT
  'N', `Show_view_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Create_routine_priv`
  enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Alter_routine_priv` enum('N','Y') COLLATE
  utf8mb3_general_ci NOT NULL DEFAULT 'N', `Execute_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N',
  `Event_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', `Trigger_priv` enum('N','Y') COLLATE
  utf8mb3_general_ci NOT NULL DEFAULT 'N', `Delete_history_priv` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL
  DEFAULT 'N', PRIMARY KEY (`Host`,`Db`,`User`), KEY `User` (`User`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_bin COMMENT='Database privileges';
CREATE TABLE event (`db` char(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '', `name` char(64) NOT NULL DEFAULT '', `body`
  longblob NOT NULL, `definer` varchar(384) COLLATE utf8mb3_bin NOT NULL DEFAULT '', `execute_at` datetime,
  `interval_value` int(11), `interval_field`
  enum('YEAR','QUARTER','MONTH','DAY','HOUR','MINUTE','WEEK','SECOND','MICROSECOND','YEAR_MONTH','DAY_HOUR','DAY_MINUTE','DAY_SECOND','HOUR_MINUTE','HOUR_SECOND','MINUTE_SECOND','DAY_MICROSECOND','HOUR_MICROSECOND','MINUTE_MICROSECOND','SECOND_MICROSECOND'),
  `created` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(), `modified` timestamp NOT NULL
  DEFAULT '0000-00-00 00:00:00', `last_executed` datetime, `starts` datetime, `ends` datetime, `status`
  enum('ENABLED','DISABLED','SLAVESIDE_DISABLED') NOT NULL DEFAULT 'ENABLED', `on_completion` enum('DROP','PRESERVE')
  NOT NULL DEFAULT 'DROP', `sql_mode`
  set('REAL_AS_FLOAT','PIPES_AS_CONCAT','ANSI_QUOTES','IGNORE_SPACE','IGNORE_BAD_TABLE_OPTIONS','ONLY_FULL_GROUP_BY','NO_UNSIGNED_SUBTRACTION','NO_DIR_IN_CREATE','POSTGRESQL','ORACLE','MSSQL','DB2','MAXDB','NO_KEY_OPTIONS','NO_TABLE_OPTIONS','NO_FIELD_OPTIONS','MYSQL323','MYSQL40','ANSI','NO_AUTO_VALUE_ON_ZERO','NO_BACKSLASH_ESCAPES','STRICT_TRANS_TABLES','STRICT_ALL_TABLES','NO_ZERO_IN_DATE','NO_ZERO_DATE','INVALID_DATES','ERROR_FOR_DIVISION_BY_ZERO','TRADITIONAL','NO_AUTO_CREATE_USER','HIGH_NOT_PRECEDENCE','NO_ENGINE_SUBSTITUTION','PAD_CHAR_TO_FULL_LENGTH','EMPTY_STRING_IS_NULL','SIMULTANEOUS_ASSIGNMENT','TIME_ROUND_FRACTIONAL')
  NOT NULL DEFAULT '', `comment` char(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '', `originator` int(10) unsigned NOT
  NULL, `time_zone` char(64) COLLATE latin1_swedish_ci NOT NULL DEFAULT 'SYSTEM', `character_set_client` char(32)
  COLLATE utf8mb3_bin, `collation_connection` char(64) COLLATE utf8mb3_bin, `db_collation` char(64) COLLATE utf8mb3_bin,
  `body_utf8` longblob, PRIMARY KEY (`db`,`name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_general_ci COMMENT='Events';
CREATE TABLE func (`name` char(64) NOT NULL DEFAULT '', `ret` tinyint(1) NOT NULL DEFAULT 0, `dl` char(128) NOT NULL
  DEFAULT '', `type` enum('function','aggregate') COLLATE utf8mb3_general_ci NOT NULL, PRIMARY KEY (`name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1
  COLLATE=utf8mb3_bin COMMENT='User defined functions';
CREATE TABLE general_log (`event_time` timestamp(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE
  current_timestamp(6), `user_host` mediumtext NOT NULL, `thread_id` bigint(21) unsigned NOT NULL, `server_id` int(10)
  unsigned NOT NULL, `command_type` varchar(64) NOT NULL, `argument` mediumtext NOT NULL) ENGINE=CSV
  COLLATE=utf8mb3_general_ci COMMENT='General log';
CREATE TABLE global_priv (`Host` char(255) NOT NULL DEFAULT '', `User` char(128) NOT NULL DEFAULT '', `Priv` longtext
  COLLATE utf8mb4_bin NOT NULL DEFAULT '{}' CHECK (json_valid(`Priv`)), PRIMARY KEY (`Host`,`User`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1
  COLLATE=utf8mb3_bin COMMENT='Users and global privileges';
CREATE TABLE gtid_slave_pos (`domain_id` int(10) unsigned NOT NULL, `sub_id` bigint(20) unsigned NOT NULL, `server_id`
  int(10) unsigned NOT NULL, `seq_no` bigint(20) unsigned NOT NULL, PRIMARY KEY (`domain_id`,`sub_id`)) ENGINE=InnoDB
  COLLATE=latin1_swedish_ci COMMENT='Replication slave GTID position';
CREATE TABLE help_category (`help_category_id` smallint(5) unsigned NOT NULL, `name` char(64) NOT NULL,
  `parent_category_id` smallint(5) unsigned, `url` text NOT NULL, PRIMARY KEY (`help_category_id`), UNIQUE KEY `name`
  (`name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=0 COLLATE=utf8mb3_general_ci COMMENT='help categories';
CREATE TABLE help_keyword (`help_keyword_id` int(10) unsigned NOT NULL, `name` char(64) NOT NULL, PRIMARY KEY
  (`help_keyword_id`), UNIQUE KEY `name` (`name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=0 COLLATE=utf8mb3_general_ci COMMENT='help keywords';
CREATE TABLE help_relation (`help_topic_id` int(10) unsigned NOT NULL, `help_keyword_id` int(10) unsigned NOT NULL,
  PRIMARY KEY (`help_keyword_id`,`help_topic_id`), KEY `help_topic_id` (`help_topic_id`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=0
  COLLATE=utf8mb3_general_ci COMMENT='keyword-topic relation';
CREATE TABLE help_topic (`help_topic_id` int(10) unsigned NOT NULL, `name` char(64) NOT NULL, `help_category_id`
  smallint(5) unsigned NOT NULL, `description` text NOT NULL, `example` text NOT NULL, `url` text NOT NULL, PRIMARY KEY
  (`help_topic_id`), UNIQUE KEY `name` (`name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=0 COLLATE=utf8mb3_general_ci COMMENT='help topics';
CREATE TABLE index_stats (`db_name` varchar(64) NOT NULL, `table_name` varchar(64) NOT NULL, `index_name` varchar(64)
  NOT NULL, `prefix_arity` int(11) unsigned NOT NULL, `avg_frequency` decimal(12,4), PRIMARY KEY
  (`db_name`,`table_name`,`index_name`,`prefix_arity`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=0 COLLATE=utf8mb3_bin COMMENT='Statistics on Indexes';
CREATE TABLE innodb_index_stats (`database_name` varchar(64) NOT NULL, `table_name` varchar(199) NOT NULL,
  `index_name` varchar(64) NOT NULL, `last_update` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE
  current_timestamp(), `stat_name` varchar(64) NOT NULL, `stat_value` bigint(20) unsigned NOT NULL, `sample_size`
  bigint(20) unsigned, `stat_description` varchar(1024) NOT NULL, PRIMARY KEY
  (`database_name`,`table_name`,`index_name`,`stat_name`)) ENGINE=InnoDB STATS_PERSISTENT=0 COLLATE=utf8mb3_bin;
CREATE TABLE innodb_table_stats (`database_name` varchar(64) NOT NULL, `table_name` varchar(199) NOT NULL,
  `last_update` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(), `n_rows` bigint(20)
  unsigned NOT NULL, `clustered_index_size` bigint(20) unsigned NOT NULL, `sum_of_other_index_sizes` bigint(20) unsigned
  NOT NULL, PRIMARY KEY (`database_name`,`table_name`)) ENGINE=InnoDB STATS_PERSISTENT=0 COLLATE=utf8mb3_bin;
CREATE TABLE plugin (`name` varchar(64) NOT NULL DEFAULT '', `dl` varchar(128) NOT NULL DEFAULT '', PRIMARY KEY
  (`name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_general_ci COMMENT='MySQL plugins';
CREATE TABLE proc (`db` char(64) COLLATE utf8mb3_bin NOT NULL DEFAULT '', `name` char(64) NOT NULL DEFAULT '', `type`
  enum('FUNCTION','PROCEDURE','PACKAGE','PACKAGE BODY') NOT NULL, `specific_name` char(64) NOT NULL DEFAULT '',
  `language` enum('SQL') NOT NULL DEFAULT 'SQL', `sql_data_access`
  enum('CONTAINS_SQL','NO_SQL','READS_SQL_DATA','MODIFIES_SQL_DATA') NOT NULL DEFAULT 'CONTAINS_SQL', `is_deterministic`
  enum('YES','NO') NOT NULL DEFAULT 'NO', `security_type` enum('INVOKER','DEFINER') NOT NULL DEFAULT 'DEFINER',
  `param_list` blob NOT NULL, `returns` longblob NOT NULL, `body` longblob NOT NULL, `definer` varchar(384) COLLATE
  utf8mb3_bin NOT NULL DEFAULT '', `created` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE
  current_timestamp(), `modified` timestamp NOT NULL DEFAULT '0000-00-00 00:00:00', `sql_mode`
  set('REAL_AS_FLOAT','PIPES_AS_CONCAT','ANSI_QUOTES','IGNORE_SPACE','IGNORE_BAD_TABLE_OPTIONS','ONLY_FULL_GROUP_BY','NO_UNSIGNED_SUBTRACTION','NO_DIR_IN_CREATE','POSTGRESQL','ORACLE','MSSQL','DB2','MAXDB','NO_KEY_OPTIONS','NO_TABLE_OPTIONS','NO_FIELD_OPTIONS','MYSQL323','MYSQL40','ANSI','NO_AUTO_VALUE_ON_ZERO','NO_BACKSLASH_ESCAPES','STRICT_TRANS_TABLES','STRICT_ALL_TABLES','NO_ZERO_IN_DATE','NO_ZERO_DATE','INVALID_DATES','ERROR_FOR_DIVISION_BY_ZERO','TRADITIONAL','NO_AUTO_CREATE_USER','HIGH_NOT_PRECEDENCE','NO_ENGINE_SUBSTITUTION','PAD_CHAR_TO_FULL_LENGTH','EMPTY_STRING_IS_NULL','SIMULTANEOUS_ASSIGNMENT','TIME_ROUND_FRACTIONAL')
  NOT NULL DEFAULT '', `comment` text COLLATE utf8mb3_bin NOT NULL, `character_set_client` char(32) COLLATE utf8mb3_bin,
  `collation_connection` char(64) COLLATE utf8mb3_bin, `db_collation` char(64) COLLATE utf8mb3_bin, `body_utf8`
  longblob, `aggregate` enum('NONE','GROUP') NOT NULL DEFAULT 'NONE', PRIMARY KEY (`db`,`name`,`type`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1
  COLLATE=utf8mb3_general_ci COMMENT='Stored Procedures';
CREATE TABLE procs_priv (`Host` char(255) NOT NULL DEFAULT '', `Db` char(64) NOT NULL DEFAULT '', `User` char(128) NOT
  NULL DEFAULT '', `Routine_name` char(64) COLLATE utf8mb3_general_ci NOT NULL DEFAULT '', `Routine_type`
  enum('FUNCTION','PROCEDURE','PACKAGE','PACKAGE BODY') NOT NULL, `Grantor` varchar(384) NOT NULL DEFAULT '',
  `Proc_priv` set('Execute','Alter Routine','Grant') COLLATE utf8mb3_general_ci NOT NULL DEFAULT '', `Timestamp`
  timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(), PRIMARY KEY
  (`Host`,`Db`,`User`,`Routine_name`,`Routine_type`), KEY `Grantor` (`Grantor`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_bin
  COMMENT='Procedure privileges';
CREATE TABLE proxies_priv (`Host` char(255) NOT NULL DEFAULT '', `User` char(128) NOT NULL DEFAULT '', `Proxied_host`
  char(255) NOT NULL DEFAULT '', `Proxied_user` char(128) NOT NULL DEFAULT '', `With_grant` tinyint(1) NOT NULL DEFAULT
  0, `Grantor` varchar(384) NOT NULL DEFAULT '', `Timestamp` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE
  current_timestamp(), PRIMARY KEY (`Host`,`User`,`Proxied_host`,`Proxied_user`), KEY `Grantor` (`Grantor`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1
  COLLATE=utf8mb3_bin COMMENT='User proxy privileges';
CREATE TABLE roles_mapping (`Host` char(255) NOT NULL DEFAULT '', `User` char(128) NOT NULL DEFAULT '', `Role`
  char(128) NOT NULL DEFAULT '', `Admin_option` enum('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', UNIQUE
  KEY `Host` (`Host`,`User`,`Role`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_bin COMMENT='Granted roles';
CREATE TABLE servers (`Server_name` char(64) NOT NULL DEFAULT '', `Host` varchar(2048) NOT NULL DEFAULT '', `Db`
  char(64) NOT NULL DEFAULT '', `Username` char(128) NOT NULL DEFAULT '', `Password` char(64) NOT NULL DEFAULT '',
  `Port` int(4) NOT NULL DEFAULT 0, `Socket` char(108) NOT NULL DEFAULT '', `Wrapper` char(64) NOT NULL DEFAULT '',
  `Owner` varchar(512) NOT NULL DEFAULT '', PRIMARY KEY (`Server_name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_general_ci
  COMMENT='MySQL Foreign Servers table';
CREATE TABLE slow_log (`start_time` timestamp(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6),
  `user_host` mediumtext NOT NULL, `query_time` time(6) NOT NULL, `lock_time` time(6) NOT NULL, `rows_sent` bigint(20)
  unsigned NOT NULL, `rows_examined` bigint(20) unsigned NOT NULL, `db` varchar(512) NOT NULL, `last_insert_id` int(11)
  NOT NULL, `insert_id` int(11) NOT NULL, `server_id` int(10) unsigned NOT NULL, `sql_text` mediumtext NOT NULL,
  `thread_id` bigint(21) unsigned NOT NULL, `rows_affected` bigint(20) unsigned NOT NULL) ENGINE=CSV
  COLLATE=utf8mb3_general_ci COMMENT='Slow log';
CREATE TABLE table_stats (`db_name` varchar(64) NOT NULL, `table_name` varchar(64) NOT NULL, `cardinality` bigint(21)
  unsigned, PRIMARY KEY (`db_name`,`table_name`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=0 COLLATE=utf8mb3_bin COMMENT='Statistics on Tables';
CREATE TABLE tables_priv (`Host` char(255) NOT NULL DEFAULT '', `Db` char(64) NOT NULL DEFAULT '', `User` char(128)
  NOT NULL DEFAULT '', `Table_name` char(64) NOT NULL DEFAULT '', `Grantor` varchar(384) NOT NULL DEFAULT '',
  `Timestamp` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(), `Table_priv`
  set('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter','Create View',
  'Show view','Trigger','Delete versioning rows') COLLATE utf8mb3_general_ci NOT NULL DEFAULT '', `Column_priv`
  set('Select','Insert','Update','References') COLLATE utf8mb3_general_ci NOT NULL DEFAULT '', PRIMARY KEY
  (`Host`,`Db`,`User`,`Table_name`), KEY `Grantor` (`Grantor`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_bin COMMENT='Table privileges';
CREATE TABLE time_zone (`Time_zone_id` int(10) unsigned NOT NULL AUTO_INCREMENT, `Use_leap_seconds` enum('Y','N') NOT
  NULL DEFAULT 'N', PRIMARY KEY (`Time_zone_id`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_general_ci COMMENT='Time zones';
CREATE TABLE time_zone_leap_second (`Transition_time` bigint(20) NOT NULL, `Correction` int(11) NOT NULL, PRIMARY KEY
  (`Transition_time`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_general_ci COMMENT='Leap seconds information for time zones';
CREATE TABLE time_zone_name (`Name` char(64) NOT NULL, `Time_zone_id` int(10) unsigned NOT NULL, PRIMARY KEY (`Name`))
  ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1 COLLATE=utf8mb3_general_ci COMMENT='Time zone names';
CREATE TABLE time_zone_transition (`Time_zone_id` int(10) unsigned NOT NULL, `Transition_time` bigint(20) NOT NULL,
  `Transition_type_id` int(10) unsigned NOT NULL, PRIMARY KEY (`Time_zone_id`,`Transition_time`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1
  COLLATE=utf8mb3_general_ci COMMENT='Time zone transitions';
CREATE TABLE time_zone_transition_type (`Time_zone_id` int(10) unsigned NOT NULL, `Transition_type_id` int(10)
  unsigned NOT NULL, `Offset` int(11) NOT NULL DEFAULT 0, `Is_DST` tinyint(3) unsigned NOT NULL DEFAULT 0,
  `Abbreviation` char(8) NOT NULL DEFAULT '', PRIMARY KEY (`Time_zone_id`,`Transition_type_id`)) ENGINE=Aria
  PAGE_CHECKSUM=1 TRANSACTIONAL=1
  COLLATE=utf8mb3_general_ci COMMENT='Time zone transition types';
CREATE TABLE transaction_registry (`transaction_id` bigint(20) unsigned NOT NULL, `commit_id` bigint(20) unsigned NOT
  NULL, `begin_timestamp` timestamp(6) NOT NULL DEFAULT '0000-00-00 00:00:00.000000', `commit_timestamp` timestamp(6)
  NOT NULL DEFAULT '0000-00-00 00:00:00.000000', `isolation_level`
  enum('READ-UNCOMMITTED','READ-COMMITTED','REPEATABLE-READ','SERIALIZABLE') NOT NULL, PRIMARY KEY (`transaction_id`),
  UNIQUE KEY `commit_id` (`commit_id`), KEY `begin_timestamp` (`begin_timestamp`), KEY `commit_timestamp`
  (`commit_timestamp`,`transaction_id`)) ENGINE=InnoDB STATS_PERSISTENT=0 COLLATE=utf8mb3_bin;
CREATE TABLE user (`Host` char(255) COLLATE utf8mb3_bin NOT NULL DEFAULT '', `User` char(128) COLLATE utf8mb3_bin NOT
  NULL DEFAULT '', `Password` longtext COLLATE utf8mb4_bin, `Select_priv` varchar(1) COLLATE latin1_swedish_ci,
  `Insert_priv` varchar(1) COLLATE latin1_swedish_ci, `Update_priv` varchar(1) COLLATE latin1_swedish_ci, `Delete_priv`
  varchar(1) COLLATE latin1_swedish_ci, `Create_priv` varchar(1) COLLATE latin1_swedish_ci, `Drop_priv` varchar(1)
  COLLATE latin1_swedish_ci, `Reload_priv` varchar(1) COLLATE latin1_swedish_ci, `Shutdown_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Process_priv` varchar(1) COLLATE latin1_swedish_ci, `File_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Grant_priv` varchar(1) COLLATE latin1_swedish_ci, `References_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Index_priv` varchar(1) COLLATE latin1_swedish_ci, `Alter_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Show_db_priv` varchar(1) COLLATE latin1_swedish_ci, `Super_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Create_tmp_table_priv` varchar(1) COLLATE latin1_swedish_ci, `Lock_tables_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Execute_priv` varchar(1) COLLATE latin1_swedish_ci, `Repl_slave_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Repl_client_priv` varchar(1) COLLATE latin1_swedish_ci, `Create_view_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Show_view_priv` varchar(1) COLLATE latin1_swedish_ci, `Create_routine_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Alter_routine_priv` varchar(1) COLLATE latin1_swedish_ci, `Create_user_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Event_priv` varchar(1) COLLATE latin1_swedish_ci, `Trigger_priv` varchar(1) COLLATE
  latin1_swedish_ci, `Create_tablespace_priv` varchar(1) COLLATE latin1_swedish_ci, `Delete_history_priv` varchar(1)
  COLLATE latin1_swedish_ci, `ssl_type` varchar(9) COLLATE latin1_swedish_ci, `ssl_cipher` longtext COLLATE utf8mb4_bin
  NOT NULL DEFAULT '', `x509_issuer` longtext COLLATE utf8mb4_bin NOT NULL DEFAULT '', `x509_subject` longtext COLLATE
  utf8mb4_bin NOT NULL DEFAULT '', `max_questions` bigint(20) unsigned NOT NULL DEFAULT '0', `max_updates` bigint(20)
  unsigned NOT NULL DEFAULT '0', `max_connections` bigint(20) unsigned NOT NULL DEFAULT '0', `max_user_connections`
  bigint(21) NOT NULL DEFAULT '0', `plugin` longtext COLLATE utf8mb4_bin NOT NULL DEFAULT '', `authentication_string`
  longtext COLLATE utf8mb4_bin NOT NULL DEFAULT '', `password_expired` varchar(1) COLLATE latin1_swedish_ci NOT NULL
  DEFAULT '', `is_role` varchar(1) COLLATE latin1_swedish_ci, `default_role` longtext COLLATE utf8mb4_bin NOT NULL
  DEFAULT '', `max_statement_time` decimal(12,6) NOT NULL DEFAULT '0.000000') COMMENT='VIEW';
