-- What statements at random have found (./fuzz statements), each by its smallest form.
-- Panics of numbers at their edges.
-- nowarn
SELECT PERIOD_ADD(1, 1e20), PERIOD_ADD(200001, -9223372036854775807), PERIOD_ADD(200001, 9223372036854775807), PERIOD_ADD(200001, -99999), PERIOD_ADD(200001, -24001);
-- nowarn
SELECT TRUNCATE(1, -99999999999999999999999999999999999.999999999999999999999999999999), ROUND(15, -9223372036854775808), TRUNCATE(1.5e0, -9223372036854775808);
-- IN and BETWEEN are tighter than comparisons.
-- nowarn
SELECT 1 = 'a' IN (1, 0), 2 = 2 IN (2), 2 = 2 NOT IN (3), 0 = 2 BETWEEN 3 AND 4, 1 = 2 NOT BETWEEN 3 AND 4, 1 = 2 <> 2 IN (5), 5 IN (5) = 1, 1 <=> 3 IN (3), 2 < 3 IN (0);
SELECT 1 BETWEEN 2 AND 3 = 0, NOT 1 BETWEEN 2 AND 3, 5 = 5 BETWEEN 1 AND 6, 2 BETWEEN 1 AND 3 AND 1, 1 IN (1) AND 0, 1 XOR 1 IN (2), 1 + 1 IN (2), 1 | 2 IN (3), 1 IN (1) IS TRUE;
-- The same in a view, whose definition has no parentheses there.
CREATE TABLE sf1 (id INT PRIMARY KEY, c VARCHAR(30) CHARACTER SET latin1, b BIT(8), n BIGINT);
INSERT INTO sf1 VALUES (1, 'é', 1, 5), (2, '3x', 5, 65), (3, 'a', 0, -1), (4, '1', 127, NULL), (5, '0', 3, 0), (6, NULL, NULL, 1);
CREATE VIEW sfv1 AS SELECT id FROM sf1 WHERE 1 = ('a' NOT IN (1, c));
SELECT * FROM sfv1 ORDER BY id;
CREATE OR REPLACE VIEW sfv1 AS SELECT id FROM sf1 WHERE 1 = (n NOT BETWEEN 3 AND 10);
SELECT * FROM sfv1 ORDER BY id;
-- BINARY takes what stands next alone.
SELECT BINARY('a') = 'A', BINARY ('a' = 'A'), 'A' = BINARY 'a', BINARY 'a' + 1, CONCAT(BINARY('a'), 'b'), BINARY(SELECT 'a'), BINARY 'a' COLLATE utf8mb4_bin;
SELECT id FROM sf1 WHERE BINARY(c) = 'A' OR BINARY c = 'a' ORDER BY id;
-- Bytes that are no text, and numbers, as binary strings through a view.
SELECT HEX(CAST(x'FF' AS CHAR CHARSET binary)), HEX(CAST('é' AS CHAR CHARACTER SET binary)), HEX(CAST(x'FFFE' AS CHAR(1) CHARSET binary));
CREATE OR REPLACE VIEW sfv1 AS SELECT id, CAST(n AS BINARY(3)) AS d0, LPAD(1, 5, b) AS d1, BINARY x'FFFF' AS d2 FROM sf1;
SELECT id, HEX(d0), HEX(d1), HEX(d2) FROM sfv1 ORDER BY id;
DROP VIEW sfv1;
DROP TABLE sf1;
-- The mode of a week may be NULL.
-- nowarn
SELECT WEEK('2020-05-05', NULL), YEARWEEK('2020-05-05', NULL), WEEK(NULL, 1), WEEK('2020-05-05', 'a');
-- Bytes that are no characters, and numbers beyond the last TIME.
CREATE TABLE sf2 (id INT PRIMARY KEY AUTO_INCREMENT, a TIME, b TIME(3), c VARCHAR(5), d TEXT);
-- nowarn
INSERT IGNORE INTO sf2 (a, b, c, d) VALUES (1e20, 1e20, x'C3', x'C341'), (-1e20, 99999999999999999999, x'41C3', x'41C342'), (1e18, 18446744073709551615, x'FF', x'FFFF'), (8390000, 8390000e0, x'E29C41', x'F09F98'), (9e18, 1e17, x'C3A9FF', x'');
SELECT * FROM sf2 ORDER BY id;
-- nowarn
SELECT CAST(1e20 AS TIME), CAST(-1e20 AS TIME), CAST(99999999999999999999 AS TIME), TIME(1e20), HOUR(1e20), TIME_TO_SEC(-1e20);
DROP TABLE sf2;
-- Expressions follow the new names of their columns.
CREATE TABLE sf3 (id INT PRIMARY KEY, a DOUBLE, `x``y` VARCHAR(20) DEFAULT CONCAT('`a`', "a", '''`a`\'', a), c INT AS (a + LENGTH(`x``y`)) STORED, CHECK (a < 100 AND `x``y` <> '`a`'), e INT CHECK (a < e));
ALTER TABLE sf3 RENAME COLUMN a TO b, RENAME COLUMN `x``y` TO a;
SHOW CREATE TABLE sf3;
INSERT INTO sf3 (id, b, e) VALUES (1, 6, 7);
INSERT INTO sf3 (id, b, e) VALUES (2, 6, 5);
INSERT INTO sf3 (id, b, e) VALUES (3, 106, 500);
ALTER TABLE sf3 CHANGE b q INT, ADD z INT AS (q + 1);
SHOW CREATE TABLE sf3;
SELECT * FROM sf3;
DROP TABLE sf3;
-- Intervals of more than any date.
-- nowarn
SELECT DATE '1000-01-01' - INTERVAL -99999999999999999999999999999999999.9999 HOUR_SECOND, (DATE '2000-01-01' - INTERVAL '-99999999999999999999999999999999999999' DAY) IS NULL OR 1;
-- The end of BETWEEN takes an IN, a LIKE or another BETWEEN behind it; in a view, too.
-- nowarn
SELECT 3 BETWEEN 1 AND 2 IN (0), 0 BETWEEN 0 AND 'a' LIKE 'b', 1 BETWEEN 0 AND 5 BETWEEN 1 AND 6, 2 NOT BETWEEN 1 AND 3 IN (3), 2 BETWEEN 1 AND 3 AND 1, 2 BETWEEN 1 AND 3 = 1, 2 BETWEEN 1 AND 1 + 1;
CREATE TABLE sf4 (id INT PRIMARY KEY, c VARCHAR(5));
INSERT INTO sf4 VALUES (1, 'a'), (2, 'b'), (3, NULL);
CREATE VIEW sfv2 AS SELECT id FROM sf4 WHERE 1 BETWEEN 0 AND (c IN ('a', 'x')) OR 0 NOT BETWEEN (c LIKE 'b') AND 1;
SELECT * FROM sfv2 ORDER BY id;
DROP VIEW sfv2;
DROP TABLE sf4;
