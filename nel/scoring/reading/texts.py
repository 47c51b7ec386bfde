"""Short answers in words: finds the one that a response states, without what stands around it.

A declared answer is read as `nel.scoring.reading.search` finds it. Where nothing is declared, "It is Paris", a sentence
that says it ("It was written by Jane Austen") or a short line of its own is the answer.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import clauses, declaring, status
from nel.scoring.reading.result import Reading
from nel.scoring.reading.search import ALONE, CROSSED, DECLARED, SAID, Found, NoAnswerError, Search
from nel.scoring.reading.wrappers import SEVERAL, SEVERAL_WORDS, is_placeholder, unwrapped

_WORDS_MAX: Final = 16
_CHARACTERS_MAX: Final = 160
_BARE_CHARACTERS_MAX: Final = 60
_EAST_ASIAN_CHARACTERS_MAX: Final = 10
_PHRASE_WORDS_MAX: Final = 7
_FEW_WORDS: Final = 2
"""Words of small letters, or of a script without capitals, that may be an answer rather than a short sentence."""
_SAID_WORDS_MAX: Final = 3
_NESTED_CHARACTERS_MAX: Final = 40
"""Characters after declaring words in which they may be said again: "Final answer: the answer is"."""
_EAST_ASIAN: Final = lazy_pattern("[\u3040-\u9fff]")
_EAST_ASIAN_SENTENCE: Final = lazy_pattern(
    r"[我们请你来这那再需要检查注意题步给可以从看应该答误错]|ます|ません|ましょう|[。，、！]"
)
_ARABIC: Final = lazy_pattern("[\u0600-\u06ff]")
_BEGINS_A_PHRASE: Final = frozenset({"a", "an", "the", "two", "three", "about", "nearly"})
_SMALL_STOP: Final = lazy_pattern(r"(?<=[a-z\d]{2})\.\s")
"""The end of a sentence, also before a small letter."""
_SEVERAL_BEHIND: Final = lazy_pattern(rf"[*_`\"”’»]*(?:{SEVERAL_WORDS})", re.IGNORECASE)
_EITHER: Final = lazy_pattern(r"[\s*_]*(?:either|entweder)\b", re.IGNORECASE)
_CONCLUDES: Final = lazy_pattern(r"[\s*_>#]*(?:thus|so|hence|therefore)[,:\s]*", re.IGNORECASE)
_LONG: Final = 400
"""Characters from which on a phrase of small letters is rather the end of a text that was cut off."""
_ENGLISH_SAID: Final = frozenset({"it", "th", "yo", "wh", "a:", "i'", "i’", "bu"})
_WORD_LIST: Final = lazy_pattern(r"[a-z'’-]{2,}(?: [a-z'’-]{2,}){4,59}")
"""Small words in a row, as in an answer that puts them in order."""
_FUNCTION: Final = frozenset(
    "the an of to in is are was be it that this and or for with on at by from as not if we you they he she so".split()
)
"""Words without which there is no sentence."""
_TRACED: Final = lazy_pattern(r"^\d{1,3}:\s", re.MULTILINE)
_NEGATED: Final = lazy_pattern(
    r"^(?:not|never|neither|nicht|weder|pas|ne|ni|né|não|nem|не|ни|either|entweder|soit|(?-i:no|non|não|ni|"
    r"ne))\b\s|(?:ではありません|ではない|じゃない)",
    re.IGNORECASE,
)
_PREDICATE: Final = lazy_pattern(
    r"(?:based|given|found|stated|mentioned|supported|as\s+follows|clear|correct|right|wrong|incorrect|consistent|"
    r"obvious|to\s|that\s|below|above|still|just|only|well|also|what)\b"
)
"""What an answer is said to be without being named: "this answer is based on …"."""
_SYMBOLS: Final = lazy_pattern(r"[^\w\s.…?_*`~\-\"'“”‘’«»|:!,;\[\]{}<>()]")
_RELATION: Final = lazy_pattern(r"\s[<>=≤≥≠]|!=")
_SMALL: Final = frozenset(
    "of the de la le di da del von van der den and & a an in on to for y e und et al du des am bin ibn père upon at "
    "with from".split()
)
_VERBS: Final = lazy_pattern(
    r"\b(?:is|are|was|were|am|be|been|have|has|had|do|does|did|will|would|can|could|should|must|may|might|let|"
    r"let['’]s|i|i['’]\w+|we|you|they|it|this|that|there|what|which|who|how|here|us|our|my|your|so|then|now|step|"
    r"please|thank|thanks|hope|sure|okay|ok|alright|great|good|note|first|next|yes|no|not|question|answer|passage|"
    r"sorry|hmm|reasoning|explanation|analysis|conclusion|calculation|verification|summary|candidates?|details?|"
    r"everything|several|information|following|above|below|details|possibility|possibilities|problem|wording|"
    r"sentence|sentences|paragraph|section|line|means|follows|confidence|matter|consistent|well|documented|"
    r"mentioned|stated|clear|based|only|case|correct|wrong|incorrect|true|false|because|known|fact|directly|all|"
    r"one)\b|^an?\s(?:\w+\s)?(?:misconception|mistake|misreading|misprint)$|^an\serror$",
    re.IGNORECASE,
)
_REMARK: Final = lazy_pattern(
    r"\b(?:confidence|certainty|certitude|certeza|certezza|confianza|confiance|confiança|confidenza|sicurezza|"
    r"sicherheit|konfidenz|zuversicht|уверенность|уверенности)\b|[^\W\d]\s*[:：]\s*(?:\d|高)|[:：]$|置信度|把握|信心|確信度|自信|"
    r"الثقة|اليقين|不是|ではな|ليس",
    re.IGNORECASE,
)
_INTERJECTION: Final = lazy_pattern(
    r"(?:gerne|alright|sure|okay|ok|bien\ sûr|claro|certo|certo|конечно|好的|はい|hmm|"
    r"بالتأكيد|بالتوفيق|удачи|viel\ erfolg|suerte|buono\ studio|buona\ giornata|bons\ estudos|bon\ courage|"
    r"bonne\ journée|good\ luck|reasoning|überlegung|raisonnement|razonamiento|ragionamento|raciocínio|"
    r"рассуждение|思路|推理|考え方|التفكير|حسناً|explanation|analysis|conclusion|verification|check|summary|calculation|"
    r"solution|step\ \d+|final\ answer|answer)[\s!.:：。！*]*",
    re.IGNORECASE | re.VERBOSE,
)
_GENERIC: Final = lazy_pattern(
    r"""
    (?:
      (?: it | he | she | they | this (?= \s happened ) ) \s (?-i:[a-z]+) \s (?: (?: (?-i:[a-z]+) \s )? (?: by | in
        | on | at | from | to | with | of | as ) \s )?
    | (?: the | what ) \s (?! question | text\b(?!\smeans) | source | key | wording | relevant | passage | point
      | problem | task | possible | candidates | first\sstep | other | next | surrounding | article | author\sof )
      [^.,:;!?]{1,50}? \s (?: is | was | are | were | says | means | gives
        | measures ) \s (?: (?: (?-i:[a-z]+) \s )? (?: called | by | on | in | at | from ) \s )?
    | credit \s goes \s to \s
    )
    (?P<value> .+ )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A sentence of its own that says it: "It was written by Jane Austen.", "The capital is Paris."."""
_AGAINST: Final = lazy_pattern(r"(?P<value>[^,:;]{1,50}), (?:not|nicht|et non|no|non|e não|а не) [^,]+$")
"""A sentence that is nothing but two answers, of which one is denied: "Paris, not London."."""
_VERB_LAST: Final = lazy_pattern(
    r"(?P<value>.+?)\s(?:wrote|discovered|released|painted|invented|developed|recorded|directed|composed|won|"
    r"founded)\s(?:it|them|this)\.?$"
)


def read_text(response: str) -> Reading:
    """Return how the short answer of a response was read; `Reading.value` has it without wrappers, or None.

    >>> read_text("The answer is Canberra, because it is the seat of parliament.").value
    'Canberra'
    >>> read_text("Answer: the capital is **Canberra**.").value, read_text("It is Canberra. I hope this helps!").value
    ('Canberra', 'Canberra')
    >>> read_text("The answer is Sydney. Wait, that's wrong.").value is None
    True
    """
    return TextSearch(response).read()


def declared_text(response: str) -> str | None:
    """Return the short answer that a response declares; not one that it only says, or that is a line of its own.

    >>> declared_text("So the answer is Bern, since ..."), declared_text("It is Bern."), declared_text("Bern")
    ('Bern', None, None)
    """
    search = TextSearch(response)
    reading = search.read()
    return reading.value if search.rank == DECLARED else None


class TextSearch(Search):
    """The search for a short answer in words."""

    def __init__(self, response: str) -> None:
        """Prepare a response."""
        super().__init__(response)
        self.is_long = len(response) > _LONG

    def is_bare(self, text: str, *, loosely: bool = False) -> bool:
        """Return whether a text is nothing but a short answer."""
        return _looks_bare(unwrapped(text)[0], loosely=loosely)

    def accepted(self, value: str) -> str | None:
        """Return the answer of a field or a box as it stands."""
        return value

    def candidate(self, sentence: str, offset: int) -> Found | None:
        """Return what a sentence declares, says or names."""
        crossed = CROSSED.match(sentence)
        if crossed:
            offset, sentence = offset + crossed.end(), sentence[crossed.end() :]
            if declaring.STRONG.search(sentence) is None:
                return self.value(sentence.rstrip().removesuffix("✓"), offset, "ticked")
        lead = declaring.LEAD.match(sentence)
        begin = lead.end() if lead else 0
        found = self._against(sentence, offset) or self._called(sentence, begin, offset)
        if found is not None:
            return found
        match = declaring.STRONG.search(sentence)
        if match is not None:
            return self._behind(sentence, match.end(), offset, DECLARED)
        return self._said(sentence, begin, offset)

    def _against(self, sentence: str, offset: int) -> Found | None:
        """Return the answer that stands in the last clause, or that is named instead of another one."""
        before, semicolon, after = sentence.rpartition("; ")
        if semicolon and not clauses.ALTERNATIVE.search(sentence):
            found = self.candidate(after, offset + len(before) + 2)
            if found is not None and found.rank >= SAID:
                return found
        contrast = declaring.NOT_BUT.search(sentence)
        if contrast is None or clauses.objection(sentence[: contrast.start()], "") is not None:
            return None
        return self._if_bare(
            sentence, contrast, contrast.lastgroup or "west", offset, "named against another", DECLARED
        )

    def _called(self, sentence: str, begin: int, offset: int) -> Found | None:
        """Return what a sentence calls the answer: "Paris is the answer"."""
        first = declaring.FIRST.match(sentence, begin)
        declared = declaring.STRONG.search(sentence) if first else None
        if first is None or (declared is not None and declared.start() <= begin):
            return None
        name = first.lastgroup or "is"
        inner = _SMALL_STOP.split(first[name] + " ")[-1].rstrip()
        if not inner:
            return None  # a sentence ends there, and the next one begins with a small letter
        value, start, end = unwrapped(inner, first.end(name) - len(inner))
        if not value or not self.stands(sentence, first.end(name) - len(inner), first.end(name), offset):
            return None
        return Found(value, offset + start, offset + end, "called the answer", DECLARED)

    def _said(self, sentence: str, begin: int, offset: int) -> Found | None:
        """Return what a sentence says without declaring it an answer."""
        unwrapped_at = len(sentence) - len(sentence[begin:].lstrip("*_`"))
        match = declaring.MEDIUM.match(sentence, begin) or declaring.MEDIUM.match(sentence, unwrapped_at)
        if match is not None:
            is_english = match[0][:2].lower() in _ENGLISH_SAID
            found = self._behind(sentence, match.end(), offset, SAID, loosely=is_english)
            if found is not None:
                return found
        against = _AGAINST.match(sentence, begin)
        if against is not None and not clauses.REFUSAL.search(sentence):
            found = self._if_bare(sentence, against, "value", offset, "named against another", SAID)
            if found is not None:
                return found
        generic = _GENERIC.match(sentence, begin) or _VERB_LAST.match(sentence, begin)
        if generic is not None:
            found = self._if_bare(sentence, generic, "value", offset, "said", ALONE, words_max=_SAID_WORDS_MAX)
            if found is not None and self.stands(sentence, generic.start("value"), found.end - offset, offset):
                return found
        if begin and _CONCLUDES.fullmatch(sentence, 0, begin):
            found = self.value(sentence[begin:], offset + begin, "concluded")
            return found if found is not None and _looks_bare(found.value) else None
        return None

    def _if_bare(
        self,
        sentence: str,
        match: re.Match[str],
        name: str,
        offset: int,
        rule: str,
        rank: int,
        *,
        words_max: int = _WORDS_MAX,
    ) -> Found | None:
        """Return a group of a match where it looks like an answer."""
        value, start, end = unwrapped(sentence[match.start(name) : match.end(name)], match.start(name))
        if not value or not _looks_bare(value, loosely=value.count(" ") < words_max):
            return None
        return Found(value, offset + start, offset + end, rule, rank)

    def _behind(self, sentence: str, place: int, offset: int, rank: int, *, loosely: bool = False) -> Found | None:
        """Return the answer that stands after declaring words."""
        rest = sentence[place:]
        inner = declaring.STRONG.match(rest) or declaring.MEDIUM.match(rest)
        if inner is None and rank == DECLARED:
            inner = declaring.STRONG.search(rest[:_NESTED_CHARACTERS_MAX])
        if inner is not None and inner.end() < len(rest.rstrip()):
            return self._behind(sentence, place + inner.end(), offset, rank, loosely=loosely)
        if (crossed := CROSSED.match(rest)) is not None:
            place, rest = place + crossed.end(), rest[crossed.end() :].rstrip().removesuffix("✓")
        generic = _GENERIC.match(rest) if rank == DECLARED else None
        if generic is not None and not _looks_bare(unwrapped(rest)[0]):
            place, rest = place + generic.start("value"), generic["value"]
        if _NEGATED.search(rest.strip().lstrip("*_ ").removeprefix("— ").removeprefix("- ")):
            if _EITHER.match(rest):
                raise NoAnswerError
            self.reading.reject(offset + place, offset + len(sentence), status.DENIED)
            return None
        return self._stated(sentence, rest, place, offset, rank, loosely=loosely)

    def _stated(self, sentence: str, rest: str, place: int, offset: int, rank: int, *, loosely: bool) -> Found | None:
        """Return the answer that the rest of a sentence is, if nothing speaks against it."""
        value, start, end = unwrapped(rest, place)
        if not value:
            return None
        if is_placeholder(value) and rank == DECLARED:
            raise NoAnswerError
        if not self.stands(sentence, place, end, offset):
            return None
        is_open = rank == DECLARED and clauses.ALTERNATIVE.search(value)
        if is_open and clauses.is_supposed(sentence):  # Japanese says so after the answer
            self.objected = status.SUPPOSED
            self.reading.reject(offset + place, offset + end, status.SUPPOSED)
            return None
        if is_open or SEVERAL.search(value) or _SEVERAL_BEHIND.match(sentence, end):
            raise NoAnswerError
        is_answer = not _PREDICATE.match(value) if rank == DECLARED else _looks_bare(value, loosely=loosely)
        if not is_answer or _is_long(value):
            return None
        return Found(value, offset + start, offset + end, "declared" if rank == DECLARED else "said", rank)

    def value(self, text: str, offset: int, rule: str) -> Found | None:
        """Return the short answer that a text opens with."""
        parts = clauses.sentences(text)
        if rule == "tag":
            inner = self.candidate(text, offset)
            if inner is not None and inner.rank == DECLARED:
                return inner
            parts = [(0, text)] if len(text) <= _BARE_CHARACTERS_MAX else parts
        value, start, end = unwrapped(parts[0][1], parts[0][0]) if parts else ("", 0, 0)
        if not value or is_placeholder(value) or SEVERAL.search(value):
            raise NoAnswerError
        if _is_long(value):
            return None
        return Found(value, offset + start, offset + end, rule, DECLARED)

    def alone(self, line: clauses.Line) -> Found | None:
        """Return the short answer that a line of its own is."""
        lead = declaring.LEAD.match(line.text)
        begin = lead.end() if lead else 0
        text = line.text[begin:] or line.text
        if text[-1] in ":：?？؟" or line.text[0] in "❌✗✘✖" or self._is_traced(line.text):
            return None
        if _WORD_LIST.fullmatch(line.text) and self.text.strip() == line.text and _FUNCTION.isdisjoint(text.split()):
            return Found(line.text, line.start, line.start + len(line.text), "the only line", ALONE)
        if line.start > 0 and text.rstrip("😊 ").endswith(("!", "！")):
            return None
        parts = clauses.sentences(text)
        if len(parts) > 1 and parts[0][1].endswith(("?", "？", "؟")):
            parts = parts[1:]  # the question, and its answer after it
        value, start, end = unwrapped(parts[0][1], parts[0][0])
        is_whole = self.text.strip() == line.text
        loosely = len(parts) == 1 and not self.is_long and (is_whole or text[-1] not in ".!。！")
        if not value or not _looks_bare(value, loosely=loosely) or _is_no_answer(value):
            return None
        if text[0] in "(（" and clauses.DENIAL.search(text):
            return None
        if clauses.objection("", text[end:]) is not None or clauses.REJECTED.search(text[end:]):
            return None
        return Found(value, line.start + begin + start, line.start + begin + end, "alone on a line", ALONE)

    def _is_traced(self, line: str) -> bool:
        """Return whether a line is a step of a numbered trace, such as ``41: ) ; stack: {``."""
        return _TRACED.match(line) is not None and len(_TRACED.findall(self.text)) > 1


def _is_no_answer(value: str) -> bool:
    return is_placeholder(value) or SEVERAL.search(value) is not None or _NEGATED.search(value) is not None


def _is_long(value: str) -> bool:
    return len(value) > _CHARACTERS_MAX or value.count(" ") >= _WORDS_MAX


def _looks_bare(value: str, *, loosely: bool = False) -> bool:
    """Return whether a text looks like a short answer, and not like a sentence.

    Args:
        loosely: Its place says that it is one, so that a phrase of small letters is enough.
    """
    if len(value) > _BARE_CHARACTERS_MAX or value in _SMALL:
        return False
    if _REMARK.search(value) or _INTERJECTION.fullmatch(value):
        return False
    words = value.split()
    if _EAST_ASIAN.search(value):
        return len(value) <= _EAST_ASIAN_CHARACTERS_MAX and not _EAST_ASIAN_SENTENCE.search(value)
    if _ARABIC.search(value):
        return len(words) <= _FEW_WORDS
    if all(not word[0].islower() or word in _SMALL for word in words):
        return True
    if _VERBS.search(value):
        return False
    if _RELATION.search(value):
        return True
    if (loosely and value.isascii()) or _SYMBOLS.search(value):
        return len(words) <= _PHRASE_WORDS_MAX and words[-1] not in _SMALL
    is_phrase = words[0] in _BEGINS_A_PHRASE and len(words) < _PHRASE_WORDS_MAX
    return value.isascii() and (is_phrase or len(words) <= _FEW_WORDS)
