"""Pages without a script: a template with the style of all pages."""

from __future__ import annotations

from collections.abc import Iterator

from nel.reports.html import environment, page_style, policy, trusted


def static_page(name: str, **values: object) -> Iterator[str]:
    """Return a page in chunks; the same values give the same text."""
    style = page_style()
    template = environment().get_template(f"{name}.html.j2")
    return template.generate(policy=policy(style), style=trusted(style), **values)
