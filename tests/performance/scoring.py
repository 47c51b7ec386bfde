"""Samples per second of each scorer on one core, beside its reference library: the median of alternating rounds.

python tests/performance/scoring.py [--rounds 7] [--samples 400]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import statistics
import string
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nel import ScorerInput, answer_line, exact_match, fuzzy_match, multichoice_regex, numeric_match
from nel.reading.response import own_response
from nel.reading.texts import read_text
from nel.scoring.answers import gsm8k_answer
from nel.scoring.choice import mcq_letter_extract
from nel.scoring.decisions import boolean_yesno
from nel.scoring.overlap import bleu, chrf, f1_token, rouge
from nel.scoring.retrieval import retrieval_metrics

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
RATIO_MIN = 0.9


def gsm8k_samples(count: int) -> list[ScorerInput]:
    """Return worked solutions of a 6B model with their gold solutions, or made-up texts where the file is absent."""
    path = DATA / "gsm8k_outputs_6b_finetuning.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
        return [ScorerInput(response=row["model_output"], target=row["answer"]) for row in rows]
    words = ["the", "ducks", "lay", "eggs", "every", "day", "so", "she", "makes", "9", "*", "2", "=", "$18", "."]
    rng = random.Random(0)
    texts = [" ".join(rng.choices(words, k=rng.randint(20, 80))) for _ in range(2 * count)]
    return [ScorerInput(response=texts[i], target=texts[count + i]) for i in range(count)]


def mmlu_pro_samples(count: int) -> list[ScorerInput]:
    """Return chain-of-thought answers of Llama 3.1 8B with their gold letters, or made-up ones."""
    path = DATA / "mmlu_pro_outputs_llama31_8b.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
        return [ScorerInput(response=row["generated_text"], target=row["answer"]) for row in rows]
    return [ScorerInput(response=f"{each.response} The answer is (C).", target="C") for each in gsm8k_samples(count)]


def bbh_samples(count: int) -> list[ScorerInput]:
    """Return worked answers of Code-Davinci to questions of yes or no, or made-up ones."""
    path = DATA / "bbh_outputs_code_davinci_002.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        decided = [row for row in rows if str(row["target"]).lower() in ("yes", "no", "true", "false")]
        return [ScorerInput(response=row["model_output"], target=row["target"]) for row in decided[:count]]
    return [ScorerInput(response=f"{each.response} So the answer is no.", target="no") for each in gsm8k_samples(count)]


def short_samples(answers: Sequence[str], target: str, count: int) -> list[ScorerInput]:
    """Return short answers, each with a number of its own where it has a place for one."""
    texts = (answers[i % len(answers)].replace("42", str(i)) for i in range(count))
    return [ScorerInput(response=text, target=target) for text in texts]


def reader_table(count: int) -> list[tuple[str, Callable[[ScorerInput], object], list[ScorerInput]]]:
    """Return each reader of answers with short answers and with worked ones."""
    declared = ("The answer is {}.", "{}", "Answer: {}", "So the answer is {}.", "**Answer:** {}")
    numbers, labels, decisions, texts = (
        short_samples([each.replace("{}", stated) for each in declared], target, count)
        for stated, target in (("42", "42"), ("(C)", "C"), ("no", "no"), ("Paris", "Paris"))
    )
    worked, letters, decided = gsm8k_samples(count), mmlu_pro_samples(count), bbh_samples(count)
    return [
        ("gsm8k_answer, short", gsm8k_answer, numbers),
        ("gsm8k_answer, worked", gsm8k_answer, worked),
        ("numeric_match, short", numeric_match, numbers),
        ("mcq_letter_extract, short", mcq_letter_extract, labels),
        ("mcq_letter_extract, worked", mcq_letter_extract, letters),
        ("boolean_yesno, short", boolean_yesno, decisions),
        ("boolean_yesno, worked", boolean_yesno, decided),
        ("exact_match, short", exact_match, texts),
        ("answer_line, short", answer_line, texts),
        ("read_text, short", lambda sample: read_text(own_response(sample.response)), texts),
        ("read_text, worked", lambda sample: read_text(own_response(sample.response)), letters),
    ]


def rankings(count: int) -> list[ScorerInput]:
    """Return rankings of 100 ids of which ten are relevant."""
    rng = random.Random(0)
    rows: list[dict[str, Any]] = [
        {"retrieved": rng.sample(range(1_000), 100), "relevant": rng.sample(range(1_000), 10), "k": 20}
        for _ in range(count)
    ]
    return [ScorerInput(response="", target=None, metadata=row) for row in rows]


def squad_f1(sample: ScorerInput) -> float:
    """Return F1 as the official SQuAD 2.0 script computes it."""

    def normalize_answer(text: str) -> str:
        exclude = set(string.punctuation)
        plain = "".join(character for character in text.lower() if character not in exclude)
        regex = re.compile(r"\b(a|an|the)\b", re.UNICODE)
        return " ".join(re.sub(regex, " ", plain).split())

    gold, predicted = normalize_answer(sample.target).split(), normalize_answer(sample.response).split()
    common = Counter(gold) & Counter(predicted)
    same = sum(common.values())
    if not gold or not predicted:
        return int(gold == predicted)
    if same == 0:
        return 0
    precision, recall = same / len(predicted), same / len(gold)
    return (2 * precision * recall) / (precision + recall)


def references() -> dict[str, Callable[[ScorerInput], object]]:
    """Return what each scorer is measured against."""
    import numpy as np
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu
    from sacrebleu.metrics import CHRF
    from sklearn.metrics import ndcg_score

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    plain, plus = CHRF(word_order=0), CHRF(word_order=2)

    def ndcg(sample: ScorerInput) -> object:
        retrieved, relevant = sample.metadata["retrieved"], set(sample.metadata["relevant"])
        universe = [*retrieved, *(relevant - set(retrieved))]
        truth = np.array([[each in relevant for each in universe]])
        return ndcg_score(truth, np.arange(len(universe), 0, -1)[None, :], k=sample.metadata["k"])

    return {
        "f1_token": squad_f1,
        "bleu": lambda sample: sentence_bleu(sample.response, [sample.target], smooth_method="add-k"),
        "rouge": lambda sample: scorer.score(sample.target, sample.response),
        "chrf": lambda sample: [metric.sentence_score(sample.response, [sample.target]) for metric in (plain, plus)],
        "retrieval_metrics": ndcg,
    }


LIBRARIES = {
    "f1_token": "SQuAD 2.0 script",
    "bleu": "sacrebleu sentence_bleu, add-k",
    "rouge": "rouge-score RougeScorer",
    "chrf": "sacrebleu CHRF, two calls",
    "retrieval_metrics": "scikit-learn ndcg_score",
}


def rate(function: Callable[[ScorerInput], object], samples: Sequence[ScorerInput]) -> float:
    """Return the samples per second of processor time."""
    started = time.process_time()
    for sample in samples:
        function(sample)
    return len(samples) / (time.process_time() - started)


def measured(
    ours: Callable[[ScorerInput], object],
    theirs: Callable[[ScorerInput], object] | None,
    samples: Sequence[ScorerInput],
    rounds: int,
) -> tuple[float, float | None, float | None]:
    """Return both median rates and the median of the rounds' ratios, after a round that is not counted."""
    pairs = []
    for _ in range(rounds + 1):
        first = rate(ours, samples)
        pairs.append((first, rate(theirs, samples) if theirs else first))
    left, right = (statistics.median(side) for side in zip(*pairs[1:], strict=True))
    ratio = statistics.median(one / other for one, other in pairs[1:])
    return left, right if theirs else None, ratio if theirs else None


