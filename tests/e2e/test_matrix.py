"""Several endpoints in one process: killed, interrupted and resumed as one."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import yaml

from tests.support.endpoint import Call, Reply, Turnstile, answer, scripted
from tests.support.matrices import N, matrix_config
from tests.support.processes import started_nel, wait_until
from tests.support.runs import nel, read_json

CONCURRENCY = 4
PLANNED = 2 * N


def _right(call: Call, _: int) -> Reply:
    return answer(f"#### {2 * call.number}")


@pytest.mark.slow
def test_kill_and_interrupt_cost_at_most_what_is_in_flight(tmp_path: Path) -> None:
    """A SIGKILL and a Ctrl-C in the middle end both runs; a resume asks again at most what was in flight."""
    gates = [Turnstile(_right), Turnstile(_right)]
    with scripted(gates[0]) as one, scripted(gates[1]) as other:
        config = matrix_config(tmp_path, {"one": one.url, "other": other.url}, budget={"max_requests": 10 * N})
        (tmp_path / "m.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        out = tmp_path / "out" / "matrix"
        for gate in gates:
            gate.hold_after(N // 2)
        with started_nel("eval", "run", "m.yaml", cwd=tmp_path) as process:
            wait_until(lambda: min(len(one.of_samples), len(other.of_samples)) > N // 2, process)
            process.kill()
            process.communicate()
        for gate in gates:
            gate.open()
            gate.hold_after(N // 2)
        n = len(one.of_samples)
        with started_nel("eval", "resume", str(out), cwd=tmp_path) as process:
            wait_until(lambda: len(one.of_samples) > n + N // 2, process)
            process.send_signal(signal.SIGINT)
            for gate in gates:
                gate.open()
            process.communicate()
            assert process.returncode == 130
        done = nel("eval", "resume", str(out), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        for endpoint in (one, other):
            assert PLANNED <= len(endpoint.of_samples) <= PLANNED + 2 * CONCURRENCY
    document = read_json(out / "matrix_results.json")
    assert [run["ended"] for run in document["runs"]] == ["done", "done"]
    assert {found["value"] for run in document["runs"] for found in run["benchmarks"].values()} == {1.0}


def test_command_line_shows_one_table_and_a_line_for_each_refusal(tmp_path: Path) -> None:
    """One file runs all endpoints and prints one table; what is wrong at two endpoints is two lines and exit code 2."""
    with scripted(_right, models=["m"]) as good, scripted(_right, models=["x"]) as bad:
        config = matrix_config(tmp_path, {"good": good.url, "also": good.url})
        (tmp_path / "m.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        done = nel("eval", "run", "m.yaml", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert [line.count("100.00 % (") for line in done.stdout.splitlines() if "gsm8k" in line] == [2, 2]
        config["endpoints"] += [{"name": name, "url": bad.url, "model": "m"} for name in ("b1", "b2")]
        (tmp_path / "m.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        refused = nel("eval", "run", "m.yaml", "--run-id", "other", cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert [line.split(":")[1].strip() for line in refused.stderr.splitlines()] == ["b1", "b2"]
        assert not (tmp_path / "out" / "other").exists()
