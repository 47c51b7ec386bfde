"""Limits of the machine and of the purse: descriptors, memory, money, tokens, requests."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest

import nel
from tests.faults.invariants import read_run
from tests.faults.runs import run, start, write_config
from tests.faults.server import HANGS_SECONDS, Call, Reply, answer, answer_json, http, serving

PRICES = {"m": {"input": 1000.0, "output": 1000.0, "cached_input": 100.0}}
"""A thousandth of a unit for each token: an answer of 60 + 3 tokens costs 0.063."""


def _limited(kind: int, value: int) -> Any:
    return lambda: resource.setrlimit(kind, (value, value))


@pytest.mark.slow
def test_f57_little_memory(tmp_path: Path) -> None:
    """An address space of 700 MB: the run ends whole, or with an error and not with a lost sample."""
    with serving() as server:
        path = write_config(tmp_path, server.url, n=50)
        limit = _limited(resource.RLIMIT_AS, 700 << 20)
        process = start(["eval", "run", str(path)], tmp_path, preexec_fn=limit, env={"OPENBLAS_NUM_THREADS": "1"})
        _, stderr = process.communicate(timeout=HANGS_SECONDS)
        found = list((tmp_path / "out").glob("*/run.db")) if (tmp_path / "out").exists() else []
        if process.returncode == 0:
            assert read_run(found[0].parent, 0).states == ["scored"] * 50
        else:
            assert "emory" in stderr or "allocate" in stderr


@pytest.mark.slow
def test_f41_memory_follows_the_concurrency(tmp_path: Path) -> None:
    """Forty megabytes of answers cost the process next to no more memory than two."""

    def long(call: Call) -> Reply:
        return http(json.dumps(answer_json(f"{'x' * 50_000} Answer: {2 * call.number}")))

    def peak(n: int) -> int:
        path = write_config(tmp_path, server.url, n=n, out=f"out{n}")
        process = start(["eval", "run", str(path)], tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss

    with serving(long) as server:
        few, many = peak(40), peak(800)
    assert many - few < 24 * 1024, f"{many - few} KiB more"


@pytest.mark.parametrize(
    ("budget", "calls"),
    [({"max_requests": 20}, 20), ({"max_tokens_total": 1260}, 20), ({"max_cost": 1.26, "prices": PRICES}, 20)],
    ids=["f129-requests", "f129-tokens", "f129-cost"],
)
def test_a_spent_budget_stops_the_run_resumably(tmp_path: Path, budget: dict[str, Any], calls: int) -> None:
    """20 answers' worth of a budget: no more is asked than that and what was in flight; the rest is unscored."""
    settings = {"engine": {"concurrency": 4}, "generation": {"max_tokens": 3}}
    usage = {"prompt_tokens": 60, "completion_tokens": 3, "total_tokens": 63}
    with serving(lambda call: answer(f"Answer: {2 * call.number}", usage=usage)) as server:
        ran = run(tmp_path, server, n=100, budget=budget, **settings)
        spent = len(server.calls)
        assert calls / 4 <= spent <= calls + 4
        assert ran.exit_code == 75
        assert ran.accounting["n_scored"] == spent
        assert ran.accounting["unscored"]["budget"]["n"] == 100 - spent
        generous = {name: value if name == "prices" else value * 1000 for name, value in budget.items()}
        again = run(tmp_path, server, n=100, budget=generous, resume=True, **settings)
        assert server.resent() == 0
    assert again.states == ["scored"] * 100


def test_f129_a_budget_counts_all_sessions(tmp_path: Path) -> None:
    """A resume with the same budget, which is spent, asks nothing."""
    with serving() as server:
        assert run(tmp_path, server, n=50, budget={"max_requests": 10}).exit_code == 75
        sent = len(server.calls)
        again = run(tmp_path, server, n=50, budget={"max_requests": 10}, resume=True)
        assert len(server.calls) == sent
    assert again.exit_code == 75


def test_f129_a_price_that_is_not_known_is_refused(tmp_path: Path) -> None:
    """A limit of cost for a model without a price is an error before anything is sent."""
    with serving() as server:
        with pytest.raises(nel.NelError, match="price"):
            run(tmp_path, server, budget={"max_cost": 1.0, "prices": {"other": PRICES["m"]}})
        assert server.calls == server.others == []
