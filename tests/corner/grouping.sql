-- GROUP BY, HAVING, WITH ROLLUP, DISTINCT, aggregates of nothing.
CREATE TABLE s (y INT, region VARCHAR(10), product VARCHAR(10), qty INT, price DECIMAL(8,2), KEY (region));
INSERT INTO s VALUES (2000,'north','pen',10,1.50),(2000,'north','ink',5,3.25),(2000,'south','pen',7,NULL),(2001,'north','pen',2,1.60),(2001,'south','ink',NULL,3),(2001,NULL,'ink',4,3.10),(2001,'South','pen',1,1.55);
SELECT y, SUM(qty) FROM s GROUP BY y WITH ROLLUP;
SELECT y, region, SUM(qty) FROM s GROUP BY y, region WITH ROLLUP;
SELECT region, SUM(qty), COUNT(*), COUNT(qty) FROM s GROUP BY region WITH ROLLUP;
SELECT y, region, product, SUM(qty), MAX(price), COUNT(*) FROM s GROUP BY y, region, product WITH ROLLUP;
SELECT y, SUM(qty) AS q FROM s GROUP BY y WITH ROLLUP HAVING q > 20;
SELECT y, region, SUM(qty) q FROM s GROUP BY y, region WITH ROLLUP HAVING region IS NULL;
SELECT y + 1 AS z, COUNT(*) FROM s GROUP BY z WITH ROLLUP;
SELECT y, COUNT(DISTINCT region) FROM s GROUP BY y WITH ROLLUP;
SELECT y, AVG(price), MIN(product), SUM(qty * price) FROM s GROUP BY y WITH ROLLUP;
SELECT y, SUM(qty) FROM s GROUP BY y WITH ROLLUP LIMIT 2;
SELECT y, SUM(qty) FROM s WHERE y > 3000 GROUP BY y WITH ROLLUP;
SELECT SUM(qty), y FROM s GROUP BY y DESC WITH ROLLUP;
SELECT y, SUM(qty) FROM s GROUP BY y WITH ROLLUP ORDER BY y;
SELECT IFNULL(y, 'all') k, SUM(qty) FROM s GROUP BY y WITH ROLLUP;
SELECT COALESCE(region, 'total') k, SUM(qty) FROM s WHERE region IS NOT NULL GROUP BY region WITH ROLLUP;
SELECT * FROM (SELECT y, SUM(qty) q FROM s GROUP BY y WITH ROLLUP) t ORDER BY q DESC;
SELECT y, GROUP_CONCAT(DISTINCT product) IS NULL FROM s GROUP BY y WITH ROLLUP;
-- Grouping.
SELECT y, COUNT(*) FROM s GROUP BY y;
SELECT region, COUNT(*) FROM s GROUP BY region ORDER BY region;
SELECT LOWER(region) r, SUM(qty) FROM s GROUP BY r ORDER BY r;
SELECT y, region, COUNT(*) FROM s GROUP BY 1, 2 ORDER BY 1, 2;
-- Each key is looked at before the next one.
SELECT MIN(y) AS a FROM s GROUP BY 1, -3;
SELECT MIN(y) AS a FROM s GROUP BY -3, 1;
SELECT y, COUNT(*) c FROM s GROUP BY y HAVING c > 3;
SELECT y FROM s GROUP BY y HAVING SUM(qty) > 10 ORDER BY y;
SELECT y FROM s GROUP BY y HAVING MAX(price) > 3.2 OR MIN(qty) = 1 ORDER BY y;
SELECT SUM(qty) FROM s HAVING SUM(qty) > 1000;
SELECT SUM(qty) FROM s HAVING COUNT(*) = 7;
SELECT COUNT(*) FROM s WHERE 0;
SELECT COUNT(*), SUM(qty), MAX(y), MIN(region), AVG(price) FROM s WHERE y = 1;
SELECT y, COUNT(*) FROM s WHERE 0 GROUP BY y;
SELECT 'k', COUNT(*) FROM s WHERE 0;
SELECT COUNT(*) + 1, SUM(qty) * 2, MAX(qty) - MIN(qty) FROM s;
SELECT product, SUM(qty * price) AS total FROM s GROUP BY product ORDER BY total DESC;
SELECT product, SUM(IF(y = 2000, qty, 0)) a, SUM(IF(y = 2001, qty, 0)) b FROM s GROUP BY product ORDER BY product;
SELECT CASE WHEN qty > 4 THEN 'big' ELSE 'small' END k, COUNT(*) FROM s GROUP BY k ORDER BY k;
SELECT y % 2 o, product, COUNT(*) FROM s GROUP BY y % 2, product ORDER BY o, product;
SELECT COUNT(DISTINCT region), COUNT(DISTINCT y, product), COUNT(DISTINCT qty) FROM s;
SELECT SUM(DISTINCT qty), AVG(DISTINCT y), MAX(DISTINCT qty) FROM s;
SELECT DISTINCT region FROM s ORDER BY region;
SELECT DISTINCT y, product FROM s ORDER BY y, product;
SELECT DISTINCT product FROM s GROUP BY product, y ORDER BY product;
SELECT COUNT(*) FROM (SELECT DISTINCT y, region FROM s) d;
SELECT y, MAX(qty) FROM s GROUP BY y ORDER BY MAX(qty) DESC;
SELECT y, COUNT(*) FROM s GROUP BY y ORDER BY COUNT(*) DESC, y LIMIT 1;
SELECT MAX(y) FROM s GROUP BY nosuch;
SELECT y FROM s HAVING nosuch > 1;
SELECT y, SUM(SUM(qty)) FROM s GROUP BY y;
SELECT y FROM s WHERE SUM(qty) > 1;
SELECT y FROM s GROUP BY SUM(qty);
SELECT y FROM s GROUP BY 3;
SELECT MIN(region), MAX(LOWER(region)) FROM s WHERE region > 'n';
SELECT region, MIN(price), MAX(price) FROM s GROUP BY region HAVING region IS NOT NULL ORDER BY region;

