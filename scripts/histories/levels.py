"""What the levels promise, as the names of the anomalies that they forbid.

`rr` is REPEATABLE READ with innodb_snapshot_isolation=ON: snapshot isolation. `rr-off` is the same with OFF: plain reads in one
snapshot, writes and locking reads of what is newest, so only transactions that do nothing but plain reads are promised a
consistent view. READ UNCOMMITTED is READ COMMITTED in Narwal; MariaDB reads uncommitted rows under it.
"""

SQL = {
    "ru": ("READ UNCOMMITTED", None),
    "rc": ("READ COMMITTED", None),
    "rr-off": ("REPEATABLE READ", "OFF"),
    "rr": ("REPEATABLE READ", "ON"),
    "ser": ("SERIALIZABLE", None),
}

# Nothing that a server may do at any level: writes lost, doubled, torn, undone and yet seen; reads of what was never there.
ALWAYS = {
    "G0", "G0-realtime", "G1a", "G1b", "G1c", "G1c-realtime", "dirty-update", "incompatible-order", "lost-write", "half-transaction",
    "double-write", "double-delete", "impossible-read", "unknown-token", "torn-row", "internal", "stale-read",
}  # fmt: skip
SNAPSHOT = {f"{g}-{w}{t}" for g in ("G-single", "G-nonadjacent") for w in ("item", "predicate") for t in ("", "-realtime")} | {"lost-update"}
SERIAL = {f"G2-{w}{t}" for w in ("item", "predicate") for t in ("", "-realtime")}

FORBIDDEN = {
    "ru": ALWAYS,
    "rc": ALWAYS,
    "rr-off": ALWAYS | {"unrepeatable-read", "read-only-skew"},
    "rr": ALWAYS | SNAPSHOT | {"unrepeatable-read", "read-only-skew"},
    "ser": ALWAYS | SNAPSHOT | SERIAL | {"unrepeatable-read", "read-only-skew"},
}
