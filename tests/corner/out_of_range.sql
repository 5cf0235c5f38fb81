-- Error 1690 says the expression, with the values that stand in the statement.
CREATE TABLE t (a INT PRIMARY KEY, b INT UNSIGNED, c BIGINT);
INSERT INTO t VALUES (1, 1, 9223372036854775807), (2, 0, 5);
-- wording
UPDATE t SET b = b - 1 WHERE a = 2;
-- wording
SELECT b - 2 FROM t WHERE a = 1;
-- wording
SELECT c + 1 FROM t WHERE a = 1;
-- wording
SELECT c * 2, 'x' FROM t WHERE a = 1;
-- wording
SELECT * FROM t WHERE c + 10 > 5;
-- wording
INSERT INTO t VALUES (3, 1, 9223372036854775807 + 1);
-- wording
SELECT EXP(1000 * a) FROM t;
-- wording
SELECT POW(a + 1, 5000) FROM t;
-- wording
SELECT ABS(c - 9223372036854775807 - 9223372036854775807) FROM t WHERE a = 2;
PREPARE s FROM 'SELECT b - ? FROM t WHERE a = ?';
SET @x = 7, @y = 1;
-- wording
EXECUTE s USING @x, @y;
DEALLOCATE PREPARE s;
DROP TABLE t;
