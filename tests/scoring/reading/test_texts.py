"""What is read as the short answer of a response."""

from __future__ import annotations

import pytest

from nel.scoring.reading.texts import read_text


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("The answer is Canberra, because it is the seat of parliament.", "Canberra"),
        ("Answer: the capital is **Canberra**.", "Canberra"),
        ("It is Canberra.", "Canberra"),
        ("aspect baccarat blare bowman census earl gloss", "aspect baccarat blare bowman census earl gloss"),
        ("The capital of Australia is **Canberra**. While Sydney is larger, it is not the capital.", "Canberra"),
        ("Let me think.\n\n### Final Answer\n**Canberra**\n\nI hope this helps!", "Canberra"),
        ("<think>It is Sydney.</think>\n<answer>\nCanberra\n</answer>", "Canberra"),
        (r"So the answer is $\boxed{\text{5\%}}$.", "5%"),
        ('```json\n{\n  "reasoning": "It was not \\"Sydney\\".",\n  "answer": "Canberra"\n}\n```', "Canberra"),
        ("Canberra is the correct answer.", "Canberra"),
        ("I'd go with “Canberra”.", "Canberra"),
        ("Paris.\nIt is in France.", "Paris"),
        ("Who wrote it? Jane Austen", "Jane Austen"),
        ("It was written by J. R. R. Tolkien. This is well known.", "J. R. R. Tolkien"),
        ("The answer is Washington, D.C. I hope this helps!", "Washington, D.C."),
        ("Answer: Frankfurt (Oder)", "Frankfurt (Oder)"),
        ("The answer is not London but Paris.", "Paris"),
        ("It's not London; it's Paris.", "Paris"),
        ("The answer is Paris, not London.", "Paris"),
        ("The answer is London. Wait, that's not right. It should be Paris.", "Paris"),
        ("Answer: ~~London~~ Paris", "Paris"),
        ("**Answer:** London ❌ → after checking, **Paris** ✅", "Paris"),
        ("Answer: Paris (If the question had asked about England, the answer would be London.)", "Paris"),
        ("A student might say the answer is London, but that is wrong. The answer is Paris.", "Paris"),
        ("The answer is Paris. Some people answer London, which is a mistake.", "Paris"),
        ("Answer: Paris\n\nI cannot say more than that.", "Paris"),
        ("Answer: ] ) >", "] ) >"),
        ("The answer is A-.", "A-"),
        ("The answer is C++.", "C++"),
        ("Die Antwort lautet Bern, weil dort der Bundesrat sitzt.", "Bern"),
        ("La réponse n'est pas Lyon mais Paris.", "Paris"),
        ("正确答案是北京，而不是南京。", "北京"),
        ("答えは京都ではなく東京です。", "東京"),
    ],
)
def test_what_is_stated(response: str, answer: str) -> None:
    """The answer without wrappers, reasons, polite endings and filling words; a correction counts."""
    assert read_text(response).value == answer


@pytest.mark.parametrize(
    "response",
    [
        "",
        "...",
        "The answer is Sydney. Wait, that's wrong. I need to start over.",
        "The answer is Paris or London.",
        "36: ) ; stack: [ {\n37: } ; stack: [\n38: < ; stack: [ <",
        "Answer: Paris / London",
        "Answer: [your answer here]",
        '{"answer": null}',
        r"The final answer is \boxed{",
        "The answer is",
        "The answer is not Paris.",
        "Is it Paris?",
        "I can't tell whether the answer is Paris or London.",
        "If the first reading is meant, the answer is Paris; otherwise it is London.",
        "A student might say the answer is London. What would you tell them?",
        "<think>The answer is Paris.",
        "I'm sorry, but I can't help with that.",
        "答案不是北京。",
    ],
)
def test_what_states_nothing(response: str) -> None:
    """Refused, denied, left open, taken back, cut off or quoted."""
    assert read_text(response).value is None


def test_a_reading_shows_where_the_answer_stands() -> None:
    """Positions are those of the response, and what was not taken is kept with its reason."""
    response = "<think>Hm.</think>The answer is Paris. The answer is not London."
    reading = read_text(response)
    assert response[reading.start : reading.end] == reading.value == "Paris"
    assert reading.rule == "declared"
    assert [why for _, _, why in reading.rejected] == ["denied"]
