"""The yes or no that a response decides for, in ten languages, with true and false of a statement.

A decision is declared (see `nel.scoring.reading.declarations`), concluded in a sentence ("so yes"), or opens or ends
the response. "No doubt" and "there is no evidence" say nothing, "not true" says no, "yes if x > 0" and "some say yes"
are no decision. Depends on `nel.scoring.reading.decision_words` for the words, which are looked for sentence by
sentence, from the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import decision_words as words
from nel.scoring.reading import status
from nel.scoring.reading.declarations import Declaration, declarations
from nel.scoring.reading.plain_endings import plain_decision
from nel.scoring.reading.prepare import prepared
from nel.scoring.reading.result import Reading
from nel.scoring.reading.run_on import before_next_question

OPEN: Final = "open"
"""Both, or neither: a sentence that says yes and no."""
UNABLE: Final = "unable"
_HEAD_CHARACTERS: Final = 2_000
_TAIL_CHARACTERS: Final = 8_000
"""What is looked at of a long response, beside its declarations."""
_DECLARATIONS_MAX: Final = 40
_HEDGE_WORDS_MAX: Final = 2
"""Words before a comma that can be a hedge as a whole: "perhaps, yes"."""
_FORMULA_MAX: Final = 400
_VALUES_MAX: Final = 24
"""Words for yes and no in one sentence that are looked at."""
_CLOSERS: Final = " \t\r\n\"'”’»)]*_`』」）"
_OPENERS: Final = " \t\r\n*_\"'“‘«「`$()[{\\#✅✓✔☑👉🎯….-—–→"
"""What may stand before a word that opens its sentence, or a part of it."""
_WRAPPERS: Final = " \t\n*_\"'“‘«「`$([{#>"
_LETTER: Final = lazy_pattern(r"[\s*_\"'(]*([yntf])[\s*_\"').!]*")
_FONT: Final = lazy_pattern(r"\\(?:text(?:tt|sf|rm|it|bf)|math(?:tt|sf|rm|it|bf)|operatorname|mbox)\s?\{")
_LOGIC: Final = lazy_pattern(
    r"(?:[\s()=→⇒∴>*_`$.|&{}\\-]|(?<![^\W_])(?:true|false|not|and|or|xor|z|text|land|lor|neg|boxed|to|rightarrow)(?![^\W_])"
    r"|\A[a-y](?=\s?=))+"
)
"""A line of nothing but values of truth, their operators and equals signs; only Z, or a whole response, has a name."""
_LOGIC_RESULT: Final = lazy_pattern(
    r".*(?:[=→⇒∴]|->|\\(?:to|rightarrow)\b)[\s(*_`$\\{]*(?:text\{|boxed\{)*(?P<value>true|false)[\s)*_`$.}\\]*",
    re.DOTALL,
)
_BOUNDARY: Final = lazy_pattern(
    r"[.!?…。！？؟\n](?:(?<=[.!?…])[.!?…]*+[\"”’»)\]*_`]*(?=\s|\Z)|(?<=[。！？؟])[。！？؟]*+[”」』）)*_`]*|(?<=\n)\s*)"
)
_CONTRAST: Final = lazy_pattern(
    r"[;→]|(?<=[a-z*\"”)])\s[—–]\s|\b(?:but|so|therefore|however|hence|thus|yet|instead|sondern|also|daher|aber|mais"
    r"|donc|sino|pero|bensì|quindi|portanto|но|значит)\b|而是|所以|因此|但|(?<!\w)(?:بل|لكن)(?!\w)",
)
_CONCLUSION: Final = lazy_pattern(r",\s*(?:so|therefore|hence|thus)\b")
"""Ends what a condition before it holds for: "I would be surprised if it weren't, so yes"."""
_OFFERED: Final = lazy_pattern(r"\b(?:between|out\s+of|choice\s+of|choose\s+from|options\s+are)[\s*_\"'“]*\Z")
_OVERRIDES: Final = lazy_pattern(
    r"→|\b(?:but|so|therefore|however|hence|thus|yet|actually|rather|i\s+meant?|aber|sondern|mais|pero|sino|ma|bensì|mas"
    r"|но|а)\b|而是|但|بل|لكن",
)
"""Between two different words for yes and no: the later one is what the sentence comes to."""
_SUBJECT: Final = lazy_pattern(
    r"\b(?:it|this|that|statement|claim|assertion|proposition|hypothesis|sentence|answer|aussage|affirmation"
    r"|afirmación|affermazione|afirmação|утверждение|العبارة)\b",
)
_CLAIM_REFUTED: Final = lazy_pattern(
    r"[\s*_\"'”’]*(?:is|are|was|has\s+been)\s+(?:mistaken|wrong|incorrect|not\b|refuted|a\s+(?:myth|mistake"
    r"|misconception))",
)
_OPPOSITE: Final = lazy_pattern(r"\b(?:opposite|contrary|reverse|converse|contrapositive)\s+(?:is|was)\b")
_CLAIM: Final = lazy_pattern(r"\b(?:claim|idea|notion|belief|assertion|view|statement)\s+that\b")


_CONCLUDED: Final = 3
_PLAIN: Final = 2
_MENTIONED: Final = 1
_OTHER: Final = {"yes": "no", "no": "yes"}


class _Value(NamedTuple):
    """A word for yes or no, as it is written."""

    value: str
    kind: words.Kind
    start: int
    end: int


class _Said(NamedTuple):
    """What a sentence says."""

    value: str | None
    start: int
    end: int
    weight: int
    """`_CONCLUDED`, `_PLAIN` for a word that opens a part of its sentence and for a statement, or `_MENTIONED`."""
    kind: words.Kind = "word"


class _Sentence(NamedTuple):
    start: int
    end: int


def read_decision(text: str) -> Reading:
    """Return how the yes or no of a response was read.

    In this order: the last declaration that counts, or what a sentence after it concludes; a conclusion ("so yes");
    the word that opens or ends the response, unless these differ; what all mentions agree on. What a later sentence
    takes back does not count.

    >>> read_decision("Is it true? No.").value, read_decision("The answer is yes if x > 0, and no otherwise.").value
    ('no', None)
    """
    text = before_next_question(text, in_words=True)
    return plain_decision(text) or read_any_decision(text)


def read_any_decision(text: str) -> Reading:
    """Read the yes or no of a response that does not end plainly; `read_decision` has the rule."""
    reading, plain = Reading(), _lowered(prepared(text))
    letter = _LETTER.fullmatch(plain)
    if letter:
        return reading.take("yes" if letter[1] in "yt" else "no", letter.start(1), letter.end(1), "a letter alone")
    plain = _FONT.sub(lambda font: "\\text{".rjust(len(font[0])), plain) if "\\" in plain else plain
    declared = _declared(plain, reading)
    if declared is None or declared[0].value is None:
        place = _evaluated(plain)
        if place is not None:
            return reading.take(words.VALUES[plain[slice(*place)]][0], *place, "the result of a formula")
    if declared is not None and declared[0].value is None:
        return reading
    said, end, rule = declared or (None, 0, "")
    behind = _behind(plain, end, reading)
    if behind.taken_back:
        if said:
            reading.reject(said.start, said.end, status.TAKEN_BACK)
        said = None
    concluded = next((one for one in behind.said if one.weight == _CONCLUDED), None)
    if concluded is not None and (concluded.value is not None or said is None):
        return reading.take(concluded.value, concluded.start, concluded.end, "concluded in a sentence")
    if said is not None:
        return reading.take(said.value, said.start, said.end, rule)
    return _plainest(behind.said, reading)


def _evaluated(text: str) -> tuple[int, int] | None:
    """Return where the value stands that the last line evaluates a formula to: "not True and True = False"; or None."""
    end = len(text.rstrip())
    start = max(text.rfind("\n", 0, end) + 1, end - _FORMULA_MAX)
    if "true" not in text[start:end] and "false" not in text[start:end]:
        return None
    if not _LOGIC.fullmatch(text, start, end):
        return None
    found = _LOGIC_RESULT.fullmatch(text, start, end)
    return None if found is None else found.span("value")


def _plainest(found: list[_Said], reading: Reading) -> Reading:
    """Settle on what the first and the last plain word agree on, else on what all mentions agree on."""
    plain = [one for one in found if one.weight == _PLAIN]
    candidates = [plain[0], plain[-1]] if plain else found
    if not candidates or len({one.value for one in candidates}) != 1:
        for one in candidates:
            reading.reject(one.start, one.end, OPEN)
        return reading
    first = candidates[0]
    return reading.take(first.value, first.start, first.end, "said plainly" if plain else "the only one mentioned")


def _declared(text: str, reading: Reading) -> tuple[_Said, int, str] | None:
    """Return what the last declaration that counts says, and its form; a value of None where it leaves it open."""
    for number, one in enumerate(declarations(text)):
        if number == _DECLARATIONS_MAX:
            return None
        start, stop = _sentence_start(text, one.start), one.stop
        if one.form == "heading" or "\n" in text[one.start : one.end]:
            start = one.end
        elif '"' in text[one.start : one.end]:  # a key of JSON
            start = max(0, text.rfind('"', 0, one.start))
            stop = _json_end(text, one)
        for sentence in _sentences(text, start, stop):
            if sentence.end <= one.end:
                continue
            said = _read(text, sentence, reading, one)
            if said is not None and (said.weight == _CONCLUDED or said.value is None):
                return said, sentence.end, one.form
    return None


def _json_end(text: str, one: Declaration) -> int:
    """Return where the value of a key of JSON ends: after its closing quotation mark, or at the next comma."""
    quoted = '"' in text[one.end - 1 : one.end + 1]
    end = text.find('"' if quoted else ",", one.end + quoted, one.stop)
    return one.stop if end < 0 else end + quoted


def _lowered(text: str) -> str:
    """Return the text in lower case and in the same length; a few letters, such as İ, grow when lowered."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


