"""A response that ends in a plain declaration is read as the reader of its kind would read it."""

from __future__ import annotations

from itertools import product

import pytest

from nel.scoring.reading.letters import read_any_labels
from nel.scoring.reading.numbers import read_any_number
from nel.scoring.reading.plain_endings import plain_decision, plain_label, plain_number
from nel.scoring.reading.result import Reading
from nel.scoring.reading.yes_no import read_any_decision

BEFORE = (
    "",
    "2 + 3 = 5.\n",
    "Answer: 7\n",
    "The answer is A. No, wait. ",
    "If it were B, it would be C.\n",
    "Q: why? A: 3\n",
    "Die Antwort ist 7. ",
    "x" * 300 + "\n",
    "x" * 300,
    "Final Answer:\n",
    "\\boxed{7}\n",
    "I do not know. ",
    "The answer is not\n",
    "(A) x\n(B) y\n",
    "yes or\n",
)
DECLARING = (
    "",
    "The answer is ",
    "So, the final answer is: ",
    "Therefore, the answer (arabic numerals) is ",
    "Answer: ",
    "FINAL ANSWER: ",
    "A: ",
    "a: ",
    "#### ",
)
ENDS = ("", ".\n\n", " .")


def _texts(values: tuple[str, ...]) -> list[str]:
    return ["".join(parts) for parts in product(BEFORE, DECLARING, values, ENDS)]


def _shown(reading: Reading) -> tuple[object, ...]:
    return reading.value, reading.start, reading.end, reading.rule, reading.rejected


def test_a_plain_number_is_what_the_reader_of_numbers_reads() -> None:
    """Value, place and rule are those of the whole reader, and most of these texts are read at once."""
    texts = _texts(("42", "$1,999.50", "7.5", "$\\boxed{42}$"))
    plain = [(text, found) for text in texts if (found := plain_number(text)) is not None]
    assert len(plain) > len(texts) / 3
    for text, found in plain:
        assert _shown(found) == _shown(read_any_number(text)), text
    for text in texts:
        declared = plain_number(text, declared_only=True)
        assert declared is None or _shown(declared) == _shown(read_any_number(text, declared_only=True)), text


def test_a_plain_label_is_what_the_reader_of_labels_reads() -> None:
    """The same for letters, with and without choices."""
    texts = _texts(("A", "(B)", "C", "(D"))
    for choices in (None, ["Paris", "Rome is here", "A", "12"], ["a", "b", "c", "d"]):
        for text in texts:
            found = plain_label(text, "ABCD", choices)
            assert found is None or _shown(found) == _shown(read_any_labels(text, tuple("ABCD"), choices)), text


def test_a_plain_decision_is_what_the_reader_of_decisions_reads() -> None:
    """The same for yes and no."""
    texts = [*_texts(("yes", "No", "true", "FALSE")), "Yes!", "NO", "yes."]
    for text in texts:
        found = plain_decision(text)
        assert found is None or _shown(found) == _shown(read_any_decision(text)), text


@pytest.mark.parametrize(
    "text",
    [
        "<think>The answer is 5.",
        "~~The answer is 5.",
        "Thinking...\nThe answer is 5.",
        "[THINK]\nThe answer is 5.",
        "The answer is 5–6.",
        "The answer is −5.",
        "<|channel|>analysis<|message|>The answer is 5.",
        "The answer is 5 or 6.",
        "Is it so?\n5",
        "The answer is not 5.",
        "If so, the answer is 5.",
    ],
)
def test_what_needs_a_closer_look_is_left_to_the_reader(text: str) -> None:
    """Reasoning, struck text, letters beyond ASCII and any further word."""
    assert plain_number(text) is None
