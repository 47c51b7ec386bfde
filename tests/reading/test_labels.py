"""Which of a few permitted labels a response gives."""

from __future__ import annotations

from nel.reading.labels import permitted_label, read_label
from nel.reading.response import own_response
from nel.reading.types import Form, Reading, Reason

DISPUTES = ("诉讼主体", "租金情况", "利息")


def label(text: str, labels: tuple[str, ...] = ("valid", "invalid")) -> Reading:
    """Return how a response is read."""
    return read_label(own_response(text), labels)


def test_a_chinese_tag_is_read() -> None:
    """LawBench asks for [争议焦点] before the label."""
    reading = label("[争议焦点]诉讼主体<eoa>\n", DISPUTES)
    assert (reading.value, reading.form) == ("诉讼主体", Form.TAG)


def test_a_label_in_a_chinese_sentence_is_read() -> None:
    """The only label that the last sentence names counts."""
    assert label("这段话涉及租金情况", DISPUTES).value == "租金情况"


def test_two_chinese_labels_are_no_answer() -> None:
    """A comma of the language joins them."""
    reading = label("答案：租金情况，利息", DISPUTES)
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.SEVERAL)


def test_a_label_within_a_longer_one_is_not_read() -> None:
    """ "invalid" is not "valid"."""
    assert label("The argument is invalid.").value == "invalid"


def test_a_denied_label_is_not_read() -> None:
    """ "not valid" names no label."""
    assert label("It is not valid.").value is None


def test_capitals_and_underscores_do_not_count() -> None:
    """A label is given as it is permitted."""
    assert label("Not sure", ("not_sure", "sure enough")).value == "not_sure"
    assert permitted_label("**NOT-SURE**", ("not_sure",)) == "not_sure"


def test_two_joined_labels_are_no_answer() -> None:
    """ "valid or invalid" repeats the question."""
    assert label("Answer: valid or invalid").value is None


def test_a_label_after_a_key_with_an_explanation_below() -> None:
    """A judge's verdict is not read from its reason."""
    reading = label("Verdict: invalid\nReason: it looks valid at first, but is not.")
    assert (reading.value, reading.form) == ("invalid", Form.LINE)


def test_a_label_that_is_asked_about_is_not_an_answer() -> None:
    """ "valid: no" denies the label."""
    assert label("Valid: no").value is None


def test_the_label_beside_a_denied_one_is_given() -> None:
    """A denial reaches only its own clause."""
    assert label("It is not valid, it is invalid.").value == "invalid"
    assert label("No valid reason is given.").value is None
