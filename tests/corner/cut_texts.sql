-- SUBSTRING_INDEX() from the end, CAST that cuts texts and numbers, and definitions that keep the values of a `?`.
SELECT SUBSTRING_INDEX('aaaaaaaaa1', 'aa', -1), SUBSTRING_INDEX('aaaaaaaaa1', 'aa', -2), SUBSTRING_INDEX('aaaaaaaaa1', 'aa', -4), SUBSTRING_INDEX('aaaaaaaaa1', 'aa', 2), SUBSTRING_INDEX('a.b.c', '.', -2), SUBSTRING_INDEX('a.b.c', '.', -4);
SELECT SUBSTRING_INDEX(_latin1'aaaaaaaaa1', _latin1'aa', -1), SUBSTRING_INDEX(_latin1'aaaaaaaaa1', _latin1'aa', -4), SUBSTRING_INDEX(_latin1'aaa', _latin1'aa', -2);
SELECT SUBSTRING_INDEX(_latin1'abc' COLLATE latin1_general_ci, _latin1'b' COLLATE latin1_bin, 1);
CREATE TABLE c (a VARCHAR(30), n INT);
INSERT INTO c (a) VALUES (CAST('xyz' AS CHAR(1)));
INSERT INTO c (a) VALUES (CAST('xyz' AS BINARY(2)));
INSERT INTO c (a) SELECT CAST(CONCAT(12345) AS CHAR(2));
INSERT INTO c (a) VALUES (CAST(12345 AS CHAR(2)));
UPDATE c SET a = CAST(a AS CHAR(1)), n = 1;
SELECT * FROM c ORDER BY a;
SET @n = -5, @s = 'it''s a \\ and é', @b = x'00FF';
PREPARE p FROM 'CREATE TABLE d (a INT DEFAULT ?, b VARCHAR(30) CHARACTER SET utf8mb4 DEFAULT (?), c VARBINARY(5) DEFAULT ?, d INT CHECK (d > ?))';
EXECUTE p USING @n, @s, @b, @n;
INSERT INTO d (d) VALUES (1);
INSERT INTO d (d) VALUES (-9);
SELECT a, b, HEX(c), d FROM d;
SELECT COLLATION(CAST('a' AS CHAR(10) BINARY ASCII)), COLLATION(CAST('a' AS CHAR(10) BINARY UNICODE));
