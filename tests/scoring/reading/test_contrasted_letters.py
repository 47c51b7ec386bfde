"""Letters that a response sets apart, contradicts or gives in other words: what a careful person takes from each row.

Rows without a letter are near misses: a confident reading of them would be worse than none.
"""

from __future__ import annotations

import pytest

from nel.scoring.reading.letters import labels_for, read_labels

CITIES = ("London", "Paris", "Rome", "Oslo")
BALLS = ("red ball", "blue ball", "green ball", "purple ball")
NUMBERS = ("12", "24", "42", "420")
SHARES = ("12%", "24%", "42%", "84%")
LENGTHS = ("12 cm", "24 cm", "42 cm", "84 cm")
SPEEDS = ("2.5 m/s", "5.0 m/s", "7.5 m/s", "10 m/s")
PARTS = ("mitochondria", "ribosomes", "the nucleus", "the Golgi apparatus")
ENZYMES = ("competitive inhibition", "noncompetitive inhibition", "uncompetitive inhibition", "mixed inhibition")
STATEMENTS = ("Statement I only", "Statement II only", "Both I and II", "Neither I nor II")
PERSONS = ("Isaac Newton", "Albert Einstein", "Marie Curie", "Niels Bohr")
KINDS = ("mitosis", "meiosis", "Both A and B", "None of the above")


def _read(response: str, options: tuple[str, ...]) -> str | None:
    value = read_labels(response, labels_for(len(options)), options).value
    return value if value and "," not in value else None


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Most likely B, possibly A", "B"),
        ("Possibly A, most likely B.", "B"),
        ("The answer is most likely B, possibly A.", "B"),
        ("B most likely, though A is possible.", "B"),
        ("Most likely A or C, possibly B.", None),
        ("Maybe A, maybe B.", None),
        ("Less likely A, possibly B.", None),
        ("All options except B are wrong.", "B"),
        ("No option other than B fits.", "B"),
        ("It can't be anything but B.", "B"),
        ("All options except B are correct.", None),
        ("B is better than A.", "B"),
        ("Correct: B. Incorrect: A, C, D.", "B"),
        ("Incorrect: B.", None),
        ("I'd go with B here.", "B"),
        ("I don't know. It could be A.", None),
        ("I don't know. It has to be A, though.", "A"),
        ("Next is option B, which", None),
        ("The second best answer is A.", None),
        ("The worst answer is A.", None),
        ("The least likely answer is A.", None),
        ("The best answer is B, the second best answer is A.", "B"),
        ("1st choice: B\n2nd choice: A", "B"),
        ("The answer is B (or C if you count islands).", None),
        ("Answer: B (or rather the one in the south)", "B"),
        ("B\nC", None),
        ("B\n\nB", "B"),
        ("A. B. C. D.", None),
        (r"\boxed{\text{B}}\boxed{\text{C}}", None),
        ("It is Paris, which is option B. London is option A.", "B"),
        ("The capital of France is Paris. Paris is option B.", "B"),
        ("The least effective option is B.", "B"),
        ("The least effective option is B. The best option is A.", "A"),
        ("All options but B are wrong? No: A is the correct answer.", "A"),
        ("All options except B are wrong. No, it is A.", "A"),
    ],
)
def test_one_is_set_apart(response: str, letter: str | None) -> None:
    """The likelier of two, the only exception to a denial, the better one."""
    assert _read(response, CITIES) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("The answer is A. For inhibitors the answer is B.", None),
        ("For activators the answer is A. In the case of inhibitors, the answer is B.", None),
        ("The answer is A. For the converse, the answer would be B.", "A"),
        ("The answer is A. For a different substrate the answer is B.", "A"),
        ("For the given reaction the answer is B.", "B"),
        ("For inhibitors the answer is B.", "B"),
        ("One may think that the answer is A.\n\nFor inhibitors, the answer is B.", "B"),
        ("Answer: A → B", None),
        ("Answer: A -> C => B", None),
        ("Answer: → B", "B"),
        ("Answer: C (A → B)", "C"),
    ],
)
def test_cases_and_sequences(response: str, letter: str | None) -> None:
    """Answers to two cases side by side, and letters with arrows between them, are no single answer."""
    assert _read(response, CITIES) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("B) Rome", None),
        ("Answer: B (Rome)", None),
        (r"\boxed{B. Rome}", None),
        ("**B. Rome**", None),
        ("The answer is B. Rome is in Italy.", "B"),
        ("Answer: B (not Rome)", "B"),
        ("Answer: B, Paris", "B"),
        ("Answer: (A) London (B) Paris (C) Rome (D) Oslo", None),
        ("Answer: (A) London", "A"),
        ("- (A) London: in England.\n- (B) Paris: in France. Correct.\n- (C) Rome: in Italy.", "B"),
        ("A. London is in England.\nB. Paris is in France. This is the answer.\nC. Rome is in Italy.", "B"),
        ("A. London is large. Correct.\nB. Paris is large. Correct.\nC. Rome is in Italy.", None),
        ("**B) Paris** is the capital.\n\nThe others:\nA) London is in England.\nC) Rome is in Italy.", "B"),
        ("A) London is in England.\nB) Paris is in France.\nC) Rome is in Italy.", None),
    ],
)
def test_letters_with_the_texts_of_options(response: str, letter: str | None) -> None:
    """A letter with another option's text contradicts itself; a list of the options chooses none by its first."""
    assert _read(response, CITIES) == letter


