"""`--init-file`: statements that a start runs, beside MariaDB's way with one that fails."""

from __future__ import annotations

import pytest
from conftest import STAND_IN
from support import Client
from testbed.servers import ServerDied

pytestmark = pytest.mark.skipif(STAND_IN, reason="looks at Narwal beside MariaDB")

STATEMENTS = """-- What every start does.
CREATE DATABASE IF NOT EXISTS begun;
CREATE TABLE IF NOT EXISTS begun.t (a INT);
CREATE OR REPLACE PROCEDURE begun.p() BEGIN SELECT 1; SELECT 2; END;
INSERT INTO begun.t VALUES (1),
  (2);
SELECT * FROM begun.t;
"""


@pytest.mark.parametrize("kind", ["narwal", "mariadb"])
def test_statements_run_at_each_start_up_to_one_that_fails(lab, own, tmp_path, kind):
    file = tmp_path / "init.sql"
    file.write_text(STATEMENTS)
    server = own(getattr(lab, kind)([f"--init-file={file}"]))
    with Client(server) as c:
        assert c.rows("SELECT a FROM begun.t ORDER BY a") == [("1",), ("2",)]
    server.stop()
    file.write_text("INSERT INTO begun.t VALUES (3);\nSELECT nosuch FROM begun.t;\nINSERT INTO begun.t VALUES (4);\n")
    server.start()
    with Client(server) as c:
        assert c.rows("SELECT a FROM begun.t ORDER BY a") == [("1",), ("2",), ("3",)]
        assert c.value("SELECT @@init_file") == str(file)


def test_a_file_that_is_not_there_stops_the_start(own_narwal, tmp_path):
    server = own_narwal(f"--init-file={tmp_path / 'nosuch.sql'}", start=False)
    with pytest.raises(ServerDied, match="init_file .*nosuch.sql"):
        server.start()
