"""An executor is named by the run, is a plugin, and is not part of what the run measures."""

from __future__ import annotations

import asyncio
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.engine.executors import LocalExecutor, ScorerPool, ScoringWork
from nel.engine.executors.find import find_executor
from nel.engine.progress import Progress
from nel.engine.scorers.call import ScoringTask
from nel.engine.scorers.dispatch import Answer, Deliver
from nel.errors import ConfigError, NelError, PluginError, StoppedEarly
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import only_run, read_json, read_results, run_config, sums, without_volatile


def _says(call: Call, _: int) -> Reply:
    return answer(f"#### {4 if '2 plus' in str(call.body) else 0}")


def _config(tmp_path: Path, url: str, executor: str, **engine: Any) -> dict[str, Any]:
    return run_config(
        url,
        [{"name": "gsm8k", "dataset": str(sums(tmp_path / "rows.jsonl", 6))}],
        tmp_path / executor.partition(":")[0],
        engine={"executor": executor, "preflight": False, **engine},
    )


def test_an_executor_of_a_package_scores_a_run_and_a_resume_may_take_another(tmp_path: Path) -> None:
    """Results and identity are those of the local executor; runtime_stats.json names both, in their order."""
    progress = Progress()
    with scripted(_says) as endpoint:
        config = _config(tmp_path, endpoint.url, "example-tally:unit=samples")
        tallied = nel.evaluate(config, progress=progress)
        local = nel.evaluate(_config(tmp_path, endpoint.url, "local"))
        n_calls = len(endpoint.calls)
        again = nel.evaluate({**config, "engine": {"preflight": False}}, resume=True)
        assert len(endpoint.calls) == n_calls
    assert (tallied.exit_code, local.exit_code, again.exit_code) == (0, 0, 0)
    assert "6 samples were scored" in progress.notes
    found, wanted = (without_volatile(read_results(one.run_dir, "gsm8k")) for one in (again, local))
    assert found == wanted
    stats = read_json(again.run_dir / "gsm8k" / "runtime_stats.json")
    assert stats["executors"] == [{"name": "example-tally"}, {"name": "local"}]
    assert again.benchmarks[0].bundle["config"] == local.benchmarks[0].bundle["config"]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("locl", PluginError, 'no executor "locl" is installed; did you mean "local"?'),
        ("local:workers=3", ConfigError, 'the executor "local" of nel .* cannot be used: .*workers'),
        ("local:3", PluginError, 'no package "local" provides an executor "3"; write options as key=value'),
        ("local://3", ConfigError, 'the executor "local" of nel .* cannot be used: .*address'),
    ],
)
def test_an_executor_that_cannot_be_had_is_one_line(text: str, error: type[NelError], message: str) -> None:
    """A wrong name or option is refused by name, with the next step."""
    with pytest.raises(error, match=message):
        find_executor(text)


class _Lost(LocalExecutor):
    """Its scorers are gone when there is work for them and an event is set."""

    def __init__(self, is_due: threading.Event, is_gone: threading.Event) -> None:
        self.is_due = is_due
        self.is_gone = is_gone

    def open_scorers(self, work: ScoringWork) -> ScorerPool:
        return _LostScorers(self)


class _LostScorers:
    def __init__(self, owner: _Lost) -> None:
        self._owner = owner
        self._has_work = asyncio.Event()

    async def run(self, *, timeout_seconds: float, deliver: Deliver, answer: Answer) -> None:
        await self._has_work.wait()
        await asyncio.to_thread(self._owner.is_due.wait)
        asyncio.get_running_loop().call_soon(self._owner.is_gone.set)
        raise StoppedEarly("the cluster is gone")

    def put(self, item: ScoringTask) -> None:
        self._has_work.set()

    def close(self) -> None: ...


def test_scorers_that_are_gone_for_good_stop_the_run_resumably(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run exits 75, what was in flight is stored, nothing is wrong; a resume scores it and asks the rest."""
    has_second, is_gone = threading.Event(), threading.Event()
    asked: list[Call] = []

    def says(call: Call, n_before: int) -> Reply:
        reply = _says(call, n_before)
        asked.append(call)
        if len(asked) > 1 and not is_gone.is_set():
            has_second.set()
            reply.wait = is_gone
        return reply

    with scripted(says) as endpoint:
        config = _config(tmp_path, endpoint.url, "local", concurrency=2)
        with monkeypatch.context() as patched:
            patched.setattr("nel.engine.run.opened_executor", lambda _: nullcontext(_Lost(has_second, is_gone)))
            stopped = nel.evaluate(config)
        assert stopped.exit_code == 75
        assert "the cluster is gone" in stopped.ending.reason
        assert {row["reward"] for row in read_results(stopped.run_dir, "gsm8k")} == {None}
        done = nel.evaluate(config, resume=True)
        assert len(endpoint.calls) == 6
    assert done.exit_code == 0
    assert [row["reward"] for row in read_results(only_run(tmp_path / "local"), "gsm8k")] == [1.0, 0, 1.0, 0, 0, 0]
