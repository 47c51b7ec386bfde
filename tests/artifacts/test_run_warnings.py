"""Every warning is made once, as data, with its number."""

from __future__ import annotations

from typing import Any

import pytest

from nel.artifacts.cautions import Copies, SilentCuts
from nel.artifacts.run_warnings import FAILURE_RATES_MAX, Noticed, run_warnings
from nel.artifacts.served import ServedBuilds
from nel.metrics.accumulator import Accumulator
from nel.types import FailureKind, ModelFailure, Response, Scored, Unscored, Usage

FIRST = {
    "kind": "first", "n": 200, "of": 12_032, "is_exact": True, "seed": None, "by": "category", "n_strata": 14,
    "n_strata_asked": 1, "strata": {},
}  # fmt: skip
PANEL = {"judge": {"panel": [{"name": "grader"}]}, "scorer": {"name": "exact_match"}}


def total_of(n_right: int, **failed: int) -> Accumulator:
    total = Accumulator()
    outcomes: list[Any] = [Scored(reward=1.0, metrics={"correct": 1.0})] * n_right
    for name, n in failed.items():
        kind: FailureKind = name  # type: ignore[assignment] # one of them
        outcomes += [ModelFailure(kind=kind)] * n
    for question, outcome in enumerate(outcomes):
        total.add(question, outcome)
    return total


def warned(plan: dict[str, Any], total: Accumulator | None = None, **noticed: Any) -> dict[str, str]:
    """Return the warnings by kind."""
    fields = {"copies": Copies(), "is_complete": True, "is_shard": False, **noticed}
    found = run_warnings(plan, total or total_of(10), Noticed(**fields))
    assert all(one["text"] for one in found)
    return {one["kind"]: one["text"] for one in found}


def test_a_clean_run_has_no_warning() -> None:
    """A whole run in which everything was scored has nothing against it."""
    assert warned({}) == {}


def test_the_first_questions_are_no_sample() -> None:
    """What the first questions are of, and what to do instead."""
    text = warned({"selection": FIRST})["first_n"]
    assert "the first 200 of 12,032, 1 of 14 categories; not a sample" in text
    assert "--sample" in text


def test_unreadable_answers_above_the_limit_are_named() -> None:
    """12 of 208 answers that could not be read are 5.77 %."""
    assert "12 of 208 (5.77 %)" in warned({}, total_of(196, no_answer=12))["no_answer"]


@pytest.mark.parametrize("kind", [kind for kind, limit in FAILURE_RATES_MAX.items() if limit == 0])
def test_what_a_setting_causes_is_named_from_the_first_answer_on(kind: str) -> None:
    """One cut-off, empty or filtered answer of a thousand is one too many."""
    assert "1 of 1,000 (0.10 %)" in warned({}, total_of(999, **{kind: 1}))[kind]


def test_failures_that_raise_a_score_below_0_are_named() -> None:
    """A failure counts 0, which is more than a loss with a minus sign."""
    total = Accumulator()
    total.add(0, Scored(reward=-3.5, metrics={"score": -3.5}))
    total.add(1, ModelFailure(kind="empty"))
    assert "these failures raise the score" in warned({}, total)["empty"]


def test_unscored_answers_are_named_by_cause() -> None:
    total = total_of(9)
    total.add(9, Unscored(cause="infra", kind="timeout", detail="late"))
    assert warned({}, total)["unscored"] == "1 of 10 unscored by infra (timeout 1)"


def test_a_judge_that_was_never_asked_is_named() -> None:
    """A judge is configured, and the scorer decides without one."""
    text = warned(PANEL)["judge_not_asked"]
    assert "the judge grader is configured and was never asked" in text
    assert "exact_match" in text


def test_answers_that_another_version_scored_are_named() -> None:
    """A reading rule may have changed between asking and scoring."""
    text = warned({"asked_by": ["0.9.0"], "scored_by": ["1.0.0"]})["versions"]
    assert "asked by nel 0.9.0 and scored by nel 1.0.0" in text


def copies_of(*answers: tuple[str, ...]) -> Copies:
    copies = Copies()
    for question, texts in enumerate(answers):
        for text in texts:
            copies.add(question, Response(text=text))
    return copies


def test_repeats_at_temperature_0_that_are_copies_are_named() -> None:
    """Two of three questions have three equal answers."""
    copies = copies_of(("a", "a", "a"), ("b", "b", "b"), ("c", "c", "d"))
    text = warned({"generation": {"temperature": 0}}, copies=copies)["copies"]
    assert "the repeats at temperature 0 of 2 of 3 questions are copies" in text
    assert "pass@k of copies is pass@1" in text


def test_a_fallback_of_a_gateway_is_named() -> None:
    """What only a header says is a warning with its number."""
    served = ServedBuilds()
    served.add(0, Response(text="a", model="large", fallback="small"))
    served.add(1, Response(text="b", model="large"))
    text = warned({}, fallbacks=served.fallbacks())["fallback"]
    assert text.startswith("1 answer came from a fallback of the gateway, small")


def test_what_a_server_cuts_in_silence_is_named() -> None:
    """An answer of all permitted tokens that ends in "stop", reasoning without an answer, prompts of a whole window."""
    cuts = SilentCuts(64)
    for tokens, text, reasoning in ((64, "cut", ""), (12, "", "I think"), (12, "whole", "I think"), (63, "whole", "")):
        usage = Usage(prompt_tokens=2_048, completion_tokens=tokens)
        cuts.add(Response(text=text, reasoning=reasoning or None, usage=usage), "complete")
    cuts.add(Response(text="cut", usage=Usage(prompt_tokens=100, completion_tokens=64)), "truncated")
    found = dict(cuts.warnings())
    assert found["token_limit"].startswith("1 of the answers")
    assert found["only_reasoning"].startswith("1 of the answers")
    assert found["cut_prompt"].startswith("4 of the prompts have exactly 2,048 tokens")
    assert SilentCuts(None).warnings() == []
