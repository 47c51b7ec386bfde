"""Letters in forms that one family of models or another writes: lists with verdicts, hedges, places, other alphabets.

Each row is one of its family. What stays unread is here too, with the reason why: a confident reading of what is
ambiguous would be worse.
"""

from __future__ import annotations

import pytest

from nel.scoring.reading.letters import labels_for, read_labels

CITIES = ("Sydney", "Canberra", "Melbourne", "Perth")
NUMBERS = ("2", "4", "8", "16")
EACH = "Let's evaluate each option:\n\nA. Sydney: the largest city.\nB. Canberra: the seat of government.\n"


def _read(response: str, options: tuple[str, ...] = CITIES) -> str | None:
    value = read_labels(response, labels_for(len(options)), options).value
    return value if value and "," not in value else None  # several labels are no single answer


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        (EACH + "\nTherefore, **B. Canberra** is the correct answer.", "B"),
        (EACH + "\n**B. Canberra** is the correct answer.", "B"),
        ("A: no. B: yes. C: no. D: no.", "B"),
        ("(A) Incorrect. (B) Correct. (C) Incorrect. (D) Incorrect.", "B"),
        ("A: no. C: no. D: no.", None),
        ("A: yes. B: yes. C: no.", None),
        ("| Option | City | Correct? |\n|---|---|---|\n| A | Sydney | No |\n| B | Canberra | Yes |", "B"),
        ("☐ A\n☑ B\n☐ C\n☐ D", "B"),
        ("- [ ] A. Sydney\n- [x] B. Canberra\n- [ ] C. Melbourne\n- [ ] D. Perth", "B"),
        ("( ) A\n(x) B\n( ) C\n( ) D", "B"),
        ("[x] A\n[x] B\n[ ] C\n[ ] D", None),
        ("- [ ] A\n- [ ] B\n- [ ] C\n- [ ] D", None),
        ("A, C and D are correct.", None),
        ("A, C and D are wrong, B is right.", "B"),
        ("Option A: Sydney - incorrect.\nOption B: Canberra - correct.\nOption C: Melbourne - incorrect.", "B"),
        ("Option A names the largest city. Option B names the seat of government.", None),
        ("Let's go on. Option A says Sydney. Option B says Canberra. Option C says", None),
        ("Option A is wrong. Option B names the capital.", "B"),
        ("Option A names the largest city. Option B is the correct answer.", "B"),
        ("Ranking: B > A > C > D", None),
        ("Answer: B > A > C", "B"),
        ("I'd avoid A; B is safer.", None),
        ("I'd avoid A. B is correct.", "B"),
        ("It's Canberra; Sydney is only the largest city.", None),
    ],
)
def test_lists_with_verdicts(response: str, letter: str | None) -> None:
    """One option is called right or ticked, and the words that begin the list declare nothing."""
    assert _read(response) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("I'm not sure, but I think B", "B"),
        ("I am not entirely certain, but B seems most likely.", "B"),
        ("I'm torn between A and B, but I'll go with B.", "B"),
        ("It could be A, but B is more likely.", "B"),
        ("A or B? I'd say B.", "B"),
        ("The answer is A or B, but I'd go with B.", "B"),
        ("My guess would be B, though I could be wrong.", "B"),
        ("Je ne suis pas sûr, mais je pense que c'est B.", "B"),
        ("我不确定,但我认为是B。", "B"),
        ("B I think", "B"),
        ("I'm not sure, but A or B.", None),
        ("The answer might be C, but it might just as well be (B).", None),
        ("I've narrowed it down to (B) and D, but can't go further than that.", None),
        ("I'm not sure, but not B.", None),
        ("I think B, but I'm not sure.", None),
        ("B?", None),
    ],
)
def test_hedges(response: str, letter: str | None) -> None:
    """What a hedge goes on to counts; what is only asked, or taken back by the hedge after it, does not."""
    assert _read(response) == letter


