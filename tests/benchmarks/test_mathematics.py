"""What counts as the answer of a mathematical problem, number formats of eleven languages included."""

from __future__ import annotations

from typing import Any

import pytest

from nel.benchmarks.mathematics import aime, math500, mgsm
from nel.datasets.fewshot import with_split
from nel.datasets.hub_address import parse_uri
from nel.types import ScorerInput


def correct(found: Any, response: str, target: Any) -> bool:
    result = found.scorer(ScorerInput(response=response, target=target))
    return bool(result["correct"])


@pytest.mark.parametrize(
    ("response", "gold", "right"),
    [
        ("Die Antwort lautet 1.234.", 1234, True),
        ("Antwort: 1.234,00 €", 1234, True),
        ("La réponse est 1 234", 1234, True),
        ("Answer: 1,234", 1234, True),
        ("The answer is 1.234.", 1234, False),
        ("Ответ: 1.234", 1234, True),
        ("答えは18です。", 18, True),
        ("উত্তর: ১২", 12, True),
        ("คำตอบคือ ๑๘", 18, True),
        ("Ответ: −5", -5, True),
        ("keine Ahnung", 7, False),
    ],
)
def test_mgsm_numbers(response: str, gold: int, right: bool) -> None:
    """A mark before three digits parts thousands; digits may be of any script; a declared number beats the last one."""
    assert correct(mgsm.mgsm, response, gold) is right


@pytest.mark.parametrize(("language", "right"), [("de", True), ("en", False), ("zh", False), (None, False)])
def test_mgsm_takes_the_language_of_the_problem_where_the_words_do_not_tell(language: str | None, right: bool) -> None:
    """A bare 1.234 has thousands for a German problem, and decimals for an English one."""
    sample = ScorerInput(response="1.234", target=1234, metadata={"language": language})
    assert mgsm.mgsm.scorer(sample)["correct"] is right  # type: ignore[index]


def test_mgsm_asks_in_the_language_of_the_problem() -> None:
    """Test rows have no label and examples have one; both end up with one."""
    test = {"question": "Wie viele?", "answer": None, "answer_number": 18, "config": "de"}
    train = {
        "question": "Frage: Wie viele?",
        "answer": "Schritt-für-Schritt-Antwort: 9 + 9 = 18.",
        "answer_number": 18,
        "config": "de",
    }
    asked = mgsm.mgsm.sample(test, sample_id="1")
    assert str(asked.input).endswith("Frage: Wie viele?\nSchritt-für-Schritt-Antwort:")
    assert asked.subset == "de"
    assert mgsm.mgsm.sample(train, sample_id="2").input == asked.input
    assert mgsm.with_labels(train)["solution"] == "9 + 9 = 18."
    russian = {"question": "Задача: Сколько?", "answer": "Пошаговоерешение: 18", "answer_number": 18, "config": "ru"}
    assert mgsm.with_labels(russian)["question"] == "Сколько?"
    assert mgsm.with_labels(russian)["solution"] == "18"


@pytest.mark.parametrize(
    ("response", "gold", "right"),
    [
        (r"so it is $\boxed{73}$.", "73", True),
        (r"\boxed{073}", 73, True),
        (r"\boxed{5} no, \boxed{204}", "204", True),
        (r"\boxed{m+n=204}", "204", True),
        (r"\boxed{336^\circ}", "336", True),
        (r"\boxed{5\sqrt{3}}", "3", False),
        (r"\boxed{1000-73}", "73", False),
        ("Cannot be determined from steps 1 to 12", "12", False),
        (r"\boxed{{204},{4}}", "204", False),
    ],
)
def test_aime_answers(response: str, gold: Any, right: bool) -> None:
    """The last box counts, leading zeros do not; a number in the midst of the reasoning is not an answer."""
    assert correct(aime.aime24, response, gold) is right
    assert correct(aime.aime25, response, gold) is right


def test_aime_columns_of_both_years() -> None:
    """2024's columns have capitals, 2025's do not."""
    old = aime.aime24.sample({"ID": "2024-I-1", "Problem": "P?", "Solution": "s", "Answer": 204}, sample_id="1")
    new = aime.aime25.sample({"id": "0", "problem": "P?", "answer": "204"}, sample_id="1")
    assert old.input == new.input
    assert str(old.target) == new.target


@pytest.mark.parametrize(
    ("response", "gold", "right"),
    [
        (r"\boxed{\frac{1}{2}}", "0.5", True),
        (r"\boxed{\left( 3, \frac{\pi}{2} \right)}", r"\left( 3, \frac{\pi}{2} \right)", True),
        (r"\boxed{p - q}", "q - p", False),
        (r"\boxed{\text{Evelyn}}", r"\text{Evelyn}", True),
        ("no idea", "14", False),
    ],
)
def test_math500_answers(response: str, gold: str, right: bool) -> None:
    assert correct(math500.math500, response, gold) is right


def test_mgsm_examples_come_from_every_language() -> None:
    """Another split of the same address keeps its languages."""
    assert isinstance(mgsm.mgsm.dataset, str)
    train = parse_uri(with_split(mgsm.mgsm.dataset, "train"))
    assert train.split == "train"
    assert train.configs == tuple(mgsm.LABELS)
    assert train.revision == mgsm.REVISION
