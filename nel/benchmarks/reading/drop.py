"""DROP: 9,536 questions that need counting and adding over a passage (arXiv 1903.00161).

Exact match and F1 are the official script's: an answer is a list of parts, paired so that their F1
is largest, a part with a number counts only against one with the same number, and the best of all
validated answers counts. A response is one text: semicolons separate its parts, as the prompt asks
for, or they are a list in JSON; the parts of a gold answer with commas between them are that answer
too. As in the official script, a hyphen separates words, so that -24 equals 24.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nel.benchmarks.reading.alignment import largest_sum
from nel.benchmarks.short_answers import short_answer
from nel.byob import Card, ScorerInput, benchmark, scorer
from nel.reading.numbers import read_number
from nel.reading.numerals import words_value
from nel.reading.own import own_answer
from nel.reading.response import own_response

REVISION = "619386fc7ffe6dace3cc6d3483c69b164ebf6bf3"
PARTS_MAX: Final = 64
"""More parts of a response than this are not read; no gold answer has as many."""
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_TOKEN = re.compile("[ -]")
# {"answers": ["Smith", "Jones"]}
_JSON_LIST: Final = re.compile(
    r"[\"']\w*answers?[\"']\s*:\s*(?P<list>\[[^\[\]]{0,2000}\])", re.IGNORECASE
)
# "Smith, Jones, and Brown", "Smith & Jones"
_SEPARATOR: Final = re.compile(r",\s+(?:and\s+)?|\s+(?:and|&)\s+")
# 34, ($34, 12.5 %, 34 yards
_TERM: Final = r"[($]*\d[\d.,]*(?:\s?%|[\s-][a-z]{1,12})?\)?"
# "34 yards - 10 yards = 24 yards."
_CALCULATION: Final = re.compile(
    rf"{_TERM}(?:\s*[+\-−–*×·/÷]\s*{_TERM})+\s*=\s*\$?(?P<result>-?[\d.,]*\d)(?:\s?%|(?:[\s-][a-z]{{1,12}}){{1,2}})?\.?"
)
"""A calculation and its result, each number with its unit."""
# "24, because he kicked it twice", "24 (34 - 10)"
_NUMBER_AND_REASON: Final = re.compile(
    r"(?P<result>-?\d[\d.,]*(?<![.,]))(?:,?\s+(?:because|since|as)\b.*|\s+\([^()]*\))"
)
_SIGNED_DECIMAL: Final = re.compile(r"-?\$?\d*\.\d+%?\.?")
"""A decimal with a sign of money or per cent, or with a full stop after it."""
# "24 times", "twenty-four times", "twenty four times"
_TIMES: Final = re.compile(r"(?P<count>\S{1,40}(?:[ -]\S{1,40})?) times?")
_COUNT_WORDS: Final = {
    "once": "1",
    "twice": "2",
    "thrice": "3",
    "a single time": "1",
    "just once": "1",
    "only once": "1",
}
_SENTENCE: Final = re.compile(
    r"\b(?:is|are|was|were|had|has|have|there|they|it|he|she)\b", re.IGNORECASE
)
PROMPT = """Read the passage and answer the question. Think step by step if you need to, then finish with a line of \
the form "Answer: X", where X is a number, a date or a short span of the passage; part several spans with semicolons.

Passage: {passage}

