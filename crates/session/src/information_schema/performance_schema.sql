-- The tables of MariaDB 10.11's schema `performance_schema`: names and types of their columns.
CREATE TABLE accounts (`USER` char(128), `HOST` char(255), `CURRENT_CONNECTIONS` bigint(20) NOT NULL,
  `TOTAL_CONNECTIONS` bigint(20) NOT NULL);
CREATE TABLE cond_instances (`NAME` varchar(128) NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL);
CREATE TABLE events_stages_current (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT NULL,
  `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `WORK_COMPLETED` bigint(20)
  unsigned, `WORK_ESTIMATED` bigint(20) unsigned, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'));
CREATE TABLE events_stages_history (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT NULL,
  `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `WORK_COMPLETED` bigint(20)
  unsigned, `WORK_ESTIMATED` bigint(20) unsigned, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'));
CREATE TABLE events_stages_history_long (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT
  NULL, `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `WORK_COMPLETED` bigint(20)
  unsigned, `WORK_ESTIMATED` bigint(20) unsigned, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'));
CREATE TABLE events_stages_summary_by_account_by_event_name (`USER` char(128), `HOST` char(255), `EVENT_NAME`
  varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL);
CREATE TABLE events_stages_summary_by_host_by_event_name (`HOST` char(255), `EVENT_NAME` varchar(128) NOT NULL,
  `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL);
CREATE TABLE events_stages_summary_by_thread_by_event_name (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_NAME`
  varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL);
CREATE TABLE events_stages_summary_by_user_by_event_name (`USER` char(128), `EVENT_NAME` varchar(128) NOT NULL,
  `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL);
CREATE TABLE events_stages_summary_global_by_event_name (`EVENT_NAME` varchar(128) NOT NULL, `COUNT_STAR` bigint(20)
  unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL);
CREATE TABLE events_statements_current (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT
  NULL, `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `LOCK_TIME` bigint(20)
  unsigned NOT NULL, `SQL_TEXT` longtext, `DIGEST` varchar(32), `DIGEST_TEXT` longtext, `CURRENT_SCHEMA` varchar(64),
  `OBJECT_TYPE` varchar(64), `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME` varchar(64), `OBJECT_INSTANCE_BEGIN`
  bigint(20) unsigned, `MYSQL_ERRNO` int(11), `RETURNED_SQLSTATE` varchar(5), `MESSAGE_TEXT` varchar(128), `ERRORS`
  bigint(20) unsigned NOT NULL, `WARNINGS` bigint(20) unsigned NOT NULL, `ROWS_AFFECTED` bigint(20) unsigned NOT NULL,
  `ROWS_SENT` bigint(20) unsigned NOT NULL, `ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `CREATED_TMP_DISK_TABLES`
  bigint(20) unsigned NOT NULL, `CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SELECT_FULL_JOIN` bigint(20)
  unsigned NOT NULL, `SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SELECT_RANGE` bigint(20) unsigned NOT
  NULL, `SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SELECT_SCAN` bigint(20) unsigned NOT NULL,
  `SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SORT_RANGE` bigint(20) unsigned NOT NULL, `SORT_ROWS` bigint(20)
  unsigned NOT NULL, `SORT_SCAN` bigint(20) unsigned NOT NULL, `NO_INDEX_USED` bigint(20) unsigned NOT NULL,
  `NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'), `NESTING_EVENT_LEVEL` int(11));
CREATE TABLE events_statements_history (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT
  NULL, `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `LOCK_TIME` bigint(20)
  unsigned NOT NULL, `SQL_TEXT` longtext, `DIGEST` varchar(32), `DIGEST_TEXT` longtext, `CURRENT_SCHEMA` varchar(64),
  `OBJECT_TYPE` varchar(64), `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME` varchar(64), `OBJECT_INSTANCE_BEGIN`
  bigint(20) unsigned, `MYSQL_ERRNO` int(11), `RETURNED_SQLSTATE` varchar(5), `MESSAGE_TEXT` varchar(128), `ERRORS`
  bigint(20) unsigned NOT NULL, `WARNINGS` bigint(20) unsigned NOT NULL, `ROWS_AFFECTED` bigint(20) unsigned NOT NULL,
  `ROWS_SENT` bigint(20) unsigned NOT NULL, `ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `CREATED_TMP_DISK_TABLES`
  bigint(20) unsigned NOT NULL, `CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SELECT_FULL_JOIN` bigint(20)
  unsigned NOT NULL, `SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SELECT_RANGE` bigint(20) unsigned NOT
  NULL, `SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SELECT_SCAN` bigint(20) unsigned NOT NULL,
  `SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SORT_RANGE` bigint(20) unsigned NOT NULL, `SORT_ROWS` bigint(20)
  unsigned NOT NULL, `SORT_SCAN` bigint(20) unsigned NOT NULL, `NO_INDEX_USED` bigint(20) unsigned NOT NULL,
  `NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'), `NESTING_EVENT_LEVEL` int(11));
CREATE TABLE events_statements_history_long (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned
  NOT NULL, `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64),
  `TIMER_START` bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `LOCK_TIME`
  bigint(20) unsigned NOT NULL, `SQL_TEXT` longtext, `DIGEST` varchar(32), `DIGEST_TEXT` longtext, `CURRENT_SCHEMA`
  varchar(64), `OBJECT_TYPE` varchar(64), `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME` varchar(64),
  `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned, `MYSQL_ERRNO` int(11), `RETURNED_SQLSTATE` varchar(5), `MESSAGE_TEXT`
  varchar(128), `ERRORS` bigint(20) unsigned NOT NULL, `WARNINGS` bigint(20) unsigned NOT NULL, `ROWS_AFFECTED`
  bigint(20) unsigned NOT NULL, `ROWS_SENT` bigint(20) unsigned NOT NULL, `ROWS_EXAMINED` bigint(20) unsigned NOT
  NULL, `CREATED_TMP_DISK_TABLES` bigint(20) unsigned NOT NULL, `CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL,
  `SELECT_FULL_JOIN` bigint(20) unsigned NOT NULL, `SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL,
  `SELECT_RANGE` bigint(20) unsigned NOT NULL, `SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SELECT_SCAN`
  bigint(20) unsigned NOT NULL, `SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SORT_RANGE` bigint(20) unsigned NOT
  NULL, `SORT_ROWS` bigint(20) unsigned NOT NULL, `SORT_SCAN` bigint(20) unsigned NOT NULL, `NO_INDEX_USED` bigint(20)
  unsigned NOT NULL, `NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL, `NESTING_EVENT_ID` bigint(20) unsigned,
  `NESTING_EVENT_TYPE` enum('TRANSACTION','STATEMENT','STAGE','WAIT'), `NESTING_EVENT_LEVEL` int(11));
CREATE TABLE events_statements_summary_by_account_by_event_name (`USER` char(128), `HOST` char(255), `EVENT_NAME`
  varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `SUM_LOCK_TIME` bigint(20) unsigned NOT NULL, `SUM_ERRORS` bigint(20) unsigned NOT
  NULL, `SUM_WARNINGS` bigint(20) unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint(20) unsigned NOT NULL, `SUM_ROWS_SENT`
  bigint(20) unsigned NOT NULL, `SUM_ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES`
  bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_JOIN`
  bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE`
  bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SUM_SELECT_SCAN` bigint(20)
  unsigned NOT NULL, `SUM_SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SUM_SORT_RANGE` bigint(20) unsigned NOT
  NULL, `SUM_SORT_ROWS` bigint(20) unsigned NOT NULL, `SUM_SORT_SCAN` bigint(20) unsigned NOT NULL,
  `SUM_NO_INDEX_USED` bigint(20) unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_digest (`SCHEMA_NAME` varchar(64), `DIGEST` varchar(32), `DIGEST_TEXT`
  longtext, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `SUM_LOCK_TIME` bigint(20) unsigned NOT NULL, `SUM_ERRORS` bigint(20) unsigned NOT NULL, `SUM_WARNINGS`
  bigint(20) unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint(20) unsigned NOT NULL, `SUM_ROWS_SENT` bigint(20) unsigned
  NOT NULL, `SUM_ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint(20) unsigned NOT
  NULL, `SUM_CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SUM_SELECT_SCAN` bigint(20) unsigned NOT NULL,
  `SUM_SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SUM_SORT_RANGE` bigint(20) unsigned NOT NULL, `SUM_SORT_ROWS`
  bigint(20) unsigned NOT NULL, `SUM_SORT_SCAN` bigint(20) unsigned NOT NULL, `SUM_NO_INDEX_USED` bigint(20) unsigned
  NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL, `FIRST_SEEN` timestamp NOT NULL, `LAST_SEEN`
  timestamp NOT NULL);
CREATE TABLE events_statements_summary_by_host_by_event_name (`HOST` char(255), `EVENT_NAME` varchar(128) NOT NULL,
  `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `SUM_LOCK_TIME` bigint(20) unsigned NOT NULL, `SUM_ERRORS` bigint(20) unsigned NOT NULL, `SUM_WARNINGS`
  bigint(20) unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint(20) unsigned NOT NULL, `SUM_ROWS_SENT` bigint(20) unsigned
  NOT NULL, `SUM_ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint(20) unsigned NOT
  NULL, `SUM_CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SUM_SELECT_SCAN` bigint(20) unsigned NOT NULL,
  `SUM_SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SUM_SORT_RANGE` bigint(20) unsigned NOT NULL, `SUM_SORT_ROWS`
  bigint(20) unsigned NOT NULL, `SUM_SORT_SCAN` bigint(20) unsigned NOT NULL, `SUM_NO_INDEX_USED` bigint(20) unsigned
  NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_program (`OBJECT_TYPE`
  enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER'), `OBJECT_SCHEMA` varchar(64) NOT NULL, `OBJECT_NAME`
  varchar(64) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `COUNT_STATEMENTS` bigint(20) unsigned NOT NULL, `SUM_STATEMENTS_WAIT` bigint(20)
  unsigned NOT NULL, `MIN_STATEMENTS_WAIT` bigint(20) unsigned NOT NULL, `AVG_STATEMENTS_WAIT` bigint(20) unsigned NOT
  NULL, `MAX_STATEMENTS_WAIT` bigint(20) unsigned NOT NULL, `SUM_LOCK_TIME` bigint(20) unsigned NOT NULL, `SUM_ERRORS`
  bigint(20) unsigned NOT NULL, `SUM_WARNINGS` bigint(20) unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint(20) unsigned
  NOT NULL, `SUM_ROWS_SENT` bigint(20) unsigned NOT NULL, `SUM_ROWS_EXAMINED` bigint(20) unsigned NOT NULL,
  `SUM_CREATED_TMP_DISK_TABLES` bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_FULL_JOIN` bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_RANGE` bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_SCAN` bigint(20) unsigned NOT NULL, `SUM_SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL,
  `SUM_SORT_RANGE` bigint(20) unsigned NOT NULL, `SUM_SORT_ROWS` bigint(20) unsigned NOT NULL, `SUM_SORT_SCAN`
  bigint(20) unsigned NOT NULL, `SUM_NO_INDEX_USED` bigint(20) unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint(20)
  unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_thread_by_event_name (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_NAME`
  varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `SUM_LOCK_TIME` bigint(20) unsigned NOT NULL, `SUM_ERRORS` bigint(20) unsigned NOT
  NULL, `SUM_WARNINGS` bigint(20) unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint(20) unsigned NOT NULL, `SUM_ROWS_SENT`
  bigint(20) unsigned NOT NULL, `SUM_ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES`
  bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_JOIN`
  bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE`
  bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SUM_SELECT_SCAN` bigint(20)
  unsigned NOT NULL, `SUM_SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SUM_SORT_RANGE` bigint(20) unsigned NOT
  NULL, `SUM_SORT_ROWS` bigint(20) unsigned NOT NULL, `SUM_SORT_SCAN` bigint(20) unsigned NOT NULL,
  `SUM_NO_INDEX_USED` bigint(20) unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_user_by_event_name (`USER` char(128), `EVENT_NAME` varchar(128) NOT NULL,
  `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `SUM_LOCK_TIME` bigint(20) unsigned NOT NULL, `SUM_ERRORS` bigint(20) unsigned NOT NULL, `SUM_WARNINGS`
  bigint(20) unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint(20) unsigned NOT NULL, `SUM_ROWS_SENT` bigint(20) unsigned
  NOT NULL, `SUM_ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint(20) unsigned NOT
  NULL, `SUM_CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SUM_SELECT_SCAN` bigint(20) unsigned NOT NULL,
  `SUM_SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SUM_SORT_RANGE` bigint(20) unsigned NOT NULL, `SUM_SORT_ROWS`
  bigint(20) unsigned NOT NULL, `SUM_SORT_SCAN` bigint(20) unsigned NOT NULL, `SUM_NO_INDEX_USED` bigint(20) unsigned
  NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL);
CREATE TABLE events_statements_summary_global_by_event_name (`EVENT_NAME` varchar(128) NOT NULL, `COUNT_STAR`
  bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `SUM_LOCK_TIME` bigint(20) unsigned NOT NULL, `SUM_ERRORS` bigint(20) unsigned NOT NULL, `SUM_WARNINGS` bigint(20)
  unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint(20) unsigned NOT NULL, `SUM_ROWS_SENT` bigint(20) unsigned NOT NULL,
  `SUM_ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint(20) unsigned NOT NULL,
  `SUM_CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE` bigint(20) unsigned NOT NULL,
  `SUM_SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SUM_SELECT_SCAN` bigint(20) unsigned NOT NULL,
  `SUM_SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SUM_SORT_RANGE` bigint(20) unsigned NOT NULL, `SUM_SORT_ROWS`
  bigint(20) unsigned NOT NULL, `SUM_SORT_SCAN` bigint(20) unsigned NOT NULL, `SUM_NO_INDEX_USED` bigint(20) unsigned
  NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL);
CREATE TABLE events_transactions_current (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT
  NULL, `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `STATE`
  enum('ACTIVE','COMMITTED','ROLLED BACK'), `TRX_ID` bigint(20) unsigned, `GTID` varchar(64), `XID_FORMAT_ID` int(11),
  `XID_GTRID` varchar(130), `XID_BQUAL` varchar(130), `XA_STATE` varchar(64), `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `ACCESS_MODE` enum('READ
  ONLY','READ WRITE'), `ISOLATION_LEVEL` varchar(64), `AUTOCOMMIT` enum('YES','NO') NOT NULL, `NUMBER_OF_SAVEPOINTS`
  bigint(20) unsigned, `NUMBER_OF_ROLLBACK_TO_SAVEPOINT` bigint(20) unsigned, `NUMBER_OF_RELEASE_SAVEPOINT` bigint(20)
  unsigned, `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'));
CREATE TABLE events_transactions_history (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT
  NULL, `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `STATE`
  enum('ACTIVE','COMMITTED','ROLLED BACK'), `TRX_ID` bigint(20) unsigned, `GTID` varchar(64), `XID_FORMAT_ID` int(11),
  `XID_GTRID` varchar(130), `XID_BQUAL` varchar(130), `XA_STATE` varchar(64), `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `ACCESS_MODE` enum('READ
  ONLY','READ WRITE'), `ISOLATION_LEVEL` varchar(64), `AUTOCOMMIT` enum('YES','NO') NOT NULL, `NUMBER_OF_SAVEPOINTS`
  bigint(20) unsigned, `NUMBER_OF_ROLLBACK_TO_SAVEPOINT` bigint(20) unsigned, `NUMBER_OF_RELEASE_SAVEPOINT` bigint(20)
  unsigned, `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'));
CREATE TABLE events_transactions_history_long (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20)
  unsigned NOT NULL, `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `STATE`
  enum('ACTIVE','COMMITTED','ROLLED BACK'), `TRX_ID` bigint(20) unsigned, `GTID` varchar(64), `XID_FORMAT_ID` int(11),
  `XID_GTRID` varchar(130), `XID_BQUAL` varchar(130), `XA_STATE` varchar(64), `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `ACCESS_MODE` enum('READ
  ONLY','READ WRITE'), `ISOLATION_LEVEL` varchar(64), `AUTOCOMMIT` enum('YES','NO') NOT NULL, `NUMBER_OF_SAVEPOINTS`
  bigint(20) unsigned, `NUMBER_OF_ROLLBACK_TO_SAVEPOINT` bigint(20) unsigned, `NUMBER_OF_RELEASE_SAVEPOINT` bigint(20)
  unsigned, `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'));
CREATE TABLE events_transactions_summary_by_account_by_event_name (`USER` char(32), `HOST` char(60), `EVENT_NAME`
  varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `COUNT_READ_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ_WRITE` bigint(20)
  unsigned NOT NULL, `MIN_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ_WRITE` bigint(20) unsigned
  NOT NULL, `MAX_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `COUNT_READ_ONLY` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL);
CREATE TABLE events_transactions_summary_by_host_by_event_name (`HOST` char(60), `EVENT_NAME` varchar(128) NOT NULL,
  `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `COUNT_READ_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL,
  `MAX_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `COUNT_READ_ONLY` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL);
CREATE TABLE events_transactions_summary_by_thread_by_event_name (`THREAD_ID` bigint(20) unsigned NOT NULL,
  `EVENT_NAME` varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL, `COUNT_READ_WRITE` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL,
  `COUNT_READ_ONLY` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL,
  `MAX_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL);
CREATE TABLE events_transactions_summary_by_user_by_event_name (`USER` char(32), `EVENT_NAME` varchar(128) NOT NULL,
  `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `COUNT_READ_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL,
  `MAX_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `COUNT_READ_ONLY` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL);
CREATE TABLE events_transactions_summary_global_by_event_name (`EVENT_NAME` varchar(128) NOT NULL, `COUNT_STAR`
  bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `COUNT_READ_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL,
  `MAX_TIMER_READ_WRITE` bigint(20) unsigned NOT NULL, `COUNT_READ_ONLY` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ_ONLY` bigint(20) unsigned NOT NULL);
CREATE TABLE events_waits_current (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT NULL,
  `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `SPINS` int(10) unsigned,
  `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME` varchar(512), `INDEX_NAME` varchar(64), `OBJECT_TYPE` varchar(64),
  `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'), `OPERATION` varchar(32) NOT NULL, `NUMBER_OF_BYTES` bigint(20),
  `FLAGS` int(10) unsigned);
CREATE TABLE events_waits_history (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT NULL,
  `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `SPINS` int(10) unsigned,
  `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME` varchar(512), `INDEX_NAME` varchar(64), `OBJECT_TYPE` varchar(64),
  `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'), `OPERATION` varchar(32) NOT NULL, `NUMBER_OF_BYTES` bigint(20),
  `FLAGS` int(10) unsigned);
CREATE TABLE events_waits_history_long (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_ID` bigint(20) unsigned NOT
  NULL, `END_EVENT_ID` bigint(20) unsigned, `EVENT_NAME` varchar(128) NOT NULL, `SOURCE` varchar(64), `TIMER_START`
  bigint(20) unsigned, `TIMER_END` bigint(20) unsigned, `TIMER_WAIT` bigint(20) unsigned, `SPINS` int(10) unsigned,
  `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME` varchar(512), `INDEX_NAME` varchar(64), `OBJECT_TYPE` varchar(64),
  `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL, `NESTING_EVENT_ID` bigint(20) unsigned, `NESTING_EVENT_TYPE`
  enum('TRANSACTION','STATEMENT','STAGE','WAIT'), `OPERATION` varchar(32) NOT NULL, `NUMBER_OF_BYTES` bigint(20),
  `FLAGS` int(10) unsigned);
CREATE TABLE events_waits_summary_by_account_by_event_name (`USER` char(128), `HOST` char(255), `EVENT_NAME`
  varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL);
CREATE TABLE events_waits_summary_by_host_by_event_name (`HOST` char(255), `EVENT_NAME` varchar(128) NOT NULL,
  `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL);
CREATE TABLE events_waits_summary_by_instance (`EVENT_NAME` varchar(128) NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint(20)
  unsigned NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL);
CREATE TABLE events_waits_summary_by_thread_by_event_name (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_NAME`
  varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL);
CREATE TABLE events_waits_summary_by_user_by_event_name (`USER` char(128), `EVENT_NAME` varchar(128) NOT NULL,
  `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned
  NOT NULL);
CREATE TABLE events_waits_summary_global_by_event_name (`EVENT_NAME` varchar(128) NOT NULL, `COUNT_STAR` bigint(20)
  unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL);
CREATE TABLE file_instances (`FILE_NAME` varchar(512) NOT NULL, `EVENT_NAME` varchar(128) NOT NULL, `OPEN_COUNT`
  int(10) unsigned NOT NULL);
CREATE TABLE file_summary_by_event_name (`EVENT_NAME` varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT
  NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL, `COUNT_READ` bigint(20) unsigned NOT
  NULL, `SUM_TIMER_READ` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_READ` bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_READ` bigint(20)
  NOT NULL, `COUNT_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_WRITE` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_WRITE` bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE`
  bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_WRITE` bigint(20) NOT NULL, `COUNT_MISC` bigint(20) unsigned NOT
  NULL, `SUM_TIMER_MISC` bigint(20) unsigned NOT NULL, `MIN_TIMER_MISC` bigint(20) unsigned NOT NULL, `AVG_TIMER_MISC`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_MISC` bigint(20) unsigned NOT NULL);
CREATE TABLE file_summary_by_instance (`FILE_NAME` varchar(512) NOT NULL, `EVENT_NAME` varchar(128) NOT NULL,
  `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL, `COUNT_READ` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ`
  bigint(20) unsigned NOT NULL, `MIN_TIMER_READ` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ` bigint(20) unsigned
  NOT NULL, `MAX_TIMER_READ` bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_READ` bigint(20) NOT NULL,
  `COUNT_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_WRITE` bigint(20) unsigned NOT NULL, `MIN_TIMER_WRITE`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_WRITE` bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE` bigint(20) unsigned
  NOT NULL, `SUM_NUMBER_OF_BYTES_WRITE` bigint(20) NOT NULL, `COUNT_MISC` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_MISC` bigint(20) unsigned NOT NULL, `MIN_TIMER_MISC` bigint(20) unsigned NOT NULL, `AVG_TIMER_MISC`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_MISC` bigint(20) unsigned NOT NULL);
CREATE TABLE global_status (`VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` varchar(4096));
CREATE TABLE hosts (`HOST` char(255), `CURRENT_CONNECTIONS` bigint(20) NOT NULL, `TOTAL_CONNECTIONS` bigint(20) NOT
  NULL);
CREATE TABLE host_cache (`IP` varchar(64) NOT NULL, `HOST` varchar(255), `HOST_VALIDATED` enum('YES','NO') NOT NULL,
  `SUM_CONNECT_ERRORS` bigint(20) NOT NULL, `COUNT_HOST_BLOCKED_ERRORS` bigint(20) NOT NULL,
  `COUNT_NAMEINFO_TRANSIENT_ERRORS` bigint(20) NOT NULL, `COUNT_NAMEINFO_PERMANENT_ERRORS` bigint(20) NOT NULL,
  `COUNT_FORMAT_ERRORS` bigint(20) NOT NULL, `COUNT_ADDRINFO_TRANSIENT_ERRORS` bigint(20) NOT NULL,
  `COUNT_ADDRINFO_PERMANENT_ERRORS` bigint(20) NOT NULL, `COUNT_FCRDNS_ERRORS` bigint(20) NOT NULL,
  `COUNT_HOST_ACL_ERRORS` bigint(20) NOT NULL, `COUNT_NO_AUTH_PLUGIN_ERRORS` bigint(20) NOT NULL,
  `COUNT_AUTH_PLUGIN_ERRORS` bigint(20) NOT NULL, `COUNT_HANDSHAKE_ERRORS` bigint(20) NOT NULL,
  `COUNT_PROXY_USER_ERRORS` bigint(20) NOT NULL, `COUNT_PROXY_USER_ACL_ERRORS` bigint(20) NOT NULL,
  `COUNT_AUTHENTICATION_ERRORS` bigint(20) NOT NULL, `COUNT_SSL_ERRORS` bigint(20) NOT NULL,
  `COUNT_MAX_USER_CONNECTIONS_ERRORS` bigint(20) NOT NULL, `COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS` bigint(20) NOT
  NULL, `COUNT_DEFAULT_DATABASE_ERRORS` bigint(20) NOT NULL, `COUNT_INIT_CONNECT_ERRORS` bigint(20) NOT NULL,
  `COUNT_LOCAL_ERRORS` bigint(20) NOT NULL, `COUNT_UNKNOWN_ERRORS` bigint(20) NOT NULL, `FIRST_SEEN` timestamp NOT
  NULL, `LAST_SEEN` timestamp NOT NULL, `FIRST_ERROR_SEEN` timestamp, `LAST_ERROR_SEEN` timestamp);
CREATE TABLE memory_summary_by_account_by_event_name (`USER` char(32), `HOST` char(60), `EVENT_NAME` varchar(128) NOT
  NULL, `COUNT_ALLOC` bigint(20) unsigned NOT NULL, `COUNT_FREE` bigint(20) unsigned NOT NULL,
  `SUM_NUMBER_OF_BYTES_ALLOC` bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_FREE` bigint(20) unsigned NOT NULL,
  `LOW_COUNT_USED` bigint(20) NOT NULL, `CURRENT_COUNT_USED` bigint(20) NOT NULL, `HIGH_COUNT_USED` bigint(20) NOT
  NULL, `LOW_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL,
  `HIGH_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL);
CREATE TABLE memory_summary_by_host_by_event_name (`HOST` char(60), `EVENT_NAME` varchar(128) NOT NULL, `COUNT_ALLOC`
  bigint(20) unsigned NOT NULL, `COUNT_FREE` bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_ALLOC` bigint(20)
  unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_FREE` bigint(20) unsigned NOT NULL, `LOW_COUNT_USED` bigint(20) NOT NULL,
  `CURRENT_COUNT_USED` bigint(20) NOT NULL, `HIGH_COUNT_USED` bigint(20) NOT NULL, `LOW_NUMBER_OF_BYTES_USED`
  bigint(20) NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL, `HIGH_NUMBER_OF_BYTES_USED` bigint(20) NOT
  NULL);
CREATE TABLE memory_summary_by_thread_by_event_name (`THREAD_ID` bigint(20) unsigned NOT NULL, `EVENT_NAME`
  varchar(128) NOT NULL, `COUNT_ALLOC` bigint(20) unsigned NOT NULL, `COUNT_FREE` bigint(20) unsigned NOT NULL,
  `SUM_NUMBER_OF_BYTES_ALLOC` bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_FREE` bigint(20) unsigned NOT NULL,
  `LOW_COUNT_USED` bigint(20) NOT NULL, `CURRENT_COUNT_USED` bigint(20) NOT NULL, `HIGH_COUNT_USED` bigint(20) NOT
  NULL, `LOW_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL,
  `HIGH_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL);
CREATE TABLE memory_summary_by_user_by_event_name (`USER` char(32), `EVENT_NAME` varchar(128) NOT NULL, `COUNT_ALLOC`
  bigint(20) unsigned NOT NULL, `COUNT_FREE` bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_ALLOC` bigint(20)
  unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_FREE` bigint(20) unsigned NOT NULL, `LOW_COUNT_USED` bigint(20) NOT NULL,
  `CURRENT_COUNT_USED` bigint(20) NOT NULL, `HIGH_COUNT_USED` bigint(20) NOT NULL, `LOW_NUMBER_OF_BYTES_USED`
  bigint(20) NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL, `HIGH_NUMBER_OF_BYTES_USED` bigint(20) NOT
  NULL);
CREATE TABLE memory_summary_global_by_event_name (`EVENT_NAME` varchar(128) NOT NULL, `COUNT_ALLOC` bigint(20)
  unsigned NOT NULL, `COUNT_FREE` bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_ALLOC` bigint(20) unsigned NOT
  NULL, `SUM_NUMBER_OF_BYTES_FREE` bigint(20) unsigned NOT NULL, `LOW_COUNT_USED` bigint(20) NOT NULL,
  `CURRENT_COUNT_USED` bigint(20) NOT NULL, `HIGH_COUNT_USED` bigint(20) NOT NULL, `LOW_NUMBER_OF_BYTES_USED`
  bigint(20) NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint(20) NOT NULL, `HIGH_NUMBER_OF_BYTES_USED` bigint(20) NOT
  NULL);
CREATE TABLE metadata_locks (`OBJECT_TYPE` varchar(64) NOT NULL, `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME`
  varchar(64), `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL, `LOCK_TYPE` varchar(32) NOT NULL, `LOCK_DURATION`
  varchar(32) NOT NULL, `LOCK_STATUS` varchar(32) NOT NULL, `SOURCE` varchar(64), `OWNER_THREAD_ID` bigint(20)
  unsigned, `OWNER_EVENT_ID` bigint(20) unsigned);
CREATE TABLE mutex_instances (`NAME` varchar(128) NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL,
  `LOCKED_BY_THREAD_ID` bigint(20) unsigned);
CREATE TABLE objects_summary_global_by_type (`OBJECT_TYPE` varchar(64), `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME`
  varchar(64), `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL);
CREATE TABLE performance_timers (`TIMER_NAME` enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK') NOT NULL,
  `TIMER_FREQUENCY` bigint(20), `TIMER_RESOLUTION` bigint(20), `TIMER_OVERHEAD` bigint(20));
CREATE TABLE prepared_statements_instances (`OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL, `STATEMENT_ID`
  bigint(20) unsigned NOT NULL, `STATEMENT_NAME` varchar(64), `SQL_TEXT` longtext NOT NULL, `OWNER_THREAD_ID`
  bigint(20) unsigned NOT NULL, `OWNER_EVENT_ID` bigint(20) unsigned NOT NULL, `OWNER_OBJECT_TYPE`
  enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER'), `OWNER_OBJECT_SCHEMA` varchar(64), `OWNER_OBJECT_NAME`
  varchar(64), `TIMER_PREPARE` bigint(20) unsigned NOT NULL, `COUNT_REPREPARE` bigint(20) unsigned NOT NULL,
  `COUNT_EXECUTE` bigint(20) unsigned NOT NULL, `SUM_TIMER_EXECUTE` bigint(20) unsigned NOT NULL, `MIN_TIMER_EXECUTE`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_EXECUTE` bigint(20) unsigned NOT NULL, `MAX_TIMER_EXECUTE` bigint(20)
  unsigned NOT NULL, `SUM_LOCK_TIME` bigint(20) unsigned NOT NULL, `SUM_ERRORS` bigint(20) unsigned NOT NULL,
  `SUM_WARNINGS` bigint(20) unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint(20) unsigned NOT NULL, `SUM_ROWS_SENT`
  bigint(20) unsigned NOT NULL, `SUM_ROWS_EXAMINED` bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES`
  bigint(20) unsigned NOT NULL, `SUM_CREATED_TMP_TABLES` bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_JOIN`
  bigint(20) unsigned NOT NULL, `SUM_SELECT_FULL_RANGE_JOIN` bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE`
  bigint(20) unsigned NOT NULL, `SUM_SELECT_RANGE_CHECK` bigint(20) unsigned NOT NULL, `SUM_SELECT_SCAN` bigint(20)
  unsigned NOT NULL, `SUM_SORT_MERGE_PASSES` bigint(20) unsigned NOT NULL, `SUM_SORT_RANGE` bigint(20) unsigned NOT
  NULL, `SUM_SORT_ROWS` bigint(20) unsigned NOT NULL, `SUM_SORT_SCAN` bigint(20) unsigned NOT NULL,
  `SUM_NO_INDEX_USED` bigint(20) unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint(20) unsigned NOT NULL);
CREATE TABLE replication_applier_configuration (`CHANNEL_NAME` varchar(256) NOT NULL, `DESIRED_DELAY` int(11) NOT
  NULL);
CREATE TABLE replication_applier_status (`CHANNEL_NAME` varchar(256) NOT NULL, `SERVICE_STATE` enum('ON','OFF') NOT
  NULL, `REMAINING_DELAY` int(10) unsigned, `COUNT_TRANSACTIONS_RETRIES` bigint(20) unsigned NOT NULL);
CREATE TABLE replication_applier_status_by_coordinator (`CHANNEL_NAME` varchar(256) NOT NULL, `THREAD_ID` bigint(20)
  unsigned, `SERVICE_STATE` enum('ON','OFF') NOT NULL, `LAST_ERROR_NUMBER` int(11) NOT NULL, `LAST_ERROR_MESSAGE`
  varchar(1024) NOT NULL, `LAST_ERROR_TIMESTAMP` timestamp NOT NULL, `LAST_SEEN_TRANSACTION` char(57) NOT NULL,
  `LAST_TRANS_RETRY_COUNT` int(11) NOT NULL);
CREATE TABLE replication_applier_status_by_worker (`CHANNEL_NAME` varchar(256) NOT NULL, `THREAD_ID` bigint(20)
  unsigned, `SERVICE_STATE` enum('ON','OFF') NOT NULL, `LAST_SEEN_TRANSACTION` char(57) NOT NULL, `LAST_ERROR_NUMBER`
  int(11) NOT NULL, `LAST_ERROR_MESSAGE` varchar(1024) NOT NULL, `LAST_ERROR_TIMESTAMP` timestamp NOT NULL,
  `WORKER_IDLE_TIME` bigint(20) unsigned NOT NULL, `LAST_TRANS_RETRY_COUNT` int(11) NOT NULL);
CREATE TABLE replication_connection_configuration (`CHANNEL_NAME` varchar(256) NOT NULL, `HOST` char(60) NOT NULL,
  `PORT` int(11) NOT NULL, `USER` char(32) NOT NULL, `USING_GTID` enum('NO','CURRENT_POS','SLAVE_POS') NOT NULL,
  `SSL_ALLOWED` enum('YES','NO','IGNORED') NOT NULL, `SSL_CA_FILE` varchar(512) NOT NULL, `SSL_CA_PATH` varchar(512)
  NOT NULL, `SSL_CERTIFICATE` varchar(512) NOT NULL, `SSL_CIPHER` varchar(512) NOT NULL, `SSL_KEY` varchar(512) NOT
  NULL, `SSL_VERIFY_SERVER_CERTIFICATE` enum('YES','NO') NOT NULL, `SSL_CRL_FILE` varchar(255) NOT NULL,
  `SSL_CRL_PATH` varchar(255) NOT NULL, `CONNECTION_RETRY_INTERVAL` int(11) NOT NULL, `CONNECTION_RETRY_COUNT`
  bigint(20) unsigned NOT NULL, `HEARTBEAT_INTERVAL` double(10,3) unsigned NOT NULL, `IGNORE_SERVER_IDS` longtext NOT
  NULL, `REPL_DO_DOMAIN_IDS` longtext NOT NULL, `REPL_IGNORE_DOMAIN_IDS` longtext NOT NULL);
CREATE TABLE rwlock_instances (`NAME` varchar(128) NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL,
  `WRITE_LOCKED_BY_THREAD_ID` bigint(20) unsigned, `READ_LOCKED_BY_COUNT` int(10) unsigned NOT NULL);
CREATE TABLE session_account_connect_attrs (`PROCESSLIST_ID` int(11) NOT NULL, `ATTR_NAME` varchar(32) NOT NULL,
  `ATTR_VALUE` varchar(1024), `ORDINAL_POSITION` int(11));
CREATE TABLE session_connect_attrs (`PROCESSLIST_ID` int(11) NOT NULL, `ATTR_NAME` varchar(32) NOT NULL, `ATTR_VALUE`
  varchar(1024), `ORDINAL_POSITION` int(11));
CREATE TABLE session_status (`VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` varchar(4096));
CREATE TABLE setup_actors (`HOST` char(255) NOT NULL, `USER` char(128) NOT NULL, `ROLE` char(128) NOT NULL, `ENABLED`
  enum('YES','NO') NOT NULL, `HISTORY` enum('YES','NO') NOT NULL);
CREATE TABLE setup_consumers (`NAME` varchar(64) NOT NULL, `ENABLED` enum('YES','NO') NOT NULL);
CREATE TABLE setup_instruments (`NAME` varchar(128) NOT NULL, `ENABLED` enum('YES','NO') NOT NULL, `TIMED`
  enum('YES','NO') NOT NULL);
CREATE TABLE setup_objects (`OBJECT_TYPE` enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER') NOT NULL,
  `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME` varchar(64) NOT NULL, `ENABLED` enum('YES','NO') NOT NULL, `TIMED`
  enum('YES','NO') NOT NULL);
CREATE TABLE setup_timers (`NAME` varchar(64) NOT NULL, `TIMER_NAME`
  enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK') NOT NULL);
CREATE TABLE socket_instances (`EVENT_NAME` varchar(128) NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT
  NULL, `THREAD_ID` bigint(20) unsigned, `SOCKET_ID` int(11) NOT NULL, `IP` varchar(64) NOT NULL, `PORT` int(11) NOT
  NULL, `STATE` enum('IDLE','ACTIVE') NOT NULL);
CREATE TABLE socket_summary_by_event_name (`EVENT_NAME` varchar(128) NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT
  NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL, `COUNT_READ` bigint(20) unsigned NOT
  NULL, `SUM_TIMER_READ` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_READ` bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_READ` bigint(20)
  unsigned NOT NULL, `COUNT_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_WRITE` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_WRITE` bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE`
  bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_WRITE` bigint(20) unsigned NOT NULL, `COUNT_MISC` bigint(20)
  unsigned NOT NULL, `SUM_TIMER_MISC` bigint(20) unsigned NOT NULL, `MIN_TIMER_MISC` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_MISC` bigint(20) unsigned NOT NULL, `MAX_TIMER_MISC` bigint(20) unsigned NOT NULL);
CREATE TABLE socket_summary_by_instance (`EVENT_NAME` varchar(128) NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint(20)
  unsigned NOT NULL, `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `COUNT_READ` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ` bigint(20) unsigned NOT
  NULL, `MIN_TIMER_READ` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ`
  bigint(20) unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_READ` bigint(20) unsigned NOT NULL, `COUNT_WRITE` bigint(20)
  unsigned NOT NULL, `SUM_TIMER_WRITE` bigint(20) unsigned NOT NULL, `MIN_TIMER_WRITE` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_WRITE` bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE` bigint(20) unsigned NOT NULL,
  `SUM_NUMBER_OF_BYTES_WRITE` bigint(20) unsigned NOT NULL, `COUNT_MISC` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_MISC` bigint(20) unsigned NOT NULL, `MIN_TIMER_MISC` bigint(20) unsigned NOT NULL, `AVG_TIMER_MISC`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_MISC` bigint(20) unsigned NOT NULL);
CREATE TABLE status_by_account (`USER` char(32), `HOST` char(60), `VARIABLE_NAME` varchar(64) NOT NULL,
  `VARIABLE_VALUE` varchar(4096));
CREATE TABLE status_by_host (`HOST` char(60), `VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` varchar(4096));
CREATE TABLE status_by_thread (`THREAD_ID` bigint(20) unsigned NOT NULL, `VARIABLE_NAME` varchar(64) NOT NULL,
  `VARIABLE_VALUE` varchar(4096));
CREATE TABLE status_by_user (`USER` char(32), `VARIABLE_NAME` varchar(64) NOT NULL, `VARIABLE_VALUE` varchar(4096));
CREATE TABLE table_handles (`OBJECT_TYPE` varchar(64) NOT NULL, `OBJECT_SCHEMA` varchar(64) NOT NULL, `OBJECT_NAME`
  varchar(64) NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint(20) unsigned NOT NULL, `OWNER_THREAD_ID` bigint(20) unsigned,
  `OWNER_EVENT_ID` bigint(20) unsigned, `INTERNAL_LOCK` varchar(64), `EXTERNAL_LOCK` varchar(64));
CREATE TABLE table_io_waits_summary_by_index_usage (`OBJECT_TYPE` varchar(64), `OBJECT_SCHEMA` varchar(64),
  `OBJECT_NAME` varchar(64), `INDEX_NAME` varchar(64), `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned
  NOT NULL, `MAX_TIMER_WAIT` bigint(20) unsigned NOT NULL, `COUNT_READ` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ`
  bigint(20) unsigned NOT NULL, `MIN_TIMER_READ` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ` bigint(20) unsigned
  NOT NULL, `MAX_TIMER_READ` bigint(20) unsigned NOT NULL, `COUNT_WRITE` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_WRITE` bigint(20) unsigned NOT NULL, `MIN_TIMER_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_WRITE`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE` bigint(20) unsigned NOT NULL, `COUNT_FETCH` bigint(20) unsigned NOT
  NULL, `SUM_TIMER_FETCH` bigint(20) unsigned NOT NULL, `MIN_TIMER_FETCH` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_FETCH` bigint(20) unsigned NOT NULL, `MAX_TIMER_FETCH` bigint(20) unsigned NOT NULL, `COUNT_INSERT`
  bigint(20) unsigned NOT NULL, `SUM_TIMER_INSERT` bigint(20) unsigned NOT NULL, `MIN_TIMER_INSERT` bigint(20)
  unsigned NOT NULL, `AVG_TIMER_INSERT` bigint(20) unsigned NOT NULL, `MAX_TIMER_INSERT` bigint(20) unsigned NOT NULL,
  `COUNT_UPDATE` bigint(20) unsigned NOT NULL, `SUM_TIMER_UPDATE` bigint(20) unsigned NOT NULL, `MIN_TIMER_UPDATE`
  bigint(20) unsigned NOT NULL, `AVG_TIMER_UPDATE` bigint(20) unsigned NOT NULL, `MAX_TIMER_UPDATE` bigint(20)
  unsigned NOT NULL, `COUNT_DELETE` bigint(20) unsigned NOT NULL, `SUM_TIMER_DELETE` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_DELETE` bigint(20) unsigned NOT NULL, `AVG_TIMER_DELETE` bigint(20) unsigned NOT NULL, `MAX_TIMER_DELETE`
  bigint(20) unsigned NOT NULL);
CREATE TABLE table_io_waits_summary_by_table (`OBJECT_TYPE` varchar(64), `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME`
  varchar(64), `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `COUNT_READ` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ` bigint(20) unsigned NOT
  NULL, `MIN_TIMER_READ` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ`
  bigint(20) unsigned NOT NULL, `COUNT_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_WRITE` bigint(20) unsigned NOT
  NULL, `MIN_TIMER_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_WRITE` bigint(20) unsigned NOT NULL,
  `MAX_TIMER_WRITE` bigint(20) unsigned NOT NULL, `COUNT_FETCH` bigint(20) unsigned NOT NULL, `SUM_TIMER_FETCH`
  bigint(20) unsigned NOT NULL, `MIN_TIMER_FETCH` bigint(20) unsigned NOT NULL, `AVG_TIMER_FETCH` bigint(20) unsigned
  NOT NULL, `MAX_TIMER_FETCH` bigint(20) unsigned NOT NULL, `COUNT_INSERT` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_INSERT` bigint(20) unsigned NOT NULL, `MIN_TIMER_INSERT` bigint(20) unsigned NOT NULL, `AVG_TIMER_INSERT`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_INSERT` bigint(20) unsigned NOT NULL, `COUNT_UPDATE` bigint(20) unsigned
  NOT NULL, `SUM_TIMER_UPDATE` bigint(20) unsigned NOT NULL, `MIN_TIMER_UPDATE` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_UPDATE` bigint(20) unsigned NOT NULL, `MAX_TIMER_UPDATE` bigint(20) unsigned NOT NULL, `COUNT_DELETE`
  bigint(20) unsigned NOT NULL, `SUM_TIMER_DELETE` bigint(20) unsigned NOT NULL, `MIN_TIMER_DELETE` bigint(20)
  unsigned NOT NULL, `AVG_TIMER_DELETE` bigint(20) unsigned NOT NULL, `MAX_TIMER_DELETE` bigint(20) unsigned NOT
  NULL);
CREATE TABLE table_lock_waits_summary_by_table (`OBJECT_TYPE` varchar(64), `OBJECT_SCHEMA` varchar(64), `OBJECT_NAME`
  varchar(64), `COUNT_STAR` bigint(20) unsigned NOT NULL, `SUM_TIMER_WAIT` bigint(20) unsigned NOT NULL,
  `MIN_TIMER_WAIT` bigint(20) unsigned NOT NULL, `AVG_TIMER_WAIT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WAIT`
  bigint(20) unsigned NOT NULL, `COUNT_READ` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ` bigint(20) unsigned NOT
  NULL, `MIN_TIMER_READ` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ`
  bigint(20) unsigned NOT NULL, `COUNT_WRITE` bigint(20) unsigned NOT NULL, `SUM_TIMER_WRITE` bigint(20) unsigned NOT
  NULL, `MIN_TIMER_WRITE` bigint(20) unsigned NOT NULL, `AVG_TIMER_WRITE` bigint(20) unsigned NOT NULL,
  `MAX_TIMER_WRITE` bigint(20) unsigned NOT NULL, `COUNT_READ_NORMAL` bigint(20) unsigned NOT NULL,
  `SUM_TIMER_READ_NORMAL` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ_NORMAL` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_READ_NORMAL` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ_NORMAL` bigint(20) unsigned NOT NULL,
  `COUNT_READ_WITH_SHARED_LOCKS` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ_WITH_SHARED_LOCKS` bigint(20) unsigned
  NOT NULL, `MIN_TIMER_READ_WITH_SHARED_LOCKS` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ_WITH_SHARED_LOCKS`
  bigint(20) unsigned NOT NULL, `MAX_TIMER_READ_WITH_SHARED_LOCKS` bigint(20) unsigned NOT NULL,
  `COUNT_READ_HIGH_PRIORITY` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ_HIGH_PRIORITY` bigint(20) unsigned NOT
  NULL, `MIN_TIMER_READ_HIGH_PRIORITY` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ_HIGH_PRIORITY` bigint(20)
  unsigned NOT NULL, `MAX_TIMER_READ_HIGH_PRIORITY` bigint(20) unsigned NOT NULL, `COUNT_READ_NO_INSERT` bigint(20)
  unsigned NOT NULL, `SUM_TIMER_READ_NO_INSERT` bigint(20) unsigned NOT NULL, `MIN_TIMER_READ_NO_INSERT` bigint(20)
  unsigned NOT NULL, `AVG_TIMER_READ_NO_INSERT` bigint(20) unsigned NOT NULL, `MAX_TIMER_READ_NO_INSERT` bigint(20)
  unsigned NOT NULL, `COUNT_READ_EXTERNAL` bigint(20) unsigned NOT NULL, `SUM_TIMER_READ_EXTERNAL` bigint(20) unsigned
  NOT NULL, `MIN_TIMER_READ_EXTERNAL` bigint(20) unsigned NOT NULL, `AVG_TIMER_READ_EXTERNAL` bigint(20) unsigned NOT
  NULL, `MAX_TIMER_READ_EXTERNAL` bigint(20) unsigned NOT NULL, `COUNT_WRITE_ALLOW_WRITE` bigint(20) unsigned NOT
  NULL, `SUM_TIMER_WRITE_ALLOW_WRITE` bigint(20) unsigned NOT NULL, `MIN_TIMER_WRITE_ALLOW_WRITE` bigint(20) unsigned
  NOT NULL, `AVG_TIMER_WRITE_ALLOW_WRITE` bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE_ALLOW_WRITE` bigint(20)
  unsigned NOT NULL, `COUNT_WRITE_CONCURRENT_INSERT` bigint(20) unsigned NOT NULL, `SUM_TIMER_WRITE_CONCURRENT_INSERT`
  bigint(20) unsigned NOT NULL, `MIN_TIMER_WRITE_CONCURRENT_INSERT` bigint(20) unsigned NOT NULL,
  `AVG_TIMER_WRITE_CONCURRENT_INSERT` bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE_CONCURRENT_INSERT` bigint(20)
  unsigned NOT NULL, `COUNT_WRITE_DELAYED` bigint(20) unsigned NOT NULL, `SUM_TIMER_WRITE_DELAYED` bigint(20) unsigned
  NOT NULL, `MIN_TIMER_WRITE_DELAYED` bigint(20) unsigned NOT NULL, `AVG_TIMER_WRITE_DELAYED` bigint(20) unsigned NOT
  NULL, `MAX_TIMER_WRITE_DELAYED` bigint(20) unsigned NOT NULL, `COUNT_WRITE_LOW_PRIORITY` bigint(20) unsigned NOT
  NULL, `SUM_TIMER_WRITE_LOW_PRIORITY` bigint(20) unsigned NOT NULL, `MIN_TIMER_WRITE_LOW_PRIORITY` bigint(20)
  unsigned NOT NULL, `AVG_TIMER_WRITE_LOW_PRIORITY` bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE_LOW_PRIORITY`
  bigint(20) unsigned NOT NULL, `COUNT_WRITE_NORMAL` bigint(20) unsigned NOT NULL, `SUM_TIMER_WRITE_NORMAL` bigint(20)
  unsigned NOT NULL, `MIN_TIMER_WRITE_NORMAL` bigint(20) unsigned NOT NULL, `AVG_TIMER_WRITE_NORMAL` bigint(20)
  unsigned NOT NULL, `MAX_TIMER_WRITE_NORMAL` bigint(20) unsigned NOT NULL, `COUNT_WRITE_EXTERNAL` bigint(20) unsigned
  NOT NULL, `SUM_TIMER_WRITE_EXTERNAL` bigint(20) unsigned NOT NULL, `MIN_TIMER_WRITE_EXTERNAL` bigint(20) unsigned
  NOT NULL, `AVG_TIMER_WRITE_EXTERNAL` bigint(20) unsigned NOT NULL, `MAX_TIMER_WRITE_EXTERNAL` bigint(20) unsigned
  NOT NULL);
CREATE TABLE threads (`THREAD_ID` bigint(20) unsigned NOT NULL, `NAME` varchar(128) NOT NULL, `TYPE` varchar(10) NOT
  NULL, `PROCESSLIST_ID` bigint(20) unsigned, `PROCESSLIST_USER` varchar(128), `PROCESSLIST_HOST` varchar(255),
  `PROCESSLIST_DB` varchar(64), `PROCESSLIST_COMMAND` varchar(16), `PROCESSLIST_TIME` bigint(20), `PROCESSLIST_STATE`
  varchar(64), `PROCESSLIST_INFO` longtext, `PARENT_THREAD_ID` bigint(20) unsigned, `ROLE` varchar(64), `INSTRUMENTED`
  enum('YES','NO') NOT NULL, `HISTORY` enum('YES','NO') NOT NULL, `CONNECTION_TYPE` varchar(16), `THREAD_OS_ID`
  bigint(20) unsigned);
CREATE TABLE users (`USER` char(128), `CURRENT_CONNECTIONS` bigint(20) NOT NULL, `TOTAL_CONNECTIONS` bigint(20) NOT
  NULL);
CREATE TABLE user_variables_by_thread (`THREAD_ID` bigint(20) unsigned NOT NULL, `VARIABLE_NAME` varchar(64) NOT NULL,
  `VARIABLE_VALUE` longblob);
