"""119 and 120 of 120 right, on a real server whose answers are known: the same digits in every output, and no GO."""

from __future__ import annotations

import json
import re
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nel.datasets.source import open_dataset
from nel.metrics.added_question import added_question_ends
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.processes import started_nel
from tests.support.runs import nel, read_json, write_bench, write_jsonl
from tests.support.tiers import representatives

QUESTIONS, REPEATS, WRONG = 30, 4, 7
MEANS = {"all": [1.0] * QUESTIONS, "most": [1.0] * (QUESTIONS - 1) + [0.75]}
SHOWN = {"all": ("100.00", "88.57"), "most": ("99.17", "87.69")}


EXPORTS = {
    "csv": "metrics.csv",
    "nemo": "quiz/eval-*.json",
    "every-eval-ever": "data/quiz/unknown/m/*.json",
    "evalscope": "reports/m/quiz.json",
    "otel": "spans.jsonl",
}
"""Formats of text, and where their numbers are; the last two have no intervals."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run without an error, and one with one wrong answer among the four to one question."""
    folder = tmp_path_factory.mktemp("known")
    fields = {"prompt": "{q}", "target_field": "a"}
    write_bench(folder / "bench.py", "sample.response == 'yes'", name="quiz", dataset="rows.jsonl", **fields)
    write_jsonl(folder / "rows.jsonl", ({"q": f"Question {n}?", "a": "yes"} for n in range(QUESTIONS)))
    for run in MEANS:

        def script(call: Call, seen_before: int, run: str = run) -> Reply:
            is_wrong = run == "most" and f"Question {WRONG}?" in call.text and seen_before == 2
            return answer("no" if is_wrong else "yes")

        with scripted(script, models=["m"]) as endpoint:
            done = nel(
                "eval", "run", "--bench", "bench.py", "--repeats", str(REPEATS), "--model-url", endpoint.url,
                "--model-id", "m", "-o", "out", "-O", f"output.run_id={run}", cwd=folder,
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (folder / f"{run}.txt").write_text(done.stdout)
    return folder


def _numbers(run: str) -> tuple[float, float]:
    """Return the score of a run and the lower end of its interval; the upper one is 1."""
    return sum(MEANS[run]) / QUESTIONS, added_question_ends(MEANS[run])[0]


def _shows(text: str, run: str) -> bool:
    return all(number in text for number in SHOWN[run]) and bool(re.search(r"100\.00", text))


def _found(value: Any) -> Iterator[float]:
    """Yield all numbers of a JSON value."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _found(item)
    elif isinstance(value, float):
        yield value


@pytest.mark.parametrize("run", representatives(list(MEANS), "most"))
def test_a_run_says_the_same_in_every_output(home: Path, run: str) -> None:
    """Terminal, report, view, artifacts, tables and exports have one score and one interval."""
    score, lower = _numbers(run)
    run_dir = home / "out" / run
    headline = read_json(run_dir / "quiz" / "metrics.json")["headline"]
    assert (headline["value"], headline["ci_lower"], headline["ci_upper"]) == pytest.approx((score, lower, 1.0))
    assert headline["ci_method"] == "added_question"
    exact = repr(headline["value"]), repr(headline["ci_lower"])
    assert {headline["value"], headline["ci_lower"]} <= set(_found(read_json(run_dir / "quiz" / "eval-quiz.json")))
    doubt = "doubt rests on 1 of 30 questions" if run == "most" else "all 30 questions have one value"
    pages = [(home / f"{run}.txt").read_text(), (run_dir / "report.html").read_text()]
    done = nel("report", str(run_dir), "-f", "markdown", "-f", "csv", "-f", "latex", cwd=home)
    assert done.returncode == 0, done.stderr
    assert all(number in (run_dir / "summary.csv").read_text() for number in exact)
    pages.append((run_dir / "summary.md").read_text())
    assert _shows((run_dir / "summary.tex").read_text(), run)
    with started_nel("view", "out", "--port", "0", "--no-open", "--no-token", "--cache-dir", "cache", cwd=home) as view:
        assert view.stdout is not None
        url = view.stdout.readline().removeprefix("view: ").strip()
        with urllib.request.urlopen(f"{url}runs/{run}") as page:
            pages.append(page.read().decode())
    for page in pages:
        assert _shows(page, run)
        assert doubt in page.lower()
    for form, pattern in EXPORTS.items():
        target = home / f"{run}-{form}"
        done = nel("export", str(run_dir), "--to", form, "-o", str(target), cwd=home)
        assert done.returncode == 0, done.stderr
        numbers = exact[:1] if form in ("evalscope", "otel") else exact
        assert any(all(number in path.read_text() for number in numbers) for path in target.glob(pattern)), form
    assert nel("export", str(run_dir), "--to", "parquet", "-o", f"{run}-parquet", cwd=home).returncode == 0
    metrics = [row.data for row in open_dataset(str(home / f"{run}-parquet" / "metrics.parquet")).read()]
    assert {headline["value"], headline["ci_lower"]} <= set(_found(metrics))
    assert nel("export", str(run_dir), "--to", "inspect", "-o", f"{run}-inspect", cwd=home).returncode == 0
    (log,) = (home / f"{run}-inspect").glob("*.eval")
    with zipfile.ZipFile(log) as archive:
        assert {headline["value"], headline["ci_lower"]} <= set(_found(json.loads(archive.read("header.json"))))


def test_the_comparison_of_both_has_the_interval_of_its_questions(home: Path) -> None:
    """One answer of 120 is lost: neither worse nor equivalent within 3 points, in JSON, page and text."""
    lower, upper = added_question_ends([0.0] * 29 + [-0.25], low=-1.0)
    done = nel("compare", "out/all", "out/most", "--margin", "0.03", "--json", "--html", "c.html", cwd=home)
    assert done.returncode == 0, done.stderr
    measure = json.loads(done.stdout)["candidates"][0]["benchmarks"][0]["headline"]
    assert (measure["verdict"], measure["difference"]["ci_method"]) == ("inconclusive", "added_question")
    found = measure["difference"]
    assert (found["value"], found["ci_lower"], found["ci_upper"]) == pytest.approx((-1 / 120, lower, upper))
    text = nel("compare", "out/all", "out/most", "--margin", "0.03", cwd=home).stdout
    for output in (text, (home / "c.html").read_text()):
        assert "−12.31 to +10.79" in output
        assert "−0.83" in output
