"""phpMyAdmin in PHP's own web server: its pages are asked for and sent as a browser does it, and what they say is compared."""

from __future__ import annotations

import html
import http.cookiejar
import json
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

from testbed.servers import free_port

from applications.php import Php, redirect

PACKAGES = [
    "phpmyadmin",
    *(f"php-{name}" for name in (
        "composer-ca-bundle", "fig-http-message-util", "getallheaders", "google-recaptcha", "mariadb-mysql-kbs", "nikic-fast-route",
        "phpmyadmin-motranslator", "phpmyadmin-shapefile", "phpmyadmin-sql-parser", "psr-cache", "psr-container", "psr-http-factory",
        "psr-http-message", "psr-log", "slim-psr7", "symfony-cache", "symfony-cache-contracts", "symfony-config", "symfony-dependency-injection",
        "symfony-deprecation-contracts", "symfony-expression-language", "symfony-filesystem", "symfony-polyfill-php80", "symfony-service-contracts",
        "symfony-var-exporter", "twig", "twig-i18n-extension", "webmozart-assert",
    )),
]  # fmt: skip
STORED = ("bookmark relation table_info table_coords pdf_pages column_info history table_uiprefs tracking userconfig recent favorite users usergroups "
          "navigationhiding savedsearches central_columns designer_settings export_templates")  # fmt: skip
PAGES, STATEMENTS = Path(__file__).with_name("phpmyadmin.pages"), Path(__file__).with_name("phpmyadmin.sql")
# Of these statements an error is what is hoped for.
WRONG = ("nowhere", "SELEC 1", "('Ann');")
BAD = re.compile(r"Fatal error|Uncaught|Stack trace|<b>Warning</b>|mysqli_sql_exception|MySQL said|class=\"alert alert-danger|syntax error", re.IGNORECASE)
# Times of this day, and of the day of its clock, are when it was used.
DAY = f"{datetime.now(UTC):%Y-%m-%d}"
VOLATILE = [
    (re.compile(r"(token|sql_signature|_nonce|session_id|set_session|nocache)(\"?[=:&]+\"?|%3D)[\w.~%-]+"), r"\1=TOKEN"),
    (re.compile(r"took [\d.]+ seconds"), "took a while"),
    (re.compile(r"[\d.,]+ (KiB|MiB|GiB|B)\b"), "SIZE"),
    (re.compile(r"\b10\.11\.\d+-MariaDB[\w.+~-]*|\b11\.8\.\d+-MariaDB[\w.+~-]*"), "VERSION"),
    (re.compile(r"\[([0-9a-f]{32}|[0-9a-f]{13})\]"), "[TOKEN]"),
    # A server without names has no root@localhost.
    (re.compile(r"(root`?(@|%40)`?)127\.0\.0\.1"), r"\1localhost"),
    (re.compile(rf"\b({DAY}|2026-03-01)[ T]\d\d:\d\d(:\d\d)?(\.\d+)?|\b[A-Z][a-z]{{2}} \d\d, 20\d\d at \d\d:\d\d (AM|PM)(:\d\d)?"), "TIME"),
]  # fmt: skip
# Lists of what might be chosen are the server's own, too: of collations and privileges, say.
HIDDEN = re.compile(
    r"<script.*?</script>|<style.*?</style>|<noscript.*?</noscript>|<head>.*?</head>|<!--.*?-->|<option(?![^>]*\bselected\b)[^>]*>[^<]*(</option>)?", re.DOTALL
)


def settled(dump: str) -> str:
    return re.sub(rf"{DAY} [\d:.]+", "TIME", dump)


def seen(line: str) -> str:
    for pattern, instead in VOLATILE:
        line = pattern.sub(instead, line)
    return line


def settled_lines(lines: list[str]) -> list[str]:
    """Without sizes in bytes, estimates of an index's values (in front of its order), and what is offered for space that is free."""
    text = "\n".join(lines) + "\n"
    text = re.sub(r"(?m)^(-|[\d.,]+)\n(KiB|MiB|B)$", "SIZE", text)
    text = re.sub(r"(?m)^(\d+|NULL)\nA$", "ESTIMATE\nA", text)
    return re.sub(r"(?m)^Optimize table\n|^Last update\n.*\n", "", text).splitlines()


