"""Tests of programs are tried before a run, and a run leaves tasks with broken tests unscored."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel import Benchmark, ScorerInput, benchmark, code_sandbox, scorer
from nel.authoring.program_tests import check_tests
from nel.config.identity import SCORING_FIELDS
from nel.errors import DatasetError
from nel.scoring.broken_tests import broken_tests, broken_tests_fields, key_of, take_broken_tests, write_broken_tests
from nel.types import Sample
from tests.sandbox.conftest import need_engine

GOLD = "def f(x):\n    return 2 * x\n"
IDLE = "try:\n    assert f(2) == 4\nexcept AssertionError:\n    pass"


def of_tests(tests: str) -> Benchmark:
    @scorer
    def judged(sample: ScorerInput) -> object:
        return code_sandbox(sample)

    row = {"id": "1", "prompt": "write f", "_test": tests, "entry_point": "f", "gold": GOLD}
    made: Benchmark = benchmark(
        name="mini", dataset=lambda: [row], prompt="{prompt}", target_field="gold", sandbox="python"
    )(judged)
    return made


@pytest.mark.docker
@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        ("assert f(2) == 4", ""),
        ("assert f(2) == 5", "fail the gold program: wrong"),
        ("import nothing_of_the_kind\nassert f(2) == 4", "fail the gold program: the tests need"),
        (IDLE, "always answers 7919"),
    ],
)
def test_each_task_is_tried_on_a_gold_an_empty_and_a_wrong_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tests: str, reason: str
) -> None:
    """Those whose tests are broken or check nothing are listed with the reason."""
    need_engine("python")
    monkeypatch.chdir(tmp_path)
    metadata = {"_test": tests, "entry_point": "f"}
    found = check_tests(of_tests(tests), [Sample(id="1", input="write f", target=GOLD, metadata=metadata)])
    assert [reason in task.reason for task in found.broken] == ([True] if reason else [])
    assert found.n_golds == 1


@pytest.mark.docker
def test_a_gold_program_may_complete_the_code_that_the_row_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code to complete is in ``_prompt``, where the prompt's template has another field."""
    need_engine("python")
    monkeypatch.chdir(tmp_path)
    metadata = {"_test": "assert f(2) == 4", "entry_point": "f", "_prompt": "def f(x):\n"}
    metadata["canonical_solution"] = "    return 2 * x\n"
    found = check_tests(of_tests("assert f(2) == 4"), [Sample(id="1", input="f", target="f", metadata=metadata)])
    assert (found.n_golds, len(found.broken)) == (1, 0)


def test_a_task_of_the_list_is_a_bad_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is run for it."""
    monkeypatch.chdir(tmp_path)
    key = key_of("assert f(2) == 5", "", "f")
    write_broken_tests("mini", {key: ("1", "the tests fail the gold program")})
    sample = ScorerInput(response=GOLD, target="f", metadata={"_test": "assert f(2) == 5"})
    with pytest.raises(DatasetError, match="fail the gold program"):
        code_sandbox(sample)
    write_broken_tests("mini", {})
    assert broken_tests() == {}


def test_a_host_uses_the_list_of_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has none of its own."""
    monkeypatch.chdir(tmp_path)
    take_broken_tests({"a": "no use"})
    assert broken_tests() == {"a": "no use"}
    take_broken_tests({})
    assert broken_tests() == {}


def test_the_list_that_a_run_read_is_part_of_its_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another list is another run; without one, or without programs, the identity says nothing."""
    monkeypatch.chdir(tmp_path)
    assert broken_tests_fields(["python"]) == {}
    write_broken_tests("mini", {"a": ("1", "no use")})
    first = broken_tests_fields(["python"])
    write_broken_tests("mini", {"a": ("1", "no use"), "b": ("2", "no use")})
    second = broken_tests_fields(["python"])
    assert (first.keys(), broken_tests_fields([])) == ({"scoring.broken_tests"}, {})
    assert first != second
    assert set(first) <= set(SCORING_FIELDS)
