# shellcheck shell=bash
# Sourced: Debian packages fetched and unpacked into a folder, by anyone, without changing the system.
# The machine's own sources and keyrings are used; lists and downloads go to a private folder.

# The C and C++ libraries have to be the running machine's own (apt needs both); all else may come from a folder.
readonly PRIVATE_APT_NEVER="libc6|libc-bin|libc6-dev|libc-dev-bin|libgcc-s1|libstdc[+][+]6|gcc-[0-9]+-base|locales|debconf"

# private_apt_sources TO SUITE: copies of the machine's sources; SUITE (such as `bookworm-backports`, may be empty) is
# added on the same archive, with the same keyring, as the suite that it extends.
private_apt_sources() {
    local to=$1 suite=$2 own=${2%-backports} file
    mkdir -p "$to"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [[ -r $file ]] || continue
        cp "$file" "$to/own-$(basename "$file")"
        [[ -z $suite ]] || sed -nE "/^deb /s/ $own / $suite /p" "$file" >"$to/added-$(basename "$file")"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -r $file ]] || continue
        cp "$file" "$to/own-$(basename "$file")"
        [[ -z $suite ]] || awk -v RS= -v ORS='\n\n' -v own="$own" -v suite="$suite" '
            match($0, /(^|\n)Suites:[^\n]*/) {
                count = split(substr($0, RSTART, RLENGTH), word, /[ \t\n]+/)
                for (i = 1; i <= count; i++) if (word[i] == own) {
                    print substr($0, 1, RSTART - 1) "\nSuites: " suite substr($0, RSTART + RLENGTH)
                    break
                }
            }' "$file" | sed '/./,$!d' >"$to/added-$(basename "$file")"
    done
    [[ -z $suite || -n $(cat "$to"/added-* 2>/dev/null) ]]
}

# private_apt_unpack WORK SUITE NAME...: the packages that this machine would have to install to have the named ones
# (those included), unpacked into WORK/tree. WORK/apt.log tells what went wrong.
private_apt_unpack() {
    local work=$1 suite=$2 apt=$1/apt-${2:-own} deb
    shift 2
    rm -rf "$work/debs" "$work/tree"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$work/debs" "$work/tree"
    private_apt_sources "$apt/sources" "$suite" || return 1
    local -a options=(
        -qq -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Dir::Etc::SourceList=/dev/null
        -o "Dir::Etc::SourceParts=$apt/sources" -o APT::Sandbox::User= -o Debug::NoLocking=1
        -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Install-Recommends=0
    )
    [[ -z $suite ]] || options+=(-t "$suite")
    apt-get "${options[@]}" update >"$work/apt.log" 2>&1 || return 1
    : >"$work/nothing-installed"
    # Where this machine's own packages do not fit together, all that the named ones need is taken.
    apt-get "${options[@]}" install --simulate --reinstall "$@" >"$work/plan" 2>>"$work/apt.log" ||
        apt-get "${options[@]}" -o "Dir::State::status=$work/nothing-installed" install --simulate "$@" \
            >"$work/plan" 2>>"$work/apt.log" || return 1
    awk -v never="^($PRIVATE_APT_NEVER)$" '$1 == "Inst" && $2 !~ never { print $2 }' "$work/plan" >"$work/names"
    (cd "$work/debs" && xargs apt-get "${options[@]}" download <"$work/names") >>"$work/apt.log" 2>&1 || return 1
    for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/tree" || return 1; done
}
