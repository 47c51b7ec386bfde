"""The memory categories through nel's own runs: requests and verdicts are those of BFCL's own loop."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("bfcl_eval")
pytest.importorskip("rank_bm25")
sys.path.insert(0, str(Path(__file__).parents[3]))

from nel_bfcl import memory
from trajectories import NamedCall, calling

from tests.support.endpoint import Call, Endpoint, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_results

ALL = pytest.param(155, marks=[pytest.mark.slow, pytest.mark.timeout(900)])
N_CUSTOMER = 30
N_TURNS_OF_CUSTOMER = 109
STOPPED_STEPS = 21


def run(
    tmp_path: Path, backend: str, n: int, script: Any, *options: str
) -> tuple[dict[str, dict[str, Any]], Endpoint]:
    """Run the first n questions against a script; return the lines by id, and the endpoint."""
    name = f"bfcl_memory_{backend}"
    with scripted(script) as endpoint:
        model = ["--model-url", endpoint.url, "--model-id", "m", "-o", "out"]
        command = ["eval", "run", "--bench", name, *model, "--max-problems", str(n), *options]
        done = nel(*command, cwd=tmp_path, timeout=800)
    assert done.returncode in (0, 3), done.stderr
    lines = read_results(only_run(tmp_path / "out"), name)
    return {line["sample_id"]: line for line in lines}, endpoint


def forgetful(backend: str) -> Any:
    """Return a script that keeps a part of what it is told, errs now and then, and answers with what it finds."""

    def script(call: Call, _: int) -> Reply:
        messages = call.body["messages"]
        last_user = max(at for at, message in enumerate(messages) if message["role"] == "user")
        text = messages[last_user]["content"]
        after = messages[last_user + 1 :]
        number = sum(message["role"] == "assistant" for message in after)
        digest = hashlib.sha256(text.encode()).hexdigest()
        kind = int(digest[:4], 16) % 8
        is_question = "For your final answer" in messages[0]["content"]
        if is_question and number == 0:
            return calling(_searching(backend, text))
        if is_question:
            found = " ".join(
                str(message["content"]) for message in after if message["role"] == "tool"
            )
            return answer(json.dumps({"answer": found, "context": messages[0]["content"][-400:]}))
        if kind == 0 and number < STOPPED_STEPS + 1:
            return calling(_searching(backend, text))
        if kind < 6 and number == 0:
            return calling(_keeping(backend, text, digest))
        return answer("I see.")

    return script


def _searching(backend: str, text: str) -> list[NamedCall]:
    if backend == "kv":
        return [("archival_memory_key_search", {"query": text}), ("core_memory_retrieve_all", {})]
    return [("memory_retrieve", {})]


def _keeping(backend: str, text: str, digest: str) -> list[NamedCall]:
    key = "k" + "".join(character for character in digest if character.isalpha())
    if backend == "kv":
        core = ("core_memory_add", {"key": key, "value": text[:290]})
        return [
            core,
            ("archival_memory_add", {"key": key, "value": text}),
            ("core_memory_remove", {}),
        ]
    return [("memory_append", {"text": text[:400]}), ("memory_forget", {"text": 1})]


def asked(calls: list[Call]) -> set[str]:
    """Return what a model was shown in each request, but the form of its own answers."""
    return {
        json.dumps([
            [message["role"], message["content"]]
            for message in call.body["messages"]
            if message["role"] != "assistant"
        ])
        for call in calls
    }  # fmt: skip


@pytest.mark.parametrize("backend", ["kv", "rec_sum"])
@pytest.mark.parametrize("n", [4, ALL])
def test_requests_and_verdicts_are_those_of_bfcl(tmp_path: Path, backend: str, n: int) -> None:
    """A model that keeps some of what it is told, calls wrongly and is stopped reads and scores the same."""
    official_run = pytest.importorskip("official_run")
    script = forgetful(backend)
    lines, endpoint = run(tmp_path, backend, n, script, "--cache", "cache")
    calls: list[Call] = []

    def noting(call: Call, number: int) -> Reply:
        calls.append(call)
        return script(call, number)

    theirs = official_run.memory_verdicts(f"memory_{backend}", n, noting, tmp_path)
    rewards = {name: line["reward"] for name, line in lines.items()}
    assert rewards == {name: float(valid) for name, valid in theirs.items()}
    assert len(set(rewards.values())) == 2 or n < N_CUSTOMER
    assert asked(endpoint.calls) == asked(calls)
    assert sorted(map(_names, endpoint.calls[0].body["tools"])) == sorted(
        map(_names, calls[0].body["tools"])
    )


def _names(tool: Any) -> str:
    return json.dumps(tool["function"], sort_keys=True)


@pytest.mark.parametrize("backend", ["kv", "rec_sum"])
def test_equal_requests_of_all_questions_are_sent_once(tmp_path: Path, backend: str) -> None:
    """The conversations are had once for eight questions that begin together, with a cache."""
    lines, endpoint = run(
        tmp_path, backend, 8, lambda *_: answer("I do not know."), "--cache", "cache"
    )
    assert len(endpoint.calls) == N_TURNS_OF_CUSTOMER + 8
    assert {line["reward"] for line in lines.values()} == {0.0}


def test_without_a_cache_nothing_is_asked(tmp_path: Path) -> None:
    """Each question would pay for all conversations; its sample is unscored, and says what to give."""
    lines, endpoint = run(tmp_path, "kv", 2, lambda *_: answer("x"))
    assert endpoint.calls == []
    assert {line["reward"] for line in lines.values()} == {None}
    assert "--cache" in json.dumps(list(lines.values()))


@pytest.mark.parametrize("backend", ["kv", "rec_sum"])
def test_gold_steps_are_right_through_the_functions(backend: str) -> None:
    """What is looked up for each question holds a sentence about it, and the answer is credited."""
    from nel import Sample  # noqa: PLC0415

    for row in memory.rows_of(backend):
        sample = Sample(
            id=row["id"],
            input=row["turns"][0],
            turns=tuple(row["turns"][1:]),
            target=row["target"],
            metadata=row,
        )
        functions = memory.Memory(sample)
        functions.on_turn(0)
        *steps, looking, final = memory.gold_steps(sample)
        for call in steps[0]["calls"]:  # type: ignore[attr-defined]
            assert "error" not in functions.call(call["name"], call["arguments"])
        (call,) = looking["calls"]  # type: ignore[misc]
        assert "error" not in functions.call(call["name"], call.get("arguments", {}))
        assert memory.check_answer(str(final["text"]), row["target"])["valid"]
