-- A text that is a date with a time behind it, whatever stands between its numbers, is read so where a time is wanted.
SELECT CAST('10:10:10 10' AS TIME), CAST('10:10:10 10:20' AS TIME), CAST('1:1:1 1:1' AS TIME), CAST('10.10.10 10' AS TIME), CAST('12:10:10T10' AS TIME);
SELECT CAST('10:20:30 10' AS TIME), CAST('-10:10:10 10' AS TIME), TIME('-2001-01-01 10:20:30'), CAST('10:10 10' AS TIME), CAST('10:10:10' AS TIME);
SELECT TIME('1 2'), TIME('1 2 '), TIME('1 10'), TIME('1 2:3'), TIME('1 10:20:30');
SELECT TIME_TO_SEC('10:10:10 10'), HOUR('10:10:10 10'), ADDTIME('10:10:10 10', 0);
-- ADDTIME and SUBTIME of texts and numbers compute with their digits.
SELECT ADDTIME(0, 8395959) + 0, ADDTIME('00:00:01', '00:00:01') + 0, SUBTIME(10000, 1) + 0, ADDTIME(20010101000000, 1) + 0, -ADDTIME(0, 1), ADDTIME(0, 100) = 100, ADDTIME(0, 100) > 99;
SELECT CAST(ADDTIME(20010101000000, 8395959) AS SIGNED), CAST(ADDTIME(0.0, 8395959) AS DECIMAL(30, 2)), SUBTIME(1, 10) + 0;
-- Zero is no year of this century, unless there is a time behind it.
SET sql_mode = '';
CREATE TABLE moments_as_texts (dt DATETIME);
INSERT INTO moments_as_texts VALUES ('12-00-00'), ('00-00-00 01:00:00'), ('00-00-00'), ('00-00-00 00:00:00');
SELECT * FROM moments_as_texts;
DROP TABLE moments_as_texts;
SET sql_mode = DEFAULT;
