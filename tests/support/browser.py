"""A real browser: whether there is one, how long it is waited for, and what a page did that none should do."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_MS = 120_000
"""Bounds a hang: a busy machine takes longer than the 5 s that are waited by default."""
NEEDS_BROWSER = [
    pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium in PATH"),
    pytest.mark.slow,
]


class Watched:
    """A page, and its dialogs, lines of the console and errors."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.set_default_timeout(PATIENCE_MS)
        self.incidents: list[str] = []
        page.on("dialog", self._dialog)
        page.on("console", lambda message: self.incidents.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.incidents.append(f"error: {error}"))

    def _dialog(self, dialog: Any) -> None:
        self.incidents.append(f"dialog: {dialog.message}")
        dialog.dismiss()
