-- Routines of the schema `sys`, by their documented results. Each ends with a line of its own that says `$$`.

CREATE FUNCTION version_major() RETURNS tinyint(3) unsigned
    NO SQL SQL SECURITY INVOKER
    COMMENT 'The first number of the server\'s version.'
RETURN SUBSTRING_INDEX(VERSION(), '.', 1)
$$

CREATE FUNCTION version_minor() RETURNS tinyint(3) unsigned
    NO SQL SQL SECURITY INVOKER
    COMMENT 'The second number of the server\'s version.'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1)
$$

CREATE FUNCTION version_patch() RETURNS tinyint(3) unsigned
    NO SQL SQL SECURITY INVOKER
    COMMENT 'The third number of the server\'s version.'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1)
$$

CREATE FUNCTION format_bytes(bytes text) RETURNS text CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    NO SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A number of bytes in a unit that is easy to read.'
RETURN CASE
    WHEN bytes IS NULL THEN NULL
    WHEN bytes >= 1125899906842624 THEN CONCAT(ROUND(bytes / 1125899906842624, 2), ' PiB')
    WHEN bytes >= 1099511627776 THEN CONCAT(ROUND(bytes / 1099511627776, 2), ' TiB')
    WHEN bytes >= 1073741824 THEN CONCAT(ROUND(bytes / 1073741824, 2), ' GiB')
    WHEN bytes >= 1048576 THEN CONCAT(ROUND(bytes / 1048576, 2), ' MiB')
    WHEN bytes >= 1024 THEN CONCAT(ROUND(bytes / 1024, 2), ' KiB')
    ELSE CONCAT(ROUND(bytes, 0), ' bytes')
END
$$

CREATE FUNCTION format_time(picoseconds text) RETURNS text CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    NO SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A time in picoseconds in a unit that is easy to read.'
RETURN CASE
    WHEN picoseconds IS NULL THEN NULL
    WHEN picoseconds >= 604800000000000000 THEN CONCAT(ROUND(picoseconds / 604800000000000000, 2), ' w')
    WHEN picoseconds >= 86400000000000000 THEN CONCAT(ROUND(picoseconds / 86400000000000000, 2), ' d')
    WHEN picoseconds >= 3600000000000000 THEN CONCAT(ROUND(picoseconds / 3600000000000000, 2), ' h')
    WHEN picoseconds >= 60000000000000 THEN CONCAT(ROUND(picoseconds / 60000000000000, 2), ' m')
    WHEN picoseconds >= 1000000000000 THEN CONCAT(ROUND(picoseconds / 1000000000000, 2), ' s')
    WHEN picoseconds >= 1000000000 THEN CONCAT(ROUND(picoseconds / 1000000000, 2), ' ms')
    WHEN picoseconds >= 1000000 THEN CONCAT(ROUND(picoseconds / 1000000, 2), ' us')
    WHEN picoseconds >= 1000 THEN CONCAT(ROUND(picoseconds / 1000, 2), ' ns')
    ELSE CONCAT(picoseconds, ' ps')
END
$$

CREATE FUNCTION quote_identifier(in_identifier text) RETURNS text CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    NO SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'An identifier between backticks.'
RETURN CONCAT('`', REPLACE(in_identifier, '`', '``'), '`')
$$

CREATE FUNCTION extract_schema_from_file_name(path varchar(512)) RETURNS varchar(64) CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    NO SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'The schema that a table\'s file belongs to: the last folder of its path.'
RETURN LEFT(SUBSTRING_INDEX(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -2), '/', 1), 64)
$$

CREATE FUNCTION extract_table_from_file_name(path varchar(512)) RETURNS varchar(64) CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    NO SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'The table that a file belongs to: its name without folders and ending.'
RETURN LEFT(SUBSTRING_INDEX(REPLACE(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -1), '@0024', '$'), '.', 1), 64)
$$

