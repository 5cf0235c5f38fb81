-- A text that is computed with is a double of as many digits as it needs, wherever the text comes from.
CREATE TABLE tn (id INT PRIMARY KEY, c CHAR(5), v VARCHAR(20), t TEXT, b BINARY(3), vb VARBINARY(9), vu VARCHAR(10) CHARACTER SET utf8mb3);
INSERT INTO tn VALUES (1,'1.5','2.25','3.125','4.5','5.75','6.5'),(2,'-0.5','1e3','0.001','2.5','7','8.125');
SELECT id, c+1, -v, t*2, b/3, vb % 2, vu-1, abs(c), floor(v), ceiling(v) FROM tn ORDER BY id;
SELECT sum(c), avg(v), min(t+0), max(b+0), sum(vb), avg(vu), std(c) FROM tn;
SELECT id, (SELECT max(c)+0), d.x*2 FROM (SELECT id, c, v x FROM tn) d GROUP BY id ORDER BY id;
SELECT x+1 FROM (SELECT c x FROM tn UNION SELECT 2) d ORDER BY 1;
CREATE TABLE tn2 AS SELECT c+1 a, -v b, t*1.5 d, vb/3 e, abs(vu) f, c % 3 g, c div 2 h, t div 2 i, vb div 2 j, cast(vb AS SIGNED) k FROM tn;
SHOW CREATE TABLE tn2;
SELECT * FROM tn2 ORDER BY a;
CREATE TABLE fd (g INT, f FLOAT(10,2), d DOUBLE(10,2));
INSERT INTO fd VALUES (1,128.00,128.00),(1,21474836.48,21474836.48),(1,-21474964.48,-21474964.48),(2,1.5,1.5),(2,98.5,98.5),(3,0.01,0.01),(3,-0.01,-0.01);
SELECT g, sum(d) s FROM fd GROUP BY g HAVING s <> 0 ORDER BY g;
SELECT g, sum(d) s FROM fd GROUP BY g HAVING s <=> 0 ORDER BY g;
SELECT g, sum(d) s FROM fd GROUP BY g HAVING s = 100 ORDER BY g;
SELECT g, sum(d) s FROM fd GROUP BY g HAVING s > 0.001 ORDER BY g;
SELECT g, d, d+0.001 > 1.5, d = 0.01, d*1.0 = 1.5 FROM fd ORDER BY g, d;
SELECT 0 <=> NULL + 1, 0 <=> NULL * 1, sum(d) <=> NULL, NULL <=> sum(d), sum(d) <=> sum(f)*0 FROM fd WHERE g = 3;
SELECT 1 + BINARY 1.5, BINARY ~0 + 1, CAST(x'312e35' AS BINARY) * 2, BINARY c + 0 FROM tn WHERE id = 1;
