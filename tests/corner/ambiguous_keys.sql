-- Names in ORDER BY and GROUP BY that mean several items of the list, or something else than an item.
CREATE TABLE t (col INT, col1 INT, x INT);
INSERT INTO t VALUES (1, 2, 3), (2, 1, 4);
SELECT col, col1 AS col FROM t ORDER BY col;
SELECT col1 AS col, t.col FROM t ORDER BY col;
SELECT col1 AS col, t.col FROM t ORDER BY t.col;
SELECT col + 1 AS col, col FROM t ORDER BY col;
SELECT col AS col, col FROM t ORDER BY col;
SELECT col1 AS col, col FROM t ORDER BY col + 0;
SELECT *, col1 AS col FROM t ORDER BY col;
-- Within an expression a name is a column before it is an item.
SELECT -col AS col FROM t ORDER BY col + 0;
SELECT -col AS col FROM t ORDER BY col;
SELECT col1 AS y, col FROM t ORDER BY y + 0;
SELECT col1 AS col, col FROM t HAVING col > 0;
SELECT col1 AS col, col FROM t GROUP BY col;
SELECT *, col1 AS x FROM t GROUP BY x;
-- sorted
SELECT col1 + 1 AS col, col FROM t GROUP BY col;
-- sorted
SELECT col1 AS col, x FROM t GROUP BY col;
-- sorted
SELECT MAX(col1) AS col, x FROM t GROUP BY col;
-- Tables behind a union, and ROLLUP beside ORDER BY in a part of it.
SELECT col FROM t UNION SELECT x FROM t ORDER BY t.col;
SELECT 1 AS col UNION (SELECT col FROM t GROUP BY col WITH ROLLUP ORDER BY col);
SELECT a FROM nope GROUP BY a WITH ROLLUP ORDER BY a;
(SELECT * FROM t) UNION (SELECT * FROM t) FOR UPDATE;
SELECT col FROM t UNION SELECT col INTO @v FROM t;
-- Numbers of rows that are returned.
CREATE TABLE r (a INT);
INSERT INTO r VALUES (1), (2) RETURNING a, ROWNUM();
DELETE FROM r RETURNING a, ROWNUM() + 1;
-- Names of no file.
CREATE TABLE `#mysql50#t-1` (a INT);
SELECT * FROM `#mysql50#t`;
DROP TABLE IF EXISTS `#mysql50#t`;
RENAME TABLE r TO `#mysql50#r-1`;
ALTER TABLE r RENAME `#mysql50#r-1`;
CREATE VIEW `#mysql50#v-1` AS SELECT 1;
CREATE SEQUENCE `#mysql50#s-1`;
CREATE DATABASE `#mysql50#d-1`;
ALTER TABLE r ADD KEY k (a);
ALTER TABLE r RENAME KEY k TO `primary`;
-- Settings that do not fit in strict mode, and safe updates of several tables.
SET sql_mode = 'STRICT_ALL_TABLES';
SET sort_buffer_size = 1;
SET optimizer_search_depth = 10000;
SET sql_mode = DEFAULT;
SET optimizer_switch = 'in_to_exists=off,materialization=off';
SET STATEMENT skip_replication = DEFAULT FOR SELECT 1;
CREATE TABLE u1 (a INT PRIMARY KEY, b INT);
CREATE TABLE u2 (a INT PRIMARY KEY, b INT);
INSERT INTO u1 VALUES (1, 1), (2, 2);
INSERT INTO u2 VALUES (1, 5), (2, 6);
SET sql_safe_updates = 1;
UPDATE u1, u2 SET u1.b = 1 WHERE u1.b = u2.b;
UPDATE u1, u2 SET u1.b = 7 WHERE u1.a = 1 AND u2.a = 2;
DELETE u1 FROM u1, u2 WHERE u1.b = u2.b;
SET sql_safe_updates = 0;
UPDATE u1 SET b = 1 ORDER BY (SELECT 1 UNION SELECT 2);
DELETE FROM u1 ORDER BY (SELECT 1 UNION SELECT 2) LIMIT 1;
UPDATE u1 SET b = 1 ORDER BY 1;
SET sort_buffer_size = a.b;
SELECT +1, + 2, +'x', +(1), 1 + +1;
CREATE TABLE c1 (s1 CHAR(5) COLLATE utf8mb4_general_ci, s2 CHAR(5) COLLATE utf8mb4_unicode_ci);
SELECT * FROM c1 WHERE s1 > ANY (SELECT s2 FROM c1);
SELECT * FROM c1 WHERE s1 IN (SELECT s2 FROM c1);
CREATE TABLE f1 AS SELECT a FROM u1;
SELECT FOUND_ROWS();
INSERT INTO f1 SELECT 5;
SELECT FOUND_ROWS();
