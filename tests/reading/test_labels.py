"""Which of a few permitted labels a response gives."""

from __future__ import annotations

import pytest

from nel.reading.labels import read_label
from nel.reading.response import own_response
from nel.reading.types import Form, Reading, Reason

VALID = ("valid", "invalid")
DISPUTES = ("诉讼主体", "租金情况", "利息")


def label(text: str, labels: tuple[str, ...] = VALID) -> Reading:
    """Return how a response is read."""
    return read_label(own_response(text), labels)


@pytest.mark.parametrize(
    ("text", "labels", "value"),
    [
        ("这段话涉及租金情况", DISPUTES, "租金情况"),
        ("Not sure", ("not_sure", "sure enough"), "not_sure"),
        ("The argument is invalid.", VALID, "invalid"),  # which is not "valid"
        ("It is not valid.", VALID, None),
        ("It is not valid, it is invalid.", VALID, "invalid"),  # a denial reaches its own clause
        ("No valid reason is given.", VALID, None),
        ("None of it is valid.", VALID, None),
        ("Valid: no", VALID, None),
        ("Answer: valid or invalid", VALID, None),  # repeats the question
        ("This comment is not toxic.", ("toxic", "non-toxic"), "non-toxic"),
        ("The message isn't spam.", ("spam", "not spam"), "not spam"),
        ("positive: 0.1\nnegative: 0.8", ("positive", "negative"), None),  # scores name no label
        ("positive: 0.95", ("positive", "negative"), "positive"),
        ('{"positive": 0.1, "negative": 0.9}', ("positive", "negative"), None),
        ("Rating: 4/5", ("1", "2", "3", "4", "5"), "4"),
        ("I would give it 4 out of 5 stars.", ("1", "2", "3", "4", "5"), "4"),
        ("4.5 out of 5", ("1", "2", "3", "4", "5"), None),
    ],
)
def test_which_label_is_read(text: str, labels: tuple[str, ...], value: str | None) -> None:
    """A whole label that is not denied, alone in its sentence."""
    assert label(text, labels).value == value


def test_a_label_is_read_in_a_tag_and_after_a_key() -> None:
    """LawBench asks for [争议焦点] before it; a judge's verdict is not read from the reason below it."""
    reading = label("[争议焦点]诉讼主体<eoa>\n", DISPUTES)
    assert (reading.value, reading.form) == ("诉讼主体", Form.TAG)
    reading = label("Verdict: invalid\nReason: it looks valid at first, but is not.")
    assert (reading.value, reading.form) == ("invalid", Form.LINE)


def test_a_marker_may_repeat_the_question() -> None:
    """The answer stands below it, as in least-to-most prompts."""
    text = "1. How is Ann related to Rick?\nAnn is Rick's aunt.\nFinal answer: How is Bob related to Rick?\nBob is Rick's son."
    assert label(text, ("aunt", "son")).value == "son"


def test_two_chinese_labels_are_no_answer() -> None:
    """A comma of the language joins them."""
    reading = label("答案：租金情况，利息", DISPUTES)
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.SEVERAL)
