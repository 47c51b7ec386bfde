"""Tokens as SQuAD and ROUGE have them, and how many of them two texts share.

Depends on rapidfuzz, imported when a longest common subsequence or an edit distance is needed.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

from nel.core.timed_regex import compile_pattern
from nel.errors import ScorerError

LCS_TOKEN_PAIRS_MAX: Final = 40_000_000_000
"""Most pairs of response and reference tokens for `rouge`: 200,000 by 200,000, some seconds."""
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts that write no spaces between words."""
_ROUGE_WORD: Final = rf"""(?x)
    [a-z0-9]+
  | [{_UNSPACED}] \p{{M}}*
  | (?: (?: (?! [\p{{Latin}}\p{{Common}}{_UNSPACED}] ) \p{{L}} | (?! [0-9] ) \p{{Nd}} ) \p{{M}}* )+
"""
"""A word; of an unspaced script, a character. Latin text has the tokens of rouge-score."""


def squad_tokens(text: str) -> list[str]:
    """Return a text's words as SQuAD has them: lower case, no ASCII punctuation, no articles.

    >>> squad_tokens("The U.S., a nation")
    ['us', 'nation']
    """
    return _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def answer_tokens(text: str) -> list[str]:
    """Return a text's words as SQuAD compares them, or what it drops if that is all of it."""
    lowered = text.lower()
    return squad_tokens(text) or lowered.translate(_NO_PUNCTUATION).split() or lowered.split()


def ngrams(tokens: list[str], order: int) -> Iterable[Hashable]:
    """Return the runs of so many tokens."""
    return tokens if order == 1 else zip(*(tokens[start:] for start in range(order)), strict=False)


def shared_count(items: Iterable[Hashable], references: Sequence[Iterable[Hashable]]) -> int:
    """Return how many items occur in one of the references, up to the highest count of each."""
    counts = Counter(items)
    limits: Counter[Hashable] = Counter()
    for reference in references:
        # Counting only what can match keeps memory at the size of the response.
        common = Counter(filter(counts.__contains__, reference))
        limits = limits | common if limits else common
    return sum(map(min, limits.values(), map(counts.__getitem__, limits)))


def f1_of(matches: int, response_total: int, reference_total: int) -> float:
    """Return the F1 of so many matches; 0 without any."""
    if not matches:
        return 0.0
    precision, recall = matches / response_total, matches / reference_total
    return 2 * precision * recall / (precision + recall)


def squad_scores(response: list[str], reference: list[str]) -> tuple[float, float, float]:
    """Return F1, precision and recall of the tokens of two texts; of two empty ones 1."""
    if not response or not reference:
        is_equal = float(response == reference)
        return is_equal, is_equal, is_equal
    matches = shared_count(response, [reference])
    f1 = f1_of(matches, len(response), len(reference))
    return f1, matches / len(response), matches / len(reference)


def rouge_tokens(text: str) -> list[str]:
    """Return the words of a text as ROUGE has them."""
    return compile_pattern(_ROUGE_WORD).findall(text.lower())


def rouge_scores(response: list[str], reference: list[str]) -> tuple[float, float, float]:
    """Return the F1 of shared words, of shared pairs and of the longest common subsequence."""
    n_response, n_reference = len(response), len(reference)
    words = shared_count(response, [reference])
    pairs = shared_count(ngrams(response, 2), [ngrams(reference, 2)]) if words > 1 else 0
    common = lcs_length(response, reference) if words > 1 else words
    return (
        f1_of(words, n_response, n_reference),
        f1_of(pairs, n_response - 1, n_reference - 1),
        f1_of(common, n_response, n_reference),
    )


def lcs_length(response: list[str], reference: list[str]) -> int:
    """Return the length of the longest common subsequence.

    Words that one side lacks cannot be in it.
    """
    if response == reference:
        return len(response)
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415 - only with rouge

    shared = set(response).intersection(reference)
    response_words, reference_words = (
        [word for word in words if word in shared] for words in (response, reference)
    )
    pairs = len(response_words) * len(reference_words)
    if pairs > LCS_TOKEN_PAIRS_MAX:
        raise ScorerError(
            f"rouge_l would compare {len(response_words):,} response tokens with {len(reference_words):,} target"
            f" tokens, {pairs:,} pairs; the cap is {LCS_TOKEN_PAIRS_MAX:,}; shorten the texts or"
            " lower max_tokens"
        )
    return LCSseq.similarity(response_words, reference_words)


def edit_distance(text: str, other: str) -> int:
    """Return how many letters are put in, left out or changed.

    >>> edit_distance("kitten", "sitting")
    3
    """
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - only where it is asked for

    return Levenshtein.distance(text, other)
