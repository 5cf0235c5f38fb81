"""Reads MariaDB binary log files independently of Narwal and rebuilds tables from their row events.

Formats: the MariaDB knowledge base, "Replication Protocol" (event header, GTID_EVENT, ROWS_EVENT_V1) and the MySQL
internals manual (TABLE_MAP_EVENT column metadata). Only the column types the torture's tables use.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"\xfebin"
QUERY, STOP, ROTATE, FORMAT, XID, TABLE_MAP = 2, 3, 4, 15, 16, 19
WRITE_V1, UPDATE_V1, DELETE_V1, HEARTBEAT = 23, 24, 25, 27
XA_PREPARE, ANNOTATE, CHECKPOINT, GTID, GTID_LIST = 38, 160, 161, 162, 163
FL_STANDALONE = 1

TINY, SHORT, LONG, LONGLONG, INT24, VARCHAR, BLOB, STRING = 1, 2, 3, 8, 9, 15, 252, 254


class Corrupt(Exception):
    """The stream breaks a rule; the message names file, offset and rule."""


@dataclass
class Event:
    file: str
    at: int
    kind: int
    server_id: int
    end: int
    flags: int
    body: bytes

    def where(self) -> str:
        return f"{self.file}:{self.at} (event type {self.kind})"


def events(path: Path):
    """Every event of one flat file, with header length, end position and CRC32 verified."""
    data = path.read_bytes()
    if data[:4] != MAGIC:
        raise Corrupt(f"{path}: no binary log magic")
    at, checksums = 4, False
    while at < len(data):
        if at + 19 > len(data):
            raise Corrupt(f"{path}:{at}: torn event header")
        _, kind, server_id, length, end, flags = struct.unpack_from("<IBIIIH", data, at)
        if length < 19 or at + length > len(data):
            raise Corrupt(f"{path}:{at}: event type {kind} of {length} bytes does not fit the file")
        if kind == FORMAT:
            checksums = data[at + length - 5] == 1
        raw = data[at : at + length]
        if checksums:
            plain = raw[:-4]
            if kind == FORMAT:  # its checksum is taken with the "in use" flag cleared
                plain = plain[:17] + struct.pack("<H", flags & ~1) + plain[19:]
            if zlib.crc32(plain) != struct.unpack("<I", raw[-4:])[0]:
                raise Corrupt(f"{path}:{at}: event type {kind} has a wrong CRC32")
            raw = raw[:-4]
        if end and end != at + length:
            raise Corrupt(f"{path}:{at}: event type {kind} says it ends at {end}, it ends at {at + length}")
        yield Event(path.name, at, kind, server_id, end, flags, raw[19:])
        at += length


def packed(body: bytes, at: int) -> tuple[int, int]:
    first = body[at]
    if first < 0xFB:
        return first, at + 1
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(body[at + 1 : at + 1 + size], "little"), at + 1 + size


@dataclass
class TableMap:
    database: str
    table: str
    types: bytes
    meta: list[int]

    @classmethod
    def parse(cls, body: bytes) -> tuple[int, "TableMap"]:
        table_id = int.from_bytes(body[:6], "little")
        at = 8
        names = []
        for _ in range(2):
            n = body[at]
            names.append(body[at + 1 : at + 1 + n].decode())
            at += n + 2
        count, at = packed(body, at)
        types = body[at : at + count]
        at += count
        size, at = packed(body, at)
        end, meta = at + size, []
        for t in types:
            if t in (VARCHAR,):
                meta.append(struct.unpack_from("<H", body, at)[0])
                at += 2
            elif t == STRING:
                meta.append(body[at + 1])
                at += 2
            elif t == BLOB:
                meta.append(body[at])
                at += 1
            elif t in (TINY, SHORT, LONG, LONGLONG, INT24):
                meta.append(0)
            else:
                raise Corrupt(f"table map of {names[1]}: column type {t} is not one this reader knows")
        if at != end:
            raise Corrupt(f"table map of {names[1]}: column metadata of {size} bytes does not fit the types")
        return table_id, cls(names[0], names[1], types, meta)

    def image(self, body: bytes, at: int, present: bytes) -> tuple[tuple, int]:
        """One row image: the values of the present columns, absent ones left out."""
        columns = [i for i in range(len(self.types)) if present[i // 8] >> i % 8 & 1]
        nulls = body[at : at + (len(columns) + 7) // 8]
        at += len(nulls)
        out = []
        for n, i in enumerate(columns):
            kind, meta = self.types[i], self.meta[i]
            if nulls[n // 8] >> n % 8 & 1:
                out.append(None)
            elif kind in (TINY, SHORT, LONG, LONGLONG, INT24):
                size = {TINY: 1, SHORT: 2, INT24: 3, LONG: 4, LONGLONG: 8}[kind]
                out.append(int.from_bytes(body[at : at + size], "little", signed=True))
                at += size
            else:
                size = (2 if meta > 255 else 1) if kind in (VARCHAR, STRING) else meta
                n_bytes = int.from_bytes(body[at : at + size], "little")
                at += size
                out.append(body[at : at + n_bytes].decode("utf-8"))
                at += n_bytes
        return tuple(out), at


@dataclass
class Replay:
    """Tables rebuilt from the stream, with the rules that any stream must keep."""

    keys: dict[str, tuple[int, ...]]
    database: str
    tables: dict[str, dict[tuple, tuple]] = field(default_factory=dict)
    # Next sequence number per (domain, server).
    last_gtid: dict[int, int] = field(default_factory=dict)
    groups: int = 0
    events: int = 0
    bytes: int = 0
    _maps: dict[int, TableMap] = field(default_factory=dict)
    _open: str | None = None
    _pending: list = field(default_factory=list)
    _savepoints: dict[str, int] = field(default_factory=dict)
    # Changes of prepared XA transactions, by their names.
    _prepared: dict[str, list] = field(default_factory=dict)
    _xa: str = ""

    def key(self, table: str, row: tuple) -> tuple:
        return tuple(row[i] for i in self.keys.get(table, (0,)))

    def file(self, path: Path) -> None:
        for event in events(path):
            self.events += 1
            self.apply(event)
        self.bytes += path.stat().st_size
        if self._open:
            raise Corrupt(f"{path}: ends inside the event group {self._open}")

    def apply(self, e: Event) -> None:
        if e.kind == GTID:
            if self._open:
                raise Corrupt(f"{e.where()}: a GTID inside the event group {self._open}")
            sequence, domain, flags = struct.unpack_from("<QIB", e.body)
            last = self.last_gtid.get(domain)
            if last is not None and sequence != last + 1 or last is None and sequence != 1:
                raise Corrupt(f"{e.where()}: GTID {domain}-{e.server_id}-{sequence} follows sequence number {last}")
            self.last_gtid[domain] = sequence
            self._open = f"{domain}-{e.server_id}-{sequence}"
            self._standalone = bool(flags & FL_STANDALONE)
            self.groups += 1
        elif e.kind == TABLE_MAP:
            table_id, table = TableMap.parse(e.body)
            self._maps[table_id] = table
        elif e.kind in (WRITE_V1, UPDATE_V1, DELETE_V1):
            if not self._open:
                raise Corrupt(f"{e.where()}: rows outside of an event group")
            self._rows(e)
        elif e.kind == XID:
            self._commit(e)
        elif e.kind == QUERY:
            self._query(e)
        elif e.kind == XA_PREPARE:
            self._prepare(e)
        elif e.kind not in (FORMAT, GTID_LIST, CHECKPOINT, ANNOTATE, ROTATE, STOP, HEARTBEAT):
            raise Corrupt(f"{e.where()}: unknown event type")

    def _commit(self, e: Event) -> None:
        if not self._open:
            raise Corrupt(f"{e.where()}: a commit outside of an event group")
        for change in self._pending:
            self._change(*change)
        self._pending.clear()
        self._maps.clear()
        self._open = None

    def _prepare(self, e: Event) -> None:
        if not self._open or not self._xa:
            raise Corrupt(f"{e.where()}: XA PREPARE without XA END in its event group")
        if self._xa in self._prepared:
            raise Corrupt(f"{e.where()}: {self._xa} is prepared twice")
        self._prepared[self._xa] = list(self._pending)
        self._pending.clear()
        self._maps.clear()
        self._open = None

    def end_xa(self, name: str, commit: bool, where: str) -> None:
        """The end of a prepared transaction."""
        if name not in self._prepared:
            raise Corrupt(f"{where}: the end of {name}, which is not prepared")
        changes = self._prepared.pop(name)
        for change in changes if commit else []:
            self._change(*change)

    def prepared(self) -> set[str]:
        """The names of those that have no end."""
        return set(self._prepared)

    def _query(self, e: Event) -> None:
        db_len, = struct.unpack_from("<B", e.body, 8)
        status, = struct.unpack_from("<H", e.body, 11)
        database = e.body[13 + status : 13 + status + db_len].decode()
        text = e.body[13 + status + db_len + 1 :].decode("utf-8", "replace").strip()
        word = text.upper()
        if word == "BEGIN":
            return
        if word == "COMMIT":
            return self._commit(e)
        if not self._open:
            raise Corrupt(f"{e.where()}: statement outside of an event group: {text[:80]}")
        savepoint = re.match(r"(SAVEPOINT|ROLLBACK\s+TO(?:\s+SAVEPOINT)?)\s+`?(\w+)`?$", text, re.IGNORECASE)
        if savepoint:  # MariaDB logs them where a rollback could not take back everything
            if word.startswith("SAVEPOINT"):
                self._savepoints[savepoint.group(2)] = len(self._pending)
            else:
                del self._pending[self._savepoints[savepoint.group(2)] :]
            return
        xa = re.match(r"XA (END|COMMIT|ROLLBACK) X'([0-9a-f]*)',X'([0-9a-f]*)',(\d+)$", text, re.IGNORECASE)
        if xa:
            name = bytes.fromhex(xa.group(2)).decode()
            if xa.group(1).upper() == "END":
                self._xa = name
            else:
                self.end_xa(name, xa.group(1).upper() == "COMMIT", e.where())
                self._open = None
            return
        if not self._standalone:
            raise Corrupt(f"{e.where()}: statement in a transaction's event group: {text[:80]}")
        name = re.match(
            r"(CREATE|DROP|TRUNCATE)\s+TABLE\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:`?(\w+)`?\s*\.\s*)?`?(\w+)`?",
            text, re.IGNORECASE,
        )  # fmt: skip
        if name and (name.group(2) or database) == self.database:
            verb, table = name.group(1).upper(), name.group(3)
            if verb == "CREATE":
                if table in self.tables:
                    raise Corrupt(f"{e.where()}: CREATE of the existing table {table}")
                self.tables[table] = {}
            elif table not in self.tables:
                raise Corrupt(f"{e.where()}: {verb} of the missing table {table}")
            elif verb == "DROP":
                del self.tables[table]
            else:
                self.tables[table] = {}
        self._open = None

    def _rows(self, e: Event) -> None:
        table_id = int.from_bytes(e.body[:6], "little")
        table = self._maps.get(table_id)
        if table is None:
            raise Corrupt(f"{e.where()}: rows of table id {table_id} without a table map")
        width, at = packed(e.body, 8)
        if width != len(table.types):
            raise Corrupt(f"{e.where()}: rows of {width} columns, table map of {len(table.types)}")
        size = (width + 7) // 8
        present = e.body[at : at + size]
        at += size
        after_present = present
        if e.kind == UPDATE_V1:
            after_present = e.body[at : at + size]
            at += size
        if table.database != self.database:
            return
        while at < len(e.body):
            try:
                row, at = table.image(e.body, at, present)
                after = None
                if e.kind == UPDATE_V1:
                    after, at = table.image(e.body, at, after_present)
            except (IndexError, UnicodeDecodeError) as error:
                raise Corrupt(f"{e.where()}: row image of {table.table}: {error}") from error
            if at > len(e.body):
                raise Corrupt(f"{e.where()}: row image of {table.table} passes the event's end")
            self._pending.append((e.kind, table.table, row, after, e.where()))

    def _change(self, kind: int, table: str, row: tuple, after: tuple | None, where: str) -> None:
        rows = self.tables.get(table)
        if rows is None:
            raise Corrupt(f"{where}: rows of the missing table {table}")
        key = self.key(table, row)
        if kind == WRITE_V1:
            if key in rows:
                raise Corrupt(f"{where}: {table} {key} written twice")
            rows[key] = row
            return
        if rows.get(key) != row:
            raise Corrupt(f"{where}: {table} {key}: before image {row} but the stream so far made {rows.get(key)}")
        del rows[key]
        if kind == UPDATE_V1:
            key = self.key(table, after)
            if key in rows:
                raise Corrupt(f"{where}: {table} {key} updated onto an existing key")
            rows[key] = after
