"""A TCP link that can be cut: what stands between two servers when a test wants a broken network."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time

from .servers import free_port


class Proxy:
    """Listens on `port` of 127.0.0.1 and forwards to `target`, a port there or a server (whose port may change). `with`, or `close`.

    `cut` ends the connections there are and refuses others until `mend`; `break_` only ends them. `stall` lets them stand and forwards
    nothing, as a network does that swallows packets. `limit` lets so many bytes a second through in each direction.
    """

    def __init__(self, target):
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
            threading.Thread(target=self._forward, args=(near, far), daemon=True).start()

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
            with self._lock:
                self._pairs.discard((near, far))
            _shut((near, far))
            near.close()
            far.close()


def _shut(pair: tuple[socket.socket, socket.socket]) -> None:
    for s in pair:
        with contextlib.suppress(OSError):
            s.shutdown(socket.SHUT_RDWR)
