"""Formats ``spread`` of metrics.json.

It says on how few questions the doubt of a score rests, and what more answers would buy.
"""

from __future__ import annotations

from typing import Final

from nel.reports import numbers
from nel.types import JsonObject

FEW: Final = 10
"""With fewer questions that differ from the commonest value the interval rests on the added one."""


def spread_text(metrics: JsonObject) -> str:
    """Return where the doubt of the headline comes from, in one line; empty where its interval does
    not come from the spread of its questions.

    Args:
        metrics: The content of metrics.json.
    """
    spread = metrics.get("spread")
    if not spread:
        return ""
    n = numbers.count(spread["n_questions"])
    n_informative = spread["n_informative"]
    texts = []
    if n_informative < FEW:
        basis = f"all {n} questions have one value" if spread["n_questions"] > 1 else "one question"
        if n_informative:
            basis = f"doubt rests on {numbers.count(n_informative)} of {n} questions"
        texts.append(f"{basis}: the interval rests on the added question")
    if spread["repeats"] is not None:
        texts += _repeats_texts(spread["repeats"], metrics["headline"]["unit"])
    return "; ".join(texts)


def _repeats_texts(parts: JsonObject, unit: str) -> list[str]:
    between, within = numbers.plain(parts["between"]), numbers.plain(parts["within"])
    variances = (
        f"variance {between} between questions, {within} within"
        f" ({numbers.plain(parts['repeats'])} repeats)"
    )
    if not parts["standard_error"]:  # of none, and of groups
        return [variances]
    if unit == "rate":
        unit = "points"
    now = numbers.in_unit(parts["standard_error"], unit)
    one_more_repeat = numbers.in_unit(parts["with_one_more_repeat"], unit)
    new_questions = numbers.in_unit(parts["with_more_questions"], unit)
    gains = f"after one more repeat {one_more_repeat}"
    gains += f", after as many answers to new questions {new_questions}"
    return [f"{variances}: standard error {now}; {gains}"]
