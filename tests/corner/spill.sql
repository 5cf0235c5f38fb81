-- Groups, DISTINCT, set operations and joins that do not fit into their memory.
CREATE TABLE sp (id INT PRIMARY KEY, g INT, s VARCHAR(60), l CHAR(8) CHARACTER SET latin1, n DECIMAL(10,2), d DATETIME, e ENUM('x','y','z'), KEY g (g));
INSERT INTO sp WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 990) SELECT n, IF(n % 11 = 0, NULL, n * 37 % 401), IF(n % 13 = 0, NULL, CONCAT(IF(n % 2, 'key ', 'KEY '), LPAD(n % 450, 30, '0'))), ELT(n % 4 + 1, 'é', 'f', 'zz', NULL), n % 97 / 4, '2024-01-01' + INTERVAL n % 300 MINUTE, ELT(n % 3 + 1, 'x', 'y', 'z') FROM r;
SET tmp_table_size = 16384, max_heap_table_size = 16384, join_buffer_size = 1024, sort_buffer_size = 32768;
SELECT g, COUNT(*), SUM(n), MIN(s), MAX(d) FROM sp GROUP BY g ORDER BY g;
SELECT LOWER(s) t, COUNT(*), AVG(n), GROUP_CONCAT(id ORDER BY id) FROM sp GROUP BY t ORDER BY t LIMIT 200;
SELECT LOWER(s) t, l, COUNT(*) c FROM sp GROUP BY t, l HAVING c > 1 ORDER BY t, c, l LIMIT 50;
SELECT e, COUNT(DISTINCT s), COUNT(DISTINCT g, l), SUM(DISTINCT n), COUNT(DISTINCT d) FROM sp GROUP BY e ORDER BY e;
SELECT COUNT(DISTINCT s), SUM(DISTINCT g), AVG(DISTINCT n), GROUP_CONCAT(DISTINCT g ORDER BY g DESC) FROM sp;
SELECT e, g, COUNT(*), SUM(n) FROM sp GROUP BY e, g WITH ROLLUP;
SELECT COUNT(*), SUM(g) FROM (SELECT DISTINCT g, LOWER(s) FROM sp) q;
SELECT DISTINCT LOWER(s) t, l FROM sp ORDER BY t, l LIMIT 100;
-- sorted
SELECT DISTINCT g, d FROM sp;
SELECT COUNT(*) FROM (SELECT s, g FROM sp UNION SELECT LOWER(s), g FROM sp) q;
-- sorted
SELECT g, n FROM sp WHERE id < 700 UNION SELECT g, n FROM sp WHERE id > 300 UNION ALL SELECT 1, 2;
-- sorted
SELECT g FROM sp WHERE id < 700 INTERSECT SELECT g FROM sp WHERE id > 300;
-- sorted
SELECT g, e FROM sp WHERE id < 700 EXCEPT SELECT g, e FROM sp WHERE id > 600;
-- sorted
SELECT g FROM sp INTERSECT ALL SELECT g FROM sp WHERE id > 300;
-- sorted
SELECT g FROM sp EXCEPT ALL SELECT g FROM sp WHERE id > 300;
SELECT COUNT(*), SUM(a.id), SUM(b.id) FROM sp a JOIN sp b ON a.s = b.s;
SELECT COUNT(*), SUM(a.id), SUM(b.id) FROM sp a LEFT JOIN sp b ON a.s = b.s AND a.id < b.id;
SELECT COUNT(*), SUM(a.id), SUM(b.id), SUM(c.id) FROM sp a JOIN sp b ON a.d = b.d LEFT JOIN sp c ON c.s = b.s AND c.id > 500;
SELECT COUNT(*), SUM(a.id), SUM(b.id) FROM sp a LEFT JOIN (sp b JOIN sp c IGNORE INDEX (PRIMARY) ON b.s = c.s) ON a.d = c.d AND a.e = b.e WHERE a.id < 150;
SELECT COUNT(*), SUM(a.id) FROM sp a JOIN (SELECT LOWER(s) t, COUNT(*) n FROM sp GROUP BY t) q ON q.t = a.s WHERE q.n > 1;
SELECT COUNT(*), SUM(b.id) FROM sp a JOIN sp b ON a.n > b.n WHERE a.id < 20;
WITH RECURSIVE r AS (SELECT 1 n UNION SELECT (n * 17 + 3) % 701 FROM r) SELECT COUNT(*), SUM(n) FROM r;
WITH RECURSIVE r AS (SELECT id % 40 n FROM sp UNION SELECT (n * 3 + 1) % 977 FROM r) SELECT COUNT(*), SUM(n) FROM r;
WITH q AS (SELECT g, COUNT(*) c FROM sp GROUP BY g) SELECT a.c, COUNT(*) FROM q a JOIN q b ON a.c = b.c GROUP BY a.c ORDER BY 1;
SELECT a.id, b.id FROM sp a JOIN sp b ON a.s = b.s ORDER BY a.id, b.id LIMIT 40;
CREATE TABLE sp2 AS SELECT g, s, COUNT(*) c, MAX(d) d FROM sp GROUP BY g, s;
SELECT COUNT(*), SUM(c), MAX(d) FROM sp2;
SELECT COUNT(*), SUM(id) FROM sp WHERE s IN (SELECT LOWER(s) FROM sp WHERE id > 400);
SELECT COUNT(*), SUM(id) FROM sp WHERE id NOT IN (SELECT id * 2 FROM sp);
SELECT COUNT(*), SUM((s, g) IN (SELECT s, g FROM sp x WHERE x.id % 3 = 0)), SUM(d NOT IN (SELECT d FROM sp WHERE id < 300)) FROM sp;
SELECT COUNT(*), SUM(n > ALL (SELECT n FROM sp WHERE id < 9 AND n IS NOT NULL)), SUM(n <= ANY (SELECT n FROM sp)), SUM(id <> ANY (SELECT id FROM sp)) FROM sp;
SELECT id, s, d, n FROM sp ORDER BY n, id FOR UPDATE;
BEGIN;
INSERT INTO sp SELECT sp.* FROM sp WHERE id < 0 ORDER BY s;
UPDATE sp SET id = id + 10000 WHERE id < 900;
UPDATE sp SET s = (SELECT MAX(x.s) FROM sp x WHERE x.id = sp.id + 1) WHERE id % 2 = 0;
UPDATE sp a JOIN sp b ON b.id = a.id + 1 SET a.g = b.g + 1, a.s = CONCAT(LEFT(b.s, 3), 'j');
SELECT COUNT(*), SUM(id), SUM(g), MIN(s), MAX(s), SUM(LENGTH(s)) FROM sp;
DELETE FROM sp WHERE (SELECT COUNT(*) FROM sp x WHERE x.id = sp.id + 1) = 0 OR id % 4 = 0;
SELECT COUNT(*), SUM(id), SUM(g), MIN(s), MAX(s) FROM sp;
ROLLBACK;
SET tmp_table_size = DEFAULT, max_heap_table_size = DEFAULT, join_buffer_size = DEFAULT, sort_buffer_size = DEFAULT;
DROP TABLE sp, sp2;
