"""Statements and variables of replication, side by side with MariaDB 10.11: same results, same errors, same numbers of
warnings. And what only Narwal promises: settings survive kill -9, positions are part of the log.

Documented differences (docs/replica.md): no relay log, so its options are refused; a port is one; a failed CHANGE MASTER changes nothing.
"""

from __future__ import annotations

import time

import pytest

from conftest import STAND_IN
from testbed.servers import ServerDied
from support import Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="compares with MariaDB already")

MARIADB = ["--log-bin=narwal-bin", "--server-id=7", "--gtid-strict-mode=ON", "--log-slave-updates=ON"]
NARWAL = ["--server-id=7"]

# Columns that say the same on both while nothing runs.
SAME = (
    "Master_Host Master_User Master_Port Connect_Retry Master_Log_File Read_Master_Log_Pos Slave_IO_Running Slave_SQL_Running "
    "Replicate_Do_DB Replicate_Ignore_DB Replicate_Do_Table Replicate_Ignore_Table Replicate_Wild_Do_Table "
    "Replicate_Wild_Ignore_Table Last_Errno Last_Error Skip_Counter Until_Condition Until_Log_File Until_Log_Pos "
    "Master_SSL_Allowed Master_SSL_CA_File Master_SSL_Cert Master_SSL_Key Seconds_Behind_Master Master_SSL_Verify_Server_Cert "
    "Replicate_Ignore_Server_Ids Using_Gtid Replicate_Do_Domain_Ids Replicate_Ignore_Domain_Ids Parallel_Mode SQL_Delay "
    "SQL_Remaining_Delay Slave_heartbeat_period Connection_name"
).split()


@pytest.fixture(scope="module")
def pair(lab):
    servers = [lab.narwal(NARWAL), lab.mariadb(MARIADB)]
    yield servers
    for server in servers:
        lab.remove(server)


@pytest.fixture
def two(pair):
    """Clients of both, without connections to sources, without filters and with empty logs."""
    clients = [Client(server) for server in pair]
    for client in clients:
        client.ok("STOP ALL SLAVES")
        for name in [row[0] for row in client.rows("SHOW ALL SLAVES STATUS")]:
            client.ok(f"RESET SLAVE '{text(name)}' ALL")
        client.ok("RESET MASTER")
        client.ok("SET GLOBAL gtid_slave_pos = ''")
    yield clients
    for client in clients:
        client.close()


def text(value) -> str:
    return value.decode() if isinstance(value, bytes) else value


def status(client: Client) -> list[dict]:
    answer = client.ok("SHOW ALL SLAVES STATUS")
    return [dict(zip(answer.columns, map(text, row))) for row in answer.rows]


def each(clients, sql: str):
    """The statement on both: same columns, rows, error and number of warnings."""
    mine, theirs = (client.run(sql) for client in clients)
    said = f"{sql}\n  Narwal:  {mine}\n  MariaDB: {theirs}"
    assert (mine.error, mine.sqlstate) == (theirs.error, theirs.sqlstate), said
    if not mine.error:
        assert mine.columns == theirs.columns and mine.rows == theirs.rows, said
        assert mine.warnings == theirs.warnings, said
        codes = [[row[:2] for row in client.rows("SHOW WARNINGS")] for client in clients]
        assert mine.warnings == 0 or codes[0] == codes[1], f"{said}\n  {codes}"
    return mine


def each_status(clients, sql: str):
    """The same, and what SHOW ALL SLAVES STATUS says behind it."""
    answer = each(clients, sql)
    mine, theirs = ([{k: s[k] for k in SAME} for s in status(client)] for client in clients)
    assert mine == theirs, sql
    return answer


def test_columns_are_mariadbs(two):
    for client in two:
        client.ok("CHANGE MASTER TO master_host='127.0.0.1', master_port=1")
    mine, theirs = (client.ok("SHOW SLAVE STATUS").columns for client in two)
    assert mine == theirs
    mine, theirs = (client.ok("SHOW ALL SLAVES STATUS").columns for client in two)
    assert mine[: len(theirs)] == theirs
    assert all(name.startswith("Narwal_") for name in mine[len(theirs) :])
    mine, theirs = (client.ok("SHOW REPLICA STATUS").columns for client in two)
    assert mine == theirs


