"""SQuAD 1.1 and 2.0: questions on a Wikipedia paragraph, each answered by a span of it.

Exact match and F1 are the official scripts': the best of all gold spans counts. In 2.0 half of the
questions have no answer in the paragraph, and saying so is correct; the numbers of both kinds stand
beside the total. Rajpurkar et al. 2016 and 2018.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from nel.benchmarks.short_answers import same_span, short_answer
from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.own import own_answer
from nel.scoring.overlap import squad_f1
from nel.scoring.tokens import squad_tokens

REVISION_1 = "7b6d24c440a36b6815f21b70d25016731768db1f"
REVISION_2 = "3ffb306f725f7d2ce8394bc1873b24868140c412"
NO_ANSWER: Final = "unanswerable"
PROMPT = """Answer the question with a span of the passage, copied exactly and as short as possible. Give the span \
alone.

Passage: {context}

Question: {question}
Answer:"""
PROMPT_2 = """Answer the question with a span of the passage, copied exactly and as short as possible. Give the span \
alone. If the passage does not answer the question, write "unanswerable".

Passage: {context}

Question: {question}
Answer:"""

_CARD = Card(
    paper="SQuAD: 100,000+ Questions for Machine Comprehension of Text, arXiv 1606.05250",
    licence="CC-BY-SA-4.0",
    citation="Rajpurkar et al., EMNLP 2016",
    metric="exact_match",
    homepage="https://huggingface.co/datasets/rajpurkar/squad",
    revision=REVISION_1,
    languages=("en",),
)


def with_passage(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with its ``spans``, one to be ``shown``, and ``passage``, a digest.

    Raises:
        KeyError: A field is missing.
    """
    spans = [str(span) for span in row["answers"]["text"]]
    passage = hashlib.sha256(str(row["context"]).encode()).hexdigest()[:12]
    return {**row, "spans": spans, "shown": spans[0] if spans else NO_ANSWER, "passage": passage}


def compare(answer: str, spans: Sequence[str]) -> tuple[float, float]:
    """Return SQuAD 2.0's exact match and F1; without spans, the empty answer is correct.

    A span that is nothing but articles and punctuation does not count, as in the official script.

    >>> compare("in Denver, Colorado", ["Denver", "the Denver Colorado"]), compare("", []), compare("Denver", [])
    ((0.0, 0.8), (1.0, 1.0), (0.0, 0.0))
    """
    # Without a span the only right answer is none, which is the empty text in the official script.
    golds = [span for span in spans if squad_tokens(span)] or [""]
    f1, _, _ = squad_f1(answer, golds)
    return float(same_span(answer, golds)), f1


def _answer(sample: ScorerInput) -> tuple[str | None, dict[str, bool]]:
    response, ran_on = own_answer(sample)
    answer = short_answer(response)
    return None if answer is None else answer.strip("\"'“”"), ran_on


@benchmark(
    name="squad",
    description="SQuAD 1.1, 10,570 questions answered by a span of a paragraph",
    dataset=f"hf://rajpurkar/squad?split=validation&revision={REVISION_1}",
    prompt=PROMPT,
    target_field="spans",
    id_field="id",
    group_field="passage",
    prepare_row=with_passage,
    fewshot_split="train",
    fewshot_target_template="{shown}",
    card=_CARD,
)
@scorer(in_process=True)
def squad(sample: ScorerInput) -> dict[str, object]:
    """Compare the answer with each gold span; F1 with the nearest beside it."""
    answer, ran_on = _answer(sample)
    exact, f1 = compare(answer, sample.target) if answer else (0.0, 0.0)
    return {
        "exact_match": exact,
        "f1": f1,
        "parsed": answer is not None,
        "extracted": answer,
        **ran_on,
    }


@benchmark(
    name="squad_v2",
    description="SQuAD 2.0, 11,873 questions on a paragraph, half of them without an answer in it",
    dataset=f"hf://rajpurkar/squad_v2?split=validation&revision={REVISION_2}",
    prompt=PROMPT_2,
    target_field="spans",
    id_field="id",
    group_field="passage",
    prepare_row=with_passage,
    fewshot_split="train",
    fewshot_target_template="{shown}",
    card=replace(
        _CARD,
        paper="Know What You Don't Know: Unanswerable Questions for SQuAD, arXiv 1806.03822",
        citation="Rajpurkar et al., ACL 2018",
        homepage="https://huggingface.co/datasets/rajpurkar/squad_v2",
        revision=REVISION_2,
    ),
)
@scorer(in_process=True)
def squad_v2(sample: ScorerInput) -> dict[str, object]:
    """Compare the answer with each gold span, or with "unanswerable" where there is none."""
    extracted, ran_on = _answer(sample)
    answer = "" if squad_tokens(extracted or "") == [NO_ANSWER] else extracted
    exact, f1 = compare(answer, sample.target) if answer is not None else (0.0, 0.0)
    kind = "has_answer" if sample.target else "no_answer"
    return {
        "exact_match": exact,
        "f1": f1,
        f"{kind}_exact_match": exact,
        f"{kind}_f1": f1,
        "parsed": extracted is not None,
        "extracted": extracted,
        **ran_on,
    }
