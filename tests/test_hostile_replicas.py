"""Hostile replicas against a running server: it stays up, others go on, and nothing of them is left.

`FUZZ_SEED=N` repeats a run's choices (not its timing); `./fuzz replicas` does the same in-process, for longer.
"""

from __future__ import annotations

import os
import random
import socket
import struct
import subprocess
import threading
import time

import pytest

from conftest import STAND_IN
from testbed import wire
from support import Client

COM_REGISTER_SLAVE, COM_BINLOG_DUMP = 0x15, 0x12
REPLICAS = 300
THREADS = 6

VALUES = [
    "0", "1", "-1", "4", "NULL", "''", "'x'", "18446744073709551615", "1e308", "-1e308", "0.5", "X'00ff00'", "REPEAT('0-1-1,', 20000)", "'0-1-1'",
    "'0-1-5,0-1-5'", "'1-1-1,0-1-3'", "'0-9-9'", "'0-1-99999999999999999999'", "'-'", "',,,'", "'0-1-'", "'ä'", "REPEAT('9', 1000000)", "'CRC32'",
    "'NONE'", "@@global.binlog_checksum", "@@gtid_binlog_pos", "3000000000", "1", "DATE'2024-01-01'", "(1=1)",
]  # fmt: skip
VARIABLES = [
    "slave_connect_state", "slave_until_gtid", "mariadb_slave_capability", "master_heartbeat_period", "master_binlog_checksum",
    "rpl_semi_sync_slave", "slave_gtid_strict_mode", "slave_gtid_ignore_duplicates",
]  # fmt: skip


def edge(rng: random.Random) -> int:
    return rng.choice([0, 1, 3, 4, 256, 300, rng.randrange(5000), 1 << 31, (1 << 32) - 1])


def rubbish(rng: random.Random, most: int) -> bytes:
    return rng.randbytes(rng.randrange(most))


def name(rng: random.Random) -> bytes:
    return rng.choice([b"", b"\0\0", b"narwal-bin.000001", b"narwal-bin.000002", b"narwal-bin.000099", b"../x", rubbish(rng, 400)])


def mutated(rng: random.Random, packet: bytes) -> bytes:
    data = bytearray(packet)
    if rng.random() < 0.3:
        for _ in range(rng.randrange(1, 4)):
            if data:
                at = rng.randrange(len(data))
                match rng.randrange(3):
                    case 0:
                        data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFB, 0xFF])
                    case 1:
                        del data[at:]
                    case _:
                        data[at:at] = rubbish(rng, 300)
    return bytes(data)


def packet(payload: bytes, sequence: int = 0) -> bytes:
    return len(payload).to_bytes(3, "little") + bytes([sequence]) + payload


def upstream(rng: random.Random) -> bytes:
    """What a replica sends while it is sent to: acknowledgements good and bad, commands, halves of packets."""
    ack = b"\xef" + struct.pack("<Q", rng.choice([0, edge(rng), (1 << 64) - 1])) + name(rng)
    return rng.choice([
        packet(ack), packet(mutated(rng, ack)), packet(ack[: rng.randrange(len(ack))]), packet(b"\x03SELECT 1"), packet(b"\x0e"),
        packet(bytes([COM_BINLOG_DUMP])), packet(rubbish(rng, 3000), rng.randrange(256)), b"\0", packet(ack)[:3], b"\xff\xff\xff\0" + rubbish(rng, 50),
        packet(b"\xef" + rubbish(rng, 40)) * 50,
    ])  # fmt: skip


