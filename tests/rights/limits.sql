-- Limits of accounts.
CREATE USER a@'%' WITH MAX_QUERIES_PER_HOUR 5 MAX_UPDATES_PER_HOUR 6 MAX_CONNECTIONS_PER_HOUR 7 MAX_USER_CONNECTIONS 8 MAX_STATEMENT_TIME 1.5;
SHOW CREATE USER a@'%';
SHOW GRANTS FOR a@'%';
SELECT max_questions, max_updates, max_connections, max_user_connections, max_statement_time FROM mysql.user WHERE user = 'a';
ALTER USER a@'%' WITH MAX_QUERIES_PER_HOUR 0 MAX_USER_CONNECTIONS 2 MAX_CONNECTIONS_PER_HOUR 0;
SHOW CREATE USER a@'%';
GRANT USAGE ON *.* TO a@'%' WITH MAX_UPDATES_PER_HOUR 2;
SHOW GRANTS FOR a@'%';
CREATE USER b@'%' WITH MAX_UPDATES_PER_HOUR 2;
CREATE USER c@'%' WITH MAX_CONNECTIONS_PER_HOUR 2;
CREATE USER d@'%' WITH MAX_USER_CONNECTIONS -1;
CREATE TABLE rights.t (a INT);
GRANT ALL ON rights.* TO b@'%';
-- connect a
SELECT @@max_statement_time, @@max_user_connections;
-- connect b
INSERT INTO rights.t VALUES (1);
SELECT * FROM rights.t;
UPDATE rights.t SET a = 2;
INSERT INTO rights.t VALUES (3);
SELECT * FROM rights.t;
-- as root
FLUSH USER_RESOURCES;
-- as b
INSERT INTO rights.t VALUES (3);
-- connect c
-- connect c
-- connect c
-- connect d
