"""Runs against a faulty server: quick settings, in this process or in one of its own, with every invariant checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nel
from nel.config.schema import EndpointConfig
from tests.faults.invariants import CANARY, CANARY_ENV, Ran, no_secret, read_run, totals_agree
from tests.faults.server import HANGS_SECONDS, Server
from tests.support.runs import nel as nel_command
from tests.support.runs import only_run, sums

ROOT = Path(__file__).resolve().parents[2]
_STARTED: list[subprocess.Popen[Any]] = []
_QUICK: dict[str, Any] = {
    "model": "m",
    "api_key_env": CANARY_ENV,
    "connect_timeout_seconds": 60.0,
    "first_byte_timeout_seconds": 60.0,
    "idle_timeout_seconds": 60.0,
    "total_timeout_seconds": 60.0,
    "attempts_max": 3,
    "backoff_seconds": 0.002,
    "backoff_seconds_max": 0.01,
    "outage_probe_seconds": 0.05,
    "outage_seconds_max": 60.0,
}
QUICK = {name: value for name, value in _QUICK.items() if name in EndpointConfig.model_fields}
"""Every wait between two attempts scaled down; what an answer may take is not, since a machine may be slow."""


def config(
    tmp_path: Path,
    url: str,
    *,
    n: int = 3,
    out: str = "out",
    endpoint: Mapping[str, Any] | None = None,
    engine: Mapping[str, Any] | None = None,
    benchmark: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return the configuration of a quick run of n sums."""
    data = tmp_path / f"sums{n}.jsonl"
    if not data.exists():
        sums(data, n)
    return {
        "endpoint": {"url": url, **QUICK, **(endpoint or {})},
        "engine": {"concurrency": 4, "preflight": False, "first_request_seconds": 60.0, "drain_seconds": 60.0}
        | {**(engine or {})},
        "benchmarks": [{"name": "gsm8k", "dataset": str(data), **(benchmark or {})}],
        "output": {"dir": str(tmp_path / out)},
        **more,
    }


def run(tmp_path: Path, server: Server | str, *, resume: bool = False, **settings: Any) -> Ran:
    """Evaluate in this process, read everything back and check the invariants."""
    url = server if isinstance(server, str) else server.url
    result = nel.evaluate(config(tmp_path, url, **settings), resume=resume)
    name = result.benchmarks[0].slot
    ran = read_run(result.run_dir, result.exit_code, benchmark=name, reason=result.ending.reason)
    assert result.benchmarks[0].accounting == ran.accounting
    no_secret(result.ending.reason)
    return ran


def write_config(tmp_path: Path, url: str, **settings: Any) -> Path:
    """Write a quick run's configuration as the YAML that the command line reads (JSON is YAML)."""
    path = tmp_path / "run.yaml"
    path.write_text(json.dumps(config(tmp_path, url, **settings), ensure_ascii=False), encoding="utf-8")
    return path


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a process that runs this checkout, with the canary as its key."""
    path = os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, "COLUMNS": "200", "PYTHONPATH": path, CANARY_ENV: CANARY, **(extra or {})}


def start(
    arguments: list[str], tmp_path: Path, *, env: Mapping[str, str] | None = None, limits: str = "", **more: Any
) -> Any:
    """Start the command line in a process of its own, with pipes unless told otherwise, after a shell's ``ulimit``."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more}
    command = [sys.executable, "-m", "nel", *arguments]
    if limits:
        command = ["sh", "-c", f'{limits}; exec "$0" "$@"', *command]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(env), **pipes)
    _STARTED.append(process)
    return process


def end_started() -> None:
    """End every process that was started and has not ended, so that a test that fails fails alone."""
    while _STARTED:
        process = _STARTED.pop()
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def nel_cli(arguments: list[str], tmp_path: Path, *, env: Mapping[str, str] | None = None) -> Any:
    """Run the command line to its end; its output holds no secret."""
    done = nel_command(*arguments, cwd=tmp_path, env={CANARY_ENV: CANARY, **(env or {})}, timeout=HANGS_SECONDS)
    no_secret(done.stdout, done.stderr)
    return done


def cli_run(tmp_path: Path, server: Server | str, *more: str, **settings: Any) -> tuple[Any, Ran]:
    """Run a quick configuration on the command line with ``--json``; return the process and the run, checked."""
    url = server if isinstance(server, str) else server.url
    path = write_config(tmp_path, url, **settings)
    done = nel_cli(["eval", "run", str(path), "--json", *more], tmp_path)
    ran = read_run(only_run(tmp_path / settings.get("out", "out")), done.returncode)
    totals_agree(ran, stdout=json.loads(done.stdout))
    return done, ran
