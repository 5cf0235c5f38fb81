-- Defaults of dates are looked at with the modes of each statement that makes or changes a table.
SET sql_mode='';
CREATE TABLE dm1 (a DATE DEFAULT '0000-00-00', d DATETIME NOT NULL DEFAULT '2000-00-01');
SET sql_mode='NO_ZERO_DATE';
-- nowarn
ALTER TABLE dm1 ADD b INT NOT NULL;
-- nowarn
ALTER TABLE dm1 ADD INDEX(a);
-- nowarn
ALTER TABLE dm1 COMMENT='x';
ALTER TABLE dm1 RENAME TO dm1x;
RENAME TABLE dm1x TO dm1;
-- nowarn
CREATE TABLE dm2 LIKE dm1;
-- nowarn
ALTER TABLE dm1 ADD c INT, ALGORITHM=INSTANT;
-- nowarn
ALTER TABLE dm1 ALTER COLUMN d SET DEFAULT '2000-00-02';
-- nowarn
CREATE TABLE dm3 (a DATE DEFAULT '0000-00-00');
CREATE TABLE dm3 (a DATE DEFAULT '2000-00-01');
-- nowarn
CREATE INDEX xx ON dm1(d);
SET sql_mode='NO_ZERO_IN_DATE';
-- nowarn
ALTER TABLE dm3 ADD x INT;
-- nowarn
CREATE TABLE dm4 (b DATE DEFAULT '2000-00-01');
SET sql_mode='STRICT_ALL_TABLES,NO_ZERO_DATE';
TRUNCATE TABLE dm1;
-- nowarn
ALTER TABLE dm1 ENGINE=InnoDB;
-- nowarn
ALTER TABLE dm1 FORCE;
-- nowarn
ALTER TABLE dm1 DROP COLUMN a;
SET sql_mode='';
ALTER TABLE dm1 ENGINE=InnoDB;
DROP TABLE dm1, dm3;
-- CHAR has no spaces at the end of its default, or all that fit.
CREATE TABLE dm5 (a CHAR(64) DEFAULT ' ', b CHAR(5) DEFAULT 'a  ', c VARCHAR(5) DEFAULT 'a  ', e VARBINARY(5) DEFAULT 'a ', g CHAR(5) NOT NULL DEFAULT '', i CHAR(10) DEFAULT ('x '));
SHOW CREATE TABLE dm5;
SELECT column_name, column_default FROM information_schema.columns WHERE table_schema=DATABASE() AND table_name='dm5' ORDER BY ordinal_position;
INSERT INTO dm5 VALUES ();
SELECT HEX(a), HEX(b), HEX(c), HEX(e), HEX(i) FROM dm5;
ALTER TABLE dm5 ALTER a SET DEFAULT 'zz  ';
SET sql_mode='PAD_CHAR_TO_FULL_LENGTH';
CREATE TABLE dm6 (b CHAR(5) DEFAULT 'a  ');
SHOW CREATE TABLE dm6;
SET sql_mode=DEFAULT;
SHOW CREATE TABLE dm5;
DROP TABLE dm5, dm6;
-- No column has more than 30 digits behind the point.
CREATE TABLE dm7 (a FLOAT(10,2), b DOUBLE(49,30));
CREATE TABLE dm8 AS SELECT b/3 z, AVG(b) av, a*b x FROM dm7 GROUP BY a, b;
SHOW CREATE TABLE dm8;
DROP TABLE dm7, dm8;