@pytest.mark.parametrize(
    ("response", "options", "letter"),
    [
        ("option 2", CITIES, "B"),
        ("**Option 2**", CITIES, "B"),
        ("Answer: Option 2\n\nExplanation: Sydney is larger.", CITIES, "B"),
        ("The answer is the second one.", CITIES, "B"),
        ("The first option, Sydney, is wrong. The second option is right.", CITIES, "B"),
        ("It is not option 2 but option 3.", CITIES, "C"),
        ("I would go with the last option.", CITIES, "D"),
        ("2. Canberra", CITIES, "B"),
        ("Option 2 or option 3", CITIES, None),
        ("Option 5", CITIES, None),
        ("We have two options: option 1 is to differentiate, option 2 is to integrate. We integrate.", CITIES, None),
        ("2", CITIES, None),  # the second option, an index from 0, or a result
        ("The answer is 2.", CITIES, None),
        ("Option 2", NUMBERS, None),  # the second option, or the one that says 2
        ("The second option.", NUMBERS, "B"),
        ("The answer is 4.", NUMBERS, "B"),
    ],
)
def test_places_of_options(response: str, options: tuple[str, ...], letter: str | None) -> None:
    """An option is named by its place where nothing else can be meant."""
    assert _read(response, options) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Ответ: А", "A"),
        ("Ответ: Б", "B"),
        ("Правильный ответ — С.", "C"),
        ("Верный ответ — Б) Canberra", "B"),
        ("Απάντηση: Β", "B"),
        ("الإجابة هي ب", "B"),
        ("תשובה: ב", "B"),
        ("Answer: 𝗕", "B"),
        ("⒝", "B"),
        ("《B》", "B"),
        ("Ответ: В", None),  # looks like B and is the third letter
        ("А что вы думаете?", None),
        ("С уважением", None),
        ("Ответ: А или Б", None),
        ("Jibu ni B.", "B"),
        ("답은 B입니다", "B"),
        ("B选项正确", "B"),
        ("Es kommt nur B in Frage.", "B"),
    ],
)
def test_other_alphabets(response: str, letter: str | None) -> None:
    """A letter of another alphabet is a label where it stands alone, unless its shape and its place differ."""
    assert _read(response) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Answer: B\n\nWait, could it be A? No, A is only the largest city.", "B"),
        ("Answer: A (corrected: B)", "B"),
        ("Answer: A\n\nSydney is only the largest city. Therefore, B is the correct answer.", "B"),
        ("Answer: B\n\nIf the largest city were asked for, A would be the correct answer.", "B"),
        ("A is one of the largest cities.", None),
        ("A is best known for its opera house.", None),
        ("The answer is anything but B.", None),
        ("Everything except B is right.", None),
        ("Incorrect: B", None),
        ("The answer is A.\nThe answer is B.\nBoth could be.", None),
        ("The capital is Canberra, not Sydney.", "B"),
        ("A: I think it's B.", "B"),
        ("C and D are wrong; A is wrong as well.", None),  # what is left over is not stated
    ],
)
def test_what_is_said_of_a_letter(response: str, letter: str | None) -> None:
    """Words such as "only", "best known" and "one of" choose nothing; a conclusion after an answer does."""
    assert _read(response) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("The product A reacts with B to give C.", None),
        ("Therefore, spin state |A> has energy B.", None),
        ("Answer: A = 5, B = 7", None),
        ("The reagent is A. So the answer is B.", "B"),
        (r"\boxed{A} or \boxed{B}", None),
        (r"\boxed{A}, \boxed{B}", None),
        (r"\boxed{A} is wrong; \boxed{B}", "B"),
        (r"I first got \boxed{A}, but rechecking gives \boxed{B}.", "B"),
        (r"\boxed{B}, $\boxed{B}$", "B"),
        ("B and not A", "B"),
        ("* A: incorrect because it's small.\n* B: correct because it fits.\n* C: incorrect.", "B"),
        ("Answer: C (A → C → B → D)", "C"),
        ("Answer: (A) (C)", None),
        ("B matches.", "B"),
        ("B seems correct.", "B"),
        ("A would be wrong. B would be right.", "B"),
        ("so option (d) is correct", "D"),
        ("<option>B</option>", "B"),
        ("<letter>B</letter>", "B"),
        ("The answer is B.<|im_end|>\n<|im_start|>user\nAnd now? The answer is C.", "B"),
    ],
)
def test_letters_that_name_other_things(response: str, letter: str | None) -> None:
    """Letters of products, states and quantities are no labels; the options' texts are not known here."""
    value = read_labels(response, labels_for(4)).value
    assert (value if value and "," not in value else None) == letter


