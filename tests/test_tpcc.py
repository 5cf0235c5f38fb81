"""TPC-C through kill -9: the specification's consistency conditions hold. Small tables; `./narwal-lab run tpcc` has the real size."""

from __future__ import annotations

import subprocess
import time

import pytest

from conftest import STAND_IN
from narwal_lab import load
from support import Client
from testbed import tpcc

SIZE = {"warehouses": 2, "items": 1000, "customers": 60}


@pytest.mark.skipif(STAND_IN, reason="kills Narwal")
def test_conditions_hold_through_kills(lab, own):
    server = own(lab.narwal([]))
    with Client(server) as client:
        client.ok("CREATE DATABASE sbtest")
    load.run(server, "tpcc", "prepare", 1, SIZE)
    orders = 0
    for kill in (True, True, False):
        command = load.command(server, "tpcc", "run", 8, load.run_options(30 if kill else 2, 1, **SIZE))
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if kill:
            time.sleep(2)
            server.kill()
        out, _ = run.communicate(timeout=120)
        if kill:
            server.start()
        else:
            assert run.returncode == 0, out[-3000:]
        with Client(server, database="sbtest") as client:
            assert tpcc.violated(client.rows) == []
            now = int(client.value("SELECT SUM(d_next_o_id) FROM district"))
            assert now > orders
            orders = now
    # They are no idle questions.
    with Client(server, database="sbtest") as client:
        client.ok("UPDATE orders SET o_ol_cnt = o_ol_cnt + 1, o_carrier_id = NULL WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = 1")
        client.ok("UPDATE district SET d_ytd = d_ytd + 1, d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 2 AND d_id = 2")
        client.ok("UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 2 AND c_d_id = 2 AND c_id = 2")
        # A district that has enough: all of one's orders may be delivered by now.
        left = "SELECT no_d_id, MAX(no_o_id) FROM new_order WHERE no_w_id = 1 GROUP BY no_d_id HAVING COUNT(*) > 2 LIMIT 1"
        district, last = client.rows(left)[0]
        client.ok(f"DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = {district} AND no_o_id = {int(last) - 1}")
        client.ok("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1")
        broken = {text.split(":")[0].split()[1] for text in tpcc.violated(client.rows)}
        assert broken == {str(n) for n in range(1, 13)}
