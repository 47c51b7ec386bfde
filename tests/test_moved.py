"""A module that moved is the same module under its old name."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import import_module

import pytest

from nel.moved import MOVED


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_imports_the_moved_module(old: str) -> None:
    """The old name gives the module itself with a warning that names the new one; its spec stays its own."""
    name, new = f"nel.{old}", f"nel.{MOVED[old]}"
    known = sys.modules.pop(name, None)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert import_module(name) is import_module(new)
        assert f"{name} is now {new}; import it from there" in {str(one.message) for one in caught}
    finally:
        sys.modules.pop(name, None)
        if known is not None:
            sys.modules[name] = known
    spec = import_module(new).__spec__
    assert spec is not None
    assert spec.name == new


def test_names_are_imported_from_an_old_module() -> None:
    """``from old import name`` works in a process of its own, also below a package that moved."""
    code = (
        "from nel.judges.base import Case\n"
        "from nel.models.endpoints.demo import DemoOptions\n"
        "from nel.benchmarks.ranked.arc import arc_easy\n"
        "import nel.judges.types, nel.mock_server.demo\n"
        "assert Case is nel.judges.types.Case and DemoOptions is nel.mock_server.demo.DemoOptions\n"
        "import nel.judges.nothing_of_this_name\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "No module named 'nel.judges.nothing_of_this_name'" in done.stderr
    assert "AssertionError" not in done.stderr
