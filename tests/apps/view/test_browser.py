"""The app in a real browser: by keyboard alone, in both themes, on a telephone; nothing a model wrote runs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nel.apps.view.server import create_app, listening
from tests.apps.view.conftest import PATIENCE_SECONDS, TOKEN, access
from tests.episodes.bank import depositing, n_results, write_bank
from tests.support.browser import NEEDS_BROWSER, PATIENCE_MS, Watched
from tests.support.endpoint import Call, Reply, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.viewed_run import build_viewed_run

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = NEEDS_BROWSER


@contextmanager
def served(folder: Path, cache: Path) -> Iterator[str]:
    """Yield the address of an app that runs in a thread."""
    loop = asyncio.new_event_loop()
    ready, stop = threading.Event(), asyncio.Event()
    found: list[str] = []

    async def serve() -> None:
        app = create_app([folder], access(), cache, wait_seconds=PATIENCE_SECONDS)
        async with listening(app, "127.0.0.1", 0) as url:
            found.append(url)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(PATIENCE_SECONDS)
    try:
        yield found[0].rstrip("/")
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


class WatchedApp(Watched):
    """A page of the app, and everything in it that should not have happened."""

    def __init__(self, page: Page, url: str) -> None:
        super().__init__(page)
        self.url = url
        page.on("request", self._request)
        page.goto(f"{url}/?token={TOKEN}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith(self.url):
            self.incidents.append(f"request: {request.url}")

    def at(self, path: str) -> None:
        """Wait until the page of an address is shown."""
        self.page.wait_for_url(f"{self.url}{path}")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("browsed")
    build_viewed_run(root / "runs" / "a-run", n=120, is_complete=True)
    build_viewed_run(root / "runs" / "b-run", n=120, right_every=3, is_complete=True)
    with served(root / "runs", root / "cache") as address:
        yield address


@pytest.fixture
def watched(browser: Any, url: str) -> Iterator[WatchedApp]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    yield WatchedApp(context.new_page(), url)
    context.close()


def test_everything_goes_by_keyboard(watched: WatchedApp) -> None:
    """From the table to a run, its samples, a search, the next sample and back, without a mouse."""
    page, press = watched.page, watched.page.keyboard.press
    watched.at("/")
    assert "token" not in page.url
    press("j")
    press("Enter")
    watched.at("/runs/*")
    page.goto(f"{watched.url}/runs/a-run/quiz")
    press("ArrowRight")
    watched.at("/runs/a-run/quiz?after=49")
    press("ArrowLeft")
    watched.at("/runs/a-run/quiz?before=50")
    press("/")
    page.keyboard.type("thing 12")
    press("Enter")
    page.wait_for_url("**q=thing+12**")
    press("j")
    press("Enter")
    page.wait_for_url("**/quiz/12?q=thing+12")
    press("u")
    page.wait_for_url("**/quiz?**")
    press("?")
    page.locator("dialog[open]").wait_for()
    press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    press("g")
    watched.at("/")
    assert watched.incidents == []


def test_two_runs_are_compared_by_keyboard(watched: WatchedApp) -> None:
    """x selects rows, c compares them; each selected run has one box checked."""
    page, press = watched.page, watched.page.keyboard.press
    for key in ("j", "x", "j", "x"):
        press(key)
    page.locator("#compare-button:not(:disabled)").wait_for()
    press("c")
    page.wait_for_url("**/compare?run=*&run=*")
    page.locator(".flip").first.wait_for()
    page.locator("[data-chart] canvas").first.wait_for()
    assert watched.incidents == []


def test_a_chart_is_read_by_keyboard(watched: WatchedApp) -> None:
    """Arrow keys move along the columns of a distribution, and turn no page meanwhile."""
    page = watched.page
    page.goto(f"{watched.url}/runs/a-run")
    chart = page.locator("[data-chart]").first
    chart.focus()
    page.keyboard.press("ArrowRight")
    chart.locator(".u-value", has_text=" and ").wait_for()
    assert watched.incidents == []


@pytest.mark.parametrize("width", [400, 1200])
def test_no_page_scrolls_sideways_or_runs_anything(browser: Any, url: str, width: int) -> None:
    """Every kind of page fits a telephone and a screen, and hostile texts stay texts."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme="dark")
    watched = WatchedApp(context.new_page(), url)
    page = watched.page
    paths = ["/", "/runs/a-run", "/runs/a-run/quiz", "/runs/a-run/quiz?q=alert", "/compare?run=a-run&run=b-run"]
    for path in [*paths, *(f"/runs/a-run/quiz/{idx}" for idx in (1, 3, 4, 5, 7, 8, 10, 16, 22))]:
        page.goto(f"{url}{path}")
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate("window.pwned") is None
    assert watched.incidents == []
    context.close()


def test_a_link_from_another_site_works(browser: Any, url: str, tmp_path: Path) -> None:
    """A strict cookie is not sent with it; the app asks itself again, and the sample is shown."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{url}/?token={TOKEN}")
    mail = tmp_path / "mail.html"
    mail.write_text(f'<a href="{url}/runs/a-run/quiz/2">look</a>')
    page.goto(mail.as_uri())
    page.click("a")
    page.locator("pre.answer mark").wait_for(timeout=PATIENCE_MS)
    assert page.url.startswith(f"{url}/runs/a-run/quiz/2")
    context.close()


def test_a_transcript_grows_and_is_walked_by_keyboard(browser: Any, tmp_path: Path) -> None:
    """Steps of an episode in progress come without a reload, n and p go from one to the next, Enter unfolds one."""
    passes = threading.Event()

    def script(call: Call, number: int) -> Reply:
        reply = depositing(call, number)
        reply.wait = passes if n_results(call) == 2 else None
        return reply

    path = write_bank(tmp_path, 1)
    env = {**os.environ, "MAILS": str(tmp_path / "mails")}
    with scripted(script) as endpoint, served(tmp_path / "out", tmp_path / "cache") as url:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out", "--run-id", "live")
        with started_nel("eval", "run", "--bench", f"{path}:bank", *where, cwd=tmp_path, env=env) as process:
            wait_until(lambda: len(endpoint.calls) == 3, process)
            context = browser.new_context()
            watched = WatchedApp(context.new_page(), url)
            page, press = watched.page, watched.page.keyboard.press
            page.goto(f"{url}/runs/live/bank/0")
            assert page.locator("[data-step]").count() == 4
            for key, at in (("n", 0), ("n", 1), ("p", 0), ("p", 0), ("n", 1)):
                press(key)
                focused = page.locator("[data-step]").nth(at)
                assert focused.evaluate("item => item === document.activeElement"), (key, at)
            passes.set()
            page.locator("[data-step]").nth(7).wait_for()
            page.get_by_text("not answered").wait_for(state="detached")
            assert page.locator("[data-step]").count() == 9
            assert process.wait() == 0
            assert watched.incidents == []
            context.close()
