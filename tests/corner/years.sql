-- YEAR(2): stored like YEAR, shown with two digits.
create table y (a year(2), b year(4), c year, e year(2) zerofill);
show create table y;
describe y;
insert into y values (1,1,1,1),(70,70,70,70),(1970,1970,1970,1970),(2069,2069,2069,2069),(0,0,0,0),('0','0','0','0');
insert into y (a) values ('00'), (2005);
select * from y;
select max(a), min(a), max(b) from y;
-- sorted
select * from y order by a, b;
-- sorted
select * from y where a = 70;
-- sorted
select * from y where a = 2001;
-- sorted
select * from y where a = '01';
create table y3 (a year(2), primary key(a));
insert into y3 values (0),(1),(99),(70);
insert into y3 values (2001);
select * from y3 where a=99;
select * from y3 where a=1999;
select * from y3 where a in (0,2000);
select a + 0 < 9999 from y3;
select column_type, data_type from information_schema.columns where table_name = 'y' and table_schema = database();
create table y4 select a, max(b) b from y group by a;
-- nowarn
show create table y4;
drop table y, y3, y4;
-- As text it has two digits, too.
CREATE TABLE y2t (a YEAR(2));
INSERT INTO y2t VALUES (1), (98), ('0');
SELECT CONCAT(a), LENGTH(a), CAST(a AS CHAR), a FROM y2t;
SELECT GROUP_CONCAT(a) FROM y2t;
CREATE VIEW y2v AS SELECT CONCAT(a) c FROM y2t;
SELECT * FROM y2v;
