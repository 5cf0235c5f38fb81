"""Who may come in: rules for passwords, failed logins, locks, expiry, certificates, the audit log, and secrets that stay
secret; beside MariaDB where it can be asked."""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
import subprocess
import threading
from pathlib import Path

import pymysql
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from support import wait_until

EXPIRED_CAP = 1 << 22


def login(server, user="root", password="", cert=None, tls=False, folder=None, tcp=False, **options):
    if tls or cert:
        context = ssl.create_default_context(cafile=folder / "ca.pem")
        context.check_hostname = False
        if cert:
            context.load_cert_chain(folder / f"{cert}.pem", folder / f"{cert}.key")
        options["ssl"] = context
    else:
        options["ssl_disabled"] = True
    if tcp or tls or cert:
        options |= {"host": "127.0.0.1", "port": server.port}
    else:
        options["unix_socket"] = str(server.socket)
    return pymysql.connect(user=user, password=password, autocommit=True, connect_timeout=30, **options)


def run(connection, sql):
    """Rows, or the error's code."""
    with connection.cursor() as c:
        try:
            c.execute(sql)
            return tuple(c.fetchall())
        except pymysql.MySQLError as e:
            return e.args[0]


def refused(*args, **options):
    """The code that a login is refused with; None if it isn't."""
    try:
        login(*args, **options).close()
    except pymysql.MySQLError as e:
        return e.args[0]
    return None


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    now = datetime.datetime(2024, 1, 1)

    def name(**parts):
        return x509.Name([x509.NameAttribute(getattr(NameOID, k), v) for k, v in parts.items()])

    def make(file, subject, issuer=None, signer=None, ca=False):
        key = ec.generate_private_key(ec.SECP256R1())
        cert = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now)
            .not_valid_after(now + datetime.timedelta(days=36500))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
            .sign(signer or key, hashes.SHA256())
        )
        (folder / f"{file}.pem").write_bytes(cert.public_bytes(serialization.Encoding.PEM))
        (folder / f"{file}.key").write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )
        return key

    ca = name(COUNTRY_NAME="DE", ORGANIZATION_NAME="Test Org", COMMON_NAME="Test CA")
    key = make("ca", ca, ca=True)
    make("server", name(COMMON_NAME="localhost"), ca, key)
    make("client", name(COUNTRY_NAME="DE", ORGANIZATION_NAME="Narwal, Inc", COMMON_NAME="Jürgen"), ca, key)
    make("other", name(COMMON_NAME="other"), ca, key)
    make("stranger", name(COMMON_NAME="stranger"))
    return folder


SUBJECT = "/C=DE/O=Narwal, Inc/CN=J\\\\xC3\\\\xBCrgen"
ISSUER = "/C=DE/O=Test Org/CN=Test CA"


@pytest.fixture(params=["narwal", "mariadb"])
def server(request, lab, certificates):
    """A fresh server with certificates."""
    args = [f"--ssl-ca={certificates}/ca.pem", f"--ssl-cert={certificates}/server.pem", f"--ssl-key={certificates}/server.key"]
    if request.param == "narwal":
        args += ["--connection-control-failed-connections-threshold=0"]
    s = getattr(lab, request.param)(args)
    yield s
    lab.remove(s)


