-- Privileges on columns.
CREATE USER a@'%';
CREATE TABLE rights.t (id INT PRIMARY KEY, a INT, b INT, c INT);
CREATE TABLE rights.u (id INT PRIMARY KEY, a INT);
INSERT INTO rights.t VALUES (1, 2, 3, 4);
INSERT INTO rights.u VALUES (1, 2);
GRANT SELECT (nosuch) ON rights.t TO a@'%';
GRANT SELECT (a) ON rights.nosuch TO a@'%';
GRANT SELECT (a) ON rights.* TO a@'%';
GRANT SELECT (id, a), INSERT (id, b), UPDATE (b), REFERENCES (c) ON rights.t TO a@'%';
SHOW GRANTS FOR a@'%';
SELECT Host, Db, User, Table_name, Column_name, Column_priv FROM mysql.columns_priv ORDER BY 5;
SELECT Host, Db, User, Table_name, Table_priv, Column_priv FROM mysql.tables_priv WHERE user = 'a';
SELECT * FROM information_schema.column_privileges WHERE table_schema = 'rights' ORDER BY 5, 6;
-- as a
SHOW DATABASES;
SHOW TABLES FROM rights;
SHOW COLUMNS FROM rights.t;
SHOW FULL COLUMNS FROM rights.t;
SELECT column_name, privileges FROM information_schema.columns WHERE table_schema = 'rights' ORDER BY 1;
SELECT * FROM information_schema.column_privileges ORDER BY 5, 6;
SELECT a FROM rights.t;
SELECT id, a FROM rights.t WHERE id = 1;
SELECT b FROM rights.t;
SELECT a FROM rights.t WHERE b = 3;
SELECT a FROM rights.t ORDER BY c;
SELECT a FROM rights.t GROUP BY a HAVING MAX(b) > 1;
SELECT COUNT(*) FROM rights.t;
SELECT * FROM rights.t;
SELECT t.* FROM rights.t;
SELECT x.a FROM rights.t AS x;
SELECT x.c FROM rights.t AS x;
SELECT 1 FROM rights.t;
SELECT (SELECT b FROM rights.t);
SELECT a FROM (SELECT a FROM rights.t) AS d;
SELECT a FROM (SELECT a, b FROM rights.t) AS d;
SELECT a FROM rights.u;
SELECT t.a FROM rights.t JOIN rights.u USING (id);
INSERT INTO rights.t (id, b) VALUES (2, 5);
INSERT INTO rights.t (id, a) VALUES (3, 5);
INSERT INTO rights.t VALUES (3, 5, 6, 7);
INSERT INTO rights.t (id, b) VALUES (2, 5) ON DUPLICATE KEY UPDATE b = 6;
INSERT INTO rights.t (id, b) VALUES (2, 5) ON DUPLICATE KEY UPDATE a = 6;
UPDATE rights.t SET b = 9 WHERE id = 1;
UPDATE rights.t SET b = a;
UPDATE rights.t SET b = c;
UPDATE rights.t SET a = 1;
UPDATE rights.t SET b = 9 WHERE c = 1;
DELETE FROM rights.t WHERE id = 1;
DELETE FROM rights.t;
SHOW CREATE TABLE rights.t;
SHOW INDEX FROM rights.t;
PREPARE s FROM 'SELECT a FROM rights.t WHERE id = 1';
EXECUTE s;
PREPARE s FROM 'SELECT b FROM rights.t WHERE id = 1';
-- as root
GRANT SELECT ON rights.u TO a@'%';
SELECT * FROM rights.t ORDER BY id;
REVOKE SELECT (a) ON rights.t FROM a@'%';
-- as a
SELECT a FROM rights.t;
EXECUTE s;
SELECT u.a FROM rights.u JOIN rights.t USING (id);
SELECT u.a FROM rights.u JOIN rights.t ON t.a = u.a;
-- as root
CREATE VIEW rights.v AS SELECT id, a, b FROM rights.t;
CREATE SQL SECURITY INVOKER VIEW rights.w AS SELECT id, b FROM rights.t;
CREATE SQL SECURITY INVOKER VIEW rights.x AS SELECT id FROM rights.t;
GRANT SELECT (a), UPDATE (b) ON rights.v TO a@'%';
GRANT SELECT ON rights.w TO a@'%';
GRANT SELECT ON rights.x TO a@'%';
-- as a
SELECT a FROM rights.v;
SELECT b FROM rights.v;
SELECT * FROM rights.v;
UPDATE rights.v SET b = 1;
UPDATE rights.v SET a = 1;
SELECT id FROM rights.x;
-- as root
CREATE ROLE r1;
GRANT r1 TO a@'%';
GRANT SELECT (c) ON rights.t TO r1;
-- as a
SELECT c FROM rights.t;
SET ROLE r1;
SELECT c FROM rights.t;
SELECT id, c FROM rights.t WHERE c = 4;
SELECT a FROM rights.t;
-- as root
REVOKE SELECT ON rights.t FROM a@'%';
SHOW GRANTS FOR a@'%';
REVOKE INSERT (id, b), UPDATE (b), REFERENCES (c) ON rights.t FROM a@'%';
SHOW GRANTS FOR a@'%';
REVOKE INSERT (id) ON rights.t FROM a@'%';
-- as root
REVOKE ALL PRIVILEGES, GRANT OPTION FROM a@'%';
GRANT SELECT (id) ON rights.v TO a@'%';
GRANT SELECT (id), UPDATE (a) ON rights.t TO a@'%';
-- as a
SELECT * FROM rights.v;
SELECT v.* FROM rights.v;
SELECT * FROM rights.t;
SELECT COUNT(*) FROM rights.t;
-- as root
REVOKE ALL PRIVILEGES, GRANT OPTION FROM a@'%';
GRANT SELECT (a) ON rights.t TO a@'%';
GRANT UPDATE (b) ON rights.v TO a@'%';
-- as a
SELECT * FROM rights.t;
SELECT t.* FROM rights.t;
SELECT * FROM rights.v;
