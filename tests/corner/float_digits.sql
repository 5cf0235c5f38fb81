-- FLOAT(M,D) and DOUBLE(M,D): rounded when stored, shown with D digits, limited to M.
CREATE TABLE f (a FLOAT(7,2), b DOUBLE(10,4), c FLOAT(5,0), d DOUBLE(53,30), f DOUBLE(3,3));
SHOW CREATE TABLE f;
INSERT INTO f VALUES (1.235, 1.23456789, 12345.6, 1.5, 0.1234);
SELECT * FROM f;
SELECT a + 1, b * 2, a * b, CONCAT(a), SUM(a), AVG(a), a / 3, ROUND(b, 1), CAST(a AS CHAR), CAST(b AS DECIMAL(10,5)) FROM f;
INSERT INTO f (a) VALUES (1e9);
INSERT IGNORE INTO f (a, b) VALUES (1e9, -1e9);
SELECT a, b FROM f ORDER BY b;
SELECT column_name, column_type, numeric_precision, numeric_scale FROM information_schema.columns WHERE table_name = 'f' AND table_schema = DATABASE() ORDER BY ordinal_position;
CREATE TABLE f2 (a FLOAT(1,2));
CREATE TABLE f2 (a DOUBLE(256,1));
CREATE TABLE f2 (a DOUBLE(10,31));
CREATE TABLE f2 (a DOUBLE(10));
CREATE TABLE f2 (a FLOAT(25), b FLOAT(24), c FLOAT(0,0), d REAL(5,2), e DOUBLE PRECISION(6,1));
SHOW CREATE TABLE f2;
CREATE TABLE f3 SELECT COALESCE(a) a, a + 1 b, SUM(a) c, ROUND(b, 1) d, ABS(a) e, b * 2 f, ROUND(1.5e0, 2) g, 1.5e0 h, a + 1e0 i FROM f;
SHOW CREATE TABLE f3;
