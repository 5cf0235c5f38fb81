-- What a replica of MariaDB's can't follow is refused here as it is there.
SET sql_mode = 'STRICT_TRANS_TABLES';
-- swe7 has no ASCII: the digits of a column do not become texts of it.
CREATE TABLE s1 (a INT, b VARCHAR(8) DEFAULT (IFNULL(a, ''))) CHARSET swe7;
CREATE TABLE s2 (a INT, b VARCHAR(8) AS (CONCAT(a, 'x'))) CHARSET swe7;
CREATE TABLE s3 (a DATE, b VARCHAR(8) AS (COALESCE(a, 'x'))) CHARSET swe7;
CREATE TABLE s4 (a INT, b VARCHAR(8) AS (IF(a, a, 'x'))) CHARSET swe7;
CREATE TABLE s5 (a INT, b VARCHAR(8) AS (CASE WHEN a THEN a ELSE 'x' END)) CHARSET swe7;
CREATE TABLE s6 (a INT, b VARCHAR(8) AS (LPAD(a, 5, 'y'))) CHARSET swe7;
CREATE TABLE s7 (a INT, b VARCHAR(8) AS (REPLACE(a, 'x', 'y'))) CHARSET swe7;
CREATE TABLE s8 (a INT, b INT AS (INSTR(a, 'x'))) CHARSET swe7;
CREATE TABLE s9 (a INT, b INT AS (a LIKE 'x')) CHARSET swe7;
CREATE TABLE s10 (b VARCHAR(8) AS (IFNULL(5, 'x'))) CHARSET swe7;
CREATE TABLE s11 (a INT, b INT AS (a = 'x'), c INT AS (FIELD(a, 'x', 'y')), d VARCHAR(8) AS (LPAD('x', a, 'y'))) CHARSET swe7;
CREATE TABLE s12 (a INT, b VARCHAR(8) AS (IFNULL(a, ''))) CHARSET ucs2;
CREATE TABLE s13 (a INT);
SELECT CONCAT(a, _swe7'x') FROM s13;
SELECT NVL2(a, a, _swe7'x') FROM s13;
SELECT CONCAT(5, _swe7'x') FROM s13;
-- A copy computes virtual columns.
CREATE TABLE v1 (a INT, b INT AS (a + 1), c VARCHAR(10) AS (REPEAT('x', 5)), d BIGINT AS (a * 100000));
INSERT INTO v1 (a) VALUES (1), (2), (30000);
ALTER TABLE v1 MODIFY b TINYINT AS (a + 1);
ALTER TABLE v1 CHANGE b bb TINYINT AS (a + 1) VIRTUAL;
ALTER TABLE v1 MODIFY d INT AS (a * 100000);
ALTER TABLE v1 MODIFY c INT AS (REPEAT('x', 5));
ALTER TABLE v1 MODIFY c VARCHAR(3) AS (REPEAT('x', 5));
ALTER TABLE v1 MODIFY c VARCHAR(3) AS (REPEAT('x', 5)), ADD z INT;
ALTER TABLE v1 MODIFY b SMALLINT AS (a + 1);
-- nowarn
ALTER TABLE v1 ADD e TINYINT AS (a + 1);
ALTER TABLE v1 MODIFY a BIGINT;
SET sql_mode = '';
ALTER TABLE v1 MODIFY a BIGINT;
SELECT * FROM v1;
SET sql_mode = 'STRICT_TRANS_TABLES';
-- Columns whose length changes with a foreign key that finds its index.
CREATE TABLE p (a INT PRIMARY KEY, b VARCHAR(20), KEY (b));
SET foreign_key_checks = 0;
CREATE TABLE f1 (a INT, b VARCHAR(20), c VARCHAR(20), KEY (b));
ALTER TABLE f1 ADD FOREIGN KEY (b) REFERENCES p (b), MODIFY b VARCHAR(25);
ALTER TABLE f1 ADD FOREIGN KEY (c) REFERENCES p (b), MODIFY c VARCHAR(25);
ALTER TABLE f1 ADD FOREIGN KEY (b) REFERENCES p (b), MODIFY b VARCHAR(20);
SET foreign_key_checks = 1;
-- An index that a foreign key made gives way to that of the next one.
CREATE TABLE k1 (a INT, b VARCHAR(20), FOREIGN KEY (b) REFERENCES p (b), KEY a (a));
ALTER TABLE k1 ADD FOREIGN KEY (b) REFERENCES p (b);
SHOW CREATE TABLE k1;
CREATE TABLE k2 (a INT, b VARCHAR(20), FOREIGN KEY q (b) REFERENCES p (b), KEY a (a));
ALTER TABLE k2 ADD FOREIGN KEY (b) REFERENCES p (b), ADD KEY c (a, b);
SHOW CREATE TABLE k2;
CREATE TABLE k3 (a INT, b VARCHAR(20), KEY b (b), KEY a (a));
ALTER TABLE k3 ADD FOREIGN KEY (b) REFERENCES p (b);
SHOW CREATE TABLE k3;
-- Less than a second below zero is below zero.
CREATE TABLE t1 (id INT, a TIME(3));
INSERT INTO t1 VALUES (1, -0.5), (2, -0.25e0), (3, -0.0004), (4, -1.5), (5, 0.5);
SELECT * FROM t1;
SELECT id FROM t1 WHERE a = -0.5;
SELECT id FROM t1 WHERE a < 0;
SELECT CAST(-0.5 AS TIME(3)), TIME(-0.5e0), ADDTIME('10:00:00', -0.5), SUBTIME('10:00:00', -0.5), TIME_FORMAT(-0.5, '%T.%f'), TIME_TO_SEC(-0.5);
SELECT CAST(-0.5 AS DATETIME(6)), TIMESTAMP(-0.5), DATE(-0.5);
CREATE TABLE t2 (a DATETIME(6));
INSERT INTO t2 VALUES (-0.5);
INSERT INTO t2 VALUES (-0.5e0);
-- A column of doubles goes into one of times as its texts.
CREATE TABLE t3 (a DOUBLE);
INSERT INTO t3 VALUES (0.9999), (0.9999999), (59.9999999), (-0.9999999);
INSERT INTO t1 SELECT 6, a FROM t3 WHERE a = 0.9999999;
ALTER TABLE t3 MODIFY a TIME(3);
SELECT * FROM t3;
CREATE TABLE t4 (a DOUBLE);
INSERT INTO t4 VALUES (0.9999), (0.9999999), (59.9999999), (-0.9999999);
SET sql_mode = 'STRICT_TRANS_TABLES,TIME_ROUND_FRACTIONAL';
ALTER TABLE t4 MODIFY a TIME(3);
SELECT * FROM t4;
CREATE TABLE t5 (a DOUBLE);
INSERT INTO t5 VALUES (20010101101010), (20010101.9);
ALTER TABLE t5 MODIFY a DATETIME(3);
CREATE TABLE t6 (a DECIMAL(20, 10));
INSERT INTO t6 VALUES (0.9999999);
ALTER TABLE t6 MODIFY a TIME(3);
SET sql_mode = 'STRICT_TRANS_TABLES';
-- No program is made that writes what nobody writes.
CREATE PROCEDURE p1() INSERT INTO information_schema.tables VALUES (1);
CREATE PROCEDURE p2() BEGIN DECLARE x INT; DELETE FROM information_schema.tables; END;
CREATE PROCEDURE p3() REPLACE INTO INFORMATION_SCHEMA.nosuch VALUES (1);
CREATE PROCEDURE p4() TRUNCATE information_schema.tables;
CREATE PROCEDURE p5() DROP TABLE information_schema.tables;
CREATE PROCEDURE p6() CREATE TABLE information_schema.x (a INT);
CREATE PROCEDURE p7() ALTER TABLE information_schema.tables ADD a INT;
CREATE FUNCTION p8() RETURNS INT BEGIN DELETE FROM information_schema.tables; RETURN 1; END;
CREATE PROCEDURE p9() UPDATE information_schema.tables SET table_name = 'x';
CREATE PROCEDURE p10() SELECT * FROM information_schema.tables;
-- Dynamic columns that go.
CREATE TABLE d1 (c BLOB, d BLOB AS (COLUMN_DELETE(c, 'x')), e BLOB AS (COLUMN_DELETE(c, 1, 2)));
SHOW CREATE TABLE d1;
INSERT INTO d1 (c) VALUES (COLUMN_CREATE('x', 1, 'y', 2));
SELECT COLUMN_JSON(d) FROM d1;
-- Names of old, and others that begin so.
DROP TABLE IF EXISTS `#mysql50#t-1`;
DROP TABLE `#mysql50#t-1`;
DROP TABLE IF EXISTS `#mysql50#t1`;
SELECT * FROM `#mysql50#t-1`;
SELECT * FROM `#mysql50#a@002db`;
CREATE TABLE `#mysql50#t-1` (a INT);
CREATE TABLE o1 (a INT);
CREATE TRIGGER `#mysql50#trg-1` BEFORE INSERT ON o1 FOR EACH ROW SET @a = 1;
DROP TRIGGER IF EXISTS `#mysql50#trg-1`;
-- What InnoDB takes without innodb_strict_mode.
CREATE TABLE r0 (a INT) ROW_FORMAT = FIXED;
SET innodb_strict_mode = 0;
CREATE TABLE r1 (a INT) ROW_FORMAT = FIXED;
SHOW CREATE TABLE r1;
CREATE TABLE r2 (a INT) ROW_FORMAT = DYNAMIC KEY_BLOCK_SIZE = 4;
CREATE TABLE r3 (a INT) KEY_BLOCK_SIZE = 5;
SHOW CREATE TABLE r3;
CREATE TABLE r4 (a INT);
ALTER TABLE r4 ROW_FORMAT = PAGE;
SET innodb_strict_mode = 1;
-- Surrogates that stand alone are none of UTF-16.
CREATE TABLE u1 (a VARCHAR(10) CHARSET ucs2);
INSERT INTO u1 VALUES (0xD800), (0x0041);
ALTER TABLE u1 MODIFY a VARCHAR(10) CHARSET utf16;
ALTER TABLE u1 MODIFY a VARCHAR(10) CHARSET utf32;
SELECT HEX(a) FROM u1;
ALTER TABLE u1 MODIFY a VARCHAR(10) CHARSET utf16;
SET sql_mode = '';
ALTER TABLE u1 MODIFY a VARCHAR(10) CHARSET utf16;
SELECT HEX(a) FROM u1;
-- Names that are too long as those of files.
CREATE TABLE `--------------------------------------------------` (a INT);
CREATE TABLE `---------------------------------------------------` (a INT);
CREATE TABLE `öööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö` (a INT);
CREATE TABLE `日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本` (a INT);
CREATE TABLE `日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日` (a INT);
CREATE TEMPORARY TABLE `---------------------------------------------------` (a INT);
DROP TEMPORARY TABLE `---------------------------------------------------`;
RENAME TABLE u1 TO `---------------------------------------------------`;
ALTER TABLE u1 RENAME TO `---------------------------------------------------`;
CREATE VIEW `---------------------------------------------------` AS SELECT 1;
CREATE SEQUENCE `---------------------------------------------------`;
CREATE TABLE `---------------------------------------------------` LIKE u1;
CREATE TABLE `---------------------------------------------------` AS SELECT 1;
CREATE DATABASE `a_--------------------------------------------------------`;
CREATE PROCEDURE `---------------------------------------------------`() SELECT 1;
DROP PROCEDURE `---------------------------------------------------`;
-- Comments in programs that are for MySQL's versions.
CREATE PROCEDURE q1() SELECT /*!50700 1 + */ 2;
CALL q1();
CREATE PROCEDURE q2() SELECT /*M!50700 1 + */ 2;
CALL q2();
CREATE PROCEDURE q3() SELECT /*!50699 1 + */ 2;
CALL q3();
CREATE PROCEDURE q4() SELECT /*!100000 1 + */ 2;
CALL q4();
-- A default of x'...' is a text, of 0x... a number where one is wanted.
CREATE TABLE h1 (a INT DEFAULT x'31', b INT DEFAULT (x'3132'), c INT DEFAULT 0x31, d DOUBLE DEFAULT (x'3132'), e DECIMAL(5) DEFAULT x'3132', f VARCHAR(3) DEFAULT x'31');
SHOW CREATE TABLE h1;
CREATE TABLE h2 (a INT DEFAULT x'41');
CREATE TABLE h2 (a INT);
INSERT INTO h2 VALUES (1);
ALTER TABLE h2 ADD b INT NOT NULL DEFAULT x'31';
SELECT * FROM h2;
