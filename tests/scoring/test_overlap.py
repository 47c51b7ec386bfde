"""Overlap scores equal their reference implementations, and have a value or a named error for every text."""

from __future__ import annotations

import math
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import strategies as st
from sacrebleu import corpus_bleu as sacrebleu_corpus_bleu
from sacrebleu import corpus_chrf as sacrebleu_corpus_chrf
from sacrebleu.metrics.chrf import CHRF

from nel.errors import DatasetError, ScorerError, UndefinedMetric
from nel.metrics.requested import RequestedStatistics
from nel.metrics.statistics_collector import StatisticsCollector
from nel.scoring.overlap import (
    bleu,
    chrf,
    corpus_bleu,
    corpus_chrf,
    corpus_chrf_metric,
    corpus_ter,
    corpus_ter_metric,
    f1_token,
    rouge,
)
from nel.scoring.tokens import rouge_tokens
from nel.types import ModelFailure, SampleScore, Score, Scored, ScorerInput
from tests.support.tiers import ENDS, representatives

EXACT = 1e-9
SCORERS = (f1_token, bleu, rouge, chrf)

HAND_MADE = [
    ("ab", "ab"),
    ("a", "b"),
    ("", ""),
    ("", "the cat"),
    (" \n\t ", "the cat"),
    ("the cat sat on the mat", "the cat is on the mat"),
    ("the the the the the the the", "the cat is on the mat"),
    ("?!", "the cat"),
    ("(hi) there.", "hi there"),
    ("naïve café", "naive cafe"),
    ("İstanbul Kelvin K ſ", "istanbul kelvin k s"),
    ("猫坐在垫子上。", "猫在垫子上。"),
    ("Привет, мир", "Привет мир"),
    ("👍🏽 ok 👨‍👩‍👧", "ok 👍🏽"),
    ("\ud800 broken", "broken \ud800"),
    ("snake_case x_1", "snake case x 1"),
    ("line\u2028break\u00a0nbsp\x1cfs", "line break nbsp fs"),
]


@cache
def _rouge_scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer  # takes seconds to import

    return RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def _random_pairs(count: int) -> list[tuple[str, str]]:
    rng = random.Random(7)  # noqa: S311 - a seeded test
    words = ["the", "a", "an", "cat", "dog", "sat,", "mat.", "on", "(well)", "12", "3.5", "x-ray", "don't", "Cat", "É"]
    words += ["猫", "坐在", "👍", "...", "!", " ", "\n"]
    lengths = [0, 1, 1, 2, 3, 4, 5, 8, 13, 40]
    return [
        (" ".join(rng.choices(words, k=rng.choice(lengths))), " ".join(rng.choices(words, k=rng.choice(lengths))))
        for _ in range(count)
    ]


PAIRS = [*HAND_MADE, *_random_pairs(50)]
SCORED = [(response, target) for response, target in PAIRS if target.strip()]
"""Those whose target decides something."""
texts = st.text(alphabet=st.one_of(st.sampled_from("ab the. 1猫\n"), st.characters()), max_size=60)


def _has_words(text: str) -> bool:
    return bool(rouge_tokens(text))


def _is_latin(*given_texts: str) -> bool:
    """Return whether the package rouge-score finds all words of some texts."""
    return all(token.isascii() for text in given_texts for token in rouge_tokens(text))


def _rouge_reference(targets: list[str], response: str) -> list[float]:
    scores = _rouge_scorer().score_multi(targets, response)
    return [float(scores[key].fmeasure) for key in ("rouge1", "rouge2", "rougeL")]


def _chrf_reference(targets: list[str], response: str) -> list[float]:
    return [CHRF(word_order=order).sentence_score(response, targets).score for order in (0, 2)]


def _bleu_by_hand(targets: list[str], response: str) -> list[float]:
    """BLEU with add-1 on every order, by counting in lists."""
    said = response.lower().split()
    references = [words for words in (target.lower().split() for target in targets) if words]
    if not said or not references:
        return [0.0] * 4
    c = len(said)
    gap = min(abs(len(words) - c) for words in references)
    r = min(len(words) for words in references if abs(len(words) - c) == gap)
    penalty = 1.0 if c >= r else math.exp(1 - r / c)
    precisions = []
    for n in range(1, 5):
        grams = [said[i : i + n] for i in range(c - n + 1)]
        lists = [[words[i : i + n] for i in range(len(words) - n + 1)] for words in references]
        distinct = [gram for i, gram in enumerate(grams) if gram not in grams[:i]]
        matches = sum(min(grams.count(gram), max(each.count(gram) for each in lists)) for gram in distinct)
        precisions.append((matches + 1) / (len(grams) + 1))
    return [penalty * math.prod(precisions[:n]) ** (1 / n) for n in range(1, 5)]


