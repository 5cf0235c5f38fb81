"""Rows of the binary protocol as the text protocol would show them."""

from __future__ import annotations

import struct

from packets import string

FIXED = {1: "b", 2: "h", 13: "h", 3: "i", 9: "i", 8: "q", 4: "f", 5: "d"}
UNSIGNED = 32


def moment(p: bytes, decimals: int, day: bool) -> str:
    year, month, date, hour, minute, second, micro = 0, 0, 0, 0, 0, 0, 0
    if len(p) >= 4:
        year, month, date = struct.unpack_from("<HBB", p)
    if len(p) >= 7:
        hour, minute, second = p[4:7]
    if len(p) >= 11:
        micro = struct.unpack_from("<I", p, 7)[0]
    text = f"{year:04}-{month:02}-{date:02}"
    return text if day else f"{text} {hour:02}:{minute:02}:{second:02}" + fraction(micro, decimals)


def fraction(micro: int, decimals: int) -> str:
    return f".{micro:06}"[: decimals + 1] if 0 < decimals <= 6 else ""


def number(c, value) -> str:
    """As the column shows it: the binary form has all digits."""
    if c.type == 13:
        return f"{value:04}"
    if c.type in (4, 5) and c.decimals < 31:
        return f"{value:.{c.decimals}f}"
    return f"{value:.6g}" if c.type == 4 else str(value)


def clock(p: bytes, decimals: int) -> str:
    if not p:
        return "00:00:00" + fraction(0, decimals)
    sign, days, hour, minute, second = struct.unpack_from("<BIBBB", p)
    micro = struct.unpack_from("<I", p, 8)[0] if len(p) > 8 else 0
    return f"{'-' if sign else ''}{days * 24 + hour:02}:{minute:02}:{second:02}" + fraction(micro, decimals)


def decoded(columns, p: bytes) -> tuple:
    nulls, at, out = p[1:], 1 + (len(columns) + 9) // 8, []
    for n, c in enumerate(columns):
        if nulls[(n + 2) // 8] >> (n + 2) % 8 & 1:
            out.append(None)
        elif c.type in FIXED:
            form = FIXED[c.type]
            form = form.upper() if c.flags & UNSIGNED and c.type not in (4, 5) else form
            value = struct.unpack_from("<" + form, p, at)[0]
            at += struct.calcsize(form)
            out.append(number(c, value).encode())
        elif c.type in (7, 10, 12):
            length = p[at]
            out.append(moment(p[at + 1 : at + 1 + length], c.decimals, c.type == 10).encode())
            at += 1 + length
        elif c.type == 11:
            length = p[at]
            out.append(clock(p[at + 1 : at + 1 + length], c.decimals).encode())
            at += 1 + length
        else:
            value, at = string(p, at)
            out.append(value)
    assert at == len(p), "a binary row that does not end where its columns do"
    return tuple(out)
