"""The applications: where their tables and programs are, and how each is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from applications import mediawiki, php, phpmyadmin, wordpress
from applications.zabbix import serve


@dataclass(frozen=True)
class Application:
    about: str
    packages: list[str]
    # What its own installer feeds to the server, in order, below the unpacked packages. None if its program is its installer, too.
    files: list[str]
    # Statements that call its procedures and fire its triggers, the same on each server. Times are those of a TIMESTAMP that is set.
    uses: str = ""
    # Where its installer says itself what its database is called.
    database: str = ""
    # Runs a program of it: (the unpacked packages, its libraries, server, database, a folder, seconds) -> what it says, line by line.
    # A line with `complaint` in front is wrong on any server, one with `note` is told and not compared.
    program: object = None
    # Packages of libraries that the program needs.
    libraries: list[str] = field(default_factory=list)
    # A dump of it without what is other each time it is installed.
    settled: Callable[[str], str] | None = None


RADIUS = "etc/freeradius/3.0/mods-config/sql"
RADIUS_USES = """
SET TIMESTAMP = 1700000000;
INSERT INTO radippool (pool_name, framedipaddress, expiry_time) VALUES ('main', '10.0.0.1', '2023-01-01'), ('main', '10.0.0.2', '2023-01-02');
CALL fr_allocate_previous_or_new_framedipaddress('main', 'ann', 'aa:bb', 'cc:dd', '192.0.2.1', 'key 1', 3600);
CALL fr_allocate_previous_or_new_framedipaddress('main', 'bob', 'aa:bc', 'cc:dd', '192.0.2.1', 'key 2', 3600);
CALL fr_allocate_previous_or_new_framedipaddress('main', 'ann', 'aa:bb', 'cc:dd', '192.0.2.1', 'key 1', 7200);
CALL fr_allocate_previous_or_new_framedipaddress('main', 'cyd', 'aa:bd', 'cc:dd', '192.0.2.1', 'key 3', 3600);
SELECT * FROM radippool ORDER BY id;
INSERT INTO radacct (acctsessionid, acctuniqueid, username, nasipaddress, acctstarttime, acctupdatetime, acctstoptime, acctinputoctets, acctoutputoctets)
  SELECT seq, seq, CONCAT('user ', seq % 3), '192.0.2.1', NOW() - INTERVAL seq MINUTE, NOW() - INTERVAL seq SECOND, IF(seq % 2, NOW() - INTERVAL seq SECOND, NULL), seq, 2 * seq FROM seq_1_to_50;
CALL fr_new_data_usage_period();
SET TIMESTAMP = 1700003600;
UPDATE radacct SET acctinputoctets = acctinputoctets + 1000 WHERE acctstoptime IS NULL;
CALL fr_new_data_usage_period();
SELECT * FROM data_usage_by_period ORDER BY username, period_start;
INSERT INTO nasreload (nasipaddress, reloadtime) VALUES ('192.0.2.1', NOW());
CALL fr_radacct_close_after_reload();
SELECT radacctid, acctstoptime, acctsessiontime, acctterminatecause FROM radacct ORDER BY radacctid;
"""
DHCP_USES = """
SET TIMESTAMP = 1700000000;
INSERT INTO dhcpippool (pool_name, framedipaddress, expiry_time) VALUES ('local', '10.0.1.1', '2023-01-01'), ('local', '10.0.1.2', '2023-01-02');
CALL fr_dhcp_allocate_previous_or_new_framedipaddress('local', '192.0.2.9', 'aa:bb', 60, '');
CALL fr_dhcp_allocate_previous_or_new_framedipaddress('local', '192.0.2.9', 'aa:bb', 60, '10.0.1.1');
CALL fr_dhcp_allocate_previous_or_new_framedipaddress('local', '192.0.2.9', 'aa:cc', 60, '10.0.1.2');
CALL fr_dhcp_allocate_previous_or_new_framedipaddress('local', '192.0.2.9', 'aa:dd', 60, '');
SELECT * FROM dhcpippool ORDER BY id;
"""
# Times of its own triggers are NOW(), too.
ZONEMINDER_USES = """
SET TIMESTAMP = 1700000000;
INSERT INTO Monitors (Id, Name, StorageId) VALUES (1, 'door', 0), (2, 'gate', 0);
INSERT INTO Zones (MonitorId, Name, Coords) VALUES (1, 'all', '0,0 1,1'), (1, 'half', '0,0 1,1'), (2, 'all', '0,0 1,1');
INSERT INTO Events (Id, MonitorId, StorageId, StateId, Name, StartDateTime, DiskSpace, Archived, Notes)
  SELECT seq, 1 + seq % 2, 0, 1, CONCAT('event ', seq), NOW(), seq * 10, 0, '' FROM seq_1_to_40;
