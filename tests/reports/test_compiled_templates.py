"""Templates are compiled once for all starts, as Python's modules are."""

from __future__ import annotations

import sys
from pathlib import Path

import jinja2
import pytest

from nel.reports.environment import templates_of


def test_compiled_templates_are_kept_and_damaged_ones_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second start compiles no template; one that a crash cut is compiled again."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    compiled: list[str | None] = []
    compile_template = jinja2.Environment.compile

    def note(environment: jinja2.Environment, source: str, name: str | None = None, *more: object) -> object:
        compiled.append(name)
        return compile_template(environment, source, name, *more)  # type: ignore[call-overload]

    monkeypatch.setattr(jinja2.Environment, "compile", note)
    templates_of("nel.reports").get_template("shared.html.j2")
    templates_of("nel.reports").get_template("shared.html.j2")
    assert compiled == ["shared.html.j2"]
    (path,) = tmp_path.rglob("template-*.cache")
    path.write_bytes(path.read_bytes()[:40])
    templates_of("nel.reports").get_template("shared.html.j2")
    assert compiled == ["shared.html.j2"] * 2
