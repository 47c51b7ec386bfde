"""The name `nel` may belong to another distribution: the message says which command to type."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nel.cli.other_program import other_program
from tests.support.distributions import install


def test_a_second_owner_of_the_name_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NeMo Evaluator's launcher installs a command nel too; as `nel` itself there is nothing to say."""
    monkeypatch.setattr(sys, "argv", ["/bin/nel-eval"])
    assert other_program() is None
    install(tmp_path, "nemo-evaluator-launcher", {"console_scripts": {"nel": "launcher:main"}})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert other_program() == "nel may be the command of nemo-evaluator-launcher here; type nel-eval in its place"
    monkeypatch.setattr(sys, "argv", ["/bin/nel"])
    assert other_program() is None
