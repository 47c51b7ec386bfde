"""`math_equal`: mathematical equality of final answers: LaTeX, fractions, sets, intervals, units.

Depends on `nel.reading` for the expression that a response gives as its answer.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from nel.reading.formulas import read_formula
from nel.reading.letters import read_letter
from nel.reading.own import own_answer
from nel.reading.response import own_response
from nel.scoring.declarations import in_process
from nel.scoring.golds import reads_gold, text_gold
from nel.scoring.mathematics.comparison import expressions_equal
from nel.scoring.words import same_text
from nel.types import ScorerInput

_LETTER: Final = re.compile(r"\\text(?:bf)?\s*\{\s*\(?(?P<label>[A-J])\)?\s*\}")
"""The letter of an option."""


@in_process
@reads_gold(text_gold)
def math_equal(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Compare the final answer of a response with the target as mathematics.

    Rule: docs/reference/reading.md. Expressions are equal when math-verify says so, with these
    differences: two plain numbers are compared exactly, a decimal and an exact value by a relative
    difference of at most one millionth; a set is not a tuple, a bound (``\\\\ge 2``) not a number,
    ``12_5`` is not ``12_6``, and 5 m is not 5 cm, while a unit, a base or the name before an equals
    sign may be left out; 12.5 % is 12.5 as well as 0.125; ``i`` is the imaginary unit.

    Returns:
        ``correct``, ``parsed`` and ``extracted``, the answer as written or None.

    Raises:
        DatasetError: The target is not a mathematical expression.
        ScorerError: The comparison takes longer than 5 seconds or more memory than there is.

    >>> math_equal(ScorerInput(response="So it is $\\\\boxed{\\\\frac{1}{2}}$.", target="0.5"))
    {'correct': True, 'parsed': True, 'extracted': '\\\\frac{1}{2}'}
    """
    golds = text_gold(sample)
    if len(golds) > 1:
        verdicts = [math_equal(replace(sample, target=target)) for target in golds]
        return next((verdict for verdict in verdicts if verdict["correct"]), verdicts[0])
    gold = golds[0].strip()
    response, ran_on = own_answer(sample)
    extracted = read_formula(response).value
    if extracted is not None:
        return {
            "correct": expressions_equal(gold, extracted),
            "parsed": True,
            "extracted": extracted,
            **ran_on,
        }
    text = response.text.strip()
    if same_text(text, gold):
        return {"correct": True, "parsed": True, "extracted": text, **ran_on}
    letter = _LETTER.fullmatch(gold)
    label = None if letter is None else read_letter(response, "ABCDEFGHIJ").value
    correct = letter is not None and label == letter["label"]
    return {"correct": correct, "parsed": label is not None, "extracted": label, **ran_on}


def final_expression(text: str) -> str | None:
    """Return the expression that a response gives as its answer, or None.

    docs/reference/reading.md has the rule.

    >>> final_expression("so \\\\boxed{\\\\frac{1}{2}}"), final_expression("Answer: $x + 1$.")
    ('\\\\frac{1}{2}', 'x + 1')
    """
    return read_formula(own_response(text)).value
