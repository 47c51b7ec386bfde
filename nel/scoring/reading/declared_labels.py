"""The labels that stand where a response declares its answer: a letter, the text of an option, or its other name.

Depends on `nel.scoring.reading.label_runs` for letters, and on `nel.scoring.reading.option_texts` for options.
"""

from __future__ import annotations

import re

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading.declarations import Declaration
from nel.scoring.reading.label_runs import UNDECIDED, Run, run_at
from nel.scoring.reading.option_texts import OptionTexts

_FILLER = lazy_pattern(
    r"""
    (?: [\s*_"'“‘`(]*+ (?:
        clearly | definitely | probably | likely | most\s+likely | (?:most\s+)?certainly | obviously | simply | indeed
      | thus | therefore | hence | then | also | of\s+course | in\s+fact | most\s+accurately | correctly | best
      | i\s+(?:think|believe|guess|would\s+say|['’]d\s+say) (?: \s+(?:it\s+is|it['’]s|that) )?
      | option | choice | letter | answer | statement | alternative | number | represented\s+by | given\s+by
      | the (?: \s+(?:correct|right|best|first|second|third|fourth|fifth|last|final)
          (?:\s+(?:option|choice|one|answer))? )?
      | die | la | el | il | (?-i: o | a ) | le | opción | opção | opzione | buchstabe | lettre | letra
      | lettera | antwort
      | réponse | вариант | буква | الخيار | الحرف
      ) \b [\s,:：*_]*+ )+
    | [\s*_]*+ (?: 选项 | 選項 | 选择 | 選択肢 | 选 | 選 ) \s*+
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words that may stand between a declaration and its label: "the answer is clearly option B"."""
_SET_OFF = lazy_pattern(
    r"""
      [(\[（【] \s* (?:[Oo]ption\s+)? (?P<bracketed>[A-Za-z]) \s* [)\]）】]
    | \*\* \(? (?P<bold>[A-Z]) [).:]{0,2} \*\*
    | \b[Oo]ption \s+ \(? (?P<named>[A-Z]) (?!\w)
    """,
    re.VERBOSE,
)
_NOT_BUT = lazy_pattern(
    r"""
    [\s*_]*+ (?: not | nicht | pas | no | non | não | не | 不是 ) \s* (?: option | choice )? \s* [^\n]{1,60}?
    (?: ,? \s* \b (?: but | rather | sondern | mais | sino | bensì | ma | mas | а | но ) \b \s* (?: rather
    | actually )? | [，,]? \s* 而是 | [,;–—] \s* (?: it | that | this ) (?: ['’]s | \s+ is | \s+ should \s+ be ) \b )
    [\s*_:]*+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END = lazy_pattern(r"[.!?。]\s")


def run_declared(text: str, one: Declaration, labels: tuple[str, ...], texts: OptionTexts | None) -> Run:
    """Return the labels of a declaration: at its place, after filling words, as a choice's text, or in its line."""
    label = texts.exactly(text[one.end : one.stop]) if texts is not None else None
    if label is not None:
        return Run((label,), one.end, one.stop)
    denied = _NOT_BUT.match(text, one.end)
    run = run_at(text, denied.end() if denied else one.end, labels)
    if run.labels:
        return run if texts is None else _as_one(text, run, texts)
    filler = _FILLER.match(text, one.end)
    if filler is not None and filler.end() > one.end:
        run = run_at(text, filler.end(), labels)
        if run.labels:
            return run if texts is None else _as_one(text, run, texts)
    if texts is not None:
        opening = texts.opening(text[one.end : one.stop])
        if opening is not None:
            return Run((opening[0],), one.end, one.end + opening[1])
        ends = _SENTENCE_END.search(text, one.end, one.stop)
        stop = ends.start() if ends else one.stop
        begin = filler.end() if filler is not None else one.end
        label = texts.near.named(text[one.end : stop]) or texts.near.named(text[begin:stop])
        if label is not None:
            return Run((label,), one.end, stop)
    return _mentioned_in(text, one, labels)


def _mentioned_in(text: str, one: Declaration, labels: tuple[str, ...]) -> Run:
    """Return the only label in brackets or emphasis in the sentence that a declaration begins."""
    ends = _SENTENCE_END.search(text, one.end, one.stop)
    found: dict[str, tuple[int, int]] = {}
    for match in _SET_OFF.finditer(text, one.end, ends.start() if ends else one.stop):
        label = match[match.lastgroup or 0].upper()
        if label in labels:
            found[label] = match.span(match.lastgroup or 0)
    if len(found) != 1:
        return Run((), one.end, one.end)
    label, (start, end) = found.popitem()
    return Run((label,), start, end)


def _as_one(text: str, run: Run, texts: OptionTexts) -> Run:
    """Return a run, undecided where its label stands before another option's text, or begins a list of the options."""
    if len(run.labels) == 1 and (
        texts.is_contradicted(text, run.end, run.labels[0]) or texts.lists_others(text, run.end, run.labels[0])
    ):
        return Run((UNDECIDED,), run.start, run.end)
    return run
