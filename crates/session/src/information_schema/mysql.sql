-- The tables of MariaDB 10.11's schema `mysql` that tools ask for: names and types of their columns, with text in the place of ENUM and SET.
CREATE TABLE columns_priv (`Host` char(255) NOT NULL, `Db` char(64) NOT NULL, `User` char(128) NOT NULL,
  `Table_name` char(64) NOT NULL, `Column_name` char(64) NOT NULL, `Timestamp` timestamp NOT NULL,
  `Column_priv` varchar(255) NOT NULL);
CREATE TABLE db (`Host` char(255) NOT NULL, `Db` char(64) NOT NULL, `User` char(128) NOT NULL,
  `Select_priv` char(1) NOT NULL, `Insert_priv` char(1) NOT NULL, `Update_priv` char(1) NOT NULL,
  `Delete_priv` char(1) NOT NULL, `Create_priv` char(1) NOT NULL, `Drop_priv` char(1) NOT NULL,
  `Grant_priv` char(1) NOT NULL, `References_priv` char(1) NOT NULL, `Index_priv` char(1) NOT NULL,
  `Alter_priv` char(1) NOT NULL, `Create_tmp_table_priv` char(1) NOT NULL, `Lock_tables_priv` char(1) NOT NULL,
  `Create_view_priv` char(1) NOT NULL, `Show_view_priv` char(1) NOT NULL, `Create_routine_priv` char(1) NOT NULL,
  `Alter_routine_priv` char(1) NOT NULL, `Execute_priv` char(1) NOT NULL, `Event_priv` char(1) NOT NULL,
  `Trigger_priv` char(1) NOT NULL, `Delete_history_priv` char(1) NOT NULL);
CREATE TABLE event (`db` char(64) NOT NULL, `name` char(64) NOT NULL, `body` longblob NOT NULL,
  `definer` varchar(384) NOT NULL, `execute_at` datetime, `interval_value` int(11), `interval_field` varchar(32),
  `created` timestamp NOT NULL, `modified` timestamp NOT NULL, `last_executed` datetime, `starts` datetime,
  `ends` datetime, `status` varchar(32) NOT NULL, `on_completion` varchar(32) NOT NULL, `sql_mode` varchar(255) NOT NULL,
  `comment` char(64) NOT NULL, `originator` int(10) unsigned NOT NULL, `time_zone` char(64) NOT NULL,
  `character_set_client` char(32), `collation_connection` char(64), `db_collation` char(64), `body_utf8` longblob);
CREATE TABLE func (`name` char(64) NOT NULL, `ret` tinyint(1) NOT NULL, `dl` char(128) NOT NULL,
  `type` varchar(32) NOT NULL);
CREATE TABLE global_priv (`Host` char(255) NOT NULL, `User` char(128) NOT NULL, `Priv` longtext NOT NULL);
CREATE TABLE gtid_slave_pos (`domain_id` int(10) unsigned NOT NULL, `sub_id` bigint(20) unsigned NOT NULL,
  `server_id` int(10) unsigned NOT NULL, `seq_no` bigint(20) unsigned NOT NULL);
CREATE TABLE help_category (`help_category_id` smallint(5) unsigned NOT NULL, `name` char(64) NOT NULL,
  `parent_category_id` smallint(5) unsigned, `url` text NOT NULL);
CREATE TABLE help_keyword (`help_keyword_id` int(10) unsigned NOT NULL, `name` char(64) NOT NULL);
CREATE TABLE help_relation (`help_topic_id` int(10) unsigned NOT NULL, `help_keyword_id` int(10) unsigned NOT NULL);
CREATE TABLE help_topic (`help_topic_id` int(10) unsigned NOT NULL, `name` char(64) NOT NULL,
  `help_category_id` smallint(5) unsigned NOT NULL, `description` text NOT NULL, `example` text NOT NULL,
  `url` text NOT NULL);
CREATE TABLE innodb_index_stats (`database_name` varchar(64) NOT NULL, `table_name` varchar(199) NOT NULL,
  `index_name` varchar(64) NOT NULL, `last_update` timestamp NOT NULL, `stat_name` varchar(64) NOT NULL,
  `stat_value` bigint(20) unsigned NOT NULL, `sample_size` bigint(20) unsigned, `stat_description` varchar(1024) NOT NULL);
CREATE TABLE innodb_table_stats (`database_name` varchar(64) NOT NULL, `table_name` varchar(199) NOT NULL,
  `last_update` timestamp NOT NULL, `n_rows` bigint(20) unsigned NOT NULL,
  `clustered_index_size` bigint(20) unsigned NOT NULL, `sum_of_other_index_sizes` bigint(20) unsigned NOT NULL);
CREATE TABLE plugin (`name` varchar(64) NOT NULL, `dl` varchar(128) NOT NULL);
CREATE TABLE proc (`db` char(64) NOT NULL, `name` char(64) NOT NULL, `type` varchar(32) NOT NULL,
  `specific_name` char(64) NOT NULL, `language` varchar(32) NOT NULL, `sql_data_access` varchar(32) NOT NULL,
  `is_deterministic` varchar(32) NOT NULL, `security_type` varchar(32) NOT NULL, `param_list` blob NOT NULL,
  `returns` longblob NOT NULL, `body` longblob NOT NULL, `definer` varchar(384) NOT NULL, `created` timestamp NOT NULL,
  `modified` timestamp NOT NULL, `sql_mode` varchar(255) NOT NULL, `comment` text NOT NULL,
  `character_set_client` char(32), `collation_connection` char(64), `db_collation` char(64), `body_utf8` longblob,
  `aggregate` varchar(32) NOT NULL);