def test_the_status_as_a_table(two):
    client = two[0]
    table = "information_schema.NARWAL_REPLICA_STATUS"
    assert client.rows(f"SELECT * FROM {table}") == []
    client.ok("CHANGE MASTER 'one' TO master_host='127.0.0.1', master_port=1")
    client.ok("CHANGE MASTER 'two' TO master_host='127.0.0.1', master_port=2")
    shown, read = client.ok("SHOW ALL SLAVES STATUS"), client.ok(f"SELECT * FROM {table}")
    assert read.columns == shown.columns and len(read.rows) == 2
    # SHOW has three decimals of it.
    at = read.columns.index("Slave_heartbeat_period")
    for one, other in zip(read.rows, shown.rows):
        assert float(one[at]) == float(other[at]) and one[:at] + one[at + 1 :] == other[:at] + other[at + 1 :]
    assert client.ints(f"SELECT master_port FROM {table} WHERE connection_name = 'two' AND slave_io_running = 'No'") == [2]
    client.ok("CREATE USER nobody@'%'")
    with Client(client.server, user="nobody") as c:
        assert c.rows(f"SELECT * FROM {table}") == []
    client.ok("DROP USER nobody@'%'")


CHANGES = """
CHANGE MASTER TO master_port=3
START SLAVE
STOP SLAVE
CHANGE MASTER TO master_host='127.0.0.1', master_port=3
CHANGE MASTER TO master_log_file='a', master_use_gtid=slave_pos
CHANGE MASTER TO master_log_file='a', master_log_pos=77
CHANGE MASTER TO master_log_file='b'
CHANGE MASTER TO master_log_pos=1
CHANGE MASTER TO master_use_gtid=slave_pos
CHANGE MASTER TO master_log_pos=5, master_use_gtid=current_pos
CHANGE MASTER TO master_user='x'
CHANGE MASTER TO master_host='127.0.0.1'
CHANGE MASTER TO master_host='localhost'
CHANGE MASTER TO master_log_file='zz', master_log_pos=99
CHANGE MASTER TO master_port=4
CHANGE MASTER TO master_host=''
CHANGE MASTER TO master_host=NULL
CHANGE MASTER TO master_host=x
CHANGE MASTER TO master_port='3'
CHANGE MASTER 'c9' TO master_host='127.0.0.1', master_port=99
CHANGE MASTER 'c9' TO master_connect_retry=-1
CHANGE MASTER 'c9' TO master_connect_retry=0
CHANGE MASTER 'c9' TO master_connect_retry=7
CHANGE MASTER TO master_heartbeat_period=0
CHANGE MASTER TO master_heartbeat_period=1.5
CHANGE MASTER TO master_heartbeat_period=-1
CHANGE MASTER TO master_heartbeat_period=100
CHANGE MASTER TO master_heartbeat_period=4294968
CHANGE MASTER TO master_heartbeat_period=0.0001
CHANGE MASTER TO master_heartbeat_period=DEFAULT
CHANGE MASTER TO master_delay=5
CHANGE MASTER TO master_delay=2147483648
CHANGE MASTER TO master_use_gtid=1
CHANGE MASTER TO master_use_gtid=foo
CHANGE MASTER TO master_use_gtid=replica_pos
CHANGE MASTER TO ignore_server_ids=(5)
CHANGE MASTER TO ignore_server_ids=(7,6,7)
CHANGE MASTER TO ignore_server_ids=()
CHANGE MASTER TO do_domain_ids=(1,2), ignore_domain_ids=(3)
CHANGE MASTER TO do_domain_ids=(1,2), ignore_domain_ids=()
CHANGE MASTER TO ignore_domain_ids=(), do_domain_ids=()
CHANGE MASTER 'c9' TO master_ssl=1, master_ssl_ca='/ca', master_ssl_cert='c', master_ssl_key='k', master_ssl_verify_server_cert=1
CHANGE MASTER 'c9' TO master_ssl=0
CHANGE MASTER 'c9' TO master_ssl=2
CHANGE MASTER 'c9' TO master_ssl='x'
CHANGE MASTER TO master_retry_count=5
CHANGE MASTER TO master_auto_position=1
CHANGE MASTER TO master_bind='x'
CHANGE MASTER TO
CHANGE MASTER 'c3' TO
CHANGE MASTER c3 TO master_port=9
CHANGE MASTER 'c1' TO master_host='localhost', master_port=4
CHANGE MASTER 'c1' TO master_host='127.0.0.1', master_port=9, master_user='u', master_password='p', master_use_gtid=current_pos
CHANGE MASTER 'C1' TO master_delay=7
CHANGE MASTER TO master_host='127.0.0.1', master_port=11 FOR CHANNEL 'q'
CHANGE MASTER 'q' TO master_port=3 FOR CHANNEL 'q'
RESET SLAVE 'q' ALL FOR CHANNEL 'q'
RESET SLAVE FOR CHANNEL 'q' ALL
RESET SLAVE ALL FOR CHANNEL 'q'
RESET SLAVE 'nope'
RESET SLAVE 'nope' ALL
START SLAVE 'nope'
STOP SLAVE 'nope'
RESET SLAVE 'c9'
RESET SLAVE 'c9' ALL
RESET REPLICA
RESET SLAVE 'c1'
RESET SLAVE 'c1' ALL
RESET REPLICA ALL
RESET SLAVE
RESET SLAVE ALL
START SLAVE
STOP ALL SLAVES
START ALL SLAVES
SHOW SLAVE STATUS
SHOW SLAVE 'x' STATUS
SHOW REPLICA 'x' STATUS
SHOW SLAVE STATUS FOR CHANNEL 'x'
SHOW SLAVE STATUS FOR CHANNEL ''
SHOW ALL SLAVES STATUS FOR CHANNEL ''
START SLAVE user='x'
START SLAVE UNTIL master_log_file='x'
START SLAVE UNTIL master_log_pos=5
START SLAVE UNTIL relay_log_file='x', master_log_pos=9
STOP SLAVE relay_thread
STOP SLAVE io_thread, sql_thread FOR CHANNEL ''
CHANGE MASTER TO master_host='127.0.0.1', master_port=4, master_use_gtid=no
START SLAVE UNTIL master_gtid_pos='0-6-6'
CHANGE MASTER TO master_use_gtid=slave_pos, master_demote_to_slave=0
START SLAVE UNTIL master_gtid_pos='bad'
""".strip().splitlines()


