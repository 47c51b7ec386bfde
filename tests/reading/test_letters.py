"""Which option a response chooses."""

from __future__ import annotations

import pytest

from nel.reading.letters import labels_for, read_labels, read_letter
from nel.reading.response import own_response
from nel.reading.types import Form, Reading, Reason

CITIES = ("Paris", "Rome", "Oslo", "Bern")
FORMULAS = ("A/(A+B)", "B/(A+B)", "C/(A+C)", "D/(B+D)", "A", "B", "C", "(D)/(B+D)", "D", "A+D")


def letter(text: str, choices: tuple[str, ...] | None = None) -> Reading:
    """Return how a response to a question of four options is read."""
    return read_letter(own_response(text), labels_for(len(choices or CITIES)), choices)


@pytest.mark.parametrize(
    ("text", "value", "form"),
    [
        ("Let us think. The answer is (C).", "C", Form.PHRASE),
        ("The answer is B. BECAUSE: We don't know for sure which noun the pronoun refers to.", "B", Form.PHRASE),
        ("The answer is A. Hmm, no. The answer is D.", "D", Form.PHRASE),
        # LawBench asks for [正确答案], and InternLM ends with its own token; outputs on ENEM end in "Resposta:".
        ("[正确答案]C<eoa>", "C", Form.TAG),
        ("正确答案：B", "B", None),
        ("【答案】B\n【解析】A项错误", "B", Form.TAG),
        ("因此，选项A是正确答案。", "A", Form.SENTENCE),
        ("甲公司和乙公司为共同被告起诉，故D正确。故本题选D。", "D", None),
        ("A foto tem pouca luminosidade. Resposta: C.", "C", None),
        ("B", "B", Form.LINE),
        ("So \\boxed{B}. The answer is C in older books.", "B", Form.BOX),
        ("CO = 1644 m. Therefore, the answer (B) is correct.", "B", Form.SENTENCE),
        (r"\boxed{\text{(B)}}", "B", Form.BOX),
        ("Option A is wrong. Option B is right.", "B", None),
        ("The answer is a mystery", None, None),
        ("A good idea is to think first.", None, None),
        ("A: red\nB: green\n…\nso the answer is B.", "B", Form.PHRASE),
        ("Answer: C\n#### Overhead", "C", Form.MARKER),
        ("**Answer** : B", "B", Form.MARKER),
        ("Jawaban: D", "D", Form.LINE),
        ("The function is:\n\nB. update\n\nIt never ends.", "B", Form.LINE),
        ("I would go with option (c).", "C", Form.SENTENCE),
        ("Answer: B- Rome", "B", Form.MARKER),
        ("Four legs. Therefore, D.", "D", Form.SENTENCE),
        ("Die Antwort ist also D.", "D", Form.PHRASE),
        ("La risposta corretta è la D.", "D", Form.PHRASE),
        ("The answer is C because statement B is correct and statement A is false.", "C", Form.PHRASE),
        ("Option A: Rome\nOption B: Oslo", None, None),
        ("The answer is clearly C.", "C", Form.PHRASE),
        ("After eliminating A, B and D, we are left with C.", "C", Form.SENTENCE),
        ("A、C均不符合，B项符合题意。", "B", Form.SENTENCE),
        ("<solution>B</solution>", "B", Form.TAG),
        # simple-evals and HELM read the letters of Arabic, and simple-evals some of Bengali.
        ("الإجابة الصحيحة هي: ب", "B", Form.PHRASE),
        ("د", "D", Form.LINE),
        ("উত্তর: ব", "B", None),
        ("উত্তর: বা", None, None),
        ("La réponse correcte est la **D) Marseille**.", "D", Form.PHRASE),
        ("The best answer here is **B**. Option A inhibits both.", "B", Form.PHRASE),
        ("الإجابة الصحيحة هي B", "B", Form.PHRASE),
        ("Antwort B ist richtig.", "B", Form.SENTENCE),
        ("La opción correcta es la B.", "B", Form.PHRASE),
        ("答えは「C」です。", "C", Form.PHRASE),
        ("应选择 B 选项。", "B", Form.PHRASE),
        ("综上，B。", "B", Form.SENTENCE),
        ("此题不选A。", None, None),
        ("La alternativa correcta es la C.", "C", Form.PHRASE),
        ("الإجابة الصحيحة هي الخيار D.", "D", Form.PHRASE),
        ("सही विकल्प D है।", "D", Form.PHRASE),
        ("Doğru cevap C seçeneğidir.", "C", Form.PHRASE),
        ("Đáp án đúng là **C**.", "C", Form.PHRASE),
        ("The answer is not A but C.", "C", Form.PHRASE),
        ("I think it's C, but I'm not sure.", "C", Form.SENTENCE),
        ("I'd go with **B**.", "B", Form.SENTENCE),
        ("**A** is wrong, and **C** fits.", "C", Form.SENTENCE),
        ("Answer = C", "C", Form.MARKER),
        ("Bが正解です。", "B", Form.SENTENCE),
        ("Chọn B vì ...", "B", Form.PHRASE),
        # As MMLU-ProX and TurkishMMLU ask for it, with the explanation behind it.
        ("Odpověď je C, neboť (A) neplatí.", "C", Form.PHRASE),
        ("A válasz C, mert (A) hamis.", "C", Form.PHRASE),
        ("جواب C ہے، (A) نہیں۔", "C", Form.PHRASE),
        ("Ìdáhùn náà ni C, kìí ṣe (A).", "C", Form.PHRASE),
        ("A) yanlış, B) eksik. Bu yüzden C şıkkıdır.", "C", Form.SENTENCE),
        ("**Answer**: The function with an error is **D. update**.", "D", Form.MARKER),
        # Each option weighed, on a line of its own or on one; LawBench's models repeat all on one line.
        ("Option A: incorrect.\nOption B: correct.\nOption C: incorrect.", "B", Form.SENTENCE),
        ("(A) This is wrong. (B) This is right.", "B", Form.SENTENCE),
        ("A: red; B: green; C: blue", None, None),
        ("Svar: C, fordi (A) er feil.", "C", Form.LINE),
        # What InfiniteBench's models declare where they find no error: no letter is read beside it.
        ("I would have to guess option B.\n\nMy answer is that no function has an obvious error.", None, None),
        ("Answer: all of them.\n\nOption B is the longest.", None, None),
    ],
)
def test_which_letter_is_read(text: str, value: str | None, form: Form | None) -> None:
    """The declared one, in the strongest form and of those the last; an article is not a letter."""
    reading = letter(text)
    assert reading.value == value
    if form is not None:
        assert reading.form == form


