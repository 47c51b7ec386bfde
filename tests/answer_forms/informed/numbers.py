"""Forms of the kind "number": results of word problems, in many spellings and locales."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from random import Random
from typing import Final

from tests.answer_forms.informed.drafts import Answer, Case, Draft, Writer
from tests.answer_forms.informed.english import ENGLISH
from tests.answer_forms.informed.problems import problem
from tests.answer_forms.informed.shapes import Shape, Weights, quoted
from tests.answer_forms.informed.spelling import canonical, indian, neighbours, plain, with_unit

_MATH: Final = ("$@$", "\\(@\\)", "$@$", "$\\mathbf{@}$", "**$@$**")
_EXPLANATIONS: Final = (
    "This follows from the steps above.",
    "I multiplied and added as described.",
    "That is the total for all of them.",
    "You can check this by working backwards.",
)
_BEHIND: Final = (
    " (see step {x})",
    ", as computed in step {x}",
    " (the {x} given away are not counted)",
    ", since {x} were already used",
    ". Note: {x} of them were there before.",
    " [{x} steps]",
    ". (Checked {x} times.)",
    "\n\nNote: the {x} in the question is not needed.",
    "\n\nThis took {x} steps.",
    "\n\n(Problem {x} of 20)",
    "\n\nReference: chapter {x}, page 1{x}.",
)


def _answer(value: Fraction, unit: str, language: str, rng: Random) -> Answer:
    written = canonical(value)
    text, notes = plain(value, written, language, rng)
    united = with_unit(text, unit, rng) if unit else text
    draw = rng.random()
    simple = text.replace("-", "").replace(".", "").isdigit() and text.isascii()
    if united != text and draw < 0.6:
        notes.append("unit")
    said = united if draw < 0.6 else text
    if simple and rng.random() < 0.08:
        said = _MATH[int(rng.random() * len(_MATH))].replace("@", text)
        notes.append("inline LaTeX")
    line = united if 0.35 < draw < 0.8 else text
    return Answer(
        written,
        said,
        line,
        _tex(value, written, unit, language, text, rng),
        literal=_literal(value, written),
        notes=tuple(notes),
        full=united,
    )


def _literal(value: Fraction, text: str) -> object:
    if value.denominator == 1:
        return value.numerator
    return text if "/" in text else float(text)


def _tex(value: Fraction, written: str, unit: str, language: str, text: str, rng: Random) -> str:
    """Return what a box holds."""
    if "/" in written:
        above, below = written.split("/")
        return f"\\frac{{{above}}}{{{below}}}" if rng.random() < 0.7 else written
    if language not in {"en", "zh", "ja"}:
        return written if value.denominator == 1 else text
    if abs(value.numerator) >= 1000 * value.denominator and rng.random() < 0.4:
        whole, point, part = written.partition(".")
        mark = rng.choice((",", "{,}", "\\,", ",\\!"))
        written = f"{int(whole):,}".replace(",", mark) + point + part
    draw = rng.random()
    if draw > 0.25 or not unit:
        return written if draw > 0.06 else f"\\text{{{written}}}"
    if unit == "dollars":
        return rng.choice((f"\\${written}", f"{written}\\text{{ dollars}}"))
    if unit == "percent":
        return f"{written}\\%"
    if unit == "degrees":
        return rng.choice((f"{written}^\\circ\\text{{C}}", f"{written}^\\circ"))
    return f"{written}\\text{{ {unit}}}" if rng.random() < 0.7 else f"{written}\\ \\mathrm{{{unit}}}"


def make(rng: Random, language: str) -> Case:
    """Return a word problem with its result."""
    asked = problem(rng, language)
    value = asked.value
    answer = _answer(value, asked.unit, language, rng)
    near = neighbours(value)
    shift = rng.choice((1, 2, 10))
    candidates = [*map(Fraction, asked.between[:2]), value + shift if rng.random() < 0.5 else value * 2]
    wrong = [_answer(one, asked.unit, language, rng) for one in candidates if one != value]
    return Case(
        answer,
        wrong,
        asked.question,
        list(asked.steps),
        list(_EXPLANATIONS) if language == "en" else [],
        sentences=asked.sentences,
        neighbours=[canonical(Fraction(one)) for one in asked.between] + near,
    )


def hashed(w: Writer) -> Draft:
    """Return steps and a line ``#### N``, as the examples of GSM8K end."""
    w.note("hashes")
    return Draft("\n".join(w.reasons(3)) + f"\n#### {canonical(Fraction(w.case.answer.canonical))}")


