-- FETCH FIRST ... WITH TIES, OFFSET in its forms.
create table t (a int primary key, b int, c varchar(20), key(b));
insert into t values (1,1,'x'),(2,1,'y'),(3,2,'z'),(4,2,'w'),(5,3,'v'),(6,null,'u'),(7,null,'X');
-- sorted
select b from t order by b fetch first 1 rows with ties;
-- sorted
select b from t order by b desc fetch first 2 rows with ties;
-- sorted
select b from t order by b offset 3 rows fetch next 2 rows with ties;
-- sorted
select c from t order by c fetch next 6 rows with ties;
select a from t order by a fetch first 2 rows with ties;
-- sorted
select b, count(*) n from t group by b order by n fetch first 2 rows with ties;
-- sorted
select b, count(*) n from t group by b order by n desc fetch first row with ties;
-- sorted
select b + 1 x from t order by x fetch first 3 rows with ties;
select a from t order by a fetch first 0 rows with ties;
select a from t order by a offset 100 rows fetch first 1 rows with ties;
select * from t fetch first 1 rows with ties;
-- sorted
select * from (select b from t order by b desc fetch first 2 rows with ties) d;
-- sorted
select b from t union all select b from t order by b fetch first 3 rows with ties;
-- sorted
select t.b, rank() over (order by t.b) r from t order by r fetch first 3 rows with ties;
-- sorted
select x.b from t x join t y on x.b = y.b order by x.b fetch first 1 row with ties;
create view v as select b from t order by b fetch first 1 rows with ties;
select replace(view_definition, concat('`', database(), '`.'), '') v from information_schema.views where table_name = 'v' and table_schema = database();
-- sorted
select * from v;
create view w as select b from t order by b offset 2 rows fetch first 1 rows with ties;
select replace(view_definition, concat('`', database(), '`.'), '') v from information_schema.views where table_name = 'w' and table_schema = database();
-- sorted
select * from w;
prepare s from 'select b from t order by b fetch first ? rows with ties';
set @n = 3;
-- sorted
execute s using @n;
drop view v, w;
drop table t;
