"""Hosts are processes of their own: their scorers ask the run, are killed, hang and differ from nothing local."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.engine.executors.find import find_executor
from nel.engine.progress import Progress
from nel.errors import ConfigError, MissingExtra
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_json, read_results, run_config, sums, without_volatile

ASKING = """
import os

from nel import benchmark, needs_judge, scorer

@benchmark(name="asking", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def asking(sample):
    if sample.response == "4":
        os._exit(3)
    if sample.response == "8":
        return needs_judge(sample)
    return sample.model_call_fn(f"Is it {sample.response}?") == "yes"
"""


def _config(tmp_path: Path, url: str, executor: str, n: int, source: str = ASKING) -> dict[str, Any]:
    """Return the configuration of a run of n sums whose scorer asks the model or the judge."""
    sums(tmp_path / "rows.jsonl", n)
    (tmp_path / "asking.py").write_text(source)
    return run_config(
        url,
        [{"name": str(tmp_path / "asking.py")}],
        tmp_path / executor.partition(":")[0],
        judge={"panel": [{"url": url, "model": "m"}]},
        engine={"executor": executor, "preflight": False},
    )


def _says(call: Call, _: int) -> Reply:
    if "Is it" in call.text:
        return answer("yes" if "6" in call.text else "no")
    if "What is" not in call.text or "GRADE" in call.text:
        return answer("GRADE: C")
    return answer(str(2 * call.number))


def test_scorers_in_processes_ask_the_run_and_lose_only_their_own_sample(tmp_path: Path) -> None:
    """Model and judge are asked by the run, a scorer that ends its process is unscored: all as in a local run."""
    results = []
    with scripted(_says) as endpoint:
        for executor in ("processes:workers=1", "local"):
            done = nel.evaluate(_config(tmp_path, endpoint.url, executor, 8), progress=Progress())
            assert done.exit_code == 3
            results.append(without_volatile(read_results(done.run_dir, "asking")))
    assert results[0] == results[1]
    rewards = [row["reward"] for row in results[0]]
    assert (rewards[2], rewards[3], rewards[4]) == (None, 1.0, 1.0)


@pytest.mark.slow
def test_a_killed_process_is_replaced_and_its_answers_are_scored_once(tmp_path: Path) -> None:
    """A worker that is killed while it scores loses nothing; the run's note says so."""
    slow = (
        ASKING.replace("import os\n", "import time\n")
        .replace("os._exit(3)", "pass")
        .replace("def asking(sample):", "def asking(sample):\n    time.sleep(0.02)")
    )
    n_asked = 0

    def says(call: Call, n_before: int) -> Reply:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 30:
            os.kill(_hosts()[0], signal.SIGKILL)
        return _says(call, n_before)

    progress = Progress()
    with scripted(says) as endpoint:
        done = nel.evaluate(_config(tmp_path, endpoint.url, "processes:workers=2", 60, slow), progress=progress)
    assert done.exit_code == 0
    assert any(note.startswith("1 workers were lost") for note in progress.notes)
    assert read_json(done.run_dir / "asking" / "metrics.json")["accounting"]["n_scored"] == 60
    assert _hosts() == []


def _hosts() -> list[int]:
    """Return the children of this process that are hosts."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            command = path.with_name("cmdline").read_bytes()
        except (OSError, IndexError):
            continue
        if parent == os.getpid() and b"nel.engine.executors.host" in command:
            found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize("text", ["processes:workers=0", "processes:workers=two", "processes:workers=true"])
def test_a_wrong_number_of_workers_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"takes workers=N from 1 to 1024, not"):
        find_executor(text)


def test_ray_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"the executor ray needs Ray: pip install './plugins/nel-ray'"):
        find_executor("ray://127.0.0.1:10001")
