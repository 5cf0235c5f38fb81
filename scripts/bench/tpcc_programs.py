#!/usr/bin/env python3
"""TPC-C by stored procedures beside the transactions that a client sends statement by statement, on Narwal and MariaDB.

    scripts/bench/tpcc_programs.py --seconds 30 --threads 8

Before it measures it runs the same 1,000 transactions both ways from the same rows, on each server: both must end with the
same rows, dates apart, and TPC-C's conditions must hold. Prints transactions a second.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests")]
from narwal_lab import load  # noqa: E402
from testbed import tpcc  # noqa: E402
from testbed.client import Client  # noqa: E402
from testbed.servers import MariaDB, Narwal, Server  # noqa: E402

# What the transactions change, without dates and generated numbers.
STATE = {
    "warehouse": "w_id, w_ytd",
    "district": "d_w_id, d_id, d_ytd, d_next_o_id",
    "customer": "c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data",
    "history": "h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount, h_data",
    "orders": "o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt, o_all_local",
    "new_order": "no_w_id, no_d_id, no_o_id",
    "order_line": "ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d IS NULL, ol_quantity, ol_amount, ol_dist_info",
    "stock": "s_w_id, s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt",
}


def prepare(server: Server, size: dict[str, object]) -> None:
    server.sql("DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest")
    load.run(server, "tpcc", "prepare", 1, {"procedures": "on", **size})


def state(server: Server) -> dict[str, list[str]]:
    client = Client(server.port, "sbtest")
    found = {table: sorted(map(str, client.query(f"SELECT {columns} FROM {table}"))) for table, columns in STATE.items()}
    broken = tpcc.violated(client.query)
    client.close()
    if broken:
        raise SystemExit(f"{server.name}: {broken[0]}")
    return found


def both_ways(servers: list[Server]) -> None:
    """The same transactions by the client and by procedures, on each server from the same rows."""
    size = {"warehouses": 2, "items": 1000, "customers": 60}
    for server in servers:
        prepare(server, size)
        for table in STATE:
            server.sql(f"USE sbtest; CREATE TABLE first_{table} LIKE {table}; INSERT INTO first_{table} SELECT * FROM {table}")
        found = []
        for way in ("off", "on"):
            for table in STATE:
                server.sql(f"USE sbtest; DELETE FROM {table}; INSERT INTO {table} SELECT * FROM first_{table}")
            load.run(server, "tpcc", "run", 1, {"events": 1000, "time": 0, "rand-seed": 11, "procedures": way, **size})
            found.append(state(server))
        for table in STATE:
            if found[0][table] != found[1][table]:
                raise SystemExit(f"{server.name}: {table} is not the same by the client and by procedures")
        print(f"{server.name}: the same rows by the client and by procedures")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--narwal", default=os.environ.get("NARWAL_BIN", str(ROOT / "target/release/narwal")), help="the binary")
    parser.add_argument("--seconds", type=int, default=30, help="of each measured run")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--warehouses", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--small", action="store_true", help="few items and customers")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tpcc-"))
    servers: list[Server] = [Narwal(folder / "narwal", [], binary=args.narwal), MariaDB(folder / "mariadb", ["--innodb-buffer-pool-size=1G"])]
    try:
        servers[1].create()
        for server in servers:
            server.start()
        both_ways(servers)
        small = {"items": 10000, "customers": 300} if args.small else {}
        size = {"warehouses": args.warehouses, **small}
        best: dict[tuple[str, str], float] = {}
        for server in servers:
            prepare(server, size)
        for round_ in range(args.rounds):
            for server in servers:
                for way in ("off", "on"):
                    options = load.run_options(args.seconds, 100 + round_, procedures=way, **size)
                    report = load.parse(load.run(server, "tpcc", "run", args.threads, options))
                    key = (server.name, way)
                    best[key] = max(best.get(key, 0.0), report["tps"] or 0.0)
        print(f"transactions a second, {args.threads} threads, {args.warehouses} warehouses")
        for server in servers:
            print(f"  {server.name}: statements {best[server.name, 'off']:.0f}, procedures {best[server.name, 'on']:.0f}")
            state(server)
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
