"""The kinds of failures: the documented category that each belongs to, and what to do about it.

A kind that is not named here is its own category, so that nothing is left out of either table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

JUDGED_REFUSAL: Final = "judged_refusal"
WRONG: Final = "wrong_answer"
CATEGORIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "timeout": "timeout",
        "infra:timeout": "timeout",
        "infra:rate_limit": "rate_limit",
        "refusal": "refusal",
        JUDGED_REFUSAL: "refusal",
        "empty": "empty",
        "no_answer": "format_error",
    }
)
"""By kind: the category of failure_analysis.json, where it has another name or several kinds."""
_OFF_FORM: Final = (
    "see in nel view DIR what the judge wrote; with a template that names the form, or another"
    " judge, nel eval resume DIR --allow-judge-change"
)
_HINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        WRONG: "look at how answers were read: nel scorer audit DIR",
        "timeout": (
            "the program ran out of time; look whether it loops before raising the sandbox's"
            " timeout"
        ),
        "infra:timeout": "raise --timeout or lower --concurrency, then nel eval resume DIR",
        "infra:rate_limit": "lower --concurrency or set a rate limit, then nel eval resume DIR",
        "infra:auth": "give a key that the endpoint accepts, then nel eval resume DIR",
        "infra:quota": "the account has no quota left; top it up, then nel eval resume DIR",
        "truncated": "raise --max-tokens in a new run",
        "empty": "look at the reasoning: a small --max-tokens leaves no room for an answer",
        "refusal": "the endpoint refused; look at the prompt and the system prompt",
        JUDGED_REFUSAL: (
            "the judge read the answer as a refusal; check it with nel judge calibrate DIR"
        ),
        "content_filter": (
            "the endpoint's filter stopped the answer; change the filter or report the share"
        ),
        "no_answer": "check the answer format that the prompt asks for: nel scorer audit DIR",
        "context_exceeded": "use fewer few-shot examples, or serve the model with a longer context",
        "judge:truncated": (
            "raise the judge's max_tokens, then nel eval resume DIR --allow-judge-change"
        ),
        **dict.fromkeys(
            ("judge:no_verdict", "judge:two_verdicts", "judge:out_of_range"), _OFF_FORM
        ),
        "judge:no_logprobs": (
            "use a judge whose server gives log-probabilities, or leave judge.grade_logprobs out"
        ),
        "judge:reasoned": "turn the judge's reasoning off: its first token is to be the grade",
        "judge:tie": "make panel and repeats odd, then nel eval resume DIR --allow-judge-change",
        "sandbox:shared_verdict": (
            "leave out --strict-verdicts to count verdicts that a program could have forged"
        ),
        "bad_row:unusable": "correct the row of the dataset and start a new run",
        "limit": "raise the limit of the episode in a new run, or report the share",
        "environment:solver_raised": "correct the solver and start a new run",
        "environment:solver_stuck": "correct the solver and start a new run",
        "environment:tool_raised": "correct the tool and start a new run",
        "environment:task": "see results.jsonl for what its folder asks for, and start a new run",
        "environment:image": "see results.jsonl for why it cannot be built, then nel eval resume DIR",
    }
)
_HINTS_OF_WRONG: Final[Mapping[str, str]] = MappingProxyType(
    {
        "judge": (
            "look at what the judge said of each, and at how often it is right: nel judge calibrate"
            " DIR"
        ),
        "episode": "look at the steps of each, its calls and their errors: nel view DIR",
    }
)
"""By what decided on all wrong ones; reading an answer in another way changes none of them."""
_HINTS_BY_CAUSE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "infra": "see run.log for what the endpoint said, then nel eval resume DIR",
        "judge": "see in nel view DIR what the judge wrote, then nel eval resume DIR",
        "scorer": "correct the scorer, then nel eval score DIR",
        "sandbox": "nel sandbox check, then nel eval resume DIR",
        "environment": "see the transcript in nel view, then nel eval resume DIR",
        "budget": "raise the budget, then nel eval resume DIR",
        "cancelled": "nel eval resume DIR",
        "bad_row": "correct the row of the dataset and start a new run",
    }
)


def documented_category(kind: str) -> str:
    """Return the category of failure_analysis.json that a kind is counted under."""
    return CATEGORIES.get(kind, kind)


def hint_for(kind: str, *, origin: str = "") -> str:
    """Return what to do about failures of a kind.

    Args:
        kind: As `nel.artifacts.failures.failure_kind` names it.
        origin: ``judge`` where judges decided on all of them, ``episode`` where all are of many
            steps.
    """
    if kind == WRONG and origin in _HINTS_OF_WRONG:
        return _HINTS_OF_WRONG[origin]
    cause, _, _ = kind.partition(":")  # "infra" of "infra:timeout"
    by_cause = _HINTS_BY_CAUSE.get(cause, "look at its examples in report.html")
    return _HINTS.get(kind, by_cause)
