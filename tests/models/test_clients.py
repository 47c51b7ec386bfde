"""Protocols of installed packages: each attempt is signed, addresses are sent as they are, and faults stay apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.errors import PluginError
from nel.models.transport.base import as_sent
from nel.models.wire.registry import wire_of
from tests.faults.runs import config
from tests.support.distributions import install
from tests.support.endpoint import Call, Reply, scripted

MODULE = """
from itertools import count

from nel.clients import ConfigError, Fault, Wire, malformed_fault, read_text

class Counting(Wire):
    name = "counting"
    listing = None
    signs = True

    def __init__(self):
        self.numbers, self.bodies = count(1), count(1)

    def check(self, endpoint):
        if endpoint.model == "none":
            raise ConfigError("there are no credentials; set COUNTING_KEY")

    def path(self, model, *, stream):
        return "/completions"

    async def sign(self, endpoint, method, url, headers, body):
        number = next(self.numbers)
        if endpoint.model == "broken":
            raise KeyError("clock")
        return {"X-Attempt": str(number), "X-Type": headers["Content-Type"]}

    def body(self, request, *, stream):
        text = request.messages[-1].content
        if request.model == "picky" and next(self.bodies) == 2:
            raise TypeError("no text")
        return {"question": text}

    def neutral(self, body, prompt):
        return {"question": prompt}

    def answer(self, payload):
        return read_text(payload["reply"])

    def stream(self):
        return None

counting = Counting()
number = 42
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install a package with a protocol, and one that has none under such a name."""
    entries = {"counting": "counting_client:counting", "number": "counting_client:number"}
    install(tmp_path, "nel-counting", {"nel.clients": entries}, modules={"counting_client": MODULE})
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("counting_client", None)
    wire_of.cache_clear()


def _run(tmp_path: Path, model: str, fails: int = 0) -> tuple[nel.RunResult, list[Call]]:
    def script(_: Call, number: int) -> Reply:
        return Reply(status=500, body={}) if number < fails else Reply(body={"reply": "The answer is 0"})

    with scripted(script) as endpoint:
        settings = {"protocol": "counting", "model": model, "api_key_env": None}
        data = config(tmp_path, endpoint.url, n=2, endpoint=settings, engine={"preflight": True})
        return nel.evaluate(data), endpoint.calls


def test_each_attempt_has_a_signature_of_its_own(tmp_path: Path) -> None:
    """A retry is signed again, with the headers that every request has at hand."""
    result, calls = _run(tmp_path, "m", fails=1)
    assert result.exit_code == 0
    assert sorted(call.headers["X-Attempt"] for call in calls) == ["1", "2", "3", "4"]
    assert {call.headers["X-Type"] for call in calls} == {"application/json"}


def test_what_a_package_cannot_write_costs_that_sample_alone(tmp_path: Path) -> None:
    """An error of its code is a fault of the machinery and no wrong answer, and ends no run."""
    result, calls = _run(tmp_path, "picky")
    assert (result.exit_code, len(calls)) == (3, 1)
    assert result.benchmarks[0].accounting["n_unscored"] == 1


def test_what_cannot_be_asked_from_here_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    """Missing credentials end the command; a signature that fails has no score and says why."""
    with pytest.raises(nel.NelError, match="no credentials; set COUNTING_KEY"):
        _run(tmp_path, "none")
    result, calls = _run(tmp_path, "broken")
    assert (result.exit_code, calls) == (2, [])
    assert "could not sign a request (KeyError: 'clock')" in result.ending.reason
    with pytest.raises(PluginError, match='"number" is a int, not a'):
        wire_of("number")


@pytest.mark.parametrize("path", ["/model/a%3A0/converse", "/a%2Fb/c", "/v1/chat?x=a%20b"])
def test_a_written_out_address_is_sent_as_it_stands(path: str) -> None:
    """A signature covers each character; what has to be quoted still is."""
    assert as_sent(f"http://h{path}").raw_path_qs == path
    assert as_sent("http://h/ä b").raw_path_qs == "/%C3%A4%20b"