UPDATE Events SET DiskSpace = DiskSpace + 5 WHERE Id % 3 = 0;
UPDATE Events SET Archived = 1 WHERE Id % 5 = 0;
UPDATE Events SET Archived = 0 WHERE Id = 10;
DELETE FROM Events WHERE Id % 4 = 0;
DELETE FROM Zones WHERE Name = 'half';
SELECT * FROM Event_Summaries ORDER BY MonitorId;
SELECT Id, ZoneCount FROM Monitors ORDER BY Id;
SELECT Id, DiskSpace FROM Storage ORDER BY Id;
SELECT * FROM Events_Hour ORDER BY EventId;
SELECT * FROM Events_Archived ORDER BY EventId;
"""

APPLICATIONS = {
    "zabbix": Application(
        "monitoring: its server is started on the database",
        ["zabbix-server-mysql"],
        [f"usr/share/zabbix-server-mysql/{name}.sql.gz" for name in ("schema", "images", "data", "double", "history_pk_prepare")],
        program=serve,
        libraries=["libodbc2", "libsnmp40", "libopenipmi0", "libltdl7"],
    ),
    "zoneminder": Application(
        "cameras: triggers keep sums of events", ["zoneminder"], ["usr/share/zoneminder/db/zm_create.sql"], ZONEMINDER_USES, "zm"
    ),
    "freeradius": Application(
        "logins: procedures give addresses and close sessions",
        ["freeradius-config"],
        [f"{RADIUS}/{name}.sql" for name in ("main/mysql/schema", "main/mysql/process-radacct", "ippool/mysql/schema", "ippool/mysql/procedure",
                                             "cui/mysql/schema", "moonshot-targeted-ids/mysql/schema", "main/mysql/extras/wimax/schema")],
        RADIUS_USES,
    ),
    "freeradius-simple": Application(
        "its procedure without FOR UPDATE SKIP LOCKED",
        ["freeradius-config"],
        [f"{RADIUS}/{name}.sql" for name in ("main/mysql/schema", "main/mysql/process-radacct", "ippool/mysql/schema", "ippool/mysql/procedure-no-skip-locked")],
        # It takes no name of who called.
        RADIUS_USES.replace("'cc:dd', ", ""),
    ),
    "freeradius-dhcp": Application(
        "its procedure for DHCP",
        ["freeradius-config"],
        [f"{RADIUS}/{name}.sql" for name in ("dhcp/mysql/schema", "ippool-dhcp/mysql/schema", "ippool-dhcp/mysql/procedure")],
        DHCP_USES,
    ),
    "mediawiki": Application(
        "MediaWiki by its own installer, used by its maintenance programs and its API",
        ["mediawiki", "mediawiki-classes"],
        [],
        program=mediawiki.use,
        libraries=php.PACKAGES,
        settled=mediawiki.settled_dump,
    ),
    "wordpress": Application(
        "WordPress by its own functions: posts, people, comments, queries, upgrades of its tables",
        ["wordpress", "php-getid3", "wordpress-theme-twentytwentythree"],
        [],
        program=wordpress.use,
        libraries=php.PACKAGES,
        settled=wordpress.settled,
    ),
    "phpmyadmin": Application(
        "phpMyAdmin's pages, seen and sent in PHP's web server",
        phpmyadmin.PACKAGES,
        [],
        database="shop",
        program=phpmyadmin.use,
        libraries=php.PACKAGES,
        settled=phpmyadmin.settled,
    ),
    "cacti": Application("graphs of networks", ["cacti"], ["usr/share/doc/cacti/cacti.sql"]),
    "roundcube": Application("mail in a browser", ["roundcube-core"], ["usr/share/roundcube/SQL/mysql.initial.sql"]),
}  # fmt: skip


