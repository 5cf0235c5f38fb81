-- Which statements leave the warnings of the one before.
SET sql_mode='';
CREATE TABLE t (a INT);
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
PREPARE s FROM 'SELECT 1';
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
EXECUTE s;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
DEALLOCATE PREPARE s;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
EXECUTE IMMEDIATE 'SELECT 1';
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
CREATE DATABASE kept_w;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
DROP DATABASE kept_w;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
CREATE TABLE t5 (a INT);
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
DROP TABLE t5;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
SHOW TABLES;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
SELECT 1;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
SELECT * FROM t WHERE 0;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
EXPLAIN SELECT 1;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
DESCRIBE t;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
SET @a=1;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
BEGIN;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
COMMIT;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
SHOW CREATE TABLE t;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
CREATE VIEW v AS SELECT 1;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
DROP VIEW v;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
HELP 'nosuch';
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
XA RECOVER;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
PREPARE s FROM 'nonsense';
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
EXECUTE nosuch;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
PREPARE s FROM 'INSERT INTO t VALUES (1)';
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
EXECUTE s;
SHOW WARNINGS;
-- nowarn
INSERT INTO t (a) VALUES ('x');
-- nowarn
ALTER TABLE t ADD b INT;
SHOW WARNINGS;
