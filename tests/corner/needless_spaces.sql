-- White space behind a number in a text is worth a note, wherever the number is read.
CREATE TABLE t (id INT PRIMARY KEY, i INT, d DECIMAL(5,1), f DOUBLE, v VARCHAR(10));
SELECT '12 ' + 0, CAST('12 ' AS SIGNED), CAST('12 ' AS DECIMAL(5,1)), CAST('12 ' AS DOUBLE);
SELECT ' 12' + 0, '12' + 0;
SELECT 5 = '5 ', 5.0 = '5 ', 5e0 = '5 ';
SELECT '12 ' DIV 1, '12 ' & 1, -'1 ', BIT_COUNT('3 ');
SELECT ROUND('1.5 '), ABS('1 '), '12  x' + 0;
SELECT 1 + '  ';
INSERT INTO t VALUES (1, '12 ', NULL, NULL, NULL);
INSERT INTO t VALUES (2, NULL, '12 ', NULL, NULL);
INSERT INTO t VALUES (3, NULL, NULL, '12 ', '12 ');
INSERT INTO t VALUES (4, '12 x', NULL, NULL, NULL);
SELECT v + 1 FROM t WHERE v IS NOT NULL;
SELECT id FROM t WHERE v = 12;
SELECT IF('1 ', 1, 2), '1 ' AND 1, NOT '1 ';
UPDATE t SET i = i + '1 ' WHERE id = 1;
