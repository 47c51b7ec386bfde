"""`nel eval reproduce`: the same run again, compared with the first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, write_jsonl

N = 8


def _run(tmp_path: Path, url: str) -> Path:
    rows = ({"id": f"s{n}", "question": f"What is {n} plus {n}?", "answer": f"#### {2 * n}"} for n in range(N))
    data = write_jsonl(tmp_path / "data.jsonl", rows)
    models = ("--model-url", url, "--model-id", "m", "--cache", str(tmp_path / "cache"))
    done = nel("eval", "run", "--bench", "gsm8k", "--dataset", str(data), *models, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return only_run(tmp_path / "out")


def test_a_reproduced_run_asks_everything_again_and_shows_what_changed(tmp_path: Path) -> None:
    """Two of eight answers change: the endpoint is asked about all, the cache is not, and the flips are named."""
    changed = False

    def script(call: Call, _: int) -> Reply:
        number = int(re.findall(r"What is (\d+) plus", call.text)[-1]) if "What is" in call.text else 0
        return answer(f"Answer: {2 * number + (changed and number < 2)}")

    with scripted(script, models=["m"]) as endpoint:
        run_dir = _run(tmp_path, endpoint.url)
        changed, before = True, len(endpoint.calls)
        done = nel("eval", "reproduce", str(run_dir), "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(endpoint.calls) - before >= N
    found = json.loads(done.stdout)
    (benchmark,) = found["candidates"][0]["benchmarks"]
    assert (benchmark["flips"]["n_lost"], benchmark["flips"]["n_won"]) == (2, 0)
    assert benchmark["headline"]["difference"]["value"] == pytest.approx(-2 / N)
    assert benchmark["differs"] == benchmark["fields_differ"] == []
    assert len(list((tmp_path / "out").iterdir())) == 2
    assert "reproduced: " in done.stderr


def test_what_cannot_be_compared_is_refused_before_anything_is_paid(tmp_path: Path) -> None:
    """A margin in the wrong unit, or an old run that did not end: the new run would be paid for in vain."""
    with scripted(lambda *_: answer("Answer: 0"), models=["m"]) as endpoint:
        run_dir = _run(tmp_path, endpoint.url)
        before = len(endpoint.calls)
        done = nel("eval", "reproduce", str(run_dir), "--margin", "5", cwd=tmp_path)
        assert (done.returncode, "0.05 is 5 points" in done.stderr) == (2, True), done.stderr
        file = run_dir / "gsm8k" / "metrics.json"
        file.write_text(file.read_text(encoding="utf-8").replace('"complete": true', '"complete": false'), "utf-8")
        done = nel("eval", "reproduce", str(run_dir), cwd=tmp_path)
        assert (done.returncode, "is not finished" in done.stderr) == (2, True), done.stderr
        file.write_text(file.read_text(encoding="utf-8").replace('"complete": false', '"complete": true'), "utf-8")
        results = run_dir / "gsm8k" / "results.jsonl"
        results.write_text(results.read_text(encoding="utf-8").replace('"reward":0.0', '"reward":1.0', 1), "utf-8")
        done = nel("eval", "reproduce", str(run_dir), cwd=tmp_path)
        assert (done.returncode, "does not agree with metrics.json" in done.stderr) == (2, True), done.stderr
        assert len(endpoint.calls) == before
    assert len(list((tmp_path / "out").iterdir())) == 1


@pytest.mark.parametrize(("what", "field"), [("an answer", "dataset.sha256"), ("", "max_tokens")])
def test_a_changed_run_is_refused_before_anything_is_paid(tmp_path: Path, what: str, field: str) -> None:
    """Another dataset or setting: the two could not be compared, which is known beforehand."""
    with scripted(lambda *_: answer("Answer: 0"), models=["m"]) as endpoint:
        run_dir = _run(tmp_path, endpoint.url)
        before = len(endpoint.calls)
        data = tmp_path / "data.jsonl"
        lines = data.read_text(encoding="utf-8")
        changed = {
            "an answer": lines.replace("#### 4", "#### 5"),
            "a question": lines.replace("What is 3 plus", "How much is 3 plus"),
            "a row": lines.partition("\n")[2],
        }
        data.write_text(changed.get(what, lines), encoding="utf-8")
        settings = () if what else ("-O", "generation.max_tokens=77")
        done = nel("eval", "reproduce", str(run_dir), *settings, cwd=tmp_path)
        assert (done.returncode, field in done.stderr) == (2, True), done.stderr
        assert "nothing was asked" in done.stderr
        assert len(endpoint.calls) == before
    assert len(list((tmp_path / "out").iterdir())) == 1
