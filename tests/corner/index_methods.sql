-- USING in the definition of an index; indexes over columns of no length.
create table k (a int, b int, key (a) using btree, key kb using hash (b), primary key (a) using hash, unique u (b) using btree comment 'c');
show create table k;
-- nowarn
alter table k add index x using btree (b);
-- nowarn
create index y using btree on k (a);
-- nowarn
create index z on k (a) using hash;
show create table k;
create table k2 like k;
show create table k2;
alter table k rename index x to xx, drop index y;
show create table k;
drop table k, k2;
create table t (b char(0) not null, index(b));
create table t (b varbinary(0) not null, unique(b));
create table t (b char(0), index(b));
drop table t;