def test_rouge_equals_the_rouge_score_package() -> None:
    """ROUGE-1, -2 and -L are those of rouge-score, tokenizer included, for Latin text."""
    latin = [(response, target) for response, target in SCORED if _has_words(target) and _is_latin(response, target)]
    assert len(latin) > len(SCORED) / 4
    for response, target in latin:
        ours = rouge(ScorerInput(response=response, target=target))
        assert list(ours) == ["rouge_1", "rouge_2", "rouge_l"]
        assert list(ours.values()) == pytest.approx(_rouge_reference([target], response), abs=EXACT), (response, target)


def test_chrf_equals_sacrebleu() -> None:
    """The chrF and chrF++ scores are those of sacrebleu."""
    for response, target in SCORED:
        ours = chrf(ScorerInput(response=response, target=target))
        assert list(ours) == ["chrf", "chrf_pp"]
        assert list(ours.values()) == pytest.approx(_chrf_reference([target], response), abs=EXACT), (response, target)


def test_bleu_equals_its_formula() -> None:
    """BLEU-1 to BLEU-4 follow the formula of the docstring."""
    for response, target in SCORED:
        ours = bleu(ScorerInput(response=response, target=target))
        assert list(ours) == ["bleu_1", "bleu_2", "bleu_3", "bleu_4"]
        assert list(ours.values()) == pytest.approx(_bleu_by_hand([target], response), abs=EXACT), (response, target)


def test_several_references_are_those_of_the_reference_implementations() -> None:
    """A list of targets means several references, for each scorer as its source has it."""
    rng = random.Random(3)  # noqa: S311 - a seeded test
    everything = [text for pair in PAIRS for text in pair if _has_words(text) and _is_latin(text)]
    for _ in range(50):
        response, *targets = rng.choices(everything, k=rng.randint(2, 5))
        sample = ScorerInput(response=response, target=targets)
        assert list(rouge(sample).values()) == pytest.approx(_rouge_reference(targets, response), abs=EXACT)
        assert list(chrf(sample).values()) == pytest.approx(_chrf_reference(targets, response), abs=EXACT)
        assert list(bleu(sample).values()) == pytest.approx(_bleu_by_hand(targets, response), abs=EXACT)
        single = [f1_token(ScorerInput(response=response, target=target))["f1"] for target in targets]
        assert f1_token(sample)["f1"] == max(single)


@pytest.mark.parametrize(
    ("response", "target", "f1", "precision", "recall"),
    [
        ("the Eiffel Tower", "Eiffel Tower", 1, 1, 1),
        ("Eiffel Tower!", "eiffel  tower", 1, 1, 1),
        ("in the city of Paris", "Paris", 0.4, 0.25, 1),
        ("cat cat dog", "cat dog dog", 2 / 3, 2 / 3, 2 / 3),
        ("Denver", "Broncos", 0, 0, 0),
        ("U.S.", "US", 1, 1, 1),
        ("the", "an", 0, 0, 0),
        ("The", "the.", 1, 1, 1),
        ("]", "]", 1, 1, 1),
        ("]", "[", 0, 0, 0),
        ("", "Paris", 0, 0, 0),
        ("Paris", ["London", "Paris France", "Paris"], 1, 1, 1),
        ("Paris Texas", ["Paris", "Texas Rangers team"], 2 / 3, 0.5, 1),
        ("42", (7, 42), 1, 1, 1),
    ],
)
def test_f1_is_that_of_squad(response: str, target: Any, f1: float, precision: float, recall: float) -> None:
    """Normalising and counting are those of the SQuAD 2.0 script; a target of articles alone is not empty."""
    found = f1_token(ScorerInput(response=response, target=target))
    assert found == pytest.approx({"f1": f1, "precision": precision, "recall": recall})


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_target_that_is_no_text_is_compared_as_text(scorer: Any) -> None:
    """A number as target equals its digits."""
    assert scorer(ScorerInput(response="12345", target=12345)) == scorer(ScorerInput(response="12345", target="12345"))


@pytest.mark.parametrize("target", [None, "", " ", [], ["", " "]])
@pytest.mark.parametrize("scorer", SCORERS)
def test_an_empty_target_is_a_bad_row(scorer: Any, target: Any) -> None:
    """Without a reference there is nothing to overlap with."""
    with pytest.raises(DatasetError, match="the target is empty"):
        scorer(ScorerInput(response="None", target=target))


def test_a_target_without_a_word_is_a_bad_row_for_rouge() -> None:
    """Signs alone are not a word; of several targets those with words count."""
    with pytest.raises(DatasetError, match="has no word for ROUGE"):
        rouge(ScorerInput(response="...", target="..."))
    assert rouge(ScorerInput(response="yes", target=["...", "yes"]))["rouge_1"] == 1.0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("我喜欢 B2", ["我", "喜", "欢", "b2"]),
        ("Я люблю книги!", ["я", "люблю", "книги"]),
        ("٣ كتب", ["٣", "كتب"]),
        ("Café x² µ", ["caf", "x"]),
    ],
)
def test_words_of_other_scripts(text: str, tokens: list[str]) -> None:
    """Words stand between spaces, or are single characters; a vowel sign belongs to its letter."""
    assert rouge_tokens(text) == tokens


