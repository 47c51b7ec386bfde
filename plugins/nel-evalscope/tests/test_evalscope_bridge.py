"""A benchmark of EvalScope run through nel asks and scores as EvalScope itself, and what cannot be run is refused."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evalscope_files import write_adapters, write_data
from nel_evalscope.bridge import open_benchmark, parse_address

from nel import NelError, evaluate
from nel.errors import ConfigError
from nel.runs.evaluation import rescore

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted

SAID = ("ANSWER: 7", "ANSWER: B", "ANSWER: A", "I say C", "1.")
SUM = re.compile(r"(\d+) ?\+ ?(\d)\?")
QUESTIONS = [
    {
        "question": f"What is {n} + 4?",
        "answer": f"{n} and 4 make <<{n}+4={n + 4}>>{n + 4}.\n#### {n + 4}",
    }
    for n in range(9)
]
CHOICES = {
    subset: {
        "test": [
            {"q": f"{subset}{n}?", "options": ["x", "y", "z"], "gold": "ABC"[n % 3]}
            for n in range(6)
        ]
    }
    for subset in "ab"
}


@pytest.fixture
def evalscope() -> Any:
    """Return EvalScope, or skip."""
    return pytest.importorskip(
        "evalscope", reason="evalscope is not installed: pip install evalscope"
    )


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve a model that says one of a few things, by what it is asked."""
    with scripted(says, models=["m"]) as served:
        yield served


def says(call: Call, _: int) -> Reply:
    """Return the right sum for even numbers, and else one of a few answers, by what is asked."""
    sums = SUM.findall(call.text)
    if sums and int(sums[-1][0]) % 2 == 0:
        total = int(sums[-1][0]) + int(sums[-1][1])
        return answer(
            f"Well.\nANSWER: \\boxed{{{total}}}" if "ANSWER" in call.text else f"{total}."
        )
    number = int(hashlib.sha256(call.text.encode()).hexdigest(), 16)
    return answer(SAID[number % len(SAID)])


def run(tmp_path: Path, url: str, uri: str) -> tuple[Any, list[dict[str, Any]]]:
    """Run a benchmark; return the result and its rows."""
    settings = {"endpoint": {"url": url, "model": "m"}, "output": {"dir": str(tmp_path / "out")}}
    result = evaluate({"benchmarks": [uri], **settings})
    (folder,) = [path.parent for path in Path(result.run_dir).glob("*/results.jsonl")]
    return result, [
        json.loads(line) for line in (folder / "results.jsonl").read_text("utf-8").splitlines()
    ]


