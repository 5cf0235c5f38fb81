-- AUTO_INCREMENT behind other columns of a key: numbers of each group, which MyISAM and Aria have.
-- nowarn
CREATE TABLE ng (g CHAR(3), id INT AUTO_INCREMENT, x INT, PRIMARY KEY (g, id)) ENGINE=MyISAM;
INSERT INTO ng (g, x) VALUES ('a',1),('a',2),('b',1),('c',1),('b',2);
SELECT LAST_INSERT_ID();
SELECT * FROM ng ORDER BY g, id;
SHOW CREATE TABLE ng;
INSERT INTO ng VALUES ('a',50,1);
INSERT INTO ng (g) VALUES ('a'),('b');
SELECT * FROM ng ORDER BY g, id;
DELETE FROM ng WHERE id >= 50;
INSERT INTO ng (g) VALUES ('a');
SET auto_increment_increment = 10, auto_increment_offset = 3;
INSERT INTO ng (g) VALUES ('a'),('a'),('z');
SET auto_increment_increment = 1, auto_increment_offset = 1;
SELECT * FROM ng ORDER BY g, id;
INSERT INTO ng (g) SELECT g FROM ng WHERE id = 1;
REPLACE INTO ng (g) VALUES ('a');
INSERT INTO ng (g, x) VALUES ('b', 9) ON DUPLICATE KEY UPDATE x = 10;
UPDATE ng SET id = id + 100 WHERE g = 'b';
INSERT INTO ng (g) VALUES ('b');
SELECT g, id FROM ng ORDER BY g, id;
ALTER TABLE ng ENGINE=InnoDB;
SHOW CREATE TABLE ng;
CREATE TABLE nl LIKE ng;
INSERT INTO nl (g) VALUES ('q'),('q');
SELECT g, id FROM nl;
CREATE TABLE ni (a INT, b INT AUTO_INCREMENT, PRIMARY KEY (a, b)) ENGINE=InnoDB;
CREATE TABLE ni (a INT, b INT AUTO_INCREMENT, PRIMARY KEY (a, b)) ENGINE=MEMORY;
CREATE TABLE ni (a INT, b INT AUTO_INCREMENT) ENGINE=MyISAM;
-- nowarn
CREATE TABLE nn (a INT NULL, b INT AUTO_INCREMENT, KEY (a, b)) ENGINE=MyISAM;
INSERT INTO nn (a) VALUES (NULL),(NULL),(1),(NULL);
INSERT INTO nn VALUES (1,0),(1,-5);
SELECT * FROM nn ORDER BY a, b;
SET insert_id = 77;
INSERT INTO nn (a) VALUES (9),(9),(10);
SELECT * FROM nn WHERE a > 8 ORDER BY a, b;
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
INSERT INTO nn VALUES (7,0);
INSERT INTO nn (a) VALUES (7);
SELECT * FROM nn WHERE a = 7 ORDER BY b;
SET sql_mode = DEFAULT;
-- nowarn
CREATE TABLE nt (g VARCHAR(10), id TINYINT AUTO_INCREMENT, PRIMARY KEY (g, id)) ENGINE=MyISAM;
INSERT INTO nt VALUES ('a',127);
INSERT INTO nt (g) VALUES ('a');
INSERT INTO nt (g) VALUES ('b');
-- nowarn
CREATE TABLE nb (a INT, b INT AUTO_INCREMENT, KEY (b), PRIMARY KEY (a, b)) ENGINE=MyISAM;
INSERT INTO nb (a) VALUES (1),(2),(1);
SELECT * FROM nb ORDER BY b;
-- nowarn
CREATE TABLE nd (g INT, id INT AUTO_INCREMENT, PRIMARY KEY (g, id DESC)) ENGINE=MyISAM;
INSERT INTO nd (g) VALUES (1),(1),(2);
SELECT * FROM nd ORDER BY g, id;
TRUNCATE TABLE ng;
ALTER TABLE ng ADD y INT;
INSERT INTO ng (g) VALUES ('a');
SELECT g, id FROM ng;
SHOW CREATE TABLE ng;
