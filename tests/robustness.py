"""Runs the tests of what nel withstands and writes their table of docs/evidence/robustness.md.

    python -m tests.robustness [--workers 2]

A row is a selection of tests, slow ones included. A test is one case, or as many as it records with
``record_property("cases", n)``; where a test fails, all of its cases count as wrong. A skipped one was not tried.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

_ROOT: Final = Path(__file__).parents[1]
_PAGE: Final = _ROOT / "docs" / "evidence" / "robustness.md"
_START: Final = "<!-- python -m tests.robustness -->\n"
_END: Final = "<!-- end of the tests -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A selection of tests."""

    what: str
    path: str
    keyword: str = ""
    """A pytest ``-k`` expression."""

    @property
    def command(self) -> str:
        """Return the selection as pytest takes it."""
        return f"{self.path} -k '{self.keyword}'" if self.keyword else self.path


ROWS: Final = (
    Row(
        what="scorers that exit, crash, fork, close their files, change directory, streams or limits of recursion, "
        "and their children in sessions of their own",
        path="tests/engine/scorers/test_hostile_scorers.py",
    ),
    Row(
        what="a key that is repeated in other spellings: in errors, answers, names, streams, broken chunks, redirects, "
        "headers, by scorers and by proxies",
        path="tests/faults/test_secrets.py",
    ),
    Row(
        what="Jinja templates that look for work without end",
        path="tests/prompts/test_hostile_templates.py",
        keyword="within_its_bounds",
    ),
    Row(
        what="damaged run.db: flipped bytes anywhere, each page emptied, files cut and foreign",
        path="tests/faults/test_damaged_store.py",
    ),
    Row(what="kills at named and at random moments, and of judged runs", path="tests/faults", keyword="kill"),
    Row(what="answers and streams of an endpoint", path="tests/faults/test_bodies.py tests/faults/test_streaming.py"),
    Row(
        what="statuses, sockets, headers and outages of an endpoint",
        path="tests/faults/test_http_status.py tests/faults/test_sockets.py tests/faults/test_rate_limit_headers.py "
        "tests/faults/test_outage.py tests/faults/test_refusals.py",
    ),
    Row(
        what="signals, closed and full outputs, few files, little memory, full disks",
        path="tests/faults/test_process.py tests/faults/test_limits.py tests/faults/test_storage.py",
    ),
    Row(
        what="plugins that print, end the process or give what is not a number while nel calls them",
        path="tests/faults/test_plugin_calls.py",
    ),
    Row(what="commands of programs that a user mistypes", path="tests/documented/test_mistakes.py"),
)


def counted(row: Row, workers: int) -> tuple[int, int]:
    """Return how many cases were tried, and how many went wrong."""
    with tempfile.TemporaryDirectory(prefix="nel-robustness-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-n", str(workers), *row.path.split(), f"--junitxml={report}"]
        done = subprocess.run([*command, *(["-k", row.keyword] if row.keyword else [])], cwd=_ROOT, check=False)
        if not report.exists():
            raise SystemExit(f"pytest ended with {done.returncode} and without a report: {row.command}")
        tried = wrong = 0
        for test in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - just written by pytest
            if test.find("skipped") is not None:
                continue
            cases = [one.get("value", "1") for one in test.iter("property") if one.get("name") == "cases"]
            n = int(cases[0]) if cases else 1
            tried += n
            wrong += n * (test.find("failure") is not None or test.find("error") is not None)
    return tried, wrong


def table(workers: int) -> tuple[str, int]:
    """Return the table, and how many cases went wrong."""
    lines = ["| what | tried | right | wrong | `pytest …` |", "|---|---:|---:|---:|---|"]
    total = failed = 0
    for row in ROWS:
        tried, wrong = counted(row, workers)
        lines.append(f"| {row.what} | {tried:,} | {tried - wrong:,} | {wrong:,} | `{row.command}` |")
        total, failed = total + tried, failed + wrong
    lines.append(f"| **all** | **{total:,}** | **{total - failed:,}** | **{failed:,}** | |")
    return "\n".join(lines), failed


def main() -> int:
    """Write the table; return 1 where a case went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    text, failed = table(parser.parse_args().workers)
    page = _PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(_START)
    _, _, after = rest.partition(_END)
    _PAGE.write_text(f"{before}{_START}{text}\n{_END}{after}", encoding="utf-8")
    sys.stdout.write(f"{text}\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
