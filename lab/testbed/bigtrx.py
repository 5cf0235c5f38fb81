"""Large transactions: their tables and statements, for benchmarks that time COMMIT and recovery."""

from __future__ import annotations

import time

from .client import Client

SOURCE_ROWS = 100_000
ROW_BYTES = 1035
"""One row of `big.src` with its kibibyte of text makes about this many bytes of row event."""


def prepare(port: int) -> None:
    """`big.src`: 100,000 rows of 1 KiB; `big.dst`: empty, for copies of them; `big.counts`: 100,000 small rows to update."""
    c = Client(port)
    c.query("CREATE DATABASE IF NOT EXISTS big")
    c.query("CREATE TABLE big.src (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(1100) NOT NULL)")
    c.query("CREATE TABLE big.dst (id BIGINT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(1100) NOT NULL)")
    c.query("CREATE TABLE big.counts (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, KEY (k))")
    step = 1000
    for at in range(0, SOURCE_ROWS, step):
        rows = ",".join(f"('{i:08d}{'abcdefghijklmnopqrstuvwxyz012345' * 32}')" for i in range(at, at + step))
        c.query(f"INSERT INTO big.src (pad) VALUES {rows}")
        rows = ",".join(f"({i},{i % 977},'{i:0120d}')" for i in range(at, at + step))
        c.query(f"INSERT INTO big.counts VALUES {rows}")
    c.close()


def statements(size: str) -> list[str]:
    """The transaction between BEGIN and COMMIT: `100k` updates all small rows, `200M` or `5G` inserts rows of 1 KiB."""
    if size == "100k":
        return ["UPDATE big.counts SET k = k + 1"]
    rows = rows_of(size)
    out = ["INSERT INTO big.dst (pad) SELECT pad FROM big.src"] * (rows // SOURCE_ROWS)
    if rows % SOURCE_ROWS:
        out.append(f"INSERT INTO big.dst (pad) SELECT pad FROM big.src WHERE id <= {rows % SOURCE_ROWS}")
    return out


def rows_of(size: str) -> int:
    """Rows that a transaction of this size changes."""
    if size == "100k":
        return SOURCE_ROWS
    return int(float(size[:-1]) * {"M": 2**20, "G": 2**30}[size[-1]]) // ROW_BYTES


def run(port: int, size: str) -> tuple[float, float]:
    """Runs a transaction; seconds before COMMIT and seconds from COMMIT to OK."""
    c = Client(port)
    began = time.monotonic()
    c.query("BEGIN")
    for sql in statements(size):
        c.query(sql)
    before = time.monotonic() - began
    at = time.perf_counter()
    c.query("COMMIT")
    took = time.perf_counter() - at
    c.close()
    return before, took


def state(port: int) -> tuple[str, str]:
    """Number of rows of `big.dst` and sum of `big.counts`: what tells whether a transaction is there, whole."""
    c = Client(port)
    out = (str(c.query("SELECT COUNT(*) FROM big.dst")[0][0]), str(c.query("SELECT SUM(k) FROM big.counts")[0][0]))
    c.close()
    return out
