#!/usr/bin/env bash
# pins.sh PYTHON: write requirements/constraints.txt, the exact versions of what the named requirements bring along.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../requirements"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >constraints.txt
for set in dev oldest; do
    "$1" -m venv "$work/$set"
    "$work/$set/bin/python" -m pip install --quiet --disable-pip-version-check -r "$set.txt"
    "$work/$set/bin/python" -m pip freeze >>"$work/all"
done
# Those that a file names stay there alone.
sed -nE 's/^([A-Za-z0-9_-]+).*==.*/\1/p' ./*.txt | tr '[:upper:]_' '[:lower:]-' | sort -u >"$work/named"
{
    echo "# Made by \`make pins\`: what the named requirements bring along."
    awk -F== 'NR == FNR { named[$1] = 1; next } { name = tolower($1); gsub("_", "-", name) } !(name in named)' \
        "$work/named" "$work/all" | sort -fu
} >constraints.txt
