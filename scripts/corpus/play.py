"""Plays what record.py has written down to Narwal, and has each answer judged."""

from __future__ import annotations

import time
from pathlib import Path

from corpus import values
from corpus.judge import Judge
from corpus.record import ask, cell, file_event, readable, shortened
from corpus.servers import NarwalHome
from corpus.wire import Lost, SqlError, Wire


# A session's statement, if it waits for a lock of a row, of a table or of GET_LOCK().
_WAITS_FOR_A_LOCK = (
    "SELECT (SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = {0} AND trx_state = 'LOCK WAIT')"
    " + (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE id = {0} AND (state LIKE 'Waiting for%lock' OR state = 'User lock'))"
)


class Player:
    """One file on one fresh Narwal."""

    def __init__(self, home: NarwalHome, judge: Judge, seconds: float):
        self.home, self.judge = home, judge
        self.end = time.monotonic() + seconds
        self.connections: dict[str, Wire] = {}
        self.logins: dict[str, tuple[str, str, str]] = {}
        self.current = "default"
        self.pending: set[str] = set()
        self.answers: dict[int, str] = {}
        self.verdicts: list[dict] = []

    def run(self, events: list[dict]) -> list[dict]:
        """A verdict for each statement: kind, and for those that are not the same the details."""
        for number, event in enumerate(events):
            if time.monotonic() > self.end:
                self.verdicts.append({"n": number, "kind": "hang", "cause": "the file takes too long", "text": event.get("text", "")})
                break
            getattr(self, "_" + event["do"], self._file)(number, event)
        for wire in self.connections.values():
            wire.drop()
        return self.verdicts

    # -- events ----------------------------------------------------------------------------------------------------
    def _connect(self, number: int, event: dict) -> None:
        name = event["name"]
        self.logins[name] = (event["user"], event["password"], event["database"])
        self.connections.pop(name, None)
        answer = {"sets": []}
        try:
            self.connections[name] = self._open(name)
            if "answer" not in event:
                self.current = name
        except SqlError as e:
            answer["error"] = [e.code, str(e)]
        except Lost as e:
            answer["lost"] = str(e)
        if "answer" not in event and len(answer) > 1:
            # The statements that follow need a connection: root's.
            self.logins[name] = ("root", "", event["database"])
            self.current = name
        if event["line"]:
            text = f"connect {event['user']} {event['database']}"
            self._judge(number, {"text": text, "line": event["line"]}, event.get("answer", {"sets": []}), answer)

    def _open(self, name: str, patience: float = 30) -> Wire:
        user, password, database = self.logins.get(name, ("root", "", "test"))
        return Wire(self.home.port, user, password, database, patience, lambda file: readable(file, self.home.files))

    def _connection(self, number: int, event: dict) -> None:
        self.current = event["name"]

    def _disconnect(self, number: int, event: dict) -> None:
        wire = self.connections.pop(event["name"], None)
        self.pending.discard(event["name"])
        if wire:
            wire.close()
            # Locks of a session go a moment after its end.
            time.sleep(0.01)

    def _sql(self, number: int, event: dict) -> None:
        text = self._text(event)
        got = self._ask(event, lambda wire: ask(wire, text, event.get("ps", False)))
        self._judge(number, event, event["answer"], got)

    def _query(self, number: int, event: dict) -> None:
        text = self._text(event)
        got = self._ask(event, lambda wire: wire.send(text) or wire.answer())
        if "error" not in got and "lost" not in got:
            value = cell(got, event["column"], event["row"])
            if value:
                self.answers[event["number"]] = value

    def _send(self, number: int, event: dict) -> None:
        if self.current not in self.pending:
            got = self._ask(event, lambda wire: wire.send(self._text(event)) or {"sets": []})
            if "lost" not in got:
                self.pending.add(self.current)
            self.sent = event["text"]
            time.sleep(0.02)

    def _reap(self, number: int, event: dict) -> None:
        if self.current in self.pending:
            self.pending.discard(self.current)
            got = self._ask(event, lambda wire: wire.answer())
            self._judge(number, event | {"text": getattr(self, "sent", "")}, event["answer"], got)

    def _wait(self, number: int, event: dict) -> None:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            got = self._ask(event, lambda wire: wire.send(self._text(event)) or wire.answer())
            if "error" in got or "lost" in got or cell(got, 0, 1) not in ("", "0"):
                return
            time.sleep(0.05)

    def _file(self, number: int, event: dict) -> None:
        file_event(event, self.home.files)

    # -- asking ----------------------------------------------------------------------------------------------------
    def _text(self, event: dict) -> str:
        return values.of_server(event["text"], str(self.home.files), self.answers)

    def _ask(self, event: dict, how) -> dict:
        if self.current in self.pending:
            return {"sets": []}
        patience = 12 + 4 * event.get("seconds", 0)
        try:
            wire = self.connections.get(self.current)
            if wire is None:
                wire = self.connections[self.current] = self._open(self.current)
            wire.sock.settimeout(patience)
            return shortened(how(wire), event.get("columns"))
        except SqlError as e:
            return {"sets": [], "error": [e.code, str(e)]}
        except (Lost, IndexError, KeyError, ValueError) as e:
            return {"sets": [], "lost": str(e) or repr(e), "how": self._what_happened(str(e))}

    def _what_happened(self, text: str) -> str:
        wire = self.connections.pop(self.current, None)
        if wire and "timed out" in text and self._ends_a_wait(wire):
            self.connections[self.current] = wire
            return "waits"
        if wire:
            wire.drop()
        if "timed out" in text:
            return "hang"
        # A process that dies closes its connections first.
        time.sleep(0.2)
        return "lost" if self.home.alive() else "died"

    def _ends_a_wait(self, wire: Wire) -> bool:
        """Whether the server says that the statement waits for a lock; if so, it is ended there, and the connection can go on."""
        try:
            control = Wire(self.home.port, "root", "", "", 5, None)
            try:
                control.send(_WAITS_FOR_A_LOCK.format(wire.thread))
                if cell(control.answer(), 0, 1) in ("", "0"):
                    return False
                control.send(f"KILL QUERY {wire.thread}")
                control.answer()
            finally:
                control.drop()
            wire.sock.settimeout(5)
            wire.answer()
        except SqlError:
            return True
        except (Lost, OSError, IndexError, KeyError, ValueError):
            return False
        return True

    def _judge(self, number: int, event: dict, right: dict, got: dict) -> None:
        kind, cause, sure = self.judge.verdict(event, right, got)
        verdict = {"n": number, "kind": kind}
        if kind != "same":
            verdict |= {"line": event["line"], "text": event.get("text", ""), "cause": cause, "right": right, "got": got}
            if not sure:
                verdict["unsure"] = True
            if "in" in event:
                verdict["in"] = event["in"]
        self.verdicts.append(verdict)
        if kind == "died":
            verdict["log"] = self.home.log_tail()
            self.connections.clear()
            self.pending.clear()
            self.home.start_fresh()
            self.judge.all_is_gone(cause)