@pytest.mark.slow
def test_chrf_of_texts_of_a_megabyte_is_that_of_sacrebleu() -> None:
    """A megabyte of few words is scored."""
    rng = random.Random(5)  # noqa: S311 - a seeded test
    words = ["the", "cat", "sat", "on", "a", "mat"]
    target, response = (" ".join(rng.choices(words, k=250_000)) for _ in range(2))
    found = chrf(ScorerInput(response=response, target=target))
    assert list(found.values()) == pytest.approx(_chrf_reference([target], response), abs=EXACT)


@ENDS
@pytest.mark.parametrize("scorer", representatives([f1_token, bleu, rouge], f1_token))
def test_a_runaway_response_of_ten_megabytes_is_scored(scorer: Any) -> None:
    """Against a gold answer of a few words it takes 2 seconds; work that grows with the square would take hours."""
    found = scorer(ScorerInput(response="so the cat sat " * 670_000, target="the cat sat on the mat"))
    assert all(0.0 <= value <= 1.0 for value in found.values())


def test_rouge_refuses_what_would_take_minutes() -> None:
    """Above the cap the message states the sizes and the cap; identical texts need no comparison."""
    response, target = "a b " * 105_000, "b a a " * 70_000
    with pytest.raises(ScorerError, match=r"210,000 response tokens with 210,000 target .*cap is 40,000,000,000"):
        rouge(ScorerInput(response=response, target=target))
    assert rouge(ScorerInput(response=response, target=response))["rouge_l"] == 1.0


def test_chrf_refuses_what_would_take_gigabytes() -> None:
    """Above the cap the message states the size and the cap."""
    with pytest.raises(ScorerError, match=r"n-grams of 4,000,002 characters; the cap is 4,000,000"):
        chrf(ScorerInput(response="a" * 4_000_000, target=["b", "c"]))


def _ragged() -> tuple[list[str], list[list[str]]]:
    rng = random.Random(11)  # noqa: S311 - a seeded test
    responses = [response for response, _ in PAIRS]
    return responses, [[target, *rng.sample(responses, k=rng.randint(0, 3))] for _, target in PAIRS]


def test_corpus_scores_equal_sacrebleu() -> None:
    """One reference for each response, as text or as a list of one."""
    responses, references = _ragged()
    first = [row[0] for row in references]
    assert corpus_bleu(responses, first) == pytest.approx(sacrebleu_corpus_bleu(responses, [first]).score, abs=EXACT)
    assert corpus_bleu(responses, [[text] for text in first]) == corpus_bleu(responses, first)
    for order in (0, 2):
        expected = sacrebleu_corpus_chrf(responses, [first], word_order=order).score
        assert corpus_chrf(responses, first, word_order=order) == pytest.approx(expected, abs=EXACT)


def test_faults_of_a_corpus_are_named() -> None:
    """An empty corpus has no score, and unequal lengths or a response without reference are errors."""
    with pytest.raises(UndefinedMetric, match="a corpus without responses has no BLEU"):
        corpus_bleu([], [])
    with pytest.raises(UndefinedMetric, match="a corpus without responses has no chrF"):
        corpus_chrf([], [])
    with pytest.raises(ScorerError, match="2 responses and 1 references"):
        corpus_bleu(["a", "b"], ["a"])
    with pytest.raises(ScorerError, match="response 1 has no reference"):
        corpus_chrf(["a", "b"], ["a", []])
    with pytest.raises(ScorerError, match="word_order is -1"):
        corpus_chrf(["a"], ["a"], word_order=-1)


def test_a_corpus_of_repeats_has_every_answer() -> None:
    """Each answer is a response of its own, as in sacrebleu; the last answer of a question stood for all of them."""
    answers = {
        "the cat sat on the mat": ["the cat sat on a mat", "", "a dog"],
        "a red door": ["a red door", "red", "a"],
    }
    statistics = StatisticsCollector(
        RequestedStatistics(metrics=(("", corpus_chrf_metric()), ("", corpus_ter_metric())))
    )
    for question, (target, texts) in enumerate(answers.items()):
        for text in texts:
            outcome = Scored(reward=0.5, metrics={}) if text else ModelFailure(kind="empty")
            statistics.add(question, outcome, SampleScore(score=Score(value=0.0), response=text, target=target))
    responses = [text for texts in answers.values() for text in texts]
    targets = [target for target, texts in answers.items() for _ in texts]
    assert [(row["value"], row["n"]) for row in statistics.rows("accuracy")] == [
        (corpus_chrf(responses, targets), 6),
        (corpus_ter(responses, targets), 6),
    ]
