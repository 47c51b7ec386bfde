"""`nel.evaluate` takes what a Python program holds: benchmark objects, DataFrames and lists of rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas
import pytest

import nel
from nel import NelError, ScorerInput, answer_line, benchmark, scorer
from nel.datasets import open_dataset
from nel.datasets.in_memory import rows_of
from tests.support.runs import nel as cli
from tests.support.runs import read_results

ROWS: list[dict[str, Any]] = [
    {"question": "1 + 1?", "answer": "2", "said": "Answer: 2", "weight": 1.5},
    {"question": "2 + 2?", "answer": "4", "said": "Answer: 5", "weight": math.nan},
]


@benchmark(name="held", dataset=pandas.DataFrame(ROWS), prompt="{question}", target_field="answer")
@scorer
def held(sample: ScorerInput) -> dict:
    """Compare the answer line."""
    return answer_line(sample)


def config(tmp_path: Path, **entry: Any) -> dict[str, Any]:
    return {"benchmarks": [{"response_field": "said", **entry}], "output": {"dir": str(tmp_path), "run_id": "r"}}


def test_a_benchmark_object_is_run_with_its_own_rows(tmp_path: Path) -> None:
    """A missing value of a DataFrame is null; resume elsewhere says where the object is."""
    result = nel.evaluate(config(tmp_path, name=held))
    assert (result.exit_code, result.benchmarks[0].headline["value"]) == (0, 0.5)
    assert [row["metadata"]["weight"] for row in read_results(result.run_dir, "held")] == [1.5, None]
    done = cli("eval", "score", str(result.run_dir), cwd=tmp_path)
    assert (done.returncode, 'the benchmark "held" was an object of a Python program' in done.stderr) == (2, True)


def split_of(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_list(rows)


def arrow_table(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("pyarrow").Table.from_pylist(rows)


@pytest.mark.parametrize("made", [list, iter, pandas.DataFrame, arrow_table, split_of])
def test_rows_are_a_dataset(tmp_path: Path, made: Any) -> None:
    """They are written below the runs, so that the command line goes on with the run."""
    rows = [{"question": row["question"], "answer": f"#### {row['answer']}", "said": row["answer"]} for row in ROWS]
    result = nel.evaluate(config(tmp_path, name="gsm8k", dataset=made(rows)))
    assert (result.exit_code, result.benchmarks[0].headline["value"]) == (0, 1.0)
    assert len([*tmp_path.glob("rows-*.jsonl")]) == 1
    assert cli("eval", "score", str(result.run_dir), cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (pandas.DataFrame(ROWS), "the configuration is a DataFrame; give a mapping"),
        ({"benchmarks": [{"name": "gsm8k", "dataset": [5]}]}, "dataset: row 1: a int, not a mapping"),
        ({"benchmarks": [{"name": "gsm8k", "sample": 5, "max_problems": 5}]}, "max_problems"),
    ],
)
def test_messages_speak_of_arguments(tmp_path: Path, wrong: Any, message: str) -> None:
    """What a call raises names keys and arguments, and no flag."""
    with pytest.raises(NelError, match=message) as raised:
        nel.evaluate(wrong)
    assert "--" not in str(raised.value)


@pytest.mark.parametrize("made", [pandas.DataFrame, lambda _: pandas.DataFrame([["a", "b"]], columns=["q", "q"])])
def test_a_table_is_the_same_from_a_function(made: Any) -> None:
    """What pandas writes for a missing value is null, and a column that is there twice is refused, at both doors."""
    frame = made([{"q": "a", "when": pandas.NaT, "n": pandas.NA, "nested": [{"x": pandas.NA}]}])
    doors = (lambda: rows_of(frame, "dataset"), lambda: [row.data for row in open_dataset(lambda: frame).read()])
    for door in doors:
        if frame.columns.is_unique:
            assert door() == [{"q": "a", "when": None, "n": None, "nested": [{"x": None}]}]
        else:
            with pytest.raises(NelError, match='the column "q" is there twice'):
                door()


def test_several_splits_are_no_rows() -> None:
    """A dictionary of splits is refused by their names."""
    splits = pytest.importorskip("datasets").DatasetDict({name: split_of(ROWS) for name in ("dev", "test")})
    with pytest.raises(NelError, match=r"dataset: it has the splits dev, test; give one, as in dataset\["):
        nel.evaluate({"benchmarks": [{"name": "gsm8k", "dataset": splits}]})


def test_a_comparison_names_its_argument(tmp_path: Path) -> None:
    """The flag that would let two runs be compared is an argument in Python."""
    runs = [
        nel.evaluate({**config(tmp_path, name=held, **entry), "output": {"dir": str(tmp_path), "run_id": name}})
        for name, entry in (("a", {}), ("b", {"scorer": "contains"}))
    ]
    with pytest.raises(NelError, match=r'despite=\["scorer"\]'):
        nel.compare(*runs)
    assert set(nel.compare(*runs, despite=["scorer"]).verdicts) == {"b"}
