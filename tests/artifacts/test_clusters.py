"""Failures that look alike are one cluster with exemplars; what differs from case to case does not tear it apart."""

from __future__ import annotations

from nel.artifacts.clusters import FailureClusters, signature_of
from nel.artifacts.results import Result
from nel.types import Outcome, Response, Sample, Scored, Unscored


def failure(idx: int, outcome: Outcome, target: object = "4") -> Result:
    sample = Sample(id=f"s{idx}", input="q", target=target)  # type: ignore[arg-type] # JSON
    return Result(idx, f"s{idx}", 0, sample, Response(text=f"answer {idx} " + "x" * 500), outcome, True)


def wrong(answer: str | None, **details: object) -> Scored:
    return Scored(reward=0.0, metrics={}, answer=answer, details=details)


def test_errors_with_one_text_are_one_cluster() -> None:
    """Numbers, addresses, paths, quotes and identifiers do not tell failures apart; the first three are shown."""
    clusters = FailureClusters()
    for idx in range(5):
        where = f'(request 7f3a{idx}9c0d) for "model-{idx}" in /tmp/x{idx}/y'
        detail = f"no answer of http://127.0.0.1:80{idx}/v1 in {idx}.5 s {where}"
        clusters.add("infra:timeout", failure(idx, Unscored(cause="infra", kind="timeout", detail=detail)))
    clusters.add("infra:timeout", failure(9, Unscored(cause="infra", kind="timeout", detail="something else")))
    found = clusters.as_json(10)
    (cluster,) = found["clusters"]
    assert cluster["signature"] == "no answer of URL in N s (request ID) for TEXT in PATH"
    assert (cluster["kind"], cluster["count"], cluster["rate"]) == ("infra:timeout", 5, 0.5)
    assert [one["problem_idx"] for one in cluster["exemplars"]] == [0, 1, 2]
    assert all(len(one["response_preview"]) == 200 for one in cluster["exemplars"])
    assert found["n_unclustered"] == 1


def test_programs_are_told_apart_by_the_last_line_of_their_error() -> None:
    """Two programs without one name are alike, whatever stands above in the traceback."""
    texts = [f"Traceback\n  File \"/a/b{n}.py\", line {n}\nNameError: name 'x{n}' is not defined" for n in (1, 22)]
    assert {signature_of(failure(1, wrong(None, stderr=text))) for text in texts} == {
        "NameError: name TEXT is not defined"
    }


def test_wrong_answers_are_told_apart_by_their_form() -> None:
    """An option's letter stands for itself, so that a model that always says C is seen; others are a form."""
    assert signature_of(failure(1, wrong("C"), "B")) == 'read "C", expected "B"'
    assert signature_of(failure(1, wrong("17.5"), "4")) == "read a number, expected a number"
    assert signature_of(failure(1, wrong(None), ["a"])) == "read nothing, expected a structure"
