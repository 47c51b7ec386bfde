"""The agents of nel's recipes, as their registries give them; `make test-agents` runs these, which needs PyPI and npm."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from nel.environments.agents.recipes import find_recipe, recipe_names
from tests.environments.agents.test_agent_runs import DEMO
from tests.episodes.bank import calling, n_results
from tests.support.containers import engine_client
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.runs import nel, only_run, read_results

pytestmark = [
    pytest.mark.docker,
    pytest.mark.slow,
    pytest.mark.skipif("NEL_REAL_AGENTS" not in os.environ, reason="installs agents; make test-agents runs it"),
]
SHELLS = {"bash": "command", "Bash": "command", "run_shell_command": "command", "exec_command": "cmd"}
"""The tool by which an agent runs a command, and its argument."""


def solving(call: Call, _: int) -> Reply:
    """Play a model that solves the pipeline by the agent's own tool, and says so as the agent wants it."""
    offered = [tool["function"]["name"] for tool in call.body.get("tools", ())]
    shell = next((name for name in offered if name in SHELLS), None)
    if shell is None or (n_results(call) and shell != "bash"):
        return answer("Done.")
    command = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    if not n_results(call):
        command = (DEMO / "pipeline" / "solution" / "solve.sh").read_text()
    others = {"exec_command": {}, "run_shell_command": {"description": "work", "is_background": False}}
    return calling((shell, {SHELLS[shell]: command, **others.get(shell, {"description": "work"})}))


@pytest.mark.parametrize("name", recipe_names())
def test_an_agent_of_a_registry_solves_a_task(name: str, tmp_path: Path) -> None:
    """Steps and tokens of the run are those that the endpoint served; the image has Python only where the agent needs it."""
    folder = shutil.copytree(DEMO / "pipeline", tmp_path / "tasks" / "pipeline")
    if find_recipe(name, {}).python is None:
        with (folder / "environment" / "Dockerfile").open("a") as dockerfile:
            dockerfile.write("RUN rm -r /usr/bin/python3* /usr/lib/python3*\n")
    instruction = folder / "instruction.md"
    instruction.write_text(f"- {instruction.read_text()}")  # as an option, were it not told apart
    with engine_client(), scripted(solving) as endpoint:
        where = ("--bench", "./tasks", "--solver", f"agent:{name}", "--model-url", endpoint.url, "--model-id", "m")
        done = nel("eval", "run", *where, "-o", "out", cwd=tmp_path, timeout=1_800)
        n_calls = len(endpoint.calls)
    assert done.returncode == 0, done.stderr
    line = read_results(only_run(tmp_path / "out"), "tasks")[0]
    assert (line["reward"], line["episode"]["steps"], line["episode"]["tool_calls"] > 0) == (1.0, n_calls, True)
    assert (line["tokens"]["prompt"], line["tokens"]["completion"]) == (7 * n_calls, 3 * n_calls)


@pytest.mark.parametrize("name", recipe_names())
def test_a_run_with_an_agent_of_a_registry_that_was_killed_goes_on(name: str, tmp_path: Path) -> None:
    """After a kill between two calls of the model no container is left, and the agent begins its task again."""
    shutil.copytree(DEMO / "pipeline", tmp_path / "tasks" / "pipeline")
    with engine_client() as engine, scripted(solving) as endpoint:
        before = {container.id for container in engine.containers.list(all=True, ignore_removed=True)}
        where = ("--bench", "./tasks", "--solver", f"agent:{name}", "--model-url", endpoint.url, "--model-id", "m")
        with started_nel("eval", "run", *where, "-o", "out", cwd=tmp_path) as process:
            wait_until(lambda: endpoint.calls, process)
        wait_until(
            lambda: {container.id for container in engine.containers.list(all=True, ignore_removed=True)} <= before
        )
        n_killed = len(endpoint.calls)
        done = nel("eval", "resume", str(only_run(tmp_path / "out")), cwd=tmp_path, timeout=1_800)
        n_calls = len(endpoint.calls) - n_killed
    assert done.returncode == 0, done.stderr
    line = read_results(only_run(tmp_path / "out"), "tasks")[0]
    assert (line["reward"], line["episode"]["steps"]) == (1.0, n_calls)
