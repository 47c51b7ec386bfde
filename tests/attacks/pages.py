"""The pages of a leaderboard, with an attack in every text of it."""

from __future__ import annotations

import html.parser
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from nel.apps.leaderboard.pages import html_page
from tests.faults.test_artifacts_hostile import PAYLOADS

_BOARD: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("board.json").read_text(encoding="utf-8"))
_CODES: Final = frozenset({"kind", "status", "outcome", "schema", "aggregate", "protocol", "unit", "method"})


class _Page(html.parser.HTMLParser):
    """Counts elements and keeps attributes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.policies: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policies.append(given.get("content") or "")


def _with(value: Any, text: str, key: str = "") -> Any:
    """Return a copy of the board in which a text stands before every label, name and reason."""
    if isinstance(value, dict):
        return {name: _with(one, text, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_with(one, text, key) for one in value]
    return f"{text}{value}" if isinstance(value, str) and key not in _CODES else value


def _read(board: dict[str, Any]) -> _Page:
    page = _Page()
    page.feed("".join(html_page(board)))
    page.close()
    return page


def in_every_text(text: str, _: Path) -> None:
    """The page has the elements and attributes of a harmless one, no script, and a policy that allows none."""
    board = _with(_BOARD, text)
    harmless, page = _read(_with(_BOARD, "x")), _read(board)
    assert page.tags == harmless.tags
    assert not any(tag == "script" or any(name.startswith("on") for name in names) for tag, names in page.tags)
    assert page.policies == harmless.policies
    assert page.policies
    assert "default-src 'none'" in page.policies[0]
    assert "script-src" not in page.policies[0]


IN_LEADERBOARDS: Final[dict[str, Callable[[Path], None]]] = {
    name: partial(in_every_text, text) for name, text in PAYLOADS.items()
}
