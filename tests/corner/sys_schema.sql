create table t (a int auto_increment primary key, b int, c varchar(20), key(b), key bb(b,a), unique u(b), key p(c(3)));
insert into t values (),(),();
create table tb (a tinyint unsigned auto_increment primary key);
insert into tb values (100);
create view v as select 1;
create sequence s;
create temporary table tt (a int);
select * from sys.schema_auto_increment_columns where table_schema=database();
select object_type, count from sys.schema_object_overview where db=database();
select * from sys.schema_redundant_indexes where table_schema=database() order by redundant_index_name, dominant_index_name;
select * from sys.`x$schema_flattened_keys` where table_schema=database() order by table_name,index_name;
select variable, value, set_by from sys.sys_config order by 1;
select * from sys.memory_global_total;
select count(*) from sys.host_summary;
select count(*) from sys.innodb_lock_waits;
describe sys.host_summary;
describe sys.schema_redundant_indexes;
describe sys.session;
select table_name, table_type from information_schema.tables where table_schema='sys' order by 1;
select count(*) from information_schema.columns where table_schema='sys';
select sys.format_bytes(null), sys.format_bytes(1), sys.format_bytes(1023), sys.format_bytes(1024), sys.format_bytes(123456789), sys.format_bytes(1e15), sys.format_bytes(9e15);
select sys.format_time(null), sys.format_time(1), sys.format_time(1000), sys.format_time(123456789), sys.format_time(1e15), sys.format_time(604800000000000000);
select sys.format_statement(repeat('abc ',40)), sys.format_statement('select\n1'), sys.format_statement(null);
select sys.format_path('/var/x'), sys.format_path(concat(@@datadir,'b/c.ibd')), sys.format_path(null);
select sys.quote_identifier('a`b'), sys.quote_identifier(null), sys.quote_identifier('');
select sys.list_add('a,b','c'), sys.list_add('','c'), sys.list_add(null,'c'), sys.list_add(' a,b, ','c');
-- nowarn
select sys.list_add('a', null);
select sys.list_drop('1, 2, 3, 4, 5', '3'), sys.list_drop('1, 2, 3', '1'), sys.list_drop('a,b', 'b'), sys.list_drop('a, b,c ', 'b'), sys.list_drop('', 'b'), sys.list_drop(null, 'b');
-- nowarn
select sys.list_drop('a', null);
select sys.extract_schema_from_file_name('/var/lib/mysql/db/t.ibd'), sys.extract_table_from_file_name('/var/lib/mysql/db/t@0024x.ibd'), sys.extract_schema_from_file_name('t.ibd'), sys.extract_table_from_file_name(null);
set @x = sys.sys_get_config('diagnostics.include_raw', 'a'), @y = sys.sys_get_config('nope', 'default'), @z = sys.sys_get_config('nope', null);
select @x, @y, @z;
select sys.version_major() = substring_index(version(), '.', 1), sys.version_minor() >= 0, sys.version_patch() >= 0;
select sys.ps_thread_account(1), sys.ps_thread_id(null), sys.ps_is_thread_instrumented(1), sys.ps_is_thread_instrumented(null), sys.ps_is_consumer_enabled('a');
call sys.table_exists(database(), 't', @a);
select @a;
call sys.table_exists(database(), 'v', @a);
select @a;
call sys.table_exists(database(), 's', @a);
select @a;
call sys.table_exists(database(), 'tt', @a);
select @a;
call sys.table_exists(database(), 'nope', @a);
select @a;
call sys.table_exists('information_schema', 'tables', @a);
select @a;
call sys.execute_prepared_stmt('select 1 as one');
-- nowarn
call sys.execute_prepared_stmt(null);
-- nowarn
call sys.create_synonym_db('nope', 'nope2');
call sys.ps_truncate_all_tables(false);
call sys.ps_setup_show_enabled_consumers();
select routine_name, routine_type, data_type, dtd_identifier, is_deterministic, sql_data_access, security_type from information_schema.routines where routine_schema='sys' and routine_name in ('format_bytes','list_add','ps_truncate_all_tables','version_major','ps_thread_id','table_exists') order by 1;
select specific_name,ordinal_position,parameter_mode,parameter_name,dtd_identifier from information_schema.parameters where specific_schema='sys' and specific_name in ('format_bytes','list_add','ps_truncate_all_tables','version_major','ps_thread_id','table_exists','sys_get_config') order by 1,2;
select sys.nope(1);
select count(*)>600 from information_schema.keywords;
select count(*)>250 from information_schema.sql_functions;
select * from information_schema.keywords where word in ('SELECT','ALTER','FOO') order by 1;
select * from information_schema.sql_functions where function in ('ABS','COUNT','CONCAT','FOO') order by 1;
set @va=1, @vb='x', @vc=1.5, @vd=null, @ve=1e3;
select * from information_schema.user_variables where variable_name in ('va','vb','vc','vd','ve') order by 1;
select count(*) from information_schema.thread_pool_groups;
describe information_schema.thread_pool_stats;
truncate table performance_schema.accounts;
truncate table performance_schema.nope;
-- nowarn
insert into performance_schema.accounts select * from performance_schema.accounts;
-- nowarn
delete from performance_schema.threads;
-- nowarn
update performance_schema.accounts set user='x';
alter table performance_schema.accounts add x int;
create index i on performance_schema.accounts (user);
drop table performance_schema.accounts2;