def test_passwords(server):
    root = login(server)
    assert run(root, "INSTALL SONAME 'simple_password_check'") == ()
    for name in ("digits", "letters_same_case", "other_characters"):
        run(root, f"SET GLOBAL simple_password_check_{name}=1")
    run(root, "SET GLOBAL simple_password_check_minimal_length=2")
    assert run(root, "SELECT @@simple_password_check_minimal_length") == ((4,),)
    run(root, "SET GLOBAL simple_password_check_minimal_length=8")
    run(root, "SET GLOBAL strict_password_validation=1")
    native = "*B69027D44F6E5EDC07F1AEAD1477967B16F28227"
    for sql, want in [
        ("CREATE USER a IDENTIFIED BY 'short'", 1819),
        ("CREATE USER a IDENTIFIED BY 'LONGENOUGH1!'", 1819),
        ("CREATE USER a IDENTIFIED BY ''", 1819),
        ("CREATE USER a", 1819),
        (f"CREATE USER a IDENTIFIED BY PASSWORD '{native}'", 1290),
        ("CREATE USER a IDENTIFIED VIA mysql_native_password USING PASSWORD('short')", 1819),
        ("CREATE USER a IDENTIFIED BY 'Longenough1!'", ()),
        ("CREATE USER `Zz12345!x` IDENTIFIED BY 'Zz12345!'", 1819),
        ("SET PASSWORD FOR a=PASSWORD('x')", 1819),
        (f"SET PASSWORD FOR a='{native}'", 1290),
        ("ALTER USER a IDENTIFIED BY 'x'", 1396),
        ("GRANT USAGE ON *.* TO a IDENTIFIED BY 'x'", 1819),
        ("SET GLOBAL strict_password_validation=0", ()),
        (f"SET PASSWORD FOR a='{native}'", ()),
        ("UNINSTALL SONAME 'simple_password_check'", ()),
        ("ALTER USER a IDENTIFIED BY 'x'", ()),
        ("INSTALL PLUGIN simple_password_check SONAME 'simple_password_check'", ()),
        ("INSTALL PLUGIN simple_password_check SONAME 'simple_password_check.so'", 1968),
        ("INSTALL SONAME 'simple_password_check'", ()),
        ("ALTER USER a IDENTIFIED BY 'x'", 1396),
        ("UNINSTALL PLUGIN nosuch", 1305),
        ("INSTALL SONAME 'nosuch'", 1126),
    ]:
        assert run(root, sql) == want, sql
    run(root, "ALTER USER a IDENTIFIED BY 'short'")
    texts = [row[2] for row in run(root, "SHOW WARNINGS") if row[0] == "Warning"]
    assert texts[0] == "simple_password_check: Too short password (< 8)", texts


def test_wrong_passwords_block(server):
    root = login(server)
    run(root, "CREATE USER b IDENTIFIED BY 'p'")
    run(root, "SET GLOBAL max_password_errors=2")

    def tries(*passwords):
        return [refused(server, "b", p) for p in passwords]

    assert tries("x", "p", "x", "x", "p") == [1045, None, 1045, 1045, 4150]
    run(root, "ALTER USER b ACCOUNT UNLOCK")
    assert tries("p", "x", "x", "x") == [None, 1045, 1045, 4150]
    run(root, "FLUSH PRIVILEGES")
    assert tries("p") == [None]
    assert [refused(server, "root", "x") for _ in range(3)] + [refused(server)] == [1045, 1045, 1045, None]


def test_locks_and_expiry(server):
    root = login(server)
    run(root, "CREATE USER l IDENTIFIED BY 'p' ACCOUNT LOCK")
    assert [refused(server, "l", "p"), refused(server, "l", "q")] == [4151, 1045]
    run(root, "CREATE USER e IDENTIFIED BY 'p' PASSWORD EXPIRE")
    run(root, "CREATE USER e2")
    c = login(server, "e", "p", client_flag=EXPIRED_CAP)
    for sql, want in [
        ("SELECT 1", 1820),
        ("SET @a=1", ()),
        ("USE mysql", 1820),
        ("SET PASSWORD FOR e2=PASSWORD('z')", 1820),
        ("ALTER USER e IDENTIFIED BY 'p'", 1820),
        ("SET STATEMENT max_statement_time=1 FOR SELECT 1", 1820),
        ("PREPARE s FROM 'SELECT 1'", 1820),
        ("nonsense", 1064),
        ("SET PASSWORD=PASSWORD('p2')", ()),
        ("SELECT 1", ((1,),)),
    ]:
        assert run(c, sql) == want, sql
    run(root, "ALTER USER e PASSWORD EXPIRE")
    run(root, "SET GLOBAL disconnect_on_expired_password=1")
    assert [refused(server, "e", "p2"), refused(server, "e", "p2", client_flag=EXPIRED_CAP)] == [1862, None]
    run(root, "ALTER USER e PASSWORD EXPIRE INTERVAL 1 DAY")
    run(root, "SET timestamp=unix_timestamp()-90000")
    run(root, "SET PASSWORD FOR e=PASSWORD('p')")
    run(root, "SET timestamp=DEFAULT")
    assert refused(server, "e", "p") == 1862
    run(root, "ALTER USER e PASSWORD EXPIRE NEVER")
    assert refused(server, "e", "p") is None
    run(root, "ALTER USER e PASSWORD EXPIRE DEFAULT")
    run(root, "SET GLOBAL default_password_lifetime=1")
    assert refused(server, "e", "p") == 1862


