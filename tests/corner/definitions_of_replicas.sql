-- What a MariaDB that follows would not take in a definition, or would show in another order.
-- The order of unique keys: those that stay keep it until there is a new one; a primary key counts for those behind it.
CREATE TABLE k1 (x INT, y INT, UNIQUE (y), UNIQUE (x), PRIMARY KEY (x));
SHOW CREATE TABLE k1;
ALTER TABLE k1 CHANGE x xx INT;
SHOW CREATE TABLE k1;
CREATE TABLE k2 (a INT, b INT NOT NULL, c INT, UNIQUE (a), UNIQUE (c), UNIQUE (b));
ALTER TABLE k2 MODIFY c INT NOT NULL;
SHOW CREATE TABLE k2;
ALTER TABLE k2 ADD KEY z (a);
SHOW CREATE TABLE k2;
CREATE TABLE k3 (a INT, b INT, UNIQUE i1 (b), UNIQUE i2 (a));
ALTER TABLE k3 ADD PRIMARY KEY (a), ADD UNIQUE i3 (a);
SHOW CREATE TABLE k3;
CREATE TABLE k4 (a INT NOT NULL, b INT, UNIQUE i1 (b), UNIQUE i2 (a));
ALTER TABLE k4 MODIFY a INT NULL;
SHOW CREATE TABLE k4;
-- Hashes of short keys are said for one statement.
CREATE TABLE h1 (a INT, UNIQUE k (a) USING HASH, KEY k2 (a) USING HASH);
SHOW CREATE TABLE h1;
ALTER TABLE h1 ADD b TEXT, ADD UNIQUE (b);
SHOW CREATE TABLE h1;
CREATE TABLE h2 LIKE h1;
SHOW CREATE TABLE h2;
CREATE TABLE h3 (pk INT, a INT, PRIMARY KEY (pk), KEY (pk, a));
ALTER TABLE h3 MODIFY a TEXT;
-- Defaults of literals alone are looked at.
CREATE TABLE d1 (a INT DEFAULT CONCAT('x'));
CREATE TABLE d1 (a TINYINT DEFAULT (1000 + 1));
CREATE TABLE d1 (a VARCHAR(2) DEFAULT 'xx ');
CREATE TABLE d1 (a VARCHAR(2) DEFAULT CONCAT('xx '));
CREATE TABLE d1 (a ENUM('a', 'b') DEFAULT CONCAT('x'));
CREATE TABLE d1 (a CHAR CHARACTER SET latin1 DEFAULT _cp1251 0xFF);
CREATE TABLE d1 (a INT DEFAULT (1 + 'x'), b INT DEFAULT (CAST('x' AS UNSIGNED)), c CHAR(2) DEFAULT 'xx ');
CREATE TABLE d2 (a TEXT DEFAULT 5, b BLOB DEFAULT 1.5, c TINYTEXT DEFAULT -1, d TEXT DEFAULT 0x41, e TEXT DEFAULT TRUE, f TEXT DEFAULT DATE'2001-01-01', g VARCHAR(10) DEFAULT 5);
SHOW CREATE TABLE d2;
INSERT INTO d2 () VALUES ();
SELECT * FROM d2;
CREATE TABLE d3 (a VARCHAR(10) CHARACTER SET utf8mb4 DEFAULT _cp1251 0xFF, b VARCHAR(10) CHARACTER SET latin1 DEFAULT 0xE4);
SHOW CREATE TABLE d3;
CREATE VIEW v1 AS SELECT _utf8mb4 X'D182' a, _latin1 0x41 b, _binary X'41' c, _latin1 X'00270A5C' d;
SELECT a, b, c, HEX(d) FROM v1;
-- Functions and names that have no place there.
CREATE TABLE g1 (x VARCHAR(9), y VARCHAR(20) AS (NATURAL_SORT_KEY(x)) STORED);
CREATE TABLE g1 (x VARCHAR(9), y VARCHAR(20) AS (NATURAL_SORT_KEY(x)), KEY (y));
CREATE TABLE g1 (x VARCHAR(9), CHECK (NATURAL_SORT_KEY(x) > 1));
CREATE TABLE g1 (x VARCHAR(9), y VARCHAR(20) AS (NATURAL_SORT_KEY(x)), z VARCHAR(20) DEFAULT NATURAL_SORT_KEY(x));
CREATE TABLE g2 (x INT, y INT AS (nowhere.g2.x));
CREATE TABLE g2 (x INT, CHECK (nowhere.g2.x > 1));
CREATE TABLE g2 (x TEXT, y INT AS (x REGEXP '['));
CREATE TABLE g2 (x TEXT, CHECK (x RLIKE '('));
CREATE TABLE g2 (x TEXT, y INT AS (REGEXP_INSTR(x, '[')));
CREATE VIEW v2 AS SELECT 'a' RLIKE '[';
CREATE PROCEDURE p1() ALTER DATABASE `#mysql50#x` UPGRADE DATA DIRECTORY NAME;
-- nowarn
CREATE TABLE f1 (b INT AS (1) STORED, FOREIGN KEY (b) REFERENCES nowhere (a) ON UPDATE SET NULL) ENGINE=MyISAM;
-- nowarn
CREATE TABLE f1 (b INT AS (1) STORED, FOREIGN KEY (b) REFERENCES nowhere (a) ON UPDATE CASCADE) ENGINE=MyISAM;
-- A new index has the values of its virtual columns as the modes want them.
SET sql_mode = '';
CREATE TABLE n1 (a INT, b INT AS (10 / a), c DATE AS (CONCAT(a)));
-- nowarn
INSERT INTO n1 (a) VALUES (0), (50);
SET sql_mode = DEFAULT;
CREATE INDEX i ON n1 (b);
SET sql_mode = '';
-- nowarn
CREATE INDEX i ON n1 (b);
SELECT a, b FROM n1 ORDER BY b;
SET sql_mode = DEFAULT;
-- Names of InnoDB's own columns.
CREATE TABLE i1 (DB_ROW_ID INT);
CREATE TABLE i1 (a INT, db_trx_id INT);
-- nowarn
CREATE TABLE i1 (DB_ROLL_PTR INT) ENGINE=MyISAM;
-- What MariaDB does not open as a MERGE table it does not alter.
-- nowarn
CREATE TABLE m1 (a INT) ENGINE=MyISAM;
CREATE TABLE m2 (a INT);
CREATE TABLE m3 (a INT) ENGINE=MERGE UNION=(m1);
ALTER TABLE m3 UNION=(m1, m2);
-- nowarn
ALTER TABLE m3 UNION=(m1);
DROP TABLE m3;
-- Definitions that are too large.
SET @columns = (SELECT GROUP_CONCAT('c', seq, " INT COMMENT '", REPEAT('x', 1024), "'") FROM seq_1_to_63);
SET @sql = CONCAT('CREATE TABLE l2 (', @columns, ')');
EXECUTE IMMEDIATE @sql;
SET @sql = CONCAT('CREATE TABLE l3 (', SUBSTRING_INDEX(@columns, ',', 62), ')');
EXECUTE IMMEDIATE @sql;
SET @sql = CONCAT('CREATE TABLE l4 (a ENUM(', (SELECT GROUP_CONCAT("'", LPAD(seq, 200, '0'), "'") FROM seq_1_to_324), '))');
EXECUTE IMMEDIATE @sql;
SET @sql = CONCAT('CREATE TABLE l5 (a ENUM(', (SELECT GROUP_CONCAT("'", LPAD(seq, 200, '0'), "'") FROM seq_1_to_325), '))');
EXECUTE IMMEDIATE @sql;
-- Keys that are dropped and added as they were stay where they stood; parts follow a new column of the same name.
CREATE TABLE z1 (a INT, b INT, c INT, KEY (b), KEY (c));
ALTER TABLE z1 DROP INDEX b, ADD INDEX (b);
SHOW CREATE TABLE z1;
ALTER TABLE z1 DROP INDEX b, ADD INDEX b (a);
SHOW CREATE TABLE z1;
CREATE TABLE z2 (id INT, a INT, KEY id (id, a));
ALTER TABLE z2 DROP COLUMN id, ADD id INT FIRST;
SHOW CREATE TABLE z2;
INSERT INTO z2 VALUES (2, 1), (1, 2);
SELECT * FROM z2 FORCE INDEX (id) WHERE id = 1;
ALTER TABLE z2 DROP COLUMN id;
SHOW CREATE TABLE z2;