LEVELS = ("10^-11 eV", "10^-4 eV", "1.5 A", "2 A")
COUNTS = ("10", "12", "11", "14")


@pytest.mark.parametrize(
    ("response", "options", "letter"),
    [
        ("According to Ohm's law, the answer is (C).", LEVELS, "C"),
        ("According to one forum post the answer is C.", LEVELS, None),
        ("Based on the information provided, the correct answer would be (C) 1.5 A.", LEVELS, "C"),
        ("Provided that x > 0, the answer would be C.", LEVELS, None),
        ("Without more information, the best answer would be C.", LEVELS, "C"),
        ("The only one similar to these seems to be Canberra.", CITIES, "B"),
        ("The most plausible answer is B.", CITIES, "B"),
        (r"The only one that is larger is:\n\n\[ \boxed{10^{-4} \, \text{eV}} \]", LEVELS, "B"),
        (r"$\boxed{1.5\ \mathrm{A}}$", LEVELS, "C"),
        (r"So $I = 2.5\,\text{A}$", LEVELS, None),
        ("Answer: 10⁻⁴ eV", LEVELS, "B"),
        (r"$\boxed{\frac{1}{2}}$", ("1/2", "1/3"), "A"),
        ("1. B\n2. A", CITIES, None),
        ("1. B 2. A", CITIES, None),
        ("1. A\n2. B\n3. C\n4. D", CITIES, None),
        ("1. B", CITIES, "B"),
        ("A B C D", CITIES, None),
        ("B B B", CITIES, "B"),
        ("Is it A? No. Is it B? Yes.", CITIES, "B"),
        ("A. Sydney\nB. Canberra (correct answer)\nC. Melbourne\nD. Perth", CITIES, "B"),
        ("A. Sydney\n**B. Canberra** ← correct\nC. Melbourne\nD. Perth", CITIES, "B"),
        ("A. Sydney\n**B. Canberra**\nC. Melbourne\nD. Perth", CITIES, "B"),
        ("**A. Sydney**\n**B. Canberra**\nC. Melbourne\nD. Perth", CITIES, None),
        ("**A) Sydney** - Correct! It is.\n**B) Canberra** - Incorrect.\n**C) Melbourne** - Incorrect.", CITIES, "A"),
        ("1. Sydney is the largest.\n2. Perth is in the west.\n\n**(B) Canberra**", CITIES, "B"),
        ("A. Sydney\nB. Canberra\nC. Melbourne\nD. Perth", CITIES, None),
        ("B is the remaining option.", CITIES, "B"),
        ("Only B is consistent with this.", CITIES, "B"),
        ("B is the inland one", CITIES, "B"),
        ("B is the wrong one", CITIES, None),
        ("**Canberra** is the capital; Sydney is the largest city.", CITIES, "B"),
        ("The capital is Canberra. Sydney is the largest city.", CITIES, "B"),
        ("Canberra is the capital. Sydney is the largest city.", CITIES, None),
        ("✗ (A) Sydney\n✓ B\n\nCanberra is consistent with what is described.", CITIES, "B"),
        ("Canberra is the capital, not Sydney or Melbourne.", CITIES, "B"),
        ("Answer: B\n\nIf you meant the largest city, the answer is A.", CITIES, "B"),
        ("My answer: B. My second choice: A.", CITIES, "B"),
        ("First choice: B; second choice: A", CITIES, "B"),
        ("Likely:\n\nAnswer: C. 11 or B. 12\n\nI can't determine it, but I would choose B. 12.", COUNTS, "B"),
        ("Answer: C or B. I would avoid B.", COUNTS, None),
        ("B</answer>", CITIES, "B"),
    ],
)
def test_letters_as_models_write_them(response: str, options: tuple[str, ...], letter: str | None) -> None:
    """Leads that are no report and no condition, formulas of options, units, marked lists, and remarks after them."""
    assert _read(response, options) == letter
