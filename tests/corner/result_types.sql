-- What results are: widths of integers and texts in CREATE TABLE ... SELECT, names, coercibility, values beside moments.
CREATE TABLE b0 (i INT, d DECIMAL(10,2), v VARCHAR(10), w VARCHAR(600), tx TEXT, dt DATE, dtm DATETIME, tm TIME(3), y YEAR);
INSERT INTO b0 VALUES (1, 1.5, '12', 'w', 't', '2001-01-01', '2001-01-01 10:10:10', '10:10:10', 2001);
CREATE TABLE r1 SELECT CAST('1' AS UNSIGNED) a1, CAST('-11' AS SIGNED) a2, CAST(NULL AS SIGNED) a3, CAST(NULL AS UNSIGNED) a4, CAST(123456789012 AS SIGNED) a5, CAST(1e3 AS SIGNED) a6, CAST(0xff AS SIGNED) a7, CAST(0xffffffffff AS UNSIGNED) a8, CAST(y AS UNSIGNED) a9, CAST(YEAR(dt) AS UNSIGNED) b1, TRUE b2, TRUE+1 b3, IF(1,TRUE,FALSE) b4, 0x11+0 b5, b'101'+0 b6, 0.5 b7, 0.5*0.5 b8, -0.5 b9, CEILING(0.5) c1, ROUND(dt) c2, TRUNCATE(y,0) c3, ROUND(i,-1) c4, ~i c5 FROM b0;
SHOW CREATE TABLE r1;
CREATE TABLE r2 SELECT CONCAT(MONTH(dt)) a1, MONTH(dt)+1 a2, -MONTH(dt) a3, CONCAT(YEAR(dt)) a4, COALESCE(MONTH(dt),1) a5, SUM(MONTH(dt)) a6, EXTRACT(YEAR FROM dt) a7, EXTRACT(DAY_MINUTE FROM dt) a8, EXTRACT(DAY_MICROSECOND FROM dt) a9, CONCAT(LENGTH('a')+1) b1, CONCAT(TRUE) b2, CONCAT(EXP(2)) b3, CONCAT(~0) b4 FROM b0;
SHOW CREATE TABLE r2;
CREATE TABLE r3 SELECT CONCAT_WS(1,2,3) a1, ELT(1,111,222,333) a2, INSERT(1133,3,0,22) a3, REPLACE(111,2,3) a4, REPLACE(v,'a','bbb') a5, SUBSTR(v,3) a6, SUBSTR(v,3,2) a7, SUBSTR(v,-3) a8, FORMAT(i,2) a9, FORMAT(d,1) b1, FORMAT('1',0) b2, CONV(10,10,2) b3, SHA2('a',256) b4, CHARSET('a') b5, DATABASE() b6, USER() b7, DATE_FORMAT(dt,'%Y-%m-%d') b8, DATE_FORMAT(dt,v) b9, TIME_FORMAT(tm,'%H') c1, DATE_ADD('2004-01-01', INTERVAL 1 DAY) c2, DATE_ADD('2004-01-01', INTERVAL 1.5 SECOND) c3 FROM b0;
SHOW CREATE TABLE r3;
DROP TABLE r3;
CREATE TABLE r4 SELECT REPEAT('a',512) a1, REPEAT('a',513) a2, REPEAT('a',70000) a3, CONCAT(w) a4, CONCAT(tx) a5, CONCAT(tx,'a') a6, MAX(w) a7, IFNULL(w,'a') a8, CAST('a' AS BINARY) a9, CAST('a' AS BINARY(5)) b1, CAST('a' AS CHAR(513)) b2, CAST('x' AS CHAR(70000)) b3, CAST(NULL AS CHAR) b4, CAST(NULL AS BINARY) b5, GROUP_CONCAT(i) b6, CONCAT(NULL) b7, 'abc' COLLATE utf8mb4_bin b8, (SELECT 1) b9 FROM b0;
SHOW CREATE TABLE r4;
CREATE TABLE r5 SELECT JSON_ARRAY('abc',1) a1, JSON_OBJECT('abc','def') a2, JSON_SET('[1]','$[0]',1) a3, JSON_ARRAY_APPEND('[1]','$[0]',12345) a4, JSON_EXTRACT('{"a":1}','$.a','$.b') a5, JSON_SEARCH('["abc"]','one','abc') a6, JSON_QUOTE('foo') a7, JSON_NORMALIZE('[1]') a8, JSON_VALID('[]') a9, JSON_LENGTH('[]') b1, JSON_MERGE('[12]','[3456]') b2, JSON_LOOSE('[1]') b3, JSON_KEYS('{"a":1}') b4;
SHOW CREATE TABLE r5;
-- Words of literals are columns' names in capitals, NAME_CONST has its own.
SELECT true, false, null, (null), TRUE AS x, NOT true, name_const('abc', 1);
-- GREATEST and LEAST beside a moment are moments.
SELECT GREATEST(dt, 20200101), LEAST(dt, 20000101), LEAST(dtm, 20000101), GREATEST(tm, 1), GREATEST(dt, 20020101) + 0 FROM b0;
-- A moment that is a text counts as its digits.
SELECT -('2000-01-01' + INTERVAL 1 DAY), 2 + ('2000-01-01' + INTERVAL 1 DAY), ('2000-01-01' + INTERVAL 1 SECOND) | 0;
-- YEAR has no sign.
SELECT y - 2010 FROM b0;
SELECT y * 2, y - 1 FROM b0;
-- Bytes that are no text become question marks.
SET sql_mode = '';
SELECT HEX(CONVERT(0xFF USING utf8mb4)), HEX(CAST(0xff41 AS CHAR)), HEX(CONVERT(CHAR(0xff, 0x8f) USING utf8mb4)), HEX(CAST(x'e38182ff' AS CHAR CHARACTER SET utf8));
SET sql_mode = DEFAULT;
-- A format that is not known before gives DATETIME(6).
CREATE TABLE f (a VARCHAR(10));
INSERT INTO f VALUES ('%Y'), ('%Y-%m');
SELECT STR_TO_DATE('2001', a), STR_TO_DATE('2001', '%Y') FROM f;
-- How strongly texts hold to their collation.
CREATE FUNCTION f1() RETURNS VARCHAR(10) RETURN 'a';
SELECT COERCIBILITY(f1()), COERCIBILITY(CONCAT(1)), COERCIBILITY(CONCAT(NOW())), COERCIBILITY(NOW());
SELECT COERCIBILITY(x), COERCIBILITY(y) FROM (SELECT 'a' AS x, v AS y FROM b0) d;
-- COLLATE of what is no text.
SELECT COLLATION(2 COLLATE utf8mb4_bin), COLLATION(NOW() COLLATE utf8mb4_bin);
SELECT 2 COLLATE latin1_bin;
SELECT NULL COLLATE latin1_bin;
SELECT CAST('a' AS CHAR(10) CHARACTER SET latin1 COLLATE DEFAULT);
-- More parentheses around queries than they need.
SELECT 1 FROM b0 WHERE EXISTS ((SELECT 1));
SELECT * FROM ((SELECT 1 AS x)) y JOIN (((SELECT 2 AS z))) w;
SELECT 1 FROM b0 WHERE i = ANY ((SELECT 1)) AND NOT EXISTS (((SELECT i FROM b0) EXCEPT (SELECT 1)));
SELECT 1 IN ((SELECT 1), (SELECT 2)), ((SELECT 1) + 1);
-- Without PAD SPACE no spaces have weights.
SELECT HEX(WEIGHT_STRING(_latin1'ab' COLLATE latin1_nopad_bin AS CHAR(5))), HEX(WEIGHT_STRING('a' COLLATE utf8mb4_unicode_nopad_ci AS CHAR(3))), HEX(WEIGHT_STRING('a' AS CHAR(3)));
-- A subquery of the select list may name what stands before it.
SELECT 1 AS a, (SELECT a), (SELECT a + 1);
SELECT v AS x, (SELECT x) FROM b0;
SELECT (SELECT z) AS y, 1 AS z;
SELECT SUM(i) AS x, (SELECT x) FROM b0;
SELECT 1 AS q, (SELECT 1 WHERE q = 1);
SELECT 5 AS i, (SELECT i) FROM b0;
-- ORDER BY looks at its subqueries, and IGNORE makes NULL of several rows.
CREATE TABLE several (a INT);
INSERT INTO several VALUES (1), (1);
SELECT i FROM b0 ORDER BY (SELECT a FROM several);
CREATE TABLE ign (a INT, b INT);
INSERT INTO ign VALUES (1, 1), (2, 2);
UPDATE IGNORE ign SET b = (SELECT a FROM several);
DELETE IGNORE FROM ign WHERE a = (SELECT a FROM several);
INSERT IGNORE INTO ign VALUES ((SELECT a FROM several), 3);
SELECT * FROM ign ORDER BY b, a;
UPDATE ign SET b = (SELECT a FROM several);
-- JSON: truth values, keys of one name, places counted from the end.
SELECT JSON_ARRAY(COALESCE(TRUE, FALSE), IF(1, TRUE, 1), (SELECT MAX(i) = 1 FROM b0), GREATEST(TRUE, FALSE), TRUE + 0), JSON_OBJECT('x', MAX(i = 1)), JSON_ARRAYAGG(TRUE) FROM b0;
SELECT JSON_VALUE('{"a":[1],"a":2}', '$.a'), JSON_QUERY('{"a":1,"a":[2]}', '$.a'), JSON_EXTRACT('{"a":1,"a":2}', '$.a'), JSON_LENGTH('{"a":{"b":1},"a":{"c":[1,2]}}', '$.a.c');
SELECT JSON_ARRAY_INSERT('[1,2,3]', '$[-1]', 9), JSON_ARRAY_INSERT('[1,2,3]', '$[-3]', 9), JSON_ARRAY_INSERT('[1,2,3]', '$[-9]', 9), JSON_VALUE('[1,2,3]', '$[-0]');
SELECT JSON_ARRAYAGG(i, i) FROM b0;
-- Views over sequence tables, and tables of values that are given.
CREATE VIEW sv AS SELECT seq * 2 AS d FROM seq_1_to_3;
SELECT * FROM sv;
EXECUTE IMMEDIATE 'CREATE TABLE pt AS SELECT ? + 1 AS c, CONCAT(?) AS d' USING 1, 'a';
SELECT * FROM pt;
CREATE TABLE du AS SELECT * FROM (SELECT 1 a, 'x' b, DATE'2001-01-01' c, 1.5 d) x UNION SELECT 2, 'y', DATE'2001-01-02', 2.5;
SHOW CREATE TABLE du;
SELECT CRC32(PI()), ROUND(1e1, 308), CAST(1 AS UNSIGNED) + 1;
SELECT CAST(1 AS UNSIGNED) - 2;
CREATE TABLE nu SELECT CAST('-1' AS UNSIGNED) AS a, FORMAT(-0.5, 2) AS b;
SELECT * FROM nu;
