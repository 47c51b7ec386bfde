"""Metrics of translations: one corpus for each pair of languages, and the mean over the pairs.

BLEU counts words, so a language that is written without spaces needs a tokenizer: sacrebleu's
``zh`` for Chinese, ``char`` for Japanese and Thai. Its numbers there are comparable only with
others of the same tokenizer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from nel.errors import UndefinedMetric
from nel.metrics import Metric, MetricOfAnswers, metric
from nel.scoring import corpus_bleu, corpus_chrf
from nel.scoring.overlap import corpus_chrf_metric
from nel.types import SampleScore

PAIR: Final = "pair"
"""The field of a row that names its pair, such as ``en-de``."""
_TOKENIZERS: Final = {
    "zh": "zh",
    "cmn": "zh",
    "ja": "char",
    "jpn": "char",
    "th": "char",
    "tha": "char",
}


@metric(name="corpus_chrf_pp")
def corpus_chrf_pp() -> Metric:
    """Give the corpus chrF++ of all sentences, which are those of one language pair."""
    return corpus_chrf_metric(word_order=2)


@metric(name="corpus_chrf_by_pair")
def corpus_chrf_by_pair() -> Metric:
    """Give the corpus chrF of each language pair, and their mean."""
    return _by_pair(lambda _, responses, targets: corpus_chrf(responses, targets))


@metric(name="corpus_chrf_pp_by_pair")
def corpus_chrf_pp_by_pair() -> Metric:
    """Give the corpus chrF++ of each language pair, and their mean."""
    return _by_pair(lambda _, responses, targets: corpus_chrf(responses, targets, word_order=2))


@metric(name="corpus_bleu_by_pair")
def corpus_bleu_by_pair() -> Metric:
    """Give the corpus BLEU of each language pair, tokenised as its target needs, and their mean."""
    return _by_pair(
        lambda pair, responses, targets: corpus_bleu(
            responses, targets, tokenize=tokenizer_for(pair)
        )
    )


def tokenizer_for(pair: str) -> str:
    """Return sacrebleu's name of the tokenizer for the target language of a pair.

    >>> tokenizer_for("en-de_DE"), tokenizer_for("en-zh_CN"), tokenizer_for("eng_Latn-jpn_Jpan")
    ('13a', 'zh', 'char')
    """
    # "zh_CN" and "jpn_Jpan" name a language with its country or script.
    language = pair.rpartition("-")[2].partition("_")[0]
    return _TOKENIZERS.get(language, "13a")


def _by_pair(measure: Callable[[str, list[str], list[str]], float]) -> Metric:
    def compute(scores: Sequence[SampleScore]) -> dict[str, float]:
        pairs: dict[str, list[SampleScore]] = {}
        for score in scores:
            pairs.setdefault(str((score.sample_metadata or {})[PAIR]), []).append(score)
        if not pairs:
            raise UndefinedMetric("no sentence was scored")
        measures = {}
        for pair, sentences in sorted(pairs.items()):
            responses = [score.response or "" for score in sentences]
            targets = [str(score.target) for score in sentences]
            measures[pair] = measure(pair, responses, targets)
        # Each pair weighs the same, however many sentences it has.
        return {**measures, "mean": math.fsum(measures.values()) / len(measures)}

    return MetricOfAnswers(compute)
