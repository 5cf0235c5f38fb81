-- What neither server takes.
SELECT * FROM;
-- later
CREATE TABLE t (i INT, x NOSUCHTYPE);
CREATE TABLE t (i INT) ENGINE=NoSuchEngine;
CREATE TABLE t (v VARCHAR(5) CHARACTER SET nosuch);
CREATE TABLE t (v VARCHAR(5) COLLATE nosuch);
SELECT 'a' COLLATE nosuch;
KILL 999999;
SET NAMES nosuch;
SET time_zone = 'nosuch';
SET sql_mode = 'NOSUCH';
