"""Renders the templates, which hold no style or script; printed texts are made visible and escaped.

Depends on Jinja2 and on how the report page prints texts and numbers.
"""

from __future__ import annotations

import time
from functools import cache
from importlib.resources import files as package_files
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from nel.apps.view.assets import assets
from nel.apps.view.index.database import choice_name
from nel.apps.view.index.words import NUMBERS
from nel.reports import numbers
from nel.reports.environment import templates_of
from nel.reports.extraction import worth_text
from nel.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


def render(name: str, *, base: str, **values: object) -> str:
    """Return a page.

    Args:
        name: Of the template, without its ending.
        base: The path that all addresses begin with; empty or without a slash at its end.
        values: What the template prints.
    """
    template = _environment().get_template(f"{name}.html.j2")
    return template.render(base=base, version=__version__, **values)


def address(base: str, *parts: object, **query: object) -> str:
    """Return an address of this app, its parts encoded; empty parameters are left out."""
    path = "/".join(quote(str(segment), safe="@+=,~") for segment in parts)
    parameters = {name: value for name, value in query.items() if value not in (None, "", (), [])}
    if not parameters:
        return f"{base}/{path}"
    # A text of a model may hold half a surrogate pair, which no address can.
    encoded = urlencode(parameters, doseq=True, errors="replace")
    return f"{base}/{path}?{encoded}"


def moment(seconds: float | None) -> str:
    """Return a time since 1970 as day and minute, in UTC."""
    if seconds is None:
        return numbers.MISSING
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def warm_up() -> None:
    """Compile the templates, which takes half a second, so that the first page does not have to."""
    for file in package_files("nel.apps.view").joinpath("templates").iterdir():
        _environment().get_template(file.name)


@cache
def _environment() -> Environment:
    environment = templates_of("nel.apps.view")
    environment.filters |= {"moment": moment}
    environment.globals |= {
        "address": address,
        "choice_name": choice_name,
        "numbers": NUMBERS,
        "worth_text": worth_text,
        "asset": lambda base, name: f"{base}/static/{name}?{assets()[name].digest}",
    }
    return environment
