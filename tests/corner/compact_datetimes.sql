-- Dates of digits alone, and what may stand behind them.
select cast('20020109' as datetime), cast('20020109013040' as datetime), cast('20020109013040.5' as datetime(2)), cast('20020109T013040' as datetime), cast('020109T013040' as datetime), cast('20020109T013040.5' as datetime(1)), cast('20020109 ' as datetime), cast('020109 ' as datetime);
select cast('20020109 01:30:40' as datetime);
select cast('20020109 013040' as datetime), cast('020109 01:30:40' as datetime), cast('20020109T01:30:40' as datetime), cast('20020109 1' as datetime);
-- nowarn
select date('20020109 01:30:40'), '20020109 01:30:40' + interval 1 day, time('20020109 01:30:40'), year('20020109 01:30:40');
create table dt (c datetime, d date, ts timestamp null);
insert into dt values ('20020109 01:30:40', null, null);
insert into dt values ('20020109', '20020109', '20020109'), ('2002-01-09 01:30:40', '2002-01-09', '2002-01-09 01:30:40');
-- nowarn
select * from dt where c = '20020109 01:30:40';
-- nowarn
select * from dt where c between '20020109 01:30:40' and '20020109 01:30:50';
drop table dt;
SELECT ADDTIME(1, -1e308), SUBTIME(1, -1e308), ADDTIME('10:00:00', -9223372036854775808);