def attack(port: int, rng: random.Random) -> None:
    """One hostile replica. Errors are what it has earned; a connection that never ends is not."""
    connection = wire.Connection(port, timeout=20)
    try:
        for _ in range(rng.randrange(10)):
            variable = rng.choice(VARIABLES)
            try:
                connection.query(f"SET @{variable}={rng.choice(VALUES)}")
            except wire.SqlError:
                pass
        if rng.random() < 0.6:
            # One that gets past the start.
            connection.query("SET @master_binlog_checksum='CRC32', @mariadb_slave_capability=4")
            connection.query(f"SET @slave_connect_state={rng.choice(['NULL', repr(''), '@@gtid_binlog_pos'])}")
            connection.query("SET @slave_until_gtid=NULL")
        if rng.random() < 0.5:
            texts = b"".join(bytes([len(t)]) + t for t in (rubbish(rng, 60), rubbish(rng, 60), rubbish(rng, 60)))
            connection._command(COM_REGISTER_SLAVE, mutated(rng, struct.pack("<I", edge(rng)) + texts + struct.pack("<HII", 3306, 0, 0)))
            connection._packet()
        good = rng.random() < 0.6
        body = struct.pack("<IHI", 4 if good else edge(rng), rng.choice([0, 0, 0, 2, 2, 1, 3, 0xFFFF]), rng.choice([edge(rng), rng.randrange(1, 90), 77]))
        body += b"narwal-bin.000001" if good else name(rng)
        connection._command(COM_BINLOG_DUMP, body if good else mutated(rng, body))
        connection.sock.settimeout(0.05)
        for _ in range(rng.randrange(60)):
            if rng.random() < 0.2:
                connection.sock.sendall(upstream(rng))
            try:
                if connection._packet()[:1] in (b"\xff", b"\xfe"):
                    break
            except wire.Lost as lost:
                if "timed out" not in str(lost):
                    break
        match rng.randrange(4):
            case 0:
                connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            case 1:
                # Half closed: the server's end comes, and soon.
                connection.sock.shutdown(socket.SHUT_WR)
                connection.sock.settimeout(20)
                while connection.sock.recv(65536):
                    pass
            case 2:
                time.sleep(rng.random() * 0.2)
            case _:
                pass
    except (wire.Lost, wire.SqlError):
        pass
    except OSError as error:
        # Cut off, which is what it may expect; but not kept waiting.
        if isinstance(error, TimeoutError):
            raise
    finally:
        connection.sock.close()


@pytest.mark.skipif(STAND_IN, reason="what only Narwal has")
def test_hostile_replicas_harm_nobody(own_narwal, tmp_path):
    seed = int(os.environ.get("FUZZ_SEED", random.randrange(1 << 32)))
    print(f"seed {seed}: FUZZ_SEED={seed} repeats it")
    server = own_narwal("--server-id=1", "--rpl-semi-sync-master-enabled=ON", "--rpl-semi-sync-master-timeout=50", "--max-binlog-size=65536")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(200))")
    out = tmp_path / "honest"
    with open(out, "wb") as file:
        honest = subprocess.Popen(
            ["mariadb-binlog", "--no-defaults", "--read-from-remote-server", "-h127.0.0.1", f"-P{server.port}", "-uroot", "--stop-never",
             "--stop-never-slave-server-id=990077", "--verbose", "narwal-bin.000001"], stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
    failures: list[BaseException] = []
    left = iter(range(REPLICAS))
    attacked = threading.Event()
    written = 0

    def attackers():
        try:
            for n in left:
                attack(server.port, random.Random(seed + n))
        except BaseException as failure:  # handed to the test's thread
            failures.append(failure)

    threads = [threading.Thread(target=attackers, daemon=True) for _ in range(THREADS)]
    try:
        for thread in threads:
            thread.start()
        # Meanwhile somebody works, and is not hindered.
        with Client(server) as client:
            while any(thread.is_alive() for thread in threads) and not failures:
                client.ok(f"INSERT INTO d.t VALUES ({written}, REPEAT('x', 150))")
                written += 1
                assert client.value("SELECT COUNT(*) FROM d.t") == str(written)
                attacked.wait(0.005)
            for thread in threads:
                thread.join(30)
            assert not failures, failures
            assert written > 20
            client.ok("INSERT INTO d.t VALUES (-1, 'the last one')")
            wait_for(lambda: "the last one" in out.read_text(errors="replace"))
            # Of the hostile ones nothing is left: no dump, no replica in the list, no hold on the log.
            wait_for(lambda: sum(row[4] == "Binlog Dump" for row in client.rows("SHOW PROCESSLIST")) == 1)
            assert client.rows("SHOW SLAVE HOSTS") == []
            assert client.rows("SHOW STATUS LIKE 'Narwal_binlog_readers'")[0][1] == "1"
            assert client.rows("SHOW STATUS LIKE 'Rpl_semi_sync_master_clients'")[0][1] == "0"
            files = [row[0] for row in client.rows("SHOW BINARY LOGS")]
            client.ok("FLUSH BINARY LOGS")
            honest.kill()
            honest.wait()
            wait_for(lambda: client.rows("SHOW STATUS LIKE 'Narwal_binlog_readers'")[0][1] == "0")
            newest = client.rows("SHOW BINARY LOGS")[-1][0]
            client.ok(f"PURGE BINARY LOGS TO '{newest}'")
            assert [row[0] for row in client.rows("SHOW BINARY LOGS")] == [newest] and len(files) >= 1
    finally:
        honest.kill()
        honest.wait()
    assert server.alive()
    assert "panicked" not in server.log_path.read_text(errors="replace")


def wait_for(done, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.05)
