"""Servers are asked before a run: what real ones answered, and scripted ones that never answer or lie."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from nel.errors import LogprobFault
from nel.models.echo_probe import PROBES, EchoSupport, judge_probe, probe_echo
from nel.models.faults import Fault
from nel.models.loglikelihood import order_choices, score_choice
from tests.simulation.loop import Clock, run_virtually

FIXTURES = Path(__file__).parent / "loglikelihood_fixtures"
PROMPTS = [probe.context + probe.continuation for probe in PROBES]
COLUMNS = ("tokens", "token_logprobs", "top_logprobs", "text_offset")


def _recorded(name: str) -> Any:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


class _Server:
    """Answers as a recorded one did; refuses or keeps silent for a value of max_tokens."""

    def __init__(self, name: str, *, refuses: tuple[int, ...] = (), silent: tuple[int, ...] = ()) -> None:
        self.recorded, self.refuses, self.silent = _recorded(name), refuses, silent
        self.asked: list[dict[str, Any]] = []

    async def send(self, body: dict[str, Any]) -> Any:
        self.asked.append(body)
        if body["max_tokens"] in self.silent:
            await asyncio.Event().wait()
        if body["max_tokens"] in self.refuses:
            return Fault(kind="bad_request", message="HTTP 400: max_tokens", retryable=False, status=400)
        if isinstance(body["prompt"], list):
            return self.recorded["batch"] or Fault(kind="server_error", message="HTTP 500", retryable=True, status=500)
        return self.recorded["payloads"][PROMPTS.index(body["prompt"])]


def _without_generated(payload: Any) -> Any:
    """Return the answer as it is with max_tokens 0."""
    payload = copy.deepcopy(payload)
    for choice in payload["choices"]:
        for name in COLUMNS:
            choice["logprobs"][name].pop()
        choice["text"] = "".join(choice["logprobs"]["tokens"])
    return payload


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vllm", EchoSupport(max_tokens=1, batched=True, leading_bos=False)),
        ("llama_cpp_python_bos", EchoSupport(max_tokens=1, batched=False, leading_bos=False)),
    ],
)
async def test_servers_that_echo_are_accepted(name: str, expected: EchoSupport) -> None:
    """Both split characters beyond ASCII over tokens, and write the pieces in different ways."""
    server = _Server(name)
    assert await probe_echo(server.send, "m") == expected
    assert [body["prompt"] for body in server.asked] == [*PROMPTS, PROMPTS]
    assert {body["max_tokens"] for body in server.asked} == {1}


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("llama_cpp", "echo_ignored", "the server ignores echo: log-likelihood benchmarks would give chance scores"),
        ("llama_cpp_python", "shifted", "shifted by one token: the text has a generated token"),
    ],
)
async def test_servers_that_would_give_nonsense_are_refused(name: str, kind: str, reason: str) -> None:
    """Both answer 200; the reason names what is wrong and what to use instead."""
    with pytest.raises(LogprobFault, match=reason) as refused:
        await probe_echo(_Server(name).send, "m")
    assert refused.value.kind == kind


def test_the_recorded_sums_are_what_the_model_gives() -> None:
    """vLLM's sum for " Paris" is the value transformers computes, -0.2606."""
    payload = _recorded("vllm")["payloads"][0]
    score = score_choice(payload["choices"][0], context=PROBES[0].context, continuation=" Paris", generated=1)
    assert score.logprob == pytest.approx(-0.2606, abs=1e-4)
    assert (score.is_greedy, score.tokens) == (True, 1)


def test_values_one_place_too_early_are_found_without_a_generated_token() -> None:
    """Where nothing else betrays the shift, the likely words are not the likelier ones."""
    payloads = [_without_generated(payload) for payload in _recorded("llama_cpp_python_bos")["payloads"]]
    assert judge_probe(payloads, max_tokens=0).max_tokens == 0
    shifted = _recorded("llama_cpp_python")["payloads"]
    for payload in shifted:
        choice = payload["choices"][0]
        choice.update(text="".join(choice["logprobs"]["tokens"]), finish_reason="stop")
    shifted[-1] = payloads[-1]
    with pytest.raises(LogprobFault, match="do not belong to the tokens beside them: after 'Monday") as refused:
        judge_probe(shifted, max_tokens=0)
    assert refused.value.kind == "shifted"


def test_a_batch_in_another_order_counts_only_with_its_numbers() -> None:
    """Without them the answers are other prompts' answers."""
    recorded = _recorded("vllm")
    batch = {**recorded["batch"], "choices": recorded["batch"]["choices"][::-1]}
    assert judge_probe(recorded["payloads"], max_tokens=1, batch=batch).batched
    swapped = copy.deepcopy(batch)
    for index, choice in enumerate(swapped["choices"]):
        choice["index"] = index
    assert not judge_probe(recorded["payloads"], max_tokens=1, batch=swapped).batched
    assert not judge_probe(recorded["payloads"], max_tokens=1, batch={"choices": batch["choices"][:1]}).batched


def test_a_batch_with_other_values_is_not_used() -> None:
    """A server may answer a list, and answer it wrong."""
    recorded = _recorded("vllm")
    values = order_choices(recorded["batch"], len(PROBES))[1]["logprobs"]
    values["token_logprobs"][-2] -= 3.0
    assert not judge_probe(recorded["payloads"], max_tokens=1, batch=recorded["batch"]).batched


async def test_a_server_that_refuses_to_generate_is_asked_for_nothing() -> None:
    """max_tokens 0 is tried where 1 was refused."""
    server = _Server("vllm", refuses=(1,))
    server.recorded["payloads"] = [_without_generated(payload) for payload in server.recorded["payloads"]]
    server.recorded["batch"] = _without_generated(server.recorded["batch"])
    assert await probe_echo(server.send, "m") == EchoSupport(max_tokens=0, batched=True, leading_bos=False)


def test_a_server_that_never_answers_is_given_up() -> None:
    """Within the probe's own time, and it is not asked for more."""
    server = _Server("vllm", silent=(0, 1))
    found = run_virtually(probe_echo(server.send, "m"), Clock(), started=lambda _: None, died=lambda: None)
    assert isinstance(found, Fault)
    assert found.kind == "timeout"
    assert "no answer to a prompt with echo within 60 s" in found.message
    assert len(server.asked) == 1


async def test_max_tokens_0_may_hang_a_server_for_good() -> None:
    """So it is not sent to one that answers 1, as llama-cpp-python does."""
    server = _Server("llama_cpp_python_bos", silent=(0,))
    assert isinstance(await probe_echo(server.send, "m"), EchoSupport)
    assert {body["max_tokens"] for body in server.asked} == {1}
