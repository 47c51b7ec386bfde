"""Each row of the pages of features and of statements names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/explanation/features.md", "docs/reference/statements.md")
ROWS = [
    line
    for page in PAGES
    for line in (ROOT / page).read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| ---") and not line.endswith("| shown by |")
]


@pytest.mark.parametrize("row", ROWS)
def test_a_feature_is_shown_by_a_test_that_exists(row: str) -> None:
    """The last column is a file of tests, or one test in it."""
    named = re.fullmatch(r"\| .+ \| .+ \| `((?:tests|plugins)/[\w/-]+\.py)(?:::(\w+))?` \|", row)
    assert named is not None, row
    tree = ast.parse((ROOT / named[1]).read_text("utf-8"))
    tests = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    assert named[2] in tests if named[2] else any(name.startswith("test_") for name in tests)
