"""A run is named by what its rules do: text around them may change, one expression may not."""

from __future__ import annotations

import importlib
import marshal
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib.util import cache_from_source
from pathlib import Path
from pkgutil import walk_packages

import pytest

import nel
from nel.authoring.registry import find_benchmark
from nel.engine.scorers.identity import (
    _JUDGING_ROOMS,
    _SCORING_ROOMS,
    _scorer_sources,
    judge_digest,
    scorer_digest,
    unseen_dependencies,
)
from nel.engine.scorers.source_digest import _read, read_source
from nel.engine.scorers.sources import follow
from nel.reading import numerals
from nel.scoring.answers import numeric_match

PACKAGE = Path(nel.__file__).parent

RULE = '''
"""Reads an answer."""
import re
from nel.scoring.text import cleaned, words

LIMIT: int = 3  # characters
"""How much is read."""


def read(text: str, *, limit: int = LIMIT) -> str | None:
    """Return the answer."""
    found = re.search(r"answer: (.*)", cleaned(text))
    return found[1][:limit] if found else None
'''
SAME = {
    "comment": ("# characters", "# as the paper has it"),
    "docstring of the module": ("Reads an answer.", "Finds what was answered."),
    "docstring of a function": ("Return the answer.", "Return what was answered, or None."),
    "docstring of a constant": ("How much is read.", "Characters."),
    "a module that moved": (
        "from nel.scoring.text import cleaned, words",
        "from nel.scoring.plain import words, cleaned",
    ),
    "imports in another order": (
        "import re\nfrom nel.scoring.text import cleaned, words",
        "from a import words\nfrom b import cleaned\nimport re",
    ),
    "annotations": ("text: str, *, limit: int = LIMIT) -> str | None", "text, *, limit=LIMIT)"),
    "layout": (
        "found[1][:limit] if found else None",
        "(\n        found[1][:limit]\n        if found\n        else None\n    )",
    ),
}
OTHER = {
    "constant": ("= 3", "= 4"),
    "operator": ("[:limit]", "[limit:]"),
    "name that is called": ("cleaned(text)", "words(text)"),
    "name that is imported": ("import cleaned, words", "import blank as cleaned, words"),
    "branch": ("if found else None", 'if found else ""'),
    "type of a literal": ("= 3", "= 3.0"),
}


def _digest(tmp_path: Path, text: str) -> str:
    path = tmp_path / "rule.py"
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_source(path).digest


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_text_around_a_rule_is_not_in_its_digest(tmp_path: Path, change: tuple[str, str]) -> None:
    """Comments, docstrings, layout, annotations and the modules of imports may change."""
    assert change[0] in RULE
    (tmp_path / "changed").mkdir()
    assert _digest(tmp_path, RULE) == _digest(tmp_path / "changed", RULE.replace(*change))


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER)
def test_each_expression_of_a_rule_is_in_its_digest(tmp_path: Path, change: tuple[str, str]) -> None:
    """A number, a pattern, an operator or a called name makes another rule."""
    assert change[0] in RULE
    (tmp_path / "changed").mkdir()
    assert _digest(tmp_path, RULE) != _digest(tmp_path / "changed", RULE.replace(*change))


def test_a_file_that_is_no_python_goes_by_its_bytes(tmp_path: Path) -> None:
    """A syntax error is the loader's to report; the digest still changes with the file."""
    (tmp_path / "changed").mkdir()
    assert _digest(tmp_path, "def (") != _digest(tmp_path / "changed", "def ((")


@pytest.mark.parametrize(
    ("room", "rooms"), [("scoring", _SCORING_ROOMS), ("judges", _JUDGING_ROOMS)], ids=["scoring", "judges"]
)
def test_every_rule_file_is_in_the_digest(room: str, rooms: frozenset[str]) -> None:
    """Those in folders too: a file outside of it could change without another name for the run."""
    module = __import__(f"nel.{room}", fromlist=["__path__"])
    closure = follow(sorted(Path(module.__path__[0]).rglob("*.py")), rooms).files
    assert {path for path in (PACKAGE / room).rglob("*.py") if "stats" not in path.parts} <= closure


_PRINT_DIGESTS = """
from nel.authoring.registry import find_benchmark
from nel.engine.scorers.identity import judge_digest, scorer_digest
print(scorer_digest(find_benchmark("quickstart")), judge_digest(None))
"""