class _Behind(NamedTuple):
    said: list[_Said]
    """What the sentences say, from the last to the first."""
    taken_back: bool


def _behind(text: str, start: int, reading: Reading) -> _Behind:
    """Return what the sentences after a place say, from the last back to one that takes back what stands before it."""
    found: list[_Said] = []
    spaced = _is_spaced(text, _Sentence(start, len(text)))
    stretches = [(start, len(text))]
    if len(text) - start > _HEAD_CHARACTERS + _TAIL_CHARACTERS:
        stretches = [(start, start + _HEAD_CHARACTERS), (len(text) - _TAIL_CHARACTERS, len(text))]
    for begin, stop in reversed(stretches):
        hits = _hits(text, _Sentence(begin, stop))
        if spaced and not hits:
            continue
        spans = list(_sentences(text, begin, stop))
        for number in range(len(spans) - 1, -1, -1):
            sentence, inside = spans[number], []
            while hits and hits[-1].start() >= sentence.start:
                inside.append(hits.pop())
            if spaced and not inside:
                continue
            inside.reverse()
            may_turn = not spaced or any(hit[0] in words.TURNING for hit in inside)
            if may_turn and _turns(text, sentence, reading, found):
                return _Behind(found, True)
            said = _read(text, sentence, reading, None, inside)
            if said is not None and said.value == "no" and number and _asks_for_a_word(text, spans[number - 1]):
                reading.reject(said.start, said.end, status.ASKED)  # "Is it no? No."
            elif said is not None:
                found.append(said)
            elif may_turn and words.GIVES_UP.search(text, *sentence):
                return _Behind(found, True)
    return _Behind(found, False)


