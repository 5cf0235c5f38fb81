"""A small MySQL client: text and binary protocol, and a replica's dump, over TCP or a Unix socket, standard library only.

Written for the crash torture, which needs a client that is fast in Python, tells a lost connection from an error, and
shares no code with the server under test. Accounts without a password only; TLS takes any certificate.
"""

from __future__ import annotations

import socket
import ssl
import struct
import zlib
from dataclasses import dataclass, field

CLIENT_LONG_PASSWORD = 1
CLIENT_LONG_FLAG = 4
CLIENT_CONNECT_WITH_DB = 8
CLIENT_PROTOCOL_41 = 0x200
CLIENT_SSL = 0x800
CLIENT_TRANSACTIONS = 0x2000
CLIENT_SECURE_CONNECTION = 0x8000
CLIENT_PLUGIN_AUTH = 0x80000
MARIADB_CLIENT_CACHE_METADATA = 1 << 4
UTF8MB4_GENERAL_CI = 45

INTEGER_TYPES = {1: "<b", 2: "<h", 3: "<i", 8: "<q", 9: "<i", 13: "<h"}
UNSIGNED_FLAG = 32


class Lost(Exception):
    """The connection is gone: the outcome of what was sent last is unknown."""


class SqlError(Exception):
    """An error packet: the server's number, SQLSTATE and text."""

    def __init__(self, code: int, state: str, text: str):
        super().__init__(f"{code} ({state}): {text}")
        self.code = code
        self.state = state


@dataclass
class Result:
    rows: list[tuple] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    affected: int = 0
    insert_id: int = 0
    definitions_sent: bool = True


class BinlogEvent:
    """A binary log event as it came: header fields by name, `body` without header and checksum."""

    NAMES = {2: "QUERY", 3: "STOP", 4: "ROTATE", 14: "USER_VAR", 15: "FDE", 16: "XID", 19: "TABLE_MAP", 23: "WRITE",
             24: "UPDATE", 25: "DELETE", 27: "HEARTBEAT", 160: "ANNOTATE", 161: "CHECKPOINT", 162: "GTID",
             163: "GTID_LIST"}  # fmt: skip

    def __init__(self, raw: bytes, ack_wanted: bool = False):
        self.raw = raw
        self.ack_wanted = ack_wanted
        self.time, self.type, self.server_id, self.size, self.end, self.flags = struct.unpack_from("<IBIIIH", raw)
        if self.size != len(raw):
            raise Lost(f"an event of {len(raw)} bytes says {self.size}")
        sum_of = bytearray(raw[:-4])
        if self.type == 15:
            sum_of[17] &= 0xFE
        self.checksum = zlib.crc32(bytes(sum_of)) == int.from_bytes(raw[-4:], "little")
        self.body = raw[19:-4] if self.checksum else raw[19:]

    @property
    def name(self) -> str:
        return self.NAMES.get(self.type, str(self.type)) + ("*" if self.flags & 0x20 else "")

    def gtid(self) -> str:
        seq, domain = struct.unpack_from("<QI", self.body)
        return f"{domain}-{self.server_id}-{seq}"

    def gtid_list(self) -> tuple[int, list[str]]:
        """Flags and GTIDs of a GTID_LIST."""
        word = struct.unpack_from("<I", self.body)[0]
        entries = [struct.unpack_from("<IIQ", self.body, 4 + 16 * i) for i in range(word & 0xFFFFFFF)]
        return word >> 28, ["%d-%d-%d" % e for e in entries]

    def rotate(self) -> tuple[str, int]:
        """File and position that a ROTATE names."""
        return self.body[8:].decode(), struct.unpack_from("<Q", self.body)[0]

    def sql(self) -> str:
        """Text of a QUERY or ANNOTATE."""
        if self.type == 160:
            return self.body.decode()
        db, _, status = struct.unpack_from("<BHH", self.body, 8)
        return self.body[13 + status + db + 1 :].decode()

    def __repr__(self) -> str:
        detail = {4: self.rotate, 162: self.gtid, 163: self.gtid_list, 2: self.sql, 160: self.sql}.get(self.type)
        return f"{self.name}@{self.end}" + (f"{detail()}" if detail else "")


