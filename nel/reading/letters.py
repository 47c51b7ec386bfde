"""The label of the option that a response chooses in a multiple-choice question.

A label stands bare, in brackets, or before its option's text; the text of an option counts where it
is all that is declared, or all that the response says. Depends on `nel.reading.reader`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final

from nel.reading.clauses import (
    is_denied,
    none_of_these,
    whole_places,
    without_copula,
    words_pattern,
)
from nel.reading.decisions import decision_words
from nel.reading.forms import Declaration, declarations, line_end, named_in
from nel.reading.labels import LabelReader
from nel.reading.reader import read, sentences
from nel.reading.response import Answer, fold, lower_case
from nel.reading.table import native_letters
from nel.reading.types import Form, Reading, Reason, Value

_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# What may stand before a label: marks, LaTeX that wraps it, and words such as "option" or "most
# likely". It is possessive (``*+``), so that the "A" of "AB" is never given back as a label.
_OPENS: Final = (
    r"(?:[\s*_`:\"'$>.\-\\(\[{]|(?:text|mathrm|mathbf|textbf|boxed)\s*\{|"
    rf"{words_pattern('option')}|(?:the|is|most|likely|probably|clearly|definitely|certainly|为|是)\b)*+"
)
_ARTICLES: Final = frozenset("AI")
"""Labels that are words of their own: before a small word they are not a label."""
_AFTER_ARTICLE: Final = re.compile(
    r"\s*(?:[^\sa-zA-Z]|\Z|\n|because\b|since\b|as\b|is\b|and\b|or\b|for\b|with\b|but\b|which\b)"
)
_EITHER: Final = re.compile(f"/|{words_pattern('or')}")
_JOINT: Final = rf"(?:[,/&、]\s*)?{words_pattern('or', 'and')}|[,/&、]"
# Between two labels of one answer: "(A) and (C)", "A / C", "A、C".
_BETWEEN: Final = rf"[)\]}}.*_`\"'$\s]{{0,3}}\s*(?:{_JOINT})\s*(?:option\s|choice\s)?"
# At the end of what stands before an option's text, where another one is joined to it: "Paris or
# the".
_JOINED: Final = re.compile(
    rf"\s*(?:{_JOINT})(?:\s(?:maybe|perhaps|possibly))?[\s\"'*(]*(?:(?:the|an?)\s)?\Z"
)
_TEXT_MAX: Final = 200
"""Characters of an option's text where the texts are not known."""
_LINE_MAX: Final = 1_000
"""Characters of the line before or after another one."""
_TEXT_MARGIN: Final = 20
_WRAPPING: Final = " \t\r\n*_`\"'.,:;!。()[]{}$\\"
# A letter of another script that stands alone; `re` does not count marks of vowels as letters.
_BESIDE: Final = r"\w\u0640-\u065f\u0981-\u09cd"
_NATIVE: Final = re.compile(rf"(?<![{_BESIDE}])[{''.join(native_letters())}](?![{_BESIDE}])")
_YES: Final = re.compile(words_pattern("yes", "yes_alone"))
_ONE_LETTER: Final = re.compile(r"\W*[A-Za-z]\W*")


@lru_cache(maxsize=64)
def labels_for(n: int) -> tuple[str, ...]:
    """Return the labels of n choices: A to Z, then 1, 2, …

    >>> labels_for(3), labels_for(27)[-2:]
    (('A', 'B', 'C'), ('Z', '1'))
    """
    return (*_ALPHABET[:n], *(str(number) for number in range(1, n - len(_ALPHABET) + 1)))


