"""The templates of pages: autoescaping, numbers in one style, printed text that hides nothing.

Depends on Jinja2 and on how numbers and texts are printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nel.reports import corrected, judge_section, numbers
from nel.reports.distributions import MEASURES
from nel.reports.text import as_text, cut, one_line, visible

if TYPE_CHECKING:
    from jinja2 import Environment


def templates_of(package: str) -> Environment:
    """Return an environment of a package's and the shared templates, with their filters."""
    from jinja2 import (  # noqa: PLC0415 - slow to import
        ChoiceLoader,
        Environment,
        PackageLoader,
        StrictUndefined,
    )

    from nel.reports.compiled_templates import (  # noqa: PLC0415 - imports jinja2
        CompiledTemplates,
    )

    templates = Environment(
        loader=ChoiceLoader(
            [PackageLoader(name) for name in dict.fromkeys((package, "nel.reports"))]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_as_text,
        bytecode_cache=CompiledTemplates(),
    )
    templates.filters |= {
        "count": numbers.count,
        "counts": numbers.counts,
        "percent": numbers.percent,
        "cost": numbers.cost,
        "plain": numbers.plain,
        "rate": numbers.rate,
        "seconds": numbers.seconds,
        "one_line": one_line,
        "cut": cut,
        "as_text": as_text,
        "measure": measure,
        "of_100": lambda share: f"{min(max(float(share), 0.0), 1.0) * 100:.3f}",
    }
    templates.globals |= {
        "in_unit": numbers.in_unit,
        "interval": numbers.interval,
        "measures": MEASURES,
        "settings_line": judge_section.settings_line,
        "calibration_measures": corrected.calibration_measures,
        "calibration_text": corrected.measure_text,
        "unit_of_agreement": corrected.unit_of_agreement,
        "correction_methods": corrected.METHODS,
        "correction_assumptions": corrected.ASSUMPTIONS,
        "agreement": judge_section.agreement_figure,
    }
    return templates


def trust(text: str) -> object:
    """Return text that a template prints as it is."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    return Markup(text)  # noqa: S704 - the package's own assets, escaped JSON and escaped tables, nothing else


def measure(value: float, name: str) -> str:
    """Return a value of a distribution in its unit."""
    if name in ("latency", "first_token"):
        return numbers.seconds(value)
    if name == "cost":
        return numbers.cost(value)
    return numbers.count(round(value))


def _as_text(value: object) -> object:
    """Return what a template prints: text made `visible`, trusted markup as it is.

    None is printed as a missing number.
    """
    if value is None:
        return numbers.MISSING
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)
