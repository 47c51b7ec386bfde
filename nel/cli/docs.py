"""`nel docs`: the pages of the documentation that come with nel, on the terminal."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

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
        from rich.console import Console  # noqa: PLC0415 - keeps `nel --help` fast
        from rich.markdown import Markdown  # noqa: PLC0415

        Console().print(Markdown(path.read_text(encoding="utf-8")))


def _print_places(words: str, topic: str | None) -> None:
    """Print the sections with all words: those with the words in their heading, then the fullest.

    Raises:
        UsageError: No section has them.
    """
    wanted = words.lower().split()
    pages = topics() if topic is None else {topic: find_page(topic)}
    hits = []
    for name, path in pages.items():
        for heading, text in _sections(path):
            low = f"{heading}\n{text}".lower()
            if wanted and all(word in low for word in wanted):
                in_heading = all(word in heading.lower() for word in wanted)
                hits.append((not in_heading, -sum(map(low.count, wanted)), name, heading, text))
    if not hits:
        raise UsageError(f'no section has "{words}"; nel docs lists the pages')
    for _, _, name, heading, text in sorted(hits)[:_PLACES_MAX]:
        typer.echo(f"{name}: {heading}")
        lines = (line.strip() for line in text.splitlines() if line.strip())
        line = max(lines, key=lambda line: sum(word in line.lower() for word in wanted), default="")
        typer.echo(f"    {line[:_LINE_MAX]}")
    if len(hits) > _PLACES_MAX:
        typer.echo(f"and {len(hits) - _PLACES_MAX} more; add a word")


def _sections(path: Path) -> Iterator[tuple[str, str]]:
    """Yield heading and text of each section of a page."""
    text = path.read_text(encoding="utf-8")
    for section in re.split(r"(?m)^#+ ", text)[1:]:
        heading, _, body = section.partition("\n")
        yield heading, body


def topics() -> dict[str, Path]:
    """Return each page by its topic: its name, with its folder where two pages have one name."""
    home = _home()
    pages = [
        path
        for path in sorted(home.rglob("*.md"))
        if path.relative_to(home).parts[0] not in _NOT_PAGES
    ]
    names = Counter(path.stem for path in pages)
    return {
        path.stem
        if names[path.stem] == 1
        else path.relative_to(home).with_suffix("").as_posix(): path
        for path in pages
    }


def find_page(topic: str) -> Path:
    """Return the page of a topic, which may have its folder or be a path of the repository.

    Raises:
        UsageError: There is none, or more than one.
    """
    pages = topics()
    name = topic.removeprefix("docs/").removesuffix(".md")
    if name in pages:
        return pages[name]
    home = _home()
    for path in pages.values():
        if path.relative_to(home).with_suffix("").as_posix() == name:
            return path
    several = [known for known in pages if known.endswith(f"/{name}")]
    if several:
        raise UsageError(f'several pages are called "{name}": nel docs {" or ".join(several)}')
    about = [known for known in pages if name.lower() in known]
    hint = did_you_mean(name, pages) or f"; nel docs {' or '.join(about)}" * bool(about)
    hint = hint or "; nel docs lists them"
    raise UsageError(f'there is no page "{topic}"{hint}')


def _home() -> Path:
    """Return the folder of the pages: that of an installed nel, else the repository's."""
    packaged = Path(__file__).parents[1] / "docs"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "docs"


def _title(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), path.stem)