def by_evalscope(tmp_path: Path, url: str, name: str, arguments: dict[str, Any]) -> list[float]:
    """Return the score of each sample, as EvalScope gives it."""
    from evalscope import TaskConfig, run_task  # noqa: PLC0415 - the fixture skips where it is not there

    work = tmp_path / "work"
    task = TaskConfig(
        model="m",
        api_url=url,
        api_key="none",
        eval_type="openai_api",
        datasets=[name],
        dataset_args={name: arguments},
        work_dir=str(work),
        no_timestamp=True,
    )
    run_task(task)
    lines = [
        line
        for path in sorted(work.rglob("reviews/**/*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    values = [json.loads(line)["sample_score"]["score"]["value"] for line in lines]
    return [float(next(iter(value.values()))) for value in values]


def register(path: str, name: str) -> None:
    """Register the adapters of a file with EvalScope itself, which takes each name once."""
    from evalscope.api.registry import BENCHMARK_REGISTRY  # noqa: PLC0415 - the fixture skips where it is not there

    if not BENCHMARK_REGISTRY.is_materialized(name):
        runpy.run_path(path)


CASES = {
    "gsm8k": ({"main": {"test": QUESTIONS[:6], "train": QUESTIONS[6:]}}, {"few_shot_num": 2}),
    "own_choices": (CHOICES, {"subset_list": ["b", "a"]}),
    "own_loader": (None, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_benchmark_is_asked_and_scored_as_by_evalscope(
    tmp_path: Path, endpoint: Endpoint, evalscope: Any, name: str
) -> None:
    """The same messages are sent, and the score is the same: its own loaders, examples, templates and metrics."""
    data, arguments = CASES[name]
    if data is not None:
        (tmp_path / "data").mkdir()
        arguments = {**arguments, "local_path": write_data(tmp_path / "data", data)}
    home = "" if name == "gsm8k" else f"{write_adapters(tmp_path)}@"
    if home:
        register(home.rstrip("@"), name)
    query = "&".join(
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in arguments.items()
    )
    result, rows = run(tmp_path, endpoint.url, f"evalscope://{home}{name}?{query}".rstrip("?"))
    assert result.exit_code == 0
    n_sent = len(endpoint.calls)
    ours = sorted(json.dumps(call.body["messages"], sort_keys=True) for call in endpoint.calls)
    theirs = by_evalscope(tmp_path, endpoint.url, name, arguments)
    sent = [call.body["messages"] for call in endpoint.calls[n_sent:]]
    assert ours == sorted(json.dumps(messages, sort_keys=True) for messages in sent)
    assert len(rows) == len(sent)
    assert sorted(row["reward"] for row in rows) == sorted(theirs)
    assert 0 < sum(theirs) < len(theirs)


def test_a_run_is_scored_again_without_a_request(
    tmp_path: Path, endpoint: Endpoint, evalscope: Any
) -> None:
    """The benchmark is loaded again and gives the same samples, so that a resume asks nothing."""
    uri = f"evalscope://{write_adapters(tmp_path)}@own_loader"
    result, rows = run(tmp_path, endpoint.url, uri)
    n_sent = len(endpoint.calls)
    assert [row["metadata"]["sample"] for row in open_benchmark(uri).dataset()] == [
        row["metadata"]["sample"] for row in rows
    ]
    rescore(result.run_dir)
    assert len(endpoint.calls) == n_sent


def test_a_metric_that_fails_is_never_a_wrong_answer(tmp_path: Path, evalscope: Any) -> None:
    """Its sample has no score; the others do."""
    with scripted(lambda *_: answer("1"), models=["m"]) as endpoint:
        result, rows = run(tmp_path, endpoint.url, f"evalscope://{write_adapters(tmp_path)}@breaks")
    assert result.exit_code == 3
    assert {row["outcome"]["cause"] for row in rows} == {"scorer"}
    assert {row["reward"] for row in rows} == {None}


def test_a_sample_that_is_no_json_costs_itself_only(
    tmp_path: Path, endpoint: Endpoint, evalscope: Any
) -> None:
    """It is a bad row that says so; the others are asked and scored."""
    result, rows = run(tmp_path, endpoint.url, f"evalscope://{write_adapters(tmp_path)}@bytes")
    causes = [row["outcome"]["cause"] for row in rows]
    assert (result.exit_code, sorted(causes, key=str)) == (3, [None, None, None, "bad_row"])
    assert len(endpoint.of_samples) == 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("asks_twice", "asks the model more than once"),
        ("own_choises", 'no benchmark "own_choises"; did you mean "own_choices"'),
    ],
)
def test_what_cannot_be_run_is_refused(
    tmp_path: Path, endpoint: Endpoint, evalscope: Any, name: str, message: str
) -> None:
    """By name, with the reason, and before anything is sent."""
    with pytest.raises(NelError, match=message):
        run(tmp_path, endpoint.url, f"evalscope://{write_adapters(tmp_path)}@{name}")
    assert not endpoint.of_samples


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("simple_qa", "scored by a judge"),
        ("general_fc", "gives the model tools"),
        ("humaneval", "runs the model's programs"),
        ("gsm8j", 'did you mean "gsm8k"'),
        ("gsm8k?few_shot=2", 'did you mean "few_shot_num"'),
        ("gsm8k?few_shot_num=1&few_shot_num=2", "given twice"),
        ("gsm8k?dataset_hub=github", "give modelscope, huggingface, local"),
        ("file.py@gsm8k", "give the whole path"),
        ("", "names no benchmark"),
    ],
)
def test_an_address_that_cannot_be_meant_is_refused(
    evalscope: Any, name: str, message: str
) -> None:
    """Judges, tools and programs by name; unknown names and parameters with what may be meant."""
    with pytest.raises(NelError, match=message):
        open_benchmark(f"evalscope://{name}")


@pytest.mark.slow
def test_a_list_of_plugins_does_not_import_evalscope(evalscope: Any) -> None:
    """It takes eight seconds and more to import, which only a run of one of its benchmarks waits for."""
    command = [sys.executable, "-X", "importtime", "-m", "nel", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "nel-evalscope" in done.stdout
    assert "| nel.cli.app" in done.stderr.replace("  ", "")
    assert not re.search(r"\| +evalscope", done.stderr)


def test_an_address_is_read_without_evalscope() -> None:
    """Values are JSON, or text where they are none."""
    address = parse_address(
        'evalscope:///a/b.py@mine?subset_list=["x"]&prompt_template=Q:%20{question}'
    )
    assert (address.name, address.home) == ("mine", "/a/b.py")
    assert dict(address.arguments) == {"subset_list": '["x"]', "prompt_template": '"Q: {question}"'}
    with pytest.raises(ConfigError, match="names no benchmark"):
        parse_address("evalscope://")
