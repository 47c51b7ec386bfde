"""The table of planted faults fits today's nel, and planting leaves no trace."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutations.planting import ROOT, NotOnce, changed, planted
from tests.mutations.table import MUTATIONS, Mutation

EXAMPLE = Mutation(name="example", says="", place="nel/module.py:C.next", before="n + 1", after="n - 1", tests="")
MODULE = """class C:
    def previous(self, n):
        return n + 1 - 2

    def next(self, n):
        return n + 1
"""


def test_each_fault_finds_its_place_and_makes_another_program() -> None:
    faulty = []
    for mutation in MUTATIONS:
        text = (ROOT / mutation.file).read_text(encoding="utf-8")
        try:
            ast.parse(changed(mutation, text))
            if mutation.before.split() == mutation.after.split():
                faulty.append(f"{mutation.name}: it changes nothing")
        except (NotOnce, SyntaxError) as error:
            faulty.append(f"{mutation.name}: {error}")
    assert faulty == []


def test_each_mutation_names_tests_that_exist() -> None:
    """Names are unique, and every path of a test leads somewhere."""
    assert [name for name, count in Counter(mutation.name for mutation in MUTATIONS).items() if count > 1] == []
    missing = [
        (mutation.name, path)
        for mutation in MUTATIONS
        for path in mutation.covering_files
        if not (ROOT / path).exists()
    ]
    assert missing == []
    assert all(mutation.covering_files for mutation in MUTATIONS)


def test_rooms_of_nel_have_mutations() -> None:
    """No package of nel is without a planted fault."""
    places = {Path(mutation.file).parts[1] for mutation in MUTATIONS}
    packages = {path.parent.name for path in (ROOT / "nel").glob("*/__init__.py")}
    assert sorted(packages - places) == []


def test_planting_is_undone(tmp_path: Path) -> None:
    """A fault is in the file within the block only, with a modification time of its own."""
    file = tmp_path / "nel" / "module.py"
    file.parent.mkdir(parents=True)
    file.write_text(MODULE, encoding="utf-8")
    before = file.stat().st_mtime_ns
    with planted(EXAMPLE, tmp_path, 1) as place:
        assert place == file
        assert file.read_text(encoding="utf-8") == MODULE.replace("n + 1\n", "n - 1\n")
        assert file.stat().st_mtime_ns != before
    assert file.read_text(encoding="utf-8") == MODULE
    assert file.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    "text",
    [
        MODULE.replace("next", "after"),
        MODULE.replace("n + 1\n", "1 + n\n"),
        MODULE.replace("n + 1\n", "n + 1 or n + 1\n"),
    ],
    ids=["no function", "not in it", "twice in it"],
)
def test_a_place_that_is_not_unique_is_refused(text: str) -> None:
    """What other functions hold does not count."""
    with pytest.raises(NotOnce, match=r"example: `before` must occur once in nel/module\.py:C\.next"):
        changed(EXAMPLE, text)
