"""The ways in which one answer can be read: what each takes, and how the kind of answer is known."""

from __future__ import annotations

from typing import Any

import pytest

from nel.benchmarks.official_readings import official_reading
from nel.scoring.reading.readings import UNDECLARED, gold_answer, read_in_every_way, same_answer
from nel.types import Sample, ScorerInput

CHOICES = {"choices": ["London", "Paris", "Rome"]}


def _input(response: str, target: Any, metadata: dict[str, Any] | None = None, prompt: str = "") -> ScorerInput:
    sample = Sample(id="s", input=prompt, target=target, metadata=metadata or {})
    return ScorerInput(response=response, target=target, metadata=metadata or {}, sample=sample)


@pytest.mark.parametrize(
    ("response", "target", "metadata", "strict", "lenient"),
    [
        ("Answer: B", "B", CHOICES, "B", "B"),
        ("B", 1, CHOICES, "B", "B"),
        ("**B.**", "Paris", CHOICES, "B", "B"),
        ("I would go with B.", "B", CHOICES, None, "B"),
        ("It is Paris or Rome.", "B", CHOICES, None, None),
        ("<answer>18</answer>", 18, {}, "18", "18"),
        ("$18", "#### 18", {}, "$18", "$18"),
        ("Adding them gives 18 apples.", "18", {}, None, "18"),
        ("Answer: no", True, {}, "no", "no"),
        ("Yes!", "yes", {}, "yes", "yes"),
        ("So it is true, as shown above.", "true", {}, None, "yes"),
        ("Let me see.\nAnswer: Paris", "Paris", {}, "Paris", "Paris"),
        ("Paris", ["Paris", "Lutetia"], {}, "Paris", "Paris"),
        ("It is a city. So the answer is **Paris**. I hope this helps.", "Paris", {}, "Paris", "Paris"),
        ("First, the brackets.\nSo the answer is ] ).", "] )", {}, "] )", "] )"),
        ("It was written by Jane Austen.", "Jane Austen", {}, None, "Jane Austen"),
        ("So the answer is $\\boxed{x^2+1}$.", "x^2 + 1", {}, "x^2+1", "x^2+1"),
        ("We obtain $(3, 4)$.", "(3,4)", {}, None, "(3, 4)"),
        ("The answer is Sydney. Wait, that's wrong.", "Sydney", {}, None, None),
        (
            "So the answer is ant bee cat dog eel fly gnu.",
            "ant bee cat dog eel fly gnu",
            {},
            *["ant bee cat dog eel fly gnu"] * 2,
        ),
    ],
)
def test_strict_takes_what_is_declared_and_lenient_all(
    response: str, target: Any, metadata: dict[str, Any], strict: str | None, lenient: str | None
) -> None:
    """A declaration or an answer that is the whole response is strict; a sentence that says it is lenient."""
    ways = read_in_every_way(_input(response, target, metadata))
    assert ways is not None
    assert (ways.read["strict"].value, ways.read["lenient"].value) == (strict, lenient)


def test_what_the_strict_way_leaves_out_is_named_with_its_place() -> None:
    """An undeclared answer is among the rejected ones of the strict reading, where it stands."""
    response = "I would go with B."
    ways = read_in_every_way(_input(response, "B", CHOICES))
    assert ways is not None
    (rejected,) = ways.read["strict"].rejected
    assert (response[rejected.start : rejected.end], rejected.why) == ("B", UNDECLARED)


@pytest.mark.parametrize(
    ("target", "metadata", "kind"),
    [
        ("(C)", {}, "letter"),
        ("Rome", CHOICES, "letter"),
        ("Oslo", CHOICES, None),
        ("12.5", {}, "number"),
        (False, {}, "yes_no"),
        ("Jane Austen", {}, "text"),
        ("\\sqrt{2}", {}, "mathematics"),
        ("y = 2x + 3", {}, "mathematics"),
        ("(0, 1]", {}, "mathematics"),
        ("05/01/2021", {}, "text"),
        ("I/O", {}, "text"),
        ("state-of-the-art", {}, "text"),
        (None, {}, None),
        ({"a": 1}, {}, None),
        ([], {}, None),
        ("word " * 40, {}, None),
        ("one line\nanother", {}, None),
    ],
)
def test_the_kind_follows_from_gold_answer_and_choices(target: Any, metadata: dict[str, Any], kind: str | None) -> None:
    """What is no letter, number, yes or no, mathematics or short text has no reading."""
    gold = gold_answer(_input("x", target, metadata))
    assert (gold.kind if gold else None) == kind


def test_an_invented_next_question_is_not_read() -> None:
    """Both ways stop where the prompt's own marker begins again, and say where."""
    ways = read_in_every_way(
        _input("Answer: B\n\nQuestion: Next?\nAnswer: C", "B", CHOICES, "Question: Which?\nAnswer:")
    )
    assert ways is not None
    assert {one.value for one in ways.read.values()} == {"B"}
    assert ways.cut_at == len("Answer: B")


@pytest.mark.parametrize(
    ("kind", "left", "right", "same"),
    [
        ("number", "1,200", "1200.0", True),
        ("number", "12", "120", False),
        ("letter", "(A)", "A", True),
        ("letter", "A", "B", False),
        ("letter", "(A) red", "A", True),
        ("letter", "A red one", "A", False),
        ("yes_no", "Yes", "yes", True),
        ("yes_no", "False", "no", True),
        ("yes_no", "perhaps", "no", False),
        ("text", "The Louvre.", "louvre", True),
        ("text", "Rome", "Paris", False),
        ("mathematics", "$x+1$", "x+1", True),
        ("mathematics", "\\frac{x+1}{2}", "0.5(x+1)", True),
        ("mathematics", "(0,1]", "(0,1)", False),
    ],
)
def test_answers_are_compared_by_kind(kind: Any, left: str, right: str, same: bool) -> None:
    """Numbers by value, texts but for case, punctuation and articles."""
    assert same_answer(kind, left, right) is same


def test_the_official_rule_of_mmlu_pro_takes_the_last_lone_letter() -> None:
    """By the published script "I" may be an option; its place and its rule are named."""
    sample = _input("Maybe (B), thus I stop.", "B", {"options": list("abcdefghij")})
    official = official_reading("mmlu_pro", sample)
    assert official is not None
    reading = official(sample)
    assert (reading.value, reading.rule, reading.start) == ("I", "the last lone letter", 16)
    assert official(_input("no idea", "B")).value is None


def test_the_official_rule_of_gsm8k_applies_where_its_form_is_asked_for() -> None:
    """``#### N`` is looked for where the prompt shows it; elsewhere it would call each answer missing."""
    shown = _input("So.\n#### 1,018\n", "1018", prompt="Q: …\n#### 5\n\nQ: …")
    official = official_reading("gsm8k", shown)
    assert official is not None
    assert official(shown).value == "1018"
    assert official_reading("gsm8k", _input("x", "1", prompt="End with Answer: N")) is None
    assert official_reading("mgsm", shown) is None