def main() -> None:
    """Print the table; exit 1 when a scorer is slower than 0.9 times its reference."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--samples", type=int, default=400)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    texts, letters, ranked = (make(options.samples) for make in (gsm8k_samples, mmlu_pro_samples, rankings))
    table: list[tuple[Callable[[ScorerInput], object], list[ScorerInput]]] = [
        *((scorer, texts) for scorer in (f1_token, bleu, rouge, chrf)),
        (retrieval_metrics, ranked),
        *((scorer, texts) for scorer in (exact_match, fuzzy_match)),
        (numeric_match, [replace(each, target=str(each.target).rsplit("A:", 1)[-1].strip()) for each in texts]),
        (multichoice_regex, [each for each in letters if each.target in "ABCD"]),
        (answer_line, letters),
    ]
    others = references()
    slow = []
    print(f"{'scorer':18} {'samples/s':>10} {'reference':>10} {'ratio':>7}  reference library")
    for scorer, samples in table:
        name = scorer.__name__
        ours, theirs, ratio = measured(scorer, others.get(name), samples, options.rounds)
        if theirs is None or ratio is None:
            print(f"{name:18} {ours:>10,.0f} {'-':>10} {'-':>7}")
            continue
        print(f"{name:18} {ours:>10,.0f} {theirs:>10,.0f} {ratio:>6.2f}x  {LIBRARIES[name]}")
        slow += [name] if ratio < RATIO_MIN else []
    print(f"\n{'reader':26} {'µs an answer':>12}")
    for name, scorer, samples in reader_table(options.samples):
        ours, _, _ = measured(scorer, None, samples, options.rounds)
        print(f"{name:26} {1e6 / ours:>12.1f}")
    if slow:
        raise SystemExit(f"slower than {RATIO_MIN}x of the reference: {', '.join(slow)}")


if __name__ == "__main__":
    main()
