"""The table of planted faults fits today's nel, and planting leaves no trace."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutations.planting import ROOT, NotOnce, place_of, planted, sources
from tests.mutations.table import MUTATIONS, Mutation

EXAMPLE = Mutation(name="example", fault="", fragment="n + 1", replacement="n - 1", tests=("tests/test_plugins.py",))


def test_each_fragment_occurs_once_and_its_replacement_parses() -> None:
    """Every mutation finds its place in nel, and makes a program of it that differs."""
    texts = sources(ROOT)
    faulty = []
    for mutation in MUTATIONS:
        try:
            ast.parse(texts[place_of(mutation, texts)].replace(mutation.fragment, mutation.replacement))
            if mutation.fragment.split() == mutation.replacement.split():
                faulty.append(f"{mutation.name}: the replacement changes nothing")
        except (NotOnce, SyntaxError) as error:
            faulty.append(f"{mutation.name}: {error}")
    assert faulty == []


def test_each_mutation_names_tests_that_exist() -> None:
    """Names are unique, and every path of a test leads somewhere."""
    assert [name for name, count in Counter(mutation.name for mutation in MUTATIONS).items() if count > 1] == []
    missing = [(mutation.name, path) for mutation in MUTATIONS for path in mutation.tests if not (ROOT / path).exists()]
    assert missing == []


def test_rooms_of_nel_have_mutations() -> None:
    """No package of nel is without a planted fault."""
    texts = sources(ROOT)
    places = {place_of(mutation, texts).relative_to(ROOT / "nel").parts[0] for mutation in MUTATIONS}
    packages = {path.parent.name for path in (ROOT / "nel").glob("*/__init__.py")}
    assert sorted(packages - places) == []


def test_planting_is_undone(tmp_path: Path) -> None:
    """A fault is in the file within the block only, with a modification time of its own."""
    file = tmp_path / "nel" / "rooms" / "module.py"
    file.parent.mkdir(parents=True)
    file.write_text("def following(n):\n    return n + 1\n", encoding="utf-8")
    before = file.stat().st_mtime_ns
    with planted(EXAMPLE, tmp_path, 1) as place:
        assert place == file
        assert "return n - 1" in file.read_text(encoding="utf-8")
        assert file.stat().st_mtime_ns != before
    assert "return n + 1" in file.read_text(encoding="utf-8")
    assert file.stat().st_mtime_ns == before


@pytest.mark.parametrize("text", ["n = 1\n", "a = n + 1\nb = n + 1\n"])
def test_a_place_that_is_not_unique_is_refused(tmp_path: Path, text: str) -> None:
    """A fragment that is gone, or occurs twice, says so."""
    with pytest.raises(NotOnce, match="example: its fragment must occur once in nel"):
        place_of(EXAMPLE, {tmp_path / "module.py": text})
