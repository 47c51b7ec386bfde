"""HTTP statuses: what is tried again, what is not, and what each one means for the sample."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import nel
from nel.cli.app import app
from tests.faults.invariants import nothing_paid_twice
from tests.faults.runs import config, run
from tests.faults.server import Call, Reply, answer, by_number, error, http, right, serving
from tests.faults.virtual import VirtualServer, ask, end_of

RETRIED = [408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 529]
REFUSED = [400, 403, 404, 405, 413, 422, 501, 505]


@pytest.mark.parametrize("status", RETRIED, ids=[f"f10-{status}" for status in RETRIED])
def test_a_fault_is_tried_again_up_to_the_last_attempt(status: int) -> None:
    """Where it passes the answer comes after one further attempt; where it stays one sample is without an answer."""
    server = VirtualServer({1: [error(status)], 2: error(status)})
    answers = ask(server, 4)
    assert [len(server.of(number)) for number in range(4)] == [1, 2, 3, 1]
    kind = {429: "rate_limit", 408: "timeout"}.get(status, "server_error" if status >= 500 else f"http_{status}")
    assert [end_of(answer) for answer in answers] == ["answered", "answered", f"infra:{kind}", "answered"]


def test_what_lasts_is_unscored_and_shows_in_the_exit_code(tmp_path: Path) -> None:
    """It is unscored and not wrong, has no text, and the other samples are scored."""
    with serving({2: error(503)}) as server:
        ran = run(tmp_path, server)
    assert ran.states == ["scored", "scored", "infra:server_error"]
    assert ran.attempts[2] == 3
    assert ran.rows[2]["model_response"] is None
    assert ran.exit_code == 3


@pytest.mark.parametrize("status", REFUSED, ids=[f"{'f10' if s > 500 else 'f11'}-{s}" for s in REFUSED])
def test_a_final_refusal_is_not_tried_again(status: int) -> None:
    """A refusal that a second try cannot change is asked once."""
    server = VirtualServer({2: error(status)})
    answers = ask(server, 3, concurrency=1)
    assert len(server.of(2)) == 1
    assert [end_of(answer).partition(":")[0] for answer in answers] == ["answered", "answered", "infra"]


def test_f11_wrong_key_is_found_by_the_list_of_models(tmp_path: Path) -> None:
    """A 401 for the list of models is enough: nothing is asked."""
    with serving(models=error(401, "bad key")) as server:
        result = nel.evaluate(config(tmp_path, server.url, engine={"preflight": True}))
        assert server.calls == []
    assert result.exit_code == 2
    assert "NEL_TEST_CANARY" in result.ending.reason


@pytest.mark.parametrize("path", ["/completions", "/responses"])
def test_an_address_of_another_protocol_is_named_and_mended_by_the_printed_resume(tmp_path: Path, path: str) -> None:
    """A server that answers chat alone: the message names the protocol, and its command asks over chat."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "1+1?", "answer": "#### 2"}\n')

    def script(call: Call) -> Reply:
        return answer("#### 2") if call.path == "/v1/chat/completions" else error(404, "not here")

    with serving(script, models=["m"]) as endpoint:
        chosen = ["--bench", "gsm8k", "--dataset", str(rows), "--model-url", endpoint.url + path, "--model-id", "m"]
        first = CliRunner().invoke(app, ["eval", "run", *chosen, "-o", str(tmp_path / "out")], prog_name="nel")
        assert first.exit_code == 2
        assert f"{endpoint.url}{path}: HTTP 404" in first.output
        assert f"over the protocol {path[1:]}" in first.output
        command = shlex.split(first.output.strip().splitlines()[-1].partition("then: nel ")[2])
        resumed = CliRunner().invoke(app, command, prog_name="nel")
    assert resumed.exit_code == 0, resumed.output
    assert "100.00 %" in resumed.output


@pytest.mark.parametrize(
    ("reply", "preflight"),
    [
        (error(429, "You exceeded your current quota", code="insufficient_quota", type="insufficient_quota"), True),
        (error(402, "Insufficient credits"), False),
    ],
    ids=["f09-insufficient_quota-first", "f09-402-later"],
)
def test_no_quota_stops_the_run_resumably(tmp_path: Path, reply: Reply, preflight: bool) -> None:
    """An empty account is not hammered: few requests, exit 75, and a resume completes once it is filled."""
    empty = True

    def script(call: Call) -> Reply:
        return reply if empty and (preflight or call.order > 3) else right(call)

    with serving(script) as server:
        ran = run(tmp_path, server, n=60, engine={"preflight": preflight, "concurrency": 2})
        assert len(server.calls) <= 8, "the run goes on asking an account that is empty"
        assert ran.exit_code == 75
        assert {state for state in ran.states if state != "scored"} == {"infra:quota"}
        empty = False
        again = run(tmp_path, server, n=60, engine={"preflight": preflight}, resume=True)
        assert again.states == ["scored"] * 60
        nothing_paid_twice(server)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308], ids=lambda status: f"f33-{status}")
def test_a_redirect_is_refused_and_takes_no_key_along(status: int) -> None:
    """A redirect to another host gets no request at all, so neither the key nor the prompt goes there."""
    with serving() as other:
        reply = http("", status=status, headers={"Location": f"{other.url}/chat/completions"})
        with serving({1: reply}) as server:
            answers = ask(server, 3, concurrency=1)
            assert len(server.of(1)) == 1
        assert other.calls == other.others == []
    assert [end_of(answer) for answer in answers] == ["answered", "infra:not_found", "answered"]
    assert answers[1].error is not None
    assert "redirect" in answers[1].error.message


def test_f39_retries_carry_one_idempotency_key(tmp_path: Path) -> None:
    """Every retry of a (sample, repeat) carries the same key; each other (sample, repeat) another one."""
    with serving(by_number({1: [error(503), error(503)]})) as server:
        run(tmp_path, server, benchmark={"repeats": 2}, generation={"seed": 1})
        keys: dict[str, set[str]] = {}
        for call in server.calls:
            keys.setdefault(call.digest, set()).add(call.headers.get("idempotency-key", ""))
    assert all(len(found) == 1 and "" not in found for found in keys.values())
    assert len({key for found in keys.values() for key in found}) == 6
    assert all(len(key) <= 255 for found in keys.values() for key in found)


def test_f39_repeats_of_one_body_have_keys_of_their_own(tmp_path: Path) -> None:
    """Repeats without a seed send equal bodies; a server that deduplicates must still answer each of them."""
    with serving() as server:
        run(tmp_path, server, benchmark={"repeats": 3})
        keys = [call.headers.get("idempotency-key", "") for call in server.calls]
    assert len(set(keys)) == len(keys) == 9


def test_f39_equal_samples_of_two_benchmarks_have_keys_of_their_own(tmp_path: Path) -> None:
    """Two benchmarks with the same ids and prompts ask twice; a server that deduplicates must answer both."""
    with serving() as server:
        settings = config(tmp_path, server.url)
        nel.evaluate({**settings, "benchmarks": settings["benchmarks"] * 2})
        keys = [call.headers.get("idempotency-key", "") for call in server.calls]
    assert len(set(keys)) == len(keys) == 6


def test_f33_status_200_alone_is_success() -> None:
    """A 204 or 206 is not an answer, and neither is a 1xx before it a fault."""
    early = [b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", *answer("Answer: 2")]
    table: dict[int, Any] = {0: [http("", status=204, length=0)] * 3, 1: early}
    with serving(table) as server:
        first, second = ask(server, 2)
    assert end_of(first).startswith("infra:")
    assert end_of(second) == "answered"
