"""The templates of pages: autoescaping, numbers in one style, and no text printed that hides something.

Depends on Jinja2 and on how numbers and texts are printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nel.reports import numbers
from nel.reports.text import as_text, one_line, visible

if TYPE_CHECKING:
    from jinja2 import Environment


def templates_of(package: str) -> Environment:
    """Return an environment of the templates of a package, with the filters that all pages have."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to import

    made = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters |= {
        "count": numbers.count,
        "percent": numbers.percent,
        "plain": numbers.plain,
        "rate": numbers.rate,
        "seconds": numbers.seconds,
        "one_line": one_line,
        "as_text": as_text,
    }
    made.globals |= {"figure": numbers.figure, "interval": numbers.interval}
    return made


def _shown(value: object) -> object:
    """Return what a template expression prints: plain text never without `visible`, trusted markup as it is."""
    if value is None:
        return numbers.MISSING
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)
