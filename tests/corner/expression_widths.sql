-- What CREATE TABLE ... SELECT makes of expressions: widths of integers, digits of decimals, texts that may be NULL.
CREATE TABLE b0 (a INT, b INT UNSIGNED, c BIGINT, d TINYINT(1), e DECIMAL(10,2), f DOUBLE, g VARCHAR(5), h SMALLINT UNSIGNED, k DATE);
CREATE TABLE w1 SELECT 1 a1, -1 a2, 1+1 a3, 1*2 a4, 5 MOD 3 a5, 5 DIV 2 a6, 1|2 a7, 1=1 a8, NOT 1 a9, 1 AND 2 b1, ABS(1) b2, ABS(-12) b3, CEIL(1.5) b4, FLOOR(1.5) b5, ROUND(15) b7, SIGN(2) b8, LENGTH('a') b9, LOCATE('a','b') c1, INSTR('a','b') c2, ASCII('a') c3, ORD('a') c4 FROM b0;
SHOW CREATE TABLE w1;
CREATE TABLE w2 SELECT YEAR(k) a1, MONTH(k) a2, DAY(k) a3, HOUR(k) a4, MINUTE(k) a5, SECOND(k) a6, QUARTER(k) a7, WEEK(k) a8, DAYOFYEAR(k) a9, TO_DAYS(k) b1, YEARWEEK(k) b2, TIME_TO_SEC(k) b3, FIELD('a','b') b4, STRCMP('a','b') b5, BIT_COUNT(3) b6, CRC32('a') b7, FIND_IN_SET('a','b') b8, DATEDIFF(k,k) b9, DAYOFWEEK(k) c1, WEEKDAY(k) c2, CHAR_LENGTH('a') c3 FROM b0;
SHOW CREATE TABLE w2;
CREATE TABLE w3 SELECT a+1 a1, b+1 a2, c+1 a3, d+1 a4, a*2 a5, a-b a6, -a a7, -b a8, ABS(a) a9, a DIV 2 b1, a MOD 7 b2, d b3, -d b4, a|1 b5, a/2 c3, a+e c4, a+1.5 c5, e*2 c6, a+f c7, h+1 d1, a+b d2, ROUND(a) d3, ROUND(e,1) d4, COALESCE(a,1) e3, COALESCE(a,b) e4, IF(a,a,1) e6, NULLIF(d,1) e8, GREATEST(a,1) f1, CAST(d AS SIGNED) f2, CAST(g AS SIGNED) f3, 1.5+1 g1, 1.5*2 g2, 1.5/2 g3, 10000000000+1 g4 FROM b0;
SHOW CREATE TABLE w3;
CREATE TABLE w4 SELECT COUNT(*) a, SUM(a) b, AVG(a) c, MIN(a) d, BIT_AND(a) f, SUM(1) g, SUM(d) h, AVG(1) i FROM b0;
SHOW CREATE TABLE w4;
CREATE TABLE w5 SELECT CONCAT(1) a, CONCAT('a') b, UPPER('a') c, HEX(1) d, CONCAT(1,2) e, CONCAT(-1) f, CONCAT(1.5) g, CONCAT(1e0) h, CONCAT(1+1) i, CONCAT(1=1) j, CONCAT(ABS(1)) k, CONCAT(CAST(1 AS SIGNED)) l, CONCAT(COALESCE(1,2)) n, CONCAT(1.5+1) p, LEFT('abc',2) q, TRIM('a') r, MD5('a') s, IF(1,'a','b') af, COALESCE('a') ag, CAST(1 AS CHAR) ah, CONCAT(1 DIV 2) al, CONCAT(1/2) am, CONCAT(COUNT(*)) au FROM b0;
SHOW CREATE TABLE w5;
CREATE TABLE w7 SELECT * FROM (SELECT 1+1 a, a b FROM b0) q;
SHOW CREATE TABLE w7;
-- A column is named as the statement has it; one of a view or of a query as that one has it.
CREATE TABLE nn (userID INT, b INT);
INSERT INTO nn VALUES (1, 2);
SELECT userid, USERID + 1, nn.USERid FROM nn;
CREATE VIEW nv AS SELECT USERID FROM nn;
SELECT userid FROM nv;
SELECT * FROM (SELECT USERID FROM nn) x;
SELECT userId FROM (SELECT USERID FROM nn) x;
CREATE TABLE nx SELECT USERid FROM nn;
SHOW CREATE TABLE nx;
SELECT USERID FROM nn UNION SELECT b FROM nn ORDER BY 1;
-- Bytes beside a column are text in its character set.
CREATE TABLE j (a CHAR(4) CHARACTER SET ujis, b CHAR(4) CHARACTER SET latin1);
INSERT INTO j VALUES (0xA1A1, 0xE4), ('x', 'y');
SELECT HEX(a) FROM j WHERE a = 0xA1A1;
SELECT HEX(b) FROM j WHERE b = 0xE4;
UPDATE j SET b = 'q' WHERE a = 0xA1A1;
SELECT HEX(b) FROM j WHERE a IN (0xA1A1, 'z');
-- USING shows one of two columns, also to SET.
CREATE TABLE u1 (a INT, b INT);
CREATE TABLE u2 (a INT, b INT);
CREATE TABLE u3 (a INT, c INT);
INSERT INTO u1 VALUES (1, 1);
INSERT INTO u2 VALUES (1, 2);
INSERT INTO u3 VALUES (1, 3);
UPDATE u1 JOIN u2 USING (a) SET a = 5;
SELECT * FROM u1, u2;
UPDATE u2 JOIN (u1 JOIN u3 USING (a)) USING (a) SET a = 6;
UPDATE u1 LEFT JOIN u2 USING (a) SET a = 7;
UPDATE u1 RIGHT JOIN u2 USING (a) SET a = 8;
SELECT * FROM u1, u2, u3;
-- A row that stays as it is counts as no change, with triggers too.
CREATE TABLE q1 (a INT);
INSERT INTO q1 VALUES (2);
CREATE TRIGGER q_after AFTER UPDATE ON q1 FOR EACH ROW SET @n = 1;
UPDATE q1 SET a = 2;
DROP TRIGGER q_after;
CREATE TRIGGER q_before BEFORE UPDATE ON q1 FOR EACH ROW SET NEW.a = 5;
UPDATE q1 SET a = 2;
UPDATE q1 SET a = 2;
SELECT * FROM q1;
-- LOCK TABLES ends with the last of its tables.
CREATE TABLE lt (a INT);
LOCK TABLES lt WRITE;
DROP TABLE lt;
CREATE TABLE lt (a INT);
DROP TABLE lt;
-- Eight bytes may be any number.
CREATE TABLE w8 SELECT CAST(0x8000000000000000 AS SIGNED) a;
SELECT a FROM w8;
