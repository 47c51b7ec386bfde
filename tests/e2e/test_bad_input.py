"""Every wrong input ends in one clear line and exit code 2, before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, only_run, read_json, read_results, write_bench, write_jsonl
from tests.support.tiers import first_rows

ENDPOINT = ("--model-url", "http://127.0.0.1:9/v1", "--model-id", "m")


@pytest.mark.parametrize(
    ("content", "message"),
    first_rows(
        3,
        [
            ("", "the file is empty"),
            (
                '{"id": 1, "question": "q", "answer": "#### 1"}\n{"id": "1", "question": "r", "answer": "#### 1"}\n',
                "line 1 and line 2",
            ),
            ('{"id": true, "question": "q", "answer": "#### 1"}\n', "line 1"),
            ('{"question": "q", "answer": "no number"}\n', 'does not end in "#### N"'),
        ],
    ),
)
def test_wrong_datasets(tmp_path: Path, content: str, message: str) -> None:
    """Empty, invalid, duplicate ids, missing fields: named by line or field, exit 2, nothing left."""
    (tmp_path / "data.jsonl").write_text(content)
    done = nel("eval", "run", "--bench", "gsm8k", "--dataset", "data.jsonl", *ENDPOINT, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert list(tmp_path.glob("eval_results/*")) == []


def test_one_bad_row_is_unscored_and_the_others_count(tmp_path: Path) -> None:
    """A row without its target is a bad row, named by line; it never disappears from the denominator."""
    rows = [{"question": "a", "answer": "1"}, {"question": "b", "answer": None}, {"question": "c", "answer": "1"}]
    write_jsonl(tmp_path / "data.jsonl", rows)
    bench = write_bench(tmp_path / "bench.py", "True", name="mine", dataset="data.jsonl")
    with scripted(lambda *_: answer("x")) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        done = nel("eval", "run", "--bench", str(bench), *where, cwd=tmp_path)
        assert len(endpoint.calls) == 2
    assert done.returncode == 3
    run_dir = only_run(tmp_path / "out")
    assert read_json(run_dir / "mine" / "metrics.json")["accounting"]["unscored"] == {
        "bad_row": {"n": 1, "kinds": {"unusable": 1}}
    }
    assert "line 2" in read_results(run_dir, "mine")[1]["outcome"]["detail"]