def _turns(text: str, sentence: _Sentence, reading: Reading, found: list[_Said]) -> bool:
    """Return whether a sentence takes back what stands before it, and add what it says instead."""
    back = words.TAKES_BACK.search(text[sentence.start : sentence.end])
    if back is None:
        return False
    said = _read(text, _Sentence(sentence.start + back.end(), sentence.end), reading)
    if said is not None:
        found.append(said)
    return True


def _asks_for_a_word(text: str, sentence: _Sentence) -> bool:
    if not _is_asked(text, sentence):
        return False
    values, _ = _without_offers(text, _values(text, sentence, _hits(text, sentence)))
    return any(value.kind == "word" or value.value == "no" for value in values)


def _is_asked(text: str, sentence: _Sentence) -> bool:
    return text[sentence.start : sentence.end].rstrip(_CLOSERS).endswith(("?", "？", "؟"))


def _sentence_start(text: str, place: int) -> int:
    last = begin = max(0, place - 400, text.rfind("\n", 0, place) + 1)
    for match in _BOUNDARY.finditer(text, begin, place):
        last = match.end()
    return last


def _sentences(text: str, start: int, stop: int) -> Iterator[_Sentence]:
    """Yield the sentences of a stretch of text that are not blank."""
    last = start
    for match in _BOUNDARY.finditer(text, start, stop):
        if match.start() > last:
            yield _Sentence(last, match.end())
        last = match.end()
    if stop > last:
        yield _Sentence(last, stop)


