"""Write nel/core/phrase_words.py: of each pattern of phrases, words of which any text that it matches has one.

    python scripts/phrase_words.py

A pattern such as ``\\b(?:isn['’]t|not)\\s+(?:right|correct)\\b`` matches no text without "right" or "correct". Each
part of a sequence gives a set of strings of which a match has one; the set that is the most seldom in answers is taken.
What is not understood needs nothing: the outcome is then weaker, and never wrong.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]  # the parser of `re` has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final
from unicodedata import east_asian_width

import nel.scoring
from nel.core.phrase_regex import SEPARATED, UNUSUAL, PhrasePattern, digest
from nel.scoring.reading.rules import Rule

TABLE: Final = Path(nel.scoring.__file__).parents[1] / "core" / "phrase_words.py"
Strings = frozenset[str]
Tree = Iterable[tuple[Any, Any]]

_EDGE: Final = "\0"
"""Stands for the boundary of a word while strings are put together."""
_STRINGS_MAX: Final = 200
"""A part of a pattern that matches more strings is not spelled out."""
_COLUMNS_MAX: Final = 105
_SET_MAX: Final = 8
_COPIES_MAX: Final = 4
_COMMON: Final = frozenset(
    "a an and answer are as at be but by can correct do does for from had has have he her his i if in is it its more "
    "no not of on one or our s say says she since so t that the their then there they this to total two was we were "
    "what when which will with you de e es est et en la le o que se si un final number problem question step".split()
)
"""Words of many answers; a pattern is better known by others."""
_COMMON_CHANCE: Final = 0.5
_WORD_CHANCE: Final = 0.02
_FOREIGN_CHANCE: Final = 0.002
_PART_CHANCES: Final = (1.0, 0.95, 0.5, 0.15)
"""How probable a string is that is no whole word, by its length; a longer one is as seldom as a word."""
_STRING_COST: Final = 0.002
_SPACE: Final = frozenset({" "})
_ENDS: Final = (frozenset({_EDGE}), _SPACE)
_REPEATS: Final = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def necessary(pattern: str, flags: int = 0) -> tuple[Strings, Strings] | None:
    """Return words and parts of words of which any text that a pattern matches has one, or None where none are known.

    >>> sorted(necessary(r"\\b(?:wait|hold\\s+on)\\b")[0])
    ['hold', 'wait']
    """
    tree = parser.parse(pattern, flags)
    found = None if tree.state.flags & re.ASCII else _needed(tree)
    if found is None:
        return None
    words = frozenset(word for string in found if (word := _rarest_word(string)) is not None)
    parts = frozenset(string for string in found if _rarest_word(string) is None)
    return words, frozenset(part for part in parts if not any(other != part and other in part for other in parts))


def _rarest_word(string: str) -> str | None:
    """Return a whole word of a string that stands for it, or None where all its whole words are common."""
    whole = string.split()
    whole = whole if string.startswith(" ") else whole[1:]
    whole = whole if string.endswith(" ") else whole[:-1]
    return max(sorted(word for word in whole if word not in _COMMON and not _separates(word)), key=len, default=None)


def _needed(tree: Tree, before: str = "", behind: str = "") -> Strings | None:
    """Return strings of which any match of a sequence has one, or None where nothing is known.

    Args:
        before: `_EDGE` or a space where that stands before the sequence.
        behind: The same after it.
    """
    known = [candidate for candidate in _candidates(tree, before, behind) if candidate]
    return min(known, key=lambda strings: (_cost(strings), sorted(strings)), default=None)


def _candidates(tree: Tree, before: str, behind: str) -> Iterator[Strings]:
    """Yield sets of strings, of each of which any match of a sequence has one."""
    items = [*tree]
    run = frozenset({before})
    for place, (code, argument) in enumerate(items):
        exact = _exact(code, argument)
        if exact is not None and len(run) * len(exact) <= _STRINGS_MAX:
            run = _joined(run, exact)
            continue
        yield _tidied(run)
        following = _exact(*items[place + 1]) if place + 1 < len(items) else frozenset({behind})
        inner = _inner(code, argument, _common_end(run), "".join(following) if following in _ENDS else "")
        if inner is not None:
            yield inner
        run = exact if exact is not None else frozenset({""})
    yield _tidied(_joined(run, frozenset({behind})))


def _common_end(strings: Strings) -> str:
    """Return the boundary or the space that all strings end with, or nothing."""
    ends = {string[-1:] for string in strings}
    end = ends.pop()
    return end if not ends and end in (_EDGE, " ") else ""


def _joined(left: Strings, right: Strings) -> Strings:
    return frozenset(before + behind for before in left for behind in right)


def _inner(code: Any, argument: Any, before: str, behind: str) -> Strings | None:
    """Return what any match of a part has one of that is not spelled out, or None."""
    if code is codes.SUBPATTERN:
        return _needed(argument[-1], before, behind)
    if code is codes.ATOMIC_GROUP:
        return _needed(argument, before, behind)
    if code in _REPEATS:
        least, most, tree = argument
        return None if not least else _needed(tree, before, behind) if most == 1 else _needed(tree)
    if code is not codes.BRANCH:
        return None
    ways = [_needed(way, before, behind) for way in argument[1]]
    return None if None in ways else frozenset().union(*(way for way in ways if way is not None))


def _exact(code: Any, argument: Any) -> Strings | None:
    """Return all strings that a part of a pattern can match, or None where they are too many to spell out."""
    if code is codes.LITERAL:
        return _characters([chr(argument)])
    if code is codes.IN:
        return _of_set(argument)
    if code is codes.AT:
        return frozenset({_EDGE if argument is codes.AT_BOUNDARY else ""})
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return frozenset({""})
    if code is codes.SUBPATTERN:
        return _of_sequence(argument[-1])
    if code is codes.ATOMIC_GROUP:
        return _of_sequence(argument)
    if code is codes.BRANCH:
        ways = [_of_sequence(way) for way in argument[1]]
        return None if None in ways else _bounded(frozenset().union(*(way for way in ways if way is not None)))
    return _of_repeat(*argument) if code in _REPEATS else None


def _of_sequence(tree: Tree) -> Strings | None:
    run = frozenset({""})
    for code, argument in tree:
        exact = _exact(code, argument)
        if exact is None or len(run) * len(exact) > _STRINGS_MAX:
            return None
        run = _joined(run, exact)
    return run


def _of_repeat(least: int, most: int, tree: Tree) -> Strings | None:
    one = _of_sequence(tree)
    if one is None:
        return None
    if all(map(_separates, one)):  # any number of separators is one space
        return _SPACE if least else _SPACE | {""}
    if most > _COPIES_MAX:
        return None
    found, run = frozenset[str](), frozenset({""})
    for count in range(most + 1):
        found = found | run if count >= least else found
        if len(run) * len(one) > _STRINGS_MAX:
            return None
        run = _joined(run, one)
    return _bounded(found)


def _of_set(items: Sequence[tuple[Any, Any]]) -> Strings | None:
    marks: list[str] = []
    for code, argument in items:
        if code is codes.LITERAL:
            marks.append(chr(argument))
        elif code is codes.RANGE and argument[1] - argument[0] < _SET_MAX:
            marks.extend(map(chr, range(argument[0], argument[1] + 1)))
        elif code is codes.CATEGORY and argument is codes.CATEGORY_SPACE:
            marks.append(" ")
        else:
            return None
    found = _characters(marks)
    if found is None or len(found) > _SET_MAX:
        return None
    return _SPACE if all(map(_separates, found)) else found


def _characters(marks: Iterable[str]) -> Strings | None:
    """Return how characters look in small letters, with spaces for what separates words."""
    joined = "".join(marks)
    if UNUSUAL.search(joined) or _EDGE in joined:
        return None
    return frozenset(mark if _is_punctuation(mark) else mark.lower().translate(SEPARATED) for mark in joined)


def _is_punctuation(mark: str) -> bool:
    return mark.isascii() and mark.isprintable() and not mark.isspace() and not mark.isalnum() and mark != "_"


def _separates(string: str) -> bool:
    return string == " " or (len(string) == 1 and _is_punctuation(string))


def _bounded(strings: Strings) -> Strings | None:
    return strings if len(strings) <= _STRINGS_MAX else None


def _tidied(strings: Strings) -> Strings:
    """Return strings with spaces for boundaries of words and one space for several; none where one is blank."""
    found = frozenset(map(_with_spaces, strings))
    return frozenset() if any(not string.strip() for string in found) else found


def _with_spaces(string: str) -> str:
    # Of the characters on either side of a boundary within the string one is a space already.
    joined = string.replace(_EDGE, "")
    if string.startswith(_EDGE):
        joined = f" {joined}"
    if string.endswith(_EDGE):
        joined = f"{joined} "
    marks = joined.strip()
    if marks and all(map(_is_punctuation, marks.replace(" ", ""))):
        return marks[0]
    return re.sub(" +", " ", "".join(" " if _is_punctuation(mark) else mark for mark in joined))


def _cost(strings: Strings) -> float:
    return _chance(strings) + _STRING_COST * len(strings)


def _chance(strings: Strings) -> float:
    """Return roughly how probable it is that a sentence has one of some strings."""
    none = 1.0
    for string in strings:
        none *= 1 - _chance_of(string)
    return 1 - none


def _chance_of(string: str) -> float:
    if not string.isascii():
        return _FOREIGN_CHANCE
    if _rarest_word(string) is not None:
        return _WORD_CHANCE
    bare = string.strip()
    if string.startswith(" ") and string.endswith(" "):
        return _COMMON_CHANCE / (1 + 4 * bare.count(" "))
    return _PART_CHANCES[len(bare)] if len(bare) < len(_PART_CHANCES) else _WORD_CHANCE


def _rows(words: Iterable[str]) -> Iterator[str]:
    """Yield words in rows of one width, in which letters of Chinese and Japanese take two columns."""
    row, width = "", 0
    for word in words:
        columns = 1 + sum(2 if east_asian_width(mark) in "FW" else 1 for mark in word)
        if width + columns > _COLUMNS_MAX:
            yield row
            row, width = "", 0
        row, width = f"{row} {word}".strip(), width + columns
    yield row


def patterns() -> list[tuple[str, int]]:
    """Return the patterns of phrases in the modules of nel.scoring, with their flags."""
    found: dict[tuple[str, int], None] = {}
    for module in pkgutil.walk_packages(nel.scoring.__path__, "nel.scoring."):
        for value in vars(importlib.import_module(module.name)).values():
            pattern = value.pattern if isinstance(value, Rule) else value
            if isinstance(pattern, PhrasePattern):
                found[pattern.text, int(pattern.flags)] = None
    return list(found)


def table() -> str:
    """Return the text of the module with the words of all patterns of phrases."""
    lines = []
    for pattern, flags in patterns():
        found = necessary(pattern, flags)
        if found is None:
            continue
        words, parts = (" ".join(sorted(each.replace(" ", "·") for each in side)) for side in found)
        quoted = "\n        ".join(f'"{row} "' for row in _rows(f"{words}|{parts}".split()))
        lines.append(f'    "{digest(pattern, flags)}": (\n        {quoted}\n    ),')
    head = '"""Words of which any text that a pattern of phrases matches has one, by the pattern\'s digest.'
    return (
        f'{head}\n\nGenerated by scripts/phrase_words.py; `nel.core.phrase_regex` says how they are read.\n"""\n\n'
        "from __future__ import annotations\n\nfrom typing import Final\n\n"
        "WORDS: Final[dict[str, str]] = {\n" + "\n".join(lines) + "\n}\n"
    )


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
