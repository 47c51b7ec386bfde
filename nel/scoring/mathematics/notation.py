"""`usual_notation`: an answer in the LaTeX that math-verify reads, whichever signs it has.

Each row of the tables stands for answers that models write in boxes and JSON fields: ``2√7``,
``(4 * sqrt(29)) / 29``, ``11,\\! 111``, ``\\textbf{(B)}\\ 26``, ``\\mathrm{e}``. Depends on the
standard library alone.
"""

from __future__ import annotations

import re
from typing import Final

_SIGNS: Final = {
    "π": "\\pi ",
    "θ": "\\theta ",
    "∞": "\\infty ",
    "∅": "\\emptyset ",
    "ℝ": "\\mathbb{R}",
    "∪": "\\cup ",
    "∩": "\\cap ",
    "∈": "\\in ",
    "≤": "\\le ",
    "≥": "\\ge ",
    "≠": "\\ne ",
    "≈": "\\approx ",
    "±": "\\pm ",
    "×": "\\times ",
    "·": "\\cdot ",
    "⋅": "\\cdot ",
    "÷": "\\div ",
    "⁄": "/",
    "√": "\\sqrt",
    "°": "^\\circ ",
    "−": "-",
    "–": "-",
    "²": "^2",
    "³": "^3",
    "\u00a0": " ",
    "\u202f": " ",
    "\n": " ",
}
_TABLE: Final = str.maketrans(_SIGNS)
TEXT: Final = r"\\(?:text(?:rm|bf|it|normal)?|mathrm|mathbf|mbox|operatorname)(?![A-Za-z])"
_NAMES: Final = "sqrt|pi|theta|ln|log|sin|cos|tan|exp"
GAP: Final = r"(?:\s|~|\\[ ,;:!]|\\q?quad(?![A-Za-z]))*"
_REWRITTEN: Final = (
    # what delimits a formula
    (re.compile(r"\A(?:\s|\\?\$|\\[(\[])+|(?:\s|\\?\$|\\[)\]]|(?<!\.)\.)+\Z"), ""),
    # an option's letter before its value, and words that introduce a value
    (re.compile(rf"\A(?:{TEXT}\s?\{{\s?\(?[A-J][).:]\)?\s?\}}|\([A-J]\)){GAP}(?=[\\\d$(-])"), ""),
    (re.compile(rf"\A{TEXT}\s?\{{[^{{}}]*(?:\bis|[:=])\s*\}}{GAP}(?=\S)"), ""),
    # functions and constants: upright, or without a backslash
    (re.compile(rf"{TEXT}\s?\{{\s?({_NAMES})\s?\}}"), r"\\\1 "),
    (re.compile(rf"(?:{TEXT}|\{{\\rm)\s?\{{?\s?([ei])\s?\}}"), r" \1 "),
    (re.compile(rf"(?<![\\A-Za-z])({_NAMES})(?![A-Za-z])"), r"\\\1 "),
    (re.compile(r"\\sqrt\s*(\d+(?:\.\d+)?|[A-Za-z])"), r"\\sqrt{\1}"),
    (
        re.compile(
            r"(\\(?:sin|cos|tan|cot|sec|csc))\s*[({]?\s*(\d+(?:\.\d+)?)\s?\^\s?\{?\s?\\circ\s?\}?\s?[)}]?"
        ),
        r"\1{\\frac{\2\\pi}{180}}",
    ),
    # thousands
    (re.compile(r"(?<=\d)(?:\\[,!;: ]|\s|~|\s?\{\s?,\s?\}(?:\\!)?|,\\!)\s?(?=\d{3}(?!\d))"), ""),
    # sizes
    (re.compile(r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])\s*\.?"), ""),
    (re.compile(r"\\[dt]frac(?![A-Za-z])"), r"\\frac"),
    (re.compile(r"\\\\\s*\[\s*-?[\d.]+\s?(?:pt|ex|em|mm)\s*\]"), r"\\\\"),
    # sets
    (re.compile(r"\\varnothing(?![A-Za-z])"), r"\\emptyset"),
    (re.compile(r"\A\\\{\s*[a-z]\s*(?:\||:|\\mid)\s*([^{}|]*\b[a-z]\b[^{}|]*)\\\}\Z"), r"\1"),
)
"""Ways to write the same, and the usual one."""
_HEAD: Final = re.compile(r"\A[a-z]\s*=(?=[^=]*\Z)")
_SIGN: Final = re.compile(r"\\pm(?![A-Za-z])\s*")
_GROUPED_ROOT: Final = re.compile(r"\\sqrt\s*\(([^()]*)\)")
_RECURRING: Final = re.compile(r"(?P<whole>\d*)\.(?P<fixed>\d*)\\overline\s?\{(?P<group>\d+)\}")


def usual_notation(text: str) -> str:
    """Return an answer in usual LaTeX.

    >>> usual_notation("$5 − π$."), usual_notation("10{,}080"), usual_notation("sqrt(2 - sqrt(3))")
    ('5 - \\\\pi', '10080', '\\\\sqrt{2 - \\\\sqrt{3}}')
    >>> usual_notation("0.1\\\\overline{6}"), usual_notation("\\\\mathrm{e}^2"), usual_notation("(B) 26")
    ('\\\\frac{15}{90}', 'e ^2', '26')
    """
    text = text.translate(_TABLE)
    for pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text)
    replaced = 1
    while replaced:
        text, replaced = _GROUPED_ROOT.subn(r"\\sqrt{\1}", text)
    return _both_signs(_RECURRING.sub(_as_fraction, text).strip())


def _both_signs(text: str) -> str:
    """Return an expression with ``\\pm`` as two values, as math-verify does outside fractions."""
    if text.count("\\pm") != 1 or "," in text:
        return text
    expression = _HEAD.sub("", text)
    return ",".join(_SIGN.sub(sign, expression) for sign in "+-")


def _as_fraction(decimal: re.Match[str]) -> str:
    """Return a recurring decimal as a fraction: ``0.1\\\\overline{6}`` is 15/90."""
    integer, fixed, group = decimal.groups()
    below = (10 ** len(group) - 1) * 10 ** len(fixed)
    above = int(integer + fixed + group) - int((integer + fixed) or 0)
    return f"\\frac{{{above}}}{{{below}}}"
