"""`nel docs`: prints and searches the pages of the documentation that come with nel."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.markdown import Markdown

from nel.errors import UsageError, did_you_mean

_NOT_PAGES: Final = ("examples", "skills")
_PLACES_MAX: Final = 15
_LINE_MAX: Final = 120


def docs(
    topic: Annotated[
        str | None, typer.Argument(help="A page, such as settings; none: the list of all.")
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="Print where all of these words stand together."),
    ] = None,
) -> None:
    """Print a page of the documentation, or where it says something."""
    if search is not None:
        _print_places(search, topic)
        return
    if topic is None:
        for name, path in topics().items():
            typer.echo(f"{name:<34} {_title(path)}")
        return
    path = find_page(topic)
    if not sys.stdout.isatty():
        typer.echo(path.read_text(encoding="utf-8"), nl=False)
    else:
        Console().print(Markdown(path.read_text(encoding="utf-8")))


def _print_places(words: str, topic: str | None) -> None:
    """Print the sections with all words: matches in headings first, then those with most matches.

    Raises:
        UsageError: No section has them.
    """
    terms = words.lower().split()
    pages = topics() if topic is None else {topic: find_page(topic)}
    hits = []
    for name, path in pages.items():
        for heading, text in _sections(path):
            section = f"{heading}\n{text}".lower()
            if terms and all(term in section for term in terms):
                is_in_heading = all(term in heading.lower() for term in terms)
                n_places = sum(map(section.count, terms))
                # In the order of `sorted`, where False is before True and -9 before -1.
                hits.append((not is_in_heading, -n_places, name, heading, text))
    if not hits:
        raise UsageError(f'no section has "{words}"; nel docs lists the pages')
    for _, _, name, heading, text in sorted(hits)[:_PLACES_MAX]:
        typer.echo(f"{name}: {heading}")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        # The line with most of the words; `max` takes the first of several.
        counts = [sum(term in line.lower() for term in terms) for line in lines]
        best = lines[counts.index(max(counts))] if lines else ""
        typer.echo(f"    {best[:_LINE_MAX]}")
    if len(hits) > _PLACES_MAX:
        typer.echo(f"and {len(hits) - _PLACES_MAX} more; add a word")


def _sections(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    # At "# ", "## " and so on; before the first heading there is nothing.
    for section in re.split(r"(?m)^#+ ", text)[1:]:
        heading, _, body = section.partition("\n")
        yield heading, body


def topics() -> dict[str, Path]:
    """Return each page by its topic: its name, with its folder where the name is not unique."""
    home = _home()
    pages = [
        path
        for path in sorted(home.rglob("*.md"))
        if path.relative_to(home).parts[0] not in _NOT_PAGES
    ]
    n_pages = Counter(path.stem for path in pages)
    by_topic = {}
    for path in pages:
        is_unique = n_pages[path.stem] == 1
        by_topic[path.stem if is_unique else _path_in(home, path)] = path
    return by_topic


def _path_in(home: Path, path: Path) -> str:
    return path.relative_to(home).with_suffix("").as_posix()


def find_page(topic: str) -> Path:
    """Return the page of a topic, which may be preceded by its folder, or be a path in docs/.

    Raises:
        UsageError: There is none, or more than one.
    """
    pages = topics()
    name = topic.removeprefix("docs/").removesuffix(".md")
    if name in pages:
        return pages[name]
    home = _home()
    for path in pages.values():
        if _path_in(home, path) == name:
            return path
    namesakes = [page for page in pages if page.endswith(f"/{name}")]
    if namesakes:
        raise UsageError(f'several pages are called "{name}": nel docs {" or ".join(namesakes)}')
    hint = did_you_mean(name, pages)
    if not hint:
        similar = [page for page in pages if name.lower() in page]
        hint = f"; nel docs {' or '.join(similar)}" if similar else "; nel docs lists them"
    raise UsageError(f'there is no page "{topic}"{hint}')


def _home() -> Path:
    """Return the folder of the pages: that of an installed nel, else the repository's."""
    packaged = Path(__file__).parents[1] / "docs"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "docs"


def _title(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), path.stem)
