"""Each mistake of the table is made: what is printed names it, and the command that this leads to does what was wanted."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nel.cli.app import app
from tests.documented.commands import ROOT
from tests.documented.mistakes import SECTIONS, SHOWN, Mistake, page
from tests.support.endpoint import Endpoint, Reply, answer, scripted
from tests.support.runs import read_results, sums

MISTAKES = [mistake for mistakes in SECTIONS.values() for mistake in mistakes]
_CODE = {
    "task_id": "t/0",
    "prompt": "def f():\n",
    "canonical_solution": "    return 1\n",
    "entry_point": "f",
    "test": "def check(candidate):\n    assert candidate() == 1\n",
}
_YAML = "endpoint:\n  url: URL\n  model: m-1\nbenchmarks:\n  - name: gsm8k\n    dataset: rows.jsonl\n"
_BENCHMARK = """from nel import benchmark, scorer


@benchmark(name="exam", dataset="exam.csv", prompt="{question}", target_field="answer")
@scorer
def crashing(sample):
    return {"correct": sample.response == sample.target}
"""
_FILES = {
    "exam.csv": "question,answer\nWhat is 1+1?,2\nWhat is 2+2?,4\n",
    "quiz.csv": "question,answer\nWhat is 1+1?,2\nWhat is 2+2?,4\n",
    "exam.py": _BENCHMARK,
    "crash.py": _BENCHMARK.replace("response ==", 'response["text"] =='),
    "words.py": _BENCHMARK.replace('{"correct": sample.response == sample.target}', '"yes"'),
    "column.py": _BENCHMARK.replace("{question}", "{qestion}"),
    "syntax.py": _BENCHMARK + "\n\ndef f(:\n    pass\n",
    "code.jsonl": json.dumps(_CODE),
    "broken.jsonl": '{"question": "q", "answer": "#### 1"}\n{"question": \n',
    "columns.jsonl": '{"q": "q", "answer": "#### 1"}\n',
    "nel.yaml": _YAML,
    "key.yaml": _YAML.replace("url:", "ulr:"),
    "section.yaml": _YAML.replace("benchmarks:", "benchmark:"),
    "tab.yaml": _YAML.replace("  url:", "\turl:"),
    "twice.yaml": _YAML.replace("  model: m-1\n", "  model: m-1\n  model: m-1\n"),
    "variable.yaml": _YAML.replace("model: m-1", "model: ${NEL_TEST_UNSET}"),
}
_KEYS = {"RIGHT": "right-key", "WRONG": "wrong-key", "DOCKER_HOST": "unix:///nowhere/docker.sock"}


def _answered(call: object, number: int) -> Reply:
    return answer("The answer is 2.")


@pytest.fixture(scope="module")
def endpoints() -> Iterator[tuple[Endpoint, Endpoint]]:
    """Return an endpoint without a key and one with a key."""
    with (
        scripted(_answered, models=["m-1"]) as free,
        scripted(_answered, models=["m-1"], key="right-key") as keyed,
    ):
        yield free, keyed


@pytest.fixture(scope="module")
def urls(endpoints: tuple[Endpoint, Endpoint]) -> dict[str, str]:
    """Return the words of the table that stand for something, with what it is here."""
    free, keyed = (endpoint.url for endpoint in endpoints)
    https = free.replace("http:", "https:")
    return {"URL": free, "ROOT": free.removesuffix("/v1"), "HTTPS": https, "KEYED": keyed, "VARIABLE": "RIGHT"}


@pytest.fixture(scope="module")
def finished(urls: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("runs")
    sums(home / "rows.jsonl", 3)
    rows, out = str(home / "rows.jsonl"), str(home / "runs")
    chosen = ["--dataset", rows, "--model-url", urls["URL"], "--model-id", "m-1", "-o", out, "--run-id", "one"]
    done = _nel("eval", "run", "--bench", "gsm8k", *chosen)
    assert done.exit_code == 0, done.output
    urls["ID"] = read_results(home / "runs/one", "gsm8k")[0]["sample_id"]
    return home / "runs"


def _nel(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, env=_KEYS, prog_name="nel")


def _words(command: str, urls: dict[str, str]) -> list[str]:
    names = re.compile(rf"\b(?:{'|'.join(urls)})\b")
    return [names.sub(lambda match: urls[match[0]], word) for word in shlex.split(command)]


def _followed(mistake: Mistake, output: str, urls: dict[str, str]) -> list[str]:
    """Return the arguments of the command that a message leads to: its own, or the one that it prints last."""
    if not mistake.right.startswith(SHOWN):
        return _words(mistake.right, urls)
    last = output.strip().splitlines()[-1].partition(": nel ")[2].partition(" (-O")[0]
    assert last, output
    return _words(f"{last}{mistake.right.removeprefix(SHOWN)}", urls)


@pytest.mark.parametrize("mistake", [one for one in MISTAKES if ">" not in one.wrong.split()], ids=lambda one: one.what)
def test_a_mistake_leads_to_a_command_that_works(
    mistake: Mistake,
    urls: dict[str, str],
    endpoints: tuple[Endpoint, Endpoint],
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message says what the table says before anything is sent; the command after it ends as it should."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sums(tmp_path / "rows.jsonl", 3)
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text.replace("URL", urls["URL"]), encoding="utf-8")
    if "runs/" in mistake.wrong + mistake.right:
        shutil.copytree(finished, tmp_path / "runs")
    n_calls = sum(len(endpoint.calls) for endpoint in endpoints)
    wrong = _nel(*_words(mistake.wrong, urls))
    if mistake.code == 2 and not mistake.is_asked:
        assert sum(len(endpoint.calls) for endpoint in endpoints) == n_calls, "nothing was to be sent"
    assert mistake.says in " ".join(wrong.output.split()), wrong.output
    assert (wrong.exit_code, "Traceback" in wrong.output) == (mistake.code, False), wrong.output
    if mistake.edit is not None:
        path = tmp_path / mistake.edit[0]
        path.write_text(path.read_text(encoding="utf-8").replace(*mistake.edit[1:]), encoding="utf-8")
    words = _followed(mistake, wrong.output, urls)
    is_plan_enough = words[:2] == ["eval", "run"] and not mistake.edit and "--fail-under" not in words
    right = _nel(*words, *(["--dry-run"] if is_plan_enough else []))
    assert right.exit_code == mistake.right_code, f"{wrong.output}\n{right.output}"


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    """Of the mistakes that take a shell: stdout goes where there is no space, and the same without that is printed."""
    [mistake] = [one for one in MISTAKES if ">" in one.wrong.split()]
    wrong, right = (
        subprocess.run(
            ["bash", "-c", f"{sys.executable} -m nel {command}"],
            cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        )
        for command in (mistake.wrong, mistake.right)
    )  # fmt: skip
    assert (wrong.returncode, mistake.says in wrong.stderr) == (mistake.code, True), wrong.stderr
    assert (right.returncode, "quickstart" in right.stdout) == (0, True), right.stderr


def test_the_page_shows_the_table() -> None:
    """docs/reference/mistakes.md is what `python -m tests.documented.mistakes` writes; it has 70 mistakes and more."""
    assert (ROOT / "docs/reference/mistakes.md").read_text(encoding="utf-8") == page()
    assert len(MISTAKES) >= 70
