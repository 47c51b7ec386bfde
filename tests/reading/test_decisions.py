"""Which yes or no a response gives."""

from __future__ import annotations

import pytest

from nel.reading.decisions import read_decision
from nel.reading.response import own_response
from nel.reading.types import Reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Yes, because 17 has no divisors.", "yes"),
        ("No. It is 7 * 11.", "no"),
        ("So the answer is False.", "no"),
        ("The answer is not true.", "no"),
        ("Not all birds fly. So the statement is false.", "no"),
        ("The answer is definitely yes.", "yes"),
        (r"\boxed{\text{Yes}}", "yes"),
        ("No evidence supports it.", None),
        ("It is not clear whether yes.", None),
        ("Answer: Yes\nWait, it is even.", None),
        ("Verdict: No\nReason: yes, it looks plausible.", "no"),
        ("True/False: False", "no"),
        ("Normally yes, but here no.", "no"),
        ("So the result of `False or True and not False` is `True`.", "yes"),
        ("It cannot be false or true.", None),
        ("There is no doubt that it is true.", "yes"),
        ("In no case is it false.", None),
        ("I cannot answer this with yes or no.", None),
        ("It is hard to say which answer is correct.", None),
    ],
)
def test_which_decision_is_read(text: str, value: str | None) -> None:
    """A first word that is set off, a declaration or a judged statement; a noun, a doubt or a retraction decides none."""
    assert read_decision(own_response(text)).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # PAWS-X and XNLI ask in their languages, DaNetQA in Russian.
        ("Ja, das stimmt.", "yes"),
        ("Die Antwort ist **Nein**.", "no"),
        ("Non, la Terre n'est pas plate.", "no"),
        ("La respuesta es **sí**.", "yes"),
        ("**Нет.** Луна не имеет атмосферы.", "no"),
        ("是的，文中提到该公司成立于1998年。", "yes"),
        ("答案：否", "no"),
        ("答えは「はい」です。", "yes"),
        ("لا، العاصمة هي الرباط.", "no"),
        ("La afirmación es verdadera.", "yes"),
        ("这个说法是错误的。", "no"),
        ("Das ist ja gut.", None),
        ("Non è chiaro.", None),
        ("但是，天空是蓝色的。", None),
        ("The helper is called get_non_ascii.", None),
    ],
)
def test_which_decision_is_read_in_other_languages(text: str, value: str | None) -> None:
    """Their words decide where no word is joined to them or follows, since many are particles too."""
    assert read_decision(own_response(text)).value == value


def test_both_words_decide_nothing() -> None:
    """A response that repeats the question does not answer it."""
    reading = read_decision(own_response("Yes or no?"))
    assert (reading.value, reading.rejected[-1].why) == (None, Reason.SEVERAL)
