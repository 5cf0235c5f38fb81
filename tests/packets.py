"""The client's side of the protocol, packet by packet, with capabilities as the test wants them: what a server answers, taken
apart into plain values, so that two servers' answers can be held against each other whole."""

from __future__ import annotations

import socket
import struct
import zlib
from dataclasses import dataclass, field

from testbed.wire import lenenc, put_lenenc

# CLIENT_*
LONG_PASSWORD, FOUND_ROWS, LONG_FLAG, WITH_DB, COMPRESS, LOCAL_FILES = 1, 2, 4, 8, 1 << 5, 1 << 7
PROTOCOL_41, TRANSACTIONS, SECURE, MULTI_STATEMENTS, MULTI_RESULTS = 1 << 9, 1 << 13, 1 << 15, 1 << 16, 1 << 17
PS_MULTI_RESULTS, PLUGIN_AUTH, SESSION_TRACK, DEPRECATE_EOF = 1 << 18, 1 << 19, 1 << 23, 1 << 24
# MARIADB_CLIENT_*
PROGRESS, BULK, EXTENDED, CACHE_METADATA, BULK_RESULTS = 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5

USUAL = LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE | PLUGIN_AUTH | MULTI_STATEMENTS | MULTI_RESULTS | PS_MULTI_RESULTS

MORE_RESULTS, CURSOR_EXISTS, LAST_ROW_SENT, STATE_CHANGED = 0x0008, 0x0040, 0x0080, 0x4000

QUERY, PREPARE, EXECUTE, LONG_DATA, CLOSE, RESET, FETCH, BULK_EXECUTE = 3, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1C, 0xFA
LAST = 0xFFFFFFFF


class Lost(Exception):
    """The connection has ended."""


@dataclass
class Column:
    database: str
    table: str
    original_table: str
    name: bytes
    original_name: str
    charset: int
    length: int
    type: int
    flags: int
    decimals: int
    extended: list = field(default_factory=list)


@dataclass
class Error:
    code: int
    state: str
    message: bytes


@dataclass
class Ok:
    affected: int
    insert_id: int
    status: int
    warnings: int
    info: bytes = b""
    #: (kind, content): 0 a variable's name and value, 1 the default database, 2 state, 4 characteristics, 5 transaction state.
    changes: list = field(default_factory=list)


@dataclass
class Rows:
    columns: list
    rows: list
    end: Ok | Error | None
    definitions_sent: bool = True
    #: The status behind the column definitions, where there is one.
    begin_status: int | None = None


@dataclass
class Prepared:
    id: int
    params: int
    columns: list
    warnings: int