def hashed_ran_on(w: Writer) -> Draft:
    """Return a line ``#### N`` after which the model goes on with problems of its own."""
    w.note("runs on")
    w.note("hashes")
    marks = w.pick(w.words.markers[:2])
    text = " " + " ".join(w.reasons(2)) + f"\n#### {w.case.answer.canonical}"
    for _ in range(1 + int(w.rng.random() * 2)):
        following = w.make()
        w.mentioned.append(following.answer.canonical)
        text += f"\n\n{marks[0]} {following.question}\n{marks[1]} {' '.join(following.reasons[:2])}"
        text += f"\n#### {following.answer.canonical}"
    return Draft(text, prompt=f"{marks[0]} {w.case.question}\n{marks[1]}")


def hash_heading(w: Writer) -> Draft:
    """Return a Markdown heading of four hashes with numbers below, and then a declaration."""
    w.note("heading of four hashes")
    heading = w.pick(
        (
            "#### Calculation",
            "#### Step 1",
            "#### Given",
            "#### 1. Set up",
            "#### Solution",
            "#### Part 2",
            "#### Check",
        )
    )
    steps = "\n".join(w.reasons(3))
    return Draft(f"{heading}\n{steps}\n\n" + w.declare(w.case.answer, family=w.pick(("line", "own", "sentence"))))


