"""Benchmarks in YAML: what they ask, how their checks score, and what is refused with file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.apps.byob.shipping.source import read_source
from nel.authoring.registry import find_benchmark
from nel.datasets import open_dataset
from nel.discovery.benchmark_checks import check_file
from nel.discovery.conformance import check_plugin
from nel.errors import ConfigError, DatasetError, PluginError
from nel.scoring.declarations import asks_judge, runs_in_process
from nel.types import Message, ScorerInput
from tests.support.judging import asked, saying

_EXAMPLE = Path(__file__).parents[2] / "docs/examples/yaml/capitals.yaml"
_HEAD = "prompt: '{q}'\n"


def _file(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def _scored(folder: Path, checks: str, response: str, **row: object) -> dict[str, object]:
    """Return what checks that hold for all rows make of a response."""
    text = f"{_HEAD}dataset: rows.jsonl\nchecks:\n  - {checks}\n"
    found = find_benchmark(_file(folder, text)).scorer(ScorerInput(response=response, target=None, metadata=row))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("checks", "right", "wrong"),
    [
        ("contains: Paris", "It is paris.", "It is Rome."),
        ("contains: Paris\n    ignore_case: false", "Paris", "paris"),
        ("contains: {field: a}", "An answer: X1", "none"),
        ("contains: '8'", "It has 8 legs.", "It has 18 legs, or 80."),
        ("not_contains: damn", "Fine.", "goddamned"),
        ('not_contains: "I can\'t"', "I can.", "I can’t do that."),
        ("regex: '\\d{2}'", "in 42 days", "in 4 days"),
        ("equals: [Paris, Lutetia]", " lutetia ", "Paris!"),
        ("numeric: 42\n    tolerance: 0.10", "The answer is 42.1", "The answer is 42.11"),
        ("json_schema: {type: object, required: [n]}", 'So: {"n": 1}', '{"m": 1}'),
    ],
)
def test_a_check_passes_or_fails(tmp_path: Path, checks: str, right: str, wrong: str) -> None:
    """Each kind, with its options, one right and one wrong response."""
    assert _scored(tmp_path, checks, right, a="X1")["score"] == 1
    assert _scored(tmp_path, checks, wrong, a="X1")["score"] == 0


def test_weights_make_a_share(tmp_path: Path) -> None:
    """And each check has a metric of its own, with what it expected and got."""
    found = _scored(tmp_path, "contains: a\n    weight: 3\n  - contains: b\n    name: second", "a")
    assert (found["score"], found["contains"], found["second"]) == (0.75, True, False)
    assert found["checks"][1] == {  # type: ignore[index]
        "check": "second",
        "kind": "contains",
        "passed": False,
        "expected": "b",
        "got": "a",
    }


def test_a_check_without_its_field_is_a_bad_row(tmp_path: Path) -> None:
    """It is the row's fault, never a wrong answer."""
    with pytest.raises(DatasetError, match='needs the field "a"'):
        _scored(tmp_path, "contains: {field: a}", "x", b="1")


def test_a_judge_decides_a_criterion(tmp_path: Path) -> None:
    """The run's judge is asked with the criterion; the run is known to need one."""
    benchmark = find_benchmark(_file(tmp_path, f"{_HEAD}dataset: r.jsonl\nchecks:\n  - judge: Is polite\n"))
    assert asks_judge(benchmark.scorer)
    judge = saying("pass", 1.0)
    assert benchmark.scorer(asked(judge.now))["score"] == 1  # type: ignore[index]
    (case,) = judge.cases
    assert (case.template, case.criteria) == ("llm_rubric", "Is polite")