class Link:
    """One connection of root's, without a password."""

    def __init__(self, server, caps: int = 0, mariadb: int = 0, collation: int = 45, database: str = "", without: int = 0):
        self.sock = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.zip = False
        self.zip_sequence = 0
        self.sequence = 0
        hello = self.packet()
        at = hello.index(b"\0", 1) + 1
        self.id = struct.unpack_from("<I", hello, at)[0]
        at += 13
        low, self.greeting_collation, self.greeting_status, high = struct.unpack_from("<HBHH", hello, at)
        self.offered = low | high << 16
        self.offered_mariadb = struct.unpack_from("<I", hello, at + 14)[0]
        self.caps = (USUAL | caps | (WITH_DB if database else 0)) & ~without
        self.mariadb = mariadb
        answer = struct.pack("<IIB19xI", self.caps, 1 << 24, collation, mariadb) + b"root\0\0"
        if database:
            answer += database.encode() + b"\0"
        self.send(answer + b"mysql_native_password\0")
        self.login = self.ok_or_error(self.packet())
        self.zip = bool(self.caps & COMPRESS)
        self.unzipped = b""

    # -- packets -------------------------------------------------------------------------------------------------
    def wire(self, n: int) -> bytes:
        while len(self.buffer) < n:
            piece = self.sock.recv(1 << 18)
            if not piece:
                raise Lost
            self.buffer += piece
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def take(self, n: int) -> bytes:
        if not self.zip:
            return self.wire(n)
        while len(self.unzipped) < n:
            head = self.wire(7)
            size, full = int.from_bytes(head[:3], "little"), int.from_bytes(head[4:], "little")
            self.zip_sequence = (head[3] + 1) & 255
            body = self.wire(size)
            self.unzipped += zlib.decompress(body) if full else body
        out, self.unzipped = self.unzipped[:n], self.unzipped[n:]
        return out

    def packet(self) -> bytes:
        out = b""
        while True:
            head = self.take(4)
            n = int.from_bytes(head[:3], "little")
            # MariaDB counts otherwise from the second result of a compressed command on.
            assert self.zip or head[3] == self.sequence, "packets out of order"
            self.sequence = (head[3] + 1) & 255
            out += self.take(n)
            if n < 0xFFFFFF:
                return out

    def send(self, payload: bytes) -> None:
        out = b""
        while True:
            piece, payload = payload[:0xFFFFFF], payload[0xFFFFFF:]
            out += len(piece).to_bytes(3, "little") + bytes([self.sequence]) + piece
            self.sequence = (self.sequence + 1) & 255
            if len(piece) < 0xFFFFFF:
                break
        if self.zip:
            plain, out = out, b""
            while plain:
                piece, plain = plain[:0xFFFFFF], plain[0xFFFFFF:]
                body, full = (zlib.compress(piece), len(piece)) if len(piece) > 50 else (piece, 0)
                out += len(body).to_bytes(3, "little") + bytes([self.zip_sequence]) + full.to_bytes(3, "little") + body
                self.zip_sequence = (self.zip_sequence + 1) & 255
        self.sock.sendall(out)

    def command(self, code: int, payload: bytes = b"") -> None:
        self.sequence = self.zip_sequence = 0
        self.send(bytes([code]) + payload)

    # -- answers -------------------------------------------------------------------------------------------------
    def ok_or_error(self, p: bytes) -> Ok | Error:
        if p[0] == 0xFF:
            return Error(struct.unpack_from("<H", p, 1)[0], p[4:9].decode(), p[9:])
        if p[0] == 0xFE and not self.caps & DEPRECATE_EOF:
            warnings, status = struct.unpack_from("<HH", p, 1)
            return Ok(0, 0, status, warnings)
        assert p[0] in (0, 0xFE), p
        affected, at = lenenc(p, 1)
        insert_id, at = lenenc(p, at)
        status, warnings = struct.unpack_from("<HH", p, at)
        at += 4
        ok = Ok(affected, insert_id, status, warnings)
        if at < len(p):
            ok.info, at = string(p, at)
        if self.caps & SESSION_TRACK and status & STATE_CHANGED:
            changes, at = string(p, at)
            ok.changes = session_changes(changes)
        assert at == len(p), (p, at)
        return ok

    def column(self) -> Column:
        p, at, names = self.packet(), 0, []
        for _ in range(6):
            name, at = string(p, at)
            names.append(name)
        extended = []
        if self.mariadb & EXTENDED:
            block, at = string(p, at)
            place = 0
            while place < len(block):
                kind = block[place]
                value, place = string(block, place + 1)
                extended.append((kind, value))
        assert p[at] == 12
        charset, length, type_, flags, decimals = struct.unpack_from("<HIBHB", p, at + 1)
        assert names[0] == b"def" and len(p) == at + 13, p
        return Column(*(n.decode("utf8", "replace") for n in names[1:4]), names[4], names[5].decode("utf8", "replace"),
                      charset, length, type_, flags, decimals, extended)  # fmt: skip

    def eof(self) -> int | None:
        """The EOF packet behind definitions: its status."""
        if self.caps & DEPRECATE_EOF:
            return None
        p = self.packet()
        assert p[0] == 0xFE and len(p) == 5, p
        return struct.unpack_from("<H", p, 3)[0]

    def answer(self, binary: bool = False, kept: list | None = None) -> Ok | Error | Rows:
        p = self.packet()
        if p[0] in (0, 0xFF):
            return self.ok_or_error(p)
        count, at = lenenc(p, 0)
        sent = not self.mariadb & CACHE_METADATA or p[at] == 1
        columns = [self.column() for _ in range(count)] if sent else kept
        begin = self.eof()
        if begin is not None and begin & CURSOR_EXISTS:
            return Rows(columns, [], None, sent, begin)
        rows, end = self.rows(binary)
        return Rows(columns, rows, end, sent, begin)

    def rows(self, binary: bool) -> tuple[list, Ok | Error]:
        rows = []
        while True:
            p = self.packet()
            if p[0] == 0xFF or p[0] == 0xFE and len(p) < (0xFFFFFF if self.caps & DEPRECATE_EOF else 9):
                return rows, self.ok_or_error(p)
            rows.append(p if binary else text_row(p))

    def answers(self, binary: bool = False) -> list:
        out = [self.answer(binary)]
        while (status_of(out[-1])) & MORE_RESULTS:
            out.append(self.answer(binary))
        return out

    # -- commands ------------------------------------------------------------------------------------------------
    def query(self, sql: str | bytes):
        self.command(QUERY, sql if isinstance(sql, bytes) else sql.encode())
        out = self.answers()
        return out[0] if len(out) == 1 else out

    def prepare(self, sql: str | bytes) -> Prepared | Error:
        self.command(PREPARE, sql if isinstance(sql, bytes) else sql.encode())
        p = self.packet()
        if p[0] == 0xFF:
            return self.ok_or_error(p)
        id_, columns, params, warnings = struct.unpack_from("<IHHxH", p, 1)
        for _ in range(params):
            self.column()
        if params:
            self.eof()
        found = [self.column() for _ in range(columns)]
        if columns:
            self.eof()
        return Prepared(id_, params, found, warnings)

    def execute(self, statement: Prepared, *values, cursor: int = 0):
        """`values`: as `bound` takes them."""
        payload = struct.pack("<IBI", statement.id, cursor, 1)
        if statement.params:
            bits = bytearray((statement.params + 7) // 8)
            types, data = b"", b""
            for i, value in enumerate(values):
                type_, flags, raw = bound(value)
                if raw is None:
                    bits[i // 8] |= 1 << i % 8
                    raw = b""
                types += bytes([type_, flags])
                data += raw
            payload += bytes(bits) + b"\x01" + types + data
        self.command(EXECUTE, payload)
        out = self.answer(True, statement.columns)
        if isinstance(out, Rows):
            statement.columns = out.columns
        return out

    def fetch(self, statement: Prepared, rows: int) -> tuple[list, Ok | Error]:
        self.command(FETCH, struct.pack("<II", statement.id, rows))
        return self.rows(True)

    def close(self) -> None:
        try:
            self.command(1)
        except OSError:
            pass
        self.sock.close()

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_):
        self.close()


def status_of(answer) -> int:
    if isinstance(answer, Rows):
        return answer.end.status if isinstance(answer.end, Ok) else 0
    return answer.status if isinstance(answer, Ok) else 0


def string(p: bytes, at: int) -> tuple[bytes, int]:
    n, at = lenenc(p, at)
    assert at + n <= len(p), (p, at, n)
    return p[at : at + n], at + n


def text_row(p: bytes) -> tuple:
    out, at = [], 0
    while at < len(p):
        if p[at] == 0xFB:
            out.append(None)
            at += 1
        else:
            value, at = string(p, at)
            out.append(value)
    return tuple(out)


def session_changes(p: bytes) -> list:
    out, at = [], 0
    while at < len(p):
        kind = p[at]
        block, at = string(p, at + 1)
        if kind == 0:
            place, pairs = 0, []
            while place < len(block):
                name, place = string(block, place)
                value, place = string(block, place)
                pairs.append((name.decode(), value))
            out.append((kind, pairs))
        elif kind == 2:
            out.append((kind, block))
        else:
            value, place = string(block, 0)
            assert place == len(block), block
            out.append((kind, value))
    return out


def bound(value) -> tuple[int, int, bytes | None]:
    """Type, flags and bytes of a parameter. A tuple (type, flags, bytes) stands for itself."""
    match value:
        case tuple():
            return value
        case None:
            return 6, 0, None
        case bool():
            return 1, 0, bytes([value])
        case int():
            return 8, 0, struct.pack("<q", value)
        case float():
            return 5, 0, struct.pack("<d", value)
        case str():
            return 0xFD, 0, put_lenenc(len(value.encode())) + value.encode()
        case bytes():
            return 0xFC, 0, put_lenenc(len(value)) + value
    raise TypeError(value)
