"""The examples for CI work when copied: their commands are typed in a repository that has them; the project's own name what
is there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.endpoint import Reply, answer, scripted
from tests.support.tiers import first_rows

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs/examples/ci"


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _steps(workflow: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def _run(command: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does: in a shell that ends at the first failure."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        cwd=cwd, env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **env},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize(
    ("text", "code"), first_rows(1, [("It is Paris, Tokyo, Nairobi, Lima or Oslo.", 4), (None, 0)])
)
def test_the_workflow_decides_by_its_floor(repository: Path, text: str | None, code: int) -> None:
    """A model that knows passes, one that does not fails the job; each step before it passes."""
    workflow = _yaml(repository / "evaluate.yml")
    capitals = dict(line.split(",") for line in (repository / "exam.csv").read_text().splitlines()[1:])

    def script(call: Any, _: int) -> Reply:
        right = next(answer for question, answer in capitals.items() if question in call.text)
        return answer(right if text is None else text)

    with scripted(script, models=["m-1"], key="secret") as endpoint:
        env = {"MODEL_URL": endpoint.url, "MODEL_ID": "m-1", "MODEL_API_KEY": "secret"}
        assert set(workflow["env"]) == set(env)
        commands = [step["run"] for step in _steps(workflow) if "run" in step]
        install, *others, evaluate = commands
        assert shlex.split(install)[:2] == ["pip", "install"]
        assert [_run(command, repository, **env).returncode for command in others] == [0]
        done = _run(evaluate, repository, **env)
    assert done.returncode == code, done.stdout + done.stderr
    [upload] = [step for step in _steps(workflow) if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert (repository / upload["with"]["path"] / "candidate/report.html").exists()


@pytest.mark.slow
def test_the_hook_stops_a_commit_that_breaks_the_benchmark(repository: Path) -> None:
    """It passes as it stands, and names a column that was renamed."""
    [hook] = [hook for repo in _yaml(repository / "pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert all(re.search(hook["files"], name) for name in ("exam.py", "exam.csv"))
    assert _run(hook["entry"], repository).returncode == 0
    rows = repository / "exam.csv"
    rows.write_text(rows.read_text(encoding="utf-8").replace("question,", "q,"), encoding="utf-8")
    done = _run(hook["entry"], repository)
    assert (done.returncode != 0, "question" in done.stdout + done.stderr) == (True, True)


def test_the_workflow_of_the_project_calls_what_there_is() -> None:
    """Its commands are targets of make and scripts of `.ci`; it tries each version of Python that is declared."""
    workflow = _yaml(ROOT / ".github/workflows/checks.yml")
    commands = [step["run"] for step in _steps(workflow) if "run" in step]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    called = [match[1] for command in commands if (match := re.match(r"make ([a-z-]+)", command))]
    scripts = [word for command in commands for word in command.split() if word.startswith(".ci/")]
    assert called == ["test", "docs-site"]
    assert set(called) <= set(targets)
    assert scripts == [".ci/run"]
    assert os.access(ROOT / scripts[0], os.X_OK)
    declared = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == declared


def test_make_installs_all_that_it_names() -> None:
    """A comma divides the arguments of `call`: what stood behind one was not installed, and tests that need it were skipped."""
    calls = re.findall(r"\$\(call install,(.*)\)\n", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert len(calls) > 5
    assert [arguments for arguments in calls if "," in re.sub(r"\$\(.*\)", "", arguments)] == []


def test_the_lock_file_has_every_package_that_the_checks_install() -> None:
    """`make lock` has run since the last package came; one without a version here would be the newest of its day."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["dev"], *extras["local-model"]]
    pinned = re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements-ci.txt").read_text(encoding="utf-8"), re.MULTILINE)
    names = {canonicalize_name(Requirement(text).name) for text in needed}
    assert sorted(names - set(pinned)) == []
