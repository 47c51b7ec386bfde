"""Which option a response chooses."""

from __future__ import annotations

from nel.reading.letters import labels_after_marker, labels_for, read_labels, read_letter
from nel.reading.response import own_response
from nel.reading.types import Form, Reading, Reason

CITIES = ("Paris", "Rome", "Oslo", "Bern")


def letter(text: str, choices: tuple[str, ...] | None = None) -> Reading:
    """Return how a response to a question of four options is read."""
    return read_letter(own_response(text), labels_for(len(choices or CITIES)), choices)


def test_a_declared_letter_is_read() -> None:
    """The phrase of MMLU-Pro's prompts introduces a letter in brackets."""
    reading = letter("Let us think. The answer is (C).")
    assert (reading.value, reading.form) == ("C", Form.PHRASE)


def test_an_explanation_does_not_take_a_letter_back() -> None:
    """What stands after a declaration does not deny it by a "don't know" of its own."""
    text = "The answer is B. BECAUSE: We don't know for sure which noun the pronoun refers to."
    assert letter(text).value == "B"


def test_a_chinese_tag_before_an_end_token_is_read() -> None:
    """LawBench asks for [正确答案]; InternLM ends with its own token."""
    reading = letter("[正确答案]C<eoa>")
    assert (reading.value, reading.form) == ("C", Form.TAG)


def test_a_chinese_marker_is_read() -> None:
    """A full-width colon follows the word for answer."""
    assert letter("正确答案：B").value == "B"


def test_a_chinese_sentence_calls_an_option_correct() -> None:
    """The last sentence names one option as the correct one."""
    reading = letter("因此，选项A是正确答案。")
    assert (reading.value, reading.form) == ("A", Form.SENTENCE)


def test_a_chinese_choice_is_read() -> None:
    """ "So this question: choose D" is a phrase of the table."""
    assert letter("甲公司和乙公司为共同被告起诉，故D正确。故本题选D。").value == "D"


def test_a_portuguese_answer_is_read() -> None:
    """Outputs on ENEM end in an answer after "Resposta:"."""
    assert letter("A foto tem pouca luminosidade. Resposta: C.").value == "C"


def test_a_letter_alone_is_read() -> None:
    """A line that is nothing but a label is an answer."""
    reading = letter("B")
    assert (reading.value, reading.form, reading.start, reading.end) == ("B", Form.LINE, 0, 1)


def test_a_letter_before_its_text_is_read() -> None:
    """A line may repeat the option after its label."""
    assert letter("B) Rome", CITIES).value == "B"


def test_a_letter_before_a_formula_of_its_option_is_read() -> None:
    """An option's text may hold letters of other options."""
    choices = ("A/(A+B)", "B/(A+B)", "C/(A+C)", "D/(B+D)", "A", "B", "C", "(D)/(B+D)", "D", "A+D")
    assert letter("(D) D/(B+D)", choices).value == "D"


def test_an_option_by_its_text_is_read() -> None:
    """The text of an option counts where it is all that is declared."""
    assert letter("The answer is Rome.", CITIES).value == "B"


def test_a_text_on_the_way_is_no_answer() -> None:
    """Options that are only talked about are not chosen."""
    assert letter("Rome is larger than Bern. Oslo lies further north.\n\nMore on this later.", CITIES).value is None


def test_two_joined_letters_are_no_answer() -> None:
    """A question is not answered by "A or B"."""
    reading = letter("The answer is A or B.")
    assert reading.value is None
    assert Reason.SEVERAL in {rejected.why for rejected in reading.rejected}


def test_none_of_these_is_no_answer() -> None:
    """A denied letter is not chosen."""
    reading = letter("The answer is not B.")
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.NONE_OF_THESE)


def test_a_retraction_right_after_is_heeded() -> None:
    """ "Wait" directly after the answer takes it back."""
    reading = letter("The answer is B. Wait, that cannot be.")
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.RETRACTED)


def test_the_last_declaration_counts() -> None:
    """A model that corrects itself declares again."""
    assert letter("The answer is A. Hmm, no. The answer is D.").value == "D"


def test_a_form_beats_a_later_phrase() -> None:
    """A box is stronger than a phrase wherever they stand."""
    reading = letter("So \\boxed{B}. The answer is C in older books.")
    assert (reading.value, reading.form) == ("B", Form.BOX)


def test_a_label_in_latex_is_read() -> None:
    """A box may hold the label as text."""
    assert letter(r"\boxed{\text{(B)}}").value == "B"


def test_an_article_is_no_letter() -> None:
    """ "A mystery" does not choose A."""
    assert letter("The answer is a mystery").value is None
    assert letter("A good idea is to think first.").value is None


def test_the_only_option_not_ruled_out_is_read() -> None:
    """An option called wrong is not among those that a sentence names."""
    assert letter("Option A is wrong. Option B is right.").value == "B"


def test_several_labels_are_read_where_wanted() -> None:
    """Questions with several right options join their labels."""
    assert read_labels(own_response("Answer: C and A"), labels_for(4)).value == "A,C"


def test_labels_after_a_marker_are_those_of_the_last_line() -> None:
    """An earlier marker is not the answer."""
    assert labels_after_marker(own_response("Answer: B\nAnswer: D, A"), labels_for(4)) == ("A", "D")