def words_of(page: str) -> list[str]:
    """What is to be read on a page, line by line, and what its fields hold."""
    page = re.sub(r'<(?:input|option)\b[^>]*?\bvalue="([^"]*)"[^>]*>', lambda m: f"\n[{m[1]}]{' checked' if ' checked' in m[0] else ''}\n", page)
    lines = (re.sub(r"\s+", " ", html.unescape(line)).strip() for line in re.sub(r"<[^>]*>", "\n", page).split("\n"))
    return [line for line in lines if line and line != "[]"]


def pages(part: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Routes and fields of a part of phpmyadmin.pages."""
    text = re.search(rf"(?ms)^\[{part}\]\n(.*?)(?=^\[|\Z)", PAGES.read_text())[1].replace("\n    &", "&")
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            route, _, fields = line.partition("?")
            found.append((route, [tuple(urllib.parse.unquote(x) for x in f.split("=", 1)) for f in fields.split("&") if f]))
    return found


class Browser:
    def __init__(self, port: int, database: str, names: dict[str, str]):
        self.address, self.database, self.names = f"http://127.0.0.1:{port}/index.php", database, names
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self.token = ""

    def ask(self, route: str, fields: list[tuple[str, str]], send: bool = False) -> tuple[int, str]:
        """The page of a route, and how its server ended. Lists as [] are sent with [] in their fields' names."""
        fields = [(name, value.replace("{shop}", self.database)) for name, value in fields]
        asked = [("route", route), *([] if send else fields), ("lang", "en")]
        body = urllib.parse.urlencode([*fields, ("token", self.token)]).encode() if send else None
        try:
            with self.opener.open(f"{self.address}?{urllib.parse.urlencode(asked)}", body, timeout=300) as answer:
                code, text = answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read().decode(errors="replace")
        if not self.token and (found := re.search(r'name="token" value="([^"]+)"', text)):
            self.token = html.unescape(found[1])
        for name, instead in self.names.items():
            text = text.replace(name, instead)
        return code, text


def readable(text: str) -> str:
    """The pages within an answer to a script."""
    if not text.startswith("{"):
        return text
    try:
        answer = json.loads(text)
    except ValueError:
        return text
    return "\n".join(f"{key}: {value}" for key, value in sorted(answer.items()) if key not in ("params", "_params", "reloadQuerywindow", "reloadNavigation"))


class Office:
    """phpMyAdmin on one server, and what was read on its pages."""

    def __init__(self, browser: Browser):
        self.browser = browser
        self.said: list[str] = []

    def visit(self, route: str, fields: list[tuple[str, str]], send: bool = False, compare: bool = True, wrong: bool = False) -> None:
        code, text = self.browser.ask(route, fields, send)
        text = HIDDEN.sub("", readable(text))
        name = f"{'send' if send else 'see'} {route} {' '.join(f'{k}={v}' for k, v in fields[:6])}"[:150].replace("\n", " ")
        words = settled_lines([seen(line) for line in (words_of(text) if "<" in text else text.splitlines())])
        self.said.append(f"== {name}: {code}")
        if compare:
            self.said += words
        elif len(words) < 20:
            self.said.append(f"complaint: {name} says little: {words}")
        if not wrong and (code != 200 or BAD.search(text)):
            at = BAD.search(text)
            here = " ".join(words_of(text[max(at.start() - 5, 0) : at.start() + 1500])) if at else " ".join(words)
            self.said.append(f"complaint: {name}: {code} {here[:400]}")


def configure(unpacked: Path, folder: Path, port: int) -> None:
    """Its settings stand where Debian has them. The unpacked copy asks the environment for that place instead."""
    places = unpacked / "usr/share/phpmyadmin/libraries/vendor_config.php"
    text = places.read_text()
    for place in ("/var/lib/phpmyadmin/tmp/", "/etc/phpmyadmin/config.inc.php"):
        text = text.replace(f"'{place}'", f"getenv('PMA_FOLDER') . '/{place.rstrip('/').rpartition('/')[2]}{'/' if place.endswith('/') else ''}'")
    places.write_text(text)
    (folder / "tmp").mkdir(parents=True)
    tables = "".join(f"$cfg['Servers'][1]['{'bookmarktable' if name == 'bookmark' else name}'] = 'pma__{name}';\n" for name in STORED.split())
    server = f"'host' => '127.0.0.1', 'port' => '{port}', 'user' => 'root', 'password' => '', 'controluser' => 'root', 'controlpass' => ''"
    (folder / "config.inc.php").write_text(
        f"<?php\n$cfg['blowfish_secret'] = '{'s' * 32}';\n"
        f"$cfg['Servers'][1] = ['auth_type' => 'config', {server}, 'AllowNoPassword' => true, 'pmadb' => 'phpmyadmin'];\n"
        f"{tables}$cfg['VersionCheck'] = false; $cfg['SendErrorReports'] = 'never';\n"
    )


def prepare(server, database: str, tables: Path) -> None:
    """An empty database, somebody who may do little, and the tables that it keeps its own things in."""
    for made in (database, "phpmyadmin", "shop_copy", "shop_moved", "by_form", "buyer"):
        server.sql(f"SET foreign_key_checks = 0; DROP DATABASE IF EXISTS {made}")
    server.sql(f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci; DROP USER IF EXISTS buyer")
    server.sql(f"CREATE OR REPLACE USER seller IDENTIFIED BY 'x'; GRANT SELECT, UPDATE ON {database}.* TO seller")
    server.sql(tables.read_text())


def work(office: Office) -> None:
    office.visit("/", [], compare=False)
    for text in STATEMENTS.read_text().partition("\n")[2].split("\n----\n"):
        fields = {"db": "{shop}", "sql_query": text, "is_js_confirmed": "1", "sql_delimiter": ";", "show_query": "1", "ajax_request": "1", "pos": "0"}
        office.visit("/import", list(fields.items()), send=True, wrong=any(x in text for x in WRONG))
    for route, fields in pages("looked at"):
        office.visit(route, fields, compare=False)
    for route, fields in pages("compared"):
        office.visit(route, fields)
    for route, fields in pages("sent"):
        office.visit(route, fields, send=True)


def use(unpacked: Path, php: Path, server, database: str, folder: Path, seconds: float) -> list[str]:
    """What its pages say."""
    redirect(unpacked)
    shutil.rmtree(folder, ignore_errors=True)
    configure(unpacked, folder, server.port)
    at = unpacked / "usr/share/phpmyadmin"
    prepare(server, database, at / "sql/create_tables.sql")
    runs, port = Php(php), free_port()
    # Its clock is not that of its files: sessions would be thrown away by chance.
    settings = (f"include_path={unpacked}/usr/share/php", f"session.save_path={folder}/tmp", "session.gc_probability=0")
    words = runs.command(*(w for x in settings for w in ("-d", x)), "-S", f"127.0.0.1:{port}", "-t", str(at))
    log = folder / "web.log"
    with open(log, "wb") as out:
        program = subprocess.Popen(words, env={**runs.environment(0), "PMA_FOLDER": str(folder)}, stdout=out, stderr=subprocess.STDOUT, cwd=at)
    try:
        wait_for(port)
        office = Office(Browser(port, database, {str(server.port): "PORT", str(port): "WEB", str(folder): "FOLDER"}))
        work(office)
    finally:
        program.terminate()
        program.wait()
    wrong = [line for line in log.read_text(errors="replace").splitlines() if re.search(r"PHP (Fatal|Warning|Parse)", line)]
    return office.said + [f"complaint: {re.sub(r'^[[].*?[]] ', '', line)}" for line in wrong]


def wait_for(port: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("PHP's web server does not answer")
