"""Common first mistakes: what is printed names the mistake and the next step, and following it works."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nel.cli.app import app
from tests.support.endpoint import Reply, answer, scripted
from tests.support.runs import sums

HERE = ("--model-url", "http://127.0.0.1:9/v1", "--model-id", "m")
ROWS = ("--bench", "gsm8k", "--dataset", "rows.jsonl")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A command that is wrong, what is printed, and the command that this leads to."""

    wrong: tuple[str, ...]
    says: str
    right: tuple[str, ...]


PLANNED = {
    "url without a scheme": Mistake(
        ("eval", "run", *ROWS, "--model-url", "127.0.0.1:8000/v1", "--model-id", "m"),
        "give one like http://127.0.0.1:8000/v1",
        ("eval", "run", *ROWS, "--model-url", "http://127.0.0.1:8000/v1", "--model-id", "m"),
    ),
    "no url": Mistake(
        ("eval", "run", *ROWS, "--model-id", "m"), "give --model-url", ("eval", "run", *ROWS, *HERE)
    ),
    "no model": Mistake(("eval", "run", *ROWS, *HERE[:2]), "give --model-id", ("eval", "run", *ROWS, *HERE)),
    "no benchmark": Mistake(("eval", "run", *HERE), "give --bench NAME", ("eval", "run", *ROWS, *HERE)),
    "benchmark": Mistake(
        ("eval", "run", "--bench", "gms8k", *ROWS[2:], *HERE),
        'did you mean "gsm8k"?',
        ("eval", "run", *ROWS, *HERE),
    ),
    "rows for a benchmark": Mistake(
        ("eval", "run", "--bench", "rows.jsonl", *HERE),
        "--bench NAME --dataset rows.jsonl",
        ("eval", "run", *ROWS, *HERE),
    ),
    "a benchmark for a configuration": Mistake(
        ("eval", "run", "quickstart", *HERE),
        "did you mean --bench quickstart?",
        ("eval", "run", "--bench", "quickstart", *HERE),
    ),
    "dataset path": Mistake(
        ("eval", "run", *ROWS[:2], "--dataset", "rws.jsonl", *HERE), "rws.jsonl", ("eval", "run", *ROWS, *HERE)
    ),
    "broken line": Mistake(
        ("eval", "run", *ROWS[:2], "--dataset", "broken.jsonl", *HERE),
        "line 2: invalid JSON",
        ("eval", "run", *ROWS, *HERE),
    ),
    "column": Mistake(
        ("eval", "run", *ROWS[:2], "--dataset", "columns.jsonl", *HERE), '"question"', ("eval", "run", *ROWS, *HERE)
    ),
    "scorer": Mistake(
        ("eval", "run", *ROWS, *HERE, "--scorer", "exat"),
        'did you mean "exact"?',
        ("eval", "run", *ROWS, *HERE, "--scorer", "exact"),
    ),
    "metric": Mistake(
        ("eval", "run", *ROWS, *HERE, "--metric", "acuracy"),
        'did you mean "accuracy"?',
        ("eval", "run", *ROWS, *HERE, "--metric", "accuracy"),
    ),
    "option": Mistake(
        ("eval", "run", *ROWS, *HERE, "--concurency", "2"),
        "--concurrency",
        ("eval", "run", *ROWS, *HERE, "--concurrency", "2"),
    ),
    "number": Mistake(
        ("eval", "run", *ROWS, *HERE, "--repeats", "eight"),
        '"eight" is not a whole number',
        ("eval", "run", *ROWS, *HERE, "--repeats", "8"),
    ),
    "too small": Mistake(
        ("eval", "run", *ROWS, *HERE, "--repeats", "0"),
        "too small: at least 1",
        ("eval", "run", *ROWS, *HERE, "--repeats", "1"),
    ),
    "key of a setting": Mistake(
        ("eval", "run", *ROWS, *HERE, "-O", "engine.concurency=3"),
        'did you mean "concurrency"',
        ("eval", "run", *ROWS, *HERE, "-O", "engine.concurrency=3"),
    ),
    "key instead of its variable": Mistake(
        ("eval", "run", *ROWS, *HERE, "--api-key-env", "sk-12345678"),
        "give the name, not the key itself",
        ("eval", "run", *ROWS, *HERE, "--api-key-env", "MY_KEY"),
    ),
    "command": Mistake(
        ("run", *ROWS, *HERE), "Did you mean `nel eval run`?", ("eval", "run", *ROWS, *HERE)
    ),
    "yaml file": Mistake(("eval", "run", "nell.yaml"), "cannot read the configuration", ("eval", "run", "nel.yaml")),
    "yaml key": Mistake(("eval", "run", "key.yaml"), 'did you mean "url"?', ("eval", "run", "nel.yaml")),
    "yaml section": Mistake(("eval", "run", "section.yaml"), 'did you mean "benchmarks"?', ("eval", "run", "nel.yaml")),
    "yaml indentation": Mistake(("eval", "run", "tab.yaml"), "line 2", ("eval", "run", "nel.yaml")),
    "yaml variable": Mistake(("eval", "run", "variable.yaml"), "NEL_TEST_UNSET", ("eval", "run", "nel.yaml")),
}  # fmt: skip
"""Mistakes that the plan of a run shows already."""
CODE = {
    "task_id": "t/0",
    "prompt": "def f():\n",
    "canonical_solution": "    return 1\n",
    "entry_point": "f",
    "test": "def check(candidate):\n    assert candidate() == 1\n",
}
GOOD = "endpoint:\n  url: http://127.0.0.1:9/v1\n  model: m\nbenchmarks:\n  - name: gsm8k\n    dataset: rows.jsonl\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sums(tmp_path / "rows.jsonl", 3)
    files = {
        "broken.jsonl": '{"question": "q", "answer": "#### 1"}\n{"question": \n',
        "columns.jsonl": '{"q": "q", "answer": "#### 1"}\n',
        "nel.yaml": GOOD,
        "key.yaml": GOOD.replace("url:", "ulr:"),
        "section.yaml": GOOD.replace("benchmarks:", "benchmark:"),
        "tab.yaml": GOOD.replace("  url:", "\turl:"),
        "variable.yaml": GOOD.replace("model: m", "model: ${NEL_TEST_UNSET}"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def nel(*arguments: str, **env: str) -> Result:
    return CliRunner().invoke(app, arguments, env=env, prog_name="nel")


@pytest.mark.parametrize("name", PLANNED)
def test_a_mistake_of_the_plan_leads_to_a_command_that_works(tmp_path: Path, name: str) -> None:
    """Exit 2 and one line that names it, no run directory; what it leads to plans a run."""
    one = PLANNED[name]
    done = nel(*one.wrong)
    assert done.exit_code == 2
    assert one.says in " ".join(done.output.split())
    assert "Traceback" not in done.output
    assert list(tmp_path.glob("eval_results/*")) == []
    assert nel(*one.right, "--dry-run").exit_code == 0


def _first(call: object, number: int) -> Reply:
    return answer("The answer is 2.")


def _printed(done: Result) -> list[str]:
    """Return the arguments of the command that the last line prints."""
    return shlex.split(done.output.strip().splitlines()[-1].partition(": nel ")[2].partition(" (-O")[0])


@pytest.mark.parametrize(
    ("options", "says", "replaced"),
    [
        (("--api-key-env", "WRONG"), "the key in WRONG was refused", None),
        ((), "it wants a key; name the variable that holds it with --api-key-env", ("VARIABLE", "RIGHT")),
        (("--api-key-env", "RIGHT", "--model-id", "mm"), 'did you mean "m-1"?', None),
        (("--api-key-env", "RIGHT", "--model-url", "NO_V1"), "/v1 lists models", None),
    ],
    ids=["wrong-key", "no-key", "model", "url"],
)
def test_a_mistake_about_the_endpoint_is_corrected_by_the_printed_command(
    options: tuple[str, ...], says: str, replaced: tuple[str, str] | None
) -> None:
    """Nothing is paid, and the run goes on in its directory with the command as it stands there."""
    with scripted(_first, models=["m-1"], key="right-key") as endpoint:
        given = [endpoint.url.removesuffix("/v1") if word == "NO_V1" else word for word in options]
        chosen = ["--model-url", endpoint.url, "--model-id", "m-1", *given]
        env = {"WRONG": "wrong-key", "RIGHT": "right-key"}
        wrong = nel("eval", "run", *ROWS, *chosen, **env)
        assert (wrong.exit_code, len(endpoint.calls)) == (2, 0)
        assert says in wrong.output
        command = [replaced[1] if replaced and word == replaced[0] else word for word in _printed(wrong)]
        env["WRONG"] = "right-key"
        assert nel(*command, **env).exit_code == 0


def test_an_endpoint_that_is_not_there_is_continued_elsewhere() -> None:
    """Nothing listens: exit 75, and a resume takes the URL where it does."""
    lost = nel("eval", "run", *ROWS, *HERE, "-O", "endpoint.attempts_max=1")
    assert lost.exit_code == 75
    assert "start the endpoint or correct --model-url" in lost.output
    with scripted(_first, models=["m"]) as endpoint:
        assert nel(*_printed(lost), "--model-url", endpoint.url).exit_code == 0


def test_an_output_that_is_a_file_and_a_resume_of_nothing(tmp_path: Path) -> None:
    """Both are said before anything is sent."""
    (tmp_path / "taken").write_text("", encoding="utf-8")
    done = nel("eval", "run", *ROWS, *HERE, "--output-dir", "taken")
    assert (done.exit_code, "choose another --output-dir" in done.output) == (2, True)
    done = nel("eval", "resume", "nothing")
    assert (done.exit_code, "give the directory of a run" in done.output) == (2, True)


def test_without_docker_programs_are_not_asked_for(tmp_path: Path) -> None:
    """A benchmark of programs ends before the endpoint is asked, and says how to go on."""
    (tmp_path / "code.jsonl").write_text(
        json.dumps(CODE),
        encoding="utf-8",
    )
    with scripted(_first, models=["m"]) as endpoint:
        chosen = ("--model-url", endpoint.url, "--model-id", "m", "--dataset", "code.jsonl")
        done = nel("eval", "run", "--bench", "humaneval", *chosen, DOCKER_HOST="unix:///nowhere/docker.sock")
        assert (done.exit_code, len(endpoint.calls)) == (2, 0)
    assert "programs cannot be run" in done.output
    assert _printed(done)[:2] == ["eval", "resume"]
