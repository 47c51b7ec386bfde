"""Forms of the kind "text": a name, a place, a date, a phrase or a few symbols."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.answer_forms.informed.drafts import Answer, Case, Draft, Writer
from tests.answer_forms.informed.facts import ELSEWHERE, FACTS
from tests.answer_forms.informed.shapes import Shape, Weights

_REASONS: Final = (
    "Paragraph {n} of the passage deals with this.",
    "The text was written in {year}.",
    "The passage mentions several candidates.",
    "Sentence {n} has the decisive clue.",
    "We are told that this happened in the context described in line {n}.",
    "The relevant part is the second half of section {n}.",
    "The source from {year} discusses this at length.",
)
_EXPLANATIONS: Final = (
    "Sentence {n} of the passage says so.",
    "This is stated in paragraph {n}.",
    "The passage names it directly.",
    "See line {n} of the text.",
    "This is well documented since {year}.",
)
_LATEX: Final = str.maketrans({"%": "\\%", "$": "\\$", "#": "\\#", "&": "\\&", "_": "\\_", "{": "\\{", "}": "\\}"})


def _answer(rng: Random, text: str) -> Answer:
    line = text
    if rng.random() < 0.12 and text[-1].isalnum():
        line = rng.choice(("“@”", '"@"', "**@**", "@.", "*@*", "«@»", "`@`", "‘@’")).replace("@", text)
    return Answer(text, text, line, f"\\text{{{text.translate(_LATEX)}}}", literal=text)


def make(rng: Random, language: str) -> Case:
    """Return a question with a short answer and others near it."""
    bank = FACTS if language == "en" else ELSEWHERE[language]
    question, sentence, near = bank[int(rng.random() * len(bank))]
    order = list(near)
    if rng.random() < 0.4:
        rng.shuffle(order)
    answers = [_answer(rng, text) for text in order]
    values = {"n": rng.randrange(1, 60), "year": rng.randrange(1950, 2025)}
    english = language == "en"
    return Case(
        answers[0],
        answers[1:],
        question,
        [text.format(**values) for text in rng.sample(_REASONS, 3)] if english else [],
        [rng.choice(_EXPLANATIONS).format(**values)] if english else [],
        sentences=(sentence,) if sentence else (),
    )


def contrasted(w: Writer) -> Draft:
    """Return the answer beside one that it is not to be confused with."""
    if w.language != "en":
        return Draft(w.join([w.mention(w.words.quoted), w.declare(w.case.answer)]))
    w.note("contrast")
    text = w.pick(
        (
            "The answer is §, not ¤.",
            "§, not ¤.",
            "It is § (not to be confused with ¤).",
            "Not ¤ but §.",
            "¤ is often named, but the right answer is §.",
            "People confuse § with ¤. The answer is §.",
            "One might think of ¤, but the passage means §.",
            "The candidates are ¤ and §. The text rules out ¤, so the answer is §.",
            "I first thought of ¤. The correct answer is §.",
            "While ¤ is mentioned in the passage, the answer is §.",
            "Unlike ¤, § fits the description. The answer is §.",
            "Answer: § (¤ is a different thing)",
            "¤? No: §.",
        )
    )
    filled = text.replace("¤", w.wrong().said).replace("§", w.case.answer.said)
    return Draft(w.join([*w.reasons(2), filled.replace("..", "."), *w.closing(0.15)]))


def listed(w: Writer) -> Draft:
    """Return candidates without a choice."""
    if w.language != "en":
        return Draft(w.join([w.pick(w.words.fillers), w.mention(w.words.undecided)]), is_stated=False)
    w.note("candidates alone")
    names = [w.case.answer.said, *(answer.said for answer in w.case.wrong)]
    w.rng.shuffle(names)
    w.mentioned.extend(names)
    text = w.pick(
        (
            "Options: ¤. I can't decide.",
            "The candidates are: ¤. The passage does not say which.",
            "Possible answers: ¤?",
            "I'm thinking of ¤, but I don't know which one is meant.",
            "It is one of these, but I can't tell which: ¤.",
        )
    )
    joined = w.pick((", ", " / ", "; ", " or ")).join(names)
    return Draft(w.join([*w.reasons(2), text.replace("¤", joined)]), is_stated=False)


def question_repeated(w: Writer) -> Draft:
    """Return the question and the answer after it."""
    w.note("question repeated")
    pattern = w.pick(("{q} {a}", "{q}\n{a}", "**{q}**\n\n{a}", "{q} — {a}", "> {q}\n\n{a}", "Q: {q}\nA: {a}"))
    return Draft(w.join([pattern.format(q=w.case.question, a=w.case.answer.line), *w.explanation(), *w.closing()]))


STATED: Final[tuple[tuple[Weights, Shape], ...]] = (((4, 1, 3), question_repeated),)
MISLEADING: Final[tuple[tuple[Weights, Shape], ...]] = (((5, 6, 6), contrasted),)
SILENT: Final[tuple[tuple[Weights, Shape], ...]] = (((4, 4, 4), listed),)
