"""`nel --help` beside `python -c "import typer"`: the median of alternating runs.

python tests/performance/startup.py [--rounds 15]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path


def seconds(command: list[str]) -> float:
    """Return the wall time of a command."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Print both medians and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    nel = str(Path(sys.executable).with_name("nel"))
    pairs = [(seconds([nel, "--help"]), seconds([sys.executable, "-c", "import typer"])) for _ in range(rounds)]
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = f"{ours / theirs:.2f}x (median of {rounds})"
    print(f"nel --help {1000 * ours:.0f} ms, import typer {1000 * theirs:.0f} ms: {ratio}")


if __name__ == "__main__":
    main()
