"""Letters in forms that no other table has: set against others, left over, called right in a list, only looked at."""

from __future__ import annotations

import pytest

from nel.scoring.reading.letters import labels_for, read_labels


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("C rather than A.", "C"),
        ("C over B", "C"),
        ("C > B", "C"),
        ("C (A and B are wrong)", "C"),
        ("C 90%", "C"),
        ("C (or B)", None),
        ("A because a dog barks", "A"),
        ("A because", None),
        ("A 90% interval contains the mean in most samples.", None),
        ("The answer is not A, it's B.", "B"),
        ("Eliminating A, B, D, we are left with C.", "C"),
        ("So the answer can't be A, B or D, which leaves C.", "C"),
        ("Among A, B, C and D, the best is C.", "C"),
        ("A: no\nB: no\nC: yes\nD: no", "C"),
        ("- A: False\n- B: False\n- C: True\n- D: True", None),
        ("A - incorrect\nB - incorrect\nC - correct\nD - incorrect", "C"),
        ("B it is.", "B"),
        ("While A seems right, the answer is B.", "B"),
        ("While B seems right, it is not clear.", None),
        ("A, B and D are false, hence C.", "C"),
        ("The incorrect option is B.", None),
        ("A) Paris: No.\nB) Rome: Yes!\nC) Oslo: No.\nD) Bern: No.", "B"),
        ("option b", "B"),
        ("###B", "B"),
        ("Ⓑ", "B"),
        ("정답은 B입니다.", "B"),
        ("सही उत्तर B है", "B"),
        ("So the answer is (B) or maybe (C).", None),
        ("The answer is B (or C)", None),
        ("The answer is B, and C is wrong.", "B"),
        ("First, we look at (B).\nThen", None),
        ("Let's consider option B.", None),
        ("After considering all the options, (B).", "B"),
    ],
)
def test_letters(response: str, letter: str | None) -> None:
    """A letter that is chosen is read, whatever it is set against; one that is offered or looked at is not."""
    assert read_labels(response, labels_for(4), ["Paris", "Rome", "Oslo", "Bern"]).value == letter
