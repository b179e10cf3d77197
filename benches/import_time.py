"""What `import metalml` costs beyond scikit-learn, and that it stays under 50 ms: fresh interpreters, taken in turn.

python benches/import_time.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys

LIMIT = 50.0
N_ROUNDS = 15
CODE = """
import time
import sklearn, sklearn.linear_model, sklearn.preprocessing
begin = time.perf_counter()
{statement}
print((time.perf_counter() - begin) * 1000)
"""
STATEMENTS = {
    "nothing": "pass",
    "import metalml": "import metalml",
    "... and its two estimators": "import metalml; metalml.linear_model.Ridge, metalml.preprocessing.StandardScaler",
}
ALONE = {"import sklearn alone": "import sklearn", "import metalml alone": "import metalml"}


def measure(code: str) -> float:
    """Return the milliseconds that a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> int:
    """Print the medians; return 1 if the import takes longer than it may."""
    codes = {name: CODE.format(statement=statement) for name, statement in STATEMENTS.items()}
    clock = "import time; begin = time.perf_counter(); {}; print((time.perf_counter() - begin) * 1000)"
    codes |= {name: clock.format(statement) for name, statement in ALONE.items()}
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(N_ROUNDS):
        for name, code in codes.items():
            times[name].append(measure(code))
    for name, own in times.items():
        print(f"{name:<30}{statistics.median(own):>9.1f} ms   (from {min(own):.1f} to {max(own):.1f})")
    extra = statistics.median(times["... and its two estimators"])
    print(f"beyond scikit-learn, at most {LIMIT:.0f} ms: {'yes' if extra <= LIMIT else 'NO'}")
    return 0 if extra <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
