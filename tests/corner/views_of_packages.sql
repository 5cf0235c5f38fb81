-- A view names a package's function with its database.
SET sql_mode = 'ORACLE';
CREATE PACKAGE pk AS FUNCTION g RETURN INT; END;
CREATE PACKAGE BODY pk AS FUNCTION g RETURN INT AS BEGIN RETURN 5; END; END;
CREATE VIEW v2 AS SELECT pk.g() AS a;
CREATE VIEW v3 AS SELECT pk.g() + pk.g() AS a, 1 AS b WHERE pk.g() = 5;
SELECT * FROM v2;
SELECT * FROM v3;
SET sql_mode = DEFAULT;
SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE() ORDER BY 1;
SELECT * FROM v2;
DROP VIEW v2, v3;
SET sql_mode = 'ORACLE';
DROP PACKAGE pk;
