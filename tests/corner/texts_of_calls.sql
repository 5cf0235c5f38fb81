-- A number that a stored function gives is text in the database's character set.
CREATE FUNCTION f1 (p INT) RETURNS INT RETURN p;
CREATE FUNCTION f2 (p INT) RETURNS DECIMAL(10,2) RETURN p;
ALTER DATABASE CHARACTER SET latin1;
CREATE FUNCTION f3 (p INT) RETURNS VARCHAR(10) RETURN p;
CREATE TABLE a1 SELECT CONCAT(f1(1)) a, CONCAT(f2(1)) c, f1(1) e, f1(1)+1 f, COALESCE(f1(1),'a') g, IF(1,f1(1),f3(1)) h;
SHOW CREATE TABLE a1;
SELECT CHARSET(f1(1)), COERCIBILITY(f1(1)), CHARSET(CONCAT(f1(1))), COERCIBILITY(CONCAT(f1(1))), CHARSET(CONCAT(f1(1),1));
-- I with a dot and without are two letters in Turkish.
SELECT HEX(LOWER(_utf8mb4'IiX' COLLATE utf8mb4_turkish_ci)), HEX(UPPER(_utf8mb4'Iix' COLLATE utf8mb4_turkish_ci));
SELECT HEX(LOWER(_utf8mb4 x'4969C4B1C4B0' COLLATE utf8mb4_turkish_ci)), HEX(UPPER(_utf8mb4 x'4969C4B1C4B0' COLLATE utf8mb4_turkish_ci));
SELECT HEX(LOWER(_latin5'IiIx' COLLATE latin5_turkish_ci)), HEX(UPPER(_latin5'Ii' COLLATE latin5_turkish_ci));
SELECT HEX(LOWER(_utf8mb4'Ii' COLLATE uca1400_turkish_ai_ci)), HEX(UPPER(_utf8mb4'Ii' COLLATE uca1400_turkish_as_cs));
-- GROUP_CONCAT is cut at bytes of its own character set.
SET group_concat_max_len = 100;
SELECT CHAR_LENGTH(GROUP_CONCAT(x)) FROM (SELECT CONVERT(REPEAT('a', 200) USING ucs2) x) q;
SELECT CHAR_LENGTH(GROUP_CONCAT(x)) FROM (SELECT CONVERT(REPEAT('a', 200) USING utf32) x) q;
SELECT CHAR_LENGTH(GROUP_CONCAT(x)) FROM (SELECT CONVERT(REPEAT(_latin1 x'E9', 200) USING latin1) x) q;
SELECT CHAR_LENGTH(GROUP_CONCAT(x)) FROM (SELECT CONVERT(REPEAT(_latin1 x'E9', 200) USING utf8mb4) x) q;
SET group_concat_max_len = DEFAULT;
-- Bytes that are computed are text beside a column.
CREATE TABLE b1 (a INT, b VARCHAR(30) CHARACTER SET ucs2, KEY (b));
INSERT INTO b1 VALUES (1, REPEAT(0xF1F2, 5)), (2, REPEAT(0xF1F2, 10)), (3, REPEAT(0xF1F2, 11));
SELECT a, HEX(b) FROM b1 WHERE b LIKE CONCAT(REPEAT(0xF1F2, 10), '%');
SELECT a, HEX(b) FROM b1 IGNORE INDEX (b) WHERE b LIKE CONCAT(REPEAT(0xF1F2, 10), '%');
SELECT a FROM b1 WHERE b = REPEAT(0xF1F2, 10);
SELECT a FROM b1 WHERE b IN (REPEAT(0xF1F2, 10), 'x');
-- WEIGHT_STRING takes so many weights, not characters.
SELECT HEX(WEIGHT_STRING(_utf8mb3'abcch' COLLATE utf8mb3_czech_ci AS CHAR(4))), HEX(WEIGHT_STRING(_utf8mb3'ch' COLLATE utf8mb3_czech_ci AS CHAR(1)));
SELECT HEX(WEIGHT_STRING(_tis620 0xE0A1 AS CHAR(1))), HEX(WEIGHT_STRING(_utf8mb4'abc' AS CHAR(2))), HEX(WEIGHT_STRING(_latin1'abc' AS CHAR(5)));
