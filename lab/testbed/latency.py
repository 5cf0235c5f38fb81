"""Latencies out of sysbench's --histogram, of one run or of several."""

from __future__ import annotations

import re

Buckets = list[tuple[float, int]]
"""Latency in ms and count, in order."""


def histogram(text: str) -> Buckets:
    """The buckets of sysbench's histogram; empty if it printed none."""
    found = re.findall(r"^\s*([\d.]+) \|\**\s+(\d+)\s*$", text, re.MULTILINE)
    return [(float(value), int(count)) for value, count in found]


def percentile(buckets: Buckets, share: float) -> float | None:
    """The latency that `share` (0 to 1) of all events do not exceed; None without events."""
    left = share * sum(count for _, count in buckets)
    if left <= 0:
        return None
    for value, count in buckets:
        left -= count
        if left <= 1e-9:
            return value
    return buckets[-1][0]


class Latencies:
    """The histograms of several runs, added up."""

    def __init__(self) -> None:
        self.counts: dict[float, int] = {}
        self.worst = self.seconds = 0.0
        self.stretches: list[float | None] = []
        """p99 of each run."""

    def add(self, text: str, seconds: float) -> None:
        """A report of sysbench, and how long it ran."""
        own = histogram(text)
        for value, count in own:
            self.counts[value] = self.counts.get(value, 0) + count
        self.seconds += seconds
        found = re.search(r"max:\s+([\d.]+)", text)
        if not found:
            raise RuntimeError(f"not a report of sysbench: {text[-300:]}")
        self.worst = max(self.worst, float(found.group(1)))
        self.stretches.append(percentile(own, 0.99))

    def result(self) -> dict:
        """Events, their rate, and percentiles over all of them."""
        all_ = sorted(self.counts.items())
        n = sum(self.counts.values())
        return {"commits": n, "per_second": round(n / max(self.seconds, 1)), "p50_ms": percentile(all_, 0.5),
                "p99_ms": percentile(all_, 0.99), "p999_ms": percentile(all_, 0.999),
                "max_ms": self.worst, "p99_of_stretches_ms": self.stretches}  # fmt: skip
