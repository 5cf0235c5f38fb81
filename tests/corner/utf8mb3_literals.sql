-- A literal of utf8mb3 with a character of four bytes, which is none of that set: it stays as it was sent, and columns refuse it.
CREATE TABLE mb3 (id INT PRIMARY KEY, a VARCHAR(20) CHARACTER SET utf8mb4, b VARCHAR(20) CHARACTER SET utf8mb3, c VARBINARY(30), d VARCHAR(20) CHARACTER SET latin1);
INSERT INTO mb3 VALUES (1, 'x😀y', 'z', 'x😀y', 'z');
SET NAMES utf8mb3;
SELECT HEX('x😀y') a, LENGTH('x😀y') b, 'x😀y' = 'x?y' c, 'x😀y' = 'x????y' d, HEX(CONCAT('x😀y', 'a')) e;
INSERT INTO mb3 (id, a) VALUES (2, 'x😀y');
INSERT INTO mb3 (id, b) VALUES (2, 'x😀y');
INSERT INTO mb3 (id, d) VALUES (2, 'x😀y');
INSERT INTO mb3 (id, c) VALUES (2, 'x😀y');
UPDATE mb3 SET a = '😀';
INSERT INTO mb3 (id, b) SELECT 3, 'x😀y';
INSERT IGNORE INTO mb3 (id, a, b) VALUES (4, 'x😀y', '😀😀');
SELECT id, HEX(a), HEX(b), HEX(c), HEX(d) FROM mb3 ORDER BY id;
SELECT COUNT(*) FROM mb3 WHERE b = 'x😀y';
SELECT COUNT(*) FROM mb3 WHERE c = 'x😀y';
SELECT HEX(N'x😀y') a, HEX(_utf8mb3'x😀y') b;
CREATE TABLE mb3_default (a VARCHAR(10) CHARACTER SET utf8mb3 DEFAULT 'x😀y');
SET NAMES utf8mb4, character_set_connection = utf8mb3;
SELECT HEX('x😀y') a;
SET NAMES utf8mb4;
INSERT INTO mb3 (id, b) VALUES (5, x'F09F9880');
INSERT IGNORE INTO mb3 (id, b) VALUES (6, x'41F09F988042');
SELECT id, HEX(b) FROM mb3 WHERE id > 4;
-- What error 1300 shows: the first bytes that are no text.
SELECT _utf8mb3 x'6162FFFEFDFC41';
SELECT _utf8mb4 x'6162C3';
SELECT _utf8mb3 x'F09F9880';
