"""TriviaQA without passages: 17,944 questions, many accepted spellings (arXiv 1705.03551).

Answers are normalised as the official script does: lower case, without articles, and with a space
for each underscore and punctuation mark (curly quotes too), so that "AC/DC" is two words.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from nel.benchmarks.short_answers import forms_of
from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.own import own_answer

REVISION = "0f7faf33a3908546c6fd5b73a660e0f8ff173c2f"
_MARKS: Final = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
PROMPT = """Answer this trivia question in a few words. Give the answer alone, not a sentence.

Question: {question}
Answer:"""


def normalise_answer(text: str) -> str:
    """Return a text in the official normal form.

    >>> normalise_answer("The AC/DC_band’s  best!")
    'ac dc band s best'
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_MARKS)).split())


def with_accepted(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``accepted``, every spelling that counts as right, the usual one first.

    Raises:
        KeyError: The answer has no ``value``.
        ValueError: No spelling is left.
    """
    answer = row["answer"]
    aliases = [
        answer["value"],
        *(answer.get("aliases") or []),
        *(answer.get("normalized_aliases") or []),
    ]
    accepted = list(dict.fromkeys(text for text in aliases if text))
    if not accepted:
        raise ValueError("its answer has neither a value nor aliases")
    return {**row, "accepted": accepted}


def overlap(answer: str, gold: str) -> float:
    """Return the F1 of the words that two normalised texts share.

    >>> overlap("new york city", "new york"), overlap("paris", "rome")
    (0.8, 0.0)
    """
    words, gold_words = answer.split(), gold.split()
    # A word that both have twice counts twice. F1 is 2pr / (p + r), which comes to this.
    shared = (Counter(words) & Counter(gold_words)).total()
    return 2 * shared / (len(words) + len(gold_words)) if shared else 0.0


def compare(answer: str, accepted: Sequence[str]) -> tuple[bool, float]:
    """Return whether an answer is an accepted one, and its best F1."""
    answer_text = normalise_answer(answer)
    golds = [normalise_answer(text) for text in accepted]
    return answer_text in golds, max(overlap(answer_text, gold) for gold in golds)


@benchmark(
    name="triviaqa",
    description="TriviaQA without passages, 17,944 trivia questions with all accepted spellings",
    dataset=f"hf://mandarjoshi/trivia_qa?config=rc.nocontext&split=validation&revision={REVISION}",
    prompt=PROMPT,
    target_field="accepted",
    id_field="question_id",
    prepare_row=with_accepted,
    fewshot_split="train",
    card=Card(
        paper="TriviaQA: A Large Scale Distantly Supervised Challenge Dataset, arXiv 1705.03551",
        licence="not stated for the questions; the authors' code is Apache-2.0",
        citation="Joshi et al., ACL 2017",
        metric="exact_match",
        homepage="https://huggingface.co/datasets/mandarjoshi/trivia_qa",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def triviaqa(sample: ScorerInput) -> dict[str, object]:
    """Look for the answer among the accepted spellings; F1 with the nearest beside it."""
    response, ran_on = own_answer(sample)
    forms = forms_of(response) or ("",)
    comparisons = [(compare(form, sample.target), form) for form in forms]
    # An exact one before any F1; of equal ones the first, which is the answer as written.
    (exact, f1), answer = max(comparisons, key=lambda comparison: comparison[0])
    return {
        "exact_match": exact,
        "f1": f1,
        "parsed": bool(answer),
        "extracted": answer or None,
        **ran_on,
    }
