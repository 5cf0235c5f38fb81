-- Engines of MariaDB stand for the one store here. The warning that says so is Narwal's own.
-- nowarn
CREATE TABLE e1 (a INT PRIMARY KEY, b VARCHAR(10)) ENGINE=MyISAM;
INSERT INTO e1 VALUES (1, 'a'), (2, 'b');
SELECT * FROM e1 ORDER BY a;
-- nowarn
CREATE TABLE e2 (a INT) ENGINE=MEMORY;
-- nowarn
CREATE TABLE e3 (a INT) ENGINE='heap';
-- nowarn
CREATE TABLE e4 (a INT NOT NULL) ENGINE=CSV;
CREATE TABLE e6 (a INT) ENGINE=NoSuchEngine;
-- nowarn
SET default_storage_engine=MyISAM;
SELECT @@default_storage_engine;
SET default_storage_engine=DEFAULT;
SET default_storage_engine=NoSuchEngine;
DROP TABLE e1, e2, e3, e4;
