"""Several turns, and scorers that ask the model: nothing is paid twice, and every fault is the endpoint's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_json, read_results, write_jsonl

TURNS = """
from nel import ScorerInput, benchmark, scorer

@benchmark(name="chain", dataset="rows.jsonl", prompt="{turn}", target_field="targets", turns_field="turns")
@scorer
def chain(sample: ScorerInput) -> dict:
    assert sample.conversation[-1]["content"] == sample.response
    return {"correct": sample.response == sample.target, "place": sample.turn_index}
"""

ASKS = """
from nel import ScorerInput, benchmark, scorer

@benchmark(name="doubt", dataset="rows.jsonl", prompt="{first}", target_field="targets")
@scorer
def doubt(sample: ScorerInput) -> dict:
    again = sample.model_call_fn(f"Are you sure of {sample.response}?", max_tokens=5)
    same = sample.model_call_fn([{"role": "user", "content": f"Are you sure of {sample.response}?"}], max_tokens=5)
    return {"correct": again == "yes", "same": again == same}
"""

ASKS_ASYNC = ASKS.replace("def doubt", "async def doubt").replace(
    "sample.model_call_fn(", "await sample.model_call_fn("
)


def _rows(folder: Path, n: int) -> None:
    rows = ({"first": f"one {i}", "turns": [f"one {i}", f"two {i}"], "targets": ["1", "3"]} for i in range(n))
    write_jsonl(folder / "rows.jsonl", rows)


def _counts_messages(call: Call, _: int) -> Reply:
    return answer(str(len(call.body["messages"])))


def test_each_turn_is_asked_after_the_answer_to_the_one_before(tmp_path: Path) -> None:
    """The endpoint sees the conversation grow; each answer is scored with its own target."""
    _rows(tmp_path, 3)
    (tmp_path / "bench.py").write_text(TURNS, encoding="utf-8")
    with scripted(_counts_messages) as endpoint:
        done = nel("eval", "run", "--bench", "bench.py", "--model-url", endpoint.url, "--model-id", "m", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(endpoint.calls) == 6
    longest = max(endpoint.calls, key=lambda call: len(call.body["messages"]))
    assert [message["role"] for message in longest.body["messages"]] == ["user", "assistant", "user"]
    (run_dir,) = [path.parent for path in tmp_path.glob("*/*/run.db")]
    (first, *_) = read_results(run_dir, "chain")
    assert first["reward"] == 1.0
    assert [message["content"] for message in first["prompt"]] == ["one 0", "1", "two 0"]
    metrics = {row["name"]: row["value"] for row in read_json(run_dir / "chain" / "metrics.json")["metrics"]}
    assert metrics["correct_turn_1"] == metrics["correct_turn_2"] == 1.0
    assert metrics["place_turn_2"] == 1.0
    stats = read_json(run_dir / "chain" / "runtime_stats.json")
    assert stats["requests"]["completed"] == 6


@pytest.mark.parametrize(
    ("asks", "text"),
    [("one", "1"), ("Call tools as <tool_call>JSON</tool_call>", '<tool_call>{"name": "add"}</tool_call>')],
    ids=["text", "a call as text that the prompt asks for"],
)
def test_a_turn_that_was_answered_is_not_asked_again(tmp_path: Path, asks: str, text: str) -> None:
    """After an outage in the second turn, a resume sends second turns only."""
    rows = ({"first": f"{asks} {i}", "turns": [f"{asks} {i}", "two"], "targets": ["1", "3"]} for i in range(4))
    write_jsonl(tmp_path / "rows.jsonl", rows)
    (tmp_path / "bench.py").write_text(TURNS, encoding="utf-8")
    down = [True]

    def second_turn_is_down(call: Call, _: int) -> Reply:
        if down[0] and len(call.body["messages"]) > 1:
            return Reply(status=400, body={"error": {"message": "no"}})
        return answer(text)

    with scripted(second_turn_is_down) as endpoint:
        command = ["--bench", "bench.py", "--model-url", endpoint.url, "--model-id", "m", "--output-dir", "out"]
        first = nel("eval", "run", *command, cwd=tmp_path)
        assert first.returncode in (3, 75), first.stderr
        before = len(endpoint.of_samples)
        down[0] = False
        again = nel("eval", "run", *command, "--resume", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        one_turn_before = sum(len(call.body["messages"]) == 1 for call in endpoint.of_samples[:before])
        sent = [len(call.body["messages"]) for call in endpoint.of_samples[before:]]
    assert sent.count(3) == 4
    assert sent.count(1) == 4 - one_turn_before


@pytest.mark.parametrize("code", [ASKS, ASKS_ASYNC], ids=["sync", "async"])
def test_a_scorer_may_ask_the_model_and_is_not_billed_twice(tmp_path: Path, code: str) -> None:
    """What a scorer asked is stored: scoring again sends nothing, and asking twice gives two answers."""
    _rows(tmp_path, 3)
    bench = tmp_path / "bench.py"
    bench.write_text(code, encoding="utf-8")

    def sure_once(call: Call, number: int) -> Reply:
        return answer(("yes" if number % 2 == 0 else "no") if "sure" in call.text else call.text)

    with scripted(sure_once) as endpoint:
        command = ["--bench", "bench.py", "--model-url", endpoint.url, "--model-id", "m", "--output-dir", "out"]
        done = nel("eval", "run", *command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        sent = len(endpoint.calls)
        assert sent == 9
        bench.write_text(code.replace('"same": again == same', '"same": again != same'), encoding="utf-8")
        again = nel("eval", "run", *command, "--resume", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert len(endpoint.calls) == sent
    rows = read_results(only_run(tmp_path / "out"), "doubt")
    assert all(row["scoring_details"] is not None and row["reward"] == 1.0 for row in rows)


def test_a_model_that_does_not_answer_the_scorer_is_no_wrong_answer(tmp_path: Path) -> None:
    """The sample is unscored by infra; a resume asks the scorer's question only."""
    _rows(tmp_path, 3)
    (tmp_path / "bench.py").write_text(ASKS, encoding="utf-8")
    down = [True]

    def unsure(call: Call, number: int) -> Reply:
        if "sure" in call.text and down[0]:
            return Reply(status=400, body={"error": {"message": "no"}})
        return answer("yes" if "sure" in call.text else call.text)

    with scripted(unsure) as endpoint:
        command = ["--bench", "bench.py", "--model-url", endpoint.url, "--model-id", "m", "--output-dir", "out"]
        done = nel("eval", "run", *command, cwd=tmp_path)
        assert done.returncode == 3, done.stderr
        outcomes = [row["outcome"] for row in read_results(only_run(tmp_path / "out"), "doubt")]
        assert {outcome["cause"] for outcome in outcomes} == {"infra"}
        sent, down[0] = len(endpoint.calls), False
        again = nel("eval", "run", *command, "--resume", cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert all("sure" in call.text for call in endpoint.calls[sent:])