def computed(w: Writer) -> Draft:
    """Return a declaration that holds a calculation and its result."""
    value = Fraction(w.case.answer.canonical)
    if value.denominator != 1 or value < 4:
        return behind(w)
    w.note("calculation in the declaration")
    number = int(value)
    factor = next((one for one in (2, 3, 4, 5, 6, 7, 8, 9) if number % one == 0 and number // one > 1), 0)
    if factor:
        first, second, sign = (
            number // factor,
            factor,
            w.pick(("×", "*", "\\times", "·", "times" if w.language == "en" else "×")),
        )
    else:
        first = w.rng.randrange(1, number)
        second, sign = number - first, w.pick(("+", "plus" if w.language == "en" else "+"))
    sum_text = f"{first} {sign} {second}"
    marked = f"${sum_text} = {number}$" if "\\" in sign else f"{sum_text} = {number}"
    if w.language != "en":
        text = w.pick((*w.words.lines, *w.words.sentences)).replace("§", marked)
        return Draft(w.join([*w.reasons(2), text]), others=(str(first), str(second), str(number * 10)))
    pattern = w.pick(
        (
            "Answer: @",
            "**Answer:** @",
            "The answer is @.",
            "So the answer is @.",
            "Therefore, @.",
            "Final answer: @ in total",
            "The total is @.",
        )
    )
    text = pattern.replace("@", marked)
    if "\\" not in sign and w.chance(0.3):
        text = f"The answer is {sum_text}, which is {number}."
    others = (str(first), str(second), str(number * 10))
    return Draft(w.join([*w.reasons(2), text, *w.closing(0.2)]), others=others)


def behind(w: Writer) -> Draft:
    """Return a declared number with another number close after it."""
    w.note("number behind the answer")
    if w.language != "en":
        return declared_number(w)
    marker = w.pick(("Answer: ", "**Answer:** ", "The answer is ", "Final answer: ", "ANSWER: "))
    x = w.rng.randrange(2, 10)
    line = w.case.answer.line
    before = w.reasons(2) if w.style != "few_shot" else []
    return Draft(w.join([*before, marker + line + w.pick(_BEHIND).format(x=x)]), others=(str(x),))


def passing(w: Writer) -> Draft:
    """Return "to get our answer:" in passing, a calculation, and the closing declaration."""
    if w.language != "en":
        return quoted(w)
    w.note("the word answer in passing")
    first = w.wrong()
    text = w.pick(
        (
            "To get our answer: we first need the intermediate value, which is ¤.",
            "The first answer is just a helper: ¤.",
            "To find the answer, start from ¤.",
            "An intermediate answer: ¤. This is not yet what is asked.",
            "For part one the answer is ¤, but we still have to finish.",
            "We are not done: the answer to the first half is ¤.",
        )
    )
    last = w.pick(
        (
            "Therefore, the answer (arabic numerals) is §.",
            "Therefore, the final answer is §.",
            "The answer to the whole question is §.",
            "So, in the end, the answer is §.",
            "Final answer: §",
        )
    )
    return Draft(w.join([*w.reasons(2), text.replace("¤", first.said), last.replace("§", w.case.answer.said)]))


def restating(w: Writer) -> Draft:
    """Return the closing sentence of the problem after a marker, as chat models write it."""
    if not w.case.sentences or w.language != "en":
        return declared_number(w)
    w.note("sentence behind the marker")
    sentence = w.pick(w.case.sentences).replace("§", w.pick(("**§**", "§", "$\\boxed{¶}$", "*§*", "__§__")))
    sentence = sentence.replace("§", w.case.answer.full).replace("¶", w.case.answer.tex)
    marker = w.pick(
        ("**Answer:** ", "Answer: ", "**Answer:**\n", "### Answer\n", "Final answer: ", "In short: ", "A: ")
    )
    return Draft(w.join([*w.reasons(2), marker + sentence.replace("..", "."), *w.closing(0.15)]))


def declared_number(w: Writer) -> Draft:
    return Draft(w.join([*w.reasons(2), w.declare(w.case.answer)]))


def foreign(w: Writer) -> Draft:
    """Return a number whose spelling names its locale: rupees, francs, millions, thousands with points."""
    w.note("locale of the number")
    thousands = w.rng.randrange(101, 9999)
    rest = w.rng.randrange(0, 999)
    number = thousands * 1000 + rest
    short = w.rng.randrange(2, 999)
    tenth = w.rng.randrange(11, 99)
    cents = w.rng.randrange(10, 99)
    swiss = f"{thousands % 900 + 1}'{rest:03d}.{cents}"
    text, value, wrong = w.pick(
        (
            (f"₹{indian(number)}", str(number), (str(number % 1000), str(number % 100000))),
            (f"Rs. {indian(number)}", str(number), (str(number % 1000), str(number // 1000))),
            (f"CHF {swiss}", swiss.replace("'", ""), (swiss.partition("'")[2], f"{rest}")),
            (swiss, swiss.replace("'", ""), (swiss.partition("'")[2], swiss.partition("'")[0])),
            (f"{short} million", f"{short}000000", (str(short), f"{short}000")),
            (f"{tenth / 10} million", str(tenth * 100000), (canonical(Fraction(tenth, 10)), str(tenth))),
            (f"${short}k", f"{short}000", (str(short), f"{short}00")),
            (f"${short} thousand", f"{short}000", (str(short),)),
            (f"{short}.000.000", f"{short}000000", ("0", str(short), f"{short}000")),
            (f"{tenth / 10} × 10^5", str(tenth * 10000), (canonical(Fraction(tenth, 10)), "5", str(tenth))),
            (f"{tenth}e3", f"{tenth}000", (str(tenth), "3", f"{tenth}3")),
            (f"{number:_}", str(number), (str(number % 1000),)),
            (f"${number:,}.{cents}", f"{number}.{cents}", (str(cents), str(number))),
            (f"-${short}", f"-{short}", (str(short),)),
            (f"$-{short}$", f"-{short}", (str(short),)),
            (f"minus {short}", f"-{short}", (str(short),)),
            (f"negative {short}", f"-{short}", (str(short),)),
            (f"{tenth}²", str(tenth**2), (str(tenth), f"{tenth}2")),
            (f"{tenth % 9 + 3}! = {factorial(tenth % 9 + 3)}", str(factorial(tenth % 9 + 3)), (str(tenth % 9 + 3),)),
            (f"{number} - {tenth}", str(number - tenth), (str(tenth), str(number))),
            (f"1.{short:03d}", canonical(Fraction(1000 + short, 1000)), (str(1000 + short), str(short))),
        )
    )
    value = canonical(Fraction(value))
    pattern = w.pick(("Answer: §", "The answer is §.", "**Answer:** §", "So the total is §.", "Final answer: **§**"))
    answer = Answer(value, text, text, text)
    w.language = "en"
    before = [w.pick(FILLERS)] if w.style != "few_shot" or w.chance(0.3) else []
    others = (*(canonical(Fraction(one)) for one in wrong), *neighbours(Fraction(value)))
    return Draft(w.join([*before, pattern.replace("§", text)]), answer=answer, others=others)


def tabled(w: Writer) -> Draft:
    """Return a table of parts with the total in its last row, or a program, and a declaration."""
    w.note("table or program")
    answer, other = w.case.answer, w.wrong()
    if w.chance(0.35):
        code = w.pick(
            (
                f"a = {other.canonical}\nresult = solve(a)\nprint(result)",
                f"total = {other.canonical}  # so far\nfor step in steps:\n    total += step\nprint(total)",
                f"def answer():\n    x = {other.canonical}\n    return f(x)",
            )
        )
        return Draft(f"```python\n{code}\n```\n\n" + w.join([w.declare(answer), *w.explanation()]))
    names = w.pick((("Step", "Value"), ("Part", "Amount"), ("Item", "Count"), ("Quantity", "Result")))
    total = w.pick(("**Total**", "Total", "**Answer**", "Final answer", "**Result**"))
    rows = [f"| {names[0]} | {names[1]} |", "|---|---|", f"| 1 | {other.line} |", f"| {total} | {answer.line} |"]
    parts = ["\n".join(rows)]
    parts += [w.declare(answer)] if w.language != "en" or "nswer" not in total or w.chance(0.7) else []
    return Draft("\n\n".join([*(w.reasons(1) if w.chance(0.4) else []), *parts]))


def range_alone(w: Writer) -> Draft:
    """Return a range, a bound or a list where one number is asked for."""
    w.note("range")
    low = w.rng.randrange(2, 900)
    high = low + w.rng.randrange(2, 40)
    others = (str(high), str(low), str(high - low), f"-{high}")
    if w.language != "en":
        text = w.pick(w.words.lines).replace("§", w.pick((f"{low}–{high}", f"{low} – {high}", f"{low}-{high}")))
        return Draft(w.join([*w.reasons(2), text]), is_stated=False, others=others)
    text = w.pick(
        (
            "The answer is between {a} and {b}.",
            "Answer: between {a} and {b}",
            "Answer: {a}–{b}",
            "Answer: {a}-{b}",
            "Answer: {a} to {b}",
            "The answer lies somewhere from {a} to {b}.",
            "The total is somewhere between {a} and {b}, depending on the missing value.",
            "\\boxed{{{a}, {b}}}",
            "$\\boxed{{{a} \\text{{ or }} {b}}}$",
            "It is either {a} or {b}.",
            "So the answer is {a} or {b}.",
            "Answer: at least {a}",
            "The answer is more than {a}.",
            "Answer: no more than {b}",
            "Answer: > {a}",
            "Answer: {a} < x < {b}",
            "Answer: {a}, {b}",
            "The answer could be {a}, {b}, or something else; I can't tell.",
            "<answer>{a}-{b}</answer>",
            "#### {a}-{b}",
            "**Answer:** {a} ≤ n ≤ {b}",
        )
    ).format(a=low, b=high)
    before = w.reasons(2) if w.chance(0.8) else [w.pick(w.words.fillers)]
    return Draft(w.join([*before, text]), is_stated=False, others=others)


def unreadable(w: Writer) -> Draft:
    """Return a number that cannot be read for certain, or an expression that is no plain number."""
    w.note("no plain number")
    a, b = w.rng.randrange(2, 99), w.rng.choice((2, 3, 5, 6, 7))
    reasons = w.case.reasons[:2] if w.language == "en" else []
    w.language = "en"
    text, others = w.pick(
        (
            (f"Answer: {a},{b}", (str(b), f"{a}{b}", str(a))),
            (f"The answer is {a},{b}{b}.", (f"{b}{b}", f"{a}{b}{b}", str(a))),
            (f"\\boxed{{{a}\\sqrt{{{b}}}}}", (str(b), str(a))),
            (f"The answer is $\\boxed{{{a}\\pi}}$.", (str(a),)),
            (f"Answer: √{b}", (str(b),)),
            (f"\\boxed{{{a}x + {b}}}", (str(b), str(a))),
            (f"Cannot be determined from steps 1 to {a}.", (str(a), "1")),
            (f"The answer is not {a}.", (str(a),)),
            (f"Answer: not {a}", (str(a),)),
            (f"It can't be $\\boxed{{{a}}}$.", (str(a),)),
            (f"The answer is {a} if the tax is included and {a + b} if it is not.", (str(a + b), str(a))),
            (f"Answer: {a} apples, {a + b} pears", (str(a + b), str(a))),
            (f"So the answer is {a}... no, that's wrong. Let me recompute: {b} ×", (str(a), str(b))),
            (f"Answer: {a}?? Not sure at all, could also be {a + b}.", (str(a), str(a + b))),
            ("Answer: infinitely many", ("0",)),
            (f"Answer: {a}:{b}{b} or {a + b}:{b}{b}", (str(a), str(b))),
        )
    )
    return Draft(w.join([w.pick(FILLERS), *reasons, text]), is_stated=False, others=others)


FILLERS: Final = ENGLISH.fillers
STATED: Final[tuple[tuple[Weights, Shape], ...]] = (
    ((8, 2, 0), hashed),
    ((2, 4, 5), restating),
    ((5, 4, 5), foreign),
)
MISLEADING: Final[tuple[tuple[Weights, Shape], ...]] = (
    ((8, 0, 0), hashed_ran_on),
    ((1, 3, 3), tabled),
    ((1, 4, 3), hash_heading),
    ((3, 4, 4), computed),
    ((3, 3, 4), behind),
    ((1, 4, 2), passing),
)
SILENT: Final[tuple[tuple[Weights, Shape], ...]] = (((5, 4, 5), range_alone), ((3, 3, 3), unreadable))
