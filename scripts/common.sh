# Sourced by the top-level commands: paths, messages, timed steps.
# shellcheck shell=bash

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
TARGET="${CARGO_TARGET_DIR:-$ROOT/target}"
VENV="$ROOT/.venv"
# Debian keeps mariadbd in /usr/sbin, which is not on every user's PATH; Go installed by hand is in /usr/local/go.
export PATH="$PATH:/usr/sbin:/usr/local/go/bin"

say() { printf '\n== %s\n' "$*"; }
die() {
    printf '%s\n' "$*" >&2
    exit 1
}

# step NAME COMMAND...: runs it, prints how long it took, ends the script when it fails.
step() {
    local name="$1" began=$SECONDS
    shift
    say "$name"
    if ! "$@"; then
        printf '\n== FAILED: %s (after %d s)\n' "$name" $((SECONDS - began)) >&2
        exit 1
    fi
    STEPS+=("$(printf '%4d s  %s' $((SECONDS - began)) "$name")")
}
STEPS=()

print_steps() {
    say "steps"
    printf '%s\n' "${STEPS[@]}"
}

# need_disk GIB: ends the script where the clone's disk has less than that free.
need_disk() {
    local free
    free=$(df -Pk "$ROOT" | awk 'NR == 2 { print int($4 / 1024 / 1024) }')
    ((free >= $1)) || die "$ROOT has $free GiB of disk left; this takes up to $1 GiB. Free some, or move the clone."
}

need_cargo() {
    # rustup's installs are not on PATH in a shell that did not read its profile.
    if ! command -v cargo >/dev/null && [[ -x $HOME/.cargo/bin/cargo ]]; then
        export PATH="$HOME/.cargo/bin:$PATH"
    fi
    command -v cargo >/dev/null || die "cargo is missing: run scripts/setup"
}
