"""Stored programs at random: the server goes on, none outlives its time, memory does not grow. `./fuzz programs` has more of them."""

from __future__ import annotations

import random_programs


def test_programs_at_random(own_narwal):
    server = own_narwal()
    n, good = random_programs.run(server, 1, lambda n: n < 60)
    # Most fail somewhere; what runs to its end shows that they are programs at all.
    assert n == 60 and good > 20
