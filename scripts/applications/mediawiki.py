"""MediaWiki, made by its own installer and used by its own maintenance programs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from applications.php import Php, redirect

USES = Path(__file__).with_name("mediawiki.php")
# Pages and what they say, edition by edition. They lead to each other, to themselves, to categories, templates and outside.
PAGES = [
    ("Whale", "A '''whale''' lives in the [[sea]]. [[Category:Animals]] {{Stub|size=30}} https://example.org/whale"),
    ("Sea", "Water with [[whale]]s, [[Ship|ships]] and [[Nowhere at all]]. [[Category:Places]]"),
    ("Ship", "#REDIRECT [[Vessel]]"),
    ("Vessel", "It goes over the [[Sea]]. [[Category:Things]] {{Stub}} [[Category:Places]] [http://example.org/v?a=1&b=2 more]"),
    ("Template:Stub", "<small>A stub of {{{size|no}}} lines</small> [[Category:Stubs]]<noinclude>[[Category:Templates]]</noinclude>"),
    ("Category:Animals", "What lives. [[Category:Things]]"),
    ("Category:Things", "What there is."),
    ("Talk:Whale", "== Size ==\nHow large is it? ~~~~\n:Very. --[[User:Ann]]"),
    ("Größe", "Ünïcödé ẞ 漢字 🐳 [[Whale]] [[grösse]] 'quotes' \"double\" back\\slash\n\nnull % _ ;"),
    ("Grösse", "Another title than [[Größe]] is. {{Nothing}}"),
    ("Ship of ships", "#REDIRECT [[Ship]]"),
    ("Long", "word " * 20000),
    ("Whale", "A '''whale''' lives in the [[Sea]]. It sings. [[Category:Animals]] [[Category:Singers]] {{Stub|size=31}}"),
    ("Whale", "A '''whale''' lives in the [[Sea]]. It sings and eats [[krill]]. [[Category:Animals]] https://example.org/whale/2"),
    ("Sandbox", "one"),
    ("Sandbox", "two"),
    ("Sandbox", ""),
    ("To be gone", "It is deleted. [[Whale]] [[Category:Animals]]"),
]
# Programs that do what is left to do. Among kinds they choose by chance.
KINDS = ("refreshLinks", "htmlCacheUpdate", "recentChangesUpdate", "categoryMembershipChange", "fixDoubleRedirect")
JOBS = [(f"runJobs --type {kind}", "") for _ in range(2) for kind in KINDS]
# What its programs are called with, in order, and what they read.
STEPS = [
    ("createAndPromote --sysop --bureaucrat Ann annspassword1", ""),
    ("createAndPromote Bob bobspassword2", ""),
    *((f"edit -u Ann -s how{i} {'-m' if i % 3 else '-b'}\0{title}", text) for i, (title, text) in enumerate(PAGES)),
    *JOBS,
    ("moveBatch -u Ann -r moved", "Long|Longer\nSandbox|User:Bob/Sandbox\nNo such page|Elsewhere\n"),
    ("deleteBatch -u Ann -r why", "To be gone\nGrösse\nNever was\n"),
    ("undelete -u Ann\0Grösse", ""),
    ("protect -u Ann -r calm --semiprotect\0Whale", ""),
    ("blockUsers --performer Ann --reason noise", "192.0.2.1\nBob\n198.51.100.0/24\n"),
    ("changePassword --user Bob --password another9pass", ""),
    ("fixDoubleRedirects", ""),
    *JOBS,
    ("importDump --username-prefix= --report 1000\0{pages}", ""),
    ("importTextFiles --user Ann --prefix Text: --overwrite\0{text}", ""),
    ("nukePage --delete Sandbox", ""),
    ("refreshLinks", ""),
    ("rebuildrecentchanges", ""),
    *JOBS,
    ("updateSearchIndex -s 20200101000000 -p {folder}/searched", ""),
    ("updateSpecialPages", ""),
    ("updateCollation --force", ""),
    ("recountCategories --mode pages", ""),
    ("recountCategories --mode subcats", ""),
    ("cleanupTitles", ""),
    ("namespaceDupes", ""),
    ("cleanupWatchlist", ""),
    ("initSiteStats --update --active", ""),
    ("initEditCount", ""),
    ("showSiteStats", ""),
    ("runJobs", ""),
    ("showJobs --group", ""),
    ("findBadBlobs --scan-from 20200101000000", ""),
    ("deleteOrphanedRevisions", ""),
    ("purgeOldText", ""),
    ("rollbackEdits --user Ann --titles Whale", ""),
    ("reassignEdits Bob Ann", ""),
    ("removeUnusedAccounts", ""),
    ("deduplicateArchiveRevId", ""),
    ("populateRevisionSha1 --force", ""),
    ("pruneUnusedLinkTargetRows", ""),
    ("purgeParserCache --age 0", ""),
    ("runScript\0{uses}", ""),
    ("deleteOldRevisions --delete", ""),
    ("deleteArchivedRevisions --delete", ""),
    ("dumpBackup --current --quiet", ""),
    ("dumpBackup --logs --quiet", ""),
    # The second time there is nothing that it has not done before.
    *[("update --quick", "")] * 2,
]  # fmt: skip
# Another wiki's pages: with editions in the past, by people who are not here.
IMPORTED = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
<page><title>Krill</title><ns>0</ns><id>77</id>
<revision><id>770</id><timestamp>2011-02-03T04:05:06Z</timestamp><contributor><username>Cyd</username><id>9</id></contributor>
<comment>first</comment><model>wikitext</model><format>text/x-wiki</format><text xml:space="preserve">Small. [[Whale]] [[Category:Animals]]</text></revision>
<revision><id>771</id><parentid>770</parentid><timestamp>2012-02-03T04:05:06Z</timestamp><contributor><ip>192.0.2.7</ip></contributor>
<minor/><model>wikitext</model><format>text/x-wiki</format><text xml:space="preserve">Very small. [[Whale]] [[Category:Animals]]</text></revision></page>
<page><title>Whale</title><ns>0</ns><id>78</id>
<revision><id>772</id><timestamp>2010-01-01T00:00:00Z</timestamp><contributor><username>Cyd</username><id>9</id></contributor>
<model>wikitext</model><format>text/x-wiki</format><text xml:space="preserve">An older whale.</text></revision></page>
</mediawiki>
"""
# Numbers by chance, and how long something took.
VOLATILE = [
    (re.compile(r"\b0\.\d{5,}(e-\d+)?\b|\b\d\.\d+e-\d+\b"), "CHANCE"),
    (re.compile(r":pbkdf2:[^'\s]*"), "HASH"),
    (re.compile(r"\b[0-9a-f]{32}\b|requestId\W+\w+|Signature\W+\w+|\"token\":\"\w+"), "TOKEN"),
    # What it does now and then depends on how long things take, too, and other jobs have other numbers then.
    (re.compile(r"(?m)^.* recentChangesUpdate .*(STARTING|good)\n|(?<=\(id=)\d+"), ""),
    (re.compile(r"(CREATE TABLE `job` [^;]*?) AUTO_INCREMENT=\d+"), r"\1"),
    (re.compile(r"\bt=\d+ ?|\b[\d.]+ ?(ms|s|seconds|sec)\b|[\d.,]+(e-?\d+)? (pages|revs|items)/sec\b|\b\d+(\.\d+)?/sec|\d+h \d+m \d+s"), "DURATION"),
]  # fmt: skip
# What it keeps to be faster.
KEPT = re.compile(r"INSERT INTO `(objectcache|l10n_cache|module_deps)` ")
FULLTEXT = re.compile(r",\s*FULLTEXT INDEX \w+ \(\w+\)")


