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
from tests.support.endpoint import Endpoint, answer, scripted
from tests.support.lm_eval import read_samples

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # what other packages warn of is theirs
FOLDER = Path(__file__).parent
FILE = FOLDER / "published_tasks.py"
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
REPLIES = (
    "ANSWER: A", "ANSWER: B", "Well.\nANSWER: C", "ANSWER: D", "answer: b", "I would say C", "ANSWER: A, D",
    "**ANSWER: B**", "Yes", "no.", "maybe", "The total is 12.", "ANSWER: 7", "1,200", "Paris", "the twelve",
    "unanswerable", "\\boxed{204}", "ANSWER: \\boxed{12}", "ANSWER: E",
)  # fmt: skip
NAMES = (
    "arc_easy arc_challenge boolq commonsense_qa hellaswag pubmedqa race_h truthfulqa_mc1 truthfulqa_mc2 winogrande "
    "paws mmlu_0_shot mmlu_0_shot_cot mmlu_5_shot mmlu_pro mmlu_pro_shots gsm8k gsm8k_alone wmdp_bio wmdp_chem "
    "wmdp_cyber sec_qa_v1 sec_qa_v2_5_shot musr musr_cot squad aime2024"
).split()


@pytest.fixture(autouse=True)
def _tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip without the package; keep what Inspect caches of the rows in a folder of the test."""
    pytest.importorskip("inspect_evals", reason="inspect_evals is not installed: pip install inspect_evals")
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
    given = [f"{FILE}@published", json.dumps({"name": name}), json.dumps(known), str(folder / "logs")]
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
def test_a_published_task_is_asked_and_scored_as_by_inspect(tmp_path: Path, endpoint: Endpoint, name: str) -> None:
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
    assert sent == sorted(json.dumps(call.body["messages"], sort_keys=True) for call in endpoint.of_samples)
    assert len(rows) == len(theirs["scores"]) == 8
    pairs = zip(theirs["asked"], theirs["scores"], strict=True)  # its samples are in the order of their ids
    by_prompt = {json.dumps(messages, sort_keys=True): scores for messages, scores in pairs}
    for row in rows:
        prompt = row["prompt"]
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        scores = by_prompt[json.dumps(messages, sort_keys=True)]
        assert row["reward"] == pytest.approx(number(next(iter(scores.values()))["value"]))
        if len(scores) > 1:
            wanted = {scorer: number(one["value"]) for scorer, one in scores.items()}
            assert row["scoring_details"]["metrics"] == pytest.approx(wanted)
