"""Results in NeMo Evaluator's form hold rewards alone where its readers look, and come back equal."""

from __future__ import annotations

import json
import re
from pathlib import Path

from nel.artifacts.exporting.writers import export_run
from nel.artifacts.importing.writers import import_results
from tests.artifacts.exporting.test_tables import stored
from tests.support.runs import read_json, read_lines, read_results
from tests.support.viewed_run import build_viewed_run


def undated(path: Path) -> str:
    """Return a file of lines without the dates, which an import does not take over."""
    return re.sub('"(started|ended)":("[^"]*"|null)', "", path.read_text(encoding="utf-8"))


def test_every_line_of_the_results_has_a_reward(finished: Path, tmp_path: Path) -> None:
    """What is unscored stands in a file of its own and is counted; the bundle has the run's score and interval."""
    exported = export_run("nemo", finished, tmp_path / "out")
    lines, left = (read_lines(tmp_path / "out" / "quiz" / name) for name in ("results.jsonl", "unscored.jsonl"))
    (path,) = (tmp_path / "out" / "quiz").glob("eval-*.json")
    bundle, headline = read_json(path), read_json(finished / "quiz" / "metrics.json")["headline"]
    expected = [one for one in stored(finished) if one["reward"] is not None]
    assert [(one["problem_idx"], one["reward"]) for one in lines] == [
        (one["problem_idx"], one["reward"]) for one in expected
    ]
    assert [one["reward"] for one in left] == [None] * 3
    score = bundle["benchmark"]["scores"]["mean_reward"]
    assert [score[one] for one in ("value", "ci_lower", "ci_upper")] == [
        headline[one] for one in ("value", "ci_lower", "ci_upper")
    ]
    assert bundle["benchmark"]["scores"]["unscored_count"] == {"value": 3}
    assert bundle["n_results"] == len(lines) == 27
    assert any("does not say how much that leaves out" in one for one in exported.notes)


def test_it_comes_back_equal(tmp_path: Path) -> None:
    """Both files of lines are equal but for dates after a second export, and so are results, counts and headline."""
    source = build_viewed_run(tmp_path / "source", repeats=2, is_complete=True)
    first, run, second = (tmp_path / name for name in ("first", "run", "second"))
    export_run("nemo", source, first)
    import_results(first, run)
    export_run("nemo", run, second)
    for name in ("results.jsonl", "unscored.jsonl"):
        assert undated(first / "quiz" / name) == undated(second / "quiz" / name)
    bundles = [read_json(next((one / "quiz").glob("eval-*.json"))) for one in (first, second)]
    for name in ("run_id", "timestamp", "n_results", "complete"):
        assert bundles[0][name] == bundles[1][name]
    assert bundles[0]["benchmark"] == bundles[1]["benchmark"]
    assert stored(run) == stored(source)


def test_ids_that_are_numbers_are_not_taken_for_positions(tmp_path: Path) -> None:
    """Ids such as MMLU-Pro's became the numbers by which results are paired, which shifted where some are left out."""
    source = build_viewed_run(tmp_path / "source", is_complete=True)
    first, run, second = (tmp_path / name for name in ("first", "run", "second"))
    export_run("nemo", source, first)
    path = first / "quiz" / "results.jsonl"
    kept = [one for one in read_lines(path) if one["problem_idx"] % 3 != 1]
    for one in kept:
        one["nel"]["sample_id"] = str(9000 - one["problem_idx"])
    path.write_text("".join(json.dumps(one) + "\n" for one in kept), encoding="utf-8")
    import_results(first, run)
    export_run("nemo", run, second)
    again = read_results(second, "quiz")
    for one in (*kept, *again):
        del one["nel"]["timing"]
    assert again == kept
