-- Entered into phpMyAdmin's page for statements. A line of dashes ends what is entered at once.
CREATE TABLE maker (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL COMMENT 'who',
  since YEAR, UNIQUE KEY by_name (name)) COMMENT='makers';
CREATE TABLE thing (
  id INT NOT NULL AUTO_INCREMENT, maker_id INT UNSIGNED DEFAULT NULL, code CHAR(8) CHARACTER SET ascii NOT NULL DEFAULT '', name VARCHAR(100) NOT NULL,
  price DECIMAL(10,2) NOT NULL DEFAULT 1.50,
  kind ENUM('small','large','it''s') DEFAULT 'small', marks SET('a','b','c') NOT NULL DEFAULT 'a,c', bits BIT(5) DEFAULT b'101', picture BLOB, about TEXT,
  extra JSON DEFAULT NULL, made DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3),
  changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  twice DECIMAL(12,2) AS (price * 2) VIRTUAL, kept INT AS (char_length(name)) STORED,
  weight DOUBLE NOT NULL DEFAULT 0 CHECK (weight >= 0),
  PRIMARY KEY (id, code), KEY of_maker (maker_id, price), KEY start (name(10)),
  CONSTRAINT made_by FOREIGN KEY (maker_id) REFERENCES maker (id) ON DELETE SET NULL ON UPDATE CASCADE,
  CONSTRAINT cheap CHECK (price < 1000000));
CREATE TABLE log (at INT, what VARCHAR(200), KEY (at)) DEFAULT CHARSET=utf8mb3;
----
INSERT INTO maker (name, since) VALUES ('Ann', 1990), ('Bob & Co', 2001), ('Größe <b>', NULL);
----
INSERT INTO thing (maker_id, code, name, price, kind, marks, bits, picture, about, extra, made, changed, weight)
  SELECT NULLIF(1 + seq % 4, 4), CONCAT('c', seq), CONCAT('thing ', seq, IF(seq % 5, '', ' ü<i>')), seq * 1.25, 1 + seq % 3, 1 + seq % 7, seq % 32,
  IF(seq % 3, UNHEX('00FF8041'), NULL), REPEAT('about ', seq % 4),
  JSON_OBJECT('n', seq), '2026-01-01' + INTERVAL seq DAY, '2026-01-01 12:00:00', seq / 4 FROM seq_1_to_60;
----
CREATE VIEW dear AS SELECT t.id, t.name, m.name AS maker, t.price FROM thing t JOIN maker m ON m.id = t.maker_id WHERE t.price > 50 ORDER BY t.id;
CREATE VIEW names AS SELECT id, name FROM maker;
----
DELIMITER //
CREATE PROCEDURE raise(IN by_how DECIMAL(5,2), OUT changed INT) COMMENT 'all of them'
  MODIFIES SQL DATA BEGIN UPDATE thing SET price = price * by_how; SET changed = ROW_COUNT(); END//
CREATE FUNCTION half(n DECIMAL(10,2)) RETURNS DECIMAL(10,2) DETERMINISTIC RETURN n / 2//
CREATE TRIGGER logged AFTER UPDATE ON maker FOR EACH ROW BEGIN INSERT INTO log VALUES (NEW.id, CONCAT(OLD.name, ' to ', NEW.name)); END//
CREATE EVENT clean ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' ON COMPLETION PRESERVE DISABLE COMMENT 'at night' DO DELETE FROM log//
DELIMITER ;
----
UPDATE maker SET name = CONCAT(name, '!') WHERE id = 2;
----
SET TIMESTAMP = 1700000000; CALL raise(1.1, @n); SELECT @n;
----
SELECT maker_id, COUNT(*) AS n, SUM(price) FROM thing GROUP BY maker_id WITH ROLLUP;
----
SELECT t.*, m.name AS by_whom FROM thing t JOIN maker m ON m.id = t.maker_id ORDER BY t.id LIMIT 3;
----
SHOW CREATE TABLE thing;
----
SHOW FULL COLUMNS FROM thing;
----
SHOW TRIGGERS;
----
SELECT HALF(5), 1/0;
----
SELECT * FROM nowhere;
----
SELEC 1;
----
INSERT INTO maker (name) VALUES ('Ann');
----
ANALYZE TABLE maker, thing, log;
----
DELETE FROM maker WHERE id = 1;
----
ALTER TABLE thing ADD COLUMN later INT NULL AFTER name, ADD INDEX (later);
----
ANALYZE TABLE maker, thing, log;
----
CHECK TABLE maker, thing;
----
DROP TABLE IF EXISTS nowhere;
