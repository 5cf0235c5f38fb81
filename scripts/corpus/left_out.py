"""What of the corpus is not run: what would end or harm servers, reach files outside of the run's folder, or take for ever."""

from __future__ import annotations

import re

from corpus.values import FOLDER

# A path that is absolute or climbs, and is not in the run's own folder.
_OUTSIDE = rf"""['"](?!{FOLDER})(/|[^'"]*\.\./)"""

STATEMENTS = re.compile(
    rf"""^\s*(shutdown|install\s|uninstall\s|kill\s+(query\s+|connection\s+|hard\s+|soft\s+)*(user\b|\d))
    | \b(outfile|dumpfile|infile|load_file\s*\(|directory\s*=?)\s*{_OUTSIDE}
    | \bsoname\b
    | \b(sleep\s*\(\s*\d{{2,}}|benchmark\s*\(\s*\d{{7,}})
    | \bset\s.*\b(debug|debug_dbug|debug_sync|innodb_fast_shutdown|general_log_file|slow_query_log_file)\b
    | \b(change\s+master|start\s+(all\s+)?(slave|replica)|stop\s+(all\s+)?(slave|replica)|start\s+group_replication)
    | \bcall\s+mtr\.
    | \bmaster_(pos|gtid)_wait\s*\(""",
    re.I | re.X | re.S,
)

# Included files that restart servers, wait for what a run without mysqltest's harness never has, or build other servers.
INCLUDES = re.compile(
    r"(restart_mysqld|kill_mysqld|shutdown_mysqld|start_mysqld|crash_mysqld|expect_crash|wait_until_|kill_and_restart|"
    r"master-slave|rpl_|sync_with|wait_for_slave|wait_for_binlog|mysql_upgrade|mysqldump|load_dump|count_sessions|diff_tables|"
    r"search_pattern|write_var_to_file|wait_for_log|log_grep|log_slow_grep|galera|federated|add_suppression)"
)

# Files that are about a program of theirs, or that need a debug server.
NEEDS = re.compile(r"source\s+include/(have_debug|have_debug_sync|master-slave|galera_cluster|have_wsrep|not_valgrind_x|federated)\b", re.I)


def statement(text: str) -> bool:
    # What is to be left out says so early, and some texts are very long.
    return bool(STATEMENTS.search(text[:3000]))


def include(path: str) -> bool:
    return bool(INCLUDES.search(path.rsplit("/", 1)[-1]))
