"""A digest of tools and solvers: what they use, and nothing of the scorer beside them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from nel.engine.scorers.identity import code_digest

SOURCE = '''
"""Tools."""
RATE = 2

def helper(x):
    return x * RATE

def tool(x):
    """Doc."""
    return helper(x)

def scorer(sample):
    return sample == 1
'''


def digest_of(tmp_path: Path, source: str) -> str:
    path = tmp_path / "tools_of_a_test.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("tools_of_a_test", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules["tools_of_a_test"] = module
    spec.loader.exec_module(module)
    return code_digest([module.tool])


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("sample == 1", "sample == 2", False),
        ("Doc.", "Other words.", False),
        ("x * RATE", "x + RATE", True),
        ("RATE = 2", "RATE = 3", True),
    ],
)
def test_a_digest_covers_what_a_tool_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, changes: bool
) -> None:
    """An edited scorer of the same file is another scorer and the same tools."""
    monkeypatch.setitem(sys.modules, "tools_of_a_test", None)
    before = digest_of(tmp_path, SOURCE)
    assert (digest_of(tmp_path, SOURCE.replace(old, new)) != before) is changes
