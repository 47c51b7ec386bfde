"""The artifacts say who judged, how far to trust it, and keep the judges' requests apart from the model's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.judge_summary import judging_json, judging_warnings
from nel.artifacts.write import write_artifacts
from nel.engine.store.rows import JUDGE, SCORER, Asked
from nel.judges.record import KEY
from nel.judges.stats.summary import JudgingCounts
from nel.types import Outcome, Response, Scored, Unscored, Usage
from tests.support.judgements import opinion, record, records, repeated, write_store
from tests.support.runs import read_json
from tests.support.schemas import check_schema

PANEL = (("strict", "gpt-4o"), ("mild", "claude-3-5-sonnet"))
NAMES = [name for name, _ in PANEL]


def scored(*found: dict[str, Any]) -> Outcome:
    return Scored(reward=found[0]["score"], metrics={"correct": found[0]["score"]}, details={KEY: list(found)})


def unscored(*found: dict[str, Any], kind: str = "no_quorum") -> Outcome:
    return Unscored(cause="judge", kind=kind, detail="no verdict", details={KEY: list(found)} if found else {})


def judged(cases: list[dict[str, Any]], **known: Any) -> dict[str, Any]:
    """Return the ``judging`` object of cases judged by the panel, one a sample."""
    counts = JudgingCounts(known.pop("names", NAMES))
    for number, case in enumerate(cases):
        counts.add(number, [case], unscored_kind=None if case["grade"] else "no_quorum")
    plan = {"model": known.pop("model", "aurora-7b"), "judge": None}
    found = judging_json(counts.as_json(), plan, judges=dict(known.pop("panel", PANEL)))
    assert found is not None
    return found


AGREEING = records([("C", "C")] * 30 + [("I", "I")] * 20, NAMES)


def warnings_of(*found: Any, **known: Any) -> list[str]:
    plan = {"model": known.get("model", "aurora-7b"), "judge": None}
    models, served = known.pop("models", ()), known.pop("served", {})
    return list(judging_warnings(judged(*found, **known), plan, models=models, models_by_judge=served))


def test_artifacts_agree_with_their_schemas_and_with_each_other(tmp_path: Path) -> None:
    """What is unscored by judge is the same number in the accounting and beside the judges; all files fit."""
    outcomes = [scored(one) for one in AGREEING] + [unscored(record(None, opinion("strict", None)))] * 2
    run_dir = write_store(tmp_path / "run", [*outcomes, unscored(kind="no_judge")], panel=PANEL)
    (result,) = write_artifacts(run_dir)
    for name in ("metrics", "runtime_stats"):
        check_schema(read_json(run_dir / "mine" / f"{name}.json"), name)
    judging = read_json(run_dir / "mine" / "metrics.json")["judging"]
    assert judging["n_without_grade"] == result.accounting["unscored"]["judge"] == {
        "n": 3, "kinds": {"no_quorum": 2, "no_judge": 1},
    }  # fmt: skip
    assert (judging["n_judged"], judging["n_cases"]) == (53, 52)
    assert [(judge["name"], judge["model"]) for judge in judging["judges"]] == list(PANEL)
    assert judging["settings"] == {"aggregate": "majority", "quorum": None, "repeats": 1, "swap": True}
    assert judging["agreement"][0]["kappa"]["value"] == 1.0


def answered(model: str, **fields: Any) -> Response:
    usage = Usage(prompt_tokens=100, completion_tokens=20)
    return Response(text="GRADE: C", finish_reason="stop", usage=usage, model=model, attempts=1, **fields)


def test_requests_to_judges_are_kept_apart(tmp_path: Path) -> None:
    """Requests, tokens, cost and latency of each judge are its own; what a scorer asked of the model stays with it."""
    calls = [
        (Asked(JUDGE, 1, "strict", b"ab"), answered("gpt-4o-2024", latency_seconds=2.0)),
        (Asked(JUDGE, 1, "strict", b"cd"), answered("gpt-4o-2024", latency_seconds=4.0)),
        (Asked(JUDGE, 1, "a:b", b"ab"), answered("free", latency_seconds=1.0)),
        (Asked(JUDGE, 1, "second", b"ab"), answered("o3")),
        (Asked(SCORER, 0), answered("aurora-7b")),
    ]
    config = {
        "endpoint": {"model": "aurora-7b", "url": "http://127.0.0.1:1/v1"},
        "model_roles": {"grader": {"name": "second", "model": "o3"}},
        "budget": {"prices": {"gpt-4o": {"input": 10, "output": 50}, "aurora-7b": {"input": 1, "output": 1}}},
    }
    panel = (("strict", "gpt-4o"), ("a:b", "meta/llama:free"))
    run_dir = write_store(tmp_path / "run", [scored(AGREEING[0])], panel=panel, calls=calls, config=config)
    write_artifacts(run_dir)
    runtime = read_json(run_dir / "mine" / "runtime_stats.json")
    check_schema(runtime, "runtime_stats")
    assert runtime["requests"] == {"completed": 2, "failed": 0, "attempts": 2, "retries": 0, "cached": 0}
    assert runtime["tokens"]["prompt"] == 100
    assert runtime["models"] == {"aurora-7b": 2}
    assert runtime["cost"]["total"] == pytest.approx(120e-6)
    strict, other = runtime["judges"]["strict"], runtime["judges"]["a:b"]
    assert strict["requests"] == {"completed": 2, "attempts": 2, "retries": 0, "cached": 0}
    assert (strict["tokens"]["prompt"], strict["tokens"]["completion"]) == (200, 40)
    assert strict["cost"] == {"total": pytest.approx((200 * 10 + 40 * 50) / 1e6), "unknown": 0}
    assert (strict["latency_seconds"]["max"], strict["models"]) == (4.0, {"gpt-4o-2024": 2})
    assert (other["model"], other["requests"]["completed"], other["cost"]["total"]) == ("meta/llama:free", 1, None)
    assert (runtime["judges"]["second"]["model"], runtime["judges"]["second"]["requests"]["completed"]) == ("o3", 1)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"model": "gpt-4o"}, "strict judges itself: gpt-4o is the evaluated model"),
        ({"models": ["gpt-4o-2024-08-06"], "served": {"strict": ["gpt-4o-2024-08-06"]}}, "strict judges itself"),
        ({"served": {"mild": ["aurora-7b"]}}, "mild judges itself: aurora-7b is the evaluated model"),
        ({"model": "gpt-4o-mini"}, "strict judges its own family: gpt-4o and gpt-4o-mini are both gpt"),
    ],
)
def test_a_judge_of_its_own_kind_is_named(known: dict[str, Any], message: str) -> None:
    """By the names of the configuration and by those that the servers give, whatever their date or vendor."""
    (warning,) = warnings_of(AGREEING, **known)
    assert warning.startswith(message)
    assert "models favour" in warning


def test_disagreement_is_named_with_its_number() -> None:
    """Alpha below 0.667 is said with its interval and the number of cases."""
    cases = records([("C", "C")] * 20 + [("C", "I")] * 5 + [("I", "C")] * 10 + [("I", "I")] * 15, NAMES)
    (warning,) = warnings_of(cases)
    assert warning.startswith("the judges disagree: Krippendorff's alpha is 0.400 [")
    assert "over 50 cases (binary_qa), below 0.667" in warning


def test_missing_verdicts_are_named() -> None:
    """More than one in twenty without a verdict is said of the panel, of a member, and of one that never answered."""
    some = records([("C", "C")] * 9 + [("I", "I")] * 10 + [(None, None)] * 2, NAMES)
    assert warnings_of(some)[0] == "2 of 21 judged samples have no verdict, more than 5 %"
    one = records([("C", "C")] * 10 + [("I", "I")] * 9 + [("I", None)] * 2, NAMES)
    assert warnings_of(one) == ["mild gave no verdict in 2 of 21 cases"]
    mute = records([("C", None)] * 10 + [("I", None)] * 10, NAMES)
    assert warnings_of(mute) == ["mild gave no opinion at all in 20 cases"]


def test_what_no_judge_could_be_asked_is_named_with_its_reason() -> None:
    """The first fault of each kind that asking again does not cure; what a judge said wrong is none of them."""
    counts = JudgingCounts(["strict"])
    for number, kind in enumerate(["bad_template", "bad_template", "no_verdict", "no_judge"]):
        counts.add(number, None, unscored_kind=kind, unscored_detail=f"fault {number}")
    plan = {"model": "x", "judge": None}
    judging = judging_json(counts.as_json(), plan, judges={})
    warnings = list(judging_warnings(judging, plan, models=(), models_by_judge={}, faults=counts.details))
    assert warnings[:2] == [
        "no judge could be asked about 2 samples (bad_template): fault 0",
        "no judge could be asked about 1 sample (no_judge): fault 3",
    ]
    assert not any("fault 2" in warning for warning in warnings)


def test_a_scorer_that_hides_missing_verdicts_is_named() -> None:
    """Cases without a verdict whose samples have a score all the same are the scorer's doing."""
    counts = JudgingCounts(["strict"])
    for number in range(20):
        grade = "C" if number % 2 else None
        counts.add(number, [record(grade, opinion("strict", grade))])
    plan = {"model": "x", "judge": None}
    judging = judging_json(counts.as_json(), plan, judges={})
    assert list(judging_warnings(judging, plan, models=(), models_by_judge={})) == [
        "10 of 20 cases got no verdict, and the scorer scored their samples all the same"
    ]


