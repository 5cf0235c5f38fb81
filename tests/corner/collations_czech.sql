-- latin2_czech_cs and cp1250_czech_cs, whose levels are words' and the whole text's, tis620_thai_ci, and levels of WEIGHT_STRING().
CREATE TABLE w (id INT PRIMARY KEY, l VARCHAR(20) CHARACTER SET latin2 COLLATE latin2_czech_cs, c VARCHAR(20) CHARACTER SET cp1250 COLLATE cp1250_czech_cs, KEY (l), KEY (c));
INSERT INTO w VALUES (1, 'chata', 'chata'), (2, 'cukr', 'cukr'), (3, 'Chata', 'Chata'), (4, 'hora', 'hora'), (5, 'CHATA', 'CHATA'), (6, 'cHata', 'cHata'), (7, 'a b', 'a b'), (8, 'ab', 'ab'), (9, 'a  b', 'a  b'), (10, 'a-b', 'a-b'), (11, 'á', 'á'), (12, 'a', 'a'), (13, 'A', 'A'), (14, 'čas', 'čas'), (15, 'řeka', 'řeka'), (16, '', ''), (17, ' a', ' a'), (18, 'a.', 'a.'), (19, 'žena', 'žena'), (20, 'zena', 'zena');
SELECT id, l, HEX(WEIGHT_STRING(l)) FROM w ORDER BY l, id;
SELECT id, c, HEX(WEIGHT_STRING(c)) FROM w ORDER BY c, id;
SELECT id FROM w WHERE l > 'h' ORDER BY id;
SELECT id FROM w FORCE INDEX (l) WHERE l BETWEEN 'ch' AND 'i' ORDER BY l, id;
SELECT id FROM w WHERE l = 'chata ' OR c = 'CHATA' ORDER BY id;
SELECT id FROM w WHERE l LIKE 'ch%' ORDER BY id;
SELECT MIN(l), MAX(l), MIN(c), MAX(c) FROM w;
SELECT l, COUNT(*) FROM w GROUP BY l ORDER BY l;
SELECT HEX(WEIGHT_STRING(l LEVEL 1)), HEX(WEIGHT_STRING(l LEVEL 2)), HEX(WEIGHT_STRING(l LEVEL 3, 4)), HEX(WEIGHT_STRING(c LEVEL 2)) FROM w WHERE id < 11 ORDER BY id;
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20) CHARACTER SET tis620, b VARCHAR(20) CHARACTER SET tis620 COLLATE tis620_thai_nopad_ci, KEY (a));
SHOW CREATE TABLE t;
INSERT INTO t VALUES (1, 'กา', 'กา'), (2, 'เก', 'เก'), (3, 'ก่า', 'ก่า'), (4, 'ก้า', 'ก้า'), (5, 'a', 'a '), (6, 'A ', 'A'), (7, 'แข', 'แข'), (8, 'ขา', 'ขา'), (9, 'ก่ก้', 'ก่ก้'), (10, 'ไทย', 'ไทย');
SELECT id, HEX(WEIGHT_STRING(a)), HEX(WEIGHT_STRING(a AS CHAR(4))), HEX(WEIGHT_STRING(b AS CHAR(4))) FROM t ORDER BY id;
SELECT id FROM t ORDER BY a, id;
SELECT id FROM t ORDER BY b, id;
SELECT id FROM t WHERE a = 'a' ORDER BY id;
SELECT id FROM t WHERE b = 'a' ORDER BY id;
-- Weights of codes, and how many there are.
SELECT HEX(WEIGHT_STRING(_utf8mb3'aé' COLLATE utf8mb3_bin)), HEX(WEIGHT_STRING(_utf8mb4'aé' COLLATE utf8mb4_bin)), HEX(WEIGHT_STRING(CONVERT('aé' USING ucs2) COLLATE ucs2_bin)), HEX(WEIGHT_STRING(CONVERT('aé日' USING eucjpms) COLLATE eucjpms_bin)), HEX(WEIGHT_STRING(CONVERT('ab' USING ascii) COLLATE ascii_bin));
SELECT HEX(WEIGHT_STRING(CONVERT('a ž' USING latin7))), HEX(WEIGHT_STRING(CONVERT('a ž' USING latin7) AS CHAR(5))), HEX(WEIGHT_STRING(CONVERT('aß' USING latin1) COLLATE latin1_german2_ci AS CHAR(2)));
SELECT HEX(WEIGHT_STRING(CONVERT('aß' USING utf8mb4) COLLATE utf8mb4_unicode_ci AS CHAR(2))), HEX(WEIGHT_STRING(CONVERT('aß' USING utf8mb4) COLLATE utf8mb4_unicode_ci AS CHAR(5))), HEX(WEIGHT_STRING(CONVERT('aß' USING utf8mb4) COLLATE uca1400_as_cs AS CHAR(4))), HEX(WEIGHT_STRING(CONVERT('aß' USING utf8mb4) COLLATE uca1400_nopad_as_cs AS CHAR(5)));
CREATE TABLE ws SELECT WEIGHT_STRING(l) a, WEIGHT_STRING(c) b FROM w;
SHOW CREATE TABLE ws;
