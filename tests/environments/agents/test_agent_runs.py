"""A small agent of others in real containers without a network, driven by whole runs from the command line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from nel.core.strict_json import dumps
from tests.episodes.bank import calling, n_results
from tests.support.containers import engine_client
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.processes import started_nel, wait_until
from tests.support.runs import nel, only_run, read_results

DEMO = Path(__file__).resolve().parents[3] / "docs" / "examples" / "tasks"
AGENT = Path(__file__).with_name("fake_agent.py")
pytestmark = pytest.mark.docker


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with engine_client():
        shutil.copytree(DEMO / "pipeline", tmp_path / "tasks" / "pipeline")
        return tmp_path


def write_recipe(home: Path, command: list[str] | None = None, **keys: Any) -> None:
    """Write the recipe of the small agent, or of another command."""
    lines = {
        "version": "1",
        "protocol": "chat",
        "command": command or ["python3", "{home}/agent.py", "{instruction}"],
        "claimed_cost": r"it cost ([0-9.]+)",
        **keys,
    }
    texts = [f"{name} = {dumps(value)}" for name, value in lines.items()]
    texts += ["[env]", 'URL = "{url}"', 'KEY = "{key}"', 'MODEL = "{model}"']
    texts += ["[files]", f'"{{home}}/agent.py" = {dumps(AGENT.read_text())}']
    (home / "small.toml").write_text("\n".join(texts))


def options(url: str, *others: str) -> tuple[str, ...]:
    where = ("--bench", "./tasks", "--solver", "agent:./small.toml", "--model-url", url, "--model-id", "m")
    return ("eval", "run", *where, "-o", "out", *others)


def solving(call: Call, _: int) -> Reply:
    """Play a model that solves the pipeline."""
    if call.text.startswith("A title"):
        return answer("Logs")
    if n_results(call):
        return answer("done")
    return calling(("bash", {"command": (DEMO / "pipeline" / "solution" / "solve.sh").read_text()}))


def result_of(home: Path) -> dict[str, Any]:
    return read_results(only_run(home / "out"), "tasks")[0]


def outcome(home: Path) -> tuple[Any, ...]:
    line = result_of(home)
    return line["reward"], line["outcome"]["kind"], line["outcome"]["cause"]


def environment(home: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(home / "cache"), "REAL_KEY": "sk-real-key-of-the-endpoint"}


def test_an_unmodified_agent_solves_a_task_without_a_network(home: Path) -> None:
    """Each request that the endpoint served is a step with its tokens; the title is a branch of its own, and the
    agent's key is not the endpoint's.
    """
    write_recipe(home)
    with scripted(solving) as endpoint:
        done = nel(*options(endpoint.url, "--api-key-env", "REAL_KEY"), cwd=home, env=environment(home))
        calls = endpoint.calls
    assert done.returncode == 0, done.stderr
    line = result_of(home)
    assert (line["reward"], line["episode"]["ended_by"], line["episode"]["steps"]) == (1.0, "solver", len(calls))
    assert (line["model_response"], line["episode"]["tool_calls"]) == ("done", 1)
    branches = nel("export", str(only_run(home / "out")), "--to", "openai-messages", "-o", "exported", cwd=home)
    assert branches.returncode == 0, branches.stderr
    (path,) = (home / "exported").rglob("*.jsonl")
    exported = [json.loads(text) for text in path.read_text().splitlines()]
    assert sorted(len(each["messages"]) for each in exported) == [2, 4]


def test_a_run_that_is_killed_leaves_no_container_and_its_agent_starts_again(home: Path) -> None:
    """The steps of the interrupted attempt stay, and count as attempts; the second one is solved."""
    write_recipe(home)
    reached, released = threading.Event(), threading.Event()

    def hanging(call: Call, number: int) -> Reply:
        if n_results(call) and not released.is_set():
            reached.set()
            released.wait(60)
        return solving(call, number)

    with engine_client() as client, scripted(hanging) as endpoint:
        with started_nel(*options(endpoint.url), cwd=home, env={**os.environ, **environment(home)}) as process:
            wait_until(reached.is_set, process)
            process.send_signal(signal.SIGKILL)
            process.wait(30)
        released.set()
        labels = {"label": "nel.sandbox.language=session"}
        wait_until(lambda: not client.containers.list(all=True, filters=labels, ignore_removed=True))
        resumed = nel("eval", "resume", str(only_run(home / "out")), cwd=home, env=environment(home))
    assert resumed.returncode == 0, resumed.stderr
    line = result_of(home)
    assert (line["reward"], line["episode"]["steps"], line["timing"]["episode"]["attempts"]) == (1.0, 3, 2)


@pytest.mark.parametrize(
    ("command", "kind", "words"),
    [
        (["sh", "-c", "echo no model for me"], "never_asked", "no model for me"),
        (["not-a-program"], "agent_setup", "cannot be started (exit code 127)"),
    ],
)
def test_an_agent_that_asks_nothing_is_unscored(home: Path, command: list[str], kind: str, words: str) -> None:
    """The detail holds the end of what it wrote."""
    write_recipe(home, command)
    with scripted(solving) as endpoint:
        assert nel(*options(endpoint.url), cwd=home, env=environment(home)).returncode == 3
    line = result_of(home)
    assert (line["reward"], line["outcome"]["cause"], line["outcome"]["kind"]) == (None, "environment", kind)
    assert words in line["outcome"]["detail"]


def test_an_agent_of_another_version_is_unscored(home: Path) -> None:
    """What it says of itself is compared with the recipe."""
    write_recipe(home, prints_version=["echo", "version 2"])
    with scripted(solving) as endpoint:
        nel(*options(endpoint.url), cwd=home, env=environment(home))
    assert outcome(home) == (None, "agent_setup", "environment")
    assert "version 2" in result_of(home)["outcome"]["detail"]


def test_an_agent_that_cannot_be_installed_is_unscored(home: Path) -> None:
    """The end of what the installer wrote is the detail, and nothing is asked."""
    write_recipe(home, npm=["file:./not-there"])
    with scripted(solving) as endpoint:
        nel(*options(endpoint.url), cwd=home, env=environment(home))
    assert outcome(home) == (None, "agent_setup", "environment")
    assert "cannot be installed" in result_of(home)["outcome"]["detail"]


def test_an_agent_is_started_for_each_step_of_a_task(home: Path) -> None:
    """With the step's instruction alone, also where the step before was ended by its own limit of time."""
    write_recipe(home)
    shutil.rmtree(home / "tasks" / "pipeline")
    steps = ""
    for name in ("one", "two"):
        folder = home / "tasks" / "steps" / "steps" / name
        (folder / "tests").mkdir(parents=True)
        (folder / "instruction.md").write_text(f"Do {name}.")
        (folder / "tests" / "test.sh").write_text(
            f"#!/bin/bash\ngrep {name} /w; echo $((! $?)) > /logs/verifier/reward.txt"
        )
        seconds = 1 if name == "one" else 60
        steps += f'[[steps]]\nname = "{name}"\nagent = {{timeout_sec = {seconds}}}\n'
    image = '[environment]\ndocker_image = "nel-base:bookworm"\nnetwork_mode = "no-network"\n'
    (home / "tasks" / "steps" / "task.toml").write_text(image + steps)

    def writing(call: Call, _: int) -> Reply:
        if n_results(call) or call.text.startswith("A title"):
            return answer("done")
        return calling(("bash", {"command": "sleep 60" if "Do one." in call.text else "echo two > /w"}))

    with scripted(writing) as endpoint:
        nel(*options(endpoint.url), cwd=home, env=environment(home))
        texts = [call.text for call in endpoint.calls]
    assert result_of(home)["scoring_details"]["steps"] == [0, 1]
    assert not any("Do one." in text and "Do two." in text for text in texts)


def test_an_agent_that_goes_on_for_ever_is_ended_by_the_limit(home: Path) -> None:
    """What it left is verified and scored; it got as many answers as it may."""
    write_recipe(home)

    def looping(call: Call, _: int) -> Reply:
        return answer("t") if call.text.startswith("A title") else calling(("bash", {"command": "echo on"}))

    with scripted(looping) as endpoint:
        nel(*options(endpoint.url, "--max-steps", "4"), cwd=home, env=environment(home))
        n_calls = len(endpoint.calls)
    line = result_of(home)
    assert (line["reward"], line["episode"]["ended_by"], n_calls) == (0.0, "limit:steps", 4)