FORMS = [
    "CREATE USER u REQUIRE X509",
    "CREATE USER u REQUIRE SUBJECT '/CN=a' AND ISSUER '/CN=b' CIPHER 'X'",
    "CREATE USER u REQUIRE SSL ACCOUNT LOCK PASSWORD EXPIRE",
    "CREATE USER u PASSWORD EXPIRE INTERVAL 5 DAY ACCOUNT LOCK",
    "ALTER USER u PASSWORD EXPIRE",
    "ALTER USER u REQUIRE NONE ACCOUNT UNLOCK",
    "ALTER USER u IDENTIFIED BY 'n' PASSWORD EXPIRE NEVER",
    "GRANT SELECT ON *.* TO u REQUIRE SUBJECT '/CN=s'",
    "CREATE USER u REQUIRE SUBJECT 'a' SUBJECT 'b'",
    "CREATE USER u PASSWORD EXPIRE INTERVAL 0 DAY",
    "CREATE USER u ACCOUNT LOCK ACCOUNT LOCK",
]


def test_a_dropped_accounts_session_keeps_its_global_privileges(server):
    root = login(server)
    for sql in ("CREATE USER u@localhost", "GRANT CREATE USER ON *.* TO u@localhost", "CREATE DATABASE d", "CREATE TABLE d.t (a INT)",
                "GRANT SELECT ON d.* TO u@localhost"):  # fmt: skip
        assert run(root, sql) == ()
    session = login(server, "u")
    assert run(session, "CREATE ROLE r1") == () and run(session, "SELECT * FROM d.t") == ()
    assert run(root, "DROP USER u@localhost") == ()
    assert run(session, "CREATE ROLE r2") == ()
    assert run(session, "SELECT * FROM d.t") == 1142
    assert run(session, "SELECT CURRENT_USER()") == (("u@localhost",),)
    assert refused(server, "u") == 1045


def test_current_role_in_a_list_opens_no_door(server):
    """CURRENT_ROLE can't be made; those beside it still want CREATE USER."""
    root = login(server)
    for sql in ("CREATE ROLE kept", "GRANT SELECT ON mysql.* TO kept", "CREATE USER nobody_much@localhost"):
        assert run(root, sql) == ()
    session = login(server, "nobody_much")
    for sql in ("CREATE ROLE CURRENT_ROLE, mine", "CREATE OR REPLACE ROLE CURRENT_ROLE, kept", "DROP ROLE CURRENT_ROLE, kept"):
        assert run(session, sql) in (1227, 1396), sql
    grants = run(root, "SHOW GRANTS FOR kept")
    assert any("SELECT" in g for (g,) in grants)
    assert run(root, "DROP ROLE mine") == 1396
    assert run(root, "DROP ROLE kept") == () and run(root, "DROP USER nobody_much@localhost") == ()


def test_forms_are_shown_as_mariadb_shows_them(lab):
    servers = [lab.narwal([]), lab.mariadb([])]
    answers = []
    for s in servers:
        c = login(s)
        got = []
        for sql in FORMS:
            if sql.startswith("CREATE"):
                run(c, "DROP USER IF EXISTS u")
            got.append((sql, run(c, sql), run(c, "SHOW CREATE USER u"), run(c, "SHOW GRANTS FOR u"),
                        run(c, "SELECT ssl_type, ssl_cipher, x509_issuer, x509_subject, password_expired FROM mysql.user WHERE user='u'"),
                        run(c, "SELECT coalesce(json_value(priv,'$.ssl_type'),'0'), coalesce(json_value(priv,'$.x509_subject'),'') FROM mysql.global_priv WHERE user='u'")
                        if "REQUIRE" in sql else None))
        answers.append(got)
    for ours, theirs in zip(*answers):
        assert ours == theirs
    # They outlive the server.
    before = run(login(servers[0]), "SHOW CREATE USER u")
    servers[0].stop()
    servers[0].start()
    assert run(login(servers[0]), "SHOW CREATE USER u") == before


