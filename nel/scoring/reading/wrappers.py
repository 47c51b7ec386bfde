"""What stands around a short answer: emphasis, quotation marks, LaTeX, reasons; and answers that are left open.

Depends on the standard library alone.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern

_BOXED: Final = lazy_pattern(r"\\(?:boxed|fbox)\s*\{(.*)\}")
_TEX: Final = lazy_pattern(r"\\(?:text|textbf|textit|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}")
_TEX_ESCAPE: Final = lazy_pattern(r"\\([%$#&_{}])")
_MARKUP: Final = lazy_pattern(r"</?\w{1,20}>|\[/?(?:answer|label)\]", re.IGNORECASE)
_PAIRS: Final = (
    ("***", "***"),
    ("**", "**"),
    ("__", "__"),
    ("*", "*"),
    ("`", "`"),
    ('"', '"'),
    ("“", "”"),
    ("«", "»"),
    ("‘", "’"),
    ("'", "'"),
    ("「", "」"),
    ("『", "』"),
    ("\\(", "\\)"),
    ("$", "$"),
    ("_", "_"),
)
_REASON: Final = lazy_pattern(
    r"""
      ,\s (?: because | since | as\ (?:required|explained|stated|shown|the|it|we) | which | who | not
        | and\ (?:not|I)\b | so | but | where | though | given | for\ | i\.e | that\ is
        | nicht | weil | da\  | denn | car | puisque | parce | et\ non | y\ no | no\  | e\ non | non | perché | porque
          | pois | и\ не | а\ не | потому | так\ как ) .*
    | ;\s .*
    | \s [–—-]\s .*
    | \s \( (?: not\b | see\b | as\b | which | because | ¤ | .* \b(?:is|are|was|would|confidence|sure)\b ) .*
    | \s (?: because | since | due\ to | rather\ than | instead\ of ) \b .*
    | 。 .* | ，(?:而|因为|不) .* | \s وليس\s .*
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_DANGLING: Final = lazy_pattern(
    r"\s*(?:>\s+(?=[^\W_])|the\s+(?=[*_\"“`])|(?:\*{1,3}|_{1,2}|`|\}[.:]?(?=\s+[\w\"“‘*$(`]))\s+|[:：]\s*|[—–]\s+|-\s+)"
)
"""Emphasis that ends before the answer, as in ``**Answer:** Paris``."""
_TICKED: Final = lazy_pattern(r"[\s️]*[✅☑][\s️.]*\Z|\A[\s️]*[✅✓✔☑👉➡→⇒∴][\s️]*")
_PLACEHOLDER: Final = lazy_pattern(
    r"""
      [\[(<{$*\s]* (?: [?？]+ | _+ | \.{2,} | …+ | -+ | TBD | (?-i: N/?A | n/a ) | null | none | unknown | undefined
        | (?:to\ be\ )?determined | insert\ .* | your\ answer.*
        | (?:the\ )?(?:answer|label|text)(?:\ here)? | not\ enough\ .* | unclear | i\ can['’]?t\ .* | cannot\ .*
          | not\ (?:sure|stated|given|determined|mentioned).* ) [\s\])>}$*.]*
    | \[\s*\] | <\s*> | \(\s*\) | \{\s*\} | \s*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ABBREVIATED: Final = lazy_pattern(r"\.\.\.$|\.[A-Za-z]\.$")
_LAST_VERB: Final = lazy_pattern(
    r"(?:です|である|だ|となります|になります|でした)[。.]?$|\s(?:heißen|sein|antworten)\.?$"
)
SEVERAL_WORDS: Final = (
    r"\s(?:or|oder|ou|o|oppure|или|أو|أم|and\/or)\s|どちらか|\s/\s|或者?|还是|または|\bbetween\b.*\band\b|\b(?:if|otherwise|"
    r"unless)\b.*\b(?:is|holds|were|are|had)\b|\botherwise\b|,\sunder\s"
)
SEVERAL: Final = lazy_pattern(SEVERAL_WORDS, re.IGNORECASE)


def unwrapped(text: str, offset: int = 0) -> tuple[str, int, int]:
    """Return the short answer that a text opens with, and where it stands: no wrappers, reasons and full stops."""
    ticked = _TICKED.match(text)
    start = ticked.end() if ticked else 0
    dangling = _DANGLING.match(text, start)
    start = dangling.end() if dangling else start
    start += len(text[start:]) - len(text[start:].lstrip())
    end = len(text.rstrip())
    while (inner := _inside(text[start:end])) is not None:
        start, end = start + inner[0], start + inner[1]
        stripped = text[start:end]
        start += len(stripped) - len(stripped.lstrip())
        end = start + len(stripped.strip())
    part = text[start:end]
    reason = _REASON.search(part)
    if reason is not None and reason.start() > 0:
        part = part[: reason.start()]
    markup = _MARKUP.search(part)
    if markup is not None:
        part = part[: markup.start()]
    part = _without_end(_TICKED.sub("", part).rstrip())
    if "\\" in part:
        part = untex(part.strip("$"))
    return part.strip(), offset + start, offset + start + len(part)


def _inside(part: str) -> tuple[int, int] | None:
    """Return where the text between the marks begins and ends that a part opens with, or None where it has none."""
    for opening, closing in _PAIRS:
        if not part.startswith(opening) or len(part) <= len(opening) + len(closing):
            continue
        close = part.rstrip(" .").rfind("'") if opening == "'" else part.find(closing, len(opening))
        after = part[close + len(closing) :]
        if close <= len(opening) or (after[:1].isalnum() and after.isascii() and opening != "*"):
            continue
        if opening == "$" and after.strip(" .,*_`") and "\\" not in part[:close]:
            continue  # "$5 and $6" are amounts, no formula
        return len(opening), close
    return None


def _without_end(part: str) -> str:
    """Return a part without its full stop, a polite verb, and a mark that closes what was opened before it."""
    part = _LAST_VERB.sub("", part).rstrip(" 。！!")
    if part.endswith((".", "،", ",")) and not _ABBREVIATED.search(part):
        part = part[:-1].rstrip()
    part = part.strip("*_`") if part.count("**") % 2 else part
    if part.endswith(('"', "”", "*", "`")) and part[:1] not in '"“*`' and part.count(part[-1]) == 1:
        part = part[:-1].rstrip(" .")
    return part


def untex(text: str) -> str:
    """Return a text of LaTeX as words: ``\\\\text{50\\\\%}`` is 50%."""
    return _TEX_ESCAPE.sub(r"\1", _TEX.sub(r"\1", _BOXED.sub(r"\1", text))).strip()


def is_placeholder(value: str) -> bool:
    """Return whether an answer is left open.

    >>> is_placeholder("[your answer here]"), is_placeholder("___"), is_placeholder("Na")
    (True, True, False)
    """
    return _PLACEHOLDER.fullmatch(value) is not None
