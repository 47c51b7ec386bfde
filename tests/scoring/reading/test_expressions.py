"""Which expression a response gives as its answer, and where it gives none."""

from __future__ import annotations

import pytest

from nel.scoring.reading.expressions import read_expression
from nel.scoring.reading.formulas import WORD, masked


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        # where it stands
        ("The answer is $\\frac{1}{2}$.", "\\frac{1}{2}"),
        ("**Final Answer**\n\n\\[\n(-\\infty, 2]\n\\]", "(-\\infty, 2]"),
        ("<answer>20 - 4√5</answer>\nThat used $x = 3$.", "20 - 4√5"),
        ("Thus the answer is (-∞, -2) ∪ (8, ∞).", "(-∞, -2) ∪ (8, ∞)"),
        ('{"answer": "\\\\frac{5}{31}", "confidence": 0.9}', "\\frac{5}{31}"),
        ('reasoning: none\nanswer: "$\\\\{2, 14\\\\}$"', "\\{2, 14\\}"),
        ("所以答案是$247\\pi$。", "247\\pi"),
        ("La solution est $\\{-6, 0\\}$.\n\nDites-moi si ce n'est pas clair.", "\\{-6, 0\\}"),
        ("Si ottiene quindi $\\log_{8} 17$.\nQuesto segue dal testo.", "\\log_{8} 17"),
        ("This simplifies to $9x^2 + 4$.\n\nGood luck!", "9x^2 + 4"),
        ("$$\\frac{3}{7}$$\n\nThe case $x = 11$ is excluded.", "\\frac{3}{7}"),
        ("\\[ S = \\cdots = \\boxed{12}. \\]", "12"),
        ("The answer is even.", "even"),
        ("-36", "-36"),
        ("解は-11 + 13iです。", "-11 + 13i"),
        ("[answer]3\\sqrt{2}[/answer]", "3\\sqrt{2}"),
        ("which gives us\n$$\n3 + 11i\n$$\nas the final answer.", "3 + 11i"),
        ("Therefore, the answer is:\n\n3 * 40 = 120", "3 * 40 = 120"),
        # another place beside it
        ("From step 3 we have $y = 17$. the answer is $\\log_{3} 17$", "\\log_{3} 17"),
        ("**Final Answer: $444_5$** In an earlier version of this question, the answer was $444$.", "444_5"),
        ("$x \\ge -1$ is the answer because everything else is ruled out.", "x \\ge -1"),
        ("答えは$x + 1$です。\n問題が違っていれば、答えは$x - 1$だったかもしれません。", "x + 1"),
        ("$8x + 1$... wait, no. **8x - 1**.\n\nThat holds.\n$$u = 2v + 89$$", "8x - 1"),
        ("An intermediate result is $\\boxed{31}$ for the first part. The answer is $418$.", "418"),
        ("The answer is $418$.\nAn intermediate result is $\\boxed{31}$ for the first part.", "418"),
        ("So $\\boxed{5}$ is the value of the whole, while $7$ is only that of the first term.", "5"),
        ("The answer is $\\boxed{x > 39}$. Students often answer x ≥ 39 here, but that is incorrect.", "x > 39"),
        ("Answer: 52\n\nWait, that is wrong.\n\nAnswer: $52\\pi$", "52\\pi"),
        ("The answer is not $(8, \\infty)$ but $\\boxed{[8, \\infty)}$.", "[8, \\infty)"),
        ("My answer is $8$. One of the conditions fails, so I have to revise this. So it's $(3,8]$.", "(3,8]"),
        ("Quindi la risposta è $186$.\n$22 + 23 = 45$", "186"),
    ],
)
def test_the_declared_expression(response: str, answer: str) -> None:
    """The last declaration that stands, in any form and language, and not a step on the way to it."""
    assert read_expression(response).value == answer


@pytest.mark.parametrize(
    "response",
    [
        "It can't be $\\boxed{5}$.",
        "An intermediate result is $\\boxed{31}$ for the first part.\nI can't go further.",
        "If the sign is positive, we get $\\boxed{3}$; if negative, $\\boxed{-3}$. The sign is not given.",
        "$\\boxed{3}$ or $\\boxed{4}$",
        "My guess would be **$889$** or $-889$.",
        "Neither $\\boxed{(6,44)}$ nor $\\boxed{[6,44]}$ satisfies the equation.",
        "I would write \\boxed{y = 9x}, but that contradicts the second equation. I don't have an answer.",
        "Du hast geschrieben, die Antwort sei $\\frac{3}{11}$. Woher hast du das?",
        "The final answer is $\\boxed{",
        "Answer: \\boxed{?}",
        "\\boxed{\\text{cannot be determined}}",
        "$2 + 24 = 26$\nWeder $4x^2$ noch $1$ ist richtig.",
        "Let $u = 9x + 27$. Next, we",
    ],
)
def test_no_expression(response: str) -> None:
    """What is denied, one of several, conditional, reported, left open or only a step is no answer."""
    assert read_expression(response).value is None


def test_places_are_those_of_the_response() -> None:
    """A reading says where its expression stands, whatever stood in its place while it was read."""
    response = "First $a + b$, then 3 - 4√5 and so on.\n\nThe answer is **$\\frac{1}{2}$**, because $a = 1$."
    reading = read_expression(response)
    assert response[reading.start : reading.end] == reading.value == "\\frac{1}{2}"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("I paid $5 and he paid $6 for it.", "I paid $5 and he paid $6 for it."),
        ("\\textbf{Answer:} \\(x\\)", f"\\textbf{{Answer:}} {WORD}"),
        ("x > 0, [3, 5) and (a) 2/3", f"{WORD}, {WORD} and (a) {WORD}"),
        ("__3x^2 - 8x__ or *x = 5*", f"__{WORD}__ or *{WORD}*"),
        ("\\boxed{} \\boxed{\\frac12}", f"\\boxed{{}} \\boxed{{{WORD}}}"),
        ("答案是387π。", f"答案是{WORD}。"),
    ],
)
def test_formulas_become_words(text: str, hidden: str) -> None:
    """Formulas are found with and without delimiters; amounts of money, labels and emphasis are none."""
    assert masked(text).text == hidden
