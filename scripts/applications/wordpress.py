"""WordPress, installed and used by its own functions. There is no web server: wordpress.php calls them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from applications.php import Php, redirect

USES = Path(__file__).with_name("wordpress.php")
# The day that each part is run on: a post is not as old as another.
PARTS = {"install": 0, "people": 1, "posts": 2, "queries": 3, "changes": 4, "upgrades": 5}
# Passwords' hashes and keys by chance.
VOLATILE = [
    (re.compile(r"\$P\$B[\w./]{30}"), "HASH"),
]


def settled(text: str) -> str:
    for pattern, instead in VOLATILE:
        text = pattern.sub(instead, text)
    return text


def use(unpacked: Path, php: Path, server, database: str, folder: Path, seconds: float) -> list[str]:
    """What its functions answer, part by part."""
    redirect(unpacked)
    shutil.rmtree(folder, ignore_errors=True)
    at = unpacked / "usr/share/wordpress"
    content = folder / "wp-content"
    shutil.copytree(at / "wp-content", content)
    server.sql(f"DROP DATABASE IF EXISTS {database}; CREATE DATABASE {database}")
    said = []
    runs = Php(php)
    for part, day in PARTS.items():
        words = [str(USES), part, str(at), f"127.0.0.1:{server.port}", database, str(content)]
        code, text = runs.run(words, folder, at=day * 86400 + 36000)
        text = settled(text).replace(str(folder), "FOLDER").replace(str(server.port), "PORT")
        said.append(f"== {part} ends with {code}")
        said += text.splitlines()
        if code:
            said.append(f"complaint: {part}: {text.splitlines()[-1] if text else 'it says nothing'}")
    return said