@pytest.mark.parametrize(
    ("text", "choices", "value"),
    [
        ("B) Rome", CITIES, "B"),
        ("(D) D/(B+D)", FORMULAS, "D"),
        ("The answer is Rome.", CITIES, "B"),
        ("Rome is larger than Bern. Oslo lies further north.\n\nMore on this later.", CITIES, None),
        ("3 men and 4 women make 7.", ("3", "4", "7"), "C"),
        ("I get 14.", ("3", "4", "7"), None),
        ("答案是京都。", ("大阪", "京都"), "B"),
        ("日本の古都は京都です。", ("大阪", "京都"), "B"),
        ("It must be Paris or Rome.", CITIES, None),
        ("The answer is A-.", ("A+", "B-", "A-"), "C"),
        ('Among A through C, the answer is most likely "Oslo".', CITIES, "C"),
        (
            "A phase transition is the correct answer.",
            ("a decrease", "an increase", "no change", "a phase transition"),
            "D",
        ),
        ("الإجابة الصحيحة هي: فيتامين د", ("فيتامين ج", "فيتامين د"), "B"),
        (r"\boxed{New\ York}", ("New York", "Rome"), "A"),
        ("A. Paris ❌\nB. Rome ✅\nC. Oslo ❌\nD. Bern ❌", CITIES, None),
        ("Which city is it?\n\nA) Paris\nB) Rome\nC) Oslo\nD) Bern", CITIES, None),
    ],
)
def test_an_option_by_its_text(text: str, choices: tuple[str, ...], value: str | None) -> None:
    """The text of an option counts where it is all that is declared, and may follow the label."""
    assert letter(text, choices).value == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The answer is A or B.", Reason.SEVERAL),
        ("The answer is not B.", Reason.NONE_OF_THESE),
        ("The answer is B. Wait, that cannot be.", Reason.RETRACTED),
        ("The answer is A. But wait, that is the year.", Reason.RETRACTED),
    ],
)
def test_why_a_letter_is_rejected(text: str, reason: Reason) -> None:
    """A letter that is not an answer is named with its reason."""
    reading = letter(text)
    assert reading.value is None
    assert reason in {rejected.why for rejected in reading.rejected}


def test_several_labels_are_read_where_wanted() -> None:
    """Questions with several right options join their labels."""
    assert read_labels(own_response("Answer: C and A"), labels_for(4)).value == "A,C"
    assert read_labels(own_response("ANSWER: a, c"), labels_for(4)).value == "A,C"
