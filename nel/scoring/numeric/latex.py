"""`COLOUR`: a command that changes only the colour of an answer in LaTeX. Depends on the standard library alone."""

from __future__ import annotations

from typing import Final

from nel.core.lazy_regex import lazy_pattern

COLOUR: Final = lazy_pattern(r"\\(?:text)?color(?:box)?\s?(?:\[\w{1,8}\])?\{[\w!.,# -]{1,40}\}\s?")
"""``\\textcolor{red}``; what is coloured stands behind it."""
