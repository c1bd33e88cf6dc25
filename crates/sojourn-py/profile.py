"""Runs what a build is optimised for: every scenario that comes with the simulator, shortened.

`make wheel PGO=1` runs it with an instrumented build. The compiler arranges the
code by what that counts.
"""

from pathlib import Path

import sojourn

ROOT = Path(__file__).resolve().parents[2]

SECONDS = 20


def main() -> None:
    """Runs all of them, one after the other."""
    for file in sorted((ROOT / "scenarios").rglob("*.toml")):
        sojourn.run(file, duration_s=SECONDS, jobs=1)
        print(file.relative_to(ROOT))


if __name__ == "__main__":
    main()
