"""A log whose last segment was cut by hand: a clear refusal, and the documented way to go on."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from testbed.servers import Narwal, ServerDied  # noqa: E402
from testbed.wire import Connection  # noqa: E402


def rows(port: int) -> list[int]:
    c = Connection(port)
    c.query("USE t")
    found = [r[0] for r in c.query("SELECT id FROM a ORDER BY id").rows]
    c.close()
    return found


@pytest.fixture
def server(tmp_path):
    s = Narwal(tmp_path / "narwal")
    s.start()
    c = Connection(s.port)
    c.query("CREATE DATABASE t")
    c.query("USE t")
    c.query("CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY, s TEXT)")
    for i in range(1, 51):
        c.query(f"INSERT INTO a VALUES ({i}, REPEAT('x', 5000))")
    s.kill()
    yield s
    s.kill()


def last_segment(s: Narwal) -> Path:
    return max(f for f in (s.datadir / "log").iterdir() if re.fullmatch(r"wal\.[0-9a-f]{16}", f.name))


def test_a_log_cut_by_hand_is_refused_and_can_be_given_up(server):
    segment = last_segment(server)
    length = segment.stat().st_size
    # In the middle of the rows: some of them are lost.
    with segment.open("r+b") as f:
        f.truncate(4096 + 150_000)
    for _ in range(2):
        with pytest.raises(ServerDied):
            server.start()
        said = server.log_tail()
        assert segment.name in said and str(4096 + 150_000) in said and str(length) in said, said
        assert "When a start is refused" in said
    server.args.append("--accept-log-loss")
    server.start()
    left = rows(server.port)
    assert left == list(range(1, len(left) + 1)) and 0 < len(left) < 50
    said = server.log_tail(200)
    assert "given up" in said and segment.name in said
    server.kill()
    # Once is enough.
    server.args.remove("--accept-log-loss")
    server.start()
    assert rows(server.port) == left
    c = Connection(server.port)
    c.query("USE t")
    c.query(f"INSERT INTO a VALUES ({len(left) + 1}, 'new')")
    server.kill()
    server.start()
    assert rows(server.port) == list(range(1, len(left) + 2))


def test_a_log_that_is_gone_is_refused_and_the_tables_can_be_kept(server):
    server.start()
    before = rows(server.port)
    assert server.stop() == 0  # A clean stop takes a checkpoint: the tables hold everything.
    for f in (server.datadir / "log").glob("wal.0*"):
        f.unlink()
    with pytest.raises(ServerDied):
        server.start()
    assert "When a start is refused" in server.log_tail()
    server.args.append("--accept-log-loss")
    server.start()
    assert rows(server.port) == before
    server.args.remove("--accept-log-loss")
    server.kill()
    server.start()
    assert rows(server.port) == before
