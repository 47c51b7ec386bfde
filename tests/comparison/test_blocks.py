"""Lines that are read many at a time give the same columns as lines that are read one at a time."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nel.comparison import sides
from nel.comparison.lines import Columns
from nel.comparison.nel_runs import read_side
from nel.errors import NelError
from tests.comparison.conftest import compared
from tests.support.compared import line, write_run

FAILED = {"state": "model_failure", "kind": "no_answer", "cause": None, "detail": None}
NOT_ASKED = {"state": "not_asked", "kind": None, "cause": None, "detail": None}
CHAT = [{"role": "user", "content": "hello"}]
PLAIN = [
    *(
        line(idx, float(idx % 2), category="ab"[idx % 2], group=f"g{idx // 3}", expected="ABC"[idx % 3])
        for idx in range(9)
    ),
    line(9, 0.25, sample_id="0123456789abcdef", answer="four words of answer"),
    line(10, 1, sample_id="0123456789abcdef#2", repeat=1),
    line(11, None),
    line(12, 0.0, outcome=FAILED, model="another"),
    line(13, None, outcome=NOT_ASKED),
    line(14, 1.0, prompt=CHAT, tokens=None, timing={}, model=None, expected=["a", 2]),
    line(15, 1.0, scoring_details={"metrics": {"correct": True, "late": 2}}),
    line(16, 0.0, metadata={"category": 7}, question="\u00e9\U0001f600 \ud800"),
]
UNUSUAL: dict[str, dict[str, Any]] = {
    "no prompt": {"prompt": ""},
    "tokens that are not a number": {"tokens": {"completion": "many"}},
    "a group that is not a text": {"group": 5},
    "no metadata": {"metadata": None},
}
BROKEN: dict[str, dict[str, Any]] = {
    "no id": {"sample_id": 5},
    "a state that is none": {"outcome": {"state": "done"}},
    "a reward without a score": {"reward": None},
    "a reward of what is unscored": {"outcome": {"state": "unscored", "cause": "infra", "kind": "timeout"}},
    "a repeat that is not a whole number": {"repeat": 0.5},
    "a metric that is not a number": {"scoring_details": {"metrics": {"correct": "often"}}},
    "a metric without a value": {"scoring_details": {"metrics": {"correct": None}}},
    "a number too large": {"problem_idx": 2**80},
}


def _both(tmp_path: Path, rows: Sequence[Mapping[str, Any]]) -> list[Columns]:
    side = read_side(write_run(tmp_path / "run", rows), "run").benchmarks["quiz"]
    return [side.columns(), replace(side, make_blocks=None).columns()]


def _assert_equal(one: Columns, other: Columns) -> None:
    for name in ("sample", "row", "question", "prompt", "expected", "offset"):
        np.testing.assert_array_equal(one.digests(name), other.digests(name), err_msg=name)
    for name in ("position", "repeat", "occurrence", "category", "group"):
        np.testing.assert_array_equal(one.integers(name), other.integers(name), err_msg=name)
    for name in ("reward", "tokens", "latency", "characters"):
        np.testing.assert_array_equal(one.numbers(name), other.numbers(name), err_msg=name)
    for name in one.metric_names:
        np.testing.assert_array_equal(one.metric(name), other.metric(name), err_msg=name)
    np.testing.assert_array_equal(one.states, other.states)
    for what in (
        "metric_names",
        "categories",
        "groups",
        "models",
        "causes",
        "has_rows",
        "has_questions",
        "has_own_ids",
    ):
        assert getattr(one, what) == getattr(other, what), what


@pytest.mark.parametrize("block_bytes", [2, 900, 1 << 18])
def test_blocks_of_any_size_hold_what_single_lines_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    """Scores, failures, unscored and unasked samples, repeated rows, chats and new metrics: every column is equal."""
    monkeypatch.setattr(sides, "_BLOCK_BYTES", block_bytes)
    _assert_equal(*_both(tmp_path, PLAIN))


@pytest.mark.parametrize("what", UNUSUAL)
def test_an_unusual_line_is_read_as_it_always_was(tmp_path: Path, what: str) -> None:
    """A block with one such line gives the same columns."""
    _assert_equal(*_both(tmp_path, [*PLAIN, {**line(17, 1.0), **UNUSUAL[what]}]))


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_line_is_named_as_when_read_alone(tmp_path: Path, what: str) -> None:
    """The error is that of the single line, with its number."""
    side = read_side(write_run(tmp_path / "run", [*PLAIN, {**line(17, 1.0), **BROKEN[what]}]), "run").benchmarks["quiz"]
    said = []
    for one in (side, replace(side, make_blocks=None)):
        with pytest.raises(NelError, match=r"results\.jsonl:18") as caught:
            one.columns()
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]


def test_rows_are_read_where_the_datasets_differ(tmp_path: Path) -> None:
    """Two rows of one id and gold answer but other content are not paired, however the datasets were waved through."""
    rows = [line(idx, float(idx % 2)) for idx in range(20)]
    changed = [{**rows[0], "metadata": {"question": "Another?"}}, *rows[1:]]
    left = write_run(tmp_path / "a", rows)
    right = write_run(tmp_path / "b", changed, fields={"dataset.sha256": "e" * 64})
    found = compared(left, right, despite=("dataset", "prompt"))["candidates"][0]["benchmarks"][0]
    assert found["headline"]["n_pairs"] == 19


@pytest.fixture
def _in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have parts of two or three lines, a block each, read by two processes, on any machine."""
    monkeypatch.setattr(sides, "PART_BYTES", 1_200)
    monkeypatch.setattr(sides, "_BLOCK_BYTES", 2)
    monkeypatch.setattr(sides, "usable_processes", lambda: 2)


@pytest.mark.usefixtures("_in_parts")
def test_parts_of_a_file_hold_what_the_file_holds(tmp_path: Path) -> None:
    """Codes of categories and groups, metrics and counts are as if one process had read all lines in order."""
    parts, whole = _both(tmp_path, PLAIN)
    _assert_equal(parts, whole)
    assert (parts.categories, parts.groups) == (whole.categories, whole.groups)
    assert list(parts.models.items()) == list(whole.models.items())
    assert list(parts.causes.items()) == list(whole.causes.items())
    assert parts.has_own_ids is whole.has_own_ids


@pytest.mark.usefixtures("_in_parts")
@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_line_of_a_part_is_named_by_its_place_in_the_file(tmp_path: Path, what: str) -> None:
    """The file is read again from its begin, which says where."""
    side = read_side(write_run(tmp_path / "run", [*PLAIN, {**line(17, 1.0), **BROKEN[what]}]), "run").benchmarks["quiz"]
    with pytest.raises(NelError, match=r"results\.jsonl:18"):
        side.columns()


def test_a_command_that_a_message_names_works_for_any_path(tmp_path: Path) -> None:
    """A shell reads the run's directory as one argument, also where its name has spaces."""
    run_dir = tmp_path / "my runs" / "of today"
    run_dir.mkdir(parents=True)
    (run_dir / "run.db").touch()
    with pytest.raises(NelError) as refused:
        read_side(run_dir, "run")
    assert shlex.split(str(refused.value))[-4:] == ["nel", "eval", "resume", str(run_dir)]