-- The first and the last entry of each group in an index
CREATE TABLE skips (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(10), d INT NOT NULL, KEY ab (a, b), KEY cb (c, b, d), KEY abd (a, b DESC, d));
INSERT INTO skips SELECT seq, NULLIF(seq % 5, 4), NULLIF(seq * 7 % 101, 50), ELT(seq % 4 + 1, 'x', 'X', 'y', NULL), seq * 13 % 17 FROM
  (WITH RECURSIVE q AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM q WHERE seq < 1000) SELECT seq FROM q UNION ALL SELECT seq + 1000 FROM q WHERE seq <= 300) n;
INSERT INTO skips VALUES (2001, 7, NULL, 'z', 1), (2002, 7, NULL, 'z', 2), (2003, 8, 5, 'zz', 3), (2004, 9, NULL, 'zy', 3), (2005, 9, 6, 'zy', 1);
ANALYZE TABLE skips;
SELECT DISTINCT a FROM skips ORDER BY a;
SELECT a, MIN(b), MAX(b) FROM skips GROUP BY a ORDER BY a;
SELECT a, MAX(b) FROM skips GROUP BY a ORDER BY a;
SELECT a, MIN(b) FROM skips WHERE a > 1 GROUP BY a ORDER BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a IN (0, 2, 3, 7, 9) GROUP BY a ORDER BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a IS NULL GROUP BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a = 2 AND b > 30 GROUP BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a = 2 AND b BETWEEN 30 AND 60 GROUP BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a = 2 AND b IN (3, 30, 61) GROUP BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a IN (1, 3) AND b IN (3, 30, 61) GROUP BY a ORDER BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a IN (1, 3) AND b > 95 GROUP BY a ORDER BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a IN (1, 3) AND b < 4 GROUP BY a ORDER BY a;
SELECT DISTINCT a FROM skips WHERE a BETWEEN 1 AND 7 ORDER BY a;
SELECT DISTINCT a FROM skips WHERE a > 1 AND b < 3 ORDER BY a;
SELECT DISTINCT a FROM skips WHERE a < 3 OR a > 7 ORDER BY a LIMIT 3;
SELECT LOWER(c), MIN(b), MAX(b) FROM skips WHERE c >= 'x' GROUP BY c ORDER BY c;
SELECT LOWER(c), MIN(b), MAX(b) FROM skips WHERE c LIKE 'z%' GROUP BY c ORDER BY c;
SELECT COUNT(*) FROM (SELECT DISTINCT c, b FROM skips WHERE c = 'X') t;
SELECT a, b, MIN(d), MAX(d) FROM skips FORCE INDEX (abd) WHERE a = 3 AND b < 20 GROUP BY a, b ORDER BY a, b;
SELECT a, MIN(b) FROM skips FORCE INDEX (abd) WHERE a > 1 GROUP BY a HAVING MIN(b) < 3 ORDER BY a DESC;
BEGIN;
DELETE FROM skips WHERE a = 2 AND b < 90;
INSERT INTO skips VALUES (3001, 2, -4, 'x', 1), (3002, 3, 900, 'w', 1), (3003, 4, 1, 'v', 2);
SELECT a, MIN(b), MAX(b) FROM skips GROUP BY a ORDER BY a;
SELECT a, MIN(b), MAX(b) FROM skips WHERE a >= 2 GROUP BY a ORDER BY a;
SELECT DISTINCT a FROM skips WHERE a >= 1 ORDER BY a;
ROLLBACK;
DROP TABLE skips;

