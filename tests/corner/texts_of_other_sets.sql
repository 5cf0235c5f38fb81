-- Codes that mean something in their own character set only, on their way into others: A1C0 of ujis is a backslash whose own
-- code is 5C, 815F of sjis as well, 81 of cp1250 is no character.
CREATE TABLE t1 (a VARCHAR(20) CHARACTER SET ucs2, b VARCHAR(20) CHARACTER SET utf8mb4, c VARCHAR(20) CHARACTER SET ujis, e VARCHAR(20) CHARACTER SET utf16, f VARCHAR(20) CHARACTER SET eucjpms, g VARCHAR(20) CHARACTER SET utf8mb3);
INSERT INTO t1 (c) VALUES (_ujis x'A1C0A1BFA1A6');
INSERT INTO t1 (a) VALUES (_ujis x'A1C0A1BFA1A6');
INSERT INTO t1 (b) VALUES (_ujis x'A1C0A1BFA1A6');
INSERT INTO t1 (e) VALUES (_ujis x'A1C0A1BFA1A6');
INSERT INTO t1 (f) VALUES (_ujis x'A1C0A1BFA1A6');
INSERT INTO t1 (g) VALUES (_ujis x'A1C0A1BFA1A6');
UPDATE t1 SET a=c, b=c, e=c, f=c, g=c WHERE c IS NOT NULL;
SELECT hex(a), hex(b), hex(c), hex(e), hex(f), hex(g) FROM t1;
SELECT hex(convert(_ujis x'A1C0' USING ucs2)), hex(convert(_ujis x'A1C0' USING utf8mb4)), hex(convert(c USING utf8mb4)) FROM t1;
CREATE TABLE u (a VARCHAR(20) CHARACTER SET sjis, b VARCHAR(20) CHARACTER SET big5, c VARCHAR(20) CHARACTER SET gbk);
INSERT INTO u VALUES (_sjis x'815F', _big5 x'A145', _gbk x'A2A1');
DELETE FROM t1 WHERE c IS NULL;
INSERT INTO t1 (b) SELECT a FROM u;
INSERT INTO t1 (b) SELECT DISTINCT a FROM u;
INSERT INTO t1 (b) SELECT max(a) FROM u GROUP BY c;
INSERT INTO t1 (b) SELECT concat(a,'') FROM u UNION SELECT a FROM u;
INSERT INTO t1 (b) VALUES ('x'), (_sjis x'815F') ON DUPLICATE KEY UPDATE b=_sjis x'815F';
REPLACE INTO t1 (b) VALUES (_sjis x'815F');
-- sorted
SELECT hex(b) FROM t1;
SELECT hex(concat(a, _utf8mb4 x'C3A9')), hex(coalesce(a, _utf8mb4 x'C3A9')), hex(if(1, a, _utf8mb4 x'C3A9')), hex(CASE WHEN 1 THEN a ELSE _utf8mb4 x'C3A9' END), hex(greatest(a, _utf8mb4 x'21')) FROM u;
SELECT hex(group_concat(_ujis x'A1C0', _utf8mb4 x'C3A9'));
SELECT _ujis x'A1C0' = _utf8mb4 x'5C', _utf8mb4 x'5C' = _sjis x'815F';
ALTER TABLE t1 MODIFY c VARCHAR(20) CHARACTER SET utf8mb4;
SELECT hex(c) FROM t1 WHERE c IS NOT NULL;
ALTER TABLE u CONVERT TO CHARACTER SET utf8mb4;
SELECT hex(a), hex(b), hex(c) FROM u;
-- Codes without a character.
CREATE TABLE w (a VARCHAR(10) CHARACTER SET utf8mb4);
INSERT INTO w VALUES (_sjis x'8140'), (_cp932 x'8740');
-- nowarn
INSERT INTO w VALUES (_sjis x'F040');
-- nowarn
INSERT INTO w VALUES (_cp1250 x'81');
-- nowarn
INSERT IGNORE INTO w VALUES (_cp1250 x'81'), (_cp1250 x'418142'), (_sjis x'F040');
SELECT hex(a) FROM w;
CREATE TABLE y (a ENUM('x','\\') CHARACTER SET utf8mb4);
INSERT INTO y VALUES (_ujis x'A1C0');
SELECT hex(a) FROM y;
CREATE PROCEDURE p() BEGIN DECLARE v VARCHAR(10) CHARACTER SET utf8mb4; DECLARE o VARCHAR(10) CHARACTER SET utf8mb4 DEFAULT _ujis x'A1C0'; SET v=_sjis x'815F'; SELECT hex(v), hex(o); END;
CALL p();
CREATE FUNCTION f() RETURNS VARCHAR(10) CHARACTER SET utf8mb4 RETURN _sjis x'815F';
SELECT hex(f());
CREATE TABLE x AS SELECT _ujis x'A1C0' AS a, convert(_ujis x'A1C0' USING utf8mb4) AS b, concat(_ujis x'A1C0', _utf8mb4 x'C3A9') AS c;
SELECT hex(a), hex(b), hex(c) FROM x;
-- Values of expressions in definitions, and parameters.
CREATE TABLE z (b VARCHAR(10) CHARACTER SET sjis, c VARCHAR(10) CHARACTER SET utf8mb4 AS (b) STORED, d VARCHAR(10) CHARACTER SET utf8mb4 DEFAULT (b), e VARCHAR(10) CHARACTER SET utf8mb4 AS (upper(b)) VIRTUAL);
INSERT INTO z (b) VALUES (_sjis x'815F');
SELECT hex(b), hex(c), hex(d), hex(e) FROM z;
SET @v = _sjis x'815F';
INSERT INTO z (b, d) VALUES (@v, @v);
INSERT INTO z (b, d) SELECT @v, @v;
SELECT hex(b), hex(c), hex(d), hex(e) FROM z;
CREATE PROCEDURE q(x VARCHAR(10) CHARACTER SET utf8mb4) SELECT hex(x);
CALL q(_sjis x'815F');
CREATE FUNCTION g(x VARCHAR(10) CHARACTER SET utf8mb4) RETURNS VARCHAR(20) RETURN hex(x);
SELECT g(_sjis x'815F'), g(_ujis x'A1C0');
