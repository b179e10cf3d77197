"""A fresh Python, for what can only be seen at the start of a process: imports, environment variables, devices."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

_SECONDS = 120


def run_python(code: str, **variables: str | None) -> str:
    """Run code with environment variables added (`None`: removed); return what it printed, stripped."""
    environment = {name: value for name, value in {**os.environ, **variables}.items() if value is not None}
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout.strip()
