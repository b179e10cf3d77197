#!/usr/bin/env bash
# setup.sh DIR: a Rust toolchain that can check code for Apple Silicon, on a Debian 12 machine, without changing it.
#
# rustup is not asked for the target, because a machine may reach package registries only: Debian's security suite
# carries a newer rustc (`rustc-web`) with the source of its standard library. It is unpacked into DIR and `std` is
# built from that source for aarch64-apple-darwin (about 100 s on two cores, once; 700 MB). `check.sh` uses it.
set -euo pipefail

# shellcheck source=tools/private_apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/../private_apt.sh"

readonly TARGET=aarch64-apple-darwin

[[ $# -eq 1 ]] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
stamp=$dir/ready
# The toolchain is made again when this file changes.
recipe=$(sha256sum <"${BASH_SOURCE[0]}")
[[ $(cat "$stamp" 2>/dev/null) != "$recipe" ]] || exit 0
rm -rf "$stamp" "$dir/tree"

fail() {
    printf 'no toolchain for the Mac check: %s\n' "$1" >&2
    exit 1
}
[[ -n $(command -v apt-get) && -n $(command -v dpkg-deb) ]] || fail "it is made of Debian packages, and apt is not here"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "Mac check: fetching a toolchain and building the standard library for $TARGET (minutes, once)"
private_apt_unpack "$work" "" rustc-web cargo-web rust-web-clippy rust-web-src || {
    tail -n 3 "$work/apt.log" >&2
    fail "apt has no rustc-web here (Debian 12 with its security suite has)"
}
rm -rf "$work"/tree/usr/src/rustc-*/{compiler,src,debian}
# Of what the resolver brought, the toolchain and the libraries it loads are kept.
mkdir -p "$dir/tree"
(cd "$work/tree" && find . \( -path './usr/bin/*' -o -path './usr/lib/*' -o -path './lib/*' -o -path './usr/src/rustc-*' \) \
    \( -type f -o -type l \) -print0 |
    xargs -0 cp -a --parents -t "$dir/tree")

# shellcheck source=tools/mac/env.sh
. "$(dirname "${BASH_SOURCE[0]}")/env.sh" "$dir"
mkdir -p "$work/std/src"
cd "$work/std"
echo '#![no_std]' >src/lib.rs
printf '[package]\nname = "only_std"\nversion = "0.0.0"\nedition = "2024"\n[profile.release]\ndebug = 0\n' >Cargo.toml
RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$work/std/target \
    cargo build --quiet --release --target "$TARGET" -Zbuild-std=std,panic_abort,test
sysroot=$(rustc --print sysroot)/lib/rustlib/$TARGET/lib
mkdir -p "$sysroot"
find "target/$TARGET" -name '*.rlib' ! -name '*only_std*' -exec cp -t "$sysroot" {} +
rm -rf "$dir"/tree/usr/src
echo "$recipe" >"$stamp"
