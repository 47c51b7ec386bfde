"""Pages without a script: a template with the style of all pages, written to a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nel.core.atomic_files import write_file
from nel.errors import OutputError
from nel.reports.environment import trust
from nel.reports.html import environment, page_style, policy


def static_page(name: str, **values: object) -> Iterator[str]:
    """Return a page in chunks; the same values give the same text."""
    style = page_style()
    template = environment().get_template(f"{name}.html.j2")
    return template.generate(policy=policy(style), style=trust(style), **values)


def write_page(path: Path, chunks: Iterator[str]) -> None:
    """Write a page, replacing an older one atomically.

    Raises:
        OutputError: The directory of the file is not there.
        StoppedEarly: The disk is full.
    """
    if not path.parent.is_dir():
        raise OutputError(
            f"there is no directory {path.parent} to write {path.name} into; create it"
        )
    write_file(path, (chunk.encode() for chunk in chunks))
