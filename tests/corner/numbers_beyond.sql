-- Numbers beyond their functions' types, sums beyond all doubles, seconds as texts, bytes that are no numbers.
select period_add(999912,1), period_add(1000001,1), period_add(99999912,1), period_diff(1000001,200001), period_add(999999,1), period_add(4294967297,1), period_add(999913,1), period_add(1,1), period_add(7001,1), period_add(69,1);
select period_add(0, 1), period_add(-200001, 1), period_diff(-1, 200001), period_add(200001,-99999999), period_add(18446744073709551615, 1);
-- wording
select period_diff(18446744073709551616, 200001);
-- wording
select period_add(200001, 18446744073709551616);
-- nowarn
select substring_index('a.b.c', '.', 18446744073709551616), substring_index('a.b.c', '.', -18446744073709551616);
select substring_index('a.b.c', '.', 18446744073709551615), substring_index('a.b.c', '.', -9223372036854775808);
select substring_index('a.b.c', '.', 4294967297), substring_index('a.b.c','.',-4294967297), substring_index('a.b.c', '.', 4294967296);
select from_unixtime('1.5'), from_unixtime('1'), from_unixtime(1.5), from_unixtime(1), from_unixtime('1.123456789'), from_unixtime(1e0), from_unixtime(1.5e0), from_unixtime(1.0);
select sec_to_time('1'), sec_to_time('1.5'), sec_to_time(1e0), sec_to_time(1.50), maketime(1,1,'1'), maketime(1,1,'1.5'), maketime(1,1,1.5);
-- wording
select x'ff' + 0;
-- wording
select cast(x'31ff' as signed);
-- wording
select cast(x'31ff41' as decimal);
-- wording
select concat(x'ff41') + 1;
-- wording
select cast('é' as binary) + 0;
-- wording
select 'a\0b' + 0;
-- wording
select 'é' + 0;
-- wording
select 18446744073709551616 & 1;
-- nowarn
select 1.5 & 3, 2.5e0 & 7, 3.5e0 | 0, '2.5' & 7, 1e30 & 1, -1e30 & 1;
create table t (a double, d date, t time, dt datetime(3));
insert into t values (1e308, '2020-01-01', '10:10:10', '2020-01-01 10:10:10.123'), (1e308, null, null, null);
select sum(a), avg(a), concat(sum(a)), sum(a) > 1, sum(a) is null from t;
-- wording
select sum(a) + 1e308 from t;
-- wording
select max(a) * 10 from t;
select std(a), variance(a) from (select 1e308 a union select -1e308) q;
select interval(t, 1, 2), interval(d, 1, 20200102), interval(dt, 1), interval(1, d, dt), interval(20200102, d, dt) from t;
select interval(date '2020-01-01', date '2019-01-01'), interval(time '10:10:10', time '09:00:00', time '11:00:00');
drop table t;
create table t (a int);
insert into t values (1),(5);
alter table t add column b int check (b > 0);
alter table t add column c int default -1 check (c > 0);
alter table t modify a int check (a > 3);
insert into t values (2, 1, 1);
insert into t values (4, 1, -1);
select * from t;
alter table t add column e int check (e > 0), add constraint cc check (a < 100);
alter table t add constraint cc check (a > 3);
show create table t;
drop table t;