Question: {question}"""


def with_answers(row: dict[str, Any]) -> dict[str, object]:
    """Return the row with ``answers``, lists of parts without repetition, and the first as text.

    Raises:
        KeyError: A field is missing.
        ValueError: No answer says anything.
    """
    validated = row.get("validated_answers") or {}
    columns = (
        validated.get("number") or [],
        validated.get("date") or [],
        validated.get("spans") or [],
    )
    # A table has the answers of several people as three columns, in each one entry for a person.
    second_opinions = [
        {"number": number, "date": date, "spans": spans}
        for number, date, spans in zip(*columns, strict=True)
    ]
    answers: list[list[str]] = []
    for parts in map(_parts, (row["answer"], *second_opinions)):
        if parts not in answers and parts[0].strip():
            answers.append(parts)
    if not answers:
        raise ValueError("none of its answers has a number, a span or a date")
    return {**row, "answers": answers, "shown": "; ".join(answers[0])}


def _parts(answer: Mapping[str, Any]) -> list[str]:
    if str(answer["number"]):
        return [str(answer["number"])]
    if answer["spans"]:
        return [str(span) for span in answer["spans"]]
    date = answer["date"]
    return [
        " ".join(str(date[unit]) for unit in ("day", "month", "year") if date.get(unit)).strip()
    ]


def parts_of(response: str, answer: str | None) -> list[str]:
    """Return the parts of an answer, in a list of JSON or between semicolons.

    Of a calculation, its result; of a number with its reason, the number.

    >>> parts_of("", "Smith; Jones"), parts_of("", '["Smith", "Jones"]'), parts_of("", "34 - 10 = 24")
    (['Smith', 'Jones'], ['Smith', 'Jones'], ['24'])
    """
    text = answer or ""
    lists = _JSON_LIST.findall(response)
    if lists or text[:1] + text[-1:] == "[]":
        items = (lists[-1] if lists else text)[1:-1].split(",")
        parts = [item.strip().strip("\"'").strip() for item in items]
        return [part for part in parts if part][:PARTS_MAX]
    parts = [part.strip() for part in text.split(";") if part.strip()][:PARTS_MAX]
    if len(parts) != 1:
        return parts
    result = _CALCULATION.fullmatch(parts[0]) or _NUMBER_AND_REASON.fullmatch(parts[0])
    return [result["result"]] if result else parts


def amount_of(answer: str) -> str:
    """Return a part without the sign of an amount, and in digits; of a sentence, its number.

    >>> [amount_of(part) for part in ("$5", "2.5%", "Twenty-four", "There were 24 sacks", "Two times")]
    ['5', '2.5', '24', '24', '2']
    """
    folded = answer.lower().rstrip(".")
    if folded in _COUNT_WORDS:
        return _COUNT_WORDS[folded]
    times = _TIMES.fullmatch(folded)
    count = answer if times is None else times["count"]
    if times is not None and count.isdigit():
        return count
    # Digits stay as they are written: their normal form is made by the official rule.
    amount = words_value(count) if count[:1].isalpha() else None
    if amount is not None:
        return str(amount.numerator) if amount.denominator == 1 else str(float(amount))
    if _SENTENCE.search(answer):
        number = read_number(own_response(f"Answer: {answer}")).value
        if number:
            return number
    return _without_sign(answer).removeprefix("$").removesuffix("%")


def normalise_span(text: str) -> str:
    """Return the official normal form: numbers as floats, words without punctuation and articles.

    >>> normalise_span("The 1,200-yard run."), normalise_span("$5.50"), normalise_span("24.")
    ('1200.0 yard run', '550.0', '24.0')
    """
    tokens = (_word(token) for token in _TOKEN.split(text.lower()))
    return " ".join(token for token in tokens if token.strip()).strip()


def _word(token: str) -> str:
    word = token if _is_number(token) else token.translate(_PUNCTUATION)
    if _is_number(word):
        word = str(float(word))
    return " ".join(_ARTICLE.sub(" ", word).split())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def compare(parts: Sequence[str], gold: Sequence[str]) -> tuple[float, float]:
    """Return exact match and F1, with two decimals as published, against one gold answer.

    >>> compare(["16"], ["16"]), compare(["16 yards"], ["17 yards"]), compare(["Smith"], ["Smith", "Jones"])
    ((1.0, 1.0), (0.0, 0.0), (0.0, 0.5))
    """
    spans = [normalise_span(part) for part in parts]
    gold_spans = [normalise_span(part) for part in gold]
    # As sets of one size: the order of the parts does not count.
    exact = float(set(spans) == set(gold_spans) and len(spans) == len(gold_spans))
    bags = [set(span.split()) for span in spans]
    gold_bags = [set(span.split()) for span in gold_spans]
    scores = [[_f1(bag, gold_bag) for bag in bags] for gold_bag in gold_bags]
    # Parts beyond the pairs are wrong: the mean is over the longer of both lists.
    mean = largest_sum(scores) / max(len(bags), len(gold_bags))
    return exact, round(100 * mean) / 100


def best(parts: Sequence[str], golds: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Return the best exact match and the best F1 of an answer against several gold ones.

    One part that names exactly the parts of a gold answer with commas or "and" between them is that
    answer.

    >>> best(["Smith and Jones"], [["Smith", "Jones"]]), best(["Denver, Colorado"], [["Denver, Colorado"]])
    ((1.0, 1.0), (1.0, 1.0))
    """
    measures = [compare(parts, gold) for gold in golds]
    if len(parts) == 1:
        items = list(filter(None, _SEPARATOR.split(parts[0])))
        if any(len(gold) == len(items) > 1 and compare(items, gold)[0] for gold in golds):
            return 1.0, 1.0
    return max(exact for exact, _ in measures), max(f1 for _, f1 in measures)


