"""Every page shows what the run holds, as text; a run is never changed by being looked at."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from tests.apps.view.conftest import content_of, opened
from tests.support.viewed_run import build_viewed_run

Client = TestClient[Any, Any]
SAMPLES = "/runs/second-run/quiz"


class _Elements(HTMLParser):
    """Collects what a page would run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag in ("img", "iframe", "object", "embed", "style", "base", "b"):
            self.active.append(tag)
        if tag == "script" and not re.match(r"/static/(view|charts|uPlot\.iife\.min)\.js\?", str(found.get("src", ""))):
            self.active.append("script")
        self.active += [f"{tag} {name}" for name in found if name.startswith("on") or name == "style"]
        self.links += [str(found[name]) for name in ("href", "src", "action") if name in found]


def elements(text: str) -> _Elements:
    found = _Elements()
    found.feed(text)
    return found


async def text_of(client: Client, path: str, status: int = 200) -> str:
    answer = await client.get(path)
    text = await answer.text()
    assert answer.status == status, text
    return text


PAGES = [
    "/", "/?q=<script>alert(1)</script>", "/?sort=-score", "/?sort=\"><b>", "/?tag=<b>", "/runs/first-run",
    "/runs/second-run", "/runs/<b>x", SAMPLES, f"{SAMPLES}?q=<b>\"'&outcome=<b>&kind=<b>&category=<b>",
    f"{SAMPLES}?category=<b>bold</b>",
    f"{SAMPLES}?outcome=wrong&q=red", f"{SAMPLES}?after=5", f"{SAMPLES}?before=5", f"{SAMPLES}/3?q=<b>",
    "/runs/repeated-run/quiz",
    *(f"{SAMPLES}/{idx}" for idx in range(60)), "/runs/repeated-run/quiz/1?repeat=3", f"{SAMPLES}/99999",
]  # fmt: skip


async def test_every_page_is_inert(client: Client) -> None:
    """Whatever a model, a dataset or an address holds: nothing on a page runs, loads or leads elsewhere."""
    shown = ""
    for path in PAGES:
        text = await (await client.get(path)).text()
        found = elements(text)
        assert found.active == [], path
        assert all(link.startswith(("/", "#", "?")) and not link.startswith("//") for link in found.links), path
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\u2028]", text), path
        shown += text
    for part in ("&lt;svg onload=alert(2)&gt;", "\\u202egnp.exe", "NUL \\x00", "{{ 7 * 7 }}", "lone \\ud800 surrogate"):
        assert part in shown


async def test_looking_changes_no_file(tmp_path: Path) -> None:
    """After every kind of page the folder of runs holds the same bytes under the same names."""
    root = tmp_path / "runs"
    build_viewed_run(root / "done", n=20)
    build_viewed_run(root / "killed", n=20, answered=5, ended=None)
    before = content_of(root)
    async with opened(root, tmp_path / "cache", token=None) as client:
        for path in ("", "runs/done", "runs/killed", "runs/done/quiz", "runs/killed/quiz?q=step", "runs/done/quiz/3"):
            await text_of(client, f"/{path}")
            assert content_of(root) == before
    assert content_of(root) == before
    assert (tmp_path / "cache").is_dir()


async def test_the_table_has_the_numbers_of_the_runs(client: Client) -> None:
    """Model, benchmark, score, unscored and cost stand in the row; what is asked for orders and narrows it."""
    text = await text_of(client, "/")
    assert "aurora-7b" in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert re.findall(r"/runs/([a-z-]+)\"[ >]", await text_of(client, "/?q=BOREALIS"))[:1] == ["repeated-run"]
    assert "No run matches" in await text_of(client, "/?q=aurora+borealis")
    by_score = await text_of(client, "/?sort=-score")
    places = [by_score.index(f'data-href="/runs/{name}"') for name in ("first-run", "second-run")]
    assert places == sorted(places)


async def test_a_run_has_its_headline_and_categories(client: Client) -> None:
    """Score, interval, bounds, unscored by cause, categories and kinds of failures are on the page of a run."""
    text = await text_of(client, "/runs/first-run")
    told = ("is the 95 % interval", "had all unscored been wrong", "infra:timeout 6", "physics", "no_answer", "law")
    assert [part for part in told if part not in text] == []


