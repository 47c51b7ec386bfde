"""The built-in scorers of one's own benchmark, each a function of one `ScorerInput`.

The rules live in `nel.scoring`; the three short ones that differ from the primitives of the same
name are here. `exact_match` here compares letter for letter but for case and outer spaces, while
`nel.exact_match` also drops punctuation and articles.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from nel.core.timed_regex import compile_pattern, search
from nel.reading.texts import compared_text
from nel.scoring.answers import gsm8k_answer
from nel.scoring.choice import mcq_letter_extract, multiple_choice, multiple_choice_acc
from nel.scoring.compose import all_of, any_of
from nel.scoring.decisions import boolean_yesno
from nel.scoring.declarations import in_process
from nel.scoring.golds import reads_gold, text_gold
from nel.scoring.label_match import label_match
from nel.scoring.loglikelihood import choice_mass, ranked_choice
from nel.scoring.overlap import bleu, chrf, f1_token, rouge
from nel.scoring.retrieval import retrieval_metrics
from nel.scoring.words import searchable
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


@in_process
@reads_gold(text_gold)
def exact_match(sample: ScorerInput) -> dict[str, object]:
    """Compare response and target, case and outer spaces apart.

    Rule: ``strip`` and ``casefold`` of both are equal; a list of targets accepts any. Source: NeMo
    Evaluator's BYOB.

    Raises:
        DatasetError: The target is empty, so that only an empty response could match.

    >>> exact_match(ScorerInput(response=" paris ", target="Paris"))
    {'correct': True}
    >>> exact_match(ScorerInput(response="Paris.", target="Paris"))
    {'correct': False}
    """
    fold = _folding(sample, _caseless)
    response = fold(compared_text(sample)).strip()
    return {"correct": any(response == target for target in _targets(sample, fold))}


@in_process
@reads_gold(text_gold)
def contains(sample: ScorerInput) -> dict[str, object]:
    """Look for the target anywhere in the response, case apart.

    Rule: substring after ``casefold``, with apostrophes, quotes, hyphens and spaces written in one
    way and soft hyphens left out; a list of targets accepts any. Source: NeMo Evaluator's BYOB.
    "12" contains "2" and "It is not Paris" contains "Paris"; `nel.fuzzy_match` looks for whole
    words.

    Raises:
        DatasetError: The target is empty, so that every response would match.

    >>> contains(ScorerInput(response="The capital is Paris.", target="paris"))
    {'correct': True}
    """
    fold = _folding(sample, searchable)
    response = fold(compared_text(sample))
    return {"correct": any(target in response for target in _targets(sample, fold))}


def patterns_of(sample: ScorerInput, **_: object) -> list[str]:
    """Return the patterns in a sample's target.

    Raises:
        DatasetError: One is not a regular expression.
    """
    patterns = text_gold(sample)
    for pattern in patterns:
        compile_pattern(pattern, ignore_case=True)
    return patterns


@in_process
@reads_gold(patterns_of)
def regex_match(sample: ScorerInput) -> dict[str, object]:
    """Search the response for the target, which is a regular expression, case apart.

    Source: NeMo Evaluator's BYOB. The search is given up after 2 s, and the sample is then
    unscored.

    Raises:
        DatasetError: The target is empty or not a regular expression.
        ScorerError: The search takes too long.

    >>> regex_match(ScorerInput(response="It takes 42 days", target=r"\\b4\\d\\s+days"))
    {'correct': True}
    """
    response = sample.response or ""
    matches = (search(pattern, response, ignore_case=True) for pattern in patterns_of(sample))
    return {"correct": any(matches)}


def _caseless(text: str) -> str:
    # NFC first: an accented letter may be one character or a letter and its accent.
    return unicodedata.normalize("NFC", text).casefold()


def _folding(sample: ScorerInput, fold: Callable[[str], str]) -> Callable[[str], str]:
    """Return how texts are folded; in a declared form, quotes around a text do not count."""
    if not sample.config or sample.config.get("answer_form") is None:
        return fold

    def without_quotes(text: str) -> str:
        # JSON writes "Rome" and Python's repr 'Rome': both quotes count as one.
        folded = fold(text).strip().replace('"', "'")
        is_quoted = folded[:1] == folded[-1:] == "'" and "'" not in folded[1:-1]
        inner = folded[1:-1] if is_quoted else ""
        # Two quotes and nothing between them stay: an empty text would be in every response.
        return inner or folded

    return without_quotes


def _targets(sample: ScorerInput, fold: Callable[[str], str]) -> list[str]:
    return [fold(target).strip() for target in text_gold(sample)]
