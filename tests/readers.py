"""Change-data-capture clients that run as processes and print JSON lines, and a workload for them to read.

`scripts/test_clients` (part of `scripts/setup`) builds those in tests/cdc into .clients. A test whose client is missing fails
and says so: none is skipped.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support import Client
from test_binlog_export import ALL_TYPES, ALL_VALUES

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / ".clients"


def built(name: str) -> Path:
    """The folder of a client that scripts/test_clients has built."""
    folder = BUILT / name
    if not (folder / "stamp").exists():
        error = BUILT / f"{name}.error"
        why = error.read_text(errors="replace")[-3000:] if error.exists() else "scripts/test_clients has not been run"
        pytest.fail(f"the client '{name}' is not built; scripts/setup builds it:\n{why}", pytrace=False)
    return folder


class Reader:
    """A running client. Its JSON lines are in `events` as they come; its errors are in a file."""

    def __init__(self, command: list, errors: Path):
        self.errors_path = errors
        self.events: list[dict] = []
        self.changed = threading.Condition()
        with open(errors, "ab") as file:
            self.process = subprocess.Popen(
                [str(part) for part in command], stdout=subprocess.PIPE, stderr=file, stdin=subprocess.DEVNULL
            )
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            # A killed process may leave a piece of a line.
            event = json.loads(line) if line.endswith(b"\n") else None
            with self.changed:
                if event is not None:
                    self.events.append(event)
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_):
        self.kill()

    def wait(self, found: Callable[[list[dict]], bool], seconds: float = 120) -> list[dict]:
        """Waits until the events so far satisfy `found`; returns them."""
        end = time.monotonic() + seconds
        with self.changed:
            while not found(self.events):
                if self.process.poll() is not None and not self.thread.is_alive():
                    raise AssertionError(f"the client ended with code {self.process.returncode}\n{self.errors()}")
                if time.monotonic() > end:
                    raise AssertionError(f"not seen in {seconds} s; {len(self.events)} events, the last ones:"
                                         f" {self.events[-3:]}\n{self.errors()}")  # fmt: skip
                self.changed.wait(0.2)
            return list(self.events)

    def wait_for(self, text: str, seconds: float = 120) -> list[dict]:
        """Waits for an event that has the text somewhere."""
        seen = 0

        def found(events: list[dict]) -> bool:
            nonlocal seen
            fresh, seen = events[seen:], len(events)
            return any(text in json.dumps(event, ensure_ascii=False) for event in fresh)

        return self.wait(found, seconds)

    def wait_for_row(self, table: str, text: str, seconds: float = 120) -> list[dict]:
        """Waits for an event of the table that has the text. The statement's own text comes before its rows and has it too."""
        return self.wait(lambda events: any(e.get("table") == table and text in str(e) for e in events), seconds)

    def wait_end(self, seconds: float = 60) -> int:
        """Waits for the client to end by itself; its exit code."""
        code = self.process.wait(seconds)
        self.thread.join(seconds)
        return code

    def stop(self, seconds: float = 120) -> list[dict]:
        """A clean stop by SIGTERM; all events."""
        self.process.send_signal(signal.SIGTERM)
        self.wait_end(seconds)
        return self.events

    def kill(self) -> list[dict]:
        """kill -9; the events that came out before."""
        self.process.kill()
        self.wait_end()
        return self.events

    def errors(self) -> str:
        return self.errors_path.read_text(errors="replace")[-4000:]


def prepare(client: Client, database: str, values: list[str] = ALL_VALUES) -> None:
    """What exists before a reader starts: a table of all types with edge values, one with a text key, another database."""
    client.ok("CREATE DATABASE elsewhere")
    client.ok("CREATE TABLE elsewhere.named (id INT PRIMARY KEY)")
    client.ok(f"CREATE DATABASE {database}")
    client.ok(f"USE {database}")
    client.ok("SET time_zone = '+00:00', timestamp = 1700000000")
    client.ok(ALL_TYPES)
    client.ok("INSERT INTO alltypes VALUES " + ", ".join(values))
    client.ok("CREATE TABLE named (name VARCHAR(30) NOT NULL, n INT UNSIGNED DEFAULT 4000000000, PRIMARY KEY (name))")
    client.ok("INSERT INTO named VALUES ('žluť', 1), ('O''Hara', NULL), ('', DEFAULT)")