def settled(text: str) -> str:
    for pattern, instead in VOLATILE:
        text = pattern.sub(instead, text)
    return text


def settled_dump(dump: str) -> str:
    return settled("\n".join(line for line in dump.split("\n") if not KEPT.match(line)))


def searchable(tables: Path, server) -> list[str]:
    """Its FULLTEXT indexes are left out of the unpacked copy's tables, for all servers: Narwal refuses them, and the installer ends
    there. What a server says of the table as it is is told."""
    whole = tables.with_suffix(".whole")
    if not whole.exists():
        shutil.copy(tables, whole)
    text = whole.read_text()
    table = re.search(r"CREATE TABLE /\*_\*/searchindex .*?;", text, re.DOTALL).group()
    tables.write_text(FULLTEXT.sub("", text))
    try:
        server.sql("CREATE OR REPLACE DATABASE searchable; USE searchable; " + table.replace("/*_*/", ""))
        return []
    except RuntimeError as error:
        return [f"note: its table searchindex is made without FULLTEXT indexes: {str(error).rpartition(': ')[2]}"]
    finally:
        server.sql("DROP DATABASE searchable")


class Wiki:
    def __init__(self, at: Path, php: Php, server, database: str, folder: Path):
        self.at, self.php, self.server, self.database, self.folder = at / "usr/share/mediawiki", php, server, database, folder
        self.settings = folder / "LocalSettings.php"
        self.said: list[str] = []
        self.clock = 0

    def run(self, *words: str, text: str = "") -> tuple[int, str]:
        """Each program a minute after the one before: none of its pages is as old as another."""
        self.clock += 60
        return self.php.run(list(words), self.at, text, self.clock)

    def say(self, what: str, code: int, text: str) -> None:
        text = settled(text).replace(str(self.folder), "FOLDER").replace(str(self.server.port), "PORT")
        self.said.append(f"== {what} ends with {code}")
        # Its rows have no order of their own.
        self.said += sorted(text.splitlines()) if what.startswith("updateSearchIndex") else text.splitlines()
        if code or "DBQueryError" in text or "Fatal error" in text:
            lines = [line for line in text.splitlines() if line.strip()]
            self.said.append(f"complaint: {what}: {next((x for x in lines if 'Error' in x or 'error' in x), lines[-1] if lines else '')}")

    def install(self) -> bool:
        words = [
            *("maintenance/install.php", "--dbtype", "mysql", "--dbserver", f"127.0.0.1:{self.server.port}", "--dbname", self.database),
            *("--installdbuser", "root", "--installdbpass", "", "--dbuser", "wiki", "--dbpass", "of the wiki"),
            *("--pass", "of the admin", "--confpath", str(self.folder), "--scriptpath", "/wiki", "--server", "http://wiki.test", "A wiki", "Admin"),
        ]
        code, text = self.run(*words)
        self.say("install", code, text)
        # Jobs run when they are told to, in their order; what is kept is kept in the database.
        if self.settings.exists():
            with open(self.settings, "a") as f:
                f.write('\n$wgJobRunRate = 0; $wgJobTypeConf["default"] = ["class" => "JobQueueDB", "order" => "fifo"];\n')
                f.write(f'$wgMainCacheType = CACHE_DB; $wgUpgradeKey = ""; $wgTmpDirectory = "{self.folder}";\n')
        return code == 0 and self.settings.exists()

    def step(self, words: str, text: str) -> None:
        """One of its programs. Words are divided by spaces; after a zero byte stands one that may have some."""
        options, _, last = words.partition("\0")
        places = {"folder": self.folder, "pages": self.folder / "pages.xml", "text": self.folder / "from a text.txt", "uses": USES}
        script, *rest = [w.format(**places) for w in [*options.split(), *([last] if last else [])]]
        code, said = self.run(f"maintenance/{script}.php", *rest, "--conf", str(self.settings), text=text)
        self.say(words.replace("\0", " "), code, said)


def use(unpacked: Path, php: Path, server, database: str, folder: Path, seconds: float) -> list[str]:
    """What its installer and its programs say. Each has ten minutes."""
    redirect(unpacked)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server.sql(f"DROP DATABASE IF EXISTS {database}")
    notes = searchable(unpacked / "usr/share/mediawiki/maintenance/tables-generated.sql", server)
    wiki = Wiki(unpacked, Php(php), server, database, folder)
    (folder / "pages.xml").write_text(IMPORTED)
    (folder / "from a text.txt").write_text("From a file. [[Krill]]\n")
    if wiki.install():
        for words, text in STEPS:
            wiki.step(words, text)
    return notes + wiki.said
