"""Forms of the kind "letter": the label of an option, with and without its text."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.answer_forms.informed.drafts import Answer, Case, Draft, Weighted, Writer
from tests.answer_forms.informed.questions import CHOICES, NEUTRAL_CHOICES
from tests.answer_forms.informed.shapes import Shape, Weights, answered_first
from tests.answer_forms.informed.silent import refused

_LETTERS: Final = "ABCDEFGHIJ"
_BARE: Final = Weighted(
    [
        (60, "@"),
        (26, "(@)"),
        (2, "[@]"),
        (1, "{@}"),
        (1, "Ｆ"),
        (2, "(b)"),
        (1, "（@）"),
        (2, "$@$"),
        (1, "\\(@\\)"),
        (1, "\\text{@}"),
    ]
)
_WITH_TEXT: Final = (
    "@. ¶",
    "@) ¶",
    "(@) ¶",
    "@: ¶",
    "@ (¶)",
    "(@): ¶",
    "@ – ¶",
    "@ — ¶",
    "@, ¶",
    "(@) “¶”",
    "@ - ¶",
    "**@**. ¶",
    "[@] ¶",
)
_BOXED: Final = (
    "@",
    "@",
    "@",
    "\\text{@}",
    "\\text{(@)}",
    "(@)",
    "\\mathrm{@}",
    "\\mathbf{@}",
    "\\textbf{@}",
    "\\textbf{(@) }",
    "\\text{@. ¶}",
    "\\text{@) ¶}",
    "\\text{Option @}",
)
_OPTION: Final = {"en": ("option @", "option (@)", "choice @", "letter @"), "de": ("Option @",), "fr": ("option @",)}
_TAILS: Final = (
    ", I think.",
    ", I believe.",
    ", I'd say.",
    ", U.S. law applies",
    "; E. coli is a bacterium",
    "; C. elegans is only a model organism here.",
    ". A closer look at the wording confirms this.",
    ". DNA is not involved.",
    " — A common distractor is the first one.",
    " – A careful reader will notice the word “only”.",
    ", B vitamins notwithstanding",
    ", D-Day being the clue",
    ". I am sure.",
    ", as A. Smith showed",
    " (I am fairly sure)",
    "; I could explain more if needed.",
    ", ¤ being too general",
    ". E.g., the first paragraph says so.",
    " since C++ is compiled",
    ", Dr. B. Jones notwithstanding",
    ".\nI think that is clear.",
    "!",
    " I guess",
    " because I checked it.",
    ". C'est tout.",
    ", Hepatitis A excluded.",
)
_OTHER_MEANINGS: Final = (
    "The current is 2 A.",
    "The temperature stays at 37 °C.",
    "A closer look helps.",
    "I think it helps to rephrase the question.",
    "Vitamin D plays no role here.",
    "E. coli is often used as an example in this context.",
    "Let event A be the first one and event B the second one.",
    "Call the two points A and B.",
    "A quick sketch makes this clearer.",
    "This is a Type B situation, as textbooks call it.",
    "U.S. sources describe it in the same way.",
    "I recall that this is covered in Chapter C of the appendix.",
    "Consider a force F acting on the body.",
    "In the graph, edge B leads to node D.",
    "Grade A material is not needed for this.",
)
_SUBPARTS: Final = (
    "(a) The power is {x} W.\n(b) The current is {y} A.",
    "(a) First we find the mass: {x} g.\n(b) Then we find the volume: {y} mL.\n(c) Then we compare both.",
    "a) The length is {x} cm.\nb) The width is {y} cm.",
    "(A) denotes the first sample ({x} items) and (B) the second ({y} items).",
)
_FITS: Final = (
    "“¶” matches the description in the question.",
    "It is the only option that fits all the given information.",
    "The wording of the question points to ¶.",
    "The other options contradict the question.",
    "None of the other options fits.",
    "This is the standard textbook result.",
)
_BAD: Final = (
    "Option @ (¶) does not fit.",
    "Option @ is wrong, since ¶ contradicts the question.",
    "(@) ¶ is not what is asked.",
    "@ is incorrect.",
    "@) ¶ – this does not match the description.",
    "We can rule out @.",
)


def _answer(rng: Random, letter: str, text: str, language: str) -> Answer:
    pattern = _BARE.draw(rng)
    bare = chr(ord(letter) + 0xFEE0) if pattern == "Ｆ" else pattern.replace("@", letter)
    if pattern == "(b)":
        bare = f"({letter.lower()})"
    with_text = _WITH_TEXT[int(rng.random() * len(_WITH_TEXT))].replace("@", letter).replace("¶", text)
    draw = rng.random()
    said = bare if draw < 0.6 else with_text
    line = bare if draw > 0.55 and rng.random() < 0.5 else with_text
    notes = ["small letter"] if pattern == "(b)" and bare in {said, line} else []
    notes += ["option restated"] if with_text in {said, line} else []
    if pattern in {"Ｆ", "（@）"}:
        notes.append("full-width")
    option = _OPTION.get(language)
    if option and rng.random() < 0.08:
        said = option[int(rng.random() * len(option))].replace("@", letter)
    escaped = text.replace("%", "\\%").replace("$", "\\$").replace("#", "\\#").replace("_", "\\_")
    tex = _BOXED[int(rng.random() * len(_BOXED))].replace("@", letter).replace("¶", escaped).replace(") }", ")}")
    return Answer(letter, said, line, tex, bare, letter if rng.random() < 0.7 else with_text, tuple(notes))


def make(rng: Random, language: str) -> Case:
    """Return a question with options, one of which is the answer."""
    bank = CHOICES if language == "en" else NEUTRAL_CHOICES[language]
    question, texts = bank[int(rng.random() * len(bank))]
    options = list(texts)
    rng.shuffle(options)
    places = list(range(len(options)))
    rng.shuffle(places)
    right, *rest = places
    answer = _answer(rng, _LETTERS[right], options[right], language)
    listed = "\n".join(f"{_LETTERS[place]}. {text}" for place, text in enumerate(options))
    wrong = [_answer(rng, _LETTERS[place], options[place], language) for place in rest]
    reasons: list[str] = []
    denials: list[str] = []
    if language == "en":
        denials = [_BAD[int(rng.random() * len(_BAD))].replace("@", _LETTERS[place]) for place in rest[:2]]
        denials = [text.replace("¶", options[place]) for text, place in zip(denials, rest[:2], strict=True)]
        others = rng.sample(_OTHER_MEANINGS, 2)
        reasons = [*others, *(denials if len(options) > 3 else [])]
        if rng.random() < 0.15:
            part = _SUBPARTS[int(rng.random() * len(_SUBPARTS))]
            reasons.insert(0, part.format(x=rng.randrange(2, 90), y=rng.randrange(2, 90)))
        if rng.random() < 0.12:
            reasons.insert(0, "The options are:\n" + listed)
        rng.shuffle(reasons)
    elif rng.random() < 0.15:
        reasons = [listed]
    explanations = [text.replace("¶", options[right]) for text in _FITS] if language == "en" else []
    neighbours = [letter for letter in _LETTERS if letter != _LETTERS[right]][: max(3, len(options) - 1)]
    return Case(
        answer,
        wrong,
        f"{question}\n{listed}",
        reasons,
        explanations,
        neighbours=neighbours,
        options=tuple(options),
        neutral=[text for text in reasons if text not in denials],
        is_binary=len(options) < 4,
    )


def _label(answer: Answer) -> str:
    return answer.canonical


def tailed(w: Writer) -> Draft:
    """Return a declared letter with a capital, a name or a remark close after it."""
    w.note("capital behind the letter")
    marker = w.pick(("Answer: ", "**Answer:** ", "ANSWER: ", "The answer is ", "Final answer: ", "Answer: **", "A: "))
    letter = _label(w.case.answer)
    shown = letter + "**" if marker.endswith("**") and not marker.endswith(":** ") else w.pick((letter, f"({letter})"))
    before = w.reasons(2) if w.style != "few_shot" else []
    return Draft(w.join([*before, marker + shown + w.pick(_TAILS).replace("¤", w.wrong().canonical)]))


def eliminated(w: Writer) -> Draft:
    """Return a verdict on each wrong option and what is left."""
    w.note("elimination")
    verdicts = []
    for other in w.case.wrong:
        w.mentioned.append(other.canonical)
        text = w.case.options[_LETTERS.index(other.canonical)]
        verdicts.append(w.pick(_BAD).replace("@", other.canonical).replace("¶", text))
    verdicts.sort()
    last = w.pick(("That leaves §.", "So only § remains.", "The answer is §.", "Therefore § is correct.", "Answer: §"))
    return Draft(w.pick(("\n", " ", "\n\n")).join([*verdicts, last.replace("§", w.case.answer.short)]))


def table(w: Writer) -> Draft:
    """Return a table or list of all options with verdicts, perhaps with a declaration."""
    w.note("table of options")
    right, wrong, header = w.pick(
        (
            ("✅ Correct", "❌ Incorrect", "Verdict"),
            ("yes", "no", "Fits?"),
            ("✓", "✗", "OK"),
            ("correct", "wrong", "Assessment"),
            ("True", "False", "Correct?"),
        )
    )
    if w.language != "en":
        right, wrong, header = "✓", "✗", "✓/✗"
    rows = []
    stated = _label(w.case.answer)
    as_list = w.chance(0.4)
    for letter, text in zip(_LETTERS, w.case.options, strict=False):
        verdict = right if letter == stated else wrong
        w.mentioned.extend([letter] if letter != stated else [])
        rows.append(f"- {letter}. {text}: {verdict}" if as_list else f"| {letter} | {text} | {verdict} |")
    head = [] if as_list else [f"| Option | Text | {header} |", "|---|---|---|"]
    parts = ["\n".join(head + rows)]
    parts += [w.declare(w.case.answer, family=w.pick(("sentence", "line", "own", "box")))] if w.chance(0.85) else []
    if w.chance(0.2) and len(parts) > 1:
        parts.reverse()
    return Draft("\n\n".join(parts))


def rhetorical(w: Writer) -> Draft:
    """Return a wrong letter that seems to be affirmed, and the right one."""
    w.note("affirmed and denied")
    text = w.pick(
        (
            "¤ is the right choice? No. § is.",
            "The closest is ¤, but it is incorrect. The correct choice is §.",
            "¤ would be correct if the question had said “not”. It did not, so the answer is §.",
            "Is ¤ correct? It is not. § is correct.",
            "Choose ¤ only if you ignore the second sentence; otherwise choose §, and we must not ignore it. So: §.",
            "I was going to say ¤. The answer is §.",
            "Not ¤. §.",
            "§, not ¤.",
            "Between ¤ and §, the better choice is §.",
            "It is either ¤ or §, and since ¤ contradicts the question, it is §.",
            "¤ is wrong, § is right.",
            "¤ is wrong. § is right.",
            "¤ and § both look plausible, but only § is correct.",
            "The answer is §; ¤ is wrong.",
            "**§** (and not ¤)",
        )
    )
    text = text.replace("¤", w.wrong().short).replace("§", w.case.answer.short)
    return Draft(w.join([*w.reasons(2), text] if w.chance(0.7) else [text, *w.explanation()]))


def restated(w: Writer) -> Draft:
    """Return the options again, before or after the answer."""
    w.note("options listed")
    mark = w.pick(("{}. {}", "{}) {}", "({}) {}", "**{}.** {}", "{}: {}", "- {}. {}"))
    listed = "\n".join(mark.format(*pair) for pair in zip(_LETTERS, w.case.options, strict=False))
    w.mentioned.extend(answer.canonical for answer in w.case.wrong)
    declaration = w.declare(w.case.answer)
    question = w.case.question.partition("\n")[0]
    if w.chance(0.6):
        return Draft(w.pick((f"{question}\n", "", "Options:\n")) + listed + "\n\n" + declaration)
    return Draft(declaration + "\n\n" + w.pick(("", "For reference, the options were:\n", "Options:\n")) + listed)


def reviewed(w: Writer) -> Draft:
    """Return the answer first and then a remark on each option, the wrong ones included."""
    if w.language != "en":
        return answered_first(w)
    w.note("options discussed after")
    mark = w.pick(("- **{}.** {}: ", "{}: {} – ", "- {}) {} – ", "{}. {}: ", "* Option {} ({}): ", "**{}) {}** – "))
    stated = _label(w.case.answer)
    remarks = []
    for letter, text in zip(_LETTERS, w.case.options, strict=False):
        good = w.pick(("this is the correct answer.", "correct.", "fits the description.", "this is what is asked."))
        bad = w.pick(("incorrect.", "this does not fit.", "a common distractor.", "not what is asked.", "wrong."))
        if letter != stated:
            w.mentioned.append(letter)
        remarks.append((letter == stated, mark.format(letter, text) + (good if letter == stated else bad)))
    head = w.pick(("", "### Explanation\n", "Here is why:\n", "Why the other options are wrong:\n", "**Analysis:**\n"))
    lines = [line for is_right, line in remarks if not (is_right and "other" in head)]
    return Draft(w.declare(w.case.answer) + "\n\n" + head + "\n".join(lines))


def by_text(w: Writer) -> Draft:
    """Return the text of an option without its letter."""
    w.note("text of the option")
    text = w.case.options[_LETTERS.index(_label(w.case.answer))]
    template = w.pick((*w.words.sentences[:8], *w.words.lines[:3]))
    before = w.reasons(1) if w.language != "en" else [w.pick(w.words.fillers)]
    return Draft(w.join([*before, template.replace("§", text).replace("..", ".")]))


def two_letters(w: Writer) -> Draft:
    """Return two letters as the answer to a question that has one."""
    w.note("two letters")
    if w.language != "en":
        first, second = sorted((_label(w.case.answer), w.wrong().canonical))
        both = w.pick(("§, ¤", "§/¤", "(§), (¤)", "§ + ¤", "§ & ¤")).replace("§", first).replace("¤", second)
        line = w.pick((*w.words.lines, "\\boxed{§}", "<answer>§</answer>")).replace("§", both)
        return Draft(w.join([*w.reasons(1), line]), is_stated=False)
    pattern = w.pick(
        (
            "Answer: § and ¤",
            "Answer: §, ¤",
            "The answer is § and ¤.",
            "\\boxed{§, ¤}",
            "$\\boxed{\\text{§ and ¤}}$",
            "Both § and ¤ are correct.",
            "§/¤",
            "Answer: §¤",
            "<answer>§, ¤</answer>",
            "The correct options are § and ¤.",
            "(§) or (¤)",
            "(§) and (¤)",
            "So the answer is (§) or (¤).",
            "**Answer:** § & ¤",
            "Answer: Either § or ¤, since both fit.",
        )
    )
    first, second = sorted((_label(w.case.answer), w.wrong().canonical))
    before = w.reasons(2) if w.chance(0.8) else [w.pick(w.words.fillers)]
    return Draft(w.join([*before, pattern.replace("§", first).replace("¤", second)]), is_stated=False)


def worded(w: Writer) -> Draft:
    """Return a declaration whose words begin with capitals that are no letters of options."""
    if w.language != "en":
        return refused(w)
    w.note("word behind the marker")
    text = w.pick(
        (
            "Answer: Although there are hints, I can't choose.",
            "Answer: Because the passage is missing, no option can be selected.",
            "Answer: Cannot be determined",
            "Answer: Don't know",
            "Answer: A definite choice is not possible here.",
            "Answer: I can't say.",
            "Answer: Both readings are possible, so I leave it open.",
            "Answer: None of the above options is correct.",
            "The answer is a matter of taste.",
            "The answer: Difficult to say.",
            "Answer: D'accord, but I have no answer.",
            "Answer: C++ is not mentioned in any option, so I can't choose.",
            "The closest is §, but it is incorrect.",
            "A good question! I don't know.",
            "None of the options is correct.",
            "Option § is incorrect, and I can't decide among the others.",
            "The options are A, B and C, or maybe more; I have no answer.",
            'Please end with "Answer: X", where X is one of the letters.',
        )
    )
    text = text.replace("§", w.wrong().short)
    return Draft(w.join([*w.reasons(2), text]), is_stated=False)


def options_alone(w: Writer) -> Draft:
    """Return the options again and nothing else."""
    w.note("options alone")
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip(_LETTERS, w.case.options, strict=False))
    return Draft(w.join([w.pick(w.words.fillers), listed]) if w.chance(0.7) else w.case.question, is_stated=False)


STATED: Final[tuple[tuple[Weights, Shape], ...]] = (
    ((1, 1, 2), by_text),
    ((1, 3, 3), table),
    ((1, 3, 3), restated),
    ((1, 2, 5), reviewed),
)
MISLEADING: Final[tuple[tuple[Weights, Shape], ...]] = (
    ((5, 4, 5), tailed),
    ((1, 4, 2), eliminated),
    ((3, 4, 4), rhetorical),
)
SILENT: Final[tuple[tuple[Weights, Shape], ...]] = (
    ((4, 3, 2), two_letters),
    ((2, 2, 2), worded),
    ((1, 1, 1), options_alone),
)
