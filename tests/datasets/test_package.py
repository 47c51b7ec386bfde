"""Data files inside installed packages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from nel.datasets.package import open_package
from nel.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An importable package whose code must not run, with data and a distribution version."""
    home = tmp_path / "nel_fixture_pack"
    (home / "sub" / "data").mkdir(parents=True)
    for folder in (home, home / "sub"):
        (folder / "__init__.py").write_text("raise SystemExit('imported')")
    (home / "module.py").write_text("")
    (home / "sub" / "data" / "quiz.jsonl").write_text('{"a": 1}\n')
    info = tmp_path / "Fixture_Pack-3.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Fixture-Pack\nVersion: 3.1\n")
    (info / "top_level.txt").write_text("nel_fixture_pack\n")
    monkeypatch.syspath_prepend(tmp_path)
    return "nel_fixture_pack"


@pytest.mark.parametrize("path", ["sub/data/quiz.jsonl", None])
def test_files_of_packages_are_read_without_importing_them(package: str, path: str | None) -> None:
    """A data file is found through the package or a package below it; no code of theirs runs."""
    uri = f"pkg://{package}/{path}" if path else f"pkg://{package}.sub/data/quiz.jsonl"
    dataset = open_package(uri, None)
    assert [row.data for row in dataset.read()] == [{"a": 1}]
    assert (dataset.uri, dataset.revision) == (uri, "3.1")
    assert package not in sys.modules


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("pkg://nel_fixture_pack/../secret.jsonl", "the path may not leave the package"),
        ("pkg://nel_fixture_pack//etc/quiz.jsonl", "the path may not leave the package"),
        ("pkg://nel_fixture_pack/..\\a.jsonl", "the path may not leave the package"),
        ("pkg://nel_fixture_pack", "the form is pkg://PACKAGE/path"),
        ("pkg://nel_nosuch_pack/a.jsonl", 'no package "nel_nosuch_pack" is installed'),
        ("pkg://nel_fixture_pack.module/a.jsonl", "a module without data files"),
        ("pkg://nel_fixture_pack/sub/data/quiz.json", 'no "quiz.json" in sub/data; did you mean "quiz.jsonl"?'),
        ("pkg://nel_fixture_pack/sub/data", "no reader for files like this"),
    ],
)
def test_wrong_uris_say_why(package: str, uri: str, problem: str) -> None:
    """Whatever leaves the package, or is not in it, is an error that says so."""
    with pytest.raises(DatasetError) as caught:
        open_package(uri, None)
    assert problem in str(caught.value)
