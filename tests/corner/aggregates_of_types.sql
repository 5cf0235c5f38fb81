-- SUM and AVG tell texts apart by their numbers, COUNT by what they are.
CREATE TABLE t (g INT, v VARCHAR(10), b BLOB, e ENUM('3', '2', '1'));
INSERT INTO t VALUES (1, '1', '1', '3'), (1, '1.0', '1.0', '3'), (2, 'x', 'x', '2'), (2, 'y', 'y', '1'), (2, NULL, NULL, NULL);
SELECT SUM(DISTINCT v), AVG(DISTINCT v), COUNT(DISTINCT v), SUM(DISTINCT b), SUM(DISTINCT e) FROM t;
SELECT g, SUM(DISTINCT v), AVG(DISTINCT CONCAT(v, '')), COUNT(DISTINCT b) FROM t GROUP BY g WITH ROLLUP;
SELECT SUM(DISTINCT IF(g = 1, '7', '7.0')) FROM t;
SELECT SUM(v) FROM t;
DROP TABLE t;
-- A BIT of a group has its bytes, one of all rows its digits; bits of times are those of whole seconds.
CREATE TABLE t (g INT, bt BIT(10), t3 TIME(3), ts DATETIME(2));
INSERT INTO t VALUES (1, 3, '10:11:12.5', '2001-02-03 04:05:06.25'), (1, 1023, '00:00:00.9', '1999-12-31 23:59:59.99'), (2, 7, '-01:02:03.999', NULL);
SELECT MIN(bt), MAX(bt) FROM t;
SELECT g, MIN(bt), MAX(bt) FROM t GROUP BY g;
SELECT MIN(bt) OVER (PARTITION BY g) FROM t ORDER BY g;
SELECT MAX(bt) AS m FROM t GROUP BY g HAVING m > 7;
SELECT CONCAT(MAX(bt)), HEX(MAX(bt)), MAX(bt) + 0 FROM t GROUP BY g;
SELECT g, BIT_XOR(t3), BIT_OR(ts), BIT_AND(ts) FROM t GROUP BY g;
DROP TABLE t;
