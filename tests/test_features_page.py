"""Each row of the pages of features and of statements names a test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/evidence/features.md", "docs/evidence/statements.md")
ROWS = [
    line
    for page in PAGES
    for line in (ROOT / page).read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| ---") and not line.endswith("| shown by |")
]


@cache
def _tests(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def test_each_feature_is_shown_by_a_test_that_exists() -> None:
    """The last column is a file of tests, or one test in it."""
    named = {row: re.fullmatch(r"\| .+ \| .+ \| `((?:tests|plugins)/[\w/-]+\.py)(?:::(\w+))?` \|", row) for row in ROWS}
    assert [row for row, match in named.items() if match is None] == []
    missing = [
        row
        for row, match in named.items()
        if match and (match[2] or "test_") not in (_tests(match[1]) if match[2] else "".join(_tests(match[1])))
    ]
    assert missing == []
