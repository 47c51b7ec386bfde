"""ROUGE-1, ROUGE-2 and ROUGE-Lsum of two texts, as rouge-score gives them without stemming.

ROUGE-Lsum takes each line for a sentence and counts the words of a reference sentence that are in a
longest common subsequence with any sentence of the answer (Lin, 2004,
https://aclanthology.org/W04-1013). As in T5's scripts, ``" . "`` ends a sentence too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from nel.byob import ScorerInput
from nel.errors import ScorerError
from nel.scoring import rouge

TOKEN_PAIRS_MAX = 4_000_000
"""Words of the answer times words of the reference that are compared at most."""
_TOKEN = re.compile(r"[a-z0-9]+")


def summary_rouge(answer: str, reference: str) -> tuple[float, float, float]:
    """Return the F1 of shared words, of shared word pairs, and ROUGE-Lsum, between 0 and 1.

    Raises:
        ScorerError: The texts have too many words.

    >>> summary_rouge("the cat sat", "the cat sat")
    (1.0, 1.0, 1.0)
    """
    measures = rouge(ScorerInput(response=answer, target=reference))
    rouge_l = _summary_level(_sentences(answer), _sentences(reference))
    return measures["rouge_1"], measures["rouge_2"], rouge_l


def _sentences(text: str) -> list[list[str]]:
    lines = text.replace(" . ", ".\n").split("\n")
    return [_TOKEN.findall(line.lower()) for line in lines if line]


def _summary_level(answer: Sequence[Sequence[str]], reference: Sequence[Sequence[str]]) -> float:
    words = Counter(word for sentence in answer for word in sentence)
    gold_words = Counter(word for sentence in reference for word in sentence)
    if not words or not gold_words:
        return 0.0
    if words.total() * gold_words.total() > TOKEN_PAIRS_MAX:
        raise ScorerError(
            f"rougeL would compare {words.total():,} with {gold_words.total():,} words; lower"
            " max_tokens"
        )
    n_words, n_gold_words, hits = words.total(), gold_words.total(), 0
    for gold in reference:
        matches = sorted({position for sentence in answer for position in _common(gold, sentence)})
        for position in matches:
            word = gold[position]
            # A word counts as often as both texts have it, however many sentences it matches in.
            if words[word] > 0 and gold_words[word] > 0:
                hits += 1
                words[word] -= 1
                gold_words[word] -= 1
    precision, recall = hits / n_words, hits / n_gold_words
    return 2 * precision * recall / (precision + recall) if hits else 0.0


def _common(gold: Sequence[str], sentence: Sequence[str]) -> list[int]:
    """Return the positions in `gold` of one longest common subsequence."""
    # lengths[i][j]: of a longest common subsequence of the first i gold and the first j words.
    lengths = [[0] * (len(sentence) + 1) for _ in range(len(gold) + 1)]
    for row, gold_word in enumerate(gold, start=1):
        for column, word in enumerate(sentence, start=1):
            if gold_word == word:
                lengths[row][column] = lengths[row - 1][column - 1] + 1
            else:
                lengths[row][column] = max(lengths[row - 1][column], lengths[row][column - 1])
    positions, row, column = [], len(gold), len(sentence)
    while row and column:
        if gold[row - 1] == sentence[column - 1]:
            positions.append(row - 1)
            row, column = row - 1, column - 1
        # Several are longest; this order of the two branches takes the one of rouge-score.
        elif lengths[row][column - 1] > lengths[row - 1][column]:
            column -= 1
        else:
            row -= 1
    return positions[::-1]