def test_a_judge_that_contradicts_itself_is_named() -> None:
    """Repeats that agree in fewer than 95 % of cases are said; in all of them, nothing is."""
    steady = [record(label, repeated("strict", label, label)) for label in "CI" * 10]
    assert warnings_of(steady, names=["strict"], panel=PANEL[:1]) == []
    wavering = [*steady, *[record("C", repeated("strict", "C", "I"))] * 5]
    (warning,) = warnings_of(wavering, names=["strict"], panel=PANEL[:1])
    assert warning.startswith("strict contradicts itself: all repeats of a case agree in 80 % of 25 cases (binary_qa)")


def pairs(n: int, before: str, after: str) -> list[dict[str, Any]]:
    asked = (("response_first", before), ("baseline_first", after))
    return [record("P", opinion("strict", "P", questions=asked), template="pairwise", level="ordinal")] * n


def test_a_judge_that_prefers_a_seat_is_named() -> None:
    """Nine of ten changed verdicts in favour of one seat are a bias; five of ten are none."""
    known: dict[str, Any] = {"names": ["strict"], "panel": PANEL[:1]}
    (warning,) = warnings_of(
        [*pairs(90, "second", "first"), *pairs(9, "first", "first"), *pairs(1, "tie", "second")], **known
    )
    assert warning == (
        "strict prefers the first answer it is shown: of 10 verdicts that changed with the order 9 favour it "
        "(pairwise, 100 pairs)"
    )
    (warning,) = warnings_of(pairs(8, "second", "tie"), **known)
    assert warning.startswith("strict prefers the second answer it is shown: of 8 verdicts")
    assert warnings_of([*pairs(5, "first", "first"), *pairs(5, "second", "second")], **known) == []
