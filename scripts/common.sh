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

# What scripts/profile/record has recorded, and the compiler that it is for.
RECORDED="$ROOT/scripts/profile/narwal.profdata.gz"
RECORDED_BY=$(cat "$ROOT/scripts/profile/rustc-version")

# The release build of narwal, laid out by the recorded profile: 10 to 20 % faster (docs/performance.md).
# A profile is of one compiler's version; another one, or one with flags of its own, builds without it.
build_release() {
    local by sum profile
    need_cargo
    if [[ -n ${RUSTFLAGS:-}${CARGO_ENCODED_RUSTFLAGS:-} ]]; then
        echo "building with RUSTFLAGS as given, without the recorded profile" >&2
        cargo build --release -p narwal
    elif [[ $(rustc -V) != "$RECORDED_BY" ]]; then
        by=$(cut -d' ' -f2 <<<"$RECORDED_BY")
        echo "building without the recorded profile, some 10 to 20 % slower: it is for $RECORDED_BY, here is $(rustc -V)." \
            "To have it: rustup toolchain install $by, and the same command behind rustup run $by." \
            "A new one: scripts/profile/record" >&2
        cargo build --release -p narwal
    else
        # A new profile has a new name, so that cargo builds anew.
        sum=$(sha256sum "$RECORDED")
        profile="$TARGET/${sum:0:16}.profdata"
        mkdir -p "$TARGET"
        if [[ ! -s $profile ]]; then
            rm -f "$TARGET"/*.profdata
            gzip -dc "$RECORDED" >"$profile.new"
            mv "$profile.new" "$profile"
        fi
        # Functions that have changed since are built without, silently. \x1f: the folder's name may have spaces.
        CARGO_ENCODED_RUSTFLAGS="-Cprofile-use=$profile"$'\x1f'"-Cllvm-args=-no-pgo-warn-mismatch" \
            cargo build --release -p narwal
    fi
}
