"""Published tasks of inspect_evals on local rows: nel asks what Inspect asks, and gives every scorer's value."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))
from nel import evaluate
from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.lm_eval import read_samples
from tests.support.runs import read_results

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),
]  # what other packages warn of is theirs
FOLDER = Path(__file__).parent
FILE = FOLDER / "published_tasks.py"
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
REPLIES = (
    "ANSWER: A", "ANSWER: B", "Well.\nANSWER: C", "ANSWER: D", "answer: b", "I would say C", "ANSWER: A, D",
    "**ANSWER: B**", "Yes", "no.", "maybe", "The total is 12.", "ANSWER: 7", "1,200", "Paris", "the twelve",
    "unanswerable", "\\boxed{204}", "ANSWER: \\boxed{12}", "ANSWER: E",
)  # fmt: skip
NAMES = (
    "arc_easy arc_challenge bbh_choice bbh_binary bbh_match bbh_dyck boolq commonsense_qa hellaswag "
    "pubmedqa race_h truthfulqa_mc1 truthfulqa_mc2 winogrande paws mmlu_0_shot mmlu_0_shot_cot "
    "mmlu_5_shot mmlu_pro mmlu_pro_shots gsm8k gsm8k_alone wmdp_bio wmdp_chem wmdp_cyber sec_qa_v1 "
    "sec_qa_v2_5_shot musr musr_cot squad aime2024"
).split()


@pytest.fixture(autouse=True)
def _tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip without the package; keep what Inspect caches of the rows in a folder of the test."""
    pytest.importorskip(
        "inspect_evals", reason="inspect_evals is not installed: pip install inspect_evals"
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def reply_to(messages: list[dict[str, Any]]) -> str:
    """Return one of the replies, by what is asked."""
    return REPLIES[zlib.crc32(json.dumps(messages, sort_keys=True).encode()) % len(REPLIES)]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve a model that says one of the replies."""
    with scripted(lambda call, _: answer(reply_to(call.body["messages"])), models=["m"]) as served:
        yield served


def by_inspect(folder: Path, name: str, endpoint: Endpoint) -> dict[str, Any]:
    """Return what Inspect itself sends and scores, given the same replies."""
    asked = [call.body["messages"] for call in endpoint.of_samples]
    known = {json.dumps(messages, sort_keys=True): reply_to(messages) for messages in asked}
    given = [
        f"{FILE}@published",
        json.dumps({"name": name}),
        json.dumps(known),
        str(folder / "logs"),
    ]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "inspect_itself.py"), *given],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def number(value: Any) -> float:
    """Return a scorer's value as a number."""
    return GRADES[value] if value in GRADES else float(value)


@pytest.mark.parametrize("name", NAMES)
def test_a_published_task_is_asked_and_scored_as_by_inspect(
    tmp_path: Path, endpoint: Endpoint, name: str
) -> None:
    """The same messages, and every scorer's value for every sample."""
    settings = {
        "endpoint": {"url": endpoint.url, "model": "m"},
        "benchmarks": [f"inspect://{FILE}@published?name={quote(name)}"],
        "output": {"dir": str(tmp_path / "out")},
    }
    result = evaluate(settings)
    assert result.exit_code == 0
    rows = read_samples(result.run_dir)
    theirs = by_inspect(tmp_path, name, endpoint)
    sent = sorted(json.dumps(one["messages"], sort_keys=True) for one in theirs["sent"])
    assert sent == sorted(
        json.dumps(call.body["messages"], sort_keys=True) for call in endpoint.of_samples
    )
    assert len(rows) == len(theirs["scores"]) == 8
    pairs = zip(
        theirs["asked"], theirs["scores"], strict=True
    )  # its samples are in the order of their ids
    by_prompt = {json.dumps(messages, sort_keys=True): scores for messages, scores in pairs}
    for row in rows:
        prompt = row["prompt"]
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        scores = by_prompt[json.dumps(messages, sort_keys=True)]
        assert row["reward"] == pytest.approx(number(next(iter(scores.values()))["value"]))
        if len(scores) > 1:
            wanted = {scorer: number(one["value"]) for scorer, one in scores.items()}
            assert row["scoring_details"]["metrics"] == pytest.approx(wanted)


GRADED = ("CORRECT", "INCORRECT", "NOT_ATTEMPTED")


def call_of(name: str, arguments: dict[str, Any], identity: str = "c") -> dict[str, Any]:
    """Return a call as an endpoint lists it."""
    return {
        "id": identity,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


PARIS, BERLIN = (
    call_of("weather_now", {"city": "Paris"}),
    call_of("weather_now", {"city": "Berlin"}),
)
SUM = call_of("add_up", {"numbers": [1, 2]}, "d")
CALLED: dict[str, tuple[str | None, list[dict[str, Any]]]] = {
    "How is the weather in Paris?": (None, [PARIS]),
    "What is 1 plus 2?": (None, [call_of("add_up", {"numbers": [2, 1]})]),
    "Add 1 and 2 for me.": ("I add them.", [SUM]),
    "Is it warm in Paris?": (None, [BERLIN]),
    "Weather in Paris, and 1 plus 2?": (None, [SUM, PARIS]),
    "1 plus 2, and Paris' weather?": (None, [SUM]),
    "Who wrote Hamlet?": ("Shakespeare did.", []),
    "Who wrote Faust?": (None, [SUM]),
}
"""What the model says to a question, and its calls."""


def test_a_published_benchmark_of_calls_is_asked_and_scored_as_by_inspect(tmp_path: Path) -> None:
    """The Berkeley function calling leaderboard in one turn: the same tools, messages and values."""

    def reply(call: Call, _: int) -> Reply:
        text, called = CALLED[call.body["messages"][-1]["content"]]
        return answer(text, finish="tool_calls", tool_calls=called) if called else answer(text)

    with scripted(reply, models=["m"]) as served:
        settings = {
            "endpoint": {"url": served.url, "model": "m"},
            "benchmarks": [f"inspect://{FILE}@called"],
            "output": {"dir": str(tmp_path / "out")},
        }
        result = evaluate(settings)
        sent = {call.body["messages"][-1]["content"]: call.body for call in served.of_samples}
    assert result.exit_code == 0
    given = [f"{FILE}@called", "{}", json.dumps(CALLED), str(tmp_path / "logs")]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "inspect_tools_itself.py"), *given],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    theirs = json.loads(done.stdout.splitlines()[-1])
    rows = {
        row["prompt"][-1]["content"]: row for row in read_results(result.run_dir, "inspect-called")
    }
    assert {one["input"] for one in theirs} == set(rows) == set(CALLED)
    for one in theirs:
        body = sent[one["input"]]
        assert (body["messages"], body["tools"], body["tool_choice"]) == (
            one["messages"], one["tools"], one["tool_choice"],
        )  # fmt: skip
        assert rows[one["input"]]["reward"] == number(one["value"])
    assert sorted(row["reward"] for row in rows.values()) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_published_grader_submits_its_grade_by_a_tool(tmp_path: Path) -> None:
    """SimpleQA: correct, incorrect and not attempted; a grader that only talks leaves the sample unscored."""

    def grade(call: Call, _: int) -> Reply:
        n = int(call.text.split("What is no. ")[-1].split("?")[0])
        if n == 3:
            return answer("It is correct, CORRECT, A.")
        return answer(
            None, finish="tool_calls", tool_calls=[call_of("submit", {"grade": GRADED[n % 3]})]
        )

    with (
        scripted(lambda *_: answer("red 1"), models=["m"]) as served,
        scripted(grade, models=["j"]) as judge,
    ):
        settings = {
            "endpoint": {"url": served.url, "model": "m"},
            "judge": {"url": judge.url, "model": "j"},
            "benchmarks": [f"inspect://{FILE}@submitted"],
            "output": {"dir": str(tmp_path / "out")},
        }
        result = evaluate(settings)
        body = judge.of_samples[0].body
    rows = read_results(result.run_dir, "inspect-submitted")
    assert [row["reward"] for row in rows] == [1, 0, 0, None, 0, 0, 1, 0]
    assert rows[3]["outcome"]["cause"] == "judge"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "submit"}}
