#!/usr/bin/env python3
"""Window functions beside MariaDB 10.11, over all rows of the tables of queries.py; its options apply.

    scripts/bench/windows.py --narwal target/release/narwal --rounds 3

Each query reads all rows (--rows, 1,000,000) through a derived table, so that what is sent does not count. Wanted is at most
MariaDB's time.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import queries  # noqa: E402


def over(call: str, of: str = "SUM(w)") -> str:
    return f"SELECT {of}, COUNT(*) FROM (SELECT {call} AS w FROM big) t"


queries.QUERIES = [
    ("row number", over("ROW_NUMBER() OVER (ORDER BY k, id)"), True),
    ("row number by partition", over("ROW_NUMBER() OVER (PARTITION BY few ORDER BY id)"), True),
    ("rank with ties", over("RANK() OVER (ORDER BY few)"), True),
    ("running sum by key", over("SUM(amount) OVER (ORDER BY id)"), True),
    ("running sum by partition", over("SUM(amount) OVER (PARTITION BY few ORDER BY id ROWS UNBOUNDED PRECEDING)"), True),
    ("moving average", over("AVG(amount) OVER (ORDER BY id ROWS BETWEEN 10 PRECEDING AND 10 FOLLOWING)"), True),
    ("moving maximum", over("MAX(k) OVER (ORDER BY id ROWS BETWEEN 100 PRECEDING AND CURRENT ROW)"), True),
    ("sum of a partition", over("SUM(k) OVER (PARTITION BY few)"), True),
    ("lag", over("LAG(k) OVER (ORDER BY id)"), True),
    ("range of values", over("COUNT(*) OVER (ORDER BY k RANGE BETWEEN 10 PRECEDING AND 10 FOLLOWING)"), True),
]

if __name__ == "__main__":
    sys.exit(queries.main())
