"""A task run through nel asks and scores as Inspect does itself, and what cannot be run is refused with a reason."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nel_inspect.bridge import Address, open_task, parse_address
from nel_inspect.tasks import load_task

from nel import Message, NelError, ScorerInput, evaluate
from nel.errors import ConfigError, DatasetError, ScorerError
from nel.runs.evaluation import rescore

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.lm_eval import read_samples

FOLDER = Path(__file__).parent
TASKS = FOLDER / "inspect_tasks.py"
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


@pytest.fixture(scope="module")
def inspect_ai() -> Any:
    """Return Inspect, or skip."""
    return pytest.importorskip(
        "inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai"
    )


def reply_to(messages: list[dict[str, str]]) -> str:
    """Return an answer that is right for some prompts, wrong for others and shapeless for a few."""
    text = "\n".join(str(message["content"]) for message in messages)
    kind = zlib.crc32(f"5{text}".encode()) % 4  # the figure mixes right and wrong in every task
    numbers = [
        int(number)
        for pair in re.findall(r"What is (\d+) plus (\d+)", text)[-1:]
        for number in pair
    ]
    if numbers and kind:
        return (
            f"It comes to none other than {sum(numbers)}."
            if kind == 1
            else f"That makes {sum(numbers) + kind - 2}"
        )
    return (
        "I do not say."
        if kind == 1
        else f"Let me see.\nANSWER: {'ABC'[kind - 1] if kind else 'B, C'}"
    )


def _script(call: Call, _: int) -> Reply:
    return answer(reply_to(call.body["messages"]))


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve the scripted model."""
    with scripted(_script, models=["scripted"]) as served:
        yield served


def uri_of(name: str, **arguments: Any) -> str:
    """Return the address of a task with its arguments."""
    query = "&".join(f"{key}={str(value).lower()}" for key, value in arguments.items())
    return f"inspect://{TASKS}@{name}" + (f"?{query}" if query else "")


def run(folder: Path, url: str, uri: str, **more: Any) -> Any:
    """Run one benchmark, whatever becomes of it."""
    return evaluate(
        {
            "endpoint": {"url": url, "model": "scripted"},
            "benchmarks": [{"name": uri, **more}],
            "output": {"dir": str(folder / "out")},
        }
    )


def by_itself(
    folder: Path, name: str, arguments: dict[str, Any], asked: list[Call]
) -> dict[str, Any]:
    """Return what Inspect sends and scores, given the same answers."""
    answers = {shown(call.body["messages"]): reply_to(call.body["messages"]) for call in asked}
    given = [f"{TASKS}@{name}", json.dumps(arguments), json.dumps(answers), str(folder / "logs")]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "inspect_itself.py"), *given],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def shown(messages: list[dict[str, Any]]) -> str:
    """Return messages as one text, always the same."""
    return json.dumps(messages, sort_keys=True)


def lines_of(result: Any) -> list[dict[str, Any]]:
    """Return the result lines by the number in their sample's id, or in their order."""
    return read_samples(result.run_dir)


@pytest.mark.usefixtures("inspect_ai")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("sums", {"unit": "plums", "shots": 2}),
        ("shapes", {}),
        ("shapes", {"cot": True, "shuffled": True}),
        ("chats", {}),
    ],
)
def test_a_task_is_asked_and_scored_as_by_inspect(
    tmp_path: Path, endpoint: Endpoint, name: str, arguments: dict[str, Any]
) -> None:
    """The same messages in each sample, and every scorer's value."""
    result = run(tmp_path, endpoint.url, uri_of(name, **arguments))
    assert result.exit_code == 0
    theirs = by_itself(tmp_path, name, arguments, endpoint.calls)
    known = [shown(one["messages"]) for one in theirs["sent"]]
    assert set(known) == {shown(call.body["messages"]) for call in endpoint.calls}
    ours = {
        json.dumps(line["metadata"]["input"], sort_keys=True): line for line in lines_of(result)
    }
    assert len(ours) == len(known)
    rewards = []
    for row, scores in zip(
        open_task(uri_of(name, **arguments)).dataset(), theirs["scores"], strict=True
    ):
        line = ours[json.dumps(row["sample"]["input"], sort_keys=True)]
        first = next(iter(scores.values()))
        rewards.append(GRADES[first["value"]])
        assert line["reward"] == rewards[-1]
        assert line["extracted_answer"] == first["answer"] or not first["answer"]
        if len(scores) > 1:
            values = {
                f"two_values_{key}": GRADES.get(value, value)
                for key, value in scores["two_values"]["value"].items()
            }
            assert line["scoring_details"]["metrics"] == pytest.approx(
                {"includes": rewards[-1], **values}
            )
    assert 0 < sum(rewards) < len(rewards)