def test_certificates(server, certificates):
    root = login(server)

    def tries(**options):
        return refused(server, "x", folder=certificates, **options)

    for require, client, other, bare in [
        ("X509", None, None, 1045),
        (f"ISSUER '{ISSUER}'", None, None, 1045),
        (f"SUBJECT '{SUBJECT}'", None, 1045, 1045),
        (f"SUBJECT '{SUBJECT}' AND ISSUER '{ISSUER}'", None, 1045, 1045),
        ("SUBJECT '/C=DE'", 1045, 1045, 1045),
        ("CIPHER 'X'", 1045, 1045, 1045),
        ("SSL", None, None, None),
    ]:
        run(root, f"CREATE OR REPLACE USER x REQUIRE {require}")
        got = [tries(cert="client"), tries(cert="other"), tries(tls=True), tries(), tries(tcp=True)]
        assert got == [client, other, bare, 1045, 1045], require
    assert tries(cert="stranger") in (2013, 2006)
    # The mariadb client, too.
    run(root, f"CREATE OR REPLACE USER x REQUIRE SUBJECT '{SUBJECT}'")
    out = subprocess.run(
        ["mariadb", "--no-defaults", "-ux", "-h127.0.0.1", f"-P{server.port}", f"--ssl-ca={certificates}/ca.pem",
         f"--ssl-cert={certificates}/client.pem", f"--ssl-key={certificates}/client.key", "-NBe", "select current_user()"],
        capture_output=True, text=True,
    )
    assert out.stdout.strip() == "x@%", out.stderr
    run(root, "SET GLOBAL require_secure_transport=1")
    run(root, "CREATE USER plain")
    secure = {"folder": certificates, "tls": True}
    assert [refused(server, "plain", tcp=True), refused(server, "plain"), refused(server, "plain", **secure)] == [1045, None, None]


def test_delays_hold_up_nobody_else(lab):
    server = lab.narwal(["--connection-control-failed-connections-threshold=1", "--max-connections=10",
                         "--connection-control-min-connection-delay=60000", "--connection-control-max-connection-delay=60000"])
    root = login(server)
    run(root, "CREATE USER d IDENTIFIED BY 'p'")
    assert refused(server, "d", "x") == 1045
    threads = [threading.Thread(target=refused, args=(server, "d", "x"), daemon=True) for _ in range(30)]
    for n, t in enumerate(threads, 1):
        t.start()
        delayed = "SHOW STATUS LIKE 'Connection_control_delay_generated'"
        wait_until(lambda: run(root, delayed)[0][1] == str(n), seconds=20)  # noqa: B023
    # The thirty have no place among the ten connections.
    for _ in range(5):
        assert refused(server) is None
    assert all(t.is_alive() for t in threads)


SECRET = "Tops3cretW0rd"

SECRET_FORMS = [
    "CREATE USER s1 IDENTIFIED BY '{}'",
    "CREATE USER s2 IDENTIFIED VIA mysql_native_password USING PASSWORD('{}')",
    "CREATE USER s3 IDENTIFIED WITH caching_sha2_password BY '{}'",
    "/*!50000 CREATE USER s4 IDENTIFIED BY '{}' */",
    "SET STATEMENT max_statement_time=100 FOR CREATE USER s5 IDENTIFIED BY '{}'",
    "ALTER USER s1 IDENTIFIED BY '{}'",
    "GRANT SELECT ON *.* TO s1 IDENTIFIED BY '{}'",
    "SET PASSWORD FOR s1 = PASSWORD('{}')",
    "PREPARE p FROM 'CREATE USER s6 IDENTIFIED BY ''{}'''",
    "EXECUTE p",
    "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_USER='r', MASTER_PASSWORD='{}x y'",
    "CREATE USER s7 IDENTIFEID BY '{}'",
    "CREATE USER s8 IDENTIFIED BY '{}' oops",
    "CREATE USER s8 IDENTIFIED BY '{}",
    "SELECT SLEEP(0), PASSWORD('{}')",
    "SELECT AES_ENCRYPT('x', '{}')",
    "DROP USER s1 /* password {} */",
]


