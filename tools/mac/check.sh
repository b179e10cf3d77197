#!/usr/bin/env bash
# check.sh DIR: type-check and lint the whole workspace for Apple Silicon, warnings denied. Nothing is linked or run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(cd "$1" && pwd)
# shellcheck source=tools/mac/env.sh
. "$here/env.sh" "$dir"
cd "$here/../.."
# A target folder of its own: another compiler's outputs would evict those of the ordinary build.
# Nothing runs but build scripts and macros: optimising those, as the dev profile does, would take minutes.
CARGO_TARGET_DIR=$dir/target exec cargo clippy --locked --workspace --all-targets --all-features \
    --config 'profile.dev.package."*".opt-level=0' --target aarch64-apple-darwin -- -D warnings