def test_statements_as_mariadb(two):
    for sql in CHANGES:
        each_status(two, sql)


def test_lengths_as_mariadb(two):
    each_status(two, "CHANGE MASTER TO master_host='127.0.0.1', master_port=3")
    for option, most in (("host", 255), ("user", 128), ("password", 96)):
        each_status(two, f"CHANGE MASTER TO master_{option}='{'x' * (most + 1)}'")
        each_status(two, f"CHANGE MASTER TO master_{option}='{'x' * most}'")


def test_what_narwal_refuses(two):
    narwal, _ = two
    narwal.ok("CHANGE MASTER TO master_host='127.0.0.1', master_port=3")
    before = status(narwal)
    for sql, error in (
        ("CHANGE MASTER TO relay_log_file='x', relay_log_pos=5", 1235),
        ("CHANGE MASTER TO relay_log_pos=5", 1235),
        ("CHANGE MASTER TO master_ssl_crl='x'", 1235),
        ("CHANGE MASTER TO master_ssl_capath='x'", 1235),
        ("CHANGE MASTER TO master_ssl_cipher='x'", 1235),
        ("CHANGE MASTER TO master_port=70000", 1210),
        # What fails changes nothing.
        ("CHANGE MASTER TO master_user='u', master_use_gtid=no, master_demote_to_slave=1", 4191),
        ("CHANGE MASTER TO master_user='u', do_domain_ids=(1), ignore_domain_ids=(2)", 1201),
        ("START SLAVE UNTIL relay_log_file='x', relay_log_pos=9", 1235),
        # MySQL's GTIDs, which are uuid:number.
        ("START SLAVE UNTIL sql_before_gtids='0-1-1'", 1772),
        ("SET GLOBAL gtid_ignore_duplicates = 1", 1235),
        ("SET GLOBAL replicate_rewrite_db = 'a->b'", 1235),
        ("SET GLOBAL replicate_events_marked_for_skip = 'FILTER_ON_SLAVE'", 1235),
    ):
        narwal.fails(sql, error)
    assert status(narwal) == before
    for name, value in (("relay_log_purge", "0"), ("sync_relay_log", "1"), ("slave_domain_parallel_threads", "1")):
        assert narwal.ok(f"SET GLOBAL {name} = {value}").warnings == 1, name
        narwal.ok(f"SET GLOBAL {name} = DEFAULT")


