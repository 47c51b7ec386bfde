"""Formats ``spread`` of metrics.json.

It says on how few questions the doubt of a score rests, and what more answers would buy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.reports import numbers

FEW: Final = 10
"""With fewer questions that differ from the commonest value the interval rests on the added one."""


def spread_text(metrics: Mapping[str, Any]) -> str:
    """Return where the doubt of the headline comes from, in one line; empty where its interval does
    not come from the spread of its questions.

    Args:
        metrics: The content of metrics.json.
    """
    spread = metrics.get("spread")
    if not spread:
        return ""
    n, informative = spread["n_questions"], spread["n_informative"]
    texts = []
    if informative < FEW:
        alike = f"all {numbers.count(n)} questions have one value"
        few = f"doubt rests on {numbers.count(informative)} of {numbers.count(n)} questions"
        texts.append(f"{few if informative else alike}: the interval rests on the added question")
    if spread["repeats"] is not None:
        texts += _repeats_texts(spread["repeats"], metrics["headline"]["unit"])
    return "; ".join(texts)


def _repeats_texts(parts: Mapping[str, Any], unit: str) -> list[str]:
    variances = (
        f"variance {numbers.plain(parts['between'])} between questions, {numbers.plain(parts['within'])}"
        f" within ({numbers.plain(parts['repeats'])} repeats)"
    )
    if not parts["standard_error"]:  # of none, and of groups
        return [variances]
    unit = "points" if unit == "rate" else unit
    now, repeat, questions = (
        numbers.in_unit(parts[name], unit)
        for name in ("standard_error", "with_one_more_repeat", "with_more_questions")
    )
    gains = f"after one more repeat {repeat}, after as many answers to new questions {questions}"
    return [f"{variances}: standard error {now}; {gains}"]
