"""EvalScope's ROUGE and BLEU of one text: those of rouge-chinese and of NLTK, on words as jieba and
NLTK split them; a file that asks for them is refused where these are not installed.

NLTK's data are not needed: sentences are divided as IFEval's are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

from nel.benchmarks.instructions.words import ends_sentence
from nel.compat.evalscope.values import check_import
from nel.scoring.tokens import lcs_length, ngrams, shared_count

_CHINESE: Final = re.compile("[\u4e00-\u9fa5]")
# A sentence ends after 。！？, six full stops or two ellipses, and after a quotation mark behind them.
_SENTENCE_ENDS: Final = (
    (re.compile("([。！？?])([^”’])"), "\\1\n\\2"),
    (re.compile(r"(\.{6})([^”’])"), "\\1\n\\2"),
    (re.compile("(…{2})([^”’])"), "\\1\n\\2"),
    (re.compile("([。！？?][”’])([^，。！？?])"), "\\1\n\\2"),
)


def _rouge(predict: Sequence[str], reference: Sequence[str]) -> dict[str, float]:
    """Return recall, precision and F1 of words, of word pairs and of the longest common
    subsequence; a word or pair counts once. Empty texts have none.
    """
    result: dict[str, float] = {}
    for texts in zip(predict, reference, strict=False):
        if not all(texts):
            continue
        words, gold = map(_rouge_words, texts)
        counts = {
            "1": _count_shared(words, gold),
            "2": _count_shared(list(pairwise(words)), list(pairwise(gold))),
        }
        counts["L"] = (lcs_length(words, gold), len(words), len(gold))
        for name, (n_shared, n_own, n_gold) in counts.items():
            precision, recall = n_shared / max(1, n_own), n_shared / max(1, n_gold)
            # rouge-chinese keeps the divisor above 0 by 1e-8, so equal texts have 0.999….
            f1 = 2.0 * (precision * recall / (precision + recall + 1e-8))
            result[f"Rouge-{name}-R"] = recall
            result[f"Rouge-{name}-P"] = precision
            result[f"Rouge-{name}-F"] = f1
    return result


def _bleu(predict: str, reference: str) -> dict[str, float]:
    """Return the share of n-grams of each order that the reference has, with BLEU's penalty for a
    reply that is shorter; each order by itself.
    """
    words, gold = _words(predict), _words(reference)
    if not words:
        penalty = 0.0
    elif len(words) > len(gold):
        penalty = 1.0
    else:
        penalty = math.exp(1 - len(gold) / len(words))
    scores = {}
    for order in range(1, 5):
        n_shared = shared_count(ngrams(words, order), [ngrams(gold, order)])
        scores[f"bleu-{order}"] = penalty * (n_shared / max(1, len(words) - order + 1))
    # NLTK gives 0 where not even one word is shared.
    return scores if scores["bleu-1"] else dict.fromkeys(scores, 0.0)


_FUNCTIONS: Final = {"bleu_ngram_one_sample": _bleu, "compute_rouge_score_one_sample_zh": _rouge}


def __getattr__(name: str) -> Any:
    """Return a function by EvalScope's name.

    Raises:
        MissingExtra: A package that splits texts into words is not installed.
    """
    if name not in _FUNCTIONS:
        raise AttributeError(name)
    check_import(["jieba", "nltk"], raise_error=True)
    return _FUNCTIONS[name]


def _count_shared(words: Sequence[object], gold_words: Sequence[object]) -> tuple[int, int, int]:
    distinct, gold_distinct = set(words), set(gold_words)
    return len(distinct & gold_distinct), len(distinct), len(gold_distinct)


def _rouge_words(text: str) -> list[str]:
    if _CHINESE.search(text):
        text = " ".join(_cut(text))
    for pattern, replacement in _SENTENCE_ENDS:
        text = pattern.sub(replacement, text)
    words: list[str] = []
    for line in text.rstrip().split("\n"):
        if line:  # one of white space alone is an empty word
            words += " ".join(line.split()).split(" ")
    return words


def _words(text: str) -> list[str]:
    if _CHINESE.search(text):
        return _cut(text)
    sentences, start = [], 0
    tokens = list(re.finditer(r"\S+", text))
    for token, following in pairwise(tokens):
        if ends_sentence(token[0], following[0]):
            sentences.append(text[start : token.end()])
            start = following.start()
    split = _words_of_a_sentence()
    return [word for sentence in [*sentences, text[start:]] for word in split(sentence)]


def _cut(text: str) -> list[str]:
    return list(_jieba().cut(text))


@cache
def _words_of_a_sentence() -> Any:
    return import_module("nltk.tokenize.destructive").NLTKWordTokenizer().tokenize


@cache
def _jieba() -> Any:
    jieba = import_module("jieba")
    jieba.setLogLevel("ERROR")
    return jieba
