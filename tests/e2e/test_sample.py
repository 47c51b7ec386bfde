"""A sample of a benchmark, and its first questions, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.runs import nel, only_run, read_json, write_bench, write_jsonl

SIZES = {"art": 40, "law": 160, "physics": 100}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with 300 recorded answers, sorted by category; all of art are right and half of the others."""
    fields = {"prompt": "{q}", "target_field": "a", "response_field": "r"}
    write_bench(tmp_path / "bench.py", "sample.response == sample.target", name="quiz", dataset="rows.jsonl", **fields)
    write_jsonl(
        tmp_path / "rows.jsonl",
        (
            {"q": f"{name} {n}", "a": "1", "r": "1" if name == "art" or n % 2 else "2", "category": name}
            for name, size in SIZES.items()
            for n in range(size)
        ),
    )
    return tmp_path


def run(folder: Path, *flags: str, out: str = "out") -> Path:
    done = nel("eval", "run", "--bench", "bench.py", "-o", out, *flags, cwd=folder)
    assert done.returncode == 0, done.stderr
    return only_run(folder / out)


def metrics(run_dir: Path) -> dict[str, Any]:
    content: dict[str, Any] = read_json(run_dir / "quiz" / "metrics.json")
    return content


def test_a_sample_has_each_category_and_two_intervals(folder: Path) -> None:
    """Its interval is of the whole benchmark, and that for new questions stands beside it."""
    found = metrics(run(folder, "--sample", "60"))
    assert {name: part["n_total"] for name, part in found["categories"].items()} == {"art": 8, "law": 32, "physics": 20}
    headline = found["headline"]
    assert (headline["ci_method"], headline["ci_covers"]) == ("stratified", "all 300 questions of the benchmark")
    new = headline["new_questions"]
    assert new["ci_method"] == "wilson"
    assert headline["ci_upper"] - headline["ci_lower"] < new["ci_upper"] - new["ci_lower"]
    assert found["warnings"] == []


def test_a_sample_is_part_of_the_identity(folder: Path) -> None:
    """Another size or seed is another run, and a resume with one is refused, also where rows have ids of their own."""
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    write_jsonl(folder / "rows.jsonl", ({"id": number, **row} for number, row in enumerate(rows)))
    run_dir = run(folder, "--sample", "60")
    bundle = read_json(run_dir / "quiz" / "eval-quiz.json")
    assert (bundle["identity_fields"]["sample.size"], bundle["identity_fields"]["sample.seed"]) == (60, 0)
    done = nel("eval", "resume", str(run_dir), "-O", "benchmarks.0.sample_seed=1", cwd=folder)
    assert done.returncode == 2
    assert "sample.seed: 0 -> 1" in done.stderr
    done = nel("eval", "resume", str(run_dir), "-O", "benchmarks.0.sample=90", cwd=folder)
    assert "sample.size: 60 -> 90" in done.stderr


def test_shards_of_a_sample_merge_to_the_sample(folder: Path) -> None:
    """Each shard asks its part of the sample, and the merged run has the intervals of an undivided one."""
    whole = metrics(run(folder, "--sample", "60"))
    for number in (1, 2):
        run(folder, "--sample", "60", "--shard", f"{number}/2", out=f"shard{number}")
    shards = [str(only_run(folder / f"shard{number}")) for number in (1, 2)]
    assert nel("eval", "merge", *shards, "-o", "merged", cwd=folder).returncode == 0
    merged = metrics(folder / "merged")
    assert (merged["headline"], merged["selection"]) == (whole["headline"], whole["selection"])


def test_the_first_questions_say_so_in_every_output(folder: Path) -> None:
    """The first 50 are of one category and a part of another, and have no interval."""
    run_dir = run(folder, "--max-problems", "30")
    text = "the first 30 of 300, 1 of 3 categories; not a sample"
    found = metrics(run_dir)
    assert (found["headline"]["value"], found["headline"]["ci_lower"], found["selection"]["text"]) == (1.0, None, text)
    assert [one["kind"] for one in found["warnings"]] == ["first_n"]
    assert text in (run_dir / "report.html").read_text()
    reported = nel("report", str(run_dir), "-f", "markdown", "-f", "junit", "-f", "csv", cwd=folder)
    assert reported.returncode == 0, reported.stderr
    for file in ("summary.md", "summary.junit.xml", "summary.csv"):
        assert text in (run_dir / file).read_text()
    shown = nel("eval", "run", "--bench", "bench.py", "--max-problems", "30", "-o", "again", "--json", cwd=folder)
    assert text in json.loads(shown.stdout)["benchmarks"]["quiz"]["warnings"][0]["text"]
    assert text in shown.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--sample", "0"), "too small"),
        (("--sample-seed", "-1", "--sample", "5"), "too small"),
        (("--sample", "5", "--stop-when", "width<0.1"), "leave one of them out"),
    ],
)
def test_what_cannot_be_sampled_is_refused(folder: Path, flags: tuple[str, ...], message: str) -> None:
    """A usage error names what to leave out, and nothing is written."""
    done = nel("eval", "run", "--bench", "bench.py", "-o", "out", *flags, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (folder / "out").exists()
