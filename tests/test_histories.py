"""The checker of histories (`./histories`): by hand-made ones it must find each anomaly and no other; by short runs MariaDB shows
those that InnoDB is known for, and Narwal none that its levels forbid.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support import Client

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "histories"))

import run as runner  # noqa: E402
from checker import check  # noqa: E402
from record import ABORT, INFO, OK, History, Op, Row, Txn, load  # noqa: E402
from levels import FORBIDDEN  # noqa: E402

# Levels whose short run must find nothing.
CLEAN = ["rc", "rr-off", "rr", "ser"]


# -- histories by hand ---------------------------------------------------------------------------------------------------------
def put(row: int, token: int, grp: int = 1, done: bool = True) -> Op:
    """Makes the row, or appends to it."""
    return Op("write", id=row, token=token, birth=[grp, 0], n=1, done=done)


def move(row: int, token: int, grp: int) -> Op:
    return Op("write", id=row, token=token, change=[grp, None], n=1)


def rows(*read: tuple[int, list[int]], where: list | None = None, lock: bool = False, kind: str = "read") -> Op:
    """What a read found: rows with their tokens. Without a predicate, the ids of the rows are it."""
    found = [Row(i, list(t)) for i, t in read if t]
    return Op(kind, where=where or ["id", min(i for i, _ in read), max(i for i, _ in read)], rows=found, lock=lock)


def empty(*where, kind: str = "read") -> Op:
    return Op(kind, where=list(where), rows=[] if kind == "read" else None)


def get(row: int, value: int) -> Op:
    return Op("get", values=[[row, value]])


def put_register(row: int, value: int) -> Op:
    return Op("set", values=[[row, value]])


def txn(*ops: Op, at: float | None = None, to: float | None = None, outcome: str = OK) -> Txn:
    return Txn(0, ops=list(ops), outcome=outcome, began=1.0 if at is None else at, ended=90.0 if to is None else to)


def found(level: str, *txns: Txn, end: dict[int, list[int]] | None = None, registers: dict | None = None) -> dict:
    """Anomalies of the history; `end` is what a last read found."""
    h = list(txns)
    if end is not None:
        h.append(txn(Op("read", where=["id", 0, 1 << 60], rows=[Row(i, t) for i, t in end.items()]), at=100.0, to=101.0))
    for i, t in enumerate(h):
        t.id = i + 1
        for op in t.ops:
            # Without times of their own all overlap, so that time decides nothing.
            op.began = op.began or t.began
            op.ended = op.ended or t.ended
    return dict(check(History(level, h, registers or {}, end is not None)).kinds())


@pytest.mark.parametrize(
    "name, txns, end",
    [
        ("G0", [txn(put(1, 1), put(2, 2)), txn(put(1, 3), put(2, 4))], {1: [1, 3], 2: [4, 2]}),
        ("G1a", [txn(put(1, 1), outcome=ABORT), txn(rows((1, [1])))], {}),
        ("dirty-update", [txn(put(1, 1), outcome=ABORT), txn(put(1, 2))], {1: [1, 2]}),
        ("G1b", [txn(put(1, 1), put(1, 2)), txn(rows((1, [1])))], {1: [1, 2]}),
        ("G1c", [txn(put(1, 1), rows((2, [2]))), txn(put(2, 2), rows((1, [1])))], {1: [1], 2: [2]}),
        ("lost-update", [txn(put(1, 1), to=2.0), txn(rows((1, [1])), put(1, 2)), txn(rows((1, [1])), put(1, 3))], {1: [1, 2, 3]}),
        ("G-single-item", [txn(put(1, 1), put(2, 2), to=2.0), txn(put(1, 3), put(2, 4)), txn(rows((1, [1])), rows((2, [2, 4])))], {1: [1, 3], 2: [2, 4]}),
        ("G-single-predicate", [txn(put(1, 1), put(2, 2)), txn(empty("grp", 1), rows((2, [2])))], {1: [1], 2: [2]}),
        ("G-nonadjacent-item", [txn(put(1, 1), put(2, 2), to=2.0), txn(put(1, 3)), txn(put(2, 4)),
                                txn(rows((1, [1, 3])), rows((2, [2]))), txn(rows((1, [1])), rows((2, [2, 4])))], {1: [1, 3], 2: [2, 4]}),
        ("G2-item", [txn(put(1, 1), put(2, 2), to=2.0), txn(rows((1, [1])), put(2, 3)), txn(rows((2, [2])), put(1, 4))], {1: [1, 4], 2: [2, 3]}),
        ("G2-predicate", [txn(empty("grp", 1), put(1, 1, 2)), txn(empty("grp", 2), put(2, 2, 1))], {1: [1], 2: [2]}),
        ("G2-predicate", [txn(empty("grp", 1, kind="count"), put(1, 1, 2)), txn(empty("grp", 2, kind="count"), put(2, 2, 1))], {1: [1], 2: [2]}),
        ("internal", [txn(put(1, 1), rows((1, [])))], {1: [1]}),
        ("internal", [txn(put(1, 1), rows((1, [1])), Op("savepoint", name="s"), put(1, 2), Op("back", name="s"), rows((1, [1, 2])))], {1: [1]}),
        ("unrepeatable-read", [txn(put(1, 1)), txn(rows((1, [])), rows((1, [1])), rows((1, [1, 2]))), txn(put(1, 2))], {1: [1, 2]}),
        ("incompatible-order", [txn(put(1, 1), to=2.0), txn(put(1, 2)), txn(put(1, 3)), txn(rows((1, [1, 3])))], {1: [1, 2, 3]}),
        ("lost-write", [txn(put(1, 1))], {}),
        ("lost-write", [txn(put(1, 1)), txn(put(1, 2))], {1: [1]}),
        ("double-write", [txn(put(1, 1))], {1: [1, 1]}),
        ("half-transaction", [txn(put(1, 1), put(2, 2), outcome=INFO)], {1: [1]}),
        ("double-delete", [txn(put(1, 1), to=2.0), txn(rows((1, [1]), kind="delete")), txn(rows((1, [1]), kind="delete"))], {}),
        ("stale-read", [txn(put(1, 1), at=1.0, to=2.0), txn(empty("grp", 1), at=3.0, to=4.0)], {1: [1]}),
        ("unknown-token", [txn(rows((1, [7])))], {}),
    ],
)  # fmt: skip
def test_each_anomaly_is_found(name, txns, end):
    kinds = found("ser", *txns, end=end)
    assert name in kinds, kinds
    assert name in FORBIDDEN["ser"]


@pytest.mark.parametrize(
    "txns, end",
    [
        # one after the other
        ([txn(put(1, 1), put(2, 2)), txn(rows((1, [1])), put(2, 3)), txn(rows((2, [2, 3])), put(1, 4))], {1: [1, 4], 2: [2, 3]}),
        # reads before and after, each of one moment
        ([txn(put(1, 1), put(2, 2)), txn(empty("grp", 1), rows((2, []))), txn(rows((1, [1])), rows((2, [2])))], {1: [1], 2: [2]}),
        # a change within a group that was read as empty, and into another one
        ([txn(put(1, 1, 3)), txn(empty("grp", 1), put(2, 2, 2)), txn(empty("grp", 4), move(1, 3, 5))], {1: [1, 3], 2: [2]}),
        # what was taken back is not missed, what nobody knows may be there or not
        ([txn(put(1, 1), outcome=ABORT), txn(put(2, 2), outcome=INFO), txn(put(3, 3), outcome=INFO)], {3: [3]}),
        # a row that came and went: whoever missed it may have looked before or after
        ([txn(put(1, 1)), txn(rows((1, [1]), kind="delete")), txn(empty("grp", 1), empty("id", 1))], {}),
        # a row that came and went in a transaction without an answer, of which another part is there
        ([txn(put(1, 1), to=2.0), txn(put(2, 2), rows((2, [2]), kind="delete"), rows((1, [1]), kind="delete"), outcome=INFO)], {}),
        # own changes are seen, those that were taken back are not
        ([txn(put(1, 1), Op("savepoint", name="s"), put(1, 2), rows((1, [1, 2])), Op("back", name="s"), rows((1, [1])))], {1: [1]}),
    ],
)  # fmt: skip
def test_what_is_serializable_is_not_blamed(txns, end):
    assert found("ser", *txns, end=end) == {}


def test_levels_forbid_what_they_promise():
    skew = [txn(put(1, 1), put(2, 2), to=2.0), txn(rows((1, [1])), put(2, 3)), txn(rows((2, [2])), put(1, 4))]
    kinds = set(found("rr", *skew, end={1: [1, 4], 2: [2, 3]}))
    assert kinds == {"G2-item"}
    assert not kinds & FORBIDDEN["rr"] and kinds <= FORBIDDEN["ser"]
    assert {"G1a", "G0", "lost-write"} <= FORBIDDEN["rc"] and "lost-update" not in FORBIDDEN["rr-off"]


def test_time_counts_where_a_level_promises_it():
    """T3 began after T1 was acknowledged, and T2 read T3's change and not T1's."""
    late = [txn(put(1, 1), at=2.0, to=3.0), txn(rows((1, [])), rows((2, [2])), at=1.0), txn(put(2, 2), at=4.0, to=5.0)]
    assert set(found("ser", *late, end={1: [1], 2: [2]})) & {"G-single-item-realtime", "G-single-predicate-realtime"}
    assert not set(found("rc", *late, end={1: [1], 2: [2]})) & FORBIDDEN["rc"]


def test_registers():
    first = {1: -1, 2: -2}
    skew = [txn(get(1, -1), put_register(2, 5)), txn(get(2, -2), put_register(1, 6))]
    assert set(found("ser", *skew, registers=first)) == {"G2-item"}
    lost = [txn(get(1, -1), put_register(1, 5)), txn(get(1, -1), put_register(1, 6))]
    assert "lost-update" in found("rr", *lost, registers=first)
    assert "G1a" in found("rc", txn(put_register(1, 5), outcome=ABORT), txn(get(1, 5)), registers=first)
    assert "G1b" in found("rc", txn(put_register(1, 5), put_register(1, 6)), txn(get(1, 5)), registers=first)
    assert "internal" in found("rc", txn(put_register(1, 5), get(1, -1)), registers=first)
    assert "stale-read" in found("rc", txn(put_register(1, 5), to=2.0), txn(get(1, -1), at=3.0, to=4.0), registers=first)
    assert found("ser", txn(put_register(1, 5)), txn(get(1, 5), put_register(1, 6)), txn(get(1, -1)), registers=first) == {}


def test_a_history_is_kept_as_it_was(tmp_path):
    h = History("rr", [txn(put(1, 1), rows((1, [1])), empty("grp", 3))], {1: -1}, False)
    h.save(tmp_path / "h.jsonl")
    assert load(tmp_path / "h.jsonl") == h


# -- runs ------------------------------------------------------------------------------------------------------------------------
def test_mariadb_shows_what_innodb_is_known_for(lab, own):
    """Lost updates, read skew and write skew at REPEATABLE READ as it is by default; nothing that this forbids."""
    server = own(lab.mariadb(["--innodb-flush-log-at-trx-commit=1"], start=False))
    kinds: set[str] = set()
    wanted = ({"lost-update"}, {"G-single-item", "G-single-predicate"}, {"G2-item", "G2-predicate"})
    # What a run shows is a matter of how its sessions meet: on a busy machine one may lose no update.
    for seed in range(11, 21):
        r = runner.run(server, "rr-off", 800, 8, seed, 0)
        assert not r.faults and not r.result.forbidden()
        kinds |= set(r.result.kinds())
        if all(kinds & some for some in wanted):
            return
        with Client(server) as c:
            c.ok("DROP DATABASE histories")
    raise AssertionError(f"ten runs show only {sorted(kinds)}")


@pytest.mark.parametrize("level", CLEAN)
def test_narwal_keeps_its_levels(lab, own, level):
    server = own(lab.narwal(["--innodb-flush-log-at-trx-commit=1"], start=False))
    r = runner.run(server, level, 500, 8, 21, 1, 0.3)
    assert not r.faults, r.faults
    assert not r.result.forbidden(), "\n".join(a.words() for a in r.result.forbidden()[:2])
    assert r.result.transactions["ok"] > 250 and r.kills == 1
