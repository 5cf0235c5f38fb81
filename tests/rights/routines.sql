-- Privileges on routines.
CREATE USER a@'%';
CREATE ROLE r1;
CREATE PROCEDURE rights.p() SELECT 1;
CREATE FUNCTION rights.f() RETURNS INT RETURN 1;
GRANT EXECUTE ON PROCEDURE rights.nosuch TO a@'%';
GRANT SELECT ON PROCEDURE rights.p TO a@'%';
GRANT EXECUTE ON PROCEDURE rights.p TO a@'%' WITH GRANT OPTION;
GRANT EXECUTE, ALTER ROUTINE ON FUNCTION rights.f TO r1;
GRANT r1 TO a@'%';
SHOW GRANTS FOR a@'%';
SHOW GRANTS FOR r1;
SELECT Host, Db, User, Routine_name, Routine_type, Proc_priv FROM mysql.procs_priv ORDER BY 1, 2, 3, 4;
-- as a
CALL rights.p();
SELECT rights.f();
GRANT EXECUTE ON PROCEDURE rights.p TO r1;
GRANT ALTER ROUTINE ON PROCEDURE rights.p TO r1;
DROP PROCEDURE rights.p;
ALTER PROCEDURE rights.p COMMENT 'x';
SET ROLE r1;
SELECT rights.f();
ALTER FUNCTION rights.f COMMENT 'x';
SHOW CREATE FUNCTION rights.f;
CREATE PROCEDURE rights.q() SELECT 2;
-- as root
GRANT CREATE ROUTINE ON rights.* TO a@'%';
REVOKE EXECUTE ON FUNCTION rights.f FROM r1;
SHOW GRANTS FOR r1;
REVOKE EXECUTE ON FUNCTION rights.f FROM a@'%';
-- connect a
CREATE PROCEDURE rights.q() SELECT CURRENT_USER();
SHOW GRANTS;
CALL rights.q();
-- as root
SHOW GRANTS FOR a@'%';
DROP PROCEDURE rights.q;
SHOW GRANTS FOR a@'%';
REVOKE ALL PRIVILEGES ON PROCEDURE rights.p FROM a@'%';
SHOW GRANTS FOR a@'%';
SET GLOBAL automatic_sp_privileges = OFF;
-- as a
CREATE PROCEDURE rights.q() SELECT 2;
CALL rights.q();
-- as root
SET GLOBAL automatic_sp_privileges = ON;
DROP PROCEDURE rights.q;
CREATE DEFINER = nosuch@'%' PROCEDURE rights.d() SELECT 3;
CALL rights.d();
CREATE DEFINER = CURRENT_ROLE PROCEDURE rights.e() SELECT 3;
CREATE TABLE rights.t (a INT);
INSERT INTO rights.t VALUES (7);
GRANT SELECT ON rights.t TO r1;
CREATE DEFINER = r1 PROCEDURE rights.g() SELECT a, CURRENT_ROLE() FROM rights.t;
CREATE DEFINER = r1 VIEW rights.v AS SELECT a FROM rights.t;
SHOW CREATE PROCEDURE rights.g;
SHOW CREATE VIEW rights.v;
SELECT definer FROM information_schema.routines WHERE routine_name = 'g';
CALL rights.g();
GRANT SELECT ON rights.v TO a@'%';
GRANT EXECUTE ON rights.* TO a@'%';
-- connect a
CALL rights.g();
SELECT * FROM rights.v;
SELECT * FROM rights.t;
-- as root
REVOKE SELECT ON rights.t FROM r1;
-- connect a
CALL rights.g();
SELECT * FROM rights.v;
