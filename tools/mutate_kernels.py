"""Do the tests see a wrong kernel? Each listed edit of a WGSL file must still compile, and must make a test fail.

    python tools/mutate_kernels.py [WORD]      # only the files whose path holds WORD

The edits stand beside the kernels, in `mutations.toml`: `"file.wgsl" = [["as it is", "as it must not be"], ...]`. They
are tried in a copy of the crates, one at a time. The tests are built once: what the build makes of an edited file, they
compile in place of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "crates/metalml/src/kernels/mutations.toml"
# An edit may make a kernel run for ever.
MOST_SECONDS = 600


class Copy(NamedTuple):
    """The crates, to be edited, and the folder where their kernels are made from them."""

    root: Path
    kernels: Path

    @property
    def crate(self) -> Path:
        """The folder of the crate that has the kernels."""
        return self.root / "crates/metalml"

    def cargo(self, *arguments: str) -> list[dict[str, object]]:
        """Run cargo with a target folder that is kept; return what it made."""
        command = ["cargo", *arguments, "--locked", "-p", "metalml", "--message-format", "json"]
        environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / ".cache/mutations")}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def build(self) -> Path:
        """Build the tests; return the program."""
        made = self.cargo("test", "--no-run", "--test", "kernels")
        return next(Path(str(part["executable"])) for part in made if part.get("executable"))

    def build_script(self) -> Path:
        """Build what makes the kernels; return the program."""
        # Else the last edit of a run before, of the same time, could be taken for this one.
        (self.crate / "build/main.rs").touch()
        made = self.cargo("check", "--lib")
        scripts = [part for part in made if "custom-build" in str(part.get("target")) and part.get("filenames")]
        ours = next(part for part in scripts if "metalml" in str(part["package_id"]))
        return Path(str(ours["filenames"][0]))  # type: ignore[index]

    def makes_kernels(self, script: Path) -> bool:
        """Make the kernels; tell whether all of them are valid."""
        environment = os.environ | {"OUT_DIR": str(self.kernels)}
        return (
            subprocess.run([script], cwd=self.crate, env=environment, capture_output=True, check=False).returncode == 0
        )

    def passes(self, tests: Path, families: str = "") -> bool:
        """Run the tests with these kernels, on the cases of some families only."""
        environment = os.environ | {"METALML_KERNELS": str(self.kernels)}
        if families:
            environment["METALML_FAMILIES"] = families
        try:
            done = subprocess.run(
                [tests, "gpu"], cwd=self.crate, env=environment, capture_output=True, check=False, timeout=MOST_SECONDS
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


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


def verdict_of(copy: Copy, script: Path, tests: Path, name: str) -> str:
    """Try the copy as it now is."""
    if name.endswith(".rs"):
        try:
            script = copy.build_script()
        except RuntimeError:
            return "NOT TRIED: it does not compile"
    if not copy.makes_kernels(script):
        return "NOT TRIED: it does not compile"
    return "NOT SEEN" if copy.passes(tests, families_of(name)) else "seen"


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
        copy = Copy(Path(folder) / "metalml", Path(folder) / "kernels")
        copy.kernels.mkdir()
        # With the time of now: cargo would take the last edit of a run before for what it was asked to build.
        shutil.copytree(ROOT / "crates", copy.root / "crates", copy_function=shutil.copy)
        for name in ("Cargo.toml", "Cargo.lock"):
            shutil.copy(ROOT / name, copy.root)
        tests = copy.build()
        script = copy.build_script()
        if not copy.makes_kernels(script) or not copy.passes(tests):
            print("the tests fail before any edit", file=sys.stderr)
            return 1
        for name, pairs in edits.items():
            path = copy.root / LIST.parent.relative_to(ROOT) / name
            right = path.read_text()
            for old, new in pairs:
                if right.count(old) != 1:
                    verdict = f"NOT TRIED: {right.count(old)} places read like this"
                else:
                    path.write_text(right.replace(old, new))
                    verdict = verdict_of(copy, script, tests, name)
                unseen += verdict != "seen"
                print(f"{verdict:<10} {name}: {' '.join(old.split())!r} -> {' '.join(new.split())!r}", flush=True)
            path.write_text(right)
            copy.makes_kernels(script)
    print(f"{sum(map(len, edits.values())) - unseen} edits seen, {unseen} not")
    return min(unseen, 1)


if __name__ == "__main__":
    sys.exit(main())
