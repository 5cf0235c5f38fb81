-- What a column is called that is a literal in brackets, or a moment in braces that is none.
SELECT (5), ((5)), ( 5 ), ('a'), (1+1), (SELECT 4), (-5), (NULL), (TRUE);
SELECT {d '2001-01-01'}, {d '2001-01-01 10:00:00'}, {ts '2001-01-01'}, {t '2001-01-01'}, {x 5}, {fn LENGTH('abc')}, { date "1997-10-20" };
VALUES ((5), (1+1), (SELECT 4));
CREATE TABLE nl AS SELECT (7), ('x'), {d '2001-01-01 10:00:00'};
SHOW CREATE TABLE nl;
