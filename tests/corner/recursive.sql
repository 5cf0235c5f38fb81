-- WITH RECURSIVE: the order of its tables, tables that name each other, what the standard does not have.
create table q (x int);
insert into q values (1),(2),(3),(4),(5);
-- sorted
with recursive a as (select 1 x union select count(*)+1 from a where x<10) select * from a;
-- sorted
with recursive a as (select 1 x union select 5 union select sum(x) from a where x<50) select * from a;
-- sorted
with recursive a as (select 1 x, 1 g union select max(x)+1, g from a where x<5 group by g) select * from a;
-- sorted
with recursive a as (select 1 x union select row_number() over () +1 from a where x<5) select * from a;
-- sorted
with recursive a as (select 1 x union select max(x)+1 from a where x<5) select * from a;
-- sorted
with recursive a as (select 1 x union all select max(x)+1 from a where x<5) select * from a;
-- sorted
with recursive a as (select 1 x union select q.x from q where q.x not in (select x from a) and q.x<5) select * from a;
-- sorted
with recursive a as (select 1 x union select q.x from q where exists (select 1 from a where a.x=q.x-1)) select * from a;
-- sorted
with recursive a as (select 1 x union select min(q.x) from q where not exists (select 1 from a where a.x=q.x)) select * from a;
-- sorted
with recursive a as (select 1 x union all select q.x from q left join a on a.x=q.x-1 where a.x is not null) select * from a;
-- sorted
with recursive a as (select 1 x union select (select max(y) from (select a.x+1 y) z) from a where x < 3) select * from a;
-- sorted
with recursive a as (select 1 x union select z.x from q straight_join (select x+1 as x from a where x < 5) z) select * from a;
-- sorted
with recursive a as (select 1 x union select x from (select x+1 as x from a where x < 5 union select x+2 from a where x < 5) z) select * from a;
-- sorted
with recursive a as (select 1 x union select x from (select x+1 as x from a where x < 5 limit 3) z) select * from a;
-- sorted
with recursive a as (select 1 x union select x from (select distinct x+1 as x from a where x < 5) z) select * from a;
-- sorted
with recursive a as (select 1 x union select count(*)+1 as x from (select x from a where x < 5) z) select * from a;
-- sorted
with recursive a as (select 1 x union select z.x+1 as x from (select x from a where x < 5) z, (select x from a) y) select * from a;
-- sorted
with recursive a as (select 1 x union select q.x from q left join (select x from a where x < 5) z on q.x=z.x+1) select * from a;
-- sorted
with recursive a as (select 1 x union select a.x+1 from a where a.x<5), b as (select 1 y union select y+1 from b, a where y < 3) select * from b;
-- sorted
with recursive a as (select 1 x union with c as (select x+1 as x from a where x < 4) select x from c) select * from a;
-- sorted
with recursive a as (with c as (select 1 y) select y as x from c union select x+1 from a where x < 4) select * from a;
-- sorted
with recursive a as (select 1 x union all select x+1 from a where x < 2000) select count(*) from a;
-- sorted
with recursive a as (select 1 x union all select 2 union select x+1 from a where x<4) select * from a;
-- sorted
with recursive a as (select 1 x union select 2 union all select x+1 from a where x<4) select * from a;
-- sorted
with recursive a as (select 1 x union all select x+1 from a where x<4 union select 2) select * from a;
-- sorted
with recursive a as (select 1 x union distinct select x+1 from a where x<4 union all select 2) select * from a;
-- sorted
with recursive t as ( select 1 a union select * from r), r as (select * from t union select r.a from r) select * from r;
-- sorted
with recursive t as ( select 1 a union select * from r), r as (select * from t union select r.a from r) select * from t;
-- sorted
with recursive x as (select 5 a), t as ( select 1 a union select * from r), r as (select * from t union select r.a from r) select 1;
-- sorted
with recursive a as (select * from a) select 1;
-- sorted
with recursive a as (select 1 x, 2 y union select x+1 from a where x<4) select * from a;
-- sorted
with recursive a(b) as (select 1 x, 2 y union select x+1, 3 from a where x<4) select * from a;
-- sorted
with recursive s(a) as (select t.a+10 from t), t(a) as (select 1) select * from s;
-- sorted
with recursive a as (select 1 x union select x+1 from a where x<4), a as (select 2) select * from a;
-- sorted
with recursive a as ((select 1 x union select 2) union select x+1 from a where x<4) select * from a;
-- sorted
with recursive a as (select 1 x union select x+1 from a where x<4 and x in (select 1 union select 2)) select * from a;
-- sorted
with recursive a as (values (1) union values (2) union select `1`+1 from a where `1`<4) select * from a;
-- sorted
with recursive a as (select 1 x union select a.x+1 from a, a b) select * from a;
-- sorted
with recursive a as (select 1 x union select a.x+1 from a left join a b on 1) select * from a;
-- sorted
with recursive a as (select 1 x union select a.x+1 from a where x < 3 for update) select * from a;
-- sorted
with recursive a as (select cast('a' as char(10)) x union select concat(x,'b') from a where length(x)<4) select * from a;
-- sorted
with recursive a as (select 1 x union select x+0.5 from a where x<4) select * from a;
-- sorted
with recursive a as (select 1 x, 'aa' y union all select x+1, 'bbbb' from a where x < 3) select * from a;
-- sorted
with recursive a as (select 1 x union select a1.x+1 from a a1, a a2 where a1.x<5 and a2.x=1) select * from a;
-- sorted
with recursive a as (select 1 x union select a2.x+1 from a a1, a a2 where a2.x<5 and a1.x=1) select * from a;
-- sorted
with recursive a as (select 1 x union select a1.x+a2.x from a a1, a a2 where a1.x+a2.x<20) select * from a;
-- sorted
with recursive a as (select 1 x union select distinct x+1 from a where x<5) select * from a;
-- sorted
with recursive a as (select 1 x union select x+1 from a where x<5 order by x limit 1) select * from a;
-- sorted
with recursive a as (select 1 x union (select x+1 from a where x<5 order by x limit 1)) select * from a;
-- sorted
with recursive a as (select 1 x union select a.x+1 from a join (select 1 b) q where x<5) select * from a;
-- sorted
with recursive a as (select 1 x union select a.x+1 from a left join (select 1 b) q on q.b=a.x where x<5) select * from a;
-- sorted
with recursive a as (select 1 x union select a.x+1 from (select * from a) a where x<5) select * from a;
-- sorted
with recursive a as (select 1 x union select (select a.x+1) from a where x<5) select * from a;
-- sorted
with recursive a as (select 1 x union select a.x+1 from a where x<5 and exists (select 1 from a b where b.x=a.x)) select * from a;
-- sorted
with recursive a as (select 1 x union select a1.x+1 from a a1, a a2 where a1.x<4) select * from a;
-- sorted
with recursive a as (select 1 x union select x+1 from a where x<4 union all select x+2 from a where x<4) select * from a;
-- sorted
with recursive a as (select 1 x union all select x+1 from a where x<4 union select x+2 from a where x<4) select * from a;
-- sorted
with recursive a as (select 1 x union select x from b), b as (select x+1 as x from a where x < 5) select * from a;
-- sorted
with recursive a as (select 1 x union all select x from b), b as (select x+1 as x from a where x < 5) select * from a;
-- sorted
with recursive a as (select 1 x union all select x from b), b as (select x+1 as x from a where x < 5) select * from b;
-- sorted
with recursive a as (select 1 x union all select x from b), b as (select x+1 as x from a where x < 5) select a.x, b.x from a, b;
-- sorted
with recursive a as (select x from b union select 1 x), b as (select x+1 as x from a where x < 5) select * from a;
-- sorted
with recursive a as (select 1 x union select x+1 from c), b as (select x from a where x < 5), c as (select x from b) select * from b;
-- sorted
with recursive a as (select x from b), b as (select 1 x union select x+1 from b where x<3) select * from a;
-- sorted
with recursive a as (select * from a) select * from a;
-- sorted
with recursive a as (select 1 union select x from b), b as (select x from a) select * from a;
-- sorted
with recursive a(x) as (select 1 union select x from b), b as (select x from a) select * from a;
-- sorted
with recursive a(x) as (select 1 union select x from b), b(y) as (select x from a) select * from a;
set standard_compliant_cte=0;
-- sorted
with recursive a as (select 1 x union select a1.x+1 from a a1, a a2 where a1.x<5 and a2.x=1) select * from a;
-- sorted
with recursive a as (select 1 x union select a1.x+a2.x from a a1, a a2 where a1.x+a2.x<20) select * from a;
-- sorted
with recursive a as (select 1 x union select b.n from (select 2 n union select 3 union select 4) b left join a on a.x=b.n-1) select * from a;
-- sorted
with recursive a as (select 1 x, 1 g union select max(x)+1, g from a where x<5 group by g) select * from a;
set standard_compliant_cte=1;
set max_recursive_iterations=3;
with recursive a as (select 1 x union all select x+1 from a where x < 2000) select count(*) from a;
drop table q;
