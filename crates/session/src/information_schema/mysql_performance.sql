-- The tables of MySQL 8.4's performance_schema that clients ask for: names and types of their columns, with text in the
-- place of ENUM, SET and JSON.
CREATE TABLE data_locks (`ENGINE` varchar(32) NOT NULL, `ENGINE_LOCK_ID` varchar(128) NOT NULL,
  `ENGINE_TRANSACTION_ID` bigint unsigned, `THREAD_ID` bigint unsigned, `EVENT_ID` bigint unsigned,
  `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME` varchar(64), `PARTITION_NAME` varchar(64), `SUBPARTITION_NAME` varchar(64),
  `INDEX_NAME` varchar(64), `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL, `LOCK_TYPE` varchar(32) NOT NULL,
  `LOCK_MODE` varchar(32) NOT NULL, `LOCK_STATUS` varchar(32) NOT NULL, `LOCK_DATA` text);
CREATE TABLE global_status (`VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` varchar(1024));
CREATE TABLE global_variables (`VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` longtext);
CREATE TABLE keyring_keys (`KEY_ID` varchar(255) NOT NULL, `KEY_OWNER` varchar(255), `BACKEND_KEY_ID` varchar(255));
CREATE TABLE log_status (`SERVER_UUID` char(36) NOT NULL, `LOCAL` longtext NOT NULL, `REPLICATION` longtext NOT NULL,
  `STORAGE_ENGINES` longtext NOT NULL);
CREATE TABLE persisted_variables (`VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` varchar(1024));
CREATE TABLE processlist (`ID` bigint unsigned NOT NULL, `USER` varchar(32), `HOST` varchar(261), `DB` varchar(64),
  `COMMAND` varchar(16), `TIME` bigint, `STATE` varchar(64), `INFO` longtext, `EXECUTION_ENGINE` varchar(16));
CREATE TABLE replication_applier_configuration (`CHANNEL_NAME` char(64) NOT NULL, `DESIRED_DELAY` int NOT NULL,
  `PRIVILEGE_CHECKS_USER` text, `REQUIRE_ROW_FORMAT` varchar(3) NOT NULL,
  `REQUIRE_TABLE_PRIMARY_KEY_CHECK` varchar(16) NOT NULL,
  `ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE` varchar(16) NOT NULL,
  `ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE` text);
CREATE TABLE replication_applier_status (`CHANNEL_NAME` char(64) NOT NULL, `SERVICE_STATE` varchar(3) NOT NULL,
  `REMAINING_DELAY` int unsigned, `COUNT_TRANSACTIONS_RETRIES` bigint unsigned NOT NULL);
CREATE TABLE replication_applier_status_by_coordinator (`CHANNEL_NAME` char(64) NOT NULL, `THREAD_ID` bigint unsigned,
  `SERVICE_STATE` varchar(3) NOT NULL, `LAST_ERROR_NUMBER` int NOT NULL, `LAST_ERROR_MESSAGE` varchar(1024) NOT NULL,
  `LAST_ERROR_TIMESTAMP` timestamp(6) NOT NULL);
CREATE TABLE replication_applier_status_by_worker (`CHANNEL_NAME` char(64) NOT NULL, `WORKER_ID` bigint unsigned NOT NULL,
  `THREAD_ID` bigint unsigned, `SERVICE_STATE` varchar(3) NOT NULL, `LAST_ERROR_NUMBER` int NOT NULL,
  `LAST_ERROR_MESSAGE` varchar(1024) NOT NULL, `LAST_ERROR_TIMESTAMP` timestamp(6) NOT NULL);
CREATE TABLE replication_connection_configuration (`CHANNEL_NAME` char(64) NOT NULL, `HOST` char(255) NOT NULL,
  `PORT` int NOT NULL, `USER` char(32) NOT NULL, `NETWORK_INTERFACE` char(60) NOT NULL, `AUTO_POSITION` varchar(1) NOT NULL,
  `SSL_ALLOWED` varchar(7) NOT NULL, `SSL_CA_FILE` varchar(512) NOT NULL, `SSL_CA_PATH` varchar(512) NOT NULL,
  `SSL_CERTIFICATE` varchar(512) NOT NULL, `SSL_CIPHER` varchar(512) NOT NULL, `SSL_KEY` varchar(512) NOT NULL,
  `SSL_VERIFY_SERVER_CERTIFICATE` varchar(3) NOT NULL, `SSL_CRL_FILE` varchar(255) NOT NULL,
  `SSL_CRL_PATH` varchar(255) NOT NULL, `CONNECTION_RETRY_INTERVAL` int NOT NULL,
  `CONNECTION_RETRY_COUNT` bigint unsigned NOT NULL, `HEARTBEAT_INTERVAL` double(10,3) NOT NULL,
  `TLS_VERSION` varchar(255) NOT NULL, `PUBLIC_KEY_PATH` varchar(512) NOT NULL, `GET_PUBLIC_KEY` varchar(3) NOT NULL,
  `NETWORK_NAMESPACE` varchar(64) NOT NULL, `COMPRESSION_ALGORITHM` char(64) NOT NULL, `ZSTD_COMPRESSION_LEVEL` int NOT NULL,
  `TLS_CIPHERSUITES` text, `SOURCE_CONNECTION_AUTO_FAILOVER` varchar(1) NOT NULL, `GTID_ONLY` varchar(1) NOT NULL);
CREATE TABLE replication_connection_status (`CHANNEL_NAME` char(64) NOT NULL, `GROUP_NAME` char(36) NOT NULL,
  `SOURCE_UUID` char(36) NOT NULL, `THREAD_ID` bigint unsigned, `SERVICE_STATE` varchar(10) NOT NULL,
  `COUNT_RECEIVED_HEARTBEATS` bigint unsigned NOT NULL, `RECEIVED_TRANSACTION_SET` longtext NOT NULL,
  `LAST_ERROR_NUMBER` int NOT NULL, `LAST_ERROR_MESSAGE` varchar(1024) NOT NULL,
  `LAST_ERROR_TIMESTAMP` timestamp(6) NOT NULL);
CREATE TABLE replication_group_members (`CHANNEL_NAME` char(64) NOT NULL, `MEMBER_ID` char(36) NOT NULL,
  `MEMBER_HOST` char(255) NOT NULL, `MEMBER_PORT` int, `MEMBER_STATE` char(64) NOT NULL, `MEMBER_ROLE` char(64) NOT NULL,
  `MEMBER_VERSION` char(64) NOT NULL, `MEMBER_COMMUNICATION_STACK` char(64) NOT NULL);
CREATE TABLE session_account_connect_attrs (`PROCESSLIST_ID` bigint unsigned NOT NULL, `ATTR_NAME` varchar(32) NOT NULL,
  `ATTR_VALUE` varchar(1024), `ORDINAL_POSITION` int);
CREATE TABLE session_status (`VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` varchar(1024));
CREATE TABLE session_variables (`VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` longtext);
CREATE TABLE variables_info (`VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_SOURCE` varchar(16), `VARIABLE_PATH` varchar(1024),
  `MIN_VALUE` varchar(64), `MAX_VALUE` varchar(64), `SET_TIME` timestamp(6), `SET_USER` char(32), `SET_HOST` char(255));