VARIABLES = """
SET GLOBAL gtid_slave_pos = '4-1-1'
SELECT @@gtid_slave_pos, @@gtid_current_pos, @@gtid_binlog_pos
SET GLOBAL gtid_slave_pos = '0-1-1,0-2-2'
SET GLOBAL gtid_slave_pos = '4-1-1,1-2-2'
SELECT @@gtid_slave_pos, @@gtid_current_pos, @@gtid_binlog_pos
SET GLOBAL gtid_slave_pos = 'x'
SET GLOBAL gtid_slave_pos = ''
SET GLOBAL gtid_slave_pos = DEFAULT
SET GLOBAL gtid_slave_pos = 5
SET GLOBAL gtid_slave_pos = NULL
SET gtid_slave_pos = ''
CREATE DATABASE IF NOT EXISTS dd
SET GLOBAL gtid_slave_pos = '0-1-0'
SET GLOBAL gtid_slave_pos = '1-1-1'
SET GLOBAL gtid_slave_pos = ''
SET GLOBAL gtid_slave_pos = '0-7-9,2-2-2'
SELECT @@gtid_slave_pos, @@gtid_current_pos, @@gtid_binlog_pos
SET GLOBAL gtid_strict_mode = 0
SET GLOBAL gtid_slave_pos = '0-1-0'
SELECT @@gtid_slave_pos, @@gtid_current_pos
SET GLOBAL gtid_slave_pos = '1-1-1'
SELECT @@gtid_slave_pos, @@gtid_current_pos
BEGIN
SET GLOBAL gtid_slave_pos = ''
ROLLBACK
SET GLOBAL gtid_slave_pos = '0-5-100'
SET GLOBAL gtid_strict_mode = 1
SELECT MASTER_GTID_WAIT('0-5-100'), MASTER_GTID_WAIT('0-5-99', 0), MASTER_GTID_WAIT('0-1-101', 0), MASTER_GTID_WAIT('0-9-50,1-1-1', 0)
SELECT MASTER_GTID_WAIT(NULL), MASTER_GTID_WAIT(NULL, 0), MASTER_GTID_WAIT('5-5-5', 0), MASTER_GTID_WAIT('', 0)
SELECT MASTER_POS_WAIT('a')
SELECT MASTER_POS_WAIT('a', 4, 1)
SELECT MASTER_POS_WAIT('a', 4, 1, 'zz')
SELECT MASTER_POS_WAIT(NULL, 4), MASTER_POS_WAIT('a', NULL)
SET GLOBAL slave_type_conversions = 'ALL_NON_LOSSY,ALL_LOSSY'
SELECT @@slave_type_conversions
SET GLOBAL slave_type_conversions = 'x'
SET GLOBAL slave_type_conversions = 4
SET GLOBAL slave_type_conversions = 'all_lossy,'
SELECT @@slave_type_conversions
SET GLOBAL slave_type_conversions = DEFAULT
SELECT @@slave_type_conversions
SET GLOBAL slave_parallel_mode = 'x'
SET GLOBAL slave_parallel_mode = 'conservative'
SELECT @@slave_parallel_mode
SET GLOBAL slave_parallel_mode = DEFAULT
SET GLOBAL slave_parallel_threads = 3
SELECT @@slave_parallel_threads, @@slave_parallel_workers
SET GLOBAL slave_parallel_threads = 99999
SELECT @@slave_parallel_threads
SET GLOBAL slave_parallel_threads = DEFAULT
SET GLOBAL slave_exec_mode = 'IDEMPOTENT'
SELECT @@slave_exec_mode
SET GLOBAL slave_exec_mode = DEFAULT
SET GLOBAL slave_net_timeout = 0
SELECT @@slave_net_timeout
SET GLOBAL slave_net_timeout = DEFAULT
SET GLOBAL slave_transaction_retries = 3
SELECT @@slave_transaction_retries
SET GLOBAL slave_transaction_retries = DEFAULT
SET GLOBAL slave_skip_errors = '1062'
SET GLOBAL log_slave_updates = 1
SET slave_exec_mode = 'STRICT'
SET GLOBAL sql_slave_skip_counter = 0
SET sql_slave_skip_counter = 0
SELECT @@sql_slave_skip_counter
SET default_master_connection = 'nope'
SELECT @@default_master_connection
START SLAVE
STOP SLAVE
SHOW SLAVE STATUS
RESET SLAVE
SET default_master_connection = DEFAULT
SET default_master_connection = NULL
SET GLOBAL default_master_connection = 'x'
SELECT @@GLOBAL.default_master_connection
""".strip().splitlines()


