"""A slow network between two servers of this machine.

Where the kernel permits it: `tc netem` in a network namespace, which delays what goes to or comes from 127.0.0.2 and leaves 127.0.0.1
as it is. Else a proxy (proxy.delayed), which costs CPU time and delays by some 0.1 ms more than it is told to.
"""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from .proxy import delayed

FAR = "127.0.0.2"
_CLONE_NEWNET = 0x40000000


@functools.cache
def netem_works() -> bool:
    """Whether this user and this kernel can make a namespace whose loopback is delayed."""
    script = " && ".join(["ip link set lo up", *(f"tc {rule}" for rule in rules("netem delay 1ms"))])
    try:
        return subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True).returncode == 0
    except OSError:
        return False


@contextmanager
def namespace() -> Iterator[None]:
    """This thread, and the processes and threads that it starts meanwhile, have a network of their own with nothing but a loopback."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        if libc.unshare(_CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            yield
        finally:
            if libc.setns(before, _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(before)


def slow_down(microseconds: int) -> None:
    """Inside `namespace`: every packet to or from FAR takes so long."""
    for rule in rules(f"netem delay {microseconds}us limit 100000"):
        subprocess.run(["tc", *rule.split()], check=True)


def rules(discipline: str) -> list[str]:
    """What `tc` is told so that a queueing discipline holds for what goes to and comes from FAR alone."""
    return [
        "qdisc add dev lo root handle 1: htb default 1",
        *(f"class add dev lo parent 1: classid 1:{n} htb rate 100gbit quantum 60000" for n in (1, 3)),
        f"qdisc add dev lo parent 1:3 handle 30: {discipline}",
        *(f"filter add dev lo parent 1: protocol ip prio 1 u32 match ip {end} {FAR}/32 flowid 1:3" for end in ("dst", "src")),
    ]


class Network:
    """A network of a given round trip between servers that are started while it is entered."""

    def __init__(self, round_trip_us: int):
        self.round_trip_us = round_trip_us
        self.by_netem = netem_works()
        self.how = "tc netem" if self.by_netem else "a proxy"
        # What a server needs so that it is also found at FAR: nobody else reaches it there.
        self.args = ("--bind-address=0.0.0.0",) if self.by_netem else ()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Servers and clients are to be started in here."""
        if not self.by_netem:
            yield
            return
        with namespace():
            slow_down(self.round_trip_us // 2)
            yield

    @contextmanager
    def way_to(self, port: int) -> Iterator[tuple[str, int]]:
        """Host and port by which a server at `port` is found over the network."""
        if self.by_netem:
            yield FAR, port
            return
        with delayed(port, self.round_trip_us // 2) as through:
            yield "127.0.0.1", through
