"""Two runs side by side, runs in progress, and what is not counted yet."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from nel.apps.view.summary import Summaries
from nel.comparison.baselines import set_baseline
from nel.core.strict_json import loads
from nel.engine.store.lock import own_directory
from nel.engine.store.log import Log
from tests.apps.view.conftest import opened
from tests.apps.view.test_index import found_in
from tests.apps.view.test_pages import elements, text_of
from tests.support.viewed_run import build_viewed_run

Client = TestClient[Any, Any]
BOTH = "/compare?run=first-run&run=second-run"


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three runs, a day after each other, each with fewer right answers than the one before."""
    runs = tmp_path_factory.mktemp("dated")
    for day, name in enumerate(("old", "middle", "new")):
        build_viewed_run(runs / name, n=20, right_every=2 + day, is_complete=True, started=day * 86_400.0)
    return runs


async def test_flips_stand_side_by_side(client: Client) -> None:
    """The verdict, and each question that changed with both answers and links to both samples."""
    text = await text_of(client, BOTH)
    assert elements(text).active == []
    assert "Questions that changed" in text
    lost = int(re.search(r"lost (\d+)</a>", text)[1])  # type: ignore[index]
    assert lost > 0
    only = await text_of(client, f"{BOTH}&only=lost")
    assert len(re.findall(r'<span class="pill wrong">lost</span>', only)) == min(lost, 25)
    assert ">won</span>" not in only
    link = re.search(r'href="(/runs/first-run/quiz/id/[^"]+)"', text)
    assert link is not None
    assert "/runs/first-run/quiz/" in str((await client.get(link[1])).url)


async def test_a_comparison_that_is_refused_says_why(client: Client) -> None:
    """Other repeats are refused like on the command line, and allowed by a choice on the page."""
    other = "/compare?run=first-run&run=repeated-run"
    text = await text_of(client, other)
    assert "the two sides differ" in text
    assert "Compare although these differ" in text
    allowed = await text_of(client, f"{other}&despite=dataset&despite=repeats&despite=<b>")
    assert "Compared although these may differ: dataset, repeats." in allowed


async def test_the_baseline_is_chosen_named_or_the_oldest(
    dated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the table was sorted: the oldest run is the baseline, unless one has a name, or is chosen on the page."""
    monkeypatch.setenv("NEL_BASELINES", str(tmp_path / "baselines.json"))
    query = "/compare?run=new&run=middle&run=old"
    async with opened(dated, tmp_path / "cache", token=None) as client:
        assert "old</span>, the oldest of them" in await text_of(client, query)
        set_baseline("prod", dated / "middle")
        assert "middle</span>, the named baseline prod" in await text_of(client, query)
        assert "new</span>, chosen here" in await text_of(client, f"{query}&baseline=new")


async def test_three_runs_stand_side_by_side(dated: Path, tmp_path: Path) -> None:
    """One table of scores, each question that changed once with the answers of all, and a chart of score and latency."""
    async with opened(dated, tmp_path / "cache", token=None) as client:
        text = await text_of(client, "/compare?run=new&run=middle&run=old")
        lost = await text_of(client, "/compare?run=new&run=middle&run=old&only=lost")
    scores = re.findall(r'<tr><th scope="row">m .*?class="num strong">([^<]+)<', text)
    assert len(scores) == 3
    flips = re.findall(r'<article class="flip".*?</article>', text, re.DOTALL)
    ids = [re.findall(r"quiz/\d{4}", flip)[0] for flip in flips]
    assert len(ids) == len(set(ids)) > 3
    assert all(flip.count("<h4>") == 3 for flip in flips)
    assert "not changed" in text
    assert all(">lost<" in flip for flip in re.findall(r'<article class="flip".*?</article>', lost, re.DOTALL))
    chart = re.search(r'data-chart="([^"]*points[^"]*)"', text)
    assert chart is not None
    points = loads(unescape(chart[1]))
    assert points["names"] == ["old", "middle", "new"]  # of one model
    assert [len(points[name]) for name in ("x", "y", "best")] == [3, 3, 3]


async def test_a_run_in_progress_is_live(tmp_path: Path) -> None:
    """While a process holds a run, its counts and scores so far are JSON for the page; then it is over."""
    run_dir = build_viewed_run(tmp_path / "runs" / "going", n=40, answered=20, ended=None, texts=())
    async with opened(tmp_path / "runs", tmp_path / "cache", token=None) as client:
        with own_directory(run_dir):
            found = (await (await client.get("/api/live")).json())["runs"]["going"]
            assert found["benchmarks"]["quiz"]["done"] == "20 / 40"
            assert (found["state"], found["share"]) == ("running", 0.5)
            text = await text_of(client, "/runs/going")
            assert 'data-live-run="going"' in text
            assert ">running</span>" in text
        assert (await (await client.get("/api/live")).json())["runs"] == {}
        assert (await (await client.get("/api/runs/going/live")).json())["is_over"]
        assert f"nel eval resume {run_dir} goes on" in await text_of(client, "/runs/going")


def test_a_killed_run_is_not_read_from_older_artifacts(tmp_path: Path) -> None:
    """Artifacts of the session before are not those of a run that was resumed and killed."""
    run_dir = build_viewed_run(tmp_path / "run", n=10)
    store = Log(run_dir / "run.db")
    store.begin_session()
    store.close()
    found = Summaries().of(found_in(run_dir))
    assert (found.state, found.benchmarks[0].files) == ("killed", None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"judging": null', '"judging": "x"'),
        ('"stop_rule": null', '"stop_rule": {}'),
        ('"value": 0.', '"value": "x", "a": 0.'),
    ],
)
async def test_a_damaged_run_leaves_the_pages_of_the_others(tmp_path: Path, old: str, new: str) -> None:
    """Artifacts of another shape are not shown, and a store of another shape is named; the list stays."""
    runs = tmp_path / "runs"
    for name in ("whole", "damaged", "broken"):
        build_viewed_run(runs / name, n=20, is_complete=True)
    metrics = runs / "damaged" / "quiz" / "metrics.json"
    text = metrics.read_text(encoding="utf-8")
    assert old in text
    metrics.write_text(text.replace(old, new), encoding="utf-8")
    with closing(sqlite3.connect(runs / "broken" / "run.db")) as store, store:
        store.execute("UPDATE benchmarks SET plan = '[]'")
    async with opened(runs, tmp_path / "cache", token=None) as client:
        for page in ("/", "/runs/whole", "/runs/damaged", "/runs/damaged/quiz"):
            assert (await client.get(page)).status == 200, page
        broken = await client.get("/runs/broken")
        assert (broken.status, "does not hold what it should" in await broken.text()) == (422, True)