def test_variables_as_mariadb(two):
    try:
        for sql in VARIABLES:
            each(two, sql)
    finally:
        for client in two:
            client.ok("DROP DATABASE IF EXISTS dd")
            client.ok("SET GLOBAL gtid_strict_mode = 1")


FILTERS = """
SET GLOBAL replicate_do_db = 'a,b, c'
SELECT @@replicate_do_db
SET GLOBAL replicate_do_db = 'a,,b'
SELECT @@replicate_do_db
SET GLOBAL replicate_do_table = 'a'
SET GLOBAL replicate_wild_do_table = 'a'
SET GLOBAL replicate_wild_do_table = 'a%.b_,c%.%'
SELECT @@replicate_wild_do_table
SET GLOBAL replicate_ignore_table = 'a.b'
SET GLOBAL replicate_ignore_db = 5
SET replicate_ignore_db = 'a'
SET GLOBAL replicate_ignore_db = NULL
SET GLOBAL replicate_ignore_db = DEFAULT
SET GLOBAL k2.replicate_ignore_db = 'a'
SET GLOBAL nope.slave_net_timeout = 5
CHANGE MASTER 'k2' TO master_host = 'abc'
SET GLOBAL k2.replicate_ignore_db = 'a'
SELECT @@k2.replicate_ignore_db
SELECT @@replicate_ignore_db
RESET SLAVE 'k2' ALL
CHANGE MASTER 'k2' TO master_host = 'abc'
RESET SLAVE 'k2' ALL
SET GLOBAL replicate_do_db = ''
SET GLOBAL replicate_wild_do_table = ''
SET GLOBAL replicate_ignore_table = ''
SELECT @@replicate_do_db
""".strip().splitlines()


def test_filters_as_mariadb(two):
    for sql in FILTERS:
        each_status(two, sql)


@pytest.fixture
def running(two):
    """Both with a connection to a server that is not there: its threads run, and reach nothing."""
    for client in two:
        client.ok("CHANGE MASTER TO master_host='127.0.0.1', master_port=1, master_user='u', master_connect_retry=60")
        client.ok("START SLAVE")
        end = time.monotonic() + 20
        while status(client)[0]["Last_IO_Errno"] not in (2003, "2003") and time.monotonic() < end:
            time.sleep(0.05)
    yield two
    for client in two:
        client.ok("STOP SLAVE")