class _Patterns:
    """The patterns of one set of labels."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        names = map(re.escape, sorted(labels, key=len, reverse=True))
        name = f"(?:{'|'.join(names)})"
        # A label that goes on is a word or a grade: "As", "A's", "A-1", "A-", "C#".
        # Small letters are labels only where a mark shows it: "(b)", "b.", or all of a line.
        apart = r"(?![a-zA-Z0-9_À-ӿ]|['’](?!d[ıiuü]r\b)\w|[+#]|-(?!\s+\w))"
        self.opening = re.compile(
            rf"(?P<before>(?i:{_OPENS}))(?:(?P<label>{name}){apart}|(?<=[(\[])(?P<small>(?i:{name}))(?=[)\]])|(?P<lower>(?i:{name}))(?=[)\].:]|[\s*_`.\"')\]}}$]*$))"
        )
        # Several labels are an answer where they are all of a stretch: "A, C and D", "ACD". In
        # small letters a mark or "and" has to stand between them: "bad" is a word, "b, a, d" are
        # labels.
        between = r"[\s,;/&)(\[\]]*(?:and\b|und\b)?[\s)(\[\]]*"
        labelled = rf"(?![\s*_:]*[(\[]{name}[)\]]\s+{name}[\s.)\]*_]*$)"
        """A label with its option's text, which is a letter too: "(A) C"."""
        self.run = re.compile(rf"{labelled}[\s*_(\[:]*{name}(?:{between}{name})+[\s.)\]*_]*$")
        joint = r"[\s)\]]*(?:[,;/&]|\band\b)[\s(\[]*"
        self.small_run = re.compile(rf"[\s*_(\[:]*(?i:{name}(?:{joint}{name})+)[\s.)\]*_]*$")
        self.next = re.compile(
            rf"{_BETWEEN}[(\[*_`\"'$]*(?P<label>(?![AI](?!{_AFTER_ARTICLE.pattern})){name}){apart}"
        )
        # A line of a list of options: "- (B) Rome", "Option B: …", "B." or "B" alone.
        self.listed = re.compile(
            rf"\s*[*-]*[^\S\n]*(?:(?i:{words_pattern('option')})\s)?[(\[]?(?P<label>{name})"
            r"(?:[)\].:]|(?=[^\S\n]*(?:\n|\Z)))"
        )
        self.marked = re.compile(
            rf"(?:[(\[{{](?P<bracketed>{name})[)\]}}]|(?i:{words_pattern('option')})\s?[*_\"'(]*"
            rf"(?:(?P<named>{name}){apart}|(?<=\()(?P<small>(?i:{name}))(?=\))))"
        )


@lru_cache(maxsize=256)
def _patterns(labels: tuple[str, ...]) -> _Patterns:
    return _Patterns(labels)