def test_secrets_stay_secret(lab):
    server = lab.narwal(["--server-audit-logging=ON"])
    c = login(server)
    for form in SECRET_FORMS:
        run(c, form.format(SECRET) if "MASTER" not in form else form.format("other"))
    # While a statement runs.
    slow = threading.Thread(target=run, args=(login(server), f"SELECT SLEEP(3), PASSWORD('{SECRET}')"))
    slow.start()
    wait_until(lambda: any("SLEEP" in str(r) for r in run(c, "SHOW FULL PROCESSLIST")), seconds=10)
    for sql in ("SHOW FULL PROCESSLIST", "SELECT * FROM information_schema.processlist", "SHOW BINLOG EVENTS"):
        shown = str(run(c, sql))
        assert SECRET not in shown.replace(f"PASSWORD('{SECRET}')", "") and SECRET not in shown, sql
    slow.join()
    server.stop()
    for f in server.folder.rglob("*"):
        if f.is_file():
            assert SECRET.encode() not in f.read_bytes(), f


def test_audit_log(lab):
    server = lab.narwal(["--server-audit-logging=ON", "--server-audit-events=CONNECT,QUERY_DDL,QUERY_DCL"])
    c = login(server)
    for sql in ["CREATE DATABASE a", "CREATE TABLE a.t (a INT)", "INSERT INTO a.t VALUES (1)", "CREATE USER u IDENTIFIED BY 'hush'",
                "CREATE TABLE a.t (a INT)", "PREPARE p FROM 'DROP TABLE a.t'", "EXECUTE p"]:
        run(c, sql)
    refused(server, "u", "wrong")
    refused(server, "nobody", "wrong")
    c.close()
    path = Path(run(login(server), "SHOW STATUS LIKE 'Server_audit_current_log'")[0][1])

    def lines():
        return [json.loads(line) for line in path.read_text().splitlines()]

    wait_until(lambda: any(x["event"] == "disconnect" for x in lines()), seconds=20)
    got = lines()
    statements = [(x["class"], x["statement"], x["error"]) for x in got if x["event"] == "query"]
    assert statements == [
        ("ddl", "CREATE DATABASE a", 0),
        ("ddl", "CREATE TABLE a.t (a INT)", 0),
        ("dcl", "CREATE USER u IDENTIFIED BY <secret>", 0),
        ("ddl", "CREATE TABLE a.t (a INT)", 1050),
        ("ddl", "DROP TABLE a.t", 0),
    ]
    assert [(x["user"], x["reason"]) for x in got if x["event"] == "failed_connect"] == [("u", "wrong password"), ("nobody", "no such account")]
    root = login(server)
    run(root, "SET GLOBAL server_audit_file_rotate_now=1")
    wait_until(lambda: path.with_name(path.name + ".1").exists(), seconds=20)
    # A folder that is not there: told, and nothing is lost when it comes.
    run(root, f"SET GLOBAL server_audit_file_path='{path.parent}/later/audit.log'")
    run(root, "CREATE DATABASE later")
    wait_until(lambda: run(root, "SHOW STATUS LIKE 'Server_audit_writes_failed'")[0][1] != "0", seconds=20)
    (path.parent / "later").mkdir()
    late = path.parent / "later" / "audit.log"
    wait_until(lambda: late.exists() and "CREATE DATABASE later" in late.read_text(), seconds=20)


def test_passwords_as_mysql_4_had_them_let_nobody_in(narwal, mariadb):
    for server in (narwal, mariadb):
        root = login(server)
        run(root, "DROP USER IF EXISTS oldest@localhost, older@localhost")
        run(root, "CREATE USER oldest@localhost IDENTIFIED BY PASSWORD '7c786c222596437b', older@localhost IDENTIFIED VIA mysql_old_password")
        # That it is asked for none of them: neither the right password nor an empty one.
        for user, password in [("oldest", "foo"), ("oldest", ""), ("oldest", "bar"), ("older", ""), ("older", "foo")]:
            assert refused(server, user, password) == 1275, (server, user, password)
        run(root, "SET PASSWORD FOR oldest@localhost = PASSWORD('foo')")
        assert refused(server, "oldest", "foo") is None
        run(root, "SET PASSWORD FOR oldest@localhost = OLD_PASSWORD('foo')")
        assert refused(server, "oldest", "foo") == 1275
        if server is narwal:
            # A MariaDB asks for the old proof, which this client does not have.
            run(root, "SET GLOBAL secure_auth = OFF")
            assert refused(server, "older", "") is None
            assert refused(server, "oldest", "foo") == 1275
            run(root, "SET GLOBAL secure_auth = ON")
            assert refused(server, "older", "") == 1275
        assert run(root, "DROP USER oldest@localhost, older@localhost") == ()
        root.close()
