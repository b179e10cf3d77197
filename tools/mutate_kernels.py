"""Do the tests see a wrong kernel? Each listed edit of a WGSL file must still compile, and must make a test fail.

    python tools/mutate_kernels.py [WORD]      # only the files whose path holds WORD

The edits stand beside the kernels, in `mutations.toml`: `"file.wgsl" = [["as it is", "as it must not be"], ...]`. They
are tried in a copy of the crates, one at a time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "crates/metalml/src/kernels/mutations.toml"


def cargo(copy: Path, *arguments: str, families: str = "") -> subprocess.CompletedProcess[str]:
    """Run cargo on the copy, with a target folder that is kept; on the cases of some families only."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / ".cache/mutations")}
    if families:
        environment["METALML_FAMILIES"] = families
    command = ["cargo", *arguments, "--locked", "-p", "metalml", "--test", "kernels"]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def families_of(name: str) -> str:
    """Name the families whose kernels a file is a part of, with commas between them; nothing if that may be any."""
    kernels = LIST.parent
    families = {path.parent.name for path in kernels.glob("*/cases.rs")}
    users = {Path(name).parent.name}
    if name.startswith("shared/"):
        shared = {Path(name).stem}
        users = {path.parent.name for path in kernels.glob("*/*.wgsl") if uses(path) & shared}
    elif name.startswith(".."):
        users = {"gram", "matmul", "nearest", "neighbours"}
    found = {max((family for family in families if is_step(user, family)), key=len, default="") for user in users}
    return "" if "" in found else ",".join(sorted(found))


def is_step(user: str, family: str) -> bool:
    """Whether a kernel is that of a family, or one of its steps."""
    return user == family or user.startswith(family + "_")


def uses(path: Path) -> set[str]:
    """Find the shared parts that a kernel names."""
    mark = "//! use "
    return {line.removeprefix(mark).strip() for line in path.read_text().splitlines() if line.startswith(mark)}


def main() -> int:
    """Try every edit; print a line for each, and return how many no test saw."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    edits = {name: pairs for name, pairs in tomllib.loads(LIST.read_text()).items() if word in name}
    if not edits:
        print(f"no kernel whose path holds {word!r} in {LIST.relative_to(ROOT)}", file=sys.stderr)
        return 1
    unlisted = [path.name for path in LIST.parent.rglob("*.wgsl") if not any(path.name in name for name in edits)]
    if not word and unlisted:
        print(f"kernels without an edit: {', '.join(unlisted)}", file=sys.stderr)
        return 1
    unseen = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        # With the time of now: cargo would take the last edit of a run before for what it was asked to build.
        shutil.copytree(ROOT / "crates", copy / "crates", copy_function=shutil.copy)
        for name in ("Cargo.toml", "Cargo.lock"):
            shutil.copy(ROOT / name, copy)
        if cargo(copy, "test").returncode != 0:
            print("the tests fail before any edit", file=sys.stderr)
            return 1
        for name, pairs in edits.items():
            path = copy / LIST.parent.relative_to(ROOT) / name
            right = path.read_text()
            families = families_of(name)
            for old, new in pairs:
                if right.count(old) != 1:
                    verdict = f"NOT TRIED: {right.count(old)} places read like this"
                else:
                    path.write_text(right.replace(old, new))
                    if cargo(copy, "test", "--no-run").returncode != 0:
                        verdict = "NOT TRIED: it does not compile"
                    elif cargo(copy, "test", families=families).returncode == 0:
                        verdict = "NOT SEEN"
                    else:
                        verdict = "seen"
                unseen += verdict != "seen"
                print(f"{verdict:<10} {name}: {' '.join(old.split())!r} -> {' '.join(new.split())!r}", flush=True)
            path.write_text(right)
    print(f"{sum(map(len, edits.values())) - unseen} edits seen, {unseen} not")
    return min(unseen, 1)


if __name__ == "__main__":
    sys.exit(main())
