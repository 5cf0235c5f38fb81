"""What the benchmark, the crash torture and the fault tests share: servers in throw-away folders and the sync shim.

Standard library only, so that `./bench` runs on a bare Debian with nothing from PyPI.
"""
