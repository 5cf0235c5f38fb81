"""A client of the MySQL protocol in a few lines, so that a benchmark needs no package and times what it waits for.

No password, no TLS, text results; packets of 16 MiB and more are not split.
"""

from __future__ import annotations

import socket
import struct


class ServerError(Exception):
    """An ERR packet: `code` and its text."""

    def __init__(self, code: int, text: str):
        super().__init__(f"{code}: {text}")
        self.code = code


class Client:
    """One connection as root."""

    def __init__(self, port: int, database: str = "", timeout: float | None = None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.settimeout(timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self._packet()
        # LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH
        flags = 0x1 | 0x200 | 0x2000 | 0x8000 | 0x80000 | (0x8 if database else 0)
        login = struct.pack("<IIB23x", flags, 1 << 30, 45) + b"root\0" + b"\0"
        login += (database.encode() + b"\0" if database else b"") + b"mysql_native_password\0"
        self._send(1, login)
        while True:
            answer = self._packet()
            if answer[0] == 0xFE:  # another plugin: an empty answer is an empty password
                self._send(self.sequence + 1, b"")
            elif answer[0] == 0:
                return
            else:
                self._raise(answer)

    def query(self, sql: str) -> list[list[str | None]]:
        """Runs a statement; its rows as text, an empty list if it has none."""
        self._send(0, b"\x03" + sql.encode())
        head = self._packet()
        if head[0] == 0:
            return []
        self._raise(head)
        for _ in range(head[0]):
            self._packet()
        self._packet()  # EOF behind the columns
        rows = []
        while True:
            p = self._packet()
            if p[0] == 0xFE and len(p) < 9:
                return rows
            self._raise(p)
            rows.append(_fields(p))

    def close(self) -> None:
        self.socket.close()

    def _send(self, sequence: int, body: bytes) -> None:
        self.socket.sendall(len(body).to_bytes(3, "little") + bytes([sequence & 255]) + body)

    def _take(self, n: int) -> bytes:
        while len(self.buffer) < n:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise ConnectionError("the server closed the connection")
            self.buffer += piece
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def _packet(self) -> bytes:
        head = self._take(4)
        self.sequence = head[3]
        return self._take(int.from_bytes(head[:3], "little"))

    def _raise(self, packet: bytes) -> None:
        if packet[0] == 0xFF:
            raise ServerError(int.from_bytes(packet[1:3], "little"), packet[9:].decode(errors="replace"))


def _fields(packet: bytes) -> list[str | None]:
    out: list[str | None] = []
    at = 0
    while at < len(packet):
        n = packet[at]
        at += 1
        if n == 0xFB:
            out.append(None)
            continue
        if n >= 0xFC:
            size = {0xFC: 2, 0xFD: 3, 0xFE: 8}[n]
            n = int.from_bytes(packet[at : at + size], "little")
            at += size
        out.append(packet[at : at + n].decode(errors="replace"))
        at += n
    return out
