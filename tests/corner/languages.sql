-- Names of months and days in languages, WEEK()'s mode, the optimizer's switches, EXTRACT and ADDTIME of long times.
set lc_time_names='de_DE';
select @@lc_time_names, monthname('2020-03-01'), dayname('2020-03-01'), date_format('2020-03-05','%a %W %b %M %c');
create table t as select dayname('2020-03-05') a, monthname('2020-09-01') b;
select * from t;
select * from (select dayname(date'2020-03-05') d union select 'x') q;
drop table t;
set lc_time_names=5;
select @@lc_time_names, date_format('2020-08-01','%a %W %b %M');
set lc_time_names='xx';
set lc_time_names=200;
set lc_time_names=null;
set lc_time_names='JA_jp';
select @@lc_time_names, date_format('2020-08-01','%a %W %b %M');
-- nowarn
select date_format('2001-01-01','%Y',@nope), date_format('2001-01-01','%M','de_DE'), date_format(null,'%M','de_DE'), date_format('2001-01-01',null), date_format('2001-01-01','%M','nope');
set lc_time_names=default;
set default_week_format=3;
select week('2020-01-01'), week('2020-01-01', 0);
set default_week_format=default;
select week('2020-01-01');
-- nowarn
set optimizer_switch='mrr=on,index_merge=off';
select @@optimizer_switch;
-- nowarn
set optimizer_switch='semijoin=off,default';
select @@optimizer_switch;
set optimizer_switch='nope=on';
set optimizer_switch='mrr';
set optimizer_switch='mrr=maybe';
set optimizer_switch='mrr=on,mrr=off';
set optimizer_switch='mrr=on, semijoin=on';
-- nowarn
set optimizer_switch=ifnull(@nope,'mrr=on');
select @@optimizer_switch;
set optimizer_switch=1.5;
set optimizer_switch=null;
set optimizer_switch=18446744073709551615;
-- nowarn
set optimizer_switch=default;
-- nowarn
set optimizer_trace=1;
select @@optimizer_trace;
-- nowarn
set optimizer_trace=default;
select extract(day_second from "225 10:11:12"), extract(hour_minute from "10:11:12"), extract(hour_second from "10:11:12"), extract(minute from "10:11:12"), extract(hour from '10000:02:03'), extract(hour from '26:00:00'), extract(hour from '1 02:00:00'), extract(day from '26:00:00');
-- nowarn
select extract(hour from '2020-01-01 10:11:12'), extract(hour from '10:11:12.5'), extract(microsecond from '10:11:12.5'), extract(second from 101112), extract(hour from 20200101101112), extract(day_hour from '2020-01-05 10:11:12'), extract(hour from 'abc'), extract(minute from '12'), extract(second from '1:2');
select timediff('2014-01-01 00:00:00', 20140101010000.000), timediff(20140101000000.000, 20140102010000.000), timediff(20140101000000.000,'2014-01-01 01:00:00'), timediff(20140101000000,20140101010000), timediff(101010, 101011), timediff('10:10:10', 101011);
select addtime(timestamp'2001-01-01 00:00:00', 8395959), addtime(timestamp'2001-01-01 00:00:00', '839:59:59'), addtime(20010101, 1e0), addtime('2001-01-01 00:00:00', '900:00:00.5');
select addtime(time'10:20:30', timestamp'2001-01-01 00:00:00'), addtime(date'2001-01-01', '2001-01-01 10:20:30'), subtime('10:00:00', timestamp'2001-01-01 00:00:00');
