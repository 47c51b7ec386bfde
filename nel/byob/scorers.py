"""The built-in scorers of one's own benchmark, each a function of one `ScorerInput`.

The rules live in `nel.scoring`; the three short ones that differ from the primitives of the same name are here.
`exact_match` here compares letter for letter but for case and outer spaces, while `nel.exact_match` also drops
punctuation and articles.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from nel.core.timed_regex import search
from nel.errors import DatasetError
from nel.scoring.answers import boolean_yesno, gsm8k_answer
from nel.scoring.choice import mcq_letter_extract, multiple_choice, multiple_choice_acc
from nel.scoring.compose import all_of, any_of
from nel.scoring.label_match import label_match
from nel.scoring.loglikelihood import choice_mass, ranked_choice
from nel.scoring.marks import searchable
from nel.scoring.overlap import bleu, chrf, f1_token, rouge
from nel.scoring.retrieval import retrieval_metrics
from nel.types import ScorerInput

__all__ = [
    "all_of",
    "any_of",
    "bleu",
    "boolean_yesno",
    "choice_mass",
    "chrf",
    "contains",
    "exact_match",
    "f1_token",
    "gsm8k_answer",
    "label_match",
    "mcq_letter_extract",
    "multiple_choice",
    "multiple_choice_acc",
    "ranked_choice",
    "regex_match",
    "retrieval_metrics",
    "rouge",
]


def exact_match(sample: ScorerInput) -> dict[str, object]:
    """Compare response and target, case and outer spaces apart.

    Rule: ``strip`` and ``casefold`` of both are equal; a list of targets accepts any. Source: NeMo Evaluator's BYOB.

    Raises:
        DatasetError: The target is empty, so that only an empty response could match.

    >>> exact_match(ScorerInput(response=" paris ", target="Paris"))
    {'correct': True}
    >>> exact_match(ScorerInput(response="Paris.", target="Paris"))
    {'correct': False}
    """
    response = _caseless(sample.response or "").strip()
    return {"correct": any(response == target for target in _targets(sample, _caseless))}


def contains(sample: ScorerInput) -> dict[str, object]:
    """Look for the target anywhere in the response, case apart.

    Rule: substring after ``casefold``, with apostrophes, quotes, hyphens and spaces written in one way and soft hyphens
    left out; a list of targets accepts any. Source: NeMo Evaluator's BYOB. "12" contains "2"
    and "It is not Paris" contains "Paris"; `nel.fuzzy_match` looks for whole words.

    Raises:
        DatasetError: The target is empty, so that every response would match.

    >>> contains(ScorerInput(response="The capital is Paris.", target="paris"))
    {'correct': True}
    """
    response = searchable(sample.response or "")
    return {"correct": any(target in response for target in _targets(sample, searchable))}


def regex_match(sample: ScorerInput) -> dict[str, object]:
    """Search the response for the target, which is a regular expression, case apart.

    Source: NeMo Evaluator's BYOB. The search is given up after 2 s, and the sample is then unscored.

    Raises:
        DatasetError: The target is not a regular expression.
        ScorerError: The search takes too long.

    >>> regex_match(ScorerInput(response="It takes 42 days", target=r"\\b4\\d\\s+days"))
    {'correct': True}
    """
    _targets(sample, _caseless)
    patterns = sample.target if isinstance(sample.target, (list, tuple)) else [sample.target]
    response = sample.response or ""
    return {"correct": any(search(str(one), response, ignore_case=True) is not None for one in patterns)}


def _caseless(text: str) -> str:
    """Return the text casefolded, an accent the same whichever way it is written."""
    return unicodedata.normalize("NFC", text).casefold()


def _targets(sample: ScorerInput, fold: Callable[[str], str]) -> list[str]:
    given = sample.target if isinstance(sample.target, (list, tuple)) else [sample.target]
    targets = [fold(str(target)).strip() for target in given if target is not None]
    if not targets or not all(targets):
        raise DatasetError("the target is empty; give the row an answer to compare with")
    return targets
