"""`nel init`, `nel plugin new` and completion: what a user starts with works as it was written."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nel.cli.app import app
from nel.discovery.conformance import check_plugin

ANSWERS = ("--model-url", "http://127.0.0.1:8000/v1", "--model-id", 'a "b" ${C}')


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def nel(*arguments: str, answers: str = "", **env: str) -> Result:
    return CliRunner().invoke(app, arguments, input=answers, env=env, prog_name="nel")


def test_a_written_configuration_is_a_run(tmp_path: Path) -> None:
    """The dry run that is printed works, with quotes and a dollar sign in the model's name."""
    done = nel("init", *ANSWERS, "--bench", "quickstart", "--api-key-env", "MY_KEY")
    assert done.exit_code == 0
    planned = nel("eval", "run", "nel.yaml", "--dry-run")
    assert planned.exit_code == 0
    assert 'model a "b" ${C}' in planned.output
    assert "api_key_env: MY_KEY" in (tmp_path / "nel.yaml").read_text(encoding="utf-8")


def test_a_benchmark_in_yaml_is_written_too(tmp_path: Path) -> None:
    """Its own file runs as it stands, passes its check, and is left alone once it is there."""
    done = nel("init", *ANSWERS, "--bench", "my questions.yaml")
    assert done.exit_code == 0
    assert "wrote my questions.yaml, a benchmark" in done.output
    planned = nel("eval", "run", "nel.yaml", "--dry-run", "--json")
    assert planned.exit_code == 0
    (benchmark,) = json.loads(planned.output)["benchmarks"]
    assert (benchmark["name"], benchmark["samples"], benchmark["bad_rows"]) == ("my-questions", 3, 0)
    assert [finding for finding in check_plugin("my questions.yaml") if not finding.passed] == []
    mine = tmp_path / "my questions.yaml"
    mine.write_text(mine.read_text(encoding="utf-8").replace("Paris", "Oslo"), encoding="utf-8")
    assert nel("init", "other.yaml", *ANSWERS, "--bench", "my questions.yaml").exit_code == 0
    assert "Oslo" in mine.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--bench", "mine.py"), "there is no file mine.py; nel byob new writes a benchmark in Python"),
        (("--bench", "nel.yaml"), "nel.yaml is the configuration; name another file for the benchmark"),
        (("--bench", "no/own.yaml"), "cannot write no/own.yaml"),
        (("--bench", "__.yaml"), '"__.yaml" is not a name for a benchmark'),
        (("--bench", "quikstart"), 'did you mean "quickstart"?'),
        (("--bench", "quickstart", "--model-url", "host"), "'host' is not a URL of an endpoint"),
        (("--bench", "quickstart", "--model-url", "localhost:8000/v1"), "give one like http://"),
        (("--bench", "quickstart", "--api-key-env", "sk-1234"), "give the name, not the key itself"),
        (("there.yaml", "--bench", "quickstart"), "there.yaml exists and is left as it is"),
        (("no/x.yaml", "--bench", "quickstart"), "cannot write no/x.yaml"),
    ],
)
def test_a_wrong_answer_writes_nothing(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """The message says what to give, and there is no file."""
    (tmp_path / "there.yaml").write_text("mine", encoding="utf-8")
    done = nel("init", *ANSWERS, *arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["there.yaml"]
    assert (tmp_path / "there.yaml").read_text(encoding="utf-8") == "mine"


def test_a_new_plugin_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files, entry points and plugins have the new name, and its benchmark passes the check."""
    done = nel("plugin", "new", "nel-my-own")
    assert done.exit_code == 0
    assert "nel plugin check my-own-capitals" in done.output
    package = tmp_path / "nel-my-own"
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["name"], project["dependencies"]) == ("nel-my-own", ["nel-eval>=0.1"])
    for entries in project["entry-points"].values():
        for name, target in entries.items():
            assert name.startswith(("my-own-", "example_tool."))  # the other tool keeps its name
            assert (package / f"{target.partition(':')[0].replace('.', '/')}.py").is_file()
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*") if path.is_file()]
    assert not any("nel-example" in text or "nel_example" in text for text in texts)
    monkeypatch.syspath_prepend(str(package))
    findings = check_plugin(f"{package}/nel_my_own/capitals.py")
    assert findings
    assert [finding for finding in findings if not finding.passed] == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("My Plugin", '"My Plugin" is not a name for a plugin package; write lower case, as in nel-my-plugin'),
        ("nel-example", "is not a name for a plugin package"),
        ("../nel-x", "is not a name for a plugin package"),
        ("taken", "taken exists and is left as it is"),
    ],
)
def test_a_plugin_is_never_written_over_something(tmp_path: Path, name: str, message: str) -> None:
    """A wrong name or a folder that is there is refused."""
    (tmp_path / "taken").mkdir()
    done = nel("plugin", "new", name)
    assert done.exit_code == 2
    assert message in done.output
    assert [*tmp_path.rglob("*")] == [tmp_path / "taken"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("nel eval run --bench quicks", ["quickstart"]),
        ("nel eval run --scorer exact", ["exact", "exact_match"]),
        ("nel eval run --metric corpus_", ["corpus_bleu", "corpus_chrf", "corpus_ter"]),
        ("nel eval run --judge-template graded_", ["graded_fact", "graded_qa"]),
        ("nel list bench", ["benchmarks"]),
        ("nel plugin check quicks", ["quickstart"]),
    ],
)
def test_names_are_completed(line: str, names: list[str]) -> None:
    """A shell is given the installed names that begin so."""
    words = {"_NEL_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    assert nel(**words).output.split() == names


def test_a_new_plugin_has_the_kinds_asked_for(tmp_path: Path) -> None:
    """Files, entry points, tests and README of other kinds are left out; an unknown kind is named with the nearest."""
    done = nel("plugin", "new", "nel-mine", "--only", "scorer,judges")
    assert done.exit_code == 0
    assert "nel plugin check mine-keywords" in done.output
    package = tmp_path / "nel-mine"
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["entry-points"]) == {"nel.scorers", "nel.judges"}
    files = sorted(path.name for path in package.rglob("*.py"))
    assert files == ["__init__.py", "keywords.py", "test_keywords.py", "test_yes_no.py", "yes_no.py"]
    assert "capitals" not in (package / "README.md").read_text(encoding="utf-8")
    done = nel("plugin", "new", "nel-other", "--only", "judgs")
    assert (done.exit_code, 'called "judgs"; did you mean "judges"?' in done.output) == (2, True)
