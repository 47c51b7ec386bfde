"""Refusals: of everything, of the first sample alone, of some. The run stops early only where nothing could succeed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nel.config.schema import EndpointConfig
from nel.models.refusals import NEUTRAL_PROMPT, advice
from tests.faults.runs import QUICK, cli_run, run
from tests.faults.server import Call, Do, Gate, Reply, Script, error, right, serving
from tests.faults.virtual import VirtualServer, ask
from tests.support.tiers import first_rows

N = 60
FIRST: dict[str, Any] = {"preflight": True, "concurrency": 4}
UNCHECKED: dict[str, Any] = {"preflight": False, "concurrency": 4}
SAYS = {
    "litellm, bad key": (400, "Authentication Error, Invalid proxy server token passed", "check the key in NEL_TEST_CANARY"),
    "o3, temperature": (400, "Unsupported value: 'temperature' does not support 0 with this model.", "--temperature"),
    "o3, max_tokens": (400, "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "generation.extra.max_completion_tokens"),
    "unknown model": (400, "Invalid model name passed in model=m. Call `/v1/models` to view available models", "--model-id"),
    "max_tokens above the window": (400, "max_tokens=8888 cannot be greater than max_model_len=3072.", "--max-tokens"),
    "a field": (422, "Extra inputs are not permitted: 'reasoning_effort'", "generation.extra"),
    "a proxy without a password": (407, "Proxy Authentication Required", "USER:PASSWORD@HOST"),
    "no chat there": (501, "Unsupported method ('POST')", "correct --model-url"),
    "a network's login": (511, "Please sign in", "sign in to the network"),
    "accepted, not answered": (202, "queued", "correct --model-url"),
    "a teapot": (418, "I am a teapot", "correct the setting"),
}  # fmt: skip


@pytest.mark.parametrize("says", SAYS)
def test_a_refusal_says_what_to_change(says: str) -> None:
    """What the endpoint says decides what nel advises."""
    status, words, change = SAYS[says]
    server = VirtualServer({0: error(status, words)})
    (response,) = ask(server, attempts_max=1)
    assert response.error is not None
    endpoint = EndpointConfig.model_validate({**QUICK, "url": server.url})
    assert change in (response.error.message + advice(response.error, endpoint))


@pytest.mark.parametrize(
    ("status", "words", "change", "kind"),
    [
        (*SAYS["litellm, bad key"], "auth"),
        (*SAYS["no chat there"], "server_error"),
        (404, "go away", "base URL", "not_found"),
    ],
)
def test_a_refusal_of_everything_ends_with_its_words_and_what_to_change(
    tmp_path: Path, status: int, words: str, change: str, kind: str
) -> None:
    """Five samples from all over the set and a neutral prompt are asked; nothing is stored, exit 2."""
    with serving(lambda call: error(status, f"{words} (request {id(call)})")) as server:
        ran = run(tmp_path, server, n=N, engine=FIRST)
        assert server.url in ran.reason
    assert len({call.number for call in server.calls}) == len(server.calls) == 5
    assert sum(call.text == NEUTRAL_PROMPT for call in server.others) == 1
    assert ran.exit_code == (2 if 400 <= status < 500 else 75)
    assert words in ran.reason
    assert change in ran.reason
    assert ran.states == [f"infra:{kind}"] * N
    assert all(row["timing"]["attempts"] == 0 for row in ran.rows)


def _once_there_are(n: int, reply: Callable[[Call], Reply]) -> Script:
    """Answer no sample before so many have been asked, as a slow endpoint does."""
    asked: set[int] = set()
    enough = threading.Event()

    def script(call: Call) -> Reply:
        asked.add(call.number)
        if len(asked) >= n:
            enough.set()
        return [Gate(enough), *reply(call)]

    return script


SLOW: dict[str, Any] = {"preflight": True, "first_request_seconds": 0.05}


def test_a_slow_refusal_of_everything_stores_nothing(tmp_path: Path) -> None:
    """What others were refused while the first was out is not stored, and the run ends as it does at a fast one."""
    with serving(_once_there_are(8, lambda _: error(401, "no such key"))) as server:
        ran = run(tmp_path, server, n=600, engine={**SLOW, "concurrency": 512})
        assert len(server.calls) < 600
    assert ran.exit_code == 2
    assert all(row["timing"]["attempts"] == 0 for row in ran.rows)


@pytest.mark.parametrize(("engine", "n_good"), [(FIRST, 11), (UNCHECKED, 0)], ids=["later", "unchecked"])
def test_a_key_that_is_revoked_stops_the_run_resumably(tmp_path: Path, engine: dict[str, Any], n_good: int) -> None:
    """Eight refusals in a row, then samples from elsewhere and a neutral prompt; what was answered is kept."""
    answered: list[Call] = []

    def script(call: Call) -> Reply:
        if len(answered) == n_good:
            return error(401, "this key was revoked")
        answered.append(call)
        return right(call)

    with serving(script) as server:
        ran = run(tmp_path, server, n=N, engine=engine)
        assert len(server.calls) <= n_good + 8 + 4 + 4
    assert ran.exit_code == 75
    assert "the key in NEL_TEST_CANARY was refused" in ran.reason
    assert ran.accounting["n_scored"] == n_good


@pytest.mark.parametrize(
    ("reply", "preflight"),
    [(error(403, "blocked by the firewall"), True), ([Do.RESET], False)],
    ids=["403-preflight", "reset"],
)
def test_the_first_sample_alone_is_refused(tmp_path: Path, reply: Reply, preflight: bool) -> None:
    """A firewall objects to one prompt: it is unscored, and every other sample is scored."""
    with serving(lambda call: reply if call.number == 0 else right(call)) as server:
        ran = run(tmp_path, server, n=12, engine={**FIRST, "preflight": preflight})
    assert ran.states[1:] == ["scored"] * 11
    assert ran.states[0].startswith("infra:")
    assert ran.exit_code == 3


def _all_but_neutral(reply: Reply) -> Script:
    return lambda call: right(call) if call.text == NEUTRAL_PROMPT else reply


def _each_otherwise(call: Call) -> Reply:
    words = ["the tone is wrong", "objectionable: medicine", "please rephrase it", "weapons are named", "0 %"]
    return error(400, words[call.number % 5] * 3)


@pytest.mark.parametrize(
    ("script", "state", "exit_code"),
    [
        (_all_but_neutral(error(400, "not on our premises")), "infra:bad_request", 3),
        (_each_otherwise, "infra:bad_request", 3),
        (lambda _: error(400, "This model's maximum context length is 5 tokens"), "context_exceeded", 0),
        (lambda _: error(400, "filtered", code="content_filter"), "content_filter", 0),
    ],
    ids=["neutral-passes", "different", "context", "filter"],
)
def test_what_the_samples_are_to_blame_for_stops_nothing(
    tmp_path: Path, script: Script, state: str, exit_code: int
) -> None:
    """Every sample is asked once, and each has its own outcome."""
    with serving(script) as server:
        ran = run(tmp_path, server, n=30, engine=FIRST)
        assert len(server.calls) == 30
    assert ran.states == [state] * 30
    assert ran.exit_code == exit_code


@pytest.mark.parametrize("preflight", first_rows(1, [True, False]))
def test_samples_that_are_never_answered_end_as_unscored(tmp_path: Path, preflight: bool) -> None:
    """A resume that has nothing but them to ask ends too, with 3 and not with 75 for ever."""
    poisoned = {1, 2, 3, 4}
    settings: dict[str, Any] = {"n": 12, "engine": {**FIRST, "preflight": preflight}}
    with serving(lambda call: [Do.RESET] if call.number in poisoned else right(call)) as server:
        for resume in (False, True):
            ran = run(tmp_path, server, resume=resume, **settings)
            assert ran.exit_code == 3
            assert ran.accounting["n_scored"] == 8
            assert ran.accounting["unscored"] == {"infra": {"n": 4, "kinds": {"connection": 4}}}


def test_the_words_for_a_few_refusals_are_shown_too(tmp_path: Path) -> None:
    """Two samples of six are refused: the terminal shows what was said most often, on one line of bounded length."""
    refused = error(400, "the word apple\nis not allowed " + "x" * 500)
    with serving({1: refused, 3: refused}) as server:
        done, ran = cli_run(tmp_path, server, n=6, engine=UNCHECKED)
    assert ran.accounting["unscored"]["infra"]["kinds"] == {"bad_request": 2}
    (line,) = [line for line in done.stderr.splitlines() if "apple" in line]
    assert line.startswith("nel: bad_request, 2 of 2 times: HTTP 400: the word apple is not allowed xx")
    assert len(line) < 350


def test_a_list_of_models_that_is_forbidden_says_nothing_of_the_answers(tmp_path: Path) -> None:
    """Keys may be good for answers alone."""
    with serving(models=error(403, "Missing scopes: api.model.read")) as server:
        assert run(tmp_path, server, engine=FIRST).exit_code == 0


@pytest.mark.parametrize("listed", ["m:latest", "*"])
def test_a_model_is_found_in_the_spellings_of_servers(tmp_path: Path, listed: str) -> None:
    """Gemini, Ollama and LiteLLM list a model under another name than they take it by."""
    with serving(models=["other", listed]) as server:
        assert run(tmp_path, server, engine=FIRST).exit_code == 0
