"""`nel docs`: the pages of the documentation that come with nel, in a browser or on the terminal.

Depends on markdown-it for pages in a browser, and on Rich for those on a terminal.
"""

from __future__ import annotations

import os
import re
import sys
import webbrowser
from collections import Counter
from html import escape
from pathlib import Path
from typing import Annotated, Final

import typer

from nel.errors import UsageError, did_you_mean

_NOT_PAGES: Final = ("examples", "skills")
_LINK: Final = re.compile(r'(href="[^":]+)\.md(?=["#])')
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
:root {{ color-scheme: light dark; }} pre {{ overflow: auto; padding: .8rem; background: #8881; }}
table {{ border-collapse: collapse; display: block; overflow: auto; }} td, th {{ border: 1px solid #8886;
padding: .2rem .6rem; text-align: left; }} code {{ font-size: .9em; }}
</style></head><body>{body}</body></html>
"""


def docs(
    topic: Annotated[
        str | None, typer.Argument(help="A page, such as settings; none: the list of all.")
    ] = None,
) -> None:
    """Open a page of the documentation, or print it where there is no display."""
    if topic is None:
        for name, path in topics().items():
            typer.echo(f"{name:<34} {_title(path)}")
        return
    path = find_page(topic)
    if not sys.stdout.isatty():
        typer.echo(path.read_text(encoding="utf-8"), nl=False)
    elif has_screen() and webbrowser.open(_rendered(path).as_uri()):
        typer.echo(f"opened {topic}; nel docs {topic} | cat prints it")
    else:
        from rich.console import Console  # noqa: PLC0415 - keeps `nel --help` fast
        from rich.markdown import Markdown  # noqa: PLC0415

        Console().print(Markdown(path.read_text(encoding="utf-8")))


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


def has_screen() -> bool:
    """Return whether a browser can be opened where the user sees it."""
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def _home() -> Path:
    """Return the folder of the pages: that of an installed nel, else the repository's."""
    packaged = Path(__file__).parents[1] / "docs"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "docs"


def _title(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), path.stem)


def _rendered(path: Path) -> Path:
    """Write all pages as HTML into the user's cache, so that their links work, and return one."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - keeps `nel --help` fast

    base = os.environ.get("XDG_CACHE_HOME", "")
    cache = (Path(base) if base.startswith("/") else Path.home() / ".cache") / "nel" / "docs"
    parser, home = MarkdownIt("commonmark", {"html": False}).enable("table"), _home()
    for page in topics().values():
        target = (cache / page.relative_to(home)).with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        body = _LINK.sub(r"\1.html", parser.render(page.read_text(encoding="utf-8")))
        target.write_text(_PAGE.format(title=escape(_title(page)), body=body), encoding="utf-8")
    return (cache / path.relative_to(home)).with_suffix(".html")
