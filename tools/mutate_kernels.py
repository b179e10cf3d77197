"""Do the tests see a wrong kernel? Each listed edit of a WGSL file must still compile, and must make a test fail.

    python tools/mutate_kernels.py [WORD]      # only the files whose path holds WORD

The edits stand beside the kernels, in `mutations.toml`: `"file.wgsl" = [["as it is", "as it must not be"], ...]`. They are
tried in a copy of the crates, one at a time.
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


def cargo(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cargo on the copy, with a target folder that is kept for the next time."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / ".cache/mutations")}
    command = ["cargo", *arguments, "--locked", "-p", "metalml", "--test", "kernels"]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


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
        shutil.copytree(ROOT / "crates", copy / "crates")
        for name in ("Cargo.toml", "Cargo.lock"):
            shutil.copy(ROOT / name, copy)
        if cargo(copy, "test").returncode != 0:
            print("the tests fail before any edit", file=sys.stderr)
            return 1
        for name, pairs in edits.items():
            path = copy / LIST.parent.relative_to(ROOT) / name
            right = path.read_text()
            for old, new in pairs:
                if right.count(old) != 1:
                    verdict = f"NOT TRIED: {right.count(old)} places read like this"
                else:
                    path.write_text(right.replace(old, new))
                    if cargo(copy, "test", "--no-run").returncode != 0:
                        verdict = "NOT TRIED: it does not compile"
                    elif cargo(copy, "test").returncode == 0:
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
