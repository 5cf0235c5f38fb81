"""Test suites that other projects have for their own code, run on MariaDB and on Narwal."""