class LetterReader:
    """Reads labels of options."""

    def __init__(self, labels: Sequence[str], choices: Sequence[str] | None = None) -> None:
        """Take the labels, and the texts of the options where they are known."""
        self.labels = tuple(labels)
        self.patterns = _patterns(self.labels)
        self.choices = tuple(choices or ())
        self.text_max = max(map(len, choices or ()), default=_TEXT_MAX) + _TEXT_MARGIN

    @cached_property
    def is_exact(self) -> bool:
        """Whether capitals count, since options differ by them alone."""
        return len({_bare(choice) for choice in self.choices}) < len(set(self.choices))

    @cached_property
    def texts(self) -> list[str]:
        """The texts of the options as they are compared."""
        return list(map(self.bare, self.choices))

    @cached_property
    def options(self) -> LabelReader | None:
        """The reader of the options' texts; None where one begins with a mark, such as a sign."""
        are_words = bool(self.texts) and all(text[:1].isalnum() for text in self.texts)
        if not are_words:
            return None
        reader = LabelReader(self.choices)
        # Two options with one text cannot be told apart by it.
        return reader if len(reader.by_text) >= len(self.choices) else None

    def bare(self, text: str) -> str:
        """Return a text as texts of options are compared."""
        return _bare(text, is_exact=self.is_exact)

    def _label_of(self, text: str, start: int, stop: int) -> Value | None:
        """Return the label of the only option with a text."""
        if not text or self.texts.count(text) != 1:
            return None
        return Value(self.labels[self.texts.index(text)], start, stop)

    def read_declared(self, response: Answer, declaration: Declaration) -> Value | None:
        """Return the label, or the labels joined by commas, that a declaration introduces."""
        form, start, stop = declaration[:3]
        if self._is_option_a(response, declaration):
            return None
        value = self.opening(response, start, stop) or self._by_text(response, start, stop)
        if value is not None:
            return value
        sentence = next(sentences(response.text, start, stop), None)
        if sentence is None:
            return None
        label = (
            self._named_label(response, *sentence)
            or self._marked_label(response, *sentence)
            or self._ending_text(response, *sentence)
        )
        if label is None and form is Form.PHRASE and none_of_these(response.low, start, stop):
            return Value(None, start, stop, Reason.NONE_OF_THESE)
        return label

    def line(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of a line that is a label, or a label and its option's text."""
        value = self.opening(response, start, stop)
        if value is None:
            return self._by_text(response, start, stop) or self._decision(response, start, stop)
        if value.answer is None:
            return value
        option_text = response.plain[value.end : stop].strip(_WRAPPING)
        if self._is_listed(response, value.answer, start, stop, has_text=bool(option_text)):
            return None
        if not option_text:
            return value
        mark = response.plain[value.end]
        if mark not in ").:],":
            return None
        if self._repeats_text(value.answer, option_text):
            return value
        if len(option_text) > self.text_max or self._goes_on(response, value, stop):
            return None
        is_wrong = is_denied(response.low, value.start, value.end, begin=start)
        return None if is_wrong else value

    def _goes_on(self, response: Answer, value: Value, stop: int) -> bool:
        """Return whether the next option stands on the same line: "(A) Rome? No. (B) Oslo"."""
        text, mark = response.plain, response.plain[value.end]
        if value.answer not in self.labels[:-1] or mark == ",":
            return False
        following = self.labels[self.labels.index(value.answer) + 1]
        opening = r"\(" if text[: value.start].endswith("(") else r"(?<![\w(.])"
        return re.search(opening + following + re.escape(mark), text[value.end : stop]) is not None

    def _is_option_a(self, response: Answer, declaration: Declaration) -> bool:
        """Return whether a marker "A:" opens a list of options and not an answer."""
        begin, start = declaration.begin, declaration.start
        return response.low[begin:start].strip() == "a:" and self._is_listed(
            response, "A", begin, declaration.stop
        )

    def whole(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of a stretch that is nothing but a label or the text of its option."""
        value = self.line(response, start, stop)
        is_alone = value is not None and not response.plain[value.end : stop].strip(_WRAPPING)
        return value if is_alone else None

    def _repeats_text(self, label: str, option_text: str) -> bool:
        """Return whether what follows a label is the text of its option."""
        text = dict(zip(self.labels, self.texts, strict=False)).get(label, "")
        return bool(text) and self.bare(option_text).startswith(text)

    def _is_listed(
        self, response: Answer, label: str, start: int, stop: int, *, has_text: bool = True
    ) -> bool:
        """Return whether the line before or after another one lists another label, with or without
        a text as that one does.
        """
        text = response.plain
        begin = max(0, start - _LINE_MAX)
        line_before = begin + text[begin:start].rstrip().rfind("\n") + 1
        for line in (line_before, stop):
            neighbour = self.patterns.listed.match(text, line)
            if neighbour is not None and neighbour["label"] != label:
                end = neighbour.end()
                if bool(text[end : line_end(text, end)].strip(_WRAPPING)) == has_text:
                    return True
        return False

    def sentence(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the only label that a sentence, or else the response, names as correct, else the
        only one that the sentence marks, or that of the option that it ends with or alone names.
        """
        named = self._named_label(response, start, stop) or self._named_label(
            response, 0, len(response.text)
        )
        # The last option of a list is not chosen, unless the response denies the others or says yes.
        is_item = start and not _YES.search(response.low, start, stop)
        if named is not None or (is_item and self._is_list(response, start, stop)):
            return named
        return (
            self._marked_label(response, start, stop)
            or self._ending_text(response, start, stop)
            or self._only_text(response, start, stop)
        )

    def _named_label(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the only label that a stretch names as correct."""
        places = {
            response.plain[slice(*span)]: span
            for span in named_in(response, "letter", start, stop)
            if not _is_article(response.plain, *span)
            and not is_denied(response.low, *span, begin=start, words=0)
        }
        return _only_label({label: places[label] for label in self.labels if label in places})

    def opening(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label that opens a stretch; two labels joined are none."""
        text = response.plain
        row = self._row(response, start, stop)
        if row is not None:
            return row
        match = self.patterns.opening.match(text, start, stop)
        if match is None:
            return None
        group = match.lastgroup or "label"
        label = match[group].upper()
        end = match.end(group)
        if _is_article(text, match.start(group), end):
            return None
        labels = [label]
        # "A, C" are two labels of one answer; "A or C" is none.
        while (following := self.patterns.next.match(text, end, stop)) is not None:
            if _EITHER.search(text, end, following.start("label")):
                return Value(None, match.start(group), following.end(), Reason.SEVERAL)
            labels.append(following["label"])
            end = following.end()
        answer = ",".join(label for label in self.labels if label in labels)
        return Value(answer, match.start(group), end)

    def _row(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the labels of a stretch that is nothing but labels: "A, C and D"."""
        text, patterns = response.plain, self.patterns
        run = patterns.run.match(text, start, stop) or patterns.small_run.match(text, start, stop)
        if run is None or len(self.labels) > len(_ALPHABET):
            return None
        listed = re.sub("and|und", "", run[0]).upper()
        labels = [label for label in self.labels if label in listed]
        return Value(",".join(labels), start, stop)

    def _by_text(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of the option whose text is all that a stretch says."""
        return self._label_of(self.bare(response.text[start:stop]), start, stop)

    def _decision(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of the yes or no that opens a line: "Yes, there are fewer."."""
        are_decisions = any(text in decision_words() for text in self.texts)
        if not are_decisions or self.options is None:
            return None
        return self._of_option(self.options.line(response, start, stop))

    def _of_option(self, value: Value | None) -> Value | None:
        """Return the label of the option whose text was read; a text that is a letter is not read."""
        if value is None or value.answer is None or _ONE_LETTER.fullmatch(value.answer):
            return None
        return Value(self.labels[self.choices.index(value.answer)], value.start, value.end)

    def _only_text(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of the only option whose text a stretch of one sentence names."""
        if self.options is None or self._is_list(response, start, stop):
            return None
        if len(list(sentences(response.text, start, stop))) > 1:
            return None
        return self._of_option(self.options.sentence(response, start, stop))

    def _marked_label(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the only label that stands in brackets or after a word such as "option"."""
        places = {}
        for match in self.patterns.marked.finditer(response.plain, start, stop):
            group = match.lastgroup or "bracketed"
            span = match.span(group)
            if not is_denied(response.low, *span, begin=start, words=1):
                places[match[group].upper()] = span
        return _only_label(places)

    def _ending_text(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of the only option whose text the last sentence ends with.

        The text stands there as whole words, is not denied, and no other option is joined to it.
        """
        if self._is_list(response, start, stop):
            return None
        sentence = self.bare(response.text[start:stop])
        # Of "lemon juice" and "juice" the sentence ends with both: the longer one is meant.
        endings = (text for text in self.texts if sentence.endswith(text))
        longest = max(endings, key=len, default="")
        begin = len(sentence) - len(longest)
        if (begin, len(sentence)) not in whole_places(sentence, longest, begin):
            return None
        is_denied_there = is_denied(lower_case(sentence), begin, len(sentence))
        if is_denied_there or self._is_one_of_several(sentence[:begin]):
            return None
        return self._label_of(longest, start, stop)

    def _is_list(self, response: Answer, start: int, stop: int) -> bool:
        """Return whether a stretch, or the line that it ends, lists options."""
        text, listed = response.plain, self.patterns.listed
        end = start + len(text[start:stop].rstrip())
        line = text[max(text.rfind("\n", 0, end) + 1, end - _LINE_MAX) : end]
        opens_one = listed.match(text, start) or listed.match(line)
        return opens_one is not None or len(set(listed.findall(line))) > 1

    def _is_one_of_several(self, before: str) -> bool:
        """Return whether another option is joined to what follows: "Paris or Rome"."""
        joint = _JOINED.search(before)
        head = "" if joint is None else before[: joint.start()].rstrip(_WRAPPING)
        return any(text and head.endswith(text) for text in self.texts)


def _only_label(places: Mapping[str, tuple[int, int]]) -> Value | None:
    """Return the label of the only place; None of several or no places."""
    if len(places) != 1:
        return None
    ((label, place),) = places.items()
    return Value(label, *place)


def _is_article(text: str, start: int, end: int) -> bool:
    """Return whether a letter is an article or a pronoun, and no label: "A man", "I think"."""
    return text[start:end].upper() in _ARTICLES and not _AFTER_ARTICLE.match(text, end)


def _bare(text: str, *, is_exact: bool = False) -> str:
    folded = fold(text) if is_exact else lower_case(fold(text))
    words = folded.replace("*", "").replace("\\ ", " ").split()
    return without_copula(" ".join(words).strip(_WRAPPING))


def labels_after_marker(response: Answer, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels on the last line that a marker such as ``Answer:`` opens, in their order.

    >>> labels_after_marker(Answer("Answer: A is tempting.\\nANSWER: C and A"), "ABCD")
    ('A', 'C')
    """
    reader = LetterReader(labels)
    for declaration in declarations(response):
        if declaration.form is Form.MARKER:
            value = reader.opening(response, declaration.start, declaration.stop)
            return tuple(value.answer.split(",")) if value is not None and value.answer else ()
    return ()


def chosen_labels(
    response: Answer, labels: Sequence[str], choices: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the labels after the last marker, as prompts ask for them, else those in any form.

    >>> chosen_labels(Answer("ANSWER: C and A"), "ABCD"), chosen_labels(Answer("I take (B)."), "ABCD")
    (('A', 'C'), ('B',))
    """
    letters = labels_after_marker(response, labels)
    if not letters and (value := read_labels(response, labels, choices).value):
        letters = tuple(value.split(","))
    return letters


def read_labels(
    response: Answer, labels: Sequence[str], choices: Sequence[str] | None = None
) -> Reading:
    """Return the label, or the labels joined by commas, that a response chooses.

    Args:
        response: The response.
        labels: The labels of the options.
        choices: The texts of the options, where they are known.
    """
    # An option may have such a letter in its text ("vitamin D"): then it stays as it is.
    if not (response.text.isascii() or any(map(_NATIVE.search, choices or ()))):
        text = _NATIVE.sub(lambda letter: native_letters()[letter[0]], response.text)
        response = Answer(text, response.asked, response.prompt)
    return read(response, LetterReader(labels, choices))


def read_letter(
    response: Answer, labels: Sequence[str], choices: Sequence[str] | None = None
) -> Reading:
    """Return the only label that a response chooses; several are not an answer."""
    reading = read_labels(response, labels, choices)
    if reading.value is not None and "," in reading.value:
        reading.reject(reading.start, reading.end, Reason.SEVERAL)
        return Reading(rejected=reading.rejected)
    return reading
