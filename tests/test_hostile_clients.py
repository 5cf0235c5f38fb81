"""Clients that send too much, or what is not what it says it is: the server's memory stays within its limit, the client hears of it
or is closed, and others go on. And statements whose size only their text decides."""

from __future__ import annotations

import re
import resource
import socket
import struct
import threading
import time
import zlib
from pathlib import Path

import pytest

import packets as p
from conftest import STAND_IN
from support import Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="the limits are Narwal's")

MEMORY = 512 << 20
# Seconds that a statement may take to end, on a busy machine and in a slow build.
PATIENCE = 5.0


def status(server, field: str) -> int:
    """A figure of the server's process, in bytes."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", text)[1]) << 10


def forget_peak(server) -> None:
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")


@pytest.fixture
def server(lab):
    s = lab.narwal([f"--narwal-memory={MEMORY}", "--local-infile=ON", "--max-connections=100"])
    yield s
    assert s.process.poll() is None
    with Client(s) as c:
        assert c.value("SELECT 1") == "1"
    lab.remove(s)


def frame(body: bytes, full: int, number: int) -> bytes:
    return len(body).to_bytes(3, "little") + bytes([number & 255]) + full.to_bytes(3, "little") + body


def zeros(n: int) -> bytes:
    return zlib.compress(bytes(n), 9)


WHOLE = 0xFFFFFF
#: A frame of 16 KiB that holds 16 MiB: the head of a packet of the longest kind, and the most of that.
HEAD = WHOLE.to_bytes(3, "little") + b"\0"


def bomb(full: int, given: int) -> bytes:
    """A frame that says `full` and holds `given` bytes."""
    return frame(zlib.compress(HEAD + bytes(given - len(HEAD)), 9), full, 0)


BOMBS = {
    "more than is said": bomb(100, WHOLE),
    "less than is said": bomb(WHOLE, 100),
    "no zlib at all": frame(b"\xff" * 1000, WHOLE, 0),
    "zlib that breaks off": frame(zeros(WHOLE)[:2000], WHOLE, 0),
    "nothing in a frame that says much": frame(b"", WHOLE, 0),
}


def ending(link: p.Link) -> str:
    """How the server ends a connection; it has to."""
    link.sock.settimeout(30)
    try:
        while True:
            if not link.sock.recv(1 << 16):
                return "closed"
    except ConnectionError:
        return "closed"
    except socket.timeout:
        return "still open"


@pytest.mark.parametrize("what", BOMBS)
def test_a_compressed_packet_that_lies(server, what):
    forget_peak(server)
    before = status(server, "VmHWM")
    for _ in range(5):
        link = p.Link(server, caps=p.COMPRESS)
        link.sock.sendall(BOMBS[what])
        assert ending(link) == "closed", what
    assert status(server, "VmHWM") - before < 64 << 20


def send_quietly(link: p.Link, data: bytes) -> None:
    try:
        link.sock.sendall(data)
    except OSError:
        pass


def test_many_packets_that_unpack_to_gigabytes(server):
    """Each of 40 clients sends 1 MiB that would be 1 GiB: the longest packets one behind the other, as parts of one."""
    piece = HEAD + bytes(WHOLE - len(HEAD))
    body = zlib.compress(piece, 9)
    stream = b"".join(frame(body, len(piece), n) for n in range(64))
    forget_peak(server)
    links = [p.Link(server, caps=p.COMPRESS) for _ in range(40)]
    threads = [threading.Thread(target=send_quietly, args=(link, stream), daemon=True) for link in links]
    for t in threads:
        t.start()
    with Client(server) as c:
        for _ in range(20):
            assert c.value("SELECT REPEAT('a', 3)") == "aaa"
    for t in threads:
        t.join(60)
    assert [ending(link) for link in links] == ["closed"] * len(links)
    assert status(server, "VmHWM") <= MEMORY * 1.1


def test_a_claimed_length_takes_no_memory(server):
    """200 MiB are said to come, and do not."""
    links = [p.Link(server) for _ in range(60)]
    forget_peak(server)
    before = status(server, "VmHWM")
    for link in links:
        link.sock.sendall(HEAD + b"\x03SELECT 1")
    time.sleep(1)
    assert status(server, "VmHWM") - before < 32 << 20
    with Client(server) as c:
        assert c.value("SELECT 1") == "1"


def test_long_data_without_end(server):
    """COM_STMT_SEND_LONG_DATA has no answer: what is too much is told by the execution."""
    link = p.Link(server)
    s = link.prepare("SELECT LENGTH(?)")
    forget_peak(server)
    for _ in range(100):
        link.command(p.LONG_DATA, struct.pack("<IH", s.id, 0) + b"a" * 8_000_000)
    answer = link.execute(s, "")
    assert isinstance(answer, p.Error) and answer.code == 1105, answer
    assert status(server, "VmHWM") <= MEMORY * 1.1


@pytest.mark.parametrize("local", [True, False])
def test_load_data_with_a_line_without_end(server, local, tmp_path):
    with Client(server) as c:
        c.ok("CREATE DATABASE IF NOT EXISTS l")
        c.ok("CREATE OR REPLACE TABLE l.t (a LONGTEXT)")
    forget_peak(server)
    if local:
        link = p.Link(server, caps=p.LOCAL_FILES)
        link.command(p.QUERY, b"LOAD DATA LOCAL INFILE 'x' INTO TABLE l.t")
        assert link.packet()[:1] == b"\xfb"
        piece = b"a" * 4_000_000
        for _ in range(400):
            link.send(piece)
        link.send(b"")
        answer = link.answer()
        assert isinstance(answer, p.Error), answer
        assert link.query("SELECT 1").rows
    else:
        with Client(server) as c:
            c.ok("SET max_statement_time = 20")
            answer = c.run("LOAD DATA INFILE '/dev/zero' INTO TABLE l.t")
            assert answer.error, answer
    assert status(server, "VmHWM") <= MEMORY * 1.1
    with Client(server) as c:
        assert c.value("SELECT COUNT(*) FROM l.t") == "0"


def test_any_number_of_tables_in_with(server):
    text = "WITH " + ",".join(f"a{i} AS (SELECT {i} n)" for i in range(20_000)) + " SELECT * FROM a1"
    with Client(server) as c:
        assert c.value(text) == "1"


LONG = [
    "LENGTH(" + "AES_ENCRYPT(" * 20 + "@x" + ", 'k')" * 20 + ")",
    "LENGTH(" + "UPPER(" * 100 + "@x" + ")" * 100 + ")",
    "LENGTH(" + "LOWER(" * 100 + "@w" + ")" * 100 + ")",
    "LENGTH(" + "REVERSE(" * 100 + "@x" + ")" * 100 + ")",
]


@pytest.fixture(scope="module")
def roomy(lab):
    s = lab.narwal(["--max-allowed-packet=1G", f"--narwal-memory={8 << 30}"])
    yield s
    lab.remove(s)


def ends_when_killed(running, other: Client, number: str) -> None:
    """A statement that runs in connection `number` is killed in the middle of it, and ends soon."""
    time.sleep(0.7)
    assert running.blocked(0.01), "too short to be ended"
    began = time.monotonic()
    other.ok(f"KILL QUERY {number}")
    answer = running.answer(60)
    took = time.monotonic() - began
    assert answer.error == 1317, answer
    assert took < PATIENCE, took


@pytest.mark.parametrize("value", LONG, ids=lambda v: v[:20])
def test_kill_query_inside_of_functions_of_hundreds_of_megabytes(roomy, value):
    with Client(roomy) as c, Client(roomy) as other:
        c.ok("SET @x = REPEAT('abcdefgh', 30000000)")
        c.ok("SET @w = REPEAT('äß', 30000000)")
        number = c.value("SELECT CONNECTION_ID()")
        running = c.background(f"SELECT {value}")
        ends_when_killed(running, other, number)
        assert c.value("SELECT 1") == "1"


#: Each is short over 16 MiB, and thousands of them make one expression.
SHORT = [
    "SHA2({}, 512)", "MD5({})", "CRC32({})", "LENGTH({})", "({} + 1)", "(-{})", "({} | 1)", "(NOT {})", "({} XOR 1)", "({} IS TRUE)",
    "GREATEST({}, {})", "({} = {})", "({} IN ({}, {}))", "({} BETWEEN {} AND {})", "FIELD({}, {})", "INTERVAL(1, {})", "STRCMP({}, {})",
    "LENGTH(CONCAT({}, 'a'))", "LENGTH(COALESCE({}, 1))", "LENGTH(IF(1, {}, 2))", "NULLIF({}, {})", "LENGTH(CAST({} AS BINARY))",
    "CAST({} AS SIGNED)", "LENGTH(CONVERT({} USING latin1))", "LENGTH({} COLLATE utf8mb4_bin)", "({} LIKE 'b%a')", "LENGTH(UPPER({}))",
    "CASE {} WHEN 'a' THEN 1 WHEN {} THEN 2 END", "JSON_VALID({})", "INSTR({}, 'b')", "({} REGEXP 'b')", "CAST({} AS DATE)",
    "DATE_ADD({}, INTERVAL 1 DAY)", "ROUND({})", "LENGTH(@y := {})", "(({}, 1) = ({}, 1))", "LENGTH(HEX({}))", "QUOTE({}) IS NULL",
]  # fmt: skip


@pytest.mark.parametrize("short", SHORT)
def test_kill_query_inside_of_an_expression_of_thousands(roomy, short):
    with Client(roomy) as c, Client(roomy) as other:
        c.ok("SET @x = REPEAT('1', 16777216)")
        number = c.value("SELECT CONNECTION_ID()")
        one = "((" + short.replace("{}", "@x") + ") IS NULL)"
        running = c.background("SELECT 9 IN (" + ",".join([one] * 5000) + ")")
        ends_when_killed(running, other, number)
        assert c.value("SELECT LENGTH(@x)") == "16777216"


@pytest.mark.parametrize("value", ["x IN ({y})", "COALESCE({n})", "CASE x {w} END"])
def test_kill_query_inside_of_one_call_over_thousands_of_columns(roomy, value):
    """The texts of rows are not copied: one call, or one operator, goes over all of them. (FIELD and its like ask for memory for all
    of their texts, and get none.)"""
    with Client(roomy) as c, Client(roomy) as other:
        c.ok("CREATE DATABASE IF NOT EXISTS wide")
        c.ok("USE wide")
        c.ok("CREATE OR REPLACE TABLE t (x LONGTEXT COLLATE utf8mb4_unicode_ci, y LONGTEXT COLLATE utf8mb4_unicode_ci)")
        c.ok("INSERT INTO t VALUES (REPEAT('ä', 4000000), CONCAT(REPEAT('Ä', 4000000), 'x'))")
        number = c.value("SELECT CONNECTION_ID()")
        for name, one in {"y": "y", "n": "IF(x = y, 1, NULL)", "w": "WHEN y THEN 1"}.items():
            value = value.replace("{" + name + "}", (" " if name == "w" else ",").join([one] * 4000))
        running = c.background(f"SELECT ({value}) IS NULL FROM t")
        ends_when_killed(running, other, number)


def test_what_the_kernel_refuses_fails_alone(roomy):
    pid = roomy.process.pid
    with Client(roomy) as c, Client(roomy) as other:
        c.ok("SELECT 1")
        limits = resource.prlimit(pid, resource.RLIMIT_AS)
        resource.prlimit(pid, resource.RLIMIT_AS, (status(roomy, "VmSize") + (300 << 20), limits[1]))
        try:
            for sql in (
                "SELECT LENGTH(REPEAT('a', 900000000))", "SET @y = REPEAT('a', 500000000)", "SELECT LENGTH(HEX(SPACE(400000000)))",
                "SELECT LENGTH(UNCOMPRESS(COMPRESS(REPEAT('a', 800000000))))", "SELECT LENGTH(JSON_ARRAY(REPEAT('a', 700000000)))",
            ):  # fmt: skip
                answer = c.run(sql)
                assert answer.error == 1041, (sql, answer)
                assert other.value("SELECT REPEAT('b', 3)") == "bbb"
        finally:
            resource.prlimit(pid, resource.RLIMIT_AS, limits)
        assert c.value("SELECT LENGTH(REPEAT('a', 200000000))") == "200000000"
    assert roomy.process.pid == pid and roomy.process.poll() is None


def test_a_kill_that_came_when_nothing_ran_is_void(lab):
    """Whatever the next statement is: the kill does not end it, nor does the time that an earlier statement had."""
    s = lab.narwal()
    try:
        with Client(s) as c, Client(s) as killer:
            number = c.value("SELECT CONNECTION_ID()")
            c.ok("PREPARE p FROM 'SELECT ? + 1'")
            for sql in (
                "SET STATEMENT max_statement_time = 9 FOR SELECT 1 + 1", "SET @a = 1 + 1", "EXECUTE p USING @a", "SELECT 1 + 1",
                "PREPARE q FROM 'SELECT 1 + 1'", "EXECUTE IMMEDIATE 'SELECT 1 + 1'", "DO 1 + 1", "SHOW STATUS LIKE 'x'",
            ):  # fmt: skip
                killer.ok(f"KILL QUERY {number}")
                c.ok(sql)
                for _ in range(2):
                    c.fails("SET STATEMENT max_statement_time = 0.05 FOR SELECT SLEEP(9)", 1969)
                c.ok(sql)
    finally:
        lab.remove(s)