CREATE FUNCTION format_path(in_path varchar(512)) RETURNS varchar(512) CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    NO SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A path with the server\'s folders by the names of their variables.'
BEGIN
    DECLARE path varchar(512) DEFAULT REPLACE(in_path, '\\', '/');
    DECLARE folder varchar(512) DEFAULT REPLACE(@@global.datadir, '\\', '/');
    IF path IS NULL THEN
        RETURN NULL;
    END IF;
    IF path LIKE CONCAT(folder, '%') THEN
        RETURN CONCAT('@@datadir/', SUBSTRING(path, CHAR_LENGTH(folder) + 1));
    END IF;
    SET folder = CONCAT(TRIM(TRAILING '/' FROM REPLACE(@@global.tmpdir, '\\', '/')), '/');
    IF path LIKE CONCAT(folder, '%') THEN
        RETURN CONCAT('@@tmpdir/', SUBSTRING(path, CHAR_LENGTH(folder) + 1));
    END IF;
    SET folder = CONCAT(TRIM(TRAILING '/' FROM REPLACE(@@global.basedir, '\\', '/')), '/');
    IF folder <> '/' AND path LIKE CONCAT(folder, '%') THEN
        RETURN CONCAT('@@basedir/', SUBSTRING(path, CHAR_LENGTH(folder) + 1));
    END IF;
    RETURN path;
END
$$

CREATE FUNCTION format_statement(statement longtext) RETURNS longtext CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    NO SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A statement in a line, its middle left out where it is long: statement_truncate_len, 64 characters.'
BEGIN
    IF @sys.statement_truncate_len IS NULL THEN
        SET @sys.statement_truncate_len = sys_get_config('statement_truncate_len', '64');
    END IF;
    IF CHAR_LENGTH(statement) > @sys.statement_truncate_len THEN
        RETURN REPLACE(CONCAT(
            LEFT(statement, @sys.statement_truncate_len / 2 - 2), ' ... ',
            RIGHT(statement, @sys.statement_truncate_len / 2 - 2)), '\n', ' ');
    END IF;
    RETURN REPLACE(statement, '\n', ' ');
END
$$

CREATE FUNCTION list_add(in_list text, in_add_value text) RETURNS text CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    CONTAINS SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A list of words between commas, with one more.'
BEGIN
    IF in_add_value IS NULL THEN
        SIGNAL SQLSTATE '02200'
            SET MESSAGE_TEXT = 'Function sys.list_add: in_add_value input variable should not be NULL', MYSQL_ERRNO = 1138;
    END IF;
    IF in_list IS NULL OR in_list = '' THEN
        RETURN in_add_value;
    END IF;
    RETURN CONCAT(TRIM(BOTH ',' FROM TRIM(in_list)), ',', in_add_value);
END
$$

CREATE FUNCTION list_drop(in_list text, in_drop_value text) RETURNS text CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    CONTAINS SQL DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A list of words between commas, without one of them.'
BEGIN
    IF in_drop_value IS NULL THEN
        SIGNAL SQLSTATE '02200'
            SET MESSAGE_TEXT = 'Function sys.list_drop: in_drop_value input variable should not be NULL', MYSQL_ERRNO = 1138;
    END IF;
    IF in_list IS NULL OR in_list = '' THEN
        RETURN in_list;
    END IF;
    -- Between two commas, or a comma and the end.
    RETURN TRIM(BOTH ',' FROM REGEXP_REPLACE(
        CONCAT(',', in_list), CONCAT('(?-i), ?\\Q', in_drop_value, '\\E(?=\\s*(,|$))'), ''));
END
$$

CREATE FUNCTION sys_get_config(in_variable_name varchar(128), in_default_value varchar(128))
    RETURNS varchar(128) CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A setting of sys_config, or what is given for it where that has none.'
RETURN COALESCE((SELECT value FROM sys.sys_config WHERE variable = in_variable_name), in_default_value)
$$

CREATE FUNCTION ps_is_account_enabled(in_host varchar(60), in_user varchar(16))
    RETURNS enum('YES','NO') CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'Whether the performance schema measures an account.'
RETURN IF(EXISTS(SELECT 1 FROM performance_schema.setup_actors
    WHERE (`HOST` = '%' OR in_host LIKE `HOST`) AND (`USER` = '%' OR `USER` = in_user) AND `ENABLED` = 'YES'), 'YES', 'NO')
