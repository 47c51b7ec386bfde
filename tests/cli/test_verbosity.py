"""What `-q` and `-v` show beside the result."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import sums


def _refused_once(call: Call, number: int) -> Reply:
    return answer("2") if number else Reply(status=429, body={}, headers={"Retry-After": "0"})


@pytest.mark.parametrize(("flag", "n_lines"), [("-q", 0), ("-v", 4)])
def test_quiet_prints_the_result_alone_and_verbose_what_happens(tmp_path: Path, flag: str, n_lines: int) -> None:
    """The result is on stdout in both; retries are on stderr only where they are asked for."""
    sums(tmp_path / "rows.jsonl", 1)
    with scripted(_refused_once, models=["m"]) as endpoint:
        chosen = ["--dataset", str(tmp_path / "rows.jsonl"), "--model-url", endpoint.url, "--model-id", "m"]
        done = CliRunner().invoke(app, ["eval", "run", "--bench", "gsm8k", *chosen, "-o", str(tmp_path), flag])
    assert done.exit_code == 0
    assert "accuracy" in done.stdout
    events = [line.split()[1] for line in done.stderr.splitlines() if line[2:3] == ":"]
    assert len(events) >= n_lines
    assert ("retried" in events, "session_ended" in events) == (flag == "-v", flag == "-v")
    assert not (flag == "-q" and done.stderr)
