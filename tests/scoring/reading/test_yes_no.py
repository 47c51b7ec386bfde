"""How a yes or a no is read: where it stands, by which rule, and what was rejected on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from nel.scoring.reading import decision_words as words
from nel.scoring.reading import status
from nel.scoring.reading.result import NOTHING
from nel.scoring.reading.yes_no import OPEN, UNABLE, read_decision
from tests.answer_forms import blind, informed
from tests.answer_forms.form import Form, Kind


@pytest.mark.parametrize(
    ("response", "value", "span", "rule"),
    [
        ("Let me see.\n\n**Answer:** YES, it is.", "yes", "YES", "declared"),
        ("### Final Answer\n\nNo", "no", "No", "heading"),
        ("<answer>\nTrue\n</answer>", "yes", "True", "tag"),
        ("So \\boxed{\\text{No}}.", "no", "No", "box"),
        ("The wall is long. So, no, it is not visible.", "no", "no", "concluded in a sentence"),
        ("No. The wall is not visible.", "no", "No", "said plainly"),
        ("I believe firmly in yes", "yes", "yes", "the only one mentioned"),
        ("(y)", "yes", "y", "a letter alone"),
        ("答案是“否”。", "no", "否", "declared"),
    ],
)
def test_a_reading_says_where_and_how(response: str, value: str, span: str, rule: str) -> None:
    """The span is the word as the response has it, and the rule names the form that it was found in."""
    reading = read_decision(response)
    assert (reading.value, response[reading.start : reading.end], reading.rule) == (value, span, rule)


@pytest.mark.parametrize(
    ("response", "span", "why"),
    [
        ("The answer is yes if x > 0.", "yes", status.SUPPOSED),
        ("Perhaps yes.", "yes", status.SUPPOSED),
        ("Some say yes.", "yes", status.QUOTED),
        ("Is it true?", "true", status.ASKED),
        ("I'm unable to answer yes.", "yes", UNABLE),
        ("Answer: yes\n\nPlease disregard the answer above.", "yes", status.TAKEN_BACK),
        ("No is wrong.", "No", status.DENIED),
        ("Answer: yes or no", "yes or no", OPEN),
    ],
)
def test_a_rejected_word_has_its_reason(response: str, span: str, why: str) -> None:
    """What is not taken is listed with the place and the reason, and the response is left unread."""
    reading = read_decision(response)
    assert (reading.value, reading.rule) == (None, NOTHING)
    assert (span, why) in [(response[one.start : one.end], one.why) for one in reading.rejected]


def test_letters_that_grow_in_lower_case_keep_the_places() -> None:
    """A letter such as İ, which has two characters in lower case, does not shift the span."""
    response = "İİİ. The answer is No."
    reading = read_decision(response)
    assert response[reading.start : reading.end] == "No"


BEFORE = (words.CONDITION, words.INABILITY, words.WEIGHED, words.REPORTED, words.OTHER_QUESTION, words.HEDGE)
SENTENCE = re.compile(r"[.!?\n]+")


@pytest.mark.parametrize("generate", [blind.generate, informed.generate], ids=["blind", "informed"])
def test_no_objection_is_missed_for_want_of_a_word(generate: Callable[[Kind, int, int], Iterator[Form]]) -> None:
    """Whatever pattern objects to an answer, the quick look for the words of objections finds one of its words."""
    for form in generate("yes_no", 1500, 5):
        for sentence in SENTENCE.split(form.response.lower()):
            if any(pattern.search(sentence) for pattern in BEFORE):
                assert words.OBJECTS.search(sentence), sentence


@pytest.mark.parametrize(
    ("response", "decided"),
    [
        ("Correct.", "yes"),
        ("That’s correct", "yes"),
        ("Of course not.", "no"),
        ("I don't think so.", "no"),
        ("**Incorrect**", "no"),
        ("It does not.", "no"),
        ("He didn't.", "no"),
        ("They were.", "yes"),
        ("I think so.", "yes"),
        ("I don't believe so.", "no"),
        ("I think not.", "no"),
        ("That's incorrect.", "no"),
        ("Right.", "yes"),
        ("It is not he.", None),
        ("Based on the passage provided, the answer would be no.", "no"),
        ("정답: 아니요", "no"),
        ("Evet", "yes"),
        ("Kyllä.", "yes"),
        ("Nej", "no"),
        ("Unfortunately not.", "no"),
        ("I'm not sure, but I don't think so.", "no"),
        ("The weather is never like that.", None),
        ("Not sure.", None),
        ("Of course, it depends.", None),
        ("Das ist richtig.", "yes"),
        ("正しくない。", "no"),
        ("Верно.", "yes"),
        ("خطأ", "no"),
        ("I disagree.", "no"),
        ("In the affirmative.", "yes"),
        ("So it isn't.", "no"),
        ("Yes/True", "yes"),
        ("F", "no"),
        ("Yes, that is not correct.", None),
        ("No, that's right.", None),
        ("The answer is negative one.", None),
    ],
)
def test_a_response_that_is_nothing_but_words_for_yes_or_no(response: str, decided: str | None) -> None:
    """Words that decide only where nothing else is said."""
    assert read_decision(response).value == decided


@pytest.mark.parametrize(
    ("response", "decided"),
    [
        ("Answer: No\nQuestion: is water wet?\nAnswer: Yes", "no"),
        (" Yes\n\nPassage: Ann sings.\nQuestion: does Ann dance?\nAnswer: no", "yes"),
        ("Question: is ice cold?\nAnswer: Yes", "yes"),
        ("Let me see.\n\nQuestion: is ice cold?\nAnswer: Yes", "yes"),
    ],
)
def test_an_invented_next_question(response: str, decided: str) -> None:
    """A line that opens a question after a decision begins another problem, also where the prompt is not known."""
    assert read_decision(response).value == decided
