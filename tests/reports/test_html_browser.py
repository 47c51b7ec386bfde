"""The page in a real browser: nothing of the model's output runs, and the list of samples works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from nel.artifacts.write import write_artifacts
from nel.reports.html import write_report
from tests.reports import run_fixture
from tests.reports.test_judge_section import judged_run
from tests.support.browser import NEEDS_BROWSER, PATIENCE_MS, Watched

if TYPE_CHECKING:
    from playwright.sync_api import Locator, LocatorAssertions, Page

pytestmark = NEEDS_BROWSER


def expect(found: Locator) -> LocatorAssertions:
    """Return what can be expected of a part of the page."""
    from playwright import sync_api

    sync_api.expect.set_options(timeout=PATIENCE_MS)
    return sync_api.expect(found)


class WatchedReport(Watched):
    """A page of the report, and everything in it that should not have happened."""

    def __init__(self, page: Page, path: Path) -> None:
        super().__init__(page)
        self.requests: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())
        page.locator("html[data-ready=yes]").wait_for()


OPEN_ALL: Final = "document.querySelectorAll('details').forEach((details) => { details.open = true; })"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(run_fixture.build_run(tmp_path_factory.mktemp("run")))


@pytest.fixture
def watched(browser: Any, report: Path) -> Iterator[WatchedReport]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield WatchedReport(page, report)
    page.close()


def status(page: Page) -> str:
    return page.locator("[role=status]").inner_text()


def test_model_output_never_runs(watched: WatchedReport, report: Path) -> None:
    """With every row of a page of hostile outputs open there is no dialog, no console line and no request."""
    page = watched.page
    page.fill("[name=search]", "alert(")
    expect(page.locator("[role=status]")).to_contain_text("match")
    page.evaluate(OPEN_ALL)
    expect(page.locator(".panel-body").nth(49)).to_be_visible()  # a page has fifty rows
    page.evaluate(OPEN_ALL)  # what is folded in a sample is there once the sample is open
    expect(page.locator(".panel pre").nth(50)).to_be_visible()
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    assert page.locator("main svg[onload], main img, ol a:not(.own), ol script").count() == 0
    assert watched.incidents == []
    assert watched.requests == [report.as_uri()]


def test_filters_narrow_the_list(watched: WatchedReport) -> None:
    """Outcome, kind, category and search each narrow the list, and Clear restores it."""
    page = watched.page
    assert status(page) == "600 samples"
    page.select_option("[name=group]", "unscored")
    expect(page.locator(".browser li")).to_have_count(18)
    assert status(page) == "18 of 600 samples match"
    page.select_option("[name=kind]", "infra:server_error")
    expect(page.locator(".browser li")).to_have_count(5)
    page.click("button[type=reset]")
    expect(page.locator(".browser li")).to_have_count(50)
    page.select_option("[name=category]", "law")
    page.fill("[name=search]", "mmlu-pro/0000")
    expect(page.locator("[role=status]")).not_to_have_text("600 samples")
    expected = [row for row in run_fixture.make_rows(600)[:10] if row["metadata"]["category"] == "law"]
    expect(page.locator(".browser li")).to_have_count(len(expected))
    assert set(page.locator(".browser .category").all_inner_texts()) <= {"law"}
    assert watched.incidents == []


def test_the_address_holds_filters_page_and_sample(browser: Any, watched: WatchedReport, report: Path) -> None:
    """A copied address opens the same filtered list and the same sample in another page."""
    page = watched.page
    page.select_option("[name=group]", "wrong")
    expect(page.locator("[role=status]")).to_contain_text("of 600 samples match")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".panel h4").first).to_be_visible()
    number = page.locator(".sample[open] .number").inner_text()
    other = browser.new_page(viewport={"width": 1280, "height": 900})
    again = WatchedReport(other, report)
    other.goto("about:blank")
    other.goto(page.url)
    expect(other.locator(".sample[open] .panel h4").first).to_be_visible()
    assert other.locator(".sample[open] .number").inner_text() == number
    assert other.locator("[name=group]").input_value() == "wrong"
    assert other.locator(".pager .place").inner_text() == "Page 2 of 3"
    assert watched.incidents + again.incidents == []
    other.close()


def test_repeats_of_a_question_are_one_row(browser: Any, tmp_path: Path) -> None:
    """Ten answers to a question are a row with their tally, and each opens by its button."""
    rows = [{**row, "problem_idx": n // 10, "repeat": n % 10} for n, row in enumerate(run_fixture.make_rows(40))]
    run_fixture.write_benchmark(tmp_path / "b", "b", rows)
    page = browser.new_page()
    watched = WatchedReport(page, write_report(tmp_path))
    expect(page.locator(".browser li")).to_have_count(4)
    assert status(page) == "40 answers to 4 questions"
    page.locator(".sample > summary").first.click()
    page.locator(".repeats button").nth(3).click()
    expect(page.locator(".sample[open] .facts")).to_contain_text("mmlu-pro/00003")
    assert page.url.endswith("?open=0.3")
    assert watched.incidents == []
    page.close()


@pytest.mark.parametrize("width", [400, 1280])
def test_page_never_scrolls_sideways(browser: Any, report: Path, width: int) -> None:
    """Wide tables scroll inside their own frame, also on a telephone."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(report.as_uri(), timeout=PATIENCE_MS)
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_replies_of_judges_are_shown_and_never_run(browser: Any, tmp_path: Path) -> None:
    """Each opened sample shows every judge's grade and reply; hostile replies stay text, and search finds them."""
    run_dir = judged_run(tmp_path / "run")
    write_artifacts(run_dir)
    report = write_report(run_dir)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watched = WatchedReport(page, report)
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    expect(page.locator(".opinion")).to_have_count(40)
    assert page.locator(".opinion .pill.graded").count() == 36
    assert page.locator(".opinion .pill.unscored").first.inner_text() == "two_verdicts"
    assert page.locator(".opinion script, .opinion svg, .opinion img").count() == 0
    page.fill("[name=search]", "C or I")
    expect(page.locator("[role=status]")).to_contain_text("2 of 20")
    assert page.evaluate("window.pwned") is None
    assert watched.incidents == []
    assert watched.requests == [report.as_uri()]
    page.close()