async def test_each_kind_of_failure_says_what_to_do_and_leads_to_its_samples(client: Client) -> None:
    """The link of a kind finds as many answers as stand beside it; categories of several kinds would find none."""
    text = await text_of(client, "/runs/first-run")
    rows = re.findall(r'data-href="(/runs/first-run/[^"]*kind=[^"]+)"><th.*?class="num strong">([\d,]+)<', text)
    assert len(rows) > 2
    for address, count in rows:
        shown = await text_of(client, address.replace("&amp;", "&"))
        assert re.search(rf"\b{count} answers? match", shown), address
    assert "raise --timeout or lower --concurrency" in text


async def test_failures_that_look_alike_lead_to_samples(client: Client) -> None:
    """Each cluster shows its count, and each of its examples is an address of a sample that failed."""
    text = await text_of(client, "/runs/first-run")
    section = text.partition("Failures that look alike")[2].partition("</section>")[0]
    rows = re.findall(r'<tr><th scope="row">(.+?)</th>.*?class="num strong">([\d,]+)<.*?</tr>', section, re.DOTALL)
    addresses = re.findall(r'href="(/runs/first-run/[^"]+/\d+[^"]*)"', section)
    assert rows
    assert all(int(count.replace(",", "")) >= 2 for _, count in rows)
    assert len(addresses) >= len(rows)
    for address in addresses[:3]:
        assert "Question" in await text_of(client, address.replace("&amp;", "&"))


async def test_filters_and_search_narrow_the_list(client: Client) -> None:
    """The list holds what matches, says how many, and keeps the state in the addresses of its samples."""
    text = await text_of(client, f"{SAMPLES}?kind=infra:timeout&q=thing")
    assert re.findall(r'class="number"[^>]*>#(\d+)', text) == ["8", "18", "28", "48", "58"]
    assert "5 answers match" in text
    assert "kind=infra%3Atimeout" in text
    assert "needs a letter or a digit" in await text_of(client, f"{SAMPLES}?q=***")
    assert 'value="law">law (20)' in await text_of(client, SAMPLES)


async def test_a_sample_shows_how_its_answer_was_read(client: Client) -> None:
    """Question, prompt as sent, marked answer, target, reading and request are on the page of a sample."""
    text = await text_of(client, "/runs/first-run/quiz/2")
    assert "The answer is <mark>blue</mark>." in text
    assert "What is the colour of thing 2?" in text
    told = (
        "Prompt as sent",
        '<p class="role">system</p>',
        "how other ways would read it",
        "attempts</span> 1",
        "latency",
    )
    assert [part for part in told if part not in text] == []
    assert "hidden thought 4" in await text_of(client, "/runs/first-run/quiz/4")
    assert "Traceback &#34; onmouseover" in await text_of(client, "/runs/first-run/quiz/5")


async def test_repeats_are_folded_into_one_row(client: Client) -> None:
    """A question that was asked five times is one row with its verdicts, and each repeat has an address."""
    text = await text_of(client, "/runs/repeated-run/quiz")
    assert len(re.findall(r"<tr data-href", text)) == 12
    assert re.search(r'class="tally">3<span class="of">/5', text)
    text = await text_of(client, "/runs/repeated-run/quiz/0?repeat=1")
    assert "The answer is <mark>red</mark>." in text
    assert text.count('class="pill') >= 5
    await text_of(client, "/runs/repeated-run/quiz/0?repeat=5", 404)


@pytest.mark.parametrize(
    "path",
    [
        "/runs/none", "/runs/first-run/none", "/runs/first-run/quiz/99999", "/runs/first-run/quiz/x",
        "/api/runs/none/index", "/runs/first-run/quiz/9999999999999999999999999", "/static/none",
    ],
)  # fmt: skip
async def test_what_is_not_there_is_said(client: Client, path: str) -> None:
    """An address of nothing is a page that says so, never a failure."""
    text = await text_of(client, path, 404)
    assert "Not found" in text or "error" in text


async def test_a_run_that_cannot_be_read_is_a_row_of_its_own(tmp_path: Path) -> None:
    """A damaged store says why in the table and on its page; the others are shown."""
    build_viewed_run(tmp_path / "good", n=5)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.db").write_bytes(b"no store at all" * 100)
    async with opened(tmp_path, tmp_path / "cache", token=None) as client:
        text = await text_of(client, "/")
        assert "unreadable" in text
        assert "good" in text
        assert "cannot be read" in await text_of(client, "/runs/bad", 422)