def test_what_a_running_replica_refuses(running):
    for sql in (
        "START SLAVE",
        "START SLAVE sql_thread",
        "START SLAVE io_thread UNTIL master_gtid_pos='0-6-9'",
        "START SLAVE sql_thread UNTIL master_gtid_pos='0-6-9'",
        "CHANGE MASTER TO master_delay=0",
        "RESET SLAVE",
        "RESET SLAVE ALL",
        "SET GLOBAL gtid_slave_pos='0-1-1'",
        "SET GLOBAL sql_slave_skip_counter=1",
        "SET GLOBAL replicate_do_db='a'",
        "SET GLOBAL slave_parallel_threads=2",
        "SET GLOBAL slave_parallel_mode='none'",
        "SET GLOBAL slave_domain_parallel_threads=1",
        "SET GLOBAL slave_exec_mode='STRICT'",
        "SET GLOBAL slave_net_timeout=60",
        "SET GLOBAL gtid_strict_mode=1",
        "SELECT MASTER_POS_WAIT('bin.000009', 4, 1)",
        "SHOW STATUS LIKE 'Slave_running'",
        "SHOW STATUS LIKE 'Slaves_running'",
    ):
        each(running, sql)
    for client in running:
        s = status(client)[0]
        assert (s["Slave_IO_Running"], s["Slave_SQL_Running"]) == ("Connecting", "Yes"), client
        assert s["Seconds_Behind_Master"] is None and "127.0.0.1:1" in s["Last_IO_Error"]
        assert [r[5] for r in client.rows("SHOW PROCESSLIST") if text(r[1]) == "system user"], client
    for sql in ("BEGIN", "STOP SLAVE io_thread"):
        each(running, sql)
    for client in running:
        client.ok("CREATE DATABASE IF NOT EXISTS dd")
        client.ok("CREATE TABLE dd.t (a INT PRIMARY KEY)")
        client.ok("BEGIN")
        client.ok("INSERT INTO dd.t VALUES (1)")
    for sql in ("STOP SLAVE", "STOP ALL SLAVES", "ROLLBACK", "LOCK TABLES dd.t WRITE", "STOP SLAVE", "UNLOCK TABLES"):
        each(running, sql)
    for sql in ("FLUSH TABLES WITH READ LOCK", "STOP SLAVE", "UNLOCK TABLES", "DROP DATABASE dd", "STOP SLAVE sql_thread", "STOP SLAVE"):
        each(running, sql)
    each_status(running, "RESET SLAVE")


def test_privileges_as_mariadb(two):
    users = {"plain": "USAGE", "admin": "REPLICATION SLAVE ADMIN", "monitor": "SLAVE MONITOR", "reload": "RELOAD", "super": "SUPER"}
    for client in two:
        for user, grant in users.items():
            client.ok(f"CREATE OR REPLACE USER p_{user}@'127.0.0.1'")
            client.ok(f"GRANT {grant} ON *.* TO p_{user}@'127.0.0.1'")
        client.ok("CHANGE MASTER 'kk' TO master_host='q', master_port=1")
    try:
        for user in users:
            pair = [Client(client.server, user=f"p_{user}") for client in two]
            for sql in (
                "CHANGE MASTER 'kk' TO master_delay=1",
                "STOP SLAVE 'kk'",
                "SHOW SLAVE 'kk' STATUS" if user not in ("monitor", "super") else "DO 0",
                "SHOW ALL SLAVES STATUS" if user not in ("monitor", "super") else "DO 0",
                "RESET SLAVE 'kk'",
                "SET GLOBAL gtid_slave_pos = ''",
                "SET GLOBAL sql_slave_skip_counter = 0",
                "SET GLOBAL replicate_do_db = ''",
                "SET GLOBAL slave_exec_mode = 'STRICT'",
                "SET GLOBAL slave_parallel_threads = 0",
                "SET GLOBAL rpl_semi_sync_slave_enabled = 0",
                "SET GLOBAL gtid_strict_mode = 1",
                "SET GLOBAL read_only = 0",
            ):
                if (user, sql[:14]) == ("super", "SET GLOBAL gti") and "strict" not in sql:
                    continue  # MariaDB keeps it in a table
                each(pair, sql)
            for client in pair:
                client.close()
    finally:
        for client in two:
            client.ok("RESET SLAVE 'kk' ALL")
            for user in users:
                client.ok(f"DROP USER p_{user}@'127.0.0.1'")


