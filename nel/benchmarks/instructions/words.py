"""Sentences and words as IFEval counts them, by NLTK's rules for English, without its data.

NLTK's sentence splitter, Punkt, is a trained model. Here are its decisions and its abbreviations,
but only the common ones of the 20,000 words that it has seen with and without capitals: in a text
with unusual names after an abbreviation or an initial, the count may differ by one.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_MARKS: Final = ".?!"
_CLOSERS: Final = "\"'”’)]}*_"
_ABBREVIATIONS: Final = frozenset(
    "a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b c.v"
    " calif chg cie co col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f f.g f.j"
    " feb fla fri ft g g.d g.f g.k ga gen h h.c h.f h.m i.m.s ill inc j.b j.c j.j j.k j.p j.r jan"
    " jr k kan ky l l.a l.f l.p lt ltd m m.b.a m.d.c m.j maj messrs mg mich minn mr mrs ms n n.c"
    " n.d n.h n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m p.m pa ph.d prof r r.a r.h r.i r.j"
    " r.k r.t rep reps s s.a s.a.y s.c s.g s.p.a s.s sen sep sept sr st sw t t.j tenn tues u.k u.n"
    " u.s u.s.a u.s.s.r v va vs vt w w.c w.r w.va w.w wash wed wis yr".split()
)
"""Those that Punkt learnt for English; "e.g", "etc" and "fig" are none."""
_OPENERS: Final = "\"'“‘([{*_"
_STARTERS: Final = frozenset(
    "according although among both but despite even he however i if in indeed instead it many"
    " meanwhile moreover most nevertheless nonetheless nor sales separately similarly since so some"
    " the there these they this though thus under when while yet above always being besides between"
    " build check choose compare consider create does either enjoy explain finally follow"
    " furthermore given hence her here include including learn note nothing please put remember"
    " sometimes soon still such thank thanks them therefore through together tomorrow try"
    " unfortunately unless using very welcome were whenever whether which within without yes your".split()
)
"""Words that begin a sentence even after an abbreviation, when they are written with a capital."""
_COMMON: Final = _STARTERS | frozenset(
    "a about after again all also an and another any are as at because before by can clearly could"
    " did do during each every everyone few find first for from get give go great has have having"
    " help his how is its just keep last later let like look make may maybe more much must my never"
    " next no none not now of often on once one only or other others our out over people perhaps"
    " plus rather second see several she should start sure take that their then third those to"
    " today too two until up use was we what where who why will with would write you".split()
)
"""Words that occur in small letters too: a capital does not make names of them."""
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
# Marks, dashes of two hyphens, dots in a row; the colon of 12:30 and the comma of 1,000 stay.
_BETWEEN_WORDS = re.compile(
    r"[\s;@#$%&()\[\]{}<>\"!?`“”„‘’«»…\u2012-\u2015]+|--+|\.{2,}|[:,](?!\d)"
)
# The place before the 's of "IT'S" and before the n't of "CAN'T": nothing is taken away.
_CONTRACTION = re.compile(r"(?<=[^' ])(?=(?:'(?:s|m|d|ll|re|ve)|n't)(?!\w))", re.IGNORECASE)
# "cannot", "gimme" and "gonna", which NLTK takes for two words each.
_JOINED = re.compile(r"^(can)(not)$|^(gim|lem)(me)$|^(gon|wan)(na)$|^(got)(ta)$", re.IGNORECASE)


def count_words(text: str) -> int:
    """Return the number of runs of letters, digits and underscores.

    >>> count_words("It's a well-known fact.")
    6
    """
    return len(re.findall(r"\w+", text))


def count_sentences(text: str) -> int:
    """Return the number of sentences; a line break ends none, the number of a list item ends one.

    >>> count_sentences("Dr. Smith lives in the U.S. He is 40. Really?"), count_sentences("one\\ntwo")
    (3, 1)
    """
    tokens = text.split()
    n_before_last = sum(ends_sentence(token, following) for token, following in pairwise(tokens))
    return n_before_last + 1 if tokens else 0


def ends_sentence(token: str, following: str) -> bool:
    """Return whether a sentence ends between a token and the one after it."""
    # `(Paris?!")` is the word "Paris" with the marks "?!".
    stem = token.rstrip(_CLOSERS)
    word = stem.rstrip(_MARKS)
    marks, word = stem[len(word) :], word.lstrip(_OPENERS)
    if not marks:
        return False
    if set(marks) != {"."}:  # an exclamation or question mark always ends a sentence
        return True
    is_capital, is_small = following[:1].isupper(), following[:1].islower()
    next_word = re.split(r"[^\w'-]", following, maxsplit=1)[0].lower()
    folded = word.lower()
    is_abbreviation = folded in _ABBREVIATIONS or folded.rpartition("-")[2] in _ABBREVIATIONS
    if len(word) == 1 and word.isalpha() and len(marks) == 1:
        # An initial: what follows with a capital is a surname, unless it is a common word.
        return (
            not is_abbreviation
            and not is_small
            and (not is_capital or next_word.partition("'")[0] in _COMMON)
        )
    # After "Inc." or "..." a sentence may go on, with a name in a capital too.
    if is_abbreviation or len(marks) > 1:
        return is_capital and next_word in _STARTERS
    # "in 2. place": Punkt takes the full stop for that of an ordinal number.
    return not (is_small and _NUMBER.fullmatch(word))


def count_capital_words(text: str) -> int:
    """Return how many words are in capitals; a hyphened word is one, a contraction two.

    >>> count_capital_words("STOP! I CAN'T see the TOP-SECRET U.S. file, Bob.")
    6
    """
    tokens = (piece for word in _BETWEEN_WORDS.split(text) for piece in _CONTRACTION.split(word))
    return sum(piece.isupper() for token in tokens for piece in _split_joined(token))


def _split_joined(token: str) -> list[str]:
    match = _JOINED.match(token)
    return [token] if match is None else [group for group in match.groups() if group]