def best_as_written_or_amount(
    parts: Sequence[str], golds: Sequence[Sequence[str]]
) -> tuple[float, float]:
    """Return the best scores of an answer: as it is written, or of its numbers ("$5" is 5).

    The official normal form of 2.5% is 25, so a decimal with such a sign is compared only as a
    number.

    >>> best_as_written_or_amount(["2.5%"], [["25"]]), best_as_written_or_amount(["2.5%"], [["2.5%"]])
    ((0.0, 0.0), (1.0, 1.0))
    """
    numbers = best(
        [amount_of(answer) for answer in parts],
        [[_without_sign(answer) for answer in gold] for gold in golds],
    )
    if any(map(_SIGNED_DECIMAL.fullmatch, parts)):
        return numbers
    return max(numbers, best(parts, golds))


def _without_sign(answer: str) -> str:
    return answer.rstrip(".").strip("$%") if _SIGNED_DECIMAL.fullmatch(answer) else answer


def _f1(bag: set[str], gold: set[str]) -> float:
    # "16 yards" is not half right where the gold answer is "17 yards".
    numbers = {word for word in gold if _is_number(word)}
    if numbers and not numbers & bag:
        return 0.0
    shared = len(bag & gold)
    precision = shared / len(bag) if bag else 1.0
    recall = shared / len(gold) if gold else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@benchmark(
    name="drop",
    description="DROP, 9,536 questions that need counting, adding and comparing over a passage",
    dataset=f"hf://EleutherAI/drop?split=validation&revision={REVISION}",
    prompt=PROMPT,
    target_field="answers",
    target_delimiter="\n\n",
    group_field="section_id",
    prepare_row=with_answers,
    fewshot_split="train",
    fewshot_target_template="Answer: {shown}",
    card=Card(
        paper=(
            "DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over Paragraphs,"
            " arXiv 1903.00161"
        ),
        licence="CC-BY-4.0",
        citation="Dua et al., NAACL 2019",
        metric="f1",
        homepage="https://huggingface.co/datasets/EleutherAI/drop",
        revision=REVISION,
        languages=("en",),
    ),
)
@scorer(in_process=True)
def drop(sample: ScorerInput) -> dict[str, object]:
    """Compare the answer with each validated one; the best exact match and the best F1 count."""
    response, ran_on = own_answer(sample)
    answer = short_answer(response, keep_money=True)
    parts = parts_of(response.text, answer)
    exact, f1 = best_as_written_or_amount(parts, sample.target) if parts else (0.0, 0.0)
    return {
        "f1": f1,
        "exact_match": exact,
        "parsed": bool(parts),
        "extracted": answer,
        **ran_on,
    }
