-- Arguments in messages are cut at a number of bytes that each message has, where a character ends.
CREATE TABLE long_args (a varchar(300) PRIMARY KEY, b int, d date);
INSERT INTO long_args VALUES (repeat('é', 150), 1, NULL), (repeat('k', 250), 2, NULL);
-- wording
INSERT INTO long_args VALUES (repeat('é', 150), 1, NULL);
-- wording
INSERT INTO long_args VALUES (repeat('k', 250), 1, NULL);
-- wording
INSERT INTO long_args VALUES ('1', repeat('z', 150), NULL);
-- wording
INSERT INTO long_args VALUES ('1', 1, repeat('z', 150));
-- wording
INSERT IGNORE INTO long_args VALUES ('1', repeat('é', 150), repeat('é', 150));
-- wording
SELECT CAST(repeat('q', 128) AS SIGNED), CAST(repeat('q', 129) AS SIGNED), CAST(repeat('é', 150) AS DOUBLE);
-- wording
SELECT CAST(repeat('q', 150) AS DATE), CAST(repeat('é', 65) AS DATETIME), CAST(repeat('q', 150) AS TIME);
-- wording
SELECT CAST(repeat('q', 150) AS DECIMAL(5,1)), repeat('ü', 90) + 1;
-- wording
SELECT STR_TO_DATE(repeat('q', 150), '%Y'), DATE_ADD(repeat('q', 150), INTERVAL 1 DAY);
-- wording
SELECT * FROM nodb.tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt;
-- wording
USE dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd;
-- wording
SELECT 1 FROM long_args WHERE a b cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc;
-- wording
SELECT 1 a, ) éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé;
-- wording
SET sql_mode = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
-- wording
SET time_zone = 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz';
-- wording
SELECT _utf8mb4'a' COLLATE cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc;
-- wording
CREATE DATABASE ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd;
-- wording
SELECT CAST('é' AS DATE), CAST('é' AS TIME), YEAR('é'), 'é' = DATE'2001-01-01', 'é' > TIME'10:00', ADDTIME('é', '1');