def change(client: Client, database: str, values: list[str] = ALL_VALUES) -> None:
    """Changes of every kind, with DDL in between; ends with a row of its own in `finish`. Prepare comes first."""
    client.ok(f"USE {database}")
    client.ok("SET time_zone = '+00:00', timestamp = 1700001000")
    client.ok("INSERT INTO alltypes VALUES " + ", ".join(values))
    client.ok("UPDATE alltypes SET ti = 5, vs = 'changed', d6 = '2024-03-03 03:03:03.030303', bb = NULL WHERE id % 3 = 1")
    client.ok("UPDATE alltypes SET bu = 0, mi = -2, ye = 1999, cl = 'ž', bn = X'0100' WHERE id = 2")
    client.ok("DELETE FROM alltypes WHERE id = 3")
    # A change of the key itself, and of several rows at once.
    client.ok("UPDATE named SET name = 'renamed', n = 7 WHERE name = ''")
    client.ok("INSERT INTO named VALUES ('dup', 1) ON DUPLICATE KEY UPDATE n = n + 1")
    client.ok("INSERT INTO named VALUES ('dup', 1) ON DUPLICATE KEY UPDATE n = n + 1")
    client.ok("REPLACE INTO named VALUES ('dup', 9)")
    # A transaction of several tables, one that is rolled back, a savepoint.
    client.ok("BEGIN")
    client.ok("INSERT INTO named VALUES ('in a transaction', 10)")
    client.ok("SAVEPOINT s")
    client.ok("INSERT INTO named VALUES ('never seen', 11)")
    client.ok("ROLLBACK TO s")
    client.ok("UPDATE alltypes SET vl = REPEAT('🐎', 300) WHERE id = 4")
    client.ok("COMMIT")
    client.ok("BEGIN")
    client.ok("INSERT INTO named VALUES ('never seen', 12)")
    client.ok("ROLLBACK")
    client.ok("INSERT INTO elsewhere.named VALUES (1)")
    # Tables come, change and go.
    client.ok("CREATE TABLE later (id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, w DECIMAL(8,3))")
    client.ok("INSERT INTO later VALUES (1, 'one', 1.5), (2, 'two', -2.125)")
    client.ok("CREATE INDEX later_v ON later (v)")
    client.ok("ALTER TABLE later ADD UNIQUE KEY later_w (w)")
    client.ok("UPDATE later SET v = 'zwei' WHERE id = 2")
    client.ok("TRUNCATE TABLE later")
    client.ok("INSERT INTO later VALUES (3, 'three', 3)")
    client.ok("DROP TABLE later")
    # The same name with other columns: a reader that kept the old definition would show it.
    client.ok("CREATE TABLE later (a BIGINT UNSIGNED NOT NULL, b DATETIME(3), c TEXT, PRIMARY KEY (a))")
    client.ok("INSERT INTO later VALUES (18446744073709551615, '2024-02-29 12:34:56.789', 'new')")
    client.ok("CREATE TABLE keyless (a INT, b VARCHAR(10))")
    client.ok("INSERT INTO keyless VALUES (1, 'a'), (1, 'a'), (NULL, NULL)")
    client.ok("DELETE FROM keyless WHERE a = 1")
    # More rows than one rows event holds.
    client.ok("INSERT INTO named VALUES " + ", ".join(f"('many {n}', {n})" for n in range(600)))
    client.ok("DELETE FROM named WHERE n > 300 AND n < 4000000000")
    client.ok("CREATE TABLE finish (id INT PRIMARY KEY, word VARCHAR(20))")
    client.ok("INSERT INTO finish VALUES (1, 'the end')")
    client.ok("SET timestamp = DEFAULT")


FINISHED = "the end"
