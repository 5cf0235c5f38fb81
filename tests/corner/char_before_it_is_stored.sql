-- A CHAR has no spaces at its end for the values behind it in the row, either.
CREATE TABLE ch (b CHAR(3), c VARCHAR(20), d BINARY(3), e VARCHAR(20), f CHAR(4) CHARACTER SET latin1, g VARCHAR(20)) CHARSET utf8mb4;
INSERT INTO ch (b, c, d, e, f, g) VALUES ('x ', CONCAT(b, '!'), 'q ', HEX(d), 'é ', CONCAT(f, '!'));
INSERT INTO ch SET b = 'z ', c = CONCAT(b, '!'), f = _latin1 'y  ', g = CONCAT(f, '!');
INSERT INTO ch (b, c) SELECT '  ', CONCAT('<', b, '>') FROM ch LIMIT 1;
SELECT b, c, HEX(d), e, f, g FROM ch ORDER BY c;
UPDATE ch SET b = 'y  ', c = CONCAT(b, '!', c), f = 'w ', g = CONCAT(f, '!', LENGTH(f));
SELECT b, c, HEX(d), e, f, g FROM ch ORDER BY c;
INSERT INTO ch SET b = 'x     ', c = CONCAT(b, '!');
SELECT b, c FROM ch ORDER BY c;
DROP TABLE ch;
