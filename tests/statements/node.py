"""The tree that a statement is made of, so that what is found can be made smaller without a parser."""

from __future__ import annotations

from collections.abc import Iterator


class Node:
    """Text and nodes. Kinds: `e` an expression, `q` a query, `o` what may be left out, `l` a list whose members may be left
    out (all but one), `x` anything else."""

    __slots__ = ("kind", "parts", "separator")

    def __init__(self, kind: str, *parts: str | Node, separator: str = ""):
        self.kind, self.parts, self.separator = kind, list(parts), separator

    def __str__(self) -> str:
        return self.separator.join(map(str, self.parts))

    def nodes(self) -> Iterator[Node]:
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.nodes()


def expr(*parts) -> Node:
    return Node("e", *parts)


def optional(*parts) -> Node:
    return Node("o", *parts)


def listed(members, separator: str = ", ") -> Node:
    return Node("l", *members, separator=separator)


def plain(*parts) -> Node:
    return Node("x", *parts)


CONSTANTS = ("NULL", "1", "'a'")


def below(node: Node, kind: str) -> Iterator[Node]:
    """The nearest nodes of that kind inside of it."""
    for part in node.parts:
        if isinstance(part, Node):
            if part.kind == kind:
                yield part
            else:
                yield from below(part, kind)


def _smaller_parts(node: Node) -> Iterator[list]:
    """Other contents of one node, the smallest first."""
    if node.kind == "o" and node.parts:
        yield []
    if node.kind == "l" and len(node.parts) > 1:
        half = len(node.parts) // 2
        if half > 1:
            yield node.parts[:half]
            yield node.parts[half:]
        for n in range(len(node.parts)):
            yield node.parts[:n] + node.parts[n + 1 :]
    if node.kind == "e" and (len(node.parts) > 1 or len(str(node)) > 6) and str(node) not in CONSTANTS:
        for constant in CONSTANTS:
            yield [constant]
        for child in below(node, "e"):
            yield child.parts
    if node.kind == "q" and len(str(node)) > 8:
        yield ["SELECT 1"]
        for child in below(node, "q"):
            yield child.parts


def shrink(root: Node, fails, budget: int = 300) -> int:
    """Makes the tree smaller in place as long as `fails()` stays true; returns the tries that are left."""
    progress = True
    while progress and budget > 0:
        progress = False
        for node in list(root.nodes()):
            old = node.parts
            for parts in list(_smaller_parts(node)):
                before = len(str(root))
                node.parts = parts
                if len(str(root)) < before or (parts and len(parts) < len(old)):
                    budget -= 1
                    if fails():
                        progress = True
                        break
                node.parts = old
                if budget <= 0:
                    return 0
            if progress:
                break
    return budget
