"""The cache of answers: a hit only where the same thing was asked, a miss for anything else, and never a crash."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nel
from tests.faults.invariants import no_secret
from tests.faults.runs import config, run
from tests.faults.server import HANGS_SECONDS, Reply, Server, answer, error, http, right, serving

COLD = {"temperature": 0.0}


def _run(tmp_path: Path, server: Server, **settings: Any) -> Any:
    settings.setdefault("generation", COLD)
    return run(tmp_path, server, cache={"dir": str(tmp_path / "cache")}, **settings)


def _entries(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_f66_the_same_question_is_asked_once(tmp_path: Path) -> None:
    """A second run of the same thing sends nothing, and its artifacts are the same."""
    with serving() as server:
        first = _run(tmp_path, server, n=5, out="a")
        second = _run(tmp_path, server, n=5, out="b")
        assert len(server.calls) == 5
    assert first.states == second.states == ["scored"] * 5
    keep = ("sample_id", "reward", "model_response", "outcome", "finish_reason", "served_model")
    assert [[row[key] for key in keep] for row in first.rows] == [[row[key] for key in keep] for row in second.rows]
    no_secret(tmp_path / "cache")


OTHERS: dict[str, dict[str, Any]] = {
    "f66-model": {"endpoint": {"model": "other"}},
    "f66-protocol": {"endpoint": {"protocol": "completions"}},
    "f66-max_tokens": {"generation": {**COLD, "max_tokens": 9}},
    "f66-seed": {"generation": {**COLD, "seed": 3}},
    "f66-tools": {"generation": {**COLD, "extra": {"tools": [{"type": "function"}]}}},
    "f66-format": {"generation": {**COLD, "extra": {"response_format": {"type": "json_object"}}}},
    "f66-system": {"benchmark": {"system_prompt": "Be brief."}},
}


def test_f66_another_question_is_a_miss(tmp_path: Path) -> None:
    """Whatever can move an answer is part of the question."""
    with serving() as server:
        _run(tmp_path, server, out="a")
        for name, other in OTHERS.items():
            before = len(server.calls)
            _run(tmp_path, server, out=name, **other)
            assert len(server.calls) == before + 3, name


NOT_KEPT: dict[str, tuple[Reply, str]] = {
    "f66-error": (error(400, "no"), "infra:bad_request"),
    "f66-error-200": (http(json.dumps({"error": {"message": "x", "code": 400}})), "infra:bad_request"),
    "f66-truncated": (answer("Answer: 0", finish="length"), "truncated"),
    "f66-empty": (answer(""), "empty"),
    "f66-filtered": (answer("no", finish="content_filter"), "content_filter"),
    "f66-malformed": (http("[]"), "infra:malformed"),
}


def test_f66_what_is_no_whole_answer_is_not_kept(tmp_path: Path) -> None:
    """Errors, cut and empty answers are asked for again by the next run."""
    replies, n = [reply for reply, _ in NOT_KEPT.values()], len(NOT_KEPT) + 1
    is_up = False
    with serving(lambda call: right(call) if is_up or call.number == n - 1 else replies[call.number]) as server:
        first = _run(tmp_path, server, out="a", n=n)
        sent = len(server.calls)
        is_up = True
        second = _run(tmp_path, server, out="b", n=n)
        assert sorted(call.number for call in server.calls[sent:]) == list(range(n - 1))
    assert first.states == [*(state for _, state in NOT_KEPT.values()), "scored"]
    assert second.states == ["scored"] * n


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "torn": lambda data: data[: len(data) // 2],
    "null": lambda _: b"null",
    "altered": lambda data: data.replace(b"Answer", b"Ansver"),
    "zeroes": lambda data: bytes(len(data)),
}


def test_f66_a_damaged_entry_is_a_miss(tmp_path: Path) -> None:
    """Damage of any kind is asked for again; nothing damaged is scored and nothing crashes."""
    with serving() as server:
        first = _run(tmp_path, server, n=4, out="whole")
        assert _entries(tmp_path)
        for name, damage in DAMAGES.items():
            for path in _entries(tmp_path):
                path.write_bytes(damage(path.read_bytes()))
            second = _run(tmp_path, server, n=4, out=name)
            assert "Ansver" not in json.dumps(second.rows), name
            assert second.states == ["scored"] * 4, name
            assert second.metrics["headline"] == first.metrics["headline"], name


@pytest.mark.parametrize("generation", [{}, {"temperature": 0.7}], ids=["f66-no-temperature", "f66-warm"])
def test_repeats_that_may_differ_are_not_shared(tmp_path: Path, generation: dict[str, Any]) -> None:
    """Each repeat of a sampled answer is asked for, so that repeats measure something."""
    said = iter(range(10**6))
    with serving(lambda _: answer(f"take {next(said)}. Answer: 0")) as server:
        ran = _run(tmp_path, server, n=2, benchmark={"repeats": 3}, generation=generation)
        assert len(server.calls) == 6
    assert len({row["model_response"] for row in ran.rows}) == 6


@pytest.mark.parametrize("where", ["file", "/dev/full"], ids=["f66-file", "f66-full"])
def test_a_cache_that_cannot_be_written(tmp_path: Path, where: str) -> None:
    """A cache that cannot be made is refused before any request."""
    (tmp_path / "file").write_text("")
    with serving() as server:
        with pytest.raises(nel.NelError, match=r"cannot make the cache .*choose another cache\.dir"):
            run(tmp_path, server, cache={"dir": str(tmp_path / where)})
        assert server.calls == []


def test_f66_two_writers(tmp_path: Path) -> None:
    """Two runs fill one cache at once: both are whole, and a third reads what they left."""
    found: list[Any] = []

    def one(out: str) -> None:
        settings = config(tmp_path, server.url, n=40, out=out, generation=COLD)
        found.append(nel.evaluate({**settings, "cache": {"dir": str(tmp_path / "cache")}}))

    with serving() as server:
        config(tmp_path, server.url, n=40)
        threads = [threading.Thread(target=one, args=(out,), daemon=True) for out in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANGS_SECONDS)
        sent = len(server.calls)
        third = _run(tmp_path, server, n=40, out="c")
        assert len(server.calls) == sent
    assert [item.metrics["accounting"]["unscored"] for result in found for item in result.benchmarks] == [{}, {}]
    assert [result.exit_code for result in found] == [0, 0]
    assert third.states == ["scored"] * 40


def test_f66_the_cache_is_private(tmp_path: Path) -> None:
    """Answers may be private: no other user can read the cache."""
    old = os.umask(0)
    try:
        with serving() as server:
            _run(tmp_path, server)
    finally:
        os.umask(old)
    assert _entries(tmp_path)
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0
