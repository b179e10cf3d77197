#!/usr/bin/env bash
# setup.sh DIR: a Vulkan driver for this checkout, without changing the system.
#
# A machine that has a Vulkan driver keeps it. Otherwise Mesa's software driver (lavapipe) and the Vulkan loader are
# taken from the machine's own apt sources and unpacked into DIR: 25.0 from bookworm-backports where it can be had
# (3 to 5 times faster), the release's own otherwise. DIR/env.sh then says what to export; with.sh reads it.
# A second run does nothing and needs no network.
set -euo pipefail

# shellcheck source=tools/private_apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/../private_apt.sh"

[[ $# -eq 1 ]] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)

fail() {
    printf 'no Vulkan driver: %s; install one (on Debian and Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1)\n' "$1" >&2
    exit 1
}

machine_has_a_driver() {
    [[ -n ${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-} ]] && return 0
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || return 1
    compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null ||
        compgen -G '/usr/local/share/vulkan/icd.d/*.json' >/dev/null ||
        compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null
}

write_env() {
    {
        echo "# Written by tools/driver/setup.sh: $1"
        [[ $# -eq 1 ]] || printf 'export VK_DRIVER_FILES=%q\nexport LD_LIBRARY_PATH=%q"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"\n' "$2" "$3"
    } >"$dir/env.sh.new"
    mv "$dir/env.sh.new" "$dir/env.sh"
}

# An env.sh that names a folder which moved (a copied checkout) is written anew.
if [[ -r $dir/env.sh ]]; then
    # Its first line holds no exports where the machine's own driver is used.
    files=$(sed -nE 's/^export VK_DRIVER_FILES=//p' "$dir/env.sh")
    if [[ -n $files && -e $files ]] || { [[ -z $files ]] && machine_has_a_driver; }; then exit 0; fi
    rm -f "$dir/env.sh"
fi

if machine_has_a_driver; then
    write_env "this machine has a Vulkan driver of its own"
    echo "Vulkan driver: this machine's own"
    exit 0
fi
[[ -n $(command -v apt-get) && -n $(command -v dpkg-deb) ]] || fail "this machine has none and no apt to fetch one with"

fetch() { private_apt_unpack "$work" "$1" mesa-vulkan-drivers libvulkan1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
source="the release's own packages"
echo "Vulkan driver: fetching Mesa's software driver (about 60 MB, once)"
if [[ $codename == bookworm ]] && fetch bookworm-backports; then
    source="bookworm-backports"
elif ! fetch ""; then
    tail -n 3 "$work/apt.log" >&2 || true
    fail "apt could not fetch one"
fi

rm -rf "$dir/tree"
mkdir -p "$dir/tree"
libraries=$(cd "$work/tree" && find . -name 'libvulkan_lvp.so' -printf '%h\n' | head -n 1)
[[ -n $libraries ]] || fail "the packages hold no lavapipe"
# Only libraries and the driver's description are of use here.
(cd "$work/tree" && find . \( -name '*.so' -o -name '*.so.*' \) -path '*/lib*' -print0 |
    xargs -0 cp -a --parents -t "$dir/tree")
rm -f "$dir/tree/$libraries"/libvulkan_{radeon,intel,intel_hasvk,nouveau,virtio,gfxstream}.so
folder=$dir/tree/${libraries#./}
[[ ! -d $dir/tree/lib ]] || folder=$folder:$(find "$dir/tree/lib" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$dir/tree/${libraries#./}/libvulkan_lvp.so" >"$dir/lavapipe.json"

missing=$(LD_LIBRARY_PATH=$folder ldd "$dir/tree/${libraries#./}/libvulkan_lvp.so" | awk '/not found/ { print $1 }' | paste -sd' ')
[[ -z $missing ]] || fail "lavapipe was fetched but lacks $missing"
version=$(cd "$work/debs" && printf '%s\n' mesa-vulkan-drivers_*.deb | sed -E 's/^[^_]*_([^_]*)_.*/\1/; s/%3a/:/')
write_env "lavapipe $version from $source" "$dir/lavapipe.json" "$folder"
echo "Vulkan driver: lavapipe $version from $source"
