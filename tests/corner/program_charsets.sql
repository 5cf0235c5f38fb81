-- A program has the collation of its database, and the client's character set, of when it was made.
SET NAMES utf8mb3;
CREATE DATABASE pc CHARACTER SET utf8mb3 COLLATE utf8mb3_unicode_ci;
CREATE PROCEDURE pc.p(INOUT a CHAR(10), OUT b CHAR(10)) BEGIN DECLARE c CHAR(10); SELECT COLLATION(a), COLLATION(b), COLLATION(c), COLLATION('x'), @@collation_connection, @@character_set_client, @@collation_database; SET a = 'a', b = 'b'; END;
ALTER DATABASE pc COLLATE cp866_general_ci;
CALL pc.p(@a, @b);
SET character_set_client = cp1251, collation_connection = cp1251_general_ci;
CALL pc.p(@a, @b);
SELECT @@character_set_client, @@collation_connection;
CREATE PROCEDURE pc.q() BEGIN SET NAMES koi8r; SELECT @@character_set_client, @@collation_connection; END;
CALL pc.q();
SELECT @@character_set_client, @@collation_connection, @@character_set_results;
SET NAMES utf8mb4;
DROP DATABASE pc;
