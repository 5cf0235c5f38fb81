-- What one statement leaves for the next ones. A prepared statement runs in the default database of its preparation.
CREATE DATABASE between_other;
CREATE TABLE between_here (a INT);
PREPARE who FROM 'SELECT DATABASE() = ''between_other'', @@collation_database';
PREPARE make FROM 'CREATE TABLE between_made (a INT)';
PREPARE fill FROM 'INSERT INTO between_here VALUES (1)';
PREPARE look FROM 'SHOW TABLES LIKE ''between_%''';
USE between_other;
EXECUTE who;
EXECUTE make;
EXECUTE fill;
-- sorted
EXECUTE look;
SHOW TABLES;
PREPARE who FROM 'SELECT DATABASE() = ''between_other''';
EXECUTE who;
-- Dropped meanwhile: there is no default database then.
PREPARE gone FROM 'DROP DATABASE between_other';
EXECUTE gone;
SELECT DATABASE();
-- GET DIAGNOSTICS leaves ROW_COUNT.
CREATE DATABASE between_more;
USE between_more;
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1), (2);
GET DIAGNOSTICS @first = ROW_COUNT;
GET DIAGNOSTICS @second = ROW_COUNT;
SELECT @first, @second;
-- FOUND_ROWS() counts the rows that OFFSET has passed over.
INSERT INTO t VALUES (3), (4), (5);
SELECT a FROM t LIMIT 1, 2;
SELECT FOUND_ROWS();
SELECT a FROM t LIMIT 7, 2;
SELECT FOUND_ROWS();
SELECT a FROM t ORDER BY a LIMIT 4, 2;
SELECT FOUND_ROWS();
SELECT DISTINCT a FROM t LIMIT 1, 2;
SELECT FOUND_ROWS();
SELECT a, COUNT(*) FROM t GROUP BY a LIMIT 7, 2;
SELECT FOUND_ROWS();
SELECT COUNT(*) FROM t LIMIT 2, 3;
SELECT FOUND_ROWS();
SELECT 1 LIMIT 2, 3;
SELECT FOUND_ROWS();
-- A row that a constraint refuses uses no number up.
CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, b INT CHECK (b > 5));
INSERT INTO numbered (b) VALUES (1);
INSERT INTO numbered (b) VALUES (7), (8), (1), (9);
INSERT INTO numbered (b) VALUES (7), (8);
INSERT IGNORE INTO numbered (b) VALUES (7), (1), (8);
SELECT * FROM numbered;
CREATE TABLE short_numbers (id SMALLINT AUTO_INCREMENT PRIMARY KEY);
INSERT IGNORE INTO short_numbers VALUES (32766), (NULL), (NULL), (1);
SELECT * FROM short_numbers;
-- A view that does not show the number leaves LAST_INSERT_ID().
CREATE VIEW unnumbered AS SELECT b FROM numbered;
CREATE VIEW with_number AS SELECT * FROM numbered;
INSERT INTO numbered (b) VALUES (6);
SELECT LAST_INSERT_ID();
INSERT INTO unnumbered VALUES (7);
SELECT LAST_INSERT_ID();
INSERT INTO with_number (b) VALUES (8);
SELECT LAST_INSERT_ID();
-- A column that ON DUPLICATE KEY UPDATE sets needs no default.
CREATE TABLE given (a INT PRIMARY KEY, b INT NOT NULL, c INT NOT NULL DEFAULT 5);
INSERT INTO given VALUES (1, 1, 1);
INSERT INTO given (a) VALUES (1) ON DUPLICATE KEY UPDATE b = a + 5;
INSERT INTO given (a) VALUES (2) ON DUPLICATE KEY UPDATE b = a;
INSERT INTO given (a) VALUES (2) ON DUPLICATE KEY UPDATE c = a;
SELECT * FROM given;
-- Handlers of a number see notes, those of SQLWARNING and SQLEXCEPTION don't.
CREATE PROCEDURE noted() BEGIN DECLARE CONTINUE HANDLER FOR 1051 SELECT '1051' AS by_number; DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'w' AS by_class; DROP TABLE IF EXISTS nosuch; END;
CALL noted();
CREATE PROCEDURE unnoted() BEGIN DECLARE CONTINUE HANDLER FOR SQLWARNING SELECT 'w' AS by_class; DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SELECT 'e' AS by_class; DROP TABLE IF EXISTS nosuch; END;
CALL unnoted();
-- USING may name invisible columns.
CREATE TABLE hidden (a INT INVISIBLE, b INT, c INT);
CREATE TABLE open_one (a INT, b INT, d INT);
INSERT INTO hidden (a, b, c) VALUES (0, 2, 3), (10, 20, 30);
INSERT INTO open_one VALUES (1, 2, 4), (10, 30, 40);
SELECT * FROM hidden JOIN open_one USING (a);
SELECT * FROM open_one JOIN hidden USING (a);
SELECT * FROM hidden NATURAL JOIN open_one;
SELECT a FROM hidden JOIN open_one USING (a);
-- Bytes and numbers.
SELECT HEX(QUOTE(CONCAT(CHAR(224), CHAR(39), CHAR(227)))), QUOTE('it''s \\ \0 \Z');
-- nowarn
SELECT BIT_OR(99999999999999999999999999), BIT_AND(99999999999999999999999999), BIT_OR(-99999999999999999999), BIT_XOR(1e30), BIT_OR(18446744073709551615);
SELECT ROUND(99999999999999999999999999999999999999, 49) = 99999999999999999999999999999999999999;
CREATE TABLE moments (d DATE NOT NULL, dt DATETIME NOT NULL, ts TIMESTAMP NOT NULL, t TIME NOT NULL);
CREATE TABLE greatest_of AS SELECT GREATEST(d, d) a, GREATEST(dt, ts) b, LEAST(d, dt) c, LEAST(t, d) e, LEAST(d, '2001-01-01') f FROM moments;
DESC greatest_of;
-- What is no member of one list is none of another.
SET sql_mode = '';
CREATE TABLE members (id INT AUTO_INCREMENT PRIMARY KEY, c ENUM('a', '', 'b'));
INSERT IGNORE INTO members (c) VALUES (0), ('a'), (''), ('b');
ALTER TABLE members CHANGE c c ENUM('a', '') NOT NULL;
SELECT id, c + 0, c FROM members;
SET sql_mode = DEFAULT;
CREATE DATABASE between_end;
USE between_end;
DROP DATABASE between_more;
