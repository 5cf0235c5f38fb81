"""Cycles of a dependency graph: strongly connected components, and in each a shortest cycle of each kind.

Kinds of edges: ww (the next version of what the other wrote), wr (read what the other wrote), rw (the other wrote the next
version of what this one read) and rt (this one was acknowledged before the other began). Those that a predicate made are
marked by `by_predicate`.
"""

from __future__ import annotations

from collections import deque

WW, WR, RW, RT = 1, 2, 4, 8
NAMES = {WW: "ww", WR: "wr", RW: "rw", RT: "rt"}
# So many edges of one component are asked for their cycles: a component of a broken level has thousands.
ASKED = 300


class Graph:
    def __init__(self):
        self.out: dict[int, dict[int, int]] = {}
        self.why: dict[tuple[int, int, int], tuple] = {}
        self.item_rw: set[tuple[int, int]] = set()

    def add(self, a: int, b: int, kind: int, why: tuple = (), by_predicate: bool = False) -> None:
        if a == b:
            return
        to = self.out.setdefault(a, {})
        self.out.setdefault(b, {})
        if kind == RW and not by_predicate:
            # Where both a row and a predicate make it, the row is the simpler reason.
            if (a, b) not in self.item_rw:
                self.item_rw.add((a, b))
                self.why[a, b, kind] = why
        if not to.get(b, 0) & kind:
            to[b] = to.get(b, 0) | kind
            self.why.setdefault((a, b, kind), why)

    def components(self, mask: int) -> list[list[int]]:
        """Tarjan's, without recursion; only those of more than one node."""
        index: dict[int, int] = {}
        low: dict[int, int] = {}
        on: set[int] = set()
        stack: list[int] = []
        found = []
        for root in self.out:
            if root in index:
                continue
            index[root] = low[root] = len(index)
            stack.append(root)
            on.add(root)
            work = [(root, iter(self.out[root].items()))]
            while work:
                node, edges = work[-1]
                for to, kinds in edges:
                    if not kinds & mask:
                        continue
                    if to not in index:
                        index[to] = low[to] = len(index)
                        stack.append(to)
                        on.add(to)
                        work.append((to, iter(self.out[to].items())))
                        break
                    if to in on:
                        low[node] = min(low[node], index[to])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[node])
                    if low[node] == index[node]:
                        part = []
                        while True:
                            x = stack.pop()
                            on.discard(x)
                            part.append(x)
                            if x == node:
                                break
                        if len(part) > 1:
                            found.append(part)
        return found

    def path(self, start: int, end: int, mask: int, inside: set[int]) -> list[tuple[int, int, int]] | None:
        """A shortest way as edges (from, to, kind)."""
        came: dict[int, tuple[int, int]] = {start: (start, 0)}
        todo = deque([start])
        while todo:
            node = todo.popleft()
            if node == end:
                way = []
                while node != start:
                    before, kind = came[node]
                    way.append((before, node, kind))
                    node = before
                return way[::-1]
            for to, kinds in self.out[node].items():
                if kinds & mask and to in inside and to not in came:
                    came[to] = (node, first(kinds & mask))
                    todo.append(to)
        return None

    def path_apart(self, start: int, end: int, mask: int, inside: set[int]) -> list[tuple[int, int, int]] | None:
        """A shortest way to `end` that neither begins nor ends with rw and has no two of them in a row."""
        came: dict[tuple[int, bool], tuple] = {(start, True): ()}
        todo = deque([(start, True)])
        while todo:
            at = node, after_rw = todo.popleft()
            if node == end and not after_rw:
                way = []
                while came[at]:
                    before, kind = came[at]
                    way.append((before[0], at[0], kind))
                    at = before
                return way[::-1]
            for to, kinds in self.out[node].items():
                if to not in inside:
                    continue
                if kinds & mask & ~RW and (to, False) not in came:
                    came[to, False] = (at, first(kinds & mask & ~RW))
                    todo.append((to, False))
                if kinds & RW and not after_rw and (to, True) not in came:
                    came[to, True] = (at, RW)
                    todo.append((to, True))
        return None


def first(kinds: int) -> int:
    """The kind that says most: dependencies before anti-dependencies before time."""
    return next(k for k in (WW, WR, RW, RT) if kinds & k)


def find(graph: Graph, realtime: bool) -> list[tuple[str, list[tuple[int, int, int]]]]:
    """(name, cycle) of shortest cycles. With `realtime` those that need an rt edge, without it those that need none."""
    found: dict[frozenset, tuple[str, list]] = {}
    rt = RT if realtime else 0

    def keep(name: str, cycle: list[tuple[int, int, int]]) -> None:
        if realtime:
            if not any(k == RT for _, _, k in cycle):
                return
            name += "-realtime"
        found.setdefault(frozenset(n for n, _, _ in cycle), (name, cycle))

    for mask, name in ((WW | rt, "G0"), (WW | WR | rt, "G1c")):
        for part in graph.components(mask):
            inside = set(part)
            cycles = []
            for a in part[:ASKED]:
                for b, kinds in graph.out[a].items():
                    if b in inside and kinds & mask & ~RT:
                        back = graph.path(b, a, mask, inside)
                        if back is not None:
                            cycles.append([(a, b, first(kinds & mask)), *back])
            if cycles:
                keep(name, min(cycles, key=len))
    for part in graph.components(WW | WR | RW | rt):
        anti_dependencies(graph, set(part), rt, keep)
    return list(found.values())


def anti_dependencies(graph: Graph, inside: set[int], rt: int, keep) -> None:
    asked = 0
    for a in sorted(inside):
        for b, kinds in graph.out[a].items():
            if b not in inside or not kinds & RW or kinds & (WW | WR) or asked >= ASKED:
                continue
            asked += 1
            edge = (a, b, RW)
            if (back := graph.path(b, a, WW | WR | rt, inside)) is not None:
                name = "G-single"
            elif (back := graph.path_apart(b, a, WW | WR | RW | rt, inside)) is not None:
                name = "G-nonadjacent"
            elif (back := graph.path(b, a, WW | WR | RW | rt, inside)) is not None:
                name = "G2"
            else:
                continue
            cycle = [edge, *back]
            items = all((x, y) in graph.item_rw for x, y, k in cycle if k == RW)
            keep(name + ("-item" if items else "-predicate"), cycle)