$$

CREATE FUNCTION ps_is_consumer_enabled(in_consumer varchar(64))
    RETURNS enum('YES','NO') CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'Whether a consumer of the performance schema is on.'
RETURN (SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = in_consumer)
$$

CREATE FUNCTION ps_is_instrument_default_enabled(in_instrument varchar(128))
    RETURNS enum('YES','NO') CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'Whether an instrument of the performance schema is on unless somebody has switched it.'
RETURN IF(in_instrument LIKE 'wait/io/file/%' OR in_instrument LIKE 'wait/io/table/%' OR in_instrument LIKE 'statement/%'
    OR in_instrument LIKE 'memory/performance_schema/%' OR in_instrument IN ('wait/lock/table/sql/handler', 'idle'), 'YES', 'NO')
$$

CREATE FUNCTION ps_is_instrument_default_timed(in_instrument varchar(128))
    RETURNS enum('YES','NO') CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'Whether an instrument of the performance schema takes times unless somebody has switched it.'
RETURN IF(in_instrument LIKE 'wait/io/file/%' OR in_instrument LIKE 'wait/io/table/%' OR in_instrument LIKE 'statement/%'
    OR in_instrument IN ('wait/lock/table/sql/handler', 'idle'), 'YES', 'NO')
$$

CREATE FUNCTION ps_is_thread_instrumented(in_connection_id bigint(20) unsigned)
    RETURNS enum('YES','NO','UNKNOWN') CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'Whether the performance schema measures a connection.'
RETURN IF(in_connection_id IS NULL, NULL,
    COALESCE((SELECT INSTRUMENTED FROM performance_schema.threads WHERE PROCESSLIST_ID = in_connection_id), 'UNKNOWN'))
$$

CREATE FUNCTION ps_thread_account(in_thread_id bigint(20) unsigned) RETURNS text CHARSET utf8mb3 COLLATE utf8mb3_general_ci
    READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The account of a thread of the performance schema.'
RETURN (SELECT IF(`TYPE` = 'FOREGROUND', CONCAT(PROCESSLIST_USER, '@', PROCESSLIST_HOST), `TYPE`)
    FROM performance_schema.threads WHERE THREAD_ID = in_thread_id)
$$

CREATE FUNCTION ps_thread_id(in_connection_id bigint(20) unsigned) RETURNS bigint(20) unsigned
    READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The number that a connection\'s thread has in the performance schema.'
RETURN (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = COALESCE(in_connection_id, CONNECTION_ID()))
$$

CREATE PROCEDURE execute_prepared_stmt(IN in_query longtext)
    READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'Prepares a text as a statement, runs it and forgets it.'
BEGIN
    IF in_query IS NULL OR CHAR_LENGTH(in_query) < 4 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = "The @sys.execute_prepared_stmt.sql must contain a query";
    END IF;
    SET @sys.execute_prepared_stmt.sql = in_query;
    PREPARE stmt FROM @sys.execute_prepared_stmt.sql;
    EXECUTE stmt;
    DEALLOCATE PREPARE stmt;
    SET @sys.execute_prepared_stmt.sql = NULL;
END
$$

CREATE PROCEDURE create_synonym_db(IN in_db_name varchar(64), IN in_synonym varchar(64))
    MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Makes a database with a view of each table of another one.'