def _values(text: str, sentence: _Sentence, hits: list[re.Match[str]]) -> list[_Value]:
    """Return the words for yes and no of a sentence, also those that are offered and those that belong to a phrase."""
    found = [_Value(*words.VALUES[hit[0]], hit.start(), hit.end()) for hit in hits if hit[0] in words.VALUES]
    if any(hit[0] in words.ASSESSING for hit in hits):
        stated = words.STATEMENT.search(text, *sentence)
        if stated is not None:
            name = "yes" if stated["yes"] else "no"
            found.append(_Value(name, "statement", *stated.span(name)))
    if _is_spaced(text, sentence):
        return found
    for match in words.EAST.finditer(text, *sentence):
        kind: words.Kind = "statement" if match[0][0] in words.STATEMENT_NOUNS else "word"
        found.append(_Value(match.lastgroup or "", kind, match.start(), match.end()))
    return sorted(found, key=lambda value: value.start)


def _is_spaced(text: str, sentence: _Sentence) -> bool:
    """Return whether a stretch of text is in languages that space words, and of a script without further rules."""
    return text.isascii() or words.EAST_LETTER.search(text, *sentence) is None


def _hits(text: str, sentence: _Sentence) -> list[re.Match[str]]:
    return list(words.HIT.finditer(text, *sentence))


def _is_of_its_own(text: str, sentence: _Sentence, value: _Value) -> bool:
    """Return whether a word says yes or no and is not part of a phrase: "no doubt", "a true story"."""
    if value.kind == "truth":
        return words.ENDS_TRUTH.match(text, value.end, sentence.end) is not None
    if value.kind == "statement":
        return True
    word = text[value.start : value.end]
    if word == "no" and words.IDIOM.match(text, value.start, sentence.end):
        return False
    if word == "sim" and words.RATHER.search(text, max(sentence.start, value.start - 8), value.start):
        return False
    return (
        word not in words.PARTICLES
        or words.FOLLOWS_PARTICLE.match(text, value.end, sentence.end) is not None
        or (
            words.CLAUSE_FOLLOWS.match(text, value.end, sentence.end) is not None
            and _is_bare(text[sentence.start : value.start])
        )
    )


