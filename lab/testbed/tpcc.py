"""TPC-C's consistency conditions (specification 5.11, 3.3.2): queries that must find nothing."""

from __future__ import annotations

CONDITIONS = {
    "1: W_YTD is the sum of D_YTD": """
        SELECT w_id, w_ytd, total FROM warehouse JOIN (SELECT d_w_id, SUM(d_ytd) AS total FROM district GROUP BY d_w_id) AS d ON d_w_id = w_id
        WHERE w_ytd <> total""",
    "2: D_NEXT_O_ID - 1 is the last order, and the last new order": """
        SELECT d_w_id, d_id FROM district
        WHERE d_next_o_id - 1 <> (SELECT MAX(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id)
           OR d_next_o_id - 1 <> (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)""",
    "3: the new orders of a district have no gap": """
        SELECT no_w_id, no_d_id FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)""",
    "4: as many order lines as the orders of a district say": """
        SELECT * FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS said FROM orders GROUP BY o_w_id, o_d_id) AS o
        JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS there FROM order_line GROUP BY ol_w_id, ol_d_id) AS l ON ol_w_id = o_w_id AND ol_d_id = o_d_id
        WHERE said <> there""",
    "5: an order without carrier is a new order, and no other": """
        SELECT o_w_id, o_d_id, o_id FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
        WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)""",
    "6: as many order lines as each order says": """
        SELECT o_w_id, o_d_id, o_id, o_ol_cnt, COUNT(ol_number) FROM orders
        LEFT JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        GROUP BY o_w_id, o_d_id, o_id, o_ol_cnt HAVING COUNT(ol_number) <> o_ol_cnt""",
    "7: a line is delivered if and only if its order has a carrier": """
        SELECT ol_w_id, ol_d_id, ol_o_id, ol_number FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
        WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)""",
    "8: W_YTD is the sum of the history": """
        SELECT w_id FROM warehouse WHERE w_ytd <> (SELECT SUM(h_amount) FROM history WHERE h_w_id = w_id)""",
    "9: D_YTD is the sum of the history": """
        SELECT d_w_id, d_id FROM district JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS total FROM history GROUP BY h_w_id, h_d_id) AS h
        ON h_w_id = d_w_id AND h_d_id = d_id WHERE d_ytd <> total""",
    "10: C_BALANCE is what was delivered less what was paid": """
        SELECT c_w_id, c_d_id, c_id, c_balance, got, paid FROM customer
        LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS got FROM orders
                   JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL
                   GROUP BY o_w_id, o_d_id, o_c_id) AS o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
        LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h
        ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
        WHERE c_balance <> COALESCE(got, 0) - COALESCE(paid, 0)""",
    "11: orders less new orders are those delivered": """
        SELECT d_w_id, d_id FROM district
        WHERE (SELECT COUNT(*) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) - (SELECT COUNT(*) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)
           <> (SELECT COUNT(*) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id AND o_carrier_id IS NOT NULL)""",
    "12: C_BALANCE and C_YTD_PAYMENT together are what was delivered": """
        SELECT c_w_id, c_d_id, c_id FROM customer
        LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS got FROM orders
                   JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL
                   GROUP BY o_w_id, o_d_id, o_c_id) AS o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
        WHERE c_balance + c_ytd_payment <> COALESCE(got, 0)""",
}


def violated(query) -> list[str]:
    """The conditions that do not hold; `query(sql)` gives the rows."""
    out = []
    for name, sql in CONDITIONS.items():
        rows = query(sql)
        if rows:
            out.append(f"condition {name}: {len(rows)} rows, first {rows[0]}")
    return out