-- A name in HAVING that is an item's and a column's: the column, if groups are made by it, and in an aggregate. MariaDB warns of some.
CREATE TABLE names (col0 INT, col1 INT, col2 INT);
INSERT INTO names VALUES (1,5,7),(2,6,8),(2,6,9),(3,5,9);
-- nowarn
SELECT -col2 AS col1 FROM names GROUP BY col2, col1, col0 HAVING NOT col0 - col1 >= col0 ORDER BY 1;
SELECT +col1 AS col2 FROM names GROUP BY names.col1 HAVING NOT col1 NOT IN (-AVG(DISTINCT col2)) ORDER BY 1;
SELECT +col1 AS col2 FROM names GROUP BY names.col1 HAVING AVG(col2) > 7 ORDER BY 1;
-- nowarn
SELECT -col2 AS col1, col1 c FROM names GROUP BY col2, col1, col0 HAVING col1 < 0;
-- nowarn
SELECT -col2 AS col1 FROM names GROUP BY names.col1 HAVING col1 < 0;
SELECT -col2 AS col1 FROM names HAVING col1 < 0 ORDER BY 1;
SELECT -col2 AS col1 FROM names GROUP BY col2 HAVING col1 < 0 ORDER BY 1;
SELECT -col2 AS col1 FROM names GROUP BY col2 HAVING SUM(col1) > 0 ORDER BY 1;
SELECT SUM(col1) AS col1, col0 FROM names GROUP BY col0 HAVING col1 > 5;
SELECT SUM(col1) AS col2, col0 FROM names GROUP BY col0 HAVING SUM(col2) > 8 ORDER BY col0;
SELECT -col2 AS col1 FROM names GROUP BY col2 ORDER BY SUM(col1) DESC, col2;
SELECT DISTINCT -col2 AS col1 FROM names HAVING MAX(col1) < 0;
SELECT MAX(-col2) AS col1 FROM names HAVING MAX(col1) < 7;
DROP TABLE names;

-- A name that several tables have is the select list's, behind the list.
CREATE TABLE of_one (a INT, b INT, col INT);
CREATE TABLE of_two (a INT, b INT, col INT);
INSERT INTO of_one VALUES (1,1,3),(2,2,2),(3,3,1);
INSERT INTO of_two VALUES (1,1,1),(2,2,2),(3,3,3),(3,4,0);
SELECT of_two.a, of_two.b, COUNT(*) FROM of_two LEFT JOIN of_one ON of_two.a = of_one.a GROUP BY a, b ORDER BY 1, 2;
SELECT of_one.*, of_two.col AS other FROM of_one LEFT JOIN of_two ON of_one.b = of_two.b ORDER BY col;
SELECT of_one.col AS other, of_two.col FROM of_one, of_two WHERE of_one.b = of_two.b ORDER BY col;
SELECT of_one.col, of_two.col FROM of_one, of_two WHERE of_one.b = of_two.b ORDER BY col;
SELECT of_one.b FROM of_one, of_two WHERE of_one.b = of_two.b GROUP BY col;
SELECT * FROM of_one, of_two WHERE of_one.b = of_two.b ORDER BY col;
DROP TABLE of_one, of_two;
