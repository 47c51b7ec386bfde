"""Verdicts in real containers: whose user, which steps, and verifiers that fail; `test_cheats` has what cheats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nel.authoring.registry import find_benchmark
from nel.config.schema import SandboxConfig
from nel.environments.tasks.environment import TaskEnvironment, TaskTools
from nel.environments.tasks.harbor import read_harbor
from nel.tools import ToolsetFault
from nel.types import Sample
from tests.support.containers import IMAGE, engine_client

SAMPLE = Sample(id="task", input="")
REWARD = "/logs/verifier/reward"
HONEST = f'#!/bin/bash\nif [ "$(cat /w/done 2>/dev/null)" = yes ]; then echo 1; else echo 0; fi > {REWARD}.txt\n'
pytestmark = pytest.mark.docker


@pytest.fixture(scope="module", autouse=True)
def _engine() -> Iterator[None]:
    with engine_client():
        yield


def environment(folder: Path, test: str, *, strict: bool = False, agent: str = "") -> TaskEnvironment:
    """Return the environment of one task that starts from the base image as it is."""
    (folder / "tests").mkdir()
    (folder / "tests" / "test.sh").write_text(test)
    (folder / "instruction.md").write_text("Do it.")
    (folder / "task.toml").write_text(
        f'[environment]\ndocker_image = "{IMAGE}"\nnetwork_mode = "no-network"\n[verifier]\ntimeout_sec = 60\n{agent}'
    )
    settings = SandboxConfig(strict_verdicts=strict)
    return TaskEnvironment(tasks={"task": read_harbor(folder)}, settings=settings)


def verdict(made: TaskEnvironment, command: str) -> dict[str, Any]:
    """Return the evidence after an agent ran one command."""
    tools: TaskTools = made(SAMPLE)
    try:
        tools.bash.run({"command": command}, SAMPLE)
        evidence = tools.evidence()
    finally:
        tools.close()
    assert isinstance(evidence, dict)
    return evidence


def test_a_compiled_module_that_an_agent_adds_is_not_run(tmp_path: Path) -> None:
    """Its source is, since an interpreter compiles it again where no compiled file is."""
    test = f'#!/bin/bash\ncd /w && python3 -c \'import m; open("{REWARD}.txt", "w").write(m.VALUE)\'\n'
    compiled = "python3 -c 'import m'; sed -i s/1/0/ m.py; touch -d @1000000000 m.py"
    command = f"mkdir /w; cd /w; echo 'VALUE = \"1\"' > m.py; touch -d @1000000000 m.py; {compiled}"
    assert verdict(environment(tmp_path, test), command)["reward"] == 0


def test_honest_work_passes_unflagged_and_a_forgeable_verdict_is_none_where_that_is_asked(tmp_path: Path) -> None:
    """A changed program is unscored with strict verdicts."""
    made = environment(tmp_path, HONEST, strict=True)
    evidence = verdict(made, "mkdir /w; echo yes > /w/done")
    assert (evidence["reward"], evidence["tampered"]) == (1, [])
    with pytest.raises(ToolsetFault, match="verifier_tampered"):
        verdict(made, "mkdir /w; echo yes > /w/done; touch /etc/ld.so.preload")


def test_the_tests_have_the_images_user_and_not_the_agents(tmp_path: Path) -> None:
    """As in Harbor, where no user of the verifier is given."""
    test = (
        f'#!/bin/bash\nif [ "$(id -u) $(cat /tmp/agent)" = "0 65534" ]; then echo 1; else echo 0; fi > {REWARD}.txt\n'
    )
    made = environment(tmp_path, test, agent='[agent]\nuser = "nobody"\n')
    assert verdict(made, "id -u > /tmp/agent")["reward"] == 1


def test_tests_that_end_their_container_give_no_reward(tmp_path: Path) -> None:
    """Whatever they wrote before; `test_faults` has what else may go wrong with them."""
    test = f"#!/bin/bash\necho 1 > {REWARD}.txt; kill -9 -1\n"
    with pytest.raises(ToolsetFault, match="verifier_died"):
        verdict(environment(tmp_path, test), "echo")


STEP = """
[[steps]]
name = "{name}"
min_reward = {least}
"""


def stepped(folder: Path, **least: float) -> TaskEnvironment:
    """Return the environment of a task of these steps, each of which wants its name in /w."""
    steps = "".join(STEP.format(name=name, least=value) for name, value in least.items())
    made = environment(folder, "")
    with (folder / "task.toml").open("a") as toml:
        toml.write(steps)
    for name in least:
        (folder / "steps" / name / "tests").mkdir(parents=True)
        (folder / "steps" / name / "workdir").mkdir()
        (folder / "steps" / name / "instruction.md").write_text(f"Write {name}.")
        (folder / "steps" / name / "workdir" / "setup.sh").write_text(f"echo {name} >> /prepared; [ ! -e /tests ]")
        test = f'[ "$(cat /w /prepared)" = "$(cat /tests/wanted)" ]; echo $((! $?)) > {REWARD}.txt'
        (folder / "steps" / name / "tests" / "test.sh").write_text(f"#!/bin/bash\n{test}\n")
        prepared = [*least][: [*least].index(name) + 1]
        (folder / "steps" / name / "tests" / "wanted").write_text("\n".join([name, *prepared]))
    return TaskEnvironment(tasks={"task": read_harbor(folder)}, settings=made.settings)


def test_each_step_of_a_task_is_verified_before_the_next_begins_in_the_same_container(tmp_path: Path) -> None:
    """Its tests never enter that container; a step that is not worked on is verified too, and the reward is the mean."""
    tools: TaskTools = stepped(tmp_path, one=1.0, two=0.0, three=0.0)(SAMPLE)
    try:
        tools.bash.run({"command": "echo one > /w"}, SAMPLE)
        assert tools.next_stage() == {"instruction": "Write two.", "work_seconds": None}
        tools.bash.run({"command": "echo two > /w"}, SAMPLE)
        evidence: Any = tools.evidence()
    finally:
        tools.close()
    assert (evidence["steps"], evidence["level"], evidence["tampered"]) == ([1, 1, 0], "fresh", [])
    assert evidence["reward"] == pytest.approx(2 / 3)


def test_a_step_below_its_least_reward_is_the_last(tmp_path: Path) -> None:
    """As in Harbor those after it count nowhere."""
    tools: TaskTools = stepped(tmp_path, one=0.0, two=1.0, three=0.0)(SAMPLE)
    try:
        tools.bash.run({"command": "echo one > /w"}, SAMPLE)
        assert tools.next_stage() is not None
        assert tools.next_stage() is None
        evidence: Any = tools.evidence()
    finally:
        tools.close()
    assert (evidence["steps"], evidence["reward"]) == ([1, 0], 0.5)


TASKS = Path(__file__).resolve().parents[2] / "docs" / "examples" / "tasks"


@pytest.mark.slow
def test_every_folder_of_the_demo_is_solved_by_its_solution_and_not_by_nothing() -> None:
    """Nine of ten; the impossible one has no solution, and doing nothing does not solve it."""
    tasks = find_benchmark(str(TASKS))
    samples = [tasks.sample(row, sample_id=row["id"]) for row in tasks.dataset()]  # type: ignore[operator]
    made = tasks.environment
    assert isinstance(made, TaskEnvironment)
    assert made.prepare(samples, lambda line: None) == []
    problems = {sample.id: [*made.try_solution(sample)] for sample in samples}
    assert len(problems) == 10
    assert {name: found for name, found in problems.items() if found} == {
        "impossible": ["it has no solution that can be tried"]
    }
