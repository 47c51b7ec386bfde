"""The artifact schemas accept what the contract allows and nothing else."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nel.artifacts.aggregates import Member, aggregates_json
from nel.artifacts.schema import SCHEMA_NAMES, load_schema
from nel.artifacts.shapes.schemas import SHAPES, schema_text
from nel.errors import UsageError
from nel.judges.stats.calibration import calibration_json
from nel.judges.stats.corrected_headline import corrected_headline
from nel.judges.stats.tally import Tally
from nel.metrics.accumulator import Accumulator
from nel.types import Scored
from tests.reports import run_fixture
from tests.support.boards import board_of, small
from tests.support.compared import comparison_example, decision_example, standings_example
from tests.support.matrices import matrix_example

NAN = float("nan")
DROP = object()


def aggregates_example() -> dict[str, Any]:
    total = Accumulator()
    for question, reward in enumerate((1.0, 0.0, 1.0)):
        total.add(question, Scored(reward=reward, metrics={"accuracy": reward}))
    metrics = {
        "metrics": total.metrics(),
        "accounting": total.accounting.as_json(),
        "complete": True,
        "selection": {"kind": "all", "n": 3, "of": 3},
    }
    members = {
        name: Member(
            slot=name,
            size=3,
            headline="accuracy",
            rows=metrics["metrics"],
            accounting=metrics["accounting"],
            is_complete=True,
            total=total,
        )
        for name in ("a", "b")
    }
    mean = {"name": "both", "metric": "accuracy", "benchmarks": ["a", "b"], "weight_by_size": True}
    mean |= {"weights": [], "missing": {}}
    return {"run_id": "r", "aggregates": aggregates_json([mean], members)}


def good_examples() -> dict[str, list[dict[str, Any]]]:
    rows = run_fixture.make_rows(200, unscored=9)
    nothing = run_fixture.make_rows(4, unscored=4)
    bad_row = copy.deepcopy(nothing[0])
    bad_row |= {"prompt": None, "expected_answer": None, "metadata": {}}
    bad_row["outcome"] |= {"cause": "bad_row", "kind": "unusable"}
    not_run = copy.deepcopy(nothing[1])
    not_run["outcome"] |= {"cause": "cancelled", "kind": "not_run"}
    metrics = run_fixture.metrics_of("mmlu-pro", rows)
    empty = run_fixture.metrics_of("mmlu-pro", nothing, complete=False)
    pairs = ((1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (1.0, 1.0), (1.0, None))
    tally = Tally()
    for place, (score, label) in enumerate(pairs):
        tally.add(place, score, is_judged=True, label=label)
    found = calibration_json(tally, n_resamples=50)
    calibration = {
        "run_id": "r", "benchmark": "b", **found, "corrected": corrected_headline(tally, metrics["headline"], found),
        "judge": {"panel": [{"name": "a", "model": "m"}], "template": None, "criteria": None, "aggregate": "majority",
                  "quorum": 1, "repeats": 1, "swap": True},
    }  # fmt: skip
    place = {"start": 3, "end": 4, "excerpt": "So ⟦B⟧"}
    strict = {"value": None, "form": "nothing found", "start": None, "end": None, "excerpt": None, "reward": 0.0,
              "rejected": [{"why": "not declared as the answer", **place}]}  # fmt: skip
    lenient = {"value": "B", "form": "last sentence", **place, "reward": 1.0, "rejected": []}
    audited = {
        "n_answers": 3, "n_differ": 1, "n_ran_on": 0, "kinds": {"letter": 3}, "without_reading": {"unscored": 1},
        "readings": {"scored": {"n": 3, "n_found": 3, "score": 1.0}, "strict": {"n": 3, "n_found": 2, "score": 0.5}},
        "reader": {"reader": "extract", "model": "m"}, "band": {"lower": 0.5, "upper": 1.0}, "reason": None,
    }  # fmt: skip
    difference = {
        "problem_idx": 0, "sample_id": "s", "repeat": 0, "kind": "letter", "expected": ["B"],
        "readings": {"scored": {"value": "B", "reward": 1.0}, "strict": strict, "lenient": lenient},
    }  # fmt: skip
    return {
        "extraction_audit": [
            {"run_id": "r", "benchmark": "b", **audited, "differences": [difference]},
            {
                "run_id": "r",
                "benchmark": "b",
                **audited,
                "reader": None,
                "band": None,
                "reason": "why",
                "differences": [],
            },
        ],
        "calibration": [calibration, {**calibration, "judge": None}],
        "result": [*rows, bad_row, not_run],
        "metrics": [metrics, empty, {**metrics, "extraction": audited}],
        "bundle": [run_fixture.bundle_of("mmlu-pro", metrics), run_fixture.bundle_of("mmlu-pro", empty)],
        "failure_analysis": [run_fixture.failures_of("mmlu-pro", rows)],
        "runtime_stats": [run_fixture.runtime_of("mmlu-pro", rows)],
        "comparison": [comparison_example()],
        "decision": [decision_example()],
        "standings": [standings_example()],
        "matrix_results": [matrix_example()],
        "aggregates": [aggregates_example()],
        "leaderboard": [board_of(small(), "a", "b", "c", length_control=True, n_resamples=50)],
    }


GOOD = good_examples()
SCORED = next(row for row in GOOD["result"] if row["outcome"]["state"] == "scored")
FAILED = next(row for row in GOOD["result"] if row["outcome"]["state"] == "model_failure")
UNSCORED = next(row for row in GOOD["result"] if row["outcome"]["state"] == "unscored")
BASES = {
    "scored": ("result", SCORED),
    "model_failure": ("result", FAILED),
    "unscored": ("result", UNSCORED),
    **{name: (name, GOOD[name][0]) for name in SCHEMA_NAMES if name != "result"},
}


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(load_schema(name))


def changed(value: Any, path: str, new: Any) -> Any:
    """Return a deep copy with the value at a slash-separated path replaced, added or dropped."""
    copied = target = copy.deepcopy(value)
    *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in parents:
        target = target[step]
    if new is DROP:
        del target[last]
    else:
        target[last] = new
    return copied


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_schema_is_valid_and_accepts_the_good_examples(name: str) -> None:
    """Each schema is draft 2020-12, and accepts every hand-made example after a trip through JSON."""
    jsonschema.Draft202012Validator.check_schema(load_schema(name))
    for example in GOOD[name]:
        assert list(validator(name).iter_errors(json.loads(json.dumps(example, allow_nan=False)))) == []


@pytest.mark.parametrize(
    ("base", "path", "new"),
    [
        ("scored", "reward", None),
        ("scored", "reward", NAN),
        ("scored", "reward", DROP),
        ("scored", "outcome/cause", "infra"),
        ("scored", "prompt", None),
        ("scored", "surprise", 1),
        ("model_failure", "reward", 1.0),
        ("unscored", "reward", 0.0),
        ("unscored", "outcome/cause", None),
        ("metrics", "accounting/n_total", -1),
        ("metrics", "accounting/unscored/weather", {"n": 1, "kinds": {}}),
        ("metrics", "headline/bounds", {"lower": 0.1, "upper": 1.1}),
        ("metrics", "metrics/0/value", None),
        ("bundle", "identity", "sha256:xyz"),
        ("bundle", "config/api_key", "sk-1"),
        ("failure_analysis", "failure_rate", 1.5),
        ("leaderboard", "models/0/win_rate/value", 1.2),
        ("runtime_stats", "requests/retries", -1),
    ],
)
def test_schema_refuses_what_the_contract_forbids(base: str, path: str, new: object) -> None:
    """One change to a good example is enough to be refused; NaN is never a number."""
    name, example = BASES[base]
    assert not validator(name).is_valid(changed(example, path, new))


@pytest.mark.parametrize("name", SHAPES)
def test_stored_schema_is_what_the_shape_says(name: str) -> None:
    """A shape that changed has its schema written again, by scripts/docs.py."""
    path = Path(load_schema.__code__.co_filename).parent / "schemas" / f"{name}.schema.json"
    assert path.read_text(encoding="utf-8") == schema_text(name)


def test_unknown_schema_is_refused_with_a_suggestion() -> None:
    """A misspelt name says which one was meant."""
    with pytest.raises(UsageError, match=r'no artifact schema "metric"; did you mean "metrics"\?'):
        load_schema("metric")
