"""How much of a response overlaps its references: token F1, BLEU, ROUGE, chrF.

Depends on `nel.scoring.tokens`, and on sacrebleu, imported when a rule first needs it. Each number is a
published definition, equal to its reference implementation where there is one. Overlap is not
correctness: a long answer that contains the gold answer scores low, and so does a right answer in
other words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from nel.errors import DatasetError, ScorerError, UndefinedMetric
from nel.metrics import Metric, MetricOfAnswers, metric
from nel.reading.texts import compared_text
from nel.scoring.declarations import in_process
from nel.scoring.golds import reads_gold, text_gold
from nel.scoring.tokens import (
    answer_tokens,
    ngrams,
    rouge_scores,
    rouge_tokens,
    shared_count,
    squad_scores,
    squad_tokens,
)
from nel.types import SampleScore, ScorerInput

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

CHRF_CHARACTERS_MAX: Final = 4_000_000
"""Characters of both sides that `chrf` counts at most; each can take 600 bytes of memory."""

_BLEU_ORDERS: Final = (1, 2, 3, 4)


@in_process
@reads_gold(text_gold)
def f1_token(sample: ScorerInput) -> dict[str, float]:
    """Return the F1 of the tokens that response and target share, counted with repetition.

    Rule: lower-case, drop ASCII punctuation, then the words a, an and the, split at white space;
    precision is shared tokens over response tokens, recall is shared tokens over target tokens.

    Source: the SQuAD 2.0 evaluation script (Rajpurkar et al., 2018,
    https://arxiv.org/abs/1806.03822).

    Edge cases: of a list of targets the one with the highest F1 counts, the first of equals; a
    target that is not a text is compared as ``str(target)``. A target that would be empty after
    normalising ("A", "]") keeps its articles, or else its punctuation; the script finds the empty
    answer and "The" equal to the target "A". For unanswerable questions there is the benchmark
    `squad_v2`.

    Returns:
        ``f1``, ``precision`` and ``recall`` between 0 and 1.

    Raises:
        DatasetError: The target is empty.

    >>> f1_token(ScorerInput(response="The black cat!", target="a cat"))["recall"]
    1.0
    >>> f1_token(ScorerInput(response="the cat cat", target=["dog", "cat"]))
    {'f1': 0.6666666666666666, 'precision': 0.5, 'recall': 1.0}
    """
    f1, precision, recall = squad_f1(compared_text(sample), text_gold(sample))
    return {"f1": f1, "precision": precision, "recall": recall}


def squad_f1(answer: str, references: Sequence[str]) -> tuple[float, float, float]:
    """Return SQuAD 2.0's F1, precision and recall of the nearest reference; 1.0 if both are empty.

    >>> squad_f1("", [""]), squad_f1("Paris", [""])
    ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0))
    """
    bare = squad_tokens(answer)
    response = bare or answer_tokens(answer)
    scores = [
        squad_scores(response if tokens else bare, tokens)
        for tokens in map(answer_tokens, references)
    ]
    return max(scores, key=lambda score: score[0])


@in_process
@reads_gold(text_gold)
def bleu(sample: ScorerInput) -> dict[str, float]:
    """Return sentence BLEU of orders 1 to 4 with add-1 smoothing on every order.

    Rule: with c response tokens, r tokens in the reference nearest in length, and m_n the n-grams
    of the response that occur in a reference, each counted at most as often as in the reference
    that has it most::

        p_n    = (m_n + 1) / (max(c - n + 1, 0) + 1)
        BP     = 1 if c >= r else exp(1 - r / c)
        bleu_N = BP * (p_1 * ... * p_N) ** (1 / N)

    Source: Papineni et al., 2002 (https://aclanthology.org/P02-1040); smoothing of Lin and Och,
    2004 (https://aclanthology.org/C04-1072), here on unigrams too.

    Edge cases: tokens are lower-cased and split at white space only, so "cat." is not "cat". A list
    of targets is several references; of two equally near lengths the shorter counts; a target that
    is not a text is compared as ``str(target)``. A response without tokens scores 0.0. Because of
    the smoothing a response that shares nothing scores above 0; compare systems with `corpus_bleu`.

    Returns:
        ``bleu_1`` to ``bleu_4`` between 0 and 1.

    Raises:
        DatasetError: The target is empty.

    >>> scores = bleu(ScorerInput(response="the cat sat", target="the cat sat down"))
    >>> round(scores["bleu_1"], 4), round(scores["bleu_4"], 4)
    (0.7165, 0.7165)
    """
    response = sample.response.lower().split()
    references = [text.lower().split() for text in text_gold(sample)]
    if not response:
        return {f"bleu_{order}": 0.0 for order in _BLEU_ORDERS}
    length = len(response)
    nearest = min(
        (len(tokens) for tokens in references), key=lambda size: (abs(size - length), size)
    )
    penalty = min(0.0, 1 - nearest / length)
    scores, logarithms = {}, 0.0
    for order in _BLEU_ORDERS:
        n_shared = shared_count(
            ngrams(response, order), [ngrams(tokens, order) for tokens in references]
        )
        logarithms += math.log((n_shared + 1) / (max(length - order + 1, 0) + 1))
        scores[f"bleu_{order}"] = math.exp(penalty + logarithms / order)
    return scores


def token_golds(sample: ScorerInput, **_: object) -> list[list[str]]:
    """Return the tokens of each accepted text that ROUGE finds any in.

    Raises:
        DatasetError: It finds none.
    """
    tokens = [
        tokens_of_text for text in text_gold(sample) if (tokens_of_text := rouge_tokens(text))
    ]
    if not tokens:
        raise DatasetError(
            f"the target {str(sample.target)[:80]!r} has no word for ROUGE; compare with chrf"
        )
    return tokens


@in_process
@reads_gold(token_golds)
def rouge(sample: ScorerInput) -> dict[str, float]:
    """Return the F1 of shared words, of shared word pairs and of the longest common subsequence.

    Rule: tokens are the runs of ``a-z0-9`` of the lower-cased text, not stemmed, and the words of
    other scripts than Latin; of scripts that write no spaces between words (Chinese, Japanese,
    Thai, …) each character is one. Each F1 is that of matches over response n-grams and matches
    over target n-grams.

    Source: Lin, 2004 (https://aclanthology.org/W04-1013), for Latin text equal to the package
    rouge-score with ``RougeScorer(["rouge1", "rouge2", "rougeL"])``, which finds no token in other
    scripts.

    Edge cases: of a list of targets the best counts, for each key by itself; a target that is not a
    text is compared as ``str(target)``. A response without tokens scores 0.0. Time of ``rouge_l``
    grows with the product of both lengths, memory does not.

    Returns:
        ``rouge_1``, ``rouge_2`` and ``rouge_l`` between 0 and 1.

    Raises:
        DatasetError: No target has a token.
        ScorerError: The tokens that both texts know make more than `LCS_TOKEN_PAIRS_MAX` pairs.

    >>> rouge(ScorerInput(response="The cat sat.", target="the cat is sat"))
    {'rouge_1': 0.8571428571428571, 'rouge_2': 0.4, 'rouge_l': 0.8571428571428571}
    """
    response = rouge_tokens(sample.response)
    scores = [rouge_scores(response, reference) for reference in token_golds(sample)]
    maxima = [max(values) for values in zip(*scores, strict=True)]
    return dict(zip(("rouge_1", "rouge_2", "rouge_l"), maxima, strict=True))


@in_process
@reads_gold(text_gold)
def chrf(sample: ScorerInput) -> dict[str, float]:
    """Return chrF and chrF++: F2 of shared character n-grams, the latter with words and word pairs.

    Rule: character n-grams of length 1 to 6 without white space, recall weighing twice; chrF++ adds
    word n-grams of length 1 and 2. Lengths that a text is too short for are left out, so identical
    texts score 100.

    Source: Popović, 2015 (https://aclanthology.org/W15-3049) and 2017
    (https://aclanthology.org/W17-4770), computed by sacrebleu: ``CHRF(word_order=0)`` and
    ``CHRF(word_order=2)``.

    Edge cases: case counts. Of a list of targets the best counts; a target that is not a text is
    compared as ``str(target)``. With an empty response both are 0.0.

    Returns:
        ``chrf`` and ``chrf_pp`` between 0 and 100.

    Raises:
        DatasetError: The target is empty.
        ScorerError: The texts have over `CHRF_CHARACTERS_MAX` characters.

    >>> chrf(ScorerInput(response="ab", target="ab"))
    {'chrf': 100.0, 'chrf_pp': 100.0}
    """
    references = text_gold(sample)
    length = len(sample.response) + sum(map(len, references))
    if length > CHRF_CHARACTERS_MAX:
        raise ScorerError(
            f"chrf would count the n-grams of {length:,} characters; the cap is"
            f" {CHRF_CHARACTERS_MAX:,}; shorten the texts or lower max_tokens"
        )
    characters, plus = (
        _chrf(order).sentence_score(sample.response, references).score for order in (0, 2)
    )
    return {"chrf": float(characters), "chrf_pp": float(plus)}


@in_process
def corpus_bleu(
    responses: Sequence[str], references: Sequence[str | Sequence[str]], *, tokenize: str = "13a"
) -> float:
    """Return the BLEU of a whole corpus.

    Rule: n-gram counts and lengths are summed over all responses first, so this is not the mean of
    sentence scores.

    Source: Post, 2018 (https://aclanthology.org/W18-6319), computed by sacrebleu with its defaults:
    tokenizer 13a, exponential smoothing, case kept.

    Args:
        references: One text, or several, for each response; their number may differ from response
            to response.
        tokenize: sacrebleu's name of another tokenizer: ``intl``, ``zh``, ``char`` …

    Returns:
        A number between 0 and 100.

    Raises:
        UndefinedMetric: There are no responses.
        ScorerError: The two differ in length, or a response has no reference.

    >>> round(corpus_bleu(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat on the mat"]]), 2)
    95.54
    """
    columns = _reference_columns(responses, references, "BLEU")
    return float(_bleu(tokenize).corpus_score(list(responses), columns).score)


@in_process
def corpus_chrf(
    responses: Sequence[str], references: Sequence[str | Sequence[str]], *, word_order: int = 0
) -> float:
    """Return the chrF of a whole corpus.

    Rule: n-gram counts are summed over all responses first, so this is not the mean of sentence
    scores.

    Source: as `chrf`, computed by sacrebleu.

    Args:
        references: One text, or several, for each response; their number may differ from response
            to response.
        word_order: Longest word n-gram counted in addition to characters; 2 is chrF++.

    Returns:
        A number between 0 and 100.

    Raises:
        UndefinedMetric: There are no responses.
        ScorerError: The two differ in length, a response has no reference, or `word_order` is
            negative.

    >>> corpus_chrf(["ab", "the cat"], ["ab", ["the cat", "a cat"]])
    100.0
    """
    if word_order < 0:
        raise ScorerError(f"word_order is {word_order}; give 0 for chrF or 2 for chrF++")
    columns = _reference_columns(responses, references, "chrF")
    return float(_chrf(word_order).corpus_score(list(responses), columns).score)


def corpus_ter(responses: Sequence[str], references: Sequence[str | Sequence[str]]) -> float:
    """Return the translation edit rate (TER) of a whole corpus: edits for 100 words of the references,
    so that less is better, and more than 100 are possible.

    Source: Snover et al., 2006 (https://aclanthology.org/2006.amta-papers.25), computed by sacrebleu
    with its defaults.

    Raises:
        UndefinedMetric: There are no responses.
        ScorerError: The two differ in length, or a response has no reference.

    >>> corpus_ter(["the cat sat"], ["the cat sat down"])
    25.0
    """
    from sacrebleu.metrics.ter import TER  # noqa: PLC0415 - as `_bleu`

    columns = _reference_columns(responses, references, "TER")
    return float(TER().corpus_score(list(responses), columns).score)


def _reference_columns(
    responses: Sequence[str], references: Sequence[str | Sequence[str]], metric: str
) -> list[list[Any]]:
    """Return sacrebleu's form of references: a list for each first, second, …; gaps as None."""
    if not responses:
        raise UndefinedMetric(f"a corpus without responses has no {metric}")
    if len(responses) != len(references):
        raise ScorerError(
            f"{len(responses)} responses and {len(references)} references; give one for each"
            " response"
        )
    rows = [[each] if isinstance(each, str) else list(each) for each in references]
    for index, row in enumerate(rows):
        if not row:
            raise ScorerError(f"response {index} has no reference; give each response at least one")
    return [
        [row[column] if column < len(row) else None for row in rows]
        for column in range(max(map(len, rows)))
    ]


@cache
def _bleu(tokenize: str) -> BLEU:
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - 0.1 s that only this metric needs

    # force only silences the warning about texts that look tokenised.
    return BLEU(tokenize=tokenize, force=True)


@cache
def _chrf(word_order: int) -> CHRF:
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415 - 0.1 s that only this metric needs

    return CHRF(word_order=word_order)


@metric(name="corpus_bleu")
def corpus_bleu_metric(tokenize: str = "13a") -> Metric:
    """Give sacrebleu's corpus BLEU of all responses, those of repeats too, against their targets, 0
    to 100.

    Args:
        tokenize: sacrebleu's name of the tokenizer: ``13a``, ``intl``, ``zh``, ``char`` …

    >>> from nel.types import SampleScore, Score
    >>> one = SampleScore(score=Score(value=1), response="the cat sat on the mat", target="the cat sat on the mat")
    >>> round(corpus_bleu_metric()([one]), 6)
    100.0
    """
    return MetricOfAnswers(lambda scores: corpus_bleu(*_texts(scores), tokenize=tokenize))


@metric(name="corpus_chrf")
def corpus_chrf_metric(word_order: int = 0) -> Metric:
    """Give sacrebleu's corpus chrF of all responses, those of repeats too, against their targets, 0
    to 100.

    Args:
        word_order: 0 for chrF, 2 for chrF++.
    """
    return MetricOfAnswers(lambda scores: corpus_chrf(*_texts(scores), word_order=word_order))


@metric(name="corpus_ter")
def corpus_ter_metric() -> Metric:
    """Give sacrebleu's corpus TER of all responses, those of repeats too, against their targets;
    less is better.
    """
    return MetricOfAnswers(lambda scores: corpus_ter(*_texts(scores)))


def _texts(scores: Sequence[SampleScore]) -> tuple[list[str], list[Any]]:
    return [score.response or "" for score in scores], [score.target for score in scores]