def _without_offers(text: str, values: list[_Value]) -> tuple[list[_Value], bool]:
    """Return the values without those that stand together as a choice, "yes or no", and whether there are such."""
    if len(values) == 1:
        return values, False
    offered = {
        place
        for number in range(len(values) - 1)
        if words.OFFERS.fullmatch(text, values[number].end, values[number + 1].start)
        or (
            text[values[number].end : values[number + 1].start].strip(_WRAPPERS + _CLOSERS) == "and"
            and _OFFERED.search(text[max(0, values[number].start - 20) : values[number].start])
        )
        for place in (number, number + 1)
    }
    return [value for number, value in enumerate(values) if number not in offered], bool(offered)


def _read(
    text: str,
    sentence: _Sentence,
    reading: Reading,
    one: Declaration | None = None,
    hits: list[re.Match[str]] | None = None,
) -> _Said | None:
    """Return what a sentence says: a value, a value of None where it says yes and no, or None where it says nothing."""
    values = _values(text, sentence, _hits(text, sentence) if hits is None else hits)[:_VALUES_MAX]
    if not values:
        return None
    values, offered = _without_offers(text, values)
    why = None
    if _is_asked(text, sentence):
        why = status.ASKED
    elif not _is_spaced(text, sentence) and words.EAST_OPEN.search(text, *sentence):
        why = status.SUPPOSED
    said: list[_Said] = []
    in_part = 0
    for value in values:
        if not _is_of_its_own(text, sentence, value):
            continue
        objection = why or _objection(text, sentence, value, one)
        if objection is not None:
            if objection == status.SUPPOSED and not said:
                in_part = value.end
            reading.reject(value.start, value.end, objection)
            continue
        found = _weighed(text, sentence, value, one)
        if found is not None:
            said.append(found)
    if said:
        return _agreed(text, said, in_part=in_part)
    if offered and one is not None and why is None and not words.HEDGE.search(text[sentence.start : one.start]):
        reading.reject(one.end, one.stop, OPEN)
        return _Said(None, one.end, one.stop, _CONCLUDED)
    return None


def _agreed(text: str, said: list[_Said], *, in_part: int) -> _Said | None:
    """Return what the words of a sentence agree on, the last one where it overrides the others, or a value of None."""
    last = said[-1]
    if in_part and len(said) == 1 and last.weight < _CONCLUDED and not _OVERRIDES.search(text, in_part, last.start):
        return None  # "yes for the first part, no for the second"
    if said[0].kind == "word" and said[0].weight > _MENTIONED and all(found.kind == "truth" for found in said[1:]):
        return said[0]  # "yes, although there is no proof that it is false"
    if len({found.value for found in said}) == 1:
        return max(said, key=lambda found: found.weight)
    if last.weight == _CONCLUDED and _OVERRIDES.search(text, said[-2].end, last.start):
        return last
    return _Said(None, said[0].start, last.end, max(found.weight for found in said))


def _objection(text: str, sentence: _Sentence, value: _Value, one: Declaration | None) -> str | None:
    """Return why a yes or no of a sentence is not what the response decides for, or None."""
    before, end, stop = text[sentence.start : value.start], value.end, sentence.end
    back = words.TAKEN_BACK_BEHIND.match(text, end, stop)
    if back is not None and (value.value == "yes" or text[back.end() :].strip()):  # "No ❌" at the end is a no
        return status.TAKEN_BACK
    if words.CONDITION_BEHIND.match(text, end, stop):
        return status.SUPPOSED
    if words.OBJECTS.search(before):
        why = _objection_before(before, _clause(before))
        if why is not None:
            return why
    polite, refuted = words.POLITE.match(text, end, stop), words.REFUTED.match(text, end, stop)
    if polite or refuted:
        opens = not _clause(before).strip(_WRAPPERS + ",")
        if refuted and not opens:
            return status.DENIED
        if polite and opens:
            return status.QUOTED
    if words.ABOUT.match(text, end, stop) and not words.AFFIRMED.match(text, end, stop):
        # "the claim that it is true is mistaken" is about the claim
        return status.DENIED if value.kind == "word" or _is_bare(before) else None
    return status.QUOTED if _is_quoted(text, sentence, value, one) else None


