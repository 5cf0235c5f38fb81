"""./run from a clone: what it does on a machine without cargo, and the small binary with its symbols beside it.

No real compiler, package manager or home folder is touched: the scripts run in a copy of their folder, with a PATH of stubs.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from testbed.servers import narwal_binary

ROOT = Path(__file__).resolve().parents[1]

# What the scripts use of a Unix.
TOOLS = ["awk", "bash", "cat", "cut", "dirname", "env", "grep", "gzip", "mkdir", "mktemp", "mv", "rm", "rmdir", "sed", "sha256sum", "stat"]

STUB_CARGO = """#!/bin/bash
echo "cargo $*" >>"$CALLS"
case $1 in
--version) echo "cargo 1.99.0 (stub)" ;;
build) mkdir -p target/release && printf '#!/bin/bash\\necho "served: $*"\\n' >target/release/narwal && chmod +x target/release/narwal ;;
esac
"""

STUB_RUSTUP = """#!/bin/bash
echo "rustup $*" >>"$CALLS"
mkdir -p "$HOME/.cargo/bin"
cp "$STUBS/cargo" "$HOME/.cargo/bin/cargo"
printf '#!/bin/bash\\necho "rustc 1.99.0 (stub)"\\n' >"$HOME/.cargo/bin/rustc"
chmod +x "$HOME/.cargo/bin/rustc"
"""


def write_stub(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path):
    """A copy of the scripts, an empty home, and a PATH without cargo on which rustup is a stub that brings one."""
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / "scripts", clone / "scripts")
    shutil.copy(ROOT / "run", clone / "run")
    tools, stubs, home = tmp_path / "bin", tmp_path / "stubs", tmp_path / "home"
    for folder in (tools, stubs, home):
        folder.mkdir()
    for tool in [*TOOLS, "cp", "chmod", "id"]:
        (tools / tool).symlink_to(shutil.which(tool))
    for there in ("gcc", "cc", "pkg-config", "git"):
        write_stub(tools / there, "#!/bin/bash\n")
    write_stub(tools / "apt-get", '#!/bin/bash\necho "apt-get $*" >>"$CALLS"; exit 1\n')
    write_stub(tools / "rustup", STUB_RUSTUP)
    write_stub(stubs / "cargo", STUB_CARGO)
    env = {"PATH": str(tools), "HOME": str(home), "CALLS": str(tmp_path / "calls"), "STUBS": str(stubs)}
    return clone, env


def test_run_installs_a_compiler_where_there_is_none(clone):
    folder, env = clone
    done = subprocess.run([folder / "run", "--port=3399"], env=env, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "served: serve --datadir=" in done.stdout and "--port=3399" in done.stdout
    calls = Path(env["CALLS"]).read_text()
    assert "rustup toolchain install stable" in calls and "cargo build --release -p narwal" in calls
    assert "apt-get" not in calls


def test_run_leaves_a_machine_with_cargo_alone(clone):
    folder, env = clone
    subprocess.run([Path(env["PATH"]) / "rustup"], env=env, check=True)
    Path(env["CALLS"]).unlink()
    done = subprocess.run([folder / "run"], env=env, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    calls = Path(env["CALLS"]).read_text()
    assert "cargo build --release -p narwal" in calls and "rustup" not in calls


def test_a_stripped_binary_has_its_symbols_beside_it(tmp_path):
    binary = Path(narwal_binary()).resolve()
    strip = f'source "{ROOT}/scripts/common.sh"; strip_symbols "{binary}" "{tmp_path}/dist"'
    subprocess.run(["bash", "-ec", strip], check=True)
    small, symbols = tmp_path / "dist" / "narwal", tmp_path / "dist" / "narwal.debug"
    assert small.stat().st_size < binary.stat().st_size / 2

    def backtrace() -> str:
        """Of a panic: its output can't be written."""
        with open("/dev/full", "w") as full:
            done = subprocess.run([small, "serve", "--help"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "RUST_BACKTRACE": "1"})  # fmt: skip
        assert "failed printing to stdout" in done.stderr
        return done.stderr

    with_symbols = backtrace()
    assert "std::io::stdio::_print" in with_symbols and "crates/narwal/src/main.rs:" in with_symbols
    made = small.stat().st_mtime_ns
    subprocess.run(["bash", "-ec", strip], check=True)
    assert small.stat().st_mtime_ns == made, "made again for nothing"
    symbols.unlink()
    assert "crates/narwal/src/main.rs:" not in backtrace()
