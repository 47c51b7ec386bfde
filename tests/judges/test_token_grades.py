"""Grades from the log-probabilities of a judge's first token: the preferences of AlpacaEval 2, the scores of G-Eval."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from nel.errors import ConfigError, JudgeError
from nel.judges.registry import check_template
from nel.judges.token_grades import grade_of_tokens
from nel.runs.evaluation import evaluate
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_results, write_jsonl

TOKENS = {"m": 1.0, "M": 0.0}
TEMPLATE = "{question}\n(m) {answer_a}\n(M) {answer_b}\nWhich is better, m or M?"


def test_the_preference_is_that_of_alpaca_eval() -> None:
    """The completion in the docstring of alpaca_eval 0.6.6's logprob_parser, which returns 2 less the probability."""
    recorded = {"M": -0.017597131, "m": -4.048847, "Both": -14.908222, "The": -15.705097, "Based": -15.955097}
    assert grade_of_tokens(TOKENS, recorded).score == pytest.approx(2 - 1.9825575130186845)
    assert grade_of_tokens(TOKENS, recorded).label == "M"
    assert grade_of_tokens(TOKENS, {"m": -0.1, "The": -3.0}).score == 1.0  # what is not listed has the probability 0


def test_the_score_is_the_expected_grade() -> None:
    """G-Eval: each grade by its probability, over those of all grades; how much that was is said beside it."""
    logs = {"3": math.log(0.5), "2": math.log(0.3), "Sure": math.log(0.2)}
    grade = grade_of_tokens({"1": 1.0, "2": 2.0, "3": 3.0}, logs)
    assert grade.score == pytest.approx((3 * 0.5 + 2 * 0.3) / 0.8)
    assert grade.metrics["grade_probability"] == pytest.approx(0.8)


def test_no_grade_among_the_tokens_is_no_verdict() -> None:
    with pytest.raises(JudgeError, match="none of the grades m, M is among the first tokens 'The'") as refused:
        grade_of_tokens(TOKENS, {"The": -0.1})
    assert refused.value.kind == "no_verdict"


@pytest.mark.parametrize(
    ("template", "settings", "message"),
    [
        (TEMPLATE, {}, "need a score_mapping of the tokens"),
        (TEMPLATE, {"score_mapping": TOKENS, "grade_pattern": "(m|M)"}, "no grade_pattern"),
        ("binary_qa", {"score_mapping": TOKENS}, "need the text of a template"),
    ],
)
def test_what_cannot_be_graded_so_is_refused_before_anything_is_sent(
    template: str, settings: dict[str, Any], message: str
) -> None:
    """A scale and a template of one's own are needed."""
    with pytest.raises(ConfigError, match=message):
        check_template(template, by_logprobs=True, **settings)


def _preferring_short(call: Call, _number: int) -> Reply:
    """Return a judge whose preference for the first answer falls with its length."""
    p = 1 / 3 if "abcd" in call.text.split("(M)")[1] else 1 / 5
    reply = answer("m" if p > 0.5 else "M", finish="length")
    alternatives = [{"token": "m", "logprob": math.log(p)}, {"token": "M", "logprob": math.log1p(-p)}]
    reply.body["choices"][0]["logprobs"] = {"content": [{"token": "M", "logprob": -1.0, "top_logprobs": alternatives}]}
    return reply


def _streamed(call: Call, number: int) -> Reply:
    choice = _preferring_short(call, number).body["choices"][0]
    head = {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": {"content": []}}
    one = {"index": 0, "delta": {"content": choice["message"]["content"]}, "logprobs": choice["logprobs"]}
    last = {"index": 0, "delta": {}, "finish_reason": "length", "logprobs": None}
    chunks = [json.dumps({"model": "served", "choices": [one]}) for one in (head, one, last)]
    text = "".join(f"data: {chunk}\n\n" for chunk in [*chunks, "[DONE]"])
    return Reply(raw=text.encode(), headers={"content-type": "text/event-stream"})


def _judged(tmp_path: Path, url: str, *, stream: bool = False) -> list[dict[str, Any]]:
    rows = [{"id": "0", "question": "Q?", "response": "ab", "baseline": "abcd"}]
    judge = {
        "url": url,
        "model": "solomon",
        "stream": stream,
        "template": TEMPLATE,
        "score_mapping": TOKENS,
        "grade_logprobs": True,
    }
    result = evaluate(
        {
            "benchmarks": [{"name": "pairwise", "dataset": str(write_jsonl(tmp_path / "pairs.jsonl", rows))}],
            "judge": judge,
            "output": {"dir": str(tmp_path / "out")},
        }
    )
    return read_results(result.run_dir, "pairwise")


@pytest.mark.parametrize("stream", [False, True])
def test_a_pair_is_judged_by_probabilities_in_both_orders(tmp_path: Path, stream: bool) -> None:
    """One token is requested with its alternatives; the score is the mean of both orders, and no tie is made of it."""
    with scripted(_streamed if stream else _preferring_short) as endpoint:
        (row,) = _judged(tmp_path, endpoint.url, stream=stream)
        bodies = [call.body for call in endpoint.calls]
    assert row["reward"] == pytest.approx((1 / 3 + (1 - 1 / 5)) / 2)
    assert [(body["max_tokens"], body["logprobs"], body["top_logprobs"]) for body in bodies] == [(1, True, 5)] * 2
    details = row["scoring_details"]
    assert (details["judge_grade"], details["metrics"]["consistent"]) == ("win", 0.0)
    assert details["metrics"]["grade_probability"] == pytest.approx(1.0)


def test_a_server_without_logprobs_leaves_the_sample_unscored(tmp_path: Path) -> None:
    """A verdict in words is not taken for a preference."""
    with scripted(lambda _call, _number: answer("m")) as endpoint:
        (row,) = _judged(tmp_path, endpoint.url)
    assert (row["reward"], row["outcome"]["kind"]) == (None, "no_logprobs")
    assert "no_logprobs" in row["outcome"]["detail"]
