"""A fault of the machinery is never a wrong answer: it is unscored, by cause, and shows in the exit code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_json, read_results, sums

FAST = (
    *("-O", "endpoint.backoff_seconds=0.001", "-O", "endpoint.attempts_max=2"),
    *("-O", "endpoint.outage_seconds_max=0.3", "-O", "endpoint.outage_probe_seconds=0.1"),
)


def _right(call: Call, _: int) -> Reply:
    number = int(call.text.split("What is ")[1].split()[0])
    return answer(f"Answer: {2 * number}")


def _run(tmp_path: Path, url: str, *more: str, env: dict[str, str] | None = None, n: int = 6) -> Any:
    data = sums(tmp_path / "data.jsonl", n)
    arguments = (
        "eval",
        "run",
        "--bench",
        "gsm8k",
        "--dataset",
        str(data),
        "--model-url",
        url,
        "--model-id",
        "m",
        "-o",
        "out",
    )
    return nel(*arguments, *FAST, *more, cwd=tmp_path, env=env)


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
        return Reply(status=500, body={}) if broken and "What is 3 " in call.text else _right(call, number)

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


ENDS = [
    (answer("Answer: 0", finish="length"), ("model_failure", "truncated")),
    (answer(""), ("model_failure", "empty")),
    (answer(None, reasoning_content="hmm"), ("model_failure", "empty")),
    (answer("no", finish="content_filter"), ("model_failure", "content_filter")),
    (answer(None, refusal="I will not."), ("model_failure", "refusal")),
    (answer("I do not know"), ("model_failure", "no_answer")),
    (answer("<think>Answer: 5</think>Answer: 0"), ("scored", None)),
    (
        Reply(status=400, body={"error": {"message": "maximum context length is 10 tokens"}}),
        ("model_failure", "context_exceeded"),
    ),
    (Reply(raw=b"<html>login</html>"), ("unscored", "malformed")),
    (Reply(body={"error": {"message": "overloaded", "code": 503}}), ("unscored", "server_error")),
    (Reply(status=400, body={"error": {"message": "bad"}}), ("unscored", "bad_request")),
    (Reply(status=302, headers={"Location": "http://127.0.0.1:1/"}), ("unscored", "not_found")),
]


def test_every_answer_ends_in_one_state(tmp_path: Path) -> None:
    """Truncated, empty, filtered, refused, malformed: each its own state, none a wrong answer."""

    def script(call: Call, number: int) -> Reply:
        match = re.search(r"What is (\d+) ", call.text)
        if match is None:
            return answer("yes")
        place, is_right = divmod(int(match[1]), 2)
        return _right(call, number) if is_right else ENDS[place][0]

    with scripted(script, models=["m"]) as endpoint:
        _run(tmp_path, endpoint.url, "-O", "engine.preflight=false", n=2 * len(ENDS))
    lines = read_results(only_run(tmp_path / "out"), "gsm8k")
    rows = lines[::2]
    assert [(row["outcome"]["state"], row["outcome"]["kind"]) for row in rows] == [state for _, state in ENDS]
    assert [row["reward"] is None for row in rows] == [state == "unscored" for _, (state, _) in ENDS]
    assert [row["reward"] for row in lines[1::2]] == [1.0] * len(ENDS)


def test_a_scorer_that_raises_harms_its_own_sample_only(tmp_path: Path) -> None:
    """A scorer's bug is unscored by scorer with the traceback; the other samples are scored."""
    bench = tmp_path / "bench.py"
    bench.write_text(
        "from nel import benchmark, scorer\n"
        "@benchmark(name='fragile', dataset='data.jsonl', prompt='{question}', target_field='answer')\n"
        "@scorer\n"
        "def fragile(sample):\n"
        "    if 'What is 1 ' in sample.metadata['question']:\n"
        "        raise RuntimeError('my bug')\n"
        "    if 'What is 2 ' in sample.metadata['question']:\n"
        "        raise SystemExit(0)\n"
        "    return {'correct': True}\n"
    )
    sums(tmp_path / "data.jsonl", 4)
    with scripted(_right, models=["m"]) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        done = nel("eval", "run", "--bench", "bench.py", *where, cwd=tmp_path)
    assert done.returncode == 3
    rows = read_results(only_run(tmp_path / "out"), "fragile")
    assert [row["outcome"]["state"] for row in rows] == ["scored", "unscored", "unscored", "scored"]
    assert "RuntimeError: my bug" in rows[1]["outcome"]["detail"]


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
    with scripted(_right, models=["m"]) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        done = nel("eval", "run", "--bench", "bench.py", *where, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    rows = read_results(only_run(tmp_path / "out"), "b")
    assert [row["outcome"]["state"] for row in rows] == ["scored", "unscored", "unscored", "scored"]
    assert "ZeroDivisionError" in rows[2]["outcome"]["detail"]
