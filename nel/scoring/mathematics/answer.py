"""`math_equal`: mathematical equality of final answers: LaTeX, fractions, sets, intervals, units.

Depends on `nel.scoring.reading` for the expression that a response gives as its answer.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from nel.errors import DatasetError
from nel.scoring.mathematics.comparison import expressions_equal
from nel.scoring.reading.expressions import read_expression
from nel.scoring.reading.letters import declared_label
from nel.scoring.reading.prepare import prepared
from nel.scoring.reading.run_on import read_own
from nel.scoring.text import same_text
from nel.types import ScorerInput

_LETTER: Final = re.compile(r"\\text(?:bf)?\s*\{\s*\(?(?P<label>[A-J])\)?\s*\}")
"""The letter of an option."""


def math_equal(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the final answer of a response with the target as mathematics.

    Rule: the expression that the response declares last, in a box or otherwise, and does not deny,
    suppose or take back; where it declares none, the one that its last sentence comes to. Several
    candidates, a cut-off text and an open box are no answer. Expressions are equal when math-verify
    says so, with these differences: two plain numbers are compared exactly, and a decimal agrees
    with another exact value when six digits do, however small or large it is; a set is no tuple,
    ``12_5`` is not ``12_6`` and 5 m is not 5 cm, while a unit, the gold answer's base and the name
    before an equals sign may be left out.

    Returns:
        ``correct``, ``parsed`` and ``extracted``, the answer as written or None.

    Raises:
        DatasetError: The target is no mathematical expression.
        ScorerError: The comparison takes longer than 5 seconds, or more memory than 2 GiB.

    >>> math_equal(ScorerInput(response="So it is $\\\\boxed{\\\\frac{1}{2}}$.", target="0.5"))
    {'correct': True, 'parsed': True, 'extracted': '\\\\frac{1}{2}'}
    """
    if isinstance(sample.target, (list, tuple)):
        verdicts = [math_equal(replace(sample, target=target)) for target in sample.target]
        if not verdicts:
            raise DatasetError("the target is an empty list; give the row an answer to compare with")
        return next((verdict for verdict in verdicts if verdict["correct"]), verdicts[0])
    gold = "" if sample.target is None else str(sample.target).strip()
    if not gold:
        raise DatasetError("the target is empty; give the row an answer to compare with")
    extracted, ran_on = read_own(sample, final_expression)
    response = sample.response or ""
    if extracted is not None:
        return {"correct": expressions_equal(gold, extracted), "parsed": True, "extracted": extracted, **ran_on}
    if same_text(whole := prepared(response).strip(), gold):
        return {"correct": True, "parsed": True, "extracted": whole, **ran_on}
    letter = _LETTER.fullmatch(gold)
    label = None if letter is None else declared_label(response, "ABCDEFGHIJ")
    correct = letter is not None and label == letter["label"]
    return {"correct": correct, "parsed": label is not None, "extracted": label, **ran_on}


def final_expression(text: str) -> str | None:
    """Return the expression that a response gives as its answer, or None; see `read_expression`.

    >>> final_expression("so \\\\boxed{\\\\frac{1}{2}}"), final_expression("Answer: $x + 1$.")
    ('\\\\frac{1}{2}', 'x + 1')
    """
    return read_expression(text).value
