"""A fault of the machinery is never a wrong answer: it is unscored, by cause, and shows in the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.endpoint import Call, Reply, right_sum, scripted
from tests.support.runs import nel, only_run, read_json, read_results, sums, sums_command

FAST = (
    *("-O", "endpoint.backoff_seconds=0.001", "-O", "endpoint.attempts_max=2"),
    *("-O", "endpoint.outage_seconds_max=0.3", "-O", "endpoint.outage_probe_seconds=0.1"),
)


def _run(tmp_path: Path, url: str, *more: str, env: dict[str, str] | None = None, n: int = 6) -> Any:
    sums(tmp_path / "data.jsonl", n)
    return nel(*sums_command(url, *FAST, *more), cwd=tmp_path, env=env)


def _accounting(tmp_path: Path) -> dict[str, Any]:
    run_dir = only_run(tmp_path / "out")
    accounting: dict[str, Any] = read_json(run_dir / "gsm8k" / "metrics.json")["accounting"]
    assert accounting == read_json(run_dir / "gsm8k" / "failure_analysis.json")["accounting"]
    assert accounting == read_json(run_dir / "gsm8k" / "eval-gsm8k.json")["benchmark"]["accounting"]
    total = accounting["n_scored"] + accounting["n_model_failure"] + accounting["n_unscored"]
    assert accounting["n_total"] == total == len(read_results(run_dir, "gsm8k"))
    return accounting


def test_one_lost_sample_does_not_hide(tmp_path: Path) -> None:
    """One sample lost of six: the score is over five, the bounds say so, exit 3; a resume asks for it again."""
    broken = True

    def script(call: Call, number: int) -> Reply:
        return Reply(status=500, body={}) if broken and "What is 3 " in call.text else right_sum(call, number)

    with scripted(script, models=["m"]) as endpoint:
        done = _run(tmp_path, endpoint.url)
        assert done.returncode == 3
        headline = read_json(only_run(tmp_path / "out") / "gsm8k" / "metrics.json")["headline"]
        assert headline["value"] == 1.0
        assert headline["bounds"] == {"lower": 5 / 6, "upper": 1.0}
        broken = False
        sent = len(endpoint.calls)
        again = nel("eval", "resume", str(only_run(tmp_path / "out")), cwd=tmp_path)
        assert len(endpoint.calls) == sent + 1
    assert again.returncode == 0
    assert _accounting(tmp_path)["n_scored"] == 6


def test_a_row_that_cannot_be_prepared_harms_itself_only(tmp_path: Path) -> None:
    """prepare_row may raise anything or return nothing: that row is bad, the others count."""
    bench = tmp_path / "bench.py"
    bench.write_text(
        "from nel import benchmark, scorer\n"
        "def prepare(row):\n"
        "    number = int(row['question'].split()[2])\n"
        "    return None if number == 1 else {**row, 'x': 1 / (number - 2)}\n"
        "@benchmark(name='b', dataset='data.jsonl', prompt='{question}', target_field='answer', prepare_row=prepare)\n"
        "@scorer\n"
        "def b(sample):\n"
        "    return True\n"
    )
    sums(tmp_path / "data.jsonl", 4)
    with scripted(right_sum, models=["m"]) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        done = nel("eval", "run", "--bench", "bench.py", *where, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    rows = read_results(only_run(tmp_path / "out"), "b")
    assert [row["outcome"]["state"] for row in rows] == ["scored", "unscored", "unscored", "scored"]
    assert "ZeroDivisionError" in rows[2]["outcome"]["detail"]
