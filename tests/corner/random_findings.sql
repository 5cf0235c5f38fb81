-- What random queries found.
CREATE TABLE q (id INT PRIMARY KEY, i SMALLINT UNSIGNED NOT NULL, d DECIMAL(30,10) NOT NULL, t VARCHAR(20), b VARCHAR(20) COLLATE utf8mb4_bin, l VARCHAR(20) CHARACTER SET latin1, dt DATE);
INSERT INTO q VALUES (1, 1, 1.5, 'A', 'a', 'é', '2020-01-31'), (3, 7, -0.5, 'ab', 'AB', 'e', '1999-12-31'), (9, 65535, 0, 'é', 'é', NULL, '0000-00-00');
-- Quotients among branches have as many digits as the branches show.
SELECT IFNULL(i / id, d), COALESCE(NULL, i / id, d), IF(id > 0, i / id, d), CASE WHEN id > 0 THEN i / id ELSE d END, IFNULL(i / id, 1.5), NULLIF(i / id, d) FROM q ORDER BY id;
SELECT IFNULL(1 / 9, 1.50000000), IF(1, 2 / 3, 'x'), CONCAT(IFNULL(1 / 3, 0.000000)), IFNULL(1 / 3, 0e0);
-- FIELD compares texts by one collation.
SELECT FIELD(t, 'a', b), FIELD(t, b, 'A'), FIELD('A', b), FIELD('ab', JSON_ARRAY(1), 'AB'), FIELD('a', _utf8mb4'A' COLLATE utf8mb4_bin, 'A'), FIELD(1, '1.0', 1), FIELD('1', 1, 'x') FROM q ORDER BY id;
SELECT FIELD(t, _utf8mb4'a' COLLATE utf8mb4_unicode_ci, _utf8mb4'b' COLLATE utf8mb4_bin) FROM q;
SELECT INTERVAL(t, b), INTERVAL('3', 1, '2', 10), INTERVAL('b', 'a') FROM q ORDER BY id;
-- A place that INSTR and LOCATE find has as many bytes as what they look for.
SELECT INSTR('February', 'é'), LOCATE('é', 'February'), INSTR('é', 'e'), INSTR('fé', 'E'), INSTR('Fébé', 'bÉ'), LOCATE('É', 'aé'), POSITION('é' IN 'bee'), LOCATE('e', 'xéye', 2), INSTR(_latin1 x'E9', _latin1'e'), LOCATE('e', l), INSTR(l, 'É') FROM q ORDER BY id;
SELECT LOCATE('ss', 'ß' COLLATE utf8mb4_unicode_ci), LOCATE('ß', 'assb' COLLATE utf8mb4_unicode_ci), LOCATE('É', 'aé' COLLATE utf8mb4_unicode_ci), INSTR('ab ', 'b '), INSTR('ab', 'b '), LOCATE('', 'abc', 3), LOCATE('', 'abc', 5);
-- Periods of no year, years of one digit, long months and days.
SELECT PERIOD_DIFF(202001, 0), PERIOD_DIFF(0, 202001), PERIOD_ADD(0, 1), PERIOD_ADD(1, 0), PERIOD_ADD(7001, 1), PERIOD_DIFF(202001, EXTRACT(YEAR_MONTH FROM dt)) FROM q ORDER BY id;
SELECT CAST('1-2-3' AS DATE), CAST('01-2-3' AS DATE), CAST('1,2,3' AS DATETIME), CAST('1-2-3 4:5:6' AS DATETIME), CAST('123,2,3' AS DATE), CAST('12,345,67' AS DATE), CAST('1-010-01' AS DATE), CAST('01-10-001' AS DATE), CAST('12345-1-1' AS DATE), CAST('70-1-1' AS DATE), CAST('0-1-1' AS DATE);
SET sql_mode = '';
SELECT CAST('1,000.00' AS DATETIME), CAST('1-0-0' AS DATE), CAST('0-0-0' AS DATE), CAST('00-00-00' AS DATE);
-- No row has a negative zero; fractions of moments are cut off in integers.
CREATE TABLE f (id INT PRIMARY KEY AUTO_INCREMENT, f FLOAT, d DOUBLE, n DECIMAL(10,2), i INT, b BIGINT);
INSERT INTO f (f, d, n, i) VALUES ('-0', '-0', '-0', '-0'), ('-00:00:01.5', '-00:00:01.5', '-00:00:01.5', 0), ('-0e1', '-0e1', '-0e1', '-0e1'), ('-0x', '-0.00', '-', '-');
INSERT INTO f (f, d, n, i) SELECT TIME '-00:00:01.5', TIME '-00:00:01.5', TIME '-00:00:01.5', TIME '-00:00:01.5';
INSERT INTO f (f, d, n, i) SELECT TRUNCATE(-0.0001e0, 1), TRUNCATE(-0.0001e0, 1), TRUNCATE(-0.0001e0, 1), TIME '00:00:02.5';
INSERT INTO f (b, i) VALUES (TIMESTAMP '2020-01-01 00:00:01.5', TIME '00:00:01.5');
SELECT *, CONCAT(f), CONCAT(d) FROM f ORDER BY id;
-- Moments stay moments when they are rounded.
SELECT ROUND(TIME '-00:00:01.5'), TRUNCATE(TIME '00:00:01.57', 1), CEIL(TIME '00:00:01.5'), FLOOR(TIME '-00:00:01.5'), ROUND(TIME '00:00:01.57', 1), CEIL(TIMESTAMP '2020-01-01 00:00:01.5'), ROUND(TIMESTAMP '2020-01-01 23:59:59.5'), TRUNCATE(TIMESTAMP '2020-01-01 23:59:59.56', 1), ROUND(TIME '10:11:12', -2), FLOOR(TIMESTAMP '2020-01-01 10:00:00.9');
SELECT ROUND(DATE '2020-01-01'), FLOOR(DATE '2020-01-01'), ROUND(DATE '2020-01-01', -2), ABS(TIME '-00:00:01.5'), SIGN(TIME '-00:00:01.5'), -TIME '00:00:01.5', CEIL(TIME '00:00:01'), ROUND(NOW()) > NOW() - INTERVAL 1 DAY;
-- A negative exact number is out of an unsigned column's range, also if it would round to zero.
SET sql_mode = 'STRICT_ALL_TABLES';
CREATE TABLE u (id INT PRIMARY KEY AUTO_INCREMENT, u INT UNSIGNED, s SMALLINT UNSIGNED, t TINYINT);
INSERT INTO u (u) VALUES (-0.3);
INSERT INTO u (u) SELECT 1 / -3;
INSERT INTO u (u) VALUES (-0.3e0);
INSERT INTO u (u) VALUES ('-0.3');
INSERT INTO u (s) VALUES (CAST(-0.3 AS DECIMAL(10,4)));
INSERT INTO u (t) VALUES (1 / -3);
SET sql_mode = '';
INSERT INTO u (u) VALUES (-0.3), (-0.0), (-0.6);
SELECT u, s, t FROM u ORDER BY id;
-- Rows of the table itself are kept first, with the digits that are shown.
INSERT INTO q SELECT id + 100, i, 1 / 3, IF(0 = 1, d, -3), NULL, 1 / 3, NULL FROM q WHERE id < 100;
INSERT INTO q SELECT 201, i, 1 / 3, IF(0 = 1, d, -3), NULL, 1 / 3, NULL FROM q WHERE id = 1;
SELECT * FROM q WHERE id > 100 ORDER BY id;
DROP TABLE q, f, u;
SELECT HEX(18446744073709551604.0), HEX(9223372036854775807.0), HEX(1.5), HEX(-1.5), HEX(CAST(123456789012345678 AS DECIMAL(20,0))), HEX(-9223372036854775808.0), HEX(1e19), HEX(-0.5), HEX(CAST(18446744073709551604 AS UNSIGNED)), HEX(99999999999999999999.0);
-- A JSON value beside a text, in another character set; days of dates without a month.
CREATE TABLE j (id INT, t VARCHAR(20), j JSON, z DATETIME);
INSERT INTO j VALUES (1, 'a', '"a"', '0000-00-00'), (2, '', '[1]', '2020-01-02'), (3, '"a"', '"b"', NULL);
SELECT NULLIF(t, JSON_EXTRACT(JSON_ARRAY(t), '$[0]')), NULLIF(t, JSON_QUOTE(t)), NULLIF(t, j), NULLIF(j, t), NULLIF(t, JSON_VALUE(j, '$')) FROM j ORDER BY id;
SELECT JSON_SET('{}', '$.a', CONVERT(j USING utf8mb4)), JSON_ARRAY(CONVERT(j USING utf8mb4)), JSON_ARRAY(CAST(j AS CHAR)), JSON_ARRAY(CONVERT(JSON_EXTRACT(j, '$') USING latin1)), JSON_ARRAY(CONVERT('[1]' USING utf8mb4)) FROM j ORDER BY id;
SELECT DATE_FORMAT(z, '%j'), DATE_FORMAT(z, '%H:%i:%s.%f %p %j'), DATE_FORMAT(z, '%w'), DATE_FORMAT(z, '%W') FROM j ORDER BY id;
SELECT DATE_FORMAT('2020-00-01', '%j'), DATE_FORMAT('2020-01-00', '%j'), DATE_FORMAT('2020-01-00', '%U %w');
DROP TABLE j;
-- Signed and unsigned integers meet in a DECIMAL; a NULL counts as signed, but for IF and NVL2.
CREATE TABLE m (id INT, b BIGINT UNSIGNED, s SMALLINT UNSIGNED, t BIGINT, nn SMALLINT UNSIGNED NOT NULL, i INT UNSIGNED);
INSERT INTO m VALUES (1, 2, 3, 4, 5, 6), (2, 18446744073709551615, 7, -5, 1, 2);
SELECT ROUND(IFNULL(NULL, b), 1), ROUND(b, 1), ROUND(IFNULL(s, 1), 1), ROUND(LEAST(1, IFNULL(nn, 0)), 1), ROUND(COALESCE(s, nn), 2), ROUND(IF(1, s, 1), 1), TRUNCATE(IFNULL(s, 1), -1), ROUND(IF(id, s, NULL), 1), ROUND(CASE WHEN id THEN s ELSE NULL END, 1), ROUND(CASE WHEN id THEN s END, 1) FROM m ORDER BY id;
CREATE TABLE n AS SELECT IFNULL(NULL, b) a, COALESCE(s, t) c, NVL2(id, s, NULL) d, IF(id, NULL, b) e, GREATEST(b, t) f, COALESCE(NULL, s) g FROM m;
SELECT COLUMN_NAME, NUMERIC_PRECISION, NUMERIC_SCALE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'n' AND DATA_TYPE = 'decimal' ORDER BY ORDINAL_POSITION;
SELECT b FROM m UNION ALL SELECT t FROM m ORDER BY 1;
SELECT COALESCE(i, 0) / 3, COALESCE(i, 0) + 1, SUM(COALESCE(i, 0)), MAX(COALESCE(i, 0)), COALESCE(i, 0) DIV 4, JSON_ARRAY(COALESCE(i, 0)) FROM m GROUP BY id ORDER BY id;
DROP TABLE m, n;
SELECT CONVERT_TZ('2020-01-00', '+00:00', '+01:00'), CONVERT_TZ('2020-00-01', '+00:00', '+01:00'), CONVERT_TZ('0000-00-00', '+00:00', '+01:00');
-- The text of a literal in a subquery gives way; numbers below zero as text are numbers for a SET.
SELECT CHARSET(COALESCE(UNHEX('41'), (SELECT 'a'))), COERCIBILITY((SELECT 'a')), CHARSET(CONCAT((SELECT 'a'), UNHEX('41')));
CREATE TABLE s (id INT, s SET('a', 'b', 'c'), e ENUM('x', 'y'));
INSERT INTO s VALUES (1, '-99994', '-1'), (2, -99994, '2'), (3, '17', '0'), (4, '17.0', '-18446744073709551615'), (5, '6', ' 1');
SELECT id, s, s + 0, e, e + 0 FROM s ORDER BY id;
DROP TABLE s;
-- Hexadecimal and bit literals are numbers in columns of numbers; x'...' is a text.
SET sql_mode = '';
CREATE TABLE bl (id INT PRIMARY KEY AUTO_INCREMENT, i INT, n DECIMAL(10,2), d DOUBLE, y YEAR, v VARCHAR(10), b BIT(8));
INSERT INTO bl (i, n, d, y, v, b) VALUES (0x41, 0x41, 0x41, 0x41, 0x41, 0x41), (b'1010101', b'1010101', b'1010101', b'1010101', b'1010101', b'1010101'), (x'3739', x'3739', x'3739', x'3739', x'3739', x'39');
UPDATE bl SET i = b'11', n = 0x0102 WHERE id = 2;
SELECT id, i, n, d, y, v, HEX(b) FROM bl ORDER BY id;
-- The number 0 is the year 0000 in a DEFAULT too, the text '0' the year 2000.
CREATE TABLE yd (a YEAR DEFAULT 0, b YEAR DEFAULT '0', c YEAR DEFAULT '0000', d YEAR DEFAULT 70, e YEAR DEFAULT (0), i INT);
SHOW CREATE TABLE yd;
INSERT INTO yd (i) VALUES (1);
INSERT INTO yd (i, a) VALUES (2, DEFAULT);
SELECT * FROM yd ORDER BY i;
-- NULL for a TIMESTAMP that can't be NULL is now.
SET timestamp = 1700000000;
CREATE TABLE tn (id INT PRIMARY KEY AUTO_INCREMENT, a TIMESTAMP NOT NULL, b TIMESTAMP(2) NOT NULL DEFAULT '2001-01-01', c TIMESTAMP NULL, i INT);
INSERT INTO tn (a, b, c) VALUES (NULL, NULL, NULL);
INSERT INTO tn (a, i) SELECT NULL, 1;
INSERT IGNORE INTO tn (a, b) VALUES ('2001-01-01', NULL), (NULLIF(1, 1), '2002-02-02');
UPDATE tn SET b = NULL WHERE id = 2;
INSERT INTO tn (id, a) VALUES (1, '2003-03-03') ON DUPLICATE KEY UPDATE a = NULL, b = '2003-03-03';
REPLACE INTO tn (id, a) VALUES (3, NULL);
SELECT * FROM tn ORDER BY id;
SET timestamp = DEFAULT;
-- An aggregate in EXISTS makes a row of none, also in a view.
CREATE TABLE ea (x INT);
INSERT INTO ea VALUES (1);
CREATE TABLE en (x INT);
CREATE DEFINER = root@localhost VIEW ev AS SELECT 1 AS d FROM ea WHERE EXISTS (SELECT MAX(x) FROM en);
SHOW CREATE VIEW ev;
SELECT * FROM ev;
CREATE DEFINER = root@localhost VIEW ew AS SELECT COUNT(*) AS d, X'4a' AS h FROM ea b JOIN ea c ON EXISTS (SELECT IFNULL(MAX(NULL), 1) FROM en);
SHOW CREATE VIEW ew;
SELECT * FROM ew;
DROP VIEW ev, ew;
DROP TABLE bl, yd, tn, ea, en;
SET sql_mode = DEFAULT;
