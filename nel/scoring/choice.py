"""Scorers of multiple-choice answers, by letter, by text and by log-likelihood.

Depends on `nel.reading.letters` for the labels that a response gives. A gold answer may be a
letter, an index or the text of a choice; one that is none of them, or two at once, is a bad row
(`DatasetError`), not a wrong answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nel.core.timed_regex import last_group
from nel.errors import ScorerError
from nel.reading.letters import chosen_labels, labels_after_marker, labels_for, read_letter
from nel.reading.own import own_answer
from nel.reading.types import DECLARING
from nel.scoring.declarations import in_process
from nel.scoring.gold_choices import ChoiceSetting, choice_gold, gold_label, letter_gold
from nel.scoring.golds import reads_gold
from nel.types import ScorerInput

_FOUR: Final = "ABCD"


@in_process
@reads_gold(letter_gold)
def multichoice_regex(
    sample: ScorerInput, pattern: str | None = None
) -> dict[str, bool | str | None]:
    """Compare the declared letter with the target letter; A to D unless a pattern says otherwise.

    Rule: the last ``Answer: X``, ``the answer is (X)`` and their like. Source: NeMo Evaluator's
    primitive of this name, which takes the first match and finds C in "Cannot". Two letters ("A or
    B") are not an answer.

    Args:
        pattern: A regular expression whose first group is the letter; its last match counts.

    Returns:
        ``correct`` and ``extracted``, the letter or None.

    Raises:
        DatasetError: The target is empty, or is not a letter from A to D and there is no pattern.

    >>> multichoice_regex(ScorerInput(response="It is B because ...\\nAnswer: **B**", target="B"))
    {'correct': True, 'extracted': 'B'}
    """
    gold = letter_gold(sample, pattern=pattern)
    response, ran_on = own_answer(sample)
    if pattern is None:
        reading = read_letter(response, _FOUR)
        extracted = reading.value if reading.form in DECLARING else None
    else:
        extracted = last_group(pattern, response.text)
    extracted = extracted.upper() if extracted else None
    return {
        "correct": extracted is not None and extracted == gold,
        "extracted": extracted,
        **ran_on,
    }


@in_process
@reads_gold(choice_gold)
def mcq_letter_extract(sample: ScorerInput) -> dict[str, bool | str | None]:
    """Find the letter a free-form response gives, A to J or as many as there are choices, and
    compare it with the gold.

    Rule: docs/reference/reading.md. Source: NeMo Evaluator's BYOB scorer, which reads 200
    characters and takes "I" and "a" for letters. The gold may be a letter, an index from 0 or the
    text of a choice (``choices``, ``options`` or the fields ``a``, ``b``, …). Several letters, or
    none, are ``parsed`` false.

    Returns:
        ``correct``, ``parsed`` and ``extracted``.

    Raises:
        DatasetError: The gold is neither a letter, an index nor the text of a choice.

    >>> mcq_letter_extract(ScorerInput(response="I would pick Option D.", target=3))
    {'correct': True, 'parsed': True, 'extracted': 'D'}
    >>> mcq_letter_extract(ScorerInput(response="A good question!", target="A"))
    {'correct': False, 'parsed': False, 'extracted': None}
    """
    setting = ChoiceSetting.of(sample)
    (gold,) = choice_gold(sample)
    response, ran_on = own_answer(sample)
    extracted = setting.read(response)
    return {
        "correct": extracted == gold,
        "parsed": extracted is not None,
        "extracted": extracted,
        **ran_on,
    }


@in_process
@reads_gold(choice_gold)
def multiple_choice(sample: ScorerInput, *, multiple: bool = False) -> dict[str, bool | str | None]:
    """Compare the chosen labels with the gold ones, strictly and leniently side by side.

    Rule: ``correct`` counts what the last line ``ANSWER: X`` says, as the prompt asks for it;
    ``correct_lenient`` counts an answer in any form (see `mcq_letter_extract`), choice texts
    included. Source: EvalScope's MultiChoiceAdapter, without its "last capital letter" guess.
    Labels go on beyond Z as 1, 2, ….

    Args:
        multiple: Several labels may be right (``A, C``, ``AC``, ``A and C``, ``[A][C]``); all of
            them, and no other, count.

    Returns:
        ``correct``, ``correct_lenient``, ``parsed`` (strictly) and ``extracted``, the labels joined
        by commas.

    Raises:
        DatasetError: The gold is not a label, index or text of a choice.

    >>> multiple_choice(ScorerInput(response="I would say (B).", target="B"))
    {'correct': False, 'correct_lenient': True, 'parsed': False, 'extracted': 'B'}
    >>> multiple_choice(ScorerInput(response="ANSWER: C and A", target=["A", "C"]), multiple=True)["correct"]
    True
    """
    setting = ChoiceSetting.of(sample)
    labels, choices = setting.labels, setting.choices
    gold = choice_gold(sample, multiple=multiple)
    response, ran_on = own_answer(sample)
    strict = labels_after_marker(response, labels)
    lenient = chosen_labels(response, labels, choices)
    if not multiple:
        strict, lenient = (
            labels_read if len(labels_read) == 1 else () for labels_read in (strict, lenient)
        )
    return {
        "correct": strict == gold,
        "correct_lenient": lenient == gold,
        "parsed": bool(strict),
        "extracted": ",".join(lenient) or None,
        **ran_on,
    }


@in_process
@reads_gold(choice_gold)
def multiple_choice_acc(sample: ScorerInput) -> dict[str, Any]:
    """Rank the choices by the log-likelihood the model gives them.

    Rule: ``acc`` is 1 when the choice of the largest sum of log-probabilities is the gold;
    ``acc_norm`` when that of the largest sum per UTF-8 byte is; ``acc_greedy`` when the likeliest
    of the choices that greedy decoding would write is. Equal values go to the first. The gold is a
    letter, an index or a text. Source: lm-evaluation-harness (MMLU, ARC).

    Raises:
        ScorerError: The metadata has no log-likelihoods, or lists of different lengths, or one is
            not a number.
        DatasetError: The gold is not a choice.

    >>> metadata = {"_choices": [" yes", " no"], "_choices_logprobs": [-4.0, -3.5], "_choices_is_greedy": [False, True]}
    >>> multiple_choice_acc(ScorerInput(response=" no", target="A", metadata=metadata))
    {'acc': 0.0, 'acc_norm': 1.0, 'acc_greedy': 0.0, 'extracted': 'B', 'logprobs': [-4.0, -3.5]}
    """
    choices, sums, greedy = log_likelihoods(sample.metadata)
    labels, gold = ranked_gold(sample, choices)
    likeliest = first_best(sums)
    sizes = [max(len(choice.encode("utf-8", "replace")), 1) for choice in choices]
    per_byte = [total / size for total, size in zip(sums, sizes, strict=True)]
    greedy_sums = [
        total if is_greedy else -math.inf for total, is_greedy in zip(sums, greedy, strict=True)
    ]
    return {
        "acc": float(likeliest == gold),
        "acc_norm": float(first_best(per_byte) == gold),
        "acc_greedy": float(any(greedy) and first_best(greedy_sums) == gold),
        "extracted": labels[likeliest],
        "logprobs": finite_or_none(sums),
    }


def ranked_gold(sample: ScorerInput, choices: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Return the labels of ranked choices and the place of the gold one.

    Raises:
        DatasetError: The gold answer names no choice, or reads two ways.
    """
    setting = ChoiceSetting.of(sample)
    labels = setting.labels if len(setting.labels) == len(choices) else labels_for(len(choices))
    return labels, labels.index(
        gold_label(sample.target, labels, setting.choices or choices, kind=setting.kind)
    )


def log_likelihoods(metadata: Mapping[str, Any]) -> tuple[list[str], list[float], list[bool]]:
    """Return a ranked sample's choices, the sum of each, and whether greedy decoding writes it.

    Raises:
        ScorerError: They are missing, of different lengths, or rank nothing.
    """
    absent_fields = [name for name in ("_choices", "_choices_logprobs") if not metadata.get(name)]
    if absent_fields:
        raise ScorerError(
            f"the sample has no {' and '.join(absent_fields)}; log-likelihoods need "
            'endpoint_type="completions_logprob" and choices= or choices_field= on the benchmark'
        )
    choices = [str(choice) for choice in metadata["_choices"]]
    sums = [_log_probability(value) for value in metadata["_choices_logprobs"]]
    greedy = [bool(value) for value in metadata.get("_choices_is_greedy") or [False] * len(choices)]
    if not len(choices) == len(sums) == len(greedy):
        raise ScorerError(
            f"{len(choices)} choices, {len(sums)} log-likelihoods and {len(greedy)} greedy marks; "
            "give one of each for each choice"
        )
    if any(math.isnan(value) for value in sums) or all(value == -math.inf for value in sums):
        raise ScorerError(
            f"the log-likelihoods {sums} rank nothing: one is NaN, or all are minus infinity"
        )
    return choices, sums, greedy


def finite_or_none(sums: Sequence[float]) -> list[float | None]:
    """Return the sums of the choices as JSON can hold them: None for minus infinity."""
    return [total if math.isfinite(total) else None for total in sums]


def _log_probability(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value == math.inf:
        raise ScorerError(
            f"{value!r:.40} is not a log-likelihood; it must be a number below infinity"
        )
    return float(value)


def first_best(values: Sequence[float]) -> int:
    """Return the index of the largest value; of equal ones, the first."""
    return max(range(len(values)), key=lambda index: values[index])
