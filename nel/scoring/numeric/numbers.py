"""`numeric_match`: compares the number that a response gives with the target, exactly.

Depends on `nel.scoring.reading` for the number a response gives, and on `nel.scoring.numeric.finding` for the last one.
"""

from __future__ import annotations

from typing import Literal

from nel.errors import ConfigError
from nel.scoring.numeric.finding import last_number, numbers_equal, numbers_in
from nel.scoring.reading.numbers import read_number
from nel.scoring.reading.restated import in_asked_unit
from nel.scoring.reading.run_on import prompt_of
from nel.types import ScorerInput

__all__ = ["last_number", "numbers_equal", "numbers_in", "numeric_match"]


def numeric_match(
    sample: ScorerInput, *, rule: Literal["declared", "official"] = "declared"
) -> dict[str, bool | str | None]:
    """Compare the number that a response gives as its answer with the target.

    Rule: the last declared number (``Answer: 42``, a box, a tag, "the answer is …"), else the number of the sentence
    that the response ends in, where it concludes. Compared exactly, as fractions: 10, 100 and 1000 differ, 1,000 and
    1000.0 do not, and 1/2 is 0.5. A range, a root, a time, a denied or retracted number, a response that is cut off and
    one that decides for none are no answer, and no number equals no target, 0 included. ``12,5`` is 12.5 in a German
    text and no number in an English one. Of one amount in two units ("36 minutes, or 0.6 hours") the number in the
    unit that the prompt asks for counts, else the first.

    Args:
        rule: ``official`` is NeMo Evaluator's rule, the last number of the response wherever it stands; its values are
            nel's, since NeMo Evaluator strips trailing zeros.

    Returns:
        ``correct`` and ``extracted``, the number as written or None.

    >>> numeric_match(ScorerInput(response="The total is 20 + 22 = 42", target="42"))
    {'correct': True, 'extracted': '42'}
    >>> numeric_match(ScorerInput(response="10", target="100"))
    {'correct': False, 'extracted': '10'}
    >>> sample = ScorerInput(response="The answer is 42, not 43.", target="42")
    >>> numeric_match(sample)["extracted"], numeric_match(sample, rule="official")["extracted"]
    ('42', None)
    """
    if rule not in ("declared", "official"):
        raise ConfigError(f'numeric_match has no rule "{rule}"; use "declared" or "official"')
    response = sample.response or ""
    if rule == "official":
        extracted = last_number(response)
    else:
        extracted = in_asked_unit(prompt_of(sample), response, read_number(response))
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    correct = extracted is not None and any(numbers_equal(extracted, target) for target in targets)
    return {"correct": correct, "extracted": extracted}
