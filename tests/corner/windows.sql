-- Window functions: functions, frames, named windows, where they may stand, and errors. Random ones: test_windows.py.
CREATE TABLE t (id INT PRIMARY KEY, g INT, v INT, d DECIMAL(10,2), f DOUBLE, s VARCHAR(20), dt DATETIME, tm TIME, da DATE, u BIGINT UNSIGNED NOT NULL DEFAULT 1) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO t VALUES (1,1,10,1.5,1.5,'a','2024-01-01 00:00:00','10:00:00','2024-01-01',1),(2,1,10,2.5,2.5,'b','2024-01-02 00:00:00','10:00:01','2024-01-02',2),(3,1,20,NULL,3.5,'c','2024-01-02 12:00:00','10:00:03','2024-01-05',3),(4,2,NULL,4.5,NULL,'d',NULL,NULL,NULL,4),(5,2,30,5.5,0.1,'e','2024-01-05 00:00:00','12:00:03','2024-02-05',5);
-- sorted
select row_number() over () from t where row_number() over ()>1;
-- sorted
select g from t group by row_number() over ();
-- sorted
select g from t group by g having row_number() over ()>1;
-- sorted
select g, row_number() over () r from t having r>1;
-- sorted
select sum(row_number() over ()) from t;
-- sorted
select row_number() over (order by row_number() over ()) from t;
-- sorted
select rank() over (order by id) r, sum(rank() over (order by id)) over () from t;
update t set v=row_number() over ();
delete from t where row_number() over () = 1;
insert into t(id) set @a = row_number() over ();
-- sorted
select row_number() over ();
-- sorted
select row_number() over w from t;
-- sorted
select row_number() over w from t window w as (), w as ();
-- sorted
select row_number() over (w partition by g) from t window w as ();
-- sorted
select row_number() over (w order by g) from t window w as (order by v);
-- sorted
select sum(v) over (w rows unbounded preceding) from t window w as (order by v rows unbounded preceding);
-- sorted
select sum(v) over (w) from t window w as (order by v rows unbounded preceding);
-- sorted
select sum(v) over (w order by v) from t window w as (rows unbounded preceding);
-- sorted
select sum(v) over w from t window w as (w2), w2 as (order by v);
-- sorted
select sum(v) over w from t window w2 as (order by v), w as (w2);
-- sorted
select sum(v) over w from t window W as (order by v);
-- sorted
select sum(v) over (order by v rows between unbounded following and current row) from t;
-- sorted
select sum(v) over (order by v rows between current row and unbounded preceding) from t;
-- sorted
select sum(v) over (order by v rows between current row and 1 preceding) from t;
-- sorted
select sum(v) over (order by v rows between 1 following and current row) from t;
-- sorted
select sum(v) over (order by v rows between 1 following and 2 preceding) from t;
-- sorted
select sum(v) over (order by v rows 1 following) from t;
-- sorted
select sum(v) over (order by v rows unbounded following) from t;
-- sorted
select sum(v) over (order by v rows -1 preceding) from t;
-- sorted
select sum(v) over (order by v rows 1.5 preceding) from t;
-- sorted
select sum(v) over (order by v rows '1' preceding) from t;
-- sorted
select sum(v) over (order by v rows null preceding) from t;
-- sorted
select sum(v) over (order by v rows v preceding) from t;
-- sorted
select sum(v) over (order by v rows 1+1 preceding) from t;
-- sorted
select sum(v) over (order by v rows @x preceding) from t;
-- sorted
select sum(v) over (order by v rows (select 1) preceding) from t;
-- sorted
select sum(v) over (range 1 preceding) from t;
-- sorted
select sum(v) over (order by v,id range 1 preceding) from t;
-- sorted
select sum(v) over (order by s range 1 preceding) from t;
-- sorted
select sum(v) over (order by dt range 1 preceding) from t;
-- sorted
select sum(v) over (order by dt range interval 1 day preceding) from t;
-- sorted
select sum(v) over (order by da range interval 1 day preceding) from t;
-- sorted
select sum(v) over (order by tm range interval 1 second preceding) from t;
-- sorted
select sum(v) over (order by v range -1 preceding) from t;
-- sorted
select sum(v) over (order by v range 10 preceding) from t;
-- sorted
select sum(v) over (order by v range 0.5 preceding) from t;
-- sorted
select sum(v) over (order by f range 1.01 preceding) from t;
-- sorted
select sum(v) over (order by v range '10' preceding) from t;
-- sorted
select sum(v) over (order by v range 'a' preceding) from t;
-- sorted
select sum(v) over (order by v range null preceding) from t;
-- sorted
select sum(v) over (order by v range id preceding) from t;
-- sorted
select sum(v) over (order by v rows 1 preceding exclude current row) from t;
-- sorted
select sum(v) over (order by v rows 1 preceding exclude group) from t;
-- sorted
select sum(v) over (order by v rows 1 preceding exclude ties) from t;
-- sorted
select sum(v) over (order by v rows 1 preceding exclude no others) from t;
-- sorted
select row_number() over (order by v rows 1 preceding) from t;
-- sorted
select rank() over (order by v rows 1 preceding) from t;
-- sorted
select lag(v) over (order by v rows 1 preceding) from t;
-- sorted
select lead(v) over (order by v rows 1 preceding) from t;
-- sorted
select ntile(2) over (order by v rows 1 preceding) from t;
-- sorted
select percent_rank() over (order by v rows 1 preceding) from t;
-- sorted
select cume_dist() over (order by v rows 1 preceding) from t;
-- sorted
select dense_rank() over (order by v rows 1 preceding) from t;
-- sorted
select row_number() over w from t window w as (order by v rows 1 preceding);
-- sorted
select rank() over () from t;
-- sorted
select dense_rank() over () from t;
-- sorted
select percent_rank() over () from t;
-- sorted
select cume_dist() over () from t;
-- sorted
select lag(v) over () from t;
-- sorted
select lead(v) over () from t;
-- sorted
select ntile(2) over () from t;
-- sorted
select last_value(v) over () from t;
-- sorted
select row_number() over () from t;
-- sorted
select ntile(0) over (order by v) from t;
-- sorted
select ntile(-1) over (order by v) from t;
-- sorted
select ntile(null) over (order by v) from t;
-- sorted
select ntile(v) over (order by id) from t;
-- sorted
select ntile(id) over (order by id) from t;
-- sorted
select ntile('x') over (order by id) from t;
-- sorted
select ntile(2.6) over (order by id) from t;
-- sorted
select nth_value(v,0) over (order by id) from t;
-- sorted
select nth_value(v,-1) over (order by id) from t;
-- sorted
select nth_value(v,null) over (order by id) from t;
-- sorted
select nth_value(v,id) over (order by id) from t;
-- sorted
select nth_value(v,1.6) over (order by id) from t;
-- sorted
select lag(v,-1) over (order by id) from t;
-- sorted
select lag(v,0) over (order by id) from t;
-- sorted
select lag(v,null) over (order by id) from t;
-- sorted
select lag(v,id) over (order by id) from t;
-- sorted
select lag(v,1,5) over (order by id) from t;
-- sorted
select lead(v,1.5) over (order by id) from t;
-- sorted
select lead(v,'1') over (order by id) from t;
-- sorted
select count(distinct v) over () from t;
-- sorted
select sum(distinct v) over () from t;
-- sorted
select avg(distinct v) over () from t;
-- sorted
select min(distinct v) over () from t;
-- sorted
select group_concat(v) over () from t;
-- sorted
select json_arrayagg(v) over () from t;
-- sorted
select json_objectagg(id,v) over () from t;
-- sorted
select bit_and(v) over (order by id) from t;
-- sorted
select bit_or(v) over (order by id), bit_xor(v) over (order by id) from t;
-- sorted
select bit_xor(v) over (order by id rows between 1 preceding and 1 following) b, bit_and(v) over (order by id rows between 1 preceding and 1 following) a from t;
-- sorted
select median(v) over (partition by g) from t;
-- sorted
select median(v) over () from t;
-- sorted
select median(v) over (order by v) from t;
-- sorted
select median(v) from t;
-- sorted
select percentile_cont(0.5) within group (order by v) over (partition by g) from t;
-- sorted
select percentile_disc(0.5) within group (order by v) over (partition by g) from t;
-- sorted
select percentile_disc(0.5) within group (order by s) over (partition by g) from t;
-- sorted
select percentile_cont(0.5) within group (order by s) over (partition by g) from t;
-- sorted
select percentile_disc(0.5) within group (order by dt) over (partition by g) from t;
-- sorted
select percentile_cont(1.5) within group (order by v) over (partition by g) from t;
-- sorted
select percentile_cont(-0.5) within group (order by v) over (partition by g) from t;
-- sorted
select percentile_cont(null) within group (order by v) over (partition by g) from t;
-- sorted
select percentile_cont('a') within group (order by v) over (partition by g) from t;
-- sorted
select percentile_cont(id+1) within group (order by v) over (partition by g) from t;
-- sorted
select percentile_cont(1/id) within group (order by v) over (partition by g) from t;
-- sorted
select percentile_cont(v/100) within group (order by v) over (partition by g) from t;
-- sorted
select percentile_cont(0.5) within group (order by v,id) over (partition by g) from t;
-- sorted
select percentile_cont(0.5) within group (order by v desc) over (partition by g) from t;
-- sorted
select percentile_cont(0.5) within group (order by v) over (partition by g order by v) from t;
-- sorted
select percentile_cont(0.5) within group (order by v) over (partition by g rows 1 preceding) from t;
-- sorted
select percentile_cont(0.5) within group (order by v) from t;
-- sorted
select std(v) over (order by id), stddev_samp(v) over (order by id), var_pop(v) over (order by id), var_samp(v) over (order by id) from t;
-- sorted
select std(v) over (order by id rows 1 preceding), stddev_samp(v) over (order by id rows 1 preceding) from t;
-- sorted
select row_number(1) over () from t;
-- sorted
select lag() over () from t;
-- sorted
select ntile() over () from t;
-- sorted
select first_value() over () from t;
-- sorted
select nth_value(v) over () from t;
-- sorted
select lag(v,1,2,3) over () from t;
-- sorted
select id, nth_value(v,null) over (order by id rows between 1 preceding and 1 following) from t;
-- sorted
select id, nth_value(v,2) over (order by id rows between 1 preceding and 1 following) x,nth_value(v,0) over (order by id rows between 1 preceding and 1 following) from t;
-- sorted
select id, first_value(v) over (order by id rows between 2 following and 3 following) x, last_value(v) over (order by id rows between 2 following and 3 following) y from t;
-- sorted
select id, first_value(v) over (order by id rows between 3 preceding and 2 preceding) x, last_value(v) over (order by id rows between 3 preceding and 2 preceding) y, count(*) over (order by id rows between 3 preceding and 2 preceding) z, sum(v) over (order by id rows between 3 preceding and 2 preceding) s from t;
-- sorted
select id, v, count(*) over (order by v range between 5 preceding and 5 following) a, count(*) over (order by v desc range between 5 preceding and 10 following) b, count(*) over (order by v range between 11 preceding and 5 preceding) c, count(*) over (order by v range between 5 following and 11 following) d from t order by id;
-- sorted
select id, v, count(*) over (order by v range between unbounded preceding and 5 preceding) a, count(*) over (order by v range between 5 following and unbounded following) b, count(*) over (order by v range between current row and 10 following) c from t order by id;
-- sorted
select id, f, sum(f) over (order by f range between 1 preceding and 1 following) a from t order by id;
-- sorted
select id, d, sum(d) over (order by d range between 1 preceding and 1 following) a from t order by id;
-- sorted
select id, u, sum(u) over (order by u range between 2 preceding and 1 preceding) a from t order by id;
-- sorted
select id, u, sum(u) over (order by u desc range between 2 preceding and 1 preceding) a from t order by id;
-- sorted
select id, v, sum(v) over (order by g,v range between unbounded preceding and current row) a,sum(v) over (order by g range between current row and unbounded following) a from t order by id;
-- sorted
select sum(v) over (order by null) a, rank() over (order by null) from t;
-- sorted
select sum(v) over (order by 1) a, rank() over (order by 1) from t;
-- sorted
select id as x, rank() over (order by x desc) from t;
-- sorted
select id+1 as x, rank() over (order by x desc) from t;
-- sorted
select id+1 as x, sum(x) over (order by id desc) from t;
-- sorted
select g, sum(v), sum(sum(v)) over (order by g), rank() over (order by sum(v) desc) from t group by g;
-- sorted
select g, sum(v) as sv, sum(sv) over (order by g) from t group by g;
-- sorted
select g, rank() over (order by v) from t group by g;
-- sorted
select g, sum(v) over (order by v) from t group by g;
-- sorted
select sum(v) over (), sum(v) from t;
-- sorted
select v, count(*), sum(count(*)) over () from t group by v having count(*) > 0 order by row_number() over (order by v desc);
-- sorted
select g, count(*), row_number() over (order by g) from t group by g with rollup;
-- sorted
select distinct row_number() over (order by g) from t;
-- sorted
select distinct rank() over (order by g) from t;
-- sorted
select id, row_number() over (order by id) from t limit 2;
-- sorted
select id, row_number() over (order by id desc) from t order by id limit 2;
-- sorted
select id, row_number() over (order by id desc) r from t order by r limit 2;
-- sorted
select id from t order by row_number() over (order by id desc) limit 2;
-- sorted
select id, 1+row_number() over (order by id desc)*2 from t;
-- sorted
select * from (select id, row_number() over (partition by g order by id desc) r from t) x where r=1;
-- sorted
with c as (select id, row_number() over (order by id) r from t) select * from c where r>2;
-- sorted
select row_number() over (order by id) from t union all select 7;
-- sorted
select row_number() over (order by id) from t union select row_number() over (order by id) from t order by 1;
-- sorted
select id from t union select 1 order by row_number() over ();
-- sorted
select id, (select count(*) over () from t t2 where t2.id<=t.id limit 1) from t;
-- sorted
select id, (select sum(t2.v) over (order by t2.id desc) from t t2 where t2.id<=t.id limit 1) from t;
-- sorted
select id, (select sum(t.v) over () from t t2 limit 1) from t;
-- sorted
select id from t where id in (select row_number() over (order by id) from t t2);
-- sorted
select id from t where exists (select row_number() over (order by id) from t t2);
-- sorted
select id, sum(v) over (order by (select t.id)) from t;
-- sorted
select (select 1+rank() over (order by id) ) from t;
create or replace definer=root@localhost view vw as select id, row_number() over (partition by g order by id desc) r, sum(v) over w s from t window w as (partition by g order by id);
-- sorted
select * from vw;
show create view vw;
update vw set id=1;
insert into vw(id) values (9);
create or replace definer=root@localhost view vw2 as select percentile_cont(0.5) within group (order by v) over (partition by g) a, median(v) over () b, ntile(2) over (order by id desc) c, sum(v) over (order by id rows between 1 preceding and unbounded following) d, sum(v) over (order by id range between current row and 2 following) e from t;
show create view vw2;
create or replace definer=root@localhost view vw3 as select id, sum(v) over (order by id rows 2 preceding) a, nth_value(v, 2) over (order by id asc range unbounded preceding) b, count(*) over () c, count(*) over w d from t window w as () order by row_number() over (order by v);
show create view vw3;
-- sorted
select percent_rank() over (order by id), cume_dist() over (order by id) from t;
-- sorted
select percent_rank() over (partition by id order by id), cume_dist() over (partition by id order by id) from t;
-- sorted
select id, percent_rank() over (order by g), cume_dist() over (order by g desc) from t;
-- sorted
select median(d) over (), median(f) over (), median(u) over (), median(s) over () from t;
-- sorted
select median(1.25) over (), median(v/3) over () , percentile_cont(0.25) within group (order by d desc) over (), percentile_cont(0.25) within group (order by f) over () from t;
-- sorted
select percentile_disc(0) within group (order by v) over (), percentile_disc(1) within group (order by v) over () , percentile_cont(0) within group (order by v) over (), percentile_cont(1) within group (order by v) over () from t;
-- sorted
select percentile_disc(0.3) within group (order by v desc) over (), percentile_disc(0.6) within group (order by v desc) over () from t;
-- sorted
select percentile_disc(g/10) within group (order by v desc) over (partition by g) from t;
-- sorted
select g, percentile_cont(0.5) within group (order by sum(v)) over () from t group by g;
-- sorted
select id, ntile(3) over (partition by g order by id) from t;
-- sorted
select id, ntile(g) over (partition by g order by id) from t;
-- sorted
select id, ntile(id) over (partition by g order by id) from t;
do row_number() over ();
-- sorted
select @a := row_number() over () from t;
-- sorted
select rank() over (order by s collate utf8mb4_bin), s from t;
-- sorted
select first_value(s) over (partition by g order by id desc) from t;
-- sorted
select avg(v) over (order by id rows between 1 preceding and 1 following), avg(d) over (order by id), avg(f) over (order by id rows 1 preceding) from t;
-- sorted
select max(v) over (order by id rows between 1 preceding and 1 following), min(s) over (order by id desc), max(dt) over (order by id rows 1 preceding) from t;
-- sorted
select lag(v) over (order by id) + lead(v) over (order by id) as q from t order by q desc;
-- sorted
select case when row_number() over (order by id) > 2 then 'x' else 'y' end c, count(*) over () from t;
-- sorted
select row_number() over (order by id) r from t group by r;
-- sorted
select count(*) from t having row_number() over () = 1;
-- sorted
select id from t having row_number() over () = 1;
-- sorted
select row_number() over (partition by sum(v)) from t;
-- sorted
select id, lag(id, g) over (order by id), lead(id, g-1) over (order by id) from t;
-- sorted
select id, lag(id, 9223372036854775807) over (order by id) from t;
-- sorted
select sum(v) over (order by id rows 99999999999999999999999 preceding) from t;
-- sorted
select sum(v) over (order by id rows 0x1 preceding) from t;
-- sorted
select sum(v) over (order by id rows true preceding) from t;
-- sorted
select sum(v) over (order by id rows 1e0 preceding) from t;
-- sorted
select sum(v) over (partition by 1 order by id rows 1 preceding) from t;
-- sorted
select sum(v) over (partition by g desc order by id rows 1 preceding) from t;
-- sorted
select std(v) over (order by id rows between 1 preceding and 1 following), var_samp(f) over (order by id rows between 1 preceding and 1 following) from t;
-- sorted
select sum(f) over (order by id rows between 1 preceding and 1 following), sum(d) over (order by id rows between 1 preceding and 1 following) from t;
-- sorted
select percentile_disc(0.5) within group (order by v) over (partition by g), lag(row_number() over ()) over (order by id) from t;
-- sorted
select id, sum(row_number() over ()) over () from t;
-- sorted
select ntile(row_number() over (order by id)) over (order by id) from t;
-- sorted
select row_number() over (partition by 1+row_number() over ()) from t;
-- sorted
select id from t order by sum(v) over (order by id), rank() over (order by v);
-- sorted
select 1 from t group by g order by row_number() over (order by sum(v));
-- sorted
select id, rank() over (order by -v) from t order by rank() over (order by v);
-- sorted
select row_number() over w, sum(v) over (w rows 1 preceding) from t window w as (partition by g order by id);
-- sorted
select sum(v) over (order by id rows 1) from t;
-- sorted
select count(v) over (order by s range between current row and unbounded following) from t;
-- sorted
select count(v) over (order by f range between 0.1 preceding and 0.2 following) from t;
prepare p from 'select sum(v) over (order by id rows ? preceding), lag(v, ?) over (order by id) from t';
prepare p from 'select lag(v, ?) over (order by id), ntile(?) over (order by id) from t where id < ?';
set @a=1, @b=2, @c=5;
-- sorted
execute p using @a,@b,@c;
-- sorted
select lag(dt) over (order by id), lead(d) over (order by id), first_value(f) over (order by id), last_value(s) over (order by id), nth_value(u,2) over (order by id), lag('x') over (order by id), lag(1) over (order by id), lag(null) over (order by id), first_value(1.5) over (), lag(tm) over (order by id) from t limit 1;
create or replace definer=root@localhost view vw as select id, row_number() over (partition by g order by id desc) r, sum(v) over w s, lag(v,2) over (w order by id) l from t window w as (partition by g);
show create view vw;
-- sorted
select * from vw;
update vw set r=1;
-- sorted
select id from t where id > (select max(row_number() over ()) from t t2);
-- sorted
select t.id, x.r from t left join (select id, row_number() over (order by v, id) r from t) x on x.id=t.id and x.r<3 order by t.id;
insert into t(id,v) select id+100, row_number() over (order by id desc) from t;
-- sorted
select id,v from t where id>100 order by id;
delete from t where id>100;
update t join (select id, row_number() over (order by id desc) r from t) x on x.id=t.id set t.g=t.g+0*x.r;
-- sorted
select sum(v) over (order by id rows between 2 preceding and 3 preceding) from t;
-- sorted
select min(v) over (order by id rows between 3 following and 2 following) x, count(*) over (order by id rows between 3 following and 2 following) y, first_value(v) over (order by id rows between 3 following and 2 following) z from t;
-- sorted
select sum(distinct v) over (), max(distinct v) over () from t;
-- sorted
select max(v) over (partition by s collate latin1_bin) from t;
-- sorted
select percent_rank() over (order by id), 1 as one from t having one=1;
-- sorted
select row_number() over (order by id) from t where 0;
-- sorted
select count(*) over (), count(*) from t where 0;
-- sorted
select sum(id) over () from t where 0;
-- sorted
select g, count(*) over () from t group by g having count(*) > 5;
-- sorted
select distinct g, count(*) over (partition by g) from t;
-- sorted
select distinct g, row_number() over () from t order by g limit 1;
-- sorted
select row_number() over (order by id) as rn, id from t order by rn desc;
-- sorted
select -row_number() over (order by id) as rn, id from t order by rn;
-- sorted
select group_concat(id order by row_number() over ()) from t;
-- sorted
select count(*) filter (where 1) over () from t;
-- sorted
select exists (select rank() over (order by id) from t);
-- sorted
select id, dense_rank() over (order by g) dr from t order by g, id;
