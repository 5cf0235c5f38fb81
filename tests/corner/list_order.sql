-- GROUP_CONCAT and JSON_ARRAYAGG: values that differ come in their order, and of equal keys the last row first.
CREATE TABLE lo (id INT PRIMARY KEY, a INT, b VARCHAR(10), c BIT(8), d DECIMAL(5,2), e ENUM('z','y'), s SET('q','p'), y YEAR, t TIME);
INSERT INTO lo VALUES (1,3,'x',b'11',3.5,'z','p',2001,'10:00:00'),(2,1,'b',b'01',1,'y','p,q',1999,'-10:00:00'),(3,3,'a',b'11',2,'z','',2000,'09:00:00'),(4,2,'B',b'110001',2,'y','q',2000,'09:00:00'),(5,1,'a',3,2.00,'z','q',2000,'08:00:00'),(6,NULL,'z',5,1,'y','p',2002,'00:00:00');
SELECT group_concat(DISTINCT a), group_concat(DISTINCT b), group_concat(DISTINCT d), group_concat(DISTINCT e), group_concat(DISTINCT s), group_concat(DISTINCT y), group_concat(DISTINCT t) FROM lo;
SELECT group_concat(DISTINCT a, b), group_concat(DISTINCT a, b ORDER BY 1), group_concat(DISTINCT b ORDER BY a), group_concat(b ORDER BY a), group_concat(b ORDER BY a DESC) FROM lo;
SELECT hex(group_concat(c)), hex(group_concat(DISTINCT c)), hex(group_concat(c ORDER BY a)), hex(group_concat(DISTINCT c ORDER BY a)), group_concat(c+0) FROM lo;
SELECT json_arrayagg(DISTINCT a), json_arrayagg(b ORDER BY a), json_arrayagg(DISTINCT b), json_arrayagg(DISTINCT b ORDER BY a), cast(json_arrayagg(DISTINCT c) AS CHAR) FROM lo;
SELECT a, group_concat(DISTINCT b SEPARATOR '-'), group_concat(b ORDER BY d LIMIT 2) FROM lo GROUP BY a;
SELECT a, group_concat(DISTINCT b SEPARATOR '-') FROM lo GROUP BY a WITH ROLLUP;
SELECT group_concat(DISTINCT b LIMIT 1,2), group_concat(DISTINCT lower(b)), group_concat(DISTINCT d*2), group_concat(DISTINCT concat(b,a)) FROM lo;
