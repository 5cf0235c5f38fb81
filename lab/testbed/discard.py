"""Readers of the binary log that look at nothing: each asks for a dump and throws away what comes.

    python -m testbed.discard PORT READERS START SERVER_ID

START: `now`, or `oldest`, which ends with the log (non-blocking form). All readers live in one process that spends little
beyond the kernel's copying. Prints a line of JSON at the end (SIGTERM, or the end of the log): bytes and seconds of each.
"""

from __future__ import annotations

import json
import selectors
import signal
import socket
import struct
import sys
import time

from .client import Client

NON_BLOCK, ANNOTATE = 1, 2


def begin(port: int, start: str, server_id: int) -> socket.socket:
    """A connection whose dump has been asked for."""
    c = Client(port)
    for sql in ("SET @master_heartbeat_period= 30000000000", "SET @master_binlog_checksum= @@global.binlog_checksum",
                "SET @mariadb_slave_capability=4"):  # fmt: skip
        c.query(sql)
    flags, name, position = ANNOTATE | NON_BLOCK, "", 4
    if start == "now":
        name, position = c.query("SHOW MASTER STATUS")[0][:2]
        flags = ANNOTATE
    c._send(0, b"\x12" + struct.pack("<IHI", int(position), flags, server_id) + name.encode())
    return c.socket


def is_end(tail: bytes) -> bool:
    """Whether a stream that ends with these nine bytes has come to its end: the EOF packet."""
    return tail[:3] == b"\5\0\0" and tail[4:] == b"\xfe\0\0\2\0"


def main() -> int:
    port, readers, start, server_id = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(1))
    wait = selectors.DefaultSelector()
    out = []
    for n in range(readers):
        one = {"bytes": 0, "begin": time.monotonic(), "seconds": 0.0}
        out.append(one)
        wait.register(begin(port, start, server_id + n), selectors.EVENT_READ, one)
    buffer = bytearray(1 << 20)
    print("attached", flush=True)
    while wait.get_map() and not stopping:
        for key, _ in wait.select(0.2):
            one = key.data
            n = key.fileobj.recv_into(buffer)
            one["bytes"] += n
            one["seconds"] = time.monotonic() - one["begin"]
            if n == 0 or (start != "now" and n >= 9 and is_end(bytes(buffer[n - 9 : n]))):
                wait.unregister(key.fileobj)
    print(json.dumps([{"bytes": o["bytes"], "seconds": round(o["seconds"], 4)} for o in out]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
