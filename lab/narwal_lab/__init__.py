"""The lab: experiments that show Narwal, its classic commit path, MariaDB and MySQL side by side on one machine.

Start at `cli.py` (what a person types) or `experiment.py` (how an experiment is written); docs/lab.md is the manual.
"""
