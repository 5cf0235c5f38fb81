-- What another account of the same name has on databases and below counts too, if its host means the client's.
CREATE DATABASE rights2;
CREATE TABLE rights.t1 (a INT, b INT);
CREATE TABLE rights.t2 (a INT, b INT);
CREATE TABLE rights2.t3 (a INT, b INT);
CREATE PROCEDURE rights.np() SELECT 1;
CREATE USER n@'127.%';
CREATE USER n@'%';
CREATE USER n@'10.1.1.1';
GRANT SELECT ON rights.t1 TO n@'%';
GRANT INSERT ON rights.t2 TO n@'127.%';
GRANT SELECT ON rights.t2 TO n@'%';
GRANT EXECUTE ON PROCEDURE rights.np TO n@'%';
GRANT SELECT ON rights2.* TO n@'10.1.1.1';
GRANT CREATE USER ON *.* TO n@'%';
-- connect n
-- as n
SELECT * FROM rights.t1;
INSERT INTO rights.t1 VALUES (1, 2);
INSERT INTO rights.t2 VALUES (1, 2);
SELECT * FROM rights.t2;
CALL rights.np();
SELECT * FROM rights2.t3;
CREATE USER nobody;
SHOW GRANTS;
-- as root
GRANT SELECT, INSERT ON rights2.* TO n@'%';
-- as n
SELECT * FROM rights2.t3;
-- as root
GRANT UPDATE ON rights2.* TO n@'127.%';
-- as n
SELECT * FROM rights2.t3;
-- as root
DROP USER n@'%';
-- as n
SELECT * FROM rights.t1;
-- as root
DROP DATABASE rights2;
