"""Statements at random over the whole SQL front door: `./fuzz statements`.

`node.py` is the tree that statements are made of, `values.py`, `expressions.py`, `tables.py`, `selects.py`, `changes.py` and
`control.py` make them, `watch.py` runs the servers and sees what happens to them, `oracles.py` says what is wrong, `minimise.py`
makes it small, `known.py` names what is documented, `run.py` is the word.
"""
