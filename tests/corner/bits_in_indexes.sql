-- Texts beside an indexed BIT column: the index is asked for the text's bytes, and the rows that it has are compared with the
-- text's number; those of one value of an index that is not unique are not.
CREATE TABLE n (c BIT(8) NOT NULL);
CREATE TABLE p (c BIT(8) NOT NULL PRIMARY KEY);
CREATE TABLE k (c BIT(8) NOT NULL, KEY (c));
CREATE TABLE w (c BIT(16) NOT NULL, KEY (c));
INSERT INTO n VALUES (0), (1), (2), (4), (31), (49), (50), (52), (54), (61), (75), (122), (255);
INSERT INTO p SELECT * FROM n;
INSERT INTO k SELECT * FROM n;
INSERT INTO w SELECT * FROM n;
INSERT INTO w VALUES (14132);
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM n WHERE c = '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c = '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM k WHERE c = '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM w WHERE c = '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM w WHERE c = '74';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM k WHERE c <=> '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c <=> '49';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM n WHERE c > '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c > '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c >= '1' AND c < '6';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c BETWEEN '1' AND '64';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM w WHERE c IN ('1', '64');
-- The index is asked with the text, too.
-- nowarn
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c > 'a';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c = 'a';
-- Too large for the column.
-- nowarn
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c = 'ab';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM k WHERE c = 'ab';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c IN ('1', '64');
-- nowarn
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p WHERE c < 'ab';
-- Numbers, and what no index is asked for, are as ever.
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM k WHERE c = 49;
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM k WHERE c = b'1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM k WHERE c <> '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM k WHERE c NOT IN ('1', '2');
UPDATE p SET c = 200 WHERE c = '1';
DELETE FROM k WHERE c = '1';
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM p;
SELECT GROUP_CONCAT(c + 0 ORDER BY c) FROM k;
