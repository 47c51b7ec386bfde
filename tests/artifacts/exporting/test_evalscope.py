"""EvalScope reads what was exported in its form: scores, counts and rows, and no value where there is no score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.exporting.writers import export_run
from tests.artifacts.exporting.readers import read_by
from tests.artifacts.exporting.test_tables import storable, stored
from tests.support.runs import read_json, read_lines


def rows_of(output: Path, folder: str) -> list[dict[str, Any]]:
    files = (output / folder / "m").glob("quiz_*.jsonl")
    return sorted((line for path in files for line in read_lines(path)), key=lambda one: int(one["index"]))


def test_rows_and_report_are_of_the_run(finished: Path, tmp_path: Path) -> None:
    """Each result has a prediction and a review; an unscored review is excluded, with an empty value."""
    export_run("evalscope", finished, tmp_path / "out")
    expected, reviews = stored(finished), rows_of(tmp_path / "out", "reviews")
    scores = [one["sample_score"]["score"] for one in reviews]
    assert [one["value"].get("accuracy") for one in scores] == [one["reward"] for one in expected]
    assert [one["status"] for one in scores].count("excluded") == 3
    assert all(one["value"] == {} for one in scores if one["status"] == "excluded")
    answers = [
        one["model_output"]["choices"][0]["message"]["content"][-1]["text"]
        for one in rows_of(tmp_path / "out", "predictions")
    ]
    assert answers == [storable(one["model_response"]) for one in expected]
    report = read_json(tmp_path / "out" / "reports" / "m" / "quiz.json")
    assert report["execution_summary"] == {
        "requested": 30, "succeeded": 27, "errored": 3, "incomplete": True, "subsets": {}
    }  # fmt: skip
    (metric,) = report["metrics"]
    assert metric["score"] == read_json(finished / "quiz" / "metrics.json")["headline"]["value"]
    assert {one["name"]: one["num"] for one in metric["categories"][0]["subsets"]} == {
        "law": 9, "physics": 9, "_b_bold__b_": 9
    }  # fmt: skip


READ = """
import json, sys
from pathlib import Path
from evalscope.api.evaluator.cache import ModelResult, ReviewResult
from evalscope.report.combinator import get_data_frame, get_report_list
folder = Path(sys.argv[1])
(report,) = get_report_list([str(folder / "reports")])
rows = lambda name: [json.loads(line) for path in folder.glob(name + "/*/*.jsonl") for line in path.open()]
values = [ReviewResult.from_cache_item(one).to_sample_score().score.main_value for one in rows("reviews")]
texts = [ModelResult.model_validate(one).model_output.completion for one in rows("predictions")]
print(json.dumps({
    "score": report.score, "num": report.num, "errored": report.execution_summary.errored, "texts": sorted(texts),
    "missing": values.count(None), "sum": sum(one for one in values if one is not None),
    "subsets": len(get_data_frame([report])),
}))
"""


@pytest.mark.slow
def test_evalscope_reads_it(finished: Path, tmp_path: Path) -> None:
    """Its own reader has the score, the counts, every answer, and None for what is unscored."""
    export_run("evalscope", finished, tmp_path / "out")
    found, expected = read_by("evalscope", READ, tmp_path / "out"), stored(finished)
    headline = read_json(finished / "quiz" / "metrics.json")["headline"]
    assert found["texts"] == sorted(storable(one["model_response"]) or "" for one in expected)
    assert (found["score"], found["num"], found["errored"]) == (round(headline["value"], 4), 27, 3)
    assert (found["missing"], found["subsets"]) == (3, 3)
    assert found["sum"] == sum(one["reward"] or 0 for one in expected)
