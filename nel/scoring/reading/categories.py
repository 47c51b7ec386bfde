"""Labels of a classification: finds the one of the permitted labels that a response gives.

A declared label is read as `nel.scoring.reading.search` finds it. Where none is declared, one that a sentence asserts
counts ("I would classify this as spam."), else one that is a line of its own. A label that is denied, supposed or
quoted does not count, and several labels are none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import clauses, declaring, status
from nel.scoring.reading.result import Reading
from nel.scoring.reading.search import ALONE, CROSSED, DECLARED, SAID, Found, NoAnswerError, Search
from nel.scoring.reading.wrappers import SEVERAL, is_placeholder, untex, unwrapped

_ASSERTS: Final = lazy_pattern(
    r"""
    (?:
        (?: ^ | [\s|\[(*_] ) [^\W\d] [\w\ ]{0,30} [\]*_"'’”]* \s? [:：=]           # Sentiment: …
      | \b (?: labell?ed | classified\ as | label\ (?: this | it ) (?: \ \w+ )? | label | category | class
        | classification | sentiment | stance | verdict | prediction | topic | tag | etiqueta | étiquette
          | etichetta | rótulo | kategorie | stimmung ) [*_\]]* \s
      | [→⇒|\]]
      | (?P<said> \b (?: is | was | be | are | as | it | seems | this\ example | this\ text | choose | would\ be
        | means | expresses | conveys | has | carries | shows | leans | sounds | feels
        | (?: lean | leaning | leans ) \ (?: towards? | to ) | belongs \ to | falls \ (?: under | into )
        | (?: making | makes | rendering ) \ (?: it | this | that | the \ \w+ )
        | ist | est | es | è | é | son | muss | comme | como | come | als
          | it['’]s | that['’]s | on )
      | [,;] \ (?: so | hence | thus | therefore ) | 是 | 为 | は | هو | هي | أنه | إنها | это )
    )
    \s* (?: (?: an? | very | quite | mostly | largely | predominantly | overwhelmingly | generally | strongly | highly
      | overall | deductively
      | logically | the | clearly | therefore | indeed | best\ described\ as | actually | in\ fact | en\ realidad
      | in\ realtà | na\ verdade | donc | 实际上 | 实 ) \s )?
    [\s*_`"'“‘«\[({$\\✅✓]* (?: text\{ )?
    \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What stands right before a label that is asserted."""
_FOLLOWS: Final = lazy_pattern(
    r"""
    [\s*_`"'”’»\])}$|✅✓]* (?:
        [.!;。！；] | $ | ,?\s (?: although | (?:even\ )?though | despite ) \b
        | ,\s (?: not | because | since | as | so | which | and\ (?:not|I) | nicht | et\ non | no | non
          | e\ não | а\ не ) \b | ，
      | \s (?: because | since | rather\ than | and\ not | overall | here | [–—-] ) | \s? [(（] | です | となり | である
        | \s وليس
      | \s (?: by | with\ (?:respect|regard)\ to ) \s
      | \s (?: sentiment | tone | emotions? | attitude | stance | opinion | feelings? | view | relation | review
        | tweet | text | comment | category | class | label | in \s (?: tone | sentiment ) )
        [*_]* (?: [.!;,] | $ )
      | \s (?: einstufen | antworten | heißen )
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What may stand after a label that is asserted."""
_SLASH = re.compile(r"\s*/\s*")
_FRAMED = lazy_pattern(
    r"\Aan?\s(?=\w+\s\w+\Z)|(?<=\w)\s(?:sentiment|tone|review|tweet|text|comment|category|class|label)\Z",
    re.IGNORECASE,
)
"""What a label may stand between in a response that is nothing else: "A positive review"."""
_NEAR: Final = 60
"""Characters between declaring words and the label."""
_WINDOW: Final = 80
_CONCLUDES: Final = lazy_pattern(r"\b(?:thus|so|hence|therefore|overall)\b", re.IGNORECASE)
_CALLED: Final = lazy_pattern(
    r"[\s*_`\"'”’»\])}]*\s(?:is|was)\s(?:the\s|my\s|our\s)?(?:\w+\s){0,2}(?:answer|label|fit|category|class|"
    r"choice|one|classification)\b|[\s*_`\"”’✅]*\s(?:ist|als)?\s?die\s(?:richtige|korrekte)\santwort",
    re.IGNORECASE,
)
_GIVEN_AS: Final = lazy_pattern(
    r"\b(?:get|gives(?:\sus)?|arrive\sat|have|makes|leaves)\s[\s*_`\"'“‘]*\Z", re.IGNORECASE
)
_CONCEDES_BEHIND: Final = lazy_pattern(
    r"\b(?:although|(?:even\s+)?though|even\s+if|despite|in\s+spite\s+of)\b", re.IGNORECASE
)
_DENIES: Final = lazy_pattern(
    r"(?:\b(?:could\sbe|might\sbe|may\sbe|not|never|neither|nor|nicht|weder|noch|pas|ni|no|non|né|não|nem|не|ни|isn['’]t|"
    r"cannot\sbe|"
    r"can['’]t\sbe|rather\sthan|instead\sof|rules?\sout|excludes?|unlike|confuse\s\w+\swith|(?:no|non|não)\s(?:es|"
    r"è|é))|不是|而不是|并非|ليست?)\s?[\s*_`\"'“‘«]*\Z",
    re.IGNORECASE,
)
_DENIED_AFTER: Final = lazy_pattern(
    r"[\s*_`\"'”’»]*(?:ではな|ではあり|じゃな|でもな|\s(?:is|was|would\sbe|looks|may\slook)\s(?:not|wrong|incorrect|close|tempting|"
    r"only)|\s(?:ist|est|es|è|é|wäre)\s(?:falsch|hier\sfalsch|incorrect\w*|faux|sbagliat\w|errad\w))",
    re.IGNORECASE,
)


_DISBELIEVES: Final = lazy_pattern(
    r"\b(?:do|would|did)(?:n['’]t|\s+not)\s+(?:think|believe|say|consider|call|classify|label|find)\b"
    r"(?!.*(?:[;:.!?]|\b(?:but|not|no|nor|anyone|anybody|nobody|anything|disagree|doubt|deny|wrong|fails?)\b|n['’]t\b"
    r"|,\s+(?:so|it|this|that|the|rather|instead|though)\b))",
    re.IGNORECASE,
)
"""Right before a label, with no clause between, that is denied so: "I don't think this is toxic"."""


class _Labels(NamedTuple):
    pattern: re.Pattern[str]
    known: dict[str, str]
    """The labels by the text that matches them, in small letters unless they differ in that alone."""
    cased: bool


class _Mention(NamedTuple):
    label: str
    start: int
    end: int


def read_category(response: str, labels: Sequence[str]) -> Reading:
    """Return how the label of a response was read; `Reading.value` is one of ``labels``, or None.

    Capitals do not count, and ``_`` is a space, unless two labels differ in that alone.

    >>> read_category("It is neutral rather than positive.", ["positive", "neutral"]).value
    'neutral'
    >>> read_category("Label: not spam", ["spam", "not spam"]).value
    'not spam'
    >>> read_category("It could be spam.", ["spam", "not spam"]).value is None
    True
    """
    if not labels:
        return Reading()
    return _LabelSearch(response, _compiled(tuple(labels))).read()


def _plain(text: str) -> str:
    return _SLASH.sub("/", " ".join(re.sub(r"\\?_", " ", text).split()))


@lru_cache(maxsize=256)
def _compiled(labels: tuple[str, ...]) -> _Labels:
    plain = [_plain(label) for label in labels]
    cased = len({label.casefold() for label in plain}) < len(set(plain))
    known = {label if cased else label.casefold(): original for label, original in zip(plain, labels, strict=True)}
    written = sorted(plain, key=lambda label: (-len(label), label))
    parts = [r"(?:\s|\\?_)+".join(map(re.escape, label.split())).replace("/", r"\s?/\s?") for label in written if label]
    edge = r"(?<![A-Za-zÀ-ɏА-яё0-9])(?<![A-Za-z0-9]-)", r"(?![A-Za-zÀ-ɏА-яё0-9])(?!-[A-Za-z0-9])"
    denied = [label for label in written if label.lower().startswith("not ")]
    for label in denied:  # "isn't toxic" is "not toxic"
        for short in ("n't", "n’t"):
            key = short + label[len("not") :]
            known[key if cased else key.casefold()] = known[label if cased else label.casefold()]
    shortly = [rf"(?<=[sae])n['’]t\s+{re.escape(label[len('not ') :])}{edge[1]}" for label in denied]
    alternatives = "|".join(
        shortly + [part if any(mark >= "\u0600" for mark in part) else edge[0] + part + edge[1] for part in parts]
    )
    return _Labels(re.compile(alternatives or r"(?!)", 0 if cased else re.IGNORECASE), known, cased)


class _LabelSearch(Search):
    def __init__(self, response: str, labels: _Labels) -> None:
        super().__init__(response)
        self.labels = labels

    # What a place of an answer holds

    def accepted(self, value: str) -> str | None:
        plain = _plain(unwrapped(untex(value))[0])
        found = self.labels.known.get(plain if self.labels.cased else plain.casefold())
        if found is not None or len(value) > _NEAR:
            return found
        mentions = self._mentions(value)
        names = {mention.label for mention in mentions if not self._is_denied(value, mention)}
        return names.pop() if len(names) == len({mention.label for mention in mentions}) == 1 else None

    def is_bare(self, text: str, *, loosely: bool = False) -> bool:
        plain = _FRAMED.sub("", _plain(unwrapped(text)[0]))
        return (plain if self.labels.cased else plain.casefold()) in self.labels.known

    def value(self, text: str, offset: int, rule: str) -> Found | None:
        part = untex(text) if "\\" in text else text
        if is_placeholder(part.strip().rstrip(".")) and not self._mentions(part):
            raise NoAnswerError
        return self._first_in(text, 0, offset, rule)

    def alone(self, line: clauses.Line) -> Found | None:
        lead = declaring.LEAD.match(line.text)
        begin = lead.end() if lead else 0
        text = line.text[begin:] or line.text
        if line.text[0] in "❌✗✘✖":
            return None
        parts = clauses.sentences(text)
        for place, part in (parts[0], parts[-1]):
            if not self.is_bare(part) or part.rstrip().endswith(("?", "？", "؟")):
                continue
            if clauses.RETRACTION.search(text[place + len(part) :]):
                continue  # "Positive. Wait, it is sarcastic, so negative."
            mention = self._mentions(part)
            if mention and not self._is_listed(mention[0].label):
                start = line.start + begin + place + mention[0].start
                return Found(
                    mention[0].label, start, start + mention[0].end - mention[0].start, "alone on a line", ALONE
                )
        return None

    def _is_listed(self, label: str) -> bool:
        """Return whether another label stands on a line of its own too, as in a list of the permitted ones."""
        for line in clauses.lines_backwards(self.text):
            bare = line.text.lstrip("-*•0123456789.) ")
            if bare and self.is_bare(bare) and self._mentions(bare)[0].label != label:
                return True
        return False

    def is_open(self, value: str) -> bool:
        return super().is_open(value) and not self.is_bare(value)

    # Sentences

    def candidate(self, sentence: str, offset: int) -> Found | None:
        mentions = self._mentions(sentence)
        match = declaring.STRONG.search(sentence)
        if not mentions:
            if match is not None and is_placeholder(sentence[match.end() :].strip()):
                raise NoAnswerError
            return None
        crossed = CROSSED.match(sentence)
        if crossed and (found := self._first_in(sentence, crossed.end(), offset, "ticked")) is not None:
            return found
        contrast = declaring.NOT_BUT.search(sentence)
        if contrast and (
            found := self._first_in(sentence, contrast.start(contrast.lastgroup or "west"), offset, "declared")
        ):
            return found
        standing = [mention for mention in mentions if not self._is_denied(sentence, mention)]
        opposite = self.labels.known.get(f"not {mentions[0].label}".casefold()) if len(mentions) == 1 else None
        if opposite is not None and _DISBELIEVES.search(sentence[: mentions[0].start]):
            return Found(opposite, offset + mentions[0].start, offset + mentions[0].end, "said", SAID)
        if match is not None:
            behind = [mention for mention in mentions if mention.start >= match.end()]
            if behind and (found := self._first_in(sentence, match.end(), offset, "declared")) is not None:
                return found
        lead = declaring.LEAD.match(sentence)
        begin = lead.end() if lead else 0
        conceded = _CONCEDES_BEHIND.search(sentence, standing[0].end) if standing else None
        if conceded is not None:  # "positive, although the acting is negative"
            standing = [mention for mention in standing if mention.end <= conceded.start()]
        for mention in reversed(standing):
            rank = self._rank(sentence, mention, begin)
            if rank is not None:
                return self._decided(sentence, mention, offset, "declared" if rank == DECLARED else "said", rank)
        return None

    def _first_in(self, sentence: str, place: int, offset: int, rule: str) -> Found | None:
        """Return the first label after a place that is not denied there."""
        for mention in self._mentions(sentence, place):
            if self._is_denied(sentence, mention):
                self.reading.reject(offset + mention.start, offset + mention.end, status.DENIED)
                continue
            if mention.start - place > _NEAR:
                return None
            return self._decided(sentence, mention, offset, rule, DECLARED)
        return None

    def _decided(self, sentence: str, mention: _Mention, offset: int, rule: str, rank: int) -> Found | None:
        if not self.stands(sentence, mention.start, mention.end, offset):
            return None
        rest = sentence[mention.end :]
        following = self._mentions(rest)
        if following and following[0].label != mention.label:
            between = rest[: following[0].start]
            if between.strip(" *_`\"'“”’-") in {",", "|", "", "、"}:
                return None
            if SEVERAL.search(between) or between.strip(" *_`\"'“”’") in {"/", "&", "and"}:
                raise NoAnswerError
        return Found(mention.label, offset + mention.start, offset + mention.end, rule, rank)

    def _rank(self, sentence: str, mention: _Mention, begin: int) -> int | None:
        """Return how binding a sentence asserts a label; `begin` is where its connectives end."""
        before, after = sentence[: mention.start], sentence[mention.end :]
        if _CALLED.match(after) or _GIVEN_AS.search(before):
            return DECLARED
        if not _FOLLOWS.match(after):
            return None
        if _CONCLUDES.search(sentence[:begin]) and not before[begin:].strip(' *_`"“‘'):
            return DECLARED
        found = _ASSERTS.search(before[-_WINDOW:])
        if found is None:
            return None
        if found[0].rstrip(" *_").endswith("|") and not sentence.startswith("|"):
            return None
        return SAID if found["said"] else DECLARED

    def _is_denied(self, sentence: str, mention: _Mention) -> bool:
        return bool(
            _DISBELIEVES.search(sentence[max(0, mention.start - _WINDOW) : mention.start])
            or _DENIES.search(sentence[max(0, mention.start - 40) : mention.start])
            or _DENIED_AFTER.match(sentence, mention.end)
        )

    def _mentions(self, text: str, place: int = 0) -> list[_Mention]:
        found = []
        for match in self.labels.pattern.finditer(text, place):
            plain = _plain(match[0])
            label = self.labels.known.get(plain if self.labels.cased else plain.casefold())
            if label is not None:
                found.append(_Mention(label, *match.span()))
        return found
