"""A hook of mkdocs: the pages of docs/ also read well in the repository, so their links are turned
here.

A link to a file outside docs/ has no page on the site and becomes its path as text; examples keep
their files.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SECTIONS = (("Reference", "reference"), ("Explanation", "explanation"), ("Evidence", "evidence"))
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Add the pages whose order says nothing to the navigation, by section."""
    for title, folder in SECTIONS:
        pages = sorted(path.relative_to(DOCS).as_posix() for path in (DOCS / folder).glob("*.md"))
        config["nav"].append({title: pages})
    others = [*sorted((DOCS / "examples").rglob("*.md")), *sorted((DOCS / "skills").rglob("*.md"))]
    config["nav"].append({"Examples": [path.relative_to(DOCS).as_posix() for path in others]})
    return config


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Turn links that lead out of docs/, or to a directory, into text."""
    here = DOCS / page.file.src_path

    def turned(found: re.Match[str]) -> str:
        target = found["target"]
        if "://" in target or target.startswith("mailto:"):
            return found.group()
        path = (here.parent / target).resolve()
        if not path.exists():
            return found.group()  # mkdocs names it
        if DOCS in path.parents and path.is_file():
            return found.group()
        return f"{found['text']} (`{path.relative_to(ROOT).as_posix()}`)"

    return _LINK.sub(turned, markdown)
