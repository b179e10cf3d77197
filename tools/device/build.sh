#!/usr/bin/env bash
# build.sh DIR: what a lent GPU machine (x86-64 Linux, no compiler, no package index) needs to run the benches: the
# package with its binary, the benches of both languages and, since such machines often lack it, the Vulkan loader. `DIR/run CMD...`
# runs a command there with all of it in place.
set -euo pipefail

[[ $# -eq 1 ]] || { echo "usage: $0 DIR" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)

rm -rf "${dir:?}"/{python,benches,tests,tools,lib}
mkdir -p "$dir"/{python,lib}
for part in python/metalml benches tests tools; do
    [[ ! -d $root/$part ]] || cp -a "$root/$part" "$dir/$part"
done
find "$dir" -name '__pycache__' -prune -exec rm -rf {} +
# The benches of the kernels, a program of its own.
bench=$(cargo bench --locked -p metalml --bench kernels --no-run --message-format json --manifest-path "$root/Cargo.toml" \
    | sed -nE 's/.*"executable":"([^"]*kernels-[^"]*)".*/\1/p')
install -m 755 "$bench" "$dir/benches/kernels"

loader=$(find "$root/.driver" -name 'libvulkan.so.1' 2>/dev/null | head -n 1)
[[ -n $loader ]] || loader=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '/libvulkan\.so\.1/ { print $NF; exit }')
[[ -z $loader ]] || cp -L "$loader" "$dir/lib/libvulkan.so.1"
install -m 755 "$here/run.sh" "$dir/run"

# The binary runs where the C library is at least this old.
needs=$(grep -ahoE 'GLIBC_2\.[0-9]+' "$dir/python/metalml/_core.abi3.so" "$dir/benches/kernels" | sort -uV | tail -n 1)
du -sh "$dir" | awk -v needs="$needs" '{ print $2 ": " $1 ", needs " needs " or later" }'