def test_the_example_has_rows_with_checks_of_their_own() -> None:
    """Checks are not part of a row, so that a changed check scores stored answers again and asks nothing."""
    benchmark = find_benchmark(str(_EXAMPLE))
    rows = [row.data for row in open_dataset(benchmark.dataset).read()]
    assert [sorted(row) for row in rows] == [["answer", "question"]] * 2 + [["question"]] * 2
    scored = benchmark.scorer(ScorerInput(response="Answer: 42", target=None, metadata=rows[2]))
    assert scored == scored | {"score": 1.0, "numeric": True, "plain": True}  # type: ignore[operator]
    assert benchmark.sample(rows[0], sample_id="1").input == "What is the capital of France?"


def test_messages_are_rendered(tmp_path: Path) -> None:
    """Each with its role, for a chat endpoint."""
    text = (
        "messages:\n  - {role: system, content: Be brief}\n  - {role: user, content: 'Q {q}'}\n"
        "checks: [{contains: a}]\nrows: [{q: 7}]\n"
    )
    benchmark = find_benchmark(_file(tmp_path, text))
    expected = (Message(role="system", content="Be brief"), Message(role="user", content="Q 7"))
    assert (benchmark.protocol, benchmark.sample({"q": 7}, sample_id="1").input) == ("chat", expected)


_CHECKED = f"{_HEAD}checks: [{{contains: a}}]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{_CHECKED}rows:\n  - q: no\n",
            r'line 4: rows\[0\]\.q: YAML reads no as true or false; write "no" in quotes',
        ),
        (f"{_CHECKED}rows:\n  - q: 1.10\n", r'YAML reads 1\.10 as a number, 1\.1; write "1\.10" in quotes'),
        (f"{_CHECKED}rows:\n  - q: 012\n", "reads 012 as a whole number, 10"),
        (f"{_CHECKED}row: []\n", 'line 3: row: the key is unknown; did you mean "rows"'),
        (f"{_HEAD}rows:\n  - q: x\n    checks: [{{contain: a}}]\n", 'the key is unknown; did you mean "contains"'),
        (f"{_HEAD}rows:\n  - q: x\n    checks: [{{contains: no}}]\n", r"checks\[0\]\.contains: YAML reads no"),
        (f"{_HEAD}rows:\n  - q: x\n    checks: [{{regex: '('}}]\n", "is not a regular expression"),
        (f"{_HEAD}rows:\n  - q: x\n    checks: [{{numeric: many}}]\n", "'many' is not a number"),
        (f"{_HEAD}rows:\n  - q: x\n", "the row has no checks"),
        (f"{_HEAD}rows:\n  - q: x\n    checks: [{{contains: ''}}]\n", "an empty text decides nothing"),
        (f"{_CHECKED}rows: []\n", "there are no rows"),
        (_CHECKED, "give either rows or dataset"),
        ("", "is empty"),
        (f"{_CHECKED}rows: [{{q: x, q: y}}]\n", 'the key "q" stands twice'),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """With the file, the line, the key, and what to write."""
    with pytest.raises(ConfigError, match=message):
        find_benchmark(_file(tmp_path, text))


@pytest.mark.parametrize(
    ("check", "is_quick"), [("contains: a", True), ("regex: (a+)+$", False), ("json_schema: {}", False)]
)
def test_patterns_are_not_searched_on_the_event_loop(tmp_path: Path, check: str, is_quick: bool) -> None:
    """A pattern of the author's may take seconds, in which no other request would be sent or read."""
    found = find_benchmark(_file(tmp_path, f"{_HEAD}checks:\n  - {check}\nrows: [{{q: x}}]\n"))
    assert runs_in_process(found.scorer) is is_quick


def test_the_checks_of_a_file_are_those_that_fit_it() -> None:
    """``nel byob validate`` and ``nel plugin check`` look for no gold answer; a package of it is refused by name."""
    found = check_file(_EXAMPLE)["capitals"]
    assert [one.name for one in found if not one.passed] == []
    assert not {"a gold answer scores 1", "an empty answer scores 0"} & {one.name for one in found}  # neither is tried
    assert all(one.passed for one in check_plugin(str(_EXAMPLE)))
    with pytest.raises(PluginError, match="needs no package"):
        read_source(_EXAMPLE)