BEGIN
    DECLARE done bool DEFAULT FALSE;
    DECLARE made int DEFAULT 0;
    DECLARE name varchar(64);
    DECLARE names CURSOR FOR
        SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = in_db_name ORDER BY TABLE_NAME;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
    IF NOT EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = in_db_name) THEN
        SET @sys.message = CONCAT('Unknown database ', in_db_name);
        SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = @sys.message;
    END IF;
    IF EXISTS (SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = in_synonym) THEN
        SET @sys.message = CONCAT('Can\'t create database ', in_synonym, '; database exists');
        SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = @sys.message;
    END IF;
    SET @sys.statement = CONCAT('CREATE DATABASE ', quote_identifier(in_synonym));
    PREPARE one FROM @sys.statement;
    EXECUTE one;
    OPEN names;
    each_table: LOOP
        FETCH names INTO name;
        IF done THEN
            LEAVE each_table;
        END IF;
        SET @sys.statement = CONCAT('CREATE SQL SECURITY INVOKER VIEW ', quote_identifier(in_synonym), '.', quote_identifier(name),
            ' AS SELECT * FROM ', quote_identifier(in_db_name), '.', quote_identifier(name));
        PREPARE one FROM @sys.statement;
        EXECUTE one;
        SET made = made + 1;
    END LOOP;
    CLOSE names;
    DEALLOCATE PREPARE one;
    SELECT CONCAT('Created ', made, ' view', IF(made = 1, '', 's'), ' in the ', quote_identifier(in_synonym), ' database') AS summary;
END
$$

CREATE PROCEDURE table_exists(IN in_db varchar(64), IN in_table varchar(64),
    OUT out_exists enum('','BASE TABLE','VIEW','TEMPORARY','SEQUENCE','SYSTEM VIEW'))
    CONTAINS SQL SQL SECURITY INVOKER
    COMMENT 'What kind of table a name stands for, or nothing.'
BEGIN
    -- Lists of tables don't have temporary ones; a statement finds them.
    DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET out_exists = '';
    SET out_exists = (SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = in_db AND TABLE_NAME = in_table);
    IF out_exists IS NULL THEN
        SET out_exists = 'TEMPORARY';
        SET @sys.statement = CONCAT('SELECT 1 FROM ', quote_identifier(in_db), '.', quote_identifier(in_table));
        PREPARE one FROM @sys.statement;
        IF out_exists <> '' THEN
            DEALLOCATE PREPARE one;
        END IF;
    END IF;
END
$$

CREATE PROCEDURE ps_setup_show_disabled_consumers()
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'The consumers of the performance schema that are off.'
SELECT NAME AS disabled_consumers FROM performance_schema.setup_consumers WHERE ENABLED = 'NO' ORDER BY disabled_consumers
$$

CREATE PROCEDURE ps_setup_show_enabled_consumers()
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'The consumers of the performance schema that are on.'
SELECT NAME AS enabled_consumers FROM performance_schema.setup_consumers WHERE ENABLED = 'YES' ORDER BY enabled_consumers
$$

CREATE PROCEDURE ps_setup_show_disabled_instruments()
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'The instruments of the performance schema that are off.'
SELECT NAME AS disabled_instruments, TIMED AS timed FROM performance_schema.setup_instruments
WHERE ENABLED = 'NO' ORDER BY disabled_instruments
$$

CREATE PROCEDURE ps_setup_show_enabled_instruments()
    READS SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'The instruments of the performance schema that are on.'
SELECT NAME AS enabled_instruments, TIMED AS timed FROM performance_schema.setup_instruments
WHERE ENABLED = 'YES' ORDER BY enabled_instruments
$$

CREATE PROCEDURE ps_truncate_all_tables(IN in_verbose tinyint(1))
    MODIFIES SQL DATA DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'Empties what the performance schema has summed up and kept; there is nothing in it.'
BEGIN
    DECLARE done bool DEFAULT FALSE;
    DECLARE emptied int DEFAULT 0;
    DECLARE name varchar(64);
    DECLARE names CURSOR FOR
        SELECT TABLE_NAME FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = 'performance_schema' AND (TABLE_NAME LIKE '%summary%' OR TABLE_NAME LIKE '%history%')
        ORDER BY TABLE_NAME;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
    OPEN names;
    each_table: LOOP
        FETCH names INTO name;
        IF done THEN
            LEAVE each_table;
        END IF;
        IF in_verbose THEN
            SELECT CONCAT('Running: TRUNCATE TABLE performance_schema.', name) AS status;
        END IF;
        SET emptied = emptied + 1;
    END LOOP;
    CLOSE names;
    SELECT CONCAT('Truncated ', emptied, ' tables') AS summary;
END
$$