def test_read_only_as_mariadb(two):
    for client in two:
        client.ok("CREATE DATABASE IF NOT EXISTS dd")
        client.ok("CREATE OR REPLACE USER ro@'127.0.0.1'")
        client.ok("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, LOCK TABLES ON *.* TO ro@'127.0.0.1'")
        client.ok("CREATE TABLE dd.t (a INT PRIMARY KEY)")
    pair = [Client(client.server, user="ro") for client in two]
    try:
        each(pair, "BEGIN")
        each(pair, "INSERT INTO dd.t VALUES (1)")
        each(two, "SET GLOBAL read_only = 1")
        for sql in (
            "INSERT INTO dd.t VALUES (2)",
            "COMMIT",
            "SELECT * FROM dd.t",
            "INSERT INTO dd.t VALUES (3)",
            "SET PASSWORD = PASSWORD('')",
            "ANALYZE TABLE dd.t",
            "OPTIMIZE TABLE dd.t",
            "LOCK TABLES dd.t WRITE",
            "LOCK TABLES dd.t READ",
            "UNLOCK TABLES",
            "SELECT * FROM dd.t FOR UPDATE",
            "SELECT * FROM dd.t LOCK IN SHARE MODE",
            "BEGIN",
            "UPDATE dd.t SET a = 5 WHERE a = 999",
            "ROLLBACK",
            "CREATE TABLE dd.t2 (a INT)",
            "DROP TABLE IF EXISTS dd.nope",
            "TRUNCATE dd.t",
            "START TRANSACTION READ WRITE",
            "START TRANSACTION READ ONLY",
            "ROLLBACK",
        ):
            each(pair, sql)
        for sql in ("INSERT INTO dd.t VALUES (7)", "LOCK TABLES dd.t WRITE", "SET GLOBAL read_only = 0", "UNLOCK TABLES",
                    "BEGIN", "INSERT INTO dd.t VALUES (8)", "SET GLOBAL read_only = 0", "COMMIT", "SET GLOBAL read_only = 2",
                    "SET GLOBAL read_only = 0", "SELECT * FROM dd.t"):  # fmt: skip
            each(two, sql)
    finally:
        for client in pair:
            client.close()
        for client in two:
            client.run("UNLOCK TABLES")
            client.ok("SET GLOBAL read_only = 0")
            client.ok("DROP DATABASE dd")
            client.ok("DROP USER ro@'127.0.0.1'")


def test_settings_survive_a_kill(lab):
    server = lab.narwal(["--server-id=9"])
    try:
        with Client(server) as client:
            client.ok("CREATE DATABASE d")
            log = client.rows("SHOW MASTER STATUS")
            client.ok(
                "CHANGE MASTER 'Ä b' TO master_host='127.0.0.1', master_port=1, master_user='u', master_password='geheim', "
                "master_connect_retry=3, master_delay=4, ignore_server_ids=(3,2), do_domain_ids=(1), master_ssl=1, master_heartbeat_period=2.5"
            )
            client.ok("CHANGE MASTER TO master_host='127.0.0.1', master_port=2, master_log_file='f', master_log_pos=99, master_use_gtid=no")
            client.ok("CHANGE MASTER 'gone' TO master_host='127.0.0.1', master_port=3")
            client.ok("RESET SLAVE 'gone' ALL")
            client.ok("SET GLOBAL gtid_slave_pos = '0-9-100,5-5-5'")
            # Local matters: no replica of ours sees them.
            assert client.rows("SHOW MASTER STATUS") == log
            shown = status(client)
            assert [s["Connection_name"] for s in shown] == ["", "Ä b"]
        server.kill()
        server.args.append("--skip-slave-start")
        server.start()
        with Client(server) as client:
            again = status(client)
            assert again == shown
            both = client.rows("SELECT @@gtid_slave_pos, @@gtid_current_pos")[0]
            assert [text(v) for v in both] == ["0-9-100,5-5-5"] * 2
            client.ok("RESET SLAVE 'ä B' ALL")
            client.ok("RESET SLAVE ALL")
        server.kill()
        server.args.remove("--skip-slave-start")
        server.start()
        with Client(server) as client:
            assert status(client) == []
            # Connections start with the server.
            client.ok("CHANGE MASTER TO master_host='127.0.0.1', master_port=1, master_user='u', master_use_gtid=slave_pos")
        server.kill()
        server.start()
        with Client(server) as client:
            s = status(client)[0]
            assert (s["Slave_IO_Running"], s["Slave_SQL_Running"]) == ("Connecting", "Yes")
    finally:
        lab.remove(server)


