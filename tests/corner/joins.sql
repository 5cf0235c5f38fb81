-- Joins: every kind, with conditions that decide the order of reading; NULLs; equal names; self joins; large against small.
CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(10), city VARCHAR(10), KEY (city));
CREATE TABLE o (id INT PRIMARY KEY, cid INT, total DECIMAL(8,2), KEY (cid));
CREATE TABLE l (oid INT, line INT, item VARCHAR(10), qty INT, PRIMARY KEY (oid, line), KEY (item));
CREATE TABLE x (a INT, b VARCHAR(10));
INSERT INTO c VALUES (1,'ann','oslo'),(2,'bob','rome'),(3,'cid','oslo'),(4,'dan',NULL),(5,'ANN','bern');
INSERT INTO o VALUES (10,1,5.00),(11,1,7.50),(12,2,NULL),(13,9,1),(14,NULL,2),(15,3,100);
INSERT INTO l VALUES (10,1,'nut',2),(10,2,'bolt',5),(11,1,'nut',1),(12,1,'gear',NULL),(15,1,'nut',9),(15,2,'gear',3),(99,1,'lost',1);
INSERT INTO x VALUES (1,'ann'),(1,'x'),(NULL,'bob'),(3,NULL);
SELECT c.name, o.id FROM c JOIN o ON o.cid = c.id ORDER BY o.id;
SELECT c.name, o.id FROM c, o WHERE o.cid = c.id AND c.city = 'oslo' ORDER BY o.id;
SELECT c.name, o.id FROM o, c WHERE o.cid = c.id AND o.total > 5 ORDER BY o.id;
SELECT c.name, o.id FROM c LEFT JOIN o ON o.cid = c.id ORDER BY c.id, o.id;
SELECT c.name, o.id FROM c RIGHT JOIN o ON o.cid = c.id ORDER BY o.id;
SELECT c.name, o.id FROM c LEFT JOIN o ON o.cid = c.id WHERE o.id IS NULL ORDER BY c.id;
SELECT c.name, o.id FROM c LEFT JOIN o ON o.cid = c.id AND o.total > 6 ORDER BY c.id, o.id;
SELECT c.name, o.id FROM c LEFT JOIN o ON o.cid = c.id WHERE o.total > 6 ORDER BY c.id, o.id;
SELECT c.name, o.id FROM c LEFT JOIN o ON o.cid = c.id WHERE o.total > 6 OR o.id IS NULL ORDER BY c.id, o.id;
SELECT c.name, o.id FROM c LEFT JOIN o ON o.cid = c.id AND c.city = 'oslo' ORDER BY c.id, o.id;
SELECT c.name, o.id FROM c LEFT JOIN o ON 0 ORDER BY c.id;
SELECT c.name, o.id FROM c LEFT JOIN o ON 1 = 1 WHERE c.id = 1 ORDER BY o.id;
SELECT c.name, o.id, l.item FROM c JOIN o ON o.cid = c.id JOIN l ON l.oid = o.id ORDER BY o.id, l.line;
SELECT c.name, o.id, l.item FROM l JOIN o ON l.oid = o.id JOIN c ON o.cid = c.id WHERE l.item = 'nut' ORDER BY o.id, l.line;
SELECT c.name, o.id, l.item FROM c LEFT JOIN o ON o.cid = c.id LEFT JOIN l ON l.oid = o.id ORDER BY c.id, o.id, l.line;
SELECT c.name, o.id, l.item FROM c LEFT JOIN (o JOIN l ON l.oid = o.id) ON o.cid = c.id ORDER BY c.id, o.id, l.line;
SELECT c.name, o.id, l.item FROM c LEFT JOIN (o LEFT JOIN l ON l.oid = o.id AND l.qty > 2) ON o.cid = c.id ORDER BY c.id, o.id, l.line;
-- later
SELECT c.name, o.id, l.item FROM c JOIN o LEFT JOIN l ON l.oid = o.id ON o.cid = c.id ORDER BY o.id, l.line;
SELECT c.name, o.id, l.item FROM l RIGHT JOIN o ON l.oid = o.id RIGHT JOIN c ON o.cid = c.id ORDER BY c.id, o.id, l.line;
SELECT c.name, l.item FROM c LEFT JOIN o ON o.cid = c.id JOIN l ON l.oid = o.id ORDER BY c.id, l.oid, l.line;
SELECT c.name, o.id FROM c LEFT JOIN o ON o.cid = c.id JOIN x ON x.a = c.id ORDER BY c.id, o.id, x.b;
SELECT c.id, o.id, x.b FROM (c, o) LEFT JOIN x ON x.a = c.id WHERE o.cid = c.id ORDER BY o.id, x.b;
SELECT COUNT(*) FROM c, o, l, x;
SELECT COUNT(*) FROM c CROSS JOIN o;
SELECT COUNT(*) FROM c, o WHERE c.id < o.cid;
SELECT c.id, o.id FROM c JOIN o ON c.id < o.cid WHERE o.id > 12 ORDER BY c.id, o.id;
SELECT c.name, x.b FROM c JOIN x ON x.b = c.name ORDER BY c.id, x.a;
SELECT c.name, x.b FROM x JOIN c ON x.b <=> c.city ORDER BY c.id, x.a;
SELECT a.id, b.id FROM c a JOIN c b ON a.city = b.city AND a.id < b.id;
SELECT a.name, b.name FROM c a LEFT JOIN c b ON a.city = b.city AND a.id <> b.id ORDER BY a.id;
SELECT a.name FROM c a JOIN c b ON a.name = b.name GROUP BY a.id HAVING COUNT(*) > 1 ORDER BY a.id;
SELECT o.id, l.line FROM o JOIN l ON (l.oid, l.line) = (o.id, 2) ORDER BY 1;
SELECT o.id, l.line FROM o JOIN l ON l.oid = o.id AND l.line = 1 WHERE o.cid IN (1, 3) ORDER BY 1;
SELECT o.id, l.item FROM o JOIN l ON l.oid = o.id + 0 ORDER BY 1, l.line;
SELECT o.id, l.item FROM o JOIN l ON l.oid BETWEEN o.id AND o.id + 1 WHERE o.id = 10 ORDER BY l.oid, l.line;
SELECT o.id, c.id FROM o JOIN c ON c.id = o.cid OR c.id = 5 WHERE o.id < 12 ORDER BY 1, 2;
SELECT o.id, c.name FROM o JOIN c ON c.id = o.cid WHERE c.id = 1 AND o.total > 1 ORDER BY o.id;
SELECT o.id, c.name FROM o JOIN c ON c.id = o.cid WHERE o.id = 10;
SELECT o.id, c.name FROM o LEFT JOIN c ON c.id = o.cid WHERE o.id IN (10, 13, 14) ORDER BY o.id;
SELECT c.city, SUM(o.total), COUNT(o.id), COUNT(*) FROM c LEFT JOIN o ON o.cid = c.id GROUP BY c.city ORDER BY c.city;
SELECT l.item, SUM(l.qty) q, COUNT(DISTINCT o.cid) FROM l JOIN o ON o.id = l.oid GROUP BY l.item ORDER BY q DESC, l.item;
SELECT c.name, t.n FROM c JOIN (SELECT cid, COUNT(*) n FROM o GROUP BY cid) t ON t.cid = c.id ORDER BY c.id;
SELECT c.name, t.n FROM c LEFT JOIN (SELECT cid, COUNT(*) n FROM o GROUP BY cid) t ON t.cid = c.id ORDER BY c.id;
SELECT c.name, t.n FROM (SELECT cid, COUNT(*) n FROM o GROUP BY cid) t RIGHT JOIN c ON t.cid = c.id AND t.n > 1 ORDER BY c.id;
SELECT t.id, u.id FROM (SELECT id FROM c WHERE id < 3) t JOIN (SELECT id FROM c WHERE id > 1) u ON t.id <> u.id ORDER BY 1, 2;
-- USING and NATURAL.
CREATE TABLE p (id INT, k INT, v VARCHAR(5));
CREATE TABLE q (id INT, k INT, w VARCHAR(5));
INSERT INTO p VALUES (1,1,'a'),(2,2,'b'),(3,NULL,'c');
INSERT INTO q VALUES (1,1,'x'),(2,9,'y'),(4,2,'z');
SELECT * FROM p JOIN q USING (id) ORDER BY id;
SELECT * FROM p JOIN q USING (id, k);
SELECT * FROM p NATURAL JOIN q;
SELECT * FROM p NATURAL LEFT JOIN q ORDER BY id;
SELECT * FROM p NATURAL RIGHT JOIN q ORDER BY id;
SELECT * FROM p LEFT JOIN q USING (id) ORDER BY id;
SELECT * FROM p RIGHT JOIN q USING (id) ORDER BY id;
SELECT id, p.k, q.k FROM p LEFT JOIN q USING (id) ORDER BY id;
SELECT id FROM p JOIN q ON p.id = q.id;
SELECT p.*, q.w FROM p, q WHERE p.id = q.id ORDER BY 1;
SELECT * FROM p JOIN q USING (nosuch);
SELECT * FROM p JOIN q ON p.nosuch = q.id;
SELECT * FROM p JOIN p ON 1;
SELECT STRAIGHT_JOIN p.id, q.id FROM p JOIN q ON p.id = q.k ORDER BY 1;
SELECT p.id, q.id FROM p STRAIGHT_JOIN q ON p.id = q.k ORDER BY 1;
SELECT * FROM p INNER JOIN q ON p.id = q.id WHERE p.v LIKE 'a%' AND q.w IN ('x', 'y');
SELECT p.id FROM p LEFT JOIN q ON p.id = q.id WHERE q.w LIKE 'x%' ORDER BY 1;
SELECT p.id FROM p LEFT JOIN q ON p.id = q.id WHERE q.k BETWEEN 0 AND 5 ORDER BY 1;
SELECT p.id FROM p LEFT JOIN q ON p.id = q.id WHERE NOT (q.k > 5) ORDER BY 1;
SELECT p.id FROM p LEFT JOIN q ON p.id = q.id WHERE q.k <=> NULL ORDER BY 1;
SELECT p.id FROM p LEFT JOIN q ON p.id = q.id WHERE COALESCE(q.k, 1) = 1 ORDER BY 1;
SELECT p.id, q.id FROM p LEFT JOIN q ON p.id = q.id AND p.k = 1 WHERE p.id < 3 ORDER BY 1;
SELECT p.id FROM p WHERE p.id IN (SELECT q.id FROM q JOIN p r ON r.k = q.k) ORDER BY 1;
SELECT p.id, (SELECT COUNT(*) FROM q JOIN o ON o.id = q.id + 9 WHERE q.k = p.k) n FROM p ORDER BY 1;
-- Large against small: the same rows whichever side is read first.
CREATE TABLE big (id INT PRIMARY KEY, k INT, pad VARCHAR(10), KEY (k));
INSERT INTO big WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT n, n % 30, CONCAT('p', n % 7) FROM r;
CREATE TABLE small (id INT PRIMARY KEY, bid INT, tag VARCHAR(5), KEY (tag));
INSERT INTO small SELECT id, id * 9, CONCAT('t', id % 5) FROM big WHERE id <= 90;
SELECT COUNT(*), SUM(big.k), SUM(small.id) FROM big JOIN small ON small.bid = big.id;
SELECT COUNT(*), SUM(big.k), SUM(small.id) FROM small JOIN big ON small.bid = big.id WHERE small.tag = 't1';
SELECT COUNT(*), SUM(big.k), SUM(small.id) FROM big, small WHERE small.bid = big.id AND big.k = 3;
SELECT COUNT(*), SUM(big.id) FROM big JOIN small ON small.id = big.k;
SELECT COUNT(*), SUM(big.id) FROM big JOIN small ON small.id = big.k WHERE small.tag = 't2' AND big.pad = 'p3';
SELECT COUNT(*), SUM(b.id) FROM big a JOIN big b ON a.id = b.k AND a.k = b.id % 30;
SELECT COUNT(*) FROM big LEFT JOIN small ON small.bid = big.id WHERE small.id IS NULL;
SELECT COUNT(*) FROM big a JOIN big b ON a.k = b.k JOIN small s ON s.id = a.k WHERE s.tag = 't3';
SELECT COUNT(*) FROM big WHERE id IN (SELECT bid FROM small WHERE tag = 't4');
SELECT COUNT(*) FROM big WHERE k IN (SELECT id FROM small WHERE tag = 't4');
SELECT COUNT(*) FROM big WHERE id NOT IN (SELECT bid FROM small);
SELECT COUNT(*) FROM big WHERE EXISTS (SELECT 1 FROM small WHERE small.bid = big.id AND small.tag <> 't0');
SELECT a.k, COUNT(*) FROM big a JOIN small s ON s.bid = a.id GROUP BY a.k ORDER BY 2 DESC, 1 LIMIT 5;
DELETE FROM big WHERE id IN (SELECT bid FROM small WHERE tag = 't1');
SELECT COUNT(*), SUM(id) FROM big;
UPDATE big SET pad = 'hit' WHERE id IN (SELECT bid FROM small WHERE id BETWEEN 10 AND 20);
SELECT COUNT(*), SUM(id) FROM big WHERE pad = 'hit';
-- EXISTS that can run once for all rows.
SELECT COUNT(*), SUM(id) FROM big WHERE EXISTS (SELECT 1 FROM small WHERE small.bid = big.id AND small.tag = 't2');
SELECT COUNT(*), SUM(id) FROM big WHERE NOT EXISTS (SELECT 1 FROM small WHERE small.bid = big.id AND small.tag = 't2');
SELECT COUNT(*), SUM(id) FROM big WHERE EXISTS (SELECT 1 FROM small WHERE small.id = big.k AND small.bid = big.id + 9);
SELECT COUNT(*), SUM(id) FROM big WHERE k > 5 AND EXISTS (SELECT 1 FROM small s JOIN c ON c.id = s.id WHERE s.bid = big.id);
SELECT COUNT(*) FROM x WHERE EXISTS (SELECT 1 FROM x y WHERE y.a = x.a AND y.b = x.b);
SELECT COUNT(*) FROM x WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.id = x.a);
SELECT COUNT(*) FROM x WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.name = x.b AND c.city IS NOT NULL);
SELECT a, b FROM x WHERE EXISTS (SELECT MAX(id) FROM c WHERE c.id = x.a) ORDER BY a, b;
SELECT a, b FROM x WHERE EXISTS (SELECT id FROM c WHERE c.id = x.a AND c.id < x.a + 1) ORDER BY a, b;
SELECT a, b FROM x WHERE EXISTS (SELECT id FROM c WHERE c.id = x.a GROUP BY id) OR b = 'x' ORDER BY a, b;
DELETE FROM big WHERE EXISTS (SELECT 1 FROM small WHERE small.bid = big.id AND tag = 't3');
SELECT COUNT(*), SUM(id) FROM big;
-- Joins within joins, without parentheses.
CREATE TABLE w1 (id INT PRIMARY KEY, v INT);
CREATE TABLE w2 (id INT PRIMARY KEY, v INT);
CREATE TABLE w3 (id INT PRIMARY KEY, v INT);
INSERT INTO w1 VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO w2 VALUES (1, 1), (2, 5);
INSERT INTO w3 VALUES (1, 1), (5, 2);
-- sorted
SELECT * FROM w1 JOIN w2 JOIN w3 ON w2.v = w3.id ON w1.id = w2.id;
-- sorted
SELECT * FROM w1 LEFT JOIN w2 JOIN w3 ON w2.id = w3.id ON w1.id = w2.id;
-- sorted
SELECT * FROM w1 LEFT JOIN w2 LEFT JOIN w3 ON w2.id = w3.id ON w1.id = w2.id;
-- sorted
SELECT w1.id, w2.id, w3.id FROM w1 LEFT JOIN w2 LEFT JOIN w3 USING (id) ON w1.id = w2.id WHERE w1.v > 1;
-- sorted
SELECT * FROM w1 RIGHT JOIN w2 LEFT JOIN w3 ON w2.id = w3.id ON w1.id = w3.id;
-- sorted
SELECT * FROM w1 a LEFT JOIN w1 b JOIN w2 c ON b.id = c.id JOIN w3 d ON c.v = d.id ON a.id = d.v;
-- sorted
SELECT * FROM w1 a LEFT JOIN w1 b LEFT JOIN w2 c LEFT JOIN w3 d ON c.v = d.id ON b.id = c.id ON a.id = b.v;
-- sorted
SELECT a.id, c.id FROM w1 a JOIN w2 b JOIN w3 c ON b.id = c.id;
-- sorted
SELECT a.id, c.id FROM w1 a JOIN w2 b JOIN w3 c ON b.id = c.id LEFT JOIN w1 d ON d.id = a.id;
SELECT * FROM w1 LEFT JOIN w2 JOIN w3 ON w2.id = w3.id;
SELECT * FROM w1 LEFT JOIN w2 JOIN w3 ON w1.id = w3.id ON w1.id = w2.id;
-- The columns that * means over joins with USING and NATURAL within each other.
CREATE TABLE sa (x INT, id INT, y INT);
CREATE TABLE sb (y INT, z INT, id INT);
CREATE TABLE sc (w INT, z INT, id INT, y INT);
INSERT INTO sa VALUES (10,1,11),(20,2,21);
INSERT INTO sb VALUES (11,13,1),(31,33,3);
INSERT INTO sc VALUES (100,13,1,11),(400,43,4,41);
SELECT * FROM sa JOIN sb USING (y, id);
SELECT * FROM sa RIGHT JOIN sb USING (id);
SELECT * FROM sa JOIN sb USING (id) JOIN sc USING (z);
SELECT * FROM sa JOIN sb USING (id) LEFT JOIN sc USING (z, id);
SELECT * FROM sa JOIN sb USING (y, id) RIGHT JOIN sc USING (id, y);
SELECT * FROM sa JOIN (sb JOIN sc USING (z)) ON sa.id = sb.id;
SELECT * FROM sa JOIN (sb JOIN sc USING (z)) USING (x);
SELECT * FROM sa JOIN (sb JOIN sc USING (z)) USING (id);
SELECT * FROM sa RIGHT JOIN (sb JOIN sc USING (id)) USING (id);
-- sorted
SELECT * FROM sa LEFT JOIN (sb RIGHT JOIN sc USING (id)) USING (id);
-- sorted
SELECT * FROM sa RIGHT JOIN (sb RIGHT JOIN sc USING (id)) USING (id);
SELECT * FROM sa NATURAL JOIN sb NATURAL JOIN sc;
SELECT * FROM sa NATURAL JOIN (sb NATURAL JOIN sc);
-- sorted
SELECT * FROM sa NATURAL RIGHT JOIN (sb NATURAL JOIN sc);
-- sorted
SELECT * FROM (sa NATURAL RIGHT JOIN sb) NATURAL RIGHT JOIN sc;
-- sorted
SELECT * FROM (sa NATURAL RIGHT JOIN sb) NATURAL LEFT JOIN sc;
-- sorted
SELECT * FROM (sa NATURAL RIGHT JOIN sb) JOIN sc;
-- sorted
SELECT * FROM sc, sa NATURAL RIGHT JOIN sb;
-- sorted
SELECT * FROM sc, sa JOIN sb USING (y);
-- sorted
SELECT * FROM (sa JOIN sb USING (y)), sc;
SELECT * FROM (sa JOIN sb USING (id)) JOIN (sa a2 JOIN sc USING (id)) USING (id);
SELECT * FROM sa JOIN sb USING (y) JOIN sc USING (id);
SELECT sb.*, sa.* FROM sa NATURAL JOIN sb;
CREATE VIEW sv AS SELECT * FROM sa NATURAL RIGHT JOIN (sb NATURAL JOIN sc);
SHOW COLUMNS FROM sv;
SELECT * FROM sv NATURAL JOIN sa;
CREATE TABLE sd SELECT * FROM sa NATURAL JOIN (sb NATURAL JOIN sc);
DROP VIEW sv;
