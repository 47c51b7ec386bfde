"""Runs every attack and writes the table of docs/evidence/robustness.md: ``python -m tests.attacks``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.attacks.table import FAMILIES, Family, gave_way

_PAGE: Final = Path(__file__).parents[2] / "docs" / "evidence" / "robustness.md"
_START: Final = "<!-- python -m tests.attacks -->\n"
_END: Final = "<!-- end of the attacks -->"


def _wrong(family: Family) -> int:
    with tempfile.TemporaryDirectory(prefix="nel-attack-") as folder:
        failed = gave_way(family, Path(folder))
    for name, why in failed.items():
        sys.stderr.write(f"{family.what}: {name}\n{why}\n")
    return len(failed)


def main() -> int:
    """Run all and return 1 where nel gave way."""
    lines = ["| what | tried | right | wrong |", "|---|---:|---:|---:|"]
    total = wrong = 0
    for family in FAMILIES:
        tried, failed = len(family.attacks), _wrong(family)
        lines.append(f"| {family.what} | {tried} | {tried - failed} | {failed} |")
        total, wrong = total + tried, wrong + failed
    lines.append(f"| **all** | **{total}** | **{total - wrong}** | **{wrong}** |")
    page = _PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(_START)
    _, _, after = rest.partition(_END)
    table = "\n".join(lines)
    _PAGE.write_text(f"{before}{_START}{table}\n{_END}{after}", encoding="utf-8")
    sys.stdout.write(f"{table}\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
