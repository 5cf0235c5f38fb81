-- thai_520_w2: Unicode 5.2.0 with accents, vowels behind their consonants.
CREATE TABLE thai (id INT PRIMARY KEY, s VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_thai_520_w2, KEY (s));
INSERT INTO thai VALUES (1, 'เก'), (2, 'กา'), (3, 'แก'), (4, 'ก'), (5, 'a'), (6, 'á'), (7, 'A'), (8, 'ä'), (9, 'ab'), (10, ''), (11, ' '), (12, 'เกม'), (13, 'ก่า'), (14, 'æ'), (15, 'ae'), (16, '中'), (17, '😀'), (18, 'a	'), (19, 'Z'), (20, 'ß'), (21, 'ss'), (22, 'กํา'), (23, 'กำ');
SELECT id, s FROM thai ORDER BY s, id;
SELECT id FROM thai WHERE s = 'A' ORDER BY id;
SELECT id FROM thai WHERE s = 'ss' ORDER BY id;
SELECT id FROM thai WHERE s BETWEEN 'ก' AND 'แก' ORDER BY s, id;
SELECT id, HEX(WEIGHT_STRING(s)), HEX(WEIGHT_STRING(s LEVEL 1)), HEX(WEIGHT_STRING(s LEVEL 2)), HEX(WEIGHT_STRING(s AS CHAR(3))) FROM thai ORDER BY id;
SELECT COUNT(DISTINCT s), MIN(s), MAX(s) FROM thai;
SELECT 'á' = 'a' COLLATE utf8mb4_thai_520_w2, 'A' = 'a' COLLATE utf8mb4_thai_520_w2, 'x ' = 'x' COLLATE utf8mb4_thai_520_w2, 'เก' LIKE 'เ_' COLLATE utf8mb4_thai_520_w2;
SELECT GROUP_CONCAT(id ORDER BY id) FROM thai GROUP BY s ORDER BY MIN(id);
