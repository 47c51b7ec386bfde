"""Which short text a response gives."""

from __future__ import annotations

import pytest

from nel.reading.response import own_response
from nel.reading.texts import compared_text, read_text
from nel.reading.types import Form
from nel.scoring.text import exact_match
from nel.types import ScorerInput


@pytest.mark.parametrize(
    ("response", "value", "form"),
    [
        # The form that meta-prompting asks for; ZeroEval asks for the value of an expression, GSM8K has hashes.
        ('White mates.\n\n>> FINAL ANSWER:\n"""\nQxf7#\n"""', "Qxf7#", Form.MARKER),
        ('{"reasoning": "a list", "answer": "[1, 2]"}', "[1, 2]", Form.FIELD),
        ('{"answer": [1, {"a": 2}]}', '[1, {"a": 2}]', Form.FIELD),
        (r'{"answer": "\"Permission Is Granted\""}', '"Permission Is Granted"', Form.FIELD),
        ('{"reasoning": "Nothing is left.", "answer": ""}', "", Form.FIELD),
        ("It is the capital of Norway.\n#### Oslo", "Oslo", Form.HASHES),
        ("<answer>the Beatles</answer>", "the Beatles", Form.TAG),
        (r"Thus \boxed{\text{Oslo}}.", "Oslo", Form.BOX),
        ("Answer:\nOslo", "Oslo", Form.MARKER),
        ('Answer: "Oslo"', "Oslo", Form.MARKER),
        ("The answer is Oslo. It lies in Norway.", "Oslo", Form.PHRASE),
        ("I know the capitals of Europe.\n\nOslo", "Oslo", Form.LINE),
        ("The city is called Zenith.", "Zenith", None),
        ("The character who is masked is most likely Joe.", "Joe", None),
        ("Oslo\n\nThe passage states that they met in Oslo.", "Oslo", Form.OPENING),
        ("答えは東京です。", "東京", Form.PHRASE),
        ("Die Hauptstadt von Österreich ist **Wien**.", "Wien", Form.LINE),
        ("**Jupiter** is the largest planet.", "Jupiter", Form.LINE),
        ("**Name**: Jupiter", "Jupiter", Form.LINE),
        ("**答案**：北京", "北京", Form.MARKER),
        ("Réponse : la Loire", "la Loire", Form.PHRASE),
        ("The movie was directed by Christopher Nolan.", "Christopher Nolan", None),
        ("#### Conclusion\nThe city is called Oslo.", "Oslo", None),
        ("Who knows?", None, None),
        (
            "Scarlett is a laggard, and Harper is a pioneer.",
            "Scarlett is a laggard, and Harper is a pioneer",
            Form.LINE,
        ),
    ],
)
def test_which_text_is_read(response: str, value: str | None, form: Form | None) -> None:
    """A field as JSON means it, a tag whole, a phrase to the end of its sentence; a heading or a question is none."""
    reading = read_text(own_response(response))
    assert reading.value == value
    if form is not None:
        assert reading.form == form


def test_scorers_of_texts_compare_the_declared_text() -> None:
    """Where the benchmark declares a form, what stands around it does not count."""
    response = "Rome is larger.\n<answer>Paris</answer>\nI hope this helps!"
    sample = ScorerInput(response=response, target="Paris", config={"answer_form": "tag answer"})
    assert compared_text(sample) == "Paris"
    assert exact_match(sample)["correct"]
    without = ScorerInput(response="Paris", target="Paris", config={"answer_form": "tag answer"})
    assert compared_text(without) == "Paris"