def test_demotion_takes_what_this_server_wrote(two):
    for client in two:
        client.ok("CREATE DATABASE IF NOT EXISTS dd")
        client.ok("DROP DATABASE dd")
    each(two, "SET GLOBAL gtid_slave_pos = '0-1-9,3-3-3'")
    for sql in (
        "CHANGE MASTER TO master_host='127.0.0.1', master_port=1, master_demote_to_slave=1",
        "SELECT @@gtid_slave_pos",
        "SET gtid_domain_id = 3",
        "SET gtid_seq_no = 20",
        "CREATE DATABASE dd",
        "SET gtid_domain_id = 0",
        "SELECT @@gtid_slave_pos, @@gtid_current_pos",
        "CHANGE MASTER TO master_demote_to_slave=1",
        "SELECT @@gtid_slave_pos",
        "DROP DATABASE dd",
    ):
        each(two, sql)


@pytest.mark.parametrize("option", ["--slave-skip-errors=1062", "--slave-skip-errors=all", "--log-slave-updates=OFF", "--replicate-do-table=x"])
def test_refused_at_start(lab, option):
    server = lab.narwal([option], start=False)
    try:
        with pytest.raises(ServerDied, match=option.split("=")[0].lstrip("-")):
            server.start()
    finally:
        lab.remove(server)


def test_filters_at_start(lab):
    server = lab.narwal(["--replicate-do-db=a", "--replicate-do-db=b", "--c1.replicate-ignore-table=a.t", "--slave-skip-errors=OFF"])
    try:
        with Client(server) as client:
            client.ok("CHANGE MASTER 'c1' TO master_host='127.0.0.1', master_port=1")
            client.ok("CHANGE MASTER TO master_host='127.0.0.1', master_port=2")
            shown = {s["Connection_name"]: (s["Replicate_Do_DB"], s["Replicate_Ignore_Table"]) for s in status(client)}
            assert shown == {"": ("a,b", ""), "c1": ("", "a.t")}
    finally:
        lab.remove(server)


def test_own_gtids_go_on_behind_what_was_applied(two):
    for sql in (
        "SET GLOBAL gtid_slave_pos = '0-1-100,5-1-7'",
        "CREATE DATABASE dd",
        "SELECT @@last_gtid, @@gtid_binlog_pos, @@gtid_slave_pos, @@gtid_current_pos",
        "SET gtid_domain_id = 5",
        "DROP DATABASE dd",
        "SELECT @@last_gtid",
        "SET gtid_domain_id = 0",
    ):
        each(two, sql)


def test_a_session_sees_no_passwords(lab):
    server = lab.narwal([])
    try:
        with Client(server) as client:
            client.ok("CHANGE MASTER TO master_host='127.0.0.1', master_port=1, master_user='u', master_password='topsecret'")
            for sql in ("SHOW SLAVE STATUS", "SHOW ALL SLAVES STATUS", "SHOW GLOBAL VARIABLES", "SHOW BINLOG EVENTS"):
                assert "topsecret" not in str(client.rows(sql)), sql
    finally:
        lab.remove(server)
