"""What a sample keeps in its metadata reaches solvers and scorers as the task made it, in every process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))
from nel_inspect.bridge import open_task
from nel_inspect.tasks import load_task

from nel import ScorerInput, evaluate
from nel.errors import ConfigError, ScorerError
from nel.runs.evaluation import rescore
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.lm_eval import read_samples

FOLDER = Path(__file__).parent
TASKS = FOLDER / "object_tasks.py"
NAMES = (
    "enumeration enumeration_in_a_list flag tuple set frozen_set integer_keys tuple_keys enumeration_keys none_inside "
    "dataclass model date decimal path bytes nan"
).split()


@pytest.fixture(scope="module", autouse=True)
def _inspect_ai() -> None:
    """Skip without Inspect."""
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai")


def reply_to(question: str) -> str:
    """Return the question, and of options the first for an even number and else the second."""
    number = re.search(r"Which is (\d)", question)
    return question if number is None else f"ANSWER: {'AB'[int(number[1]) % 2]}"


def _script(call: Call, _: int) -> Reply:
    return answer(reply_to(call.body["messages"][-1]["content"]))


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve the scripted model."""
    with scripted(_script, models=["m"]) as served:
        yield served


def run(folder: Path, url: str, task: str) -> Any:
    """Run one task of the file."""
    return evaluate(
        {
            "endpoint": {"url": url, "model": "m"},
            "benchmarks": [f"inspect://{TASKS}@{task}"],
            "output": {"dir": str(folder / "out")},
        }
    )


def question_of(line: dict[str, Any]) -> str:
    """Return what a result line's sample asked."""
    (message,) = line["prompt"]
    return str(message["content"])


@pytest.fixture(scope="module")
def of_objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the result lines of the task ``objects`` by the name of the object."""
    with scripted(_script, models=["m"]) as served:
        result = run(tmp_path_factory.mktemp("objects"), served.url, "objects")
    assert result.exit_code == 0
    return {line["metadata"]["metadata"]["name"]: line for line in read_samples(result.run_dir)}


@pytest.mark.parametrize("name", NAMES)
def test_an_object_reaches_solvers_and_scorers_as_it_is(
    of_objects: dict[str, dict[str, Any]], name: str
) -> None:
    """Both see it before and after the answer; the record of the sample has a form in JSON."""
    assert set(of_objects) == set(NAMES)
    line = of_objects[name]
    assert (question_of(line), line["reward"]) == (f"Say {name}. True", 1)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name != "nan"]
)  # a NaN beside a score is text in nel
def test_an_object_in_a_score_is_kept_as_json(
    of_objects: dict[str, dict[str, Any]], name: str
) -> None:
    """What a scorer says beside its value has the form of the sample's record; anything else is described."""
    details = of_objects[name]["scoring_details"]
    assert details["object"] == of_objects[name]["metadata"]["metadata"]["object"]
    assert details["table"] == "a table"


def test_a_task_that_asks_by_the_kind_of_a_sample_is_run_as_by_inspect(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """Options are shown and letters are read where an enumeration says so: the same messages and values."""
    result = run(tmp_path, endpoint.url, "kinds")
    questions = [call.body["messages"] for call in endpoint.of_samples]
    answers = {json.dumps(one, sort_keys=True): reply_to(one[-1]["content"]) for one in questions}
    given = [f"{TASKS}@kinds", "{}", json.dumps(answers), str(tmp_path / "logs")]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "inspect_itself.py"), *given],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = json.loads(done.stdout)
    values = [float(next(iter(scores.values()))["value"] == "C") for scores in theirs["scores"]]
    ours = {question_of(line): line["reward"] for line in read_samples(result.run_dir)}
    assert ours == dict(
        zip((asked[0]["content"] for asked in theirs["asked"]), values, strict=True)
    )
    assert sorted(values) == [0, 0, 1, 1, 1, 1, 1, 1]


def test_what_a_solver_takes_out_of_the_metadata_is_there_for_the_next_time(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """Each of its runs has a copy of the sample."""
    result = run(tmp_path, endpoint.url, "used_up")
    assert result.exit_code == 0
    assert {call.text[-1] for call in endpoint.of_samples} == {"b"}


def test_a_rescoring_finds_the_samples_of_a_set_of_data_that_is_shuffled_again(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """A sample is known by its record, never by its position."""
    result = run(tmp_path, endpoint.url, "kinds?shuffled=true")
    before = {question_of(line): line["reward"] for line in read_samples(result.run_dir)}
    load_task.cache_clear()
    again = rescore(result.run_dir)
    assert {question_of(line): line["reward"] for line in read_samples(again.run_dir)} == before


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_record_of_a_set_is_the_same_in_every_process(seed: str) -> None:
    """Texts in a set have another order in each, and the run's identity and its scorer would not find the sample."""
    program = (
        "import json, sys; from nel_inspect.bridge import open_task;"
        "rows = [row['sample'] for row in open_task(sys.argv[1]).dataset()];"
        "print(json.dumps([row['metadata']['object'] for row in rows if row['metadata']['name'] == 'set']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, f"inspect://{TASKS}@objects"],
        capture_output=True, text=True, check=True, timeout=120, env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    assert json.loads(done.stdout) == [["blue", "green", "grey", "red"]]


def test_an_object_that_no_record_can_hold_is_refused_by_name() -> None:
    """Before anything is sent."""
    with pytest.raises(ConfigError, match=r"keeps a Table in metadata\.table"):
        open_task(f"inspect://{TASKS}@unwritable")


def test_a_sample_that_is_not_there_again_is_unscored() -> None:
    """A dataset that is drawn at random on each load has other samples; an answer to one says nothing of another."""
    benchmark = open_task(f"inspect://{TASKS}@drawn")
    sample = benchmark.sample(next(iter(benchmark.dataset())), sample_id="1")
    load_task.cache_clear()
    with pytest.raises(ScorerError, match="has no such sample where it is loaded again"):
        asyncio.run(
            benchmark.scorer(
                ScorerInput(response="0", target="0", metadata=dict(sample.metadata), sample=sample)
            )
        )
