# Rows of other character sets that a statement keeps for itself: a character takes more bytes there than in its table.
SET NAMES utf8mb4;
CREATE TABLE ta (c CHAR(1) PRIMARY KEY) DEFAULT CHARSET=ucs2;
CREATE TABLE tb (c CHAR(1) PRIMARY KEY) DEFAULT CHARSET=ucs2;
INSERT INTO ta VALUES ('ｱ'), ('가'), ('c');
INSERT INTO tb VALUES ('ｱ');
-- sorted
SELECT * FROM ta JOIN tb;
SELECT * FROM ta JOIN tb USING (c);
SELECT ta.c FROM ta JOIN tb ON ta.c = tb.c;
SELECT * FROM ta LEFT JOIN tb USING (c) ORDER BY 1;
CREATE TABLE tc (c CHAR(1), d VARCHAR(2)) DEFAULT CHARSET=sjis;
INSERT INTO tc VALUES ('ｱ', 'ｱ日'), ('日', '日本');
-- sorted
SELECT * FROM tc JOIN ta;
-- sorted
SELECT * FROM tc x JOIN tc y ON x.c = y.c;
-- sorted
SELECT * FROM tc x JOIN tc y;
-- sorted
SELECT DISTINCT c, d FROM tc;
-- sorted
SELECT c, COUNT(*) FROM tc GROUP BY c;
SELECT * FROM tc ORDER BY d;
SELECT d, ROW_NUMBER() OVER (PARTITION BY c ORDER BY d) n FROM tc ORDER BY d;
WITH RECURSIVE r AS (SELECT c, 1 n FROM tc UNION ALL SELECT c, n + 1 FROM r WHERE n < 3) SELECT * FROM r ORDER BY n, c;
CREATE TABLE tl (c CHAR(1), d VARCHAR(2), e CHAR(200), f VARCHAR(30000)) DEFAULT CHARSET=latin1;
INSERT INTO tl VALUES ('€', 'ü€', REPEAT('€', 200), REPEAT('€', 30000));
SELECT x.c, x.d, CHAR_LENGTH(x.e), CHAR_LENGTH(y.f) FROM tl x JOIN tl y ON x.f = y.f;
SELECT x.c, x.d, y.d, CHAR_LENGTH(x.e), CHAR_LENGTH(y.f) FROM tl x JOIN tl y;
CREATE TABLE tt (c TINYTEXT, d TEXT) DEFAULT CHARSET=latin1;
INSERT INTO tt VALUES (REPEAT('€', 255), REPEAT('€', 65535)), (REPEAT('ü', 255), REPEAT('ü', 65535));
-- sorted
SELECT LENGTH(x.c), CHAR_LENGTH(y.c), LENGTH(x.d), CHAR_LENGTH(y.d) FROM tt x JOIN tt y ON x.c = y.c;
-- sorted
SELECT CHAR_LENGTH(c), CHAR_LENGTH(d), COUNT(*) FROM tt GROUP BY c, d;
SELECT CHAR_LENGTH(c), LEFT(d, 1) FROM tt ORDER BY d;
SELECT CHAR_LENGTH(c), CHAR_LENGTH(d) FROM (SELECT DISTINCT c, d FROM tt) x;
SELECT a.c FROM tl a WHERE a.c IN (SELECT c FROM tl);
SELECT a.c FROM tl a WHERE (a.c, a.d) IN (SELECT c, d FROM tl) AND a.f = (SELECT MAX(f) FROM tl);
UPDATE tl x JOIN tl y ON x.c = y.c SET x.d = CONCAT(y.c, 'é');
SELECT d FROM tl;
DELETE x FROM tl x JOIN tl y ON x.d = y.d;
SELECT COUNT(*) FROM tl;
DROP TABLE ta, tb, tc, tl, tt;
