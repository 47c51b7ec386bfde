"""Task folders: each key is honoured, changes nothing, or is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nel.authoring.registry import find_benchmark
from nel.environments.tasks.folder import TaskFolder, TaskRefused
from nel.environments.tasks.harbor import read_harbor
from nel.environments.tasks.terminal_bench import all_passed, read_terminal_bench
from nel.errors import ConfigError


def harbor(folder: Path, toml: str = "", **files: str) -> Path:
    """Write a folder of Harbor's form; other files by their paths, with __ for a slash and _ for a dot at the end."""
    texts = {"task.toml": toml, "instruction.md": "<!-- canary x -->\n\nDo it.\n", "environment/Dockerfile": "FROM x\n"}
    texts |= {"tests/test.sh": "true\n", "solution/solve.sh": "true\n"} | files
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def terminal_bench(folder: Path, extra: str = "", compose: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.yaml").write_text(f"instruction: Do it.\ndifficulty: easy\n{extra}")
    for name in ("Dockerfile", "run-tests.sh", "solution.sh"):
        (folder / name).write_text("true\n")
    if compose is not None:
        (folder / "docker-compose.yaml").write_text(compose)
    return folder


def test_what_a_harbor_folder_says_is_honoured(tmp_path: Path) -> None:
    """Values of the new and the older keys; what is unknown is named."""
    toml = """
    version = "1.0"
    [metadata]
    anything = true
    [agent]
    timeout_sec = 90
    user = 1000
    [verifier]
    timeout_sec = 30.5
    env = {MODE = "full", LEVEL = "${LEVEL:-2}"}
    network_mode = "public"
    colour = "red"
    [environment]
    memory = "2G"
    cpus = 2
    allow_internet = false
    workdir = "/srv"
    [environment.healthcheck]
    command = "true"
    retries = 2
    """
    task = read_harbor(harbor(tmp_path, toml))
    assert task.instruction == "Do it.\n"
    assert (task.agent_seconds, task.agent_user, task.memory_mb, task.cpus, task.workdir) == (
        90,
        "1000",
        2048,
        2,
        "/srv",
    )
    assert (task.network, task.verifier_network) == ("none", "public")
    assert (task.tests.seconds, task.tests.env) == (30.5, {"MODE": "full", "LEVEL": "2"})
    assert task.health is not None
    assert (task.health.retries, task.health.interval_seconds) == (2, 5.0)
    assert task.unread == ("verifier.colour",)


def test_a_step_says_what_differs_from_the_whole(tmp_path: Path) -> None:
    """As in Harbor: tests of both folders, the step's over the whole's; variables of both; its own limit of tests."""
    toml = """
    multi_step_reward_strategy = "final"
    artifacts = ["/a"]
    agent = {timeout_sec = 90}
    verifier = {timeout_sec = 30, env = {A = "1", B = "1"}, environment_mode = "separate"}
    [[steps]]
    name = "first"
    min_reward = 0
    artifacts = ["/b"]
    agent = {timeout_sec = 9}
    verifier = {env = {B = "2"}}
    [[steps]]
    name = "second"
    min_reward = {speed = 2.5}
    verifier = {environment_mode = "shared"}
    """
    files = {f"steps/{name}/instruction.md": f"Do the {name}." for name in ("first", "second")}
    own = {"steps/second/tests/test.sh": "", "steps/first/tests/Dockerfile": "FROM y", "steps/second/workdir/x": ""}
    task = read_harbor(harbor(tmp_path, toml, **files, **own))
    first, second = task.steps
    assert (task.is_mean, first.instruction, second.instruction) == (False, "Do the first.", "Do the second.")
    assert (first.agent_seconds, second.agent_seconds, first.tests.seconds) == (9, 90, 600)
    assert (first.min_rewards, second.min_rewards) == ({"reward": 0}, {"speed": 2.5})
    assert (first.tests.env, first.outputs) == ({"A": "1", "B": "2"}, ("/a", "/logs/artifacts", "/b"))
    assert first.verifier is not None
    assert (first.verifier.context, first.tests.is_in_image) == (tmp_path / "steps" / "first" / "tests", True)
    assert (second.verifier, second.tests.is_in_image) == (None, False)
    assert second.tests.folders == (tmp_path / "tests", tmp_path / "steps" / "second" / "tests")
    assert (second.tests.file.parent.parent.name, second.workdir_files) == ("second", tmp_path / "steps/second/workdir")


def test_an_image_of_the_wholes_tests_is_that_of_a_step_whose_tests_have_a_container(tmp_path: Path) -> None:
    """Also where the whole's own tests would run on what the agent left; an empty table is a container too."""
    toml = "[[steps]]\nname = 'a'\nverifier = {environment_mode = 'separate'}"
    task = read_harbor(harbor(tmp_path / "a", toml, **{"steps/a/instruction.md": "", "tests/Dockerfile": "FROM y"}))
    (step,) = task.steps
    assert step.verifier is not None
    assert (task.verifier, step.verifier.context) == (None, tmp_path / "a" / "tests")
    table = read_harbor(harbor(tmp_path / "b", "[verifier]\nenvironment = {}\n[environment]\nmemory_mb = 7"))
    assert table.verifier is not None
    assert (table.verifier.memory_mb, table.memory_mb) == (None, 7)


def test_a_harbor_folder_that_says_nothing_has_harbors_defaults(tmp_path: Path) -> None:
    """A public network, 600 seconds for tests and for the image, no limit for the agent."""
    task = read_harbor(harbor(tmp_path))
    assert (task.network, task.tests.seconds, task.build_seconds, task.agent_seconds) == ("public", 600, 600, None)


@pytest.mark.parametrize(
    ("toml", "files", "key"),
    [
        ("[[steps]]\nname = 'a'", {}, "steps.name"),
        (
            "[[steps]]\nname = 'a'\n[[steps]]\nname = 'A'",
            {"steps/a/instruction.md": "", "steps/A/instruction.md": ""},
            "equal",
        ),
        ("[[steps]]\nname = 'a'\nagent = {user = 'x'}", {"steps/a/instruction.md": ""}, "steps.agent.user"),
        ("[[steps]]\nname = 'a'\nmin_reward = '1'", {"steps/a/instruction.md": ""}, "min_reward"),
        ("[[steps]]\nname = 'a'", {"steps/a/instruction.md": "", "steps/a/trajectory.json": ""}, "trajectory.json"),
        ("multi_step_reward_strategy = 'best'", {}, "multi_step_reward_strategy"),
        ("[verifier]\nenvironment_mode = 'elsewhere'", {}, "environment_mode"),
        ("[[verifier.collect]]\ncommand = 'x'", {}, "collect"),
        ("[environment]\ngpus = 1", {}, "gpus"),
        ("[environment]\nos = 'windows'", {}, "os"),
        ("[environment]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['a.b']", {}, "allowed_hosts"),
        ("[[environment.mcp_servers]]\nname = 'a'\nurl = 'http://a'", {}, "mcp_servers"),
        ("[environment]\nenv = {KEY = '${SECRET}'}", {}, "SECRET"),
        ("[environment]\nmemory = '2G'\nmemory_mb = 100", {}, "memory"),
        ("[environment]\nmemory = '1.2.3G'", {}, "environment.memory"),
        ("[agent]\ntimeout_sec = '60'", {}, "timeout_sec"),
        ("schema_version = '2.0'", {}, "schema_version"),
        ("", {"environment/docker-compose.yaml": "services: {}"}, "docker-compose"),
        ("", {"trajectory.json": "{}"}, "trajectory.json"),
        ("not toml", {}, "task.toml"),
    ],
)
def test_what_changes_a_task_and_is_not_honoured_is_refused_by_name(
    tmp_path: Path, toml: str, files: dict[str, str], key: str
) -> None:
    """The key stands in the reason, which an unscored sample shows."""
    with pytest.raises(TaskRefused, match=key):
        read_harbor(harbor(tmp_path, toml, **files))


COMPOSE = """
services:
  client:
    build: {dockerfile: Dockerfile}
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: [sh, -c, sleep infinity]
    environment: ["TEST_DIR=${T_BENCH_TEST_DIR}"]
    volumes: ["${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}"]
"""


def test_a_terminal_bench_folder_with_its_own_template_is_read(tmp_path: Path) -> None:
    """The compose file of the template is the one container that nel starts; limits are the format's."""
    task = read_terminal_bench(terminal_bench(tmp_path, compose=COMPOSE))
    assert (task.agent_seconds, task.tests.seconds, task.reads) == (360, 60, "pytest")
    assert (task.tests.path, task.env) == ("/tests/run-tests.sh", {"TEST_DIR": "/tests"})


@pytest.mark.parametrize(
    ("extra", "compose", "key"),
    [
        ("parser_name: swebench\n", None, "parser_name"),
        ("run_tests_in_same_shell: true\n", None, "run_tests_in_same_shell"),
        ("", COMPOSE + "  database: {image: postgres}\n", "services.database"),
        ("", COMPOSE + "    privileged: true\n", "privileged"),
        ("", COMPOSE.replace("sleep infinity", "serve"), "command"),
    ],
)
def test_a_terminal_bench_folder_that_asks_for_more_is_refused_by_name(
    tmp_path: Path, extra: str, compose: str | None, key: str
) -> None:
    """A second service, another command or another parser changes the task."""
    with pytest.raises(TaskRefused, match=key):
        read_terminal_bench(terminal_bench(tmp_path, extra, compose))


SUMMARY = "==== short test summary info ====\n"


@pytest.mark.parametrize(
    ("output", "passed"),
    [
        (SUMMARY + "PASSED t.py::a\nXFAIL t.py::b - known\nSKIPPED [1] t.py:3: no", True),
        (SUMMARY + "PASSED t.py::a\nFAILED t.py::b - assert 1 == 2", False),
        (SUMMARY + "ERROR t.py - ImportError", False),
        (SUMMARY + "1 passed in 0.1s", None),
        ("collected 0 items", None),
    ],
)
def test_the_summary_of_pytest_decides(output: str, passed: bool | None) -> None:
    """Skipped and expected failures pass; without a summary there is no verdict."""
    assert all_passed(output) is passed


def test_a_folder_of_folders_is_a_benchmark_and_a_refused_task_is_one_of_its_rows(tmp_path: Path) -> None:
    """The other tasks go on; the id is the folder's name, and a changed test is another row."""
    offline = "[environment]\nnetwork_mode = 'no-network'"
    harbor(tmp_path / "good", offline)
    harbor(tmp_path / "open")
    terminal_bench(tmp_path / "old")
    benchmark = find_benchmark(str(tmp_path))
    environment = benchmark.environment
    tasks = environment.tasks  # type: ignore[union-attr]
    assert isinstance(tasks["good"], TaskFolder)
    assert "network" in tasks["open"]
    assert isinstance(benchmark.with_arguments({"network": "none"}).environment.tasks["old"], TaskFolder)  # type: ignore[union-attr]
    read: Callable[[], list[dict[str, object]]] = benchmark.dataset  # type: ignore[assignment]
    before = read()
    assert [row["id"] for row in before] == ["good", "old", "open"]
    (tmp_path / "good" / "tests" / "test.sh").write_text("false\n")
    after = find_benchmark(str(tmp_path)).dataset()  # type: ignore[operator]
    assert [row["files"] == old["files"] for row, old in zip(after, before, strict=True)] == [False, True, True]
    with pytest.raises(ConfigError, match="verdict = fresh or separate or shared"):
        find_benchmark(f"tasks://{tmp_path}?verdict=outside")
