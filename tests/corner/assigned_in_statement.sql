-- User variables that a statement assigns: kinds are those before it, NULL keeps the kind, texts their character set.
SELECT @a1 := 10, @b1 := 2, @a1 > @b1, @a1 < @b1;
SELECT @a1 := '10', @b1 := '2', @a1 > @b1, @a1 < @b1;
SELECT @a1 := 10, @b1 := 2, @a1 > @b1, @a1 := '10', @b1 := '2', @a1 > @b1;
SET @a2 = 1;
SELECT @a2, @a2 := 'x', @a2 + 1;
SELECT @n1 := CONVERT('ab' USING ucs2), LENGTH(@n1), HEX(@n1), CHARSET(@n1);
CREATE TABLE u (a VARCHAR(10) CHARACTER SET utf16);
INSERT INTO u VALUES ('ab');
SELECT a, @l := LOWER(a), LENGTH(@l), @u := UPPER(a), LENGTH(@u), CHARSET(@u) FROM u;
DROP TABLE u;
SET @a = 1, @b = 1.5, @c = 'x', @d = 1e0, @e = 0x41, @f = DATE'2001-01-01', @g = CAST(1 AS UNSIGNED);
SET @a = NULL, @b = NULL, @c = NULL, @d = NULL, @e = NULL, @f = NULL, @g = NULL;
CREATE TABLE r SELECT @a, @b, @c, @d, @e, @f, @g, @never;
SHOW CREATE TABLE r;
DROP TABLE r;
SET @n = 0;
SELECT @n := @n + 1, @n := @n + 1, @n;
SELECT @m := IFNULL(@m, 0) + 1, @m;
-- A variable has a name.
SELECT 1 INTO @;
SET @ = 1;
SELECT @``;
SELECT @'';
