"""Containers of images without Python: a shell is all that an image needs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nel.environments.container import ContainerSpec
from nel.environments.session import ContainerSession
from nel.environments.toolset import ContainerTools, docker
from nel.tools import ToolError, ToolsetFault
from nel.types import Sample
from tests.episodes.bank import calling, n_results
from tests.support.containers import BUSYBOX, DEBIAN, image_without_python
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_results
from tests.support.tiers import representatives

pytestmark = pytest.mark.docker
IMAGES = pytest.mark.parametrize("image", [DEBIAN, BUSYBOX], ids=["debian", "busybox"], indirect=True)
TEST = """#!/bin/sh
if [ "$(cat /w/done 2> /dev/null)" = yes ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


@pytest.fixture
def image(client: Any, request: pytest.FixtureRequest) -> str:
    return image_without_python(client, request.param)


@pytest.fixture
def session(client: Any, image: str) -> Iterator[ContainerSession]:
    opened = ContainerSession.open(client, ContainerSpec(image=image, memory_mb=64))
    yield opened
    opened.close()


@IMAGES
def test_commands_files_and_snapshots(session: ContainerSession, client: Any) -> None:
    """As in any image; the helper leaves no file in the container."""
    assert session.run(["python3"], seconds=30).exit == 127
    data = bytes(range(256)) * 4000
    ran = session.run("cat; id -un >&2; exit 4", stdin=data, seconds=30, user="nobody")
    assert (ran.exit, ran.stdout, ran.stderr) == (4, data, b"nobody\n")
    for user, home in {"99:98": "99 98 /", "nobody:root": "65534 0 /", "0": "0 0 /root"}.items():
        ran = session.run('echo "$(id -u) $(id -g) $HOME"', seconds=30, user=user)
        assert ran.stdout.decode().startswith(home), ran
    session.write("/new/x.bin", data)
    assert session.read("/new/x.bin") == data
    assert session.run("yes | head -c 3000000", seconds=30, bytes_max=1000).cut == 2_999_000
    assert [change.path for change in session.changes() if "nel" in change.path] == []
    copy = ContainerSession.open(client, ContainerSpec(image=session.snapshot()))
    assert copy.read("/new/x.bin") == data
    copy.close()
    client.images.remove(copy.spec.image, force=True)  # the engine may still be removing its container


@IMAGES
def test_kills_are_told_apart(session: ContainerSession) -> None:
    """Of a late command, of one that takes the memory, of the helper, and of the container."""
    late = session.run("sleep 99 & sleep 99", seconds=0.3)
    assert (late.exit, late.ended_by) == (137, "timeout")
    full = session.run("head -c 300000000 /dev/zero | tail -c 200000000", seconds=30)
    assert (full.exit, full.ended_by) == (137, "memory")
    assert session.run("kill -9 $PPID", seconds=30).ended_by == "helper_killed"
    session.run("mkdir -p /.nel-helper/x", seconds=30)
    assert session.run("kill -9 $PPID; sleep 9", seconds=30).ended_by == "helper_killed"
    assert session.run("echo on", seconds=30).stdout == b"on\n"
    with pytest.raises(ToolsetFault, match="container_died"):
        session.run("kill -9 -1", seconds=30)


@IMAGES
def test_the_tools_work_but_python_which_says_why(image: str) -> None:
    """The model reads that there is none."""
    tools = docker(image=image)(Sample(id="1", input=""))
    assert isinstance(tools, ContainerTools)
    try:
        tools.write_file.run({"path": "/t/x.txt", "text": "one\ntwo\n"}, tools.sample)
        tools.edit_file.run({"path": "/t/x.txt", "old": "two", "new": "2"}, tools.sample)
        assert tools.read_file.run({"path": "/t/x.txt"}, tools.sample) == "one\n2\n"
        assert tools.bash.run({"command": "cat /t/x.txt | wc -l"}, tools.sample).strip() == "2"
        with pytest.raises(ToolError, match="no python3 in the container"):
            tools.python.run({"code": "print(1)"}, tools.sample)
        assert "holds a zero byte" in str(tools.bash.run({"command": "echo \0"}, tools.sample))
    finally:
        tools.close()


def solving(call: Call, _: int) -> Reply:
    """Play a model that does each task by its instruction, which is a command."""
    return answer("done") if n_results(call) else calling(("bash", {"command": call.text.splitlines()[0]}))


COMMANDS = {
    "solved": "mkdir /w; echo yes > /w/done",
    "unsolved": "echo no",
    "forged": "mkdir /w; rm -f /bin/cat; printf '#!/bin/sh\\necho yes\\n' > /bin/cat; chmod +x /bin/cat",
    "hidden": "mkdir /w; ln -s /tests /w/link; echo yes > /w/done",
}


def write_task(folder: Path, image: str, instruction: str) -> None:
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test.sh").write_text(TEST)
    (folder / "instruction.md").write_text(instruction)
    environment = f'docker_image = "{image}"\nnetwork_mode = "no-network"\nmemory_mb = 64\n'
    (folder / "task.toml").write_text(f"[environment]\n{environment}")


def run(home: Path, url: str, *options: str) -> subprocess.CompletedProcess[str]:
    where = ("--bench", "./tasks", "--model-url", url, "--model-id", "m", "-o", "out")
    return nel("eval", "run", *where, *options, cwd=home)


@pytest.mark.parametrize("image", representatives({"debian": DEBIAN, "busybox": BUSYBOX}, "busybox"), indirect=True)
def test_a_run_of_task_folders(tmp_path: Path, image: str) -> None:
    """The tests write the reward in sh; what can forge it is found without a program of the container."""
    for name, command in COMMANDS.items():
        write_task(tmp_path / "tasks" / name, image, command)
    with scripted(solving) as endpoint:
        done = run(tmp_path, endpoint.url)
    assert done.returncode == 0, done.stderr
    lines = {line["sample_id"]: line for line in read_results(only_run(tmp_path / "out"), "tasks")}
    verdicts = {name: (line["reward"], line["scoring_details"]["tampered"]) for name, line in sorted(lines.items())}
    assert verdicts["forged"][1] == ["/usr/bin/cat" if image == DEBIAN else "/bin/cat"]
    assert verdicts["hidden"] == (1.0, ["/w/link"])
    assert (verdicts["solved"], verdicts["unsolved"]) == ((1.0, []), (0.0, []))


RECIPE = """
version = "1"
protocol = "chat"
command = ["sh", "{home}/agent.sh", "{instruction}"]
env = {URL = "{url}", KEY = "{key}"}
[files]
"{home}/agent.sh" = '''
answer=$(wget -q -O - --header "Authorization: Bearer $KEY" --header "Content-Type: application/json" --post-data \\
  '{"model": "m", "messages": [{"role": "user", "content": "Which word?"}]}' "$URL/chat/completions") || exit 3
mkdir /w; case $answer in *yes*) echo yes > /w/done; esac
'''
"""


@pytest.mark.parametrize("image", [BUSYBOX], ids=["busybox"], indirect=True)
def test_an_agent_of_others_reaches_its_model(tmp_path: Path, image: str) -> None:
    """Through the relay, without a network and with the tools of busybox alone."""
    write_task(tmp_path / "tasks" / "one", image, "Ask for the word.")
    (tmp_path / "small.toml").write_text(RECIPE)
    with scripted(lambda call, _: answer("yes")) as endpoint:
        done = run(tmp_path, endpoint.url, "--solver", "agent:./small.toml")
    assert done.returncode == 0, done.stderr
    (line,) = read_results(only_run(tmp_path / "out"), "tasks")
    assert (line["reward"], line["episode"]["steps"], line["model_response"]) == (1.0, 1, "yes")