def _digests_of(tree: Path, program: str = _PRINT_DIGESTS) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_rule_in_a_folder_counts_and_its_docstring_does_not(tmp_path: Path) -> None:
    """In a copy of nel: a documented rule is the same rule; one of judges that lies in a new folder is in theirs."""
    shutil.copytree(PACKAGE, tmp_path / "nel")
    before = _digests_of(tmp_path)
    for room in ("scoring", "judges"):
        init = tmp_path / "nel" / room / "__init__.py"
        init.write_text('"""Other words."""\n# and a remark\n' + init.read_text().split('"""', 2)[2])
    assert _digests_of(tmp_path) == before
    folder = tmp_path / "nel" / "judges" / "deep" / "deeper"
    folder.mkdir(parents=True)
    (folder / "rule.py").write_text("LIMIT = 3\n")
    within = _digests_of(tmp_path)
    assert [digest != other for digest, other in zip(before, within, strict=True)] == [False, True]


_PRINT_SCORERS = """
from nel.authoring.registry import find_benchmark
from nel.engine.scorers.identity import scorer_digest
for name in ("gsm8k", "wmt14_de_en", "humaneval", "bbh"):
    print(scorer_digest(find_benchmark(name)))
"""


def _copy_of_nel(folder: Path) -> None:
    shutil.copytree(PACKAGE, folder / "nel")
    shutil.copytree(PACKAGE.parent / "sandbox_images", folder / "sandbox_images")


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_scorer_is_named_by_its_own_imports_and_the_version_of_its_readers(tmp_path: Path) -> None:
    """In a copy of nel: another word of yes or no changes nothing before its version is raised, and then only the
    benchmark that reads yes or no; numbers, BLEU and programs stay comparable."""
    _copy_of_nel(tmp_path)
    before = _digests_of(tmp_path, _PRINT_SCORERS)
    decisions = tmp_path / "nel" / "reading" / "decisions.py"
    decisions.write_text(decisions.read_text(encoding="utf-8") + "\n_ANOTHER_WORD = 'aye'\n", encoding="utf-8")
    assert _digests_of(tmp_path, _PRINT_SCORERS) == before
    _edit(tmp_path / "nel" / "reading" / "forms.toml", "decisions = ", "decisions = 1")
    raised = _digests_of(tmp_path, _PRINT_SCORERS)
    assert [digest != other for digest, other in zip(before, raised, strict=True)] == [False, False, False, True]


@pytest.mark.slow
def test_an_edited_rule_names_the_scorers_that_use_it(tmp_path: Path) -> None:
    """In a copy of nel: the comparison of numbers is part of GSM8K's scorer and of no other here."""
    _copy_of_nel(tmp_path)
    before = _digests_of(tmp_path, _PRINT_SCORERS)
    answers = tmp_path / "nel" / "scoring" / "answers.py"
    answers.write_text(answers.read_text(encoding="utf-8") + "\n_LIMIT = 3\n", encoding="utf-8")
    edited = _digests_of(tmp_path, _PRINT_SCORERS)
    assert [digest != other for digest, other in zip(before, edited, strict=True)] == [True, False, False, False]


def test_a_digest_does_not_depend_on_what_else_the_process_has_loaded() -> None:
    """A session in a process that has imported much more of nel finds the verdicts of the first one."""
    for room in ("byob", "judges", "metrics", "scoring"):
        for module in walk_packages([str(PACKAGE / room)], f"nel.{room}."):
            importlib.import_module(module.name)
    here = [scorer_digest(find_benchmark("quickstart")), judge_digest(None)]
    assert _digests_of(PACKAGE.parent) == here


def test_pythons_own_modules_are_no_part_of_a_scorer() -> None:
    """A scorer whose options are bound is a `functools.partial`; only what was written for it decides its digest."""
    found = find_benchmark("quickstart")
    bound = replace(found, scorer=partial(numeric_match))
    assert unseen_dependencies(bound) == ()
    plain, with_options = (_scorer_sources(one) for one in (replace(found, scorer=numeric_match), bound))
    assert with_options == plain


def test_the_logic_of_nels_own_files_is_kept() -> None:
    """A start parses none of them; what a crash left of a kept file is made again."""
    path = Path(numerals.__file__)
    place = Path(cache_from_source(str(path))).with_suffix(".logic")
    logic = read_source(path)
    assert logic.imports
    place.parent.mkdir(exist_ok=True)
    other = marshal.dumps((b"of another version", "", (), frozenset(), ()))
    for data in (b"", b"\0", other[:-3], other):
        place.write_bytes(data)
        _read.cache_clear()
        assert read_source(path) == logic
    _read.cache_clear()
    assert read_source(path) == logic
