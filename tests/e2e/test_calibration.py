"""A whole run with a lenient judge, labels for a slice of it, and a headline that is right again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nel.artifacts.schema import load_schema
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, read_json, write_jsonl

N = 400
BENCH = """
from nel import ScorerInput, benchmark, needs_judge, scorer

@benchmark(name="sums", dataset="rows.jsonl", prompt="What is {n} plus {n}?", target_field="sum")
@scorer
def judged(sample: ScorerInput) -> dict:
    return needs_judge(sample)
"""


def _number(call: Call) -> int:
    found = re.search(r"What is (\d+) plus", call.text)
    assert found is not None
    return int(found[1])


def _is_right(n: int) -> bool:
    return n % 5 < 3


def _adds(call: Call, _: int) -> Reply:
    n = _number(call)
    return answer(f"It is {2 * n if _is_right(n) else 2 * n + 1}.")


def _lenient(call: Call, _: int) -> Reply:
    """Let every right answer pass, and every second wrong one."""
    n = _number(call)
    return answer(f"Fine.\nGRADE: {'C' if _is_right(n) or n % 2 else 'I'}")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a finished run."""
    home = tmp_path_factory.mktemp("calibrated")
    write_jsonl(home / "rows.jsonl", ({"id": f"q{n}", "n": n, "sum": str(2 * n)} for n in range(N)))
    (home / "sums.py").write_text(BENCH)
    with scripted(_adds) as model, scripted(_lenient) as judge:
        config = {
            "endpoint": {"url": model.url, "model": "m"},
            "benchmarks": ["sums.py"],
            "judge": {"url": judge.url, "model": "lenient-7b"},
            "output": {"dir": "out", "run_id": "r"},
        }
        (home / "config.yaml").write_text(json.dumps(config))
        done = nel("eval", "run", "config.yaml", cwd=home)
    assert done.returncode == 0, done.stderr
    return home / "out" / "r"


@pytest.mark.slow
def test_labels_put_a_lenient_judges_headline_right(run: Path) -> None:
    """The judge says 0.80; 120 labels say 0.60 with the truth in the interval, in every place that shows the score."""
    home = run.parents[1]
    drawn = nel("judge", "calibrate", str(run), "--n", "120", "--out", "todo.jsonl", cwd=home)
    assert drawn.returncode == 0, drawn.stderr
    rows: list[dict[str, Any]] = [json.loads(line) for line in (home / "todo.jsonl").read_text().splitlines()]
    assert len(rows) == 120
    assert all(re.fullmatch(r"What is \d+ plus \d+\?", row["question"]) for row in rows)
    assert all(row["reference"] == str(2 * int(row["sample_id"][1:])) for row in rows)
    for row in rows:
        row["label"] = "C" if row["reference"] in row["response"] else "I"
    write_jsonl(home / "done.jsonl", rows)
    done = nel("judge", "calibrate", str(run), "--labels", "done.jsonl", cwd=home)
    assert done.returncode == 0, done.stderr
    metrics = read_json(run / "sums" / "metrics.json")
    corrected = metrics["judging"]["corrected"]
    assert corrected["raw"]["value"] == metrics["headline"]["value"] == pytest.approx(0.8)
    assert corrected["raw"]["ci_lower"] > 0.6
    for method in ("ppi", "rogan_gladen"):
        assert corrected[method]["ci_lower"] < 0.6 < corrected[method]["ci_upper"]
    calibration = read_json(run / "sums" / "calibration.json")
    jsonschema.Draft202012Validator(load_schema("calibration")).validate(calibration)
    jsonschema.Draft202012Validator(load_schema("metrics")).validate(metrics)
    assert calibration["sensitivity"]["value"] == 1.0
    assert calibration["specificity"]["value"] == pytest.approx(0.5, abs=0.12)
    assert calibration["judge"]["panel"][0]["model"] == "lenient-7b"
    assert "kappa is" in done.stderr
    page = (run / "report.html").read_text()
    assert f"Corrected by labels: {corrected['ppi']['value'] * 100:.2f}" in page
    assert "specificity" in page
    assert "below 0.7" in page

    again = nel("eval", "resume", str(run), cwd=home)
    assert again.returncode == 0, again.stderr
    assert "judge-corrected (PPI++)" in again.stdout
    assert "120 labels" in again.stdout
    assert read_json(run / "sums" / "metrics.json") == metrics