CREATE TABLE procs_priv (`Host` char(255) NOT NULL, `Db` char(64) NOT NULL, `User` char(128) NOT NULL,
  `Routine_name` char(64) NOT NULL, `Routine_type` varchar(32) NOT NULL, `Grantor` varchar(384) NOT NULL,
  `Proc_priv` varchar(255) NOT NULL, `Timestamp` timestamp NOT NULL);
CREATE TABLE proxies_priv (`Host` char(255) NOT NULL, `User` char(128) NOT NULL, `Proxied_host` char(255) NOT NULL,
  `Proxied_user` char(128) NOT NULL, `With_grant` tinyint(1) NOT NULL, `Grantor` varchar(384) NOT NULL,
  `Timestamp` timestamp NOT NULL);
CREATE TABLE roles_mapping (`Host` char(255) NOT NULL, `User` char(128) NOT NULL, `Role` char(128) NOT NULL,
  `Admin_option` char(1) NOT NULL);
CREATE TABLE servers (`Server_name` char(64) NOT NULL, `Host` varchar(2048) NOT NULL, `Db` char(64) NOT NULL,
  `Username` char(128) NOT NULL, `Password` char(64) NOT NULL, `Port` int(4) NOT NULL, `Socket` char(108) NOT NULL,
  `Wrapper` char(64) NOT NULL, `Owner` varchar(512) NOT NULL);
CREATE TABLE tables_priv (`Host` char(255) NOT NULL, `Db` char(64) NOT NULL, `User` char(128) NOT NULL,
  `Table_name` char(64) NOT NULL, `Grantor` varchar(384) NOT NULL, `Timestamp` timestamp NOT NULL,
  `Table_priv` varchar(255) NOT NULL, `Column_priv` varchar(255) NOT NULL);
CREATE TABLE time_zone (`Time_zone_id` int(10) unsigned NOT NULL, `Use_leap_seconds` char(1) NOT NULL);
CREATE TABLE time_zone_leap_second (`Transition_time` bigint(20) NOT NULL, `Correction` int(11) NOT NULL);
CREATE TABLE time_zone_name (`Name` char(64) NOT NULL, `Time_zone_id` int(10) unsigned NOT NULL);
CREATE TABLE time_zone_transition (`Time_zone_id` int(10) unsigned NOT NULL, `Transition_time` bigint(20) NOT NULL,
  `Transition_type_id` int(10) unsigned NOT NULL);
CREATE TABLE time_zone_transition_type (`Time_zone_id` int(10) unsigned NOT NULL,
  `Transition_type_id` int(10) unsigned NOT NULL, `Offset` int(11) NOT NULL, `Is_DST` tinyint(3) unsigned NOT NULL,
  `Abbreviation` char(8) NOT NULL);
CREATE TABLE user (`Host` char(255) NOT NULL, `User` char(128) NOT NULL, `Password` longtext, `Select_priv` varchar(1),
  `Insert_priv` varchar(1), `Update_priv` varchar(1), `Delete_priv` varchar(1), `Create_priv` varchar(1),
  `Drop_priv` varchar(1), `Reload_priv` varchar(1), `Shutdown_priv` varchar(1), `Process_priv` varchar(1),
  `File_priv` varchar(1), `Grant_priv` varchar(1), `References_priv` varchar(1), `Index_priv` varchar(1),
  `Alter_priv` varchar(1), `Show_db_priv` varchar(1), `Super_priv` varchar(1), `Create_tmp_table_priv` varchar(1),
  `Lock_tables_priv` varchar(1), `Execute_priv` varchar(1), `Repl_slave_priv` varchar(1), `Repl_client_priv` varchar(1),
  `Create_view_priv` varchar(1), `Show_view_priv` varchar(1), `Create_routine_priv` varchar(1),
  `Alter_routine_priv` varchar(1), `Create_user_priv` varchar(1), `Event_priv` varchar(1), `Trigger_priv` varchar(1),
  `Create_tablespace_priv` varchar(1), `Delete_history_priv` varchar(1), `ssl_type` varchar(9),
  `ssl_cipher` longtext NOT NULL, `x509_issuer` longtext NOT NULL, `x509_subject` longtext NOT NULL,
  `max_questions` bigint(20) unsigned NOT NULL, `max_updates` bigint(20) unsigned NOT NULL,
  `max_connections` bigint(20) unsigned NOT NULL, `max_user_connections` bigint(21) NOT NULL, `plugin` longtext NOT NULL,
  `authentication_string` longtext NOT NULL, `password_expired` varchar(1) NOT NULL, `is_role` varchar(1),
  `default_role` longtext NOT NULL, `max_statement_time` decimal(12,6) NOT NULL);