def _clause(before: str) -> str:
    """Return what stands after the last "but", "so" or semicolon."""
    start = 0
    for match in _CONTRAST.finditer(before):
        start = match.end()
    return before[start:]


def _objection_before(before: str, clause: str) -> str | None:
    """Return why what stands before a yes or no, in its sentence and in its clause, keeps it from being a decision."""
    if words.CONDITION.search(_CONCLUSION.split(before)[-1]):
        return status.SUPPOSED
    if words.INABILITY.search(clause):
        return UNABLE
    if words.CONCEDES.match(clause):
        clause = clause.rpartition(",")[2]
    if words.WEIGHED.search(clause):
        return status.SUPPOSED
    if clause.rstrip(_WRAPPERS).endswith(",") and len(clause.split()) > _HEDGE_WORDS_MAX:
        return None  # "contrary to what many people say, yes": the word stands for itself
    if words.REPORTED.search(clause) or words.OTHER_QUESTION.search(clause):
        return status.QUOTED
    return status.SUPPOSED if words.HEDGE.search(clause) else None


def _is_quoted(text: str, sentence: _Sentence, value: _Value, one: Declaration | None) -> bool:
    """Return whether a sentence mentions the declaration of a yes or no in quotation marks, or a longer quotation."""
    start = value.start
    if one is not None and one.start >= sentence.start and '"' not in text[one.start : one.end]:
        start = one.start
    before = text[sentence.start : start].rstrip(_WRAPPERS) if start == value.start else text[sentence.start : start]
    for opening, closing in (("“", "”"), ("«", "»"), ("「", "」")):
        if before.count(opening) > before.count(closing):
            return True
    return before.count('"') % 2 == 1 and before.split('"')[0].strip(_WRAPPERS) != ""


def _is_bare(before: str) -> bool:
    """Return whether a word opens its sentence or stands after a comma, a colon or the end of a cell."""
    stripped = before.rstrip(_OPENERS)
    if stripped.endswith("text"):
        stripped = stripped[:-4].rstrip(_OPENERS)
    return not stripped or stripped[-1] in ",:：，、>|]}" or before.rstrip()[-2:] in {" —", " –", " -"}


def _weighed(text: str, sentence: _Sentence, value: _Value, one: Declaration | None) -> _Said | None:
    """Return what a yes or no says, turned round where it is denied, and how much it weighs."""
    before = text[sentence.start : value.start]
    declared = one is not None and one.end <= value.start <= one.stop
    bare = _is_bare(before) or (one is not None and declared and _is_bare(text[one.end : value.start]))
    affirmed = words.AFFIRMED.match(text, value.end, sentence.end) is not None
    said, weight = value.value, _PLAIN if bare or value.kind == "statement" else _MENTIONED
    if value.kind == "word" and words.NEGATED.search(before[-40:]):
        return _Said(_OTHER[said], value.start, value.end, _MENTIONED)
    if value.kind == "truth":
        predicate = words.PREDICATE.search(before[-60:]) is not None
        if not (bare or predicate or affirmed or words.CHOSEN.search(before[-40:])):
            return None
        if words.IN_PART.match(text, value.end, sentence.end) or _OPPOSITE.search(_clause(before)):
            return None
        if predicate and _SUBJECT.search(before):
            weight = _PLAIN
        refuted = _CLAIM_REFUTED.match(text, value.end) and _CLAIM.search(before)
        if bool(refuted) != bool(predicate and words.NEGATES_TRUTH.search(before)):
            said = _OTHER[said]
    is_it = value.kind == "word" and words.IS.search(before[-20:]) is not None
    if declared or affirmed or is_it or words.CONCLUDES.search(before[-70:]):
        weight = _CONCLUDED
    elif value.kind == "truth" and words.THAT.match(text, value.end, sentence.end):
        weight = _MENTIONED
    return _Said(said, value.start, value.end, weight, value.kind)
