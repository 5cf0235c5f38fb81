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

# rustup's installs are not on PATH in a shell that did not read its profile.
find_cargo() {
    if ! command -v cargo >/dev/null && [[ -x $HOME/.cargo/bin/cargo ]]; then
        export PATH="$HOME/.cargo/bin:$PATH"
    fi
    command -v cargo >/dev/null
}

need_cargo() {
    find_cargo || die "cargo is missing: run scripts/setup"
}

# As need_cargo, but installs what a build needs where it is missing.
get_cargo() {
    if ! find_cargo || ! command -v cc >/dev/null; then
        "$ROOT/scripts/setup" --build-only
    fi
    need_cargo
}

# What scripts/profile/record has recorded, and the compiler that it is for.
RECORDED="$ROOT/scripts/profile/narwal.profdata.gz"
RECORDED_BY=$(cat "$ROOT/scripts/profile/rustc-version")

# The release build of narwal, laid out by the recorded profile: 10 to 20 % faster (docs/performance.md).
# A profile is of one compiler's version; another one, or one with flags of its own, builds without it.
build_release() {
    local by sum profile
    get_cargo
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

# strip_symbols FROM FOLDER: FROM without its symbols as FOLDER/narwal, the symbols beside it as narwal.debug. The binary
# names that file, so a panic's backtrace and debuggers find it there. Done again only when FROM is another file than last time.
strip_symbols() {
    local from="$1" folder="$2" stamp new
    # By number and time of the file, not by "newer": cargo may bring back an older build.
    stamp=$(stat -c '%i %Y %s' "$from")
    if [[ -s $folder/narwal && -s $folder/narwal.debug && $(cat "$folder/.from" 2>/dev/null) == "$stamp" ]]; then
        return
    fi
    mkdir -p "$folder"
    new=$(mktemp -d "$folder/new.XXXXXX")
    objcopy --only-keep-debug --compress-debug-sections=zlib "$from" "$new/narwal.debug"
    objcopy --strip-all --add-gnu-debuglink="$new/narwal.debug" "$from" "$new/narwal"
    # A server that runs keeps the file that it was started from.
    mv -f "$new/narwal.debug" "$new/narwal" "$folder/"
    rmdir "$new"
    echo "$stamp" >"$folder/.from"
}

# The release build for use: small, its symbols beside it. DIST is the binary.
DIST="$TARGET/dist/narwal"
build_dist() {
    build_release
    if command -v objcopy >/dev/null; then
        strip_symbols "$TARGET/release/narwal" "$TARGET/dist"
    else
        DIST="$TARGET/release/narwal"
    fi
}
