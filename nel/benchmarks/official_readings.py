"""How the authors of a benchmark read an answer, where they published a rule and the prompt asks for its form.

Depends on the benchmarks' own rules; the audit of a run and its explanations name them ``official``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from nel.reading.types import Form, Reading, Value
from nel.scoring.readings import Read
from nel.types import ScorerInput

_GSM8K: Final = re.compile(r"#### (\-?[0-9\.\,]+)")
"""``ANS_RE`` of the authors' dataset.py."""


def official_reading(benchmark: str, sample: ScorerInput) -> Read | None:
    """Return the published rule of a benchmark, or None where it has none or the prompt asks for another form."""
    applies = _OFFICIAL.get(benchmark)
    return None if applies is None else applies(sample)


def _of_mmlu_pro(sample: ScorerInput) -> Read | None:
    return _read_mmlu_pro


def _read_mmlu_pro(sample: ScorerInput) -> Reading:
    from nel.benchmarks.knowledge.mmlu.pro import find  # noqa: PLC0415 - the module of a benchmark registers it

    found = find(sample.response)
    if found is None:
        return Reading()
    return Reading().take(Value(sample.response[found], found, found + 1), Form.OFFICIAL)


def _of_gsm8k(sample: ScorerInput) -> Read | None:
    asked = "" if sample.sample is None else str(sample.sample.input)
    return _read_gsm8k if "####" in asked else None


def _read_gsm8k(sample: ScorerInput) -> Reading:
    match = _GSM8K.search(sample.response)
    return (
        Reading() if match is None else Reading().take(Value(match[1].replace(",", ""), *match.span(1)), Form.OFFICIAL)
    )


_OFFICIAL: Final[Mapping[str, Callable[[ScorerInput], Read | None]]] = {"mmlu_pro": _of_mmlu_pro, "gsm8k": _of_gsm8k}
