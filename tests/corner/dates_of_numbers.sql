-- A number that is a date has no time: its fraction is left out, with a note.
select cast(101112.5e0 as datetime), cast(101112.5 as datetime(2)), cast(20101112.25 as date);
select cast(20101112101112.5 as datetime(1)), cast(20101112.0 as datetime(1)), cast(0.5 as datetime);
select date(101112.5), year(20101112.75), date_add(101112.5, interval 1 day), dayofmonth(101112.5e0);
create table numbers_as_dates (a datetime(2), b date, c timestamp(2));
insert into numbers_as_dates values (101112.5, 101112.5, 101112.5), (101112, 101112, 101112), (20101112101112.5, 20101112101112.5, 20101112101112.5);
select * from numbers_as_dates;
drop table numbers_as_dates;
