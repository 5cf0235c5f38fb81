#!/usr/bin/env python3
"""What MariaDB makes of operators beside each other: all pairs and triples of them, with operands that tell the ways apart
in which they can belong together. The answers are kept for `cargo test -p narwal-sql operators`.

    scripts/operator_answers.py --socket S > crates/sql/src/expr/operators.tsv

A line is the sql_mode's letter, the operators by their letters in `OPERATORS`, and the values for each set of operands
(N for NULL, ! and a number for an error). `crates/sql/src/expr/operator_tests.rs` builds the same expressions.
"""

import argparse

import pymysql

# The same list, in the same order, is in crates/sql/src/expr/operator_tests.rs.
OPERATORS = [
    ("or", "infix"),
    ("xor", "infix"),
    ("and", "infix"),
    ("=", "infix"),
    ("<", "infix"),
    ("<=>", "infix"),
    ("is null", "postfix"),
    ("is not true", "postfix"),
    ("between", "between"),
    ("not between", "between"),
    ("like", "infix"),
    ("not like", "infix"),
    ("regexp", "infix"),
    ("in (1,3)", "postfix"),
    ("not in (0,2)", "postfix"),
    ("|", "infix"),
    ("&", "infix"),
    ("<<", "infix"),
    ("+", "infix"),
    ("-", "infix"),
    ("*", "infix"),
    ("div", "infix"),
    ("%", "infix"),
    ("^", "infix"),
    ("||", "infix"),
    ("not", "prefix"),
    ("!", "prefix"),
    ("-", "prefix"),
    ("~", "prefix"),
    ("binary", "prefix"),
    ("collate utf8mb4_bin", "postfix"),
]

OPERANDS = [
    ["1", "0", "2", "1", "0", "3", "1"],
    ["2", "3", "1", "0", "1", "2", "0"],
    ["0", "1", "1", "2", "5", "1", "2"],
    ["0", "NULL", "1", "3", "2", "1", "1"],
    ["5", "2", "3", "1", "4", "0", "1"],
]

MODES = {"d": "", "h": "HIGH_NOT_PRECEDENCE", "p": "PIPES_AS_CONCAT"}


def build(operators, operands):
    """The text of an expression, or None where an operator would have nothing to stand behind."""
    values = iter(operands)
    out, open_ = [], True
    for word, kind in operators:
        if kind == "prefix":
            if not open_:
                return None
            out.append(word)
            continue
        if open_:
            out.append(next(values))
        out.append(word)
        if kind == "between":
            out += [next(values), "and"]
        open_ = kind != "postfix"
    if open_:
        out.append(next(values))
    return " ".join(out)


def letter(n):
    return chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)


def combinations():
    n = range(len(OPERATORS))
    for a in n:
        for b in n:
            yield "dhp", (a, b)
    # COLLATE and XOR stand for others of their kind in pairs alone.
    some = [i for i in n if OPERATORS[i][0] not in ("xor", "collate utf8mb4_bin", "||")]
    for a in some:
        for b in some:
            for c in some:
                yield "d", (a, b, c)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--socket", required=True)
    c = pymysql.connect(unix_socket=args.parse_args().socket, user="root", charset="utf8mb4")
    for mode, sql_mode in MODES.items():
        cursor = c.cursor()
        cursor.execute("SET sql_mode = %s", (sql_mode,))
        for modes, numbers in combinations():
            if mode not in modes:
                continue
            # MariaDB makes a constant that is too great for BIGINT a DECIMAL here: a matter of values, not of the tree.
            if any(OPERATORS[a] == ("-", "prefix") and OPERATORS[b][0] == "~" for a, b in zip(numbers, numbers[1:])):
                continue
            answers = []
            operators = [OPERATORS[n] for n in numbers]
            for operands in OPERANDS:
                text = build(operators, operands)
                if text is None:
                    break
                try:
                    cursor.execute("SELECT CAST((" + text + ") AS CHAR)")
                    (value,) = cursor.fetchone()
                    answers.append("N" if value is None else value)
                except pymysql.Error as e:
                    answers.append(f"!{e.args[0]}")
                    if e.args[0] == 1064:
                        break
            if answers:
                print(mode + "".join(map(letter, numbers)), *answers, sep="\t")


if __name__ == "__main__":
    main()
