"""The servers of a run: started once, kept stopped (SIGSTOP) while others are measured, measured one at a time."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from testbed import disk, syncshim
from testbed.cgroup import MemoryGroup, forget
from testbed.client import Client
from testbed.servers import Server

from . import load
from .options import LabError, Options
from .sampler import Sampler, process
from .subjects import Subject

UNFAIR_BELOW = 0.975
"""A server under D1 must make at least this share of the syncs that its promise needs (1.95 of 2)."""


def same_share(pid: int) -> None:
    """Gives a server's session the weight of the lab's own (autogroup, sched(7)).

    The kernel shares processors out to sessions. Each server has one, as a service has; a lab that was started from a
    shell with another nice value would give the load more, or less, than its part.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):  # no autogroups here, or not allowed to
        own = Path("/proc/self/autogroup").read_text().rsplit("nice", 1)[1].strip()
        its = Path(f"/proc/{pid}/autogroup")
        if its.read_text().rsplit("nice", 1)[1].strip() != own:
            its.write_text(own)


class Unfair(LabError):
    """A server does not sync what its settings promise: nothing it would be compared with is worth printing."""


class Bed:
    """Servers of all subjects below one folder. Use as a context manager: at its end no server runs.

    `out` has raw/ (kept: sysbench's output, samples, server logs) and work/ (data folders, removed at the end).
    """

    def __init__(self, out: Path, subjects: list[Subject], options: Options, note: Callable[[str], None] = lambda text: None):
        self.out, self.subjects, self.o = out, subjects, options
        self.note = note
        """Shows a person what is going on now; nothing is kept."""
        self.raw = out / "raw"
        self.raw.mkdir(parents=True, exist_ok=True)
        self.work = out / "work"
        self.work.mkdir(exist_ok=True)
        self.shim = syncshim.build(self.work)
        self.fairness: dict[str, dict] = {}
        """Of each subject that has passed: syncs of a lone durable commit by the shim and by strace."""
        self._servers: dict[tuple[str, str], Server] = {}
        self._started_with: dict[int, tuple] = {}
        self._prepared: dict[tuple[int, str], tuple] = {}
        self._groups: dict[str, MemoryGroup] = {}

    def __enter__(self) -> Bed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends every server and removes the data folders; the logs stay in raw/."""
        for server in list(self._servers.values()):
            self._keep_log(server)
            server.remove()
        self._servers.clear()
        for group in self._groups.values():
            group.remove()
        self._groups.clear()
        shutil.rmtree(self.work, ignore_errors=True)

    def _keep_log(self, server: Server) -> None:
        if server.log_path.exists():
            with contextlib.suppress(OSError):
                shutil.copy(server.log_path, self.raw / f"{server.folder.name}.log")

    # -- servers -------------------------------------------------------------------------------------------------------
    def server(
        self, subject: Subject, durability: str = "D1", data: str = "main", args: tuple[str, ...] = (), **config: object
    ) -> Server:
        """The subject's server over the data folder called `data`, running and awake, with these settings.

        `config` as for Subject.config (buffer_pool_mib, server_id ...); `args` are further command line options. When it
        runs with other settings it is stopped and started again, its data stay. Every other server is put to sleep.
        """
        config = {"buffer_pool_mib": self.o.buffer_pool_mib, "durability": durability, **config}
        key = (subject.slug, data)
        server = self._servers.get(key)
        if server is None:
            server = subject.server(self.work / f"{subject.slug}-{data}", self.shim)
            self._servers[key] = server
        wanted = (tuple(sorted(config.items(), key=str)), tuple(args))
        for other in self._servers.values():
            if other is not server:
                other.pause()
        if server.alive() and self._started_with.get(id(server)) != wanted:
            self.note(f"{subject.name}: starting again with other settings")
            server.stop(300)
        if not server.alive():
            server.kill()
            self.note(f"{subject.name}: starting")
            subject.configure(server, **config)
            server.args = [*subject.args, *args]
            server.create()
            server.start(300)
            same_share(server.process.pid)  # type: ignore[union-attr]
            self._started_with[id(server)] = wanted
        server.resume()
        if subject.slug not in self.fairness and durability == "D1" and server.counters:
            self.check_fair(subject, server)
        return server

    @contextlib.contextmanager
    def turn(self, subject: Subject, **settings: object) -> Iterator[Server]:
        """`server`, awake inside the block and asleep after it."""
        server = self.server(subject, **settings)  # type: ignore[arg-type]
        try:
            yield server
        finally:
            server.pause()

    @contextlib.contextmanager
    def fresh(self, subject: Subject, data: str = "fresh", **settings: object) -> Iterator[Server]:
        """A server over an empty data folder of its own, ended and removed after the block; for what kills or fills servers."""
        self.forget(subject, data)
        try:
            yield self.server(subject, data=data, **settings)  # type: ignore[arg-type]
        finally:
            self.forget(subject, data)

    def forget(self, subject: Subject, data: str) -> None:
        """Ends the server over a data folder and removes the folder."""
        server = self._servers.pop((subject.slug, data), None)
        if server:
            self._keep_log(server)
            self._prepared = {k: v for k, v in self._prepared.items() if k[0] != id(server)}
            server.remove()

    def limit_memory(self, server: Server, mib: int) -> int | None:
        """Holds a server, together with what the kernel keeps of its files, to so many MiB until it is started again; None where this user
        may not do that. What the kernel has of the files already is dropped first, as it would be free."""
        try:
            group = self._groups.get(server.folder.name) or MemoryGroup(server.folder.name)
            self._groups[server.folder.name] = group
            pid = server.process.pid  # type: ignore[union-attr]
            if not group.holds(pid):
                forget(server.datadir)
            group.hold(pid, mib)
        except OSError:
            return None
        return mib

    def pause_all(self) -> None:
        """Puts every server to sleep, for what is measured about the machine itself."""
        for server in self._servers.values():
            server.pause()

    # -- fairness ------------------------------------------------------------------------------------------------------
    def check_fair(self, subject: Subject, server: Server) -> None:
        """Counts the syncs of lone durable commits, by the shim and by strace; raises Unfair when there are too few."""
        self.note(f"{subject.name}: counting its syncs")
        commits = 40
        client = Client(server.port, timeout=60)
        client.query("CREATE DATABASE IF NOT EXISTS lab_check")
        client.query("CREATE TABLE IF NOT EXISTS lab_check.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT NOT NULL)")
        trace = self.raw / f"{subject.slug}.strace"
        # strace also sees what the server does beside the commits while it is attached and let go.
        attached = self.count_syncs(server)
        tracer = self._strace(server, trace)
        before = self.count_syncs(server)
        for i in range(commits):
            client.query(f"INSERT INTO lab_check.t (v) VALUES ({i})")
        counted = self.count_syncs(server) - before
        seen = self._end_strace(tracer, trace)
        whole = self.count_syncs(server) - attached
        client.query("DROP DATABASE lab_check")
        client.close()
        per_commit = counted / commits
        result = {"syncs_per_lone_commit": round(per_commit, 3), "needed": subject.lone_syncs, "by_strace": None}
        if seen is not None:
            result["by_strace"] = round(seen / commits, 3)
            tolerated = max(6, counted // 10)
            if seen > whole + tolerated or seen < counted - tolerated:
                raise Unfair(
                    f"{subject.name}: the shim counted {counted} syncs in {commits} commits and strace {seen}. A server that syncs "
                    "past libc (io_uring, a static binary) cannot be delayed or counted by the shim, so this run would not be fair."
                )
        if per_commit < subject.lone_syncs * UNFAIR_BELOW:
            raise Unfair(self._why_unfair(subject, per_commit))
        self.fairness[subject.slug] = result

    def count_syncs(self, server: Server) -> int:
        """All syncs of the server so far, by the shim."""
        return server.counters.syncs() if server.counters else 0

    def _why_unfair(self, subject: Subject, per_commit: float) -> str:
        text = (
            f"{subject.name} is refused: it makes {per_commit:.2f} syncs for a lone durable commit and needs {subject.lone_syncs:g}, so it "
            "would be measured without the durability that the others pay for.\n"
        )
        if subject.is_baseline:
            return text + (
                "Cause: InnoDB maps its redo log as persistent memory (and never syncs it) when /dev/shm and the data folder are on one "
                "device, as in a container without a tmpfs of its own.\n"
                "Cure: mount -t tmpfs tmpfs /dev/shm, or --out on another file system; then run again. Otherwise look into its option file, "
                f"{self.work}/{subject.slug}-*/server.cnf, and the options given by --mariadb-arg or --mysql-arg."
            )
        return text + "Look into the options given by --narwal-arg."

    def _strace(self, server: Server, trace: Path) -> subprocess.Popen | None:
        if not shutil.which("strace") or server.process is None:
            return None
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,msync,sync_file_range,syncfs", "-o", str(trace),
             "-p", str(server.process.pid)], stderr=subprocess.DEVNULL,
        )  # fmt: skip
        # Attached once the server's main thread has a tracer.
        end = time.monotonic() + 5
        status = Path(f"/proc/{server.process.pid}/status")
        while time.monotonic() < end and tracer.poll() is None:
            found = re.search(r"TracerPid:\s+(\d+)", status.read_text())
            if found and found.group(1) != "0":
                time.sleep(0.2)  # and then its other threads
                return tracer
            time.sleep(0.02)
        tracer.kill()
        tracer.wait()
        return None

    def _end_strace(self, tracer: subprocess.Popen | None, trace: Path) -> int | None:
        if tracer is None:
            return None
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        sync = re.compile(r" (fsync|fdatasync|syncfs|sync_file_range)\(| msync\(.*MS_SYNC")
        return sum(1 for line in trace.read_text().splitlines() if sync.search(line))

    # -- load ----------------------------------------------------------------------------------------------------------
    def prepare(self, server: Server, test: str = "oltp_write_only", again: bool = False, **options: object) -> None:
        """sysbench's tables in database sbtest (emptied before), unless this server has the same ones from before.

        `options` of sysbench beside the run's tables and table-size. `again`: also when it has them.
        """
        tables = {"tables": self.o.tables, "table-size": self.o.rows, **options}
        key = (id(server), str(server.datadir))
        wanted = (load.script(test), tuple(tables.items()))
        if not again and self._prepared.get(key) == wanted:
            return
        self.note(f"{server.name}: making {tables['tables']} tables of {tables['table-size']} rows")
        if server.counters:
            server.counters.set_delay(0)
        server.sql("DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest")
        load.run(server, test, "prepare", min(4, int(str(tables["tables"]))), tables, self.raw)
        self._prepared[key] = wanted

    def has_changed(self, server: Server) -> None:
        """Says that the tables are not any more what `prepare` made, so that the next `prepare` makes them anew."""
        self._prepared.pop((id(server), str(server.datadir)), None)

    def load(
        self, server: Server, test: str, threads: int, seconds: float | None = None, seed: int = 1, delay_us: int = 0,
        label: str = "", measured: bool = True, **options: object,
    ) -> dict:  # fmt: skip
        """A time-limited sysbench run against a server and what the server used for it.

        Keys: those of load.parse, and syncs_per_commit, mean_sync_ms, cpu_us_per_transaction, written_bytes_per_transaction (what
        the disk got meanwhile), rss_mib, peak_mib, status (numbers of SHOW GLOBAL STATUS that
        have grown, by how much, lower-case names). Samples go to raw/. `measured=False`: a warm-up, without samples.
        """
        seconds = self.o.seconds if seconds is None else seconds
        if not measured and seconds <= 0:
            return {}
        all_options: dict = load.run_options(seconds, seed, **options)
        if test.startswith("oltp_") or test == "micro":
            all_options = {"tables": self.o.tables, "table-size": self.o.rows, **all_options}
        if server.counters:
            server.counters.set_delay(delay_us)
        name = f"{time.strftime('%H%M%S')}-{server.folder.name}-{test}-{threads}{label}"
        pid = server.process.pid  # type: ignore[union-attr]
        watch: contextlib.AbstractContextManager = (
            Sampler(server, self.raw / f"{name}.samples.jsonl") if measured else contextlib.nullcontext()
        )
        status = self.status(server) if measured else {}
        on_disk = disk.written(server.folder) if measured else None
        syncs, used = self._counters(server), process(pid)
        with watch:
            text = load.run(server, test, "run", threads, all_options, self.raw, label, timeout=seconds * 3 + 600)
            syncs_after, used_after = self._counters(server), process(pid)
        out: dict = load.parse(text)
        n = out["transactions"]
        made = {k: syncs_after[k] - syncs[k] for k in syncshim.KINDS if k in syncs}
        total = sum(made.values())
        spent = syncs_after.get("nanoseconds", 0) - syncs.get("nanoseconds", 0)
        out["syncs"] = {k: v for k, v in made.items() if v}
        out["mean_sync_ms"] = spent / total / 1e6 if total else None
        per = lambda key: (used_after[key] - used[key]) / n if n and key in used else None  # noqa: E731
        out["syncs_per_commit"] = total / n if n else None
        out["cpu_us_per_transaction"] = (used_after["cpu_s"] - used["cpu_s"]) * 1e6 / n if n else None
        out["written_bytes_per_transaction"] = disk.written_since(on_disk, server.folder, n) if n else None
        out["rss_mib"], out["peak_mib"] = used_after["rss_mib"], used_after["peak_mib"]
        if measured:
            after = self.status(server)
            out["status"] = {k: after[k] - v for k, v in status.items() if k in after and after[k] != v}
        return out

    def _counters(self, server: Server) -> dict[str, int]:
        return server.counters.read() if server.counters else {}

    def status(self, server: Server) -> dict[str, float]:
        """The numbers of SHOW GLOBAL STATUS, by lower-case name."""
        client = Client(server.port, timeout=30)
        try:
            out = {}
            for row in client.query("SHOW GLOBAL STATUS"):
                with contextlib.suppress(TypeError, ValueError):
                    out[str(row[0]).lower()] = float(str(row[1]))
            return out
        finally:
            client.close()
