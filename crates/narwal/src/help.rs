//! What `--help` says.

pub const MAIN: &str = "\
narwal: a MySQL-protocol database whose binary log is its write-ahead log

usage:
  narwal serve [options]           run a server in the foreground
  narwal binlog [DIR] [options]    print a data folder's log: SQL, JSON lines, raw events; undo a part of it
  narwal binlog export OUTDIR      write the log as classic binary log files
  narwal binlog import FILES       take classic binary log files of MariaDB or MySQL into a new data folder
  narwal stream [DIR] [options]    changes of rows as JSON lines, as they happen, of a data folder or of a server
  narwal diverge --from=HOST       where this server's history and another's part, what only this one has
  narwal rejoin --from=HOST        take that back, and follow the other server again
  narwal promote --servers=A,B,C   make one of several servers the primary, the others its replicas
  narwal replica --from HOST       make a replica of a running Narwal or MariaDB, in one step
  narwal archive list|verify|fetch what a server has archived of its log, in a folder or a bucket
  narwal backup --to=DIR           copy a running server's data, whole or what has changed; narwal backup verify DIR
  narwal restore --from=DIR        a data folder out of a backup, as of its end or of another moment
  narwal check DIR                 verify a stopped server's data folder: log, tables, indexes
  narwal repair DIR                make a damaged data folder whole again, with its log, a backup, a replica
  narwal verify-log [options]      check every record of a stopped server's log
  narwal rotate-key [options]      change the keys of an encrypted data folder
  narwal encrypt, narwal decrypt   encrypt a plain data folder, or the other way round
  narwal COMMAND --help            more about a command
  narwal --version

A server to try:
  narwal serve --datadir ./narwal-data
  mariadb --protocol=tcp -u root
";

pub const SERVE: &str = "\
usage: narwal serve [options]

Runs a server in the foreground until SIGTERM or SIGINT (Ctrl-C). The data folder is made at the first start, with
the accounts root@localhost, root@127.0.0.1 and root@::1, which have no password: set one before you listen elsewhere.

  --datadir=DIR             data folder (default ./narwal-data); one server at a time
  --port=N                  TCP port (default 3306); 0 takes a free one
  --bind-address=ADDR       address to listen on (default 127.0.0.1; 0.0.0.0 or * or :: for all)
  --socket=PATH             Unix socket (default DIR/narwal.sock); empty for none
  --skip-networking         no TCP at all
  --narwal-dialect=mysql    shows a MySQL 8.4 instead of a MariaDB 10.11; see docs/mysql-face.md
  --narwal-mysql-port=N, --narwal-mysql-socket=PATH
                            a further port or socket, whose clients meet MySQL (also narwal-mariadb-port, -socket)
  --config=FILE             option file (also --defaults-file); see below
  --ssl-cert=F, --ssl-key=F certificate chain and key, PEM (default: self-signed, made in DIR at the first start)
  --ssl-ca=F, --ssl-crl=F   who signs clients' certificates, which are revoked, PEM
  --require-secure-transport  TCP with TLS only
  --skip-ssl                no TLS
  --encryption-key-file=F   encrypt everything in DIR (file-key-management-filename is the same); see docs/encryption.md
  --accept-log-loss         start though a part of the log is damaged or missing, and give up what it held; for one
                            start after a refusal, see docs/log-format.md
  --log-level=LEVEL         error, warn, info (default), debug, trace; or the environment variable NARWAL_LOG

Every system variable is an option too, by MariaDB's name, with - or _ between the words; sizes take K, M, G, T:
  --innodb-flush-log-at-trx-commit=1   1: synced before OK; 2: written; 0: neither (both synced once a second)
  --innodb-buffer-pool-size=1G         memory for pages and recent changes together
  --max-connections=500
  --narwal-archive-url=URL             ship the log to file:///dir or s3://bucket/prefix; see docs/archive.md
  --wait-timeout=600
SHOW VARIABLES lists them with their values, SET GLOBAL changes the dynamic ones in a running server.

An option file holds the same names, one a line, without --; the sections [narwal], [mysqld], [mariadb] and [server]
are read. Options of the command line win. `loose-` in front of a name lets a server that doesn't know it start:
  [narwal]
  datadir = /var/lib/narwal
  innodb_buffer_pool_size = 4G
";

pub const EXPORT: &str = "\
usage: narwal export-binlog --datadir=DIR [--out=FILE]

The former name of narwal binlog --raw (one file) and narwal binlog export (the files as they are). Writes the event groups in a data folder's log as one classic binary log file, which mariadb-binlog and other tools read. GTIDs, checksums and transaction boundaries are those that replicas see.

  --datadir=DIR   data folder (default ./narwal-data)
  --out=FILE      the file to write (default: standard output)
  --encryption-key-file=FILE   key file of an encrypted data folder
  --from=GTID     leave out everything up to and including this GTID (domain-server-sequence)

  narwal export-binlog --datadir=DIR --out=narwal-bin.000001 && mariadb-binlog -v narwal-bin.000001
";

pub const VERIFY: &str = "\
usage: narwal verify-log --datadir=DIR

Reads every record in the log of a stopped server and checks its checksum, its place and its events. Damage is named by
file and byte offset; the exit status is then 1. A torn tail, which a crash leaves, is no damage.

  --datadir=DIR   data folder (default ./narwal-data)
  --encryption-key-file=FILE   key file of an encrypted data folder
";

pub const KEYS: &str = "\
usage: narwal rotate-key --datadir=DIR --encryption-key-file=FILE [--new-data-key]
       narwal encrypt    --datadir=DIR --encryption-key-file=FILE
       narwal decrypt    --datadir=DIR --encryption-key-file=FILE

The key file holds master keys, one a line: a number, a semicolon and 64 hex digits. The highest number is used:
  echo \"1;$(openssl rand -hex 32)\" > FILE; chmod 600 FILE

rotate-key wraps the data folder's own key with the newest master key; after that the older ones are not needed. With
--new-data-key it also makes a new key of its own and encrypts every file anew. encrypt and decrypt do the same to a
plain folder and back. The server must be stopped. Interrupted, the same command goes on where it was.
";