@pytest.mark.usefixtures("inspect_ai")
def test_settings_of_the_task_and_its_solver_are_sent(tmp_path: Path, endpoint: Endpoint) -> None:
    """The solver's go before the task's, a run's before both; what concerns Inspect's client is left out."""
    result = run(tmp_path, endpoint.url, uri_of("sums"), generation={"max_tokens": 7})
    assert result.exit_code == 0
    body = endpoint.calls[-1].body
    assert {key: value for key, value in body.items() if key not in ("messages", "model", "stream")} == {
        "temperature": 0.25, "stop": ["###"], "max_tokens": 7, "top_k": 3,
    }  # fmt: skip
    assert "--repeats 3" in open_task(uri_of("sums")).description


@pytest.mark.usefixtures("inspect_ai")
def test_the_interval_covers_the_clusters_that_a_task_names(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """`stderr(cluster="pair")` says that samples of a pair are not independent."""
    (benchmark,) = run(tmp_path, endpoint.url, uri_of("pairs")).benchmarks
    (accuracy,) = benchmark.metrics["metrics"]
    assert (accuracy["n"], accuracy["ci_covers"]) == (7, "new clusters")


@pytest.mark.usefixtures("inspect_ai")
def test_a_run_is_scored_anew_without_a_request(tmp_path: Path, endpoint: Endpoint) -> None:
    """Stored answers go through solvers and scorers again, and come to the same."""
    result = run(tmp_path, endpoint.url, uri_of("chats"))
    before, asked = lines_of(result), len(endpoint.calls)
    again = rescore(result.run_dir)
    assert (again.exit_code, len(endpoint.calls)) == (0, asked)
    assert [line["reward"] for line in lines_of(again)] == [line["reward"] for line in before]


@pytest.mark.usefixtures("inspect_ai")
def test_a_task_loaded_again_has_the_same_rows() -> None:
    """Else no run of it could be resumed: Inspect gives each message of a chat a random id."""
    first = list(open_task(uri_of("chats")).dataset())
    load_task.cache_clear()
    assert list(open_task(uri_of("chats")).dataset()) == first


@pytest.mark.usefixtures("inspect_ai")
def test_pictures_in_the_data_are_sent_and_files_are_not(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """As parts of a message, in the form that endpoints know."""
    assert run(tmp_path, endpoint.url, uri_of("pictures")).exit_code == 0
    (message,) = endpoint.calls[-1].body["messages"]
    assert message["content"][0] == {"type": "text", "text": "What is it?"}
    assert message["content"][1]["image_url"]["url"].startswith("data:image/gif;base64,")
    with pytest.raises(ConfigError, match="an image by its file's name"):
        open_task(uri_of("pictures", image="dot.gif"))


@pytest.mark.usefixtures("inspect_ai")
def test_answers_in_the_data_are_scored_without_an_endpoint(tmp_path: Path) -> None:
    """A field of the sample holds them; here one in seven is right."""
    entry = {"name": uri_of("sums"), "response_field": "metadata.said"}
    result = evaluate({"benchmarks": [entry], "output": {"dir": str(tmp_path / "out")}})
    assert result.exit_code == 0
    assert [line["reward"] for line in lines_of(result)] == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.usefixtures("inspect_ai")
def test_a_scorer_that_fails_is_never_a_wrong_answer(tmp_path: Path, endpoint: Endpoint) -> None:
    """An exception, no score, a word that is none and Inspect's own sentinel leave their samples unscored."""
    result = run(tmp_path, endpoint.url, uri_of("faulty"))
    assert result.exit_code == 3
    lines = {line["metadata"]["id"]: line for line in lines_of(result)}
    assert {name for name, line in lines.items() if line["reward"] is None} == {
        "sum-2",
        "sum-3",
        "sum-4",
        "sum-5",
    }
    said = {name: json.dumps(line) for name, line in lines.items()}
    assert "the dictionary is gone" in said["sum-2"]
    assert "failing gave no score" in said["sum-3"]
    assert "'perhaps', which is not a grade and no number" in said["sum-4"]
    assert "failing gave no score: too long" in said["sum-5"]
    assert lines["sum-1"]["reward"] == 1.0


@pytest.mark.usefixtures("inspect_ai")
def test_a_task_that_shows_itself_only_with_an_answer_is_unscored() -> None:
    """It asks a second time, or another prompt than the one that was sent."""
    for name, sent, message in (
        ("doubtful", None, "asks the model more than once"),
        ("chats", "?", "another prompt"),
    ):
        benchmark = open_task(uri_of(name))
        sample = benchmark.sample(next(iter(benchmark.dataset())), sample_id="1")
        if sent is not None:
            sample = replace(sample, input=(*sample.input[:-1], Message(role="user", content=sent)))
        with pytest.raises(ScorerError, match=message):
            asyncio.run(
                benchmark.scorer(
                    ScorerInput(
                        response="8", target="8", metadata=dict(sample.metadata), sample=sample
                    )
                )
            )


@pytest.mark.usefixtures("inspect_ai")
def test_a_sample_that_cannot_be_asked_costs_itself_only(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """A solver that fails on one sample makes a bad row of it; metrics that nel does not compute are named."""
    result = run(tmp_path, endpoint.url, uri_of("pickily"))
    assert result.exit_code == 3
    text = (next(result.run_dir.glob("*/results.jsonl"))).read_text(encoding="utf-8")
    assert text.count('"reward"') == 7
    assert "ValueError: no apples" in text
    assert "without f1, unheard_of" in open_task(uri_of("pickily")).description


@pytest.mark.usefixtures("inspect_ai")
@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("agent", ConfigError, "runs the agent react"),
        ("tools", ConfigError, "runs the tools that the model calls and asks it again"),
        ("critic", ConfigError, "calls a model itself"),
        ("twice", ConfigError, "asks the model more than once"),
        ("silent", ConfigError, "never asks the model"),
        ("drawn", ConfigError, "shapes its prompt at random"),
        ("sandboxed", ConfigError, "needs a sandbox, which this bridge has not"),
        ("filed", ConfigError, "needs a sandbox for its samples"),
        ("unscored", ConfigError, "has no scorer"),
        ("ranked", ConfigError, "sets num_choices"),
        ("empty", DatasetError, "has no samples"),
        ("broken", DatasetError, "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_run_is_refused(kind: str, error: type[NelError], message: str) -> None:
    """Before anything is sent, with the reason."""
    with pytest.raises(error, match=message):
        open_task(uri_of("refused", kind=kind))


@pytest.mark.usefixtures("inspect_ai")
@pytest.mark.parametrize(
    ("uri", "message"),
    [
        (f"inspect://{TASKS}@sumz", 'did you mean "sums"'),
        (f"inspect://{TASKS}@sums?units=kg", 'no argument "units"; did you mean "unit"'),
        ("inspect:///no/such/file.py@x", "there is no file"),
        ("inspect://no_such_package/gsm8k", "registers tasks with Inspect"),
    ],
)
def test_a_name_that_is_not_there_is_refused(uri: str, message: str) -> None:
    """With the nearest name that is."""
    with pytest.raises(ConfigError, match=message):
        open_task(uri)


@pytest.mark.usefixtures("inspect_ai")
def test_a_task_of_an_installed_package_runs(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found by its entry point, and a wrong name says what the package has."""
    package, described = tmp_path / "tiny_evals", tmp_path / "tiny_evals-0.3.dist-info"
    for folder in (package, described):
        folder.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "_registry.py").write_text(
        "from tiny_evals.work import sums, shapes\n", encoding="utf-8"
    )
    (package / "work.py").write_text(TASKS.read_text(encoding="utf-8"), encoding="utf-8")
    (described / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tiny_evals\nVersion: 0.3\n", encoding="utf-8"
    )
    editable = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    (described / "direct_url.json").write_text(json.dumps(editable), encoding="utf-8")
    (described / "top_level.txt").write_text("tiny_evals\n", encoding="utf-8")
    (described / "entry_points.txt").write_text(
        "[inspect_ai]\ntiny_evals = tiny_evals._registry\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    from inspect_ai._util.entrypoints import clear_entry_points_state  # noqa: PLC0415 - the fixture skips without it

    clear_entry_points_state()  # else what was installed when an earlier test looked is all there is
    result = run(tmp_path, endpoint.url, "inspect://tiny_evals/sums?shots=1", max_problems=4)
    assert result.exit_code == 0
    assert len(lines_of(result)) == 4
    assert "Example: 1 plus 1 is 2." in endpoint.calls[-1].text
    with pytest.raises(
        ConfigError, match='no task tiny_evals/shape; did you mean "tiny_evals/shapes"'
    ):
        open_task("inspect://tiny_evals/shape")


@pytest.mark.usefixtures("inspect_ai")
def test_shots_by_flag_are_refused(tmp_path: Path, endpoint: Endpoint) -> None:
    """Examples are the task's own affair."""
    with pytest.raises(ConfigError, match="the task's own argument"):
        run(tmp_path, endpoint.url, uri_of("sums"), num_fewshot=2)


@pytest.mark.usefixtures("inspect_ai")
def test_a_changed_argument_or_file_is_another_task(tmp_path: Path) -> None:
    """The identity covers both."""
    copied = tmp_path / "copied.py"
    text = TASKS.read_text(encoding="utf-8")
    copied.write_text(text, encoding="utf-8")
    first = open_task(f"inspect://{copied}@sums").extra
    assert open_task(f"inspect://{copied}@sums?shots=1").extra != first
    copied.write_text(text + "\n# changed\n", encoding="utf-8")
    assert open_task(f"inspect://{copied}@sums?shots=0").extra != first


def test_an_address_is_read_without_inspect() -> None:
    """Package or file, task, and arguments in any order."""
    assert parse_address("inspect://inspect_evals/gsm8k?fewshot=5&a=b%20c") == Address(
        home="inspect_evals", task="gsm8k", arguments=(("a", "b c"), ("fewshot", "5"))
    )
    assert parse_address("inspect:///a/b@c/file.py@t") == Address(home="/a/b@c/file.py", task="t")
    assert parse_address("inspect:///tasks/file.py@t").spec == "/tasks/file.py@t"


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("inspect://", "names no task"),
        ("inspect://gsm8k", "write inspect://PKG/TASK"),
        ("inspect:///a/file.py", "inspect:///PATH/FILE.py@TASK"),
        ("inspect://tasks/file.py@t", r"give the whole path.*inspect://\$PWD/tasks/file.py"),
        ("inspect://p/t?a=1&a=2", "a is given twice"),
    ],
)
def test_a_wrong_address_says_what_is_wrong(uri: str, message: str) -> None:
    """Typing errors are caught before inspect_ai is imported."""
    with pytest.raises(ConfigError, match=message):
        parse_address(uri)
