"""The index finds what was said, follows a run that goes on, and measures what a chart shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel.apps.view.finding import FoundRun, find_runs
from nel.apps.view.index.building import IndexState, Indices, build
from nel.apps.view.index.database import ORDERS, Index, ResultFilter, ResultKey, Search, choice_name
from nel.apps.view.sample import sample_view
from nel.apps.view.samples import SampleQuery, sample_page
from nel.apps.view.summary import Summaries
from nel.engine.store.codec import encode_outcome
from nel.engine.store.log import Log
from nel.engine.store.rows import answer_row, verdict_row
from nel.reports.choices import confusion_of
from nel.reports.distributions import bin_of, chart_of
from nel.runs.evaluation import evaluate
from nel.types import Response, Scored
from tests.apps.view.conftest import PATIENCE_SECONDS
from tests.support.runs import read_results, write_jsonl
from tests.support.viewed_run import build_viewed_run


def found_in(path: Path) -> FoundRun:
    (run,) = find_runs([path]).values()
    return run


def search(path: Path, typed: str, **wanted: str) -> list[int]:
    with Index(path) as index:
        wish = index.search(ResultFilter(**wanted), typed)
        return [] if wish is None else [group[0].idx for group in index.questions(1, wish, n_max=10_000)]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("indexed")
    build_viewed_run(root / "run", n=60, texts=())
    build(found_in(root / "run"), root / "index.db")
    return root / "index.db"


def test_words_phrases_and_columns_are_found(indexed: Path) -> None:
    """Each form of a term finds what it says, in the order of the dataset."""
    assert search(indexed, "thing 12") == [12]
    assert search(indexed, '"thing 1"') == [1]
    assert search(indexed, "COLÔUR thing") == [idx for idx in range(60) if idx % 7 != 3]
    assert search(indexed, 'answer:blue "step 4"') == [4]
    assert search(indexed, "target:blue id:0007") == [7]
    assert search(indexed, '"step 5" -red') == []
    assert 5 not in search(indexed, "-red")
    assert search(indexed, "timeou*", outcome="wrong") == []
    assert search(indexed, "all", outcome="right") == []


def test_filters_are_exact(indexed: Path) -> None:
    """Outcome, kind and category find precisely the samples that have them, and an unknown name none."""
    assert search(indexed, "", kind="infra:timeout") == [8, 18, 28, 38, 48, 58]
    assert search(indexed, "", outcome="model_failure") == [9, 19, 29, 39, 49]
    assert search(indexed, "", kind="cancelled:not_run") == [59]
    assert search(indexed, "", category="law", outcome="unscored") == [18, 48]
    assert search(indexed, "", category="no such") == search(indexed, "", outcome="no such") == []
    with Index(indexed) as index:
        assert sum(n for *_, n in index.counts(1)) == 60


TYPED = [
    '"', '""', "'", "*", "-", "- -", "a OR", "NEAR(", "NEAR(a b, 5)", "{x}: y", "answer:", "answer:*", "a^", "^a", "(",
    ")", "a AND NOT b", "facets:ox1", "facets : all", "\x00", "a\x00b", "\ud800", "x" * 5000, '"' * 99, "a " * 500, "é",
    "漢字", "; DROP TABLE docs", "-answer:-x", '-"a b', "\\", "%", "\u202e", "a:b:c", "answer:\"x y\" -id:'",
]  # fmt: skip


@pytest.mark.parametrize("typed", TYPED)
def test_nothing_that_is_typed_is_an_error(indexed: Path, typed: str) -> None:
    """Every query is quoted, so that FTS5 finds no syntax in it; the facets cannot be named."""
    assert isinstance(search(indexed, typed), list)
    assert isinstance(search(indexed, typed, outcome="wrong"), list)
    assert search(indexed, "facets:ox1") == []


def test_pages_go_on_where_the_last_ended(indexed: Path) -> None:
    """Forwards and backwards every match comes once; repeats of a sample stay together."""
    with Index(indexed) as index:
        query = index.search(ResultFilter(), "thing")
        assert query is not None
        every = index.questions(1, query, n_max=1000)
        pages: list[Any] = []
        after = None
        for _ in range(len(every)):
            pages += (found := index.questions(1, query, after=after, n_max=7))
            after = (found[-1][0].idx if found else 10**9, 0)
        assert pages == every
        assert index.questions(1, query, before=(every[20][0].idx, 0), n_max=7) == every[13:20]
        assert (
            index.questions(1, query, after=(10**15, 0), n_max=7)
            == index.questions(1, query, before=(0, 0), n_max=7)
            == []
        )
        assert index.count(1, query) == len(every)


@pytest.mark.parametrize("order", ["score", "-score", "latency", "-completion_tokens", "cost", "-first_token"])
def test_results_are_ordered_by_a_number(tmp_path: Path, order: str) -> None:
    """Pages forwards and backwards hold every result once, the repeats apart; what is unknown comes last."""
    build_viewed_run(tmp_path / "run", n=8, repeats=3, texts=())
    build(found_in(tmp_path / "run"), tmp_path / "index.db")
    with Index(tmp_path / "index.db") as index:
        wish = index.search(ResultFilter(), "", order)
        assert wish is not None
        every = [key for (key,) in index.questions(1, wish, n_max=1000)]
        rows = index._connection.execute(f"SELECT number, {order.removeprefix('-')} FROM results").fetchall()  # noqa: S608
        sign = -1 if order.startswith("-") else 1
        expected = sorted(rows, key=lambda row: (row[1] is None, sign * (row[1] or 0), row[0]))
        assert every == [ResultKey.of(number) for number, _ in expected]
        middle = (every[9].idx, every[9].repeat)
        assert [key for (key,) in index.questions(1, wish, after=middle, n_max=4)] == every[10:14]
        assert [key for (key,) in index.questions(1, wish, before=middle, n_max=4)] == every[5:9]


def test_numbers_narrow_a_search(indexed: Path) -> None:
    """Comparisons stand among the words, each by its short or its whole name; an unknown order is none."""
    assert search(indexed, "thing seconds>=0.9 tokens < 12") == [
        idx for idx in range(60) if idx % 5 == 4 and idx % 9 < 2 and idx % 7 != 3
    ]
    assert search(indexed, "score>0.5") == search(indexed, "", outcome="right")
    assert search(indexed, "score=0 prompt_tokens<=25") == [idx for idx in range(6) if idx not in (0, 2, 4)]
    with Index(indexed) as index:
        wish = index.search(ResultFilter(), "", "-latency; DROP TABLE docs")
    assert wish == Search("{facets} : (all)")
    assert "-latency" in ORDERS


def test_choices_make_a_confusion_matrix(tmp_path: Path) -> None:
    """Each scored answer counts under the expected and the read label, and a cell finds its samples."""
    build_viewed_run(tmp_path / "run", n=30, texts=(), has_choices=True)
    build(found_in(tmp_path / "run"), tmp_path / "index.db")
    with Index(tmp_path / "index.db") as index:
        confusion = confusion_of(index.choices(1))
    assert confusion is not None
    assert (confusion.answers, confusion.rows) == (["B", "A", ""], [("B", [(12, 5), (12, 5), (2, 1)])])
    assert search(tmp_path / "index.db", "", choice=choice_name("B", "")) == [9, 19]
    assert confusion_of([]) is None


def test_an_index_follows_a_run_that_goes_on(tmp_path: Path) -> None:
    """What is committed later is added without what is there being read again."""
    run_dir = build_viewed_run(tmp_path / "run", n=40, answered=10, ended=None, texts=())
    run, path = found_in(run_dir), tmp_path / "index.db"
    build(run, path)
    before = search(path, "step")
    store = Log(run_dir / "run.db")
    with store.transaction():
        outcome = encode_outcome(Scored(reward=1.0, metrics={}))
        answer = answer_row((1, 20, 0), None, Response(text="a late zebra"))
        store.append_at_once([answer, verdict_row((1, 20, 0), outcome)])
    store.close()
    build(run, path)
    assert search(path, "zebra") == [20]
    assert search(path, "step") == before
    with Index(path) as index:
        assert index.fact("n") == 11


def test_a_new_session_makes_a_new_index(tmp_path: Path) -> None:
    """A new scorer began a round of verdicts: an index cannot forget the old ones one by one. Until it has scored them,
    answers are unscored, as results.jsonl has them.
    """
    run_dir = build_viewed_run(tmp_path / "run", n=10, texts=())
    indices = Indices(tmp_path / "cache", wait_seconds=PATIENCE_SECONDS)
    first = indices.of(found_in(run_dir))
    assert first.is_ready
    assert first.n == 9
    store = Log(run_dir / "run.db")
    store.begin_session()
    store.begin_round(1)
    store.end_session(elapsed=1.0, ended="stopped", attempts=0, retries=0)
    store.close()
    second = indices.of(found_in(run_dir))
    indices.close()
    assert (second.n, search(second.path, "step", outcome="unscored")) == (0, list(range(9)))


def test_a_chart_counts_every_value() -> None:
    """Columns and zeros add up; the median and the 90th percentile are those of the values."""
    values = [0.0] * 10 + [float(one) for one in range(1, 1000)] + [1e6] * 5
    bins: dict[int, int] = {}
    for value in values:
        bins[bin_of(value)] = bins.get(bin_of(value), 0) + 1
    chart = chart_of("latency", bins)
    assert chart is not None
    assert chart.n == len(values)
    assert sum(chart.counts) + chart.n_zero == len(values)
    assert (chart.n_zero, chart.edges[0], len(chart.edges)) == (10, 1.0, len(chart.counts) + 1)
    assert chart.edges[-2] <= 1e6 < chart.edges[-1]
    assert chart.median == pytest.approx(495, rel=0.02)
    assert chart.p90 == pytest.approx(900, rel=0.02)
    assert chart_of("cost", {bin_of(0.0): 5}) is chart_of("cost", {}) is None


def test_an_answer_in_flight_when_a_stop_rule_decided_is_not_asked(tmp_path: Path) -> None:
    """It was counted as right or wrong here, so that a run with 186 scored answers had 161 right and 97 wrong."""
    rows = [{"question": f"{i}?", "answer": "#### 18", "said": f"Answer: {18 + i % 2}"} for i in range(200)]
    data = str(write_jsonl(tmp_path / "d.jsonl", rows))
    config = {
        "benchmarks": [{"name": "gsm8k", "dataset": data, "response_field": "said"}],
        "stop": {"when": ["width<0.4"]},
        "output": {"dir": str(tmp_path / "out"), "run_id": "run"},
    }
    metrics = evaluate(config).benchmarks[0].metrics
    run, path = found_in(tmp_path / "out"), tmp_path / "index.db"
    left = [one["problem_idx"] for one in read_results(run.path, "gsm8k") if one["outcome"]["state"] == "not_asked"]
    store = Log(run.store)
    with store.transaction():
        outcome = encode_outcome(Scored(reward=1.0, metrics={}))
        known = {idx for (idx,) in store._connection.execute("SELECT idx FROM steps WHERE role = 0")}
        for idx in set(left[: len(left) // 2]) - known:
            store.append_at_once([answer_row((1, idx, 0), None, Response(text="late"))])
            store.append_at_once([verdict_row((1, idx, 0), outcome)])
    store.close()
    build(run, path)
    with Index(path) as index:
        counts = index.counts(1)
    n_not_asked = sum(n for group, _, _, n in counts if group == "not_asked")
    n_scored = sum(n for group, _, _, n in counts if group in ("right", "wrong"))
    accounting = metrics["accounting"]
    assert (n_scored, n_not_asked) == (accounting["n_scored"], accounting["n_not_asked"])
    assert search(path, "", outcome="not_asked") == sorted(left)
    benchmark = Summaries().of(run).benchmarks[0]
    state = IndexState(path=path, is_ready=True)
    page = sample_page(run, benchmark, state, SampleQuery(filter=ResultFilter(), typed=""))
    assert {row.idx for row in page.rows if row.opened.group == "not_asked"} == {row.idx for row in page.rows} & set(
        left
    )
    view = sample_view(run, benchmark, left[0], 0)
    assert view is not None
    assert (view.verdict.group, view.reward) == ("not_asked", None)
