"""The scorer of questions that are answered by yes or no. Depends on `nel.reading`."""

from __future__ import annotations

from typing import Final

from nel.errors import DatasetError
from nel.reading.decisions import decision_words, read_decision
from nel.reading.own import own_answer
from nel.scoring.declarations import in_process
from nel.scoring.golds import reads_gold
from nel.types import ScorerInput

_ALSO: Final = {"1": "yes", "1.0": "yes", "y": "yes", "0": "no", "0.0": "no", "n": "no"}
"""Gold answers that no response is read as."""


def decision_gold(sample: ScorerInput, **_: object) -> str:
    """Return the yes or no of a sample's gold answer; raises DatasetError where it is neither."""
    return gold_decision(sample.target)


@in_process
@reads_gold(decision_gold)
def boolean_yesno(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the yes or no that a response gives with the gold one.

    Rule: docs/reference/reading.md; true and false count as yes and no. Source: NeMo Evaluator's
    BYOB scorer, which reads "no doubt: yes" as no. The gold may be a bool, 0, 1 or such a word.

    Returns:
        ``correct``, ``parsed`` and ``extracted``, ``yes``, ``no`` or None.

    Raises:
        DatasetError: The gold is neither yes nor no.

    >>> boolean_yesno(ScorerInput(response="No doubt about it: yes.", target=True))
    {'correct': True, 'parsed': True, 'extracted': 'yes'}
    >>> boolean_yesno(ScorerInput(response="Yes and no.", target="yes"))["parsed"]
    False
    """
    gold = decision_gold(sample)
    response, ran_on = own_answer(sample)
    extracted = read_decision(response).value
    return {
        "correct": extracted == gold,
        "parsed": extracted is not None,
        "extracted": extracted,
        **ran_on,
    }


def gold_decision(target: object) -> str:
    """Return the yes or no that a gold answer is.

    Raises:
        DatasetError: It is neither.
    """
    word = str(target).strip().lower().rstrip(".")
    decision = decision_words().get(word) or _ALSO.get(word)
    if decision is not None:
        return decision
    raise DatasetError(
        f"the target {str(target)[:80]!r} is neither yes nor no; use yes, no, true, false, 1 or 0"
    )
