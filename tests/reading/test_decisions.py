"""Which yes or no a response gives."""

from __future__ import annotations

from nel.reading.decisions import read_decision
from nel.reading.response import own_response
from nel.reading.types import Reading, Reason


def decision(text: str) -> Reading:
    """Return how a response is read."""
    return read_decision(own_response(text))


def test_a_first_word_set_off_is_read() -> None:
    """A reason may follow the decision."""
    assert decision("Yes, because 17 has no divisors.").value == "yes"
    assert decision("No. It is 7 * 11.").value == "no"


def test_true_and_false_count() -> None:
    """BIG-Bench Hard asks for True or False."""
    assert decision("So the answer is False.").value == "no"


def test_a_denied_truth_is_false() -> None:
    """ "not true" decides."""
    assert decision("The answer is not true.").value == "no"


def test_no_before_a_noun_decides_nothing() -> None:
    """ "No evidence" is not the answer no."""
    assert decision("No evidence supports it.").value is None


def test_both_words_decide_nothing() -> None:
    """A response that repeats the question does not answer it."""
    reading = decision("Yes or no?")
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.SEVERAL)


def test_a_doubt_decides_nothing() -> None:
    """ "Whether yes" supposes."""
    assert decision("It is not clear whether yes.").value is None


def test_the_last_sentence_may_judge_a_statement() -> None:
    """A statement that is called false is answered with no."""
    assert decision("Not all birds fly. So the statement is false.").value == "no"


def test_an_adverb_may_stand_before_it() -> None:
    """ "Definitely" does not hide the decision."""
    assert decision("The answer is definitely yes.").value == "yes"


def test_a_box_holds_a_decision() -> None:
    """A model of mathematics boxes its yes."""
    assert decision(r"\boxed{\text{Yes}}").value == "yes"


def test_a_retraction_is_heeded() -> None:
    """ "Wait" after the decision takes it back."""
    assert decision("Answer: Yes\nWait, it is even.").value is None
