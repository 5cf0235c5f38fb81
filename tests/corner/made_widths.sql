-- Types of made columns: texts that are never NULL outside of strict mode, widths of what counts, columns beside aggregates.
SET sql_mode = '';
CREATE TABLE n (i INT NOT NULL, s VARCHAR(5) NOT NULL, sn VARCHAR(5), b VARBINARY(20) NOT NULL, k INT);
CREATE TABLE r SELECT AES_ENCRYPT(s, s) a, CHAR(i) b, CHAR(i USING utf8mb3) c, COMPRESS(s) d, ENCODE(s, s) e, FORMAT(i, 1) f, INSERT(s, 1, 1, s) g,
    JSON_ARRAY(s) h, JSON_OBJECT(s, s) i, JSON_QUOTE(s) j, JSON_MERGE(s, s) k, NATURAL_SORT_KEY(s) l, PASSWORD(s) m, QUOTE(s) o, REGEXP_REPLACE(s, 'a', s) p,
    REGEXP_SUBSTR(s, 'a') q, REPEAT(s, 3) t, REPLACE(s, s, s) u, SFORMAT(s) v, SYS_GUID() w, TO_BASE64(s) x, USER() y, UUID() z FROM n;
SHOW CREATE TABLE r;
DROP TABLE r;
CREATE TABLE r SELECT CHR(i) a, LENGTHB(s) b, COLUMN_CHECK(b) c, RADIANS(i) d, CONNECTION_ID() e, IS_IPV4(s) f, NAME_CONST('a', 1) g, SUBSTR_ORACLE(s, 1, 1) h,
    BIT_LENGTH(s) i, LPAD(s, 9, 'x') j, RPAD(s, 9, 'x') k, LPAD(s, 9, '') l, LPAD(s, 9, s) m, SPACE(3) o, SPACE(i) p, REPEAT(s, i) q, QUOTE(sn) t,
    CHAR(k) u, FORMAT(k, 1) v, NVL2(i, s, sn) w, CONCAT(CAST('9' AS SIGNED)) x, LPAD('a', 10, ' ') y, TIME_TO_SEC('12:34:56.789') z FROM n;
SHOW CREATE TABLE r;
DROP TABLE r;
SET sql_mode = 'STRICT_TRANS_TABLES';
CREATE TABLE r SELECT AES_ENCRYPT(s, s) a, CHAR(i) b, FORMAT(i, 1) c, INSERT(s, 1, 1, s) d, JSON_ARRAY(s) e, QUOTE(s) f, REPLACE(s, s, s) g, UUID() h,
    NVL2(i, s, s) i, NVL2(i, sn, s) j, IS_IPV6(s) k, RADIANS(i) l, LPAD('a', 10, ' ') m FROM n;
SHOW CREATE TABLE r;
DROP TABLE r;
SET sql_mode = DEFAULT;
CREATE TABLE r SELECT i + 1 b, LENGTH(s) c, COUNT(*) d, i + COUNT(*) e, CONCAT(s) f, IFNULL(k, i) g, COALESCE(i, 1) h, COUNT(i) + 1 j, EXISTS (SELECT 1 FROM n m WHERE m.i = n.i) k,
    COUNT(*) * 2 l, COUNT(*) / 2 m, BIT_OR(i) + 1 o, BIT_OR(i) * 2 p FROM n;
SELECT * FROM r;
SHOW CREATE TABLE r;
DROP TABLE r, n;
CREATE TABLE n (e ENUM('a','b'), s SET('a','b'), k INT);
INSERT INTO n VALUES ('b', 'a,b', 1), ('a', 'b', 2);
CREATE TABLE r SELECT k, MAX(s) b, MIN(s) c FROM n GROUP BY k;
SHOW CREATE TABLE r;
SELECT * FROM r ORDER BY k;
DROP TABLE r;
SELECT m + 0 FROM (SELECT MAX(s) m FROM n) x;
CREATE VIEW v AS SELECT MIN(e) e, MAX(s) s FROM n;
DESC v;
SELECT * FROM v;
DROP VIEW v;
DROP TABLE n;
CREATE TABLE n (a DECIMAL(5,1), b DECIMAL(5,1) UNSIGNED, c DECIMAL(5,0), d DECIMAL(38,10), e DECIMAL(38,1) UNSIGNED, f DECIMAL(19,1) UNSIGNED, g DECIMAL(19,2), h BIT(30), i BIT(33));
CREATE TABLE r SELECT FLOOR(a), FLOOR(b), FLOOR(c), FLOOR(d), FLOOR(e), FLOOR(f), FLOOR(g), FLOOR(h), FLOOR(i), CEILING(a), CEILING(b), CEILING(c), CEILING(d), CEILING(e), CEILING(f), CEILING(g), CEILING(h), CEILING(i) FROM n;
SHOW CREATE TABLE r;
DROP TABLE r, n;