@dataclass
class Statement:
    id: int
    params: int
    columns: list[tuple[str, int, int]] = field(default_factory=list)


class Connection:
    """One connection. `raw`: values of the text protocol are left as the bytes that came. `keeps_definitions`: the column
    definitions of prepared statements are kept, and the server sends others only."""

    def __init__(self, port: int, user: str = "root", database: str = "", host: str = "127.0.0.1",
                 unix_socket: str | None = None, timeout: float = 60, raw: bool = False, tls: bool = False,
                 keeps_definitions: bool = False):  # fmt: skip
        self.raw = raw
        self.keeps_definitions = keeps_definitions
        try:
            if unix_socket:
                self.sock = socket.socket(socket.AF_UNIX)
                self.sock.settimeout(timeout)
                self.sock.connect(unix_socket)
            else:
                self.sock = socket.create_connection((host, port), timeout=timeout)
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as e:
            raise Lost(str(e)) from e
        self.buffer = bytearray()
        self.sequence = 0
        self._handshake(user, database, tls)

    # -- packets ---------------------------------------------------------------------------------------------------
    def _read(self, n: int) -> bytes:
        while len(self.buffer) < n:
            try:
                piece = self.sock.recv(1 << 18)
            except OSError as e:
                raise Lost(str(e)) from e
            if not piece:
                raise Lost("end of stream")
            self.buffer += piece
        out = bytes(self.buffer[:n])
        del self.buffer[:n]
        return out

    def _packet(self) -> bytes:
        out = b""
        while True:
            head = self._read(4)
            n = int.from_bytes(head[:3], "little")
            self.sequence = (head[3] + 1) & 255
            out += self._read(n)
            if n < 0xFFFFFF:
                return out

    def _send(self, payload: bytes) -> None:
        out = b""
        while True:
            piece, payload = payload[:0xFFFFFF], payload[0xFFFFFF:]
            out += len(piece).to_bytes(3, "little") + bytes([self.sequence]) + piece
            self.sequence = (self.sequence + 1) & 255
            if len(piece) < 0xFFFFFF:
                break
        try:
            self.sock.sendall(out)
        except OSError as e:
            raise Lost(str(e)) from e

    def _command(self, code: int, payload: bytes) -> None:
        self.sequence = 0
        self._send(bytes([code]) + payload)

    # -- login -----------------------------------------------------------------------------------------------------
    def _handshake(self, user: str, database: str, tls: bool) -> None:
        hello = self._packet()
        if hello[:1] == b"\xff":
            raise self._error(hello)
        self.server_version = hello[1 : hello.index(b"\0", 1)].decode()
        mariadb_flags = 0
        if self.keeps_definitions:
            at = hello.index(b"\0", 1) + 1 + 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 6
            offered = struct.unpack_from("<I", hello, at)[0]
            if not offered & MARIADB_CLIENT_CACHE_METADATA:
                raise Lost("the server always sends column definitions")
            mariadb_flags = MARIADB_CLIENT_CACHE_METADATA
        flags = ((0 if mariadb_flags else CLIENT_LONG_PASSWORD) | CLIENT_LONG_FLAG | CLIENT_PROTOCOL_41 | CLIENT_TRANSACTIONS
                 | CLIENT_SECURE_CONNECTION | CLIENT_PLUGIN_AUTH)  # fmt: skip
        if database:
            flags |= CLIENT_CONNECT_WITH_DB
        if tls:
            flags |= CLIENT_SSL
            self._send(struct.pack("<IIB23x", flags, 1 << 24, UTF8MB4_GENERAL_CI))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self.sock = context.wrap_socket(self.sock)
        out = struct.pack("<IIB19xI", flags, 1 << 24, UTF8MB4_GENERAL_CI, mariadb_flags) + user.encode() + b"\0" + b"\0"
        if database:
            out += database.encode() + b"\0"
        self._send(out + b"mysql_native_password\0")
        while True:
            answer = self._packet()
            if answer[:1] == b"\0":
                return
            if answer[:1] == b"\xff":
                raise self._error(answer)
            if answer[:1] == b"\xfe":  # switch of method: without a password every method's answer is empty
                self._send(b"")
            elif answer[:1] != b"\x01":
                raise Lost(f"unexpected answer at login: {answer[:40]!r}")

    # -- answers ---------------------------------------------------------------------------------------------------
    @staticmethod
    def _error(packet: bytes) -> SqlError:
        code = struct.unpack_from("<H", packet, 1)[0]
        if packet[3:4] == b"#":
            return SqlError(code, packet[4:9].decode("ascii", "replace"), packet[9:].decode("utf-8", "replace"))
        return SqlError(code, "HY000", packet[3:].decode("utf-8", "replace"))

    def _definition(self) -> tuple[str, int, int]:
        """A column's name, type and flags."""
        packet = self._packet()
        at, name = 0, ""
        for i in range(6):
            n, at = lenenc(packet, at)
            if i == 4:
                name = packet[at : at + n].decode("utf-8", "replace")
            at += n
        return name, packet[at + 7], struct.unpack_from("<H", packet, at + 8)[0]

    def _result(self, statement: Statement | None = None) -> Result:
        first = self._packet()
        if first[:1] == b"\xff":
            raise self._error(first)
        if first[:1] == b"\0":
            affected, at = lenenc(first, 1)
            insert_id, _ = lenenc(first, at)
            return Result(affected=affected, insert_id=insert_id)
        count, at = lenenc(first, 0)
        sent = not self.keeps_definitions or first[at] == 1
        if sent:
            definitions = [self._definition() for _ in range(count)]
            if statement:
                statement.columns = definitions
        elif statement and len(statement.columns) == count:
            definitions = statement.columns
        else:
            raise Lost("the server leaves out column definitions that were never sent")
        result = Result(columns=[name for name, _, _ in definitions], definitions_sent=sent)
        columns = [(kind, flags) for _, kind, flags in definitions]
        self._end()
        while True:
            packet = self._packet()
            if packet[:1] == b"\xfe" and len(packet) < 9:
                return result
            if packet[:1] == b"\xff":
                raise self._error(packet)
            result.rows.append(binary_row(packet, columns) if statement else text_row(packet, columns, self.raw))

    def _end(self) -> None:
        packet = self._packet()
        if packet[:1] != b"\xfe":
            raise Lost(f"expected an EOF packet, got {packet[:20]!r}")

    # -- commands --------------------------------------------------------------------------------------------------
    def query(self, sql: str) -> Result:
        self._command(3, sql.encode())
        return self._result()

    def prepare(self, sql: str) -> Statement:
        self._command(0x16, sql.encode())
        first = self._packet()
        if first[:1] == b"\xff":
            raise self._error(first)
        statement, columns, params = struct.unpack_from("<IHH", first, 1)
        made = Statement(statement, params)
        for n in (params, columns):
            if n:
                made.columns = [self._definition() for _ in range(n)]
                self._end()
        if not columns:
            made.columns = []
        return made

    def execute(self, statement: Statement, *values: int | str | None) -> Result:
        nulls = bytearray((statement.params + 7) // 8)
        types, data = b"", b""
        for i, value in enumerate(values):
            if value is None:
                nulls[i // 8] |= 1 << i % 8
                types += b"\x06\x00"
            elif isinstance(value, int):
                types += b"\x08\x00"
                data += struct.pack("<q", value)
            else:
                types += b"\xfd\x00"
                raw = value.encode()
                data += put_lenenc(len(raw)) + raw
        payload = struct.pack("<IBI", statement.id, 0, 1)
        if statement.params:
            payload += bytes(nulls) + b"\x01" + types + data
        self._command(0x17, payload)
        return self._result(statement)

    # -- replication -----------------------------------------------------------------------------------------------
    def register(self, server_id: int, host: str = "", port: int = 0, user: str = "", password: str = "") -> None:
        """COM_REGISTER_SLAVE."""
        body = struct.pack("<I", server_id)
        for text in (host, user, password):
            body += bytes([len(text)]) + text.encode()
        self._command(0x15, body + struct.pack("<HII", port, 0, 0))
        answer = self._packet()
        if answer[:1] == b"\xff":
            raise self._error(answer)

    def start_dump(self, file: str = "", position: int = 4, server_id: int = 0, flags: int = 0) -> None:
        """COM_BINLOG_DUMP; what follows is read with `event`. With server_id 0 the dump ends at the end of the log."""
        self._command(0x12, struct.pack("<IHI", position, flags, server_id) + file.encode())

    def event(self, semi_sync: bool = False) -> BinlogEvent | None:
        """The dump's next event, `None` at its orderly end. An error packet raises `SqlError`."""
        packet = self._packet()
        if packet[:1] == b"\xff":
            raise self._error(packet)
        if packet[:1] == b"\xfe" and len(packet) < 9:
            return None
        if packet[:1] != b"\0":
            raise Lost(f"not an event: {packet[:20]!r}")
        if not semi_sync:
            return BinlogEvent(packet[1:])
        if packet[1:2] != b"\xef":
            raise Lost(f"no semi-sync header: {packet[:20]!r}")
        return BinlogEvent(packet[3:], ack_wanted=packet[2] == 1)

    def acknowledge(self, file: str, position: int) -> None:
        """A semi-sync acknowledgement."""
        keep, self.sequence = self.sequence, 0
        self._send(b"\xef" + struct.pack("<Q", position) + file.encode())
        self.sequence = keep

    def close(self) -> None:
        try:
            self._command(1, b"")
        except Lost:
            pass
        self.sock.close()

    def drop(self) -> None:
        """Closes the socket without a word."""
        self.sock.close()


def lenenc(packet: bytes, at: int) -> tuple[int, int]:
    first = packet[at]
    if first < 0xFB:
        return first, at + 1
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(packet[at + 1 : at + 1 + size], "little"), at + 1 + size


def put_lenenc(n: int) -> bytes:
    if n < 0xFB:
        return bytes([n])
    if n < 1 << 16:
        return b"\xfc" + n.to_bytes(2, "little")
    if n < 1 << 24:
        return b"\xfd" + n.to_bytes(3, "little")
    return b"\xfe" + n.to_bytes(8, "little")


def text_row(packet: bytes, columns: list[tuple[int, int]], raw: bool = False) -> tuple:
    out, at = [], 0
    for kind, _ in columns:
        if packet[at] == 0xFB:
            out.append(None)
            at += 1
            continue
        n, at = lenenc(packet, at)
        value = packet[at : at + n]
        at += n
        if not raw:
            value = int(value) if kind in INTEGER_TYPES else value.decode("utf-8", "replace")
        out.append(value)
    return tuple(out)


def binary_row(packet: bytes, columns: list[tuple[int, int]]) -> tuple:
    out, at = [], 1 + (len(columns) + 9) // 8
    for i, (kind, flags) in enumerate(columns):
        if packet[1 + (i + 2) // 8] & 1 << (i + 2) % 8:
            out.append(None)
        elif kind in INTEGER_TYPES:
            form = INTEGER_TYPES[kind]
            form = form.upper() if flags & UNSIGNED_FLAG else form
            out.append(struct.unpack_from(form, packet, at)[0])
            at += struct.calcsize(form)
        else:
            n, at = lenenc(packet, at)
            out.append(packet[at : at + n].decode("utf-8", "replace"))
            at += n
    return tuple(out)
