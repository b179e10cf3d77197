#!/usr/bin/env bash
# setup.sh DIR: a Vulkan driver for this checkout, without changing the system.
#
# A machine that has a Vulkan driver keeps it. Otherwise Mesa's software driver (lavapipe) and the Vulkan loader are
# taken from the machine's own apt sources and unpacked into DIR: 25.0 from bookworm-backports where it can be had
# (3 to 5 times faster), the release's own otherwise. DIR/env.sh then says what to export; with.sh reads it.
# A second run does nothing and needs no network.
set -euo pipefail

readonly WANTED="mesa-vulkan-drivers libvulkan1"
# The C library has to be the running machine's own; everything else may come from DIR.
readonly NEVER="libc6|libc-bin|libc6-dev|locales|debconf"

[[ $# -eq 1 ]] || { echo "usage: $0 DIR" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)

fail() {
    printf 'no Vulkan driver: %s; install one (on Debian and Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1)\n' "$1" >&2
    exit 1
}

machine_has_a_driver() {
    [[ -n ${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-} ]] && return 0
    ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' || return 1
    compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null ||
        compgen -G '/usr/local/share/vulkan/icd.d/*.json' >/dev/null ||
        compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null
}

# The machine's sources, and for Debian 12 its backports suite on the same archive and keyring.
write_sources() {
    local to=$1 suite=$2 file
    mkdir -p "$to"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [[ -r $file ]] || continue
        cp "$file" "$to/own-$(basename "$file" .list).list"
        [[ -z $suite ]] || sed -nE "/^deb /{/ ${suite%-backports} /s/ ${suite%-backports} / $suite /p}" "$file" \
            >"$to/backports-$(basename "$file" .list).list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -r $file ]] || continue
        cp "$file" "$to/own-$(basename "$file")"
        [[ -z $suite ]] || awk -v RS= -v ORS='\n\n' -v own="${suite%-backports}" -v suite="$suite" '
            match($0, /(^|\n)Suites:[^\n]*/) {
                line = substr($0, RSTART, RLENGTH)
                count = split(line, word, /[ \t]+/)
                for (i = 2; i <= count; i++) if (word[i] == own) {
                    print substr($0, 1, RSTART - 1) (RSTART > 1 ? "\n" : "") "Suites: " suite substr($0, RSTART + RLENGTH)
                    break
                }
            }' "$file" >"$to/backports-$(basename "$file")"
    done
}

# fetch SUITE: download and unpack; an empty SUITE means the release's own packages.
fetch() {
    local suite=$1 apt=$work/apt-${1:-own} names
    rm -rf "$work/debs" "$work/root"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$work/debs" "$work/root"
    write_sources "$apt/sources" "$suite"
    local -a options=(
        -qq -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Dir::Etc::SourceList=/dev/null
        -o "Dir::Etc::SourceParts=$apt/sources" -o APT::Sandbox::User= -o Debug::NoLocking=1
        -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Install-Recommends=0
    )
    [[ -z $suite ]] || options+=(-t "$suite")
    if [[ -n $suite ]] && ! compgen -G "$apt/sources/backports-*" >/dev/null; then return 1; fi
    apt-get "${options[@]}" update >"$work/apt.log" 2>&1 || return 1
    # What apt would install here is what this machine lacks; packages it has already may be named too.
    # shellcheck disable=SC2086  # a list of names
    names=$(apt-get "${options[@]}" install --simulate --reinstall $WANTED 2>>"$work/apt.log" |
        awk -v never="^($NEVER)$" '$1 == "Inst" && $2 !~ never { print $2 }') || return 1
    [[ $names == *mesa-vulkan-drivers* ]] || return 1
    # shellcheck disable=SC2086
    (cd "$work/debs" && apt-get "${options[@]}" download $names) >>"$work/apt.log" 2>&1 || return 1
    local deb
    for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root" || return 1; done
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
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "this machine has none and no apt to fetch one with"

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

rm -rf "$dir/root"
mkdir -p "$dir/root"
libraries=$(cd "$work/root" && find . -name 'libvulkan_lvp.so' -printf '%h\n' | head -n 1)
[[ -n $libraries ]] || fail "the packages hold no lavapipe"
# Only libraries and the driver's description are of use here.
(cd "$work/root" && find . \( -name '*.so' -o -name '*.so.*' \) -path '*/lib*' -print0 |
    xargs -0 cp -a --parents -t "$dir/root")
rm -f "$dir/root/$libraries"/libvulkan_{radeon,intel,intel_hasvk,nouveau,virtio,gfxstream}.so
folder=$dir/root/${libraries#./}
[[ ! -d $dir/root/lib ]] || folder=$folder:$(find "$dir/root/lib" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$dir/root/${libraries#./}/libvulkan_lvp.so" >"$dir/lavapipe.json"

missing=$(LD_LIBRARY_PATH=$folder ldd "$dir/root/${libraries#./}/libvulkan_lvp.so" | awk '/not found/ { print $1 }' | paste -sd' ')
[[ -z $missing ]] || fail "lavapipe was fetched but lacks $missing"
version=$(cd "$work/debs" && printf '%s\n' mesa-vulkan-drivers_*.deb | sed -E 's/^[^_]*_([^_]*)_.*/\1/; s/%3a/:/')
write_env "lavapipe $version from $source" "$dir/lavapipe.json" "$folder"
echo "Vulkan driver: lavapipe $version from $source"
