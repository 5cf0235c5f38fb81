-- Columns that come from a derived table have the default of their type.
CREATE TABLE dd1 AS SELECT * FROM (SELECT 1 a, 'x' b, 1.5 c, DATE'2001-01-01' d, NULL e) z;
SHOW CREATE TABLE dd1;
CREATE TABLE dd2 (a INT NOT NULL, b VARCHAR(3));
CREATE TABLE dd3 AS SELECT * FROM (SELECT a, b, a+1 x FROM dd2) z;
SHOW CREATE TABLE dd3;
CREATE TABLE le (a VARCHAR(10) CHARACTER SET latin1, b VARCHAR(10) CHARACTER SET utf8mb4, c VARBINARY(10));
INSERT INTO le VALUES ('ha%','ha%','ha%'),('ha\\%','ha\\%','ha\\%');
SELECT a, a LIKE 'ha\%' ESCAPE '', b LIKE 'ha\%' ESCAPE '', c LIKE 'ha\%' ESCAPE '', a LIKE 'ha\%', a LIKE 'ha|%' ESCAPE '|' FROM le ORDER BY a;
SET sql_mode='NO_BACKSLASH_ESCAPES';
SELECT a, a LIKE 'ha\%', b LIKE 'ha\%', c LIKE 'ha\%', a LIKE 'ha\%' ESCAPE '|' FROM le ORDER BY a;
SET sql_mode=DEFAULT;
CREATE TABLE ds (d DECIMAL(0,10));
SELECT CAST(1 AS DOUBLE(64,63));
SELECT CAST(1 AS DOUBLE(64,38));