@pytest.mark.parametrize(
    ("options", "response", "letter"),
    [
        (BALLS, "blue", "B"),
        (BALLS, "So the answer is the blue one.", "B"),
        (BALLS, "Answer: ball", None),
        (BALLS, "Answer: yellow", None),
        (("dark blue ball", "light blue ball", "green ball"), "Answer: blue", None),
        (("Vitamin D", "Vitamin C", "Vitamin B", "Vitamin A"), "D", "D"),
        (("Vitamin D", "Vitamin C", "Vitamin B", "Vitamin A"), "Answer: Vitamin", None),
        (("C major", "F major", "D minor", "A minor"), "D — A minor", "D"),
        (("the mother of Alice", "Bob", "Carol"), "Answer: Alice", None),
        (ENZYMES, "Answer: competitive", "A"),
        (ENZYMES, "Answer: non-competitive inhibition", "B"),
        (PARTS, "ribosome", "B"),
        (PARTS, "The answer is nucleus.", "C"),
        (STATEMENTS, "I only", "A"),
        (PERSONS, "Einstein", "B"),
        (PERSONS, "Answer: Newton and Einstein", None),
        (KINDS, "Both A and B are correct.", "C"),
        (KINDS, "Both A and B are wrong.", None),
        (("True", "False"), "False. It is not true that water is dry.", "B"),
        (("True", "False"), "It is true in part and false in part.", None),
    ],
)
def test_options_in_other_words(options: tuple[str, ...], response: str, letter: str | None) -> None:
    """Shortened to what sets it apart, without its article, in the singular; never where two options fit."""
    assert _read(response, options) == letter


@pytest.mark.parametrize(
    ("options", "response", "letter"),
    [
        (NUMBERS, "The answer is 42.", "C"),
        (NUMBERS, "Answer: 42.0", "C"),
        (NUMBERS, "The answer is 420.", "D"),
        (NUMBERS, "The answer is 43.", None),
        (NUMBERS, "The answer is 4.2", None),
        (NUMBERS, "The answer is 42%.", None),
        (NUMBERS, "Therefore there are 42 apples.", "C"),
        (NUMBERS, "First 12 apples, then 24 are added, so the total is 42.", "C"),
        (NUMBERS, "So the total is not 42.", None),
        (NUMBERS, "So the total is 42 or 24.", None),
        (SHARES, "The answer is 42.", "C"),
        (SHARES, "The answer is 42 percent.", "C"),
        (LENGTHS, "The answer is 42", "C"),
        (LENGTHS, "The answer is 42 m.", None),
        (LENGTHS, "So its length is 42 m.", None),
        (SPEEDS, "The answer is 5.", "B"),
        (SPEEDS, "The answer is 50 m/s.", None),
        (SPEEDS, r"v = \frac{10}{2} = 5.0\ \text{m/s}", "B"),
        (("0.5", "0.25", "0.75"), "The answer is 1/2.", "A"),
        (("-3", "3", "1/3", "-1/3"), "The answer is −3.", "A"),
        (("more than 5", "less than 5", "4"), "Answer: 5", None),
    ],
)
def test_options_by_their_number(options: tuple[str, ...], response: str, letter: str | None) -> None:
    """Numbers are compared by value; a unit may be left out, and another one than the option's is another answer."""
    assert _read(response, options) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        (" B\n\nQuestion: Which city is in Italy?\nA. London\nB. Paris\nC. Rome\nAnswer: C", "B"),
        ("The answer is (B).\n\nQ: Which city is in Norway?\nA: The answer is (D).", "B"),
        (f"B) Paris{' and its suburbs' * 8}\n\nQuestion: Which city is in Norway?\nAnswer: D", "B"),
        ("Question: Which city?\nAnswer: B", "B"),
        ("It is not A.\n\nQuestion: Which is it then?\nAnswer: B", "B"),
        # the question is restated, and nothing is answered before it
        ("I need to think.\nQuestion: Which city?\nAnswer: B", "B"),
        ("A few notes first.\nQ: Which city?\nA: B", "B"),
        ("A) London - UK\nB) Paris - France\n\nQuestion: Which is it?\n\nThe answer is B.", "B"),
        ("The answer is A or B, let me see.\n\nQuestion: Which is in France?\nAnswer: B", "B"),
        ("A. Wait, let me read again.\n\nQuestion: Which is in France?\nAnswer: B", "B"),
    ],
)
def test_an_invented_next_question(response: str, letter: str | None) -> None:
    """A line that opens a question after a letter begins another problem, also where the prompt is not known."""
    assert _read(response, CITIES) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Yes, the statement is false.", "B"),
        ("No, it is true.", "A"),
        ("This is not true.", "B"),
        ("Yes.", "A"),
        ("It may be true or false.", None),
    ],
)
def test_options_that_are_opposites(response: str, letter: str | None) -> None:
    """What calls the statement true or false counts, and not the yes or no before it."""
    assert _read(response, ("True", "False")) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("D. -3", "D"),
        ("**D**: -3", "D"),
        ("A - 3", "A"),
        ("B) 3", None),
        ("We multiply the frequency by the wavelength that the figure shows, and so the speed of it is 3.", "A"),
        ("We multiply the frequency by the wavelength that the figure shows, and so the speed of it is 3", None),
        ("The first term is 3.", None),
    ],
)
def test_numbers_with_signs_and_cut_off_sentences(response: str, letter: str | None) -> None:
    """A minus sign is part of an option and no dash before it; a number that a response stops at may be cut off."""
    assert _read(response, ("3", "-1", "5", "-3")) == letter
