"""A connection that gives whole answers: every result of a statement, as bytes, and errors as values.

Texts are str objects of latin1, so that each character is one byte: files of the corpus have bytes of many character sets.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.wire import Connection, Lost, SqlError, lenenc  # noqa: E402

# What mysqltest asks for: long flags, protocol 4.1, LOCAL files, transactions, several statements and results, plugins.
FLAGS = 1 | 4 | 0x80 | 0x200 | 0x2000 | 0x8000 | 0x10000 | 0x20000 | 0x40000 | 0x80000
WITH_DATABASE = 8
LATIN1 = 8
LOCAL_FILE = b"\xfb"
MORE_RESULTS = 8
MAX_ROWS = 100_000


class Wire(Connection):
    """A connection of the corpus. `files` gives the content of a file that the server asks for (LOAD DATA LOCAL), or None."""

    def __init__(self, port: int, user: str, password: str, database: str, timeout: float, files=None):
        self.password = password.encode("latin1", "replace")
        self.files = files or (lambda name: None)
        super().__init__(port, user=user, database=database, timeout=timeout)

    def _handshake(self, user: str, database: str, tls: bool) -> None:
        hello = self._packet()
        if hello[:1] == b"\xff":
            raise self._error(hello)
        at = hello.index(b"\0", 1) + 1
        self.thread = struct.unpack_from("<I", hello, at)[0]
        salt = hello[at + 4 : at + 12] + hello[at + 31 : at + 43]
        answer = scramble(self.password, salt)
        out = struct.pack("<IIB23x", FLAGS | (WITH_DATABASE if database else 0), 1 << 30, LATIN1)
        out += user.encode("latin1", "replace") + b"\0" + bytes([len(answer)]) + answer
        out += database.encode("latin1", "replace") + b"\0" if database else b""
        self._send(out + b"mysql_native_password\0")
        while True:
            packet = self._packet()
            if packet[:1] == b"\0":
                return
            if packet[:1] == b"\xff":
                raise self._error(packet)
            if packet[:1] != b"\xfe":
                raise Lost(f"unexpected answer at login: {packet[:40]!r}")
            name, _, salt = packet[1:].partition(b"\0")
            native = name == b"mysql_native_password"
            self._send(scramble(self.password, salt.rstrip(b"\0")[:20]) if native else self.password)

    def send(self, text: str) -> None:
        self._command(3, text.encode("latin1", "replace"))

    def answer(self) -> dict:
        """All results of what was sent: {"sets": [...]}, with {"error": [number, text]} where one failed."""
        out: dict = {"sets": []}
        while True:
            more = self._one(out, binary=False)
            if not more:
                return out

    def prepared(self, text: str) -> dict | None:
        """The statement by PREPARE and EXECUTE of the protocol. None: it can't be prepared, nothing has run."""
        self._command(0x16, text.encode("latin1", "replace"))
        first = self._packet()
        if first[:1] == b"\xff":
            error = self._error(first)
            return None if error.code in (1295, 1064) else {"sets": [], "error": [error.code, error_text(first)]}
        number, columns, params = struct.unpack_from("<IHH", first, 1)
        for n in (params, columns):
            for _ in range(n + 1 if n else 0):
                self._packet()
        out: dict = {"sets": []}
        if not params:
            self._command(0x17, struct.pack("<IBI", number, 0, 1))
            while self._one(out, binary=True):
                pass
        self.sequence = 0
        self._send(b"\x19" + struct.pack("<I", number))
        return None if params else out

    def _one(self, out: dict, binary: bool) -> bool:
        """Reads one result into `out`; tells whether another one follows."""
        first = self._packet()
        if first[:1] == LOCAL_FILE:
            content = self.files(first[1:].decode("latin1"))
            for at in range(0, len(content or b""), 1 << 20):
                self._send(content[at : at + (1 << 20)])
            self._send(b"")
            first = self._packet()
        if first[:1] == b"\xff":
            out["error"] = [self._error(first).code, error_text(first)]
            return False
        if first[:1] == b"\0":
            affected, at = lenenc(first, 1)
            _, at = lenenc(first, at)
            out["sets"].append({"affected": affected})
            return bool(struct.unpack_from("<H", first, at)[0] & MORE_RESULTS)
        count, _ = lenenc(first, 0)
        definitions = [self._definition() for _ in range(count)]
        self._end()
        rows: list = []
        columns = [(kind, flags) for _, kind, flags in definitions]
        while True:
            packet = self._packet()
            if packet[:1] == b"\xfe" and len(packet) < 9:
                out["sets"].append({"columns": [name for name, _, _ in definitions], "rows": rows})
                return bool(struct.unpack_from("<H", packet, 3)[0] & MORE_RESULTS)
            if packet[:1] == b"\xff":
                out["error"] = [self._error(packet).code, error_text(packet)]
                return False
            if len(rows) < MAX_ROWS:
                # A binary row is compared as it comes; a value of it is not looked at.
                rows.append([packet.hex()] if binary else text_values(packet, len(columns)))


def error_text(packet: bytes) -> str:
    return packet[9:].decode("latin1")


def text_values(packet: bytes, columns: int) -> list:
    out, at = [], 0
    for _ in range(columns):
        if packet[at] == 0xFB:
            out.append(None)
            at += 1
            continue
        n, at = lenenc(packet, at)
        out.append(packet[at : at + n].decode("latin1"))
        at += n
    return out


def scramble(password: bytes, salt: bytes) -> bytes:
    """The answer of mysql_native_password."""
    if not password:
        return b""
    once = hashlib.sha1(password).digest()
    mask = hashlib.sha1(salt + hashlib.sha1(once).digest()).digest()
    return bytes(a ^ b for a, b in zip(once, mask))


__all__ = ["Lost", "SqlError", "Wire"]
