"""`as_latex`: an expression in LaTeX, whichever signs it is written with: ``20√5``, ``(-∞, 2]``, ``x² ≤ 3``.

Depends on the standard library alone.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern

_SIGNS: Final = {
    "π": "pi",
    "∞": "infty",
    "∪": "cup",
    "∩": "cap",
    "∈": "in",
    "∖": "setminus",
    "≤": "le",
    "≥": "ge",
    "≠": "ne",
    "≈": "approx",
    "±": "pm",
    "∓": "mp",
    "×": "times",
    "·": "cdot",
    "⋅": "cdot",
    "÷": "div",
    "∅": "emptyset",
    "ℝ": "mathbb{R}",
    "ℕ": "mathbb{N}",
    "ℤ": "mathbb{Z}",
    "ℚ": "mathbb{Q}",
    "ℂ": "mathbb{C}",
    "θ": "theta",
    "φ": "phi",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "λ": "lambda",
    "°": "circ",
}
_TABLE: Final = str.maketrans(
    {sign: f"\\{name} " for sign, name in _SIGNS.items() if sign != "°"}
    | {
        "°": "^\\circ ",
        "−": "-",
        "–": "-",
        "－": "-",
        "‐": "-",
        "‑": "-",
        "﹣": "-",
        "（": "(",
        "）": ")",
        "，": ",",
        "＝": "=",
    }
)
_POWERS: Final = {
    **{sign: str(digit) for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "⁻": "-",
    "⁺": "+",
    "ⁿ": "n",
    "ˣ": "x",
}
_SUBSCRIPTS: Final = {sign: str(digit) for digit, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_HALVES: Final = {
    "½": "1}{2",
    "⅓": "1}{3",
    "⅔": "2}{3",
    "¼": "1}{4",
    "¾": "3}{4",
    "⅕": "1}{5",
    "⅙": "1}{6",
    "⅛": "1}{8",
}
_POWER: Final = lazy_pattern(f"[{''.join(_POWERS)}]+")
_SUBSCRIPT: Final = lazy_pattern(f"[{''.join(_SUBSCRIPTS)}]+")
_HALF: Final = lazy_pattern(f"[{''.join(_HALVES)}]")
_ROOT: Final = lazy_pattern(r"(?P<sign>[√∛])\s?(?:\((?P<group>[^()]*)\)|(?P<plain>\d+(?:\.\d+)?|[A-Za-z]))")
_ROWS: Final = lazy_pattern(r"\[\s*(\[[^\[\]]*\](?:\s*,\s*\[[^\[\]]*\])*)\s*\]")
_ROW: Final = lazy_pattern(r"\[([^\[\]]*)\]")
_PLAIN_FUNCTION: Final = lazy_pattern(r"(?<![\\A-Za-z])(?P<name>log|ln|sin|cos|tan|exp|sqrt|pi|infty)(?![A-Za-z])")
_PLAIN_ROOT: Final = lazy_pattern(r"\\sqrt\s?\(([^()]*)\)")
_LOGARITHM: Final = lazy_pattern(r"\\log_(?:\{(\w+)\}|(\w+))\s*(?:\(([^()]*)\)|\{([^{}]*)\}|(\d+|[a-z]))")
_STYLE: Final = lazy_pattern(r"\\(?:displaystyle|textstyle|bf|rm|mathit)(?![A-Za-z])\s?|(?<=\\)[dt](?=frac)")
COLOUR: Final = lazy_pattern(r"\\(?:text)?color(?:box)?\s?(?:\[\w{1,8}\])?\{[\w!.,# -]{1,40}\}\s?")
"""``\\textcolor{red}``; what is coloured stands behind it."""
_STYLED: Final = lazy_pattern(r"\\(?:bm|boldsymbol|mathbf)\s?\{")
_WHOLE: Final = lazy_pattern(r"\s*(?:\\displaystyle\s*)?\\(?:bm|boldsymbol|mathbf)\s?\{(?P<inner>[^\n]*)\}\s*")
_ROW_GAP: Final = lazy_pattern(r"\\\\\s*\[\s*-?[\d.]+\s?(?:pt|ex|em|mm|cm|px)\s*\]")
"""Space between the rows of a matrix: ``\\\\[4pt]``."""
_TEXT_SIGN: Final = lazy_pattern(r"\\(?:text|mathrm|textrm)\s*\{\s*(?P<sign>[-−–‑]|\d{1,2}:\d{2}|i)\s*\}")
"""A sign, a time or the imaginary unit that is set as a text."""
_UNBRACED_BINOMIAL: Final = lazy_pattern(r"\\[dt]?binom\s?(\d)\s?(\d)(?!\d)")
_BASED_GROUP: Final = lazy_pattern(r"\((-?[0-9A-F]+)\)(?=_)")
_DEGREES: Final = lazy_pattern(r"(\d+(?:\.\d+)?)\s?\^\s?\{?\s?\\circ(?![A-Za-z])\s?\}?")
_EMPTY_SETS: Final = ("\\varnothing", "\\{\\}", "\\{ \\}", "\\{\\,\\}")
_GROUPED_POWER: Final = lazy_pattern(r"\^\(([^()]*)\)")


def as_latex(text: str) -> str:
    """Return an expression in LaTeX, without commands that change only how it looks.

    >>> as_latex("20√5"), as_latex("x² ≤ 3"), as_latex("\\\\displaystyle\\\\mathbf{x}")
    ('20\\\\sqrt{5}', 'x^{2} \\\\le  3', 'x')
    """
    text = uncoloured(text)
    whole = _WHOLE.fullmatch(text)
    if whole is not None and _is_balanced(whole["inner"]):
        text = whole["inner"]
    if not text.isascii():
        text = _ROOT.sub(_rooted, text)
        text = _POWER.sub(lambda found: "^{" + "".join(map(_POWERS.__getitem__, found[0])) + "}", text)
        text = _SUBSCRIPT.sub(lambda found: "_{" + "".join(map(_SUBSCRIPTS.__getitem__, found[0])) + "}", text)
        text = _HALF.sub(lambda found: "\\frac{" + _HALVES[found[0]] + "}", text)
        text = text.translate(_TABLE)
    if "[" in text:
        text = _ROWS.sub(_matrix, text)
    if "\\" in text:
        text = _TEXT_SIGN.sub(lambda found: found["sign"], _ROW_GAP.sub(r"\\\\", text))
        text = _UNBRACED_BINOMIAL.sub(r"\\binom{\1}{\2}", text)
        for empty in _EMPTY_SETS:
            text = text.replace(empty, "\\emptyset ")
    text = _BASED_GROUP.sub(r"\1", text) if ")_" in text else text
    if "\\" in text:
        text = _STYLED.sub("{", _STYLE.sub("", text))
    if _PLAIN_FUNCTION.search(text) or "\\log" in text or "(" in text:
        text = _PLAIN_ROOT.sub(r"\\sqrt{\1}", _PLAIN_FUNCTION.sub(r"\\\g<name>", text))
        text = _GROUPED_POWER.sub(r"^{\1}", text)
        text = _LOGARITHM.sub(_logarithm, text)
    return text


def in_radians(text: str, other: str) -> str:
    """Return an expression with its degrees as parts of pi, where that is compared with one that has pi and no degrees.

    >>> in_radians("(3, 90^\\\\circ)", "(3, \\\\frac{\\\\pi}{2})"), in_radians("90^\\\\circ", "90")
    ('(3, \\\\frac{90\\\\pi}{180})', '90^\\\\circ')
    """
    if "\\circ" not in text or "\\pi" in text or "\\pi" not in other or "\\circ" in other:
        return text
    return _DEGREES.sub(r"\\frac{\1\\pi}{180}", text)


def uncoloured(text: str) -> str:
    """Return an expression without its colours, and without the braces of one that was coloured as a whole.

    >>> uncoloured("\\\\textcolor{red}{\\\\frac12}"), uncoloured("(\\\\color{red}1, 2)")
    ('\\\\frac12', '(1, 2)')
    """
    if "color" not in text:
        return text
    plain = COLOUR.sub("", text).strip()
    inner = plain[1:-1]
    return inner if plain[:1] == "{" and plain[-1:] == "}" and _is_balanced(inner) else plain


def _rooted(found: re.Match[str]) -> str:
    inner = found["group"] if found["group"] is not None else found["plain"]
    return ("\\sqrt[3]{" if found["sign"] == "∛" else "\\sqrt{") + inner + "}"


def _matrix(found: re.Match[str]) -> str:
    rows = [row.replace(",", " & ") for row in _ROW.findall(found[1])]
    return "\\begin{pmatrix} " + " \\\\ ".join(rows) + " \\end{pmatrix}"


def _logarithm(found: re.Match[str]) -> str:
    base = found[1] or found[2]
    return f"\\log_{{{base}}}{{({found[3] or found[4] or found[5]})}}"


def _is_balanced(text: str) -> bool:
    """Return whether no brace closes before it opens."""
    depth = 0
    for mark in text:
        depth += (mark == "{") - (mark == "}")
        if depth < 0:
            return False
    return depth == 0
