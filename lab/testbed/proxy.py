"""A TCP link that can be cut or made slow: what stands between two servers when a test wants a bad network.

As a program, in a process of its own, it only delays: `python -m testbed.proxy TARGET_PORT DELAY_US` prints its port.
"""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

from .servers import free_port

# Bytes that may be on their way in one direction of a delayed link; more are left to the sender.
IN_FLIGHT = 8 << 20


class Proxy:
    """Listens on `port` of 127.0.0.1 and forwards to `target`, a port there or a server (whose port may change). `with`, or `close`.

    `cut` ends the connections there are and refuses others until `mend`; `break_` only ends them. `stall` lets them stand and forwards
    nothing, as a network does that swallows packets. `limit` lets so many bytes a second through in each direction. A `delay`, in
    seconds, is how long every byte is on its way, in each direction; others follow it meanwhile, as on a long cable. It can't be cut.
    """

    def __init__(self, target, delay: float = 0):
        self.delay = delay
        self.target = target
        self.bytes = 0  # forwarded, both directions
        self.connections = 0  # made so far
        self.limit = 0
        self._open = threading.Event()
        self._open.set()
        self._flow = threading.Event()
        self._flow.set()
        self._lock = threading.Lock()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._closed = False
        self.port = free_port()
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        self._closed = True
        # Wakes the accept, which close alone does not.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._flow.set()
        self.break_()

    def cut(self) -> None:
        self._open.clear()
        self.break_()

    def mend(self) -> None:
        self._flow.set()
        self._open.set()

    def stall(self) -> None:
        self._flow.clear()

    def break_(self) -> None:
        """Ends every connection there is, in the middle of whatever it carries."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            _shut(pair)

    def _accept(self) -> None:
        while not self._closed:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if not self._open.is_set():
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", getattr(self.target, "port", self.target)), timeout=10)
            except OSError:
                near.close()
                continue
            for s in (near, far):
                s.settimeout(None)
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            with self._lock:
                self._pairs.add((near, far))
            if not self._open.is_set():  # cut in between
                _shut((near, far))
            carry = self._late if self.delay else self._forward
            threading.Thread(target=carry, args=(near, far), daemon=True).start()

    def _forward(self, near: socket.socket, far: socket.socket) -> None:
        other = {near: far, far: near}
        open_ = [near, far]
        try:
            while open_:
                for s in select.select(open_, [], [])[0]:
                    piece = s.recv(1 << 18)
                    while not self._flow.wait(0.2):
                        if self._closed:
                            return
                    if not piece:
                        open_.remove(s)
                        other[s].shutdown(socket.SHUT_WR)
                        continue
                    other[s].sendall(piece)
                    self.bytes += len(piece)
                    if self.limit:
                        time.sleep(len(piece) / self.limit)
        except OSError:
            pass
        finally:
            self._end(near, far)

    def _late(self, near: socket.socket, far: socket.socket) -> None:
        other = {near: far, far: near}
        # When each piece is due, by the socket that it goes to; an empty one is the end of the stream.
        way: dict[socket.socket, deque[tuple[float, bytes]]] = {near: deque(), far: deque()}
        open_ = [near, far]
        try:
            while open_ or any(way.values()):
                now = time.monotonic()
                for to, pieces in way.items():
                    while pieces and pieces[0][0] <= now:
                        piece = pieces.popleft()[1]
                        if piece:
                            to.sendall(piece)
                            self.bytes += len(piece)
                        else:
                            to.shutdown(socket.SHUT_WR)
                due = min((pieces[0][0] for pieces in way.values() if pieces), default=None)
                wait = None if due is None else max(0, due - time.monotonic())
                listen = [s for s in open_ if sum(len(piece) for _, piece in way[other[s]]) < IN_FLIGHT]
                for s in select.select(listen, [], [], wait)[0]:
                    piece = s.recv(1 << 18)
                    if not piece:
                        open_.remove(s)
                    way[other[s]].append((time.monotonic() + self.delay, piece))
        except OSError:
            pass
        finally:
            self._end(near, far)

    def _end(self, near: socket.socket, far: socket.socket) -> None:
        with self._lock:
            self._pairs.discard((near, far))
        _shut((near, far))
        near.close()
        far.close()


def _shut(pair: tuple[socket.socket, socket.socket]) -> None:
    for s in pair:
        with contextlib.suppress(OSError):
            s.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def delayed(target: int, microseconds: int):
    """A port that leads to `target` over a link which takes so long in each direction. The forwarding has a process of its own: beside
    threads that measure, Python would delay by more than was asked."""
    child = subprocess.Popen(
        [sys.executable, "-m", "testbed.proxy", str(target), str(microseconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, cwd=Path(__file__).resolve().parents[1],
    )  # fmt: skip
    try:
        yield int(child.stdout.readline())
    finally:
        child.stdin.close()
        child.wait(10)


def main() -> int:
    with Proxy(int(sys.argv[1]), int(sys.argv[2]) / 1e6) as proxy:
        print(proxy.port, flush=True)
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
