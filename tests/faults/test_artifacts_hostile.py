"""What a hostile model, dataset or scorer can put into artifacts: inert in every one of them, and strict JSON."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import nel
from tests.faults.invariants import read_run
from tests.faults.runs import cli_run, nel_cli, start, write_config
from tests.faults.server import HANGS_SECONDS, error, serving
from tests.support.runs import only_run, run_config, write_bench, write_jsonl

ESCAPES = {
    "f116-ansi": "\x1b[2J\x1b[31mred",
    "f116-osc52": "\x1b]52;c;cHduZWQ=\x07",
    "f116-cr": "ok\rnel: all 100 % right",
    "f116-bidi": "abc\u202egnp.exe",
    "f116-newline": "x\nnel: score 100 %",
    "f116-c1": "\x9b2J",
}


def test_f116_escapes_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """Errors, answers and names from outside print as escapes, on one line, on stdout and on stderr."""
    text = " ".join(ESCAPES.values())
    with serving(lambda _: error(401, text), models=None) as server:
        path = write_config(tmp_path, server.url, engine={"preflight": True})
        done = nel_cli(["eval", "run", str(path)], tmp_path)
    assert done.returncode == 2
    for stream in (done.stdout, done.stderr):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", stream)
        assert not re.search(r"(?m)^nel: (score|all) 100", stream)


VALUES = {
    "f118-nan": ("float('nan')", None),
    "f118-inf": ("float('inf')", None),
    "f118-minus-inf": ("float('-inf')", None),
    "f118-minus-zero": ("-0.0", 0.0),
    "f118-1e308": ("1e308", 1e308),
    "f118-denormal": ("5e-324", 5e-324),
    "f118-numpy-nan": ("__import__('numpy').float64('nan')", None),
    "f118-numpy": ("__import__('numpy').float32(0.5)", 0.5),
    "f118-huge-integer": ("10 ** 400", None),
    "f118-complex": ("1j", None),
}


def test_f118_a_value_that_json_does_not_have(tmp_path: Path, record_property: Any) -> None:
    """NaN and infinities from a scorer are unscored, never NaN in a file; what JSON has stays what it is."""
    record_property("cases", len(VALUES))
    rows = [{"question": str(number), "answer": "0", "said": "0"} for number in range(len(VALUES) + 2)]
    data = write_jsonl(tmp_path / "d.jsonl", rows)
    values = ", ".join(f"lambda: {expression}" for expression, _ in VALUES.values())
    verdict = f"{{'value': [{values}, lambda: 0.25, lambda: 0.25][int(sample.metadata['question'])]()}}"
    path = write_bench(tmp_path / "bench.py", verdict, dataset=data)
    entry = {"name": str(path), "response_field": "said"}
    result = nel.evaluate({"benchmarks": [entry], "output": {"dir": str(tmp_path / "out")}})
    ran = read_run(result.run_dir, result.exit_code, benchmark="b")
    rewards = [row["reward"] for row in ran.rows]
    assert dict(zip(VALUES, rewards[:-2], strict=True)) == {name: reward for name, (_, reward) in VALUES.items()}
    assert rewards[-2:] == [0.25, 0.25]
    assert ran.exit_code == 3


def test_f118_rewards_whose_sum_is_infinite(tmp_path: Path) -> None:
    """Every reward is the largest number there is, twice a sample: so are the means, and what overflows is undefined."""
    largest = 1.7976931348623157e308
    rows = [{"question": f"What is {i} plus {i}?", "answer": "0", "part": f"p{i % 2}"} for i in range(4)]
    data = write_jsonl(tmp_path / "d.jsonl", rows)
    verdict = f"{{'value': {largest!r}, 'other': -{largest!r}}}"
    path = write_bench(tmp_path / "bench.py", verdict, dataset=data, category_field="part")
    metrics = ["mean", "std", "var", "stderr", "ci", "bootstrap_stderr"]
    entry = {"name": str(path), "repeats": 2, "metrics": metrics, "reducers": ["max", "median"]}
    with serving() as server:
        result = nel.evaluate(run_config(server.url, [entry], tmp_path / "out"))
    ran = read_run(result.run_dir, result.exit_code, benchmark="b")
    assert {row["reward"] for row in ran.rows} == {largest}
    found = {metric["name"]: metric["value"] for metric in ran.metrics["metrics"]}
    assert found["value"] == found["mean"] == found["value/median"] == largest
    assert found["other"] == -largest
    assert found["std"] == found["stderr"] == 0.0
    assert found["bootstrap_stderr"] is None  # the sum of a resample is beyond the largest number
    assert ran.metrics["completed"]["value"] == largest


def test_f117_a_surrogate_in_every_place(tmp_path: Path) -> None:
    """Half characters in the answer, the reasoning, the model's name and an error: stored, shown and read back."""
    half = "x\ud800y"
    body: dict[str, Any] = {
        "model": half,
        "choices": [
            {"message": {"role": "assistant", "content": f"{half} Answer: 0", "reasoning": half}, "finish_reason": half}
        ],
    }
    raw = json.dumps(body).encode()
    reply = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(raw) + raw]
    with serving({0: reply, 1: error(400, half, code=half)}) as server:
        done, ran = cli_run(tmp_path, server, n=3)
        assert done.returncode == 3
    assert ran.states[0] == "scored"
    assert ran.rows[0]["model_response"] == f"{half} Answer: 0"
    assert nel_cli(["report", str(only_run(tmp_path / "out"))], tmp_path).returncode == 3


def _get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=HANGS_SECONDS) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()


def test_f120_the_embedded_endpoint_is_bound_to_loopback(tmp_path: Path) -> None:
    """What nel serves listens on loopback unless told otherwise, and gives no file of the directory away."""
    (tmp_path / "secret.txt").write_text("precious")
    process = start(["endpoint", "demo", "--port", "0"], tmp_path)
    try:
        line = process.stdout.readline() or process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found is not None, line
        port = int(found[1])
        for path in ("/secret.txt", "/../secret.txt", "/%2e%2e/secret.txt", "/", "/v1/../secret.txt"):
            status, body = _get(f"http://127.0.0.1:{port}{path}")
            assert b"precious" not in body
            assert status in (200, 400, 404, 405)
        listening = Path("/proc/net/tcp").read_text()
        assert f"0100007F:{port:04X}" in listening
        assert f"00000000:{port:04X}" not in listening
    finally:
        process.terminate()
        process.communicate(timeout=HANGS_SECONDS)
